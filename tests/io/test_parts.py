"""Parts: files that many machines write beside each other, and the store that is made of them."""

import json
import os
import threading
import time

import numpy as np
import pytest
from support.scenes import scene
from support.stores import contents

import fractals
from fractals import EscapeData, OptionError, SceneError
from fractals.deep import orbit_cache
from fractals.errors import FractalsError
from fractals.io.stores import parts as part_files
from fractals.io.stores import store
from fractals.io.stores.parts import StoreParts
from fractals.io.stores.store import open_store, parts_of

ARRAYS = {"count": np.arange(6, dtype=np.int32).reshape(2, 3), "z": np.ones((2, 3), complex)}
DEEP = {
    "center": ["-1.7685736562992577", "-0.0009642968513582"],
    "width": "1e-13",
    "max_iterations": "auto",
    "size": (16, 24),
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)


def compute_part(path, drawn, i, n, device="python"):
    return fractals.compute_to(path, drawn, device=device, part=(i, n))


def whole(tmp_path, drawn):
    """Return the bytes of the store that one process computes."""
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="cpu")
    return contents(tmp_path / "whole.fz")


# Files


def test_a_part_is_read_as_it_was_written(tmp_path):
    parts = StoreParts(tmp_path / "parts", "work")
    parts.put("000001.tile", ARRAYS, {"seconds": 3})
    found = parts.read("000001.tile")
    assert found.facts == {"seconds": 3}
    assert found.machine == part_files.this_machine()
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].tobytes() == array.tobytes()
        assert found.arrays[name].flags.writeable  # as compiled programs expect arrays
    assert parts.names() == ["000001.tile"]
    assert StoreParts(tmp_path / "parts", "other").read("000001.tile") is None
    assert parts.read("000002.tile") is None


def test_no_damage_is_read(tmp_path):
    parts = StoreParts(tmp_path / "parts", "work")
    parts.put("a.tile", ARRAYS)
    path = tmp_path / "parts" / "a.tile"
    content = path.read_bytes()
    table, _ = part_files.HEAD.unpack_from(content, len(part_files.MARK))
    told = len(part_files.MARK) + part_files.HEAD.size + table
    told += sum(array.nbytes for array in ARRAYS.values())
    padding = 0
    for k in range(len(content)):
        path.write_bytes(content[:k])
        assert parts.read("a.tile") is None
        flipped = bytearray(content)
        flipped[k] ^= 1
        path.write_bytes(flipped)
        padding += parts.read("a.tile") is not None
    path.write_bytes(content + b"\0")
    assert parts.read("a.tile") is None
    assert padding == len(content) - told  # of no meaning
    path.write_bytes(content)
    os.rename(path, path.with_name("b.tile"))
    assert parts.read("b.tile") is None


def test_links_are_not_followed(tmp_path):
    parts = StoreParts(tmp_path / "parts", "work")
    parts.put("a.tile", ARRAYS)
    (tmp_path / "precious").write_bytes(b"mine")
    os.symlink(tmp_path / "precious", tmp_path / "parts" / "b.tile")
    assert parts.read("b.tile") is None
    parts.put("b.tile", ARRAYS)
    assert (tmp_path / "precious").read_bytes() == b"mine"
    assert parts.read("b.tile")
    os.symlink(tmp_path / "parts", tmp_path / "link")
    with pytest.raises(FractalsError, match="is a symbolic link"):
        StoreParts(tmp_path / "link", "work").put("c.tile", ARRAYS)


def test_a_duplicate_that_differs_names_both_machines(tmp_path, monkeypatch):
    parts = StoreParts(tmp_path / "parts", "work")
    monkeypatch.setattr(part_files, "this_machine", lambda: "node1")
    parts.put("a.tile", ARRAYS)
    monkeypatch.setattr(part_files, "this_machine", lambda: "node2")
    parts.put("a.tile", ARRAYS)
    assert parts.read("a.tile").machine == "node1"
    with pytest.raises(FractalsError, match="by node1 and by node2"):
        parts.put("a.tile", ARRAYS | {"count": ARRAYS["count"] + 1})


def test_files_that_killed_processes_left_go_after_an_hour(tmp_path):
    parts = StoreParts(tmp_path / "parts", "work")
    parts.put("a.tile", ARRAYS)
    for name, age in ((".a.tile.0001", 2 * part_files.STRAY), (".a.tile.0002", 60)):
        (tmp_path / "parts" / name).write_bytes(b"half")
        os.utime(tmp_path / "parts" / name, (time.time() - age,) * 2)
    parts.tidy()
    assert sorted(os.listdir(tmp_path / "parts")) == [".a.tile.0002", "a.tile"]


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_the_clock_of_this_machine_is_not_asked(tmp_path, monkeypatch, ahead):
    """It may be hours off that of a file server: what others are writing must stay."""
    parts = StoreParts(tmp_path / "parts", "work")
    parts.put("a.tile", ARRAYS)
    for name, age in ((".a.tile.0001", 2 * part_files.STRAY), (".a.tile.0002", 60)):
        (tmp_path / "parts" / name).write_bytes(b"half")
        os.utime(tmp_path / "parts" / name, (time.time() - age,) * 2)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + ahead)
    parts.tidy()
    assert sorted(os.listdir(tmp_path / "parts")) == [".a.tile.0002", "a.tile"]


# Stores


def test_parts_in_any_order_and_one_that_is_missing(tmp_path):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    for i in (2, 0, 3):
        done = compute_part(path, drawn, i, 4)
    assert 0 < done.missing < done.tiles
    again = compute_part(path, drawn, 0, 4)
    assert again.missing == done.missing
    apart = done.tiles - done.missing
    told = rf"0 of .* tiles there \(0 %\), and {apart} as parts: .* adds these and"
    with pytest.raises(SceneError, match=told):
        EscapeData.load(path)
    done = fractals.compute_to(path, drawn, device="cpu")
    assert done.tiles - done.before == len(range(1, done.tiles, 4))
    assert contents(path) == whole(tmp_path, drawn)


def test_all_parts_at_once(tmp_path):
    """The first to come creates the store; here several are first."""
    drawn, path, errors = scene(size=(20, 33)), tmp_path / "a.fz", []

    def work(i):
        try:
            compute_part(path, drawn, i, 4)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    done = fractals.compute_to(path, drawn, device="python")
    assert done.before == done.tiles
    assert contents(path) == whole(tmp_path, drawn)
    assert sorted(os.listdir(tmp_path)) == ["a.fz", "whole.fz"]


def test_deep_parts_share_limit_and_orbit(tmp_path, monkeypatch):
    monkeypatch.setattr(orbit_cache, "MIN_WORK", 0)
    drawn, path = scene(**DEEP), tmp_path / "a.fz"
    compute_part(path, drawn, 0, 2, "cpu")
    names = os.listdir(path / "parts")
    assert sum(name.endswith(".orbit") for name in names) == 1
    monkeypatch.setattr(orbit_cache, "find_same", None)  # the others compute no orbit
    done = compute_part(path, drawn, 1, 2, "cpu")
    assert done.missing == 0
    fractals.compute_to(path, drawn, device="cpu")
    monkeypatch.undo()
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)
    assert contents(path) == whole(tmp_path, drawn)
    assert EscapeData.load(path).count_offset > 0


def test_a_store_begun_by_one_process_goes_on_in_parts(tmp_path):
    from support.stores import interrupted

    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    interrupted(path, drawn, device="python")
    done = compute_part(path, drawn, 0, 1)
    assert 0 < done.before < done.tiles
    assert done.missing == 0
    fractals.compute_to(path, drawn, device="python")
    assert contents(path) == whole(tmp_path, drawn)


@pytest.mark.parametrize("how", ["truncated", "flipped", "of another scene"])
def test_damaged_parts_are_computed_again(tmp_path, how):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    compute_part(path, drawn, 0, 1)
    part = path / "parts" / "000002.tile"
    content = bytearray(part.read_bytes())
    if how == "truncated":
        part.write_bytes(content[:-1])
    elif how == "flipped":
        content[-1] ^= 1
        part.write_bytes(content)
    else:
        compute_part(tmp_path / "b.fz", drawn.replace(width="1"), 0, 1)
        part.write_bytes((tmp_path / "b.fz" / "parts" / "000002.tile").read_bytes())
    assert compute_part(path, drawn, 3, 4).missing == 1  # another share
    done = fractals.compute_to(path, drawn, device="python")
    assert done.before == done.tiles - 1
    assert contents(path) == whole(tmp_path, drawn)


def test_a_part_that_differs_from_the_planes_is_refused(tmp_path, monkeypatch):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    fractals.compute_to(path, drawn, device="python")
    found = open_store(path)
    rows = found.window(1)
    planes = {name: np.array(plane[rows]) for name, plane in found.read().items()}
    planes["count"][0, 0] += 1
    monkeypatch.setattr(part_files, "this_machine", lambda: "node7")
    parts_of(found).put("000001.tile", planes)
    with pytest.raises(FractalsError, match="differs from the result of node7"):
        fractals.compute_to(path, drawn, device="python")


def test_parts_of_another_scene_are_refused(tmp_path):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    compute_part(path, drawn, 0, 2)
    with pytest.raises(OptionError, match=r"view\.width differs"):
        compute_part(path, drawn.replace(width="1"), 1, 2)
    with pytest.raises(OptionError, match="part 2 of 2: the parts are 0 to 1"):
        compute_part(path, drawn, 2, 2)
    with pytest.raises(OptionError, match="part and overwrite exclude each other"):
        fractals.compute_to(path, drawn, overwrite=True, part=(0, 2))


def test_overwrite_removes_parts(tmp_path):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    compute_part(path, drawn, 0, 2)
    other = drawn.replace(width="1")
    (path / "parts" / "mine.TXT").write_bytes(b"precious")
    with pytest.raises(FractalsError, match=r"holds other things \('mine.TXT'\)"):
        fractals.compute_to(path, other, device="python", overwrite=True)
    (path / "parts" / "mine.TXT").unlink()
    fractals.compute_to(path, other, device="python", overwrite=True)
    assert contents(path) == whole(tmp_path, other)


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    compute_part(path, drawn, 0, 2)
    there = set(os.listdir(path / "parts"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FractalsError, match="can't be written: No space left on device"):
        compute_part(path, drawn, 1, 2)
    assert set(os.listdir(path / "parts")) == there
    monkeypatch.undo()
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)
    fractals.compute_to(path, drawn, device="python")
    assert contents(path) == whole(tmp_path, drawn)


# The command line


def test_parts_on_the_command_line(run):
    common = (
        "--size",
        "8x99",
        "--supersampling",
        "1",
        "--device",
        "python",
        "-n",
        "9",
        "-o",
        "a.fz",
    )
    code, out, err = run("compute", *common, "--part", "1/3")
    assert (code, out) == (0, b"")
    assert "a.fz: part 1/3 is there; " in err
    assert "tiles are missing" in err
    assert run("compute", "a.fz", "--device", "python", "--part", "0/3")[0] == 0
    err = run("compute", *common, "--part", "2/3")[2]
    assert "a.fz: part 2/3 is there; fractals compute a.fz puts the tiles together" in err
    assert run("compute", "a.fz", "--device", "python")[0] == 0
    assert not os.path.exists("a.fz/parts")
    assert run("compute", *common[:-1], "b.fz")[0] == 0
    assert contents("a.fz") == contents("b.fz")
    assert json.loads(run("show", "a.fz", "--json")[1])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--part", "3/3"), "such as 0/100, up to 2/3"),
        (("--part", "1"), "such as 0/100, up to 99/100"),
        (("--part", "0/2", "-o", "a.npz"), "ends in .fz"),
        (("--part", "0/2", "--overwrite"), "exclude each other"),
    ],
    ids=str,
)
def test_wrong_parts_are_one_line(run, given, words):
    code, out, err = run("compute", "--size", "32x18", "--device", "python", *given)
    assert (code, out) == (2, b"")
    assert words in err
    assert err.count("\n") == 1
    assert os.listdir() == []

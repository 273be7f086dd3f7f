"""Stores of raw numbers: the same bytes, however often they were interrupted; recolored exactly."""

import io
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from support.limits import limit_tiles
from support.scenes import scene, slow_but
from support.stores import contents, interrupted

import fractals
from fractals import EscapeData, SceneError
from fractals.deep import orbit_cache
from fractals.io.stores import store
from fractals.io.stores.store import open_store
from fractals.rendering.plan import make_plan

DEEP = {
    "center": ["-1.7685736562992577", "-0.0009642968513582"],
    "width": "1e-13",
    "max_iterations": "auto",
    "size": (32, 24),
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)


# The same bytes


@pytest.mark.parametrize("keys", [{}, {"supersampling": 2}, {"precision": "float32"}], ids=str)
def test_a_store_goes_on_on_any_device(tmp_path, compiled, keys):
    drawn = scene(size=(20, 33), **keys)
    raw = fractals.compute(drawn, device="cpu")
    raw.save(tmp_path / "whole.fz")
    interrupted(tmp_path / "a.fz", drawn, device="python")
    done = fractals.compute_to(tmp_path / "a.fz", drawn, device=compiled)
    assert 0 < done.before < done.tiles
    assert (done.device, done.method, done.precision) == (compiled, "direct", raw.precision)
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    again = fractals.compute_to(tmp_path / "a.fz", drawn, device=compiled)
    assert again.before == again.tiles
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_byte(tmp_path, threads):
    drawn = scene(size=(61, 47), supersampling=2)
    fractals.compute(drawn, device="cpu").save(tmp_path / "whole.fz")
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu", threads=threads)
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


@pytest.mark.parametrize("coloring", slow_but(["distance"], ["smooth", "distance"]))
def test_deep_views_go_on_with_their_limit_and_base(tmp_path, monkeypatch, coloring):
    monkeypatch.setattr(orbit_cache, "MIN_WORK", 0)
    limit_tiles(monkeypatch, 128, ["simulator"])  # so that it takes two tiles at once
    drawn = scene(**DEEP, coloring=coloring)
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path / "one"))
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="cpu")
    fractals.render_to(tmp_path / "a.png", drawn, device="cpu")
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path / "two"))
    deeper = drawn.replace(width="1e-22")  # whose orbit would serve, but is another
    fractals.compute(deeper, device="cpu", on_message=str)
    interrupted(tmp_path / "a.fz", drawn, device="simulator")
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    raw = EscapeData.load(tmp_path / "a.fz")
    assert raw.method == "perturbation"
    assert raw.count_offset > 0
    assert raw.count[raw.count < raw.max_iterations].size > 0
    fractals.recolor_to(tmp_path / "b.png", raw, device="cpu")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


# A process that forks one that computes for each line, because importing Numba takes 0.5 s.
PARENT = """
import os, random, sys, time
import fractals
import fractals.backends.cpu.backend
from fractals.io.stores import store
store.MIN_SAMPLES = 64
put = store.PlaneFiles.put
def slowly(self, name, offset, content):  # killed between any two bytes
    cut = dice.randrange(len(content))
    put(self, name, offset, content[:cut])
    time.sleep(0.002)
    put(self, name, offset + cut, content[cut:])
store.PlaneFiles.put = slowly
drawn = fractals.load_scene(sys.argv[2])
for line in sys.stdin:
    turn, device = line.split()
    pid = os.fork()
    if not pid:
        dice = random.Random(int(turn))
        try:
            fractals.compute_to(sys.argv[1], drawn, device=device, on_message=str)
            os._exit(0)
        finally:
            os._exit(1)
    print(pid, flush=True)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its number stays its own till it is reaped
    print("ended", flush=True)
    sys.stdin.readline()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_killed_at_any_moment(tmp_path):
    dice = random.Random(5)
    drawn = scene(size=(60, 60), coloring="distance")
    (tmp_path / "a.json").write_text(drawn.to_json())
    fractals.compute(drawn, device="cpu").save(tmp_path / "whole.fz")
    path = tmp_path / "a.fz"
    seen, ends = [], []
    command = [sys.executable, "-c", PARENT, str(path), str(tmp_path / "a.json")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as parent:
        for turn in range(60):
            parent.stdin.write(f"{turn} {('python', 'cpu')[turn % 2]}\n".encode())
            child = int(parent.stdout.readline())
            goal = (seen[-1] if seen else 0) + dice.randrange(1, 17)
            while not select.select([parent.stdout], [], [], 0.004)[0] and counted(path) < goal:
                pass
            time.sleep(dice.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            assert parent.stdout.readline() == b"ended\n"
            parent.stdin.write(b"reap\n")
            ends.append(int(parent.stdout.readline()))
            seen.append(counted(path))
            if ends[-1] == 0:
                break
        parent.stdin.close()
    assert ends == [-signal.SIGKILL] * (len(ends) - 1) + [0]
    assert len(ends) > 3
    assert seen == sorted(seen)
    assert contents(path) == contents(tmp_path / "whole.fz")


def counted(path):
    """Return how many tiles a store has, which may be begun this moment."""
    try:
        return np.count_nonzero(open_store(path).done())
    except SceneError:
        return 0


@pytest.mark.parametrize("left", [[], ["count.npy"], ["count.npy", "z.npy", "tiles.npy"]], ids=str)
def test_killed_before_there_was_a_header(tmp_path, left):
    (tmp_path / "a.fz").mkdir()
    for name in left:
        (tmp_path / "a.fz" / name).write_bytes(b"\x93NUMPY half")
    (tmp_path / "a.fz" / ".header.json.xyz").write_bytes(b"{")
    drawn = scene()
    fractals.compute_to(tmp_path / "a.fz", drawn, device="python")
    fractals.compute(drawn, device="python").save(tmp_path / "whole.fz")
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


@pytest.mark.parametrize("name", ["count", "z", "dz", "tiles"])
def test_torn_tiles_are_computed_again(tmp_path, name):
    """After a power failure a tile may be said to be there, and be zeros in part."""
    drawn, path = scene(size=(20, 33)), tmp_path / "a.fz"
    fractals.compute_to(path, drawn, device="cpu")
    before = contents(path)
    torn = bytearray(before[f"{name}.npy"])
    torn[128 + (len(torn) - 128) // 2] ^= 1  # in the second row of a tile
    (path / f"{name}.npy").write_bytes(torn)
    (path / ".header.json.0123abcd").write_bytes(b"{")  # of a process that was killed
    with pytest.raises(SceneError, match=r"tile \d+ of \d+ is damaged: fractals compute .* again"):
        fractals.recolor(EscapeData.load(path), device="cpu")
    if name == "dz":  # which this coloring doesn't look at
        fractals.recolor(EscapeData.load(path), drawn.replace(coloring="smooth"), device="cpu")
    done = fractals.compute_to(path, drawn, device="cpu")
    assert done.before == done.tiles - 1
    assert contents(path) == before


def test_what_says_that_a_tile_is_there_comes_last(tmp_path, monkeypatch):
    written = []
    put = store.PlaneFiles.put

    def note(self, name, offset, content):
        written.append(name)
        put(self, name, offset, content)

    monkeypatch.setattr(store.PlaneFiles, "put", note)
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    tiles = len(written) // 4
    assert written == ["count", "z", "dz", "tiles"] * tiles
    assert tiles > 1


def test_a_thread_that_was_cut_off_writes_nothing(tmp_path):
    """It may end after another process has locked the store."""
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    before, opened = contents(tmp_path / "a.fz"), open_store(tmp_path / "a.fz")
    writer = store.TileWriter(opened)
    writer.close()
    writer.write(0, {name: np.zeros_like(p[opened.window(0)]) for name, p in opened.read().items()})
    assert contents(tmp_path / "a.fz") == before


def test_the_header_of_a_store_is_removed_first(tmp_path, monkeypatch):
    """Whatever a killed process leaves of the others is then no store."""
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    removed, unlink = [], Path.unlink

    def note(path, **options):
        removed.append(path.name)
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", note)
    store.clear(tmp_path / "a.fz")
    assert removed[0] == "header.json"
    assert len(removed) == 5


# What a stranger reads


def test_the_layout_is_what_it_says(tmp_path):
    """Read by nothing of ours: NumPy, JSON and zlib."""
    drawn = scene(size=(30, 20), supersampling=2)
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    raw = fractals.compute(drawn, device="cpu")
    header = json.loads((tmp_path / "a.fz" / "header.json").read_text("utf-8"))
    assert header["shape"] == [40, 60]
    assert header["planes"] == {"count": "<i4", "z": "<c16", "dz": "<c16"}
    assert (header["format"], header["version"]) == ("fractals store", 3)
    assert fractals.load_scene(header["scene"]) == drawn
    planes = [np.load(tmp_path / "a.fz" / f"{name}.npy") for name in header["planes"]]
    for plane, wanted in zip(planes, (raw.count, raw.z, raw.dz), strict=True):
        assert plane.dtype == wanted.dtype
        assert plane.tobytes() == wanted.tobytes()
    tiles = np.load(tmp_path / "a.fz" / "tiles.npy")
    for k, begin in enumerate(range(0, 40, header["tile_rows"])):
        rows = slice(begin, begin + header["tile_rows"])
        for found, name, plane in zip(tiles[k], header["planes"], planes, strict=True):
            place = f"{header['checksum']} {k} {name}".encode("ascii")
            assert found == 2**32 + zlib.crc32(place + plane[rows].tobytes())
    assert len(tiles) == k + 1 > 5


@pytest.mark.parametrize("part", ["planes", "tiles"])
def test_numbers_are_bound_to_their_place(tmp_path, part):
    """Planes of another store, or other tiles of the same one, count as damaged."""
    path, other = tmp_path / "a.fz", tmp_path / "b.fz"
    drawn = scene(size=(30, 20))
    fractals.compute_to(path, drawn, device="cpu")
    fractals.compute_to(other, drawn.replace(center=[-0.4, 0.6]), device="cpu")
    wanted, tiles = contents(path), open_store(path).tiles
    if part == "planes":
        for file in other.glob("*.npy"):
            (path / file.name).write_bytes(file.read_bytes())
    else:
        numbers = open_store(path)
        one, two = numbers.window(1), numbers.window(2)
        for name in ("count", "z", "tiles"):
            plane = np.load(path / f"{name}.npy", mmap_mode="r+")
            rows = (slice(1, 2), slice(2, 3)) if name == "tiles" else (one, two)
            plane[rows[0]], plane[rows[1]] = plane[rows[1]].copy(), plane[rows[0]].copy()
            plane.flush()
    with pytest.raises(SceneError, match=r"tile \d+ of \d+ is damaged"):
        fractals.recolor(EscapeData.load(path), device="cpu")
    done = fractals.compute_to(path, drawn, device="cpu")
    assert done.before == (0 if part == "planes" else tiles - 2)
    assert contents(path) == wanted


def test_a_store_of_version_2_is_read_and_goes_on(tmp_path, monkeypatch):
    """Its tiles are not bound to their place."""
    drawn = scene(size=(30, 20))
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(store, "VERSION", 2)
        interrupted(tmp_path / "b.fz", drawn, device="cpu")
    assert fractals.compute_to(tmp_path / "b.fz", drawn, device="cpu").before > 0
    assert open_store(tmp_path / "b.fz").header["version"] == 2
    tiles = np.load(tmp_path / "b.fz" / "tiles.npy")
    rows = open_store(tmp_path / "b.fz").window(0)
    count = np.load(tmp_path / "b.fz" / "count.npy")
    assert tiles[0, 0] == 2**32 + zlib.crc32(count[rows].tobytes())
    one, two = (contents(tmp_path / name)["count.npy"] for name in ("a.fz", "b.fz"))
    assert one == two


def test_tiles_depend_on_the_scene_alone():
    for size, n in (((3840, 2160), 1), ((200_000, 5), 16), ((1, 1), 1), ((7, 200_000), 2)):
        rows = store.tile_rows(scene(size=size, supersampling=n))
        assert rows % n == 0
        assert rows > 0
    slow, quick = (store.tile_rows(scene(size=(100, 9000), max_iterations=n)) for n in (10**6, 100))
    assert slow < quick


# Recoloring


@pytest.mark.parametrize(
    "keys",
    [
        {"palette": "ember"},
        {"coloring": "smooth", "transfer": "linear", "density": 0.02, "offset": 0.3},
        {"coloring": "count", "inside": "#f80", "bits": 16, "dpi": 300},
        {"palette": ["#000", "#fff"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("suffix", [".fz", ".npz"])
def test_recolored_is_rendered(tmp_path, device, keys, suffix):
    drawn = scene(size=(16, 20), supersampling=2)
    fractals.compute(drawn, device="cpu").save(tmp_path / f"a{suffix}")
    raw = EscapeData.load(tmp_path / f"a{suffix}")
    other = drawn.replace(**keys)
    how = {"device": device} | {key: keys[key] for key in ("bits", "dpi") if key in keys}
    for name in ("png", *(("tif",) if "bits" not in keys else ())):
        fractals.render_to(tmp_path / f"a.{name}", other, device="cpu")
        told = fractals.recolor_to(tmp_path / f"b.{name}", raw, other, **how)
        assert (tmp_path / f"a.{name}").read_bytes() == (tmp_path / f"b.{name}").read_bytes()
        assert told.timings["iterate"] == 0
    file = io.BytesIO()
    fractals.recolor_to(file, raw, other, **how)
    assert file.getvalue() == fractals.recolor(raw, other, **how).encode()


def test_of_other_scenes_the_colors_and_layers_are_taken():
    drawn = scene(size=(16, 20), layers=[{"coloring": "distance"}])
    raw = fractals.compute(drawn, device="python")
    look = {"coloring": "count", "palette": "ember", "layers": [{"coloring": "slopes"}]}
    far = {"formula": "burning_ship", "size": (9, 7), "supersampling": 3, "width": "1e-9"}
    wanted = fractals.render(drawn.replace(**look), device="python")
    other = fractals.Scene().replace(**look, **far)
    for source in (other, {"color": look}):
        image = fractals.recolor(raw, source, device="python")
        assert (image.pixels == wanted.pixels).all()
        assert image.scene.to_toml() == wanted.scene.to_toml()
    image = fractals.recolor(raw, fractals.Scene().replace(**far), device="python")
    assert not image.scene.color.layers  # a Scene without layers has all its colors


@pytest.mark.parametrize(
    "keys",
    [
        {"antialias": "jittered", "coloring": "distance"},
        {"antialias": "adaptive"},
        {"stretch": 1.5, "stretch_angle": 30, "mirror": True, "coloring": "slopes"},
        {"projection": "exponential", "coloring": "slopes"},
    ],
    ids=str,
)
def test_any_view_is_recolored_as_it_is_rendered(tmp_path, keys):
    drawn = scene(**{"size": (16, 20), "supersampling": 3, "coloring": "distance", **keys})
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    raw = EscapeData.load(tmp_path / "a.fz")
    other = drawn.replace(palette="ember")
    fractals.render_to(tmp_path / "a.png", other, device="cpu")
    fractals.recolor_to(tmp_path / "b.png", raw, other, device="cpu")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_memory_is_that_of_the_bands(tmp_path, monkeypatch):
    monkeypatch.undo()
    drawn = scene(size=(1000, 16000), max_iterations=1, coloring="count")
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu")
    small = fractals.compute(scene(coloring="count"), device="cpu")
    fractals.recolor_to(tmp_path / "first.png", small, device="cpu")  # imports
    tracemalloc.start()
    try:
        raw = EscapeData.load(tmp_path / "a.fz")
        fractals.recolor_to(tmp_path / "a.png", raw, device="cpu", threads=2)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    plan = make_plan(drawn, threads=2, keeps="bands")
    assert used < plan.memory + 2**21 < 3 * 1000 * 16000


def test_arrays_of_a_store_are_not_copied(tmp_path):
    fractals.compute_to(tmp_path / "a.fz", scene(), device="python")
    raw = EscapeData.load(tmp_path / "a.fz")
    assert not raw.count.flags.writeable
    assert not raw.z.flags.owndata
    assert {name: plane.shape for name, plane in raw.planes.items()} == dict.fromkeys(
        ("count", "z", "dz"), (9, 16)
    )

"""Stores of scatter images: resumed, continued, shown again; the same bytes however they came."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import fractals
from fractals.cli.verbs import run_verb as main
from fractals.errors import FractalsError, InputError, OptionError, SceneError
from fractals.io.files import HEADER
from fractals.io.stores.store import checksum
from fractals.rendering.stores import sums
from fractals.tools.pixels import read_pixels

TABLE = {"formula": {"name": "clifford", "a": -1.5}}
SMALL = {"size": (60, 40), "steps": 40, "quality": 60.0, "supersampling": 1, "device": "cpu"}


def content(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_a_store_is_drawn_without_iterating(tmp_path):
    path = tmp_path / "a.fz"
    done = fractals.compute_to(path, TABLE, **SMALL)
    assert (done.tiles, done.before, done.unit) == (15, 0, "chunks")
    assert done.summary.hits > 100_000
    picture = fractals.render(TABLE, **SMALL)
    assert np.array_equal(fractals.recolor(path, device="cpu").pixels, picture.pixels)
    # Another display: the points are those of the store.
    other = fractals.render(TABLE, **SMALL, gamma=2.0, brightness=9.0, background="#102030")
    shown = fractals.recolor(path, gamma=2.0, brightness=9.0, background="#102030", device="cpu")
    assert np.array_equal(shown.pixels, other.pixels)
    assert not np.array_equal(shown.pixels, picture.pixels)
    assert shown.timings["iterate"] == 0 < shown.timings["color"]


@pytest.mark.parametrize("part", [None, (1, 2)])
def test_progress_of_a_store_is_one_fraction(tmp_path, monkeypatch, part):
    """Its chunks are played in several goes, each with a progress of its own."""
    path, seen = tmp_path / "a.fz", []
    monkeypatch.setattr(sums, "GOES", 8)
    told = lambda done, total: seen.append(done / total)  # noqa: E731
    done = fractals.compute_to(path, TABLE, **SMALL, part=part, progress=told)
    assert seen == sorted(seen)
    assert 0 <= seen[0] < 0.5 < seen[-1] == 1
    assert done.timings["copy"] > 0
    assert done.timings["color"] == done.timings["encode"] == 0


def test_raw_numbers_in_memory():
    raw = fractals.compute(TABLE, **SMALL)
    assert raw.sums.shape[2] == 4
    assert np.array_equal(
        fractals.recolor(raw, device="cpu").pixels, fractals.render(TABLE, **SMALL).pixels
    )
    with pytest.raises(OptionError, match=r"color\.palette differs: compute the new scene"):
        fractals.recolor(raw, palette="ember", device="cpu")
    with pytest.raises(OptionError, match="buckets beyond the edge"):
        fractals.recolor(raw, estimator_radius=30.0, device="cpu")


def test_what_compute_returns_is_saved_as_a_store(tmp_path):
    raw, path = fractals.compute(TABLE, **SMALL), tmp_path / "a.fz"
    raw.save(path)
    fractals.compute_to(tmp_path / "b.fz", TABLE, **SMALL)
    assert content(path) == content(tmp_path / "b.fz")
    with pytest.raises(FractalsError, match="exists already"):
        raw.save(path)
    raw.save(path, overwrite=True)
    assert content(path) == content(tmp_path / "b.fz")
    with pytest.raises(OptionError, match=r"saved as a store, NAME\.fz"):
        raw.save(tmp_path / "a.npz")


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_store_with_a_wider_margin_than_needed(precision):
    """Its points are those of the picture; float32 rounds places by the width of the sums."""
    chosen = {**SMALL, "precision": precision}
    raw = fractals.compute(TABLE, **chosen, estimator_radius=9.0)
    needed = fractals.compute(TABLE, **chosen, estimator_radius=0.0)
    assert raw.margin > needed.margin
    shown = fractals.recolor(raw, estimator_radius=0.0, device="cpu").pixels
    picture = fractals.render(TABLE, **chosen, estimator_radius=0.0).pixels
    m = raw.margin - needed.margin
    inner = raw.sums[m:-m, m:-m]
    moved = np.abs(inner[..., 3] - needed.sums[..., 3]).sum() / needed.sums[..., 3].sum()
    if precision == "float64":
        assert np.array_equal(shown, picture)
        assert moved == 0
    else:
        assert moved < 1e-3
        assert np.abs(shown.astype(int) - picture).mean() < 0.1


def test_a_better_picture_is_the_same_one_continued(tmp_path):
    first, second = tmp_path / "first.fz", tmp_path / "second.fz"
    fractals.compute_to(first, TABLE, **{**SMALL, "quality": 20.0})
    grown = fractals.compute_to(first, TABLE, **SMALL)
    assert (grown.before, grown.tiles) == (5, 15)
    fractals.compute_to(second, TABLE, **SMALL)
    assert content(first) == content(second)
    # A lower quality is there already.
    again = fractals.compute_to(first, TABLE, **{**SMALL, "quality": 10.0})
    assert (again.before, again.tiles) == (15, 15)
    assert content(first) == content(second)


def test_devices_continue_each_other(tmp_path):
    small = {**SMALL, "size": (24, 16), "steps": 5, "quality": 10.0}
    whole, mixed = tmp_path / "whole.fz", tmp_path / "mixed.fz"
    fractals.compute_to(whole, TABLE, **small)
    fractals.compute_to(mixed, TABLE, **{**small, "quality": 4.0})
    fractals.compute_to(mixed, TABLE, **{**small, "quality": 7.0, "device": "simulator"})
    fractals.compute_to(mixed, TABLE, **{**small, "device": "python"})
    assert content(mixed) == content(whole)


# Imports once, and computes the store of each line of stdin in a process of its own.
PARENT = """
import os, sys
import fractals
from fractals.rendering.stores import sums as store
store.GOES = 40
fractals.compute_to  # is imported
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        try:
            fractals.compute_to(line[:-1], {"formula": {"name": "clifford", "a": -1.5}},
                size=(60, 40), steps=400, quality=6000.0, supersampling=1, device="cpu", threads=1)
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
def test_a_killed_store_goes_on_to_equal_bytes(tmp_path):
    """Killed at random moments, a store never shows anything but whole chunks."""
    whole, killed = tmp_path / "whole.fz", tmp_path / "killed.fz"
    header, dice, ends = killed / HEADER, random.Random(5), []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen([sys.executable, "-c", PARENT], **pipes) as parent:

        def begin(path):
            parent.stdin.write(f"{path}\n".encode())
            return int(parent.stdout.readline())

        def end():
            assert parent.stdout.readline() == b"ended\n"
            parent.stdin.write(b"reap\n")
            return int(parent.stdout.readline())

        begin(whole)
        assert end() == 0
        for _ in range(60):
            had = json.loads(header.read_text())["chunks"] if header.exists() else 0
            child = begin(killed)
            while not select.select([parent.stdout], [], [], 0.002)[0]:
                if header.exists() and json.loads(header.read_text())["chunks"] > had + 12:
                    break
            time.sleep(dice.uniform(0, 0.01))
            os.kill(child, signal.SIGKILL)
            ends.append(end())
            if ends[-1] == 0:
                break
            found = fractals.recolor(killed, device="cpu").summary
            assert found.chunks == json.loads(header.read_text())["chunks"]
        parent.stdin.close()
    assert ends == [-signal.SIGKILL] * (len(ends) - 1) + [0]
    assert len(ends) > 3
    assert content(killed) == content(whole)


def test_what_a_killed_process_left_disappears(tmp_path):
    """A header that is not whole yet, and sums that the header does not name."""
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    before = content(path)
    (path / f".{HEADER}.0123abcd").write_text("{")
    (path / "sums-3.npy").write_bytes(b"old")
    fractals.compute_to(path, TABLE, **SMALL)
    assert content(path) == before


def test_a_store_of_another_scene_is_refused(tmp_path):
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    before = content(path)
    for changes, words in (
        ({"center": ("1", "1")}, "view.center differs"),
        ({"palette": "ember"}, "color.palette differs"),
        ({"seed": 3}, "scatter.seed differs"),
        ({"size": (30, 20)}, "image.size differs"),
        ({"precision": "float64"}, "iteration.precision differs"),
        ({"estimator_radius": 30.0}, "buckets beyond the edge"),
    ):
        with pytest.raises(OptionError, match=words):
            fractals.compute_to(path, TABLE, **{**SMALL, **changes})
    with pytest.raises(OptionError, match="formula differs"):
        fractals.compute_to(path, {"formula": "clifford"}, **SMALL)
    with pytest.raises(OptionError, match="part and cluster exclude each other"):
        fractals.compute_to(path, TABLE, cluster=2, part=(0, 2), **SMALL)
    with pytest.raises(OptionError, match="part and overwrite exclude each other"):
        fractals.compute_to(path, TABLE, part=(0, 2), overwrite=True, **SMALL)
    with pytest.raises(OptionError, match="part 2 of 2: the parts are 0 to 1"):
        fractals.compute_to(path, TABLE, part=(2, 2), **SMALL)
    with pytest.raises(OptionError, match=r"color\.palette differs"):
        fractals.compute_to(path, TABLE, part=(0, 2), palette="ember", **SMALL)
    assert content(path) == before
    fractals.compute_to(path, TABLE, overwrite=True, **{**SMALL, "seed": 3})
    assert content(path) != before


def test_sums_of_orbits_of_an_older_program_are_not_continued(tmp_path):
    """They have another scale, and no version in the header; they are shown all the same."""
    path, table = tmp_path / "a.fz", {"formula": {"name": "buddhabrot", "cells": 256}}
    given = {"size": (24, 16), "quality": 4.0, "supersampling": 1, "device": "cpu"}
    fractals.compute_to(path, table, **given)
    drawn = fractals.recolor(path, device="cpu").pixels
    header = json.loads((path / HEADER).read_text("utf-8"))
    assert header.pop("sums") == 2
    del header["checksum"]
    (path / HEADER).write_text(json.dumps({**header, "checksum": checksum(header)}))
    with pytest.raises(OptionError, match="sums of version 1, and this program adds up version 2"):
        fractals.compute_to(path, table, **given)
    with pytest.raises(OptionError, match="sums of version 1"):
        fractals.compute_to(path, table, part=(0, 2), **given)
    assert np.array_equal(fractals.recolor(path, device="cpu").pixels, drawn)
    fractals.compute_to(path, table, overwrite=True, **given)
    assert json.loads((path / HEADER).read_text("utf-8"))["sums"] == 2


def test_damage_is_told(tmp_path):
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    whole = content(path)
    (sums,) = path.glob("sums-*.npy")
    data = bytearray(sums.read_bytes())
    data[5000] ^= 1
    sums.write_bytes(data)
    with pytest.raises(SceneError, match="its sums are damaged: overwrite=True computes"):
        fractals.recolor(path, device="cpu")
    sums.write_bytes(whole[sums.name][:-8])
    with pytest.raises(SceneError, match="not of its size"):
        fractals.recolor(path, device="cpu")
    sums.unlink()
    with pytest.raises(SceneError, match="is missing"):
        fractals.compute_to(path, TABLE, **SMALL)
    sums.write_bytes(whole[sums.name])
    header = json.loads(whole[HEADER])
    for changes, words in (
        ({"chunks": 3}, "checksum"),
        ({"version": 9}, "version 9"),
        ({"family": "other"}, "the family 'other'"),
        ({"family": 7}, "the family '7'"),
    ):
        (path / HEADER).write_text(json.dumps(header | changes))
        with pytest.raises((SceneError, FractalsError), match=words):
            fractals.recolor(path, device="cpu")


def test_random_headers_are_refused_in_one_line(tmp_path):
    """A header of a stranger never ends in another error than those of this package."""
    path = tmp_path / "a.fz"
    fractals.compute_to(path, TABLE, **SMALL)
    text, dice = (path / HEADER).read_bytes(), random.Random(11)
    refused = 0
    for _ in range(300):
        data = bytearray(text)
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (path / HEADER).write_bytes(data)
        try:
            fractals.recolor(path, device="cpu")
        except InputError:
            refused += 1
    assert refused > 290


def test_the_command_line_keeps_and_shows_hits(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ["--size", "60x40", "--quality", "30", "--cpu"]
    assert main(["compute", "--formula", "clifford", *small, "-o", "a.fz"]) == 0
    assert main(["compute", "a.fz", "--quality", "90", "--cpu"]) == 0
    assert "resumed with 1 of 1 chunks" in capsys.readouterr().err
    assert main(["recolor", "a.fz", "--brightness", "20", "-o", "bright.png", "--cpu"]) == 0
    assert main(["recolor", "a.fz", "-o", "plain.png", "--cpu"]) == 0
    bright, plain = (read_pixels(f"{name}.png", 8, (60, 40)).mean() for name in ("bright", "plain"))
    assert bright > 1.1 * plain
    capsys.readouterr()
    assert main(["show", "a.fz"]) == 0
    assert "M points" in capsys.readouterr().err
    assert main(["compute", "--formula", "clifford", *small, "-o", "a.npz"]) == 2
    assert "end" in capsys.readouterr().err
    assert main(["convert", "a.fz", "b.npz"]) == 2
    assert "only raw numbers of escape-time images" in capsys.readouterr().err
    assert main(["compute", "a.fz", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] > 60 * 40 * 32


def test_a_picture_is_verified(tmp_path, capsys):
    path = tmp_path / "a.png"
    fractals.render(TABLE, **SMALL).save(path)
    assert main(["verify", str(path)]) == 0
    assert "20 of 20 pixels right" in capsys.readouterr().err
    scene = fractals.load_scene(path)
    other = fractals.render(TABLE, **SMALL, brightness=5.0)
    other.scene = scene
    other.save(path, overwrite=True)
    assert main(["verify", str(path), "--pixels", "2400"]) == 5
    assert "pixels wrong" in capsys.readouterr().err
    assert main(["verify", str(path), "--exact"]) == 2


def test_points_are_compared_with_plain_python(monkeypatch):
    from fractals.errors import DifferenceError
    from fractals.rendering.options import RenderOptions
    from fractals.scatter import play

    player = play.open_player(fractals.load_scene(TABLE).replace(size=(60, 40)), RenderOptions())
    player.check(1)
    honest = play.MachineCounter.found

    def wrong(self):
        sums, hits = honest(self)
        sums[3, 3, 3] += 1
        return sums, hits

    monkeypatch.setattr(play.MachineCounter, "found", wrong)
    with pytest.raises(DifferenceError, match="differ from those of plain Python"):
        player.check(1)


ORBITS = {"formula": {"name": "buddhabrot", "cells": 400}, "iteration": {"max_iterations": 200}}


@pytest.mark.parametrize(("table", "quality"), [(TABLE, 60.0), (ORBITS, 4.0)])
def test_parts_add_up_to_the_bytes_of_one_machine(tmp_path, table, quality):
    whole, parted = tmp_path / "whole.fz", tmp_path / "parted.fz"
    options = {**SMALL, "quality": quality}
    fractals.compute_to(whole, table, **options)
    left = []
    for part, more in ((2, {}), (0, {"threads": 1}), (1, {})):
        done = fractals.compute_to(parted, table, part=(part, 3), **{**options, **more})
        left.append(done.missing)
        assert done.before == 0
    assert left[0] > left[1] > left[2] == 0
    assert fractals.compute_to(parted, table, part=(1, 3), **options).before > 0
    done = fractals.compute_to(parted, parted, device="cpu")
    assert done.before == 0
    assert content(parted) == content(whole)


def stopped_after(chunks):
    """Return a progress that interrupts."""

    def stop(done, total):
        stop.calls += 1
        if stop.calls > chunks:
            raise KeyboardInterrupt

    stop.calls = 0
    return stop


def test_parts_that_are_missing_damaged_or_unfinished_are_played_again(tmp_path):
    whole, parted = tmp_path / "whole.fz", tmp_path / "parted.fz"
    fractals.compute_to(whole, TABLE, **SMALL)
    fractals.compute_to(parted, TABLE, part=(3, 4), **SMALL)
    fractals.compute_to(parted, TABLE, part=(1, 4), **SMALL)
    with pytest.raises(KeyboardInterrupt):
        fractals.compute_to(parted, TABLE, part=(2, 4), progress=stopped_after(2), **SMALL)
    damaged = parted / "parts" / "000001-000004.sums"
    data = bytearray(damaged.read_bytes())
    data[-5] ^= 1
    damaged.write_bytes(data)
    unfinished = (parted / "parts" / "000002-000004.sums").read_bytes()
    assert fractals.compute_to(parted, TABLE, part=(2, 4), **SMALL).before in (1, 2)
    assert (parted / "parts" / "000002-000004.sums").read_bytes() != unfinished
    (parted / "parts" / "000002-000004.sums").write_bytes(unfinished)
    fractals.compute_to(parted, TABLE, **SMALL)
    assert content(parted) == content(whole)


def test_parts_continue_a_store_to_a_higher_quality(tmp_path):
    whole, parted = tmp_path / "whole.fz", tmp_path / "parted.fz"
    fractals.compute_to(whole, TABLE, **SMALL)
    fractals.compute_to(parted, TABLE, **{**SMALL, "quality": 20.0})
    for part in (0, 1):
        done = fractals.compute_to(parted, TABLE, part=(part, 2), **SMALL)
        assert done.tiles == 10
    fractals.compute_to(parted, parted, device="cpu")  # at its own quality: parts wait
    assert (parted / "parts").is_dir()
    done = fractals.compute_to(parted, TABLE, **SMALL)
    assert (done.before, done.tiles) == (5, 15)
    assert content(parted) == content(whole)


def test_parts_on_the_command_line(tmp_path, capsys):
    path = str(tmp_path / "a.fz")
    scene = tmp_path / "a.toml"
    scene.write_text('formula = "clifford"\n[scatter]\nsteps = 40\nquality = 60\n')
    own = ["compute", str(scene), "-o", path, "--size", "60x40", "--supersampling", "1"]
    assert main([*own, "--part", "0/2"]) == 0
    assert "8 of 15 chunks are missing" in capsys.readouterr().err
    assert main([*own, "--part", "1/2"]) == 0
    assert "puts the chunks together" in capsys.readouterr().err
    assert main(["recolor", path, "-o", str(tmp_path / "a.png")]) == 2
    assert "no point is counted yet" in capsys.readouterr().err
    assert main(["compute", path]) == 0
    assert main(["recolor", path, "-o", str(tmp_path / "a.png")]) == 0

"""Stores on the command line: compute, recolor, show and convert."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SMALL, one_line

import fractals
from fractals.errors import to_install
from fractals.io.stores import store


def test_compute_goes_on_and_recolor_is_render(run, monkeypatch):
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)
    assert run("compute", "seahorse", *SMALL)[0] == 0
    assert os.listdir() == ["seahorse.fz"]
    before = {path.name: path.read_bytes() for path in Path("seahorse.fz").iterdir()}
    tiles = np.load("seahorse.fz/tiles.npy")
    tiles[3:] = 0
    np.save("seahorse.fz/tiles.npy", tiles)
    with open("seahorse.fz/tiles.npy", "r+b") as file:
        file.write(before["tiles.npy"][:128])

    code, out, err = run("recolor", "seahorse.fz", "--cpu", "-o", "a.png")
    assert (code, out) == (3, b"")
    assert one_line(err)
    assert f"3 of {len(tiles)} tiles there" in err
    assert "fractals compute seahorse.fz computes the others" in err
    code, _, err = run("show", "seahorse.fz")
    assert code == 0
    assert f"3 of {len(tiles)} tiles finished" in err

    code, _, err = run("compute", "seahorse.fz", "--cpu")
    assert code == 0
    assert err.splitlines()[0].endswith(f"resumed with 3 of {len(tiles)} tiles")
    assert {path.name: path.read_bytes() for path in Path("seahorse.fz").iterdir()} == before
    assert run("compute", "seahorse", *SMALL, "--palette", "ink", "-o", "seahorse.fz")[0] == 0

    run("render", "seahorse", *SMALL, "--palette", "ember", "-o", "a.png")
    code, _, err = run("recolor", "seahorse.fz", "--cpu", "--palette", "ember")
    assert code == 0
    assert one_line(err)
    assert "recolor, float64" in err
    assert Path("a.png").read_bytes() == Path("seahorse-ember.png").read_bytes()


def test_show_says_what_is_inside(run):
    run("compute", *SMALL, "--coloring", "distance", "-o", "a.fz")
    code, out, err = run("show", "a.fz", "--json")
    assert code == 0
    assert json.loads(out)["color"]["coloring"] == "distance"
    words = (
        "64x36 samples",
        "count (int32)",
        "dz (complex128)",
        "1 of 1 tile",
        "max_iterations 1000",
    )
    assert all(word in err for word in words), err
    run("compute", *SMALL, "-o", "a.npz")
    assert "64x36 samples in float64" in run("show", "a.npz")[2]


def test_convert_raw_numbers(run):
    run("compute", *SMALL, "-o", "a.fz")
    code, _, err = run("convert", "a.fz", "a.npz")
    assert code == 0
    assert "every setting of the source" in err
    assert run("convert", "a.npz", "b.fz")[0] == 0
    for name in os.listdir("a.fz"):
        assert Path("a.fz", name).read_bytes() == Path("b.fz", name).read_bytes()
    assert run("convert", "a.fz", "a.toml")[0] == 0
    assert fractals.load_scene("a.toml") == fractals.load_scene("a.fz")
    assert run("convert", "a.npz", "b.fz")[0] == 1
    assert run("convert", "a.npz", "b.fz", "--overwrite")[0] == 0
    assert run("convert", "a.fz", "./a.fz", "--overwrite")[0] == 2


def test_exr(run):
    pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (extra exr)")
    code, _, err = run("compute", *SMALL, "-o", "a.exr")
    assert code == 0
    assert "z and dz keep six digits in an EXR" in err.splitlines()[-1]
    run("compute", *SMALL, "-o", "a.fz")
    assert "keep six digits" in run("convert", "a.fz", "b.exr")[2]
    assert run("recolor", "b.exr", "--cpu", "--palette", "ember", "-o", "a.png")[0] == 0
    assert "64x36 samples" in run("show", "b.exr")[2]


BAD = [
    (("compute", "nosuch.fz"), 3, "nosuch.fz: no such file; to write it, type -o nosuch.fz"),
    (("recolor", "nosuch.fz"), 3, "nosuch.fz: no such store"),
    (("recolor", "nosuch.exr"), (1, 3), "exr"),
    (("show", "nosuch.fz"), 3, "no such store"),
    (("render", "nosuch.fz"), 3, "no such store"),
    (("compute", "-o", "missing/a.fz"), 1, "does not exist"),
    (("compute", "-o", "a.zarr"), 2, "ends in .fz, .npz, .exr"),
    (("compute", "there.fz", "--max-iterations", "7"), 2, "iteration.max_iterations differs"),
    (("compute", "there.fz", "--coloring", "distance"), 2, "needs dz too"),
    (("recolor", "there.fz", "--coloring", "distance"), 2, "with the coloring 'distance'"),
    (("recolor", "there.fz", "-o", "there.fz"), 2, "unknown type of picture"),
    (("compute", "empty.fz"), 3, "not a store"),
    (("recolor", "file.fz"), 3, "not a store"),
    (("compute", "-o", "file.fz"), 1, "can't be written"),
    (("compute", "-o", "other.fz"), 1, "holds other things"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), BAD, ids=lambda x: str(x)[:50])
def test_bad_input_is_one_line(run, arguments, code, words):
    run("compute", *SMALL, "-o", "there.fz")
    Path("empty.fz").mkdir()
    Path("other.fz").mkdir()
    Path("other.fz", "mine.txt").touch()
    Path("file.fz").write_bytes(b"junk")
    given, out, err = run(*arguments)
    assert given in (code if isinstance(code, tuple) else (code,))
    assert out == b""
    assert one_line(err)
    assert words in err
    assert len(err) < 400
    assert sorted(os.listdir()) == ["empty.fz", "file.fz", "other.fz", "there.fz"]


def test_without_the_extra_nothing_is_computed(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    monkeypatch.setattr(fractals, "compute", None)
    code, _, err = run("compute", *SMALL, "-o", "a.exr")
    assert code == 1
    assert one_line(err)
    assert to_install("exr") in err


def test_interrupted_says_that_it_can_go_on(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    ended = []
    monkeypatch.setattr(fractals, "compute_to", interrupt)
    monkeypatch.setattr(os, "_exit", lambda code: ended.append(code) or sys.exit(code))
    _, _, err = run("compute", *SMALL, "-o", "a.fz")
    assert ended == [130]
    assert [line for line in err.splitlines() if line] == [
        "fractals: a.fz: finished tiles are kept; the same command resumes",
        "fractals: interrupted",
    ]


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_the_command_itself_killed(tmp_path):
    """As somebody would do it, on a picture that takes a second or two."""
    command = [sys.executable, "-m", "fractals", "compute", "--cpu", "--threads", "1"]
    command += [
        "--size",
        "800x600",
        "--no-interior-shortcuts",
        "--max-iterations",
        "3000",
        "-o",
        "a.fz",
    ]
    begun = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    took = time.monotonic() - begun
    shutil.move(tmp_path / "a.fz", tmp_path / "whole.fz")
    for part in (0.6, 0.8):
        child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
        time.sleep(took * part)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for path in (tmp_path / "whole.fz").iterdir():
        assert path.read_bytes() == (tmp_path / "a.fz" / path.name).read_bytes()


SHORTENED = """
import os, sys
from fractals.cli import run
from fractals.io.stores.store import RawStore
is_whole = RawStore.is_whole

def late(store, *words):
    store.read()
    os.truncate(store.path / "count.npy", 0)
    return is_whole(store, *words)

RawStore.is_whole = late
sys.argv[1:] = ["recolor", "a.fz", "-o", "b.png"]
run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other signals for it")
def test_a_store_that_is_shortened_while_it_is_read_is_one_line(run):
    """Its file is mapped into memory, so that SIGBUS would end the process without a word."""
    assert run("compute", *SMALL, "-o", "a.fz")[0] == 0
    done = subprocess.run([sys.executable, "-c", SHORTENED], capture_output=True, timeout=120)
    said = b"fractals: a file became shorter while it was read, or its disk fails\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", said)
    assert os.listdir() == ["a.fz"]


def test_a_plane_that_is_shortened_while_it_is_opened_is_one_line(run, monkeypatch):
    assert run("compute", *SMALL, "-o", "a.fz")[0] == 0
    mapped = np.memmap

    def late(file, *words):
        for path in Path("a.fz").glob("*.npy"):
            os.truncate(path, 0)
        return mapped(file, *words)

    monkeypatch.setattr(np, "memmap", late)
    code, out, err = run("recolor", "a.fz", "-o", "b.png")
    assert (code, out) == (3, b"")
    assert err == "fractals: a.fz: mmap length is greater than file size\n"

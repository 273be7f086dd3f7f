"""Pipes, devices, sockets and folders in place of a file: one line at once, by every reader."""

import os
import signal
import socket
import sys

import numpy as np
import pytest

from fractals.io.files import open_to_read

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names")

SECONDS = 20  # which no answer takes, so that a reader that waits fails
TINY = "--size 8x8 --device python --max-iterations 9"
READERS = [
    *(f"show {{}}/a.{suffix}" for suffix in ("toml", "json", "png", "jpg", "tif", "html", "svg")),
    *(f"show {{}}/a.{suffix}" for suffix in ("par", "frm", "upr", "flame", "kfr", "npz", "exr")),
    *(f"show {{}}/a.{suffix}" for suffix in ("fz", "map", "ggr", "ugr", "f3.toml")),
    "render {}/a.par#one",
    f"render {TINY} --palette {{}}/a.map",
    f"render {TINY} --palette {{}}/a.toml",
    f"render {TINY} --palette {{}}/a.png",
    f"render {TINY} --formula {{}}/a.py",
    f"render {TINY} --network {{}}/a.txt",
    f"render {TINY} --preview {{}}/a.png",
    "recolor {}/a.npz",
    "recolor {}/a.fz",
    "compute {}/a.fz",
    "verify {}/a.png",
    "proof {}/a.png --icc {}/a.icc",
    "proof own.png --icc {}/a.icc",
    "tiles {}/a.png -o tiles/",
    "convert {}/a.map b.gpl",
    "convert {}/a.npz b.exr",
    "bench --read {}/a.json",
    "explore {}/a.toml --no-browser",
    "explore --no-browser --cert {}/a.pem --key {}/a.pem",
    "worker {}/a.json",
    "film seahorse --size 16x16 --seconds 1 --audio {}/a.wav -o a.mp4",
]


@pytest.fixture(autouse=True)
def soon():
    """End a test that waits."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def special(run, tmp_path):
    """Return a function that makes the files of a command line special."""
    import PIL.Image

    PIL.Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save("own.png")

    def make(kind, words):
        folder = tmp_path / kind
        folder.mkdir()
        for word in words:
            path = word.partition("#")[0]
            if not path.startswith("kind/") or os.path.lexists(path.replace("kind", kind)):
                continue
            path = folder / path.removeprefix("kind/")
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "device":
                path.symlink_to("/dev/zero")
            elif kind == "socket":
                with socket.socket(socket.AF_UNIX) as made:
                    made.bind(str(path))
            else:
                path.mkdir()
        return [word.replace("kind/", f"{kind}/") for word in words]

    return make


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "folder"])
@pytest.mark.parametrize("line", READERS)
def test_what_is_no_file_is_one_line_at_once(run, special, line, kind):
    if line.startswith("worker"):
        pytest.importorskip("distributed")
    if ".exr" in line:
        pytest.importorskip("OpenEXR")
    words = special(kind, line.format("kind", "kind").split())
    code, out, err = run(*words)
    assert code in (1, 2, 3)
    assert out == b""
    assert err.startswith("fractals: ")
    assert err.count("\n") == 1
    assert "damaged" not in err
    assert sorted(os.listdir()) == sorted([kind, "own.png"])


def test_a_pipe_a_device_and_a_socket_are_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="a pipe, a socket or a device: name a file"):
            open_to_read(path)
    with pytest.raises(IsADirectoryError):
        open_to_read(tmp_path)


def test_a_scene_that_is_piped_is_read_by_the_dash(run, monkeypatch):
    reader, writer = os.pipe()
    os.write(writer, b'formula = "tricorn"')
    os.close(writer)
    with open(reader) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        code, out, _ = run("show", "-")
    assert code == 0
    assert b'formula = "tricorn"' in out


def test_a_picture_is_written_to_a_pipe_and_not_read_again(run):
    os.mkfifo("a.png")
    reader = os.open("a.png", os.O_RDONLY | os.O_NONBLOCK)
    code, _, err = run("render", *TINY.split(), "-o", "a.png", "--overwrite")
    assert (code, err.count("\n")) == (0, 1)
    assert os.read(reader, 8) == b"\x89PNG\r\n\x1a\n"
    os.close(reader)

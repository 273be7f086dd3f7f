"""Previews on terminals: a pseudo-terminal answers as kitty, iTerm, xterm and others do.

What it is sent is decoded again, so these tests see the pictures that a person would see.
"""

import base64
import contextlib
import io
import os
import re
import select
import struct
import sys
import threading
import time

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals.cli import preview as terminals
from fractals.cli.messages import Printed, ProgressLine, Verbosity, tell
from fractals.cli.preview import NOTHING, UNANSWERED, Can, Terminal, asked, fitted
from fractals.io.image import Image

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
DA1, KITTY, ITERM, CELL = (
    b"\x1b[c",
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
    b"\x1b]1337;Capabilities\x1b\\",
    b"\x1b[16t",
)
# What terminals answer to these, as their manuals say
TERMINALS = {
    "kitty": {DA1: b"\x1b[?62;c", KITTY: b"\x1b_Gi=31;OK\x1b\\", CELL: b"\x1b[6;18;9t"},
    "iterm": {
        DA1: b"\x1b[?62;4c",
        ITERM: b"\x1b]1337;Capabilities=T3CwLrMSc7UUw9Ts3BFGsGoSyHNoSx\x1b\\",
        CELL: b"\x1b[6;18;9t",
    },
    "xterm": {DA1: b"\x1b[?63;1;2;4;6;9;15;22c", CELL: b"\x1b[6;20;10t"},
    "plain": {DA1: b"\x1b[?65;1;9c", KITTY: b"", ITERM: b""},
    "refusing": {DA1: b"\x1b[?62;c", KITTY: b"\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\"},
    "without files": {DA1: b"\x1b[?62;c", ITERM: b"\x1b]1337;Capabilities=T3FoSc\x07"},
    "console": {DA1: b"\x1b[?6c"},
    "mute": {},
    "garbage": {DA1: bytes(range(1, 127)) * 50},
    "typist": {DA1: b"ls -l\r\x1b[?64;4;22c"},
}
LAST = b"\x1b[0y"  # no program and no picture sends it
PATIENCE = 60.0  # seconds: the thread that answers may wait for a core
SILENT = "mute", "garbage"
CAN = {"kitty": "kitty", "iterm": "iterm", "xterm": "sixel", "typist": "sixel"}


class Pty:
    """A terminal of 100 columns and 40 rows that answers questions."""

    def __init__(self, answers, late=0.0, pixels=(0, 0)):
        import fcntl
        import termios

        self.master, self.terminal = os.openpty()
        size = struct.pack("4H", 40, 100, *pixels)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, size)
        self.sent, self._answers, self._late = b"", answers, late
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        pending = b""
        questions = re.compile(b"|".join(map(re.escape, self._answers)) or b"(?!)")
        while not self._ended.is_set():
            if select.select([self.master], [], [], 0.01)[0]:
                more = os.read(self.master, 2**16)
                self.sent += more
                pending += more
                while found := questions.search(pending):
                    pending = pending[found.end() :]
                    time.sleep(self._late)
                    os.write(self.master, self._answers[found[0]])

    def received(self):
        """Return all that was sent: what a system writes comes to a terminal later."""
        os.write(self.terminal, LAST)
        deadline = time.monotonic() + PATIENCE
        while not self.sent.endswith(LAST):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.sent = self.sent.removesuffix(LAST)
        return self.sent

    def close(self):
        time.sleep(0.05)
        self._ended.set()
        self._thread.join()
        os.close(self.master)
        os.close(self.terminal)


@pytest.fixture
def pty(monkeypatch):
    """Return a function that makes a terminal, in whose foreground this process is."""
    made = []
    monkeypatch.setattr(terminals, "in_foreground", lambda terminal: True)
    monkeypatch.setattr(terminals, "SECONDS", PATIENCE)

    def make(*arguments, **keys):
        made.append(Pty(*arguments, **keys))
        return made[-1]

    yield make
    for each in made:
        with contextlib.suppress(OSError):
            each.close()


def modes(terminal):
    import termios

    return termios.tcgetattr(terminal)


@pytest.mark.parametrize("name", TERMINALS)
def test_a_terminal_tells_what_it_can_show(name, pty, monkeypatch):
    made = pty(TERMINALS[name])
    if name in SILENT:
        monkeypatch.setattr(terminals, "SECONDS", 0.3)
    before = modes(made.terminal)
    found = asked(made.terminal, made.terminal)
    assert found.protocol == CAN.get(name, "")
    assert modes(made.terminal) == before
    if name in ("kitty", "iterm"):
        assert found.cell == (9, 18)
    if name in ("console", "mute", "garbage"):
        assert made.received() == DA1  # what is old, or none, is asked nothing that it might print
    assert (found is UNANSWERED) == (name in SILENT)


def test_a_slow_terminal_is_no_terminal(pty, monkeypatch):
    """Its answer is read in the end, so that no shell gets it."""
    monkeypatch.setattr(terminals, "SECONDS", 0.05)
    made = pty(TERMINALS["xterm"], late=0.4)
    before = modes(made.terminal)
    assert asked(made.terminal, made.terminal) is UNANSWERED
    assert modes(made.terminal) == before
    with open(made.terminal, closefd=False) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        screen = Terminal(ProgressLine())
        screen._can = UNANSWERED
        with terminals.unechoed(made.terminal):
            assert select.select([made.terminal], [], [], PATIENCE)[0]
        screen.end()
        with terminals.unechoed(made.terminal):
            assert not select.select([made.terminal], [], [], 0)[0]
    assert modes(made.terminal) == before


def test_pixels_of_a_character_that_the_system_knows(pty):
    made = pty(TERMINALS["kitty"], pixels=(1200, 960))
    assert asked(made.terminal, made.terminal) == Can("kitty", (12, 24))


def test_a_process_in_the_background_asks_nothing(pty, monkeypatch):
    made = pty(TERMINALS["kitty"])
    monkeypatch.setattr(terminals, "in_foreground", lambda terminal: False)
    assert asked(made.terminal, made.terminal) is NOTHING
    assert made.received() == b""


def test_the_foreground_is_that_of_a_terminal():
    master, other = os.openpty()
    try:
        assert not terminals.in_foreground(other)  # a terminal that is not this process's own
        with open(os.devnull) as file:
            assert not terminals.in_foreground(file.fileno())
    finally:
        os.close(master)
        os.close(other)


# --- What is drawn


def ramp(width=90, height=60):
    """Return a picture whose pixels are all told apart."""
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([x * 255 // width, y * 255 // height, np.full_like(x, 60)], axis=2)
    return Image(pixels.astype(np.uint8))


def shown_on(pty, monkeypatch, name, images, between=lambda: None):
    """Return what a terminal is sent by previews, and by their end."""
    monkeypatch.setattr(Verbosity, "quiet", False)
    made = pty(TERMINALS[name])
    with open(made.terminal, "r+b", 0, closefd=False) as raw:
        stream = io.TextIOWrapper(raw, write_through=True)
        for each in ("stdin", "stdout", "stderr"):
            monkeypatch.setattr(sys, each, stream)
        screen = Terminal(ProgressLine())
        assert screen.ready()
        made.sent = b""
        for image in images:
            screen(image)
            between()
        during = made.received()
        screen.end()
        after = made.received()[len(during) :]
        monkeypatch.undo()
        stream.detach()
    return during.replace(b"\r\n", b"\n"), after


def of_kitty(sent):
    """Return the pictures of kitty's protocol, with the keys of each."""
    found, keys, data = [], {}, b""
    for part in re.findall(rb"\x1b_G(.*?)\x1b\\", sent, re.S):
        head, _, payload = part.partition(b";")
        own = dict(pair.split(b"=") for pair in head.split(b","))
        keys = keys or own
        assert len(payload) <= 4096
        data += payload
        if own.get(b"m", b"0") == b"0":
            found.append((keys, base64.b64decode(data)))
            keys, data = {}, b""
    return found


def of_sixels(sent):
    """Return the pixels of a picture in sixels, shape (rows, columns, 3)."""
    body = re.search(rb"\x1bP[\d;]*q(.*?)\x1b\\", sent, re.S)[1].decode()
    registers, color, x, y = {}, 0, 0, 0
    points = {}
    for token in re.findall(r"#\d+;2;\d+;\d+;\d+|#\d+|!\d+[?-~]|[?-~]|[$-]|\"[\d;]+", body):
        if token[0] == "#" and ";" in token:
            number, _, *rgb = map(int, token[1:].split(";"))
            registers[number] = [round(each * 2.55) for each in rgb]
        elif token[0] == "#":
            color = int(token[1:])
        elif token == "$":
            x = 0
        elif token == "-":
            x, y = 0, y + 6
        elif token[0] != '"':
            times = int(token[1:-1]) if token[0] == "!" else 1
            bits = ord(token[-1]) - 63
            for column in range(x, x + times):
                for k in range(6):
                    if bits >> k & 1:
                        points[y + k, column] = registers[color]
            x += times
    height, width = (max(place) + 1 for place in zip(*points, strict=True))
    pixels = np.full((height, width, 3), -1)
    for place, value in points.items():
        pixels[place] = value
    return pixels


def test_kitty_shows_the_pixels(pty, monkeypatch):
    images = [ramp(), ramp(90, 60)]
    images[1].pixels[:] = 255 - images[1].pixels
    sent, after = shown_on(pty, monkeypatch, "kitty", images)
    found = of_kitty(sent)
    assert len(found) == 2
    for (keys, png), image in zip(found, images, strict=True):
        with PIL.Image.open(io.BytesIO(png)) as picture:
            assert np.array_equal(np.asarray(picture), image.pixels)
        # q=2: kitty answers nothing, which a shell would read; C=1: its cursor stays
        assert (keys[b"q"], keys[b"C"], keys[b"a"]) == (b"2", b"1", b"T")
        assert (keys[b"c"], keys[b"r"]) == (b"10", b"4")  # cells of 9x18 pixels
        assert keys[b"i"] == found[0][0][b"i"]  # in place of the one before
    assert sent.count(b"\x1b[4A") == 2
    assert f"\x1b_Ga=d,d=I,i={found[0][0][b'i'].decode()},q=2\x1b\\".encode() in after
    assert after.endswith(b"\x1b[4A\x1b[J")


def test_iterm_shows_the_pixels(pty, monkeypatch):
    sent, after = shown_on(pty, monkeypatch, "iterm", [ramp()])
    found = re.search(rb"\x1b\]1337;File=(.*?):(.*?)\x07", sent, re.S)
    keys = dict(pair.split(b"=") for pair in found[1].split(b";"))
    data = base64.b64decode(found[2])
    assert int(keys[b"size"]) == len(data)
    assert (keys[b"inline"], keys[b"width"], keys[b"height"]) == (b"1", b"10", b"4")
    with PIL.Image.open(io.BytesIO(data)) as picture:
        assert np.array_equal(np.asarray(picture), ramp().pixels)
    assert after.endswith(b"\x1b[J")


def test_sixels_show_the_pixels(pty, monkeypatch):
    pytest.importorskip("timg")
    sent, _ = shown_on(pty, monkeypatch, "xterm", [ramp()])
    pixels = of_sixels(sent)
    assert pixels.shape == (60, 90, 3)
    assert np.abs(pixels - ramp().pixels).mean() < 10  # of 255 colors
    assert sent.index(b"\x1b7") < sent.index(b"\x1bP") < sent.index(b"\x1b8")
    assert sent.endswith(b"\x1b8\x1b[3B\r\x1b[?2026l")


def test_a_line_that_was_printed_stays(pty, monkeypatch):
    """The next preview is shown below it."""
    before = Printed.lines
    sent, after = shown_on(pty, monkeypatch, "kitty", [ramp(), ramp()], lambda: tell("a line"))
    assert Printed.lines == before + 2
    assert sent.count(b"fractals: a line\n") == 2
    assert sent.count(b"\n\n\n\n\x1b[4A") == 2
    assert b"\x1b[J" not in after


def test_a_picture_fits_on_the_screen():
    picture = PIL.Image.new("RGB", (480, 300))
    for can, size in ((Can("sixel", (10, 20)), (100, 40)), (Can("sixel", (10, 20)), (20, 40))):
        found, columns, rows = fitted(picture, can, size)
        assert found.height % 6 == 0
        assert columns <= size[0]
        assert rows <= size[1] // 2
        assert found.width <= columns * 10
        assert found.height <= rows * 20
        assert abs(found.width / found.height - 1.6) < 0.1
    assert fitted(picture, Can("kitty", (9, 18)), (4, 3))[1:] == (4, 1)


def test_sixels_without_the_extra_are_one_line(pty, monkeypatch, capsys):
    monkeypatch.setattr(terminals.importlib.util, "find_spec", lambda name: None)
    lines = []
    monkeypatch.setattr(terminals, "tell", lines.append)
    made = pty(TERMINALS["xterm"])
    with open(made.terminal, closefd=False) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        assert not Terminal(ProgressLine()).ready()
        monkeypatch.undo()
    (line,) = lines
    assert line.startswith("previews on this terminal require timg: ")
    assert "preview" in line.partition(": ")[2]


# --- The command line on a terminal

SOLID = ("--formula", "mandelbulb", "--size", "24x17", "--bounces", "0", "--samples", "40", "--cpu")


def rendered(pty, monkeypatch, name, *words, streams=("stdin", "stdout", "stderr")):
    """Return what a terminal is sent by `fractals render`, and the exit code."""
    from fractals.cli.verbs import run_verb

    made = pty(TERMINALS[name])
    with open(made.terminal, "r+b", 0, closefd=False) as raw:
        stream = io.TextIOWrapper(raw, write_through=True)
        with monkeypatch.context() as patch:
            patch.setenv("TERM", "xterm-256color")
            for each in streams:
                patch.setattr(sys, each, stream)
            before = modes(made.terminal)
            code = run_verb(["render", *SOLID, *words])
            assert modes(made.terminal) == before
        stream.detach()
    return made.received(), code


def test_render_shows_a_solid_and_removes_it(pty, monkeypatch, eager, tmp_path):
    path = tmp_path / "a.png"
    sent, code = rendered(pty, monkeypatch, "kitty", "-o", str(path))
    assert code == 0
    *pictures, _ = of_kitty(sent.replace(KITTY, b""))
    assert len(pictures) >= 2
    with PIL.Image.open(io.BytesIO(pictures[-1][1])) as picture:
        assert picture.size == (24, 12)  # rows come in bands of six
    assert sent.count(DA1) == 2  # asked once
    other = tmp_path / "b.png"
    fractals.render_to(other, formula="mandelbulb", size=(24, 17), bounces=0, samples=40)
    assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("words", [("--no-preview",), ("--quiet",), ("--json",)])
def test_nothing_is_asked_where_nobody_wants_previews(words, pty, monkeypatch, eager, tmp_path):
    sent, code = rendered(pty, monkeypatch, "kitty", "-o", str(tmp_path / "a.png"), *words)
    assert code == 0
    assert DA1 not in sent
    assert b"\x1b_G" not in sent


@pytest.mark.parametrize("missing", ["stdin", "stdout", "stderr"])
def test_nothing_is_asked_in_a_pipe(missing, pty, monkeypatch, eager, tmp_path, capfd):
    streams = [each for each in ("stdin", "stdout", "stderr") if each != missing]
    with open(os.devnull, "r+") as nothing, monkeypatch.context() as patch:
        patch.setattr(sys, missing, nothing)
        words = "-o", str(tmp_path / "a.png")
        sent, code = rendered(pty, monkeypatch, "kitty", *words, streams=streams)
    assert code == 0
    assert DA1 not in sent


def test_a_file_in_place_of_the_terminal(pty, monkeypatch, eager, tmp_path):
    words = "-o", str(tmp_path / "a.png"), "--preview", str(tmp_path / "small.png")
    sent, code = rendered(pty, monkeypatch, "kitty", *words)
    assert code == 0
    assert DA1 not in sent
    with PIL.Image.open(tmp_path / "small.png") as picture:
        assert picture.size == (24, 17)


@pytest.mark.parametrize("name", ["plain", "console", "garbage", "mute"])
def test_other_terminals_get_no_pictures(name, pty, monkeypatch, eager, tmp_path):
    if name in SILENT:
        monkeypatch.setattr(terminals, "SECONDS", 0.1)
    sent, code = rendered(pty, monkeypatch, name, "-o", str(tmp_path / "a.png"))
    assert code == 0
    for begin in (b"\x1bP", b"\x1b]1337;File", b"a=T"):
        assert begin not in sent

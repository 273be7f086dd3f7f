"""Previews on a terminal that can show pictures: by the protocols of kitty and iTerm, or sixels.

The terminal is asked what it can show, once, when the first preview is due. It is never guessed
from names or from the environment. Nothing is asked in a pipe, in the background, with --quiet or
with --json.
"""

import base64
import contextlib
import importlib.util
import os
import re
import select
import sys
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from fractals.cli.messages import Printed, ProgressLine, tell
from fractals.errors import to_install
from fractals.rendering.preview import Screen

if TYPE_CHECKING:
    from fractals.io.image import Image

ESC = "\x1b"
SECONDS = 0.5  # that an answer may take: over a slow line it comes later, and there is no preview
MOST = 4096  # bytes of answers
# Primary device attributes: a terminal without answers to these is asked nothing else.
ATTRIBUTES = f"{ESC}[c"
OLD = 62  # the class of a VT220: older ones, such as Linux's console, print what they don't know
SIXEL = "4"  # of the attributes
IMAGE = 31  # number of the image that kitty's protocol is asked with
QUESTIONS = (
    f"{ESC}_Gi={IMAGE},s=1,v=1,a=q,t=d,f=24;AAAA{ESC}\\"  # kitty's: may one pixel be shown?
    f"{ESC}]1337;Capabilities{ESC}\\"  # iTerm's feature report
    f"{ESC}[16t"  # pixels of a character
    f"{ATTRIBUTES}"  # whose answer comes last
)
ANSWER = re.compile(rb"\x1b\[\?([\d;]+)c")
KITTY = re.compile(rb"\x1b_Gi=31;OK\x1b\\")
ITERM = re.compile(rb"\x1b\]1337;Capabilities=([A-Za-z\d]*)(?:\x07|\x1b\\)")
FILE = re.compile(rb"F(?![a-z])")  # of these capabilities: pictures in the text
CELL = re.compile(rb"\x1b\[6;(\d{1,3});(\d{1,3})t")
# A terminal that knows these shows what is between them at once, without a flicker.
BEGIN, END = f"{ESC}[?2026h", f"{ESC}[?2026l"
VT340 = 10, 20  # pixels of a character where the terminal does not tell
CHUNK = 4096  # characters of a part of kitty's pictures
BAND = 6  # rows of a sixel
COLORS = 255  # of a picture in sixels; VT340s and xterm have 256 registers


class Can(NamedTuple):
    """What a terminal can show."""

    protocol: str  # "kitty", "iterm" or "sixel"; "": no pictures
    cell: tuple[int, int]  # width and height of a character in pixels


NOTHING = Can("", VT340)


def terminal_preview(progress: ProgressLine) -> Any:
    """Return what shows previews on the terminal, or False where it can't be asked."""
    try:
        import termios  # noqa: F401 - Windows has none
    except ImportError:
        return False
    return Terminal(progress)


class Terminal(Screen):
    """Shows previews above the progress bar, each in place of the one before."""

    def __init__(self, progress: ProgressLine) -> None:
        self._progress, self._can = progress, NOTHING
        self._rows = 0  # that the preview takes
        self._lines = 0  # that were printed when it was shown
        self._number = 1 + os.getpid() % 2**24  # of the picture, in kitty's protocol

    def ready(self) -> bool:
        """Ask the terminal; return whether it can show pictures."""
        with self._progress.paused():
            self._can = asked(sys.stdin.fileno(), sys.stderr.fileno())
        if self._can.protocol == "sixel" and importlib.util.find_spec("timg") is None:
            tell(f"previews on this terminal require timg: {to_install('preview')}")
            return False
        return bool(self._can.protocol)

    def __call__(self, image: "Image") -> None:
        """Show a preview in place of the one before."""
        if not in_foreground(sys.stderr.fileno()):
            return
        picture, columns, rows = fitted(image.to_pil(), self._can, _size(sys.stderr.fileno()))
        with self._progress.paused():
            text = self._above() if rows == self._rows else ""
            if not text:  # the first one, or lines were printed below the last one
                text = "\n" * rows + f"{ESC}[{rows}A"
            # The cursor is back where it was, wherever a terminal leaves it after a picture.
            text += f"\r{ESC}7{self._drawn(picture, columns, rows)}{ESC}8{ESC}[{rows}B\r"
            _write(f"{BEGIN}{text}{END}")
        self._rows, self._lines = rows, Printed.lines

    def end(self) -> None:
        """Remove the preview, and what the terminal has answered too late."""
        with contextlib.suppress(OSError, ValueError):
            if not in_foreground(sys.stderr.fileno()):
                return
            if self._rows:
                above = self._above()
                erased = f"\r{above}{ESC}[J" if above else ""
                if self._can.protocol == "kitty":
                    erased = f"{ESC}_Ga=d,d=I,i={self._number},q=2{ESC}\\{erased}"
                with self._progress.paused():
                    _write(erased)
            if self._can is UNANSWERED:
                with unechoed(sys.stdin.fileno()):
                    read_answer(sys.stdin.fileno(), 0)

    def _above(self) -> str:
        """Return what moves to the preview; nothing, where lines were printed since."""
        return f"{ESC}[{self._rows}A" if self._rows and self._lines == Printed.lines else ""

    def _drawn(self, picture: Any, columns: int, rows: int) -> str:
        """Return the text that shows a picture at the cursor."""
        if self._can.protocol == "sixel":
            from timg import SixelMethod

            few = picture.quantize(COLORS)
            return str(SixelMethod(few).to_string())
        import io

        file = io.BytesIO()
        picture.save(file, "PNG", compress_level=1)
        data = base64.b64encode(file.getvalue()).decode()
        if self._can.protocol == "iterm":
            size = f"width={columns};height={rows};size={len(file.getvalue())}"
            return f"{ESC}]1337;File=inline=1;{size};doNotMoveCursor=1:{data}\x07"
        keys = f"a=T,f=100,i={self._number},p=1,c={columns},r={rows},C=1,q=2,"
        parts = [data[k : k + CHUNK] for k in range(0, len(data), CHUNK)]
        return "".join(
            f"{ESC}_G{'' if k else keys}m={int(k < len(parts) - 1)};{part}{ESC}\\"
            for k, part in enumerate(parts)
        )


def fitted(picture: Any, can: Can, size: tuple[int, int]) -> tuple[Any, int, int]:
    """Return a picture that fits on a screen, and the columns and rows that it takes.

    size : tuple of int
        Columns and rows of the screen, of which a preview takes half of the rows at most.
    """
    (wide, tall), (columns, rows) = can.cell, size
    share = min(1, columns * wide / picture.width, rows // 2 * tall / picture.height)
    width = max(1, int(picture.width * share))
    height = max(BAND, int(picture.height * share) // BAND * BAND)
    if (width, height) != picture.size:
        picture = picture.resize((width, height))
    return picture, -(-width // wide), -(-height // tall)


# --- Asking the terminal


UNANSWERED = Can("", (0, 0))


def asked(answers: int, questions: int) -> Can:
    """Return what a terminal says that it can show.

    answers, questions : int
        The descriptors that are read, and written to.
    """
    if not in_foreground(answers):
        return NOTHING
    try:
        with unechoed(answers):
            os.write(questions, ATTRIBUTES.encode())
            if not (first := ANSWER.search(read_answer(answers, SECONDS))):
                return UNANSWERED
            if int(first[1].split(b";")[0] or 0) < OLD:
                return NOTHING
            os.write(questions, QUESTIONS.encode())
            found = read_answer(answers, SECONDS)
    except OSError:
        return NOTHING
    cell = _cell(questions, found)
    if KITTY.search(found):
        return Can("kitty", cell)
    capable = ITERM.search(found)
    if capable and FILE.search(capable[1]):
        return Can("iterm", cell)
    return Can("sixel" if SIXEL in first[1].decode().split(";")[1:] else "", cell)


def read_answer(answers: int, seconds: float) -> bytes:
    """Return what comes until the attributes of a device, or until time is up."""
    found, end = b"", monotonic() + seconds
    while len(found) < MOST and not ANSWER.search(found):
        left = max(0.0, end - monotonic())
        if not select.select([answers], [], [], left)[0]:
            break
        if not (more := os.read(answers, MOST)):
            break
        found += more
    return found


@contextlib.contextmanager
def unechoed(terminal: int) -> Iterator[None]:
    """Have a terminal show nothing of what comes, and not wait for the end of a line."""
    import termios
    import tty

    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def in_foreground(terminal: int) -> bool:
    """Tell whether this process may use a terminal: the system stops one in the background."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


def _cell(terminal: int, answers: bytes) -> tuple[int, int]:
    """Return width and height of a character in pixels: what the system knows, or the terminal."""
    import fcntl
    import struct
    import termios

    with contextlib.suppress(OSError):
        asked = fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8))
        rows, columns, width, height = struct.unpack("4H", asked)
        if rows and columns and width >= columns and height >= rows:
            return width // columns, height // rows
    if (told := CELL.search(answers)) and min(int(told[1]), int(told[2])) > 0:
        return int(told[2]), int(told[1])
    return VT340


def _size(terminal: int) -> tuple[int, int]:
    """Return the columns and rows of a terminal."""
    try:
        found = os.get_terminal_size(terminal)
    except OSError:
        return 80, 24
    return found.columns or 80, found.lines or 24


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

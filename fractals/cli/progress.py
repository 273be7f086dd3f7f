"""The progress of long work: a bar on a terminal, otherwise a line now and then."""

import sys
import threading
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fractals.cli.messages import Verbosity, about, duration, tell
from fractals.cli.signals import is_compiling

if TYPE_CHECKING:
    from fractals.scene.model import Scene

FIRST, EVERY = 0.5, 10.0  # seconds: before a bar is shown, and between two lines
LOOK = 0.1  # seconds between two looks at whether a program is compiled
COMPILES = 3  # looks in a row that must see the compiler: helpers compile in less than 0.3 s
COMPILE_SECONDS = 2  # of processor time: 0.9 s for smooth, 1.3 s for deep views (measured)


class ProgressLine:
    """Shows the progress of one task, and says at once that a program is compiled.

    Parameters
    ----------
    pixels : int
        Pixels of all tiles together, for the speed; 0 where the steps are no tiles.
    program : str
        What would be compiled; "": nothing is watched.
    task : str
        What is done while there are no numbers of steps.
    """

    def __init__(self, pixels: int = 0, program: str = "", task: str = "") -> None:
        self.pixels, self.program, self.task = pixels, program, task
        self._begun = self._last = monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._ended = threading.Event()

    def __enter__(self) -> "ProgressLine":
        if self.program or self.task:
            try:
                threading.Thread(target=self._watch, daemon=True).start()
            except RuntimeError:
                self._ended.set()  # no more threads: the work itself reports it
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show how many tiles are done."""
        if done:
            self._ended.set()  # what draws is compiled
        share = done / max(total, 1)
        seconds = monotonic() - self._begun
        left = f", {about(seconds / share - seconds)} left" if 0 < share < 1 else ""
        line = f"{100 * share:.0f} % done after {duration(seconds)}{left}"
        if not done:
            line = f"preparing the first tile, {duration(seconds)} so far"
        speed = f"{self.pixels * share / max(seconds, 1e-9) / 1e6:.2f} Mpixel/s"
        if done < total:
            self.show("", done, total, line, f"tiles  {speed}")

    def search(self, what: str, done: int, total: int) -> None:
        """Show how many steps of a search are done, of at most `total`."""
        seconds = duration(monotonic() - self._begun)
        self.show(what, done, total, f"{what}: step {done}, at most {total}, after {seconds}")

    def show(self, what: str, done: int, total: int, line: str, note: str = "") -> None:
        """Show numbers as a bar on a terminal, and as `line` elsewhere."""
        now = monotonic()
        if Verbosity.quiet:
            return
        if self._bar:
            self._bar.update(self._task, description=what, completed=done, total=total, note=note)
        elif sys.stderr is not None and sys.stderr.isatty():
            if now - self._begun > FIRST:
                self._start_bar(what, total, note)
        elif now - self._last > EVERY:
            self._last = now
            tell(line)

    def _start_bar(self, what: str, total: int, note: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        texts = [TextColumn("{task.description}")] if what else []
        columns = [*texts, BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}")]
        columns += [Remaining()] if self.pixels else []
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(what, total=total, note=note)
        self._bar.start()

    def _watch(self) -> None:
        """Say when the compiler is at work, and every `EVERY` seconds that a task goes on."""
        seen, last = 0, monotonic()
        while not self._ended.wait(LOOK):
            frames = sys._current_frames() if self.program else {}
            seen = seen + 1 if any(map(is_compiling, frames.values())) else 0
            if seen == COMPILES:
                tell(
                    f"compiling the program for {self.program}: about {COMPILE_SECONDS} s, "
                    "the first time only"
                )
                self.program = ""
                if not self.task:
                    return
            if self.task and monotonic() - last > EVERY:
                last = monotonic()
                tell(f"{self.task}, {duration(last - self._begun)} so far")


def program_of(scene: "Scene") -> str:
    """Return what the compiled program of a scene is for: formula and colorings.

    Examples
    --------
    >>> from fractals.scene.model import Scene
    >>> program_of(Scene())
    'mandelbrot, smooth'
    """
    paints = [scene.color, *scene.color.layers]
    formula = scene.make_formula().name + (" (Julia set)" if scene.julia else "")
    return ", ".join(dict.fromkeys([formula, *(paint.coloring.name for paint in paints)]))

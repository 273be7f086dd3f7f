"""Lines for people on stderr, data on stdout, progress, and durations in words."""

import contextlib
import io
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import click

from fractals.backends.compilation import compile_clock
from fractals.errors import MAX_LINES, FractalsError, escaped

if TYPE_CHECKING:
    from fractals.scene.model import Scene

MIN_WORD = 40  # characters that stay of a long word, such as a path
MAX_LENGTH = 200  # characters of a line; names and values of a file can be megabytes long
MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86_400.0, 31_557_600.0  # seconds


class StdoutError(FractalsError):
    """Data can't be written to stdout."""


class Verbosity:
    """What --quiet and --verbose ask for; `main` resets it."""

    quiet = False
    verbose = False


class Printed:
    """What is on stderr: how many lines were printed, and the progress that a bar may show."""

    lines = 0
    compiling: ClassVar[set[str]] = set()  # programs of which a line told; `main` empties it
    progress: "ProgressLine | None" = None
    # Data for the JSON array that is printed later; see `json_array`
    array: list[Any] | None = None


class Called:
    """The verb that was called, whose options stand in messages, and what was typed after it."""

    verb: click.Command | None = None
    given: tuple[str, ...] = ()  # arguments and values of options that have an equals sign


# A keyword as messages of the library write it: size=, overwrite=True, to=WIDTH, codec='av1'. What
# is quoted was given by the user, and stays.
KEYWORD = (
    r"(?<!\w)'[^']*'"
    r"|(?<![^\s(])(?P<name>[a-z]\w*)=(?P<value>'[^']*'|\([^()]*\)|[\w.][\w.:]*(?<![.:]))?"
)
FILE_NAME = re.compile(r"^[^'(].*\.[A-Za-z]")  # of a value, such as 3.png
CALLS = {  # a function that messages name, and the verb or option that does the same
    r"\bfractals\.names\('(\w+)'\)": r"'fractals list \1'",
    r"\bfractals\.save_scene\(\)": "'fractals convert'",
    r"\bfractals\.(\w+)\(\)": r"'fractals \1'",
    r"\bfilm\.still\(seconds\)": "--still T",
}
JOINED = {"size": "x", "frames": ":", "part": "/"}  # between numbers; a comma elsewhere


def as_typed(message: str) -> str:
    """Return a message of the library as it reads on the command line: keywords are options.

    An option is called as the verb that runs declares it. A word that is no keyword of a public
    function stays, and so do names of files and what the user typed.

    >>> as_typed("give a smaller size=, or precision='float64' (overwrite=True)")
    'give a smaller --size, or --precision float64 (--overwrite)'
    >>> as_typed("'a size=3' takes 5 s; fractals.names('palettes') shows all, and x=3 is no key")
    "'a size=3' takes 5 s; 'fractals list palettes' shows all, and x=3 is no key"
    >>> as_typed("my size=3.png: damaged; give size=")
    'my size=3.png: damaged; give --size'
    """
    if "=" not in message and "(" not in message:
        return message
    import shlex

    options = _options()

    def typed(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        option = options.get(name)
        if value == "False":
            option = options.get(f"no_{name}", option and f"--no-{option[2:]}")
        if option is None or FILE_NAME.search(value or ""):
            return match[0]
        if value in (None, "True", "False"):
            return option
        if value[0] == "(":
            return f"{option} {JOINED.get(name, ',').join(value[1:-1].split(', '))}"
        given = value.strip("'")
        if name == "device" and given in ("cpu", "gpu") and "cpu" in options:
            return options[given]
        return f"{option} {shlex.quote(given)}"

    for call, verb in CALLS.items():
        message = re.sub(call, verb, message)
    kept = "".join(f"{re.escape(escaped(text))}|" for text in Called.given)
    return re.sub(kept + KEYWORD, typed, message)


def _options() -> dict[str, str]:
    """Return the option of each keyword, as the verb that runs declares it."""
    from fractals.cli.keys import KEYS
    from fractals.rendering.options import OPTIONS

    found = {name: f"--{name.replace('_', '-')}" for name in (*KEYS, *OPTIONS)}
    for each in Called.verb.params if Called.verb else ():
        long = [name for name in each.opts if name.startswith("--")]
        if long and each.name:
            found[each.name] = long[0]
    return found


def tell(message: str) -> None:
    """Print a note on stderr, unless --quiet is given."""
    if not Verbosity.quiet:
        print_line(message)


def tell_lost(lost: Iterable[str]) -> None:
    """Print what has no equivalent, one line each, at most `MAX_LINES`.

    A line that says which of a file's entries is read is printed too; nothing is lost by that.
    """
    if lost and not Verbosity.quiet:
        from fractals.io.foreign import lines_of_lost

        print_lines(lines_of_lost(lost))


def settings(lost: Iterable[str]) -> list[str]:
    """Return the lines that tell of lost settings."""
    from fractals.io.foreign import LISTED

    return [line for line in lost if not line.endswith(LISTED)]


def print_lines(lines: list[str]) -> None:
    """Print lines on stderr: with what `listed` adds, `MAX_LINES`, then how many more there are."""
    kept = len(lines) if Verbosity.verbose or len(lines) <= MAX_LINES + 1 else MAX_LINES
    for line in lines[:kept]:
        print_line(line)
    if len(lines) > kept:
        print_line(f"and {len(lines) - kept} more lines (--verbose prints all)")


def print_line(message: str) -> None:
    """Print one line on stderr; a closed or full stderr does not stop the work."""
    text = as_typed(escaped(message))
    if not Verbosity.verbose:
        text = shortened(text)
    Printed.lines += 1
    bar = Printed.progress.paused() if Printed.progress else contextlib.nullcontext()
    try:
        with bar:
            click.echo(f"fractals: {text}", err=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def shortened(text: str, length: int = MAX_LENGTH) -> str:
    """Return text of at most `length` characters.

    Long words, such as paths and numbers, are cut in their middle, the longest first. If that is
    not enough, the text is: its beginning names what is wrong, and its end says what to do.

    >>> shortened("0123456789", 7)
    '012...9'
    >>> shortened("/a/long/path/to/the/folder/of/some/fractals/sea.fct: not a scene", 60)
    '/a/long/path/to...lder/of/some/fractals/sea.fct: not a scene'
    """
    words = re.split(r"(\s)", text)
    for k in sorted(range(len(words)), key=lambda k: -len(words[k])):
        excess, size = len("".join(words)) - length, len(words[k])
        if excess <= 0 or size <= MIN_WORD:
            break
        kept = max(MIN_WORD, size - excess) - 3
        words[k] = f"{words[k][: kept // 3]}...{words[k][size - kept + kept // 3 :]}"
    text = "".join(words)
    if len(text) <= length:
        return text
    end = (length - 3) // 3
    return f"{text[: length - 3 - end]}...{text[-end:]}"


def write_out(data: str | bytes) -> None:
    """Write data to stdout, and flush it: `StdoutError` where it is closed or full.

    A closed pipe is a `BrokenPipeError`. Names of files that are no text are written as they are.
    """
    raw = data.encode(errors="surrogateescape") if isinstance(data, str) else data
    if sys.stdout is None:
        raise StdoutError("stdout is closed: nothing can be written to it")
    try:
        sys.stdout.flush()
        if raw:  # a device that is full refuses nothing, too
            sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StdoutError(f"stdout can't be written: {error.strerror}") from None


def as_argument(text: str) -> str:
    """Return a text as it is typed, with the quotes that a shell needs.

    >>> as_argument("many.par#one"), as_argument("many.par#a*b")
    ('many.par#one', "'many.par#a*b'")
    """
    import shlex
    import subprocess

    text = f"./{text}" if text.startswith("-") else text
    if os.name == "nt":
        return subprocess.list2cmdline([text])
    plain = text.replace("#", "")  # which begins a comment at the beginning of a word alone
    return text if shlex.quote(plain) == plain and text[0] != "#" else shlex.quote(text)


def print_json(table: Any) -> None:
    """Print data as JSON on stdout."""
    if Printed.array is not None:
        Printed.array.append(table)
        return
    write_out(json.dumps(table, indent=2) + "\n")


@contextlib.contextmanager
def json_array() -> Iterator[None]:
    """Print what `print_json` is given within as one array, after an error, too."""
    found: list[Any] = []
    Printed.array = found
    try:
        yield
    finally:
        Printed.array = None
        if found:
            print_json(found)


def print_facts(table: Any, text: str, as_json: bool) -> None:
    """Print facts on stdout: a table as JSON, or the same as text."""
    if as_json:
        print_json(table)
    else:
        write_out(text)


def discard(stream: Any) -> None:
    """Send what a broken stream still holds to nowhere, as Python flushes it at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def about(seconds: float) -> str:
    """Return a forecast in words.

    >>> about(0.02), about(17.3), about(717), about(1e13)
    ('less than 1 s', 'about 17 s', 'about 12 minutes', 'about 320000 years')
    """
    return "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"


def duration(seconds: float) -> str:
    """Return a time with the unit that suits it, to two digits.

    >>> duration(0.2), duration(89), duration(7200), duration(5e5), duration(3.2e7)
    ('0 s', '89 s', '2 hours', '5.8 days', '370 days')
    """
    if seconds < 1.5 * MINUTE:
        return f"{seconds:.0f} s"
    units = ((1.5 * HOUR, MINUTE, "minutes"), (1.5 * DAY, HOUR, "hours"), (1.5 * YEAR, DAY, "days"))
    size, unit = next(((size, unit) for end, size, unit in units if seconds < end), (YEAR, "years"))
    value = float(f"{seconds / size:.2g}")
    return f"{value:.0f} {unit}" if value >= 10 or value == round(value) else f"{value} {unit}"


def choices(names: Iterable[object]) -> str:
    """Return names as text, ``a, b or c``.

    >>> choices(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = map(str, names)
    return f"{', '.join(others)} or {last}" if others else last


# The progress of long work: a bar on a terminal, otherwise a line now and then.

FIRST, EVERY = 0.5, 10.0  # seconds: before a bar is shown, and between two lines
LOOK = 0.1  # seconds between two looks at whether a program is compiled
LATE = 5.0  # seconds after the last step: what is compiled already takes less (1.5 s measured)
COMPILES = 3  # looks in a row that must see the compiler: helpers compile in less than 0.3 s
PAGE_SECONDS = 6  # that all programs of a page take (measured)
COMPILE_SECONDS = 2  # of processor time: 0.9 s for smooth, 1.3 s for deep views (measured)


class ProgressLine:
    """Shows the progress of one task, and says at once that a program is compiled."""

    # pixels: of all tiles together, for the speed; 0 where the steps are no tiles
    # program: what would be compiled; "": nothing is watched
    # task: what is done while there are no numbers of steps
    # after: what is compiled after the last step; "": nothing

    def __init__(self, pixels: int = 0, program: str = "", task: str = "", after: str = "") -> None:
        self.pixels, self.program, self.task, self.after = pixels, program, task, after
        self._late: threading.Timer | None = None
        self._begun = self._last = monotonic()
        self._clock = compile_clock()
        self._compiled = self._clock.seconds()
        self._prepared: float | None = None  # seconds before drawing began, without compiling
        self._bar: Any = None
        self._task: Any = None
        self._ended = threading.Event()

    def __enter__(self) -> "ProgressLine":
        Printed.progress = self
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
        Printed.progress = None
        if self._late:
            self._late.cancel()
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show how many tiles are done."""
        if done:
            self._ended.set()  # what draws is compiled
        if done == total and self.after and not self._late:
            self._tell_later()
        share = done / max(total, 1)
        seconds = monotonic() - self._begun
        drawing = max(0.0, seconds - self._clock.seconds() + self._compiled)
        if self._prepared is None:  # imports, orbits and probes say nothing about the tiles
            self._prepared = 0.0 if done else drawing
        drawing -= self._prepared
        left = f", {about(drawing / share - drawing)} left" if 0 < share < 1 else ""
        line = f"{100 * share:.0f} % done after {duration(seconds)}{left}"
        if not done:
            line = f"preparing the first tile, {duration(seconds)} so far"
        speed = f"{self.pixels * share / max(drawing, 1e-9) / 1e6:.2f} Mpixel/s"
        if done < total:
            self.show("", done, total, line, f"tiles  {speed}")

    def search(self, what: str, done: int, total: int) -> None:
        """Show how many steps of a search are done, of at most `total`."""
        seconds = duration(monotonic() - self._begun)
        self.show(what, done, total, f"{what}: step {done}, at most {total}, after {seconds}")

    def _tell_later(self) -> None:
        """Say what is compiled after the last step, if it takes long."""
        line = f"compiling {self.after}: about {PAGE_SECONDS} s, the first time only"
        self._late = threading.Timer(LATE, tell, [line])
        self._late.daemon = True
        self._late.start()

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

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar off the terminal for a while."""
        if self._bar:
            self._bar.stop()
        try:
            yield
        finally:
            if self._bar:
                self._bar.start()

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
            seen = seen + 1 if self.program and self._clock.runs else 0
            if seen == COMPILES:
                if self.program not in Printed.compiling:
                    Printed.compiling.add(self.program)
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
    """Return what the compiled program of a scene is for, such as formula and colorings.

    >>> from fractals.scene.model import Scene
    >>> program_of(Scene())
    'mandelbrot, smooth'
    """
    from fractals.rendering.families import family_of

    return family_of(scene).program(scene)

"""Lines for people on stderr, data on stdout, and durations in words."""

import contextlib
import io
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import click

from fractals.backends.compilation import compile_clock
from fractals.errors import MAX_LINES, FractalsError, escaped

if TYPE_CHECKING:
    from fractals.io.facts import Summary
    from fractals.rendering.plan import Keeps
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


class Called:
    """The verb that was called, whose options stand in messages."""

    verb: click.Command | None = None


# A keyword as messages of the library write it: size=, overwrite=True, to=WIDTH, codec='av1'. What
# is quoted was given by the user, and stays.
KEYWORD = r"(?<!\w)'[^']*'|(?<![^\s(])([a-z]\w*)=('[^']*'|\([^()]*\)|[\w.][\w.:]*(?<![.:]))?"
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
    function stays.

    >>> as_typed("give a smaller size=, or precision='float64' (overwrite=True)")
    'give a smaller --size, or --precision float64 (--overwrite)'
    >>> as_typed("'a size=3' takes 5 s; fractals.names('palettes') shows all, and x=3 is no key")
    "'a size=3' takes 5 s; 'fractals list palettes' shows all, and x=3 is no key"
    """
    if "=" not in message and "(" not in message:
        return message
    import shlex

    options = _options()

    def typed(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        option = options.get(name)
        if value == "False":
            option = options.get(f"no_{name}", option and f"--no-{option[2:]}")
        if option is None:
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
    return re.sub(KEYWORD, typed, message)


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

    A closed pipe is a `BrokenPipeError`.
    """
    raw = data.encode() if isinstance(data, str) else data
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
    write_out(json.dumps(table, indent=2) + "\n")


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


# What drawing verbs print at their end: the closing line, JSON, the plan, and hints.

MIN_BYTES = 4096  # of a small picture, whose scene takes most of them
# What the keys of a plan mean, where one word does not say it.
LABELS = {
    "digits": "digits needed",
    "bits": "bits of the orbit",
    "finest": "narrowest width",
    "file": "file of numbers",
    "noise": "wrong counts",
    "seconds_by_quality": "by quality",
}
UNIFORM = 100  # pixels per byte: PNGs of one color have 300 or more (measured)


def report(
    drawn: Any, output: str, method: str, as_json: bool, lost: list[str] | None = None
) -> None:
    """Say what was done: one line on stderr, or JSON on stdout."""
    summary: Summary | None = getattr(drawn, "summary", None)
    if as_json:
        print_json(_facts(drawn, output, method, summary, lost or []))
        return
    width, height = drawn.scene.image.size
    loop: str = getattr(drawn, "loop", "")
    if Verbosity.verbose and loop:
        tell(f"loop: {loop}")
    times = seconds_line(drawn.timings)
    parts = [f"{width}x{height}", drawn.device, method, drawn.precision]
    parts += [str(summary)] if summary else []
    tell(f"{output}: {', '.join(parts)}, {times}")


def _facts(
    drawn: Any, output: str, method: str, summary: "Summary | None", lost: list[str]
) -> dict[str, Any]:
    """Return what was done, for JSON."""
    return {
        "output": output,
        "device": drawn.device,
        "method": method,
        "precision": drawn.precision,
        "loop": getattr(drawn, "loop", ""),
        "size": list(drawn.scene.image.size),
        "supersampling": drawn.scene.image.supersampling,
        **(summary.to_table() if summary else {}),
        "timings": drawn.timings,
        "lost": settings(lost),
    }


def seconds_line(timings: Mapping[str, float]) -> str:
    """Return the times of the stages that took any."""
    parts = [f"{stage} {value:.2f}" for stage, value in timings.items() if value > 0]
    return f"{sum(timings.values()):.2f} s ({', '.join(parts)})"


def hint_at_one_color(path: str, scene: "Scene") -> None:
    """Say what to do where a picture shows no detail."""
    color = one_color(path, scene)
    if color is not None:
        _hint_at(color, scene)


def _hint_at(color: tuple[int, ...], scene: "Scene") -> None:
    """Say what to do about a picture of this color alone."""
    from fractals.color.palette import parse_color, srgb_from_linear
    from fractals.rendering.families import family_of

    inside = [
        round(255 * float(part)) for part in srgb_from_linear(parse_color(scene.color.inside))
    ]
    moves = "zoom out (--zoom x0.1), or move to the edge of the set (--pan 0.5,0, --at X,Y)"
    if list(color) == inside and not scene.color.layers and family_of(scene).has_inside:
        tell(
            "every pixel lies inside the set, or reached the maximum of iterations: "
            f"{moves}; or raise --max-iterations"
        )
    else:
        tell(f"every pixel has the same color: {moves}")


def one_color(path: str, scene: "Scene") -> tuple[int, ...] | None:
    """Return the color of a picture of a single color; None of any other picture."""
    width, height = scene.image.size
    try:
        if Path(path).stat().st_size > MIN_BYTES + width * height // UNIFORM or width * height < 2:
            return None  # a compressed picture with any detail is larger, and need not be read
        return _only_color(path)
    except (OSError, ValueError):
        return None


def _only_color(path: str) -> tuple[int, ...] | None:
    """Return the color of all pixels of a file; None if there are several."""
    import PIL.Image

    from fractals.io.files import lifted_limit, open_to_read

    with open_to_read(path) as file, lifted_limit(), PIL.Image.open(file) as picture:
        ranges: Any = picture.convert("RGB").getextrema()
    if any(least != most for least, most in ranges):
        return None
    return tuple(least for least, _ in ranges)


def plan_table(
    scene: "Scene", how: Mapping[str, Any], keeps: "Keeps", measures: bool = False
) -> dict[str, Any]:
    """Return how a scene would be drawn, as plain values; `keeps` is that of `make_plan`.

    measures : bool
        Whether the seconds are measured on some samples, where they can be, and the limit "auto" is
        found, which compiles programs.
    """
    from fractals.rendering.develop import developing_of
    from fractals.rendering.families import family_of, seconds_by_quality, unused
    from fractals.rendering.options import RenderOptions

    if measures and (line := unused(scene)):
        tell(line)
    own = {key: how[key] for key in ("device", "threads", "interior_shortcuts")}
    with ProgressLine(0, program_of(scene)):
        options = RenderOptions(**own, on_message=tell)
        table = family_of(scene).plan_table(scene, options, keeps, measures)
    known = table["seconds"] if table.get("measured") else 0.0
    if found := seconds_by_quality(scene, options, keeps, known):
        table["seconds_by_quality"] = found
    return table | ({"develop": developing_of(scene)} if scene.is_developed else {})


def print_plan(table: Mapping[str, Any], as_json: bool) -> None:
    """Print how a scene would be drawn."""
    shown = dict(table)
    shown["size"] = "{}x{}".format(*table["size"])
    for key in {"memory", "file"} & table.keys():
        shown[key] = f"{max(1, table[key] / 2**20):.0f} MiB"
    measured = "measured on some samples" if shown.pop("measured", False) else "estimated"
    if "clearance" in table:
        least = shown.pop("least_clearance")
        shown["clearance"] = f"{table['clearance']:g} from the surface, at least {least:g}"
    if table.get("noise"):
        shown["noise"] = f"at most {100 * table['noise']:g} % of the samples"
    shown["seconds"] = f"{about(table['seconds'])}, {measured}, without compiling"
    if "seconds_by_quality" in table:
        each = table["seconds_by_quality"].items()
        shown["seconds_by_quality"] = ", ".join(f"{word} {about(took)}" for word, took in each)
    for key in ("bits", "noise", "note"):
        if not table.get(key):
            shown.pop(key, None)
    for key in {"note", "reason"} & shown.keys():
        shown[key] = as_typed(shown[key])
    for key in {"develop", "relief"} & table.keys():
        shown[key] = ", ".join(f"{name} {value}" for name, value in table[key].items())
    lines = [f"{LABELS.get(key, key):19}{value}\n" for key, value in shown.items()]
    print_facts(table, "".join(lines), as_json)


def explain_plan(table: Mapping[str, Any]) -> None:
    """Print the method, the reason for it, and the forecast."""
    reason = f": {table['reason']}" if "reason" in table else ""
    tell(f"method {table['method']}{reason}")
    work = next((f"{table[key]} {key}" for key in ("tiles", "points") if key in table), "")
    tell(f"{work}, {about(table['seconds'])} without compiling".removeprefix(", "))

"""What several verbs share: options, values with units, progress, and the line at the end."""

import contextlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fractals.errors import OptionError, SceneError

if TYPE_CHECKING:
    from fractals.scene.model import Scene

F = TypeVar("F", bound=Callable[..., Any])

NAMED_SIZES = {
    "720p": (1280, 720),
    "1080p": (1920, 1080),
    "1440p": (2560, 1440),
    "2k": (2048, 1080),
    "4k": (3840, 2160),
    "5k": (5120, 2880),
    "8k": (7680, 4320),
    "16k": (15360, 8640),
}
INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
PHYSICAL = re.compile(r"([\d.]+)x([\d.]+)([a-z]+)@([\d.]+)([a-z]+)", re.ASCII)


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """Return a click option that the environment can set: ``--size`` is ``FRACTALS_SIZE``."""
    long = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "FRACTALS_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **settings)


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator for several, in the order they are shown."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


color_options = together(
    option("--palette", metavar="NAME|FILE", help="Palette: a name, cmap:NAME, or FILE[#ENTRY]."),
    option(
        "--coloring",
        metavar="NAME[,KEY=VALUE]",
        help="Coloring, such as smooth or stripe_average,density=7; list colorings shows all.",
    ),
    option(
        "--transfer",
        metavar="CURVE",
        help="Curve to the palette: auto, linear, sqrt, cbrt, log, atan.",
    ),
    option("--density", metavar="TURNS", help="How fast the palette goes round."),
    option("--offset", metavar="TURNS", help="Where the palette begins."),
    option("--inside", metavar="COLOR", help="Color of the set itself, such as '#000'."),
)
place_options = together(
    option(
        "--formula",
        metavar="NAME[,KEY=VALUE]|EXPRESSION",
        help="Formula, such as multibrot,power=4, or your own, such as 'z**3 + c*sin(z)'.",
    ),
    option("--julia", metavar="X,Y", help="Draw the Julia set of this c."),
    option("--center", metavar="X,Y", help="Center of the view; decimals of any length."),
    option("--width", metavar="W", help="Full width of the view in the plane."),
    option("--zoom", metavar="Z", help="Instead of --width: the home width divided by it."),
    option("--rotation", metavar="DEGREES", help="Turn the view counter-clockwise."),
    option("--mirror/--no-mirror", default=None, help="Turn the imaginary axis downwards."),
    option("--stretch", metavar="FACTOR", help="How much longer things look along one direction."),
    option("--stretch-angle", metavar="DEGREES", help="That direction, from the right."),
    option(
        "--projection",
        metavar="NAME",
        help="plane, or exponential: x is the angle, y the logarithm of the radius.",
    ),
    option("--size", metavar="SIZE", help="1920x1080, 4k, 300%, 100x70cm@300dpi."),
)
scene_options = together(
    place_options,
    option("--supersampling", metavar="N", help="N x N samples a pixel."),
    option("--antialias", metavar="HOW", help="Of samples: grid, jittered or adaptive."),
    option("--max-iterations", metavar="N", help="Most iterations, or auto."),
    option(
        "--precision", metavar="TYPE", help="Number type to iterate in: auto, float64, float32."
    ),
    option("--escape-radius", metavar="R", help="Where an orbit has escaped, 2 or more."),
)
picture_options = together(
    option("--bits", metavar="N", help="Bits a channel: 8, or 16 (PNG only)."),
    option("--dpi", metavar="N", help="Pixels an inch, for printing; PNG, JPEG, TIFF."),
    option("--compression", metavar="HOW", help="Of a PNG: fast, or small (a tenth to a third)."),
)
device_options = together(
    option(
        "--device",
        metavar="DEVICE",
        default="auto",
        help="auto, cpu, gpu, cuda, cuda:N, cuda:all, simulator or python.",
    ),
    option("--cpu", is_flag=True, help="Draw on the CPU."),
    option("--gpu", is_flag=True, help="Draw on a GPU; without one, in Numba's CUDA simulator."),
    option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Most CPU threads."),
)
json_option = option("--json", "as_json", is_flag=True, help="Print the facts as JSON on stdout.")
overwrite_option = option("--overwrite", is_flag=True, help="Replace an existing file.")


def examples(*lines: str) -> str:
    """Return the end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  fractals {line}" for line in lines)


def device_request(options: dict[str, Any]) -> str:
    """Take the device options out of `options` and return the device they ask for."""
    cpu, gpu, device = options.pop("cpu"), options.pop("gpu"), str(options.pop("device"))
    given = [name for name, on in (("--cpu", cpu), ("--gpu", gpu)) if on]
    if device != "auto":
        given.append(f"--device {device}")
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} contradict each other: give one")
    return "cpu" if cpu else "gpu" if gpu else device


def requested_scene(
    sources: tuple[str, ...], options: Mapping[str, Any], lost: list[str] | None = None
) -> "Scene":
    """Return the scene that sources and options describe; a bad option is an `OptionError`.

    What files of other programs say and a scene can't is told, and added to `lost`.
    """
    from fractals.io.load import load_scene

    lost = [] if lost is None else lost
    scene = load_scene(*sources, lost=lost)
    changes = {key: value for key, value in options.items() if value is not None}
    for key in ("center", "julia"):
        if key in changes:
            changes[key] = parse_point(changes[key], key)
    if "formula" in changes:
        changes["formula"] = parse_formula(changes["formula"])
    if "coloring" in changes:
        changes["coloring"] = parse_coloring(changes["coloring"])
    if "size" in changes:
        if physical := PHYSICAL.fullmatch(str(changes["size"]).strip().lower()):
            changes.setdefault("dpi", physical[4])
        changes["size"] = parse_size(changes["size"], scene.image.size)
    if "palette" in changes:
        changes["palette"] = read_palette(str(changes["palette"]), lost)
    tell_lost(lost)
    if changes.get("width") is not None and changes.get("zoom") is not None:
        raise OptionError("--width and --zoom are both given: give one of them")
    try:
        return scene.replace(**changes) if changes else scene
    except SceneError as error:
        raise OptionError("\n".join(map(_as_option, str(error).splitlines()))) from None


def _as_option(line: str) -> str:
    """Turn ``view.width: ...`` into ``--width: ...``."""
    path, _, message = line.partition(": ")
    key = next((part for part in reversed(path.split(".")) if not part.isdecimal()), path)
    key = "formula" if path.startswith("formula") else key
    key = "coloring" if path.startswith("color.coloring") else key
    return f"--{key.replace('_', '-')}: {message}"


def read_palette(name: str, lost: list[str]) -> Any:
    """Return the palette of a name or a file, and add to `lost` what a file says in vain."""
    from fractals import catalog
    from fractals.io import palettes

    if name in catalog.names("palette"):
        return name
    palette, lines = palettes.find(name)
    lost += [f"{name}: {line}" for line in lines]
    return palette or name  # the scene says what is wrong with an unknown name


def parse_point(text: str, key: str) -> tuple[str, str]:
    """Return the two parts of ``X,Y``."""
    x, comma, y = text.partition(",")
    if not comma:
        raise OptionError(f"--{key}: '{text[:40]}' is not two numbers X,Y such as -0.75,0.1")
    return x.strip(), y.strip()


def parse_formula(text: str) -> dict[str, Any]:
    """Return the table of ``multibrot,power=4``, or of an expression such as ``z**3 + c*sin(z)``.

    Examples
    --------
    >>> parse_formula("z**2 + c,start=c/2")
    {'name': 'expression', 'step': 'z**2 + c', 'start': 'c/2'}
    """
    name, *pairs = text.split(",")
    named = re.fullmatch(r"\s*\w+\s*", name, re.ASCII)
    table: dict[str, Any] = {"name": name.strip()}
    if not named:
        table = {"name": "expression", "step": name}  # as it is: errors tell the column
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not (key and equals and value):
            raise OptionError(f"--formula: '{pair[:40]}' is not KEY=VALUE such as power=4")
        table[key] = _number(value)
    return table


def _number(text: str) -> int | float | str:
    """Return a whole number, another, or the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def parse_coloring(text: str) -> dict[str, Any]:
    """Return the table of ``orbit_trap,shape=circle,radius=0.4``.

    Examples
    --------
    >>> parse_coloring("orbit_trap,shape=circle,radius=0.4")
    {'name': 'orbit_trap', 'shape': 'circle', 'radius': 0.4}
    """
    name, *pairs = text.split(",")
    table: dict[str, Any] = {"name": name.strip()}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not (key and equals and value):
            raise OptionError(f"--coloring: '{pair[:40]}' is not KEY=VALUE such as density=7")
        table[key] = _number(value)
    return table


def parse_size(text: str, current: tuple[int, int]) -> tuple[int, int]:
    """Return (width, height) in pixels.

    Examples
    --------
    >>> parse_size("50%", (640, 480)), parse_size("10x5in@100dpi", (1, 1))
    ((320, 240), (1000, 500))
    """
    text = text.strip().lower()
    if text in NAMED_SIZES:
        return NAMED_SIZES[text]
    physical = PHYSICAL.fullmatch(text)
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
            return round(current[0] * share), round(current[1] * share)
        if not physical:
            across, down = text.split("x")
            return int(across), int(down)
        width, height, dots = (float(physical[k]) for k in (1, 2, 4))
    except (ValueError, OverflowError):
        raise OptionError(
            f"--size: '{text[:40]}' is none of 1920x1080, 300%, 100x70cm@300dpi, "
            + ", ".join(NAMED_SIZES)
        ) from None
    unit, dots_unit = physical[3], physical[5]
    if unit not in INCHES or dots_unit != "dpi":
        bad = unit if unit not in INCHES else dots_unit
        raise OptionError(f"--size: unknown unit '{bad}': use cm, mm or in, and dpi")
    return round(width * INCHES[unit] * dots), round(height * INCHES[unit] * dots)


def tell(message: str) -> None:
    """Print a line on stderr."""
    click.echo(f"fractals: {message}", err=True)


def tell_lost(lost: list[str]) -> None:
    """Print on stderr what could not be carried over, a line each."""
    for line in lost:
        tell(f"lost: {line}")


def print_json(table: Any) -> None:
    """Print data as JSON on stdout."""
    click.echo(json.dumps(table, indent=2))


class ProgressLine:
    """Shows how far a drawing is: a bar on a terminal, otherwise a line now and then."""

    FIRST, EVERY = 0.5, 10.0  # seconds: before a bar, between two lines

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels
        self._begun = self._last = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show that so many tiles are done."""
        now = monotonic()
        if self._bar:
            self._bar.update(
                self._task, completed=done, total=total, speed=self._speed(done, total)
            )
        elif sys.stderr.isatty():
            if now - self._begun > self.FIRST and done < total:
                self._start_bar(total)
        elif now - self._last > self.EVERY:
            self._last = now
            tell(f"{100 * done // total} % after {now - self._begun:.0f} s")

    def _speed(self, done: int, total: int) -> str:
        rate = self.pixels * done / total / max(monotonic() - self._begun, 1e-9)
        return f"{rate / 1e6:.2f} Mpixel/s"

    def _start_bar(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        columns = [BarColumn(), MofNCompleteColumn(), TextColumn("tiles  {task.fields[speed]}")]
        self._bar = Progress(*columns, Remaining(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=total, speed="")
        self._bar.start()


def seconds_line(timings: Mapping[str, float]) -> str:
    """Return the times of the stages that took any."""
    parts = [f"{stage} {value:.2f}" for stage, value in timings.items() if value > 0]
    return f"{sum(timings.values()):.2f} s ({', '.join(parts)})"

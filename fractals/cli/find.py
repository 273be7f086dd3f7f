"""`fractals find`: the minibrot in a view, its period, and the Julia sets around it."""

import math
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.options import (
    examples,
    json_option,
    option,
    overwrite_option,
    place_options,
    print_json,
    requested_scene,
    tell,
    together,
)
from fractals.errors import OptionError

if TYPE_CHECKING:
    from fractals.deep.nucleus import Minibrot
    from fractals.scene.model import Scene

search_options = together(
    place_options,
    option(
        "--max-period",
        metavar="N",
        help="Highest period to look for; else by the scene's limit.",
    ),
)
output_option = option(
    "-o", "--output", metavar="FILE", default="-", help="Scene to write, .toml or .json."
)


@click.group(
    "find",
    epilog=examples(
        "find nucleus seahorse -o mini.toml",
        "find period --center=-1.75,0 --width 0.1",
        "find julia seahorse --fraction 0.5,0.75 -o julia.toml",
    ),
)
def find_command() -> None:
    """Find the minibrot in a view, to any depth, as a scene to draw.

    A view's minibrot is the one with the lowest period in it.
    """


@find_command.command(
    "nucleus",
    epilog=examples(
        "find nucleus seahorse                # the scene, on stdout",
        "find nucleus sea.png --upright -o mini.toml",
        "find nucleus seahorse --json         # with period, size and angle",
    ),
)
@click.argument("scenes", nargs=-1, metavar="[SCENE]...")
@search_options
@option("--upright", is_flag=True, help="Turn the view as the minibrot is turned.")
@output_option
@overwrite_option
@json_option
def nucleus_command(
    scenes: tuple[str, ...],
    max_period: str | None,
    upright: bool,
    output: str,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the minibrot in view: a scene that shows it, centered on its nucleus.

    The nucleus is the point whose critical orbit comes back to 0 exactly. It is found by Newton's
    method, to 18 digits beyond the minibrot's size.
    """
    check_target(output, overwrite)
    found = search(scenes, max_period, options)
    drawn = found.scene(upright)
    if as_json:
        print_json({**found.to_table(), "scene": drawn.to_table()})
    if not as_json or output != "-":
        write(drawn, output)


@find_command.command(
    "period",
    epilog=examples(
        "find period seahorse",
        "find period --center=-1.75,0 --width 0.1",
        "find period sea.png --max-period 1000000 --json",
    ),
)
@click.argument("scenes", nargs=-1, metavar="[SCENE]...")
@search_options
@json_option
def period_command(
    scenes: tuple[str, ...], max_period: str | None, as_json: bool, **options: Any
) -> None:
    """Print the period of the minibrot in view."""
    from fractals.deep.nucleus import find_period

    scene = requested_scene(scenes, options)
    with SearchLine() as progress:
        period = find_period(scene, parse_limit(max_period), progress)
    if as_json:
        print_json({"period": period})
    else:
        click.echo(period)


@find_command.command(
    "julia",
    epilog=examples(
        "find julia seahorse",
        "find julia seahorse --fraction 0.875 -o julia.toml",
        "find julia seahorse --fraction 0.5,0.75,0.875 -o julia.toml   # julia-0.5.toml, ...",
    ),
)
@click.argument("scenes", nargs=-1, metavar="[SCENE]...")
@search_options
@option(
    "--fraction",
    metavar="F[,F]...",
    default="0.75",
    show_default=True,
    help="Of the minibrot's depth; one scene for each.",
)
@output_option
@overwrite_option
@json_option
def julia_command(
    scenes: tuple[str, ...],
    max_period: str | None,
    fraction: str,
    output: str,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the Julia sets embedded around the minibrot in view.

    They lie at fractions of its depth, the logarithm of its zoom, counted from the home view: at
    0.5 it begins to shape what is seen; at 0.75, 0.875, 0.9375, ... the arms about it double.
    """
    fractions = parse_fractions(fraction)
    if len(fractions) > 1 and output == "-" and not as_json:
        raise OptionError("several fractions make several scenes: name a file with --output")
    names = [output]
    if len(fractions) > 1 and output != "-":
        path = Path(output)
        names = [str(path.with_stem(f"{path.stem}-{part:g}")) for part in fractions]
    for name in names:
        check_target(name, overwrite)
    found = search(scenes, max_period, options)
    drawn = [found.julia(part) for part in fractions]
    if as_json:
        tables = [scene.to_table() for scene in drawn]
        print_json({**found.to_table(), "fractions": fractions, "scenes": tables})
    if not as_json or output != "-":
        for scene, name in zip(drawn, names, strict=True):
            write(scene, name)


def search(scenes: tuple[str, ...], max_period: str | None, options: dict[str, Any]) -> "Minibrot":
    """Return the minibrot in view, and say in one line what it is."""
    from fractals.deep.nucleus import find_nucleus

    scene = requested_scene(scenes, options)
    begun = monotonic()
    with SearchLine() as progress:
        found = find_nucleus(scene, parse_limit(max_period), progress)
    kind = {True: "cardioid, ", False: "disc, ", None: ""}[found.cardioid]
    turned = "" if found.angle is None else f"turned by {found.angle:.4g}°, "
    digits = max(len(part.partition(".")[2]) for part in found.center)
    tell(
        f"nucleus of period {found.period}: {kind}size {found.size}, {turned}"
        f"{digits} decimals, {monotonic() - begun:.1f} s"
    )
    old = scene.iteration.max_iterations
    if old != "auto" and found.scene().iteration.max_iterations == "auto":
        tell(f"the scene's limit of {old} is low for that period: now auto")
    return found


def parse_limit(text: str | None) -> int | None:
    """Return the highest period to look for; none where the scene is to say."""
    if text is None or text == "auto":
        return None
    if not (text.isdecimal() and len(text) < 20 and int(text) > 0):
        raise OptionError(f"--max-period: '{text[:40]}' is not 'auto' or a whole number, 1 or more")
    return int(text)


def parse_fractions(text: str) -> list[float]:
    """Return the numbers of ``0.5,0.75``."""
    try:
        fractions = [float(part) for part in text.split(",")]
    except ValueError:
        fractions = [math.nan]
    if not all(0 < fraction < 1 for fraction in fractions):
        raise OptionError(
            f"--fraction: '{text[:40]}' is not made of numbers between 0 and 1, such as 0.5,0.75"
        )
    return fractions


def check_target(output: str, overwrite: bool) -> None:
    """Refuse an output that can't be written, before the search."""
    from fractals.io.files import check_output

    if output == "-":
        return
    if Path(output).suffix.lower() not in (".toml", ".json"):
        raise OptionError(
            f"'{output}': a scene is written to a .toml or .json file, or to - (stdout)"
        )
    check_output(output, overwrite)


def write(scene: "Scene", output: str) -> None:
    """Write a scene to a file, or to stdout."""
    from fractals.io.files import written

    if output == "-":
        click.echo(scene.to_toml(), nl=False)
        return
    is_json = Path(output).suffix.lower() == ".json"
    with written(output) as file:
        file.write((scene.to_json() + "\n" if is_json else scene.to_toml()).encode())
    tell(f"{output}: {scene.title}")


class SearchLine:
    """Shows how far a search is: a bar on a terminal, otherwise a line now and then."""

    FIRST, EVERY = 0.5, 10.0  # seconds: before a bar, between two lines

    def __init__(self) -> None:
        self._begun = self._last = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "SearchLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that so many steps of `total` are done."""
        now = monotonic()
        if self._bar:
            self._bar.update(self._task, description=what, completed=done, total=total)
        elif sys.stderr.isatty():
            if now - self._begun > self.FIRST:
                self._start_bar(what, total)
        elif now - self._last > self.EVERY:
            self._last = now
            tell(f"{what}: {done} of at most {total} steps, after {now - self._begun:.0f} s")

    def _start_bar(self, what: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(what, total=total)
        self._bar.start()

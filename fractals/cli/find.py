"""`fractals find`: minibrots, periods, embedded Julia sets, and the eyes of spirals."""

import contextlib
import math
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import fractals
from fractals.cli import shared
from fractals.cli.command import option, together, verb, verb_group
from fractals.cli.messages import ProgressLine, print_facts, print_json, program_of, tell, write_out
from fractals.cli.scenes import requested_scene
from fractals.cli.values import Whole, whole
from fractals.errors import OptionError, counted, shown
from fractals.rendering.options import SuggestOptions
from fractals.search.options import SearchOptions, SpiralOptions

if TYPE_CHECKING:
    from fractals.scene.model import Scene
    from fractals.search.nucleus import Minibrot

SHEET = "sheet.png"  # thumbnails of the views that are suggested
MAX_PERIOD = 10**18  # the bound of --max-period, far beyond any search

search_options = together(
    shared.view_options,
    option("Search", "--max-period N", SearchOptions),
)
target_option = shared.output_option(
    "Scene to write, .toml or .json; - is stdout.", "io.load.SCENE_SUFFIXES", default="-"
)


@verb_group(
    "find",
    "search",
    "Searches",
    "find nucleus seahorse -o mini.toml",
    "find misiurewicz seahorse --at 200,120 -o eye.toml",
    "find interesting seahorse -o views/",
    said={
        "nucleus": "minibrot minibrots nuclei",
        "period": "periods",
        "julia": "julias",
        "misiurewicz": "spiral spirals eye eyes",
        "interesting": "view views",
    },
)
def find_command() -> None:
    """Find minibrots, their periods, embedded Julia sets, spirals and interesting views.

    They are found inside the view of a scene, at any depth. 'find minibrot' is 'find nucleus',
    'find spiral' is 'find misiurewicz', and 'find views' is 'find interesting'.

    A minibrot is a small copy of the set. A search takes the minibrot with the lowest period in
    the view: the largest one. With --at X,Y it searches a view of the same size around that pixel,
    and --at X,Y --width 10% a tenth of that view.
    """


@verb(
    "nucleus",
    "find nucleus seahorse                # the scene, on stdout",
    "find nucleus sea.png --upright -o mini.toml",
    "find nucleus seahorse --json         # with period, size and angle",
)
@shared.scene_arguments
@search_options
@option("Search", "--upright", "Rotate the view so that the minibrot is upright.")
@target_option
@shared.overwrite_option
@shared.json_option
def nucleus_command(
    scenes: tuple[str, ...],
    max_period: str | None,
    upright: bool,
    output: str,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the minibrot in view, and write a scene centered on its nucleus.

    The nucleus is the point of the minibrot whose critical orbit returns to 0 exactly. Newton's
    method finds it, to 18 digits beyond the minibrot's size.
    """
    check_target(output, overwrite)
    found = search(scenes, max_period, options)
    drawn = found.scene(upright=upright)
    facts = {**found.to_table(), "scene": drawn.to_table()}
    write_found(facts, [(drawn, output)], as_json, overwrite)


@verb(
    "period",
    "find period seahorse",
    "find period --center=-1.75,0 --width 0.1",
    "find period sea.png --max-period 1000000 --json",
)
@shared.scene_arguments
@search_options
@shared.json_option
def period_command(
    scenes: tuple[str, ...], max_period: str | None, as_json: bool, **options: Any
) -> None:
    """Print the period of the minibrot in view."""
    from fractals.search.nucleus import find_period

    scene = requested_scene(scenes, options)
    with ProgressLine() as progress:
        period = find_period(scene, parse_limit(max_period), progress.search)
    print_facts({"period": period}, f"{period}\n", as_json)


@verb(
    "julia",
    "find julia seahorse",
    "find julia seahorse --fraction 0.875 -o julia.toml",
    "find julia seahorse --fraction 0.5,0.75,0.875 -o julia.toml   # julia-0.5.toml, ...",
)
@shared.scene_arguments
@search_options
@option(
    "Search",
    "--fraction F[,F]...",
    "Fractions of the minibrot's depth, a scene for each (default: 0.75).",
    default="0.75",
)
@target_option
@shared.overwrite_option
@shared.json_option
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

    Their depth, the logarithm of the zoom, is a fraction of the minibrot's depth: at 0.5 its first
    embedded Julia set appears; at 0.75, 0.875, 0.9375, ... the number of arms doubles.
    """
    fractions = parse_fractions(fraction)
    if len(fractions) > 1 and output == "-" and not as_json:
        raise OptionError("several fractions give several scenes: name a file with --output")
    names = [output] * len(fractions)
    if len(fractions) > 1 and output != "-":
        path = Path(output)
        names = [str(path.with_stem(f"{path.stem}-{part}")) for part in fractions]
    for name in names:
        check_target(name, overwrite)
    found = search(scenes, max_period, options)
    drawn = [found.julia(part) for part in fractions]
    tables = [scene.to_table() for scene in drawn]
    facts = {**found.to_table(), "fractions": fractions, "scenes": tables}
    write_found(facts, list(zip(drawn, names, strict=True)), as_json, overwrite)


@verb(
    "misiurewicz",
    "find misiurewicz seahorse -o eye.toml",
    "find misiurewicz seahorse --at 200,120 --digits 1000 -o eye.toml",
    "find misiurewicz seahorse --json      # with preperiod, period and zoom factor",
)
@shared.scene_arguments
@search_options
@option("Search", "--digits N", SpiralOptions)
@target_option
@shared.overwrite_option
@shared.json_option
def misiurewicz_command(
    scenes: tuple[str, ...],
    max_period: str | None,
    digits: str | None,
    output: str,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the eye of a spiral near the center of the view, and write a scene centered on it.

    The eye is a Misiurewicz point: its critical orbit ends in a repelling cycle. The view repeats
    at each zoom by the printed factor, rotated by the printed angle, so one can zoom in without
    end. The search begins near the center of the view; --at X,Y moves the center to a pixel.
    """
    from fractals.search.misiurewicz import find_misiurewicz

    check_target(output, overwrite)
    scene = requested_scene(scenes, options)
    places = None if digits is None else whole(digits)
    if digits is not None and places is None:
        raise OptionError(f"--digits: '{shown(digits, 40)}' is not a whole number, 1 or more")
    begun = monotonic()
    with ProgressLine() as progress:
        found = find_misiurewicz(scene, places, parse_limit(max_period), progress.search)
    decimals = max(len(part.partition(".")[2]) for part in found.center)
    tell(
        f"Misiurewicz point of preperiod {found.preperiod} and period {found.period}: a zoom by "
        f"{found.factor} repeats the view, rotated by {found.angle:.4g}°, "
        f"{counted(decimals, 'decimal')}, {monotonic() - begun:.1f} s"
    )
    drawn = found.scene()
    facts = {**found.to_table(), "scene": drawn.to_table()}
    write_found(facts, [(drawn, output)], as_json, overwrite)


@verb(
    "interesting",
    "find interesting seahorse               # six lines",
    "find interesting seahorse -o views/     # scenes, and thumbnails in views/sheet.png",
    "find interesting seahorse --count 12 --json",
)
@shared.scene_arguments
@shared.view_options
@option(
    "Search",
    "--count N",
    SuggestOptions,
    type=Whole(1, 100),
    default=SuggestOptions.count,
)
@shared.output_option("Folder for a scene of each view and sheet.png.", "/", metavar="FOLDER")
@shared.overwrite_option
@shared.json_option
@shared.device_options
def interesting_command(
    scenes: tuple[str, ...],
    count: int,
    output: str | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Suggest interesting views inside the view, and draw thumbnails of them.

    The view is drawn coarsely and cut into windows an eighth as wide. A window scores by the
    variety (entropy) of its counts, less the share that is inside the set or flat, and by its
    composition: detail off the center, no symmetry, dark tones with some light. The eye of a
    spiral or a nucleus in a window comes to lie where the composition is best: in the middle, or
    on lines of thirds.

    Of a solid, cameras near its surface are tried, and a few rays tell what each sees: a surface
    at many distances, turned in many ways, low under some sky, well lit and composed.
    """
    from fractals.io.files import check_output, made_folder, written
    from fractals.tools import interesting, sheet

    device, threads = shared.device_request(options), options.pop("threads")
    scene = requested_scene(scenes, options)
    names = [f"view-{k}.toml" for k in range(1, count + 1)]
    folder = Path(output) if output else None
    with made_folder(folder) if folder else contextlib.nullcontext():
        if folder:
            for name in (*names, SHEET):
                check_output(folder / name, overwrite)
        with ProgressLine(program=program_of(scene)) as progress:
            found = interesting.find_interesting(
                scene, count=count, device=device, threads=threads, progress=progress
            )
        lines = []
        for name, each in zip(names, found, strict=False):
            position = each.scene.camera.position or ()  # of a solid
            place = ",".join(f"{part:g}" for part in position) or each.scene.view.width
            lines.append(f"{each.score:.3f}  {each.kind:8}  {place}  {each.scene.title}")
            if folder:
                fractals.save_scene(each.scene, folder / name, overwrite=overwrite)
                lines[-1] = f"{folder / name}  {lines[-1]}"
    tables = [
        {"score": each.score, "kind": each.kind, "scene": each.scene.to_table()} for each in found
    ]
    if folder:
        with ProgressLine(program=program_of(scene)) as progress:
            drawn = interesting.thumbnails(found, device, threads, progress)
        with written(folder / SHEET, overwrite) as file:
            file.write(sheet.png(drawn))
        tell(f"{folder / SHEET}: thumbnails of {counted(len(found), 'view')}")
    print_facts(tables, "".join(f"{line}\n" for line in lines), as_json)


def search(scenes: tuple[str, ...], max_period: str | None, options: dict[str, Any]) -> "Minibrot":
    """Return the minibrot in view, and print one line about it."""
    from fractals.search.nucleus import find_nucleus

    scene = requested_scene(scenes, options)
    begun = monotonic()
    with ProgressLine() as progress:
        found = find_nucleus(scene, parse_limit(max_period), progress.search)
    kind = {True: "cardioid, ", False: "disc, ", None: ""}[found.cardioid]
    turned = "" if found.angle is None else f"rotated by {found.angle:.4g}°, "
    digits = max(len(part.partition(".")[2]) for part in found.center)
    tell(
        f"nucleus of period {found.period}: {kind}size {found.size}, {turned}"
        f"{counted(digits, 'decimal')}, {monotonic() - begun:.1f} s"
    )
    old = scene.iteration.max_iterations
    if old != "auto" and found.scene().iteration.max_iterations == "auto":
        tell(f"max_iterations {old} is too low for period {found.period}: auto is written")
    return found


def parse_limit(text: str | None) -> int | None:
    """Return the highest period to search; None where the depth of the view decides."""
    if text is None or text == "auto":
        return None
    number = whole(text)
    if number is None or not 1 <= number <= MAX_PERIOD:
        raise OptionError(
            f"--max-period: '{shown(text, 40)}' is not 'auto' or a whole number, 1 or more"
        )
    return number


def parse_fractions(text: str) -> list[float]:
    """Return the numbers of ``0.5,0.75``."""
    try:
        fractions = [*dict.fromkeys(float(part) for part in text.split(","))]
    except ValueError:
        fractions = [math.nan]
    if not all(0 < fraction < 1 for fraction in fractions):
        raise OptionError(
            f"--fraction: '{shown(text, 40)}' is not numbers between 0 and 1, such as 0.5,0.75"
        )
    return fractions


def check_target(output: str, overwrite: bool) -> None:
    """Refuse an output that can't be written, before the search."""
    from fractals.io.files import check_output
    from fractals.io.load import check_suffix

    if output != "-":
        check_suffix(output)
        check_output(output, overwrite)


def write_found(
    facts: Any, scenes: "list[tuple[Scene, str]]", as_json: bool, overwrite: bool
) -> None:
    """Write scenes to files, or to stdout in place of the facts as JSON."""
    for scene, output in scenes:
        if output != "-":
            fractals.save_scene(scene, output, overwrite=overwrite)
            tell(f"{output}: {scene.title}")
        elif not as_json:
            write_out(scene.to_toml())
    if as_json:
        print_json(facts)


for each in (
    nucleus_command,
    period_command,
    julia_command,
    misiurewicz_command,
    interesting_command,
):
    find_command.add_command(each)

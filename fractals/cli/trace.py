"""`fractals trace`."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from fractals.cli import shared
from fractals.cli.command import section, verb
from fractals.cli.messages import ProgressLine, program_of, tell
from fractals.cli.scenes import default_output, requested_scene
from fractals.cli.values import Whole
from fractals.errors import OptionError, shown

A4 = 210.0  # mm
PEN = 0.3  # mm, of a fine liner
SHORTEST = 5.0  # mm; shorter lines are dots, thousands of them near a set


@verb(
    "trace",
    "trace seahorse --contours 30 -o sea.svg",
    "trace --rays 32 -o set.svg                  # 32 rays, evenly spread",
    "trace leaves --colored --paper 297 -o leaves.svg",
)
@shared.scene_arguments
@shared.view_options
@shared.color_options
@shared.max_iterations_option
@shared.threads_option
@section(
    "Lines",
    {
        "--contours N": "Number of values that contours are drawn of (default: 12).",
        "--rays N|ANGLES": "External rays: a number of them, or their angles in turns: 1/3,2/3.",
        "--paper MM": "Width of the drawing in millimeters (default: 210, that of A4).",
        "--pen MM": "Width of a line in millimeters (default: 0.3).",
        "--shortest MM": "Length of the shortest contour in millimeters (default: 5).",
        "--colored": "Give each contour the color of its value, for a pen each.",
    },
    contours={"type": Whole(0, 1000), "default": 12},
    paper={"type": click.FloatRange(1, 10_000), "default": A4},
    pen={"type": click.FloatRange(0.001, 100), "default": PEN},
    shortest={"type": click.FloatRange(0, 10_000), "default": SHORTEST},
)
@shared.output_option("Drawing to write, an SVG.", ".svg")
@shared.overwrite_option
def trace_command(
    scenes: tuple[str, ...],
    contours: int,
    rays: str | None,
    paper: float,
    pen: float,
    shortest: float,
    colored: bool,
    threads: int | None,
    output: str | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Draw a scene in lines, for pen plotters and laser cutters.

    Contours join the points where the scene's coloring has one value: those of smooth are lines of
    equal potential; those of distance, which is taken in place of smooth unless --coloring is
    given, follow the set itself. Lines end where the next one is closer than the width of the pen.
    External rays cross them; they are those of z**d + c. A larger --size gives finer lines. The
    lines are in an order in which a pen travels little.
    """
    from fractals.io.files import check_output, written
    from fractals.rendering.fit import fit_colors
    from fractals.rendering.options import RenderOptions
    from fractals.tools import trace

    path = Path(output or default_output(scenes, options, ".svg", free=not overwrite))
    if path.suffix.lower() != ".svg":
        raise OptionError(f"'{shown(path)}': lines are written to an .svg")
    check_output(path, overwrite)
    angles = parse_rays(rays) if rays else []
    scene = requested_scene(scenes, options, [], shared.scene_table())
    scene = scene.replace(supersampling=1, antialias="grid", layers=[])
    if not (contours or angles):
        raise OptionError("nothing to draw: give --contours or --rays")
    with ProgressLine(program=program_of(scene), task="following lines"):
        found = trace.rays(scene, angles) if angles else []
        if options["coloring"] is None and scene.color.coloring.name == "smooth":
            scene = fit_colors(scene.replace(coloring="distance", transfer="auto"))
        levels = []
        if contours:
            how = RenderOptions(device="cpu", threads=threads, on_message=tell)
            scale = scene.image.size[0] / paper
            levels = trace.contours(scene, contours, pen * scale, shortest * scale, how)
        text = trace.svg(scene, levels, found, paper, pen, colored)
    with written(path, overwrite) as file:
        file.write(text.encode())
    count = sum(len(lines) for _, lines in levels) + len(found)
    tell(f"{path}: {count} lines, {paper:g} mm wide")


def parse_rays(text: str) -> list[Fraction]:
    """Return the angles that ``--rays`` means, in turns.

    >>> [str(angle) for angle in parse_rays("4")], [str(angle) for angle in parse_rays("1/7,0.5")]
    (['0', '1/4', '1/2', '3/4'], ['1/7', '1/2'])
    """
    from fractals.tools.trace import MAX_RAYS

    try:
        if text.strip().isdecimal() and 1 <= int(text) <= MAX_RAYS:
            return [Fraction(k, int(text)) for k in range(int(text))]
        angles = [Fraction(part.strip()) for part in text[:10_000].split(",")]
    except (ValueError, ZeroDivisionError):
        angles = []
    if not 1 <= len(angles) <= MAX_RAYS or any(abs(a) > 1 or a.denominator > 10**9 for a in angles):
        raise OptionError(
            f"--rays {shown(text, 40)}: give a number of rays up to {MAX_RAYS}, or angles in "
            "turns, such as 1/3,2/3"
        )
    return angles

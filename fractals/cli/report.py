"""What drawing verbs print at their end: the closing line, JSON, the plan, and hints."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fractals.cli.messages import Verbosity, about, print_json, settings, tell, write_out
from fractals.cli.progress import ProgressLine, program_of

if TYPE_CHECKING:
    from fractals.io.summary import Summary
    from fractals.rendering.plan import Keeps
    from fractals.scene.model import Scene

MIN_BYTES = 4096  # of a small picture, whose scene takes most of them
# What the keys of a plan mean, where one word does not say it.
LABELS = {
    "digits": "digits needed",
    "bits": "bits of the orbit",
    "finest": "narrowest width",
    "file": "file of numbers",
}
UNIFORM = 100  # pixels per byte: PNGs of one color have 300 or more (measured)


def report(
    drawn: Any, output: str, method: str, as_json: bool, lost: list[str] | None = None
) -> None:
    """Say what was done: one line on stderr, or JSON on stdout."""
    width, height = drawn.scene.image.size
    summary: Summary | None = getattr(drawn, "summary", None)
    if as_json:
        facts: dict[str, Any] = {
            "output": output,
            "device": drawn.device,
            "method": method,
            "precision": drawn.precision,
            "loop": getattr(drawn, "loop", ""),
            "size": [width, height],
            "supersampling": drawn.scene.image.supersampling,
            **(summary.to_table() if summary else {}),
            "timings": drawn.timings,
            "lost": settings(lost or []),
        }
        print_json(facts)
        return
    loop: str = getattr(drawn, "loop", "")
    if Verbosity.verbose and loop:
        tell(f"loop: {loop}")
    times = seconds_line(drawn.timings)
    parts = [f"{width}x{height}", drawn.device, method, drawn.precision]
    parts += [str(summary)] if summary else []
    tell(f"{output}: {', '.join(parts)}, {times}")


def seconds_line(timings: Mapping[str, float]) -> str:
    """Return the times of the stages that took any."""
    parts = [f"{stage} {value:.2f}" for stage, value in timings.items() if value > 0]
    return f"{sum(timings.values()):.2f} s ({', '.join(parts)})"


def hint_at_one_color(path: str, scene: "Scene") -> None:
    """Say what to do where a picture shows no detail."""
    color = one_color(path, scene)
    if color is None:
        return
    from fractals.color.palette import parse_color
    from fractals.color.spaces import srgb_from_linear

    inside = [
        round(255 * float(part)) for part in srgb_from_linear(parse_color(scene.color.inside))
    ]
    moves = "zoom out (--zoom x0.1), or move to the edge of the set (--pan 0.5,0, --at X,Y)"
    if list(color) == inside and not scene.color.layers:
        tell(
            "every pixel lies inside the set, or reached the maximum of iterations: "
            f"{moves}; or raise --max-iterations"
        )
    else:
        tell(f"every pixel has the same color: {moves}")


def one_color(path: str, scene: "Scene") -> tuple[int, ...] | None:
    """Return the color of a picture of a single color; None of any other picture."""
    import PIL.Image

    from fractals.io.files import lifted_limit

    width, height = scene.image.size
    try:
        if Path(path).stat().st_size > MIN_BYTES + width * height // UNIFORM or width * height < 2:
            return None  # a compressed picture with any detail is larger, and need not be read
        with lifted_limit(), PIL.Image.open(path) as picture:
            ranges: Any = picture.convert("RGB").getextrema()
    except (OSError, ValueError):
        return None
    if any(least != most for least, most in ranges):
        return None
    return tuple(least for least, _ in ranges)


def plan_table(
    scene: "Scene", how: Mapping[str, Any], keeps: "Keeps", measures: bool = False
) -> dict[str, Any]:
    """Return how a scene would be drawn, as plain values; `keeps` is that of `make_plan`.

    measures : bool
        Whether the seconds of deep views are measured on some samples, and the limit "auto" is
        found, which compiles programs.
    """
    import numpy as np

    from fractals.backends.devices import choose
    from fractals.io.escape_data import planes_for
    from fractals.rendering.measured import is_measurable, is_soon_open
    from fractals.rendering.options import RenderOptions
    from fractals.rendering.plan import make_plan
    from fractals.rendering.render import measure

    device, note = choose(how["device"])
    if note:
        tell(note)
    cores = how["threads"] or device.cores or 1
    planned = make_plan(scene, device.kind, how["interior_shortcuts"], cores, keeps)
    table = planned.to_table()
    table["measured"] = measures and is_measurable(planned)
    if table["measured"] or (measures and planned.probed and is_soon_open(planned)):
        options = RenderOptions(how["device"], how["threads"], how["interior_shortcuts"])
        with ProgressLine(0, program_of(scene)):
            found = measure(scene, options)
        if found:
            table["seconds"] = float(f"{found.seconds:.2g}")
            table["max_iterations"] = found.max_iterations
        else:
            table["measured"] = False
            tell("the reference orbit alone takes longer than the forecast says")
    if keeps in ("store", "raw"):
        samples = math.prod(planned.size) * planned.supersampling**2
        pair = np.result_type(planned.precision, np.complex64)
        table["file"] = samples * sum(d.itemsize for d in planes_for(planned.layers, pair).values())
    return table


def print_plan(table: Mapping[str, Any], as_json: bool) -> None:
    """Print how a scene would be drawn."""
    if as_json:
        print_json(table)
        return
    shown = dict(table)
    shown["size"] = "{}x{}".format(*table["size"])
    for key in {"memory", "file"} & table.keys():
        shown[key] = f"{max(1, table[key] / 2**20):.0f} MiB"
    measured = "measured on some samples" if shown.pop("measured") else "estimated"
    shown["seconds"] = f"{about(table['seconds'])}, {measured}, without compiling"
    if not table["bits"]:
        del shown["bits"]
    write_out("".join(f"{LABELS.get(key, key):19}{value}\n" for key, value in shown.items()))


def explain_plan(table: Mapping[str, Any]) -> None:
    """Print the method, the reason for it, and the forecast."""
    tell(f"method {table['method']}: {table['reason']}")
    tell(f"{table['tiles']} tiles, {about(table['seconds'])} without compiling")

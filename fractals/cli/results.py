"""What drawing verbs print at their end: the closing line, JSON, the plan, and hints."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fractals.cli.messages import (
    ProgressLine,
    Verbosity,
    about,
    as_typed,
    print_facts,
    print_json,
    program_of,
    settings,
    tell,
)

if TYPE_CHECKING:
    from fractals.io.facts import Summary
    from fractals.rendering.plan import Keeps
    from fractals.scene.model import Scene

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

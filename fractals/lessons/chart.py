"""The chart of what the steps of the lessons measured."""

import io
import math
from typing import Any

from fractals.lessons.steps import UNIT

WIDTH, ROW, MARGIN = 1800, 56, 60  # pixels of the chart
NAMES, FIGURES = 300, 580  # pixels left of the bars for names, and right of them for figures
RIGHT = (1450.0, 1620.0, 1740.0)  # right edges of the columns of figures
HEAD, FOOT = 150, 110  # pixels above and below the bars
INK, GRAY, PALE = "#1f2933", "#6b7785", "#dfe4ea"
LIMIT = "#d1495b"
COLORS = {"CPU": "#1d4e89", "GPU": "#4c9a2a"}
OPERATIONS = 4  # of an iteration, as in lessons/ladder.py
LEGEND = (
    "Iterations of z*z + c per second, on a logarithmic scale. Limit: all cores do nothing but "
    "fused multiply-adds. Gain: over the step before; of step 6, over step 4."
)


def texts_of(figure: dict[str, Any]) -> tuple[str, str, str]:
    """Return the figures of a step: rate or time, share of the arithmetic, and the gain.

    >>> texts_of({"seconds": 0.05, "device": "CPU", "rate": 2e9, "unit": "it/s", "percent": 17.2})
    ('2 G it/s', '17 %', '')
    >>> texts_of({"device": "simulator"})
    ('in the simulator', '', '')
    """
    if "error" in figure:
        return str(figure["error"]).partition(": ")[2], "", ""
    if figure["device"] == "simulator":
        return "in the simulator", "", ""
    seconds = figure["seconds"]
    first = f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
    if "rate" in figure:
        first = f"{in_thousands(figure['rate'])} {figure['unit']}"
    if figure["device"] != "CPU":
        first = f"{first}, on the GPU"
    percent = f"{figure['percent']:.2g} %" if "percent" in figure else ""
    return first, percent, f"x {figure['times']:.2g}" if "times" in figure else ""


def in_thousands(number: float) -> str:
    """Return a number to three digits in thousands, millions, billions or trillions.

    >>> in_thousands(1e6), in_thousands(5.43e6), in_thousands(1e11), in_thousands(20)
    ('1 M', '5.43 M', '100 G', '20')
    """
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"


def has_bar(figure: dict[str, Any]) -> bool:
    """Return whether a step has a rate that says something about this machine."""
    return figure.get("unit") == UNIT and figure["device"] in COLORS


def chart(report: dict[str, Any]) -> bytes:
    """Return the chart of a report as a PNG: a bar for each rate, on a logarithmic scale."""
    from PIL import Image, ImageDraw, ImageFont

    from fractals.tools.bench_report import hardware_line

    figures = report["steps"]
    rates = [each["rate"] for each in figures if has_bar(each)]
    most = [each["arithmetic"] / OPERATIONS for each in figures if "arithmetic" in each][:1]
    low = math.floor(math.log10(min(rates, default=1.0)))
    high = max(low + 1, math.ceil(math.log10(max([*rates, *most], default=1.0))))
    height = HEAD + ROW * len(figures) + FOOT
    image = Image.new("RGB", (WIDTH, height), "white")
    draw = ImageDraw.Draw(image)
    left, right, bottom = MARGIN + NAMES, WIDTH - MARGIN - FIGURES, height - FOOT

    def across(rate: float) -> float:
        return left + (right - left) * (math.log10(rate) - low) / (high - low)

    def write(x: float, y: float, text: str, size: int, color: str = INK, at: str = "lm") -> None:
        draw.text((x, y), text, color, ImageFont.load_default(size), anchor=at)

    write(MARGIN, 48, "From a loop in Python to the limit of this machine", 38)
    write(MARGIN, 98, hardware_line(report), 24, GRAY)
    for x, text in zip(RIGHT, ("iterations per second", "of the limit", "gain"), strict=True):
        write(x, HEAD - 22, text, 22, GRAY, "rm")
    marks = {10.0**power: in_thousands(10.0**power) for power in range(low, high + 1)}
    for x, text in ((across(rate), text) for rate, text in marks.items()):
        draw.line([(x, HEAD - 8), (x, bottom)], PALE, 2)
        write(x, bottom + 22, text, 22, GRAY, "mm")
    for k, figure in enumerate(figures):
        y = HEAD + ROW * k + ROW // 2
        write(MARGIN + 40, y, figure["step"], 26, GRAY, "rm")
        write(MARGIN + 60, y, figure["name"].replace("_", " "), 26)
        first, *others = texts_of(figure)
        if has_bar(figure):
            end = max(left + 4, round(across(figure["rate"])))
            draw.rectangle([left, y - 17, end, y + 17], COLORS[figure["device"]])
            write(RIGHT[0], y, first.partition(f" {UNIT}")[0], 24, INK, "rm")
        else:
            font = ImageFont.load_default(24)
            draw.rectangle(draw.textbbox((left + 14, y), first, font, anchor="lm"), "white")
            write(left + 14, y, first, 24, GRAY)
        for x, text in zip(RIGHT[1:], others, strict=True):
            write(x, y, text, 24, GRAY, "rm")
    for x in map(across, most):
        draw.line([(x, HEAD - 8), (x, bottom)], LIMIT, 3)
        write(x, HEAD - 22, "limit", 22, LIMIT, "mm")
    write(MARGIN, bottom + 70, LEGEND, 22, GRAY)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

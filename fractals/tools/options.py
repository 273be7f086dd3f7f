"""The options of drawings for plotters, as `fractals.rendering.options` describes them."""

from typing import Any, ClassVar

from fractals.errors import OptionError, shown
from fractals.rendering.options import SourceOptions, option


class TraceOptions(SourceOptions):
    """Which lines a plotter draws of a scene, and how large."""

    contours: int = option(12, "Number of values that contours are drawn of (default: 12).")
    rays: Any = option(
        (),
        "External rays: a number of them, or their angles in turns, such as 1/3,2/3.",
        "A text, or a sequence of fractions, texts and floats.",
    )
    paper: float = option(
        210.0,
        "Width of the drawing in millimeters (default: 210, that of A4).",
        command="Width of the drawing in millimeters (default: 210), or the paper that it fills, "
        "such as A3.",
    )
    pen: float = option(0.3, "Width of a line in millimeters (default: 0.3).")
    shortest: float = option(5.0, "Length of the shortest contour in millimeters (default: 5).")
    colored: bool = option(False, "Give each contour the color of its value, for a pen each.")

    LIMITS: ClassVar[dict[str, tuple[Any, Any]]] = {
        "contours": (0, 1000),
        "paper": (1, 10_000),
        "pen": (0.001, 100),
        "shortest": (0, 10_000),
    }

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        for name, (least, most) in self.LIMITS.items():
            given = getattr(self, name)
            if not least <= given <= most:
                raise OptionError(f"{name}={shown(given, 40)}: give {least:g} to {most:g}")

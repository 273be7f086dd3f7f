"""The keys in which two scenes differ."""

from decimal import Decimal
from typing import Any

from fractals.scene.geometry import place_of
from fractals.scene.model import Scene

COLORS = (
    "version",
    "title",
    "author",
    "note",
    "color",
    "film",
)  # raw numbers do not depend on these
PICTURE = ("bits", "dpi", "compression")


def differences(first: Scene, second: Scene) -> list[str]:
    """Return the keys that make the raw numbers of two scenes differ.

    Examples
    --------
    >>> differences(Scene(), Scene().replace(zoom="1.0", max_iterations=50, palette="ember"))
    ['iteration.max_iterations']
    """
    one, two = _facts(first), _facts(second)
    return [key for key in {**one, **two} if one.get(key) != two.get(key)]


def _facts(scene: Scene) -> dict[str, Any]:
    table = {key: value for key, value in scene.to_table().items() if key not in COLORS}
    facts: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and name != "formula":
            facts |= {f"{name}.{key}": value for key, value in value.items()}
        else:
            facts[name] = value
    for key in PICTURE:
        facts.pop(f"image.{key}", None)
    formula = scene.make_formula()
    width, center = place_of(scene, formula)
    for key in ("view.zoom", "view.frame"):  # which can say the same as a width
        facts.pop(key, None)
    if scene.julia:
        facts["julia"] = tuple(Decimal(part) for part in scene.julia)
    return facts | {
        "formula": formula.label,
        "view.center": center,
        "view.width": width,
        "iteration.precision": scene.iteration.number_type,
    }

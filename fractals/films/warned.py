"""What may look bad in a film, told before it is made."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from fractals.films.motion import FilmPart, FilmView, with_view
from fractals.rendering.plan import digits_note, make_plan
from fractals.scene.geometry import make_layers
from fractals.scene.model import Scene
from fractals.scene.numbers import decimals_of, missing_decimals

FLAT = 80  # octaves of a zoom at whose end logarithms of counts differ by little


def warnings_of(scene: Scene, parts: Sequence[FilmPart], framed: bool) -> list[str]:
    """Return what may look bad in a film, a line each.

    `framed`: whether frames are drawn by themselves.
    """
    layers, found = make_layers(scene), []
    if missing := _missing_digits(scene, parts):
        found.append(digits_note(missing, "the deepest view"))
    if layers.whole and framed:
        found.append("histogram and rank color each frame by itself: colors may flicker")
    first = layers.drawn[0]
    octaves = (abs(part.octaves) for part in parts if part.kind != "still")
    if max(octaves, default=0) > FLAT and first.subtracts_offset and first.transfer == "log":
        found.append(
            "one count offset serves the whole film, so deep frames have little contrast: "
            "transfer='cbrt' and density=0.5 keep it"
        )
    return found


def _missing_digits(scene: Scene, parts: Sequence[FilmPart]) -> int:
    """Return how many decimals the center of the deepest view lacks, beyond float64.

    Where float64 tells samples apart, a center means its digits, as it does in a picture. None are
    lacking of a center of whole numbers, such as 0 + 1i: it is meant exactly.
    """
    keys = scene.film.keys if scene.film else ()
    centers = [key.center for key in keys] + [scene.view.center]
    places = [place for part in parts for place in (part.start, part.end)]
    deepest = min(places, key=lambda place: place.width)
    given = [part for center in centers if center and _is_at(center, deepest) for part in center]
    missing = missing_decimals(given, deepest.width / scene.image.size[0])
    if not missing or all(decimals_of(part) <= 0 for part in given):
        return 0
    planned = make_plan(with_view(scene, deepest))
    return missing if planned.deep or planned.doubled else 0


def _is_at(center: Sequence[str], place: FilmView) -> bool:
    return tuple(Fraction(Decimal(part)) for part in center) == place.center

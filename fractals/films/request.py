"""What is asked for in words, such as a zoom to a width, as keys and tracks of a scene's film."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fractals.errors import FractalsError, OptionError
from fractals.films.motion import make_places, width_text
from fractals.rendering.find import find_misiurewicz
from fractals.scene.film import FilmSettings
from fractals.scene.geometry import home_width_of, make_layers, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_text, log2

SPEED = 1.5  # octaves a second of a zoom without a length
SHORTEST = 2.0  # seconds of such a zoom
PREVIEW = 4  # times smaller is a preview
LEAST = 16  # pixels of a preview's side
SPARE = 12  # decimals of a center beyond those of the narrowest width
FLAT = 80  # octaves of a zoom at whose end logarithms of counts differ by little
CONTRAST = 1.6  # density of cube roots over that of logarithms
SHOWN = 12  # characters of a center in a message


@dataclass(frozen=True)
class ZoomRequest:
    """What is asked for besides the scene; None where nothing is."""

    to: Any = None  # width to which the film zooms
    cycle: float | None = None  # seconds in which the palette moves once round
    # seconds, fps: as of the scene's film
    seconds: float | None = None
    fps: float | None = None
    preview: bool = False  # whether the film is small and fast to make


def with_wishes(scene: Scene, wishes: ZoomRequest, on_message: Callable[[str], None]) -> Scene:
    """Return a scene with a film that does what is asked for.

    A zoom deeper than the digits of the scene's center goes to the eye of a spiral near it, if
    there is one, because zeros in place of digits lead to views of one color.

    Raises
    ------
    OptionError
        The wishes contradict each other or the scene, or nothing moves.
    """
    film = (scene.film or FilmSettings()).model_dump(mode="json", exclude_none=True)
    keyed = bool(film["keys"] or film["tracks"])
    for name in ("to", "cycle"):
        if getattr(wishes, name) is not None and keyed:
            raise OptionError(
                f"--{name}: the scene has keys or tracks of its own: give a scene "
                "without [film], or change its keys"
            )
    if wishes.to is not None and wishes.cycle is not None:
        raise OptionError("--to and --cycle are both given: a zoom does not end where it begins")
    if wishes.cycle is not None:
        film |= _cycled(scene, wishes)
    elif not keyed:
        if wishes.to is not None:
            scene = _aimed(scene, _width(wishes.to), on_message)
        film |= _zoomed(scene, wishes)
    if wishes.seconds is not None:
        film["seconds"] = wishes.seconds
    if wishes.fps is not None:
        film["fps"] = wishes.fps
    if wishes.preview:
        film["density"] = min(1.0, film["density"])
    scene = _with_contrast(scene.replace(film=film), on_message)
    return _small(scene) if wishes.preview else scene


def _with_contrast(scene: Scene, on_message: Callable[[str], None]) -> Scene:
    """Return a scene whose colors by "auto" are not flat in deep frames.

    All frames share a count offset, and logarithms of large counts differ by little. Cube roots
    with CONTRAST times the density have the same contrast near a count of 20.
    """
    assert scene.film
    places = make_places(scene, scene.film.keys) if scene.film.keys else []
    widths = [place.width for place in places] or [Fraction(1)]
    layer = make_layers(scene).drawn[0]
    flat = layer.subtracts_offset and layer.transfer == "log"
    tracked = any(name.split(".")[-1] == "density" for name in scene.film.tracks)
    octaves = log2(max(widths) / min(widths))
    if not flat or tracked or octaves <= FLAT:
        return scene
    on_message(
        f"a zoom of {octaves:.0f} octaves: deep frames would be flat with the transfer log, so it "
        f"is cbrt, and the density {CONTRAST} times as high; --transfer log keeps both"
    )
    return scene.replace(transfer="cbrt", density=CONTRAST * scene.color.density)


def _cycled(scene: Scene, wishes: ZoomRequest) -> Mapping[str, Any]:
    if not scene.color.make_palette().cyclic:
        raise OptionError("--cycle: the palette has two ends; give a cyclic one by --palette")
    first = scene.color.offset
    assert wishes.cycle is not None
    if not 0 < wishes.cycle < math.inf:
        raise OptionError(f"--cycle: {wishes.cycle:g} s: give more than 0 seconds")
    seconds = wishes.cycle if wishes.seconds is None else wishes.seconds
    rounds = round(seconds / wishes.cycle)
    if rounds < 1 or not math.isclose(rounds * wishes.cycle, seconds, rel_tol=1e-9):
        raise OptionError(
            f"--seconds: {seconds:g} s are no whole number of cycles of {wishes.cycle:g} s: the "
            "loop would jump"
        )
    return {
        "loop": True,
        "tracks": {"offset": [[0, first], [seconds, first + rounds]]},
        "seconds": seconds,
    }


def _zoomed(scene: Scene, wishes: ZoomRequest) -> Mapping[str, Any]:
    formula = scene.make_formula()
    width, _ = place_of(scene, formula)
    if wishes.to is None:
        first, last = home_width_of(scene, formula), width
        if first == last:
            raise OptionError(
                "nothing moves: give --to WIDTH, --cycle SECONDS, or a scene with [[film.keys]]"
            )
    else:
        first, last = width, _width(wishes.to)
        if first == last:
            raise OptionError(
                f"--to: {wishes.to} is the width of the scene, so nothing moves: give another"
            )
    seconds = wishes.seconds or max(SHORTEST, abs(log2(first / last)) / SPEED)
    start = {"at": 0, "width": width_text(first)}
    return {"keys": [start, {"at": seconds, "width": width_text(last)}], "seconds": seconds}


def _aimed(scene: Scene, width: Fraction, on_message: Callable[[str], None]) -> Scene:
    needed = math.ceil(-log2(width) * math.log10(2))
    exponents = [Decimal(part).as_tuple().exponent for part in scene.view.center or ()]
    given = max((-e for e in exponents if isinstance(e, int)), default=needed)
    if given >= needed:  # the scene's center lies in the last view
        return scene
    try:
        eye = find_misiurewicz(scene, digits=needed + SPARE)
    except FractalsError:
        return scene  # drawing tells how many digits are missing
    x, y = eye.center
    on_message(
        f"the zoom goes to the eye of a spiral, {x[:SHOWN]}..., {y[:SHOWN]}..., because the "
        f"scene's center has {given} decimals and this depth requires {needed}"
    )
    return scene.replace(center=(x, y))


def _width(given: Any) -> Fraction:
    try:
        width = Fraction(Decimal(decimal_text(given)))
    except ValueError as error:
        raise OptionError(f"--to: {error}") from None
    if not width > 0:
        raise OptionError(f"--to: {given} is not greater than 0")
    return width


def _small(scene: Scene) -> Scene:
    width, height = (max(LEAST, side // PREVIEW // 2 * 2) for side in scene.image.size)
    return scene.replace(size=(width, height), supersampling=1)

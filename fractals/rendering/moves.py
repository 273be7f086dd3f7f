"""How views move: the plane's answers, which a family of images inherits or replaces.

Everything that moves a scene, suggests another or films several asks `moves_of` the scene's family
(`fractals.rendering.families`), and names none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from fractals.errors import OptionError
from fractals.rendering.options import SuggestOptions
from fractals.scene.geometry import finest, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, decimals, log2, width_text

# Decimals of a center beyond those of a sample's size. Two are a hundredth of a sample.
SPARE_DIGITS = 2
# Of a film through places: its speed, and the least time between two
OCTAVES_A_SECOND, SECONDS_A_KEY = 1.0, 4.0
LEAST_GAP = 0.02  # seconds between two keys that a user places


class Travel(NamedTuple):
    """Where moves have led from the view of a scene that was opened, exactly."""

    center: tuple[Fraction, Fraction]
    width: str  # decimal
    rotation: float  # degrees of the view, from -180 to 180
    turn: float  # degrees by which the moves have turned the view
    moved: bool  # False: nothing has moved, so the scene's own texts stay


class Way(Protocol):
    """The way of a camera through the keys of a film."""

    @property
    def times(self) -> tuple[float, ...]:
        """Return the seconds of the keys."""

    @property
    def lengths(self) -> list[float]:
        """Return the lengths of the ways between two keys."""

    @property
    def numbers(self) -> Mapping[str, list[float]]:
        """Return keys of the camera that change, with a value for each of the film's keys."""

    def moments(
        self, eases: Sequence[Callable[[float], float]]
    ) -> Iterator[tuple[float, dict[str, list[float]]]]:
        """Yield seconds, and points of the camera by their keys.

        `eases`: how far the camera has come between two keys, by the time, both from 0 to 1.
        """


@dataclass(frozen=True)
class Suggestion:
    """A view inside another.

    Attributes
    ----------
    scene : Scene
    score : float
        From 0 to 1.
    kind : str
        "spiral", "minibrot" or "detail": what is in the view; "camera" of a solid.
    """

    scene: Scene
    score: float
    kind: str

    def _repr_html_(self) -> str:
        return f"<p>{self.kind}, score {self.score:g}</p>{self.scene._repr_html_()}"


class Moves:
    """How views of the plane move. A family whose scenes are seen otherwise overrides this."""

    # Whether a view is a part of a plane, with a center and a width: films zoom through such views,
    # rectangles are cut out of them, and counts tell which parts are interesting.
    in_plane = True

    def moved(self, scene: Scene, place: Travel) -> Scene:
        """Return a scene after a drag, a wheel step or a turn."""
        view, image = scene.view, scene.image
        if not place.moved and view.width is not None and view.center is not None:
            return scene
        least = finest(view, Fraction(Decimal(place.width)), image.size)
        places = decimals(least / image.size[0] / image.supersampling) + SPARE_DIGITS
        x, y = (decimal_places(part, places) for part in place.center)
        if not place.moved:
            x, y = view.center or (x, y)
        update = {
            "center": (x, y),
            "width": place.width,
            "zoom": None,
            "frame": None,
            "rotation": place.rotation,
        }
        return scene.model_copy(update={"view": view.model_copy(update=update)})

    def flown(
        self, scene: Scene, right: float, up: float, ahead: float, yaw: float, pitch: float
    ) -> Scene:
        """Return a scene after a flight of its camera, which then looks elsewhere.

        right, up, ahead: in distances to the nearest surface. yaw, pitch: degrees to the right and
        up. `OptionError`: there is no camera.
        """
        raise no_camera(scene)

    def stays(self, before: Scene, after: Scene) -> bool:
        """Tell whether a picture stays as it is until that of a scene of the same family is drawn.

        Otherwise its pixels move as those of the plane do.
        """
        return False

    def looked_at(self, scene: Scene, column: float, row: float) -> dict[str, Any]:
        """Return the facts about a place of the picture: the explorer's message `picked`."""
        return {}

    def controls(self, scene: Scene) -> dict[str, Any]:
        """Return what controls show of a scene, as of the explorer's message `placed`."""
        return {}

    def suggested(self, scene: Scene, options: SuggestOptions) -> list[Suggestion] | None:
        """Return interesting views near by, the best first; None: counts of the plane tell them."""
        return None

    def between(self, one: Scene, two: Scene) -> dict[str, Any]:
        """Return where another view of a scene is, and the way there if it is not a zoom."""
        found: dict[str, Any] = two.to_table()["view"]
        return found

    def ends(self, scene: Scene, octaves: float | None) -> list[Scene] | None:
        """Return the ends of a film that leads on by some octaves, or from the whole to here.

        `octaves` is None where the film ends here. None: the film is a zoom, as of `fractals.film`.
        """
        return None

    def keys_through(self, places: Sequence[Scene], seconds: float | None) -> list[dict[str, Any]]:
        """Return the keys of a film through places, in their order; it takes `seconds`."""
        keys: list[dict[str, Any]] = []
        at, before, turned = 0.0, None, 0.0
        for scene in places:
            width, center = place_of(scene)
            rotation = scene.view.rotation
            if before is not None:
                at += max(SECONDS_A_KEY, abs(log2(width / before)) / OCTAVES_A_SECOND)
                rotation = turned + (rotation - turned + 180) % 360 - 180  # the shorter way round
            exact = scene.view.center or tuple(str(Decimal(float(part))) for part in center)
            key = {"at": at, "center": exact, "width": width_text(width), "rotation": rotation}
            keys.append(key)
            before, turned = width, rotation
        factor = seconds / at if seconds else 1.0
        return [{**key, "at": round(key["at"] * factor, 3)} for key in keys]

    def way(self, scene: Scene) -> Way | None:
        """Return the way of a camera through the keys of a scene's film; None: no key has one.

        `OptionError`: the keys do not fit how the scene is seen.
        """
        if scene.film and any(key.camera for key in scene.film.keys):
            raise no_camera(scene)
        return None


def no_camera(scene: Scene) -> OptionError:
    """Return the error about a scene that is seen by no camera."""
    return OptionError(f"'{scene.make_any_formula().name}' is no solid: it has no camera")

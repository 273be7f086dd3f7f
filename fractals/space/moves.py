"""How views of a solid move, whose camera goes around it, towards it, or flies; and reliefs."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fractals.errors import OptionError
from fractals.rendering.moves import LEAST_GAP, Moves, Suggestion, Travel
from fractals.rendering.options import SuggestOptions
from fractals.scene.geometry import home_width_of
from fractals.scene.model import Scene
from fractals.space import camera as cameras
from fractals.space.flight import Flight, flight_of, way_to
from fractals.space.plan import place_of, sun_over_ground

HALF_TURN = 180.0  # degrees that a drag over a whole solid turns it by
MOST_OCTAVES = 40.0  # by which a camera goes nearer to its surface at once
FLIGHT_SPEED = 0.5  # of films through places, in distances to the nearest surface a second
WAY = 60  # places on the way of a camera to another view


class CameraMoves(Moves):
    """Moves of a solid's camera; see `fractals.rendering.moves.Moves`."""

    in_plane = False

    def moved(self, scene: Scene, place: Travel) -> Scene:
        """Return a scene whose camera went around the solid by a drag, and towards it by a zoom."""
        if not place.moved:
            return scene
        home = home_width_of(scene)
        right, up = (float(part / home) * HALF_TURN for part in place.center)
        roll = (scene.camera.roll - place.turn) % 360  # of the camera: clockwise
        camera = scene.camera.model_copy(update={"roll": roll})
        rolled = scene.model_copy(update={"camera": camera})
        nearer = min(float(home / Fraction(place.width)), 2.0**MOST_OCTAVES)
        return cameras.orbited(rolled, right, up, nearer)

    def flown(
        self, scene: Scene, right: float, up: float, ahead: float, yaw: float, pitch: float
    ) -> Scene:
        """Return a scene after a flight of its camera."""
        return cameras.flown(scene, right, up, ahead, yaw, pitch)

    def stays(self, before: Scene, after: Scene) -> bool:
        """Tell whether the picture stays: another camera sees the same solid, or its options."""
        one, two = before.make_any_formula(), after.make_any_formula()
        return one.name == two.name and (one is not two or before.camera != after.camera)

    def looked_at(self, scene: Scene, column: float, row: float) -> dict[str, Any]:
        """Return the focus with which the surface there is sharp."""
        return {"focus": cameras.sharp_at(scene, column, row)}

    def controls(self, scene: Scene) -> dict[str, Any]:
        """Return the camera, and what the controls of a solid show."""
        camera = scene.camera.model_dump(mode="json", exclude_none=True)
        return {"camera": camera, "space": cameras.controls_of(scene)}

    def suggested(self, scene: Scene, options: SuggestOptions) -> list[Suggestion]:
        """Return cameras that see more."""
        from fractals.space.suggest import suggested

        return suggested(scene, options)

    def between(self, one: Scene, two: Scene) -> dict[str, Any]:
        """Return the camera of another view, and the places on the way there."""
        camera = two.camera.model_dump(mode="json", exclude_none=True)
        return {"camera": camera, "way": way_to(one, two, WAY)}

    def ends(self, scene: Scene, octaves: float | None) -> list[Scene]:
        """Return the ends of a flight from the whole solid to here, or from here on."""
        if octaves is not None:
            octaves = min(MOST_OCTAVES, max(-MOST_OCTAVES, octaves))
            return [scene, cameras.orbited(scene, 0, 0, 2.0**octaves)]
        home = scene.camera.model_copy(update={"position": None, "target": None})
        solid = cameras.solid_of(scene)
        if place_of(home, solid) == place_of(scene.camera, solid):
            raise OptionError("this is the whole solid: go nearer first, or film from here on")
        return [scene.model_copy(update={"camera": home}), scene]

    def keys_through(self, places: Sequence[Scene], seconds: float | None) -> list[dict[str, Any]]:
        """Return the keys of a film in which the camera flies through places."""
        keys: list[dict[str, Any]] = []
        for each in places:
            position, target = place_of(each.camera, cameras.solid_of(each))
            camera = {"position": position, "target": target, "field": each.camera.field}
            camera |= {"roll": each.camera.roll, "lens": each.camera.lens}
            keys.append({"camera": camera, **({"speed": FLIGHT_SPEED} if keys else {"at": 0.0})})
        flight = flight_of(places[0].replace(film={"keys": keys}))
        assert flight
        factor = seconds / flight.times[-1] if seconds else 1.0
        factor = max(factor, LEAST_GAP / min(b - a for a, b in pairwise(flight.times)))
        return [
            {"camera": key["camera"], "at": round(at * factor, 3)}
            for key, at in zip(keys, flight.times, strict=True)
        ]

    def way(self, scene: Scene) -> Flight | None:
        """Return the flight through the keys of a scene's film; None: no key has a camera."""
        return flight_of(scene)


class ReliefMoves(Moves):
    """Moves of a relief, which are those of the escape-time picture that its ground is made of."""

    def controls(self, scene: Scene) -> dict[str, Any]:
        """Return the direction to the sun."""
        return {"sun": sun_over_ground(scene).tolist()}

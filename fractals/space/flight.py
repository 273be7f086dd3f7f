"""The way of a solid's camera through the keys of a film, and from one view to another.

Position and target follow a centripetal Catmull-Rom spline (Yuksel, Schaefer and Keyser, *On the
parameterization of Catmull-Rom curves*, 2009), which has no loops or cusps between keys. Between
two keys the camera's speed is proportional to the distance of the nearest surface: what is near
seems to pass as fast as what is far. Such lengths are counted in *distances*; a turn of the
camera by a radian counts as one, too.
"""

import contextlib
import functools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import FractalsError, OptionError
from fractals.scene.film import Key
from fractals.scene.model import Scene, validate
from fractals.space.camera import bare_plan, nearness, solid_of
from fractals.space.plan import place_of

PIECES = 64  # of the way between two keys, whose lengths are measured
MOMENTS = 30  # a second, at which the camera is set; it moves evenly in between
MOST_MOMENTS = 20_000  # of a film
NUMBERS = ("field", "roll", "lens", "focus")  # of a camera, that keys may change
NEGLIGIBLE = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """The way between two keys: a cubic of position and target, and the lengths along it."""

    ends: Floats  # (2, 6): position and target
    slopes: Floats  # (2, 6), over the whole stretch
    lengths: Floats  # (PIECES + 1,): distances from its begin

    def at(self, length: float) -> Floats:
        """Return position and target after a length of the way."""
        return self.point(float(np.interp(length, self.lengths, np.linspace(0, 1, PIECES + 1))))

    def point(self, t: float) -> Floats:
        """Return position and target at a parameter, from 0 to 1."""
        a, b = self.ends
        u, v = self.slopes
        s = 1 - t
        found: Floats = s * s * (1 + 2 * t) * a + t * t * (1 + 2 * s) * b + t * s * (s * u - t * v)
        return found


@dataclass(frozen=True)
class Flight:
    """The way through all keys."""

    stretches: tuple[Stretch, ...]
    times: tuple[float, ...]  # of the keys, in seconds
    numbers: dict[str, list[float]]  # of the cameras of keys, where these differ

    def point(self, share: float) -> Floats:
        """Return position and target after a share of the whole way."""
        left = share * sum(float(each.lengths[-1]) for each in self.stretches)
        for stretch in self.stretches:
            if left <= stretch.lengths[-1]:
                return stretch.at(left)
            left -= float(stretch.lengths[-1])
        return self.stretches[-1].point(1.0)

    @property
    def lengths(self) -> list[float]:
        """Return the lengths of the stretches, in distances."""
        return [float(each.lengths[-1]) for each in self.stretches]

    def moments(
        self, eases: Sequence[Callable[[float], float]]
    ) -> Iterator[tuple[float, dict[str, list[float]]]]:
        """Yield seconds, and position and target; `eases`: the easing of each stretch."""
        whole = self.times[-1] - self.times[0]
        rate = min(MOMENTS, MOST_MOMENTS / whole)
        for k, (begin, end) in enumerate(pairwise(self.times)):
            count = max(2, math.ceil((end - begin) * rate))
            length = self.stretches[k].lengths[-1]
            for m in range(count):
                share = m / count
                place = self.stretches[k].at(eases[k](share) * length)
                yield begin + share * (end - begin), _camera_of(place)
        yield self.times[-1], _camera_of(self.stretches[-1].ends[1])


def _camera_of(place: Floats) -> dict[str, list[float]]:
    """Return the keys of a camera, from position and target."""
    return {"position": place[:3].tolist(), "target": place[3:].tolist()}


def flight_of(scene: Scene) -> Flight | None:
    """Return the flight of a film's keys; None: no key has a camera.

    `OptionError`: the way passes the surface, or a key has a view of the plane.
    """
    keys = scene.film.keys if scene.film else ()
    for number, key in enumerate(keys):
        if key.center or key.width or key.rotation is not None:
            raise OptionError(
                f"film.keys.{number}: a solid is seen by a camera: give camera = {{ position = "
                "[X, Y, Z], target = [X, Y, Z] }"
            )
    return _flight(scene.to_json()) if any(key.camera for key in keys) else None


def way_to(scene: Scene, there: Scene, count: int) -> list[list[float]]:
    """Return positions and targets of a camera on its way to that of another scene.

    It goes straight, or first towards the other's target; an empty list: the surface is in the way.
    """
    solid = solid_of(scene)
    here, goal = (place_of(each.camera, solid) for each in (scene, there))
    position, target = (np.array(part) for part in goal)
    back = np.array(here[0]) - target
    far = float(np.linalg.norm(position - target)) / max(float(np.linalg.norm(back)), NEGLIGIBLE)
    before = tuple((target + min(1.0, 1.5 * far) * back).tolist()), goal[1]
    for places in ((here, goal), (here, before, goal)):
        keys = [
            {"camera": {"position": p, "target": t}, **({"speed": 1} if k else {"at": 0})}
            for k, (p, t) in enumerate(places)
        ]
        with contextlib.suppress(FractalsError):
            flight = flight_of(scene.replace(film={"keys": keys}))
            assert flight
            return [flight.point(k / (count - 1)).tolist() for k in range(count)]
    return []


@functools.lru_cache(maxsize=4)
def _flight(text: str) -> Flight:
    scene = validate(json.loads(text))
    assert scene.film
    keys, loop = scene.film.keys, scene.film.loop
    cameras = list(_cameras(scene, keys))
    places = np.array([place_of(each, solid_of(scene)) for each in cameras]).reshape(-1, 6)
    numbers = {}
    for name in NUMBERS:
        values = [getattr(each, name) for each in cameras]
        if any(value != values[0] for value in values):
            if None in values:
                raise OptionError(f"film.keys: camera.{name}: give it in the first key, too")
            numbers[name] = [float(value) for value in values]
    if len(keys) < 2:
        raise OptionError("film.keys: a camera moves between two keys: give another one")
    stretches = tuple(_stretches(scene, places, loop and np.array_equal(places[0], places[-1])))
    times = [keys[0].at or 0.0]
    for number, (key, stretch) in enumerate(zip(keys[1:], stretches, strict=True), 1):
        speed, length = key.speed, float(stretch.lengths[-1])
        if key.at is None and not length > NEGLIGIBLE:
            raise OptionError(f"film.keys.{number}: speed needs a camera that moves; give at")
        times.append(key.at if key.at is not None else times[-1] + length / (speed or 1.0))
    return Flight(stretches, tuple(times), numbers)


def _cameras(scene: Scene, keys: Sequence[Key]) -> Iterator[Any]:
    """Yield the whole cameras of keys: what a key leaves out is that of the key before."""
    camera = scene.camera
    for key in keys:
        if key.camera:
            camera = camera.model_copy(
                update={
                    name: value
                    for name in type(key.camera).model_fields
                    if (value := getattr(key.camera, name)) is not None
                }
            )
        yield camera


def _stretches(scene: Scene, places: Floats, closed: bool) -> Iterator[Stretch]:
    """Yield the stretches between places."""
    chords = np.maximum(np.sqrt(np.linalg.norm(np.diff(places, axis=0), axis=1)), NEGLIGIBLE)
    count = len(chords)
    for k in range(count):
        slopes = []
        for m in (k, k + 1):  # of the place's two sides
            before, after = (m - 1) % count if closed else m - 1, m % count if closed else m
            sides = [
                (places[j + 1] - places[j]) / chords[j] for j in (before, after) if 0 <= j < count
            ]
            if len(sides) == 1:
                slopes.append(chords[k] * sides[0])
                continue
            one, two = chords[before], chords[after]
            across = (one * sides[0] + two * sides[1]) / (one + two)
            slopes.append(chords[k] * (sides[0] - across + sides[1]))
        ends = places[k : k + 2]
        stretch = Stretch(ends, np.array(slopes), np.zeros(PIECES + 1))
        yield Stretch(ends, stretch.slopes, _lengths(scene, stretch, k))


def _lengths(scene: Scene, stretch: Stretch, number: int) -> Floats:
    """Return the distances along a stretch."""
    plan = bare_plan(scene)
    points = np.array([stretch.point(k / PIECES) for k in range(PIECES + 1)])
    if np.ptp(points, axis=0).max() <= NEGLIGIBLE:
        return np.zeros(PIECES + 1)
    near = np.array([nearness(plan, point[:3]) for point in points])
    if not near.min() > 0:
        raise OptionError(
            f"film.keys.{number + 1}: the camera passes the surface on its way from the key "
            "before: give a key between them, which leads around it"
        )
    sights = points[:, 3:] - points[:, :3]
    far = np.linalg.norm(sights, axis=1)
    if not far.min() > NEGLIGIBLE:
        raise OptionError(f"film.keys.{number + 1}: the camera comes to its target")
    sights = sights / far[:, None]
    turns = np.arccos(np.clip((sights[1:] * sights[:-1]).sum(axis=1), -1, 1))
    steps = np.linalg.norm(np.diff(points[:, :3], axis=0), axis=1)
    steps = np.hypot(steps * (1 / near[1:] + 1 / near[:-1]) / 2, turns)
    return np.concatenate([[0.0], np.cumsum(np.maximum(steps, NEGLIGIBLE))])

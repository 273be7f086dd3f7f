"""Tracks: values of a scene over time, interpolated without overshoot."""

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fractals.color.gradient import between
from fractals.color.palette import Palette, load
from fractals.errors import FractalsError, SceneError, shown
from fractals.films.motion import MAX_RAMP, RAMP, Easing, easing_of
from fractals.rendering.families import moves_of
from fractals.rendering.moves import Way
from fractals.scene.film import PALETTES, FilmSettings, Key
from fractals.scene.geometry import make_layers
from fractals.scene.model import Scene, nest, validate

KEYS = ("center", "width", "zoom", "rotation")  # of a view: the film's keys set them
# Tables whose numbers may change
TABLES = (
    "formula",
    "julia",
    "view",
    "iteration",
    "color",
    "display",
    "relief",
    "camera",
    "light",
    "develop",
)
LOOKS = 9  # moments at which a film's scenes are validated before it begins


class Curve:
    """A monotone cubic through points: between two of them it stays between their values.

    After Fritsch and Carlson, *Monotone Piecewise Cubic Interpolation* (1980). Before the first and
    after the last point the value stays the same. `eases`: how the value comes to each point; the
    cubic is "soft". panels/curves.js of the explorer draws the same curve.
    """

    def __init__(
        self, times: Sequence[float], values: Sequence[float], eases: Sequence[str] = ()
    ) -> None:
        self.times, self.values = list(times), list(values)
        self.eases = [None if ease == "soft" else easing_of(ease) for ease in eases]
        self.slopes = _slopes(self.times, self.values)

    def __call__(self, time: float) -> float:
        """Return the value at a time."""
        times, values = self.times, self.values
        k = bisect.bisect_right(times, time) - 1
        if k < 0:
            return values[0]
        if k >= len(times) - 1:
            return values[-1]
        step = times[k + 1] - times[k]
        t = (time - times[k]) / step
        rise = values[k + 1] - values[k]
        if not rise:
            return values[k]
        if self.eases and (easing := self.eases[k + 1]):
            return values[k] + rise * easing(t)
        a, b = (slope * step for slope in self.slopes[k : k + 2])
        found = values[k] + t * (a + t * (3 * rise - 2 * a - b + t * (a + b - 2 * rise)))
        low, high = sorted(values[k : k + 2])
        return min(max(found, low), high)  # beyond them only by rounding


def _slopes(times: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return the slope at each point with which a cubic is monotone between all points."""
    if len(times) < 2:
        return [0.0]
    steps = [after - before for before, after in itertools.pairwise(times)]
    rises = [(values[k + 1] - values[k]) / step for k, step in enumerate(steps)]
    slopes = [rises[0]]
    for k in range(1, len(rises)):
        one, two = rises[k - 1], rises[k]
        if one * two <= 0:
            slopes.append(0.0)
            continue
        # The harmonic mean, weighted by the steps, keeps within Fritsch and Carlson's region.
        first, second = 2 * steps[k] + steps[k - 1], steps[k] + 2 * steps[k - 1]
        slopes.append((first + second) / (first / one + second / two))
    return [*slopes, rises[-1]]


@dataclass(frozen=True)
class Track:
    """A value of the scene over time."""

    name: str  # as the film has it
    path: tuple[str | int, ...]  # where the value is in the scene's table
    curves: tuple[Curve, ...]  # one, or one for each part of a point such as julia
    points: bool  # whether the value is a list of numbers
    # Of a track of palettes: the curve gives numbers of these.
    palettes: tuple[Palette, ...] = ()
    whole: bool = False  # whether the value is rounded to whole numbers

    def at(self, seconds: float) -> Any:
        """Return the value at a time."""
        values = [curve(seconds) for curve in self.curves]
        if self.whole:
            return round(values[0])
        if self.palettes:
            share, number = math.modf(values[0])
            one, two = (self.palettes[min(int(number) + k, len(self.palettes) - 1)] for k in (0, 1))
            return between(one, two, share)
        return values if self.points else values[0]

    def moves(self, begins: float, ends: float) -> bool:
        """Tell whether the value changes between two times."""
        return any(
            curve(begins) != value
            for curve in self.curves
            for value in [
                curve(ends),
                *(v for t, v in zip(curve.times, curve.values, strict=True) if begins < t < ends),
            ]
        )


class Tracks:
    """The values of a scene over time.

    Raises SceneError: a track names nothing in the scene, or a value is invalid.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene.model_copy(update={"film": None})
        film = scene.film or FilmSettings()
        self.tracks = [_track(name, points) for name, points in film.tracks.items()]
        own = {track.path for track in self.tracks}
        for track in (*_formula_tracks(self.scene, film.keys), *_camera_tracks(scene)):
            if track.path in own:
                raise SceneError(f"film.tracks.{shown(track.name)}: the keys set this number, too")
            self.tracks.append(track)
        self._table = self.scene.to_values() if self.tracks else {}
        self.tracks = [replace(each, whole=self._is_whole(each)) for each in self.tracks]

    def _is_whole(self, track: Track) -> bool:
        """Tell whether the scene takes whole numbers alone in place of a track's, such as steps."""
        low = min(track.curves[0].values)
        if track.points or track.palettes or any(v % 1 for v in track.curves[0].values):
            return False
        return self._takes(track, int(low)) and not self._takes(track, low + 0.5)

    def _takes(self, track: Track, value: float) -> bool:
        try:
            validate(replaced(self._table, track.path, value))
        except (SceneError, KeyError, IndexError, TypeError):
            return False
        return True

    @property
    def length(self) -> float:
        """Return the seconds of the last point; 0 without tracks."""
        return max((track.curves[0].times[-1] for track in self.tracks), default=0.0)

    def at(self, seconds: float) -> Scene:
        """Return the scene with the values of a time, and without a film."""
        if not self.tracks:
            return self.scene
        table: Any = self._table
        for track in self.tracks:
            try:
                table = replaced(table, track.path, track.at(seconds))
            except (KeyError, IndexError, TypeError):
                raise SceneError(
                    f"film.tracks.{shown(track.name)}: the scene has no such value"
                ) from None
        try:
            return validate(table)
        except SceneError as error:
            raise SceneError(f"film.tracks, at {seconds:g} s: {error}") from None

    def check(self, length: float) -> None:
        """Raise a `SceneError` where a scene of the film is invalid."""
        for k in range(LOOKS if self.tracks else 0):
            self.at(length * k / (LOOKS - 1))

    def moving(self, begins: float, ends: float) -> list[Track]:
        """Return the tracks that change between two times."""
        return [track for track in self.tracks if track.moves(begins, ends)]

    @property
    def develops(self) -> bool:
        """Tell whether some frame is more than its light, cut off at white."""
        return self.scene.is_developed or any(each.path[0] == "develop" for each in self.tracks)

    def recolors(self, begins: float, ends: float) -> bool:
        """Tell whether between two times nothing but colors changes, from the same raw numbers."""
        moving = self.moving(begins, ends)
        if any(track.path[0] not in ("color", "develop") for track in moving):
            return False
        if not any("coloring" in track.path for track in moving):
            return True
        # Options that are accumulated along orbits, such as a trap's place, change raw numbers.
        one, two = (make_layers(self.at(seconds)).drawn for seconds in (begins, ends))
        return [layer.needs for layer in one] == [layer.needs for layer in two]


def replaced(table: Any, path: Sequence[str | int], value: Any) -> Any:
    """Return a table with a value replaced; a name becomes a table where it gets an option."""
    if not path:
        return value
    key = path[0]
    if isinstance(table, str):  # a formula or a coloring without options
        table = {"name": table}
    if isinstance(table, Mapping):
        if isinstance(key, int):
            raise IndexError(key)
        return {**table, key: replaced(table.get(key, {}), path[1:], value)}
    changed = list(table)
    assert isinstance(key, int)
    changed[key] = replaced(changed[key], path[1:], value)
    return changed


def _track(name: str, points: Sequence[tuple[float, Any, str]]) -> Track:
    parts = [int(part) if part.isdecimal() and len(part) < 6 else part for part in name.split(".")]
    path = _path(name, parts)
    times, given, eases = zip(*points, strict=True)
    if PALETTES.fullmatch(name):
        curve = Curve(times, [*map(float, range(len(times)))], eases)
        return Track(name, path, (curve,), False, _palettes(name, given))
    listed = isinstance(given[0], tuple)
    columns = zip(*(value if listed else (value,) for value in given), strict=True)
    curves = tuple(Curve(times, [float(text) for text in column], eases) for column in columns)
    if not all(math.isfinite(value) for curve in curves for value in curve.values):
        raise SceneError(f"film.tracks.{shown(name)}: a value is beyond float64")
    return Track(name, path, curves, listed)


def _palettes(name: str, values: Sequence[str | Palette]) -> tuple[Palette, ...]:
    """Return the palettes of a track, which all go round, or all have two ends."""
    if "auto" in values:
        raise SceneError(f"film.tracks.{shown(name)}: 'auto' is the coloring's palette: name one")
    found = tuple(load(value) if isinstance(value, str) else value for value in values)
    if len({each.cyclic for each in found}) > 1:
        raise SceneError(
            f"film.tracks.{shown(name)}: palettes that go round, and palettes with two ends, do "
            "not become each other: set cyclic of their tables"
        )
    return found


def _formula_tracks(scene: Scene, keys: Sequence[Key]) -> Iterator[Track]:
    """Yield the numbers that change between the formulas of keys.

    The scene's own formula is that of the first key, unless that key has one.
    """
    given = [(number, key) for number, key in enumerate(keys) if key.formula is not None]
    if not given:
        return
    base = scene.to_table()["formula"]
    base = {"name": base} if isinstance(base, str) else base
    usual = scene.make_any_formula().parameters
    first = _numbers(base)
    found = [] if keys[0].formula else [(keys[0].at or 0.0, first)]
    for number, key in given:
        where = f"film.keys.{number}.formula"
        if key.at is None and number:
            raise SceneError(f"{where}: a key with a formula has a time: give at, not speed")
        found.append((key.at or 0.0, _numbers(key.formula)))
        _check_structure(where, first, found[-1][1], usual)
        try:
            validate({**scene.to_values(), "formula": key.formula})
        except SceneError as error:
            raise SceneError(f"film.keys.{number}: {error}") from None
    times = [time for time, _ in found]
    for path in dict.fromkeys(path for _, numbers in found for path in numbers):
        values = [numbers.get(path, _usual(path, usual)) for _, numbers in found]
        if any(value != first.get(path, _usual(path, usual)) for value in values):
            whole = "formula", *path
            yield Track(_dotted(whole), whole, (Curve(times, list(map(float, values))),), False)


def _numbers(value: Any, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], Any]:
    """Return the values of tables in tables and lists, by where they are."""
    if isinstance(value, Mapping):
        parts = list(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        parts = list(enumerate(value))
    else:
        return {path: value}
    return {key: each for k, part in parts for key, each in _numbers(part, (*path, k)).items()}


def _camera_tracks(scene: Scene) -> Iterator[Track]:
    """Yield the tracks of a camera that goes through the film's keys."""
    way = moves_of(scene).way(scene)
    if not way:
        return
    assert scene.film
    times, places = zip(*way.moments(_eases(scene.film, way)), strict=True)
    for name, first in places[0].items():
        curves = [Curve(times, [place[name][m] for place in places]) for m in range(len(first))]
        yield Track(f"camera.{name}", ("camera", name), tuple(curves), True)
    for name, values in way.numbers.items():
        yield Track(f"camera.{name}", ("camera", name), (Curve(way.times, values),), False)


def _eases(film: FilmSettings, way: Way) -> list[Callable[[float], float]]:
    """Return how far a camera has come, as a function of the time, both from 0 to 1, by stretch.

    Soft and constant motions go on through a key without a jump of the speed. Soft ones gather
    speed at the film's begin, and lose it at its end.
    """
    times, lengths = way.times, way.lengths
    totals = [0.0, *itertools.accumulate(lengths)]
    whole, last = Curve(times, totals), len(lengths) - 1

    def eased(k: int, ease: str) -> Callable[[float], float]:
        begin, long = times[k], times[k + 1] - times[k]
        if ease not in ("soft", "constant"):
            return easing_of(ease)
        ramp = min(RAMP / long, MAX_RAMP) if ease == "soft" and not film.loop else 0.0
        begins, ends = k == 0, k == last
        ramp = ramp if begins or ends else 0.0
        time = Easing(ramp, ramp, 0.0 if begins else 1.0, 0.0 if ends else 1.0)
        length = lengths[k] or 1.0
        return lambda share: (whole(begin + time(share) * long) - totals[k]) / length

    return [eased(k, key.ease) for k, key in enumerate(film.keys[1:])]


def _check_structure(
    where: str,
    base: Mapping[tuple[str | int, ...], Any],
    other: Mapping[tuple[str | int, ...], Any],
    usual: Mapping[str, Any],
) -> None:
    """Raise a `SceneError` where formulas differ in more than numbers."""
    for path in {**base, **other}:
        one, two = (each.get(path, _usual(path, usual)) for each in (base, other))
        if one is None or two is None:
            raise SceneError(
                f"{where}: {shown(_dotted(path))} is in one formula only: the formulas of keys "
                "have the same transforms, variations and options, and other numbers"
            )
        if one != two and not (_is_number(one) and _is_number(two)):
            raise SceneError(
                f"{where}: {shown(_dotted(path))} is '{shown(two, 40)}', and '{shown(one, 40)}' in "
                "the scene's formula: only numbers change"
            )


def _usual(path: tuple[str | int, ...], usual: Mapping[str, Any]) -> Any:
    """Return the value of an option that a formula leaves out, where that is a number."""
    value = usual.get(str(path[0])) if len(path) == 1 else None
    return value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))


def _path(name: str, parts: list[Any]) -> tuple[str | int, ...]:
    """Return where the value of a track is in a scene's table."""
    if parts[0] in KEYS or (parts[:1] == ["view"] and parts[-1] in KEYS):
        raise SceneError(f"film.tracks.{shown(name)}: views are set by [[film.keys]]")
    if parts[0] in TABLES and (len(parts) > 1 or parts[0] == "julia"):
        return tuple(parts)
    try:
        table = nest(str(parts[0]), None)
    except FractalsError as error:
        raise SceneError(f"film.tracks.{shown(name)}: {error}") from None
    first = next(iter(table))
    if first not in TABLES or not isinstance(table[first], Mapping):
        raise SceneError(
            f"film.tracks.{shown(name)}: not a number of the scene; tracks change numbers of "
            f"{', '.join(TABLES)}"
        )
    return (first, *parts)


def scene_of(tracks: Tracks, view: Scene, seconds: float) -> Scene:
    """Return the scene of a time, with the view of another scene."""
    found = tracks.at(seconds)
    return found.model_copy(
        update={
            "view": found.view.model_copy(update={key: getattr(view.view, key) for key in KEYS})
        }
    )

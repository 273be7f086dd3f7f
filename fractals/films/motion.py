"""The view of each frame: keys to parts, each a similarity about a fixed point, a pan or a still.

Between two keys of different width the view's center, width and rotation follow
C = P + (C0 - P) q^t and w = w0 |q|^t with q = (w1 / w0) e^(i angle): a zoom whose fixed point P
stands still on the screen. Pans follow the shortest way of the hyperbolic half-plane of center and
width (van Wijk & Nuij, *Smooth and Efficient Zooming and Panning*, 2003).
"""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from fractals.errors import OptionError
from fractals.rendering.families import moves_of
from fractals.scene.film import FilmSettings, Key
from fractals.scene.geometry import exact_direction, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, decimals, log2, power_of_two, width_text

Point = tuple[Fraction, Fraction]

RAMP = 1.0  # seconds in which a soft motion gathers speed
MAX_RAMP = 1 / 3  # of a part
SPARE_DECIMALS = 4  # of a center, beyond those of a pixel: a ten-thousandth of a pixel
MAX_FRAMES = 10_000_000
MAX_OCTAVES = 2_000_000  # of all parts together: plans take about a microsecond for each
# How high a pan rises: half the distance times this, where that is wide. The square of sqrt(2),
# which van Wijk and Nuij chose after a test with viewers; higher values rise higher.
RISE = 2.0
TINY = 1e-300
LEAST_POWER = -900  # of two: the shortest pan in widths, far below a pixel


@dataclass(frozen=True)
class FilmView:
    """A view, exactly: its center, its width, and its rotation in degrees, not reduced."""

    center: Point
    width: Fraction
    rotation: float


@dataclass(frozen=True)
class Moment:
    """The view of a frame."""

    center: Point  # exact, as the width
    width: Fraction
    octaves: float  # log2 of the part's widest width divided by this one; 0 or more
    rotation: float  # in degrees, not reduced
    seconds: float  # since the beginning of the film


@dataclass(frozen=True)
class Easing:
    """How far a part has come, from 0 to 1, as a function of time from 0 to 1.

    The speed ramps from `first` to a constant within `rise` of the time, and to `last` within
    `fall`; speeds are relative to the mean speed, which is 1.
    """

    rise: float = 0.0
    fall: float = 0.0
    first: float = 0.0
    last: float = 0.0
    hold: bool = False

    @property
    def _top(self) -> float:
        lost = (self.first * self.rise + self.last * self.fall) / 2
        return (1 - lost) / (1 - (self.rise + self.fall) / 2)

    def __call__(self, time: float) -> float:
        """Return how far the part has come."""
        if self.hold or time <= 0:
            return 0.0
        if time >= 1:
            return 1.0
        if time > 1 - self.fall:
            return 1 - _ramped(1 - time, self.fall, self.last, self._top)
        return _ramped(time, self.rise, self.first, self._top)

    def speed(self, time: float) -> float:
        """Return the speed, relative to the mean speed."""
        if self.hold:
            return 0.0
        top = self._top
        if time < self.rise:
            return self.first + (top - self.first) * _smooth(max(0.0, time) / self.rise)
        if time > 1 - self.fall:
            return self.last + (top - self.last) * _smooth(max(0.0, 1 - time) / self.fall)
        return top


def _smooth(share: float) -> float:
    return share * share * (3 - 2 * share)


def _ramped(time: float, ramp: float, first: float, top: float) -> float:
    """Return the distance after a time, where the speed rises from `first` to `top`."""
    if time >= ramp:
        return (first + top) * ramp / 2 + top * (time - ramp)
    share = time / ramp
    return ramp * (first * share + (top - first) * (share**3 - share**4 / 2))


@dataclass(frozen=True)
class FilmPart:
    """What lies between two keys."""

    # "zoom": the width or the rotation changes about a fixed point. "move": the center moves.
    # "still": nothing moves.
    kind: str
    # The numbers of its frames; fewer than lie between the keys where a part is divided
    frames: range
    # start, end: views of the keys
    start: FilmView
    end: FilmView
    fixed: Point | None  # the point that stands still on the screen in a zoom
    # begins, ends: seconds of the keys
    begins: float
    ends: float
    rate: float  # frames a second of the film's clock
    easing: Easing

    @cached_property
    def octaves(self) -> float:
        """Return log2 of the first width divided by the last one: above 0 where it zooms in."""
        return log2(self.start.width / self.end.width)

    @property
    def first(self) -> float:
        """Return the seconds of the first frame."""
        return self.frames.start / self.rate

    @property
    def last(self) -> float:
        """Return the seconds of the last frame."""
        return max(self.frames.start, self.frames.stop - 1) / self.rate

    def moment(self, number: float) -> Moment:
        """Return the view of a frame; numbers between frames are allowed."""
        return self.moment_at(number / self.rate)

    def moment_at(self, seconds: float) -> Moment:
        """Return the view at a time."""
        place = self.place(self.easing(self._time(seconds)))
        widest = max(self.start.width, self.end.width)
        return Moment(
            place.center,
            place.width,
            max(0.0, log2(widest / place.width)) if self.kind == "zoom" else 0.0,
            place.rotation,
            seconds,
        )

    def place(self, way: float) -> FilmView:
        """Return the view after a share of the way."""
        if way <= 0 or self.kind == "still":
            return self.start
        if way >= 1:
            return self.end
        turned = (self.end.rotation - self.start.rotation) * way
        rotation = self.start.rotation + turned
        if self.kind == "move":
            return replace(_panned(self.start, self.end, way), rotation=rotation)
        assert self.fixed
        ratio = power_of_two(-self.octaves * way)
        cos, sin = exact_direction(turned)
        x, y = (self.start.center[k] - self.fixed[k] for k in (0, 1))
        center = (
            self.fixed[0] + (cos * x - sin * y) * ratio,
            self.fixed[1] + (sin * x + cos * y) * ratio,
        )
        return FilmView(center, self.start.width * ratio, rotation)

    def speed(self, number: float) -> float:
        """Return the octaves a second at a frame, 0 or more."""
        return abs(self.octaves) * self._speed(number)

    def turn_speed(self, number: float) -> float:
        """Return the degrees a second at a frame, above 0 for counter-clockwise."""
        return (self.end.rotation - self.start.rotation) * self._speed(number)

    def _speed(self, number: float) -> float:
        seconds = self.ends - self.begins
        return self.easing.speed(self._time(number / self.rate)) / seconds if seconds else 0.0

    def _time(self, seconds: float) -> float:
        length = self.ends - self.begins
        return (seconds - self.begins) / length if length else 1.0


def fixed_point(start: FilmView, end: FilmView) -> Point | None:
    """Return the point that stands still on the screen between two views; None for a pan."""
    if start.center == end.center:
        return start.center
    if start.width == end.width:
        return None
    cos, sin = exact_direction(end.rotation - start.rotation)
    ratio = end.width / start.width
    a, b = 1 - ratio * cos, -ratio * sin  # 1 - q
    x = end.center[0] - ratio * (cos * start.center[0] - sin * start.center[1])
    y = end.center[1] - ratio * (sin * start.center[0] + cos * start.center[1])
    size = a * a + b * b
    return (a * x + b * y) / size, (a * y - b * x) / size


def _panned(start: FilmView, end: FilmView, way: float) -> FilmView:
    """Return the view after a share of the shortest way between views of equal width."""
    x, y = (end.center[k] - start.center[k] for k in (0, 1))
    far = log2(x * x + y * y) / 2 - log2(start.width)  # log2 of the distance in widths
    half = _arsinh_of_power(far - 1 + math.log2(RISE))  # of the way, in hyperbolic units
    place = half * (2 * way - 1)
    # Center and width relative to the nearer end, because the farther one would lose all digits.
    near = max(half - abs(place), TINY)
    share = _log2_sinh(near) - _log2_cosh(place) - 1 - _log2_sinh(half)
    moved = power_of_two(share)
    if place > 0:
        moved = 1 - moved
    width = start.width * power_of_two(_log2_cosh(half) - _log2_cosh(place))
    center = start.center[0] + x * moved, start.center[1] + y * moved
    return FilmView(center, width, start.rotation)


def _arsinh_of_power(exponent: float) -> float:
    """Return arsinh(2**exponent), also where the power is beyond float64.

    A smaller power than LEAST_POWER counts as it: shares of the way need digits below it.
    """
    if exponent < 500:
        return math.asinh(2.0 ** max(exponent, LEAST_POWER))
    return (exponent + 1) * math.log(2)


def _log2_cosh(value: float) -> float:
    value = abs(value)
    return (value + math.log1p(math.exp(-2 * value))) / math.log(2) - 1


def _log2_sinh(value: float) -> float:
    return (value + math.log(-math.expm1(-2 * value))) / math.log(2) - 1


@dataclass(frozen=True)
class Motion:
    """The views of all frames of a film."""

    scene: Scene
    parts: tuple[FilmPart, ...]
    count: int  # number of frames
    # Frames a second of the film's clock. Frame k shows the time k / rate. A loop has its fps;
    # otherwise the last frame shows the last moment, which takes one frame less.
    rate: float

    def seconds(self, number: int) -> float:
        """Return the time that a frame shows."""
        return number / self.rate

    def part_at(self, seconds: float) -> FilmPart:
        """Return the part of a time."""
        found = bisect.bisect_right([part.begins for part in self.parts], seconds) - 1
        return self.parts[max(found, 0)]

    def view_at(self, seconds: float) -> Scene:
        """Return the scene with the view of a time, and without a film."""
        part = self.part_at(seconds)
        moment = part.moment_at(min(max(seconds, part.begins), part.ends))
        return with_view(self.scene, moment)


def with_view(scene: Scene, moment: Moment | FilmView) -> Scene:
    """Return a scene with another view, and without a film; tracks set the view of a camera."""
    if not moves_of(scene).in_plane:
        return scene.model_copy(update={"film": None})
    columns = scene.image.size[0]
    pixel = moment.width / columns
    places = SPARE_DECIMALS + decimals(pixel)
    update = {
        "center": tuple(_padded(decimal_places(part, places), places) for part in moment.center),
        "width": width_text(moment.width),
        "zoom": None,
        "rotation": math.remainder(moment.rotation, 360),
    }
    view = scene.view.model_copy(update=update)
    return scene.model_copy(update={"view": view, "film": None})


def _padded(text: str, places: int) -> str:
    """Return a decimal number with zeros up to some places: a frame's center lacks no digits."""
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits.ljust(places, '0')}" if places else whole


def make_motion(scene: Scene, length: float) -> Motion:
    """Return the views of all frames of a scene's film.

    `length`: seconds that tracks need; the film may be longer by its keys. Raises OptionError: the
    film has no length, too many frames or octaves, or a speed without a change of width.
    """
    film = scene.film or FilmSettings()
    keys = film.keys or (Key(at=0.0),)
    places = make_places(scene, keys)
    way = moves_of(scene).way(scene)
    times = list(way.times) if way else key_times(keys, places)
    whole = film.seconds or max(length, times[-1])
    if not whole > 0:
        raise OptionError("the film has no length: give seconds=, or a key with a later time")
    if whole * film.fps > MAX_FRAMES:  # infinity, by a speed of next to nothing
        raise OptionError(
            f"{whole * film.fps:.15g} frames: a film has at most {MAX_FRAMES}; give a lower fps, "
            "fewer seconds, or a higher speed"
        )
    count = max(1, round(whole * film.fps))
    octaves = sum(abs(log2(one.width / two.width)) for one, two in itertools.pairwise(places))
    if octaves > MAX_OCTAVES:
        raise OptionError(
            f"the film zooms through {octaves:.0f} octaves, in and out: a film has at most "
            f"{MAX_OCTAVES}; give fewer keys, or widths that are nearer to each other"
        )
    rate = film.fps if film.loop or count == 1 else (count - 1) / whole
    return Motion(scene, make_parts(keys, places, times, whole, count, rate), count, rate)


def make_places(scene: Scene, keys: Sequence[Key]) -> list[FilmView]:
    """Return the views of keys, with what they leave out."""
    width, center = place_of(scene)
    rotation = scene.view.rotation
    widths: list[Fraction] = []
    turns: list[float] = []
    for key in keys:
        width = Fraction(Decimal(key.width)) if key.width else width
        rotation = rotation if key.rotation is None else key.rotation
        widths.append(width)
        turns.append(rotation)
    given = [k for k, key in enumerate(keys) if key.center]
    if given:
        deepest = keys[min(given, key=lambda k: widths[k])].center
        assert deepest
        center = Fraction(Decimal(deepest[0])), Fraction(Decimal(deepest[1]))
    centers = [
        (Fraction(Decimal(key.center[0])), Fraction(Decimal(key.center[1])))
        if key.center
        else center
        for key in keys
    ]
    return [FilmView(*each) for each in zip(centers, widths, turns, strict=True)]


def key_times(keys: Sequence[Key], places: Sequence[FilmView]) -> list[float]:
    """Return the seconds of keys; a speed is counted from the key before."""
    times = [keys[0].at or 0.0]
    for number, key in enumerate(keys[1:], 1):
        if key.at is not None:
            time = key.at
        else:
            assert key.speed
            octaves = abs(log2(places[number].width / places[number - 1].width))
            if not octaves:
                raise OptionError(
                    f"film.keys.{number}: speed needs a change of width; give at, in seconds"
                )
            time = times[-1] + octaves / key.speed
        if not time > times[-1]:
            raise OptionError(
                f"film.keys.{number}: {time:g} s follows {times[-1]:g} s: keys must be in order"
            )
        times.append(time)
    return times


Span = tuple[FilmView, FilmView, float, float, str]  # its ends, their seconds, and the easing
Facts = tuple[str, Point | None]  # kind and fixed point


def make_parts(
    keys: Sequence[Key],
    places: Sequence[FilmView],
    times: Sequence[float],
    whole: float,
    count: int,
    rate: float,
) -> tuple[FilmPart, ...]:
    """Return the parts between keys, and the stills before the first and after the last key."""
    eases = [key.ease for key in keys[1:]]
    spans: list[Span] = list(zip(places, places[1:], times, times[1:], eases, strict=False))
    if times[0] > 0:
        spans.insert(0, (places[0], places[0], 0.0, times[0], "constant"))
    if times[-1] < whole:
        spans.append((places[-1], places[-1], times[-1], whole, "constant"))
    facts = [(_kind(start, end), fixed_point(start, end)) for start, end, *_ in spans]
    parts = []
    for k, (start, end, begins, ends, _) in enumerate(spans):
        if begins >= whole:
            break
        kind, fixed = facts[k]
        first = math.ceil(begins * rate - 1e-9)
        last = count if ends >= whole else math.ceil(ends * rate - 1e-9)
        easing = _easing(spans[k], _joined(spans, facts, k - 1), _joined(spans, facts, k))
        parts.append(
            FilmPart(
                kind,
                range(first, last),
                start,
                end,
                fixed if kind == "zoom" else None,
                begins,
                ends,
                rate,
                easing,
            )
        )
    return tuple(parts)


def _kind(start: FilmView, end: FilmView) -> str:
    if start.center == end.center and start.width == end.width:
        return "zoom" if start.rotation != end.rotation else "still"
    return "zoom" if start.width != end.width else "move"


def _joined(spans: Sequence[Span], facts: Sequence[Facts], k: int) -> float:
    """Return the octaves a second with which part k leads to part k + 1; 0 where it stops.

    Soft zooms about the same point in the same direction are joined at the lower of their mean
    speeds.
    """
    if not 0 <= k < len(spans) - 1 or facts[k][0] != "zoom" or facts[k] != facts[k + 1]:
        return 0.0
    if spans[k][4] != "soft" or spans[k + 1][4] != "soft":
        return 0.0
    one, two = (
        log2(start.width / end.width) / (ends - begins)
        for start, end, begins, ends, _ in spans[k : k + 2]
    )
    return min(abs(one), abs(two)) if one * two > 0 else 0.0


def _easing(span: Span, first: float, last: float) -> Easing:
    """Return the easing of a part whose ends are joined with these octaves a second."""
    start, end, begins, ends, ease = span
    if ease == "soft":
        mean = abs(log2(start.width / end.width)) / (ends - begins)
        ramp = min(RAMP / (ends - begins), MAX_RAMP)
        return Easing(ramp, ramp, first / mean if first else 0.0, last / mean if last else 0.0)
    return easing_of(ease)


def easing_of(ease: str) -> Easing:
    """Return the easing of a name, where neither end is joined."""
    rise = {"in": 1.0, "both": 0.5}.get(ease, 0.0)
    fall = {"out": 1.0, "both": 0.5}.get(ease, 0.0)
    return Easing(rise, fall, hold=ease == "hold")

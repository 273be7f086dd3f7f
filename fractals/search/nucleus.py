"""Searches a view for a nucleus: its minibrot, and the embedded Julia sets around it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, zip_longest
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr, mpq
from numpy.typing import NDArray

from fractals.backends.devices import choose, open_backend
from fractals.deep.reference import OrbitRequest, Reference, compute_orbit, fraction_of
from fractals.errors import FractalsError, OptionError, shown
from fractals.kernels.floatexp import ZERO_EXPONENT
from fractals.kernels.formula import Formula
from fractals.kernels.layout import TINY_INDEX, TINY_SIZE
from fractals.scene.model import Scene
from fractals.scene.numbers import MAX_DIGITS, decimal_places, plain
from fractals.search import newton
from fractals.search.near_kernel import (
    NEAR_C,
    NEAR_DZ,
    NEAR_DZ2,
    NEAR_END,
    NEAR_POINT,
    NEAR_SAVED,
    NEAR_SIZE,
    NEAR_STEP,
    NEAR_Z,
    make_body,
)
from fractals.search.newton import (
    GUARD_BITS,
    LOW_BITS,
    MAX_RADII,
    MAX_SLOW,
    MIN_GAIN,
    ROUGH_BITS,
    Area,
    Nucleus,
    Point,
    Progress,
    Root,
    Vectors,
    limit_for,
    log2,
    norm,
    orbit_bits,
    rounded,
    solve_linear,
)

# Orbits near a reference orbit, compiled: long searches for nuclei take a hundredth of the time.
#
# One reference orbit is computed in arbitrary precision. Orbits of other points of the view, and
# dz/dc, are computed as differences from it in float64 with an exponent (`near_kernel.py`):
# enough bits to tell where in view a nucleus is.


# Steps of an orbit in one call of the compiled program: some milliseconds, until progress is shown
# and Ctrl-C is noticed.
STEPS_PER_CALL = 2**16
# Points of the first reference. Where longer orbits are needed it is computed again, four times as
# long.
FIRST_STEPS = 2**15
# In plane units: a reference beyond it has escaped.
ESCAPE_RADIUS = 1000.0


class NearOrbits:
    """The orbits of the points of a view, for a map f(z) + c with `perturbed`.

    `center`: of the view, and c of the reference orbit. `radius`: of a circle around the view, in
    plane units. An orbit has at most `max_period` steps. `progress` is called with the name of the
    work, the steps taken and all steps.
    """

    def __init__(
        self,
        formula: Formula,
        center: Point,
        radius: Any,
        max_period: int,
        progress: Progress | None = None,
    ) -> None:
        self.formula, self.center, self.radius = formula, center, radius
        self.max_period, self.progress = max_period, progress
        self.reached = False  # whether a search got to `max_period`
        backend = open_backend(choose("cpu").device, "float64", 1)
        self._run = backend.compile(make_body, formula)
        self._reference: Reference | None = None
        self._extend(min(FIRST_STEPS, max_period))

    def candidates(self, points: list[Point], radius: Any, count: int) -> Iterator[tuple[int, int]]:
        """Yield periods of nuclei expected within `radius` of points, and the point's index.

        They ascend by period, and are the first `count` of each point at least. See
        `fractals.search.newton.candidates`.
        """
        state = self._begin(points)
        hits = np.zeros((len(points), count + 1), np.int64)
        seen = 0
        while True:
            done = self._advance(state, hits, radius, self.max_period)
            found = sorted((int(m), k) for k, row in enumerate(hits) for m in row[1 : row[0] + 1])
            hits[:, 0] = 0
            yield from found
            seen += len(found)
            self.reached |= done >= self.max_period
            running = state[:, NEAR_END] == 0
            if done >= self.max_period or not running.any() or seen >= count:
                return
            if self.progress:
                self.progress("period", done, self.max_period)

    def newton(self, start: Root, progress: Progress | None = None) -> Root | None:
        """Return the nucleus to ROUGH_BITS of the view's radius, or None.

        See `fractals.search.newton.newton`, of which this is the part before a result is settled.
        """
        with gmpy2.context(precision=LOW_BITS):
            origin = self._offset(start.center)
            x, y = origin
        error, last, goal = start.error, None, log2(self.radius) - ROUGH_BITS
        number = slow = 0
        while slow < MAX_SLOW:
            number += 1
            if progress:
                progress(f"period {start.period}, Newton {number}", 0, start.period)
            end = self._end((x, y), start.period)
            if end is None:
                return None
            with gmpy2.context(precision=LOW_BITS):
                move = solve_linear(*end)
                moved = norm(move)
                if not gmpy2.is_finite(moved):
                    return None
                x, y = x - move[0], y - move[1]
                if norm((x - origin[0], y - origin[1])) > MAX_RADII * self.radius:
                    return None
            now = log2(moved) if moved else -math.inf
            expected = 0.0 if last is None else 2 * max(0.0, last - now)
            error, last = max(now - expected, goal - ROUGH_BITS / 2), now
            if moved == 0 or (expected >= MIN_GAIN and error <= goal):
                center = self.center[0] + mpq(x), self.center[1] + mpq(y)
                return Root(center, start.period, error, 2 * expected)
            slow += expected < MIN_GAIN
        return None

    def lowest_period(self, root: Root, radius: Any) -> int | None:
        """Return the lowest period of a nucleus within a radius of a root, or None."""
        state = self._begin([root.center])
        hits = np.zeros((1, 2), np.int64)
        while self._advance(state, hits, radius, root.period) < root.period:
            if hits[0, 0] or state[0, NEAR_END]:
                break
        return int(hits[0, 1]) if hits[0, 0] else None

    def _offset(self, point: Point) -> Point:
        return mpfr(mpq(point[0]) - self.center[0]), mpfr(mpq(point[1]) - self.center[1])

    def _begin(self, points: list[Point]) -> NDArray[np.float64]:
        with gmpy2.context(precision=LOW_BITS):
            return _new_state([_floatexp(*self._offset(point)) for point in points])

    def _end(self, offset: Point, period: int) -> tuple[Point, Vectors] | None:
        """Return z_p and dz_p/dc of the orbit of an offset from the center; None: it escapes."""
        state, hits = _new_state([_floatexp(*offset)]), np.zeros((1, 1), np.int64)
        while self._advance(state, hits, mpfr(0), period) < period:
            pass
        if state[0, NEAR_END]:
            return None
        columns = (NEAR_DZ,) if self.formula.holomorphic else (NEAR_DZ, NEAR_DZ2)
        with gmpy2.context(precision=LOW_BITS):
            z, *tangents = (_point(state[0, k : k + 3]) for k in (NEAR_POINT, *columns))
        return z, tuple(tangents)

    def _advance(self, state: Any, hits: Any, radius: Any, limit: int) -> int:
        """Go on for STEPS_PER_CALL steps, and return the steps that all running orbits have."""
        running = state[:, NEAR_END] == 0
        done = int(state[running, NEAR_STEP].min(initial=limit))
        last = min(limit, done + STEPS_PER_CALL)
        self._extend(last)
        x, _, e = _floatexp(radius, mpfr(0))
        self._run(
            state, hits, self._orbit, self._tiny, (x, np.int64(e)), np.int64(last), np.int64(last)
        )
        return last

    def _extend(self, steps: int) -> None:
        """Compute a longer reference if orbits of this length need one."""
        old = self._reference
        if old and (old.complete or len(old.orbit) > steps):
            return
        length = FIRST_STEPS
        while length < steps:
            length *= 4
        length = min(length, self.max_period)
        center = fraction_of(self.center[0]), fraction_of(self.center[1])
        view_radius = fraction_of(self.radius)
        bits = orbit_bits(self.center, log2(self.radius) - GUARD_BITS, length)
        show = self.progress
        watch = (lambda done: show("reference", done, length)) if show else None
        zero = Fraction(0), Fraction(0)
        own = bits, length, ESCAPE_RADIUS, view_radius
        wanted = OrbitRequest(self.formula, zero, center, *own)
        found = compute_orbit(wanted, watch).until(length)
        self._reference = found
        self._orbit = np.concatenate([found.orbit, found.kinks(self.formula, True)], axis=1)
        self._tiny = found.tiny
        if not len(found.tiny):
            self._tiny = np.zeros((1, TINY_SIZE))
            self._tiny[0, TINY_INDEX] = -1  # of no point


def _new_state(offsets: list[tuple[float, float, int]]) -> NDArray[np.float64]:
    state = np.zeros((len(offsets), NEAR_SIZE))
    for column in (NEAR_Z, NEAR_DZ, NEAR_DZ2, NEAR_SAVED, NEAR_POINT):
        state[:, column + 2] = ZERO_EXPONENT
    state[:, NEAR_C : NEAR_C + 3] = offsets
    return state


def _floatexp(x: Any, y: Any) -> tuple[float, float, int]:
    """Return x + iy as mantissas and an exponent, the larger mantissa in [1, 2)."""
    parts = [part for part in (x, y) if part != 0]
    if not parts:
        return 0.0, 0.0, ZERO_EXPONENT
    e = max(gmpy2.get_exp(part) for part in parts) - 1
    scale = gmpy2.exp2(mpfr(-e))
    return float(x * scale), float(y * scale), e


def _point(parts: Any) -> Point:
    x, y, e = parts
    scale = gmpy2.exp2(mpfr(int(e)))
    return mpfr(float(x)) * scale, mpfr(float(y)) * scale


# Candidates from which Newton's method is started, until the search is given up.
MAX_TRIES = 60
# Steps of a search in gmpy2 alone. A longer search is compiled: seconds, the first time only.
PLAIN_STEPS = 4096
# log2 of a view's radius, in plane units, above which CELLS**2 orbits take about as long as one.
SHALLOW = -100
# Cells along a side of the view. In a smaller cell z depends on c more nearly linearly, so fewer
# nuclei are missed, and the search takes longer.
CELLS = 4
# Factor of a cell's radius: z never depends on c quite linearly, so the cells overlap.
OVERLAP = 1.25
# Bits of the view's radius: the nucleus is the only one so near to the result of Newton's method.
NEAR_BITS = 12
# Digits of the center beyond the size: a picture of the minibrot may be zoomed by 1e18.
SPARE_DIGITS = 18
# Height of a minibrot's picture over that of the home view, scaled to the minibrot's size.
MARGIN = 1.5
# Attempts with more bits if Newton's method settles on no nucleus.
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Minibrot:
    """A component of the set, found in a view by its nucleus.

    Attributes
    ----------
    center : tuple of str
        The nucleus, as decimal text with SPARE_DIGITS digits beyond the size.
    period : int
        Steps after which the critical orbit comes back to 0.
    size : str
        Size of the component over that of the whole set, as decimal text.
    angle : float, optional
        Rotation of the component, in degrees counter-clockwise; None if it is skewed, too.
    cardioid : bool, optional
        Whether the component is the cardioid of a minibrot, and not a disc on the side of another
        component; None if that is unknown.
    found_in : Scene
        The scene that was searched.

    Examples
    --------
    >>> found = find_nucleus(Scene().replace(center=("-1.75", "0"), width="0.1"))
    >>> found.period, found.center[1], found.size
    (3, '0', '0.0190355')
    """

    center: tuple[str, str]
    period: int
    size: str
    angle: float | None
    cardioid: bool | None
    found_in: Scene

    def scene(self, *, upright: bool = False) -> Scene:
        """Return the scene that shows the whole minibrot.

        Colors, size and the rest are kept; a limit too low for the period becomes "auto". With
        `upright` the view is rotated as the minibrot is. Raises `OptionError` if it is skewed, so
        that no rotation sets it upright.
        """
        scene = self._scene(f"A minibrot of period {self.period}", 1.0)
        if not upright:
            return scene
        if self.angle is None:
            raise OptionError(
                f"a component of {scene.make_formula().name} is skewed: no rotation sets it upright"
            )
        return scene.replace(rotation=round(self.angle, 3))

    def julia(self, fraction: float) -> Scene:
        """Return the scene around the minibrot at a fraction of its depth, between 0 and 1.

        Depth is the logarithm of the zoom from the formula's home view. At a fraction of 0.5 lies
        the embedded Julia set of the view in which the minibrot first shows; it has twice as many
        arms at 0.75, and four times as many at 0.875.
        """
        share = plain(fraction)
        if not isinstance(share, int | float) or not 0 < share < 1:
            given = shown(fraction, 40)
            raise OptionError(f"fraction {given}: give one between 0 and 1, such as 0.75")
        return self._scene(f"At {share:g} of the way to a minibrot", share)

    def _scene(self, title: str, fraction: float) -> Scene:
        old = self.found_in
        formula = old.make_formula()
        across, down = old.image.size
        shape = mpq(across, min(across, down))
        with gmpy2.context(precision=newton.LOW_BITS):
            home = mpfr(formula.width)
            width = mpfr(self.size) * home * mpq(9, 16) * mpfr(MARGIN) * shape
            width = home ** (1 - mpfr(fraction)) * width ** mpfr(fraction)
            text = rounded(width)
        limit = limit_for(old, self.period)
        return old.replace(
            title=title, note="", center=self.center, width=text, max_iterations=limit
        )

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "period": self.period,
            "center": list(self.center),
            "size": self.size,
            "angle": None if self.angle is None else round(self.angle, 6),
            "cardioid": self.cardioid,
        }


def find_period(
    scene: Scene, max_period: int | None = None, progress: Progress | None = None
) -> int:
    """Return the lowest period in view; see `find_nucleus`."""
    return _Search(scene, max_period, progress).locate().period


def find_nucleus(
    scene: Scene, max_period: int | None = None, progress: Progress | None = None
) -> Minibrot:
    """Return the minibrot of the lowest period in the scene's view: see `fractals.find_nucleus`.

    The limit estimated from the depth of the view is at most MAX_STEPS.
    """
    search = _Search(scene, max_period, progress)
    nucleus = search.settle(search.locate())
    places = max(0, math.ceil(-log2(nucleus.size) * math.log10(2))) + SPARE_DIGITS
    if places > MAX_DIGITS:
        raise FractalsError(
            f"the nucleus of period {nucleus.period} takes {places} digits to name, and a scene "
            f"has at most {MAX_DIGITS}"
        )
    x, y = (decimal_places(mpq(part), places) for part in nucleus.center)
    return Minibrot(
        center=(x, y),
        period=nucleus.period,
        size=rounded(nucleus.size),
        angle=nucleus.angle,
        cardioid=nucleus.cardioid,
        found_in=scene,
    )


class _Search:
    """A search for the nucleus of the lowest period in one view."""

    def __init__(self, scene: Scene, max_period: int | None, progress: Progress | None) -> None:
        self.area = area = Area(scene, max_period, "nuclei")
        self.formula, self.radius, self.max_period = area.formula, area.radius, area.max_period
        self.progress = progress
        self.reached = False  # whether the search got to `max_period`
        self.nearest: tuple[Any, Root] | None = None

    def locate(self) -> Root:
        """Return a nucleus in view, of the lowest period found."""
        plain = min(self.max_period, PLAIN_STEPS)
        if self.formula.perturbed is None:
            plain = self.max_period
        for cells in (CELLS,) if log2(self.radius) > SHALLOW else (1, CELLS):
            for start in self._starts(cells, plain):
                root = newton.newton(self.formula, start, self.radius, False, self.progress)
                if root and self._is_in_view(root):
                    near = self.radius * gmpy2.exp2(-NEAR_BITS)
                    nucleus = newton.measure(self.formula, root, near, self.progress)
                    if nucleus:
                        return Root(root.center, nucleus.period, root.error, root.gain)
            if self.reached:
                break
        if self.reached and plain < self.max_period:
            return self._locate_compiled()
        raise FractalsError(self._failure(), code="no_minibrot_was_found")

    def _locate_compiled(self) -> Root:
        """Return a nucleus in view as `locate` does, by compiled orbits near that of the center."""
        orbits = NearOrbits(
            self.formula, self.area.center, self.radius, self.max_period, self.progress
        )
        near = self.radius * gmpy2.exp2(-NEAR_BITS)
        for cells in (CELLS,) if log2(self.radius) > SHALLOW else (1, CELLS):
            middles, radius = self._cells(cells)
            found = orbits.candidates(middles, radius, MAX_TRIES)
            for period, k in islice(found, MAX_TRIES):
                start = Root(middles[k], period, log2(radius))
                root = orbits.newton(start, self.progress)
                if root and self._is_in_view(root):
                    lowest = orbits.lowest_period(root, near)
                    if lowest:
                        return Root(root.center, lowest, root.error, root.gain)
            self.reached = orbits.reached
            if self.reached:
                break
        raise FractalsError(self._failure(), code="no_minibrot_was_found")

    def settle(self, root: Root) -> Nucleus:
        """Return a nucleus in all its digits."""
        for _ in range(MAX_ATTEMPTS):
            found = newton.newton(self.formula, root, self.radius, True, self.progress)
            if not found:
                break
            within = gmpy2.exp2(mpfr(found.error + newton.GUARD_BITS / 2))
            nucleus = newton.measure(self.formula, found, within, self.progress)
            if nucleus:
                return nucleus
            root = Root(found.center, found.period, root.error)
        raise FractalsError(
            f"Newton's method does not settle on the nucleus of period {root.period}"
        )

    def _cells(self, cells: int) -> tuple[list[Point], Any]:
        """Return the middles of cells, in which z depends on c more nearly linearly, and a radius.

        The view has `cells` of them along a side.
        """
        middles = [self.area.middle(i, j, cells) for j in range(cells) for i in range(cells)]
        return middles, self.radius / cells * OVERLAP

    def _starts(self, cells: int, max_period: int) -> Iterator[Root]:
        """Yield starts of Newton's method, by ascending period."""
        middles, radius = self._cells(cells)
        searches = [
            newton.candidates(self.formula, c, radius, max_period, self.progress) for c in middles
        ]
        tries = 0
        for number, blocks in enumerate(zip_longest(*searches, fillvalue=[]), 1):
            self.reached = number * newton.BLOCK >= max_period
            for period, k in sorted((m, k) for k, found in enumerate(blocks) for m in found):
                yield Root(middles[k], period, log2(radius))
                tries += 1
                if tries == MAX_TRIES:
                    return

    def _is_in_view(self, root: Root) -> bool:
        right, up = self.area.offset(root.center)
        outside = max(abs(right), abs(up))
        if outside > 0.5 and (self.nearest is None or outside < self.nearest[0]):
            self.nearest = outside, root
        return bool(outside <= 0.5)

    def _failure(self) -> str:
        text = "no nucleus was found in the view"
        if self.reached:
            text = f"no nucleus of a period up to {self.max_period} was found in the view"
        hint = ", or give a higher max_period=" if self.reached else ""
        if self.nearest is None:
            return f"{text}: widen it, or move it to the edge of the set{hint}"
        root = self.nearest[1]
        right, up = (float(part) for part in self.area.offset(root.center))
        sides = (right, "widths to the", "right", "left"), (up, "heights", "up", "down")
        way = " and ".join(
            f"{abs(far):.2g} {unit} {ahead if far > 0 else back}"
            for far, unit, ahead, back in sides
            if abs(far) >= 0.01
        )
        return (
            f"{text}; the nearest is of period {root.period}, {way} from the center: "
            f"widen the view{hint}"
        )

"""Numbers of points of one's own: counts, periods, distances and external angles."""

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import gmpy2
import numpy as np
from numpy.typing import NDArray

from fractals.errors import OptionError, counted, typed
from fractals.io.load import Source
from fractals.kernels.formula import Formula
from fractals.rendering.drawing import open_plan
from fractals.rendering.options import RenderOptions, read_request, with_keywords
from fractals.rendering.plan import Plan
from fractals.rendering.raw_numbers import EscapeData, compute_data
from fractals.rendering.render import or_on_the_cpu
from fractals.rendering.values import UNITS, colored, values_of
from fractals.scene.keywords import RenderKeywords
from fractals.scene.model import Scene
from fractals.scene.numbers import PointLike, decimal_text, decimals_of
from fractals.tools.external_angle import external_angle

Text = tuple[str, str]  # real and imaginary part of a point, as decimal text
DECIMALS = 16  # of texts, up to which a point is rounded to float64, as its orbit is
GUARD_DIGITS = 17  # of the orbit of an external angle, beyond the point's decimals
SPARE_DIGITS = 3  # of the width of the view of a deep point, beyond the point's decimals
LIMIT = 100_000  # most iterations, where a scene leaves them to a view
ROW = 65_536  # points of a row, where there are several rows
ANGLE = "external_angle"


class PointData:
    """The raw numbers of points of one's own: arrays with an element for each, in their order.

    Attributes
    ----------
    scene : Scene
        The formula, the limit and the escape radius; its view has no meaning.
    points : ndarray of complex128
        The points, rounded to float64.
    count : ndarray of int32
        Steps until the orbit escaped or converged, if they are fewer than `max_iterations`;
        otherwise `max_iterations`, which means inside.
    z : ndarray of complex128
        The orbit's point at that step; 0 inside.
    inside : ndarray of bool
        Where the count is `max_iterations`.
    max_iterations : int
        The limit: orbits that did not escape in fewer steps are inside.
    """

    def __init__(self, scene: Scene, given: Sequence[complex | Text], options: Any) -> None:
        self.scene, self._given, self._options = scene, list(given), options
        self.points = np.array([_rounded(point) for point in given], np.complex128)
        self.count = np.zeros(len(given), np.int32)
        self.z = np.zeros(len(given), np.complex128)
        self.inside = np.zeros(len(given), np.bool_)
        self.max_iterations = int(scene.iteration.max_iterations)
        self._known: dict[Any, NDArray[np.float64]] = {}
        for raw, index in self._computed(scene):
            self.count[index] = raw.count.ravel()[: len(index)]
            self.z[index] = raw.z.ravel()[: len(index)]
            self.inside[index] = raw.inside.ravel()[: len(index)]

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return f"PointData({counted(len(self), 'point')}, max_iterations={self.max_iterations})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PointData):
            return NotImplemented
        mine, theirs = (self.scene, self._given), (other.scene, other._given)
        return mine == theirs and np.array_equal(self.z, other.z, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the counts."""
        return np.array(self.count, dtype) if copy else np.asarray(self.count, dtype)

    def values(self, coloring: str | Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the values of a coloring as numbers, such as periods and distances.

        They are computed when they are first asked for.

        Parameters
        ----------
        coloring : str or mapping
            "period", "distance", "interior_distance", "multiplier", "smooth" or another, as of
            `EscapeData.values`. Lengths are in plane units. "external_angle" is that of
            `external_angle`.

        Returns
        -------
        ndarray of float64
            NaN where the coloring says nothing of a point.

        Raises
        ------
        OptionError
            The coloring is unknown, or a point has more digits than it can be computed for.
        """
        if coloring == ANGLE:
            return self.external_angle()
        key = repr(coloring)
        if key not in self._known:
            found = np.full(len(self), np.nan)
            for raw, index in self._computed(colored(self.scene, coloring)):
                found[index] = values_of(raw, coloring, UNITS[0]).ravel()[: len(index)]
            self._known[key] = found
        return self._known[key]

    def external_angle(self) -> NDArray[np.float64]:
        """Return the angle of the external ray through each point, in turns from 0 to 1.

        It is exact but for the last digits. The time grows with the square of the count, from 1 ms
        at 20 steps to 20 s at 3000.

        Returns
        -------
        ndarray of float64
            NaN inside, and where an orbit takes more than 3000 steps.

        Raises
        ------
        OptionError
            The formula is no power plus c.
        """
        formula = self.scene.make_formula()
        if not formula.is_power:
            raise OptionError(
                f"external angles are those of z**d + c, and '{formula.name}' is another formula"
            )
        if ANGLE not in self._known:
            self._known[ANGLE] = np.array(
                [
                    math.nan if inside else self._angle(point, formula)
                    for point, inside in zip(self._given, self.inside, strict=True)
                ]
            )
        return self._known[ANGLE]

    def _angle(self, point: complex | Text, formula: Formula) -> float:
        julia = self.scene.julia
        if isinstance(point, complex):
            return external_angle(point, formula.degree, julia and complex(*map(float, julia)))
        digits = max(map(_decimals, point)) + GUARD_DIGITS
        with gmpy2.context(precision=64 + int(digits * math.log2(10))):
            at = gmpy2.mpc(*map(gmpy2.mpfr, point))
            return external_angle(at, formula.degree, julia and gmpy2.mpc(*map(gmpy2.mpfr, julia)))

    def columns(self, *names: str) -> dict[str, NDArray[Any]]:
        """Return columns for a table: re, im, count, inside, and values by their names.

        Parameters
        ----------
        *names : str
            Names that `values` takes.

        Examples
        --------
        >>> found = compute_points([0.25j, 1 + 1j])
        >>> list(found.columns("period")), found.columns("period")["period"].tolist()
        (['re', 'im', 'count', 'inside', 'period'], [1.0, nan])
        """
        own: dict[str, NDArray[Any]] = {"re": self.points.real, "im": self.points.imag}
        own |= {"count": self.count, "inside": self.inside}
        return own | {name: self.values(name) for name in names}

    def _computed(self, scene: Scene) -> Iterable[tuple[EscapeData, list[int]]]:
        """Yield raw numbers with the places of their samples among the points."""
        plain = [k for k, point in enumerate(self._given) if isinstance(point, complex)]
        deep = [k for k, point in enumerate(self._given) if not isinstance(point, complex)]
        if plain:
            some = partial(_of_floats, scene, self.points[plain])
            yield or_on_the_cpu(some, self._options), plain
        for k in deep:
            yield or_on_the_cpu(partial(_of_text, scene, self._given[k]), self._options), [k]


@with_keywords(RenderKeywords, RenderOptions)
def compute_points(
    points: Iterable[PointLike] | NDArray[Any], *sources: Source, **keywords: Unpack[RenderKeywords]
) -> PointData:
    """Compute the raw numbers of points of one's own: of c, or of z_0 for Julia sets.

    Complex numbers are iterated together in float64. A pair of decimal texts with more than 16
    decimals is iterated by perturbation, at any depth: some milliseconds for each.

    Parameters
    ----------
    points : sequence of complex numbers, or of pairs of numbers or decimal texts
        At least one. An array of NumPy may have any shape; one of (n, 2) reals holds pairs.
    *sources : str, Path, mapping or Scene
        The formula, and how it is iterated, as for `render`; views and colors are not read.
    **keywords
        Keys of the scene, such as ``formula``, ``julia`` and ``max_iterations``, which is 100000
        where it is "auto".

    Returns
    -------
    PointData
        Counts and points of the orbits; ``values("period")`` and others compute more.

    Raises
    ------
    OptionError
        A point is none, or a keyword is invalid.
    SceneError, DeviceError
        A source is invalid, or shows images of another family; or the device is missing.

    Examples
    --------
    >>> found = compute_points([0, -1, 1j, 0.3 + 0.6j], device="cpu")
    >>> found.inside.tolist(), found.values("period").tolist()
    ([True, True, True, False], [1.0, 2.0, nan, nan])
    >>> compute_points([-2.5], device="cpu").external_angle().tolist()
    [0.5]
    """
    scene, options = read_request(sources, keywords, RenderKeywords, RenderOptions)
    scene.make_formula()
    limit = scene.iteration.max_iterations
    plain: dict[str, Any] = {"rotation": 0, "mirror": False, "stretch": 1, "projection": "plane"}
    plain |= {"supersampling": 1, "antialias": "grid", "center": (0, 0), "width": 4}
    plain |= {"bloom": 0.0, "heights": "none", "layers": [], "film": None}
    plain |= {"max_iterations": LIMIT if limit == "auto" else limit, "coloring": "count"}
    given = [_point(point) for point in _listed(points)]
    return PointData(scene.replace(**plain), given, options)


def _listed(points: Any) -> list[Any]:
    if isinstance(points, str | complex | float | int) or not isinstance(points, Iterable):
        raise OptionError(f"points={typed(points)}: give a list, such as [-0.75+0.1j, 0.3]")
    pairs = isinstance(points, np.ndarray) and points.dtype.kind != "c" and points.shape[1:] == (2,)
    flat = points.ravel() if isinstance(points, np.ndarray) and not pairs else points
    found = list(flat)
    if not found:
        raise OptionError("points: give at least one")
    return found


def _point(given: Any) -> complex | Text:
    """Return a point of float64, or decimal texts where it has more digits."""
    try:
        if isinstance(given, Sequence | np.ndarray) and len(given) == 2:
            x, y = given
            if all(isinstance(part, float | np.floating) for part in (x, y)):
                given = complex(x, y)
        if isinstance(given, complex | float | int | np.number):
            return _finite(complex(given))
        if isinstance(given, str):
            given = (given, "0")
        if isinstance(given, Sequence | np.ndarray):
            x, y = map(decimal_text, given)
        else:  # of mpmath or gmpy2
            x, y = decimal_text(given.real), decimal_text(given.imag)
        point = _finite(complex(float(x), float(y)))
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise OptionError(
            f"points: {typed(given, 60)} is no point: give a complex number, or a pair of "
            "numbers or texts such as ('-0.75', '0.1')"
        ) from None
    return point if max(_decimals(x), _decimals(y)) <= DECIMALS else (x, y)


def _finite(point: complex) -> complex:
    """Return a point that float64 holds, or raise a `ValueError`."""
    if not cmath.isfinite(point):
        raise ValueError
    return point


def _rounded(point: complex | Text) -> complex:
    return point if isinstance(point, complex) else complex(*map(float, point))


def _decimals(text: str) -> int:
    return max(0, decimals_of(text))


def _of_floats(scene: Scene, points: NDArray[np.complex128], options: Any) -> EscapeData:
    """Return the raw numbers of points, row by row; the last row is filled up with the last."""
    across = min(len(points), ROW)
    down = -(-len(points) // across)
    plan, backend = open_plan(scene.replace(size=(across, down)), options, "raw")
    more = across * down - len(points)
    filled = np.concatenate([points, np.repeat(points[-1:], more)])
    return compute_data(_at(plan, filled), backend, options)


def _at(plan: Plan, points: NDArray[np.complex128]) -> Plan:
    return replace(plan, points=np.stack([points.real, points.imag]))


def _of_text(scene: Scene, point: complex | Text, options: Any) -> EscapeData:
    """Return the raw numbers of a point of many digits: those of a picture of one sample."""
    assert not isinstance(point, complex)
    digits = max(map(_decimals, point)) + SPARE_DIGITS
    view = scene.replace(center=point, width=f"1e-{digits}", size=(1, 1))
    quiet = options.replace(progress=None, on_message=lambda line: None)
    plan, backend = open_plan(view, quiet, "raw")
    return compute_data(plan, backend, quiet)

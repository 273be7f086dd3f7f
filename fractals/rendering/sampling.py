"""The positions of a picture's samples in the plane.

An offset in the picture is counted from its center, to the right and up. The view's matrix takes it
to an offset from the center of the view in the plane. In the exponential map an offset is first an
angle and the logarithm of a radius. Jittered samples lie anywhere in their cells of the grid.
"""

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import DeviceMemoryError
from fractals.kernels.layout import SampleGrid
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import matrix, middles_of, power_parts, turn_of
from fractals.scene.numbers import log2
from fractals.threads import add

if TYPE_CHECKING:
    from fractals.backends.base import Backend
    from fractals.rendering.plan import Plan

Index = NDArray[np.int64]
PART = 28  # bits of each part of a number: its products with integers below 2**24 are exact
MASK, MAX_SHIFT = (1 << PART) - 1, 900
PERIOD = 128  # samples after which the shifts of jittered samples repeat: the table's side


def coordinates(plan: "Plan") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the positions of a grid: ``columns`` (2, width) and ``rows`` (2, height).

    The sample in column i and row j is at ``columns[0, i] + rows[0, j]`` on the real axis and
    ``columns[1, i] + rows[1, j]`` on the imaginary one, which points up. Row 0 is the top. Each
    number is rounded once from its exact value, the same for every backend. For perturbation they
    are distances from the center of the reference orbit, divided by 2**exponent. For double-double
    numbers both arrays have four rows: the low parts come last.
    """
    n, view = plan.supersampling, plan.view
    across, down = plan.size[0] * n, plan.size[1] * n
    if plan.doubled:
        from fractals.rendering.doubled_places import grid_places

        return grid_places(plan.center, plan.pixel / n / 2, matrix(view), across, down)
    center, half = plan.center, plan.pixel / n / 2
    if plan.deep:
        center, half = (Fraction(0), Fraction(0)), half / Fraction(2) ** plan.exponent
    axes = a, b, c, d = matrix(view)
    (x, y), (u, v) = middles_of(center, axes)
    columns = _rounded(x, a * half, across), _rounded(y, c * half, across)
    rows = _rounded(u, -b * half, down), _rounded(v, -d * half, down)
    return np.stack(columns), np.stack(rows)


@functools.lru_cache(maxsize=8)  # previews of Julia sets follow each other in one view
def _rounded(middle: Fraction, half: Fraction, count: int) -> NDArray[np.float64]:
    """Return `count` positions about `middle`, ``2 * half`` apart, each rounded once.

    Each number is split into three floats of 28 bits, whose products with integers are exact, and
    the sums are added with their rounding errors (Knuth, 1969). If the neglected bits could change
    how a position is rounded, integers are divided instead, which takes 50 times as long.
    """
    factors = np.arange(1.0 - count, count, 2)
    first, second, third = (factors * part for part in _parts(half))
    total, rest, largest = first, second + third, abs(first)
    if middle:
        a, b, c = _parts(middle)
        total, error = _sum(a, first)
        rest, largest = error + ((b + second) + (c + third)), abs(a) + largest
    total, rest = _sum(total, rest)
    doubt = 1e-23 * largest  # 2**-76
    rounded: NDArray[np.float64] = total + rest
    unsure = np.flatnonzero(total + (rest - doubt) != total + (rest + doubt))
    if unsure.size:
        below = math.lcm(middle.denominator, half.denominator)
        begin, step = int((middle - (count - 1) * half) * below), int(2 * half * below)
        rounded[unsure] = [(begin + k * step) / below for k in map(int, unsure)]
    return rounded + 0.0  # a number that underflows may be -0


def _parts(exact: Fraction) -> tuple[float, ...]:
    """Return three floats of PART bits whose sum has the first bits of a number.

    They are NaN where they would not be normal numbers.
    """
    above, below = abs(exact.numerator), exact.denominator
    shift = 3 * PART + below.bit_length() - above.bit_length()
    if abs(shift) > MAX_SHIFT:
        return (math.nan,) * 3
    whole = (above << shift) // below if shift > 0 else above // (below << -shift)
    bits = whole >> 2 * PART, whole >> PART & MASK, whole & MASK
    sign = -1 if exact < 0 else 1
    return tuple(math.ldexp(sign * part, (2 - k) * PART - shift) for k, part in enumerate(bits))


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded sum of two floats or arrays, and what is lost by rounding."""
    total = a + b
    c = total - a
    return total, (a - (total - c)) + (b - c)


@functools.cache
def shifts() -> NDArray[np.float32]:
    """Return the offsets of jittered samples from the middles of their cells, shape (2, P, P).

    Offsets are in cells, to the right and down, from -0.5 to 0.5. The sample in column i and row j
    has the offset ``[:, j % P, i % P]``, so it does not depend on tiles. The samples are blue
    noise: below two thirds of the grid's frequency they have at most a fiftieth of the power of
    white noise, and none at the grid's frequency, which prevents moire. scripts/blue_noise.py makes
    the table.
    """
    table: NDArray[np.uint8] = np.load(Path(__file__).with_name("blue_noise.npy"))
    return ((table + np.float32(0.5)) / np.float32(PERIOD) - np.float32(0.5)).astype(np.float32)


def indices(window: tuple[slice, slice]) -> tuple[Index, Index]:
    """Return columns (1, width) and rows (height, 1) of a window of samples."""
    rows, columns = window
    return np.arange(columns.start, columns.stop)[None], np.arange(rows.start, rows.stop)[:, None]


class Samples:
    """Positions of samples that are not sums of a column and a row."""

    def __init__(self, plan: "Plan", count: tuple[int, int] | None = None) -> None:
        """`count`: samples across and down in place of the plan's; they are not jittered."""
        n, self.plan = plan.supersampling, plan
        across, down = count or (plan.size[0] * n, plan.size[1] * n)
        self._points = plan.points if count is None else None
        if self._points is not None:
            self.scaled, self._across = False, across
            return
        self.exponential = plan.view.projection == "exponential"
        # Whether each sample has an exponent of two of its own
        self.scaled = self.exponential and plan.extended and plan.reach is None
        self._shifts = shifts() if plan.jittered and not count else None
        if self.exponential:
            self._project(across, down)
        else:
            self._columns, self._rows = coordinates(plan)
            if self._shifts is not None:
                self._moves = self._steps()

    def on_device(
        self, backend: "Backend", i: Index, j: Index, shape: tuple[int, int]
    ) -> SampleGrid:
        """Return explicit positions in place of columns and rows, on a device.

        The columns `i` and rows `j` have shapes that NumPy broadcasts to `shape`, that of the
        arrays which are computed from the positions.
        """
        positions = self.at(i, j).astype(backend.real)
        empty = np.zeros((2, shape[0]), backend.real)
        return SampleGrid(backend.to_device(positions), backend.to_device(empty))

    def _steps(self) -> NDArray[np.float64]:
        """Return the shifts in the plane, shape (2, P, P)."""
        assert self._shifts is not None
        step = self.plan.pixel / self.plan.supersampling / Fraction(2) ** self.plan.exponent
        a, b, c, d = (float(part * step) for part in matrix(self.plan.view))
        right, up = self._shifts[0].astype(np.float64), -self._shifts[1].astype(np.float64)
        return np.stack([a * right + b * up, c * right + d * up])

    def _project(self, across: int, down: int) -> None:
        """Compute the directions of the columns, and the radii of the rows."""
        plan = self.plan
        turn = 2 * math.pi / across
        self._directions = _directions(across)
        a, b, c, d = (float(part) for part in matrix(plan.view))
        x, y = self._directions
        self._columns = np.stack([a * x + b * y, c * x + d * y])
        shrinking = turn_of(plan.size) * plan.size[1] / down
        exponent = math.floor(log2(plan.width))
        mantissa = float(plan.width / Fraction(2) ** exponent)
        radii = [power_parts(-(j + 0.5) * shrinking) for j in range(down)]
        exponents = [e + exponent - 1 for _, e in radii]
        if not self.scaled:
            exponents = [e - plan.exponent for e in exponents]
        if self.scaled:
            self._radii = np.array([m * mantissa for m, _ in radii])
        else:
            self._radii = np.array(
                [math.ldexp(m * mantissa, e) for (m, _), e in zip(radii, exponents, strict=True)]
            )
        self._exponents = np.array(exponents, np.float64)
        if self._shifts is not None:
            right, down_ = (part.astype(np.float64) * turn for part in self._shifts)
            self._moves = _each(
                lambda p, q: (math.exp(-q) * math.cos(p), -math.exp(-q) * math.sin(p)), right, down_
            )

    def at(self, i: Index, j: Index) -> NDArray[np.float64]:
        """Return the positions of samples in columns `i` and rows `j`, shape (2 or 3, samples).

        The indices may have any shapes that NumPy broadcasts. A third row holds exponents of two.
        Of double-double numbers there are four rows: the low parts come last.
        """
        if self.plan.doubled:
            return self._doubled_at(i, j)
        if self._points is not None:
            return self._points[:, (j * self._across + i).ravel()]
        if not self.exponential:
            x, y = (self._columns[k][i] + self._rows[k][j] for k in range(2))
            if self._shifts is not None:
                x, y = (
                    part + self._moves[k, j % PERIOD, i % PERIOD] for k, part in enumerate((x, y))
                )
            return np.stack([x.ravel(), y.ravel()])
        x, y = self._polar(self._columns, i, j)
        if not self.plan.deep:
            x, y = x + float(self.plan.center[0]), y + float(self.plan.center[1])
        places = [x.ravel(), y.ravel()]
        if self.scaled:
            places.append((self._exponents[j] + 0 * i).ravel())
        return np.stack(places)

    def _doubled_at(self, i: Index, j: Index) -> NDArray[np.float64]:
        from fractals.rendering.doubled_places import grid_places, moved, sums

        if self._points is not None:
            found = self._points[:, (j * self._across + i).ravel()]
            return np.concatenate([found, np.zeros_like(found)])
        if self.exponential:
            center = grid_places(self.plan.center, Fraction(0), matrix(self.plan.view), 1, 1)
            places = moved(sums(*center), self._polar(self._columns, i, j))
            return np.stack([part.ravel() for part in places])
        places = sums(self._columns[:, i], self._rows[:, j])
        if self._shifts is not None:
            places = moved(places, tuple(self._moves[:, j % PERIOD, i % PERIOD]))
        return np.stack([part.ravel() for part in places])

    def arms(self, i: Index, j: Index) -> NDArray[np.float64]:
        """Return the radii of samples of an exponential map as vectors, shape (2, samples).

        The view's matrix is not applied. Vectors are divided by two to the power of the plan's
        exponent; with `scaled`, of the samples' exponents.
        """
        return np.stack([part.ravel() for part in self._polar(self._directions, i, j)])

    def _polar(self, columns: NDArray[np.float64], i: Index, j: Index) -> tuple[Any, Any]:
        radii = self._radii[j]
        if self._shifts is None:
            return columns[0][i] * radii, columns[1][i] * radii
        # Jitter turns the direction by an angle; the matrix applies after that.
        p, q = self._moves[:, j % PERIOD, i % PERIOD] * radii
        x, y = self._directions[0][i], self._directions[1][i]
        x, y = x * p - y * q, x * q + y * p
        if columns is self._directions:
            return x, y
        a, b, c, d = (float(part) for part in matrix(self.plan.view))
        return a * x + b * y, c * x + d * y


@functools.lru_cache(maxsize=4)
def _directions(columns: int) -> NDArray[np.float64]:
    """Return the directions of the columns of an exponential map, shape (2, columns)."""
    turn = 2 * math.pi / columns
    angles = [((columns - 1) / 2 - i) * turn for i in range(columns)]
    directions = np.array([[math.cos(t), math.sin(t)] for t in angles]).T
    directions.setflags(write=False)
    return directions


def _each(function: Any, *tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pairs of a function for the elements of tables.

    The function uses the math module, because NumPy's cos and exp differ between CPUs.
    """
    values: Iterable[Any] = map(function, *(table.ravel().tolist() for table in tables))
    return np.array(list(values)).T.reshape(2, *tables[0].shape)


# --- Tiles divided into smaller ones: where a GPU lacks memory, and where other clients wait

Stop = Callable[[], bool]
Take = Callable[[Tile, Stop], dict[str, float]]  # returns the seconds of each stage


def smaller(tile: Tile, most: int) -> list[Tile]:
    """Return a tile in parts of at most `most` pixels, or of one pixel."""
    if tile.width * tile.height <= max(1, most):
        return [tile]
    x, y, width, height = tile
    if width >= height:
        half = width // 2
        parts = [Tile(x, y, half, height), Tile(x + half, y, width - half, height)]
    else:
        half = height // 2
        parts = [Tile(x, y, width, half), Tile(x, y + half, width, height - half)]
    return [each for part in parts for each in smaller(part, most)]


@dataclass
class Room:
    """How many pixels of a tile fit into the memory of a device, as far as tiles have shown.

    A part of a tile has the numbers and the colors that the tile has there.
    """

    on_message: Callable[[str], None] = lambda line: None
    most: int = 2**62  # pixels

    def take(self, take: Take, tile: Tile, stop: Stop) -> dict[str, float]:
        """Do the work of a tile in parts that fit into the memory.

        A part that does not fit is begun again in halves. All tiles that follow, of all threads,
        are then divided alike. What does not fit for a single pixel raises `DeviceMemoryError`.
        """
        pixels = tile.width * tile.height
        if pixels <= max(1, self.most):
            try:
                return take(tile, stop)
            except DeviceMemoryError:
                if pixels == 1:
                    raise
                self.most = min(self.most, pixels // 2)
        return self._in_smaller(take, tile, stop)

    def _in_smaller(self, take: Take, tile: Tile, stop: Stop) -> dict[str, float]:
        spent: dict[str, float] = {}
        for part in smaller(tile, self.most):
            add(spent, self.take(take, part, stop))
        return spent

    def tell(self) -> None:
        """Tell the user once if tiles were divided; called by the thread that has the tiles."""
        if self.most < 2**62:
            self.on_message(
                f"the GPU is short of memory: tiles were divided into parts of {self.most} pixels "
                "or fewer, which takes longer and changes no pixel"
            )
            self.on_message = lambda line: None

"""The contract of a Buddhabrot: orbits of another formula, whose points are counted. Its kernels.

The plane of c is divided into *cells*, squares of a quadtree, which are small where orbits add much
to the view. A pass throws `counts` samples into each cell, a power of two, and each point of a
sample's orbit adds a power of two that makes up for it, its weight. So all parts of the plane count
as much as if samples lay evenly.

Sample t is the number ``r = t * stride % samples`` of pass ``t // samples``: stride and samples
have no common divisor, so that a part of a pass has samples everywhere. The i-th sample of a cell
is the i-th point of Sobol's sequence, so that the first 2**k samples lie in as many equal parts of
the cell. Random numbers shift all points of a cell by exclusive or (a digital shift), so that each
may lie anywhere: ``philox(i >> BLOCK_BITS, row, column, level * 256 + ORBIT)``. Nothing depends on
threads or devices.

Where the formula is symmetric, each orbit is drawn with its mirror image, the orbit of conj(c).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels import on_cpu
from fractals.kernels.escape import EscapeOptions, make_escape
from fractals.kernels.formula import AnyFormula, Formula
from fractals.kernels.orbit import make_orbit
from fractals.kernels.primitives import fma
from fractals.kernels.random import make_random
from fractals.scatter import game as games

SUMS = 2  # version of what orbits add up to: raised where a picture's samples or weights change
ORBIT, LOOK = 4, 5  # kinds of random numbers, after those of `fractals.scatter.game`
START_BITS = 4
BLOCK_BITS = 20  # samples of a cell with the same shift, as a power of two
LEVELS = 32  # of the quadtree, at most
LOOKED = 5  # numbers of a pilot's sample: its place in the cell, points in view, steps, drawn steps


@dataclass(frozen=True)
class Buddhabrot(AnyFormula):
    """The orbits of a formula's samples that escape, or of those that do not."""

    family: ClassVar[str] = "scatter"
    group: ClassVar[str] = "Flames and orbits"
    method: ClassVar[str] = "orbits"
    settle: ClassVar[int] = 0

    # name, title: As of `fractals.kernels.formula.Formula`.
    name: str
    title: str
    formula: Formula  # what is iterated
    least: int = 20  # orbits that escape in fewer steps are left out
    # Three limits of steps for red, green and blue (a Nebulabrot); or (), and the palette then
    # shows how long orbits are.
    limits: tuple[int, ...] = ()
    anti: bool = False  # orbits that do not escape are drawn, in place of those that do
    # The share of samples that lie wherever orbits are drawn, in view or not: it bounds the
    # weights.
    even: float = 0.25
    cells: int = 16384  # how many cells the plane of c is divided into
    # Options that a scene may set, with their values.
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def center(self) -> tuple[str, str]:  # type: ignore[override]
        """Return the center of the home view: that of the formula."""
        return self.formula.center

    @property
    def width(self) -> str:  # type: ignore[override]
        """Return the width of the home view: that of the formula."""
        return self.formula.width

    def kernel_of(self, julia: bool) -> tuple[Any, ...]:
        """Return what makes the kernel, and its options."""
        every = self.formula.can_return
        options = EscapeOptions(self.formula.compiled(), julia, check_every_step=every)
        return make_body, options, self.anti

    def bounds(self, limit: int) -> NDArray[np.int32]:
        """Return below which number of steps each color ends, but the last."""
        if self.limits:
            ends = sorted({each + 1 for each in self.limits})
        else:
            share = np.arange(1, games.SHADES) / games.SHADES
            least = min(self.least, limit)  # `anti` draws orbits of fewer steps, too
            ends = np.ceil(least * (limit / least) ** share).astype(np.int64).tolist()
        last = np.iinfo(np.int32).max
        return np.array([*ends, *[last] * (games.SHADES - 1 - len(ends))], np.int32)

    def colors(self, palette: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Return what hits add, as of `fractals.scatter.game.Window`."""
        if not self.limits:
            return games.hit_colors(palette, (1.0,))
        found = np.zeros((games.SHADES, 4), np.uint32)
        found[:, 3] = games.HIT
        for k, end in enumerate(sorted(set(self.limits))):
            found[k, :3] = [games.HIT * (end <= each) for each in self.limits]
        return found


class Orbits(NamedTuple):
    """The numbers of a Buddhabrot: where its samples lie."""

    point: Any  # as of `fractals.kernels.escape.make_body`
    place: Any  # the least x and y of c, and the side of a cell of each level; array of real
    cells: Any  # level, row and column of each cell; array of int32, shape (cells, 3)
    ends: Any  # samples of a pass in the cells up to each; array of int64
    counts: Any  # samples of a pass in each cell; array of int64
    weights: Any  # what each point of a sample adds, times its color; array of int64
    bounds: Any  # steps at which colors end, but the last; array of int32
    steps: Any  # least and most steps; array of int32
    starts: Any  # the cell of every 2**START_BITS-th sample of a pass; array of int32
    samples: Any  # of a pass
    stride: Any  # from one sample to the next


def make_sobol(target):
    """Return ``sobol(i)``: both numbers of point i of Sobol's sequence, in 2**32 parts of 1.

    >>> from fractals.backends.python import PythonBackend
    >>> sobol = make_sobol(PythonBackend("float64").target)
    >>> [tuple(part / 2**32 for part in sobol(i)) for i in range(4)]
    [(0.0, 0.0), (0.5, 0.5), (0.25, 0.75), (0.75, 0.25)]
    """

    def turned(v):
        """Return 32 bits in the opposite order."""
        v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1
        v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2
        v = (v >> 4 & 0x0F0F0F0F) | (v & 0x0F0F0F0F) << 4
        v = (v >> 8 & 0x00FF00FF) | (v & 0x00FF00FF) << 8
        return v >> 16 | (v & 0xFFFF) << 16

    turned = target.jit(turned)

    def sobol(i):
        # Bit j is the sum of the bits k of i for which C(k, j) is odd: Pascal's triangle.
        v = i ^ (i & 0xAAAAAAAA) >> 1
        v ^= (v & 0xCCCCCCCC) >> 2
        v ^= (v & 0xF0F0F0F0) >> 4
        v ^= (v & 0xFF00FF00) >> 8
        v ^= (v & 0xFFFF0000) >> 16
        return turned(i), turned(v)

    return target.jit(sobol)


def make_place(target):
    """Return ``(parts, place)``: the i-th sample of a cell, in 2**24 parts of it, and in the plane.

    ``parts(i, k, kind, orbits, k0, k1)`` returns how far to the right and down it is,
    ``place(right, down, k, orbits)`` its x and y.
    """
    real, whole, small, part = target.real, target.int64, target.int32, target.real(2.0**-24)
    (words, _, _), sobol = make_random(target), make_sobol(target)

    def parts(i, k, kind, orbits, k0, k1):
        cells = orbits.cells
        level, row, column = whole(cells[k, 0]), whole(cells[k, 1]), whole(cells[k, 2])
        a, b, _, _ = words(i >> BLOCK_BITS, row, column, level * 256 + kind, k0, k1)
        right, down = sobol(i)
        return (right ^ a) >> 8, (down ^ b) >> 8

    def place(right, down, k, orbits):
        cells = orbits.cells
        side = orbits.place[2 + whole(cells[k, 0])]
        x = fma(real(small(right)), part, real(whole(cells[k, 2])))
        y = fma(real(small(down)), part, real(whole(cells[k, 1])))
        return fma(x, side, orbits.place[0]), fma(y, side, orbits.place[1])

    return target.jit(parts), target.jit(place)


def mirrors(options):
    """Tell whether orbits are drawn with their mirror images, which are orbits of samples too."""
    formula = options.formula
    return formula.symmetric and not options.julia and float(formula.center[1]) == 0


def make_drawn(target, anti):
    """Return ``drawn(n, orbits)``: how many steps are drawn of an orbit that escapes at step n."""
    int32 = target.int32

    def drawn(n, orbits):
        least, most = orbits.steps[0], orbits.steps[1]
        inside = n >= most
        shown = inside if anti else (not inside) & (n >= least)
        return n if shown else int32(0)

    return target.jit(drawn)


def make_follow(target, options, anti):
    """Return ``(count, follow)``: how many steps of an orbit are drawn, and its points in view.

    ``follow(u, v, n, weight, color, orbits, window, sums)`` adds them, and their mirror images
    where there are such; with the weight 0 it only counts them.
    """
    start, advance, _ = make_orbit(target, options.formula, options.julia, False)
    escape, bucket = make_escape(target, options), games.make_bucket(target)
    julia, add, int32, whole = options.julia, target.add, target.int32, target.int64
    drawn, images = make_drawn(target, anti), 2 if mirrors(options) else 1

    def count(u, v, orbits):
        point, most = orbits.point, orbits.steps[1]
        a, b = (point[0], point[1]) if julia else (u, v)
        n, _ = escape(int32(0), start(u, v, point), a, b, point, most, most)
        return n, drawn(n, orbits)

    def follow(u, v, n, weight, color, orbits, window, sums):
        point, found = orbits.point, 0
        a, b = (point[0], point[1]) if julia else (u, v)
        state = start(u, v, point)
        for _ in range(n):
            state = advance(state, a, b, point)
            y = state[1]
            for _ in range(images):
                at = bucket(state[0], y, window)
                if at >= 0:
                    found += 1
                    if weight > 0:
                        for m in range(4):
                            add(sums, 4 * at + m, weight * whole(window.colors[color, m]))
                y = -y
        return found

    return target.jit(count), target.jit(follow)


def first_above(values, v):  # compiled with `target.jit`
    """Return the first place of sorted numbers at which one is greater than v."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] > v:
            high = middle
        else:
            low = middle + 1
    return low


def cell_of(r, orbits):  # compiled with `target.jit`
    """Return the cell of sample r of a pass."""
    k = orbits.starts[r >> START_BITS]
    while orbits.ends[k] <= r:
        k += 1
    return k


def make_sample(target):
    """Return ``sample(t, orbits, game)``: the place of sample t in the plane of c, and its cell."""
    (parts, place), find = make_place(target), target.jit(cell_of)

    def sample(t, orbits, game):
        samples = orbits.samples
        past = t // samples
        r = (t - past * samples) * orbits.stride % samples
        k = find(r, orbits)
        own = orbits.counts[k]
        i = past * own + r - (orbits.ends[k] - own)
        right, down = parts(i, k, ORBIT, orbits, game.k0, game.k1)
        u, v = place(right, down, k, orbits)
        return u, v, k

    return target.jit(sample)


def make_body(target, options, anti):
    """Return ``body(i0, j0, di, dj, out, orbits, game, window, sums)``.

    It is that of `fractals.scatter.game.make_body`: each element of `out` is a sample.
    """
    sample, (count, follow) = make_sample(target), make_follow(target, options, anti)
    above = target.jit(first_above)

    def throw(t, orbits, game, window, sums):
        u, v, k = sample(t, orbits, game)
        steps, drawn = count(u, v, orbits)
        color = above(orbits.bounds, steps)
        return follow(u, v, drawn, orbits.weights[k], color, orbits, window, sums)

    return games.make_all(target, throw)


@on_cpu("fractals.scatter.cpu_look:looking")
def make_look_body(target, options, anti):
    """Return ``body(i0, j0, di, dj, out, orbits, asked, game, window, sums)``: the pilot of cells.

    Parameters
    ----------
    out : array of int64, shape (rows, columns, LOOKED)
        Filled: what is found of each sample, in order of rows from ``game.first`` on.
    asked : array of int32, shape (samples, 2)
        The cell of each sample, and its number there.
    sums : array of int64
        Not written to.
    """
    whole = target.int64
    (parts, place), (count, follow) = make_place(target), make_follow(target, options, anti)

    def body(i0, j0, di, dj, out, orbits, asked, game, window, sums):
        columns = out.shape[1]
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, columns, di):
                at = game.first + j * columns + i
                if at < len(asked):
                    k = asked[at, 0]
                    right, down = parts(whole(asked[at, 1]), k, LOOK, orbits, game.k0, game.k1)
                    u, v = place(right, down, k, orbits)
                    n, drawn = count(u, v, orbits)
                    out[j, i, 0], out[j, i, 1] = right, down
                    out[j, i, 2] = follow(u, v, drawn, whole(0), 0, orbits, window, sums)
                    out[j, i, 3], out[j, i, 4] = n, drawn

    return body

"""The ground of a relief: a field of heights, the rays that meet it, and its colors.

Heights are those of samples, which lie one apart: x runs to the right and y up, from 0.5 for the
middle of the first sample, because there is a border of one more sample, which repeats the edges.
Between samples the surface is bilinear. A ray goes from square to square, and skips squares of
2^k samples whose highest point is below the ray (maximum mipmaps: Tevs, Ihrke and Seidel, 2008).
The functions here are what `fractals.space.paths` needs to know of a surface.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.primitives import clamp, fma, select, sqrt
from fractals.kernels.space import added
from fractals.space.light import make_reflect, surface
from fractals.space.march import (
    HALF,
    POSITION,
    TAPS,
    make_ahead,
)
from fractals.space.paths import NORMAL, Surface

FLAT = 20  # number of a camera, after those of `march`: samples of a pixel, a side, of a map seen
# from straight above; 0 where the camera is at a place
START = 0.1  # samples: half of how far from the surface rays go on
LOWEST = -1.0  # where rays that go down end; the ground is at 0 or above


class Ground(NamedTuple):
    """Heights and colors, as rays meet them."""

    heights: Any  # array of real, shape (rows, columns), from the bottom of the picture
    colors: Any  # light that is reflected: array of real, shape (rows, columns, 3)
    tops: Any  # the highest points of squares of 2^k samples, for each k from 1 on: array of real
    starts: Any  # where those of a k begin: array of int64, shape (levels + 1,); that of 0 is 0
    wides: Any  # how many there are in a row: array of int64, shape (levels + 1,)
    top: Any  # the highest point of all
    most: Any  # squares that a ray visits


def ground_of(heights: NDArray[Any], colors: NDArray[Any]) -> Ground:
    """Return the ground of heights, in samples, and colors; both from the top of the picture."""
    heights = np.pad(heights[::-1], 1, "edge")
    colors = np.pad(colors[::-1], ((1, 1), (1, 1), (0, 0)), "edge")
    corners = heights[:-1, :-1], heights[1:, :-1], heights[:-1, 1:], heights[1:, 1:]
    level = np.maximum.reduce(corners)
    tops: list[NDArray[Any]] = []
    starts, wides = [0], [level.shape[1]]
    while max(level.shape) > 1:
        level = np.pad(level, [(0, side % 2) for side in level.shape], "edge")
        level = np.maximum.reduce([level[y::2, x::2] for y in (0, 1) for x in (0, 1)])
        starts.append(sum(each.size for each in tops))
        wides.append(level.shape[1])
        tops.append(level)
    flat = np.concatenate([each.ravel() for each in tops] or [level.ravel()])
    most = 64 + 16 * sum(heights.shape)
    return Ground(
        np.ascontiguousarray(heights),
        np.ascontiguousarray(colors),
        flat,
        np.array(starts, np.int64),
        np.array(wides, np.int64),
        heights.max(),
        most,
    )


def make_place(target):
    """Return ``place(v, side)``: the samples about a place, and how far it is from the first."""
    real, whole, index = target.real, target.int64, target.index

    def place(v, side):
        v = clamp(v, real(0), real(side - 1))
        k = min(whole(v), whole(side - 2))
        return index(k), index(k + 1), v - real(k)

    return target.jit(place)


def blended(a, b, c, d, across, down):  # compiled with `target.jit`
    """Return the bilinear mean of four values."""
    low, high = fma(across, b - a, a), fma(across, d - c, c)
    return fma(down, high - low, low)


def make_height(target):
    """Return ``height(x, y, ground)``: of the surface at a place."""
    place, mean = make_place(target), target.jit(blended)

    def height(x, y, ground):
        h = ground.heights
        i, right, across = place(x, h.shape[1])
        j, above, down = place(y, h.shape[0])
        return mean(h[j, i], h[j, right], h[above, i], h[above, right], across, down)

    return target.jit(height)


def make_color(target):
    """Return ``color(place, trap, shot, ground)``, as of `fractals.space.paths.Surface`."""
    place_of, mean, of_trap = make_place(target), target.jit(blended), target.jit(surface)

    def color(place, trap, shot, ground):
        c = ground.colors
        i, right, across = place_of(place[0], c.shape[1])
        j, above, down = place_of(place[1], c.shape[0])
        r = mean(c[j, i, 0], c[j, right, 0], c[above, i, 0], c[above, right, 0], across, down)
        g = mean(c[j, i, 1], c[j, right, 1], c[above, i, 1], c[above, right, 1], across, down)
        b = mean(c[j, i, 2], c[j, right, 2], c[above, i, 2], c[above, right, 2], across, down)
        return r, g, b, of_trap(trap, shot.light, shot.colors)[3]

    return target.jit(color)


def make_within(target):
    """Return ``within(o, d, low, high, enter, leave)``: the part of a ray between two planes."""
    real = target.real

    def within(o, d, low, high, enter, leave):
        if d == real(0):
            return enter, leave if low <= o <= high else -real(1)
        a, b = (low - o) / d, (high - o) / d
        near, far = select(a < b, a, b), select(a < b, b, a)
        return select(near > enter, near, enter), select(far < leave, far, leave)

    return target.jit(within)


def make_root(target):
    """Return ``root(first, middle, last)``: where a curve ends to be above 0; 2: nowhere up to 1.

    The parabola has these values at 0, 1/2 and 1; the first is above 0. Along a ray, the height
    above a bilinear surface is a parabola.
    """
    real = target.real

    def root(first, middle, last):
        zero, one = real(0), real(1)
        bend = first + last - middle - middle  # twice would be a product, which compilers fuse
        slope = last - first - bend - bend
        square = fma(slope, slope, real(-8) * bend * first)
        deep = sqrt(select(square > zero, square, zero)) - slope
        some = (square >= zero) & (deep > zero)
        found = (first + first) / select(some, deep, one)
        if last <= zero:
            return clamp(found, zero, one)
        return select(some & (found <= one), found, real(2))

    return target.jit(root)


def make_meet(target):
    """Return ``meet(o, d, t, ground)``: length, share of the top, whether it hits.

    Of a ray as of `fractals.space.march.make_march`; it meets the surface itself.
    """
    real, whole, height = target.real, target.int64, make_height(target)
    index = target.index
    within, root = make_within(target), make_root(target)

    def cell(v, low, last):
        """Return the square of a place, from `low` to `last`."""
        return min(max(whole(clamp(v, real(low), real(last))), whole(low)), whole(last))

    cell = target.jit(cell)

    def ahead_of(corner, side, o, d, leave):
        """Return at which length a ray leaves a square across one axis."""
        if d == real(0):
            return leave
        return (real(corner + side if d > real(0) else corner) - o) / d

    ahead_of = target.jit(ahead_of)

    def above(t, o, d, ground):
        """Return how far the ray is above the ground."""
        x, y, z = added(o, t, d)
        return z - height(x, y, ground)

    above = target.jit(above)

    def meet(o, d, t, ground):
        zero, columns, rows = real(0), ground.heights.shape[1] - 1, ground.heights.shape[0] - 1
        leave = real(1e30)
        t, leave = within(o[0], d[0], zero, real(columns), t, leave)
        t, leave = within(o[1], d[1], zero, real(rows), t, leave)
        t, leave = within(o[2], d[2], real(LOWEST), ground.top, t, leave)
        if not t < leave:
            return t, zero, False
        i, j = cell(fma(t, d[0], o[0]), 0, columns - 1), cell(fma(t, d[1], o[1]), 0, rows - 1)
        highest = whole(len(ground.starts) - 1)
        level = highest
        for _ in range(ground.most):
            side = whole(1) << level
            x, y = (i >> level) << level, (j >> level) << level
            across = ahead_of(x, side, o[0], d[0], leave)
            down = ahead_of(y, side, o[1], d[1], leave)
            out = select(across < down, across, down)
            out = select(out < leave, out, leave)
            out = select(out > t, out, t)
            if level > 0:
                lower = fma(out if d[2] < zero else t, d[2], o[2])
                k = ground.starts[level] + (j >> level) * ground.wides[level] + (i >> level)
                if lower <= ground.tops[index(k)]:
                    level -= 1
                    continue
            else:
                first, last = above(t, o, d, ground), above(out, o, d, ground)
                if not first > zero:
                    return t, fma(t, d[2], o[2]) / ground.top, True
                part = root(first, above(fma(real(0.5), out - t, t), o, d, ground), last)
                if part <= real(1):
                    t = fma(part, out - t, t)
                    return t, fma(t, d[2], o[2]) / ground.top, True
            t = out
            if not out < leave:
                return t, zero, False
            if across < down:
                i = x + side if d[0] > zero else x - 1
                j = cell(fma(t, d[1], o[1]), y, y + side - 1)
            else:
                j = y + side if d[1] > zero else y - 1
                i = cell(fma(t, d[0], o[0]), x, x + side - 1)
            if i < 0 or j < 0 or i >= columns or j >= rows:
                return t, zero, False
            level = min(level + 1, highest)
        return t, zero, False

    return target.jit(meet)


def make_taps(target):
    """Return ``taps(place, h, ground)``: four heights, as far apart as a pixel, for a normal."""
    real, height = target.real, make_height(target)

    def tap(place, h, k, ground):
        s = TAPS[k]
        x, y, z = added(place, h, (real(s[0]), real(s[1]), real(s[2])))
        return z - height(x, y, ground)

    tap = target.jit(tap)

    def taps(place, h, ground):
        h = select(h > real(1), h, real(1))
        first = tap(place, h, 0, ground), tap(place, h, 1, ground)
        return *first, tap(place, h, 2, ground), tap(place, h, 3, ground)

    return target.jit(taps)


def make_from_above(target):
    """Return ``ahead(column, row, u, v, camera)``, also of a map seen from straight above."""
    ahead, real = make_ahead(target), target.real

    def from_above(column, row, u, v, m):
        if m[FLAT] > real(0):
            half = real(0.5)
            x = fma(column, m[FLAT], half)
            y = fma(m[HALF + 1] - row + m[HALF + 1], m[FLAT], half)
            return (x, y, m[POSITION + 2]), (real(0), real(0), real(-1))
        return ahead(column, row, u, v, m)

    return target.jit(from_above)


def make_surface(target, options):
    """Return the ground as paths of light meet it."""
    real, meet, taps = target.real, make_meet(target), make_taps(target)

    def enter(o, d, t, ground):
        return t, real(0)

    def walk(wait, o, d, t, leave, count, found, spread, base, h, trap, ground):
        hits = False
        if wait == NORMAL:
            found = taps(o, h, ground)
        else:
            t, trap, hits = meet(o, d, t, ground)
        return t, count, found, trap, True, hits

    def seen(found, h, hits):
        """Return whether nothing hides the sky."""
        return real(0) if hits else real(1)

    enter, walk, seen = (target.jit(each) for each in (enter, walk, seen))
    ahead, color = make_from_above(target), make_color(target)
    return Surface(ahead, enter, walk, color, make_reflect(target), seen, START)

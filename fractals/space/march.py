"""Rays that walk to the surface of a solid: the distance field, the march, and normals.

A ray goes as far as the distance estimate allows, until the surface is nearer than its footprint:
half a pixel there, so that detail ends where pixels do. It begins where it enters the sphere around
the solid, and ends where it leaves it.

The estimate is a bound from below. What is compared with a footprint is the distance to be
expected, the estimate times `Solid.shortness`: that is the field, and a ray goes a share of it. Of
powers and some boxes the share grows with the distance, from an estimate where that is the
footprint to `Solid.longer` estimates, so that a ray takes short steps only where it may meet the
surface. Where it ends, it goes back by as much as the distance is below the footprint.

What is far from the surface is walked once for many rays: a *cone* around those of a block of
pixels goes as long as nothing of it comes near the surface, then the smaller ones of the blocks in
it, and the rays begin where these ended. All functions take single numbers; those that are made of
`select` alone take packs of rays as well.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.elementary import log, sincos
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.random import make_take
from fractals.kernels.space import added, three
from fractals.space.solid import Solid, make_step

# Numbers of a space: r² that ends an orbit, the square of the radius of the sphere around the
# solid, the ball of a linear distance, the factor of distances to be expected, 1 where (a, b, c) is
# the point (else 0), the constants; where the fourth coordinate starts; how much of a distance a
# ray goes at once; how much of what the distance is compared with it keeps of it; how much of what
# is missing to that it goes back where it ends; the options.
BAIL, BOUND, BODY, FACTOR, OWN, CONSTANTS, FOURTH = 0, 1, 2, 3, 4, 5, 8
STEP, LEAD, PULL, OPTIONS = 9, 10, 11, 12
MOST = 400  # evaluations of the field for a ray; one that takes more is near the surface
FAR = 1e30  # more than any trap
TURN = 6.283185307179586
TAPS = ((1, -1, -1), (-1, -1, 1), (-1, 1, -1), (1, 1, 1))  # of a normal: a tetrahedron


class Space(NamedTuple):
    """A solid, as rays see it."""

    numbers: Any  # array of real
    steps: Any  # the most of an orbit
    most: Any  # evaluations of the field for a ray


class Starts(NamedTuple):
    """Lengths from which on the rays of pixels are followed: nothing is nearer."""

    lengths: Any  # array of real, shape (rows, columns): of blocks of pixels
    shift: Any  # a block has 2**shift pixels along each side
    top: Any  # the row of blocks that is the first of `lengths`, counted from the picture's first


class Cone(NamedTuple):
    """The cone around the rays of a block of pixels."""

    # The cone goes as long as the distance is above ``spread * length + base``
    spread: Any
    base: Any
    back: Any  # how far from the lens a ray may be ahead of the cone


def from_camera(real: Any) -> Starts:
    """Return the starts of rays that are followed from the camera on."""
    return Starts(np.zeros((1, 1), np.dtype(real)), 31, 0)


def start_of(column, row, starts):  # compiled with `target.jit`
    """Return the length from which on the rays of a pixel are followed."""
    return starts.lengths[(row >> starts.shift) - starts.top, column >> starts.shift]


def space_of(solid: Solid, steps: int, real: Any, ray_step: float = 1.0) -> Space:
    """Return a solid as data; `steps`: of an orbit; `ray_step`: the share of an estimate."""
    short = solid.shortness
    constants = solid.constants or (0.0, 0.0, 0.0)
    own = 1.0 if solid.constants is None else 0.0
    longer = solid.longer  # estimates: one where the distance is the footprint, more beyond
    head = [
        solid.bail,
        solid.bound**2,
        solid.body,
        solid.factor * short,
        own,
        *constants,
        solid.fourth or 0.0,
        longer * ray_step / short,
        1 - 1 / longer,
        1.0 if longer > 1 else 0.0,
    ]
    numbers: NDArray[Any] = np.array([*head, *solid.options], np.dtype(real))
    return Space(numbers, steps, MOST)


def dot(x, y, z, u, v, w):  # compiled with `target.jit`
    """Return the inner product of two vectors."""
    return fma(x, u, fma(y, v, z * w))


def unit(x, y, z):  # compiled with `target.jit`
    """Return the vector of length 1 in a direction.

    It is made of quotients: a compiler of GPUs would fuse products with what they are added to.
    """
    length = sqrt(fma(x, x, fma(y, y, z * z)))
    return x / length, y / length, z / length


def crossing(ox, oy, oz, dx, dy, dz, bound):  # compiled with `target.jit`
    """Return where a ray enters and leaves the sphere around 0; it leaves before it enters: never.

    `bound`: the square of the radius.
    """
    zero = number(0, ox)
    b = fma(ox, dx, fma(oy, dy, oz * dz))
    c = fma(ox, ox, fma(oy, oy, fma(oz, oz, -bound)))
    square = fma(b, b, -c)
    root = sqrt(select(square > zero, square, zero))
    return select(square > zero, -b - root, zero), select(square > zero, root - b, -number(1, ox))


def make_advance(target, walk):
    """Return ``advance(state, a, b, c, bail, options)``: the state of an orbit, a step later.

    A state is x, y, z, d, r², the trap, and the fourth coordinate, which is 0 for a solid that has
    none. An orbit that has ended keeps its state; coordinates only where the distance reads them.
    """
    step = make_step(target, walk)

    if walk.distance in ("log", "linear"):  # they read none of the coordinates

        def kept(going, new, old):
            return new

    else:

        def kept(going, new, old):
            return select(going, new, old)

    kept = target.jit(kept)

    def measured(x, y, z, square, options):
        return square

    if walk.trap is not None:
        trap = target.jit(walk.trap)

        def measured(x, y, z, square, options):
            return trap(x, y, z, options)

    measured = target.jit(measured)

    def advance(state, a, b, c, bail, options):
        x, y, z, d, square, least, fourth = state
        going = square < bail
        u, v, w, other, e = step(x, y, z, fourth, d, a, b, c, options)
        found = fma(u, u, fma(v, v, fma(w, w, other * other)))
        value = measured(u, v, w, found, options)
        return (
            kept(going, u, x),
            kept(going, v, y),
            kept(going, w, z),
            select(going, e, d),
            select(going, found, square),
            select(going & (value < least), value, least),
            kept(going, other, fourth),
        )

    return target.jit(advance)


def make_estimate(target, walk):
    """Return ``estimate(state, bail, body, factor, options)``: the distance at an orbit's end.

    An orbit of powers that has not ended belongs to the solid. Its distance is 0, so that a ray
    which a distance took too far ends within. The distance is a quotient in the end: a compiler of
    GPUs would fuse a product with what it is added to.
    """
    if walk.distance == "log":

        def estimate(state, bail, body, factor, options):
            square = state[4]
            grown = number(0.25, factor) * factor * log(square) * sqrt(square)
            return select(square < bail, number(0, factor), grown) / state[3]

    elif walk.distance == "linear":

        def estimate(state, bail, body, factor, options):
            return factor * (sqrt(state[4]) - body) / state[3]

    else:
        distance = target.jit(walk.distance)

        def estimate(state, bail, body, factor, options):
            x, y, z, d = state[0], state[1], state[2], state[3]
            return distance(x, y, z, d, options) / (number(1, factor) / factor)

    return target.jit(estimate)


def make_trapped(target, walk):
    """Return ``trapped(least)``: the trap of an orbit, of which a state may keep the square."""
    own = walk.trap is not None

    def trapped(least):
        return least if own else sqrt(least)

    return target.jit(trapped)


def make_begin(target, walk):
    """Return ``begin(x, y, z, fourth)``: the state of an orbit before its first step."""
    whole = walk.fourth

    def begin(x, y, z, fourth):
        w = fourth if whole else number(0, x)
        square = fma(x, x, fma(y, y, fma(z, z, w * w)))
        return x, y, z, number(1, x), square, number(FAR, x), w

    return target.jit(begin)


def make_field(target, walk):
    """Return ``field(x, y, z, space)``: the distance to be expected and the trap of a point."""
    advance, estimate = make_advance(target, walk), make_estimate(target, walk)
    take, start = make_take(target, walk.numbers), make_begin(target, walk)
    trapped = make_trapped(target, walk)

    def field(x, y, z, space):
        n = space.numbers
        options, bail, own = take(n, OPTIONS), n[BAIL], n[OWN]
        a, b, c = added(three(n, CONSTANTS), own, (x, y, z))
        state = start(x, y, z, n[FOURTH])
        for _ in range(space.steps):
            if not state[4] < bail:
                break
            state = advance(state, a, b, c, bail, options)
        return estimate(state, bail, n[BODY], n[FACTOR], options), trapped(state[5])

    return target.jit(field)


def make_march(target, walk):
    """Return ``march(o, d, t, spread, base, space)``: length, trap, and whether a ray hits.

    `o`, `d`: where the ray starts, and its direction, of length 1. `t`: the length from which on it
    is followed. It hits where the distance is not above ``spread * length + base``.
    """
    field, cross, real = make_field(target, walk), target.jit(crossing), target.real

    def march(o, d, t, spread, base, space):
        enter, leave = cross(o[0], o[1], o[2], d[0], d[1], d[2], space.numbers[BOUND])
        t = select(enter > t, enter, t)
        trap = real(0)
        for _ in range(space.most):
            if not t < leave:
                return t, trap, False
            x, y, z = added(o, t, d)
            h, trap = field(x, y, z, space)
            reach = fma(spread, t, base)
            if not h > reach:
                return fma(space.numbers[PULL], h - reach, t), trap, True
            t = fma(space.numbers[STEP], fma(-space.numbers[LEAD], reach, h), t)
        return t, trap, t < leave

    return target.jit(march)


def normal_of(distances, x, y, z):  # compiled with `target.jit`
    """Return the normal of four distances, those of `TAPS`, on the side of a ray.

    x, y, z: the direction of the ray. A ray that grazes an edge meets it from behind: the normal is
    then at right angles to the ray, because a path must not go on within the solid.
    """
    p, q, r, s = distances
    u, v, w = p - q - r + s, s - p - q + r, q - p - r + s
    whole = fma(u, u, fma(v, v, w * w))
    along = fma(u, x, fma(v, y, w * z))
    along = select(along > number(0, x), along, number(0, x))
    u, v, w = fma(-along, x, u), fma(-along, y, v), fma(-along, z, w)
    square = fma(u, u, fma(v, v, w * w))
    some = (square > number(1e-30, x)) & (square > whole * number(1e-6, x))
    length = sqrt(select(some, square, number(1, x)))
    return select(some, u / length, -x), select(some, v / length, -y), select(some, w / length, -z)


def make_first_body(target, walk):
    """Return ``body(i0, j0, di, dj, out, camera, space)``: what the rays of pixels meet.

    Parameters
    ----------
    out : array of real, shape (rows, columns, 2)
        The length of a ray and the trap; a length of -1 where the ray meets nothing.
    camera : array of real
        As of `fractals.space.light`.
    space : Space
    """
    march, ahead, real = make_march(target, walk), make_ahead(target), target.real
    index = target.index

    def body(i0, j0, di, dj, out, camera, space):
        half = real(0.5)
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                o, d = ahead(real(i) + half, real(j) + half, half, half, camera)
                t, trap, hits = march(o, d, real(0), camera[CONE], real(0), space)
                out[j, i, 0] = t if hits else -real(1)
                out[j, i, 1] = trap
                i = index(i + di)
            j = index(j + dj)

    return body


def make_starts_body(target, walk):
    """Return ``body(i0, j0, di, dj, out, top, before, cone, camera, space)``: how far cones go.

    Parameters
    ----------
    out : array of real, shape (rows, columns)
        Of blocks of pixels: lengths from which on their rays are followed.
    top : int64
        The row of blocks that is the first of `out`.
    before : Starts
        Of larger blocks, in blocks of `out`.
    cone : Cone
    camera : array of real
        Whose pixels are the blocks.
    space : Space
        With the numbers of a cone.
    """
    march, ahead, real = make_march(target, walk), make_ahead(target), target.real
    start, index = target.jit(start_of), target.index

    def body(i0, j0, di, dj, out, top, before, cone, camera, space):
        half, zero = real(0.5), real(0)
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                o, d = ahead(real(i) + half, real(top + j) + half, zero, zero, camera)
                t, _, _ = march(o, d, start(i, top + j, before), cone.spread, cone.base, space)
                t = t - cone.back
                out[j, i] = select(t > zero, t, zero)
                i = index(i + di)
            j = index(j + dj)

    return body


# Numbers of a camera: its position; the directions ahead, to the right and up, of length 1; the
# size of a pixel at distance 1; half the columns and rows; the radius of the lens, the distance
# that is sharp, and a ray's footprint at distance 1; the angle of a column in a panorama, whose
# PIXEL is the angle of a row (else 0); half the distance between the eyes of a stereo pair (else
# 0). Of a pair, the columns are those of one eye's picture; in a panorama, the rows are.
POSITION, AHEAD, RIGHT, UP, PIXEL, HALF, LENS, FOCUS, CONE, COLUMN, EYE = (
    0,
    3,
    6,
    9,
    12,
    13,
    15,
    16,
    17,
    18,
    19,
)


def make_ahead(target, plain=False):
    """Return ``ahead(column, row, u, v, camera)``: where a ray starts, and its direction.

    `column` and `row`: a place in the picture, in pixels. `u`, `v`: of the lens, from 0 to 1.
    `plain`: of a camera without a lens, a panorama or a second eye, of which LLVM makes less code.
    """
    # Each number is written out: of `fractals.kernels.space.added` here LLVM makes no vectors, and
    # a picture of the sky takes 1.25 times as long.
    one_long, real = target.jit(unit), target.real

    def eye_of(place, half, m):
        """Return a place in the picture of one eye, and where that eye is: to the right."""
        if place >= half + half:
            return place - (half + half), m[EYE]
        return place, -m[EYE]

    eye_of = target.jit(eye_of)

    def around(column, row, eye, m):
        """Return a ray of a panorama; an eye is beside the middle, across its direction."""
        sine, cosine = sincos((column - m[HALF]) * m[COLUMN])
        rise, level = sincos((m[HALF + 1] - row) * m[PIXEL])
        x, y = eye * cosine, -eye * sine
        o = (
            fma(m[RIGHT], x, fma(m[AHEAD], y, m[POSITION])),
            fma(m[RIGHT + 1], x, fma(m[AHEAD + 1], y, m[POSITION + 1])),
            fma(m[RIGHT + 2], x, fma(m[AHEAD + 2], y, m[POSITION + 2])),
        )
        x, y = level * sine, level * cosine
        d = one_long(
            fma(m[RIGHT], x, fma(m[UP], rise, m[AHEAD] * y)),
            fma(m[RIGHT + 1], x, fma(m[UP + 1], rise, m[AHEAD + 1] * y)),
            fma(m[RIGHT + 2], x, fma(m[UP + 2], rise, m[AHEAD + 2] * y)),
        )
        return o, d

    around = target.jit(around)

    def flat(column, row, e, f, m):
        """Return a ray from a place of the lens, e to the right and f up."""
        x, y = (column - m[HALF]) * m[PIXEL], (m[HALF + 1] - row) * m[PIXEL]
        far = m[FOCUS]
        o = (
            fma(m[RIGHT], e, fma(m[UP], f, m[POSITION])),
            fma(m[RIGHT + 1], e, fma(m[UP + 1], f, m[POSITION + 1])),
            fma(m[RIGHT + 2], e, fma(m[UP + 2], f, m[POSITION + 2])),
        )
        # From the lens to the place that is sharp; x - e / far to the right
        x, y = fma(far, x, -e), fma(far, y, -f)
        d = one_long(
            fma(m[RIGHT], x, fma(m[UP], y, m[AHEAD] * far)),
            fma(m[RIGHT + 1], x, fma(m[UP + 1], y, m[AHEAD + 1] * far)),
            fma(m[RIGHT + 2], x, fma(m[UP + 2], y, m[AHEAD + 2] * far)),
        )
        return o, d

    flat = target.jit(flat)

    def pinhole(column, row, u, v, m):
        return flat(column, row, real(0), real(0), m)

    if plain:
        return target.jit(pinhole)

    def ahead(column, row, u, v, m):
        eye = real(0)
        if m[COLUMN] > real(0):
            if m[EYE] > real(0):
                row, eye = eye_of(row, m[HALF + 1], m)
            return around(column, row, eye, m)
        if m[EYE] > real(0):
            column, eye = eye_of(column, m[HALF], m)
        e, f = eye, real(0)
        if m[LENS] > real(0):
            sine, cosine = sincos(real(TURN) * v)
            wide = sqrt(u) * m[LENS]
            e, f = fma(wide, cosine, eye), wide * sine
        return flat(column, row, e, f, m)

    return target.jit(ahead)

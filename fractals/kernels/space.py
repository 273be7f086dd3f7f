"""Functions of points of the plane, for variations, and of space, for solids.

Each is compiled as it stands.
"""

import math
from types import FunctionType

from fractals.kernels.elementary import PI, angle, exp, log, nearest, quotient, sincos
from fractals.kernels.primitives import clamp, fma, number, select, sqrt

TINY = 1e-10  # that keeps divisors from 0


def square_of(x, y):
    """Return the square of the distance from 0."""
    return fma(x, x, y * y)


def radius(x, y):
    """Return the distance from 0."""
    return sqrt(fma(x, x, y * y))


def inverse(v):
    """Return 1 / v for v of 0 or more, which is finite for 0, too."""
    return number(1, v) / (v + number(TINY, v))


def floor(v):
    """Return the greatest whole number that is not above v."""
    k = nearest(v)
    return select(k > v, k - number(1, v), k)


def whole_part(v):
    """Return v without its fraction."""
    k = floor(abs(v))
    return select(v < number(0, v), -k, k)


def remainder(v, by):
    """Return what is left of v after whole numbers of `by`, with the sign of v."""
    return fma(-whole_part(quotient(v, by)), by, v)


def power_of(v, exponent):
    """Return v, which is 0 or more, to the power of the exponent."""
    return exp(exponent * log(v))


def tangent_of(v):
    """Return the tangent."""
    s, c = sincos(v)
    return quotient(s, c)


def gaussian(u):
    """Return a number near a normal distribution, of four uniform ones."""
    return u[0] + u[1] + u[2] + u[3] - number(2, u[0])


def inverse_cosine(v):
    """Return the arc cosine."""
    rest = fma(-v, v, number(1, v))
    return angle(v, sqrt(select(rest > number(0, v), rest, number(0, v))))


def wedged(a, r, opening, hole, count):
    """Return the point at an angle and a distance, after `count` wedges were taken from a turn."""
    turns = fma(count, a, number(PI, a)) * number(0.5 / PI, a)
    share = fma(-(opening * count), number(0.5 / PI, a), number(1, a))
    s, c = sincos(fma(a, share, floor(turns) * opening))
    return (r + hole) * c, (r + hole) * s


# --- Waves, and what they bend: of the variation "synth" (slobo777, 2009)


def wave(t, kind, skew, frequency):
    """Return the height of a wave, t periods from its beginning.

    `kind`: 0 sine, 1 cosine, 2 square, 3 saw, 4 triangle, 5 concave, 6 convex, 7 and 8 sides of a
    polygon of `frequency` corners. `skew` moves the middle of a period, from -1 to 1.
    """
    one, half, two, tiny = number(1, t), number(0.5, t), number(2, t), number(TINY, t)
    y = t - floor(t)
    middle = fma(half, skew, half)
    late = fma(half, quotient(y - middle, one - middle + tiny), half)
    early = fma(half, quotient(y - middle, middle + tiny), half)
    y = select(skew != number(0, t), select(y > middle, late, early), y)
    s, c = sincos(y * number(2 * PI, t))
    d, above = y - half, y > half
    corner = sincos(d * quotient(number(2 * PI, t), frequency))[1]
    found = select(kind == one, c, s)
    found = select(kind == two, select(above, one, -one), found)
    found = select(kind == number(3, t), fma(-two, y, one), found)
    fall = select(above, fma(number(-4, t), y, number(3, t)), fma(two, y, -one))
    found = select(kind == number(4, t), fall, found)
    found = select(kind == number(5, t), fma(number(8, t) * d, d, -one), found)
    found = select(kind == number(6, t), fma(two, sqrt(y), -one), found)
    found = select(kind == number(7, t), quotient(one, corner + tiny) - one, found)
    return select(kind == number(8, t), quotient(corner, one + tiny - corner), found)


def layered(before, base, t, p, at):
    """Return a height after the wave of the numbers p[at] to p[at + 5] was laid over it.

    They are its height, kind, skew, frequency and phase, and how it is laid: 0 added, 1 multiplied,
    2 the greater one, 3 the smaller one.
    """
    one, height, how = number(1, t), p[at], p[at + 5]
    place = quotient(fma(t, p[at + 3], p[at + 4]), number(2 * PI, t))  # never fused
    shape = wave(place, p[at + 1], p[at + 2], p[at + 3])
    own, after = fma(height, shape, base), fma(height, shape, before)
    after = select(how == one, fma(before, height * shape, before), after)
    after = select(how == number(2, t), select(before > own, before, own), after)
    after = select(how == number(3, t), select(before < own, before, own), after)
    return select(height != number(0, t), after, before)


def waves(t, p):
    """Return the height p[0] after five waves were laid over it, of the numbers from p[5] on."""
    found = layered(p[0], p[0], t, p, 5)
    found = layered(found, p[0], t, p, 11)
    found = layered(found, p[0], t, p, 17)
    found = layered(found, p[0], t, p, 23)
    return layered(found, p[0], t, p, 29)


def curved(v, m, smooth):
    """Return v times m; where `smooth` is 1, only near 0, and in a curve that ends in v itself.

    The curve is of quadratic Bezier curves, of which one ends at (1, m), where the other begins.
    """
    one, two, zero, half = number(1, v), number(2, v), number(0, v), number(0.5, v)
    far, by = abs(v), abs(m)
    down = (v < zero) != (m < zero)
    end = select(two - by > two * by, two - by, two * by)
    small = by < one
    k = select(small, by, one / select(small, one, by))
    rest = fma(-two, k, one)
    even = abs(k - half) <= number(1e-5, v)
    root = fma(k, k, rest * far)
    root = sqrt(select(root > zero, root, zero)) - k
    first = select(even, far, quotient(root, select(even, one, rest)))
    out = select(far > one, far - one, zero)
    late = sqrt(quotient(out, select(small, end - one, one)))
    late = select(small, late, one - by + sqrt(fma(by - one, by - one, out)))
    t = select(far > one, one - late, first)
    bent = fma(by - one, t * t, far)
    bent = select((far > end) | (by == one), far, bent)
    return select(smooth == one, select(down, -bent, bent), fma(v, m, zero))


# --- Maps of the hyperbolic plane, which is the unit disc


def corner_of_tile(x, p, q):
    """Return the radius of the corners of a tile with p corners, q of which meet.

    It is 1 where there is no such tiling; `x` is any number of the precision.
    """
    one, turn = number(1, x), number(2 * PI, x)
    own, others = sincos(quotient(turn, p))[1], sincos(quotient(turn, q))[1]
    rest = one - quotient(own - one, own + others)
    return select(rest > number(0, x), one / sqrt(abs(rest)), one)


def moved_in_disc(x, y, far, s, c):
    """Return (x + y i + w) / (1 + conj(w) (x + y i)), where w is far times c - s i."""
    re, im = far * c, far * s
    a, b = fma(far, c, x), fma(-far, s, y)
    c, d = fma(re, x, fma(-im, y, number(1, x))), fma(re, y, im * x)
    t = quotient(number(1, x), square_of(c, d))
    return fma(a, c, b * d) * t, fma(b, c, -(a * d)) * t


# --- Folds and rotations of space

# Half of the golden ratio, and half of its inverse: of the third mirror of an icosahedron.
HALF, REST = (math.sqrt(5) + 1) / 4, (math.sqrt(5) - 1) / 4


def folded(v, limit):
    """Return v, reflected at -limit or limit if it lies beyond."""
    return fma(number(2, v), clamp(v, -limit, limit), -v)


def bounced(v):
    """Return v, reflected at 0 and at 1 until it lies between them."""
    return abs(fma(number(-2, v), nearest(number(0.5, v) * v), v))


def inverted(x, y, z, middle, square):
    """Return a point outside a ball, and by how much space is magnified there.

    What is inside is inverted at the sphere. `square`: of the radius.
    """
    x, y, z = x - middle[0], y - middle[1], z - middle[2]
    one = number(1, x)
    f = square / fma(x, x, fma(y, y, fma(z, z, number(TINY * TINY, x))))
    f = select(f > one, f, one)
    return fma(x, f, middle[0]), fma(y, f, middle[1]), fma(z, f, middle[2]), f


def above(x, y, z, place, way):
    """Return a weight, and with it how far a point lies beyond a place in a direction.

    The weight is one over the distance to the fourth power. The product is made of a quarter, and
    taken four times, because a compiler of GPUs fuses a product with what it is added to: that of 4
    is exact, so this changes no bit.
    """
    x, y, z = x - place[0], y - place[1], z - place[2]
    square = fma(x, x, fma(y, y, fma(z, z, number(TINY, x))))
    weight = number(1, x) / (square * square)
    quarter = weight * (number(0.25, x) * fma(x, way[0], fma(y, way[1], z * way[2])))
    return weight, number(4, x) * quarter


def gap(found, first, second, square, ball):
    """Return the least of a distance, and of two points' distances to a ball.

    The ball is repeated along x, 2 apart. `first`, `second`: x and y of the points; `square`: of
    their height over the plane of its middle; `ball`: middle and radius.
    """
    x, y, u, v = first[0] - ball[0], first[1] - ball[1], second[0] - ball[0], second[1] - ball[1]
    two, half = number(2, x), number(0.5, x)
    x, u = fma(-two, nearest(half * x), x), fma(-two, nearest(half * u), u)
    x, u = fma(x, x, fma(y, y, square)), fma(u, u, fma(v, v, square))
    near = sqrt(select(x < u, x, u)) - ball[2]
    return select(near < found, near, found)


def swapped(x, y):
    """Return the larger and the smaller of two numbers: a reflection in the plane x = y."""
    return select(x > y, x, y), select(x > y, y, x)


def mirrored(x, y):
    """Return both numbers where x + y >= 0, and otherwise reflect them in the plane x + y = 0."""
    behind = x + y < number(0, x)
    return select(behind, -y, x), select(behind, -x, y)


def rotated(x, y, z, m):
    """Return the product of a matrix, nine numbers row by row, and a point."""
    return (
        fma(m[0], x, fma(m[1], y, m[2] * z)),
        fma(m[3], x, fma(m[4], y, m[5] * z)),
        fma(m[6], x, fma(m[7], y, m[8] * z)),
    )


def three(values, at):
    """Return three numbers of an array, such as a color."""
    return values[at], values[at + 1], values[at + 2]


def scaled(factor, v):
    """Return a point or a color, times a number."""
    return factor * v[0], factor * v[1], factor * v[2]


def added(v, factor, w):
    """Return the sum of a point or a color and another one, times a number."""
    return fma(factor, w[0], v[0]), fma(factor, w[1], v[1]), fma(factor, w[2], v[2])


def mixed(part, v, w):
    """Return the mean of two points or colors: v where `part` is 0, w where it is 1."""
    return (
        fma(part, w[0] - v[0], v[0]),
        fma(part, w[1] - v[1], v[1]),
        fma(part, w[2] - v[2], v[2]),
    )


def fold_tetrahedron(x, y, z):
    """Return the point's image in the cone of the corner (1, 1, 1) of a tetrahedron."""
    x, y = mirrored(x, y)
    x, z = mirrored(x, z)
    y, z = mirrored(y, z)
    return x, y, z


def fold_octahedron(x, y, z):
    """Return the point's image where x >= y >= z >= 0: one of 48, as the mirrors of a cube make."""
    x, y = swapped(abs(x), abs(y))
    x, z = swapped(x, abs(z))
    y, z = swapped(y, z)
    return x, y, z


def fold_icosahedron(x, y, z):
    """Return the point's image between three mirrors of an icosahedron, one of 120.

    They are x = 0, y = 0 and a third one, which meets them at 60 and at 36 degrees. z = 0 is one of
    the 15 mirrors, too: where z is not negative, the three bring every point there in three rounds.
    """
    z = abs(z)
    for _ in range(3):
        x, y = abs(x), abs(y)
        beyond = fma(number(-0.5, x), x, fma(number(-HALF, x), y, number(REST, x) * z))
        beyond = select(beyond < number(0, x), beyond, number(0, x))
        x = x + beyond
        y = fma(beyond, number(2 * HALF, x), y)
        z = fma(beyond, number(-2 * REST, x), z)
    return abs(x), abs(y), z


def stretch(u, v, w):
    """Return the most by which a linear map stretches, from the three columns of its matrix.

    It is the root of the largest eigenvalue of the product of the matrix with its transpose, by the
    cosine of a third of an angle (Oliver Smith, 1961).
    """
    m00 = fma(u[0], u[0], fma(u[1], u[1], u[2] * u[2]))
    m11 = fma(v[0], v[0], fma(v[1], v[1], v[2] * v[2]))
    m22 = fma(w[0], w[0], fma(w[1], w[1], w[2] * w[2]))
    m01 = fma(u[0], v[0], fma(u[1], v[1], u[2] * v[2]))
    m02 = fma(u[0], w[0], fma(u[1], w[1], u[2] * w[2]))
    m12 = fma(v[0], w[0], fma(v[1], w[1], v[2] * w[2]))
    zero, one, third = number(0, m00), number(1, m00), number(1 / 3, m00)
    mean = (m00 + m11 + m22) * third
    m00, m11, m22 = m00 - mean, m11 - mean, m22 - mean
    beside = fma(m01, m01, fma(m02, m02, m12 * m12))
    spread = fma(m00, m00, fma(m11, m11, fma(m22, m22, beside + beside)))
    spread = sqrt(spread * number(1 / 6, m00))
    inverse = one / select(spread > zero, spread, one)
    m00, m11, m22 = m00 * inverse, m11 * inverse, m22 * inverse
    m01, m02, m12 = m01 * inverse, m02 * inverse, m12 * inverse
    determinant = fma(
        m00,
        fma(m11, m22, -(m12 * m12)),
        fma(-m01, fma(m01, m22, -(m12 * m02)), m02 * fma(m01, m12, -(m11 * m02))),
    )
    cosine = clamp(determinant * number(0.5, m00), -one, one)
    _, cosine = sincos(angle(cosine, sqrt(fma(-cosine, cosine, one))) * third)
    return sqrt(fma(spread + spread, cosine, mean))


# All above, which are compiled where a kernel calls one
FUNCTIONS = tuple(
    function
    for function in list(vars().values())
    if isinstance(function, FunctionType) and function.__module__ == __name__
)


def rotation(turn: float, tilt: float, roll: float) -> tuple[float, ...]:
    """Return the matrix, row by row, that rotates about z, then about x, then about y, in degrees.

    >>> [round(v, 9) + 0.0 for v in rotation(90, 0, 0)]
    [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """
    (a, b), (c, d), (e, f) = (
        (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
        for angle in (turn, tilt, roll)
    )
    return (
        *(e * a + f * d * b, -e * b + f * d * a, f * c),
        *(c * b, c * a, -d),
        *(-f * a + e * d * b, f * b + e * d * a, e * c),
    )

"""The orbit of a point beside another one's, whose orbit is known in double-double numbers.

A reference orbit takes a microsecond or two a step in arbitrary precision. The orbit of a center
nearby is Z + z, and z, their difference, needs no more digits than its result has: perturbation
of one reference by another (FractalShark, 2023). A number here is a sum of two float64 (Dekker,
1971; Knuth, 1969), which is 106 bits. Rounded to float64, the sum is the point that arbitrary
precision gives: a picture does not depend on the orbits that were known before it.
"""

from fractals.kernels.floatexp import MAX_TINY
from fractals.kernels.primitives import fma, number, select, split, two_to

# Why an orbit ended: none of these, escaped, or nearly periodic for the whole view.
UNKNOWN, ESCAPED, PERIODIC = 0, 1, 2
# The derivative's mantissa is brought back to about 1 where it is larger, or smaller than 1 / this.
# Its square is then still in the range of float64, 1e308.
MAX_MANTISSA = 1e150
# A part of a point that is a smaller share of the whole has too few of the 106 bits to be rounded.
LEAST_PART = 2.0**-24


def make_double_double(target):
    """Return ``plus(a, b)`` and ``times(a, b)`` of sums (high, low) of two float64."""

    @target.jit
    def joined(a, b):
        """Return a + b for |a| >= |b|."""
        s = a + b
        return s, b - (s - a)

    @target.jit
    def sum_of(a, b):
        s = a + b
        c = s - a
        return s, (a - (s - c)) + (b - c)

    @target.jit
    def plus(a, b):
        s, e = sum_of(a[0], b[0])
        t, f = sum_of(a[1], b[1])
        s, e = joined(s, e + t)
        return joined(s, e + f)

    @target.jit
    def times(a, b):
        p = a[0] * b[0]
        return joined(p, fma(a[0], b[1], fma(a[1], b[0], fma(a[0], b[0], -p))))

    return plus, times


def make_complex(target):
    """Return ``plus(z, w)`` and ``times(z, w)`` of complex double-double numbers."""
    plus, times = make_double_double(target)

    @target.jit
    def complex_plus(z, w):
        return plus(z[0], w[0]), plus(z[1], w[1])

    @target.jit
    def complex_times(z, w):
        (y, low), v = z[1], w[1]
        real = plus(times(z[0], w[0]), times((-y, -low), v))
        return real, plus(times(z[0], v), times(z[1], w[0]))

    return complex_plus, complex_times


def make_growth(target):
    """Return ``grow(u, v, d, degree, factor)`` and ``scaled(k, like)``, for dZ/dc along an orbit.

    ``d`` is (p, q, e): dZ/dc = (p + iq) 2**e at Z = u + iv. ``grow`` returns that of the next
    point, of a map whose derivative is factor z**(degree - 1), and |p| + |q|.
    """
    int64 = target.int64

    @target.jit
    def product(z, w):
        return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]

    @target.jit
    def scaled(k, like):
        """Return 2**k; out of float64's range, 0 or 2**999."""
        return select(
            k < -999, number(0, like), two_to(min(max(k, int64(-1000)), int64(999)), like)
        )

    @target.jit
    def grow(u, v, d, degree, factor):
        # Squared, squared again, and so on, as Python does: the same bits, the same period.
        power, square, left = (number(1, u), number(0, u)), (u, v), degree - 1
        while left:
            if left & 1:
                power = product(power, square)
            left >>= 1
            square = product(square, square)
        p, q = product((factor * power[0], factor * power[1]), (d[0], d[1]))
        e = d[2]
        p += select(e == 0, number(1, u), scaled(-e, u))
        long = abs(p) + abs(q)
        if not (long > 1 / MAX_MANTISSA and long < MAX_MANTISSA):
            k = int64(0)
            if long > 0:
                k = split(max(abs(p), abs(q)))[1] + 1
            p, q, e = p * two_to(-k, u), q * two_to(-k, u), e + k
            long = abs(p) + abs(q)
        return (p, q, e), long

    return grow, scaled


def make_shifted_body(target, degree):
    """Return the body that follows an orbit of z -> z**degree + c from 0.

    ``body(x0, y0, dx, dy, points, found, size, orbit, low, shift, gate, radii)``: ``points`` (N, 2)
    gets the orbit of c + ``shift``, a complex double-double number, up to N - 1 steps, from
    ``orbit`` and ``low``, (M + 1, 2): the points of the orbit of c, and what their rounding left
    out. ``found`` (3,) gets the last index, why the orbit ended there, and the exponent of dZ/dc;
    ``size`` (1,) the sum of its absolute parts, without that exponent. ``gate`` is (x, e), with x
    2**e the view's full size, and ``radii`` are the three squares of
    `fractals.deep.reference.end_radii`. It gives up, with UNKNOWN, at a point that is too small for
    float64, or has a part that is much smaller than the other, or is too near the escape radius to
    tell on which side it is.
    """
    int64 = target.int64
    plus, times = make_complex(target)
    grow, scaled = make_growth(target)

    @target.jit
    def moved(Z, W, z):
        """Return W**degree - Z**degree, for W = Z + z."""
        total, power = plus(W, Z), Z  # the sum of W**k Z**(degree - 1 - k), after Horner
        for _ in range(degree - 2):
            power = times(power, Z)
            total = plus(times(total, W), power)
        return times(total, z)

    @target.jit
    def point(orbit, low, m):
        return (orbit[m, 0], low[m, 0]), (orbit[m, 1], low[m, 1])

    @target.jit
    def lost(part, Z, z, size):
        """Tell whether a part of Z + z has lost its bits; a part of 0 on an axis has not."""
        return abs(part) < LEAST_PART * size and not (part == 0 and Z[0] == 0 and z[0] == 0)

    def body(x0, y0, dx, dy, points, found, size, orbit, low, shift, gate, radii):
        inner, outer, end = radii
        zero = orbit[0, 0] - orbit[0, 0]
        z = W = (zero, zero), (zero, zero)
        u, v, d = zero, zero, (zero, zero, int64(0))
        factor = number(degree, zero)
        m, last = int64(0), orbit.shape[0] - 1
        points[0, 0], points[0, 1] = zero, zero
        found[0], found[1], found[2] = 0, UNKNOWN, 0
        for n in range(1, points.shape[0]):
            d, long = grow(u, v, d, degree, factor)
            z = plus(moved(point(orbit, low, m), W, z), shift)
            m += 1
            Z = point(orbit, low, m)
            W = plus(Z, z)
            u, v = W[0][0], W[1][0]
            points[n, 0], points[n, 1] = u, v
            found[0], found[2], size[0] = n, d[2], long
            largest = max(abs(u), abs(v))
            whole = max(largest, max(abs(z[0][0]), abs(z[1][0])))
            if lost(u, Z[0], z[0], whole) or lost(v, Z[1], z[1], whole) or largest < MAX_TINY:
                break
            square = u * u + v * v
            if square > inner:
                if square < outer:
                    break
                if square > end:
                    found[1] = ESCAPED
                    break
            if largest < gate[0] * scaled(int64(gate[1]) + d[2], zero) * long:
                found[1] = PERIODIC
                break
            if m == last or square < z[0][0] * z[0][0] + z[1][0] * z[1][0]:
                z, m = W, int64(0)  # rebased
        if found[1] == UNKNOWN:
            found[0] = 0

    return body

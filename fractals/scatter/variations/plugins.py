"""Variations that other programs have besides flam3's, by those who thought of them.

Their definitions are public with Apophysis' plug-ins and in JWildfire. What is here is written anew
from the formulas. Authors are named as they sign, with the year where it is known. `space`: there
the variation is a map of space, and this is its part in the plane.
"""

from dataclasses import replace

from fractals.kernels.elementary import PI, angle, exp, log, quotient, sincos, sinhcosh
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.space import (
    TINY,
    corner_of_tile,
    curved,
    floor,
    gaussian,
    moved_in_disc,
    power_of,
    radius,
    remainder,
    square_of,
    tangent_of,
    waves,
    whole_part,
)
from fractals.scatter.variations._offered import MAKERS, offered

# --- slobo777


@offered(
    parameters={"cellsize": 1, "space": 0, "gain": 2, "inner_twist": 0, "outer_twist": 0},
)
def bwraps7(x, y, u, p):
    """Bubble wrap: a lens in each square of a grid (slobo777, 2009)."""
    size, space, gain, inner, outer = p
    one, half, quarter = number(1, x), number(0.5, x), number(0.25, x)
    far = quotient(half * size, fma(space, space, one))
    grows = fma(gain, gain, number(1e-6, x))
    most = grows * far
    most = select(most > number(2, x), one, quotient(most, fma(most * quarter, most, one)))
    column, row = floor(quotient(x, size)) + half, floor(quotient(y, size)) + half
    cx, cy = column * size, row * size
    px, py = fma(-column, size, x), fma(-row, size, y)
    inside = (square_of(px, py) <= far * far) & (size != number(0, x))
    px, py = px * grows, py * grows
    lens = quotient(quotient(far, most), fma(quarter, square_of(px, py), one))
    px, py = px * lens, py * lens
    r = quotient(square_of(px, py), far * far)
    s, c = sincos(fma(inner, one - r, outer * r))
    a, b = fma(c, px, fma(s, py, cx)), fma(-s, px, fma(c, py, cy))
    return select(inside, a, x), select(inside, b, y)


# Apophysis' own name for it, whose gain is 1 where none is given.
MAKERS["bwraps"] = lambda: replace(
    MAKERS["bwraps7"](), name="bwraps", parameters={**MAKERS["bwraps7"]().parameters, "gain": 1}
)

WAVES = {
    f"{wave}{key}": usual
    for wave in "bcdef"
    for key, usual in {
        "": 0,
        "_type": 0,
        "_skew": 0,
        "_frq": 1,
        "_phs": 0,
        "_layer": 0,
    }.items()
}


@offered(draws=4, parameters={"a": 1, "mode": 3, "power": -2, "mix": 1, "smooth": 0, **WAVES})
def synth(x, y, u, p):
    """Shapes and distortions by a sum of five waves, in twenty modes (slobo777, 2009)."""
    mode, power, smooth = p[1], p[2], p[4]
    one, half, two = number(1, x), number(0.5, x), number(2, x)

    square, turn = square_of(x, y), angle(y, x)
    r, far = sqrt(square), exp(power * half * log(square + number(TINY, x)))
    both, along = u[0] + u[1], fma(number(2 * PI, x), u[3], number(-PI, x))
    side = fma(two, u[3], -one)
    zigzag = two * angle(sqrt(select(side * side < one, fma(-side, side, one), one - one)), side)
    ring = fma(number(0.1, x) * (both - one), power, one)
    blurred = (mode == two) | (mode == number(3, x))
    blurred = blurred | (mode == number(12, x)) | (mode == number(13, x))
    turned = (mode == number(14, x)) | (mode == number(16, x))
    moved = turned | (mode == number(15, x))
    axes = (mode > number(5, x)) & (mode < number(12, x))
    axes = axes | (mode == number(17, x)) | (mode == number(18, x))

    # Where the waves are looked up, and how high they are there
    place = select(blurred, along, select(mode == number(4, x), zigzag, turn))
    height = waves(select(axes, y, select(moved, far, place)), p)
    other = waves(x, p)
    # The distance from the middle, before and after it was changed
    old = fma(number(0.002, x), u[2], both) * number(1 / 2.002, x)
    near = half * both
    distance = select(mode == number(0, x), exp((power + one) * half * log(square)), r)
    distance = select(mode == one, quotient(r, fma(number(0.25, x), square, one)), distance)
    distance = select(
        mode == two, exp(power * half * log(fma(old, old, number(TINY, x)))), distance
    )
    distance = select(
        mode == number(3, x), exp(-power * half * log(fma(near, near, number(TINY, x)))), distance
    )
    distance = select((mode == number(4, x)) | (mode == number(12, x)), ring, distance)
    new = curved(distance, height, smooth)
    new = select(mode == two, new * old, new)
    thin = exp(power * log(u[0] + number(TINY, x)))
    new = select(mode == number(13, x), fma(number(0.1, x), thin, height), new)
    new = select(mode == number(14, x), far, select(mode == number(16, x), r, new))
    new = select(mode == number(19, x), power_of(new, power), new)
    s, c = sincos(select(turned, turn - one + height, place))
    a, b = new * s, new * c

    # Modes that move x and y by themselves
    cross, down = height - one, other - one
    right = (mode == number(6, x)) | (mode == number(8, x))
    below = (mode == number(7, x)) | (mode == number(8, x))
    shifts = (mode == number(9, x)) | (mode == number(11, x))
    falls = (mode == number(10, x)) | (mode == number(11, x))
    mirrored = (mode == number(17, x)) | (mode == number(18, x))
    ax = select(right, curved(x, height, smooth), select(shifts, x + cross, x))
    ax = select(mode == number(18, x), fma(two, cross, -x), ax)
    ay = select(below, curved(y, other, smooth), select(falls, y + down, y))
    ay = select(mirrored, fma(two, down, -y), ay)
    sine, cosine = sincos(turn)
    a = select(axes, ax, select(mode == number(15, x), fma(cross, cosine, x), a))
    b = select(axes, ay, select(mode == number(15, x), fma(-cross, sine, y), b))
    zig = mode == number(4, x)
    return select(zig, zigzag * number(1 / PI, x), a), select(zig, new - one, b)


# --- Zueuk: tilings of the hyperbolic plane
#
# The p corners of a tile, q of which meet, are moved to the middle by a map of the unit disc.


@offered(parameters={"p": 3, "q": 7, "n": 0})
def hypertile(x, y, u, p):
    """A tile of the hyperbolic plane, moved to the middle (Zueuk, 2010)."""
    s, c = sincos(quotient(number(2 * PI, x) * p[2], p[0]))
    return moved_in_disc(x, y, corner_of_tile(x, p[0], p[1]), s, c)


@offered(draws=1, parameters={"p": 3, "q": 7})
def hypertile1(x, y, u, p):
    """A tile of the hyperbolic plane at random, moved to the middle (Zueuk, 2010)."""
    s, c = sincos(quotient(number(2 * PI, x) * floor(u[0] * p[0]), p[0]))
    return moved_in_disc(x, y, corner_of_tile(x, p[0], p[1]), s, c)


@offered(draws=1, parameters={"p": 3, "q": 7})
def hypertile2(x, y, u, p):
    """A tile of the hyperbolic plane, moved and turned at random (Zueuk, 2010)."""
    one, far = number(1, x), corner_of_tile(x, p[0], p[1])
    a, c, d = x + far, fma(far, x, one), far * y
    t = quotient(one, square_of(c, d))
    a, b = fma(a, c, y * d) * t, fma(y, c, -(a * d)) * t
    s, c = sincos(quotient(number(2 * PI, x) * floor(u[0] * p[0]), p[0]))
    return fma(a, c, b * s), fma(b, c, -(a * s))


@offered(space=True, parameters={"r": 0, "a": 0, "b": 0})
def poincare3d(x, y, u, p):
    """A move of the hyperbolic space, where z is 0 (Zueuk, 2010)."""
    one, quarter = number(1, x), number(PI / 2, x)
    (s, c), (up, level) = sincos(p[1] * quarter), sincos(p[2] * quarter)
    cx, cy, cz = -(p[0] * c * level), p[0] * s * level, -(p[0] * up)
    square, size = square_of(x, y), fma(cz, cz, square_of(cx, cy))
    rest, two = fma(-cz, cz, one), number(2, x)
    dx, dy = two * cx, two * cy
    t = quotient(one, fma(size, square, fma(-dx, x, fma(-dy, y, one))))
    a = fma(x, fma(cx, cx, fma(-cy, cy, rest)), cx * (fma(dy, y, -square) - one))
    b = fma(y, fma(cy, cy, fma(-cx, cx, rest)), cy * (fma(dx, x, -square) - one))
    return a * t, b * t


# --- Michael Faber: bipolar coordinates, and halves of the angle


@offered(parameters={"in": 0, "out": 0})
def bswirl(x, y, u, p):
    """A swirl between two points (Michael Faber, 2012)."""
    one, half = number(1, x), number(0.5, x)
    more, less = x + one, one - x
    tau = half * (log(square_of(more, y)) - log(square_of(less, y)))
    sigma = number(PI, x) - angle(more, y) - angle(less, y)
    s, c = sincos(fma(tau, p[1], sigma) + quotient(p[0], tau))
    sh, ch = sinhcosh(tau)
    t = quotient(one, ch - c)
    return sh * t, s * t


@offered(parameters={"radius": 1, "distance": 0})
def bmod(x, y, u, p):
    """Rings around two points, each shifted into the next (Michael Faber, 2012)."""
    one, half = number(1, x), number(0.5, x)
    more, less = x + one, one - x
    tau = half * (log(square_of(more, y)) - log(square_of(less, y)))
    s, c = sincos(number(PI, x) - angle(more, y) - angle(less, y))
    shifted = remainder(tau + fma(p[1], p[0], p[0]), p[0] + p[0]) - p[0]
    sh, ch = sinhcosh(select(abs(tau) < p[0], shifted, tau))
    t = quotient(one, ch - c)
    return sh * t, s * t


@offered(parameters={"num": 1, "a": 0})
def bcollide(x, y, u, p):
    """Moons between two points, each moved over its neighbor (Michael Faber, 2012)."""
    one, half, pi = number(1, x), number(0.5, x), number(PI, x)
    more, less = x + one, one - x
    tau = half * (log(square_of(more, y)) - log(square_of(less, y)))
    sigma = pi - angle(more, y) - angle(less, y)
    wide = quotient(pi, p[0])
    k = whole_part(quotient(sigma, wide))
    even = floor(k * half) == k * half
    sign = select(even, one, -one)
    s, c = sincos(fma(k, wide, remainder(fma(sign * p[1], wide, sigma), wide)))
    sh, ch = sinhcosh(tau)
    t = quotient(one, ch - c)
    return sh * t, s * t


@offered(draws=1)
def glynnia(x, y, u, p):
    """Complex roots, mirrored or divided by the distance (Michael Faber, 2011)."""
    one, half, zero = number(1, x), number(0.5, x), number(0, x)
    r = radius(x, y)
    c = sqrt(select(r + x > zero, (r + x) * half, zero))
    s = sqrt(select(r - x > zero, (r - x) * half, zero))
    s = select(y < zero, -s, s)
    outside = r >= one
    c = select(outside, c, -c)
    t = quotient(one, r)
    first = u[0] < half
    return select(first, c, c * t), select(first, -s, s * t)


# --- Andreas Maschke


@offered(
    draws=1,
    weighted=True,
    parameters={"axis": 0, "centre_x": 0.25, "centre_y": 0.5, "rotation": 30},
)
def axis_symmetry_wf(x, y, u, p):
    """The point or its mirror image, moved apart and turned (Andreas Maschke, 2015)."""
    zero, half, one = number(0, x), number(0.5, x), number(1, x)
    apart = half * p[4]
    first = u[0] < half
    across, down = p[0] < half, (p[0] > half) & (p[0] < number(1.5, x))
    dx, dy = x - p[1], y - p[2]
    sign = select(first, one, -one)
    dx = select(across, sign * (dx + apart), dx)
    dy = select(down, sign * (dy + apart), dy)
    s, c = sincos(p[3] * number(PI / 180, x))
    s = select(across | down, sign * s, zero)
    c = select(across | down, c, one)
    return fma(dx, c, fma(dy, s, p[1])), fma(dy, c, fma(-dx, s, p[2]))


@offered(draws=6, adds=True, space=True)
def blur3d(x, y, u, p):
    """A random point of a ball, near a normal distribution (Andreas Maschke)."""
    s, c = sincos(number(2 * PI, x) * u[4])
    r = gaussian(u) * sincos(number(PI, x) * u[5])[0]
    return r * c, r * s


# --- Others


@offered(draws=2, adds=True)
def circleblur(x, y, u, p):
    """A random point of a disc, all as dense (Zy0rg)."""
    s, c = sincos(number(2 * PI, x) * u[1])
    r = sqrt(u[0])
    return r * c, r * s


@offered(draws=1, parameters={"n": 6, "thickness": 0, "holes": 1})
def epispiral(x, y, u, p):
    """Leaves of an epispiral (cyberxaos)."""
    a = angle(x, y)
    far = quotient(number(1, x), sincos(p[0] * a)[1])
    s, c = sincos(a)
    r = select(abs(p[1]) > number(TINY, x), fma(u[0] * p[1], far, -p[2]), far - p[2])
    return r * c, r * s


@offered(parameters={"effect": 8})
def funnel(x, y, u, p):
    """Hyperbolic tangents, times secants (Raykoid666)."""
    one, pi = number(1, x), number(PI, x)
    a, b = exp(number(-2, x) * abs(x)), exp(number(-2, x) * abs(y))
    tx, ty = quotient(one - a, one + a), quotient(one - b, one + b)
    tx, ty = select(x < one - one, -tx, tx), select(y < one - one, -ty, ty)
    return (
        tx * fma(p[0], pi, quotient(one, sincos(x)[1])),
        ty * fma(p[0], pi, quotient(one, sincos(y)[1])),
    )


@offered()
def petal(x, y, u, p):
    """Cubes of sines and cosines (Raykoid666)."""
    s, c = sincos(x)
    t = sincos(y)[1]
    a, b = c * t, s * t
    return c * a * a * a, c * b * b * b


@offered(parameters={"a": 1, "b": 1})
def squirrel(x, y, u, p):
    """Tangents, times sine and cosine of an elliptic distance (Raykoid666)."""
    s, c = sincos(sqrt(fma(p[0] * x, x, p[1] * y * y)))
    return c * tangent_of(x), s * tangent_of(y)


@offered()
def twoface(x, y, u, p):
    """One half of the plane, inverted (Raykoid666)."""
    one = number(1, x)
    r = select(x > one - one, quotient(one, square_of(x, y)), one)
    return r * x, r * y


@offered(weighted=True)
def roundspher(x, y, u, p):
    """Inversion in a circle, rounded (Raykoid666)."""
    one, square = number(1, x), square_of(x, y)
    # 1 / (square * (1 / square + 4 / pi**2)), without a division by 0
    t = p[0] * p[0] / fma(square, number(4 / PI**2, x), one)
    return t * x, t * y


@offered(
    draws=2,
    parameters={"left": -1, "top": -1, "right": 1, "bottom": 1, "scatter_area": 0, "zero": 0},
)
def crop(x, y, u, p):
    """A rectangle; other points move into its border, or to 0 (xyrus02)."""
    one, half = number(1, x), number(0.5, x)
    x0, x1 = select(p[0] < p[2], p[0], p[2]), select(p[0] < p[2], p[2], p[0])
    y0, y1 = select(p[1] < p[3], p[1], p[3]), select(p[1] < p[3], p[3], p[1])
    wide, high = (x1 - x0) * half * p[4], (y1 - y0) * half * p[4]
    left, right, above, below = x < x0, x > x1, y < y0, y > y1
    a = select(left, fma(u[0], wide, x0), select(right, fma(-u[0], wide, x1), x))
    b = select(above, fma(u[1], high, y0), select(below, fma(-u[1], high, y1), y))
    nothing = (left | right | above | below) & (p[5] != one - one)
    return select(nothing, one - one, a), select(nothing, one - one, b)


@offered(
    draws=3,
    space=True,
    parameters={
        **{"scatter": 1, "mindist": 0.5, "mul_x": 1, "mul_y": 1, "mul_z": 0},
        **{"x0": 0, "y0": 0, "z0": 0, "invert": 0, "type": 0},
    },
)
def falloff2(x, y, u, p):
    """Points scattered beyond a distance, in three ways (xyrus02)."""
    one, zero, two = number(1, x), number(0, x), number(2, x)
    far = sqrt(fma(p[7], p[7], square_of(x - p[5], y - p[6])))
    far = select(p[8] != zero, select(far < one, one - far, zero), far) - p[1]
    far = select(far > zero, far, zero) * number(0.04, x) * p[0]
    a, b, c = fma(two, u[0], -one), fma(two, u[1], -one), fma(two, u[2], -one)
    level = sincos(p[4] * c * far)[1]
    sine, cosine = sincos(fma(p[3] * b, far, angle(x, y)))
    r = fma(p[2] * a, far, radius(x, y)) * level
    turn, tilt = sincos(far * u[0] * number(2 * PI, x)), sincos(far * u[1] * number(PI, x))
    near = far * u[2] * turn[1]
    radial, blurred = p[9] == one, p[9] == two
    across = select(blurred, near * tilt[1], a * far)
    down = select(blurred, near * tilt[0], b * far)
    return (
        select(radial, r * cosine, fma(p[2], across, x)),
        select(radial, r * sine, fma(p[3], down, y)),
    )


@offered()
def unpolar(x, y, u, p):
    """Distance and angle of y and x (a plug-in of Apophysis)."""
    s, c = sincos(x)
    r = exp(y) * number(0.5 / PI, x)
    return r * s, r * c


@offered(parameters={"angle": 0, "ratio": 0})
def xheart(x, y, u, p):
    """A disc, of which one half is mirrored (xyrus02, 2009)."""
    four, zero = number(4, x), number(0, x)
    t = number(1, x) / (square_of(x, y) + four)
    s, c = sincos(fma(p[0], number(PI / 8, x), number(PI / 4, x)))
    a, b = four * t * x, fma(number(2, x), p[1], number(6, x)) * t * y
    right, up = fma(c, a, -(s * b)), fma(s, a, c * b)
    return right, select(right > zero, up, -up)

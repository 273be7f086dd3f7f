"""Maps of the angle and the distance, as variations of flames."""

from fractals.formulas.variations._offered import offered
from fractals.kernels.elementary import PI, angle, log, quotient, sincos
from fractals.kernels.plane import (
    floor,
    inverse,
    power_of,
    radius,
    remainder,
    square_of,
    wedged,
    whole_part,
)
from fractals.kernels.primitives import fma, number, select, sqrt


@offered(parameters={"high": 1, "low": 0, "waves": 1})
def blob(x, y, u, p):
    """Waves along the angle."""
    half = number(0.5, x)
    t = fma(half, sincos(p[2] * angle(y, x))[0], half)
    r = fma(p[0] - p[1], t, p[1])
    return x * r, y * r


@offered()
def diamond(x, y, u, p):
    """Sines of the angle and the distance."""
    r = radius(x, y)
    near = inverse(r)
    s, c = sincos(r)
    return x * near * c, y * near * s


@offered()
def ex(x, y, u, p):
    """Cubes of sine and cosine."""
    r, a = radius(x, y), angle(y, x)
    s, c = sincos(a + r)[0], sincos(a - r)[1]
    square, cube = s * s, c * c * c
    return r * fma(square, s, cube), r * fma(square, s, -cube)


@offered(affine=True)
def fan(x, y, u, p):
    """A fan of the affine map's size."""
    d = number(PI, x) * fma(p[2], p[2], number(1e-10, x))
    half = d * number(0.5, x)
    a, r = angle(y, x), radius(x, y)
    s, c = sincos(select(remainder(a + p[5], d) > half, a - half, a + half))
    return r * c, r * s


@offered(parameters={"x": 0, "y": 0})
def fan2(x, y, u, p):
    """A fan."""
    d = number(PI, x) * fma(p[0], p[0], number(1e-10, x))
    half = d * number(0.5, x)
    a, r = angle(y, x), radius(x, y)
    s, c = sincos(select(remainder(a + p[1], d) > half, a - half, a + half))
    return r * s, r * c


@offered()
def handkerchief(x, y, u, p):
    """Angle and distance added."""
    r, a = radius(x, y), angle(y, x)
    return r * sincos(a + r)[0], r * sincos(a - r)[1]


@offered()
def heart(x, y, u, p):
    """The angle times the distance."""
    r = radius(x, y)
    s, c = sincos(r * angle(y, x))
    return r * s, -(r * c)


@offered()
def horseshoe(x, y, u, p):
    """Twice the angle."""
    r = inverse(radius(x, y))
    return (x - y) * (x + y) * r, (x + x) * y * r


@offered(draws=1)
def julia(x, y, u, p):
    """Half the angle, one of two."""
    r = radius(x, y)
    zero, half = number(0, x), number(0.5, x)
    c = sqrt(select(r + y > zero, (r + y) * half, zero))
    s = sqrt(select(r - y > zero, (r - y) * half, zero))
    sign = select(u[0] < half, number(1, x), number(-1, x))
    return sign * c, sign * select(x < zero, -s, s)


@offered(draws=1, parameters={"power": 1, "dist": 1})
def julian(x, y, u, p):
    """A part of the angle, one of several."""
    k = floor(u[0] * abs(p[0]))
    s, c = sincos(quotient(fma(number(2 * PI, x), k, angle(x, y)), p[0]))
    r = power_of(square_of(x, y), quotient(p[1], p[0] + p[0]))
    return r * c, r * s


@offered(draws=1, parameters={"power": 1, "dist": 1})
def juliascope(x, y, u, p):
    """A part of the angle, one of several, in turn mirrored."""
    k = floor(u[0] * abs(p[0]))
    half = k * number(0.5, x)
    a = angle(x, y)
    a = select(floor(half) == half, a, -a)
    s, c = sincos(quotient(fma(number(2 * PI, x), k, a), p[0]))
    r = power_of(square_of(x, y), quotient(p[1], p[0] + p[0]))
    return r * c, r * s


@offered(parameters={"sides": 5, "power": 3, "circle": 1, "corners": 2})
def ngon(x, y, u, p):
    """A polygon."""
    part = quotient(number(2 * PI, x), p[0])
    a = angle(x, y)
    a = fma(-part, floor(quotient(a, part)), a)
    a = select(a > part * number(0.5, x), a - part, a)
    one = number(1, x)
    size = fma(p[3], one / (sincos(a)[1] + number(1e-10, x)) - one, p[2])
    r = size * inverse(power_of(square_of(x, y), p[1] * number(0.5, x)))
    return x * r, y * r


@offered()
def polar(x, y, u, p):
    """Angle and distance as x and y."""
    return angle(y, x) * number(1 / PI, x), radius(x, y) - number(1, x)


@offered()
def polar2(x, y, u, p):
    """Angle and logarithm of the distance."""
    part = number(1 / PI, x)
    return part * angle(y, x), part * number(0.5, x) * log(square_of(x, y))


@offered(affine=True)
def rings(x, y, u, p):
    """Rings of the affine map's size."""
    d = fma(p[2], p[2], number(1e-10, x))
    r = radius(x, y)
    near = inverse(r)
    t = fma(r, number(1, x) - d, remainder(r + d, d + d) - d)
    return t * y * near, t * x * near


@offered(parameters={"val": 0})
def rings2(x, y, u, p):
    """Rings."""
    d = fma(p[0], p[0], number(1e-10, x))
    r = radius(x, y)
    near = inverse(r)
    two = d + d
    t = fma(r, number(1, x) - d, fma(-two, whole_part(quotient(r + d, two)), r))
    return t * x * near, t * y * near


@offered()
def spiral(x, y, u, p):
    """A spiral."""
    r = radius(x, y)
    near = inverse(r)
    s, c = sincos(r)
    return fma(y, near, s) * near, fma(x, near, -c) * near


@offered(parameters={"angle": 0, "hole": 0, "count": 1, "swirl": 0})
def wedge(x, y, u, p):
    """Wedges taken out of the plane."""
    r = radius(x, y)
    return wedged(fma(p[3], r, angle(x, y)), r, p[0], p[1], p[2])


@offered(draws=1, parameters={"angle": 0, "count": 1, "power": 1, "dist": 0})
def wedge_julia(x, y, u, p):
    """A part of the angle, one of several, with wedges taken out."""
    opening, count, power, dist = p
    k = floor(u[0] * abs(power))
    a = quotient(fma(number(2 * PI, x), k, angle(x, y)), power)
    r = power_of(square_of(x, y), quotient(dist, power + power))
    return wedged(a, r, opening, number(0, x), count)


@offered(parameters={"angle": 0, "hole": 0, "count": 1, "swirl": 0})
def wedge_sph(x, y, u, p):
    """Wedges taken out of the inverted plane."""
    r = inverse(radius(x, y))
    return wedged(fma(p[3], r, angle(x, y)), r, p[0], p[1], p[2])

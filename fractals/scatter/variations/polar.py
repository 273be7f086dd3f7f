"""Angles and distances, circles, lenses and inversions, as variations of flames."""

from fractals.kernels.elementary import PI, angle, log, quotient, sincos, sinhcosh
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.space import (
    floor,
    inverse,
    inverse_cosine,
    power_of,
    radius,
    remainder,
    square_of,
    wedged,
    whole_part,
)
from fractals.scatter.variations._offered import offered


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


# --- Circles, discs, lenses and inversions

SCALE = 1 / 11.57034632  # so that the disc is about 1 wide


@offered(parameters={"shift": 0})
def bipolar(x, y, u, p):
    """Bipolar coordinates."""
    one, zero, quarter = number(1, x), number(0, x), number(PI / 2, x)
    t = square_of(x, y)
    a = fma(number(0.5, x), angle(t - one, y + y), -(quarter * p[0]))
    above = remainder(a + quarter, number(PI, x)) - quarter
    below = quarter - remainder(quarter - a, number(PI, x))
    a = select(a > quarter, above, select(a < -quarter, below, a))
    f, g = t + one + (x + x), t + one - (x + x)
    share = quotient(f, g)
    seen = (g != zero) & (share > zero)
    far = number(0.5 / PI, x) * log(select(seen, share, one))
    return select(seen, far, zero), select(seen, number(2 / PI, x) * a, zero)


@offered()
def bubble(x, y, u, p):
    """The plane as a disc."""
    r = number(4, x) / (square_of(x, y) + number(4, x))
    return x * r, y * r


@offered(parameters={"c1": 1, "c2": 0})
def curl(x, y, u, p):
    """Inverted in a curve."""
    re = fma(p[0], x, fma(p[1], fma(x, x, -(y * y)), number(1, x)))
    im = fma(p[0], y, p[1] * (x + x) * y)
    r = quotient(number(1, x), fma(re, re, im * im))
    return fma(x, re, y * im) * r, fma(y, re, -(x * im)) * r


@offered()
def disc(x, y, u, p):
    """The distance as an angle."""
    a = angle(y, x) * number(1 / PI, x)
    s, c = sincos(number(PI, x) * radius(x, y))
    return s * a, c * a


@offered(parameters={"rot": 0, "twist": 0})
def disc2(x, y, u, p):
    """A spiral of stripes on a disc."""
    one, turn = number(1, x), number(2 * PI, x)
    s, c = sincos(p[1])
    # A twist of more than a turn moves the middle further and further away.
    far = one + select(p[1] > turn, p[1] - turn, select(p[1] < -turn, p[1] + turn, number(0, x)))
    sine, cosine = sincos(p[0] * number(PI, x) * (x + y))
    r = angle(y, x) * number(1 / PI, x)
    return r * fma(c - one, far, sine), r * fma(s, far, cosine)


@offered()
def edisc(x, y, u, p):
    """A disc by elliptic coordinates."""
    one, half, zero = number(1, x), number(0.5, x), number(0, x)
    t = square_of(x, y) + one
    far = half * (sqrt(abs(t + (x + x))) + sqrt(abs(t - (x + x))))
    rest = far - one
    s, c = sincos(log(far + sqrt(select(rest > zero, rest, zero))))
    sh, ch = sinhcosh(-inverse_cosine(quotient(x, far)))
    scale = number(SCALE, x)
    return scale * ch * c, scale * sh * select(y > zero, -s, s)


@offered()
def elliptic(x, y, u, p):
    """Elliptic coordinates."""
    one, zero = number(1, x), number(0, x)
    t = square_of(x, y) + one
    far = number(0.5, x) * (sqrt(abs(t + (x + x))) + sqrt(abs(t - (x + x))))
    a = quotient(x, far)
    b, rest = fma(-a, a, one), far - one
    b = sqrt(select(b > zero, b, zero))
    rest = sqrt(select(rest > zero, rest, zero))
    up = log(far + rest) * number(2 / PI, x)
    return angle(b, a) * number(2 / PI, x), select(y > zero, up, -up)


@offered()
def eyefish(x, y, u, p):
    """A lens."""
    r = number(2, x) / (radius(x, y) + number(1, x))
    return x * r, y * r


@offered()
def fisheye(x, y, u, p):
    """A lens that swaps x and y."""
    r = number(2, x) / (radius(x, y) + number(1, x))
    return y * r, x * r


@offered(weighted=True, parameters={"spread": 0})
def flux(x, y, u, p):
    """Lines of flow between two points."""
    w = p[1]
    more, less = x + w, x - w
    r = sqrt(quotient(radius(more, y), radius(less, y)))
    s, c = sincos(number(0.5, x) * (angle(less, y) - angle(more, y)))
    r = r * w * (number(2, x) + p[0])
    return r * c, r * s


@offered()
def foci(x, y, u, p):
    """Two foci."""
    sh, ch = sinhcosh(x)
    s, c = sincos(y)
    t = quotient(number(1, x), ch - c)
    return sh * t, s * t


@offered()
def hemisphere(x, y, u, p):
    """The plane as half of a sphere."""
    r = number(1, x) / sqrt(square_of(x, y) + number(1, x))
    return x * r, y * r


@offered()
def hyperbolic(x, y, u, p):
    """Inverted across, kept upwards."""
    r = inverse(square_of(x, y))
    return x * r, y


@offered(weighted=True, parameters={"spin": 0, "space": 0, "twist": 0, "x": 0, "y": 0})
def lazysusan(x, y, u, p):
    """A turned disc."""
    w = p[5]
    px, py = x - p[3], y + p[4]
    r = radius(px, py)
    s, c = sincos(angle(px, py) + fma(p[2], w - r, p[0]))
    far = w * fma(p[1], inverse(r), number(1, x))
    inside, near = r < w, w * r
    return (
        select(inside, fma(near, c, p[3]), fma(far, px, p[3])),
        select(inside, fma(near, s, -p[4]), fma(far, py, -p[4])),
    )


@offered(weighted=True)
def loonie(x, y, u, p):
    """A disc turned inside out."""
    r, w = square_of(x, y), p[0] * p[0]
    inside = (r < w) & (r > number(0, x))
    t = quotient(w, select(inside, r, w)) - number(1, x)
    t = select(inside, p[0] * sqrt(t), p[0])
    return t * x, t * y


@offered(
    parameters={
        "re_a": 0,
        "im_a": 0,
        "re_b": 0,
        "im_b": 0,
        "re_c": 0,
        "im_c": 0,
        "re_d": 0,
        "im_d": 0,
    }
)
def mobius(x, y, u, p):
    """A map of circles to circles."""
    above, up = fma(p[0], x, fma(-p[1], y, p[2])), fma(p[0], y, fma(p[1], x, p[3]))
    below, down = fma(p[4], x, fma(-p[5], y, p[6])), fma(p[4], y, fma(p[5], x, p[7]))
    r = quotient(number(1, x), square_of(below, down))
    return fma(above, below, up * down) * r, fma(up, below, -(above * down)) * r


@offered(parameters={"angle": 0, "dist": 0})
def perspective(x, y, u, p):
    """Seen at an angle."""
    s, c = sincos(p[0] * number(PI / 2, x))
    t = quotient(number(1, x), fma(-y, s, p[1]))
    return p[1] * x * t, p[1] * c * y * t


@offered(weighted=True)
def scry(x, y, u, p):
    """Inverted and pulled in."""
    t = square_of(x, y)
    one = number(1, x)
    tiny = number(1e-10, x)
    r = quotient(one, fma(sqrt(t), t + quotient(one, p[0] + tiny), tiny))
    return x * r, y * r


@offered(weighted=True)
def secant2(x, y, u, p):
    """The secant of the distance."""
    one = number(1, x)
    c = sincos(p[0] * radius(x, y))[1]
    secant = quotient(one, c)
    return p[0] * x, p[0] * select(c < number(0, x), secant + one, secant - one)


@offered()
def spherical(x, y, u, p):
    """Inversion in the unit circle."""
    r = inverse(square_of(x, y))
    return x * r, y * r


@offered()
def swirl(x, y, u, p):
    """A turn by the square of the distance."""
    s, c = sincos(square_of(x, y))
    return fma(s, x, -(c * y)), fma(c, x, s * y)


@offered(weighted=True, parameters={"inside": 0, "outside": 0})
def whorl(x, y, u, p):
    """A whorl."""
    r, w = radius(x, y), p[2]
    a = angle(x, y) + quotient(select(r < w, p[0], p[1]), w - r)
    s, c = sincos(a)
    return w * r * c, w * r * s

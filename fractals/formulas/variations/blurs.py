"""Random points: blurs, and what is drawn by them, as variations of flames."""

from fractals.formulas.variations._offered import offered
from fractals.kernels.elementary import PI, angle, log, quotient, sincos
from fractals.kernels.plane import (
    gaussian,
    inverse,
    inverse_cosine,
    power_of,
    radius,
    square_of,
    tangent_of,
    whole_part,
)
from fractals.kernels.primitives import fma, number, select


@offered(draws=1, weighted=True, adds=True)
def arch(x, y, u, p):
    """Random points of an arch."""
    s, c = sincos(u[0] * p[0] * number(PI, x))
    return p[0] * s, p[0] * quotient(s * s, c)


@offered(draws=1, weighted=True)
def blade(x, y, u, p):
    """Random blades."""
    s, c = sincos(u[0] * p[0] * radius(x, y))
    return p[0] * x * (c + s), p[0] * x * (c - s)


@offered(draws=2, adds=True)
def blur(x, y, u, p):
    """A random point of a disc."""
    s, c = sincos(number(2 * PI, x) * u[0])
    return u[1] * c, u[1] * s


@offered(draws=1, parameters={"eccentricity": 1, "holes": 0})
def conic(x, y, u, p):
    """Random points of conic sections."""
    near = inverse(radius(x, y))
    t = fma(p[0], x * near, number(1, x))
    r = quotient((u[0] - p[1]) * p[0], t) * near
    return r * x, r * y


@offered(draws=1, parameters={"holes": 0, "petals": 0})
def flower(x, y, u, p):
    """Random petals."""
    r = (u[0] - p[0]) * sincos(p[1] * angle(x, y))[1] * inverse(radius(x, y))
    return r * x, r * y


@offered(draws=5, adds=True)
def gaussian_blur(x, y, u, p):
    """A random point near 0."""
    s, c = sincos(number(2 * PI, x) * u[4])
    r = gaussian(u)
    return r * c, r * s


@offered(draws=2)
def noise(x, y, u, p):
    """A random part of the way, at a random angle."""
    s, c = sincos(number(2 * PI, x) * u[0])
    return u[1] * x * c, u[1] * y * s


@offered(draws=2, parameters={"height": 0, "width": 0})
def parabola(x, y, u, p):
    """Random parabolas."""
    s, c = sincos(radius(x, y))
    return p[0] * s * s * u[0], p[1] * c * u[1]


@offered(draws=3, adds=True, parameters={"slices": 6, "rotation": 0, "thickness": 0.5})
def pie(x, y, u, p):
    """Random points in slices."""
    k = whole_part(fma(u[0], p[0], number(0.5, x)))
    s, c = sincos(fma(quotient(number(2 * PI, x), p[0]), fma(u[1], p[2], k), p[1]))
    return u[2] * c, u[2] * s


@offered(draws=4, weighted=True, parameters={"angle": 0})
def radial_blur(x, y, u, p):
    """A random turn and zoom."""
    s, c = sincos(p[0] * number(PI / 2, x))
    t = p[1] * gaussian(u)
    r = radius(x, y)
    sine, cosine = sincos(fma(t, s, angle(x, y)))
    far = fma(t, c, number(-1, x))
    return fma(r, cosine, far * x), fma(r, sine, far * y)


@offered(draws=1, weighted=True)
def rays(x, y, u, p):
    """Random rays."""
    w = p[0]
    r = w * inverse(square_of(x, y)) * w * tangent_of(w * u[0] * number(PI, x))
    return r * sincos(x)[1], r * sincos(y)[0]


@offered(draws=2, adds=True, parameters={"power": 1})
def sineblur(x, y, u, p):
    """A random point of a disc, denser inside."""
    s, c = sincos(number(2 * PI, x) * u[0])
    one = number(1, x)
    t = power_of(one - u[1], p[0])
    r = inverse_cosine(fma(number(2, x), t, -one)) * number(1 / PI, x)
    return r * c, r * s


@offered(draws=2, adds=True)
def square(x, y, u, p):
    """A random point of a square."""
    half = number(0.5, x)
    return u[0] - half, u[1] - half


@offered(draws=1, parameters={"rnd": 0, "m": 0, "n1": 1, "n2": 1, "n3": 1, "holes": 0})
def super_shape(x, y, u, p):
    """The plane along Gielis's superformula."""
    share, count, outer, first, second, holes = p
    one, quarter, r = number(1, x), number(0.25, x), radius(x, y)
    s, c = sincos(fma(count * quarter, angle(x, y), number(PI / 4, x)))
    shape = power_of(power_of(abs(c), first) + power_of(abs(s), second), quotient(-one, outer))
    far = fma(share, u[0], fma(one - share, r, -holes))
    scale = quotient(far * shape, r)
    return scale * x, scale * y


@offered(draws=1, weighted=True)
def twintrian(x, y, u, p):
    """Random leaves."""
    s, c = sincos(u[0] * p[0] * radius(x, y))
    far = select(
        s == number(0, x), number(-30, x), fma(log(s * s), number(0.4342944819032518, x), c)
    )
    return p[0] * x * far, p[0] * x * fma(number(-PI, x), s, far)

"""Maps of each axis: scales, waves, and sines, as variations of flames."""

from fractals.formulas.variations._offered import offered
from fractals.kernels.elementary import PI, exp, quotient, sincos
from fractals.kernels.plane import square_of, tangent_of
from fractals.kernels.primitives import fma, number, select, sqrt


@offered(parameters={"sym": 0, "weight": 0.5, "freq": 1, "scale": 0})
def auger(x, y, u, p):
    """A screw."""
    s, t = sincos(p[2] * x)[0], sincos(p[2] * y)[0]
    half = p[3] * number(0.5, x)
    dx = p[1] * fma(abs(x), t, half * t)
    return fma(p[0], dx, x), fma(p[1], fma(abs(y), s, half * s), y)


@offered()
def butterfly(x, y, u, p):
    """Two wings."""
    two = y + y
    r = sqrt(quotient(abs(y * x), square_of(x, two) + number(1e-10, x)))
    r = r * number(1.3029400317411197, x)
    return x * r, two * r


@offered()
def cross(x, y, u, p):
    """A cross."""
    r = quotient(number(1, x), abs((x - y) * (x + y)) + number(1e-10, x))
    return x * r, y * r


@offered(parameters={"xamp": 0, "yamp": 0, "xlength": 1, "ylength": 1})
def curve(x, y, u, p):
    """A bell along each axis."""
    tiny = number(1e-10, x)
    across, down = fma(p[2], p[2], tiny), fma(p[3], p[3], tiny)
    return (
        fma(p[0], exp(quotient(-(y * y), across)), x),
        fma(p[1], exp(quotient(-(x * x), down)), y),
    )


@offered()
def cylinder(x, y, u, p):
    """The sine of x."""
    return sincos(x)[0], y


@offered()
def linear(x, y, u, p):
    """The identity."""
    return x, y


@offered(parameters={"separation": 1, "frequency": 3.141592653589793, "amplitude": 1, "damping": 0})
def oscilloscope(x, y, u, p):
    """Mirrored within a wave."""
    wave = sincos(number(2 * PI, x) * p[1] * x)[1]
    t = fma(p[2] * exp(-(abs(x) * p[3])), wave, p[0])
    return x, select(abs(y) <= t, -y, y)


@offered(parameters={"a": 0, "b": 0, "c": 0, "d": 0})
def pdj(x, y, u, p):
    """The map of Peter de Jong."""
    return (
        sincos(p[0] * y)[0] - sincos(p[1] * x)[1],
        sincos(p[2] * x)[0] - sincos(p[3] * y)[1],
    )


@offered(affine=True)
def popcorn(x, y, u, p):
    """Sines of tangents, of the affine map's size."""
    three = number(3, x)
    across, down = sincos(tangent_of(three * y))[0], sincos(tangent_of(three * x))[0]
    return fma(p[2], across, x), fma(p[5], down, y)


@offered(parameters={"x": 0, "y": 0, "c": 0})
def popcorn2(x, y, u, p):
    """Sines of tangents."""
    across, down = sincos(tangent_of(y * p[2]))[0], sincos(tangent_of(x * p[2]))[0]
    return fma(p[0], across, x), fma(p[1], down, y)


@offered()
def sinusoidal(x, y, u, p):
    """The sines of x and y."""
    return sincos(x)[0], sincos(y)[0]


@offered()
def tangent(x, y, u, p):
    """Quotients of sines and cosines."""
    s, c = sincos(y)
    return quotient(sincos(x)[0], c), quotient(s, c)


@offered(affine=True)
def waves(x, y, u, p):
    """Waves of the affine map's size."""
    one, tiny = number(1, x), number(1e-10, x)
    across, down = one / fma(p[2], p[2], tiny), one / fma(p[5], p[5], tiny)
    return fma(p[1], sincos(y * across)[0], x), fma(p[4], sincos(x * down)[0], y)


@offered(parameters={"freqx": 2, "scalex": 1, "freqy": 2, "scaley": 1})
def waves2(x, y, u, p):
    """Waves."""
    return fma(p[1], sincos(y * p[0])[0], x), fma(p[3], sincos(x * p[2])[0], y)

"""Functions of complex numbers, as variations of flames."""

from fractals.formulas.variations._offered import offered
from fractals.kernels.elementary import PI, angle, exp, log, quotient, sincos, sinhcosh
from fractals.kernels.plane import floor, inverse, power_of, radius, square_of
from fractals.kernels.primitives import fma, number


@offered()
def cos(x, y, u, p):
    """The complex cosine."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    return c * ch, -(s * sh)


@offered()
def cosh(x, y, u, p):
    """The complex hyperbolic cosine."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    return ch * c, sh * s


@offered()
def cosine(x, y, u, p):
    """The complex cosine of pi times x."""
    s, c = sincos(number(PI, x) * x)
    sh, ch = sinhcosh(y)
    return c * ch, -(s * sh)


@offered()
def cot(x, y, u, p):
    """The complex cotangent."""
    s, c = sincos(x + x)
    sh, ch = sinhcosh(y + y)
    t = quotient(number(1, x), ch - c)
    return t * s, -(t * sh)


@offered()
def coth(x, y, u, p):
    """The complex hyperbolic cotangent."""
    s, c = sincos(y + y)
    sh, ch = sinhcosh(x + x)
    t = quotient(number(1, x), ch - c)
    return t * sh, t * s


@offered(draws=1, parameters={"r": 1, "i": 0, "power": 1})
def cpow(x, y, u, p):
    """A complex power, one of several."""
    a, far = angle(x, y), number(0.5, x) * log(square_of(x, y))
    c, d = quotient(p[0], p[2]), quotient(p[1], p[2])
    turn = quotient(number(2 * PI, x), p[2]) * floor(p[2] * u[0])
    sine, cosine = sincos(fma(c, a, fma(d, far, turn)))
    r = exp(fma(c, far, -(d * a)))
    return r * cosine, r * sine


@offered()
def csc(x, y, u, p):
    """The complex cosecant."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    t = quotient(number(2, x), sinhcosh(y + y)[1] - sincos(x + x)[1])
    return t * s * ch, -(t * c * sh)


@offered()
def csch(x, y, u, p):
    """The complex hyperbolic cosecant."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    t = quotient(number(2, x), sinhcosh(x + x)[1] - sincos(y + y)[1])
    return t * sh * c, -(t * ch * s)


@offered(parameters={"beta": 0})
def escher(x, y, u, p):
    """A complex power."""
    a, far = angle(x, y), number(0.5, x) * log(square_of(x, y))
    s, c = sincos(p[0])
    half = number(0.5, x)
    c, d = fma(half, c, half), half * s
    sine, cosine = sincos(fma(c, a, d * far))
    r = exp(fma(c, far, -(d * a)))
    return r * cosine, r * sine


@offered()
def exp_(x, y, u, p):
    """The complex exponential."""
    r = exp(x)
    s, c = sincos(y)
    return r * c, r * s


@offered()
def exponential(x, y, u, p):
    """E to the power of x, at an angle of y."""
    r = exp(x - number(1, x))
    s, c = sincos(number(PI, x) * y)
    return r * c, r * s


@offered()
def log_(x, y, u, p):
    """The complex logarithm."""
    return number(0.5, x) * log(square_of(x, y)), angle(x, y)


@offered()
def power(x, y, u, p):
    """The distance to the power of a sine."""
    r = radius(x, y)
    near = inverse(r)
    s, c = x * near, y * near
    far = power_of(r, s)
    return far * c, far * s


@offered()
def sec(x, y, u, p):
    """The complex secant."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    t = quotient(number(2, x), sincos(x + x)[1] + sinhcosh(y + y)[1])
    return t * c * ch, t * s * sh


@offered()
def sech(x, y, u, p):
    """The complex hyperbolic secant."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    t = quotient(number(2, x), sincos(y + y)[1] + sinhcosh(x + x)[1])
    return t * c * ch, -(t * s * sh)


@offered()
def sin(x, y, u, p):
    """The complex sine."""
    s, c = sincos(x)
    sh, ch = sinhcosh(y)
    return s * ch, c * sh


@offered()
def sinh(x, y, u, p):
    """The complex hyperbolic sine."""
    s, c = sincos(y)
    sh, ch = sinhcosh(x)
    return sh * c, ch * s


@offered()
def tan(x, y, u, p):
    """The complex tangent."""
    s, c = sincos(x + x)
    sh, ch = sinhcosh(y + y)
    t = quotient(number(1, x), c + ch)
    return t * s, t * sh


@offered()
def tanh(x, y, u, p):
    """The complex hyperbolic tangent."""
    s, c = sincos(y + y)
    sh, ch = sinhcosh(x + x)
    t = quotient(number(1, x), c + ch)
    return t * sh, t * s

"""Functions of complex numbers, waves, cells and random points, as variations of flames."""

from fractals.kernels.elementary import PI, angle, exp, log, nearest, quotient, sincos, sinhcosh
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.space import (
    floor,
    gaussian,
    inverse,
    inverse_cosine,
    power_of,
    radius,
    remainder,
    square_of,
    tangent_of,
    whole_part,
)
from fractals.scatter.variations._offered import offered


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


# --- Maps of each axis: scales, waves, and sines


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


# --- Cells, stripes and halves of the plane


@offered()
def bent(x, y, u, p):
    """Another scale left and below."""
    zero = number(0, x)
    return select(x < zero, x + x, x), select(y < zero, y * number(0.5, y), y)


@offered(parameters={"x": 1, "y": 1})
def bent2(x, y, u, p):
    """Scales left and below."""
    zero = number(0, x)
    return select(x < zero, x * p[0], x), select(y < zero, y * p[1], y)


@offered(draws=1)
def boarders(x, y, u, p):
    """Squares with frames, smaller by half."""
    zero, half, quarter = number(0, x), number(0.5, x), number(0.25, x)
    column, row = nearest(x), nearest(y)
    dx, dy = x - column, y - row
    a, b = fma(dx, half, column), fma(dy, half, row)
    # Three of four points go into the frame, towards the side that is next.
    across = select(dx >= zero, quarter, -quarter)
    down = select(dy >= zero, quarter, -quarter)
    beside = abs(dx) >= abs(dy)
    right = select(beside, across, down * quotient(dx, dy))
    up = select(beside, across * quotient(dy, dx), down)
    inner = u[0] >= number(0.75, x)
    return select(inner, a, a + right), select(inner, b, b + up)


@offered(parameters={"size": 1})
def cell(x, y, u, p):
    """The cells of a grid moved apart."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    column, row = floor(quotient(x, p[0])), floor(quotient(y, p[0]))
    dx, dy = fma(-column, p[0], x), fma(-row, p[0], y)
    # Cells of the first quadrant go to every other place; the rest fills the places between.
    column = select(column >= zero, two * column, -fma(two, column, one))
    row = select(row >= zero, two * row, -fma(two, row, one))
    return fma(column, p[0], dx), -fma(row, p[0], dy)


@offered(parameters={"x": 1, "y": 1})
def modulus(x, y, u, p):
    """Folded into a rectangle."""
    px = select(x > p[0], remainder(x + p[0], p[0] + p[0]) - p[0], x)
    px = select(x < -p[0], p[0] - remainder(p[0] - x, p[0] + p[0]), px)
    py = select(y > p[1], remainder(y + p[1], p[1] + p[1]) - p[1], y)
    py = select(y < -p[1], p[1] - remainder(p[1] - y, p[1] + p[1]), py)
    return px, py


@offered(parameters={"x": 1, "y": 1})
def rectangles(x, y, u, p):
    """Each cell of a grid mirrored."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    across = fma(fma(two, floor(quotient(x, p[0])), one), p[0], -x)
    down = fma(fma(two, floor(quotient(y, p[1])), one), p[1], -y)
    return select(p[0] == zero, x, across), select(p[1] == zero, y, down)


@offered(parameters={"x": 0, "xinside": 0, "y": 0, "yinside": 0})
def separation(x, y, u, p):
    """The halves moved apart."""
    zero = number(0, x)
    across, down = sqrt(fma(x, x, p[0] * p[0])), sqrt(fma(y, y, p[2] * p[2]))
    return (
        select(x > zero, fma(-x, p[1], across), -fma(x, p[1], across)),
        select(y > zero, fma(-y, p[3], down), -fma(y, p[3], down)),
    )


@offered(parameters={"xsize": 0, "ysize": 0})
def split(x, y, u, p):
    """Mirrored in stripes."""
    zero, pi = number(0, x), number(PI, x)
    across, down = sincos(y * p[1] * pi)[1], sincos(x * p[0] * pi)[1]
    return select(across >= zero, x, -x), select(down >= zero, y, -y)


@offered(parameters={"x": 0, "y": 0})
def splits(x, y, u, p):
    """The halves moved apart, straight."""
    zero = number(0, x)
    return select(x >= zero, x + p[0], x - p[0]), select(y >= zero, y + p[1], y - p[1])


@offered(parameters={"space": 0, "warp": 0})
def stripes(x, y, u, p):
    """Stripes."""
    k = floor(x + number(0.5, x))
    rest = x - k
    return fma(rest, number(1, x) - p[0], k), fma(rest * rest, p[1], y)


# --- Random points: blurs, and what is drawn by them


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

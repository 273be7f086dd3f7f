"""The maps of the table of formulas, written a second time, in real and imaginary parts.

As `naive`, this file imports nothing of `fractals`. A map takes z, c and the z before, numbers of
mpmath, and its options; `CRITICAL` has the points where orbits start, as functions of c.
"""

from mpmath import cos, cosh, diff, exp, log, mp, mpc, mpf, pi, power, sin, sinh, sqrt

mp.dps = 50


def parts(z):
    return z.real, z.imag


def raised(x, y, n):
    """Return real and imaginary part of (x + iy)**n."""
    u, v = mpf(1), mpf(0)
    for _ in range(n):
        u, v = u * x - v * y, u * y + v * x
    return u, v


def ship(x_of, y_of, u_of, v_of, usual):
    """Return a map that changes x and y, takes a power, and changes its parts."""

    def step(z, c, before, power=usual):
        u, v = raised(x_of(z.real), y_of(z.imag), power)
        return mpc(u_of(u), v_of(v)) + c

    return step


def same(value):
    return value


def minus(value):
    return -value


def lower(value):
    return -abs(value)


# Powers


def glynn(z, c, before, power=1.5):
    return exp(mpf(power) * log(z)) + c


def marks_mandelbrot(z, c, before, power=1):
    for _ in range(power):
        z = z * sqrt(c)
    return z * z + c


def inverse_mandelbrot(z, c, before, shift=0.0):
    return z * z + c.conjugate() / abs(c) ** 2 + shift


def modulus_power(z, c, before, power=3, times=2):
    u, v = raised(*parts(z), power)
    return mpc(u, v) * sqrt(z.real**2 + z.imag**2) ** times + c


# Absolute values


def moth_buffalo(z, c, before):
    x, y = abs(z.real), abs(z.imag)
    return mpc(x * x - y * y - x, 2 * x * y - y) + c


# Polynomials


def power_lambda(z, c, before, power=2):
    return c * z - c * mpc(*raised(*parts(z), power + 1))


def inverse_lambda(z, c, before):
    return (mpf(1) / 4 - (z - mpf(1) / 2) ** 2) / c


def cubic(z, c, before, constant=0.5):
    return (z - c) ** 2 * (z + 2 * c) - 2 * c**3 + mpf(constant)


def cactus(z, c, before):
    return z * (z * z - 1) + c * (z - 1)


def trice(z, c, before):
    return z * (z + 1) / 2 + c


# Rational maps


def mcmullen(z, c, before, n=3, m=3):
    return (mpc(*raised(*parts(z), n + m)) + c) / mpc(*raised(*parts(z), m))


def zubieta(z, c, before):
    return (z**3 + c) / z


def perturbed_basilica(z, c, before):
    return (z**4 - z**2 + c) / z**2


def basilica_matings(z, c, before):
    return c / ((z + 1) ** 2 - 1)


def talis(z, c, before, power=2, constant=1.0):
    return z / (1 + mpf(constant) / mpc(*raised(*parts(z), power - 1))) + c


# With memory


def manowar(z, c, before):
    return z * z + c + before


def power_phoenix(z, c, before, power=3, memory=-0.5):
    return mpc(*raised(*parts(z), power - 1)) * (z + c) + mpf(memory) * before


def ushiki(z, c, before, constant=0.56667):
    return z * z + c * before + mpf(constant)


# Functions


def cosine(z, c, before):
    return c * (exp(1j * z) + exp(-1j * z)) / 2


def sine_plus(z, c, before):
    x, y = parts(z)
    return mpc(sin(x) * cosh(y), cos(x) * sinh(y)) + c


def cosine_plus(z, c, before):
    x, y = parts(z)
    return mpc(cos(x) * cosh(y), -sin(x) * sinh(y)) + c


def sine_of_square(z, c, before):
    return sine_plus(mpc(*raised(*parts(z), 2)), c, before)


def pickover(z, c, before):
    return sine_plus(z, c, before) + z * z


def cosine_square(z, c, before):
    return cosine_plus(z, c, before) + z * z


def cosh_square(z, c, before):
    return (exp(z) + exp(-z)) / 2 + z * z + c


def exponential(z):
    x, y = parts(z)
    return exp(x) * mpc(cos(y), sin(y))


def exponential_square(z, c, before):
    return exponential(z) + z * z + c


def capture_zones(z, c, before, power=2):
    return c * mpc(*raised(*parts(z), power)) * exponential(z)


def tetration(z, c, before):
    return power(c, z)


def power_tower(z, c, before, power=2):
    return exp(z * log(z)) + mpc(*raised(*parts(z), power)) + c


def gauss_map(z, c, before, alpha=4.9):
    return exponential(-mpf(alpha) * z * z) + c


def sine_times(z, c, before):
    return c * z * sine_plus(z, mpc(0), before)


# Cases


def barnsley1(z, c, before):
    return c * (z - 1 if z.real >= 0 else z + 1)


def barnsley2(z, c, before):
    return c * (z - 1 if z.real * c.imag + c.real * z.imag >= 0 else z + 1)


def barnsley3(z, c, before):
    x, y = parts(z)
    more = mpc(0) if x > 0 else mpc(c.real * x, c.imag * x)
    return mpc(x * x - y * y - 1, 2 * x * y) + more


def sierpinski_triangle(z, c, before):
    x, y = parts(z)
    if y > mpf(1) / 2:
        return mpc(2 * x, 2 * y - 1)
    return mpc(2 * x - 1, 2 * y) if x > mpf(1) / 2 else 2 * z


def henon_basin(z, c, before, a=1.4, b=0.3):
    x, y = parts(z)
    return mpc(1 - mpf(a) * x * x + y, mpf(b) * x)


# Root finding, by derivatives that mpmath finds


def cube_less_1(z):
    return z**3 - 1


def slopes(f, z):
    """Return f and its derivatives, up to the third, at z."""
    return [f(z), *(diff(f, z, n) for n in (1, 2, 3))]


def newtons(f, z):
    return z - f(z) / diff(f, z)


def newton_cubics(z, c, before):
    return (2 * z**3 + c) / (3 * z * z + c - 1)


def newton_cycle(z, c, before):
    return (2 * z**3 - 2) / (3 * z * z - 2)


def newton_sine(z, c, before):
    return newtons(sin, z)


def newton_cosh(z, c, before):
    return newtons(lambda w: cosh(w) - 1, z)


def newton_exponential(z, c, before):
    return newtons(lambda w: w * exp(w) - 1, z)


def newton_sextic(z, c, before):
    return (5 * z**6 + 2 * z**3 + 1) / (6 * z**5 + 3 * z * z)


def halley_nova(z, c, before, power=3):
    return newtons(lambda w: (w**power - 1) / sqrt(power * w ** (power - 1)), z) + c


def chebyshev(z, c, before, f=cube_less_1):
    value, first, second, _ = slopes(f, z)
    step = value / first
    return z - step - step * step * second / (2 * first)


def householder(z, c, before, f=cube_less_1):
    """z + 3 (1/f)'' / (1/f)''', with derivatives of 1/f by the rule for quotients."""
    value, g, h, k = slopes(f, z)
    second = 2 * g**2 / value**3 - h / value**2
    third = -6 * g**3 / value**4 + 6 * g * h / value**3 - k / value**2
    return z + 3 * second / third


def schroeder(z, c, before, f=cube_less_1):
    """Newton's method for f / f'."""
    value, g, h, _ = slopes(f, z)
    return z - (value / g) / (1 - value * h / g**2)


def super_halley(z, c, before, f=cube_less_1):
    value, g, h, _ = slopes(f, z)
    bend = value * h / g**2
    return z - (1 + bend / (1 - bend) / 2) * value / g


def whittaker(z, c, before, f=cube_less_1):
    value, g, h, _ = slopes(f, z)
    return z - value / g * (1 - value * h / g**2 / 2)


def laguerre(z, c, before, f=cube_less_1, n=3):
    value, g, h, _ = slopes(f, z)
    ratio = g / value
    root = sqrt((n - 1) * (n * (ratio**2 - h / value) - ratio**2))
    return z - n / max((ratio + root, ratio - root), key=abs)


def steffensen(z, c, before, f=cube_less_1):
    return z - f(z) / ((f(z + f(z)) - f(z)) / f(z))


def secant(z, c, before, f=cube_less_1):
    return (before * f(z) - z * f(before)) / (f(z) - f(before))


def ostrowski(z, c, before, f=cube_less_1):
    y = newtons(f, z)
    return y - f(y) * (y - z) / (2 * f(y) - f(z))


def midpoint(z, c, before, f=cube_less_1):
    return z - f(z) / diff(f, (z + newtons(f, z)) / 2)


def traub(z, c, before, f=cube_less_1):
    y = newtons(f, z)
    return y - f(y) / diff(f, z)


SHIPS = {
    "multicorn": ship(same, minus, same, same, 3),
    "power_burning_ship": ship(abs, abs, same, same, 3),
    "power_celtic": ship(same, same, abs, same, 3),
    "power_buffalo": ship(same, same, abs, abs, 3),
    "flying_squirrel": ship(same, same, same, abs, 3),
    "partial_ship_real": ship(abs, same, same, same, 3),
    "partial_ship_imaginary": ship(same, abs, same, same, 3),
    "partial_ship_mandelbar": ship(abs, same, same, minus, 4),
    "quasi_burning_ship": ship(abs, same, same, lower, 3),
    "celtic_partial_real": ship(abs, same, abs, same, 4),
    "celtic_partial_imaginary": ship(same, abs, abs, same, 4),
    "celtic_mandelbar": ship(same, minus, abs, same, 2),
    "perpendicular_mandelbrot": ship(abs, minus, same, same, 2),
    "perpendicular_celtic": ship(abs, minus, abs, same, 2),
    "perpendicular_buffalo": ship(same, lower, abs, same, 2),
}
MAPS = SHIPS | {
    made.__name__: made
    for made in (
        *(glynn, marks_mandelbrot, inverse_mandelbrot, modulus_power),
        moth_buffalo,
        *(power_lambda, inverse_lambda, cubic, cactus, trice),
        *(
            mcmullen,
            zubieta,
            perturbed_basilica,
            basilica_matings,
            talis,
        ),
        *(manowar, power_phoenix, ushiki),
        *(cosine, sine_plus, cosine_plus, sine_of_square, pickover, cosine_square, cosh_square),
        *(exponential_square, capture_zones, tetration, power_tower, gauss_map),
        sine_times,
        *(barnsley1, barnsley2, barnsley3, sierpinski_triangle, henon_basin),
        *(newton_cubics, newton_cycle, newton_sine, newton_cosh, newton_exponential),
        *(newton_sextic, halley_nova, chebyshev, householder, schroeder, super_halley),
        *(whittaker, laguerre, steffensen, secant, ostrowski, midpoint, traub),
    )
}

# Where the derivative of a map is 0: orbits start there, unless `c`, the sample, is the start.
CRITICAL = {
    "power_lambda": lambda c: 1 / sqrt(mpf(3)),
    "inverse_lambda": lambda c: mpf(1) / 2,
    "cubic": lambda c: c,
    "cactus": lambda c: sqrt((1 - c) / 3),
    "trice": lambda c: mpf(-1) / 2,
    "mcmullen": lambda c: exp(log(c) / 6),
    "zubieta": lambda c: exp(log(c / 2) / 3),
    "perturbed_basilica": lambda c: sqrt(sqrt(c)),
    "basilica_matings": lambda c: mpf(-1),
    "sine_plus": lambda c: pi / 2,
    "capture_zones": lambda c: mpf(-2),
}
# Orbits that start elsewhere: at the sample, at 1, at an asymptotic value, or at 0.
ELSEWHERE = {
    *("glynn", "marks_mandelbrot", "modulus_power", "moth_buffalo"),
    "talis",
    *("tetration", "power_tower", "barnsley1", "barnsley2", "barnsley3"),
    *(
        "sierpinski_triangle",
        "henon_basin",
        "newton_cubics",
        "newton_cycle",
        "newton_sine",
        "newton_cosh",
    ),
    *("newton_exponential", "newton_sextic", "halley_nova", "chebyshev", "householder"),
    *("schroeder", "super_halley", "whittaker", "laguerre", "steffensen", "ostrowski"),
    *("midpoint", "traub"),
}

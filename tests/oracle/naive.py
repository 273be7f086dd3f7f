"""The oracle: counts and colors of single pixels, by plain loops in arbitrary precision.

The oracle imports nothing of `fractals` and defines each formula again, so that both cannot be
wrong together. One step takes about 5 microseconds.
"""

from mpmath import cos, exp, expjpi, log, mp, mpc, mpf, pi, sin, sqrt, tanh

mp.dps = 50


# Formulas


def mandelbrot(z, c, power=2):
    return z * z + c


def multibrot(z, c, power=3):
    product = mpc(1)
    for _ in range(power):
        product = product * z
    return product + c


def burning_ship(z, c, power=2):
    folded = mpc(abs(z.real), abs(z.imag))
    return folded * folded + c


def tricorn(z, c, power=2):
    mirrored = mpc(z.real, -z.imag)
    return mirrored * mirrored + c


def simonobrot(z, c, power=4):
    return z * z * (z.real * z.real + z.imag * z.imag) + c


def celtic(z, c, power=2):
    square = z * z
    return mpc(abs(square.real), square.imag) + c


def buffalo(z, c, power=2):
    square = z * z
    return mpc(abs(square.real), abs(square.imag)) + c


def perpendicular_burning_ship(z, c, power=2):
    return mpc(z.real * z.real - z.imag * z.imag, 2 * z.real * abs(z.imag)) + c


def shark_fin(z, c, power=2):
    return mpc(z.real * z.real - z.imag * abs(z.imag), 2 * z.real * z.imag) + c


def heart(z, c, power=2):
    return mpc(z.real * z.real - z.imag * z.imag, 2 * abs(z.real) * z.imag) + c


def celtic_heart(z, c, power=2):
    return mpc(abs(z.real * z.real - z.imag * z.imag), 2 * abs(z.real) * z.imag) + c


def logistic(z, c, power=2):
    return c * (z - z * z)


def phoenix(z, c, before):
    return z * z + c - before / 2


def spider(z, c, change):
    """The next z; c has changed by `change` since the start."""
    return z * z + c + change


def spider_change(z, c, change):
    """How much c has changed after the step to z."""
    return (c + change) / 2 + z - c


def newton(z, c, power=3):
    return (2 * z + 1 / z**2) / 3


def halley(z, c, power=3):
    cube = z**3
    return z * (cube + 2) / (2 * cube + 1)


def nova(z, c, power=3):
    return newton(z, c) + c


def magnet1(z, c, power=2):
    root = (z * z + c - 1) / (2 * z + c - 2)
    return root * root


def magnet2(z, c, power=2):
    k = c * c - 3 * c + 2
    root = (z**3 + (3 * c - 3) * z + k) / (3 * z * z + (3 * c - 6) * z + k + 1)
    return root * root


def collatz(z, c, power=2):
    odd = sin(pi * z / 2) ** 2
    return (1 - odd) * z / 2 + odd * (3 * z + 1)


def sine(z, c, power=0):
    return c * (exp(1j * z) - exp(-1j * z)) / 2j


def exponential(z, c, power=0):
    return c * exp(z)


def lyapunov(z, c, power=2):
    x = z.real
    for r in (c.real, c.imag):
        x = r * x - r * x * x
    return mpc(x, z.imag)


def network(z, c, power=2):
    """The network of seed 1: three inputs and 1, five hidden numbers, four, and two outputs."""
    state, dice = 1, []
    for _ in range(60):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        dice.append(mpf(state // 2**48) / 2**15 - 1)
    strong, middle, weak = dice[8:28], dice[28:52], dice[52:]
    weights = iter([3 * w for w in strong] + [2 * w for w in middle] + [w / 2 for w in weak])

    def layer(values, activations):
        sums = [sum(next(weights) * v for v in values) for _ in activations]
        return [f(v) for f, v in zip(activations, sums, strict=True)]

    def bell(v):
        return exp(-v * v)

    one = mpf(1)
    first = layer([z.real, z.imag, abs(z), one], [sin, sin, bell, sin, tanh])
    second = layer([*first, one], [sin, bell, sin, tanh])
    s, t = layer(second, [mpf, mpf])
    return exp(mpc(14 + 2 * tanh(s), 2 * pi * t))


def hybrid(z, c, power=2):
    return burning_ship(mandelbrot(z, c), c)


def expression(z, c, power=2):
    return z * z + c


def folded(z, folds):
    """Return z with |x|, with |y|, with -x and with -y in its place: four flags, in this order."""
    x, y = z.real, z.imag
    absx, absy, negx, negy = folds
    x = abs(x) if absx else x
    y = abs(y) if absy else y
    return mpc(-x if negx else x, -y if negy else y)


def hybrid_term(z, term):
    """Return a term of a line of Kalles Fraktaler: (four flags, power, multiplier)."""
    folds, power, factor = term
    result = mpc(factor)
    for _ in range(power):
        result = result * folded(z, folds)
    return result


def hybrid_group(z, c, lines):
    """Return the next z: each line takes the result of the line before; c is added at the end.

    A line is (term, term, how): both are added (0), subtracted (1) or multiplied (2).
    """
    for one, two, how in lines:
        u, v = hybrid_term(z, one), hybrid_term(z, two)
        z = u + v if how == 0 else u - v if how == 1 else u * v
    return z + c


def hybrid_count(groups, loop, c, limit, radius):
    """Return the count of c: `groups` are (repeats, lines); after the last follows group `loop`."""
    z, n, k = mpc(0), 0, 0
    while True:
        repeats, lines = groups[k]
        for _ in range(repeats):
            z, n = hybrid_group(z, c, lines), n + 1
            if n >= limit:
                return limit
            if abs(z) > radius:
                return n
        k = k + 1 if k + 1 < len(groups) else loop


STEPS = {
    "mandelbrot": mandelbrot,
    "multibrot": multibrot,
    "burning_ship": burning_ship,
    "tricorn": tricorn,
    "simonobrot": simonobrot,
    "celtic": celtic,
    "buffalo": buffalo,
    "perpendicular_burning_ship": perpendicular_burning_ship,
    "shark_fin": shark_fin,
    "heart": heart,
    "celtic_heart": celtic_heart,
    "logistic": logistic,
    "newton": newton,
    "halley": halley,
    "nova": nova,
    "magnet1": magnet1,
    "magnet2": magnet2,
    "collatz": collatz,
    "sine": sine,
    "exponential": exponential,
    "lyapunov": lyapunov,
    "network": network,
    "hybrid": hybrid,
    "expression": expression,
    "program": expression,
}


# Orbits


def steps_of(formula):
    """Yield the steps of a formula without end; "a; b": in turn; "a, b": one step is both."""

    def joined(names):
        def step(z, c, power):
            for name in names:
                z = STEPS[name](z, c, power)
            return z

        return step

    found = [joined(part.split(", ")) for part in formula.split("; ")]
    while True:
        yield from found


def points(formula, start, c, steps, power=2):
    """Give z after each of a number of steps."""
    z, c = mpc(start), mpc(c)
    for _, step in zip(range(steps), steps_of(formula), strict=False):
        z = step(z, c, power)
        yield z


def orbit(formula, start, c, steps, power=2):
    """Return z after a number of steps."""
    return [mpc(start), *points(formula, start, c, steps, power)][-1]


def escape(formula, start, c, limit, radius, power=2):
    """Return the smallest n >= 1 with |z_n| > radius, and z_n; inside, `limit` and 0.

    Inside are orbits that do not escape in fewer steps than `limit`.
    """
    z, c = mpc(start), mpc(c)
    for n, step in zip(range(1, limit), steps_of(formula), strict=False):
        z = step(z, c, power)
        if abs(z) > radius:
            return n, z
    return limit, mpc(0)


def sample(formula, point, julia, limit, radius, power=2):
    """Return count and z of a sample; `point` is c, or z_0 in a Julia set."""
    if julia is None:
        return escape(formula, 0, point, limit, radius, power)
    return escape(formula, point, julia, limit, radius, power)


def is_stable(formula, point, julia, limit, radius, by, power=2):
    """Return whether the count stays the same when the sample moves by `by` in four directions."""
    count = sample(formula, point, julia, limit, radius, power)[0]
    for move in (mpc(by, 0), mpc(-by, 0), mpc(0, by), mpc(0, -by)):
        if sample(formula, point + move, julia, limit, radius, power)[0] != count:
            return False
    return True


# Where samples lie


def placed(i, j, size, view, supersampling=1):
    """Return the point of sample (column i, row j) of a stretched, mirrored or rotated view.

    The steps lead from the picture to the plane: divide by the stretch, mirror, rotate.
    """
    columns, width = size[0] * supersampling, mpf(view.width)
    if view.projection == "exponential":
        angle = pi - 2 * pi * (i + mpf("0.5")) / columns  # from pi on the left to -pi
        radius = width / 2 * exp(-2 * pi * (j + mpf("0.5")) / columns)
        move = radius * mpc(cos(angle), sin(angle))
    else:
        move = position(i, j, size, ("0", "0"), width, 0, supersampling)
    direction = expjpi(mpf(view.stretch_angle) / 180)
    along = move / direction
    along = mpc(along.real / mpf(view.stretch), along.imag * mpf(view.stretch))
    move = along * direction
    if view.mirror:
        move = move.conjugate()
    center = mpc(mpf(view.center[0]), mpf(view.center[1]))
    return center + move * expjpi(mpf(view.rotation) / 180)


def position(i, j, size, center, width, rotation=0, supersampling=1):
    """Return the point of sample (column i, row j); row 0 is the top."""
    columns, rows = size[0] * supersampling, size[1] * supersampling
    spacing = mpf(width) / columns
    right = (i + mpf("0.5") - mpf(columns) / 2) * spacing
    up = (mpf(rows) / 2 - j - mpf("0.5")) * spacing
    angle = mpf(rotation) * pi / 180
    turned = mpc(right, up) * mpc(cos(angle), sin(angle))
    return mpc(mpf(center[0]), mpf(center[1])) + turned


# Derivatives and colorings


def after(formula, point, julia, steps, power=2):
    """Return z of the sample at `point` after a number of steps."""
    if julia is None:
        return orbit(formula, 0, point, steps, power)
    return orbit(formula, point, julia, steps, power)


def derivative(formula, point, julia, steps, power=2):
    """Return dz_n/dpoint along the real axis, by a central difference."""
    h = mpf("1e-20")
    right = after(formula, point + h, julia, steps, power)
    left = after(formula, point - h, julia, steps, power)
    return (right - left) / (2 * h)


def gradient(formula, point, julia, steps, power=2):
    """Return the gradient of |z_n| as a function of the sample's point."""
    h = mpf("1e-20")
    parts = []
    for move in (mpc(h, 0), mpc(0, h)):
        ahead = abs(after(formula, point + move, julia, steps, power))
        behind = abs(after(formula, point - move, julia, steps, power))
        parts.append((ahead - behind) / (2 * h))
    return parts


def distance_estimate(formula, point, julia, steps, power=2):
    """Return 2 |z| log|z| / |dz|, where |dz| is the length of the gradient of |z|."""
    size = abs(after(formula, point, julia, steps, power))
    gx, gy = gradient(formula, point, julia, steps, power)
    return 2 * size * log(size) / sqrt(gx * gx + gy * gy)


def smooth_count(n, z, radius, degree):
    """Return the smooth count."""
    return n + 1 - log(log(abs(z)) / log(mpf(radius))) / log(mpf(degree))


# The Mandelbrot set's two largest parts


def in_cardioid(c):
    """Return whether z² + c has an attracting fixed point; its multiplier is 1 - sqrt(1 - 4c)."""
    return abs(1 - sqrt(1 - 4 * mpc(c))) < 1


def in_disc(c):
    """Return whether z² + c has an attracting 2-cycle; its multiplier is 4 (c + 1)."""
    return abs(4 * (mpc(c) + 1)) < 1


# Light


def linear_from_srgb(value):
    """Return linear light of an sRGB value, both from 0 to 1 (IEC 61966-2-1)."""
    value = mpf(value)
    if value <= mpf("0.04045"):
        return value / mpf("12.92")
    return ((value + mpf("0.055")) / mpf("1.055")) ** mpf("2.4")


def srgb_from_linear(value):
    """Return the sRGB value of linear light, both from 0 to 1."""
    value = mpf(value)
    if value <= mpf("0.0031308"):
        return value * mpf("12.92")
    return mpf("1.055") * value ** (1 / mpf("2.4")) - mpf("0.055")


def average(colors):
    """Return the mean of linear colors, channel by channel."""
    return [sum(mpf(float(color[k])) for color in colors) / len(colors) for k in range(3)]

"""The variations of flames in other words, by mpmath: as the paper and the manuals define them.

``WORDS[name](x, y, u, p, w, m)`` returns where a variation takes a point, times its weight w; u
holds random numbers, p the parameters by name, and m the affine map (a, b, c, d, e, f).
"""

import mpmath
from mpmath import (
    acos,
    atan2,
    cos,
    cosh,
    exp,
    floor,
    hypot,
    log,
    mpc,
    mpf,
    pi,
    sin,
    sinh,
    sqrt,
    tan,
)

EPS = mpf("1e-10")  # that keeps divisors from 0
WORDS = {}


def variation(words):
    WORDS[words.__name__.rstrip("_")] = words
    return words


def trunc(v):
    return floor(v) if v >= 0 else -floor(-v)


def remainder(v, by):
    return v - by * trunc(v / by)


def at(angle, far=1):
    return far * cos(angle), far * sin(angle)


def of(z):
    return z.real, z.imag


def turned(x, y):
    """Return the angle from the y axis, and the distance."""
    return atan2(x, y), hypot(x, y)


def polar_of(x, y):
    return atan2(y, x), hypot(x, y)


def scaled(x, y, by):
    return x * by, y * by


def wedges(a, r, angle, hole, count):
    """Return a point after wedges of an angle were taken out of a turn."""
    place = floor((count * a + pi) / (2 * pi))
    return at(a * (1 - angle * count / (2 * pi)) + place * angle, r + hole)


PLAIN = {  # of x and y alone
    "linear": lambda x, y: (x, y),
    "sinusoidal": lambda x, y: (sin(x), sin(y)),
    "spherical": lambda x, y: scaled(x, y, 1 / (x * x + y * y + EPS)),
    "hemisphere": lambda x, y: scaled(x, y, 1 / sqrt(x * x + y * y + 1)),
    "bubble": lambda x, y: scaled(x, y, 4 / (x * x + y * y + 4)),
    "eyefish": lambda x, y: scaled(x, y, 2 / (hypot(x, y) + 1)),
    "fisheye": lambda x, y: scaled(y, x, 2 / (hypot(x, y) + 1)),
    "cylinder": lambda x, y: (sin(x), y),
    "horseshoe": lambda x, y: scaled(x * x - y * y, 2 * x * y, 1 / (hypot(x, y) + EPS)),
    "hyperbolic": lambda x, y: (x / hypot(x, y) / (hypot(x, y) + EPS), y),
    "tangent": lambda x, y: (sin(x) / cos(y), tan(y)),
    "cross": lambda x, y: scaled(x, y, 1 / (abs(x * x - y * y) + EPS)),
    "bent": lambda x, y: (2 * x if x < 0 else x, y / 2 if y < 0 else y),
    "exponential": lambda x, y: at(pi * y, exp(x - 1)),
    "cosine": lambda x, y: of(cos(mpc(pi * x, y))),
    "exp": lambda x, y: of(exp(mpc(x, y))),
    "log": lambda x, y: of(log(mpc(x, y))),
    "sin": lambda x, y: of(sin(mpc(x, y))),
    "cos": lambda x, y: of(cos(mpc(x, y))),
    "tan": lambda x, y: of(tan(mpc(x, y))),
    "sec": lambda x, y: of(mpmath.sec(mpc(x, y))),
    "csc": lambda x, y: of(mpmath.csc(mpc(x, y))),
    "cot": lambda x, y: of(mpmath.cot(mpc(x, y))),
    "sinh": lambda x, y: of(sinh(mpc(x, y))),
    "cosh": lambda x, y: of(cosh(mpc(x, y))),
    "tanh": lambda x, y: of(mpmath.tanh(mpc(x, y))),
    "sech": lambda x, y: of(mpmath.sech(mpc(x, y))),
    "csch": lambda x, y: of(mpmath.csch(mpc(x, y))),
    "coth": lambda x, y: of(mpmath.coth(mpc(x, y)).conjugate()),  # as flam3 has it
}
for _name, _words in PLAIN.items():
    WORDS[_name] = lambda x, y, u, p, w, m, words=_words: scaled(*words(x, y), w)


@variation
def swirl(x, y, u, p, w, m):
    t = x * x + y * y
    return w * (x * sin(t) - y * cos(t)), w * (x * cos(t) + y * sin(t))


@variation
def polar(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * a / pi, w * (r - 1)


@variation
def polar2(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * a / pi, w * log(r) / pi


@variation
def handkerchief(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * r * sin(a + r), w * r * cos(a - r)


@variation
def heart(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * r * sin(a * r), -w * r * cos(a * r)


@variation
def disc(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * a / pi * sin(pi * r), w * a / pi * cos(pi * r)


@variation
def disc2(x, y, u, p, w, m):
    twist = p["twist"]
    more = 1 + (twist - 2 * pi if twist > 2 * pi else min(twist + 2 * pi, 0))
    turn, share = p["rot"] * pi * (x + y), turned(x, y)[0] / pi
    across, down = sin(turn) + more * (cos(twist) - 1), cos(turn) + more * sin(twist)
    return w * share * across, w * share * down


@variation
def spiral(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * (cos(a) + sin(r)) / (r + EPS), w * (sin(a) - cos(r)) / (r + EPS)


@variation
def diamond(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * sin(a) * cos(r), w * cos(a) * sin(r)


@variation
def ex(x, y, u, p, w, m):
    a, r = turned(x, y)
    i, j = sin(a + r) ** 3, cos(a - r) ** 3
    return w * r * (i + j), w * r * (i - j)


@variation
def julia(x, y, u, p, w, m):
    a, r = turned(x, y)
    return at(a / 2 + (0 if u[0] < 0.5 else pi), w * sqrt(r))


@variation
def power(x, y, u, p, w, m):
    a, r = turned(x, y)
    return w * r ** sin(a) * cos(a), w * r ** sin(a) * sin(a)


@variation
def waves(x, y, u, p, w, m):
    return (
        w * (x + m[1] * sin(y / (m[2] ** 2 + EPS))),
        w * (y + m[4] * sin(x / (m[5] ** 2 + EPS))),
    )


@variation
def popcorn(x, y, u, p, w, m):
    return w * (x + m[2] * sin(tan(3 * y))), w * (y + m[5] * sin(tan(3 * x)))


@variation
def popcorn2(x, y, u, p, w, m):
    return w * (x + p["x"] * sin(tan(p["c"] * y))), w * (y + p["y"] * sin(tan(p["c"] * x)))


@variation
def rings(x, y, u, p, w, m):
    (a, r), c = turned(x, y), m[2] ** 2 + EPS
    return at(a, w * (remainder(r + c, 2 * c) - c + r * (1 - c)))


@variation
def rings2(x, y, u, p, w, m):
    (a, r), c = turned(x, y), p["val"] ** 2 + EPS
    r += -2 * c * trunc((r + c) / (2 * c)) + r * (1 - c)
    return w * r * sin(a), w * r * cos(a)


@variation
def fan(x, y, u, p, w, m):
    (a, r), wide = turned(x, y), pi * (m[2] ** 2 + EPS)
    return at(a + (-wide if remainder(a + m[5], wide) > wide / 2 else wide) / 2, w * r)


@variation
def fan2(x, y, u, p, w, m):
    (a, r), wide = turned(x, y), pi * (p["x"] ** 2 + EPS)
    a += (-wide if remainder(a + p["y"], wide) > wide / 2 else wide) / 2
    return w * r * sin(a), w * r * cos(a)


@variation
def blob(x, y, u, p, w, m):
    high = (1 + sin(p["waves"] * turned(x, y)[0])) / 2
    return scaled(x, y, w * (p["low"] + (p["high"] - p["low"]) * high))


@variation
def pdj(x, y, u, p, w, m):
    a, b, c, d = (p[key] for key in "abcd")
    return w * (sin(a * y) - cos(b * x)), w * (sin(c * x) - cos(d * y))


@variation
def perspective(x, y, u, p, w, m):
    slope = p["angle"] * pi / 2
    far = w * p["dist"] / (p["dist"] - y * sin(slope))
    return x * far, y * far * cos(slope)


@variation
def noise(x, y, u, p, w, m):
    c, s = at(2 * pi * u[0], w * u[1])
    return x * c, y * s


@variation
def blur(x, y, u, p, w, m):
    return at(2 * pi * u[0], w * u[1])


@variation
def gaussian_blur(x, y, u, p, w, m):
    return at(2 * pi * u[4], w * (sum(u[:4]) - 2))


@variation
def radial_blur(x, y, u, p, w, m):
    (a, r), far = polar_of(x, y), w * (sum(u[:4]) - 2)
    turn, zoom = sin(p["angle"] * pi / 2), cos(p["angle"] * pi / 2)
    across, down = at(a + turn * far, r)
    return across + (zoom * far - 1) * x, down + (zoom * far - 1) * y


@variation
def julian(x, y, u, p, w, m):
    (a, r), n = polar_of(x, y), p["power"]
    return at((a + 2 * pi * floor(abs(n) * u[0])) / n, w * r ** (p["dist"] / n))


@variation
def juliascope(x, y, u, p, w, m):
    (a, r), n = polar_of(x, y), p["power"]
    k = floor(abs(n) * u[0])
    return at((2 * pi * k + (-a if k % 2 else a)) / n, w * r ** (p["dist"] / n))


@variation
def wedge_julia(x, y, u, p, w, m):
    (a, r), n = polar_of(x, y), p["power"]
    a = (a + 2 * pi * floor(abs(n) * u[0])) / n
    return scaled(*wedges(a, r ** (p["dist"] / n), p["angle"], 0, p["count"]), w)


@variation
def wedge(x, y, u, p, w, m):
    a, r = polar_of(x, y)
    return scaled(*wedges(a + p["swirl"] * r, r, p["angle"], p["hole"], p["count"]), w)


@variation
def wedge_sph(x, y, u, p, w, m):
    a, r = polar_of(x, y)
    r = 1 / (r + EPS)
    return scaled(*wedges(a + p["swirl"] * r, r, p["angle"], p["hole"], p["count"]), w)


@variation
def pie(x, y, u, p, w, m):
    k = trunc(u[0] * p["slices"] + mpf(1) / 2)
    return at(p["rotation"] + 2 * pi / p["slices"] * (k + u[1] * p["thickness"]), w * u[2])


@variation
def ngon(x, y, u, p, w, m):
    (a, r), part = polar_of(x, y), 2 * pi / p["sides"]
    a -= part * floor(a / part)
    a -= part if a > part / 2 else 0
    size = p["corners"] * (1 / (cos(a) + EPS) - 1) + p["circle"]
    return scaled(x, y, w * size / (r ** p["power"] + EPS))


@variation
def curl(x, y, u, p, w, m):
    z = mpc(x, y)
    return of(w * z / (1 + p["c1"] * z + p["c2"] * z * z))


@variation
def rectangles(x, y, u, p, w, m):
    def mirrored(v, size):
        return (2 * floor(v / size) + 1) * size - v if size else v

    return w * mirrored(x, p["x"]), w * mirrored(y, p["y"])


@variation
def arch(x, y, u, p, w, m):
    a = w * pi * u[0]
    return w * sin(a), w * sin(a) ** 2 / cos(a)


@variation
def square(x, y, u, p, w, m):
    return w * (u[0] - mpf(1) / 2), w * (u[1] - mpf(1) / 2)


@variation
def rays(x, y, u, p, w, m):
    far = w * tan(w * pi * u[0]) * w / (x * x + y * y + EPS)
    return far * cos(x), far * sin(y)


@variation
def blade(x, y, u, p, w, m):
    r = u[0] * w * hypot(x, y)
    return w * x * (cos(r) + sin(r)), w * x * (cos(r) - sin(r))


@variation
def secant2(x, y, u, p, w, m):
    c = cos(w * hypot(x, y))
    return w * x, w * (1 / c + (1 if c < 0 else -1))


@variation
def twintrian(x, y, u, p, w, m):
    r = u[0] * w * hypot(x, y)
    far = log(sin(r) ** 2) / log(mpf(10)) + cos(r)
    return w * x * far, w * x * (far - pi * sin(r))


@variation
def super_shape(x, y, u, p, w, m):
    a, r = polar_of(x, y)
    c, s = at(p["m"] / 4 * a + pi / 4)
    shape = (abs(c) ** p["n2"] + abs(s) ** p["n3"]) ** (-1 / p["n1"])
    return at(a, w * (p["rnd"] * u[0] + (1 - p["rnd"]) * r - p["holes"]) * shape)


@variation
def flower(x, y, u, p, w, m):
    a, _ = polar_of(x, y)
    return at(a, w * (u[0] - p["holes"]) * cos(p["petals"] * a))


@variation
def conic(x, y, u, p, w, m):
    a, _ = polar_of(x, y)
    e = p["eccentricity"]
    return at(a, w * (u[0] - p["holes"]) * e / (1 + e * cos(a)))


@variation
def parabola(x, y, u, p, w, m):
    r = hypot(x, y)
    return w * p["height"] * sin(r) ** 2 * u[0], w * p["width"] * cos(r) * u[1]


@variation
def bent2(x, y, u, p, w, m):
    return w * (x * p["x"] if x < 0 else x), w * (y * p["y"] if y < 0 else y)


@variation
def bipolar(x, y, u, p, w, m):
    t = x * x + y * y
    a = atan2(2 * y, t - 1) / 2 - pi / 2 * p["shift"]
    a -= pi * floor(a / pi + mpf(1) / 2)
    return w / (2 * pi) * log((t + 1 + 2 * x) / (t + 1 - 2 * x)), w * 2 / pi * a


@variation
def boarders(x, y, u, p, w, m):
    i, j = floor(x + mpf(1) / 2), floor(y + mpf(1) / 2)
    dx, dy = x - i, y - j
    a, b = i + dx / 2, j + dy / 2
    if u[0] < 0.75 and abs(dx) >= abs(dy):
        side = 1 if dx >= 0 else -1
        a, b = a + mpf(side) / 4, b + side * dy / dx / 4
    elif u[0] < 0.75:
        side = 1 if dy >= 0 else -1
        a, b = a + side * dx / dy / 4, b + mpf(side) / 4
    return w * a, w * b


@variation
def butterfly(x, y, u, p, w, m):
    r = 4 / sqrt(3 * pi) * sqrt(abs(x * y) / (x * x + 4 * y * y + EPS))
    return w * r * x, w * r * 2 * y


@variation
def cell(x, y, u, p, w, m):
    def apart(k):
        return 2 * k if k >= 0 else -(2 * k + 1)

    size = p["size"]
    i, j = floor(x / size), floor(y / size)
    return w * (x - i * size + apart(i) * size), -w * (y - j * size + apart(j) * size)


@variation
def cpow(x, y, u, p, w, m):
    (a, r), n = polar_of(x, y), p["power"]
    z = mpc(p["r"], p["i"]) / n * mpc(log(r), a) + mpc(0, 2 * pi / n * floor(n * u[0]))
    return of(w * exp(z))


@variation
def curve(x, y, u, p, w, m):
    across, down = p["xlength"] ** 2 + EPS, p["ylength"] ** 2 + EPS
    return w * (x + p["xamp"] * exp(-y * y / across)), w * (y + p["yamp"] * exp(-x * x / down))


def far_of(x, y):
    return (hypot(x + 1, y) + hypot(x - 1, y)) / 2


@variation
def edisc(x, y, u, p, w, m):
    far = far_of(x, y)
    a, b = log(far + sqrt(far - 1)), -acos(x / far)
    v = w / mpf("11.57034632")
    return v * cosh(b) * cos(a), v * sinh(b) * (-sin(a) if y > 0 else sin(a))


@variation
def elliptic(x, y, u, p, w, m):
    far = far_of(x, y)
    up = log(far + sqrt(far - 1))
    return w * 2 / pi * mpmath.asin(x / far), w * 2 / pi * (up if y > 0 else -up)


@variation
def escher(x, y, u, p, w, m):
    a, r = polar_of(x, y)
    factor = mpc(1 + cos(p["beta"]), sin(p["beta"])) / 2
    return of(w * exp(factor * mpc(log(r), a)))


@variation
def foci(x, y, u, p, w, m):
    far = w / (cosh(x) - cos(y))
    return far * sinh(x), far * sin(y)


@variation
def lazysusan(x, y, u, p, w, m):
    dx, dy = x - p["x"], y + p["y"]
    a, r = polar_of(dx, dy)
    if r < w:
        dx, dy = at(a + p["spin"] + p["twist"] * (w - r), r)
        return w * dx + p["x"], w * dy - p["y"]
    far = w * (1 + p["space"] / r)
    return far * dx + p["x"], far * dy - p["y"]


@variation
def loonie(x, y, u, p, w, m):
    t = x * x + y * y
    return scaled(x, y, w * sqrt(w * w / t - 1) if t < w * w else w)


@variation
def modulus(x, y, u, p, w, m):
    def folded(v, size):
        return v if abs(v) <= size else v - 2 * size * floor((v + size) / (2 * size))

    return w * folded(x, p["x"]), w * folded(y, p["y"])


@variation
def oscilloscope(x, y, u, p, w, m):
    wave = cos(2 * pi * p["frequency"] * x) * p["amplitude"] * exp(-abs(x) * p["damping"])
    return w * x, w * (-y if abs(y) <= wave + p["separation"] else y)


@variation
def scry(x, y, u, p, w, m):
    t = x * x + y * y
    return scaled(x, y, 1 / (sqrt(t) * (t + 1 / (w + EPS)) + EPS))


@variation
def separation(x, y, u, p, w, m):
    def apart(v, by, inside):
        far = hypot(v, by)
        return far - v * inside if v > 0 else -(far + v * inside)

    return w * apart(x, p["x"], p["xinside"]), w * apart(y, p["y"], p["yinside"])


@variation
def split(x, y, u, p, w, m):
    return (
        w * (x if cos(y * p["ysize"] * pi) >= 0 else -x),
        w * (y if cos(x * p["xsize"] * pi) >= 0 else -y),
    )


@variation
def splits(x, y, u, p, w, m):
    return (
        w * (x + (p["x"] if x >= 0 else -p["x"])),
        w * (y + (p["y"] if y >= 0 else -p["y"])),
    )


@variation
def stripes(x, y, u, p, w, m):
    k = floor(x + mpf(1) / 2)
    dx = x - k
    return w * (k + dx * (1 - p["space"])), w * (y + dx * dx * p["warp"])


@variation
def whorl(x, y, u, p, w, m):
    a, r = polar_of(x, y)
    return at(a + (p["inside"] if r < w else p["outside"]) / (w - r), w * r)


@variation
def waves2(x, y, u, p, w, m):
    return (
        w * (x + p["scalex"] * sin(y * p["freqx"])),
        w * (y + p["scaley"] * sin(x * p["freqy"])),
    )


@variation
def auger(x, y, u, p, w, m):
    s, t, half = sin(p["freq"] * x), sin(p["freq"] * y), p["scale"] / 2
    return (
        w * (x + p["sym"] * p["weight"] * (half * t + abs(x) * t)),
        w * (y + p["weight"] * (half * s + abs(y) * s)),
    )


@variation
def flux(x, y, u, p, w, m):
    far = w * (2 + p["spread"]) * sqrt(hypot(y, x + w) / hypot(y, x - w))
    return at((atan2(y, x - w) - atan2(y, x + w)) / 2, far)


@variation
def mobius(x, y, u, p, w, m):
    z = mpc(x, y)
    a, b, c, d = (mpc(p[f"re_{key}"], p[f"im_{key}"]) for key in "abcd")
    return of(w * (a * z + b) / (c * z + d))


@variation
def sineblur(x, y, u, p, w, m):
    return at(2 * pi * u[0], w * acos(2 * (1 - u[1]) ** p["power"] - 1) / pi)


# --- Variations of other programs than flam3


@variation
def bwraps7(x, y, u, p, w, m):
    size = p["cellsize"]
    far = size / 2 / (1 + p["space"] ** 2)
    grows = p["gain"] ** 2 + mpf("1e-6")
    edge = grows * far  # of the cell, where the lens is looked through
    edge = 1 if edge > 2 else edge / (edge**2 / 4 + 1)
    middle = mpc(floor(x / size) + mpf("0.5"), floor(y / size) + mpf("0.5")) * size
    z = mpc(x, y) - middle
    if abs(z) > far:
        return w * x, w * y
    z *= grows
    z *= far / edge / (abs(z) ** 2 / 4 + 1)
    share = abs(z) ** 2 / far**2
    turn = p["inner_twist"] * (1 - share) + p["outer_twist"] * share
    return scaled(*of(middle + z * mpmath.expj(-turn)), w)


WORDS["bwraps"] = bwraps7


def wave_of(kind, skew, frequency, turns):
    y = turns - floor(turns)
    if skew:
        middle = (1 + skew) / 2
        late = y > middle
        y = (1 + (y - middle) / ((1 - middle if late else middle) + EPS)) / 2
    side = cos(2 * pi * (y - mpf("0.5")) / frequency)
    return (
        lambda: sin(2 * pi * y),
        lambda: cos(2 * pi * y),
        lambda: 1 if y > 0.5 else -1,
        lambda: 1 - 2 * y,
        lambda: 3 - 4 * y if y > 0.5 else 2 * y - 1,
        lambda: 8 * (y - mpf("0.5")) ** 2 - 1,
        lambda: 2 * sqrt(y) - 1,
        lambda: 1 / (side + EPS) - 1,
        lambda: side / (1 + EPS - side),
    )[int(kind)]()


def heights(angle, p):
    found = p["a"]
    for name in "bcdef":
        height, frequency = p[name], p[f"{name}_frq"]
        if not height:
            continue
        turns = (p[f"{name}_phs"] + angle * frequency) / (2 * pi)
        own = height * wave_of(p[f"{name}_type"], p[f"{name}_skew"], frequency, turns)
        layers = found + own, found * (1 + own), max(found, p["a"] + own), min(found, p["a"] + own)
        found = layers[int(p[f"{name}_layer"])]
    return found


def bezier(at, points):
    """Return y of a quadratic Bezier curve at x, by the root of its parameter in [0, 1]."""
    (x0, y0), (x1, y1), (x2, y2) = points
    a, b, c = x0 - 2 * x1 + x2, 2 * (x1 - x0), x0 - at
    t = -c / b if abs(a) < mpf("1e-12") else (-b + sqrt(b * b - 4 * a * c)) / (2 * a)
    return (1 - t) ** 2 * y0 + 2 * t * (1 - t) * y1 + t * t * y2


def between(v, by, smooth):
    if not smooth:
        return v * by
    sign = -1 if (v < 0) != (by < 0) else 1
    v, by = abs(v), abs(by)
    end = max(2 - by, 2 * by)
    if v > end or by == 1:
        return sign * v
    if v <= 1:
        knee = by if by < 1 else 1 / by
        return sign * bezier(v, ((0, 0), (knee, knee), (1, by)))
    knee = (1, 1) if by < 1 else (by, by)
    return sign * bezier(v, ((1, by), knee, (end, end)))


@variation
def synth(x, y, u, p, w, m):
    mode, power, smooth = int(p["mode"]), p["power"], p["smooth"]
    a, r = turned(x, y)
    far = (r * r + EPS) ** (power / 2)
    turn = 2 * pi * u[3] - pi

    def ring(angle, distance):
        return w * distance * sin(angle), w * distance * cos(angle)

    def bent(angle, distance):
        return ring(angle, between(distance, heights(angle, p), smooth))

    if mode == 4:
        turn = 2 * mpmath.asin(2 * u[3] - 1)
        thick = 1 + (u[0] + u[1] - 1) * power / 10
        return w * turn / pi, w * (between(thick, heights(turn, p), smooth) - 1)
    along, across = (lambda: heights(x, p)), (lambda: heights(y, p))
    old = (u[0] + u[1] + mpf("0.002") * u[2]) / mpf("2.002")
    return {
        0: lambda: bent(a, r ** (power + 1)),
        1: lambda: bent(a, r / (r * r / 4 + 1)),
        2: lambda: ring(
            turn, old * between((old * old + EPS) ** (power / 2), heights(turn, p), smooth)
        ),
        3: lambda: bent(turn, (((u[0] + u[1]) / 2) ** 2 + EPS) ** (-power / 2)),
        5: lambda: bent(a, r),
        6: lambda: (w * between(x, across(), smooth), w * y),
        7: lambda: (w * x, w * between(y, along(), smooth)),
        8: lambda: (w * between(x, across(), smooth), w * between(y, along(), smooth)),
        9: lambda: (w * (x + across() - 1), w * y),
        10: lambda: (w * x, w * (y + along() - 1)),
        11: lambda: (w * (x + across() - 1), w * (y + along() - 1)),
        12: lambda: bent(turn, 1 + (u[0] + u[1] - 1) * power / 10),
        13: lambda: ring(turn, heights(turn, p) + (u[0] + EPS) ** power / 10),
        14: lambda: ring(a - 1 + heights(far, p), far),
        15: lambda: scaled(
            x + (heights(far, p) - 1) * cos(a), y - (heights(far, p) - 1) * sin(a), w
        ),
        16: lambda: ring(a - 1 + heights(far, p), r),
        17: lambda: (w * x, w * (2 * (along() - 1) - y)),
        18: lambda: (w * (2 * (across() - 1) - x), w * (2 * (along() - 1) - y)),
        19: lambda: ring(a, between(r, heights(a, p), smooth) ** power),
    }[mode]()


def tile(p):
    own, others = cos(2 * pi / p["p"]), cos(2 * pi / p["q"])
    rest = (1 + others) / (own + others)
    return 1 / sqrt(rest) if rest > 0 else mpf(1)


def moved(z, by):
    return (z + mpmath.conj(by)) / (by * z + 1)


@variation
def hypertile(x, y, u, p, w, m):
    by = tile(p) * mpmath.expj(2 * pi * p["n"] / p["p"])
    return scaled(*of(moved(mpc(x, y), by)), w)


@variation
def hypertile1(x, y, u, p, w, m):
    by = tile(p) * mpmath.expj(2 * pi * floor(u[0] * p["p"]) / p["p"])
    return scaled(*of(moved(mpc(x, y), by)), w)


@variation
def hypertile2(x, y, u, p, w, m):
    turn = mpmath.expj(-2 * pi * floor(u[0] * p["p"]) / p["p"])
    return scaled(*of(moved(mpc(x, y), tile(p)) * turn), w)


@variation
def poincare3d(x, y, u, p, w, m):
    a, b, r = p["a"] * pi / 2, p["b"] * pi / 2, p["r"]
    c = (-r * cos(a) * cos(b), r * sin(a) * cos(b), -r * sin(b))
    v, size = (x, y, mpf(0)), sum(k * k for k in c)
    dot, square = sum(i * j for i, j in zip(c, v, strict=True)), x * x + y * y
    below = size * square - 2 * dot + 1
    return tuple(
        w
        * (v[k] * (1 + 2 * c[k] ** 2 - size) + c[k] * (2 * (dot - c[k] * v[k]) - square - 1))
        / below
        for k in (0, 1)
    )


def between_two(x, y):
    """Return bipolar coordinates of foci -1 and 1."""
    z = mpc(x, y)
    return log(abs(z + 1) / abs(z - 1)), pi - atan2(y, x + 1) - atan2(y, 1 - x)


def from_two(tau, sigma, w):
    return scaled(*of(mpmath.conj(mpmath.coth(mpc(tau, sigma) / 2))), w)


@variation
def bswirl(x, y, u, p, w, m):
    tau, sigma = between_two(x, y)
    return from_two(tau, sigma + tau * p["out"] + p["in"] / tau, w)


@variation
def bmod(x, y, u, p, w, m):
    tau, sigma = between_two(x, y)
    far = p["radius"]
    if abs(tau) < far:
        tau = remainder(tau + far * (1 + p["distance"]), 2 * far) - far
    return from_two(tau, sigma, w)


@variation
def bcollide(x, y, u, p, w, m):
    tau, sigma = between_two(x, y)
    wide = pi / p["num"]
    k = trunc(sigma / wide)
    shift = p["a"] * wide * (1 if int(k) % 2 == 0 else -1)
    return from_two(tau, k * wide + remainder(sigma + shift, wide), w)


@variation
def glynnia(x, y, u, p, w, m):
    root, r = sqrt(mpc(x, y)), hypot(x, y)
    if u[0] < 0.5:
        return scaled(*of(mpmath.conj(root) if r >= 1 else -root), w)
    return scaled(*of((root if r >= 1 else -mpmath.conj(root)) / r), w)


@variation
def axis_symmetry_wf(x, y, u, p, w, m):
    middle, sign = mpc(p["centre_x"], p["centre_y"]), 1 if u[0] < 0.5 else -1
    z, axis = mpc(x, y) - middle, p["axis"]
    if axis > 1:
        return x, y
    z = mpc(sign * (z.real + w / 2), z.imag) if axis < 1 else mpc(z.real, sign * (z.imag + w / 2))
    return of(middle + z * mpmath.expj(-sign * p["rotation"] * pi / 180))


@variation
def blur3d(x, y, u, p, w, m):
    far = w * (sum(u[:4]) - 2) * sin(pi * u[5])
    return at(2 * pi * u[4], far)


@variation
def circleblur(x, y, u, p, w, m):
    return at(2 * pi * u[1], w * sqrt(u[0]))


@variation
def epispiral(x, y, u, p, w, m):
    a = atan2(y, x)
    return at(a, w * (u[0] * p["thickness"] / cos(p["n"] * a) - p["holes"]))


@variation
def funnel(x, y, u, p, w, m):
    return tuple(w * mpmath.tanh(v) * (1 / cos(v) + p["effect"] * pi) for v in (x, y))


@variation
def petal(x, y, u, p, w, m):
    return scaled(cos(x) ** 3, sin(x) ** 3, w * cos(x) * cos(y) ** 3)


@variation
def squirrel(x, y, u, p, w, m):
    far = sqrt(p["a"] * x * x + p["b"] * y * y)
    return w * cos(far) * tan(x), w * sin(far) * tan(y)


@variation
def twoface(x, y, u, p, w, m):
    return scaled(x, y, w / (x * x + y * y) if x > 0 else w)


@variation
def roundspher(x, y, u, p, w, m):
    square = x * x + y * y
    return scaled(x, y, w * w / square / (1 / square + (2 / pi) ** 2))


@variation
def crop(x, y, u, p, w, m):
    def inside(v, ends, chance):
        low, high = sorted(ends)
        edge = chance * (high - low) / 2 * p["scatter_area"]
        return low + edge if v < low else high - edge if v > high else v

    a, b = inside(x, (p["left"], p["right"]), u[0]), inside(y, (p["top"], p["bottom"]), u[1])
    kept = (a, b) == (x, y) or not p["zero"]
    return (w * a, w * b) if kept else (mpf(0), mpf(0))


@variation
def falloff2(x, y, u, p, w, m):
    far = sqrt((x - p["x0"]) ** 2 + (y - p["y0"]) ** 2 + p["z0"] ** 2)
    far = max(1 - far, 0) if p["invert"] else far
    far = max(far - p["mindist"], 0) * p["scatter"] / 25
    a, b, c = (2 * v - 1 for v in u)
    if p["type"] == 1:
        angle = atan2(y, x) + p["mul_y"] * b * far
        return at(angle, w * (hypot(x, y) + p["mul_x"] * a * far) * cos(p["mul_z"] * c * far))
    if p["type"] == 2:
        r, turn, tilt = far * u[2], 2 * pi * far * u[0], pi * far * u[1]
        a, b = r * cos(turn) * cos(tilt), r * cos(turn) * sin(tilt)
        return w * (x + p["mul_x"] * a), w * (y + p["mul_y"] * b)
    return w * (x + p["mul_x"] * a * far), w * (y + p["mul_y"] * b * far)


@variation
def unpolar(x, y, u, p, w, m):
    return scaled(sin(x), cos(x), w * exp(y) / (2 * pi))


@variation
def xheart(x, y, u, p, w, m):
    z = mpc(4 * x, (6 + 2 * p["ratio"]) * y) / (x * x + y * y + 4)
    z *= mpmath.expj(pi / 4 * (1 + p["angle"] / 2))
    return w * z.real, w * z.imag * (1 if z.real > 0 else -1)

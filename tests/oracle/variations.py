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

"""The oracle of solids: each map again, in mpmath, and by another way where there is one.

A map takes a point (x, y, z) or (x, y, z, w), the point or the constant c that is added, and the
solid's parameters by name. It returns the next point and what the derivative is multiplied by; the
oracle adds 1 where the map adds the point.
"""

from itertools import permutations, product

import mpmath

mp = mpmath.mp.clone()  # other tests work with other precisions
mp.dps = 30
acos, atan2, cos, hypot, log, radians = mp.acos, mp.atan2, mp.cos, mp.hypot, mp.log, mp.radians
matrix, mpf, sin, sqrt, svd_r = mp.matrix, mp.mpf, mp.sin, mp.sqrt, mp.svd_r
GOLDEN = (1 + sqrt(5)) / 2


def length(p):
    return sqrt(sum(v * v for v in p))


def plus(p, c):
    return tuple(u + v for u, v in zip(p, c, strict=True))


def times(p, factor):
    return tuple(v * factor for v in p)


def rotated(p, turn, tilt, roll):
    """By three matrices, about z, x and y."""
    a, b, c = (radians(angle) for angle in (turn, tilt, roll))
    about_z = matrix([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])
    about_x = matrix([[1, 0, 0], [0, cos(b), -sin(b)], [0, sin(b), cos(b)]])
    about_y = matrix([[cos(c), 0, sin(c)], [0, 1, 0], [-sin(c), 0, cos(c)]])
    return tuple(about_y * about_x * about_z * matrix(p))


# Powers


def mandelbulb(p, c, power, theta=0, phi=0, **_):
    """By angles."""
    x, y, z = p
    r = length(p)
    a = power * acos(z / r) + radians(theta)
    b = power * atan2(y, x) + radians(phi)
    found = times((sin(a) * cos(b), sin(a) * sin(b), cos(a)), r**power)
    return plus(found, c), power * r ** (power - 1)


def juliabulb(p, c, power, theta=0, **more):
    """The slope about the z axis is as many times larger as a circle there grows more than r."""
    found, slope = mandelbulb(p, c, power, theta, **more)
    before = acos(p[2] / length(p))
    after = power * before + radians(theta)
    return found, slope * max(1, abs(sin(after) / sin(before))) ** mpf("0.5")


def burning_bulb(p, c, **parameters):
    return mandelbulb(tuple(map(abs, p)), c, **parameters)


def bristorbrot(p, c):
    """The slope by a singular value decomposition."""
    x, y, z = p
    slopes = matrix([[2 * x, -2 * y, -2 * z], [2 * y, 2 * x - z, -y], [2 * z, z, 2 * x + y]])
    found = x**2 - y**2 - z**2, 2 * x * y - y * z, 2 * x * z + y * z
    return plus(found, c), max(svd_r(slopes, compute_uv=False))


def quaternion(q, _c, k0, k1, k2, k3, w):
    """By Hamilton's product."""
    a, b, c, d = q
    e, f, g, h = q
    square = (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )
    return plus(square, (k0, k1, k2, k3)), 2 * length(q)


def bicomplex(q, c, w, **_):
    """By two complex numbers; c has four parts."""
    pairs = [(mp.mpc(x + v, y - z), mp.mpc(x - v, y + z)) for x, y, z, v in (q, c)]
    (one, other), (first, second) = pairs
    one, other = one * one + first, other * other + second
    found = (
        (one.real + other.real) / 2,
        (one.imag + other.imag) / 2,
        (other.imag - one.imag) / 2,
        (one.real - other.real) / 2,
    )
    return found, 2 * max(abs(pairs[0][0]), abs(pairs[0][1]))


# Boxes


def into_box(v, side):
    if v > side:
        return 2 * side - v
    return -2 * side - v if v < -side else v


def from_ball(p, inner, outer):
    """By how much the ball's inside is magnified."""
    r = length(p)
    if r < inner:
        return (outer / mpf(inner)) ** 2
    return (outer / r) ** 2 if r < outer else mpf(1)


def mandelbox(p, c, scale, fold, inner, outer, **angles):
    p = tuple(into_box(v, fold) for v in p)
    grown = from_ball(p, inner, outer)
    return plus(rotated(times(p, grown * scale), **angles), c), abs(grown * scale)


def amazing_surf(p, c, scale, fold, inner, outer, cx, cy, cz, **angles):
    p = into_box(p[0], fold), into_box(p[1], fold), p[2]
    grown = from_ball(p, inner, outer)
    return plus(rotated(times(p, grown * scale), **angles), c), grown * scale


def pseudo_kleinian(p, c, box_x, box_y, box_z, size, **_):
    p = tuple(into_box(v, side) for v, side in zip(p, (box_x, box_y, box_z), strict=True))
    grown = max(size / length(p) ** 2, mpf(1))
    return plus(times(p, grown), c), grown


def pseudo_kleinian_distance(p, tube, **_):
    x, y, z = p
    return max(hypot(x, y) - tube, hypot(x, y) * abs(z) / length(p))


# Kaleidoscopes: reflect in any mirror that the point is behind, until it is before all of them


def unit(*p):
    return times(tuple(map(mpf, p)), 1 / length(tuple(map(mpf, p))))


MIRRORS = {
    "sierpinski": [unit(1, 1, 0), unit(1, 0, 1), unit(0, 1, 1)],
    "menger": [unit(1, -1, 0), unit(0, 1, -1), unit(0, 0, 1)],
    "icosahedral": [unit(1, 0, 0), unit(0, 1, 0), unit(-1, -GOLDEN, 1 / GOLDEN)],
}
MIRRORS["octahedral"] = MIRRORS["menger"]


def before_mirrors(p, mirrors):
    while True:
        behind = [m for m in mirrors if sum(u * v for u, v in zip(m, p, strict=True)) < 0]
        if not behind:
            return p
        depth = 2 * sum(u * v for u, v in zip(behind[0], p, strict=True))
        p = tuple(v - depth * u for u, v in zip(behind[0], p, strict=True))


def menger(p, _c, scale, turn, tilt):
    x, y, z = rotated(before_mirrors(p, MIRRORS["menger"]), turn, tilt, 0)
    move = scale - 1
    x, y, z = scale * x - move, scale * y - move, scale * z
    return (x, y, z - move if z > move / mpf(2) else z), mpf(scale)


CORNERS = {
    ("sierpinski", None): (mpf(1), mpf(1), mpf(1)),
    ("octahedral", 4): unit(1, 0, 0),
    ("octahedral", 3): unit(1, 1, 1),
    ("octahedral", 2): unit(1, 1, 0),
    ("icosahedral", 5): unit(1, 0, GOLDEN),
    ("icosahedral", 3): unit(0, 1, GOLDEN**2),
    ("icosahedral", 2): unit(0, 0, 1),
}


def kaleidoscope(name):
    def move(p, _c, scale, corner=None, **angles):
        p = rotated(before_mirrors(p, MIRRORS[name]), **angles)
        return plus(times(p, scale), times(CORNERS[name, corner], 1 - scale)), mpf(scale)

    return move


MAPS = {
    "amazing_surf": amazing_surf,
    "bicomplex": bicomplex,
    "bristorbrot": bristorbrot,
    "burning_bulb": burning_bulb,
    "icosahedral": kaleidoscope("icosahedral"),
    "juliabulb": juliabulb,
    "mandelbox": mandelbox,
    "mandelbulb": mandelbulb,
    "menger": menger,
    "octahedral": kaleidoscope("octahedral"),
    "pseudo_kleinian": pseudo_kleinian,
    "quaternion": quaternion,
    "sierpinski": kaleidoscope("sierpinski"),
}


def constant_of(name, p, parameters):
    """Return what a map adds, and whether it is the point itself."""
    if name == "bicomplex" and parameters.get("julia"):
        return tuple(mpf(parameters[f"k{n}"]) for n in range(4)), False
    if "cx" in parameters:
        return tuple(mpf(parameters[f"c{axis}"]) for axis in "xyz"), False
    return p, name in ("bicomplex", "bristorbrot", "burning_bulb", "mandelbox", "mandelbulb")


def orbit(name, point, parameters, steps, bail):
    """Return the last point of an orbit, the derivative there and how many steps it took."""
    p = tuple(map(mpf, point))
    if "w" in parameters:
        p = (*p, mpf(parameters["w"]))
    c, own = constant_of(name, p, parameters)
    d, n = mpf(1), 0
    while n < steps and length(p) ** 2 < bail:
        p, slope = MAPS[name](p, c, **parameters)
        d, n = d * slope + own, n + 1
    return p, d, n


def distance(p, d, kind, body, factor, bail):
    """Return the distance estimate of the kinds "log" and "linear"."""
    r = length(p)
    if kind == "linear":
        return factor * (r - body) / d
    return factor * r * log(r) / (2 * d) if r**2 >= bail else mpf(0)


# Sets, for brute force


def corners_of(name):
    """Return the corners of a polyhedron, from which its own kaleidoscope magnifies."""
    if name == "sierpinski":
        return [p for p in product((-1, 1), repeat=3) if p[0] * p[1] * p[2] == 1]
    if name == "octahedral":
        return list(set(permutations((1, 0, 0))) | set(permutations((-1, 0, 0))))
    golden, scale = float(GOLDEN), float(1 / sqrt(1 + GOLDEN**2))
    signs = product((-scale, scale), repeat=2)
    return [
        p for s, t in signs for p in ((s, 0, t * golden), (0, t * golden, s), (t * golden, s, 0))
    ]

"""The oracle of solids: each map again, in mpmath, and by another way where there is one.

A map takes a point (x, y, z) or (x, y, z, w), the point or the constant c that is added, and the
solid's parameters by name. It returns the next point and what the derivative is multiplied by; the
oracle adds 1 where the map adds the point.
"""

import functools
from itertools import permutations, product

import mpmath

mp = mpmath.mp.clone()  # other tests work with other precisions
mp.dps = 30
acos, atan2, cos, hypot, log, radians = mp.acos, mp.atan2, mp.cos, mp.hypot, mp.log, mp.radians
matrix, mpf, sin, sqrt, svd_r = mp.matrix, mp.mpf, mp.sin, mp.sqrt, mp.svd_r
GOLDEN = (1 + sqrt(5)) / 2


def length(p):
    return sqrt(sum(v * v for v in p))


def inner(p, q):
    return sum(u * v for u, v in zip(p, q, strict=True))


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


def boxbulb(p, c, scale, fold, inner, outer, **bulb):
    p = tuple(into_box(v, fold) for v in p)
    grown = from_ball(p, inner, outer) * scale
    found, slope = mandelbulb(times(p, grown), c, **bulb)
    return found, slope * grown


def kalibox(p, c, scale, inner, outer, turn, tilt, roll, **more):
    moves = (more["move_x"], more["move_y"], more["move_z"])
    p = plus(tuple(map(abs, rotated(p, turn, tilt, roll))), moves)
    grown = from_ball(p, inner, outer) * scale
    return plus(times(p, grown), c), abs(grown)


# Groups: generators are applied as long as one of them magnifies


def kleinian(p, _c, real, imaginary, depth, **_):
    """By complex numbers, and translations one after the other; no factor: the orbit has ended."""
    x, y, z = p
    if not 0 <= z <= real:
        return p, None
    lean = mpf(imaginary) / real
    while abs(x + lean * z) > 1:
        x -= 2 * mp.sign(x + lean * z)
    while abs(y) > depth:
        y -= 2 * depth * mp.sign(y)
    z, it = mp.mpc(x, z), mp.mpc(-imaginary, real)
    if abs(it - z) < abs(z):
        z, y = it - z, -y
    square = abs(z) ** 2 + y**2
    if square >= 1:
        return (z.real, y, z.imag), None
    moved = mp.conj(z) / square + it
    return (moved.real, -y / square, moved.imag), 1 / square


def kleinian_distance(p, real, imaginary, depth, **_):
    """From images of the half-space, whose spheres follow from three points each."""
    z, it, found = mp.mpc(p[0], p[2]), mp.mpc(-imaginary, real), min(p[2], real - p[2])
    away = abs(p[1] - 2 * depth * mp.nint(p[1] / (2 * depth)))
    edge = [mpf(-1), mpf(0.5), mpf(2)]  # of the half-space
    for _ in range(8):
        edge = [1 / (point - it) for point in edge]
        u, v, w = edge
        t = (w - u) / (v - u)
        middle = u + (v - u) * (t - abs(t) ** 2) / (t - mp.conj(t))
        for at in (z, it - z):
            near = min(abs(at - middle - 2 * k) for k in range(-4, 5))
            found = min(found, hypot(near, away) - abs(middle - u))
    return found


@functools.cache
def faces_of(second, third):
    """Return planes as (normal, offset) and balls as (middle, radius) of a body of spheres.

    Balls touch the edges of the prism; their radii are found where all meet at 60 degrees.
    """
    ways = [(cos(a), sin(a), mpf(0)) for a in (radians(angle) for angle in (90, 210, 330))]
    heights = (mpf(0), mpf(second), mpf(third))

    def middle(k, radius):
        x, y, _ = ways[k]
        return x * (mpf(2) / 3 - radius), y * (mpf(2) / 3 - radius), heights[k]

    def off(*radii):
        found = []
        for j, k in ((0, 1), (1, 2), (2, 0)):
            u, v = middle(j, radii[j]), middle(k, radii[k])
            apart = sum((a - b) ** 2 for a, b in zip(u, v, strict=True))
            found.append(apart - radii[j] ** 2 - radii[k] ** 2 - radii[j] * radii[k])
        return found

    radii = list(mp.findroot(off, (0.33, 0.34, 0.32)))
    return [(way, -mpf(1) / 3) for way in ways], [(middle(k, radii[k]), radii[k]) for k in range(3)]


def quasi_fuchsian(p, _c, second, third, **_):
    """One reflection, in the face that the point is farthest behind."""
    planes, balls = faces_of(second, third)
    behind = [inner(n, p) - at for n, at in planes]
    k = min(range(3), key=behind.__getitem__)
    if behind[k] < -(mpf(10) ** -20):
        return tuple(v - 2 * behind[k] * u for u, v in zip(planes[k][0], p, strict=True)), mpf(1)
    for middle, radius in balls:
        away = tuple(v - u for u, v in zip(middle, p, strict=True))
        grown = (radius / max(length(away), mpf(10) ** -20)) ** 2
        if grown > 1 + mpf(10) ** -20:
            return plus(middle, times(away, grown)), grown
    return p, None


@functools.cache
def cusps_of(second, third):
    """Return the points where three faces meet, and the directions in which all of them go on.

    A reflection that leaves the three faces as they are leaves the point, too: so it lies in the
    plane through their middles, or along a normal, and its powers for all faces are equal.
    """
    planes, balls = faces_of(second, third)
    found = [
        ((2 * n[0] / 3, 2 * n[1] / 3, middle[2]), (0, 0, 1))
        for (n, _), (middle, _) in zip(planes, balls, strict=True)
    ]
    for k in range(4):
        (u, r), (v, q) = balls[k - 2], balls[k - 1]
        along, rows, sums = plus(v, times(u, -1)), [], []
        if k < 3:
            across, at = planes[k]
            rows.append(across)
            sums.append(at - inner(across, u))
        else:
            s, across = balls[0][1], plus(balls[0][0], times(u, -1))
            rows.append(across)
            sums.append((inner(across, across) + r * r - s * s) / 2)
        rows.append(along)
        sums.append((inner(along, along) + r * r - q * q) / 2)
        parts = mp.lu_solve(
            matrix([[inner(row, way) for way in (along, across)] for row in rows]), matrix(sums)
        )
        place = plus(u, plus(times(along, parts[0]), times(across, parts[1])))
        way = unit(
            along[1] * across[2] - along[2] * across[1],
            along[2] * across[0] - along[0] * across[2],
            along[0] * across[1] - along[1] * across[0],
        )
        found.append((place, times(way, mp.sign(way[2]))))
    return found


def quasi_fuchsian_distance(p, second, third, **_):
    """The mean height over cusps, of which a nearer one counts more."""
    whole = high = mpf(0)
    for place, way in cusps_of(second, third):
        away = plus(p, times(place, -1))
        whole += 1 / length(away) ** 4
        high += inner(away, way) / length(away) ** 4
    return high / whole


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


def menger_ball(p, _c, scale, turn, tilt, roll, **ball):
    p = before_mirrors(p, MIRRORS["menger"])
    grown, move = from_ball(p, **ball) * scale, scale - 1
    x, y, z = times(rotated(p, turn, tilt, roll), grown)
    return (x - move, y - move, z - move if z > move / mpf(2) else z), grown


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
    "boxbulb": boxbulb,
    "bristorbrot": bristorbrot,
    "burning_bulb": burning_bulb,
    "icosahedral": kaleidoscope("icosahedral"),
    "juliabulb": juliabulb,
    "kalibox": kalibox,
    "kleinian": kleinian,
    "mandelbox": mandelbox,
    "mandelbulb": mandelbulb,
    "menger": menger,
    "menger_ball": menger_ball,
    "octahedral": kaleidoscope("octahedral"),
    "pseudo_kleinian": pseudo_kleinian,
    "quasi_fuchsian": quasi_fuchsian,
    "quaternion": quaternion,
    "sierpinski": kaleidoscope("sierpinski"),
}


# Of solids whose distance is a formula of their own
DISTANCES = {
    "kleinian": kleinian_distance,
    "pseudo_kleinian": pseudo_kleinian_distance,
    "quasi_fuchsian": quasi_fuchsian_distance,
}


def constant_of(name, p, parameters):
    """Return what a map adds, and whether it is the point itself."""
    if name == "bicomplex" and parameters.get("julia"):
        return tuple(mpf(parameters[f"k{n}"]) for n in range(4)), False
    if "cx" in parameters:
        return tuple(mpf(parameters[f"c{axis}"]) for axis in "xyz"), False
    return p, name in (
        *("bicomplex", "boxbulb", "bristorbrot", "burning_bulb"),
        *("mandelbox", "mandelbulb"),
    )


def orbit(name, point, parameters, steps, bail):
    """Return the last point of an orbit, the derivative there and how many steps it took."""
    p = tuple(map(mpf, point))
    if "w" in parameters:
        p = (*p, mpf(parameters["w"]))
    c, own = constant_of(name, p, parameters)
    d, n = mpf(1), 0
    while n < steps and length(p) ** 2 < bail:
        p, slope = MAPS[name](p, c, **parameters)
        if slope is None:
            break
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

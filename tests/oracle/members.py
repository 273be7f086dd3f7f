"""Which points belong to solids, for many points at once, and how far the nearest member is.

Maps are written once more, in NumPy and by angles or complex numbers, without derivatives. What
belongs to a solid follows from orbits alone, not from a distance estimate. A fin without thickness
holds no random point: so a point climbs to where orbits stay longer, until one stays for as many
steps as the finest detail of a picture takes.
"""

import functools
import math

import numpy as np
from oracle import solids as oracle

ROUNDS, TRIES, STARTS, BEST = 48, 12, 96, 3  # of a climb; points that are tried, and of these
DIGITS = 5
SHRINKS = 0.72  # the ball in which a climb goes on, in each round: to 1e-7 of the first one


def length(p):
    return np.sqrt((p * p).sum(0))


def bulb(p, c, power, theta=0.0, phi=0.0, **_):
    r, flat = length(p), np.hypot(p[0], p[1])
    a = power * np.arctan2(flat, p[2]) + np.radians(theta)
    b = power * np.arctan2(p[1], p[0]) + np.radians(phi)
    return r**power * np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)]) + c


def bristorbrot(p, c):
    x, y, z = p
    return np.stack([x * x - y * y - z * z, y * (2 * x - z), z * (2 * x + y)]) + c


def expression(p, c, **_):
    """The usual statements of `solid_expression`."""
    x, y, z = p
    return np.stack([x * x - y * y - z * z, 2 * x * y, -2 * x * z]) + c


def quaternion(p, _c, k0, k1, k2, k3, **_):
    a, v = p[0], p[1:]
    return np.stack([a * a - (v * v).sum(0), *(2 * a * v)]) + np.array([[k0], [k1], [k2], [k3]])


def bicomplex(p, c, **_):
    def parts(q):
        return q[0] + q[3] + 1j * (q[1] - q[2]), q[0] - q[3] + 1j * (q[1] + q[2])

    u, v = (z * z + k for z, k in zip(parts(p), parts(c), strict=True))
    both = u.real + v.real, u.imag + v.imag, v.imag - u.imag, u.real - v.real
    return np.stack(both) / 2


def into_box(v, side):
    return 2 * np.clip(v, -side, side) - v


def turned(p, turn, tilt, roll):
    """By three rotations: about z, x and y."""
    for axis, angle in ((2, turn), (0, tilt), (1, roll)):
        if not angle:
            continue
        first, second = p[axis - 2], p[axis - 1]
        c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        p = np.roll(np.stack([p[axis], c * first - s * second, s * first + c * second]), axis, 0)
    return p


def box(p, c, scale, fold, inner, outer, axes=3, **rest):
    angles = {name: rest[name] for name in ("turn", "tilt", "roll")}
    p = np.stack([into_box(v, fold) if k < axes else v for k, v in enumerate(p)])
    p = p * scale * outer**2 / np.clip((p * p).sum(0), inner**2, outer**2)
    return turned(p, **angles) + c


def boxbulb(p, c, power, theta, phi, **sizes):
    return bulb(box(p, 0, **sizes, turn=0, tilt=0, roll=0), c, power, theta, phi)


def kalibox(p, c, scale, inner, outer, turn, tilt, roll, move_x, move_y, move_z, **_):
    p = abs(turned(p, turn, tilt, roll)) + np.array([[move_x], [move_y], [move_z]])
    return p * scale * outer**2 / np.clip((p * p).sum(0), inner**2, outer**2) + c


def menger_ball(p, _c, scale, inner, outer, **angles):
    p = reflected(p, "menger")
    p = turned(p * scale * outer**2 / np.clip((p * p).sum(0), inner**2, outer**2), **angles)
    move = scale - 1
    return np.stack([p[0] - move, p[1] - move, np.where(p[2] > move / 2, p[2] - move, p[2])])


def kleinian(p, _c, real, imaginary, depth, **_):
    x, y, z = p
    it, lean = -imaginary + 1j * real, imaginary / real
    there = x - 2 * np.round((x + lean * z) / 2) + 1j * z
    across = y - 2 * depth * np.round(y / (2 * depth))
    turned_round = abs(it - there) < abs(there)
    there = np.where(turned_round, it - there, there)
    across = np.where(turned_round, -across, across)
    square = abs(there) ** 2 + across**2
    going = square < 1
    there = np.where(going, there.conj() / square + it, there)
    found = np.stack([there.real, np.where(going, -across / square, across), there.imag])
    return np.where((z < 0) | (z > real), p, found)


def faces_of(second, third):
    planes, balls = oracle.faces_of(second, third)
    middles, radii = zip(*balls, strict=True)
    normals = [normal for normal, _ in planes]
    return (np.array(part, float) for part in (normals, middles, radii))


def quasi_fuchsian(p, _c, second, third, **_):
    normals, middles, radii = faces_of(second, third)
    behind = normals @ p + 1 / 3
    worst = behind.argmin(0)
    depth = np.take_along_axis(behind, worst[None], 0)
    out = depth < -1e-12
    found = np.where(out, p - 2 * depth * normals[worst].T, p)
    for middle, radius in zip(middles, radii, strict=True):
        away = p - middle[:, None]
        grown = radius**2 / np.maximum((away * away).sum(0), 1e-30)
        inside = (grown > 1 + 1e-12) & ~out[0]
        found = np.where(inside, middle[:, None] + away * grown, found)
        out = out | inside
    return found


def into_boxes(p, box_x, box_y, box_z, **_):
    return np.stack([into_box(v, side) for v, side in zip(p, (box_x, box_y, box_z), strict=True)])


def pseudo_kleinian(p, c, size, **boxes):
    p = into_boxes(p, **boxes)
    return p * np.maximum(size / (p * p).sum(0), 1) + c


def reflected(p, name):
    mirrors = np.array([[float(v) for v in mirror] for mirror in oracle.MIRRORS[name]])
    for _ in range(15):
        for mirror in mirrors:
            p = p - 2 * np.minimum(mirror @ p, 0) * mirror[:, None]
    return p


def menger(p, _c, scale, turn, tilt):
    x, y, z = scale * turned(reflected(p, "menger"), turn, tilt, 0.0)
    move = scale - 1
    return np.stack([x - move, y - move, np.where(z > move / 2, z - move, z)])


def kaleidoscope(p, _c, name, scale, corner=None, **angles):
    p = turned(reflected(p, name), **angles)
    away = np.array([float(v) for v in oracle.CORNERS[name, corner]])
    return scale * p + (1 - scale) * away[:, None]


MAPS = {
    "amazing_surf": functools.partial(box, axes=2),
    "bicomplex": bicomplex,
    "boxbulb": boxbulb,
    "bristorbrot": bristorbrot,
    "burning_bulb": lambda p, c, **given: bulb(abs(p), c, **given),
    "icosahedral": functools.partial(kaleidoscope, name="icosahedral"),
    "juliabulb": bulb,
    "kalibox": kalibox,
    "kleinian": kleinian,
    "mandelbox": box,
    "mandelbulb": bulb,
    "menger": menger,
    "menger_ball": menger_ball,
    "octahedral": functools.partial(kaleidoscope, name="octahedral"),
    "pseudo_kleinian": pseudo_kleinian,
    "quasi_fuchsian": quasi_fuchsian,
    "quaternion": quaternion,
    "sierpinski": functools.partial(kaleidoscope, name="sierpinski"),
    "solid_expression": expression,
}


def needed(solid):
    """Return for how many steps the orbits of members stay: they magnify by a million."""
    if solid.name in OFF:
        return DIGITS
    if solid.name in ("mandelbox", "amazing_surf", "kalibox"):
        return math.ceil(14 / math.log(abs(solid.parameters["scale"])))
    return solid.steps


def stays(solid, points):
    """Return for how many steps the orbits of points stay within a solid's bail, continuously.

    points: array, shape (3, n). No orbit of a group ends far away: there it is the digits by which
    its last point is nearer to what the solid is made of than 1.
    """
    parts = (solid,) if solid.name in MAPS else solid.sequence  # of a hybrid
    moves = [functools.partial(MAPS[part.name], **part.parameters) for part in parts]
    if solid.name in OFF:
        return digits(points, moves[0], constant_of(solid, points), solid)
    p = points if solid.fourth is None else np.vstack([points, 0 * points[:1] + solid.fourth])
    constants = [constant_of(part, p) for part in parts]
    edge, most = np.log(solid.bail) / 2, needed(solid)
    found, alive, before = 0 * p[0] + most, np.arange(points.shape[1]), 0 * p[0]
    with np.errstate(all="ignore"):
        for n in range(most):
            for move, c in zip(moves, constants, strict=True):
                p = move(p, c)
            after = np.log(length(p))
            out = ~(after < edge)
            part = (edge - before[out]) / np.maximum(after[out] - before[out], 1e-9)
            found[alive[out]] = n + np.clip(np.nan_to_num(part), 0, 1)
            p, alive, before = p[:, ~out], alive[~out], after[~out]
            constants = [c if c.shape[1] == 1 else c[:, ~out] for c in constants]
    return found


def digits(p, move, c, solid):
    grown, near = np.ones(p.shape[1]), np.array([[3e-7], [-2e-7], [1e-7]])
    for _ in range(STEPS.get(solid.name, solid.steps)):
        after = move(p, c)
        grown = grown * length(move(p + near, c) - after) / length(near)
        p = after
    return -np.log10(np.maximum(OFF[solid.name](p, **solid.parameters), 1e-9) / grown)


def off_tube(p, tube, **_):
    flat = np.hypot(p[0], p[1])
    return np.maximum(flat - tube, flat * abs(p[2]) / length(p))


def off_slab(p, real, **_):
    return np.minimum(p[2], real - p[2])


def off_low(p, second, third, **_):
    """1 above a body of spheres, and 0 below: the balls cover the triangle between its planes."""
    _, middles, radii = faces_of(second, third)
    over = [
        (np.hypot(*(p[:2] - middle[:2, None])) < radius) & (p[2] < middle[2])
        for middle, radius in zip(middles, radii, strict=True)
    ]
    return 1.0 - np.any(over, 0)


# Of solids that groups make: how far a point is from what the solid is made of
OFF = {"kleinian": off_slab, "pseudo_kleinian": off_tube, "quasi_fuchsian": off_low}
STEPS = {"quasi_fuchsian": 100}  # which reflect in one face each


def constant_of(solid, p):
    """Return what a map adds."""
    if solid.constants is None:
        return p if len(p) == 4 or solid.fourth is None else p[:3]
    if solid.name == "bicomplex":
        return np.array([[solid.parameters[f"k{n}"]] for n in range(4)])
    return np.array(solid.constants)[:, None]


def in_ball(dice, count, n):
    """Return random points of the unit ball, shape (3, n, count)."""
    way = dice.normal(size=(3, n, count))
    return way / length(way) * dice.random((n, count)) ** (1 / 3)


def nearest(solid, points, radii, seed=0):
    """Return for each point a member within the least of some radii that holds one, or NaN.

    points: array, shape (n, 3); radii: array, shape (n, steps), growing. Returns which of the radii
    holds a member (their number where none does), and the members, shape (n, 3).
    """
    dice = np.random.default_rng(seed)
    which, members = np.full(len(points), radii.shape[1]), np.full(points.shape, np.nan)
    for k in range(radii.shape[1]):
        left = np.flatnonzero(which == radii.shape[1])
        if not len(left):
            break
        found, there = climbed(solid, points[left].T, radii[left, k], dice)
        which[left[there]] = k
        members[left[there]] = found.T[there]
    return which, members


def climbed(solid, centers, radii, dice):
    """Return points of balls whose orbits stay long, shape (3, n), and which are members."""
    n, most = len(radii), needed(solid)
    tried = centers[:, :, None] + radii[:, None] * in_ball(dice, STARTS, n)
    long = stays(solid, tried.reshape(3, -1)).reshape(n, STARTS)
    best = np.argsort(-long, 1)[:, :BEST]
    rows = np.arange(n)[:, None]
    at, long = tried[:, rows, best].reshape(3, -1), long[rows, best].ravel()
    owner, size = np.repeat(np.arange(n), BEST), np.repeat(radii, BEST) / 2
    for _ in range(ROUNDS):
        done = np.zeros(n, bool)
        done[owner[long >= most]] = True
        go = np.flatnonzero(~done[owner])
        if not len(go):
            break
        moves = size[go][:, None] * in_ball(dice, TRIES, len(go))
        away = at[:, go][:, :, None] + moves - centers[:, owner[go]][:, :, None]
        far = np.maximum(length(away) / radii[owner[go]][:, None], 1)
        tried = centers[:, owner[go]][:, :, None] + away / far
        other = stays(solid, tried.reshape(3, -1)).reshape(len(go), TRIES)
        top = other.argmax(1)
        more = other[np.arange(len(go)), top] > long[go]
        at[:, go[more]] = tried[:, np.arange(len(go)), top][:, more]
        long[go[more]] = other[np.arange(len(go)), top][more]
        size[go] *= SHRINKS
    best = long.reshape(n, BEST).argmax(1)
    return at.reshape(3, n, BEST)[:, np.arange(n), best], long.reshape(n, BEST).max(1) >= most

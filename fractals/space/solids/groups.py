"""Solids of discrete groups of space: each step applies elements of a group to the point.

An element maps the group's limit set onto itself. So a step changes no distance but by the factor
that d counts, and the distance at the last point of an orbit leads to that at the first. The fourth
coordinate tells of that point: it is `DONE`, which ends the orbit, where no step would magnify.
"""

import math

from fractals.kernels.elementary import nearest
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.space import above, bounced, gap, inverted
from fractals.space.solid import Knob, Solid, within

CUT = Knob(0.5, 20.0, "of the sphere that cuts the solid, which has no end")
DONE, BAIL = 1e5, 1e8
TINY = 1e-20  # that keeps the square of a distance from 0


def trap(x, y, z, options):
    """Return how far a point is from 0, without the fourth coordinate."""
    return sqrt(fma(x, x, fma(y, y, z * z)))


# --- A map, half a turn and translations

CHAIN = 8  # images of a half-space under the inverse of the map, with which orbits' ends compare
KLEINIAN_KNOBS = {
    "real": Knob(1.5, 2.5, "real part of t, the trace of the map 1/z + i t"),
    "imaginary": Knob(-1.0, 1.0, "imaginary part of t"),
    "depth": Knob(0.5, 4.0, "half of the period along y; that along x is 2"),
    "radius": CUT,
}


def kleinian_step(x, y, z, w, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    real, imaginary, slope, middle, deep, shallow = options[:6]
    zero, one, two, done = number(0, x), number(1, x), number(2, x), number(DONE, x)
    # Into a cell of the translations, which leans as i t does
    p = fma(slope, z, x)
    p = fma(-two, nearest(number(0.5, x) * p), p)
    p, q, r = fma(-slope, z, p), fma(-deep, nearest(shallow * y), y), z
    # Half a turn about i t / 2, where that brings the point nearer to 0: it is magnified there
    turned = fma(real, r, -(imaginary * p)) > middle
    p, q, r = select(turned, -imaginary - p, p), select(turned, -q, q), select(turned, real - r, r)
    square = fma(p, p, fma(q, q, fma(r, r, number(TINY, x))))
    f, left = one / square, (z < zero) | (z > real)
    still = left | (square >= one)
    return (
        select(left, x, select(still, p, fma(p, f, -imaginary))),
        select(left, y, select(still, q, -(q * f))),
        select(left, z, select(still, r, fma(-r, f, real))),
        select(still, done, w),
        select(still, d, d * f),
    )


def kleinian_distance(x, y, z, d, options):
    """Return the distance estimate: to the nearer half-space, or to a ball of a chain."""
    real, imaginary, _, _, deep, shallow = options[:6]
    h = fma(-deep, nearest(shallow * y), y)
    here, there, square = (x, z), (-imaginary - x, real - z), h * h
    found = select(z < there[1], z, there[1])
    found = gap(found, here, there, square, options[6:9])
    found = gap(found, here, there, square, options[9:12])
    found = gap(found, here, there, square, options[12:15])
    found = gap(found, here, there, square, options[15:18])
    found = gap(found, here, there, square, options[18:21])
    found = gap(found, here, there, square, options[21:24])
    found = gap(found, here, there, square, options[24:27])
    return gap(found, here, there, square, options[27:30]) / d


def chain_of(real, imaginary):
    """Return balls that the inverse of the map makes of the half-space y < 0, one of the other."""
    middle, radius = complex(0.0, 0.5 / real), 0.5 / real
    balls = []
    for _ in range(CHAIN):
        balls.append((middle.real, middle.imag, radius))
        middle -= complex(-imaginary, real)
        power = abs(middle) ** 2 - radius * radius  # of 0
        middle, radius = middle.conjugate() / power, radius / abs(power)
    return balls


def kleinian(real=1.9, imaginary=0.1, depth=1.0, radius=4.0):
    """Kleinian groups of Maskit's slice, in space (Bernard Maskit, 1974; Jos Leys, 2017).

    The map 1/z + i t of z = x + i (the third coordinate), and translations by 2 along x, make
    Maskit's group. In space 1/z inverts a ball, and mirrors the other two coordinates; and there is
    a translation along y. An orbit that leaves the slab between two planes has come into an image
    of a half-space: the solid is made of these, which are balls.
    """
    given = within(KLEINIAN_KNOBS, real=real, imaginary=imaginary, depth=depth, radius=radius)
    middle = (real * real + imaginary * imaginary) / 2
    chain = (number for ball in chain_of(real, imaginary) for number in ball)
    return Solid(
        "kleinian",
        "Kleinian group of Maskit's slice",
        kleinian_step,
        distance=kleinian_distance,
        trap=trap,
        steps=30,
        bail=BAIL,
        bound=radius,
        fourth=0.0,
        constants=(0.0, 0.0, 0.0),
        factor=0.5,
        short=2.0,
        options=(real, imaginary, imaginary / real, middle, 2 * depth, 0.5 / depth, *chain),
        parameters=given,
        knobs=KLEINIAN_KNOBS,
        source="Bernard Maskit, 1974; in space: Jos Leys, 2017",
        position=(0.3, -0.45, 0.9),
        target=(0.0, 1.0, 0.95),
    )


# --- Reflections in the faces of a body: a prism of three planes over three balls

SLANT, THIRD = math.sqrt(3) / 2, 1 / 3  # of the triangle under the prism, whose height is 1
# From the middle to its corners; the side across a corner is a third away the other way.
WAYS = ((0.0, 1.0), (-SLANT, -0.5), (SLANT, -0.5))
NEAR = 1e-6  # to a side of the triangle, where a point is within it
QUASI_FUCHSIAN_KNOBS = {
    "second": Knob(-0.6, 0.6, "height of the second ball over the first one"),
    "third": Knob(-0.6, 0.6, "height of the third ball over the first one"),
    "radius": CUT,
}


def quasi_fuchsian_step(x, y, z, w, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    side, slant, half = number(THIRD, x), number(SLANT, x), number(-0.5, x)
    u = y + side
    back = bounced(u) - u
    y = y + back
    u = fma(half, y, fma(-slant, x, side))
    left = bounced(u) - u
    x, y = fma(-slant, left, x), fma(half, left, y)
    u = fma(half, y, fma(slant, x, side))
    right = bounced(u) - u
    x, y = fma(slant, right, x), fma(half, right, y)
    x, y, z, first = inverted(x, y, z, options[:3], options[3])
    x, y, z, second = inverted(x, y, z, options[4:7], options[7])
    x, y, z, third = inverted(x, y, z, options[8:11], options[11])
    f = first * (second * third)
    # Rounded, a point on a side may be reflected for ever
    moved = (abs(back) + abs(left) + abs(right) > number(NEAR, x)) | (f > number(1, x))
    return x, y, z, select(moved, w, number(DONE, x)), d * f


def quasi_fuchsian_distance(x, y, z, d, options):
    """Return the distance estimate: how far above its cusps a point of the body is.

    The cusps lie on the limit set, and each has a direction across it. A nearer cusp counts more.
    """
    zero, one = number(0, x), number(1, x)
    right, low, high = number(2 * THIRD * SLANT, x), number(-THIRD, x), number(2 * THIRD, x)
    up = zero, zero, one
    w0, h0 = above(x, y, z, (zero, high, options[2]), up)
    w1, h1 = above(x, y, z, (-right, low, options[6]), up)
    w2, h2 = above(x, y, z, (right, low, options[10]), up)
    w3, h3 = above(x, y, z, options[12:15], options[15:18])
    w4, h4 = above(x, y, z, options[18:21], options[21:24])
    w5, h5 = above(x, y, z, options[24:27], options[27:30])
    w6, h6 = above(x, y, z, options[30:33], options[33:36])
    weight = ((w0 + w1) + (w2 + w3)) + ((w4 + w5) + w6)
    return (((h0 + h1) + (h2 + h3)) + ((h4 + h5) + h6)) / (weight * d)


def cusp_of(faces):
    """Return the point where faces meet, and the direction of all of them there.

    `faces`: two or three balls, as middle and radius, and at most one plane, as its normal and 0.
    """
    grown = sum(1 / radius for _, radius in faces if radius)
    parts = [[v / radius if radius else -v for v in middle] for middle, radius in faces]
    place = [sum(axis) / grown for axis in zip(*parts, strict=True)]
    (u, v, w), (p, q, r) = (
        [(here - there) / radius for here, there in zip(place, middle, strict=True)]
        for middle, radius in faces[-2:]
    )
    way = v * r - w * q, w * p - u * r, u * q - v * p
    length = math.copysign(math.hypot(*way), way[2])
    return (*place, *(part / length for part in way))


def quasi_fuchsian(second=0.45, third=0.2, radius=4.0):
    """Quasi-Fuchsian groups of a body of spheres (Kazushi Ahara and Yoshiaki Araki, 2003).

    The six faces of the body, three upright planes and three spheres, meet at 60 degrees, so
    reflections in them make a discrete group, whatever the heights of the balls: it tiles what is
    above its limit set, and the solid is what is below, without an end.
    """
    given = within(QUASI_FUCHSIAN_KNOBS, second=second, third=third, radius=radius)
    heights = [float(height) for height in (0.0, second, third)]
    # The other two balls meet at 60 degrees where their radii add up to this
    sums = [2 * THIRD + (heights[k - 2] - heights[k - 1]) ** 2 / 2 for k in range(3)]
    radii = [sum(sums) / 2 - own for own in sums]
    if not all(0 < size <= 0.5 for size in radii):
        raise ValueError(
            f"second, third: {second:g} and {third:g} are too far apart: a ball would meet a side"
        )
    middles = [
        ((2 * THIRD - size) * x, (2 * THIRD - size) * y, height)
        for (x, y), size, height in zip(WAYS, radii, heights, strict=True)
    ]
    balls = list(zip(middles, radii, strict=True))
    sides = [((x, y, 0.0), 0.0) for x, y in WAYS]
    cusps = [cusp_of([sides[k], balls[k - 2], balls[k - 1]]) for k in range(3)]
    return Solid(
        "quasi_fuchsian",
        "Quasi-Fuchsian group of a body of spheres",
        quasi_fuchsian_step,
        distance=quasi_fuchsian_distance,
        trap=trap,
        steps=30,
        bail=BAIL,
        bound=radius,
        fourth=0.0,
        constants=(0.0, 0.0, 0.0),
        factor=0.55,
        short=1 / 0.55,
        options=(
            *(number for middle, size in balls for number in (*middle, size * size)),
            *(number for cusp in (*cusps, cusp_of(balls)) for number in cusp),
        ),
        parameters=given,
        knobs=QUASI_FUCHSIAN_KNOBS,
        source="Kazushi Ahara and Yoshiaki Araki, 2003",
        position=(0.4, -1.5, 1.3),
        target=(0.0, 0.2, 0.1),
    )

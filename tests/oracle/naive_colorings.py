"""The oracle of the colorings: their values, by plain complex arithmetic.

The oracle imports nothing of `fractals` and nothing of other tests. An orbit is a list of complex
numbers z_0, z_1, ...; the last one has escaped or is the one at the iteration limit.
"""

import cmath
import itertools
import math


def orbit(power, start, c, limit, radius):
    """Return z_0, z_1, ... up to the first point outside the radius, at most to z_limit."""
    points = [start]
    while len(points) <= limit and abs(points[-1]) <= radius:
        points.append(points[-1] ** power + c)
    return points


def escaped(points, limit):
    return len(points) - 1 < limit


def fraction(points, radius, degree):
    """Return the fraction, 0 to 1, that the smooth count adds to the count."""
    beyond = math.log(abs(points[-1])) / math.log(radius)
    return min(max(1 - math.log(beyond) / math.log(degree), 0), 1)


def smooth_mean(terms, part):
    """Return the mean of all terms, mixed by `part` with the mean of all but the last."""
    whole = sum(terms) / len(terms)
    if len(terms) == 1:
        return whole
    before = sum(terms[:-1]) / (len(terms) - 1)
    return before + part * (whole - before)


def turns(z):
    return (cmath.phase(z) / (2 * math.pi)) % 1


def stripe_terms(points, c, density):
    return [0.5 + 0.5 * math.sin(density * cmath.phase(z)) for z in points[1:]]


def triangle_terms(points, c):
    terms = []
    for before, after in itertools.pairwise(points):
        moved = abs(after - c)
        low, high = abs(moved - abs(c)), moved + abs(c)
        terms.append(0 if before == 0 else (abs(after) - low) / (high - low))
    return terms


def curvature_terms(points, c):
    terms = [0.0]
    for k in range(2, len(points)):
        first, second = points[k - 1] - points[k - 2], points[k] - points[k - 1]
        terms.append(abs(cmath.phase(second / first)) / math.pi)
    return terms


def trap_distance(points, shape, middle, angle, radius):
    """Return the least distance of z_1, z_2, ... from the trap."""
    turned = cmath.exp(-1j * math.radians(angle))
    found = []
    for z in points[1:]:
        w = (z - middle) * turned
        found.append(
            {
                "point": abs(w),
                "line": abs(w.imag),
                "cross": min(abs(w.real), abs(w.imag)),
                "circle": abs(abs(w) - radius),
            }[shape]
        )
    return min(found)


def nearest_step(points):
    """Return the number of the step with the smallest |z|."""
    sizes = [abs(z) for z in points[1:]]
    return 1 + sizes.index(min(sizes))


def cycle(power, c, settled):
    """Return period and |multiplier| of the cycle to which an orbit has converged."""
    z, product = settled, 1
    for period in range(1, 1000):
        product *= power * z ** (power - 1)
        z = z**power + c
        if abs(z - settled) < 1e-9:
            return period, abs(product)
    raise AssertionError("no cycle")


def derivative(points, power, julia):
    """Return dz/dc, or dz/dz_0 of a Julia set."""
    d = 1 if julia else 0
    for z in points[:-1]:
        d = power * z ** (power - 1) * d + (0 if julia else 1)
    return d


def relief(z, dz, direction, height, strength, ambient, specular):
    """Return the light reflected by a slope, by the models of Lambert and Phong."""
    uphill = z / dz
    uphill /= abs(uphill)
    steep = math.hypot(1, strength)
    normal = (strength * uphill.real / steep, strength * uphill.imag / steep, 1 / steep)
    flat = math.cos(math.radians(height))
    light = (
        flat * math.cos(math.radians(direction)),
        flat * math.sin(math.radians(direction)),
        math.sin(math.radians(height)),
    )
    toward = sum(n * v for n, v in zip(normal, light, strict=True))
    mirrored = max(0, 2 * toward * normal[2] - light[2])
    matte = ambient + (1 - ambient) * max(0, toward)
    return (1 - specular) * matte + specular * mirrored**16


def smoothstep(t):
    t = min(max(t, 0), 1)
    return 3 * t**2 - 2 * t**3


def field_line(points, radius, degree, lines, weight):
    place = (turns(points[-1]) * lines) % 1
    part = fraction(points, radius, degree)
    width = weight * (1 - part + part / degree)
    return smoothstep(2 * min(place, 1 - place) / width)


def band_border(points, radius, degree, lines, weight):
    part = fraction(points, radius, degree)
    width = math.pi * weight / lines / math.log(radius) / math.log(degree)
    return smoothstep(2 * min(part, 1 - part) / width)


# Blending: W3C, Compositing and Blending Level 1, of one channel from 0 to 1


def blended(mode, below, above, opacity):
    """Return the color of a layer blended over the color below it."""
    if mode == "soft_light":
        if above <= 0.5:
            mixed = below - (1 - 2 * above) * below * (1 - below)
        else:
            curve = ((16 * below - 12) * below + 4) * below if below <= 0.25 else math.sqrt(below)
            mixed = below + (2 * above - 1) * (curve - below)
    else:
        mixed = {
            "normal": above,
            "multiply": below * above,
            "screen": below + above - below * above,
            "overlay": 2 * below * above if below <= 0.5 else 1 - 2 * (1 - below) * (1 - above),
            "add": min(1, below + above),
            "hard_light": 2 * below * above if above <= 0.5 else 1 - 2 * (1 - below) * (1 - above),
            "darken": min(below, above),
            "lighten": max(below, above),
            "difference": abs(below - above),
            "exclusion": below + above - 2 * below * above,
        }[mode]
    return (1 - opacity) * below + opacity * mixed


def first_hit(points, picture, middle, size):
    """Return the color of the first visible pixel that the orbit hits, or None.

    `picture` is a list of rows of (red, green, blue, opacity).
    """
    rows, columns = len(picture), len(picture[0])
    for z in points[1:]:
        across = (z - middle).real / size + 0.5
        down = 0.5 - (z - middle).imag / (size * rows / columns)
        if 0 <= across < 1 and 0 <= down < 1:
            *color, opacity = picture[int(down * rows)][int(across * columns)]
            if opacity:
                return color
    return None

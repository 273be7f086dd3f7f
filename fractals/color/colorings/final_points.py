"""Colorings of the last point of an orbit: its direction and distance, and of its derivative."""

import math
from typing import Any

from fractals.kernels import angles
from fractals.kernels.coloring import Coloring, Option, OrbitStatistic, in_widths, make_lines
from fractals.kernels.elementary import angle_in_turns, make_log2, sincos_series
from fractals.kernels.primitives import fma, number, select, sqrt

# How values from 0 to 1 are drawn that darken the layers below
OVER_OTHERS: Any = {"transfer": "linear", "palette": "ink", "blend": "multiply"}


def settings_alone(formula, escape_radius, width, **settings):
    return tuple(settings.values())


def make_final_angle_value(target):
    angle_of = target.jit(angle_in_turns)

    def value(n, x, y, p, q, constants):
        return angle_of(x, y)

    return value


def final_angle():
    """Final angle: the direction of the escaped point, in turns; smooth `decomposition`."""
    return Coloring(
        name="final_angle",
        title="direction of the escaped point",
        make_value=make_final_angle_value,
        unit="turns",
        ends="any",
        transfer="linear",
    )


def make_decomposition_value(target):
    real, int32, angle_of = target.real, target.int32, target.jit(angle_in_turns)
    one = real(1)

    def value(n, x, y, p, q, constants):
        parts = constants[2]
        part = real(int32(angle_of(x, y) * parts))
        return select(part < parts, part, parts - one) / parts

    return value


def decomposition():
    """Decomposition: the direction of the escaped point, rounded down to equal parts of a turn.

    Two parts give the binary decomposition, whose cells of 0 and 1 spell external angles. After
    Peitgen and Richter, *The Beauty of Fractals* (1986).
    """
    return Coloring(
        name="decomposition",
        title="which part of a turn the escaped point lies in",
        make_value=make_decomposition_value,
        unit="turns",
        ends="any",
        constants=settings_alone,
        transfer="linear",
        options={"parts": Option(2, 2, 256, "of a turn")},
    )


QUOTIENT = Option(0.0, -100, 100, "factor of the real part over the imaginary part")
MOST_ADDED = 1e6  # to a count, so that a point that overflowed gives a number, and a whole one fits


def make_sum_of_parts(target):
    """Return ``parts(x, y, s, t, constants)``: a weighted sum of s, t and x / y, with a bound."""
    zero, one, most = target.real(0), target.real(1), target.real(MOST_ADDED)

    def parts(x, y, s, t, constants):
        known = abs(y) > zero
        quotient = select(known, x / select(known, y, one), zero)
        added = fma(constants[2], s, fma(constants[3], t, constants[4] * quotient))
        added = select(added < most, added, most)
        return select(added > -most, added, -most)

    return target.jit(parts)


def make_count_plus_value(target):
    real, int32, zero, parts = target.real, target.int32, target.real(0), make_sum_of_parts(target)

    def value(n, x, y, p, q, constants):
        added = parts(x, y, x, y, constants)
        return real(n) + select(constants[5] > zero, real(int32(added)), added)

    return value


def count_plus():
    """Count plus parts: the count + real Re z + imag Im z + quotient Re z / Im z, at escape.

    These are waves within the bands of counts, as of XaoS (Jan Hubicka and Thomas Marsh) and of
    Fractint, where what is added is cut to a whole number. They are the higher the larger the
    escape radius is; 2 to 10 suits them.
    """
    return Coloring(
        name="count_plus",
        title="steps to escape, plus parts of the escaped point",
        make_value=make_count_plus_value,
        counted=True,
        unit="steps",
        ends="any",
        constants=settings_alone,
        options={
            "real": Option(1.0, -100, 100, "factor of the escaped point's real part"),
            "imag": Option(0.0, -100, 100, "factor of its imaginary part"),
            "quotient": QUOTIENT,
            "whole": Option(0, 0, 1, "1: what is added is cut to a whole number"),
        },
    )


def make_log_ratio_value(target):
    real, log2 = target.real, make_log2(target)
    zero, one, natural = real(0), real(1), real(math.log(2))

    def value(n, x, y, p, q, constants):
        steps = real(n) - constants[2]
        ratio = natural * log2(fma(x, x, y * y)) / select(steps > zero, steps, one)
        return sqrt(select(ratio > zero, ratio, zero))

    return value


def log_ratio():
    """Log ratio: the root of log |z|² at escape over the number of steps.

    The farther from the set the higher the value, with bands of counts. After XaoS (Jan Hubicka and
    Thomas Marsh), where it is called potential.
    """
    return Coloring(
        name="log_ratio",
        title="root of the logarithm of the escaped point over the steps",
        make_value=make_log_ratio_value,
        constants=settings_alone,
        transfer="linear",
        options={"less": Option(0, -1, 1, "by which the number of steps is lower")},
    )


def make_last_statistic(target, formula, base):
    def start(x, y):
        return x, y

    def update(w, x, y, u, v, a, b, point):
        return x, y

    return start, update


def make_last_point_value(target):
    angle_of, parts = target.jit(angle_in_turns), make_sum_of_parts(target)

    def value(n, x, y, p, q, w, constants):
        s, t = w
        return parts(s, t, fma(s, s, t * t), angle_of(s, t), constants)

    return value


def last_point():
    """Last point: size |z|² + angle turns + quotient Re z / Im z, inside, after the last step.

    Orbits that come to a cycle are at one of its points then, so this is how the points of cycles
    change within a component. An even and an odd limit of iterations show different points. After
    XaoS (Jan Hubicka and Thomas Marsh) and Fractint (*zmag*, *atan*).
    """
    return Coloring(
        name="last_point",
        title="inside: where the orbit is after the last step",
        make_value=make_last_point_value,
        ends="any",
        transfer="linear",
        side="inside",
        constants=settings_alone,
        options={
            "size": Option(1.0, -100, 100, "factor of |z|²"),
            "angle": Option(0.0, -100, 100, "factor of the direction, in turns"),
            "quotient": QUOTIENT,
        },
        statistic=OrbitStatistic("last", ("x", "y"), make_last_statistic),
    )


WAVES = ("distance", "product", "radial", "saddle", "angle", "squares")  # those of `last_wave`


def make_last_wave_statistic(target, formula, base):
    def start(x, y):
        zero = number(0, x)
        return x, y, zero, zero

    def update(w, x, y, u, v, a, b, point):
        return x, y, a, b

    return start, update


def make_last_wave_value(target):
    real, int32 = target.real, target.int32
    sincos, angle_of = target.jit(sincos_series), target.jit(angle_in_turns)
    zero, half, one, ten, forty = real(0), real(0.5), real(1), real(10), real(40)

    def value(n, x, y, p, q, w, constants):
        rule, side = constants[2], constants[3]
        s, t, a, b = w[0], side * w[1], w[2], side * w[3]
        m, across = fma(s, s, t * t), s * s
        product = s * t * (a * b)
        sine, cosine = sincos(product)
        saddle, _ = sincos(fma(-t, t, across))
        _, radial = sincos(across)
        odd = int32(m * ten) & int32(1)
        mixed = (int32(abs(s) * forty) ^ int32(abs(t) * forty)) & int32(1)
        turns = angle_of(select(mixed == int32(1), t, s), select(mixed == int32(1), s, t))
        turns = select(turns > half, turns - one, turns)
        steep = angle_of(one, product)
        steep = select(steep > half, steep - one, steep)
        found = select(rule == zero, abs(abs(b) - abs(s)) + abs(b - abs(t)), turns)
        found = select(rule == one, select(odd == int32(1), cosine, sine), found)
        found = select(rule == real(2), m * radial, found)
        found = select(rule == real(3), saddle, found)
        return select(rule == real(4), steep, found)

    return value


def last_wave_constants(formula, escape_radius, width, wave, mirror):
    return WAVES.index(wave), -1 if mirror else 1


def last_wave():
    """Last wave: waves of the point after the last step, and of c, inside.

    distance: ||Im c| - |Re z|| + |Im c - |Im z||. product: the sine of Re z Im z Re c Im c, or its
    cosine where the whole part of 10 |z|² is odd. radial: |z|² cos Re² z. saddle: sin(Re² z - Im²
    z). angle: the arctangent of Re z Im z Re c Im c, in turns. squares: the direction of z, in
    turns from -1/2 to 1/2, and on every other square of 1/40 that of Im z + i Re z. After XaoS (Jan
    Hubicka and Thomas Marsh).
    """
    return Coloring(
        name="last_wave",
        title="inside: waves of where the orbit is after the last step",
        make_value=make_last_wave_value,
        ends="any",
        transfer="linear",
        side="inside",
        constants=last_wave_constants,
        options={
            "wave": Option("saddle", 0, 0, "which wave", choices=WAVES),
            "mirror": Option(0, 0, 1, "1: of the conjugates of z and c"),
        },
        statistic=OrbitStatistic("wave", ("x", "y", "a", "b"), make_last_wave_statistic),
    )


def make_biomorph_value(target):
    one = target.real(1)

    def value(n, x, y, p, q, constants):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t) * constants[2]
        return select(near < one, near, one)

    return value


def biomorph():
    """Biomorph: the smaller of |Re z| and |Im z| at escape, over the escape radius, at most 1.

    Values below 1 are the body of a creature, where only one part of z is large. An escape radius
    of about 10 suits it. After Clifford Pickover, *Biomorphs* (1986).
    """
    return Coloring(
        name="biomorph",
        title="where the escaped point is near an axis: the bodies of creatures",
        make_value=make_biomorph_value,
        constants=lambda formula, escape_radius, width: (1 / escape_radius,),
        **OVER_OTHERS,
    )


def make_field_lines_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        return lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )[0]

    return value


def field_lines_constants(formula, escape_radius, width, lines, weight):
    start, scale = formula.fraction_constants(escape_radius)
    # Borders as wide as lines in the plane of log z. A turn is 2 pi there, and a
    # band about log(escape_radius) * log(degree).
    degree = max(2, formula.degree)
    border = math.pi * weight / (lines * math.log(escape_radius) * math.log(degree))
    return start, scale, lines, weight, border, 1 / degree


def line_options(weight):
    """Return the options of lines, which have this weight where none is given."""
    words = "width of a line, as a share of half the distance between lines"
    return {"lines": Option(2, 1, 256, "in a turn"), "weight": Option(weight, 1e-3, 1, words)}


def field_lines():
    """Field lines: where the escaped point's direction is one of some evenly spaced ones.

    The lines cross the bands of equal counts as lines of an electric field cross equipotentials.
    Each line forks at every band, because a step multiplies angles by the degree. The value goes
    from 0 on a line to 1 beyond its weight.
    """
    return Coloring(
        name="field_lines",
        title="lines across the bands of equal counts",
        make_value=make_field_lines_value,
        constants=field_lines_constants,
        **OVER_OTHERS,
        options=line_options(0.2),
    )


def make_exterior_grid_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        line, border = lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )
        return select(line < border, line, border)

    return value


def exterior_grid():
    """Exterior grid: field lines, and the borders between bands of equal counts.

    The value goes from 0 on a line to 1 beyond its weight.
    """
    return Coloring(
        name="exterior_grid",
        title="field lines, and the borders between bands",
        make_value=make_exterior_grid_value,
        constants=field_lines_constants,
        **OVER_OTHERS,
        options=line_options(0.1),
    )


NEAR = 1e-6  # |z|² below which a root counts as 0, without a direction
ESCAPED = 0.5  # value of samples that escape


def make_root_value(target):
    real, log2, angle_of = target.real, make_log2(target), target.jit(angle_in_turns)
    zero, one, near, far = real(0), real(1), real(NEAR), real(ESCAPED)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        limit = fma(constants[2], log2(m + one), select(m > near, angle_of(x, y), zero))
        # The added 1e-4 turns keep roots on the positive real axis, whose angle may be rounded to
        # just below a whole turn, in one color.
        return select(m > constants[3], far, limit + constants[4])

    return value


def root_constants(formula, escape_radius, width, spread):
    return spread, escape_radius**2 if formula.escapes else math.inf, 1e-4


def root():
    """Root: the point that the orbit converges to, by its direction and distance from 0.

    Roots of unity are spread evenly around the palette. A layer of `speed` adds how fast they
    converge.
    """
    return Coloring(
        name="root",
        title="the point that an orbit converges to",
        make_value=make_root_value,
        constants=root_constants,
        transfer="linear",
        ends="converging",
        options={"spread": Option(0.1, -10, 10, "turns of the palette per doubling of 1 + |z|²")},
    )


# --- The distance to the set, by the derivative, and its slopes


def make_distance_value(target):
    real, log2 = target.real, make_log2(target)
    zero, one, infinity = real(0), real(1), real(math.inf)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        p, q = abs(p), abs(q)
        large, small = select(p > q, p, q), select(p > q, q, p)
        known = (p + q > zero) & (p + q < infinity)
        large = select(known, large, one)
        ratio = small / large  # the square of `large` could overflow
        size = large * real(math.sqrt(fma(ratio, ratio, one)))
        return select(known, constants[2] * (real(math.sqrt(m)) * log2(m) / size), zero)

    return value


def distance_constants(formula, escape_radius, width):
    return (1000 * math.log(2) / width,)


def distance():
    """Distance estimate to the set, 2|z| log|z| / |dz|, in thousandths of the picture's width.

    The set is no nearer than a quarter of the estimate. After Milnor (1989) and Peitgen and Saupe,
    *The Science of Fractal Images* (1988). The unit is the width of the picture and not a pixel, so
    pictures of all sizes look alike. Where the derivative is beyond the largest number, as at the
    last steps of exponentials, the estimate is 0.
    """
    return Coloring(
        name="distance",
        title="distance to the set, in thousandths of the picture's width",
        make_value=make_distance_value,
        unit="widths",
        numbers=in_widths,
        constants=distance_constants,
        derivative=True,
        gradient="length",
    )


def make_distance_line_value(target):
    estimate = target.jit(make_distance_value(target))
    zero, one, two, three = (target.real(k) for k in range(4))

    def value(n, x, y, p, q, constants):
        t = estimate(n, x, y, p, q, constants) * constants[3]
        t = select(t > zero, select(t < one, t, one), zero)
        return t * t * fma(-two, t, three)

    return value


def distance_line_constants(formula, escape_radius, width, weight):
    return *distance_constants(formula, escape_radius, width), 1 / weight


def distance_line():
    """Distance line: the set's boundary as a line, equally wide at every zoom.

    The value goes from 0 at the boundary to 1 at the line's weight, by that of `distance`.
    """
    return Coloring(
        name="distance_line",
        title="the set's boundary as a line",
        make_value=make_distance_line_value,
        constants=distance_line_constants,
        derivative=True,
        gradient="length",
        **OVER_OTHERS,
        options={"weight": Option(1.0, 0.01, 1000, "of the line, in thousandths of the width")},
    )


def make_slopes_value(target):
    real = target.real
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, constants):
        largest = select(abs(p) > abs(q), abs(p), abs(q))
        known = largest > zero
        scale = one / select(known, largest, one)
        s, t = p * scale, q * scale  # the squares of p and q could overflow
        g, h = fma(x, s, y * t), fma(y, s, -(x * t))
        m = fma(g, g, h * h)
        known = known & (m > zero)
        size = sqrt(select(known, m, one))
        g, h = select(known, g / size, zero), select(known, h / size, zero)
        steep, level = constants[2], constants[3]  # of the normal
        light_x, light_y, light_z = constants[4], constants[5], constants[6]
        ambient, specular = constants[7], constants[8]
        toward = fma(steep, fma(g, light_x, h * light_y), level * light_z)
        lit = select(toward > zero, toward, zero)
        glint = fma(toward + toward, level, -light_z)  # the mirrored light's part toward the eye
        glint = select(glint > zero, glint, zero)
        glint = glint * glint
        glint = glint * glint
        glint = glint * glint
        shade = fma(one - ambient, lit, ambient)
        return fma(specular, fma(glint, glint, -shade), shade)

    return value


def slopes_constants(formula, escape_radius, width, direction, height, strength, ambient, specular):
    (along, across), (level, up) = angles.direction(direction), angles.direction(height)
    length = math.sqrt(1 + strength * strength)
    light = along * level, across * level, up
    return strength / length, 1 / length, *light, ambient, specular


def slopes():
    """Slopes: the surroundings of the set as a relief under a light, after Blinn and Phong.

    z / dz points to where the potential of the set grows fastest, so it gives the relief's normal.
    Only z and dz are needed, so every method of iteration can draw it.
    """
    return Coloring(
        name="slopes",
        title="a relief under a light",
        make_value=make_slopes_value,
        constants=slopes_constants,
        derivative=True,
        gradient="direction",
        **OVER_OTHERS,
        options={
            "direction": Option(135.0, -360, 360, "from which the light comes, in degrees"),
            "height": Option(45.0, 0, 90, "of the light over the plane, in degrees"),
            "strength": Option(1.0, 0, 100, "steepness of the relief"),
            "ambient": Option(0.25, 0, 1, "light that comes from everywhere"),
            "specular": Option(0.2, 0, 1, "share of the highlights in the light"),
        },
    )

"""Formulas of degree 2 with absolute values: the Burning Ship and its relatives."""

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import diffabs, fma, number, select


def folded(**given):
    """Return the formula of a map of degree 2 that takes absolute values."""
    return Formula(degree=2, holomorphic=False, group="Absolute values", **given)


def burning_ship_step(x, y, a, b):
    u = x + x
    return fma(x, x, fma(-y, y, a)), fma(abs(y), abs(u), b)


def burning_ship_derivative(x, y, p, q):
    u, v = x + x, y + y
    t = fma(u, q, v * p)
    return fma(u, p, -(v * q)), select(x * y < number(0, x), -t, t)  # the kink in |2xy|


def burning_ship_kinks(x, y):
    return (x * y,)


def burning_ship_perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = diffabs(K, fma(X, y, fma(x, Y, x * y)))
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def burning_ship_kink_distance(X, Y, K):  # the axes
    return select(abs(X) < abs(Y), abs(X), abs(Y))


def burning_ship():
    """The Burning Ship: z -> (|x| + i|y|)² + c (Michelitsch and Rössler, 1992).

    The imaginary axis points up, so the ship is upside down compared with most published pictures.
    """
    return folded(
        name="burning_ship",
        title="Burning Ship, (|x| + i|y|)² + c",
        step=burning_ship_step,
        derivative=burning_ship_derivative,
        perturbed=burning_ship_perturbed,
        kinks=burning_ship_kinks,
        kink_distance=burning_ship_kink_distance,
        center=("-0.45", "-0.5"),
        width="5.2",
    )


def perpendicular_burning_ship_step(x, y, a, b):
    return fma(x, x, fma(-y, y, a)), fma(x + x, abs(y), b)


def perpendicular_burning_ship_derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(u, select(y < number(0, y), -q, q), abs(v) * p)


def real_axis_kinks(x, y):
    return (y,)


def perpendicular_burning_ship_perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    t = diffabs(K, y)
    more = fma(X, t, fma(x, abs(Y), x * t))
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def real_axis_kink_distance(X, Y, K):
    return abs(Y)


def perpendicular_burning_ship():
    """The perpendicular Burning Ship: z -> (x + i|y|)² + c, mirrored: Im -> 2x|y| + b."""
    return folded(
        name="perpendicular_burning_ship",
        title="Perpendicular Burning Ship, (x + i|y|)² + c",
        step=perpendicular_burning_ship_step,
        derivative=perpendicular_burning_ship_derivative,
        perturbed=perpendicular_burning_ship_perturbed,
        kinks=real_axis_kinks,
        kink_degrees=(1,),
        kink_distance=real_axis_kink_distance,
        center=("-0.5", "-0.2"),
        width="5.0",
    )


def buffalo_step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(abs(x + x), abs(y), b)


def buffalo_derivative(x, y, p, q):
    u, v = x + x, y + y
    s, t = fma(u, p, -(v * q)), fma(u, q, v * p)
    zero = number(0, x)
    return select(fma(x, x, -(y * y)) < zero, -s, s), select(x * y < zero, -t, t)


def buffalo_kinks(x, y):
    return (x - y) * (x + y), x * y


def buffalo_perturbed(X, Y, x, y, a, b, K, L):
    u, v = X + X + x, Y + Y + y
    real = diffabs(K, fma(u, x, -(v * y)))
    imaginary = diffabs(L, fma(X, y, fma(x, Y, x * y)))
    return real + a, fma(number(2, x), imaginary, b)


def buffalo_kink_distance(X, Y, K, L):  # the axes and the diagonals
    axis = select(abs(X) < abs(Y), abs(X), abs(Y))
    size = abs(X) + abs(Y)
    diagonal = select(size > number(0, X), abs(K) / (size + size), size)
    return select(axis < diagonal, axis, diagonal)


def buffalo():
    """The Buffalo: z -> |Re z²| + i |Im z²| + c."""
    return folded(
        name="buffalo",
        title="Buffalo, |Re z²| + i |Im z²| + c",
        step=buffalo_step,
        derivative=buffalo_derivative,
        perturbed=buffalo_perturbed,
        kinks=buffalo_kinks,
        kink_distance=buffalo_kink_distance,
        center=("-0.5", "-0.4"),
        width="5.0",
    )


def celtic_step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(x + x, y, b)


def celtic_derivative(x, y, p, q):
    u, v = x + x, y + y
    t = fma(u, p, -(v * q))
    return select(fma(x, x, -(y * y)) < number(0, x), -t, t), fma(u, q, v * p)


def celtic_kinks(x, y):
    return ((x - y) * (x + y),)


def celtic_perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = diffabs(K, fma(u, x, -(v * y)))
    return more + a, fma(u, y, fma(v, x, b))


def celtic_kink_distance(X, Y, K):  # the diagonals, half of the distance along an axis
    size = abs(X) + abs(Y)
    return select(size > number(0, X), abs(K) / (size + size), size)


def celtic():
    """The Celtic: z -> |Re z²| + i Im z² + c."""
    return folded(
        name="celtic",
        title="Celtic, |Re z²| + i Im z² + c",
        step=celtic_step,
        derivative=celtic_derivative,
        perturbed=celtic_perturbed,
        kinks=celtic_kinks,
        kink_distance=celtic_kink_distance,
        symmetric=True,
        center=("-0.6", "0"),
        width="4.8",
    )


def celtic_heart_step(x, y, a, b):
    return abs(fma(x, x, -(y * y))) + a, fma(abs(x + x), y, b)


def celtic_heart_derivative(x, y, p, q):
    zero, u, v = number(0, x), x + x, y + y
    s = fma(u, p, -(v * q))
    square = fma(x, x, -(y * y))
    return select(square < zero, -s, s), fma(abs(u), q, select(x < zero, -v, v) * p)


def celtic_heart_kinks(x, y):
    return (x - y) * (x + y), x


def celtic_heart_perturbed(X, Y, x, y, a, b, K, L):
    u, v = X + X + x, Y + Y + y
    across = diffabs(K, fma(u, x, -(v * y)))
    return across + a, fma(number(2, x), fma(diffabs(L, x), Y + y, abs(X) * y), b)


def celtic_heart_kink_distance(X, Y, K, L):  # the imaginary axis, and the diagonals
    size = abs(X) + abs(Y)
    far = select(size > number(0, X), abs(K) / (size + size), size)
    return select(abs(X) < far, abs(X), far)


def celtic_heart():
    """Celtic heart: z -> |x² - y²| + 2i|x|y + c."""
    return folded(
        name="celtic_heart",
        title="Celtic heart, |x² - y²| + 2i|x|y + c",
        step=celtic_heart_step,
        derivative=celtic_heart_derivative,
        perturbed=celtic_heart_perturbed,
        kinks=celtic_heart_kinks,
        kink_degrees=(2, 1),
        kink_distance=celtic_heart_kink_distance,
        center=("-0.5", "0"),
        width="5",
    )


def heart_step(x, y, a, b):
    return fma(x, x, fma(-y, y, a)), fma(abs(x + x), y, b)


def heart_derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(v * q)), fma(abs(u), q, select(x < number(0, x), -v, v) * p)


def heart_kinks(x, y):
    return (x,)


def heart_perturbed(X, Y, x, y, a, b, K):
    u, v = X + X + x, Y + Y + y
    more = fma(diffabs(K, x), Y + y, abs(X) * y)  # of |x| y
    return fma(u, x, fma(-v, y, a)), fma(number(2, x), more, b)


def heart_kink_distance(X, Y, K):  # the imaginary axis
    return abs(X)


def heart():
    """Heart: the Mandelbrot set with 2|x|y for 2xy: z -> x² - y² + 2i|x|y + c."""
    return folded(
        name="heart",
        title="Heart, x² - y² + 2i|x|y + c",
        step=heart_step,
        derivative=heart_derivative,
        perturbed=heart_perturbed,
        kinks=heart_kinks,
        kink_degrees=(1,),
        kink_distance=heart_kink_distance,
        center=("-0.5", "0"),
        width="5",
    )


def shark_fin_step(x, y, a, b):
    return fma(x, x, fma(-y, abs(y), a)), fma(x + x, y, b)


def shark_fin_derivative(x, y, p, q):
    u, v = x + x, y + y
    return fma(u, p, -(abs(v) * q)), fma(u, q, v * p)


def shark_fin_perturbed(X, Y, x, y, a, b, K):
    u = X + X + x
    t = fma(Y, diffabs(K, y), y * abs(Y + y))
    return fma(u, x, a - t), fma(u, y, fma(Y + Y, x, fma(x, y, b)))


def shark_fin():
    """The shark fin: z -> x² - y|y| + 2ixy + c."""
    return folded(
        name="shark_fin",
        title="Shark fin, x² - y|y| + 2ixy + c",
        step=shark_fin_step,
        derivative=shark_fin_derivative,
        perturbed=shark_fin_perturbed,
        kinks=real_axis_kinks,
        kink_degrees=(1,),
        kink_distance=real_axis_kink_distance,
        center=("-0.5", "0.3"),
        width="5.0",
    )

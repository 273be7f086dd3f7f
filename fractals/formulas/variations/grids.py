"""Cells, stripes and halves of the plane, as variations of flames."""

from fractals.formulas.variations._offered import offered
from fractals.kernels.elementary import PI, nearest, quotient, sincos
from fractals.kernels.plane import floor, remainder
from fractals.kernels.primitives import fma, number, select, sqrt


@offered()
def bent(x, y, u, p):
    """Another scale left and below."""
    zero = number(0, x)
    return select(x < zero, x + x, x), select(y < zero, y * number(0.5, y), y)


@offered(parameters={"x": 1, "y": 1})
def bent2(x, y, u, p):
    """Scales left and below."""
    zero = number(0, x)
    return select(x < zero, x * p[0], x), select(y < zero, y * p[1], y)


@offered(draws=1)
def boarders(x, y, u, p):
    """Squares with frames, smaller by half."""
    zero, half, quarter = number(0, x), number(0.5, x), number(0.25, x)
    column, row = nearest(x), nearest(y)
    dx, dy = x - column, y - row
    a, b = fma(dx, half, column), fma(dy, half, row)
    # Three of four points go into the frame, towards the side that is next.
    across = select(dx >= zero, quarter, -quarter)
    down = select(dy >= zero, quarter, -quarter)
    beside = abs(dx) >= abs(dy)
    right = select(beside, across, down * quotient(dx, dy))
    up = select(beside, across * quotient(dy, dx), down)
    inner = u[0] >= number(0.75, x)
    return select(inner, a, a + right), select(inner, b, b + up)


@offered(parameters={"size": 1})
def cell(x, y, u, p):
    """The cells of a grid moved apart."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    column, row = floor(quotient(x, p[0])), floor(quotient(y, p[0]))
    dx, dy = fma(-column, p[0], x), fma(-row, p[0], y)
    # Cells of the first quadrant go to every other place; the rest fills the places between.
    column = select(column >= zero, two * column, -fma(two, column, one))
    row = select(row >= zero, two * row, -fma(two, row, one))
    return fma(column, p[0], dx), -fma(row, p[0], dy)


@offered(parameters={"x": 1, "y": 1})
def modulus(x, y, u, p):
    """Folded into a rectangle."""
    px = select(x > p[0], remainder(x + p[0], p[0] + p[0]) - p[0], x)
    px = select(x < -p[0], p[0] - remainder(p[0] - x, p[0] + p[0]), px)
    py = select(y > p[1], remainder(y + p[1], p[1] + p[1]) - p[1], y)
    py = select(y < -p[1], p[1] - remainder(p[1] - y, p[1] + p[1]), py)
    return px, py


@offered(parameters={"x": 1, "y": 1})
def rectangles(x, y, u, p):
    """Each cell of a grid mirrored."""
    zero, one, two = number(0, x), number(1, x), number(2, x)
    across = fma(fma(two, floor(quotient(x, p[0])), one), p[0], -x)
    down = fma(fma(two, floor(quotient(y, p[1])), one), p[1], -y)
    return select(p[0] == zero, x, across), select(p[1] == zero, y, down)


@offered(parameters={"x": 0, "xinside": 0, "y": 0, "yinside": 0})
def separation(x, y, u, p):
    """The halves moved apart."""
    zero = number(0, x)
    across, down = sqrt(fma(x, x, p[0] * p[0])), sqrt(fma(y, y, p[2] * p[2]))
    return (
        select(x > zero, fma(-x, p[1], across), -fma(x, p[1], across)),
        select(y > zero, fma(-y, p[3], down), -fma(y, p[3], down)),
    )


@offered(parameters={"xsize": 0, "ysize": 0})
def split(x, y, u, p):
    """Mirrored in stripes."""
    zero, pi = number(0, x), number(PI, x)
    across, down = sincos(y * p[1] * pi)[1], sincos(x * p[0] * pi)[1]
    return select(across >= zero, x, -x), select(down >= zero, y, -y)


@offered(parameters={"x": 0, "y": 0})
def splits(x, y, u, p):
    """The halves moved apart, straight."""
    zero = number(0, x)
    return select(x >= zero, x + p[0], x - p[0]), select(y >= zero, y + p[1], y - p[1])


@offered(parameters={"space": 0, "warp": 0})
def stripes(x, y, u, p):
    """Stripes."""
    k = floor(x + number(0.5, x))
    rest = x - k
    return fma(rest, number(1, x) - p[0], k), fma(rest * rest, p[1], y)

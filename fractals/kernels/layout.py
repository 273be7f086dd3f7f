"""Names for the arrays and scalars that compiled programs are given together.

All are NamedTuples: NumPy-style code, Numba on the CPU and CUDA kernels take them as they are.
"""

from typing import Any, NamedTuple

# How the programs that iterate read where samples lie.


def make_place(target, explicit_positions):
    """Return ``place(columns, rows, width, j, i)``: a sample's position as two numbers.

    On a grid it is ``columns[:, i] + rows[:, j]``. With `explicit_positions`, ``columns`` (2 or 3,
    samples) holds each sample's position, row by row of ``width`` samples; a third number is the
    exponent of two that the position is to be scaled with. ``rows`` then has the shape (2, height),
    and is not read.
    """
    if explicit_positions:
        index = target.index

        def place(columns, rows, width, j, i):
            k = index(j * width + i)
            return columns[0, k], columns[1, k]

    else:

        def place(columns, rows, width, j, i):
            return columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]

    return target.jit(place)


class EscapeTile(NamedTuple):
    """The escape data of a tile: one array element a sample."""

    # array of int32, shape (height, width): Steps until the orbit escaped or converged;
    # ``max_iterations`` where it did neither.
    count: Any
    # x, y: array of real, shape (height, width): z = x + iy after `count` steps; 0 where `count` is
    # ``max_iterations``.
    x: Any
    y: Any
    # dx, dy: array of real, shape (height, width): dz = dx + i dy at the same step: dz/dc, or
    # dz/dz0 in a Julia set. Shape (1, 1), never read, where no coloring needs dz.
    dx: Any
    dy: Any
    # array of real, shape (planes, height, width): Orbit statistics, in the order of
    # `fractals.kernels.orbit.Statistics.names`. Shape (1, 1, 1), never read, where there are none.
    statistics: Any


class SampleGrid(NamedTuple):
    """Where the samples of a tile lie in the plane (`make_place`)."""

    # array of real, shape (2, width): Parts of the positions that depend on the column; or, with
    # explicit positions, every position, shape (2 or 3, samples).
    columns: Any
    # array of real, shape (2, height): Parts of the positions that depend on the row; only its
    # shape is read with explicit positions.
    rows: Any


class ColoringInputs(NamedTuple):
    """What a layer's coloring programs take besides the escape data."""

    first_plane: Any  # index of the coloring's first plane in `EscapeTile.statistics`; int32
    # Array of palette density and offset, in turns of the palette, then the coloring's constants
    constants: Any
    max_iterations: Any  # samples whose count is below it have escaped; int32
    count_offset: Any  # subtracted from the value; 0 where that is no number of steps
    lowest: Any  # to `highest`: the values that are drawn, where the layer has a range
    highest: Any


class FilterWindow(NamedTuple):
    """Where a tile's pixels are found among samples (`fractals.kernels.shade`)."""

    supersampling: Any  # samples a pixel, a side; int32
    # first_x, first_y: column and row, in the array of colors, of the first pixel's first sample;
    # int32
    first_x: Any
    first_y: Any
    # left, top: column and row, in the picture's samples, of the first element of the array of
    # colors; int32
    left: Any
    top: Any


# Perturbation.
#
# All arrays are float64 where nothing else is said. Exponents, counts and indices in them are whole
# numbers, exact up to 2**53. A complex number with an exponent, (x + iy) * 2**e, takes three
# columns in the order x, y, e; a real one, x * 2**e, takes two.

# `orbit` (points, 2 or more): the reference, rounded to float64, and what rounding would lose.
ORBIT_Z = 0  # Z: X, Y
# The numbers of `Formula.kinks` at Z, one or two columns; with floatexp, each again as x, e. Behind
# them, if some point is near the escape radius R, |Z|² - R²; with floatexp, again as x, e. Last, if
# orbit statistics read it, Z - the point before, in all digits: x, y; with floatexp, x, y, e.
ORBIT_KINKS = 2

# `state` (STATE_SIZE, height, width): where each sample stopped when a launch ended.
STATE_Z = 0  # z, the difference from the reference: x, y, e
STATE_COUNT = 3  # steps taken; -1: the sample is done
STATE_INDEX = 4  # m: z is the difference from the m-th point of the reference
STATE_STAGE = 5  # stage of linear approximations; -1: none is left
STATE_ENTRY = 6  # row in `la_entries`
STATE_DZ = 7  # dz, or the first column of the Jacobian matrix: x, y, e
STATE_DZ2 = 10  # second column of the matrix, if the formula is not holomorphic: x, y, e
STATE_SIZE = 13

# The numbers of `OrbitCode`, each a row of words: 0 or 1 for its sign, its exponent, its limbs.
ORBIT_EXPONENT, ORBIT_MANTISSA = 1, 2
ORBIT_C = 2  # the rows of c, behind those of the point
ORBIT_SAVED = 4  # the rows of the point that later ones are compared with
ORBIT_FREE = 6  # the first row of constants and of results of the code
ORBIT_SUM, ORBIT_PRODUCT = 0, 1  # kinds of operations
ORBIT_RESULT, ORBIT_LEFT, ORBIT_RIGHT, ORBIT_OPERATION = 1, 2, 6, 10  # where the next part begins
ORBIT_OPERAND = 4  # words of an operand
ORBIT_SPARE = 4  # bits of a mantissa beyond the precision, by which sums are rounded
# Limbs of the numbers of a program. Each has a program of its own, so there are few sizes. At 36
# limbs MPFR is faster.
ORBIT_SIZES = 2, 3, 4, 6, 10, 16, 24
ORBIT_ZERO = -(2**50)  # the exponent of 0
# Between these exponents a part of a point is a normal float64, and its square is finite.
ORBIT_LARGEST, ORBIT_SMALLEST = 500, -900

# `tiny` (points, TINY_SIZE): points of the reference that float64 can't hold, in their order.
TINY_INDEX = 0  # index of the point in the reference
TINY_Z = 1  # the point: x, y, e
TINY_SIZE = 4

# `stages` (stages, 2): the rows of `la_entries` of one stage of linear approximations.
STAGE_BEGIN = 0  # its first row
STAGE_END = 1  # the row behind its last entry that can be used

# `la_entries` (rows, LA_SIZE): an entry takes w = f(Z + z) - f(Z) to A w + B c.
LA_Z = 0  # Z, the point of the reference where the entry begins: x, y, e
LA_A = 3  # A: x, y, e
LA_B = 6  # B: x, y, e
LA_RADIUS = 9  # the entry is valid where |w| is smaller: x, e
LA_RADIUS_C = 11  # and where |c| is smaller: x, e
LA_LENGTH = 13  # steps that the entry skips
LA_NEXT = 14  # row where the stage below goes on from Z; in stage 0, index in the reference
LA_SIZE = 15

# `bla_tree` (rows, BLA_SIZE) of a holomorphic formula: an entry takes z to
# (A + D z + E c) z + (B + F c) c.
BLA_A = 0  # A: x, y
BLA_D = 2  # D: x, y
BLA_B = 4  # B: x, y
BLA_E = 6  # E: x, y
BLA_F = 8  # F: x, y
BLA_RADIUS = 10  # the entry is valid where |z| is smaller
BLA_RADIUS_C = 11  # and where |c| is smaller
BLA_SIZE = 12

# `bla_tree` (rows, MATRIX_SIZE) of another formula: an entry takes z to A z + B c.
MATRIX_A = 0  # A, a real 2x2 matrix: row by row
MATRIX_B = 4  # B, a real 2x2 matrix: row by row
MATRIX_RADIUS = 8  # the entry is valid where |z| is smaller
MATRIX_RADIUS_C = 9  # and where |c| is smaller
MATRIX_SIZE = 10

# `floatexp_tree` (rows, FLOATEXP_SIZE): the same matrices, in numbers with an exponent.
FLOATEXP_A = 0  # A: four numbers row by row, and the exponent of all four
FLOATEXP_B = 5  # B: four numbers row by row, and the exponent of all four
FLOATEXP_RADIUS = 10  # the entry is valid where |z| is smaller: x, e
FLOATEXP_RADIUS_C = 12  # and where |c| is smaller: x, e
FLOATEXP_SIZE = 14


class PerturbView(NamedTuple):
    """What the programs of perturbation know of the picture."""

    escape_radius_squared: float  # in plane units, squared
    exponent: int  # exponent of two of `width` and of the samples' positions
    # Width of the view over ``2**exponent``, in plane units; dz is a derivative times the width
    width: float
    first_end: int  # index in the reference of the last point of the orbit of the center
    # rebase_start, rebase_end: indices of the first and last point of the orbit of 0, to which
    # samples are rebased. It is the first orbit itself, except in a Julia set.
    rebase_start: int
    rebase_end: int
    first_launch: bool  # whether samples begin; otherwise they go on from `PerturbWork.state`
    step_budget: int  # most steps and skips that one launch takes with a sample
    # stage_count, level_count: how many stages of linear approximations along the first orbit, and
    # levels of the tree, can be used
    stage_count: int
    level_count: int
    # rebase_bottom, rebase_top: the first and the last stage along the orbit to which samples are
    # rebased; none where the last is below the first
    rebase_bottom: int
    rebase_top: int


class PerturbTables(NamedTuple):
    """The reference, and the tables that skip steps along it."""

    # array, shape (points, 2 or more): In a Julia set the orbit of 0 comes after the center's.
    orbit: Any
    tiny: Any  # array, shape (points, TINY_SIZE)
    stages: Any  # array of int64, shape (stages, 2)
    la_entries: Any  # array, shape (rows, LA_SIZE)
    levels: Any  # array of int64, shape (levels,): Row where each level of the trees begins
    bla_tree: Any  # array, shape (rows, BLA_SIZE) or (rows, MATRIX_SIZE)
    floatexp_tree: Any


class PerturbWork(NamedTuple):
    """What one launch leaves to the next."""

    state: Any  # array, shape (STATE_SIZE, height, width)
    # array of int32, shape (1, 2): The first is set to 1 if any sample needs another launch, the
    # second if any became NaN.
    under_way: Any


class Sample(NamedTuple):
    """A sample under way: what `PerturbWork.state` keeps of it."""

    # z, dz, dz2: numbers (x, y, e): see the columns STATE_Z, STATE_DZ and STATE_DZ2
    z: Any
    n: Any  # steps taken; below 0: the sample is done
    m: Any  # index in the reference
    # stage, entry: stage of linear approximations, below 0 if none is left, and row in `la_entries`
    stage: Any
    entry: Any
    dz: Any
    dz2: Any


class OrbitCode(NamedTuple):
    """The step of a formula as sums and products of numbers of some limbs."""

    numbers: Any  # array of int64, a row of ORBIT_MANTISSA + limbs words after the other
    # Six wide numbers, the masks of `fractals.backends.cpu.orbit_steps.make_rounding`: those of
    # the orbit's precision, and of float64
    masks: Any
    # array of int64, ORBIT_OPERATION for each operation: its kind, the place in `numbers` of its
    # result, and two operands. An operand is a place in `numbers`, 1 or 0 to keep or drop its sign,
    # 1 to turn it, and what is added to its exponent.
    code: Any
    ends: Any  # array of int64: the parts of the next point, as operands


class OrbitFound(NamedTuple):
    """Steps of a reference orbit."""

    points: Any  # array of float64, shape (steps, 2)
    low: Any  # the same of `fractals.deep.reference.Reference.low`; of no rows where not asked for
    growth: Any  # array of float64: dZ/dc without its exponent
    place: Any  # array of int64: steps since the start, and the exponent of dZ/dc


class OrbitRules(NamedTuple):
    """What a reference orbit is watched for: see `fractals.deep.reference.compute_orbit`."""

    seeks: bool  # whether the orbit ends at a period
    degree: int
    factor: float  # of z**(degree - 1) in the derivative
    gate: float
    gate_exponent: int
    inner: float  # square of a radius within which no point has escaped
    near_kink: float  # 0: the formula has no kinks
    power: int  # the highest power whose kinks are looked for; 0: of none but squares
    near_move: float  # 0: short moves are not noted

"""Double-double numbers: their arithmetic, their functions, and every formula made of them."""

import random

import gmpy2
import mpmath
import pytest
from mpmath import mpf

from fractals import catalog
from fractals.backends.python import PythonBackend
from fractals.kernels.doubled import arithmetic
from fractals.kernels.doubled.elementary import functions_for
from fractals.kernels.doubled.orbit import _Leaves, problem_of
from fractals.kernels.doubled.recorder import Number, Transcript, Unrecorded, recording, written
from fractals.kernels.formula import Formula
from fractals.kernels.orbit import make_step
from fractals.kernels.primitives import fma, number, select

TARGET = PythonBackend("float64").target
FUNCTIONS = functions_for(TARGET)
FORMULAS = catalog.names("formula")
BITS = 200


def near(value):
    """Return the double-double number next to a value of mpmath."""
    high = float(value)
    return high, float(value - mpf(high))


def exact(high, low):
    return mpf(high) + mpf(low)


def log2(value):
    return mpmath.log(value, 2) if value else -mpmath.inf


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workprec(BITS + 60):
        yield


def numbers(dice, count, least=-30, most=30):
    """Yield numbers of either sign whose low parts hold something, of many sizes."""
    for _ in range(count):
        size = mpf(2) ** dice.uniform(least, most)
        yield exact(*near(dice.choice((-1, 1)) * size * (1 + mpf(dice.random()) / 2**60)))


@pytest.mark.parametrize("name", ["total", "product", "divided"])
def test_arithmetic_loses_no_more_than_some_units_of_the_last_bit(name):
    dice = random.Random(name)
    operate = {
        "total": lambda a, b: a + b,
        "product": lambda a, b: a * b,
        "divided": lambda a, b: a / b,
    }[name]
    for a, b in zip(numbers(dice, 200), numbers(dice, 200), strict=True):
        found = exact(*getattr(arithmetic, name)(*near(a), *near(b)))
        wanted = operate(a, b)
        scale = max(abs(a), abs(b)) if name == "total" else abs(wanted)
        assert log2(abs(found - wanted) / scale) < -102


def test_a_difference_of_near_numbers_is_exact_but_for_the_last_bits():
    a = mpf(1) + mpf(2) ** -70
    assert exact(*arithmetic.total(*near(a), -1.0, 0.0)) == mpf(2) ** -70


def test_roots_and_whole_numbers():
    for a in numbers(random.Random(4), 100):
        found = exact(*arithmetic.root(*near(abs(a))))
        assert log2(abs(found - mpmath.sqrt(abs(a))) / found) < -102
    assert arithmetic.root(0.0, 0.0) == (0.0, 0.0)
    assert arithmetic.root(-1.0, 0.0)[0] != arithmetic.root(-1.0, 0.0)[0]
    tiny = 2.0**-60
    for number_, wanted in (
        ((2.5, tiny), 3),
        ((2.5, -tiny), 2),
        ((2.5, 0.0), 2),
        ((3.5, -tiny), 3),
        ((3.5, tiny), 4),
        ((-2.5, -tiny), -3),
        ((-2.5, tiny), -2),
        ((2.0**60, 0.75), 2**60 + 1),
    ):
        assert exact(*arithmetic.whole(*number_)) == wanted


def test_quotients_of_zero_and_infinity_are_those_of_float64():
    assert arithmetic.divided(1.0, 1e-20, 0.0, 0.0) == (float("inf"), 0.0)
    assert arithmetic.divided(0.0, 0.0, 3.0, 0.0) == (0.0, 0.0)
    assert arithmetic.divided(1.0, 0.0, float("inf"), 0.0) == (0.0, 0.0)


def test_comparisons_look_at_the_low_parts():
    a, b = (1.0, 1e-20), (1.0, 2e-20)
    assert arithmetic.below(*a, *b)
    assert not arithmetic.below(*b, *a)
    assert arithmetic.at_most(*a, *a)
    assert arithmetic.unequal(*a, *b)
    assert not arithmetic.equal(*a, *b)


RANGES = {
    "exp": [(-60, 60), (-1e-6, 1e-6), (600, 699)],
    "log": [(1e-300, 1e-290), (0.5, 2), (0.999999, 1.000001), (1e100, 1e200)],
    "sin": [(-1e6, 1e6), (-1, 1), (3.1415926, 3.1415927)],
    "cos": [(-1e6, 1e6), (-1, 1)],
    "sinh": [(-1e-3, 1e-3), (-20, 20), (-600, 600)],
    "cosh": [(-1e-3, 1e-3), (-20, 20), (-600, 600)],
    "atan2": [(-1, 1), (-1e-9, 1e-9), (-1e90, 1e90)],
}


@pytest.mark.parametrize("name", RANGES)
def test_elementary_functions_have_100_bits(name):
    dice = random.Random(name)
    pair = {"sin": "sincos", "cos": "sincos", "sinh": "sinhcosh", "cosh": "sinhcosh"}
    own = FUNCTIONS[f"{'angle' if name == 'atan2' else pair.get(name, name)}_doubled"]
    for least, most in RANGES[name]:
        for _ in range(40):
            x = exact(*near(mpf(dice.uniform(least, most)) * (1 + mpf(dice.random()) / 2**54)))
            if name == "atan2":
                y = exact(*near(mpf(dice.uniform(-1, 1)) * (1 + mpf(2) ** -70)))
                found, wanted = own(*near(x), *near(y)), mpmath.atan2(y, x)
            else:
                found, wanted = own(*near(x)), getattr(mpmath, name)(x)
            if name in pair:
                found = found[name.startswith("cos") :: 2]
            scale = 1 if name in ("sin", "cos") else abs(wanted)
            assert log2(abs(exact(*found) - wanted) / scale) < -100


def test_angles_of_zero_and_of_the_axes():
    own = FUNCTIONS["angle_doubled"]
    assert own(0.0, 0.0, 0.0, 0.0) == (0.0, 0.0)
    for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        assert abs(exact(*own(float(x), 0.0, float(y), 0.0)) - mpmath.atan2(y, x)) < mpf(2) ** -100


# --- What is recorded


def step_of(formula):
    """Return ``step(numbers)`` of a formula in double-double numbers."""
    leaves, names = Transcript(), ["x", "y", "a", "b"]
    given = [leaves.leaf(name, True) for name in names]
    memory = tuple(leaves.leaf(f"m{k}", True) for k in range(formula.memory))
    more = () if not formula.uses_previous else (leaves.leaf("u", True), leaves.leaf("v", True))
    step = make_step(type("T", (), {"jit": staticmethod(recording)}), formula)
    found = step(*given, *more, *((memory,) if formula.remember else ()))
    own = [*names, *("uv" if more else ""), *(f"m{k}" for k in range(formula.memory))]
    arguments = [part for name in own for part in (name, f"{name}_")]
    results = [(leaves.number(part), True) for part in found[:2]]
    return written("step", arguments, leaves, results, FUNCTIONS), len(own)


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_has_a_step_in_double_double(name):
    """Its text runs with gmpy2, too, which `fractals verify --exact` uses."""
    formula = catalog.load_formula(name)()
    assert isinstance(formula, Formula)
    assert problem_of(formula) == ""
    if formula.phases:
        formula = formula.phases[0][0]
    step, count = step_of(formula)
    dice = random.Random(name)
    for _ in range(3):
        own = [
            exact(*near(mpf(dice.uniform(-1.5, 1.5)) * (1 + mpf(2) ** -60))) for _ in range(count)
        ]
        x, y, low_x, low_y = step(*(part for each in own for part in near(each)))
        with gmpy2.context(gmpy2.get_context(), precision=BITS):
            real = [gmpy2.mpfr(mpmath.nstr(each, 60)) for each in own]
            given = (*real[:4], tuple(real[4:])) if formula.remember else real
            wanted = [mpf(str(part)) for part in formula.step(*given)[:2]]
        scale = max(1, *map(abs, wanted))
        for part, right in zip((exact(x, low_x), exact(y, low_y)), wanted, strict=True):
            assert abs(part - right) / scale < mpf(10) ** -28


def test_a_derivative_is_single():
    formula = catalog.load_formula("mandelbrot")()
    leaves = _Leaves(formula, True)
    x, y, p, q = leaves.state()
    found = recording(formula.derivative)(x, y, p, q)
    made = written(
        "slope",
        ["state"],
        leaves.recorder,
        [(f, False) for f in found],
        FUNCTIONS,
        [leaves.state_line],
    )
    assert "total" not in made.text
    assert "product" not in made.text
    assert made((1.0, 2.0, 3.0, 4.0, 0.0, 0.0)) == formula.derivative(1.0, 2.0, 3.0, 4.0)


def test_what_nobody_reads_is_not_computed_and_what_occurs_twice_is_computed_once():
    recorder = Transcript()
    x = recorder.leaf("x", True)
    _unused, twice = x / 3.0, x * 7.0
    made = written("f", ["x", "x_"], recorder, [(twice - twice * twice, True)], FUNCTIONS)
    assert "divided" not in made.text
    assert made.text.count("product_single(x, x_") == 1


def test_a_branch_on_a_number_cant_be_recorded():
    x = Transcript().leaf("x", True)
    with pytest.raises(Unrecorded, match="a branch depends on a number"):
        recording(lambda v: v if v < 0 else -v)(x)
    with pytest.raises(Unrecorded, match="no number: str"):
        x + "1"
    with pytest.raises(Unrecorded, match="a constant is not finite"):
        x + float("inf")


def test_functions_of_functions_and_constants_are_recorded():
    def inner(v, factor):
        return fma(v, number(factor, v), number(1, v))

    def outer(v):
        half = fma(0.5, min(1, 2), number(0, 1.0))  # of constants alone
        return select(v > number(0, v), inner(v, 1.5 * half), max(v, -v))

    recorder = Transcript()
    found = recording(outer)(recorder.leaf("x", True))
    assert isinstance(found, Number)
    made = written("f", ["x", "x_"], recorder, [(found, True)], FUNCTIONS)
    assert made(2.0, 2.0**-60) == (2.5, 0.75 * 2.0**-60)
    assert made(-2.0, 2.0**-60) == (2.0, -(2.0**-60))

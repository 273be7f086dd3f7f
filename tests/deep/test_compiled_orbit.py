"""Compiled steps of a reference orbit have the bits of gmpy2: of each operation, and of orbits."""

import platform
import random
import subprocess
import sys
from array import array
from collections import defaultdict
from fractions import Fraction
from itertools import count
from unittest import mock

import gmpy2
import pytest
from support.scenes import slow_but

import fractals
from fractals import catalog
from fractals.backends.compilation import without_compiling
from fractals.backends.cpu.orbit_steps import rounded_limbs
from fractals.backends.machine_code import Uncompilable
from fractals.deep import orbit_steps
from fractals.deep.orbit_steps import SIZES, OrbitState, compiled_steps, traced
from fractals.deep.reference import OrbitRequest, compute_orbit
from fractals.kernels.layout import OrbitRules
from fractals.kernels.primitives import fma, number, select

ZERO = Fraction(0), Fraction(0)
WIDE_OPEN = OrbitRules(False, 2, 2.0, 0.0, 0, 1e300, 0.0, 0, 0.0)
# A point whose orbit moves for long without a cycle, in its first 36 digits
SEAHORSE = (
    Fraction("-0.743643887037158704752191506114774"),
    Fraction("0.131825904205311970493132056385139"),
)
# Precisions at the ends of the sizes of numbers, and between them
PRECISIONS = [66, 110, 123, 124, 125, 150, 188, 189, 252, 253, 380, 381, 500, 636, 1000]


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    """Take compiled steps from the first one on."""
    monkeypatch.setattr(orbit_steps, "FIRST_STEPS", 0)
    monkeypatch.setattr(orbit_steps, "FEW_STEPS", 0)
    monkeypatch.setattr(orbit_steps, "PATIENCE", -1)


def product_and_sum(x, y, a, b):
    return x * y, a + b


def nested(x, y, a, b):
    u, v = abs(x - y), fma(x, b, -a)
    return (u + u) * v - number(0.375, x), 3 * -y + abs(v * v) * a


def square(x, y, a, b):  # compiled as it stands, and not read from a list
    return fma(x, x, fma(-y, y, a)), fma(y, x + x, b)


class Numbers:
    """Draws numbers of a precision that are hard to round."""

    def __init__(self, bits, seed):
        self.bits, self.dice = bits, random.Random(f"{bits} {seed}")

    def one(self):
        """Return a number: of few digits or of all, large or small, or 0."""
        dice, bits = self.dice, self.bits
        length = dice.choice((1, 2, 3, bits // 2, bits // 2 + 1, bits - 1, bits, bits))
        mantissa = dice.getrandbits(length) | 1
        if dice.random() < 0.2:  # a row of ones, or of zeros between two ones
            mantissa = dice.choice(((1 << length) - 1, (1 << (length - 1)) | 1))
        far = dice.choice((0, 0, 1, 2, 63, 64, 65, bits - 1, bits, bits + 1, dice.randrange(140)))
        value = gmpy2.mpfr(mantissa) * gmpy2.exp2(dice.choice((-1, 1)) * far - length)
        return dice.choice((-1, 1)) * (value if dice.random() < 0.95 else gmpy2.mpfr(0))

    def four(self):
        """Return four numbers, of which two may nearly cancel, or end halfway."""
        dice, bits = self.dice, self.bits
        x, y, a, b = (self.one() for _ in range(4))
        if dice.random() < 0.4:
            end = gmpy2.exp2(gmpy2.get_exp(a) - bits) if a else gmpy2.mpfr(1)
            near = a + dice.choice((-2, -1, 0, 0, 1, 2)) * end
            half = dice.choice((1, 3, 5)) * end / 2
            b = dice.choice((-near, near, half, -half))
        return x, y, a, b


def step_of(step, x, y, a, b, bits):
    """Return the next point in compiled code; None where the step is left to gmpy2."""
    steps = compiled_steps(step, (a, b), bits, WIDE_OPEN, array("d"), array("d"))
    at = OrbitState(0, (x, y), (gmpy2.mpfr(7), gmpy2.mpfr(7)), 0j, 0)
    after = steps.take(at, 1, None)
    return after.z if after.n else None


def is_halfway(exact, bits):
    """Tell whether a fraction lies halfway between two numbers of a precision."""
    size = abs(exact.numerator).bit_length()
    odd = exact.numerator and not exact.denominator & (exact.denominator - 1)
    return odd and size - (exact.numerator & -exact.numerator).bit_length() == bits


@pytest.mark.parametrize("step", [product_and_sum, nested, square])
@pytest.mark.parametrize("bits", slow_but([66, 110, 123, 124, 150, 188], PRECISIONS))
def test_each_operation_rounds_as_that_of_mpfr(step, bits):
    taken = halfway = 0
    with gmpy2.context(gmpy2.get_context(), precision=bits, emin=-(2**40), emax=2**40):
        numbers = Numbers(bits, step.__name__)
        for _ in range(400):
            given = numbers.four()
            exact, found = step(*given), step_of(step, *given, bits)
            if found is None:  # out of float64's range, or too small
                continue
            taken += 1
            for own, wanted in zip(found, exact, strict=True):
                assert own == wanted, (given, found, exact)
                assert gmpy2.is_signed(own) == gmpy2.is_signed(wanted), (given, found, exact)
            if step is product_and_sum:
                x, y, a, b = (Fraction(*map(int, value.as_integer_ratio())) for value in given)
                halfway += is_halfway(x * y, bits) + is_halfway(a + b, bits)
    assert taken > 100
    assert step is not product_and_sum or halfway > 10


FORMULAS = [
    name
    for name in catalog.names("formulas")
    if getattr(catalog.load("formula", name)(), "perturbed", None)
]
OFTEN = "mandelbrot", "multibrot", "burning_ship", "celtic_heart"


def points_within(formula, seed):
    """Yield points whose orbits stay for 2000 steps, with digits that float64 lacks."""
    dice = random.Random(seed)
    reach = float(formula.width) / 2
    while True:
        a, b = (float(part) + dice.uniform(-reach, reach) for part in formula.center)
        x = y = 0.0
        for _ in range(2000):
            x, y = formula.step(x, y, a, b)
            if not x * x + y * y < 1e6:
                break
        else:
            more = (Fraction(dice.getrandbits(200), 2**230) for _ in range(2))
            yield tuple(Fraction(part) + low for part, low in zip((a, b), more, strict=True))


def assert_same(found, exact):
    for name in ("orbit", "low", "tiny", "near_kinks", "margins", "moves"):
        assert getattr(found, name).tobytes() == getattr(exact, name).tobytes(), name
    for name in ("period", "escaped", "repeats", "bits", "least_radius"):
        assert getattr(found, name) == getattr(exact, name), name


def both_orbits(*asked, **options):
    """Return the orbit of a request, that of gmpy2 alone, and how many steps were compiled."""
    wanted = OrbitRequest(*asked)
    taken, take = [], orbit_steps.CompiledSteps.take

    def counted(self, state, *rest):
        after = take(self, state, *rest)
        taken.append(after.n - state.n)
        return after

    with mock.patch.object(orbit_steps.CompiledSteps, "take", counted):
        found = compute_orbit(wanted, **options)
    with mock.patch.object(orbit_steps, "SIZES", ()):
        return found, compute_orbit(wanted, **options), sum(taken)


@pytest.mark.parametrize("name", slow_but(OFTEN, FORMULAS))
def test_orbits_of_a_formula_are_those_of_gmpy2(name):
    formula = fractals.Scene().replace(formula=name).make_formula()
    dice, most = random.Random(name), 0
    for seed, c in zip(range(4), points_within(formula, name), strict=False):
        start = ZERO if seed % 2 else (Fraction(dice.random() / 9), Fraction(1, 7))
        bits = dice.choice((100, 124, 150, 188))
        radius = dice.choice((None, Fraction(1, 10**40), Fraction(1, 10**12)))
        options = {"with_low": seed < 2, "with_moves": dice.random() < 0.5}
        found, exact, taken = both_orbits(
            formula, start, c, bits, 3000, dice.choice((2.0, 4.0, 256.0)), radius, **options
        )
        assert_same(found, exact)
        most = max(most, taken)
    assert most > 100


@pytest.mark.parametrize("c", [("-1.76", "0.003"), ("-2", "0"), ("-1.8", "0"), ("0.3", "0.6")])
def test_orbits_on_the_axis_and_into_cycles_and_out_are_those_of_gmpy2(c):
    formula, point = fractals.Scene().make_formula(), tuple(map(Fraction, c))
    found, exact, taken = both_orbits(formula, ZERO, point, 150, 3000, 1e10, with_low=True)
    assert_same(found, exact)
    assert taken > 0.9 * len(found.orbit) - 10


def test_an_orbit_comes_back_from_a_point_that_is_too_small():
    dice, c = random.Random(1), Fraction(-19, 10)
    with gmpy2.context(gmpy2.get_context(), precision=636):
        start = gmpy2.mpfr(0)
        for _ in range(40):  # back from 0
            root = gmpy2.sqrt(start + gmpy2.mpq(19, 10))
            start = -root if root < 1.9 and dice.random() < 0.5 else root
    formula, begin = fractals.Scene().make_formula(), Fraction(*map(int, start.as_integer_ratio()))
    found, exact, taken = both_orbits(formula, (begin, ZERO[1]), (c, ZERO[1]), 636, 500, 4.0)
    assert_same(found, exact)
    assert found.tiny[:, 0].tolist() == [40]
    assert taken == 500 - 2  # to the point, and from it


def test_an_orbit_of_a_deep_view_ends_at_its_period():
    formula = fractals.Scene().make_formula()
    c = SEAHORSE[0], SEAHORSE[1]
    found, exact, taken = both_orbits(formula, ZERO, c, 110, 20_000, 256.0, Fraction(1, 10**3))
    assert_same(found, exact)
    assert found.period == len(found.orbit) - 1 < 20_000
    assert taken >= found.period - 2


def test_ctrl_c_and_progress_come_between_blocks(monkeypatch):
    monkeypatch.setattr(orbit_steps, "BLOCK", 100)
    formula, seen = fractals.Scene().make_formula(), []

    def interrupt(n):
        seen.append(n)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute_orbit(OrbitRequest(formula, ZERO, SEAHORSE, 110, 10**9, 256.0), interrupt)
    assert seen == [100, 200, 300]
    wanted = OrbitRequest(formula, ZERO, SEAHORSE, 110, 1000, 256.0)
    whole = compute_orbit(wanted)
    monkeypatch.setattr(orbit_steps, "BLOCK", 2**15)
    assert_same(whole, compute_orbit(wanted))


def exact_and(**options):
    """Return the same orbit by gmpy2 alone, and with what is patched."""
    formula = fractals.Scene().make_formula()
    wanted = OrbitRequest(formula, ZERO, SEAHORSE, 110, 2000, 256.0)
    with mock.patch.object(orbit_steps, "SIZES", ()):
        exact = compute_orbit(wanted)
    fresh = {"_ready": set(), "_missing": set(), "_spent": defaultdict(float)}
    with mock.patch.multiple(orbit_steps, **fresh, **options):
        return exact, compute_orbit(wanted)


def test_short_orbits_wait_for_no_compiler():
    compiled = mock.Mock(side_effect=AssertionError)
    unknown = {"is_stored": lambda *_: False, "program_of": compiled, "FIRST_STEPS": 100}
    assert_same(*exact_and(**unknown, PATIENCE=3600.0))
    assert_same(*exact_and(is_stored=compiled, program_of=compiled, FIRST_STEPS=2000))


def test_a_program_is_compiled_where_many_orbits_waited_for_it():
    called = mock.Mock(wraps=orbit_steps.program_of)
    with mock.patch.multiple(
        orbit_steps,
        **{"_ready": set(), "_missing": set(), "_spent": defaultdict(float)},
        is_stored=lambda *_: False,
        program_of=called,
        PATIENCE=2.2,
        FIRST_STEPS=100,
        perf_counter=count().__next__,
    ):
        formula = fractals.Scene().make_formula()
        for orbits in range(1, 4):
            compute_orbit(OrbitRequest(formula, ZERO, SEAHORSE, 110, 350, 256.0))
            assert called.called == (orbits > 1)


def test_a_stored_program_is_taken_early():
    called = mock.Mock(wraps=orbit_steps.program_of)
    known = {"is_stored": lambda *_: True, "program_of": called, "FIRST_STEPS": 100}
    assert_same(*exact_and(**known, PATIENCE=3600.0))
    assert called.call_count == 1


def test_without_a_compiler_gmpy2_takes_all_steps():
    run = mock.Mock(side_effect=Uncompilable("no reason"))
    assert_same(*exact_and(program_of=lambda *_: run))
    assert run.call_count == 1


def test_a_thread_that_must_not_compile_goes_on_with_gmpy2(monkeypatch, tmp_path):
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    fresh = orbit_steps.SIZES[-1], False  # a program that no other test compiles
    with without_compiling(), mock.patch.object(orbit_steps, "size_for", return_value=fresh[0]):
        assert_same(*exact_and())


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y, a, b: (select(x < y, a, b), y),
        lambda x, y, a, b: (x / y, y),
        lambda x, y, a, b: (a if x == y else b, y),
        lambda x, y, a, b: (a if x else b, y),
        lambda x, y, a, b: (x * float("inf"), y),
        lambda x, y, a, b: (x, y, a),
        lambda x, y, a, b: (float(x), y),
    ],
)
def test_a_step_of_other_operations_is_left_to_gmpy2(step):
    assert traced(step) is None


def test_sizes_have_room_for_what_is_rounded():
    for bits in range(65, 64 * SIZES[-1] - 3):
        size = orbit_steps.size_for(bits)
        assert 64 * size >= bits + 4
        lowest = 64 * size - bits  # the place of the lowest bit that is kept
        assert lowest < 64 * rounded_limbs(size)
    assert [rounded_limbs(size) for size in SIZES[:4]] == [1, 2, 2, 3]
    assert compiled_steps(square, (0, 0), 64, WIDE_OPEN, array("d"), array("d")) is None
    assert orbit_steps.size_for(64 * SIZES[-1] - 3) == 0


def test_points_of_doubled_parts_are_found_again():
    """A part that is 0 stays the one that is compared, though it was doubled."""

    def step(x, y, a, b):
        return x + x, y + y

    with gmpy2.context(gmpy2.get_context(), precision=100):
        zero = gmpy2.mpfr(0)
        steps = compiled_steps(step, (zero, zero), 100, WIDE_OPEN, array("d"), array("d"))
        after = steps.take(OrbitState(0, (zero, gmpy2.mpfr(1)), (zero, zero), 0j, 0), 5, None)
        assert after.z == (0, 32)
        after = steps.take(OrbitState(0, (zero, -zero), (zero, zero), 0j, 0), 5, None)
        assert after.n == 0


def test_a_stored_program_of_an_orbit_needs_no_numba():
    script = (
        "import sys\n"
        "from fractions import Fraction\n"
        "import fractals\n"
        "from fractals.deep import orbit_steps, reference\n"
        "orbit_steps.PATIENCE = -1\n"
        "zero, c = (Fraction(0), Fraction(0)), (Fraction('-1.8'), Fraction(0))\n"
        "formula = fractals.Scene().make_formula()\n"
        "reference.compute_orbit(reference.OrbitRequest(formula, zero, c, 110, 5000, 4.0))\n"
        "print(len(orbit_steps._ready), 'numba' in sys.modules, 'llvmlite' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    for _ in range(2):  # the first compiles
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    loads_llvm = sys.platform != "linux" or platform.machine() != "x86_64"
    assert done.stdout.split() == ["1", "False", str(loads_llvm)]

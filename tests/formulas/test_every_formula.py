"""Properties that every formula has; a new file in formulas/ is picked up by itself."""

import inspect
import math
import random

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import naive
from support.scenes import (
    FILES,
    FORMULAS,
    OTHER,
    USUAL,
    each_compiled,
    each_kind,
    label,
    name_and_power,
    scene,
    slow_but,
)

import fractals
from fractals import catalog
from fractals.backends import machine_code
from fractals.backends.cpu.backend import CpuBackend
from fractals.kernels.escape import EscapeOptions, make_body
from fractals.kernels.formula import meanings_of

every_formula = pytest.mark.parametrize("formula", FORMULAS, ids=label)


def points(seed, count=12, reach=2):
    """Return random complex numbers of many digits."""
    dice = random.Random(seed)
    return [mpc(*(mpf(dice.uniform(-reach, reach)) for _ in range(2))) for _ in range(count)]


def made(formula):
    return scene(formula).make_formula()


def step(formula, z, c):
    return mpc(*made(formula).step(z.real, z.imag, c.real, c.imag))


def derivative(formula, z, vector):
    return mpc(*made(formula).derivative(z.real, z.imag, vector.real, vector.imag))


def oracle_step(formula, z, c):
    name, power = name_and_power(formula)
    assert name in naive.STEPS, f"write a step of {name} in tests/oracle/naive.py"
    return naive.STEPS[name](z, c, power)


@pytest.mark.parametrize("kind", catalog.FORMULAS)
def test_every_option_has_a_meaning(kind):
    """Lists, the reference and the explorer show it."""
    for name in catalog.names(kind):
        make = catalog.load(kind, name)
        given = inspect.signature(make).parameters.values()
        options = {each.name for each in given if each.kind is not each.VAR_KEYWORD}
        found = meanings_of(make)
        assert found.keys() == options | make().parameters.keys(), name
        assert all(1 < len(text) < 100 for text in found.values()), name


@every_formula
def test_step_is_the_oracles(formula):
    for z, c in zip(points(1), points(2), strict=True):
        assert abs(step(formula, z, c) - oracle_step(formula, z, c)) < mpf("1e-44")


@every_formula
def test_derivative_is_the_finite_difference(formula):
    h = mpf("1e-16")
    for z, vector in zip(points(3), points(4), strict=True):
        ahead, behind = (step(formula, z + k * h * vector, mpc(0)) for k in (1, -1))
        difference = (ahead - behind) / (2 * h)
        assert abs(derivative(formula, z, vector) - difference) < mpf("1e-25")


@every_formula
def test_derivative_is_a_complex_number_where_holomorphic(formula):
    turns = [
        abs(derivative(formula, z, mpc(0, 1)) - mpc(0, 1) * derivative(formula, z, mpc(1)))
        for z in points(5)
    ]
    assert made(formula).holomorphic == (max(turns) < mpf("1e-40"))


@every_formula
def test_perturbed_step_is_the_difference(formula):
    perturbed = made(formula).perturbed
    if perturbed is None:
        pytest.skip(f"{label(formula)} has no perturbed step")
    kinks = made(formula).kinks or (lambda x, y: ())
    with mpmath.workdps(90):
        for k, (Z, z) in enumerate(zip(points(13, 60), points(14, 60), strict=True)):
            C, c = mpc(k, -k), mpc(1, 2) * mpf(10) ** -(k // 2)
            z *= mpf(10) ** -(k // 2)  # from as long as Z, across every kink, to 1e-30
            wanted = step(formula, Z + z, C + c) - step(formula, Z, C)
            numbers = kinks(Z.real, Z.imag)
            found = mpc(*perturbed(Z.real, Z.imag, z.real, z.imag, c.real, c.imag, *numbers))
            assert abs(found - wanted) < mpf("1e-60")
            assert found.real == found.real


def has(attribute):
    return lambda formula: getattr(made(formula), attribute) is not None


def some_formulas(wanted):
    """Return a mark that runs a test for each formula that `wanted` accepts."""
    chosen = [formula for formula in FORMULAS if wanted(formula)]
    assert chosen
    return pytest.mark.parametrize("formula", chosen, ids=label)


@some_formulas(lambda formula: has("perturbed")(formula) and not has("kink_distance")(formula))
def test_formulas_without_kink_distance_have_no_kink(formula):
    """Along any line such a map is one polynomial, so its differences of order degree + 1 are 0."""
    order = made(formula).degree + 1
    signs = [(-1) ** k * math.comb(order, k) for k in range(order + 1)]
    for start, way in zip(points(15, 40), points(16, 40), strict=True):
        f = [step(formula, start + k * way, mpc(0)) for k in range(order + 1)]
        assert abs(sum(a * b for a, b in zip(signs, f, strict=True))) < mpf("1e-35")


@some_formulas(has("kink_distance"))
def test_no_kink_is_nearer_than_the_kink_distance(formula):
    """Within it f is one polynomial of degree 2, whose third differences are 0."""
    kink_distance, kinks = made(formula).kink_distance, made(formula).kinks
    bent = 0
    for Z in points(15, 20):
        for turn in (mpc(1), mpc(1, 1), mpc(0, 1), mpc(-1, 1), mpc(-1), mpc(1, -1)):
            for far in (0.999, 5):
                within = kink_distance(Z.real, Z.imag, *kinks(Z.real, Z.imag))
                reach = within * far * turn / 3
                f = [step(formula, Z + k * reach, mpc(0)) for k in range(4)]
                third = abs(f[3] - 3 * f[2] + 3 * f[1] - f[0])
                bent += far > 1 and third > mpf("1e-20")
                assert far > 1 or third < mpf("1e-40")
    assert bent > 20  # and not much nearer than it must be


@every_formula
def test_c_is_added(formula):
    for z, c in zip(points(6), points(7), strict=True):
        assert abs(step(formula, z, c) - step(formula, z, mpc(0)) - c) < mpf("1e-44")


@every_formula
def test_degree_is_the_growth_at_infinity(formula):
    degree = made(formula).degree
    for z in points(8):
        far = z / abs(z) * mpf("1e30")
        growth = mpmath.log(abs(step(formula, far, mpc(0)))) / mpmath.log(abs(far))
        assert growth == pytest.approx(
            degree, abs=0.2
        )  # the Celtic and its kin have lean directions
        assert abs(step(formula, far, mpc(0))) <= 1.5 * abs(far) ** degree  # the shark fin: 1.41


@every_formula
def test_orbits_do_not_come_back(formula):
    """Beyond |z| = R >= 2 and |c| <= R the next point lies farther: whole blocks go untested."""
    for z, c in zip(points(9, 200, 4), points(10, 200, 4), strict=True):
        if abs(z) > 2.001 and abs(c) <= abs(z):
            assert abs(step(formula, z, c)) > abs(z)


def commutes(formula, move):
    """Return whether `move` of z and c before the oracle's step is the same as `move` after it."""
    moved = [
        (oracle_step(formula, move(z), move(c)), move(oracle_step(formula, z, c)))
        for z, c in zip(points(11), points(12), strict=True)
    ]
    return max(abs(a - b) for a, b in moved) < mpf("1e-40")


def turned_by(part):
    """Return the rotation by this part of a full turn."""
    omega = mpmath.expjpi(mpf(2) / part)
    return lambda w: omega * w


@each_compiled
def test_counts_are_mirrored_where_the_formula_is(formula):
    mirrored = commutes(formula, mpmath.conj)
    raw = fractals.compute(scene(formula, center=["-0.3", "0"], size=(40, 31)), device="cpu")
    assert np.array_equal(raw.count, raw.count[::-1]) == mirrored
    if mirrored:
        assert raw.z.tobytes() == raw.z[::-1].conj().tobytes() or np.array_equal(
            raw.z, raw.z[::-1].conj()
        )


@each_compiled
def test_counts_are_turned_where_the_formula_is(formula):
    keys = {"center": ["0", "0"], "width": "3.4", "size": (48, 48), "max_iterations": 40}
    straight = fractals.compute(scene(formula, **keys), device="cpu").count
    for part in range(2, 9):
        turned = fractals.compute(scene(formula, rotation=360 / part, **keys), device="cpu").count
        share = np.mean(straight != turned)
        if commutes(formula, turned_by(part)):
            assert share < 0.01  # rounding changes a few counts
        else:
            assert share > 0.1


@each_kind([USUAL, OTHER])
def test_home_view_shows_the_whole_set(formula, julia, precision):
    keys = {"size": (64, 36), "max_iterations": 200, "escape_radius": 100}
    drawn = scene(formula, ["-0.1", "0.1"] if julia else False, **keys)
    raw = fractals.compute(drawn, device="cpu", precision=precision)
    inside = raw.count == raw.max_iterations
    rim = np.concatenate([inside[0], inside[-1], inside[:, 0], inside[:, -1]])
    assert 0.03 < inside.mean() < 0.6
    assert rim.mean() <= (0 if julia else 0.01)
    assert len(np.unique(raw.count)) >= 5


@some_formulas(has("inside"))
@pytest.mark.parametrize("real", [float, np.float32], ids=["float64", "float32"])
def test_inside_is_never_said_of_a_point_that_escapes(formula, real):
    inside = made(formula).inside
    dice = np.random.default_rng(1)
    a = dice.uniform(-2, 1, 4000).astype(real)
    b = dice.uniform(-1.2, 1.2, 4000).astype(real)
    told = np.array([bool(inside(real(x), real(y))) for x, y in zip(a, b, strict=True)])
    assert told.mean() > 0.05
    z, c = np.zeros(4000, complex), a + 1j * b.astype(float)
    for _ in range(300):
        x, y = made(formula).step(z.real, z.imag, c.real, c.imag)
        z = x + 1j * y
        z[abs(z) > 4] = 4
        assert not (told & (abs(z) > 2)).any()


@pytest.mark.parametrize("real", [float, np.float32], ids=["float64", "float32"])
def test_inside_at_the_rim_of_cardioid_and_disc(real):
    """A hair outside is never inside, and all but a hair of the inside is known."""
    inside = made("mandelbrot").inside
    dice = random.Random(2)
    told = 0
    for _ in range(1500):
        turn = mpmath.expjpi(dice.uniform(-1, 1) ** 3)  # most near the cusp, where it is tight
        off = mpf(10) ** dice.uniform(-17, -2)
        cardioid = (1 + off) * turn / 2 - ((1 + off) * turn) ** 2 / 4
        disc = (1 + off) * turn / 4 - 1
        for c in (cardioid, disc):
            a, b = real(float(c.real)), real(float(c.imag))
            at = mpc(float(a), float(b))
            if not (naive.in_cardioid(at) or naive.in_disc(at)):
                assert not inside(a, b)
                told += 1
    assert told > 1000
    for _ in range(500):
        turn = mpmath.expjpi(dice.uniform(-1, 1))
        size = dice.uniform(0, 0.998)
        for c in (size * turn / 2 - (size * turn) ** 2 / 4, size * turn / 4 - 1):
            assert inside(real(float(c.real)), real(float(c.imag))) or abs(c - 0.25) < 0.01


@pytest.mark.skipif(not machine_code.FUSED, reason="this CPU has no packs")
@pytest.mark.parametrize("name", slow_but(["mandelbrot"], FILES))
def test_the_cpu_iterates_it_in_packs(name):
    """A formula that packs cannot compile would fall back to a loop many times slower."""
    options = EscapeOptions(catalog.load("formula", name)(), derivative=name == "mandelbrot")
    run = CpuBackend("float64", 1).compile(make_body, options)
    assert getattr(run, "program", None), f"{name} is iterated by the plain loop"

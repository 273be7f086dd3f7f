"""The table of formulas: every row against the oracle, in plain Python."""

import inspect
import random

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import table
from support.raw import same
from support.scenes import scene

import fractals
from fractals import catalog
from fractals.formulas._table import GROUPS, MAKERS, METHODS

NAMES = sorted(MAKERS)
every_row = pytest.mark.parametrize("name", NAMES)
# Options other than the usual ones, for each row that has some.
OTHERWISE = {
    "glynn": {"power": 2.5},
    "marks_mandelbrot": {"power": 2},
    "inverse_mandelbrot": {"shift": 0.25},
    "modulus_power": {"power": 2, "times": 3},
    "power_lambda": {"power": 3},
    "cubic": {"constant": -0.3},
    "mcmullen": {"n": 2, "m": 4},
    "talis": {"power": 4, "constant": 0.5},
    "power_phoenix": {"power": 4, "memory": 0.25},
    "ushiki": {"constant": -0.4},
    "capture_zones": {"power": 4},
    "power_tower": {"power": 3},
    "gauss_map": {"alpha": 6.2},
    "henon_basin": {"a": 1.2, "b": -0.3},
    "halley_nova": {"power": 4},
    **{name: {"power": 5} for name in table.SHIPS},
}
# Where rounded constants and square roots of small numbers are compared.
NEAR = mpf("1e-14")


def points(seed, count=6):
    dice = random.Random(seed)
    return [mpc(*(mpf(dice.uniform(-2, 2)) for _ in range(2))) for _ in range(count)]


def stepped(formula, z, c, before):
    more = (before.real, before.imag) if formula.uses_previous else ()
    return mpc(*formula.step(z.real, z.imag, c.real, c.imag, *more))


def test_every_row_is_in_the_catalog_and_in_the_oracle():
    assert set(NAMES) == set(table.MAPS) <= set(catalog.names("formula"))
    assert len(NAMES) == sum(map(len, GROUPS.values())) + len(METHODS)
    files = {name for name in catalog.names("formula") if name not in MAKERS}
    assert {"mandelbrot", "hybrid"} <= files
    others = [
        name for kind in catalog.FORMULAS if kind != "formula" for name in catalog.names(kind)
    ]
    assert not set(NAMES) & set(others)


@every_row
def test_a_row_has_a_title_a_source_and_a_group(name):
    formula = MAKERS[name]()
    assert formula.name == name
    assert formula.title[0].isupper()
    assert "{" not in formula.title
    assert len(inspect.getdoc(MAKERS[name])) > len("Return the formula. A 1")
    assert formula.group in {*GROUPS, "Root finding"}
    assert (
        dict(formula.parameters).items()
        <= {
            key: part.default for key, part in inspect.signature(MAKERS[name]).parameters.items()
        }.items()
    )


@every_row
def test_step_is_the_oracles(name):
    for options in ({}, *([OTHERWISE[name]] if name in OTHERWISE else [])):
        formula = MAKERS[name](**options)
        for z, c, before in zip(points(1), points(2), points(3), strict=True):
            wanted = table.MAPS[name](z, c, before, **options)
            assert abs(stepped(formula, z, c, before) - wanted) < NEAR * (1 + abs(wanted))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_finds_the_roots_of_any_polynomial(name):
    """Of z**4 - 1 by its power, and of (z - 1) (z**2 + 2z + 2) as a text."""
    for options, f, degree in (
        ({"power": 4}, lambda z: z**4 - 1, 4),
        ({"polynomial": "(z - 1)*(z^2 + 2*z + 2)"}, lambda z: z**3 + z * z - 2, 3),
    ):
        formula = MAKERS[name](**options)
        more = {"n": degree} if name == "laguerre" else {}
        for z, before in zip(points(4), points(5), strict=True):
            wanted = table.MAPS[name](z, mpc(0), before, f, **more)
            assert abs(stepped(formula, z, mpc(0), before) - wanted) < NEAR * (1 + abs(wanted))
        found, before = mpc(0.97, 0.02), mpc(0.9, 0)
        for _ in range(7):
            if abs(found - before) > mpf("1e-20"):
                found, before = stepped(formula, found, mpc(0), before), found
        assert abs(found - 1) < mpf("1e-10")


@every_row
def test_derivative_or_tangent_is_the_finite_difference(name):
    formula, h = MAKERS[name](), mpf("1e-16")
    for z, c, dz, dc in zip(points(6), points(7), points(8), points(9), strict=True):
        before, change = c * dz, (z * dc if formula.uses_previous else mpc(0))
        ahead, behind = (
            stepped(formula, z + k * h * dz, c + k * h * dc, before + k * h * change)
            for k in (1, -1)
        )
        difference = (ahead - behind) / (2 * h)
        if formula.tangent:
            kept = (before, change) if formula.uses_previous else ()
            values = (part for v in (z, dz, c, dc, *kept) for part in (v.real, v.imag))
            found = mpc(*formula.tangent(*values))
        else:
            found = dc + mpc(*formula.derivative(z.real, z.imag, dz.real, dz.imag))
        assert abs(found - difference) < mpf("1e-13") * (1 + abs(difference))


@every_row
def test_orbits_start_where_the_derivative_is_0(name):
    """At a critical point, or at the sample itself, or at 0 and 1, as the oracle says."""
    formula = MAKERS[name]()
    for c in points(10):
        first = formula.start(c.real, c.imag, 0, 0)[:2] if formula.start else (0, 0)
        start = mpc(*first)
        if name in table.CRITICAL:
            assert abs(start - table.CRITICAL[name](c)) < NEAR
        if formula.tangent and not formula.uses_previous and name not in table.ELSEWHERE:
            slope = mpc(*formula.tangent(start.real, start.imag, 1, 0, c.real, c.imag, 0, 0))
            assert abs(slope) < mpf("1e-12")


CHAINS = [name for name in NAMES if MAKERS[name]().perturbed]


def test_ships_go_to_any_depth():
    assert set(CHAINS) == set(table.SHIPS)


@pytest.mark.parametrize("name", CHAINS)
def test_perturbed_step_is_the_difference(name):
    formula = MAKERS[name]()
    kinks = formula.kinks or (lambda x, y: ())
    with mpmath.workdps(80):
        for k, (Z, z) in enumerate(zip(points(11, 15), points(12, 15), strict=True)):
            small = z * mpf(100) ** -k
            c, none = small * mpc(1, 2), mpc(0)
            wanted = table.MAPS[name](Z + small, c, none) - table.MAPS[name](Z, none, none)
            found = formula.perturbed(
                Z.real, Z.imag, small.real, small.imag, c.real, c.imag, *kinks(Z.real, Z.imag)
            )
            assert abs(mpc(*found) - wanted) < mpf("1e-50")


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ({"name": "mcmullen", "n": 1}, "n is a whole number from 2 to 12"),
        ({"name": "mcmullen", "n": 2.5}, "n is a whole number from 2 to 12"),
        ({"name": "gauss_map", "alpha": "large"}, "alpha is a number from 0.1 to 20"),
        ({"name": "mcmullen", "power": 3}, "unknown option 'power'; known options: 'n', 'm'"),
        ({"name": "laguerre", "polynomial": "sin(z)"}, "a polynomial of degree 2 or higher"),
        ({"name": "chebyshev", "power": 40}, "power is a whole number from 2 to 12"),
        ("mcmulen", "did you mean 'mcmullen'"),
    ],
)
def test_bad_options_get_one_line(formula, line):
    with pytest.raises(fractals.FractalsError, match=line) as caught:
        fractals.load_scene({"formula": formula})
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@every_row
def test_compiled_programs_agree_in_every_bit(name):
    drawn = scene(name, coloring="speed" if MAKERS[name]().tolerance else "distance")
    expected = fractals.compute(drawn, device="python")
    assert same(fractals.compute(drawn, device="cpu"), expected)


@pytest.mark.slow
@every_row
def test_home_view_shows_something(name):
    drawn = scene(name, coloring="count", size=(64, 36), max_iterations=200)
    counts = fractals.compute(drawn, device="cpu").count
    assert len(np.unique(counts)) >= 3  # methods for roots need few steps
    assert np.max(np.bincount(counts.ravel())) < 0.9 * counts.size


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_stay_at_a_root_that_they_meet_exactly(name):
    formula = MAKERS[name](power=4)
    more = (0.5, 0.25) if formula.uses_previous else ()
    for root in ((1.0, 0.0), (0.0, -1.0)):
        assert formula.step(*root, 0.1, 0.2, *more) == root


def test_orbits_of_ostrowskis_method_end_at_a_root():
    """Orbits whose points jump onto a root were 2 % of the picture, and counted as inside."""
    raw = fractals.compute(
        formula={"name": "ostrowski", "power": 3},
        size=(60, 40),
        supersampling=1,
        max_iterations=300,
        device="cpu",
    )
    assert not raw.inside.any()
    assert np.allclose(raw.z**3, 1, atol=1e-12)


@pytest.mark.parametrize("name", ["chebyshev", "super_halley", "whittaker"])
def test_methods_of_higher_order_come_back_from_far_away(name):
    formula, z = MAKERS[name](power=12), mpc("4e9", "3e9")
    exact = table.MAPS[name](z, mpc(0), mpc(0), lambda w: w**12 - 1)
    assert abs(stepped(formula, z, mpc(0), mpc(0)) - exact) < 1e-12 * abs(exact)

"""Entries of the BLA tree: what they leave out is as small as they say."""

import random

import gmpy2
import numpy as np
import pytest
from support.scenes import scene

from fractals.backends.python import PythonBackend
from fractals.kernels import bla, bla_tree
from fractals.kernels.layout import BLA_B, BLA_E, BLA_F, BLA_RADIUS, BLA_RADIUS_C, BLA_SIZE

POINTS = 130
LARGEST_C = 2.0**-38
BACKEND = PythonBackend("float64")
FORMULAS = {
    "mandelbrot": ("mandelbrot", 0.2505 + 1e-5j),  # passes slowly by the parabolic point of 1/4
    "multibrot": ({"name": "multibrot", "power": 3}, 0.3852 + 1e-5j),
}


def make_tree(formula, c, largest_c, exponent=0):
    """Return the reference orbit of c, the first rows of the levels, and the tree."""
    orbit, z = np.zeros((POINTS, 2)), 0j
    for m in range(POINTS):
        orbit[m] = z.real, z.imag
        z = z**formula.degree + c
    begins = np.cumsum([0, *bla.level_sizes(POINTS)])
    tree = np.zeros((begins[-1], BLA_SIZE))
    fill = BACKEND.compile(bla_tree.make_tree_body, formula, largest_c > 0)
    facts = np.array([POINTS - 1]), exponent, largest_c, 256.0**2
    fill(tree, orbit, begins[:-1], *facts, (0, len(begins) - 1, 0, POINTS))
    return orbit, begins[:-1], tree


def take_steps(formula, orbit, m, length, z, c):
    """Return z after single steps from the m-th point, in arbitrary precision."""
    x, y, a, b = (gmpy2.mpfr(part) for part in (z.real, z.imag, c.real, c.imag))
    z, c = gmpy2.mpc(x, y), gmpy2.mpc(a, b)
    for k in range(m, m + length):
        Z = gmpy2.mpc(*map(gmpy2.mpfr, orbit[k]))
        z = (Z + z) ** formula.degree - Z**formula.degree + c
    return z


def errors(formula, c, largest_c):
    """Yield the error of entries, over the tolerance, relative to the terms of first order."""
    orbit, levels, tree = make_tree(formula, c, largest_c)
    take, dice = bla.make_skip(BACKEND.target, formula), random.Random(1)
    for level, begin in enumerate(levels):
        length = 1 << bla.LOWEST_LEVEL + level
        for i in range((POINTS - 2) // length):
            entry = tree[begin + i]
            radius, radius_c = entry[BLA_RADIUS], entry[BLA_RADIUS_C]
            if radius > 0:
                # Where z is much smaller than its radius, the terms of c alone are seen.
                z, c = (
                    complex(dice.choice((-r, r)), dice.uniform(-r, r))
                    for r in (radius * 2.0 ** -dice.choice((0, 40)), min(radius_c, LARGEST_C))
                )
                x, y = take(entry[:BLA_RADIUS], z.real, z.imag, c.real, c.imag)
                exact = take_steps(formula, orbit, 1 + i * length, length, z, c)
                linear = abs(complex(*entry[:2]) * z) + abs(complex(*entry[BLA_B : BLA_B + 2]) * c)
                yield (
                    float(abs(gmpy2.mpc(x, y) - exact))
                    / linear
                    / bla.TOLERANCE
                    / (bla.LOWEST_LEVEL + level)
                )


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("largest_c", [LARGEST_C, 0.0], ids=["curved", "linear in c"])
def test_entries_are_as_exact_as_their_radii_say(name, largest_c):
    words, c = FORMULAS[name]
    with gmpy2.context(gmpy2.get_context(), precision=200):
        found = list(errors(scene(words).make_formula(), c, largest_c))
    assert len(found) > 12
    assert 1e-3 < max(found) < 4


def longest(tree, levels, z, c):
    """Return how many steps the longest entry from the first point skips."""
    lengths = [
        1 << bla.LOWEST_LEVEL + level
        for level, begin in enumerate(levels)
        if z < tree[begin, BLA_RADIUS] and c < tree[begin, BLA_RADIUS_C]
    ]
    return max(lengths, default=1)


def test_terms_of_second_order_make_skips_longer_beside_a_parabolic_point():
    words, c = FORMULAS["mandelbrot"]
    formula = scene(words).make_formula()
    largest = 2.0**-30
    skipped = []
    for curved in (largest, 0.0):
        _, levels, tree = make_tree(formula, c, curved)
        skipped.append(longest(tree, levels, largest / 4, largest / 2))
    assert skipped[0] >= 4 * skipped[1]


@pytest.mark.parametrize("exponent", [0, -2000])
def test_views_without_room_for_them_leave_out_terms_of_second_order(exponent):
    words, c = FORMULAS["mandelbrot"]
    _, _, tree = make_tree(scene(words).make_formula(), c, 0.0, exponent)
    assert not tree[:, BLA_E : BLA_F + 2].any()
    assert tree[:, BLA_B].any() == (exponent == 0)
    used = tree[:, BLA_RADIUS] > 0
    assert np.isinf(tree[used, BLA_RADIUS_C]).all() == (exponent != 0)


def test_entries_with_numbers_beyond_float64_are_not_used():
    """Along an orbit that stays away from 0, A and B grow to 1e295 in 256 steps, then overflow."""
    points = 700
    levels = np.cumsum([0, *bla.level_sizes(points)])
    orbit, tree = np.full((points, 2), [2.176, 0]), np.zeros((levels[-1], BLA_SIZE))
    formula = scene(FORMULAS["multibrot"][0]).make_formula()
    fill = BACKEND.compile(bla_tree.make_tree_body, formula, False)
    with np.errstate(all="ignore"):
        part = 0, len(levels) - 1, 0, points
        fill(tree, orbit, levels[:-1], np.array([points - 1]), 0, 0.0, 1e20, part)
    assert not np.isnan(tree[:, [BLA_RADIUS, BLA_RADIUS_C]]).any()
    huge = ~(abs(tree[:, BLA_B:BLA_RADIUS]) < bla_tree.MAX_COEFFICIENT).all(axis=1)
    assert 0 < huge.sum() < 10
    assert not tree[huge, BLA_RADIUS_C].any()


def test_tangents_of_a_skip_are_its_derivatives():
    """dz is the derivative by c of z, which moves with c."""
    words, c = FORMULAS["mandelbrot"]
    formula = scene(words).make_formula()
    _, levels, tree = make_tree(formula, c, LARGEST_C)
    entry, h = tree[levels[3]][:BLA_RADIUS], 1e-14
    take = bla.make_skip(BACKEND.target, formula)
    _, by_skip, _ = bla.make_tangents(BACKEND.target, formula, True)
    z, dz, c = 3e-8 + 1e-8j, 2.0 - 1.5j, 2e-8 - 1e-8j
    for direction in (1, 1j):
        with np.errstate(all="raise"):
            ends = []
            for sign in (1, -1):
                at = z + sign * h * direction * dz, c + sign * h * direction
                ends.append(complex(*take(entry, at[0].real, at[0].imag, at[1].real, at[1].imag)))
        slope = (ends[0] - ends[1]) / (2 * h * direction)
        found = complex(*by_skip(entry, z.real, z.imag, c.real, c.imag, (dz.real, dz.imag), 1.0))
        assert abs(slope - found) < 1e-8 * abs(found)

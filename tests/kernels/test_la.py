"""Entries of linear approximations are as exact as their radii say, by arbitrary precision."""

import math
import random

import gmpy2
import numpy as np
import pytest

from fractals.backends.python import PythonBackend
from fractals.formulas.powers import multibrot
from fractals.kernels import bla
from fractals.kernels.bla import TOLERANCE
from fractals.kernels.layout import (
    LA_A,
    LA_B,
    LA_LENGTH,
    LA_NEXT,
    LA_RADIUS,
    LA_RADIUS_C,
    TINY_SIZE,
)

POINTS = 600
BACKEND = PythonBackend("float64")


def make_stages(formula, floatexp, within_squared=math.inf):
    """Return an orbit, its stages, and their entries.

    It is made up: it comes nearly back to 0 after 4 steps, nearer after 16, and nearer after 64.
    """
    dice = random.Random(1)
    orbit = np.zeros((POINTS, 2))
    for m in range(1, POINTS):
        nearness = sum(bits for period, bits in ((4, 18), (16, 15), (64, 60)) if m % period == 0)
        size = dice.uniform(10, 16) * 2.0**-nearness
        orbit[m] = size * dice.choice((-1, 1)), size * dice.uniform(-1, 1)
    tiny = np.full((1, TINY_SIZE), -1.0)
    stages, found = np.zeros((bla.MAX_STAGES, 2), np.int64), np.zeros(2, np.int64)
    entries = np.zeros((POINTS, LA_NEXT + 1))
    cut = BACKEND.compile(bla.make_stages_body, formula, floatexp)
    cut(entries, stages, found, orbit, tiny, 0, POINTS - 1, within_squared)
    return orbit, stages[: found[0]], entries


def errors(formula, floatexp, share, share_c):
    """Yield the error of entries, over the tolerance and their length, relative to linear terms.

    The differences are these shares of the radii.
    """
    orbit, stages, entries = make_stages(formula, floatexp)
    dice, starts = random.Random(2), {}
    for stage, (begin, end) in enumerate(stages):
        for row in range(begin, end):
            entry = entries[row]
            below = int(entry[LA_NEXT])
            m = starts[row] = starts[below] if stage else below
            radius, radius_c = (
                np.ldexp(entry[k], int(entry[k + 1])) for k in (LA_RADIUS, LA_RADIUS_C)
            )
            if not radius > 0:
                continue
            w, c = (
                gmpy2.mpc(dice.choice((-r, r)), dice.uniform(-r, r))
                for r in (share * radius, share_c * radius_c)
            )
            a, b = (complex(*np.ldexp(entry[k : k + 2], int(entry[k + 2]))) for k in (LA_A, LA_B))
            z = w + c
            for k in range(m + 1, m + int(entry[LA_LENGTH])):
                Z = gmpy2.mpc(*map(gmpy2.mpfr, orbit[k]))
                z = (Z + z) ** formula.degree - Z**formula.degree + c
            error = abs(a * w + b * c - z) / (abs(a * w) + abs(b * c))
            yield stage, float(error) / TOLERANCE / entry[LA_LENGTH]


@pytest.mark.parametrize("floatexp", [False, True], ids=["float64", "floatexp"])
@pytest.mark.parametrize("power", [2, 3])
@pytest.mark.parametrize("shares", [(0.99, 0.99), (0.99, 1e-9), (1e-9, 0.99)], ids=str)
def test_entries_are_as_exact_as_their_radii_say(power, floatexp, shares):
    with gmpy2.context(gmpy2.get_context(), precision=300):
        found = list(errors(multibrot(power=power), floatexp, *shares))
    assert {0, 1} <= {stage for stage, _ in found}
    assert 0.1 < max(error for _, error in found) < 1


@pytest.mark.parametrize("place", [None, 0.9, 0.99])
def test_stages_end_before_a_point_beside_the_escape_radius(place):
    """A skip tests for escape only where it ends."""
    formula = multibrot(power=2)
    orbit, *whole = make_stages(formula, False)
    squares = (orbit**2).sum(axis=1)
    within = math.inf if place is None else np.quantile(squares, place)
    last = POINTS - 1 if place is None else int((squares > within).argmax()) - 1
    _, stages, entries = make_stages(formula, False, within)
    begin, end = stages[0]
    if place is None:
        assert np.array_equal(stages, whole[0])
        entry = int(end)
    else:
        entry = int(end) - 1  # where the stage ends, a sample goes on without rebasing
    assert 3 < last < POINTS
    assert entries[entry, LA_NEXT] == last
    assert entries[entry, LA_RADIUS] == 0
    steps = entries[begin:entry, LA_LENGTH]
    assert entries[entry - 1, LA_NEXT] + steps[-1] == last
    assert steps.sum() == last

"""Counts in double-double numbers against the oracle, where float64 has no digits left.

Each view lies on the border of two counts, which a bisection finds in many digits: a sample on the
wrong side of that line is a wrong count. The plain Python loop draws it, because all devices have
its bits (`test_doubled.py`).
"""

import math
import random
import zlib

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import naive, table
from support.scenes import slow_but

import fractals
from fractals import catalog

DIGITS = 70
LIMIT, RADIUS, SIZE = 60, 64.0, (9, 7)
ENOUGH = SIZE[0] * SIZE[1] // 2  # stable samples
# Samples whose count changes when they move so far are not compared: in plane units, for places
# and numbers of about 1. It is a sixteenth of a pixel at a width of 1e-26.
MOVE = mpf("1e-29")
# Formulas of the oracle that escape, by what makes their picture: orbits start at 0, or at the
# critical point that the oracle knows; of the others the Julia sets are drawn.
FROM_ZERO = (
    *("mandelbrot", "multibrot", "burning_ship", "tricorn", "simonobrot", "celtic", "buffalo"),
    *("perpendicular_burning_ship", "shark_fin", "heart", "celtic_heart", "hybrid"),
    *("inverse_mandelbrot", "cosine", "cosine_plus", "cosine_square", "cosh_square"),
    *("sine_of_square", "manowar", "ushiki"),
    *table.SHIPS,
)
OTHERS = (
    *("logistic", "spider", "sine", "exponential", "collatz", "glynn", "marks_mandelbrot"),
    *("modulus_power", "moth_buffalo", "power_lambda", "inverse_lambda", "cubic", "cactus"),
    *("trice", "mcmullen", "zubieta", "perturbed_basilica", "basilica_matings", "talis"),
    *(
        "exponential_square",
        "sine_plus",
        "sine_times",
        "pickover",
        "capture_zones",
        "tetration",
        "gauss_map",
    ),
)
# A formula with a parameter, of which the step computes other numbers
PARAMETER = {"step": "z^2 + k*k*z + (1 + k)*c", "k": 0.3}
OFTEN = ("spider", "manowar", "moth_buffalo", "cosh_square", "glynn")


def step_of(name):
    """Return ``step(z, c, before)`` of the oracle; constants of the formulas are float64."""
    if name in table.MAPS:
        return table.MAPS[name]
    if name == "spider":
        return None
    if name == "a parameter":
        k = mpf(PARAMETER["k"])
        return lambda z, c, before: z * z + k * k * z + (1 + k) * c
    return lambda z, c, before: naive.STEPS[name](z, c)


def count_of(name, point, julia):
    """Return the count of a sample; `julia` is c of a Julia set, or None."""
    z, c, before = (
        (point, julia, mpc(0)) if julia is not None else (start_of(name, point), point, mpc(0))
    )
    step = step_of(name)
    change = mpc(0)
    for n in range(1, LIMIT):
        if name == "spider":
            before, z = z, naive.spider(z, c, change)
            change = naive.spider_change(z, c, change)
        else:
            before, z = z, step(z, c, before)
        if not abs(z) <= RADIUS:
            return n
    return LIMIT


def start_of(name, c):
    if name in ("manowar", "spider"):
        return c
    return mpc(table.CRITICAL[name](c)) if name in table.CRITICAL else mpc(0)


def border(name, depth, dice):
    """Return a point within 10^-(depth + 4) of where the count changes, and c or None."""
    for _ in range(200):
        julia = None
        if name not in FROM_ZERO and name not in table.CRITICAL and name != "spider":
            julia = mpc(dice.randrange(-96, 96) / 64, dice.randrange(-96, 96) / 64)
        a, b = (mpc(dice.uniform(-1.5, 1.5), dice.uniform(-1.5, 1.5)) for _ in range(2))
        try:
            first, last = count_of(name, a, julia), count_of(name, b, julia)
            if abs(first - last) < 2 or max(first, last) < 6:
                continue
            for _ in range(int((depth + 4) * math.log2(10)) + 1):
                middle = (a + b) / 2
                found = count_of(name, middle, julia)
                if abs(found - first) <= abs(found - last):
                    a, first = middle, found
                else:
                    b, last = middle, found
            if first != last and min(first, last) > 3:
                return a, julia
        except (ZeroDivisionError, OverflowError, ValueError):
            continue
    return None


def wrong(name, depth, **keys):
    """Return how many stable samples were found, and how many of them have a wrong count.

    Where more than half of the samples were stable, others are looked at only if their counts
    differ: they are no mistakes otherwise.
    """
    dice = random.Random(zlib.crc32(f"{name} {depth}".encode()))
    with mpmath.workdps(DIGITS):
        found = border(name, depth, dice)
        assert found, f"no border of {name}"
        center, julia = found
        width = mpf(10) ** -depth
        texts = [mpmath.nstr(part, 50) for part in (center.real, center.imag)]
        center = mpc(*map(mpf, texts))
        scene = {"formula": name, "center": texts, "width": mpmath.nstr(width, 20), "size": SIZE}
        if julia is not None:
            scene["julia"] = [mpmath.nstr(part, 20) for part in (julia.real, julia.imag)]
        scene |= {"max_iterations": LIMIT, "escape_radius": RADIUS, "supersampling": 1, **keys}
        raw = fractals.compute(**scene, coloring="count", device="python", on_message=str)
        compared, bad = 0, 0
        by = MOVE * max(1, abs(center))
        for j, i in np.ndindex(SIZE[1], SIZE[0]):
            point = naive.position(i, j, SIZE, (center.real, center.imag), mpf(scene["width"]))
            exact = count_of(name, point, julia)
            if raw.count[j, i] == exact and compared > ENOUGH:
                continue
            moves = (by, -by, mpc(0, by), mpc(0, -by))
            if all(count_of(name, point + move, julia) == exact for move in moves):
                compared += 1
                bad += raw.count[j, i] != exact
    return compared, bad, len(np.unique(raw.count))


@pytest.fixture(autouse=True)
def constants_of_formulas(monkeypatch):
    """Constants of formulas are float64 numbers, and so are those of the oracle here."""
    for module in (naive, table):
        monkeypatch.setattr(module, "pi", mpf(math.pi))


@pytest.mark.parametrize("name", slow_but(OFTEN, sorted({*FROM_ZERO, *OTHERS})))
def test_no_stable_sample_has_a_wrong_count(name):
    for depth in (17, 22, 26):
        compared, bad, kinds = wrong(name, depth, precision="double-double")
        assert bad == 0
        assert compared > ENOUGH
        assert kinds > 1


@pytest.mark.parametrize("name", ["spider", "cosh_square"])
def test_auto_takes_double_double_where_float64_has_no_digits(name):
    assert catalog.load("formula", name)().perturbed is None
    assert wrong(name, 20)[1] == 0


def test_numbers_that_a_step_computes_of_parameters_have_all_digits():
    compared, bad, kinds = wrong("a parameter", 22, formula=PARAMETER)
    assert bad == 0
    assert compared > ENOUGH
    assert kinds > 1

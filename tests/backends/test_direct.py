"""The CPU's packs give the numbers of the plain loop, which other tests hold to the truth."""

import cmath
import itertools
import json
import math
import random
import subprocess
import sys

import numpy as np
import pytest
from support.scenes import each_compiled, label, scene, slow_but

from fractals.backends.cpu import fast
from fractals.backends.cpu.programs import direct_sizes, list_rows, program_of
from fractals.backends.cpu.simd.pack import FEW_REGISTERS
from fractals.backends.devices import LIMITS
from fractals.kernels import escape
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.rendering import plan, sampling
from fractals.threads import halting

# On CPUs with few registers, programs of the Mandelbrot set speculate only without shortcuts.
SHORTCUTS = not FEW_REGISTERS


class Both:
    """One escape program, compiled as a plain loop and as a wavefront.

    The plain loop is the one that the simulator runs, and the wavefront the one of pictures, so
    that other tests compile both too.
    """

    def __init__(self, drawn, derivative=True, interior_shortcuts=True, check_every_step=False):
        number = drawn.iteration.number_type
        self.real = np.dtype(number).type
        plain, packed = (
            escape.EscapeOptions(
                formula=drawn.make_formula(),
                julia=drawn.julia is not None,
                derivative=derivative,
                interior_shortcuts=interior_shortcuts,
                steps_per_check=LIMITS[device].steps_per_check,
                check_every_step=check_every_step,
            )
            for device in ("simulator", "cpu")
        )
        self.plain = program_of(escape.make_body, number, (plain,), loop=True, checked=True)
        self.wave = program_of(fast.DIRECT, number, (packed,), packed=True)
        self.derivative, self.options = derivative, packed

    def compare(self, drawn):
        """Assert that both fill their arrays with the same bits; return the counts."""
        planned = plan.make_plan(drawn)
        width, height = planned.size
        columns, rows = (part.astype(self.real) for part in sampling.coordinates(planned))
        x, y = map(float, drawn.julia or ("0", "0"))
        point = np.array([x, y, drawn.iteration.escape_radius**2], self.real)
        rest = SampleGrid(columns, rows), point, np.int32(planned.max_iterations)
        filled = []
        for _ in range(2):
            shape = (height, width) if self.derivative else (1, 1)
            slopes = [np.full(shape, -7, self.real) for _ in range(2)]
            z = [np.full((height, width), -7, self.real) for _ in range(2)]
            none = np.zeros((1, 1, 1), self.real)
            count = np.full((height, width), -7, np.int32)
            filled.append(EscapeTile(count, *z, *slopes, none))
        self.plain(0, 0, 1, 1, filled[0], *rest)
        numbers, places = direct_sizes(width, list_rows(self.options))
        scratch = np.full(numbers, np.nan, self.real), np.full(places, -1, f"i{point.itemsize}")
        tile = EscapeTile(*(part.reshape(-1) for part in filled[1]))
        self.wave(tile, *rest, *scratch, halting())
        for plain, wave in zip(*filled, strict=True):
            assert plain.tobytes() == wave.tobytes(), drawn.to_json()
        return filled[1][0]


def views(seed, count, **keys):
    """Yield views at random, around points of the Mandelbrot set's cardioid."""
    chance = random.Random(seed)
    for _ in range(count):
        turn = cmath.exp(2j * math.pi * chance.random())
        point = turn / 2 - turn**2 / 4
        yield {
            "center": [str(point.real), str(point.imag)],
            "width": str(10 ** chance.uniform(-2.5, 0.6)),
            "size": (
                chance.choice([1, 7, 39, 40, 41, 96, 161]),
                chance.choice([1, 2, 13, 64, 150]),
            ),
            "max_iterations": chance.choice(
                [1, 2, 3, 23, 24, 25, 26, 27, 28, 48, 49, 200, 1000, 1003, 3200]
            ),
            "rotation": chance.choice([0, 30]),
            **keys,
        }


@pytest.mark.parametrize(
    ("julia", "derivative", "precision"),
    slow_but(
        [(False, False, "float64"), (True, True, "float32")],
        itertools.product([False, True], [False, True], ["float64", "float32"]),
    ),
)
def test_random_views_of_the_mandelbrot_set(julia, derivative, precision):
    both = Both(scene(julia=julia, precision=precision), derivative, SHORTCUTS)
    seen = set()
    for view in views(f"{julia}{derivative}{precision}", 60, precision=precision):
        seen |= set(np.unique(both.compare(scene(julia=julia, **view))))
    assert len(seen) > 100


@each_compiled
def test_random_views_of_other_formulas(formula):
    both = Both(scene(formula))
    counts = [both.compare(scene(formula, **view)) for view in views(label(formula), 25)]
    assert len(set(np.concatenate(counts, axis=None).tolist())) > 25


@pytest.mark.parametrize("precision", slow_but(["float64"], ["float64", "float32"]))
def test_every_step_is_looked_at_where_an_escaped_orbit_may_come_back(precision):
    # |c| > R: real orbits pass the radius after many steps, and are back within it a step later.
    keys = {"julia": ["-2.0005", "0"], "escape_radius": 2, "precision": precision}
    both = Both(scene(**keys), check_every_step=True)
    tested_at_ends = Both(scene(**keys))
    wrong = 0
    for width, limit in itertools.product(("4", "3.9", "3.7"), (100, 203, 1000)):
        drawn = scene(**keys, center=["0", "0"], width=width, size=(161, 1), max_iterations=limit)
        counts = both.compare(drawn)
        assert counts.max() > 60
        try:
            assert (tested_at_ends.compare(drawn) == counts).all()
        except AssertionError:
            wrong += 1
    assert wrong > 0  # the views do hold such orbits


@pytest.mark.parametrize("formula", slow_but(["mandelbrot"], ["mandelbrot", "burning_ship"]))
def test_shortcuts_change_no_number(formula):
    with_shortcuts, without = (Both(scene(formula), interior_shortcuts=on) for on in (True, False))
    for view in views(formula, 20):
        drawn = scene(formula, **view)
        assert (with_shortcuts.compare(drawn) == without.compare(drawn)).all()


def test_orbits_that_reach_a_cycle_end_long_before_the_limit():
    """Without shortcuts these pictures would take hours."""
    inside = [
        {"center": ("-0.12256", "0.74486"), "width": "0.01"},  # of period 3
        {"center": ("-0.12256", "0.74486"), "width": "0.01", "size": (1, 1)},
        {"center": ("-0.407104083", "0.584852843"), "width": "0.003"},  # 13
        {"center": ("-0.377003547", "0.594551697"), "width": "0.0006"},  # 29
        {"julia": ("-0.123", "0.745"), "center": ("0", "0"), "width": "0.1"},
    ]
    like = scene(size=(80, 60), coloring="count", max_iterations=2 * 10**9)
    tables = [json.loads(like.replace(**view).to_json()) for view in inside]
    code = (
        f"import fractals\nfor table in {tables}:\n"
        "    raw = fractals.compute(fractals.load_scene(table))\n"
        "    assert (raw.count == 2 * 10**9).all()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("max_iterations", range(1, 140, 6))
def test_limits_that_are_no_multiple_of_a_block(max_iterations, mandelbrot):
    drawn = scene(
        size=(64, 48), center=("-0.7436", "0.1318"), width="0.01", max_iterations=max_iterations
    )
    counts = mandelbrot.compare(drawn)
    assert counts.max() == max_iterations


@pytest.fixture(scope="module")
def mandelbrot():
    return Both(scene(), derivative=False, interior_shortcuts=SHORTCUTS)


def test_pictures_with_infinities_and_nan(mandelbrot):
    drawn = scene(size=(33, 5), width="1e15", escape_radius=1e6)
    assert mandelbrot.compare(drawn).max() <= 60


def test_a_real_julia_set_in_float32_meets_denormals():
    """y falls below the smallest normal number and is taken as 0: no count changes."""
    keys = {"julia": ["-0.75", "0"], "precision": "float32", "max_iterations": 2000}
    both = Both(scene(**keys), derivative=False, interior_shortcuts=False)
    counts = both.compare(scene(size=(96, 64), width="3.4", **keys))
    assert (counts == 2000).mean() > 0.2

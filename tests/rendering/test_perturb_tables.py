"""Tables of deep views: blocks that threads fill are those of a table that is filled at once."""

from dataclasses import replace

import numpy as np
import pytest
from support.scenes import scene

from fractals.backends.devices import open_one_core
from fractals.deep.reference import Reference
from fractals.kernels import bla, bla_tree
from fractals.kernels.floatexp import ZERO_EXPONENT
from fractals.kernels.layout import BLA_RADIUS, LA_NEXT, MATRIX_RADIUS, TINY_INDEX
from fractals.rendering.perturb import BLOCK, TableMaker

POINTS = 3 * (BLOCK << bla.LOWEST_LEVEL) + 777


def reference(length, seed):
    """Return an orbit that nearly comes back to 0, nearer after more steps."""
    dice = np.random.default_rng(seed)
    m = np.arange(length)
    nearness = 18 * (m % 4 == 0) + 15 * (m % 16 == 0) + 60 * (m % 64 == 0)
    orbit = dice.uniform(1, 1.6, (length, 2)) * 2.0 ** -nearness[:, None]
    orbit[0] = 0
    near_kinks = np.array([[0.0, 0, ZERO_EXPONENT]])
    return Reference(orbit, np.zeros((0, 4)), 0, False, 100, near_kinks=near_kinks)


def made(formula, lengths, threads, largest_c=0.0):
    maker = TableMaker(
        open_one_core(), threads, scene(formula).make_formula(), len(lengths) > 1, False, 256.0, 0,
        largest_c,
    )  # fmt: skip
    orbits = [reference(length, seed) for seed, length in enumerate(lengths)]
    return maker, maker._make(orbits, False)


@pytest.mark.parametrize("lengths", [(POINTS,), (POINTS // 2, POINTS // 3), (9,), (5, 4)], ids=str)
@pytest.mark.parametrize(
    ("formula", "largest_c"),
    [("mandelbrot", 0.0), ("mandelbrot", 2.0**-40), ("burning_ship", 0.0)],
)
def test_blocks_make_the_whole_tree(formula, largest_c, lengths):
    maker, tables = made(formula, lengths, 3, largest_c)
    _, alone = made(formula, lengths, 0, largest_c)
    for table, other in zip(tables.arrays, alone.arrays, strict=True):
        assert table.tobytes() == other.tobytes()
    orbit, _, _, entries, levels, tree, _ = tables.arrays
    whole = np.zeros_like(tree)
    fill = maker.cpu.compile(bla_tree.make_tree_body, maker.formula, largest_c > 0)
    facts = tables.ends, 0, largest_c, 256.0**2, (0, tables.level_count, 0, len(orbit))
    fill(whole, orbit, levels, *facts)
    assert np.array_equal(whole, tree)
    if sum(lengths) > 100:
        assert (tree[:, -2] > 0).mean() > 0.2
        assert (tables.stage_count > 0) == (formula == "mandelbrot")
    if tables.stage_count:
        assert entries[-1, LA_NEXT] <= tables.ends[0]


def test_no_skip_leads_from_one_orbit_into_the_next():
    for formula, column in (("mandelbrot", BLA_RADIUS), ("burning_ship", MATRIX_RADIUS)):
        for length in range(2000, 2009):
            _, tables = made(formula, (length, 3000), 2)
            levels, tree = tables.arrays[4:6]
            for level in range(tables.level_count):
                steps = 1 << bla.LOWEST_LEVEL + level
                entry = levels[level] + (length - 2) // steps
                assert tree[entry, column] == 0  # from m = 1 + i steps over the last point


def test_points_too_small_for_float64_keep_their_index():
    maker, _ = made("mandelbrot", (100, 80), 0)
    orbits = [
        replace(reference(length, 1), tiny=np.array([[7.0, 1, 1, -999], [64, 1, 1, -999]]))
        for length in (100, 80)
    ]
    tiny = maker._make(orbits, False).arrays[1]
    assert tiny[:, TINY_INDEX].tolist() == [7, 64, 107, 164]
    assert orbits[1].tiny[0, TINY_INDEX] == 7

"""Orbit statistics do not depend on how orbits are divided among packs, tiles and launches."""

import itertools

import numpy as np
import pytest
from support.drawings import BoundedSimulator, compute_on
from support.scenes import PRECISIONS, scene, slow_but

import fractals

LAYERS = [  # of programs that layers in stores and in scenes have, too
    {"coloring": {"name": "orbit_trap", "shape": "circle"}, "mask": "all"},
    {"coloring": {"name": "stripe_average", "density": 3}},
]


def statistics_of(drawn, **options):
    return planes_of(fractals.compute(drawn, **options))


def planes_of(raw):
    assert len(raw.statistics) == 3
    return [raw.count, raw.z, *raw.statistics.values()]


def same(found, wanted):
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize(
    ("julia", "mask"),
    slow_but([(False, "all")], itertools.product([False, True], ["escaped", "all"])),
)
def test_packs_have_the_statistics_of_plain_loops(julia, mask):
    """At limits below, at and above the steps that are tested one by one, inside and outside."""
    for limit in (1, 2, 17, 32, 33, 34, 60, 333):
        drawn = scene(
            julia=julia,
            max_iterations=limit,
            size=(41, 13),
            layers=[{**LAYERS[0], "mask": mask}, LAYERS[1]],
        )
        packed = statistics_of(drawn, device="cpu")
        assert same(packed, statistics_of(drawn, device="simulator")), limit
        inside = packed[0] == limit
        assert (packed[2][inside] != 0).all() == (mask == "all") or not inside.any()


@pytest.mark.parametrize(
    ("formula", "precision"),
    slow_but(
        [("mandelbrot", "float64")], itertools.product(["mandelbrot", "burning_ship"], PRECISIONS)
    ),
)
def test_launches_in_parts_continue_statistics(formula, precision):
    drawn = scene(formula, max_iterations=120, size=(23, 9), layers=LAYERS, precision=precision)
    whole = statistics_of(drawn, device="simulator")
    simulator = BoundedSimulator(drawn, 7)
    assert same(planes_of(compute_on(simulator, drawn)), whole)
    assert len(simulator.launches) > 120 // 7


@pytest.mark.slow
def test_shortcuts_change_nothing_outside():
    drawn = scene(
        max_iterations=300, size=(40, 23), layers=[{**LAYERS[0], "mask": "escaped"}, LAYERS[1]]
    )
    quick = statistics_of(drawn, device="cpu")
    slow = statistics_of(drawn, device="cpu", interior_shortcuts=False)
    assert same(quick, slow)
    assert (quick[0] == 300).any()
    assert all((plane[quick[0] == 300] == 0).all() for plane in quick[2:])
    assert all(np.isfinite(plane).all() for plane in quick[2:])

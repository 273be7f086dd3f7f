"""Bands of strips: plans whose samples share an exponent, and tables for c of few octaves."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from support.deep import deep_view
from support.scenes import slow_but

from fractals import load_scene
from fractals.backends.devices import choose, open_backend
from fractals.rendering.drawing import make_source
from fractals.rendering.plan import make_plan
from fractals.rendering.tiles import Tile

SIZE = (48, 5)  # two thirds of an octave


def counts_of(plan):
    source = make_source(open_backend(choose("cpu").device, "float64", 1), plan)
    raw = source.iterate(Tile(0, 0, *SIZE))
    return raw.count.copy(), raw.dx.copy(), raw.dy.copy(), source.loop


@pytest.mark.parametrize(
    ("name", "depth"),
    slow_but([("mandelbrot", 40)], product(["mandelbrot", "burning_ship"], [40, 290])),
)
def test_bands_have_the_counts_of_strips(name, depth):
    if name == "mandelbrot":
        center = load_scene("clockwork").view.center
    else:
        _, center = deep_view(name, 2, False, depth)
    scene = load_scene(
        formula=name,
        center=center,
        width=f"1e-{depth - 2}",
        size=SIZE,
        projection="exponential",
        supersampling=1,
        max_iterations=500_000 if name == "mandelbrot" else 20_000,
        coloring="slopes",
    )
    plan = replace(make_plan(scene), depth=0.0)
    group = -64 * (depth * 3322 // 1000 // 64)
    shared = replace(
        plan, reach=Fraction(2) ** group, exponent=group if plan.extended else plan.exponent
    )
    assert plan.extended == (depth > 200)
    count, dx, dy, _ = counts_of(plan)
    other, du, dv, loop = counts_of(shared)
    assert len(np.unique(count)) > 3 or (name, depth) == ("burning_ship", 290)
    assert (count == other).mean() > 0.99
    same = count == other
    # A sample whose exponent is its own leaves the packets.
    assert loop.startswith("packets") or name != "mandelbrot"
    angles = np.arctan2(dy, dx) - np.arctan2(dv, du)
    apart = np.abs(np.exp(1j * angles) - 1)[same]
    assert (apart < 1e-3).mean() > 0.95  # the others amplify roundings

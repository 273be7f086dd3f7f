"""Programs that no other test runs on a card: NVIDIA's compiler makes the CPU's bits of each.

A compiler may be wrong: that of CUDA 13.5 lets an orbit begin where the one before it has ended,
where both begin at the same x (`fractals.space.light.make_taps`). The gallery's scenes are
compared by tests/tools/test_gallery.py, solids by test_cuda_path.py, colorings by
test_every_backend.py.
"""

import numpy as np
import pytest
from conftest import GPU
from support.raw import same
from support.scenes import scene, slow_but
from support.shapes import solid_scene, tracing_of

import fractals
from fractals import catalog
from fractals.formulas._table import MAKERS
from fractals.space import light as lights

pytestmark = GPU.marks
DEVICES = "cuda", "cpu"
FEW = {"size": (24, 16), "supersampling": 1, "quality": 2.0}
VARIATIONS = catalog.names("variation")
FLAMES = [VARIATIONS[k : k + 4] for k in range(0, len(VARIATIONS), 4)]


@pytest.mark.slow
@pytest.mark.parametrize("julia", [False, True], ids=["parameters", "julia"])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_formulas_of_the_table(name, julia):
    drawn = scene(name, julia, coloring="speed" if MAKERS[name]().tolerance else "distance")
    found, expected = (fractals.compute(drawn, device=device) for device in DEVICES)
    assert same(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", catalog.names("attractor"))
def test_attractors(name):
    found, expected = (fractals.render({"formula": name}, **FEW, device=each) for each in DEVICES)
    assert np.array_equal(found.pixels, expected.pixels)


@pytest.mark.slow
@pytest.mark.parametrize("names", FLAMES, ids=lambda names: names[0])
def test_variations(names):
    transforms = [
        {
            "affine": [0.6, 0.1, 0.2 * k - 0.4, -0.2, 0.5, 0.3 - 0.1 * k],
            "color": k / len(names),
            "variations": {"linear": 0.3} | {name: 0.7},
        }
        for k, name in enumerate(names)
    ]
    table = {"formula": {"name": "flame", "transforms": transforms}}
    found, expected = (fractals.render(table, **FEW, device=each) for each in DEVICES)
    assert len(np.unique(expected.pixels)) > 10
    assert np.array_equal(found.pixels, expected.pixels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        {"julia": ("-0.12", "0.75"), "anti": True},
        {"of": "burning_ship"},
        {"of": "phoenix", "precision": "float32"},  # the last point is a part of its state
    ],
)
def test_orbits_that_are_counted(keys):
    """An orbit is followed twice: first to its end, and then its points are added."""
    own = {key: value for key, value in keys.items() if key in ("of", "anti")}
    table = {"formula": {"name": "buddhabrot", "cells": 64, "least": 2, **own}}
    more = {**FEW, "max_iterations": 40, **{key: keys[key] for key in keys.keys() - own.keys()}}
    found, expected = (fractals.render(table, **more, device=each) for each in DEVICES)
    assert len(np.unique(expected.pixels)) > 10
    assert np.array_equal(found.pixels, expected.pixels)


GUIDED, ALL = 3 + lights.GUIDES, 3 + lights.SHARES + lights.PASSES
SOLIDS = [(name, numbers) for name in catalog.names("solid") for numbers in (GUIDED, ALL)]


@pytest.mark.parametrize(("name", "numbers"), slow_but([("kleinian", GUIDED)], SOLIDS))
def test_sums_of_solids(name, numbers):
    """Beside light: guides of a denoiser, shares of the light's sources, passes."""
    drawn, sums = solid_scene(name, haze=0.3, emission=1.0), []
    for device in DEVICES:
        sums.append(np.zeros((*reversed(drawn.image.size), numbers), np.int64))
        tracing_of(drawn, device).add(sums[-1], range(len(sums[-1])), 0, 2, None)
    assert sums[1].any(axis=(0, 1)).sum() > 6
    assert np.array_equal(*sums)


@pytest.mark.parametrize("name", slow_but(["quasi_fuchsian"], catalog.names("solid")))
def test_surfaces_of_solids(name):
    drawn = solid_scene(name)
    found, expected = (tracing_of(drawn, each).guides(1) for each in DEVICES)
    assert len(np.unique(expected)) > 20
    assert np.array_equal(found, expected)

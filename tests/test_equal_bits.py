"""A picture of each family: the bits of plain Python on every device.

`pytest --near` always runs these, because a change of one family may reach another.
"""

import functools

import numpy as np
import pytest
from support.scenes import scene

import fractals

TRANSFORMS = [
    {"weight": 2, "affine": [0.6, -0.3, 0.2, 0.3, 0.6, 0], "variations": {"linear": 1}},
    {"weight": 1, "affine": [0.5, 0, 0, 0, 0.5, 0.4], "color": 1, "variations": {"swirl": 1}},
]
SMALL = {"size": (8, 6), "supersampling": 1}
FEW = {"steps": 6, "fuse": 4, "quality": 1.0, "estimator_radius": 3.0, **SMALL}
LIGHT = {"samples": 1, "bounces": 1, **SMALL}
PICTURES = {
    "direct": scene(size=(8, 6)),
    "deep": scene(size=(4, 3), center=["0", f"1.{0:050}"], width="1e-40", max_iterations=300),
    "flame": fractals.load_scene({"formula": {"name": "flame", "transforms": TRANSFORMS}}, **FEW),
    "attractor": fractals.load_scene(formula="henon", **FEW),
    "buddhabrot": fractals.load_scene(
        {"formula": {"name": "buddhabrot", "cells": 64}},
        max_iterations=30,
        quality=0.5,
        size=(24, 16),
        supersampling=1,
    ),
    "solid": fractals.load_scene(formula="mandelbulb", **LIGHT),
    "relief": fractals.load_scene("seahorse", heights="smooth", max_iterations=100, **LIGHT),
}


@functools.cache
def drawn_in_python(kind):
    return fractals.render(PICTURES[kind], device="python")


@pytest.mark.parametrize("kind", PICTURES)
def test_every_device_draws_the_bits_of_plain_python(compiled, kind):
    expected = drawn_in_python(kind)
    assert len(np.unique(expected.pixels)) > 5
    found = fractals.render(PICTURES[kind], device=compiled)
    assert found.method == expected.method
    assert np.array_equal(found.pixels, expected.pixels)

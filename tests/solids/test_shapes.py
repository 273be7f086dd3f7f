"""Every solid: its map beside the oracle's, its distances beside the nearest point, its options."""

import functools
import math

import numpy as np
import pytest
from oracle import solids as oracle

from fractals import catalog
from fractals.backends.devices import choose, open_backend
from fractals.kernels import march

NAMES = catalog.names("solid")
TURNS = {"turn": 23.0, "tilt": -31.0, "roll": 12.0}
# Options beside the usual ones, where they lead to other code or other numbers.
CASES = [
    ("amazing_surf", {**TURNS, "scale": 1.7, "cx": 0.3, "cy": -0.4, "cz": 0.2}),
    ("bicomplex", {"w": 0.1}),
    ("bicomplex", {"julia": 1, "w": -0.2}),
    ("bristorbrot", {}),
    ("burning_bulb", {}),
    ("burning_bulb", {"power": 3, "theta": 20.0}),
    ("icosahedral", {}),
    ("icosahedral", {**TURNS, "corner": 3, "scale": 1.8}),
    ("icosahedral", {**TURNS, "corner": 2, "scale": 2.5}),
    ("juliabulb", {}),
    ("juliabulb", {"power": 5, "cx": -0.2, "theta": 11.0, "phi": -40.0}),
    ("mandelbox", {}),
    ("mandelbox", {"scale": 2.0, "fold": 1.1, "inner": 0.3, "outer": 1.2}),
    ("mandelbox", {**TURNS, "scale": -2.2}),
    *(("mandelbulb", {"power": power}) for power in range(2, 17)),
    ("mandelbulb", {"theta": 30.0, "phi": -75.0}),
    ("menger", {}),
    ("menger", {"scale": 2.2, "turn": 34.0, "tilt": -17.0}),
    ("octahedral", {}),
    ("octahedral", {**TURNS, "corner": 3, "scale": 2.4}),
    ("octahedral", {**TURNS, "corner": 2, "scale": 1.7}),
    ("pseudo_kleinian", {}),
    ("pseudo_kleinian", {"size": 1.2, "cz": 0.1}),
    ("quaternion", {}),
    ("quaternion", {"k0": -0.6, "k3": -0.5, "w": 0.15}),
    ("sierpinski", {}),
    ("sierpinski", {**TURNS, "scale": 1.9}),
]


@functools.cache
def backend():
    return open_backend(choose("python").device, "float64")


def made(name, **options):
    return catalog.load("solid", name)(**options)


def field_of(solid, steps=None):
    """Return the distance estimate and the trap at a point, in plain Python."""
    field = march.make_field(backend().target, solid.walk)
    space = march.space_of(solid, steps or solid.steps, np.float64)
    return lambda point: field(*map(float, point), space)


def points(solid, count, seed=1):
    """Return points within and around a solid."""
    dice = np.random.default_rng(seed)
    return dice.uniform(-1.1, 1.1, (count, 3)) * min(solid.bound, 3.0)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_distances_are_the_oracles(name, options):
    solid = made(name, **options)
    # An orbit that does not end is chaos: it doubles errors in each step, so these are few.
    steps = min(solid.steps, 10)
    field, parameters, checked = field_of(solid, steps), {**made(name).parameters}, 0
    parameters |= solid.parameters
    for point in points(solid, 40):
        p, d, _ = oracle.orbit(name, point, parameters, steps, solid.bail)
        if name == "pseudo_kleinian":
            theirs = solid.factor * oracle.pseudo_kleinian_distance(p, **parameters) / d
        else:
            theirs = oracle.distance(p, d, solid.distance, solid.body, solid.factor)
        ours, _ = field(point)
        assert ours == pytest.approx(float(theirs), rel=1e-5, abs=1e-9), point
        checked += theirs > 0
    assert checked > 10

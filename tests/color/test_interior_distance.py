"""Distances from inside, against multipliers in other formulas, and against boundaries."""

import cmath
import math

import mpmath
import numpy as np
import pytest
from support.scenes import scene, slow_but

import fractals
from fractals.scene.geometry import make_layers

SIZE, LIMIT = (45, 31), 3000


def distances(formula, center, width, device="cpu", **keys):
    """Yield the place and the distance of each sample that has one."""
    keys = {"coloring": "interior_distance", "size": SIZE, "max_iterations": LIMIT, **keys}
    drawn = scene(formula, center=[str(center.real), str(center.imag)], width=str(width), **keys)
    raw = fractals.compute(drawn, device=device)
    square = next(plane for name, plane in raw.statistics.items() if ".square" in name)
    height, across = raw.count.shape
    for j, i in np.argwhere((raw.count == raw.max_iterations) & (square > 0)):
        x, y = (i + 0.5 - across / 2) / across, (height / 2 - j - 0.5) / across
        yield center + width * complex(x, y), math.sqrt(square[j, i])


def multiplier(c, power, period):
    """Return the multiplier of the attracting cycle, in 40 digits."""
    z = mpmath.mpc(0)
    for _ in range(400 * period):
        z = z**power + c
    for _ in range(8):
        turned, slope = z, mpmath.mpf(1)
        for _ in range(period):
            slope *= power * turned ** (power - 1)
            turned = turned**power + c
        z -= (turned - z) / (slope - 1)
    slope = mpmath.mpf(1)
    for _ in range(period):
        slope *= power * z ** (power - 1)
        z = z**power + c
    return slope


@pytest.mark.parametrize(
    ("power", "period", "center", "width"),
    [(2, 1, -0.1, 0.7), (2, 2, -1.0, 0.4), (2, 3, -0.1226 + 0.7449j, 0.16), (3, 1, 0.05j, 0.5)],
)
def test_estimates_are_those_of_the_multiplier(power, period, center, width):
    """(1 - |m|²) / |dm/dc|, with the derivative as a difference of two multipliers."""
    formula, keys, each = "mandelbrot", {}, 61
    if power == 3:  # a few samples in plain Python: the program would take seconds to compile
        formula = {"name": "multibrot", "power": power}
        keys, each = {"device": "python", "size": (6, 3), "max_iterations": 400}, 1
    seen = 0
    for c, found in list(distances(formula, complex(center), width, **keys))[::each]:
        with mpmath.workdps(40):
            step = mpmath.mpf(10) ** -15
            own = multiplier(mpmath.mpc(c), power, period)
            if abs(own) > 0.9:
                continue
            ahead, behind = (multiplier(c + s, power, period) for s in (step, -step))
            wanted = (1 - abs(own) ** 2) / abs((ahead - behind) / (2 * step))
        assert found == pytest.approx(float(wanted), rel=1e-4), c
        seen += 1
    assert seen > 8


def test_bounds_of_the_cardioid_and_the_disc():
    """The boundary is no farther than the estimate, and no nearer than a quarter of it."""
    ends = [cmath.exp(2j * math.pi * k / 4000) for k in range(4000)]
    cardioid = np.array([e / 2 - e * e / 4 for e in ends])
    seen = {True: 0, False: 0}
    for c, found in distances("mandelbrot", -0.5 + 0j, 2.6):
        if in_disc := abs(c + 1) < 0.24:
            true = 0.25 - abs(c + 1)
        elif abs(1 - cmath.sqrt(1 - 4 * c)) < 0.95:
            true = np.abs(c - cardioid).min()
        else:
            continue
        assert true * 0.999 <= found <= 4 * true * 1.001, c
        seen[in_disc] += 1
    assert seen[True] > 15
    assert seen[False] > 80
    (middle,) = (d for c, d in distances("mandelbrot", -1 + 0j, 1e-3, size=(1, 1)))
    assert middle == pytest.approx(0.25, rel=1e-9)  # the multiplier is 4 (c + 1) there


@pytest.mark.parametrize(
    ("formula", "precision"),
    slow_but(
        [("mandelbrot", "float64")],
        [
            ("mandelbrot", "float64"),
            ("mandelbrot", "float32"),
            ({"name": "multibrot", "power": 5}, "float64"),
        ],
    ),
)
def test_every_device_finds_the_same(compiled, formula, precision):
    own = {"name": "interior_distance", "tolerance": 1e-3}
    drawn = scene(formula, coloring=own, size=(17, 9), max_iterations=150)
    plain = fractals.compute(drawn, device="python", precision=precision)
    found = fractals.compute(drawn, device=compiled, precision=precision)
    for name, plane in plain.statistics.items():
        assert found.statistics[name].tobytes() == plane.tobytes(), name
    assert (plain.statistics[name] > 0).sum() > 10


@pytest.mark.parametrize(
    ("formula", "julia", "what"),
    [
        ("mandelbrot", True, "Julia sets"),
        ("burning_ship", False, "'burning_ship'"),
        ("logistic", False, "'logistic'"),
        ("hybrid", False, "'hybrid'"),
    ],
)
def test_it_is_of_powers_alone(formula, julia, what):
    drawn = scene(formula, julia, coloring="interior_distance")
    with pytest.raises(fractals.OptionError, match="is for the sets of z") as error:
        make_layers(drawn)
    assert f"not for {what}" in str(error.value)

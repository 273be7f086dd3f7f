"""Orbit statistics in deep views, where the difference from a reference orbit is iterated.

No step is skipped. The statistics are compared with direct iteration where both are exact enough,
and with orbits in arbitrary precision where only perturbation is.
"""

from unittest import mock

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from oracle import naive_colorings as naive
from support.drawings import BoundedSimulator, compute_on
from support.scenes import scene, slow_but

import fractals
from fractals.rendering import plan
from fractals.scene.geometry import make_layers

LIMIT, RADIUS, SIZE = 400, 64, (14, 9)
STRIPES = {"coloring": {"name": "stripe_average", "density": 4}}
TRAP = {"coloring": {"name": "orbit_trap", "shape": "point", "x": 0.3}, "mask": "all"}
TRIANGLES = {"coloring": "triangle_average"}
KEYS = {"size": SIZE, "max_iterations": LIMIT, "escape_radius": RADIUS, "coloring": "slopes"}
LAYERS = [TRAP, STRIPES, TRIANGLES]  # the same in all tests, which share what they compile


def silent(line):
    pass


def compute(drawn, device="cpu"):
    return fractals.compute(drawn, device=device, cache=False, force=True, on_message=silent)


@pytest.mark.parametrize(
    ("formula", "view", "julia"),
    [
        ("mandelbrot", {"center": ["-0.7476", "0.0981"], "width": "1e-6"}, None),
        # about a fixed point
        ("mandelbrot", {"center": ["1.37402", "-0.33753"], "width": "1e-5"}, ["-0.4", "0.59"]),
        ("burning_ship", {"center": ["-1.7529", "-0.0302"], "width": "1e-6"}, None),
    ],
)
@pytest.mark.slow
def test_they_are_those_of_direct_iteration(formula, view, julia):
    drawn = scene(formula, julia=julia, layers=LAYERS, **view, **KEYS)
    direct = compute(drawn)
    with mock.patch.object(plan, "SPARE_BITS", {"float64": 60}):
        deep = compute(drawn)
    assert (direct.method, deep.method) == ("direct", "perturbation")
    assert (direct.count == deep.count).all()
    assert 8 < deep.count.min() < LIMIT
    assert list(direct.statistics) == list(deep.statistics)
    for name, plane in direct.statistics.items():
        assert deep.statistics[name] == pytest.approx(plane, rel=1e-6, abs=1e-6), name
    out = direct.count < LIMIT
    assert deep.dz[out] == pytest.approx(direct.dz[out] * float(view["width"]), rel=1e-6)


def exact(c, digits, max_iterations):
    """Return the orbit of 0 in so many digits, rounded to complex numbers."""
    with mpmath.workdps(digits):
        z, points = mpmath.mpc(0), [0j]
        while len(points) <= max_iterations and abs(z) <= RADIUS:
            z = z * z + c
            points.append(complex(z))
    return points


@pytest.mark.parametrize("depth", slow_but([30], [30, 320]))
def test_they_are_those_of_exact_orbits(depth):
    """Next to -2, where orbits escape after some steps a digit; at 1e-320 with an exponent."""
    steps = 2 * depth + 60
    size = (4, 2)
    with mpmath.workdps(depth + 30):
        width = mpf(10) ** -depth
        drawn = scene(
            center=["-2", "0"],
            width=f"1e-{depth}",
            **{**KEYS, "size": size, "max_iterations": 2 * steps},
            layers=LAYERS,
        )
        raw = compute(drawn)
        assert raw.method == "perturbation"
        names = [name.split(",")[0].split(" ")[0] for name in raw.statistics]
        planes = dict(zip(names, raw.statistics.values(), strict=True))
        for j in range(size[1]):
            for i in range(size[0]):
                x, y = mpf(2 * i + 1 - size[0]) / 2, mpf(size[1] - 2 * j - 1) / 2
                c = mpmath.mpc(-2 + width * x / size[0], width * y / size[0])
                points = exact(c, depth + 30, 2 * steps)
                assert len(points) - 1 == raw.count[j, i] < 2 * steps
                near = min(abs(z - 0.3) for z in points[1:])
                assert planes["trap"][j, i] == pytest.approx(near**2, rel=1e-6)
                plain = complex(c)
                terms = naive.stripe_terms(points, plain, 4)
                found = [p[j, i] for name, p in raw.statistics.items() if "stripes" in name]
                assert found == pytest.approx([sum(terms), terms[-1]], rel=1e-6, abs=1e-6)
                terms = naive.triangle_terms(points, plain)
                found = [p[j, i] for name, p in raw.statistics.items() if "triangles" in name]
                assert found == pytest.approx([sum(terms), terms[-1]], rel=1e-5, abs=1e-5)


PLACES = {
    "plain": {"center": ["-2", "0"], "width": "1e-40"},
    "extended": {"center": ["-2", "0"], "width": "1e-330"},
    "julia": {"center": ["0", "0"], "width": "1e-20", "julia": ["-2", "0"]},
    "ship": {"formula": "burning_ship", "center": ["-2", "0"], "width": "1e-30"},
}


@pytest.mark.parametrize("name", slow_but(["plain"], PLACES))
def test_every_device_has_the_same_statistics(name, compiled):
    """A GPU in launches of a bounded number of steps."""
    drawn = scene(layers=LAYERS, **{**KEYS, "size": (6, 4), "max_iterations": 1400}, **PLACES[name])
    plain = compute(drawn, "python")
    bounded = compiled == "simulator"
    found = compute_on(BoundedSimulator(drawn, 1), drawn) if bounded else compute(drawn, compiled)
    assert plain.count.tobytes() == found.count.tobytes()
    assert plain.count.min() > 0
    for part in ("z", "dz"):
        assert getattr(found, part).tobytes() == getattr(plain, part).tobytes()
    for own, plane in plain.statistics.items():
        assert found.statistics[own].tobytes() == plane.tobytes(), own


def test_a_store_keeps_the_statistics_of_a_deep_view(tmp_path):
    drawn = scene(layers=LAYERS, center=["-2", "0"], width="1e-40", **KEYS)
    told = []
    fractals.compute_to(tmp_path / "a.fz", drawn, device="cpu", cache=False, on_message=told.append)
    (line,) = [line for line in told if "skipped" in line]
    assert "expect about" in line
    kept, raw = fractals.EscapeData.load(tmp_path / "a.fz"), compute(drawn)
    assert list(kept.planes) == list(raw.planes)
    assert len(kept.statistics) == 5
    for name, plane in raw.planes.items():
        assert kept.planes[name].tobytes() == plane.tobytes()
    other = drawn.replace(layers=[{"coloring": {"name": "stripe_average", "density": 9}}])
    with pytest.raises(fractals.OptionError, match="needs stripes,density=9"):
        fractals.recolor(kept, other, device="cpu", on_message=silent)


@pytest.mark.slow
@pytest.mark.parametrize("view", [{"antialias": "jittered"}, {"projection": "exponential"}])
def test_samples_at_explicit_positions_have_statistics_too(view):
    keys = {"layers": LAYERS, "center": ["-2", "0"], "width": "1e-40", "supersampling": 2, **KEYS}
    drawn = scene(**keys, **view)
    drawn = drawn.replace(size=(14, 120)) if "projection" in view else drawn
    found = fractals.render(drawn, device="cpu", cache=False, on_message=silent).pixels.astype(int)
    if "projection" in view:  # its bottom lies at the center, its top is a circle 1e-40 wide
        assert len(np.unique(found)) > 10
        again = fractals.render(drawn, device="simulator", cache=False, on_message=silent).pixels
        assert (found == again).all()
        return
    plain = fractals.render(scene(**keys), device="cpu", cache=False, on_message=silent).pixels
    kept = fractals.compute(scene(**keys), device="cpu", cache=False, on_message=silent)
    assert (fractals.recolor(kept, device="cpu", on_message=silent).pixels == plain).all()
    assert np.abs(plain.astype(int) - found).mean() < 40


def test_what_float64_cannot_follow_is_refused():
    drawn = scene(coloring="interior_distance", center=["-2", "0"], width="1e-40")
    with pytest.raises(fractals.OptionError, match="choose another, such as multiplier"):
        make_layers(drawn).check_deep()
    with pytest.raises(fractals.OptionError, match="'interior_distance' follows derivatives"):
        fractals.render(drawn, device="python")

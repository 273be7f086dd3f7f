"""Colorings that average along orbits, in deep views, against arbitrary precision.

Float64 loses there what they need: f of points below 1e-160, the directions of points below 1e-308
and of steps next to a fixed point, and which of two points below 1e-15 is nearer to 0.
"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from oracle import attack
from oracle import naive_colorings as naive
from support.drawings import opened
from support.scenes import scene, slow_but
from support.truth3 import entries

import fractals
from fractals.io.load import load_scene
from fractals.rendering.drawing import compute_tile
from fractals.rendering.tiles import Tile

RADIUS = 256
VALUES = {entry["name"]: entry for entry in entries("values")}
QUICK = [name for name in VALUES if "M(4,1)" in name or "Julia i" in name]


def silent(line):
    pass


def view_at(c, width, digits, **keys):
    """Return a view of 4x2 samples about c."""
    center = [mpmath.nstr(part, digits) for part in (c.real, c.imag)]
    return scene(center=center, width=mpmath.nstr(width, 5), size=(4, 2), **keys)


def size_of(c, period):
    """Return the size of the minibrot whose nucleus is the real number c."""
    z, slope, inverse = mpf(0), mpf(1), mpf(1)
    for _ in range(period - 1):
        z = z * z + c
        slope *= 2 * z
        inverse += 1 / slope
    return abs(1 / (slope * slope * inverse))


def sample_at(drawn, i, j):
    """Return the exact c of a sample of an unrotated view."""
    (x, y), width = drawn.view.center, mpf(drawn.view.width)
    columns, rows = drawn.image.size
    right, up = mpf(2 * i + 1 - columns) / 2, mpf(rows - 2 * j - 1) / 2
    return mpmath.mpc(mpf(x) + width * right / columns, mpf(y) + width * up / columns)


def planes_at(drawing, i, j):
    """Return the raw numbers of one pixel, by the last part of their names."""
    planes = {name: np.zeros((1, 1), kind) for name, kind in drawing.planes.items()}
    compute_tile(drawing, Tile(i, j, 1, 1), planes)
    return {name.split(" ")[0].split(".")[-1]: plane[0, 0] for name, plane in planes.items()}


def value_of(found):
    """Return the mean of the terms, weighted by the fraction, as colorings define it."""
    n, whole, last = (float(found[name]) for name in ("count", "sum", "last"))
    part = naive.fraction([complex(found["z"])], RADIUS, 2)
    before = (whole - last) / (n - 1)
    return before + part * (whole / n - before)


@pytest.mark.parametrize("name", slow_but(QUICK, VALUES))
def test_values_are_exact(name):
    entry = VALUES[name]
    drawing = opened(load_scene(entry["scene"]), "python", False, cache=False, on_message=silent)
    pixels = entry["pixels"][:1] if name in QUICK else entry["pixels"]
    for i, j, exact, _ in pixels:
        found = value_of(planes_at(drawing, i, j))
        assert found == pytest.approx(exact, rel=entry["tolerance"] / 1000)


def test_triangles_where_f_underflows():
    """A minibrot near -2: at its period z is about 1e-160, and f = z² has no float64."""
    period, digits = 260, 660
    with mpmath.workdps(digits):
        c = mpmath.mpc(attack.antenna(None, period, digits))
        drawn = view_at(c, 8 * size_of(c.real, period), digits, max_iterations=9000)
        drawn = drawn.replace(coloring={"name": "triangle_average"})
        drawing = opened(drawn, "python", False, cache=False, on_message=silent)
        for i, j in ((3, 1),):
            found, z, terms, c = planes_at(drawing, i, j), mpf(0), [], sample_at(drawn, i, j)
            while abs(z) <= RADIUS:
                f = z * z
                z, larger = f + c, max(abs(f), abs(c))
                place = larger * (1 + mpmath.cos(mpmath.arg(f) - mpmath.arg(c)))
                terms.append(place / (abs(z) + abs(abs(f) - abs(c))) if f else mpf(0))
            assert len(terms) == found["count"] < 9000
            assert found["sum"] == pytest.approx(float(sum(terms)), rel=1e-9)


def nested(period, digits):
    """Return the nucleus of 3 times the period within its minibrot near -2, and its size."""
    first = attack.antenna(None, period, digits).real
    c = first - size_of(first, period) * mpf("1.75487766624669276")
    for _ in range(40):
        z, d = mpf(0), mpf(0)
        for _ in range(3 * period):
            z, d = z * z + c, 2 * z * d + 1
        c -= z / d
    return mpmath.mpc(c), size_of(c, 3 * period)


def test_atom_domains_of_points_that_square_to_nothing():
    """Points come as near as 1e-17 after one period, and nearer after three."""
    period, digits, limit = 30, 150, 100
    with mpmath.workdps(digits):
        c, size = nested(period, digits)
        drawn = view_at(c, size / 10, digits, max_iterations=limit)
        drawn = drawn.replace(coloring={"name": "atom_domains"})
        drawing = opened(drawn, "python", False, cache=False, on_message=silent)
        z, points = mpf(0), [mpf(0)]
        for _ in range(limit):
            z = z * z + c
            points.append(z)
    assert naive.nearest_step(points) == 3 * period
    assert planes_at(drawing, 1, 1)["step"] == 3 * period


@pytest.mark.parametrize("width", slow_but(["1e-330"], ["1e-40", "1e-330"]))
def test_every_device_has_the_same_values(width, compiled):
    layers = [{"coloring": name} for name in ("curvature_average", "atom_domains", "lyapunov")]
    keys = {"layers": layers, "center": ["-2", "0"], "size": (4, 2), "max_iterations": 1500}
    options = {"cache": False, "force": True, "on_message": silent}
    drawn = scene(**keys, width=width)
    plain, found = (fractals.compute(drawn, device=k, **options) for k in ("python", compiled))
    for name, plane in plain.planes.items():
        assert found.planes[name].tobytes() == plane.tobytes(), name

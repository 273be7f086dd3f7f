"""The border of the limit: an orbit that escapes at step N is inside with the limit N."""

import numpy as np
import pytest
from oracle import naive
from support.deep import deep_scene
from support.scenes import scene, slow_but

import fractals

LIMIT = 60
MORE = {"size": (12, 8), "escape_radius": 2, "max_iterations": LIMIT}
# Each method, and each kind of program that ends orbits in a way of its own.
SCENES = {
    "direct": lambda: scene(**MORE),
    "no derivative": lambda: scene(coloring="smooth", **MORE),
    "statistics": lambda: scene(coloring="stripe_average", **MORE),
    "float32": lambda: scene(precision="float32", **MORE),
    "julia": lambda: scene(julia=True, **MORE),
    "every step is tested": lambda: scene("burning_ship", **MORE, width="9"),
    "expression": lambda: scene("z**2 + c + 0.25*z", **MORE),
    "converging": lambda: scene("newton", coloring="root", **{**MORE, "escape_radius": 256}),
    "perturbation": lambda: deep_scene("mandelbrot", False, 24, size=(4, 3)),
    "perturbed absolute values": lambda: deep_scene("burning_ship", False, 24, size=(4, 3)),
}
OFTEN = ("direct", "perturbation", "expression")


def limits_of(count, limit):
    """Return limits at, before and after counts of samples, some within blocks of steps."""
    found = np.unique(count[count < limit])
    some = found[:: max(1, len(found) // 2)]
    return sorted({max(1, int(n) + by) for n in some for by in (-1, 0, 1)})


@pytest.mark.parametrize("name", slow_but(OFTEN, SCENES))
def test_an_orbit_that_escapes_at_the_limit_is_inside(device, name):
    drawn = SCENES[name]()
    whole = fractals.compute(drawn, device=device)
    assert whole.method == ("perturbation" if name.startswith("perturb") else "direct")
    most = whole.max_iterations
    limits = limits_of(whole.count, most)
    assert {*whole.count.ravel()} & {*limits}, "no sample escapes at a limit"
    for limit in limits:
        raw = fractals.compute(drawn, max_iterations=limit, device=device)
        assert np.array_equal(raw.count, np.minimum(whole.count, limit))
        assert np.array_equal(raw.inside, whole.count >= limit)
        assert not raw.z[raw.inside].any()
        assert np.array_equal(raw.z[~raw.inside], whole.z[~raw.inside])
        assert raw.summary.inside == raw.inside.mean()


def test_a_point_far_outside_escapes_at_its_first_step(device):
    """Of |c| > 2 the count is 1, which is inside with the limit 1."""
    drawn = scene(center=(5, 0), width=1, size=(4, 3), escape_radius=2)
    one, two = (fractals.compute(drawn, max_iterations=n, device=device) for n in (1, 2))
    assert (one.count == 1).all()
    assert one.inside.all()
    assert (two.count == 1).all()
    assert not two.inside.any()


@pytest.mark.parametrize("limit", [1, 2, 3, 8, 9, 17])
def test_the_oracle_has_the_same_border(limit):
    drawn = scene(**{**MORE, "max_iterations": limit}, supersampling=1)
    raw = fractals.compute(drawn, device="python")
    width, center = "4.6", drawn.make_formula().center
    for j, i in np.ndindex(raw.count.shape):
        point = naive.position(i, j, MORE["size"], center, width)
        assert raw.count[j, i] == naive.sample("mandelbrot", point, None, limit, 2)[0]

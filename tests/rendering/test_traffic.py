"""Views that users of a public explorer visited: limits up to 51 200, widths down to 5e-77."""

import random

import mpmath
import numpy as np
import pytest
from oracle import naive
from support import facts
from support.scenes import scene, slow_but

import fractals

SIZE = (32, 18)
RADIUS = 64
LONGEST = 2000  # steps; the oracle takes about 5 µs for one
NAMES = [view["name"] for view in facts.read("traffic.json")]
LONG = {  # no orbit in these views is short, so the oracle takes 5 to 15 s
    "grid-z28-i50000-543f9cfa",
    "grid-z47-i50000-fb5f0315",
    "grid-z48-i48000-0a309fb2",
    "hi-band-z38-nedge",
}


@pytest.mark.parametrize("name", slow_but(set(NAMES) - LONG, NAMES))
def test_counts_are_the_oracles(name, traffic):
    """At samples with short orbits, because the oracle is slow, where rounding decides nothing."""
    view = traffic[name]
    limit = view["max_iterations"]
    center, width = (view["re"], view["im"]), view["width"]
    raw = fractals.compute(
        scene(center=center, width=width, size=SIZE, max_iterations=limit, escape_radius=RADIUS),
        device="cpu",
    )
    assert raw.max_iterations == limit
    short = np.argwhere(raw.count <= max(LONGEST, np.quantile(raw.count, 0.02)))
    compared = 0
    with mpmath.workdps(120):
        for j, i in random.Random(name).sample(short.tolist(), 3):
            point = naive.position(i, j, SIZE, center, width)
            move = 1e-6 * float(width) / SIZE[0]
            if naive.is_stable("mandelbrot", point, None, limit, RADIUS, move):
                count, _ = naive.sample("mandelbrot", point, None, limit, RADIUS)
                assert raw.count[j, i] == count
                compared += 1
    assert compared >= 2

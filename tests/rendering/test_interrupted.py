"""Ctrl-C in pictures that would be drawn for years: their threads soon draw the next one."""

import pytest

import fractals
from tests.support.deadline import deadline
from tests.support.scenes import slow_but

YEARS = {"size": (64, 48), "device": "cpu", "threads": 2}
ENDLESS = {**YEARS, "max_iterations": 2_000_000_000, "interior_shortcuts": False}
KINDS = {
    "lyapunov": {"formula": "lyapunov", **ENDLESS},
    "expression": {"formula": "sin(z)*0.1 + 0*c", **ENDLESS},
    "program": {"formula": "w = z*z; z = w*0.1 + 0*c", **ENDLESS},
    "float32": {"formula": "mandelbrot", "precision": "float32", "center": "-0.1,0", "width": "0.01", **ENDLESS},
    "Julia set": {"julia": "-0.1,0", **ENDLESS},
    "statistics": {"coloring": "stripe_average", "center": "-0.1,0", "width": "0.01", **ENDLESS},
    "cycles": {**ENDLESS, "center": "0.25,0", "width": "1e-9", "interior_shortcuts": True},
    "relief": {"heights": "distance", "samples": 100_000_000, **YEARS},
}


@pytest.mark.parametrize(
    "kind", slow_but(["lyapunov", "expression", "program"], KINDS), ids=str
)
def test_the_threads_of_a_picture_that_was_interrupted_draw_the_next(kind):
    looks = iter(range(3))

    def interrupt(_done, _all):
        if next(looks, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fractals.render(**KINDS[kind], progress=interrupt)
    with deadline():
        image = fractals.render(size=(64, 48), device="cpu", threads=2)
    assert len({*map(tuple, image.pixels.reshape(-1, 3))}) > 9

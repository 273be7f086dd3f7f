"""Scenes of the public locations with known counts (tests/data)."""

from decimal import Context, Decimal

from support.scenes import scene

RADIUS = 64


def known_scene(place):
    names = {
        "mandelbrot z^2+c": "mandelbrot",
        "mandelbrot z^3+c": {"name": "multibrot", "power": 3},
    }
    formula = names.get(place["formula"], place["formula"])
    size = place["width"], place["height_px"]
    width = Context(prec=60).divide(Decimal(place["height"]) * size[0], Decimal(size[1]))
    keys = {"max_iterations": place["max_iter"], "escape_radius": RADIUS}
    return scene(formula, size=size, center=[place["re"], place["im"]], width=f"{width:e}", **keys)

"""A scene opened for drawing, tile by tile."""

from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions


def opened(drawn, device="cpu", shading=True, **options):
    options = RenderOptions(device=device, **options)
    plan, backend = open_plan(drawn, options, "pixels" if shading else "raw")
    return open_drawing(plan, backend, options, shading)

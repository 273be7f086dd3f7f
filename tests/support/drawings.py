"""A scene opened for drawing, tile by tile."""

from fractals.backends.base import Run
from fractals.backends.cuda.backend import CudaBackend
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.raw_numbers import compute_data


def opened(drawn, device="cpu", shading=True, **options):
    options = RenderOptions(device=device, **options)
    plan, backend = open_plan(drawn, options, "pixels" if shading else "raw")
    return open_drawing(plan, backend, options)


def compute_on(backend, drawn):
    """Return the raw numbers that a backend computes."""
    return compute_data(
        make_plan(drawn, backend.kind, keeps="raw"), backend, RenderOptions(on_message=str)
    )


class BoundedSimulator(CudaBackend):
    """The simulator, with launches of at most so many iterations of each sample of a scene.

    Attributes
    ----------
    launches : list of tuple
        The name of the program and the arguments of each launch so far.
    """

    def __init__(self, drawn, most):
        planned = make_plan(drawn, "simulator", keeps="raw")
        super().__init__(planned.precision, simulated=True, steps=most * planned.largest_tile)
        self.launches = []

    def compile(self, make_body, *options):
        run = super().compile(make_body, *options)

        def launch(out, *arguments):
            self.launches.append((make_body.__name__, arguments))
            run(out, *arguments)

        return Run(launch, run.label)

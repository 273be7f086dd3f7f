"""The OpenCL C of a scene's kernels, without a device and without pyopencl."""

from typing import Any

import numpy as np

from fractals.backends.base import HostMemory, MakeBody, Run
from fractals.backends.opencl.translate import Source, make_target, source
from fractals.backends.opencl.values import type_of
from fractals.errors import OptionError
from fractals.rendering import drawing
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.scene.model import Scene

LIMIT = 1000  # iterations, where a scene leaves them to a probe


class Recorder(HostMemory):
    """A backend that translates programs and runs none."""

    kind, threads = "simulator", 0  # a simulator has the CPU look at a view first

    def __init__(self, number: str) -> None:
        super().__init__()
        self.real, self.target, self._number = np.dtype(number).type, make_target(number), number
        self.sources: dict[Source, None] = {}  # in the order in which they ran

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return a program that fills its first argument with zeros, and keeps its text."""

        def run(out: Any, *arguments: Any) -> None:
            types = tuple(map(type_of, (out, *arguments)))
            self.sources[source(make_body, options, types, self._number)] = None
            for array in out if isinstance(out, tuple) else (out,):
                if array.flags.writeable:
                    array[...] = 0

        return Run(run, "kernel")


def sources(scene: Scene) -> list[Source]:
    """Return the kernels of a picture: first the one that iterates, then those that color."""
    if not family_of(scene).single_pixels:
        raise OptionError("only scenes that are iterated have kernels of this kind, not flames")
    if scene.iteration.max_iterations == "auto":
        scene = scene.replace(max_iterations=LIMIT)
    plan = make_plan(scene.replace(size=(8, 6)), "opencl", keeps="pixels")
    recorder = Recorder(plan.precision)
    options = RenderOptions(device="simulator", on_message=lambda line: None)
    opened = drawing.open_drawing(plan, recorder, options)
    drawing.draw_tile(opened, plan.tiles[0], np.zeros((6, 8, 3), opened.dtype))
    return list(recorder.sources)

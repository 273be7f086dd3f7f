"""Frames from a strip on the CPU, as `fractals.kernels.strip.make_frame_body` makes them."""

import numpy as np

from fractals.backends.base import Run
from fractals.backends.cpu.backend import SCRATCH
from fractals.backends.cpu.programs import program_of

FRAMES = "fractals.films.cpu_frame_code:make_frame_body"


def by_texels(backend):
    """Return the program that makes frames from a strip, whose weights are lanes."""
    fill = program_of(FRAMES, backend.number)

    def run(rgb, *inputs):
        across = rgb.shape[1]
        sizes = (across, np.int64), (2 * across, np.int32), (3 * across, np.float32)
        fill(rgb, *inputs, *(SCRATCH.empty((size,), dtype) for size, dtype in sizes))

    return Run(run, "plain")

"""CUDA for the lessons: on a GPU where there is one, else in the simulator of `fractals`.

    from gpu import cuda, device, on_gpu

`on_gpu` tells which of the two it is, and `device` is its name in a report.
FRACTALS_DEVICE=simulator in the environment chooses the simulator on a machine with a GPU too;
"cuda" chooses real kernels, which can be compiled without a GPU (`fractals gpu instructions`).
"""

import os

from fractals.backends.cuda import kernel
from fractals.backends.devices import choose

asked = os.environ.get("FRACTALS_DEVICE")
on_gpu = (asked if asked in ("cuda", "simulator") else choose("gpu").device.kind) == "cuda"
cuda = kernel.find(simulated=not on_gpu)
kernel.stand_in(cuda)  # for a program that says `from numba import cuda`
device = "GPU" if on_gpu else "simulator"
__all__ = ["cuda", "device", "on_gpu"]

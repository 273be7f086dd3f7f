"""The one place that imports `numba.cuda`, and the one CUDA kernel.

It is imported only once it is settled whether the GPU is real or simulated. Host code stays out of
this module: while a simulated kernel runs, the name `cuda` here is replaced.
"""

from numba import config, cuda

SIMULATED = bool(config.ENABLE_CUDASIM)


def make_kernel(body):
    """Return a kernel in which every thread fills its share of the elements of `out`."""

    def kernel(out, arguments):
        x, y = cuda.grid(2)
        dx, dy = cuda.gridsize(2)
        body(x, y, dx, dy, out, *arguments)

    return kernel

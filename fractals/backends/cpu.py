"""@jit loops over a tile, without the interpreter's lock; as many tiles at once as threads."""

import numpy as np

from fractals.backends.base import HostMemory
from fractals.backends.jit import compile_loop, cpu_target


class CpuBackend(HostMemory):
    """Compiles programs with Numba for the CPU's cores."""

    kind = "cpu"

    def __init__(self, number, threads):
        self.threads = threads
        self.real = np.dtype(number).type
        self.target = cpu_target(number)
        self._number = number

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`."""
        return compile_loop(make_body, self._number, options)

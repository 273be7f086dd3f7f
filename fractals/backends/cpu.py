"""@jit loops over a tile, without the interpreter's lock; as many tiles at once as threads."""

import contextlib
import threading

import numpy as np
from numba.core.errors import NumbaError

from fractals.backends import packs, wavefront
from fractals.backends.base import HostMemory
from fractals.backends.jit import REAL, compile_body, compile_loop, cpu_target
from fractals.coloring import Watching
from fractals.programs import escape


class CpuBackend(HostMemory):
    """Compiles programs with Numba for the CPU's cores."""

    kind = "cpu"

    def __init__(self, number, threads):
        super().__init__()
        self.threads = threads
        self.real = np.dtype(number).type
        self.target = cpu_target(number)
        self._number = number

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`."""
        if make_body is escape.make_body and packs.FUSED:
            with contextlib.suppress(NumbaError):  # the formula does what packs can't, as sin does
                return self._in_packs(*options)
        return compile_loop(make_body, self._number, options)

    def _in_packs(self, *options):
        body = wavefront.make_body(self.target, *options)
        wave = compile_body(body, wavefront.make_body, self._number, options)
        real = REAL[self._number]
        index = np.dtype(f"int{real.bitwidth}")  # as wide as a number, so that both fill a pack
        wave.compile(wavefront.signature(real))

        own = threading.local()  # each thread's scratch

        planes = next((part.planes for part in options if isinstance(part, Watching)), 0)

        def run(count, x, y, p, q, watched, columns, rows, *rest):
            sizes = numbers, places = wavefront.scratch_sizes(columns.shape[1], planes)
            if getattr(own, "sizes", None) != sizes:
                own.sizes = sizes
                own.scratch = self.empty((numbers,), self.real), self.empty((places,), index)
            flat = (part.reshape(-1) for part in (count, x, y, p, q, watched))
            wave(*flat, columns, rows, *rest, *own.scratch)

        return run

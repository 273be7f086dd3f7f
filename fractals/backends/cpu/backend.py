"""The CPU backend: compiled programs, which run without the interpreter's lock.

Nothing here imports Numba: `fractals.backends.cpu.programs` does where it has to compile.
"""

import importlib

import numpy as np

from fractals.backends.base import HostMemory, Run
from fractals.backends.code_cache import program
from fractals.backends.cpu import tile_loop
from fractals.backends.cpu.programs import program_of
from fractals.backends.machine_code import FUSED, Uncompilable

NO_FMA = "this CPU has no fused multiply-add"
SCRATCH = HostMemory()  # what programs work in, for all pictures of a thread


class CpuBackend(HostMemory):
    """Compiles programs with Numba, for as many threads as tiles are computed by at once."""

    kind = "cpu"
    program = staticmethod(program_of)  # makes programs
    scratch = SCRATCH
    compile_tile_loop = tile_loop.compile_tile_loop

    def __init__(self, number, threads):
        super().__init__()
        self.threads = threads
        self.real = np.dtype(number).type
        self.number = number

    @property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target

        return cpu_target(self.number)

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`: see `Run` for its loop.

        It is kept for the next picture, so it refers to nothing of this object.
        """
        identity = "run", self.number, FUSED, make_body, *options
        return program(lambda _store: self._made(make_body, options), *identity, stored=False)

    def _made(self, make_body, options):
        """Return what runs a body: as `on_cpu` says, or a plain loop, with the reason why.

        Only what Numba can't compile falls back: a defect of this package is raised.
        """
        fast = getattr(make_body, "on_cpu", "")
        if not fast:
            return self._plain(make_body, options)
        if not FUSED:
            return self._plain(make_body, options, NO_FMA)
        try:
            return _named(fast)(self, *options)
        except Uncompilable as error:
            return self._plain(make_body, options, str(error))

    def _plain(self, make_body, options, reason=""):
        if own := getattr(make_body, "plain", ""):
            return _named(own)(self, reason, *options)
        made = self.program(make_body, self.number, options, loop=True)
        return Run(made, "plain", reason, bind=made.bound)


def _named(name):
    """Return a function by its name, "module:function"."""
    module, _, own = name.partition(":")
    return getattr(importlib.import_module(module), own)

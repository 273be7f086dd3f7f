"""Plain loops: slow, obvious, and by definition what the other backends must compute."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fractals.backends.base import HostMemory, MakeBody, Run
from fractals.kernels import Target


class PythonBackend(HostMemory):
    """Runs programs as ordinary Python, one element after the other."""

    kind = "python"
    threads = 0

    def __init__(self, number: str) -> None:
        super().__init__()
        self.real = np.dtype(number).type
        self.target = Target(
            jit=_unchanged,
            real=float if number == "float64" else np.float32,
            real32=np.float32,
            int32=int,
            int64=int,
        )

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which fills `out`."""
        body = make_body(self.target, *options)

        def run(out: Any, *arguments: Any) -> None:
            with np.errstate(all="ignore"):  # overflow is how orbits escape
                body(0, 0, 1, 1, out, *arguments)

        return run


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function

"""The plain Python backend: slow loops that define what all other backends must compute."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fractals.backends.base import HostMemory, Limits, MakeBody, Run
from fractals.kernels import Target

LIMITS = Limits(
    samples_per_tile=2**10,
    min_samples_per_tile=64,
    steps_per_tile=2**18,
    steps_per_check=8,
    rectangles=True,
    shared_by_threads=False,
    steps_per_second=3e5,
    samples_per_second=2e4,
    seconds_per_deep_sample=0.1,
)


class PythonBackend(HostMemory):
    """Runs programs as ordinary Python, one sample after the other."""

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
            index=int,
            wide=int,
            add=_add,
        )

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which fills `out`."""
        body = make_body(self.target, *options)

        def run(out: Any, *arguments: Any) -> None:
            with np.errstate(all="ignore"):  # overflow is how orbits escape
                body(0, 0, 1, 1, out, *arguments)

        return Run(run, "python")


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _add(array: Any, index: int, value: Any) -> None:
    array[index] += value

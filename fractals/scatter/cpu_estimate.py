"""The density estimate of a flame on the CPU."""

from fractals.backends.base import Run
from fractals.backends.cpu.programs import program_of

SPREADING = "fractals.scatter.cpu_estimate_code:make_estimate_body"


def spreading(backend):
    """Return the program that spreads each bucket's light over its neighbors."""
    return Run(program_of(SPREADING, backend.number), "plain")

"""Symmetric icon: a map with the symmetry of a polygon (Michael Field and Martin Golubitsky)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.primitives import fma

LARGEST = 24  # symmetry


def make_step(symmetry):
    """Return the step of a symmetry."""

    def step(x, y, p):
        """Return the next point: (l + a |z|² + b Re zⁿ + i w) z + g conj(z)ⁿ⁻¹."""
        u, v = x, y
        for _ in range(symmetry - 2):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        rising = fma(u, x, -(v * y))
        factor = fma(p[1], fma(x, x, y * y), fma(p[2], rising, p[0]))
        return (
            fma(factor, x, fma(p[3], u, -(p[4] * y))),
            fma(factor, y, fma(-p[3], v, p[4] * x)),
        )

    return step


def make(l=-2.5, a=5.0, b=-1.9, g=1.0, w=0.188, symmetry=5):  # noqa: E741 - the name in the book
    """Return the attractor."""
    if isinstance(symmetry, bool) or not isinstance(symmetry, int) or not 3 <= symmetry <= LARGEST:
        raise ValueError(f"symmetry is a whole number from 3 to {LARGEST}")
    return Attractor(
        "symmetric_icon",
        "Symmetric icon: a map with the symmetry of a polygon",
        make_step(symmetry),
        parameters={"l": l, "a": a, "b": b, "g": g, "w": w, "symmetry": symmetry},
        stride=2.0,
        spread=0.3,
        width="2.4",
    )

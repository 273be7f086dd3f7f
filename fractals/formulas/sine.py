"""Sine: z -> c sin z, from its critical point π/2."""

from fractals.formulas.language.codegen import compose


def make():
    return compose("sine", "Sine, c sin z", "c*sin(z)", start="pi/2", width="14", group="Functions")

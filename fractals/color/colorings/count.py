"""Plain counts: one flat color a step, in bands; `smooth` has none."""

from fractals.kernels.coloring import Coloring


def make_value(target):
    real = target.real

    def value(n, x, y, p, q, constants):
        return real(n)

    return value


def make():
    return Coloring(
        name="count",
        title="steps to escape, in flat bands",
        make_value=make_value,
        counted=True,
        ends="any",
    )

"""Taichi: a kernel whose outermost loop runs over the picture."""

import taichi as ti

PACKAGE = "taichi"

ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)


@ti.func
def escape(c, limit):
    """Return the steps until |z| > 2, or the limit."""
    z = ti.Vector([0.0, 0.0])
    n = 0
    while n < limit and z.norm_sqr() <= 4:
        z = ti.Vector([z[0] * z[0] - z[1] * z[1], 2 * z[0] * z[1]]) + c
        n += 1
    return n


@ti.kernel
def paint(
    xs: ti.types.ndarray(), ys: ti.types.ndarray(), counts: ti.types.ndarray(), limit: ti.i32
):
    """Count at every sample."""
    for j, i in counts:
        counts[j, i] = escape(ti.Vector([xs[i], ys[j]]), limit)


def fill(xs, ys, counts, limit):
    """Count at every sample."""
    paint(xs, ys, counts, limit)

"""What numba.cuda must know of `fractals.kernels` to compile a program for a GPU."""

import importlib

from numba import types

from fractals.backends.cpu.simd.elementary import parts_overload, scaled_overload, teach_series
from fractals.backends.cpu.target import number_overload, select_overload, sqrt_overload
from fractals.kernels import elementary, primitives


def register(cuda):
    """Register what the primitives and the elementary functions are in `numba.cuda`."""
    libdevice = importlib.import_module(f"{cuda.__name__}.libdevice")
    overload = importlib.import_module(f"{cuda.__name__}.extending").overload

    def fma_overload(a, b, c):
        if a == types.float32:  # libdevice.fma would compute it in float64
            return lambda a, b, c: libdevice.fmaf(a, b, c)
        return lambda a, b, c: libdevice.fma(a, b, c)

    def split_overload(v):
        if v == types.float32:
            word, real, fraction, bias = libdevice.float_as_int, libdevice.int_as_float, 23, 127
        else:
            word, real = libdevice.double_as_longlong, libdevice.longlong_as_double
            fraction, bias = 52, 1023
        low, high, one = (1 << fraction) - 1, 2 * bias + 1, bias << fraction

        def split(v):
            bits = word(v)
            return real((bits & low) | one), ((bits >> fraction) & high) - bias

        return split

    def two_to_overload(k, like):
        if like == types.float32:
            word, real, fraction, bias = types.int32, libdevice.int_as_float, 23, 127
        else:
            word, real, fraction, bias = types.int64, libdevice.longlong_as_double, 52, 1023
        return lambda k, like: real(word(max(k + bias, 0)) << fraction)

    def nearest_overload(x):
        if x == types.float32:
            return lambda x: libdevice.rintf(x)
        return lambda x: libdevice.rint(x)

    overload(primitives.fma, target="cuda")(fma_overload)
    overload(elementary.nearest, target="cuda")(nearest_overload)
    overload(elementary.parts, target="cuda")(parts_overload)
    overload(elementary.scaled, target="cuda")(scaled_overload)
    teach_series(overload, target="cuda")
    overload(primitives.two_to, target="cuda")(two_to_overload)
    overload(primitives.diffabs, target="cuda")(lambda c, d: primitives.diffabs)
    overload(primitives.clamp, target="cuda")(lambda v, low, high: primitives.clamp)
    overload(primitives.split, target="cuda")(split_overload)
    overload(primitives.sqrt, target="cuda")(sqrt_overload)
    overload(primitives.select, target="cuda")(select_overload)
    overload(primitives.number, target="cuda")(number_overload)

"""Functions that are compiled from their trace compute what Python computes."""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.registry import cpu_target

from fractals.backends import numba_compiler, numba_private
from fractals.backends.cpu import (
    inlined,
    target,  # noqa: F401 - declares the primitives
    traced,
)
from fractals.kernels.primitives import fma, number, select


class Pair(NamedTuple):
    first: Any
    second: Any


TWO = 2


def compiled(function):
    inlined.jit(function)
    settings = {"error_model": "numpy", **numba_compiler.numeric()}
    return numba.njit(**settings)(lambda *arguments: function(*arguments))


def trace_of(function, *arguments):
    """Return the trace; raise what keeps a function from having one."""
    cpu_target.target_context.refresh()
    kinds = tuple(map(numba.typeof, arguments))
    return traced.Trace(function, numba_private.typing_context(), kinds)


def has_trace(function, *arguments):
    try:
        trace_of(function, *arguments)
    except traced.Untraceable:
        return False
    return True


def test_a_trace_computes_what_python_computes():
    one = numba.int64(1)

    def arithmetic(x, y, k):
        pair = Pair(-x + 2 * y - abs(y) / 3, (fma(x, y, 0.5), TWO))
        a, (b, c) = pair
        total = numba.int64(0)
        for i in range(3):  # as long as Python says
            total = total + (k << i)
        least, most = min(x, y), max(x, y)
        chosen = select((x < y) | (y != y), least, most)
        whole = total + one, int(y)
        return pair._replace(first=chosen), b * c + number(1, a), whole, math.sqrt(4.0)

    run = compiled(arithmetic)
    for arguments in ((0.5, -1.25, 3), (2.75, 7.0, -1)):
        assert has_trace(arithmetic, *arguments)
        assert run(*arguments) == arithmetic(*arguments)
        assert type(run(*arguments)[0]).__name__ == "Pair"
    assert compiled(lambda _: ())(1.0) == ()  # a type that is false
    single = compiled(lambda x: (numba.float32(x) * numba.float32(0.1), numba.int32(x) + 1, 5))
    assert single(2.5) == (np.float32(2.5) * np.float32(0.1), 3, 5)


def test_a_trace_reads_and_writes_arrays():
    def moved(line, plane, k):
        line[k] = plane[k, TWO] + plane.shape[1]
        line[k + 1], line[0] = line[0], len(line)

    line, plane = np.arange(4.0), np.arange(6.0).reshape(2, 3)
    expected = line.copy()
    moved(expected, plane, 1)
    assert has_trace(moved, line, plane, 1)
    compiled(moved)(line, plane, 1)
    np.testing.assert_array_equal(line, expected)


def test_numba_compiles_functions_with_branches():
    """A trace then calls them."""

    @inlined.jit
    def root(x):
        return math.sqrt(x) if x >= 0 else -1.0

    def both(x, y):
        return root(x) + root(y), root(4.0)

    def counted(n):
        total = 0
        for k in range(n):
            total += k
        return total

    assert not has_trace(root, 2.0)
    assert not has_trace(counted, 3)
    assert len(trace_of(both, 4.0, -1.0).steps) == 3  # two calls and a sum
    assert compiled(both)(4.0, -1.0) == (1.0, 2.0)
    assert compiled(counted)(5) == 10


def test_a_long_loop_has_no_trace():
    def long(x):
        for _ in range(traced.MAX_OPERATIONS + 1):
            x = x + 1
        return x

    assert not has_trace(long, 1.0)
    assert compiled(long)(1.0) == traced.MAX_OPERATIONS + 2


def test_operations_are_counted():
    def turn(pair, k):
        x, y = pair
        return fma(x, y, k), -x + y

    def branch(pair, k):
        return k if k > 0 else -k

    cpu_target.target_context.refresh()
    kinds = numba.typeof((1.0, 2.0)), numba.float64
    assert traced.count_operations(turn, kinds) == 4  # the tuple, fma, and two
    assert traced.count_operations(branch, kinds) == math.inf

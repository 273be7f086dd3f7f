"""Functions that Numba compiles for the CPU only as a part of their callers.

They make half of the code, and none is called by itself. So Numba makes no machine code of them
and no wrapper for Python, and they take a fraction of the time to compile. They are inlined because
LLVM makes no vectors of a loop with calls. They cannot create arrays.
"""

import collections
import contextlib
import functools
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from numba.extending import overload as numba_overload
from numba.extending import register_jitable

from fractals.backends import numba_private
from fractals.backends.cpu import traced
from fractals.backends.numba_compiler import INLINED

_jit = register_jitable(**INLINED)
overload = functools.partial(numba_overload, target="cpu", jit_options=INLINED)

_lasting: weakref.WeakSet[Any] = weakref.WeakSet()
_making: list[set[Any]] = []  # the functions of each program under way: one may be made of others
_declared: collections.Counter[Any] = collections.Counter()


def jit(function: Any) -> Any:
    """Let a function be called from compiled code, into which it is inlined; return it."""
    if function is None:  # a formula may lack one
        return None
    if _making and not _is_lasting(function):
        _making[-1].add(function)
    elif function not in _lasting:
        _lasting.add(function)
        traced.trace(function)
        _jit(function)
    return function


@contextlib.contextmanager
def functions_of_a_program() -> Iterator[set[Any]]:
    """Collect the functions that are made for a program, and that `declared` tells Numba of."""
    _making.append(set())
    try:
        yield _making[-1]
    finally:
        _making.pop()


@contextlib.contextmanager
def declared(functions: set[Any]) -> Iterator[None]:
    """Let Numba know functions while it compiles their program, under its compiler lock.

    What it knows of them takes megabytes.
    """
    _declared.update(functions)  # where one program is compiled within another
    for function in functions:
        if _declared[function] == 1:
            kinds, lower = traced.declaration(function)
            numba_private.declare_for_now(function, kinds, lower, INLINED)
    try:
        yield
    finally:
        _declared.subtract(functions)
        for function in functions:
            if not _declared[function]:
                del _declared[function]
                numba_private.forget(function)


def _is_lasting(function: Any) -> bool:
    """Tell whether a function is in its module for good, and not made for a program."""
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__qualname__, None) is function

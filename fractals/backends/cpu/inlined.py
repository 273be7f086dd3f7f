"""Functions that Numba compiles for the CPU only as a part of their callers.

They make half of the code, and none is called by itself. So Numba makes no machine code of them
and no wrapper for Python, and they take a fraction of the time to compile. They are inlined because
LLVM makes no vectors of a loop with calls. They cannot create arrays.
"""

import functools
from typing import Any

from numba.extending import overload as numba_overload
from numba.extending import register_jitable

from fractals.backends.cpu import traced
from fractals.backends.numba_compiler import INLINED

_jit = register_jitable(**INLINED)
overload = functools.partial(numba_overload, target="cpu", jit_options=INLINED)


def jit(function: Any) -> Any:
    """Let a function be called from compiled code, into which it is inlined; return it."""
    traced.trace(function)
    return _jit(function)

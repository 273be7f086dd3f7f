"""How functions are compiled for the CPU: by the compiler of this package, or by plain Numba.

`fractals.backends.numba_compiler` takes a third of the time, and uses private names of Numba. A
release of Numba may change these. So with a release that was not tested, or if it fails to compile
a small program, plain Numba compiles all, to the same bits.

Functions that are parts of others are inlined into their callers, because LLVM makes no vectors of
a loop with calls. They cannot create arrays.
"""

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.extending import overload as numba_overload
from numba.extending import register_jitable

from fractals.backends.cache_folder import report
from fractals.backends.compilation import allow_nested_calls
from fractals.backends.cpu.entry import SIGNATURE, make_entry
from fractals.backends.machine_code import made as machine_code
from fractals.backends.machine_code import stands_alone

TESTED = (0, 61), (0, 68)  # versions of Numba with whose private names the compiler works
PLAIN_INLINED = {"forceinline": True}
WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _increase(values: Any, by: Any) -> None:
    for k in range(values.shape[0]):
        values[k] += by


@functools.cache
def _own_compiler() -> Any:
    """Return the compiler of this package; None where it doesn't work with this Numba."""
    try:
        if not TESTED[0] <= numba.version_info[:2] <= TESTED[1]:
            raise ValueError("it was not tested")
        from fractals.backends import numba_compiler

        def whole(values: Any, by: Any) -> None:
            part(values, by)
            _increase(values, by)

        part = register_jitable(**numba_compiler.INLINED)(lambda values, by: _increase(values, by))
        settings = numba_compiler.numeric(functions={_increase, whole}, long=True)
        jit = numba.njit(**WRAPPERS, **settings)
        made = jit(make_entry(whole, (tuple, ("d", 1, False), "d")))
        made.compile(SIGNATURE)
        if stands_alone(machine_code(made.inspect_llvm(made.signatures[0]))):
            return numba_compiler
        reason = "it makes no code that stands alone"
    except Exception as error:  # whatever a changed name leads to
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
    report(
        f"Numba {numba.__version__} is not known to this version of fractals ({reason}): first "
        "pictures take about three times as long to compile"
    )
    return None


_settings: dict[str, Any] = _own_compiler().INLINED if _own_compiler() else PLAIN_INLINED
_jit = register_jitable(**_settings)
_lasting: weakref.WeakSet[Any] = weakref.WeakSet()
_making: list[set[Any]] = []  # the functions of each program under way: one may be made of others
overload = functools.partial(numba_overload, target="cpu", jit_options=_settings)


def jit(function: Any) -> Any:
    """Let a function be called from compiled code, into which it is inlined; return it."""
    if function is None:  # a formula may lack one
        return None
    if _making and _own_compiler() and not _is_lasting(function):
        _making[-1].add(function)
    elif function not in _lasting:
        _lasting.add(function)
        _jit(function)
    return function


@contextlib.contextmanager
def _functions_of_a_program() -> Iterator[set[Any]]:
    """Collect the functions that are made for a program, which Numba may forget afterwards."""
    _making.append(set())
    try:
        yield _making[-1]
    finally:
        _making.pop()


@contextlib.contextmanager
def _checked(on: bool) -> Iterator[None]:
    """Have indices checked in all that is compiled: a function does not inherit it from callers."""
    before = numba.config.BOUNDSCHECK
    numba.config.BOUNDSCHECK = 1 if on else before
    try:
        yield
    finally:
        numba.config.BOUNDSCHECK = before


def _is_lasting(function: Any) -> bool:
    """Tell whether a function is in its module for good, and not made for a program."""
    module = sys.modules.get(function.__module__)
    return getattr(module, function.__qualname__, None) is function


def text_of_program(
    make: Callable[[], Any],
    layout: Any,
    foreign: bool,
    checked: bool,
    packed: bool = False,
    long: bool = False,
) -> str:
    """Return LLVM's text of a program: of the body that ``make()`` returns, for a layout.

    `foreign`: parts of it are not of this package; the others: as of
    `fractals.backends.cpu.programs.program_of`.

    Raises NumbaError: Numba can't compile it.
    """
    allow_nested_calls()
    with _functions_of_a_program() as functions:
        entry = make_entry(jit(make()), layout)
    own = _own_compiler()
    settings = own.numeric(packed, foreign, functions, long) if own else {}
    plain = {"nogil": True, "error_model": "numpy", **WRAPPERS}
    program = numba.njit(**plain, **settings)(entry)
    with _checked(checked):
        program.compile(SIGNATURE)
    text: str = program.inspect_llvm(program.signatures[0])
    return text

"""How machine code is entered: it reads arguments from cells; and how functions are compiled."""

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable
from numba.extending import overload as numba_overload

from fractals.backends.cache_folder import report
from fractals.backends.compilation import allow_nested_calls
from fractals.backends.cpu.rounds import in_place
from fractals.backends.machine_code import made as machine_code
from fractals.backends.machine_code import stands_alone

CELLS = types.CPointer(types.int64)
SIGNATURE = types.void(CELLS)
WORD, REAL = ir.IntType(64), ir.DoubleType()


def kind_of(layout):
    """Return Numba's type of an argument, by its layout."""
    if layout == "entry":
        return types.int64
    if isinstance(layout, str):
        return numba.from_dtype(np.dtype(layout))
    if isinstance(layout[0], str):
        char, dimensions, gaps = layout
        return types.Array(numba.from_dtype(np.dtype(char)), dimensions, "A" if gaps else "C")
    made, *parts = layout
    return types.BaseTuple.from_types(
        [kind_of(part) for part in parts], made if made is not tuple else None
    )


def part_of_array(context, builder, kind, array, name):
    """Return a part of LLVM's value of an array: its "data", which is a pointer, or its "shape"."""
    return builder.extract_value(array, context.data_model_manager[kind].get_field_position(name))


def make_entry(body, layout):
    """Return ``entry(cells)``, which calls ``body`` with arguments of a layout."""
    kind = kind_of(layout)

    @intrinsic
    def arguments(_context, cells):
        def generate(context, builder, _signature, args):
            return _Reader(context, builder, args[0]).read(kind)

        return kind(CELLS), generate

    def entry(cells):
        body(*arguments(cells))

    return entry


class _Reader:
    """Makes LLVM's instructions that read arguments, one cell after the other."""

    def __init__(self, context, builder, cells):
        self.context, self.builder, self.cells, self.at = context, builder, cells, 0

    def _word(self):
        place = self.builder.gep(self.cells, [ir.Constant(ir.IntType(32), self.at)])
        self.at += 1
        return self.builder.load(place)

    def read(self, kind):
        """Return the LLVM value of an argument."""
        context, builder = self.context, self.builder
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.read(part) for part in kind])
        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, types.Float):
            real = builder.bitcast(self._word(), REAL)
            return context.cast(builder, real, types.float64, kind)
        return context.cast(builder, self._word(), types.int64, kind)

    def _array(self, kind):
        data = self.builder.inttoptr(self._word(), _pointer_type(self.context, kind))
        shape = [self._word() for _ in range(kind.ndim)]
        strides = [self._word() for _ in range(kind.ndim)] if kind.layout == "A" else None
        return _made_array(self.context, self.builder, kind, data, shape, strides)


def _pointer_type(context, kind):
    return context.get_data_type(kind.dtype).as_pointer()


def _made_array(context, builder, kind, data, shape, strides=None):
    """Return the LLVM value of an array; without strides it has no gaps."""
    array = context.make_array(kind)(context, builder)
    size = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    count, steps = WORD(1), []
    for length in reversed(shape):
        steps.insert(0, builder.mul(size, count))
        count = builder.mul(count, length)
    array.data, array.itemsize, array.nitems = data, size, count
    array.shape = cgutils.pack_array(builder, shape)
    array.strides = cgutils.pack_array(builder, strides or steps)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


@intrinsic
def shaped(_context, array, shape):
    """Return an array without gaps in another shape, which has as many elements or fewer.

    Numba's `reshape` calls a function of Numba's, which a process without Numba lacks.
    """
    kind = types.Array(array.dtype, len(shape), "C")

    def generate(context, builder, signature, args):
        data = part_of_array(context, builder, signature.args[0], args[0], "data")
        lengths = cgutils.unpack_tuple(builder, args[1], len(shape))
        lengths = [
            context.cast(builder, length, part, types.int64)
            for length, part in zip(lengths, signature.args[1], strict=True)
        ]
        return _made_array(context, builder, kind, data, lengths)

    return kind(array, shape), generate


@intrinsic
def invoke(_context, entry, arguments):
    """Call the program of a `fractals.backends.machine_code.Entry` with a tuple of arguments."""

    def generate(context, builder, signature, args):
        words = []
        _write(context, builder, signature.args[1], args[1], words)
        cells = cgutils.alloca_once(builder, ir.ArrayType(WORD, len(words)))
        for k, word in enumerate(words):
            builder.store(word, cgutils.gep_inbounds(builder, cells, 0, k))
        text = ir.IntType(8).as_pointer()
        results = [cgutils.alloca_once(builder, text) for _ in range(2)]
        first = cgutils.gep_inbounds(builder, cells, 0, 0)
        function = ir.FunctionType(ir.IntType(32), [r.type for r in results] + [first.type])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [*results, first])
        return context.get_dummy_value()

    return types.none(types.int64, arguments), generate


def _write(context, builder, kind, value, words):
    if isinstance(kind, types.BaseTuple):
        for k, part in enumerate(kind):
            _write(context, builder, part, builder.extract_value(value, k), words)
    elif isinstance(kind, types.Array):
        assert kind.layout == "C"
        words.append(builder.ptrtoint(part_of_array(context, builder, kind, value, "data"), WORD))
        shape = part_of_array(context, builder, kind, value, "shape")
        words += cgutils.unpack_tuple(builder, shape, kind.ndim)
    elif isinstance(kind, types.Float):
        words.append(builder.bitcast(context.cast(builder, value, kind, types.float64), WORD))
    else:
        words.append(context.cast(builder, value, kind, types.int64))


# --- How functions are compiled for the CPU: by the compiler of this package, or by plain Numba
#
# `fractals.backends.numba_compiler` takes a third of the time, and uses private names of Numba. A
# release of Numba may change these. So with a release that was not tested, or if it fails to
# compile a small program, plain Numba compiles all, to the same bits.
#
# Functions that are parts of others are inlined into their callers, because LLVM makes no vectors
# of a loop with calls. They cannot create arrays.

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
    return in_place(text) if packed else text

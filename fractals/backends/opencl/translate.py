"""Translates kernels, which are plain Python functions of numbers, to readable OpenCL C.

A function is translated once for each tuple of types that it is called with. Types follow Numba's
rules, so that the C text computes the bits of the other backends: whole numbers are summed in 64
bits, and a float32 that meets a float64 or a whole number becomes a float64. What is known when a
kernel is made, such as the formula and its options, is no variable of the C text: branches that
are never taken are left out. Tuples become structs, and arrays structs of a pointer and a shape.

What the translator does not know is a `DeviceError` that names file and line. Loops over a range
whose step is a variable go upwards, and an index of an array is not below 0.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fractals.backends.opencl.values import (
    OPENCL,
    ArrayType,
    Dialect,
    TupleType,
    atomic_add,
    place_of,
    safe,
)
from fractals.backends.opencl.writer import INDENT, Translated, Writer
from fractals.errors import DeviceError, shown
from fractals.kernels import Target

LETTERS = {"double": "d", "float": "f", "long": "l", "int": "i", "bool": "b", "ulong": "u"}


def make_target(number: str) -> Target:
    """Return the target of kernels that are translated: conversions are NumPy's types."""
    return Target(
        jit=lambda function: function,
        real=np.dtype(number).type,
        real32=np.float32,
        int32=np.int32,
        int64=np.int64,
        index=np.uint32,
        wide=np.uint64,
        add=atomic_add,
    )


class Source(NamedTuple):
    """A program in OpenCL C."""

    text: str
    name: str  # of its kernel
    divides: str  # file and line of a division, or a root, in float32; empty where there is none


class Translation:
    """A kernel, with the functions and types that it needs, as text."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect, self.divides = dialect, ""
        self._functions: dict[Any, Translated | None] = {}
        self._names: dict[Any, str] = {}  # of types
        self._structs: list[str] = []
        self._helpers: dict[str, str] = {}
        self._taken: set[str] = set()

    def name_of(self, kind: Any) -> str:
        """Return the name of a type in C, which is declared where it is new."""
        if kind in self.dialect.lacks:
            raise DeviceError(f"{self.dialect.name} has no float64: give precision='float32'")
        if isinstance(kind, str):
            return kind
        if kind not in self._names:
            if isinstance(kind, ArrayType):
                fields = [f"{self.dialect.space} {self.name_of(kind.element)} *data"]
                fields += [f"long n{k}" for k in range(kind.dimensions)]
                base = f"{kind.element}_array{kind.dimensions}"
            elif isinstance(kind, TupleType):
                pairs = zip(kind.items, kind.fields, strict=True)
                fields = [f"{self.name_of(item)} {name}" for item, name in pairs]
                base = kind.title or "tuple_" + "".join(LETTERS.get(i, "t") for i in kind.items)
            else:
                raise DeviceError(f"a variable can't hold {shown(kind, 60)}")
            self._names[kind] = self.free(base)
            self._structs.append(
                f"typedef struct {{ {'; '.join(fields)}; }} {self._names[kind]};\n"
            )
        return self._names[kind]

    def free(self, name: str) -> str:
        """Return a name that nothing has yet."""
        chosen, k = safe(name), 2
        while chosen in self._taken:
            chosen, k = f"{safe(name)}_{k}", k + 1
        self._taken.add(chosen)
        return chosen

    def helper(self, name: str, text: str) -> None:
        """Have the program contain a small function of C."""
        self._helpers[name] = text

    def function(self, function: Any, types: tuple[Any, ...]) -> Translated:
        """Return a function, translated for arguments of these types."""
        code = function.__code__
        cells = tuple(id(cell.cell_contents) for cell in function.__closure__ or ())
        key = code, cells, id(function.__globals__), types
        if key not in self._functions:
            self._functions[key] = None
            self._functions[key] = Writer(self, function, types).written()
        found = self._functions[key]
        if found is None:
            place = place_of(code.co_filename, code.co_firstlineno)
            raise DeviceError(f"{place}: {code.co_name} calls itself, which OpenCL C can't")
        return found

    def kernel(self, name: str, body: Any, arguments: Sequence[Any]) -> tuple[str, str]:
        """Return the whole text, and the name of the kernel, which runs a body.

        `arguments` are the types of what the body takes behind its strides. The kernel has the name
        that is given, unless a function has it.
        """
        main = self.function(body, ("long",) * 4 + tuple(arguments))
        name, given, lines = self.free(name), list[str](), list[str]()
        names = body.__code__.co_varnames[4 : body.__code__.co_argcount]
        pairs = zip(map(safe, names), arguments, strict=True)
        passed = [self._parameter(own, kind, given, lines) for own, kind in pairs]
        places = [each.format(k) for each in self.dialect.places for k in (0, 1)]
        lines.append(f"{main.name}({', '.join((*places, *passed))});")
        inner = "".join(f"{INDENT}{line}\n" for line in lines)
        parameters = f",\n{INDENT}".join(filter(None, (*given, self.dialect.last)))
        text = f"kernel void {name}(\n{INDENT}{parameters}) {{\n{inner}}}\n"
        parts = [self.dialect.head, "".join(self._structs), *self._helpers.values()]
        return "\n".join([*parts, *(each.text for each in _ordered(main)), text]), name

    def _parameter(self, name: str, kind: Any, given: list[str], lines: list[str]) -> str:
        """Add the parameters of one argument, and return the expression that gathers them."""
        made, whole = self.dialect.made, self.dialect.whole
        if isinstance(kind, ArrayType):
            given.append(f"{self.dialect.space} {self.name_of(kind.element)} *{name}")
            sizes = [f"{name}_n{k}" for k in range(kind.dimensions)]
            numbers = [whole.format("long", each) for each in (f"{name}_begin", *sizes)]
            given.append(", ".join(numbers))
            parts = ", ".join((f"{name} + {name}_begin", *sizes))
            return made.format(self.name_of(kind), parts)
        if isinstance(kind, TupleType):
            pairs = zip(kind.fields, kind.items, strict=True)
            fields = [self._parameter(f"{name}_{own}", item, given, lines) for own, item in pairs]
            gathered = "".join(f"\n{INDENT * 2}{field}," for field in fields)
            lines.append(f"const {self.name_of(kind)} {name} = {{{gathered}\n{INDENT}}};")
            return name
        given.append(whole.format("int" if kind == "bool" else self.name_of(kind), name))
        return name


def _ordered(function: Translated) -> list[Translated]:
    """Return a function behind those that it calls."""
    before = (each for called in function.calls for each in _ordered(called))
    return [*dict.fromkeys(before), function]


def source(
    make_body: Callable[..., Any],
    options: Sequence[Any],
    arguments: Sequence[Any],
    number: str,
    dialect: Dialect = OPENCL,
) -> Source:
    """Return a program in OpenCL C, or another dialect.

    `arguments` are the types of what the body takes behind its strides
    (`fractals.backends.opencl.values.type_of`); `number` is "float64" or "float32".
    """
    made = Translation(dialect)
    file = (make_body.__module__ or "own").rpartition(".")[2].strip("_")
    own = re.sub("^make_|_?body$|<|>", "", make_body.__name__)
    called = f"{file}_{own}_kernel" if own else f"{file}_kernel"
    text, name = made.kernel(called, make_body(make_target(number), *options), arguments)
    return Source(text, name, made.divides)

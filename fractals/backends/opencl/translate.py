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

from fractals.backends.opencl.expressions import INDENT, place_of
from fractals.backends.opencl.intrinsics import atomic_add
from fractals.backends.opencl.values import ArrayType, TupleType, inside, safe
from fractals.backends.opencl.writer import Translated, Writer
from fractals.errors import DeviceError, shown
from fractals.kernels import Target

HEAD = "#pragma OPENCL FP_CONTRACT OFF\n"
LETTERS = {"double": "d", "float": "f", "long": "l", "int": "i", "bool": "b", "ulong": "u"}


def make_target(number: str) -> Target:
    """Return the target of kernels that are translated: conversions are NumPy's types."""
    return Target(
        jit=lambda function: function,
        real=np.dtype(number).type,
        real32=np.float32,
        int32=np.int32,
        int64=np.int64,
        add=atomic_add,
    )


class Source(NamedTuple):
    """A program in OpenCL C."""

    text: str
    name: str  # of its kernel
    divides: str  # file and line of a division, or a root, in float32; empty where there is none


class Translation:
    """A kernel, with the functions and types that it needs, as text."""

    def __init__(self) -> None:
        self._functions: dict[Any, Translated | None] = {}
        self._names: dict[Any, str] = {}  # of types
        self._structs: list[str] = []
        self._helpers: dict[str, str] = {}
        self._taken: set[str] = set()
        self.divides = ""

    def name_of(self, kind: Any) -> str:
        """Return the name of a type in C, which is declared where it is new."""
        if isinstance(kind, str):
            return kind
        if kind not in self._names:
            if isinstance(kind, ArrayType):
                fields = [f"global {kind.element} *data"]
                fields += [f"long n{k}" for k in range(kind.dimensions)]
                base = f"{kind.element}_array{kind.dimensions}"
            elif isinstance(kind, TupleType):
                names = kind.names or [f"v{k}" for k in range(len(kind.items))]
                fields = [
                    f"{self.name_of(item)} {safe(name)}"
                    for item, name in zip(kind.items, names, strict=True)
                ]
                base = kind.title or _short(kind)
            else:
                raise DeviceError(f"a variable can't hold {shown(kind, 60)}")
            name = self._names[kind] = self.free(base)
            self._structs.append(f"typedef struct {{ {'; '.join(fields)}; }} {name};\n")
        return self._names[kind]

    def free(self, name: str) -> str:
        """Return a name that nothing has yet."""
        name, k = safe(name), 2
        while (chosen := name if k == 2 else f"{name}_{k - 1}") in self._taken:
            k += 1
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
        main = self.function(body, ("long",) * 4 + tuple(map(inside, arguments)))
        name = self.free(name)
        given: list[str] = []
        lines: list[str] = []
        names = body.__code__.co_varnames[4 : body.__code__.co_argcount]
        passed = [
            self._parameter(safe(n), kind, given, lines)
            for n, kind in zip(names, arguments, strict=True)
        ]
        places = (
            *(f"get_global_id({k})" for k in range(2)),
            *(f"get_global_size({k})" for k in range(2)),
        )
        call = f"{main.name}({', '.join((*places, *passed))});"
        inner = "".join(f"{INDENT}{line}\n" for line in (*lines, call))
        parameters = f",\n{INDENT}".join(given)
        text = f"kernel void {name}(\n{INDENT}{parameters}) {{\n{inner}}}\n"
        ordered: list[Translated] = []
        _collect(main, ordered)
        parts = [HEAD, "".join(self._structs), *self._helpers.values()]
        return "\n".join([*parts, *(each.text for each in ordered), text]), name

    def _parameter(self, name: str, kind: Any, given: list[str], lines: list[str]) -> str:
        """Add the parameters of one argument, and return the expression that gathers them."""
        if isinstance(kind, ArrayType):
            sizes = [f"{name}_n{k}" for k in range(kind.dimensions)]
            given.append(f"global {kind.element} *{name}")
            first = f"{name} + {name}_begin" if kind.begins_later else name
            begin = [f"{name}_begin"] if kind.begins_later else []
            given.append(", ".join(f"const long {size}" for size in (*begin, *sizes)))
            return f"({self.name_of(inside(kind))}){{{', '.join((first, *sizes))}}}"
        if isinstance(kind, TupleType):
            names = kind.names or [f"v{k}" for k in range(len(kind.items))]
            parts = [
                self._parameter(f"{name}_{part}", item, given, lines)
                for part, item in zip(names, kind.items, strict=True)
            ]
            gathered = "".join(f"\n{INDENT * 2}{part}," for part in parts)
            lines.append(f"const {self.name_of(inside(kind))} {name} = {{{gathered}\n{INDENT}}};")
            return name
        given.append(f"const {'int' if kind == 'bool' else kind} {name}")
        return name


def _collect(function: Translated, ordered: list[Translated]) -> None:
    for called in function.calls:
        if called not in ordered:
            _collect(called, ordered)
    if function not in ordered:
        ordered.append(function)


def _short(kind: TupleType) -> str:
    items = kind.items
    if len(set(items)) == 1 and items[0] in LETTERS:
        return f"{items[0]}_x{len(items)}"
    return "tuple_" + "".join(LETTERS.get(item, "t") for item in items)


def source(
    make_body: Callable[..., Any], options: Sequence[Any], arguments: Sequence[Any], number: str
) -> Source:
    """Return a program in OpenCL C.

    `arguments` are the types of what the body takes behind its strides
    (`fractals.backends.opencl.values.type_of`); `number` is "float64" or "float32".
    """
    made = Translation()
    file = (make_body.__module__ or "own").rpartition(".")[2]
    own = re.sub("^make_|_?body$|<|>", "", make_body.__name__)
    called = f"{file}_{own}_kernel" if own else f"{file}_kernel"
    text, name = made.kernel(called, make_body(make_target(number), *options), arguments)
    return Source(text, name, made.divides)

"""Translates kernels, which are plain Python functions of numbers, to readable OpenCL C.

A function is translated once for each tuple of types that it is called with. Types follow Numba's
rules, so that the C text computes the bits of the other backends: whole numbers are summed in 64
bits, and a float32 that meets a float64 or a whole number becomes a float64. What is known when a
kernel is made, such as the formula and its options, is no variable of the C text: branches that
are never taken are left out. Tuples become structs, and arrays structs of a pointer and a shape.

What the translator does not know is a `DeviceError` that names file and line. Loops over a range
whose step is a variable go upwards, and an index of an array is not below 0.
"""

import ast
import builtins
import functools
import linecache
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fractals.backends.opencl.intrinsics import HELPERS, INTRINSICS, RESERVED, atomic_add
from fractals.backends.opencl.values import (
    ATOM,
    CONDITION,
    LEVELS,
    REALS,
    UNARY,
    UNSIGNED,
    ArrayType,
    Static,
    TupleType,
    Value,
    joined,
    known,
    literal,
)
from fractals.errors import DeviceError, shown
from fractals.kernels import Target

PACKAGE = Path(__file__).parents[2]
INDENT = "    "
HEAD = """\
#pragma OPENCL FP_CONTRACT OFF
"""
OPERATORS: dict[type, tuple[str, Any]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
SHIFTS = ("<<", ">>")
BITWISE = (*SHIFTS, "&", "|", "^")
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


def _c_type(value: Value) -> Any:
    """Return the type that C sees in an expression: that of a short literal is int."""
    return "int" if value.number is not None and value.text[-1] != "L" else value.type


# Syntax trees of functions.


@functools.cache
def _functions_of(filename: str) -> dict[tuple[int, str], list[Any]]:
    return _by_line("".join(linecache.getlines(filename)))


def _by_line(text: str) -> dict[tuple[int, str], list[Any]]:
    found: dict[tuple[int, str], list[Any]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(node)
    return found


def tree_of(function: Any) -> Any:
    """Return the syntax tree of a function, a definition or a lambda.

    A function of generated text has the text as its attribute `text`.
    """
    code, text = function.__code__, getattr(function, "text", None)
    trees = _by_line(text) if text else _functions_of(code.co_filename)
    found = trees.get((code.co_firstlineno, code.co_name), [])
    if len(found) != 1:
        what = "several functions are" if found else "no source text is"
        raise DeviceError(f"{place_of(code.co_filename, code.co_firstlineno)}: {what} there")
    return found[0]


def place_of(filename: str, line: int) -> str:
    """Return file and line, of this package from its folder on."""
    path = Path(filename)
    if path.is_relative_to(PACKAGE):
        path = path.relative_to(PACKAGE.parent)
    return f"{path.as_posix()}:{line}"


# The text of a program.


@dataclass
class Translated:
    """A function in C."""

    name: str
    result: Any  # its type; None where it returns nothing, a Static where it returns what is known
    text: str = ""
    calls: list["Translated"] = field(default_factory=list)


class Source(NamedTuple):
    """A program in OpenCL C."""

    text: str
    name: str  # of its kernel
    divides: str  # file and line of a division, or a root, in float32; empty where there is none


class Program:
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
                    f"{self.name_of(item)} {_safe(name)}"
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
        name, k = _safe(name), 2
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

    def kernel(self, body: Any, arguments: Sequence[Any]) -> tuple[str, str]:
        """Return the whole text, and the name of the kernel, which runs a body.

        `arguments` are the types of what the body takes behind its strides.
        """
        main = self.function(body, ("long",) * 4 + tuple(arguments))
        name = self.free(f"{main.name.removesuffix('_body')}_kernel")
        given: list[str] = []
        lines: list[str] = []
        names = body.__code__.co_varnames[4 : body.__code__.co_argcount]
        passed = [
            self._parameter(_safe(n), kind, given, lines)
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
            given.append(", ".join(f"const long {size}" for size in sizes))
            return f"({self.name_of(kind)}){{{', '.join((name, *sizes))}}}"
        if isinstance(kind, TupleType):
            names = kind.names or [f"v{k}" for k in range(len(kind.items))]
            parts = [
                self._parameter(f"{name}_{part}", item, given, lines)
                for part, item in zip(names, kind.items, strict=True)
            ]
            lines.append(f"const {self.name_of(kind)} {name} = {{{', '.join(parts)}}};")
            return name
        given.append(f"const {'int' if kind == 'bool' else kind} {name}")
        return name


def _collect(function: Translated, ordered: list[Translated]) -> None:
    for called in function.calls:
        if called not in ordered:
            _collect(called, ordered)
    if function not in ordered:
        ordered.append(function)


def _safe(name: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name).lstrip("_") or "v"
    return f"{name}_" if name in RESERVED else name


def _short(kind: TupleType) -> str:
    items = kind.items
    if len(set(items)) == 1 and items[0] in LETTERS:
        return f"{items[0]}_x{len(items)}"
    return "tuple_" + "".join(LETTERS.get(item, "t") for item in items)


# One function.

DONE, OPEN = True, False  # whether a block always ends before its last line


class Writer:
    """Translates one function for arguments of certain types.

    The function is gone through until the types of its variables no longer change. The last pass
    writes it; the pass before has noted in which block each variable is declared.
    """

    def __init__(self, program: Program, function: Any, types: tuple[Any, ...]) -> None:
        self.program, self._function, self._code = program, function, function.__code__
        self._tree, self._line = tree_of(function), function.__code__.co_firstlineno
        closure = zip(self._code.co_freevars, function.__closure__ or (), strict=True)
        self._outer = {name: cell.cell_contents for name, cell in closure}
        self._types: dict[str, Any] = self._parameters(types)
        self._given = dict(self._types)
        self._result: Any = ()  # (): none is known yet

    def fail(self, what: str) -> NoReturn:
        """Raise the error about what the translator does not know."""
        place = place_of(self._code.co_filename, self._line)
        raise DeviceError(f"{place}: the translator to OpenCL C does not know {what}")

    def divides(self) -> None:
        """Note that the program divides, or takes a root, in float32."""
        place = place_of(self._code.co_filename, self._line)
        self.program.divides = self.program.divides or place

    def _parameters(self, types: tuple[Any, ...]) -> dict[str, Any]:
        code, count = self._code, self._code.co_argcount
        names, found = code.co_varnames, {}
        defaults = self._function.__defaults__ or ()
        if len(types) < count:
            missing = defaults[len(defaults) - (count - len(types)) :]
            if code.co_kwonlyargcount or len(missing) < count - len(types):
                self.fail(f"how to call {code.co_name} with {len(types)} arguments")
            types = (*types, *(known(value).type for value in missing))
            if missing:
                self.fail("parameters with a default")
        for name, kind in zip(names, types, strict=False):
            found[name] = kind
        if code.co_flags & 4:  # *rest
            rest = types[count:]
            found[names[count]] = TupleType(rest) if rest else Static(())
        elif len(types) > count:
            self.fail(f"how to call {code.co_name} with {len(types)} arguments")
        return found

    def written(self) -> Translated:
        """Return the function in C."""
        module = self._function.__module__ or "own"
        file, own = module.rpartition(".")[2], self._code.co_name.strip("<>")
        base = own if own == file else f"{file}_{own}"
        for _ in range(20):
            before = dict(self._types), self._result
            self._declared: dict[str, tuple[int, ...]] = {}
            self._pass()
            if before == (self._types, self._result):
                break
        else:
            self.fail(f"the types of {self._code.co_name}")
        self._declared = self._places()
        self._pass()
        result = None if self._result == () else self._result
        name = self.program.free(base)
        if isinstance(result, Static):
            return Translated(name, result, "")
        shape = self.program.name_of(result) if result else "void"
        parameters = [
            f"{self.program.name_of(self._types[n])} {_safe(n)}"
            for n, kind in self._given.items()
            if not isinstance(kind, Static)
        ]
        hoisted = [
            f"{INDENT}{self.program.name_of(self._types[n])} {_safe(n)};"
            for n in self._seen
            if n not in self._given
            and n not in self._declared
            and n in self._types
            and not isinstance(self._types[n], Static)
        ]
        place = place_of(self._code.co_filename, self._code.co_firstlineno)
        head = f"// {place}\nstatic inline {shape} {name}({', '.join(parameters)}) {{\n"
        text = head + "\n".join((*hoisted, *self._lines)) + "\n}\n"
        return Translated(name, result, text, self._calls)

    def _pass(self) -> None:
        self._lines: list[str] = []
        self._calls: list[Translated] = []
        self._seen: dict[str, list[tuple[tuple[int, ...], bool]]] = {}
        self._block: tuple[int, ...] = ()
        self._blocks = self._temporary = 0
        if isinstance(self._tree, ast.Lambda):
            self._return(self.value(self._tree.body))
        else:
            self._all(self._tree.body)

    def _places(self) -> dict[str, tuple[int, ...]]:
        """Return the variables that are declared where they first get a value, and the block.

        Others are declared at the beginning of the function: a loop may bring their values along.
        """
        found = {}
        for name, uses in self._seen.items():
            common = uses[0][0]
            for block, _ in uses:
                while block[: len(common)] != common:
                    common = common[:-1]
            if uses[0] == (common, True):
                found[name] = common
        return found

    # Lines.

    def _write(self, text: str) -> None:
        self._lines.append(f"{INDENT * (len(self._block) + 1)}{text}")

    @contextmanager
    def _inner(self) -> Iterator[None]:
        before = self._block
        self._blocks += 1
        self._block = (*before, self._blocks)
        yield
        self._block = before

    def _all(self, statements: Sequence[ast.stmt]) -> bool:
        return any(self._statement(each) for each in statements)

    def _statement(self, node: Any) -> bool:
        self._line = node.lineno + (0 if hasattr(self._function, "text") else 0)
        name = f"_{type(node).__name__.lower()}"
        if not hasattr(self, name):
            self.fail(f"'{type(node).__name__}'")
        return bool(getattr(self, name)(node))

    def _pass_(self, node: ast.Pass) -> None: ...

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        value = self.value(node.value)
        if value.text:
            self._write(f"{value.text};")

    def _return(self, node: Any) -> bool:
        value = node
        if isinstance(node, ast.Return):
            value = self.value(node.value) if node.value else None
        if value is None:
            self._write("return;")
            return DONE
        if self._result != ():
            kind = joined(self._result, value.type)
            if kind is None:
                self.fail(f"a function that returns {self._result} and {value.type}")
            self._result = kind
        else:
            self._result = value.type
        if not isinstance(value.type, Static):
            self._write(f"return {self.given(value, self._result).text};")
        return DONE

    def _break(self, node: ast.Break) -> bool:
        self._write("break;")
        return DONE

    def _continue(self, node: ast.Continue) -> bool:
        self._write("continue;")
        return DONE

    def _if(self, node: ast.If) -> bool:
        condition = self.value(node.test)
        if condition.number is not None or isinstance(condition.type, Static):
            return self._all(node.body if self._truth(condition) else node.orelse)
        self._write(f"if ({condition.text}) {{")
        with self._inner():
            first = self._all(node.body)
        second = OPEN
        if node.orelse:
            self._write("} else {")
            with self._inner():
                second = self._all(node.orelse)
        self._write("}")
        return first and second

    def _truth(self, value: Value) -> bool:
        return bool(value.type.value if isinstance(value.type, Static) else value.number)

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            self.fail("'else' of a loop")
        count = len(self._lines)
        condition = self.value(node.test)
        if condition.number is not None and not condition.number:
            return
        extra, self._lines[count:] = self._lines[count:], []
        self._write("while (true) {" if extra else f"while ({condition.text}) {{")
        with self._inner():
            if extra:
                self._lines += [INDENT + line for line in extra]
                self._write(f"if (!({condition.text})) break;")
            self._all(node.body)
        self._write("}")

    def _for(self, node: ast.For) -> None:
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.value(call.func).type == Static(range)
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            self.fail("a loop that is not 'for name in range(...)'")
        bounds = [self.value(each) for each in call.args]
        begin, end = (literal(0, "long"), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else literal(1, "long")
        name = node.target.id
        end, step = self._kept(end, "end"), self._kept(step, "stride")
        plain = self._loop_alone(name, node.body)
        variable = _safe(name) if plain else self._new("k")
        self._types[name] = joined(self._types.get(name, "long"), "long")
        sign = ">" if step.number is not None and step.number < 0 else "<"
        more = f"{variable} += {step.text}"
        if step.number is not None and abs(step.number) == 1:
            more = f"{variable}{'++' if step.number > 0 else '--'}"
        head = f"long {variable} = {begin.text}; {variable} {sign} {end.at(11)}; {more}"
        self._write(f"for ({head}) {{")
        with self._inner():
            self._seen.setdefault(name, []).append((self._block, plain))
            if not plain:
                self._store_name(name, Value("long", variable))
            self._all(node.body)
        self._write("}")

    def _loop_alone(self, name: str, body: list[ast.stmt]) -> bool:
        """Tell whether a loop's variable is only read, and only within the loop."""
        stored = any(
            isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
            for part in body
            for each in ast.walk(part)
        )
        inside = sum(
            isinstance(each, ast.Name) and each.id == name
            for part in body
            for each in ast.walk(part)
        )
        everywhere = [
            each for each in ast.walk(self._tree) if isinstance(each, ast.Name) and each.id == name
        ]
        loops = sum(isinstance(each.ctx, ast.Store) for each in everywhere)
        total = sum(
            1
            + sum(isinstance(e, ast.Name) and e.id == name for p in loop.body for e in ast.walk(p))
            for loop in ast.walk(self._tree)
            if isinstance(loop, ast.For)
            and isinstance(loop.target, ast.Name)
            and loop.target.id == name
        )
        return not stored and inside >= 0 and total == len(everywhere) and loops > 0

    # Assignments.

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if len(node.targets) > 1 and value.number is None:
            value = self._kept(value, "t")
        for target in node.targets:
            self._store(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self._store(node.target, self.value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        load = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        before = self.value(load)
        self._store(node.target, self.binary(node.op, before, self.value(node.value)))

    def _store(self, target: Any, value: Value) -> None:
        if isinstance(target, ast.Name):
            if target.id != "_":
                self._store_name(target.id, value)
        elif isinstance(target, ast.Tuple):
            parts = self.items(value)
            if len(parts) != len(target.elts):
                self.fail(f"how to take {len(target.elts)} values from {len(parts)}")
            for k in range(1, len(parts)):  # what an earlier target changes is kept before
                words = set(re.findall(r"\w+", parts[k].text))
                for each in target.elts[:k]:
                    changed = (
                        {"data"}
                        if isinstance(each, ast.Subscript)
                        else {_safe(n.id) for n in ast.walk(each) if isinstance(n, ast.Name)}
                    )
                    if changed & words and parts[k].number is None:
                        parts[k] = self._kept(parts[k], "t", always=True)
                        break
            for each, part in zip(target.elts, parts, strict=True):
                self._store(each, part)
        elif isinstance(target, ast.Subscript):
            array = self.value(target.value)
            cell = self.element(array, self._indices(target.slice))
            self._write(f"{cell.text} = {self.cast(value, array.type.element, True).text};")
        else:
            self.fail(f"an assignment to '{ast.unparse(target)}'")

    def _store_name(self, name: str, value: Value) -> None:
        before = self._types.get(name)
        kind = value.type if before is None else joined(before, value.type)
        if kind is None:
            self.fail(f"a variable, {name}, that is {before} and {value.type}")
        self._types[name] = kind
        if isinstance(kind, Static):
            return
        shared = name not in self._given
        declares = (
            shared and self._declared.get(name) == self._block and not self._is_declared(name)
        )
        self._seen.setdefault(name, []).append((self._block, True))
        text = self.given(value, kind).text
        what = f"{self.program.name_of(kind)} " if declares else ""
        self._write(f"{what}{_safe(name)} = {text};")

    def _is_declared(self, name: str) -> bool:
        return name in self._seen

    def _new(self, base: str) -> str:
        taken = set(map(_safe, self._code.co_varnames))
        while True:
            self._temporary += 1
            if (name := f"{base}{self._temporary}") not in taken:
                return name

    def _kept(self, value: Value, base: str, always: bool = False) -> Value:
        """Return a value that may be read several times, or later."""
        plain = re.fullmatch(r"[\w.]+", value.text) and not always
        if value.number is not None or isinstance(value.type, Static) or plain:
            return value
        name = self._new(base)
        self._write(f"const {self.program.name_of(value.type)} {name} = {self.text(value)};")
        return Value(value.type, name)

    # Expressions.

    def text(self, value: Value) -> str:
        """Return the text of a value; that of a tuple makes a struct."""
        if value.items is not None:
            parts = ", ".join(
                self.given(item, kind).text
                for item, kind in zip(value.items, value.type.items, strict=True)
            )
            return f"({self.program.name_of(value.type)}){{{parts}}}"
        return value.text

    def value(self, node: Any) -> Value:
        """Return the value of an expression."""
        self._line = getattr(node, "lineno", self._line)
        name = f"_of_{type(node).__name__.lower()}"
        if not hasattr(self, name):
            self.fail(f"'{ast.unparse(node)}'")
        value: Value = getattr(self, name)(node)
        return value

    def _of_constant(self, node: ast.Constant) -> Value:
        return known(node.value)

    def _of_name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self._code.co_varnames or name in self._code.co_cellvars:
            if name not in self._types:
                self.fail(f"a value of '{name}' here")
            kind = self._types[name]
            if isinstance(kind, Static):
                return Value(kind)
            self._seen.setdefault(name, []).append((self._block, False))
            return Value(kind, _safe(name))
        for names in (self._outer, self._function.__globals__, vars(builtins)):
            if name in names:
                return known(names[name])
        self.fail(f"the name '{name}'")

    def _of_attribute(self, node: ast.Attribute) -> Value:
        value = self.value(node.value)
        if isinstance(value.type, Static):
            return known(getattr(value.type.value, node.attr))
        if isinstance(value.type, TupleType) and node.attr in value.type.names:
            return self.items(value)[value.type.names.index(node.attr)]
        if isinstance(value.type, ArrayType) and node.attr == "shape":
            value = self._kept(value, "t")
            sizes = tuple(Value("long", f"{value.text}.n{k}") for k in range(value.type.dimensions))
            return Value(TupleType(("long",) * len(sizes)), items=sizes)
        self.fail(f"'.{node.attr}' of {value.type}")

    def items(self, value: Value) -> list[Value]:
        """Return the parts of a tuple."""
        if isinstance(value.type, Static) and isinstance(value.type.value, tuple):
            return [known(item) for item in value.type.value]
        if value.items is not None:
            return list(value.items)
        if not isinstance(value.type, TupleType):
            self.fail(f"parts of {value.type}")
        value = self._kept(value, "t")
        names = value.type.names or [f"v{k}" for k in range(len(value.type.items))]
        return [
            Value(kind) if isinstance(kind, Static) else Value(kind, f"{value.text}.{_safe(name)}")
            for kind, name in zip(value.type.items, names, strict=True)
        ]

    def made(self, items: Sequence[Value], names: tuple[str, ...] = (), title: str = "") -> Value:
        """Return the tuple of values."""
        if not items:
            return known(())
        return Value(TupleType(tuple(v.type for v in items), names, title), items=tuple(items))

    def _of_tuple(self, node: ast.Tuple) -> Value:
        items: list[Value] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                items += self.items(self.value(each.value))
            else:
                items.append(self.value(each))
        return self.made(items)

    def _of_subscript(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if isinstance(value.type, ArrayType):
            return self.element(value, self._indices(node.slice))
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            numbers = [each and self._constant(each) for each in bounds]
            return self.made(self.items(value)[slice(*numbers)])
        index = self.value(node.slice)
        if index.number is not None:
            return self.items(value)[int(index.number)]
        if len(set(value.type.items)) != 1:
            self.fail(f"a part of {value.type} whose number, {index.text}, varies")
        kind, name = value.type.items[0], self.program.name_of(value.type)
        names = value.type.names or [f"v{k}" for k in range(len(value.type.items))]
        chosen = "".join(f"k == {k} ? t.{_safe(n)} : " for k, n in enumerate(names[:-1]))
        self.program.helper(
            f"part_of_{name}",
            f"static inline {self.program.name_of(kind)} part_of_{name}(const {name} t, "
            f"const long k) {{\n{INDENT}return {chosen}t.{_safe(names[-1])};\n}}\n",
        )
        return Value(kind, f"part_of_{name}({self.text(value)}, {index.text})")

    def _constant(self, node: Any) -> int:
        number = self.value(node).number
        if number is None:
            self.fail(f"a part of a tuple whose number, '{ast.unparse(node)}', is not known before")
        return int(number)

    def _indices(self, node: Any) -> tuple[Value, ...]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return tuple(self.value(each) for each in parts)

    def element(self, array: Value, indices: Sequence[Value]) -> Value:
        """Return an element of an array, or the array of the elements with these first indices."""
        if not isinstance(array.type, ArrayType) or len(indices) > array.type.dimensions:
            self.fail(f"{len(indices)} indices of {array.type}")
        array = self._kept(array, "t")
        rest = array.type.dimensions - len(indices)
        text, level = "", ATOM
        for k, index in enumerate(indices):
            if index.type in REALS or not isinstance(index.type, str):
                self.fail(f"an index of type {index.type}")
            if text not in ("", "0"):
                size = f"{array.text}.n{k}"
                text = f"({text})" if level < LEVELS["*"] else text
                text = size if text == "1" else f"{text} * {size}"
                text, level = f"{text} + {index.at(LEVELS['+'])}", LEVELS["+"]
            else:
                text, level = index.text, index.level
        for k in range(len(indices), array.type.dimensions):
            text, level = f"{f'({text})' if level < LEVELS['*'] else text} * {array.text}.n{k}", 13
        if not rest:
            return Value(array.type.element, f"{array.text}.data[{text}]")
        sizes = [f"{array.text}.n{k}" for k in range(len(indices), array.type.dimensions)]
        kind = ArrayType(array.type.element, rest)
        parts = ", ".join((f"{array.text}.data + {text}", *sizes))
        return Value(kind, f"({self.program.name_of(kind)}){{{parts}}}")

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            if value.number is not None or isinstance(value.type, Static):
                return known(not self._truth(value))
            return Value("bool", f"!{value.at(UNARY)}", UNARY)
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.Invert) and value.type not in (*REALS, "bool"):
            kind, sign = self.arithmetic(value.type, value.type), "~"
        elif isinstance(node.op, ast.USub):
            kind = value.type if value.type in REALS else self.arithmetic(value.type, value.type)
            sign = "-"
        else:
            self.fail(f"'{ast.unparse(node)}'")
        if value.number is not None:
            number = self.cast(value, kind).number
            with np.errstate(all="ignore"):
                return literal(-number if sign == "-" else ~number, kind)
        return Value(kind, f"{sign}{self._wide(value, kind).at(UNARY)}", UNARY)

    def _wide(self, value: Value, kind: str) -> Value:
        """Return an operand of an operator whose result is of a type."""
        return value if value.type == kind else self.cast(value, kind)

    def arithmetic(self, a: Any, b: Any) -> str:
        """Return the type of a sum or product, by Numba's rules."""
        if not (isinstance(a, str) and isinstance(b, str)):
            self.fail(f"arithmetic of {a} and {b}")
        kind = joined(a, b)
        if kind is None:
            self.fail(f"arithmetic of {a} and {b}")
        if kind in REALS:
            return str(kind)
        return "ulong" if a in UNSIGNED and b in UNSIGNED else "long"

    def _of_binop(self, node: ast.BinOp) -> Value:
        left = self.value(node.left)
        return self.binary(node.op, left, self.value(node.right))

    def binary(self, operation: ast.operator, a: Value, b: Value) -> Value:
        """Return the value of an operator between two values."""
        sign, function = OPERATORS[type(operation)]
        tuples = [isinstance(v.type, TupleType) or v.type == Static(()) for v in (a, b)]
        if sign == "+" and all(tuples):
            return self.made([*self.items(a), *self.items(b)])
        if sign in BITWISE and a.type == b.type == "bool":
            kind = "bool"
        elif sign in ("&", "|", "^", "<<", ">>") and "ulong" in (a.type, b.type):
            kind = "ulong"
        else:
            kind = self.arithmetic(a.type, b.type)
        if sign in BITWISE and kind in REALS:
            self.fail(f"'{sign}' of {a.type} and {b.type}")
        if sign == "/" and kind not in REALS:
            kind = "double"
        if a.number is not None and b.number is not None:
            p, q = self.cast(a, kind).number, self.cast(b, kind).number
            if kind not in REALS and kind != "bool":
                p, q = int(p), int(q)
            with np.errstate(all="ignore"):
                return literal(function(p, q), kind)
        if sign == "/" and kind == "float":
            self.divides()
        if sign == "**":
            self.fail("'**' of a number that is not known before")
        if sign in ("//", "%"):
            if kind != "long":
                self.fail(f"'{sign}' of {a.type} and {b.type}")
            name, key = ("floor_divide",) * 2 if sign == "//" else ("remainder_of", "remainder")
            self.program.helper(key, HELPERS[key])
            return Value(kind, f"{name}({a.text}, {b.text})")
        if kind in REALS:
            a, b = self._wide(a, kind), self._wide(b, kind)
        elif kind != "bool" and (sign in SHIFTS or kind not in (_c_type(a), _c_type(b))):
            if _c_type(a) != kind:  # C would compute in 32 bits
                a = Value(kind, f"({kind}){a.at(UNARY)}", UNARY)
        if sign == "*" and kind == "long" and "L" in (a.text[-1], b.text[-1]):
            # The product may pass 64 bits, and only that of unsigned numbers then wraps in C.
            a, b = (v if v.number is not None else Value(kind, v.at(UNARY), UNARY) for v in (a, b))
            return Value(kind, f"(long)((ulong){a.text} * {b.text})", UNARY)
        level = LEVELS[sign]
        # C would take a shift's, or a comparison's, neighbours otherwise than a reader expects.
        loose = sign in ("<<", ">>", "&", "|", "^")
        left, right = (
            a.at(UNARY if loose and a.level != level else level),
            b.at(UNARY if loose else level + 1),
        )
        if a.text.startswith("-") and a.level == UNARY:
            left = a.text
        return Value(kind, f"{left} {sign} {right}", level)

    def _of_compare(self, node: ast.Compare) -> Value:
        left, parts = self.value(node.left), []
        for operation, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            if len(node.ops) > 1:
                right = self._kept(right, "t")
            parts.append(self._compared(operation, left, right))
            left = right
        found = parts[0]
        for part in parts[1:]:
            found = self._both(found, part, "&&")
        return found

    def _compared(self, operation: ast.cmpop, a: Value, b: Value) -> Value:
        if isinstance(operation, ast.Is | ast.IsNot):
            same = a.type == b.type and isinstance(a.type, Static)
            return known(same == isinstance(operation, ast.Is))
        if type(operation) not in OPERATORS:
            self.fail(f"'{type(operation).__name__}'")
        sign, function = OPERATORS[type(operation)]
        if isinstance(a.type, Static) and isinstance(b.type, Static):
            return known(bool(function(a.type.value, b.type.value)))
        kind = "bool" if a.type == b.type == "bool" else self.arithmetic(a.type, b.type)
        if a.number is not None and b.number is not None:
            return known(bool(function(self.cast(a, kind).number, self.cast(b, kind).number)))
        if kind in REALS:
            a, b = self._wide(a, kind), self._wide(b, kind)
        level = LEVELS[sign]
        left = a.text if a.level == UNARY else a.at(level + 1)
        return Value("bool", f"{left} {sign} {b.at(level + 1)}", level)

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        sign = "&&" if isinstance(node.op, ast.And) else "||"
        found = self.value(node.values[0])
        for each in node.values[1:]:
            if found.number is not None or isinstance(found.type, Static):
                if self._truth(found) == (sign == "||"):
                    return found
                found = self.value(each)
                continue
            count = len(self._lines)
            other = self.value(each)
            if self._lines[count:]:  # what it needs is computed only where it is
                later, self._lines[count:] = self._lines[count:], []
                name = self._new("t")
                self._write(f"bool {name} = {found.text};")
                self._write(f"if ({'' if sign == '&&' else '!'}{name}) {{")
                self._lines += [INDENT + line for line in later]
                self._write(f"{INDENT}{name} = {other.text};")
                self._write("}")
                found = Value("bool", name)
            else:
                found = self._both(found, other, sign)
        return found

    def _both(self, a: Value, b: Value, sign: str) -> Value:
        for one, other in ((a, b), (b, a)):
            if one.number is not None or isinstance(one.type, Static):
                if self._truth(one) == (sign == "||"):
                    return known(sign == "||")
                return other
        level = LEVELS[sign]
        texts = [
            v.at(level if v.level == level or v.level > LEVELS["&"] else UNARY) for v in (a, b)
        ]
        return Value("bool", f" {sign} ".join(texts), level)

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        condition = self.value(node.test)
        if condition.number is not None or isinstance(condition.type, Static):
            return self.value(node.body if self._truth(condition) else node.orelse)
        count = len(self._lines)
        a = self.value(node.body)
        first, self._lines[count:] = self._lines[count:], []
        b = self.value(node.orelse)
        second, self._lines[count:] = self._lines[count:], []
        kind = self.common(a, b)
        if isinstance(kind, Static):
            return a
        if not first and not second:
            a, b = self.given(a, kind), self.given(b, kind)
            text = f"{condition.at(LEVELS['=='])} ? {a.at(CONDITION + 1)} : {b.at(CONDITION)}"
            return Value(kind, text, CONDITION)
        name = self._new("t")
        self._write(f"{self.program.name_of(kind)} {name};")
        for head, lines, value in (
            (f"if ({condition.text}) {{", first, a),
            ("} else {", second, b),
        ):
            self._write(head)
            self._lines += [INDENT + line for line in lines]
            self._write(f"{INDENT}{name} = {self.given(value, kind).text};")
        self._write("}")
        return Value(kind, name)

    def common(self, *values: Value) -> Any:
        """Return the type that holds each of the values."""
        kind = values[0].type
        for value in values[1:]:
            kind = joined(kind, value.type)
            if kind is None:
                self.fail(f"a value that is {values[0].type} or {value.type}")
        return kind

    def given(self, value: Value, kind: Any) -> Value:
        """Return a value where one of a type is expected, to which C converts numbers."""
        if isinstance(kind, str):
            if not isinstance(value.type, str):
                self.fail(f"a number of type {kind} made of {value.type}")
            if kind in REALS or value.number is not None:
                return self.cast(value, kind)
            return value
        return self.cast(value, kind)

    def cast(self, value: Value, kind: Any, implicit: bool = False) -> Value:
        """Return a value converted to a type; `implicit`: C does it by itself."""
        if isinstance(kind, TupleType):
            if value.type == kind and value.items is None:
                return value
            parts = self.items(value)
            items = tuple(self.cast(v, k) for v, k in zip(parts, kind.items, strict=True))
            return Value(kind, self.text(Value(kind, items=items)))
        if value.type == kind:
            return value
        if not (isinstance(kind, str) and isinstance(value.type, str)):
            self.fail(f"how {value.type} becomes {kind}")
        if value.number is not None:
            number = value.number
            if kind not in (*REALS, "bool"):
                number = int(number)
            return literal(number, kind)
        if kind == "bool":
            return Value("bool", f"{value.at(10)} != 0", 9)
        if implicit:
            return value
        return Value(kind, f"({kind}){value.at(UNARY)}", UNARY)

    # Calls.

    def _of_call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        if not isinstance(function.type, Static):
            self.fail(f"a call of '{ast.unparse(node.func)}'")
        arguments: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                arguments += self.items(self.value(each.value))
            else:
                arguments.append(self.value(each))
        if node.keywords:
            self.fail("arguments given by name")
        return self.call(function.type.value, tuple(arguments))

    def call(self, function: Any, arguments: Sequence[Value]) -> Value:
        """Return the result of a call."""
        make = INTRINSICS.get(function) if function.__hash__ else None
        if make:
            return make(self, *arguments)
        if isinstance(function, type) and issubclass(function, tuple):
            return self.made(arguments, getattr(function, "_fields", ()), function.__name__)
        if not hasattr(function, "__code__"):
            self.fail(f"the function {getattr(function, '__name__', function)}")
        types = tuple(value.type for value in arguments)
        line = self._line
        translated = self.program.function(function, types)
        self._line = line
        if translated not in self._calls:
            self._calls.append(translated)
        if isinstance(translated.result, Static):
            return Value(translated.result)
        texts = [
            self.text(self.given(v, v.type)) if v.number is None else v.text
            for v in arguments
            if not isinstance(v.type, Static)
        ]
        if function.__code__.co_flags & 4:
            count = function.__code__.co_argcount
            rest = [v for v in arguments[count:]]
            first = [v for v in arguments[:count] if not isinstance(v.type, Static)]
            texts = [self.text(v) for v in first]
            if rest:
                texts.append(self.text(self.made(rest)))
        return Value(translated.result, f"{translated.name}({', '.join(texts)})")


def source(
    make_body: Callable[..., Any], options: Sequence[Any], arguments: Sequence[Any], number: str
) -> Source:
    """Return a program in OpenCL C.

    `arguments` are the types of what the body takes behind its strides
    (`fractals.backends.opencl.values.type_of`); `number` is "float64" or "float32".
    """
    made = Program()
    text, name = made.kernel(make_body(make_target(number), *options), arguments)
    return Source(text, name, made.divides)

"""Translates the expressions of a function of Python to OpenCL C."""

import ast
import builtins
import operator
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fractals.backends.opencl.intrinsics import HELPERS, INTRINSICS
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
    safe,
)
from fractals.errors import DeviceError

PACKAGE = Path(__file__).parents[2]
INDENT = "    "
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


def _c_type(value: Value) -> Any:
    """Return the type that C sees in an expression: that of a short literal is int."""
    return "int" if value.number is not None and value.text[-1] != "L" else value.type


def place_of(filename: str, line: int) -> str:
    """Return file and line, of this package from its folder on."""
    path = Path(filename)
    if path.is_relative_to(PACKAGE):
        path = path.relative_to(PACKAGE.parent)
    return f"{path.as_posix()}:{line}"


class Expressions:
    """Returns the values of expressions, for a `fractals.backends.opencl.writer.Writer`.

    What a value needs before it, such as a struct that is read twice, becomes a line of its own.
    """

    program: Any  # a `fractals.backends.opencl.translate.Translation`
    _function: Any
    _code: Any  # of the function
    _line: int  # of the source text, that is translated
    _outer: dict[str, Any]  # what the function encloses
    _types: dict[str, Any]  # of parameters and variables
    _lines: list[str]
    _calls: list[Any]  # functions that are called
    _block: tuple[int, ...]  # numbers of the blocks around
    _seen: dict[str, list[tuple[tuple[int, ...], bool]]]  # blocks that use a variable
    _temporary: int

    def fail(self, what: str) -> NoReturn:
        """Raise the error about what the translator does not know."""
        place = place_of(self._code.co_filename, self._line)
        raise DeviceError(f"{place}: the translator to OpenCL C does not know {what}")

    def divides(self) -> None:
        """Note that the program divides, or takes a root, in float32."""
        place = place_of(self._code.co_filename, self._line)
        self.program.divides = self.program.divides or place

    def _write(self, text: str) -> None:
        self._lines.append(f"{INDENT * (len(self._block) + 1)}{text}")

    def _truth(self, value: Value) -> bool:
        return bool(value.type.value if isinstance(value.type, Static) else value.number)

    def _new(self, base: str) -> str:
        taken = set(map(safe, self._code.co_varnames))
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
            return Value(kind, safe(name))
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
            Value(kind) if isinstance(kind, Static) else Value(kind, f"{value.text}.{safe(name)}")
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
            numbers: list[Any] = [each and self._constant(each) for each in bounds]
            return self.made(self.items(value)[slice(*numbers)])
        index = self.value(node.slice)
        if index.number is not None:
            return self.items(value)[int(index.number)]
        if len(set(value.type.items)) != 1:
            self.fail(f"a part of {value.type} whose number, {index.text}, varies")
        kind, name = value.type.items[0], self.program.name_of(value.type)
        names = value.type.names or [f"v{k}" for k in range(len(value.type.items))]
        chosen = "".join(f"k == {k} ? t.{safe(n)} : " for k, n in enumerate(names[:-1]))
        self.program.helper(
            f"part_of_{name}",
            f"static inline {self.program.name_of(kind)} part_of_{name}(const {name} t, "
            f"const long k) {{\n{INDENT}return {chosen}t.{safe(names[-1])};\n}}\n",
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
            if index.number is not None and index.number < 0:
                self.fail("an index below 0")
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
        elif kind not in ("bool", _c_type(a)) and (sign in SHIFTS or _c_type(b) != kind):
            a = Value(kind, f"({kind}){a.at(UNARY)}", UNARY)  # C would compute in 32 bits
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
        if isinstance(operation, ast.In | ast.NotIn):
            a = self._kept(a, "t")
            found = known(False)
            for item in self.items(b):
                found = self._both(found, self._compared(ast.Eq(), a, item), "||")
            if isinstance(operation, ast.In):
                return found
            if found.number is not None:
                return known(not found.number)
            return Value("bool", f"!({found.text})", UNARY)
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
        count = function.__code__.co_argcount
        if rest := arguments[count:]:
            arguments = (*arguments[:count], self.made(rest))
        texts = [self.text(v) for v in arguments if not isinstance(v.type, Static)]
        return Value(translated.result, f"{translated.name}({', '.join(texts)})")

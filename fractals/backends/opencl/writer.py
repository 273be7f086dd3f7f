"""Translates one function of Python to C, for arguments of certain types."""

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import numpy as np

from fractals.backends.opencl.values import (
    BITWISE,
    EQUAL,
    HELPERS,
    IN_C,
    INTRINSICS,
    OPERATORS,
    REALS,
    SIGNED,
    UNARY,
    UNSIGNED,
    ArrayType,
    Static,
    TupleType,
    Value,
    between,
    chosen,
    joined,
    known,
    literal,
    place_of,
    safe,
    stored,
    tree_of,
    tuple_type,
)
from fractals.errors import DeviceError

INDENT = "    "
T = TypeVar("T")
DONE, OPEN = True, False  # whether a block always ends before its last line


@dataclass(eq=False)
class Translated:
    """A function in C."""

    name: str
    result: Any  # its type; None where it returns nothing, a Static where it returns what is known
    text: str = ""
    calls: list["Translated"] = field(default_factory=list)


class Writer:
    """Translates one function for arguments of certain types.

    The function is gone through until the types of its variables no longer change. What a value
    needs before it, such as a struct that is read twice, becomes a line of its own.
    """

    def __init__(self, program: Any, function: Any, types: tuple[Any, ...]) -> None:
        self.program, self.dialect = program, program.dialect
        self._function, self._code = function, function.__code__
        self._tree, self._line = tree_of(function), self._code.co_firstlineno
        closure = zip(self._code.co_freevars, function.__closure__ or (), strict=True)
        self._outer = {name: cell.cell_contents for name, cell in closure}
        self._types: dict[str, Any] = self._parameters(types)  # of parameters and variables
        names = [name for name in self._code.co_varnames if name != "_"]
        if len(set(map(safe, names))) < len(names):
            self.fail("two names that are one in C")
        self._given = list(self._types)
        self._result: Any = ()  # (): none is known yet
        self._lines: list[str] = []
        self._calls: list[Translated] = []
        self._depth = self._temporary = 0

    def _parameters(self, types: tuple[Any, ...]) -> dict[str, Any]:
        code, count = self._code, self._code.co_argcount
        rest = bool(code.co_flags & inspect.CO_VARARGS)
        if len(types) < count or (len(types) > count and not rest) or code.co_kwonlyargcount:
            self.fail(f"how to call {code.co_name} with {len(types)} arguments")
        found = dict(zip(code.co_varnames, types[:count], strict=False))
        if rest:
            more = types[count:]
            found[code.co_varnames[count]] = TupleType(more) if more else Static(())
        return found

    def written(self) -> Translated:
        """Return the function in C."""
        for _ in range(20):
            before = dict(self._types), self._result
            self._lines, self._calls, self._depth, self._temporary = [], [], 1, 0
            if isinstance(self._tree, ast.Lambda):
                self._give(self.value(self._tree.body))
            else:
                self._all(self._tree.body)
            if before == (self._types, self._result):
                break
        else:
            self.fail(f"the types of {self._code.co_name}")
        module = self._function.__module__ or "own"
        file, own = module.rpartition(".")[2].strip("_"), self._code.co_name.strip("<>")
        name = self.program.free(own if own == file else f"{file}_{own}")
        result = None if self._result == () else self._result
        if isinstance(result, Static):
            return Translated(name, result)
        typed = {
            safe(n): self.program.name_of(kind)
            for n, kind in self._types.items()
            if not isinstance(kind, Static)
        }
        own_names = [n for n in typed if n not in map(safe, self._given)]
        declared = [
            f"{INDENT}{kind} {', '.join(n for n in own_names if typed[n] == kind)};"
            for kind in dict.fromkeys(typed[n] for n in own_names)
        ]
        parameters = ", ".join(f"{typed[n]} {n}" for n in map(safe, self._given) if n in typed)
        shape = self.program.name_of(result) if result else "void"
        place = place_of(self._code.co_filename, self._code.co_firstlineno)
        head = f"// {place}\nstatic inline {shape} {name}({parameters}) {{\n"
        text = head + "\n".join((*declared, *self._lines)) + "\n}\n"
        return Translated(name, result, text, self._calls)

    def fail(self, what: str) -> NoReturn:
        """Raise the error about what the translator does not know."""
        place = place_of(self._code.co_filename, self._line)
        raise DeviceError(f"{place}: the translator to {self.dialect.name} does not know {what}")

    def divides(self) -> None:
        """Note that the program divides, or takes a root, in float32."""
        place = place_of(self._code.co_filename, self._line)
        self.program.divides = self.program.divides or place

    # Lines.

    def _write(self, text: str) -> None:
        self._lines.append(f"{INDENT * self._depth}{text}")

    def _apart(self, make: Callable[[Any], T], node: Any) -> tuple[T, list[str]]:
        """Return what a function makes of a node, and the lines it writes as an inner block."""
        before, self._lines = self._lines, []
        self._depth += 1
        made = make(node)
        self._depth -= 1
        lines, self._lines = self._lines, before
        return made, lines

    def _new(self, base: str) -> str:
        taken = set(map(safe, self._code.co_varnames))
        while True:
            self._temporary += 1
            if (name := f"{base}{self._temporary}") not in taken:
                return name

    def _kept(self, value: Value, base: str = "t", always: bool = False) -> Value:
        """Return a value that may be read several times, or later."""
        if value.is_known or (re.fullmatch(r"[\w.]+", value.text) and not always):
            return value
        name = self._new(base)
        self._write(f"const {self.program.name_of(value.type)} {name} = {self.text(value)};")
        return Value(value.type, name)

    def _all(self, statements: Sequence[ast.stmt]) -> bool:
        return any(self._statement(each) for each in statements)

    def _statement(self, node: Any) -> bool:
        self._line = node.lineno
        name = f"_{type(node).__name__.lower()}"
        if not hasattr(self, name):
            self.fail(f"'{type(node).__name__}'")
        return bool(getattr(self, name)(node))

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            text = self.value(node.value).text
            self._write(f"{text};")

    def _return(self, node: ast.Return) -> bool:
        if node.value:
            self._give(self.value(node.value))
        else:
            self._write("return;")
        return DONE

    def _give(self, value: Value) -> None:
        kind = value.type if self._result == () else joined(self._result, value.type)
        if kind is None:
            self.fail(f"a function that returns {self._result} and {value.type}")
        self._result = kind
        if not isinstance(kind, Static):
            self._write(f"return {self.given(value, kind).text};")

    def _break(self, node: ast.Break | ast.Continue) -> bool:
        self._write(f"{type(node).__name__.lower()};")
        return DONE

    _continue = _break

    def _if(self, node: ast.If) -> bool:
        condition = self.value(node.test)
        if condition.is_known:
            return self._all(node.body if condition.truth else node.orelse)
        self._write(f"if ({condition.text}) {{")
        first, lines = self._apart(self._all, node.body)
        second, others = self._apart(self._all, node.orelse)
        self._lines += lines
        if others:
            self._write("} else {")
            self._lines += others
        self._write("}")
        return first and second

    def _while(self, node: ast.While) -> None:
        condition = self._inline(node.test)
        if node.orelse:
            self.fail("'else' of a loop")
        if condition.is_known and not condition.truth:
            return
        self._write(f"while ({condition.text}) {{")
        self._lines += self._apart(self._all, node.body)[1]
        self._write("}")

    def _for(self, node: ast.For) -> None:
        call: Any = node.iter
        is_range = isinstance(call, ast.Call) and self.value(call.func).type == Static(range)
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            self.fail("a loop that is not 'for name in range(...)'")
        bounds, name = [self.value(each) for each in call.args], node.target.id
        begin, end = (literal(0, "long"), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else literal(1, "long")
        changed = stored(*node.body)
        end, step = (
            self._kept(each, base, always=True) if each.words() & changed else each
            for each, base in ((end, "end"), (step, "stride"))
        )
        if name != "_" and (name in self._types or safe(name) in changed):
            self.fail(f"the variable of a loop, {name}, that is used elsewhere")
        own, self._types[name] = self._new("k") if name == "_" else safe(name), "long"
        sign = ">" if step.number is not None and step.number < 0 else "<"
        more = f"{own} += {step.text}"
        if step.number is not None and abs(step.number) == 1:
            more = f"{own}{'++' if step.number > 0 else '--'}"
        self._write(f"for (long {own} = {begin.text}; {own} {sign} {end.at(11)}; {more}) {{")
        self._lines += self._apart(self._all, node.body)[1]
        self._write("}")
        self._types.pop(name, None)  # behind the loop it has another value in Python

    # Assignments.

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if len(node.targets) > 1:
            value = self._kept(value)
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
        if isinstance(target, ast.Tuple):
            parts = self.items(value)
            if len(parts) != len(target.elts):
                self.fail(f"how to take {len(target.elts)} values from {len(parts)}")
            for k, part in enumerate(parts):  # what an earlier target changes is kept before
                if part.words() & stored(*target.elts[:k]):
                    parts[k] = self._kept(part, always=True)
            for each, part in zip(target.elts, parts, strict=True):
                self._store(each, part)
        elif isinstance(target, ast.Subscript):
            array = self.value(target.value)
            cell = self.element(array, self._indices(target.slice))
            self._write(f"{cell.text} = {self.given(value, array.type.element).text};")
        elif not isinstance(target, ast.Name):
            self.fail(f"an assignment to '{ast.unparse(target)}'")
        elif target.id != "_":
            name, before = target.id, self._types.get(target.id)
            kind = value.type if before is None else joined(before, value.type)
            if kind is None:
                self.fail(f"a variable, {name}, that is {before} and {value.type}")
            self._types[name] = kind
            if not isinstance(kind, Static):
                self._write(f"{safe(name)} = {self.given(value, kind).text};")

    # Expressions.

    def text(self, value: Value) -> str:
        """Return the text of a value; that of a tuple makes a struct."""
        if value.items is None:
            return value.text
        pairs = zip(value.items, value.type.items, strict=True)
        parts = (self.given(item, kind).text for item, kind in pairs)
        return str(self.dialect.made.format(self.program.name_of(value.type), ", ".join(parts)))

    def value(self, node: Any) -> Value:
        """Return the value of an expression."""
        self._line = getattr(node, "lineno", self._line)
        name = f"_of_{type(node).__name__.lower()}"
        if not hasattr(self, name):
            self.fail(f"'{ast.unparse(node)}'")
        value: Value = getattr(self, name)(node)
        return value

    def _inline(self, node: Any) -> Value:
        """Return the value of an expression that C computes later, or not at all."""
        value, lines = self._apart(self.value, node)
        if lines:
            self.fail(f"'{ast.unparse(node)}' within a condition: assign it to a variable before")
        return value

    def _of_constant(self, node: ast.Constant) -> Value:
        return known(node.value)

    def _of_name(self, node: ast.Name) -> Value:
        name = node.id
        if name in (*self._code.co_varnames, *self._code.co_cellvars):
            if name not in self._types:
                self.fail(f"a value of '{name}' here")
            kind = self._types[name]
            return Value(kind, "" if isinstance(kind, Static) else safe(name))
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
            return self.made(self._sizes(self._kept(value)))
        self.fail(f"'.{node.attr}' of {value.type}")

    def _sizes(self, array: Value) -> list[Value]:
        return [Value("long", f"{array.text}.n{k}") for k in range(array.type.dimensions)]

    def items(self, value: Value) -> list[Value]:
        """Return the parts of a tuple."""
        if isinstance(value.type, Static) and isinstance(value.type.value, tuple):
            return [known(item) for item in value.type.value]
        if value.items is not None:
            return list(value.items)
        if not isinstance(value.type, TupleType):
            self.fail(f"parts of {value.type}")
        value = self._kept(value)
        return [
            Value(kind, "" if isinstance(kind, Static) else f"{value.text}.{name}")
            for kind, name in zip(value.type.items, value.type.fields, strict=True)
        ]

    def made(self, items: Sequence[Value], like: Any = ()) -> Value:
        """Return the tuple of values, named as `like` is."""
        if not items:
            return known(())
        return Value(tuple_type(like, (item.type for item in items)), items=tuple(items))

    def _of_tuple(self, node: ast.Tuple) -> Value:
        return self.made(self._values(node.elts))

    def _values(self, nodes: Sequence[ast.expr]) -> list[Value]:
        found: list[Value] = []
        for each in nodes:
            if isinstance(each, ast.Starred):
                found += self.items(self.value(each.value))
            else:
                found.append(self.value(each))
        return found

    def _of_subscript(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if isinstance(value.type, ArrayType):
            return self.element(value, self._indices(node.slice))
        parts = self.items(value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            numbers: list[Any] = [each and self._constant(each) for each in bounds]
            return self.made(parts[slice(*numbers)])
        index = self._kept(self.value(node.slice), "k")
        if index.number is not None:
            return parts[int(index.number)]
        if len(set(value.type.items)) != 1:
            self.fail(f"a part of {value.type} whose number, {index.text}, varies")
        *parts, found = (self.given(part, part.type) for part in parts)
        for k in reversed(range(len(parts))):
            here = between("bool", index, "==", literal(k, "long"))
            found = chosen(found.type, here, parts[k], found)
        return found

    def _constant(self, node: Any) -> int:
        number = self.value(node).number
        if number is None:
            self.fail(f"a part of a tuple whose number, '{ast.unparse(node)}', is not known before")
        return int(number)

    def _indices(self, node: Any) -> list[Value]:
        return [self.value(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]

    def element(self, array: Value, indices: Sequence[Value]) -> Value:
        """Return an element of an array, or the array of the elements with these first indices."""
        if not isinstance(array.type, ArrayType) or len(indices) > array.type.dimensions:
            self.fail(f"{len(indices)} indices of {array.type}")
        array, place = self._kept(array), literal(0, "long")
        sizes, rest = self._sizes(array), array.type.dimensions - len(indices)
        for k, size in enumerate(sizes):
            if place.number != 0:
                place = between("long", place, "*", size)
            if k < len(indices):
                index = indices[k]
                if index.type in REALS or not isinstance(index.type, str):
                    self.fail(f"an index of type {index.type}")
                if index.number is not None and index.number < 0:
                    self.fail("an index below 0")
                place = index if place.number == 0 else between("long", place, "+", index)
        if not rest:
            return Value(array.type.element, f"{array.text}.data[{place.text}]")
        kind = ArrayType(array.type.element, rest)
        parts = [f"{array.text}.data + {place.at(12)}", *(size.text for size in sizes[-rest:])]
        return Value(kind, self.dialect.made.format(self.program.name_of(kind), ", ".join(parts)))

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            if value.is_known:
                return known(not value.truth)
            return Value("bool", f"!{value.at(UNARY + 1)}", UNARY)
        if not isinstance(node.op, ast.USub):
            self.fail(f"'{ast.unparse(node)}'")
        value = self.cast(value, self.arithmetic(value, value))
        if value.number is not None:
            with np.errstate(all="ignore"):
                return literal(-value.number, value.type)
        return Value(value.type, f"-{value.at(UNARY + 1)}", UNARY)

    def arithmetic(self, a: Value, b: Value) -> str:
        """Return the type of a sum or product, by Numba's rules."""
        numbers = isinstance(a.type, str) and isinstance(b.type, str)
        kind = joined(a.type, b.type) if numbers else None
        if kind is None:
            self.fail(f"arithmetic of {a.type} and {b.type}")
        if kind in REALS:
            return str(kind)
        return "ulong" if a.type in UNSIGNED and b.type in UNSIGNED else "long"

    def _of_binop(self, node: ast.BinOp) -> Value:
        left = self.value(node.left)
        return self.binary(node.op, left, self.value(node.right))

    def binary(self, operation: ast.operator, a: Value, b: Value) -> Value:
        """Return the value of an operator between two values."""
        sign, function = OPERATORS[type(operation)]
        if sign == "+" and all(
            isinstance(v.type, TupleType) or v.type == Static(()) for v in (a, b)
        ):
            return self.made([*self.items(a), *self.items(b)])
        if sign in BITWISE and a.type == b.type == "bool":
            kind = "bool"
        elif sign in BITWISE and "ulong" in (a.type, b.type):
            kind = "ulong"
        else:
            kind = self.arithmetic(a, b)
        if kind not in REALS and (sign == "/" or (sign == "**" and (b.number or 0) < 0)):
            kind = "double"
        if sign in BITWISE and kind in REALS:
            self.fail(f"'{sign}' of {a.type} and {b.type}")
        if a.number is not None and b.number is not None:
            p, q = self.cast(a, kind).number, self.cast(b, kind).number
            if kind not in (*REALS, "bool"):
                p, q = int(p), int(q)
            with np.errstate(all="ignore"):
                return literal(function(p, q), kind)
        if sign == "**" or (sign in IN_C and kind not in ("long", "ulong")):
            self.fail(f"'{sign}' of a number that is not known before, of type {kind}")
        if sign in IN_C and kind == "ulong":
            sign = sign[0]  # C's own: no number is negative, so all quotients are rounded down
        elif sign in IN_C:
            self.program.helper(IN_C[sign], HELPERS[IN_C[sign]])
            return Value(kind, f"{IN_C[sign]}({a.text}, {b.text})")
        if sign == "/" and kind == "float":
            self.divides()
        if kind in REALS:
            a, b = self.cast(a, kind), self.cast(b, kind)
        elif kind != "bool" and not any(
            self._is_wide(v, kind) for v in (a, a if sign in ("<<", ">>") else b)
        ):
            a = Value(kind, f"({kind}){a.at(UNARY)}", UNARY)  # C would compute in 32 bits
        if sign == "*" and kind == "long" and "L" in (a.text[-1], b.text[-1]):
            # The product may pass 64 bits, and only that of unsigned numbers then wraps in C.
            product = between(kind, Value(kind, f"(ulong){a.at(UNARY)}", UNARY), sign, b)
            return Value(kind, f"(long)({product.text})", UNARY)
        return between(kind, a, sign, b)

    def _is_wide(self, value: Value, kind: str) -> bool:
        """Tell whether C sees a type in an expression: a short literal is an int."""
        return value.type == kind and (value.number is None or value.text[-1] == "L")

    def _of_compare(self, node: ast.Compare) -> Value:
        left, found = self.value(node.left), literal(True, "bool")
        for operation, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            if len(node.ops) > 1:
                right = self._kept(right)
            found = self._both(found, self._compared(operation, left, right), "&&")
            left = right
        return found

    def _compared(self, operation: ast.cmpop, a: Value, b: Value) -> Value:
        if isinstance(operation, ast.Is | ast.IsNot):
            same = a.type == b.type and isinstance(a.type, Static)
            return known(same == isinstance(operation, ast.Is))
        if isinstance(operation, ast.In):
            a, found = self._kept(a), literal(False, "bool")
            for item in self.items(b):
                found = self._both(found, self._compared(ast.Eq(), a, item), "||")
            return found
        if type(operation) not in OPERATORS:
            self.fail(f"'{type(operation).__name__}'")
        sign, function = OPERATORS[type(operation)]
        if isinstance(a.type, Static) and isinstance(b.type, Static):
            return known(bool(function(a.type.value, b.type.value)))
        kind = "bool" if a.type == b.type == "bool" else self.arithmetic(a, b)
        if a.number is not None and b.number is not None:
            return known(bool(function(self.cast(a, kind).number, self.cast(b, kind).number)))
        if kind in REALS:
            a, b = self.cast(a, kind), self.cast(b, kind)
        return between("bool", self._beside(a, b), sign, self._beside(b, a))

    def _beside(self, value: Value, other: Value) -> Value:
        """Return a whole number as C compares or chooses it rightly beside another one.

        C takes an int beside a uint to be unsigned, too, so -1 would be above all uints.
        """
        below = other.type in SIGNED if other.number is None else other.number < 0
        return self.cast(value, "long") if value.type == "uint" and below else value

    def _both(self, a: Value, b: Value, sign: str) -> Value:
        for one, other in ((a, b), (b, a)):
            if one.is_known:
                return one if one.truth == (sign == "||") else other
        return between("bool", a, sign, b)

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        sign = "&&" if isinstance(node.op, ast.And) else "||"
        found = self.value(node.values[0])
        for each in node.values[1:]:
            if found.is_known and found.truth == (sign == "||"):
                return found
            if found.is_known:
                found = self.value(each)
            else:
                found = self._both(found, self._inline(each), sign)
        return found

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        condition = self.value(node.test)
        if condition.is_known:
            return self.value(node.body if condition.truth else node.orelse)
        a, b = self._inline(node.body), self._inline(node.orelse)
        kind = self.common(a, b)
        if isinstance(kind, Static):
            return a
        return self.chosen(kind, condition, a, b)

    def chosen(self, kind: Any, condition: Value, a: Value, b: Value) -> Value:
        """Return one of two values, as one of a type."""
        a, b = self._beside(a, b), self._beside(b, a)
        return chosen(kind, condition, self.given(a, kind), self.given(b, kind))

    # Types.

    def common(self, *values: Value) -> Any:
        """Return the type that holds each of the values."""
        kind = values[0].type
        for value in values[1:]:
            kind = joined(kind, value.type)
            if kind is None:
                self.fail(f"a value that is {values[0].type} or {value.type}")
        return kind

    def given(self, value: Value, kind: Any) -> Value:
        """Return a value where one of a type is expected, to which C converts whole numbers."""
        both = isinstance(value.type, str) and isinstance(kind, str)
        if both and value.number is None and not {kind, value.type} & {*REALS, "bool"}:
            return value
        return self.cast(value, kind)

    def cast(self, value: Value, kind: Any) -> Value:
        """Return a value converted to a type."""
        if isinstance(kind, TupleType):
            if value.type == kind and value.items is None:
                return value
            parts = zip(self.items(value), kind.items, strict=True)
            items = tuple(self.cast(part, own) for part, own in parts)
            return Value(kind, self.text(Value(kind, items=items)))
        if value.type == kind:
            return value
        if not (isinstance(kind, str) and isinstance(value.type, str)):
            self.fail(f"how {value.type} becomes {kind}")
        if value.number is not None:
            whole = kind not in (*REALS, "bool")
            return literal(int(value.number) if whole else value.number, kind)
        if kind == "bool":
            return Value("bool", f"{value.at(EQUAL + 1)} != 0", EQUAL)
        return Value(kind, f"({kind}){value.at(UNARY)}", UNARY)

    # Calls.

    def _of_call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        if not isinstance(function.type, Static):
            self.fail(f"a call of '{ast.unparse(node.func)}'")
        if node.keywords:
            self.fail("arguments given by name")
        return self.call(function.type.value, self._values(node.args))

    def call(self, function: Any, arguments: Sequence[Value]) -> Value:
        """Return the result of a call."""
        make = INTRINSICS.get(function) if function.__hash__ else None
        if make:
            made: Value = make(self, *arguments)
            return made
        if isinstance(function, type) and issubclass(function, tuple):
            return self.made(arguments, function)
        if not hasattr(function, "__code__"):
            self.fail(f"the function {getattr(function, '__name__', function)}")
        line = self._line
        translated = self.program.function(function, tuple(value.type for value in arguments))
        self._line = line
        if translated not in self._calls:
            self._calls.append(translated)
        if isinstance(translated.result, Static):
            return Value(translated.result)
        count = function.__code__.co_argcount
        if rest := arguments[count:]:
            arguments = [*arguments[:count], self.made(rest)]
        texts = [self.text(v) for v in arguments if not isinstance(v.type, Static)]
        return Value(translated.result, f"{translated.name}({', '.join(texts)})")

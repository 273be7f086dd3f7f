"""Translates one function of Python to OpenCL C, for arguments of certain types."""

import ast
import functools
import inspect
import linecache
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fractals.backends.opencl.expressions import INDENT, Expressions, place_of
from fractals.backends.opencl.values import (
    Static,
    TupleType,
    Value,
    joined,
    literal,
    safe,
)
from fractals.errors import DeviceError

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


@dataclass
class Translated:
    """A function in C."""

    name: str
    result: Any  # its type; None where it returns nothing, a Static where it returns what is known
    text: str = ""
    calls: list["Translated"] = field(default_factory=list)


DONE, OPEN = True, False  # whether a block always ends before its last line


class Writer(Expressions):
    """Translates one function for arguments of certain types.

    The function is gone through until the types of its variables no longer change. The last pass
    writes it; the pass before has noted in which block each variable is declared.
    """

    def __init__(self, program: Any, function: Any, types: tuple[Any, ...]) -> None:
        self.program, self._function, self._code = program, function, function.__code__
        self._tree, self._line = tree_of(function), function.__code__.co_firstlineno
        closure = zip(self._code.co_freevars, function.__closure__ or (), strict=True)
        self._outer = {name: cell.cell_contents for name, cell in closure}
        self._types: dict[str, Any] = self._parameters(types)
        names = [name for name in self._code.co_varnames if name != "_"]
        if len(set(map(safe, names))) < len(names):
            self.fail("two names that are one in C")
        self._given = dict(self._types)
        self._result: Any = ()  # (): none is known yet

    def _parameters(self, types: tuple[Any, ...]) -> dict[str, Any]:
        code, count = self._code, self._code.co_argcount
        rest = bool(code.co_flags & inspect.CO_VARARGS)
        if len(types) < count or (len(types) > count and not rest) or code.co_kwonlyargcount:
            self.fail(f"how to call {code.co_name} with {len(types)} arguments")
        found = dict(zip(code.co_varnames, types[:count], strict=False))
        if rest:
            found[code.co_varnames[count]] = (
                TupleType(types[count:]) if types[count:] else Static(())
            )
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
            f"{self.program.name_of(self._types[n])} {safe(n)}"
            for n, kind in self._given.items()
            if not isinstance(kind, Static)
        ]
        hoisted = [
            f"{INDENT}{self.program.name_of(self._types[n])} {safe(n)};"
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
        self._line = node.lineno
        name = f"_{type(node).__name__.lower()}"
        if not hasattr(self, name):
            self.fail(f"'{type(node).__name__}'")
        return bool(getattr(self, name)(node))

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
        call: Any = node.iter
        is_range = isinstance(call, ast.Call) and self.value(call.func).type == Static(range)
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            self.fail("a loop that is not 'for name in range(...)'")
        bounds = [self.value(each) for each in call.args]
        begin, end = (literal(0, "long"), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else literal(1, "long")
        name = node.target.id
        changed = {
            safe(each.id)
            for part in node.body
            for each in ast.walk(part)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        end, step = (
            self._kept(each, base, always=each.text.partition(".")[0] in changed)
            for each, base in ((end, "end"), (step, "stride"))
        )
        plain = name != "_" and self._loop_alone(name)
        variable = safe(name) if plain else self._new("k")
        sign = ">" if step.number is not None and step.number < 0 else "<"
        more = f"{variable} += {step.text}"
        if step.number is not None and abs(step.number) == 1:
            more = f"{variable}{'++' if step.number > 0 else '--'}"
        head = f"long {variable} = {begin.text}; {variable} {sign} {end.at(11)}; {more}"
        self._write(f"for ({head}) {{")
        with self._inner():
            if plain:
                self._types[name] = "long"
                self._seen.setdefault(name, []).append((self._block, True))
            elif name != "_":
                self._store_name(name, Value("long", variable))
            self._all(node.body)
        self._write("}")

    def _loop_alone(self, name: str) -> bool:
        """Tell whether a variable is that of loops alone, and only read within them."""
        nodes = list(ast.walk(self._tree))
        loops = [n for n in nodes if isinstance(n, ast.For) and getattr(n.target, "id", "") == name]
        inside = [
            each
            for loop in loops
            for part in loop.body
            for each in ast.walk(part)
            if getattr(each, "id", "") == name
        ]
        uses = sum(getattr(each, "id", "") == name for each in nodes)
        read = all(isinstance(getattr(each, "ctx", None), ast.Load) for each in inside)
        return read and uses == len(loops) + len(inside)

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
                        else {safe(n.id) for n in ast.walk(each) if isinstance(n, ast.Name)}
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
        new = name not in self._given and name not in self._seen
        declares = new and self._declared.get(name) == self._block
        self._seen.setdefault(name, []).append((self._block, True))
        text = self.given(value, kind).text
        what = f"{self.program.name_of(kind)} " if declares else ""
        self._write(f"{what}{safe(name)} = {text};")

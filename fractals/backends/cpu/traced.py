"""Functions without branches are compiled by running them once, with values not known yet.

Numba compiles a function from its bytecode, in a dozen passes: that takes 5 to 30 ms, and most
functions of a program are a few lines of arithmetic. Such a function is run by Python instead. Its
arguments are values that record what is done with them (a *trace*), and LLVM's instructions are
made from the record where the function is called. Numba is asked for the type and the code of each
operation, so the instructions are those that it would make.

Python decides all that does not depend on a value: closure constants, loops of fixed length,
tuples. A function that asks whether a value is true, or how large it is, has no trace: Numba
compiles it.
"""

import builtins
import operator
import types as python_types
import weakref
from collections import ChainMap
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import extending as numba_extending
from numba.core.registry import cpu_target
from numba.core.typing import templates
from numba.extending import lower_builtin

# Operations of a trace. A longer one is a loop, which Numba compiles in less time.
MAX_OPERATIONS = 1000


class Untraceable(Exception):
    """A function branches on a value, or does what has no operation."""


class Value:
    """A value in a trace that is not known before the program runs."""

    __slots__ = ("kind", "place", "trace")
    __array_ufunc__ = None  # NumPy's numbers leave operations to this class

    def __init__(self, trace: "Trace", kind: Any) -> None:
        self.trace, self.kind, self.place = trace, kind, trace.places
        trace.places += 1

    def __getitem__(self, index: Any) -> Any:
        return self.trace.call(operator.getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.trace.call(operator.setitem, self, index, value)

    def __getattr__(self, name: str) -> Any:
        return self.trace.attribute(self, name)

    def __bool__(self) -> bool:
        raise Untraceable

    __iter__ = __len__ = __index__ = __int__ = __float__ = __bool__  # type: ignore[assignment]


def _operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "and_", "or_", "xor", "lshift", "rshift"):
        apply = getattr(operator, name)
        own = name.strip("_")
        setattr(Value, f"__{own}__", lambda a, b, apply=apply: a.trace.call(apply, a, b))
        setattr(Value, f"__r{own}__", lambda b, a, apply=apply: b.trace.call(apply, a, b))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        apply = getattr(operator, name)
        setattr(Value, f"__{name}__", lambda a, b, apply=apply: a.trace.call(apply, a, b))
    for name, apply in (("neg", operator.neg), ("invert", operator.invert), ("abs", abs)):
        setattr(Value, f"__{name}__", lambda a, apply=apply: a.trace.call(apply, a))


_operators()


class Trace:
    """What a function does with arguments of some types.

    Attributes
    ----------
    steps : list of callable
        ``step(context, builder, known)`` makes the instructions of an operation from the LLVM
        values `known`, in the order of `Value.place`, and appends its results to `known`.
    result : Value, constant or tuple
    kind : numba.types.Type
        The type of the result.
    """

    def __init__(self, function: Any, context: Any, kinds: tuple[Any, ...]) -> None:
        self.context, self.places = context, 0
        self.steps: list[Callable[[Any, Any, list[Any]], None]] = []
        arguments = [Value(self, kind) for kind in kinds]
        self.result = _plain(function)(*map(self._argument, arguments))
        self.kind = types.none
        if self.result is not None:
            kind, self._maker = self._operand(self.result)
            self.kind = types.unliteral(kind)

    def _argument(self, value: Value) -> Any:
        if isinstance(value.kind, types.Literal):
            return value.kind.literal_value
        if isinstance(value.kind, types.Function):
            return value.kind.typing_key
        return self._parts(value)

    def _step(self, step: Callable[[Any, Any, list[Any]], None]) -> None:
        if len(self.steps) >= MAX_OPERATIONS:
            raise Untraceable
        self.steps.append(step)

    def _parts(self, whole: Value) -> Any:
        """Return a tuple as a tuple of Python, and other values as they are."""
        kind, place = whole.kind, whole.place
        if not isinstance(kind, types.BaseTuple):
            return whole

        def unpack(_context: Any, builder: Any, known: list[Any]) -> None:
            for k in range(len(kind)):
                known.append(builder.extract_value(known[place], k))

        if len(kind):
            self._step(unpack)
        parts = [Value(self, part) for part in kind]
        found = [self._parts(part) for part in parts]
        return kind.instance_class(*found) if isinstance(kind, types.BaseNamedTuple) else (*found,)

    def _operand(self, value: Any) -> tuple[Any, Callable[[Any, Any, list[Any]], Any]]:
        """Return the type of an operand, and what makes its LLVM value."""
        if isinstance(value, Value):
            place = value.place
            return value.kind, lambda _context, _builder, known: known[place]
        if isinstance(value, tuple):
            operands = [self._operand(part) for part in value]
            kinds = [types.unliteral(kind) for kind, _ in operands]
            named = type(value) is not tuple
            whole = types.BaseTuple.from_types(kinds, type(value) if named else None)

            def make(context: Any, builder: Any, known: list[Any]) -> Any:
                parts = [part(context, builder, known) for _, part in operands]
                return context.make_tuple(builder, whole, parts)

            return whole, make
        if isinstance(value, _Known):
            value = value.function
        kind = types.maybe_literal(value) or self.context.resolve_value_type(value)
        if isinstance(kind, types.Function):
            return kind, lambda context, _builder, _known: context.get_dummy_value()
        plain = types.unliteral(kind)
        return kind, lambda context, builder, _known: context.get_constant_generic(
            builder, plain, value
        )

    def call(self, function: Any, *arguments: Any) -> Any:
        """Record a call of a function that Numba knows; return its result."""
        operands = [self._operand(argument) for argument in arguments]
        kinds = tuple(kind for kind, _ in operands)
        whole = self.context.resolve_value_type(function)
        signature = self.context.resolve_function_type(whole, kinds, {})
        if signature is None:
            raise Untraceable
        makers = [maker for _, maker in operands]

        def step(context: Any, builder: Any, known: list[Any]) -> None:
            made = [maker(context, builder, known) for maker in makers]
            for k, (kind, wanted) in enumerate(zip(kinds, signature.args, strict=True)):
                if kind != wanted and not isinstance(wanted, types.Literal):
                    made[k] = context.cast(builder, made[k], types.unliteral(kind), wanted)
            run = context.get_function(whole, signature)
            context.add_linking_libs(getattr(run, "libs", ()))
            known.append(run(builder, made))

        self._step(step)
        result = Value(self, signature.return_type)
        return None if result.kind == types.none else self._parts(result)

    def attribute(self, value: Value, name: str) -> Any:
        """Record the reading of an attribute of an array."""
        kind, place = value.kind, value.place
        found = self.context.resolve_getattr(kind, name)
        if found is None:
            raise Untraceable

        def step(context: Any, builder: Any, known: list[Any]) -> None:
            read = context.get_getattr(kind, name)
            known.append(read(context, builder, kind, known[place], name))

        self._step(step)
        return self._parts(Value(self, found))

    def converted(self, value: Any, wanted: Any) -> Value:
        """Record the conversion of a number to another type."""
        kind, maker = self._operand(value)

        def step(context: Any, builder: Any, known: list[Any]) -> None:
            made = maker(context, builder, known)
            known.append(context.cast(builder, made, kind, wanted))

        self._step(step)
        return Value(self, wanted)

    def inlined(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Record what another function does; if it has no trace, a call of it."""
        steps, places = len(self.steps), self.places
        try:
            return _plain(function)(*arguments)
        except Exception:
            del self.steps[steps:]
            self.places = places
        return self.call(function, *arguments)

    def make(self, context: Any, builder: Any, arguments: Any) -> Any:
        """Return the LLVM value of the result, for those of the arguments."""
        known = list(arguments)
        for step in self.steps:
            step(context, builder, known)
        if self.result is None:
            return context.get_dummy_value()
        return self._maker(context, builder, known)


class _Known:
    """A function as a traced function sees it: calls with values are recorded."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        function, trace = self.function, _trace_of(arguments)
        if trace is None:
            return function(*arguments)
        if isinstance(function, types.Type):
            return trace.converted(*arguments, function)
        if function in _traceable:
            return trace.inlined(function, arguments)
        return trace.call(function, *arguments)


class _Module:
    """A module as a traced function sees it."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _seen(getattr(self._module, name))


def _trace_of(arguments: tuple[Any, ...]) -> Trace | None:
    for part in arguments:
        found = _trace_of(part) if isinstance(part, tuple) else getattr(part, "trace", None)
        if found is not None:
            return found
    return None


def _seen(thing: Any) -> Any:
    """Return a global name's or a closure's content as a traced function sees it."""
    if isinstance(thing, python_types.ModuleType):
        return _Module(thing)
    if not callable(thing) or (isinstance(thing, type) and thing not in (int, float)):
        return thing
    return _Known(thing)


def _plain(function: Any) -> Any:
    """Return the function with all that it calls as a traced function sees it."""
    if function not in _plains:
        own = ChainMap(function.__globals__, vars(builtins))
        seen = {name: _seen(own[name]) for name in _names(function.__code__) if name in own}
        cells = tuple(
            python_types.CellType(_seen(cell.cell_contents)) for cell in function.__closure__ or ()
        )
        code, defaults = function.__code__, function.__defaults__
        _plains[function] = python_types.FunctionType(
            code, seen, function.__name__, defaults, cells
        )
    return _plains[function]


def _names(code: python_types.CodeType) -> set[str]:
    """Return the names in a function, and in those inside it."""
    inner = (part for part in code.co_consts if isinstance(part, python_types.CodeType))
    return {*code.co_names}.union(*map(_names, inner))


_traceable: weakref.WeakSet[Any] = weakref.WeakSet()
_plains: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _declare(function: Any, result: Callable[..., Any]) -> None:
    """Have a function typed on the CPU by ``result(*types)``, before Numba's own declarations.

    `result` returns a type, or None for types that other declarations serve.

    `numba.core.typing.templates.AbstractTemplate`, its `metadata`, `infer`, `infer_global` and
    `signature`; Numba 0.61.2 to 0.68.1. The target "cpu" is more specific than Numba's "generic".
    """
    template = _quick_template(function, result)
    templates.infer(template)
    templates.infer_global(function, types.Function(template))


def _quick_template(function: Any, result: Callable[..., Any]) -> Any:
    def generic(_template: Any, args: Any, kws: Any) -> Any:
        found = None if kws else result(*args)
        return None if found is None else templates.signature(found, *args)

    body = {"key": function, "metadata": {"target": "cpu"}, "generic": generic}
    return type(f"Quick_{function.__name__}", (templates.AbstractTemplate,), body)


def declare_for_now(
    function: Any,
    result: Callable[..., Any],
    lower: Callable[..., Any],
    options: dict[str, Any],
) -> None:
    """Declare a function until `forget`: see `declare`.

    ``lower(context, builder, signature, arguments)`` makes the code of a call. Where `result` gives
    None, Numba compiles the function with these options. `numba.extending` has no such thing: what
    it declares stays for ever, in lists of all targets.

    `make_overload_template`, `insert_global` of the typing context and `insert_func_defn` of
    `CPUContext`, `_overload_default_jit_options`; Numba 0.61.2 to 0.68.1.
    """
    settings = {**numba_extending._overload_default_jit_options, **options}
    other = templates.make_overload_template(
        function, lambda *args, **kwargs: function, settings, False, "never"
    )
    whole = types.Function((_quick_template(function, result), other))
    cpu_target.typing_context.insert_global(function, whole)
    cpu_target.target_context.insert_func_defn([(lower, function, (types.VarArg(types.Any),))])


def forget(function: Any) -> None:
    """Have Numba forget a function of `declare_for_now`, and the code that it made of it.

    `_lookup_global` and `_remove_global` of the typing context, `remove_user_function` and
    `_get_constants` of `CPUContext`, `OverloadSelector._cache`, and `_impl_cache` and the like of
    an overload; Numba 0.61.2 to 0.68.1.
    """
    typing, target = cpu_target.typing_context, cpu_target.target_context
    whole = typing._lookup_global(function)
    for template in whole.templates:
        for name in ("_impl_cache", "_compiled_overloads", "_inline_overloads"):
            vars(template).get(name, {}).clear()  # each refers to itself by way of its code
    typing._remove_global(function)
    target.remove_user_function(function)
    target._get_constants._cache.pop((whole,), None)


def trace(function: Any) -> None:
    """Have calls of a function compiled from its trace, where it has one for their types."""
    if isinstance(function, python_types.FunctionType) and function not in _traceable:
        result, lower = declaration(function)
        _declare(function, result)
        lower_builtin(function, types.VarArg(types.Any))(lower)


def declaration(function: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what tells the type of a call from its trace, and what makes its code."""
    _traceable.add(function)
    traces: dict[tuple[Any, ...], Trace | None] = {}

    def result(*kinds: Any) -> Any:
        if kinds not in traces:
            try:
                traces[kinds] = Trace(function, cpu_target.typing_context, kinds)
            except Exception:
                traces[kinds] = None
        made = traces[kinds]
        return None if made is None else made.kind

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return traces[signature.args].make(context, builder, arguments)  # type: ignore[union-attr]

    return result, lower


# --- The greater and the lesser of two numbers, which Numba takes for functions of any number


def _pair(*kinds: Any) -> Any:
    one, *others = kinds
    same = isinstance(one, types.Integer | types.Float) and others == [one]
    return one if same else None


def _is_less(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.fcmp_ordered("<", a, b)
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    return compare("<", a, b)


def _cast(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """Return the arguments in the type of the result: CUDA's compiler finds this code too."""
    return [
        context.cast(builder, value, kind, signature.return_type)
        for value, kind in zip(args, signature.args, strict=True)
    ]


@lower_builtin(min, types.Number, types.Number)
def _min(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    a, b = _cast(context, builder, signature, args)
    return builder.select(_is_less(builder, signature.return_type, b, a), b, a)


@lower_builtin(max, types.Number, types.Number)
def _max(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    a, b = _cast(context, builder, signature, args)
    return builder.select(_is_less(builder, signature.return_type, a, b), b, a)


_declare(min, _pair)
_declare(max, _pair)

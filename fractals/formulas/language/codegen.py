"""Formulas made of expressions: a tree becomes functions that every backend compiles.

Their text is written from the tree, in real arithmetic with `fma`, and holds nothing that a user
wrote but numbers. A product is never left to be added: a compiler might contract the two.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.kernels import elementary, primitives, space
from fractals.kernels.formula import Formula

Value = tuple[str | None, str | None]  # names of real and imaginary part; None: 0
Leaves = Mapping[Any, str | Value]  # by the name of a variable, or by tree

NAMES = {
    name: getattr(module, name)
    for module, names in (
        (primitives, ("fma", "number", "select", "sqrt", "diffabs")),
        (elementary, ("exp", "sincos", "sinhcosh", "log", "angle", "quotient", "nearest")),
        (space, ("stretch",)),
    )
    for name in names
}
# These functions are inlined, so the compiler takes as long for one as for several operations. An
# operation takes a CPU core about 0.01 s (measured with nested and with added functions).
COSTS = {
    "exp": 10,
    "log": 10,
    "angle": 10,
    "sincos": 10,
    "sinhcosh": 10,
    "quotient": 3,
    "stretch": 70,
}
MAX_COST = 1500  # of step, tangent and start together
Z, DZ, DC, DP = ("z",), ("dz",), ("dc",), ("dp",)


class GivenNumbers:
    """Numbers that trees have as parameters, by name: programs get them when they run.

    The kinds of the numbers decide what is compiled, and not their values: a complex number takes
    two options of the formula, another one takes one.
    """

    def __init__(self, values: Mapping[str, float | complex]) -> None:
        numbers: list[float] = []
        self.leaves: dict[Any, str | Value] = {}
        for name, value in values.items():
            parts = [value.real, value.imag] if isinstance(value, complex) else [value]
            texts = [f"options[{len(numbers) + k}]" for k in range(len(parts))]
            self.leaves["parameter", name] = texts[0], texts[1] if len(texts) > 1 else None
            numbers += map(float, parts)
        self.numbers = tuple(numbers)
        self.last = ", options" if numbers else ""  # the last argument of functions


NONE_GIVEN = GivenNumbers({})


def compose(
    name: str,
    title: str,
    step: str | Tree,
    start: str | Tree = "0",
    parameters: Mapping[str, Any] | None = None,
    given: GivenNumbers = NONE_GIVEN,
    **settings: Any,
) -> Formula:
    """Return the formula of an expression in z, c and p, the z before.

    `start` is an expression in c alone; `given` are the numbers of the parameters in both trees.
    `settings` are other attributes of `fractals.kernels.formula.Formula`. Raises `ValueError` if
    the program of the expressions, with their derivatives, has too many operations; or that the
    step takes p and has no complex derivative.
    """
    tree = syntax.parse(step) if isinstance(step, str) else step
    first = syntax.parse(start) if isinstance(start, str) else start
    if syntax.uses(first, "z") or syntax.uses(first, "p"):
        raise ValueError("start is an expression in c alone")
    holomorphic = syntax.is_holomorphic(tree) and syntax.is_holomorphic(first)
    derivatives = _tangent(tree, holomorphic), _tangent(first, holomorphic)
    check_cost(tree, derivatives[0], first, derivatives[1], given=given)
    before = syntax.uses(tree, "p")
    if before and not holomorphic:
        raise ValueError(
            f"p, the z before, is not available beside {', '.join(syntax.BENT)}: a step with p "
            "needs a complex derivative"
        )
    # p is u + iv, and changes by r + is.
    own, changes = ({"p": "uv"}, {"dp": "rs"}) if before else ({}, {})
    settings = {"degree": syntax.degree_of(tree), "can_return": True, **settings}
    shared, last = given.leaves, given.last
    return Formula(
        name=name,
        title=title,
        step=compiled(
            "step",
            "x, y, a, b" + ", u, v" * before + last,
            {"z": "xy", "c": "ab", **own, **shared},
            (tree,),
        ),
        derivative=None,
        tangent=compiled(
            "tangent",
            "x, y, p, q, a, b, e, f" + ", u, v, r, s" * before + last,
            {"z": "xy", "c": "ab", "dz": "pq", "dc": "ef", **own, **changes, **shared},
            (derivatives[0],),
        ),
        start=_start(first, derivatives[1], given),
        options=given.numbers,
        holomorphic=holomorphic,
        uses_previous=before,
        parameters=parameters or {},
        **settings,
    )


def change_of(first: Tree, given: GivenNumbers = NONE_GIVEN) -> Any:
    """Return `Formula.start` of a tree in c."""
    return _start(first, syntax.change(first, DZ, DC), given)


def _start(first: Tree, change: Tree, given: GivenNumbers) -> Any:
    leaves = {"c": "ab", "dc": "pq", **given.leaves}
    return compiled("start", "a, b, p, q" + given.last, leaves, (first, change))


def _tangent(tree: Tree, holomorphic: bool) -> Tree:
    if not holomorphic:
        return syntax.change(tree, DZ, DC)
    total = syntax.ZERO
    for name, own in zip(syntax.VARIABLES, (DZ, DC, DP), strict=True):
        by_name = syntax.derivative(tree, name)
        total = syntax.plus(total, syntax.times(by_name, own))
    return total


def check_cost(*trees: Tree, given: GivenNumbers = NONE_GIVEN) -> None:
    """Raise a `ValueError` where programs that compute these trees take too long to compile."""
    leaves = {"z": "xy", "c": "ab", "p": "uv", "dz": "pq", "dc": "ef", "dp": "rs", **given.leaves}
    cost = 0
    for tree in trees:
        writer = CodeWriter("x", leaves, MAX_COST)
        writer.value(tree)
        cost += writer.cost
    if cost > MAX_COST:
        raise ValueError(too_much(cost))


def too_much(cost: int) -> str:
    return (
        f"the expression and its derivatives have {cost} operations or more (sin, exp, log and the "
        f"like count {COSTS['exp']}, quotients {COSTS['quotient']}), and {MAX_COST} are the most: "
        "use fewer functions, quotients or powers"
    )


def compiled(name: str, arguments: str, leaves: Leaves, trees: tuple[Tree, ...]) -> Any:
    """Return a function of real numbers that computes the parts of the trees' values."""
    writer = CodeWriter(arguments[0], leaves)
    results = [part or "zero" for tree in trees for part in writer.value(tree)]
    return function(name, arguments, writer.lines, results)


def compiled_reals(
    name: str, arguments: str, leaves: Leaves, parts: Sequence[tuple[Tree, int]]
) -> Any:
    """Return a function that computes one part of each tree's value: 0 the real one."""
    writer = CodeWriter(arguments[0], leaves)
    results = [writer.value(tree)[part] or "zero" for tree, part in parts]
    return function(name, arguments, writer.lines, [", ".join(results) + ","])


def function(name: str, arguments: str, lines: Sequence[str], results: Sequence[str]) -> Any:
    """Return the function of these lines of generated text; ``zero`` is known in them."""
    body = "\n    ".join(
        [f"zero = number(0, {arguments[0]})", *lines, f"return {', '.join(results)}"]
    )
    digest = hashlib.sha256(body.encode()).hexdigest()[:16]
    names = {"__name__": __name__, **NAMES}
    text = f"def {name}_{digest}({arguments}):\n    {body}\n"
    exec(text, names)  # generated text: see the module
    made: Any = names[f"{name}_{digest}"]
    made.text = text  # for compilers that read it, as that to OpenCL C
    return made


class _Lines:
    """Lines of a program of real numbers; what occurs twice is computed once.

    None stands for 0.
    """

    def __init__(self, like: str, most: float) -> None:
        self.like, self.lines = like, list[str]()
        self.cost, self._most = 0, most
        self._known: dict[str, str] = {}

    def let(self, text: str, count: int = 1) -> str:
        """Return the name of a value, or, of a tuple of values, their common beginning."""
        if text not in self._known:
            name = self._known[text] = f"t{len(self.lines)}"
            self.cost += COSTS.get(text.partition("(")[0], 1)
            if self.cost > self._most:
                raise ValueError(too_much(self.cost))
            names = ", ".join(f"{name}{'_' * k}" for k in range(count))
            self.lines.append(f"{names} = {text}")
        return self._known[text]

    def real(self, value: float) -> str | None:
        if not math.isfinite(value):  # its text is no number of Python
            raise ValueError("a number is too large")
        return self.let(f"number({value!r}, {self.like})") if value else None

    def fma(self, a: str | None, b: str | None, c: str | None = None) -> str | None:
        if a is None or b is None:
            return c
        return self.let(f"fma({a}, {b}, {c or 'zero'})")

    def add(self, a: str | None, b: str | None) -> str | None:
        if a is None or b is None:
            return a or b
        return self.let(f"{a} + {b}")

    def minus(self, a: str | None) -> str | None:
        return None if a is None else self.let(f"-{a}")

    def divide(self, a: str | None, b: str) -> str | None:
        return None if a is None else self.let(f"quotient({a}, {b})")

    def half(self, a: str | None) -> str | None:
        return self.fma(a, self.real(0.5))


class _ComplexLines(_Lines):
    """The same for complex numbers, as pairs of real ones."""

    def square_of(self, a: Value) -> str:
        """Return |a|²."""
        return self.fma(a[0], a[0], self.fma(a[1], a[1])) or "zero"

    def size(self, a: Value) -> str:
        """Return |a|."""
        if a[0] is None or a[1] is None:
            return self.let(f"abs({a[0] or a[1] or 'zero'})")
        return self.let(f"sqrt({self.square_of(a)})")

    def multiply(self, a: Value, b: Value, c: Value = (None, None)) -> Value:
        """Return a b + c."""
        low = self.fma(self.minus(a[1]), b[1], c[0])
        if a == b:
            return self.fma(a[0], a[0], low), self.fma(self.add(a[0], a[0]), a[1], c[1])
        return self.fma(a[0], b[0], low), self.fma(a[0], b[1], self.fma(a[1], b[0], c[1]))

    def negative(self, a: Value) -> Value:
        return self.minus(a[0]), self.minus(a[1])

    def over(self, a: Value, b: Value) -> Value:
        """Return a / b."""
        if b[1] is None:
            return tuple(self.divide(part, b[0] or "zero") for part in a)  # type: ignore[return-value]
        size = self.square_of(b)
        above = self.multiply(a, (b[0], self.minus(b[1])))
        return self.divide(above[0], size), self.divide(above[1], size)

    def holds(self, a: Value) -> str:
        """Return whether a condition holds."""
        return self.let(f"{a[0] or 'zero'} != zero")

    def chosen(self, holds: str, a: str | None, b: str | None) -> str | None:
        return (
            None if a is b is None else self.let(f"select({holds}, {a or 'zero'}, {b or 'zero'})")
        )

    def told(self, holds: str) -> Value:
        """Return 1 where a condition holds, and 0 elsewhere."""
        return self.let(f"select({holds}, {self.real(1.0)}, zero)"), None

    def pair(self, function: str, a: str | None) -> tuple[str | None, str]:
        """Return sine and cosine, or the hyperbolic ones."""
        if a is None:
            return None, self.real(1.0) or ""
        name = self.let(f"{function}({a})", 2)
        return name, f"{name}_"


class CodeWriter(_ComplexLines):
    """Writes lines that compute trees.

    `leaves` are the names of both parts of each variable, and of other trees; None: the part is 0.
    """

    def __init__(self, like: str, leaves: Leaves, most: float = math.inf) -> None:
        super().__init__(like, most)
        # Equal trees have one number. It is found from the numbers of their parts, because hashing
        # a whole tree at each of its nodes takes seconds for a third derivative.
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._seen: dict[int, tuple[int, Tree]] = {}  # by id; the tree is kept, so that the id is
        self._values: dict[int, Value] = {
            self.number_of((leaf,) if isinstance(leaf, str) else leaf): (own[0], own[1])
            for leaf, own in leaves.items()
        }

    def number_of(self, tree: Tree) -> int:
        """Return the number of all trees that are equal to this one."""
        if id(tree) not in self._seen:
            parts = (self.number_of(part) if isinstance(part, tuple) else part for part in tree)
            number = self._numbers.setdefault(tuple(parts), len(self._numbers))
            self._seen[id(tree)] = number, tree
        return self._seen[id(tree)][0]

    def value(self, tree: Tree) -> Value:
        """Return the names of both parts of a tree's value, computed once."""
        number = self.number_of(tree)
        if number not in self._values:
            self._values[number] = self._write(tree)
        return self._values[number]

    def _write(self, tree: Tree) -> Value:
        kind = tree[0]
        if kind == "number":
            return self.real(tree[1].real), self.real(tree[1].imag)
        if kind in ("+", "-"):
            return self.sum(tree)
        if kind in METHODS:
            return getattr(self, METHODS[kind])(tree)  # type: ignore[no-any-return]
        if kind in PAIRS:
            return PAIRS[kind](self, self.value(tree[1]), self.value(tree[2]))
        return WRITERS[kind](self, self.value(tree[1]))

    def sum(self, tree: Tree) -> Value:
        """Return a sum or difference; a product in it becomes one with the addition."""
        kind, left, right = tree
        if right[0] == "*" or (right[0] == "power" and right[2] == 2):
            a, b = right[1], right[2] if right[0] == "*" else right[1]
            first = self.value(a) if kind == "+" else self.negative(self.value(a))
            return self.multiply(first, self.value(b), self.value(left))
        other = self.value(right) if kind == "+" else self.negative(self.value(right))
        if left[0] == "*" or (left[0] == "power" and left[2] == 2):
            a, b = left[1], left[2] if left[0] == "*" else left[1]
            return self.multiply(self.value(a), self.value(b), other)
        own = self.value(left)
        return self.add(own[0], other[0]), self.add(own[1], other[1])

    def power(self, tree: Tree) -> Value:
        """Return a whole power, by squaring."""
        base, n = self.value(tree[1]), abs(tree[2])
        if n == 0:
            return self.real(1.0), None
        result = base
        for bit in bin(n)[3:]:
            result = self.multiply(result, result)
            if bit == "1":
                result = self.multiply(result, base)
        return self.over((self.real(1.0), None), result) if tree[2] < 0 else result

    def choice(self, tree: Tree) -> Value:
        """Return the one or the other value; both are computed."""
        holds = self.holds(self.value(tree[1]))
        a, b = self.value(tree[2]), self.value(tree[3])
        return self.chosen(holds, a[0], b[0]), self.chosen(holds, a[1], b[1])

    def along(self, tree: Tree) -> Value:
        """Return how |a| changes with a, 0 at 0."""
        a, da = self.value(tree[1]), self.value(tree[2])
        size = self.size(a)
        toward = self.fma(a[0], da[0], self.fma(a[1], da[1]))
        if toward is None:
            return None, None
        known = self.let(f"{size} > zero")
        below = self.let(f"select({known}, {size}, {self.real(1.0)})")
        return self.let(f"select({known}, {toward} / {below}, zero)"), None


def _sin(to: _ComplexLines, a: Value) -> Value:
    (s, c), (sh, ch) = to.pair("sincos", a[0]), to.pair("sinhcosh", a[1])
    return (to.fma(s, ch) if a[1] else s), to.fma(c, sh)


def _cos(to: _ComplexLines, a: Value) -> Value:
    (s, c), (sh, ch) = to.pair("sincos", a[0]), to.pair("sinhcosh", a[1])
    return (to.fma(c, ch) if a[1] else c), to.minus(to.fma(s, sh))


def _sinh(to: _ComplexLines, a: Value) -> Value:
    (s, c), (sh, ch) = to.pair("sincos", a[1]), to.pair("sinhcosh", a[0])
    return (to.fma(sh, c) if a[1] else sh), to.fma(ch, s)


def _cosh(to: _ComplexLines, a: Value) -> Value:
    (s, c), (sh, ch) = to.pair("sincos", a[1]), to.pair("sinhcosh", a[0])
    return (to.fma(ch, c) if a[1] else ch), to.fma(sh, s)


# Beyond, tan(x + iy) and tanh(y + ix) are i and 1 in all digits, and squares of cosines too large.
STEEPEST = 300.0


def _tan(to: _ComplexLines, a: Value) -> Value:
    a = a[0], _steep(to, a[1])
    return to.over(_sin(to, a), _cos(to, a))


def _tanh(to: _ComplexLines, a: Value) -> Value:
    a = _steep(to, a[0]), a[1]
    return to.over(_sinh(to, a), _cosh(to, a))


def _steep(to: _ComplexLines, part: str | None) -> str | None:
    if part is None:
        return None
    most = to.real(STEEPEST)
    signed = to.let(f"select({part} < zero, -{most}, {most})")
    return to.let(f"select(abs({part}) > {most}, {signed}, {part})")


def _exp(to: _ComplexLines, a: Value) -> Value:
    size = to.let(f"exp({a[0]})") if a[0] else to.real(1.0)
    s, c = to.pair("sincos", a[1])
    return (to.fma(size, c) if a[1] else size), to.fma(size, s)


def _log(to: _ComplexLines, a: Value) -> Value:
    half = to.half(to.let(f"log({to.square_of(a)})"))
    return half, to.let(f"angle({a[0] or 'zero'}, {a[1] or 'zero'})")


def _sqrt(to: _ComplexLines, a: Value) -> Value:
    x, y = a[0] or "zero", a[1] or "zero"
    large = to.let(f"sqrt({to.half(to.let(f'abs({x}) + {to.size(a)}'))})")
    below = to.let(f"select({large} > zero, {large}, {to.real(1.0)})")
    small = to.half(to.let(f"abs({y}) / {below}"))
    right, up = to.let(f"{x} >= zero"), to.let(f"{y} >= zero")
    imaginary = to.let(f"select({right}, {small}, {large})")
    return (
        to.let(f"select({right}, {large}, {small})"),
        to.let(f"select({up}, {imaginary}, -{imaginary})"),
    )


def _turned_i(to: _ComplexLines, a: Value) -> Value:
    """Return i a."""
    return to.minus(a[1]), a[0]


def _asin(to: _ComplexLines, a: Value) -> Value:
    """Return -i log(i a + sqrt(1 - a²))."""
    found = _asinh(to, _turned_i(to, a))
    return found[1], to.minus(found[0])


def _acos(to: _ComplexLines, a: Value) -> Value:
    """Return pi/2 - asin(a)."""
    found = to.negative(_asin(to, a))
    return to.add(to.real(math.pi / 2), found[0]), found[1]


def _asinh(to: _ComplexLines, a: Value) -> Value:
    """Return log(a + sqrt(a² + 1))."""
    root = _sqrt(to, to.multiply(a, a, (to.real(1.0), None)))
    return _log(to, (to.add(a[0], root[0]), to.add(a[1], root[1])))


def _acosh(to: _ComplexLines, a: Value) -> Value:
    """Return log(a + sqrt(a - 1) sqrt(a + 1))."""
    low, high = (_sqrt(to, (to.add(a[0], to.real(by)), a[1])) for by in (-1.0, 1.0))
    return _log(to, to.multiply(low, high, a))


def _atanh(to: _ComplexLines, a: Value) -> Value:
    """Return log((1 + a) / (1 - a)) / 2."""
    one, own = to.real(1.0), to.negative(a)
    over = to.over((to.add(one, a[0]), a[1]), (to.add(one, own[0]), own[1]))
    found = _log(to, over)
    return to.half(found[0]), to.half(found[1])


def _atan(to: _ComplexLines, a: Value) -> Value:
    """Return -i atanh(i a)."""
    found = _atanh(to, _turned_i(to, a))
    return found[1], to.minus(found[0])


def _pow(to: _ComplexLines, a: Value, b: Value) -> Value:
    """Return exp(b log a), and 0 where a is 0."""
    return _unless_0(to, a, _exp(to, to.multiply(b, _log(to, a))))


def _unless_0(to: _ComplexLines, a: Value, b: Value) -> Value:
    """Return b, and 0 where a is 0."""
    none = to.let(f"{to.square_of(a)} == zero")
    return to.chosen(none, None, b[0]), to.chosen(none, None, b[1])


def _compared(relation: str) -> Callable[[_ComplexLines, Value, Value], Value]:
    def write(to: _ComplexLines, a: Value, b: Value) -> Value:
        return to.told(to.let(f"{a[0] or 'zero'} {relation} {b[0] or 'zero'}"))

    return write


def _logical(relation: str) -> Callable[[_ComplexLines, Value, Value], Value]:
    def write(to: _ComplexLines, a: Value, b: Value) -> Value:
        return to.told(to.let(f"{to.holds(a)} {relation} {to.holds(b)}"))

    return write


def _rounded(part: Callable[[_ComplexLines, str], str]) -> Callable[[_ComplexLines, Value], Value]:
    """Return the writer of a function that rounds both parts."""

    def write(to: _ComplexLines, a: Value) -> Value:
        return a[0] and part(to, a[0]), a[1] and part(to, a[1])

    return write


def _floor(to: _ComplexLines, a: str) -> str:
    near = to.let(f"nearest({a})")
    return to.let(f"select({near} > {a}, {near} - {to.real(1.0)}, {near})")


def _ceil(to: _ComplexLines, a: str) -> str:
    return to.let(f"-{_floor(to, to.let(f'-{a}'))}")


def _round(to: _ComplexLines, a: str) -> str:
    return _floor(to, to.let(f"{a} + {to.real(0.5)}"))


def _trunc(to: _ComplexLines, a: str) -> str:
    return to.let(f"select({a} < zero, {_ceil(to, a)}, {_floor(to, a)})")


def _sign(to: _ComplexLines, a: Value) -> Value:
    """Return 1, or -1 where the real part is below 0."""
    one = to.real(1.0)
    return (to.let(f"select({a[0]} < zero, -{one}, {one})") if a[0] else one), None


def _turned(to: _ComplexLines, part: str | None, change: str | None) -> str | None:
    """Return how |part| changes with it."""
    if part is None or change is None:
        return change
    return to.let(f"select({part} < zero, -{change}, {change})")


# Trees that methods of `CodeWriter` write, with the method's name.
METHODS = {"power": "power", "along": "along", "if": "choice"}
# Trees with two parts. The first five are in derivatives and differences, and in no text: b where
# a is not 0, how absx(a) and absy(a) change with a, and by how much they grow where d is added to a
# point whose part is `kink`.
PAIRS: dict[str, Callable[[_ComplexLines, Value, Value], Value]] = {
    "unless0": _unless_0,
    "turnx": lambda to, a, change: (_turned(to, a[0], change[0]), change[1]),
    "turny": lambda to, a, change: (change[0], _turned(to, a[1], change[1])),
    "grownx": lambda to, d, kink: (to.let(f"diffabs({kink[0]}, {d[0]})"), d[1]),
    "growny": lambda to, d, kink: (d[0], to.let(f"diffabs({kink[0]}, {d[1]})")),
    "*": lambda to, a, b: to.multiply(a, b),
    "/": lambda to, a, b: to.over(a, b),
    "pow": _pow,
    **{relation: _compared(relation) for relation in syntax.COMPARISONS},
    "&&": _logical("&"),
    "||": _logical("|"),
}
# How each function of the language is written.
WRITERS: dict[str, Callable[[_ComplexLines, Value], Value]] = {
    "neg": lambda to, a: to.negative(a),
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "abs": lambda to, a: (to.size(a), None),
    "absx": lambda to, a: (a[0] and to.let(f"abs({a[0]})"), a[1]),
    "absy": lambda to, a: (a[0], a[1] and to.let(f"abs({a[1]})")),
    "conj": lambda to, a: (a[0], to.minus(a[1])),
    "re": lambda to, a: (a[0], None),
    "im": lambda to, a: (a[1], None),
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "flip": lambda to, a: (a[1], a[0]),
    "norm": lambda to, a: (None if a == (None, None) else to.square_of(a), None),
    "floor": _rounded(_floor),
    "ceil": _rounded(_ceil),
    "round": _rounded(_round),
    "trunc": _rounded(_trunc),
    "sign": _sign,
}

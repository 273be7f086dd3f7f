"""A user's own formulas: an expression, such as "z**3 + c*sin(z)", or statements in order.

In an expression p is the z before, 0 at first. Several expressions, separated by semicolons, are
iterated in turn. Some are also drawn in deep views: chains of folds and powers.
"""

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import (
    DC,
    DZ,
    MAX_COST,
    NONE_GIVEN,
    CodeWriter,
    GivenNumbers,
    Value,
    change_of,
    check_cost,
    compiled,
    compiled_reals,
    compose,
    function,
    too_much,
)
from fractals.formulas.language.syntax import Tree
from fractals.kernels.formula import MAX_MEMORY, Formula, explained

# --- Chains of folds and powers, such as conj(absx(z)**3) + c, which are also drawn in deep views.
#
# A chain is a map f(z) + c whose f folds and raises z to powers in turn: `absx` and `absy` take the
# absolute value of the real and of the imaginary part, `conj` and minus signs mirror. Between its
# kinks f is conformal, and |f(z)| is |z|**degree.


MAX_KINKS = 2  # numbers whose absolute values a formula with a perturbed step may take
MAX_DEGREE = 64
KINK_NAMES = "KL"


def chain_of(tree: Tree) -> Tree | None:
    """Return the f of an expression f(z) + c where f is a chain; None otherwise.

    >>> from fractals.formulas.language.syntax import parse
    >>> chain_of(parse("absx(z)^2 + c"))
    ('power', ('absx', ('z',)), 2)
    >>> chain_of(parse("-z^3 + c"))
    ('neg', ('power', ('z',), 3))
    >>> chain_of(parse("conj(z*z*z) + c"))
    ('conj', ('power', ('z',), 3))
    >>> chain_of(parse("absx(z)^2 + z + c"))
    """
    if tree[0] != "+" or ("c",) not in tree[1:]:
        return None
    own: Tree = _with_powers(tree[1] if tree[2] == ("c",) else tree[2])
    part, kinks = own, 0
    while part != ("z",):
        fold = part[0] in ("absx", "absy")
        if not (fold or part[0] in ("conj", "neg") or (part[0] == "power" and part[2] > 0)):
            return None
        part, kinks = part[1], kinks + fold
    degree = syntax.degree_of(own)
    return own if kinks <= MAX_KINKS and 1 < degree <= MAX_DEGREE else None


def _with_powers(tree: Tree) -> Tree:
    """Return a tree in which products of equal factors are powers: z*z is z^2."""
    tree = tuple(_with_powers(part) if isinstance(part, tuple) else part for part in tree)
    if tree[0] != "*":
        return tree
    (base, count), other = (
        (part[1], part[2]) if part[0] == "power" else (part, 1) for part in tree[1:]
    )
    return ("power", base, count + other[1]) if base == other[0] else tree


def functions_of(own: Tree) -> dict[str, Any]:
    """Return the attributes of a `fractals.kernels.formula.Formula` that a chain has.

    They are `derivative`, `perturbed`, and for a chain with kinks `kinks`, `kink_degrees` and
    `kink_distance`.
    """
    parts: list[tuple[Tree, int]] = []  # the numbers whose absolute values f takes
    more = _grown(own, parts)
    names = KINK_NAMES[: len(parts)]
    leaves = {"z": "XY", "d": "xy", "c": "ab", **{name: name * 2 for name in names}}
    arguments = ", ".join(["X, Y, x, y, a, b", *names])
    found = {
        "derivative": compiled(
            "derivative",
            "x, y, p, q",
            {"z": "xy", "dz": "pq"},
            (syntax.change(own, ("dz",), syntax.ZERO),),
        ),
        "perturbed": compiled("perturbed", arguments, leaves, (("+", more, ("c",)),)),
    }
    if not parts:
        return found
    degrees = tuple(max(1, syntax.degree_of(tree)) for tree, _ in parts)
    return {
        **found,
        "kinks": compiled_reals("kinks", "x, y", {"z": "xy"}, parts),
        "kink_degrees": degrees,
        "kink_distance": _kink_distance(degrees),
    }


def _grown(tree: Tree, parts: list[tuple[Tree, int]]) -> Tree:
    """Return f(Z + d) - f(Z) as a tree, where z stands for Z; add the kinks' numbers to `parts`."""
    if tree == ("z",):
        return ("d",)
    inner, d = tree[1], _grown(tree[1], parts)
    if tree[0] in ("absx", "absy"):
        parts.append((inner, 0 if tree[0] == "absx" else 1))
        return (f"grown{tree[0][-1]}", d, (KINK_NAMES[len(parts) - 1],))
    if tree[0] != "power":
        return (tree[0], d)
    # (A + d)**n - A**n is d times the sum of (A + d)**k A**(n - 1 - k), after Horner in A + d.
    moved: Tree = ("+", inner, d)
    total: Tree = syntax.ONE
    for n in range(1, tree[2]):
        total = syntax.plus(syntax.times(total, moved), syntax.power(inner, n))
    return syntax.times(d, total)


def _kink_distance(degrees: tuple[int, ...]) -> Any:
    """Return `Formula.kink_distance`.

    A number that changes as z**d does is 0 no nearer to Z than
    |K| (2**(1/d) - 1) / |Z|**(d - 1): it changes by at most (|Z| + r)**d - |Z|**d within r,
    and the d-th root of 1 + q is at least 1 + q (2**(1/d) - 1) for q up to 1.
    """
    lines = [
        "one = number(1, X)",
        "size = sqrt(fma(X, X, Y * Y))",
        "known = size > zero",
        "below = select(known, size, one)",
    ]
    for name, degree in zip(KINK_NAMES, degrees, strict=False):
        share = 2 ** (1 / degree) - 1
        lines.append(f"far{name} = abs({name}) * number({share!r}, X)")
        lines += [f"far{name} = far{name} / below"] * (degree - 1)
    names = KINK_NAMES[: len(degrees)]
    far = "farK" if names == "K" else "select(farK < farL, farK, farL)"
    arguments = ", ".join(["X, Y", *names])
    return function("kink_distance", arguments, lines, [f"select(known, {far}, zero)"])


def deepened(formula, tree):
    """Return the formula of a step from 0, drawn at any depth where it is a chain plus c."""
    own = chain_of(tree)
    if own is None:
        return formula
    return replace(formula, tangent=None, start=None, can_return=False, **functions_of(own))


MAX_STEPS = 8  # expressions in turn
MAX_REPEATS = 1000  # of each


MAX_PARAMETERS = 10  # each adds a function that is compiled (`fractals.kernels.orbit.make_last`)
LARGEST = 1e300  # of a parameter, as of numbers of a film's formulas
PARAMETER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def parameter_values(parameters):
    """Return parameters by name: whole numbers, others, or complex numbers.

    Complex numbers may be pairs, or texts such as "0.3+0.5i". Raises `ValueError` for what is no
    number, or no name.
    """
    if len(parameters) > MAX_PARAMETERS:
        raise ValueError(f"{len(parameters)} parameters, and {MAX_PARAMETERS} are the most")
    for name in parameters:
        if not PARAMETER.fullmatch(name) or name in syntax.WORDS:
            raise ValueError(f"'{name[:40]}' can't be the name of a parameter")
    return {name: _parameter(value, name) for name, value in parameters.items()}


def _parameter(given, name):
    value = given
    if isinstance(given, str):
        text = given.replace(" ", "").lower().replace("i", "j")
        with contextlib.suppress(ValueError):
            value = complex(text) if text.endswith("j") else float(text)
    elif isinstance(given, list | tuple) and len(given) == 2 and all(map(_is_number, given)):
        value = complex(*given)
    if not (_is_number(value) or isinstance(value, complex)) or not abs(value) <= LARGEST:
        raise ValueError(
            f"{name}: {given!r:.40} is not a number such as 0.3, or a complex one, '0.3+0.5i'"
        )
    return value


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value, key, values):
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is an expression in quotes, not {value!r:.40}")
    text = str(value)
    try:
        return syntax.with_exponents(syntax.parse(text, values), values)
    except syntax.ExpressionError as error:
        raise error.of(key, text) from None


def check_used(parameters, *texts):
    """Raise a `TypeError`, as for an unknown option, where a parameter is in no text."""
    if unknown := parameters.keys() - set(PARAMETER.findall(" ".join(map(str, texts)))):
        raise TypeError("unknown options", *sorted(unknown))


def given_in(values, *trees):
    """Return the numbers of those parameters that are in trees."""
    used = {leaf[1] for leaf in _leaves(*trees) if leaf[0] == "parameter"}
    return GivenNumbers({name: value for name, value in values.items() if name in used})


def _titled(step, parameters):
    """Return the title of a user's own formula."""
    return ", ".join([f"Your own, {step[:100]}", *(f"{k} = {v}" for k, v in parameters.items())])


def _leaves_0(tree, given):
    """Tell whether the step maps 0 to another number, whatever parameters are."""
    own = compose("", "", tree, given=given)
    own = replace(own, options=tuple(0.7 + k / 16 for k in range(len(own.options))))
    zero = (0.0, 0.0)
    points = (next(own.orbit(True, *zero, a, b)).z for a, b in ((0.3, 0.4), (-1.7, 0.9)))
    return any(z != zero and all(map(math.isfinite, z)) for z in points)


def _whole(value, key, least, most):
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{key} is a whole number from {least} to {most}")
    return value


def _repeats(given, count):
    """Return how often each expression is applied, from a list or from text such as "2+1"."""
    if given == "":
        return (1,) * count
    values = given.split("+") if isinstance(given, str) else given
    if isinstance(values, int) and not isinstance(values, bool):
        values = [values]
    if not isinstance(values, list | tuple) or len(values) != count:
        raise ValueError(f"repeats is a list of {count} whole numbers, one for each expression")
    numbers = [int(v) if isinstance(v, str) and v.strip().isdecimal() else v for v in values]
    return tuple(_whole(number, "each of repeats", 1, MAX_REPEATS) for number in numbers)


@explained(
    step="what z becomes, in z, c and p, the z before; expressions in turn are parted by ;",
    start="expression in c where orbits start",
    degree="power of |z| far outside, 2 to 64, for smooth colors; 0 finds it",
    tolerance="orbits whose steps are smaller have converged; 0: none",
    escapes="whether orbits end by escape, too",
    repeats="how many steps each expression in turn takes, such as 3+1",
    loop="number, from 0, of the expression that follows the last one",
)
def expression(
    step="z**2 + c",
    start="",
    degree=0,
    tolerance=0.0,
    escapes=True,
    repeats="",
    loop=0,
    **parameters,
):
    check_used(parameters, step, start)
    values = parameter_values(parameters)
    texts = step.split(";") if isinstance(step, str) else [step]
    if len(texts) > MAX_STEPS:
        raise ValueError(f"step: {len(texts)} expressions in turn, and {MAX_STEPS} are the most")
    trees = [_text(text, "step", values) for text in texts]
    first = _text(start, "start", values) if start else syntax.ZERO
    given = given_in(values, *trees, first)
    if not start and not _leaves_0(trees[0], given):
        first = ("c",)
    if isinstance(degree, bool) or not isinstance(degree, int) or not 0 <= degree <= 64:
        raise ValueError("degree is a whole number from 2 to 64, or 0: found from the expression")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise ValueError("tolerance is a number")
    if tolerance and not 1e-12 <= tolerance <= 1:
        raise ValueError("tolerance is from 1e-12 to 1, or 0: orbits end by escape alone")
    if not isinstance(escapes, bool) or not (escapes or tolerance):
        raise ValueError("escapes is true, or false with a tolerance: orbits end by it alone")
    times = _repeats(repeats, len(trees))
    _whole(loop, "loop", 0, len(trees) - 1)
    in_turn = len(trees) > 1
    if in_turn and tolerance:
        raise ValueError("tolerance: expressions in turn end by escape alone")
    if in_turn and any(syntax.uses(tree, "p") for tree in trees):
        raise ValueError("step: expressions in turn take z and c, not p, the z before")
    options = {"step": str(step), "start": str(start), "degree": degree, "tolerance": tolerance}
    options["escapes"] = escapes
    if in_turn:
        options |= {"repeats": "+".join(map(str, times)), "loop": loop}
    usual = {"start": "", "degree": 0, "tolerance": 0, "escapes": True, "loop": 0}
    usual["repeats"] = "+".join(["1"] * len(trees))
    formulas = [
        compose(
            "expression",
            _titled(str(step), parameters),
            tree,
            first,
            given=given,
            degree=degree if degree > 1 else max(map(syntax.degree_of, trees)),
            tolerance=float(tolerance),
            escapes=escapes,
            width="6",
            parameters={
                **{key: value for key, value in options.items() if value != usual.get(key)},
                **parameters,
            },
        )
        for tree in trees
    ]
    if in_turn:
        check_cost(*trees, *(syntax.change(tree, DZ, DC) for tree in trees), given=given)
        return replace(
            formulas[0],
            phases=tuple(zip(formulas, times, strict=True)),
            loop=loop,
            holomorphic=all(formula.holomorphic for formula in formulas),
        )
    if first != ("number", 0j) or tolerance or degree > 1:
        return formulas[0]
    return deepened(formulas[0], trees[0])


# --- A program of several variables: statements in order, such as "w = z^2; z = w + c"
#
# ``start`` gives variables their first values, from c, which is the sample there. ``step`` is
# applied again and again. ``test`` is the condition under which an orbit goes on; without one it
# ends where ``|z|`` exceeds the escape radius. In a Julia set z begins at the sample.
#
# z and the variables whose last values the next step reads are carried along an orbit. A variable
# that is always real takes one number, and others two.


ZERO = syntax.ZERO
GOES_ON = "goes on"  # the variable that keeps what the condition was; no text has this name
Statements = Sequence[tuple[str, Tree]]


MAX_DEPTH = 100  # of trees in one another, which recursive functions walk


class Carried(NamedTuple):
    """A variable that is carried along an orbit: its tree at the start, and after a step."""

    name: str
    start: Tree
    step: Tree


def resolved(statements: Statements) -> dict[str, Tree]:
    """Return what each variable is after the statements, as a tree of what they were before."""
    known: dict[str, Tree] = {}
    for name, tree in statements:
        known[name] = replaced(tree, known)
        check_depth(known[name])
    return known


def check_depth(tree: Tree) -> None:
    """Raise a `ValueError` for a tree too deep for recursive functions."""
    depths: dict[int, int] = {}
    left = [tree]
    while left:
        part = left[-1]
        inner = [each for each in part[1:] if isinstance(each, tuple)]
        if waiting := [each for each in inner if id(each) not in depths]:
            left += waiting
            continue
        depths[id(part)] = 1 + max((depths[id(each)] for each in inner), default=0)
        left.pop()
    if depths[id(tree)] > MAX_DEPTH:
        raise ValueError(
            f"its expressions are nested deeper than {MAX_DEPTH}: use fewer operations"
        )


def replaced(tree: Tree, known: Mapping[str, Tree]) -> Tree:
    """Return a tree with variables replaced by trees."""
    seen: dict[int, Tree] = {}

    def of(part: Any) -> Any:
        if not isinstance(part, tuple):
            return part
        if len(part) == 1:
            return known.get(part[0], part)
        if id(part) not in seen:
            seen[id(part)] = part if part[0] == "number" else tuple(map(of, part))
        return seen[id(part)]

    found: Tree = of(tree)
    return found


def variables(*trees: Tree) -> set[str]:
    """Return the names of the variables in trees."""
    return {leaf[0] for leaf in _leaves(*trees) if len(leaf) == 1}


def _leaves(*trees: Tree) -> set[Tree]:
    """Return the trees of variables and parameters within trees."""
    found, seen, left = set[Tree](), set[int](), list(trees)
    while left:
        part = left.pop()
        if id(part) in seen or part[0] == "number":
            continue
        seen.add(id(part))
        if len(part) == 1 or part[0] == "parameter":
            found.add(part)
        left += [inner for inner in part[1:] if isinstance(inner, tuple)]
    return found


def carried(start: Statements, step: Statements, condition: Tree | None) -> list[Carried]:
    """Return what is carried along an orbit, z first.

    Raises `ValueError` if a variable is read that has no value.
    """
    first, after = resolved(start), resolved(step)
    if unknown := variables(*first.values()) - {"c"}:
        raise ValueError(f"start: '{min(unknown)}' has no value where it is read")
    first.setdefault("z", ZERO)
    needed = _closure({"z"}, after)
    if condition is not None and not variables(condition) <= needed:
        after[GOES_ON], first[GOES_ON] = replaced(condition, after), syntax.ONE
        check_depth(after[GOES_ON])
        needed = _closure({"z", GOES_ON}, after)
    if unknown := needed - first.keys():
        raise ValueError(f"step: '{min(unknown)}' has no value at the start: set it in start")
    order = ["z", *sorted(needed - {"z"})]
    return [Carried(name, first[name], after.get(name, (name,))) for name in order]


def _closure(names: set[str], after: Mapping[str, Tree]) -> set[str]:
    found: set[str] = set()
    while left := names - found:
        found |= left
        names = names | {n for name in left for n in variables(after.get(name, (name,)))} - {"c"}
    return found


class Functions(NamedTuple):
    """Functions of a formula with variables, as `fractals.kernels.formula.Formula` has them."""

    step: Any
    remember: Any
    goes_on: Any


def functions(
    own: list[Carried], condition: Tree | None, given: GivenNumbers = NONE_GIVEN
) -> Functions:
    """Return the functions of carried variables; `given` are the numbers of parameters.

    Raises `ValueError` if they take more numbers than an orbit can carry, or too many operations.
    """
    real, last = _real(own, given), given.last
    leaves = {"c": "ab", "z": "xy", **given.leaves}
    places: dict[str, Value] = {}
    count = 0
    for name in (each.name for each in own[1:]):
        places[name] = f"m[{count}]", None if name in real else f"m[{count + 1}]"
        count += 1 if name in real else 2
    if count > MAX_MEMORY:
        raise ValueError(
            f"its variables are {count} numbers beside z, and {MAX_MEMORY} are the most: use fewer"
        )
    step, remember, test = (CodeWriter(like, {**leaves, **places}, MAX_COST) for like in "xax")
    z = step.value(own[0].step)
    memory, first = (
        [
            part
            for each, tree in zip(own[1:], trees, strict=True)
            for part in _parts(writer.value(tree), each.name in real)
        ]
        for writer, trees in (
            (step, [each.step for each in own[1:]]),
            (remember, [each.start for each in own[1:]]),
        )
    )
    if (cost := step.cost + remember.cost) > MAX_COST:
        raise ValueError(too_much(cost))
    kept = any(each.name == GOES_ON for each in own)
    goes_on: Tree | None = (GOES_ON,) if kept else condition
    holds = test.holds(test.value(goes_on)) if goes_on else ""
    return Functions(
        function("step", "x, y, a, b, m" + last, step.lines, [*_parts(z, False), *memory]),
        function(
            "remember",
            "a, b" + last,
            remember.lines,
            [f"({''.join(f'{part}, ' for part in first)})"],
        ),
        function("goes_on", "x, y, m" + last, test.lines, [holds]) if goes_on else None,
    )


def _parts(value: Value, real: bool) -> list[str]:
    return [part or "zero" for part in (value[:1] if real else value)]


def _real(own: list[Carried], given: GivenNumbers) -> set[str]:
    """Return the variables other than z that are real along every orbit."""
    found = {each.name for each in own[1:]}
    while True:
        leaves: dict[Any, str | Value] = {"c": "ab", "z": "xy", **given.leaves}
        leaves |= {each.name: ("u", None if each.name in found else "v") for each in own[1:]}
        writer = CodeWriter("x", leaves, MAX_COST)
        bent = {
            each.name
            for each in own[1:]
            if each.name in found
            and (writer.value(each.start)[1] or writer.value(each.step)[1]) is not None
        }
        if not bent:
            return found
        found -= bent


def _parsed(text: Any, key: str, parse: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"{key} is text in quotes, not {text!r:.40}")
    try:
        return parse(text)
    except syntax.ExpressionError as error:
        raise error.of(key, text) from None


@explained(
    start="first values, from c: statements parted by ;",
    step="statements of each step",
    test="an orbit goes on as long as this holds",
)
def program(
    start: str = "z = c", step: str = "z = z^2 + c", test: str = "", **parameters: Any
) -> Formula:
    check_used(parameters, start, step, test)
    values = parameter_values(parameters)
    known: dict[str, Tree] = {name: ("parameter", name) for name in values}

    def placed(tree: Tree) -> Tree:
        return syntax.with_exponents(replaced(tree, known), values)

    def statements(text: str, key: str) -> Statements:
        found = _parsed(text, key, syntax.parse_statements)
        if set_again := known.keys() & {name for name, _ in found}:
            raise ValueError(f"{key}: '{min(set_again)}' is a parameter, and has no other value")
        return [(name, placed(tree)) for name, tree in found]

    first, then = statements(start, "start"), statements(step, "step")
    condition = placed(_parsed(test, "test", syntax.parse_condition)) if test else None
    own = carried(first, then, condition)
    trees = [tree for each in own for tree in (each.start, each.step)]
    given = given_in(values, *trees, *([condition] if condition else []))
    found = functions(own, condition, given)
    z = own[0]
    texts = {"start": start, "step": step, "test": test}
    usual = {"start": "z = c", "test": ""}
    options = {key: value for key, value in texts.items() if value != usual.get(key)}
    settings: dict[str, Any] = {
        "title": _titled(step, parameters),
        "width": "6",
        "degree": 0 if condition else syntax.degree_of(z.step),
        "can_return": True,
        "goes_on": found.goes_on,
        "parameters": options | parameters,
    }
    if len(own) == 1:
        return compose(name="program", step=z.step, start=z.start, given=given, **settings)
    stays = all(each.step == (each.name,) or each.name == GOES_ON for each in own[1:])
    return Formula(
        step=found.step,
        derivative=None,
        start=change_of(z.start, given),
        remember=found.remember,
        options=given.numbers,
        memory_stays=stays,
        holomorphic=False,
        name="program",
        **settings,
    )

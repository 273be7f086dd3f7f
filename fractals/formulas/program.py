"""A user's own formula of several variables: statements in order, and a condition to go on.

``start`` gives variables their first values, from c, which is the sample there. ``step`` is applied
again and again. ``test`` is the condition under which an orbit goes on; without one it ends where
``|z|`` exceeds the escape radius. In a Julia set z begins at the sample.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import (
    MAX_COST,
    CodeWriter,
    Value,
    change_of,
    compose,
    function,
    too_much,
)
from fractals.formulas.language.syntax import Tree
from fractals.kernels.formula import MAX_MEMORY, Formula, explained

# Statements in order, such as "w = z^2; z = w + c", become functions of an orbit's numbers.
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
    found, seen, left = set[str](), set[int](), list(trees)
    while left:
        part = left.pop()
        if id(part) in seen or part[0] == "number":
            continue
        seen.add(id(part))
        if len(part) == 1:
            found.add(part[0])
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


def functions(own: list[Carried], condition: Tree | None) -> Functions:
    """Return the functions of carried variables.

    Raises `ValueError` if they take more numbers than an orbit can carry, or too many operations.
    """
    real = _real(own)
    leaves = {"c": "ab", "z": "xy"}
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
        function("step", "x, y, a, b, m", step.lines, [*_parts(z, False), *memory]),
        function(
            "remember", "a, b", remember.lines, [f"({''.join(f'{part}, ' for part in first)})"]
        ),
        function("goes_on", "x, y, m", test.lines, [holds]) if goes_on else None,
    )


def _parts(value: Value, real: bool) -> list[str]:
    return [part or "zero" for part in (value[:1] if real else value)]


def _real(own: list[Carried]) -> set[str]:
    """Return the variables other than z that are real along every orbit."""
    found = {each.name for each in own[1:]}
    while True:
        leaves = {"c": "ab", "z": "xy"} | {
            each.name: ("u", None if each.name in found else "v") for each in own[1:]
        }
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
        raise ValueError(f"{key} '{text[:60]}', {error}") from None


@explained(
    start="first values, from c: statements parted by ;",
    step="statements of each step",
    test="an orbit goes on as long as this holds",
)
def make(start: str = "z = c", step: str = "z = z^2 + c", test: str = "") -> Formula:
    first = _parsed(start, "start", syntax.parse_statements)
    then = _parsed(step, "step", syntax.parse_statements)
    condition = _parsed(test, "test", syntax.parse_condition) if test else None
    own = carried(first, then, condition)
    found = functions(own, condition)
    z = own[0]
    given = {"start": start, "step": step, "test": test}
    usual = {"start": "z = c", "test": ""}
    parameters = {key: value for key, value in given.items() if value != usual.get(key)}
    settings: dict[str, Any] = {
        "name": "program",
        "title": f"Your own, {step[:100]}",
        "width": "6",
        "degree": 0 if condition else syntax.degree_of(z.step),
        "can_return": True,
        "goes_on": found.goes_on,
        "parameters": parameters,
    }
    if len(own) == 1:
        return compose(step=z.step, start=z.start, **settings)
    stays = all(each.step == (each.name,) or each.name == GOES_ON for each in own[1:])
    return Formula(
        step=found.step,
        derivative=None,
        start=change_of(z.start),
        remember=found.remember,
        memory_stays=stays,
        holomorphic=False,
        **settings,
    )

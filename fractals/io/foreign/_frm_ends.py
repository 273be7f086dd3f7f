"""What ends an orbit in formulas of Fractint (`.frm`), by the arithmetic of its version 20.

An orbit goes on while the real part of the last statement's value is a number other than 0. A
division by 0 sets a flag, wherever it stands, and the orbit ends with the step that sets it. The
logarithm of 0 is 0, and so are powers of 0. What is no number is false, and not equal to anything.
"""

from collections.abc import Callable
from typing import Any

from fractals.errors import SceneError
from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.formulas.own import program as make_program
from fractals.io.foreign._frm import (
    ONE,
    WRITTEN,
    ZERO,
    Follower,
    FrmText,
    Given,
    UnsetError,
    folded,
    tokens_of,
    written,
)

VALID = "Valid"  # 1 until a division by 0; names of a formula have small letters, so none is this
# |w|² of what counts as 0 where it divides: the smallest normal number. Devices may take numbers
# below as 0, and Fractint's parser does.
LEAST = ("number", complex(2.0**-1022))
TOLD = (*syntax.COMPARISONS, *syntax.LOGIC)
# Functions that grow as e**x, with x as a tree of what they are applied to.
GROWING: dict[str, Callable[..., Tree]] = {
    "exp": lambda a: ("re", a),
    "sinh": lambda a: ("abs", ("re", a)),
    "cosh": lambda a: ("abs", ("re", a)),
    "sin": lambda a: ("abs", ("im", a)),
    "cos": lambda a: ("abs", ("im", a)),
    "pow": lambda a, b: ("re", ("*", b, ("log", a))),
}
FAR = ("number", 700 + 0j)  # beyond, this program's e**x is no larger, and Fractint's is infinite
HUGE = ("number", 1e300 + 0j)  # makes infinite what is that large


def program_of(name: str, formula: FrmText, given: Given) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the table of a `program` that draws a formula, and lines about what differs.

    `SceneError`: the formula is invalid, or does what no program does; the message names both.
    """
    try:
        follower = FractintFollower(tokens_of(formula.text), given)
        table = follower.table()
        make_program(**{key: value for key, value in table.items() if key != "name"})
    except (ValueError, OverflowError) as error:
        raise SceneError(f"{formula.where}: the formula '{name[:80]}': {error}") from None
    left = "0 here, and in Fractint what the sample before left"
    guessed = sorted(follower.guessed)
    lost = [f"'{name}' where an 'if' does not set it: {left}" for name in guessed]
    return table, (*lost, *sorted(follower.unset))


class FractintFollower(Follower):
    """A formula of Fractint, followed symbolically, with what ends its orbits."""

    def __init__(self, tokens: list[str], given: Given) -> None:
        # by id: values of variables that some side of an `if` does not set
        self.partial: dict[int, Tree] = {}
        self.guessed: set[str] = set()  # such variables that are read
        super().__init__(tokens, given)

    def follow_step(self) -> None:
        super().follow_step()
        valid = self.after.pop(VALID, None) or self.read(VALID)
        if not _ends_far_out(self.condition):
            grown: dict[int, tuple[Tree, Tree]] = {}
            self.after = {name: _growing(tree, grown) for name, tree in self.after.items()}
            self.condition, valid = (_growing(tree, grown) for tree in (self.condition, valid))
        self.condition = _both(valid, _truth(self.condition))

    def sides(self, condition: Tree) -> None:
        super().sides(_truth(condition))

    def before(self, name: str) -> Tree:
        try:
            return self.env[name] if name in self.env else self.read(name)
        except UnsetError:
            nothing: Tree = ("number", 0j)
            self.partial[id(nothing)] = nothing
            return nothing

    def read(self, name: str) -> Tree:
        if name != VALID:
            held = self.env.get(name) or (None if self.initial else self.first.get(name))
            if self.partial.pop(id(held), None) is not None:  # another name may hold it from here
                self.guessed.add(written(name))
            return super().read(name)
        before = ONE if self.initial else self.first.get(VALID, ONE)
        return self.env.get(VALID, before if before[0] == "number" else (VALID,))

    def made(self, kind: str, *parts: Tree) -> Tree:
        if kind == "/":
            self.divided(parts[1])
        if kind in syntax.LOGIC:
            parts = tuple(map(_truth, parts))
        if kind == "!=":
            return self.made("||", self.made("<", *parts), self.made(">", *parts))
        tree = super().made(kind, *parts)
        if kind == "if" and any(id(part) in self.partial for part in parts):
            self.partial[id(tree)] = tree
        return tree

    def divided(self, divisor: Tree) -> None:
        """Note that something is divided by a value."""
        self.env[VALID] = _both(self.read(VALID), _some(divisor))

    def powered(self, base: Tree, exponent: Tree) -> Tree:
        tree = super().powered(base, exponent)
        if syntax.constant(exponent) == -1:
            self.divided(base)
        elif tree[0] == "exp" or (tree[0] == "power" and tree[2] < 0):
            return self.made("if", _none(base), ZERO, tree)
        return tree

    def applied(self, function: str, argument: Tree) -> Tree:
        tree = super().applied(function, argument)
        if function == "recip":
            self.divided(argument)
        elif function in ("cotan", "cotanh"):
            self.divided(folded(WRITTEN[function.removeprefix("co")](argument)))
        elif function == "log":
            return self.made("if", _none(argument), ZERO, tree)
        return tree


def _some(tree: Tree) -> Tree:
    """Return whether a value counts as other than 0 where it divides."""
    return folded((">", folded(("norm", tree)), LEAST))


def _none(tree: Tree) -> Tree:
    """Return whether a value counts as 0."""
    return folded(("<=", folded(("norm", tree)), LEAST))


def _ends_far_out(condition: Tree) -> bool:
    """Tell whether a condition fails for large values as it does for what is no number."""
    if condition[0] in ("&&", "*"):
        return any(map(_ends_far_out, condition[1:]))
    if condition[0] in ("<", "<="):
        return bool(condition[1][0] in ("norm", "abs") and condition[2][0] == "number")
    return bool(condition[0] == "number")


def _truth(tree: Tree) -> Tree:
    """Return whether the real part of a value is a number other than 0."""
    if tree[0] in TOLD:
        return tree
    return folded((">=", folded(("abs", folded(("re", tree)))), LEAST))


def _both(first: Tree, second: Tree) -> Tree:
    """Return whether two conditions hold; one that is there already is not added."""
    if ZERO in (first, second):
        return ZERO
    if first == ONE or second == ONE:
        return second if first == ONE else first
    part = first
    while part[0] == "&&":
        if part[2] == second:
            return first
        part = part[1]
    return first if part == second else ("&&", first, second)


def _growing(tree: Tree, known: dict[int, tuple[Tree, Tree]]) -> Tree:
    """Return a tree whose functions overflow to infinity, which the next step makes no number.

    `known` holds what was found, and keeps the trees, by id.
    """
    if len(tree) == 1 or tree[0] == "number":
        return tree
    if id(tree) not in known:
        parts = (_growing(part, known) if isinstance(part, tuple) else part for part in tree)
        found: Tree = tuple(parts)
        if found[0] in GROWING:
            near = ("<=", GROWING[found[0]](*found[1:]), FAR)
            found = ("if", near, found, ("*", found, HUGE))
        known[id(tree)] = tree, found
    return known[id(tree)][1]

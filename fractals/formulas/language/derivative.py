"""Derivatives, degrees and holomorphy of expression trees."""

from collections.abc import Callable, Mapping

from fractals.formulas.language.parser import (
    BENT,
    COMPARISONS,
    LOGIC,
    ROUNDED,
    VARIABLES,
    Tree,
    uses,
)

MAX_DEGREE = 500


# --- Trees made of trees. Numbers are folded, so that derivatives stay short.

ZERO, ONE = ("number", 0j), ("number", 1 + 0j)


def plus(a: Tree, b: Tree) -> Tree:
    """Return a + b."""
    return b if a == ZERO else a if b == ZERO else ("+", a, b)


def minus(a: Tree, b: Tree) -> Tree:
    """Return a - b."""
    return a if b == ZERO else ("neg", b) if a == ZERO else ("-", a, b)


def times(a: Tree, b: Tree) -> Tree:
    """Return a b."""
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else ("*", a, b)


def over(a: Tree, b: Tree) -> Tree:
    """Return a / b."""
    return ZERO if a == ZERO else a if b == ONE else ("/", a, b)


def power(a: Tree, n: int) -> Tree:
    """Return a to the power n."""
    return ONE if n == 0 else a if n == 1 else ("power", a, n)


def derivative(tree: Tree, name: str) -> Tree:
    """Return the derivative of a holomorphic tree by "z", "c" or "p"."""
    return change(tree, *(ONE if name == variable else ZERO for variable in VARIABLES))


def change(tree: Tree, dz: Tree, dc: Tree, dp: Tree = ZERO) -> Tree:
    """Return how a tree changes, to first order, when z, c and p change by `dz`, `dc` and `dp`."""
    return change_by(tree, dict(zip(VARIABLES, (dz, dc, dp), strict=True)))


def change_by(tree: Tree, changes: Mapping[str, Tree]) -> Tree:
    """Return how a tree changes, to first order, when its variables change by these trees."""
    known: dict[int, Tree] = {}  # by id, because derivatives contain the same trees many times

    def changed(tree: Tree) -> Tree:
        if id(tree) not in known:
            known[id(tree)] = _changed(tree, changed, changes)
        return known[id(tree)]

    return changed(tree)


def _changed(tree: Tree, changed: Callable[[Tree], Tree], changes: Mapping[str, Tree]) -> Tree:
    """Return the change of a tree; `changed` returns that of its parts."""
    kind = tree[0]
    if kind == "number" or kind in changes:
        return changes.get(kind, ZERO)
    if kind in (*COMPARISONS, *LOGIC, *ROUNDED):
        return ZERO  # but where the value jumps
    if kind == "if":
        found = changed(tree[2]), changed(tree[3])
        return ZERO if found == (ZERO, ZERO) else ("if", tree[1], *found)
    a, inner = tree[1], changed(tree[1])
    if kind == "pow":
        return times(tree, changed(times(tree[2], ("log", a))))
    if kind == "neg":
        return minus(ZERO, inner)
    if kind in "+-*/":
        b, other = tree[2], changed(tree[2])
        if kind == "+":
            return plus(inner, other)
        if kind == "-":
            return minus(inner, other)
        if kind == "*":
            return plus(times(inner, b), times(a, other))
        return minus(over(inner, b), times(over(a, power(b, 2)), other))
    if kind == "power":
        if tree[2] == 0:
            return ZERO
        return times(times(("number", complex(tree[2])), power(a, tree[2] - 1)), inner)
    if inner == ZERO or kind == "sign":
        return ZERO
    if kind in ("absx", "absy"):
        return (f"turn{kind[-1]}", a, inner)
    if kind == "norm":
        return times(("number", 2 + 0j), ("re", times(("conj", a), inner)))
    if kind in BENT:
        return ("along", a, inner) if kind == "abs" else (kind, inner)
    return times(_outer(kind, a), inner)


def _outer(function: str, a: Tree) -> Tree:
    """Return the derivative of a function at a."""
    two = ("number", 2 + 0j)
    rules: dict[str, Callable[[], Tree]] = {
        "sin": lambda: ("cos", a),
        "cos": lambda: ("neg", ("sin", a)),
        "tan": lambda: plus(ONE, power(("tan", a), 2)),
        "exp": lambda: ("exp", a),
        "log": lambda: over(ONE, a),
        "sqrt": lambda: over(ONE, times(two, ("sqrt", a))),
        "sinh": lambda: ("cosh", a),
        "cosh": lambda: ("sinh", a),
        "tanh": lambda: minus(ONE, power(("tanh", a), 2)),
        "asin": lambda: over(ONE, ("sqrt", minus(ONE, power(a, 2)))),
        "acos": lambda: over(("number", -1 + 0j), ("sqrt", minus(ONE, power(a, 2)))),
        "atan": lambda: over(ONE, plus(ONE, power(a, 2))),
        "asinh": lambda: over(ONE, ("sqrt", plus(ONE, power(a, 2)))),
        "acosh": lambda: over(ONE, times(("sqrt", minus(a, ONE)), ("sqrt", plus(a, ONE)))),
        "atanh": lambda: over(ONE, minus(ONE, power(a, 2))),
    }
    return rules[function]()


def is_holomorphic(tree: Tree) -> bool:
    """Tell whether it has a complex derivative."""
    return not any(uses(tree, name) for name in BENT)


def degree_of(tree: Tree) -> int:
    """Return the growth exponent at infinity of a tree in z, or 0 if it is not above 1.

    That of polynomials, quotients and what folds them, by the rules for their degrees; terms that
    cancel are not seen. Other functions have none.
    """
    found = _degree(tree, {})
    return found if found is not None and 1 < found <= MAX_DEGREE else 0


def _degree(tree: Tree, known: dict[int, int | None]) -> int | None:
    """Return the degree; `known` are those of other trees, by id."""
    if id(tree) not in known:
        known[id(tree)] = _degree_of_parts(tree, known)
    return known[id(tree)]


def _degree_of_parts(tree: Tree, known: dict[int, int | None]) -> int | None:
    kind = tree[0]
    if kind in ("number", "c", "sign", *COMPARISONS, *LOGIC):
        return 0
    if len(tree) == 1:  # z, the z before, or another variable, which may grow in any way
        return 1 if kind in ("z", "p") else None
    if kind == "if":
        own = _degree(tree[2], known), _degree(tree[3], known)
        return None if None in own else max(own)  # type: ignore[type-var]
    inner = _degree(tree[1], known)
    if inner is None:
        return None
    if kind in "+-*/":
        other = _degree(tree[2], known)
        if other is None:
            return None
        return {"*": inner + other, "/": inner - other}.get(kind, max(inner, other))
    if kind == "power":
        return inner * int(tree[2])
    if kind in ("norm", "pow"):
        return 2 * inner if kind == "norm" else None
    return inner if kind in ("neg", *BENT) or inner == 0 else None

"""Chains of folds and powers, such as conj(absx(z)**3) + c, which are also drawn in deep views.

A chain is a map f(z) + c whose f folds and raises z to powers in turn: `absx` and `absy` take the
absolute value of the real and of the imaginary part, `conj` and minus signs mirror. Between its
kinks f is conformal, and |f(z)| is |z|**degree.
"""

from typing import Any

from fractals.formulas.language import derivative
from fractals.formulas.language.codegen import compiled, compiled_reals, function
from fractals.formulas.language.parser import Tree

MAX_KINKS = 2  # numbers whose absolute values a formula with a perturbed step may take
MAX_DEGREE = 64
KINK_NAMES = "KL"


def chain_of(tree: Tree) -> Tree | None:
    """Return the f of an expression f(z) + c where f is a chain; None otherwise.

    >>> from fractals.formulas.language.parser import parse
    >>> chain_of(parse("absx(z)^2 + c"))
    ('power', ('absx', ('z',)), 2)
    >>> chain_of(parse("-z^3 + c"))
    ('neg', ('power', ('z',), 3))
    >>> chain_of(parse("absx(z)^2 + z + c"))
    """
    if tree[0] != "+" or ("c",) not in tree[1:]:
        return None
    own: Tree = tree[1] if tree[2] == ("c",) else tree[2]
    part, kinks = own, 0
    while part != ("z",):
        fold = part[0] in ("absx", "absy")
        if not (fold or part[0] in ("conj", "neg") or (part[0] == "power" and part[2] > 0)):
            return None
        part, kinks = part[1], kinks + fold
    degree = derivative.degree_of(own)
    return own if kinks <= MAX_KINKS and 1 < degree <= MAX_DEGREE else None


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
            (derivative.change(own, ("dz",), derivative.ZERO),),
        ),
        "perturbed": compiled("perturbed", arguments, leaves, (("+", more, ("c",)),)),
    }
    if not parts:
        return found
    degrees = tuple(max(1, derivative.degree_of(tree)) for tree, _ in parts)
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
    total: Tree = derivative.ONE
    for n in range(1, tree[2]):
        total = derivative.plus(derivative.times(total, moved), derivative.power(inner, n))
    return derivative.times(d, total)


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

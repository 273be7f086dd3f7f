"""A user's own formula, written as an expression in z and c, such as "z**3 + c*sin(z)".

p is the z before, 0 at first. Several expressions, separated by semicolons, are iterated in turn.
Some are also drawn in deep views: chains of folds and powers.
"""

from dataclasses import replace
from typing import Any

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import (
    DC,
    DZ,
    check_cost,
    compiled,
    compiled_reals,
    compose,
    function,
)
from fractals.formulas.language.syntax import Tree
from fractals.kernels.formula import explained

# Chains of folds and powers, such as conj(absx(z)**3) + c, which are also drawn in deep views.
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


def _text(value, key):
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is an expression in quotes, not {value!r:.40}")
    text = str(value)
    try:
        return syntax.parse(text)
    except syntax.ExpressionError as error:
        raise ValueError(f"{key} '{text[:60]}', {error}") from None


def _stays(tree):
    """Tell whether the step maps 0 to 0, so that orbits from 0 stay."""
    own = compose("", "", tree)
    zero = (0.0, 0.0)
    return all(next(own.orbit(True, *zero, a, b)).z == zero for a, b in ((0.3, 0.4), (-1.7, 0.9)))


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
def make(step="z**2 + c", start="", degree=0, tolerance=0.0, escapes=True, repeats="", loop=0):
    texts = step.split(";") if isinstance(step, str) else [step]
    if len(texts) > MAX_STEPS:
        raise ValueError(f"step: {len(texts)} expressions in turn, and {MAX_STEPS} are the most")
    trees = [_text(text, "step") for text in texts]
    first = _text(start or ("c" if _stays(trees[0]) else "0"), "start")
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
    given = {"step": str(step), "start": str(start), "degree": degree, "tolerance": tolerance}
    given["escapes"] = escapes
    if in_turn:
        given |= {"repeats": "+".join(map(str, times)), "loop": loop}
    usual = {"start": "", "degree": 0, "tolerance": 0, "escapes": True, "loop": 0}
    usual["repeats"] = "+".join(["1"] * len(trees))
    formulas = [
        compose(
            "expression",
            f"Your own, {str(step)[:100]}",
            tree,
            first,
            degree=degree if degree > 1 else max(map(syntax.degree_of, trees)),
            tolerance=float(tolerance),
            escapes=escapes,
            width="6",
            parameters={key: value for key, value in given.items() if value != usual.get(key)},
        )
        for tree in trees
    ]
    if in_turn:
        check_cost(*trees, *(syntax.change(tree, DZ, DC) for tree in trees))
        return replace(
            formulas[0],
            phases=tuple(zip(formulas, times, strict=True)),
            loop=loop,
            holomorphic=all(formula.holomorphic for formula in formulas),
        )
    if first != ("number", 0j) or tolerance or degree > 1:
        return formulas[0]
    return deepened(formulas[0], trees[0])

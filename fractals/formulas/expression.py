"""A user's own formula, written as an expression in z and c, such as "z**3 + c*sin(z)".

p is the z before, 0 at first. Several expressions, separated by semicolons, are iterated in turn.
"""

from dataclasses import replace

from fractals.formulas.language import chain, derivative, parser
from fractals.formulas.language.codegen import DC, DZ, check_cost, compose

MAX_STEPS = 8  # expressions in turn
MAX_REPEATS = 1000  # of each


def _text(value, key):
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is an expression in quotes, not {value!r:.40}")
    text = str(value)
    try:
        return parser.parse(text)
    except parser.ExpressionError as error:
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
    if in_turn and any(parser.uses(tree, "p") for tree in trees):
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
            degree=degree if degree > 1 else max(map(derivative.degree_of, trees)),
            tolerance=float(tolerance),
            escapes=escapes,
            width="6",
            parameters={key: value for key, value in given.items() if value != usual.get(key)},
        )
        for tree in trees
    ]
    if in_turn:
        check_cost(*trees, *(derivative.change(tree, DZ, DC) for tree in trees))
        return replace(
            formulas[0],
            phases=tuple(zip(formulas, times, strict=True)),
            loop=loop,
            holomorphic=all(formula.holomorphic for formula in formulas),
        )
    own = chain.chain_of(trees[0])
    if own is None or first != ("number", 0j) or tolerance or degree > 1:
        return formulas[0]
    return replace(
        formulas[0], tangent=None, start=None, can_return=False, **chain.functions_of(own)
    )

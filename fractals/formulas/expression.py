"""A user's own formula, written as an expression in z and c, such as "z**3 + c*sin(z)"."""

from fractals.formulas.language import derivative, parser
from fractals.formulas.language.codegen import compose


def _text(value, key):
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"{key} is an expression in quotes, not {value!r:.40}")
    try:
        return parser.parse(str(value))
    except parser.ExpressionError as error:
        raise ValueError(f"{key} '{str(value)[:60]}', {error}") from None


def _stays(tree):
    """Tell whether the step maps 0 to 0, so that orbits from 0 stay."""
    step = compose("", "", tree).step
    return all(step(0.0, 0.0, a, b) == (0, 0) for a, b in ((0.3, 0.4), (-1.7, 0.9)))


def make(step="z**2 + c", start="", degree=0, tolerance=0.0):
    tree = _text(step, "step")
    first = _text(start or ("c" if _stays(tree) else "0"), "start")
    if parser.uses(first, "z"):
        raise ValueError("start is an expression in c alone")
    if isinstance(degree, bool) or not isinstance(degree, int) or not 0 <= degree <= 64:
        raise ValueError("degree is a whole number from 2 to 64, or 0: found from the expression")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise ValueError("tolerance is a number")
    if tolerance and not 1e-12 <= tolerance <= 1:
        raise ValueError("tolerance is from 1e-12 to 1, or 0: orbits end by escape alone")
    given = {"step": str(step), "start": str(start), "degree": degree, "tolerance": tolerance}
    usual = {"start": "", "degree": 0, "tolerance": 0}
    return compose(
        "expression",
        f"Your own, {str(step)[:100]}",
        tree,
        first,
        degree=degree if degree > 1 else derivative.degree_of(tree),
        tolerance=float(tolerance),
        width="6",
        parameters={key: value for key, value in given.items() if value != usual.get(key)},
    )

"""A user's own formula of several variables: statements in order, and a condition to go on.

``start`` gives variables their first values, from c, which is the sample there. ``step`` is applied
again and again. ``test`` is the condition under which an orbit goes on; without one it ends where
``|z|`` exceeds the escape radius. In a Julia set z begins at the sample.
"""

from typing import Any

from fractals.formulas.language import derivative, parser, statements
from fractals.formulas.language.codegen import change_of, compose
from fractals.kernels.formula import Formula


def _parsed(text: Any, key: str, parse: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"{key} is text in quotes, not {text!r:.40}")
    try:
        return parse(text)
    except parser.ExpressionError as error:
        raise ValueError(f"{key} '{text[:60]}', {error}") from None


def make(start: str = "z = c", step: str = "z = z^2 + c", test: str = "") -> Formula:
    first = _parsed(start, "start", parser.parse_statements)
    then = _parsed(step, "step", parser.parse_statements)
    condition = _parsed(test, "test", parser.parse_condition) if test else None
    own = statements.carried(first, then, condition)
    found = statements.functions(own, condition)
    z = own[0]
    given = {"start": start, "step": step, "test": test}
    usual = {"start": "z = c", "test": ""}
    parameters = {key: value for key, value in given.items() if value != usual.get(key)}
    settings: dict[str, Any] = {
        "name": "program",
        "title": f"Your own, {step[:100]}",
        "width": "6",
        "degree": 0 if condition else derivative.degree_of(z.step),
        "can_return": True,
        "goes_on": found.goes_on,
        "parameters": parameters,
    }
    if len(own) == 1:
        return compose(step=z.step, start=z.start, **settings)
    stays = all(each.step == (each.name,) or each.name == statements.GOES_ON for each in own[1:])
    return Formula(
        step=found.step,
        derivative=None,
        start=change_of(z.start),
        remember=found.remember,
        memory_stays=stays,
        holomorphic=False,
        **settings,
    )

"""A user's own solid: statements that give x, y and z their next values.

``"x = x*x - y*y - z*z + a; y = 2*x*y + b; z = -2*x*z + c"`` is a step; (a, b, c) is the point that
an orbit belongs to. Statements are read in order, so a value that is needed later gets a name of
its own: ``"u = x*x - y*y + a; y = 2*x*y + b; x = u"``. The bound of the derivative follows: the
most by which the matrix of all derivatives stretches.
"""

import functools
import math
from typing import Any

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import MAX_COST, CodeWriter, function, too_much
from fractals.formulas.language.syntax import Tree
from fractals.formulas.own import replaced, resolved, variables
from fractals.kernels.formula import explained
from fractals.space.solid import (
    Knob,
    Solid,
    from_afar,
    within,
)

AXES, POINT = ("x", "y", "z"), ("a", "b", "c")
KNOBS = {
    "steps": Knob(1, 200, "the most of an orbit"),
    "bail": Knob(4.0, 1e6, "r² beyond which an orbit ends"),
    "bound": Knob(0.1, 100.0, "radius of the sphere around 0 that holds the solid"),
    "body": Knob(0.0, 100.0, "of folds: the radius of the ball whose images the solid is made of"),
    "factor": Knob(0.05, 1.0, "by which distances are multiplied, where they are too long"),
}


def trees_of(text: Any) -> list[Tree]:
    """Return what x, y and z are after the statements, in terms of x, y, z, a, b and c."""
    if not isinstance(text, str):
        raise ValueError(f"step is text in quotes, not {text!r:.40}")
    try:
        statements = syntax.parse_statements(text)
    except syntax.ExpressionError as error:
        raise error.of("step", text) from None
    found = resolved(statements)
    for name in ("a", "b"):
        if name in found:
            raise ValueError(f"step: '{name}' is of the point, and has no other value")
    if not set(AXES) & found.keys():
        raise ValueError("step gives x, y or z no value: write x = ...; y = ...; z = ...")
    trees = [found.get(axis, (axis,)) for axis in AXES]
    if unknown := variables(*trees) - {*AXES, *POINT}:
        raise ValueError(f"step: '{min(unknown)}' has no value where it is read")
    return trees


def degree_of(trees: list[Tree]) -> int:
    """Return the growth exponent at infinity; 1 where there is none."""
    known: dict[str, Tree] = dict.fromkeys(AXES, ("z",)) | dict.fromkeys(POINT, ("c",))
    return max(1, *(syntax.degree_of(replaced(tree, known)) for tree in trees))


@functools.lru_cache(maxsize=64)  # other numbers of a film's frames have the same program
def make_step(trees: tuple[Tree, ...]) -> Any:
    """Return the step of a solid."""
    writer = CodeWriter("x", {name: (name, None) for name in (*AXES, *POINT)}, MAX_COST)
    results = [writer.value(tree)[0] or "zero" for tree in trees]

    def column(name: str) -> tuple[str, ...]:
        changes = {each: syntax.ONE if each == name else syntax.ZERO for each in (*AXES, *POINT)}
        changed = (syntax.change_by(tree, changes) for tree in trees)
        return tuple(writer.value(tree)[0] or "zero" for tree in changed)

    def slope(names: tuple[str, ...]) -> str:
        columns = [column(name) for name in names]
        if all(part == "zero" for one in columns for part in one):
            return writer.real(1e-30) or ""  # d stays above 0
        one = writer.real(1.0)
        unit = [tuple(one if n == m else "zero" for n in range(3)) for m in range(3)]
        if columns == unit:
            return one or ""
        matrix = ", ".join(f"({', '.join(one)})" for one in columns)
        return writer.let(f"stretch({matrix})")

    grown = writer.let(f"fma({slope(AXES)}, d, {slope(POINT)})")
    if writer.cost > MAX_COST:
        raise ValueError(too_much(writer.cost))
    return function("step", "x, y, z, d, a, b, c, options", writer.lines, [*results, grown])


@explained(step="statements of x, y and z, parted by ;")
def solid_expression(
    step="u = x*x - y*y - z*z + a; v = 2*x*y + b; z = -2*x*z + c; x = u; y = v",
    steps=0,
    bail=0.0,
    bound=2.0,
    body=0.0,
    factor=1.0,
):
    """Return the solid; `steps` and `bail` of 0 follow from the degree of the statements."""
    trees = trees_of(step)
    degree = degree_of(trees)
    usual: dict[str, float] = {"steps": 14, "bail": 1e4}
    if degree > 1:
        usual = {"steps": max(8, math.ceil(14 / math.log(degree))), "bail": 64.0}
    given = {"steps": steps or usual["steps"], "bail": bail or usual["bail"]}
    given = within(KNOBS, **given, bound=bound, body=body, factor=factor)
    others = {"bound": 2.0, "body": 0.0, "factor": 1.0, **usual}
    return Solid(
        "solid_expression",
        f"Your own, {step[:100]}",
        make_step(tuple(trees)),
        distance="log" if degree > 1 else "linear",
        degree=degree,
        short=4.0 if degree > 1 else 1.0,  # measured: the most by which a matrix stretches is rare
        **given,
        parameters={
            "step": step,
            **{key: value for key, value in given.items() if value != others[key]},
        },
        knobs=KNOBS,
        position=from_afar(0.8 * bound),
    )

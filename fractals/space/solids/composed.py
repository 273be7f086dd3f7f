"""A user's own solid: statements that give x, y and z their next values.

``"x = x*x - y*y - z*z + a; y = 2*x*y + b; z = -2*x*z + c"`` is a step; (a, b, c) is the point that
an orbit belongs to. Statements are read in order, so a value that is needed later gets a name of
its own: ``"u = x*x - y*y + a; y = 2*x*y + b; x = u"``. The bound of the derivative follows: the
most by which the matrix of all derivatives stretches.
"""

import inspect
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
from fractals.space.solids import boxes, kaleidoscopes, powers

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
        raise ValueError(f"step '{text[:60]}', {error}") from None
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


def make_step(trees: list[Tree]) -> Any:
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
        make_step(trees),
        distance="log" if degree > 1 else "linear",
        degree=degree,
        **given,
        parameters={
            "step": step,
            **{key: value for key, value in given.items() if value != others[key]},
        },
        knobs=KNOBS,
        position=from_afar(0.8 * bound),
    )


# --- Hybrid of solids: maps applied one after the other; a step is all of them

PARTS = {
    "amazing_surf": boxes.amazing_surf,
    "bicomplex": powers.bicomplex,
    "bristorbrot": powers.bristorbrot,
    "burning_bulb": powers.burning_bulb,
    "icosahedral": kaleidoscopes.icosahedral,
    "juliabulb": powers.juliabulb,
    "mandelbox": boxes.mandelbox,
    "mandelbulb": powers.mandelbulb,
    "menger": kaleidoscopes.menger,
    "octahedral": kaleidoscopes.octahedral,
    "pseudo_kleinian": boxes.pseudo_kleinian,
    "quaternion": powers.quaternion,
    "sierpinski": kaleidoscopes.sierpinski,
}
MAX_SOLIDS = 6  # more would only take longer to compile
MAX_DEGREE = 256  # of all together, as of two bulbs: a step takes r to this power


def parts_of(names, options):
    """Return the solids; an option such as `mandelbox_scale` is one of the solid of this name."""
    given: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in options.items():
        name = max((name for name in given if key.startswith(f"{name}_")), key=len, default=None)
        own = key[len(name) + 1 :] if name else ""
        if not name or own not in inspect.signature(PARTS[name]).parameters:
            known = ", ".join(
                f"{name}_{own}"
                for name in given
                for own in inspect.signature(PARTS[name]).parameters
            )
            raise ValueError(f"solid_hybrid: unknown option '{key[:40]}'; there are {known}")
        given[name][own] = value
    made = {}
    for name, own in given.items():
        try:
            made[name] = PARTS[name](**own)
        except ValueError as error:
            raise ValueError(f"{name}_{error}") from None
    return tuple(made[name] for name in names)


@explained(formulas="names of solids whose steps are taken in turn, joined by +")
def solid_hybrid(formulas="mandelbox+mandelbulb", **options):
    """Return the solid; `formulas` are names joined by +, or a list of names."""
    names = formulas.split("+") if isinstance(formulas, str) else formulas
    if not isinstance(names, list | tuple) or not 1 <= len(names) <= MAX_SOLIDS:
        raise ValueError(f"formulas is a list of 1 to {MAX_SOLIDS} names of solids")
    names = [str(name).strip() for name in names]
    for name in names:
        if name not in PARTS:
            raise ValueError(f"formulas: '{name[:40]}' is not one of {', '.join(PARTS)}")
    parts = parts_of(names, options)
    degree = math.prod(part.degree for part in parts)
    if degree > MAX_DEGREE:
        raise ValueError(f"formulas: together of degree {degree}, and {MAX_DEGREE} is the most")
    fourths = [part.fourth for part in parts if part.fourth is not None]
    bound = 1.2 * max(part.bound for part in parts)
    knobs = {f"{part.name}_{key}": knob for part in parts for key, knob in part.knobs.items()}
    return Solid(
        "solid_hybrid",
        f"{', '.join(names)} in turn",
        parts[0].step,
        distance="log" if degree > 1 else "linear",
        # The parts magnify together as much in a step as each of them in its own.
        steps=max(4, math.ceil(1 / sum(1 / part.steps for part in parts))),
        bail=min(1e4, 10 ** (28 / degree)),
        bound=bound,
        fourth=fourths[0] if fourths else None,
        degree=degree,
        sequence=parts,
        options=tuple(
            number for part in parts for number in (*part.options, *(part.constants or ()))
        ),
        parameters={
            "formulas": "+".join(names),
            **{
                f"{part.name}_{key}": value
                for part in parts
                for key, value in part.parameters.items()
            },
        },
        knobs=knobs,
        position=from_afar(0.8 * bound),
    )

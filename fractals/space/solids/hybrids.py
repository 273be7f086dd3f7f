"""Hybrids: the steps of several solids in turn."""

import inspect
import math
from typing import Any

from fractals.kernels.formula import explained
from fractals.space.solid import (
    Solid,
    from_afar,
)
from fractals.space.solids import boxes, kaleidoscopes, mixed, powers

# Those of `groups` are none: their orbits end by a fourth coordinate, and nearly all stay near 0.
PARTS = {
    "amazing_surf": boxes.amazing_surf,
    "bicomplex": powers.bicomplex,
    "bristorbrot": powers.bristorbrot,
    "burning_bulb": powers.burning_bulb,
    "icosahedral": kaleidoscopes.icosahedral,
    "juliabulb": powers.juliabulb,
    "kalibox": mixed.kalibox,
    "mandelbox": boxes.mandelbox,
    "mandelbulb": powers.mandelbulb,
    "menger": kaleidoscopes.menger,
    "menger_ball": mixed.menger_ball,
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
    fourths = {f"{part.name}_w": part.fourth for part in parts if part.fourth is not None}
    if len(set(fourths.values())) > 1:
        raise ValueError(
            f"a point has one fourth coordinate: give {' and '.join(fourths)} one value"
        )
    bound = 1.2 * max(part.bound for part in parts)
    knobs = {f"{part.name}_{key}": knob for part in parts for key, knob in part.knobs.items()}
    return Solid(
        "solid_hybrid",
        f"{', '.join(names)} in turn",
        parts[0].step,
        distance="log" if degree > 1 else "linear",
        short=1.5 if degree > 1 else 1.0,  # measured for mandelbox+mandelbulb and menger+juliabulb
        # The parts magnify together as much in a step as each of them in its own.
        steps=max(4, math.ceil(1 / sum(1 / part.steps for part in parts))),
        bail=min(1e4, 10 ** (28 / degree)),
        bound=bound,
        fourth=next(iter(fourths.values()), None),
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

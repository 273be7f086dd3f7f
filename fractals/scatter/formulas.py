"""Scatter formulas, whose points are thrown and counted: flames and Buddhabrots."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fractals import catalog
from fractals.errors import OptionError, counted, shown
from fractals.kernels.elementary import sincos
from fractals.kernels.formula import Formula, explained
from fractals.scatter.buddhabrot import Buddhabrot
from fractals.scatter.game import (
    IDENTITY,
    STAGES,
    Applied,
    Flame,
    Transform,
    Variation,
)

# --- Flame: a chaos game of maps that are drawn at random (Draves and Reckase)

MAX_TRANSFORMS, MAX_VARIATIONS = 100, 40  # of a flame, of a transform
LARGEST = 1e9  # of any number
KEYS = ("weight", "affine", "variations", "post", "color", "color_speed", "opacity", "xaos")
# Three halves of a triangle: Sierpinski's.
TRIANGLE = (
    {"affine": [0.5, 0, -0.5, 0, 0.5, -0.433], "color": 0.0},
    {"affine": [0.5, 0, 0.5, 0, 0.5, -0.433], "color": 0.5},
    {"affine": [0.5, 0, 0, 0, 0.5, 0.433], "color": 1.0},
)


@explained(
    transforms="maps, one of which is drawn at random for each step",
    final="map of points where they are plotted",
    turn="degrees by which the maps are turned counter-clockwise",
)
def flame(transforms: Any = TRIANGLE, final: Any = None, turn: Any = 0.0) -> Flame:
    """Return the flame of tables of transforms; see `docs/reference/scene.md`.

    `turn`: degrees by which the affine map of each transform is turned counter-clockwise. Those of
    a symmetry, whose color speed is 0, and the final transform stay.
    """
    if not isinstance(transforms, Sequence) or isinstance(transforms, str) or not transforms:
        raise ValueError("transforms: a list of one table or more")
    if len(transforms) > MAX_TRANSFORMS:
        raise ValueError(f"transforms: {len(transforms)} of them; {MAX_TRANSFORMS} at most")
    found = tuple(_transform(each, f"transforms.{k}") for k, each in enumerate(transforms))
    if not sum(each.weight for each in found) > 0:
        raise ValueError("transforms: one of the weights is greater than 0")
    degrees = math.remainder(_number(turn, "turn"), 360)
    if degrees:
        found = tuple(_turned(each, degrees) if each.color_speed else each for each in found)
    last = None if final is None else _transform(final, "final")
    if last and last.opacity != 1:
        raise ValueError("final.opacity: points have that of the transform before: leave it out")
    parameters = {"transforms": len(found), "final": last is not None, "turn": float(turn)}
    return Flame("flame", "Flame: maps drawn at random", found, last, parameters=parameters)


def _turned(transform: Transform, degrees: float) -> Transform:
    a, b, c, d, e, f = transform.affine
    sin, cos = sincos(math.radians(degrees))
    affine = cos * a - sin * d, cos * b - sin * e, c, sin * a + cos * d, sin * b + cos * e, f
    return replace(transform, affine=tuple(float(number) for number in affine))


def _transform(table: Any, where: str) -> Transform:
    if not isinstance(table, Mapping):
        raise ValueError(f"{where}: '{shown(table, 40)}' is not a table")
    for key in table:
        if key not in KEYS:
            hint = catalog.did_you_mean(str(key), KEYS)
            raise ValueError(f"{where}: unknown key '{shown(key, 40)}'{hint}")

    def single(key: str, usual: float, least: float, most: float) -> float:
        value = _number(table.get(key, usual), f"{where}.{key}")
        if not least <= value <= most:
            raise ValueError(f"{where}.{key}: {value:g} is not from {least:g} to {most:g}")
        return value

    def several(key: str, usual: tuple[float, ...], counts: range) -> tuple[float, ...]:
        values = table.get(key, usual)
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise ValueError(f"{where}.{key}: '{shown(values, 40)}' is not a list of numbers")
        if len(values) not in counts:
            found = counted(len(values), "number")
            raise ValueError(f"{where}.{key}: {found}; {counts[-1]} are needed")
        return tuple(_number(value, f"{where}.{key}") for value in values)

    xaos = several("xaos", (), range(MAX_TRANSFORMS + 1))
    if any(factor < 0 for factor in xaos):
        raise ValueError(f"{where}.xaos: a factor is less than 0")
    return Transform(
        applied(table.get("variations", {"linear": 1.0}), f"{where}.variations"),
        single("weight", 1.0, 0, LARGEST),
        several("affine", IDENTITY, range(6, 7)),
        several("post", IDENTITY, range(6, 7)),
        single("color", 0.0, 0, 1),
        single("color_speed", 0.5, -1, 2),
        single("opacity", 1.0, 0, 1),
        xaos,
    )


def applied(table: Any, where: str) -> tuple[Applied, ...]:
    """Return the variations of a table of weights and parameters, such as ``julian_power``."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{where}: '{shown(table, 40)}' is not a table of names and weights")
    if len(table) > 10 * MAX_VARIATIONS:
        raise ValueError(f"{where}: {len(table)} keys; {10 * MAX_VARIATIONS} at most")
    weights = {key: split(key) for key in table if split(key)}
    left = {key: _number(value, f"{where}.{key}") for key, value in table.items()}
    found = []
    for key, named in weights.items():
        assert named
        stage, variation = named
        values = []
        for name, usual in variation.parameters.items():
            own = left.pop(f"{variation.name}_{name}", usual) if not stage else usual
            values.append(left.pop(f"{key}_{name}", own))
        found.append(Applied(variation, stage, left.pop(key), tuple(values)))
    for key in left:
        known = list(catalog.names("variation"))
        raise ValueError(
            f"{where}: unknown variation '{shown(key, 40)}'"
            + (catalog.did_you_mean(str(key), known) or "; fractals.names('variations') shows all")
        )
    if len(found) > MAX_VARIATIONS:
        raise ValueError(f"{where}: {len(found)} variations; {MAX_VARIATIONS} at most")
    return tuple(found)


def split(key: Any) -> tuple[str, Variation] | None:
    """Return when a variation is applied, and the variation; None of another word.

    >>> split("pre_julian")[0], split("julian_power")
    ('pre_', None)
    """
    for stage in reversed(STAGES):
        name = str(key).removeprefix(stage) if str(key).startswith(stage) else ""
        if catalog.has("variation", name):
            try:
                made: Variation = catalog.load("variation", name)()
            except OptionError:
                return None
            return stage, made
    return None


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where}: '{shown(value, 40)}' is not a number")
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise ValueError(f"{where}: '{shown(value, 40)}' is not from -{LARGEST:g} to {LARGEST:g}")
    return float(value)


# --- Buddhabrot: where the orbits of a formula's samples go (Melinda Green)

NAME = re.compile(r"\w+", re.ASCII)  # another text is an expression
MOST, MOST_CELLS = 1_000_000_000, 2**20
STEPS_LOOKED_AT = 4  # of one orbit, which tell whether all lie on lines


@explained(
    of="formula whose orbits are drawn",
    least="orbits that escape in fewer steps are left out",
    red="most steps of the orbits that are red; 0: colors of the palette",
    green="most steps of the orbits that are green",
    blue="most steps of the orbits that are blue",
    anti="whether orbits that do not escape are drawn, in place of the others",
    even="share of samples that lie wherever orbits are drawn, 0.01 to 1",
    cells="cells of the plane of c, in which samples are chosen",
)
def buddhabrot(
    of: Any = "mandelbrot",
    least: int = 20,
    red: int = 0,
    green: int = 0,
    blue: int = 0,
    anti: bool = False,
    even: float = 0.25,
    cells: int = 16384,
) -> Buddhabrot:
    """Return the Buddhabrot of a formula: a name, an expression, or a table of a name and options.

    With `red`, `green` and `blue`, limits of steps, it is a Nebulabrot.
    """
    formula = _formula(of)
    if not isinstance(anti, bool):
        raise ValueError("anti is true or false")
    limits = {"red": red, "green": green, "blue": blue}
    for key, value in {"least": least, **limits}.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
            raise ValueError(f"{key} is a whole number from 0 to {MOST}")
    if any(limits.values()) and not all(limits.values()):
        raise ValueError("red, green and blue are limits of steps: give all three or none")
    if any(limits.values()) and min(limits.values()) < least:
        key = min(limits, key=lambda name: limits[name])
        raise ValueError(
            f"{key}: {limits[key]} is less than {least} steps, and orbits of fewer are left out "
            "(least)"
        )
    if any(limits.values()) and anti:
        raise ValueError("anti: orbits that do not escape all have the same length: no red, green")
    if isinstance(cells, bool) or not isinstance(cells, int) or not 64 <= cells <= MOST_CELLS:
        raise ValueError(f"cells is a whole number from 64 to {MOST_CELLS}")
    if isinstance(even, bool) or not isinstance(even, int | float) or not 0.01 <= even <= 1:
        raise ValueError("even is a number from 0.01 to 1")
    kind = "Anti-Buddhabrot" if anti else "Nebulabrot" if red else "Buddhabrot"
    return Buddhabrot(
        "buddhabrot",
        f"{kind}: where orbits go, of {formula.title}",
        formula,
        max(1, least),
        (red, green, blue) if red else (),
        anti,
        float(even),
        cells,
        {"of": of, "least": least, **limits, "anti": anti, "even": even, "cells": cells},
    )


def _formula(of: Any) -> Formula:
    table = dict(of) if isinstance(of, Mapping) else {"name": of}
    name = table.pop("name", "expression" if "step" in table else None)
    if not isinstance(name, str):
        raise ValueError(f"of: '{shown(of, 40)}' is neither a name nor a table with a name")
    if not NAME.fullmatch(name):
        name, table = "expression", {"step": name, **table}
    made = catalog.load_formula(name)
    if not catalog.has("formula", name):
        raise ValueError(f"of: '{name}' has no orbits of a plane: name an escape-time formula")
    try:
        formula: Formula = made(**table)
    except TypeError:
        raise ValueError(f"of: {name} has other options than {', '.join(table)}") from None
    if not formula.escapes or formula.tolerance > 0:
        raise ValueError(f"of: the orbits of '{name}' do not escape")
    if _is_line(formula):
        raise ValueError(f"of: the orbits of '{name}' stay on the real axis, and are a line here")
    return formula


def _is_line(formula: Formula) -> bool:
    """Tell whether steps leave the imaginary part as it is: that of an orbit from 0 is 0."""
    x, y, a, b = map(np.float64, (0.31, 0.27, 0.2, 0.45))
    with np.errstate(all="ignore"):
        points = itertools.islice(formula.orbit(True, x, y, a, b), STEPS_LOOKED_AT)
        return all(point.z[1] == y for point in points)


MAKERS = {"buddhabrot": buddhabrot, "flame": flame}

"""Buddhabrot: where the orbits of a formula's samples go (Melinda Green)."""

import re
from collections.abc import Mapping
from typing import Any

from fractals import catalog
from fractals.errors import shown
from fractals.kernels.buddhabrot import Buddhabrot
from fractals.kernels.formula import Formula, explained

NAME = re.compile(r"\w+", re.ASCII)  # another text is an expression
MOST, MOST_CELLS = 1_000_000_000, 2**20


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
def make(
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
    name = table.pop("name", None)
    if not isinstance(name, str):
        raise ValueError(f"of: '{shown(of, 40)}' is neither a name nor a table with a name")
    if not NAME.fullmatch(name):
        name, table = "expression", {"step": name, **table}
    try:
        formula: Formula = catalog.load("formula", name)(**table)
    except TypeError:
        raise ValueError(f"of: {name} has other options than {', '.join(table)}") from None
    if not formula.escapes or formula.tolerance > 0:
        raise ValueError(f"of: the orbits of '{name}' do not escape")
    return formula

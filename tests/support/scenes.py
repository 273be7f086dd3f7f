"""Small scenes, and lists of formulas for parametrized tests."""

from itertools import product

import pytest

from fractals import Scene, catalog, load_scene
from fractals.formulas._table import MAKERS

SIZE = (16, 9)
# Formulas that have files; those of the table are tested by `formulas/test_table.py`.
FILES = [name for name in catalog.names("formula") if name not in MAKERS]
JULIA = ["-0.4", "0.59"]  # c of a Julia set that has escaped and inside samples in every formula
PRECISIONS = ("float64", "float32")


def scene(formula="mandelbrot", julia=False, **keys):
    """Return a scene of 16x9 pixels, changed by flat keywords.

    The default coloring needs dz, so that most tests share compiled programs.
    """
    changes = {"size": SIZE, "supersampling": 1, "max_iterations": 60, "coloring": "distance"}
    changes |= {"formula": formula, **keys}
    if julia:
        changes["julia"] = JULIA if julia is True else julia
    return load_scene(**changes)


def view(x, y, width, **keys):
    """Return a scene of 160x90 pixels around a point."""
    return Scene().replace(center=(x, y), width=width, size=(160, 90), **keys)


def slow_but(often, values):
    """Return parameters of a test; those that are not in `often` are marked slow."""
    return [
        value
        if value in often
        else pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.slow)
        for value in values
    ]


def formula_for(coloring):
    """Return a formula that the coloring supports: one that converges, or one that escapes."""
    ends = catalog.load("coloring", coloring)().ends
    return "newton" if ends == "converging" else "mandelbrot"


def variants(powers=range(2, 9)):
    """Return every file's formula of the form f(z) + c; multibrot once for each power."""
    found = []
    for name in FILES:
        if not catalog.load("formula", name)().additive:
            continue
        if name == "multibrot":
            found += [{"name": name, "power": power} for power in powers]
        else:
            found.append(name)
    return found


def label(formula):
    """Return the test id of a formula, such as "multibrot3"."""
    return formula if isinstance(formula, str) else f"{formula['name']}{formula['power']}"


def name_and_power(formula):
    """Return name and power of a formula."""
    return (formula, 2) if isinstance(formula, str) else (formula["name"], formula["power"])


FORMULAS = variants()
# Maps that are not f(z) + c, that use the previous z, or that converge.
OTHERS = [name for name in FILES if not catalog.load("formula", name)().additive]
# For tests that compile a program for each formula. KIN resemble others: their tests are slow.
KIN = (
    *("buffalo", "celtic", "celtic_heart", "heart", "perpendicular_burning_ship", "shark_fin"),
    *(
        "simonobrot",
        "tricorn",
        {"name": "multibrot", "power": 3},
        {"name": "multibrot", "power": 8},
    ),
)
SOME_FORMULAS = [formula for formula in variants(powers=(8,)) if formula not in KIN]
each_compiled = pytest.mark.parametrize(
    "formula", slow_but(SOME_FORMULAS, [*SOME_FORMULAS, *KIN]), ids=label
)


# Kinds of pictures: whether of a Julia set, and the precision.
KINDS = tuple(product([False, True], PRECISIONS))
USUAL, OTHER = (False, "float64"), (True, "float32")


def each_kind(kinds=KINDS):
    """Return a mark that runs a test for each formula and kind of picture.

    The default run has all formulas of the usual kind, and one of the other one.
    """
    often = [*((formula, *USUAL) for formula in SOME_FORMULAS), ("mandelbrot", *OTHER)]
    every = [(formula, *kind) for formula in [*SOME_FORMULAS, *KIN] for kind in kinds]
    return pytest.mark.parametrize(
        ("formula", "julia", "precision"),
        slow_but(often, every),
        ids=lambda value: str(value) if isinstance(value, bool) else label(value),
    )

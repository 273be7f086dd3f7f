"""Small scenes, and the lists of what there is, for the tests to run over."""

import pytest

from fractals import catalog, load_scene

SIZE = (16, 9)
JULIA = ["-0.4", "0.59"]  # its Julia set has a boundary worth drawing under every formula
PRECISIONS = ("float64", "float32")


def scene(formula="mandelbrot", julia=False, **keys):
    """Return a tiny scene; `keys` are named without their table.

    Its coloring needs dz, so that most tests share what they compile.
    """
    changes = {"size": SIZE, "supersampling": 1, "max_iterations": 60, "coloring": "distance"}
    changes |= {"formula": formula, **keys}
    if julia:
        changes["julia"] = JULIA if julia is True else julia
    return load_scene(**changes)


def slow_but(often, values):
    """Return values of a test's arguments, or tuples of them; those not often run marked slow."""
    return [
        value
        if value in often
        else pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.slow)
        for value in values
    ]


def formula_for(coloring):
    """Return a formula whose orbits end as a coloring wants it."""
    ends = catalog.load("coloring", coloring)().ends
    return "newton" if ends == "converging" else "mandelbrot"


def variants(powers=range(2, 9)):
    """Return every formula f(z) + c, and each of these powers where such a one has powers."""
    found = []
    for name in catalog.names("formula"):
        if not catalog.load("formula", name)().additive:
            continue
        if name == "multibrot":
            found += [{"name": name, "power": power} for power in powers]
        else:
            found.append(name)
    return found


def label(formula):
    """Return a test's name for a formula."""
    return formula if isinstance(formula, str) else f"{formula['name']}{formula['power']}"


def name_and_power(formula):
    """Return a formula's name, and its power."""
    return (formula, 2) if isinstance(formula, str) else (formula["name"], formula["power"])


FORMULAS = variants()
# The others: other maps of z and c, with functions, with a memory, or that converge.
OTHERS = [name for name in catalog.names("formula") if not catalog.load("formula", name)().additive]
# Where each one costs a compilation. The last are kin of others: they are compiled in slow tests.
KIN = (
    *("buffalo", "celtic", "celtic_heart", "heart", "perpendicular_burning_ship", "shark_fin"),
    {"name": "multibrot", "power": 3},
)
SOME_FORMULAS = [formula for formula in variants(powers=(8,)) if formula not in KIN]
each_compiled = pytest.mark.parametrize(
    "formula", slow_but(SOME_FORMULAS, [*SOME_FORMULAS, *KIN]), ids=label
)

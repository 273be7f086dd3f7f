"""Programs of a site for deep views: perturbation, and what fills the tables that it reads.

A recorded tile would hold the tables of one orbit. So the page gets the names of the cells of each
call, and fills the cells for the orbit of each view.
"""

from typing import Any

import numpy as np

from fractals.backends.machine_code import Laid
from fractals.backends.wasm import CallRecorder
from fractals.deep.orbit_steps import traced
from fractals.kernels import bla, bla_tree, perturb
from fractals.kernels.formula import Formula
from fractals.kernels.layout import (
    BLA_SIZE,
    FLOATEXP_SIZE,
    LA_SIZE,
    MATRIX_SIZE,
    ORBIT_KINKS,
    STATE_SIZE,
    TINY_SIZE,
    EscapeTile,
    PerturbTables,
    PerturbView,
    PerturbWork,
    SampleGrid,
)
from fractals.kernels.perturb import PerturbOptions
from fractals.scene.model import validate

# Names of the arguments of programs. The page finds arrays and numbers by the names of cells.
ITERATE = "tile", "work", "grid", "tables", "view", "max_iterations", "scratch"
TREE = "bla_tree", "orbit", "levels", "ends", "exponent", "largest_c", "radius_squared", "part"
STAGES = "la_entries", "stages", "found", "orbit", "tiny", "first", "last", "within_squared"
Cells = list[tuple[str, Any]]


def record(recorder: CallRecorder, table: dict[str, Any], side: int) -> dict[str, Any]:
    """Record the programs that draw deep views of a scene's formula, and return their facts.

    Parameters
    ----------
    recorder : CallRecorder
        It gets the texts of the programs.
    table : dict
        Of a scene.
    side : int
        Samples of a tile's side.

    Returns
    -------
    dict
        The number of each program, the cells of each kind of call, and the formula's step and kinks
        as sums and products (`fractals.deep.orbit_steps.traced`).
    """
    formula = validate(table).make_formula()
    numbers: dict[str, int] = {}
    cells: dict[str, Cells] = {}

    def add(name: str, kind: str, names: tuple[str, ...]) -> None:
        numbers[name], arguments = recorder.calls[-1]
        cells[kind] = _cells(names, _flat(arguments))

    tables = PerturbTables(
        orbit=_zeros(1, ORBIT_KINKS + formula.kink_count),
        tiny=_zeros(1, TINY_SIZE),
        stages=_zeros(bla.MAX_STAGES, 2, dtype=np.int64),
        la_entries=_zeros(1, LA_SIZE),
        levels=_zeros(1, dtype=np.int64),
        bla_tree=_zeros(1, BLA_SIZE if formula.holomorphic else MATRIX_SIZE),
        floatexp_tree=_zeros(1, FLOATEXP_SIZE),
    )
    view = PerturbView(1.0, 0, 1.0, 0, 0, 0, True, 1, 0, 0, 0, 0)
    plane = _zeros(side, side)
    tile = EscapeTile(plane.astype(np.int32), plane, plane, plane, plane, _zeros(1, 1, 1))
    work = PerturbWork(_zeros(STATE_SIZE, 1, 1), _zeros(1, 2, dtype=np.int32))
    grid = SampleGrid(_zeros(2, side), _zeros(2, side))
    for name in ("p", "pd"):
        options = PerturbOptions(formula, julia=False, derivative="d" in name, floatexp=False)
        run: Any = recorder.compile(perturb.make_body, options)  # type: ignore[no-untyped-call]
        run.bound(tables, view, np.int32(1))(tile, work, grid)
        add(name, "iterate", ITERATE)
    for curved in (False, True) if formula.holomorphic else (False,):
        run = recorder.compile(bla_tree.make_tree_body, formula, curved)  # type: ignore[no-untyped-call]
        ends = _zeros(1, dtype=np.int64)
        run(tables.bla_tree, tables.orbit, tables.levels, ends, 0, 0.0, 1.0, (0, 0, 0, 0))
        add("curved" if curved else "straight", "tree", TREE)
    if formula.holomorphic:
        run = recorder.compile(bla.make_stages_body, formula, False)  # type: ignore[no-untyped-call]
        found = _zeros(2, dtype=np.int64)
        run(tables.la_entries, tables.stages, found, tables.orbit, tables.tiny, 0, 0, 1.0)
        add("stages", "stages", STAGES)
    return {
        "programs": numbers,
        "cells": cells,
        "step": traced(formula.step),
        "kinks": _kinks(formula),
        "lowest": bla.LOWEST_LEVEL,
        "within": bla_tree.WITHIN,
        "least": bla_tree.MIN_CURVED_EXPONENT,
    }


def _kinks(formula: Formula) -> dict[str, Any] | None:
    """Return how the numbers are computed whose absolute values a step takes; None without any."""
    find = formula.kinks
    if find is None:
        return None
    made = traced(lambda x, y, a, b: (*find(x, y), x)[:2])
    return {"step": made, "count": formula.kink_count, "degrees": formula.kink_degrees}


def _zeros(*shape: int, dtype: Any = np.float64) -> Any:
    return np.zeros(shape, dtype)


def _flat(arguments: tuple[Any, ...]) -> list[Any]:
    """Return arguments, those that were laid out before the call as others."""
    found: list[Any] = []
    for each in arguments:
        found += _flat(each.values) if isinstance(each, Laid) else [each]
    return found


def _cells(names: Any, values: Any) -> Cells:
    """Return names and kinds of the cells of arguments.

    The kind is the shape of an array, "d" of a float64, and "q" of a whole number.
    """
    found: Cells = []
    for name, value in zip(names, values, strict=True):
        if isinstance(value, np.ndarray):
            found.append((name, value.shape))
        elif isinstance(value, tuple):
            found += _cells(
                getattr(value, "_fields", [f"{name}{k}" for k in range(len(value))]), value
            )
        else:
            found.append((name, "d" if isinstance(value, float) else "q"))
    return found

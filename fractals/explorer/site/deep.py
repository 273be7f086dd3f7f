"""Programs of a site for deep views: perturbation, and what fills the tables that it reads.

A recorded tile would hold the tables of one orbit. So the page gets the names of the cells of each
call, and fills the cells for the orbit of each view.
"""

from typing import Any

import numpy as np

from fractals.backends.machine_code import Laid
from fractals.backends.wasm import CallRecorder
from fractals.deep.orbit_steps import traced
from fractals.kernels import bla, bla_tree, perturb, perturb_statistics
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
from fractals.kernels.orbit import Statistics
from fractals.kernels.perturb import PerturbOptions
from fractals.scene.geometry import make_layers
from fractals.scene.model import validate

# Names of the arguments of programs. The page finds arrays and numbers by the names of cells.
PACKETS = "tile", "work", "grid", "tables", "view", "max_iterations", "scratch"
ROWS = "tile", "work", "grid", "tables", "view", "later", "max_iterations", "cells"
STATISTICS = *ROWS[:4], "point", *ROWS[4:]
TREE = "bla_tree", "orbit", "levels", "ends", "exponent", "largest_c", "radius_squared", "part"
FLOATEXP_TREE = "floatexp_tree", "orbit", "tiny", "levels", "ends", "radius_squared"
STAGES = "la_entries", "stages", "found", "orbit", "tiny", "first", "last", "within_squared"
Cells = list[tuple[str, Any]]


def record(
    recorder: CallRecorder, variants: dict[str, dict[str, Any]], extended: bool, side: int
) -> dict[str, Any]:
    """Record the programs that draw deep views of a formula, and return their facts.

    Parameters
    ----------
    recorder : CallRecorder
        It gets the texts of the programs.
    variants : dict
        The table of a scene for each name of a program: with the same orbit statistics, or none.
        Those with statistics come without programs that fill tables, as they skip no step.
    extended : bool
        Whether each difference has an exponent of its own.
    side : int
        Samples of a tile's side.

    Returns
    -------
    dict
        Of each program the number and the cells of each call, in turn; the formula's step and kinks
        as sums and products (`fractals.deep.orbit_steps.traced`); and what the orbit must have.
    """
    scenes = {name: validate(table) for name, table in variants.items()}
    layers = {name: make_layers(scene) for name, scene in scenes.items()}
    formula = next(iter(scenes.values())).make_formula()
    planes = next(iter(layers.values())).statistics.planes
    calls: dict[str, list[tuple[int, Cells]]] = {}

    def add(name: str, names: tuple[str, ...]) -> None:
        number, arguments = recorder.calls[-1]
        calls[name] = [(number, _cells(names, _flat(arguments)))]

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
    plane, small = _zeros(side, side), _zeros(1, 1, 1)
    own = _zeros(planes, side, side) if planes else small
    tile = EscapeTile(plane.astype(np.int32), plane, plane, plane, plane, own)
    work = PerturbWork(_zeros(STATE_SIZE, side, side), np.ones((1, 2), np.int32))
    grid = SampleGrid(_zeros(2, side), _zeros(2, side))
    for name, scene in scenes.items():
        statistics = layers[name].statistics
        options = PerturbOptions(
            formula,
            scene.julia is not None,
            layers[name].derivative,
            floatexp=extended,
            statistics=statistics.compiled() if planes else Statistics(),
        )
        recorder.calls.clear()
        if planes:
            run: Any = recorder.compile(perturb_statistics.make_statistics_body, options)
            point = _zeros(3 + len(statistics.constants()))
            run.bound(tables, point, view, np.int32(1))(tile, work, grid)
        else:
            run = recorder.compile(perturb.make_body, options)
            run.bound(tables, view, np.int32(1))(tile, work, grid)  # flags: some samples go on
        kinds = {len(PACKETS): PACKETS, len(ROWS): ROWS, len(STATISTICS): STATISTICS}
        calls[name] = [
            (number, _cells(kinds[len(flat)], flat))
            for number, arguments in recorder.calls
            for flat in [_flat(arguments)]
        ]
    if not planes:
        _record_tables(recorder, formula, extended, tables, add)
    return {
        "calls": calls,
        "step": traced(formula.step),
        "kinks": _kinks(formula),
        "extended": extended,
        "moves": any(each.statistics.moves for each in layers.values()),
        "lowest": bla.LOWEST_LEVEL,
        "within": bla_tree.WITHIN,
        "least": bla_tree.MIN_CURVED_EXPONENT,
    }


def _record_tables(
    recorder: CallRecorder, formula: Formula, extended: bool, tables: PerturbTables, add: Any
) -> None:
    """Record the programs that fill the tables of an orbit."""
    ends = _zeros(1, dtype=np.int64)
    for curved in (False, True) if formula.holomorphic and not extended else (False,):
        run: Any = recorder.compile(bla_tree.make_tree_body, formula, curved)
        run(tables.bla_tree, tables.orbit, tables.levels, ends, 0, 0.0, 1.0, (0, 0, 0, 0))
        add("curved" if curved else "straight", TREE)
    if formula.holomorphic:
        run = recorder.compile(bla.make_stages_body, formula, extended)
        found = _zeros(2, dtype=np.int64)
        run(tables.la_entries, tables.stages, found, tables.orbit, tables.tiny, 0, 0, 1.0)
        add("stages", STAGES)
    elif extended:
        run = recorder.compile(bla_tree.make_floatexp_tree_body, formula)
        run(tables.floatexp_tree, tables.orbit, tables.tiny, tables.levels, ends, 1.0)
        add("floatexp", FLOATEXP_TREE)


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
        if name == "later":  # the view once more, with other names
            found += [(f"later_{own}", kind) for own, kind in _cells(("view",), (value,))]
        elif isinstance(value, np.ndarray):
            found.append((name, value.shape))
        elif isinstance(value, tuple):
            found += _cells(
                getattr(value, "_fields", [f"{name}{k}" for k in range(len(value))]), value
            )
        else:
            found.append((name, "d" if isinstance(value, float) else "q"))
    return found

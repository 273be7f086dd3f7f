"""The tables that samples of a deep view read: orbits, stages of LA, and trees of BLA."""

import operator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.deep.reference import Reference
from fractals.kernels import bla, bla_floatexp, la
from fractals.kernels.formula import Formula
from fractals.kernels.layout import (
    BLA_SIZE,
    FLOATEXP_SIZE,
    LA_SIZE,
    MATRIX_SIZE,
    TINY_INDEX,
    TINY_SIZE,
)

Points = NDArray[np.float64]
Indices = NDArray[np.int64]

# Bytes of tables that are kept for the next picture of the same orbits.
MAX_LAST_TABLES = 2**26


class Tables(NamedTuple):
    """What samples read of the reference orbits, in the order of `PerturbTables`."""

    arrays: tuple[Any, ...]
    ends: Indices
    stage_count: int
    level_count: int


@dataclass(frozen=True)
class TableMaker:
    """Makes tables on the CPU, in well under a second.

    A table that a view has no use for has one row, because arrays on a GPU can't be empty.

    Attributes
    ----------
    cpu : Backend
        Compiles and runs the programs that fill tables; it changes no number.
    formula : Formula
    julia : bool
        Whether the second orbit is that of 0.
    extended : bool
        Whether each difference has an exponent of its own.
    escape_radius : float
    exponent : int
        Exponent of two by which differences are divided.
    largest_c : float
        Upper bound of the parts of samples' distances from the reference; 0 leaves out the terms
        of second order in c.
    """

    cpu: Backend = field(compare=False)
    formula: Formula
    julia: bool
    extended: bool
    escape_radius: float
    exponent: int
    largest_c: float

    def tables(self, references: list[Reference], near_radius: bool) -> Tables:
        """Return the tables of orbits: those of the last picture, if it had the same.

        `near_radius`: whether samples read the distances of points from the escape radius.
        """
        for made, orbits, maker in last_tables:
            same = len(orbits) == len(references) and all(map(operator.is_, orbits, references))
            if same and maker == self:
                return made
        made = self._make(references, near_radius)
        size = sum(table.nbytes for table in made.arrays)
        last_tables[:] = [(made, references, self)] if size <= MAX_LAST_TABLES else []
        return made

    def _make(self, references: list[Reference], near_radius: bool) -> Tables:
        orbits = []
        for reference in references:
            columns = [reference.orbit, reference.kinks(self.formula, self.extended)]
            if near_radius:
                columns.append(reference.radius_margins(self.escape_radius, self.extended))
            orbits.append(np.concatenate(columns, axis=1))
        orbit = np.concatenate(orbits)
        tiny = np.concatenate([reference.tiny for reference in references])
        ends = np.cumsum([len(reference.orbit) for reference in references]) - 1
        rebase_start = 0
        if self.julia:
            rebase_start = int(ends[0]) + 1
            tiny[len(references[0].tiny) :, TINY_INDEX] += rebase_start
        if not len(tiny):
            tiny = np.zeros((1, TINY_SIZE))
            tiny[0, TINY_INDEX] = -1  # of no point
        levels, bla_tree = self._bla_tree(orbit, ends)
        stages, la_entries = self._stages(orbit, tiny, int(ends[0]))
        floatexp_tree = self._floatexp_tree(orbit, tiny, ends, levels)
        counts = len(stages), len(levels)
        stages = stages if len(stages) else np.zeros((1, 2), np.int64)
        levels = levels if len(levels) else np.zeros(1, np.int64)
        arrays = orbit, tiny, stages, la_entries, levels, bla_tree, floatexp_tree
        return Tables(tuple(map(np.ascontiguousarray, arrays)), ends, *counts)

    def _bla_tree(self, orbit: Points, ends: Indices) -> tuple[Indices, Points]:
        """Return the first rows of the tree's levels, and the tree."""
        begins = np.cumsum([0, *bla.level_sizes(len(orbit))])
        levels = begins[:-1].astype(np.int64)
        columns = BLA_SIZE if self.formula.holomorphic else MATRIX_SIZE
        tree = np.zeros((max(1, begins[-1]), columns))
        curved = self.largest_c > 0 and self.formula.holomorphic
        fill = self.cpu.compile(bla.make_tree_body, self.formula, curved)
        radius_squared = float(self.escape_radius**2)
        fill(tree, orbit, levels, ends, self.exponent, self.largest_c, radius_squared)
        return levels, tree

    def _stages(self, orbit: Points, tiny: Points, first_end: int) -> tuple[Indices, Points]:
        """Return the stages along the first orbit, and their entries."""
        if not self.formula.holomorphic:
            return np.zeros((0, 2), np.int64), np.zeros((1, LA_SIZE))
        stages, found = np.zeros((la.MAX_STAGES, 2), np.int64), np.zeros(2, np.int64)
        entries = np.zeros((len(orbit) // 2 + 64, LA_SIZE))
        last = _last_within(orbit[: first_end + 1], self.escape_radius)
        cut = self.cpu.compile(la.make_stages_body, self.formula, self.extended)
        cut(entries, stages, found, orbit, tiny, last, int(last < first_end))
        return stages[: found[0]], entries[: found[1] + 1]

    def _floatexp_tree(self, orbit: Points, tiny: Points, ends: Indices, levels: Indices) -> Points:
        """Return the tree of matrices with exponents."""
        if self.formula.holomorphic or not self.extended:
            return np.zeros((1, FLOATEXP_SIZE))
        sizes = bla.level_sizes(len(orbit))
        tree = np.zeros((max(1, sum(sizes)), FLOATEXP_SIZE))
        fill = self.cpu.compile(bla_floatexp.make_tree_body, self.formula)
        fill(tree, orbit, tiny, levels, ends, float(self.escape_radius**2))
        return tree


# The tables of the last picture, the orbits that they were made of, and what made them. A zoom at
# 3 % a step has the same tables for some twenty pictures.
last_tables: list[tuple[Tables, list[Reference], TableMaker]] = []


def _last_within(orbit: Points, escape_radius: float) -> int:
    """Return the last index at which no sample near Z has escaped.

    A skip tests for escape only where it ends, so none may lead to or over the step at which
    the reference, and with it every sample near it, escapes.
    """
    beyond = np.hypot(orbit[:, 0], orbit[:, 1]) > escape_radius * bla.WITHIN
    return int(beyond.argmax()) - 1 if beyond.any() else len(orbit) - 1

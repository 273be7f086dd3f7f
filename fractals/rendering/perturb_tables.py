"""The tables that samples of a deep view read: orbits, stages of LA, and trees of BLA."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, HostMemory
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
from fractals.threads import share

Points = NDArray[np.float64]
Indices = NDArray[np.int64]

# Entries of the lowest level of a tree that a thread fills with all levels above them; and these
# levels. They take longer than waking a thread.
BLOCK_LEVELS = 12
BLOCK = 1 << (BLOCK_LEVELS - 1)
MEMORY = HostMemory()
MAX_KEPT = 2**23  # bytes of a table whose memory is kept for that of another orbit
# Bytes of tables that are kept for the next picture of the same orbits.
MAX_LAST_TABLES = 2**26


class Tables(NamedTuple):
    """What samples read of the reference orbits, in the order of `PerturbTables`."""

    arrays: tuple[Any, ...]
    ends: Indices
    stage_count: int
    level_count: int
    rebase_bottom: int
    rebase_top: int


@dataclass(frozen=True)
class TableMaker:
    """Makes tables on the CPU, in well under a second.

    A table that a view has no use for has one row, because arrays on a GPU can't be empty.

    Attributes
    ----------
    cpu : Backend
        Compiles and runs the programs that fill tables; it changes no number.
    threads : int
        How many threads fill them; 0: the calling one.
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
    moves : bool
        Whether samples read the differences of consecutive points.
    """

    cpu: Backend = field(compare=False)
    threads: int = field(compare=False)
    formula: Formula
    julia: bool
    extended: bool
    escape_radius: float
    exponent: int
    largest_c: float
    moves: bool = False

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
            columns = [reference.orbit]
            if self.formula.kinks:
                columns.append(reference.kinks(self.formula, self.extended))
            if near_radius:
                columns.append(reference.radius_margins(self.escape_radius, self.extended))
            if self.moves:
                columns.append(reference.all_moves(self.extended))
            orbits.append(_joined(columns, axis=1))
        orbit, tiny = _joined(orbits), _joined([reference.tiny for reference in references])
        ends = np.cumsum([len(reference.orbit) for reference in references]) - 1
        if self.julia:
            tiny[len(references[0].tiny) :, TINY_INDEX] += int(ends[0]) + 1
        if not len(tiny):
            tiny = np.zeros((1, TINY_SIZE))
            tiny[0, TINY_INDEX] = -1  # of no point
        levels, bla_tree, fill = self._bla_tree(orbit, ends)
        cut, cuts = self._stages(orbit, tiny, ends), []

        def work(block: int | None) -> None:
            if block is None:
                cuts.append(cut())
            else:
                fill(0, min(BLOCK_LEVELS, len(levels)), block * BLOCK, (block + 1) * BLOCK)

        blocks = -(-len(orbit) // (BLOCK << bla.LOWEST_LEVEL))
        share([None, *range(blocks)], work, self.threads if blocks > 1 else 0)
        fill(BLOCK_LEVELS, len(levels), 0, len(orbit))
        ((stages, la_entries, first_stages),) = cuts
        floatexp_tree = self._floatexp_tree(orbit, tiny, ends, levels)
        bottom = first_stages if self.julia else 0
        counts = first_stages, len(levels), bottom, len(stages) - 1
        stages = stages if len(stages) else np.zeros((1, 2), np.int64)
        levels = levels if len(levels) else np.zeros(1, np.int64)
        arrays = orbit, tiny, stages, la_entries, levels, bla_tree, floatexp_tree
        return Tables(tuple(map(np.ascontiguousarray, arrays)), ends, *counts)

    def _bla_tree(
        self, orbit: Points, ends: Indices
    ) -> tuple[Indices, Points, Callable[[int, int, int, int], None]]:
        """Return the first rows of the tree's levels, the tree, and what fills a part of it."""
        sizes = bla.level_sizes(len(orbit))
        begins = np.cumsum([0, *sizes])
        levels = begins[:-1].astype(np.int64)
        columns = BLA_SIZE if self.formula.holomorphic else MATRIX_SIZE
        tree = _empty(begins[-1], columns) if sizes else np.zeros((1, columns))
        tree[begins[1:] - 1] = 0  # the entries that are never valid
        curved = self.largest_c > 0 and self.formula.holomorphic
        run = self.cpu.compile(bla.make_tree_body, self.formula, curved)
        facts = ends, self.exponent, self.largest_c, float(self.escape_radius**2)

        def fill(*part: int) -> None:
            run(tree, orbit, levels, *facts, part)

        fill(0, 0, 0, 0)  # compiled here, as other threads hear no Ctrl-C
        return levels, tree, fill

    def _stages(
        self, orbit: Points, tiny: Points, ends: Indices
    ) -> Callable[[], tuple[Indices, Points, int]]:
        """Return what cuts the stages, and returns them, their entries, and how many come first.

        First come those along the first orbit. Where a rebased sample may be too small for the tree
        of BLA, those along the second follow.
        """
        if not self.formula.holomorphic:
            return lambda: (np.zeros((0, 2), np.int64), np.zeros((1, LA_SIZE)), 0)
        stages, found = np.zeros((la.MAX_STAGES, 2), np.int64), np.zeros(2, np.int64)
        entries = _empty(len(orbit) // 2 + 64, LA_SIZE)
        run = self.cpu.compile(la.make_stages_body, self.formula, self.extended)
        within_squared = (self.escape_radius * bla.WITHIN) ** 2

        def cut() -> tuple[Indices, Points, int]:
            run(entries, stages, found, orbit, tiny, 0, int(ends[0]), within_squared)
            first_stages = int(found[0])
            if self.julia and self.extended:
                begin, last = int(ends[0]) + 1, int(ends[1])
                run(entries, stages, found, orbit, tiny, begin, last, within_squared)
            return stages[: found[0]], entries[: found[1] + 1].copy(), first_stages

        run(entries, stages, found, orbit, tiny, 0, 0, within_squared)  # compiled here, as above
        return cut

    def _floatexp_tree(self, orbit: Points, tiny: Points, ends: Indices, levels: Indices) -> Points:
        """Return the tree of matrices with exponents."""
        if self.formula.holomorphic or not self.extended:
            return np.zeros((1, FLOATEXP_SIZE))
        sizes = bla.level_sizes(len(orbit))
        tree = np.zeros((max(1, sum(sizes)), FLOATEXP_SIZE))
        fill = self.cpu.compile(bla_floatexp.make_floatexp_tree_body, self.formula)
        fill(tree, orbit, tiny, levels, ends, float(self.escape_radius**2))
        return tree


def _empty(rows: int, columns: int) -> Points:
    """Return an uninitialised table, in memory of earlier ones if it is small enough to be kept."""
    keeps = 8 * rows * columns <= MAX_KEPT
    table: Points = (MEMORY.empty if keeps else np.empty)((rows, columns), np.float64)
    return table


def _joined(parts: list[Points], axis: int = 0) -> Points:
    """Return the parts one after the other; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


# The tables of the last picture, the orbits that they were made of, and what made them. A zoom at
# 3 % a step has the same tables for some twenty pictures.
last_tables: list[tuple[Tables, list[Reference], TableMaker]] = []

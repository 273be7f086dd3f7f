"""Probes: what is found for a view from a few of its samples, before it is drawn."""

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels.formula import Formula
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Samples, coordinates, indices
from fractals.scene.model import MAX_ITERATIONS
from fractals.threads import apart, share

# What is found for a scene from a few samples of its view: the limit of iterations, the offset.
#
# Both depend on the view alone. The size of the picture, its supersampling, the device and the
# method do not change them, so a small and a large picture of a scene have equal colors. The offset
# is continuous along a zoom, so that the colors of a film do not jump.


Counts = NDArray[np.int32]
Floats = NDArray[np.float64]

# Samples across and down that are iterated before the picture: of a view's probe, and of the probe
# that finds the limit of a view that is not deep.
PROBE_SIZE = (32, 18)
LIMIT_SIZE = (48, 27)
# Share of a deep view's samples: the limit is high enough if fewer escape by one 4 times as high.
CHANGED = 1 / 256
# Share of a shallow view's samples. The limit is 4 times the count that this share exceeds. Near
# the border, the share of samples that exceed a count falls about as 1 / count, so a quarter of
# this share is still drawn as inside.
LATE = 1 / 200
# The limit that the zoom suggests is kept if at most this share of the samples escapes later.
KEPT = 1 / 500
# Shares of the sorted smooth counts whose means stand for the lowest and for the median. Means of
# many samples change smoothly along a zoom; the least count jumps.
LOWEST, MEDIAN = (0.0, 1 / 8), (3 / 8, 5 / 8)
# Room below the lowest counts, as a share of their distance from the median: keeps the steep
# beginning of the logarithm, where bands are narrow, out of the picture.
ROOM = 0.2
# log2 of the widths that are probed, in widths of the view, and their weights, a raised cosine.
# A zoom into a lake of nearly equal counts makes their spread small, which turns the palette. Over
# these 6 octaves it turns by 0.30 per doubling of the zoom (median of 8 places, zooms of 2^28 to
# 2^70; at most 1.3); over the 3 octaves from 2 to -1 by 0.43 (at most 1.7). Contrast is the price:
# the counts of a view span 1.25 turns instead of 1.92.
SCALES = {5: 1, 4: 3, 3: 5, 2: 6, 1: 5, 0: 3, -1: 1}
# Steps of a probe, by its limit, from which another thread takes them: the main one hears Ctrl-C.
MANY_STEPS = 2**24
STEPS = 256  # per count, to which the offset is rounded, because logarithms differ between CPUs


def is_settled(before: int | None, inside: int, samples: int) -> bool:
    """Tell whether a limit 4 times as high let few more samples of the probe escape."""
    return before is not None and before - inside <= CHANGED * samples


def shallow_limit(counts: Counts, limit: int, least: int) -> int | None:
    """Return the limit of a view that is not deep, from the probe's counts under a limit.

    `least` is the limit by the zoom. None: the counts under 4 times the limit are needed.
    """
    escaped = np.sort(counts[counts < limit], axis=None)[::-1]
    late = int(LATE * counts.size)
    found = 4 * int(escaped[late]) if escaped.size > late else 0
    if found > limit and 4 * limit <= MAX_ITERATIONS:
        return None
    beyond = np.count_nonzero(escaped >= least)
    if found <= least or (limit > least and beyond <= KEPT * counts.size):
        return least
    return min(found, MAX_ITERATIONS)


def limit_from(counts: Counts, limit: int, least: int) -> int:
    """Return the limit of a deep picture from the probe's counts under a limit.

    Samples between those of the probe may take longer to escape.
    """
    escaped = counts[counts < limit]
    if escaped.size:
        limit = 4 * int(escaped.max())
    return min(max(limit, least), MAX_ITERATIONS)


def smooth_counts(counts: Counts, x: Floats, y: Floats, formula: Formula, radius: float) -> Floats:
    """Return the smooth counts of samples that escaped at z = x + iy."""
    start, scale = formula.fraction_constants(radius)
    with np.errstate(all="ignore"):
        beyond = np.log2(np.log2(x * x + y * y)) - start
        rest = np.where(np.isfinite(beyond), 1 - scale * beyond, 0)
    smooth: Floats = counts + np.clip(rest, 0, 1)
    return smooth


def lowest_and_median(smooth: Floats) -> tuple[float, float] | None:
    """Return means of the lowest smooth counts of a view, and of those about the median."""
    if not smooth.size:
        return None
    ordered = np.sort(smooth)
    return _mean(ordered, *LOWEST), _mean(ordered, *MEDIAN)


def count_offset(found: Mapping[int, tuple[float, float] | None], depth: float) -> float:
    """Return what is subtracted from the smooth counts of a view.

    `found` has for each of `SCALES` what `lowest_and_median` returns for the samples that escaped
    in a view of that width. At a depth of 0 nothing is subtracted, at 1 somewhat less than the
    lowest counts. Between them, the logarithm of what remains of the median is linear in the depth,
    so a zoom changes colors at an even rate.
    """
    known = [(means, weight) for power, weight in SCALES.items() if (means := found[power])]
    if not known:
        return 0.0
    weights = [weight for _, weight in known]
    lowest, median = (
        float(np.average([means[k] for means, _ in known], weights=weights)) for k in range(2)
    )
    most = max(0.0, lowest - 1 - ROOM * (median - lowest))
    offset: float = 1 + median - (1 + median) ** (1 - depth) * (1 + median - most) ** depth
    return round(STEPS * max(0.0, offset)) / STEPS


def _mean(ordered: Floats, first: float, last: float) -> float:
    """Return the mean of the values between two shares of their number, at least one value."""
    begin = int(first * len(ordered))
    part = ordered[begin : max(begin + 1, round(last * len(ordered)))]
    return float(part.sum()) / len(part)  # `mean` takes twice as long


Pairs = Sequence[tuple[Any, NDArray[Any]]]  # arrays on the device, and where they are copied to


class Begun:
    """Samples whose launch is made: a GPU may not have done it yet.

    With `tile`, the escape data on the device, the caller copies `flags`, and then calls `finish`.
    """

    flags: Pairs = ()

    def __init__(self, tile: EscapeTile) -> None:
        self.tile = tile

    def finish(self) -> bool:
        """Make the launches that are left, and tell whether there were any.

        Then what was copied with the flags is copied once more.
        """
        return False


Positions = NDArray[np.float64]


@dataclass
class ViewProbe:
    """Iterates some samples of a plan's view: PROBE_SIZE, or LIMIT_SIZE."""

    backend: Backend  # where the samples are iterated
    plan: Plan
    # ``begin(shape, grid, last)`` returns samples that are `Begun`
    begin: Callable[..., Begun]
    # Probes of several widths at once; 0 or 1: one after the other, in the calling thread
    threads: int = 0
    seconds: float = field(default=0.0, init=False)  # that iterating took, without compiling
    # The smooth counts of the view, where all samples escaped: the limit does not change these.
    _escaped: Floats | None = field(default=None, init=False)

    def compile(self) -> None:
        """Compile the program, which is done when it is first called: for one sample."""
        self._begun(1, size=(1, 1))

    def counts(self, limit: int) -> tuple[Counts, Floats]:
        """Return all counts, and the smooth counts of the samples that escaped."""
        with self._timed():
            counts, (smooth,) = self._results([self._begun(limit)], limit)
        return counts[0], smooth

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """Add the time of what is done to `seconds`."""
        begun = perf_counter()
        yield
        self.seconds += perf_counter() - begun

    def _begun(
        self, limit: int, scale: Fraction = Fraction(1), size: tuple[int, int] = PROBE_SIZE
    ) -> Begun:
        """Return samples that are iterated; `scale` multiplies the width of the view."""
        backend = self.backend
        if self.plan.explicit_positions:
            places = indices((slice(0, size[1]), slice(0, size[0])))
            samples = Samples(self._sized(scale, size), size)
            grid = samples.on_device(backend, *places, size[::-1])
        else:
            parts = (part.astype(backend.real) for part in self._grid(scale, size))
            grid = SampleGrid(*map(backend.to_device, parts))
        begin = functools.partial(self.begin, size[::-1], grid, limit)
        long = backend.kind == "cpu" and limit * math.prod(size) > MANY_STEPS
        return apart(begin) if long else begin()

    def _copy(self, begun: Sequence[Begun], pairs: Pairs) -> None:
        """Copy arrays of samples to the host, with one wait where one launch has iterated all."""
        self.backend.all_to_host([*pairs, *(flags for each in begun for flags in each.flags)])
        if sum(each.finish() for each in begun):
            self.backend.all_to_host(pairs)

    def _results(self, begun: Sequence[Begun], limit: int) -> tuple[Counts, list[Floats]]:
        """Return the counts of each tile, and the smooth counts of its samples that escaped."""
        shape = len(begun), *PROBE_SIZE[::-1]
        counts = np.empty(shape, np.int32)
        x, y = (np.empty(shape, self.backend.real) for _ in range(2))
        found = (array for each in begun for array in (each.tile.count, each.tile.x, each.tile.y))
        into = itertools.chain(*zip(counts, x, y, strict=True))
        self._copy(begun, list(zip(found, into, strict=True)))
        escaped = counts < limit
        z = x[escaped].astype(np.float64), y[escaped].astype(np.float64)
        radius = self.plan.scene.iteration.escape_radius
        smooth = smooth_counts(counts[escaped], *z, self.plan.formula, radius)
        ends = np.cumsum(np.count_nonzero(escaped, axis=(1, 2)))
        return counts, np.split(smooth, ends[:-1])

    def _sized(self, scale: Fraction, size: tuple[int, int]) -> Plan:
        """Return the plan of the samples, in a view of `scale` times the width."""
        plan = replace(self.plan, width=scale * self.plan.width)
        if plan.view.projection == "plane":
            plan = replace(plan, size=size, supersampling=1, antialias="grid")
        return plan

    def _grid(self, scale: Fraction, size: tuple[int, int]) -> tuple[Positions, Positions]:
        """Return columns and rows as of `coordinates`; `scale` is a power of two."""
        if self.plan.deep and size == PROBE_SIZE and scale != 1:
            # They are distances from the center, which a power of two scales without rounding.
            columns, rows = self._grid(Fraction(1), size)
            return float(scale) * columns, float(scale) * rows
        return coordinates(self._sized(scale, size))

    def shallow_limit(self, prepare: Callable[[int], None] | None = None) -> int:
        """Return the limit of iterations of a shallow view: few more samples escape beyond it.

        The first limit tried is that which the zoom suggests; each next one is 4 times as high, and
        ``prepare(limit)`` is called before it is probed.
        """
        limit = self.plan.least_limit
        while (found := self.limit_under(limit)) is None:
            limit *= 4
            if prepare:
                prepare(limit)
        return found

    def limit_under(self, limit: int) -> int | None:
        """Return what `shallow_limit` does, if samples iterated up to `limit` tell it."""
        counts = np.empty(LIMIT_SIZE[::-1], np.int32)
        with self._timed():
            begun = self._begun(limit, size=LIMIT_SIZE)
            self._copy([begun], [(begun.tile.count, counts)])
        return shallow_limit(counts, limit, self.plan.least_limit)

    def settled_limit(
        self, limit: int, prepare: Callable[[int], None] | None = None, patience: int = 0
    ) -> int:
        """Return the limit of iterations of a deep view, as `shallow_limit` does from `limit` on.

        While no sample escapes, limits up to `patience` are tried.
        """
        before = None  # samples that had not escaped at the limit before
        while True:
            counts, smooth = self.counts(limit)
            inside = int((counts == limit).sum())
            self._escaped = None if inside else smooth
            settled = is_settled(before, inside, counts.size)
            settled = settled and (inside < counts.size or limit >= patience)
            if inside == 0 or settled or 4 * limit > MAX_ITERATIONS:
                return limit_from(counts, limit, self.plan.least_limit)
            before, limit = inside, 4 * limit
            if prepare:
                prepare(limit)

    def count_offset(self, limit: int) -> float:
        """Return the count offset of a view that has a depth, from probes of several widths."""
        own = self._escaped
        # Only the iteration is done in threads, which would wait for each other in the rest.
        begun: dict[int, Begun] = {}

        def probe(power: int) -> None:
            begun[power] = self._begun(limit, Fraction(2) ** power)

        with self._timed():
            share([power for power in SCALES if power or own is None], probe, self.threads)
            _, smooth = self._results(list(begun.values()), limit)
        found = dict(zip(begun, smooth, strict=True))
        if own is not None:
            found[0] = own
        return count_offset(
            {k: lowest_and_median(part) for k, part in found.items()}, self.plan.depth
        )

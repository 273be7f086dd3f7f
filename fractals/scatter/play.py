"""The points of a scatter image are thrown, and hits are counted."""

import functools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.backends.base import Backend, moved, run_pieces
from fractals.backends.devices import choose, choose_one, open_backend, open_chosen
from fractals.backends.probe import Device, memory_size
from fractals.color import palette as palettes
from fractals.color.palette import srgb_from_linear
from fractals.errors import DifferenceError
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Keeps
from fractals.scatter import game as games
from fractals.scatter.buddhabrot import Buddhabrot
from fractals.scatter.cells import Cells
from fractals.scatter.game import HIT, SHADES
from fractals.scatter.plan import (
    CHUNK,
    Hits,
    ScatterPlan,
    Totals,
    grid_note,
    make_scatter_plan,
)
from fractals.scene.model import Scene
from fractals.threads import Progress, threads_for

# --- Sums of more than one palette: another one is shown before its points are thrown again
#
# A hit of the CPU's machine adds four whole numbers. Each has room for a second one in its upper
# bits: the color in four functions of the place along the palette. Together with the palette's own
# red, green and blue and the count these are eight sums a bucket, and another palette is, nearly,
# a weighted sum of them. The functions are those that fit the palettes of the catalog best, and
# this palette at other offsets.

SHIFT = 38  # the first of the upper bits: below is room for 2^30 hits
ROOM = 2 ** (64 - SHIFT)
MOST = 63  # of a function
FUNCTIONS = 4
OFFSETS = 8
ROUNDS = 12  # of the iteration, after which it agrees with a decomposition to 14 digits
Numbers = NDArray[np.float64]


class Spectrum:
    """What a hit adds, and how sums of it show another palette."""

    def __init__(self, plan: ScatterPlan) -> None:
        own = plan.formula.colors(plan.shades()).astype(np.int64)
        functions = _functions(plan.shades())
        opacity = own[:, 3:] / HIT
        upper = np.rint(np.tile(functions, (len(own) // SHADES, 1)) * opacity).astype(np.int64)
        self.colors = np.ascontiguousarray(own | upper << SHIFT)
        self._basis = np.column_stack([plan.shades() * HIT, np.full(SHADES, HIT), functions])

    def divided(self, sums: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the sums of the palette, and those of the functions, of hits of `colors`."""
        lower = sums & (2**SHIFT - 1)
        upper = (sums >> SHIFT & (ROOM - 1)).astype(np.float32)
        hits = lower[..., 3:] // HIT
        return lower, np.where(hits * MOST < ROOM, upper, np.float32(MOST / 2) * hits)

    def mixed(
        self, sums: NDArray[np.int64], upper: NDArray[np.float32], plan: ScatterPlan
    ) -> NDArray[np.int64]:
        """Return about what the hits add up to with the palette of a plan."""
        weights, *_ = np.linalg.lstsq(self._basis, plan.shades() * HIT, rcond=None)
        found = sums.copy()
        eight = np.concatenate([sums.astype(np.float32), upper], axis=-1)
        found[..., :3] = (eight @ weights.astype(np.float32)).clip(0)
        return found


def _functions(shades: Numbers) -> Numbers:
    """Return the functions: whole numbers up to MOST, an array of shape (SHADES, FUNCTIONS)."""
    turned = [np.roll(shades, SHADES * k // OFFSETS, axis=0) for k in range(1, OFFSETS)]
    wanted = np.concatenate([_catalog(), *turned], axis=1)
    known, _ = np.linalg.qr(np.column_stack([np.ones(SHADES), shades]))
    best = _largest(wanted - known @ (known.T @ wanted))
    low, high = best.min(axis=0), best.max(axis=0)
    whole: Numbers = np.rint((best - low) / np.maximum(high - low, 1e-9) * MOST)
    return whole


def _largest(columns: Numbers) -> Numbers:
    """Return the FUNCTIONS singular vectors of the largest values, by subspace iteration.

    `np.linalg.svd` finds all of them, in 0.1 s and more: the first picture would wait for it.
    """
    found = np.cos(np.pi * np.outer(np.arange(SHADES) + 0.5, np.arange(1, 3 * FUNCTIONS)) / SHADES)
    for _ in range(ROUNDS):
        found, _ = np.linalg.qr(columns @ (columns.T @ found))
    seen = columns.T @ found
    _, turn = np.linalg.eigh(seen.T @ seen)
    largest: Numbers = found @ turn[:, : -FUNCTIONS - 1 : -1]
    return largest


@functools.cache
def _catalog() -> Numbers:
    """Return the palettes of the catalog: a column for each channel."""
    places = np.arange(SHADES) / (SHADES - 1)
    loaded = [palettes.load(name) for name in catalog.names("palette")]
    columns = [
        srgb_from_linear(each.linear(places % 1 if each.cyclic else places)) for each in loaded
    ]
    return np.concatenate(columns, axis=1)


# --- Games

CHECKED, STEPS = 4, 100  # trajectories, and their steps, that are compared with plain Python
MOST_POINTS = 2**30  # in a machine whose sums have upper bits
SHARE = 32  # trajectories of a moment, at least
ORBITS = 4096  # samples that a thread iterates together
PLACES = "fractals.scatter.cpu_orbit_code:make_places_body"  # by its name: it needs Numba
# Jobs of a thread, and trajectories of a job, at least: a pool of fewer takes longer for a point.
JOBS, LEAST = 4, 256
# Chunks that one launch plays. A GPU of NVIDIA is faster with more, up to MOST_CHUNKS.
LAUNCH = {"python": 1, "cpu": 4, "simulator": 4, "opencl": 64, "cuda": 64}
MOST_CHUNKS = 4096
POINT = 80  # iterations of a picture that take as long as a point, which waits for the GPU's memory


class Throw(NamedTuple):
    """Trajectories of a formula's numbers, and where their points fall."""

    data: Any
    window: games.Window
    trajectories: range


class Player:
    """Plays chunks of a scatter image, and adds up what they hit."""

    def __init__(
        self,
        plan: ScatterPlan,
        backend: Backend,
        data: Any = None,
        moments: Sequence[ScatterPlan] = (),
    ) -> None:
        """Take the numbers of the formula, if they are known.

        `moments`: plans of a picture that moves, each of which plays its share of the game.
        """
        self.plan, self.backend, self.moments = plan, backend, moments
        self._data = data
        self.spectrum: Spectrum | None = None  # what is counted for other palettes as well

    @property
    def known(self) -> bool:
        """Tell whether the numbers of the formula are there."""
        return self._data is not None

    def planned(self, plan: ScatterPlan) -> "Player":
        """Return what plays another plan of the same formula, whose numbers may be known."""
        return Player(plan, self.backend, self._data, self.moments)

    def data(self, progress: Progress | None = None) -> Any:
        """Return the numbers of the formula, which a Buddhabrot finds by a pilot.

        `progress` is called while it looks for them; what it raises ends the pilot.
        """
        if self._data is None:
            plan, formula = self.plan, self.plan.formula
            if not isinstance(formula, Buddhabrot):
                self._data = plan.data(self.backend.real)
            else:
                pilot = plan.pilot()
                numbers, window = pilot.orbit_numbers(), pilot.window()
                cells = Cells(formula, self.backend, numbers, window, plan.game(0), progress)
                self._data = cells.orbits()
        return self._data

    def throws(self, trajectories: range, counted: range | None = None) -> list[Throw]:
        """Return what is thrown where; `counted`: rows of buckets, in place of the plan's own."""
        plan, data = self.plan, self.data()
        counted = plan.counted if counted is None else counted
        if not self.moments:
            return [Throw(data, plan.window(counted), trajectories)]
        shares, moments = plan.chunks * CHUNK // SHARE, len(self.moments)
        found = []
        for k, moment in enumerate(self.moments):
            first, last = (shares * each // moments * SHARE for each in (k, k + 1))
            own = range(max(first, trajectories.start), min(last, trajectories.stop))
            if own:
                # Cells of orbits are those of the frame: whatever they are, there is no bias.
                numbers = data if plan.orbits else moment.data(self.backend.real)
                found.append(Throw(numbers, moment.window(counted), own))
        return found

    def play(self, before: Hits, last: int, progress: Progress | None) -> Hits:
        """Return the hits of more chunks, up to the one before `last`, with those before."""
        counter = self.counter()
        counter.add(range(before.chunks * CHUNK, last * CHUNK), progress)
        sums, hits = counter.found()
        if before.chunks:  # zeros take memory as soon as they are read
            sums += before.sums
        return self.plan.hits(sums, last, before.hits + hits)

    def counter(self) -> "Counter":
        """Return what counts the hits of trajectories, none so far."""
        machine = self.plan.device == "cpu"
        return MachineCounter(self) if machine else KernelCounter(self, self.plan.shape)

    def check(self, seed: int) -> None:
        """Compare the hits of some trajectories with those of plain Python.

        `DifferenceError`: they differ.
        """
        plan, dice = self.plan, random.Random(seed)
        first = dice.randrange(max(1, plan.chunks * CHUNK - CHECKED))
        if plan.band:
            plan = replace(plan, rows=plan.rows_of(dice.randrange(plan.bands)))
        short = plan.scene.replace(steps=min(STEPS, plan.scene.scatter.steps))
        python = open_backend(choose("python").device, plan.precision)
        found = []
        # The orbits of both have the same cells: plain Python takes minutes to find some.
        data = self.data() if plan.orbits else None
        for kind, backend in ((plan.device, self.backend), ("python", python)):
            player = Player(replace(plan, scene=short, device=kind), backend, data)
            found.append(player.sums(range(first, first + CHECKED), None)[0])
        if not np.array_equal(found[0], found[1]):
            raise DifferenceError(
                f"the points of trajectory {first} and the next differ from those of plain Python"
            )

    def sums(self, trajectories: range, progress: Progress | None) -> tuple[NDArray[np.int64], int]:
        """Return the sums of some trajectories, and how many of their points are in view."""
        counter = self.counter()
        counter.add(trajectories, progress)
        return counter.found()

    def totals(self, begin: Callable[[], Progress | None]) -> Totals:
        """Return what all orbits of a picture add up to, without its buckets.

        Two games are played, one of the whole picture and one within its edge. `begin` returns the
        progress function of each.
        """
        plan = self.plan
        rows, columns, m = plan.all_rows, plan.columns, plan.margin
        trajectories = range(plan.chunks * CHUNK)

        def played(counted: range) -> tuple[NDArray[np.int64], int]:
            # A width of 0: buckets below each other are one.
            throws = [
                throw._replace(window=throw.window._replace(width=0))
                for throw in self.throws(trajectories, counted)
            ]
            counter = KernelCounter(self, (1, columns))
            counter.play(throws, begin())
            return counter.found()

        every, hits = played(range(rows))
        inner, _ = played(range(m, rows - m))
        found = inner[0, m : columns - m].sum(axis=0)
        return Totals(found, int(every[..., 3].sum()), hits)


class Counter(Protocol):
    """Counts the hits of more and more trajectories."""

    upper: NDArray[np.float32] | None  # what `spectrum` counts, until the newest call of `found`

    def add(self, trajectories: range, progress: Progress | None) -> None:
        """Play some trajectories. Where `progress` raises, the sums are of no use."""

    def found(self) -> tuple[NDArray[np.int64], int]:
        """Return the sums until now, and how many points are in view."""


class MachineCounter:
    """Counts on the threads of the CPU."""

    def __init__(self, player: Player) -> None:
        from fractals.scatter.cpu_game import POOL, Machine

        plan = player.plan
        self._player, self._plan = player, plan
        self._samples = Iterated(player) if plan.orbits else None
        self._at_once = ORBITS if plan.orbits else POOL
        self._spectrum = player.spectrum
        self.upper: NDArray[np.float32] | None = None
        self._before: NDArray[np.int64] | None = None  # sums that are not in the machine any more
        self._points = 0  # that are in the machine
        wide, julia = plan.orbits or player.spectrum is not None, plan.scene.julia is not None
        packed = self._samples is not None and self._samples.packed
        self._machine = Machine(
            plan.precision, plan.formula, plan.shape, wide, julia=julia, packed=packed
        )
        threads = player.backend.threads
        # Each thread's part of the machine, and what it has thrown last.
        self._free: list[tuple[Any, Throw | None]] = [
            (self._machine.player(), None) for _ in range(threads)
        ]

    def add(self, trajectories: range, progress: Progress | None) -> None:
        """Play some trajectories."""
        throws = self._player.throws(trajectories)
        if self._plan.orbits:
            throws = [each._replace(window=_weighted(each)) for each in throws]
        elif self._spectrum:
            colors = self._spectrum.colors
            throws = [each._replace(window=each.window._replace(colors=colors)) for each in throws]
            points = len(trajectories) * self._plan.steps
            if self._points + points > MOST_POINTS:
                self._empty()
            self._points += points

        def work(job: tuple[Throw, range]) -> None:
            throw, part = job
            player, last = self._free.pop()  # of the list, one step under the interpreter's lock
            if last and not np.array_equal(last.window.colors, throw.window.colors):
                self._flush(player, last)
            game = self._plan.game(part[0])
            data = self._samples.of(throw.data, game, len(part)) if self._samples else throw.data
            self._machine.play(player, data, game, throw.window, len(part))
            self._free.append((player, throw))

        at_once = self._at_once
        if not self._plan.orbits:  # each thread has some to do, where trajectories are long
            share = len(trajectories) // (JOBS * len(self._free))
            at_once = min(at_once, max(LEAST, share))
        run_pieces(self._player.backend, _jobs(throws, at_once), work, progress)

    def found(self) -> tuple[NDArray[np.int64], int]:
        """Return the sums until now, and how many points are in view."""
        sums = self._empty() if self._spectrum else self._flushed()
        return sums, sum(int(bins.tally[0]) for (_, bins), _ in self._free)

    def _flush(self, player: Any, last: Throw) -> None:
        """Add what a thread has kept to the sums, in the colors of its time."""
        none = self._plan.game(0)
        data = self._samples.of(last.data, none, 0) if self._samples else last.data
        self._machine.play(player, data, none, last.window, 0)

    def _flushed(self) -> NDArray[np.int64]:
        for player, last in self._free:
            if last:
                self._flush(player, last)
        sums: NDArray[np.int64] = self._machine.sums()
        return sums

    def _empty(self) -> NDArray[np.int64]:
        """Take the sums out of the machine, and return all until now."""
        assert self._spectrum
        sums, upper = self._spectrum.divided(self._flushed())
        self._machine.clear()
        if self._before is not None and self.upper is not None:
            sums, upper = sums + self._before, upper + self.upper
        self._before, self.upper, self._points = sums, upper, 0
        return sums


class Iterated:
    """Iterates the samples of orbits on the CPU, side by side in SIMD vectors where these can."""

    def __init__(self, player: Player) -> None:
        from fractals.backends.cpu.programs import program_of
        from fractals.scatter.cpu_look import iterated

        self._backend, self._limit = player.backend, player.plan.limit
        self._place = program_of(PLACES, player.plan.precision, loop=True)
        self._iterate = iterated(player.backend, player.plan.kernel[1])
        self.packed = self._iterate.loop == "packs"

    def of(self, orbits: Any, game: games.Game, count: int) -> Any:
        """Return the `fractals.scatter.cpu_game.OrbitSamples` from ``game.first`` on."""
        from fractals.scatter.cpu_game import OrbitSamples
        from fractals.scatter.cpu_look import counts_of

        cells, counts = np.empty((1, count), np.int32), np.empty(count, np.int32)
        places = np.empty((2, count), self._backend.real)
        if count:
            self._place(cells, np.empty(count, np.int64), places, orbits, game)
            counts = counts_of(self._iterate, places, orbits.point, self._limit)
        return OrbitSamples(orbits, cells[0], places, counts, np.argsort(counts))


class KernelCounter:
    """Counts by kernels: a thread of a GPU a trajectory."""

    def __init__(self, player: Player, shape: tuple[int, int]) -> None:
        self._player, self._plan, self._backend = player, player.plan, player.backend
        self._shape = shape
        self._run = self._backend.compile(*self._plan.kernel)
        self._sums = self._backend.to_device(np.zeros(4 * math.prod(shape), np.int64))
        self._hits: list[int] = []  # appending is one step under the interpreter's lock
        self._data: Any = None  # the newest, and what it is on the device
        self._moved: Any = None
        self.upper: NDArray[np.float32] | None = None

    def add(self, trajectories: range, progress: Progress | None) -> None:
        """Play some trajectories."""
        self.play(self._player.throws(trajectories), progress)

    def play(self, throws: Sequence[Throw], progress: Progress | None) -> None:
        """Play what is thrown."""
        plan, backend = self._plan, self._backend
        throws = [self._on_device(throw) for throw in throws]

        def work(job: tuple[Throw, range]) -> None:
            throw, part = job
            columns = math.gcd(len(part), CHUNK)
            seen = np.zeros((len(part) // columns, columns), np.int32)
            on_device = backend.to_device(seen)
            self._run(on_device, throw.data, plan.game(part[0]), throw.window, self._sums)
            backend.to_host(on_device, seen)
            self._hits.append(int(seen.sum()))

        run_pieces(backend, _jobs(throws, CHUNK * self._chunks_at_once()), work, progress)

    def _chunks_at_once(self) -> int:
        """Return how many chunks a launch plays, which must not take long."""
        least = LAUNCH[self._plan.device]
        if self._plan.device != "cuda":
            return least
        most = self._backend.steps // (POINT * CHUNK * self._plan.steps)
        return max(least, min(MOST_CHUNKS, most))

    def _on_device(self, throw: Throw) -> Throw:
        if throw.data is not self._data:
            self._data, self._moved = throw.data, moved(self._backend, throw.data)
        return throw._replace(data=self._moved, window=moved(self._backend, throw.window))

    def found(self) -> tuple[NDArray[np.int64], int]:
        """Return the sums until now, and how many points are in view."""
        found = np.empty(4 * math.prod(self._shape), np.int64)
        self._backend.to_host(self._sums, found)
        return found.reshape(*self._shape, 4), sum(self._hits)


def _weighted(throw: Throw) -> games.Window:
    """Return the window of orbits, with the colors of each weight."""
    from fractals.scatter.cpu_game import weighted

    return throw.window._replace(colors=weighted(throw.window.colors, throw.data.weights))


def _jobs(throws: Sequence[Throw], at_once: int) -> list[tuple[Throw, range]]:
    return [
        (throw, throw.trajectories[k : k + at_once])
        for throw in throws
        for k in range(0, len(throw.trajectories), at_once)
    ]


def room_of(device: Device) -> int:
    """Return the memory in which a picture has room on a device, in bytes; 0: not known."""
    return min((size for size in (memory_size(), device.memory) if size), default=0)


def open_player(scene: Scene, options: RenderOptions, keeps: Keeps = "raw") -> Player:
    """Return what plays a scatter image on the device asked for.

    `keeps`: what stays in memory, as of `fractals.rendering.plan.make_plan`.
    """
    # More GPUs would need sums of their own, added up in the end.
    choice = choose_one(options.device, "a scatter image", options.on_message)
    threads = threads_for(options.threads, choice.device.cores or 1)
    plan = make_scatter_plan(scene, choice.device.kind, threads, keeps)
    free = room_of(choice.device)
    plan = plan.fitted(free)
    plan.check_memory(free)
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    for line in filter(None, (note, grid_note(plan))):
        options.on_message(line)
    return Player(replace(plan, device=device.kind), backend)

"""The points of a scatter image are thrown, and hits are counted."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_backend, open_chosen
from fractals.backends.probe import Device, memory_size
from fractals.errors import DifferenceError
from fractals.kernels import scatter
from fractals.kernels.buddhabrot import Buddhabrot
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Keeps
from fractals.rendering.scatter.cells import Cells, moved
from fractals.rendering.scatter.plan import CHUNK, Hits, ScatterPlan, Totals, make_scatter_plan
from fractals.scene.model import Scene
from fractals.threads import Progress, run_tiles

CHECKED, STEPS = 4, 100  # trajectories, and their steps, that are compared with plain Python
SHARE = 32  # trajectories of a moment, at least
LAUNCH = {"python": 1, "cpu": 4, "simulator": 4, "cuda": 64}  # chunks that one launch plays


class Throw(NamedTuple):
    """Trajectories of a formula's numbers, and where their points fall."""

    data: Any
    window: scatter.Window
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

    def data(self) -> Any:
        """Return the numbers of the formula, which a Buddhabrot finds by a pilot."""
        if self._data is None:
            plan, formula = self.plan, self.plan.formula
            if not isinstance(formula, Buddhabrot):
                self._data = plan.data(self.backend.real)
            else:
                pilot = plan.pilot()
                found = Cells(
                    formula, self.backend, pilot.orbit_numbers(), pilot.window(), plan.game(0)
                )
                self._data = found.orbits()
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
        sums, hits = self.sums(range(before.chunks * CHUNK, last * CHUNK), progress)
        sums += before.sums
        return self.plan.hits(sums, last, before.hits + hits)

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
        for kind, backend in ((plan.device, self.backend), ("python", python)):
            player = Player(replace(plan, scene=short, device=kind), backend)
            found.append(player.sums(range(first, first + CHECKED), None)[0])
        if not np.array_equal(found[0], found[1]):
            raise DifferenceError(
                f"the points of trajectory {first} and the next differ from those of plain Python"
            )

    def sums(self, trajectories: range, progress: Progress | None) -> tuple[NDArray[np.int64], int]:
        """Return the sums of some trajectories, and how many of their points are in view."""
        machine = self.plan.device == "cpu" and not self.plan.orbits
        if machine:
            return self._by_machine(self.throws(trajectories), progress)
        return self._by_kernel(self.throws(trajectories), progress, self.plan.shape)

    def _by_machine(
        self, throws: Sequence[Throw], progress: Progress | None
    ) -> tuple[NDArray[np.int64], int]:
        """Play on the threads of the CPU."""
        from fractals.backends.cpu.chaos import POOL, Machine

        plan, threads = self.plan, self.backend.threads
        assert not isinstance(plan.formula, Buddhabrot)
        machine = Machine(plan.precision, plan.formula, plan.shape)
        players = [machine.player() for _ in range(threads)]
        free = [(player, throws[0]) for player in players]

        def work(job: tuple[Throw, range]) -> Mapping[str, float]:
            throw, part = job
            player, last = free.pop()  # of the list, one step under the interpreter's lock
            if not np.array_equal(last.window.colors, throw.window.colors):
                empty(player, last)
            machine.play(player, throw.data, plan.game(part[0]), throw.window, len(part))
            free.append((player, throw))
            return {}

        def empty(player: Any, last: Throw) -> None:
            """Add what a player has kept to the sums, in the colors of its time."""
            machine.play(player, last.data, plan.game(0), last.window, 0)

        run_tiles(_jobs(throws, POOL), work, threads, progress)
        for player, last in free:
            empty(player, last)
        return machine.sums(), sum(int(bins.tally[0]) for _, bins in players)

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
            return self._by_kernel(throws, begin(), (1, columns))

        every, hits = played(range(rows))
        inner, _ = played(range(m, rows - m))
        found = inner[0, m : columns - m].sum(axis=0)
        return Totals(found, int(every[..., 3].sum()), hits)

    def _by_kernel(
        self, throws: Sequence[Throw], progress: Progress | None, shape: tuple[int, int]
    ) -> tuple[NDArray[np.int64], int]:
        """Play by kernels: a thread of a GPU a trajectory. On the CPU: orbits, by all threads."""
        plan, backend = self.plan, self.backend
        to_device = backend.to_device
        run = backend.compile(*plan.kernel)
        throws = [
            Throw(moved(backend, data), moved(backend, window), trajectories)
            for data, window, trajectories in throws
        ]
        sums = to_device(np.zeros(4 * math.prod(shape), np.int64))
        hits: list[int] = []  # appending is one step under the interpreter's lock; adding is not

        def work(job: tuple[Throw, range]) -> Mapping[str, float]:
            throw, part = job
            columns = math.gcd(len(part), CHUNK)
            seen = np.zeros((len(part) // columns, columns), np.int32)
            on_device = to_device(seen)
            run(on_device, throw.data, plan.game(part[0]), throw.window, sums)
            backend.to_host(on_device, seen)
            hits.append(int(seen.sum()))
            return {}

        threads = backend.threads if plan.device == "cpu" else 0
        run_tiles(_jobs(throws, CHUNK * LAUNCH[plan.device]), work, threads, progress)
        found = np.empty(4 * math.prod(shape), np.int64)
        backend.to_host(sums, found)
        return found.reshape(*shape, 4), sum(hits)


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
    choice = choose(options.device)
    if choice.device.others:  # its GPUs would need sums of their own, added up in the end
        choice = choice._replace(device=replace(choice.device, others=()))
        options.on_message("a scatter image is drawn on one GPU")
    threads = options.threads or choice.device.cores or 1
    plan = make_scatter_plan(scene, choice.device.kind, threads, keeps)
    free = room_of(choice.device)
    plan = plan.fitted(free)
    plan.check_memory(free)
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    if note:
        options.on_message(note)
    return Player(replace(plan, device=device.kind), backend)

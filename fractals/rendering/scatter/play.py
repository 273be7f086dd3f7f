"""The points of a scatter image are thrown, and hits are counted."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
LAUNCH = {"python": 1, "cpu": 4, "simulator": 4, "cuda": 64}  # chunks that one launch plays


class Player:
    """Plays chunks of a scatter image, and adds up what they hit."""

    def __init__(self, plan: ScatterPlan, backend: Backend, data: Any = None) -> None:
        """Take the numbers of the formula, if they are known."""
        self.plan, self.backend = plan, backend
        self._data = data

    def data(self) -> Any:
        """Return the numbers of the formula, which a Buddhabrot finds by a pilot."""
        if self._data is None:
            plan, formula = self.plan, self.plan.formula
            if not isinstance(formula, Buddhabrot):
                self._data = formula.data(self.backend.real)
            else:
                pilot = plan.pilot()
                found = Cells(
                    formula, self.backend, pilot.orbit_numbers(), pilot.window(), plan.game(0)
                )
                self._data = found.orbits()
        return self._data

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
        by = self._by_machine if machine else self._by_kernel
        return by(trajectories, progress)

    def _by_machine(
        self, trajectories: range, progress: Progress | None
    ) -> tuple[NDArray[np.int64], int]:
        """Play on the threads of the CPU."""
        from fractals.backends.cpu.chaos import POOL, Machine

        plan, threads = self.plan, self.backend.threads
        assert not isinstance(plan.formula, Buddhabrot)
        machine = Machine(plan.precision, plan.formula, plan.shape)
        data, window = self.data(), plan.window()
        players = [machine.player() for _ in range(threads)]
        free = list(players)

        def work(part: range) -> Mapping[str, float]:
            player = free.pop()  # of the list, one step under the interpreter's lock
            machine.play(player, data, plan.game(part[0]), window, len(part))
            free.append(player)
            return {}

        run_tiles(_parted(trajectories, POOL), work, threads, progress)
        for player in players:
            machine.play(player, data, plan.game(0), window, 0)
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
            window = plan.window(counted)._replace(width=0)
            return self._by_kernel(trajectories, begin(), window, (1, columns))

        every, hits = played(range(rows))
        inner, _ = played(range(m, rows - m))
        found = inner[0, m : columns - m].sum(axis=0)
        return Totals(found, int(every[..., 3].sum()), hits)

    def _by_kernel(
        self,
        trajectories: range,
        progress: Progress | None,
        window: scatter.Window | None = None,
        shape: tuple[int, int] | None = None,
    ) -> tuple[NDArray[np.int64], int]:
        """Play by kernels: a thread of a GPU a trajectory. On the CPU: orbits, by all threads."""
        plan, backend = self.plan, self.backend
        window, shape = window or plan.window(), shape or plan.shape
        to_device = backend.to_device
        run = backend.compile(*plan.kernel)
        data, window = moved(backend, self.data()), moved(backend, window)
        sums = to_device(np.zeros(4 * math.prod(shape), np.int64))
        hits: list[int] = []  # appending is one step under the interpreter's lock; adding is not

        def work(part: range) -> Mapping[str, float]:
            seen = np.zeros((-(-len(part) // CHUNK), min(CHUNK, len(part))), np.int32)
            on_device = to_device(seen)
            run(on_device, data, plan.game(part[0]), window, sums)
            backend.to_host(on_device, seen)
            hits.append(int(seen.sum()))
            return {}

        threads = backend.threads if plan.device == "cpu" else 0
        run_tiles(_parted(trajectories, CHUNK * LAUNCH[plan.device]), work, threads, progress)
        found = np.empty(4 * math.prod(shape), np.int64)
        backend.to_host(sums, found)
        return found.reshape(*shape, 4), sum(hits)


def _parted(trajectories: range, at_once: int) -> Sequence[range]:
    return [trajectories[k : k + at_once] for k in range(0, len(trajectories), at_once)]


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
    plan = plan.fitted(room_of(choice.device))
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    if note:
        options.on_message(note)
    return Player(replace(plan, device=device.kind), backend)

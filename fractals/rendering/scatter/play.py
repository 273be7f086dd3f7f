"""The points of a scatter image are thrown, and hits are counted."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_backend, open_chosen
from fractals.backends.probe import memory_size
from fractals.errors import DifferenceError, OptionError
from fractals.kernels.buddhabrot import Buddhabrot
from fractals.rendering.options import RenderOptions
from fractals.rendering.scatter.cells import Cells, moved
from fractals.rendering.scatter.plan import CHUNK, Hits, ScatterPlan, make_scatter_plan
from fractals.rendering.scatter.spectrum import Spectrum
from fractals.scene.model import Scene
from fractals.threads import Progress, run_tiles

CHECKED, STEPS = 4, 100  # trajectories, and their steps, that are compared with plain Python
MOST_POINTS = 2**30  # in a machine whose sums have upper bits
LAUNCH = {"python": 1, "cpu": 4, "simulator": 4, "cuda": 64}  # chunks that one launch plays


class Player:
    """Plays chunks of a scatter image, and adds up what they hit."""

    def __init__(self, plan: ScatterPlan, backend: Backend) -> None:
        self.plan, self.backend = plan, backend
        self._data: Any = None
        self.spectrum: Spectrum | None = None  # what is counted for other palettes as well

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

    def take(self, other: "Player") -> None:
        """Take the numbers of another player of the same points."""
        self._data = other.data()

    def play(self, before: Hits, last: int, progress: Progress | None) -> Hits:
        """Return the hits of more chunks, up to the one before `last`, with those before."""
        counter = self.counter()
        counter.add(range(before.chunks * CHUNK, last * CHUNK), progress)
        sums, hits = counter.found()
        sums += before.sums
        return self.plan.hits(sums, last, before.hits + hits)

    def counter(self) -> "Counter":
        """Return what counts the hits of trajectories, none so far."""
        machine = self.plan.device == "cpu" and not self.plan.orbits
        return MachineCounter(self) if machine else KernelCounter(self)

    def check(self, seed: int) -> None:
        """Compare the hits of some trajectories with those of plain Python.

        `DifferenceError`: they differ.
        """
        plan = self.plan
        first = random.Random(seed).randrange(max(1, plan.chunks * CHUNK - CHECKED))
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
        counter = self.counter()
        counter.add(trajectories, progress)
        return counter.found()


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
        from fractals.backends.cpu.chaos import POOL, Machine

        plan = player.plan
        assert not isinstance(plan.formula, Buddhabrot)
        self._plan, self._threads, self._pool = plan, player.backend.threads, POOL
        self._data, self._window = player.data(), plan.window()
        self._spectrum = player.spectrum
        self.upper: NDArray[np.float32] | None = None
        self._before: NDArray[np.int64] | None = None  # sums that are not in the machine any more
        self._points = 0  # that are in the machine
        if self._spectrum:
            self._window = self._window._replace(colors=self._spectrum.colors)
        self._machine = Machine(plan.precision, plan.formula, plan.shape)
        self._players = [self._machine.player() for _ in range(self._threads)]

    def add(self, trajectories: range, progress: Progress | None) -> None:
        """Play some trajectories."""
        free = list(self._players)
        points = len(trajectories) * self._plan.steps
        if self._spectrum and self._points + points > MOST_POINTS:
            self._empty()
        self._points += points

        def work(part: range) -> Mapping[str, float]:
            player = free.pop()  # of the list, one step under the interpreter's lock
            game = self._plan.game(part[0])
            self._machine.play(player, self._data, game, self._window, len(part))
            free.append(player)
            return {}

        run_tiles(_parted(trajectories, self._pool), work, self._threads, progress)

    def found(self) -> tuple[NDArray[np.int64], int]:
        """Return the sums until now, and how many points are in view."""
        sums = self._empty() if self._spectrum else self._flushed()
        return sums, sum(int(bins.tally[0]) for _, bins in self._players)

    def _flushed(self) -> NDArray[np.int64]:
        for player in self._players:
            self._machine.play(player, self._data, self._plan.game(0), self._window, 0)
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


class KernelCounter:
    """Counts by kernels: a thread of a GPU a trajectory. On the CPU: orbits, by all threads."""

    def __init__(self, player: Player) -> None:
        plan = player.plan
        self._plan, self._backend = plan, player.backend
        self._run = self._backend.compile(*plan.kernel)
        self._data = moved(self._backend, player.data())
        self._window = moved(self._backend, plan.window())
        self._sums = self._backend.to_device(np.zeros(4 * math.prod(plan.shape), np.int64))
        self._hits: list[int] = []  # appending is one step under the interpreter's lock
        self.upper: NDArray[np.float32] | None = None

    def add(self, trajectories: range, progress: Progress | None) -> None:
        """Play some trajectories."""
        plan, backend = self._plan, self._backend

        def work(part: range) -> Mapping[str, float]:
            seen = np.zeros((-(-len(part) // CHUNK), min(CHUNK, len(part))), np.int32)
            on_device = backend.to_device(seen)
            self._run(on_device, self._data, plan.game(part[0]), self._window, self._sums)
            backend.to_host(on_device, seen)
            self._hits.append(int(seen.sum()))
            return {}

        threads = backend.threads if plan.device == "cpu" else 0
        run_tiles(_parted(trajectories, CHUNK * LAUNCH[plan.device]), work, threads, progress)

    def found(self) -> tuple[NDArray[np.int64], int]:
        """Return the sums until now, and how many points are in view."""
        found = np.empty(4 * math.prod(self._plan.shape), np.int64)
        self._backend.to_host(self._sums, found)
        return found.reshape(*self._plan.shape, 4), sum(self._hits)


def _parted(trajectories: range, at_once: int) -> Sequence[range]:
    return [trajectories[k : k + at_once] for k in range(0, len(trajectories), at_once)]


def open_player(scene: Scene, options: RenderOptions) -> Player:
    """Return what plays a scatter image on the device asked for."""
    choice = choose(options.device)
    if choice.device.others:  # its GPUs would need sums of their own, added up in the end
        choice = choice._replace(device=replace(choice.device, others=()))
        options.on_message("a scatter image is drawn on one GPU")
    threads = options.threads or choice.device.cores or 1
    plan = make_scatter_plan(scene, choice.device.kind, threads)
    free = memory_size()
    if free and plan.memory > 0.9 * free:
        raise OptionError(
            f"the picture takes {plan.memory / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are "
            "free: give a smaller size=, or less supersampling="
        )
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    if note:
        options.on_message(note)
    return Player(replace(plan, device=device.kind), backend)

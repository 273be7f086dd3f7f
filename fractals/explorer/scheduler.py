"""One thread that draws for all clients: the newest view of each, and a step of each in turn.

A device's context belongs to one thread, and so do the threads that share its tiles. Work is a
generator: each step draws some tiles, which the cores share. A newer view replaces an older one of
the same client; tiles that are being drawn then end early.
"""

import contextlib
import itertools
import math
import secrets
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, process_time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from fractals.backends.base import Backend
from fractals.backends.compilation import Uncompiled, without_compiling
from fractals.backends.devices import Choice, choose, open_chosen
from fractals.backends.probe import Device
from fractals.errors import DeviceFailedError, FractalsError, OptionError, first_line, on_the_cpu
from fractals.rendering.drawing import Drawing, Sink
from fractals.rendering.iteration import Stop
from fractals.rendering.sampling import smaller
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.threads import Queue, run_tiles

SMALL, VIEW, SHEET, IDLE = 0, 1, 2, 3  # which work comes first

T = TypeVar("T")
PATIENCE = 5.0  # seconds of a step, after which work ends if other clients wait
PENALTY = 20.0  # seconds for which a client whose work so ended comes last
STEP_SECONDS = 0.25  # aimed at for a step of more tiles than threads
MAX_LIMIT = 10**8  # iterations of a sample while others are connected: some seconds
MAX_STEPS = 2**31  # iterations of a tile while others are connected: some seconds
STARVING = "others wait, and this view takes long: lower max_iterations, or choose another place"

Steps = Iterator[float | None]  # None: go on; a time of `monotonic`: not before


class Stale(Exception):
    """The task was replaced by newer work."""


@dataclass(eq=False)
class DrawingTask:
    """A client's work, in steps. The engine ends the steps in its own thread."""

    key: tuple[Any, ...]  # the client, and a name; newer work of the same key replaces this
    make: Callable[[Any], Steps]  # makes the steps of this task, in the drawing thread
    priority: int
    ready: Callable[[], bool] = lambda: True  # whether there is room for results
    # Called with one line about an error, and what it means (`FractalsError.about`)
    failed: Callable[..., None] = lambda line, **about: None
    steps: Steps | None = None  # once they are made; one may raise `Stale`, or a `FractalsError`
    not_before: float = 0.0
    served: int = 0
    replaced: Callable[[], None] = lambda: None  # called when newer work replaces this
    until: float = math.inf  # when the step should end
    others_wait: Callable[[], bool] = lambda: False
    starving: bool = False  # whether it ends because others wait
    leads: bool = False  # whether half of the steps are this one's: many people see its picture
    device: Device | None = None  # for which the steps were made
    _stale: threading.Event = field(default_factory=threading.Event)

    def stale(self) -> bool:
        """Tell whether newer work has replaced this, or others wait for too long."""
        if monotonic() > self.until and not self.starving and self.others_wait():
            self.starving = True
        return self.starving or self._stale.is_set()

    def replace(self) -> None:
        """Have the work end within a tile."""
        self._stale.set()
        self.replaced()

    def check(self) -> None:
        """Raise `Stale` if the work should end."""
        if self.stale():
            raise Stale


class Engine:
    """The drawing thread, and the device that it draws on."""

    def __init__(self, device: str = "auto", threads: int | None = None) -> None:
        self.request, self.threads = device, threads
        self.choice: Choice = choose(device)
        self.why = ""  # a line about a GPU that does not draw, and what draws
        self.on_other_device: Callable[[], None] = lambda: None  # called when `why` has changed
        self._backends: dict[str, Backend] = {}
        self._work: dict[Hashable, DrawingTask] = {}
        self._replaced: list[DrawingTask] = []  # whose steps are still to be closed
        self._changed = threading.Condition()
        self._turn = itertools.count(1)
        self._led = False  # whether the newest step was of work that leads
        self._ended = False
        self._kept: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._late: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self.crowded: Callable[[], bool] = lambda: False  # whether several clients share the thread
        # Whether the thread must not compile the programs of a scene
        self.forbids: Callable[[Scene], bool] = lambda scene: False
        # Yields until programs of a scene are compiled in another process
        self.elsewhere: Callable[[DrawingTask, Scene, str], Steps] = lambda work, scene, what: iter(
            ()
        )
        self.thread = threading.Thread(target=self._run, name="fractals-explorer", daemon=True)
        self.thread.start()

    @property
    def kind(self) -> str:
        """Return the kind of device that draws."""
        return self.choice.device.kind

    @property
    def cores(self) -> int:
        """Return how many threads of the CPU may work at once."""
        return self.threads or self.choice.device.cores or 1

    def spent(self) -> float:
        """Return a clock of work, in seconds: of all threads of the CPU, or of a GPU.

        CPU time does not pass while other programs have the cores.
        """
        if self.kind in ("cuda", "opencl"):
            return monotonic()
        return process_time() / self.cores

    def backend(self, number: str) -> Backend:
        """Return the device's backend for a number type; called in the drawing thread."""
        if number not in self._backends:
            device, backend, note = open_chosen(self.choice, self.request, number, self.threads)
            self._draw_with(device, note)
            self._backends[number] = backend
        return self._backends[number]

    def runs(self, drawing: Drawing) -> bool:
        """Tell whether a drawing is for the device that draws now: a GPU may have failed since."""
        return drawing.backend.kind == self.kind

    def prepared(
        self, work: DrawingTask, scene: Scene, what: str, prepare: Callable[[], T]
    ) -> Generator[float | None, None, T]:
        """Return what ``prepare()`` returns; a process compiles the programs that it lacks.

        Meanwhile others are drawn for. The function may be called twice. `what`: which programs of
        the scene the process compiles, as of `fractals.explorer.work`.
        """
        if self.forbids(scene):
            try:
                with without_compiling():
                    return prepare()
            except (Uncompiled, Stale) as error:
                if isinstance(error, Stale) and not work.starving:
                    raise
                work.starving = False
                yield from self.elsewhere(work, scene, what)
                work.until = math.inf  # what the process could not do is done here
        return prepare()

    def keeps(self, owner: Any, size: int, most: int) -> bool:
        """Tell whether bytes of an object may stay in memory, beside those of others until now."""
        others = sum(kept for each, kept in list(self._kept.items()) if each is not owner)
        if others + size > most:
            return False
        self._kept[owner] = size
        return True

    def batches(
        self, work: DrawingTask, drawing: Drawing, tiles: Sequence[Tile], sink: Sink
    ) -> Iterator[float]:
        """Have tiles taken, four for each thread at once or fewer slow ones; yield each's work.

        While several clients are connected, tiles are so small that each ends in some seconds even
        if every sample takes all iterations: nobody's view then ends as one that others wait for.
        Raise `Stale` for replaced work, and an `OptionError` if a single sample could take much
        longer.
        """
        limit, direct = drawing.source.max_iterations, drawing.plan.method == "direct"
        most = MAX_STEPS // (limit * drawing.plan.supersampling**2) if direct else MAX_STEPS
        threads = max(1, drawing.backend.threads)
        waiting, count = deque(tiles), 4 * threads
        while waiting:
            batch: list[Tile] = []
            while waiting and len(batch) < count:
                tile = waiting.popleft()
                if self.crowded():
                    if direct and limit > MAX_LIMIT:
                        raise OptionError(
                            f"others are connected: lower max_iterations to {MAX_LIMIT}"
                        )
                    tile, *rest = smaller(tile, most)
                    waiting.extendleft(reversed(rest))
                batch.append(tile)
            begun, before = monotonic(), self.spent()
            run_until(drawing, batch, sink, work.stale)
            work.check()
            seconds = monotonic() - begun
            count = threads if seconds > STEP_SECONDS else 4 * threads
            yield self.spent() - before

    def submit(self, work: DrawingTask) -> None:
        """Add work in place of older work of the same key."""
        with self._changed:
            self.cancel(work.key)
            self._work[work.key] = work
            work.not_before = self._late.get(work.key[0], 0.0)
            work.others_wait = partial(self._others_wait, work.key[0])
            self._changed.notify()

    def cancel(self, key: Hashable) -> None:
        """End the work of a key, if there is any."""
        with self._changed:
            if old := self._work.pop(key, None):
                old.replace()
                self._replaced.append(old)
                self._changed.notify()

    def _others_wait(self, client: Any) -> bool:
        """Tell whether others than a client have work that can go on."""
        now = monotonic()
        with self._changed:
            others = [w for w in self._work.values() if _other_people(w.key[0], client)]
            return any(each.not_before <= now and each.ready() for each in others)

    def wake(self) -> None:
        """Look for work again, because a client has room for tiles."""
        with self._changed:
            self._changed.notify()

    def busy(self, key: Hashable) -> bool:
        """Tell whether work of this key is under way."""
        return key in self._work

    def end(self) -> None:
        """End all work, and the thread."""
        with self._changed:
            self._ended = True
            for key in list(self._work):
                self.cancel(key)
            self._changed.notify()

    def _run(self) -> None:
        while work := self._next():
            self._step(work)
            del work  # its arrays are large, and the next work may be long in coming

    def _next(self) -> DrawingTask | None:
        """Wait for work that can go on; None at the end."""
        with self._changed:
            while True:
                while self._replaced:
                    _close(self._replaced.pop())
                if self._ended:
                    return None
                now = monotonic()
                able = [w for w in self._work.values() if w.ready()]
                found = [w for w in able if w.not_before <= now]
                if found:
                    return min(
                        found, key=lambda w: (w.priority, self._led or not w.leads, w.served)
                    )
                pause = min((w.not_before - now for w in able), default=None)
                del able  # work that is replaced during the wait must not live on
                self._changed.wait(pause)

    def _step(self, work: DrawingTask) -> None:
        work.served, begun = next(self._turn), monotonic()
        self._led = work.leads
        work.until = begun + PATIENCE
        if self.kind in ("cuda", "opencl"):  # asked once a step, because it may have failed since
            self._backends.clear()
        try:
            if work.steps is None:
                work.device = self.choice.device
                work.steps = work.make(work)
            work.check()
            work.not_before = next(work.steps) or 0.0
            return
        except StopIteration:
            pass
        except Stale:
            if work.starving:
                self._late[work.key[0]] = monotonic() + PENALTY
                work.failed(STARVING)
        except DeviceFailedError as error:
            if work.device != self.choice.device or self._leaves_gpu(error):
                _close(work)  # it begins again, on the CPU
                return
            work.failed(first_line(error))
        except FractalsError as error:
            work.failed(first_line(error), **error.about)
        except MemoryError:
            work.failed("not enough memory: choose a smaller window or a simpler scene")
        except Exception as error:
            work.failed(internal(error))
        _close(work)
        with self._changed:
            if self._work.get(work.key) is work:
                del self._work[work.key]

    def _leaves_gpu(self, error: DeviceFailedError) -> bool:
        """Draw on with the CPU where "auto" has chosen a GPU that fails; tell whether it has."""
        if self.request != "auto" or self.kind == "cpu":
            return False
        self.request = "cpu"
        self._draw_with(choose("cpu").device, on_the_cpu(error.args[0]))
        self._backends.clear()
        return True

    def _draw_with(self, device: Device, note: str) -> None:
        """Draw with a device from now on, and print the note about it, unless it is empty."""
        self.choice = Choice(device)
        if note:
            self.why = note
            print_line(note)
            self.on_other_device()


def _other_people(one: Any, client: Any) -> bool:
    visitor = getattr(client, "visitor", "")  # one person may have several pages and views
    return one is not client and (not visitor or getattr(one, "visitor", "") != visitor)


def _close(work: DrawingTask) -> None:
    """End the steps of work. Their frames refer to the work, which is freed with its arrays then.

    Left alone they would be a cycle, which waits for the garbage collector.
    """
    with contextlib.suppress(Exception):
        if isinstance(work.steps, Generator):
            work.steps.close()
    work.steps = None


def internal(error: BaseException) -> str:
    """Print a traceback with an id, and return one line with this id for the client."""
    name = secrets.token_hex(2)
    print_line(f"internal error {name}:\n" + "".join(traceback.format_exception(error)))
    return f"internal error {name}: the server's terminal shows more"


def print_line(text: str) -> None:
    """Print on the server's stderr, unless its terminal is gone."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"fractals: {text.rstrip()}\n")
        sys.stderr.flush()


def run_until(drawing: Drawing, tiles: Sequence[Tile], sink: Sink, stop: Stop) -> None:
    """Have a sink take tiles as `fractals.rendering.drawing.run` does, until `stop` returns True.

    The tiles that are left are then skipped, and those under way end early. Compiled loops, which
    do not ask, are not used.
    """
    queue = Queue(len(tiles))

    def stopped() -> bool:
        return queue.stopped or stop()

    def heard(_done: int, _whole: int) -> None:
        if stopped():
            queue.stop()

    def take(tile: Tile) -> Mapping[str, float]:
        return {} if stopped() else sink.take(tile, stopped)

    spent = run_tiles(tiles, take, drawing.backend.threads, heard, queue)
    drawing.stages.share(spent)
    drawing.room.tell()

"""Compilers: processes that compile the programs of a scene, while the drawing thread goes on.

Numba compiles in the calling thread, for up to half a minute, and nothing can stop it. So the
drawing thread ends an attempt to compile a visitor's own formula, and a process compiles it. The
process writes the code to the cache of compiled code, from which the drawing thread then loads it.
Its memory is free once it ends.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from fractals.errors import FractalsError, OptionError
from fractals.explorer.scheduler import IDLE, DrawingTask, Steps, internal
from fractals.rendering.families import family_of
from fractals.scene.geometry import make_layers
from fractals.scene.model import Scene

PARENT = str(Path(__file__).parents[2])  # of the package


def work_command() -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a process of `fractals.explorer.work`, and its environment."""
    paths = [PARENT, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    # -P: never a package of this name in the current folder
    return [sys.executable, "-P", "-m", "fractals.explorer.work"], environment


@dataclass(eq=False)
class WorkProcess:
    """A process of `fractals.explorer.work`. Any thread may kill it, before it starts, too."""

    line: str  # what the process reads
    killed: bool = False
    made: subprocess.Popen[str] | None = field(default=None, repr=False)

    def kill(self) -> None:
        """End the process."""
        self.killed = True
        if self.made:
            with contextlib.suppress(OSError):
                self.made.kill()

    def said(self) -> Iterator[dict[str, Any]]:
        """Run the process, and yield its messages; nothing if it was killed before."""
        if self.killed:
            return
        command, environment = work_command()
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as made:
            self.made = made
            if self.killed:  # meanwhile
                made.kill()
            assert made.stdin
            assert made.stdout
            try:
                with contextlib.suppress(ConnectionError):
                    made.stdin.write(self.line)
                    made.stdin.flush()
                yield from map(json.loads, made.stdout)
            finally:
                made.kill()


MAX_RUNNING = 2  # processes of all clients together
MAX_A_MINUTE = 6  # formulas and statistics of its own, for a client
MINUTE = 60.0  # seconds


@dataclass(eq=False)
class Order(WorkProcess):
    """A scene whose programs are to be compiled."""

    owner: object = None  # the visitor, or the client; one process at a time works for it
    error: str = ""  # why it failed, once it is done
    done: bool = False


class Compilers:
    """Starts the processes, and counts what clients have compiled.

    ``wake()`` is called in another thread when programs are compiled.
    """

    def __init__(self, device: str, wake: Callable[[], None]) -> None:
        self.device, self.wake = device, wake
        self._lock = threading.Lock()
        self._running: list[Order] = []
        self._waiting: list[Order] = []
        self._compiled: dict[object, dict[str, float]] = {}  # by owner: formulas, and when

    def compiled(self, work: DrawingTask, scene: Scene, what: str) -> Steps:
        """Yield, and go on when a process has compiled programs of a scene.

        Raise a `FractalsError` if the client has compiled too much, or the process fails.
        """
        # All pages of a visitor are one: who connects again gains nothing.
        owner = getattr(work.key[0], "visitor", "") or work.key[0]
        label = own_label(scene)
        if label and work.priority != IDLE:  # thumbnails are of the server's own bookmarks
            self.count(owner, label)
        order = self.order(owner, scene, what)
        ready, work.ready, work.replaced = work.ready, lambda: order.done, order.kill
        if work.stale():  # since before
            order.kill()
        yield None
        work.ready = ready
        if order.error:
            raise FractalsError(order.error)

    def count(self, owner: object, label: str) -> None:
        """Count a formula that a client has compiled, or raise an `OptionError`.

        More programs of the same formula count once.
        """
        now = monotonic()
        for each, known in list(self._compiled.items()):
            kept = {name: since for name, since in known.items() if now - since < MINUTE}
            self._compiled[each] = kept
            if not kept:
                del self._compiled[each]
        recent = self._compiled.get(owner, {})
        if label not in recent and len(recent) >= MAX_A_MINUTE:
            raise OptionError(
                f"{MAX_A_MINUTE} formulas of your own are compiled in a minute: wait a moment"
            )
        self._compiled[owner] = {label: now, **recent}

    def order(self, owner: object, scene: Scene, what: str) -> Order:
        """Return an order that waits, or runs already; `wake` is called when it is done."""
        table = {"do": "compile", "what": what, "device": self.device}
        line = json.dumps({**table, "scene": scene.to_table()}) + "\n"
        made = Order(line, owner=owner)
        with self._lock:
            self._waiting.append(made)
        self._start()
        return made

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            self._waiting.clear()
            for each in self._running:
                each.kill()

    def _start(self) -> None:
        """Start what waits, as far as there is room: one process for each client."""
        with self._lock:
            self._waiting = [each for each in self._waiting if not each.killed]
            for each in list(self._waiting):
                busy = {order.owner for order in self._running}
                if len(self._running) < MAX_RUNNING and each.owner not in busy:
                    self._waiting.remove(each)
                    self._running.append(each)
                    threading.Thread(target=self._follow, args=(each,), daemon=True).start()

    def _follow(self, order: Order) -> None:
        try:
            order.error = _run(order)
        except Exception as error:
            order.error = internal(error)
        order.done = True
        with self._lock:
            self._running.remove(order)
        self.wake()
        self._start()


def _run(order: Order) -> str:
    """Run a process to its end, and return a line about its error."""
    said = [{}, *order.said()][-1]
    if said.get("t") == "found":
        return ""
    return str(said.get("message", "compiling ended early, perhaps for lack of memory"))


def own_label(scene: Scene) -> str:
    """Return a text for a visitor's own expressions and options; "" where there are none."""
    parts = []
    if getattr(scene.formula, "model_extra", None):
        parts.append(scene.make_any_formula().label)
    if not family_of(scene).single_pixels:  # whose colors are no programs
        return " ".join(parts)
    for layer in make_layers(scene).drawn:
        if layer.coloring.statistic and layer.paint.coloring.model_extra:
            parts.append(layer.coloring.statistic_label)
    return " ".join(parts)

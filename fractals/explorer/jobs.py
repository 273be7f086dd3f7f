"""Processes with progress that can be killed: searches, exports, and compilers of formulas."""

import asyncio
import contextlib
import dataclasses
import json
import math
import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import monotonic, time
from typing import Any

from fractals.backends.probe import memory_size
from fractals.errors import FractalsError, OptionError, typed
from fractals.explorer import posters, protocol
from fractals.explorer.frames import FrameView, octaves
from fractals.explorer.scheduler import IDLE, DrawingTask, Steps, internal
from fractals.explorer.session import Session
from fractals.io.stores.lock import FolderLock
from fractals.rendering.families import family_of, moves_of
from fractals.rendering.options import RenderOptions
from fractals.scene.geometry import make_layers, place_of
from fractals.scene.model import Scene, validate
from fractals.scene.numbers import decimal_places, decimals, significant, width_text

# --- Compilers: processes that compile the programs of a scene, while the drawing thread goes on
#
# Numba compiles in the calling thread, for up to half a minute, and nothing can stop it. So the
# drawing thread ends an attempt to compile a visitor's own formula, and a process compiles it. The
# process writes the code to the cache of compiled code, from which the drawing thread then loads
# it. Its memory is free once it ends.

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

    ``device()`` returns the device for which they compile. ``wake()`` is called in another thread
    when programs are compiled.
    """

    def __init__(self, device: Callable[[], str], wake: Callable[[], None]) -> None:
        self.device, self.wake = device, wake
        self._lock = threading.Lock()
        self._running: list[Order] = []
        self._waiting: list[Order] = []
        self._compiled: dict[object, dict[str, float]] = {}  # by owner: formulas, and when

    def compiled(self, work: DrawingTask, scene: Scene, what: str) -> Steps:
        """Yield, and go on when a process has compiled programs of a scene.

        Raise a `FractalsError` if the client has compiled too much, or the process fails.
        """
        # All pages of a visitor count as one owner, so a visitor who reconnects gains nothing.
        owner = getattr(work.key[0], "visitor", "") or work.key[0]
        label = own_label(scene)
        if label and work.priority != IDLE:  # thumbnails are of the server's own bookmarks
            self.count(owner, label)
        order = self.order(owner, scene, what)
        ready, work.ready, work.replaced = work.ready, lambda: order.done, order.kill
        if work.stale():  # The view changed before `replaced` was set.
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
        table = {"do": "compile", "what": what, "device": self.device()}
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


# --- The workers of a cluster that draw exports and films

COUNT_SECONDS = 2.0  # between two looks at how many workers there are


class Workers:
    """The workers that have joined a scheduler, whose number is followed in a thread.

    Raises OptionError: the address is none of a scheduler. Raises FractalsError: Dask is not
    installed, or no scheduler answers.
    """

    def __init__(self, cluster: Any) -> None:
        from fractals.rendering.cluster.job import Cluster
        from fractals.rendering.cluster.pools import STARTED, open_pool

        self.cluster = cluster if isinstance(cluster, Cluster) else Cluster(cluster)
        address = self.cluster.address
        if not isinstance(address, str) or address.partition(":")[0] in STARTED:
            raise OptionError(
                f"cluster={typed(address, 60)}: the explorer requires the address of a scheduler, "
                "such as tcp://HOST:PORT, because each export is a process that joins it"
            )
        self._pool = open_pool(address, self.cluster.keys, self.cluster.insecure)
        self._ended = threading.Event()
        self.count = len(self._pool.workers())
        threading.Thread(target=self._follow, name="fractals-workers", daemon=True).start()

    def _follow(self) -> None:
        while not self._ended.wait(COUNT_SECONDS):
            try:
                self.count = len(self._pool.workers())
            except FractalsError:  # the scheduler is away, and may come again
                self.count = 0

    def asked(self) -> dict[str, Any] | None:
        """Return the keywords of the `Cluster` of a job; None: this machine works alone."""
        if not self.count:
            return None
        keys = self.cluster.keys and str(self.cluster.keys)
        return {**dataclasses.asdict(self.cluster), "keys": keys}

    def end(self) -> None:
        """Leave the cluster."""
        self._ended.set()
        self._pool.close()


# --- Searches and exports: processes of their own, with progress, that can be killed; their files


PREFIX = "fractals-export-"


class ExportFolder:
    """A folder in the folder of temporary files, which only this user can open.

    It is locked as long as the server runs: the operating system releases the lock, whatever ends
    the process. An unlocked folder is a leftover.
    """

    def __init__(self) -> None:
        self._lock: FolderLock | None = None
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
            self._lock = _locked(self.path)
            if self.path.exists():  # another server may have taken it for a leftover
                return
            self._release()

    def remove(self) -> None:
        """Remove the folder with its files."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def remove_leftovers() -> None:
    """Remove folders of this user that no server has locked."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            info = path.lstat()
            mine = not hasattr(os, "getuid") or info.st_uid == os.getuid()
            lock = _locked(path) if stat.S_ISDIR(info.st_mode) and mine else None
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                lock.release()


def _locked(path: Path) -> FolderLock | None:
    """Return the lock of a folder; None: another server runs, or the file system has no locks."""
    try:
        lock = FolderLock(path, follow=False)
    except OSError:
        return None
    return lock if lock.held else None


MOST = {"export": 2, "film": 2, "find": 4}  # jobs of a kind, of all clients together
MAX_SAMPLES = 2**33  # of an export
KEPT_SECONDS = 600.0  # until an exported file is removed
RETURN_SECONDS = 60.0  # for which a film waits for its page
TIDY_SECONDS = 60.0  # between two searches for files of killed servers
SHARED = ("png", "mp4", "webm")  # formats that a cluster draws
QUOTA = 2**31  # bytes of exported files that are kept


Finish = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]


@dataclass(eq=False)
class Job(WorkProcess):
    """A process that works for a client."""

    kind: str = ""
    keep: bool = False  # whether it goes on when the client leaves
    session: Session | None = None  # of the client; None once it has left
    number: int = 0  # by which the client knows it
    # By which a page that is loaded again finds it
    name: str = field(default_factory=lambda: secrets.token_hex(16))
    last: dict[str, Any] = field(default_factory=dict)  # the newest message
    since: float = field(default_factory=monotonic)  # of the newest message

    def say(self, kind: str, **keys: Any) -> None:
        """Send a message to the client, and keep it for a page that is loaded again."""
        self.last, self.since = {"kind": kind, **keys}, monotonic()
        self.repeat()

    def repeat(self) -> None:
        """Send the newest message to the client."""
        if self.session and self.last:
            self.session.say(**self.last, job=self.number)


@dataclass
class ExportedFile:
    """An exported file."""

    path: Path
    bytes: int
    since: float = field(default_factory=monotonic)


class Jobs:
    """All processes of a server, and the files that they made."""

    def __init__(self, device: str, threads: int | None, workers: Workers | None = None) -> None:
        """`workers`: of a cluster that draws; None: this machine draws alone."""
        self.device, self.threads, self.workers = device, threads, workers
        self.running: list[Job] = []
        self.films: dict[str, Job] = {}  # by name: running films, and films that ended lately
        self.files: dict[str, ExportedFile] = {}
        self._folder: ExportFolder | None = None
        self._lock = threading.Lock()  # messages of several clients are handled at once

    def shared(self, format: str) -> Workers | None:
        """Return the workers that draw files of a format; None: this machine draws them."""
        return self.workers if format in SHARED else None

    @property
    def folder(self) -> Path:
        """Return the private folder of exported files."""
        with self._lock:
            if self._folder is None:
                self._folder = ExportFolder()
            return self._folder.path

    def new_folder(self) -> Path:
        """Return a folder for a file, and for what its making leaves beside it."""
        self.tidy()
        made = self.folder / secrets.token_hex(16)
        made.mkdir(mode=0o700)
        return made

    def exported(self, path: Path, facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Keep a file that was made, and return the message about it."""
        name = secrets.token_hex(16)
        self.files[name] = ExportedFile(path, facts["bytes"])
        return "exported", {"url": f"/download/{name}/fractal{path.suffix}", **facts}

    def find(self, session: Session, message: protocol.Find) -> None:
        """Search a frame, or a rectangle of it."""
        self.check(session, message.job, "find")
        scene = searched(session, message)
        if moves_of(scene).in_plane or message.what != "interesting":
            scene.make_formula()  # raises for images where nothing is searched
        wanted = {"do": "find", "what": message.what, "fraction": message.fraction}

        def finish(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
            if center := facts.get("center"):
                x, y = (Fraction(Decimal(text)) for text in center)
                session.found[message.job] = x, y
                while len(session.found) > 16:
                    session.found.pop(next(iter(session.found)))
            if table := facts.get("scene"):
                table["image"] = {"size": list(scene.image.size)}
                table["color"] = scene.to_table()["color"]
                place = FrameView.of(validate(table), scene.image.size)
                facts["octaves"] = octaves(place)
            return "found", {"what": message.what, **facts}

        self.start(session, message.job, wanted, scene, finish)

    def export(self, session: Session, message: protocol.Export) -> None:
        """Draw a frame into a file, or forecast how long that takes."""
        scene = exported(session, message)
        posters.check(message)
        keeps = "pixels" if message.paper else "bands"
        layered = f".{message.format}" in family_of(scene).layered
        if message.format in protocol.RAW_FORMATS and not layered:
            scene.make_formula()  # raises for images whose raw numbers are stores
            keeps = "raw"
        options = RenderOptions(device=session.engine.kind, threads=1)
        plan = family_of(scene).plan(scene, options, keeps)
        samples = math.prod(scene.image.size) * scene.image.supersampling**2
        if samples > MAX_SAMPLES:
            raise OptionError(f"an export has at most {MAX_SAMPLES} samples: choose a smaller size")
        memory = plan.memory + posters.memory_of(message.paper)
        workers = None if message.paper else self.shared(message.format)
        if message.forecast:
            threads = max(1, session.engine.choice.device.cores or 1)
            view, seconds = session.shown, plan.seconds
            if view and view.rate and view.frame == message.frame:
                seconds = samples / view.rate  # as fast as the view was drawn
            session.say(
                "forecast",
                job=message.job,
                seconds=float(f"{seconds / threads:.2g}"),
                memory=memory,
                method=plan.to_table()["method"],
                samples=samples,
                **({"workers": workers.count} if workers else {}),
            )
            return
        if session.options.read_only:
            raise OptionError("this server is read-only: it exports nothing")
        if (free := memory_size()) and memory > 0.9 * free:
            raise OptionError("this picture needs more memory than is free: choose a smaller size")
        self.check(session, message.job, "export")
        path = self.new_folder() / f"fractal.{message.format}"
        wanted = {
            "do": "export",
            "path": str(path),
            "device": self.device,
            "threads": self.threads,
            "cluster": workers and workers.asked(),
            "paper": message.paper and message.paper.model_dump(mode="json"),
        }
        finish = partial(self.exported, path)
        self.start(session, message.job, wanted, scene, finish, message.keep)

    def follow(self, session: Session, message: protocol.Follow) -> None:
        """Send the messages of a film to a page that was loaded again."""
        job = self.films.get(message.name)
        if job is None:
            raise OptionError("the film is not there any more")
        if job.session:
            job.session.jobs.pop(job.number, None)
        job.session, job.number = session, message.job
        if job in self.running:
            session.jobs[message.job] = job
        job.repeat()

    def cancel(self, session: Session, message: protocol.Cancel) -> None:
        """End a job."""
        if job := session.jobs.get(message.job):
            job.kill()
            return
        drawn = [(session, name) for name, job in session.drawing.items() if job == message.job]
        if not any(session.engine.busy(key) for key in drawn):
            raise OptionError(f"the job {message.job} does not run")
        for key in drawn:  # others, of which nobody would tell, go on
            session.engine.cancel(key)
        session.say("failed", job=message.job, message="cancelled", cancelled=True)

    def leave(self, session: Session) -> None:
        """End the jobs of a client that left, but those that it keeps.

        A film waits for its page, which may be loaded again.
        """
        for job in list(session.jobs.values()):
            job.session = None
            if job.kind == "film" and not job.keep:
                waiting = threading.Timer(RETURN_SECONDS, self._end_alone, [job])
                waiting.daemon = True
                waiting.start()
            elif not job.keep:
                job.kill()

    def _end_alone(self, job: Job) -> None:
        if job.session is None:
            job.kill()

    def end(self) -> None:
        """End all jobs, and remove all files."""
        for job in list(self.running):
            job.kill()
        if self._folder:
            self._folder.remove()
        if self.workers:
            self.workers.end()

    def check(self, session: Session, name: int, kind: str) -> None:
        """Raise an `OptionError` where a client, or all together, have jobs of a kind enough."""
        if name in session.jobs or any(job.kind == kind for job in list(session.jobs.values())):
            raise OptionError("one at a time: cancel the one that runs")
        if sum(job.kind == kind for job in list(self.running)) >= MOST[kind]:
            raise OptionError("the server is busy with others: try again in a while")

    def start(
        self,
        session: Session,
        number: int,
        wanted: dict[str, Any],
        scene: Scene,
        finish: Finish,
        keep: bool = False,
    ) -> None:
        """Start a process; `finish` makes the last message of what it found."""
        line = json.dumps({**wanted, "scene": scene.to_table()}) + "\n"
        job = Job(line, kind=wanted["do"], keep=keep, session=session, number=number)
        with self._lock:
            self.check(session, number, job.kind)  # again: others may have started one meanwhile
            session.jobs[number] = job
            self.running.append(job)
        if job.kind == "film":
            self.films[job.name] = job
            job.say("started", name=job.name)
        arguments = job, finish, Path(wanted["path"]) if "path" in wanted else None
        threading.Thread(target=self._follow, args=arguments, daemon=True).start()

    def _follow(self, job: Job, finish: Finish, path: Path | None) -> None:
        """Send a process's messages to its client; the job leaves the lists before the last one."""
        last: dict[str, Any] = {}
        try:
            for said in job.said():
                if said["t"] in ("found", "failed"):
                    last = said
                else:
                    job.say(said.pop("t"), **said)
        except Exception as error:
            last = {"t": "failed", "message": internal(error)}
        self.running.remove(job)
        if job.session:
            job.session.jobs.pop(job.number, None)
        if last.pop("t", "") == "found":
            try:
                kind, keys = finish(last)
                job.say(kind, **keys)
                return
            except Exception as error:
                last = {"message": internal(error)}
        if path:
            shutil.rmtree(path.parent, ignore_errors=True)
        cancelled = job.killed and not last
        early = "the process ended early, perhaps for lack of memory"
        ending = {"message": "cancelled" if cancelled else early, **last}
        job.say("failed", cancelled=cancelled, **ending)

    async def tidy_now_and_then(self) -> None:
        """Remove what killed servers have left, and then files that become old."""
        await asyncio.to_thread(remove_leftovers)
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            self.tidy()

    def tidy(self) -> None:
        """Remove exported files that are old, or exceed the quota, and what killed jobs left."""
        now, total = monotonic(), sum(kept.bytes for kept in list(self.files.values()))
        for name, kept in list(self.files.items()):
            if now - kept.since > KEPT_SECONDS or total > QUOTA:
                total -= kept.bytes
                self.files.pop(name, None)
                with contextlib.suppress(OSError):  # Windows keeps a file that is being sent
                    kept.path.unlink()
        for name, job in list(self.films.items()):
            if job not in self.running and now - job.since > KEPT_SECONDS:
                self.films.pop(name, None)
        if self._folder and not self.running:
            used = {kept.path.parent for kept in list(self.files.values())}
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):  # a job that fails removes its own meanwhile
                    # A job that has just begun may be about to use a young folder.
                    old = time() - path.stat().st_mtime > TIDY_SECONDS
                    if path.is_dir() and path not in used and old:
                        shutil.rmtree(path, ignore_errors=True)


def searched(session: Session, message: protocol.Find) -> Scene:
    """Return the scene of a frame, or of a rectangle of it."""
    scene, place = session.scene(message.frame), session.frames.place(message.frame)
    if message.rect is None or not moves_of(scene).in_plane:
        return scene
    x0, y0, x1, y1 = message.rect
    if not (x0 < x1 and y0 < y1):
        raise OptionError("the rectangle is empty")
    x, y = place.point(((x0 + x1) // 2, (y0 + y1) // 2))
    width = place.pixel * Fraction(x1 - x0, 16)
    places = decimals(width) + 8
    center = decimal_places(x, places), decimal_places(y, places)
    size = max(1, (x1 - x0) // 16), max(1, (y1 - y0) // 16)
    return scene.replace(center=center, width=significant(width), size=size)


def exported(session: Session, message: protocol.ExportKeys) -> Scene:
    """Return the scene of an export: the view that is seen, at another size."""
    scene = session.scene(message.frame, message.author)
    scene = scene.replace(size=message.size, supersampling=message.supersampling)
    if message.span != 1 and moves_of(scene).in_plane:
        width, _ = place_of(scene)
        scene = scene.replace(width=width_text(width * Fraction(message.span)))
    if isinstance(message, protocol.Export) and message.dpi:
        scene = scene.replace(dpi=message.dpi)
    return scene

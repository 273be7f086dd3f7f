"""What runs on the workers of a cluster: one task at a time, by all of its threads.

The functions take and return plain values, so that a worker with another version of the package can
still say which version it has.
"""

import asyncio
import functools
import importlib
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.backends.cuda import gpus
from fractals.backends.devices import choose
from fractals.backends.sources import source_digest
from fractals.errors import (
    DeviceError,
    DeviceFailedError,
    FractalsError,
    OptionError,
    counted,
    on_the_cpu,
    shown,
)
from fractals.io import png
from fractals.io.files import parse_json
from fractals.io.stores.parts import StoreParts, decode, encode, this_machine
from fractals.io.stores.store import RawStore, tile_name
from fractals.rendering.cluster.pools import (
    TIMEOUT,
    address_towards,
    check_address,
    import_distributed,
    is_public,
    read_address,
    said_to_wait,
    security_settings,
)
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    compute_tile,
    draw_tile,
    numbers_of,
    open_drawing,
    open_plan,
    run,
)
from fractals.rendering.iteration import Stop
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import MAX_SINGLE
from fractals.rendering.resume_data import ResumeData
from fractals.rendering.stores.known import load_known
from fractals.rendering.tiles import Tile, make_tiles, runs
from fractals.scene.model import Scene, validate
from fractals.threads import checking, core_count, run_tiles

SIDE = 8  # pixels of the tile that each worker computes before it joins
MAX_STEPS = 4096  # of its samples
MOST_SAMPLES = 2**22  # of tiles that are in memory together
LOOK = 0.5  # seconds between two looks whether a job is over
MAX_SESSIONS = 2  # scenes whose programs and tables are kept between tasks

T = TypeVar("T")


class RefusedError(FractalsError):
    """A worker can't take part, because its results would differ."""


class OverError(Exception):
    """The task that this worker does is no longer wanted."""


@dataclass
class Settings:
    """What `fractals worker` was started with."""

    device: str = "auto"
    threads: int | None = None
    on_message: Callable[[str], None] = lambda line: None


settings = Settings()
# What `open_session` of a job's module returned
_sessions: dict[tuple[str, str, str, int], Any] = {}
_without_gpu: set[str] = set()  # jobs with which the CPU goes on, because a GPU has failed
_one_at_a_time = threading.Lock()


def facts_of_this_program() -> dict[str, str]:
    """Return what must be equal on all machines of a job.

    The deflated bytes of a picture depend on the library that compresses, so its name and a sum of
    what it makes are compared too.
    """
    ramp = (np.arange(16 * 48 * 3, dtype=np.uint32) ** 2 % 251).astype(np.uint8)
    strips = [png.compress(ramp.reshape(16, 48, 3), how).chunk for how in ("fast", "small")]
    return {
        "version": __version__,
        "source": source_digest(),
        "NumPy": np.__version__.split(".")[0],
        "compression": f"{png.fast_zlib.__name__} {zlib.crc32(b''.join(strips)):08x}",
    }


def known_sum(drawing: Drawing) -> int:
    """Return the CRC-32 of the raw numbers in the middle of a picture, after a few steps."""
    plan = drawing.plan
    (width, height), n = plan.size, plan.supersampling
    across, down = min(SIDE, width), min(SIDE, height)
    tile = Tile((width - across) // 2, (height - down) // 2, across, down)
    last = min(MAX_STEPS, drawing.source.max_iterations)
    planes = {name: np.empty((down * n, across * n), d) for name, d in drawing.planes.items()}
    raw = drawing.source.iterate(tile, last)
    drawing.backend.all_to_host(numbers_of(drawing, raw, planes))
    drawing.backend.synchronize()
    total = 0
    for plane in planes.values():
        total = zlib.crc32(plane.data, total)
    return total


@dataclass(frozen=True)
class Made:
    """A part that was computed: its number, name, arrays and facts."""

    number: int
    name: str
    arrays: dict[str, NDArray[Any]]
    facts: dict[str, int]


@dataclass
class WorkerSession:
    """A job on this worker: its drawing, kept between tasks."""

    kind: str  # "tiles" of a store, or "strips" of a picture
    drawing: Drawing
    store: RawStore | None = None  # the shapes of the tiles; nothing is read from its folder

    @property
    def known_sum(self) -> int:
        """Return what the machine that asks compares with its own."""
        return known_sum(self.drawing)

    @property
    def device(self) -> str:
        """Return the kind of the device."""
        return self.drawing.plan.device

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield the parts of these numbers. Successive ones are computed together."""
        make = self._tiles if self.kind == "tiles" else self._strips
        for near in runs(numbers, max(1, MOST_SAMPLES // self._samples())):
            yield from make(near)

    def _samples(self) -> int:
        """Return the samples of a part."""
        plan = self.drawing.plan
        n, width = plan.supersampling, plan.size[0]
        return (self.store.rows if self.store else n * self._strip_rows()) * width * n

    def _strip_rows(self) -> int:
        picture = self.drawing.plan.scene.image
        return png.strip_rows(picture.size, picture.bits)

    def _tiles(self, run: Sequence[int]) -> Iterator[Made]:
        store, n = self.store, self.drawing.plan.supersampling
        assert store
        first, last = store.window(run[0]).start, store.window(run[-1]).stop
        shape = last - first, store.shape[1]
        planes = {name: np.empty(shape, dtype) for name, dtype in store.planes.items()}

        def work(tile: Tile, stop: Stop) -> dict[str, float]:
            down, across = tile.window(n)
            down = slice(down.start - first, down.stop - first)
            own = {name: plane[down, across] for name, plane in planes.items()}
            return compute_tile(self.drawing, tile, own, stop)

        self._run(first // n, last // n, work)
        for k in run:
            rows = store.window(k)
            own = slice(rows.start - first, rows.stop - first)
            yield Made(k, tile_name(k), {name: plane[own] for name, plane in planes.items()}, {})

    def _strips(self, run: Sequence[int]) -> Iterator[Made]:
        plan, tall = self.drawing.plan, self._strip_rows()
        first, last = run[0] * tall, min(plan.size[1], (run[-1] + 1) * tall)
        pixels = np.empty((last - first, plan.size[0], 3), self.drawing.dtype)

        def work(tile: Tile, stop: Stop) -> dict[str, float]:
            down = slice(tile.y - first, tile.y - first + tile.height)
            out = pixels[down, tile.x : tile.x + tile.width]
            return draw_tile(self.drawing, tile, out, stop)

        self._run(first, last, work)
        strips: dict[int, png.PngStrip] = {}

        def compress(k: int) -> dict[str, float]:
            rows = pixels[k * tall - first : (k + 1) * tall - first]
            strips[k] = png.compress(rows, plan.scene.image.compression)
            return {}

        run_tiles(run, compress, min(len(run), max(1, self.drawing.backend.threads)))
        for k in run:
            facts = {"checksum": strips[k].checksum, "length": strips[k].length}
            yield Made(k, strip_name(k), {"chunk": np.frombuffer(strips[k].chunk, np.uint8)}, facts)

    def _run(self, top: int, bottom: int, work: Callable[[Tile, Stop], dict[str, float]]) -> None:
        """Do the work of tiles that cover these rows of pixels, in all threads."""
        plan, threads = self.drawing.plan, max(1, self.drawing.backend.threads)
        image = plan.scene.image.model_copy(update={"size": (plan.size[0], bottom - top)})
        part = plan.scene.model_copy(update={"image": image})
        limit = min(plan.max_iterations, MAX_SINGLE) if plan.deep else plan.max_iterations
        found = make_tiles(part, plan.device, limit, threads, plan.deep)
        tiles = tuple(tile._replace(y=tile.y + top) for tile in found)
        run(self.drawing, tiles, Sink(work))


def _ignore(_line: str) -> None:
    """Drop a message: the machine that asks has shown its own."""


def strip_name(k: int) -> str:
    """Return the name of the part with a strip of a picture.

    >>> strip_name(7)
    '000007.strip'
    """
    return f"{k:06d}.strip"


def introduce(
    job: Mapping[str, Any], share: int, given: Mapping[str, bytes] | None = None
) -> dict[str, Any]:
    """Make this worker ready for a job, and return what it is.

    `given` holds parts that another machine has found, for a worker that does not see them. What is
    returned tells the ``machine``, its ``host``, whether the folder of parts is ``shared``, and
    whether the worker ``lacks`` parts, such as the reference orbit, because it is not.

    Raises RefusedError: this worker computes other numbers than the machine that asks.
    """
    with _one_at_a_time:
        lacks = _or_on_the_cpu(job, lambda: _session(job, share, given)) is None
        facts = {"machine": this_machine(), "host": socket.gethostname()}
        return facts | {"shared": shares_folder(job), "lacks": lacks}


def compute(
    job: Mapping[str, Any],
    numbers: Sequence[int],
    share: int,
    given: Mapping[str, bytes] | None = None,
) -> list[dict[str, Any]]:
    """Compute parts, and return a receipt of each; none where this worker lacks what `given` holds.

    It has ``number``, ``name``, ``sums``, ``machine``, ``seconds`` and, where the folder is not
    shared, ``content``: the bytes of the part.
    """
    with _one_at_a_time, checking(_stopping(job)):
        return _or_on_the_cpu(job, lambda: _computed(job, numbers, _session(job, share, given)))


def _computed(job: Mapping[str, Any], numbers: Sequence[int], session: Any) -> list[dict[str, Any]]:
    """Return the receipts of parts that a session computes; none: there is no session."""
    receipts: list[dict[str, Any]] = []
    if session is None:
        return receipts
    begun = perf_counter()
    for made in session.compute(numbers):
        content = b""
        if not shares_folder(job):
            content = encode(made.name, job["work"], made.arrays, made.facts)
        elif os.path.exists(Path(job["folder"], job["token"])):  # the job is not over
            _parts(job).put(made.name, made.arrays, made.facts)
        arrays = map(np.ascontiguousarray, made.arrays.values())
        receipts.append(
            {
                "number": made.number,
                "name": made.name,
                "sums": [zlib.crc32(array.data) for array in arrays],
                "machine": this_machine(),
                "content": content,
            }
        )
    each = (perf_counter() - begun) / max(1, len(receipts))
    return [receipt | {"seconds": each} for receipt in receipts]


def _or_on_the_cpu(job: Mapping[str, Any], work: Callable[[], T]) -> T:
    """Return ``work()``; if "auto" has chosen a GPU that fails meanwhile, once more on the CPU.

    Raises RefusedError: the GPU was named, so this worker leaves the job to others.
    """
    try:
        return work()
    except (DeviceError, DeviceFailedError) as error:
        if _device_for(job) != "auto" or not isinstance(error, DeviceFailedError):
            raise RefusedError(f"{this_machine()} is refused: {error.args[0]}") from None
        settings.on_message(on_the_cpu(error.args[0]))
        _without_gpu.add(job["work"])
        for key in [key for key in _sessions if key[0] == job["work"]]:
            del _sessions[key]
    return work()


def _device_for(job: Mapping[str, Any]) -> str:
    """Return the device that is asked for by a job, or else by whoever has started this worker."""
    if job["work"] in _without_gpu:
        return "cpu"
    asked: str = job["device"]
    return settings.device if asked == "auto" else asked


def _stopping(job: Mapping[str, Any]) -> Callable[[], None]:
    """Return a function that raises an `OverError` once a task is no longer wanted."""
    shared, last = shares_folder(job), perf_counter()

    def check() -> None:
        nonlocal last
        if perf_counter() - last < LOOK:
            return
        last = perf_counter()
        if (shared and not shares_folder(job)) or _is_cancelled():
            raise OverError

    return check


def _is_cancelled() -> bool:
    """Tell whether this thread does a task of Dask whose client has cancelled it, or has ended."""
    distributed = sys.modules.get("distributed")
    try:
        worker = distributed.get_worker() if distributed else None
    except ValueError:  # no thread of Dask's
        worker = None
    if worker is None:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def shares_folder(job: Mapping[str, Any]) -> bool:
    """Tell whether this machine sees the folder of the machine that asks."""
    return not job["returns"] and os.path.exists(Path(job["folder"], job["token"]))


def _parts(job: Mapping[str, Any]) -> StoreParts:
    """Return the parts of a job: in its folder, or in one of this machine."""
    if shares_folder(job):
        return StoreParts(Path(job["folder"]), job["work"])
    return StoreParts(Path(_own_folder().name) / job["work"], job["work"])


@functools.cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder of this process for the orbits of others."""
    return tempfile.TemporaryDirectory(prefix="fractals-worker-", ignore_cleanup_errors=True)


def _session(job: Mapping[str, Any], share: int, given: Mapping[str, bytes] | None = None) -> Any:
    """Return the session of a job, ready to compute; None where this worker lacks parts.

    share : int
        How many workers share the cores of this machine.
    """
    threads = settings.threads or max(1, core_count() // share)
    key = job["work"], job["folder"], job["header"], threads
    if key in _sessions:
        return _sessions[key]
    refuse_other(facts_of_this_program(), job["program"])
    header = parse_json(job["header"])
    scene = validate(header["scene"])  # inline data only: nothing opens a file that it names
    options = RenderOptions(
        device=_device_for(job),
        threads=threads,
        interior_shortcuts=job["interior_shortcuts"],
        force=True,
        on_message=_ignore,
    )
    parts = _parts(job)
    for name, content in (given or {}).items():
        decode(content, job["work"])
        parts.keep(name, content)
    known = load_known(parts)
    if known is None and shares_folder(job):
        raise FractalsError(f"{this_machine()}: '{job['folder']}' lacks what was found first")
    if known is None:
        return None
    opened = importlib.import_module(job["opener"]).open_session(
        {**job, "header": header}, scene, options, known
    )
    if opened.known_sum != job["known_sum"]:
        raise RefusedError(
            f"{this_machine()} is refused: its numbers differ from those of the machine that asks "
            f"(device {opened.device})"
        )
    while len(_sessions) >= MAX_SESSIONS:
        del _sessions[next(iter(_sessions))]
    _sessions[key] = opened
    return opened


def open_session(
    job: Mapping[str, Any], scene: Scene, options: RenderOptions, known: ResumeData
) -> WorkerSession:
    """Return the session of a store or a picture; its programs are compiled, its tables made."""
    tiles = job["kind"] == "tiles"
    plan, backend = open_plan(scene, options, "store" if tiles else "bands")
    drawing = open_drawing(plan, backend, options, known=known)
    store = RawStore(Path(job["folder"]), job["header"]) if tiles else None
    return WorkerSession(job["kind"], drawing, store)


def refuse_other(own: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raise a `RefusedError` where this worker differs from the machine that asks."""
    for name, value in own.items():
        if asked.get(name) != value:
            raise RefusedError(
                f"{this_machine()} is refused: its {name} is {value}, "
                f"and on the machine that asks it is {asked.get(name)}"
            )


# A worker process of `fractals worker`: a Dask worker that does one task at a time.


def serve(
    address: str,
    device: str,
    threads: int | None,
    keys: str | Path | None,
    insecure: bool,
    on_message: Callable[[str], None],
) -> None:
    """Do tasks of a scheduler until it ends, or this process is interrupted.

    The worker listens on the address from which this machine reaches the scheduler, and on no
    other one: for a scheduler on this machine, only processes of this machine reach it.

    Raises FractalsError: the scheduler does not answer, or Dask is not installed. Raises
    OptionError: the scheduler's address, or the worker's own one, is public and without TLS. Raises
    OptionError or DeviceError: the device is unknown or missing.
    """
    check_address(address, insecure)
    if note := choose(device).note:
        on_message(note)
    import_distributed()
    # It writes stack traces where a connection ends; `fractals worker` says so in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings.device, settings.threads, settings.on_message = device, threads, on_message
    with said_to_wait(address, on_message):
        where = read_address(address, insecure)
    own = address_towards(where)
    tls = where.startswith("tls://")
    if not tls and not insecure and is_public(own):
        raise OptionError(
            f"this machine reaches {shown(address, 80)} from {own}, a public address, and whoever "
            "reaches a worker without TLS runs code on it: give tls://... (see fractals "
            "cluster-keys --help), or insecure=True"
        )
    given: dict[str, Any] = {
        "scheduler_ip": where,
        "host": f"[{own}]" if ":" in own else own,
        **security_settings(where, keys),
    }
    from fractals.rendering.cluster.nodes import QuietWorker

    async def run() -> None:
        with TemporaryDirectory(prefix="fractals-worker-") as folder:
            serving = QuietWorker(
                **given,
                nthreads=1,
                resources={"tile": 1},
                memory_limit=0,  # the plan of a scene knows its memory
                local_directory=folder,
                dashboard=False,
                death_timeout=TIMEOUT,
            )
            try:
                with said_to_wait(address, on_message):
                    await serving
                cores = threads or core_count()
                facts = f"{counted(cores, 'thread')}, {device}" + ("" if tls else ", without TLS")
                on_message(f"{serving.address} is ready at {address}: {facts}")
                await serving.finished()
            finally:
                await serving.close(timeout=1, nanny=False)

    try:
        asyncio.run(run())
    except (OSError, TimeoutError, ValueError) as error:
        late = isinstance(error, TimeoutError)
        reason = f" within {TIMEOUT} s" if late else f" ({shown(error, 100)})"
        raise FractalsError(
            f"no scheduler answers at {shown(address, 80)}{reason}: start one with 'dask scheduler'"
        ) from None


def gpus_of(device: str) -> Sequence[str]:
    """Return the GPUs that get a process each; none where one process is enough.

    A GPU is named as in CUDA_VISIBLE_DEVICES.
    """
    if device not in ("auto", "gpu", "cuda", "cuda:all"):
        return ()
    found, _ = gpus.found()
    # Numbers count the GPUs that the variable leaves visible, in its order.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    names = visible if visible[0] else map(str, range(len(found)))
    usable = [name.strip() for name, gpu in zip(names, found, strict=False) if not gpu.problem]
    return usable if len(usable) > 1 else ()


def serve_each_gpu(gpus: Sequence[str], arguments: Sequence[str], threads: int | None) -> int:
    """Start a process for each GPU, each with its share of the cores, and wait for them."""
    share = threads or max(1, core_count() // len(gpus))
    # -P: nothing is imported from the current folder.
    command = [sys.executable, "-P", "-m", "fractals", "worker", *arguments, "--device", "cuda"]
    paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    started = [
        subprocess.Popen(
            [*command, "--threads", str(share)], env=environment | {"CUDA_VISIBLE_DEVICES": gpu}
        )
        for gpu in gpus
    ]
    try:
        return max(process.wait() for process in started)
    finally:
        for process in started:
            process.terminate()

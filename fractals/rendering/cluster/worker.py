"""What runs on the workers of a cluster: one task at a time, by all of its threads.

The functions take and return plain values, so that a worker with another version of the package can
still say which version it has.
"""

import functools
import os
import socket
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.backends.cache_folder import source_digest
from fractals.errors import FractalsError
from fractals.io import png
from fractals.io.files import parse_json
from fractals.io.parts import Parts, decode, encode, this_machine
from fractals.io.store import Store
from fractals.io.store_parts import tile_name
from fractals.rendering.drawing import (
    Drawing,
    compute_tile,
    copy_numbers,
    draw_tile,
    open_drawing,
    open_plan,
    run_all,
)
from fractals.rendering.iteration import Stop
from fractals.rendering.known import load_known
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import MAX_SINGLE
from fractals.rendering.tiles import Tile, make_tiles, runs
from fractals.scene.model import validate
from fractals.threads import core_count, run_tiles

SIDE = 8  # pixels of the tile that each worker computes before it joins
MAX_STEPS = 4096  # of its samples
MOST_SAMPLES = 2**22  # of tiles that are in memory together
MAX_SESSIONS = 2  # scenes whose programs and tables are kept between tasks


class RefusedError(FractalsError):
    """A worker can't take part, because its results would differ."""


@dataclass
class Settings:
    """What `fractals worker` was started with."""

    device: str = "auto"
    threads: int | None = None


settings = Settings()
_sessions: dict[tuple[str, int], "Session"] = {}
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
    copy_numbers(drawing, drawing.source.iterate(tile, last), planes)
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
class Session:
    """A job on this worker: its drawing, kept between tasks.

    Attributes
    ----------
    kind : str
        "tiles" of a store, or "strips" of a picture.
    drawing : Drawing
    store : Store, optional
        The shapes of the tiles; nothing is read from its folder.
    """

    kind: str
    drawing: Drawing
    store: Store | None = None

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield the parts of these numbers. Successive ones are computed together."""
        make = self._tiles if self.kind == "tiles" else self._strips
        for run in runs(numbers, max(1, MOST_SAMPLES // self._samples())):
            yield from make(run)

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
        strips: dict[int, png.Strip] = {}

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
        run_all(replace(self.drawing, plan=replace(plan, tiles=tiles)), work, None)


def _ignore(_line: str) -> None:
    """Drop a message: the machine that asks has shown its own."""


def strip_name(k: int) -> str:
    """Return the name of the part with a strip of a picture.

    Examples
    --------
    >>> strip_name(7)
    '000007.strip'
    """
    return f"{k:06d}.strip"


def introduce(job: Mapping[str, Any], share: int) -> dict[str, Any]:
    """Make this worker ready for a job, and return what it is.

    Returns
    -------
    dict
        ``machine``, ``cores``, whether the folder of parts is ``shared``, and whether the worker
        ``lacks`` the reference orbit, because it is not.

    Raises
    ------
    RefusedError
        This worker computes other numbers than the machine that asks.
    """
    with _one_at_a_time:
        shared = _shares(job)
        facts = {"machine": this_machine(), "host": socket.gethostname(), "shared": shared}
        lacks = not shared and load_known(_parts(job)) is None
        if not lacks:
            _session(job, share)
        return facts | {"lacks": lacks}


def deposit(job: Mapping[str, Any], parts: Mapping[str, bytes]) -> None:
    """Keep parts that another machine has found, in a folder of this one."""
    own = _parts(job)
    for name, content in parts.items():
        decode(content, job["work"])
        own.keep(name, content)


def compute(job: Mapping[str, Any], numbers: Sequence[int], share: int) -> list[dict[str, Any]]:
    """Compute parts, and return a receipt of each.

    Returns
    -------
    list of dict
        ``number``, ``name``, ``sums``, ``machine`` and ``seconds``; and ``content``, the bytes of
        the part, where the folder is not shared.
    """
    with _one_at_a_time:
        session, receipts = _session(job, share), []
        begun = perf_counter()
        for made in session.compute(numbers):
            content = b""
            if not _shares(job):
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


def _shares(job: Mapping[str, Any]) -> bool:
    """Tell whether this machine sees the folder of the machine that asks."""
    return not job["returns"] and os.path.exists(Path(job["folder"], job["token"]))


def _parts(job: Mapping[str, Any]) -> Parts:
    """Return the parts of a job: in its folder, or in one of this machine."""
    if _shares(job):
        return Parts(Path(job["folder"]), job["work"])
    return Parts(Path(_own_folder().name) / job["work"], job["work"])


@functools.cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder of this process for the orbits of others."""
    return tempfile.TemporaryDirectory(prefix="fractals-worker-", ignore_cleanup_errors=True)


def _session(job: Mapping[str, Any], share: int) -> Session:
    """Return the session of a job; its programs are compiled and its tables made.

    share : int
        How many workers share the cores of this machine.
    """
    threads = settings.threads or max(1, core_count() // share)
    key = job["work"], threads
    if key in _sessions:
        return _sessions[key]
    own = facts_of_this_program()
    for name, value in job["program"].items():
        if own.get(name) != value:
            raise RefusedError(
                f"{this_machine()} is refused: its {name} is {own.get(name)}, "
                f"and on the machine that asks it is {value}"
            )
    header = parse_json(job["header"])
    scene = validate(header["scene"], "")  # inline data only: nothing opens a file that it names
    device = settings.device if job["device"] == "auto" else job["device"]
    options = RenderOptions(
        device, threads, job["interior_shortcuts"], force=True, on_message=_ignore
    )
    tiles = job["kind"] == "tiles"
    plan, backend = open_plan(scene, options, "store" if tiles else "bands")
    known = load_known(_parts(job))
    if known is None:
        raise FractalsError(f"{this_machine()} does not see '{job['folder']}'")
    drawing = open_drawing(plan, backend, options, shading=not tiles, known=known)
    if known_sum(drawing) != job["known_sum"]:
        raise RefusedError(
            f"{this_machine()} is refused: its numbers differ from those of the machine that asks "
            f"(device {plan.device})"
        )
    store = Store(Path(job["folder"]), header) if tiles else None
    while len(_sessions) >= MAX_SESSIONS:
        del _sessions[next(iter(_sessions))]
    _sessions[key] = Session(job["kind"], drawing, store)
    return _sessions[key]

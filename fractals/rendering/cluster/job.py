"""Jobs: what workers need to know to compute parts, and what becomes of the parts."""

import contextlib
import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from fractals import __version__
from fractals.backends.base import Backend, Stages
from fractals.errors import FractalsError, OptionError, SceneError, counted, shown
from fractals.io import png
from fractals.io.facts import resolved_values
from fractals.io.image import PictureFile, png_beginning
from fractals.io.load import load_scene
from fractals.io.stores.parts import (
    NAME,
    DamagedPartError,
    StorePart,
    StoreParts,
    check_equal,
    clear_folder,
    decode,
)
from fractals.io.stores.store import claimed, header_text
from fractals.kernels.formula import Formula
from fractals.rendering.cluster import worker
from fractals.rendering.cluster.dispatch import Dispatch, PartForecast
from fractals.rendering.cluster.pools import Pool, open_pool
from fractals.rendering.cluster.worker import facts_of_this_program, known_sum, strip_name
from fractals.rendering.develop import check_bands
from fractals.rendering.drawing import Drawing, open_drawing
from fractals.rendering.families import Rendered
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.rendering.resume_data import ResumeData, known_of
from fractals.rendering.stores.known import BEGUN, load_known, save_known
from fractals.scene.model import Scene

ROUNDS = 3  # times that lost parts are computed
TIDY = 10.0  # seconds between two calls of `tidy`


@dataclass(frozen=True)
class ClusterJob:
    """What a cluster computes."""

    kind: str  # what the parts are: "tiles" of a store, "strips" of a picture, or "film"
    header: Mapping[str, Any]  # holds the scene; of a store, its header
    parts: StoreParts  # where the parts are collected
    # Returns the numbers of the parts that are missing, in the order in which they are made
    missing: Callable[[], Sequence[int]]
    known: ResumeData  # the limit, count offset and reference orbits of all workers
    known_sum: int  # compared with that of each worker
    seconds: float = 0.0  # the forecast of all parts that are missing, by a machine like this one
    # Called with the number of each part that came
    received: Callable[[int], None] = lambda number: None
    opener: str = worker.__name__  # the module whose `open_session` a worker calls
    # What must be equal on all machines
    program: Mapping[str, str] = field(default_factory=worker.facts_of_this_program)
    plan: PartForecast | None = None  # by default all parts take the same time and are ready


def make_job(
    kind: str,
    header: Mapping[str, Any],
    parts: StoreParts,
    missing: Callable[[], Sequence[int]],
    drawing: Drawing,
    tidy: Callable[[], None] = lambda: None,
) -> ClusterJob:
    """Return the job of a store or a picture; `tidy` is called now and then.

    The limit, count offset and reference orbits of the drawing are those of all workers.
    """
    check_formula(drawing.plan.formula)
    last = monotonic()

    def received(_number: int) -> None:
        nonlocal last
        if monotonic() - last > TIDY:
            tidy()
            last = monotonic()

    known = known_of(drawing.source)
    seconds = drawing.plan.seconds
    return ClusterJob(kind, header, parts, missing, known, known_sum(drawing), seconds, received)


def check_formula(formula: Formula) -> None:
    """Raise an `OptionError` for a formula that workers do not have."""
    if not formula.step.__module__.startswith("fractals."):
        raise OptionError("a formula from a Python file can't be sent to the workers of a cluster")


def run_job(cluster: Any, job: ClusterJob, options: RenderOptions) -> None:
    """Have parts computed by a `Cluster`, or by what `open_pool` takes.

    Raises FractalsError: no worker can take part, two results differ, or parts get lost again and
    again.
    """
    if not job.missing():
        return
    asked = cluster if isinstance(cluster, Cluster) else Cluster(cluster)
    pool = open_pool(asked.address, asked.keys, asked.insecure, options.on_message)
    try:
        _run(pool, asked.returns, job, options)
    finally:
        pool.close()


def _run(pool: Pool, returns: bool, job: ClusterJob, options: RenderOptions) -> None:
    """Have parts computed by a pool."""
    parts = job.parts
    if load_known(parts) is None:
        save_known(job.known, parts)
    token, numbers = parts.make_token(), job.missing()
    sent = {
        "kind": job.kind,
        "opener": job.opener,
        "work": parts.work,
        "folder": str(parts.folder.resolve()),
        "token": token.name,
        "returns": returns,
        "program": dict(job.program),
        "known_sum": job.known_sum,
        "header": header_text(job.header),
        "device": options.device,
        "interior_shortcuts": options.interior_shortcuts,
    }

    def receive(receipt: Mapping[str, Any]) -> None:
        if content := receipt["content"]:
            part = decode(content, parts.work)
            if part.name != receipt["name"]:
                raise DamagedPartError(f"a part arrived damaged ({shown(part.name, 40)})")
            if before := parts.read(part.name):
                check_equal(part, before)
            else:
                parts.keep(part.name, content)
        job.received(receipt["number"])

    def deposits() -> Mapping[str, bytes]:
        names = [name for name in parts.names() if name.endswith(".orbit")]
        return {name: (parts.folder / name).read_bytes() for name in [*names, BEGUN]}

    each = job.seconds / max(1, len(numbers))
    plan = job.plan or PartForecast(lambda _number: each)
    dispatch = Dispatch(pool, sent, receive, deposits, plan, options.on_message)
    try:
        for _ in range(ROUNDS):
            dispatch.run(numbers, options.on_progress)
            numbers = job.missing()  # a file may have been damaged after its receipt came
            if not numbers:
                return
        raise FractalsError(
            f"'{parts.folder}': {counted(len(numbers), 'part')} lost on the way: the same command "
            "computes what is missing"
        )
    finally:
        token.unlink(missing_ok=True)  # workers that are late stop, and write no more


@dataclass(frozen=True)
class Cluster:
    """An address and how it is reached, as the command line gives them: see `open_pool`."""

    address: Any
    keys: str | Path | None = None
    insecure: bool = False
    returns: bool = False  # whether results come back by the network, not by a shared folder


# Posters: strips of a PNG that the workers of a cluster draw and compress.
#
# ``NAME.png.parts/`` beside the picture holds the strips until all are there, so the same command
# goes on after an interruption. Where a strip ends depends on the picture's size alone, so the file
# equals the file of `render_to`, byte for byte.


SUFFIX = ".parts"


def check_poster(path: Any, target: PictureFile, whole: bool) -> Path:
    """Return the path of a picture, or raise an `OptionError` where a cluster can't draw it."""
    if not target.streams or not isinstance(path, str | Path):
        raise OptionError("a cluster draws a PNG into a file: name one that ends in .png")
    if whole:
        raise OptionError(
            "a cluster does not draw colorings of the whole picture (histogram, rank): compute a "
            "store with cluster=, then recolor it"
        )
    return Path(path)


def draw_poster(
    path: Any,
    target: PictureFile,
    plan: Plan,
    backend: Backend,
    options: RenderOptions,
    stages: Stages,
    cluster: Any,
) -> Rendered:
    """Draw the picture of a plan into a file by a cluster."""
    path = check_poster(path, target, plan.layers.whole)
    check_bands(plan.scene)
    drawing = open_drawing(plan, backend, options, stages=stages)
    source = drawing.source
    picture = plan.scene.image
    found = source.max_iterations, source.count_offset
    header = {
        "scene": plan.scene.to_table(),
        "max_iterations": int(found[0]),
        "count_offset": float(found[1]),
        "program": __version__,
        "compression": facts_of_this_program()["compression"],
    }
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    folder = path.with_name(path.name + SUFFIX)
    parts = StoreParts(folder, hashlib.sha256(text).hexdigest()[:32])
    tall = png.strip_rows(picture.size, picture.bits)
    strips = -(-plan.size[1] // tall)
    with claimed(folder):
        _check_folder(folder)
        parts.tidy()

        def read(k: int) -> png.PngStrip | None:
            rows, part = min(tall, plan.size[1] - k * tall), parts.read(strip_name(k))
            if part is None:
                return None
            strip = _strip(part, rows * png.row_bytes(picture.size, picture.bits))
            if strip is None:
                parts.remove([part.name])  # else the next one would be compared with it
            return strip

        def missing() -> list[int]:
            return [k for k in range(strips) if read(k) is None]

        run_job(cluster, make_job("strips", header, parts, missing, drawing), options)
        with target.open() as file:
            resolved = resolved_values(plan.scene, *found)
            beginning = png_beginning(plan.scene, picture.size, picture.bits, resolved)
            writer = png.PngWriter(file, beginning)
            for k in range(strips):
                if (strip := read(k)) is None:
                    raise FractalsError(
                        f"'{path}': strip {k} was lost on the way: the same command draws it again"
                    )
                writer.put(k, strip)
            writer.end()
        parts.clear()
    stages.lap("iterate")
    return Rendered(**vars(drawing.facts) | {"summary": None})  # the workers have counted


def remove_rest(path: Path, scene: Scene) -> None:
    """Remove the strips of a picture that is there: a process was killed before it did so."""
    folder = path.with_name(path.name + SUFFIX)
    if folder.is_dir() and path.is_file():
        with contextlib.suppress(SceneError):
            if load_scene(path) == scene:
                with claimed(folder):
                    _check_folder(folder)
                    clear_folder(folder)


def _check_folder(folder: Path) -> None:
    others = [n for n in os.listdir(folder) if not (n.startswith(".") or NAME.fullmatch(n))]
    if others:
        raise FractalsError(f"'{folder}' holds other things ('{others[0]}'): name another picture")


def _strip(part: StorePart, length: int) -> png.PngStrip | None:
    """Return the strip in a part; None where a PNG with it could not be read.

    `length`: of the bytes that are deflated in it.
    """
    found, checksum = part.arrays.get("chunk"), part.facts.get("checksum")
    if found is None or found.ndim != 1 or part.facts.get("length") != length:
        return None
    chunk = found.tobytes()
    whole = chunk[:8] == struct.pack(">I", len(chunk) - 12) + b"IDAT"
    if not whole or not isinstance(checksum, int) or not 0 <= checksum < 2**32:
        return None
    return png.PngStrip(chunk, checksum, length)

"""Sums by a cluster: each worker adds up chunks of an image, and their sums are added.

Sums of whole numbers do not depend on their order, so a store, and the picture of it, are those of
one machine. Pieces that came are parts of the store, as of `fractals.rendering.stores.sums`: they
are added in the order of their chunks, and the next process goes on with those that wait.
"""

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from fractals.io.escape_data import STORE
from fractals.io.image import Image, PictureFile
from fractals.io.stores.store import claimed, clear
from fractals.rendering.cluster.dispatch import AIM
from fractals.rendering.cluster.job import ClusterJob, check_poster, run_job
from fractals.rendering.cluster.worker import Made
from fractals.rendering.families import Rendered, written_to
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.resume_data import ResumeData
from fractals.rendering.stores.sums import (
    SECONDS,
    Adder,
    Going,
    Part,
    Play,
    content_of,
    parts_there,
    read_part,
)
from fractals.scene.model import Scene
from fractals.threads import add

LEAST_PIECES, MOST_PIECES = 8, 512  # of a job

Piece = tuple[int, int]  # the first chunk, and the one after the last


def played_by(cluster: Any) -> Play:
    """Return what has a cluster play chunks, as of `compute_sums_to`."""
    return partial(_play_by, cluster)


def _play_by(cluster: Any, going: Going, options: RenderOptions) -> None:
    """Have a cluster play the chunks of a store that are missing.

    `cluster`: as of `fractals.rendering.cluster.job.run_job`.
    """
    adder, plan = going.adder, going.adder.plan
    adder.check_sent()
    found = _in_order(going)
    pieces = _between(going, found)
    # Names of parts by their first chunk, and names of parts that are added but not yet written
    names = {first: name_of((first, last)) for first, last in pieces}
    names |= {part.first: part.name for part in found}
    written, waiting = monotonic(), list[str]()

    def add_all() -> None:
        """Add the parts that follow the chunks so far, and write the store now and then."""
        nonlocal written
        while part := read_part(going, names.get(going.total.chunks, "")):
            going.join(part)
            waiting.append(part.name)
        done = going.total.chunks == plan.chunks
        if waiting and (done or monotonic() - written > SECONDS):
            going.write()
            going.parts.remove(waiting)
            waiting.clear()
            written = monotonic()

    def missing() -> list[int]:
        add_all()
        return [
            k
            for k, piece in enumerate(pieces)
            if piece[0] >= going.total.chunks and not read_part(going, name_of(piece))
        ]

    header = {
        "scene": plan.scene.to_table(),
        "module": going.kind.module,
        **adder.numbers(going.total),
        "pieces": pieces,
    }
    job = ClusterJob(
        going.kind.unit,
        header,
        going.parts,
        missing,
        ResumeData(0, 0.0),
        adder.short_sum(),
        plan.seconds,
        received=lambda _number: add_all(),
        opener=__name__,
    )
    run_job(cluster, job, options)
    add_all()
    going.stages.lap("iterate")


def _in_order(going: Going) -> list[Part]:
    """Return the parts of a store that are there and hold chunks which are still missing."""
    plan, at, found = going.adder.plan, going.total.chunks, list[Part]()
    for part in sorted(parts_there(going), key=lambda each: each.first):
        if part.first >= at and part.last <= plan.chunks:
            found.append(part)
            at = part.last
    return found


def _between(going: Going, found: Sequence[Part]) -> list[Piece]:
    """Return what workers play: the chunks between the parts that are there."""
    plan, at = going.adder.plan, going.total.chunks
    count = max(LEAST_PIECES, min(MOST_PIECES, math.ceil(plan.seconds / AIM)))
    each = max(1, math.ceil((plan.chunks - at) / count))
    pieces: list[Piece] = []
    for first, last in [*((part.first, part.last) for part in found), (plan.chunks, plan.chunks)]:
        pieces += [(begin, min(first, begin + each)) for begin in range(at, first, each)]
        at = last
    return pieces


def name_of(piece: Piece) -> str:
    """Return the name of the part of a piece.

    >>> name_of((12, 20))
    '0000000012-0000000020.sums'
    """
    return f"{piece[0]:010d}-{piece[1]:010d}.sums"


def render_by(
    cluster: Any,
    path: str | Path | BinaryIO,
    target: PictureFile,
    scene: Scene,
    options: RenderOptions,
    family: Any,
) -> Rendered:
    """Have the sums of a picture added up by a cluster, in a store beside it, and show them."""
    named = check_poster(path, target, False)
    plan = family.plan(scene, options, "bands")
    store = named.with_name(named.name + STORE)
    for overwrite in (False, True):
        given = StoreOptions(cluster=cluster, overwrite=overwrite)
        computed = family.compute_to(store, scene, options, given)
        total = family.load(store)
        if total.answers(plan):  # else it was begun with a higher quality
            break
    image: Image = family.recolor(total, scene, options)
    add(image.timings, computed.timings)
    if hasattr(image.summary, "sums"):
        image.summary = replace(total, sums=total.sums[:0].copy())
    del total  # its file is mapped
    drawn = written_to(target, image, options)
    with claimed(store):
        clear(store)
    store.rmdir()
    return drawn


# The worker's side.


def open_session(
    job: Mapping[str, Any], scene: Scene, options: RenderOptions, known: ResumeData
) -> "SumSession":
    """Return the session of a store; its programs are compiled, and the cells of orbits found."""
    header = job["header"]
    kind = importlib.import_module(header["module"]).KIND
    numbers = {key: int(header[key]) for key in kind.keys}
    pieces = [(int(first), int(last)) for first, last in header["pieces"]]
    return SumSession(kind.reopen(kind.open(scene, options), numbers), pieces)


class SumSession:
    """An image on this worker, kept between tasks.

    The machine that asks compares `known_sum` with its own; `device` is the kind of the device.
    """

    def __init__(self, adder: Adder, pieces: Sequence[Piece]) -> None:
        self._adder, self._pieces = adder, pieces
        self.known_sum, self.device = adder.short_sum(), adder.plan.device

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield the sums of pieces."""
        for k in numbers:
            first, last = self._pieces[k]
            total = replace(self._adder.none(), chunks=first)
            total = self._adder.add(total, last, None)
            yield Made(k, name_of((first, last)), *content_of(self._adder, total, first))

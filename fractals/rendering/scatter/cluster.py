"""A scatter image by a cluster: each worker plays chunks of the game, and their sums are added.

Sums of whole numbers do not depend on their order, so a store, and the picture of it, are those of
one machine. Pieces that came are parts of the store, as of `fractals.rendering.scatter.store`: they
are added in the order of their chunks, and the next process goes on with those that wait.
"""

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from fractals.backends.devices import choose
from fractals.errors import OptionError
from fractals.kernels.attractor import Attractor
from fractals.kernels.buddhabrot import Buddhabrot
from fractals.kernels.flame import Flame
from fractals.rendering.cluster.dispatch import AIM
from fractals.rendering.cluster.job import ClusterJob, run_job
from fractals.rendering.cluster.worker import Made
from fractals.rendering.iteration import ResumeData
from fractals.rendering.options import RenderOptions
from fractals.rendering.scatter.bands import Kept, PlayBand
from fractals.rendering.scatter.plan import Hits
from fractals.rendering.scatter.play import Player, open_player, room_of
from fractals.rendering.scatter.store import (
    SECONDS,
    Going,
    Part,
    parts_of,
    parts_there,
    read_part,
)
from fractals.scene.model import Scene
from fractals.threads import Progress

LEAST_PIECES, MOST_PIECES = 8, 512  # of a job
SHORT, TRIED = 100, 16  # steps and trajectories that each machine plays before it joins

Piece = tuple[int, int]  # the first chunk, and the one after the last


def play_by(cluster: Any, going: Going, options: RenderOptions) -> None:
    """Have a cluster play the chunks of a store that are missing.

    `cluster`: as of `fractals.rendering.cluster.job.run_job`.
    """
    plan, begun = going.player.plan, perf_counter()
    check_formula(plan.formula)
    found = _in_order(going)
    pieces = _between(going, found)
    # Names of parts by their first chunk; of those that are added, but not written
    names = {first: name_of((first, last)) for first, last in pieces}
    names |= {part.first: part.name for part in found}
    written, waiting = monotonic(), list[str]()

    def add_all() -> None:
        """Add the parts that follow the chunks so far, and write the store now and then."""
        nonlocal written
        while part := read_part(going.parts, names.get(going.hits.chunks, ""), plan):
            going.add(part)
            waiting.append(part.name)
        done = going.hits.chunks == plan.chunks
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
            if piece[0] >= going.hits.chunks and not read_part(going.parts, name_of(piece), plan)
        ]

    header = {"scene": plan.scene.to_table(), "margin": plan.margin, "pieces": pieces}
    if plan.rows is not None:
        header |= {"band": plan.band, "rows": [plan.rows.start, plan.rows.stop]}
    job = ClusterJob(
        "chunks",
        header,
        going.parts,
        missing,
        ResumeData(0, 0.0),
        known_sum(going.player),
        plan.seconds,
        received=lambda _number: add_all(),
        opener=__name__,
    )
    run_job(cluster, job, options)
    add_all()
    going.timings["iterate"] += perf_counter() - begun


@dataclass
class GoingBand(Going):
    """A band of a picture that is being computed: its sums are kept beside the picture."""

    kept: Kept | None = None

    @property
    def name(self) -> str:
        """Return the name under which sums are kept."""
        rows = self.player.plan.drawn
        return f"sums-{rows.start}-{rows.stop}"

    def load(self) -> None:
        """Go on with the sums that are kept, if there are some."""
        assert self.kept
        found, none = self.kept.load(self.name), self.hits
        if not found or set(found) != {"sums", "chunks", "hits"}:
            return
        if found["sums"].shape == none.sums.shape and found["sums"].dtype == none.sums.dtype:
            chunks, hits = int(found["chunks"]), int(found["hits"])
            self.hits = self.player.plan.hits(found["sums"], chunks, hits)

    def write(self) -> None:
        """Keep what is added up so far."""
        assert self.kept
        facts = {"chunks": np.int64(self.hits.chunks), "hits": np.int64(self.hits.hits)}
        self.kept.save(self.name, sums=self.hits.sums, **facts)


def bands_by(cluster: Any, options: RenderOptions) -> PlayBand:
    """Return what has a cluster play a band of a picture; see `play_by`."""

    def play(player: Player, kept: Kept, progress: Progress | None) -> Hits:
        plan = player.plan
        parts = parts_of(kept.folder, plan)
        going = GoingBand(kept.folder, player, plan.no_hits(), parts, kept=kept)
        going.load()
        play_by(cluster, going, options.replace(progress=progress))
        parts.clear()
        kept.remove(going.name)
        return going.hits

    return play


def _in_order(going: Going) -> list[Part]:
    """Return the parts of a store that are there and hold chunks which are still missing."""
    plan, at, found = going.player.plan, going.hits.chunks, list[Part]()
    for part in sorted(parts_there(going.parts, plan), key=lambda each: each.first):
        if part.first >= at and part.last <= plan.chunks:
            found.append(part)
            at = part.last
    return found


def _between(going: Going, found: Sequence[Part]) -> list[Piece]:
    """Return what workers play: the chunks between the parts that are there."""
    plan, at = going.player.plan, going.hits.chunks
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


def known_sum(player: Player) -> int:
    """Return the CRC-32 of the sums of some short trajectories, which machines compare."""
    plan = player.plan
    scene = plan.scene.replace(steps=min(SHORT, plan.scene.scatter.steps))
    short = Player(replace(plan, scene=scene), player.backend, player.data())
    sums, hits = short.sums(range(TRIED), None)
    return zlib.crc32(np.ascontiguousarray(sums).data, hits)


def check_formula(formula: Flame | Attractor | Buddhabrot) -> None:
    """Raise an `OptionError` for a formula that workers do not have."""
    used: list[Any]
    if isinstance(formula, Flame):
        used = [variation.apply for variation in formula.variations]
    elif isinstance(formula, Attractor):
        used = [formula.step or formula.velocity]
    else:
        used = [formula.formula.step]
    if not all(each.__module__.startswith("fractals.") for each in used):
        raise OptionError("a formula from a Python file can't be sent to the workers of a cluster")


# The worker's side.


def open_session(
    job: Mapping[str, Any], scene: Scene, options: RenderOptions, known: ResumeData
) -> "GameSession":
    """Return the session of a store; its programs are compiled, and the cells of orbits found."""
    header = job["header"]
    player = open_player(scene, options, "bands" if "rows" in header else "raw")
    plan = replace(player.plan, reserve=int(header["margin"]))
    if "rows" in header:
        plan = replace(plan, band=int(header["band"]), rows=range(*map(int, header["rows"])))
        plan.check_memory(room_of(choose(options.device).device))
    pieces = [(int(first), int(last)) for first, last in header["pieces"]]
    return GameSession(Player(plan, player.backend), pieces)


class GameSession:
    """A scatter image on this worker, kept between tasks.

    The machine that asks compares `known_sum` with its own; `device` is the kind of the device.
    """

    def __init__(self, player: Player, pieces: Sequence[Piece]) -> None:
        self._player, self._pieces = player, pieces
        self.known_sum, self.device = known_sum(player), player.plan.device

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield the sums of pieces."""
        none = self._player.plan.no_hits()
        for k in numbers:
            first, last = self._pieces[k]
            hits = self._player.play(replace(none, chunks=first), last, None)
            facts = {"first": first, "last": last, "hits": hits.hits}
            yield Made(k, name_of((first, last)), {"sums": hits.sums}, facts)

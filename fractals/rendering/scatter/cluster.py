"""Bands of scatter images by a cluster: the sums of a band are added up as those of a store."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fractals.backends.devices import choose
from fractals.rendering.kept import Kept
from fractals.rendering.options import RenderOptions
from fractals.rendering.scatter.bands import PlayBand
from fractals.rendering.scatter.plan import Hits
from fractals.rendering.scatter.play import Player, open_player, room_of
from fractals.rendering.scatter.store import KIND as OF_STORES
from fractals.rendering.scatter.store import HitAdder
from fractals.rendering.sums.cluster import played_by
from fractals.rendering.sums.store import Going, Numbers, parts_of
from fractals.scene.model import Scene
from fractals.threads import Progress


class BandAdder(HitAdder):
    """Adds up the hits of a band."""

    def __init__(self, player: Player, room: int) -> None:
        """`room`: bytes of the device's memory."""
        super().__init__(player)
        self.room = room

    def numbers(self, total: Hits) -> dict[str, int]:
        """Return the numbers that workers need."""
        plan = self.plan
        assert plan.rows is not None
        own = {"band": plan.band, "top": plan.rows.start, "bottom": plan.rows.stop}
        return super().numbers(total) | own


def _open(scene: Scene, options: RenderOptions) -> BandAdder:
    room = room_of(choose(options.device).device)
    return BandAdder(open_player(scene, options, "bands"), room)


def _reopen(adder: BandAdder, numbers: Numbers) -> BandAdder:
    rows = range(numbers["top"], numbers["bottom"])
    plan = replace(adder.plan, reserve=numbers["margin"], band=numbers["band"], rows=rows)
    plan.check_memory(adder.room)
    return BandAdder(Player(plan, adder.player.backend), adder.room)


KIND = OF_STORES._replace(
    module=__name__,
    keys=("margin", "hits", "band", "top", "bottom"),
    open=_open,
    reopen=_reopen,
)


@dataclass
class GoingBand(Going):
    """A band of a picture that is being computed: its sums are kept beside the picture."""

    kept: Kept | None = None

    @property
    def name(self) -> str:
        """Return the name under which sums are kept."""
        rows = self.adder.plan.drawn
        return f"sums-{rows.start}-{rows.stop}"

    def load(self) -> None:
        """Go on with the sums that are kept, if there are some."""
        assert self.kept
        found, none = self.kept.load(self.name), self.total
        if not found or set(found) != {"sums", "chunks", "hits"}:
            return
        if found["sums"].shape == none.sums.shape and found["sums"].dtype == none.sums.dtype:
            chunks, hits = int(found["chunks"]), int(found["hits"])
            self.total = self.adder.plan.hits(found["sums"], chunks, hits)

    def write(self) -> None:
        """Keep what is added up so far."""
        assert self.kept
        facts = {"chunks": np.int64(self.total.chunks), "hits": np.int64(self.total.hits)}
        self.kept.save(self.name, sums=self.total.sums, **facts)


def bands_by(cluster: Any, options: RenderOptions) -> PlayBand:
    """Return what has a cluster play a band of a picture."""
    play_chunks = played_by(cluster)

    def play(player: Player, kept: Kept, progress: Progress | None) -> Hits:
        adder = BandAdder(player, 0)
        parts = parts_of(kept.folder, adder)
        going = GoingBand(kept.folder, KIND, adder, adder.none(), parts, kept=kept)
        going.load()
        play_chunks(going, options.replace(progress=progress))
        parts.clear()
        kept.remove(going.name)
        hits: Hits = going.total
        return hits

    return play

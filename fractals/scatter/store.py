"""Stores of scatter images: sums of the hits of chunks; see `fractals.rendering.stores.sums`."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import OptionError, counted
from fractals.io.stores.store import check_program
from fractals.rendering.options import RenderOptions
from fractals.rendering.stores.sums import (
    ANOTHER,
    Numbers,
    SumKind,
    SumStore,
    check_same,
    check_sums,
)
from fractals.scatter.attractor import Attractor
from fractals.scatter.buddhabrot import SUMS, Buddhabrot
from fractals.scatter.game import Flame
from fractals.scatter.plan import (
    CHUNK,
    Hits,
    ScatterPlan,
    points_of,
    steps_of,
)
from fractals.scatter.play import Player, open_player
from fractals.scene.geometry import place_of
from fractals.scene.model import Scene
from fractals.threads import Progress

SHORT, TRIED = 100, 16  # steps and trajectories that each machine plays before it joins


class HitAdder:
    """Adds up the hits of a player; see `fractals.rendering.stores.sums.Adder`."""

    def __init__(self, player: Player) -> None:
        self.player, self.plan = player, player.plan

    def none(self) -> Hits:
        """Return the hits of no chunk."""
        return self.plan.no_hits()

    def add(self, total: Hits, last: int, progress: Progress | None) -> Hits:
        """Return hits with those of the chunks that follow."""
        return self.player.play(total, last, progress)

    def join(self, total: Hits, last: int, sums: NDArray[np.int64], numbers: Numbers) -> Hits:
        """Return hits with those of chunks that were played elsewhere."""
        return self.plan.hits(total.sums + sums, last, total.hits + numbers["hits"])

    def rows_of(self, first: int, last: int) -> slice:
        """Return all rows: points fall anywhere."""
        return slice(None)

    def numbers(self, total: Hits) -> dict[str, int]:
        """Return the numbers of a header."""
        return {"margin": total.margin, "hits": total.hits}

    def numbers_of_part(self, total: Hits) -> dict[str, int]:
        """Return the numbers of a part."""
        return {"hits": total.hits}

    def only(self, total: Hits, first: int) -> Hits:
        """Return hits that were begun at a chunk."""
        return replace(total, samples=(total.chunks - first) * CHUNK * self.plan.steps)

    def facts(self) -> dict[str, Any]:
        """Return what the sums depend on."""
        rows = self.plan.rows
        band = {} if rows is None else {"rows": (rows.start, rows.stop)}
        own = {"sums": SUMS} if self.plan.orbits else {}
        return {**keys_of_hits(self.plan.scene), "margin": self.plan.margin, **band, **own}

    def short_sum(self) -> int:
        """Return the CRC-32 of the sums of some short trajectories."""
        plan = self.plan
        scene = plan.scene.replace(steps=min(SHORT, plan.scene.scatter.steps))
        short = Player(replace(plan, scene=scene), self.player.backend, self.player.data())
        sums, hits = short.sums(range(TRIED), None)
        return zlib.crc32(np.ascontiguousarray(sums).data, hits)

    def check_sent(self) -> None:
        """Raise an `OptionError` for a formula that workers do not have."""
        used: list[Any]
        formula: Flame | Attractor | Buddhabrot = self.plan.formula
        if isinstance(formula, Flame):
            used = [variation.apply for variation in formula.variations]
        elif isinstance(formula, Attractor):
            used = [formula.step or formula.velocity]
        else:
            used = [formula.formula.step]
        if not all(each.__module__.startswith("fractals.") for each in used):
            raise OptionError(
                "a formula from a Python file can't be sent to the workers of a cluster"
            )


def _shape(scene: Scene, numbers: Numbers) -> tuple[int, int, int]:
    width, height = scene.image.size
    step, margin = scene.image.supersampling, numbers["margin"]
    return height * step + 2 * margin, width * step + 2 * margin, 4


def _hits(scene: Scene, sums: NDArray[np.int64], numbers: Numbers) -> Hits:
    samples = numbers["chunks"] * CHUNK * steps_of(scene)
    return Hits(scene, sums, numbers["chunks"], samples, numbers["hits"], numbers["margin"])


def _open(scene: Scene, options: RenderOptions) -> HitAdder:
    return HitAdder(open_player(scene, options))


def resume(
    store: SumStore, adder: HitAdder, enough: Callable[[Player], Player] = lambda player: player
) -> tuple[HitAdder, Hits]:
    """Return what goes on with a store, and its hits.

    The store keeps the display that it was begun with, and the quality of more points. `enough`
    returns what plays as many as a picture needs.
    """
    hits: Hits = store.load()
    check_hits(hits, adder.plan, f"'{store.name}' is there, of another scene", ANOTHER)
    check_program(store.program, store.name)
    check_sums(store, _sums_version(adder.plan))
    scene, asked = store.scene, adder.plan
    player = adder.player  # knows how many orbits are enough, if both are the same scene
    if scene.unframed() != asked.scene:
        begun = replace(asked, scene=scene.unframed(), enough=0)
        player = enough(player.planned(begun))
    theirs = player.plan
    if (asked.chunks, points_of(asked.scene)) > (theirs.chunks, points_of(theirs.scene)):
        scene = scene.replace(quality=asked.scene.scatter.quality)
        player = adder.player.planned(replace(asked, scene=scene.unframed()))
    if player.plan.enough:  # with another display, fewer may be enough than there are
        player.plan = replace(player.plan, enough=max(player.plan.chunks, hits.chunks))
    return _reopen(HitAdder(player), store.numbers), replace(hits, scene=scene)


def _reopen(adder: HitAdder, numbers: Numbers) -> HitAdder:
    plan = replace(adder.plan, reserve=numbers["margin"])
    return HitAdder(adder.player.planned(plan))


def _sums_version(plan: ScatterPlan) -> int:
    return SUMS if plan.orbits else 1


KIND = SumKind(
    __name__,
    "scatter",
    4,
    "scatter images",
    "chunks",
    ("margin", "hits"),
    (),
    ("hits",),
    _shape,
    _hits,
    _open,
    resume,
    _reopen,
    _sums_version,
)


def check_hits(hits: Hits, plan: ScatterPlan, what: str, how: str) -> None:
    """Raise an `OptionError` where hits are not those of a plan."""
    check_same(keys_of_hits(hits.scene), keys_of_hits(plan.scene), what, how)
    if plan.needed_margin > hits.margin:
        raise OptionError(
            f"{what}: it keeps {counted(hits.margin, 'bucket')} beyond the edge, and "
            f"estimator_radius and filter need {plan.needed_margin}: {how}"
        )


def keys_of_hits(scene: Scene) -> dict[str, Any]:
    """Return what the hits of a scene depend on, by key."""
    scene = scene.unframed()
    own, view, color = scene.scatter, scene.view, scene.color
    width, center = place_of(scene)
    precision = scene.iteration.precision
    return {
        "formula": scene.to_table()["formula"],
        "julia": scene.julia,
        "view.center": center,
        "view.width": width,
        "view.rotation": view.rotation,
        "view.mirror": view.mirror,
        "view.stretch": (view.stretch, view.stretch and view.stretch_angle),
        "image.size": scene.image.size,
        "image.supersampling": scene.image.supersampling,
        "iteration.precision": precision,
        "iteration.max_iterations": scene.iteration.max_iterations,
        "iteration.escape_radius": scene.iteration.escape_radius,
        "color.palette": scene.to_table()["color"]["palette"],
        "image.gamut": scene.image.primaries,
        "color.density": color.density,
        "color.offset": color.offset,
        "scatter.seed": own.seed,
        "scatter.steps": own.steps,
        "scatter.fuse": own.fuse,
    }

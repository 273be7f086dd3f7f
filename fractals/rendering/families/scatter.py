"""Scatter images: points are thrown, and the hits become a picture."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from fractals.backends.base import Backend
from fractals.backends.devices import choose
from fractals.errors import OptionError
from fractals.io.files import read_store_header
from fractals.io.image import Image
from fractals.io.store import SUFFIX
from fractals.rendering.compute_store import Computed
from fractals.rendering.families import Plain
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.scatter.display import Show
from fractals.rendering.scatter.plan import Hits, ScatterPlan, make_scatter_plan
from fractals.rendering.scatter.play import Player, open_player
from fractals.rendering.scatter.refine import ScatterRefinement
from fractals.rendering.scatter.store import HitStore, check_same, compute_hits_to
from fractals.scene.model import Scene

LOOPS = {"cpu": "pools", "python": "python"}


class Scatterer(Plain):
    """The family of images whose points are thrown; see `fractals.rendering.families.Family`."""

    title = "Scatter: points are thrown, and hits are counted"
    suffixes = (SUFFIX,)

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ScatterPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        return make_scatter_plan(scene, device.kind, options.threads or device.cores or 1)

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Any, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values."""
        plan = self.plan(scene, options, keeps)
        more = {"file": plan.file_size} if keeps == "store" else {}
        return plan.to_table() | more

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        player, begun = open_player(scene, options), perf_counter()
        hits = player.play(player.plan.no_hits(), player.plan.chunks, options.on_progress)
        return shown(player, hits, {"iterate": perf_counter() - begun})

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> ScatterRefinement:
        """Return a picture that becomes ever finer: its sums are continued."""
        return ScatterRefinement(scene, options, backend_of, before)

    def redraw(self, scene: Scene, options: RenderOptions, seed: int) -> Image:
        """Draw a picture again, and compare the points of some trajectories with plain Python's."""
        player = open_player(scene, options)
        player.check(seed)
        return self.render(scene, options)

    def compute(self, scene: Scene, options: RenderOptions) -> Hits:
        """Count the hits of a picture."""
        player = open_player(scene, options)
        return player.play(player.plan.no_hits(), player.plan.chunks, options.on_progress)

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Computed:
        """Count the hits of a picture into a store, or go on with one."""
        return compute_hits_to(path, scene, options, store_options)

    def load(self, path: Path) -> Hits:
        """Return the hits of a store."""
        return HitStore(path, read_store_header(path)).load()

    def recolor(self, raw: Hits, scene: Scene, options: RenderOptions) -> Image:
        """Show hits with another display."""
        if not isinstance(raw, Hits):
            raise OptionError(
                "raw numbers of a scatter image are what compute returns of its scene"
            )
        if not raw.chunks:
            raise OptionError("no point is counted yet: compute the store first")
        player = open_player(scene, options)
        check_same(
            raw, player.plan, "recolor changes the display alone", "compute the new scene anew"
        )
        plan = replace(player.plan, reserve=raw.margin)
        return shown(Player(plan, player.backend), raw, {})


def shown(player: Player, hits: Hits, timings: dict[str, float]) -> Image:
    """Return the picture of hits."""
    plan, begun = player.plan, perf_counter()
    pixels = Show(plan, player.backend).pixels(hits)
    timings = timings | {"color": perf_counter() - begun}
    facts = plan.device, plan.precision, plan.method, LOOPS.get(plan.device, "kernel")
    return Image(pixels, plan.scene, timings, *facts, hits)  # type: ignore[arg-type]


def make() -> Scatterer:
    """Return the family."""
    return Scatterer()

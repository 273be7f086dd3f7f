"""Scatter images: points are thrown, and the hits become a picture."""

from time import perf_counter
from typing import Any

from fractals.backends.devices import choose
from fractals.io.image import Image
from fractals.rendering.families import Plain
from fractals.rendering.options import RenderOptions
from fractals.rendering.scatter.display import Show
from fractals.rendering.scatter.plan import Hits, ScatterPlan, make_scatter_plan
from fractals.rendering.scatter.play import Player, open_player
from fractals.scene.model import Scene

LOOPS = {"cpu": "pools", "python": "python"}


class Scatterer(Plain):
    """The family of images whose points are thrown; see `fractals.rendering.families.Family`."""

    title = "Scatter: points are thrown, and hits are counted"

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ScatterPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        return make_scatter_plan(scene, device.kind, options.threads or device.cores or 1)

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        begun = perf_counter()
        player = open_player(scene, options)
        hits = player.play(player.plan.no_hits(), player.plan.chunks, options.on_progress)
        return shown(player, hits, {"iterate": perf_counter() - begun})


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

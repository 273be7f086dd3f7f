"""Scatter images: points are thrown, and the hits become a picture."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from fractals.backends.base import Backend
from fractals.backends.devices import choose
from fractals.errors import OptionError
from fractals.io.files import read_store_header
from fractals.io.image import Image, PictureFile
from fractals.io.store import SUFFIX, claimed, clear
from fractals.rendering.compute_store import Computed
from fractals.rendering.families import Plain, Rendered, written_to
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.scatter.bands import draw_image, facts_of, write_bands
from fractals.rendering.scatter.display import Show
from fractals.rendering.scatter.plan import Hits, ScatterPlan, make_scatter_plan
from fractals.rendering.scatter.play import Player, open_player, room_of
from fractals.rendering.scatter.refine import ScatterRefinement
from fractals.rendering.scatter.store import HitStore, check_same, compute_hits_to, play_here
from fractals.scene.model import Scene


class Scatterer(Plain):
    """The family of images whose points are thrown; see `fractals.rendering.families.Family`."""

    title = "Scatter: points are thrown, and hits are counted"
    suffixes = (SUFFIX,)

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ScatterPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        plan = make_scatter_plan(scene, device.kind, options.threads or device.cores or 1, keeps)
        return plan.fitted(room_of(device))

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Any, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values."""
        plan = self.plan(scene, options, keeps)
        more = {"file": plan.file_size} if keeps == "store" else {}
        return plan.to_table() | more

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        return draw_image(open_player(scene, options, "pixels"), options)

    def expose(self, scenes: Sequence[Scene], options: RenderOptions, shared: Any = None) -> Image:
        """Draw a frame: each scene plays its share of the frame's points."""
        player = open_player(scenes[0], options, "pixels")
        found = [player.plan.moment(scene) for scene in scenes[1:]]
        moments = [moment for moment in found if moment]
        if len(moments) == len(found):
            player = Player(player.plan, player.backend, None, moments)
        return draw_image(player, options)

    def compared(self, scene: Scene, options: RenderOptions) -> tuple[int, str]:
        """Return the checksum of the sums of some short trajectories, and the device's kind."""
        from fractals.rendering.scatter.cluster import check_formula, known_sum

        player = open_player(scene, options, "pixels")
        check_formula(player.plan.formula)
        return known_sum(player), player.plan.device

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file, band by band where it does not fit into memory."""
        target = PictureFile(path, scene.image, overwrite)
        if cluster is not None:
            return self._render_by(cluster, path, target, scene, options)
        if not target.streams:
            return written_to(target, self.render(scene, options))
        player = open_player(scene, options, "bands")
        with target.open() as file:
            beside = Path(path) if isinstance(path, str | Path) else None
            return Rendered(**write_bands(file, player, options, beside))

    def _render_by(
        self,
        cluster: Any,
        path: str | Path | BinaryIO,
        target: PictureFile,
        scene: Scene,
        options: RenderOptions,
    ) -> Rendered:
        """Have the hits of a picture counted by a cluster, in a store beside it, and show them."""
        from fractals.rendering.cluster.job import check_poster

        named = check_poster(path, target, False)
        plan = self.plan(scene, options, "bands")
        if plan.bands > 1:
            from fractals.rendering.scatter.cluster import bands_by

            player = open_player(scene, options, "bands")
            with target.open() as file:
                play = bands_by(cluster, options)
                return Rendered(**write_bands(file, player, options, named, play))
        store = named.with_name(named.name + SUFFIX)
        for overwrite in (False, True):
            given = StoreOptions(cluster=cluster, overwrite=overwrite)
            computed = self.compute_to(store, scene, options, given)
            hits = self.load(store)
            if hits.chunks == plan.chunks:  # else it was begun with a higher quality
                break
        image = self.recolor(hits, scene, options)
        image.timings = computed.timings | image.timings
        image.summary = replace(hits, sums=hits.sums[:0].copy())  # type: ignore[assignment]
        del hits  # its file is mapped
        drawn = written_to(target, image)
        with claimed(store):
            clear(store)
        store.rmdir()
        return drawn

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
        player = open_player(scene, options, "pixels")
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
        play = play_here
        if store_options.cluster is not None:
            from fractals.rendering.scatter.cluster import play_by

            play = partial(play_by, store_options.cluster)
        return compute_hits_to(path, scene, options, store_options, play)

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
        return shown(Player(plan, player.backend), raw)


def shown(player: Player, hits: Hits) -> Image:
    """Return the picture of hits."""
    plan, begun = player.plan, perf_counter()
    pixels = Show(plan, player.backend).pixels(hits)
    return Image(pixels, **facts_of(plan, hits, {"color": perf_counter() - begun}))


def make() -> Scatterer:
    """Return the family."""
    return Scatterer()

"""Scatter images: points are thrown, and the hits become a picture."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from fractals.backends.base import Backend, Stages
from fractals.errors import OptionError
from fractals.io.escape_data import STORE
from fractals.io.facts import Partial
from fractals.io.files import read_store_header
from fractals.io.image import Image, PictureFile
from fractals.rendering.families import Family, Rendered, chosen_device, written_to
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.stores.compute_store import Computed
from fractals.rendering.stores.sums import Play, SumStore, compute_sums_to, play_here
from fractals.scatter.buddhabrot import SUMS
from fractals.scatter.enough import KIND as OF_ENOUGH
from fractals.scatter.enough import with_enough
from fractals.scatter.plan import Hits, ScatterPlan, make_scatter_plan, points_of
from fractals.scatter.play import open_player, room_of
from fractals.scatter.refine import ScatterRefinement
from fractals.scatter.rounds import play_in_rounds, watched
from fractals.scatter.show import (
    Show,
    draw_image,
    facts_of,
    write_bands,
)
from fractals.scatter.store import KIND, HitAdder, check_hits
from fractals.scene.model import Scene


class Scatterer(Family):
    """The family of images whose points are thrown; see `fractals.rendering.families.Family`."""

    title = "Scatter: points are thrown, and hits are counted"
    tables = ("scatter", "display")
    suffixes = (STORE,)
    keeps = True

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ScatterPlan:
        """Return how a scene is drawn."""
        device, threads = chosen_device(options)
        return make_scatter_plan(scene, device.kind, threads, keeps).fitted(room_of(device))

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Any, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values."""
        plan = self.plan(scene, options, keeps)
        more = {"file": plan.file_size} if keeps == "store" else {}
        return plan.to_table() | more

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        stages = Stages()
        player = with_enough(open_player(scene, options, "pixels"))
        return draw_image(player, options, stages, watched(options.watch))

    def expose(self, scenes: Sequence[Scene], options: RenderOptions, shared: Any = None) -> Image:
        """Draw a frame: each scene plays its share of the frame's points."""
        stages, player = Stages(), with_enough(open_player(scenes[0], options, "pixels"))
        found = [player.plan.moment(scene) for scene in scenes[1:]]
        moments = [moment for moment in found if moment]
        if len(moments) == len(found):
            player.moments = moments
        return draw_image(player, options, stages)

    def compared(self, scene: Scene, options: RenderOptions) -> tuple[int, str]:
        """Return the checksum of the sums of some short trajectories, and the device's kind."""
        adder = HitAdder(open_player(scene, options, "pixels"))
        adder.check_sent()
        return adder.short_sum(), adder.plan.device

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file, band by band where it does not fit into memory."""
        if options.watch and options.watch.keeps:
            assert isinstance(path, str | Path)
            return self._keep(Path(path), scene, options, overwrite)
        stages, target = Stages(), PictureFile(path, scene.image, overwrite)
        if cluster is not None:
            from fractals.rendering.cluster.sums import render_by

            if self.plan(scene, options, "bands").bands > 1:
                from fractals.rendering.cluster.job import check_poster
                from fractals.scatter.show import bands_by

                named, play = check_poster(path, target, False), bands_by(cluster, options)
                player = with_enough(open_player(scene, options, "bands"))
                with target.open() as file:
                    return Rendered(**write_bands(file, player, options, stages, named, play))
            return render_by(cluster, path, target, scene, options, self)
        if not target.streams:
            return written_to(target, self.render(scene, options), options)
        player = with_enough(open_player(scene, options, "bands"))
        with target.open() as file:
            beside = Path(path) if isinstance(path, str | Path) else None
            looked_at = watched(options.watch)
            return Rendered(**write_bands(file, player, options, stages, beside, looked_at))

    def _keep(self, path: Path, scene: Scene, options: RenderOptions, overwrite: bool) -> Rendered:
        """Draw a picture whose hits are kept where Ctrl-C ends it."""
        from fractals.rendering.stores.keeping import Arrays, draw_kept

        stages, watch = Stages(), options.watch
        assert watch
        player = with_enough(open_player(scene, options, "raw"))  # in one piece
        plan = player.plan

        def draw(before: Arrays | None) -> tuple[Image, Arrays]:
            hits = plan.no_hits()
            if before:
                hits = plan.hits(before["sums"], int(before["chunks"]), int(before["hits"]))
            hits = play_in_rounds(player, hits, watch, options.on_progress)
            stages.lap("iterate")
            pixels = Show(plan, player.backend).pixels(hits)
            stages.lap("color")
            facts, rest = facts_of(plan, hits, stages), {}
            if hits.chunks < plan.chunks:
                rest = {"sums": hits.sums, "chunks": hits.chunks, "hits": hits.hits}
                unit = "orbit" if plan.orbits else "point"
                whole = points_of(plan.scene) * plan.chunks / replace(plan, enough=0).chunks
                done = whole * hits.chunks / plan.chunks
                facts["summary"] = Partial(done, whole, f"{unit} a pixel")
            return Image(pixels, **facts), rest

        return draw_kept(path, scene, plan.precision, SUMS, options, overwrite, draw)

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
        player = with_enough(open_player(scene, options))
        return player.play(player.plan.no_hits(), player.plan.chunks, options.on_progress)

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Computed:
        """Count the hits of a picture into a store, or go on with one."""
        play: Play = play_here
        if store_options.cluster is not None:
            from fractals.rendering.cluster.sums import played_by

            play = played_by(store_options.cluster)
        return compute_sums_to(path, scene, options, store_options, OF_ENOUGH, play)

    def load(self, path: Path) -> Hits:
        """Return the hits of a store."""
        hits: Hits = SumStore(path, read_store_header(path), KIND).load()
        return hits

    def recolor(self, raw: Hits, scene: Scene, options: RenderOptions) -> Image:
        """Show hits with another display."""
        if not isinstance(raw, Hits):
            raise OptionError(
                "raw numbers of a scatter image are what compute returns of its scene"
            )
        if not raw.chunks:
            raise OptionError("no point is counted yet: compute the store first")
        stages, player = Stages(), open_player(scene, options)
        check_hits(
            raw, player.plan, "recolor changes the display alone", "compute the new scene anew"
        )
        plan = replace(player.plan, reserve=raw.margin)
        pixels = Show(plan, player.backend).pixels(raw)
        stages.lap("color")
        return Image(pixels, **facts_of(plan, raw, stages))


make = Scatterer  # as the catalog finds it

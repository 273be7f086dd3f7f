"""A scatter image that becomes ever finer: its sums are continued, and shown now and then.

The first picture is small, so that it is there at once, and is drawn of sums of its own. After it,
each picture shows the sums so far, of at least twice the points of the one before. The last one
has the points of the scene's quality, and so the pixels of `fractals.render`. Where another display
of the same sums is asked for, no point is thrown again.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

from fractals.backends.base import Backend
from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.rendering.families import Refined
from fractals.rendering.options import RenderOptions
from fractals.rendering.scatter.display import Show
from fractals.rendering.scatter.plan import CHUNK, SAMPLES, Hits, ScatterPlan, make_scatter_plan
from fractals.rendering.scatter.play import Counter, Player
from fractals.rendering.scatter.store import facts_of
from fractals.scene.model import Scene

STEP_SECONDS = 0.1  # of a block of chunks
FIRST_STEP = 4  # pixels that one of the first picture covers, along each side
FIRST_QUALITY = 8  # points for each of its pixels
FIRST_SIDE = 128  # pixels: a smaller image is drawn at its own size at once
MOST_POINTS = 2**31  # of a chunk: some seconds, in which nobody else is drawn for
SHARE = 0.5  # of the free memory that an image may take


class ScatterRefinement:
    """A scatter image that becomes ever finer; see `fractals.rendering.families.Refinement`."""

    def __init__(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any,
    ) -> None:
        self._scene, self._options, self._backend_of = scene, options, backend_of
        self._before = before if isinstance(before, ScatterRefinement) else None
        self._hits: Hits | None = None  # of the newest picture, or those that serve it
        # What goes on from these hits: a counter, and the hits that it began with
        self._going: tuple[Counter, Hits] | None = None
        self._player: Player | None = None
        self._rate = 0.0  # points a second

    @property
    def kept(self) -> int:
        """Return the bytes of the sums."""
        return self._hits.sums.nbytes if self._hits else 0

    def free(self) -> None:
        """Free the sums."""
        self._going = self._hits = self._before = None

    def prepare(self) -> None:
        """Compile what plays and shows, and take the sums of the image before where they serve."""
        plan = make_scatter_plan(self._scene, "cpu", 1)
        backend = self._backend_of(plan.precision)
        plan = replace(plan, device=backend.kind, threads=backend.threads or 1)
        _check(plan)
        player = Player(plan, backend)
        before = self._before
        self._take_from(before, player)
        if not (before and before._player and _programs(before._player) == _programs(player)):
            first = self._first(player)
            hits = first.play(first.plan.no_hits(), 1, self._options.on_progress)
            Show(first.plan, backend, self._options.on_progress).pixels(hits)
        self._player, self._before = player, None

    def _take_from(self, before: "ScatterRefinement | None", player: Player) -> None:
        """Take the sums, or at least the samples' cells, of another view of the same points."""
        old, hits = (before._player, before._hits) if before else (None, None)
        if before is None or old is None or old.backend is not player.backend:
            return
        self._rate = before._rate
        mine, theirs = facts_of(player.plan.scene), facts_of(old.plan.scene)
        other = {key for key in mine if mine[key] != theirs[key]}
        if not other - COLORS:
            player.take(old)
        if not player.plan.colored:
            other -= COLORS
        fits = hits and hits.margin == player.plan.margin and hits.chunks <= player.plan.chunks
        if hits and fits and not other:
            self._hits = replace(hits, scene=player.plan.scene)
            self._going = before._going

    def _first(self, player: Player) -> Player:
        """Return what plays the first picture."""
        plan = player.plan
        step = 1 if max(plan.scene.image.size) <= FIRST_SIDE else FIRST_STEP
        width, height = (-(-side // step) for side in plan.scene.image.size)
        display = plan.scene.display
        scene = plan.scene.replace(
            size=(width, height),
            supersampling=1,
            quality=min(plan.scene.scatter.quality, FIRST_QUALITY),
            estimator_radius=display.estimator_radius / step,
            estimator_minimum=display.estimator_minimum / step,
        )
        wider = plan.width * width * step / plan.scene.image.size[0]
        first = Player(replace(plan, scene=scene, width=wider, reserve=0), player.backend)
        first.take(player)
        return first

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each block of chunks."""
        player, hits = self._player, self._hits
        assert player
        plan, watch = player.plan, self._options.on_progress
        if hits is None:
            first = self._first(player)
            found = first.play(first.plan.no_hits(), first.plan.chunks, watch)
            step = -(-plan.scene.image.size[0] // first.plan.scene.image.size[0])
            pixels = Show(first.plan, player.backend, watch).pixels(found)
            yield Refined(pixels, step, "a first look", False)
            hits = plan.no_hits()
        else:
            yield self._shown(player, hits)
        counter, base = self._going or (player.counter(), hits)
        self._going = None
        played, shown, done, told = 0.0, 0.0, hits.chunks, hits.chunks
        while done < plan.chunks:
            begun = perf_counter()
            last = min(plan.chunks, done + self._block(plan))
            counter.add(range(done * CHUNK, last * CHUNK), watch)
            seconds = max(perf_counter() - begun, 1e-4)
            self._rate = (last - done) * CHUNK * plan.steps / seconds
            played, done = played + seconds, last
            if done < plan.chunks and (played < shown or done < 2 * told):
                yield None
                continue
            begun, told = perf_counter(), done
            sums, seen = counter.found()
            if base.chunks:
                sums += base.sums
            self._hits = plan.hits(sums, done, base.hits + seen)
            if done < plan.chunks:
                self._going = counter, base  # for another display
            picture = self._shown(player, self._hits)
            played, shown = 0.0, perf_counter() - begun
            yield picture
            self._going = None

    def _block(self, plan: ScatterPlan) -> int:
        """Return how many chunks are played in a step."""
        rate = self._rate or SAMPLES[plan.device] / (100 if plan.orbits else 10)
        return max(1, round(STEP_SECONDS * rate / (CHUNK * plan.steps)))

    def _shown(self, player: Player, hits: Hits) -> Refined:
        plan = player.plan
        pixels = Show(plan, player.backend, self._options.on_progress).pixels(hits)
        return Refined(pixels, 1, self._said(plan, hits.samples), hits.chunks == plan.chunks)

    @staticmethod
    def _said(plan: ScatterPlan, samples: int) -> str:
        """Return how far the sums are."""
        whole = plan.scene.scatter.quality
        reached = min(whole, samples / math.prod(plan.scene.image.size))
        return f"quality {reached:.2g} of {whole:g}" if reached < whole else f"quality {whole:g}"


COLORS = {"color.palette", "color.density", "color.offset"}  # which change what a hit adds


def _programs(player: Player) -> Any:
    """Return what decides which programs play and show."""
    plan, display = player.plan, player.plan.scene.display
    spreads = max(display.estimator_radius, display.estimator_minimum) > 0
    return player.backend, plan.kernel, spreads


def _check(plan: ScatterPlan) -> None:
    """Raise an `OptionError` where an image takes too much memory, or a chunk too long."""
    free = memory_size()
    if free and plan.memory > SHARE * free:
        raise OptionError(
            f"this image takes {plan.memory / 2**30:.1f} GiB: choose a smaller window, or less "
            "supersampling"
        )
    if CHUNK * (plan.limit if plan.orbits else plan.steps + plan.fuse) > MOST_POINTS:
        raise OptionError("a trajectory takes too long: give fewer steps, or lower max_iterations")

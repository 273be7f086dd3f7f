"""A scatter image that becomes ever finer: its sums are continued, and shown now and then.

The first picture is small, so that it is there at once, and is drawn of sums of its own. After it,
each picture shows the sums so far, of at least twice the points of the one before. The last one
has the points of the scene's quality, and so the pixels of `fractals.render`.

Where the points are those of the image before, its sums serve: another display is shown without
throwing a point again. Another palette is shown nearly right at once (`Spectrum`), until its own
sums have as many points.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.rendering.families import Refined
from fractals.rendering.options import RenderOptions
from fractals.scatter.buddhabrot import Buddhabrot
from fractals.scatter.enough import with_enough
from fractals.scatter.plan import (
    CHUNK,
    SAMPLES,
    Hits,
    ScatterPlan,
    make_scatter_plan,
    points_of,
)
from fractals.scatter.play import Counter, Player, Spectrum
from fractals.scatter.rounds import bins_of, in_few_pixels, small_plan
from fractals.scatter.show import Show
from fractals.scatter.store import keys_of_hits
from fractals.scene.model import Scene

STEP_SECONDS = 0.1  # of a block of chunks
FIRST_STEP = 4  # pixels that one of a small picture covers, along each side
FIRST_QUALITY = 8  # points for each of its pixels
FIRST_ORBITS = 1  # or orbits, each of many points
FIRST_SIDE = 128  # pixels: a smaller image is drawn at its own size at once
FIRST_CELLS = 256  # of a Buddhabrot: the pilot of all takes longer than the picture
MOST_POINTS = 2**31  # of a chunk: some seconds, in which nobody else is drawn for
WORTH = 1.0  # seconds for which a picture of less than a point a pixel is not worth showing
SHARE = 0.5  # of the free memory that an image may take
COLORS = {"color.palette", "color.density", "color.offset"}  # which change what a hit adds
FOLLOWS = ", exact colors follow"


@dataclass
class Counted:
    """Sums that were shown, and what shows them in other ways."""

    player: Player
    hits: Hits
    upper: NDArray[np.float32] | None  # of the spectrum of the player; None: not counted
    # What goes on from the hits: a counter, and the sums that it began with, if any
    going: "tuple[Counter, Counted | None] | None" = None
    small: tuple[NDArray[np.int64], NDArray[np.float32] | None] | None = None  # sums of small()


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
        self._player: Player | None = None
        self._own: Counted | None = None  # sums of this image
        self._other: Counted | None = None  # of the same points in another palette
        self._few: Player | None = None  # of the first picture, once it is known
        self._rate = 0.0  # points a second
        self.share = 0.0  # of the points, that are counted

    @property
    def kept(self) -> int:
        """Return the bytes of the sums."""
        found = [each for each in (self._own, self._other) if each]
        sums = [part for each in found for part in (each.hits.sums, each.upper)]
        return sum(part.nbytes for part in sums if part is not None)

    def free(self) -> None:
        """Free the sums."""
        self._own = self._other = self._before = None

    def prepare(self) -> None:
        """Compile what plays and shows, and take the sums of the image before where they serve."""
        plan = make_scatter_plan(self._scene, "cpu", 1)
        backend = self._backend_of(plan.precision)
        plan = replace(plan, device=backend.kind, threads=backend.threads or 1)
        _check(plan)
        if self._before and self._before._player and self._before._player.backend is backend:
            self._rate = self._before._rate
        before = self._before if _same_points(self._before, plan, backend) else None
        old = before._player if before else None
        player = Player(plan, backend, old.data() if old and old.known else None)
        if plan.device == "cpu" and not plan.orbits:
            player.spectrum = Spectrum(plan)
        if before:
            self._take_from(before, player)
        before = self._before
        if not (before and before._player and _programs(before._player) == _programs(player)):
            first = self._few = _first_player(player)
            first.data(self._options.on_progress)
            hits = first.play(first.plan.no_hits(), 1, self._options.on_progress)
            Show(first.plan, backend, self._options.on_progress).pixels(hits)
        self._player, self._before = player, None

    def _take_from(self, before: "ScatterRefinement", player: Player) -> None:
        """Take the sums of another view of the same points."""
        mine = keys_of_hits(player.plan.scene)
        for counted in (before._own, before._other):
            if counted is None or counted.hits.margin != player.plan.margin:
                continue
            same = keys_of_hits(counted.hits.scene) == mine or not player.plan.colored
            if same and counted.hits.chunks <= player.plan.chunks and not self._own:
                hits = replace(counted.hits, scene=player.plan.scene)
                player.spectrum = counted.player.spectrum  # what goes on counts by it
                self._own = replace(counted, player=player, hits=hits)
            elif counted.upper is not None and not _more(self._other, counted):
                self._other = replace(counted, going=None)
        if _more(self._own, self._other):
            self._other = None

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each block of chunks."""
        player, watch = self._player, self._options.on_progress
        assert player
        if shown := self._other or self._own:
            if (step := _step(player.plan)) > 1:
                yield self._of_small(player, shown, step)
        else:
            yield self._first(player)
        player.data(watch)
        player.plan = plan = with_enough(player, watch).plan
        own = self._own
        if own and own.hits.chunks > plan.chunks:  # of a display that asks for more
            self._other = replace(own, going=None)
            own = self._own = None
        other = self._other
        if shown:
            yield self._of_all(player, shown)
        hits = own.hits if own else plan.no_hits()
        counter, base = own.going if own and own.going else (player.counter(), own)
        if own:
            own.going = None
        played, taken, done, told = 0.0, 0.0, hits.chunks, hits.chunks
        some = plan.chunks / points_of(plan.scene)  # a point a pixel
        least = other.hits.chunks if other else 0  # with fewer chunks the other's are better
        while done < plan.chunks:
            begun = perf_counter()
            last = min(plan.chunks, done + self._block(plan))
            counter.add(range(done * CHUNK, last * CHUNK), watch)
            seconds = max(perf_counter() - begun, 1e-4)
            self._rate = (last - done) * CHUNK * plan.steps / seconds
            played, done = played + seconds, last
            self.share = done / plan.chunks
            early = played < taken or done < 2 * told or done < least
            early |= done < some and played < WORTH
            if done < plan.chunks and early:
                yield None
                continue
            begun, told = perf_counter(), done
            sums, seen = counter.found()
            upper = counter.upper
            if base:
                sums, seen = sums + base.hits.sums, seen + base.hits.hits
                whole = upper is not None and base.upper is not None
                upper = upper + base.upper if whole else None  # type: ignore[operator]
            hits = plan.hits(sums, done, seen)
            going = (counter, base) if done < plan.chunks else None
            own = self._own = Counted(player, hits, upper, going)
            if not _more(self._other, own):
                self._other = None
            picture = self._of_all(player, own)
            played, taken = 0.0, perf_counter() - begun
            yield picture
            own.going = None

    def _block(self, plan: ScatterPlan) -> int:
        """Return how many chunks are played in a step."""
        rate = self._rate or SAMPLES[plan.device] / (100 if plan.orbits else 10)
        return max(1, round(STEP_SECONDS * rate / (CHUNK * plan.steps)))

    def _first(self, player: Player) -> Refined:
        """Return a small picture, of sums of its own."""
        first, watch = self._few or _first_player(player), self._options.on_progress
        first.data(watch)
        hits = first.play(first.plan.no_hits(), first.plan.chunks, watch)
        pixels = Show(first.plan, player.backend, watch).pixels(hits)
        return Refined(pixels, _step(player.plan), "a first look", False)

    def _of_small(self, player: Player, counted: Counted, step: int) -> Refined:
        """Return a small picture of sums, which is there at once."""
        plan, side = player.plan, step * player.plan.step
        small = _small(plan)
        if counted.small is None:
            upper = counted.upper
            counted.small = (
                bins_of(counted.hits.sums, plan.margin, side),
                None if upper is None else bins_of(upper, plan.margin, side),
            )
        sums = _colored(counted, *counted.small, plan)
        hits = in_few_pixels(small, counted.hits, sums)
        pixels = Show(small, player.backend, self._options.on_progress).pixels(hits)
        said = _said(plan, hits.samples) + ("" if counted.player is player else FOLLOWS)
        return Refined(pixels, step, said, False)

    def _of_all(self, player: Player, counted: Counted) -> Refined:
        """Return the picture of sums."""
        plan, hits = player.plan, counted.hits
        own = counted.player is player
        sums = hits.sums if own else _colored(counted, hits.sums, counted.upper, plan)
        hits = replace(hits, sums=sums, scene=plan.scene)
        pixels = Show(plan, player.backend, self._options.on_progress).pixels(hits)
        exact = own and hits.chunks == plan.chunks
        return Refined(pixels, 1, _said(plan, hits.samples) + ("" if own else FOLLOWS), exact)


def _same_points(before: ScatterRefinement | None, plan: ScatterPlan, backend: Backend) -> bool:
    """Tell whether the image before has the same points, maybe in other colors."""
    old = before._player if before else None
    if old is None or old.backend is not backend:
        return False
    mine, theirs = keys_of_hits(plan.scene), keys_of_hits(old.plan.scene)
    return not {key for key in mine if mine[key] != theirs[key]} - COLORS


def _more(one: Counted | None, other: Counted | None) -> bool:
    """Tell whether there are sums of at least as many points as others."""
    return one is not None and (other is None or one.hits.chunks >= other.hits.chunks)


def _colored(
    counted: Counted,
    sums: NDArray[np.int64],
    upper: NDArray[np.float32] | None,
    plan: ScatterPlan,
) -> NDArray[np.int64]:
    """Return sums in the palette of a plan."""
    spectrum = counted.player.spectrum
    if upper is None or spectrum is None or counted.player.plan is plan:
        return sums
    return spectrum.mixed(sums, upper, plan)


def _said(plan: ScatterPlan, samples: int) -> str:
    """Return how far the sums are."""
    whole = points_of(plan.scene)
    if plan.enough:
        whole = float(f"{plan.samples / math.prod(plan.scene.image.size):.2g}")
    reached = min(whole, samples / math.prod(plan.scene.image.size))
    if reached >= whole:
        return f"quality {whole:g}"
    return f"quality {float(f'{reached:.2g}'):g} of {whole:g}"  # 120, not 1.2e+02


def _step(plan: ScatterPlan) -> int:
    """Return how many pixels one of a small picture covers, along each side."""
    return 1 if max(plan.scene.image.size) <= FIRST_SIDE else FIRST_STEP


def _small(plan: ScatterPlan) -> ScatterPlan:
    """Return the plan of a small picture, of few points."""
    small, few = small_plan(plan, _step(plan)), FIRST_ORBITS if plan.orbits else FIRST_QUALITY
    return replace(small, scene=small.scene.replace(quality=min(points_of(plan.scene), few)))


def _first_player(player: Player) -> Player:
    """Return what plays and shows the first picture."""
    plan, formula = _small(player.plan), player.plan.formula
    if isinstance(formula, Buddhabrot) and not player.known:
        fewer = replace(formula, cells=min(formula.cells, FIRST_CELLS))
        return Player(replace(plan, formula=fewer), player.backend)
    first = Player(plan, player.backend, player.data())
    first.spectrum = player.spectrum
    return first


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

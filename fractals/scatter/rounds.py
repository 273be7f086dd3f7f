"""A scatter image in rounds: some of its points at a time, for those who look on."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.rendering.preview import Onlooker, binned, step_of
from fractals.rendering.stores.kept import Kept
from fractals.scatter.plan import CHUNK, Hits, ScatterPlan
from fractals.scatter.play import Player
from fractals.scatter.show import PlayBand, Show
from fractals.threads import Progress, within

# Of a round, at first and at most: as long as a preview, or the answer to Ctrl-C, may wait
SECONDS, LONGEST = 0.2, 1.0


def play_in_rounds(
    player: Player, before: Hits, watch: Onlooker, progress: Progress | None
) -> Hits:
    """Return the hits of all chunks, with those before; of fewer, where the watch is stopped."""
    plan = player.plan
    player.data()  # a Buddhabrot's pilot, which is no part of the first round
    counter, done, at_once, seconds = player.counter(), before.chunks, 1, SECONDS

    def so_far() -> Hits:
        sums, hits = counter.found()
        return plan.hits(sums + before.sums, done, hits + before.hits)

    while done < plan.chunks and not watch.stopped:
        if done:
            watch.begun()
        last, begun = min(plan.chunks, done + at_once), perf_counter()
        heard = within(progress, done, last - done, plan.chunks)
        counter.add(range(done * CHUNK, last * CHUNK), heard)
        rate = (last - done) / max(perf_counter() - begun, 1e-3)
        at_once, done = max(1, int(rate * seconds)), last
        seconds = min(LONGEST, 2 * seconds)
        if watch.shows and done < plan.chunks:
            watch.offer(lambda: preview_of(player, so_far()), 2 * before.sums.nbytes)
    return so_far()


def watched(watch: Onlooker | None) -> PlayBand | None:
    """Return what plays a picture that is looked at; None: nobody looks on."""
    if watch is None:
        return None

    def play(player: Player, _kept: Kept | None, progress: Progress | None) -> Hits:
        plan = player.plan
        before = plan.no_hits()
        if len(plan.drawn) < plan.scene.image.size[1]:  # a band alone is no picture
            return player.play(before, plan.chunks, progress)
        return play_in_rounds(player, before, watch, progress)

    return play


def preview_of(player: Player, hits: Hits) -> NDArray[Any]:
    """Return the preview of hits: that of a picture of fewer pixels, with as many points."""
    plan = player.plan
    step = step_of(plan.scene)
    small = small_plan(plan, step)
    sums = bins_of(hits.sums, plan.margin, step * plan.step)
    return Show(small, player.backend).pixels(in_few_pixels(small, hits, sums))


def bins_of(sums: NDArray[Any], margin: int, side: int) -> NDArray[Any]:
    """Return the sums of squares of buckets, without those beyond the edge."""
    rows, columns = (slice(margin, length - margin) for length in sums.shape[:2])
    return binned(sums[rows, columns], side)


def in_few_pixels(small: ScatterPlan, hits: Hits, bins: NDArray[np.int64]) -> Hits:
    """Return the hits of a plan of few pixels, which `bins_of` has added up."""
    m = small.margin
    sums = np.pad(bins, ((m, m), (m, m), (0, 0)))
    return replace(hits, scene=small.scene, sums=sums, margin=m)


def small_plan(plan: ScatterPlan, step: int) -> ScatterPlan:
    """Return the plan of a picture whose pixels cover `step` of another's, along each side."""
    width, height = (-(-side // step) for side in plan.scene.image.size)
    display = plan.scene.display
    scene = plan.scene.replace(
        size=(width, height),
        supersampling=1,
        bits=8,
        hdr=False,
        estimator_radius=display.estimator_radius / step,
        estimator_minimum=display.estimator_minimum / step,
    )
    wider = plan.width * width * step / plan.scene.image.size[0]
    return replace(plan, scene=scene, width=wider, reserve=0, band=0, rows=None)

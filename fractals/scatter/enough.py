"""As many orbits as a picture needs, where its quality is in words: no more once noise is small.

A *look*, a small picture of the same view, has as many orbits for each of its pixels. It is shown
with a part of them, and again each time that there are twice as many. Where points are independent,
the difference of two such pictures is, on average, the error of the second one, as in
`fractals.space.enough`. So the number of orbits is known before the picture is begun. Bands, parts,
machines and whoever goes on with a store find the same one, because a look is made of whole numbers
that every device finds.

Noise is a little stronger in a small picture, where an orbit falls into the same pixels more often.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fractals.rendering.options import RenderOptions
from fractals.scatter.plan import CHUNK, Hits, ScatterPlan, points_of
from fractals.scatter.play import Player, open_player
from fractals.scatter.show import Show
from fractals.scatter.store import KIND as OF_STORES
from fractals.scatter.store import HitAdder, resume
from fractals.scene.model import Scene
from fractals.threads import Progress

# The mean error of a picture that has enough orbits, in steps of 8 bits. A draft has one orbit a
# pixel, which a look could not make fewer.
NOISE = {"good": Fraction(1), "best": Fraction(1, 2)}
STEP = 257  # of 8 bits, in a pixel of 16
PIXELS = 480 * 300  # of a look
LARGER = 4  # times as many pixels has a picture that is worth a look
PARTS = (8, 4, 2, 1)  # of the most orbits: a look is shown with an eighth, a quarter ...


def with_enough(player: Player, progress: Progress | None = None) -> Player:
    """Return what plays as many orbits as a picture needs; the same player of another picture.

    `progress`: called while a look is taken; what it raises ends the look.
    """
    plan = player.plan
    most = points_of(plan.scene)
    noise = NOISE.get(str(plan.scene.scatter.quality)) if plan.orbits else None
    if noise is None or plan.enough or not (look := look_at(plan)):
        return player
    found = enough_of(Player(look, player.backend, player.data()), noise, progress)
    points = found * Fraction(most) * math.prod(plan.scene.image.size)
    plan = replace(plan, enough=math.ceil(points / CHUNK))
    return Player(plan, player.backend, player.data(), player.moments)


def look_at(plan: ScatterPlan) -> ScatterPlan | None:
    """Return the plan of a look; None: the picture is small, and a look would take as long."""
    width, height = plan.scene.image.size
    if width * height < LARGER * PIXELS:
        return None
    share = math.sqrt(PIXELS / (width * height))
    size = tuple(max(1, round(side * share)) for side in (width, height))
    scene = plan.scene.replace(size=size, bits=16, hdr=False)
    return replace(plan, scene=scene, reserve=0, band=0, rows=None)


def enough_of(player: Player, noise: Fraction, progress: Progress | None = None) -> Fraction:
    """Return the share of its chunks with which a look has a mean error, in steps of 8 bits."""
    plan, hits = player.plan, player.plan.no_hits()
    before: NDArray[np.int64] | None = None
    for part in PARTS:
        hits = player.play(hits, max(1, plan.chunks // part), progress)
        shown = Show(plan, player.backend, progress).pixels(hits).astype(np.int64)
        if before is not None:
            lit = lit_of(plan, hits)
            error = Fraction(int(np.abs(shown - before)[lit].sum()), max(1, 3 * int(lit.sum())))
            if error <= noise * STEP:
                # Errors fall with the root of the orbits; half of them were not enough.
                needed = (error / (noise * STEP)) ** 2
                return max(Fraction(1, 2), needed) / part
        before = shown
    return Fraction(1)


def lit_of(plan: ScatterPlan, hits: Hits) -> NDArray[np.bool_]:
    """Return which pixels have a hit: black ones around a picture have no noise."""
    m, step = hits.margin, plan.step
    (width, height), rows, columns = plan.scene.image.size, *plan.shape
    count = hits.count[m : rows - m, m : columns - m].reshape(height, step, width, step)
    lit: NDArray[np.bool_] = np.asarray(count.any(axis=(1, 3)))
    return lit


def _open(scene: Scene, options: RenderOptions) -> HitAdder:
    return HitAdder(with_enough(open_player(scene, options)))


# Stores of this machine, which finds how many samples are enough; a cluster's workers are sent that
# number.
KIND = OF_STORES._replace(open=_open, resume=partial(resume, enough=with_enough))

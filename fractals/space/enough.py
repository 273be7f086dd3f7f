"""As many paths of light as a pixel needs: it takes no more once its mean is certain.

Samples are traced in *rounds*. After a round, the mean of all samples is compared with the mean
before it, both as pixels of 16 bits. Where the round took a pixel from m to n samples, the
difference is, on average, sqrt(n / m - 1) times the error of the new mean. Two such means stand in
for the variance, as in Dammertz, Hanika, Keller and Lensch (2010), and nothing but the sums is
kept. Two means may be alike by chance, so those of neighbors count, too.

Where a denoiser's guides tell light that bounced from the rest, the noise of both is judged apart.
Once that of bounced light is the smaller one, further paths end where they meet the surface: most
of the time of a path goes into its bounces. A pixel's first paths bounce nevertheless: at edges
light without a bounce has much noise at first, which falls with all the paths that follow, and that
of bounced light would stay.

The neighbors are those of the row. So a row's samples depend on that row alone: bands of a picture,
rows of a store and machines of a cluster agree. All decisions are made of whole numbers, which are
equal on every device. Light is developed as usual for this, whatever the scene's [develop] says, so
that a store can be developed in any way.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.rendering.develop import Developer
from fractals.scene.model import Scene
from fractals.scene.picture import Develop
from fractals.space.light import FIRST, GUIDES, ONE
from fractals.threads import halted

STEP = 257  # of 8 bits, in a pixel of 16
WINDOW = 4  # neighbors on either side; with 16, the same error took 1.2 times as many samples
# Paths of a denoised pixel bounce as long as the noise of light that bounced, times `BOUNCED`, is
# above that of other light; paths without a bounce go on as long as the noise of theirs, times
# `DIRECT`, is above what is allowed, because they take less time. Both factors are of squares.
BOUNCED, DIRECT = 8, 5
# Where a pixel has n samples, fewer than these, its noise's square counts FEWEST / n times, and all
# its paths bounce: the means of very few samples are often alike by chance.
FEWEST = 12
ROUNDS = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


class Effort(NamedTuple):
    """How many samples pixels have."""

    most: int
    # Error of a pixel's mean, in steps of 8 bits, at which it takes no more; 0: all have the most
    noise: float
    least: int = 8  # fewer do not show thin parts
    # Noise for each sample: the more a pixel has, the more noise it may keep, because each further
    # sample takes away less. Pixels then differ in samples by the power 2/3 of their noise, which
    # is what the least mean error takes.
    rising: float = 0.0
    bounced: int = 0  # the most samples that bounce, of a denoised pixel; 0: all may

    @property
    def rounds(self) -> tuple[int, ...]:
        """Return the samples of a pixel after each round."""
        if not self.noise:
            return (self.most,)
        return (*(each for each in ROUNDS if self.least // 2 <= each < self.most), self.most)

    def allowed(self, samples: int) -> float:
        """Return the noise at which a pixel of some samples takes no more."""
        return max(self.noise, self.rising * samples)

    def after(self, done: int) -> int:
        """Return the samples after the next step of a picture that is shown as it becomes finer."""
        if self.noise and done >= self.rounds[0]:
            return next(each for each in self.rounds if each > done)
        return min(self.most, max(done + 1, min(2 * done, done + 4)))


# ``trace(sums, places, first, samples, bounce)`` adds samples of pixels to sums of shape (pixels,
# numbers); `places`: columns and rows of the pixels, shape (pixels, 2). Where `bounce` is False,
# only guides are right: paths end at the surface.
Trace = Callable[[NDArray[np.int64], NDArray[np.int32], int, int, bool], None]


class Filling(NamedTuple):
    """Rows of a picture whose pixels take as many samples as they need."""

    sums: NDArray[np.int64]  # shape (rows, columns, numbers)
    counts: NDArray[np.int32]  # samples in them; shape (rows, columns)
    active: NDArray[np.bool_]  # which pixels take more
    bouncing: NDArray[np.bool_]  # of which of these samples bounce

    @classmethod
    def of(cls, sums: NDArray[np.int64]) -> "Filling":
        """Return what begins with sums of no sample."""
        shape = sums.shape[:2]
        return cls(sums, np.zeros(shape, np.int32), np.ones(shape, bool), np.ones(shape, bool))

    def part(self, rows: slice) -> "Filling":
        """Return some of the rows, which are changed with these."""
        sums, counts, active, bouncing = self
        return Filling(sums[rows], counts[rows], active[rows], bouncing[rows])

    def even(self, most: int) -> NDArray[np.int64]:
        """Return sums as if all pixels had the most samples; those without any stay 0."""
        found: NDArray[np.int64] = self.sums * most // np.maximum(self.counts, 1)[..., None]
        return found


class Judge:
    """Tells which pixels take no more samples."""

    def __init__(self, backend: Backend, scene: Scene) -> None:
        image = scene.image.model_copy(update={"bits": 16, "hdr": False})
        usual = scene.model_copy(update={"image": image, "develop": Develop()})
        self._backend, self._developer = backend, Developer(backend, usual)

    def developed(self, sums: NDArray[np.int64], samples: int) -> NDArray[np.int64]:
        """Return pixels of 16 bits of the sums of some samples, shape (pixels, 3)."""
        backend, real = self._backend, self._backend.real
        light = sums[None, :, :3].astype(real) * real(self._developer.exposure / (samples * ONE))
        found = np.empty(light.shape, np.uint16)
        on_device = self._developer.on_device(backend.to_device(light), 0, 0)
        backend.to_host(on_device, found)
        pixels: NDArray[np.int64] = found[0].astype(np.int64)
        return pixels

    def _changes(
        self, before: NDArray[np.int64], after: NDArray[np.int64], samples: tuple[int, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return squares of what a round has changed: by light without a bounce, and by the rest.

        Without guides the first ones are of all light. A denoiser takes away half of the noise of
        light that bounced. So where there are guides, only half of what it has changed by counts.
        """
        first, last = samples
        now = self.developed(after, last)
        if not guided(before):
            changed = now - self.developed(before, first)
            return (changed**2).sum(axis=1), np.zeros(len(before), np.int64)
        (direct, bounced), (direct_before, bounced_before) = split(after), split(before)
        earlier = bounced * first + direct_before * last
        half = (2 * direct + bounced) * first + bounced_before * last
        changed = now - self.developed(np.maximum(earlier, 0), first * last)
        halved = now - self.developed(np.maximum(half, 0), 2 * first * last)
        return (changed**2).sum(axis=1), (halved**2).sum(axis=1)

    def go_on(
        self,
        filling: Filling,
        places: NDArray[np.int32],
        samples: tuple[int, int],
        effort: Effort,
        trace: Trace,
    ) -> None:
        """Take the active pixels of rows from a number of samples to the next.

        `places`: column and row of all pixels, shape (rows, columns, 2).
        """
        sums, counts, active, bouncing = filling
        first, last = samples
        chosen = active & (counts == first)
        before = sums[chosen]
        after = grown(before, places[chosen], samples, bouncing[chosen], trace)
        if halted():
            return
        sums[chosen], counts[chosen] = after, last
        if not effort.noise or first < effort.rounds[0]:
            return
        direct, bounced = (np.zeros(active.shape, np.int64) for _ in range(2))
        direct[chosen], bounced[chosen] = self._changes(before, after, samples)
        direct, bounced = around(direct), around(bounced)
        # The mean of a window's squares, times first / (last - first), is above the noise's square
        most = round(3 * (effort.allowed(last) * STEP) ** 2) * (last - first)
        few = around(chosen.astype(np.int64))
        limit, judged = few * most, few > 0
        loud = (direct + bounced) * first > limit
        if guided(sums):
            room = not effort.bounced or last < effort.bounced
            if last < FEWEST:
                loud = (direct + bounced) * first * FEWEST > limit * last
            else:
                loud &= bounced * BOUNCED > direct
            bouncing &= ~judged | (loud & room)
            loud = bouncing | (direct * first * DIRECT > limit)
        elif effort.bounced and last >= effort.bounced:
            loud[...] = False
        # Rows that an interrupted round has reached are judged already: none of them is chosen
        active &= ~judged | loud

    def fill(
        self, sums: NDArray[np.int64], places: NDArray[np.int32], effort: Effort, trace: Trace
    ) -> int:
        """Add as many samples as pixels of some rows need to sums, which are 0 at first.

        The sums become as large as if all pixels had the most samples. Return how many were traced.
        """
        filling = Filling.of(sums)
        for samples in pairwise((0, *effort.rounds)):
            self.go_on(filling, places, samples, effort, trace)
            if halted():
                return 0
            if not filling.active.any():
                break
        sums[...] = filling.even(effort.most)
        return int(filling.counts.sum(dtype=np.int64))


def guided(sums: NDArray[np.int64]) -> bool:
    """Tell whether sums have a denoiser's guides."""
    return bool(sums.shape[-1] == 3 + GUIDES)


def split(sums: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sums of light without a bounce, and of the rest; they have guides."""
    direct = sums[:, FIRST : FIRST + 3]
    return direct, sums[:, :3] - direct


def grown(
    sums: NDArray[np.int64],
    places: NDArray[np.int32],
    samples: tuple[int, int],
    bounce: NDArray[np.bool_],
    trace: Trace,
) -> NDArray[np.int64]:
    """Return sums of pixels with more samples.

    `bounce`: of which pixels they bounce. For others, light that bounced grows as if they did.
    """
    first, last = samples
    if bounce.all():
        found = sums.copy()
        trace(found, places, first, last - first, True)
        return found
    found = np.empty_like(sums)
    for whole in (True, False):
        chosen = bounce == whole
        part = sums[chosen]
        if len(part):
            bounced = split(part)[1] * last // first
            trace(part, places[chosen], first, last - first, whole)
            if not whole:
                part[:, :3] = split(part)[0] + bounced
        found[chosen] = part
    return found


def around(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sums of each number and its neighbors in the row, `WINDOW` on either side."""
    rows, columns = values.shape
    total = np.zeros((rows, columns + 2 * WINDOW + 1), np.int64)
    total[:, WINDOW + 1 : WINDOW + 1 + columns] = values.cumsum(axis=1)
    total[:, WINDOW + 1 + columns :] = total[:, WINDOW + columns, None]
    found: NDArray[np.int64] = total[:, 2 * WINDOW + 1 :] - total[:, :columns]
    return found

"""A picture of a solid in rounds: each adds samples to all its pixels, for those who look on.

The rounds are those after which pixels are judged (`fractals.space.enough`), so the sums are those
of a picture whose rows are finished one after the other.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.rendering.develop import Developer
from fractals.rendering.preview import Onlooker, small_scene, step_of
from fractals.scene.model import Scene
from fractals.space.enough import Effort, Filling, Trace
from fractals.space.light import ONE
from fractals.space.trace import Tracing
from fractals.threads import Progress, within

SAMPLES_A_ROUND = 16  # of a pixel, where all have as many
ROWS = 64  # of the sums, that are changed at once


class LightPreview:
    """The light of a picture in few pixels; rows that are not traced yet are black.

    `whole`, `corner`: size of the picture of which `scene` is a part, and the part's first pixel.
    """

    def __init__(
        self,
        scene: Scene,
        backend: Backend,
        whole: tuple[int, int] | None = None,
        corner: tuple[int, int] = (0, 0),
    ) -> None:
        self._step = step = step_of(scene)
        small = small_scene(scene, step)
        width, height = whole or scene.image.size
        across, down = corner
        self._developer = Developer(
            backend, small, (-(-width // step), -(-height // step)), (across // step, down // step)
        )
        width, height = small.image.size
        self._light = np.zeros((height, width, 3), backend.real)

    def pixels(
        self, sums: NDArray[np.int64], counts: NDArray[np.int32], rows: range
    ) -> NDArray[Any]:
        """Return the preview with the sums of some rows.

        sums : ndarray, shape (rows, columns, 3 or more)
            Red, green and blue first.
        counts : ndarray, shape (rows, columns), or (rows, 1)
            Samples in them.
        """
        step, real = self._step, self._light.dtype.type
        light = sums[..., :3] / np.maximum(counts, 1)[..., None].astype(np.float32)
        down = np.flatnonzero(np.diff(np.array(rows) // step, prepend=-1))
        across = np.arange(0, light.shape[1], step)
        found = np.add.reduceat(np.add.reduceat(light, down, axis=0), across, axis=1)
        tall = np.diff(down, append=light.shape[0])
        wide = np.diff(across, append=light.shape[1])
        found *= self._developer.exposure / (ONE * tall[:, None, None] * wide[:, None])
        first = rows.start // step
        self._light[first : first + len(found)] = found.astype(real)
        return self._developer.pixels(self._light.copy())


def rounds_of(effort: Effort) -> tuple[int, ...]:
    """Return the samples of a pixel after each round.

    Where all pixels have as many, each round has twice as many as the one before. Samples that are
    traced together share the way of their rays, so a round more takes a fifth of a sample's time
    (measured: caldera, a Zen 5): 1.3 % of 16 samples and of more.

    >>> rounds_of(Effort(12, 0)), rounds_of(Effort(64, 0)), rounds_of(Effort(20, 0.5))
    ((6, 12), (4, 8, 16, 32, 64), (4, 8, 12, 16, 20))
    """
    if effort.noise:
        return effort.rounds
    count = max(1, effort.most // SAMPLES_A_ROUND)
    return tuple(effort.most >> k for k in range(count, -1, -1) if effort.most >> k)


class Rounds:
    """The rounds of some rows of a picture.

    Attributes
    ----------
    filling : Filling
        The sums so far.
    done : int
        Samples of the pixels that need as many, after the last complete round.
    """

    def __init__(
        self,
        tracing: Tracing,
        sums: NDArray[np.int64],
        rows: range,
        preview: LightPreview | None = None,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        """`before`: what `kept` returned, of the same rows; else the sums are 0."""
        self.filling, self.done, self._sums = Filling.of(tracing.wide(sums)), 0, sums
        self._tracing, self._rows, self._preview = tracing, rows, preview
        self._tracers: dict[range, Trace] = {}
        if before:
            self.filling = Filling(*(before[name] for name in Filling._fields))
            self.done = int(before["done"])

    def kept(self) -> dict[str, Any]:
        """Return what goes on with the rounds."""
        return {**self.filling._asdict(), "done": np.int64(self.done)}

    @property
    def whole(self) -> bool:
        """Tell whether no pixel needs more samples."""
        return self.done >= self._tracing.effort.most or not self.filling.active.any()

    def run(self, watch: Onlooker, progress: Progress | None) -> None:
        """Add samples until pixels have as many as they need, or the watch is stopped."""
        tracing, filling, effort = self._tracing, self.filling, self._tracing.effort
        rounds = rounds_of(effort)
        while not self.whole and not watch.stopped:
            if self.done:
                watch.begun()
            last = next(each for each in rounds if each > self.done)
            heard = within(progress, self.done, last - self.done, effort.most)
            # Pixels that an interrupted round has reached have the count of its end already
            samples = self.done, last
            tracing.go_on(filling, self._rows, samples, heard, lambda: watch.stopped, self._tracers)
            if watch.stopped and (filling.counts < last)[filling.active].any():
                return
            self.done = last
            if preview := self._preview:
                sums, counts = tracing.cut(filling.sums), tracing.cut(filling.counts)
                watch.offer(partial(preview.pixels, sums, counts, self._rows), sums.nbytes)
        if self.whole:
            tracing.count(filling)

    def even(self) -> NDArray[np.int64]:
        """Return sums as if all pixels had the most samples."""
        return self._tracing.cut(self.filling.even(self._tracing.effort.most))

    def end(self) -> None:
        """Make the sums as large as if all pixels had the most samples: no round follows."""
        for top in range(0, len(self._rows), ROWS):
            part = self.filling.part(slice(top, top + ROWS))
            part.sums[...] = part.even(self._tracing.effort.most)
        if self.filling.sums is not self._sums:
            self._sums[...] = self._tracing.cut(self.filling.sums)

"""Checks compaction: the counts, and how many samples were iterated."""

import numpy as np
from step_02_numpy import draw


def check(answer):
    for width, height, limit in ((37, 23, 60), (1, 1, 5), (96, 64, 200)):
        xs = -2 + 3 * (np.arange(width) + 0.5) / width
        ys = 1 - 2 * (np.arange(height) + 0.5) / height
        iterated = 0

        def step(z, c):
            nonlocal iterated
            assert np.shape(z) == np.shape(c), "step: z and c have different shapes"
            iterated += z.size
            return z * z + c

        found = np.asarray(answer.counts(xs + 1j * ys[:, np.newaxis], limit, step))
        size = f"{width}x{height} samples, limit {limit}"
        assert found.shape == (height, width), f"{size}: the shape is {found.shape}"
        expected = draw(width, height, limit)
        wrong = int((found != expected).sum())
        assert wrong == 0, f"{size}: {wrong} counts differ from those of step 1"
        needed = int(expected.sum())
        assert iterated >= needed * 0.9, f"{size}: call step for every step of every sample"
        assert iterated <= needed, (
            f"{size}: step got {iterated} samples, {needed} suffice: leave out what has escaped"
        )

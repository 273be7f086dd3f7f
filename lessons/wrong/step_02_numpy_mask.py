# A mask keeps escaped samples from changing, but they are iterated.

"""Exercise 2: whole arrays, without steps for samples that have escaped."""

import numpy as np


def counts(c, limit, step):
    """Return the counts of an array of samples, as an array of integers of the same shape.

    `step(z, c)` returns z * z + c for arrays. Call `step` for every step, and only with the samples
    that have not escaped: arrays that become shorter (compaction).
    """
    z, found = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(limit):
        staying = np.abs(z) <= 2
        found += staying
        z = np.where(staying, step(z, c), z)
    return found

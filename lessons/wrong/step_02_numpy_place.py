# After compaction, the counts are written to the wrong samples.

"""Exercise 2: whole arrays, without steps for samples that have escaped."""

import numpy as np


def counts(c, limit, step):
    """Return the counts of an array of samples, as an array of integers of the same shape.

    `step(z, c)` returns z * z + c for arrays. Call `step` for every step, and only with the samples
    that have not escaped: arrays that become shorter (compaction).
    """
    flat = c.ravel()
    found, z = np.full(flat.size, limit), np.zeros_like(flat)
    for n in range(limit):
        staying = np.abs(z) <= 2
        found[: len(z)][~staying] = n
        z, flat = z[staying], flat[staying]
        z = step(z, flat)
    return found.reshape(c.shape)

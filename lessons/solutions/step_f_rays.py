"""Solution F: the remainder folds space."""

import math


def distance(x, y, z):
    x, y, z = ((v + 1) % 2 - 1 for v in (x, y, z))
    return math.sqrt(x * x + y * y + z * z) - 0.5

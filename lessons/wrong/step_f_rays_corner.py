# The remainder alone: each point sees the ball of the corner below it, not the nearest one.
import math


def distance(x, y, z):
    x, y, z = (v % 2 for v in (x, y, z))
    return math.sqrt(x * x + y * y + z * z) - 0.5

# The test follows the step, so each count is one less.

"""Exercise 1: a Julia set in plain Python."""


def julia(z, c, limit):
    """Return after how many steps z -> z * z + c exceeds |z| = 2, or the limit.

    Here z is the point of the picture, and c is the same for all points. A z that is beyond 2 from
    the beginning has the count 0.
    """
    for n in range(limit):
        z = z * z + c
        if abs(z) > 2:
            return n
    return limit

# A point that is near the remembered one is taken for a cycle.

"""Exercise 9: find out that an orbit has become a cycle."""


def escape(c, limit):
    """Return the count of c, and how many steps were computed to find it.

    An orbit that returns to exactly a point where it has been repeats for ever, so its count is the
    limit. Remember one point, compare every later point with it, and remember a new point after 1,
    2, 4, 8, ... steps (Brent's method).
    """
    z = remembered = 0j
    next_point = 1
    for n in range(limit):
        if abs(z) > 2:
            return n, n
        z = z * z + c
        if abs(z - remembered) < 1e-2:
            return limit, n + 1
        if n + 1 == next_point:
            remembered, next_point = z, 2 * next_point
    return limit, limit

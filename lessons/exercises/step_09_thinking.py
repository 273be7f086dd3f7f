"""Exercise 9: find out that an orbit has become a cycle."""


def escape(c, limit):
    """Return the count of c, and how many steps were computed to find it.

    An orbit that returns to exactly a point where it has been repeats for ever, so its count is the
    limit. Remember one point, compare every later point with it, and remember a new point after 1,
    2, 4, 8, ... steps (Brent's method).
    """
    raise NotImplementedError("write this function")

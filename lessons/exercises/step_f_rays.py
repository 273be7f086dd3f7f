"""Exercise F: a room full of balls, for rays that walk."""


def distance(x, y, z):
    """Return how far a point is from the nearest ball; less than 0 inside a ball.

    A ball of radius 0.5 is around each point whose three coordinates are even whole numbers: there
    is no end of balls. Fold space, so that one ball is enough. Coordinates may be negative.
    """
    raise NotImplementedError("write this function")

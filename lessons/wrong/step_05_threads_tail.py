# The tiles at the right and lower edge are forgotten.

"""Exercise 5: cut a picture into tiles."""


def tiles(width, height, size):
    """Return tiles that cover a picture: pairs of slices, rows and columns.

    Each pixel belongs to one tile. No tile is larger than size x size, and none is empty. Tiles at
    the right and lower edge are smaller where the sides are no multiples of `size`.
    """
    return [
        (slice(y * size, (y + 1) * size), slice(x * size, (x + 1) * size))
        for y in range(height // size)
        for x in range(width // size)
    ]

"""How the programs that iterate read where samples lie."""


def make_place(target, listed):
    """Return ``place(columns, rows, width, j, i)``: where a sample lies, as two numbers.

    On a grid that is ``columns[:, i] + rows[:, j]``. Where samples are `listed`, ``columns``
    (2 or 3, samples) holds each one's, row by row of `width` samples; a third number is the
    exponent of two that it is to be scaled with. ``rows`` then has the shape (2, height), and is
    not read.
    """
    if listed:

        def place(columns, rows, width, j, i):
            k = j * width + i
            return columns[0, k], columns[1, k]

    else:

        def place(columns, rows, width, j, i):
            return columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]

    return target.jit(place)

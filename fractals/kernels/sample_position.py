"""How the programs that iterate read where samples lie."""


def make_place(target, explicit_positions):
    """Return ``place(columns, rows, width, j, i)``: a sample's position as two numbers.

    Parameters
    ----------
    target : Target
    explicit_positions : bool or str
        False: the samples lie on a grid, at ``columns[:, i] + rows[:, j]``.
        True or any text: ``columns`` (2 or 3, samples) holds each sample's position, row by row of
        ``width`` samples; a third number is the exponent of two that the position is to be scaled
        with. ``rows`` then has the shape (2, height), and is not read.
    """
    if explicit_positions:

        def place(columns, rows, width, j, i):
            k = j * width + i
            return columns[0, k], columns[1, k]

    else:

        def place(columns, rows, width, j, i):
            return columns[0, i] + rows[0, j], columns[1, i] + rows[1, j]

    return target.jit(place)

"""Solution G: blocks are rounded up; their work-items are the global size."""


def launch(shape, group):
    rows, columns = shape
    grid = -(-columns // group[0]), -(-rows // group[1])
    return grid, (grid[0] * group[0], grid[1] * group[1])

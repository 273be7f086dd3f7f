# Rows first, as NumPy counts: the picture is covered at its height, not at its width.
def launch(shape, group):
    grid = -(-shape[0] // group[1]), -(-shape[1] // group[0])
    return grid, (grid[0] * group[1], grid[1] * group[0])

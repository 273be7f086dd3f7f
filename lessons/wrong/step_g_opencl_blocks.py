# OpenCL gets the number of groups, as CUDA does: most of the picture stays empty.
def launch(shape, group):
    rows, columns = shape
    grid = -(-columns // group[0]), -(-rows // group[1])
    return grid, grid

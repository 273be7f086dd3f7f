"""Exercise G: the same launch, as CUDA and as OpenCL count it."""


def launch(shape, group):
    """Return the grid of CUDA and the global size of OpenCL for a picture, two tuples.

    `shape` is that of the array, rows and columns; `group` the columns and rows of a block, which
    OpenCL calls a work-group. CUDA counts blocks, OpenCL work-items; both count columns first.
    Every pixel needs a thread, and OpenCL starts whole groups only.
    """
    raise NotImplementedError("write this function")

# One work-item a pixel, which is no whole number of groups: OpenCL refuses such a launch.
def launch(shape, group):
    rows, columns = shape
    return (-(-columns // group[0]), -(-rows // group[1])), (columns, rows)

# The view is narrower than allowed.

"""Exercise 6: find a view where float32 shows."""


def view():
    """Return x and y of the center and the width of a view, as floats.

    In this view at least a tenth of 96x64 counts, of at most 1000 steps, must differ between
    float32 and float64. The width is 0.01 or more: at narrower widths that is easy.
    """
    return -0.743643887037151, 0.13182590420533, 1e-6

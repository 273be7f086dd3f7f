"""Histogram: the share of the picture's escaped samples that have a lower count.

Histogram equalisation by whole counts; within a band the share rises with the smooth count.
"""

from fractals.color.colorings import smooth
from fractals.kernels.coloring import Coloring
from fractals.kernels.coloring_math import make_histogram_table


def make():
    return Coloring(
        name="histogram",
        title="share of the samples whose count is lower",
        make_value=smooth.make_value,
        constants=smooth.constants,
        transfer="linear",
        rank_table=make_histogram_table,
    )

"""Histogram: the share of the picture's escaped samples with a lower count, smooth in between.

Equalised as in image processing, but by whole counts: within a band it rises with the smooth count.
"""

from fractals.color.colorings import smooth
from fractals.kernels.coloring import Coloring
from fractals.kernels.ranking import make_histogram_table


def make():
    return Coloring(
        name="histogram",
        title="share of the picture with a lower count",
        make_value=smooth.make_value,
        constants=smooth.constants,
        transfer="linear",
        rank_table=make_histogram_table,
    )

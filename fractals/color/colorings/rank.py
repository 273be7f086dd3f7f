"""Rank: the share of the picture's escaped samples that have a lower smooth count.

Equal stretches of the palette cover equal areas of the picture.
"""

from fractals.color.colorings import smooth
from fractals.kernels.coloring import Coloring
from fractals.kernels.coloring_math import make_rank_table


def make():
    return Coloring(
        name="rank",
        title="rank of the smooth count among all samples, from 0 to 1",
        make_value=smooth.make_value,
        constants=smooth.constants,
        transfer="linear",
        rank_table=make_rank_table,
    )

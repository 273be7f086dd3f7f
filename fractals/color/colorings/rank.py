"""Rank: a sample's place among all of the picture that escaped, in the order of their smooth count.

Every stretch of the palette covers as much of the picture as any other of its length.
"""

from fractals.color.colorings import smooth
from fractals.kernels.coloring import Coloring
from fractals.kernels.ranking import make_rank_table


def make():
    return Coloring(
        name="rank",
        title="place in the order of smooth counts",
        make_value=smooth.make_value,
        constants=smooth.constants,
        transfer="linear",
        rank_table=make_rank_table,
    )

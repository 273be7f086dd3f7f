"""The CPU's own way to iterate in double-double numbers: packs, as of `fractals.backends.cpu.fast`.

Nothing here imports Numba.
"""

from fractals.backends.base import Run
from fractals.backends.cpu import programs
from fractals.kernels.doubled.orbit import own_size
from fractals.kernels.layout import EscapeTile
from fractals.threads import halting

PACKS = "fractals.backends.cpu.doubled_packs:make_body"
SAMPLES = 4096  # most samples in one list: their states fit into a core's cache
C_ROWS = Z_ROWS = 4  # numbers of c, and of z, with their low parts


def list_rows(options):
    """Return the rows of the list: the state three times, c twice, and an earlier z."""
    size = own_size(options.formula, options.derivative) + options.statistics.planes
    return 3 * size + 2 * C_ROWS + Z_ROWS


def in_packs(backend, options):
    """Return the program that iterates samples directly, as packs of double-double numbers."""
    wave = backend.program(PACKS, backend.number, (options,), packed=True)
    wave.entry(programs.direct_layout(backend.real))  # compiled now: it may be unsupported
    real, index, memory = backend.real, programs.index_type(backend.real), backend.scratch
    rows = list_rows(options) + Z_ROWS  # and the columns of the grid

    def run(tile, *inputs):
        room = max(SAMPLES, tile.count.shape[1]) + programs.ROOM
        lists = memory.empty((rows * room,), real), memory.empty((3 * room,), index)
        wave(EscapeTile(*(part.reshape(-1) for part in tile)), *inputs, *lists, halting())

    return Run(run, "packs")

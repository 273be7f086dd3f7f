"""The CPU's faster ways to run kernels: the functions that their `on_cpu` names.

Each returns a `Run` of programs that compute whole arrays, many elements at once, with the bits of
the plain loop. It raises `Uncompilable` with the reason where the plain loop has to run. Nothing
here imports Numba, as a picture whose programs are on the disk does without it.
"""

import functools

import numpy as np

from fractals.backends.base import Run
from fractals.backends.cpu import programs
from fractals.backends.machine_code import Laid, Uncompilable
from fractals.kernels.layout import EscapeTile

# Bodies of whole arrays, in modules that import Numba.
DIRECT = "fractals.backends.cpu.direct:make_body"
PACKETS = "fractals.backends.cpu.perturb_packets:make_body"
PLACE = "fractals.backends.cpu.pixels:make_position_body"
PAINT = "fractals.backends.cpu.pixels:make_paint_body"
DEVELOPING = "fractals.backends.cpu.developing:make_develop_body"
PACK = 64  # elements of the longest pack, which a program may write behind a row
UNROLLED = 2  # most samples along an axis of a pixel for which a program of their own paints


def in_packs(backend, options):
    """Return the program that iterates samples directly, as packs."""
    wave = backend.program(DIRECT, backend.number, (options,), packed=True)
    wave.entry(programs.direct_layout(backend.real))  # compiled now: it may be unsupported
    real, index, memory = backend.real, programs.index_type(backend.real), backend.scratch
    sizes = functools.partial(programs.direct_sizes, rows=programs.list_rows(options))

    def run(tile, *inputs):
        numbers, places = sizes(tile.count.shape[1])
        lists = memory.empty((numbers,), real), memory.empty((places,), index)
        wave(EscapeTile(*(part.reshape(-1) for part in tile)), *inputs, *lists)

    return Run(run, "packs", program=wave, scratch_sizes=sizes)


def in_packets(backend, options):
    """Return the program of perturbation that moves samples of like steps together."""
    if reason := _alone(options):
        raise Uncompilable(reason)
    fill = backend.program(PACKETS, backend.number, (options,))
    fill.entry(programs.packet_layout())  # compiled now: it may be unsupported
    # Samples that become too small for float64 leave their packets.
    one_by_one = None
    if options.floatexp:
        from fractals.kernels import perturb

        one_by_one = backend.program(perturb.make_body, backend.number, (options,), loop=True)
    sizes, memory = programs.packet_sizes(programs.row_count(options)), backend.scratch

    def bind(tables, view, max_iterations):
        inputs = Laid(tables, view, max_iterations)
        rest = Laid(tables, view._replace(first_launch=False), max_iterations)

        def iterate(tile, work, grid):
            lists = programs.Scratch(
                memory.empty((sizes[0],), np.float64), memory.empty((sizes[1],), np.int64)
            )
            fill(tile, work, grid, inputs, lists)
            if one_by_one and work.under_way[0, 0]:
                one_by_one(tile, work, grid, rest)

        return iterate

    def run(tile, work, grid, *inputs):
        bind(*inputs)(tile, work, grid)

    return Run(run, "packets", bind=bind)


def _alone(options):
    """Return why samples of a deep view can't share their steps; nothing where they can."""
    if options.per_sample_exponent:
        return "each sample has an exponent of its own"
    if options.floatexp and not options.formula.holomorphic:
        return "a formula without a complex derivative needs exponents at every step"
    return ""


def every_step(_backend, _options):
    """Raise `Uncompilable`, because packets skip steps."""
    raise Uncompilable("statistics of deep views need every step")


def placing(backend, *options):
    """Return the program that places values in a palette, which a tile loop can also take."""
    place = backend.program(PLACE, backend.number, options)
    return Run(place, "plain", program=place, bind=place.bound)


def painting(backend):
    """Return what paints channels as lanes, by a program for each number of samples a pixel.

    A tile loop can also take these programs.
    """
    number, make, memory = backend.number, backend.program, backend.scratch

    @functools.cache
    def fill_for(n):
        return make(PAINT, number, (n if n <= UNROLLED else 0,))

    def bind(lookup, encode, supersampling, share):
        fill, square = fill_for(int(supersampling)), supersampling**2
        table = Laid(programs.padded(lookup), encode, np.int32(supersampling), share)

        def paint(rgb, position):
            room = rgb.shape[1] * square
            rooms = memory.empty((room,), np.int32), memory.empty((room,), np.float32)
            fill(rgb, position, table, *rooms)

        return paint

    def run(rgb, position, *colors):
        bind(*colors)(rgb, position)

    return Run(run, "plain", program=fill_for, bind=bind)


def developing(backend, options):
    """Return the program that develops light."""
    fill = backend.program(DEVELOPING, backend.number, (options,), packed=True)
    memory = backend.scratch

    def run(out, light, sheet):
        fill(out, light, sheet, memory.empty((3 * out.shape[1] + PACK,), light.dtype))

    return Run(run, "packs")

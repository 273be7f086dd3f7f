"""The CPU's own ways to run kernels: the functions that their `on_cpu` names.

Each returns a `Run` of programs that compute whole arrays, with the bits of the plain loop. The
faster ones compute many elements at once; they raise `Uncompilable` with the reason where a plain
loop has to run. Nothing here imports Numba, as a picture whose programs are on the disk does
without it.
"""

import functools

import numpy as np

from fractals.backends.base import Run
from fractals.backends.cpu import programs
from fractals.backends.machine_code import Laid, Uncompilable
from fractals.kernels.layout import EscapeTile
from fractals.threads import halting

# Bodies of whole arrays, in modules that import Numba.
DIRECT = "fractals.backends.cpu.direct:make_body"
PACKETS = "fractals.backends.cpu.perturb_packets:make_body"
DIRECT_ROWS = "fractals.backends.cpu.rows:make_body"
DEEP_ROWS = "fractals.backends.cpu.rows:make_perturb_body"
STATISTICS_ROWS = "fractals.backends.cpu.rows:make_statistics_body"
PLACE = "fractals.backends.cpu.pixels:make_position_body"
PAINT = "fractals.backends.cpu.pixels:make_paint_body"
LAYER = "fractals.backends.cpu.blending:make_layer_body"
MEMBER = "fractals.backends.cpu.blending:make_member_body"
MERGE = "fractals.backends.cpu.blending:make_group_body"
MEAN = "fractals.backends.cpu.blending:make_mean_body"
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
        wave(EscapeTile(*(part.reshape(-1) for part in tile)), *inputs, *lists, halting())

    return Run(run, "packs", program=wave, scratch_sizes=sizes)


def in_packets(backend, options):
    """Return the program of perturbation that moves samples of like steps together."""
    if reason := _alone(options):
        raise Uncompilable(reason)
    fill = backend.program(PACKETS, backend.number, (options,))
    fill.entry(programs.packet_layout())  # compiled now: it may be unsupported
    # Samples that become too small for float64 leave their packets.
    one_by_one = deep_rows(backend, "", options) if options.floatexp else None
    sizes, memory = programs.packet_sizes(programs.row_count(options)), backend.scratch

    def bind(tables, view, max_iterations):
        inputs = Laid(tables, view, max_iterations)
        alone = one_by_one and one_by_one.bound(
            tables, view._replace(first_launch=False), max_iterations
        )

        def iterate(tile, work, grid):
            lists = programs.Scratch(
                memory.empty((sizes[0],), np.float64),
                memory.empty((sizes[1],), np.int64),
                halting(),
            )
            fill(tile, work, grid, inputs, lists)
            if alone and work.under_way[0, 0]:
                alone(tile, work, grid)

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


def by_rows(backend, reason, options):
    """Return the program that iterates one sample after the other, and why no faster one does."""
    fill = backend.program(DIRECT_ROWS, backend.number, (options,))

    def run(tile, grid, point, max_iterations):
        fill(tile, grid, point, max_iterations, halting())

    return Run(run, "plain", reason)


def deep_rows(backend, reason, options):
    """Return the program that iterates one sample after the other by perturbation."""
    return _in_launches(backend, reason, DEEP_ROWS, options)


def statistics_rows(backend, reason, options):
    """Return the program that adds up statistics of one deep sample after the other."""
    return _in_launches(backend, reason, STATISTICS_ROWS, options)


def _in_launches(backend, reason, make_body, options):
    fill = backend.program(make_body, backend.number, (options,))

    def bind(*inputs):
        *first, view, max_iterations = inputs
        view = view._replace(step_budget=programs.PART)
        last = Laid(*first, view, view._replace(first_launch=False), max_iterations)
        return lambda tile, work, grid: fill(tile, work, grid, last, halting())

    def run(tile, work, grid, *inputs):
        bind(*inputs)(tile, work, grid)

    return Run(run, "plain", reason, bind=bind)


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


def layering(backend, mode):
    """Return the program that blends a layer into colors, a row of samples at a time."""
    if mode == "first":
        raise Uncompilable("there is nothing below the lowest layer")
    return _laying(backend, LAYER, mode, 2)


def joining(backend, mode):
    """Return the program that blends a layer into a group, a row of samples at a time."""
    return _laying(backend, MEMBER, mode, 3)


def _laying(backend, body, mode, rows):
    """Return the program of a layer; `rows` is the number of rows of colors in its scratch."""
    fill, memory = backend.program(body, backend.number, (mode,)), backend.scratch

    def bind(lookup, weights):
        table = programs.padded(lookup)

        def blend(colors, position):
            width = colors.shape[1]
            rooms = [memory.empty((width,), kind) for kind in (np.int32, np.float32)]
            rooms += [memory.empty((4 * width,), np.float32) for _ in range(rows)]
            fill(colors.reshape(len(colors), -1), position, table, weights, *rooms)

        return blend

    def run(colors, position, *table):
        bind(*table)(colors, position)

    return Run(run, "plain", bind=bind)


def merging(backend, mode):
    """Return the program that blends a group of layers into colors, a row at a time."""
    fill, memory = backend.program(MERGE, backend.number, (mode,)), backend.scratch

    def run(colors, group, weights):
        rooms = [memory.empty((4 * colors.shape[1],), np.float32) for _ in range(2)]
        fill(colors.reshape(len(colors), -1), group.reshape(-1), weights, *rooms)

    return Run(run, "plain")


def averaging(backend):
    """Return what takes the mean of blended samples, by a program for each number of them."""
    make, number, memory = backend.program, backend.number, backend.scratch

    @functools.cache
    def fill_for(n):
        return make(MEAN, number, (n if n <= UNROLLED else 0,))

    def run(rgb, colors, decode, encode, supersampling, share):
        n = int(supersampling)
        colors = colors.reshape(len(colors), -1)
        linear = memory.empty((colors.shape[1] * n + 1,), np.float32)
        fill_for(n)(rgb, colors, decode, encode, np.int32(n), share, linear)

    return Run(run, "plain")


def developing(backend, options):
    """Return the program that develops light."""
    fill = backend.program(DEVELOPING, backend.number, (options,), packed=True)
    memory = backend.scratch

    def run(out, light, sheet):
        fill(out, light, sheet, memory.empty((3 * out.shape[1] + PACK,), light.dtype))

    return Run(run, "packs")

"""The compiled loop over tiles: threads take tiles from a queue without the interpreter.

Threads that return to Python after each tile wait for its lock, and waking a thread takes longer
than a small tile does. Here the queue is an array, from which compiled code takes the next tile in
one atomic instruction. The programs for a tile are passed to the loop as function pointers, so the
loop is compiled once for all formulas and colorings.
"""

import functools
import platform
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import from_dtype, types

from fractals.backends.cpu import direct, inlined, palette_lookup
from fractals.backends.cpu.simd.pack import INT64, intrinsic
from fractals.backends.cpu.target import REAL, compile_body, is_stored, typed_once
from fractals.backends.numba_private import FunctionArgument, part_of_array
from fractals.kernels.escape import NONE_YET
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.threads import Queue

NEXT, LIMIT, DONE = Queue.NEXT, Queue.LIMIT, Queue.DONE
ITERATE, COLOR, COPY = 0, 1, 2  # the stages of a tile
LEAST, GREATEST, INSIDE, SAMPLES = 3, 4, 5, 6  # in `laps`, behind the stages

# Instructions that read the processor's clock, by architecture ("": LLVM has one). The seconds of
# a stage are its share of the ticks. Without one, Python goes from tile to tile.
CLOCKS = {"x86_64": "", "amd64": "", "aarch64": "mrs $0, cntvct_el0", "arm64": "mrs $0, cntvct_el0"}
CLOCK = CLOCKS.get(platform.machine().lower())


class IterateStage(NamedTuple):
    """A program of `fractals.backends.cpu.direct`, its inputs, and a thread's scratch.

    `grid` is that of the whole picture. The arrays of `part`, for the grid of one tile, and of
    `tile` have one dimension.
    """

    run: Any
    grid: SampleGrid
    part: SampleGrid
    point: Any
    max_iterations: Any
    tile: EscapeTile
    numbers: Any
    places: Any


class PlaceStage(NamedTuple):
    """A program of `palette_lookup.make_position_body`, its inputs, and room for its output."""

    run: Any
    inputs: Any
    position: Any


class PaintStage(NamedTuple):
    """A program of `palette_lookup.make_body`, its inputs, scratch, and room for its output."""

    run: Any
    lookup: Any
    encode: Any
    share: Any
    colors: Any
    places: Any
    parts: Any


def _cell(context, builder, signature, args):
    data = part_of_array(context, builder, signature.args[0], args[0], "data")
    return builder.gep(data, [args[1]])


@intrinsic
def _add(_context, cells, k, value):
    """Add to a cell atomically; return its value before."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        return builder.atomic_rmw("add", cell, args[2], "acq_rel")

    return types.int64(cells, types.int64, types.int64), generate


@intrinsic
def _replace(_context, cells, k, before, after):
    """Set a cell from `before` to `after`, atomically; return whether it was `before`."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        found = builder.cmpxchg(cell, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(cells, types.int64, types.int64, types.int64), generate


@intrinsic
def _ticks(_context):
    """Return the processor's clock."""

    def generate(_context, builder, _signature, _args):
        kind = ir.FunctionType(INT64, [])
        if CLOCK:
            return builder.call(ir.InlineAsm(kind, CLOCK, "=r", side_effect=True), [])
        return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind), [])

    return types.int64(), generate


@inlined.jit
def _take(queue):
    """Return the index of the next tile, or -1 without one."""
    while True:
        k = _add(queue, NEXT, 0)
        if k >= _add(queue, LIMIT, 0):
            return -1
        if _replace(queue, NEXT, k, k + 1):
            return k


@inlined.jit
def _lap(laps, stage, begun):
    now = _ticks()
    laps[stage] += now - begun
    return now


@inlined.jit
def _copy_part(part, positions, start):
    for k in range(part.shape[0]):
        for i in range(part.shape[1]):
            part[k, i] = positions[k, start + i]


@inlined.jit
def _tally(laps, counts, max_iterations):
    least, greatest, inside = laps[LEAST], laps[GREATEST], 0
    for j in range(len(counts)):
        line = counts[j]
        for i in range(len(line)):
            n = line[i]
            escaped = n < max_iterations
            least = min(least, n if escaped else least)
            greatest = max(greatest, n if escaped else greatest)
            inside += 0 if escaped else 1
    laps[LEAST], laps[GREATEST] = least, greatest
    laps[INSIDE] += inside
    laps[SAMPLES] += counts.size


@inlined.jit
def _iterated(window, n, stage):
    """Return the escape data of a tile with `n` x `n` samples a pixel."""
    left, top, width, height = window[0] * n, window[1] * n, window[2] * n, window[3] * n
    count, x, y, dx, dy, statistics = stage.tile
    size = height * width
    planes = len(statistics) // len(count)
    statistics = statistics[: max(1, planes * size)]
    columns, rows = stage.grid
    across = stage.part.columns[: 2 * width].reshape((2, width))
    down = stage.part.rows[: 2 * height].reshape((2, height))
    _copy_part(across, columns, left)
    _copy_part(down, rows, top)
    tile = EscapeTile(count[:size], x[:size], y[:size], dx[:size], dy[:size], statistics)
    grid = SampleGrid(across, down)
    stage.run(tile, grid, stage.point, stage.max_iterations, stage.numbers, stage.places)
    shape = height, width
    slope = shape if len(tile.dx) == size else (1, 1)  # an array of one element stands for none
    return EscapeTile(
        tile.count.reshape(shape),
        tile.x.reshape(shape),
        tile.y.reshape(shape),
        tile.dx.reshape(slope),
        tile.dy.reshape(slope),
        statistics.reshape((planes, *shape) if planes else (1, 1, 1)),
    )


def draw(
    queue, laps, tiles, samples_per_side, iterating, placing, painting, picture, band, pixels_left
):
    """Draw tiles until none is left or a band is whole.

    Parameters
    ----------
    queue : array of int64
        Cells of a `fractals.threads.Queue`.
    laps : array of int64, shape (7,)
        The ticks of the stages are added to it, then the counts of the tiles (see LEAST).
    tiles : array of int64, shape (tiles, 4)
        x, y, width and height of each tile, in pixels.
    samples_per_side : int32
        Samples a pixel, a side.
    iterating, placing, painting : IterateStage, PlaceStage, PaintStage
    picture : array of the channels' type, shape (rows, 3 * width)
        Row r of the picture goes to row r % len(picture).
    band : int64
        Rows of a band.
    pixels_left : array of int64
        For each band, how many of its pixels are still to be drawn.
    """
    n = samples_per_side
    whole = False
    while not whole:
        k = _take(queue)
        if k < 0:
            return
        begun = _ticks()
        left, top, width, height = tiles[k, 0], tiles[k, 1], tiles[k, 2], tiles[k, 3]
        tile = _iterated(tiles[k], n, iterating)
        _tally(laps, tile.count, iterating.max_iterations)
        begun = _lap(laps, ITERATE, begun)
        samples = placing.position[: tile.count.size].reshape(tile.count.shape)
        placing.run(samples, tile, placing.inputs)
        colors = painting.colors
        rgb = colors[: 3 * height * width].reshape((height, width, 3))
        painting.run(
            rgb,
            samples,
            painting.lookup,
            painting.encode,
            n,
            painting.share,
            painting.places,
            painting.parts,
        )
        begun = _lap(laps, COLOR, begun)
        for j in range(height):
            line = colors[3 * width * j : 3 * width * (j + 1)]
            into = picture[(top + j) % len(picture), 3 * left : 3 * (left + width)]
            for i in range(len(line)):
                into[i] = line[i]
        _lap(laps, COPY, begun)
        while height > 0:
            part = min(height, band - top % band)
            if _add(pixels_left, top // band, -part * width) == part * width:
                whole = True
            top, height = top + part, height - part
        _add(queue, DONE, 1)


def keep(queue, laps, tiles, samples_per_side, iterating, counts, z, dz):
    """Iterate tiles until none is left, and keep the picture's escape data.

    Parameters
    ----------
    queue, laps, tiles, samples_per_side, iterating
        The arguments of `draw`.
    counts : array of int32, shape (height, width)
    z, dz : array of real, shape (height, width, 2)
        Of shape (0, 0, 2) where they are not kept.
    """
    n = samples_per_side
    width, flat = counts.shape[1], counts.reshape(-1)
    strips = tiles[0, 2] * n == width  # a tile's counts are contiguous: iterated in place
    room = iterating.tile
    while True:
        k = _take(queue)
        if k < 0:
            return
        begun = _ticks()
        left, top = tiles[k, 0] * n, tiles[k, 1] * n
        count = flat[top * width :] if strips else room.count
        arrays = EscapeTile(count, room.x, room.y, room.dx, room.dy, room.statistics)
        stage = IterateStage(
            iterating.run,
            iterating.grid,
            iterating.part,
            iterating.point,
            iterating.max_iterations,
            arrays,
            iterating.numbers,
            iterating.places,
        )
        tile = _iterated(tiles[k], n, stage)
        begun = _lap(laps, ITERATE, begun)
        for j in range(len(tile.count)):
            if not strips:
                line = tile.count[j]
                into = counts[top + j, left : left + len(line)]
                for i in range(len(line)):
                    into[i] = line[i]
            _pair(z, top + j, left, tile.x, tile.y, j)
            _pair(dz, top + j, left, tile.dx, tile.dy, j)
        _lap(laps, COPY, begun)
        _add(queue, DONE, 1)


@inlined.jit
def _pair(pairs, row, left, x, y, j):
    if len(pairs):
        xs, ys = x[j], y[j]
        into = pairs[row, left : left + len(xs)]
        for i in range(len(xs)):
            into[i, 0], into[i, 1] = xs[i], ys[i]


@functools.cache
def signature(real, color=None):
    """Return the types of the arguments of `draw` or `keep`.

    Parameters
    ----------
    real : numba.types.Float
        The number type that is iterated.
    color : numba.types.Integer, optional
        The type of a pixel's channels, for `draw`.
    """
    whole, large = types.int32, types.int64
    iterate = tile, grid, point, limit, *scratch = direct.signature(real)
    part = types.BaseTuple.from_types((real[::1], real[::1]), SampleGrid)
    stage = _function(iterate), grid, part, point, limit, tile, *scratch
    start = (
        large[::1],
        large[::1],
        large[:, ::1],
        whole,
        types.BaseTuple.from_types(stage, IterateStage),
    )
    if color is None:
        return *start, whole[:, ::1], real[:, :, ::1], real[:, :, ::1]
    short = types.float32[::1]
    position = palette_lookup.position_signature(real)
    place = _function(position), position[-1], short
    paint = _function(palette_lookup.signature(color)), short, color[::1], types.float32
    paint = *paint, color[::1], whole[::1], short
    stages = (
        types.BaseTuple.from_types(place, PlaceStage),
        types.BaseTuple.from_types(paint, PaintStage),
    )
    return *start, *stages, color[:, ::1], large, large[::1]


def _function(arguments):
    return types.FunctionType(types.void(*arguments))


wanted = set()  # what `compiled` was asked for in this process


def compiled(number, color=None):
    """Return `draw`, or without a color `keep`, compiled for a number type.

    None for the first picture of a process where the loop is not stored: it takes a second to
    compile, and saves a few milliseconds a picture.
    """
    body = keep if color is None else draw
    first = (number, color) not in wanted
    wanted.add((number, color))
    if first and not is_stored(body, number, (str(color),)):
        return None
    return _compiled(body, number, color)


@functools.cache
def _compiled(body, number, color):
    made = compile_body(lambda: body, body, number, (str(color),))
    made.compile(signature(REAL[number], color))
    made.disable_compile()  # one version takes every program: function pointers have one type
    return made


def compile_tile_loop(backend, number, work, dtype=None):
    """Return what `fractals.backends.base.Backend.compile_tile_loop` describes, on the CPU."""
    runs = (work.iterate, work.place, work.paint) if dtype else (work.iterate,)
    programs = [getattr(run, "program", None) for run in runs]
    if None in programs or CLOCK is None:
        return None
    tiles, n, real = work.tiles, work.n, backend.real
    columns = int(tiles[:, 2].max()) * n
    samples = int((tiles[:, 2] * tiles[:, 3]).max()) * n**2
    slope = samples if work.derivative else 1
    start = tiles, np.int32(n)
    rooms = [(samples, np.int32), (samples, real), (samples, real), (slope, real), (slope, real)]
    rooms += [(max(1, work.planes * samples), real)]
    parts = [(2 * columns, real), (2 * int(tiles[:, 3].max()) * n, real)]
    numbers, places = work.iterate.scratch_sizes(columns)
    scratch = [(numbers, real), (places, f"int{8 * np.dtype(real).itemsize}")]

    def made(rooms):
        return [backend.empty((size,), kind) for size, kind in rooms]

    def iterating():
        grid, *rest = work.grid
        part = SampleGrid(*made(parts))
        return IterateStage(
            programs[0], grid, part, *rest, EscapeTile(*made(rooms)), *made(scratch)
        )

    if not dtype:
        keep_tiles = compiled(number)
        if keep_tiles is None:
            return None

        def keeping():
            laps = np.zeros(7, np.int64)
            inputs = *start, iterating()
            keep_here = typed_once(keep_tiles, signature(REAL[number]))

            def run(cells, *planes):
                laps[:] = 0
                keep_here(cells, laps, *inputs, *planes)
                return laps

            return run

        return keeping

    color = from_dtype(dtype)
    _, place, fill = programs
    paint = FunctionArgument.of(fill, palette_lookup.signature(color))
    draw_tiles = compiled(number, color)
    if draw_tiles is None:
        return None
    lookup, encode, share = work.colors
    table = palette_lookup.padded(lookup), encode, share
    more = [(3 * samples // n**2, dtype), (columns * n, np.int32), (columns * n, np.float32)]

    def drawing():
        laps, position = np.zeros(7, np.int64), backend.empty((samples,), np.float32)
        stages = PlaceStage(place, *work.coloring, position), PaintStage(paint, *table, *made(more))
        inputs = *start, iterating(), *stages
        draw_here = typed_once(draw_tiles, signature(REAL[number], color))

        def run(cells, picture, band, pixels_left):
            laps[:] = 0, 0, 0, NONE_YET, -1, 0, 0
            lines = picture.reshape(len(picture), -1)
            draw_here(cells, laps, *inputs, lines, band, pixels_left)
            return laps

        return run

    return drawing

"""The compiled loop over tiles: see `fractals.backends.cpu.tile_loop`, which calls it."""

from llvmlite import ir
from numba import types

from fractals.backends.cpu import entry
from fractals.backends.cpu.entry import invoke, shaped
from fractals.backends.cpu.simd.memory import add_to_cell, replace_in_cell
from fractals.backends.cpu.simd.pack import INT64, intrinsic
from fractals.backends.cpu.tile_loop import (
    CLOCK,
    COLOR,
    COPY,
    DONE,
    GREATEST,
    INSIDE,
    ITERATE,
    LEAST,
    LIMIT,
    NEXT,
    SAMPLES,
    WRONG,
    IterateStage,
)
from fractals.kernels.layout import EscapeTile, SampleGrid


@intrinsic
def _ticks(_context):
    """Return the processor's clock."""

    def generate(_context, builder, _signature, _args):
        kind = ir.FunctionType(INT64, [])
        if CLOCK:
            return builder.call(ir.InlineAsm(kind, CLOCK, "=r", side_effect=True), [])
        return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind), [])

    return types.int64(), generate


@entry.jit
def _take(queue):
    """Return the index of the next tile, or -1 without one."""
    while True:
        k = add_to_cell(queue, NEXT, 0)
        if k >= add_to_cell(queue, LIMIT, 0):
            return -1
        if replace_in_cell(queue, NEXT, k, k + 1):
            return k


@entry.jit
def _lap(laps, stage, begun):
    now = _ticks()
    laps[stage] += now - begun
    return now


@entry.jit
def _copy_part(part, positions, start):
    for k in range(part.shape[0]):
        for i in range(part.shape[1]):
            part[k, i] = positions[k, start + i]


@entry.jit
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


@entry.jit
def _iterated(window, n, stage, queue):
    """Return the escape data of a tile with `n` x `n` samples a pixel."""
    left, top, width, height = window[0] * n, window[1] * n, window[2] * n, window[3] * n
    count, x, y, dx, dy, statistics = stage.tile
    size = height * width
    planes = len(statistics) // len(count)
    statistics = statistics[: max(1, planes * size)]
    columns, rows = stage.grid
    across = shaped(stage.part.columns, (2, width))
    down = shaped(stage.part.rows, (2, height))
    _copy_part(across, columns, left)
    _copy_part(down, rows, top)
    tile = EscapeTile(count[:size], x[:size], y[:size], dx[:size], dy[:size], statistics)
    grid = SampleGrid(across, down)
    inputs = tile, grid, stage.point, stage.max_iterations, stage.numbers, stage.places, queue
    invoke(stage.run, inputs)
    shape = height, width
    slope = shape if len(tile.dx) == size else (1, 1)  # an array of one element stands for none
    return EscapeTile(
        shaped(tile.count, shape),
        shaped(tile.x, shape),
        shaped(tile.y, shape),
        shaped(tile.dx, slope),
        shaped(tile.dy, slope),
        shaped(statistics, (planes, *shape) if planes else (1, 1, 1)),
    )


@entry.jit
def _read(window, n, stage, _queue):
    """Return what is kept of a tile with `n` x `n` samples a pixel; no rows if counts are wrong."""
    left, top, width, height = window[0] * n, window[1] * n, window[2] * n, window[3] * n
    shape, derivative = (height, width), len(stage.dz) > 0
    slope = shape if derivative else (1, 1)  # an array of one element stands for none
    count = shaped(stage.tile.count, shape)
    x, y = shaped(stage.tile.x, shape), shaped(stage.tile.y, shape)
    dx, dy = shaped(stage.tile.dx, slope), shaped(stage.tile.dy, slope)
    least, most = 0, 0
    for j in range(height):
        line, into = stage.counts[top + j, left : left + width], count[j]
        for i in range(width):
            into[i] = line[i]
            least, most = min(least, line[i]), max(most, line[i])
        _parts(stage.z, top + j, left, x[j], y[j])
        if derivative:
            _parts(stage.dz, top + j, left, dx[j], dy[j])
    if least < 0 or most > stage.max_iterations:
        count = shaped(stage.tile.count, (0, width))
    return EscapeTile(count, x, y, dx, dy, shaped(stage.tile.statistics, (1, 1, 1)))


@entry.jit
def _parts(pairs, row, left, x, y):
    line = pairs[row, left : left + len(x)]
    for i in range(len(x)):
        x[i], y[i] = line[i, 0], line[i, 1]


def make_draw(_target, reads):
    """Return `draw` for tiles that are read from arrays where `reads`, and else iterated."""
    tile_of, stage = (_read, COPY) if reads else (_iterated, ITERATE)

    def draw(
        queue, laps, tiles, samples_per_side, source, placing, painting, picture, band, pixels_left
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
        source : IterateStage or ReadStage
        placing, painting : PlaceStage, PaintStage
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
            tile = tile_of(tiles[k], n, source, queue)
            if len(tile.count) == 0:
                laps[SAMPLES] = WRONG
                return
            _tally(laps, tile.count, source.max_iterations)
            begun = _lap(laps, stage, begun)
            samples = shaped(placing.position, tile.count.shape)
            invoke(placing.run, (samples, tile, placing.inputs))
            colors = painting.colors
            rgb = shaped(colors, (height, width, 3))
            table = painting.lookup, painting.encode, n, painting.share
            invoke(painting.run, (rgb, samples, *table, painting.places, painting.parts))
            begun = _lap(laps, COLOR, begun)
            for j in range(height):
                line = colors[3 * width * j : 3 * width * (j + 1)]
                into = picture[(top + j) % len(picture), 3 * left : 3 * (left + width)]
                for i in range(len(line)):
                    into[i] = line[i]
            _lap(laps, COPY, begun)
            while height > 0:
                part = min(height, band - top % band)
                if add_to_cell(pixels_left, top // band, -part * width) == part * width:
                    whole = True
                top, height = top + part, height - part
            add_to_cell(queue, DONE, 1)

    return draw


def keep(queue, laps, tiles, samples_per_side, iterating, counts, z, dz):
    """Iterate tiles until none is left, and keep the picture's escape data.

    Parameters
    ----------
    queue, laps, tiles, samples_per_side, iterating
        As of `draw`.
    counts : array of int32, shape (height, width)
    z, dz : array of real, shape (height, width, 2)
        Of shape (0, 0, 2) where they are not kept.
    """
    n = samples_per_side
    width, flat = counts.shape[1], shaped(counts, (counts.size,))
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
        tile = _iterated(tiles[k], n, stage, queue)
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
        add_to_cell(queue, DONE, 1)


@entry.jit
def _pair(pairs, row, left, x, y, j):
    if len(pairs):
        xs, ys = x[j], y[j]
        into = pairs[row, left : left + len(xs)]
        for i in range(len(xs)):
            into[i, 0], into[i, 1] = xs[i], ys[i]


def make_keep(_target):
    """Return `keep`."""
    return keep

"""Tiles taken from a queue by compiled code: a thread draws many without the interpreter between.

Threads that go back to Python after each tile wait there for each other, for its lock, and being
woken takes them longer than a small tile does. Here the queue is an array, from which compiled code
of all threads takes the next tile in one instruction, and the programs for a tile are functions
that are passed to it, so that it is compiled once for all formulas and colorings.
"""

import functools
import platform

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import register_jitable

from fractals.backends.cpu import direct, palette_lookup
from fractals.backends.cpu.simd.pack import INT64, intrinsic
from fractals.backends.cpu.target import REAL, compile_body
from fractals.backends.numba_private import FunctionArgument, array_struct
from fractals.threads import Queue

NEXT, LIMIT, DONE = Queue.NEXT, Queue.LIMIT, Queue.DONE
ITERATE, COLOR, COPY = 0, 1, 2  # the stages of a tile

# A processor's clock, read without a call: the seconds of a stage are its share of the ticks.
CLOCKS = {"x86_64": "", "amd64": "", "aarch64": "mrs $0, cntvct_el0", "arm64": "mrs $0, cntvct_el0"}
CLOCK = CLOCKS.get(platform.machine().lower())


def _cell(context, builder, signature, args):
    array = array_struct(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def _add(_context, cells, k, value):
    """Add to a cell as one step that no other thread comes between; return what was there."""

    def generate(context, builder, signature, args):
        cell = _cell(context, builder, signature, args)
        return builder.atomic_rmw("add", cell, args[2], "acq_rel")

    return types.int64(cells, types.int64, types.int64), generate


@intrinsic
def _replace(_context, cells, k, before, after):
    """Set a cell to `after` if it is `before`, as one step; return whether it was."""

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


@register_jitable
def _take(queue):
    """Return the next tile, or -1 where there is none."""
    while True:
        k = _add(queue, NEXT, 0)
        if k >= _add(queue, LIMIT, 0):
            return -1
        if _replace(queue, NEXT, k, k + 1):
            return k


@register_jitable
def _lap(laps, stage, begun):
    now = _ticks()
    laps[stage] += now - begun
    return now


@register_jitable
def _iterated(tile, n, iterate, columns, rows, point, limit, raw, numbers, places):
    """Iterate a tile; return its raw numbers as planes, what is watched apart."""
    left, top, width, height = tile[0] * n, tile[1] * n, tile[2] * n, tile[3] * n
    count, x, y, p, q, watched = raw
    size = height * width
    planes = len(watched) // len(count)
    seen = watched[: max(1, planes * size)]
    across = columns[:, left : left + width].copy()
    down = rows[:, top : top + height].copy()
    count, x, y, p, q = count[:size], x[:size], y[:size], p[:size], q[:size]
    iterate(count, x, y, p, q, seen, across, down, point, limit, numbers, places)
    shape = height, width
    slope = shape if len(p) == size else (1, 1)  # an array of one element stands for none
    raw = count.reshape(shape), x.reshape(shape), y.reshape(shape), p.reshape(slope)
    return (*raw, q.reshape(slope)), seen.reshape((planes, *shape) if planes else (1, 1, 1))


def draw(
    queue,
    laps,
    tiles,
    n,
    iterate,
    columns,
    rows,
    point,
    limit,
    count,
    x,
    y,
    p,
    q,
    watched,
    numbers,
    places,
    place,
    first,
    constants,
    inside,
    base,
    least,
    most_value,
    position,
    paint_,
    lookup,
    encode,
    share,
    colors,
    begins,
    parts,
    picture,
    band,
    pixels_left,
):
    """Draw tiles (x, y, width, height) of `n` x `n` samples until none is left or a band is whole.

    Row r of the picture goes to row r % len(picture) of `picture` (rows, 3 * width). A *band* is so
    many rows, and `pixels_left` says of each how many of its pixels are still to be drawn. `laps`
    are the ticks of the stages. The rest are the programs `iterate`, `place` and `paint_`, their
    inputs, and room for a tile's numbers.
    """
    raw = count, x, y, p, q, watched
    whole = False
    while not whole:
        k = _take(queue)
        if k < 0:
            return
        begun = _ticks()
        left, top, width, height = tiles[k, 0], tiles[k, 1], tiles[k, 2], tiles[k, 3]
        planes, seen = _iterated(
            tiles[k], n, iterate, columns, rows, point, limit, raw, numbers, places
        )
        begun = _lap(laps, ITERATE, begun)
        samples = position[: planes[0].size].reshape(planes[0].shape)
        place(samples, *planes, seen, first, constants, inside, base, least, most_value)
        rgb = colors[: 3 * height * width].reshape((height, width, 3))
        paint_(rgb, samples, lookup, encode, n, share, begins, parts)
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


def keep(
    queue,
    laps,
    tiles,
    n,
    iterate,
    columns,
    rows,
    point,
    limit,
    count,
    x,
    y,
    p,
    q,
    watched,
    numbers,
    places,
    counts,
    z,
    dz,
):
    """Iterate tiles until none is left, and keep raw numbers of the whole picture.

    They are `counts` (height, width), `z` and `dz` (height, width, 2), of which the last two may be
    empty. The other arguments are those of `draw`.
    """
    width, flat = counts.shape[1], counts.reshape(-1)
    strips = tiles[0, 2] * n == width  # a tile's counts lie in one piece: they are written there
    while True:
        k = _take(queue)
        if k < 0:
            return
        begun = _ticks()
        left, top = tiles[k, 0] * n, tiles[k, 1] * n
        raw = flat[top * width :] if strips else count, x, y, p, q, watched
        planes, _ = _iterated(
            tiles[k], n, iterate, columns, rows, point, limit, raw, numbers, places
        )
        begun = _lap(laps, ITERATE, begun)
        for j in range(len(planes[0])):
            if not strips:
                line = planes[0][j]
                into = counts[top + j, left : left + len(line)]
                for i in range(len(line)):
                    into[i] = line[i]
            _pair(z, top + j, left, planes[1], planes[2], j)
            _pair(dz, top + j, left, planes[3], planes[4], j)
        _lap(laps, COPY, begun)
        _add(queue, DONE, 1)


@register_jitable
def _pair(pairs, row, left, x, y, j):
    if len(pairs):
        xs, ys = x[j], y[j]
        into = pairs[row, left : left + len(xs)]
        for i in range(len(xs)):
            into[i, 0], into[i, 1] = xs[i], ys[i]


def signature(real, color=None):
    """Return the types of the arguments of `draw`, for channels of the type `color`; or of `keep`.

    `real` is a Numba number type.
    """
    line, plane, whole, large = real[::1], real[:, ::1], types.int32, types.int64
    iterate = direct.signature(real)
    raw = whole[::1], line, line, line, line, line
    scratch = line, iterate[-1]
    start = large[::1], large[::1], large[:, ::1], whole
    start = *start, _function(iterate), plane, plane, line, whole, *raw, *scratch
    if color is None:
        return *start, whole[:, ::1], real[:, :, ::1], real[:, :, ::1]
    short = types.float32[::1]
    place = (
        _function(palette_lookup.position_signature(real)),
        whole,
        line,
        whole,
        whole,
        real,
        real,
    )
    painting = short, _function(palette_lookup.signature(color)), short, color[::1], types.float32
    room = color[::1], whole[::1], short
    return *start, *place, *painting, *room, color[:, ::1], large, large[::1]


def _function(arguments):
    return types.FunctionType(types.void(*arguments))


@functools.cache
def compiled(number, color=None):
    """Return `draw`, for channels of the type `color`, or `keep`, compiled for a number type."""
    body = keep if color is None else draw
    made = compile_body(lambda: body, body, number, (str(color),))
    made.compile(signature(REAL[number], color))
    made.disable_compile()  # programs are passed as any of their type, not as themselves
    return made


def join(backend, number, work, dtype=None):
    """Return what `fractals.backends.devices.base.Backend.join` says, on the CPU."""
    runs = (work.iterate, work.place, work.paint) if dtype else (work.iterate,)
    programs = [getattr(run, "program", None) for run in runs]
    if None in programs or CLOCK is None:
        return None
    tiles, n, real = work.tiles, work.n, backend.real
    columns = int(tiles[:, 2].max()) * n
    samples = int((tiles[:, 2] * tiles[:, 3]).max()) * n**2
    slope = samples if work.derivative else 1
    start = tiles, np.int32(n), programs[0], *work.grid
    rooms = [(samples, np.int32), (samples, real), (samples, real), (slope, real), (slope, real)]
    rooms += [(max(1, work.planes * samples), real)]
    numbers, places = direct.scratch_sizes(columns, work.planes)
    rooms += [(numbers, real), (places, f"int{8 * np.dtype(real).itemsize}")]

    def made(rooms):
        return [backend.empty((size,), kind) for size, kind in rooms]

    if not dtype:
        keep_tiles = compiled(number)

        def keeping():
            laps = np.zeros(3, np.int64)
            inputs = *start, *made(rooms)

            def run(cells, *planes):
                laps[:] = 0
                keep_tiles(cells, laps, *inputs, *planes)
                return laps

            return run

        return keeping

    color = from_dtype(dtype)
    _, place, fill = programs
    paint_ = FunctionArgument(fill, palette_lookup.signature(color))
    draw_tiles = compiled(number, color)
    lookup, encode, share = work.colors
    table = palette_lookup.padded(lookup), encode, share
    more = [(3 * samples // n**2, dtype), (columns * n, np.int32), (columns * n, np.float32)]

    def drawing():
        laps, position = np.zeros(3, np.int64), backend.empty((samples,), np.float32)
        inputs = *start, *made(rooms), place, *work.coloring, position, paint_, *table, *made(more)

        def run(cells, picture, band, pixels_left):
            laps[:] = 0
            lines = picture.reshape(len(picture), -1)
            draw_tiles(cells, laps, *inputs, lines, band, pixels_left)
            return laps

        return run

    return drawing

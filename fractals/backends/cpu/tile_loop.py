"""The compiled loop over tiles: threads take tiles from a queue without the interpreter.

Threads that return to Python after each tile wait for its lock, and waking a thread takes longer
than a small tile does. Here the queue is an array, from which compiled code takes the next tile in
one atomic instruction. The programs for a tile are passed to the loop as addresses, so the
loop is compiled once for all formulas and colorings.
"""

import itertools
import platform
from typing import Any, NamedTuple

import numpy as np

from fractals.backends.base import LINE
from fractals.backends.cpu.programs import (
    color_layout,
    direct_layout,
    index_type,
    is_stored,
    padded,
    position_layout,
    program_of,
)
from fractals.kernels.escape import NONE_YET
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.threads import Queue

NEXT, LIMIT, DONE = Queue.NEXT, Queue.LIMIT, Queue.DONE
ITERATE, COLOR, COPY = 0, 1, 2  # the stages of a tile
LEAST, GREATEST, INSIDE, SAMPLES = 3, 4, 5, 6  # in `laps`, behind the stages
WRONG = -1  # samples of a loop that has read a count beyond the limit, and ended

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


class ReadStage(NamedTuple):
    """Arrays of the whole picture, in place of a program, and memory for a tile of them.

    Complex numbers are pairs, in a third dimension; dz may be without elements. The arrays of
    `tile` have one dimension.
    """

    counts: Any
    z: Any
    dz: Any
    max_iterations: Any
    tile: EscapeTile


class PlaceStage(NamedTuple):
    """A program of `pixels.make_position_body`, its inputs, and room for its output."""

    run: Any
    inputs: Any
    position: Any


class PaintStage(NamedTuple):
    """A program of `pixels.make_paint_body`, its inputs, scratch, and room for its output."""

    run: Any
    lookup: Any
    encode: Any
    share: Any
    colors: Any
    places: Any
    parts: Any


wanted = set()  # what `compiled` was asked for in this process


def compiled(number, color=None, reads=False):
    """Return the loop that draws, or without a type of channels the one that keeps raw numbers.

    `reads`: it reads the tiles that it draws from arrays. None for the first picture of a process
    where the loop is not stored: it takes a second to compile, and saves a few milliseconds a
    picture.
    """
    body = f"fractals.backends.cpu.tile_code:make_{'draw' if color else 'keep'}"
    options = (reads,) if color else ()
    first = (number, color, reads) not in wanted
    wanted.add((number, color, reads))
    if first and not is_stored(body, number, options):
        return None
    return program_of(body, number, options)


def compile_tile_loop(backend, work, dtype=None):
    """Return what `fractals.backends.base.Backend.compile_tile_loop` describes, on the CPU."""
    runs = [run for run in (work.iterate, work.place, work.paint) if run]
    programs = [getattr(run, "program", None) for run in runs]
    if None in programs or CLOCK is None:
        return None
    loop = compiled(backend.number, dtype, not work.iterate)
    if loop is None:
        return None
    return _prepare(backend, loop, programs, work, dtype)


def _prepare(backend, loop, programs, work, dtype):
    """Return what `compile_tile_loop` does, given the loop and the programs that it calls."""
    tiles, n, real = work.tiles, work.n, backend.real
    columns = int(tiles[:, 2].max()) * n
    samples = int((tiles[:, 2] * tiles[:, 3]).max()) * n**2
    slope = samples if work.derivative else 1
    rooms = [(samples, np.int32), (samples, real), (samples, real), (slope, real), (slope, real)]
    rooms += [(max(1, work.planes * samples), real)]

    def start():
        return tiles, np.int32(n), source()

    if work.iterate:
        parts = [(2 * columns, real), (2 * int(tiles[:, 3].max()) * n, real)]
        numbers, places = work.iterate.scratch_sizes(columns)
        lists = [(numbers, real), (places, index_type(real))]
        iterate = programs[0].entry(direct_layout(real))

        def source():
            grid, *rest = work.inputs
            across, down, *made = _arrays(backend, parts + rooms + lists)
            tile = EscapeTile(*made[:-2])
            return IterateStage(iterate, grid, SampleGrid(across, down), *rest, tile, *made[-2:])

    else:

        def source():
            return ReadStage(*work.inputs, EscapeTile(*_arrays(backend, rooms)))

    if not dtype:

        def keeping():
            laps, inputs = np.zeros(7, np.int64), start()

            def run(cells, *planes):
                laps[:] = 0
                loop(cells, laps, *inputs, *planes)
                return laps

            return run

        return keeping

    place = programs[-2].entry(position_layout(real))
    paint = programs[-1](n).entry(color_layout(dtype))
    lookup, encode, share = work.colors
    table = padded(lookup), encode, share
    colors = [(samples, np.float32), (3 * samples // n**2, dtype)]
    colors += [(columns * n, np.int32), (columns * n, np.float32)]

    def drawing():
        laps, (position, *more) = np.zeros(7, np.int64), _arrays(backend, colors)
        stages = PlaceStage(place, *work.coloring, position), PaintStage(paint, *table, *more)
        inputs = *start(), *stages

        def run(cells, picture, band, pixels_left):
            laps[:] = 0, 0, 0, NONE_YET, -1, 0, 0
            lines = picture.reshape(len(picture), -1)
            loop(cells, laps, *inputs, lines, band, pixels_left)
            return laps

        return run

    return drawing


def _arrays(backend, rooms):
    """Return arrays of given sizes and types in one block of memory, each from a cache line on."""
    lines = (-(-size * np.dtype(kind).itemsize // LINE) for size, kind in rooms)
    *places, end = (LINE * line for line in itertools.accumulate(lines, initial=0))
    block = backend.empty((end,), np.uint8)
    return [
        np.ndarray(size, kind, block, at) for (size, kind), at in zip(rooms, places, strict=True)
    ]

"""The frames of a zoom from a strip: the exponential map about the point that stands still.

A pixel keeps its angle, its size and its distance from the fixed point in all frames: a frame is
the strip, shifted. Levels of halved resolution (a mip pyramid) serve the pixels near the point.
"""

import contextlib
import functools
import math
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_backend, open_chosen
from fractals.color import spaces
from fractals.films.bands import (
    MARGIN,
    BandMaker,
    Layout,
    Texels,
    fixed_place,
    make_layout,
    widest,
)
from fractals.films.facts import Facts
from fractals.films.motion import Moment, Part
from fractals.kernels import strip as kernels
from fractals.kernels.strip import StripShape, StripTexels
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene
from fractals.threads import run_tiles

CHANNELS = 3
HOST = ("cpu", "python")  # backends whose arrays are NumPy's
ROWS = 64  # of a frame or a band, that a thread fills at a time
PART = 64  # rows of a band that are drawn at a time: a power of two
# Bits after the point of a frame's row and turn: so that a film and its reverse, whose views differ
# by roundings, have the same frames.
ROW_BITS, TURN_BITS = 16, 24
WHOLE = 2**28  # bytes of all texels, below which a strip is held as a whole
MAX_SPANS = 200  # segments of which the forecast of memory knows the octaves
MAX_SPEEDS = 2000  # frames whose speeds are computed for the shutter

Frame = NDArray[np.uint16]


@dataclass(frozen=True)
class Look:
    """How a part is sampled.

    Attributes
    ----------
    density : float
        Texels a pixel, along each side, at the rim of a frame; at most 1/16 fewer.
    shutter : float
        Share of a frame's time in which the shutter is open. It opens when the frame is widest.
    """

    density: float = 1.5
    shutter: float = 0.5


class Strip:
    """Frames of one part of a film.

    Parameters
    ----------
    scene : Scene
        Of the film: formula, colors, stretch and mirror.
    part : Part
        A zoom.
    size : tuple of int
        Width and height of a frame.
    look : Look
    facts : Facts
        Of the whole film.
    options : RenderOptions
    segment : int
        Most frames that `frames` is asked for at a time: the memory grows with them.
    folder : Path, optional
        Keeps bands, for a process that goes on after this one.
    """

    def __init__(
        self,
        scene: Scene,
        part: Part,
        size: tuple[int, int],
        look: Look,
        facts: Facts,
        options: RenderOptions = RenderOptions(),  # noqa: B008 - frozen
        segment: int = 120,
        folder: Path | None = None,
    ) -> None:
        image = scene.image.model_copy(update={"size": size})
        self.scene = scene.model_copy(update={"image": image, "film": None})
        self.part, self.size, self.look, self.facts = part, size, look, facts
        self.options, self.segment, self.folder = options, segment, folder
        self.fixed = fixed_place(self.scene, part, size)
        first, last = part.frames[0], part.frames[-1]
        depth = max(part.moment(first).octaves, part.moment(last).octaves)
        self.layout = make_layout(self.fixed, look.density, depth)
        self._gather: _Gather | None = None

    @property
    def samples(self) -> int:
        """Return how many samples are iterated for all frames."""
        return self.layout.samples

    @property
    def memory(self) -> int:
        """Return the most bytes that are held at a time: texels, a band, tables, a frame."""
        whole = self.layout.columns * self.layout.rows
        texels = sum(count * (whole >> 2 * level) for level, count in enumerate(self.slots()))
        pixels = self.size[0] * self.size[1]
        part = 3 * min(PART, self.layout.rows) * self.layout.columns
        return 2 * CHANNELS * (texels + part) + 14 * pixels

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames, in the order of their numbers.

        Ranges that are asked for from the deepest to the widest need each band once. In the other
        order large strips need each band twice.
        """
        self.prepare()
        gather = self._gather
        assert gather
        for first in range(0, len(numbers), self.segment):
            some = numbers[first : first + self.segment]
            moments = [self.part.moment(number) for number in some]
            octaves = [moment.octaves for moment in moments]
            gather.hold(min(octaves), max(octaves))
            for moment in moments:
                yield gather.frame(moment)

    def prepare(self) -> None:
        """Compile the programs."""
        self._gather = self._gather or _Gather(self)

    def make(self, band: int) -> None:
        """Make all levels of a band, and hold them until frames are asked for: for measurements."""
        self.prepare()
        assert self._gather
        octave = max(0.0, (band * self.layout.rows - MARGIN) / self.layout.octave)
        self._gather.pool.clear()
        self._gather.fill(band, octave, octave)

    @functools.cached_property
    def whole(self) -> bool:
        """Tell whether the strip is so small that all of it is held, for frames in any order."""
        texels = self.layout.columns * self.layout.rows
        counts = enumerate(self._all_slots())
        return 2 * CHANNELS * sum(count * (texels >> 2 * level) for level, count in counts) < WHOLE

    def _all_slots(self) -> list[int]:
        finest = [self.layout.finest(band) for band in range(self.layout.bands)]
        return [sum(each <= level for each in finest) for level in range(self.layout.bits + 1)]

    def slots(self) -> list[int]:
        """Return how many bands of each level are held at a time, at most."""
        frames, layout, moment = self.part.frames, self.layout, self.part.moment
        if self.whole:
            return self._all_slots()
        step = max(1, len(frames) // MAX_SPANS)
        spans = [
            sorted((moment(k).octaves, moment(min(k + self.segment, frames[-1])).octaves))
            for k in frames[::step]
        ]
        return [
            max(len(layout.held(level, *span)) for span in spans)
            for level in range(layout.bits + 1)
        ]


class _Gather:
    """The texels that frames need, and the programs that fill and take them."""

    def __init__(self, strip: Strip) -> None:
        self.strip, layout = strip, strip.layout
        scene, options = strip.scene, strip.options
        choice, number = choose(options.device), scene.iteration.number_type
        device, painting, note = open_chosen(choice, options.device, number, options.threads)
        if note:
            options.on_message(note)
        self.backend: Backend = painting
        # A row of a deep strip needs float64; the texels are on one GPU.
        if number != "float64" or device.others:
            device = replace(device, others=())
            self.backend = open_backend(device, "float64", options.threads)
        backend = self.backend
        self.maker = BandMaker(
            scene, strip.part, strip.fixed, layout, strip.facts, painting, options
        )
        self.programs = {
            make: backend.compile(make)
            for make in (
                kernels.make_frame_body,
                kernels.make_coarser_body,
                kernels.make_blur_body,
            )
        }
        self.encode = backend.to_device(_srgb_table())
        self.turns, self.depths = self._polar()
        self.shape = StripShape(
            np.int32(layout.columns),
            np.int32(layout.bits),
            np.int32(layout.bands),
            backend.real(layout.octave),
            np.float32(layout.rim_level),
        )
        self.shutter = _Shutter(strip)
        self.pool = _Pool(backend, layout, strip.slots())
        self.store = _Store(backend, layout, strip.folder)
        self._last: tuple[float, float] | None = None  # octaves that are held

    def _polar(self) -> tuple[Any, Any]:
        """Return the angles and depths of a frame's pixels."""
        backend, strip = self.backend, self.strip
        width, height = strip.size
        turns, depths = (backend.empty((height, width), np.float32) for _ in range(2))
        place = backend.to_device(np.array([strip.fixed.x, strip.fixed.y], backend.real))
        fill = backend.compile(kernels.make_polar_body)
        rim = backend.real(math.log2(strip.fixed.rim))
        fill(turns, depths, place, rim, backend.real(strip.layout.octave))
        return turns, depths

    def hold(self, shallow: float, deep: float) -> None:
        """Make the texels that frames between two depths in octaves need, and drop others."""
        layout, pool = self.strip.layout, self.pool
        missing, last = set(), self._last
        if self.strip.whole:
            kept = 0.0, layout.depth
        else:
            kept = shallow, deep
            if last and deep > last[1]:
                self.store.open_temporary()
        self._last = kept
        for level in range(layout.bits + 1):
            pool.drop(level, layout.held(level, *kept))
            for band in layout.needed(level, shallow, deep):
                if level >= layout.finest(band) and not pool.has(level, band):
                    missing.add(band)
        for band in sorted(missing, reverse=True):
            self.fill(band, *kept)
        self.store.keep(layout.held(layout.bits, *kept))

    def fill(self, band: int, shallow: float, deep: float) -> None:
        """Make the levels of a band that these frames or shallower ones need."""
        layout, pool = self.strip.layout, self.pool
        finest = layout.finest(band)
        wanted = [
            level >= finest and band in layout.held(level, shallow, deep)
            for level in range(layout.bits + 1)
        ]
        for level, takes in enumerate(wanted):
            if takes:
                pool.take(level, band)  # the array may grow, and what was taken before moves
        levels = [pool.take(level, band) if takes else None for level, takes in enumerate(wanted)]
        if self.store.read(band, levels):
            return
        down, across = self.shutter.ways(band, finest)
        more = math.ceil(float(down.max())) + 1
        drawing = self.maker.open(band, more)
        rows = layout.rows >> finest
        part = min(rows, PART)
        below = None
        for first in reversed(range(0, rows, part)):
            last = first + part + (more if below is None else 0)
            sharp = self.maker.rows(drawing, first, last)
            if below is not None:
                sharp = np.concatenate([sharp, below])
            below = sharp[:more].copy()
            own = down[first : first + part], across[first : first + part]
            fine = self._room(levels, finest, first, part)
            inputs = self.backend.to_device(sharp), *map(self.backend.to_device, own)
            self._run(kernels.make_blur_body, fine, inputs, (0, 1, 1))
            self._coarsen(levels, fine, finest, first)
        level = finest + part.bit_length() - 1
        if level < layout.bits:
            self._coarsen(levels, levels[level], level, 0)
        self.store.write(band, levels)

    def _coarsen(self, levels: list[Any], fine: Any, level: int, first: int) -> None:
        """Fill coarser levels of a band from rows of a level, as long as rows come in pairs."""
        while fine.shape[0] > 1:
            level, first = level + 1, first // 2
            coarse = self._room(levels, level, first, fine.shape[0] // 2)
            self._run(kernels.make_coarser_body, coarse, (fine,), (2,))
            fine = coarse

    def _room(self, levels: list[Any], level: int, first: int, rows: int) -> Any:
        """Return where rows of a level are to be written."""
        if levels[level] is None:
            across = self.strip.layout.columns >> level
            if level == 0:  # large, and of no use once the next level is filled
                return self.backend.empty((rows, across, CHANNELS), np.uint16)
            down = self.strip.layout.rows >> level
            levels[level] = self.backend.empty((down, across, CHANNELS), np.uint16)
        return levels[level][first : first + rows]

    def frame(self, moment: Moment) -> Frame:
        """Return the pixels of a frame."""
        backend, strip = self.backend, self.strip
        width, height = strip.size
        turned = (moment.rotation - widest(strip.part).rotation) / 360
        turn = _even(turned if strip.scene.view.mirror else -turned, TURN_BITS) % 1.0
        row = backend.real(_even(MARGIN + moment.octaves * strip.layout.octave, ROW_BITS))
        found = np.empty((height, width, 3), np.uint16)
        host = backend.kind in HOST
        pixels = found if host else backend.empty(found.shape, found.dtype)
        starts = backend.to_device(self.pool.starts)
        more = StripTexels(self.pool.texels, starts), self.encode, self.shape, row, np.float32(turn)
        tables = self.turns, self.depths
        self._run(kernels.make_frame_body, pixels, (*tables, *more), (1, 1))
        if not host:
            backend.to_host(pixels, found)
        return found

    def _run(self, make: Any, out: Any, inputs: tuple[Any, ...], steps: tuple[int, ...]) -> None:
        """Run a program, on the CPU in all threads.

        `steps`: how many rows of the first inputs belong to a row of `out`; 0: from that row on.
        """
        program, threads, rows = self.programs[make], self.backend.threads, out.shape[0]
        if self.backend.kind != "cpu":
            program(out, *inputs)
            return

        def fill(first: int) -> dict[str, float]:
            last = min(first + ROWS, rows)
            own = [
                part[first * step : last * step] if step else part[first:]
                for part, step in zip(inputs, steps, strict=False)
            ]
            program(out[first:last], *own, *inputs[len(steps) :])
            return {}

        run_tiles(range(0, rows, ROWS), fill, threads)


class _Shutter:
    """How far a strip moves while the shutter is open, at each row."""

    def __init__(self, strip: Strip) -> None:
        self.layout, part = strip.layout, strip.part
        frames = part.frames
        numbers = np.linspace(frames[0], frames[-1], min(len(frames), MAX_SPEEDS))
        octaves = np.array([part.moment(k).octaves for k in numbers])
        order = np.argsort(octaves, kind="stable")
        self._octaves = octaves[order]
        open_for = strip.look.shutter / part.rate
        speeds = np.array([part.speed(k) for k in numbers])
        self._down = open_for * speeds[order] * self.layout.octave
        # Rows further in are those of a later frame where a film zooms in.
        sign = (-1 if strip.scene.view.mirror else 1) * (1 if part.octaves < 0 else -1)
        turns = np.array([part.turn_speed(k) for k in numbers]) / 360
        self._across = sign * open_for * turns[order] * self.layout.columns

    def ways(self, band: int, level: int) -> tuple[Any, Any]:
        """Return the rows and the columns of a level that pass while the shutter is open.

        Each row of texels has the speed of the frame at whose rim it lies.
        """
        rows = np.arange(self.layout.rows >> level) + 0.5
        octaves = (band * self.layout.rows + rows * 2**level - MARGIN) / self.layout.octave
        found = (
            np.interp(octaves, self._octaves, values) / 2**level
            for values in (self._down, self._across)
        )
        down, across = (values.astype(np.float32) for values in found)
        return down, across


class _Pool:
    """Texels of levels of bands, in one array, so that a program can take all of them.

    Attributes
    ----------
    texels : device array of uint16, shape (all, CHANNELS)
    starts : ndarray of int64, shape (levels, bands)
        Index of the first texel; 0 where there are none.
    """

    def __init__(self, backend: Backend, layout: Layout, slots: Sequence[int]) -> None:
        self.backend, self.layout = backend, layout
        self.starts = np.zeros((layout.bits + 1, layout.bands), np.int64)
        self.texels = backend.empty((0, CHANNELS), np.uint16)
        self._held: list[dict[int, int]] = [{} for _ in slots]
        self._free: list[list[int]] = [[] for _ in slots]
        self._grow(slots)

    def has(self, level: int, band: int) -> bool:
        """Tell whether the texels are held."""
        return band in self._held[level]

    def drop(self, level: int, wanted: range) -> None:
        """Free the texels of the bands of a level that are not wanted."""
        held = self._held[level]
        for band in [band for band in held if band not in wanted]:
            self._free[level].append(held.pop(band))

    def clear(self) -> None:
        """Free all texels."""
        for level in range(len(self._held)):
            self.drop(level, range(0))

    def take(self, level: int, band: int) -> Any:
        """Return room for the texels, shape (rows, columns, CHANNELS): a part of the array."""
        held, free = self._held[level], self._free[level]
        if band not in held:
            if not free:
                self._grow([int(k == level) for k in range(len(self._free))])
            held[band] = free.pop()
        start = self.starts[level, band] = held[band]
        down, across = self.layout.rows >> level, self.layout.columns >> level
        return self.texels[start : start + down * across].reshape(down, across, CHANNELS)

    def _size(self, level: int) -> int:
        return self.layout.columns * self.layout.rows >> 2 * level

    def _grow(self, slots: Sequence[int]) -> None:
        end = self.texels.shape[0]
        more = sum(count * self._size(level) for level, count in enumerate(slots))
        texels = np.empty((end + more, CHANNELS), np.uint16)
        if end:
            self.backend.to_host(self.texels, texels[:end])
        self.texels = self.backend.to_device(texels)
        for level, count in enumerate(slots):
            for _ in range(count):
                self._free[level].append(end)
                end += self._size(level)


class _Store:
    """Levels 1 and coarser of bands, in files: for a process that goes on after this one.

    A file holds the texels as an array of NumPy's format, and its CRC-32. It is moved into place
    when it is complete. Without a folder nothing is kept.
    """

    def __init__(self, backend: Backend, layout: Layout, folder: Path | None) -> None:
        self.backend, self.layout, self.folder = backend, layout, folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def open_temporary(self) -> None:
        """Keep files until the end: frames are asked for from the widest to the deepest.

        A band is then computed twice: when its coarsest level is needed, and its finest.
        """
        if not self.folder:
            self.folder = Path(tempfile.mkdtemp(prefix="fractals-strip-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def read(self, band: int, levels: Sequence[Any]) -> bool:
        """Fill the levels that are wanted from a file, and tell whether they could be."""
        if not self.folder or levels[0] is not None:
            return False
        sizes = self._sizes(band)
        try:
            with open(self._path(band), "rb") as file:
                texels = np.load(file, allow_pickle=False)
                checked = file.read() == zlib.crc32(texels.data).to_bytes(4, "little")
        except (OSError, ValueError, EOFError):
            return False
        if not checked or texels.shape != (sum(sizes.values()), CHANNELS):
            return False
        begin = 0
        for level, size in sizes.items():
            if levels[level] is not None:
                own = np.ascontiguousarray(texels[begin : begin + size])
                _copy(self.backend, own.reshape(levels[level].shape), levels[level])
            begin += size
        return True

    def write(self, band: int, levels: Sequence[Any]) -> None:
        """Write the file of a band, unless the disk is full."""
        if not self.folder:
            return
        sizes = self._sizes(band)
        texels = np.empty((sum(sizes.values()), CHANNELS), np.uint16)
        begin = 0
        for level, size in sizes.items():
            part = texels[begin : begin + size].reshape(levels[level].shape)
            self.backend.to_host(levels[level], part)
            begin += size
        path = self._path(band)
        part_path = path.with_suffix(".part")
        with contextlib.suppress(OSError):
            with open(part_path, "wb") as file:
                np.save(file, texels)
                file.write(zlib.crc32(texels.data).to_bytes(4, "little"))
            os.replace(part_path, path)

    def keep(self, wanted: range) -> None:
        """Remove the files of other bands: no frame that is still to be made needs them."""
        for path in self.folder.glob("*.npy") if self.folder else ():
            if path.stem.isdecimal() and int(path.stem) not in wanted:
                path.unlink(missing_ok=True)

    def _sizes(self, band: int) -> dict[int, int]:
        first = max(1, self.layout.finest(band))
        whole = self.layout.columns * self.layout.rows
        return {level: whole >> 2 * level for level in range(first, self.layout.bits + 1)}

    def _path(self, band: int) -> Path:
        assert self.folder
        return self.folder / f"{band:06d}.npy"


def _copy(backend: Backend, texels: Texels, into: Any) -> None:
    """Copy texels from the host into a part of an array of the device."""
    if backend.kind in HOST:
        into[...] = texels
    else:
        into.copy_to_device(texels)


def _even(value: float, bits: int) -> float:
    """Return a number rounded to a multiple of 2**-bits."""
    return round(value * 2.0**bits) / 2.0**bits


@functools.cache
def _srgb_table() -> NDArray[np.uint16]:
    """Return the sRGB values of linear light in 16 bits."""
    values = spaces.srgb_from_linear(np.arange(2**16) / (2**16 - 1))
    return np.rint(values * (2**16 - 1)).astype(np.uint16)

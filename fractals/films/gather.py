"""Frames from a strip: the programs, and the bands that frames need.

`ColoredGather` keeps texels of colors, so that every band is colored once. Where colors change,
`fractals.films.valued.ValuedGather` keeps samples.
"""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_backend, open_chosen
from fractals.color import palette
from fractals.films.bands import BLOCK, MARGIN, BandMaker, Texels, widest
from fractals.films.frames import FilmConstants
from fractals.films.motion import Moment
from fractals.films.planes import Frame
from fractals.films.strip import Shutter, Strip, Way
from fractals.films.texel_files import HOST, BandFile, TexelFiles, TexelPool
from fractals.kernels import strip as kernels
from fractals.kernels.strip import CHANNELS, FramePlace, StripShape, StripTexels
from fractals.rendering.options import RenderOptions
from fractals.threads import run_tiles

ROWS = 64  # of a frame or a band, that a thread fills at a time
BLURRED = 16  # rows that a thread blurs at a time, which takes memory
# Bits after the point of a frame's row and turn: so that a film and its reverse, whose views differ
# by roundings, have the same frames.
ROW_BITS, TURN_BITS = 16, 24

BLURS = kernels.make_blur_body, kernels.make_sums_body, kernels.make_smear_body

Span = tuple[float, float]  # depths in octaves
Places = tuple[Any, Any, Any]  # turns, depths and axes of pixels


class FrameMaker(ABC):
    """The bands that frames need, and the programs that make frames of them."""

    files: TexelFiles

    def __init__(self, strip: Strip, facts: FilmConstants, options: RenderOptions) -> None:
        self.strip, self.facts, layout = strip, facts, strip.layout
        scene = strip.scene
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
        self.bands = BandMaker(scene, strip.part, strip.fixed, layout, facts, painting, options)
        self.programs = {
            make: backend.compile(make)
            for make in (kernels.make_frame_body, kernels.make_coarser_body, *BLURS)
        }
        self.encode = backend.to_device(_srgb_table())
        self.shape = StripShape(
            np.int32(layout.columns),
            np.int32(layout.bits),
            np.int32(layout.bands),
            backend.real(layout.octave),
            np.float32(layout.rim_level),
            np.float32(layout.columns / (math.tau * strip.fixed.rim) / 2 ** (layout.rim_level + 1)),
        )
        self.shutter = Shutter(strip)
        self._deepest: float | None = None  # octaves of what is held

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames, in the order of their numbers.

        Ranges that are asked for from the deepest to the widest need the least memory. In the other
        order large strips keep their bands in files.
        """
        if not numbers:
            return
        strip = self.strip
        moments = [strip.part.moment(number) for number in numbers]
        inwards = moments[-1].octaves > moments[0].octaves
        if inwards and len(moments) > strip.segment and not strip.whole:
            self.files.open_temporary()
        for first in range(0, len(moments), strip.segment):
            some = moments[first : first + strip.segment]
            self.hold(some)
            yield from map(self.frame, some)

    def hold(self, moments: Sequence[Moment]) -> None:
        """Make what frames need, and drop other bands."""
        layout = self.strip.layout
        octaves = [moment.octaves for moment in moments]
        shallow, deep = min(octaves), max(octaves)
        kept = (self.strip.shallow, layout.depth) if self.strip.whole else (shallow, deep)
        if self._deepest is not None and deep > self._deepest and not self.strip.whole:
            self.files.open_temporary()
        self._deepest = deep
        self.keep(shallow, deep, kept)
        self.files.keep(layout.held(layout.bits, *kept))

    @abstractmethod
    def keep(self, shallow: float, deep: float, kept: Span) -> None:
        """Make what frames between two depths need; drop what those between others do not."""

    @abstractmethod
    def make(self, band: int) -> None:
        """Make all levels of a band; drop other bands."""

    @abstractmethod
    def frame(self, moment: Moment) -> Frame:
        """Return the pixels of a frame."""

    def gathered(
        self, moment: Moment, places: Places, texels: Any, starts: NDArray[np.int64]
    ) -> Frame:
        """Return pixels of a frame from texels; `starts`: where each level and band begins."""
        backend = self.backend
        frame = FramePlace(backend.real(self.row(moment)), np.float32(self.turn(moment)))
        found = np.empty((*places[0].shape, 3), np.uint16)
        host = backend.kind in HOST
        pixels = found if host else backend.empty(found.shape, found.dtype)
        held = StripTexels(texels, backend.to_device(starts))
        inputs = *places, held, self.encode, self.shape, frame
        self.run(kernels.make_frame_body, pixels, inputs, (1, 1, 1))
        if not host:
            backend.to_host(pixels, found)
        return found

    def turn(self, moment: Moment) -> float:
        """Return how far a frame is turned in the strip, from 0 to 1."""
        strip = self.strip
        turned = (moment.rotation - widest(strip.part).rotation) / 360
        return _even(turned if strip.scene.view.mirror else -turned, TURN_BITS) % 1.0

    def row(self, moment: Moment) -> float:
        """Return the row of level 0 at the rim of a frame."""
        return _even(MARGIN + moment.octaves * self.strip.layout.octave, ROW_BITS)

    def blur(self, texels: Any, sharp: Texels, down: Way, across: Way) -> None:
        """Fill rows of texels with those of a shutter.

        `texels`: device array of uint16, shape (rows, columns, CHANNELS). `sharp`: ndarray of
        uint16, shape (rows + more, columns, CHANNELS); of a shutter of no time; with as many rows
        more as the ways lead down, and one. `down`, `across`: rows (0 or
        more) and columns that pass while the shutter is open.
        """
        backend, host = self.backend, self.backend.kind == "cpu"
        count, columns = len(down), texels.shape[1] * CHANNELS
        flat = texels.reshape(count, columns)
        along, add, smear = (self.programs[make] for make in BLURS)

        def fill(first: int, rows: int = BLURRED) -> dict[str, float]:
            last = min(first + rows, count)
            more = math.ceil(float(down[first:last].max())) + 1
            own, out = sharp[first : last + more], flat[first:last]
            ways = backend.to_device(down[first:last]), backend.to_device(across[first:last])
            if across.any():
                aside = math.ceil(float(abs(across).max())) + 1
                own = np.pad(own, ((0, 0), (aside, aside), (0, 0)), mode="wrap")
                light = backend.empty((1 if host else last - first, columns), np.float32)
                along(out, backend.to_device(own.reshape(len(own), -1)), light, *ways)
                return {}
            own = backend.to_device(own.reshape(len(own), columns))
            sums = backend.empty(own.shape, np.int32)
            add(sums, own)
            smear(out, own, sums, ways[0])
            return {}

        if host:
            run_tiles(range(0, count, BLURRED), fill, backend.threads)
        else:  # in the stream of this thread, which takes the texels
            fill(0, count)

    def run(
        self, make: Callable[..., Any], out: Any, inputs: tuple[Any, ...], steps: tuple[int, ...]
    ) -> None:
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


class ColoredGather(FrameMaker):
    """A `FrameMaker` whose bands hold texels of colors in linear light, blurred by the shutter."""

    def __init__(
        self, strip: Strip, facts: FilmConstants, options: RenderOptions, folder: Path | None
    ) -> None:
        super().__init__(strip, facts, options)
        self.places = polar(strip, self.backend)
        self.pool = TexelPool(self.backend, strip.layout, strip.slots())
        self.files = TexelFiles(strip.layout, folder)

    def keep(self, shallow: float, deep: float, kept: Span) -> None:
        """Make the bands that frames need, and drop others."""
        layout, missing = self.strip.layout, set()
        for level in range(layout.levels):
            self.pool.drop(level, layout.held(level, *kept))
            for band in layout.needed(level, shallow, deep):
                if level >= layout.finest(band) and not self.pool.has(level, band):
                    missing.add(band)
        for band in sorted(missing, reverse=True):
            self.fill(band, *kept)

    def wanted(self, band: int, shallow: float, deep: float) -> list[int]:
        """Return the levels of a band that these frames or shallower ones need."""
        layout = self.strip.layout
        levels = range(layout.finest(band), layout.levels)
        return [level for level in levels if band in layout.held(level, shallow, deep)]

    def make(self, band: int) -> None:
        """Make all levels of a band; drop other bands."""
        layout = self.strip.layout
        octave = max(0.0, (band * layout.rows - MARGIN) / layout.octave)
        self.pool.clear()
        self.fill(band, octave, octave)

    def frame(self, moment: Moment) -> Frame:
        """Return the pixels of a frame."""
        return self.gathered(moment, self.places, self.pool.texels, self.pool.starts)

    def fill(self, band: int, shallow: float, deep: float) -> None:
        """Make the levels of a band that these frames or shallower ones need."""
        try:
            self._fill(band, self.wanted(band, shallow, deep))
        except BaseException:  # such as a task that is cancelled: a worker makes frames afterwards
            self.pool.forget(band)
            raise

    def _fill(self, band: int, wanted: Sequence[int]) -> None:
        layout, pool = self.strip.layout, self.pool
        finest = layout.finest(band)
        for level in wanted:
            pool.take(level, band)  # the array may grow, and what was taken before moves
        levels = [
            pool.take(level, band) if level in wanted else None for level in range(layout.levels)
        ]
        if self._read(band, {level: levels[level] for level in wanted}):
            return
        rows = layout.rows >> finest
        down, across = self.shutter.ways(range(band * rows, (band + 1) * rows), finest)
        # Rounded up to whole blocks, which the next band has.
        more = math.ceil((math.ceil(float(down.max())) + 1) / BLOCK) * BLOCK
        drawing = self.bands.open(band, more)
        part = min(rows, self.strip.part_rows)
        below = None
        with self.files.open(band) as file:
            for first in reversed(range(0, rows, part)):
                last = first + part + (more if below is None else 0)
                sharp = self.bands.rows(drawing, first, last)
                if below is not None:
                    sharp = np.concatenate([sharp, below])
                below = sharp[:more].copy()
                own = down[first : first + part], across[first : first + part]
                fine = self._room(levels, finest, first, part)
                self.blur(fine, sharp, *own)
                self._put(file, finest, first, fine)
                self._coarsen(file, levels, fine, finest, first)
            level = finest + part.bit_length() - 1
            if level < layout.bits:
                self._coarsen(file, levels, levels[level], level, 0)

    def _coarsen(
        self, file: BandFile, levels: list[Any], fine: Any, level: int, first: int
    ) -> None:
        """Fill coarser levels of a band from rows of a level, as long as rows come in pairs."""
        while fine.shape[0] > 1:
            level, first = level + 1, first // 2
            coarse = self._room(levels, level, first, fine.shape[0] // 2)
            self.run(kernels.make_coarser_body, coarse, (fine,), (2,))
            self._put(file, level, first, coarse)
            fine = coarse

    def _room(self, levels: list[Any], level: int, first: int, rows: int) -> Any:
        """Return where rows of a level are to be written."""
        if levels[level] is None:
            across = self.strip.layout.columns >> level
            if rows > 1:  # of no use once the next level is filled
                return self.backend.empty((rows, across, CHANNELS), np.uint16)
            down = self.strip.layout.rows >> level
            levels[level] = self.backend.empty((down, across, CHANNELS), np.uint16)
        return levels[level][first : first + rows]

    def _read(self, band: int, levels: Mapping[int, Any]) -> bool:
        """Fill levels of a band from its file, and tell whether they could be."""
        if self.backend.kind in HOST:
            return self.files.read(band, levels)
        kept = {level: np.empty(texels.shape, np.uint16) for level, texels in levels.items()}
        if not self.files.read(band, kept):
            return False
        for level, texels in levels.items():
            self.backend.copy_to(kept[level], texels)
        return True

    def _put(self, file: BandFile, level: int, first: int, texels: Any) -> None:
        """Write rows of a level, from one on, where files hold the level."""
        if not self.files.holds(level):
            return
        kept = texels
        if self.backend.kind not in HOST:
            kept = np.empty(texels.shape, np.uint16)
            self.backend.to_host(texels, kept)
        file.put(level, first, kept)


def polar(strip: Strip, backend: Backend) -> Places:
    """Return where a frame's pixels lie in the strip: turns, depths and axes."""
    width, height = strip.size
    # Threads keep large arrays of `Backend.empty` for others.
    empty = np.empty if backend.kind in HOST else backend.empty
    turns, depths = (empty((height, width), np.float32) for _ in range(2))
    axes = empty((height, width, 2), np.int8)
    place = backend.to_device(np.array([strip.fixed.x, strip.fixed.y], backend.real))
    fill = backend.compile(kernels.make_polar_body)
    rim = backend.real(math.log2(strip.fixed.rim))
    fill(turns, depths, axes, place, rim, backend.real(strip.layout.octave))
    return turns, depths, axes


def _even(value: float, bits: int) -> float:
    """Return a number rounded to a multiple of 2**-bits."""
    return round(value * 2.0**bits) / 2.0**bits


@functools.cache
def _srgb_table() -> NDArray[np.uint16]:
    """Return the sRGB values of linear light in 16 bits."""
    values = palette.srgb_from_linear(np.arange(2**16) / (2**16 - 1))
    return np.rint(values * (2**16 - 1)).astype(np.uint16)

"""What makes frames from a strip: the programs, and the bands that frames need."""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_backend, open_chosen
from fractals.color import palette
from fractals.films.bands import MARGIN, BandMaker, Texels, widest
from fractals.films.motion import Moment
from fractals.films.strip_plan import Shutter, StripPlan, Way
from fractals.films.texels import HOST, TexelFiles
from fractals.kernels import strip as kernels
from fractals.kernels.strip import CHANNELS, FramePlace, StripShape, StripTexels
from fractals.threads import run_tiles

ROWS = 64  # of a frame or a band, that a thread fills at a time
BLURRED = 16  # rows that a thread blurs at a time, which takes memory
# Bits after the point of a frame's row and turn: so that a film and its reverse, whose views differ
# by roundings, have the same frames.
ROW_BITS, TURN_BITS = 16, 24

BLURS = kernels.make_blur_body, kernels.make_sums_body, kernels.make_smear_body

Frame = NDArray[np.uint16]
Span = tuple[float, float]  # depths in octaves
Places = tuple[Any, Any, Any]  # turns, depths and axes of pixels


class FrameMaker(ABC):
    """The bands that frames need, and the programs that make frames of them."""

    files: TexelFiles

    def __init__(self, strip: StripPlan) -> None:
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
        """Return pixels of a frame from texels; `starts` as of `StripTexels`."""
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

        Parameters
        ----------
        texels : device array of uint16, shape (rows, columns, CHANNELS)
        sharp : ndarray of uint16, shape (rows + more, columns, CHANNELS)
            Of a shutter of no time; with as many rows more as the ways lead down, and one.
        down, across : array of float32, shape (rows,)
            Rows (0 or more) and columns that pass while the shutter is open.
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


def polar(strip: StripPlan, backend: Backend) -> Places:
    """Return the places of a frame's pixels, as of `make_polar_body`."""
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

"""The frames of a zoom from a strip: the exponential map about the point that stands still.

A pixel keeps its angle, its size and its distance from the fixed point in all frames: a frame is
the strip, shifted. Levels of halved resolution (a mip pyramid) serve the pixels near the point.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fractals.films.bands import MARGIN
from fractals.films.gather import Frame, FrameMaker, Span, polar
from fractals.films.motion import Moment
from fractals.films.noise import BLOCK
from fractals.films.strip_plan import StripPlan
from fractals.films.texels import HOST, BandFile, TexelFiles, TexelPool, copy_to
from fractals.films.valued import ValuedGather
from fractals.kernels import strip as kernels
from fractals.kernels.strip import CHANNELS

# Frames from a strip that keeps colors: every band is colored once.


class ColoredGather(FrameMaker):
    """A `FrameMaker` whose bands hold texels of colors in linear light, blurred by the shutter."""

    def __init__(self, strip: StripPlan) -> None:
        super().__init__(strip)
        self.places = polar(strip, self.backend)
        self.pool = TexelPool(self.backend, strip.layout, strip.slots())
        self.files = TexelFiles(strip.layout, strip.folder)

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
        layout, pool = self.strip.layout, self.pool
        finest, wanted = layout.finest(band), self.wanted(band, shallow, deep)
        for level in wanted:
            pool.take(level, band)  # the array may grow, and what was taken before moves
        levels = [
            pool.take(level, band) if level in wanted else None for level in range(layout.levels)
        ]
        if self._read(band, {level: levels[level] for level in wanted}):
            return
        rows = layout.rows >> finest
        down, across = self.shutter.ways(range(band * rows, (band + 1) * rows), finest)
        # Whole blocks, as of the next band.
        more = math.ceil((math.ceil(float(down.max())) + 1) / BLOCK) * BLOCK
        drawing = self.maker.open(band, more)
        part = min(rows, self.strip.part_rows)
        below = None
        with self.files.open(band) as file:
            for first in reversed(range(0, rows, part)):
                last = first + part + (more if below is None else 0)
                sharp = self.maker.rows(drawing, first, last)
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
            copy_to(self.backend, kept[level], texels)
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


class Strip(StripPlan):
    """Frames of one part of a film."""

    _gather: FrameMaker | None = None

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames, in the order of their numbers.

        Ranges that are asked for from the deepest to the widest need the least memory. In the other
        order large strips keep their bands in files.
        """
        if not numbers:
            return
        gather = self.prepare()
        moments = [self.part.moment(number) for number in numbers]
        inwards = moments[-1].octaves > moments[0].octaves
        if inwards and len(moments) > self.segment and not self.whole:
            gather.files.open_temporary()
        for first in range(0, len(moments), self.segment):
            some = moments[first : first + self.segment]
            gather.hold(some)
            for moment in some:
                yield gather.frame(moment)

    def prepare(self) -> FrameMaker:
        """Compile the programs, and return what makes the frames."""
        if not self._gather:
            self._gather = ValuedGather(self) if self.colors else ColoredGather(self)
        return self._gather

    def make(self, band: int) -> None:
        """Make all levels of a band, and hold them until frames are asked for.

        A band that is in a file already is made from it.
        """
        self.prepare().make(band)

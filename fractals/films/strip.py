"""What the strip of a zoom holds, before anything is drawn: its layout, samples and memory.

A strip is the exponential map about the point that stands still. A pixel keeps its angle, its size
and its distance from that point in all frames: a frame is the strip, shifted. Levels of halved
resolution (a mip pyramid) serve the pixels near the point.
"""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fractals.films.bands import MARGIN, Layout, fixed_place, make_layout
from fractals.films.motion import FilmPart
from fractals.kernels.strip import CHANNELS
from fractals.scene.geometry import Layers, make_layers
from fractals.scene.model import Scene

# The layout of a strip that keeps samples: what is held of them, and what rings of frames take.


CHUNK = 64  # rows of samples that are held or dropped together: a power of two
RINGS = 7  # of an octave at the rim, in which a frame is made
AT_BORDER = 0.01  # octaves by which rounding may move the border of a level's service

Key = tuple[int, int]  # of a chunk: its level, and how many chunks of the level are above it


class SampleLayout(Layout):
    """A `Layout` with `finer` above 0."""

    @property
    def borders(self) -> list[float]:
        """Return the octaves from the rim of a frame where one ring of pixels ends.

        A ring takes one level, or few texels.
        """
        first = math.floor(self.rim_level) + 1 - self.rim_level  # the first level ends here
        parts = math.ceil(first * RINGS)
        return [first * k / parts for k in range(1, parts + 1)] + [first + 0.5, first + 1]

    def ring_rows(self, level: int, octaves: float, ring: tuple[float, float]) -> range:
        """Return the rows of texels of a level that a ring of a frame takes.

        `ring`: the octaves from the frame's rim between which the ring lies.
        """
        begins, ends = self._served(level)
        begins, ends = max(begins - AT_BORDER, ring[0]), min(ends + AT_BORDER, ring[1])
        if begins > ends:
            return range(0)
        slack = 2.5 * 2**level
        first = MARGIN + (octaves + begins) * self.octave - slack
        last = MARGIN + (octaves + ends) * self.octave + slack
        begin = max(0, math.floor(first / 2**level))
        return range(begin, min(self.bands << (self.bits - level), int(last // 2**level) + 1))

    def regions(self, shallow: float, deep: float) -> list[range]:
        """Return the rows of level 0 that frames between two depths take at each kept level.

        Rows that they take at several levels are those of the finest one.
        """
        begin = min(self.rows_of(level, shallow, deep).start << level for level in (0, 1))
        found = []
        for level in range(self.levels):
            texels = level + self.finer
            last = self._taken(texels, shallow, deep)[1] + self.blurred + AT_BORDER * self.octave
            end = (int(last // 2**texels) + 4) << texels
            end = max(begin, min(end, self.bands * self.rows))
            found.append(range(begin, end))
            begin = end
        return found

    def bands_of(self, shallow: float, deep: float) -> set[int]:
        """Return the bands that frames between two depths in octaves need."""
        keys = self.chunks(self.regions(shallow, deep))
        return {k * self.chunk(level) >> (self.bits - level) for level, k in keys}

    def ring_texels(self) -> list[list[int]]:
        """Return how many texels of each level a frame takes, ring by ring."""
        return [
            [
                len(self.ring_rows(level, self.depth / 2, ring)) * (self.columns >> level)
                for level in range(self.bits + 1)
            ]
            for ring in itertools.pairwise([0.0, *self.borders, self.reach])
        ]

    def held_samples(self, shallow: float, deep: float) -> int:
        """Return how many samples are held for frames between two depths."""
        keys = dict.fromkeys(self.chunks(self.regions(shallow, deep)))
        return sum(self.chunk(level) * (self.columns >> level) for level, _ in keys)

    def chunk(self, level: int) -> int:
        """Return the rows of a chunk of a level."""
        return min(CHUNK, self.rows >> level)

    def chunks(self, regions: list[range]) -> Iterator[Key]:
        """Yield the chunks that hold regions."""
        for level, region in enumerate(regions):
            row = region.start
            while row < region.stop:
                own = max(level, self.finest(row >> self.bits))
                high = self.chunk(own) << own
                yield own, row // high
                row = (row // high + 1) * high

    def within(self, band: int, key: Key, level: int) -> tuple[int, int]:
        """Return the first row of a chunk in its band, at a level, and the one after the last."""
        rows, top = self.chunk(key[0]), band << (self.bits - key[0])
        down = key[0] - level
        return (key[1] * rows - top) << down, ((key[1] + 1) * rows - top) << down


# What is kept of samples, where values are kept.

BLOCK = 32  # neighboring samples, at most, whose numbers share a least one and a span


@dataclass(frozen=True)
class Recipe:
    """What is kept of a sample."""

    values: tuple[int, ...]  # the layers whose values are kept; none where `raw`
    # length, direction: whether length and direction of the gradient are kept
    length: bool
    direction: bool
    raw: bool  # whether count, z, statistics, and dz where `derivative`, are kept
    derivative: bool
    statistics: int  # how many there are

    @property
    def numbers(self) -> int:
        """Return how many numbers are kept."""
        if self.raw:
            return 2 + self.derivative + self.statistics
        return len(self.values) + self.length

    @property
    def directions(self) -> int:
        """Return how many directions are kept."""
        return 1 + self.derivative if self.raw else int(self.direction)

    @property
    def bytes(self) -> float:
        """Return the bytes of a sample."""
        return 2 * (self.numbers + self.directions) + 8 * self.numbers / BLOCK


def recipe_of(layers: Layers, moving: bool) -> Recipe:
    """Return what is kept for some layers; `moving`: options of colorings change."""
    drawn = layers.drawn
    raw = any(moving or layer.coloring.derivative for layer in drawn if not layer.coloring.gradient)
    values = [] if raw else [k for k, layer in enumerate(drawn) if not layer.coloring.gradient]
    read = set() if raw else {layer.coloring.gradient for layer in drawn}
    derivative, planes = layers.derivative, layers.statistics.planes
    return Recipe(tuple(values), "length" in read, "direction" in read, raw, derivative, planes)


PART, LEAST_PART = 2**18, 32  # texels of a band that are drawn at a time, and fewest rows
WHOLE = 2**28  # bytes of a strip, below which all of it is held
# Levels by which kept samples are finer than the texels that are made of them. With 2, frames are
# as close to pictures of many samples as frames of a strip that keeps colors; 1 loses 2 dB.
FINER = 2
MAX_SPANS = 200  # segments whose octaves the forecast of memory computes
MAX_SPEEDS = 2000  # frames whose speeds are computed for the shutter

Way = NDArray[np.float32]
Colors = Callable[[float], Scene]


class Strip:
    """The layout of one part's strip, and forecasts; `FrameMaker` makes frames of it."""

    def __init__(
        self,
        scene: Scene,
        part: FilmPart,
        density: float,
        shutter: float,
        segment: int = 120,
        colors: Colors | None = None,
        moving: bool = False,
    ) -> None:
        """Lay out the strip of a zoom.

        `density`: texels a pixel, along each side, at the rim of a frame; at most 1/16 fewer.
        `shutter`: share of a frame's time in which the shutter is open. It opens when the frame is
        widest. `segment`: most frames that are asked for at a time: the memory grows with them.
        `colors`: returns the scene with the colors of a time in seconds. The strip then keeps
        values and not colors, and each frame is colored by itself. `moving`: whether options of
        colorings change that are not read from the gradient alone.
        """
        self.scene, self.part = scene.model_copy(update={"film": None}), part
        self.size, self.shutter, self.segment = scene.image.size, shutter, segment
        self.colors, self._moving = colors, moving
        self.fixed = fixed_place(self.scene, part, self.size)
        depths = [part.moment(number).octaves for number in (part.frames[0], part.frames[-1])]
        self.shallow = min(depths)  # octaves of the widest frame
        self.layout = make_layout(self.fixed, density, max(depths), FINER if colors else 0)
        if colors:
            blurred = math.ceil(Shutter(self).longest) + 2
            whole = replace(self.layout, blurred=blurred)
            self.layout = self.sampled = SampleLayout(**vars(whole))

    @property
    def samples(self) -> int:
        """Return how many samples are iterated for all frames, without those added in noise."""
        return sum(map(self.layout.band_samples, self.bands))

    @property
    def part_rows(self) -> int:
        """Return how many rows of a band are drawn at a time: a power of two."""
        rows = 1 << (PART // self.layout.columns).bit_length()
        return min(self.layout.rows, max(LEAST_PART, rows))

    @property
    def bands(self) -> range:
        """Return the bands that frames need."""
        return range(self.layout.held(0, self.shallow, self.shallow).start, self.layout.bands)

    @property
    def memory(self) -> int:
        """Return the most bytes that are held at a time: texels, a band, tables, a frame."""
        pixels = self.size[0] * self.size[1]
        part = self.part_rows * self.layout.columns
        if not self.colors:
            return self._bytes(self.slots()) + 2 * CHANNELS * 3 * part + 16 * pixels
        spans = [(self.shallow, self.layout.depth)] if self.whole else self._spans()
        samples = self.sampled.held_samples(*max(spans, key=lambda span: span[1] - span[0]))
        # Texels of a ring before and after they are blurred; a part of a band; places and
        # numbers of pixels, and the frame.
        ring = max(map(sum, self.sampled.ring_texels()))
        held = samples * self.recipe.bytes + 4 * CHANNELS * ring
        return math.ceil(held) + 32 * self.recipe.numbers * part + 22 * pixels

    @functools.cached_property
    def recipe(self) -> Recipe:
        """Return what is kept of a sample, where values are kept."""
        return recipe_of(make_layers(self.scene), self._moving)

    @property
    def colorings(self) -> int:
        """Return how many samples are colored for a frame, where values are kept."""
        finer = self.layout.finer
        return sum(
            texels << 2 * min(level, finer)
            for ring in self.sampled.ring_texels()
            for level, texels in enumerate(ring)
        )

    @functools.cached_property
    def whole(self) -> bool:
        """Tell whether the strip is so small that all of it is held, for frames in any order."""
        if not self.colors:
            return self._bytes(self._all_slots()) < WHOLE
        samples = self.sampled.held_samples(self.shallow, self.layout.depth)
        return samples * self.recipe.bytes < WHOLE

    def slots(self) -> list[int]:
        """Return how many bands of each level are held at a time, at most."""
        if self.whole:
            return self._all_slots()
        layout, spans = self.layout, self._spans()
        return [
            max(len(layout.held(level, *span)) for span in spans) for level in range(layout.levels)
        ]

    def _spans(self) -> list[tuple[float, float]]:
        """Return the depths in octaves between which segments lie, of some of them."""
        frames, moment = self.part.frames, self.part.moment
        found = []
        for k in frames[:: max(1, len(frames) // MAX_SPANS)]:
            ends = moment(k).octaves, moment(min(k + self.segment, frames[-1])).octaves
            found.append((min(ends), max(ends)))
        return found

    def _all_slots(self) -> list[int]:
        counts = Counter(map(self.layout.finest, self.bands))
        return list(itertools.accumulate(counts[level] for level in range(self.layout.levels)))

    def _bytes(self, slots: list[int]) -> int:
        whole = self.layout.columns * self.layout.rows
        return 2 * CHANNELS * sum(count * (whole >> 2 * level) for level, count in enumerate(slots))


class Shutter:
    """How far a strip moves while the shutter is open, at each row."""

    def __init__(self, strip: Strip) -> None:
        self.layout, part = strip.layout, strip.part
        frames = part.frames
        numbers = np.linspace(frames[0], frames[-1], min(len(frames), MAX_SPEEDS))
        octaves = np.array([part.moment(k).octaves for k in numbers])
        order = np.argsort(octaves, kind="stable")
        self._octaves = octaves[order]
        open_for = strip.shutter / part.rate
        speeds = np.array([part.speed(k) for k in numbers])
        self._down = open_for * speeds[order] * self.layout.octave
        # Where a film zooms in, a later frame shows rows further in.
        sign = (-1 if strip.scene.view.mirror else 1) * (1 if part.octaves < 0 else -1)
        turns = np.array([part.turn_speed(k) for k in numbers]) / 360
        self._across = sign * open_for * turns[order] * self.layout.columns

    @property
    def longest(self) -> float:
        """Return the most rows of level 0 that pass."""
        return float(self._down.max())

    def ways(self, rows: range, level: int) -> tuple[Way, Way]:
        """Return the rows and the columns of a level that pass while the shutter is open.

        Each row of texels has the speed of the frame at whose rim it lies.
        """
        middles = (np.arange(rows.start, rows.stop) + 0.5) * 2**level
        octaves = (middles - MARGIN) / self.layout.octave
        down, across = (
            (np.interp(octaves, self._octaves, values) / 2**level).astype(np.float32)
            for values in (self._down, self._across)
        )
        return down, across

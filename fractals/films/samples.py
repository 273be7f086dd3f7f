"""What a strip of values keeps of its samples, and how it is colored in a frame.

Of a layer whose values are the same in all frames the values are kept. Of layers that read only the
gradient of the potential, which lie otherwise in each frame, its length and direction are kept. If
options of other layers change, or other layers read dz, raw numbers are kept.
"""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.backends.base import Run
from fractals.films.bands import MARGIN, BandMaker, widest
from fractals.films.motion import Moment
from fractals.films.strip import BLOCK, Recipe, Strip
from fractals.kernels import shade
from fractals.kernels.angles import direction
from fractals.kernels.layout import ColoringInputs, EscapeTile
from fractals.kernels.shade import PlaceOptions
from fractals.kernels.strip import EMPTY, TOP, make_number_body
from fractals.rendering.drawing import Drawing
from fractals.rendering.layered import place_samples, rank_table
from fractals.rendering.plan import Plan
from fractals.rendering.probing import Pairs
from fractals.rendering.sampling import Samples
from fractals.rendering.shading import Fill, Painter, Values
from fractals.scene.geometry import Layers, ResolvedLayer

# Numbers and directions of samples, in two bytes each: what a strip of values holds.
#
# Of a block of neighboring samples in a row the least number and the span are kept. A number is the
# least one plus the span times t to the fourth, where t has 16 bits. So it is precise to a
# thousandth of its distance from the least one, however far a single number of the block is off.


MOST = 1e12  # numbers beyond it are kept as it
QUARTERS = 16383  # codes of directions in two quarters of the square |x| + |y| = 1, less 1
NOWHERE = 65534  # code of a direction that is unknown

Codes = NDArray[np.uint16]
Scales = NDArray[np.float32]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PackedSamples:
    """Samples of some rows of a level."""

    codes: Codes  # of numbers, then of directions; ndarray of uint16, shape (planes, rows, columns)
    # Least number and span of each block; ndarray of float32, shape (numbers, rows, blocks, 2)
    scales: Scales

    def taken(self, rows: slice, start: int = 0, step: int = 1) -> "PackedSamples":
        """Return the samples of some rows, and of columns from `start` on, as views.

        `step` is a power of two above `start`. Codes and their numbers stay the same.
        """
        block = self.codes.shape[2] // max(1, self.scales.shape[2])
        codes = self.codes[:, rows, start::step]
        if step <= block:
            return PackedSamples(codes, self.scales[:, rows])
        return PackedSamples(codes, self.scales[:, rows, start // block :: step // block])

    def fill(self, first: int, other: "PackedSamples") -> None:
        """Copy samples to rows from one on."""
        rows = slice(first, first + other.codes.shape[1])
        self.codes[:, rows] = other.codes
        self.scales[:, rows] = other.scales

    @property
    def size(self) -> int:
        """Return the bytes."""
        return self.codes.nbytes + self.scales.nbytes

    def flat(self) -> NDArray[np.uint16]:
        """Return everything as one array, for a file."""
        scales = np.ascontiguousarray(self.scales).view(np.uint16)
        return np.concatenate([self.codes.ravel(), scales.ravel()])


def room(numbers: int, directions: int, rows: int, columns: int, block: int) -> PackedSamples:
    """Return room for samples whose blocks have a length."""
    planes = numbers + directions
    return PackedSamples(
        np.empty((planes, rows, columns), np.uint16),
        np.empty((numbers, rows, columns // block, 2), np.float32),
    )


def from_flat(flat: NDArray[np.uint16], like: PackedSamples) -> PackedSamples:
    """Return what `PackedSamples.flat` made of samples with the shapes of others."""
    codes, scales = np.split(flat, [like.codes.size])
    return PackedSamples(
        codes.reshape(like.codes.shape),
        scales.view(np.float32).reshape(like.scales.shape),
    )


def block_of(columns: int) -> int:
    """Return the length of blocks of rows: a power of two that divides their columns."""
    return min(BLOCK, columns & -columns)


def keep_numbers(values: Numbers, codes: Codes, scales: Scales) -> None:
    """Fill codes and scales of numbers, shape (rows, columns); NaN stands for no number.

    Square roots are rounded alike on all processors.
    """
    rows, blocks, _ = scales.shape
    with np.errstate(invalid="ignore"):
        v = np.clip(values, -MOST, MOST).reshape(rows, blocks, -1)
        least, most = np.fmin.reduce(v, 2), np.fmax.reduce(v, 2)
        lacking = np.isnan(least)
        least, most = np.where(lacking, 0, least), np.where(lacking, 0, most)
        below = least.astype(np.float32)
        below = np.where(below > least, np.nextafter(below, np.float32(-np.inf)), below)
        spans = (most - below).astype(np.float32)
        spans = np.where(spans < most - below, np.nextafter(spans, np.float32(np.inf)), spans)
        scales[..., 0], scales[..., 1] = below, spans
        v -= below[..., None]
        v /= np.where(spans > 0, spans, 1)[..., None]
        t = np.rint(np.sqrt(np.sqrt(v)) * TOP)
    t[np.isnan(t)] = EMPTY
    codes[...] = t.reshape(codes.shape)


def numbers_of(codes: Codes, least: Any, spans: Any) -> Numbers:
    """Return the numbers of codes; the scales are those of each code."""
    t = codes * (1 / TOP)
    t *= t
    t *= t
    found = np.asarray(t * spans + least)
    found[codes == EMPTY] = np.nan
    return found


def keep_directions(x: Numbers, y: Numbers, codes: Codes) -> None:
    """Fill the codes of the directions of vectors: places on the square |x| + |y| = 1."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        largest = np.maximum(abs(x), abs(y))
        x, y = x / largest, y / largest
        place = x / (abs(x) + abs(y))
        place = np.where(y >= 0, 1 - place, 3 + place) * QUARTERS
    known = np.isfinite(place)
    codes[...] = np.where(known, np.minimum(np.where(known, place, 0), 4 * QUARTERS - 1), NOWHERE)


def directions(cos: float, sin: float) -> NDArray[np.float64]:
    """Return the unit vectors of all codes, turned: shape (65536, 2); 0 where unknown."""
    place = (np.arange(4 * QUARTERS) + 0.5) / QUARTERS
    x = np.where(place < 2, 1 - place, place - 3)
    y = np.where(place < 2, 1 - abs(x), abs(x) - 1)
    size = np.sqrt(x * x + y * y)
    x, y = x / size, y / size
    found = np.zeros((2**16, 2))
    found[: len(x), 0], found[: len(x), 1] = x * cos - y * sin, x * sin + y * cos
    return found


ROWS = 8  # whose numbers are made to codes at a time, which takes memory
# A point whose estimate of the distance is ESTIMATE / |dz|: |z| log2|z|² = 4 * 4, in the unit of
# the coloring "distance".
POINT, ESTIMATE = 4.0, 16000 * math.log(2)


class FrameTile(NamedTuple):
    """Samples on the device, as those of a frame."""

    raw: Any  # with dz per width of the frame and along its axes; None where no layer takes it
    # The inputs of `make_number_body` for each layer of `Recipe.values`
    numbers: tuple[tuple[Any, Any, np.int32], ...]


class Sampler:
    """Iterates what is kept of samples, and returns them as those of a frame."""

    def __init__(self, strip: Strip, maker: BandMaker, recipe: Recipe) -> None:
        self.strip, self.maker, self.recipe = strip, maker, recipe
        self.backend, self.facts = maker.backend, maker.facts
        self._turned: tuple[float, NDArray[np.float64], NDArray[np.float64]] | None = None

    @functools.cached_property
    def _decode(self) -> Run:
        return self.backend.compile(make_number_body)

    def room(self, rows: int, columns: int, block: int) -> PackedSamples:
        """Return room for samples."""
        return room(self.recipe.numbers, self.recipe.directions, rows, columns, block)

    def draw(self, drawing: Drawing, first: int, last: int) -> PackedSamples:
        """Iterate rows of a band."""
        recipe, backend, plan = self.recipe, self.backend, drawing.plan
        columns = plan.size[0]
        found = self.room(last - first, columns, block_of(columns))
        numbers = np.empty((recipe.numbers, last - first, columns))
        assert drawing.painter
        programs = _programs(recipe, drawing.painter, plan.layers)
        radii = _radii(plan, first, last) if recipe.derivative else np.ones((last - first, 1))
        # Of the view whose width is the unit of distances.
        width = 1.0 if drawing.painter.plan.deep else float(drawing.painter.plan.width)
        given = self.facts.max_iterations, self.facts.count_offset

        def take(rows: slice, across: slice, raw: EscapeTile, flags: Pairs) -> None:
            shape = rows.stop - rows.start, across.stop - across.start
            own, codes = numbers[:, rows, across], found.codes[recipe.numbers :, rows, across]
            wanted = []
            for program in programs:
                wanted.append(backend.empty(shape, backend.real))
                program(wanted[-1], raw, *given)
            more = recipe.raw or recipe.direction
            wanted += [raw.x, raw.y] * more
            wanted += [raw.dx, raw.dy] * (recipe.direction or (recipe.raw and recipe.derivative))
            wanted += [raw.statistics[k] for k in range(recipe.statistics * recipe.raw)]
            counts = np.empty(shape, np.int32)
            arrays = [np.empty(shape, backend.real) for _ in wanted]
            pairs = list(zip(wanted, arrays, strict=True))
            backend.all_to_host([*pairs, *[(raw.count, counts)] * more, *flags])
            read = iter([array.astype(np.float64) for array in arrays])
            for k in range(len(programs)):
                own[k] = next(read)
            if programs and recipe.length:
                own[-1] *= width / radii[rows]
            if not more:
                return
            inside = counts >= self.facts.max_iterations
            x, y = next(read), next(read)
            if recipe.raw:
                own[0], own[1] = np.where(inside, np.nan, counts), np.sqrt(x * x + y * y)
                keep_directions(x, y, codes[0])
                if recipe.derivative:
                    p, q = next(read) * radii[rows], next(read) * radii[rows]
                    largest = np.maximum(abs(p), abs(q))
                    part = np.minimum(abs(p), abs(q)) / np.where(largest > 0, largest, 1)
                    own[2] = largest * np.sqrt(1 + part * part)
                    keep_directions(p, q, codes[1])
                for k in range(recipe.statistics):
                    own[k - recipe.statistics] = next(read)
                return
            far = ~np.isfinite(x * x + y * y)
            x, y = np.where(far, 2, x), np.where(far, 0, y)
            p, q = next(read), next(read)
            largest = np.maximum(abs(p), abs(q))
            p, q = (part / np.where(largest > 0, largest, 1) for part in (p, q))
            keep_directions(x * p + y * q, x * q - y * p, codes[0])
            codes[0][inside] = EMPTY

        self.maker.iterate(drawing, first, last, take)
        for k in range(recipe.numbers):
            for row in range(0, last - first, ROWS):
                rows = slice(row, row + ROWS)
                keep_numbers(numbers[k, rows], found.codes[k, rows], found.scales[k, rows])
        return found

    def tile(self, kept: PackedSamples, rows: NDArray[np.float64], moment: Moment) -> FrameTile:
        """Return samples as those of a frame; `rows` of level 0 are where they lie, (rows, 1)."""
        real, to_device = self.backend.real, self.backend.to_device
        codes, scales = kept.codes, kept.scales.astype(real)
        numbers = []
        for k in range(len(self.recipe.values)):
            block = codes.shape[2] // scales.shape[2]
            bits = np.int32(block.bit_length() - 1)
            own = to_device(np.ascontiguousarray(codes[k])), to_device(scales[k])
            numbers.append((*own, bits))
        raw = None
        if self.recipe.raw:
            raw = self._raw(kept, rows, moment)
        elif self.recipe.length or self.recipe.direction:
            raw = self._gradient(kept, rows, moment)
        return FrameTile(raw, tuple(numbers))

    def values(self, kept: PackedSamples, layer: int, fill: Fill, raw: EscapeTile | None) -> Any:
        """Return a layer's values of samples; `raw` is that of their `FrameTile`."""
        if layer in self.recipe.values:
            return _decoded(kept, self.recipe.values.index(layer))
        assert raw
        on_device = self.backend.empty(raw.count.shape, self.backend.real)
        fill(on_device, raw, self.facts.max_iterations, self.facts.count_offset)
        found = np.empty(raw.count.shape, self.backend.real)
        self.backend.to_host(on_device, found)
        return found

    def _gradient(
        self, kept: PackedSamples, rows: NDArray[np.float64], moment: Moment
    ) -> EscapeTile:
        """Return samples with the same gradient, and another z."""
        recipe, codes = self.recipe, kept.codes
        shape = codes.shape[1:]
        inside: Any = np.zeros(shape, bool)
        p, q = np.ones(shape), np.zeros(shape)
        if recipe.direction:
            inside = codes[-1] == EMPTY
            p, q = self._pointed(codes[-1], moment)
        if recipe.length:
            distances = _decoded(kept, len(recipe.values)) / self._scale(rows, moment)
            inside = inside | np.isnan(distances)
            size = np.where(distances > 0, ESTIMATE / np.where(distances > 0, distances, 1), 0)
            p, q = p * size, q * size
        counts = np.where(inside, np.int32(self.facts.max_iterations), np.int32(0))
        return self._escape_tile(counts, *_point(shape), p, q, ())

    def _raw(self, kept: PackedSamples, rows: NDArray[np.float64], moment: Moment) -> EscapeTile:
        recipe, codes = self.recipe, kept.codes[self.recipe.numbers :]
        numbers = [_decoded(kept, k) for k in range(recipe.numbers)]
        counts = np.where(np.isnan(numbers[0]), self.facts.max_iterations, np.rint(numbers[0]))
        x, y = (np.take(part, codes[0]) * numbers[1] for part in directions(1, 0).T.copy())
        p, q = np.zeros((2, 1, 1))
        if recipe.derivative:
            size = numbers[2] * self._scale(rows, moment)
            p, q = (part * size for part in self._pointed(codes[1], moment))
        return self._escape_tile(counts, x, y, p, q, numbers[2 + recipe.derivative :])

    def _escape_tile(self, counts: Any, x: Any, y: Any, p: Any, q: Any, planes: Any) -> EscapeTile:
        real, to_device = self.backend.real, self.backend.to_device
        statistics = np.stack(planes) if len(planes) else np.zeros((1, 1, 1))
        arrays = (to_device(part.astype(real, copy=False)) for part in (x, y, p, q, statistics))
        return EscapeTile(to_device(counts.astype(np.int32, copy=False)), *arrays)

    def _pointed(self, codes: Any, moment: Moment) -> tuple[Any, Any]:
        """Return the unit vectors of directions of dz along the axes of a frame."""
        turn = moment.rotation - widest(self.strip.part).rotation
        if self._turned is None or self._turned[0] != turn:
            found = direction(-turn if self.strip.scene.view.mirror else turn)
            self._turned = turn, *directions(*found).T.copy()
        return np.take(self._turned[1], codes), np.take(self._turned[2], codes)

    def _scale(self, rows: NDArray[np.float64], moment: Moment) -> NDArray[np.float64]:
        """Return a frame's width over the distance of rows from the fixed point."""
        strip = self.strip
        octaves = (rows - MARGIN) / strip.layout.octave - moment.octaves
        # NumPy's function differs between CPUs.
        powers = np.array([2.0**octave for octave in octaves.ravel().tolist()])
        scale: float = strip.size[0] / strip.fixed.rim
        return scale * powers.reshape(octaves.shape)

    def placing(
        self, painter: Painter, layer: ResolvedLayer, placed: PlaceOptions, values: Values | None
    ) -> tuple[Run, Run | None, Any]:
        """Return the programs of a layer that take a `FrameTile`."""
        backend = painter.backend
        k = number_of(painter.layers, layer)
        if k not in self.recipe.values:
            place, fill, table = place_samples(painter, layer, placed, values)
            if fill:
                return place, _of_raw(fill), table
            return _of_raw(place), None, None
        at = self.recipe.values.index(k)

        def fill_values(found: Any, tile: FrameTile, inputs: ColoringInputs) -> None:
            self._decode(found, *tile.numbers[at])

        decode = Run(fill_values, "plain")
        if layer.coloring.rank_table:
            place = backend.compile(shade.make_ranked_body, placed)
            return place, decode, rank_table(painter, layer, values)
        run = backend.compile(shade.make_valued_body, placed)
        return Run(lambda at, v, _, inputs: run(at, v, inputs), "plain"), decode, None


def _programs(recipe: Recipe, painter: Painter, layers: Layers) -> list[Fill]:
    """Return the programs that compute the numbers, but for raw ones."""
    found = [painter.value_program(layers.drawn[k]) for k in recipe.values]
    if recipe.length:
        distance = catalog.load("coloring", "distance")().choose({})
        layer = next(layer for layer in layers.drawn if layer.coloring.gradient == "length")
        found.append(painter.value_program(replace(layer, coloring=distance)))
    return found


@functools.lru_cache(maxsize=16)
def _point(shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return z of samples of which the gradient alone is known."""
    return np.full(shape, POINT), np.zeros(shape)


def number_of(layers: Layers, layer: ResolvedLayer) -> int:
    """Return the number of a layer."""
    return next(k for k, each in enumerate(layers.drawn) if each is layer)


def _of_raw(run: Run) -> Run:
    """Return a program that takes a `FrameTile` in place of its raw numbers."""
    return Run(lambda out, tile, *inputs: run(out, tile.raw, *inputs), "plain")


def _decoded(kept: PackedSamples, k: int) -> NDArray[np.float64]:
    """Return numbers that are kept, shape (rows, columns)."""
    codes, scales = kept.codes[k], kept.scales[k].astype(np.float64)
    blocks = codes.reshape(*scales.shape[:2], -1)
    found: NDArray[np.float64] = numbers_of(blocks, scales[..., :1], scales[..., 1:])
    return found.reshape(codes.shape[0], codes.shape[1])


def _radii(plan: Plan, first: int, last: int) -> NDArray[np.float64]:
    """Return the radii of the rows of a band, as `Samples.arms` scales them: shape (rows, 1)."""
    rows = np.arange(first, last)[:, None]
    x, y = Samples(plan).arms(np.zeros((1, 1), np.int64), rows)
    # NumPy's function differs between CPUs.
    found = [math.hypot(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    return np.array(found)[:, None]

"""Bands of a strip: the exponential map about the fixed point of a zoom, one band after the other.

The strip begins at the rim, the circle about the fixed point through the farthest corner of the
widest frame, and leads inwards. A band has 2**k rows and 8 to 16 times as many columns, so its
texels are square and halve k times without a remainder. Below the rim of the deepest frame, where
frames need the coarser levels only, bands have half the columns each octave.
"""

import decimal
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.deep import orbit_cache
from fractals.deep.reference import OrbitRequest, Reference
from fractals.films.frames import FilmConstants
from fractals.films.motion import FilmPart, FilmView
from fractals.kernels.coloring import Coloring
from fractals.kernels.layout import EscapeTile
from fractals.kernels.strip import MIN_DISTANCE
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    compilation_explained,
    draw_tile,
    make_painter,
    make_source,
    run,
    shade_tile,
)
from fractals.rendering.iteration import GridMethod, Stop
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, make_plan
from fractals.rendering.probing import Pairs
from fractals.rendering.shading import Painter
from fractals.rendering.tiles import Tile, tiles_within
from fractals.scene.geometry import make_layers, matrix
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, decimals, log2
from fractals.scene.picture import View
from fractals.threads import run_tiles

# --- More samples of texels in noise: where a picture has details finer than the texels
#
# A block of texels is noisy if neighbours differ in a way that no even slope explains. Its texels
# become means of more samples, in linear light. The decision about a block depends on the texels of
# the block and of an area around it. Both have a fixed place in a band, so neither threads nor the
# order of bands change a texel, and the borders of bands are invisible.

BLOCK = 4  # texels along each side
AREA = 8  # blocks along each side
# Differences above which a block is noisy, in square roots of linear light, about the scale of
# sRGB.
NOISY = 0.1
FAINT = 0.04  # the same in dense areas
# Share of noisy blocks in an area from which its texels take more samples, at one texel a pixel;
# it is less where more texels are asked for, and so a higher quality.
DENSE = 0.5
SIDES = 2, 4  # samples of a texel along each side: in noisy blocks, in noisy blocks of dense areas
SECTORS = 64  # of a turn
LEAST_SHARE = 2.0**-16  # of the rim: pixels nearer to the fixed point count as there
WIDE = 32 * AREA  # blocks that a thread looks at together
AT_ONCE = 2**14  # samples that a thread takes together

Texels = NDArray[np.uint16]
Sides = NDArray[np.int64]


def sectors_seen(
    place: tuple[float, float], rim: float, size: tuple[int, int], turns: bool
) -> list[float]:
    """Return the octaves between the rim and the farthest pixels of each sector of a frame.

    Sectors begin at the first column of a strip. Their neighbours count too.

    `place`: column and row of the fixed point, in pixels. `rim`: distance of the farthest corner.
    `size`: width and height of the frame. `turns`: whether frames turn against the strip: each
    angle is then seen in all sectors.
    """
    width, height = size
    far = [0.0] * SECTORS
    edges = [(x, y) for x in range(width + 1) for y in (0, height)]
    edges += [(x, y) for y in range(height + 1) for x in (0, width)]
    for x, y in edges:
        right, up = x - place[0], place[1] - y
        turn = 0.5 - math.atan2(up, right) / math.tau
        sector = int(turn * SECTORS) % SECTORS
        for near in (sector - 1, sector, (sector + 1) % SECTORS):
            far[near] = max(far[near], math.hypot(right, up))
    if turns:
        far = [max(far)] * SECTORS
    return [math.log2(rim / max(radius, rim * LEAST_SHARE)) for radius in far]


def differences(texels: Texels) -> NDArray[np.float32]:
    """Return how much the light of blocks differs from even slopes, shape (rows, columns).

    In each four texels of a block, slopes cancel out in the difference of the two diagonals. It is
    a quarter of the sums of diagonals, and of blocks the root of the mean square.
    """
    down, across = texels.shape[0] // BLOCK, texels.shape[1] // BLOCK
    red, green, blue = (texels[:, :, k].astype(np.float32) for k in range(3))
    green *= np.float32(2)
    light = np.sqrt((red + green + blue) * np.float32(1 / (4 * 65535)))
    diagonal, other = light[::2, ::2] + light[1::2, 1::2], light[::2, 1::2] + light[1::2, ::2]
    squares = (diagonal - other) ** 2
    half = BLOCK // 2
    parts = squares.reshape(down, half, across, half)
    sums = (parts[:, 0, :, 0] + parts[:, 0, :, 1]) + (parts[:, 1, :, 0] + parts[:, 1, :, 1])
    found: NDArray[np.float32] = np.sqrt(sums) * np.float32(1 / (2 * half))
    return found


def sides_of(texels: Texels, coarser: Sides, dense: float = DENSE) -> Sides:
    """Return how many samples along each side the texels of blocks take, shape (rows, columns).

    `texels`: ndarray, shape (rows, columns, 3); rows of a band, from one that is a multiple of the
    rows of an area. `coarser`: ndarray of int, shape (columns of blocks,); levels between these
    texels and the finest that frames take. `dense`: share of noisy blocks in an area from which it
    is dense.
    """
    found = differences(texels)
    noisy = found > NOISY
    down, across = noisy.shape
    sums = np.add.reduceat(noisy.astype(np.int64), range(0, down, AREA), 0)
    sums = np.add.reduceat(sums, range(0, across, AREA), 1)
    rows = np.minimum(AREA, down - np.arange(0, down, AREA))
    columns = np.minimum(AREA, across - np.arange(0, across, AREA))
    areas = sums >= dense * rows[:, None] * columns
    areas = areas.repeat(AREA, 0)[:down].repeat(AREA, 1)[:, :across]
    sides = np.where(areas & (found > FAINT), SIDES[1], np.where(noisy, SIDES[0], 1))
    taken: Sides = np.maximum(sides >> coarser, 1)
    return taken


class Refiner:
    """Takes more samples of texels in noise."""

    def __init__(
        self,
        backend: Backend,
        painter_of: Callable[[int], Painter],
        columns: int,
        seen: Sequence[int],
        density: float,
    ) -> None:
        """Take what frames see of a strip.

        `painter_of`: ``painter_of(n)`` returns the painter whose texels are means of n x n samples.
        `columns`: of level 0. `seen`: the finest level that frames take, of each sector. `density`:
        texels of level 0 along a side of a pixel at the rim.
        """
        self.backend, self.painter_of, self.columns = backend, painter_of, columns
        self._seen = np.array(seen)
        self._dense = DENSE / max(1.0, density)
        self._last: dict[int, Drawing] = {}
        self._plan: Plan | None = None

    def coarser(self, columns: int) -> Sides:
        """Return the levels that `sides_of` takes; `columns` is the width of the texels' level."""
        level = (self.columns // columns).bit_length() - 1
        sectors = np.arange(columns // BLOCK) * SECTORS // (columns // BLOCK)
        # Bands below the deepest rim are a level finer than frames need.
        found: Sides = np.maximum(self._seen[sectors] - level, min(level, 1))
        return found

    def added(self, drawing: Drawing, tile: Tile, raw: EscapeTile) -> float:
        """Return how many samples are added for each texel of a tile, from its own samples."""
        if tile.width % BLOCK or tile.height % BLOCK:
            return 0.0
        texels = np.empty((tile.height, tile.width, 3), np.uint16)
        self.backend.to_host(shade_tile(drawing, tile, raw), texels)
        first = tile.x // BLOCK
        coarser = self.coarser(drawing.plan.size[0])[first : first + tile.width // BLOCK]
        sides = sides_of(texels, coarser, self._dense)
        return float((sides**2 * (sides > 1)).mean())

    def refine(self, drawing: Drawing, first: int, texels: Texels) -> None:
        """Replace texels in noise by means of more samples.

        `drawing`: of the band. `first`: row of the band that is the first of `texels`. `texels`:
        ndarray of uint16, shape (rows, columns, 3).
        """
        if texels.shape[0] % BLOCK or texels.shape[1] % BLOCK:
            return  # near the middle of the last frames
        threads = self.backend.threads
        coarser = self.coarser(texels.shape[1])
        sides = np.empty((texels.shape[0] // BLOCK, texels.shape[1] // BLOCK), np.int64)

        def look(begin: int) -> dict[str, float]:
            own = texels[:, BLOCK * begin : BLOCK * (begin + WIDE)]
            part = slice(begin, begin + WIDE)
            sides[:, part] = sides_of(own, coarser[part], self._dense)
            return {}

        run_tiles(range(0, sides.shape[1], WIDE), look, threads)
        at_once = AT_ONCE if threads else max(AT_ONCE, drawing.plan.largest_tile)
        tasks: list[tuple[Drawing, Sides]] = []
        for side in np.unique(sides[sides > 1]).tolist():
            places, count = np.argwhere(sides == side), at_once // (BLOCK * side) ** 2
            finer = self._finer(drawing, side)
            tasks += [(finer, places[k : k + count]) for k in range(0, len(places), count)]
        run_tiles(tasks, lambda task: self._fill(*task, first, texels), threads)

    def _finer(self, drawing: Drawing, side: int) -> Drawing:
        """Return a drawing of the same band with side x side samples a texel."""
        if self._plan is not drawing.plan:
            self._plan, self._last = drawing.plan, {}
        if side not in self._last:
            plan, source = replace(drawing.plan, supersampling=side), drawing.source
            assert isinstance(source, GridMethod)
            source = source.sampled(plan)
            self._last[side] = replace(
                drawing, plan=plan, source=source, painter=self.painter_of(side)
            )
        return self._last[side]

    def _fill(self, finer: Drawing, places: Sides, first: int, texels: Texels) -> dict[str, float]:
        """Fill the blocks at some places, (row, column) each."""
        side, source, painter = finer.plan.supersampling, finer.source, finer.painter
        assert painter
        across = BLOCK * side
        steps = np.arange(across)
        v, u = places[:, 0], places[:, 1]
        i = (u * across)[:, None, None] + steps
        j = (v * across + first * side)[:, None, None] + steps[:, None]
        shape = len(places) * across, across
        raw = source.iterate_some(i, j, shape)
        size = len(places) * BLOCK, BLOCK
        rgb = painter.paint_some(size, raw, source.max_iterations, source.count_offset)
        means = np.empty((*size, 3), np.uint16)
        self.backend.to_host(rgb, means)
        rows, columns = texels.shape[:2]
        blocks = texels.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK, 3)
        # The sample in the middle of a texel, which is there already, counts as the others.
        total = means.reshape(-1, BLOCK, BLOCK, 3) * np.uint32(side**2) + blocks[v, :, u]
        share = np.uint32(side**2 + 1)
        blocks[v, :, u] = (total + share // 2) // share
        return {}


# --- Bands

MIN_BITS, MIN_TURN = 3, 16  # of a band: log2 of its rows, and columns of its coarsest level
# Share of a column of the coarsest level that may lack, so that it is not a twelfth too much.
LACKING = 0.3
# Levels by which bands below the deepest rim are finer than frames need. So texels of the last
# frames are means of four samples; texels of earlier frames are means of more.
FINER = 1
# Level at the rim. With 0 a band more is held, and frames are 0.2 dB closer to many samples; with
# 0.25 they are 0.2 dB farther from them. Four texels of a level cover the side of a pixel.
RIM_LEVEL, MOST_TEXELS = 0.14, 2
LEAST_TURN = 4  # columns of the coarsest level, because a pixel is made from 4 x 4 texels
MARGIN = 2  # rows between the beginning of the strip and the rim
# Octaves of bands that share their tables. With more of them, tables skip fewer steps of the inner
# bands. Where numbers have exponents of their own, tables do not depend on the size of c.
OCTAVES_A_TABLE, EXTENDED_OCTAVES_A_TABLE = 4, 64
SPARE_DECIMALS = 8  # of the fixed point, beyond those of the finest texel
WIDTH_DIGITS = 25  # significant, of a band's width
TAU = Decimal("6.283185307179586476925286766559005768394")

# Widths of a frame from it to the fixed point. A strip about a point that is farther has more
# samples than all frames of any film, and sizes that are beyond float64.
FARTHEST = 2**40

# log10 of the largest |z| that is kept in float32, with room for its square's logarithm.
MAX_LOG10_Z = 37

Take = Callable[[slice, slice, EscapeTile, Pairs], None]


@dataclass(frozen=True)
class Fixed:
    """Where the fixed point of a zoom lies on the screen, in pixels."""

    # x, y: column and row, from the top left corner
    x: float
    y: float
    rim: float  # distance of the farthest corner


def fixed_place(scene: Scene, part: FilmPart, size: tuple[int, int]) -> Fixed:
    """Return where the fixed point of a part lies, in every frame of it."""
    assert part.fixed
    wide = widest(part)
    view = scene.view.model_copy(update={"rotation": math.remainder(wide.rotation, 360)})
    a, b, c, d = matrix(view)
    p, q = (
        (there - here) / wide.width * size[0]
        for there, here in zip(part.fixed, wide.center, strict=True)
    )
    whole = a * d - b * c
    right, up = float((d * p - b * q) / whole), float((a * q - c * p) / whole)
    x, y = size[0] / 2 + right, size[1] / 2 - up
    rim = max(math.hypot(i - x, j - y) for i in (0, size[0]) for j in (0, size[1]))
    return Fixed(x, y, rim)


def widest(part: FilmPart) -> FilmView:
    """Return the wider one of a part's keys."""
    return max(part.start, part.end, key=lambda place: place.width)


@dataclass(frozen=True)
class Layout:
    """The texels of a strip: its bands, and what frames need of them."""

    turn: int  # columns of the coarsest level
    bits: int  # log2 of the rows of a band; also the coarsest level
    depth: float  # octaves from the widest to the deepest frame
    # Level that serves the pixels at the rim of a frame. Its fraction grows inwards, and where it
    # is 1 the next level begins.
    rim_level: float
    reach: float  # octaves from the rim of a frame to the pixel nearest to the fixed point
    # Above 0: the strip keeps samples, and texels of level k are means of samples of level
    # k - finer, or of level 0. 0: the strip keeps texels.
    finer: int = 0
    # Rows of level 0 beyond a frame's own that its texels are made of, where samples are kept
    blurred: int = 0

    @property
    def columns(self) -> int:
        """Return the columns of level 0."""
        return self.turn << self.bits

    @property
    def rows(self) -> int:
        """Return the rows of a band in level 0."""
        return 1 << self.bits

    @property
    def octave(self) -> float:
        """Return the rows of level 0 in which the radius halves."""
        return self.columns * math.log(2) / math.tau

    @property
    def bands(self) -> int:
        """Return how many bands there are, down to the middle of the deepest frame."""
        last = MARGIN + (self.depth + self.reach) * self.octave + self.blurred
        return math.ceil(last / self.rows) + 1

    @property
    def levels(self) -> int:
        """Return how many levels are kept."""
        return self.bits + 1 - self.finer

    def rows_of(self, level: int, shallow: float, deep: float) -> range:
        """Return the rows of texels of a level that frames between two depths in octaves take."""
        first, last = self._taken(level, shallow, deep)
        begin = max(0, math.floor(first / 2**level))
        return range(begin, min(self.bands << (self.bits - level), int(last // 2**level) + 1))

    def _taken(self, level: int, shallow: float, deep: float) -> tuple[float, float]:
        """Return the rows of level 0 between which frames take texels of a level."""
        slack = 2.5 * 2**level
        begins, ends = self._served(level)
        first = MARGIN + (shallow + begins) * self.octave - slack
        last = MARGIN + (deep + ends) * self.octave + slack
        return first, last

    def _served(self, level: int) -> tuple[float, float]:
        """Return the octaves from the rim of a frame between which a level serves pixels."""
        ends = self.reach if level == self.bits else level + 1 - self.rim_level
        return max(0.0, level - self.rim_level), ends

    def needed(self, level: int, shallow: float, deep: float) -> range:
        """Return the bands of which frames between two depths need texels of a level."""
        first, last = self._taken(level, shallow, deep)
        if self.blurred:
            last += self.blurred + 3 * 2**level
        begin = max(0, math.floor(first / self.rows))
        return range(begin, int(min(self.bands, last // self.rows + 1)))

    def finest(self, band: int) -> int:
        """Return the level of a band whose texels are samples."""
        return _finest_levels(self)[band]

    def held(self, level: int, shallow: float, deep: float) -> range:
        """Return the bands of which these frames or shallower ones need a kept level."""
        begin = min(self.needed(level, shallow, deep).start for level in (0, 1))
        return range(begin, self.needed(level, shallow, deep).stop)

    def band_samples(self, band: int) -> int:
        """Return how many samples of a band are iterated."""
        return self.columns * self.rows >> 2 * self.finest(band)


@functools.lru_cache(8)
def _finest_levels(layout: Layout) -> list[int]:
    """Return the level of each band whose texels are samples."""
    found: list[int] = []
    for coarsest in range(layout.bits + 1):
        level = max(0, coarsest - max(FINER, layout.finer))
        found += [level] * (layout.needed(coarsest, 0.0, layout.depth).stop - len(found))
    return found


def make_layout(fixed: Fixed, density: float, depth: float, finer: int = 0) -> Layout:
    """Return the layout with about `density` texels a pixel, along each side, at the rim.

    `finer` is that of `Layout`.
    """
    wanted = math.tau * fixed.rim * density
    bits = max(MIN_BITS, math.floor(math.log2(wanted / MIN_TURN)))
    turn = max(LEAST_TURN, math.ceil(wanted / 2**bits - LACKING))
    found = math.log2((turn << bits) / math.tau / fixed.rim)
    reach = math.log2(fixed.rim / MIN_DISTANCE)
    rim_level = max(RIM_LEVEL, found - math.log2(MOST_TEXELS))
    return Layout(turn, bits, depth, rim_level, reach, finer)


class BandMaker:
    """Draws the bands of a strip, in linear light, or iterates their samples.

    `scene`: of the film; its view says how it is stretched and mirrored.
    """

    def __init__(
        self,
        scene: Scene,
        part: FilmPart,
        fixed: Fixed,
        layout: Layout,
        facts: FilmConstants,
        backend: Backend,
        options: RenderOptions,
    ) -> None:
        assert part.fixed
        self.layout, self.facts, self.backend, self.options = layout, facts, backend, options
        wide = widest(part)
        self._log_width = decimal.Context(prec=40).ln(
            _decimal(wide.width / scene.image.size[0]) * Decimal(2 * fixed.rim)
        )
        rotation = math.remainder(wide.rotation, 360)
        self._scene = scene.replace(
            center=_point_text(part.fixed, self._width(layout.bands)),
            rotation=rotation,
            projection="exponential",
            supersampling=1,
            antialias="grid",
            bits=16,
            max_iterations=facts.max_iterations,
        )
        self._source: GridMethod | None = None
        self._orbit = self._find_orbit()
        # A light comes from the same side as in a plane picture, whatever the angle of a column.
        plane = scene.view.model_copy(update={"rotation": rotation, "projection": "plane"})
        self._painter = self._make_painter(plane, 1)
        turns = part.start.rotation != part.end.rotation
        seen = sectors_seen((fixed.x, fixed.y), fixed.rim, scene.image.size, turns)
        coarser = [int(layout.rim_level + octaves) for octaves in seen]
        make = partial(self._make_painter, plane)
        density = layout.columns / (math.tau * fixed.rim)
        self.refiner = Refiner(backend, make, layout.columns, coarser, density)

    def open(self, band: int, more: int) -> Drawing:
        """Return the drawing of a band at its finest level, and of `more` rows below it."""
        plan = self._plan(band, more)
        return Drawing(plan, self.backend, self._source_of(plan), self._painter)

    def rows(self, drawing: Drawing, first: int, last: int) -> Texels:
        """Return rows of what `open` returned, shape (last - first, columns, 3)."""
        plan = drawing.plan
        columns, tile = plan.size[0], plan.tiles[0]
        tiles = tiles_within(columns, range(first, last), tile.width, tile.height)
        texels = np.empty((last - first, columns, 3), np.uint16)

        def draw(tile: Tile, stop: Stop) -> dict[str, float]:
            rows, across = tile.window()
            part = texels[rows.start - first : rows.stop - first, across]
            return draw_tile(drawing, tile, part, stop)

        with compilation_explained(plan):
            run(drawing, tiles, Sink(draw))
            self.refiner.refine(drawing, first, texels)
        return texels

    def iterate(self, drawing: Drawing, first: int, last: int, take: Take) -> None:
        """Iterate rows of what `open` returned, and call `take` for parts of them, in threads.

        Its arguments are the rows, from `first` on, and the columns of a part, its raw numbers on
        the device, and the flags of `SampleSource.iterate_for`. dz is along the axes of the widest
        frame.
        """
        plan = drawing.plan
        columns, most = plan.size[0], plan.tiles[0]
        tiles = tiles_within(columns, range(first, last), most.width, most.height)

        def iterate(tile: Tile, stop: Stop) -> dict[str, float]:
            rows, across = tile.window()
            place = slice(rows.start - first, rows.stop - first), across

            def use(raw: EscapeTile, flags: Pairs) -> None:
                take(*place, self._painter.turned(tile, raw), flags)

            drawing.source.iterate_for(tile, use, stop)
            return {}

        with compilation_explained(plan), np.errstate(over="ignore", invalid="ignore"):
            run(drawing, tiles, Sink(partial(drawing.room.take, iterate)))

    def plane(self, scene: Scene) -> Plan:
        """Return a plan that colors samples of a frame with the colors of a scene.

        dz is along the axes of the frame, and per width of it.
        """
        plan = self._plan(0, 0)
        own = plan.scene.model_copy(update={"color": scene.color})
        layers = make_layers(own)
        return replace(plan, scene=own, layers=layers, view=View(), width=Fraction(1))

    def _width(self, band: int) -> str:
        """Return the width of the view whose first row is that of a band, as text."""
        context = decimal.Context(prec=40)
        turns = Decimal(band * self.layout.rows - MARGIN) / self.layout.columns
        width = context.exp(self._log_width - turns * TAU)
        return str(decimal.Context(prec=WIDTH_DIGITS).plus(width))

    def group(self, band: int) -> Any:
        """Return a value that bands share whose samples are iterated with the same tables."""
        return _table_of(self._plan(band, 0))

    def _plan(self, band: int, more: int) -> Plan:
        level = self.layout.finest(band)
        size = self.layout.columns >> level, (self.layout.rows >> level) + more
        view = self._scene.view.model_copy(update={"width": self._width(band), "zoom": None})
        image = self._scene.image.model_copy(update={"size": size})
        scene = self._scene.model_copy(update={"view": view, "image": image})
        device, threads = self.backend.kind, self.backend.threads or 1
        plan = make_plan(scene, device, self.options.interior_shortcuts, threads)
        apart = EXTENDED_OCTAVES_A_TABLE if plan.extended else OCTAVES_A_TABLE
        stretch = max(view.stretch, 1 / view.stretch)
        group = apart * math.ceil(log2(plan.width / 2 * Fraction(stretch)) / apart)
        reach = Fraction(2) ** group
        return replace(plan, depth=0.0, exponent=group if plan.extended else 0, reach=reach)

    def _source_of(self, plan: Plan) -> GridMethod:
        """Return what iterates a band: the programs and tables of the band before, if they fit."""
        last = self._source
        if last and _table_of(last.plan) == _table_of(plan):
            self._source = last.sampled(plan)
            return self._source
        with compilation_explained(plan):
            made = make_source(self.backend, plan, self._orbit)
        assert isinstance(made, GridMethod)
        made.count_offset = self.facts.count_offset
        self._source = made
        return made

    def _find_orbit(self) -> Any:
        """Return what finds the reference orbits: those of the deepest band serve all."""
        deepest = self._plan(self.layout.bands - 1, 0)
        find = orbit_cache.find_same if self.options.cache else orbit_cache.compute_orbit
        orbits: dict[Any, Reference] = {}

        def found(wanted: OrbitRequest) -> Reference:
            bits = max(wanted.bits, deepest.bits)
            if (wanted.start, bits) not in orbits:
                reach = wanted.view_radius and deepest.finest / 8
                orbits[wanted.start, bits] = find(replace(wanted, bits=bits, view_radius=reach))
            return orbits[wanted.start, bits]

        return found

    def _make_painter(self, view: View, side: int) -> Painter:
        plan = self._plan(0, 0)
        identity = np.arange(2**16, dtype=np.uint16)
        own = replace(plan, view=view, supersampling=side)
        return make_painter(self.backend, own, np.dtype(np.uint16), None, identity)


def _table_of(plan: Plan) -> tuple[Any, ...]:
    """Return what programs and tables of a band depend on."""
    return plan.method, plan.precision, plan.extended, plan.reach if plan.deep else None


def obstacle(scene: Scene, part: FilmPart, recolored: bool = False) -> str:
    """Return why a part's frames cannot come from a strip; "" if they can.

    `recolored`: the colors change during the part, so the strip keeps values.
    """
    assert part.fixed
    wide = widest(part)
    if any(
        abs(p - c) > FARTHEST * wide.width for p, c in zip(part.fixed, wide.center, strict=True)
    ):
        return "the point that stands still is far outside of the frames"
    turns = part.start.rotation != part.end.rotation
    if scene.view.stretch != 1 and turns:
        return "a stretched view that turns has no strip"
    if make_layers(scene).masks:
        return "a mask lies over a frame"
    for coloring in _scaled(scene):
        if not coloring.derivative:
            return f"the coloring '{coloring.name}' measures distances in widths of a frame"
    formula, radius = scene.make_formula(), scene.iteration.escape_radius
    valued = recolored or keeps_values(scene, part)
    if valued and math.log10(radius) * max(2, formula.degree) > MAX_LOG10_Z:
        return "the escape radius is too large for the values that a strip keeps"
    return ""


def keeps_values(scene: Scene, part: FilmPart) -> str:
    """Return why each frame is colored by itself, from values that a strip keeps; or ""."""
    layers = make_layers(scene)
    if layers.derivative and part.start.rotation != part.end.rotation:
        return "the light turns against the view"
    for layer in layers.drawn:
        if layer.coloring.rank_table:
            return f"the coloring '{layer.coloring.name}' ranks the values of a frame"
    for coloring in _scaled(scene):
        return f"the coloring '{coloring.name}' measures distances in widths of a frame"
    return ""


def _scaled(scene: Scene) -> Iterator[Coloring]:
    """Yield the colorings of a scene whose values depend on the width of the view."""
    formula, radius = scene.make_formula(), scene.iteration.escape_radius
    for layer in make_layers(scene).drawn:
        coloring = layer.coloring
        widths = (coloring.constants(formula, radius, w, **coloring.settings) for w in (1.0, 2.0))
        if len({tuple(constants) for constants in widths}) > 1:
            yield coloring


def _point_text(point: tuple[Fraction, Fraction], width: str) -> tuple[str, str]:
    """Return a point as decimal text with the digits that a view of this width needs."""
    places = SPARE_DECIMALS + decimals(Fraction(Decimal(width)))
    x, y = (decimal_places(part, places) for part in point)
    return x, y


def _decimal(value: Fraction) -> Decimal:
    context = decimal.Context(prec=40)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))

"""More samples of texels in noise: where a picture has details finer than the texels of a strip.

A block of texels is noisy if neighbours differ in a way that no even slope explains. Its texels
become means of more samples, in linear light. What is decided about a block depends on its own
texels and on those of an area about it. Both have a fixed place in a band, so neither threads nor
the order of bands change a texel, and nothing is to be seen at the borders of bands.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.kernels.layout import EscapeTile
from fractals.rendering.drawing import Drawing, shade_tile
from fractals.rendering.iteration import GridMethod
from fractals.rendering.plan import Plan, Tile
from fractals.rendering.shading import Painter
from fractals.threads import run_tiles

BLOCK = 4  # texels along each side
AREA = 8  # blocks along each side
# Differences above which a block is noisy, in square roots of linear light, about the scale of
# sRGB.
NOISY = 0.1
FAINT = 0.04  # the same in dense areas
# Share of noisy blocks in an area from which its texels take more samples, at one texel a pixel;
# it is less where more texels are asked for, and so a higher quality.
DENSE = 0.5
SIDES = 2, 4  # samples of a texel along each side, of noisy blocks and of those in dense areas
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

"""TileBatches: runs the tiles of a view in all threads, some in each step of the engine."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from fractals.errors import OptionError
from fractals.explorer.picture import Picture
from fractals.explorer.scheduler import Engine, Steps, Work
from fractals.explorer.view_messages import ViewMessages
from fractals.rendering.drawing import Drawing
from fractals.rendering.tiles import Tile
from fractals.threads import run_tiles

MAX_SECONDS = 60.0  # of work on a view, until the user says to go on
TILE_SECONDS = 0.02  # of a thread: stale work ends within about this time
SIDES = (256, 128, 64, 32)  # pixels of a tile
SLOW_SIDES = (32, 16, 8, 4)  # where others would wait too long; they iterate more slowly
SLOW_SECONDS = 0.25  # of such a tile
MAX_LIMIT = 10**8  # iterations of a sample while others are connected: some seconds
MAX_STEPS = 2**31  # iterations of a tile while others are connected: some seconds
STEP_SECONDS = 0.25  # of a step of the engine, where it has more tiles than threads
LONG = 3600.0  # seconds until paused work looks again whether it may go on


class TileBatches:
    """Runs the tiles of a view until newer work replaces the view.

    Attributes
    ----------
    allowed : float
        Seconds of work, after which the view is paused.
    """

    def __init__(self, engine: Engine, work: Work, messages: ViewMessages) -> None:
        self.engine, self.work, self.messages = engine, work, messages
        self.allowed = MAX_SECONDS

    def go_on(self) -> None:
        """Allow four times as much work."""
        self.allowed *= 4
        self.work.not_before = 0.0

    def run(self, tiles: Sequence[Tile], draw: Callable[[Tile], None]) -> None:
        """Call ``draw(tile)`` for each tile, in all threads; raise `Stale` for replaced work."""

        def unless_stale(tile: Tile) -> dict[str, float]:
            if not self.work.stale():
                draw(tile)
            return {}

        run_tiles(list(tiles), unless_stale, self.engine.backend("float64").threads)
        self.work.check()

    def paced(
        self, drawing: Drawing, tiles: Sequence[Tile], draw: Callable[[Tile], None]
    ) -> Iterator[float]:
        """Run tiles, four for each thread at once or fewer slow ones; yield seconds after each.

        While several clients are connected, tiles are so small that each ends in some seconds even
        if every sample takes all iterations: the CPU's loop can't be stopped.

        Raises
        ------
        OptionError
            A single sample could take much longer.
        """
        limit, direct = drawing.source.max_iterations, drawing.plan.method == "direct"
        most = MAX_STEPS // (limit * drawing.plan.supersampling**2) if direct else MAX_STEPS
        threads = max(1, drawing.backend.threads)
        waiting, count = deque(tiles), 4 * threads
        while waiting:
            batch: list[Tile] = []
            while waiting and len(batch) < count:
                tile = waiting.popleft()
                if self.engine.crowded():
                    if direct and limit > MAX_LIMIT:
                        raise OptionError(
                            f"others are connected: lower max_iterations to {MAX_LIMIT}"
                        )
                    tile, *rest = smaller(tile, most)
                    waiting.extendleft(reversed(rest))
                batch.append(tile)
            begun = monotonic()
            self.run(batch, draw)
            seconds = monotonic() - begun
            count = threads if seconds > STEP_SECONDS else 4 * threads
            yield seconds

    def steps(
        self,
        picture: Picture,
        drawing: Drawing,
        tiles: Sequence[Tile],
        draw: Callable[[Tile], None],
    ) -> Steps:
        """Run tiles, some for each thread in a step of the engine."""
        for seconds in self.paced(drawing, tiles, draw):
            picture.seconds += seconds
            if picture.seconds > self.allowed:
                self.messages.paused(self.allowed)
                while picture.seconds > self.allowed:
                    yield monotonic() + LONG
            yield None


def smaller(tile: Tile, most: int) -> list[Tile]:
    """Return a tile in parts of at most `most` pixels, or of one pixel."""
    if tile.width * tile.height <= max(1, most):
        return [tile]
    x, y, width, height = tile
    if width >= height:
        half = width // 2
        parts = [Tile(x, y, half, height), Tile(x + half, y, width - half, height)]
    else:
        half = height // 2
        parts = [Tile(x, y, width, half), Tile(x, y + half, width, height - half)]
    return [each for part in parts for each in smaller(part, most)]


def tile_side(rate: float, n: int) -> int:
    """Return the side of a tile of about TILE_SECONDS.

    Parameters
    ----------
    rate : float
        Samples a second of one thread.
    n : int
        Samples across a pixel.
    """
    pixels, slow = (rate * seconds / n**2 for seconds in (TILE_SECONDS, SLOW_SECONDS))
    found = [side for side in SIDES if side * side <= pixels]
    found += [side for side in SLOW_SIDES if side * side <= slow]
    return found[0] if found else SLOW_SIDES[-1]


def tiles_outwards(size: tuple[int, int], focus: tuple[float, float], side: int) -> list[Tile]:
    """Return the tiles of a picture, the nearest to the focus first."""
    width, height = size
    tiles = [
        Tile(x, y, min(side, width - x), min(side, height - y))
        for y in range(0, height, side)
        for x in range(0, width, side)
    ]
    x, y = focus
    return sorted(tiles, key=lambda t: math.hypot(t.x + t.width / 2 - x, t.y + t.height / 2 - y))

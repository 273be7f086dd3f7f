"""TileBatches: runs the tiles of a view in all threads, some in each step of the engine."""

import math
from collections.abc import Callable, Sequence
from time import monotonic

from fractals.explorer.picture import Picture
from fractals.explorer.scheduler import Engine, Steps, Work
from fractals.explorer.view_messages import ViewMessages
from fractals.rendering.tiles import Tile
from fractals.threads import run_tiles

MAX_SECONDS = 60.0  # of work on a view, until the user says to go on
TILE_SECONDS = 0.02  # of a thread: stale work ends within about this time
SIDES = (256, 128, 64, 32)  # pixels of a tile
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

    def steps(self, picture: Picture, tiles: Sequence[Tile], draw: Callable[[Tile], None]) -> Steps:
        """Run tiles, some for each thread in a step of the engine."""
        threads = max(1, picture.drawing.backend.threads)
        for k in range(0, len(tiles), 4 * threads):
            begun = monotonic()
            self.run(tiles[k : k + 4 * threads], draw)
            picture.seconds += monotonic() - begun
            if picture.seconds > self.allowed:
                self.messages.paused(self.allowed)
                while picture.seconds > self.allowed:
                    yield monotonic() + LONG
            yield None


def tile_side(rate: float, n: int) -> int:
    """Return the side of a tile of about TILE_SECONDS.

    Parameters
    ----------
    rate : float
        Samples a second of one thread.
    n : int
        Samples across a pixel.
    """
    pixels = rate * TILE_SECONDS / n**2
    return next((side for side in SIDES if side * side <= pixels), SIDES[-1])


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

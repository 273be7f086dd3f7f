"""Tiles divided into smaller ones: where a GPU lacks memory, and where other clients wait."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fractals.errors import DeviceMemoryError
from fractals.rendering.plan import Tile
from fractals.threads import add

Stop = Callable[[], bool]
Take = Callable[[Tile, Stop], dict[str, float]]  # returns the seconds of each stage


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


@dataclass
class Room:
    """How many pixels of a tile fit into the memory of a device, as far as tiles have shown.

    A part of a tile has the numbers and the colors that the tile has there.
    """

    on_message: Callable[[str], None] = lambda line: None
    most: int = 2**62  # pixels

    def in_parts(self, take: Take) -> Take:
        """Return a function that does the work of a tile in parts that fit into the memory.

        A part that does not fit is begun again in halves. All tiles that follow, of all threads,
        are then divided alike. What does not fit for a single pixel raises `DeviceMemoryError`.
        """
        return partial(self._taken, take)

    def _taken(self, take: Take, tile: Tile, stop: Stop) -> dict[str, float]:
        pixels = tile.width * tile.height
        if pixels <= max(1, self.most):
            try:
                return take(tile, stop)
            except DeviceMemoryError:
                if pixels == 1:
                    raise
                self.most = min(self.most, pixels // 2)
        spent: dict[str, float] = {}
        for part in smaller(tile, self.most):
            add(spent, self._taken(take, part, stop))
        return spent

    def tell(self) -> None:
        """Tell the user once if tiles were divided; called by the thread that has the tiles."""
        if self.most < 2**62:
            self.on_message(
                f"the GPU is short of memory: tiles were divided into parts of {self.most} pixels "
                "or fewer, which takes longer and changes no pixel"
            )
            self.on_message = lambda line: None

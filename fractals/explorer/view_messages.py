"""ViewMessages: what is sent to a client while its view is drawn."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.explorer.picture import Picture, Request
from fractals.explorer.protocol import Where, pack_pixels, pack_table, pack_values
from fractals.explorer.values import ViewValues
from fractals.rendering.tiles import Tile


class ViewMessages:
    """Sends what a request asks for, in its newest paint.

    Attributes
    ----------
    lock : Lock
        Held while a message of the newest paint is sent, and while the paint is changed.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.lock = threading.Lock()

    def status(self, what: str) -> None:
        """Send what is being done."""
        self.request.say("status", frame=self.request.frame, what=what)

    def paused(self, seconds: float) -> None:
        """Send that the view waits until the user says to go on."""
        self.request.say("paused", frame=self.request.frame, seconds=int(seconds))

    def layers(self, values: ViewValues) -> None:
        """Send how values become colors."""
        request = self.request
        request.say("layers", frame=request.frame, paint=request.paint, layers=values.described())
        if request.values:
            for k, table in enumerate(values.tables()):
                self._put(pack_table, Where(request.frame, w=3, h=len(table), layer=k), table)

    def values(
        self, values: ViewValues, tile: Tile, found: Sequence[NDArray[np.float64]], step: int = 1
    ) -> None:
        """Send the values of every layer in a tile; `step`: pixels a sample."""
        for k, (layer, part) in enumerate(zip(values.layers, found, strict=True)):
            where = replace(self._where(tile, step), layer=k)
            self._put(pack_values, where, layer.centered(part), self.request.remote)

    def pixels(self, tile: Tile, pixels: NDArray[Any], step: int = 1) -> None:
        """Send the pixels of a tile; `step`: pixels a sample."""
        self._put(pack_pixels, self._where(tile, step), pixels, self.request.remote)

    def drawn(self, name: str, picture: Picture, seconds: float, **facts: Any) -> None:
        """Send that a pass has ended."""
        request = self.request
        request.say(
            "drawn",
            frame=request.frame,
            paint=request.paint,
            ms=round(1e3 * seconds, 1),
            max_iterations=picture.single.source.max_iterations,
            **facts,
            **{"pass": name},
        )

    def _where(self, tile: Tile, step: int) -> Where:
        return Where(self.request.frame, tile.x, tile.y, tile.width, tile.height, step)

    def _put(self, pack: Callable[..., bytes], where: Where, *content: Any) -> None:
        """Send a message of the newest paint, which may change while the message is packed."""
        request = self.request
        while True:
            paint = request.paint
            message = pack(replace(where, paint=paint), *content)
            with self.lock:
                if request.paint == paint:
                    request.put(message, request.frame, paint)
                    return

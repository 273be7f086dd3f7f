"""Bands of a streamed picture: drawn, compressed, written and freed in order."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fractals.backends.base import Backend
from fractals.io import png
from fractals.rendering.plan import Plan
from fractals.rendering.preview import Canvas
from fractals.rendering.tiles import MAX_BANDS, Tile
from fractals.threads import WAKE, Queue


class Bands:
    """The rows of a picture that are in memory: being drawn, waiting, or being compressed.

    Tiles must be begun from top to bottom, and may end in any order: a thread that is too far ahead
    waits until the first band is written.
    """

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        writer: png.PngWriter,
        dtype: Any,
        canvas: Canvas | None = None,
    ) -> None:
        """`canvas`: of a preview, which takes each strip."""
        self._plan, self._backend, self._writer, self._canvas = plan, backend, writer, canvas
        picture = plan.scene.image
        width, height = plan.size
        self._compression = picture.compression
        self._strip = png.strip_rows(picture.size, picture.bits)
        self.height = plan.band  # rows of a band
        tops = range(0, height, self.height)
        # Row r of the picture is in row r % len(rows) while its band is in memory; ndarray, shape
        # (rows, width, 3)
        self.rows = np.empty((min(height, MAX_BANDS * self.height), width, 3), dtype)
        tall = np.array([min(self.height, height - top) for top in tops])
        # How many pixels of each band are still to be drawn; ndarray of int64
        self.pixels_left = tall * width
        self._strips_left = -(-tall // self._strip)
        self._whole = np.zeros(len(tall), bool)
        self._first = 0  # all bands above are written
        self._pending: deque[int] = deque()  # strips that can be compressed
        self._changed = threading.Condition()
        self._no_more = False
        self._error: BaseException | None = None
        ends = [tile.y + tile.height for tile in plan.tiles]
        self._last = (np.array(ends) - 1) // self.height  # of the bands that each tile touches

    def wait_for_room(self, tile: Tile) -> None:
        """Wait until there is memory for a tile, and compress strips meanwhile."""
        last = (tile.y + tile.height - 1) // self.height
        self._wait(lambda: last < self._first + MAX_BANDS)

    def wait_for_tiles(self, queue: Queue) -> bool:
        """Wait until there is memory for a tile of the queue; return False where none is left.

        Strips are compressed meanwhile.
        """

        def ready() -> bool:
            queue.allow(int(np.searchsorted(self._last, self._first + MAX_BANDS)))
            return queue.waiting > 0 or queue.left == 0

        self._wait(ready)
        return queue.left > 0

    def _wait(self, ready: Callable[[], bool]) -> None:
        while True:
            self.raise_error()
            with self._changed:
                if ready():
                    return
                if not self._pending:
                    self._changed.wait(WAKE)
            self.help()

    def parts(self, tile: Tile, rgb: Any) -> list[tuple[Any, Any]]:
        """Return parts of a tile's pixels, and where they go in the bands that it lies in."""
        across = slice(tile.x, tile.x + tile.width)
        return [
            (rgb[top - tile.y : bottom - tile.y], self._rows(top, bottom)[:, across])
            for _, top, bottom in self._bands_of(tile)
        ]

    def drawn(self, tile: Tile) -> None:
        """Count a tile whose pixels are in the bands."""
        for k, top, bottom in self._bands_of(tile):
            with self._changed:
                self.pixels_left[k] -= (bottom - top) * tile.width
        self.note()

    def _bands_of(self, tile: Tile) -> Iterator[tuple[int, int, int]]:
        """Yield the number of each band that a tile lies in, and the rows of the tile in it."""
        end = tile.y + tile.height
        for k in range(tile.y // self.height, (end - 1) // self.height + 1):
            yield k, max(tile.y, k * self.height), min(end, (k + 1) * self.height)

    def note(self) -> None:
        """Find the bands that have become whole, so that their strips can be compressed."""
        with self._changed:
            for k in np.flatnonzero((self.pixels_left == 0) & ~self._whole).tolist():
                self._whole[k] = True
                first = k * self.height // self._strip
                self._pending.extend(range(first, first + int(self._strips_left[k])))
                self._changed.notify_all()

    def help(self) -> None:
        """Compress strips while there are any, except once the last band is whole.

        The strips of the last band are left to helpers, so that all threads share them.
        """
        while not self._whole.all():
            try:
                strip = self._pending.popleft()
            except IndexError:
                return
            self._compress(strip)

    def compress_all(self) -> None:
        """Compress strips until `end` was called and none is left: the work of a helper."""
        while True:
            with self._changed:
                while not (self._pending or self._no_more):
                    self._changed.wait()
                if not self._pending:
                    return
                strip = self._pending.popleft()
            self._compress(strip)

    def end(self, error: BaseException | None = None) -> None:
        """Make helpers return: no more strips follow. After an error, the others are dropped."""
        with self._changed:
            self._no_more = True
            if error:
                self._error = self._error or error
                self._pending.clear()
            self._changed.notify_all()

    def raise_error(self) -> None:
        """Raise the first error of any thread."""
        if self._error:
            raise self._error

    def _compress(self, strip: int) -> None:
        top = strip * self._strip
        k = top // self.height
        rows = self._rows(top, min(top + self._strip, self._plan.size[1]))
        if self._canvas:
            self._canvas.put(rows, top)
        self._writer.put(strip, png.compress(rows, self._compression))
        with self._changed:
            self._strips_left[k] -= 1
            while self._first < len(self._whole) and not self._strips_left[self._first]:
                self._first += 1
            self._changed.notify_all()

    def _rows(self, top: int, bottom: int) -> Any:
        """Return rows of the picture that lie in one band."""
        first = top % len(self.rows)
        return self.rows[first : first + bottom - top]


@contextlib.contextmanager
def ended_on_error(bands: Bands) -> Iterator[None]:
    """End the bands with the error of the block, so that no other thread waits for ever."""
    try:
        yield
    except BaseException as error:
        bands.end(error)
        raise


class Helpers:
    """Threads that compress strips of bands; they are running when this is made."""

    def __init__(self, bands: Bands, threads: int) -> None:
        self._bands = bands
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all strips are written. Ctrl-C interrupts the wait."""
        self._bands.end()
        for thread in self._threads:
            while thread.is_alive():
                thread.join(WAKE)
        self._bands.raise_error()

    def _work(self) -> None:
        with contextlib.suppress(BaseException), ended_on_error(self._bands):
            self._bands.compress_all()

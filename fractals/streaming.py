"""A picture drawn into a file: bands of rows are compressed, written and let go on the way."""

import contextlib
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Unpack

import numpy as np

from fractals import png
from fractals.executor import WAKE, Progress, Queue, add, core_count
from fractals.files import check_output, written
from fractals.forecast import MOST_BANDS
from fractals.image import Image, check_format, format_of, png_beginning
from fractals.layers import make_layers
from fractals.pipeline import Options, Session, Source, color, render
from fractals.planning import Tile
from fractals.raw import EscapeData
from fractals.scene import Scene
from fractals.sweep import DrawTiles


@dataclass(frozen=True)
class Rendered:
    """What is known of a picture that was drawn into a file.

    Attributes
    ----------
    timings : dict of str to float
        Seconds of each stage, as of an `Image`. What was compressed while a GPU drew is no part of
        encode.
    """

    scene: Scene
    timings: dict[str, float]
    device: str
    number: str
    method: str


def render_to(
    path: str | Path | BinaryIO,
    *sources: Source,
    overwrite: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Rendered:
    """Draw a picture into a file: what `render` and `Image.save` write, byte for byte.

    A PNG is written band by band, and so may be larger than the memory. A picture of another type,
    or whose colors depend on all of it (histogram, rank), is drawn whole first. The parameters that
    are not named here are those of `render`.

    Parameters
    ----------
    path : str, Path or binary file
        Its suffix names the type; an open file gets a PNG.
    overwrite : bool
        False: a file that exists already is an error.

    Raises
    ------
    OptionError
        The suffix is of no type that can be written, or of one that can't hold this picture.
    FractalsError
        The file can't be written; what was there before is still there.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> render_to(file, {"image": {"size": [8, 6]}}, device="cpu").device
    'cpu'
    >>> file.getvalue()[1:4]
    b'PNG'
    """
    scene = Scene.load(*sources)
    threads = options.get("threads")
    whole = make_layers(scene).whole  # then its colors wait for all of its samples
    if whole and not isinstance(path, str | Path):
        image = render(scene, progress=progress, **options)
        path.write(image.encode())
        return _rendered(image)
    if not isinstance(path, str | Path):
        return _stream(path, Session(scene, streamed=True, **options), threads, progress)
    file_format = format_of(path)
    check_format(file_format, scene.image.size, scene.image.bits)
    check_output(path, overwrite)
    if file_format == "PNG" and not whole:
        session = Session(scene, streamed=True, **options)
        with written(path) as file:
            return _stream(file, session, threads, progress)
    image = render(scene, progress=progress, **options)
    image.save(path, overwrite)
    return _rendered(image)


def _rendered(image: Image) -> Rendered:
    return Rendered(image.scene, image.timings, image.device, image.number, image.method)


def color_to(
    path: str | Path | BinaryIO,
    raw: EscapeData,
    *sources: Source,
    overwrite: bool = True,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] = warnings.warn,
) -> Rendered:
    """Draw raw numbers into a file: what `color` and `Image.save` write, byte for byte.

    As with `render_to`, a PNG of a store may be larger than the memory: it is read in bands too.
    Where colors depend on all of it (histogram, rank), that takes 40 bytes a sample.
    """
    scene = Scene.load(*(sources or (raw.scene,)))
    file_format = "PNG"
    if isinstance(path, str | Path):
        file_format = format_of(path)
        check_format(file_format, scene.image.size, scene.image.bits)
        check_output(path, overwrite)
        if file_format != "PNG":
            image = color(raw, scene, device=device, threads=threads, progress=progress, tell=tell)
            image.save(path, overwrite)
            return _rendered(image)
    session = Session(scene, device, raw.number, threads, tell=tell, streamed=True, force=True)
    if not isinstance(path, str | Path):
        return _stream(path, session, threads, progress, raw)
    with written(path) as file:
        return _stream(file, session, threads, progress, raw)


def _stream(
    file: BinaryIO,
    session: Session,
    threads: int | None,
    progress: Progress | None,
    raw: EscapeData | None = None,
) -> Rendered:
    picture, timings = session.scene.image, session.timings
    if raw:
        session.recolor(raw)
    else:
        session.start(iterating=True, shading=True, progress=progress)
    writer = png.Writer(file, png_beginning(session.scene, picture.size, picture.bits))
    bands = Bands(session, writer)
    drawing = session.backend.threads  # 0: the calling thread draws, so that others compress
    timings["encode"] = 0.0

    def draw(tile: Tile) -> dict[str, float]:
        with bands.given_up_on_error():
            begun = perf_counter()
            bands.wait_for_room(tile)
            waited = perf_counter() - begun
            seconds = session.draw(tile, bands.keep)
            begun = perf_counter()
            if drawing:
                bands.help()
            return {**seconds, "encode": waited + perf_counter() - begun}

    with bands.given_up_on_error():
        if not drawing:
            bands.start_helpers(threads or core_count())
        if draws := session.tiles_drawn():
            queue = Queue(len(session.plan.tiles))
            works = [partial(_sweep, bands, queue, draw_tiles) for draw_tiles in draws]
            session.run_queue(queue, works, progress)
        else:
            session.run(draw, progress)
        begun = perf_counter()
        if drawing:
            bands.start_helpers(drawing)
        bands.join_helpers()
    writer.end()
    timings["encode"] += perf_counter() - begun
    plan = session.plan
    return Rendered(session.scene, timings, session.device.kind, plan.number, plan.method)


def _sweep(bands: "Bands", queue: Queue, draw_tiles: DrawTiles) -> dict[str, float]:
    """Draw tiles of the queue while there are some, and compress strips of bands that are whole."""
    spent: dict[str, float] = {}
    with bands.given_up_on_error():
        last = perf_counter()
        while bands.wait_for_tiles(queue):
            begun = perf_counter()
            laps = draw_tiles(queue, bands.rows, bands.height, bands.pixels_left)
            drawn = perf_counter()
            bands.note()
            bands.help()
            share = (drawn - begun) / (sum(laps.values()) or 1)  # others took all tiles
            waited = {"encode": begun - last + perf_counter() - drawn}
            last = perf_counter()
            add(spent, {stage: share * lap for stage, lap in laps.items()} | waited)
    return spent


class Bands:
    """The rows of a picture that are in memory: being drawn, waiting, or being compressed.

    Tiles must be begun from top to bottom, and may end in any order: a thread that is too far ahead
    waits until the first band is written.

    Attributes
    ----------
    height : int
        Rows of a band.
    rows : ndarray, shape (rows, width, 3)
        Row r of the picture is in row r % len(rows) while its band is in memory.
    pixels_left : ndarray of int64
        How many pixels of each band are still to be drawn.
    """

    def __init__(self, session: Session, writer: png.Writer) -> None:
        self._session, self._writer = session, writer
        picture = session.scene.image
        width, height = picture.size
        self._compression = picture.compression
        self._strip = png.strip_rows(picture.size, picture.bits)
        self.height = session.plan.band
        tops = range(0, height, self.height)
        self.rows = np.empty((min(height, MOST_BANDS * self.height), width, 3), session.dtype)
        tall = np.array([min(self.height, height - top) for top in tops])
        self.pixels_left = tall * width
        self._strips_left = -(-tall // self._strip)
        self._whole = np.zeros(len(tall), bool)
        self._first = 0  # all bands above are written
        self._pending: deque[int] = deque()  # strips that can be compressed
        self._changed = threading.Condition()
        self._helpers: list[threading.Thread] = []
        self._no_more = False
        self._error: BaseException | None = None
        ends = [tile.y + tile.height for tile in session.plan.tiles]
        self._last = (np.array(ends) - 1) // self.height  # of the bands that each tile touches

    def wait_for_room(self, tile: Tile) -> None:
        """Wait until there is memory for a tile, and compress strips meanwhile."""
        last = (tile.y + tile.height - 1) // self.height
        self._wait(lambda: last < self._first + MOST_BANDS)

    def wait_for_tiles(self, queue: Queue) -> bool:
        """Wait until there is memory for a tile of the queue; return False where none is left.

        Strips are compressed meanwhile.
        """

        def ready() -> bool:
            queue.allow(int(np.searchsorted(self._last, self._first + MOST_BANDS)))
            return queue.waiting > 0 or queue.left == 0

        self._wait(ready)
        return queue.left > 0

    def _wait(self, ready: Callable[[], bool]) -> None:
        while True:
            self._raise()
            with self._changed:
                if ready():
                    return
                if not self._pending:
                    self._changed.wait(WAKE)
            self.help()

    def keep(self, tile: Tile, rgb: Any) -> None:
        """Copy a tile's pixels, which are on the device, to the bands it lies in."""
        left, right = tile.x, tile.x + tile.width
        for k in range(tile.y // self.height, (tile.y + tile.height - 1) // self.height + 1):
            top = max(tile.y, k * self.height)
            bottom = min(tile.y + tile.height, (k + 1) * self.height)
            into = self._rows(top, bottom)[:, left:right]
            self._session.backend.to_host(rgb[top - tile.y : bottom - tile.y], into)
            with self._changed:
                self.pixels_left[k] -= (bottom - top) * tile.width
        self.note()

    def note(self) -> None:
        """Look which bands have become whole, so that their strips can be compressed."""
        with self._changed:
            for k in np.flatnonzero((self.pixels_left == 0) & ~self._whole).tolist():
                self._whole[k] = True
                first = k * self.height // self._strip
                self._pending.extend(range(first, first + int(self._strips_left[k])))
                self._changed.notify_all()

    def help(self) -> None:
        """Compress strips while there are some; the last band is left to all threads together."""
        while not self._whole.all():
            try:
                strip = self._pending.popleft()
            except IndexError:
                return
            self._compress(strip)

    def start_helpers(self, threads: int) -> None:
        """Start threads that compress until all is done."""
        self._helpers = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for helper in self._helpers:
            helper.start()

    def join_helpers(self) -> None:
        """Wait until all strips are written; Ctrl-C is heard."""
        with self._changed:
            self._no_more = True
            self._changed.notify_all()
        for helper in self._helpers:
            while helper.is_alive():
                helper.join(WAKE)
        self._raise()

    @contextlib.contextmanager
    def given_up_on_error(self) -> Iterator[None]:
        """On an error let go of everything, so that no other thread waits in vain."""
        try:
            yield
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._no_more = True
                self._pending.clear()
                self._changed.notify_all()
            raise

    def _work(self) -> None:
        with contextlib.suppress(BaseException), self.given_up_on_error():
            while (strip := self._next()) is not None:
                self._compress(strip)

    def _next(self) -> int | None:
        """Wait for a strip; None where there are no more."""
        with self._changed:
            while not (self._pending or self._no_more):
                self._changed.wait()
            return self._pending.popleft() if self._pending else None

    def _compress(self, strip: int) -> None:
        top = strip * self._strip
        k = top // self.height
        rows = self._rows(top, min(top + self._strip, self._session.plan.size[1]))
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

    def _raise(self) -> None:
        if self._error:
            raise self._error

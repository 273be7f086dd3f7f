"""A picture drawn into a file: bands of rows are compressed, written and let go on the way."""

import contextlib
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Unpack

import numpy as np

from fractals import png
from fractals.executor import WAKE, Progress, core_count
from fractals.files import check_output, written
from fractals.forecast import MOST_BANDS
from fractals.image import Image, check_format, format_of, png_beginning
from fractals.layers import make_layers
from fractals.pipeline import Options, Session, Source, color, render
from fractals.planning import Tile
from fractals.raw import EscapeData
from fractals.scene import Scene


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
        session.run(draw, progress)
        begun = perf_counter()
        if drawing:
            bands.start_helpers(drawing)
        bands.join_helpers()
    writer.end()
    timings["encode"] += perf_counter() - begun
    plan = session.plan
    return Rendered(session.scene, timings, session.device.kind, plan.number, plan.method)


class _Band:
    """Rows in memory, with the pixels to be drawn and the strips to be written that are left."""

    def __init__(self, shape: tuple[int, int, int], dtype: Any, strips: range) -> None:
        self.pixels: Any = np.empty(shape, dtype)
        self.pixels_left, self.strips_left = shape[0] * shape[1], len(strips)
        self.strips = strips


class Bands:
    """The rows of a picture that are in memory: being drawn, waiting, or being compressed.

    Tiles must be begun from top to bottom, and may end in any order: a thread that is too far ahead
    waits until the first band is written.
    """

    def __init__(self, session: Session, writer: png.Writer) -> None:
        self._session, self._writer = session, writer
        picture = session.scene.image
        self._compression = picture.compression
        self._height = session.plan.band
        self._strip = png.strip_rows(picture.size, picture.bits)
        self._undrawn = -(-picture.size[1] // self._height)
        self._bands: dict[int, _Band] = {}
        self._finished: set[int] = set()
        self._first = 0  # all bands above are written
        self._pending: deque[int] = deque()  # strips that can be compressed
        self._changed = threading.Condition()
        self._helpers: list[threading.Thread] = []
        self._no_more = False
        self._error: BaseException | None = None

    def wait_for_room(self, tile: Tile) -> None:
        """Wait until there is memory for a tile, and compress strips meanwhile."""
        touched = self._touched(tile)
        while True:
            self._raise()
            with self._changed:
                if touched[-1] < self._first + MOST_BANDS:
                    for k in touched:
                        if k not in self._bands:
                            self._bands[k] = self._new_band(k)
                    return
                if not self._pending:
                    self._changed.wait(WAKE)
            self.help()

    def keep(self, tile: Tile, rgb: Any) -> None:
        """Copy a tile's pixels, which are on the device, to the bands it lies in."""
        for k in self._touched(tile):
            band, above = self._bands[k], k * self._height
            top = max(tile.y, above)
            bottom = min(tile.y + tile.height, above + self._height)
            into = band.pixels[top - above : bottom - above, tile.x : tile.x + tile.width]
            self._session.backend.to_host(rgb[top - tile.y : bottom - tile.y], into)
            with self._changed:
                band.pixels_left -= (bottom - top) * tile.width
                if not band.pixels_left:
                    self._undrawn -= 1
                    self._pending.extend(band.strips)
                    self._changed.notify_all()

    def help(self) -> None:
        """Compress strips while there are some; the last band is left to all threads together."""
        while self._undrawn:
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
        k = top // self._height
        band = self._bands[k]
        rows = band.pixels[top - k * self._height :][: self._strip]
        self._writer.put(strip, png.compress(rows, self._compression))
        with self._changed:
            band.strips_left -= 1
            if not band.strips_left:
                del self._bands[k]
                self._finished.add(k)
                while self._first in self._finished:
                    self._finished.remove(self._first)
                    self._first += 1
                self._changed.notify_all()

    def _touched(self, tile: Tile) -> range:
        return range(tile.y // self._height, (tile.y + tile.height - 1) // self._height + 1)

    def _new_band(self, k: int) -> _Band:
        width, height = self._session.plan.size
        top, bottom = k * self._height, min(height, (k + 1) * self._height)
        strips = range(top // self._strip, -(-bottom // self._strip))
        return _Band((bottom - top, width, 3), self._session.dtype, strips)

    def _raise(self) -> None:
        if self._error:
            raise self._error

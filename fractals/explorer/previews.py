"""Small pictures: previews of Julia sets, thumbnails, sheets."""

import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.backends.cache_folder import read_own, reason, write_own
from fractals.explorer.scheduler import IDLE, Engine, Work
from fractals.rendering.drawing import Drawing, draw_tile, open_drawing
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.render import draw_image
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.threads import run_tiles

Pixels = NDArray[np.uint8]
SIDE = 256  # pixels of a thumbnail's width
ROWS = 16  # of a tile
MAX_KEPT = 512  # thumbnails in memory
MAX_FILE = 2**22  # bytes of one


def small(scene: Scene, width: int = SIDE, high: int = 0, samples: int = 1) -> Scene:
    """Return a scene at the size of a preview, by default in its own shape."""
    across, down = scene.image.size
    high = high or max(1, min(2 * width, round(width * down / across)))
    update = {"size": (width, high), "supersampling": samples, "antialias": "grid", "bits": 8}
    return scene.model_copy(update={"image": scene.image.model_copy(update=update)})


def draw_preview(engine: Engine, work: Work, scene: Scene) -> Generator[float | None, None, Pixels]:
    """Yield after each part of a small picture, and return its pixels."""
    backend = engine.backend(scene.iteration.number_type)
    plan = make_plan(scene, backend.kind, threads=backend.threads or 1)

    def watch(_done: int, _all: int) -> None:
        work.check()

    options = RenderOptions(force=True, progress=watch, on_message=lambda line: None)
    whole, (width, height) = plan.layers.whole, plan.size
    pixels = np.empty((height, width, 3), np.uint8)
    tiles = [Tile(0, y, width, min(ROWS, height - y)) for y in range(0, height, ROWS)]

    def opened() -> Drawing:
        drawing = open_drawing(plan, backend, options, shading=not whole)
        if whole:
            drawing.source.iterate(tiles[0], stop=work.stale)
        else:
            draw_tile(drawing, tiles[0], pixels[tiles[0].window()], work.stale)
        return drawing

    drawing = yield from engine.prepared(work, scene, "picture", opened)
    if whole:
        return draw_image(plan, backend, options).pixels

    def one(tile: Tile) -> dict[str, float]:
        if not work.stale():
            draw_tile(drawing, tile, pixels[tile.window()], work.stale)
        return {}

    at_once = 4 * max(1, backend.threads)
    for k in range(0, len(tiles), at_once):
        run_tiles(tiles[k : k + at_once], one, backend.threads)
        work.check()
        yield None
    return pixels


def png_of(pixels: Pixels) -> bytes:
    """Return the bytes of a PNG."""
    import PIL.Image

    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


class Thumbnails:
    """PNGs of small scenes: drawn when the device idles, kept in memory and in a folder."""

    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self.engine, self.folder = engine, folder
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, scene: Scene, found: Callable[[bytes | str], None]) -> None:
        """Call ``found(png)``, at once or later, in any thread; with a line if drawing fails."""
        key = hashlib.sha256(f"{__version__} {scene.to_json()}".encode()).hexdigest()[:32]
        if data := self._read(key):
            found(data)
            return

        def steps(work: Work) -> Any:
            data = self._read(key)
            if data is None:
                pixels = yield from draw_preview(self.engine, work, scene)
                data = png_of(pixels)
                self._keep(key, data)
            found(data)

        name = (self, key, id(found))
        self.engine.submit(Work(name, steps, IDLE, failed=found))

    def _read(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        if self.folder is None:
            return None
        try:
            data = read_own(self.folder / f"{key}.png", MAX_FILE)
        except OSError:
            return None
        self._remember(key, data)
        return data

    def _keep(self, key: str, data: bytes) -> None:
        self._remember(key, data)
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_own(self.folder / f"{key}.png", data)
            except OSError as error:
                self.folder = None
                from fractals.explorer.scheduler import print_line

                print_line(f"thumbnails are not kept: {reason(error)}")

    def _remember(self, key: str, data: bytes) -> None:
        with self._lock:
            self._kept[key] = data
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)

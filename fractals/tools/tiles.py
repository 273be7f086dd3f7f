"""A picture that one can zoom: a pyramid of tiles in the Deep Zoom layout, and its page.

A level has half as many pixels along each side as the next one, and the last level is the picture.
A tile that exists is not made again. The mean of pixels is that of their light.
"""

import contextlib
import functools
import hashlib
import html
import json
import math
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np

from fractals.color.palette import linear_from_srgb, srgb_from_linear
from fractals.errors import FractalsError, OptionError, SceneError, counted, escaped
from fractals.io import png
from fractals.io.files import (
    MAX_JSON_BYTES,
    SCENE_KEY,
    lifted_limit,
    open_to_read,
    read_json,
    writing,
    written,
)
from fractals.io.image import FORMATS, OPTIONS, WITH_COLORS
from fractals.io.load import load_scene
from fractals.io.metadata import byline
from fractals.io.png import Pixels
from fractals.io.stores.store import claimed
from fractals.scene.model import Scene
from fractals.threads import Progress, run_tiles, threads_for
from fractals.tools.pixels import read_pixels, read_rows

MARK = "tiles.json"  # what the folder's tiles are of
PAGE = "index.html"  # written last
NAME = "picture"  # of the pyramid: NAME.dzi and NAME_files/
DRAWN = ".picture.png"  # the picture before it is cut
OVERLAP = 1  # pixels of its neighbors that a tile has along each side: no seams between tiles
TYPES = ("png", "jpg", "webp")
XML = "http://schemas.microsoft.com/deepzoom/2008"


class Pyramid(NamedTuple):
    """A folder of tiles.

    `size`: width and height of the picture; `tile`: pixels a side, without overlap; `suffix`: the
    type of the tiles, one of TYPES; `profile`: of their colors, b"" for sRGB.
    """

    folder: Path
    size: tuple[int, int]
    tile: int
    suffix: str
    profile: bytes = b""

    @property
    def levels(self) -> int:
        """Return the number of levels; level 0 is one pixel."""
        return (max(self.size) - 1).bit_length() + 1

    def size_of(self, level: int) -> tuple[int, int]:
        """Return the width and the height of a level.

        >>> Pyramid(Path("."), (1000, 300), 510, "png").size_of(9)
        (500, 150)
        """
        scale = 2 ** (self.levels - 1 - level)
        return -(-self.size[0] // scale), -(-self.size[1] // scale)

    def grid(self, level: int) -> tuple[int, int]:
        """Return how many columns and rows of tiles a level has."""
        width, height = self.size_of(level)
        return -(-width // self.tile), -(-height // self.tile)

    def span(self, level: int, index: int, axis: int) -> slice:
        """Return the pixels that the tiles of a column (axis 0) or a row (axis 1) hold."""
        end = min(self.size_of(level)[axis], (index + 1) * self.tile + OVERLAP)
        return slice(max(0, index * self.tile - OVERLAP), end)

    def path(self, level: int, column: int, row: int) -> Path:
        """Return the file of a tile."""
        return self.folder / f"{NAME}_files/{level}/{column}_{row}.{self.suffix}"

    def write(self, level: int, column: int, row: int, pixels: Pixels) -> None:
        """Write a tile."""
        import PIL.Image

        kind = FORMATS[f".{self.suffix}"]
        options = OPTIONS.get(kind, {}) | ({"icc_profile": self.profile} if self.profile else {})
        with written(self.path(level, column, row)) as file:
            PIL.Image.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)

    def read(self, level: int, across: slice, down: slice) -> Pixels:
        """Return a part of a level, from its tiles."""
        out = np.empty((down.stop - down.start, across.stop - across.start, 3), np.uint8)
        for row in range(down.start // self.tile, (down.stop - 1) // self.tile + 1):
            for column in range(across.start // self.tile, (across.stop - 1) // self.tile + 1):
                x, y = self.span(level, column, 0), self.span(level, row, 1)
                left, right = max(x.start, across.start), min(x.stop, across.stop)
                top, bottom = max(y.start, down.start), min(y.stop, down.stop)
                out[
                    top - down.start : bottom - down.start,
                    left - across.start : right - across.start,
                ] = _pixels(self.path(level, column, row))[
                    top - y.start : bottom - y.start, left - x.start : right - x.start
                ]
        return out

    def element(self) -> dict[str, Any]:
        """Return what the page says of the pyramid: the attributes of its .dzi file."""
        width, height = self.size
        return {
            "xmlns": XML,
            "Url": f"{NAME}_files/",
            "Format": self.suffix,
            "Overlap": str(OVERLAP),
            "TileSize": str(self.tile),
            "Size": {"Width": str(width), "Height": str(height)},
        }


@functools.lru_cache(64)
def _pixels(path: Path) -> Pixels:
    import PIL.Image

    with PIL.Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


@contextlib.contextmanager
def of_scene(
    folder: Path, scene: Scene, tile: int, suffix: str, overwrite: bool
) -> Iterator[Pyramid]:
    """Begin, or go on with, the pyramid of a scene's picture, and lock its folder; see `begin`."""
    profile = png.icc_profile(scene.image.gamut)
    pyramid = Pyramid(folder, scene.image.size, tile, suffix, profile)
    with begin(pyramid, {"scene": scene.to_table()}, overwrite):
        yield pyramid


@contextlib.contextmanager
def of_picture(
    folder: Path, picture: Path, tile: int, suffix: str, overwrite: bool
) -> Iterator[tuple[Pyramid, Scene | None]]:
    """Do the same for a picture's file; yield its scene too, if it has one.

    `SceneError`: the file is no picture.
    """
    import PIL.Image

    try:
        with open_to_read(picture) as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()
        with lifted_limit(), PIL.Image.open(picture, formats=WITH_COLORS) as opened:
            size, profile = opened.size, opened.info.get("icc_profile", b"")
            profile = profile if opened.mode in ("RGB", "RGBA") else b""
    except Exception as error:  # Pillow raises many types for damaged data
        reason = getattr(error, "strerror", None) or "the file is no picture"
        raise SceneError(f"{picture}: {reason}") from None
    pyramid = Pyramid(folder, size, tile, suffix, profile)
    scene = None
    with contextlib.suppress(SceneError, OptionError):  # of another program
        scene = load_scene(picture)
    if scene and scene.image.hdr:
        raise SceneError(
            f"{picture}: tiles hold no high dynamic range: draw the picture with hdr=False first"
        )
    with begin(pyramid, {"picture": digest}, overwrite):
        yield pyramid, scene


def rows_of(picture: Path) -> Iterator[Pixels]:
    """Return the rows of a picture's file, some at a time; one of another program is read whole."""
    try:
        with open(picture, "rb") as file:
            ours = png.begins(file) and png.read_text(file, SCENE_KEY, MAX_JSON_BYTES) is not None
    except ValueError as error:
        raise SceneError(f"{picture}: the picture is damaged or cut short ({error})") from None
    return read_rows(picture) if ours else iter([read_pixels(picture)])


@contextlib.contextmanager
def begin(pyramid: Pyramid, facts: dict[str, Any], overwrite: bool) -> Iterator[None]:
    """Make the folder, or check that it holds tiles of the same picture; lock it.

    `facts`: what the picture is. `FractalsError`: the folder holds something else, or another
    process writes its tiles.
    """
    folder, mark = pyramid.folder, pyramid.folder / MARK
    facts |= {"size": pyramid.size, "tile": pyramid.tile, "type": pyramid.suffix}
    content = json.dumps(facts, indent=1, default=str)
    there = not mark.exists() and folder.exists()
    if there and (not folder.is_dir() or any(folder.iterdir())):
        raise FractalsError(f"'{folder}' exists and holds no tiles: name another folder")
    with claimed(folder):
        if not mark.exists() or read_json(mark) != json.loads(content):
            if mark.exists() and not overwrite:
                raise FractalsError(
                    f"'{folder}' holds the tiles of another picture: name another folder, or give "
                    "overwrite=True"
                )
            _remove(folder)
            with written(mark) as file:
                file.write(content.encode())
        try:
            yield
        finally:
            if [each.name for each in folder.iterdir()] == [MARK]:  # nothing to go on with
                mark.unlink()


def is_complete(pyramid: Pyramid) -> bool:
    """Tell whether nothing lacks: the page is written last."""
    return (pyramid.folder / PAGE).exists()


def number(pyramid: Pyramid) -> int:
    """Return the number of all tiles."""
    return sum(math.prod(pyramid.grid(level)) for level in range(pyramid.levels))


def _remove(folder: Path) -> None:
    """Remove the tiles of a folder, and nothing else."""
    with writing(folder):
        for level in (folder / f"{NAME}_files").glob("[0-9]*"):
            for suffix in TYPES:
                for tile in level.glob(f"[0-9]*_[0-9]*.{suffix}"):
                    tile.unlink()
            level.rmdir()
        for name in (PAGE, DRAWN, MARK):
            (folder / name).unlink(missing_ok=True)


def cut(
    pyramid: Pyramid,
    strips: Iterable[Pixels],
    threads: int | None,
    progress: Progress | None = None,
) -> None:
    """Write the tiles of all levels that do not exist.

    `strips`: all rows of the picture from the top, some at a time; of 16 bits the upper 8 are
    taken. `progress` is called with finished and all tiles.
    """
    counts = [pyramid.grid(level) for level in range(pyramid.levels)]
    total, done = number(pyramid), 0
    last = pyramid.levels - 1
    for level in range(pyramid.levels):
        with writing(pyramid.folder):
            (pyramid.folder / f"{NAME}_files" / str(level)).mkdir(parents=True, exist_ok=True)

    def wave(works: list[Any]) -> None:
        nonlocal done
        run_tiles(works, lambda work: work() or {}, min(threads_for(threads), len(works)))
        done += len(works)
        if progress:
            progress(done, total)

    for row, pixels in _rows_of_tiles(pyramid, strips):
        wave(
            [
                functools.partial(_cut, pyramid, column, row, pixels)
                for column in range(counts[last][0])
            ]
        )
    for level in range(last - 1, -1, -1):
        for row in range(counts[level][1]):
            wave(
                [
                    functools.partial(_halve, pyramid, level, column, row)
                    for column in range(counts[level][0])
                ]
            )
    _pixels.cache_clear()


def _rows_of_tiles(pyramid: Pyramid, strips: Iterable[Pixels]) -> Iterator[tuple[int, Pixels]]:
    """Yield the number of each row of tiles of the last level, and its pixels."""
    level, row = pyramid.levels - 1, 0
    rows = pyramid.grid(level)[1]
    kept: list[Pixels] = []
    top = end = 0  # the first and the last row of the picture that is kept
    for strip in strips:
        kept.append(strip if strip.itemsize == 1 else (strip >> 8).astype(np.uint8))
        end += len(strip)
        while row < rows and (span := pyramid.span(level, row, 1)).stop <= end:
            whole = np.concatenate(kept)
            yield row, whole[span.start - top : span.stop - top]
            row += 1
            first = pyramid.span(level, row, 1).start
            kept, top = [whole[first - top :]], first
    if row < rows or end != pyramid.size[1]:
        raise FractalsError(f"the picture has {counted(end, 'row')}, and not {pyramid.size[1]}")


def _cut(pyramid: Pyramid, column: int, row: int, pixels: Pixels) -> None:
    level = pyramid.levels - 1
    if not pyramid.path(level, column, row).exists():
        pyramid.write(level, column, row, pixels[:, pyramid.span(level, column, 0)])


def _halve(pyramid: Pyramid, level: int, column: int, row: int) -> None:
    """Write a tile whose pixels are the means of four of the next level."""
    if pyramid.path(level, column, row).exists():
        return
    spans = []
    for axis, index in enumerate((column, row)):
        own, most = pyramid.span(level, index, axis), pyramid.size_of(level + 1)[axis]
        spans.append(slice(2 * own.start, min(2 * own.stop, most)))
    pyramid.write(level, column, row, halved(pyramid.read(level + 1, *spans)))


def halved(pixels: Pixels) -> Pixels:
    """Return the picture of half the size; of an odd side the last pixel counts twice.

    >>> halved(np.array([[[0, 0, 9], [255, 0, 9]]], np.uint8)).tolist()
    [[[188, 0, 9]]]
    """
    height, width = pixels.shape[:2]
    light = _light()[np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")]
    mean = light.reshape(-(-height // 2), 2, -(-width // 2), 2, 3).mean((1, 3))
    return np.rint(255 * srgb_from_linear(mean)).astype(np.uint8)


@functools.cache
def _light() -> Any:
    return linear_from_srgb(np.arange(256) / 255)


def write_page(pyramid: Pyramid, scene: Scene | None) -> None:
    """Write the page, its program, and the .dzi file for other viewers."""
    files = resources.files("fractals.tools") / "viewer"
    width, height = pyramid.size
    title = (scene and scene.title) or "A picture"
    parts = [*(byline(scene) if scene else ()), f"{width}x{height} pixels"]
    values = {
        "title": html.escape(escaped(title)),
        "text": html.escape(", ".join(parts)),
        "image": json.dumps(pyramid.element()),
    }
    page = Template((files / "page.html").read_text("utf-8")).substitute(values)
    dzi = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Image xmlns="{XML}" Format="{pyramid.suffix}" '
        f'Overlap="{OVERLAP}" TileSize="{pyramid.tile}">'
        f'<Size Width="{width}" Height="{height}"/></Image>\n'
    )
    contents = {f"{NAME}.dzi": dzi.encode()}
    for name in ("openseadragon.min.js", "LICENSE.txt"):
        contents[name] = (files / name).read_bytes()
    contents[PAGE] = page.encode()
    for name, content in contents.items():
        with written(pyramid.folder / name) as file:
            file.write(content)

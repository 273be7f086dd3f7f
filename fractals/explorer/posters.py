"""Posters: a picture on paper, with a line around it and a signature that the page has drawn."""

import base64
import binascii
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fractals.color.palette import parse_color
from fractals.errors import OptionError
from fractals.explorer import protocol
from fractals.io.image import Image
from fractals.io.png import Pixels

FORMATS = ("png", "jpg", "webp", "tiff")  # of files that can hold a poster
DAMAGED = "the signature is damaged"


def check(message: protocol.Export) -> None:
    """Raise an `OptionError` for a poster that can't be made."""
    paper = message.paper
    if paper is None:
        return
    if message.format not in FORMATS:
        raise OptionError("a poster is a PNG, JPEG, WebP or TIFF: choose one of these")
    for at, size, side in zip(paper.at, message.size, paper.size, strict=True):
        if not 0 <= at <= at + size <= side:
            raise OptionError("the picture reaches beyond the paper: choose smaller margins")
    _color(paper.color)
    _color(paper.line_color)
    if paper.signature:
        opacity_of(paper.signature)
        _color(paper.signature.color)


def memory_of(paper: protocol.PosterPaper | None) -> int:
    """Return the bytes that the paper takes beside its picture, in the process that draws it."""
    return 6 * math.prod(paper.size) if paper else 0  # itself, and a copy while a file is written


def opacity_of(signature: protocol.Signature) -> Pixels:
    """Return how opaque each pixel of a signature is, as uint8 of shape (height, width)."""
    width, height = signature.size
    try:
        inflate = zlib.decompressobj()
        packed = base64.b64decode(signature.mask, validate=True)
        data = inflate.decompress(packed, width * height + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise OptionError(DAMAGED) from None
    if len(data) != width * height:
        raise OptionError(DAMAGED)
    return np.frombuffer(data, np.uint8).reshape(height, width)


def composed(pixels: Pixels, paper: protocol.PosterPaper) -> Pixels:
    """Return the paper with a picture, its line and its signature, as uint8 of sRGB."""
    (width, height), (left, top) = paper.size, paper.at
    down, across = pixels.shape[:2]
    found = np.empty((height, width, 3), np.uint8)
    found[:] = _color(paper.color)
    if paper.line:
        far, near = paper.gap + paper.line, paper.gap
        _fill(found, (left, top, across, down), far, _color(paper.line_color))
        _fill(found, (left, top, across, down), near, _color(paper.color))
    found[top : top + down, left : left + across] = pixels
    if paper.signature:
        _sign(found, paper.signature)
    return found


def _fill(found: Pixels, box: tuple[int, int, int, int], by: int, color: Pixels) -> None:
    """Fill a box, and some pixels around it, with a color."""
    left, top, across, down = box
    rows = slice(max(0, top - by), top + down + by)
    found[rows, max(0, left - by) : left + across + by] = color


def _sign(found: Pixels, signature: protocol.Signature) -> None:
    """Lay a signature over the paper; what lies beyond the paper is left out."""
    opacity, (x, y) = opacity_of(signature), signature.at
    height, width = found.shape[:2]
    rows = slice(max(0, y), max(0, min(height, y + opacity.shape[0])))
    columns = slice(max(0, x), max(0, min(width, x + opacity.shape[1])))
    part = opacity[rows.start - y : rows.stop - y, columns.start - x : columns.stop - x]
    if not part.size:
        return
    share = part[..., None].astype(np.uint32)
    under = found[rows, columns]
    mixed = (share * _color(signature.color) + (255 - share) * under + 127) // 255
    found[rows, columns] = mixed.astype(np.uint8)


def _color(text: str) -> Pixels:
    """Return a color as uint8 of sRGB."""
    return np.array([round(255 * part) for part in parse_color(text)], np.uint8)


def save(draw: Callable[[], Image], path: str, table: dict[str, Any]) -> None:
    """Draw a picture, and write its poster.

    The file has title, author and dots per inch, and no scene, because no scene draws the paper.
    """
    paper = protocol.PosterPaper.checked(table)
    image = draw()
    pixels = composed(image.pixels, paper)
    scene = image.scene.replace(size=paper.size)
    Image(pixels, scene, drawn=False).save(Path(path), overwrite=True)

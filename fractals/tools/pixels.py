"""Reads pixels: of any picture by Pillow, of our PNGs with 16 bits, and of these row by row."""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from fractals.errors import SceneError
from fractals.io import png
from fractals.io.files import lifted_limit
from fractals.io.image import WITH_COLORS
from fractals.io.png import Bytes, Pixels

MAX_RATIO = 1033  # of deflate


def read_pixels(path: str | Path, bits: int = 8, size: tuple[int, int] | None = None) -> Pixels:
    """Return the pixels of a picture, shape (height, width, 3); of 16 bits only from our PNGs.

    `size` is the width and height that it must have; they are compared before anything is decoded.

    `SceneError`: the file is no picture, is damaged, or has another size.
    """
    if bits == 16:
        return np.concatenate(list(read_rows(path, size)))
    import PIL.Image

    try:
        with lifted_limit(), PIL.Image.open(path, formats=WITH_COLORS) as picture:
            if size and picture.size != size:
                width, height = picture.size
                raise SceneError(
                    f"{path} is {width}x{height}, and the scene inside says {size[0]}x{size[1]}"
                )
            return np.asarray(picture.convert("RGB"))
    except SceneError:
        raise
    except (OSError, SyntaxError, ValueError, IndexError, MemoryError) as error:
        raise SceneError(f"{path}: the picture is damaged or cut short ({error})") from None


def read_rows(path: str | Path, size: tuple[int, int] | None = None) -> Iterator[Pixels]:
    """Yield the rows of a PNG written here, some at a time from the top, of 8 or 16 bits.

    `size`: the width and height that the picture must have; compared before anything is unpacked.
    `SceneError`: the file is damaged, of another size, or another program wrote it in another way.
    """
    try:
        with open(path, "rb") as file:
            yield from _decoded(file, size)
    except OSError as error:
        raise SceneError(f"{path}: {error.strerror}") from None
    except (ValueError, struct.error, zlib.error) as error:
        raise SceneError(f"{path}: not a PNG as fractals writes it, or damaged ({error})") from None


def _decoded(file: BinaryIO, size: tuple[int, int] | None) -> Iterator[Pixels]:
    whole = os.fstat(file.fileno()).st_size
    if file.read(len(png.SIGNATURE)) != png.SIGNATURE:
        raise ValueError("it has no header")
    kind, content = _next_chunk(file)
    if kind != b"IHDR":
        raise ValueError("it has no header")
    width, height, bits, *method = struct.unpack(">IIBBBBB", content)
    if size and size != (width, height):
        raise ValueError(f"it has {width}x{height} pixels, and its scene {size[0]}x{size[1]}")
    if method != [png.RGB, 0, 0, 0] or bits not in (8, 16) or not (width and height):
        raise ValueError("its pixels are not RGB of 8 or 16 bits, row by row")
    step = 3 * bits // 8
    line = 1 + step * width
    if height * line > MAX_RATIO * whole:  # deflate packs at most 1032 bytes into one
        raise ValueError("its pixels are incomplete")
    stream, left, above = zlib.decompressobj(), height, None
    raw = b""
    while kind != b"IEND":
        kind, content = _next_chunk(file)
        if kind != b"IDAT":
            continue
        while content and not stream.eof:
            raw += stream.decompress(content, max(png.PIECE, line))
            content = stream.unconsumed_tail
            count = len(raw) // line
            if count > left or (count == left and len(raw) > count * line):
                raise ValueError("its pixels are incomplete")
            if not count:
                continue
            lines = np.frombuffer(raw, np.uint8, count * line).reshape(count, line)
            values = _unfiltered(lines[:, 0], lines[:, 1:].copy(), step, above)
            raw, left, above = raw[count * line :], left - count, values[-1]
            yield values.view(f">u{bits // 8}").astype(f"u{bits // 8}").reshape(count, width, 3)
    if left or not stream.eof:
        raise ValueError("its pixels are incomplete")
    if file.read(1):
        raise ValueError("bytes follow its end")


def _next_chunk(file: BinaryIO) -> tuple[bytes, bytes]:
    """Return kind and content of the next chunk; `ValueError`: it is damaged."""
    at = file.tell()
    head = file.read(8)
    length, kind = struct.unpack(">I4s", head)
    content = file.read(length)
    if png.chunk(kind, content) != head + content + file.read(4):
        raise ValueError(f"the chunk at byte {at} is damaged")
    return kind, content


def _unfiltered(filters: Bytes, rows: Bytes, step: int, above: Bytes | None) -> Bytes:
    """Undo `_filtered` of every strip; `above`: the row before these."""
    first = filters == png.SUB
    if not (first | (filters == png.UP)).all() or (above is None and not first[0]):
        raise ValueError("its rows are filtered in another way")
    if not first[0]:
        rows[0] += above
    starts = np.flatnonzero(first)
    for start in starts:
        rows[start] = np.add.accumulate(rows[start].reshape(-1, step), dtype=np.uint8).ravel()
    for start, stop in zip([0, *starts], [*starts, len(rows)], strict=True):
        rows[start:stop] = np.add.accumulate(rows[start:stop], dtype=np.uint8)
    return rows

"""TIFF files of 8 or 16 bits per channel; Pillow writes no RGB of 16 bits."""

import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from fractals.io import exif

DEFLATE, RGB, HORIZONTAL, INCHES = 8, 2, 2, 2
# Tags of TIFF 6.0 by number.
WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
OFFSETS, SAMPLES, ROWS, COUNTS, X_DPI, Y_DPI, UNIT, PREDICTOR = (
    273,
    277,
    278,
    279,
    282,
    283,
    296,
    317,
)


def write(
    file: BinaryIO, pixels: NDArray[np.unsignedinteger[Any]], dpi: float | None, comment: bytes
) -> None:
    """Write a picture as one strip, compressed without loss.

    `comment`: the scene, as of `exif.comment_of`.
    """
    height, width = pixels.shape[:2]
    little = pixels.astype(pixels.dtype.newbyteorder("<"))
    little[:, 1:] -= pixels[:, :-1]  # differences of neighbors compress better
    data = zlib.compress(little.data, 6)
    tags = ImageFileDirectory_v2()  # begins with II: the least byte comes first
    values = {
        WIDTH: width,
        HEIGHT: height,
        BITS: (8 * pixels.itemsize,) * 3,
        COMPRESSION: DEFLATE,
        PHOTOMETRIC: RGB,
        OFFSETS: 0,  # Pillow adds the length of what precedes the strip
        SAMPLES: 3,
        ROWS: height,
        COUNTS: len(data),
        PREDICTOR: HORIZONTAL,
        exif.SOFTWARE: exif.SOFTWARE_NAME,
        exif.EXIF: exif.tags_of(comment),
    }
    if dpi:
        values |= {X_DPI: dpi, Y_DPI: dpi, UNIT: INCHES}
    for tag, value in values.items():
        tags[tag] = value
    tags.save(file)
    file.write(data)

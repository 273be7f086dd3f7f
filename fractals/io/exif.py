"""The scene in the EXIF data of JPEG, WebP, AVIF and TIFF files, as JSON; writes TIFFs."""

import json
import logging
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from fractals.errors import SceneError
from fractals.io import metadata, png
from fractals.io.facts import RESOLVED
from fractals.scene.model import Scene

EXIF, USER_COMMENT, COLOR_SPACE = 0x8769, 0x9286, 0xA001
PROFILE, BYTES, TEXT, UNDEFINED = 0x8773, 1, 2, 7
SRGB, OTHER = 1, 0xFFFF
ASCII = b"ASCII\0\0\0"  # how a comment is encoded; JSON escapes other characters
FORMATS = ("JPEG", "WEBP", "TIFF", "AVIF")  # the last one is unknown to an old Pillow
MAX_JPEG = 65_000  # bytes of a scene and its tags: a JPEG's segment of EXIF data has 65,533
MAX_FILE = 2**30  # bytes of a file whose scene is read: a WebP is read whole

# Without a handler, Python prints what Pillow logs of a damaged file, beside our own error.
logging.getLogger("PIL").addHandler(logging.NullHandler())


def comment_of(scene: Scene, resolved: Mapping[str, Any] | None = None) -> bytes:
    """Return the comment that holds a scene; b"" for a formula that can't be written.

    `resolved`, as of `fractals.io.facts.resolved_values`, is kept beside the scene.
    """
    try:
        table = scene.to_table() | ({RESOLVED: resolved} if resolved else {})
        return ASCII + json.dumps(table).encode("ascii")
    except SceneError:  # a formula that is a user's function has no name
        return b""


def fits(file_format: str, comment: bytes, scene: Scene) -> bool:
    """Return whether a type of file can hold a comment, besides the tags of its scene."""
    size = len(comment) + sum(map(len, metadata.tags(scene).values()))
    return bool(comment) and (file_format != "JPEG" or size <= MAX_JPEG)


def tags_of(comment: bytes, gamut: str) -> dict[int, Any]:
    """Return the tags of the EXIF directory: the scene and the color space."""
    space = SRGB if gamut == "srgb" else OTHER
    return {COLOR_SPACE: space} | ({USER_COMMENT: comment} if comment else {})


def make_exif(
    file_format: str, scene: Scene, resolved: Mapping[str, Any] | None = None
) -> PIL.Image.Exif:
    """Return the EXIF data of a JPEG, WebP or AVIF; `resolved` is as of `comment_of`."""
    comment = comment_of(scene, resolved)
    if not fits(file_format, comment, scene):
        comment = comment_of(scene)
    exif = PIL.Image.Exif()
    for tag, text in metadata.tags(scene).items():
        exif[tag] = text
    kept = comment if fits(file_format, comment, scene) else b""
    exif.get_ifd(EXIF).update(tags_of(kept, scene.image.gamut))
    return exif


def comment_in(file: BinaryIO) -> str | None:
    """Return the JSON of the scene inside an open picture, or None. Nothing is decoded.

    `ValueError`: the file is damaged, or of another type.
    """
    try:
        with PIL.Image.open(file, formats=FORMATS) as picture:
            comment = picture.getexif().get_ifd(EXIF).get(USER_COMMENT)
    except Exception:  # Pillow raises many types for damaged data
        raise ValueError("not a JPEG, WebP, AVIF or TIFF, or damaged") from None
    if not isinstance(comment, bytes) or not comment.startswith(ASCII + b"{"):
        return None
    return comment.removeprefix(ASCII).decode("ascii", "replace")


def write_tiff(
    file: BinaryIO, pixels: NDArray[np.unsignedinteger[Any]], scene: Scene, comment: bytes
) -> None:
    """Write a picture as one strip, compressed without loss.

    `comment`: the scene, as of `comment_of`.
    """
    picture = scene.image
    height, width = pixels.shape[:2]
    little = pixels.astype(pixels.dtype.newbyteorder("<"))
    little[:, 1:] -= pixels[:, :-1]  # differences of neighbors compress better
    data = zlib.compress(little.data, 6)
    tags = (
        ImageFileDirectory_v2()
    )  # of TIFF 6.0, by number; the file begins with II: the least byte comes first
    values = {
        256: width,
        257: height,
        258: (8 * pixels.itemsize,) * 3,  # bits
        259: 8,  # compressed by deflate
        262: 2,  # RGB
        273: 0,  # the strip's place: Pillow adds the length of what precedes it
        277: 3,  # channels
        278: height,  # rows of the strip
        279: len(data),
        317: 2,  # differences of horizontal neighbors
        EXIF: tags_of(comment, picture.gamut),
    }
    if dpi := picture.dpi:
        values |= {282: dpi, 283: dpi, 296: 2}  # across and down, in inches
    if profile := png.icc_profile(picture.gamut):
        values[PROFILE] = profile
        tags.tagtype[PROFILE] = UNDEFINED
    if packet := metadata.xmp(scene):
        values[metadata.XMP] = packet.encode()
        tags.tagtype[metadata.XMP] = BYTES
    for tag, text in metadata.tags(scene).items():
        values[tag] = text
        tags.tagtype[tag] = TEXT
    for tag, value in values.items():
        tags[tag] = value
    tags.save(file)
    file.write(data)

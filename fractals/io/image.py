"""Image: a picture's pixels with its scene; written whole or not at all, and read again."""

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

import numpy as np

from fractals import __version__
from fractals.errors import OptionError, SceneError
from fractals.io import png
from fractals.io.files import SCENE_KEY, check_output, lifted_limit, written
from fractals.io.png import Pixels
from fractals.scene.model import Image as Picture
from fractals.scene.model import Scene
from fractals.threads import core_count

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".ppm": "PPM",
}
OPTIONS: dict[str, dict[str, Any]] = {  # of Pillow, which writes all but PNG
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_lzw"},
    "PPM": {},
}
LARGEST = {"JPEG": 65_500, "WEBP": 16_383}  # pixels a side
WITH_DPI = ("PNG", "JPEG", "TIFF")


@dataclass
class Image:
    """A picture.

    Attributes
    ----------
    pixels : ndarray of uint8 or uint16, shape (height, width, 3)
        sRGB.
    timings : dict of str to float
        Seconds of each stage: compile, reference, iterate, color, copy, encode.
    device, number, method : str
        Where it was drawn, in which type it was iterated, and how.
    """

    pixels: Pixels
    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    precision: str = ""
    method: str = ""

    def save(self, path: str | Path, overwrite: bool = True) -> None:
        """Write the picture to a file whose suffix names its type; a PNG carries the scene.

        Raises
        ------
        OptionError
            The suffix is of no type that can be written, or of one that can't hold this picture.
        FractalsError
            The file can't be written; what was there before is still there.
        """
        file_format = format_of(path)
        self._check(file_format)
        check_output(path, overwrite)
        with written(path, overwrite) as file:
            self._write(file, file_format)

    def encode(self, file_format: str = "PNG") -> bytes:
        """Return the bytes of a file of this type."""
        self._check(file_format)
        buffer = io.BytesIO()
        self._write(buffer, file_format)
        return buffer.getvalue()

    def _check(self, file_format: str) -> None:
        height, width = self.pixels.shape[:2]
        check_format(file_format, (width, height), 8 * self.pixels.itemsize)

    def _write(self, file: BinaryIO, file_format: str) -> None:
        begun = perf_counter()
        picture = self.scene.image
        if file_format == "PNG":
            height, width = self.pixels.shape[:2]
            beginning = png_beginning(self.scene, (width, height), 8 * self.pixels.itemsize)
            png.write(file, beginning, self.pixels, picture.compression, core_count())
        else:
            import PIL.Image

            options = dict(OPTIONS[file_format])
            if picture.dpi and file_format in WITH_DPI:
                options["dpi"] = (picture.dpi, picture.dpi)
            PIL.Image.fromarray(self.pixels).save(file, file_format, **options)
        self.timings["encode"] = perf_counter() - begun

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the pixels: ``np.asarray(image)`` copies nothing."""
        same = dtype is None or np.dtype(dtype) == self.pixels.dtype
        if same and not copy:
            return self.pixels
        if not same and copy is False:
            raise ValueError(f"pixels of {self.pixels.dtype} are no {dtype} without a copy")
        return np.array(self.pixels, dtype)

    def _repr_png_(self) -> bytes:
        return self.encode()

    def _repr_html_(self) -> str:
        from fractals.io.notebook import picture_html, timings_html

        height, width = self.pixels.shape[:2]
        facts = ", ".join(
            part for part in (f"{width}x{height}", self.device, self.method, self.precision) if part
        )
        shown = picture_html(self.encode(), facts)
        return shown + timings_html(self.timings) + self.scene._repr_html_()


def png_beginning(scene: Scene, size: tuple[int, int], bits: int) -> bytes:
    """Return the beginning of a scene's PNG: its scene is inside, where it can be written down."""
    texts = {}
    with contextlib.suppress(SceneError):  # a formula of the user's own can't be named
        texts[SCENE_KEY] = scene.to_json()
    return png.begin(size, bits, texts, f"fractals {__version__}", scene.image.dpi)


def read_pixels(path: str | Path, bits: int = 8, size: tuple[int, int] | None = None) -> Pixels:
    """Return the pixels of a picture, shape (height, width, 3); of 16 bits only from our PNGs.

    Parameters
    ----------
    size : (int, int), optional
        The width and height that the picture must have; compared before anything is decoded.

    Raises
    ------
    SceneError
        The file is no picture, is damaged, or has another size.
    """
    if bits == 16:
        return png.read(path, size)
    import PIL.Image

    try:
        with lifted_limit(), PIL.Image.open(path) as picture:
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


def format_of(path: str | Path) -> str:
    """Return the type of file that a path's suffix names; ``"-"`` is a PNG on stdout."""
    suffix = ".png" if str(path) == "-" else Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise OptionError(f"'{path}' names no type of picture: end it in {', '.join(FORMATS)}")
    return FORMATS[suffix]


def check_format(file_format: str, size: tuple[int, int], bits: int) -> None:
    """Raise an `OptionError` where a type of file can't hold a picture, before it is drawn."""
    if bits == 16 and file_format != "PNG":
        raise OptionError(
            f"{file_format} holds 8 bits a channel here: give --bits 8, or write a .png"
        )
    most = LARGEST.get(file_format, max(size))
    if max(size) > most:
        raise OptionError(
            f"{file_format} holds at most {most} pixels a side, and the picture has "
            f"{size[0]}x{size[1]}: write a .png, or give a smaller --size"
        )


def lost(file_format: str, picture: Picture) -> str:
    """Say what a type of file doesn't carry of a scene; nothing where it carries all."""
    if file_format == "PNG":
        return ""
    what = "no scene" if file_format in WITH_DPI or not picture.dpi else "no scene and no dpi"
    return f"{file_format} carries {what}: keep a PNG or a .toml to draw it again"

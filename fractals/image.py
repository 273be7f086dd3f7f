"""Image: a picture's pixels with its scene; written whole or not at all, and read again."""

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL.PngImagePlugin import PngInfo

from fractals import __version__
from fractals.errors import OptionError, SceneError
from fractals.files import SCENE_KEY, check_output, written
from fractals.scene import Scene

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".ppm": "PPM",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "PNG": {"compress_level": 3},  # levels above take 2 to 10 times as long for 5 % less
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_lzw"},
    "PPM": {},
}


@dataclass
class Image:
    """A picture.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (height, width, 3)
        sRGB.
    timings : dict of str to float
        Seconds of each stage: compile, reference, iterate, color, copy, encode.
    device, number : str
        Where it was drawn, and in which type it was iterated.
    """

    pixels: NDArray[np.uint8]
    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    number: str = ""

    def save(self, path: str | Path, overwrite: bool = True) -> None:
        """Write the picture to a file whose suffix names its type; a PNG carries the scene.

        Raises
        ------
        OptionError
            The suffix is of no type that can be written.
        FractalsError
            The file can't be written; what was there before is still there.
        """
        file_format = format_of(path)
        check_output(path, overwrite)
        with written(path) as file:
            file.write(self.encode(file_format))

    def encode(self, file_format: str = "PNG") -> bytes:
        """Return the bytes of a file of this type."""
        begun = perf_counter()
        buffer = io.BytesIO()
        options = dict(OPTIONS[file_format])
        if file_format == "PNG":
            options["pnginfo"] = self._text()
        PIL.Image.fromarray(self.pixels).save(buffer, file_format, **options)
        self.timings["encode"] = perf_counter() - begun
        return buffer.getvalue()

    def _text(self) -> PngInfo:
        info = PngInfo()
        with contextlib.suppress(SceneError):  # a formula of the user's own can't be named
            info.add_itxt(SCENE_KEY, self.scene.to_json())
        info.add_text("Software", f"fractals {__version__}")
        return info

    def _repr_png_(self) -> bytes:
        return self.encode()


def read_pixels(path: str | Path) -> NDArray[np.uint8]:
    """Return the pixels of a picture, shape (height, width, 3)."""
    with PIL.Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def format_of(path: str | Path) -> str:
    """Return the type of file that a path's suffix names; ``"-"`` is a PNG on stdout."""
    suffix = ".png" if str(path) == "-" else Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise OptionError(f"'{path}' names no type of picture: end it in {', '.join(FORMATS)}")
    return FORMATS[suffix]

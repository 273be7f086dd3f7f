"""Small pictures in scenes: read from a file once, then kept in the scene as text, as a PNG is."""

import base64
import binascii
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import SceneError
from fractals.files import lifted_limit
from fractals.palette import Palette, linear_from_srgb, parse_color

BUILT_IN = "flower"
KEPT = "data:image/png;base64,"
SUFFIXES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
MOST_PIXELS = 2**18
BITS = 16  # of opacity in a number: float32 holds so many exactly, too
MOST_BYTES = 2**22  # of a file, and of the text

Pixels = NDArray[np.uint8]


def find(name: str, folder: Path = Path()) -> str:
    """Return what a scene keeps of the picture of this name: a built-in name, or its PNG as text.

    A file is sought in `folder`, and then in the current one.

    Raises
    ------
    SceneError
        There is no such picture; or it is too large, damaged, or of another kind.
    """
    if name == BUILT_IN:
        return name
    if name.startswith(KEPT):
        decode(name)
        return name
    path = folder / name if (folder / name).is_file() else Path(name)
    if path.suffix.lower() not in SUFFIXES:
        ends = " ".join(SUFFIXES)
        raise SceneError(f"'{name[:80]}' is no picture: name a file ({ends}), or {BUILT_IN}")
    try:
        if not path.is_file():
            raise SceneError(f"{path}: no such file")
        if path.stat().st_size > MOST_BYTES:
            raise SceneError(f"{path}: a picture's file has at most {MOST_BYTES // 2**20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise SceneError(f"{path}: {error.strerror or error}") from None
    return encode(_opened(data, SUFFIXES[path.suffix.lower()], str(path)))


def embed(coloring: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a coloring's table with its picture, where that is a file's name, as text."""
    name = coloring.get("picture")
    return {**coloring, "picture": find(name, folder)} if isinstance(name, str) else coloring


def embed_all(table: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a scene's table with the pictures of all its layers as text."""
    color = table.get("color")
    if not isinstance(color, Mapping):
        return table
    layers = color.get("layers")
    own = dict(_embedded(color, folder))
    if isinstance(layers, list):
        own["layers"] = [_embedded(layer, folder) for layer in layers]
    return {**table, "color": own}


def _embedded(layer: Any, folder: Path) -> Any:
    coloring = layer.get("coloring") if isinstance(layer, Mapping) else None
    if not isinstance(coloring, Mapping):
        return layer
    return {**layer, "coloring": embed(coloring, folder)}


def encode(pixels: Pixels) -> str:
    """Return pixels (height, width, 4), sRGB and opacity, as text."""
    import PIL.Image

    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return KEPT + base64.b64encode(file.getvalue()).decode("ascii")


@functools.lru_cache(maxsize=16)
def decode(kept: str) -> Pixels:
    """Return the pixels (height, width, 4) of what a scene keeps, not to be written to.

    Raises
    ------
    SceneError
        The text is no PNG.
    """
    if kept == BUILT_IN:
        pixels = _flower()
    else:
        try:
            if len(kept) > MOST_BYTES:
                raise ValueError
            data = base64.b64decode(kept.removeprefix(KEPT), validate=True)
        except (binascii.Error, ValueError):
            raise SceneError("the picture in the scene is damaged") from None
        pixels = _opened(data, "PNG", "the picture in the scene")
    pixels.flags.writeable = False
    return pixels


def _opened(data: bytes, kind: str, name: str) -> Pixels:
    import PIL.Image

    try:
        with lifted_limit(), PIL.Image.open(io.BytesIO(data), formats=[kind]) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise SceneError(
                    f"{name}: {width}x{height} pixels, and a picture in a scene has at most "
                    f"{MOST_PIXELS} (512x512): make it smaller"
                )
            return np.array(picture.convert("RGBA"))
    except PIL.UnidentifiedImageError:
        raise SceneError(f"{name}: not a {kind}, or damaged at its beginning") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise SceneError(f"{name}: damaged or cut short ({error})") from None


def _flower() -> Pixels:
    """Return a flower of eight petals, twice as many behind them, on nothing."""
    size = 192
    across = (np.arange(size) + 0.5) * 2 / size - 1
    x, y = np.meshgrid(across, -across)
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    pixels = np.zeros((size, size, 4), np.uint8)
    for petals, turned, long, outer, inner in (
        (8, np.pi / 8, 0.98, "#7d2e68", "#c2487e"),
        (8, 0.0, 0.86, "#f7d9d0", "#d9628a"),
    ):
        wave = np.abs(np.cos(petals / 2 * (angle - turned)))
        edge = long * (0.42 + 0.58 * wave**0.6)
        t = np.clip(r / edge, 0, 1)[..., None] ** 2
        vein = 1 - 0.12 * (wave[..., None] > 0.985) * (r[..., None] > 0.25)
        own = (np.array(parse_color(inner)) * (1 - t) + np.array(parse_color(outer)) * t) * vein
        own = own * np.where(r > edge - 0.025, 0.72, 1)[..., None]
        covered = r < edge
        pixels[covered, :3] = np.rint(255 * own[covered])
        pixels[covered, 3] = 255
    for radius, color in ((0.25, "#6e3a12"), (0.225, "#f0b429"), (0.13, "#c97f1a")):
        pixels[r < radius, :3] = np.rint(255 * np.array(parse_color(color)))
    return pixels


def opaque(kept: str) -> NDArray[np.bool_]:
    """Return which pixels of a picture are there, (height, width)."""
    return np.asarray(decode(kept)[..., 3] > 0)


def opacity(kept: str) -> list[int]:
    """Return the same as numbers of BITS bits, pixel after pixel; as many for every picture."""
    bits = np.zeros(MOST_PIXELS, bool)
    there = opaque(kept)
    bits[: there.size] = there.reshape(-1)
    words = np.packbits(bits, bitorder="little").view("<u2")
    return [int(word) for word in words]


def entries(kept: str) -> int:
    """Return how many entries its table of colors has: a power of two, so that places are exact."""
    return 1 << (opaque(kept).size - 1).bit_length()


@dataclass(frozen=True)
class PicturePalette(Palette):
    """The pixels of a picture as a palette: entry k is pixel k, row by row from the top."""

    picture: str = BUILT_IN

    @staticmethod
    def of(kept: str) -> "PicturePalette":
        """Return the palette of what a scene keeps; as stops it has but the mean color."""
        pixels = decode(kept)
        seen = pixels[opaque(kept)][:, :3]
        mean = seen.mean(axis=0) if len(seen) else np.zeros(3)
        color = "#" + bytes(round(float(v)) for v in mean).hex()
        return PicturePalette(((0.0, color),), picture=kept)

    def lookup(self, inside: str) -> NDArray[np.float32]:
        """Return the table the shading program reads, as that of any palette but for its length."""
        rows = np.zeros((entries(self.picture) + 2, 3))
        flat = decode(self.picture)[..., :3].reshape(-1, 3)
        rows[: len(flat)] = linear_from_srgb(flat / 255)
        rows[-2], rows[-1] = rows[0], linear_from_srgb(parse_color(inside))
        return rows.astype(np.float32)

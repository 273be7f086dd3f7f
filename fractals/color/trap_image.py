"""Small pictures in scenes, kept as the text of a PNG."""

import base64
import binascii
import functools
import io
import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import Palette, in_gamut, linear_from_srgb, linear_of, parse_color
from fractals.errors import InputError, shown

BUILT_IN = "flower"
KEPT = "data:image/png;base64,"
OF_FILES = "load_scene reads pictures from files"
MAX_PIXELS = 2**18
MAX_SHRUNK = 2**26  # pixels of a mask's file, which is made smaller
BITS = 16  # of opacity in a number; float32 holds 24 bits exactly
MAX_BYTES = 2**22  # of a file, and of the text

Pixels = NDArray[np.uint8]


def encode(pixels: Pixels) -> str:
    """Return pixels (height, width, 4), sRGB and opacity, or gray (height, width), as text."""
    import PIL.Image

    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return KEPT + base64.b64encode(file.getvalue()).decode("ascii")


def encode_mask(pixels: Pixels) -> str:
    """Return the brightness of pixels (height, width, 4) as text; what is transparent is black."""
    red, green, blue, there = (pixels[..., k].astype(np.uint32) for k in range(4))
    gray = (19595 * red + 38470 * green + 7471 * blue + 2**15) >> 16  # ITU-R BT.601, as Pillow
    return encode(((gray * there + 127) // 255).astype(np.uint8))


def weights(kept: str) -> NDArray[np.float64]:
    """Return the brightness of what `encode_mask` returned, from 0 to 1, (height, width)."""
    pixels = decode(kept).astype(np.float64)
    found: NDArray[np.float64] = pixels[..., 0] * pixels[..., 3] / 255**2
    return found


@functools.lru_cache(maxsize=16)
def decode(kept: str) -> Pixels:
    """Return the pixels (height, width, 4) of what a scene keeps, not to be written to.

    Raises `InputError` if the text is no PNG.
    """
    if kept == BUILT_IN:
        pixels = _flower()
    else:
        try:
            if len(kept) > MAX_BYTES:
                raise ValueError
            data = base64.b64decode(kept.removeprefix(KEPT), validate=True)
        except (binascii.Error, ValueError):
            raise InputError("the picture in the scene is damaged") from None
        pixels = opened(data, "PNG", "the picture in the scene")
    pixels.flags.writeable = False
    return pixels


def check(name: str) -> str:
    """Return the name of a built-in picture, or the text of a PNG, if it can be decoded.

    Raises `InputError` if it is the name of a file, or no PNG.
    """
    if name != BUILT_IN and not name.startswith(KEPT):
        raise InputError(f"'{shown(name, 80)}' is no picture: {OF_FILES}")
    decode(name)
    return name


def opened(data: bytes, kind: str, name: str, smaller: bool = False) -> Pixels:
    """Return the pixels (height, width, 4) of a picture's file of this `kind`.

    `smaller`: a larger picture is made as small as a scene keeps, by means of its pixels.

    Raises `InputError` if it is too large, damaged, or of another kind; it begins with `name`.
    """
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data), formats=[kind]) as picture:
            width, height = picture.size
            if smaller and MAX_PIXELS < width * height <= MAX_SHRUNK:
                share = math.sqrt(MAX_PIXELS / (width * height))
                sides = max(1, int(width * share)), max(1, int(height * share))
                whole = picture.convert("RGBA").resize(sides, PIL.Image.Resampling.BOX)
                return np.array(whole)
            if width * height > MAX_PIXELS:
                raise InputError(
                    f"{name}: {width}x{height} pixels, and a picture in a scene has at most "
                    f"{MAX_PIXELS} (512x512): make it smaller"
                )
            return np.array(picture.convert("RGBA"))
    except InputError:
        raise
    except PIL.Image.DecompressionBombError:
        raise InputError(f"{name}: a picture in a scene has at most {MAX_PIXELS} pixels") from None
    except PIL.UnidentifiedImageError:
        raise InputError(f"{name}: not a {kind}, or damaged at its beginning") from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error) as error:
        raise InputError(f"{name}: damaged or cut short ({shown(error)})") from None


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
    bits = np.zeros(MAX_PIXELS, bool)
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

    def lookup(self, inside: str, gamut: str = "srgb") -> NDArray[np.float32]:
        """Return the lookup table of the shading kernel; its length is that of the picture."""
        rows = np.zeros((entries(self.picture) + 2, 3))
        flat = decode(self.picture)[..., :3].reshape(-1, 3)
        rows[: len(flat)] = in_gamut(linear_from_srgb(flat / 255), gamut)
        rows[-2], rows[-1] = rows[0], linear_of(inside, gamut)
        return rows.astype(np.float32)

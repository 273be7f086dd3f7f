"""Color spaces: sRGB, linear light, OKLab and OKLCH."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENTRIES = 4096  # of the lookup table
LEVELS = {8: 2**14, 16: 2**20}  # of linear light, by bits of sRGB: none is passed over in the dark

# Björn Ottosson, A perceptual color space for image processing (2020).
LMS_FROM_LINEAR = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB_FROM_ROOTS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

Floats = NDArray[np.float64]


def hexadecimal(srgb: Any) -> str:
    """Return ``"#rrggbb"`` of sRGB values from 0 to 1."""
    red, green, blue = (round(255 * min(max(float(v), 0.0), 1.0)) for v in srgb)
    return f"#{red:02x}{green:02x}{blue:02x}"


def linear_from_srgb(encoded: Any) -> Floats:
    """Return linear light from 0 to 1 of sRGB values from 0 to 1 (IEC 61966-2-1)."""
    v = np.asarray(encoded, dtype=np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: Any) -> Floats:
    """Return sRGB values from 0 to 1 of linear light from 0 to 1."""
    v = np.asarray(linear, dtype=np.float64)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0) ** (1 / 2.4) - 0.055)


def oklab_from_linear(linear: Floats) -> Floats:
    """Return OKLab coordinates of linear light, shape (..., 3)."""
    return np.asarray(np.cbrt(linear @ LMS_FROM_LINEAR.T) @ LAB_FROM_ROOTS.T)


def linear_from_oklab(lab: Floats) -> Floats:
    """Return linear light of OKLab coordinates, shape (..., 3)."""
    roots = lab @ np.linalg.inv(LAB_FROM_ROOTS).T
    return np.asarray(roots**3 @ np.linalg.inv(LMS_FROM_LINEAR).T)


def oklch_from_oklab(lab: Floats) -> Floats:
    """Return lightness, chroma and hue in degrees of OKLab coordinates, shape (..., 3)."""
    lightness, a, b = np.moveaxis(lab, -1, 0)
    return np.stack([lightness, np.hypot(a, b), np.degrees(np.arctan2(b, a))], axis=-1)


def linear_from_oklch(lch: Floats) -> Floats:
    """Return linear light of OKLCH colors, shape (..., 3), with less chroma where sRGB ends."""
    lightness, chroma, hue = np.moveaxis(np.asarray(lch, np.float64), -1, 0)
    turn = np.stack([np.cos(np.radians(hue)), np.sin(np.radians(hue))], axis=-1)

    def light(share: Floats) -> Floats:
        ab = (share * chroma)[..., None] * turn
        return linear_from_oklab(np.concatenate([lightness[..., None], ab], axis=-1))

    def fits(linear: Floats) -> NDArray[np.bool_]:
        return np.asarray(((linear > -1e-4) & (linear < 1 + 1e-4)).all(axis=-1))

    low, high = np.zeros(chroma.shape), np.ones(chroma.shape)
    if fits(light(high)).all():
        return light(high)
    low = np.where(fits(light(high)), high, low)
    for _ in range(20):
        middle = (low + high) / 2
        good = fits(light(middle))
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return light(low)


@functools.cache
def decoding() -> NDArray[np.float32]:
    """Return linear light of 4097 sRGB values, evenly spaced from 0 to 1; shared by all callers."""
    return linear_from_srgb(np.arange(ENTRIES + 1) / ENTRIES).astype(np.float32)


@functools.cache
def encoding(bits: int = 8) -> NDArray[Any]:
    """Return the sRGB value, of 8 or 16 bits, of each of LEVELS steps of linear light.

    The array is shared by all callers: do not write to it.
    """
    levels = np.arange(LEVELS[bits]) / (LEVELS[bits] - 1)
    return np.asarray(np.rint((2**bits - 1) * srgb_from_linear(levels)), f"u{bits // 8}")

"""Planes of frames for encoders: BT.709 luma and chroma of limited range."""

import functools
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Run
from fractals.backends.devices import open_one_core
from fractals.kernels import video

Frame = NDArray[np.uint16]
# BT.709's weights of red, green and blue in luma.
RED, GREEN, BLUE = Fraction(2126, 10000), Fraction(7152, 10000), Fraction(722, 10000)
HIGHEST = 65535  # of a frame's values
SIDE = 8  # of the dither
SAMPLING = {"420": (2, 2), "422": (2, 1), "444": (1, 1)}  # pixels of a chroma value


class Planes:
    """Turns frames into the bytes of planar video frames.

    `sampling`: "420", "422" or "444": how many chroma values there are. `bits`: 8, which is
    dithered, or 10.
    """

    def __init__(self, sampling: str = "420", bits: int = 8) -> None:
        self.sampling, self.bits = sampling, bits
        self.across, self.down = SAMPLING[sampling]
        self._luma, self._chroma = _programs(self.across, self.down)
        self._thresholds = _dither() if bits == 8 else np.full((1, 1), 1 << (video.SHIFT - 1))
        self._weights = weights(bits)

    @property
    def pixel_format(self) -> str:
        """Return ffmpeg's name of the planes."""
        return f"yuv{self.sampling}p" + ("10le" if self.bits == 10 else "")

    def convert(self, frame: Frame) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return Y', Cb and Cr of a frame."""
        height, width = frame.shape[:2]
        kind = np.uint8 if self.bits == 8 else np.uint16
        luma = np.empty((height, width), kind)
        blue, red = (np.empty((height // self.down, width // self.across), kind) for _ in range(2))
        self._luma(luma, frame, self._weights[0], self._thresholds)
        self._chroma(blue, frame, self._weights[1], self._thresholds)
        self._chroma(red, frame, self._weights[2], self._thresholds)
        return luma, blue, red

    def encode(self, frame: Frame) -> bytes:
        """Return the planes of a frame, one after the other."""
        return b"".join(plane.tobytes() for plane in self.convert(frame))


class Packed:
    """Turns frames into the bytes of RGB of 16 bits, for lossless encoders."""

    pixel_format = "rgb48le"
    across = down = 1
    bits = 16

    def encode(self, frame: Frame) -> bytes:
        """Return the values of a frame, pixel by pixel."""
        return frame.astype("<u2").tobytes()


def rounded(frame: Frame) -> NDArray[np.uint8]:
    """Return the values of a frame in 8 bits."""
    return ((frame.astype(np.uint32) * 255 + HIGHEST // 2) // HIGHEST).astype(np.uint8)


def weights(bits: int) -> NDArray[np.int64]:
    """Return the integers that `fractals.kernels.strip` takes, a row for each of Y', Cb, Cr."""
    unit = 2 ** (bits - 8) * 2**video.SHIFT
    luma = (RED, GREEN, BLUE)
    by_blue = [(k == 2) - part for k, part in enumerate(luma)]
    by_red = [(k == 0) - part for k, part in enumerate(luma)]
    rows = [
        (*(219 * part for part in luma), 16),
        (*(224 * part / (2 * (1 - BLUE)) for part in by_blue), 128),
        (*(224 * part / (2 * (1 - RED)) for part in by_red), 128),
    ]
    found = [
        [*(round(unit * part / HIGHEST) for part in parts), round(unit * base)]
        for *parts, base in rows
    ]
    return np.array(found, np.int64)


@functools.cache
def _dither() -> NDArray[np.int64]:
    """Return the thresholds of an ordered dither (Bayer, 1973), shape (SIDE, SIDE).

    It has the least power at low frequencies, and its pattern stands still, which costs encoders
    fewer bits than noise.
    """
    order = np.zeros((1, 1), np.int64)
    while len(order) < SIDE:
        order = np.block([[4 * order, 4 * order + 2], [4 * order + 3, 4 * order + 1]])
    found: NDArray[np.int64] = (2 * order + 1) * ((1 << video.SHIFT) // (2 * SIDE * SIDE))
    return found


@functools.cache
def _programs(across: int, down: int) -> tuple[Run, Run]:
    backend = open_one_core()
    luma = backend.compile(video.make_luma_body)
    return luma, backend.compile(video.make_chroma_body, across, down)

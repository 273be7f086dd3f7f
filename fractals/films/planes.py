"""What is computed of frames: planes for encoders, and flashes.

The planes are BT.709 luma and chroma of limited range.
"""

import functools
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Run
from fractals.backends.devices import open_one_core
from fractals.color.palette import linear_from_srgb
from fractals.kernels import strip as kernel

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
        self._thresholds = _dither() if bits == 8 else np.full((1, 1), 1 << (kernel.SHIFT - 1))
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
    unit = 2 ** (bits - 8) * 2**kernel.SHIFT
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
    found: NDArray[np.int64] = (2 * order + 1) * ((1 << kernel.SHIFT) // (2 * SIDE * SIDE))
    return found


@functools.cache
def _programs(across: int, down: int) -> tuple[Run, Run]:
    backend = open_one_core()
    luma = backend.compile(kernel.make_luma_body)
    return luma, backend.compile(kernel.make_chroma_body, across, down)


# Counts flashes, which can cause seizures (WCAG 2.2, success criterion 2.3.1).


STEP = 0.1  # change of relative luminance that counts, where the darker one is below DARK
DARK = 0.8
MOST = 3  # flashes, each a pair of opposing changes, within any second
AREA = 0.03  # of the frame: a quarter of 10 degrees of sight, of a screen of 1024x768
ACROSS, DOWN = 16, 9  # parts of the frame whose mean luminance is followed
SAMPLES = 8  # pixels of a part, across and down

Light = NDArray[np.float64]


class Flashes:
    """Follows the luminance of parts of the frames; `add` takes consecutive frames."""

    def __init__(self, fps: float) -> None:
        self.found = False  # whether a large area flashed more than MOST times within a second
        self._window = max(1, round(fps))
        self._extreme: Light | None = None
        self._rising: NDArray[np.int64] = np.zeros((DOWN, ACROSS), np.int64)
        self._changes: deque[NDArray[np.bool_]] = deque(maxlen=self._window)

    def add(self, frame: Frame) -> None:
        """Look at the next frame."""
        self.look(luminance(frame))

    def look(self, light: Light) -> None:
        """Look at the luminance of the next frame."""
        if self._extreme is None:
            self._extreme = light
            return
        up, down = light - self._extreme, self._extreme - light
        dark = np.minimum(light, self._extreme) < DARK
        risen = (up >= STEP) & dark & (self._rising <= 0)
        fallen = (down >= STEP) & dark & (self._rising >= 0)
        changed = risen | fallen
        self._rising = np.where(risen, 1, np.where(fallen, -1, self._rising))
        onward = ((self._rising > 0) & (up > 0)) | ((self._rising < 0) & (down > 0))
        self._extreme = np.where(changed | onward, light, self._extreme)
        self._changes.append(changed)
        if changed.any():
            # Parts that change at different times, as in a fast motion, do not flash together.
            often = np.sum(self._changes, axis=0) > 2 * MOST
            together = max((risen & often).mean(), (fallen & often).mean())
            self.found |= float(together) >= AREA


class Watch:
    """Follows the flashes of a film whose segments are made in any order.

    After a segment come the first frames of the next one, if that was made before.
    """

    def __init__(self, fps: float) -> None:
        self.found = False  # whether a large area flashed too often
        self._fps, self._window = fps, max(1, round(fps))
        self._heads: dict[int, list[Light]] = {}  # by the first frame of a segment
        self._ends: dict[int, Flashes] = {}  # by the frame that follows
        self._first = self._next = 0
        self._flashes: Flashes | None = None

    def begin(self, first: int) -> None:
        """Begin the segment with this frame."""
        self.end()
        if first not in self._ends:
            self._heads[first] = []
        self._flashes = self._ends.pop(first, None) or Flashes(self._fps)
        self._first = self._next = first

    def add(self, frame: Frame) -> None:
        """Look at the next frame of the segment."""
        self.look(luminance(frame))

    def look(self, light: Light) -> None:
        """Look at the luminance of the next frame of the segment."""
        assert self._flashes
        self._flashes.look(light)
        if (head := self._heads.get(self._first)) is not None and len(head) < self._window:
            head.append(light)
        self._next += 1

    def end(self) -> None:
        """End the segment."""
        flashes, self._flashes = self._flashes, None
        if not flashes:
            return
        following = self._heads.pop(self._next, None) if self._next > self._first else None
        if following is None:
            self._ends[self._next] = flashes
        else:
            for light in following:
                flashes.look(light)
            if self._first in self._heads:
                head = self._heads[self._first]
                head += following[: self._window - len(head)]
        self.found |= flashes.found


def luminance(frame: Frame) -> Light:
    """Return the relative luminance of parts of a frame, shape (DOWN, ACROSS)."""
    height, width = frame.shape[:2]
    rows = (np.arange(DOWN * SAMPLES) * 2 + 1) * height // (2 * DOWN * SAMPLES)
    columns = (np.arange(ACROSS * SAMPLES) * 2 + 1) * width // (2 * ACROSS * SAMPLES)
    light = linear_from_srgb(frame[rows[:, None], columns[None]] / 65535)
    weighted = light @ np.array([float(RED), float(GREEN), float(BLUE)])
    found: Light = weighted.reshape(DOWN, SAMPLES, ACROSS, SAMPLES).mean(axis=(1, 3))
    return found

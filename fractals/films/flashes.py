"""Counts flashes, which can cause seizures (WCAG 2.2, success criterion 2.3.1)."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from fractals.color.spaces import linear_from_srgb
from fractals.films.planes import BLUE, GREEN, RED, Frame

STEP = 0.1  # change of relative luminance that counts, where the darker one is below DARK
DARK = 0.8
MOST = 3  # flashes, each a pair of opposing changes, within any second
AREA = 0.03  # of the frame: a quarter of 10 degrees of sight, of a screen of 1024x768
ACROSS, DOWN = 16, 9  # parts of the frame whose mean luminance is followed
SAMPLES = 8  # pixels of a part, across and down


class Flashes:
    """Follows the luminance of parts of the frames; `add` takes consecutive frames.

    Attributes
    ----------
    found : bool
        Whether a large area flashed more than MOST times within a second.
    """

    def __init__(self, fps: float) -> None:
        self.found = False
        self._window = max(1, round(fps))
        self._extreme: NDArray[np.float64] | None = None
        self._rising: NDArray[np.int64] = np.zeros((DOWN, ACROSS), np.int64)
        self._changes: deque[NDArray[np.bool_]] = deque(maxlen=self._window)

    def add(self, frame: Frame) -> None:
        """Look at the next frame."""
        light = luminance(frame)
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

    def cut(self) -> None:
        """Forget the last frames: the next one does not follow them."""
        self._extreme = None
        self._rising[:] = 0
        self._changes.clear()


def luminance(frame: Frame) -> NDArray[np.float64]:
    """Return the relative luminance of parts of a frame, shape (DOWN, ACROSS)."""
    height, width = frame.shape[:2]
    rows = (np.arange(DOWN * SAMPLES) * 2 + 1) * height // (2 * DOWN * SAMPLES)
    columns = (np.arange(ACROSS * SAMPLES) * 2 + 1) * width // (2 * ACROSS * SAMPLES)
    light = linear_from_srgb(frame[rows[:, None], columns[None]] / 65535)
    weighted = light @ np.array([float(RED), float(GREEN), float(BLUE)])
    found: NDArray[np.float64] = weighted.reshape(DOWN, SAMPLES, ACROSS, SAMPLES).mean(axis=(1, 3))
    return found

"""Counts the flashes of a film, which can cause seizures (WCAG 2.2, success criterion 2.3.1)."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import linear_from_srgb
from fractals.films.planes import BLUE, GREEN, RED, Frame

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

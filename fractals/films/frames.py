"""Frames drawn one by one, each as the picture of its scene, and planes of them for encoders."""

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Run
from fractals.backends.devices import choose, open_backend, open_one_core
from fractals.color.palette import linear_from_srgb
from fractals.films.motion import FilmPart, Motion, with_view
from fractals.films.tracks import Tracks, scene_of
from fractals.io.escape_data import EscapeData
from fractals.io.image import Image
from fractals.io.png import Pixels
from fractals.kernels import strip as kernel
from fractals.rendering.develop import Developer
from fractals.rendering.drawing import (
    Drawing,
    compute_data,
    draw_all,
    open_drawing,
    open_plan,
    open_recoloring,
)
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.scene.model import Scene

# --- Planes for encoders are BT.709 luma and chroma of limited range
#
# Flashes between frames are found in the luma.

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


# --- Frames

# What all frames of a film share: the limit of iterations, and the count offset.


MOST_KEYS = 16  # of a film, whose views are probed for the limit
DEEPER = 257  # times a value of 8 bits is one of 16 bits


@dataclass(frozen=True)
class FilmConstants:
    """Values "auto" of a film. Values of single frames would make colors jump."""

    # The highest of the deepest view, the widest, and keys that are not deep: a lower limit
    # would draw their details black. 0: each picture finds its own.
    max_iterations: int
    count_offset: float  # of the widest view; a higher one makes counts negative
    shared: Any = None  # by pictures of a family without single pixels

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"max_iterations": self.max_iterations, "count_offset": self.count_offset}


NOTHING_SHARED = FilmConstants(0, 0.0)  # of a family without single pixels, before it looks


def find_facts(motion: Motion, tracks: Tracks, options: RenderOptions) -> FilmConstants:
    """Return the facts of a film, from probes of its widest and its deepest view, and of keys."""
    places = [
        (place, seconds)
        for part in motion.parts
        for place, seconds in ((part.start, part.begins), (part.end, part.ends))
    ]
    ordered = sorted(places, key=lambda each: each[0].width)
    scenes = [scene_of(tracks, with_view(motion.scene, place), at) for place, at in ordered]
    deepest, widest = _opened(scenes[0], options), _opened(scenes[-1], options)
    # Of views that are not deep, the limit depends more on the place than on the width.
    some = scenes[1 : -1 : max(1, len(scenes) // MOST_KEYS)]
    between = (scene for scene in some if make_plan(scene).depth < 1)
    limits = [_opened(scene, options)[0] for scene in between]
    return FilmConstants(max(deepest[0], widest[0], *limits), min(deepest[1], widest[1]))


def _opened(scene: Scene, options: RenderOptions) -> tuple[int, float]:
    forced = options.replace(force=True)
    plan, backend = open_plan(scene, forced, "nothing")
    if not (plan.deep or plan.probed or plan.depth > 0):
        return plan.max_iterations, 0.0
    source = open_drawing(plan, backend, forced).source
    return source.max_iterations, source.count_offset


class SingleFrames:
    """The frames of a part, each iterated by itself.

    `samples`: samples of all frames of the part. `memory`: most bytes that a frame takes.
    """

    def __init__(
        self,
        motion: Motion,
        tracks: Tracks,
        part: FilmPart,
        facts: FilmConstants,
        options: RenderOptions,
    ) -> None:
        self.motion, self.tracks, self.part = motion, tracks, part
        self.facts, self.options = facts, options.replace(force=True, progress=None)

    def scene(self, seconds: float) -> Scene:
        """Return the scene of a time, with the film's limit of iterations."""
        view = with_view(self.motion.scene, self.part.moment_at(seconds))
        return prepared(scene_of(self.tracks, view, seconds), self.facts)

    def frame(self, seconds: float) -> Frame:
        """Return the frame of a time."""
        return drawn(self.scene(seconds), self.facts, self.options)

    def image(self, seconds: float) -> Image:
        """Return the picture of a time, with the bits of the film's scene."""
        bits = self.motion.scene.image.bits
        pixels = self.frame(seconds)
        scene = self.scene(seconds).replace(bits=bits)
        return Image(pixels if bits == 16 else rounded(pixels), scene)

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers."""
        for number in numbers:
            yield self.frame(self.motion.seconds(number))


def prepared(scene: Scene, facts: FilmConstants) -> Scene:
    """Return the scene of a frame: of 16 bits, with the film's limit of iterations."""
    limit = scene.iteration.max_iterations
    iteration = scene.iteration.model_copy(
        update={"max_iterations": facts.max_iterations or "auto" if limit == "auto" else limit}
    )
    image = scene.image.model_copy(update={"bits": 16})
    return scene.model_copy(update={"iteration": iteration, "image": image})


def drawn(scene: Scene, facts: FilmConstants, options: RenderOptions) -> Pixels:
    """Return the pixels of a scene, with the film's count offset."""
    quiet = options.replace(on_message=lambda line: None)  # the film has told it all
    plan, backend = open_plan(scene, quiet)
    raw = compute_data(plan, backend, options) if plan.layers.whole else None
    drawing = open_drawing(plan, backend, options, stored=raw)
    drawing.source.count_offset = facts.count_offset
    return draw_all(drawing)


MOMENTS = 32  # of a frame whose scene changes while the shutter is open


class Pictures(SingleFrames):
    """The frames of a part, each a picture that its family draws."""

    def frame(self, seconds: float) -> Frame:
        """Return the frame of a time."""
        return self._drawn(self.moments(seconds))

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers; equal ones are drawn once."""
        yield from drawn_once(map(self.moments, map(self.motion.seconds, numbers)), self._drawn)

    def moments(self, seconds: float) -> tuple[Scene, ...]:
        """Return the scene of a time, and where it changes, those while the shutter is open.

        The shutter opens before the frame's time and closes as long after it, so a film and its
        reverse have the same frames.
        """
        own, film = self.scene(seconds), self.motion.scene.film
        open_for = film.shutter / self.motion.rate if film else 0.0
        if not open_for:
            return (own,)
        times = [seconds + open_for * ((k + 0.5) / MOMENTS - 0.5) for k in range(MOMENTS)]
        if own == self._scene_at(times[0]) == self._scene_at(times[-1]):
            return (own,)
        return own, *map(self._scene_at, times)

    def _scene_at(self, seconds: float) -> Scene:
        """Return the scene of a time, of any part; a loop goes on where it begins."""
        film, length = self.motion.scene.film, self.motion.count / self.motion.rate
        seconds = seconds % length if film and film.loop else max(0.0, seconds)
        return prepared(scene_of(self.tracks, self.motion.view_at(seconds), seconds), self.facts)

    def _drawn(self, scenes: tuple[Scene, ...]) -> Frame:
        quiet = self.options.replace(on_message=lambda line: None)
        pixels = family_of(scenes[0]).expose(scenes, quiet, self.facts.shared).pixels
        if pixels.dtype == np.uint8:  # of a family that draws no others
            return pixels.astype(np.uint16) * DEEPER
        found: Frame = pixels
        return found


T = TypeVar("T")


def drawn_once(scenes: Iterable[T], draw: Callable[[T], Frame]) -> Iterator[Frame]:
    """Yield the frames of scenes; equal ones that follow each other are drawn once."""
    last: tuple[T, Frame] | None = None
    for scene in scenes:
        if last is None or last[0] != scene:
            last = scene, draw(scene)
        yield last[1]


class DevelopedFrames:
    """Frames of a strip, each developed as its own scene says."""

    def __init__(
        self,
        made: Callable[[Sequence[int]], Iterator[Frame]],
        scene_at: Callable[[int], Scene],
        threads: int,
    ) -> None:
        """Take `made`, which yields frames as `frames` does, and the scenes of frames."""
        self._made, self._scene_at = made, scene_at
        self._backend = open_backend(choose("cpu").device, "float32", threads)

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers."""
        for number, frame in zip(numbers, self._made(numbers), strict=True):
            scene = prepared(self._scene_at(number), NOTHING_SHARED)
            if not scene.is_developed:
                yield frame
                continue
            values = frame.astype(np.float32) / np.float32(2**16 - 1)
            yield Developer(self._backend, scene).of_values(values)


# Frames of a part in which only colors change: iterated once, and colored for each frame.


class Recolored(SingleFrames):
    """The frames of a part whose raw numbers are the same in all frames."""

    @cached_property
    def _raw(self) -> EscapeData:
        scene = self.scene(self.part.first)
        plan, backend = open_plan(scene, self.options, "raw")
        raw = compute_data(plan, backend, self.options)
        raw.count_offset = self.facts.count_offset
        return raw

    def frame(self, seconds: float) -> Frame:
        """Return the frame of a time."""
        return draw_all(self._drawing(self.scene(seconds)))

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers; equal ones are drawn once."""
        scenes = map(self.scene, map(self.motion.seconds, numbers))
        yield from drawn_once(scenes, lambda scene: draw_all(self._drawing(scene)))

    def _drawing(self, scene: Scene) -> Drawing:
        return open_recoloring(scene, self._raw, self.options)

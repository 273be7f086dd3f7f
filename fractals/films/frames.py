"""Frames drawn one by one, each as the picture of its scene."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from fractals.backends.devices import choose, open_backend
from fractals.errors import DeviceFailedError
from fractals.films.motion import FilmPart, Motion, with_view
from fractals.films.planes import Frame, rounded
from fractals.films.tracks import Tracks, scene_of
from fractals.io.image import Image
from fractals.io.png import Pixels
from fractals.rendering.develop import Developer
from fractals.rendering.drawing import (
    Drawing,
    draw_all,
    open_drawing,
    open_plan,
)
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.raw_numbers import EscapeData, compute_data, open_colored
from fractals.rendering.recoloring import open_recoloring
from fractals.rendering.render import or_on_the_cpu, without_gpu
from fractals.scene.model import Scene

T = TypeVar("T")


class FrameSource(Protocol):
    """Yields the frames of a part."""

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers."""


# What draws: if "auto" has chosen a GPU that fails, the CPU draws the rest of the film.


class FilmDevice:
    """The options with which a film is drawn; those of the CPU once its GPU has failed."""

    def __init__(self, options: RenderOptions) -> None:
        self.options = options

    def draw(self, draw: Callable[[RenderOptions], T]) -> T:
        """Return ``draw(options)``, as `or_on_the_cpu` does."""

        def noted(options: RenderOptions) -> T:
            self.options = options
            return draw(options)

        return or_on_the_cpu(noted, self.options)

    def lose_gpu(self, error: DeviceFailedError) -> None:
        """Go on with the CPU, as `without_gpu` says."""
        self.options = without_gpu(self.options, error)


class FramesOnAnyDevice:
    """The frames of a part, from the device of its film."""

    def __init__(self, device: FilmDevice, make: Callable[[RenderOptions], FrameSource]) -> None:
        self._device, self._make = device, make
        self._made: tuple[RenderOptions, FrameSource] | None = None

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers."""
        done = 0
        try:
            for frame in self._source().frames(numbers):
                yield frame
                done += 1
        except DeviceFailedError as error:
            self._made = None  # and its memory
            self._device.lose_gpu(error)
        if done < len(numbers):
            yield from self._source().frames(numbers[done:])

    def _source(self) -> FrameSource:
        options = self._device.options
        if self._made is None or self._made[0] is not options:
            self._made = None
            self._made = options, self._make(options)
        return self._made[1]


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
    drawing = open_colored(plan, backend, options)
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

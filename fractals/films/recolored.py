"""Frames of a part in which only colors change: iterated once, and colored for each frame."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from fractals.films.frames import Frames
from fractals.films.planes import Frame
from fractals.io.escape_data import EscapeData
from fractals.rendering.drawing import Drawing, compute_data, draw_all, open_drawing, open_plan
from fractals.scene.model import Scene


class Recolored(Frames):
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
        last: tuple[Scene, Any] | None = None
        for number in numbers:
            scene = self.scene(self.motion.seconds(number))
            if last is None or last[0] != scene:
                last = scene, draw_all(self._drawing(scene))
            yield last[1]

    def _drawing(self, scene: Scene) -> Drawing:
        plan, backend = open_plan(scene, self.options, iterates=False)
        return open_drawing(plan, backend, self.options, stored=self._raw)

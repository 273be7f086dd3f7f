"""Frames drawn one by one, each as the picture of its own scene."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fractals.films.facts import Facts
from fractals.films.motion import Motion, Part, with_view
from fractals.films.planes import Frame, rounded
from fractals.films.tracks import Tracks, scene_of
from fractals.io.image import Image
from fractals.io.png import Pixels
from fractals.rendering.drawing import compute_data, draw_all, open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene


class Frames:
    """The frames of a part, each iterated by itself.

    Attributes
    ----------
    samples : int
        Samples of all frames of the part.
    memory : int
        Most bytes that a frame takes.
    """

    def __init__(
        self, motion: Motion, tracks: Tracks, part: Part, facts: Facts, options: RenderOptions
    ) -> None:
        self.motion, self.tracks, self.part = motion, tracks, part
        self.facts, self.options = facts, replace(options, force=True, progress=None)

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


def prepared(scene: Scene, facts: Facts) -> Scene:
    """Return the scene of a frame: of 16 bits, with the film's limit of iterations."""
    limit = scene.iteration.max_iterations
    iteration = scene.iteration.model_copy(
        update={"max_iterations": facts.max_iterations if limit == "auto" else limit}
    )
    image = scene.image.model_copy(update={"bits": 16})
    return scene.model_copy(update={"iteration": iteration, "image": image})


def drawn(scene: Scene, facts: Facts, options: RenderOptions) -> Pixels:
    """Return the pixels of a scene, with the film's count offset."""
    quiet = replace(options, on_message=lambda line: None)  # the film has told it all
    plan, backend = open_plan(scene, quiet)
    raw = compute_data(plan, backend, options) if plan.layers.whole else None
    drawing = open_drawing(plan, backend, options, stored=raw)
    drawing.source.count_offset = facts.count_offset
    return draw_all(drawing)

"""Timeline: the parts of a scene's film, their methods, and what all frames share."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fractals.errors import OptionError
from fractals.films.facts import Facts, find_facts
from fractals.films.measured import is_soon_measured, with_measured_seconds
from fractals.films.motion import Motion, make_motion
from fractals.films.plan import Chosen, Method, choose_methods, open_method, warnings_of
from fractals.films.split import split_parts
from fractals.films.tracks import Tracks, scene_of
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene

MEASURED = 50  # parts, of which each takes up to some seconds


@dataclass(frozen=True, eq=False, repr=False)
class Timeline:
    """The views, values and parts of a scene's film.

    Attributes
    ----------
    scene : Scene
        With its table film.
    options : RenderOptions
        Where and how it is drawn.
    found : Facts, optional
        What another process has found for this film.
    """

    scene: Scene
    options: RenderOptions
    found: Facts | None = None

    def __post_init__(self) -> None:
        if self.scene.view.projection != "plane":
            raise OptionError("an exponential map is no view of a film: give projection='plane'")
        self.tracks.check(self.motion.count / self.motion.rate)

    @cached_property
    def tracks(self) -> Tracks:
        """Return the values that change over time."""
        return Tracks(self.scene)

    @cached_property
    def motion(self) -> Motion:
        """Return the views of all frames."""
        return make_motion(self.scene, self.tracks.length)

    @cached_property
    def facts(self) -> Facts:
        """Return the limit of iterations and the count offset of all frames."""
        return self.found or find_facts(self.motion, self.tracks, self.options)

    @cached_property
    def parts(self) -> tuple[Chosen, ...]:
        """Return the method of each part."""
        found = split_parts(self.motion, self.tracks)
        return tuple(choose_methods(self.motion, self.tracks, found, self.options))

    def measured(self) -> tuple[Chosen, ...]:
        """Return the parts with seconds that are measured on samples, if there are few parts."""
        if len(self.parts) > MEASURED:
            return self.parts
        motion, tracks, options = self.motion, self.tracks, self.options
        return tuple(
            with_measured_seconds(chosen, motion, tracks, self.facts, options)
            if is_soon_measured(chosen, motion, tracks, options)
            else chosen
            for chosen in self.parts
        )

    def open(self, chosen: Chosen, folder: Path | None = None) -> Method:
        """Return what yields the frames of a part; see `fractals.films.plan.open_method`."""
        return open_method(chosen, self.motion, self.tracks, self.facts, self.options, folder)

    def scene_at(self, number: int) -> Scene:
        """Return the scene of a frame, without a film."""
        seconds = self.motion.seconds(number)
        return scene_of(self.tracks, self.motion.view_at(seconds), seconds)

    def warnings(self) -> list[str]:
        """Return what may look bad, a line each."""
        return warnings_of(self.scene, self.parts)

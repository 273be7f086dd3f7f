"""What all frames of a film share: the limit of iterations, and the count offset."""

from dataclasses import dataclass, replace
from typing import Any

from fractals.films.motion import Motion, Place, with_view
from fractals.films.tracks import Tracks, scene_of
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.scene.model import Scene


@dataclass(frozen=True)
class Facts:
    """Values "auto" of a film. Values of single frames would make colors jump.

    Attributes
    ----------
    max_iterations : int
        That of the deepest view: with less, its details were black.
    count_offset : float
        That of the widest view: with more, counts of wide views were below 0.
    """

    max_iterations: int
    count_offset: float

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"max_iterations": self.max_iterations, "count_offset": self.count_offset}


def find_facts(motion: Motion, tracks: Tracks, options: RenderOptions) -> Facts:
    """Return the facts of a film, from probes of its widest and its deepest view."""
    places = [
        (place, seconds)
        for part in motion.parts
        for place, seconds in ((part.start, part.begins), (part.end, part.ends))
    ]
    ordered = sorted(places, key=lambda each: each[0].width)
    deepest, widest = (
        _opened(motion.scene, tracks, each, options) for each in (ordered[0], ordered[-1])
    )
    return Facts(max(deepest[0], widest[0]), min(deepest[1], widest[1]))


def _opened(
    scene: Scene, tracks: Tracks, at: tuple[Place, float], options: RenderOptions
) -> tuple[int, float]:
    seen = scene_of(tracks, with_view(scene, at[0]), at[1])
    plan, backend = open_plan(seen, replace(options, force=True), "bands")
    if not _probed(plan):
        return plan.max_iterations, 0.0
    source = open_drawing(plan, backend, options, shading=False).source
    return source.max_iterations, source.count_offset


def _probed(plan: Plan) -> bool:
    return plan.deep or plan.probed or plan.depth > 0

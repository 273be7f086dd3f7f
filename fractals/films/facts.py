"""What all frames of a film share: the limit of iterations, and the count offset."""

from dataclasses import dataclass, replace
from typing import Any

from fractals.films.motion import Motion, with_view
from fractals.films.tracks import Tracks, scene_of
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.scene.model import Scene

MOST_KEYS = 16  # of a film, whose views are probed for the limit


@dataclass(frozen=True)
class Facts:
    """Values "auto" of a film. Values of single frames would make colors jump.

    Attributes
    ----------
    max_iterations : int
        The highest of the deepest view, the widest, and keys that are not deep: with less, details
        were black.
    count_offset : float
        That of the widest view: with more, counts of wide views were below 0.
    """

    max_iterations: int
    count_offset: float

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"max_iterations": self.max_iterations, "count_offset": self.count_offset}


def find_facts(motion: Motion, tracks: Tracks, options: RenderOptions) -> Facts:
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
    between = filter(_is_shallow, scenes[1 : -1 : max(1, len(scenes) // MOST_KEYS)])
    limits = [_opened(scene, options)[0] for scene in between]
    return Facts(max(deepest[0], widest[0], *limits), min(deepest[1], widest[1]))


def _opened(scene: Scene, options: RenderOptions) -> tuple[int, float]:
    forced = replace(options, force=True)
    plan, backend = open_plan(scene, forced, "bands")
    if not (plan.deep or plan.probed or plan.depth > 0):
        return plan.max_iterations, 0.0
    source = open_drawing(plan, backend, forced, shading=False).source
    return source.max_iterations, source.count_offset


def _is_shallow(scene: Scene) -> bool:
    return make_plan(scene).depth < 1

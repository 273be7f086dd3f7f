"""What a client wants to see, and the view that is drawn for it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fractals.explorer.values import ViewValues
from fractals.io.escape_data import EscapeData
from fractals.rendering.drawing import Drawing
from fractals.rendering.plan import Plan
from fractals.scene.model import Scene
from fractals.scene.paint import Paint


@dataclass
class Request:
    """What a client wants to see.

    Attributes
    ----------
    scene : Scene
        Of the size of the canvas.
    frame, paint : int
        As of PROTOCOL.md.
    focus : tuple of float
        Pixel at which tiles begin.
    moving : bool
        Whether only the coarse picture is drawn at first.
    values, remote : bool
        Whether values are sent for a shader; whether messages are compressed.
    keeps_raw : bool
        Whether raw numbers stay in memory for a recoloring.
    put : callable
        ``put(message, frame, paint)`` sends.
    """

    scene: Scene
    frame: int
    paint: int
    focus: tuple[float, float]
    moving: bool
    values: bool
    remote: bool
    put: Callable[[str | bytes, int, int], None]
    keeps_raw: bool = True

    def say(self, kind: str, **keys: Any) -> None:
        """Send a text message."""
        self.put(json.dumps({"t": kind, **keys}), 0, 0)


@dataclass
class Picture:
    """A view that is drawn: what a later recoloring or a question about it needs.

    Attributes
    ----------
    drawing : Drawing
        With the scene's own supersampling.
    single : Drawing
        With one sample a pixel; iterated, or read from `raw`.
    raw : EscapeData, optional
        Of all samples of `single`, once they are computed.
    rate : float
        Samples a second of one thread, in the coarse picture.
    seconds : float
        Work so far.
    raw_is_exact : bool
        Whether `raw` has the very numbers that the scene's own colorings are computed from.
    complete : bool
        Whether the client has all values.
    """

    request: Request
    drawing: Drawing
    single: Drawing
    values: ViewValues
    raw: EscapeData | None = None
    rate: float = 0.0
    seconds: float = 0.0
    raw_is_exact: bool = True
    complete: bool = False


def needs_of(plan: Plan) -> tuple[bool, tuple[str, ...]]:
    """Return what the colorings of a plan need besides count and z."""
    return plan.layers.derivative, tuple(plan.layers.statistics.names)


def same_view(old: Scene, scene: Scene) -> bool:
    """Tell whether two scenes differ in nothing but their colors."""
    return old.model_copy(update={"color": scene.color}) == scene


def same_values(old: Scene, scene: Scene) -> bool:
    """Tell whether the layers of two scenes have equal values, however these are colored."""

    def facts(paint: Paint) -> tuple[Any, ...]:
        return paint.coloring, paint.transfer, paint.mask, paint.range

    first, second = ([each.color, *each.color.layers] for each in (old, scene))
    return [facts(paint) for paint in first] == [facts(paint) for paint in second]


def at_one_sample(scene: Scene) -> Scene:
    """Return a scene with one sample a pixel, on the grid."""
    update = {"supersampling": 1, "antialias": "grid"}
    return scene.model_copy(update={"image": scene.image.model_copy(update=update)})

"""Compiles the programs of a scene, in a process of `fractals.explorer.work`."""

from typing import Any

from fractals.explorer.picture import Request
from fractals.explorer.previews import draw_preview
from fractals.explorer.questions import value_at
from fractals.explorer.scheduler import IDLE, Engine, Work
from fractals.explorer.view_drawings import ViewDrawings
from fractals.explorer.view_messages import ViewMessages
from fractals.scene.model import Scene


def compile_programs(scene: Scene, what: str, device: str) -> dict[str, Any]:
    """Compile programs of a scene, which leaves their code in the cache of compiled code.

    Parameters
    ----------
    what : str
        "values" or "pixels": of a view, as a client shows it; "picture": of a small picture;
        otherwise a coloring, whose value at the center is computed.
    """
    engine, work = Engine(device, 1), Work(("",), lambda _: iter(()), IDLE)
    if what in ("values", "pixels"):
        values = what == "values"
        request = Request(scene, 1, 0, (0.0, 0.0), False, values, False, lambda *_: None)
        ViewDrawings(engine, work, ViewMessages(request)).compile()
    elif what == "picture":
        next(draw_preview(engine, work, scene), None)  # the first step draws a tile
    else:
        value_at(engine, scene, what)
    return {}

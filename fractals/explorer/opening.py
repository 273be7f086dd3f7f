"""The scenes that a client opens: its own, of the gallery, of a formula, Julia sets of a point."""

from collections.abc import Mapping
from typing import Any

from fractals import catalog
from fractals.errors import OptionError
from fractals.explorer import outside
from fractals.explorer.protocol import Open
from fractals.explorer.session import Session
from fractals.explorer.views import text_of
from fractals.scene.model import Scene, validate


def requested_scene(session: Session, message: Open) -> Scene:
    """Return the scene that a message asks for."""
    given = [
        key
        for key in ("scene", "toml", "link", "gallery", "julia", "formula")
        if getattr(message, key) is not None
    ]
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)}: give one")
    if message.scene is not None:
        return outside.scene_of(message.scene)
    if message.toml is not None:
        return outside.of_toml(message.toml)
    if message.link is not None:
        return outside.of_link(message.link)
    if message.gallery is not None:
        return outside.scene_of(catalog.read("gallery", message.gallery))
    if message.julia is not None:
        return julia_scene(session, message.julia.frame, message.julia.at)
    if message.formula is not None:
        scene = outside.scene_of({"formula": message.formula})
        return scene.model_copy(update={"color": session.color})
    return session.terms.scene


def julia_scene(session: Session, frame: int, at: tuple[int, int]) -> Scene:
    """Return the Julia set of a point of a frame."""
    place = session.frames.place(frame)
    if place.origin.julia is not None:
        raise OptionError("this is a Julia set already: its points have none of their own")
    table = place.origin.to_values()
    table["view"] = {}
    table["julia"] = list(text_of(place, at))
    table |= {"title": "", "note": ""}
    scene = validate(table, "")
    return scene.model_copy(update={"color": session.color})


def repainted(session: Session, color: dict[str, Any]) -> Scene:
    """Return the newest frame's scene in other colors."""
    scene = session.frames.place(session.frames.newest).scene()
    painted = {**_drawable(scene.to_values()), "color": color}
    found = outside.scene_of(painted)
    return scene.model_copy(update={"color": found.color})


def _drawable(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that decide which colors a scene may have."""
    return {key: table[key] for key in ("formula", "julia") if key in table}

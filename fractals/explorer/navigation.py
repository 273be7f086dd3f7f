"""Messages that change what a client sees: another scene, a move, other colors, more time."""

from collections.abc import Mapping
from typing import Any

from fractals import catalog
from fractals.errors import OptionError
from fractals.explorer import outside, protocol
from fractals.explorer.frames import (
    SIXTEENTHS,
    FrameView,
    Move,
    in_colors,
    map_between,
    octaves,
    text_of,
    zoom_text,
)
from fractals.explorer.protocol import Open
from fractals.explorer.session import Session
from fractals.io.metadata import subject
from fractals.rendering.families import family_of, moves_of, unused
from fractals.rendering.options import RenderOptions
from fractals.scene.credits import SAID
from fractals.scene.model import Scene, validate
from fractals.scene.picture import View

# The scenes that a client opens: its own, of the gallery, of a formula, Julia sets of a point.


def requested_scene(session: Session, message: Open, size: tuple[int, int]) -> Scene:
    """Return the scene that a message asks for; `size`: of the canvas."""
    given = [
        key
        for key in ("scene", "toml", "link", "gallery", "julia", "formula", "person")
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
    if message.person is not None:
        return session.person(session, message.person, size)
    if message.formula is not None:
        scene = outside.scene_of({"formula": message.formula})
        return scene.model_copy(update={"color": session.color})
    return session.first


def julia_scene(session: Session, frame: int, at: tuple[int, int]) -> Scene:
    """Return the Julia set of a point of a frame."""
    place = session.frames.place(frame)
    if place.origin.julia is not None:
        line = "this is a Julia set already: its points have none of their own"
        raise OptionError(line, code="is_a_julia_set")
    # One key is validated, because this is done for each preview, and a whole table takes 0.4 ms.
    update = {
        "julia": validate({"julia": text_of(place, at)}).julia,
        "view": View(),
        "color": session.color,
        "title": "",
        "note": "",
    }
    return place.origin.model_copy(update=update)


def repainted(session: Session, color: dict[str, Any]) -> Scene:
    """Return the newest frame's scene in other colors."""
    scene = session.frames.place(session.frames.newest).scene()
    painted = {**_drawable(scene.to_values()), "color": color}
    return in_colors(scene, outside.scene_of(painted).color)


def _drawable(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that decide which colors a scene may have."""
    return {key: table[key] for key in ("formula", "julia") if key in table}


def open_scene(session: Session, message: protocol.Open) -> None:
    """Show another scene."""
    session.frames.check_new(message.frame)
    size = message.size or session.size
    scene = requested_scene(session, message, size)
    # A canvas has 8 bits a channel.
    scene = scene.model_copy(update={"image": scene.image.model_copy(update={"bits": 8})})
    place = FrameView.of(scene, size)
    base = session.frames.place(message.base) if message.base else None
    session.color, session.paint = scene.color, 0
    # The page of a guest who follows shows the leader's picture
    drawn = message.person != 0
    _show(session, message, place, base, (size[0] / 2, size[1] / 2), drawn=drawn)


def view(session: Session, message: protocol.ViewMessage) -> None:
    """Show a move of a frame."""
    session.frames.check_new(message.frame)
    base = session.frames.place(message.base)
    about = None
    if message.about is not None:
        if message.about not in session.found:
            raise OptionError(f"the search {message.about} has found nothing")
        about = session.found[message.about]
    move = Move(message.at, message.by, message.scale, message.turn, about, message.fly)
    place = base.moved(move, message.size)
    x, y = message.focus or (place.size[0] * 8, place.size[1] * 8)
    focus = x / SIXTEENTHS, y / SIXTEENTHS
    _show(session, message, place, base, focus, moving=message.stage == "moving")


def _show(
    session: Session,
    message: protocol.Open | protocol.ViewMessage,
    place: FrameView,
    base: FrameView | None,
    focus: tuple[float, float],
    moving: bool = False,
    drawn: bool = True,
) -> None:
    """Answer where the new frame lies, and draw it."""
    scene = in_colors(place.scene(), session.color)
    session.frames.add(message.frame, place)
    session.focus = focus
    home = octaves(place)
    answer: dict[str, Any] = {
        "frame": message.frame,
        "base": message.base,
        "size": list(place.size),
        "center": list(scene.view.center or ("0", "0")),
        "width": place.width_text,
        "zoom": zoom_text(home),
        "octaves": home,
        "rotation": place.rotation,
        "formula": subject(scene),
        "values": (values := family_of(scene).single_pixels),
        "plane": None if values else place.plane(),
        "julia": list(scene.julia) if scene.julia else None,
        "map": map_between(base, place) if base else None,
        "camera": None,
        "space": None,
        "sun": None,
        **moves_of(scene).controls(scene),
        **{key: getattr(scene, key) for key in SAID},
    }
    if message.t == "open":
        answer["scene"] = scene.to_table()
        # Of a text from elsewhere: the page's own scenes keep keys until they are used again.
        answer["unused"] = unused(scene) if message.toml or message.link else ""
    session.say("placed", **answer)
    if drawn:
        session.draw(scene, moving, message.t)
    else:
        session.rest()


def paint(session: Session, message: protocol.PaintMessage) -> None:
    """Show the newest frame in other colors."""
    scene = repainted(session, message.color)
    family_of(scene).plan(scene, RenderOptions(device=session.engine.kind), "pixels")
    table = scene.to_table()["color"]

    def tell(values: bool) -> None:
        session.color, session.paint = scene.color, message.seq
        said = {key: getattr(scene, key) for key in SAID}
        frame = session.frames.newest
        session.say("painted", seq=message.seq, frame=frame, values=values, color=table, **said)

    if session.view and session.view.repaint(scene, message.seq, lambda: tell(False)):
        return
    before = session.shown
    kept = bool(before and before.serves(scene))
    tell(not kept)
    session.draw(scene, False, "paint", kept)


def go_on(session: Session, message: protocol.GoOn) -> None:
    """Continue a view that was paused."""
    if session.view and message.frame == session.frames.newest:
        session.view.go_on()
        session.engine.wake()

"""A client: its frames and colors, what it may do, and the work that it has asked for."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

from fractals import catalog
from fractals.errors import FractalsError, OptionError
from fractals.explorer import outside, protocol
from fractals.explorer.outbox import Outbox
from fractals.explorer.passes import ViewWork
from fractals.explorer.picture import Picture, Request, same_values
from fractals.explorer.protocol import VERSION, Hello, Open, Paint, View
from fractals.explorer.scheduler import SMALL, VIEW, Engine, Work
from fractals.explorer.views import (
    SIXTEENTHS,
    Move,
    Place,
    decimal_text,
    decimals,
    map_between,
    octaves,
)
from fractals.rendering.plan import make_plan
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene, validate

MAX_FRAMES = 256  # of a client
RATE, BURST = 40.0, 120.0  # messages a second, and at once
BYTES_A_SAMPLE = 28  # of raw numbers that are kept, about


@dataclass(frozen=True)
class Terms:
    """What a server lets its clients do.

    Attributes
    ----------
    scene : Scene
        That is shown first.
    read_only : bool
        No uploads, exports and bookmarks.
    local : bool
        Whether the server can be reached from this machine only: bookmarks are files then.
    memory : int
        Bytes of raw numbers that are kept for all clients together.
    clients : int
        Most pages that are connected at once.
    gallery : bool
        Whether the page starts with the gallery, because no scene was asked for.
    """

    scene: Scene
    read_only: bool = False
    local: bool = True
    memory: int = 2**30
    clients: int = 16
    gallery: bool = False


class TooManyMessages(Exception):
    """A client sends more messages than it may."""


class Session:
    """A client's state. Messages are handled one at a time, in any thread."""

    def __init__(
        self,
        engine: Engine,
        terms: Terms,
        outbox: Outbox,
        handlers: Mapping[str, Callable[["Session", Any], None]],
    ) -> None:
        """`handlers`: of messages that are not about frames and colors, by name."""
        self.engine, self.terms, self.outbox, self.handlers = engine, terms, outbox, handlers
        self.jobs: dict[int, Any] = {}  # searches and exports that run
        self.hello: Hello | None = None
        self.frames: OrderedDict[int, Place] = OrderedDict()
        self.newest, self.paint = 0, 0
        self.color = terms.scene.color
        self.focus: tuple[float, float] = (0.0, 0.0)
        self.view: ViewWork | None = None
        self.found: dict[int, tuple[Fraction, Fraction]] = {}  # centers that searches found
        self._tokens, self._last = BURST, monotonic()

    # ------------------------------------------------------------------ messages

    def say(self, kind: str, **keys: Any) -> None:
        """Send a text message."""
        self.outbox.put(json.dumps({"t": kind, **keys}, ensure_ascii=False))

    def receive(self, text: str) -> None:
        """Handle a message; every error is answered with one line."""
        self._count()
        try:
            message = protocol.parse(text)
            if (self.hello is None) != isinstance(message, Hello):
                raise OptionError("the first message is hello, and no other")
            if own := getattr(self, f"on_{message.t}", None):
                own(message)
            else:
                self.handlers[message.t](self, message)
        except FractalsError as error:
            line = str(error).splitlines()[0] if str(error) else "failed"
            self.say("error", **{**protocol.names_of(text), "message": line})

    def _count(self) -> None:
        now = monotonic()
        self._tokens = min(BURST, self._tokens + RATE * (now - self._last)) - 1
        self._last = now
        if self._tokens < 0:
            raise TooManyMessages

    def on_hello(self, message: Hello) -> None:
        """Answer what the server is and allows."""
        from fractals import __version__

        if message.v != VERSION:
            raise OptionError(f"protocol {message.v}: the server has {VERSION}: reload the page")
        self.hello = message
        may = not self.terms.read_only
        self.say(
            "welcome",
            v=VERSION,
            version=__version__,
            device=self.engine.choice.device.name,
            title=self.terms.scene.title,
            gallery=self.terms.gallery,
            read_only=self.terms.read_only,
            bookmarks=may and self.terms.local,
            upload=may,
            export=may,
            limits={
                "size": [protocol.MAX_SIDE, protocol.MAX_SIDE],
                "digits": outside.MAX_DIGITS,
                "stops": outside.MAX_STOPS,
            },
        )

    # ------------------------------------------------------------------ frames

    def place(self, frame: int) -> Place:
        """Return the place of a frame, or raise an `OptionError`."""
        if frame not in self.frames:
            raise OptionError(f"the frame {frame} is not kept: open its scene")
        return self.frames[frame]

    def scene(self, frame: int) -> Scene:
        """Return the scene of a frame in the newest colors."""
        return self.place(frame).scene().model_copy(update={"color": self.color})

    @property
    def size(self) -> tuple[int, int]:
        """Return the size of the canvas."""
        assert self.hello
        newest = self.frames.get(self.newest)
        return newest.size if newest else self.hello.size

    def on_open(self, message: Open) -> None:
        """Show another scene."""
        self._check_id(message.frame)
        scene = self._opened(message)
        size = message.size or self.size
        scene = _for_canvas(scene)
        place = Place.of(scene, size)
        base = self.place(message.base) if message.base else None
        self.color, self.paint = scene.color, 0
        middle = size[0] / 2, size[1] / 2
        self._show(message.frame, place, base, message.base, middle, moving=False, whole=True)

    def _opened(self, message: Open) -> Scene:
        given = [
            key
            for key in ("scene", "toml", "link", "gallery", "julia", "formula")
            if getattr(message, key) is not None
        ]
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)}: give one")
        if message.scene is not None:
            return self._admitted(outside.scene_of(message.scene))
        if message.toml is not None:
            return self._admitted(outside.of_toml(message.toml))
        if message.link is not None:
            return self._admitted(outside.of_link(message.link))
        if message.gallery is not None:
            return outside.scene_of(catalog.read("gallery", message.gallery))
        if message.julia is not None:
            return self.julia_scene(message.julia.frame, message.julia.at)
        if message.formula is not None:
            table = {"formula": message.formula}
            return self._admitted(outside.scene_of(table)).model_copy(update={"color": self.color})
        return self.terms.scene

    def _admitted(self, scene: Scene) -> Scene:
        """Return a scene, unless it needs one program of its own too many."""
        if getattr(scene.formula, "model_extra", None):
            self.engine.admit(scene.make_formula().label)
        for layer in make_layers(scene).drawn:
            if layer.coloring.statistic and layer.paint.coloring.model_extra:
                self.engine.admit(layer.coloring.statistic_label)
        return scene

    def julia_scene(self, frame: int, at: tuple[int, int]) -> Scene:
        """Return the Julia set of a point of a frame."""
        place = self.place(frame)
        if place.origin.julia is not None:
            raise OptionError("this is a Julia set already: its points have none of their own")
        table = place.origin.to_values()
        table["view"] = {}
        table["julia"] = list(text_of(place, at))
        table |= {"title": "", "note": ""}
        scene = validate(table, "")
        return scene.model_copy(update={"color": self.color})

    def on_view(self, message: View) -> None:
        """Show a move of a frame."""
        self._check_id(message.frame)
        base = self.place(message.base)
        about = None
        if message.about is not None:
            if message.about not in self.found:
                raise OptionError(f"the search {message.about} has found nothing")
            about = self.found[message.about]
        move = Move(message.at, message.by, message.scale, message.turn, about)
        place = base.moved(move, message.size)
        x, y = message.focus or (place.size[0] * 8, place.size[1] * 8)
        focus = x / SIXTEENTHS, y / SIXTEENTHS
        self._show(
            message.frame, place, base, message.base, focus, message.stage == "moving", whole=False
        )

    def _check_id(self, frame: int) -> None:
        if frame <= self.newest:
            raise OptionError(f"the frame {frame} is not greater than {self.newest}")

    def _show(
        self,
        frame: int,
        place: Place,
        base: Place | None,
        base_id: int | None,
        focus: tuple[float, float],
        moving: bool,
        whole: bool,
    ) -> None:
        scene = place.scene().model_copy(update={"color": self.color})
        self.frames[frame] = place
        while len(self.frames) > MAX_FRAMES:
            self.frames.popitem(last=False)
        self.newest, self.focus = frame, focus
        home = octaves(place)
        answer: dict[str, Any] = {
            "frame": frame,
            "base": base_id,
            "size": list(place.size),
            "center": list(scene.view.center or ("0", "0")),
            "width": place.width_text,
            "zoom": zoom_text(home),
            "octaves": home,
            "rotation": place.rotation,
            "formula": scene.make_formula().title,
            "julia": list(scene.julia) if scene.julia else None,
            "map": map_between(base, place) if base else None,
        }
        if whole:
            answer["scene"] = scene.to_table()
        self.say("placed", **answer)
        self.draw(scene, moving, "open" if whole else "view")

    # ------------------------------------------------------------------ drawing

    @property
    def picture(self) -> Picture | None:
        """Return the picture that is shown, once it is begun."""
        return self.view.picture if self.view else None

    def draw(self, scene: Scene, moving: bool, re: str, kept: bool = False) -> None:
        """Draw the newest frame in place of older work; `kept`: values that wait are still sent."""
        assert self.hello
        if not kept:
            self.outbox.drop(self.newest, self.paint)
        frame, paint = self.newest, self.paint
        samples = scene.image.size[0] * scene.image.size[1] * BYTES_A_SAMPLE
        request = Request(
            scene,
            frame,
            paint,
            self.focus,
            moving,
            self.hello.values,
            self.hello.link == "remote",
            self.outbox.put,
            keeps_raw=samples * self.terms.clients <= max(self.terms.memory, samples),
        )
        before = self.view
        self.view = view = ViewWork(self.engine, request, before.picture if before else None)
        work = Work(
            (self, "view"),
            view.steps,
            VIEW,
            ready=lambda: not self.outbox.full,
            failed=lambda line: self.say("error", re=re, frame=frame, message=line),
        )
        view.work = work
        self.engine.submit(work)

    def on_paint(self, message: Paint) -> None:
        """Show the newest frame in other colors."""
        place = self.place(self.newest)
        table = place.scene().to_values()
        painted = {**_drawable(table), "color": message.color}
        color = self._admitted(outside.scene_of(painted)).color
        scene = place.scene().model_copy(update={"color": color})
        make_plan(scene, self.engine.kind)
        table = scene.to_table()["color"]

        def tell(values: bool) -> None:
            self.color, self.paint = color, message.seq
            self.say("painted", seq=message.seq, frame=self.newest, values=values, color=table)

        if self.view and self.view.repaint(scene, message.seq, lambda: tell(False)):
            return
        before = self.picture
        kept = bool(before and before.complete and same_values(before.request.scene, scene))
        tell(not kept)
        self.draw(scene, False, "paint", kept)

    def on_go_on(self, message: protocol.GoOn) -> None:
        """Continue a view that was paused."""
        if self.view and message.frame == self.newest:
            self.view.allowed *= 4
            self.view.work.not_before = 0.0
            self.engine.wake()

    def ask(self, name: str, make: Any, message: Any, priority: int = SMALL) -> None:
        """Have the drawing thread answer a message; newer ones of the name replace it."""
        keys = {k: getattr(message, k) for k in ("frame", "seq", "job") if hasattr(message, k)}
        self.engine.submit(
            Work(
                (self, name),
                make,
                priority,
                ready=lambda: not self.outbox.full,
                failed=lambda line: self.say("error", re=message.t, message=line, **keys),
            )
        )

    def close(self) -> None:
        """End the client's work."""
        for name in ("view", "julia", "pick", "surprise"):
            self.engine.cancel((self, name))
        self.view = None


def _for_canvas(scene: Scene) -> Scene:
    """Return a scene as a canvas shows it, with 8 bits a channel."""
    return scene.model_copy(update={"image": scene.image.model_copy(update={"bits": 8})})


def _drawable(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that decide which colors a scene may have."""
    return {key: table[key] for key in ("formula", "julia") if key in table}


def text_of(place: Place, at: tuple[int, int]) -> tuple[str, str]:
    """Return the coordinates of a pixel as text, with the digits that tell pixels apart."""
    x, y = place.point(at)
    places = decimals(place.pixel) + 3
    return decimal_text(x, places), decimal_text(y, places)


def zoom_text(home: float) -> str:
    """Return 2**octaves as decimal text with three digits, of any size."""
    exponent = home * 0.30102999566398120
    whole = int(exponent // 1)
    if -4 < exponent < 5:
        return f"{2.0**home:.4g}"
    return f"{10 ** (exponent - whole):.2f}e{whole}"

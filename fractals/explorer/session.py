"""A client: its frames and colors, what it may do, and the work that it has asked for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

from fractals.errors import FractalsError, OptionError, first_line
from fractals.explorer import outside, protocol
from fractals.explorer.frames import Frames
from fractals.explorer.outbox import Outbox
from fractals.explorer.picture import Picture, Request
from fractals.explorer.protocol import VERSION, Hello
from fractals.explorer.scheduler import SMALL, Engine, Work
from fractals.explorer.view_work import ViewWork
from fractals.scene.model import Scene

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


class MessageRate:
    """Bounds how many messages a client sends."""

    def __init__(self) -> None:
        self._tokens, self._last = BURST, monotonic()

    def count(self) -> None:
        """Count a message, or raise `TooManyMessages`."""
        now = monotonic()
        self._tokens = min(BURST, self._tokens + RATE * (now - self._last)) - 1
        self._last = now
        if self._tokens < 0:
            raise TooManyMessages


class Session:
    """A client's state. Messages are handled one at a time, in any thread.

    Attributes
    ----------
    hello : Hello, optional
        The first message.
    frames : Frames
    color : Color
        Of the newest frame.
    paint : int
        Number of the newest colors, as of PROTOCOL.md.
    focus : tuple of float
        Pixel of the newest frame at which tiles begin.
    view : ViewWork, optional
        Draws the newest frame.
    jobs : dict
        Searches and exports that run, by number.
    found : dict
        Centers that searches found, by number.
    """

    def __init__(
        self,
        engine: Engine,
        terms: Terms,
        outbox: Outbox,
        handlers: Mapping[str, Callable[["Session", Any], None]],
    ) -> None:
        """`handlers`: of all messages but the first, by name."""
        self.engine, self.terms, self.outbox, self.handlers = engine, terms, outbox, handlers
        self.hello: Hello | None = None
        self.frames = Frames()
        self.color, self.paint = terms.scene.color, 0
        self.focus: tuple[float, float] = (0.0, 0.0)
        self.view: ViewWork | None = None
        self.jobs: dict[int, Any] = {}
        self.found: dict[int, tuple[Fraction, Fraction]] = {}
        self._rate = MessageRate()

    def say(self, kind: str, **keys: Any) -> None:
        """Send a text message."""
        self.outbox.put(json.dumps({"t": kind, **keys}, ensure_ascii=False))

    def receive(self, text: str) -> None:
        """Handle a message; every error is answered with one line."""
        self._rate.count()
        try:
            message = protocol.parse(text)
            if (self.hello is None) != isinstance(message, Hello):
                raise OptionError("the first message is hello, and no other")
            if isinstance(message, Hello):
                self._welcome(message)
            else:
                self.handlers[message.t](self, message)
        except FractalsError as error:
            self.say("error", **{**protocol.names_of(text), "message": first_line(error)})

    def _welcome(self, message: Hello) -> None:
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

    def scene(self, frame: int) -> Scene:
        """Return the scene of a frame in the newest colors."""
        return self.frames.place(frame).scene().model_copy(update={"color": self.color})

    @property
    def size(self) -> tuple[int, int]:
        """Return the size of the canvas."""
        assert self.hello
        return self.frames.size() or self.hello.size

    @property
    def picture(self) -> Picture | None:
        """Return the picture that is shown, once it is begun."""
        return self.view.picture if self.view else None

    def draw(self, scene: Scene, moving: bool, re: str, kept: bool = False) -> None:
        """Draw the newest frame in place of older work; `kept`: values that wait are still sent."""
        assert self.hello
        if not kept:
            self.outbox.drop(self.frames.newest, self.paint)
        frame, paint = self.frames.newest, self.paint
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
        self.view = ViewWork(
            self.engine,
            request,
            self.picture,
            (self, "view"),
            ready=lambda: not self.outbox.full,
            failed=lambda line: self.say("error", re=re, frame=frame, message=line),
        )
        self.engine.submit(self.view.work)

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

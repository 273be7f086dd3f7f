"""A client: its frames and colors, what it may do, and the work that it has asked for."""

import asyncio
import contextlib
import json
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from fractions import Fraction
from time import monotonic
from typing import Any, Literal, NamedTuple

from fractals.backends.probe import cpu
from fractals.errors import FractalsError, OptionError, first_line
from fractals.explorer import outside, packing, protocol
from fractals.explorer.frames import FrameHistory, in_colors
from fractals.explorer.options import ExploreOptions
from fractals.explorer.protocol import VERSION, Hello
from fractals.explorer.scheduler import SMALL, VIEW, DrawingTask, Engine
from fractals.explorer.shown import RefinedView, ShownView
from fractals.explorer.view import ClientView
from fractals.rendering.families import family_of
from fractals.scene.model import Scene

# What waits to be sent to one client: bounded, and without tiles of views that were given up.


WINDOW = 2**20  # bytes under way, beyond which nothing more is drawn for the client
MAX_BYTES = 2**25  # beyond it, or MAX_COUNT messages, the client is cut off: it reads nothing
MAX_COUNT = 2000
NOT_READ = 4429, "nothing is read"


class Waiting(NamedTuple):
    """A message, and the frame and paint that a tile belongs to (0: it is never dropped)."""

    content: str | bytes
    frame: int = 0
    paint: int = 0


class Outbox:
    """Messages for one client: put by any thread, and taken in the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_room: Callable[[], None]) -> None:
        self.on_room = on_room  # called when there is room again
        self.ending: tuple[int, str] | None = None  # why the client is cut off: a code, a line
        self._loop, self._arrived = loop, asyncio.Event()
        self._messages: deque[Waiting] = deque()
        self._lock = threading.Lock()
        self._bytes = 0  # of tiles that wait, and of the one that is being sent

    @property
    def full(self) -> bool:
        """Tell whether drawing should wait until tiles were sent."""
        return self._bytes >= WINDOW

    def put(self, content: str | bytes, frame: int = 0, paint: int = 0) -> None:
        """Add a message."""
        with self._lock:
            if len(self._messages) >= MAX_COUNT or self._bytes > MAX_BYTES:
                self.ending = NOT_READ
            else:
                self._messages.append(Waiting(content, frame, paint))
                self._bytes += len(content)
        self._tell()

    def end(self, code: int, reason: str) -> None:
        """Cut the client off."""
        self.ending = code, reason
        self._tell()

    def _tell(self) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._arrived.set)

    def drop(self, frame: int, paint: int) -> None:
        """Drop tiles of older frames, and of older paints of this frame."""
        with self._lock:
            kept = [
                each
                for each in self._messages
                if not each.frame or (each.frame == frame and each.paint == paint)
            ]
            self._bytes -= sum(len(e.content) for e in self._messages) - sum(
                len(e.content) for e in kept
            )
            self._messages = deque(kept)
        self.on_room()

    async def take(self) -> str | bytes:
        """Wait for the next message; call `sent` when it was sent. "": the client is cut off."""
        while not self.ending:
            self._arrived.clear()
            with self._lock:
                if self._messages:
                    return self._messages.popleft().content
            await self._arrived.wait()
        return ""

    def sent(self, content: str | bytes) -> None:
        """Free the room of a message that was sent."""
        with self._lock:
            was_full = self.full
            self._bytes -= len(content)
        if was_full and not self.full:
            self.on_room()


RATE, BURST = 40.0, 120.0  # messages a second, and at once
BYTES_A_SAMPLE = 28  # of raw numbers that are kept, about


class TooManyMessages(Exception):
    """A client sends more messages than it may."""


class Rate:
    """Bounds how often something is done: a number a second, and a number at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._last = burst, monotonic()

    def spend(self) -> bool:
        """Count one event, and return whether the rate allows it."""
        now = monotonic()
        self._left = min(self.burst, self._left + self.rate * (now - self._last))
        self._last = now
        allowed = self._left >= 1
        self._left -= allowed
        return allowed


class Rates:
    """A rate for each of the newest names."""

    def __init__(self, rate: float, burst: float, most: int) -> None:
        self.rate, self.burst, self.most = rate, burst, most
        self.kept: OrderedDict[str, Rate] = OrderedDict()

    def spend(self, name: str) -> bool:
        """Count one event of a name, and return whether its rate allows it."""
        found = self.kept.setdefault(name, Rate(self.rate, self.burst))
        self.kept.move_to_end(name)
        while len(self.kept) > self.most:
            self.kept.popitem(last=False)
        return found.spend()


NO_CLASS = "this server has no class"


def _nobody(session: "Session", number: int, size: tuple[int, int]) -> Scene:
    raise OptionError(NO_CLASS)


class Session:
    """A client's state. Messages are handled one at a time, in any thread."""

    def __init__(
        self,
        engine: Engine,
        first: Scene,
        options: ExploreOptions,
        outbox: Outbox,
        handlers: Mapping[str, Callable[["Session", Any], None]],
    ) -> None:
        """`first`: the scene that is shown first; `handlers`: of messages but hello, by name."""
        self.engine, self.first, self.options = engine, first, options
        self.outbox, self.handlers = outbox, handlers
        self.visitor = ""  # whose page it is; "": a program's
        self.second = False  # whether it is the second view of a page
        self.role: Literal["", "leader", "guest"] = ""  # in a class
        self.hello: Hello | None = None  # the first message
        self.frames = FrameHistory()
        # Colors of the newest frame, and their number, as of PROTOCOL.md
        self.color, self.paint = first.color, 0
        # Pixel of the newest frame at which tiles begin
        self.focus: tuple[float, float] = (0.0, 0.0)
        self.view: ShownView | None = None  # draws the newest frame
        # Returns what a person of a class sees, for a canvas of another size
        self.person: Callable[[Session, int, tuple[int, int]], Scene] = _nobody
        self.jobs: dict[int, Any] = {}  # searches and exports that run, by number
        self.drawing: dict[str, int] = {}  # the newest job of each kind that the thread draws
        # Centers that searches found, by number
        self.found: dict[int, tuple[Fraction, Fraction]] = {}
        self._rate = Rate(RATE, BURST)

    def say(self, kind: str, **keys: Any) -> None:
        """Send a text message."""
        self.outbox.put(json.dumps({"t": kind, **keys}, ensure_ascii=False))

    def preview(self, name: int, layer: int, pixels: Any) -> None:
        """Send a small picture that a request or job asked for, by its number."""
        assert self.hello
        where = packing.Where(name, w=pixels.shape[1], h=pixels.shape[0], layer=layer)
        remote = self.hello.link == "remote"
        threads = self.engine.cores
        self.outbox.put(packing.pack_pixels(where, pixels, remote, packing.PREVIEW, threads))

    def receive(self, text: str) -> None:
        """Handle a message; every error is answered with one line."""
        if not self._rate.spend():
            raise TooManyMessages
        try:
            message = protocol.parse(text)
            if (self.hello is None) != isinstance(message, Hello):
                raise OptionError("the first message is hello, and no other")
            if isinstance(message, Hello):
                self._welcome(message)
            else:
                self.handlers[message.t](self, message)
        except FractalsError as error:
            about = {"message": first_line(error), **error.about}
            self.say("error", **{**protocol.names_of(text), **about})

    def _welcome(self, message: Hello) -> None:
        """Answer what the server is and allows."""
        from fractals import __version__

        if message.v != VERSION:
            raise OptionError(f"protocol {message.v}: the server has {VERSION}: reload the page")
        self.hello = message
        may = not self.options.read_only
        self.say(
            "welcome",
            v=VERSION,
            version=__version__,
            **self._drawn_with(),
            title=self.first.title,
            gallery=bool(self.options.gallery),
            read_only=self.options.read_only,
            bookmarks=self.options.keeps,
            upload=may,
            export=may,
            limits={
                "size": [protocol.MAX_SIDE, protocol.MAX_SIDE],
                "digits": outside.MAX_DIGITS,
                "stops": outside.MAX_STOPS,
            },
            **({"role": self.role} if self.role else {}),
        )

    def _drawn_with(self) -> dict[str, str]:
        """Return the name of the device that draws, and why another one does not."""
        engine = self.engine
        return {"device": engine.choice.device.name or cpu().name, "why": engine.why}

    def tell_device(self) -> None:
        """Tell the client that another device draws from now on; a page needs to hear it once."""
        if self.hello and not self.second:
            self.say("device", **self._drawn_with())

    def scene(self, frame: int, author: str = "") -> Scene:
        """Return the scene of a frame in the newest colors; `author`: where it has none."""
        scene = in_colors(self.frames.place(frame).scene(), self.color)
        return scene if scene.author else scene.model_copy(update={"author": author})

    @property
    def size(self) -> tuple[int, int]:
        """Return the size of the canvas."""
        assert self.hello
        return self.frames.size() or self.hello.size

    @property
    def shown(self) -> ShownView | None:
        """Return the view that is shown, once it is open."""
        return self.view if self.view and self.view.opened else None

    @property
    def values(self) -> ClientView | None:
        """Return the view that is shown where its samples have values."""
        return self.shown if isinstance(self.shown, ClientView) else None

    def draw(self, scene: Scene, moving: bool, re: str, kept: bool = False) -> None:
        """Draw the newest frame in place of older work; `kept`: values that wait are still sent."""
        assert self.hello
        scene = scene.model_copy(update={"image": scene.image.as_srgb()})  # of the page
        if not kept:
            self.outbox.drop(self.frames.newest, self.paint)
        frame, paint = self.frames.newest, self.paint
        memory = self.options.memory * 2**20
        common: dict[str, Any] = {
            "key": (self, "view"),
            "priority": VIEW,
            "leads": self.role == "leader",
            "ready": lambda: not self.outbox.full,
            "failed": lambda line, **about: self.say(
                "error", **{**about, "re": re, "frame": frame, "message": line}
            ),
            "engine": self.engine,
            "scene": scene,
            "frame": frame,
            "paint": paint,
            "moving": moving,
            "remote": self.hello.link == "remote",
            "say": self.say,
            "put": self.outbox.put,
            # A view that was replaced before it was open has nothing of its own
            "before": self.shown or (self.view and self.view.before),
        }
        if family_of(scene).single_pixels:
            needed = scene.image.size[0] * scene.image.size[1] * BYTES_A_SAMPLE
            self.view = ClientView(
                make=ClientView.passes,
                focus=self.focus,
                shader=self.hello.values,
                keeps_raw=needed * self.options.pages <= max(memory, needed),
                **common,
            )
        else:
            self.view = RefinedView(make=RefinedView.passes, most_kept=memory, **common)
        self.engine.submit(self.view)

    def rest(self) -> None:
        """Draw nothing of the newest frame: its client has a picture of it."""
        self.outbox.drop(self.frames.newest, self.paint)
        self.engine.cancel((self, "view"))
        self.view = None

    def ask(self, name: str, make: Any, message: Any, priority: int = SMALL) -> None:
        """Have the drawing thread answer a message; newer ones of the name replace it."""
        keys = {k: getattr(message, k) for k in ("frame", "seq", "job") if hasattr(message, k)}
        if "job" in keys:
            self.drawing[name] = keys["job"]
        self.engine.submit(
            DrawingTask(
                (self, name),
                make,
                priority,
                ready=lambda: not self.outbox.full,
                failed=lambda line, **about: self.say(
                    "error", **{**about, "re": message.t, "message": line, **keys}
                ),
            )
        )

    def close(self) -> None:
        """End the client's work."""
        for name in ("view", "julia", "pick", "loupe", "moments", "sheet", "surprise"):
            self.engine.cancel((self, name))
        self.view = None

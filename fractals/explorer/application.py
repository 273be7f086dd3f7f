"""The application that serves the page and the clients, all by one drawing thread."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from fractals.explorer import navigation, protocol, questions
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.classroom import MARK, Classroom, no_class
from fractals.explorer.filming import Filming
from fractals.explorer.gate import BEARER, Gate, Visitors
from fractals.explorer.jobs import Compilers, Jobs, Workers, own_label
from fractals.explorer.options import ExploreOptions
from fractals.explorer.pages import Pages, Thumbnails
from fractals.explorer.scheduler import Engine, internal
from fractals.explorer.session import Outbox, Session, TooManyMessages
from fractals.scene.model import Scene

HELLO_SECONDS = 10.0
NO_COOKIE, NO_HELLO, OPEN_TWICE, TOO_LONG, TOO_MANY, FULL = 4401, 4408, 4409, 4413, 4429, 1013


class Explorer:
    """The application: clients, their drawing thread, and everything they share."""

    def __init__(
        self,
        scene: Scene,
        options: ExploreOptions,
        data: Path | None = None,
        cache: Path | None = None,
        state: Path | None = None,
    ) -> None:
        """`data`, `cache`, `state`: folders of bookmarks, thumbnails and the secret of cookies.

        None: nothing is kept.
        """
        self.scene, self.options = scene, options
        self.engine = Engine(options.device, options.threads)
        workers = Workers(options.cluster) if options.cluster else None
        self.jobs = Jobs(options.device, options.threads, workers)
        self.filming = Filming(self.jobs, options.read_only)
        self.bookmarks = Bookmarks(data if options.keeps else None)
        thumbnails = Thumbnails(self.engine, cache)
        self.pages = Pages(options.read_only, thumbnails, self.jobs, self.bookmarks)
        # Guests come in from elsewhere if one address of this machine was asked for
        near = options.address in ("0.0.0.0", "::")
        room = self.classroom = Classroom(near) if options.classroom else None
        self.pages.classroom = room
        self.sessions: set[Session] = set()
        self.compilers = Compilers(lambda: self.engine.request, self.engine.wake)
        self.engine.elsewhere = self.compilers.compiled
        self.engine.on_other_device = self._tell_device
        self.engine.crowded = lambda: len({s.visitor or s for s in list(self.sessions)}) > 1
        self.engine.forbids = lambda scene: bool(own_label(scene)) or self.engine.crowded()
        self.handlers: dict[str, Callable[[Session, Any], None]] = {
            "bookmark": self.bookmarks.on_change,
            "bookmarks": self.bookmarks.on_list,
            "cancel": self.jobs.cancel,
            "class": room.on_class if room else no_class,
            "export": self.jobs.export,
            "film": self.filming.film,
            "find": self.jobs.find,
            "fit": questions.fit,
            "follow": self.jobs.follow,
            "go_on": navigation.go_on,
            "guest": room.on_guest if room else no_class,
            "histogram": questions.histogram,
            "julia": questions.julia,
            "lead": room.on_lead if room else no_class,
            "link": questions.link,
            "loupe": questions.loupe,
            "moments": self.filming.moments,
            "lookup": questions.lookup,
            "open": navigation.open_scene,
            "paint": navigation.paint,
            "pick": questions.pick,
            "sheet": questions.sheet,
            "surprise": questions.surprise,
            "view": navigation.view,
        }
        sound = Route("/sound", self.filming.sound, methods=["POST"])
        routes = [*self.pages.routes(), sound, WebSocketRoute("/ws", self.client)]
        served = Starlette(routes=routes, lifespan=self._lifespan)
        self.gate = Gate(served, bool(options.cert), Visitors(state), room)
        self.gate.full = self._full

    def _tell_device(self) -> None:
        for session in list(self.sessions):
            session.tell_device()

    def _full(self, visitor: str) -> bool:
        """Tell whether there is no room for a visitor, who may load an open page again."""
        inside = any(session.visitor == visitor for session in list(self.sessions))
        return not inside and self._is_crowded(visitor)

    def _is_crowded(self, visitor: str) -> bool:
        """Tell whether a visitor may open no page more; the leader of a class always may."""
        if self.classroom and not visitor.startswith(MARK):
            return False
        room = self.classroom is None or self.classroom.has_room(visitor)
        return not room or self._pages >= self.options.pages

    @property
    def _pages(self) -> int:
        """Return the number of open pages: second views do not count."""
        return sum(not session.second for session in list(self.sessions))

    def _is_second(self, socket: WebSocket, visitor: str) -> bool:
        """Tell whether a client is the second view of a page of the visitor that has none yet."""
        own = [session.second for session in self.sessions if session.visitor == visitor]
        wants = "second" in socket.query_params and visitor != BEARER
        return wants and own.count(False) > own.count(True)

    def shut_out(self) -> None:
        """End all visits: each visitor requires an address again."""
        self.gate.visitors.forget()
        for session in list(self.sessions):
            session.outbox.end(NO_COOKIE, "your visit was ended")

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        tidying = asyncio.create_task(self.jobs.tidy_now_and_then())
        yield
        tidying.cancel()
        self.engine.end()
        self.compilers.end()
        self.jobs.end()

    async def client(self, socket: WebSocket) -> None:
        """Serve a client until it leaves."""
        await socket.accept()
        visitor = socket.scope["visitor"]
        second = self._is_second(socket, visitor)
        if not second and self._is_crowded(visitor):
            if self.classroom and not self.classroom.has_room(visitor):
                await socket.close(OPEN_TWICE, "a guest has two pages at most")
            else:
                await socket.close(FULL, "the server is full: try again later")
            return
        outbox = Outbox(asyncio.get_running_loop(), self.engine.wake)
        session = Session(self.engine, self.scene, self.options, outbox, self.handlers)
        session.visitor, session.second = "" if visitor == BEARER else visitor, second
        self.sessions.add(session)
        if self.classroom:
            self.classroom.enter(session)
        sending = asyncio.create_task(_send(socket, outbox))
        try:
            await self._receive(socket, session)
        except (WebSocketDisconnect, ConnectionError, RuntimeError):
            pass  # `_send` has closed the socket, or the client has left
        finally:
            sending.cancel()
            self.sessions.discard(session)
            if self.classroom:
                self.classroom.leave(session)
            session.close()
            self.jobs.leave(session)

    async def _receive(self, socket: WebSocket, session: Session) -> None:
        """Handle a client's messages, one after the other."""
        while True:
            try:
                async with asyncio.timeout(None if session.hello else HELLO_SECONDS):
                    text = await socket.receive_text()
            except TimeoutError:
                await socket.close(NO_HELLO, "no hello")
                return
            except KeyError:  # a binary message
                session.say("error", re="", message="messages are text")
                continue
            if len(text) > protocol.MAX_MESSAGE:
                await socket.close(TOO_LONG, "a message is too long")
                return
            try:
                await asyncio.to_thread(session.receive, text)
            except TooManyMessages:
                await socket.close(TOO_MANY, "too many messages")
                return
            except Exception as error:
                keys = protocol.names_of(text)
                session.say("error", **{"re": "", **keys, "message": internal(error)})
            if ending := session.outbox.ending:
                await socket.close(*ending)
                return


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    """Send what waits; uvicorn holds a send back while the line is full."""
    with contextlib.suppress(ConnectionError, WebSocketDisconnect, RuntimeError):
        while content := await outbox.take():
            if isinstance(content, bytes):
                await socket.send_bytes(content)
            else:
                await socket.send_text(content)
            outbox.sent(content)
            # Neither of the two waits while there is room. The loop has to hear that the line was
            # cut, because asyncio logs each further write, and other clients have to be served.
            await asyncio.sleep(0)
        assert outbox.ending
        await socket.close(*outbox.ending)

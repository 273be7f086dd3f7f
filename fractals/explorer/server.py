"""Starts the explorer: the application, its address, and the browser."""

import asyncio
import contextlib
import os
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from fractals.errors import FractalsError, OptionError
from fractals.explorer import navigation, protocol, questions
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.bookmarks import folder as bookmarks_folder
from fractals.explorer.gate import Gate
from fractals.explorer.jobs import Jobs
from fractals.explorer.outbox import Outbox
from fractals.explorer.pages import Pages
from fractals.explorer.previews import Thumbnails
from fractals.explorer.scheduler import Engine, internal
from fractals.explorer.session import Session, Terms, TooManyMessages

LOCAL = ("127.0.0.1", "localhost", "[::1]")
HELLO_SECONDS = 10.0
PING_SECONDS = 20.0
CONNECTIONS = 64  # sockets besides those of clients
NO_HELLO, TOO_LONG, TOO_MANY, FULL = 4408, 4413, 4429, 1013


@dataclass(frozen=True)
class Address:
    """Where a server listens.

    Attributes
    ----------
    host : str
    port : int
        0: a free one. With `uds`, the port under which the browser reaches the socket.
    uds : str, optional
        Path of a Unix socket, in place of host and port.
    cert, key : str, optional
        Files of a certificate and its key, for HTTPS.
    allowed : tuple of str
        More names under which a browser may reach the server.
    """

    host: str = "127.0.0.1"
    port: int = 0
    uds: str | None = None
    cert: str | None = None
    key: str | None = None
    allowed: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Tell whether only this machine reaches the server."""
        return bool(self.uds) or self.host in ("127.0.0.1", "::1", "localhost")


class Explorer:
    """The application: clients, their drawing thread, and everything they share."""

    def __init__(
        self,
        terms: Terms,
        device: str = "auto",
        threads: int | None = None,
        secure: bool = False,
        data: Path | None = None,
        cache: Path | None = None,
    ) -> None:
        """`data`, `cache`: folders of bookmarks and of thumbnails; None: nothing is kept."""
        self.terms = terms
        self.engine = Engine(device, threads)
        self.jobs = Jobs(device, threads)
        self.bookmarks = Bookmarks(None if terms.read_only else data)
        self.pages = Pages(terms, Thumbnails(self.engine, cache), self.jobs, self.bookmarks)
        self.sessions: set[Session] = set()
        self.handlers: dict[str, Callable[[Session, Any], None]] = {
            "bookmark": self.bookmarks.on_change,
            "bookmarks": self.bookmarks.on_list,
            "cancel": self.jobs.cancel,
            "export": self.jobs.export,
            "find": self.jobs.find,
            "fit": questions.fit,
            "go_on": navigation.go_on,
            "histogram": questions.histogram,
            "julia": questions.julia,
            "link": questions.link,
            "lookup": questions.lookup,
            "open": navigation.open_scene,
            "paint": navigation.paint,
            "pick": questions.pick,
            "surprise": questions.surprise,
            "view": navigation.view,
        }
        routes = [*self.pages.routes(), WebSocketRoute("/ws", self.client)]
        self.gate = Gate(Starlette(routes=routes, lifespan=self._lifespan), secure)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        self.jobs.loop = asyncio.get_running_loop()
        yield
        self.engine.end()
        self.jobs.end()

    async def client(self, socket: WebSocket) -> None:
        """Serve a client until it leaves."""
        await socket.accept()
        if len(self.sessions) >= self.terms.clients:
            await socket.close(FULL, "the server is full: try again later")
            return
        outbox = Outbox(asyncio.get_running_loop(), self.engine.wake)
        session = Session(self.engine, self.terms, outbox, self.handlers)
        self.sessions.add(session)
        sending = asyncio.create_task(_send(socket, outbox))
        try:
            await self._receive(socket, session)
        except (WebSocketDisconnect, ConnectionError):
            pass
        finally:
            sending.cancel()
            self.sessions.discard(session)
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
            if session.outbox.overfull:
                await socket.close(TOO_MANY, "nothing is read")
                return


async def _send(socket: WebSocket, outbox: Outbox) -> None:
    """Send what waits; uvicorn holds a send back while the line is full."""
    with contextlib.suppress(ConnectionError, WebSocketDisconnect, RuntimeError):
        while True:
            content = await outbox.take()
            if isinstance(content, bytes):
                await socket.send_bytes(content)
            else:
                await socket.send_text(content)
            outbox.sent(content)


@dataclass
class Running:
    """A server that listens: its address, its end, and its application."""

    explorer: Explorer
    address: Address
    sockets: list[socket.socket] = field(default_factory=list)
    port: int = 0
    server: uvicorn.Server | None = None
    _closed: bool = False

    @classmethod
    def listen(cls, explorer: Explorer, address: Address) -> "Running":
        """Bind the address.

        Raises
        ------
        FractalsError
            The address is in use, or not one of this machine.
        """
        running = cls(explorer, address)
        try:
            if address.uds:
                running.sockets = [_unix_socket(address.uds)]
                running.port = address.port or 8000
            else:
                running.sockets = _bound(address)
                running.port = running.sockets[0].getsockname()[1]
        except OSError as error:
            where = address.uds or f"{address.host}:{address.port}"
            raise FractalsError(f"can't listen at {where}: {error.strerror or error}") from None
        hosts = [*LOCAL, *address.allowed]
        if address.host not in ("0.0.0.0", "::", *LOCAL):
            hosts.append(f"[{address.host}]" if ":" in address.host else address.host)
        explorer.gate.serve_at(hosts, running.port)
        return running

    @property
    def url(self) -> str:
        """Return the address of the page, without a token."""
        scheme = "https" if self.address.cert else "http"
        host = "127.0.0.1" if self.address.local else self.address.host
        if host in ("0.0.0.0", "::"):
            host = self.address.allowed[0] if self.address.allowed else socket.gethostname()
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def invitation(self) -> str:
        """Return an address that opens the page once."""
        return self.url + self.explorer.gate.invitation()

    def serve(self) -> None:
        """Serve until `close`, or Ctrl-C."""
        config = uvicorn.Config(
            self.explorer.gate,
            log_level="critical",
            access_log=False,  # it would hold the token
            ws="websockets-sansio",
            ws_max_size=protocol.MAX_MESSAGE,
            ws_max_queue=8,
            ws_per_message_deflate=False,
            ws_ping_interval=PING_SECONDS,
            ws_ping_timeout=PING_SECONDS,
            limit_concurrency=self.explorer.terms.clients + CONNECTIONS,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=1,
            server_header=False,
            proxy_headers=False,
            ssl_certfile=self.address.cert,
            ssl_keyfile=self.address.key,
        )
        self.server = uvicorn.Server(config)
        self.server.should_exit = self._closed
        try:
            self.server.run(sockets=self.sockets)
        finally:
            for each in self.sockets:
                each.close()
            if self.address.uds:
                Path(self.address.uds).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop serving."""
        self._closed = True
        if self.server:
            self.server.should_exit = True


def _bound(address: Address) -> list[socket.socket]:
    """Return listening sockets; a local address listens at 127.0.0.1 and ::1."""
    name = "127.0.0.1" if address.host == "localhost" else address.host
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    first = socket.create_server((name, address.port), family=family)
    found = [first]
    if name == "127.0.0.1":
        with contextlib.suppress(OSError):  # no IPv6, or another program has the port there
            port = first.getsockname()[1]
            found.append(socket.create_server(("::1", port), family=socket.AF_INET6))
    return found


def _unix_socket(path: str) -> socket.socket:
    """Return a listening Unix socket that only its owner may open."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(path)
    os.chmod(path, 0o600)  # before it listens: until then nobody can connect
    made.listen(128)
    return made


def start(
    terms: Terms,
    device: str = "auto",
    threads: int | None = None,
    address: Address = Address(),
) -> Running:
    """Return a server that listens; call its `serve`.

    Raises
    ------
    OptionError
        An option has a bad value.
    DeviceError
        The device is missing.
    """
    import platformdirs

    if bool(address.cert) != bool(address.key):
        raise OptionError("--cert and --key belong together: give both")
    cache = Path(platformdirs.user_cache_dir("fractals", False)) / "thumbnails"
    data = bookmarks_folder() if address.local else None
    explorer = Explorer(terms, device, threads, bool(address.cert), data, cache)
    return Running.listen(explorer, address)


def open_browser(address: str) -> None:
    """Open an address in the user's browser, once the server answers."""
    timer = threading.Timer(0.3, lambda: webbrowser.open(address))
    timer.daemon = True
    timer.start()

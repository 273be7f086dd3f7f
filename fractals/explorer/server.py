"""Starts the explorer: its address, the server, and the browser.

The packages of the extra `explore` are imported when a server is started.
"""

import asyncio
import contextlib
import importlib.util
import os
import select
import socket
import ssl
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fractals.errors import FractalsError, OptionError, shown, to_install
from fractals.explorer.keywords import ExploreKeywords
from fractals.explorer.options import ExploreOptions
from fractals.io.files import open_to_read
from fractals.io.load import Source, load_scene
from fractals.rendering.options import split_keywords, with_keywords
from fractals.scene.model import Scene

if TYPE_CHECKING:
    import uvicorn

    from fractals.explorer.application import Explorer
    from fractals.explorer.door import Door

LOCAL = ("127.0.0.1", "localhost", "[::1]")
ALL = ("0.0.0.0", "::")  # addresses that stand for all of this machine
ELSEWHERE = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}  # of no machine: for documentation
PING_SECONDS = 20.0
BACKLOG = 2048  # connections that wait to be accepted: beyond it, guests wait for a second
MAX_BYTES = 2**20  # of a certificate's or a key's file
NEEDED = ("starlette", "uvicorn", "websockets")


def make_context(cert: str, key: str) -> ssl.SSLContext:
    """Return what TLS needs of a server.

    Raise a `FractalsError` if a file can't be read or has other content, or if the key is not that
    of the certificate.
    """
    for kind, path, mark in (
        ("certificate", cert, b"CERTIFICATE-----"),
        ("private key", key, b"PRIVATE KEY-----"),
    ):
        if mark not in _content(kind, path):
            raise FractalsError(f"'{shown(path)}' holds no {kind} in PEM format")

    def refuse() -> str:  # OpenSSL would ask at the terminal, and the server would hang
        raise OptionError(f"the key '{shown(key)}' is encrypted: give one without a passphrase")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # at least TLS 1.2
    try:
        context.load_cert_chain(cert, key, refuse)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            reason = "the key is not that of the certificate"
        else:
            reason = f"a file is damaged ({error.reason or error})"
        raise FractalsError(f"cert='{shown(cert)}', key='{shown(key)}': {reason}") from None
    return context


def _content(kind: str, path: str) -> bytes:
    try:
        with open_to_read(path) as file:
            return file.read(MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FractalsError(f"the {kind} '{shown(path)}' can't be read: {reason}") from None


@dataclass(repr=False)
class Running:
    """A server that listens, as returned by `fractals.explore`.

    Attributes
    ----------
    explorer : Explorer
        The application, with its `options`.
    port : int
        The port that listens.
    url : str
        Address of the page; `invitation` returns one that opens it.
    """

    explorer: "Explorer"
    door: "Door"
    tls: "ssl.SSLContext | None" = None
    sockets: list[socket.socket] = field(default_factory=list)
    port: int = 0
    server: "uvicorn.Server | None" = None
    _closed: bool = False

    def __repr__(self) -> str:
        return f"Running({self.url})"

    @classmethod
    def listen(cls, explorer: "Explorer") -> "Running":
        """Bind the address of its options.

        It is refused where it is in use, or not one of this machine; where a file of TLS can't be
        used; and where the process may not have as many open files as the clients need.
        """
        from fractals.explorer.door import Door

        options = explorer.options
        host, port, uds = options.address, options.port, options.uds
        usual = explorer.gate.visitors.port()
        tls = make_context(options.cert, options.key) if options.cert and options.key else None
        running = cls(explorer, Door(options.pages), tls)
        try:
            running.sockets = [_unix_socket(uds)] if uds else _bound(host, port, usual)
            running.port = (port or 8000) if uds else running.sockets[0].getsockname()[1]
        except OSError as error:
            where = uds or f"{host}:{port}"
            raise FractalsError(f"can't listen at {where}: {error.strerror or error}") from None
        hosts = [*LOCAL, *options.allow_hosts]
        if host not in LOCAL:
            host = own_address(host)
            hosts.append(f"[{host}]" if ":" in host else host)
        scope = f"{host} {uds or ''} {options.read_only}{' class' * options.classroom}"
        explorer.gate.serve_at(hosts, running.port, scope)
        if explorer.classroom:
            explorer.classroom.address = running.url
        return running

    @property
    def url(self) -> str:
        """Return the address of the page, without a token."""
        options = self.explorer.options
        scheme = "https" if options.cert else "http"
        host = "127.0.0.1" if options.local else options.address
        if host in ALL:
            host = options.allow_hosts[0] if options.allow_hosts else own_address(host)
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def invitation(self) -> str:
        """Return an address that opens the page once."""
        return self.url + self.explorer.gate.invitation()

    def serve(self) -> None:
        """Serve until `close`, or Ctrl-C."""
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol

        from fractals.explorer import protocol
        from fractals.explorer.door import Visit

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
            timeout_keep_alive=20,
            timeout_graceful_shutdown=1,
            server_header=False,
            proxy_headers=False,
        )
        server = self.server = uvicorn.Server(config)
        server.should_exit = self._closed

        def speaker(visit: Visit) -> H11Protocol:
            return H11Protocol(config, server.server_state, {"visit": visit})

        async def accept() -> None:
            while not server.started:
                await asyncio.sleep(0.01)
            await self.door.serve(self.sockets, speaker, self.tls)

        async def serve() -> None:
            accepting = asyncio.create_task(accept())
            try:
                await server.serve(sockets=[])  # uvicorn itself accepts nothing
            finally:
                accepting.cancel()

        try:
            asyncio.run(serve())
        finally:
            for each in self.sockets:
                each.close()
            if uds := self.explorer.options.uds:
                Path(uds).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop serving."""
        self._closed = True
        if self.server:
            self.server.should_exit = True


def own_address(host: str) -> str:
    """Return the address at which others reach a server that listens at `host`."""
    if host not in ALL:
        return host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as made, contextlib.suppress(OSError):
        made.connect((ELSEWHERE[host], 9))  # finds the way there, and sends nothing
        return str(made.getsockname()[0])
    return socket.gethostname()


def _bound(host: str, port: int, usual: int) -> list[socket.socket]:
    """Return listening sockets: one, or at "localhost" one at 127.0.0.1 and one at ::1.

    `usual`: the port that is taken for 0, if it is free.
    """
    name = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in name else socket.AF_INET

    def at(port: int) -> socket.socket:
        return socket.create_server((name, port), family=family, backlog=BACKLOG)

    try:
        first = at(port or usual)
    except OSError:
        if port:
            raise
        first = at(0)
    found = [first]
    if host == "localhost":
        with contextlib.suppress(OSError):  # no IPv6, or another program has the port there
            port = first.getsockname()[1]
            found.append(
                socket.create_server(("::1", port), family=socket.AF_INET6, backlog=BACKLOG)
            )
    return found


def _unix_socket(path: str) -> socket.socket:
    """Return a listening Unix socket that only its owner may open."""
    if not hasattr(socket, "AF_UNIX"):
        raise OptionError("uds=: this system has no Unix sockets: give port=")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(path)
    os.chmod(path, 0o600)  # before it listens: until then nobody can connect
    made.listen(BACKLOG)
    return made


def start(scene: Scene, options: ExploreOptions) -> Running:
    """Return a server that listens; call its `serve`."""
    import platformdirs

    from fractals.explorer.application import Explorer
    from fractals.explorer.bookmarks import bookmarks_folder
    from fractals.explorer.gate import state_folder

    cache = Path(platformdirs.user_cache_dir("fractals", False)) / "thumbnails"
    data = bookmarks_folder() if options.keeps else None
    return Running.listen(Explorer(scene, options, data, cache, state_folder()))


# The terminal: Enter prints another address.


MORE = "Enter prints another address; 'out' and Enter shuts all visitors out"
QUIET = 2  # modules of light around a code


def watch_terminal(running: Running, tell: Callable[[str], None]) -> None:
    """Print another address whenever the user presses Enter, in a thread."""

    def watch() -> None:
        while line := _line():
            if line.strip() == "out":
                running.explorer.shut_out()
                tell("all visitors are shut out")
            page = running.invitation()
            tell(f"exploring at {page} (the address opens once)")
            print_code(running, page, tell)

    threading.Thread(target=watch, name="fractals-terminal", daemon=True).start()


def print_code(
    running: Running, page: str, tell: Callable[[str], None] = lambda line: None
) -> None:
    """Print an address for the camera of a phone, or tell why a phone does not reach it."""
    options = running.explorer.options
    if options.local and not options.allow_hosts:
        tell(
            "a phone does not reach this address: fractals explore --host 0.0.0.0 lets the network "
            "in"
        )
    elif code := qr_code(page):
        sys.stderr.write(code)
        sys.stderr.flush()


def _tell_of_class(running: Running, tell: Callable[[str], None]) -> None:
    """Tell where guests come in."""
    room = running.explorer.classroom
    assert room
    tell(f"guests open {room.address} and type the code {room.code}")
    if running.explorer.options.local:
        tell("only this machine reaches the class: leave out host= to let the local network in")


def qr_code(text: str) -> str:
    """Return a QR code for a terminal, black on white; "" without segno, of the extra explore."""
    try:
        import segno
    except ImportError:
        return ""
    rows = [list(row) for row in segno.make(text, error="l").matrix_iter(border=QUIET)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    halves = {(0, 0): " ", (0, 1): "▄", (1, 0): "▀", (1, 1): "█"}
    lines = []
    for above, below in zip(rows[::2], rows[1::2], strict=True):
        line = "".join(halves[int(a), int(b)] for a, b in zip(above, below, strict=True))
        lines.append(f"\x1b[30;107m{line}\x1b[0m\n")
    return "".join(lines)


def _line() -> str:
    """Wait for a line of the terminal; "" at its end.

    Python's buffer of stdin would be locked when the program ends. A program in the background must
    not read, because the system would stop it.
    """
    with contextlib.suppress(OSError, ValueError):  # the terminal was closed
        descriptor = sys.stdin.fileno()
        if os.name == "posix":
            select.select([descriptor], [], [])
            while os.tcgetpgrp(descriptor) != os.getpgrp():
                time.sleep(1.0)
                select.select([descriptor], [], [])
        return os.read(descriptor, 1024).decode("utf-8", "replace")
    return ""


def _has_terminal() -> bool:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return sys.stdin.isatty() and sys.stderr.isatty()
    return False


def open_browser(address: str) -> None:
    """Open an address in the user's browser, once the server answers."""
    timer = threading.Timer(0.3, lambda: webbrowser.open(address))
    timer.daemon = True
    timer.start()


def check_extra() -> None:
    """Raise a `FractalsError` where the extra `explore` is not installed."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise FractalsError(f"the explorer requires {', '.join(missing)}: {to_install('explore')}")


@with_keywords(ExploreKeywords, ExploreOptions)
def explore(*sources: Source, **keywords: Unpack[ExploreKeywords]) -> Running:
    """Start the explorer, and open its page in the browser.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        The scene that is shown first: gallery names, files, tables and scenes, merged.
    **keywords
        Keys of the scene, such as ``palette``.

    Returns
    -------
    Running
        With ``url``, ``invitation()`` (an address that opens the page once) and ``close()``.

    Raises
    ------
    FractalsError
        The extra `explore` is not installed, or the address is in use.
    OptionError, SceneError, DeviceError
        An argument or a source is invalid, or the device is missing.
    """
    check_extra()
    keys, options = split_keywords(keywords, ExploreKeywords, ExploreOptions)
    scene = load_scene(*sources, formulas=options.formulas, lossy=options.lossy, **keys)
    scene.to_table()  # raises for a formula without a name, which no page could share
    if options.gallery is None:
        options = options.replace(gallery=not (sources or keys))
    running = start(scene, options)
    tell = options.on_message
    if not options.local and not options.cert:
        instead = ", or keep 127.0.0.1 and forward the port (ssh -L)" * (not options.classroom)
        tell(
            f"{options.address}: others on the network can read plain HTTP: give cert= and key="
            f"{instead}"
        )
    page = running.invitation()
    tell(f"exploring at {page} (the address opens once)")
    if options.classroom:
        _tell_of_class(running, tell)
    if options.browser:
        open_browser(page)
    if options.block:
        if _has_terminal():
            room = running.explorer.classroom
            if not (room and options.local):
                print_code(running, room.invitation if room else page, tell)
            tell(MORE)
            watch_terminal(running, tell)
        running.serve()
    else:
        threading.Thread(target=running.serve, name="fractals-server", daemon=True).start()
    return running

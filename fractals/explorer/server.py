"""Starts the explorer: its address, the server, and the browser.

The packages of the extra `explore` are imported when a server is started.
"""

import asyncio
import contextlib
import importlib.util
import os
import socket
import ssl
import threading
import warnings
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fractals.errors import FractalsError, OptionError, shown
from fractals.io.load import Source, load_scene
from fractals.rendering.options import RenderOptions, split_keywords, with_keywords
from fractals.scene.keywords import ExploreKeywords

# The certificate of a server, and its key.


MAX_BYTES = 2**20  # of a file


def make_context(cert: str, key: str) -> ssl.SSLContext:
    """Return what TLS needs of a server.

    Raises
    ------
    FractalsError
        A file can't be read, has other content, or the key is not that of the certificate.
    """
    for option, path, mark in (
        ("--cert", cert, b"CERTIFICATE-----"),
        ("--key", key, b"PRIVATE KEY-----"),
    ):
        if mark not in _content(option, path):
            wanted = "certificate" if option == "--cert" else "private key"
            raise FractalsError(f"{option}: '{shown(path)}' holds no {wanted} in PEM format")

    def refuse() -> str:  # OpenSSL would ask at the terminal, and the server would hang
        raise OptionError(f"--key: '{shown(key)}' is encrypted: give a key without a passphrase")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # at least TLS 1.2
    try:
        context.load_cert_chain(cert, key, refuse)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            reason = "the key is not that of the certificate"
        else:
            reason = f"a file is damaged ({error.reason or error})"
        raise FractalsError(f"--cert '{shown(cert)}', --key '{shown(key)}': {reason}") from None
    return context


def _content(option: str, path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FractalsError(f"{option}: '{shown(path)}' can't be read: {reason}") from None


if TYPE_CHECKING:
    import ssl

    import uvicorn

    from fractals.explorer.application import Explorer
    from fractals.explorer.door import Door
    from fractals.explorer.session import ServerPolicy

LOCAL = ("127.0.0.1", "localhost", "[::1]")
PING_SECONDS = 20.0
BACKLOG = 2048  # connections that wait to be accepted: beyond it, guests wait for a second


@dataclass(frozen=True)
class Address:
    """Where a server listens."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: a free one. With `uds`, the port under which the browser reaches the socket.
    uds: str | None = None  # path of a Unix socket, in place of host and port
    # cert, key: files of a certificate and its key, for HTTPS
    cert: str | None = None
    key: str | None = None
    allowed: tuple[str, ...] = ()  # more names under which a browser may reach the server

    @property
    def local(self) -> bool:
        """Tell whether only this machine reaches the server."""
        return bool(self.uds) or self.host in ("127.0.0.1", "::1", "localhost")


@dataclass
class Running:
    """A server that listens, as returned by `fractals.explore`.

    Attributes
    ----------
    explorer : Explorer
        The application.
    address : Address
    port : int
        The port that listens.
    url : str
        Address of the page; `invitation` returns one that opens it.
    """

    explorer: "Explorer"
    address: Address
    door: "Door"
    tls: "ssl.SSLContext | None" = None
    sockets: list[socket.socket] = field(default_factory=list)
    port: int = 0
    server: "uvicorn.Server | None" = None
    _closed: bool = False

    @classmethod
    def listen(cls, explorer: "Explorer", address: Address) -> "Running":
        """Bind the address.

        Raises
        ------
        FractalsError
            The address is in use, or not one of this machine; a file of TLS can't be used.
        OptionError
            The process may not have as many open files as the clients need.
        """
        from fractals.explorer.door import Door

        pass  # MERGED

        tls = make_context(address.cert, address.key) if address.cert and address.key else None
        running = cls(explorer, address, Door(explorer.terms.clients), tls)
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
            if self.address.uds:
                Path(self.address.uds).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop serving."""
        self._closed = True
        if self.server:
            self.server.should_exit = True


def _bound(address: Address) -> list[socket.socket]:
    """Return listening sockets: one, or at "localhost" one at 127.0.0.1 and one at ::1."""
    name = "127.0.0.1" if address.host == "localhost" else address.host
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    first = socket.create_server((name, address.port), family=family, backlog=BACKLOG)
    found = [first]
    if address.host == "localhost":
        with contextlib.suppress(OSError):  # no IPv6, or another program has the port there
            port = first.getsockname()[1]
            found.append(
                socket.create_server(("::1", port), family=socket.AF_INET6, backlog=BACKLOG)
            )
    return found


def _unix_socket(path: str) -> socket.socket:
    """Return a listening Unix socket that only its owner may open."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(path)
    os.chmod(path, 0o600)  # before it listens: until then nobody can connect
    made.listen(BACKLOG)
    return made


def start(
    terms: "ServerPolicy",
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

    from fractals.explorer.application import Explorer
    from fractals.explorer.bookmarks import folder as bookmarks_folder

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


# `fractals.explore`: the explorer from Python. The server is imported when it is called.


NEEDED = ("starlette", "uvicorn", "websockets")
INSTALL = "pip install 'fractals-numba[explore]'"
LIMITS = {"port": (0, 65_535), "memory": (1, 2**20), "clients": (1, 1000)}


@dataclass(frozen=True)
class ExploreOptions:
    """How the explorer is served: see `explore`.

    Raises
    ------
    OptionError
        An option has a bad value.
    """

    device: str = "auto"
    threads: int | None = None
    host: str = "127.0.0.1"
    port: int = 0
    browser: bool = True
    block: bool = True
    uds: str | None = None
    cert: str | None = None
    key: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    memory: int = 1024
    clients: int = 16
    gallery: bool | None = None
    on_message: Callable[[str], None] = warnings.warn

    def __post_init__(self) -> None:
        RenderOptions(self.device, self.threads, on_message=self.on_message)
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise OptionError(
                    f"{name} {shown(value, 20)}: give a whole number from {least} to {most}"
                )


@with_keywords(ExploreKeywords, ExploreOptions)
def explore(*sources: Source, **keywords: Unpack[ExploreKeywords]) -> Running:
    """Start the explorer, and open its page in the browser.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        The scene that is shown first, as of `fractals.load_scene`.
    device, threads
        As of `fractals.render`.
    host, port : str, int
        Where the server listens; port 0 is a free one. Other machines reach the server only if
        `host` names one of this machine's addresses, or "0.0.0.0".
    browser : bool
        False: no browser is opened; `on_message` receives the address.
    block : bool
        False: the server runs in a thread, and the call returns at once; ``close()`` ends it.
    uds : str, optional
        Path of a Unix socket, in place of host and port.
    cert, key : str, optional
        Files of a certificate and its key, for HTTPS.
    allow_hosts : tuple of str
        More names under which browsers reach the server, such as that of a proxy.
    read_only : bool
        True: visitors upload, export and keep nothing on the server.
    memory : int
        MiB of raw numbers that are kept for recoloring, for all clients together.
    clients : int
        Most pages that are connected at once.
    gallery : bool, optional
        Whether the page starts with the gallery; by default, if no source and no key is given.
    on_message : callable
        Called with lines such as the address; `warnings.warn` by default.
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
        As of `fractals.render`.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise FractalsError(f"the explorer requires {', '.join(missing)}: {INSTALL}")
    keys, given = split_keywords(keywords, ExploreKeywords, ExploreOptions)
    options = ExploreOptions(**given)
    from fractals.explorer.session import ServerPolicy

    scene = load_scene(*sources, **keys)
    scene.to_table()  # raises for a formula without a name, which no page could share
    address = Address(
        options.host,
        options.port,
        options.uds,
        options.cert,
        options.key,
        tuple(options.allow_hosts),
    )
    terms = ServerPolicy(
        scene,
        options.read_only,
        address.local,
        options.memory * 2**20,
        options.clients,
        gallery=not (sources or keys) if options.gallery is None else options.gallery,
    )
    running = start(terms, options.device, options.threads, address)
    tell = options.on_message
    if not address.local and not address.cert:
        tell(
            f"{address.host}: others on the network can read plain HTTP: give --cert and --key, "
            "or keep 127.0.0.1 and forward the port (ssh -L)"
        )
    page = running.invitation()
    tell(f"exploring at {page} (the address opens once)")
    if options.browser:
        open_browser(page)
    if options.block:
        running.serve()
    else:
        threading.Thread(target=running.serve, name="fractals-server", daemon=True).start()
    return running

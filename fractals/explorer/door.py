"""The door of the explorer: it accepts a bounded number of connections.

A connection is a stranger's until it has sent a request that passes the gate. It has to send a
whole request within some seconds. Where there are too many connections, a stranger's is ended for
each new one: the oldest of the address that holds most of them. So a guest's connection always
finds room, because its request follows at once.
"""

import asyncio
import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fractals.errors import OptionError
from fractals.explorer.scheduler import print_line

REQUEST_SECONDS = 10.0  # from accepting a connection to the end of its first request's headers
IDLE_SECONDS = 20.0  # from a guest's answer to the end of its next request's headers
WATCH_SECONDS = 1.0  # between two looks for connections whose time is over
PER_CLIENT = 8  # connections of a page: a WebSocket, and the 6 that a browser opens to one server
OTHERS = 64  # connections besides these
SPARE = 16  # least connections besides the WebSockets of all clients
AT_ONCE = 8  # connections that are accepted before others are served
RESERVED = 48  # descriptors of other files: caches, pipes of searches and exports


@dataclass(eq=False)
class Visit:
    """A connection."""

    socket: socket.socket
    address: str  # of the other side; empty at a Unix socket
    until: float  # the event loop's time at which it ends, unless a guest's request comes before
    guest: bool = False  # whether it has sent a request that passed the gate
    busy: bool = False  # whether a guest's request is being answered
    ended: bool = False
    transport: Any = None  # None until TLS has shaken hands

    @property
    def open(self) -> bool:
        """Tell whether the connection still has its descriptor."""
        return self.socket.fileno() >= 0

    def overdue(self, now: float) -> bool:
        """Tell whether its time is over; a guest may take long to receive an answer."""
        unsent = self.guest and self.transport and self.transport.get_write_buffer_size() > 0
        return now > self.until and not self.busy and not unsent

    def end(self) -> None:
        """End the connection at once."""
        self.ended = True
        if self.transport:
            self.transport.abort()
        else:
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Answer a guest's request."""
        self.guest = self.busy = True
        try:
            yield
        finally:
            self.busy = False
            self.until = asyncio.get_running_loop().time() + IDLE_SECONDS


class Door:
    """Accepts connections up to a limit that grows with `clients`; ends those that are overdue."""

    def __init__(self, clients: int) -> None:
        self.most = most_connections(clients)
        self.visits: list[Visit] = []
        self._handshakes: set[asyncio.Task[None]] = set()
        self._told = False

    async def serve(
        self,
        sockets: Iterable[socket.socket],
        protocol: Callable[[Visit], asyncio.Protocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        """Accept connections at listening sockets until the task is cancelled.

        `protocol` returns what speaks HTTP at a connection.
        """
        try:
            await asyncio.gather(self._watch(), *(self._accept(s, protocol, tls) for s in sockets))
        finally:
            for visit in self.visits:
                visit.end()

    async def _accept(
        self,
        listening: socket.socket,
        protocol: Callable[[Visit], asyncio.Protocol],
        tls: ssl.SSLContext | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        accepted = 0
        while True:
            try:
                made, address = await loop.sock_accept(listening)
            except OSError as error:  # no descriptor, or the other side has left already
                if not isinstance(error, ConnectionError):
                    self._tell(error)
                    await asyncio.sleep(WATCH_SECONDS)
                continue
            if self._makes_room():
                host = address[0] if isinstance(address, tuple) else ""
                visit = Visit(made, host, loop.time() + REQUEST_SECONDS)
                self.visits.append(visit)
                task = asyncio.create_task(_handshake(visit, protocol, tls))
                self._handshakes.add(task)
                task.add_done_callback(self._handshakes.discard)
            else:
                made.close()
            accepted += 1
            if accepted % AT_ONCE == 0:
                await asyncio.sleep(0)  # requests are answered while a flood comes in

    def _tell(self, error: OSError) -> None:
        if not self._told:
            print_line(f"connections can't be accepted for now: {error.strerror or error}")
            self._told = True

    def _makes_room(self) -> bool:
        """End a connection where another would be too many; tell whether there is room."""
        self.visits = [visit for visit in self.visits if visit.open]
        if len(self.visits) < self.most:
            return True
        idle = [visit for visit in self.visits if not (visit.busy or visit.ended)]
        if strangers := [visit for visit in idle if not visit.guest]:
            held = Counter(visit.address for visit in strangers)
            most = max(held.values())
            idle = [visit for visit in strangers if held[visit.address] == most]
        if idle:
            idle[0].end()
        return bool(idle)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            now = asyncio.get_running_loop().time()
            self.visits = [visit for visit in self.visits if visit.open]
            for visit in self.visits:
                if visit.overdue(now):
                    visit.end()


async def _handshake(
    visit: Visit,
    protocol: Callable[[Visit], asyncio.Protocol],
    tls: ssl.SSLContext | None,
) -> None:
    """Have a connection served, after TLS has shaken hands."""
    if visit.address:
        # Otherwise the body of a small answer waits 40 ms for the other side to have its head.
        # asyncio sets this only where a socket was made with the number of its protocol.
        with contextlib.suppress(OSError):  # the other side has left
            visit.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):  # bytes that are no TLS, or none in time
        visit.transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
            lambda: protocol(visit),
            visit.socket,
            ssl=tls,
            ssl_handshake_timeout=REQUEST_SECONDS if tls else None,
        )


def most_connections(clients: int) -> int:
    """Return the number of connections that are accepted at once, for `clients` pages.

    Raise an `OptionError` if the process may not have as many open files.
    """
    wanted = PER_CLIENT * clients + OTHERS
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    least = clients + SPARE + RESERVED
    if files < least:
        raise OptionError(
            f"{clients} clients require {least} open files, and {files} are the limit here: "
            f"raise it with 'ulimit -n {least}', or give fewer clients="
        )
    return min(wanted, files - RESERVED)

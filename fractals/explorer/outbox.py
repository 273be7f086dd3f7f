"""What waits to be sent to one client: bounded, and without tiles of views that were given up."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

WINDOW = 2**20  # bytes under way, beyond which nothing more is drawn for the client
MAX_BYTES = 2**25  # beyond it, or MAX_COUNT messages, the client is cut off: it reads nothing
MAX_COUNT = 2000


class Waiting(NamedTuple):
    """A message, and the frame and paint that a tile belongs to (0: it is never dropped)."""

    content: str | bytes
    frame: int = 0
    paint: int = 0


class Outbox:
    """Messages for one client: put by any thread, and taken in the event loop.

    Attributes
    ----------
    on_room : callable
        Called when there is room again.
    overfull : bool
        Whether the client reads so little that it is cut off.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_room: Callable[[], None]) -> None:
        self.on_room, self.overfull = on_room, False
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
                self.overfull = True
            else:
                self._messages.append(Waiting(content, frame, paint))
                self._bytes += len(content)
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:  # the server has ended
            self.overfull = True

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
        """Wait for the next message; call `sent` when it was sent."""
        while not self._messages and not self.overfull:
            self._arrived.clear()
            if not self._messages and not self.overfull:
                await self._arrived.wait()
        with self._lock:
            if self.overfull or not self._messages:
                raise ConnectionError("the client reads nothing")
            return self._messages.popleft().content

    def sent(self, content: str | bytes) -> None:
        """Free the room of a message that was sent."""
        with self._lock:
            was_full = self.full
            self._bytes -= len(content)
        if was_full and not self.full:
            self.on_room()

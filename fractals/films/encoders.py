"""Several encoders at once, which write the segments of a film."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from fractions import Fraction
from functools import partial
from typing import Any

from fractals.films.encode import Encoder, Tell, Video
from fractals.films.planes import Frame
from fractals.films.work import Work
from fractals.threads import core_count

AHEAD = 96 * 2**20  # bytes of frames that wait for encoders, together
ENDING = 5.0  # seconds in which encoders end after Ctrl-C or an error


class Encoders:
    """Encodes segments, several at once: what waits for one encoder does not stop the next.

    Each encoder has one thread, so that its bytes do not depend on the machine.

    Parameters
    ----------
    size : tuple of int
        Width and height of a frame.
    fps : float
    video : Video
    work : Work
        Where segments are kept.
    threads : int, optional
        By default one for each core; half of them encode.
    ending : float
        Seconds in which encoders end after Ctrl-C or an error.
    tell : callable, optional
        Called with a message if an encoder takes no frame for long.
    """

    def __init__(
        self,
        size: tuple[int, int],
        fps: float,
        video: Video,
        work: Work,
        threads: int | None = None,
        ending: float = ENDING,
        tell: Tell | None = None,
    ) -> None:
        self._tell = tell
        self._size, self._video, self._work = size, video, work
        self._fps = Fraction(fps).limit_denominator(1001)
        # Encoders besides the one that gets frames.
        self._most = max(1, (threads or core_count()) // 2)
        self._seconds = ending
        self._threads = ThreadPoolExecutor(self._most)
        self._ending: deque[tuple[Encoder, Future[None]]] = deque()

    def __enter__(self) -> "Encoders":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._wait(0)
        finally:
            # They have all frames of their segments: what they soon finish is kept.
            wait([future for _, future in self._ending], self._seconds)
            for encoder, future in self._ending:
                if not future.done():
                    encoder.kill()
            self._threads.shutdown()

    def _wait(self, most: int) -> None:
        """Wait until at most this many encoders are ending."""
        while len(self._ending) > most:
            self._ending[0][1].result()
            self._ending.popleft()

    def encode(self, first: int, frames: Iterator[Frame]) -> None:
        """Encode the frames of a segment."""
        self._wait(self._most)
        ahead = AHEAD // (self._most + 1)
        draft = self._work.draft(first)
        encoder = Encoder(draft, self._video, self._size, self._fps, ahead, self._tell)
        try:
            for frame in frames:
                encoder.write(frame)
        except BaseException:
            encoder.kill()
            raise
        self._ending.append((encoder, self._threads.submit(partial(self._end, encoder, first))))

    def _end(self, encoder: Encoder, first: int) -> None:
        encoder.close()
        self._work.keep(first)

"""Lanes: where a thread's work on a GPU goes. Each has a stream, and memory that is used again.

Two threads a GPU, a lane each, keep it busy: while the tile of one is copied to the host and
encoded, that of the other is computed. Work in a lane is done in the order it was given, so memory
that Python has let go of may be handed out again at once, though the GPU still works on it.
Allocating anew would make the GPU wait each time.
"""

import itertools
import threading
import weakref

import numpy as np

LANES_A_GPU = 2
_bound = threading.local()


class Lane:
    """A stream of a GPU, and the memory of those who use it, one after the other."""

    def __init__(self, cuda, index):
        self.index = index
        self.stream = cuda.stream()
        self._cuda = cuda
        self._free = {}  # shape and type -> device arrays that nobody uses
        self._staging = None

    def empty(self, shape, dtype):
        """Return an uninitialised device array, which is used again once it is let go."""
        free = self._free.setdefault((shape, np.dtype(dtype)), [])
        whole = free.pop() if free else self._cuda.device_array(shape, dtype, stream=self.stream)
        lent = whole.reshape(*shape)
        weakref.finalize(lent, free.append, whole).atexit = False
        return lent

    def staging(self, shape, dtype):
        """Return a page-locked host array, valid until the next call: copies to others wait."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self._staging is None or self._staging.size < size:
            self._staging = self._cuda.pinned_array(max(size, 1), dtype=np.uint8)
        return self._staging[:size].view(dtype).reshape(shape)


class Lanes:
    """The lanes of one GPU or several; a thread takes one with its first use, until it ends."""

    def __init__(self, cuda, indices):
        self._cuda = cuda
        self._turns = itertools.cycle(indices)
        self._free = []
        self._lock = threading.Lock()
        self._taken = threading.local()

    def here(self):
        """Return the lane of the calling thread."""
        if not hasattr(self._taken, "hold"):
            with self._lock:
                lane = self._free.pop() if self._free else None
                index = lane.index if lane else next(self._turns)
            self._bind(index)
            self._taken.hold = _Hold(lane or Lane(self._cuda, index), self._free)
        lane = self._taken.hold.lane
        self._bind(lane.index)
        return lane

    def _bind(self, index):
        """Have the calling thread use this GPU, if it used another since, for other lanes."""
        if getattr(_bound, "to", None) != (self._cuda, index):
            self._cuda.select_device(index)
            _bound.to = self._cuda, index


class _Hold:
    """Dies with its thread, and gives the lane back."""

    def __init__(self, lane, free):
        self.lane = lane
        weakref.finalize(self, free.append, lane).atexit = False


class Everywhere:
    """An array that each GPU has a copy of, made when a thread of it first needs it."""

    def __init__(self, array):
        self._host = np.array(array)
        self._copies = {}
        self._lock = threading.Lock()

    def on(self, cuda, lane):
        """Return the copy on a lane's GPU."""
        with self._lock:
            if lane.index not in self._copies:
                self._copies[lane.index] = cuda.to_device(self._host, stream=lane.stream)
                lane.stream.synchronize()  # other lanes may use it now
            return self._copies[lane.index]

"""Where a thread's work on a GPU goes: a stream, and device memory that is used again.

Two threads a GPU, a stream each, keep it busy: while the tile of one is copied to the host and
encoded, that of the other is computed. A stream does its work in the order in which it was given,
so a device array that Python has freed can be reused at once, even if the GPU still works on it.
Freed arrays are pooled, because cudaMalloc would synchronise with the GPU.
"""

import itertools
import threading
import weakref

import numpy as np

STREAMS_PER_GPU = 2
_bound = threading.local()


class StreamSlot:
    """A stream of a GPU, and the memory of the threads that use it, one after the other."""

    def __init__(self, cuda, index):
        self.index = index
        self.stream = cuda.stream()
        self._cuda = cuda
        self._free = {}  # shape and type -> device arrays that nobody uses
        self._staging = None

    def empty(self, shape, dtype):
        """Return an uninitialised device array, which goes back to the pool once it is freed."""
        free = self._free.setdefault((shape, np.dtype(dtype)), [])
        whole = free.pop() if free else self._cuda.device_array(shape, dtype, stream=self.stream)
        lent = whole.reshape(*shape)
        weakref.finalize(lent, free.append, whole).atexit = False
        return lent

    def staging(self, shape, dtype):
        """Return a page-locked host array, valid until the next call.

        A copy to any other array keeps the calling thread waiting.
        """
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self._staging is None or self._staging.size < size:
            self._staging = self._cuda.pinned_array(max(size, 1), dtype=np.uint8)
        return self._staging[:size].view(dtype).reshape(shape)


class StreamPool:
    """The slots of one GPU or several; a thread takes a slot at its first use, until it ends."""

    def __init__(self, cuda, indices):
        self._cuda = cuda
        self._next_index = itertools.cycle(indices)
        self._free = []
        self._lock = threading.Lock()
        self._taken = threading.local()

    def here(self):
        """Return the slot of the calling thread."""
        if not hasattr(self._taken, "hold"):
            with self._lock:
                slot = self._free.pop() if self._free else None
                index = slot.index if slot else next(self._next_index)
            self._bind(index)
            self._taken.hold = _Hold(slot or StreamSlot(self._cuda, index), self._free)
        slot = self._taken.hold.slot
        self._bind(slot.index)
        return slot

    def _bind(self, index):
        """Make a GPU the current one of the calling thread, which another pool may have changed."""
        if getattr(_bound, "to", None) != (self._cuda, index):
            self._cuda.select_device(index)
            _bound.to = self._cuda, index


class _Hold:
    """Ends with its thread, and then gives the slot back to the pool."""

    def __init__(self, slot, free):
        self.slot = slot
        weakref.finalize(self, free.append, slot).atexit = False


class ReplicatedArray:
    """An array with a copy on each GPU, made when a thread of that GPU first needs it."""

    def __init__(self, array):
        self._host = np.array(array)
        self._copies = {}
        self._lock = threading.Lock()

    def on(self, cuda, slot):
        """Return the copy on a slot's GPU."""
        with self._lock:
            if slot.index not in self._copies:
                self._copies[slot.index] = cuda.to_device(self._host, stream=slot.stream)
                slot.stream.synchronize()  # other streams may read the copy from now on
            return self._copies[slot.index]

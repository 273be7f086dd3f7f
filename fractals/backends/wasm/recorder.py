"""A backend that runs nothing: it records which programs a tile calls, with which arguments.

What it has recorded of one tile is a `Recording`: WebAssembly, a picture of the memory that its
programs read, and the cells of each call. Whoever replays the calls in that memory draws the tile,
and knows nothing of layers or formulas.
"""

import functools
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends import code_cache
from fractals.backends.base import HostMemory
from fractals.backends.compilation import with_room
from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.machine_code import Laid, Layout, Program, Uncompilable, layout_of
from fractals.backends.wasm.module import module_of

ALIGNED = 16  # bytes of a vector, at which arrays begin
STACK = 2**18  # bytes

Call = tuple[int, tuple[Any, ...]]  # the number of a program, and its arguments


@dataclass
class Recording:
    """How a tile is drawn.

    `module`: WebAssembly of the programs. `stack`: the address behind its stack. `size`: the bytes
    of its memory. `data`: addresses and bytes of what stands there first; the rest is 0. `calls`:
    the number of each program that is called, and the address of its cells. `marks`: the addresses
    of cells that hold a number, for each of those that were asked for.
    """

    module: bytes
    stack: int
    size: int = 0
    data: list[tuple[int, bytes]] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)
    marks: list[list[int]] = field(default_factory=list)


class _Rooms(HostMemory):
    """Memory that is never used again, of which a recording knows that nothing stands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[NDArray[Any]] = []

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros."""
        self.made.append(np.zeros(shape, dtype))
        return self.made[-1]


class CallRecorder(CpuBackend):
    """Records the calls of programs; their texts are made for WebAssembly.

    A process has one, and the settings `fractals.backends.wasm.module.ENVIRONMENT`.
    """

    def __init__(self, number: str) -> None:
        super().__init__(number, 1)  # type: ignore[no-untyped-call]
        self.calls: list[Call] = []
        self.texts: list[str] = []
        self.scratch = self._rooms = _Rooms()
        self._places: dict[int, int] = {}

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array in which nothing stands."""
        return self._rooms.empty(shape, dtype)

    def program(
        self,
        make_body: Any,
        number: str,
        options: tuple[Any, ...] = (),
        loop: bool = False,
        checked: bool = False,
        packed: bool = False,
        long: bool = False,
    ) -> Program:
        """Return a program that is recorded where it is called; see `program_of`."""
        kinds = {"loop": loop, "checked": checked, "packed": packed, "long": long}
        texts = code_cache.program(_Texts, "wasm", make_body, number, options, *kinds.values())

        def number_of(layout: Layout) -> Any:
            found = texts.of(layout, make_body, number, options, kinds)
            if not found:
                raise Uncompilable("Numba has no SIMD form of it")
            self.texts.append(found)
            return len(self.texts) - 1

        return _Recorded(number_of, self.calls)

    def recording(self, calls: Sequence[Call], marked: Sequence[float]) -> Recording:
        """Return how calls are replayed.

        `marked`: numbers that stand for others, and are arguments of calls.
        """
        module, constants = module_of(self.texts)
        stack = _aligned(constants) + STACK
        made = Recording(module, stack, stack, marks=[[] for _ in marked])
        self._place([array for _, values in calls for array in _arrays_in(values)], made)
        for number, values in calls:
            cells = bytearray()
            for cell in self._cells(values):
                if not isinstance(cell, tuple) and cell in marked:
                    made.marks[marked.index(cell)].append(made.size + len(cells))
                kind = "d" if isinstance(cell, float) else "q"
                cells += struct.pack(f"<{kind}", cell)
            made.calls.append((number, made.size))
            made.data.append((made.size, bytes(cells)))
            made.size += _aligned(len(cells))
        return made

    def address(self, array: NDArray[Any]) -> int:
        """Return the address of an array of the last recording."""
        return self._places[array.ctypes.data]

    def _place(self, arrays: list[NDArray[Any]], made: Recording) -> None:
        """Give the arrays addresses behind the stack, in the order of their first use."""
        rooms = {room.ctypes.data for room in self._rooms.made}
        sizes: dict[int, int] = {}
        for array in arrays:
            assert array.flags.c_contiguous, "arrays have no gaps"
            sizes[array.ctypes.data] = max(array.nbytes, sizes.get(array.ctypes.data, 0))
        ends = [(begin, begin + size) for begin, size in sorted(sizes.items())]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(ends)), "arrays overlap"
        self._places = {}
        for array in arrays:
            begin = array.ctypes.data
            if begin not in self._places:
                self._places[begin] = made.size
                if begin not in rooms:
                    made.data.append((made.size, array.tobytes()))
                made.size += _aligned(sizes[begin])

    def _cells(self, values: tuple[Any, ...]) -> list[Any]:
        cells: list[Any] = []
        for value in values:
            if isinstance(value, np.ndarray):
                cells += [self._places[value.ctypes.data], *value.shape]
            elif isinstance(value, Laid):
                cells += self._cells(value.values)
            elif isinstance(value, tuple):
                cells += self._cells(value)
            else:
                real = isinstance(value, float | np.floating)
                cells.append(float(value) if real else int(value))
        return cells


class _Texts:
    """The texts of a program, one for each layout, from the disk or made by Numba."""

    def __init__(self, store: code_cache.Store | None) -> None:
        self._store = store

    def of(self, layout: Layout, make_body: Any, number: str, options: Any, kinds: Any) -> str:
        """Return LLVM's text for a layout; nothing where Numba can't make it."""
        key = f"{layout}"
        kept = self._store.load(key, zlib.decompress) if self._store else None
        if kept is not None:
            return kept.decode()
        from numba.core.errors import NumbaError

        from fractals.backends.cpu.target import text_of

        foreign = code_cache.is_foreign(make_body, *options)
        try:
            own = functools.partial(text_of, **kinds)
            text: str = with_room(own, make_body, number, options, layout, foreign)
        except NumbaError:
            if kinds["loop"]:  # a loop over elements, which any formula has
                raise
            text = ""
        if self._store:
            self._store.save(key, zlib.compress(text.encode()))
        return text


class _Recorded(Program):
    def __init__(self, number_of: Any, calls: list[Call]) -> None:
        super().__init__(number_of)
        self._calls_made = calls

    def __call__(self, *arguments: Any) -> None:
        self._calls_made.append((self._code(layout_of(arguments)), arguments))  # type: ignore[arg-type]


def _arrays_in(values: tuple[Any, ...]) -> list[NDArray[Any]]:
    found = []
    for value in values:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, Laid):
            found += _arrays_in(value.values)
        elif isinstance(value, tuple):
            found += _arrays_in(value)
    return found


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED

"""Access log of kernels in the simulator of CUDA: the memory lines that each warp touches.

A GPU moves global memory in lines of 128 bytes. Where the 32 threads of a warp use elements side by
side, one line serves them all (a coalesced access); where they are far apart, each thread needs a
line of its own.
"""

import contextlib
import linecache
import os
import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fractals.backends.cuda import kernel, simulator
from fractals.errors import FractalsError, OptionError, shown
from fractals.io.png import Pixels
from fractals.tools import sheet

# Divergence of warps, computed from the counts of a picture alone.
#
# A warp is 32 threads that take every step together. A thread that has finished waits for the
# warp's last one, so a warp takes as many steps as its longest orbit.


WARP = 32  # threads, on every CUDA GPU so far
MAX_THREADS = 1024  # of a block, on every CUDA GPU so far
BLOCKS = ((32, 1), (8, 4), (16, 16))  # threads in x and y
PALETTE = "ink"  # black where lanes wait, white where all are busy


class Divergence(NamedTuple):
    """How busy a picture keeps the lanes of warps, for one shape of block."""

    block: tuple[int, int]  # threads in x and y
    # Iterations of all samples, by the lanes' steps of all warps: 1 without divergence
    lanes_busy: float
    # The same for blocks, because a block keeps its place until its last thread ends
    slots_busy: float
    warp_steps: int  # steps of all warps together: what the GPU has to issue
    # `lanes_busy` of the warp of each sample; ndarray of float, shape (height, width)
    of_sample: NDArray[np.float64]

    def to_table(self) -> dict[str, Any]:
        """Return the facts without the map, for JSON."""
        return {
            "block": list(self.block),
            "lanes_busy": self.lanes_busy,
            "slots_busy": self.slots_busy,
            "warp_steps": self.warp_steps,
        }


def measure(count: ArrayLike, block: tuple[int, int]) -> Divergence:
    """Return the divergence of a kernel that computes one sample per thread.

    `count` (height, width) are the steps of each sample; threads outside the picture take none.
    `block` are the threads in x and y. They are numbered row by row, and each 32 of them are a
    warp.

    >>> count = [[10] * 31 + [1000]]        # one long orbit beside 31 short ones
    >>> round(measure(count, (32, 1)).lanes_busy, 3)
    0.041
    """
    counts = np.asarray(count, np.int64)
    across, down = block
    if not (across >= 1 <= down and across * down <= MAX_THREADS):
        raise OptionError(f"block {across}x{down}: a block has 1 to {MAX_THREADS} threads")
    if counts.ndim != 2 or not counts.size:
        raise OptionError("counts are an array of two dimensions, with one element at least")
    height, width = counts.shape
    rows, columns, spare = -(-height // down), -(-width // across), -(across * down) % WARP
    whole = np.zeros((rows * down, columns * across), np.int64)
    whole[:height, :width] = counts
    blocks = whole.reshape(rows, down, columns, across).swapaxes(1, 2).reshape(rows, columns, -1)
    lanes = np.pad(blocks, ((0, 0), (0, 0), (0, spare))).reshape(rows, columns, -1, WARP)
    longest = lanes.max(axis=-1)
    taken, issued = lanes.sum(), longest.sum()
    busy = lanes.sum(axis=-1) / np.maximum(WARP * longest, 1)
    of_lane = np.repeat(busy, WARP, axis=-1)[..., : across * down]
    of_sample = of_lane.reshape(rows, columns, down, across).swapaxes(1, 2).reshape(whole.shape)
    held = blocks.max(axis=-1).sum() * lanes.shape[2] * WARP
    return Divergence(
        (across, down),
        float(taken / max(WARP * issued, 1)),
        float(taken / max(held, 1)),
        int(issued),
        of_sample[:height, :width],
    )


def draw(found: Sequence[Divergence]) -> Pixels:
    """Return a picture (height, width, 3) of the maps side by side, each with its label.

    All lanes of a white warp are busy; those of a dark one wait for its longest orbit.
    """
    colors = sheet.turn(PALETTE, 256)
    cells = [
        sheet.Cell(
            f"{each.block[0]}x{each.block[1]}: {each.lanes_busy:.0%} of lanes busy",
            _fitted(colors[np.rint(255 * each.of_sample).astype(int)]),
        )
        for each in found
    ]
    return sheet.assemble(cells, columns=min(len(cells), 3))


def _fitted(pixels: Pixels) -> Pixels:
    """Return a picture as wide as a cell of a sheet; warps keep their sharp edges."""
    import PIL.Image

    height, width = pixels.shape[:2]
    size = sheet.WIDTH, max(1, round(height * sheet.WIDTH / width))
    return np.asarray(PIL.Image.fromarray(pixels).resize(size, PIL.Image.Resampling.NEAREST))


LINE = 128  # bytes: a GPU's caches hold memory in lines of this size


class AccessSite(NamedTuple):
    """An instruction of a kernel that loads or stores an element."""

    file: str
    line: int
    column: int
    end: tuple[int, int]  # line and column: tells several accesses on one line apart
    stored: bool


class Access(NamedTuple):
    """What the warps did at one place of a kernel."""

    place: AccessSite
    elements: int  # loads or stores of all threads
    steps: int  # times that a warp came here; each time up to 32 threads load or store at once
    used: int  # different bytes that the threads of a step asked for, summed over the steps
    lines: int  # different lines of 128 bytes that these bytes are in, summed over the steps

    @property
    def source(self) -> str:
        """The source line."""
        return linecache.getline(self.place.file, self.place.line).strip()

    @property
    def lines_per_step(self) -> float:
        """Lines that a warp touches at a time: 1 where 32 threads use float32 side by side."""
        return self.lines / self.steps

    @property
    def share_used(self) -> float:
        """Bytes used, by the bytes of the lines."""
        return self.used / (LINE * self.lines)

    def to_table(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return {
            "file": self.place.file,
            "line": self.place.line,
            "source": self.source,
            "access": "store" if self.place.stored else "load",
            "elements": self.elements,
            "warp_steps": self.steps,
            "lines": self.lines,
            "lines_per_step": self.lines_per_step,
            "share_used": self.share_used,
        }


class AccessLog:
    """Accesses to global memory of the kernels that run while `access_log` is open."""

    def __init__(self) -> None:
        # Block, thread, place, array, first byte and size of each access.
        self._log: list[tuple[tuple[int, int, int], int, AccessSite, int, int, int]] = []
        self._arrays: dict[int, NDArray[Any]] = {}  # kept, because a freed id is given out again

    def _observe(
        self,
        block: tuple[int, int, int],
        thread: int,
        frame: FrameType,
        stored: bool,
        element: NDArray[Any],
    ) -> None:
        position = simulator.position(frame.f_code, frame.f_lasti)
        place = AccessSite(frame.f_code.co_filename, *position, stored)
        memory = element
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        start = _address(element) - _address(memory)  # on a GPU arrays begin at a line
        self._arrays[id(memory)] = memory
        self._log.append((block, thread, place, id(memory), start, element.nbytes))

    def accesses(self) -> list[Access]:
        """Return what was done at each place, in the order of the source."""
        visits: Counter[tuple[Any, ...]] = Counter()  # of a thread to an instruction
        # Of a place, for each step of a warp: array, first byte and size of what is used.
        used: dict[AccessSite, dict[tuple[Any, ...], set[tuple[int, int, int]]]] = {}
        elements: Counter[AccessSite] = Counter()
        for block, thread, place, *part in self._log:
            visits[block, thread, place] += 1
            step = block, thread // WARP, visits[block, thread, place]
            array, start, size = part
            used.setdefault(place, defaultdict(set))[step].add((array, start, size))
            elements[place] += 1
        found = []
        for place, steps in sorted(used.items()):
            size = sum(size for step in steps.values() for _, _, size in step)
            lines = sum(len({(array, at // LINE) for array, at, _ in s}) for s in steps.values())
            found.append(Access(place, elements[place], len(steps), size, lines))
        return found

    def elements(self, stored: bool) -> int:
        """Return how many elements all threads loaded, or stored."""
        return sum(place.stored == stored for _, _, place, *_ in self._log)

    def text(self) -> str:
        """Return a table of the accesses for people."""
        return table(self.accesses())


def table(found: list[Access]) -> str:
    """Return a table of accesses, a row for each place."""
    rows = [f"{'':6}{'elements':>10}{'lines a step':>14}{'bytes used':>12}  source"]
    for each in found:
        kind = "store" if each.place.stored else "load"
        row = f"{kind:6}{each.elements:10}{each.lines_per_step:14.1f}{each.share_used:12.0%}"
        rows.append(f"{row}  {Path(each.place.file).name}:{each.place.line}: {each.source}")
    return "\n".join(rows)


@contextlib.contextmanager
def access_log() -> Iterator[AccessLog]:
    """Log the accesses of simulated kernels to global memory: the log is filled while kernels run.

    On a real GPU it stays empty. Use it so::

        with access_log() as log:
            kernel[blocks, threads](image)
        print(log.text())
    """
    log = AccessLog()
    with simulator.observed(log._observe):
        yield log


def log_of_script(path: str, arguments: list[str]) -> AccessLog:
    """Run a Python script with arguments in the simulator, and return the accesses of its kernels.

    It runs as Python runs it: its folder is searched for imports.
    """
    end = kernel.stand_in(simulator)
    try:
        with access_log() as log:
            run_file(path, arguments, "simulator", "__main__")
    except SystemExit as ended:
        if ended.code:  # without one, as of sys.exit(main()), the script has run as any other
            raise
    except (FractalsError, BrokenPipeError):  # the second one: nobody reads what it prints
        raise
    except Exception as error:
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FractalsError(f"{shown(path, 80)} failed: {line}") from error
    finally:
        end()
    return log


def run_file(path: str, arguments: list[str], device: str, name: str) -> dict[str, Any]:
    """Run a Python file as the module of a name, and return its names.

    `device`: "simulator" or "cuda", by which `lessons/gpu.py` chooses.
    """
    if not Path(path).is_file():
        raise OptionError(f"no such file: {shown(path, 80)}")
    before = sys.argv, list(sys.path), os.environ.get("FRACTALS_DEVICE", "")
    sys.argv, os.environ["FRACTALS_DEVICE"] = [path, *arguments], device
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        return runpy.run_path(path, run_name=name)
    finally:
        sys.argv, sys.path[:], os.environ["FRACTALS_DEVICE"] = before


def _address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address

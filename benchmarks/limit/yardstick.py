"""The hand-written C: built with the machine's compiler, called with a drawing's samples."""

import argparse
import contextlib
import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.cpu.simd.pack import REGISTER
from fractals.errors import DeviceError, FractalsError
from fractals.rendering.drawing import Drawing
from fractals.rendering.sampling import coordinates

HERE = Path(__file__).resolve().parent
BITS = {"float64": 64, "float32": 32}
FLAGS = ["-O3", "-mtune=native", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared"]
AVX2 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mpopcnt", "-mlzcnt"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq"]
WIDTHS = {256: AVX2, 512: AVX512}
BEYOND = 128  # the C reads so many columns beyond the last

FORMULAS = {"mandelbrot": 0, "burning_ship": 1, "tricorn": 2, "multibrot": 3}  # as in kernels.h


def least_seconds(ways: Mapping[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Return the least CPU time of each way of some runs, in turns, in seconds."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(runs):
        for name, way in ways.items():
            begun = process_time()
            way()
            least[name] = min(least[name], process_time() - begun)
    return least


def asked(about: str) -> argparse.Namespace:
    """Return the options `runs` and `json` of a program, which needs AVX2."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if 8 * REGISTER not in WIDTHS:
        raise FractalsError("the C needs AVX2")
    return given


@contextlib.contextmanager
def errors_told() -> Iterator[None]:
    """Print an error as one line, and end with its exit code."""
    try:
        yield
    except FractalsError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)


def find_compiler() -> str:
    """Return the C compiler: $CC, cc, gcc or clang."""
    asked = os.environ.get("CC")
    for name in [asked] if asked else ["cc", "gcc", "clang"]:
        if found := shutil.which(name):
            return found
    raise FractalsError(
        f"no C compiler: {f'CC is {asked!r}' if asked else 'install gcc or clang, or set CC'}"
    )


class Library:
    """The C, compiled for a number type and a width of registers."""

    def __init__(self, compiler: str, folder: str, precision: str, width: int) -> None:
        self.precision, self.width = precision, width
        path = Path(folder, f"limit-{precision}-{width}.so")
        options = [f"-DREAL_BITS={BITS[precision]}", f"-DVECTOR_BITS={width}"]
        command = [compiler, *FLAGS, *WIDTHS[width], *options, "-o", str(path)]
        if not path.exists():
            done = subprocess.run([*command, str(HERE / "limit.c")], capture_output=True, text=True)
            if done.returncode:
                first = next(iter(done.stderr.strip().splitlines()), f"exit {done.returncode}")
                raise FractalsError(f"{compiler} can't compile the {width}-bit C: {first}")
        self._library = ctypes.CDLL(str(path))
        self._library.render.restype = None
        self._library.spin.restype = ctypes.c_double

    @property
    def supported(self) -> bool:
        """Whether the processor has its instructions."""
        return bool(self._library.supported())

    def spin(self, steps: int) -> None:
        """Take steps of arithmetic that need nothing but the processor."""
        self._library.spin(ctypes.c_long(steps))

    def prepare(self, drawing: Drawing, algorithm: str) -> "Work":
        """Return the work of a drawing for this library; its arrays are allocated here, once."""
        columns, rows = coordinates(drawing.plan)
        xs, ys = np.pad(columns[0], (0, BEYOND), mode="edge"), np.ascontiguousarray(rows[1])
        shape = len(ys), len(columns[0])
        count, norm = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        scene = drawing.plan.scene
        x, y = (float(text) for text in scene.julia or ("0", "0"))

        def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
            return ctypes.c_void_p(array.ctypes.data)

        arguments = (
            ctypes.c_int(FORMULAS[scene.make_formula().name]),
            ctypes.c_int(scene.julia is not None),
            ctypes.c_int(algorithm == "stream"),
            pointer(xs),
            pointer(ys),
            ctypes.c_long(shape[1]),
            ctypes.c_long(shape[0]),
            ctypes.c_int(drawing.source.max_iterations),
            *(ctypes.c_double(v) for v in (scene.iteration.escape_radius**2, x, y)),
            pointer(count),
            pointer(norm),
        )
        return Work(self._library.render, arguments, count, norm, (xs, ys))


@dataclass(frozen=True)
class Work:
    """Something the C computes: `run` fills count (int32) and norm, |z|² (float32).

    `arguments` points into the arrays, which live as long as the work.
    """

    render: Callable[..., None] = field(repr=False)
    arguments: tuple[Any, ...] = field(repr=False)
    count: NDArray[np.int32]
    norm: NDArray[np.float32]
    held: tuple[Any, ...] = field(repr=False)

    def run(self) -> None:
        """Compute it, in the calling thread."""
        self.render(*self.arguments)


def build(numbers: Sequence[str], folder: str) -> list[Library]:
    """Compile the C for the widths that the processor has and Numba compiles for.

    Raises
    ------
    FractalsError
        There is no compiler, or it refuses.
    DeviceError
        The processor lacks AVX2.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise DeviceError(f"the C needs AVX2, and this processor is {platform.machine()}")
    compiler = find_compiler()
    libraries = [Library(compiler, folder, n, width) for n in numbers for width in WIDTHS]
    widest = max(256, 8 * REGISTER)  # no wider than what Numba compiles for
    usable = [library for library in libraries if library.supported and library.width <= widest]
    if not usable:
        raise DeviceError("the C needs AVX2, which this processor lacks")
    return usable

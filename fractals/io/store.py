"""A store: raw numbers on disk, tile by tile, so that a computation can stop and go on.

A store is a folder whose name ends in ``.fz``. It holds, for a picture of rows x columns samples:

``header.json``
    UTF-8 JSON, one table. ``format`` is "fractals store" and ``version`` is 1; ``scene`` is the
    scene as JSON; ``shape`` is [rows, columns]; ``tile_rows`` says how many rows of samples a tile
    has (the last may have fewer; each is as wide as the picture); ``planes`` maps the name of each
    plane to its NumPy type, in order; ``statistics`` lists what those called ``statistics0``,
    ``statistics1``, ... are in `EscapeData`; ``limit``, ``base`` and ``method`` are as of
    that; ``program`` is the version of fractals that computes it. It is written last, so a folder
    without it is no store.
``NAME.npy``
    A plane: an array (rows, columns) in NumPy's format 1.0, little-endian, whose data begin at byte
    128. ``count`` is int32; ``z`` and, where a coloring needs it, ``dz`` are complex128 or
    complex64, and what was watched has the type of their parts. Rows that are not computed yet are
    0.
``tiles.npy``
    An array (tiles, planes) of uint64 in the same format: 0 where a tile is not computed yet,
    otherwise 2**32 plus the CRC-32 of its rows in this plane.

Any program that reads NumPy files reads the planes, mapped into memory if need be. Nothing is
compressed: most bits of a mantissa are noise, and compressing them saves a fifth of the size, takes
much longer, and gives other bytes by another version of zlib. A tile's numbers in ``tiles.npy`` are
written after its rows, so a process may be killed at any moment; what a power failure tears, the
CRC tells. No byte depends on when, where or in how many goes it was computed.
"""

import contextlib
import json
import os
import re
import shutil
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.errors import FractalsError, SceneError
from fractals.io.escape_data import real_of
from fractals.io.files import HEADER, STORE_FORMAT, read_store_header, written
from fractals.io.load import load_scene
from fractals.scene.geometry import limit_of, place_of
from fractals.scene.model import Scene
from fractals.threads import core_count

SUFFIX = ".fz"
VERSION = 1
DATA = 128  # bytes before the numbers of a .npy file
DONE = 2**32
TILES, STATISTICS = "tiles", "statistics"
TYPES = [[pair] * times for pair in ("<c16", "<c8") for times in (1, 2)]  # of z, or z and dz

MOST_SAMPLES, LEAST_SAMPLES = 2**17, 2**14  # of a tile
STEPS = 2**32  # what may be lost when a thread is killed: some seconds
FEW_TILES = 128  # enough to keep many threads busy

Planes = Mapping[str, NDArray[Any]]


def tile_rows(scene: Scene) -> int:
    """Return the rows of samples of a tile: by the scene alone, whatever computes it."""
    n = scene.image.supersampling
    width, height = scene.image.size
    formula = scene.make_formula()
    limit = limit_of(scene, formula, place_of(scene, formula)[0])
    samples = min(MOST_SAMPLES, max(LEAST_SAMPLES, width * height * n**2 // FEW_TILES))
    return n * max(1, min(samples, STEPS // limit) // (width * n**2))


class Store:
    """A store on disk.

    Attributes
    ----------
    scene : Scene
    planes : dict of str to dtype
        What is kept of each sample, in order, by the names of `fractals.io.escape_data.EscapeData`.
    files : dict of str to str
        The name of each plane's file, without its suffix.
    shape : tuple of int
        Rows and columns, in samples.
    rows : int
        Rows of samples of a tile.
    limit, base, method
        As of `fractals.io.escape_data.EscapeData`.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Take a header apart; `open_store` and `create_store` are for others to call."""
        self.path, self.header = path, header
        try:
            if header["version"] != VERSION:
                raise SceneError(
                    f"{path}: a store of version {header['version']}, and this program reads "
                    f"version {VERSION}: pip install --upgrade fractals-numba"
                )
            self.scene = load_scene(header["scene"])
            types = {str(k): np.dtype(str(v)) for k, v in header["planes"].items()}
            names = {f"{STATISTICS}{k}": str(name) for k, name in enumerate(header["statistics"])}
            rows, columns = (int(side) for side in header["shape"])
            self.shape = rows, columns
            self.rows = int(header["tile_rows"])
            self.max_iterations, self.count_offset = (
                int(header["max_iterations"]),
                int(header["count_offset"]),
            )
            self.method, self.program = str(header["method"]), str(header["program"])
        except SceneError as error:
            raise SceneError(_prefixed(path, str(error))) from None
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise SceneError(f"{path}: its {HEADER} is damaged ({error!r:.80})") from None
        width, height = self.scene.image.size
        n = self.scene.image.supersampling
        fitting = self.shape == (height * n, width * n) and self.rows > 0 and self.rows % n == 0
        if not (fitting and _known(types, names)):
            raise SceneError(f"{path}: its {HEADER} is damaged: its keys don't fit together")
        self.files = {names.get(file, file): file for file in types}
        self.planes = {name: types[file] for name, file in self.files.items()}
        self._lock = threading.Lock()
        self._open: dict[str, BinaryIO] = {}
        self._closed = False
        self._checked: set[tuple[int, str]] = set()
        self._maps: dict[str, NDArray[Any]] = {}
        self._sums: NDArray[np.uint64] | None = None

    @property
    def tiles(self) -> int:
        """Return how many tiles there are."""
        tiles: int = -(-self.shape[0] // self.rows)
        return tiles

    @property
    def size(self) -> int:
        """Return the bytes of all planes."""
        a_sample: int = sum(dtype.itemsize for dtype in self.planes.values())
        return self.shape[0] * self.shape[1] * a_sample

    def window(self, k: int) -> slice:
        """Return the rows of samples of tile k."""
        return slice(k * self.rows, min(self.shape[0], (k + 1) * self.rows))

    def done(self) -> NDArray[np.bool_]:
        """Return which tiles are there, by what ``tiles.npy`` says now."""
        found: NDArray[np.bool_] = np.all(self._claims() > 0, axis=1)
        return found

    def _claims(self) -> NDArray[np.uint64]:
        if self._sums is None:
            self._sums = self._map(TILES, np.dtype("<u8"), (self.tiles, len(self.planes)))
        return self._sums

    def read(self) -> dict[str, NDArray[Any]]:
        """Return the planes, mapped into memory, not to be written to."""
        if not self._maps:
            self._maps = {
                name: self._map(self.files[name], dtype, self.shape)
                for name, dtype in self.planes.items()
            }
        return self._maps

    def _map(self, file_name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        path = self.path / f"{file_name}.npy"
        try:
            with open(path, "rb") as file:
                if file.read(DATA) != _npy_header(dtype, shape):
                    raise SceneError(f"{self.path}: {path.name} is damaged at its beginning")
                if os.fstat(file.fileno()).st_size != DATA + dtype.itemsize * int(np.prod(shape)):
                    raise SceneError(f"{self.path}: {path.name} is not of its size")
                return np.asarray(np.memmap(file, dtype, "r", DATA, shape))
        except FileNotFoundError:
            raise SceneError(f"{self.path}: {path.name} is missing") from None
        except OSError as error:
            raise SceneError(f"{path}: {error.strerror or error}") from None

    def check_rows(self, rows: slice, names: Iterable[str]) -> None:
        """Raise a `SceneError` where a tile that lies in these rows is damaged in these planes.

        Each is looked at once, by the thread that comes first.
        """
        for k in range(rows.start // self.rows, (rows.stop - 1) // self.rows + 1):
            for name in names:
                with self._lock:
                    seen = (k, name) in self._checked
                    self._checked.add((k, name))
                if not (seen or self.is_whole(k, [name])):
                    raise SceneError(
                        f"{self.path}: tile {k + 1} of {self.tiles} is damaged: "
                        f"fractals compute {self.path} computes it again"
                    )

    def is_whole(self, k: int, names: Iterable[str] | None = None) -> bool:
        """Tell whether a tile is computed and what it was when it was written."""
        rows, planes = self.window(k), self.read()
        claims = dict(zip(self.planes, self._claims()[k].tolist(), strict=True))
        return all(claims[name] == _sum(planes[name][rows]) for name in names or self.planes)

    def missing(self) -> list[int]:
        """Return the tiles that are not computed yet, or are damaged."""
        claimed = np.flatnonzero(self.done())
        with ThreadPoolExecutor(core_count()) as threads:
            whole = claimed[np.array(list(threads.map(self.is_whole, claimed)), bool)]
        return sorted(set(range(self.tiles)) - set(whole.tolist()))

    def write(self, k: int, planes: Planes) -> None:
        """Write the numbers of tile k; any thread may, each another tile.

        Raises
        ------
        FractalsError
            They can't be written; the tile is as if it was never computed.
        """
        rows = self.window(k)
        contents = [np.ascontiguousarray(planes[n], d) for n, d in self.planes.items()]
        sums = b"".join(_sum(content).to_bytes(8, "little") for content in contents)
        with self._lock, writing(self.path):
            if self._closed:  # a thread that was cut off: the store may be another's by now
                return
            for (name, dtype), content in zip(self.planes.items(), contents, strict=True):
                offset = DATA + rows.start * self.shape[1] * dtype.itemsize
                self._put(self.files[name], offset, content.data.cast("B"))
            self._put(TILES, DATA + len(sums) * k, memoryview(sums))

    def _put(self, name: str, offset: int, content: memoryview) -> None:
        if name not in self._open:
            self._open[name] = open(self.path / f"{name}.npy", "r+b", buffering=0)  # noqa: SIM115
        file = self._open[name]
        file.seek(offset)
        while content:
            content = content[file.write(content) :]

    def close(self) -> None:
        """Bring what was written to the disk, and write no more.

        First the planes, then what says that they are there.
        """
        with self._lock, writing(self.path):
            self._closed = True
            for name in [*self.files.values(), TILES]:
                if file := self._open.pop(name, None):
                    with file:
                        os.fsync(file.fileno())


def _known(types: Mapping[str, np.dtype[Any]], names: Mapping[str, str]) -> bool:
    """Tell whether planes of these files and types are ours; `names` are of statistics."""
    files = all(f.isidentifier() and f != TILES and d.kind in "iufc" for f, d in types.items())
    kept = [types[file].str for file in ("count", "z", "dz") if file in types]
    if not (files and kept[:1] == ["<i4"] and kept[1:] in TYPES):
        return False
    statistics = {file for file in types if re.fullmatch(rf"{STATISTICS}\d+", file)}
    called = set(names.values())
    return (
        statistics == set(names)
        and len(called) == len(names)
        and not any(name.isidentifier() for name in called)
        and all(types[file].str == real_of(kept[1]).str for file in statistics)
    )


def _sum(content: NDArray[Any]) -> int:
    return DONE + zlib.crc32(content.data)


def _npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the beginning of a .npy file, the same from every version of NumPy."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    return (
        b"\x93NUMPY\x01\x00" + (DATA - 10).to_bytes(2, "little") + f"{text:{DATA - 11}}\n".encode()
    )


def _prefixed(path: Path, text: str) -> str:
    lines = text.splitlines()
    return "\n".join(line if line.startswith(str(path)) else f"{path}: {line}" for line in lines)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says into a `FractalsError`."""
    try:
        yield
    except OSError as error:
        raise FractalsError(f"'{path}' can't be written: {error.strerror or error}") from None


def open_store(path: str | Path) -> Store:
    """Return a store that is there, whole or not.

    Raises
    ------
    SceneError
        There is none, or it is damaged, or of another version.
    """
    path = Path(path)
    return Store(path, read_store_header(path))


def create_store(
    path: Path,
    scene: Scene,
    planes: Mapping[str, Any],
    max_iterations: int,
    count_offset: int,
    method: str,
) -> Store:
    """Return a new store in an empty folder; see `claimed`."""
    n = scene.image.supersampling
    width, height = scene.image.size
    statistics = [name for name in planes if not name.isidentifier()]
    files = {name: f"{STATISTICS}{k}" for k, name in enumerate(statistics)}
    header = {
        "format": STORE_FORMAT,
        "version": VERSION,
        "scene": scene.to_table(),
        "shape": [height * n, width * n],
        "tile_rows": tile_rows(scene),
        "planes": {files.get(n, n): np.dtype(d).newbyteorder("<").str for n, d in planes.items()},
        "statistics": statistics,
        "max_iterations": max_iterations,
        "count_offset": count_offset,
        "method": method,
        "program": __version__,
    }
    store = Store(path, header)
    with writing(path):
        free = shutil.disk_usage(path).free
    if store.size > free:
        raise FractalsError(
            f"'{path}' takes {store.size / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free "
            "there: name a place on another disk, or give a smaller --size or --supersampling"
        )
    arrays = {store.files[name]: (dtype, store.shape) for name, dtype in store.planes.items()}
    with writing(path):
        arrays[TILES] = np.dtype("<u8"), (store.tiles, len(store.planes))
        for name, (dtype, shape) in arrays.items():
            with open(path / f"{name}.npy", "wb") as file:
                file.write(_npy_header(dtype, shape))
                file.truncate(DATA + dtype.itemsize * int(np.prod(shape)))
                os.fsync(file.fileno())
    with written(path / HEADER) as file:
        file.write(json.dumps(header, ensure_ascii=False, indent=1).encode() + b"\n")
    return store

"""A store: raw numbers on disk, tile by tile, so that a computation can stop and go on.

A store is a folder whose name ends in ``.fz``. It holds, for a picture of rows x columns samples:

``header.json``
    UTF-8 JSON, one table. ``format`` is "fractals store" and ``version`` is 3; ``scene`` is the
    scene as JSON; ``shape`` is [rows, columns]; ``tile_rows`` says how many rows of samples a tile
    has (the last may have fewer; each is as wide as the picture); ``planes`` maps the name of each
    plane to its NumPy type, in order; ``statistics`` lists the names of ``statistics0``,
    ``statistics1``, ...; ``max_iterations``, ``count_offset`` and ``method`` are as in
    `EscapeData`; ``program`` is the version of fractals that computes it; ``checksum`` is the
    CRC-32, 8 hexadecimal digits, of the other keys as `header_text` writes them. The header is
    written last, so a folder without it is no store.
``NAME.npy``
    A plane: an array (rows, columns) in NumPy's format 1.0, little-endian, whose data begin at byte
    128. ``count`` is int32; ``z`` and, where a coloring needs it, ``dz`` are complex128 or
    complex64, and orbit statistics have the type of their parts. Rows that are not computed yet are
    0.
``tiles.npy``
    An array (tiles, planes) of uint64 in the same format: 0 where a tile is not computed yet,
    otherwise 2**32 plus the CRC-32 of its place and its rows in this plane. The place is ASCII
    text: the header's checksum, the tile's number and the name of the plane's file, with a blank
    between them. So planes of another store count as damaged. In stores of version 2 it is empty.

Any program that reads NumPy files reads the planes, mapped into memory if need be. Nothing is
compressed: most bits of a mantissa are noise, and compressing them saves a fifth of the size, takes
much longer, and gives other bytes by another version of zlib. A tile's numbers in ``tiles.npy`` are
written after its rows, so a process may be killed at any moment; a CRC detects tiles that a power
failure damaged. No byte depends on when, where or in how many goes it was computed.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import secrets
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
from fractals.errors import (
    FractalsError,
    InputError,
    OptionError,
    SceneError,
    counted,
    shown,
    typed,
)
from fractals.io.escape_data import REALS, check_numbers
from fractals.io.files import (
    HEADER,
    PATH_SHOWN,
    STORE_FORMAT,
    check_folder,
    open_inside,
    read_store_header,
    writing,
    written,
)
from fractals.io.stores.lock import FolderLock
from fractals.io.stores.parts import StorePart, StoreParts, clear_folder
from fractals.scene.geometry import differences, limit_of, make_layers, place_of
from fractals.scene.model import Scene, validate
from fractals.threads import core_count

VERSION = 3
READ = (2, VERSION)  # 1 had no checksum
DATA = 128  # bytes before the numbers of a .npy file
DONE = 2**32
TILES, STATISTICS = "tiles", "statistics"
# The types of planes. They are looked up, because np.dtype parses any text as Python's syntax.
TYPES = {name: np.dtype(name) for name in ("<i4", "<c16", "<c8", "<f8", "<f4")}

MAX_SAMPLES, MIN_SAMPLES = 2**17, 2**14  # of a tile
STEPS = 2**32  # what may be lost when a thread is killed: some seconds
FEW_TILES = 128  # enough to keep many threads busy

Planes = Mapping[str, NDArray[Any]]


def tile_rows(scene: Scene) -> int:
    """Return the rows of samples of a tile: by the scene alone, whatever computes it."""
    n = scene.image.supersampling
    width, height = scene.image.size
    limit = limit_of(scene, place_of(scene)[0])
    samples = min(MAX_SAMPLES, max(MIN_SAMPLES, width * height * n**2 // FEW_TILES))
    return n * max(1, min(samples, STEPS // limit) // (width * n**2))


class PlaneFiles:
    """The files of a store that are written to; each is opened at its first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, BinaryIO] = {}

    def put(self, name: str, offset: int, content: memoryview) -> None:
        """Write bytes into the file of this name, from `offset` on."""
        if name not in self._open:
            self._open[name] = open_inside(self._folder / f"{name}.npy", "r+b")
        file = self._open[name]
        file.seek(offset)
        while content:
            content = content[file.write(content) :]

    def close(self, names: Iterable[str]) -> None:
        """Bring what was written to these files to the disk, one file after the other."""
        for name in names:
            if file := self._open.pop(name, None):
                with file:
                    os.fsync(file.fileno())


class RawStore:
    """A store on disk, to be read; `TileWriter` writes into it.

    `planes` maps what is kept of each sample, in order, by the names of
    `fractals.io.escape_data.EscapePlanes`, to its type, and `files` to the name of its file without
    suffix. `shape` is rows and columns in samples; a tile has `rows` rows of samples.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Take a header apart; `open_store` and `create_store` are for others to call."""
        self.path, self.header = path, header
        self.name = shown(path, PATH_SHOWN)
        try:
            if header["version"] not in READ:
                older = isinstance(header["version"], int) and header["version"] < VERSION
                raise SceneError(
                    f"a store of version {shown(header['version'], 40)}, and this program reads "
                    f"version {VERSION}: "
                    + (
                        "an older fractals began it; compute its scene again, into another store"
                        if older
                        else "take a newer fractals"
                    )
                )
            if header["checksum"] != checksum(header):
                raise SceneError(f"its {HEADER} is damaged: its checksum is not that of its keys")
            self.scene = validate(header["scene"], "")
            self._take(header)
        except InputError as error:
            raise SceneError(_prefixed(self.name, str(error))) from None
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise SceneError(f"{self.name}: its {HEADER} is damaged ({typed(error, 80)})") from None
        self._lock = threading.Lock()
        self._checked: set[tuple[int, str]] = set()
        self._maps: dict[str, NDArray[Any]] = {}
        self._sums: NDArray[np.uint64] | None = None

    def _take(self, header: Mapping[str, Any]) -> None:
        """Set what the keys besides the scene say, or raise an error where they don't fit."""
        types = {str(k): TYPES[v] for k, v in header["planes"].items()}
        names = {f"{STATISTICS}{k}": str(name) for k, name in enumerate(header["statistics"])}
        width, height = self.scene.image.size
        n = self.scene.image.supersampling
        self.shape = height * n, width * n
        self.rows = header["tile_rows"]
        whole = type(self.rows) is int and self.rows > 0 and self.rows % n == 0
        if header["shape"] != list(self.shape) or not whole or not _known(types, names):
            raise SceneError(f"its {HEADER} is damaged: its keys don't fit together")
        self.max_iterations, self.count_offset = header["max_iterations"], header["count_offset"]
        self.method, self.program = header["method"], shown(header["program"], 40)
        check_numbers(self.max_iterations, self.count_offset, self.method)
        self.files = {names.get(file, file): file for file in types}
        self.planes = {name: types[file] for name, file in self.files.items()}

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
            self._sums = mapped(
                self.path / f"{TILES}.npy", np.dtype("<u8"), (self.tiles, len(self.planes))
            )
        return self._sums

    def read(self) -> dict[str, NDArray[Any]]:
        """Return the planes, mapped into memory, not to be written to."""
        if not self._maps:
            self._maps = {
                name: mapped(self.path / f"{self.files[name]}.npy", dtype, self.shape)
                for name, dtype in self.planes.items()
            }
        return self._maps

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
                        f"{self.name}: tile {k + 1} of {self.tiles} is damaged: "
                        f"fractals compute {self.name} computes it again"
                    )

    def is_whole(self, k: int, names: Iterable[str] | None = None) -> bool:
        """Tell whether a tile is computed and what it was when it was written."""
        rows, planes = self.window(k), self.read()
        claims = dict(zip(self.planes, self._claims()[k].tolist(), strict=True))
        return all(
            claims[name] == self.sum_of(k, name, planes[name][rows])
            for name in names or self.planes
        )

    def sum_of(self, k: int, name: str, content: NDArray[Any]) -> int:
        """Return what ``tiles.npy`` says of a tile with these numbers in a plane."""
        bound = self.header["version"] != READ[0]
        place = f"{self.header['checksum']} {k} {self.files[name]}" if bound else ""
        return DONE + zlib.crc32(content.data, zlib.crc32(place.encode()))

    def missing(self) -> list[int]:
        """Return the tiles that are not computed yet, or are damaged."""
        claimed = np.flatnonzero(self.done())
        with ThreadPoolExecutor(core_count()) as threads:
            whole = claimed[np.array(list(threads.map(self.is_whole, claimed)), bool)]
        return sorted(set(range(self.tiles)) - set(whole.tolist()))


class TileWriter:
    """Writes tiles into a store. Any thread may write, each another tile."""

    def __init__(self, store: RawStore) -> None:
        self._store = store
        self._files = PlaneFiles(store.path)
        self._lock = threading.Lock()
        self._closed = False

    def write(self, k: int, planes: Planes) -> None:
        """Write the numbers of tile k.

        `FractalsError`: they can't be written; the tile is as if it was never computed.
        """
        store = self._store
        store.read()  # a file that is no plane is an error before anything is written to it
        rows = store.window(k)
        contents = [np.ascontiguousarray(planes[n], d) for n, d in store.planes.items()]
        found = zip(store.planes, contents, strict=True)
        sums = b"".join(store.sum_of(k, *each).to_bytes(8, "little") for each in found)
        with self._lock, writing(store.path):
            if self._closed:  # a thread that was cut off: the store may be another's by now
                return
            for (name, dtype), content in zip(store.planes.items(), contents, strict=True):
                offset = DATA + rows.start * store.shape[1] * dtype.itemsize
                self._files.put(store.files[name], offset, content.data.cast("B"))
            self._files.put(TILES, DATA + len(sums) * k, memoryview(sums))

    def close(self) -> None:
        """Bring what was written to the disk, and write no more.

        The planes come first. The file that says which tiles are there is the last.
        """
        with self._lock, writing(self._store.path):
            self._closed = True
            self._files.close([*self._store.files.values(), TILES])


def mapped(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of a store, mapped into memory, not to be written to."""
    name = shown(path.parent, PATH_SHOWN)
    try:
        with open_inside(path) as file:
            if file.read(DATA) != npy_header(dtype, shape):
                raise SceneError(f"{name}: {path.name} is damaged at its beginning")
            if os.fstat(file.fileno()).st_size != DATA + dtype.itemsize * math.prod(shape):
                raise SceneError(f"{name}: {path.name} is not of its size")
            return np.asarray(np.memmap(file, dtype, "r", DATA, shape))
    except FileNotFoundError:
        raise SceneError(f"{name}: {path.name} is missing") from None
    except SceneError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: it has become shorter since
        raise SceneError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def _known(types: Mapping[str, np.dtype[Any]], names: Mapping[str, str]) -> bool:
    """Tell whether these can be planes: types by file, and names of statistics by file."""
    rest = dict(types)
    count, z = rest.pop("count", None), rest.pop("z", None)
    if count != TYPES["<i4"] or z not in REALS or rest.pop("dz", z) != z:
        return False
    called = set(names.values())
    return (
        set(rest) == set(names)
        and all(dtype == REALS[z] for dtype in rest.values())
        and len(called) == len(names)
        and not any(name.isidentifier() for name in called)
    )


def header_text(keys: Mapping[str, Any]) -> str:
    """Return the text of a header: JSON, a key a line."""
    return json.dumps(keys, ensure_ascii=False, indent=1)


def checksum(keys: Mapping[str, Any]) -> str:
    """Return the checksum of a header's other keys."""
    others = {key: value for key, value in keys.items() if key != "checksum"}
    return f"{zlib.crc32(header_text(others).encode('utf-8', 'surrogatepass')):08x}"


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the beginning of a .npy file, the same from every version of NumPy."""
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    return (
        b"\x93NUMPY\x01\x00" + (DATA - 10).to_bytes(2, "little") + f"{text:{DATA - 11}}\n".encode()
    )


def _prefixed(name: str, text: str) -> str:
    return "\n".join(f"{name}: {line}" for line in text.split("\n"))


def bytes_text(size: int) -> str:
    """Return a size in the unit that suits it.

    >>> bytes_text(5_000_000), bytes_text(3 * 2**30)
    ('4.8 MiB', '3.0 GiB')
    """
    unit = 2 if size < 2**30 else 3
    return f"{size / 2 ** (10 * unit):.1f} {'MiB' if unit == 2 else 'GiB'}"


def open_store(path: str | Path) -> RawStore:
    """Return a store that is there, whole or not.

    `SceneError`: there is none, or it is damaged, or of another version.
    """
    path = Path(path)
    return RawStore(path, read_store_header(path))


def make_header(
    scene: Scene,
    planes: Mapping[str, Any],
    max_iterations: int,
    count_offset: float,
    method: str,
) -> dict[str, Any]:
    """Return the header of a new store; `planes` maps the name of each plane to its type."""
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
        "max_iterations": int(max_iterations),
        "count_offset": float(count_offset),
        "method": method,
        "program": __version__,
    }
    return {**header, "checksum": checksum(header)}


def create_store(path: Path, header: Mapping[str, Any]) -> RawStore:
    """Return a new store of a header in an empty folder; see `make_header` and `claimed`."""
    store = RawStore(path, header)
    with writing(path):
        free = shutil.disk_usage(path).free
    if store.size > free:
        raise FractalsError(
            f"'{store.name}' takes {bytes_text(store.size)}, and {bytes_text(free)} are free "
            "there: name a place on another disk, or give a smaller size= or supersampling="
        )
    arrays = {store.files[name]: (dtype, store.shape) for name, dtype in store.planes.items()}
    with writing(path):
        arrays[TILES] = np.dtype("<u8"), (store.tiles, len(store.planes))
        for name, (dtype, shape) in arrays.items():
            with open_inside(path / f"{name}.npy", "xb") as plane:
                plane.write(npy_header(dtype, shape))
                plane.truncate(DATA + dtype.itemsize * math.prod(shape))
                os.fsync(plane.fileno())
    with written(path / HEADER) as file:
        file.write(header_text(header).encode() + b"\n")
    return store


# Locks a store for one process, and checks that its scene is the one to be computed.


DRAFTS = f".{HEADER}.*"  # headers that are not whole yet; see `written`
PARTS = "parts"  # a folder inside a store, for tiles that other processes computed


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Create the folder of a store if it is missing, and lock it for this process.

    The operating system releases the lock when the process ends. On file systems without locks,
    such as some network disks, two processes do no harm because both write the same bytes.
    """
    check_folder(path)
    with writing(path):
        made = not path.exists()
        path.mkdir(exist_ok=True)
        try:
            lock = FolderLock(path)
        except BlockingIOError:
            raise FractalsError(
                f"'{path}' is being computed by another process: wait for it, or name another"
            ) from None
        except OSError:  # such as a umask that closes new folders
            if made:
                path.rmdir()
            raise
    try:
        if lock.held:
            with writing(path):
                for draft in path.glob(DRAFTS):  # a process was killed that wrote the header
                    draft.unlink()
        yield
    finally:
        lock.release()
        if made:  # removed if nothing was written
            with contextlib.suppress(OSError):
                path.rmdir()


def clear(path: Path) -> None:
    """Remove the files of a store from its folder.

    `FractalsError`: the folder holds other files.
    """
    known = {HEADER, PARTS, f"{TILES}.npy", "count.npy", "z.npy", "dz.npy"}
    with contextlib.suppress(SceneError):
        known |= {f"{name}.npy" for name in open_store(path).files.values()}
    with writing(path):
        there = sorted(path.iterdir())
    # sums are those of `fractals.rendering.stores.sums`; the last: an incomplete header
    mine = re.compile(rf"statistics\d+\.npy|sums-[\d-]+\.npy|\.{HEADER}\..*")
    others = [p.name for p in there if p.name not in known and not mine.fullmatch(p.name)]
    if others:
        raise FractalsError(
            f"'{path}' is a folder that holds other things ('{others[0]}'): name another"
        )
    with writing(path):
        for file in sorted(there, key=lambda file: file.name != HEADER):  # the header first
            if file.name == PARTS:
                clear_folder(file)
            else:
                file.unlink()


def check_complete(store: RawStore) -> None:
    """Raise a `SceneError` that names the command to type where tiles are missing."""
    done = np.count_nonzero(store.done())
    if done < store.tiles:
        apart = sum(name.endswith(TILE) for name in parts_of(store).names())
        raise SceneError(
            f"{store.path}: {done} of {counted(store.tiles, 'tile')} there "
            f"({100 * done // store.tiles} %){f', and {apart} as parts' if apart else ''}: "
            f"fractals compute {store.path} {'adds these and ' if apart else ''}computes the others"
        )


def check_same(store: RawStore, scene: Scene) -> None:
    """Raise an `OptionError` where a store has another scene, or lacks planes."""
    if keys := differences(store.scene, scene):
        raise OptionError(
            f"'{store.path}' is there, of another scene: {', '.join(keys)} "
            f"{'differs' if len(keys) == 1 else 'differ'}: name another store, or give "
            "overwrite=True"
        )
    if lacking := make_layers(scene).lacking(store.planes):
        layer, names = lacking[0]
        raise OptionError(
            f"'{store.path}' keeps {', '.join(store.planes)}, and the coloring '{layer.label}' "
            f"needs {', '.join(names)} too: name another store, or give overwrite=True"
        )


def check_program(program: str, name: str | Path) -> None:
    """Raise an `OptionError` where another version of the program began the store of this name."""
    if program != __version__:
        raise OptionError(
            f"'{name}' was begun by fractals {program}, and this is {__version__}: "
            "the last digits of their numbers may differ. overwrite=True computes all again; "
            f"fractals {program} resumes it"
        )


# Tiles of a store as parts, which many machines write; one process puts them into the planes.
#
# Processes never share the planes of a store, because network file systems lose what two machines
# write into one file. ``NAME.fz/parts/`` holds a file for each tile (`fractals.io.stores.parts`),
# until whoever holds the store's lock has written them into the planes.


TILE = ".tile"


def parts_of(store: RawStore) -> StoreParts:
    """Return the parts of a store. StoreParts of another header count as missing."""
    text = header_text(store.header).encode("utf-8", "surrogatepass")
    return StoreParts(store.path / PARTS, hashlib.sha256(text).hexdigest()[:32])


def tile_name(k: int) -> str:
    """Return the name of the part with a tile.

    >>> tile_name(123)
    '000123.tile'
    """
    return f"{k:06d}{TILE}"


class PartWriter:
    """Writes tiles of a store as parts; any thread may write."""

    def __init__(self, store: RawStore) -> None:
        self._parts = parts_of(store)

    def write(self, k: int, planes: Planes) -> None:
        """Write the numbers of tile k."""
        self._parts.put(tile_name(k), planes)

    def close(self) -> None:
        """Do nothing: each part is on the disk already."""


def read_tile(store: RawStore, parts: StoreParts, k: int) -> StorePart | None:
    """Return the part with a tile; None where it is missing, damaged or does not fit."""
    part = parts.read(tile_name(k))
    return part if part and fits(store, k, part) else None


def fits(store: RawStore, k: int, part: StorePart) -> bool:
    """Tell whether the arrays of a part are those of a tile."""
    rows = store.window(k)
    shape = rows.stop - rows.start, store.shape[1]
    found = {name: (array.dtype, array.shape) for name, array in part.arrays.items()}
    return found == {name: (dtype, shape) for name, dtype in store.planes.items()}


def missing_parts(store: RawStore) -> list[int]:
    """Return the tiles that are neither in the planes nor there as parts."""
    parts, done = parts_of(store), store.done()
    there = set(parts.names())
    return [
        k
        for k in np.flatnonzero(~done).tolist()
        if tile_name(k) not in there or read_tile(store, parts, k) is None
    ]


def merge_parts(store: RawStore) -> int:
    """Write the tiles of all parts into the planes, and return how many there were.

    The store must be locked by this process. Parts of tiles are removed once their numbers are on
    the disk.

    `FractalsError`: a tile was computed twice, with different results; or the store can't be
    written.
    """
    parts, done = parts_of(store), store.done()
    parts.tidy()
    names = [name for name in parts.names() if name.endswith(TILE)]
    writer, merged = TileWriter(store), 0
    try:
        for name in names:
            k = int(name.removesuffix(TILE)) if name.removesuffix(TILE).isdecimal() else -1
            part = read_tile(store, parts, k) if 0 <= k < store.tiles else None
            if part is None:
                continue
            if done[k] and store.is_whole(k):
                _check_same(store, k, part)
                continue
            writer.write(k, part.arrays)
            merged += 1
    finally:
        writer.close()
    parts.remove(names)
    return merged


def _check_same(store: RawStore, k: int, part: StorePart) -> None:
    rows, planes = store.window(k), store.read()
    for name in store.planes:
        if zlib.crc32(np.ascontiguousarray(planes[name][rows]).data) != part.sums[name]:
            raise FractalsError(
                f"tile {k + 1} of {store.tiles} in '{store.name}' differs from the result of "
                f"{part.machine}: one of the machines that computed them is wrong. Remove "
                f"'{PARTS}/{part.name}', or start again with overwrite=True"
            )


@contextlib.contextmanager
def new_store(path: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes the store at the end, if no other process was faster.

    No lock is needed, so it also works on network disks that have none.
    """
    if path.exists() and not (path / HEADER).exists():  # a process was killed that began it
        with claimed(path):
            if not (path / HEADER).exists():
                clear(path)
    folder = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}")
    with writing(path):
        folder.mkdir()
    try:
        yield folder
        try:
            os.rename(folder, path)
        except OSError:
            if not (path / HEADER).exists():
                raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FractalsError(f"'{path}' can't be written: {reason}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)

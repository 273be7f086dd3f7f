"""Raw numbers in a NumPy archive: count, z, dz, orbit statistics, limit and scene."""

import io
import math
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fractals.errors import InputError, shown
from fractals.io.escape_data import Beyond, EscapePlanes, check_numbers, check_planes
from fractals.io.files import (
    MAX_JSON_BYTES,
    PATH_SHOWN,
    check_output,
    open_to_read,
    parse_scene,
    written,
)
from fractals.io.raw import RawFormat
from fractals.scene.model import validate

STATISTICS = "statistics "  # how the names of orbit statistics begin
BEYOND, DIRECTIONS = "beyond", "beyond z"
SCENE, LIMIT, OFFSET, METHOD = "scene", "max_iterations", "count_offset", "method"
MAX_PLANES = 1000
# zipfile reads the archive's directory in one piece; an entry of it takes 10 microseconds. That of
# MAX_PLANES entries is smaller. NumPy reads arrays in pieces of 256 KiB.
MAX_READ = 2**20
# Raw numbers are mantissas, of which zip saves less than half; inside the set they are 0. Above
# this ratio, and this size, an archive is a bomb: a small file that fills the memory.
MAX_RATIO, SURELY_SMALL = 100, 64 * 2**20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Header = tuple[np.dtype[Any], tuple[int, ...]]


def save(raw: EscapePlanes, path: Path, overwrite: bool) -> None:
    """Write a NumPy archive."""
    check_output(path, overwrite)
    planes = {STATISTICS + n if n in raw.statistics else n: p for n, p in raw.planes.items()}
    arrays = {**planes, LIMIT: np.int64(raw.max_iterations), METHOD: np.array(raw.method)}
    if raw.beyond:
        arrays |= {BEYOND: raw.beyond.samples, DIRECTIONS: raw.beyond.z}
    if raw.count_offset:
        arrays[OFFSET] = np.float64(raw.count_offset)
    with written(path, overwrite) as file:
        np.savez(file, scene=np.array(raw.scene.to_json()), **arrays)  # type: ignore[arg-type]


def load(path: Path) -> EscapePlanes:
    """Return the raw numbers in a NumPy archive. All types and sizes are checked before unpacking.

    `InputError`: the file is missing, damaged, or holds something else.
    """
    name = shown(path, PATH_SHOWN)
    try:
        with open_to_read(path) as file:
            if file.read(2) != b"PK":
                raise InputError("not raw numbers that fractals wrote")
            with zipfile.ZipFile(_Bounded(file)) as archive:
                return _loaded(archive)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except KeyError as error:
        raise InputError(f"{name}: {shown(error)} is missing in it") from None
    except (
        OSError,
        ValueError,
        EOFError,
        RuntimeError,  # an encrypted archive; NotImplementedError: a version of zip
        SyntaxError,
        SystemError,  # characters beyond Unicode
        RecursionError,
        MemoryError,
        tokenize.TokenError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        if isinstance(error, OSError) and error.filename is not None:  # it can't be opened
            raise InputError(f"{name}: {error.strerror}") from None
        raise InputError(
            f"{name}: the raw numbers in it are damaged or incomplete ({shown(error)})"
        ) from None


def _loaded(archive: zipfile.ZipFile) -> EscapePlanes:
    if len(archive.filelist) > MAX_PLANES:
        raise InputError(f"{len(archive.filelist)} arrays in it, and {MAX_PLANES} are the most")
    members = {item.filename.removesuffix(".npy"): item for item in archive.filelist}
    scene = validate(parse_scene(_text(archive, members[SCENE])), "the scene in it")
    planes = {key: item for key, item in members.items() if key in ("count", "z", "dz")}
    planes |= {key: item for key, item in members.items() if key.startswith(STATISTICS)}
    headers = {key: _header(archive, item) for key, item in planes.items()}
    check_planes(
        {key: dtype for key, (dtype, _) in headers.items()},
        {key: shape for key, (_, shape) in headers.items()},
    )
    n, (width, height) = scene.image.supersampling, scene.image.size
    if headers["count"][1] != (height * n, width * n):
        raise InputError(
            f"the arrays in it have the shape {headers['count'][1]}, and the scene inside "
            f"{width}x{height} pixels of {n}x{n} samples"
        )
    most = _number(archive, members[LIMIT], whole=True)
    offset = float(_number(archive, members[OFFSET])) if OFFSET in members else 0.0
    method = _text(archive, members[METHOD]) if METHOD in members else "direct"
    check_numbers(most, offset, method)
    arrays = {key: _array(archive, item) for key, item in planes.items()}
    statistics = {
        key.removeprefix(STATISTICS): array
        for key, array in arrays.items()
        if key.startswith(STATISTICS)
    }
    raw = EscapePlanes(
        arrays["count"],
        arrays["z"],
        arrays.get("dz"),
        most,
        scene,
        method=method,
        count_offset=offset,
        statistics=statistics,
        beyond=_beyond(archive, members, arrays["z"]),
    )
    raw.check()
    return raw


def _beyond(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], z: NDArray[Any]
) -> Beyond | None:
    """Return which z overflowed, if any did."""
    if not {BEYOND, DIRECTIONS} <= members.keys():
        return None
    for name, kind in ((BEYOND, np.dtype(np.int64)), (DIRECTIONS, z.dtype)):
        dtype, shape = _header(archive, members[name])
        if dtype != kind or len(shape) != 1 or shape[0] > z.size:
            raise InputError(f"the array {shown(name)} is of type {dtype}, shape {shape}")
    samples, own = _array(archive, members[BEYOND]), _array(archive, members[DIRECTIONS])
    there = (samples >= 0) & (samples < z.size)
    if len(samples) != len(own) or not there.all():
        raise InputError(f"the array {shown(BEYOND)} names samples outside of the picture")
    return Beyond(samples, own)


def _text(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> str:
    dtype, shape = _header(archive, item)
    if dtype.kind != "U" or shape or dtype.itemsize > 4 * MAX_JSON_BYTES:
        what = shown(item.filename.removesuffix(".npy"))
        raise InputError(f"the {what} in it is not a text")
    # NumPy makes strings of code points that are no Unicode, which crash programs in C and Rust.
    order = "be" if dtype.byteorder == ">" else "le"
    return _array(archive, item).tobytes().decode(f"utf-32-{order}").rstrip("\0")


def _number(archive: zipfile.ZipFile, item: zipfile.ZipInfo, whole: bool = False) -> Any:
    dtype, shape = _header(archive, item)
    if dtype.kind not in ("iu" if whole else "iuf") or shape:
        raise InputError(f"{shown(item.filename)} is not a {'whole ' * whole}number")
    return _array(archive, item).item()


def _header(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> Header:
    """Return type and shape of an array, once its size fits them and its packed size."""
    label = shown(item.filename, 80)
    if item.compress_type not in METHODS:
        raise InputError(f"{label} is packed by a method that is unsupported")
    if item.file_size > max(SURELY_SMALL, MAX_RATIO * item.compress_size):
        raise InputError(
            f"{label} would unpack from {item.compress_size} to {item.file_size} bytes: at most "
            f"{MAX_RATIO} times the size are read"
        )
    with archive.open(item) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's advice on headers of Python 2
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise InputError(f"{label} is of version {version} of NumPy's format")
        begin = file.tell()
    if dtype.hasobject or begin + dtype.itemsize * math.prod(shape) != item.file_size:
        raise InputError(f"{label} is not of the size that its type and shape have")
    return dtype, shape


def _array(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(item) as file:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


class _Bounded(io.RawIOBase):
    """A file that is read in pieces of at most MAX_READ bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place in the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        """Read some bytes, or raise a `BadZipFile` where they would be too many."""
        found = self._file.read(min(size, MAX_READ + 1) if size >= 0 else MAX_READ + 1)
        if len(found) > MAX_READ:
            raise zipfile.BadZipFile("its directory is too large")
        return found


def make() -> RawFormat:
    """Return the format."""
    return RawFormat(save, load)

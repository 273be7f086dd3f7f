"""The texels of a strip: in one array for the programs, and in files of bands."""

import contextlib
import io
import itertools
import os
import secrets
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.errors import FractalsError, OptionError
from fractals.films.bands import Layout
from fractals.kernels import strip
from fractals.kernels.strip import CHANNELS, SPARE

PIECE = 2**20  # bytes of a file that are read at a time
HOST = ("cpu", "python")  # backends whose arrays are NumPy's


def check_texels(backend: Backend, count: int) -> None:
    """Raise an `OptionError` for more texels than the programs of a backend can index."""
    if backend.kind not in HOST and count > strip.MAX_TEXELS:
        raise OptionError(
            f"frames of this size need {count:,} texels at once, and a GPU takes "
            f"{strip.MAX_TEXELS:,}: give a smaller size=, or device='cpu'"
        )


class TexelPool:
    """Texels of levels of bands, in one array, so that a program can take all of them."""

    def __init__(self, backend: Backend, layout: Layout, slots: Sequence[int]) -> None:
        self.backend, self.layout = backend, layout
        # Index of the first texel; 0 where there are none; ndarray of int64, shape (levels, bands)
        self.starts = np.zeros((layout.bits + 1, layout.bands), np.int64)
        # device array of uint16, shape (all + SPARE, CHANNELS)
        self.texels = backend.empty((SPARE, CHANNELS), np.uint16)
        self._held: list[dict[int, int]] = [{} for _ in slots]
        self._free: list[list[int]] = [[] for _ in slots]
        self._grow(slots)

    def has(self, level: int, band: int) -> bool:
        """Tell whether the texels are held."""
        return band in self._held[level]

    def drop(self, level: int, wanted: range) -> None:
        """Free the texels of the bands of a level that are not wanted."""
        held = self._held[level]
        for band in [band for band in held if band not in wanted]:
            self._free[level].append(held.pop(band))

    def forget(self, band: int) -> None:
        """Free the texels of all levels of a band."""
        for held, free in zip(self._held, self._free, strict=True):
            if band in held:
                free.append(held.pop(band))

    def clear(self) -> None:
        """Free all texels."""
        for level in range(len(self._held)):
            self.drop(level, range(0))

    def take(self, level: int, band: int) -> Any:
        """Return room for the texels, shape (rows, columns, CHANNELS): a part of the array."""
        held, free = self._held[level], self._free[level]
        if band not in held:
            if not free:
                self._grow([int(k == level) for k in range(len(self._free))])
            held[band] = free.pop()
        start = self.starts[level, band] = held[band]
        down, across = self.layout.rows >> level, self.layout.columns >> level
        return self.texels[start : start + down * across].reshape(down, across, CHANNELS)

    def _size(self, level: int) -> int:
        return self.layout.columns * self.layout.rows >> 2 * level

    def _grow(self, slots: Sequence[int]) -> None:
        end = self.texels.shape[0] - SPARE
        more = sum(count * self._size(level) for level, count in enumerate(slots))
        check_texels(self.backend, end + more + SPARE)
        texels = np.empty((end + more + SPARE, CHANNELS), np.uint16)
        if end:
            self.backend.to_host(self.texels, texels[: end + SPARE])
        self.texels = self.backend.to_device(texels)
        for level, count in enumerate(slots):
            for _ in range(count):
                self._free[level].append(end)
                end += self._size(level)


class TexelFiles:
    """Levels 1 and coarser of bands, in files: for a process that goes on after this one.

    A file holds the numbers of one level after the other as an array of NumPy's format, and the
    CRC-32 of its place and its numbers: in another place it counts as damaged. It is moved into
    place when it is complete. Without a folder nothing is kept.

    `sizes`: ``sizes(band, first)`` returns how many numbers each level of a band has in its file,
    where levels are kept from `first` on. By default the levels have texels of CHANNELS numbers.
    """

    dtype = np.dtype(np.uint16)

    def __init__(
        self,
        layout: Layout,
        folder: Path | None,
        sizes: Callable[[int, int], dict[int, int]] | None = None,
    ) -> None:
        self.layout, self.folder, self._given = layout, folder, sizes
        self._first = 1  # of the levels that are kept
        self.shared = False
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def open_temporary(self) -> None:
        """Keep files of all levels until the end: frames are asked for from wide to deep ones.

        The coarsest level of a band is then needed first, and its finest last.
        """
        self._first = 0
        if not self.folder:
            self.folder = Path(tempfile.mkdtemp(prefix="fractals-strip-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def read(self, band: int, into: Mapping[int, NDArray[Any]]) -> bool:
        """Fill contiguous arrays of a band's levels from its file; tell whether it is whole."""
        sizes = self._sizes(band)
        if not self.folder or not into.keys() <= sizes.keys():
            return False
        try:
            with open(self._path(band), "rb") as file:
                header = _header(self.dtype, sizes)
                if file.read(len(header)) != header:  # NumPy raises many errors about damaged ones
                    return False
                crc = _crc_of_place(self._path(band))
                for level, size in sizes.items():
                    if level in into:
                        numbers = into[level].reshape(size)
                        file.readinto(numbers.data)
                        crc = zlib.crc32(numbers.data, crc)
                    else:
                        crc = _crc_of(file, size * self.dtype.itemsize, crc)
                return file.read() == crc.to_bytes(4, "little")
        except OSError:
            return False

    def open(self, band: int) -> "BandFile":
        """Return the file of a band, to be written."""
        return BandFile(self._path(band) if self.folder else None, self.dtype, self._sizes(band))

    def holds(self, level: int) -> bool:
        """Tell whether files hold a level of bands that have it."""
        return self.folder is not None and level >= self._first

    def share(self) -> None:
        """Keep files of all levels, and remove none: other processes need them, too."""
        assert self.folder
        self._first, self.shared = 0, True

    def sum_of(self, band: int) -> bytes:
        """Return the CRC-32 of a file.

        Raises FractalsError: there is none: the disk is full, or the folder is gone.
        """
        try:
            with open(self._path(band), "rb") as file:
                file.seek(-4, os.SEEK_END)
                return file.read()
        except OSError as error:
            raise FractalsError(
                f"'{self._path(band)}' can't be written: {error.strerror or error}"
            ) from None

    def keep(self, wanted: range) -> None:
        """Remove the files of other bands, which no frame needs any more, and unfinished ones."""
        if self.shared:
            return
        for path in self.folder.iterdir() if self.folder else ():
            band, _, kind = path.name.partition(".")
            if band.isdecimal() and (kind != "npy" or int(band) not in wanted):
                path.unlink(missing_ok=True)

    def _sizes(self, band: int) -> dict[int, int]:
        """Return how many numbers each level of a band has in its file."""
        if self._given:
            return self._given(band, self._first)
        first = max(self._first, self.layout.finest(band))
        whole = self.layout.columns * self.layout.rows
        levels = range(first, self.layout.levels)
        return {level: (whole >> 2 * level) * CHANNELS for level in levels}

    def _path(self, band: int) -> Path:
        assert self.folder
        return band_path(self.folder, band)


class BandFile:
    """The file of a band while it is written, its rows in any order.

    Leaving the context moves it into place. After an error, or where the disk is full, there is
    none.
    """

    def __init__(self, path: Path | None, dtype: np.dtype[Any], sizes: dict[int, int]) -> None:
        self._path, self._dtype, self._sizes = path, dtype, sizes
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._path:
            # Others may write it, too.
            self._part = self._path.with_suffix(f".{secrets.token_hex(4)}.part")
            try:
                self._file = open(self._part, "w+b")
                self._file.write(header := _header(self._dtype, self._sizes))
                self._begin = len(header)
            except OSError:
                self._give_up()
        return self

    def put(self, level: int, row: int, numbers: NDArray[Any]) -> None:
        """Write rows of a level, from one on, where the file has the level."""
        if not self._file or level not in self._sizes:
            return
        before = itertools.takewhile(lambda other: other != level, self._sizes)
        first = sum(self._sizes[other] for other in before) + row * numbers[0].size
        try:
            self._file.seek(self._begin + first * self._dtype.itemsize)
            self._file.write(np.ascontiguousarray(numbers).data)
        except OSError:
            self._give_up()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._path or not self._file or kind:
            self._give_up()
            return
        try:
            self._file.seek(self._begin)
            size = sum(self._sizes.values()) * self._dtype.itemsize
            crc = _crc_of(self._file, size, _crc_of_place(self._path))
            self._file.write(crc.to_bytes(4, "little"))
            self._file.close()
            os.replace(self._part, self._path)
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        if self._file:
            with contextlib.suppress(OSError):
                self._file.close()
            self._part.unlink(missing_ok=True)
        self._file = None


def _header(dtype: np.dtype[Any], sizes: Mapping[int, int]) -> bytes:
    """Return how a file of levels begins: the header of one array in NumPy's format."""
    fields = {"descr": dtype.str, "fortran_order": False, "shape": (sum(sizes.values()),)}
    written = io.BytesIO()
    npy.write_array_header_1_0(written, fields)
    return written.getvalue()


def _crc_of_place(path: Path) -> int:
    """Return the CRC-32 of a band and its folder, whose name says of which film and part it is."""
    return zlib.crc32(f"{path.parent.name}/{path.name}".encode())


def _crc_of(file: BinaryIO, size: int, crc: int) -> int:
    """Return the CRC-32 of what came before, and of the next bytes of a file."""
    for done in range(0, size, PIECE):
        crc = zlib.crc32(file.read(min(PIECE, size - done)), crc)
    return crc


def band_path(folder: Path, band: int) -> Path:
    """Return the path of the file of a band."""
    return folder / f"{band:06d}.npy"

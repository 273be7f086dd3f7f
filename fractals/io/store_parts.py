"""Tiles of a store as parts, which many machines write; one process puts them into the planes.

Processes never share the planes of a store, because network file systems lose what two machines
write into one file. ``NAME.fz/parts/`` holds a file for each tile (see `fractals.io.parts`), until
whoever holds the store's lock has written them into the planes.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fractals.errors import FractalsError
from fractals.io.files import HEADER, writing
from fractals.io.parts import Part, Parts
from fractals.io.store import Planes, Store, TileWriter, header_text
from fractals.io.store_lock import PARTS, claimed, clear

TILE = ".tile"


def parts_of(store: Store) -> Parts:
    """Return the parts of a store. Parts of another header count as missing."""
    text = header_text(store.header).encode("utf-8", "surrogatepass")
    return Parts(store.path / PARTS, hashlib.sha256(text).hexdigest()[:32])


def tile_name(k: int) -> str:
    """Return the name of the part with a tile.

    Examples
    --------
    >>> tile_name(123)
    '000123.tile'
    """
    return f"{k:06d}{TILE}"


class PartWriter:
    """Writes tiles of a store as parts; any thread may write."""

    def __init__(self, store: Store) -> None:
        self._parts = parts_of(store)

    def write(self, k: int, planes: Planes) -> None:
        """Write the numbers of tile k."""
        self._parts.put(tile_name(k), planes)

    def close(self) -> None:
        """Do nothing: each part is on the disk already."""


def read_tile(store: Store, parts: Parts, k: int) -> Part | None:
    """Return the part with a tile; None where it is missing, damaged or does not fit."""
    part = parts.read(tile_name(k))
    return part if part and fits(store, k, part) else None


def fits(store: Store, k: int, part: Part) -> bool:
    """Tell whether the arrays of a part are those of a tile."""
    rows = store.window(k)
    shape = rows.stop - rows.start, store.shape[1]
    found = {name: (array.dtype, array.shape) for name, array in part.arrays.items()}
    return found == {name: (dtype, shape) for name, dtype in store.planes.items()}


def missing_parts(store: Store) -> list[int]:
    """Return the tiles that are neither in the planes nor there as parts."""
    parts, done = parts_of(store), store.done()
    there = set(parts.names())
    return [
        k
        for k in np.flatnonzero(~done).tolist()
        if tile_name(k) not in there or read_tile(store, parts, k) is None
    ]


def merge_parts(store: Store) -> int:
    """Write the tiles of all parts into the planes, and return how many there were.

    The store must be locked by this process. Parts of tiles are removed once their numbers are on
    the disk.

    Raises
    ------
    FractalsError
        A tile was computed twice, with different results; or the store can't be written.
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


def _check_same(store: Store, k: int, part: Part) -> None:
    rows, planes = store.window(k), store.read()
    for name in store.planes:
        if zlib.crc32(np.ascontiguousarray(planes[name][rows]).data) != part.sums[name]:
            raise FractalsError(
                f"tile {k + 1} of {store.tiles} in '{store.name}' differs from the result of "
                f"{part.machine}: one of the machines that computed them is wrong. Remove "
                f"'{PARTS}/{part.name}', or start again with --overwrite"
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

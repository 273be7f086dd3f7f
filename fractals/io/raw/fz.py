"""Raw numbers in a store, tile by tile: see `fractals.io.stores.store`."""

import os
from pathlib import Path

from fractals.errors import FractalsError, OptionError
from fractals.io.escape_data import EscapePlanes, arrays_of, with_directions
from fractals.io.files import HEADER, check_overwrite
from fractals.io.raw import RawFormat
from fractals.io.stores.store import (
    RawStore,
    TileWriter,
    check_complete,
    claimed,
    clear,
    create_store,
    make_header,
    open_store,
)


def save(raw: EscapePlanes, path: Path, overwrite: bool) -> None:
    """Write raw numbers that are whole to a new store."""
    check_overwrite(overwrite)
    if os.path.exists(path / HEADER) and not overwrite:
        raise FractalsError(f"'{path}' exists already: name another store, or give overwrite=True")
    planes = with_directions(raw).planes
    types = {name: plane.dtype for name, plane in planes.items()}
    # Every error is found before an existing store is cleared.
    raw.check()
    header = make_header(raw.scene, types, raw.max_iterations, raw.count_offset, raw.method)
    store = RawStore(path, header)
    if raw.count.shape != store.shape:
        raise OptionError(
            f"the raw numbers are of the shape {raw.count.shape}, and their scene of {store.shape}"
        )
    with claimed(path):
        clear(path)
        store = create_store(path, header)
        writer = TileWriter(store)
        try:
            for k in range(store.tiles):
                rows = store.window(k)
                raw.check_rows(rows, planes)
                writer.write(k, {name: plane[rows] for name, plane in planes.items()})
        finally:
            writer.close()


def load(path: Path) -> EscapePlanes:
    """Return the raw numbers of a complete store; its arrays are read from the files on use."""
    store = open_store(path)
    check_complete(store)
    return EscapePlanes(
        **arrays_of(store.read()),
        max_iterations=store.max_iterations,
        scene=store.scene,
        method=store.method,
        count_offset=store.count_offset,
        check_rows=store.check_rows,
    )


def make() -> RawFormat:
    """Return the format."""
    return RawFormat(save, load)

"""Stores that were interrupted, and the bytes of a store."""

import itertools
import json
import zlib
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import fractals
from fractals.io.stores import store


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def interrupted(path, drawn, tiles=3, **options):
    """Compute a store, interrupt it after some tiles, and return which tiles are complete."""
    write, times = store.TileWriter.write, itertools.count()

    def stop(self, k, planes):
        if next(times) == tiles:
            raise KeyboardInterrupt
        write(self, k, planes)

    with (
        mock.patch.object(store.TileWriter, "write", stop),
        pytest.raises(KeyboardInterrupt),
    ):
        fractals.compute_to(path, drawn, **options)
    claimed = (np.load(path / "tiles.npy") > 0).all(axis=1)
    assert 0 < claimed.sum() < claimed.size
    return claimed


def change_header(path, **keys):
    """Change keys of a store's header, with the checksum that they have."""
    header = json.loads((path / "header.json").read_text("utf-8")) | keys
    header.pop("checksum")
    text = json.dumps(header, ensure_ascii=False, indent=1)
    header["checksum"] = f"{zlib.crc32(text.encode()):08x}"
    (path / "header.json").write_text(json.dumps(header, ensure_ascii=False, indent=1), "utf-8")

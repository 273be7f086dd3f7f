"""Stores that were interrupted, and the bytes of a store."""

import itertools
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import fractals
from fractals.io import store


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def interrupted(path, drawn, tiles=3, **options):
    """Compute a store, interrupt it after some tiles, and return which tiles are complete."""
    write, times = store.Store.write, itertools.count()

    def stop(self, k, planes):
        if next(times) == tiles:
            raise KeyboardInterrupt
        write(self, k, planes)

    with (
        mock.patch.object(store.Store, "write", stop),
        pytest.raises(KeyboardInterrupt),
    ):
        fractals.compute_to(path, drawn, **options)
    claimed = (np.load(path / "tiles.npy") > 0).all(axis=1)
    assert 0 < claimed.sum() < claimed.size
    return claimed

"""Bands of a large picture that are kept beside its file, so that drawing goes on after a kill."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.errors import FractalsError
from fractals.io.files import HEADER, folder_beside, read_json, written

BANDS = ".bands"  # the name of a file's folder ends so


class Kept:
    """Bands in a folder: files that appear under their names once they are complete."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, picture: Mapping[str, Any], band: int) -> int:
        """Begin, or go on with what is kept of the same picture; return the rows of a band.

        `picture`: what its bands depend on.
        """
        # A higher band would not fit into memory, a lower one does.
        if 0 < (before := self.band_of(picture)) <= band:
            return before
        self._clear()
        with written(self.folder / HEADER) as file:
            file.write(json.dumps({"version": __version__, **picture, "band": band}).encode())
        return band

    def band_of(self, picture: Mapping[str, Any]) -> int:
        """Return the rows of a band of what is kept of a picture; 0: nothing is."""
        with suppress(OSError, ValueError, FractalsError):
            known = dict(read_json(self.folder / HEADER))
            before = known.pop("band", 0)
            if known == {"version": __version__, **picture} and isinstance(before, int):
                return before
        return 0

    def save(self, name: str, **arrays: Any) -> None:
        """Keep some arrays."""
        with written(self.folder / f"{name}.npz") as file:
            np.savez(file, **arrays)

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Return arrays that are kept; None: there are none, or they are damaged."""
        try:
            # NumPy does not close a damaged file that it opened.
            with open(self.folder / f"{name}.npz", "rb") as file, np.load(file) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def remove(self, name: str) -> None:
        """Remove some arrays."""
        (self.folder / f"{name}.npz").unlink(missing_ok=True)

    def _clear(self) -> None:
        for each in [*self.folder.glob("*.npz"), self.folder / HEADER]:
            with suppress(FileNotFoundError):
                each.unlink()

    def end(self) -> None:
        """Remove what is kept; files of others stay."""
        self._clear()
        with suppress(OSError):
            self.folder.rmdir()


@contextmanager
def kept_beside(path: Path) -> Iterator[Kept]:
    """Keep bands beside a file until it is written."""
    from fractals.io.stores.store import claimed

    folder = folder_beside(path, BANDS)
    with claimed(folder):
        kept = Kept(folder)
        yield kept
        kept.end()

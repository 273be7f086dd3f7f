"""Locks a store for one process, and checks that its scene is the one to be computed."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io.files import HEADER, check_folder, writing
from fractals.io.parts import clear_folder
from fractals.io.store import TILES, Store, open_store
from fractals.scene.compare import differences
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene

PARTS = "parts"  # a folder inside a store: see `fractals.io.store_parts`


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
        folder = os.open(path, os.O_RDONLY) if os.name == "posix" else None
    try:
        if folder is not None:
            import fcntl

            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FractalsError(
                    f"'{path}' is being computed by another process: wait for it, or name another"
                ) from None
            except OSError:
                pass
        yield
    finally:
        if folder is not None:
            os.close(folder)
        if made:  # removed if nothing was written
            with contextlib.suppress(OSError):
                path.rmdir()


def clear(path: Path) -> None:
    """Remove the files of a store from its folder.

    Raises
    ------
    FractalsError
        The folder holds other files.
    """
    known = {HEADER, PARTS, f"{TILES}.npy", "count.npy", "z.npy", "dz.npy"}
    with contextlib.suppress(SceneError):
        known |= {f"{name}.npy" for name in open_store(path).files.values()}
    with writing(path):
        there = sorted(path.iterdir())
    mine = re.compile(rf"statistics\d+\.npy|\.{HEADER}\..*")  # the latter: an incomplete header
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


def check_complete(store: Store) -> None:
    """Raise a `SceneError` that names the command to type where tiles are missing."""
    done = np.count_nonzero(store.done())
    if done < store.tiles:
        raise SceneError(
            f"{store.path}: {done} of {store.tiles} tiles are there "
            f"({100 * done // store.tiles} %): fractals compute {store.path} computes the others"
        )


def check_same(store: Store, scene: Scene) -> None:
    """Raise an `OptionError` where a store has another scene, or lacks planes."""
    if keys := differences(store.scene, scene):
        raise OptionError(
            f"'{store.path}' is there, of another scene: {', '.join(keys)} "
            f"{'differs' if len(keys) == 1 else 'differ'}: name another store, or give --overwrite"
        )
    if lacking := make_layers(scene).lacking(store.planes):
        layer, names = lacking
        raise OptionError(
            f"'{store.path}' keeps {', '.join(store.planes)}, and the coloring '{layer.label}' "
            f"needs {', '.join(names)} too: name another store, or give --overwrite"
        )


def check_version(store: Store) -> None:
    """Raise an `OptionError` where another version of the program created a store."""
    if store.program != __version__:
        raise OptionError(
            f"'{store.path}' was begun by fractals {store.program}, and this is {__version__}: "
            "the last digits of their numbers may differ. --overwrite computes all tiles again; "
            f"pip install fractals-numba=={store.program} resumes them"
        )

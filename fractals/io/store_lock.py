"""Who may go on with a store: one process at a time, with the scene that it was begun with."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io.files import HEADER, check_folder, writing
from fractals.io.store import TILES, Store, open_store
from fractals.scene.compare import differences
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Make the folder of a store where there is none, and have it for this process alone.

    The system lets go of it when the process ends, however that comes about. Where it knows no
    such claims, as on some network disks, two processes do no harm: both write the same bytes.
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
        if made:  # nothing came of it
            with contextlib.suppress(OSError):
                path.rmdir()


def clear(path: Path) -> None:
    """Take away what a store's folder holds, where it is one or was to become one.

    Raises
    ------
    FractalsError
        There is something else in the folder.
    """
    ours = {HEADER, f"{TILES}.npy", "count.npy", "z.npy", "dz.npy"}
    with contextlib.suppress(SceneError):
        ours |= {f"{name}.npy" for name in open_store(path).files.values()}
    with writing(path):
        there = sorted(path.iterdir())
    mine = re.compile(rf"statistics\d+\.npy|\.{HEADER}\..*")  # the latter is a header half written
    others = [p.name for p in there if p.name not in ours and not mine.fullmatch(p.name)]
    if others:
        raise FractalsError(
            f"'{path}' is a folder that holds other things ('{others[0]}'): name another"
        )
    with writing(path):
        for file in sorted(there, key=lambda file: file.name != HEADER):  # the header first
            file.unlink()


def check_complete(store: Store) -> None:
    """Raise a `SceneError` where tiles are missing, that says what to type."""
    done = np.count_nonzero(store.done())
    if done < store.tiles:
        raise SceneError(
            f"{store.path}: {done} of {store.tiles} tiles are there "
            f"({100 * done // store.tiles} %): fractals compute {store.path} computes the others"
        )


def check_same(store: Store, scene: Scene) -> None:
    """Raise an `OptionError` where a store is not of this scene, or lacks planes that it needs."""
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
    """Raise an `OptionError` where another version of the program began a store."""
    if store.program != __version__:
        raise OptionError(
            f"'{store.path}' was begun by fractals {store.program}, and this is {__version__}, "
            "whose last digits may differ: go on with that, or give --overwrite"
        )

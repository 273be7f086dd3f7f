"""Who may go on with a store: one process at a time, with the scene that it was begun with."""

import contextlib
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.files import HEADER, check_folder
from fractals.layers import make_layers
from fractals.planning import place_of
from fractals.raw import EscapeData
from fractals.scene import Scene
from fractals.store import TILES, Store, create_store, open_store, writing

COLORS = ("version", "title", "author", "note", "color")  # what the raw numbers don't depend on
PICTURE = ("bits", "dpi", "compression")


def differences(first: Scene, second: Scene) -> list[str]:
    """Return the keys in which two scenes have other raw numbers.

    Examples
    --------
    >>> differences(Scene(), Scene().replace(zoom="1.0", limit=50, palette="ember"))
    ['iteration.limit']
    """
    one, two = _facts(first), _facts(second)
    return [key for key in {**one, **two} if one.get(key) != two.get(key)]


def _facts(scene: Scene) -> dict[str, Any]:
    table = {key: value for key, value in scene.to_table().items() if key not in COLORS}
    facts: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and name != "formula":
            facts |= {f"{name}.{key}": value for key, value in value.items()}
        else:
            facts[name] = value
    for key in PICTURE:
        facts.pop(f"image.{key}", None)
    formula = scene.make_formula()
    width, center = place_of(scene, formula)
    facts.pop("view.zoom", None)  # however they are written
    if scene.julia:
        facts["julia"] = tuple(Decimal(part) for part in scene.julia)
    return facts | {
        "formula": formula.label,
        "view.center": center,
        "view.width": width,
        "iteration.number": scene.iteration.number_type,
    }


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
    mine = re.compile(rf"watched\d+\.npy|\.{HEADER}\..*")  # the latter is a header half written
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


def save_store(raw: EscapeData, path: Path, overwrite: bool) -> None:
    """Write raw numbers that are whole to a new store."""
    if (path / HEADER).exists() and not overwrite:
        raise FractalsError(f"'{path}' exists already: name another store, or give --overwrite")
    planes = raw.planes
    with claimed(path):
        clear(path)
        types = {name: plane.dtype for name, plane in planes.items()}
        store = create_store(path, raw.scene, types, raw.limit, raw.base, raw.method)
        try:
            for k in range(store.tiles):
                rows = store.window(k)
                raw.check_rows(rows, planes)
                store.write(k, {name: plane[rows] for name, plane in planes.items()})
        finally:
            store.close()

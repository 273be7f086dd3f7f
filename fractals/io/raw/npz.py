"""Raw numbers in a NumPy archive: count, z, dz, orbit statistics, limit and scene."""

import json
import zipfile
from pathlib import Path

import numpy as np

from fractals.errors import InputError
from fractals.io.escape_data import EscapeData
from fractals.io.files import check_output, written
from fractals.io.load import load_scene
from fractals.io.raw import RawFormat

WATCHED = "watched "  # how the names of orbit statistics begin


def save(raw: EscapeData, path: Path, overwrite: bool) -> None:
    """Write a NumPy archive."""
    check_output(path, overwrite)
    planes = {WATCHED + n if n in raw.watched else n: p for n, p in raw.planes.items()}
    arrays = {**planes, "max_iterations": np.int64(raw.max_iterations)}
    if raw.count_offset:
        arrays["count_offset"] = np.int64(raw.count_offset)
    with written(path) as file:
        np.savez(file, scene=np.array(raw.scene.to_json()), **arrays)  # type: ignore[arg-type]


def load(path: Path) -> EscapeData:
    """Return the raw numbers in a NumPy archive.

    Raises
    ------
    InputError
        The file is missing, damaged, or holds something else.
    """
    if Path(path).is_file() and not zipfile.is_zipfile(path):
        raise InputError(f"{path}: not raw numbers that fractals compute wrote")
    try:
        with np.load(path, allow_pickle=False) as archive:
            scene = load_scene(json.loads(str(archive["scene"])))
            dz, base = archive.get("dz"), int(archive.get("count_offset", 0))
            planes = [key for key in archive.files if key.startswith(WATCHED)]
            watched = {key.removeprefix(WATCHED): archive[key] for key in planes}
            count, z, limit = archive["count"], archive["z"], int(archive["max_iterations"])
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: the raw numbers in it are damaged or incomplete ({error})"
        ) from None
    if count.ndim != 2 or z.shape != count.shape or z.dtype.kind != "c":
        raise InputError(f"{path}: the arrays in it don't fit together")
    if any(p.shape != count.shape or p.dtype != z.real.dtype for p in watched.values()):
        raise InputError(f"{path}: the arrays in it don't fit together")
    return EscapeData(count, z, dz, limit, scene, count_offset=base, watched=watched)


def make() -> RawFormat:
    """Return the format."""
    return RawFormat(save, load)

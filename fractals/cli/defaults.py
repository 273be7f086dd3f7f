"""The user's file of defaults, TOML: device, threads, and keys of scenes.

    device = "cpu"
    threads = 4
    [image]
    size = [2560, 1440]
    [color]
    palette = "ember"

Keys of the scene, environment variables and options override it.
"""

import functools
import re
from pathlib import Path
from typing import Any

import click

from fractals.errors import InputError, OptionError, SceneError, shown

TABLES = ("image", "iteration", "color")
KEYS = ("device", "threads", "author", *TABLES)
MAX_THREADS = 1024
DEVICE_NAME = re.compile(r"auto|cpu|gpu|cuda(:\d+|:all)?|simulator|python", re.ASCII)


def path() -> Path:
    """Return where the file of defaults lies, whether it exists or not."""
    return Path(click.get_app_dir("fractals"), "defaults.toml")


@functools.cache
def read(file: Path) -> dict[str, Any]:
    """Return the table of a file of defaults; an empty one where there is no file.

    Raises
    ------
    SceneError
        The file is invalid; the message names it, and the key.
    """
    if not file.is_file():
        return {}
    from fractals.catalog import did_you_mean
    from fractals.io.files import read_toml

    table = read_toml(file)
    for key in table:
        if key not in KEYS:
            hint = did_you_mean(key[:50], KEYS) or f"; known keys: {', '.join(KEYS)}"
            raise SceneError(f"{shown(file)}: '{shown(key, 40)}' can't have a default{hint}")
    device, threads = table.get("device", "auto"), table.get("threads", 1)
    if not (isinstance(device, str) and DEVICE_NAME.fullmatch(device)):
        raise SceneError(f"{shown(file)}: device: unknown device '{shown(device, 40)}'")
    if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
        raise SceneError(
            f"{shown(file)}: threads: '{shown(threads, 40)}' is not a whole number from 1 to "
            f"{MAX_THREADS}"
        )
    return table


def device() -> str:
    """Return the default of ``--device``."""
    return str(read(path()).get("device", "auto"))


def threads() -> int | None:
    """Return the default of ``--threads``: None, all cores."""
    found: int | None = read(path()).get("threads")
    return found


def scene_table() -> dict[str, Any]:
    """Return the keys of scenes that have a default of the user's own.

    A palette's file is looked up beside the file of defaults, then in the current folder.

    Raises
    ------
    SceneError
        A value is invalid; the message names the file.
    """
    from fractals.io.embed import embed_files
    from fractals.scene.model import validate

    file = path()
    table = {key: value for key, value in read(file).items() if key not in ("device", "threads")}
    if not table:
        return {}
    try:
        embedded = dict(embed_files(table, file.parent, None))
    except (InputError, OptionError) as error:
        raise SceneError(f"{shown(file)}: {error}") from None
    validate(embedded, shown(file))
    return embedded

"""Files that are written whole or not at all, and the scene inside a PNG."""

import contextlib
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from fractals.errors import FractalsError, SceneError

SCENE_KEY = "fractals:scene"  # of the iTXt chunk
HEADER = "header.json"  # of a store: see `fractals.io.store`
STORE_FORMAT = "fractals store"


def check_output(path: str | Path, overwrite: bool) -> None:
    """Raise a `FractalsError` where a file could not be written, before any work is done."""
    path = Path(path)
    if path.is_dir():
        raise FractalsError(f"'{path}' is a folder: name a file")
    if path.exists() and not overwrite:
        raise FractalsError(f"'{path}' exists already: name another file, or give --overwrite")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Raise a `FractalsError` where nothing can be written beside this path."""
    if not path.parent.is_dir():
        raise FractalsError(f"the folder '{path.parent}' does not exist: create it first")
    if not os.access(path.parent, os.W_OK):
        raise FractalsError(f"the folder '{path.parent}' can't be written to")


@contextlib.contextmanager
def written(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only once it is whole."""
    path = Path(path)
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:50]}.", delete=False
        ) as file:
            name = file.name
            yield file  # type: ignore[misc]
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
        name = ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise FractalsError(f"'{path}' can't be written: {reason}") from None
    finally:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_scene_text(path: str | Path) -> str:
    """Return the JSON of the scene inside one of our PNGs.

    Raises
    ------
    SceneError
        The file is no PNG, is damaged, or carries no scene.
    """
    import PIL.Image
    from PIL.PngImagePlugin import PngImageFile

    try:  # nothing is decoded, so posters are no danger
        with lifted_limit(), PIL.Image.open(path, formats=["PNG"]) as picture:
            assert isinstance(picture, PngImageFile)
            text = picture.info.get(SCENE_KEY)
            picture.verify()
    except FileNotFoundError:
        raise SceneError(f"{path}: no such file") from None
    except PIL.UnidentifiedImageError:
        raise SceneError(f"{path}: not a PNG, or damaged at its beginning") from None
    except (OSError, SyntaxError, ValueError) as error:
        raise SceneError(f"{path}: the PNG is damaged or cut short ({error})") from None
    if text is None:
        raise SceneError(f"{path}: this PNG carries no scene; only pictures drawn by fractals do")
    return str(text)


@contextlib.contextmanager
def lifted_limit() -> Iterator[None]:
    """Let Pillow open pictures of any size: ours may be posters."""
    import PIL.Image

    largest = PIL.Image.MAX_IMAGE_PIXELS
    PIL.Image.MAX_IMAGE_PIXELS = None
    try:
        yield
    finally:
        PIL.Image.MAX_IMAGE_PIXELS = largest


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table in a TOML file, or raise a `SceneError`."""
    return _parsed(path, lambda: tomllib.loads(read_bytes(path).decode("utf-8")))


def read_json(path: Path) -> dict[str, Any]:
    """Return the table in a JSON file, or raise a `SceneError`."""
    return _parsed(path, lambda: json.loads(read_bytes(path)))


def read_embedded(path: Path) -> dict[str, Any]:
    """Return the table of the scene inside one of our PNGs, or raise a `SceneError`."""
    return _parsed(path, lambda: json.loads(read_scene_text(path)))


def read_store_header(path: Path) -> dict[str, Any]:
    """Return the header of a store of raw numbers, or raise a `SceneError`."""
    if not path.exists():
        raise SceneError(f"{path}: no such store")
    if not (path / HEADER).is_file():
        raise SceneError(f"{path}: not a store that fractals compute wrote")
    header = read_json(path / HEADER)
    if header.get("format") != STORE_FORMAT or not isinstance(header.get("scene"), dict):
        raise SceneError(f"{path}: not a store that fractals compute wrote")
    return header


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return what is in a file, of `most` bytes if given, or raise a `SceneError`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1 if most >= 0 else -1)
    except FileNotFoundError:
        raise SceneError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # a ValueError where the name is none
        raise SceneError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if 0 <= most < len(data):
        raise SceneError(f"{path}: larger than {most} bytes")
    return data


def printable(text: str) -> str:
    """Return text that is one line and does nothing to a terminal: tabs are blanks, others '?'."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in text)


def _parsed(path: Path, parse: Callable[[], Any]) -> dict[str, Any]:
    try:
        table = parse()
    except (ValueError, RecursionError) as error:
        if isinstance(error, FractalsError):
            raise
        raise SceneError(f"{path}: {str(error) or type(error).__name__}") from None
    if not isinstance(table, dict):
        raise SceneError(f"{path}: a table of keys was expected, not {type(table).__name__}")
    return table

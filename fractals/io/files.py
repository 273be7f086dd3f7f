"""Files read within bounds and written whole or not at all, and the scene in a PNG."""

import base64
import contextlib
import errno
import io
import json
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from fractals.errors import FractalsError, OptionError, SceneError, kind_of, shown, typed
from fractals.io import png
from fractals.scene.numbers import LONG_INTEGER, ExactFloat, plain

SCENE_KEY = "fractals:scene"  # of the iTXt chunk
HEADER = "header.json"  # of a store: see `fractals.io.stores.store`
STORE_FORMAT = "fractals store"
# Bytes of a scene. JSON is parsed at 100 MB/s; tomllib takes 0.1 microseconds a character, because
# it is written in Python, so a larger TOML file would take more than a second.
MAX_JSON_BYTES = 32 * 2**20
MAX_TOML_BYTES = 8 * 2**20
# Brackets, commas, dots, line ends, ...: each can become a Python object of about 200 bytes, and
# takes tomllib about 3 microseconds. The largest scene, of 17 palettes, has 350,000.
MAX_SIGNS = 400_000
MAX_HEADERS = 1000  # lines such as [view]; each takes tomllib about 20 microseconds
MAX_KEY_DOTS = 8  # tomllib's time and memory grow with the square of a dotted key's parts
MAX_INTEGER = 1000  # characters; Python itself limits decimal integers to 4300, but no hexadecimal
# Of Windows: access denied, sharing violation, file with a mapped part. It neither removes nor
# replaces such files.
IN_USE = (5, 32, 1224)
# What stands before and behind the scene of pages (see `fractals.io.page`) and of lines.
PAGES = {
    ".html": (b'id="scene" href="data:application/toml;base64,', b'"'),
    ".svg": (b"<desc>", b"</desc>"),
}
NO_TEXT = "neither UTF-8 nor UTF-16 text"
MAX_NAME = 255  # bytes of the name of a file: the limit of most file systems
PATH_SHOWN = 4096  # characters of a path in a message
TOML_HEADER = r"(?m)^[ \t]*+\[{1,2}[^\[\],\n]*+\]"
# The texts and comments of a TOML file. Possessive (++, *+), and closed by the file's end too, so
# that the search is linear in the file's length.
TOML_TEXT = (
    r'(?ms)"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\.)*+(?:"|$|\Z)'
    r"|'[^'\n]*+(?:'|$|\Z)"
    r"|\#[^\n]*+"
)


def as_path(given: Any) -> Path:
    """Return the path that a caller of the library gave, or raise an `OptionError`."""
    name = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(name, str):
        raise OptionError(f"{typed(given, 60)}: give the name of a file")
    return Path(name)


def check_overwrite(given: Any) -> None:
    """Raise an `OptionError` for a value of ``overwrite=`` that is neither True nor False."""
    if not isinstance(plain(given), bool):
        raise OptionError(f"overwrite={typed(given)}: give True or False")


def check_output(path: str | Path, overwrite: bool) -> None:
    """Raise a `FractalsError` where a file could not be written, before any work is done."""
    if not isinstance(overwrite, bool):
        check_overwrite(overwrite)
    path = Path(path)
    if os.path.isdir(path):
        raise _refused(path, "is a folder: name a file")
    if os.path.lexists(path) and not overwrite:  # a link to nothing, too: its target is written
        raise _refused(path, "exists already: name another file, or give overwrite=True")
    check_folder(path)
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # too long a name, or a zero byte in it
        reason = getattr(error, "strerror", None) or error
        raise _refused(path, f"can't be written: {reason}") from None
    _check_replaced(path)


def _check_replaced(path: Path) -> None:
    """Raise a `FractalsError` where what has this name, or what the link leads to, stays."""
    try:
        found = os.stat(path)
    except OSError:  # a link to a file that is still to come
        found = None
    if found is None or stat.S_ISREG(found.st_mode):  # pipes and devices are written to
        target = Path(os.path.realpath(path))
        check_folder(target)
        folder = os.stat(target.parent)
        owners = (0, found.st_uid, folder.st_uid) if found else ()
        if found and folder.st_mode & stat.S_ISVTX and os.geteuid() not in owners:  # as in /tmp
            raise _refused(path, "is another user's, who alone may replace it: name another file")


def check_folder(path: Path) -> None:
    """Raise a `FractalsError` where nothing can be written beside this path."""
    if not os.path.isdir(path.parent):
        raise _refused(path.parent, "does not exist: create it first", "the folder ")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise _refused(path.parent, "can't be written to", "the folder ")


def folder_beside(path: Path, suffix: str) -> Path:
    """Return the folder in which work on a file is kept, beside it: its name and a suffix.

    A name that the suffix makes too long is cut, with a digest of what is cut away.
    """
    name = os.fsencode(path.name)
    if len(name) + len(suffix) <= MAX_NAME:
        return path.with_name(path.name + suffix)
    return path.with_name(f"{path.name[:50]}-{zlib.crc32(name):08x}{suffix}")


@contextlib.contextmanager
def made_folder(path: str | Path) -> Iterator[None]:
    """Create a folder, and those above it, for as long as files come into them.

    What was created here and is empty at the end, as after an error, is removed again.
    `FractalsError`: the folder can't be created.
    """
    folder = Path(path)
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a ValueError: a zero byte
            reason = getattr(error, "strerror", None) or error
            raise _refused(path, f"can't be made: {reason}", "the folder ") from None
        yield
    finally:
        for each in missing:
            with contextlib.suppress(OSError, ValueError):
                each.rmdir()


def _refused(path: str | Path, why: str, what: str = "") -> FractalsError:
    """Return the error about a path, which `what` may introduce."""
    return FractalsError(f"{what}'{shown(path, PATH_SHOWN)}' {why}")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into a `FractalsError` that names the path."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str | Path, error: OSError) -> FractalsError:
    reason = error.strerror or str(error)
    if getattr(error, "winerror", None) in IN_USE:
        reason += "; Windows keeps files in use: end what uses it, or delete the raw numbers of it"
    return _refused(path, f"can't be written: {reason}")


@contextlib.contextmanager
def written(path: str | Path, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only once it is complete.

    Until then the file has no name where the operating system supports that (Linux), so it
    disappears however the process ends. Elsewhere it has a temporary name beside the path.
    A replaced file's permissions are kept. A symbolic link is followed. A pipe or a device is
    written to directly.

    Without `overwrite`, a file of this name that another process created in the meantime is an
    error.
    """
    path = Path(path)
    name = ""
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        old = os.stat(target) if os.path.exists(target) else None
        if old and not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as stream:
                yield stream
            return
        descriptor, name = _unpublished(target)
        # By its name, if it has one: libraries open it again (`path_of`).
        with open(name or descriptor, "wb", opener=lambda *_: descriptor) as file:
            yield file
            file.flush()
            if old and hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            os.fsync(descriptor)
            if not name:
                name = _named(descriptor, target)
        if overwrite:
            os.replace(name, target)
            name = ""
        else:
            published(name, target)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _unpublished(target: Path) -> tuple[int, str]:
    """Return the descriptor of a new file beside a path, and its name ("": it has none)."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # a file system without unnamed files
            return os.open(target.parent, os.O_WRONLY | os.O_TMPFILE, 0o666), ""
    name = _temporary(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(name, flags, 0o666), name


def _temporary(target: Path) -> str:
    return str(target.parent / f".{target.name[:50]}.{os.urandom(4).hex()}")


def _named(descriptor: int, target: Path) -> str:
    """Give an unnamed file a temporary name beside a path, and return that."""
    name = Path(_temporary(target))
    folder = os.open(target.parent, os.O_RDONLY)
    try:  # with a folder, Python calls linkat, which follows the link in /proc
        os.link(f"/proc/self/fd/{descriptor}", name.name, dst_dir_fd=folder)
    finally:
        os.close(folder)
    return str(name)


def published(name: str, target: Path) -> None:
    """Give a complete file its own name too, unless another file has that name."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise _refused(
            target,
            "was written by another process in the meantime: name another file, or give "
            "overwrite=True",
        ) from None
    except OSError:  # a file system without hard links
        if os.path.exists(target):
            raise FileExistsError(f"{target} exists already") from None
        os.replace(name, target)


def path_of(file: BinaryIO) -> str:
    """Return a path that opens the file that `written` yields, for libraries that take a name."""
    return file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}"


def open_to_read(path: str | Path) -> io.BufferedReader:
    """Open a file, or raise an `OSError`: of a pipe or a device, too, which may have no end."""
    kind = os.stat(path).st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # opening a folder is an error by itself
        raise OSError(errno.EINVAL, "a pipe, a socket or a device: name a file", str(path))
    return open(path, "rb")


class NoSceneError(SceneError):
    """A whole picture in which this program kept no scene."""


def read_scene_text(path: str | Path) -> str:
    """Return the JSON of the scene inside a picture of this program. Nothing is decoded.

    `SceneError`: the file is no picture of its suffix's type, or is damaged. `NoSceneError`: it
    carries no scene of this program.
    """
    name = shown(path, PATH_SHOWN)
    kind = "PNG" if Path(path).suffix.lower() == ".png" else "picture"
    try:
        with open_to_read(path) as file:
            if kind != "PNG":
                from fractals.io import exif

                if os.fstat(file.fileno()).st_size > exif.MAX_FILE:
                    raise SceneError(f"{name}: a picture whose scene is read has at most 1 GiB")
                text = exif.comment_in(file)
            elif png.begins(file):
                text = png.read_text(file, SCENE_KEY, MAX_JSON_BYTES)
            else:
                raise SceneError(f"{name}: not a PNG, or damaged at its beginning")
    except FileNotFoundError:
        raise SceneError(f"{name}: no such file") from None
    except SceneError:
        raise
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None)  # by the system, as of a file that is another's
        reason = told or shown(error)
        if told or not os.path.isfile(path):
            raise SceneError(f"{name}: {reason}") from None
        raise SceneError(f"{name}: the {kind} is damaged or cut short ({reason})") from None
    if text is None:
        raise NoSceneError(
            f"{name}: this {kind} carries no scene; only pictures drawn by fractals do, "
            "and those of Kalles Fraktaler and XaoS"
        )
    return text


@contextlib.contextmanager
def lifted_limit() -> Iterator[None]:
    """Let Pillow open pictures of any size, because posters exceed its limit."""
    import PIL.Image

    largest = PIL.Image.MAX_IMAGE_PIXELS
    PIL.Image.MAX_IMAGE_PIXELS = None
    try:
        yield
    finally:
        PIL.Image.MAX_IMAGE_PIXELS = largest


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table in a TOML file, or raise a `SceneError`."""
    return parsed(path, lambda: parse_toml(text_of(read_bytes(path, MAX_TOML_BYTES))))


def read_json(path: Path) -> dict[str, Any]:
    """Return the table in a JSON file, or raise a `SceneError`."""
    return parsed(path, lambda: parse_json(text_of(read_bytes(path, MAX_JSON_BYTES))))


def text_of(data: bytes, old: bool = False) -> str:
    """Return the text of a file: UTF-8, or UTF-16 where it begins with a byte order mark.

    Programs of Windows write either mark. What is no text of its kind is a `ValueError`. `old`:
    such bytes are those of Western Windows, as older programs write them, and nothing is an error.
    """
    utf16 = len(data) > 2 and data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        if not old:
            raise
    return data.decode("utf-16" if utf16 else "cp1252", "replace")


def read_embedded(path: Path) -> dict[str, Any]:
    """Return the table of the scene inside a picture or a page, or raise a `SceneError`."""
    if (suffix := path.suffix.lower()) not in PAGES:
        return parsed(path, lambda: parse_json(read_scene_text(path)))

    def parse() -> dict[str, Any]:
        try:
            with open_to_read(path) as file:
                return scene_in_page(file, suffix)
        except NoSceneError as error:
            raise NoSceneError(f"{shown(path, PATH_SHOWN)}: {error}") from None

    return parsed(path, parse)


def scene_in_page(file: BinaryIO, suffix: str) -> dict[str, Any]:
    """Return the table of the scene in a page, or in a drawing of lines, that this program wrote.

    `NoSceneError`: there is none. `ValueError`: it is damaged.
    """
    before, after = PAGES[suffix]
    kept = b""
    while piece := file.read(png.PIECE):
        kept = kept[-len(before) :] + piece
        _, found, rest = kept.partition(before)
        if found:
            text = (rest + read_most(file, MAX_JSON_BYTES)).partition(after)[0]
            if suffix == ".html":
                return parse_toml(base64.b64decode(text, validate=True).decode())
            from xml.sax.saxutils import unescape  # it imports what reads addresses of the web

            return parse_scene(unescape(text.decode()))
    raise NoSceneError("this file carries no scene; only those written by fractals do")


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text, or raise a `ValueError` or `RecursionError`."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    count = sum(map(data.count, (b"{", b"[", b",")))
    if count > MAX_SIGNS or len(text) > MAX_JSON_BYTES:
        raise ValueError(
            f"{len(text)} bytes with {count} brackets and commas: a scene has at most "
            f"{MAX_JSON_BYTES} with {MAX_SIGNS}"
        )
    try:
        return json.loads(text, parse_float=ExactFloat)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:
        raise ValueError(LONG_INTEGER) from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text, or raise a `ValueError` or `RecursionError`."""
    count = sum(map(text.count, "{[,=\n\\")) + text.count(".")
    if count > MAX_SIGNS or len(text) > MAX_TOML_BYTES:
        raise ValueError(
            f"{len(text)} bytes with {count} keys, values and lines: a TOML file has at most "
            f"{MAX_TOML_BYTES} with {MAX_SIGNS}"
        )
    bare = re.sub(TOML_TEXT, "''", text)
    if sum(1 for _ in re.finditer(TOML_HEADER, bare)) > MAX_HEADERS:
        raise ValueError(f"it has more than {MAX_HEADERS} tables")
    if any(part.count(".") > MAX_KEY_DOTS for part in re.split(r"[\n,=\[\]{}]", bare)):
        raise ValueError(f"a key or number has more than {MAX_KEY_DOTS} dots")
    words = re.split(r"[^0-9A-Za-z_]+", bare)
    if any(len(word) > MAX_INTEGER and word[:2] in ("0x", "0o", "0b") for word in words):
        raise ValueError(f"an integer has more than {MAX_INTEGER} digits")
    try:
        return tomllib.loads(text, parse_float=ExactFloat)
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).rpartition(" (")
        if "twice" not in said and "overwrite a value" not in said:
            raise
        raise ValueError(f"a key or a table is given twice ({where}") from None
    except ValueError:
        raise ValueError(LONG_INTEGER) from None


def parse_scene(text: str | bytes) -> dict[str, Any]:
    """Return the table of a scene kept as JSON inside another file, or raise a `ValueError`."""
    try:
        table = parse_json(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(table, dict):
        raise ValueError(f"a table of keys was expected, not {kind_of(table)}")
    return table


def read_store_header(path: Path) -> dict[str, Any]:
    """Return the header of a store of raw numbers, or raise a `SceneError`."""
    name = shown(path, PATH_SHOWN)
    if not os.path.exists(path):
        raise SceneError(f"{name}: no such store")
    closed = os.path.isdir(path) and not os.access(path, os.X_OK)  # its files can't be seen
    if not (closed or os.path.isfile(path / HEADER)):
        raise SceneError(f"{name}: not a store that fractals wrote")

    def parse() -> Any:
        with open_inside(path / HEADER) as file:
            return parse_json(read_most(file, MAX_JSON_BYTES))

    header = parsed(path / HEADER, parse)
    if header.get("format") != STORE_FORMAT or not isinstance(header.get("scene"), dict):
        raise SceneError(f"{name}: not a store that fractals wrote")
    return header


def open_inside(path: Path, mode: str = "rb") -> BinaryIO:
    """Open a file inside a store: "rb" to read, "r+b" to write in place, "xb" to create.

    A symbolic link, a pipe or a device is an `OSError`, because an archive of a stranger could
    otherwise make this program overwrite a file elsewhere, or wait for ever.
    """
    flags = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "xb": os.O_RDWR | os.O_CREAT | os.O_EXCL}[mode]
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    if os.path.islink(path):
        raise OSError(f"{path.name} is a symbolic link, which a store can't hold")
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is not a regular file")
    buffering = 0 if mode == "r+b" else -1
    return os.fdopen(descriptor, "wb" if mode == "xb" else mode, buffering)  # type: ignore[return-value]


def read_most(file: BinaryIO, most: int) -> bytes:
    """Return the content of a file, or its first `most` + 1 bytes, in memory of that size."""
    pieces: list[bytes] = []
    left = most + 1
    while left and (piece := file.read(min(left, png.PIECE))):  # read(n) allocates n bytes
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_bytes(path: Path, most: int = MAX_JSON_BYTES) -> bytes:
    """Return the content of a file of at most `most` bytes, or raise a `SceneError`."""
    name = shown(path, PATH_SHOWN)
    try:
        with open_to_read(path) as file:
            data = read_most(file, most)
    except FileNotFoundError:
        raise SceneError(f"{name}: no such file") from None
    except (OSError, ValueError) as error:  # a ValueError where the name holds a zero byte
        raise SceneError(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    if most < len(data):
        raise SceneError(f"{name}: larger than {most} bytes")
    return data


def parsed(path: Path | str, parse: Callable[[], Any]) -> dict[str, Any]:
    """Return the table that ``parse()`` returns, or raise a `SceneError` that names the file."""
    name = shown(path, PATH_SHOWN)
    try:
        table = parse()
    except RecursionError:
        raise SceneError(f"{name}: nested too deeply") from None
    except OSError as error:
        raise SceneError(f"{name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SceneError(f"{name}: {NO_TEXT}") from None
    except ValueError as error:
        if isinstance(error, FractalsError):
            raise
        raise SceneError(f"{name}: {shown(error) or type(error).__name__}") from None
    if not isinstance(table, dict):
        raise SceneError(f"{name}: a table of keys was expected, not {kind_of(table)}")
    return table

"""Parts: the pieces of a computation, each a file of its own, which many machines can write.

A network file system shows one machine's changes of a file to others late or in pieces, but a file
that gets its name once it is complete is the same everywhere. A part is such a file:

``MARK``, 16 bytes
    "fractals part 1" and a line end.
two little-endian uint32
    The length of the table, and its CRC-32.
a table, UTF-8 JSON
    ``name`` of the part; ``work``, the digest of what it is a part of; ``machine``, who computed
    it; ``facts``, plain values; ``arrays``, a list of [name, type, shape, CRC-32].
the arrays
    In this order, C order, little-endian, each from the next multiple of 64 bytes on.

Two computations of the same part have the same arrays. A process may be killed at any moment and
leaves nothing to repair; a CRC detects numbers that a power failure or a copy damaged.
"""

import contextlib
import json
import math
import os
import re
import secrets
import shutil
import socket
import struct
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import FractalsError, shown
from fractals.io.files import open_inside, read_most, writing, written

MARK = b"fractals part 1\n"
HEAD = struct.Struct("<II")
ALIGNED = 64  # bytes: a cache line
MAX_TABLE = 2**20  # bytes
STRAY = 3600  # seconds after which a file that never got its name was left by a killed process
TYPES = {name: np.dtype(name) for name in ("<i4", "<i8", "<c16", "<c8", "<f8", "<f4", "|u1")}
NAME = re.compile(r"[0-9a-z][0-9a-z.-]{0,80}", re.ASCII)

Arrays = Mapping[str, NDArray[Any]]


class DamagedPartError(FractalsError):
    """What arrived as a part is none, or its CRCs are wrong."""


def this_machine() -> str:
    """Return the name of this machine and process, for messages."""
    return f"{socket.gethostname()} (process {os.getpid()})"


@dataclass(frozen=True)
class StorePart:
    """A part that was read and whose CRCs are right."""

    name: str
    machine: str
    facts: dict[str, Any]
    # Mapped from the file; a change of them is not written; dict of str to ndarray
    arrays: dict[str, NDArray[Any]] = field(repr=False)
    sums: dict[str, int]  # CRC-32 of each array


class StoreParts:
    """The folder of the parts of one computation.

    `folder`: it need not exist. `work`: the digest of what is computed. Parts of other work count
    as missing.
    """

    def __init__(self, folder: Path, work: str) -> None:
        self.folder, self.work = folder, work

    def names(self) -> list[str]:
        """Return the names of all files that may be parts."""
        try:
            found = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise FractalsError(f"'{self.folder}': {error.strerror or error}") from None
        return sorted(name for name in found if NAME.fullmatch(name))

    def put(self, name: str, arrays: Arrays, facts: Mapping[str, Any] | None = None) -> None:
        """Write a part, or compare it with the one that another process wrote.

        `FractalsError`: it can't be written; or the two differ, and the message names both
        machines.
        """
        content = encode(name, self.work, arrays, facts)
        if before := self.read(name):
            check_equal(decode(content, self.work), before)
            return
        self.keep(name, content)

    def keep(self, name: str, content: bytes) -> None:
        """Write the bytes of a part."""
        assert NAME.fullmatch(name), name
        with writing(self.folder):
            self.folder.mkdir(exist_ok=True)
        if self.folder.is_symlink():
            raise FractalsError(f"'{self.folder}' is a symbolic link, which a store can't hold")
        path = self.folder / name
        if path.is_symlink():
            path.unlink()
        with written(path) as file:
            file.write(content)

    def read(self, name: str) -> StorePart | None:
        """Return a part; None where it is missing, damaged, or of other work."""
        path = self.folder / name
        try:
            with open_inside(path) as file:
                table = _read_table(file.read(len(MARK) + HEAD.size), file)
                content = np.memmap(file, np.uint8, "c")
            found = _part(table, content, self.work)
        except (OSError, ValueError, KeyError, TypeError, ArithmeticError):
            return None
        return found if found.name == name else None

    def remove(self, names: list[str]) -> None:
        """Remove parts."""
        for name in names:
            with writing(self.folder), contextlib.suppress(FileNotFoundError):
                (self.folder / name).unlink()

    def tidy(self) -> None:
        """Remove files without a name of their own that killed processes left.

        Their age is counted by the clock that dates files: a file server's may differ by hours
        from this machine's, and what another machine is writing must stay.
        """
        with contextlib.suppress(OSError):
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".clock-") as file:
                now = os.stat(file.name).st_mtime
            for path in self.folder.glob(".*"):
                if now - path.lstat().st_mtime > STRAY:
                    path.unlink()

    def clear(self) -> None:
        """Remove the folder with all parts."""
        clear_folder(self.folder)

    def make_token(self) -> Path:
        """Create an empty file by which others tell whether they share this folder."""
        path = self.folder / f"token-{secrets.token_hex(8)}"
        with writing(self.folder):
            self.folder.mkdir(exist_ok=True)
            path.touch()
        return path


def clear_folder(folder: Path) -> None:
    """Remove a folder of parts.

    `FractalsError`: the folder holds other files; or it can't be removed.
    """
    if folder.is_symlink():
        folder.unlink()
    try:
        there = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FractalsError(f"'{folder}': {error.strerror or error}") from None
    others = [n for n in there if not (n.startswith(".") or NAME.fullmatch(n))]
    if others or any((folder / name).is_dir() for name in there):
        named = shown((others or there)[0], 80)
        raise FractalsError(f"'{folder}' holds other things ('{named}'): remove the folder")
    with writing(folder):
        shutil.rmtree(folder)


def encode(name: str, work: str, arrays: Arrays, facts: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of a part that this process computed."""
    given = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    table = {
        "name": name,
        "work": work,
        "machine": this_machine(),
        "facts": dict(facts or {}),
        "arrays": [
            [key, array.dtype.newbyteorder("<").str, list(array.shape), zlib.crc32(array.data)]
            for key, array in given.items()
        ],
    }
    text = json.dumps(table).encode()
    pieces = [MARK, HEAD.pack(len(text), zlib.crc32(text)), text]
    length = sum(map(len, pieces))
    for array in given.values():
        pieces += [b"\0" * (-length % ALIGNED), array.tobytes()]
        length += len(pieces[-2]) + array.nbytes
    return b"".join(pieces)


def decode(content: bytes, work: str) -> StorePart:
    """Return the part of its bytes.

    `DamagedPartError`: the bytes are damaged, or a part of other work.
    """
    import io

    file = io.BytesIO(content)
    try:
        table = _read_table(file.read(len(MARK) + HEAD.size), file)
        return _part(table, np.frombuffer(content, np.uint8), work)
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise DamagedPartError(f"a part arrived damaged ({shown(error, 80)})") from None


def check_equal(new: StorePart, before: StorePart) -> None:
    """Raise a `FractalsError` that names both machines where two computations differ."""
    if (new.sums, new.facts) != (before.sums, before.facts):
        raise difference(new.name, before.machine, new.machine)


def difference(name: str, before: str, new: str) -> FractalsError:
    """Return the error of a part of which two machines have different results."""
    return FractalsError(
        f"part {name} was computed twice, with different results: by {before} and by {new}. One of "
        "these machines computes wrongly: use neither until it is known which, and start again "
        "with overwrite=True"
    )


def _read_table(head: bytes, file: Any) -> dict[str, Any]:
    if len(head) < len(MARK) + HEAD.size or not head.startswith(MARK):
        raise ValueError("no part")
    length, crc = HEAD.unpack(head[len(MARK) :])
    if length > MAX_TABLE:
        raise ValueError("its table is too large")
    text = read_most(file, length - 1)[:length]
    if zlib.crc32(text) != crc:
        raise ValueError("its table is damaged")
    table: dict[str, Any] = json.loads(text)
    table["at"] = len(head) + length
    return table


def _part(table: dict[str, Any], content: NDArray[np.uint8], work: str) -> StorePart:
    if table["work"] != work:
        raise ValueError("of other work")
    at, arrays, sums = table["at"], {}, {}
    for name, kind, shape, crc in table["arrays"]:
        dtype = TYPES[kind]
        at += -at % ALIGNED
        size = dtype.itemsize * math.prod(shape)
        piece = content[at : at + size]
        if len(piece) != size or zlib.crc32(piece.data if size else b"") != crc:
            raise ValueError("it is damaged")
        arrays[name] = np.asarray(piece).view(dtype).reshape(shape)
        sums[name] = crc
        at += size
    if at != len(content):
        raise ValueError("it is not of its size")
    return StorePart(str(table["name"]), shown(table["machine"], 100), table["facts"], arrays, sums)

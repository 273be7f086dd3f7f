"""The folder of a film that is being made: segments that are whole, resumed after an end.

``NAME.film/`` is beside the film. It holds ``film.json`` (what is made, with a checksum),
``segments/FRAME-CRC.SUFFIX``: the segment that begins with a frame, with the CRC-32 of its bytes,
and ``bands-FRAME/``: the strip of the part that begins with a frame, as `strip.py` keeps it. The
workers of a cluster write ``parts/``.
A segment gets its name once it is whole, so a killed process leaves nothing to repair.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fractals.errors import FractalsError, OptionError, SceneError, shown
from fractals.io.files import PATH_SHOWN, read_json, writing, written
from fractals.io.store import header_text
from fractals.io.store_lock import claimed

FORMAT, VERSION = "fractals film", 1
HEADER = "film.json"
SEGMENTS = "segments"
SUFFIX = ".film"
PIECE = 2**20  # bytes read at once
BANDS = "bands-"
PARTS = "parts"  # of a cluster
OWN = re.compile(rf"{SEGMENTS}|{PARTS}|{BANDS}\d+|\..*")  # what may be there without a header
NAME = re.compile(r"(\d{8})-([0-9a-f]{8})\.\w+", re.ASCII)


class Work:
    """The folder of a film that is being made; `open_work` locks it."""

    def __init__(self, path: Path, suffix: str) -> None:
        self.path, self.suffix = path, suffix
        self.segments = path / SEGMENTS
        # An encoder of a process that was killed may still write to its own draft.
        self._token = secrets.token_hex(4)

    def find(self, first: int) -> Path | None:
        """Return the whole segment that begins with a frame; damaged ones are removed."""
        for path in sorted(self.segments.glob(f"{first:08d}-*{self.suffix}")):
            found = NAME.fullmatch(path.name)
            if found and int(found[2], 16) == crc_of(path):
                return path
            with writing(path):
                path.unlink()
        return None

    def draft(self, first: int) -> Path:
        """Return the path of a segment that is being written."""
        return self.segments / f".{first:08d}-{self._token}{self.suffix}"

    @property
    def joined(self) -> Path:
        """Return the path of the film while it is joined."""
        return self.segments / f".joined-{self._token}{self.suffix}"

    def bands(self, first: int) -> Path:
        """Return the folder of the strip of a part."""
        return self.path / f"{BANDS}{first:08d}"

    def clean(self) -> None:
        """Remove drafts that processes before this one left."""
        with writing(self.segments):
            self.segments.mkdir(exist_ok=True)
            for path in self.segments.glob(".*"):
                path.unlink()

    def keep(self, first: int) -> Path:
        """Give a draft that is whole its name, and return its path."""
        draft = self.draft(first)
        with writing(draft):
            path = self.segments / f"{first:08d}-{crc_of(draft):08x}{self.suffix}"
            sync(draft)
            os.replace(draft, path)
        return path

    def remove(self) -> None:
        """Remove the folder; its header goes first, so that what is left is no film."""
        with contextlib.suppress(OSError):
            (self.path / HEADER).unlink()
        shutil.rmtree(self.path, ignore_errors=True)


def crc_of(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            crc = zlib.crc32(piece, crc)
    return crc


def sync(path: Path) -> None:
    """Bring a file to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def folder_of(path: Path) -> Path:
    """Return the work folder of a film."""
    return path.with_name(path.name + SUFFIX)


@contextlib.contextmanager
def open_work(path: Path, facts: Mapping[str, Any], suffix: str, again: bool) -> Iterator[Work]:
    """Create or resume the work folder of a film, locked for this process.

    Parameters
    ----------
    path : Path
        Of the film.
    facts : mapping
        What is made; plain values for JSON.
    again : bool
        Whether a folder of another film is removed first.

    Raises
    ------
    OptionError
        The folder holds another film.
    FractalsError
        Another process makes the film, or the folder holds other things.
    """
    folder = folder_of(path)
    work = Work(folder, suffix)
    header = {"format": FORMAT, "version": VERSION, **facts}
    header["checksum"] = _checksum(header)
    with _locked(folder):
        if not _resumes(folder, header, again):
            with written(folder / HEADER) as file:
                file.write(header_text(header).encode() + b"\n")
        work.clean()
        yield work


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder. A process that removed it in the meantime leaves no lock on the new one."""
    try:
        with claimed(folder):
            yield
    except FractalsError as error:
        if "is being computed" in str(error):
            raise FractalsError(
                f"'{shown(folder, PATH_SHOWN)}': another process makes this film; wait for it, or "
                "name another file"
            ) from None
        raise


def _resumes(folder: Path, header: Mapping[str, Any], again: bool) -> bool:
    """Tell whether a folder holds this film; an empty one, or one to be replaced, is emptied."""
    if not os.path.exists(folder / HEADER):
        others = [name for name in os.listdir(folder) if not OWN.fullmatch(name)]
        if others:
            raise FractalsError(
                f"'{shown(folder, PATH_SHOWN)}' holds other things ('{shown(others[0], 40)}'): "
                "name another film"
            )
        _empty(folder)
        return False
    try:
        found = read_json(folder / HEADER)
    except SceneError:
        found = {}
    if found.get("checksum") != _checksum(found):  # damaged
        _empty(folder)
        return False
    keys = [key for key in header if found.get(key) != json.loads(json.dumps(header[key]))]
    if not keys:
        return True
    if not again:
        differing = ", ".join(key for key in keys if key != "checksum") or "checksum"
        raise OptionError(
            f"'{shown(folder, PATH_SHOWN)}' holds another film begun there ({differing} differs): "
            "name another file, or give --overwrite"
        )
    _empty(folder)
    return False


def _empty(folder: Path) -> None:
    with writing(folder):
        with contextlib.suppress(FileNotFoundError):
            (folder / HEADER).unlink()
        for entry in list(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()


def _checksum(keys: Mapping[str, Any]) -> str:
    others = {key: value for key, value in keys.items() if key != "checksum"}
    return f"{zlib.crc32(header_text(others).encode('utf-8', 'surrogatepass')):08x}"

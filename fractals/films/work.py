"""The folder of a film that is being made: segments that are whole, resumed after an end.

``NAME.film/`` is beside the film. It holds ``film.json`` (what is made, with a checksum),
``segments/FRAME-CRC.SUFFIX``: the segment that begins with a frame, and ``bands-FRAME-DIGEST/``:
the strip of the part that begins with a frame, as `strip.py` keeps it. The workers of a cluster
write ``parts/``. ``finished`` has the CRC-32 and the size of the film, once it is joined.
Each CRC-32 is that of the place, followed by the bytes: the digest of ``film.json``, and the frame
or the band. So a file that was swapped, renamed, or copied from another film is made again.
A segment gets its name once it is whole, so a killed process leaves nothing to repair.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fractals.errors import DeviceFailedError, FractalsError, OptionError, SceneError, shown
from fractals.io.files import (
    PATH_SHOWN,
    folder_beside,
    open_inside,
    read_json,
    read_most,
    writing,
    written,
)
from fractals.io.stores.store import checksum, claimed, header_text

FORMAT, VERSION = "fractals film", 1
HEADER = "film.json"
SEGMENTS = "segments"
SUFFIX = ".film"
PIECE = 2**20  # bytes read at once
BANDS = "bands-"
PARTS = "parts"  # of a cluster
FINISHED = "finished"
# What may be there without a header.
OWN = re.compile(rf"{SEGMENTS}|{PARTS}|{FINISHED}|{BANDS}[\da-f-]+|\..*")
NAME = re.compile(r"(\d{8})-([0-9a-f]{8})\.\w+", re.ASCII)


class FilmFolder:
    """The folder of a film that is being made; `open_work` locks it.

    `film`: the digest of the header, to which files are bound. `resumes`: whether the folder was
    there, of this film.
    """

    def __init__(self, path: Path, suffix: str, film: str = "", resumes: bool = False) -> None:
        self.path, self.suffix, self.film, self.resumes = path, suffix, film, resumes
        self.segments = path / SEGMENTS
        # An encoder of a process that was killed may still write to its own draft.
        self._token = secrets.token_hex(4)

    def find(self, first: int) -> Path | None:
        """Return the whole segment that begins with a frame; damaged ones are removed."""
        for path in sorted(self.segments.glob(f"{first:08d}-*{self.suffix}")):
            found = NAME.fullmatch(path.name)
            if found and int(found[2], 16) == self._crc_of(path, first):
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
        return self.path / f"{BANDS}{first:08d}-{self.film}"

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
            path = self.segments / f"{first:08d}-{self._crc_of(draft, first):08x}{self.suffix}"
            sync(draft)
            os.replace(draft, path)
        return path

    def finish(self) -> None:
        """Note that the joined film is whole, before it gets its name."""
        with written(self.path / FINISHED) as file:
            file.write(self._facts(self.joined).encode())

    def is_finished(self, path: Path) -> bool:
        """Tell whether a file is the film that was made here."""
        try:
            with open_inside(self.path / FINISHED) as file:
                return read_most(file, PIECE) == self._facts(path).encode()
        except OSError:
            return False

    def remove(self) -> None:
        """Remove the folder, unless it holds other things.

        What tells that the film is finished goes last, and before it the header: whatever is left
        by a process that is killed, the same command removes.
        """
        with contextlib.suppress(OSError):
            for entry in list(self.path.iterdir()):
                if OWN.fullmatch(entry.name) and entry.name != FINISHED:
                    _remove(entry)
            for name in (HEADER, FINISHED):
                _unlink(self.path / name)
            self.path.rmdir()

    def remove_unused(self) -> None:
        """Remove the folder if nothing is there that the same command could go on with."""
        with contextlib.suppress(OSError):
            if {entry.name for entry in self.path.iterdir()} <= {HEADER, SEGMENTS}:
                self.segments.rmdir()
                self.remove()

    def _crc_of(self, path: Path, first: int) -> int:
        return crc_of(path, f"{self.film} {first}")

    def _facts(self, path: Path) -> str:
        return f"{crc_of(path, self.film):08x} {path.stat().st_size}\n"


def crc_of(path: Path, place: str = "") -> int:
    """Return the CRC-32 of a place and the bytes of a file."""
    crc = zlib.crc32(place.encode())
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
    return folder_beside(path, SUFFIX)


@contextlib.contextmanager
def open_work(
    path: Path, facts: Mapping[str, Any], suffix: str, again: bool
) -> Iterator[FilmFolder]:
    """Create or resume the work folder of a film, locked for this process.

    `path`: of the film. `facts`: what is made; plain values for JSON. `again`: whether a folder of
    another film is removed first. Raises OptionError: the folder holds another film. Raises
    FractalsError: another process makes the film, or the folder holds other things.
    """
    folder = folder_of(path)
    header = {"format": FORMAT, "version": VERSION, **facts}
    header["checksum"] = checksum(header)
    digest = hashlib.sha256(header_text(header).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    with _locked(folder):
        resumes = _resumes(folder, header, again)
        if resumes:
            _remove_links(folder)
        else:
            with written(folder / HEADER) as file:
                file.write(header_text(header).encode() + b"\n")
        work = FilmFolder(folder, suffix, digest, resumes)
        work.clean()
        try:
            yield work
        except DeviceFailedError:  # the next try may be on another device, or at another size
            work.remove_unused()
            raise


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
    if found.get("checksum") != checksum(found):  # damaged
        _empty(folder)
        return False
    keys = [key for key in header if found.get(key) != json.loads(json.dumps(header[key]))]
    if not keys:
        return True
    if not again:
        differing = ", ".join(key for key in keys if key != "checksum") or "checksum"
        raise OptionError(
            f"'{shown(folder, PATH_SHOWN)}' holds another film begun there ({differing} differs): "
            "name another file, or give overwrite=True"
        )
    _empty(folder)
    return False


def _empty(folder: Path) -> None:
    with writing(folder):
        with contextlib.suppress(FileNotFoundError):
            (folder / HEADER).unlink()
        for entry in list(folder.iterdir()):
            _remove(entry)


def _remove(entry: Path) -> None:
    """Remove a file, a link, or a folder with all that it holds."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _unlink(path: Path) -> None:
    path.unlink(missing_ok=True)


def _remove_links(folder: Path) -> None:
    """Remove symbolic links that have names of folders of a film.

    Drafts are removed from these folders, and must not be files of another place.
    """
    with writing(folder):
        for entry in list(folder.iterdir()):
            if entry.is_symlink() and OWN.fullmatch(entry.name):
                entry.unlink()

"""Finds the files that a file names: in its folder, in folders around it, and in the user's."""

import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fractals.errors import InputError, OptionError, shown
from fractals.io.files import read_bytes

MAX_BESIDE = 10_000  # files of a folder that are looked at
MAX_BYTES = 16 * 2**20  # of a file of another program; the largest known has 2 * 2**20
# Where collections keep what their parameters name: in such a folder beside the parameters, or
# beside their folder.
KINDS = {"formula": ("formula", "formulas"), "map": ("map", "maps")}


def folders_of(given: Any) -> tuple[Path, ...]:
    """Return the folders that ``formulas=`` names: one path, or several.

    `OptionError`: one of them is no folder.
    """
    several = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(several, Sequence) or not all(
        isinstance(each, str | os.PathLike) for each in several
    ):
        raise OptionError(f"formulas={given!r:.60}: give a folder, or a list of folders")
    folders = tuple(Path(os.path.expanduser(each)) for each in several)
    for folder in folders:
        if not os.path.isdir(folder):
            raise OptionError(f"formulas='{shown(folder)}': no such folder")
    return folders


def plain_name(name: str) -> str:
    r"""Return the name of a file without folders and drive, of Windows too.

    >>> plain_name(r"C:\fractint\MANY.frm"), plain_name("c:many.frm"), plain_name("a/b.map")
    ('MANY.frm', 'many.frm', 'b.map')
    """
    return name.replace("\\", "/").replace(":", "/").rpartition("/")[2]


class Beside:
    """Reads the files that a file names, by their names alone, whose case does not matter.

    The names come from a file, which may be a stranger's. Therefore nothing outside a few folders
    is read: the file's own, those of `KINDS` in it and beside it, and `more`, which the user names.
    Without a `folder` the file was sent to the explorer, and nothing is read.
    """

    def __init__(self, folder: Path | None = None, more: Sequence[Path] = ()) -> None:
        self.folder, self.more = folder, tuple(more)
        self._files = functools.cache(files_in)
        self._folders = functools.cache(self._around)

    def contents(self, name: str, kind: str) -> Iterator[bytes]:
        """Yield the content of each file of this name, the nearest first; see `KINDS`."""
        for folder in self._folders(kind):
            if own := self._files(folder).get(plain_name(name).lower()):
                yield read_bytes(folder / own, MAX_BYTES)

    def places(self, kind: str) -> str:
        """Return where files are looked for, in words that follow "not"."""
        if self.folder is None:
            return "beside it: a file that is sent alone must hold what it names"
        one, several = KINDS[kind]
        own = "".join(f", {shown(folder, 80)}" for folder in self.more)
        return (
            f"in its folder, ../{one}, ../{several}, {several}/{own}: "
            "formulas='FOLDER' names another folder"
        )

    def _around(self, kind: str) -> list[Path]:
        """Return the folders that are looked in, the nearest first."""
        if self.folder is None:
            return []
        roots = (self.folder / os.pardir, self.folder)
        inner = [path for root in roots for path in _inner(root)]
        near = [path for known in KINDS[kind] for path in inner if path.name.lower() == known]
        paths = (self.folder, *near, *self.more)
        return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]


@dataclass(frozen=True)
class Place:
    """Where names of palettes, pictures, tracks and sounds come from, and where their files lie."""

    folder: Path = Path()  # of the scene's file
    from_file: bool = False  # whether a file, which may be a stranger's, contains the names
    more: tuple[Path, ...] = ()  # folders of the user

    def find(self, name: str | Path, keywords: str = "palette= or coloring=") -> Path:
        """Return where a file lies.

        Of names in a file: in its folder or inside it. Where it is not there, a file of the same
        name is searched for, whatever the case, in the same folder and in those of the user. Of
        other names: in the folder, or in the current one.

        `InputError`: a path in a file, or a symbolic link on it, leads elsewhere; `keywords` then
        name a file oneself.
        """
        path = Path(name)
        if not self.from_file:
            return self.folder / path if os.path.isfile(self.folder / path) else path
        inside = self._has(path)
        if inside and os.path.isfile(self.folder / path):
            return self.folder / path
        near = [(self.folder / path).parent] if inside else []
        for folder in [*near, *self.more]:
            if own := files_in(folder).get(path.name.lower()):
                return folder / own
        if not inside:
            raise InputError(
                f"'{shown(path)}' is not in the folder of the scene that names it: copy it there, "
                f"or name it yourself ({keywords})"
            )
        return self.folder / path

    def _has(self, path: Path) -> bool:
        """Tell whether a path, with all links on it, stays in the folder."""
        if path.anchor or ".." in path.parts:
            return False
        try:
            real = Path(os.path.realpath(self.folder / path))
        except (OSError, ValueError):  # a zero byte
            return False
        return real.is_relative_to(os.path.realpath(self.folder))


HERE = Place()


def files_in(folder: Path) -> dict[str, str]:
    """Return the names of a folder's files by their names in lower case; no links are followed."""
    return {each.name.lower(): each.name for each in _listed(folder) if _is(each, "is_file")}


def _inner(folder: Path) -> list[Path]:
    """Return the folders in a folder."""
    return [folder / each.name for each in _listed(folder) if _is(each, "is_dir")]


def _is(entry: os.DirEntry[str], what: str) -> bool:
    return bool(getattr(entry, what)(follow_symlinks=False))


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """Return what a folder has, in the order of names; [] where it can't be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(itertools.islice(found, MAX_BESIDE), key=lambda each: each.name)
    except OSError:
        return []

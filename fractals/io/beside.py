"""Finds the files that a scene names: in its folder, and in the user's."""

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fractals.errors import InputError, OptionError, shown, typed

MAX_BESIDE = 10_000  # files of a folder that are looked at


def folders_of(given: Any) -> tuple[Path, ...]:
    """Return the folders that ``formulas=`` names: one path, or several.

    `OptionError`: one of them is no folder.
    """
    several = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(several, Sequence) or not all(
        isinstance(each, str | os.PathLike) for each in several
    ):
        raise OptionError(f"formulas={typed(given, 60)}: give a folder, or a list of folders")
    folders = tuple(Path(os.path.expanduser(each)) for each in several)
    for folder in folders:
        if not os.path.isdir(folder):
            raise OptionError(f"formulas='{shown(folder)}': no such folder")
    return folders


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


def folders_in(folder: Path) -> list[Path]:
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

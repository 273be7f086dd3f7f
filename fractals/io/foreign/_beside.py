"""Finds what a file of another program names: in its folder, around it, and in the user's."""

import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from fractals.errors import shown
from fractals.io.beside import files_in, folders_in
from fractals.io.files import read_bytes

MAX_BYTES = 16 * 2**20  # of a file of another program; the largest known has 2 * 2**20
# Where collections keep what their parameters name: in such a folder beside the parameters, or
# beside their folder.
KINDS = {"formula": ("formula", "formulas"), "map": ("map", "maps")}


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
        inner = [path for root in roots for path in folders_in(root)]
        near = [path for known in KINDS[kind] for path in inner if path.name.lower() == known]
        paths = (self.folder, *near, *self.more)
        return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]

"""Bookmarks of the explorer: a scene each, as TOML files in the user's data folder."""

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Any

from fractals.errors import FractalsError, OptionError
from fractals.explorer import outside, protocol
from fractals.explorer.session import Session
from fractals.io.files import open_inside, read_most, writing
from fractals.io.load import save_scene
from fractals.scene.model import Scene

ID = re.compile(r"[0-9a-f]{32}")
MAX_KEPT = 500
MAX_FILE = 2**20  # bytes
SECOND = 10**9  # nanoseconds: some file systems know no finer times


def bookmarks_folder() -> Path:
    """Return where bookmarks lie, whether there are any or not."""
    import platformdirs

    return Path(platformdirs.user_data_dir("fractals", False)) / "bookmarks"


class Bookmarks:
    """The bookmarks in a folder; None: there are none, and none can be kept."""

    def __init__(self, where: Path | None) -> None:
        self.where = where

    def find(self, name: str) -> Scene | None:
        """Return the scene of a bookmark, or None."""
        if self.where is None or not ID.fullmatch(name):
            return None
        path = self.where / f"{name}.toml"
        try:
            with open_inside(path) as file:  # a pipe would be waited for
                data = read_most(file, MAX_FILE)
            return None if len(data) > MAX_FILE else outside.of_toml(data.decode("utf-8"))
        except (OSError, ValueError, FractalsError):
            return None

    def keep(self, scene: Scene, title: str) -> None:
        """Write a bookmark."""
        if self.where is None:
            raise OptionError("this server keeps no bookmarks")
        if len(self._names()) >= MAX_KEPT:
            raise OptionError(f"there are {MAX_KEPT} bookmarks: remove some")
        with writing(self.where):
            self.where.mkdir(parents=True, exist_ok=True)
        titled = scene.replace(title=title) if title else scene
        save_scene(titled, self.where / f"{secrets.token_hex(16)}.toml")

    def rename(self, name: str, title: str) -> None:
        """Give a bookmark another title; its place in the list stays."""
        scene = self.find(name)
        if self.where is None or scene is None:
            raise OptionError("there is no such bookmark")
        path = self.where / f"{name}.toml"
        with writing(self.where):
            times = path.stat()
            save_scene(scene.replace(title=title), path, overwrite=True)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def sort(self, names: list[str]) -> None:
        """Put all bookmarks in an order, which the times of their files tell."""
        known = self._names()
        if self.where is None or sorted(names) != sorted(known):
            raise OptionError("the bookmarks have changed: open the list again")
        with writing(self.where):
            paths = {name: self.where / f"{name}.toml" for name in known}
            latest = max((path.stat().st_mtime_ns for path in paths.values()), default=0)
            for k, name in enumerate(names):
                os.utime(paths[name], ns=(latest, latest - k * SECOND))

    def remove(self, name: str) -> None:
        """Remove a bookmark."""
        if self.where is None or name not in self._names():
            raise OptionError("there is no such bookmark")
        with writing(self.where):
            (self.where / f"{name}.toml").unlink(missing_ok=True)

    def table(self) -> list[dict[str, Any]]:
        """Return the bookmarks, the newest first."""
        found = []
        for name in self._names():
            if scene := self.find(name):
                link = outside.link_of(scene)
                thumbnail = f"/bookmark/{name}.png"
                found.append(
                    {"id": name, "title": scene.title, "link": link, "thumbnail": thumbnail}
                )
        return found

    def _names(self) -> list[str]:
        found = []
        with contextlib.suppress(OSError):  # the folder is missing, or can't be read
            for path in self.where.glob("*.toml") if self.where else ():
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    if ID.fullmatch(path.stem):
                        found.append((-path.stat().st_mtime, path.stem))
        return [name for _, name in sorted(found)]

    def on_list(self, session: Session, message: protocol.BookmarksMessage) -> None:
        """Answer the list."""
        session.say("bookmarks", items=self.table())

    def on_change(self, session: Session, message: protocol.Bookmark) -> None:
        """Keep, rename, remove or sort bookmarks, and answer the list."""
        if message.remove:
            self.remove(message.remove)
        elif message.order is not None:
            self.sort(message.order)
        elif message.rename:
            self.rename(message.rename, message.title)
        elif message.link:
            self.keep(outside.of_link(message.link), message.title)
        elif message.frame:
            self.keep(session.scene(message.frame, message.author), message.title)
        else:
            raise OptionError(
                "give a frame or a link to keep, a bookmark to rename or remove, or an order"
            )
        session.say("bookmarks", items=self.table())

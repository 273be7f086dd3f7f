"""The private folder of a server's exported files, and those that killed servers have left."""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

PREFIX = "fractals-export-"


class ExportFolder:
    """A folder in the folder of temporary files, which only this user can open.

    It is locked as long as the server runs: the operating system releases the lock, whatever ends
    the process. An unlocked folder is a leftover.
    """

    def __init__(self) -> None:
        self._lock: int | None = None
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
            self._lock = _locked(self.path)
            if self.path.exists():  # another server may have taken it for a leftover
                return
            self._release()

    def remove(self) -> None:
        """Remove the folder with its files."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_leftovers() -> None:
    """Remove folders of this user that no server has locked."""
    if os.name != "posix":
        return
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            info = path.lstat()
            if stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid():
                lock = _locked(path)
                if lock is not None:
                    shutil.rmtree(path, ignore_errors=True)
                    os.close(lock)


def _locked(path: Path) -> int | None:
    """Return the descriptor of a folder that is locked for this process; None: it is not."""
    if os.name != "posix":
        return None
    import fcntl

    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another server runs, or the file system has no locks
        os.close(folder)
        return None
    return folder

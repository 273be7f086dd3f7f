"""Locks of folders for one process, which the operating system releases when that ends."""

import ctypes
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

ERROR_ALREADY_EXISTS = 183  # of Windows


class FolderLock:
    """Locks a folder, by the folder itself; on Windows by a mutex that is named after its path.

    `follow`: whether the folder may be a symbolic link. `BlockingIOError`: somebody has the lock.
    """

    def __init__(self, folder: Path, follow: bool = True) -> None:
        self._mutex: Any = None
        self._folder: int | None = None
        if sys.platform == "win32":
            self._mutex = _mutex_of(folder)
        else:
            import fcntl

            flags = 0 if follow else os.O_DIRECTORY | os.O_NOFOLLOW
            self._folder = os.open(folder, os.O_RDONLY | flags)
            try:
                fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.release()
                raise
            except OSError:  # a file system without locks, as some network disks are
                self.release()

    @property
    def held(self) -> bool:
        """Tell whether the folder is locked."""
        return self._folder is not None or self._mutex is not None

    def release(self) -> None:
        """Release the lock; more than once does no harm."""
        folder, self._folder = self._folder, None
        mutex, self._mutex = self._mutex, None
        if folder is not None:
            os.close(folder)
        if mutex is not None:
            ctypes.WinDLL("kernel32").CloseHandle(ctypes.c_void_p(mutex))  # type: ignore[attr-defined]


def _mutex_of(folder: Path) -> Any:
    """Return the handle of a new mutex; the system deletes it with its last handle."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.CreateMutexW.restype = ctypes.c_void_p
    path = os.path.normcase(os.path.realpath(folder))
    name = f"fractals-{hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()}"
    mutex = kernel.CreateMutexW(None, False, ctypes.c_wchar_p(name))
    if mutex and ctypes.get_last_error() == ERROR_ALREADY_EXISTS:  # type: ignore[attr-defined]
        kernel.CloseHandle(ctypes.c_void_p(mutex))
        raise BlockingIOError(f"another process has locked {folder}")
    return mutex or None

"""Folders of this user's caches: whether a folder can be trusted, and messages about caches.

A cache of compiled code is executed, so what another user could have written must not be used:
whoever plants a file there runs code as this user. Folders are checked, and each file that is read:
a folder that is closed to others today may have been open when a file was planted in it.
"""

import contextlib
import os
import re
import stat
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

# The pattern of the folders in the cache that hold compiled code, one for each set of versions
OURS = "fractals-" + "[0-9a-f]" * 16
NAME = 150  # characters: file systems take 255 bytes, and a digest and endings follow


class UntrustedFolderError(OSError):
    """A folder for a cache belongs to another user, or others can write to it."""


def compiled_folder() -> Path:
    """Return the folder of compiled programs: NUMBA_CACHE_DIR, or in the user's cache folder."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    return Path(base) if base else _user_folder() / "compiled"


def orbits_folder() -> Path:
    """Return the folder of reference orbits: in FRACTALS_CACHE_DIR or the user's cache folder."""
    base = os.environ.get("FRACTALS_CACHE_DIR")
    return (Path(base) if base else _user_folder()) / "orbits"


def _user_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("fractals", appauthor=False))


# The bounds of compiled code. Without them the folder would keep what edits, other versions of this
# package or of Numba, and formulas that nobody draws any more have left.
KEEP = 30 * 86400  # seconds; a file that nobody read for longer is removed
MOST = 2**29  # bytes of all files; a program takes 30 KB to 1 MB
DAY = 86400  # seconds after which a file's time is set anew when it is read
SOME = 2**26  # bytes that a process writes between two looks at the folder


_lock = threading.Lock()  # of what this module knows of its process
_until_sweep = 0  # bytes that may be written before the folder is looked through


def sweep(folder: Path, written: int) -> None:
    """Remove old compiled code, at the first call of a process, and each time it wrote `SOME`."""
    global _until_sweep
    with _lock:
        _until_sweep -= written
        if _until_sweep >= 0:
            return
        _until_sweep = SOME
    remove_old(folder)


def remove_old(folder: Path) -> None:
    """Remove compiled code that nobody read for `KEEP` seconds, and the oldest beyond `MOST` bytes.

    `folder`: that of `compiled_folder`, of which only folders named as in `OURS` are looked
    through. Files that can't be removed, as those in use on Windows, stay.
    """
    now, found = time.time(), []
    for top in folder.glob(OURS):
        for inner, _, names in [] if top.is_symlink() else os.walk(top, topdown=False):
            with contextlib.suppress(OSError):
                if now - os.lstat(inner).st_mtime > KEEP:
                    os.rmdir(inner)  # fails where there are files
            for path in (os.path.join(inner, name) for name in names):
                with contextlib.suppress(OSError):
                    info = os.lstat(path)
                    found.append((info.st_mtime, info.st_size, path))
    total = sum(size for _, size, _ in found)
    for changed, size, path in sorted(found):
        if now - changed <= KEEP and total <= MOST:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


def used(path: Path) -> None:
    """Note that a file was read, by the time of its last change, so that it stays."""
    with contextlib.suppress(OSError):  # another process may have removed it
        if time.time() - path.lstat().st_mtime > DAY:
            os.utime(path)


_reported: dict[str, bool] = {}  # each line, and whether the user has seen it


def report(line: str) -> None:
    """Keep a line about a cache for the user, unless this process had it before."""
    with _lock:
        _reported.setdefault(line, False)


def take_messages() -> list[str]:
    """Return the lines kept since the last call: the caller shows them to the user."""
    with _lock:
        new = [line for line, seen in _reported.items() if not seen]
        _reported.update(dict.fromkeys(new, True))
    return new


def reason(error: OSError) -> str:
    """Return in a few words why a folder or file can't be used."""
    if isinstance(error, UntrustedFolderError):
        return str(error)
    said = error.strerror or str(error)
    return f"{said}: '{error.filename}'" if error.filename else said


def trusted_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder with all links resolved, after creating it with mode 0700.

    The folder must belong to this user, and nobody else may write to it. Each parent must belong to
    this user or root, and nobody else may write to it, unless its sticky bit keeps them from
    replacing the entries of others (as in /tmp), or a parent above it is closed to them. On Windows
    nothing is checked: a user's folders are closed to other users there.

    Raises UntrustedFolderError: another user could have written to the folder; the message says
    what to change. Raises OSError: the folder can't be created.
    """
    path = Path(path)
    if not path.is_absolute() and path.parts[:1] == ("~",):
        raise UntrustedFolderError("this user has no home folder")
    if path.is_relative_to(home := os.path.expanduser("~")) and not os.path.exists(home):
        raise UntrustedFolderError(f"the home folder '{home}' does not exist")
    for part in (*reversed(path.absolute().parents), path):
        if part.is_symlink() and not part.exists():
            raise UntrustedFolderError(f"'{part}' is a link to a folder that does not exist")
    path = Path(os.path.realpath(path))
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    if os.name != "nt":
        chain = [(str(folder), folder.stat()) for folder in (*reversed(path.parents), path)]
        check_chain(chain, os.geteuid())
    return path


def check_chain(chain: Sequence[tuple[str, os.stat_result]], user: int) -> None:
    """Check a folder, the last of a chain that begins at the root: see `trusted_folder`."""
    closed = False
    for folder, info in chain[:-1]:
        if info.st_uid not in (user, 0):
            raise UntrustedFolderError(f"'{folder}' belongs to another user")
        if not (closed or info.st_mode & stat.S_ISVTX) and _others_write(info):
            raise UntrustedFolderError(f"others can write to '{folder}': chmod go-w it")
        # Nobody but the owner and root gets below a folder without rights for others.
        closed = closed or not info.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    check_own(*chain[-1], user)


def check_own(name: str | os.PathLike[str], info: os.stat_result, user: int) -> None:
    """Check that a folder or file is this user's alone.

    Raises UntrustedFolderError: it belongs to another user, or others can write to it. The advice
    is to delete it: what others wrote stays when its mode is changed.
    """
    if info.st_uid != user:
        raise UntrustedFolderError(f"'{name}' belongs to another user: delete it")
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UntrustedFolderError(f"others can write to '{name}': delete it")


def check_own_folder(folder: Path) -> None:
    """Check a folder within a trusted one, without following a link: see `check_own`."""
    info = os.lstat(folder)
    if not stat.S_ISDIR(info.st_mode):
        raise UntrustedFolderError(f"'{folder}' is not a folder: delete it")
    if os.name != "nt":
        check_own(folder, info, os.geteuid())


def open_own(path: Path) -> BinaryIO:
    """Open a file of a cache to read it.

    Raises OSError: it is missing, a link, a pipe, a device or the like, for which opening could
    wait for ever. Raises UntrustedFolderError: others could have written it.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(f"'{path}' is not a regular file")
        if os.name != "nt":
            check_own(path, info, os.geteuid())
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_own(path: Path, most: int) -> bytes:
    """Return the content of a file of a cache; a larger one is an `OSError`: see `open_own`."""
    with open_own(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(f"'{path}' is larger than {most} bytes")
        return file.read(most)


def write_own(path: Path, data: bytes) -> None:
    """Write a file of a cache, for this user alone; it appears whole or not at all."""
    new = path.with_suffix(f".{os.urandom(8).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(new, flags, 0o600), "wb") as file:
            file.write(data)
        os.replace(new, path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink()


def _others_write(info: os.stat_result) -> bool:
    """Tell whether anybody but the owner may write; a group of the owner alone is the owner."""
    if info.st_mode & stat.S_IWOTH:
        return True
    return bool(info.st_mode & stat.S_IWGRP) and not _is_private(info.st_gid, info.st_uid)


def _is_private(group: int, user: int) -> bool:
    """Tell whether a group has the user's name and no other members, as Linux makes for users."""
    try:
        import grp
        import pwd

        found, owner = grp.getgrgid(group), pwd.getpwuid(user).pw_name
    except (ImportError, KeyError):
        return False
    return found.gr_name == owner and set(found.gr_mem) <= {owner}


def short_name(text: str) -> str:
    """Return a text as a part of a file's name."""
    return re.sub(r"[^\w.,=+-]+", "_", text, flags=re.ASCII)[:NAME]

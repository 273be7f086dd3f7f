"""macOS and Windows, imitated: a process without the functions that these systems lack.

`os.name` stays "posix", and what depends on it (users, locks, paths) is not imitated.
"""

import contextlib
import ctypes
import functools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import fractals
from fractals.backends import probe
from fractals.errors import FractalsError, OptionError
from fractals.explorer import server
from fractals.io.stores.lock import FolderLock
from fractals.io.stores.store import claimed
from fractals.tools.caches import CACHES, empty_cache

LACKING = {
    "macos": """
        os: sched_getaffinity sched_setaffinity O_TMPFILE
    """,
    "windows": """
        os: sched_getaffinity sched_setaffinity O_TMPFILE sysconf fchmod nice fork
        os: getpgid killpg setsid O_DIRECTORY O_NOFOLLOW
        signal: SIGHUP SIGKILL SIGUSR1 pthread_sigmask
        socket: AF_UNIX
        modules: resource
    """,
}
PROGRAM = """
import builtins, io, os, signal, socket, sys

for line in sys.argv[1].split(";"):
    where, _, names = line.partition(":")
    for name in names.split():
        if where == "modules":
            sys.modules[name] = None
        elif hasattr(sys.modules[where], name):
            delattr(sys.modules[where], name)
real_open = io.open


def no_proc(path, *arguments, **keywords):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return real_open(path, *arguments, **keywords)


builtins.open = io.open = no_proc

from fractals.cli.verbs import run_verb

SMALL = ["--size", "24x16", "--cpu"]
COMMANDS = [
    ["devices"],
    ["render", "mandelbrot", *SMALL, "-o", "a.png"],
    ["render", "mandelbrot", "--size", "24x16", "--gpu", "-o", "b.png"],
    ["compute", "mandelbrot", *SMALL, "-o", "a.fz"],
    ["compute", "mandelbrot", *SMALL, "-o", "a.fz", "--overwrite"],
    ["recolor", "a.fz", "--palette", "ember", "--cpu", "-o", "c.png"],
    ["render", "a.png", "--palette", "dusk", *SMALL, "-o", "d.png"],
    ["film", "mandelbrot", "--cycle", "0.2", "--fps", "10", *SMALL, "-o", "e.webp"],
    ["convert", "a.png", "a.toml"],
    ["cache"],
    ["learn"],
    ["explore", "--help"],
]
for words in COMMANDS:
    code = run_verb(words)
    assert code == 0, (words, code)
print("all run")
"""


@pytest.mark.parametrize("system", LACKING)
def test_commands_run_on_an_imitated_system(system, tmp_path):
    lacking = ";".join(line.strip() for line in LACKING[system].strip().splitlines())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, lacking], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all run\n")
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_the_processor_is_named_on_macos_and_windows(monkeypatch):
    """Both systems say its name elsewhere than in /proc/cpuinfo."""
    monkeypatch.setattr(probe, "_first_core", dict)
    monkeypatch.setattr(sys, "platform", "darwin")
    answer = SimpleNamespace(stdout="Apple M2\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: answer)
    assert probe._cpu_name() == "Apple M2"
    monkeypatch.setattr(sys, "platform", "win32")
    opened = []
    winreg = SimpleNamespace(
        HKEY_LOCAL_MACHINE=1,
        OpenKey=lambda *where: contextlib.nullcontext(opened.append(where)),
        QueryValueEx=lambda _key, name: (f"{name} of a Core  ", 1),
    )
    monkeypatch.setitem(sys.modules, "winreg", winreg)
    assert probe._cpu_name() == "ProcessorNameString of a Core"
    assert opened == [(1, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0")]


class Kernel:
    """What makes and closes mutexes on Windows."""

    def __init__(self):
        self.names, self.made, self.error = {}, 0, 0
        self.CreateMutexW = functools.partial(self._create)

    def _create(self, _security, owned, name):
        assert not owned
        self.error = 183 if name.value in self.names.values() else 0
        self.made += 1
        self.names[self.made] = name.value
        return self.made

    def CloseHandle(self, handle):
        del self.names[handle.value]


def test_a_folder_is_locked_on_windows_by_a_mutex(monkeypatch, tmp_path):
    kernel = Kernel()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, **_: kernel, raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: kernel.error, raising=False)
    lock = FolderLock(tmp_path)
    assert lock.held
    with pytest.raises(BlockingIOError):
        FolderLock(tmp_path / ".")
    other = FolderLock(tmp_path.parent)
    for each in lock, other, other:
        each.release()
    assert not lock.held
    assert not kernel.names
    again = claimed(tmp_path)
    with claimed(tmp_path), pytest.raises(FractalsError, match="by another process"):
        again.__enter__()
    assert not kernel.names


def test_files_in_use_on_windows_are_named_in_one_line(monkeypatch, tmp_path):
    """Windows neither removes nor replaces a file that is open or mapped."""
    path, unlink = tmp_path / "a.fz", Path.unlink

    def in_use(self, *arguments, **keywords):
        if self.suffix == ".npy":
            error = PermissionError(13, "Access is denied", str(self))
            error.winerror = 5
            raise error
        unlink(self, *arguments, **keywords)

    keys = {"size": (8, 6), "device": "cpu"}
    fractals.compute_to(path, "mandelbrot", **keys)
    monkeypatch.setattr(Path, "unlink", in_use)
    with pytest.raises(FractalsError, match=r"a\.fz' can't be written: Access is denied; Windows"):
        fractals.compute_to(path, "mandelbrot", **keys, overwrite=True)
    folder = tmp_path / "fractals-0123456789abcdef"
    folder.mkdir()
    for name in ("a.npy", "b.o"):
        (folder / name).write_bytes(b"")
    monkeypatch.setitem(CACHES, "compiled programs", lambda: tmp_path)
    with pytest.raises(FractalsError, match="programs: 1 file deleted, and 1 can't be: Access"):
        empty_cache("compiled programs")


def test_a_system_without_unix_sockets_says_so(monkeypatch):
    monkeypatch.delattr(server.socket, "AF_UNIX")
    with pytest.raises(OptionError, match="this system has no Unix sockets: give port="):
        server._unix_socket("a.sock")


def test_the_memory_of_windows_is_what_the_system_says(monkeypatch):
    """The structure that the function fills has 64 bytes."""

    def status(pointer):
        assert ctypes.sizeof(pointer._obj) == pointer._obj.length == 64
        pointer._obj.whole, pointer._obj.free = 16 * 2**30, 5 * 2**30
        return 1

    assert probe._memory_of_windows() == 0
    kernel = SimpleNamespace(GlobalMemoryStatusEx=status)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert probe._memory_of_windows() == 5 * 2**30
    kernel.GlobalMemoryStatusEx = lambda pointer: 0
    assert probe._memory_of_windows() == 0

"""Machine code that comes with the package, so that first pictures need no compiler.

A wheel may have a file of programs for each *level*: a set of features that processors of many
makers and years share (System V Application Binary Interface, AMD64 supplement, micro-architecture
levels, 2020; those that each AArch64 processor has). A level is chosen by the features of this
processor, never by its maker. The programs
are the pieces of `fractals.backends.linked`, which call nothing of Numba, Python or LLVM: so they
serve all versions of these. A program is known by the same text as in the user's cache, that of its
modules included, with the level in place of the processor. So code of other sources is not found.

Another file has kernels for CUDA GPUs (`fractals.backends.cuda.kernel`), a piece for each compute
capability. They serve all systems and all versions of Numba.

A file is a mark, a line of JSON, and what files of the cache hold, one after the other. The line
has the place of each: the name of its file -> where it begins behind the line, and its bytes.
Programs of one kind are alike, so those of the CPU lie in *groups* that are compressed (LZMA). The
place of such a program is that of its group, where it begins in the unpacked group, and its bytes.
What was unpacked is kept in the user's cache, so that only first pictures unpack.
"""

import functools
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fractals.backends import machine_code
from fractals.backends.cache_folder import report
from fractals.backends.code_cache import BEGINNING, Store
from fractals.errors import shown

T = TypeVar("T")

# Features by their names in LLVM, the lowest level first; each level has those before it, too.
_MORE = {
    "x86-64-v3": "cmov cx8 fxsr mmx sse sse2 cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2 crc32"
    " avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
X86 = {
    level: frozenset(" ".join([*_MORE.values()][: k + 1]).split()) for k, level in enumerate(_MORE)
}
ARM = "aarch64"
LEVELS = X86 | {ARM: frozenset[str]()}
# Vectors of all loops fill a register. Where no processor is named, LLVM takes half of AVX-512's,
# because long vectors lower the clock of some; but packs have long ones in any case. With half of
# a register a picture took 1.1 to 1.3 times as long (Zen 5).
_WHOLE = "-prefer-256-bit"
MARK = b"fractals machine code 1\n"
FOLDER = Path(__file__).parents[1] / "machine_code"
GROUP = 2**19  # bytes that are compressed together; to unpack them takes some 16 ms
SWITCH = "FRACTALS_PREBUILT"  # "0": nothing that comes with the package is used


def environment_of(level: str) -> dict[str, str]:
    """Return the variables with which programs are compiled for a level, by their names."""
    if level == ARM:
        return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    flags = [*(f"+{name}" for name in sorted(LEVELS[level])), _WHOLE]
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ",".join(flags)}


def file_of(level: str) -> Path:
    """Return the file of a level, which may not exist: programs of Linux are for Linux alone."""
    return FOLDER / f"linux-{level}.code"


def file_of_kernels() -> Path:
    """Return the file of kernels for CUDA GPUs, which may not exist: it serves each system."""
    return FOLDER / "cuda.code"


def packed(contents: Mapping[str, bytes], together: bool = False) -> bytes:
    """Return the bytes of a file, from what files of the cache hold, by their `Store.place`.

    `together`: they are compressed, in groups.
    """
    at, places, parts = 0, dict[str, tuple[int, ...]](), list[bytes]()
    for group in _groups(contents) if together else [[place] for place in sorted(contents)]:
        part, begin = b"".join(contents[place] for place in group), 0
        if together:
            import lzma  # some Pythons are built without

            part = lzma.compress(part, preset=9)
        for place in group:
            size = len(contents[place])
            places[place] = (at, len(part), begin, size) if together else (at, size)
            begin += size
        parts.append(part)
        at += len(part)
    line = json.dumps(places, separators=(",", ":")).encode()
    return b"".join([MARK, line, b"\n", *parts])


def _groups(contents: Mapping[str, bytes]) -> list[list[str]]:
    """Return the places of programs in groups: of one kind, in the order of their sizes."""
    groups: list[list[str]] = []
    kind, room = "", 0
    for own, size, place in sorted(
        (place.partition("/")[0].rpartition("-")[0], len(content), place)
        for place, content in contents.items()
    ):
        if own != kind or size > room:
            groups.append([])
            kind, room = own, GROUP
        groups[-1].append(place)
        room -= size
    return groups


class Shipped(NamedTuple):
    """The programs of a level, or kernels for GPUs, in a file."""

    level: str  # "" of kernels
    path: Path
    size: int  # of the file, in bytes
    start: int  # of the first program, in bytes from the file's beginning
    places: dict[str, tuple[int, ...]]
    names: frozenset[str]  # of programs, as `Store.name`

    def key(self, layout: Any) -> str:
        """Return the key of a program of the CPU for a layout."""
        environment = environment_of(self.level)
        cpu, flags = environment.values()
        return f"{layout} for {machine_code.target_text(cpu, flags, environment)}"

    def load(self, store: Store, key: str, rebuild: Callable[[bytes], T]) -> T | None:
        """Return what `rebuild` makes of a program's code under a key; None where there is none.

        What can't be loaded is reported, and counts as missing.
        """
        place = self.places.get(store.place(key))
        if place is None:
            return None
        try:
            content = self._content(*place)
            if content != store.content(key, content[BEGINNING:]):
                raise ValueError("it is damaged")
            return rebuild(content[BEGINNING:])
        except Exception as error:  # whatever it is, all is compiled, as by `Store.load`
            kind = type(error).__name__
            report(
                "machine code of the package can't be loaded, and is compiled instead "
                f"({kind}: {shown(error, 120)}): '{self.path}'"
            )
            return None

    def _content(self, at: int, size: int, begin: int = 0, own: int = 0) -> bytes:
        """Return what is at a place; `own`: bytes from `begin` on in an unpacked group."""
        if own:
            return _unpacked(self.path, self.start + at, size)[begin : begin + own]
        return _read(self.path, self.start + at, size)


def _read(path: Path, at: int, size: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(at)
        return file.read(size)


@functools.lru_cache(maxsize=2)  # a flame takes several programs of a group
def _unpacked(path: Path, at: int, size: int) -> bytes:
    import lzma

    return lzma.decompress(_read(path, at, size))


def why_not() -> str:
    """Return why no machine code of the package can be used here; "" where it can."""
    if os.environ.get(SWITCH) == "0":
        return f"{SWITCH} is 0"
    for name in machine_code.SETTINGS:
        if f"NUMBA_{name}" in os.environ:
            return f"NUMBA_{name} is set"
    if sys.platform != "linux" or platform.machine() not in ("x86_64", ARM):
        return "no release has programs for this system"
    level = level_of(machine_code.FEATURES, platform.machine())
    if not level:
        return "no release has programs for this processor"
    return "" if file_of(level).exists() else "this installation came without programs"


def facts() -> dict[str, Any]:
    """Return what this installation has, as plain values; `unused`: why it is not used, or ""."""
    found, ours = shipped(), kernels()
    own = {"kernels": len(ours.names) if ours else 0}
    if found is None:
        reason = why_not() or "the file of programs can't be read"
        return {"level": "", "file": "", "programs": 0, "bytes": 0, "unused": reason, **own}
    sizes = {"programs": len(found.places), "bytes": found.size, **own}
    return {"level": found.level, "file": str(found.path), **sizes, "unused": ""}


def level_of(features: set[str], machine: str) -> str:
    """Return the level for a machine's processor with some features; "" where there is none.

    Its vectors have the processor's length, by which host code chooses programs.

    >>> level_of({*LEVELS["x86-64-v3"], "vaes"}, "x86_64")
    'x86-64-v3'
    """
    if machine == ARM:
        return ARM
    width = machine_code.register_bytes(features)
    found = [
        level
        for level, own in X86.items()
        if own <= features and machine_code.register_bytes({*own}) == width
    ]
    return found[-1] if found else ""


@functools.cache
def shipped() -> Shipped | None:
    """Return the programs for this processor; None where there are none, or they can't be read."""
    if why_not():
        return None
    level = level_of(machine_code.FEATURES, platform.machine())
    return _opened(level, file_of(level))


@functools.cache
def kernels() -> Shipped | None:
    """Return the kernels for CUDA GPUs; None where there are none, or they can't be read."""
    path = file_of_kernels()
    return None if os.environ.get(SWITCH) == "0" or not path.exists() else _opened("", path)


def _opened(level: str, path: Path) -> Shipped | None:
    try:
        with open(path, "rb") as file:
            if file.read(len(MARK)) != MARK:
                raise ValueError("it is damaged")
            places = json.loads(file.readline())
            if not isinstance(places, dict):
                raise ValueError("it is damaged")
            names = frozenset(place.partition("/")[0] for place in places)
            size = os.fstat(file.fileno()).st_size
            return Shipped(level, path, size, file.tell(), places, names)
    except (OSError, ValueError) as error:
        report(f"machine code of the package can't be read ({shown(error, 120)}): '{path}'")
        return None

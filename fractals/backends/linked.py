"""Object files linked once: what is stored is a piece of memory, which any process maps.

LLVM's linker has to be imported, which takes longer than all that a small picture needs of it. So
an object file is linked when it is made. A *piece* is what its sections are in memory, one behind
the other. It holds addresses at known places. Those of its own parts count from its beginning,
whose address is added when it is mapped. Those of functions of the C library are filled in then.

What is linked here are object files of Linux on x86-64 and AArch64 that use few kinds of
relocations (System V Application Binary Interface, AMD64 supplement, 2018; ELF for the Arm 64-bit
Architecture, 2023). LLVM links all others, at each start.
"""

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

# Of an ELF file: 64 bits, little endian; relocatable, for x86-64 or AArch64
BEGINNING, X86, ARM = b"\x7fELF\x02\x01", (1, 62), (1, 183)
SECTION, SYMBOL, RELOCATION = map(struct.Struct, ("<IIQQQQIIQQ", "<IBBHQQ", "<QQq"))
SYMBOLS, RELOCATIONS, ZEROS = 2, 4, 8  # types of sections
IN_MEMORY, CHANGES = 2, 1 | 0x400  # flags of sections: those that are written, or of each thread
# Types of relocations: R_X86_64_64, and PC64, PC32, PLT32
ABSOLUTE, DISTANCES = 1, {24: "<q", 2: "<i", 4: "<i"}
# Of AArch64: R_AARCH64_ABS64; PREL64, PREL32; ADR_PREL_PG_HI21, ADD_ABS_LO12_NC; LDST8 to
# LDST128_ABS_LO12_NC with the bits by which they shift; JUMP26, CALL26
ARM_ABSOLUTE, ARM_DISTANCES = 257, {260: "<q", 261: "<i"}
ARM_PAGE, ARM_ADD = 275, 277
ARM_LOADS, ARM_CALLS = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4}, (282, 283)
# ldr x16, .+8; br x16; then the address: a call reaches 128 MB, and the C library lies farther
ARM_BRIDGE = bytes.fromhex("50000058 00021fd6")
UNDEFINED, SPECIAL = 0, 0xFF00  # numbers of sections: of other files' symbols, and of no section
WORD, INSTRUCTION = struct.Struct("<Q"), struct.Struct("<I")


class LinkedCode(NamedTuple):
    """Machine code as it lies in memory."""

    content: bytes
    entry: int  # where its function begins
    own: list[int]  # places of addresses that count from its beginning
    others: dict[str, list[int]]  # places of addresses of functions of the process


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class _Unknown(Exception):
    """The object file has something that is not linked here."""


def link(content: bytes, symbol: str) -> LinkedCode | None:
    """Return the piece of an object file whose function has this name.

    None: it is for another system, has data that change, or relocations that are not known here.
    """
    if sys.platform != "linux" or not content.startswith(BEGINNING):
        return None
    kind = _KINDS.get(struct.unpack_from("<HH", content, 16))
    try:
        return kind(content).piece(symbol) if kind else None
    except _Unknown:
        return None


class _Link:
    """Places the sections of an object file, and fills in what they say of each other: x86-64."""

    def __init__(self, content: bytes) -> None:
        self._file = content
        (first,) = WORD.unpack_from(content, 40)
        count = struct.unpack_from("<H", content, 60)[0]
        size = SECTION.size
        self._sections = [
            _Section(*SECTION.unpack_from(content, first + k * size)) for k in range(count)
        ]
        self._image, self._starts = bytearray(), dict[int, int]()
        for k, section in enumerate(self._sections):
            if section.flags & IN_MEMORY:
                self._place(k, section)
        self._own: list[int] = []
        self._others: dict[str, list[int]] = {}

    def _place(self, number: int, section: _Section) -> None:
        if section.flags & CHANGES:
            raise _Unknown
        self._image += bytes(-len(self._image) % max(1, section.alignment))
        self._starts[number] = len(self._image)
        self._image += bytes(section.size) if section.type == ZEROS else self._data(section)

    def _data(self, section: _Section) -> bytes:
        return self._file[section.offset : section.offset + section.size]

    def piece(self, symbol: str) -> LinkedCode:
        """Return the piece."""
        names = self._names()
        for section in self._sections:
            if section.type == RELOCATIONS and section.info in self._starts:
                for offset, info, addend in RELOCATION.iter_unpack(self._data(section)):
                    place, (name, target) = self._starts[section.info] + offset, names[info >> 32]
                    self._fill(place, info & 0xFFFFFFFF, name, target, addend)
        entry = next(place for name, place in names if name == symbol and place is not None)
        return LinkedCode(bytes(self._image), entry, self._own, self._others)

    def _names(self) -> list[tuple[str, int | None]]:
        """Return the name and the place of each symbol; None is the place of another file's."""
        (table,) = (section for section in self._sections if section.type == SYMBOLS)
        texts = self._data(self._sections[table.link])
        return [
            (texts[name : texts.index(b"\0", name)].decode(), self._place_of(section, value))
            for name, _, _, section, value, _ in SYMBOL.iter_unpack(self._data(table))
        ]

    def _place_of(self, section: int, value: int) -> int | None:
        if section == UNDEFINED or section >= SPECIAL or section not in self._starts:
            return None
        return self._starts[section] + value

    def _fill(self, place: int, kind: int, name: str, target: int | None, addend: int) -> None:
        """Fill in an address, or the distance to one."""
        if kind == ABSOLUTE and target is not None:
            WORD.pack_into(self._image, place, target + addend)
            self._own.append(place)
        elif kind == ABSOLUTE and name and not addend:
            self._others.setdefault(name, []).append(place)
        elif kind in DISTANCES and target is not None:
            struct.pack_into(DISTANCES[kind], self._image, place, target + addend - place)
        else:
            raise _Unknown


class _ArmLink(_Link):
    """The same for AArch64, whose instructions hold addresses in parts."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._bridges: dict[str, int] = {}

    def _fill(self, place: int, kind: int, name: str, target: int | None, addend: int) -> None:
        """Fill in an address, the distance to one, or the part that an instruction holds."""
        if target is None and kind in ARM_CALLS and name:
            target = self._bridge(name)
        if kind == ARM_ABSOLUTE:
            super()._fill(place, ABSOLUTE, name, target, addend)
            return
        if target is None:
            raise _Unknown
        to = target + addend
        if kind in ARM_DISTANCES:
            struct.pack_into(ARM_DISTANCES[kind], self._image, place, to - place)
        elif kind in ARM_CALLS:
            self._set(place, (to - place) >> 2 & 0x3FFFFFF)
        elif kind == ARM_PAGE:  # a piece begins with a page, so pages count from its beginning
            pages = (to >> 12) - (place >> 12)
            self._set(place, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)
        elif kind == ARM_ADD:
            self._set(place, (to & 0xFFF) << 10)
        elif kind in ARM_LOADS:
            self._set(place, (to & 0xFFF) >> ARM_LOADS[kind] << 10)
        else:
            raise _Unknown

    def _set(self, place: int, bits: int) -> None:
        """Set bits of an instruction, which are 0 in an object file with addends."""
        (before,) = INSTRUCTION.unpack_from(self._image, place)
        INSTRUCTION.pack_into(self._image, place, before | bits)

    def _bridge(self, name: str) -> int:
        """Return the place of instructions that jump to a function of the process."""
        if name not in self._bridges:
            self._image += bytes(-len(self._image) % WORD.size)
            self._bridges[name] = len(self._image)
            self._image += ARM_BRIDGE + bytes(WORD.size)
            self._others.setdefault(name, []).append(len(self._image) - WORD.size)
        return self._bridges[name]


_KINDS: dict[tuple[int, ...], type[_Link]] = {X86: _Link, ARM: _ArmLink}


def missing(piece: LinkedCode) -> Iterator[str]:
    """Yield the functions that a piece calls and this process lacks."""
    process = ctypes.CDLL(None)
    return (name for name in piece.others if not hasattr(process, name))


def mapped(piece: LinkedCode) -> tuple[Any, int]:
    """Return the memory of a piece, which lasts as long as somebody refers to it, and the entry.

    It is written first and executable then, never both at a time; Linux brings the caches of an
    Arm processor up to date as memory becomes executable. `OSError`: the system allows no
    executable memory, or the process lacks a function.
    """
    process = ctypes.CDLL(None, use_errno=True)
    memory = mmap.mmap(-1, len(piece.content), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:] = piece.content
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for place in piece.own:
        WORD.pack_into(memory, place, start + WORD.unpack_from(memory, place)[0])
    for name, places in piece.others.items():
        if not hasattr(process, name):
            raise OSError(f"this process lacks the function {name}")
        address = ctypes.cast(getattr(process, name), ctypes.c_void_p).value
        for place in places:
            WORD.pack_into(memory, place, address)
    executable = mmap.PROT_READ | mmap.PROT_EXEC
    size = ctypes.c_size_t(len(piece.content))
    if process.mprotect(ctypes.c_void_p(start), size, executable):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return memory, start + piece.entry

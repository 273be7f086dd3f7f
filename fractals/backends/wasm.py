"""WebAssembly of programs: a module that web browsers run, made by LLVM from the text of programs.

LLVM makes object files of WebAssembly for a linker. One that calls nothing of other files is a
module already, as if linked at address 0, but for a section that says what it exports. So no linker
is needed. WebAssembly has no fused multiply-add: a product is rounded before its sum, and the last
bits of an orbit are then not those of other devices. Double-double numbers need it, so their
programs compute it from sums and products, with the bits of other devices. Browsers with relaxed
SIMD may have one: on a processor with the instruction, modules made for it have these bits, too.
"""

import functools
import hashlib
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from fractals.backends import code_cache, machine_code
from fractals.backends.base import HostMemory
from fractals.backends.compilation import counted, with_room
from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.machine_code import Laid, Layout, Program, Uncompilable, layout_of
from fractals.backends.wasm_fma import with_exact_fma
from fractals.backends.wasm_vectors import ABREAST, in_vectors, with_held, with_relaxed
from fractals.errors import FractalsError

TRIPLE = "wasm32-unknown-unknown"
# What all browsers have since 2023
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
RELAXED = ",+relaxed-simd"  # and what Chromium has since 2023, Firefox since 2025
HAS_RELAXED = llvm.llvm_version_info[0] >= 18  # before, LLVM had other names for it
EXPORT, DATA, CUSTOM = 7, 11, 0  # numbers of sections
LATER = (8, 9, 12, 10, DATA)  # sections after the exports: start, elements, count, code, data
# Functions that programs may call, also with an f for float32: LLVM's, and those of a browser
KNOWN = {"llvm", "sqrt", "exp", "log", "sin", "cos", "tan", "atan2", "pow", "floor", "ceil"}
# The settings of a process that makes texts for `module_of`: vectors of 16 bytes, and no
# instructions of the CPU that it runs on.
ENVIRONMENT = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_LOOP_VECTORIZE": "0"}

# In the text of a program: empty inline assembly, which says something about registers of other
# CPUs, and which LLVM does not parse for WebAssembly
_ASSEMBLY = re.compile(r'^.*asm sideeffect "", "r".*\n', re.MULTILINE)
_SAME = re.compile(r'(?:tail )?call i64 asm sideeffect "", "=r,0"\(i64 ([^)]*)\).*')
_FUSED = re.compile(r"declare ([^@\n]+?) @llvm\.fma\.(\w+)\(.*")
_TARGET = re.compile(r'"(?:target-cpu|target-features|tune-cpu|probe-stack)"="[^"]*"')


def module_of(
    texts: tuple[str, ...], exact: bool = False, relaxed: bool = False, ordered: bool = False
) -> tuple[bytes, int]:
    """Return a module of programs, and the bytes of memory from 0 that its constants take.

    One that was made before is kept on the disk, as all compiled code is.

    `exact`: fused multiply-adds of float64 numbers have the bits of other devices. `relaxed`:
    multiply-adds are those of relaxed SIMD, fused where the processor has them. `ordered`: the
    operations keep their order, so vectors that loops compute side by side stay so, and the module
    is about 2.5 times as long. Otherwise LLVM moves each operation to where its result is used.

    The module imports its memory `env.__linear_memory`, the pointer to the end of its stack
    `env.__stack_pointer`, and perhaps functions of KNOWN from `env`, such as `env.sin`. It
    exports program k as ``"k"``, which takes two addresses that are not used and that of its cells
    (`fractals.backends.machine_code`).

    FractalsError: a program calls a function that browsers lack.
    """
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    kept = code_cache.program(_KeptModule, "wasm module", digest, exact, relaxed, ordered)
    return kept.of(texts, exact, relaxed, ordered)


class _KeptModule:
    """What `module_of` returns, from the disk or made by LLVM."""

    def __init__(self, store: code_cache.Store | None) -> None:
        self._store = store
        self._found: tuple[bytes, int] | None = None

    def of(self, *asked: Any) -> tuple[bytes, int]:
        """Return what `module_of` does."""
        if not self._found and self._store:
            self._found = self._store.load(TRIPLE, _unpacked)
        if not self._found:
            content, constants = self._found = _made_module(*asked)
            if self._store:
                self._store.save(TRIPLE, struct.pack("<I", constants) + content)
        return self._found


def _unpacked(data: bytes) -> tuple[bytes, int]:
    return data[4:], int.from_bytes(data[:4], "little")


def _made_module(
    texts: tuple[str, ...], exact: bool, relaxed: bool, ordered: bool
) -> tuple[bytes, int]:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    features = FEATURES + RELAXED * relaxed
    level = 0 if ordered else 3  # of the last stage, which no longer changes what is computed
    machine = target.create_target_machine("generic", features, level, "static", "default")
    whole = llvm.parse_assembly("")
    missing: set[str] = set()
    for number, text in enumerate(texts):
        text = with_exact_fma(text) if exact else text
        part = llvm.parse_assembly(_translated(text, str(machine.target_data), relaxed))
        for function in part.functions:
            if not function.is_declaration:
                entry = function.linkage == llvm.Linkage.external
                function.name = f"program.{number}" if entry else f"{number}.{function.name}"
            elif not {name := function.name.partition(".")[0], name.removesuffix("f")} & KNOWN:
                missing.add(function.name)
        whole.link_in(part)
    if missing:
        raise FractalsError(f"browsers have no function {min(missing)}")
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(whole, builder)
    if ordered:  # others, which iterate, gained nothing by it
        whole = llvm.parse_assembly(with_held(str(whole)))
    return _exporting(machine.emit_object(whole), len(texts))


def _translated(text: str, layout: str, relaxed: bool) -> str:
    """Return the text of a program for WebAssembly."""
    text = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', text)
    text = re.sub(r'target datalayout = ".*"', f'target datalayout = "{layout}"', text)
    text = _SAME.sub(r"add i64 \1, 0", _ASSEMBLY.sub("", _TARGET.sub("", text)))
    text = text.replace(" common ", " internal ")
    if relaxed:
        return with_relaxed(text)
    return _FUSED.sub(_unfused, text).replace("@llvm.fma.", "@own.")


def _unfused(declared: re.Match[str]) -> str:
    kind, name = declared.groups()
    return (
        f"define internal {kind} @own.{name}({kind} %a, {kind} %b, {kind} %c) alwaysinline {{\n"
        f"%p = fmul {kind} %a, %b\n%s = fadd {kind} %p, %c\nret {kind} %s\n}}"
    )


def _exporting(content: bytes, programs: int) -> tuple[bytes, int]:
    """Return an object file with its programs exported, and the bytes of its constants."""
    sections = list(_sections(content))
    found = _functions(sections)
    exports = bytearray(_number(programs))
    for k in range(programs):
        name = str(k).encode()
        exports += _number(len(name)) + name + b"\0" + _number(found[f"program.{k}"])
    made, placed = bytearray(content[:8]), False
    for kind, body in sections:
        if kind in LATER and not placed:
            made += bytes([EXPORT]) + _number(len(exports)) + exports
            placed = True
        if kind != CUSTOM:  # symbols and relocations, for a linker
            made += bytes([kind]) + _number(len(body)) + body
    data = next((body for kind, body in sections if kind == DATA), b"\0")
    return bytes(made), _data_end(data)


def _sections(content: bytes) -> list[tuple[int, bytes]]:
    at, found = 8, list[tuple[int, bytes]]()
    while at < len(content):
        kind = content[at]
        size, at = _read(content, at + 1)
        found.append((kind, content[at : at + size]))
        at += size
    return found


def _functions(sections: list[tuple[int, bytes]]) -> dict[str, int]:
    """Return the numbers of functions by their names, from the table of symbols."""
    (table,) = (body for kind, body in sections if kind == CUSTOM and body[1:8] == b"linking")
    _, at = _read(table, 8)  # the version
    found = {}
    while at < len(table):
        kind = table[at]
        size, at = _read(table, at + 1)
        end = at + size
        if kind == 8:  # symbols
            count, at = _read(table, at)
            for _ in range(count):
                symbol = table[at]
                flags, at = _read(table, at + 1)
                named = symbol in (1, 3) or not flags & 0x10 or flags & 0x40
                number, length, name = 0, 0, ""
                if symbol == 1:  # data: its name comes first
                    length, at = _read(table, at)
                    at += length
                    for _ in range(0 if flags & 0x10 else 3):
                        _, at = _read(table, at)
                    continue
                number, at = _read(table, at)
                if symbol != 3 and named:
                    length, at = _read(table, at)
                    name, at = table[at : at + length].decode(), at + length
                if symbol == 0:
                    found[name] = number
        at = end
    return found


def _data_end(data: bytes) -> int:
    """Return the end of the segments of a data section, which all lie at constant addresses."""
    count, at = _read(data, 0)
    end = 0
    for _ in range(count):
        assert data[at] == 0, "a segment of memory 0"
        assert data[at + 1] == 0x41, "i32.const"
        begin, at = _read(data, at + 2)
        size, at = _read(data, at + 1)
        end, at = begin + size, at + size
    return end


def _number(value: int) -> bytes:
    """Return a number as WebAssembly writes it (LEB128)."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes(made + bytes([value]))


def _read(content: bytes, at: int) -> tuple[int, int]:
    """Return a number that is not negative, and the place behind it."""
    value, shift = 0, 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


# --- A backend that runs nothing: it records which programs a tile calls, with which arguments
#
# What it has recorded of one tile is a `Recording`: WebAssembly, a picture of the memory that its
# programs read, and the cells of each call. Whoever replays the calls in that memory draws the
# tile, and knows nothing of layers or formulas.

ALIGNED = 16  # bytes of a vector, at which arrays begin
STACK = 2**18  # bytes

Call = tuple[int, tuple[Any, ...]]  # the number of a program, and its arguments


@dataclass
class Recording:
    """How a tile is drawn.

    `module`: WebAssembly of the programs. `stack`: the address behind its stack. `size`: the bytes
    of its memory. `data`: addresses and bytes of what stands there first; the rest is 0. `rows`:
    the bytes of a row of each array there, by its address. `calls`:
    the number of each program that is called, and the address of its cells. `marks`: the addresses
    of cells that hold a number, for each of those that were asked for.
    """

    module: bytes
    stack: int
    size: int = 0
    data: list[tuple[int, bytes]] = field(default_factory=list)
    rows: dict[int, int] = field(default_factory=dict)
    calls: list[tuple[int, int]] = field(default_factory=list)
    marks: list[list[int]] = field(default_factory=list)


class _Rooms(HostMemory):
    """Memory that is never used again, of which a recording knows that nothing stands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[NDArray[Any]] = []

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of zeros."""
        self.made.append(np.zeros(shape, dtype))
        return self.made[-1]


class CallRecorder(CpuBackend):
    """Records the calls of programs; their texts are made for WebAssembly.

    Its process has the settings `fractals.backends.wasm.ENVIRONMENT`. `exact` and `ordered`:
    as of `module_of`.
    """

    def __init__(self, number: str, exact: bool = False, ordered: bool = False) -> None:
        super().__init__(number, 1)  # type: ignore[no-untyped-call]
        self._exact, self._ordered = exact, ordered
        self.abreast = ABREAST  # vectors side by side in loops of the next programs, if ordered
        self.calls: list[Call] = []
        self.texts: list[str] = []
        self.scratch = self._rooms = _Rooms()
        self._places: dict[int, int] = {}

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array in which nothing stands."""
        return self._rooms.empty(shape, dtype)

    def compile(self, make_body: Any, *options: Any) -> Any:
        """Return what `CpuBackend.compile` does; it records here, so no other recorder has it."""
        return self._made(make_body, options)  # type: ignore[no-untyped-call]

    def program(
        self,
        make_body: Any,
        number: str,
        options: tuple[Any, ...] = (),
        loop: bool = False,
        checked: bool = False,
        packed: bool = False,
        long: bool = False,
    ) -> Program:
        """Return a program that is recorded where it is called; see `program_of`."""
        kinds = {"loop": loop, "checked": checked, "packed": packed, "long": long}
        abreast = self.abreast if self._ordered and loop else 0
        own = *kinds.values(), abreast
        texts = code_cache.program(_Texts, "wasm", make_body, number, options, *own)

        def number_of(layout: Layout) -> Any:
            found = texts.of(layout, make_body, number, options, kinds, abreast)
            if not found:
                raise Uncompilable("Numba has no SIMD form of it")
            if found not in self.texts:
                self.texts.append(found)
            return self.texts.index(found)

        return _Recorded(number_of, self.calls)

    def recording(
        self, calls: Sequence[Call], marked: Sequence[float], relaxed: bool = False
    ) -> Recording:
        """Return how calls are replayed.

        `marked`: numbers that stand for others, and are arguments of calls. `relaxed`: as of
        `module_of`.
        """
        module, constants = module_of(tuple(self.texts), self._exact, relaxed, self._ordered)
        stack = _aligned(constants) + STACK
        made = Recording(module, stack, stack, marks=[[] for _ in marked])
        self._place([array for _, values in calls for array in _arrays_in(values)], made)
        for number, values in calls:
            cells = bytearray()
            for cell in self._cells(values):
                if not isinstance(cell, tuple) and cell in marked:
                    made.marks[marked.index(cell)].append(made.size + len(cells))
                kind = "d" if isinstance(cell, float) else "q"
                cells += struct.pack(f"<{kind}", cell)
            made.calls.append((number, made.size))
            made.data.append((made.size, bytes(cells)))
            made.size += _aligned(len(cells))
        return made

    def address(self, array: NDArray[Any]) -> int:
        """Return the address of an array of the last recording."""
        return self._places[array.ctypes.data]

    def _place(self, arrays: list[NDArray[Any]], made: Recording) -> None:
        """Give the arrays addresses behind the stack, in the order of their first use."""
        rooms = {room.ctypes.data for room in self._rooms.made}
        sizes: dict[int, int] = {}
        for array in arrays:
            assert array.flags.c_contiguous, "arrays have no gaps"
            sizes[array.ctypes.data] = max(array.nbytes, sizes.get(array.ctypes.data, 0))
        ends = [(begin, begin + size) for begin, size in sorted(sizes.items())]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(ends)), "arrays overlap"
        self._places = {}
        for array in arrays:
            begin = array.ctypes.data
            if begin not in self._places:
                self._places[begin] = made.size
                if begin not in rooms:
                    made.data.append((made.size, array.tobytes()))
                    made.rows[made.size] = array.itemsize * max(1, array.shape[-1])
                made.size += _aligned(sizes[begin])

    def _cells(self, values: tuple[Any, ...]) -> list[Any]:
        cells: list[Any] = []
        for value in values:
            if isinstance(value, np.ndarray):
                cells += [self._places[value.ctypes.data], *value.shape]
            elif isinstance(value, Laid):
                cells += self._cells(value.values)
            elif isinstance(value, tuple):
                cells += self._cells(value)
            else:
                real = isinstance(value, float | np.floating)
                cells.append(float(value) if real else int(value))
        return cells


class _Texts:
    """The texts of a program, one for each layout, from the disk or made by Numba."""

    def __init__(self, store: code_cache.Store | None) -> None:
        self._store = store

    def of(
        self,
        layout: Layout,
        make_body: Any,
        number: str,
        options: Any,
        kinds: Any,
        abreast: int,
    ) -> str:
        """Return LLVM's text for a layout; nothing where Numba can't make it."""
        key = f"{layout} for {machine_code.TARGET}"
        kept = self._store.load(key, zlib.decompress) if self._store else None
        if kept is not None:
            return kept.decode()
        from numba.core.errors import NumbaError

        from fractals.backends.cpu.target import text_of

        foreign = code_cache.is_foreign(make_body, *options)
        try:
            own = functools.partial(text_of, **kinds)
            with counted():
                text: str = with_room(own, make_body, number, options, layout, foreign)
        except NumbaError:
            if kinds["loop"]:  # a loop over elements, which any formula has
                raise
            text = ""
        if text and not kinds["packed"]:
            text = in_vectors(text, abreast)
        if self._store:
            self._store.save(key, zlib.compress(text.encode()))
        return text


class _Recorded(Program):
    def __init__(self, number_of: Any, calls: list[Call]) -> None:
        super().__init__(number_of)
        self._calls_made = calls

    def __call__(self, *arguments: Any) -> None:
        self._calls_made.append((self._code(layout_of(arguments)), arguments))  # type: ignore[arg-type]


def _arrays_in(values: tuple[Any, ...]) -> list[NDArray[Any]]:
    found = []
    for value in values:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, Laid):
            found += _arrays_in(value.values)
        elif isinstance(value, tuple):
            found += _arrays_in(value)
    return found


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED

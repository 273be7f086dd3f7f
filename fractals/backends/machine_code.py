"""Machine code of a program: a piece of memory, called with its arguments in cells.

A program is compiled once by Numba (`fractals.backends.cpu.entry`) and kept as a piece of memory
(`fractals.backends.linked`), which any later process calls without Numba and LLVM. Where that can't
be, it is kept as an object file, which LLVM links at each start. Its one function takes the address
of *cells*, numbers of 8 bytes, in which the arguments lie one after the other:

=================  ============================================================================
array              the address of its first element, its shape and, where it has gaps, its strides
integer, boolean   an int64
float              a float64
tuple              the cells of its parts
`Entry`            the address of another program, compiled for the arguments that it is called with
=================  ============================================================================

The types of the arguments are their *layout*. A program has one piece for each layout.
"""

import ctypes
import functools
import itertools
import json
import os
import struct
import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from fractals.backends import code_cache, linked

# --- What this CPU can do, and what programs are compiled for: read without Numba and LLVM

# The settings of Numba that change the machine code of a program.
SETTINGS = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")


def _setting(name: str) -> str | None:
    return os.environ.get(f"NUMBA_{name}")


@functools.cache
def _processor() -> tuple[str, str]:
    """Return the name and the features of this CPU, as LLVM writes them: "+fma,-avx512f,...".

    They are kept until the machine starts anew, because LLVM takes long to be imported.
    """
    boot, folder = _boot(), code_cache.folder()
    if not boot or folder is None:
        return _processor_by_llvm()
    store = code_cache.Store(os.path.join(folder, "processor"))
    if found := store.load(boot, _named):
        return found
    found = _processor_by_llvm()
    store.save(boot, json.dumps(found).encode())
    return found


def _boot() -> str:
    """Return what names the time since this machine started; "" where the system doesn't say.

    And the kind of processor: an emulator runs programs for others, in containers for one.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.uname().machine}"
    except (OSError, UnicodeError):
        return ""


def _named(data: bytes) -> tuple[str, str]:
    name, features = json.loads(data)
    return str(name), str(features)


def _processor_by_llvm() -> tuple[str, str]:
    import llvmlite.binding as llvm

    try:
        return llvm.get_host_cpu_name(), str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know them
        return llvm.get_host_cpu_name(), ""


def own_flags() -> str:
    """Return the features of the CPU that is compiled for: see `_processor`."""
    if (given := _setting("CPU_FEATURES")) is not None:
        return given
    if _setting("CPU_NAME") == "generic":
        return ""
    found = _processor()[1]
    if _setting("ENABLE_AVX") == "0":
        flags = found.split(",")
        return ",".join(f"-{flag[1:]}" if flag[1:].startswith("avx") else flag for flag in flags)
    return found


def register_bytes(features: set[str]) -> int:
    """Return the width of a vector register."""
    if {"avx512f", "avx512vl"} <= features:
        return 64
    return 32 if "avx2" in features else 16  # SSE2 and NEON


CPU = _setting("CPU_NAME") or _processor()[0]
FLAGS = own_flags()
FEATURES = {name[1:] for name in FLAGS.split(",") if name.startswith("+")}
REGISTER = register_bytes(FEATURES)
FOR_BROWSERS = (CPU, FLAGS) == ("generic", "")  # the settings of `fractals.backends.wasm`
# x86 CPUs before 2013 have no fused multiply-add, and packs gain nothing from the C library's.
FUSED = "fma" in FEATURES or "sse2" not in FEATURES
# AMD's cores move registers before anything is computed, Intel's in part where they multiply
MOVES_FREE = CPU.startswith("znver")


def target_text(cpu: str, flags: str, environment: Mapping[str, str]) -> str:
    """Return all that tells machine code for a CPU, and its settings, from that for others."""
    settings = (f"{name}={environment.get(f'NUMBA_{name}')}" for name in SETTINGS)
    return " ".join([cpu, flags, *settings])


TARGET = target_text(CPU, FLAGS, os.environ)


Layout = Hashable

# C's long is as wide as another type: types of equal width are one layout.
_LONG = {"l": "q", "L": "Q"} if np.dtype("l").itemsize == 8 else {"l": "i", "L": "I"}

_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_results = (ctypes.c_void_p * 2)()  # all programs write theirs here, and nobody reads them
_RESULTS = ctypes.addressof(_results)
_lock = threading.RLock()  # of LLVM
_loading = threading.RLock()  # of programs, in whose thread LLVM may not be: `compiled_apart`
_numbers = itertools.count()


class Entry:
    """A program as an argument of another: the address of its machine code for one layout."""

    def __init__(self, code: "MachineCode") -> None:
        self.code = code  # keeps the memory of the machine code


class MachineCode:
    """The function of a program, in the memory of this process until nobody refers to it.

    `content`: a piece, or an object file. `facts`: as `made` gives them.
    """

    def __init__(self, content: bytes, facts: dict[str, Any]) -> None:
        if "entry" in facts:
            piece = linked.LinkedCode(content, facts["entry"], facts["own"], facts["others"])
            self._memory, self.address = linked.mapped(piece)
        else:
            self._memory, self.address = _by_llvm(content, facts["symbol"])
        self._call = _CALL(self.address)

    def __call__(self, cells: bytes) -> None:
        """Call the function, without the interpreter's lock."""
        if self._call(_RESULTS, _RESULTS + 8, cells) > 0:
            raise IndexError("an index is out of range in compiled code")


class Uncompilable(Exception):
    """Numba can't compile a program: the reason, in one line."""


def _by_llvm(content: bytes, symbol: str) -> tuple[Any, int]:
    """Have LLVM link an object file; return what frees its memory in the end, and the address."""
    import llvmlite.binding as llvm

    library = llvm.JITLibraryBuilder().add_object_img(content).add_current_process()
    with _lock:
        tracker = library.export_symbol(symbol).link(_linker(), f"{next(_numbers)}")
        return tracker, tracker[symbol]


def made(text: str) -> bytes:
    """Return the machine code of the one function of an LLVM module, as `loaded` takes it."""
    import llvmlite.binding as llvm

    with _lock:
        module = llvm.parse_assembly(text)
        (symbol,) = (f.name for f in module.functions if _is_entry(f))
        declared = [f.name for f in module.functions if f.is_declaration]
        calls = sorted(name for name in declared if not name.startswith("llvm."))
        content = target_machine().emit_object(module)
    data = _packed({"symbol": symbol, "calls": calls}, content)
    piece = linked.link(content, symbol) if stands_alone(data) else None
    if piece is None or any(linked.missing(piece)):
        return data
    # Not its symbol, which counts the functions that Numba compiled before in this process
    return _packed({"calls": calls} | piece._asdict() | {"content": None}, piece.content)


def stands_alone(data: bytes) -> bool:
    """Tell whether machine code calls nothing but what every process has."""
    process = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    return all(hasattr(process, name) for name in json.loads(data.partition(b"\n")[0])["calls"])


def _is_entry(function: Any) -> bool:
    import llvmlite.binding as llvm

    return not function.is_declaration and function.linkage == llvm.Linkage.external


def refused(reason: str) -> bytes:
    """Return what stands for machine code that Numba can't make."""
    return _packed({"refused": reason, "calls": []}, b"")


def _packed(facts: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(facts).encode() + b"\n" + content


def loaded(data: bytes) -> MachineCode | Uncompilable:
    """Return the machine code that `made` returned, or what `refused` stands for."""
    head, _, content = data.partition(b"\n")
    facts = json.loads(head)
    if "refused" in facts:
        return Uncompilable(facts["refused"])
    return MachineCode(content, facts)


@functools.cache
def _linker() -> Any:
    """Return what loads object files."""
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(target_machine())


def target_machine() -> Any:
    """Return LLVM's description of the CPU that programs are compiled for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()  # for the clock of Arm, which is inline assembly
    target = llvm.Target.from_default_triple()
    reloc = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(CPU, FLAGS, 3, reloc, "jitdefault", jit=True)


def char_of(dtype: Any) -> str:
    """Return the letter of a number type in a layout."""
    char: str = np.dtype(dtype).char
    return _LONG.get(char, char)


# The letters of single numbers. Looked up by their type, because programs are called for each tile.
_LETTERS = {float: "d", int: "q", bool: "?"} | {np.dtype(c).type: c for c in "?bBhHiIlLqQefd"}
_first_byte, _address = ctypes.c_char.from_buffer, ctypes.addressof


def lay_out(values: tuple[Any, ...], cells: list[Any]) -> tuple[Any, ...]:
    """Append the cells of arguments to a list, and return the layout of the arguments."""
    layout: list[Any] = [type(values)]
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            gaps = False
            try:  # a fourth of the time of `value.ctypes.data`
                cells.append(_address(_first_byte(value)))
            except (TypeError, ValueError):  # it has gaps or no elements, or is read-only
                cells.append(value.ctypes.data)
                gaps = not value.flags.c_contiguous
            cells += value.shape + value.strides if gaps else value.shape
            char = value.dtype.char
            layout.append((_LONG.get(char, char), value.ndim, gaps))
        elif char := _LETTERS.get(kind):
            cells.append(float(value) if char in "efd" else int(value))
            layout.append(char)
        elif kind is Laid:
            cells += value.cells
            layout += value.layout[1:]
        elif kind is Entry:
            cells.append(value.code.address)
            layout.append("entry")
        elif isinstance(value, np.ndarray):  # of another class, such as np.memmap
            layout += lay_out((np.asarray(value),), cells)[1:]
        else:
            layout.append(lay_out(value, cells))
    return tuple(layout)


def layout_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the layout of a tuple of arguments."""
    return lay_out(values, [])


class Laid:
    """Arguments of many calls, of which the cells are found once: as if given one by one."""

    def __init__(self, *values: Any) -> None:
        self.values = values  # keeps their memory
        self.cells: list[Any] = []
        self.layout = lay_out(values, self.cells)


class Program:
    """A program that is called with arrays, numbers and tuples of them.

    `load`: returns the `MachineCode` of a layout, from the disk or compiled. `store`: where it is
    kept, a `fractals.backends.code_cache.Store`; None where it must not be kept.
    """

    def __init__(self, load: Callable[[Layout], MachineCode], store: Any = None) -> None:
        self._load, self.store = load, store
        self._codes: dict[Layout, MachineCode] = {}
        # Code, and what packs the cells
        self._calls: dict[Layout, tuple[MachineCode, Callable[..., bytes]]] = {}

    def __call__(self, *arguments: Any) -> None:
        """Call the machine code for these arguments."""
        cells: list[Any] = []
        layout = lay_out(arguments, cells)
        found = self._calls.get(layout)
        if found is None:
            kinds = ["d" if type(cell) is float else "q" for cell in cells]
            pack = struct.Struct(f"={''.join(kinds)}").pack
            found = self._calls[layout] = self._code(layout), pack
        code, pack = found
        code(pack(*cells))

    def bound(self, *last: Any) -> Callable[..., None]:
        """Return the program with its last arguments given."""
        laid = Laid(*last)
        return lambda *first: self(*first, laid)

    def entry(self, layout: Layout) -> Entry:
        """Return the program as an argument of another one, which calls it with a layout."""
        return Entry(self._code(layout))

    def _code(self, layout: Layout) -> MachineCode:
        found = self._codes.get(layout)
        if found is None:
            with _loading:
                found = self._codes[layout] = self._load(layout)
        return found

"""Object files that are linked once, and what the processor is known by, without LLVM."""

import ctypes
import gc
import math
import mmap
import os
import platform
import struct
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np
import pytest

from fractals.backends import cache_folder, code_cache, linked, machine_code
from fractals.backends.machine_code import MachineCode

LINKS = sys.platform == "linux" and platform.machine() == "x86_64"
only_where_linked = pytest.mark.skipif(not LINKS, reason="here LLVM links")

# Reads a case and a number from the cells, and writes what it makes of them. The cases become a
# table of jumps, and the constants a section of their own; `cos` and `memset` are of the C library.
TEXT = """
target triple = "{triple}"
@numbers = private constant [4 x double] [double 1.5, double -2.25, double 1.0e-3, double 7.0]
declare double @cos(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i32 @entry(ptr %r, ptr %s, ptr %cells) {{
  %case = load i64, ptr %cells
  %at = getelementptr i64, ptr %cells, i64 1
  %x = load double, ptr %at
  %out = getelementptr i64, ptr %cells, i64 2
  %length = getelementptr i64, ptr %cells, i64 3
  %bytes = load i64, ptr %length
  switch i64 %case, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c
                                   i64 3, label %d  i64 4, label %e  i64 5, label %f ]
a:
  %va = fmul double %x, 3.25
  br label %end
b:
  %index = fptosi double %x to i64
  %place = getelementptr [4 x double], ptr @numbers, i64 0, i64 %index
  %vb = load double, ptr %place
  br label %end
c:
  %vc = call double @cos(double %x)
  br label %end
d:
  call void @llvm.memset.p0.i64(ptr %out, i8 63, i64 %bytes, i1 false)
  ret i32 0
e:
  %ve = fadd double %x, 1.0e100
  br label %end
f:
  %vf = fdiv double 0.1, %x
  br label %end
other:
  ret i32 7
end:
  %v = phi double [ %va, %a ], [ %vb, %b ], [ %vc, %c ], [ %ve, %e ], [ %vf, %f ]
  store double %v, ptr %out
  ret i32 0
}}"""


def object_of(text):
    module = llvm.parse_assembly(text.format(triple=llvm.get_process_triple()))
    return machine_code.target_machine().emit_object(module)


def called(address, case, x):
    cells = struct.pack("=qdqq", case, x, 0, 8)
    memory = ctypes.create_string_buffer(cells, len(cells))
    state = machine_code._CALL(address)(None, None, memory)
    return state, memory.raw[16:24]


@only_where_linked
def test_a_piece_computes_what_llvm_links():
    content = object_of(TEXT)
    piece = linked.link(content, "entry")
    assert {*piece.others} == {"cos", "memset"}
    assert len(piece.own) > 1
    memory, address = linked.mapped(piece)
    tracker, expected = machine_code._by_llvm(content, "entry")
    for case in range(-1, 7):
        for x in (0.0, 1.0, 3.0):
            assert called(address, case, x) == called(expected, case, x), (case, x)
    assert struct.unpack("d", called(address, 1, 2.0)[1]) == (1e-3,)
    del memory, tracker


@only_where_linked
def test_a_piece_is_mapped_at_any_address():
    piece = linked.link(object_of(TEXT), "entry")
    maps = [linked.mapped(piece) for _ in range(5)]
    assert len({address for _, address in maps}) == 5
    for _, address in maps:
        assert called(address, 1, 1.0) == called(maps[0][1], 1, 1.0)


# --- AArch64, in an emulator

ARM = "aarch64-unknown-linux-gnu"
RET, ROOM = bytes.fromhex("c0035fd6"), 1 << 16
BASES = 1 << 32, (1 << 47) - ROOM  # of pieces: nothing else is within reach of a call


def arm_object_of(text):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(ARM).create_target_machine(
        cpu="generic", features="", opt=3, reloc="static", codemodel="small"
    )
    return machine.emit_object(llvm.parse_assembly(text.format(triple=ARM)))


class Emulated:
    """A piece in the memory of an emulator, where functions of the C library are Python's."""

    def __init__(self, piece, base):
        self.arm = pytest.importorskip("unicorn.arm64_const", reason="there is no emulator")
        unicorn = sys.modules["unicorn"]
        self.uc = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.functions, self.cells, self.stack, self.end = 1 << 20, 2 << 20, 3 << 20, 4 << 20
        for start in (base, self.functions, self.cells, self.stack, self.end):
            self.uc.mem_map(start, ROOM)
        content = bytearray(piece.content)
        for place in piece.own:
            linked.WORD.pack_into(content, place, base + linked.WORD.unpack_from(content, place)[0])
        for k, (name, places) in enumerate(piece.others.items()):
            at = self.functions + 4 * k
            self.uc.mem_write(at, RET)
            act = getattr(self, name)
            self.uc.hook_add(unicorn.UC_HOOK_CODE, lambda *_, act=act: act(), begin=at, end=at)
            for place in places:
                linked.WORD.pack_into(content, place, at)
        self.uc.mem_write(base, bytes(content))
        self.entry = base + piece.entry

    def cos(self):
        register = self.arm.UC_ARM64_REG_D0
        (x,) = struct.unpack("d", struct.pack("Q", self.uc.reg_read(register)))
        self.uc.reg_write(register, struct.unpack("Q", struct.pack("d", math.cos(x)))[0])

    def memset(self):
        to, byte, size = (self.uc.reg_read(self.arm.UC_ARM64_REG_X0 + k) for k in range(3))
        self.uc.mem_write(to, bytes([byte & 255]) * size)

    def called(self, case, x):
        self.uc.mem_write(self.cells, struct.pack("=qdqq", case, x, 0, 8))
        self.uc.reg_write(self.arm.UC_ARM64_REG_X2, self.cells)
        self.uc.reg_write(self.arm.UC_ARM64_REG_SP, self.stack + ROOM // 2)
        self.uc.reg_write(self.arm.UC_ARM64_REG_LR, self.end)
        self.uc.emu_start(self.entry, self.end, count=1000)
        assert self.uc.reg_read(self.arm.UC_ARM64_REG_PC) == self.end
        state = self.uc.reg_read(self.arm.UC_ARM64_REG_W0)
        return state, bytes(self.uc.mem_read(self.cells + 16, 8))


@pytest.mark.skipif(sys.platform != "linux", reason="here LLVM links")
@pytest.mark.parametrize("base", BASES, ids=hex)
def test_a_piece_of_arm_computes_the_same(base):
    piece = linked.link(arm_object_of(TEXT), "entry")
    assert {*piece.others} == {"cos", "memset"}
    emulated = Emulated(piece, base)
    tracker, expected = machine_code._by_llvm(object_of(TEXT), "entry")
    for case in range(-1, 7):
        for x in (0.0, 1.0, 3.0):
            assert emulated.called(case, x) == called(expected, case, x), (case, x)
    del tracker


@pytest.mark.skipif(sys.platform != "linux", reason="here LLVM links")
def test_all_relocations_of_arm_are_known_or_refused():
    content = bytearray(arm_object_of(TEXT))
    sections = linked._ArmLink(bytes(content))._sections
    first, size = next(
        (each.offset, each.size) for each in sections if each.type == linked.RELOCATIONS
    )
    for start in range(first, first + size, linked.RELOCATION.size):
        offset, info, addend = linked.RELOCATION.unpack_from(content, start)
        if info & 0xFFFFFFFF == linked.ARM_PAGE:
            break
    own = {linked.ARM_ABSOLUTE, linked.ARM_PAGE, linked.ARM_ADD}
    known = own | {*linked.ARM_DISTANCES, *linked.ARM_LOADS, *linked.ARM_CALLS}
    for kind in range(256, 320):
        changed = info >> 32 << 32 | kind
        linked.RELOCATION.pack_into(content, start, offset, changed, addend)
        assert (linked.link(bytes(content), "entry") is None) == (kind not in known), kind


# --- The memory of a piece


def rights(address):
    """Return the rights of the memory at an address, such as "r-xp"; "" where there is none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, found, *_ = line.split()
        first, end = (int(part, 16) for part in span.split("-"))
        if first <= address < end:
            return found
    return ""


@only_where_linked
def test_memory_is_never_written_and_executed_at_a_time_and_is_given_back():
    memory, address = linked.mapped(linked.link(object_of(TEXT), "entry"))
    assert rights(address) == "r-xp"
    alive = weakref.ref(memory)
    del memory
    gc.collect()
    assert alive() is None


@only_where_linked
def test_a_system_without_executable_memory_is_an_error(monkeypatch):
    piece = linked.link(object_of(TEXT), "entry")
    monkeypatch.setattr(mmap, "PROT_EXEC", 1 << 20)  # no such right
    with pytest.raises(OSError, match="Invalid argument"):
        linked.mapped(piece)


@only_where_linked
def test_a_function_that_is_missing_is_an_error():
    piece = linked.link(object_of(TEXT.replace("cos", "no_such_function")), "entry")
    assert [*linked.missing(piece)] == ["no_such_function"]
    with pytest.raises(OSError, match="no_such_function"):
        linked.mapped(piece)


CHANGES = """
target triple = "{triple}"
@kept = global i32 1
define i32 @entry(ptr %r, ptr %s, ptr %cells) {{
  %v = load i32, ptr @kept
  store i32 2, ptr @kept
  ret i32 %v
}}"""


def test_what_is_not_known_is_left_to_llvm():
    content = object_of(TEXT)
    other = bytearray(content)
    other[18:20] = b"\xf3\0"  # of RISC-V
    for unknown in (object_of(CHANGES), bytes(other), b"", b"MZ" + content[2:]):
        assert linked.link(unknown, "entry") is None
    data = machine_code.made(CHANGES.format(triple=llvm.get_process_triple()))
    assert b'"own"' not in data
    code = machine_code.loaded(data)
    assert code._call(None, None, b"") == 1
    assert code._call(None, None, b"") == 2


@only_where_linked
def test_all_relocations_are_known_or_refused():
    """Of each kind that is not linked, a file is left to LLVM."""
    content = bytearray(object_of(TEXT))
    sections = linked._Link(bytes(content))._sections
    start = next(section.offset for section in sections if section.type == linked.RELOCATIONS)
    offset, info, addend = linked.RELOCATION.unpack_from(content, start)
    known = {linked.ABSOLUTE, *linked.DISTANCES}
    for kind in range(45):
        changed = info >> 32 << 32 | kind
        linked.RELOCATION.pack_into(content, start, offset, changed, addend)
        assert (linked.link(bytes(content), "entry") is None) == (kind not in known), kind


def test_code_that_llvm_links_is_freed(monkeypatch):
    monkeypatch.setattr(linked, "link", lambda content, symbol: None)
    closed = []
    tracker = llvm.orcjit.ResourceTracker
    dispose = tracker._dispose
    monkeypatch.setattr(tracker, "_dispose", lambda self: closed.append(1) or dispose(self))
    code = machine_code.loaded(machine_code.made(TEXT.format(triple=llvm.get_process_triple())))
    assert isinstance(code, MachineCode)
    gc.collect()
    before = len(closed)
    del code
    gc.collect()
    assert len(closed) == before + 1


# --- The processor


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Return how often LLVM was asked, in a process that uses an empty cache."""
    calls, ask = [], machine_code._processor_by_llvm
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(machine_code, "_boot", lambda: "first boot")
    monkeypatch.setattr(machine_code, "_processor_by_llvm", lambda: calls.append(1) or ask())
    machine_code._processor.cache_clear()
    yield calls
    machine_code._processor.cache_clear()
    cache_folder.take_messages()


def processor():
    machine_code._processor.cache_clear()
    return machine_code._processor()


def test_llvm_is_asked_for_the_processor_once_a_boot(asked, monkeypatch):
    first = processor()
    assert first == (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    assert processor() == first
    assert len(asked) == 1
    monkeypatch.setattr(machine_code, "_boot", lambda: "second boot")
    assert processor() == first
    assert len(asked) == 2
    for boot, folder in (("", code_cache.folder), ("third boot", lambda: None)):
        monkeypatch.setattr(machine_code, "_boot", lambda boot=boot: boot)
        monkeypatch.setattr(code_cache, "folder", folder)
        assert processor() == processor() == first
    assert len(asked) == 6


@pytest.mark.skipif(not machine_code._boot(), reason="the system names no boot")
def test_llvm_is_asked_for_each_kind_of_processor(monkeypatch):
    """An emulated process has the boot, and may have the cache, of the machine that emulates."""
    own = machine_code._boot()
    other = SimpleNamespace(machine="riscv64")
    monkeypatch.setattr(os, "uname", lambda: other)
    assert machine_code._boot() != own


@pytest.mark.parametrize("content", [b"", b"[]", b"damaged"])
def test_damaged_notes_of_the_processor_are_not_used(content, asked, tmp_path):
    first = processor()
    (file,) = tmp_path.rglob("*.code")
    file.write_bytes(content)
    assert processor() == first
    store = code_cache.Store(str(file.parent))
    store.save("first boot", b"[1]")
    assert processor() == first
    assert len(asked) == 3


def test_features_without_avx_are_those_of_llvm(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.setenv("NUMBA_ENABLE_AVX", "0")
    features = llvm.get_host_cpu_features()
    features.update({name: False for name in features if name.startswith("avx")})
    assert machine_code.own_flags() == features.flatten()


def test_the_numbers_of_a_program_are_those_of_a_piece():
    """From Python's text to the cells."""
    from fractals.backends.cpu.programs import program_of

    def add(values, by):
        for k in range(values.shape[0]):
            values[k] += by * 0.5

    run, values = program_of(lambda _target: add, "float64"), np.arange(40.0)
    run(values, 3.0)
    assert values.tolist() == (np.arange(40.0) + 1.5).tolist()
    assert isinstance(next(iter(run._codes.values()))._memory, mmap.mmap) == LINKS

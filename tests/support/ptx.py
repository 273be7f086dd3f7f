"""Kernels compiled for a GPU on a machine without GPU and driver.

Pictures are drawn as users draw them, with ``device="cuda"``, so the kernels are those that they
run, types of the arguments included. Replaced is only what needs a card: what the driver answers,
device memory (the host's serves), and the launch (nothing runs).
"""

import contextlib
import functools
import importlib.util
import operator
import re
import subprocess
import tempfile
from types import SimpleNamespace
from typing import NamedTuple
from unittest import mock

import numba
import numpy as np

from fractals.backends import base, probe
from fractals.backends.cuda import backend

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
ARITHMETIC = re.compile(r"[FD](ADD|MUL|FMA|SETP?|MNMX|SEL)")


class Instruction(NamedTuple):
    """A machine instruction; `target` is the list index to which a branch jumps, or None."""

    name: str
    target: int | None


def missing():
    """Return what is missing to compile without a GPU, or an empty string."""
    if numba.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set"
    if importlib.util.find_spec("numba_cuda") is None:
        return "numba-cuda is not installed"
    from cuda import pathfinder

    for library in ("nvvm", "nvJitLink"):
        try:
            pathfinder.load_nvidia_dynamic_lib(library)
        except pathfinder.DynamicLibNotFoundError:
            return f"CUDA's library {library} is not installed"
    for tool in ("cuobjdump", "nvdisasm"):
        if pathfinder.find_nvidia_binary_utility(tool) is None:
            return f"CUDA's tool {tool} is not installed"
    return ""


def compile_kernels(draw, capability=(9, 0)):
    """Return the kernels that ``draw()`` compiles on a card of this compute capability.

    Each is Numba's code library, which translates it for any other capability too.
    """
    real = backend._import_kernel(simulated=False)
    from numba.cuda.dispatcher import _Kernel

    found, code = [], operator.attrgetter("library")
    card = probe.Device("cuda", "a card", compute_capability=capability)
    with (
        _card(capability),
        mock.patch.object(probe, "gpus", return_value=([card], "")),
        mock.patch.object(real.cuda, "select_device"),
        mock.patch.object(real.cuda, "stream", return_value=0),
        mock.patch.object(backend, "CudaBackend", _InHostMemory),
        mock.patch.object(backend, "program", lambda make, *_, **__: make(None)),
        mock.patch.object(_Kernel, "bind", lambda kernel: found.append(code(kernel))),
        mock.patch.object(_Kernel, "launch"),
    ):
        draw()
    return found


def real_cuda():
    """Return the module of kernels with the real `numba.cuda`."""
    return backend._import_kernel(simulated=False)


@contextlib.contextmanager
def without_a_card(capability):
    """Compile for a compute capability, and load nothing into a card."""
    from numba.cuda.dispatcher import _Kernel

    def finished(kernel):
        kernel._codelibrary.get_asm_str()

    with _card(capability), mock.patch.object(_Kernel, "bind", finished):
        yield


class _InHostMemory(base.HostMemory, backend.CudaBackend):
    def __init__(self, *arguments, **options):
        base.HostMemory.__init__(self)
        super(base.HostMemory, self).__init__(*arguments, **options)  # that of CudaBackend

    def to_device(self, array):
        return np.array(array)  # writable, as device arrays are


@contextlib.contextmanager
def _card(capability):
    """Patch numba.cuda so that it finds a current device of this compute capability."""
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devices

    card = SimpleNamespace(compute_capability=capability)
    with (
        mock.patch.object(dispatcher, "get_current_device", return_value=card),
        mock.patch.object(devices, "get_context", return_value=SimpleNamespace(device=card)),
    ):
        yield


@functools.cache
def text(kernel, capability):
    """Return the PTX that becomes the card's code."""
    with _card(capability):
        return kernel.get_lto_ptx()


def unfused_text(kernel, capability):
    """Return PTX for which the compiler may not contract ``a * b + c``."""
    with (
        _card(capability),
        mock.patch.dict(kernel._nvvm_options, fma=0),
        mock.patch.dict(kernel._ptx_cache, clear=True),
    ):
        return kernel.get_asm_str()


def assemble(ptx):
    """Return the binary of PTX."""
    from numba.cuda.cudadrv.driver import _Linker

    major, minor, variant = re.search(r"\.target sm_(\d+)(\d)(\w?)", ptx).groups()
    linker = _Linker(cc=(int(major), int(minor), variant), lto=False)
    linker.add_ptx(ptx.encode())
    return linker.complete().code


def binary(kernel, capability):
    """Return the binary that a GPU of this compute capability would load."""
    with _card(capability):
        return kernel.get_cubin().code


def resources(binary):
    """Return the registers and the bytes of local memory (spilled registers) per thread."""
    use = re.findall(r"\b(REG|STACK|LOCAL):(\d+)", _dump("--dump-resource-usage", binary))
    amount = {name: int(number) for name, number in use}
    return amount["REG"], amount["STACK"] + amount["LOCAL"]


@functools.cache
def instructions(binary):
    """Return the machine instructions of a binary, function by function."""
    found = []
    for function in _dump("--dump-sass", binary).split("Function :")[1:]:
        lines = INSTRUCTION.findall(function)
        places = {int(address, 16): len(found) + i for i, (address, _, _) in enumerate(lines)}
        for _, name, operands in lines:
            target = re.search(r"\b0x([0-9a-f]+)\s*$", operands) if name.startswith("BRA") else None
            found.append(Instruction(name, places[int(target[1], 16)] if target else None))
    return found


def _dump(option, binary):
    from cuda import pathfinder

    tool = pathfinder.find_nvidia_binary_utility("cuobjdump")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        command = [tool, option, file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def hot_loop(code):
    """Return the instructions of the innermost loop with the most arithmetic."""
    loops = [
        range(instruction.target, place + 1)
        for place, instruction in enumerate(code)
        if instruction.target is not None and instruction.target < place
    ]
    inner = [a for a in loops if not any(b[0] in a and b[-1] in a and a != b for b in loops)]
    bodies = [[code[i] for i in loop if code[i].name != "NOP"] for loop in inner]
    return max(bodies, key=lambda body: sum(bool(ARITHMETIC.match(c.name)) for c in body))

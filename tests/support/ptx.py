"""Kernels compiled for a GPU on a machine without GPU and driver.

Pictures are drawn as users draw them, with ``device="cuda"``, so the kernels are those that they
run, types of the arguments included. Replaced is only what needs a card: what the driver answers,
device memory (the host's serves), and the launch (nothing runs).
"""

import contextlib
import functools
import importlib.util
import re
from unittest import mock

import numba
import numpy as np

from fractals.backends import base, code_cache, devices, probe
from fractals.backends.cuda import backend, gpus, kernel
from fractals.backends.cuda.numba_private import pretended_gpu
from fractals.lessons.machine import hot_loop, instructions, resources

__all__ = ["hot_loop", "instructions", "resources"]


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
    """Return the kernels that ``draw()`` launches on a card of this compute capability.

    Each is Numba's code library, which translates it for any other capability too. Draws share the
    kernels that are the same.
    """
    cuda = kernel.find(simulated=False)
    from numba.cuda.dispatcher import _Kernel

    found = []

    def launched(kernel, *_):
        if kernel.library not in found:
            found.append(kernel.library)

    card = probe.Device("cuda", "a card", compute_capability=capability)
    with (
        pretended_gpu(capability),
        mock.patch.object(gpus, "found", return_value=([card], "")),
        mock.patch.object(cuda, "stream", return_value=0),
        mock.patch.object(backend, "gpu_of", lambda index: backend.SimulatedGpu(cuda, index)),
        mock.patch.object(backend, "CudaBackend", _InHostMemory),
        mock.patch.dict(devices._gpus, clear=True),
        mock.patch.object(kernel, "program", functools.partial(code_cache.program, stored=False)),
        mock.patch.object(_Kernel, "bind"),
        mock.patch.object(_Kernel, "launch", launched),
    ):
        draw()
    return found


def real_cuda():
    """Return the real `numba.cuda`, which knows the primitives."""
    cuda = kernel.find(simulated=False)
    kernel.register_overloads(cuda)
    return cuda


@contextlib.contextmanager
def without_a_card(capability):
    """Compile for a compute capability, and load nothing into a card."""
    from numba.cuda.dispatcher import _Kernel

    def finished(kernel):
        kernel._codelibrary.get_asm_str()

    with pretended_gpu(capability), mock.patch.object(_Kernel, "bind", finished):
        yield


@functools.cache
def made_of(program):
    """Return Numba's kernel of a program."""
    return program.made()


class _InHostMemory(base.HostMemory, backend.CudaBackend):
    def __init__(self, *arguments, **options):
        base.HostMemory.__init__(self)
        super(base.HostMemory, self).__init__(*arguments, **options)  # that of CudaBackend

    tally = backend.CudaBackend.tally

    def compile(self, make_body, *options):
        program = kernel.card_program(self._number, make_body, options)

        def run(out, *arguments):
            made_of(program)[(*self._shape((out,)), 0)](out, arguments)

        return base.Run(run, "kernel")

    def to_device(self, array, kept=False):
        return np.array(array)  # writable, as device arrays are


@functools.cache
def text(kernel, capability):
    """Return the PTX that becomes the card's code."""
    with pretended_gpu(capability):
        return kernel.get_lto_ptx()


def unfused_text(kernel, capability):
    """Return PTX for which the compiler may not contract ``a * b + c``."""
    with (
        pretended_gpu(capability),
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
    with pretended_gpu(capability):
        return kernel.get_cubin().code


LABEL, JUMP = re.compile(r"\s*(\$\w+):"), re.compile(r"\bbra(?:\.uni)?\s+(\$\w+)")
NUMBER = re.compile(r"%fd?\d+\b")  # a register of a real number
COPY = re.compile(r"\s*mov\.f(?:32|64)\s+(%fd?\d+), (%fd?\d+);")


def lost_starts(ptx):
    """Return the registers with which a loop begins where an earlier one has ended, by mistake.

    Each with the register that it should be a copy of: the earlier loop began with this copy, what
    lies between the loops reads it, and nothing copies it again. libNVVM 13.5.37 loses such copies
    where two orbits have the same x at first. Where a loop reads the register itself, the later one
    may go on with the numbers of the earlier one: the register holds c, and an orbit began with it.
    """
    lines = ptx.splitlines()
    labels = {found[1]: at for at, line in enumerate(lines) if (found := LABEL.match(line))}
    jumps = [(JUMP.search(line), at) for at, line in enumerate(lines)]
    ends = [(labels.get(jump[1], at), at) for jump, at in jumps if jump]
    loops = [range(to, at + 1) for to, at in ends if to < at]
    found = set()
    for first in loops:
        made, used = _registers(lines[first.start : first.stop])
        for copy, start in COPY.findall("\n".join(lines[: first.start])):
            if copy not in made or start in made | used:
                continue
            for second in loops:
                changed, needed = _registers(lines[second.start : second.stop])
                set_there, read_there = _registers(lines[first.stop : second.start])
                lost = copy in changed & needed - set_there
                if lost and start in read_there - needed:
                    found.add((copy, start))
    return sorted(found)


def _registers(lines):
    """Return the registers that lines set, and those that they read before they set them."""
    made, read = set(), set()
    for line in lines:
        name, _, operands = line.replace("\t", " ").strip().partition(" ")
        operands = operands.strip()
        target = operands.partition("}" if operands.startswith("{") else ",")[0]
        registers = NUMBER.findall(operands)
        count = 0 if name.startswith(("st", "@", "red")) else len(NUMBER.findall(target))
        read |= set(registers[count:]) - made
        made |= set(registers[:count])
    return made, read

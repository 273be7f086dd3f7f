"""Finds the CPU of this machine, and says what a device is, without importing Numba."""

import ctypes
import functools
import importlib
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fractals.threads import core_count, group_files

# Results per clock of a multiprocessor in float32 and float64, by compute capability. Source: the
# table of arithmetic throughput in the CUDA Programming Guide.
RESULTS_PER_CLOCK = {
    (6, 0): (64, 32),
    (6, 1): (128, 4),
    (7, 0): (64, 32),
    (7, 5): (64, 2),
    (8, 0): (64, 32),
    (9, 0): (128, 64),
    (10, 0): (128, 64),
}


@dataclass(frozen=True)
class Device:
    """A device that can draw.

    Attributes
    ----------
    kind : str
        "cpu", "cuda", "opencl", "simulator" or "python".
    memory : int
        In bytes; 0 where unknown.
    multiprocessors, clock : int, float
        Multiprocessors of a GPU, and its highest clock in Hz.
    others : tuple of int
        Numbers of the other GPUs that share the tiles with this one.
    problem : str
        Why the device is unusable, and how to repair that; empty where it is usable.
    is_gpu : bool
        False for the CPU, also as a device of OpenCL, and for the simulator.
    lacks : tuple of str
        What an OpenCL device lacks, such as "float64".
    """

    kind: str
    name: str
    index: int = 0
    cores: int = 0
    vector_bits: int = 0
    compute_capability: tuple[int, int] = (0, 0)
    memory: int = 0
    multiprocessors: int = 0
    clock: float = 0.0
    driver: str = ""
    problem: str = ""
    others: tuple[int, ...] = ()
    is_gpu: bool = field(default=False, kw_only=True)
    lacks: tuple[str, ...] = ()

    @property
    def indices(self) -> tuple[int, ...]:
        """Return the numbers of the GPUs that share the tiles."""
        return (self.index, *self.others)

    def rate(self, number: str) -> float:
        """Return the most arithmetic results per second of a GPU; 0 where its clock is unknown."""
        results = RESULTS_PER_CLOCK.get(self.compute_capability, (128, 2))[number == "float64"]
        return results * self.multiprocessors * self.clock


def drawing_cpu() -> Device:
    """Return the CPU, with the cores that this process may use: all that drawing asks of it."""
    return Device(kind="cpu", name="", cores=core_count())


def cpu() -> Device:
    """Return the CPU, with the cores this process may use, its name and its widest vectors."""
    return Device(
        kind="cpu",
        name=_cpu_name(),
        cores=core_count(),
        vector_bits=_vector_bits(),
        memory=memory_size(),
    )


def memory_size() -> int:
    """Return the memory that is free now, in bytes; 0 where the system doesn't say.

    Each picture asks several times, and the system takes 0.1 ms: the answer is kept for a second.
    """
    return _memory_size(int(time.monotonic()))


@functools.lru_cache(maxsize=1)
def _memory_size(_second: int) -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min(int(line.split()[1]) * 1024, *_memory_of_groups())
    except (OSError, ValueError):
        pass
    return _memory_elsewhere()


def _memory_of_groups() -> Iterator[int]:
    """Yield what the limits of a container leave: beyond them the system kills its processes.

    Memory that holds no more than parts of files can be had.
    """
    yield sys.maxsize
    for limit, used in (("max", "current"), ("limit_in_bytes", "usage_in_bytes")):
        for texts in group_files("memory", [f"memory.{limit}", f"memory.{used}", "memory.stat"]):
            most, now, *facts = " ".join(texts).split()
            stat = dict(zip(facts[::2], map(int, facts[1::2]), strict=True))
            cached = stat.get("active_file", 0) + stat.get("inactive_file", 0)
            if most.isdecimal():  # not "max"
                yield max(0, int(most) - int(now) + cached)


def _memory_elsewhere() -> int:
    """Return the memory of a system that is not Linux; 0 where it doesn't say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # macOS: free or not
    except (OSError, ValueError, AttributeError):
        return _memory_of_windows()


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of Windows, of 64 bytes."""

    _fields_: ClassVar = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("whole", ctypes.c_uint64),
        ("free", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),
    ]


def _memory_of_windows() -> int:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    windows = getattr(ctypes, "windll", None)
    if windows is None or not windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return 0
    return int(status.free)


def _cpu_name() -> str:
    found = _first_core().get("model name") or _name_by_the_system()
    return found or platform.processor() or platform.machine()


def _name_by_the_system() -> str:
    """Return the name of the processor on macOS and Windows, else ""."""
    import subprocess  # takes milliseconds

    try:
        if sys.platform == "darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout.strip()
        winreg: Any = importlib.import_module("winreg")
        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            return str(winreg.QueryValueEx(opened, "ProcessorNameString")[0]).strip()
    except (ImportError, OSError, subprocess.SubprocessError):
        return ""


@functools.cache
def _vector_bits() -> int:
    features: Mapping[str, Any] = dict.fromkeys(_first_core().get("flags", "").split(), True)
    if not features:  # not Linux on x86
        from llvmlite import binding  # takes 20 ms

        features = binding.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512vl"):
        return 512
    return 256 if features.get("avx2") else 128


@functools.cache
def _first_core() -> dict[str, str]:
    """Return what Linux says about the first core, and {} elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}

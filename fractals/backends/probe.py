"""Finds the CPU and GPUs of this machine, without importing Numba."""

import ctypes
import functools
import importlib
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fractals.backends import cuda_driver
from fractals.errors import shown, to_install
from fractals.threads import core_count

INIT_ERRORS = {
    3: "this process was forked from one that had used the GPU: have it spawned",
    34: "the driver library is a stub: the NVIDIA driver is not installed",
    100: "the driver sees no CUDA GPU",
    802: "the driver is not ready: nvidia-fabricmanager does not run",
    803: "the driver and the loaded libcuda are of different versions: restart the machine",
    804: "this libcuda needs a newer driver",
    999: "the driver has failed: restart the machine",
}

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
        False for a CPU that OpenCL lists among its devices.
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
    is_gpu: bool = field(default=True, kw_only=True)
    lacks: tuple[str, ...] = ()

    @property
    def indices(self) -> tuple[int, ...]:
        """Return the numbers of the GPUs that share the tiles."""
        return (self.index, *self.others)

    def rate(self, number: str) -> float:
        """Return the most arithmetic results per second of a GPU; 0 where its clock is unknown."""
        results = RESULTS_PER_CLOCK.get(self.compute_capability, (128, 2))[number == "float64"]
        return results * self.multiprocessors * self.clock


def cpu() -> Device:
    """Return the CPU, with the cores this process may use and its widest vectors."""
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
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return _memory_elsewhere()


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


def gpus() -> tuple[list[Device], str]:
    """Return the CUDA GPUs of the driver, and why there are none or none is usable.

    This takes a millisecond. It initialises the driver in this process, which must not fork
    afterwards.
    """
    library, reason = cuda_driver.library()
    if library is None:
        return [], reason
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    version, count = ctypes.c_int(), ctypes.c_int()
    try:
        code = library.cuInit(0)
        code = code or library.cuDriverGetVersion(ctypes.byref(version))
        code = code or library.cuDeviceGetCount(ctypes.byref(count))
        code = code or (0 if count.value else 100)
        if code == 100 and visible is not None:
            return [], f"CUDA_VISIBLE_DEVICES='{shown(visible, 40)}' leaves the driver no CUDA GPU"
        if code:
            return [], INIT_ERRORS.get(code, f"the driver doesn't start (error {code})")
        problem = _software_problem(version.value)
        found = [_gpu(library, i, version.value, problem) for i in range(count.value)]
    except AttributeError as error:  # "...: undefined symbol: cuDeviceGet"
        name = str(error).split()[-1].strip("'")
        return [], f"the driver is too old or damaged (it has no {name}): update it"
    return found, next((gpu.problem for gpu in found if gpu.problem), "")


def _software_problem(version: int) -> str:
    """Return what is missing for a driver of this version, and the command that installs it."""
    if version < 12000:
        return f"the driver is for CUDA {_dotted(version)}: update it to one for CUDA 12 or newer"
    extra = "gpu" if version >= 13000 else "gpu12"
    if importlib.util.find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed: {to_install(extra)}"
    if version < 13000 and (installed := _version_of_bindings()) >= 13:
        return (
            f"the driver is for CUDA {_dotted(version)}, and what is installed for CUDA "
            f"{installed}: update the driver, or {to_install(extra)}"
        )
    return ""


def _version_of_bindings() -> int:
    """Return for which CUDA the packages are that numba-cuda needs; 0 where that is unknown."""
    from importlib import metadata

    try:
        return int(metadata.version("cuda-bindings").partition(".")[0])
    except (metadata.PackageNotFoundError, ValueError):
        return 0


def _gpu(library: ctypes.CDLL, index: int, version: int, problem: str) -> Device:
    handle = ctypes.c_int()
    memory, name = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    code = library.cuDeviceGet(ctypes.byref(handle), index)
    code = code or library.cuDeviceGetName(name, 256, handle)
    code = code or library.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)

    def attribute(code: int) -> int:
        value = ctypes.c_int()
        library.cuDeviceGetAttribute(ctypes.byref(value), code, handle)
        return value.value

    if code:
        problem = (
            f"the driver does not answer about GPU {index} (error {code}): restart the machine"
        )
    return Device(
        kind="cuda",
        index=index,
        name=name.value.decode(errors="replace"),
        compute_capability=(attribute(75), attribute(76)),  # COMPUTE_CAPABILITY_MAJOR and MINOR
        memory=memory.value,
        multiprocessors=attribute(16),  # MULTIPROCESSOR_COUNT
        clock=1e3 * attribute(13),  # CLOCK_RATE, in kHz
        driver=_dotted(version),
        problem=problem,
    )


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


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

"""Finds the CUDA GPUs of this machine, without importing Numba."""

import ctypes
import importlib.util
import os

from fractals.backends import cuda_driver
from fractals.backends.probe import Device
from fractals.errors import shown, to_install

INIT_ERRORS = {
    3: "this process was forked from one that had used the GPU: have it spawned",
    34: "the driver library is a stub: the NVIDIA driver is not installed",
    100: "the driver sees no CUDA GPU",
    802: "the driver is not ready: nvidia-fabricmanager does not run",
    803: "the driver and the loaded libcuda are of different versions: restart the machine",
    804: "this libcuda needs a newer driver",
    999: "the driver has failed: restart the machine",
}
# Of machines that have a GPU, which a person expects to draw
BROKEN = {INIT_ERRORS[code] for code in (802, 803, 804, 999)}


def found() -> tuple[list[Device], str]:
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
        gpus = [_gpu(library, i, version.value, problem) for i in range(count.value)]
    except AttributeError as error:  # "...: undefined symbol: cuDeviceGet"
        name = str(error).split()[-1].strip("'")
        return [], f"the driver is too old or damaged (it has no {name}): update it"
    return gpus, next((gpu.problem for gpu in gpus if gpu.problem), "")


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
        is_gpu=True,
    )


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"

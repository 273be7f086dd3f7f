"""The OpenCL backend: GPUs of AMD, Intel, Apple and NVIDIA, and CPUs by PoCL."""

import contextlib
import functools
import importlib.util
from typing import Any

from fractals.backends.base import Limits
from fractals.backends.probe import Device
from fractals.errors import first_line, shown, to_install

# Assumed for a GPU of any vendor: forecasts only.
LIMITS = Limits(
    samples_per_tile=2**20,
    min_samples_per_tile=2**17,
    steps_per_tile=2**36,
    steps_per_check=16,
    rectangles=False,
    shared_by_threads=False,
    steps_per_second=5e10,
    samples_per_second=1e9,
    seconds_per_deep_sample=1e-7,
)
SECONDS_PER_LAUNCH = 0.2  # of a GPU that also serves a screen, which stands still meanwhile
INSTRUCTIONS_PER_STEP = 20  # of an iteration: 4 to 50, by the formula
# Results per clock of a compute unit in float32 and float64: as few as those of an Intel GPU, whose
# units are the smallest. A launch of other GPUs is shorter, which costs them little.
RESULTS_PER_CLOCK = 8, 1
SLOWEST = 2e9  # instructions per second, of a device that does not state its clock
# What a device may lack, as `Device.lacks` names it.
FLOAT64, DIVISION = "float64", "correctly rounded division in float32"
FMA, SUBNORMAL = "fast fma in float32", "subnormal numbers in float32"


def steps_per_launch(device: Device, number: str) -> int:
    """Return the iterations of a launch that takes about SECONDS_PER_LAUNCH."""
    rate = RESULTS_PER_CLOCK[number == "float64"] * device.multiprocessors * device.clock
    return int(SECONDS_PER_LAUNCH / INSTRUCTIONS_PER_STEP * max(rate, SLOWEST))


def is_installed() -> bool:
    """Tell whether devices can be asked for."""
    return importlib.util.find_spec("pyopencl") is not None


@functools.cache
def found() -> tuple[list[Device], str]:
    """Return the OpenCL devices of all platforms, and why there are none."""
    if not is_installed():
        return [], f"pyopencl is not installed: {to_install('opencl')}"
    try:
        handles = _handles()
    except Exception as error:  # whatever a loader, or a platform's library, raises
        if "PLATFORM_NOT_FOUND" in str(error):
            return [], "no OpenCL platform: install the OpenCL driver of your GPU"
        return [], f"pyopencl finds no device ({shown(first_line(error), 120)})"
    devices = [_answer(k, handle) for k, handle in enumerate(handles)]
    return devices, "" if devices else "no OpenCL platform has a device"


def handle_of(index: int) -> Any:
    """Return pyopencl's device of a number."""
    return _handles()[index]


@functools.cache
def _handles() -> list[Any]:
    import pyopencl

    handles = []
    for platform in pyopencl.get_platforms():
        with contextlib.suppress(pyopencl.Error):  # a platform without a device
            handles += platform.get_devices()
    return handles


def _answer(index: int, handle: Any) -> Device:
    """Return what a device says of itself, or why it is of no use: others may be."""
    try:
        return _device(index, handle)
    except Exception as error:  # whatever a platform's library raises
        reason = f"its driver fails ({shown(first_line(error), 120)})"
        return Device(kind="opencl", index=index, name="a device without a name", problem=reason)


def _device(index: int, handle: Any) -> Device:
    import pyopencl

    single = handle.single_fp_config
    bits = pyopencl.device_fp_config
    double = "cl_khr_fp64" in handle.extensions.split() and handle.double_fp_config
    lacks = [
        name
        for name, there in (
            (FLOAT64, double),
            (DIVISION, single & bits.CORRECTLY_ROUNDED_DIVIDE_SQRT),
            (FMA, single & bits.FMA),
            (SUBNORMAL, single & bits.DENORM),
        )
        if not there
    ]
    problem = "" if handle.available and handle.compiler_available else "it has no compiler"
    is_gpu = bool(handle.type & pyopencl.device_type.GPU)
    return Device(
        kind="opencl",
        index=index,
        name=" ".join(handle.name.split()),
        memory=handle.global_mem_size,
        multiprocessors=handle.max_compute_units,
        clock=1e6 * handle.max_clock_frequency,
        driver=" ".join(handle.platform.name.split()),
        problem=problem,
        is_gpu=is_gpu,
        lacks=tuple(lacks),
    )

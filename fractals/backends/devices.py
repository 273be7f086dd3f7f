"""Chooses a device and opens its backend; Numba is imported only when a backend is opened."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from fractals.backends import cpu, cuda, opencl, probe, python
from fractals.backends.base import Backend, Limits
from fractals.backends.probe import Device
from fractals.errors import DeviceError, DeviceLostError, OptionError, on_the_cpu, shown
from fractals.threads import core_count, threads_for


class _ByKind(dict[str, Limits]):
    """The limits of each kind of device."""

    def __missing__(self, kind: str) -> Limits:
        raise OptionError(f"unknown kind of device '{kind}': choose one of {', '.join(self)}")


LIMITS = _ByKind(
    cpu=cpu.LIMITS,
    cuda=cuda.LIMITS,
    opencl=opencl.LIMITS,
    simulator=cuda.SIMULATED_LIMITS,
    python=python.LIMITS,
)
REQUESTS = (
    *("auto", "cpu", "gpu", "cuda", "cuda:N", "cuda:all", "opencl", "opencl:N"),
    *("opencl:all", "simulator", "python"),
)

_gpus: dict[tuple[str, str, tuple[int, ...], int], Backend] = {}


class Choice(NamedTuple):
    """The device that draws, and a message for the user about the choice."""

    device: Device
    note: str = ""


def devices() -> list[Device]:
    """Return the devices of this machine: the CPU, CUDA GPUs, OpenCL devices, and the simulator.

    Returns
    -------
    list of Device

    Examples
    --------
    >>> devices()[0].kind
    'cpu'
    """
    from fractals.backends.cuda import gpus

    found, _ = gpus.found()
    return [probe.cpu(), *found, *opencl.found()[0], _simulator()]


def _simulator() -> Device:
    from fractals.backends import cuda_driver

    name = "Numba's CUDA simulator" if cuda_driver.numba_simulates() else "a simulator of CUDA"
    return Device(kind="simulator", name=name, cores=core_count())


def choose(request: str = "auto") -> Choice:
    """Return the device for a request, without importing Numba.

    `request`: "auto" is a usable GPU, otherwise the CPU; "gpu" a GPU, otherwise the simulator;
    "cuda" and "cuda:1" the GPU of this number; "cuda:all" all usable GPUs, which share the tiles;
    "opencl" the first GPU of OpenCL, otherwise its first device, "opencl:1" the device of this
    number, and "opencl:all" the usable GPUs of one platform, because another platform may list the
    same GPUs; "cpu", "simulator" and "python" name themselves. A GPU of CUDA comes before one of
    OpenCL. Raises DeviceError: the GPU of a number was requested and is missing or unusable. Raises
    OptionError: the request is unknown.
    """
    if request == "cpu":
        return Choice(probe.drawing_cpu())
    if request == "python":
        return Choice(Device(kind="python", name="plain Python"))
    if request == "simulator":
        return Choice(_simulator())
    return _choose_gpu(request)


def choose_one(
    request: str, what: str = "", tell: Callable[[str], None] = lambda line: None
) -> Choice:
    """Return what `choose` does; of several GPUs the first, and `tell` that `what` is on one."""
    choice = choose(request)
    if not choice.device.others:
        return choice
    tell(f"{what} is drawn on one GPU")
    return choice._replace(device=replace(choice.device, others=()))


def _choose_gpu(request: str) -> Choice:
    """Return the GPU for a request, or what is taken in its place; see `choose`."""
    kind, _, digits = request.partition(":")
    numbered = re.fullmatch("[0-9]{1,9}", digits) or request in (kind, f"{kind}:all")
    named = kind in ("cuda", "opencl") and numbered
    if named and kind == "opencl":
        return Choice(_opencl_device(request, digits))
    if not (named or request in ("auto", "gpu")):
        if request in ("mps", "metal"):
            raise OptionError(
                f"no device '{request}': Apple's GPUs are reached through OpenCL; use opencl or cpu"
            )
        from fractals.catalog import did_you_mean

        known, meant = ", ".join(REQUESTS), did_you_mean(request.lower(), REQUESTS)
        raise OptionError(f"unknown device '{shown(request, 40)}': choose one of {known}{meant}")

    from fractals.backends.cuda import gpus

    found, reason = gpus.found()
    usable = [gpu for gpu in found if not gpu.problem]
    if named:
        if digits == "all" and usable:
            return Choice(_together(usable))
        index = int(digits) if digits.isdecimal() else 0
        if found and index >= len(found):
            reason = f"there are {len(found)}, numbered from 0"
        elif found and not reason:
            return Choice(found[index])
        raise DeviceError(f"no CUDA GPU for '{request}' ({reason}); device='cpu' draws without one")
    if usable:
        return Choice(usable[0])
    others = opencl.found()[0] if opencl.is_installed() else []  # why none is, takes 6 ms
    if gpu := next((each for each in others if each.is_gpu and not each.problem), None):
        return Choice(gpu)
    if request == "gpu":
        return Choice(_simulator(), f"no CUDA GPU ({reason}), drawing in the simulator")
    note = on_the_cpu(f"the GPU is not used ({reason})") if found or reason in gpus.BROKEN else ""
    return Choice(probe.drawing_cpu(), note)


def _together(usable: Sequence[Device]) -> Device:
    """Return GPUs that share the tiles, as a device; what one of them lacks, it lacks."""
    lacks = tuple(dict.fromkeys(name for gpu in usable for name in gpu.lacks))
    others = tuple(gpu.index for gpu in usable[1:])
    name = ", ".join(gpu.name for gpu in usable)
    return replace(usable[0], name=name, others=others, lacks=lacks)


def _opencl_device(request: str, digits: str) -> Device:
    """Return the OpenCL device of a number, the first usable one, or all of its platform.

    A GPU comes before a CPU.
    """
    found, reason = opencl.found()
    usable = sorted((each for each in found if not each.problem), key=lambda each: not each.is_gpu)
    if digits.isdecimal():
        usable = [each for each in found if each.index == int(digits)]
        if found and not usable:
            reason = f"there are {len(found)}, numbered from 0"
        elif usable and usable[0].problem:
            reason, usable = usable[0].problem, []
    elif found and not usable:
        reason = found[0].problem
    if not usable:
        raise DeviceError(
            f"no OpenCL device for '{request}' ({reason}); device='cpu' draws without one"
        )
    if digits == "all":
        first = usable[0]
        like = [gpu for gpu in usable if (gpu.driver, gpu.is_gpu) == (first.driver, first.is_gpu)]
        # A launch is bounded by the speed of the first.
        return _together(sorted(like, key=lambda gpu: gpu.multiprocessors * gpu.clock))
    return usable[0]


def open_backend(device: Device, number: str, threads: int | None = None) -> Backend:
    """Return a backend for a device that iterates in `number`, "float64" or "float32"."""
    if device.kind == "python":
        return python.PythonBackend(number)
    _check_environment()
    if device.kind == "cpu":
        from fractals.backends.cpu.backend import CpuBackend

        return CpuBackend(number, threads_for(threads, device.cores))
    return _open_gpu(device, number, threads)


def _open_gpu(device: Device, number: str, threads: int | None) -> Backend:
    """Return a backend for a GPU, for all that OpenCL finds, or for the simulator."""
    if device.kind == "opencl":
        from fractals.backends.opencl.backend import OpenClBackend

        own = "opencl", number, device.indices, opencl.steps_per_launch(device, number)
        if own not in _gpus:
            _gpus[own] = OpenClBackend(number, device, own[3])
        _gpus[own].check()
        return _gpus[own]
    from fractals.backends.cuda.backend import CudaBackend

    if device.kind == "simulator":
        steps, threads = cuda.SIMULATED_STEPS, threads or device.cores
        return CudaBackend(number, simulated=True, steps=steps, threads=threads)
    # One for all pictures of the process: its tables stay on the GPU.
    key = "cuda", number, device.indices, cuda.steps_per_launch(device.rate(number))
    if key not in _gpus:
        _gpus[key] = CudaBackend(number, device.indices, steps=key[3])
    _gpus[key].check()
    return _gpus[key]


# Variables with which Numba compiles nothing, or ends Python: the values that are none of these
USABLE = (
    ("NUMBA_DISABLE_JIT", r"0*|.*[^0-9].*", "switches Numba's compiler off"),
    ("NUMBA_NUM_THREADS", r"0*[1-9].*|.*[^0-9-].*|", "is no number of threads"),
    ("NUMBA_CPU_FEATURES", r"([+-][^,]+(,|$))*", "is not a list such as +avx2,-fma"),
)


def _check_environment() -> None:
    """Raise a `DeviceError` about a variable that Numba can't use."""
    for name, usable, meaning in USABLE:
        given = os.environ.get(name, "").strip()
        if not re.fullmatch(usable, given):
            raise DeviceError(
                f"{name}={shown(given, 40)} {meaning}: unset it, or give device='python', which is "
                "slow"
            )


def open_one_core(number: str = "float64") -> Backend:
    """Return a backend for one core of the CPU, whatever device draws the picture."""
    return open_backend(Device(kind="cpu", name=""), number, threads=1)


def open_chosen(
    choice: Choice, request: str, number: str, threads: int | None = None
) -> tuple[Device, Backend, str]:
    """Open the device chosen for a request, or else another; also return a note for the user."""
    device, note = choice
    try:
        return device, open_backend(device, number, threads), note
    except (DeviceError, DeviceLostError) as error:
        device, note = _instead(request, error)
        return device, open_backend(device, number, threads), note


def _instead(request: str, error: DeviceError | DeviceLostError) -> tuple[Device, str]:
    """Return the device in place of one that can't be opened, and a note; or raise its error."""
    if request == "auto":
        return probe.drawing_cpu(), on_the_cpu(error.args[0])
    if request == "gpu" and not isinstance(error, DeviceLostError):
        return _simulator(), f"{error}; drawing in the simulator"
    raise error

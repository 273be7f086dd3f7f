"""Choosing a backend. Nothing here imports Numba before a backend is opened."""

from dataclasses import replace
from typing import NamedTuple

from fractals.backends import probe
from fractals.backends.base import Backend
from fractals.backends.probe import Device
from fractals.errors import DeviceError, OptionError
from fractals.threads import core_count

SIMULATED_STEPS = 2**29
SLOWEST = 2e10  # instructions a second, of a GPU whose driver doesn't tell

REQUESTS = ("auto", "cpu", "gpu", "cuda", "cuda:N", "cuda:all", "simulator", "python")


class Choice(NamedTuple):
    """Which device draws, and what the user should be told of it."""

    device: Device
    note: str = ""


def devices() -> list[Device]:
    """List what can draw here: the CPU, each CUDA GPU, and Numba's CUDA simulator.

    Examples
    --------
    >>> devices()[0].kind
    'cpu'
    """
    found, _ = probe.gpus()
    return [probe.cpu(), *found, Device(kind="simulator", name="Numba's CUDA simulator")]


def choose(request: str = "auto") -> Choice:
    """Choose a device without importing Numba.

    ``"auto"``: a usable GPU, otherwise the CPU. ``"gpu"``: a GPU, otherwise the simulator.
    ``"cuda"``, ``"cuda:1"``: that GPU. ``"cuda:all"``: all that can be used share the tiles.
    ``"cpu"``, ``"simulator"``, ``"python"``: itself.

    Raises
    ------
    DeviceError
        A GPU was asked for by name and is missing or can't be used.
    OptionError
        The request is none of these.
    """
    if request == "cpu":
        return Choice(probe.cpu())
    if request == "python":
        return Choice(Device(kind="python", name="plain Python"))
    simulator = Device(kind="simulator", name="Numba's CUDA simulator", cores=core_count())
    if request == "simulator":
        return Choice(simulator)
    kind, _, digits = request.partition(":")
    named = kind == "cuda" and (digits.isdecimal() or request in ("cuda", "cuda:all"))
    if not (named or request in ("auto", "gpu")):
        raise OptionError(f"unknown device '{request}': choose one of {', '.join(REQUESTS)}")

    found, reason = probe.gpus()
    usable = [gpu for gpu in found if not gpu.problem]
    if named:
        if digits == "all" and usable:
            together = ", ".join(gpu.name for gpu in usable)
            rest = tuple(gpu.index for gpu in usable[1:])
            return Choice(replace(usable[0], name=together, others=rest))
        index = int(digits) if digits.isdecimal() else 0
        if found and index >= len(found):
            reason = f"there are {len(found)}, numbered from 0"
        elif found and not reason:
            return Choice(found[index])
        raise DeviceError(f"no CUDA GPU for '{request}' ({reason}); --cpu draws without one")
    if usable:
        return Choice(usable[0])
    if request == "gpu":
        return Choice(simulator, f"no CUDA GPU ({reason}), drawing in the simulator")
    note = f"the GPU is not used ({reason}), drawing on the CPU" if found else ""
    return Choice(probe.cpu(), note)


def open_backend(device: Device, number: str, threads: int | None = None) -> Backend:
    """Return the backend that draws on `device` in `number` ("float64" or "float32")."""
    if device.kind == "python":
        from fractals.backends.python import PythonBackend

        return PythonBackend(number)
    if device.kind == "cpu":
        from fractals.backends.cpu.backend import CpuBackend

        return CpuBackend(number, threads or device.cores)
    from fractals.backends.cuda.backend import CudaBackend

    if device.kind == "simulator":
        return CudaBackend(number, simulated=True, steps=SIMULATED_STEPS)
    # A launch that is bounded so takes some 0.2 s, as an iteration has 4 to 50 instructions.
    steps = int(0.2 / 20 * (device.rate(number) or SLOWEST))
    return CudaBackend(number, device.indices, steps=steps)


def open_chosen(
    choice: Choice, request: str, number: str, threads: int | None = None
) -> tuple[Device, Backend, str]:
    """Open the device chosen for a request, or else another; also return a note for the user."""
    device, note = choice
    try:
        return device, open_backend(device, number, threads), note
    except DeviceError as error:
        if request not in ("auto", "gpu"):
            raise
        instead, where = (
            ("cpu", "on the CPU") if request == "auto" else ("simulator", "in the simulator")
        )
        device = choose(instead).device
        return device, open_backend(device, number, threads), f"{error}; drawing {where}"


__all__ = ["Backend", "Choice", "Device", "choose", "devices", "open_backend", "open_chosen"]

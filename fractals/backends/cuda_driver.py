"""NVIDIA's driver, called by ctypes: the 26 functions that a picture needs, without a compiler.

All other packages that call the driver bring a compiler, or classes for all of CUDA, whose imports
take longer than a small picture. What is here imports neither them nor NumPy, so a process can have
the driver start in a thread while it still imports the rest (`begin`).

Of each function the driver is asked for the version that `cuda.h` of CUDA 12.0 declares, by the
name that is written there (`cuGetProcAddress`): CUDA Driver API, NVIDIA.
"""

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

WSL_DRIVER = "/usr/lib/wsl/lib/libcuda.so.1"  # Windows puts it there
HEADER = 12000  # the version of `cuda.h` whose functions are called: 12.0
NOT_READY = 600  # of `cuEventQuery`: no error

_int, _uint, _size, _float = ctypes.c_int, ctypes.c_uint, ctypes.c_size_t, ctypes.c_float
_address, _handle, _text = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
_answer = ctypes.c_void_p  # where the driver writes what it is asked for

FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (_uint,),
    "cuGetErrorName": (_int, _answer),
    # The context of a GPU, one for all of a process, also for Numba
    "cuDeviceGet": (_answer, _int),
    "cuDeviceGetAttribute": (_answer, _int, _int),
    "cuDevicePrimaryCtxRetain": (_answer, _int),
    "cuCtxGetCurrent": (_answer,),
    "cuCtxSetCurrent": (_handle,),
    "cuCtxSynchronize": (),
    # Kernels
    "cuModuleLoadData": (_answer, _text),
    "cuModuleUnload": (_handle,),
    "cuModuleGetFunction": (_answer, _handle, _text),
    "cuLaunchKernel": (_handle, *(_uint,) * 7, _handle, _handle, _handle),
    # Memory, of the GPU and page-locked
    "cuMemAlloc": (_answer, _size),
    "cuMemFree": (_address,),
    "cuMemHostAlloc": (_answer, _size, _uint),
    "cuMemFreeHost": (_handle,),
    "cuMemcpyHtoDAsync": (_address, _handle, _size, _handle),
    "cuMemcpyDtoHAsync": (_handle, _address, _size, _handle),
    # Streams and events
    "cuStreamCreate": (_answer, _uint),
    "cuStreamSynchronize": (_handle,),
    "cuStreamWaitEvent": (_handle, _handle, _uint),
    "cuEventCreate": (_answer, _uint),
    "cuEventRecord": (_handle, _handle),
    "cuEventQuery": (_handle,),
    "cuEventSynchronize": (_handle,),
    "cuEventElapsedTime": (_answer, _handle, _handle),
}


class DriverError(RuntimeError):
    """A call of the driver that failed, or a function that it does not have.

    `code`: the driver's number of the error, or 0. `missing`: the name of the function, or "".
    """

    def __init__(self, line: str, code: int = 0, missing: str = "") -> None:
        super().__init__(line)
        self.code, self.missing = code, missing


class Driver:
    """The driver's functions by their names, such as ``driver.cuMemFree(address)``.

    A function is looked up when it is first called. Each raises `DriverError`: the call failed, or
    the driver has no such function. Calls let other threads of Python run.
    """

    def __init__(self, library: Any) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in FUNCTIONS:
            raise AttributeError(name)
        function = self._function(name)

        def call(*arguments: Any) -> None:
            if code := function(*arguments):
                raise self._failed(name, code)

        setattr(self, name, call)
        return call

    def ask(self, name: str, *arguments: Any, answer: Any = ctypes.c_uint64) -> Any:
        """Return what a function answers, whose first argument is where it writes the answer."""
        value = answer()
        getattr(self, name)(ctypes.byref(value), *arguments)
        return value.value

    def _function(self, name: str) -> Callable[..., int]:
        found, status = ctypes.c_void_p(), ctypes.c_int()
        with contextlib.suppress(AttributeError):  # a driver before 12.0 can't be asked
            places = ctypes.byref(found), HEADER, ctypes.c_uint64(0), ctypes.byref(status)
            self._library.cuGetProcAddress_v2(name.encode(), *places)
        if not found.value:
            raise DriverError(f"function {name} is not found", missing=name)
        return ctypes.CFUNCTYPE(ctypes.c_int, *FUNCTIONS[name])(found.value)

    def _failed(self, name: str, code: int) -> DriverError:
        text = ctypes.c_char_p()
        with contextlib.suppress(DriverError):
            self._function("cuGetErrorName")(code, ctypes.byref(text))
        named = (text.value or b"an error").decode()
        return DriverError(f"[{code}] Call to {name} results in {named}", code)


def library() -> tuple[Any, str]:
    """Return the driver's library, or None and why there is none."""
    if numba_simulates():
        return None, "NUMBA_ENABLE_CUDASIM is set: unset it to use a GPU"
    windows = sys.platform == "win32"
    names = ["nvcuda.dll"] if windows else ["libcuda.so.1", WSL_DRIVER]
    if os.environ.get("NUMBA_CUDA_DRIVER"):
        names.insert(0, os.environ["NUMBA_CUDA_DRIVER"])
    for name in names:
        try:
            return getattr(ctypes, "WinDLL" if windows else "CDLL")(name), ""
        except OSError:
            continue
    if not windows and "microsoft" in os.uname().release.lower():
        return None, (
            f"no NVIDIA driver for WSL ({WSL_DRIVER} not found): install or update the driver in "
            "Windows, and none in Linux"
        )
    return None, f"no NVIDIA driver ({names[-1 if windows else 0]} not found)"


def numba_simulates() -> bool:
    """Tell whether the user asks for Numba's simulator, in place of a GPU and of our simulator."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@functools.cache
def driver() -> Driver:
    """Return the driver of this process. Raises DriverError: there is none."""
    found, reason = library()
    if found is None:
        raise DriverError(reason)
    return Driver(found)


# --- A start in a thread: what the driver takes to begin, while Python imports


def requested(words: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Return the number of the GPU that a command line certainly opens; None: perhaps none.

    `words`: those after the program's name. "auto" may be the CPU, by the user's file of defaults.
    """
    if not words or words[0] not in DRAWING or not {"--help", "--dry-run"}.isdisjoint(words):
        return None
    name = environment.get("FRACTALS_DEVICE", "")
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word in ("--cpu", "--gpu"):
            name = word[2:]
        elif word == "--device":
            name = after
        elif word.startswith("--device="):
            name = word.partition("=")[2]
    kind, _, number = name.partition(":")
    if kind not in ("gpu", "cuda"):
        return None
    return int(number) if number.isdecimal() and len(number) < 4 else 0


DRAWING = ("render", "compute", "recolor", "film", "explore")  # verbs that open a device


def begin(words: Sequence[str], environment: Mapping[str, str]) -> threading.Thread | None:
    """Have the driver start, and make the context of a GPU, if a command line asks for one.

    A thread does it, without the interpreter's lock, while the caller goes on. Later calls wait for
    it within the driver; if it fails, they fail alike, and are answered there. The end of the
    process waits for the thread, because the driver must not be torn down under it. The process
    must not fork afterwards.
    """
    index = requested(words, environment)
    if index is None:
        return None

    def start() -> None:
        with contextlib.suppress(DriverError):
            retain(driver(), index)

    thread = threading.Thread(target=start, name="cuda")
    thread.start()
    return thread


def retain(own: Driver, index: int) -> int:
    """Return the handle of the context of a GPU, which is made at the first call."""
    own.cuInit(0)
    device = own.ask("cuDeviceGet", index, answer=ctypes.c_int)
    return int(own.ask("cuDevicePrimaryCtxRetain", device))

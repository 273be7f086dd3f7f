"""Numba's CUDA for the lessons: on a GPU where there is one, else in Numba's simulator.

    from gpu import cuda, device, on_gpu

`on_gpu` tells which of the two it is, and `device` is its name in a report.
NUMBA_ENABLE_CUDASIM=1 in the environment chooses the simulator on a machine with a GPU too; 0
chooses real kernels, which can be compiled without a GPU (`fractals gpu instructions`).
"""

import ctypes
import importlib.util
import os
import sys


def driver_finds_a_gpu():
    """Return whether NVIDIA's driver is installed and finds at least one GPU."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    found = ctypes.c_int(0)
    return driver.cuInit(0) == 0 == driver.cuDeviceGetCount(ctypes.byref(found)) and found.value > 0


asked = os.environ.get("NUMBA_ENABLE_CUDASIM")
numba_cuda = importlib.util.find_spec("numba_cuda")  # pip install 'fractals-numba[gpu]'
on_gpu = asked == "0" or (asked != "1" and numba_cuda is not None and driver_finds_a_gpu())
if not on_gpu:  # Numba reads the variable when it is imported, and the setting when cuda is
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    from numba import config

    config.ENABLE_CUDASIM = 1

from numba import cuda  # noqa: E402

device = "GPU" if on_gpu else "simulator"
__all__ = ["cuda", "device", "on_gpu"]

"""Mojo: `mandelbrot.mojo`, compiled to a shared library."""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "mojo"

compiler = shutil.which("mojo", path=str(Path(sys.executable).parent)) or shutil.which("mojo")
if compiler is None:
    raise ImportError("mojo")
source = Path(__file__).with_name("mandelbrot.mojo")
folder = tempfile.mkdtemp()
try:
    path = Path(folder, "mandelbrot.so")
    command = [compiler, "build", "--emit", "shared-lib", str(source), "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    library = ctypes.CDLL(str(path))
finally:
    shutil.rmtree(folder)


def fill(xs, ys, counts, limit):
    """Count at every sample."""
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (xs, ys, counts))
    library.fill(*pointers, *map(ctypes.c_ssize_t, (len(xs), len(ys), limit)))

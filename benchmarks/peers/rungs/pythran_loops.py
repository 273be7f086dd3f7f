"""Pythran: `pythran_source.py`, compiled with the flags of its documentation."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "pythran"
FLAGS = ["-O3", "-march=native", "-DUSE_XSIMD"]

if importlib.util.find_spec("pythran") is None:
    raise ImportError("pythran")
source = Path(__file__).with_name("pythran_source.py")
folder = tempfile.mkdtemp()
try:
    path = Path(folder, "pythran_source.so")
    command = [sys.executable, "-m", "pythran.run", *FLAGS, str(source), "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    spec = importlib.util.spec_from_file_location("pythran_source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
finally:
    shutil.rmtree(folder)

fill = module.fill

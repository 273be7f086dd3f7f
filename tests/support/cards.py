"""Processes on a GPU, with orders for the stand-in of CUDA's driver (tests/cuda_driver)."""

import os
import subprocess
import sys
import time

import numpy as np
import PIL.Image
import pytest

stand_in = pytest.mark.skipif("STANDIN_PYTHON" not in os.environ, reason="faults can't be ordered")
RENDER = ("render", "--device", "cuda", "--size", "32x18", "--max-iterations", "200")


def ordered(**settings):
    """Return the variables of a process: ``fail="copy:2:700"`` is STANDIN_FAIL."""
    return os.environ | {f"STANDIN_{name.upper()}": str(value) for name, value in settings.items()}


def python(tmp_path, *arguments, variables=None, **settings):
    """Run Python in a process of its own, with orders for the stand-in and other variables."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=ordered(**settings) | (variables or {}),
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )


def command(tmp_path, *arguments, **settings):
    """Run the command line in a process of its own, with orders for the stand-in."""
    words = (*arguments, "-o", tmp_path / "a.png", "--overwrite")
    return python(tmp_path, "-m", "fractals", *words, **settings)


def pixels_of(tmp_path):
    """Return the pixels of the picture that `command` has drawn."""
    with PIL.Image.open(tmp_path / "a.png") as picture:
        return np.asarray(picture)


def is_true_soon(happened):
    """Wait until something has happened, 20 s at most, and tell whether it has."""
    until = time.monotonic() + 20
    while not happened() and time.monotonic() < until:
        time.sleep(0.01)
    return happened()

"""The OpenCL device as a parameter of tests; they are skipped where there is none."""

import functools
import importlib

import pytest

from fractals.backends import opencl


@functools.cache
def no_opencl():
    """Return why no OpenCL device can be used, or an empty string if one can be used."""
    found, reason = opencl.found()
    return reason or found[0].problem or _unknown_processor()


def _unknown_processor():
    """Return why PoCL builds nothing: it does not know processors that are newer than its LLVM."""
    cl = importlib.import_module("pyopencl")
    try:
        cl.Program(cl.Context([opencl.handle_of(0)]), "kernel void nothing() {}").build()
    except cl.RuntimeError as error:
        if "unknown target CPU" in str(error):
            return "its compiler does not know this processor"
    return ""


OPENCL = pytest.param(
    "opencl",
    marks=[
        pytest.mark.opencl,
        pytest.mark.skipif(bool(no_opencl()), reason=f"no OpenCL device: {no_opencl()}"),
    ],
)

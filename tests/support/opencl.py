"""The OpenCL device as a parameter of tests; they are skipped where there is none."""

import pytest

from fractals.backends import opencl


def no_opencl():
    """Return why no OpenCL device can be used, or an empty string if one can be used."""
    found, reason = opencl.found()
    return reason or found[0].problem


OPENCL = pytest.param(
    "opencl",
    marks=[
        pytest.mark.opencl,
        pytest.mark.skipif(bool(no_opencl()), reason=f"no OpenCL device: {no_opencl()}"),
    ],
)

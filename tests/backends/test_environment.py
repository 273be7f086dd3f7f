"""Variables of Numba that keep programs from being compiled."""

import pytest

from fractals.backends import devices
from fractals.errors import DeviceError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_DISABLE_JIT", "1"),
        ("NUMBA_NUM_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "-2"),
        ("NUMBA_CPU_FEATURES", "avx2"),  # LLVM ends the process
        ("NUMBA_CPU_FEATURES", "+avx2,fma"),
    ],
)
@pytest.mark.parametrize("kind", ["cpu", "simulator"])
def test_one_line_names_the_variable(name, value, kind, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(DeviceError, match=name):
        devices.open_backend(devices.choose(kind).device, "float64")
    devices.open_backend(devices.choose("python").device, "float64")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_DISABLE_JIT", "0"),
        ("NUMBA_DISABLE_JIT", ""),
        ("NUMBA_NUM_THREADS", "3"),
        ("NUMBA_NUM_THREADS", "many"),  # which Numba passes over, with a warning
        ("NUMBA_CPU_FEATURES", "+sse2,-avx512f"),
        ("NUMBA_CPU_FEATURES", ""),
    ],
)
def test_variables_that_numba_can_use_stay(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    devices._check_environment()

"""The OpenCL backend: what C must compute as Python does, refusals, and devices that fail."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.opencl import no_opencl
from support.scenes import scene, slow_but

import fractals
from fractals import catalog
from fractals.backends import devices, opencl
from fractals.backends.devices import choose
from fractals.backends.probe import Device
from fractals.backends.python import PythonBackend
from fractals.errors import DeviceError, DeviceLostError, DeviceMemoryError, FractalsError
from fractals.kernels import elementary
from fractals.kernels.primitives import fma, number, select, split, two_to


@pytest.fixture
def opencl_backend():
    """Return a backend in float64 of the OpenCL device."""
    if reason := no_opencl():
        pytest.skip(f"no OpenCL device: {reason}")
    return devices.open_backend(choose("opencl").device, "float64")


# --- What C must compute as Python does


def make_whole_body(target):
    int32, int64 = target.int32, target.int64

    def part(values, k):
        return values[k]

    def body(i0, j0, di, dj, out, a, b):
        i = i0
        while j0 == 0 and i < out.shape[1]:
            p, q = int64(a[i]), int64(b[i])
            out[0, i], out[1, i] = p // q, p % q
            out[2, i] = (p * 0xD2511F53 >> 32) & 0xFFFFFFFF
            out[3, i] = min(p, q, 5) - max(p, q)
            out[4, i] = abs(p) ^ (q << 3) | (p & 6)
            small = int32(p)
            out[5, i] = small + small  # in 64 bits
            values = (p, q, p + q)
            out[6, i] = part(values, i % 3)
            total = int64(0)
            for k in range(7, 0, -2):
                if k == 3:
                    continue
                for _ in range(k):
                    total += k if p < q <= 10 else -1
                    if total > 20:
                        break
            out[7, i] = total * 100 + k
            last = int64(3)
            for j in range(last):  # as often as `last` says at first
                last = last + j + 2
            out[7, i] += last
            out[8, i] = int32(p < q) + (not p) + ((p < q and p > 0) or q == 1)
            out[9, i], out[10, i] = out[0, i], out[9, i]
            i += di

    return body


@pytest.mark.opencl
def test_whole_numbers_are_those_of_python(opencl_backend):
    a = np.array([7, -7, 7, -7, 0, 2**31 - 1, -(2**31), 3], np.int32)
    b = np.array([2, 2, -2, -2, 9, 10, 3, 1], np.int32)
    found = []
    for own in (PythonBackend("float64"), opencl_backend):
        out = np.full((11, len(a)), -5, np.int64)
        on_device = own.to_device(out)
        own.compile(make_whole_body)(on_device, own.to_device(a), own.to_device(b))
        own.to_host(on_device, out)
        found.append(out)
    assert found[0].tolist() == found[1].tolist()


def make_real_body(target):
    real, int32 = target.real, target.int32
    log2 = elementary.make_log2(target)

    def body(i0, j0, di, dj, out, values):
        i = i0
        while j0 == 0 and i < out.shape[1]:
            v, w = values[i], values[values.shape[0] - 1 - i]
            out[0, i], out[1, i] = min(v, w), max(v, w)
            out[2, i] = fma(v, w, -(v * w))
            out[3, i] = select(v < w, v, w) / number(3, v)
            m, e = split(select(v > number(0, v), v, number(1, v)))
            out[4, i], out[5, i] = m, real(e)
            out[6, i] = two_to(int32(e) - 40, v)
            out[7, i] = elementary.log(v)
            s, c = elementary.sincos(select(abs(v) < number(1e4, v), v, number(0, v)))
            out[8, i], out[9, i] = s, c
            out[10, i] = elementary.exp(select(abs(v) < number(80, v), v, number(0, v)))
            out[11, i] = elementary.angle(v, w)
            out[12, i] = log2(abs(v) + number(1, v))
            i += di

    return body


@pytest.mark.opencl
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_real_numbers_are_those_of_python(opencl_backend, precision):
    with np.errstate(all="ignore"):
        values = np.array(
            [0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan, 1e-42, 3e38, 0.1, 12345.678, -7e-5, 2.5],
            precision,
        )
    found = []
    for own in (
        PythonBackend(precision),
        devices.open_backend(choose("opencl").device, precision),
    ):
        out = np.full((13, len(values)), -5, precision)
        on_device = own.to_device(out)
        own.compile(make_real_body)(on_device, own.to_device(values))
        own.to_host(on_device, out)
        found.append(out)
    for row, (a, b) in enumerate(zip(*found, strict=True)):
        known = ~np.isnan(a)
        assert (np.isnan(a) == np.isnan(b)).all(), row
        assert a[known].tobytes() == b[known].tobytes(), row


# --- Pictures

USUAL = ("arch", "seahorse")  # scenes of the gallery; the others are slow tests


@pytest.mark.opencl
@pytest.mark.parametrize("name", slow_but(USUAL, catalog.names("gallery")))
def test_the_gallery_has_the_pixels_of_the_cpu(opencl_backend, name):
    size = (48, 36)
    expected = fractals.render(name, size=size, device="cpu").pixels
    found = fractals.render(name, size=size, device="opencl").pixels
    assert found.tobytes() == expected.tobytes()


DIGITS = "0" * 330
DEEP = {"center": ("-2." + DIGITS, "0." + DIGITS), "width": "1e-20", "max_iterations": 900}
# Scenes by what is drawn: the rows of the table in docs/reference/backends.md.
FEATURES = {
    "views of the plane, Julia sets": {"julia": ("-0.4", "0.59")},
    "rotated and stretched views": {"rotation": 30, "coloring": "slopes"},
    "exponential maps": {"projection": "exponential", "center": ("-0.75", "0.1")},
    "expressions": {"formula": "z^2*sin(z) + c", "coloring": "count"},
    "orbit statistics": {"coloring": "stripe_average"},
    "ranks and histograms": {"coloring": "rank"},
    "layers": {"layers": [{"coloring": "orbit_trap", "blend": "soft_light"}]},
    "jittered and adaptive samples": {"antialias": "adaptive", "supersampling": 4},
    "deep views": DEEP,
    "deep views beyond 1e-300": {**DEEP, "width": "1e-320"},
    "orbit statistics in deep views": {**DEEP, "coloring": "atom_domains"},
}


@pytest.mark.opencl
@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_has_the_pixels_of_the_cpu(opencl_backend, feature):
    drawn = scene(**{"size": (24, 18), "coloring": "smooth", **FEATURES[feature]})
    quiet = {"on_message": lambda line: None}
    expected = fractals.render(drawn, device="cpu", **quiet).pixels
    found = fractals.render(drawn, device="opencl", **quiet).pixels
    assert found.tobytes() == expected.tobytes()
    assert len(np.unique(expected)) > 5


@pytest.mark.opencl
@pytest.mark.parametrize("name", slow_but(("spindle",), ["nautilus", "saint"]))
def test_scatter_images_have_the_pixels_of_the_cpu(opencl_backend, name):
    drawn = {"size": (32, 24)}
    expected = fractals.render(name, device="cpu", **drawn).pixels
    assert fractals.render(name, device="opencl", **drawn).pixels.tobytes() == expected.tobytes()


@pytest.mark.opencl
@pytest.mark.parametrize("name", slow_but(("ruin", "cirque"), ["cirque", "ruin", "lattice"]))
def test_solids_have_the_pixels_of_the_cpu(opencl_backend, name):
    drawn = {"size": (24, 16), "supersampling": 1, "samples": 2, "emission": 2, "stereo": 0.05}
    expected = fractals.render(name, device="cpu", **drawn).pixels
    assert fractals.render(name, device="opencl", **drawn).pixels.tobytes() == expected.tobytes()
    assert len(np.unique(expected)) > 5


def test_the_table_of_features_is_that_of_the_tests():
    page = (Path(__file__).parents[2] / "docs/reference/backends.md").read_text("utf-8")
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert set(FEATURES) <= set(rows)


@pytest.mark.opencl
def test_a_long_picture_is_drawn_in_short_launches(opencl_backend, monkeypatch):
    drawn = scene(max_iterations=700)
    expected = fractals.compute(drawn, device="cpu")
    monkeypatch.setattr(opencl_backend, "steps", 2**18 * 64)
    found = fractals.compute(drawn, device="opencl")
    assert found.count.tobytes() == expected.count.tobytes()
    assert found.z.tobytes() == expected.z.tobytes()


# --- Devices that lack something, and that fail


@pytest.mark.opencl
def test_a_device_without_float64_draws_in_float32(opencl_backend):
    from fractals.backends.opencl.backend import OpenClBackend

    lacking = replace(opencl_backend.device, lacks=(opencl.FLOAT64,))
    with pytest.raises(DeviceError, match="has no float64: give precision='float32'"):
        OpenClBackend("float64", lacking)
    assert OpenClBackend("float32", lacking).real is np.float32


@pytest.mark.opencl
def test_a_device_without_exact_division_is_refused_where_a_program_divides(opencl_backend):
    from fractals.backends.opencl.backend import OpenClBackend

    lacking = replace(opencl_backend.device, lacks=(opencl.DIVISION,))
    own = OpenClBackend("float32", lacking)
    values = own.to_device(np.ones(3, np.float32))
    out = own.to_device(np.ones((13, 3), np.float32))
    with pytest.raises(
        DeviceError, match=r"correctly rounded division.*test_opencl.py:\d+ divides"
    ):
        own.compile(make_real_body)(out, values)


@pytest.mark.opencl
def test_memory_that_ends_is_one_line(opencl_backend):
    with pytest.raises(DeviceMemoryError, match=r"out of memory.*asked for 4\.19e"):
        opencl_backend.empty((2**40, 4), np.uint8)
    assert opencl_backend.empty((2, 2), np.float32).nbytes == 16


@pytest.mark.opencl
def test_a_device_that_is_lost_is_not_used_again(opencl_backend, monkeypatch):
    import pyopencl as cl

    from fractals.backends.opencl.backend import OpenClBackend

    own = OpenClBackend("float64", opencl_backend.device)

    def fail(*_arguments, **_options):
        raise cl.RuntimeError("clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE")

    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_copy", fail)
        with pytest.raises(DeviceLostError, match="can't use it any more"):
            own.to_device(np.ones(3))
    for again in (own.check, own.synchronize, lambda: own.empty((3,), np.float64)):
        with pytest.raises(DeviceLostError):
            again()


@pytest.mark.opencl
def test_other_errors_of_opencl_are_one_line(opencl_backend, monkeypatch):
    import pyopencl as cl

    def fail(*_arguments, **_options):
        raise cl.LogicError("clSetKernelArg failed: INVALID_VALUE")

    monkeypatch.setattr(cl, "enqueue_copy", fail)
    with pytest.raises(FractalsError, match=r"INVALID_VALUE; fractals\.devices\(\)"):
        opencl_backend.to_device(np.ones(3))


# --- The choice of a device

CARD = Device(kind="opencl", name="a card", index=1, memory=2**33, driver="a platform")
HOST = Device(kind="opencl", name="a processor", memory=2**33, driver="PoCL", is_gpu=False)


@pytest.fixture
def found(monkeypatch):
    """Return a function that sets the OpenCL devices of this machine; there is no CUDA GPU."""
    monkeypatch.setattr(devices.probe, "gpus", lambda: ([], "no NVIDIA driver"))

    def put(*there, reason=""):
        monkeypatch.setattr(opencl, "found", lambda: (list(there), reason))

    return put


def test_a_gpu_of_opencl_comes_before_the_cpu_and_the_simulator(found):
    found(HOST, CARD)
    assert choose("auto").device == choose("gpu").device == choose("opencl").device == CARD
    assert choose("opencl:0").device == HOST
    assert CARD in devices.devices()


def test_a_cpu_of_opencl_is_used_where_it_is_named_only(found):
    found(HOST)
    assert choose("auto").device.kind == "cpu"
    assert choose("gpu").device.kind == "simulator"
    assert choose("opencl").device == HOST


def test_auto_draws_on_the_cpu_where_the_gpu_has_no_float64(found):
    found(replace(CARD, lacks=(opencl.FLOAT64,)))
    device, backend, note = devices.open_chosen(choose("auto"), "auto", "float64")
    assert device.kind == backend.kind == "cpu"
    assert note.startswith("'a card' has no float64: ")
    assert note.endswith("; drawing on the CPU")


def test_a_cuda_gpu_comes_first(found, monkeypatch):
    found(CARD)
    card = Device(kind="cuda", name="another card")
    monkeypatch.setattr(devices.probe, "gpus", lambda: ([card], ""))
    assert choose("auto").device == choose("gpu").device == card


def test_what_is_missing_is_one_line(found):
    found(reason="pyopencl is not installed")
    with pytest.raises(DeviceError, match=r"no OpenCL device for 'opencl:1' \(pyopencl is not"):
        choose("opencl:1")
    found(HOST, replace(CARD, problem="it has no compiler"))
    with pytest.raises(DeviceError, match=r"'opencl:7' \(there are 2, numbered from 0\)"):
        choose("opencl:7")
    with pytest.raises(DeviceError, match=r"'opencl:1' \(it has no compiler\)"):
        choose("opencl:1")
    assert choose("opencl").device == HOST


def test_devices_are_listed_with_what_they_lack(found, run):
    found(replace(CARD, lacks=(opencl.FLOAT64, opencl.DIVISION)))
    _, out, _ = run("devices")
    line = next(each for each in out.decode().splitlines() if each.startswith("opencl:1"))
    assert "a card, GPU, 8 GiB, a platform, without float64 and correctly rounded" in line
    assert line.endswith("<- auto")


def test_without_pyopencl_it_is_not_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    monkeypatch.setattr(opencl.importlib.util, "find_spec", lambda name: None)
    opencl.found.cache_clear()
    try:
        there, reason = opencl.found()
    finally:
        opencl.found.cache_clear()
    assert there == []
    assert reason.startswith("pyopencl is not installed: ")


def test_a_driver_that_fails_is_one_line(monkeypatch):
    monkeypatch.setattr(opencl.importlib.util, "find_spec", lambda name: SimpleNamespace())

    def fail():
        raise OSError("no library\nof this name")

    monkeypatch.setattr(opencl, "_handles", fail)
    opencl.found.cache_clear()
    try:
        assert opencl.found() == ([], "pyopencl finds no device (no library)")
    finally:
        opencl.found.cache_clear()

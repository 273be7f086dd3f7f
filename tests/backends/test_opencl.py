"""The OpenCL backend: what C must compute as Python does, refusals, and devices that fail."""

import itertools
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.limits import limit_tiles
from support.opencl import no_opencl
from support.scenes import scene, slow_but
from support.threads import in_a_thread

import fractals
from fractals import catalog
from fractals.backends import devices, opencl, streams
from fractals.backends.cuda import gpus
from fractals.backends.devices import Choice, choose
from fractals.backends.opencl.backend import OpenClSlot, gpu_of
from fractals.backends.probe import Device
from fractals.backends.python import PythonBackend
from fractals.cli.shared import DEVICE_NAME
from fractals.errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    FractalsError,
    OptionError,
)
from fractals.kernels import elementary
from fractals.kernels.primitives import fma, number, select, split, two_to
from fractals.tools import bench


@pytest.fixture
def opencl_backend():
    """Return a backend in float64 of the OpenCL device."""
    if reason := no_opencl():
        pytest.skip(f"no OpenCL device: {reason}")
    return devices.open_backend(choose("opencl").device, "float64")


@pytest.mark.opencl
def test_a_file_that_hides_a_part_of_pyopencl_is_told(tmp_path):
    """A script's folder comes before installed packages: its files hide modules of their names."""
    if reason := no_opencl():
        pytest.skip(f"no OpenCL device: {reason}")
    (tmp_path / "own.py").write_text(
        "import sys, fractals, pyopencl\n"
        "sys.modules['pyopencl.tools'] = None\n"  # as if it needed a module that is hidden
        "fractals.render(size=(8, 6), device='opencl')\n"
    )
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "DeviceError: '" in done.stderr.splitlines()[-1]
    assert "pyopencl can't be imported (" in done.stderr.splitlines()[-1]


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
            out[7, i] = total * 100
            last = int64(3)
            for j in range(last):  # as often as `last` says at first
                last = last + j + 2
            out[7, i] += last
            out[8, i] = int32(p < q) + (not p) + ((p < q and p > 0) or q == 1)
            out[9, i], out[10, i] = out[0, i], out[9, i]
            i += di

    return body


def rows_of(count, make_body, backend, a, b):
    """Return the rows of whole numbers that a body makes of two arrays."""
    out = np.full((count, len(a)), -5, np.int64)
    on_device = backend.to_device(out)
    backend.compile(make_body)(on_device, backend.to_device(a), backend.to_device(b))
    backend.to_host(on_device, out)
    return out.tolist()


@pytest.mark.opencl
def test_whole_numbers_are_those_of_python(opencl_backend):
    a = np.array([7, -7, 7, -7, 0, 2**31 - 1, -(2**31), 3], np.int32)
    b = np.array([2, 2, -2, -2, 9, 10, 3, 1], np.int32)
    expected = rows_of(11, make_whole_body, PythonBackend("float64"), a, b)
    assert rows_of(11, make_whole_body, opencl_backend, a, b) == expected


def make_index_body(target):
    index = target.index

    def body(i0, j0, di, dj, out, a, b):
        i = i0
        while j0 == 0 and i < out.shape[1]:
            p, q = index(a[i]), index(b[i])
            out[0, i], out[1, i] = p // q, p % q
            out[2, i] = (p + q) % (q * q) * q // (p % q + q)
            i += di

    return body


@pytest.mark.opencl
def test_quotients_of_indices_are_those_of_python(opencl_backend):
    a = np.array([7, 0, 9, 2**31 - 1, 2**31 - 1, 1], np.int32)
    b = np.array([2, 3, 9, 10, 2**16, 2**31 - 1], np.int32)
    expected = rows_of(3, make_index_body, PythonBackend("float64"), a, b)
    assert rows_of(3, make_index_body, opencl_backend, a, b) == expected


def make_mixed_body(target):
    int32, index = target.int32, target.index

    def body(i0, j0, di, dj, out, a, b):
        i = i0
        while j0 == 0 and i < out.shape[1]:
            n, u = int32(a[i]), index(b[i])
            out[0, i] = int32(n < u) + 2 * int32(n == u) + 4 * int32(u >= n)
            out[1, i] = n if n < 0 else u
            out[2, i] = select(u > 1, u, n)
            out[3, i] = int32(u > -1) + 2 * int32(n < index(2**32 - 1))
            out[4, i] = -1 if u == 3 else u
            i += di

    return body


@pytest.mark.opencl
def test_a_number_below_0_beside_an_index_is_that_of_python(opencl_backend):
    """C would take it to be unsigned, and above all others."""
    a = np.array([-1, -5, 3, 2**31 - 1, -(2**31)], np.int32)
    b = np.array([1, 2**32 - 5, 3, 2**31, 0], np.uint32)
    expected = rows_of(5, make_mixed_body, PythonBackend("float64"), a, b)
    assert rows_of(5, make_mixed_body, opencl_backend, a, b) == expected


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
    "reliefs": {"heights": "distance", "tilt": 45, "emission": 2, "supersampling": 1, "samples": 2},
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
    drawn = {"size": (24, 16), "supersampling": 1, "samples": 2, "emission": 2}
    for seen in ({"field": 6}, {"stereo": 0.05}):  # rays from cones, and from the camera
        drawn |= seen
        expected = fractals.render(name, device="cpu", **drawn).pixels
        found = fractals.render(name, device="opencl", **drawn).pixels
        assert found.tobytes() == expected.tobytes()
        assert len(np.unique(expected)) > 5
    if name == "ruin":  # the light of each source apart
        raw, other = (
            fractals.compute(name, device=device, **drawn, relight=True)
            for device in ("cpu", "opencl")
        )
        assert np.array_equal(raw.sums, other.sums)


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


@pytest.fixture
def again(opencl_backend, monkeypatch):
    """Return a function that opens the devices of some handles, known to this test alone."""
    cleared = opencl.found, gpu_of

    def open_again(handles=None):
        if handles:
            monkeypatch.setattr(opencl, "_handles", lambda: handles)
        monkeypatch.setattr(devices, "_gpus", {})
        for each in cleared:
            each.cache_clear()

    before = opencl._handles()
    open_again()
    yield open_again
    monkeypatch.setattr(opencl, "_handles", lambda: before)
    for each in cleared:
        each.cache_clear()


DRAWN = {"size": (40, 36), "supersampling": 2}
CALLS = {
    "memory": (OpenClSlot, "_allocate", "clCreateBuffer failed: MEM_OBJECT_ALLOCATION_FAILURE"),
    "launch": (None, "enqueue_nd_range_kernel", "clEnqueueNDRangeKernel failed: OUT_OF_RESOURCES"),
    "page-locked": (OpenClSlot, "_page_locked", "clEnqueueMapBuffer failed: MAP_FAILURE"),
    "copy": (None, "enqueue_copy", "clEnqueueReadBuffer failed: DEVICE_NOT_AVAILABLE"),
    "wait": (OpenClSlot, "synchronize", "clFinish failed: INVALID_COMMAND_QUEUE"),
}


@pytest.fixture
def failing(again, monkeypatch):
    """Return a function that has some calls of OpenCL fail, counted from the first one."""
    import pyopencl as cl

    def fail(call, first, times, kind=cl.MemoryError):
        owner, name, line = CALLS[call]
        real, asked, lock = getattr(owner or cl, name), itertools.count(1), threading.Lock()

        def failing_call(*arguments, **options):
            with lock:
                number = next(asked)
            if first <= number < first + times:
                raise kind(line)
            return real(*arguments, **options)

        monkeypatch.setattr(owner or cl, name, failing_call)

    return fail


@pytest.mark.opencl
@pytest.mark.parametrize("call", ["memory", "launch", "page-locked"])
@pytest.mark.parametrize(("times", "told"), [(1, ""), (2, "parts"), (10**9, "for good")])
def test_memory_may_end_at_each_call(failing, monkeypatch, call, times, told):
    """Once: it is asked again. Twice: tiles become smaller. For good: a line."""
    limit_tiles(monkeypatch, 640)
    monkeypatch.setattr(streams, "STREAMS_PER_GPU", 1)  # of two, each might fail once
    expected, said = fractals.render(scene(**DRAWN), device="cpu").pixels, []
    failing(call, {"memory": 20, "launch": 13, "page-locked": 1}[call], times)
    if told == "for good" and call != "page-locked":
        with pytest.raises(DeviceMemoryError, match=r"^'.*' is out of memory.*: free") as caught:
            fractals.render(scene(**DRAWN), device="opencl", on_message=said.append)
        assert len(str(caught.value).splitlines()) == 1
        return
    found = fractals.render(scene(**DRAWN), device="opencl", on_message=said.append).pixels
    assert found.tobytes() == expected.tobytes()
    assert len(said) == (told == "parts" and call != "page-locked")
    assert all("divided into parts" in line for line in said)


@pytest.mark.opencl
@pytest.mark.parametrize("call", ["memory", "launch", "copy", "wait"])
def test_a_device_that_is_lost_is_not_used_again(failing, again, monkeypatch, call):
    import pyopencl as cl

    limit_tiles(monkeypatch, 640)
    monkeypatch.setitem(CALLS, call, (*CALLS[call][:2], "failed: DEVICE_NOT_AVAILABLE\nand more"))
    own = devices.open_backend(choose("opencl").device, "float64")
    failing(call, 3, 1, cl.RuntimeError)
    with pytest.raises(DeviceLostError, match="can't use it any more") as caught:
        fractals.render(scene(**DRAWN), device="opencl")
    assert len(str(caught.value).splitlines()) == 1
    for later in (own.check, own.synchronize, lambda: own.empty((3,), np.float64)):
        with pytest.raises(DeviceLostError, match="can't use it any more"):
            later()
    instead, _, note = devices.open_chosen(Choice(own.device), "auto", "float64")
    assert instead.kind == "cpu"
    assert note.endswith("; drawing on the CPU")


def compiler_fails(monkeypatch, failing):
    import pyopencl as cl

    def build(*_arguments, **_options):
        raise cl.RuntimeError("clBuildProgram failed: BUILD_PROGRAM_FAILURE\n<inline>: error: no")

    monkeypatch.setattr(cl.Program, "build", build)
    return "the compiler of '.*' fails with .* error: no"


def translator_fails(monkeypatch, failing):
    def source(*_arguments):
        raise DeviceError("a.py:7: the translator to OpenCL C does not know Lambda")

    monkeypatch.setattr("fractals.backends.opencl.backend.source", source)
    return r"a\.py:7: the translator .* does not know Lambda"


def memory_ends(monkeypatch, failing):
    failing("memory", 5, 10**9)
    return "'.*' is out of memory"


def is_lost(monkeypatch, failing):
    import pyopencl as cl

    failing("copy", 3, 10**9, cl.RuntimeError)
    return "'.*' failed: .*DEVICE_NOT_AVAILABLE; this process can't use it any more"


FAULTS = [compiler_fails, translator_fails, memory_ends, is_lost]


@pytest.mark.opencl
@pytest.mark.parametrize("fault", FAULTS)
def test_auto_draws_on_the_cpu_what_a_device_can_not(failing, again, monkeypatch, fault):
    """The device is as if it were the only GPU. Where it is named, a line says what to do."""
    expected = fractals.render(scene(**DRAWN), device="cpu").pixels
    found = [replace(each, is_gpu=True) for each in opencl.found()[0]]
    monkeypatch.setattr(opencl, "found", lambda: (found, ""))
    monkeypatch.setattr(gpus, "found", lambda: ([], "none is there"))
    why, said = fault(monkeypatch, failing), []
    drawn = fractals.render(scene(**DRAWN), device="auto", on_message=said.append).pixels
    assert np.array_equal(drawn, expected)
    (line,) = [line for line in said if "divided into parts" not in line]
    assert re.fullmatch(f"{why}.*; drawing on the CPU", line)
    with pytest.raises(FractalsError, match=f"^{why}") as caught:
        fractals.render(scene(**DRAWN), device="opencl")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.opencl
def test_other_errors_of_opencl_are_one_line(opencl_backend, monkeypatch):
    import pyopencl as cl

    def fail(*_arguments, **_options):
        raise cl.LogicError("clSetKernelArg failed: INVALID_VALUE")

    monkeypatch.setattr(cl, "enqueue_copy", fail)
    with pytest.raises(FractalsError, match=r"INVALID_VALUE; fractals\.devices\(\)"):
        opencl_backend.to_device(np.ones(3))


# --- Queues, and several devices


class Held:
    """Holds back the queue of the calling thread until the end of a block."""

    def __init__(self, backend):
        self._backend = backend

    def __enter__(self):
        import pyopencl as cl

        slot = self._backend.slot
        self._done, self._event = (
            cl.command_execution_status.COMPLETE,
            cl.UserEvent(slot.gpu.context),
        )
        cl.enqueue_barrier(slot.queue, wait_for=[self._event])
        return self

    def marker(self):
        """Return an event of the queue that is held back."""
        import pyopencl as cl

        marker = cl.enqueue_marker(self._backend.slot.queue)
        self._backend.slot.queue.flush()
        return marker

    def waits(self, event):
        """Tell whether what an event marks is not done."""
        return event.command_execution_status > self._done

    def __exit__(self, *_error):
        self._event.set_status(self._done)


@pytest.mark.opencl
def test_a_tile_is_copied_while_the_next_one_is_computed(opencl_backend):
    """Each of the two threads has a queue: the copy of a tile waits for no kernel of the other."""
    counts = np.array([[3, 9, 9], [7, 2, 9]], np.int32)

    def tally():
        tallied, found = opencl_backend.tally(opencl_backend.to_device(counts), 9), np.zeros((3, 3))
        opencl_backend.to_host(tallied, found)
        return found

    expected = tally()
    with Held(opencl_backend) as held:
        tallied = opencl_backend.tally(opencl_backend.to_device(counts), 9)  # of the next tile
        computed = held.marker()
        assert np.array_equal(in_a_thread(tally), expected)
        assert held.waits(computed)
    found = np.zeros((3, 3))
    opencl_backend.to_host(tallied, found)
    assert np.array_equal(found, expected)


@pytest.mark.opencl
def test_rows_and_columns_are_copied_once_a_picture(opencl_backend, monkeypatch):
    """A tile is given the place of its first row in them, however many tiles there are."""
    copies, copy_in = [], OpenClSlot.copy_in

    def counted(slot, array, into):
        copies.append(array.nbytes)
        copy_in(slot, array, into)

    monkeypatch.setattr(OpenClSlot, "copy_in", counted)
    found = []
    for samples in (80 * 72, 80 * 72, 640):  # the first picture copies tables, too
        limit_tiles(monkeypatch, samples)
        copies.clear()
        pixels = fractals.render(scene(**DRAWN), device="opencl").pixels
        found.append((len(copies), pixels))
    assert found[1][0] == found[2][0]
    assert np.array_equal(found[1][1], found[2][1])


@pytest.mark.opencl
def test_a_queue_that_reads_waits_for_the_one_that_fills(opencl_backend):
    values, found = np.arange(3.0), np.zeros(3)
    with Held(opencl_backend) as held:
        array = opencl_backend.to_device(values)
        filled = held.marker()
        reader = threading.Thread(target=opencl_backend.to_host, args=(array, found))
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
        assert held.waits(filled)
        assert not found.any()
    reader.join()
    assert found.tolist() == [0, 1, 2]


@pytest.mark.opencl
def test_memory_that_was_let_go_is_used_again(opencl_backend):
    slot = opencl_backend.slot
    first = opencl_backend.empty((30, 40), np.float64)
    block, before = first.block.address, len(slot.addresses())
    part = first[3:5]
    del first
    assert opencl_backend.empty((30, 40), np.float64).block.address != block, "a part is in use"
    del part
    assert opencl_backend.empty((40, 60), np.float32).block.address == block
    assert len(slot.addresses()) <= before + 1
    slot.gpu.drop_unused()
    assert block not in slot.addresses()


@pytest.fixture
def two_devices(again):
    """Have two devices: halves of the one that is there, or the same one twice."""
    import pyopencl as cl

    handle = opencl.handle_of(choose("opencl").device.index)
    try:
        again(handle.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2])
    except cl.Error:
        again([handle, handle])


@pytest.mark.opencl
@pytest.mark.parametrize("keys", [DRAWN, {**DEEP, "size": (32, 18)}], ids=["direct", "deep"])
def test_two_devices_share_a_picture(two_devices, monkeypatch, keys):
    limit_tiles(monkeypatch, 256)
    expected, used = fractals.render(scene(**keys), device="cpu"), set()
    device = choose("opencl:all").device
    own = devices.open_backend(device, "float64")
    here = own.streams.here
    monkeypatch.setattr(own.streams, "here", lambda: used.add(here()) or here())
    found = fractals.render(scene(**keys), device="opencl:all")
    assert found.pixels.tobytes() == expected.pixels.tobytes()
    assert {slot.gpu.index for slot in used} == {0, 1}
    assert len(used) >= own.threads == 4


@pytest.mark.opencl
@pytest.mark.slow
def test_films_and_scatter_images_on_two_devices(two_devices):
    said = []
    keys = {"size": (24, 18), "on_message": said.append}
    for name in ("spindle", "ruin"):
        expected = fractals.render(name, device="cpu", **keys).pixels
        assert (
            fractals.render(name, device="opencl:all", **keys).pixels.tobytes()
            == expected.tobytes()
        )
    assert [line.rpartition(" is drawn ")[2] for line in said] == ["on one GPU"] * 2
    keys = {"center": ("-0.7453", "0.1127"), "to": "1e-3", "seconds": 1, "fps": 2}
    keys |= {"size": (16, 12), "max_iterations": 100}
    cpu, both = (
        list(fractals.film(device=name, **keys).frames()) for name in ("cpu", "opencl:all")
    )
    assert np.array_equal(cpu, both)


# --- The choice of a device

CARD = Device(kind="opencl", name="a card", index=1, memory=2**33, driver="a platform", is_gpu=True)
HOST = Device(kind="opencl", name="a processor", memory=2**33, driver="PoCL")


@pytest.fixture
def found(monkeypatch):
    """Return a function that sets the OpenCL devices of this machine; there is no CUDA GPU."""
    monkeypatch.setattr(gpus, "found", lambda: ([], "no NVIDIA driver"))

    def put(*there, reason=""):
        monkeypatch.setattr(opencl, "is_installed", lambda: True)
        monkeypatch.setattr(opencl, "found", lambda: (list(there), reason))

    return put


def test_a_gpu_of_opencl_comes_before_the_cpu_and_the_simulator(found):
    found(HOST, CARD)
    assert choose("auto").device == choose("gpu").device == choose("opencl").device == CARD
    assert choose("opencl:0").device == HOST
    assert CARD in devices.devices()
    assert not any(each.is_gpu for each in devices.devices() if each.kind in ("cpu", "simulator"))


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


def test_all_gpus_of_a_platform_share_a_picture(found):
    slow = replace(CARD, index=2, clock=1e9, multiprocessors=4, lacks=(opencl.FMA,))
    fast = replace(CARD, clock=1e9, multiprocessors=40, lacks=(opencl.DIVISION,))
    broken = replace(CARD, index=4, problem="it has no compiler")
    found(HOST, fast, slow, replace(CARD, index=3, driver="another platform"), broken)
    device = choose("opencl:all").device
    assert device.indices == (2, 1), "the slowest is first: it bounds launches"
    assert device.lacks == (opencl.FMA, opencl.DIVISION)
    assert bench.label(device) == "opencl:all"
    found(HOST)
    assert choose("opencl:all").device == HOST
    found()
    with pytest.raises(DeviceError, match="no OpenCL device for 'opencl:all'"):
        choose("opencl:all")


@pytest.mark.parametrize("wrong", ["opencl:", "opencl:-1", "opencl:every", "opencl:1.5", "cuda:"])
def test_other_numbers_of_devices_are_unknown(wrong):
    with pytest.raises(OptionError, match=f"unknown device '{wrong}': choose one of"):
        choose(wrong)


def test_each_request_may_be_a_default():
    for request in devices.REQUESTS:
        assert DEVICE_NAME.fullmatch(request.replace("N", "3"))


def test_a_cuda_gpu_comes_first(found, monkeypatch):
    found(CARD)
    card = Device(kind="cuda", name="another card")
    monkeypatch.setattr(gpus, "found", lambda: ([card], ""))
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


class Broken:
    """A device of a driver that fails, as that of a GPU that was unplugged."""

    def __getattr__(self, name):
        raise RuntimeError(f"clGetDeviceInfo failed: DEVICE_NOT_AVAILABLE ({name})\nmore")


def test_a_device_that_fails_leaves_the_others(monkeypatch):
    bits = SimpleNamespace(CORRECTLY_ROUNDED_DIVIDE_SQRT=1, FMA=2, DENORM=4)
    package = SimpleNamespace(device_fp_config=bits, device_type=SimpleNamespace(GPU=4))
    monkeypatch.setitem(sys.modules, "pyopencl", package)
    monkeypatch.setattr(opencl.importlib.util, "find_spec", lambda name: SimpleNamespace())
    facts = {"single_fp_config": 7, "double_fp_config": 7, "extensions": "cl_khr_fp64", "type": 4}
    facts |= {"available": True, "compiler_available": True, "name": "a card"}
    facts |= {"global_mem_size": 2**33, "max_compute_units": 8, "max_clock_frequency": 1000}
    card = SimpleNamespace(**facts, platform=SimpleNamespace(name="a platform"))
    monkeypatch.setattr(gpus, "found", lambda: ([], "no NVIDIA driver"))
    monkeypatch.setattr(opencl, "_handles", lambda: [Broken(), card])
    opencl.found.cache_clear()
    try:
        broken, usable = opencl.found()[0]
        assert choose("auto").device == usable
        with pytest.raises(DeviceError, match=r"its driver fails .clGetDeviceInfo failed: DEVICE_"):
            choose("opencl:0")
    finally:
        opencl.found.cache_clear()
    assert (broken.index, usable.index, usable.name) == (0, 1, "a card")

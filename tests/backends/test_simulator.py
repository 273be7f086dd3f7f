"""The simulator of CUDA: kernels compute what they say, mistakes show, Numba's gives the same."""

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.scenes import scene
from support.threads import in_a_thread

import fractals
from fractals.backends import cuda_driver
from fractals.backends.cuda import gpus
from fractals.backends.cuda import kernel as site
from fractals.backends.cuda import simulator as cuda
from fractals.errors import DeviceError

ROOT = Path(__file__).parents[2]


# --- Indices


@pytest.mark.parametrize(
    ("grid", "block"), [(3, 4), ((2, 3), (4, 5)), ((2, 1, 2), (3, 2, 2)), ([2], np.int64(2))]
)
def test_each_thread_knows_its_place(grid, block):
    seen = []

    @cuda.jit
    def kernel():
        corner = [
            getattr(cuda.blockIdx, axis) * getattr(cuda.blockDim, axis)
            + getattr(cuda.threadIdx, axis)
            for axis in "xyz"
        ]
        sizes = [getattr(cuda.blockDim, a) * getattr(cuda.gridDim, a) for a in "xyz"]
        assert cuda.grid(1) == corner[0]
        assert cuda.grid(2) == tuple(corner[:2])
        assert cuda.grid(3) == tuple(corner)
        assert cuda.gridsize(1) == sizes[0]
        assert cuda.gridsize(2) == tuple(sizes[:2])
        assert cuda.gridsize(3) == tuple(sizes)
        seen.append((tuple(corner), tuple(sizes)))

    kernel[grid, block]()
    (sizes,) = {sizes for _, sizes in seen}
    assert math.prod(sizes) == len(seen) == len({corner for corner, _ in seen})
    assert max(corner for corner, _ in seen) == tuple(size - 1 for size in sizes)


def test_a_loop_over_the_grid_reaches_each_element_once():
    @cuda.jit("void(int64[:])")  # signatures are passed over
    def kernel(out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] += 1

    out = cuda.to_device(np.zeros(1001, np.int64))
    kernel[3, 32](out)
    assert (out.copy_to_host() == 1).all()
    kernel.forall(1001)(out)
    assert (out.copy_to_host() == 2).all()


# --- Arguments and arrays


class Pair(NamedTuple):
    first: np.ndarray
    second: float


def test_arguments_are_arrays_numbers_and_tuples_of_them():
    @cuda.jit(device=True)
    def double(x):
        return 2 * x

    @cuda.jit(fastmath=True)
    def kernel(pair, plain, number, nothing):
        assert nothing is None
        plain[0][0] = pair.second + number
        pair.first[0] = double(pair.first[1])

    device, host = cuda.to_device(np.array([1.0, 4.0])), np.zeros(1)
    kernel[1, 1](Pair(device, 0.5), (host,), np.float32(2), None)
    assert host[0] == 2.5  # a host array is copied there and back
    assert device.copy_to_host().tolist() == [8, 4]


def test_the_memory_of_the_device_is_apart():
    host = np.arange(6.0)
    device = cuda.to_device(host)
    host[:] = -1
    out = device.copy_to_host()
    assert out.tolist() == [0, 1, 2, 3, 4, 5]
    out[:] = 7
    assert device[2] == 2.0
    part = device[2:4]
    assert cuda.to_device(np.array([8.0, 9.0]), to=part) is part
    device[0] = 3.0
    device[4:] = cuda.to_device(np.array([1.0, 1.0]))
    assert np.asarray(device).tolist() == [3, 1, 8, 9, 1, 1]
    assert (len(device), device.reshape(2, 3).shape, device.nbytes) == (6, (2, 3), 48)
    assert "float64" in repr(device)
    cuda.to_device(np.zeros(6), to=device)
    assert not device.copy_to_host().any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_new_arrays_hold_what_nobody_would_take_for_a_result(order):
    device = cuda.device_array((2, 3), np.float32, order=order)
    assert np.isnan(device.copy_to_host()).all()
    like = cuda.device_array_like(device)
    assert (like.shape, like.dtype, like.strides) == (device.shape, device.dtype, device.strides)
    assert (cuda.pinned_array(3, np.int16) == -1).all()


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a < 1,
        lambda a: a >= a,
        lambda a: a + 1,
        lambda a: 2.0 * a,
        lambda a: a // a,
        lambda a: -a,
        lambda a: a.sum(),
        lambda a: a.__iadd__(1),
    ],
)
def test_the_host_computes_nothing_with_a_device_array(use):
    with pytest.raises((TypeError, AttributeError)):
        use(cuda.to_device(np.ones(3)))


@pytest.mark.parametrize(
    ("work", "kind", "words"),
    [
        (lambda a: a.copy_to_host(np.zeros(3, np.float32)), TypeError, "float64 and float32"),
        (lambda a: a.copy_to_host(np.zeros(4)), ValueError, r"\(3,\) and \(4,\)"),
        (lambda a: a.copy_to_device(np.zeros(6)[::2]), ValueError, "gaps"),
        (lambda a: cuda.to_device(np.zeros((4, 4))[:, :2]), ValueError, "gaps"),
    ],
)
def test_copies_between_different_arrays_are_refused(work, kind, words):
    with pytest.raises(kind, match=words):
        work(cuda.to_device(np.zeros(3)))


# --- What a card refuses


@cuda.jit
def shift(values, by):
    i = cuda.grid(1)
    values[i + by] = values[i]


LINE = shift.py_func.__code__.co_firstlineno + 3


def test_an_index_outside_is_named_with_kernel_line_and_thread():
    values = cuda.to_device(np.arange(8))
    expected = (
        rf"shift, line {LINE}, block \(1, 0, 0\), thread \(3, 0, 0\): values: index 8 is out of "
        "bounds for axis 0 with size 8"
    )
    with pytest.raises(IndexError, match=expected):
        shift[2, 4](values, 1)
    shift[2, 4](values, -8)  # as in NumPy, and on a card

    @cuda.jit
    def own():
        cuda.local.array((2, 2), np.int8)[1, 2] = 0

    with pytest.raises(IndexError, match="a local array: index 2"):
        own[1, 1]()


@pytest.mark.parametrize(
    ("configuration", "kind", "words"),
    [
        ((1, 1025), cuda.CudaAPIError, "block 1025: a GPU takes at most 1024 threads"),
        ((1, (32, 32, 2)), cuda.CudaAPIError, "at most 1024 threads"),
        ((1, (1, 1, 65)), cuda.CudaAPIError, "takes 1 to"),
        ((0, 1), cuda.CudaAPIError, "grid 0"),
        (((1, 65536), 1), cuda.CudaAPIError, "65536"),
        ((1.5, 1), TypeError, "grid 1.5: it is 1 to 3 integers"),
        (((1, 1, 1, 1), 1), TypeError, "1 to 3 integers"),
        (4, ValueError, r"kernel shift needs a grid and a block: shift\[blocks, threads\]"),
    ],
)
def test_a_grid_that_no_card_takes(configuration, kind, words):
    with pytest.raises(kind, match=words):
        shift[configuration]


@pytest.mark.parametrize("wrong", [[1, 2], {"a": 1}, "text", object(), (1, "text")])
def test_an_argument_that_no_kernel_takes(wrong):
    with pytest.raises(TypeError, match="shift: argument by is of type"):
        shift[1, 1](np.zeros(2), wrong)


def test_other_misuse_of_a_kernel():
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        shift[1, 1](np.zeros(2))
    with pytest.raises(ValueError, match=r"needs a grid: shift\[blocks, threads\]"):
        shift(np.zeros(2), 1)
    with pytest.raises(RuntimeError, match="only a kernel has"):
        cuda.grid(1)
    with pytest.raises(AttributeError, match=r"no cuda\.shfl_sync"):
        cuda.shfl_sync  # noqa: B018
    with pytest.raises(cuda.CudaAPIError, match="no device 1"):
        cuda.select_device(1)

    @cuda.jit
    def returns():
        return 1

    with pytest.raises(TypeError, match="returns returns a value"):
        returns[1, 1]()

    @cuda.jit
    def four():
        cuda.grid(4)

    with pytest.raises(ValueError, match="not 4"):
        four[1, 1]()

    @cuda.jit
    def greedy():
        cuda.shared.array(48 * 1024 + 1, np.uint8)

    with pytest.raises(cuda.CudaAPIError, match="a block has 49152"):
        greedy[1, 1]()


def test_an_error_tells_its_thread():
    @cuda.jit
    def divide(out):
        out[cuda.grid(1)] = 1 // (cuda.grid(1) - 2)

    with pytest.raises(ZeroDivisionError) as found:
        divide[1, 4](np.zeros(4))
    assert found.value.__notes__ == ["in block (0, 0, 0), thread (2, 0, 0) of kernel divide"]


# --- Blocks


@cuda.jit
def reverse(values):
    tile = cuda.shared.array(64, np.int64)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    start = cuda.blockIdx.x * n
    tile[i] = values[start + i]
    cuda.syncthreads()
    values[start + i] = tile[n - 1 - i]


def test_threads_of_a_block_meet_and_share_memory():
    values = np.arange(256)
    reverse[4, 64](values)
    assert (values.reshape(4, 64) == np.arange(256).reshape(4, 64)[:, ::-1]).all()


@pytest.mark.parametrize("neighbor", [1, -1])
def test_a_missing_barrier_shows_each_time(neighbor):
    @cuda.jit
    def kernel(out):
        tile, i = cuda.shared.array(8, np.float32), cuda.threadIdx.x
        tile[i] = i
        out[cuda.blockIdx.x, i] = tile[(i + neighbor) % 8]

    out = np.zeros((2, 8), np.float32)
    kernel[2, 8](out)
    assert np.isnan(out).any()


def test_threads_that_have_ended_are_not_waited_for():
    order = []

    @cuda.jit
    def kernel():
        i = cuda.threadIdx.x
        for step in range(i):
            order.append((step, i))
            cuda.syncthreads()

    kernel[1, 5]()
    assert order == sorted(order)
    assert len(order) == 0 + 1 + 2 + 3 + 4


def test_without_a_barrier_no_thread_is_started():
    names = set()

    @cuda.jit
    def kernel():
        names.add(threading.get_ident())

    kernel[3, 32]()
    assert names == {threading.get_ident()}


def test_an_error_beside_a_barrier_ends_all_threads():
    ended = []

    @cuda.jit
    def kernel():
        try:
            if cuda.threadIdx.x == 9:
                raise KeyError("nine")
            cuda.syncthreads()
        finally:
            ended.append(cuda.threadIdx.x)

    before = threading.active_count()
    with pytest.raises(KeyError, match="nine"):
        kernel[1, 16]()
    assert len(ended) <= 10
    while threading.active_count() > before:  # they end by themselves
        threading.Event().wait(0.01)
    assert sorted(ended) == list(range(10))
    kernel[1, 8]()  # the next launch is not disturbed
    assert cuda._here.block is None


def test_shared_memory_of_the_launch():
    @cuda.jit
    def kernel(out):
        floats = cuda.shared.array(0, np.float32)
        out[0] = floats.size
        floats[cuda.threadIdx.x] = 1

    out = np.zeros(1)
    kernel[1, 4, 0, 19](out)
    assert out[0] == 4


def test_local_memory_is_of_a_thread():
    @cuda.jit
    def kernel(out):
        own = cuda.local.array(2, np.int32)
        assert (own == -1).all()
        own[0] = out[cuda.grid(1)] = cuda.grid(1)

    out = np.zeros(4)
    kernel[1, 4](out)
    assert out.tolist() == [0, 1, 2, 3]


def test_types_of_numba_are_those_of_numpy():
    from numba import boolean, float32, int64, njit

    square = njit(lambda a: a[0] * a[0])

    @cuda.jit
    def kernel(values, out):
        assert cuda.shared.array(3, float32).dtype == np.float32
        assert cuda.local.array((2, 2), int64).dtype == np.int64
        assert cuda.shared.array(0, boolean).dtype == np.bool_
        out[0] = square(values)  # compiled code takes the arrays of a kernel

    out = np.zeros(1)
    kernel[1, 1](np.array([3.0]), out)
    assert out[0] == 9


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("add", (3,), 8),
        ("sub", (3,), 2),
        ("max", (7,), 7),
        ("max", (4,), 5),
        ("min", (4,), 4),
        ("min", (7,), 5),
        ("and_", (6,), 4),
        ("or_", (6,), 7),
        ("xor", (6,), 3),
        ("exch", (9,), 9),
        ("inc", (5,), 0),
        ("inc", (6,), 6),
        ("dec", (9,), 4),
        ("dec", (4,), 4),
        ("cas", (5, 1), 1),
        ("cas", (6, 1), 5),
    ],
)
def test_atomic_operations(name, values, expected):
    @cuda.jit
    def kernel(array, before):
        before[0] = getattr(cuda.atomic, name)(array, (0, 1), *values)

    array, before = np.array([[0, 5]]), np.zeros(1, int)
    kernel[1, 1](array, before)
    assert (array[0, 1], before[0]) == (expected, 5)


def test_launches_of_several_threads_do_not_disturb_each_other():
    total = cuda.to_device(np.zeros(1, np.int64))

    @cuda.jit
    def count(total):
        cuda.syncthreads()
        cuda.atomic.add(total, 0, cuda.blockDim.x)

    def work(size):
        count[2, size](total)

    threads = [threading.Thread(target=work, args=(size,)) for size in (1, 8, 16, 32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 2 * (1 + 64 + 256 + 1024)


# --- Streams, events, observers


def test_streams_and_events():
    stream, (begin, end) = cuda.stream(), (cuda.event(), cuda.event())
    device = cuda.to_device(np.zeros(4), stream=stream)
    begin.record(stream)
    shift[1, 2, stream](device, 1)
    end.record(stream)
    stream.synchronize()
    end.synchronize()
    cuda.synchronize()
    assert begin.elapsed_time(end) > 0
    assert cuda.is_available()


def test_observers_see_each_element_of_device_memory():
    @cuda.jit
    def kernel(values):
        own = cuda.shared.array(4, np.int64)  # is not observed
        i = cuda.grid(1)
        own[cuda.threadIdx.x] = values[i]
        values[i] = own[cuda.threadIdx.x]
        cuda.atomic.add(values, i, 1)
        values[:2].sum()  # no single element

    found, more = [], []
    with cuda.observed(lambda *access: found.append(access)):
        with cuda.observed(lambda *access: more.append(access)):
            kernel[2, 2](np.arange(4))
        kernel[1, 1](np.arange(4))
    kernel[1, 1](np.arange(4))
    assert (len(more), len(found)) == (16, 20)
    places = [(block[0], number, stored) for block, number, _, stored, _ in more]
    each = [False, True, False, True]
    order = [(0, 0), (0, 1), (1, 1), (1, 0)]  # the second block begins with its last thread
    assert places == [(*place, stored) for place in order for stored in each]
    assert {frame.f_code for _, _, frame, _, _ in more} == {kernel.py_func.__code__}
    assert {element.shape for *_, element in more} == {(1,)}


# --- One place chooses


KERNELS = """
import numpy as np

@cuda.jit
def sums(a, out):
    tile = cuda.shared.array(32, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i] if i < a.size else np.float32(0)
    cuda.syncthreads()
    step = 16
    while step:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])
        cuda.atomic.max(out, 1, tile[0])

@cuda.jit
def histogram(values, bins):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, values[i], 1)

@cuda.jit(device=True)
def escape(x, y):
    a = b = 0.0
    for n in range(50):
        if a * a + b * b > 4:
            return n
        a, b = a * a - b * b + x, 2 * a * b + y
    return 50

@cuda.jit
def picture(counts):
    x, y = cuda.grid(2)
    own = cuda.local.array(2, np.float64)
    if y < counts.shape[0] and x < counts.shape[1]:
        own[0], own[1] = x / 16 - 2, y / 8 - 1
        counts[y, x] = escape(own[0], own[1])

random = np.random.default_rng(1)
a, out = random.random(100, np.float32), np.zeros(2, np.float32)
sums[4, 32](a, out)
bins = cuda.to_device(np.zeros(7, np.int32))
histogram[2, 8](cuda.to_device(random.integers(0, 7, 200)), bins)
counts = cuda.device_array((17, 48), np.int32)
stream = cuda.stream()
picture[(6, 3), (8, 8), stream](counts)
stream.synchronize()
results = [out, bins.copy_to_host(), counts.copy_to_host()]
digest = [hashlib.sha256(result.tobytes()).hexdigest() for result in results]
"""
NUMBAS = """
import hashlib, json, sys
try:
    from numba import cuda
    import numba.cuda.simulator_init
except Exception as error:
    print(json.dumps(["none", repr(error)]))
    sys.exit()
exec(sys.argv[1])
import fractals
from fractals.backends import devices
from fractals.backends.cuda import kernel
assert kernel.find(True) is cuda
assert "Numba" in devices.choose("simulator").device.name
options = {"device": "simulator", "on_message": str}
table = json.loads(sys.argv[2])
results = fractals.compute(table, **options).count, fractals.render(table, **options).pixels
digest += [hashlib.sha256(each.tobytes()).hexdigest() for each in results]
try:
    fractals.render(size=(8, 6), device="cuda")
except fractals.DeviceError as error:
    assert "NUMBA_ENABLE_CUDASIM is set" in str(error)
print(json.dumps(["some", digest]))
"""


def python(text, *arguments, **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])} | variables
    command = [sys.executable, "-c", text, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "keys",
    [{}, pytest.param({"center": ["0", "1"], "width": "1e-30"}, marks=pytest.mark.slow)],
    ids=["direct", "deep"],
)
def test_numbas_simulator_computes_the_same(keys):
    """The user asks for it with Numba's own variable; plain programs get it from Numba."""
    drawn = scene(**keys)
    found, theirs = json.loads(python(NUMBAS, KERNELS, drawn.to_json(), NUMBA_ENABLE_CUDASIM="1"))
    if found == "none":
        pytest.skip(f"Numba has no simulator: {theirs}")
    names = {"cuda": cuda, "hashlib": hashlib}
    exec(KERNELS, names)
    options = {"device": "simulator", "on_message": str}
    results = fractals.compute(drawn, **options).count, fractals.render(drawn, **options).pixels
    ours = names["digest"] + [hashlib.sha256(each.tobytes()).hexdigest() for each in results]
    assert theirs == ours
    assert len(set(ours)) == 5


UNTOUCHED = """
import os, sys
import fractals
from fractals.backends.cuda import gpus, kernel, simulator
before = set(os.environ), sys.modules.get("numba.cuda")
assert (before[1] is None) != ("numba.cuda" in sys.argv)
assert kernel.find(True) is simulator
fractals.render(size=(16, 9), supersampling=1, max_iterations=60, device="simulator")
assert (set(os.environ), sys.modules.get("numba.cuda")) == before
assert "NUMBA" not in gpus.found()[1]
"""


@pytest.mark.parametrize("imported", ["", "numba.cuda"])
def test_the_simulator_leaves_numba_and_the_environment_alone(imported):
    """A GPU can be used after it, and a notebook that imported numba.cuda keeps what it has."""
    python(f"import sys\n{imported and 'import numba.cuda'}\n{UNTOUCHED}", imported)


def test_a_module_of_the_other_kind_is_refused(monkeypatch):
    from numba import config

    monkeypatch.setattr(site, "_imported", lambda: (object(), ""))
    monkeypatch.setattr(config, "ENABLE_CUDASIM", 1)
    with pytest.raises(DeviceError, match="NUMBA_ENABLE_CUDASIM was set when it was imported"):
        site.find(False)
    monkeypatch.setattr(config, "ENABLE_CUDASIM", 0)
    monkeypatch.setattr(cuda_driver, "numba_simulates", lambda: True)
    with pytest.raises(DeviceError, match="unset NUMBA_ENABLE_CUDASIM"):
        site.find(True)
    monkeypatch.setattr(site, "_imported", lambda: (None, "ImportError: gone"))
    with pytest.raises(DeviceError, match=r"no simulator of Numba \(ImportError: gone\)"):
        site.find(True)


def test_programs_that_import_numba_can_be_given_the_simulator():
    import numba

    before = sys.modules.get("numba.cuda"), vars(numba).get("cuda")
    end = site.stand_in(cuda)
    try:
        from numba import cuda as found
        from numba.cuda import grid

        assert (found, grid) == (cuda, cuda.grid)
    finally:
        end()
    assert (sys.modules.get("numba.cuda"), vars(numba).get("cuda")) == before


@pytest.mark.gpu
@pytest.mark.skipif(bool(gpus.found()[1]) or not gpus.found()[0], reason="no GPU")
def test_a_gpu_and_the_simulator_in_turns():
    drawn = scene()
    kinds = ("simulator", "cuda", "simulator", "cuda")
    pictures = [fractals.render(drawn, device=kind).pixels.tobytes() for kind in kinds]
    assert len(set(pictures)) == 1


def test_pictures_are_simulated_in_several_threads():
    drawn = scene(size=(40, 36), supersampling=2)
    expected = fractals.compute(drawn, device="cpu").count
    found = in_a_thread(lambda: fractals.compute(drawn, device="simulator").count)
    assert (found == expected).all()

"""Streams, launches and several GPUs, as far as the simulator goes: one GPU, a thread at a time."""

import ctypes
import functools
import gc
import itertools
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.drawings import BoundedSimulator, compute_on, opened
from support.limits import limit_tiles
from support.scenes import PRECISIONS, scene, slow_but
from support.threads import in_a_thread

import fractals
from fractals.backends import cuda_driver, devices, probe, streams
from fractals.backends.cuda import gpus
from fractals.backends.cuda.backend import ERRORS, CudaBackend, CudaGpu
from fractals.backends.cuda.launch import USUAL_CELLS, Parameters
from fractals.backends.cuda_driver import DriverError
from fractals.backends.streams import ReplicatedArray, StreamPool, block_size, failing
from fractals.errors import DeviceError, FractalsError
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView
from fractals.films.frames import FilmConstants
from fractals.films.motion import make_motion
from fractals.films.plan import make_frames
from fractals.films.strip import Strip
from fractals.rendering import drawing
from fractals.rendering.drawing import Sink, run
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.tools import bench

STRIPS = {"size": (40, 36), "supersampling": 2}


@pytest.fixture
def many_strips(monkeypatch):
    limit_tiles(monkeypatch, 640)


class Toy:
    """What slots use of the driver, written down; memory is the host's.

    `fails`: numbers of the allocations, from 1 on, that find no memory.
    """

    def __init__(self, *fails):
        self.selected, self.allocated, self.log, self.fails = [], [], [], list(fails)
        self.memory, self.events = {}, {}

    def ask(self, name, *arguments, answer=None):
        if name == "cuStreamCreate":
            self.log.append("stream")
            return sum(line == "stream" for line in self.log) - 1
        if name == "cuEventCreate":
            self.events[len(self.events)] = None
            return len(self.events) - 1
        return arguments[0]  # of a device: its index, number and context

    def cuInit(self, flags):
        self.log.append("begun")

    def cuCtxSetCurrent(self, context):
        self.selected.append(context)

    def cuCtxSynchronize(self):
        self.log.append("all wait")

    def cuMemAlloc(self, at, size):
        self.allocated.append(size)
        if len(self.allocated) in self.fails:
            raise DriverError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY", 2)
        memory = np.empty(size, np.uint8)
        self.memory[memory.ctypes.data] = memory
        at._obj.value = memory.ctypes.data

    def cuMemHostAlloc(self, at, size, flags):
        self.cuMemAlloc(at, size)

    def cuMemFree(self, at):
        del self.memory[at]

    cuMemFreeHost = cuMemFree

    def cuMemcpyHtoDAsync(self, to, source, size, stream):
        self.log.append(f"copied on stream {stream}")
        ctypes.memmove(to, source, size)

    cuMemcpyDtoHAsync = cuMemcpyHtoDAsync

    def cuStreamSynchronize(self, stream):
        self.log.append(f"stream {stream} is done")

    def cuEventRecord(self, event, stream):
        self.events[event] = stream

    def cuStreamWaitEvent(self, stream, event, flags):
        self.log.append(f"stream {stream} waits for stream {self.events[event]}")


def shares(first, second):
    """Tell whether two arrays of a device lie in the same bytes."""
    return (
        first.address < second.address + second.nbytes
        and second.address < first.address + first.nbytes
    )


def contents(array):
    """Return a NumPy array of what an array of the toy holds."""
    memory = (ctypes.c_ubyte * array.nbytes).from_address(array.address)
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def error_of_numba(text):
    kind = type("CudaAPIError", (RuntimeError,), {"__module__": "numba.cuda.cudadrv.driver"})
    return kind(text)


def slots_of(toy, number):
    """Return slots of a GPU, for as many threads at a time."""
    gpu = CudaGpu(toy, 0)
    gpu.bind()
    return [gpu.take() for _ in range(number)]


@pytest.fixture(autouse=True)
def no_gpu_is_bound(monkeypatch):
    monkeypatch.setattr(streams, "_bound", threading.local())


def test_memory_that_was_let_go_is_used_again():
    cuda = Toy()
    (slot,) = slots_of(cuda, 1)
    first, other = slot.empty((3, 4), np.int32), slot.empty((3, 4), np.int32)
    assert not shares(first, other)
    assert (first.shape, first.dtype) == ((3, 4), np.int32)
    del first
    again, new = slot.empty((2, 5), np.float32), slot.empty((3, 4), np.int32)
    assert len(cuda.allocated) == 3, "another shape and type takes the memory, too"
    assert again.dtype == np.float32
    assert not any(shares(a, b) for a, b in itertools.combinations((again, new, other), 2))


def test_a_view_keeps_the_memory_of_its_array():
    (slot,) = slots_of(Toy(), 1)
    whole = slot.empty((4, 4), np.int32)
    part = whole[1:3].reshape(8)[2:]
    assert part.address == whole.address + 4 * (4 + 2)
    del whole
    assert not shares(part, slot.empty((4, 4), np.int32))
    before = len(slot.driver.allocated)
    del part
    slot.empty((4, 4), np.int32)
    assert len(slot.driver.allocated) == before


def test_memory_that_the_collector_finds_is_not_freed():
    """It calls the finalizers of arrays in a cycle first, in whatever thread."""
    cuda = Toy()
    (slot,) = slots_of(cuda, 1)
    cycle = [slot.empty((3, 4), np.int32)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    slot.empty((3, 4), np.int32)
    assert len(cuda.allocated) == len(cuda.memory) == 1


def test_the_pool_of_many_sizes_is_small():
    """An explorer's window takes every size. Blocks serve sizes that are a little smaller."""
    (slot,) = slots_of(Toy(), 1)
    for width in range(300, 500):
        slot.empty((width, 338), np.float64)
    assert len(slot.driver.allocated) <= 6
    for size in (1, 255, 256, 257, 4097, 10**6, 2**31 + 1):
        assert size <= block_size(size) <= max(256 + size, 1.26 * size)


@pytest.mark.parametrize("fails", [(2,), (3,)])
def test_without_memory_the_pool_is_emptied_and_asked_again(fails):
    cuda = Toy(*fails)
    slot, other = slots_of(cuda, 2)
    kept, gone = (
        slot.empty((1000,), np.uint8),
        other.empty((3000,), np.uint8) if fails != (2,) else None,
    )
    del gone
    taken = slot.empty((5000,), np.uint8)
    assert "all wait" in cuda.log, "another stream may still work on what is freed"
    assert not shares(kept, taken)
    other.empty((3000,), np.uint8)
    assert cuda.allocated[-1] == block_size(3000), "what was unused is gone"


@pytest.mark.parametrize("count", [3, USUAL_CELLS, 2 * USUAL_CELLS + 1])
def test_the_driver_is_given_the_place_of_each_parameter(count):
    """The memory grows with the parameters, and is used again."""
    own = Parameters()
    for first in (0, 7):
        cells = np.arange(first, first + count, dtype=np.int64)
        places = own.take(cells.tobytes())
        found = [ctypes.c_int64.from_address(places[k]).value for k in range(count)]
        assert found == cells.tolist()


def test_memory_that_stays_full_is_one_line():
    cuda = Toy(1, 2)
    (slot,) = slots_of(cuda, 1)
    with (
        pytest.raises(FractalsError, match=r"out of memory \(asked for 2 MiB more\): free"),
        failing(ERRORS, (512, 1024), np.float32),
    ):
        slot.empty((512, 1024), np.float32)
    with (
        pytest.raises(FractalsError, match="out of memory: free"),
        failing(ERRORS),
    ):
        raise error_of_numba("[2] Call to cuStreamCreate results in CUDA_ERROR_OUT_OF_MEMORY")


def test_copies_to_the_host_have_one_wait():
    cuda = Toy(2)  # the page-locked memory: then they are copied to other memory
    (slot,) = slots_of(cuda, 1)
    array = slot.empty((2, 3), np.int16)
    slot.copy_in(np.array([[1, 2, 3], [4, 5, 6]]), array)
    half = array[1:]
    staged = slot.copy_to_host([array, half])
    assert [part.tolist() for part in staged] == [[[1, 2, 3], [4, 5, 6]], [[4, 5, 6]]]
    assert cuda.log.count("stream 0 is done") == 1
    slot.copy_to_host([array])
    assert len(cuda.allocated) == 2


def test_streams_that_read_wait_for_the_one_that_fills():
    """A copy begins, and returns: on another stream a kernel could overtake it."""
    cuda = Toy()
    slot, other = slots_of(cuda, 2)
    array = slot.filled(np.arange(3))
    slot.reads(array)
    assert not any("waits" in line for line in cuda.log)
    other.reads(array)
    other.reads(array)
    assert cuda.log.count("stream 1 waits for stream 0") == 1
    del array
    slot.empty((3,), np.int64)  # the memory may be read still
    assert cuda.log.count("stream 0 waits for stream 1") == 1
    slot.empty((3,), np.int64)
    assert cuda.log.count("stream 0 waits for stream 1") == 1


def test_a_thread_has_a_slot_until_it_ends():
    cuda = Toy()
    pool = StreamPool([CudaGpu(cuda, 4), CudaGpu(cuda, 7)])
    here = pool.here()
    assert pool.here() is here
    first = in_a_thread(pool.here)
    assert first is not here
    assert in_a_thread(pool.here) is first  # with its memory
    assert (here.gpu.index, first.gpu.index) == (4, 7)
    assert cuda.selected == [4, 7, 7]  # each thread is bound once


def test_another_backend_takes_the_streams_and_the_memory():
    gpu = CudaGpu(Toy(), 0)
    used = []
    for _ in range(3):
        slot = StreamPool([gpu]).here()
        slot.empty((30, 40), np.int32)
        used.append(slot)
    assert used == [used[0]] * 3
    assert len(gpu.driver.allocated) == 1


def test_a_thread_is_bound_again_when_it_goes_back_to_another_pool():
    """Threads outlive a picture, and the next one may be drawn on another GPU."""
    cuda = Toy()
    first, second = StreamPool([CudaGpu(cuda, 4)]), StreamPool([CudaGpu(cuda, 7)])

    def work():
        return [pool.here().gpu.index for pool in (first, second, second, first)]

    assert in_a_thread(work) == [4, 7, 7, 4]
    assert cuda.selected == [4, 7, 4]


def test_several_gpus_share_the_threads_evenly_and_have_their_own_copies():
    cuda = Toy()
    pool = StreamPool([CudaGpu(cuda, index) for index in range(3)])
    meeting = threading.Barrier(6)
    found = []

    def work():
        found.append(pool.here())
        meeting.wait(10)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(slot.gpu.index for slot in found) == [0, 0, 1, 1, 2, 2]
    everywhere = ReplicatedArray(np.arange(3))
    copies = {slot.gpu.index: everywhere.on(slot) for slot in found}
    assert all(contents(copy).tolist() == [0, 1, 2] for copy in copies.values())
    assert contents(everywhere.from_column(1).on(found[0]))[:2].tolist() == [1, 2]
    assert not shares(copies[0], copies[1])
    assert everywhere.on(found[0]) is copies[found[0].gpu.index]


def test_an_array_of_another_gpu_is_copied_to_the_host_there():
    """The threads of a probe are of any GPU; one thread collects what they found."""
    cuda = Toy()
    first, second = CudaGpu(cuda, 4), CudaGpu(cuda, 7)
    second.bind()
    array = second.take().filled(np.arange(3))
    first.bind()
    slot = first.take()
    del cuda.selected[:]
    assert slot.copy_to_host([array])[0].tolist() == [0, 1, 2]
    assert cuda.selected == [7, 4]
    assert cuda.log[-3:] == ["copied on stream 0", "stream 0 is done", "stream 1 is done"]
    with pytest.raises(AssertionError, match="no memory of another"):
        slot.reads(array)


@pytest.mark.parametrize("indices", [(0,), (0, 1)], ids=["one", "two"])
def test_strips_on_streams(many_strips, monkeypatch, indices):
    """Two threads a GPU draw strips; the simulator plays every GPU."""
    drawn, used = scene(**STRIPS), set()
    expected = fractals.compute(drawn, device="cpu"), fractals.render(drawn, device="cpu")

    def open_one(_choice, _request, precision, _threads=None):
        return SimpleNamespace(kind="simulator", cores=0), backend(precision), ""

    def backend(precision):
        made = CudaBackend(precision, indices, simulated=True)
        here = made.streams.here
        monkeypatch.setattr(made.streams, "here", lambda: used.add(here()) or here())
        return made

    monkeypatch.setattr(drawing, "open_chosen", open_one)
    raw = fractals.compute(drawn, device="simulator")
    assert raw.count.tobytes() == expected[0].count.tobytes()
    assert raw.dz.tobytes() == expected[0].dz.tobytes()
    picture = fractals.render(drawn, device="simulator")
    assert picture.pixels.tobytes() == expected[1].pixels.tobytes()
    again = fractals.recolor(raw, device="simulator")
    assert again.pixels.tobytes() == expected[1].pixels.tobytes()
    assert len(used) >= 2


@pytest.mark.parametrize(
    ("formula", "coloring", "precision"),
    slow_but(
        [("mandelbrot", "count", "float32"), ("burning_ship", "distance", "float64")],
        itertools.product(["mandelbrot", "burning_ship"], ["count", "distance"], PRECISIONS),
    ),
)
def test_launches_are_bounded_and_not_seen(formula, coloring, precision):
    # Beyond 2^128 a derivative in float32 overflows, and is drawn as a distance of 0.
    for limit, most in [(20, 1), (100, 16), (100, 77), (100, 99)]:
        keys = {"coloring": coloring, "size": (64, 36), "precision": precision}
        drawn = scene(formula, max_iterations=limit, **keys)
        expected = fractals.compute(drawn, device="simulator")
        simulator = BoundedSimulator(drawn, most)
        raw = compute_on(simulator, drawn)
        begins = range(0, limit, most)
        assert bounds(simulator)[1:] == [(begin, min(begin + most, limit)) for begin in begins]
        for name in ("count", "z", "dz"):
            if getattr(raw, name) is not None:
                assert getattr(raw, name).tobytes() == getattr(expected, name).tobytes()


@pytest.mark.parametrize("julia", [["-0.4", "0.59"], ["-2.5", "0"]])
def test_bounded_launches_of_julia_sets(julia):
    """Their starting points may lie outside, and where |c| > R orbits come back."""
    drawn = scene(julia=julia, size=(64, 36), max_iterations=100, escape_radius=2, width="6")
    expected = fractals.compute(drawn, device="cpu")
    simulator = BoundedSimulator(drawn, 7)
    raw = compute_on(simulator, drawn)
    assert len(bounds(simulator)) > 10
    assert raw.count.tobytes() == expected.count.tobytes()
    assert raw.dz.tobytes() == expected.dz.tobytes()


def bounds(simulator):
    """Return the first step, and the one after the last, of each launch that iterates a part."""
    return [
        (int(arguments[-3]), int(arguments[-2]))
        for name, arguments in simulator.launches
        if name == "make_part_body"
    ]


def test_an_interrupt_ends_a_long_tile():
    drawn = scene(max_iterations=10**9)
    simulator = BoundedSimulator(drawn, 1)
    planned = make_plan(drawn, "simulator", keeps="raw")
    opened_scene = drawing.open_drawing(planned, simulator)

    def iterate(tile, stop):
        opened_scene.source.iterate(tile, stop=stop)
        return {}

    def interrupt(done, total):
        if len(bounds(simulator)) > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(opened_scene, planned.tiles, Sink(iterate), interrupt)
    run(opened_scene, planned.tiles, Sink(lambda tile, stop: {}))  # its threads are free
    assert 1 < len(bounds(simulator)) < 10**6


def test_a_stream_that_fails_is_named_in_one_line(many_strips, monkeypatch):
    opened_scene = opened(scene(**STRIPS), "simulator", shading=False)

    def synchronize():
        raise error_of_numba("[801] Call to cuStreamSynchronize results in NOT_SUPPORTED\nand more")

    def work(tile, stop):
        slot = opened_scene.backend.slot
        monkeypatch.setattr(slot, "stream", SimpleNamespace(synchronize=synchronize))
        opened_scene.backend.synchronize()

    with pytest.raises(FractalsError, match=r"NOT_SUPPORTED; fractals\.devices\(\)") as caught:
        run(opened_scene, opened_scene.plan.tiles, Sink(work))
    assert len(str(caught.value).splitlines()) == 1


def test_a_gpu_that_has_failed_is_left_alone():
    """Its context answers every call with the same error: one line says what to do."""
    cuda = Toy()
    gpu = CudaGpu(cuda, 0)
    pool = StreamPool([gpu])
    pool.here()
    with (
        pytest.raises(
            FractalsError, match=r"ILLEGAL_ADDRESS; this process .* run it again"
        ) as first,
        failing(ERRORS),
    ):
        raise error_of_numba("[700] Call to cuStreamSynchronize results in ILLEGAL_ADDRESS")
    assert not gpu.frees
    with pytest.raises(FractalsError) as later, failing(ERRORS):
        pool.here()
    assert str(later.value) == str(first.value)


def test_counts_are_told_by_every_backend(device):
    counts = np.array([[3, 9, 9], [7, 2, 9], [9, 9, 9]], np.int32)
    made = devices.open_backend(devices.choose(device).device, "float64")
    for limit, facts in [(9, (2, 7, 6)), (8, (2, 7, 6)), (2, (2, -1, 9))]:
        found = made.tally(made.to_device(counts), limit)
        columns = np.empty(found.shape, np.int32)
        made.to_host(found, columns)
        assert (columns[0].min(), columns[1].max(), columns[2].sum()) == facts


def test_tables_of_many_pictures_are_copied_once(compiled):
    made = devices.open_backend(devices.choose(compiled).device, "float64")
    table, found = np.arange(5, dtype=np.float32), np.empty((5,), np.float32)
    copy = made.to_device(table, kept=True)
    assert made.to_device(table, kept=True) is copy
    made.to_host(copy, found)
    assert np.array_equal(found, table)
    others = [made.to_device(np.full(3, k), kept=True) for k in range(200)]
    made.to_host(others[0], found[:3])
    assert not found[:3].any(), "a copy that is kept no longer is still the caller's"


OPERATORS = ("lt", "le", "eq", "ne", "gt", "ge", "add", "sub", "mul", "truediv", "and", "array")


@pytest.fixture
def arrays_of_a_card(monkeypatch):
    """Have arrays of the simulator refuse what those of a GPU do: their numbers are elsewhere."""
    made = devices.open_backend(devices.choose("simulator").device, "float64")

    def refuse(*_arguments):
        raise TypeError("host code computes with an array of the device")

    for name in OPERATORS:
        monkeypatch.setattr(type(made.empty((1,), np.int32)), f"__{name}__", refuse, raising=False)


@pytest.mark.slow
def test_the_explorer_leaves_arrays_of_the_device_alone(arrays_of_a_card):
    engine, ended, failed = Engine("simulator"), threading.Event(), []

    def say(kind, **keys):
        if (kind, keys.get("pass")) == ("drawn", "exact"):
            ended.set()

    def fail(line):
        failed.append(line)
        ended.set()

    drawn = scene(size=(24, 16), supersampling=1)
    keys = {"engine": engine, "scene": drawn, "frame": 1, "paint": 0, "say": say, "failed": fail}
    engine.submit(ClientView(key=(engine,), make=ClientView.passes, priority=VIEW, **keys))
    assert ended.wait(120)
    engine.end()
    assert not failed


@pytest.mark.slow
def test_strips_leave_arrays_of_the_device_alone(arrays_of_a_card):
    keys = [{"at": 0, "width": "0.5"}, {"at": 0.1, "width": "0.4"}]
    keys = [{**key, "center": ["-0.7453", "0.1127"]} for key in keys]
    own = {"film": {"fps": 20, "keys": keys}}
    drawn = fractals.load_scene(own, size=(16, 9), max_iterations=100, supersampling=1)
    (part,) = make_motion(drawn, 0).parts
    strip, constants = Strip(drawn, part, 1.0, 0.0, 20, None), FilmConstants(100, 0.0)
    frames = [
        list(make_frames(strip, constants, RenderOptions(device=name), None).frames(part.frames))
        for name in ("cpu", "simulator")
    ]
    assert len(frames[0]) == 2
    assert np.array_equal(*frames)


def toys(*problems):
    found = [
        probe.Device("cuda", f"Toy {i}", index=i, problem=text) for i, text in enumerate(problems)
    ]
    return lambda: (found, "".join(problems))


@pytest.mark.parametrize(
    ("code", "shown", "reason"),
    [
        (100, None, "the driver sees no CUDA GPU"),
        (100, "", "CUDA_VISIBLE_DEVICES='' leaves the driver no CUDA GPU"),
        (803, "", "restart the machine"),
        (999, None, "the driver has failed: restart the machine"),
        (3, None, "forked from one that had used the GPU"),
        (1, None, "the driver doesn't start (error 1)"),
    ],
)
def test_a_driver_that_does_not_start_says_why(monkeypatch, code, shown, reason):
    driver = SimpleNamespace(cuInit=lambda flags: code)
    monkeypatch.setattr(cuda_driver, "library", lambda: (driver, ""))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    found, said = gpus.found()
    assert not found
    assert reason in said


def test_a_driver_without_a_function_is_named(monkeypatch):
    class Old:
        def cuInit(self, flags):
            return 0

        def __getattr__(self, name):
            raise AttributeError(f"/usr/lib/libcuda.so.1: undefined symbol: {name}")

    monkeypatch.setattr(cuda_driver, "library", lambda: (Old(), ""))
    found, said = gpus.found()
    assert not found
    assert said == "the driver is too old or damaged (it has no cuDriverGetVersion): update it"


def test_a_gpu_that_does_not_answer_is_not_used(monkeypatch):
    def put(value, answer=1):
        value._obj.value = answer
        return 0

    driver = SimpleNamespace(
        cuInit=lambda flags: 0,
        cuDriverGetVersion=functools.partial(put, answer=13000),
        cuDeviceGetCount=put,
        cuDeviceGet=lambda *_: 0,
        cuDeviceGetName=lambda *_: 46,
        cuDeviceGetAttribute=lambda *_: 46,
    )
    monkeypatch.setattr(cuda_driver, "library", lambda: (driver, ""))
    monkeypatch.setattr(gpus, "_software_problem", lambda version: "")
    (found,), said = gpus.found()
    assert found.is_gpu
    assert found.problem == said
    assert "does not answer about GPU 0 (error 46)" in said
    choice = devices.choose("auto")
    assert (choice.device.kind, choice.note) == (
        "cpu",
        f"the GPU is not used ({said}); drawing on the CPU",
    )


def test_wsl_without_a_driver_is_told_to_install_it_in_windows(monkeypatch):
    def missing(name):
        raise OSError(name)

    release = SimpleNamespace(release="5.15.153.1-microsoft-standard-WSL2")
    monkeypatch.setattr(cuda_driver.os, "uname", lambda: release)
    monkeypatch.setattr(cuda_driver.ctypes, "CDLL", missing)
    found, said = gpus.found()
    assert not found
    assert "/usr/lib/wsl/lib/libcuda.so.1 not found" in said
    assert "in Windows, and none in Linux" in said


def test_all_gpus(monkeypatch):
    monkeypatch.setattr(gpus, "found", toys("", "", ""))
    device = devices.choose("cuda:all").device
    assert device.indices == (0, 1, 2)
    assert bench.label(device) == "cuda:all"
    assert devices.choose("cuda").device.indices == (0,)
    assert devices.choose("cuda:2").device.indices == (2,)
    monkeypatch.setattr(gpus, "found", toys("no driver"))
    with pytest.raises(DeviceError, match="no driver"):
        devices.choose("cuda:all")


def test_what_a_gpu_can_do():
    h200 = probe.Device(
        "cuda", "an H200", compute_capability=(9, 0), multiprocessors=132, clock=1.98e9
    )
    assert h200.rate("float32") == pytest.approx(33.5e12, rel=0.01)
    assert h200.rate("float64") == h200.rate("float32") / 2
    unknown = probe.Device("cuda", "new", compute_capability=(99, 0), multiprocessors=1, clock=1e9)
    assert unknown.rate("float64") == 2e9


def test_the_figures_of_scatter_images(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "scripts"), *sys.path])
    import gpu_scatter

    monkeypatch.setattr(gpu_scatter, "CASES", (("clifford", gpu_scatter.SMALL),))
    told = []
    (found,) = gpu_scatter.measure("simulator", True, told.append)
    assert found["equal"]
    assert min(found["device"], found["cpu"], *found["kernel_by_width"].values()) > 0
    assert 0 < found["in_view_of_a_sample"] <= 1
    assert "clifford" in told[0]
    assert "equal sums" in told[0]
    monkeypatch.setattr(sys, "argv", ["gpu_scatter.py", "--device", "cpu"])
    assert gpu_scatter.main() == 4


def test_the_figures_of_gpu_check(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "scripts"), *sys.path])
    import gpu_figures

    card = probe.Device(
        "simulator", "no card", compute_capability=(9, 0), multiprocessors=1, clock=1e9
    )
    for name, fewer in (("WORKLOADS", ("a",)), ("THROWN", ("shroud",)), ("SOLIDS", ())):
        monkeypatch.setattr(gpu_figures, name, fewer)
    told = []
    found = dict(gpu_figures.measure("simulator", card, True, told.append))
    assert [figures["precision"] for figures in found["kernels"]] == ["float32", "float64"]
    for figures in found["kernels"]:
        assert figures["differing_counts"] == 0
        assert min(figures["seconds"], figures["iterations_per_second"], found["launch"]) > 0
        assert figures["workload"] in " ".join(told)
        assert set(figures["host_left_out"]) == {"seconds", *figures["blocks"]}
        assert not any(figures["host_left_out"].values()), "the simulator has no events"
    assert "some with the host" in " ".join(told)
    assert min(*found["copy_bytes_per_second"].values(), *found["frames_per_second"].values()) > 0
    assert found["pictures"]["shroud"]["differing_pixels"] == 0

"""Streams, launches and several GPUs, as far as the simulator goes: one GPU, a thread at a time."""

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
from fractals.backends import devices, probe
from fractals.backends.cuda.backend import STREAMS_PER_GPU, CudaBackend, ReplicatedArray, StreamPool
from fractals.errors import DeviceError, FractalsError
from fractals.rendering import drawing
from fractals.rendering.drawing import Sink, draw_tile, run
from fractals.rendering.plan import make_plan
from fractals.tools.bench import measure as bench

STRIPS = {"size": (40, 36), "supersampling": 2}


@pytest.fixture
def many_strips(monkeypatch):
    limit_tiles(monkeypatch, 640)


class Cuda:
    """What streams use of `numba.cuda`, counted."""

    def __init__(self):
        self.selected, self.allocated = [], []
        self.select_device = self.selected.append

    def stream(self):
        return SimpleNamespace(synchronize=lambda: None)

    def device_array(self, shape, dtype, stream):
        self.allocated.append(shape)
        return np.empty(shape, dtype)

    def pinned_array(self, size, dtype):
        self.allocated.append(size)
        return np.empty(size, dtype)

    def to_device(self, array, stream):
        return np.array(array)


def test_memory_that_was_let_go_is_used_again():
    slot = StreamPool(Cuda(), (0,)).here()
    first, other = slot.empty((3, 4), np.int32), slot.empty((3, 4), np.int32)
    assert not np.shares_memory(first, other)
    assert (first.shape, first.dtype) == ((3, 4), np.int32)
    del first
    again, new_type, new = (slot.empty((3, 4), t) for t in (np.int32, np.float32, np.int32))
    assert len(slot._cuda.allocated) == 4
    assert not any(
        np.shares_memory(a, b) for a, b in itertools.combinations((again, new, other), 2)
    )
    assert new_type.dtype == np.float32


def test_staging_grows_and_is_used_again():
    slot = StreamPool(Cuda(), (0,)).here()
    small, large = slot.staging((2, 3), np.float64), slot.staging((5, 7, 3), np.uint8)
    assert (small.shape, small.dtype, large.shape) == ((2, 3), np.float64, (5, 7, 3))
    slot.staging((7, 9), np.int8)
    assert slot._cuda.allocated == [48, 105]


def test_a_thread_has_a_slot_until_it_ends():
    cuda = Cuda()
    pool = StreamPool(cuda, (4, 7))
    here = pool.here()
    assert pool.here() is here
    first = in_a_thread(pool.here)
    assert first is not here
    assert in_a_thread(pool.here) is first  # with its memory
    assert (here.index, first.index) == (4, 7)
    assert cuda.selected == [4, 7, 7]  # each thread is bound once


def test_a_thread_is_bound_again_when_it_goes_back_to_another_pool():
    """Threads outlive a picture, and the next one may be drawn on another GPU."""
    cuda = Cuda()
    first, second = StreamPool(cuda, (4,)), StreamPool(cuda, (7,))

    def work():
        return [pool.here().index for pool in (first, second, second, first)]

    assert in_a_thread(work) == [4, 7, 7, 4]
    assert cuda.selected == [4, 7, 4]


def test_several_gpus_share_the_threads_evenly_and_have_their_own_copies():
    cuda = Cuda()
    pool = StreamPool(cuda, (0, 1, 2))
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
    assert sorted(slot.index for slot in found) == [0, 0, 1, 1, 2, 2]
    everywhere = ReplicatedArray(np.arange(3))
    copies = {slot.index: everywhere.on(cuda, slot) for slot in found}
    assert all((copy == [0, 1, 2]).all() for copy in copies.values())
    assert not np.shares_memory(copies[0], copies[1])
    assert everywhere.on(cuda, found[0]) is copies[found[0].index]


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


def test_memory_is_not_allocated_for_each_strip(many_strips, monkeypatch):
    drawn = scene(**STRIPS)
    opened_scene = opened(drawn, "simulator")
    assert len(opened_scene.plan.tiles) == 9
    cuda, asked = opened_scene.backend.cuda, []
    real = cuda.device_array
    monkeypatch.setattr(cuda, "device_array", lambda *a, **k: asked.append(a) or real(*a, **k))

    def draw(tile, stop):
        pixels = np.empty((tile.height, tile.width, 3), np.uint8)
        return draw_tile(opened_scene, tile, pixels, stop)

    run(opened_scene, opened_scene.plan.tiles, Sink(draw))
    arrays_a_tile = 5 + 1 + 2 + 1  # count, z and dz; rows; positions and colors; a summary
    assert 0 < len(asked) <= STREAMS_PER_GPU * arrays_a_tile
    before = len(asked)
    run(opened_scene, opened_scene.plan.tiles, Sink(draw))
    assert len(asked) <= max(before, STREAMS_PER_GPU * arrays_a_tile)


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
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(opened_scene, planned.tiles, Sink(iterate), interrupt)
    run(opened_scene, planned.tiles, Sink(lambda tile, stop: {}))  # its threads are free
    assert 1 < len(bounds(simulator)) < 10**6


def test_a_stream_that_fails_is_named_in_one_line(many_strips, monkeypatch):
    opened_scene = opened(scene(**STRIPS), "simulator", shading=False)
    failure = type("CudaAPIError", (RuntimeError,), {"__module__": "numba.cuda.cudadrv.driver"})

    def synchronize():
        raise failure("[700] Call to cuStreamSynchronize results in ILLEGAL_ADDRESS\nand more")

    def work(tile, stop):
        slot = opened_scene.backend.slot
        monkeypatch.setattr(slot, "stream", SimpleNamespace(synchronize=synchronize))
        opened_scene.backend.synchronize()

    with pytest.raises(FractalsError, match="ILLEGAL_ADDRESS; fractals devices") as caught:
        run(opened_scene, opened_scene.plan.tiles, Sink(work))
    assert len(str(caught.value).splitlines()) == 1


def gpus(*problems):
    found = [
        probe.Device("cuda", f"Toy {i}", index=i, problem=text) for i, text in enumerate(problems)
    ]
    return lambda: (found, "".join(problems))


def test_all_gpus(monkeypatch):
    monkeypatch.setattr(probe, "gpus", gpus("", "", ""))
    device = devices.choose("cuda:all").device
    assert device.indices == (0, 1, 2)
    assert bench.label(device) == "cuda:all"
    assert devices.choose("cuda").device.indices == (0,)
    assert devices.choose("cuda:2").device.indices == (2,)
    monkeypatch.setattr(probe, "gpus", gpus("no driver"))
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


def test_the_figures_of_gpu_check(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "scripts"), *sys.path])
    import gpu_figures

    card = probe.Device(
        "simulator", "no card", compute_capability=(9, 0), multiprocessors=1, clock=1e9
    )
    monkeypatch.setattr(gpu_figures, "WORKLOADS", ("a",))
    told = []
    found = gpu_figures.measure("simulator", card, True, told.append)
    assert [figures["precision"] for figures in found["kernels"]] == ["float32", "float64"]
    for figures in found["kernels"]:
        assert figures["differing_counts"] == 0
        assert min(figures["seconds"], figures["iterations_per_second"], found["launch"]) > 0
        assert figures["workload"] in " ".join(told)
    assert min(*found["copy_bytes_per_second"].values(), *found["frames_per_second"].values()) > 0

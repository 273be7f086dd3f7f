"""The path to a GPU, on one: what it costs, several threads and cards, and what happens in faults.

Faults are ordered from the stand-in for NVIDIA's driver (tests/cuda_driver), whose variables begin
with STANDIN_; on a true card these tests are skipped.
"""

import gc
import itertools
import os
import subprocess
import sys
import threading
import time

import numpy as np
import PIL.Image
import pytest
from conftest import GPU
from support.drawings import opened
from support.limits import limit_tiles
from support.scenes import scene

import fractals
from fractals.backends.cuda.backend import gpu_of
from fractals.backends.devices import choose, open_backend
from fractals.errors import FractalsError
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView
from fractals.films.frames import FilmConstants
from fractals.films.motion import make_motion
from fractals.films.plan import make_frames
from fractals.films.strip import Strip
from fractals.rendering.drawing import Sink, draw_all, pixel_sink, run, sampled
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Tile

pytestmark = GPU.marks
stand_in = pytest.mark.skipif("STANDIN_PYTHON" not in os.environ, reason="faults can't be ordered")
DRAWN = {"size": (40, 36), "supersampling": 2}
RENDER = ("render", "--device", "cuda", "--size", "32x18", "--max-iterations", "200")
DEEP = {"center": ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"]}


def command(tmp_path, *arguments, **settings):
    """Run the command line in a process of its own, with orders for the stand-in."""
    ordered = {f"STANDIN_{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "fractals", *arguments, "-o", tmp_path / "a.png", "--overwrite"],
        env=os.environ | ordered,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )


def is_true_soon(happened):
    until = time.monotonic() + 20
    while not happened() and time.monotonic() < until:
        time.sleep(0.01)
    return happened()


def pixels_of(tmp_path):
    with PIL.Image.open(tmp_path / "a.png") as picture:
        return np.asarray(picture)


def blocks_of(backend):
    """Return the addresses of all memory that a backend's GPU has given to this process."""
    slots = gpu_of(backend.cuda, backend.slot.gpu.index)._slots
    return {address for slot in slots for address in slot._memory}


@pytest.mark.parametrize("keys", [DRAWN, {**DEEP, "width": "1e-20", "size": (32, 18)}])
def test_a_second_picture_allocates_nothing(keys, monkeypatch):
    limit_tiles(monkeypatch, 640)
    drawings = [opened(scene(**keys), "cuda") for _ in range(2)]
    pictures = [draw_all(drawings[0])]
    before = blocks_of(drawings[0].backend)
    drawings.append(opened(scene(**keys), "cuda"))
    pictures += [draw_all(drawing) for drawing in drawings[1:]]
    assert len(blocks_of(drawings[0].backend)) <= len(before) + 2 * 20, "one more thread, at most"
    assert all(np.array_equal(picture, pictures[0]) for picture in pictures)


@pytest.mark.unwatched
def test_a_tile_of_direct_iteration_has_one_wait(monkeypatch):
    limit_tiles(monkeypatch, 640)
    drawing = opened(scene(**DRAWN), "cuda")
    kind = type(drawing.backend.slot.stream)
    wait, waits = kind.synchronize, []
    monkeypatch.setattr(kind, "synchronize", lambda stream: waits.append(wait(stream)))
    pixels = np.empty((36, 40, 3), np.uint8)
    run(drawing, drawing.plan.tiles, pixel_sink(drawing, pixels))
    assert len(waits) == len(drawing.plan.tiles) > 4
    assert np.array_equal(pixels, fractals.render(scene(**DRAWN), device="cpu").pixels)


@pytest.mark.unwatched
@pytest.mark.parametrize("keys", [DRAWN, {**DEEP, "width": "1e-20", "size": (32, 18)}])
def test_memory_may_end_at_each_allocation(keys, monkeypatch):
    """Once: the picture is drawn. For good: one line, nothing is lost, and the next is drawn."""
    limit_tiles(monkeypatch, 640)
    made, drawn = open_backend(choose("cuda").device, "float64"), scene(**keys)
    expected = fractals.render(drawn, device="cpu").pixels
    real, asked, fails = made.cuda.device_array, [], range(0)

    def device_array(*arguments, **options):
        asked.append(True)
        if len(asked) in fails:
            raise MemoryError
        return real(*arguments, **options)

    monkeypatch.setattr(made.cuda, "device_array", device_array)

    def is_empty():
        gc.collect()
        made._tables.clear()
        made.slot.gpu.drop_unused()
        return not blocks_of(made)

    for number, last in itertools.product(range(1, 200), (1, 10**9)):
        assert is_true_soon(is_empty), number  # threads may end their tile after an error
        asked.clear()
        fails, line = range(number, number + last), ""
        try:
            pixels = fractals.render(drawn, device="cuda").pixels
        except FractalsError as error:
            pixels, line = expected, str(error)
        assert np.array_equal(pixels, expected)
        assert not line or (last > 1 and "the GPU is out of memory" in line)
        if len(asked) < number:
            break
    assert 10 < number < 199


def test_strips_of_a_film():
    keys = [{"at": 0, "width": "0.5"}, {"at": 0.1, "width": "0.4"}]
    keys = [{**key, "center": ["-0.7453", "0.1127"]} for key in keys]
    own = {"film": {"fps": 20, "keys": keys}}
    drawn = fractals.load_scene(own, size=(16, 9), max_iterations=100, supersampling=1)
    (part,) = make_motion(drawn, 0).parts
    strip, constants = Strip(drawn, part, 1.0, 0.0, 20, None), FilmConstants(100, 0.0)
    cpu, cuda = (
        list(make_frames(strip, constants, RenderOptions(device=name), None).frames(part.frames))
        for name in ("cpu", "cuda")
    )
    assert np.array_equal(cpu, cuda)


def test_the_explorer_draws_in_a_thread_of_its_own():
    engine, ended, failed, drawn = Engine("cuda"), threading.Event(), [], scene(size=(24, 16))
    pixels = np.zeros((16, 24, 3), np.uint8)

    def end(*line):
        failed.extend(line)
        ended.set()

    class View(ClientView):
        def send_pixels(self, tile, part, step=1):
            pixels[tile.window()] = part

        def send_drawn(self, name, seconds, **facts):
            if name == "exact":
                end()

    keys = {"engine": engine, "scene": drawn, "frame": 1, "paint": 0, "failed": end}
    engine.submit(View(key=(engine,), make=View.passes, priority=VIEW, **keys))
    assert ended.wait(240)
    engine.end()
    assert not failed
    assert np.array_equal(pixels, fractals.render(drawn, device="cpu").pixels)


def test_threads_read_what_another_thread_has_copied():
    """The grid of `sampled` is copied by this thread; streams of others read it at once."""
    drawing = opened(scene(size=(96, 64)), "cuda", shading=False)
    counts = [np.empty((-(-64 // step), -(-96 // step)), np.int32) for step in (2, 4, 8, 2, 4, 8)]

    def draw(step, into):
        coarse = sampled(drawing, step)
        tiles = [Tile(0, y, into.shape[1], 1) for y in range(into.shape[0])]

        def take(tile, stop):
            coarse.backend.to_host(coarse.source.iterate(tile).count, into[tile.window()])
            return {}

        run(coarse, tiles, Sink(take))

    for step, into in zip((2, 4, 8, 2, 4, 8), counts, strict=True):
        draw(step, into)
    cpu = opened(scene(size=(96, 64)), "cpu", shading=False)
    for step, found in zip((2, 4, 8), counts, strict=False):
        expected = np.empty(found.shape, np.int32)
        source = sampled(cpu, step).source
        tile = Tile(0, 0, found.shape[1], found.shape[0])
        cpu.backend.to_host(source.iterate(tile).count, expected)
        assert np.array_equal(found, expected), step


@stand_in
@pytest.mark.parametrize("order", ["late", "random"])
def test_two_cards_and_late_streams(tmp_path, order):
    settings = {"cards": "h100,h100", "order": order}
    both = (*RENDER[:2], "cuda:all", *RENDER[3:])
    ended = command(tmp_path, *both, "--width", "1e-20", **settings)
    assert ended.returncode == 0, ended.stderr
    keys = {"size": (32, 18), "max_iterations": 200, "width": "1e-20"}
    assert np.array_equal(pixels_of(tmp_path), fractals.render(device="cpu", **keys).pixels)


@stand_in
@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13, 21])
def test_an_allocation_without_memory(tmp_path, number):
    """Once: what is unused is freed, and asked again. For good: one line."""
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    once = command(tmp_path, *RENDER, fail=f"cuMemAlloc:{number}:2")
    assert once.returncode == 0, once.stderr
    assert np.array_equal(pixels_of(tmp_path), expected)
    always = command(tmp_path, *RENDER, fail=f"cuMemAlloc:{number}-:2")
    if always.returncode:
        assert "the GPU is out of memory" in always.stderr.splitlines()[-1]
    assert "Traceback" not in once.stderr + always.stderr


@stand_in
@pytest.mark.parametrize(
    "fault",
    [
        *("kernel:1:700", "kernel:3:719", "copy:2:700", "cuLaunchKernelEx:2:719"),
        *("cuStreamSynchronize:1:719", "cuMemcpyHtoDAsync:3:700", "cuMemAlloc:4:46"),
    ],
)
def test_a_card_that_fails_is_one_line(tmp_path, fault):
    ended = command(tmp_path, *RENDER, fail=fault)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("fractals: the GPU failed: ")
    assert "run it again, or with --cpu" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ignored" not in ended.stderr

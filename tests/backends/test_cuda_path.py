"""The path to a GPU, on one: what it costs, several threads and cards.

Orders are those of the stand-in for NVIDIA's driver (tests/cuda_driver); on a true card the tests
that need them are skipped.
"""

import importlib
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import GPU
from support.cards import RENDER, command, pixels_of, stand_in
from support.drawings import opened
from support.limits import limit_tiles
from support.scenes import scene

import fractals
from fractals import catalog
from fractals.backends.base import Run
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView
from fractals.films.frames import FilmConstants
from fractals.films.motion import make_motion
from fractals.films.plan import make_frames
from fractals.films.strip import Strip
from fractals.rendering.drawing import (
    Sink,
    draw_all,
    empty_planes,
    pixel_sink,
    plane_sink,
    run,
    sampled,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.tiles import Tile

pytestmark = GPU.marks
DRAWN = {"size": (40, 36), "supersampling": 2}
DEEP = {"center": ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"]}


def blocks_of(backend):
    """Return the addresses of all memory that a backend's GPU has given to this process."""
    slots = backend.slot.gpu._slots
    return {address for slot in slots for address in slot.addresses()}


@pytest.mark.parametrize("keys", [DRAWN, {**DEEP, "width": "1e-20", "size": (32, 18)}])
def test_later_pictures_allocate_nothing(keys, monkeypatch):
    limit_tiles(monkeypatch, 640)
    pictures, blocks = [], []
    for _ in range(9):
        drawing = opened(scene(**keys), "cuda")
        pictures.append(draw_all(drawing))
        blocks.append(blocks_of(drawing.backend))
    # A thread that gets its first tile late allocates its own memory then, but not in each picture.
    assert any(before == after for before, after in pairwise(blocks))
    assert all(np.array_equal(picture, pictures[0]) for picture in pictures)


@pytest.mark.unwatched
@pytest.mark.parametrize("keys", [DRAWN, {**DEEP, "width": "1e-20", "size": (40, 36)}])
def test_a_tile_has_one_wait(keys, monkeypatch):
    limit_tiles(monkeypatch, 256)
    drawing = opened(scene(**keys), "cuda")
    driver, waits = drawing.backend.slot.driver, []
    wait = driver.cuStreamSynchronize
    monkeypatch.setattr(driver, "cuStreamSynchronize", lambda it: waits.append(wait(it)))
    pixels = np.empty((36, 40, 3), np.uint8)
    run(drawing, drawing.plan.tiles, pixel_sink(drawing, pixels))
    assert len(waits) == len(drawing.plan.tiles) > 4
    assert np.array_equal(pixels, fractals.render(scene(**keys), device="cpu").pixels)


@pytest.mark.parametrize("device", ["cuda", pytest.param("simulator", marks=pytest.mark.slow)])
def test_a_deep_tile_whose_samples_need_several_launches(device):
    """Pixels, counts and raw numbers are those of the last launch."""
    drawn = scene(**DEEP, width="1e-20", size=(24, 18), max_iterations=10000)
    drawing, launches = opened(drawn, device), []
    source, run_once = drawing.source, drawing.source.run
    source.view = source.view._replace(step_budget=20)
    source.run = Run(lambda *arguments: launches.append(run_once(*arguments)), run_once.loop)
    expected = opened(drawn, "cpu")
    pictures = [draw_all(each) for each in (drawing, expected)]
    assert len(launches) > 2 * len(drawing.plan.tiles)
    assert np.array_equal(*pictures)
    assert drawing.summary == expected.summary
    planes = [empty_planes(each) for each in (drawing, expected)]
    for each, into in zip((drawing, expected), planes, strict=True):
        run(each, each.plan.tiles, plane_sink(each, into))
    assert all(np.array_equal(planes[0][name], planes[1][name]) for name in planes[0])


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


# --- Times of kernels

HOST, TURNS = 0.05, 2**30  # seconds of the host in a work; turns of a GPU that take longer


@pytest.fixture
def figures(monkeypatch):
    """Return scripts/gpu_figures.py as a module."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "scripts"), *sys.path])
    return importlib.import_module("gpu_figures")


@stand_in
def test_a_kernel_is_timed_without_the_host(figures):
    """Launch, event, launch, event: a GPU that is still busy does not wait for the host."""
    backend = opened(scene(**DRAWN), "cuda").backend
    out = backend.to_device(np.zeros((8, 8), np.int32))
    busy, nothing = map(backend.compile, (figures.make_busy, figures.make_nothing))

    def work():
        time.sleep(HOST)
        nothing(out, out, np.int32(1))

    for program in busy, nothing:
        program(out, out, np.int32(1))  # compiles
    backend.synchronize()
    took, alone = backend.seconds(work, lambda: busy(out, out, np.int32(TURNS)))
    assert alone
    assert took < HOST
    took, alone = backend.seconds(work)
    assert not alone
    assert took >= 0.8 * HOST  # clocks of sleeps and of events differ


def test_a_gpu_is_kept_busy_until_all_is_queued(monkeypatch, figures):
    clock = figures.Clock(opened(scene(**DRAWN), "cuda").backend)
    turns = []

    def seconds(work, before):
        before()
        turns.append(clock._turns)
        return 1.0, clock._turns >= 2**18

    monkeypatch.setattr(clock._backend, "seconds", seconds)
    assert clock.median(lambda: None, 3) == (1.0, True)
    assert turns == [2**14, 2**16, 2**18, 2**18, 2**18, 2**18]


GROUPS = {"kleinian", "quasi_fuchsian"}
SOLIDS = [
    pytest.param(name, marks=[] if name in GROUPS else [pytest.mark.slow])
    for name in catalog.names("solid")
]


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_has_the_light_of_the_cpu(name):
    """A compiler that fuses a product and a sum, or makes an orbit begin elsewhere, changes it."""
    keys = {"formula": name, "size": (24, 15), "samples": 1, "bounces": 0, "supersampling": 1}
    drawn, expected = (fractals.render(**keys, device=device).pixels for device in ("cuda", "cpu"))
    assert np.array_equal(drawn, expected)

"""Tiles that compiled code takes from a queue: drawn as tile by tile, each once, till stopped."""

import threading

import numpy as np
import pytest
from support.drawings import opened
from support.limits import limit_tiles
from support.scenes import scene
from support.threads import end_by_themselves, in_a_thread

import fractals
from fractals.backends import machine_code
from fractals.backends.cpu import tile_loop
from fractals.backends.cpu.backend import CpuBackend
from fractals.errors import InputError
from fractals.rendering import drawing as compiled_tiles
from fractals.rendering import plan, tiles
from fractals.rendering.drawing import compiled_draws, draw_all
from fractals.threads import Queue

pytestmark = pytest.mark.skipif(
    not machine_code.FUSED or tile_loop.CLOCK is None, reason="this CPU goes from tile to tile"
)

SCENES = {
    "plain": {},
    "derivative": {"coloring": "distance"},
    "statistics": {"coloring": "stripe_average"},
    "statistics inside": {"coloring": "orbit_trap", "mask": "all"},
    "julia": {"julia": ("-0.8", "0.156")},
    "supersampling": {"supersampling": 3, "size": (31, 17)},
    "16 bits": {"bits": 16},
    "float32": {"precision": "float32", "max_iterations": 90},
    "a sample": {"size": (1, 1)},
}


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    """Compile the loop for the first picture too, as where it is stored."""
    monkeypatch.setattr(tile_loop, "is_stored", lambda *_: True)


@pytest.fixture
def joined(monkeypatch):
    """Small tiles; and what compiled code was made for."""
    found = []
    compile_tile_loop = CpuBackend.compile_tile_loop

    def note(*arguments):
        found.append(compile_tile_loop(*arguments))
        return found[-1]

    monkeypatch.setattr(CpuBackend, "compile_tile_loop", note)
    monkeypatch.setattr(tiles, "MIN_TILE", 64)
    limit_tiles(monkeypatch, 200)
    return found


def tile_by_tile(monkeypatch, function, *arguments, **options):
    with monkeypatch.context() as patch:
        patch.setattr(CpuBackend, "compile_tile_loop", lambda *_: None)
        return function(*arguments, **options)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", SCENES)
def test_pictures_are_those_of_tile_by_tile(monkeypatch, joined, kind, threads):
    drawn = scene(**({"size": (61, 43), "max_iterations": 300} | SCENES[kind]))
    options = {"device": "cpu", "threads": threads}
    image = fractals.render(drawn, **options)
    assert len(joined) == 1
    assert joined[0]
    expected = tile_by_tile(monkeypatch, fractals.render, drawn, **options)
    assert image.pixels.dtype == expected.pixels.dtype
    assert np.array_equal(image.pixels, expected.pixels)
    assert all(image.timings[stage] > 0 for stage in compiled_tiles.TILE_STAGES)


@pytest.mark.parametrize("strips", [True, False], ids=["strips", "rectangles"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "derivative", "julia", "supersampling", "float32"])
def test_raw_numbers_are_those_of_tile_by_tile(monkeypatch, joined, kind, threads, strips):
    """Counts of strips are written where they stay, those of rectangles are copied."""
    monkeypatch.setattr(tiles, "MIN_ROWS", 1 if strips else 999)
    drawn = scene(**({"size": (61, 43), "max_iterations": 300} | SCENES[kind]))
    first, second, *_ = plan.make_plan(drawn, "cpu", threads=threads).tiles
    assert (first.y < second.y) == strips
    options = {"device": "cpu", "threads": threads}
    raw = fractals.compute(drawn, **options)
    assert joined[0]
    expected = tile_by_tile(monkeypatch, fractals.compute, drawn, **options)
    for name, plane in expected.planes.items():
        assert raw.planes[name].tobytes() == plane.tobytes(), name
    assert raw.planes.keys() == expected.planes.keys()


@pytest.mark.parametrize("kind", ["derivative", "supersampling", "float32"])
def test_recolored_pictures_are_those_of_tile_by_tile(monkeypatch, joined, kind):
    drawn = scene(**({"size": (61, 43), "max_iterations": 300} | SCENES[kind]))
    options = {"device": "cpu", "threads": 3}
    raw = fractals.compute(drawn, **options)
    del joined[:]
    image = fractals.recolor(raw, palette="ember", **options)
    assert [bool(made) for made in joined] == [True]
    expected = tile_by_tile(monkeypatch, fractals.recolor, raw, palette="ember", **options)
    assert np.array_equal(image.pixels, expected.pixels)
    assert image.timings.keys() == expected.timings.keys()
    assert image.timings["iterate"] == 0 < image.timings["copy"]
    assert image.summary == expected.summary


@pytest.mark.unwatched  # who watches takes the tiles once more, and would find the count
@pytest.mark.parametrize("wrong", [-1, 31])
def test_no_loop_colors_a_wrong_count(joined, wrong):
    raw = fractals.compute(scene(size=(61, 43), max_iterations=30), device="cpu")
    raw.count[40, 5] = wrong
    del joined[:]
    with pytest.raises(InputError, match=f"a count of {wrong} is not from 0 to max_iterations"):
        fractals.recolor(raw, device="cpu")
    assert joined[0]


@pytest.mark.parametrize("of", ["a store", "arrays with gaps", "statistics"])
def test_what_is_not_in_plain_arrays_is_recolored_from_tile_to_tile(joined, tmp_path, of):
    keys = {"coloring": "stripe_average"} if of == "statistics" else {}
    raw = fractals.compute(scene(size=(61, 43), max_iterations=30, **keys), device="cpu")
    expected = fractals.recolor(raw, device="python").pixels
    if of == "a store":
        raw.save(tmp_path / "kept.fz")
        raw = fractals.EscapeData.load(tmp_path / "kept.fz")
    elif of == "arrays with gaps":
        raw.z = np.repeat(raw.z, 2, 1)[:, ::2]
    del joined[:]
    assert np.array_equal(fractals.recolor(raw, device="cpu").pixels, expected)
    assert not any(joined)


@pytest.mark.parametrize(
    "keys",
    [
        {"antialias": "jittered", "supersampling": 2},
        {"projection": "exponential"},
        {"coloring": "distance", "rotation": 30},
        {"center": ("-1.25" + 33 * "0", "0"), "width": "1e-30"},
        {"layers": [{"coloring": "smooth"}, {"coloring": "count"}]},
    ],
)
def test_what_needs_python_between_goes_from_tile_to_tile(joined, keys):
    image = fractals.render(
        scene(**({"size": (20, 12), "max_iterations": 50} | keys)), device="cpu"
    )
    assert not any(joined)
    assert image.pixels.shape == (12, 20, 3)


def test_the_first_picture_does_not_wait_for_the_loop(monkeypatch, joined):
    monkeypatch.setattr(tile_loop, "is_stored", lambda *_: False)
    monkeypatch.setattr(tile_loop, "wanted", set())
    drawn = scene(size=(61, 43), max_iterations=300)
    first, second = (fractals.render(drawn, device="cpu").pixels for _ in range(2))
    assert [bool(made) for made in joined] == [False, True]
    assert np.array_equal(first, second)


def drawing_of(**keys):
    return opened(scene(size=(64, 64), **keys))


def test_a_queue_gives_each_tile_once(joined):
    drawing = drawing_of()
    queue, pixels = Queue(len(drawing.plan.tiles)), np.zeros((64, 64, 3), np.uint8)
    plan, left = queue.total, np.array([64 * 64])
    works = [draw for _ in range(4) for draw in compiled_draws(drawing, drawing.plan.tiles)]
    threads = [threading.Thread(target=draw, args=(queue, pixels, 64, left)) for draw in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plan > 10
    assert queue.cells.tolist() == [plan, plan, plan, 0]
    assert left.tolist() == [0]


def test_tiles_beyond_the_limit_wait(joined):
    drawing = drawing_of()
    queue, pixels = Queue(len(drawing.plan.tiles)), np.zeros((64, 64, 3), np.uint8)
    (draw, *_), left = compiled_draws(drawing, drawing.plan.tiles), np.array([64 * 64])
    queue.allow(3)
    assert (queue.waiting, queue.left) == (3, queue.total)
    draw(queue, pixels, 64, left)
    drawn = sum(tile.width * tile.height for tile in drawing.plan.tiles[:3])
    assert (queue.waiting, queue.left) == (0, queue.total - 3)
    assert left[0] == 64 * 64 - drawn
    queue.stop()
    queue.allow(10)
    draw(queue, pixels, 64, left)
    assert (queue.waiting, queue.left) == (0, 0)
    assert left[0] == 64 * 64 - drawn


def test_rows_come_round_and_a_whole_band_ends_the_call(joined):
    drawing = drawing_of()
    expected = draw_all(drawing)
    queue, ring = Queue(len(drawing.plan.tiles)), np.zeros((32, 64, 3), np.uint8)
    (draw, *_), left = compiled_draws(drawing, drawing.plan.tiles), np.full(4, 16 * 64)
    seen = 0
    while queue.left:
        draw(queue, ring, 16, left)
        while seen < 4 and left[seen] == 0:
            rows = slice(16 * seen % 32, 16 * seen % 32 + 16)
            assert np.array_equal(ring[rows], expected[16 * seen :][:16])
            seen += 1
    assert seen == 4


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_sink_takes_the_tiles_that_are_listed(joined, device):
    drawing = opened(scene(size=(64, 64), max_iterations=30), device)
    expected = draw_all(drawing)
    pixels, listed = np.zeros_like(expected), drawing.plan.tiles[1:3]
    compiled_tiles.run(drawing, listed, compiled_tiles.pixel_sink(drawing, pixels))
    assert bool(any(joined)) == (device == "cpu")
    for tile in drawing.plan.tiles:
        wanted = expected[tile.window()] if tile in listed else 0
        assert (pixels[tile.window()] == wanted).all()


def test_ctrl_c_is_heard_between_tiles(joined):
    """Also by the threads, which would otherwise draw for minutes."""
    drawn = scene(size=(640, 640), max_iterations=10**6, center=("-0.1", "0.7"), width="0.02")

    def interrupt(done, tiles):
        if done < tiles:
            raise KeyboardInterrupt

    def render():
        fractals.render(
            drawn, device="cpu", threads=2, interior_shortcuts=False, progress=interrupt
        )

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        in_a_thread(render)
    assert end_by_themselves(before)

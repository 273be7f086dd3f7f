"""Pictures drawn into files: the same bytes as drawn whole, in little memory."""

import io
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from support.limits import limit_tiles
from support.scenes import scene
from support.threads import end_by_themselves, in_a_thread

import fractals
from fractals.io import png
from fractals.rendering import bands
from fractals.rendering import render as stream
from fractals.rendering.plan import make_plan
from fractals.rendering.tiles import MAX_BANDS


@pytest.fixture
def fine(monkeypatch):
    """Many small tiles, strips and bands in a small picture."""
    monkeypatch.setattr(png, "STRIP", 500)
    monkeypatch.setattr(png, "MIN_ROWS", 2)
    limit_tiles(monkeypatch, 64)


def whole(*sources, **options):
    return fractals.render(*sources, **options).encode()


def streamed(*sources, **options):
    file = io.BytesIO()
    stream.render_to(file, *sources, **options)
    return file.getvalue()


@pytest.mark.parametrize("bits", [8, 16])
def test_same_bytes_on_every_device(device, fine, bits):
    drawn = scene(size=(40, 33), bits=bits, dpi=300)
    assert len(range(0, 33, make_plan(drawn, device, keeps="bands").band)) > 3
    assert streamed(drawn, device=device) == whole(drawn, device="cpu")


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [(1, 1), (1, 50), (50, 1), (61, 47)])
def test_same_bytes_of_every_shape(fine, size, threads):
    drawn = scene(size=size, supersampling=2, compression="small")
    assert streamed(drawn, device="cpu", threads=threads) == whole(drawn, device="cpu")


def test_same_bytes_where_nothing_is_made_small():
    drawn = scene(size=(300, 700))
    assert streamed(drawn, device="cpu") == whole(drawn, device="cpu")


def test_files_of_every_type(tmp_path):
    drawn = scene()
    for suffix in ("png", "jpg", "tif", "ppm"):
        told = fractals.render_to(tmp_path / f"a.{suffix}", drawn, device="cpu")
        fractals.render(drawn, device="cpu").save(tmp_path / f"b.{suffix}")
        written = [(tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab"]
        assert written[0] == written[1]
        assert (told.device, told.precision, told.scene) == ("cpu", "float64", drawn)
        assert set(told.timings) > {"compile", "iterate", "encode"}


def test_progress_goes_on_over_all_bands(fine):
    seen = []
    streamed(scene(size=(40, 33)), device="cpu", progress=lambda *now: seen.append(now))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] > 20


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_few_bands_are_alive_however_slow_the_writing(monkeypatch, fine, device):
    most, held, undrawn, compress = 0, [], [], png.compress
    start = bands.Bands.__init__

    def remember(self, *arguments):
        start(self, *arguments)
        held.append(self)
        undrawn.append(self.pixels_left.copy())

    def slow(*arguments):
        nonlocal most
        seconds = 0.005 if most else 0.3  # the first strip takes longer than to draw all tiles
        begun = np.flatnonzero(held[0].pixels_left < undrawn[0])
        most = max(most, int(begun[-1]) + 1 - held[0]._first)
        time.sleep(seconds)
        return compress(*arguments)

    drawn = scene(size=(20, 150), max_iterations=2)
    expected = fractals.render(drawn, device=device).encode()
    monkeypatch.setattr(bands.Bands, "__init__", remember)
    monkeypatch.setattr(png, "compress", slow)
    assert streamed(drawn, device=device, threads=4) == expected
    assert 2 <= most <= MAX_BANDS


@pytest.mark.unwatched
def test_memory_is_that_of_the_bands(tmp_path):
    drawn = scene(size=(1000, 16000), max_iterations=1, coloring="count")
    plan = make_plan(drawn, threads=2, keeps="bands")
    fractals.render_to(tmp_path / "first.png", scene(coloring="count"), device="cpu")  # imports
    tracemalloc.start()
    try:
        fractals.render_to(tmp_path / "a.png", drawn, device="cpu", threads=2)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used < plan.memory + 2**21 < 3 * 1000 * 16000 / 1.5


class Full(io.BytesIO):
    """A file on a disk with little room."""

    def write(self, data):
        if self.tell() + len(data) > 3000:
            raise OSError(28, "No space left on device")
        return super().write(data)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_full_disk(fine, device):
    file = Full()
    with pytest.raises(OSError, match="No space"):
        stream.render_to(file, scene(size=(60, 60)), device=device)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_interruption_leaves_no_file_and_no_thread(tmp_path, fine, device):
    def interrupt(done, total):
        if done > total / 3:
            raise KeyboardInterrupt

    def render():
        path, drawn = tmp_path / "a.png", scene(size=(60, 90))
        fractals.render_to(path, drawn, device=device, progress=interrupt)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        in_a_thread(render)
    assert list(tmp_path.iterdir()) == []
    assert end_by_themselves(before)


def test_errors_of_compression_are_raised(monkeypatch, fine, device):
    def fail(*_):
        raise MemoryError("nothing left")

    monkeypatch.setattr(png, "compress", fail)
    with pytest.raises(MemoryError, match="nothing left"):
        streamed(scene(size=(40, 33)), device=device)


def test_existing_files_are_kept_where_asked(tmp_path):
    (tmp_path / "a.png").write_bytes(b"precious")
    with pytest.raises(fractals.FractalsError, match="exists already"):
        fractals.render_to(tmp_path / "a.png", scene(), device="cpu", overwrite=False)
    assert (tmp_path / "a.png").read_bytes() == b"precious"


def test_a_png_needs_no_pillow():
    script = (
        "import io, sys, fractals\n"
        "fractals.render_to(io.BytesIO(), {'image': {'size': [8, 6]}}, device='python')\n"
        "sys.exit('PIL' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0

"""Previews: when they are made, what they cost, what they show, and that no bit depends on them."""

import sys
import types

import numpy as np
import PIL.Image
import pytest
from support.scenes import scene

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.rendering import preview
from fractals.rendering.preview import SHARE, SIDE, Canvas, Onlooker, Screen, binned, step_of

SOLID = {"formula": "mandelbulb", "size": (24, 17), "bounces": 0, "supersampling": 1}
FLAME = {"formula": {"name": "clifford", "a": -1.5}, "size": (60, 40), "supersampling": 1}
PICTURES = {  # of each family, whose work takes several steps
    "tiles": {"size": (96, 64), "supersampling": 1, "max_iterations": 60},
    "tiles of 16 bits": {"size": (96, 64), "supersampling": 1, "max_iterations": 60, "bits": 16},
    "solid": {**SOLID, "samples": 40},
    "solid by need": {**SOLID, "samples": "auto", "quality": "draft"},
    "solid that glows": {**SOLID, "samples": 40, "bloom": 0.5},
    "flame": {**FLAME, "steps": 40, "quality": 60.0},
    "buddhabrot": {"formula": "buddhabrot", "size": (40, 30), "quality": 60.0, "supersampling": 1},
    "relief": {"heights": "distance", "size": (20, 14), "supersampling": 1, "samples": 40},
}


class Clock:
    """A clock that shows what a test says."""

    now = 0.0

    def __call__(self):
        return self.now


def watched(cost, seconds, step=0.05):
    """Return a watch that has seen a picture of some seconds, and the times of its previews.

    Each preview takes `cost` seconds.
    """
    clock, times = Clock(), []

    def show(image):
        times.append(clock.now)
        clock.now += cost

    watch = Onlooker(scene(), show, clock=clock)
    while clock.now < seconds:
        clock.now += step
        watch.offer(lambda: np.zeros((4, 6, 3), np.uint8))
    return watch, times


@pytest.mark.parametrize("cost", [0.001, 0.02, 0.4, 3.0])
def test_previews_come_at_growing_intervals_and_cost_little(cost):
    watch, times = watched(cost, 3000.0)
    assert times[0] >= preview.FIRST
    gaps = np.diff(times)
    assert len(times) >= 15
    assert (gaps[2:] > 0.9 * gaps[1:-1]).all()  # the first preview took an unknown time
    assert watch.shown == len(times)
    assert watch.spent == pytest.approx(cost * len(times))
    assert watch.spent <= SHARE * 3000.0
    for k, time in enumerate(times[1:], 2):  # at any time, but for a first one that takes long
        assert cost * k <= SHARE * time * (1 + 1e-9)


def test_a_short_picture_has_no_preview():
    assert watched(0.001, preview.FIRST - 0.1)[1] == []


def test_a_preview_of_many_numbers_waits_longer():
    clock, watch = Clock(), None
    shown = []
    watch = Onlooker(scene(), shown.append, clock=clock)
    clock.now = 4.0
    watch.offer(lambda: np.zeros((4, 6, 3), np.uint8), size=10**9)
    assert shown == []
    watch.offer(lambda: np.zeros((4, 6, 3), np.uint8), size=10**6)
    assert len(shown) == 1


@pytest.mark.parametrize("name", PICTURES)
def test_no_bit_depends_on_previews(name, eager, tmp_path):
    keys, shown = {**PICTURES[name], "device": "cpu"}, []
    plain = fractals.render(**keys)
    looked = fractals.render(**keys, preview=shown.append)
    assert np.array_equal(plain.pixels, looked.pixels)
    if name != "tiles":  # it takes less time than the first call for progress
        fractals.render_to(tmp_path / "a.png", **keys, preview=shown.append)
        fractals.render_to(tmp_path / "b.png", **keys)
        assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    for image in shown:
        assert image.size == plain.size  # smaller than a preview
        assert image.pixels.dtype == np.uint8
    if not name.startswith("tiles"):
        assert shown
        last, wanted = (np.asarray(each.to_pil(), float) for each in (shown[-1], plain))
        assert np.abs(last - wanted).mean() < 24  # with half of the samples


def test_a_preview_of_a_large_solid_is_its_mean(eager, monkeypatch):
    monkeypatch.setattr(preview, "SIDE", 12)
    keys, shown = {**SOLID, "samples": 40, "device": "cpu", "dither": False}, []
    whole = fractals.render(**keys, exposure=0.2, curve="clip", preview=shown.append)
    assert shown[-1].size == (12, 9)
    light = fractals.compute(**keys, exposure=0.2, curve="clip").sums
    assert whole.size == (24, 17)
    few = binned(light[:16], 2)
    brighter = few.sum() / few[..., 0].size
    assert brighter > 0
    # The order of brightness is that of the picture's squares
    ours = shown[-1].pixels[:8].astype(float).sum(axis=2).ravel()
    assert np.corrcoef(ours, few.sum(axis=2).ravel())[0, 1] > 0.9


def test_a_preview_of_a_part_has_the_vignette_of_the_whole(eager):
    seen = []
    part = {**SOLID, "size": (20, 18), "whole": "64x48+30+20", "vignette": 0.8, "samples": 20}
    drawn = fractals.render(preview=lambda image: seen.append(image.pixels), device="cpu", **part)
    assert np.abs(seen[-1].astype(int) - drawn.pixels).mean() < 0.5


def test_a_canvas_takes_rows_in_any_order():
    big = scene(size=(1921, 1083))
    step = step_of(big)
    assert -(-1921 // step) <= SIDE
    pixels = np.random.default_rng(7).integers(0, 256, (1083, 1921, 3), np.uint8)
    whole, parts = Canvas.of(big, pixels), Canvas(big)
    for top in (600, 0, 250, 1000):
        end = {600: 1000, 0: 250, 250: 600, 1000: 1083}[top]
        parts.put(pixels[top:end], top)
        if top == 600:
            half = parts.pixels()
    assert np.array_equal(parts.pixels(), whole)
    assert max(whole.shape) <= SIDE
    assert not half[:99].any()
    assert half[101:166].all(axis=2).mean() > 0.9


@pytest.mark.parametrize("size", [(2000, 1), (1, 2000), (3, 2000), (961, 5)])
def test_a_thin_picture_has_a_preview(size):
    thin = scene(size=size)
    pixels = np.full((size[1], size[0], 3), 200, np.uint8)
    found = Canvas.of(thin, pixels)
    assert (found == 200).all()
    assert min(found.shape[:2]) >= 1
    assert max(found.shape) <= SIDE


def test_the_canvas_of_16_bits_is_that_of_their_upper_half():
    big = scene(size=(64, 48))
    pixels = np.random.default_rng(8).integers(0, 2**16, (48, 64, 3), np.uint16)
    found = Canvas.of(big, pixels)
    assert np.array_equal(found, (pixels >> 8).astype(np.uint8))


def test_a_file_is_replaced(eager, tmp_path):
    path = tmp_path / "small.png"
    fractals.render(**PICTURES["solid"], device="cpu", preview=path)
    with PIL.Image.open(path) as picture:
        assert picture.size == (24, 17)
        first = np.asarray(picture)
    keys = {**PICTURES["solid"], "sun_power": 0.1, "sky": ("#000000",) * 3}
    fractals.render(**keys, device="cpu", preview=str(path))  # a preview may be replaced
    with PIL.Image.open(path) as picture:
        assert np.asarray(picture).mean() < first.mean()
    assert [each.name for each in tmp_path.iterdir()] == ["small.png"]


def test_a_file_of_another_kind_stays(tmp_path):
    path = tmp_path / "mine.png"
    fractals.render(size=(8, 6), device="python", max_iterations=9).save(path)
    before = path.read_bytes()
    with pytest.raises(FractalsError, match=r"mine.png' is there and is no preview"):
        fractals.render(size=(8, 6), device="python", max_iterations=9, preview=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("a.jpg", "'a.jpg': a preview is a PNG: end its name in .png"),
        ("no/such/a.png", "the folder 'no/such' does not exist"),
        (3, "preview=3: give the name of a PNG, a function, or False"),
    ],
)
def test_what_is_no_preview_is_one_line(given, said):
    with pytest.raises(FractalsError, match=said):
        fractals.render(size=(8, 6), device="python", preview=given)


def test_another_name_of_the_picture_is_not_its_preview(tmp_path):
    name = tmp_path / ".." / tmp_path.name / "a.png"
    with pytest.raises(OptionError, match="is the picture itself"):
        fractals.render_to(tmp_path / "a.png", size=(8, 6), preview=name)


def test_a_picture_is_not_its_preview(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=r"preview='a.png' is the picture itself: name another"):
        fractals.render_to(tmp_path / "a.png", size=(8, 6), device="python", preview="a.png")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_outlives_its_preview(eager, tmp_path, monkeypatch):
    """Where a preview can't be written, one line says so, and the picture goes on."""
    folder, lines = tmp_path / "gone", []
    folder.mkdir()
    made = preview.PreviewFile(folder / "a.png", lines.append)
    folder.rmdir()
    monkeypatch.setattr(preview, "PreviewFile", lambda path, tell: made)
    image = fractals.render(**PICTURES["solid"], device="cpu", preview="a.png")
    assert image.size == (24, 17)
    assert len(lines) == 1
    assert lines[0].startswith("no more previews: ")


def test_what_a_function_raises_ends_the_picture(eager):
    def fail(image):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        fractals.render(**PICTURES["solid"], device="cpu", preview=fail)


def test_other_functions_have_no_previews():
    for call in (fractals.compute, fractals.plan):
        with pytest.raises(OptionError, match="unknown keyword 'preview'"):
            call(size=(8, 6), preview=print)


# --- Notebooks, without one


class Handle:
    """What IPython returns of a display."""

    def __init__(self, log):
        self.log = log

    def update(self, shown, raw=False):
        self.log.append(("cleared", shown) if raw else ("updated", shown.data))


@pytest.fixture
def notebook(monkeypatch):
    """Return what the output of a notebook's cell would show."""
    log = []

    def show(picture, display_id):
        assert display_id is True
        log.append(("shown", picture.data))
        return Handle(log)

    module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    display.display, display.Image = show, lambda data: types.SimpleNamespace(data=data)
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return log


def test_a_notebook_shows_a_long_picture(eager, notebook):
    fractals.render(**PICTURES["solid"], device="cpu")
    kinds = [kind for kind, _ in notebook]
    assert kinds == ["shown", *["updated"] * (len(kinds) - 2), "cleared"]
    assert len(kinds) >= 3
    assert all(data[:4] == b"\x89PNG" for kind, data in notebook if kind != "cleared")
    assert notebook[-1][1] == {"text/plain": ""}


def test_a_notebook_shows_nothing_of_short_pictures(notebook):
    fractals.render(size=(8, 6), device="python", max_iterations=9)
    assert notebook == []


def test_false_shows_nothing(eager, notebook):
    fractals.render(**PICTURES["solid"], device="cpu", preview=False)
    assert notebook == []


def test_a_terminal_of_ipython_is_no_notebook(eager, notebook):
    sys.modules["IPython"].get_ipython = lambda: types.SimpleNamespace()
    fractals.render(**PICTURES["solid"], device="cpu")
    assert notebook == []


def test_a_screen_that_is_not_ready_is_asked_once(eager):
    class Blind(Screen):
        asked = ended = 0

        def ready(self):
            self.asked += 1
            return False

        def __call__(self, image):
            raise AssertionError

        def end(self):
            self.ended += 1

    blind = Blind()
    fractals.render(**PICTURES["solid"], device="cpu", preview=blind)
    assert (blind.asked, blind.ended) == (1, 1)

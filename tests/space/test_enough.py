"""As many samples as a pixel needs: equal bits everywhere, fewer in a sky, errors as promised."""

import numpy as np
import pytest
from support.scenes import slow_but
from support.shapes import BALL, solid_scene, tracing_of
from support.stores import contents

import fractals
from fractals.cli.verbs import run_verb as main
from fractals.errors import OptionError, SceneError
from fractals.explorer.pages import small
from fractals.explorer.shown import at_one_sample
from fractals.rendering.families import load_raw
from fractals.rendering.fit import curved_values
from fractals.rendering.plan import make_plan
from fractals.space import enough, plan, trace
from fractals.space.enough import WINDOW, Effort, Filling, around
from fractals.space.light import FIRST, GUIDES, ONE

KEYS = {"formula": {"name": "mandelbulb"}, "size": (12, 9), "bounces": 0, "device": "cpu"}
QUICK = {"good": (8.0, 6.0, 4), "draft": (0.5, 0.0, 1), "best": (16.0, 3.0, 4)}
EFFORT = Effort(8, 24.0, 4)


@pytest.fixture
def quick(monkeypatch):
    """Take 2, 4 or 8 samples, and few rays for a probe: plain Python takes a millisecond each."""
    for module in (plan, trace):
        monkeypatch.setattr(module, "PROBE", 5)
    monkeypatch.setattr(plan, "ENOUGH", QUICK)


def filled(scene, device, threads=None, rows=None):
    """Return the sums of pixels that have as many samples as they need, and how many on average."""
    tracing, (width, height) = tracing_of(scene, device, threads=threads), scene.image.size
    rows = rows or range(height)
    sums = np.zeros((len(rows), width, tracing.numbers), np.int64)
    tracing.fill(sums, rows, None)
    return sums, tracing.mean


def scene_of(**keys):
    return solid_scene(**{"samples": "auto", "supersampling": 1, "bounces": 0, **keys})


@pytest.mark.parametrize("denoise", slow_but([False], [False, True]))
def test_every_device_takes_the_same_samples(denoise, quick, monkeypatch):
    monkeypatch.setattr(plan, "TO_DENOISE", {"good": (8.0, 9.0, 4)})
    monkeypatch.setattr(plan, "find_spec", lambda name: True)
    scene = scene_of(denoise=denoise)
    expected, mean = filled(scene, "python")
    assert 4 < mean < 8
    for device, threads in (("cpu", 1), ("cpu", 3), ("simulator", None)):
        found, own = filled(scene, device, threads)
        assert np.array_equal(found, expected)
        assert own == mean


def test_rows_of_a_picture_stand_alone(quick):
    scene = scene_of(size=(20, 19))
    whole, _ = filled(scene, "cpu")
    for rows in (range(1), range(3, 14), range(18, 19)):
        assert np.array_equal(filled(scene, "cpu", rows=rows)[0], whole[rows.start : rows.stop])


def test_a_sky_takes_the_fewest_samples():
    sky = {"sun_power": 0, "sky": ("#808080",) * 3}
    scene = scene_of(formula=BALL, position=(0, -40, 0), field=30, **sky)
    _, mean = filled(scene, "cpu")
    assert 8 <= mean < 9  # the ball covers a pixel
    near = scene_of(formula=BALL, position=(0, -3, 0), field=30, **sky)
    assert filled(near, "cpu")[1] > 8.5


def test_neighbors_of_a_row_are_added_up():
    values = np.random.default_rng(3).integers(0, 99, (3, 31))
    for columns in (1, 4, 31):
        some = values[:, :columns]
        expected = [
            [row[max(0, k - WINDOW) : k + WINDOW + 1].sum() for k in range(columns)] for row in some
        ]
        assert np.array_equal(around(some), expected)


def test_the_error_is_about_what_was_asked_for():
    """Beside many samples; noise is that of one channel, so the mean error is less."""
    keys = {**KEYS, "size": (60, 40), "bounces": 1}
    true = fractals.render(**keys, samples=1024, bits=16).pixels.astype(float) / 257
    errors = {}
    for word in ("draft", "good", "best"):
        shown = fractals.render(**keys, quality=word, bits=16).pixels / 257
        errors[word] = np.abs(shown - true).mean()
    assert errors["best"] < 0.7
    assert errors["best"] < errors["good"] < 1.5 < errors["draft"]


def test_a_pixel_of_many_samples_may_keep_more_noise():
    effort = Effort(48, 1.5, 4, 0.25)
    assert [effort.allowed(n) for n in (4, 6, 8, 48)] == [1.5, 1.5, 2.0, 12.0]


@pytest.mark.parametrize(("direct", "goes_on"), [(True, True), (False, False)])
def test_half_of_the_noise_of_light_that_bounced_counts(direct, goes_on, monkeypatch):
    """The filter takes the other half; of light without a bounce it takes less."""
    monkeypatch.setattr(enough, "FEWEST", 0)
    judge = tracing_of(scene_of(), "cpu")._judge
    filling = Filling.of(np.zeros((1, 12, 3 + GUIDES), np.int64))
    brighter = iter((0.2, 0.5))

    def trace(sums, places, first, samples, bounce):
        light = round(next(brighter) * samples * ONE)
        sums[:, :3] += light
        if direct:
            sums[:, FIRST : FIRST + 3] += light

    for samples in ((0, 2), (2, 4)):
        judge.go_on(filling, np.zeros((1, 12, 2), np.int32), samples, EFFORT, trace)
    assert filling.active.all() == filling.active.any() == goes_on


@pytest.mark.parametrize(
    ("steady", "effort", "fewest"),
    [(True, EFFORT, 0), (False, EFFORT._replace(bounced=4), 0), (True, EFFORT, 12)],
)
def test_paths_end_at_the_surface_once_light_that_bounced_is_certain(
    steady, effort, fewest, monkeypatch
):
    """Or once as many as may have bounced; light that bounced then counts as if all had.

    But the first paths bounce, however much noise there is beside that of light that bounced.
    """
    monkeypatch.setattr(enough, "FEWEST", fewest)
    judge, bounced = tracing_of(scene_of(), "cpu")._judge, 0.1
    filling, calls = Filling.of(np.zeros((1, 12, 3 + GUIDES), np.int64)), []
    direct = iter((0.1, 2.0, 3.0))

    def trace(sums, places, first, samples, bounce):
        calls.append((first, bounce, len(sums)))
        light = round(next(direct) * samples * ONE)
        sums[:, FIRST : FIRST + 3] += light
        sums[:, :3] += light if bounce else 2**26
        if bounce:
            sums[:, :3] += round((bounced if steady or first else 9 * bounced) * samples * ONE)

    for samples in ((0, 2), (2, 4), (4, 8)):
        judge.go_on(filling, np.zeros((1, 12, 2), np.int32), samples, effort, trace)
    assert calls == [(0, True, 12), (2, True, 12), (4, fewest > 4, 12)]
    assert not filling.bouncing.any()
    later = filling.sums[..., :3] - filling.sums[..., FIRST : FIRST + 3]
    mean = bounced if steady else 5 * bounced
    assert np.allclose(later / (8 * ONE), mean, atol=1e-5)


@pytest.mark.parametrize(("change", "goes_on"), [(0.3, True), (0.02, False)])
def test_noise_of_a_few_samples_is_judged_as_that_of_more(change, goes_on, monkeypatch):
    """Its difference may be small by chance: so they bounce where it is not far below the limit."""
    judge, found = tracing_of(scene_of(), "cpu")._judge, []
    for fewest in (12, 0):
        monkeypatch.setattr(enough, "FEWEST", fewest)
        filling = Filling.of(np.zeros((1, 12, 3 + GUIDES), np.int64))
        light = iter((0.2, 0.2 + change))

        def trace(sums, places, first, samples, bounce, light=light):
            sums[:, :3] += round(next(light) * samples * ONE)

        for samples in ((0, 2), (2, 4)):
            judge.go_on(filling, np.zeros((1, 12, 2), np.int32), samples, EFFORT, trace)
        found.append(bool(filling.active.all()))
    assert found == [goes_on, False]


def test_without_guides_all_paths_of_a_pixel_bounce(quick, monkeypatch):
    """So there are no more than may bounce: a store that is to be denoised has no guides."""
    monkeypatch.setattr(plan, "TO_DENOISE", {"good": (16.0, 1e-3, 4)})
    monkeypatch.setattr(plan, "BOUNCING", {"good": 8.0})
    monkeypatch.setattr(plan, "RISING", {})
    monkeypatch.setattr(plan, "find_spec", lambda name: True)
    tracing = tracing_of(scene_of(denoise=True), "cpu")
    tracing.fill(np.zeros((7, 9, 3), np.int64), range(7), None)
    assert 4 < tracing.mean <= 8


def test_the_time_of_a_path_is_that_of_its_rays(quick, monkeypatch):
    """By counts, so it is the same on every device; more bounces and finer steps take longer."""
    scene = solid_scene(formula="mandelbulb", bounces=1)
    price = tracing_of(scene, "cpu").price()
    assert tracing_of(scene, "python").price() == price
    assert price < tracing_of(scene.replace(bounces=3), "cpu").price()
    assert price < tracing_of(scene.replace(ray_step=0.4), "cpu").price()


def test_dear_paths_leave_more_noise(quick, monkeypatch):
    monkeypatch.setattr(plan, "find_spec", lambda name: True)
    scene = solid_scene(formula="mandelbulb", samples="auto", denoise=True)
    tracing = tracing_of(scene, "cpu")
    usual = tracing.plan.effort.rising
    assert usual > 0
    price = tracing.price()
    for ratio, noise in ((1.0, 1.0), (0.9, 0.81), (0.1, trace.CHEAPEST), (9.0, trace.DEAREST)):
        monkeypatch.setattr(trace, "USUAL", price / ratio)
        assert tracing_of(scene, "cpu").effort.rising == pytest.approx(noise * usual)


def test_rounds_end_with_the_most_samples():
    assert Effort(64, 2.5).rounds == (4, 8, 12, 16, 24, 32, 48, 64)
    assert Effort(50, 2.5, 4).rounds == (2, 4, 8, 12, 16, 24, 32, 48, 50)
    assert Effort(5, 0.0).rounds == (5,)
    steps, done = [], 0
    while done < 24:
        done = Effort(24, 2.5).after(done)
        steps.append(done)
    assert steps == [1, 2, 4, 8, 12, 16, 24]


def test_stores_and_pictures_agree(quick, tmp_path):
    """Also after an interruption, in parts, and with another development."""
    scene = {**KEYS, "supersampling": 1}
    picture = fractals.render(**scene)
    assert picture.scene.light.samples == "auto"
    assert "samples a pixel, at most 8" in str(picture.summary)
    raw = fractals.compute(**scene)
    for keys in ({}, {"exposure": 2.0}):
        shown = fractals.recolor(raw, **keys, device="cpu")
        assert np.array_equal(shown.pixels, fractals.render(**scene, **keys).pixels)
        assert shown.scene.light.samples == "auto"
    raw.save(tmp_path / "raw.fz")
    path, left = tmp_path / "a.fz", [3]

    def stop(done, total):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fractals.compute_to(path, **scene, threads=1, progress=stop)
    fractals.compute_to(path, **scene)
    assert contents(path) == contents(tmp_path / "raw.fz")
    for part in (1, 0):
        fractals.compute_to(tmp_path / "b.fz", part=(part, 2), **scene)
    fractals.compute_to(tmp_path / "b.fz", **scene)
    assert contents(tmp_path / "b.fz") == contents(path)
    for keys in ({"samples": 20}, {"quality": "best"}):
        with pytest.raises(OptionError, match=r"light\.samples differs: name another store"):
            fractals.compute_to(path, **scene, **keys)


def test_a_store_of_a_draft_goes_on_with_more_samples(quick, tmp_path):
    scene = {**KEYS, "supersampling": 2}
    fractals.compute_to(tmp_path / "a.fz", **scene, quality="draft")
    drawn = fractals.render(**scene, quality="draft")
    fractals.compute_to(tmp_path / "a.fz", **scene, samples=5)
    fractals.compute_to(tmp_path / "b.fz", **scene, samples=5)
    more, whole = (load_raw(tmp_path / name) for name in ("a.fz", "b.fz"))
    assert np.array_equal(more.sums, whole.sums)
    shown = fractals.recolor(more, device="cpu").pixels
    assert np.array_equal(shown, fractals.render(**scene, samples=5).pixels)
    assert not np.array_equal(shown, drawn.pixels)


def test_a_picture_in_the_explorer_ends_with_the_same_pixels(quick):
    from fractals.backends.devices import choose, open_backend
    from fractals.rendering.families import family_of
    from fractals.rendering.options import RenderOptions

    keys = {key: value for key, value in KEYS.items() if key != "device"}
    scene = fractals.load_scene(**keys, supersampling=1)
    device = choose("cpu").device
    refined = family_of(scene).refine(
        scene, RenderOptions(device="cpu"), lambda precision: open_backend(device, precision, 1)
    )
    *_, last = [each for each in refined.pictures() if each]
    assert last.exact
    assert last.said == "8 of 8 samples"
    assert np.array_equal(last.pixels, fractals.render(scene, device="cpu").pixels)


def test_a_quality_in_words_is_for_every_family(capsys):
    def planned(**keys):
        return fractals.plan(**keys, size=(400, 300), device="cpu")

    for keys, counts in (
        ({"formula": "mandelbrot"}, (1, 4, 16)),
        ({"formula": "mandelbulb"}, (2, 128, 1024)),
        ({"formula": "mandelbulb", "samples": 7}, (7, 7, 7)),
    ):
        found = [planned(**keys, quality=word).samples for word in ("draft", "good", "best")]
        assert found == [count * 120_000 for count in counts]
    for formula, least in (("flame", 5), ("clifford", 5), ("buddhabrot", 1)):
        draft, good, best = (
            planned(formula=formula, quality=word).samples for word in ("draft", "good", "best")
        )
        assert least * 120_000 <= draft < good < best
    paths = [
        planned(formula="mandelbrot", heights="smooth", quality=word).paths
        for word in ("draft", "good", "best")
    ]
    assert paths == [2 * 120_000, 64 * 120_000, 256 * 120_000]
    assert planned(formula="flame", quality=7).samples >= 7 * 120_000
    for wrong in ("fine", 0, True, -1):
        with pytest.raises(SceneError, match="is not draft, good, best, or a number more than 0"):
            fractals.load_scene(quality=wrong)
    for wrong in ([1, 2], np.array([1, 2])):
        with pytest.raises(SceneError, match="is not draft, good, best, or a number more than 0"):
            fractals.load_scene(quality=wrong)
    assert main(["render", "--formula", "mandelbulb", "--quality", "draft", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "by quality" in out
    assert "best about" in out
    assert "not used here" not in err


def test_a_number_of_samples_replaces_the_word_of_escape_time():
    for word in ("draft", "best"):
        scene = fractals.load_scene({"formula": "mandelbrot"}, quality=word, size=(40, 24))
        for n in (1, 3):
            counts = fractals.compute(scene.replace(supersampling=n), device="cpu").count
            assert counts.shape == (24 * n, 40 * n)
        assert make_plan(at_one_sample(scene)).supersampling == 1
        assert make_plan(small(scene)).supersampling == 1
        good = curved_values(scene.replace(quality="good"))  # of one sample a pixel
        assert np.array_equal(curved_values(scene), good)
        solid = scene.replace(formula="mandelbulb").replace(supersampling=1)
        assert solid.scatter.quality == word

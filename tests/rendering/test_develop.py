"""[develop]: exposure, curve, bloom, vignette and grain, of every family and on every device."""

import io
import json
import math

import numpy as np
import pytest
from support.scenes import scene, slow_but

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.color.palette import linear_from_srgb, srgb_from_linear
from fractals.errors import OptionError, SceneError
from fractals.rendering.develop import Developer
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import family_of

ALL = {"exposure": 1.7, "curve": "filmic", "bloom": 0.7, "bloom_threshold": 0.2, "vignette": 0.6}
ALL |= {"grain": 0.1}
POINTWISE = {key: value for key, value in ALL.items() if not key.startswith("bloom")}
FLAME = {
    "name": "flame",
    "transforms": [
        {"affine": [0.5, 0, 0.4, 0, 0.5, 0.1], "variations": {"linear": 1}},
        {"affine": [0.6, 0.2, -0.3, -0.2, 0.6, 0.2], "variations": {"spherical": 0.5}, "color": 1},
    ],
}
SCENES = {
    "escape": scene(),
    "scatter": scene(FLAME, coloring="smooth", quality=1, steps=8, fuse=0, estimator_radius=1),
    "solid": scene("mandelbulb", coloring="smooth", samples=1, max_iterations=4),
}


@pytest.fixture(params=SCENES)
def plain(request):
    """Return a scene of each family."""
    return SCENES[request.param]


def drawn(given, device="cpu", **keys):
    return fractals.render(given, device=device, **keys).pixels


def developed(light, device="cpu", **keys):
    """Return the pixels of light, of 16 bits."""
    given = scene(size=light.shape[1::-1], bits=16, **keys)
    return Developer(open_backend(choose(device).device, "float64", 2), given).pixels(light.copy())


def gray(values):
    """Return one row of gray light."""
    return np.repeat(np.array(values, np.float32)[None, :, None], 3, axis=2)


def test_every_device_gives_the_same_bits(plain, device):
    given = plain.replace(**ALL, bits=16, size=(7, 5))
    assert np.array_equal(drawn(given, device), drawn(given, "python"))


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_every_device_develops_light_alike(device, real):
    light = (np.random.default_rng(1).random((3, 29, 3)) ** 3 * 4).astype(real)  # 87: two packs
    for keys in ({}, ALL, {"curve": "filmic", "exposure": 2}):
        assert np.array_equal(developed(light, device, **keys), developed(light, "python", **keys))


def test_threads_and_bands_are_not_seen(plain):
    """A file drawn in bands is the picture, and so is one that glows, which is drawn whole."""
    for keys in (POINTWISE, ALL):
        given = plain.replace(**keys, size=(50, 150))
        image = fractals.render(given, device="cpu", threads=1)
        file = io.BytesIO()
        fractals.render_to(file, given, device="cpu", threads=3)
        assert file.getvalue() == image.encode()


SKY = {"formula": "mandelbulb", "position": (9, 0, 0), "target": (99, 0, 50), "samples": 1}


def sky(device="cpu", **keys):
    """Return a picture of a solid's sky, in which light grows evenly."""
    given = {"size": (40, 90), "max_iterations": 4, "bounces": 0, **SKY, **keys}
    return fractals.render(**given, device=device).pixels


def test_a_smooth_sky_has_no_bands(device):
    """Rows of 8 bits are right on average, and columns change their value often."""
    flat = {"field": 10}
    fine, plain, dithered = sky(bits=16, **flat) / 257, sky(dither=False, **flat), sky(**flat)
    assert np.abs(dithered.mean(axis=1) - fine.mean(axis=1)).max() < 0.2
    assert np.abs(plain.mean(axis=1) - fine.mean(axis=1)).max() > 0.3
    assert np.abs(dithered - fine).max() < 1
    longest = [max(len(run) for run in runs(each[:, 20, 1])) for each in (plain, dithered)]
    assert longest[1] < 0.7 * longest[0]
    small = {"size": (9, 7)}
    assert np.array_equal(sky(device, **small), sky("python", **small))


def runs(values):
    """Return the parts of a row whose values are equal."""
    return np.split(values, np.flatnonzero(np.diff(values.astype(int))) + 1)


def test_dithering_leaves_black_and_white_and_whole_steps():
    levels = np.arange(256) / 255
    light = np.float32(linear_from_srgb(levels))
    light = np.repeat(np.repeat(light[None, :, None], 64, axis=0), 3, axis=2)
    given = fractals.load_scene(**SKY, size=(256, 64), curve="clip", exposure=1)
    backend = open_backend(choose("cpu").device, "float32", 1)
    shown = Developer(backend, given).pixels(light.copy()).astype(int)
    assert (shown[:, 0] == 0).all()
    assert (shown[:, 255] == 255).all()
    assert np.abs(shown.mean(axis=(0, 2)) - np.arange(256)).max() < 0.05
    for other in (scene(), given.replace(dither=False), given.replace(bits=16)):
        plain = Developer(backend, other.replace(size=(256, 64), curve="clip", exposure=1))
        assert (np.ptp(plain.pixels(light.copy()).astype(int), axis=0) == 0).all()


def test_recolor_develops_raw_numbers():
    given = scene(supersampling=2)
    raw = fractals.compute(given, device="cpu")
    for keys in (POINTWISE, ALL):
        recolored = fractals.recolor(raw, device="cpu", **keys)
        assert np.array_equal(recolored.pixels, drawn(given, **keys))
        file = io.BytesIO()
        fractals.recolor_to(file, raw, device="cpu", **keys)
        assert file.getvalue() == recolored.encode()


@pytest.mark.parametrize("antialias", slow_but(["jittered"], ["jittered", "adaptive"]))
def test_jittered_samples_are_developed(antialias):
    given = scene(supersampling=2, antialias=antialias)
    light = linear_from_srgb(drawn(given, bits=16) / 65535).astype(np.float32)
    found = drawn(given, bits=16, vignette=1.0, curve="filmic")
    assert np.abs(found.astype(int) - developed(light, vignette=1.0, curve="filmic")).max() <= 2


def test_layers_are_developed():
    layers = [{"coloring": "slopes", "palette": "ember", "blend": "soft_light"}]
    given = scene(layers=layers)
    light = linear_from_srgb(drawn(given, bits=16) / 65535).astype(np.float32)
    found = drawn(given, bits=16, exposure=0.5)
    assert np.abs(found.astype(int) - developed(0.5 * light)).max() <= 2


def test_what_is_not_asked_for_is_not_in_the_scene(plain):
    assert "develop" not in plain.to_table()
    assert plain.replace(exposure="auto", curve="auto") == plain
    assert json.loads(plain.replace(bloom=0.5).to_json())["develop"]["bloom"] == 0.5
    if plain.make_any_formula().family != "solid":
        usual = plain.replace(exposure=1, curve="clip")
        assert np.array_equal(drawn(usual), drawn(plain))


def test_exposure_is_read_where_it_was():
    """Scenes in pictures of before have the exposure of a solid in another table."""
    old = {"formula": "mandelbulb", "light": {"exposure": 1.2, "haze": 0.3}}
    assert fractals.load_scene(old).develop.exposure == 1.2
    assert fractals.load_scene(old).light.haze == 0.3
    assert fractals.load_scene(old, exposure=2).develop.exposure == 2
    assert fractals.load_scene({"light": {"exposure": 0.7}}) == fractals.load_scene({})
    with pytest.raises(SceneError, match=r"^develop.exposure: '-1' is not 'auto' or a number"):
        fractals.load_scene({"light": {"exposure": -1}})


def test_curves_are_those_of_textbooks():
    """The curves are those of textbooks; clip is today's."""
    values = np.array([0, 0.001, 0.18, 0.5, 1, 3, 50])
    found = developed(gray(values), curve="clip")[0, :, 0]
    expected = 65535 * srgb_from_linear(values.clip(0, 1))
    assert np.abs(found - expected).max() < 1
    bent = (values * (2.51 * values + 0.03)) / (values * (2.43 * values + 0.59) + 0.14)
    found = developed(gray(values), curve="filmic")[0, :, 0]
    assert np.abs(found - 65535 * srgb_from_linear(bent.clip(0, 1))).max() < 1


def test_exposure_is_a_factor_of_light():
    light = linear_from_srgb(drawn(scene(), bits=16) / 65535)
    expected = 65535 * srgb_from_linear((light * 0.25).clip(0, 1))
    assert np.abs(drawn(scene(), bits=16, exposure=0.25) - expected).max() < 2


def test_a_vignette_darkens_the_corners():
    light = np.full((31, 41, 3), 0.5, np.float32)
    found = linear_from_srgb(developed(light, vignette=0.8)[..., 0] / 65535)
    assert found[15, 20] == pytest.approx(0.5, abs=1e-3)
    assert found[0, 0] == pytest.approx(0.5 * 0.2, rel=0.1)
    assert np.array_equal(found, found[::-1, ::-1])
    assert (np.diff(found[15, 20:]) <= 0).all()


def test_grain_is_noise_of_the_pixel():
    """It has the deviation that the scene says, and leaves black and white as they are."""
    middle = float(linear_from_srgb(0.5))
    found = developed(np.full((200, 200, 3), middle, np.float32), grain=0.05) / 65535
    assert (found[..., 0] == found[..., 2]).all()
    assert found.mean() == pytest.approx(0.5, abs=1e-3)
    assert found.std() == pytest.approx(0.05, rel=0.02)
    across = np.corrcoef(found[:, 1:, 0].ravel(), found[:, :-1, 0].ravel())[0, 1]
    assert abs(across) < 0.02
    ends = developed(gray([0, 1, 7]), grain=1.0)[0, :, 0]
    assert ends.tolist() == [0, 65535, 65535]


def test_a_glow_keeps_the_light_and_is_round():
    light = np.zeros((96, 96, 3), np.float32)
    lit = slice(40, 56), slice(40, 56)
    light[lit] = 1.0
    found = linear_from_srgb(developed(light, bloom=0.5, bloom_threshold=0.0)[..., 0] / 65535)
    assert np.allclose(found, found[::-1], atol=1e-4)
    assert np.allclose(found, found.T, atol=1e-4)
    glow = 0.5 * developed_glow(light)
    assert np.allclose(found, (light[..., 0] + glow).clip(0, 1), atol=0.01)
    dark = np.full((9, 9, 3), 0.5, np.float32)
    assert np.array_equal(developed(dark, bloom=1.0, bloom_threshold=0.5), developed(dark))


def developed_glow(light):
    """Return the mean of Gaussians of the usual widths, by sums over all pixels."""
    total, at = np.zeros(light.shape[:2]), np.arange(len(light))
    for octave in range(5):
        width = 0.06 * len(light) / 2**octave
        weights = np.exp(-((at[:, None] - at) ** 2) / (2 * width**2))
        weights /= weights.sum(axis=1, keepdims=True)
        total += weights @ light[..., 0] @ weights.T / 5
    return total


def test_a_glow_is_as_wide_at_every_size():
    """A preview looks as the picture does, and a poster: the radius is in heights."""

    def glow(n):
        light = np.zeros((n, n, 3), np.float32)
        light[3 * n // 8 : 5 * n // 8, 3 * n // 8 : 5 * n // 8] = 4.0
        found = developed(light, bloom=0.3, curve="filmic")[..., 0] / 65535
        return found.reshape(16, n // 16, 16, n // 16).mean(axis=(1, 3))

    small, large = glow(64), glow(512)
    assert np.abs(small - large).max() < 0.03


@pytest.mark.parametrize("name", slow_but(["solid"], ["scatter", "solid"]))
def test_a_refinement_ends_in_the_picture(name):
    given = SCENES[name].replace(**ALL)
    backend = open_backend(choose("cpu").device, "float32", 1)
    made = family_of(given).refine(given, RenderOptions(device="cpu"), lambda _: backend)
    made.prepare()
    last = [each for each in made.pictures() if each][-1]
    assert last.exact
    assert np.array_equal(last.pixels, drawn(given))


def test_light_of_flames_is_brighter_than_white():
    """A flame's light is not cut off before it is exposed."""
    given = SCENES["scatter"].replace(brightness=60, quality=20, bits=16)
    bright = drawn(given) == 65535
    assert bright.sum() > 10
    assert len(np.unique(drawn(given, exposure=0.02)[bright])) > 10


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"exposure": 0}, "exposure: '0' is not 'auto' or a number more than 0, at most 1e\\+06"),
        ({"exposure": math.nan}, "exposure"),
        ({"curve": "log"}, "curve: 'log' is not 'auto', 'clip' or 'filmic'"),
        ({"bloom": -1}, "bloom: '-1' is not 0 or more"),
        ({"bloom_radius": 0}, "bloom_radius: '0' is not more than 0"),
        ({"vignette": 2}, "vignette: '2' is not 1 or less"),
        ({"grain": "x"}, "grain: 'x' is not a number"),
    ],
)
def test_bad_values_are_named(keys, said):
    with pytest.raises(SceneError, match=said):
        scene(**keys)


def test_parts_that_do_not_see_each_other_are_refused(monkeypatch, tmp_path):
    with pytest.raises(OptionError, match="bloom needs the light of the whole picture"):
        fractals.render_to(tmp_path / "a.png", scene(), cluster="local:1", bloom=1)
    from fractals.scatter import plan

    given = SCENES["scatter"].replace(size=(64, 512), bloom=1)
    monkeypatch.setattr(plan.ScatterPlan, "bands", 2)
    with pytest.raises(OptionError, match="bloom needs the light of the whole picture"):
        fractals.render_to(tmp_path / "a.png", given, device="cpu")


def test_the_plan_says_what_is_done_to_light(run):
    """And how much memory the light of the whole picture takes."""
    asked = ["render", "mandelbrot", "--cpu", "--max-iterations", "99", "--dry-run"]
    plain, glowing = (
        run(*asked, *more)[1].decode() for more in ((), ("--bloom", "0.4", "--vignette", "0.2"))
    )
    assert "develop" not in plain
    assert "develop            exposure 1.0, curve clip, bloom 0.4, vignette 0.2" in glowing
    memory = [int(text.split("memory")[1].split()[0]) for text in (plain, glowing)]
    assert memory[1] - memory[0] > 48 * 1920 * 1080 / 2**20

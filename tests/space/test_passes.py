"""Channels of an EXR of a solid: places in space, and the parts of the light."""

import json

import numpy as np
import pytest
from support.shapes import BALL, solid_scene, sums_of, tracing_of

import fractals
from fractals.backends.python import PythonBackend
from fractals.cli.verbs import run_verb as main
from fractals.space import light as lights
from fractals.space import march, paths
from fractals.space.passes import places_at

CAMERA = {"position": (3.0, -4.0, 2.0), "roll": 20, "size": (12, 6), "samples": 1}
CAMERAS = {
    "plain": {},
    "part": {"size": (5, 3), "whole": "12x6+6+2"},
    "pair": {"stereo": 0.2, "focus": 3.0},
    "eye": {"stereo": 0.2, "focus": 3.0, "eye": "right", "size": (6, 6)},
    "panorama": {"panorama": True},
    "panoramas": {"panorama": True, "stereo": 0.2, "focus": 3.0, "size": (12, 12)},
}


@pytest.mark.parametrize("name", CAMERAS)
def test_places_lie_on_the_rays_of_pixels(name):
    scene = solid_scene(BALL, **CAMERA | CAMERAS[name])
    tracing = tracing_of(scene, number="float64")
    ahead = march.make_ahead(PythonBackend("float64").target)
    camera, (left, top) = tracing.shot.camera.tolist(), tracing.plan.corner
    width, height = scene.image.size
    depth = np.random.default_rng(1).uniform(0.5, 9, (height, width))
    expected = np.empty((height, width, 3))
    for j in range(height):
        for i in range(width):
            o, d = ahead(left + i + 0.5, top + j + 0.5, 0.0, 0.0, camera)
            expected[j, i] = np.array(o) + depth[j, i] * np.array(d)
    np.testing.assert_allclose(places_at(tracing, depth), expected, atol=1e-12)


def channels(path, scene):
    exr = pytest.importorskip("OpenEXR")
    fractals.render_to(path, scene, device="cpu")
    with exr.File(str(path), separate_channels=True) as file:
        return {name: channel.pixels for name, channel in file.channels().items()}


def color(planes, name):
    return np.stack([planes[f"{name}.{each}"] for each in "RGB"], axis=2)


LOW = -0.5, 0.3, 0.2  # a sun that leaves shadows behind hills
LIT = {"emission": 2.0, "emission_width": 0.5, "haze": 0.4, "samples": 3, "bounces": 2}


def test_sun_sky_and_emission_add_up_to_the_light(tmp_path):
    scene = solid_scene("mandelbox", **LIT, size=(24, 16), relight=True)
    planes = channels(tmp_path / "a.exr", scene)
    light = np.stack([planes[name] for name in "RGB"], axis=2)
    exposure = tracing_of(scene, "cpu").developer.exposure
    plain = sums_of(scene, "cpu", last=3) / lights.ONE / 3 * exposure
    np.testing.assert_allclose(light, plain, rtol=1e-6)  # as without the parts
    parts = {name: color(planes, name) for name in ("sun", "sky", "emission")}
    np.testing.assert_allclose(sum(parts.values()), light, atol=2e-5)
    for name, keys in {
        "sun": {"sky": ("#000", "#000", "#000"), "emission": 0.0},
        "sky": {"sun_power": 0.0, "emission": 0.0},
        "emission": {"sun_power": 0.0, "sky": ("#000", "#000", "#000")},
    }.items():
        alone = sums_of(scene.replace(**keys), "cpu", last=3) / lights.ONE / 3 * exposure
        assert alone.max() > 0.1
        np.testing.assert_allclose(parts[name], alone, atol=2e-5)


def test_the_suns_light_is_direct_or_kept_off_by_a_shadow(tmp_path, monkeypatch):
    """Without haze, glow and bounces the sun's light is direct, and without shadows it is both."""
    keys = {"samples": 3, "bounces": 0, "haze": 0.0, "gloss": 1.0, "sky": ("#000", "#000", "#000")}
    scene = solid_scene("amazing_surf", **keys, sun=LOW, size=(9, 6), relight=True)
    monkeypatch.setattr("fractals.space.plan.GLOW", 0.0)
    planes = channels(tmp_path / "a.exr", scene)
    light = np.stack([planes[name] for name in "RGB"], axis=2)
    direct, shadow = color(planes, "direct"), color(planes, "shadow")
    np.testing.assert_allclose(direct, light, atol=2e-5)
    assert (shadow > 0.1).mean() > 0.05
    assert not shadow[planes["Z"] == np.float32(lights.NOWHERE)].any()

    honest = paths.make_walk

    def shadowless(target, walk):
        walked = honest(target, walk)

        def walks(wait, *others):
            """Meet nothing on the way to the sun."""
            found = walked(wait, *others)
            return (*found[:5], found[5] and wait != paths.SHADE)

        return walks

    monkeypatch.setattr(paths, "make_walk", shadowless)
    lit = sums_of(scene, "python", last=3) / lights.ONE / 3
    lit *= tracing_of(scene).developer.exposure
    np.testing.assert_allclose(direct + shadow, lit, atol=2e-4)
    shared = {"sky": ("#fff", "#456", "#876"), "emission": 2.0, "haze": 0.3, "bounces": 2}
    scene = scene.replace(**shared)
    planes = channels(tmp_path / "b.exr", scene)
    assert (color(planes, "sun") - color(planes, "direct") > -2e-5).all()
    assert (color(planes, "sun") - color(planes, "direct")).max() > 0.01


def test_haze_is_that_of_the_samples(tmp_path):
    """All light is haze where nothing else gives any: on a black surface without a sun."""
    keys = {**LIT, "emission": 0.0, "sun_power": 0.0, "bounces": 0, "samples": 16}
    scene = solid_scene("mandelbox", **keys, palette=("#000", "#000"), size=(24, 16), relight=True)
    planes = channels(tmp_path / "a.exr", scene)
    light = np.stack([planes[name] for name in "RGB"], axis=2)
    seen = planes["Z"] < lights.NOWHERE
    inner = seen.copy()  # no sample of these pixels sees the sky
    for axis in (0, 1):
        inner &= np.roll(seen, 1, axis) & np.roll(seen, -1, axis)
    assert inner.mean() > 0.1
    np.testing.assert_allclose(color(planes, "haze")[inner], light[inner], atol=2e-5)
    assert color(planes, "haze")[inner].min() > 0.001
    assert not color(planes, "haze")[:2, :2].any()  # the sky has none
    assert planes["haze"][0, 0] == 1
    at_middles = channels(tmp_path / "b.exr", scene.replace(relight=False))["haze"]
    assert np.abs(planes["haze"] - at_middles)[inner].mean() < 0.02
    edge = seen & ~inner
    assert np.abs(planes["haze"] - at_middles)[edge].max() > 0.1


def test_haze_dims_what_shines_as_it_dims_all_light(tmp_path):
    """A black surface sends no light but what shines; of its only path the haze takes a part."""
    keys = {"bounces": 0, "samples": 1, "gloss": 4.0, "palette": ("#000", "#000")}
    scene = solid_scene("mandelbox", **keys, sun=LOW, haze=0.6, size=(24, 16), relight=True)
    hazy = channels(tmp_path / "a.exr", scene)
    clear = channels(tmp_path / "b.exr", scene.replace(haze=0.0))
    shines = color(clear, "direct")
    assert (shines > 0.1).any()
    seen = hazy["Z"] < lights.NOWHERE
    assert np.ptp(hazy["haze"][seen]) > 0.2
    dimmed = shines * (1 - hazy["haze"])[..., None]
    np.testing.assert_allclose(color(hazy, "direct"), dimmed, atol=2e-5)


def test_the_picture_before_the_lens_is_that_of_a_pinhole(tmp_path):
    scene = solid_scene("mandelbox", **LIT, size=(24, 16), relight=True, lens=0.2)
    planes = channels(tmp_path / "a.exr", scene)
    pinhole = channels(tmp_path / "b.exr", scene.replace(lens=0.0))
    assert not any(name.startswith("pinhole") for name in pinhole)
    for each in "RGB":
        np.testing.assert_array_equal(planes[f"pinhole.{each}"], pinhole[each])
    assert np.abs(planes["G"] - planes["pinhole.G"]).max() > 0.05
    without = channels(tmp_path / "c.exr", scene.replace(relight=False))
    assert not any(name.startswith("pinhole") for name in without)


def test_the_forecast_counts_the_picture_before_the_lens(capsys, tmp_path):
    seconds = {}
    for lens, file in (("0.1", "a.exr"), ("0.1", "a.png"), ("0", "a.exr")):
        words = ["render", "--formula", "mandelbulb", "--relight", "--lens", lens, "--cpu"]
        assert main([*words, "-o", str(tmp_path / file), "--dry-run", "--json"]) == 0
        seconds[lens, file] = json.loads(capsys.readouterr().out)["seconds"]
    assert seconds["0.1", "a.exr"] == pytest.approx(2 * seconds["0.1", "a.png"], rel=0.05)
    assert seconds["0", "a.exr"] == seconds["0.1", "a.png"]


def test_an_exr_that_is_kept_says_that_it_has_no_picture_before_the_lens(tmp_path):
    pytest.importorskip("OpenEXR")
    for lens in (0.2, 0.0):
        scene, said = solid_scene("menger", **LIT, size=(4, 3), relight=True, lens=lens), []
        path = tmp_path / f"{lens}.exr"
        fractals.render_to(path, scene, device="cpu", keep=True, on_message=said.append)
        assert any("leaves out pinhole" in line for line in said) == (lens > 0)


def test_the_command_takes_relight(tmp_path):
    exr = pytest.importorskip("OpenEXR")
    for word, there in (("--relight", True), ("--no-relight", False)):
        path = tmp_path / f"a{word}.exr"
        words = ["--size", "8x6", "--samples", "1", "--cpu", "-o", str(path)]
        assert main(["render", "--formula", "mandelbulb", word, *words]) == 0
        with exr.File(str(path), separate_channels=True) as file:
            assert ("sun.R" in file.channels()) == there


@pytest.mark.parametrize("device", ["python", "simulator"])
def test_every_device_adds_up_the_same_passes(device):
    scene = solid_scene("amazing_surf", **LIT, sun=LOW, size=(12, 8))
    found = []
    for each in (device, "cpu"):
        sums = np.zeros((8, 12, 3 + lights.SHARES + lights.PASSES), np.int64)
        tracing_of(scene, each, "float32").add(sums, range(8), 0, 2, None)
        found.append(sums)
    np.testing.assert_array_equal(*found)
    assert (found[0][..., -3:] > 0).any()
    usual = np.zeros((8, 12, 3 + lights.SHARES), np.int64)
    tracing_of(scene, "cpu", "float32").add(usual, range(8), 0, 2, None)
    np.testing.assert_array_equal(found[0][..., : 3 + lights.SHARES], usual)


def test_places_and_haze_are_those_of_the_surface(tmp_path):
    scene = solid_scene("mandelbox", **LIT, size=(24, 16))
    planes = channels(tmp_path / "a.exr", scene)
    assert not any(name.startswith(("sun", "sky", "emission", "direct")) for name in planes)
    place = np.stack([planes[f"position.{axis}"] for axis in "XYZ"], axis=2)
    seen = planes["Z"] < lights.NOWHERE
    assert 0.1 < seen.mean() < 0.95
    assert not place[~seen].any()
    away = np.linalg.norm(place - np.array(scene.make_any_formula().position), axis=2)
    np.testing.assert_allclose(away[seen], planes["Z"][seen], rtol=1e-5)
    far = tracing_of(scene, "cpu").seen.depth
    expected = 1 - np.exp(-((0.4 * planes["Z"].astype(float) / far) ** 2))
    np.testing.assert_allclose(planes["haze"], expected, atol=1e-6)

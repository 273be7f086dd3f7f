"""A part of a picture, and one eye of a pair: their pixels are those of the whole."""

import numpy as np
import pytest
from support.shapes import solid_scene, tracing_of

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.cli.verbs import run_verb as main
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.space.family import smaller
from fractals.space.plan import ENOUGH

WHOLE = (60, 34)
KEYS = {"formula": "mandelbox", "position": (4, 5, 3), "size": WHOLE, "vignette": 0.5, "grain": 0.1}
PARTS = [(0, 0, 20, 34), (23, 9, 17, 11), (59, 33, 1, 1), (11, 20, 49, 14)]
LIGHT = {
    "even": {"samples": 2, "bounces": 1},
    "lens": {"samples": 1, "bounces": 0, "lens": 0.1},
    "panorama": {"samples": 1, "panorama": True},
}


def drawn(device="cpu", **keys):
    return fractals.render(solid_scene(**KEYS | keys), device=device).pixels


def part_keys(part, size=WHOLE):
    x, y, width, height = part
    return {"size": (width, height), "whole": f"{size[0]}x{size[1]}+{x}+{y}"}


def cut(pixels, part):
    x, y, width, height = part
    return pixels[y : y + height, x : x + width]


@pytest.mark.parametrize("light", LIGHT)
def test_a_part_has_the_pixels_of_the_whole(light):
    whole = drawn(**LIGHT[light])
    for part in PARTS:
        pixels = drawn(**LIGHT[light], **part_keys(part))
        np.testing.assert_array_equal(pixels, cut(whole, part))


@pytest.mark.parametrize("device", ["python", "simulator"])
def test_every_device_draws_the_same_part(device):
    keys = {"samples": 1, "bounces": 0, **part_keys((23, 9, 9, 6))}
    np.testing.assert_array_equal(drawn(device, **keys), drawn(**keys))


@pytest.fixture
def few_rounds(monkeypatch):
    """Have pixels take 2, 4, 8, 12 or 16 samples, as many as they need."""
    monkeypatch.setitem(ENOUGH, "good", (4.0, 6.0, 4))


def test_pixels_of_a_part_have_as_many_samples_as_in_the_whole(few_rounds):
    whole = drawn(samples="auto")
    for part in PARTS[:2]:
        pixels = drawn(samples="auto", **part_keys(part))
        np.testing.assert_array_equal(pixels, cut(whole, part))
    scene = solid_scene(**KEYS | part_keys(PARTS[1]) | {"samples": "auto"})
    tracing = tracing_of(scene, "cpu")
    sums = np.zeros((11, 17, 3), np.int64)
    tracing.fill(sums, range(11), None)
    assert 4 < tracing.mean < 16  # else the samples of all pixels would be equal anyway


@pytest.mark.parametrize("samples", [2, "auto"])
@pytest.mark.parametrize("panorama", [False, True])
def test_the_eyes_of_a_pair_are_its_halves(samples, panorama, few_rounds):
    keys = {"stereo": 0.1, "panorama": panorama, "samples": samples, "bounces": 0}
    pair = drawn(**keys, size=(40, 20))
    half = (40, 10) if panorama else (20, 20)
    eyes = [drawn(**keys, size=half, eye=eye) for eye in ("left", "right")]
    np.testing.assert_array_equal(np.concatenate(eyes, axis=0 if panorama else 1), pair)
    assert not np.array_equal(*eyes)
    part = (3, 4, 11, 5)
    pixels = drawn(**keys, **part_keys(part, half), eye="right")
    np.testing.assert_array_equal(pixels, cut(eyes[1], part))


def test_a_store_of_a_part_is_that_part_of_the_sums(tmp_path, few_rounds):
    part = PARTS[1]
    scene = solid_scene(**KEYS, samples="auto")
    own = scene.replace(**part_keys(part))
    whole = fractals.compute(scene, device="cpu")
    np.testing.assert_array_equal(fractals.compute(own, device="cpu").sums, cut(whole.sums, part))
    for k in (1, 0):
        fractals.compute_to(tmp_path / "a.fz", own, device="cpu", part=(k, 2))
    fractals.compute_to(tmp_path / "a.fz", own, device="cpu")
    shown = fractals.recolor(tmp_path / "a.fz", device="cpu")
    assert shown.scene.camera.whole == "60x34+23+9"
    np.testing.assert_array_equal(shown.pixels, fractals.render(own, device="cpu").pixels)


def test_the_surface_of_a_part_is_that_of_the_whole():
    part = PARTS[1]
    scene = solid_scene(**KEYS | {"size": WHOLE})
    whole = tracing_of(scene, "cpu").guides()
    own = tracing_of(scene.replace(**part_keys(part)), "cpu").guides()
    np.testing.assert_array_equal(own, cut(whole, part))


def test_a_part_that_becomes_finer_ends_at_its_pixels(few_rounds):
    scene = solid_scene(**KEYS | {"size": (150, 40), "samples": "auto", "bounces": 0})
    scene = scene.replace(**part_keys((10, 9, 131, 20), (150, 40)))
    number = tracing_of(scene, "cpu").plan.precision
    backend = open_backend(choose("cpu").device, number)
    made = family_of(scene).refine(scene, RenderOptions(), lambda _: backend)
    shown = [picture for picture in made.pictures() if picture]
    assert shown[0].pixels.shape == (5, 33, 3)
    assert shown[-1].exact
    np.testing.assert_array_equal(shown[-1].pixels, fractals.render(scene, device="cpu").pixels)


def test_a_smaller_whole_has_room_for_its_part():
    assert smaller(None, (5, 5), 4, 1) is None
    assert smaller("100x80+10+20", (20, 15), 4, 1) == "25x20+2+5"
    assert smaller("103x80+82+0", (6, 20), 4, 2) == "26x20+20+0"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"whole": "60x34"}, "'60x34' is not WIDTHxHEIGHT"),
        ({"whole": "60x34+-1+0"}, "is not WIDTHxHEIGHT"),
        ({"whole": "60x0+0+0"}, "a side is not from 1 to"),
        ({"whole": "60x34+1+0"}, "60x34.1.0 has no room for a picture of 60x34 there"),
        ({"whole": "80x80+0+0", "bloom": 0.5}, "bloom and denoise need the light of the whole"),
        ({"eye": "left"}, "'left' is an eye of a pair: give stereo="),
        ({"eye": "middle"}, "eye"),
    ],
)
def test_what_is_no_part_or_no_eye_is_refused_in_one_line(keys, said):
    with pytest.raises(fractals.FractalsError, match=said) as caught:
        fractals.render(solid_scene(**KEYS | keys), device="cpu")
    assert "\n" not in str(caught.value)


def test_a_relief_has_no_eyes_and_no_whole():
    for key, value in (("eye", "left"), ("whole", "9x9+0+0")):
        keys = {"size": (8, 6), "heights": "smooth", key: value}
        with pytest.raises(fractals.SceneError, match=f"camera.{key}: a relief is seen as"):
            fractals.render("seahorse", **keys, device="cpu")


def test_the_command_line_draws_a_part(tmp_path):
    path = tmp_path / "a.png"
    line = "render --formula mandelbox --size 20x10 --whole 60X34+7+3 --samples 1 --device cpu"
    assert main([*line.split(), "-o", str(path)]) == 0
    scene = fractals.load_scene(path)
    assert scene.camera.whole == "60x34+7+3"
    assert scene.image.size == (20, 10)

"""Palettes of pictures keep their accents, and go round by short ways."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import fractals
from fractals.color import photo
from fractals.color.palette import linear_from_srgb, oklab_from_linear, parse_color
from fractals.errors import FractalsError
from fractals.io import png
from fractals.io.files import SCENE_KEY
from fractals.io.image import read_small
from fractals.io.palettes import find_palette

RED = (205, 35, 30)


def sea(width=240, height=160):
    """Return a gray sea with a red boat of 0.2 % of the picture."""
    rows = np.linspace((200, 215, 225), (15, 50, 80), height)
    pixels = np.repeat(rows[:, None], width, axis=1)
    pixels += np.random.default_rng(3).normal(0, 4, pixels.shape)
    pixels[100:106, 100:113] = RED
    return np.clip(pixels, 0, 255).astype(np.uint8)


def lab_of(colors):
    return oklab_from_linear(linear_from_srgb(np.array(colors, float)))


def stops_of(palette):
    return [parse_color(color) for _, color in palette.stops]


def nearest(colors, color):
    """Return the distance in OKLab of a color from the nearest of some."""
    return np.sqrt(((lab_of(colors) - lab_of([np.array(color) / 255])) ** 2).sum(axis=1)).min()


def test_a_small_red_boat_is_kept():
    pixels = sea()
    assert nearest(stops_of(photo.palette_of(pixels)), RED) < 0.03
    assert nearest(stops_of(photo.palette_of(pixels, 3)), RED) < 0.03
    quantized = Image.fromarray(pixels).quantize(8).convert("RGB").getcolors()
    assert nearest([np.array(color) / 255 for _, color in quantized], RED) > 0.2  # which loses it


def test_all_of_the_picture_is_near_a_color():
    pixels, found = sea(), lab_of(stops_of(photo.palette_of(sea())))
    lab = lab_of(pixels.reshape(-1, 3) / 255)
    away = np.sqrt(((lab[:, None] - found) ** 2).sum(axis=2)).min(axis=1)
    assert away.mean() < 0.04
    assert away.max() < 0.12


@pytest.mark.parametrize("colors", [2, 6, 8, 20])
def test_the_round_begins_dark_and_is_short(colors):
    palette = photo.palette_of(sea(), colors)
    assert palette.cyclic
    assert 2 <= len(palette.stops) <= colors
    lab = lab_of(stops_of(palette))
    assert lab[:, 0].argmin() == 0

    def length(order):
        return np.sqrt(((lab[order] - np.roll(lab[order], -1, axis=0)) ** 2).sum(axis=1)).sum()

    own = length(np.arange(len(lab)))
    by_light = length(np.argsort(lab[:, 0]))
    assert own <= by_light + 1e-9
    for i, j in itertools.combinations(range(1, len(lab) + 1), 2):  # no part is better turned round
        order = [*range(i), *range(i, j)[::-1], *range(j, len(lab))]
        assert own <= length(np.array(order)) + 1e-6


def test_pictures_of_few_colors_have_these():
    assert len(photo.palette_of(np.zeros((4, 5, 3), np.uint8)).stops) == 1
    two = np.zeros((4, 6, 3), np.uint8)
    two[:, 3:] = 255
    assert [color for _, color in photo.palette_of(two).stops] == ["#000000", "#ffffff"]


def test_noise_is_no_accent():
    pixels = sea()
    pixels[0, 0] = 255, 0, 255  # a pixel of 38,400
    assert nearest(stops_of(photo.palette_of(pixels)), (255, 0, 255)) > 0.1


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
def test_a_file_is_a_palette_in_python_and_on_the_command_line(suffix, run):
    Image.fromarray(sea()).save(f"boat.{suffix}", quality=95)
    palette = fractals.load_scene(palette=f"boat.{suffix}").color.palette
    assert palette.title == "boat"
    assert len(palette.stops) == 8
    assert nearest(stops_of(palette), RED) < 0.06
    plain = ("-n", "9", "--size", "8x6", "--device", "python", "-q")
    code, _, err = run("render", "seahorse", *plain, "--palette", f"boat.{suffix}#5", "-o", "a.png")
    assert (code, err) == (0, "")
    drawn = fractals.load_scene("a.png").color.palette
    assert len(drawn.stops) == 5
    # A picture of this program carries its scene, whose palette it is.
    assert find_palette("a.png")[0] == drawn
    assert find_palette("a.png#3")[0] != drawn


def test_colors_of_a_profile_are_those_that_are_seen(tmp_path):
    wide = Image.new("RGB", (8, 8), (180, 40, 40))
    wide.save(tmp_path / "p3.png", icc_profile=png.icc_profile("p3"))
    red, green, _ = read_small(tmp_path / "p3.png")[0, 0]
    assert red > 190
    assert green < 30
    faint = Image.new("RGBA", (8, 8), (255, 255, 255, 0))
    faint.save(tmp_path / "nothing.png")
    assert read_small(tmp_path / "nothing.png").max() == 0


def test_errors_are_one_line(run, monkeypatch):
    Path("broken.jpg").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 40)
    Image.fromarray(sea()).save("boat.jpg")
    for name, words in (
        ("broken.jpg", "damaged"),
        ("missing.jpg", "missing.jpg: no such file"),
        ("boat.jpg#1", "boat.jpg: a palette of a picture has 2 to 32 colors"),
        ("boat.jpg#99", "2 to 32 colors"),
        ("boat.jpg#many", "2 to 32 colors"),
    ):
        code, _, err = run("render", "--palette", name, "-o", "a.png")
        assert code in (2, 3)
        assert words in err
        assert err.count("\n") == 1
        with pytest.raises(FractalsError, match=words.split(": ")[-1]):
            fractals.load_scene(palette=name)
    monkeypatch.setattr("fractals.io.image.MAX_SEEN", 100)
    assert "too many" in run("render", "--palette", "boat.jpg", "-o", "a.png")[2]


def test_a_file_that_names_a_picture_is_told_nothing_of_its_scene(tmp_path):
    texts = PngInfo()
    texts.add_text(SCENE_KEY, '{"color": {"palette": "secret"}}')
    Image.fromarray(sea()).save(tmp_path / "a.png", pnginfo=texts)
    (tmp_path / "a.toml").write_text('color.palette = "a.png"', "utf-8")
    with pytest.raises(FractalsError, match=r"a\.png: not a palette that can be read") as caught:
        fractals.load_scene(tmp_path / "a.toml")
    assert "secret" not in str(caught.value)


def test_what_fills_the_picture_fills_the_palette():
    pixels = np.full((40, 40, 3), (20, 40, 90), np.uint8)
    pixels[:2, :2] = RED
    (first, dark), (second, red) = photo.palette_of(pixels, 2).stops
    assert (first, dark) == (0, "#14285a")
    assert parse_color(red) == pytest.approx(np.array(RED) / 255, abs=0.01)
    three = np.concatenate([pixels, np.full((40, 40, 3), 250, np.uint8)])
    places = [place for place, _ in photo.palette_of(three, 3).stops]
    assert second == 0.5
    assert len(places) == 3
    assert places == sorted(places)
    assert places[1:] != pytest.approx([1 / 3, 2 / 3], abs=0.02)  # red is narrower than the others

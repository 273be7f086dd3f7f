"""Wide gamut and high dynamic range: what files say, and what littlecms makes of it."""

import io
import math
import struct

import numpy as np
import pytest
from PIL import Image, ImageCms, features
from support.scenes import scene

import fractals
from fractals.color.palette import GAMUTS, Palette, in_gamut, linear_from_oklch, oklab_from_linear
from fractals.errors import OptionError, SceneError
from fractals.io import png

GREEN = "oklch(0.8 0.3 145)"  # beyond sRGB
VIVID = {"stops": [GREEN, "oklch(0.65 0.28 25)"], "space": "oklch"}
LOSSLESS = ("PNG", "TIFF", "WEBP")
AVIF = pytest.param("AVIF", marks=pytest.mark.skipif(not features.check("avif"), reason="no AVIF"))


def drawn(**keys):
    return fractals.render(scene(**keys), device="cpu")


def chunks(data):
    """Return the chunks of a PNG, by kind."""
    found, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        found[kind] = data[at + 8 : at + 8 + length]
        at += 12 + length
    return found


def as_srgb(image, file_format):
    """Return the pixels of a file as littlecms converts them to sRGB."""
    picture = Image.open(io.BytesIO(image.encode(file_format)))
    own = ImageCms.ImageCmsProfile(io.BytesIO(picture.info["icc_profile"]))
    srgb = ImageCms.createProfile("sRGB")
    there = ImageCms.profileToProfile(picture, own, srgb, renderingIntent=1)
    return np.asarray(picture), np.asarray(there), (own, srgb)


def matrix(primaries):
    """Return the matrix from linear light to CIE XYZ, of primaries and the white D65."""
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    white = np.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
    return columns * np.linalg.solve(columns, white)


SRGB = matrix([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)])
PRIMARIES = {
    "p3": [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)],
    "adobe": [(0.640, 0.330), (0.210, 0.710), (0.150, 0.060)],
    "bt2020": [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)],
}


@pytest.mark.parametrize("gamut", PRIMARIES)
def test_gamuts_follow_from_their_primaries(gamut):
    expected = np.linalg.solve(matrix(PRIMARIES[gamut]), SRGB)
    assert np.abs(GAMUTS[gamut] - expected).max() < 1e-12
    assert np.allclose(in_gamut([1, 1, 1], gamut), 1)


@pytest.mark.parametrize(("gamut", "words"), [("p3", "Display P3"), ("adobe", "Adobe RGB prim")])
def test_profiles_have_the_primaries(gamut, words):
    profile = ImageCms.ImageCmsProfile(io.BytesIO(png.icc_profile(gamut)))
    assert ImageCms.getProfileDescription(profile).startswith(words)
    own = profile.profile
    adapted = np.array(png.ADAPTATION).reshape(3, 3) @ matrix(PRIMARIES[gamut])
    found = [getattr(own, f"{name}_colorant")[0] for name in ("red", "green", "blue")]
    assert np.abs(adapted.T - found).max() < 3e-5
    assert np.abs(adapted.sum(axis=1) - png.WHITE).max() < 3e-5


@pytest.mark.parametrize("file_format", ["PNG", "TIFF", "WEBP", "JPEG", AVIF])
def test_files_carry_the_gamut_and_the_scene(file_format, tmp_path):
    image = drawn(gamut="p3", palette=VIVID)
    path = tmp_path / f"a.{file_format.lower()}"
    image.save(path)
    with Image.open(path) as picture:
        assert picture.info["icc_profile"] == png.icc_profile("p3")
    assert fractals.load_scene(path) == image.scene
    assert image.scene.image.gamut == "p3"


@pytest.mark.parametrize("gamut", ["p3", "adobe"])
@pytest.mark.parametrize("file_format", LOSSLESS)
def test_littlecms_shows_the_colors_of_srgb(file_format, gamut):
    """A picture in a wide gamut looks as in sRGB, and returns to its own values."""
    wide, plain = drawn(gamut=gamut, size=(60, 40)), drawn(size=(60, 40))
    pixels, there, (own, srgb) = as_srgb(wide, file_format)
    assert np.array_equal(pixels, wide.pixels)
    off = np.abs(there.astype(int) - plain.pixels)
    assert off.max() <= 3  # both are rounded to 8 bits, and dark channels are steep
    assert off.mean() < 0.5
    back = ImageCms.profileToProfile(Image.fromarray(there), srgb, own, renderingIntent=1)
    assert np.abs(np.asarray(back).astype(int) - pixels).max() <= 1


def test_sixteen_bits_are_those_of_the_matrix():
    wide, plain = (drawn(gamut=each, bits=16).pixels / 65535 for each in ("p3", "srgb"))
    light = [np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4) for v in (wide, plain)]
    assert np.abs(light[0] - in_gamut(light[1], "p3")).max() < 1e-4


@pytest.mark.parametrize("gamut", ["p3", "adobe", "bt2020"])
def test_palettes_beyond_srgb_survive(gamut):
    palette = Palette((GREEN, "#000000"), cyclic=False)
    narrow, wide = (palette.lookup("#000", each)[0].astype(float) for each in ("srgb", gamut))
    assert narrow.min() >= 0
    back = np.linalg.solve(GAMUTS[gamut], wide)  # linear sRGB
    assert back.min() < -0.02
    assert wide.min() >= 0
    lightness, a, b = oklab_from_linear(back)
    assert lightness == pytest.approx(0.8, abs=1e-3)
    assert math.hypot(a, b) == pytest.approx(0.3, abs=1e-3)
    assert math.hypot(*oklab_from_linear(narrow)[1:]) < 0.26
    full = linear_from_oklch(np.array([0.8, 0.3, 145.0]), gamut)
    assert in_gamut(full, gamut).max() <= 1 + 1e-3


def test_pixels_and_files_of_srgb_are_as_before():
    image = drawn()
    found = chunks(image.encode())
    assert found[b"sRGB"] == b"\0"
    assert not {b"cICP", b"iCCP"} & set(found)
    table = image.scene.to_table()["image"]
    assert "gamut" not in table
    assert "hdr" not in table


def test_chunks_of_png():
    found = chunks(drawn(gamut="p3").encode())
    assert found[b"cICP"] == bytes([12, 13, 0, 1])
    assert b"sRGB" not in found
    found = chunks(drawn(hdr=True).encode())
    assert found[b"cICP"] == bytes([9, 16, 0, 1])
    assert not {b"sRGB", b"iCCP"} & set(found)
    assert found[b"IHDR"][8] == 16


def light_of_pq(values):
    """Return nits of PQ values (SMPTE ST 2084, with its published constants)."""
    power = (values / 65535) ** (1 / 78.84375)
    ratio = np.maximum(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)
    return 10000 * ratio ** (1 / 0.1593017578125)


def test_hdr_is_pq_of_white_at_203_nits():
    plain = drawn(bits=16).pixels / 65535
    light = np.where(plain <= 0.04045, plain / 12.92, ((plain + 0.055) / 1.055) ** 2.4)
    nits = light_of_pq(drawn(hdr=True).pixels)
    assert np.abs(nits - 203 * in_gamut(light, "bt2020")).max() < 0.3
    bright = light_of_pq(drawn(hdr=True, exposure=3).pixels)
    assert bright.max() > 300
    peak = light_of_pq(drawn(hdr=True, exposure=1e5).pixels)
    assert peak.max() == pytest.approx(1000, rel=1e-3)
    bent = light_of_pq(drawn(hdr=True, exposure=50, curve="filmic").pixels)
    assert 500 < bent.max() <= 1001


def test_pillows_picture_of_hdr_is_srgb():
    """Previews and `show` were gray: Pillow knows no PQ."""
    plain = np.asarray(drawn().to_pil()).astype(int)
    converted = np.asarray(drawn(hdr=True).to_pil()).astype(int)
    assert converted.shape == plain.shape
    assert np.abs(converted - plain).max() <= 1


@pytest.mark.parametrize("keys", [{"hdr": True, "curve": "filmic"}, {"gamut": "p3", "grain": 0.1}])
def test_every_device_gives_the_same_bits(device, keys):
    given = scene(**keys, size=(7, 5), exposure=2)
    pixels = fractals.render(given, device=device).pixels
    assert np.array_equal(pixels, fractals.render(given, device="python").pixels)


@pytest.mark.parametrize(
    ("formula", "small"),
    [("mandelbulb", {"samples": 1}), ("flame", {"quality": 2, "background": GREEN})],
)
def test_every_family_has_a_gamut(formula, small):
    given = scene(formula, **small, max_iterations=4, coloring="smooth", palette=VIVID)
    narrow, wide, bright = (
        fractals.render(given, device="cpu", bits=16, **keys).pixels.astype(float)
        for keys in ({}, {"gamut": "p3"}, {"hdr": True})
    )
    assert np.abs(wide - narrow).max() > 500
    assert np.abs(bright - narrow).max() > 500


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("a.jpg", {"hdr": True}, "JPEG with hdr=True is not supported: write a .png"),
        ("a.tif", {"hdr": True}, "TIFF with hdr=True is not supported: write a .png"),
        ("a.ppm", {"gamut": "p3"}, "PPM can't say that its colors are of a gamut"),
        ("a.webp", {"gamut": "p3", "bits": 16}, "WEBP holds 8 bits per channel"),
    ],
)
def test_combinations_that_no_file_holds(tmp_path, name, keys, said):
    with pytest.raises(OptionError, match=said):
        fractals.render_to(tmp_path / name, scene(**keys), device="cpu")


def test_bad_values_are_one_line():
    with pytest.raises(SceneError, match="image: hdr has the gamut"):
        scene(gamut="p3", hdr=True)
    with pytest.raises(SceneError, match="gamut: 'rec709' is not 'srgb', 'p3' or 'adobe'"):
        scene(gamut="rec709")
    assert scene(hdr=True, bits=8).image.bits == 16
    with pytest.raises(OptionError, match="a film has the colors of sRGB"):
        fractals.film(scene(gamut="p3"), cycle=1).plan()

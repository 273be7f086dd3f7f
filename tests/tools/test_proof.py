"""Proofs of prints: what littlecms makes of a picture by a profile, and files for print shops."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms
from support import cmyk
from support.scenes import scene

import fractals
from fractals.errors import InputError, OptionError, SceneError
from fractals.io import png
from fractals.tools import proof
from fractals.tools.proof import VISIBLE

RED, GRAY = (250, 20, 20), (120, 120, 120)


def narrow():
    """Return a profile of RGB whose primaries are pale: a paper without strong colors."""
    data = bytearray(png.icc_profile("p3"))
    white = np.array(png.WHITE)
    for k in range(struct.unpack_from(">I", data, 128)[0]):
        name, at, _ = struct.unpack_from(">4sII", data, 132 + 12 * k)
        if name[1:] == b"XYZ":
            place = np.array(struct.unpack_from(">3i", data, at + 8)) / 65536
            paler = 0.6 * place + 0.4 * white / 3
            struct.pack_into(">3i", data, at + 8, *(round(65536 * v) for v in paler))
    return bytes(data)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the paths of a picture, half red and half gray, and of a profile of pale colors."""
    monkeypatch.chdir(tmp_path)
    pixels = np.zeros((10, 20, 3), np.uint8)
    pixels[:, :10], pixels[:, 10:] = RED, GRAY
    Image.fromarray(pixels).save("a.png", dpi=(300, 300))
    Path("pale.icc").write_bytes(narrow())
    return Path("a.png"), Path("pale.icc")


def test_a_proof_shows_what_a_print_loses(files):
    seen, share = proof.proof(*files)
    red, gray = (np.asarray(seen)[5, x].astype(int) for x in (3, 15))
    assert share == 0.5
    assert red[0] - red[1] < 180  # paler than the picture's 230
    assert abs(gray - GRAY).max() <= 2
    wide = Path("p3.icc")
    wide.write_bytes(png.icc_profile("p3"))
    same, none = proof.proof(files[0], wide)
    assert none == 0
    assert np.abs(np.asarray(same, int) - np.asarray(Image.open(files[0]), int)).max() <= 2


def test_a_wide_picture_is_shown_by_its_own_profile(files):
    own = png.icc_profile("p3")
    Image.new("RGB", (4, 4), (150, 100, 100)).save("wide.png", icc_profile=own)
    Image.new("RGB", (4, 4), (150, 100, 100)).save("plain.png")
    seen, _ = proof.proof(Path("wide.png"), files[1])
    plain, _ = proof.proof(Path("plain.png"), files[1])
    assert not np.array_equal(np.asarray(seen), np.asarray(plain))


def test_converted_pictures_return_to_their_colors(files):
    made, profile = proof.converted(files[0], files[1])
    assert made.mode == "RGB"
    back = ImageCms.profileToProfile(
        made, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
    )
    assert np.abs(np.asarray(back)[5, 15].astype(int) - GRAY).max() <= 2


def test_inks_are_proofed_and_printed(files, run):
    """Of CMYK: strong red gets pale, gray stays, white has no ink, and black mostly black."""
    Path("inks.icc").write_bytes(cmyk.profile())
    seen, share = proof.proof(files[0], Path("inks.icc"))
    red, gray = (np.asarray(seen)[5, x].astype(int) for x in (3, 15))
    assert share == 0.5
    assert 60 < red[0] - red[1] < 180  # paler than the picture's 230
    assert abs(gray - GRAY).max() <= VISIBLE
    pixels = np.array([[[255, 255, 255], [0, 0, 0], [250, 20, 20]]], np.uint8).repeat(8, axis=1)
    Image.fromarray(pixels.repeat(8, axis=0)).save("b.png")
    for name in ("b.tif", "b.jpg"):
        code, _, err = run("proof", "b.png", "--icc", "inks.icc", "--convert", "-o", name)
        assert (code, "8 CMYK, in the colors of inks.icc" in err) == (0, True)
        with Image.open(name) as made:
            assert made.mode == "CMYK"
            assert made.info["icc_profile"] == cmyk.profile()
            white, black, ink = (np.asarray(made)[4, x].astype(int) for x in (3, 11, 19))
        assert white.max() <= 4
        assert black[3] > 240
        assert black[:3].max() < 24
        assert ink[0] < 40 < 200 < ink[1:3].min()
    code, _, err = run("proof", "b.png", "--icc", "inks.icc", "--convert", "-o", "c.png")
    assert (code, "a PNG holds no CMYK" in err) == (2, True)


def test_the_verb_writes_proofs_and_prints(run):
    drawn = fractals.render(
        scene(title="Sea", author="Ana"), dpi=200, size=(8, 6), max_iterations=20, device="python"
    )
    drawn.save("a.png")
    Path("pale.icc").write_bytes(narrow())
    code, out, err = run("proof", "a.png", "--icc", "pale.icc")
    assert (code, out) == (0, b"")
    assert "a-proof.png: 8x6 RGB, " in err
    assert "% of the pixels look otherwise in print" in err
    with pytest.raises(SceneError, match="carries no scene"):
        fractals.load_scene("a-proof.png")
    for name in ("p.tif", "p.jpg", "p.png"):
        assert run("proof", "a.png", "--icc", "pale.icc", "--convert", "-o", name)[0] == 0
        with Image.open(name) as picture:
            assert picture.info["icc_profile"] == narrow()
            assert [round(float(part)) for part in picture.info["dpi"]] == [200, 200]
            assert picture.getexif().get(0x013B) == "Ana"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.png",), "requires --icc FILE"),
        (("a.png", "--icc", "none.icc"), "none.icc: no such file"),
        (("a.png", "--icc", "a.png"), "a.png: not an ICC profile"),
        (("none.png", "--icc", "pale.icc"), "none.png: no such file"),
        (("pale.icc", "--icc", "pale.icc"), "the picture is damaged"),
        (("a.png", "--icc", "pale.icc", "--intent", "nice"), "choose one of perceptual, relative"),
        (("a.png", "--icc", "pale.icc", "-o", "b.webp"), "end the name in .png, .jpg or .tif"),
        (("a.png", "--icc", "pale.icc", "-o", "a.png"), "exists already"),
    ],
)
def test_mistakes_are_told_in_one_line(files, run, arguments, words):
    code, _, err = run("proof", *arguments)
    assert code in (1, 2, 3)
    assert err.count("\n") == 1
    assert words in err


def test_profiles_of_other_spaces_are_refused(files, monkeypatch):
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    Path("lab.icc").write_bytes(lab.tobytes())
    with pytest.raises(InputError, match="a profile of L"):
        proof.profile_of(Path("lab.icc"))
    with pytest.raises(OptionError, match="intent=''"):
        proof.proof(*files, intent="")
    monkeypatch.setattr(proof, "MAX_PROFILE", 10)
    with pytest.raises(InputError, match="larger than 10 bytes"):
        proof.profile_of(files[1])


@pytest.mark.parametrize("make", [proof.proof, proof.converted])
def test_high_dynamic_range_is_not_taken_for_srgb(files, make):
    fractals.render(scene(size=(16, 9), hdr=True), device="python").save("hdr.png")
    with pytest.raises(SceneError, match=r"hdr\.png: a print has no high dynamic range"):
        make(Path("hdr.png"), files[1])

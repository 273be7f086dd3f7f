"""Title, author and rights where other programs look, and whose a derived picture is."""

import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, features
from support.scenes import scene

import fractals
from fractals.cli import shared
from fractals.io import exif, metadata
from fractals.io.web_page import page_of
from fractals.scene.credits import HOUSE, is_derived, unsigned
from fractals.tools import surprise

SAID = {"title": "Märchen & <See>", "author": "Ana Ferreira", "rights": "© 2027 Ana"}
DC = "{http://purl.org/dc/elements/1.1/}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
AVIF = pytest.param("AVIF", marks=pytest.mark.skipif(not features.check("avif"), reason="no AVIF"))
PLAIN = ("--size", "16x9", "-n", "50", "--device", "python", "-q")


def opened(**keys):
    """Return a function from a type of file to the picture that Pillow opens."""
    image = fractals.render(scene(**keys), device="python", size=(8, 6), max_iterations=20)
    return lambda kind: Image.open(io.BytesIO(image.encode(kind)))


def dublin_core(packet):
    """Return the texts of Dublin Core in an XMP packet, by name."""
    tree = ElementTree.fromstring(packet)
    parts = (part for part in tree.iter() if part.tag.startswith(DC))
    return {part.tag.removeprefix(DC): part.find(f".//{RDF}li").text for part in parts}


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.tif"])
def test_pixels_that_were_changed_keep_the_signature_and_not_the_scene(tmp_path, name):
    drawn = scene(size=(8, 6), **SAID)
    image = fractals.render(drawn, device="python", max_iterations=20)
    changed = fractals.Image(image.pixels[::-1].copy(), image.scene, drawn=False)
    changed.save(tmp_path / name)
    with pytest.raises(fractals.FractalsError, match="carries no scene"):
        fractals.load_scene(tmp_path / name)
    with Image.open(tmp_path / name) as picture:
        said = picture.info if name.endswith("png") else picture.getexif()
        assert SAID["author"].encode() in repr(dict(said)).encode()
    with pytest.raises(fractals.OptionError, match="this picture has none"):
        changed.save(tmp_path / "a.html")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_pixels_of_another_origin_need_no_scene(tmp_path, dtype):
    image = fractals.Image(np.full((5, 7, 3), 200, dtype))
    image.save(tmp_path / "a.png")
    assert (image.size, image.scene.image.bits) == ((7, 5), 8 * image.pixels.itemsize)
    with pytest.raises(fractals.FractalsError, match="carries no scene"):
        fractals.load_scene(tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "TIFF", AVIF])
def test_exif_and_xmp_say_title_author_and_rights(kind):
    picture = opened(**SAID, note="Tails\nand heads")(kind)
    tags = picture.getexif()
    found = [tags.get(tag) for tag in (0x010E, 0x013B, 0x8298)]
    # Pillow reads ASCII as Latin-1: the bytes are those of UTF-8.
    assert [text.encode("latin-1").decode() for text in found] == list(SAID.values())
    packet = tags.get(metadata.XMP) if kind == "TIFF" else picture.info["xmp"]
    assert dublin_core(packet) == {
        "title": SAID["title"],
        "creator": SAID["author"],
        "rights": SAID["rights"],
        "description": "Tails\nand heads",
    }


def test_a_png_says_them_as_texts_and_xmp():
    texts = opened(**SAID)("PNG").text
    assert [texts[key] for key in ("Title", "Author", "Copyright")] == list(SAID.values())
    assert dublin_core(texts[metadata.XMP_KEYWORD])["creator"] == SAID["author"]
    assert "fractals:scene" in texts


def test_a_picture_that_says_nothing_has_no_texts():
    assert opened()("PNG").text.keys() == {"fractals:scene", "Software"}
    assert "xmp" not in opened()("JPEG").info
    assert metadata.xmp(scene()) == ""


def test_control_characters_and_brackets_are_no_markup():
    odd = scene(title="a\x00b\n</rdf:RDF>", author="<b>&amp;", note="]]>\x01")
    assert dublin_core(metadata.xmp(odd)) == {
        "title": "a\\x00b\\n</rdf:RDF>",
        "creator": "<b>&amp;",
        "description": "]]>\\x01",
    }


def test_long_words_fit_into_a_jpeg():
    long = scene(title="&" * 1000, author="é" * 1000, rights="<" * 1000, note="&" * 10_000)
    image = fractals.render(long, device="python", size=(8, 6), max_iterations=20)
    with Image.open(io.BytesIO(image.encode("JPEG"))) as picture:
        said = dublin_core(picture.info["xmp"])
    assert said.keys() == {"title", "creator", "rights"}  # and no note, for which no room is
    assert said["title"] == long.title
    comment = b" " * exif.MAX_JPEG
    assert not exif.fits("JPEG", comment, scene(title="Sea"))
    assert exif.fits("PNG", comment, scene(title="Sea"))


@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_loops_say_them_too(suffix, tmp_path):
    keys = {"size": (16, 12), "max_iterations": 20, "fps": 2, "seconds": 1, **SAID}
    film = fractals.film(scene(), cycle=1, device="python", **keys)
    film.save(tmp_path / f"a{suffix}")
    with Image.open(tmp_path / f"a{suffix}") as picture:
        if suffix == ".webp":
            assert dublin_core(picture.info["xmp"])["title"] == SAID["title"]
        else:
            assert picture.info["comment"].decode("utf-8") == ". ".join(SAID.values())


# Whose a picture is that was made of another's scene.


def test_the_gallery_claims_no_picture_made_of_it():
    assert fractals.load_scene("seahorse").author == HOUSE
    assert fractals.load_scene("seahorse", size=(8, 6), bits=16).author == HOUSE
    assert fractals.load_scene("seahorse", {"color": {"palette": "ink"}}).author == ""
    made = fractals.load_scene("seahorse", palette="ink", title="Mine")
    assert (made.author, made.title) == ("", "Mine")
    assert fractals.load_scene("seahorse", palette="ink", author=HOUSE).author == HOUSE
    own = fractals.load_scene("seahorse").replace(author="Ben")
    assert fractals.load_scene(own, palette="ink").author == "Ben"


def test_arrays_make_another_picture_of_a_scene_of_the_gallery():
    """Arrays compare element by element, also within the tables of scenes."""
    colors = np.array([[10, 20, 60], [240, 230, 200]], np.uint8)
    raw = fractals.compute("seahorse", size=(8, 6), device="python", max_iterations=9)
    small = {"size": (8, 6), "device": "python", "max_iterations": 9}
    drawn = fractals.render("seahorse", palette=colors, **small)
    for image in (drawn, fractals.recolor(raw, palette=colors)):
        assert image.scene.author == ""
        assert image.scene.color.make_palette().stops[0][1] == "#0a143c"


def test_unsigned_takes_the_users_own_author():
    before = fractals.load_scene("seahorse")
    assert unsigned(before, before.replace(size=(8, 6)), "Ana").author == HOUSE
    assert unsigned(before, before.replace(zoom="9"), "Ana").author == "Ana"
    assert not is_derived({"title": "a", "image": {}}, {"title": "b"})


def test_recolored_numbers_are_not_the_gallerys():
    raw = fractals.compute("seahorse", size=(8, 6), max_iterations=9, device="python")
    assert fractals.recolor(raw, device="python").scene.author == HOUSE
    assert fractals.recolor(raw, {"color": {"palette": "ink"}}, device="python").scene.author == ""
    assert fractals.recolor(raw, palette="ink", device="python").scene.author == ""


def test_the_author_of_a_scene_is_not_kept_in_silence(run):
    fractals.save_scene(scene(author="Ben"), "ben.toml")
    code, _, err = run("render", "ben.toml", *PLAIN[:-1], "--palette", "ink", "-o", "a.png")
    assert code == 0
    assert "the picture keeps the author of its scene, Ben: --author names you" in err
    assert fractals.load_scene("a.png").author == "Ben"
    for more in (("--author", "Ana", "--palette", "ink"), ()):  # signed, and another size
        code, _, err = run("render", "ben.toml", *PLAIN[:-1], *more, "-o", "b.png", "--overwrite")
        assert code == 0
        assert "keeps the author" not in err
    assert fractals.load_scene("b.png").author == "Ben"


def test_options_sign_pictures(run):
    words = ("--title", "Sea", "--author", "Ana", "--rights", "CC BY 4.0")
    assert run("render", "seahorse", *PLAIN, *words, "-o", "a.png")[0] == 0
    found = fractals.load_scene("a.png")
    assert (found.title, found.author, found.rights) == ("Sea", "Ana", "CC BY 4.0")
    assert run("compute", "a.png", "--device", "python", "-q", "-o", "a.fz")[0] == 0
    assert (
        run("recolor", "a.fz", "--device", "python", "-q", "--title", "Two", "-o", "b.png")[0] == 0
    )
    assert fractals.load_scene("b.png") == found.replace(title="Two")
    lines = ("trace", "a.png", "--contours", "2", "-q", *words, "-o", "a.svg")
    assert run(*lines)[0] == 0
    root = ElementTree.fromstring(Path("a.svg").read_text())
    ids = [part.get("id") for part in root.iter() if part.get("id")]
    assert ids
    assert all(name.replace("-", "").isalnum() and not name[0].isdigit() for name in ids)
    assert root.find("{http://www.w3.org/2000/svg}title").text == "Sea"


def test_films_of_the_gallery_are_signed_by_nobody_or_by_the_defaults(run, monkeypatch):
    small = (
        "--cycle",
        "1",
        "--fps",
        "2",
        "--size",
        "16x12",
        "-n",
        "20",
        "--device",
        "python",
        "-q",
    )
    assert run("film", "seahorse", *small, "--still", "0", "-o", "a.png")[0] == 0
    assert fractals.load_scene("a.png").author == ""
    monkeypatch.setattr(shared, "scene_table", lambda: {"author": "Ana"})
    assert run("film", "seahorse", *small, "--still", "0", "-o", "b.png")[0] == 0
    assert fractals.load_scene("b.png").author == "Ana"
    assert run("render", "seahorse", *PLAIN, "--palette", "ink", "-o", "c.png")[0] == 0
    assert fractals.load_scene("c.png").author == "Ana"
    assert fractals.film("seahorse", cycle=1, device="python").scene.author == ""


def test_surprises_are_signed_by_nobody():
    labels = dict(surprise.mutations(fractals.load_scene("seahorse", size=(8, 6)), 1))
    assert {each.author for each in labels.values()} == {""}


@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ({}, "Mandelbrot set, z² + c"),
        ({"julia": ("-0.8", "0.156")}, "Julia set of z² + c, c = -0.8 + 0.156i"),
        (
            {"formula": "z**2 + c", "julia": ("0", "-1.2345678901")},
            "Julia set of z**2 + c, c = 0 - 1.23457i",
        ),
        (
            {"formula": "burning_ship", "julia": ("1e-30", "0")},
            "Julia set of Burning Ship, (|x| + i|y|)² + c, c = 1e-30 + 0i",
        ),
    ],
)
def test_what_is_drawn_has_a_name(keys, title):
    drawn = fractals.Scene().replace(**keys)
    assert metadata.subject(drawn) == title
    assert f"<title>{title}</title>" in page_of(drawn, b"").decode()
    named = page_of(drawn.replace(title="Sea"), b"").decode()
    assert "<title>Sea</title>" in named

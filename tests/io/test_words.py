"""Texts as other programs and web pages write them: encodings, signs, line ends, tables."""

import codecs
import json
import os
from pathlib import Path

import pytest
from support.deadline import deadline

import fractals
from fractals.errors import FractalsError, SceneError
from fractals.io.files import check_output
from fractals.io.film_files import read_points
from fractals.io.foreign import formats

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

SHARED = Path(__file__).parents[3] / "shared/data/formats"
ENCODINGS = {
    "utf-8": str.encode,
    "with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),  # as PowerShell 5 writes `> scene.toml`
    "utf-16, big end first": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "windows": lambda text: text.replace("\n", "\r\n").encode(),
}
GRADIENT = "GIMP Gradient\nName: x\n1\n0 0.5 1 1 0 0 1 0 0 1 1 0 0\n"
TEXTS = {
    "a.toml": 'title = "é"\n[view]\nwidth = "0.5"\n',
    "a.json": json.dumps({"title": "é", "view": {"width": "0.5"}}),
    "a.map": "255 0 0\n0 255 0\n",
    "a.gpl": "GIMP Palette\nName: é\n255 0 0 r\n0 255 0 g\n",
    "a.ggr": GRADIENT,
    "a.ugr": 'x {\ngradient:\n title="é" smooth=no index=0 color=255 index=200 color=65280\n}\n',
    "a.par": "one { type=mandel center-mag=-0.5/0/1 maxiter=100 }\n",
    "a.kfr": "Re: -0.5\nIm: 0\nZoom: 1\nIterations: 100\n",
    "a.xpf": "(initstate)\n(formula 'mandel)\n(view -0.5 0 2 2)\n",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_file_means_the_same_in_each_encoding(name, encoding, tmp_path):
    def read(data):
        path = tmp_path / name
        path.write_bytes(data)
        return fractals.load_scene(str(path))

    plain = read(TEXTS[name].encode())
    assert plain != fractals.Scene()
    assert read(ENCODINGS[encoding](TEXTS[name])) == plain


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_track_means_the_same_in_each_encoding(encoding, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(ENCODINGS[encoding]("t,x\n0,1\n1,\u22122\n"))
    assert read_points(path) == [[0.0, "1"], [1.0, "-2"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["a.map", "a.gpl", "a.ggr", "a.ugr"])
def test_lines_of_palettes_end_as_on_any_system(name, end):
    text = TEXTS[name]
    read = formats.find(name).read
    whole = read(text.encode(), "")
    commented = text.replace("255 0 0\n0 255", "255 0 0 (a comment\n0 255")
    assert read(commented.replace("\n", end).encode(), "").table == whole.table
    assert read(text.replace("\n", end).encode() + b"\x1a\x00\x00", "").table == whole.table


def colors(text):
    found = formats.find("a.map").read(text.encode(), "")
    return found.table["color"]["palette"]["stops"], found.lost


def test_a_map_is_read_as_fractint_does():
    """It reads 256 colors, and nothing after them."""
    lines = [f"{k} {k} 0" for k in range(256)]
    first, _ = colors("\n".join(lines))
    assert len(first) == 256
    assert colors("\n".join([*lines, "Written by hand", "1 2 3"])) == (first, ())
    clipped, lost = colors("256 0 300\n0 0 0")
    assert clipped[0] == "#ff00ff"
    assert "255" in lost[0]
    with pytest.raises(SceneError, match="line 2"):
        colors("1 2 3\nno color")


def test_one_color_is_never_silent(tmp_path):
    (tmp_path / "a.map").write_text("1 2 3\n1 2 3\n")
    lost: list[str] = []
    fractals.load_scene(str(tmp_path / "a.map"), lost=lost)
    assert "the same" in lost[0]


@pytest.mark.parametrize("suffix", sorted(formats.OTHERS))
def test_other_kinds_of_files_are_named(suffix, tmp_path):
    path = tmp_path / f"a{suffix.upper()}"
    path.write_bytes(b"")
    with pytest.raises(SceneError) as caught:
        fractals.load_scene(str(path))
    assert str(caught.value).endswith(formats.OTHERS[suffix])


def test_a_picture_that_appeared_in_the_meantime_is_kept(tmp_path):
    """Two runs with one name begin at once: the later one says so, and overwrites nothing."""
    path = tmp_path / "a.png"

    def other(done, total):
        if not path.exists():
            path.write_bytes(b"of another run")

    with pytest.raises(FractalsError, match="in the meantime"):
        fractals.render_to(path, size=(32, 18), device="python", max_iterations=9, progress=other)
    assert path.read_bytes() == b"of another run"


@pytest.mark.skipif(not SHARED.is_dir(), reason="files of other programs are not here")
@pytest.mark.parametrize("kind", ["map", "gpl", "rustfractal-toml"])
def test_palettes_and_places_of_others_load(kind):
    for path in sorted((SHARED / kind).iterdir()):
        scene = fractals.load_scene(str(path))
        if kind == "map":
            assert len(set(scene.color.palette.stops)) > 1, path.name


def test_a_palette_of_rust_fractal_merges_with_a_place(tmp_path):
    place, settings, palette = (tmp_path / f"{name}.toml" for name in ("a", "b", "c"))
    place.write_text('real = "-0.5"\nimag = "0.25"\nzoom = "1e3"\niterations = 500\n')
    settings.write_text(
        "image_width = 64\nimage_height = 36\nglitch_percentage = 0.1\nframe_offset = 0\n"
    )
    palette.write_text("palette = [0,7,100, 32,107,203, 0,7,100]\niteration_division = 100.0\n")
    lost: list[str] = []
    scene = fractals.load_scene(str(place), str(settings), str(palette), lost=lost)
    assert scene.view.center == ("-0.5", "0.25")
    assert scene.image.size == (64, 36)
    assert [color for _, color in scene.color.palette.stops] == ["#000764", "#206bcb"]
    assert any("iteration_division" in line for line in lost)
    named = fractals.load_scene(palette=str(palette)).color.palette
    assert named.stops == scene.color.palette.stops
    palette.write_text("palette = [0,7,100,32]\n")
    with pytest.raises(SceneError, match="red, green and blue"):
        fractals.load_scene(str(palette))


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("-0.7463,0.1102", ("-0.7463", "0.1102")),
        ("\u22120.7463, 0.1102", ("-0.7463", "0.1102")),
        ("(-0.7463, 0.1102)", ("-0.7463", "0.1102")),
        ("-0.7463+0.1102i", ("-0.7463", "0.1102")),
        ("-0.7463 \u2212 1e-3i", ("-0.7463", "-1e-3")),
        ("1e-5-2.5e+3j", ("1e-5", "-2.5e+3")),
        ("0.25*i", ("0", "0.25")),
        ("-i", ("0", "-1")),
    ],
)
def test_a_point_is_read_as_people_write_it(text, point):
    for key in ("center", "julia"):
        scene = fractals.load_scene(**{key: text})
        assert (scene.julia if key == "julia" else scene.view.center) == point
    made = {"view": {"center": (point[0].replace("-", "\u2212"), point[1])}}
    assert fractals.load_scene(made).view.center == point


def test_long_texts_of_points_take_no_time():
    for text in ("1" * 100_000 + "x", "1 " * 50_000 + "i", "1-" * 50_000 + "i", "-" * 100_000):
        with deadline(10), pytest.raises(FractalsError):
            fractals.load_scene(center=text)


@pytest.mark.parametrize("text", ["", "x", "1,2,3", "1 2", "1+2", "1i2", "(1,2", "1,5 + 2,5i"])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(FractalsError):
        fractals.load_scene(center=text)


def test_a_cell_of_any_length_is_refused_in_a_line(tmp_path):
    """Python's csv raises an error of its own, which is no ValueError."""
    path = tmp_path / "t.csv"
    path.write_text('0,1\n1,"' + "0" * 150_000 + '"\n')
    with pytest.raises(SceneError, match="line 2"):
        read_points(path)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_to_nothing_is_not_written_through(tmp_path):
    (tmp_path / "link.png").symlink_to(tmp_path / "elsewhere.png")
    with pytest.raises(FractalsError, match="exists already"):
        check_output(tmp_path / "link.png", overwrite=False)
    check_output(tmp_path / "link.png", overwrite=True)

"""Scenes of other programs: which files are read, by which format, and what they draw."""

import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import fractals
from fractals import catalog
from fractals.errors import MAX_LINES, SceneError
from fractals.io.foreign import MAX_BYTES, formats
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

FOLDERS = {"kfr": "kfr", "par": "par", "rustfractal-toml": "rust_fractal", "xpf": "xpf"}
# What can't be drawn, and words of the reason; all other samples become scenes.
REFUSED = {}
DRAWN = (
    "kfr/smurfix_kf2__00-3-Mandelbrot.kfr",
    "kfr/smurfix_kf2__01-2-Burning-Ship.kfr",
    "kfr/smurfix_kf2__1e14.kfr",
    "kfr/smurfix_kf2__multiwave.kfr",
    "rustfractal-toml/rust-fractal_rust-fractal-core__burning_ship_test.toml",
    "rustfractal-toml/rust-fractal_rust-fractal-core__e113.toml",
    "xpf/xaos-project_XaoS__0rfel2.xpf",
)


def samples(data):
    return [path for folder in FOLDERS for path in sorted((data / "formats" / folder).iterdir())]


@pytest.mark.parametrize("suffix", ["par", "frm", "upr", "kfr", "xpf", "flame", "map"])
def test_a_compressed_file_is_called_so(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(gzip.compress(b"one { type=mandel }"))
    with pytest.raises(SceneError, match=rf"a\.{suffix}: it is compressed \(gzip\): unpack it"):
        formats.read(str(path))


def test_every_sample_is_a_scene_or_refused_with_a_reason(data):
    seen = set()
    for path in samples(data):
        name = path.name.partition("__")[2]
        lost = []
        seen.add(name)
        if name in REFUSED:
            with pytest.raises(SceneError) as caught:
                load_scene(path)
            assert REFUSED[name] in str(caught.value)
            assert str(caught.value).startswith(f"{path}: ")
            assert len(str(caught.value).splitlines()) == 1
        else:
            scene = load_scene(path, lost=lost)
            assert load_scene(scene.to_table()) == scene
            assert all(line.startswith(f"{path}: ") for line in lost)
    assert seen > set(REFUSED)


@pytest.mark.parametrize("name", DRAWN)
def test_samples_are_not_blank(data, name):
    scene = load_scene(data / "formats" / name, {"image": {"size": [16, 9], "supersampling": 1}})
    raw = fractals.compute(scene, device="python")
    assert len(np.unique(raw.count)) > 5


def test_every_entry_of_a_file_of_many(data):
    path = next((data / "formats" / "par").glob("*example1.par"))
    with pytest.raises(SceneError, match="the file has daisy, snow_storm, cat's_eye,") as caught:
        formats.read(f"{path}#nothing")
    names = str(caught.value).rpartition("the file has ")[2].split(", ")
    assert len(names) == 16
    refused = [name for name in names if "bif" in name or name == "star_burst"]
    assert len(refused) == 7
    for name in names:
        if name not in refused:
            fractals.load_scene(formats.read(f"{path}#{name}").table)
            continue
        with pytest.raises(SceneError, match="draws a population over its growth rate") as caught:
            formats.read(f"{path}#{name}")
        assert f"{name}: line " in str(caught.value)


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("a.kfr", "kfr"),
        ("A.KFR", "kfr"),
        ("a.par", "par"),
        ("a.xpf", "xpf"),
        ("a.f3.toml", "fraktaler3"),
        ("a.toml", None),
        ("a.json", None),
        ("a.txt", None),
    ],
)
def test_the_suffix_names_the_format(file, form):
    found = formats.find(file)
    assert (found.name if found else None) == form


def test_every_format_is_whole():
    for name in catalog.names("format"):
        form = catalog.load("format", name)()
        assert form.name == name
        assert form.title
        assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in form.suffixes)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ('real = "-1.75"\nimag = "0.01"\nzoom = "1e3"', "mandelbrot"),
        ('program = "fraktaler-3"\nformula = [{ abs_x = true, abs_y = true }]', "burning_ship"),
        ('location.real = "0"\nformula = [{ neg_y = true }]', "tricorn"),
        ('formula = "celtic"', "celtic"),
    ],
)
def test_the_keys_of_a_toml_file_tell_whose_it_is(tmp_path, text, formula):
    path = tmp_path / "a.toml"
    path.write_text(text)
    assert load_scene(path).make_formula().name == formula


def test_scenes_merge_with_ours(tmp_path):
    (tmp_path / "a.kfr").write_text("Re: -0.5\r\nIm: 0.25\r\nZoom: 8\r\nIterations: 300\r\n")
    (tmp_path / "b.toml").write_text(
        '[iteration]\nmax_iterations = 77\n[color]\npalette = "ember"\n'
    )
    scene = load_scene("seahorse", tmp_path / "a.kfr", tmp_path / "b.toml")
    assert scene.view.center == ("-0.5", "-0.25")
    assert (scene.iteration.max_iterations, scene.color.palette) == (77, "ember")
    assert scene.image == load_scene("seahorse").image


def test_a_name_with_a_mark_may_be_a_file(tmp_path):
    path = tmp_path / "a#b.kfr"
    path.write_text("Zoom: 2\n")
    assert formats.split(str(path)) == (path, "")
    assert load_scene(path).view.center == ("0", "0")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.foo", b"", "no file that ends in .toml .json .png"),
        ("missing.kfr", None, "no such file"),
        ("a.kfr", b"Re 0\n", "line 1: 'Re 0' is not 'Key: value'"),
        ("a.kfr#x", b"Re: 0\n", "holds one thing"),
        ("a.xpf", b"\n(view 0 0 1", "line 2: a bracket is never closed"),
        ("a.par", b"a { type=mandel", "line 1: the entry 'a' is never closed"),
        ("a.f3.toml", b"location = 1", "location: a table was expected"),
    ],
)
def test_bad_files_are_refused(tmp_path, monkeypatch, name, content, words):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name.partition("#")[0]).write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load_scene(name)
    assert words in str(caught.value)
    assert str(caught.value).startswith(name.partition("#")[0])


def test_size_is_bounded(tmp_path):
    path = tmp_path / "a.kfr"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SceneError, match=f"larger than {MAX_BYTES} bytes"):
        load_scene(path)
    path.write_text("\n" * 200_000)
    with pytest.raises(SceneError, match="at most 100000"):
        load_scene(path)
    path.write_text(f"Re: 0.{'1' * 160_000}\n")
    with pytest.raises(SceneError, match=r"line 1: Re: .* at most 150000 digits"):
        load_scene(path)


def test_known_counts_of_a_sample(data, truth):
    """Its axis points down: the picture is that of the conjugate, upside down."""
    path = next((data / "formats" / "kfr").glob("*__1e14.kfr"))
    place = truth["rf_e14"]
    size = place["width"], place["height_px"]
    scene = load_scene(path).replace(size=size, supersampling=1, escape_radius=64)
    raw = fractals.compute(scene, device="cpu")
    stable = [pixel for pixel in place["pixels"] if pixel[3]]
    assert len(stable) > 5
    assert [int(raw.count[size[1] - 1 - j, i]) for i, j, _, _ in stable] == [
        count for _, _, count, _ in stable
    ]


@pytest.mark.parametrize("file", ["a.kfr", "a.toml"])
def test_known_counts_of_the_ship(tmp_path, truth, file):
    """It has no symmetry: the view is mirrored, as the imaginary axis points down there."""
    place = truth["rf_burning_ship"]
    keys = ("Re", "Im", "Zoom") if file == "a.kfr" else ("real", "imag", "zoom")
    values = [place[key] for key in ("re", "im", "zoom")]
    form = "{}: {}\n" if file == "a.kfr" else '{} = "{}"\n'
    text = "".join(map(form.format, keys, values))
    (tmp_path / file).write_text(text + ("FractalType: 1\n" if file == "a.kfr" else ""))
    size = place["width"], place["height_px"]
    scene = load_scene(tmp_path / file).replace(
        formula="burning_ship", size=size, supersampling=1, escape_radius=64
    )
    assert scene.view.mirror
    raw = fractals.compute(scene.replace(max_iterations=place["max_iter"]), device="cpu")
    stable = [pixel for pixel in place["pixels"] if pixel[3]]
    found = [int(raw.count[size[1] - 1 - j, i]) for i, j, _, _ in stable]
    assert found == [n for _, _, n, _ in stable]


def test_samples_of_locations_agree(data, locations):
    """What a file says of a place is what was read from it independently."""
    for name, file in (("rf_e1086", "e1086"), ("rf_e50", "e50"), ("rf_e113", "e113")):
        path = next((data / "formats" / "rustfractal-toml").glob(f"*__{file}.toml"))
        scene, place = load_scene(path), locations[name]
        assert scene.view.center == (place["re"], place["im"])
        across = Decimal(scene.view.width) / Decimal(place["height"]) * 9 / 16
        assert float(across) == pytest.approx(1, rel=1e-9)
        assert scene.iteration.max_iterations == place["max_iter"]


@pytest.mark.parametrize("suffix", sorted(formats.OTHERS))
def test_files_that_other_programs_keep_are_named_and_what_to_do(tmp_path, suffix):
    """A stranger's file that is not read is no unknown name: one line says what it is."""
    (tmp_path / f"a{suffix}").write_bytes(b"anything")
    with pytest.raises(SceneError) as told:
        fractals.load_scene(tmp_path / f"a{suffix}")
    line = str(told.value)
    assert line.endswith(formats.OTHERS[suffix])
    assert len(line.splitlines()) == 1


def test_maps_and_places_of_deep_zoomers_say_what_to_save(tmp_path):
    for suffix, words in ((".kfb", "save an .exr there"), (".imt", "as .kfr"), (".ufr", ".upr")):
        (tmp_path / f"a{suffix}").write_bytes(b"anything")
        with pytest.raises(SceneError, match=words):
            fractals.load_scene(tmp_path / f"a{suffix}")


def test_what_a_file_loses_is_a_warning_where_no_list_is_given(tmp_path):
    """In Python, too: nothing of a file that changes its picture is left out without a word."""
    path = tmp_path / "a.xpf"
    path.write_text("(initstate)\n(filter 'edge #t)\n(formula 'mandel)\n")
    line = f"lost: {path}: edges drawn as lines"
    for call in (load_scene, fractals.plan):
        with pytest.warns(fractals.FractalsWarning) as told:
            call(path)
        assert [str(each.message) for each in told] == [line]
        assert told[0].filename == __file__
    lines, lost = [], []
    fractals.plan(path, on_message=lines.append)
    assert lines == [line]
    load_scene(path, lost=lost)
    assert lost == [line.removeprefix("lost: ")]
    path.write_text("(initstate)\n" + "".join(f"(odd{k} 1)\n" for k in range(30)))
    with pytest.warns(fractals.FractalsWarning) as told:
        load_scene(path)
    assert len(told) == MAX_LINES + 1
    assert str(told[-1].message).startswith(f"lost: {30 - MAX_LINES} more, which load_scene")


def test_a_choice_among_entries_is_told_without_a_loss(tmp_path):
    path = tmp_path / "a.frm"
    path.write_text("A { z = pixel: z = z*z + pixel, |z| < 4 }\nB { z = 0: z = z*z + pixel }\n")
    with pytest.warns(fractals.FractalsWarning, match=r"^[^:]*: the first of 2 entries is read; "):
        load_scene(path)


def test_settings_of_rust_fractal(tmp_path):
    """Colors go once round in so many smooth counts; what changes no picture loses nothing."""
    path = tmp_path / "a.toml"
    path.write_text(
        'real = "-0.75"\nimag = "0.1"\nzoom = "1E2"\niterations = 500\nrotate = 0.0\n'
        "palette = [0, 0, 0, 255, 0, 0]\npalette_iteration_span = 40.0\npalette_offset = 1.25\n"
        "palette_cyclic = true\nframes = 1\nglitch_tolerance = 1.4e-6\nremove_centre = false\n"
        "approximation_order = 64\njitter = true\nfractal_type = 'burning_ship'\n"
    )
    lost = []
    color = load_scene(path, lost=lost).color
    assert (color.coloring.name, color.transfer) == ("smooth", "linear")
    assert (color.density, color.offset) == (1 / 40, 0.25)
    assert [line.removeprefix(f"{path}: ") for line in lost] == [
        "the formula, which the file doesn't name: the Mandelbrot set is drawn",
        "'fractal_type = burning_ship'",
    ]
    text = "image_width = 64\nimage_height = 48\nframes = 1000\nframe_offset = 3\n"
    path.write_text(f"{text}glitch_percentage = 1.0\n")
    lost.clear()
    assert load_scene(path, lost=lost).image.size == (64, 48)
    assert lost == [f"{path}: 'frames = 1000'"]


@pytest.mark.parametrize("name", ["https://x.org/a.kfr", "http://x.org/sea", "file:///a/b.toml"])
def test_addresses_are_not_opened(name):
    with pytest.raises(SceneError) as told:
        load_scene(name)
    assert str(told.value) == f"{name}: addresses of the web are not opened: save the file"
    assert load_scene('{"title": "https://x.org"}').title == "https://x.org"


@pytest.mark.parametrize("name", ["a.kfr", "a.toml", "a.f3.toml", "a.map"])
def test_an_end_too_many_is_told(tmp_path, name):
    """Some systems and forums add .txt to what is saved from a page."""
    (tmp_path / f"{name}.txt").write_text("anything")
    with pytest.raises(SceneError) as told:
        load_scene(tmp_path / f"{name}.txt")
    assert str(told.value).endswith(f"{name}.txt: rename it to {name}: its end tells the format")
    with pytest.raises(SceneError, match="no scene of the gallery, and no file that ends in"):
        load_scene(tmp_path / "b.kfr.txt")


@pytest.mark.parametrize(
    ("name", "scene"),
    [
        ("kfr", {"relief": {"heights": "smooth"}}),
        ("fraktaler3", {"relief": {"heights": "smooth"}}),
        ("flame", {"formula": "flame", "relief": {}}),
    ],
)
def test_what_no_other_program_has_is_told_where_a_scene_is_written(name, scene):
    given = {"author": "me", "develop": {"bloom": 0.5}, "iteration": {"max_iterations": 9}, **scene}
    write = catalog.load("format", name)().write
    lost = write(load_scene(given).to_table())[1]
    wanted = ["the author", "how the picture is developed"]
    wanted += ["the relief"] if given["relief"] else []
    assert set(wanted) <= set(lost)
    assert not set(wanted) & set(write(load_scene({**scene, "relief": {}}).to_table())[1])

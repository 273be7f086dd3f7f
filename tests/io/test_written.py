"""Every file with a scene that this program writes is read again, and other files say why not."""

import html
import io
import os
from pathlib import Path

import pytest
from support.scenes import scene

import fractals
from fractals.errors import FractalsError, SceneError
from fractals.explorer.outside import read_upload
from fractals.films import writing
from fractals.io.escape_data import SUFFIXES
from fractals.io.files import PAGES, path_of, scene_in_page, written
from fractals.io.foreign import formats
from fractals.io.image import FORMATS
from fractals.io.load import SCENE_SUFFIXES, load_scene

WRITTEN = sorted({*FORMATS, *SUFFIXES, *SCENE_SUFFIXES, ".svg"} - {".ppm"})
LINES = '<svg xmlns="http://www.w3.org/2000/svg"><desc>{}</desc></svg>'


@pytest.fixture
def drawn():
    return scene(title='a <b> "c" & $d', size=(16, 9), max_iterations=30)


def write(suffix, drawn, run):
    """Write a file of a kind, and return its name."""
    name = f"a{suffix}"
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    if suffix in SCENE_SUFFIXES:
        fractals.save_scene(drawn, name)
    elif suffix in SUFFIXES:
        fractals.compute(drawn, device="python").save(name)
    elif suffix == ".svg":
        fractals.save_scene(drawn, "lines.toml")
        assert run("trace", "lines.toml", "-o", name)[0] == 0
    else:
        fractals.render_to(name, drawn, device="cpu" if suffix == ".html" else "python")
    return name


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_scene_comes_back_from_every_kind_of_file(run, drawn, suffix):
    name = write(suffix, drawn, run)
    found = load_scene(name)
    assert found == drawn if suffix != ".svg" else found.title == drawn.title
    assert run("show", name)[0] == 0
    assert run("render", name, "--device", "python", "-o", "again.png")[0] == 0
    assert load_scene("again.png") == found
    if suffix in PAGES:
        table = read_upload(name, Path(name).read_bytes()).table
        assert load_scene(table) == found


@pytest.mark.parametrize("form", [each for each in formats.formats() if each.write])
def test_so_do_files_for_other_programs(run, form):
    flames = (name for name in fractals.names("scenes") if is_flame(name))
    source = next(flames) if "flame" in form.name else "seahorse"
    code, _, err = run("convert", source, "-o", f"a{form.suffixes[0]}")
    assert code == 0, err
    code, _, err = run("show", f"a{form.suffixes[0]}")
    assert code == 0, err


def is_flame(name):
    return load_scene(name).make_any_formula().name == "flame"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.html", "<title>other</title>", "carries no scene; only those written by fractals do"),
        ("a.svg", "<svg></svg>", "a.svg: this file carries no scene"),
        ("a.svg", LINES.format("of another program"), "a.svg: Expecting value"),
        ("a.svg", LINES.format("[1]"), "a table of keys was expected"),
        ("a.html", 'id="scene" href="data:application/toml;base64,AA*"', "a.html: "),
        ("a.html", 'id="scene" href="data:application/toml;base64,dGl0', "a.html: "),
        ("a.ppm", "P6", "pictures of this type carry no scene: draw a .png"),
        ("a.mp4", "", "films carry no scene: name the file that it was made of"),
    ],
)
def test_others_say_what_is_missing(tmp_path, monkeypatch, name, text, words):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    with pytest.raises(SceneError) as caught:
        load_scene(name)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_suffixes_of_films_are_known():
    assert {*writing.DEFAULTS} <= {*formats.OTHERS}


def test_a_page_names_no_file_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "good.map").write_text("0 0 0\n9 9 9\n")
    monkeypatch.chdir(tmp_path / "inner")
    Path("a.svg").write_text(LINES.format('{"color": {"palette": "../good.map"}}'))
    with pytest.raises(FractalsError, match="not in the folder of the scene that names it"):
        load_scene("a.svg")


@pytest.mark.parametrize("start", [0, 1, 2**16 - 5, 2**20 - 3, 2**20])
def test_a_scene_is_found_anywhere_in_a_page(start):
    text = html.escape('{"title": "<desc> & more"}', quote=False)
    data = b"x" * start + LINES.format(text).encode()
    assert scene_in_page(io.BytesIO(data), ".svg") == {"title": "<desc> & more"}
    assert os.linesep not in text


@pytest.mark.parametrize("named", [True, False])
def test_a_library_opens_a_file_that_is_being_written(tmp_path, monkeypatch, named):
    """Where files have a temporary name, as on macOS and Windows, there is no /proc."""
    if named:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("every file has a name here")
    with written(tmp_path / "a.exr") as file:
        assert path_of(file).startswith("/proc/") != named
        with open(path_of(file), "wb") as again:
            again.write(b"whole")
    assert (tmp_path / "a.exr").read_bytes() == b"whole"
    assert len(list(tmp_path.iterdir())) == 1

"""Files that name other files: where formulas, maps, palettes and pictures are looked for."""

import os
from pathlib import Path

import PIL.Image
import pytest

import fractals
from fractals.cli import shared
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.explorer.pages import uploaded
from fractals.io.foreign import formats
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

posix = pytest.mark.skipif(os.name != "posix", reason="links without a right, names in any case")
NINE = "Own (XAXIS) { z = pixel: z = z*z + pixel, |z| < 9 }\n"
FOUR = "own { z = pixel: z = z*z + pixel, |z| < 4 }\n"
PAR = "a { type=formula formulafile=Many.frm formulaname=own colors=@blue }\n"
MAP = "1 1 1\n0 0 9\n0 0 99\n"
UFM = "Own {\ninit:\n z = 0\nloop:\n z = z^3 + #pixel\nbailout:\n |z| < 9\n}\n"
UPR = """a {
layer:
mapping:
 center=0/0 magn=1
formula:
 maxiter=50 filename="many.ufm" entry="Own"
}
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """The layout of public collections: parameters, and beside their folder those of others."""
    monkeypatch.chdir(tmp_path)
    for name in ("par", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "par" / "many.par").write_text(PAR)
    (tmp_path / "par" / "many.upr").write_text(UPR)
    return tmp_path


def put(folder, name, text):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(text)


def parameter_of(scene):
    return scene.make_formula().parameters["test"]


@pytest.mark.parametrize("inside", ["par", "par/../formula", "Formulas", "par/formulas"])
def test_a_formula_is_found_around_its_parameters(library, inside):
    with pytest.raises(SceneError) as caught:
        load_scene("par/many.par")
    assert str(caught.value).endswith(
        "the formula 'own' is not in this file, and no file 'Many.frm' is in its folder, "
        "../formula, ../formulas, formulas/: formulas='FOLDER' names another folder"
    )
    put(library / inside, "MANY.FRM", NINE)
    assert parameter_of(load_scene("par/many.par")) == "norm(z) < 9.0"
    assert formats.entries("par/many.par") == [("a", "type formula")]
    put(library / inside, "Many.UFM", UFM)
    assert load_scene("par/many.upr").make_formula().parameters["power"] == 3


@pytest.mark.parametrize("inside", ["par", "map", "MAPS", "par/maps"])
def test_a_map_is_found_around_its_parameters(library, inside):
    put(library / "par", "many.frm", NINE)
    lost = []
    load_scene("par/many.par", lost=lost)
    assert lost == [
        "par/many.par: the palette in the file 'blue', which is not in its folder, ../map, "
        "../maps, maps/: formulas='FOLDER' names another folder"
    ]
    put(library / inside, "Blue.MAP", MAP)
    lost = []
    stops = load_scene("par/many.par", lost=lost).to_table()["color"]["palette"]["stops"]
    assert ([str(color) for _, color in stops], lost) == (["#000009", "#000063"], [])


def test_the_nearest_file_that_has_the_formula_is_read(library):
    put(library / "par", "many.frm", "other { z = pixel: z = z*z, |z| < 1 }\n")
    with pytest.raises(SceneError, match=r"'own' is neither in this file nor in 'Many\.frm'"):
        load_scene("par/many.par")
    put(library / "formulas", "many.frm", NINE)
    assert parameter_of(load_scene("par/many.par")) == "norm(z) < 9.0"
    put(library / "formula", "many.frm", FOUR)
    assert parameter_of(load_scene("par/many.par")) == "norm(z) < 4.0"


def test_folders_of_the_user_come_last(library):
    put(library / "elsewhere", "many.frm", NINE)
    put(library / "elsewhere", "blue.map", MAP)
    for given in ("elsewhere", Path("elsewhere"), ["par", "elsewhere"]):
        lost = []
        scene = load_scene("par/many.par", lost=lost, formulas=given)
        assert (parameter_of(scene), lost) == ("norm(z) < 9.0", [])
    drawn = fractals.render(
        "par/many.par", formulas=("elsewhere",), size=(4, 3), palette="gray", device="python"
    )
    assert drawn.scene.formula == scene.formula
    put(library / "formula", "many.frm", FOUR)
    assert parameter_of(load_scene("par/many.par", formulas="elsewhere")) == "norm(z) < 4.0"
    for given, words in (("nowhere", "formulas='nowhere': no such folder"), (7, "give a folder")):
        with pytest.raises(OptionError, match=words):
            load_scene("par/many.par", formulas=given)


def test_they_are_options_and_defaults_of_the_command_line(library, run, monkeypatch):
    put(library / "elsewhere", "many.frm", NINE)
    put(library / "elsewhere", "blue.map", MAP)
    code, _, err = run("show", "par/many.par")
    assert (code, "--formulas FOLDER names another" in err) == (3, True)
    assert run("show", "par/many.par", "--formulas", "elsewhere")[0] == 0
    given = ("--formulas", "par", "--formulas", "elsewhere")
    assert run("convert", "par/many.par", "a.toml", *given)[0] == 0
    assert run("render", "par/many.par", *given, "--size", "4x3", "--device", "python")[0] == 0
    put(library / "settings", "defaults.toml", 'formulas = ["../elsewhere"]\n')
    monkeypatch.setattr(shared, "path", lambda: library / "settings" / "defaults.toml")
    assert run("show", "par/many.par")[0] == 0
    for bad, words in (("7", "give a list of folders"), ('["nowhere"]', "no such folder")):
        shared.read.cache_clear()
        put(library / "settings", "defaults.toml", f"formulas = {bad}\n")
        code, _, err = run("show", "par/many.par")
        assert (code, words in err) == (3, True)
    shared.read.cache_clear()


@posix
@pytest.mark.parametrize("named", ["many.frm", "../elsewhere/many.frm", "/etc/passwd"])
def test_nothing_else_is_read(library, named):
    put(library / "elsewhere", "many.frm", NINE)
    put(library / "par" / "formulas" / "deeper", "many.frm", NINE)
    put(library / "formula", "readme", "no formula")
    os.symlink(library / "elsewhere", library / "formulas")  # a folder that is a link
    os.symlink(library / "elsewhere" / "many.frm", library / "formula" / "many.frm")
    os.symlink("/etc/passwd", library / "formula" / "passwd")
    (library / "par" / "many.par").write_text(PAR.replace("Many.frm", named))
    with pytest.raises(SceneError, match="the formula 'own' is not in this file, and no file"):
        load_scene("par/many.par")


def test_what_is_sent_to_the_explorer_opens_no_file(library, monkeypatch):
    for name in ("formula", "map", "."):
        put(library / name, "many.frm", NINE)
        put(library / name, "many.ufm", UFM)
        put(library / name, "blue.map", MAP)

    def opened(*given):
        raise AssertionError(f"{given} is opened")

    monkeypatch.setattr(os, "scandir", opened)
    monkeypatch.setattr(Path, "open", opened)
    for name, text in (("many.par", PAR), ("many.upr", UPR)):
        with pytest.raises(SceneError, match="a file that is sent alone must hold what it names"):
            uploaded(name, text.encode())
    own = PAR + f"frm:{NINE}"
    told = uploaded("many.par", own.encode())
    assert told["scene"]["formula"]["test"] == "norm(z) < 9.0"
    assert "'blue', which is not beside it" in told["lost"][0]


def test_palettes_and_pictures_of_scenes(library):
    """A scene's file names them; its folder comes first, then those of the user."""
    scene = (
        '[color]\npalette = "own/Blue.map"\n[color.coloring]\n'
        'name = "picture_trap"\npicture = "Trap.png"\n'
    )
    put(library / "par", "a.toml", scene)
    for words in (
        r"a.toml: color.palette: .*Blue.map: no such file",
        r"a.toml: color.coloring.picture: .*Trap.png: no such file",
    ):
        with pytest.raises(FractalsError, match=words):
            load_scene("par/a.toml")
        put(library / "par" / "own", "BLUE.MAP", MAP)
    put(library / "elsewhere", "blue.map", MAP)
    PIL.Image.new("RGB", (4, 4), "red").save(library / "elsewhere" / "trap.PNG")
    found = load_scene("par/a.toml", formulas="elsewhere")
    assert len(found.color.palette.stops) == 3
    put(library / "par", "b.toml", '[color]\npalette = "../elsewhere/blue.map"\n')
    with pytest.raises(FractalsError, match="not in the folder of the scene that names it"):
        load_scene("par/b.toml")
    assert len(load_scene("par/b.toml", formulas="elsewhere").color.palette.stops) == 3

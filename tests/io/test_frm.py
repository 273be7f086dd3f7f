"""Files of Fractint's formulas: listed, chosen, given numbers, and drawn as a plain loop says."""

from pathlib import Path

import numpy as np
import pytest

import fractals
from fractals.errors import SceneError
from fractals.explorer import outside
from fractals.explorer.pages import uploaded
from fractals.io.foreign import formats, frm
from fractals.io.foreign._fractint import FUNCTIONS

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "formats" / "frm"
MANY = """
comment { free text: not a formula }
Mandel(XAXIS) { ; the set
  z = c = pixel:
  z = sqr(z) + c
  |z| <= 4
}
Cubic { z = 0: z = z^3 + pixel + p1 * fn1(1), |z| < 9 }
Random { z = srand(9): z = z*z + pixel, |z| < 4 }
Half { z = pixel, z = z }
"""


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.frm"
    path.write_text(MANY)
    return path


def test_a_formula_that_is_never_closed_is_told(tmp_path):
    (tmp_path / "a.frm").write_text("\none { z = pixel:\n z = z*z + pixel, |z| < 4\n")
    with pytest.raises(SceneError, match=r"a\.frm: line 2: the entry 'one' is never closed"):
        formats.read(str(tmp_path / "a.frm"))


def test_formulas_are_listed_with_what_can_not_be_drawn(many):
    found = formats.entries(str(many))
    assert [name for name, _ in found] == ["Mandel", "Cubic", "Random", "Half"]
    about = dict(found)
    assert about["Mandel"] == about["Cubic"] == "a formula"
    assert "unsupported: line 9: the formula 'Random': 'srand' is random" in about["Random"]
    assert "no ':' between" in about["Half"]


def test_the_first_formula_is_read_or_the_one_that_is_named(many):
    first = formats.read(str(many))
    assert first.table["title"] == "Mandel"
    assert first.lost[0].startswith("the first of 4 entries")
    scene = fractals.load_scene(f"{many}#mandel")
    assert scene.title == "Mandel"
    assert scene.color == fractals.Scene().color
    assert scene.iteration.max_iterations == "auto"
    with pytest.raises(SceneError, match=r"no entry 'Cubi'; did you mean 'Cubic'"):
        formats.read(f"{many}#Cubi")
    with pytest.raises(SceneError, match="Half: line 10"):
        formats.read(f"{many}#Half")
    with pytest.raises(SceneError, match=r"no formula such as 'name \{ z = pixel"):
        frm.read_frm(b"nothing", "")


def test_numbers_and_functions_that_fractint_asks_for_are_given(many):
    usual = formats.read(f"{many}#Cubic")
    assert usual.lost == ("the formula asks for 'p1=0 fn1=sin': 'FILE#NAME p1=0' sets one",)
    given = formats.read(f"{many}#cubic P1=0.2,-.5 fn1=recip")
    assert given.lost == ()
    assert given.table["formula"]["step"] == "z = z^3 + c + (0.2 + (-0.5)*i)"


def test_settings_in_brackets_are_what_a_formula_begins_with(tmp_path):
    path = tmp_path / "begun.frm"
    path.write_text(
        "A(XAXIS)[float=y function=Cos/exp/none maxiter=300 center-mag=1/0/2] {\n"
        "z = pixel: z = fn1(z) + fn2(z) + fn3(p1), |z| < 9 }\n"
        "B [70461,3272] { z = pixel: z = fn1(z), |z| < 9 }\n"
    )
    table = formats.read(f"{path}#A").table
    assert table["formula"]["step"] == "z = cos(z) + exp(z)"
    assert table["iteration"]["max_iterations"] == 300
    assert table["view"]["center"] == ["1", "0"]
    other = formats.read(f"{path}#A fn2=sqr").table["formula"]["step"]
    assert other == "z = cos(z) + z^2"
    found = formats.read(f"{path}#B").table
    assert found["formula"]["step"] == "z = sin(z)"
    assert "max_iterations" not in found["iteration"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("p6=1", "'p6=1' is none of p1, p2"),
        ("p1", "no entry 'Cubic p1'; did you mean 'Cubic'"),
        ("p1=", "p1: '' is not a decimal number"),
        ("p1=1 two", "'two' sets nothing, as p1=2 does"),
        ("p1=1,2,3", "p1: a number, or two"),
        ("p1=nan", "p1: 'nan' is not"),
        ("fn1=gamma", "fn1: 'gamma' is none of sin"),
    ],
)
def test_wrong_words_are_told(many, words, told):
    with pytest.raises(SceneError, match=told):
        formats.read(f"{many}#Cubic {words}")


def test_counts_are_those_of_a_plain_loop(many):
    scene = fractals.load_scene(f"{many}#Cubic p1=0.125,-0.25 fn1=ident")
    scene = scene.replace(size=(12, 9), supersampling=1, coloring="count", max_iterations=60)
    found = fractals.compute(scene, device="simulator").count
    pixel = 4 / 12
    for row, column in np.ndindex(9, 12):
        c = complex((column - 5.5) * pixel, (4 - row) * pixel)
        z, count = 0j, 0
        while abs(z) ** 2 < 9 and count < 60:
            z, count = z * z * z + c + (0.125 - 0.25j), count + 1
        assert found[row, column] == count
    assert 20 < (found < 60).sum() < 108


def test_files_of_others_are_drawn():
    files = sorted(SHARED.glob("*.frm"))
    if not files:
        pytest.skip("no files of others here")
    for path in files:
        names = [name for name, _ in formats.entries(str(path))] or [""]
        for name in names:
            assert formats.read(f"{path}#{name}" if name else str(path)).table["formula"]


def test_the_explorer_offers_what_a_file_holds():
    data = MANY.encode()
    assert uploaded("many.frm", data)["entries"][1] == ("Cubic", "a formula")
    told = uploaded("many.frm", data, "Cubic p1=0.5")
    assert told["scene"]["title"] == "Cubic"
    assert told["lost"] == []
    assert [(name, value) for name, value, *_ in told["asked"]] == [("p1", "0.5"), ("fn1", "sin")]
    assert [len(choices) for _, _, choices, _ in told["asked"]] == [0, len(FUNCTIONS)]
    own = uploaded("one.frm", b"A { z = pixel: z = z*z + p1, |z| < 4 }", "p1=0,1")
    assert own["asked"] == [("p1", "0,1", (), "")]
    assert "i" in own["scene"]["formula"]["step"]
    assert "entries" not in uploaded("one.frm", b"A { z = pixel: z = z*z + pixel, |z| < 4 }")
    with pytest.raises(SceneError, match="bad"):
        outside.entries_of("bad.frm", b"nothing")

"""Iterated function systems of Fractint: read as flames, or refused in one line."""

import random

import numpy as np
import pytest

import fractals
from fractals.errors import SceneError
from fractals.scatter import ifs_file

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

TEXT = """
; systems of this test
fern {  ; Barnsley
   0    0    0   .16  0  0    .01
  .85  .04 -.04  .85  0  1.6  .85
  .2  -.26  .23  .22  0  1.6  .07
 -.15  .28  .26  .24  0   .44 .07
}
dust { .3 0 0 .3 0 0 1 .3 0 0 .3 1 0 1 }
cube (3D) { 1 0 0 0 1 0 0 0 1 0 0 0 1 }
"""


def test_a_fern_is_drawn(tmp_path):
    path = tmp_path / "own.ifs"
    path.write_text(TEXT)
    scene = fractals.load_scene(path)
    transforms = scene.make_any_formula().transforms
    assert [each.weight for each in transforms] == [0.01, 0.85, 0.07, 0.07]
    assert transforms[1].affine == (0.85, 0.04, 0.0, -0.04, 0.85, 1.6)
    assert transforms[3].color == 1
    # The fern is 10 high.
    assert 4.5 < float(scene.view.center[1]) < 5.5
    assert 15 < float(scene.view.width) < 22
    image = fractals.render(path, size=(32, 18), quality=20.0, device="cpu")
    assert len(np.unique(image.pixels)) > 20
    assert image.summary.share > 0.98


def test_numbers_may_have_commas_between_them():
    plain = b"dust { .3 0 0 .3 0 0 1 .3 0 0 .3 1 0 1 }"
    commas = b"dust { .3,0,0,.3,0,0,1,\n.3, 0, 0, .3, 1, 0, 1 }"
    assert ifs_file.read_ifs(commas, "") == ifs_file.read_ifs(plain, "")
    assert ifs_file.entries_of_ifs(commas) == [("dust", "2 maps")]


def test_entries_are_listed_and_named():
    assert ifs_file.entries_of_ifs(TEXT.encode()) == [
        ("fern", "4 maps"),
        ("dust", "2 maps"),
        ("cube (3D)", "in space"),
    ]
    assert ifs_file.read_ifs(TEXT.encode(), "dust").table["title"] == "dust"
    assert "first of 3 entries" in ifs_file.read_ifs(TEXT.encode(), "").lost[0]


@pytest.mark.parametrize(
    ("text", "entry", "words"),
    [
        ("", "", "no system is in it"),
        (TEXT, "fren", "did you mean 'fern'"),
        (TEXT, "cube (3D)", "a system in space"),
        ("a { 1 2 3 }", "", "has 3 numbers: each map has 7"),
        ("a { 1 2 3 x 5 6 7 }", "", "'x' is not a number"),
        ("a { 1 2 3 nan 5 6 7 }", "", "not from -1e9 to 1e9"),
        ("a { 1 2 3 4 5 6 0 }", "", "one of them more"),
        ("a {" + " 1" * 7 * 101 + "}", "", "more than 100 maps"),
    ],
)
def test_what_is_no_system_is_refused(text, entry, words):
    with pytest.raises(SceneError, match=words):
        ifs_file.read_ifs(text.encode(), entry)


def test_any_bytes_end_in_a_scene_or_in_one_error():
    dice, read = random.Random(3), 0
    for _ in range(3000):
        data = bytearray(TEXT.encode())
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            fractals.Scene.model_validate(dict(ifs_file.read_ifs(bytes(data), "").table))
            read += 1
        except SceneError:
            pass
    assert read > 500

"""What render draws where no scene is named."""

import pytest

import fractals
from fractals.cli.render import FIRST, first_scene
from fractals.io.load import load_scene


def test_nothing_is_asked_for_but_pixels(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, _ = run("render", "--size", "32x18", "--supersampling", "1", "--cpu")
    assert code == 0
    drawn = load_scene("mandelbrot.png")
    assert drawn == load_scene(FIRST, size=(32, 18), supersampling=1).unframed()
    assert drawn.formula.name == "mandelbrot"
    whole = fractals.compute(drawn, coloring="count", layers=[], device="cpu")
    edges = (whole.count[0], whole.count[-1], whole.count[:, 0], whole.count[:, -1])
    assert all((edge < 100).all() for edge in edges)  # nothing of the set is cut off


@pytest.mark.parametrize(
    ("options", "defaults", "plain"),
    [
        ({}, {}, False),
        ({"size": "4k", "bits": "16", "gamut": None}, {"image": {"supersampling": 3}}, False),
        ({"palette": "ember"}, {}, True),
        ({"zoom": "3"}, {}, True),
        ({"formula": "burning_ship"}, {}, True),
        ({"heights": "smooth"}, {}, True),
        ({"max_iterations": "100"}, {}, True),
        ({}, {"color": {"palette": "ember"}}, True),
    ],
)
def test_what_is_asked_of_a_scene_is_asked_of_a_plain_one(options, defaults, plain):
    assert first_scene(options, defaults) == (() if plain else (FIRST,))

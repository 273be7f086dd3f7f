"""`fractals find`, as it is typed."""

import json
import os
from pathlib import Path

import pytest
from support.command_line import one_line

from fractals.io.load import load_scene

MINIBROT = ("--center=-1.75,0", "--width", "0.1")


@pytest.fixture
def find(run):
    return lambda *arguments: run("find", *arguments)


@pytest.mark.parametrize("verb", ["nucleus", "period", "julia", "misiurewicz", "interesting"])
def test_help_ends_with_three_examples(find, verb):
    code, out, _ = find(verb, "--help")
    examples = out.decode().split("Examples:")[1].strip().splitlines()
    assert code == 0
    assert len(examples) == 3
    assert all(line.strip().startswith("fractals find ") for line in examples)


def test_a_period_is_printed_alone(find):
    assert find("period", *MINIBROT) == (0, b"3\n", "")
    assert json.loads(find("period", "minibrot", "--json")[1]) == {"period": 77}


@pytest.mark.parametrize("zoom", ["1e-20", "1e-400"])
def test_the_period_of_a_view_far_wider_than_the_set_is_1(find, zoom):
    assert find("period", "--zoom", zoom) == (0, b"1\n", "")


def test_nucleus_on_stdout_is_a_scene(find):
    code, out, err = find("nucleus", *MINIBROT, "--size", "320x200")
    assert code == 0
    assert one_line(err)
    for words in ("period 3", "cardioid", "0.0190355", "20 decimals"):
        assert words in err
    Path("mini.toml").write_bytes(out)
    scene = load_scene("mini.toml")
    assert scene.view.center == ("-1.75487766624669276005", "0")
    assert scene.image.size == (320, 200)
    assert find("period", "mini.toml")[1] == b"3\n"


def test_nucleus_in_files(find):
    code, out, err = find("nucleus", "minibrot", "--upright", "-o", "mini.toml")
    assert (code, out) == (0, b"")
    assert "mini.toml" in err.splitlines()[1]
    assert load_scene("mini.toml").view.rotation == pytest.approx(-140.311, abs=1e-3)
    assert find("nucleus", "minibrot", "--upright", "-o", "mini.json")[0] == 0
    assert load_scene("mini.json") == load_scene("mini.toml")
    code, _, err = find("nucleus", "minibrot", "-o", "mini.toml")
    assert code != 0
    assert "--overwrite" in err
    assert one_line(err)
    assert find("nucleus", "minibrot", "-o", "mini.toml", "--overwrite")[0] == 0
    assert load_scene("mini.toml").view.rotation == 0


def test_what_is_found_is_told_as_json(find):
    facts = json.loads(find("nucleus", *MINIBROT, "--json")[1])
    assert (facts["period"], facts["cardioid"], facts["angle"]) == (3, True, 0)
    assert facts["center"] == facts["scene"]["view"]["center"]
    facts = json.loads(find("julia", *MINIBROT, "--fraction", "0.5,0.75", "--json")[1])
    assert facts["fractions"] == [0.5, 0.75]
    assert [scene["view"]["center"] for scene in facts["scenes"]] == [facts["center"]] * 2


def test_julia_in_files(find):
    assert find("julia", "minibrot", "-o", "a.toml")[0] == 0
    assert find("julia", "minibrot", "--fraction", "0.5,0.75,0.75000001", "-o", "b.toml")[0] == 0
    assert sorted(os.listdir()) == ["a.toml", "b-0.5.toml", "b-0.75.toml", "b-0.75000001.toml"]
    assert load_scene("a.toml") == load_scene("b-0.75.toml")


def test_a_low_limit_is_raised_and_said(find):
    Path("low.toml").write_text(
        '[view]\ncenter=["-1.75", "0"]\nwidth="0.1"\n[iteration]\nmax_iterations=50'
    )
    code, out, err = find("nucleus", "low.toml")
    assert code == 0
    assert 'max_iterations = "auto"' in out.decode()
    assert "max_iterations 50 is too low for period 3" in err.splitlines()[1]


def test_misiurewicz(find):
    code, out, err = find("misiurewicz", "seahorse", "--digits", "200", "-o", "eye.toml")
    assert (code, out) == (0, b"")
    for words in ("preperiod 28", "period 2", "1.1144", "-23.83°", "200 decimals"):
        assert words in err
    eye = load_scene("eye.toml")
    assert eye.view.width == load_scene("seahorse").view.width
    assert len(eye.view.center[0]) == len("-0.") + 200
    facts = json.loads(find("misiurewicz", "eye.toml", "--json")[1])
    assert (facts["preperiod"], facts["period"], facts["factor"]) == (28, 2, "1.1144")
    assert facts["scene"]["view"]["center"] == facts["center"]


def test_interesting(find):
    arguments = ("interesting", "seahorse", "--size", "160x90", "--count", "2", "--cpu")
    code, out, err = find(*arguments, "-o", "views")
    assert code == 0
    assert [line.split()[0] for line in out.decode().splitlines()] == [
        os.path.join("views", "view-1.toml"),
        os.path.join("views", "view-2.toml"),
    ]
    assert "thumbnails of 2 views" in err
    assert sorted(os.listdir("views")) == ["sheet.png", "view-1.toml", "view-2.toml"]
    facts = json.loads(find(*arguments, "--json")[1])
    assert [load_scene(each["scene"]) for each in facts] == [
        load_scene("views/view-1.toml"),
        load_scene("views/view-2.toml"),
    ]
    assert facts[0]["score"] >= facts[1]["score"]
    code, _, err = find(*arguments, "-o", "views")
    assert code == 1
    assert "--overwrite" in err


@pytest.mark.parametrize("search", ["nucleus", "julia", "misiurewicz"])
def test_a_search_at_a_pixel(find, search):
    """In a view of the whole set, the pixel of -1.755 or of -2."""
    Path("view.toml").write_text(
        '[view]\ncenter = ["-1.5", "0"]\nwidth = "1.5"\n[image]\nsize = [150, 100]'
    )
    x, expected = ("0", "-2") if search == "misiurewicz" else ("49", "-1.754877666")
    x = "25" if search == "misiurewicz" else x
    found = json.loads(find(search, "view.toml", "--at", f"{x},49", "--width", "5%", "--json")[1])
    assert found["center"][0].startswith(expected)
    assert found["center"][1] == "0"
    if search != "misiurewicz":  # the main component
        assert json.loads(find(search, "view.toml", "--json")[1])["period"] < found["period"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nucleus", "julia"], 3, "a Julia set has no nuclei"),
        (["nucleus", "no_such_scene"], 2, "no_such_scene"),
        (["period", "--center=3,0", "--width", "1"], 1, "no nucleus was found"),
        (["period", *MINIBROT, "--max-period", "2"], 1, "up to 2 was found"),
        (["period", *MINIBROT, "--max-period", "0"], 2, "--max-period: '0'"),
        (["period", *MINIBROT, "--max-period", "many"], 2, "--max-period: 'many'"),
        (["nucleus", *MINIBROT, "-o", "a.png"], 2, ".toml or .json"),
        (["nucleus", "armada", "--upright"], 2, "skewed"),
        (["nucleus", "--center=a,0"], 2, "--center"),
        (["julia", *MINIBROT, "--fraction", "1.5"], 2, "--fraction: '1.5'"),
        (["julia", *MINIBROT, "--fraction", "x"], 2, "--fraction: 'x'"),
        (["julia", *MINIBROT, "--fraction", "0.5,0.75"], 2, "--output"),
        (["nucles"], 2, "nucleus"),
        (["minibort"], 2, "did you mean 'minibrot'?"),
        (["interesting", "--center=3,0", "--width", "1", "--cpu"], 1, "nothing in the view"),
        (["interesting", "--center=3,0", "--width", "1", "-o", "a/b"], 1, "nothing in the view"),
        (["misiurewicz", "julia"], 3, "a Julia set has no Misiurewicz points"),
        (["misiurewicz", "armada"], 3, "burning_ship"),
        (["misiurewicz", "seahorse", "--digits", "x"], 2, "--digits: 'x'"),
        (["misiurewicz", "seahorse", "--digits", "0"], 2, "digits 0"),
        (["misiurewicz", "--center=3,0", "--width", "1"], 1, "no Misiurewicz point"),
    ],
)
def test_errors_are_one_line(find, arguments, code, words):
    got, out, err = find(*arguments)
    assert got == code
    assert words in err
    assert out == b""
    assert one_line(err) or arguments[-1] == "--upright"
    assert os.listdir() == []

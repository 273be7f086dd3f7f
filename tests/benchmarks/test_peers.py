"""The comparison with Fractalshades: all of it but Fractalshades itself, and no time asserted."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import fractals
from fractals.errors import DifferenceError, OptionError, SceneError

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "peers"))

import exact
import fractalshades_peer as peer
import places

ROW = {
    "name": "here",
    "formula": "mandelbrot z^2+c",
    "re": "-1.25",
    "im": "0.02",
    "height": "0.09",
    "max_iter": 60,
}


@pytest.mark.parametrize(
    "formula",
    ["mandelbrot", {"name": "multibrot", "power": 3}, "burning_ship", "perpendicular_burning_ship"],
)
def test_the_judge_counts_as_we_do_where_counts_are_stable(formula):
    view = {"center": ["-0.6", "0.55"], "width": "1.6"}
    scene = fractals.load_scene(
        {"formula": formula, "view": view},
        places.BARE,
        {"image": {"size": [40, 22]}, "iteration": {"max_iterations": 60}},
    )
    raw = fractals.compute(scene, device="python")
    made = scene.make_formula()
    center, pixel = (Fraction("-0.6"), Fraction("0.55")), Fraction("1.6") / 40
    judge = exact.Judge(made.name, made.degree, center, pixel, (40, 22), 60, 1000.0)
    seen = list(judge.sample(100))
    assert len(seen) == 100
    assert len({count for _, _, count in seen}) > 5
    assert all(raw.count[row, column] == count for column, row, count in seen)


def test_the_judge_passes_over_chaotic_pixels_and_stops_at_its_budget():
    # Just inside the tip of the antenna, where counts change from point to point.
    tip = (Fraction("-1.999"), Fraction(0))
    judge = exact.Judge("mandelbrot", 2, tip, Fraction(1, 10), (5, 5), 10_000, 1000.0)
    assert judge.stable(2, 2) is None
    before = judge.steps
    assert before > 0
    assert not list(judge.sample(100, budget=before))


def test_locations_become_scenes(tmp_path):
    path = tmp_path / "locations.json"
    path.write_text(json.dumps([ROW, {**ROW, "name": "other", "formula": "nova"}]))
    found = places.choose(places.read_locations(path), None)
    assert list(found) == ["here"]
    scene = found["here"]
    assert scene.view.center == ("-1.25", "0.02")
    assert float(scene.view.width) == pytest.approx(0.16)
    assert (scene.iteration.max_iterations, scene.image.size) == (60, (800, 450))


@pytest.mark.parametrize("text", ["[", "[1]", '[{"name": "here"}]', "7"])
def test_bad_locations_are_told_in_one_line(tmp_path, text):
    path = tmp_path / "locations.json"
    path.write_text(text)
    with pytest.raises(SceneError, match=r"locations\.json") as caught:
        places.read_locations(path)
    assert "\n" not in str(caught.value)


def test_unknown_places_are_named():
    with pytest.raises(OptionError, match="unknown place 'y': choose of x"):
        places.choose({"x": {}}, "y")
    with pytest.raises(OptionError, match="--locations"):
        places.choose({}, None)


def test_the_gallery_has_places_for_both():
    assert "spirals" in places.read_gallery()


def test_figures_are_kept_place_by_place(tmp_path):
    path = tmp_path / "figures.json"
    versions = {"fractalshades": "1.2.1", "numba": "0.61.2"}
    whole = {"version": 1, "hardware": {}, "versions": versions}
    peer.keep(path, {**whole, "results": [{"workload": "a"}, {"workload": "b", "runs": 1}]})
    peer.keep(path, {**whole, "results": [{"workload": "b", "runs": 2}]})
    assert peer.read(path)["results"] == [{"workload": "a"}, {"workload": "b", "runs": 2}]


def test_kept_figures_are_read_as_a_table_and_a_wrong_count_is_an_error(capsys):
    path = Path(__file__).parents[2] / "benchmarks" / "peers-amd-epyc-2-cores.json"
    assert peer.main(["--read", str(path)]) == 0
    shown = capsys.readouterr().out
    whole = peer.read(path)
    assert all(result["workload"] in shown for result in whole["results"])
    whole["results"][0]["exact"]["ours"] -= 1
    with pytest.raises(DifferenceError, match="1 stable counts of ours"):
        peer.check(whole)


def test_without_fractalshades_one_line_says_where_to_read(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fractalshades", None)
    monkeypatch.setitem(sys.modules, "fractalshades.models", None)
    assert peer.main(["--only", "spirals"]) == 4
    assert "benchmarks/README.md" in capsys.readouterr().err

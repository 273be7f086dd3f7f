"""Where float64 may count wrongly, it is said; in ordinary views nothing is."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from support.scenes import OTHERS, scene, slow_but
from support.truth3 import entries

import fractals
from fractals.rendering import rounding
from fractals.rendering.plan import MIN_NOISE, make_plan, noise_note

OFTEN = ("long orbits, direct: spider 6.38047e-11",)
LONG = {each["name"]: each for each in entries("views") if each["name"].startswith("long orbits")}


@pytest.mark.parametrize("name", slow_but([name for name in LONG if "magnet2" not in name], LONG))
def test_wrong_counts_are_said(name):
    entry = LONG[name]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        raw = fractals.compute(entry["scene"], device="cpu", force=True, precision="float64")
    wrong = np.mean([raw.count[j, i] != n for i, j, n in entry["pixels"]])
    lines = [str(each.message) for each in said]
    assert wrong > 0
    assert any("of the samples may be wrong: float64" in line for line in lines)


@pytest.mark.parametrize("name", slow_but(OFTEN, LONG))
def test_where_float64_counts_wrongly_double_double_counts_right(name):
    entry = LONG[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = fractals.compute(entry["scene"], device="cpu", force=True)
    assert [int(raw.count[j, i]) for i, j, _ in entry["pixels"]] == [n for *_, n in entry["pixels"]]


@pytest.mark.parametrize("name", OTHERS)
def test_ordinary_views_say_nothing(name):
    """The home view, and one in which samples are 1e-9 apart."""
    for width in (None, "3e-8"):
        place = {"width": width, "center": ["0.3", "0.6"]} if width else {}
        planned = make_plan(scene(name, coloring="count", size=(32, 18), **place))
        assert planned.noise < MIN_NOISE
        assert noise_note(planned) == ""


def test_the_share_grows_with_the_depth():
    """About a point where orbits of nova take long to converge."""
    center = ["1.598886233785331", "0.425796647768689"]
    of_speed = {"coloring": "speed", "size": (33, 19), "precision": "float64"}
    shares = [
        make_plan(scene("nova", **of_speed, center=center, width=width)).noise
        for width in ("1e-3", "1e-8", "1e-11")
    ]
    assert shares[0] == 0 < shares[1] < 0.5 < shares[2]


def test_exact_formulas_and_float32_are_not_measured(monkeypatch):
    monkeypatch.setattr(rounding, "_wrong_share", None)
    assert make_plan(scene(center=["-0.75", "0.1"], width="1e-11")).noise == 0
    wide = scene("nova", coloring="speed", width="1e-2", center=["1.6", "0.4"], precision="float32")
    assert make_plan(wide).noise == 0


def test_what_a_tiny_move_changes_as_well_is_not_counted(monkeypatch):
    """Up to four times the change by a move of 1e-5 pixels is chaos, and no rounding.

    All orbits end at |z| = 3, which is 1 from the radius, so changes of |z| are chances.
    """
    place, moved = (0, 0), 0.001
    ends = {0: rounding.End(7, (3.0, 0.0), (0.0, 0.0))}
    ends[1] = rounding.End(7, (3 + moved, 0.0), (0.0, 0.0))
    monkeypatch.setattr(rounding, "_places", lambda *_: ([place], ([0.0], [0.0])))
    monkeypatch.setattr(rounding, "_end", lambda formula, c, at, *_: ends[int(at != place)])
    for change, share in ((0.010, 0.006), (0.004, 0.0), (0.5, 0.496)):
        rounded = rounding.End(7, (3 + change, 0.0), (0.0, 0.0))
        monkeypatch.setattr(rounding, "_rounded_ends", lambda *_, end=rounded: [end])
        found = rounding._wrong_share.__wrapped__(
            fractals.load_scene().make_formula(), None, (1, 0, 0, 1), place, (1, 1),
            Fraction(1, 100), 100, 2.0, 53,
        )  # fmt: skip
        assert found == pytest.approx(share, abs=1e-12)


def test_the_plan_tells_it(run):
    center = "--center=1.598886233785331,0.425796647768689"
    view = ("--formula", "nova", center, "--width", "5e-11", "--size", "33x19", "--dry-run")
    view += ("--max-iterations", "1000")  # for "auto" a program would be compiled
    code, out, _ = run("render", *view)
    assert code == 0
    assert b"float64 may miscount up to" in out
    assert b"double-double numbers, whose steps take about" in out
    view += ("--precision", "float64")
    code, out, _ = run("render", *view)
    assert (code, b"of the samples may be wrong: float64" in out) == (0, True)
    code, out, _ = run("render", *view, "--json")
    assert json.loads(out)["noise"] > 0.1

"""Posters: a picture in bands is that of all rows at once, byte for byte."""

import io

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals.cli.verbs import run_verb as main
from fractals.errors import DeviceMemoryError, OptionError
from fractals.io import png
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.stores.kept import Kept
from fractals.scatter import play
from fractals.scatter.play import Player
from fractals.scatter.show import Show

FLAME = {
    "name": "flame",
    "transforms": [
        {"affine": [0.6, -0.3, 0.2, 0.3, 0.6, 0], "variations": {"linear": 0.7, "swirl": 0.3}},
        {"affine": [0.5, 0, -0.6, 0, 0.5, 0.3], "color": 1.0, "variations": {"spherical": 0.4}},
    ],
    "final": {"variations": {"eyefish": 0.8, "blur": 0.02}},
}
EVEN = {"name": "flame", "transforms": [{"variations": {"square": 4}}]}
ORBITS = {"name": "buddhabrot", "cells": 256}
SMALL = {"size": (56, 100), "quality": 12, "device": "cpu", "max_iterations": 60}
LOOKS = {
    "estimate": {"supersampling": 1, "estimator_radius": 9.0},
    "fine": {"supersampling": 2, "filter": "gaussian", "filter_radius": 1.5},
    "finer": {"supersampling": 4, "estimator_radius": 2.0, "bits": 16, "quality": 2},
    # Few hits in all places, so that a spread depends on buckets around those that it reaches.
    "finest": {"supersampling": 5, "estimator_radius": 1.0, "filter": "box", "bits": 16}
    | {"steps": 20, "quality": 1},
    "plain": {"supersampling": 1, "estimator_radius": 0.0, "filter": "box"},
}


@pytest.fixture(autouse=True)
def small_strips(monkeypatch):
    """Have a picture of 100 rows have 13 strips."""
    monkeypatch.setattr(png, "STRIP", 1)
    monkeypatch.setattr(png, "MIN_ROWS", 8)


@pytest.fixture
def divided(monkeypatch):
    """Return a function that leaves as much memory as some bands need."""

    def limit(bands, scene):
        plan = fractals.plan(scene, device="cpu")
        tall = -(-100 // bands // 8) * 8
        room = play.replace(plan, band=tall).memory
        monkeypatch.setattr(play, "memory_size", lambda: room / 0.9 + 1)

    return limit


def scene_of(formula, **more):
    given = {**SMALL, **more}
    return fractals.load_scene({"formula": formula}).replace(
        **{key: value for key, value in given.items() if key != "device"}
    )


def drawn(scene, device="cpu", **more):
    file, said = io.BytesIO(), []
    made = fractals.render_to(file, scene, device=device, on_message=said.append, **more)
    return file.getvalue(), made, said


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("bands", [2, 7])
def test_bands_have_no_seams(divided, look, bands):
    scene = scene_of(EVEN if look == "finest" else FLAME, **LOOKS[look])
    whole, made, said = drawn(scene)
    assert said == []
    divided(bands, scene)
    found, other, said = drawn(scene)
    assert found == whole
    assert len(said) == 1
    assert f"in {bands} bands" in said[0]
    assert f"thrown {bands} times" in said[0]
    assert other.summary.hits == made.summary.hits > 1000
    assert str(other.summary) == str(made.summary)
    image = fractals.render(scene, device="cpu", on_message=str)
    assert image.encode() == whole


@pytest.mark.parametrize(
    "formula",
    [
        {"name": "clifford"},
        {"name": "lorenz"},
        ORBITS,
        {**ORBITS, "red": 60, "green": 30, "blue": 20, "least": 5},
    ],
    ids=["map", "flow", "orbits", "nebula"],
)
def test_bands_of_every_kind(divided, formula):
    """The exposure of orbits is that of the whole picture, which two games more find."""
    scene = scene_of(formula, supersampling=2, estimator_radius=3.0, bits=16)
    whole, made, _ = drawn(scene)
    divided(4, scene)
    found, other, said = drawn(scene)
    assert found == whole
    assert str(other.summary) == str(made.summary)
    games = 6 if formula["name"] == "buddhabrot" else 4
    assert f"thrown {games} times" in said[0]


@pytest.mark.parametrize("device", slow_but(["simulator"], ["python", "simulator"]))
def test_bands_of_kernels(divided, device):
    small = {"size": (6, 100), "quality": 0.2, "supersampling": 1, "estimator_radius": 0.0}
    flame = {key: FLAME[key] for key in ("name", "transforms")}
    orbits = {**ORBITS, "of": "burning_ship", "cells": 64, "least": 2}
    for formula in (flame, {"name": "henon"}, orbits):
        scene = scene_of(formula, **small, steps=20)
        whole, _, _ = drawn(scene)
        with pytest.MonkeyPatch.context() as patch:
            plan = play.replace(fractals.plan(scene, device=device), band=24)
            patch.setattr(play, "memory_size", lambda room=plan.memory: room / 0.9 + 1)
            assert drawn(scene, device)[0] == whole


def test_the_forecast_of_a_poster(divided, capsys):
    scene = scene_of(FLAME, **LOOKS["estimate"])
    whole = fractals.plan(scene, device="cpu")
    divided(4, scene)
    plan = fractals.plan(scene, device="cpu")
    table = plan.to_table()
    assert (table["bands"], table["games"], table["points"]) == (4, 4, whole.samples)
    assert plan.memory < whole.memory
    assert plan.seconds > 2 * whole.seconds
    assert "bands" not in whole.to_table()
    words = ("--formula", "clifford", "--size", "56x100", "--supersampling", "1", "--dry-run")
    assert main(["render", *words, "--cpu", "-o", "x.png"]) == 0
    assert "bands" in capsys.readouterr().out


def test_what_does_not_fit(divided, monkeypatch, tmp_path):
    scene = scene_of(FLAME, **LOOKS["estimate"])
    divided(4, scene)
    with pytest.raises(
        OptionError, match=r"draw it with render and keep no samples, which needs less"
    ):
        fractals.compute_to(tmp_path / "a.fz", scene, device="cpu")
    with pytest.raises(OptionError, match=r"GiB are free: give a smaller size=, or less"):
        fractals.compute(scene, device="cpu")
    monkeypatch.setattr(play, "memory_size", lambda: 10_000)
    with pytest.raises(OptionError, match=r"GiB are free: give a smaller size=, or less super"):
        fractals.render(scene, device="cpu")
    for keeps in ("store", "bands"):  # a forecast is no error
        options = RenderOptions(device="cpu")
        table = family_of(scene).plan_table(scene, options, keeps, False)
        assert table["memory"] > 10_000


@pytest.mark.parametrize("formula", [FLAME, ORBITS], ids=["flame", "orbits"])
def test_a_gpu_that_is_short_of_memory(monkeypatch, formula):
    """Rows that do not fit are drawn in halves; a strip that does not fit is an error."""
    scene = scene_of(formula, supersampling=2)
    whole, made, _ = drawn(scene)
    pixels, most = Show.pixels, 30

    def short(self, hits, totals=None):
        if len(self._plan.drawn) > most:
            raise DeviceMemoryError("no memory")
        return pixels(self, hits, totals)

    monkeypatch.setattr(Show, "pixels", short)
    seen = []
    found, other, said = drawn(scene, progress=lambda *given: seen.append(given))
    assert found == whole
    assert str(other.summary) == str(made.summary)
    assert said[0].startswith("the GPU is short of memory: 100 rows are drawn in halves")
    assert seen[-1][0] == seen[-1][1]
    most = 7
    with pytest.raises(DeviceMemoryError):
        drawn(scene)


def test_verify_checks_a_poster(divided, tmp_path):
    scene = scene_of(FLAME, **LOOKS["fine"])
    divided(4, scene)
    fractals.render_to(tmp_path / "a.png", scene, device="cpu", on_message=str)
    assert main(["verify", str(tmp_path / "a.png")]) == 0
    assert np.asarray(fractals.render(scene, device="cpu", on_message=str)).any()


class Stopped(Exception):
    pass


@pytest.mark.parametrize("formula", [FLAME, ORBITS], ids=["flame", "orbits"])
def test_an_interrupted_poster_goes_on(divided, formula, tmp_path, monkeypatch):
    """Bands that were drawn are kept beside the file, until it is written."""
    scene = scene_of(formula)
    whole, made, _ = drawn(scene)
    path, beside = tmp_path / "a.png", tmp_path / "a.png.bands"
    divided(4, scene)
    games = []
    played = Player.play

    def some(self, before, last, progress):
        if len(games) == stop:
            raise Stopped
        games.append(self.plan.rows)
        return played(self, before, last, progress)

    monkeypatch.setattr(Player, "play", some)
    stop = 2
    with pytest.raises(Stopped):
        fractals.render_to(path, scene, device="cpu", on_message=str)
    assert not path.exists()
    kept = sorted(each.name for each in beside.iterdir())
    assert len([name for name in kept if name.startswith("rows-")]) == 2
    stop = -1
    # A damaged band is drawn again.
    (damaged,) = (beside / name for name in kept if name.startswith("rows-0-"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    games.clear()
    done = fractals.render_to(path, scene, device="cpu", on_message=str)
    assert path.read_bytes() == whole
    assert done.summary.hits == made.summary.hits
    assert len(games) == 3
    assert games[0].start == 0
    assert not beside.exists()


def test_bands_of_another_picture_are_not_taken(divided, tmp_path):
    scene = scene_of(FLAME)
    other = scene.replace(gamma=2.0)
    path, beside = tmp_path / "a.png", tmp_path / "a.png.bands"
    divided(4, scene)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kept, "end", lambda self: None)
        fractals.render_to(path, other, device="cpu", on_message=str)
    assert len(list(beside.glob("rows-*"))) == 4
    (beside / "mine.txt").write_text("of the user")
    fractals.render_to(path, scene, device="cpu", on_message=str, overwrite=True)
    assert [each.name for each in beside.iterdir()] == ["mine.txt"]
    assert path.read_bytes() == drawn(scene)[0]

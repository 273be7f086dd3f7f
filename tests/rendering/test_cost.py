"""Refusals before a picture is drawn, and the forecasts that they go by."""

import json
import math
from dataclasses import replace
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from support.deep import on_a_minibrot
from support.scenes import scene

import fractals
from fractals.backends import base
from fractals.errors import OptionError
from fractals.rendering import measured, plan, render
from fractals.rendering.families import seconds_by_quality
from fractals.rendering.forecast import ENCODED, direct_seconds
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.probing import ViewProbe


@pytest.mark.parametrize("keeps", ["pixels", "raw"])
def test_a_picture_is_refused_above_nine_tenths_of_the_free_memory(monkeypatch, keeps):
    planned = make_plan(scene(size=(8000, 6000)), keeps=keeps)
    monkeypatch.setattr(plan, "memory_size", lambda: planned.memory / 0.89)
    planned.check_memory()
    monkeypatch.setattr(plan, "memory_size", lambda: planned.memory / 0.91)
    with pytest.raises(OptionError, match=r"8000x6000 pixels of 1x1 samples need .* are free"):
        planned.check_memory()


def test_the_refusal_names_the_orbit_where_it_is_what_is_large(monkeypatch):
    planned = make_plan(scene(width="1e-100000", size=(4, 4), max_iterations="auto"))
    monkeypatch.setattr(plan, "memory_size", lambda: planned.orbit_memory)
    with pytest.raises(OptionError, match=r"reference orbit of a width of 1e-100000 needs"):
        planned.check_memory()


NO_LIMIT = 2_000_000_000
DEEP = scene(center=["0", "1"], width="1e-60", size=(12, 8))


def test_a_huge_limit_takes_no_memory():
    usual, huge = (make_plan(DEEP.replace(max_iterations=n)) for n in (20_000, NO_LIMIT))
    assert huge.memory == usual.memory
    assert huge.seconds == pytest.approx(usual.seconds)


@pytest.mark.parametrize(
    "view",
    [
        DEEP,  # the orbit of c = i comes back in all bits, to no period
        scene(center=["-1.7685736562992577", "-0.0009642968513582"], width="1e-13", size=(12, 8)),
        scene(julia=["0", "1"], center=["0", "0"], width="1e-60", size=(12, 8)),
        scene("burning_ship", center=["-2", "0"], width="1e-30", size=(12, 8)),
    ],
    ids=["repeats", "escapes", "Julia", "kinks"],
)
def test_the_orbit_grows_as_it_is_needed_under_a_huge_limit(view):
    options = {"device": "cpu", "on_message": str, "cache": False}
    usual = fractals.compute(view, max_iterations=100_000, **options)
    huge = fractals.compute(view, max_iterations=NO_LIMIT, **options)
    assert usual.method == "perturbation"
    assert usual.count.max() < 100_000
    assert np.array_equal(usual.count, huge.count)
    assert huge.max_iterations == NO_LIMIT


def test_guard_and_dry_run_have_one_forecast(monkeypatch, run):
    """The guard went by a formula that knew nothing of the view."""
    drawn = on_a_minibrot(24, size=(64, 48), max_iterations=10**9)
    monkeypatch.setattr(measured, "_measured", lambda plan, source: 28 * 3600.0 * plan.threads)
    with pytest.raises(OptionError, match=r"takes about 28 hours .*force=True"):
        fractals.compute(drawn, device="cpu", on_message=str)
    fractals.save_scene(drawn, "a.toml")
    assert json.loads(run("render", "a.toml", "--cpu", "--dry-run", "--json")[1])[
        "seconds"
    ] == pytest.approx(28 * 3600, rel=0.1)
    code, _, err = run("render", "a.toml", "--cpu")
    assert code == 2
    assert "--force" in err


def test_a_dry_run_computes_no_orbit_that_takes_long(monkeypatch, run):
    """At a zoom of 1e10000 it took 7 seconds of CPU time."""

    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(render, "open_drawing", fail)
    code, out, _ = run("render", "--zoom", "1e10000", "--cpu", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["seconds"] > 5


def test_nothing_is_measured_for_a_picture_that_is_soon_drawn(monkeypatch):
    def fail(plan, source):
        raise AssertionError

    monkeypatch.setattr(measured, "_measured", fail)
    fractals.compute(on_a_minibrot(24), device="cpu", on_message=str)


class Clocked:
    """A source whose clock passes `call` seconds a tile, and `each` a step of a pixel."""

    call, each = 5e-5, 1e-9

    def __init__(self, monkeypatch, max_iterations=10, inside=False):
        self.now, self.max_iterations, self.inside = 0.0, max_iterations, inside
        monkeypatch.setattr(measured, "perf_counter", lambda: self.now)

    def iterate(self, tile, limit):
        pixels = tile.width * tile.height
        self.now += self.call + self.each * pixels * limit
        return SimpleNamespace(count=np.full(pixels, limit if self.inside else limit - 1))


@pytest.mark.parametrize("size", [(640, 400), (8000, 5000)])
def test_calls_of_small_tiles_are_not_in_a_forecast(monkeypatch, size):
    """A tile of 8x8 samples takes a hundred times as long as its samples."""
    planned = replace(make_plan(scene(size=size), "cpu"), threads=2)
    drawn = math.prod(size) * 10 * Clocked.each
    found = measured._measured(planned, Clocked(monkeypatch))
    assert found - direct_seconds("cpu", 0, planned.samples) == pytest.approx(drawn, rel=0.02)


@pytest.mark.parametrize(
    ("keys", "side"),
    [
        ({}, 64),
        ({"supersampling": 8}, 8),
        ({"formula": "manowar", "precision": "double-double"}, 19),
        ({"supersampling": 2, "formula": "z*sin(z)+c", "precision": "double-double"}, 7),
    ],
)
def test_a_tile_that_is_measured_has_few_steps(monkeypatch, keys, side):
    """Of samples that are all inside, by a limit of ten million."""
    source, seen = Clocked(monkeypatch, 10**7, inside=True), []
    iterate = source.iterate

    def iterated(tile, limit):
        seen.append((tile.width, tile.height))
        return iterate(tile, limit)

    monkeypatch.setattr(source, "iterate", iterated)
    measured._measured(make_plan(scene(size=(8000, 5000), **keys), "cpu"), source)
    assert {(1, 1), (side, side)} == set(seen)


@pytest.mark.parametrize("inside", [True, False])
def test_seconds_grow_with_a_limit_beyond_what_is_measured(monkeypatch, inside):
    """Samples that are inside take each step."""
    monkeypatch.setattr(measured, "MAX_STEPS", 64)
    planned = make_plan(scene(center=["-1.76", "0.003"], width="1e-30", size=(60, 40)), "cpu")
    steps = 4096 if inside else 64
    found = measured._measured(planned, Clocked(monkeypatch, 4096, inside))
    found -= direct_seconds("cpu", 0, planned.samples)
    assert found == pytest.approx(60 * 40 * steps * Clocked.each, rel=0.02)


def test_qualities_are_forecast_from_what_was_measured():
    options = RenderOptions(device="cpu", on_message=str)
    drawn = scene(size=(4000, 3000))
    usual = seconds_by_quality(drawn, options, "bands")
    slow = seconds_by_quality(drawn, options, "bands", 10 * usual["good"])
    assert usual["best"] > usual["good"]
    for word, seconds in usual.items():
        assert slow[word] == pytest.approx(10 * seconds, rel=0.1)


def test_a_file_takes_time_to_write():
    file, array = (make_plan(scene(size=(4000, 3000)), "cpu", keeps=k) for k in ("bands", "raw"))
    assert file.encoding == pytest.approx(12e6 / ENCODED / file.threads)
    assert array.encoding == 0


@pytest.mark.parametrize(
    ("view", "stage"), [(on_a_minibrot(24), "reference"), (scene(), "iterate")], ids=["deep", ""]
)
def test_probing_is_not_booked_as_compiling(monkeypatch, view, stage):
    """It took most of a picture's time there, with a warm cache."""
    timed = ViewProbe._timed

    passed = []

    def later(self):
        passed.append(1000)
        return timed(self)

    monkeypatch.setattr(ViewProbe, "_timed", later)
    monkeypatch.setattr(base, "perf_counter", lambda: perf_counter() + sum(passed))
    image = fractals.render(view, max_iterations="auto", device="cpu", on_message=str)
    assert image.timings[stage] >= 1000


def test_a_dry_run_tells_the_limit_that_the_picture_is_drawn_with(run):
    view = ("--center=-1.2501,0.003", "--width", "1e-4", "--cpu")
    planned = json.loads(run("render", *view, "--dry-run", "--json")[1])
    drawn = json.loads(run("render", *view, "--size", "4x2", "--json")[1])
    assert planned["max_iterations"] == drawn["max_iterations"] > 10_000

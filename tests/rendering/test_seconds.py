"""The seconds of a call's stages are those that pass, with what compiling takes of them."""

import io
import json
import os
import subprocess
import sys
import threading
import time

import pytest
from support.deadline import deadline
from support.scenes import slow_but

import fractals
from fractals.backends import base, compilation
from fractals.backends.base import Stages
from fractals.threads import run_tiles, share

# Prints what a first picture took, by the clock and by its stages.
DRAW = """
import io, json, sys
from time import perf_counter
import fractals
fractals.render_to  # is imported
begun = perf_counter()
drawn = fractals.render_to(io.BytesIO(), json.loads(sys.argv[1]), device="cpu")
print(json.dumps([perf_counter() - begun, drawn.timings]))
"""
FAMILIES = {
    "escape time": {"image": {"size": [32, 18]}, "iteration": {"max_iterations": 200}},
    "deep": {
        "view": {"center": ["-1.7490863748149414000000", "0"], "width": "1e-20"},
        "image": {"size": [32, 18]},
        "iteration": {"max_iterations": 500},
    },
    "whole": {"image": {"size": [32, 18]}, "color": {"coloring": "histogram"}},
    "scatter": {
        "formula": {"name": "flame", "transforms": [{"variations": {"julia": 1.0}}]},
        "image": {"size": [32, 18]},
        "scatter": {"quality": 1},
    },
    "solid": {
        "formula": {"name": "mandelbulb"},
        "image": {"size": [32, 18]},
        "light": {"samples": 1},
    },
    "relief": {
        "relief": {"heights": "distance"},
        "image": {"size": [32, 18]},
        "light": {"samples": 1},
    },
}


@pytest.mark.parametrize("family", FAMILIES)
def test_stages_add_up_to_the_time_that_passed(family):
    """Nothing is compiled: of escape time the second picture has another program, of tiles."""
    for _ in range(3):
        begun = time.perf_counter()
        warm = fractals.render_to(io.BytesIO(), FAMILIES[family], device="cpu").timings
        passed = time.perf_counter() - begun
    assert list(warm) == list(base.STAGES)
    assert sum(warm.values()) == pytest.approx(passed, rel=0.1, abs=0.3)
    assert warm["compile"] == 0 < warm["iterate"]


@pytest.mark.parametrize("family", slow_but(["scatter"], FAMILIES))
def test_a_cold_start_is_nearly_all_compiling(tmp_path, family):
    found = subprocess.run(
        [sys.executable, "-c", DRAW, json.dumps(FAMILIES[family])],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    passed, cold = json.loads(found.stdout)
    assert list(cold) == list(base.STAGES)
    assert sum(cold.values()) == pytest.approx(passed, rel=0.1, abs=0.3)
    assert cold["compile"] > passed / 2


class HandClock:
    """Seconds that pass when a test says so."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        for module in (base, compilation):
            monkeypatch.setattr(module, "perf_counter", lambda: self.now)


@pytest.mark.parametrize("by", ["workers", "share"])
def test_threads_that_compile_at_once_take_the_time_once(monkeypatch, by):
    clock, meet, stages = HandClock(monkeypatch), threading.Barrier(2), Stages()
    laps = []

    def work(k):
        own = Stages()
        with compilation.compiling():
            meet.wait()
            clock.now += 8 * (k == 0)
            meet.wait()
        clock.now += k == 0
        meet.wait()
        laps.append(own.end("iterate"))
        meet.wait()
        return {}

    with deadline():
        if by == "workers":
            run_tiles(range(2), work, 2)
        else:
            share(range(2), work, 2)
    assert [lap["iterate"] for lap in laps] == [1, 1]
    clock.now += 3
    stages.share({"iterate": 1.0, "color": 3.0})
    assert (stages.seconds["compile"], stages.seconds["iterate"], stages.seconds["color"]) == (
        8,
        1,
        3,
    )


def test_what_other_threads_compile_is_not_counted(monkeypatch):
    clock, stages = HandClock(monkeypatch), Stages()

    def compile_another():
        Stages()
        with compilation.compiling():
            clock.now += 5

    thread = threading.Thread(target=compile_another)
    thread.start()
    thread.join()
    stages.lap("color")
    assert (stages.seconds["compile"], stages.seconds["color"]) == (0, 5)


def test_a_first_launch_counts_from_where_it_compiles(monkeypatch):
    clock, stages = HandClock(monkeypatch), Stages()
    with compilation.first_launch():
        clock.now += 1
        compilation.announce()
        clock.now += 5
    with compilation.first_launch():  # of code that is there
        clock.now += 1
    compilation.announce()
    clock.now += 1
    stages.lap("iterate")
    assert (stages.seconds["compile"], stages.seconds["iterate"]) == (5, 3)


def test_time_without_work_belongs_to_the_stage_that_follows(monkeypatch):
    clock, stages = HandClock(monkeypatch), Stages()
    clock.now += 2
    stages.share({"iterate": 0.0})
    stages.share({})
    clock.now += 1
    stages.lap("encode")
    assert sum(stages.seconds.values()) == stages.seconds["encode"] == 3

"""The views that people visited: counts are exact, and the script runs; no time is asserted."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from fractals.errors import DifferenceError

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import traffic  # noqa: E402

FIGURES = BENCHMARKS / "traffic-amd-epyc-2-cores.json"
VIEW = "grid-z48-i800-85c3859b"


@pytest.fixture
def scene():
    return traffic.load_views(VIEW)[VIEW].replace(size=(32, 18))


def test_all_views_are_scenes():
    views = traffic.load_views()
    assert len(views) == 14
    assert views[VIEW].iteration.max_iterations == 800


def test_counts_are_compared_with_exact_ones(scene, monkeypatch):
    assert traffic.compare_exact(scene, 5) == {"compared": 5, "wrong": 0, "unstable": 0}
    raw = traffic.compute(scene)
    np.add(raw.count, 1, out=raw.count)
    monkeypatch.setattr(traffic, "compute", lambda scene: raw)
    found = traffic.compare_exact(scene, 5)
    assert found["wrong"] + found["unstable"] == 5
    assert found["wrong"] > 0


def test_a_run_is_plain_values(capsys):
    assert traffic.main(["--one", VIEW, "--size", "32x18"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "perturbation"
    assert found["cpu_seconds"] > 0
    assert found["mean_count"] > 200


def test_unknown_views_are_errors(capsys):
    assert traffic.main(["--only", "here"]) == 2
    assert "unknown view 'here'" in capsys.readouterr().err


def test_kept_figures_are_read_as_a_table_and_a_wrong_count_is_an_error(capsys):
    assert traffic.main(["--read", str(FIGURES)]) == 0
    shown = capsys.readouterr().out
    whole = traffic.bench_report.read_report(FIGURES)
    assert len(whole["results"]) == 14
    assert all(found["view"] in shown for found in whole["results"])
    whole["results"][0]["exact"]["wrong"] = 1
    with pytest.raises(DifferenceError, match=whole["results"][0]["view"]):
        traffic.check(whole)


@pytest.mark.slow
def test_the_whole_command(capsys):
    arguments = ["--only", VIEW, "--size", "32x18", "--runs", "1", "--exact", "2"]
    assert traffic.main(arguments) == 0
    assert "0 of 2" in capsys.readouterr().out

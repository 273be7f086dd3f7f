"""The figures of scatter images: kept ones are read, and the script runs; no time is asserted."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import scatter  # noqa: E402

FIGURES = BENCHMARKS / "scatter-intel-xeon-2-cores.json"


def test_kept_figures_are_read_as_tables(capsys):
    scatter.main(["--read", str(FIGURES)])
    shown = capsys.readouterr().out
    whole = scatter.bench_report.read_report(FIGURES)
    assert whole["hardware"]["cpu"]["name"] in shown
    assert whole["versions"]["flam3"]
    assert {row["part"] for row in whole["results"]} == set(scatter.GOALS)
    for part, goals in scatter.GOALS.items():
        lines = shown.split(f"\n{part}\n")[1].split("\n\n")[0].splitlines()
        rows = [row for row in whole["results"] if row["part"] == part]
        assert len(lines) == 1 + len(rows)
        assert {row["what"]: row["goal"] for row in rows if "goal" in row} == goals
    for row in whole["results"]:
        if row["part"] == "buddhabrots" and row["what"] != "0.005 wide":
            assert abs(row["brightness_over_naive"] - 1) < 0.1, "a share of orbits is missing"


def test_noise_is_measured_in_blocks():
    """Twice the deviation is four times the cost, and light alone counts."""
    dice = np.random.default_rng(1)
    mean = np.ones((scatter.SIDE, scatter.SIDE))
    mean[:, 100:] = 0.01
    noise = dice.normal(0, 0.01, (40, *mean.shape))
    once = scatter.cost(mean + noise, 3.0, mean)
    assert scatter.cost(mean + 2 * noise, 3.0, mean) == pytest.approx(4 * once)
    assert once == pytest.approx(3.0 / 40 * 0.01**2 / 16, rel=0.05)


def test_naive_orbits_are_those_of_c():
    """One orbit: the points of c = i are counted until it escapes, and c = 0 never does."""
    place, view = np.array([0.4, 0.4]), np.array([-2.0, -2.0, 8.0])
    hits = np.zeros((32, 32), np.int64)
    scatter.naive(1, 1, 1, 100, 2.0, place, 0.0, view, hits)
    z, points = 0j, []
    while abs(z) <= 2:
        z = z * z + (0.4 + 0.4j)
        points.append(z)
    seen = [z for z in points if abs(z.real) < 2 and abs(z.imag) < 2]
    assert len(seen) > 4
    assert hits.sum() == len(seen)
    for z in seen:
        assert hits[31 - math.floor((z.imag + 2) * 8), math.floor((z.real + 2) * 8)]
    hits[:] = 0
    scatter.naive(1, 1, 1, 100, 2.0, np.zeros(2), 0.0, view, hits)
    assert not hits.any()


def test_a_run_is_plain_values(capsys):
    scatter.main(["simulator", "--runs", "1", "--points", "3000", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["what"] == "five"
    assert found["million_points_a_second"]["simulator"] > 0


def test_unknown_parts_are_errors(capsys):
    with pytest.raises(SystemExit):
        scatter.main(["here"])
    assert "unknown parts: here" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_command(capsys):
    small = ["--size", "64x48", "--runs", "1", "--points", "3000", "--seconds", "0.05"]
    scatter.main(small)
    shown = capsys.readouterr().out
    assert all(f"\n{part}\n" in shown for part in scatter.GOALS)
    assert "times naive" in shown
    assert "in a process that runs" in shown

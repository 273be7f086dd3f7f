"""The line that each step prints at its end."""

import json
import sys
from pathlib import Path

import pytest

LESSONS = Path(__file__).parents[2] / "lessons"


@pytest.fixture
def ladder(monkeypatch):
    monkeypatch.syspath_prepend(str(LESSONS))
    monkeypatch.delenv("FRACTALS_LADDER", raising=False)
    monkeypatch.delitem(sys.modules, "ladder", raising=False)  # that of the benchmarks
    import ladder

    yield ladder
    del sys.modules["ladder"]


def test_a_report_without_work_has_no_rate(ladder, capsys):
    ladder.report(0, 2.5)
    ladder.report("a", 0.0125)
    assert capsys.readouterr().out == "step 0: 2.5 s\nstep a: 12.5 ms\n"


def test_reports_are_kept_and_compared(ladder, capsys, tmp_path, monkeypatch):
    path = tmp_path / "ladder.jsonl"
    monkeypatch.setenv("FRACTALS_LADDER", str(path))
    monkeypatch.setattr(ladder, "arithmetic", lambda: 40e9)
    ladder.report(1, 2.0, 10_000_000)
    monkeypatch.setattr(ladder, "arithmetic", lambda: 30e9)  # the machine is busy
    ladder.report(2, 0.5, 10_000_000)
    ladder.report(10, 0.5, 10_000_000, "B/s")
    ladder.report(11, 0.5, 10_000_000, device="simulator")
    assert capsys.readouterr().out.splitlines() == [
        "step 1: 2 s, 0.005 G it/s, 0.05 % of this machine's arithmetic",
        "step 2: 500 ms, 4 x step 1, 0.02 G it/s, 0.2 % of this machine's arithmetic",
        "step 10: 500 ms, 0.02 G B/s",
        "step 11: the simulator computed it; its time says nothing about a GPU",
    ]
    ladder.report(1, 1.0, 10_000_000)  # again: it is compared with no later step
    ladder.report(3, 0.5, 10_000_000)
    out = capsys.readouterr().out.splitlines()
    assert [" x step " in line for line in out] == [False, True]
    assert "1 x step 2" in out[1]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines] == ["1", "2", "10", "11", "1", "3"]
    assert lines[1]["times"] == 4
    assert lines[1]["rate"] == 20e6
    assert lines[1]["arithmetic"] == 40e9
    assert lines[1]["percent"] == pytest.approx(0.2)


def test_the_arithmetic_of_a_machine_is_plausible(ladder):
    """Between one operation in four cycles at 1 GHz and 64 in each cycle at 6 GHz, per core."""
    assert 0.25e9 < ladder.arithmetic() / ladder.cores() < 64 * 6e9


def test_the_median_of_the_runs_is_taken(ladder, monkeypatch):
    clock = iter([0, 1, 1, 10, 10, 12])
    monkeypatch.setattr(ladder.time, "perf_counter", lambda: next(clock))
    assert ladder.median_seconds(lambda: None, 3) == 2

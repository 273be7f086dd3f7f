"""The ladder of peers: each installed peer counts as we do; no time is asserted."""

import copy
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import fractals
from fractals.errors import DifferenceError

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS / "peers"))

import ladder  # noqa: E402

FIGURES = BENCHMARKS / "ladder-amd-epyc-2-cores.json"


@pytest.mark.parametrize("name", ladder.MODULES)
def test_peers_count_as_we_do(name):
    """Roundings of `z * z + c` without `fma` may change the count of a chaotic sample."""
    scene = ladder.load_scene("b", "61x40")
    try:
        peer = ladder.Peer(name)
    except ImportError as error:
        pytest.skip(f"not installed: {error}")
    assert peer.version
    work = peer.prepare(scene)
    work.run()
    expected = fractals.compute(scene, device="cpu").count
    assert np.count_nonzero(work.counts != expected) <= 2
    assert len(np.unique(work.counts)) > 20


@pytest.mark.parametrize("name", [ladder.OURS, ladder.EVERY_STEP])
def test_our_rungs_fill_the_counts(name):
    scene = ladder.load_scene("a", "61x40")
    work = ladder.Peer(name).prepare(scene)
    work.run()
    np.testing.assert_array_equal(work.counts, fractals.compute(scene, device="cpu").count)


def test_pictures_in_bands_are_whole(monkeypatch):
    monkeypatch.setattr(ladder, "BAND", 7 * 61)
    scene = ladder.load_scene("a", "61x40")
    work = ladder.Peer("numpy").prepare(scene)
    work.run()
    np.testing.assert_array_equal(work.counts, fractals.compute(scene, device="cpu").count)


def test_the_course_has_150_million_samples():
    scene = ladder.load_scene("course")
    assert scene.image.size == (15000, 10000)
    assert scene.iteration.max_iterations == 20


def test_a_peer_that_is_not_installed_is_a_line():
    name = next((each for each in ("taichi", "jax", "pythran") if not installed(each)), None)
    if name is None:
        pytest.skip("all peers are installed")
    processes = ladder.Processes([name])
    assert list(processes.missing) == [name]
    assert "not installed" in processes.missing[name]
    assert not processes.pools


def installed(name):
    return importlib.util.find_spec(name) is not None


def test_unknown_names_are_errors(capsys):
    assert ladder.main(["--only", "fortran", "--scenes", "a"]) == 2
    assert "fortran" in capsys.readouterr().err
    assert ladder.main(["--scenes", "z"]) == 2
    assert "unknown scene 'z'" in capsys.readouterr().err


def test_kept_figures_are_read_as_tables_and_a_wrong_count_is_an_error(capsys):
    assert ladder.main(["--read", str(FIGURES)]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ladder.PEERS)
    whole = ladder.bench_report.read_report(FIGURES)
    wrong = copy.deepcopy(whole)
    wrong["results"][0]["peers"][ladder.C]["differing"] = 1
    with pytest.raises(DifferenceError, match="counts of C differ"):
        ladder.check(wrong)


@pytest.mark.slow
def test_the_whole_command(capsys):
    arguments = ["--only", "numpy", "--scenes", "a", "--size", "61x40", "--runs", "1"]
    assert ladder.main(arguments) == 0
    shown = capsys.readouterr().out
    assert ladder.AGAIN in shown
    assert "numpy" in shown

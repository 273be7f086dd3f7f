"""Bench: what is measured is right, compared and said; how long it took is never asserted."""

import dataclasses
import json
import re

import click.testing
import numpy as np
import pytest
from support.drawings import opened

import fractals
from fractals.backends import machine_code, probe
from fractals.cli.verbs import cli
from fractals.errors import DeviceError, DifferenceError, OptionError, SceneError, to_install
from fractals.rendering.sampling import coordinates
from fractals.tools import bench, bench_report

TINY = (24, 16)


def run(*arguments):
    """Run a verb that must succeed, and return its stdout."""
    done = click.testing.CliRunner().invoke(cli, ["bench", *arguments])
    assert done.exception is None, done.output
    return done.stdout


@pytest.fixture(scope="module")
def measured():
    """The article's picture, tiny, with all that can be measured."""
    work = bench.load_workload("classic").change(TINY)
    devices = bench.choose_devices(["cpu", "simulator"])
    return bench.measure(work, devices, runs=2, threads=2)


@pytest.fixture(scope="module")
def saved(measured, tmp_path_factory):
    """A report on disk, with a crossover."""
    rows = [
        {"size": [12, 8], "seconds": {"cpu": 1e-5, "simulator": 1e-3}},
        {"size": [24, 16], "seconds": {"cpu": 1e-2, "simulator": 2e-3}},
    ]
    whole = dataclasses.replace(measured, crossover=tuple(rows))
    path = tmp_path_factory.mktemp("bench") / "bench.json"
    path.write_text(json.dumps(bench_report.make_report([whole])))
    return path


def test_median_and_bounds_are_those_of_the_runs():
    assert bench.spread([5.0, 1.0, 2.0]) == bench.Spread(2.0, 1.0, 5.0)
    assert bench.spread([1.0, 2.0]).median == 1.5


def test_all_devices_compute_the_same_and_every_stage_is_timed(measured):
    assert [times.device for times in measured.devices] == ["cpu", "simulator"]
    for times in measured.devices:
        assert times.equal
        assert set(times.stages) == set(bench.STAGES)
        assert all(s.min <= s.median <= s.max for s in [*times.stages.values(), times.total])
    assert [times.threads for times in measured.devices] == [2, 2]


def test_iterations_are_the_sum_of_the_counts(measured):
    scene = bench.load_workload("classic").scene.replace(size=TINY)
    counts = fractals.compute(scene, device="python").count
    assert measured.iterations == counts.sum()
    cpu = measured.devices[0]
    assert cpu.iterations_per_second == pytest.approx(counts.sum() / cpu.stages["iterate"].median)


def test_the_ladder_goes_from_python_to_the_last_device(measured):
    names = [rung.name for rung in measured.ladder]
    own = ["ours, 1 thread", "ours, 2 threads", "simulator"]
    expected = ["plain Python", "NumPy", "naive @jit", *own]
    assert names == expected
    assert [rung.ours for rung in measured.ladder] == [False, False, False, True, True, True]
    assert all(rung.differing_counts == 0 for rung in measured.ladder)
    ratio = measured.ladder[2].seconds.median / measured.ladder[3].seconds.median
    assert measured.naive_ratio == pytest.approx(ratio)


@pytest.mark.parametrize("name", ["classic", "e", "d"])
def test_the_naive_loops_counts_are_ours(name):
    work = bench.load_workload(name).change((40, 30))
    scene = work.scene.replace(max_iterations=200)
    drawing = opened(scene, shading=False, interior_shortcuts=work.interior_shortcuts)
    rungs = bench.climb({"ours": drawing}, ["python", "numpy", "jit"], runs=1)
    _, counts = bench.count(drawing)
    assert len(np.unique(counts)) > 1 or name == "d"
    # Products are rounded one by one (perhaps not in NumPy), ours are fused: chaos may differ.
    assert all(rung.differing_counts <= 3 for rung in rungs)
    assert rungs[0].differing_counts == rungs[2].differing_counts


def test_a_quick_ladder_says_that_it_extrapolates():
    work = bench.load_workload("classic").change((20, 30))
    drawing = opened(work.scene, shading=False, threads=1)
    python, ours = bench.climb({"ours": drawing}, ["python"], runs=1, quick=True)
    assert python.share == pytest.approx(0.1)
    assert python.differing_counts == 0
    assert ours.share == 1
    table = {"ladder": [dataclasses.asdict(rung) for rung in (python, ours)]}
    lines = bench_report.align(bench_report._ladder_rows(table))
    assert "extrapolated from 10% of the rows" in lines[1]
    assert "extrapolated" not in lines[2]


def test_the_crossover_grows_to_the_full_size():
    work = bench.load_workload("default").change((200, 100))
    found = bench.measure(work, bench.choose_devices(["cpu"]), runs=1, crossover=True)
    assert [row["size"] for row in found.crossover] == [(100, 50), (200, 100)]
    assert all(set(row["seconds"]) == {"cpu"} for row in found.crossover)


def test_workloads_are_what_the_design_says():
    view = bench.load_workload("classic").scene
    planned = fractals.plan(view)
    assert (planned.size, planned.max_iterations, planned.supersampling) == ((1536, 1024), 20, 1)
    columns, rows = coordinates(planned)
    step = 3 / 1536
    assert columns[0, [0, -1]] == pytest.approx([-2 + step / 2, 1 - step / 2])
    assert rows[1, [0, -1]] == pytest.approx([1 - step / 2, -1 + step / 2])
    default = bench.load_workload("default").scene
    assert default.image == fractals.Scene().image
    assert [bench.load_workload(name).interior_shortcuts for name in "abcde"] == [
        True,
        True,
        True,
        False,
        True,
    ]
    for name in "abcde":
        scene = bench.load_workload(name).scene
        assert scene.iteration.escape_radius == 2
        assert scene.image.supersampling == 1
    assert bench.load_workload("e").scene.julia == ("-0.8", "0.156")


def test_a_scene_file_is_a_workload(tmp_path):
    path = tmp_path / "place.toml"
    path.write_text("[image]\nsize = [8, 6]\nsupersampling = 1\n[iteration]\nmax_iterations = 10\n")
    work = bench.load_workload(str(path))
    assert work.name == "place"
    found = bench.measure(work, bench.choose_devices(["cpu"]), runs=1)
    assert (found.size, found.max_iterations, found.ladder, found.naive_ratio) == (
        (8, 6),
        10,
        (),
        None,
    )


def test_an_image_of_points_has_times_and_no_counts():
    work = bench.load_workload("shroud").change(TINY)
    found = bench.measure(work, bench.choose_devices(["cpu", "simulator"]), runs=1)
    assert (found.size, found.iterations, found.max_iterations) == (TINY, 0, 0)
    for times in found.devices:
        assert times.equal
        assert times.stages["iterate"].median > 0
        assert (times.iterations_per_second, times.samples_per_second) == (0, 0)
    shown = bench_report.text(bench_report.make_report([found]))
    assert "24x16, float32; medians of 1 run" in shown


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(OptionError, match="unknown workload 'clasic'; did you mean 'classic'"):
        bench.load_workload("clasic")
    with pytest.raises(OptionError, match="unknown device 'gpus'"):
        bench.choose_devices(["gpus"])
    with pytest.raises(SceneError, match="no such file"):
        bench.load_workload("missing.toml")


def test_a_gpu_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr("fractals.backends.cuda.gpus.found", lambda: ([], "none here"))
    with pytest.raises(DeviceError, match="none here"):
        bench.choose_devices(["cpu", "cuda"])
    told = []
    assert [d.kind for d in bench.choose_devices(["gpu"], told.append)] == ["simulator"]
    assert "drawing in the simulator" in told[0]
    assert [d.kind for d in bench.choose_devices()] == ["cpu", "simulator"]
    assert len(bench.choose_devices(["cpu", "cpu"])) == 1


def test_a_gpu_is_taken_by_default_and_may_stand_beside_the_simulator(monkeypatch):
    card = fractals.Device(kind="cuda", name="a card")
    monkeypatch.setattr("fractals.backends.cuda.gpus.found", lambda: ([card], ""))
    assert [d.kind for d in bench.choose_devices()] == ["cpu", "cuda"]
    both = bench.choose_devices(["simulator", "cuda"])
    assert [d.kind for d in both] == ["simulator", "cuda"]


@pytest.mark.parametrize("wrong", ["pixels", "counts"])
def test_differences_are_found(monkeypatch, wrong):
    real = bench._Lane.draw, bench.count

    def draw(self, size=None):
        lap, pixels = real[0](self, size)
        if self.name == "simulator":
            pixels[3, 5, 0] ^= 1
        return lap, pixels

    def count(drawing):
        seconds, counts = real[1](drawing)
        if drawing.plan.device == "simulator":
            counts[0, 0] += 1
        return seconds, counts

    monkeypatch.setattr(
        *((bench._Lane, "draw", draw) if wrong == "pixels" else (bench, "count", count))
    )
    done = click.testing.CliRunner().invoke(
        cli,
        ["bench", "a", "--size", "24x16", "--runs", "1", "--devices", "cpu,simulator", "--json"],
    )
    assert isinstance(done.exception, DifferenceError)
    assert done.exception.exit_code == 5
    pixels, told = (1, "0 counts and 1 pixel") if wrong == "pixels" else (0, "1 count and 0 pixels")
    expected = f"a: simulator differs from cpu in {told}"
    assert expected in str(done.exception)
    found = json.loads(done.stdout)["results"][0]["devices"][1]
    assert (found["equal"], found["differing_pixels"]) == (False, pixels)


def test_json_holds_hardware_versions_and_results(saved):
    table = json.loads(saved.read_text())
    assert set(table) == {"version", "date", "hardware", "versions", "results"}
    cpu = table["hardware"]["cpu"]
    assert set(cpu) == {"name", "llvm_cpu", "cores", "vector_bits"}
    assert bench_report.hardware_line(table).startswith(f"{cpu['name']} ({machine_code.CPU}), ")
    assert {"fractals", "python", "numba", "numpy"} <= set(table["versions"])
    (result,) = table["results"]
    assert result["size"] == list(TINY)
    assert set(result["devices"][0]["stages"]["iterate"]) == {"median", "min", "max"}
    assert bench_report.read_own_report(saved) == table
    bench_report.check(table)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\x89PNG", b"[" * 100_000])
def test_other_files_are_no_report(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(SceneError, match=r"x\.json: not what fractals bench --json writes$"):
        bench_report.read_report(path)


@pytest.mark.parametrize("key", ["hardware", "devices", "title"])
def test_a_report_that_was_edited_is_no_report(saved, tmp_path, key):
    table = json.loads(saved.read_text())
    if key == "hardware":
        table["hardware"] = {}
    else:
        del table["results"][0][key]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(table))
    with pytest.raises(SceneError, match=r"x\.json: not what fractals bench --json writes$"):
        bench_report.read_own_report(path)


def test_a_report_of_another_version(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"hardware": 1, "results": [], "version": 99}')
    with pytest.raises(SceneError, match=r"x\.json: figures of version 99, not 1$"):
        bench_report.read_report(path)


def test_the_command_prints_a_table():
    lines = run("a", "--size", "24x16", "--runs", "1", "--devices", "cpu", "--threads", "1")
    head, row = lines.splitlines()[4:6]
    assert head.split()[:3] == ["ms", "1st", "compile"]
    assert row.startswith("cpu ")
    assert row.endswith("equal")
    assert "\x1b" not in lines


def test_the_command_shows_figures_again(saved):
    lines = run("--read", str(saved))
    assert "plain Python" in lines
    assert "simulator" in lines
    assert json.loads(run("--read", str(saved), "--json")) == json.loads(saved.read_text())
    done = click.testing.CliRunner().invoke(cli, ["bench", "a", "--read", str(saved)])
    assert isinstance(done.exception, OptionError)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_chart_is_written_once(saved, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"chart{suffix}"
    run("--read", str(saved), "--plot", str(path))
    start = path.read_bytes()[:8]
    assert start == (b"\x89PNG\r\n\x1a\n" if suffix == ".png" else b"<?xml ve")
    done = click.testing.CliRunner().invoke(cli, ["bench", "--plot", str(path)])
    assert "exists already" in str(done.exception)


@pytest.mark.parametrize("device", ["opencl", "opencl:1", "cuda:all", "python"])
def test_every_device_has_a_color_in_charts(saved, tmp_path, device):
    pytest.importorskip("matplotlib")
    report = json.loads(saved.read_text().replace('"simulator"', json.dumps(device)))
    bench_report.draw(report, tmp_path / "chart.svg", False)
    assert (tmp_path / "chart.svg").stat().st_size > 1000
    with pytest.raises(fractals.FractalsError, match="in the meantime"):
        bench_report.draw(report, tmp_path / "chart.svg", False)


def test_a_chart_is_refused_before_anything_is_measured(monkeypatch, tmp_path):
    from fractals.tools import bench_report

    with pytest.raises(OptionError, match=r"chart\.gif.*\.png"):
        bench_report.check_plot(tmp_path / "chart.gif", False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(fractals.FractalsError, match=re.escape(to_install("plot"))):
        bench_report.check_plot(tmp_path / "chart.png", False)


def test_the_chart_marks_where_one_device_overtakes_the_other():
    from fractals.tools.bench_report import _crossing

    assert _crossing([100, 10_000], [1.0, 4.0], [4.0, 1.0]) == pytest.approx(1000)
    assert _crossing([100, 10_000], [1.0, 1.0], [4.0, 2.0]) is None


def test_the_help_names_every_workload():
    text = run("--help")
    for name in bench.TABLES:  # in a list: some names are single letters, which any text has
        assert re.search(rf"\b{name}(,|\s+\()", text), name
    assert text.count("\n    fractals bench") == 3


def test_linux_and_llvm_agree_on_the_width_of_vectors(monkeypatch):
    bits = probe._vector_bits()
    monkeypatch.setattr(probe, "_first_core", dict)  # as on systems without /proc/cpuinfo
    assert probe._vector_bits.__wrapped__() == bits

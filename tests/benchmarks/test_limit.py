"""The yardstick in C computes what fractals computes; how long it took is never asserted."""

import fcntl
import functools
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals.errors import DeviceError, FractalsError
from fractals.kernels import primitives
from fractals.tools import bench, bench_report

HERE = Path(__file__).resolve().parents[2] / "benchmarks" / "limit"
sys.path.insert(0, str(HERE))

import limit  # noqa: E402
import yardstick  # noqa: E402

NUMBERS = ("float64", "float32")
SAMPLES = {  # views with outside, boundary and inside
    "mandelbrot": {"formula": "mandelbrot", "view": {"center": ("-0.6", "0.1"), "width": "3"}},
    "julia": {"julia": ("-0.8", "0.156"), "view": {"center": ("0", "0"), "width": "3.2"}},
    "real julia": {"julia": ("-1.2", "0"), "view": {"center": ("0", "0"), "width": "3"}},
    "burning_ship": {"formula": "burning_ship", "view": {"center": ("-0.5", "-0.5"), "width": "2"}},
    "tricorn": {"formula": "tricorn", "view": {"center": ("-0.25", "0"), "width": "3"}},
    "multibrot": {
        "formula": {"name": "multibrot", "power": 3},
        "view": {"center": ("0", "0"), "width": "2.6"},
    },
}


Library = yardstick.Library  # the fixture below shares what it compiles


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The C in every number type and width that this machine can run, compiled once for all.

    Processes that share the tests share the folder.
    """
    folder, compiled = tmp_path_factory.getbasetemp(), yardstick.Library
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "limit"
    folder.mkdir(exist_ok=True)

    @functools.cache
    def library(compiler, precision, width):
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compiled(compiler, folder, precision, width)

    # A benchmark compares the counts of the optimised C itself, whenever it is run.
    plain = ["-O0" if flag == "-O3" else flag for flag in yardstick.FLAGS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yardstick, "FLAGS", plain)
        patch.setattr(yardstick, "Library", lambda compiler, _, *kind: library(compiler, *kind))
        try:
            yield yardstick.build(NUMBERS, folder)
        except FractalsError as error:
            pytest.skip(str(error))


def scene(name, size, most):
    return fractals.load_scene(
        SAMPLES[name],
        {
            "image": {"size": size, "supersampling": 1},
            "iteration": {"max_iterations": most, "escape_radius": 2},
            "color": {"coloring": "count"},
        },
    )


def check(libraries, name, size, most):
    """Compare counts and norms, of all number types, widths and algorithms, with our own.

    Ours are the simulator's, whose programs take a third of the time of packs.
    """
    picture = scene(name, size, most)
    for number in NUMBERS:
        keys = {"precision": number, "interior_shortcuts": False, "device": "simulator"}
        raw = fractals.compute(picture, **keys)
        x, y = raw.z.real, raw.z.imag
        norm = [primitives.fma(u, u, v * v) for u, v in zip(x.ravel(), y.ravel(), strict=True)]
        norm = np.array(norm, np.float32).reshape(raw.count.shape)
        drawing = limit.ours(picture, **keys)
        own = [library for library in libraries if library.precision == number]
        assert own
        for library in own:
            for algorithm in limit.ALGORITHMS:
                work = library.prepare(drawing, algorithm)
                work.count[:] = work.norm[:] = -1
                work.run()
                where = f"{name} {size} {most} {number} {library.width} {algorithm}"
                np.testing.assert_array_equal(work.count, raw.count, where)
                np.testing.assert_array_equal(work.norm, norm, where)


@pytest.mark.parametrize("name", slow_but(["mandelbrot"], SAMPLES))
def test_every_step_counts_as_ours_does(libraries, name):
    check(libraries, name, (75, 37), 200)


@pytest.mark.parametrize("most", [1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 34, 48, 49, 100, 1001])
def test_every_limit(libraries, most):
    check(libraries, "mandelbrot", (41, 13), most)
    check(libraries, "julia", (41, 13), most)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (8, 2), (33, 1), (769, 26)])
def test_sizes_that_fill_no_vector_and_no_tile(libraries, size):
    check(libraries, "mandelbrot", size, 60)


def test_work_may_be_repeated_and_lies_where_it_was(libraries):
    picture = scene("mandelbrot", (30, 20), 50)
    drawing = limit.ours(picture, libraries[0].precision, device="simulator")
    work = libraries[0].prepare(drawing, "wave")
    work.run()
    first = work.count.copy()
    work.count[:] = 0
    work.run()
    np.testing.assert_array_equal(work.count, first)


def test_a_tiny_run(libraries, capsys, tmp_path):
    tiny = ["--precision", "float64", "--runs", "1", "--size", "48x32", "--json"]
    assert limit.main(["--only", "b,d", *tiny]) == 0
    saved = tmp_path / "limit.json"
    saved.write_text(capsys.readouterr().out)
    whole = json.loads(saved.read_text())
    assert whole["hardware"]["cpu"]["name"]
    assert whole["compiler"]["version"]
    assert "-ffp-contract=off" in whole["compiler"]["flags"]["256"]
    assert [(r["workload"], r["precision"]) for r in whole["results"]] == [
        ("b", "float64"),
        ("d", "float64"),
    ]
    for result in whole["results"]:
        seconds = {key: spread["median"] for key, spread in result["seconds"].items()}
        assert result["differing"] == 0
        assert result["size"] == [48, 32]
        best = min(value for key, value in seconds.items() if key.startswith("C "))
        assert seconds[result["c"]] == best
        assert result["ratios"]["ours"] == best / seconds["ours"]
        assert ("shortcuts" in seconds) == (result["workload"] == "b")
    picture = bench.load_workload("b").scene.replace(size=(48, 32))
    expected = fractals.compute(picture, device="cpu").count.sum(dtype=np.int64)
    assert whole["results"][0]["iterations"] == expected
    assert "naive" in whole["results"][0]["seconds"]

    bits = whole["hardware"]["cpu"]["vector_bits"]
    assert ("compiled for" in limit.text(whole)) == (whole["compiled_for"]["vector_bits"] != bits)
    whole["hardware"]["cpu"]["vector_bits"] = 512
    whole["compiled_for"] = {"cpu": "znver3", "vector_bits": 256}
    assert "compiled for znver3, with 256-bit vectors" in limit.text(whole)
    assert limit.main(["--read", str(saved)]) == 0
    shown = capsys.readouterr().out
    assert "ours/C" in shown
    assert f"{whole['results'][0]['ratios']['ours']:.3f}" in shown


def test_a_difference_is_an_error(capsys, tmp_path):
    result = {
        "workload": "b",
        "precision": "float64",
        "runs": 1,
        "seconds": {"C 256 wave": {"median": 0.001}, "ours": {"median": 0.002}},
        "c": "C 256 wave",
        "iterations_per_second": {"C 256 wave": 2e9, "ours": 1e9},
        "ratios": {"ours": 0.5},
        "differing": 3,
    }
    whole = {**bench_report.make_report([]), "compiler": {"version": "cc 1"}, "results": [result]}
    saved = tmp_path / "limit.json"
    saved.write_text(json.dumps(whole))
    assert limit.main(["--read", str(saved)]) == 5
    shown = capsys.readouterr()
    assert "limit: b, float64: 3 counts differ" in shown.err
    row = next(line.split() for line in shown.out.splitlines() if line.startswith("b "))
    assert row == ["b", "float64", "-", "1.00", "256", "wave", "2.00", "0.500", "2.00", "1.00", "3"]


def test_the_c_becomes_a_rung_of_the_ladder(libraries, tmp_path):
    work = bench.load_workload("classic").change((24, 16))
    measured = bench.measure(work, bench.choose_devices(["cpu"]), runs=1)
    saved = tmp_path / "bench.json"
    saved.write_text(json.dumps(bench_report.make_report([measured])))
    before = bench_report.read_report(saved)["results"][0]["ladder"]
    for _ in range(2):  # the second time it takes the place of the first
        assert limit.main(["--ladder", str(saved), "--runs", "2"]) == 0
        whole = bench_report.read_report(saved)
        rungs = whole["results"][0]["ladder"]
        assert rungs[:-1] == before
        assert rungs[-1]["name"] in ("C, 512 bits, 1 thread", "C, 256 bits, 1 thread")
        assert rungs[-1]["differing_counts"] == 0
    assert rungs[-1]["name"] in bench_report.text(whole)
    bench_report.draw(whole, tmp_path / "ladder.png", overwrite=False)


def test_a_report_without_a_ladder_gets_no_rung(capsys, tmp_path):
    saved = tmp_path / "bench.json"
    saved.write_text(json.dumps(bench_report.make_report([])))
    assert limit.main(["--ladder", str(saved)]) == 3
    assert "no ladder, as fractals bench classic --json writes it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--only", "q"], "unknown workload 'q': choose of a, b, c"),
        (["--runs", "0"], "0 runs: give 1 or more"),
        (["--size", "big"], "'big'"),
        (["--read", "missing.json"], "missing.json: no such file"),
    ],
)
def test_mistakes_get_one_line(capsys, arguments, line):
    assert limit.main(arguments) in (2, 3)
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 1
    assert shown[0].startswith("limit: ")
    assert line in shown[0]


def test_a_report_of_something_else_is_refused(capsys):
    figures = sorted(HERE.parent.glob("cpu-*.json"))[0]
    assert limit.main(["--read", str(figures)]) == 3
    assert "not what limit.py --json writes" in capsys.readouterr().err


def test_without_a_compiler_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(yardstick.platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    assert limit.main(["--only", "a"]) == 1
    assert "no C compiler: install gcc or clang, or set CC" in capsys.readouterr().err
    monkeypatch.setenv("CC", "no-such-cc")
    with pytest.raises(FractalsError, match="CC is 'no-such-cc'"):
        yardstick.find_compiler()


def test_a_compiler_that_refuses_is_quoted(monkeypatch, tmp_path):
    monkeypatch.setattr(yardstick.platform, "machine", lambda: "x86_64")
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'cc: unknown option' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr(yardstick, "Library", Library)
    with pytest.raises(FractalsError, match="can't compile the 256-bit C: cc: unknown option"):
        yardstick.build(["float64"], str(tmp_path))


def test_the_c_is_no_wider_than_ours(monkeypatch, libraries, tmp_path):
    monkeypatch.setattr(type(libraries[0]), "supported", True)
    for size, widths in ((64, [256, 512]), (32, [256]), (16, [256])):
        monkeypatch.setattr(yardstick, "REGISTER", size)
        built = yardstick.build(["float64"], str(tmp_path))
        assert [library.width for library in built] == widths


def test_a_processor_that_cannot_is_named(monkeypatch, libraries, tmp_path):
    monkeypatch.setattr(type(libraries[0]), "supported", False)
    with pytest.raises(DeviceError, match="needs AVX2, which this processor lacks"):
        yardstick.build(["float64"], str(tmp_path))
    monkeypatch.setattr(yardstick.platform, "machine", lambda: "aarch64")
    with pytest.raises(DeviceError, match="needs AVX2, and this processor is aarch64"):
        yardstick.build(["float64"], str(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(yardstick.REGISTER < 64, reason="this CPU has no AVX-512")
def test_the_flame_in_c_has_the_same_sums(capsys):
    """The command itself compares the sums, and ends with 5 where they differ."""
    import flame

    assert flame.main(["--points", "50000", "--runs", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert min(made["million_points_a_second"].values()) > 0
    assert made["ours_over_c"] > 0

"""The instruments that study GPU kernels on a machine without a GPU."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
from support.scenes import scene

import fractals
from fractals.errors import FractalsError, OptionError, to_install
from fractals.lessons import access, machine

KERNELS = """
import sys
from numba import cuda
import numpy as np
from fractals.lessons.access import access_log

@cuda.jit
def along_rows(image):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        image[y, x] += 1

@cuda.jit
def along_columns(image, table):
    x, y = cuda.grid(2)
    if x < image.shape[0] and y < image.shape[1]:
        image[x, y] = image[x, y] + table[0]

image = cuda.to_device(np.zeros((32, 64), np.float32))
table = cuda.to_device(np.ones(1, np.float64))
with access_log() as log:  # counts the same as the log around the script
    along_rows[(2, 4), (32, 8)](image)
    along_columns[(1, 8), (32, 8)](image, table)
assert log.elements(stored=True) == 2 * 2048, log.text()
assert (image.copy_to_host() == 2).all()
"""


def naive(count, block):
    """Return steps of lanes, steps of warps, and what is held, thread by thread."""
    height, width = count.shape
    lanes = warps = held = 0
    for top in range(0, height, block[1]):
        for left in range(0, width, block[0]):
            threads = [
                int(count[y, x]) if y < height and x < width else 0
                for y in range(top, top + block[1])
                for x in range(left, left + block[0])
            ]
            threads += [0] * (-len(threads) % 32)
            lanes += sum(threads)
            warps += sum(max(threads[k : k + 32]) for k in range(0, len(threads), 32))
            held += max(threads) * len(threads)
    return lanes, warps, held


@pytest.mark.parametrize("block", [(32, 1), (8, 4), (16, 16), (7, 3), (64, 2), (1, 1)])
def test_divergence_is_what_a_loop_over_threads_counts(block):
    count = np.random.default_rng(1).integers(1, 1000, (23, 37))
    lanes, warps, held = naive(count, block)
    found = access.measure(count, block)
    assert found.warp_steps == warps
    assert found.lanes_busy == pytest.approx(lanes / (32 * warps), abs=1e-15)
    assert found.slots_busy == pytest.approx(lanes / held, abs=1e-15)
    assert found.of_sample.shape == count.shape


def test_each_sample_has_the_share_of_its_warp():
    count = np.ones((4, 64), int)
    count[2, 40] = 9  # one warp of 32x1 waits: 31 + 9 steps of 32 * 9
    share = access.measure(count, (32, 1)).of_sample
    assert share[2, 32:] == pytest.approx(40 / 288)
    share[2, 32:] = 1
    assert (share == 1).all()


@pytest.mark.parametrize("block", [(0, 4), (64, 32)])
def test_a_block_has_1_to_1024_threads(block):
    with pytest.raises(OptionError, match="1 to 1024 threads"):
        access.measure([[1]], block)


def test_the_map_shows_each_shape():
    found = [access.measure(np.ones((48, 96), int), block) for block in access.BLOCKS]
    pixels = access.draw(found)
    assert pixels.dtype == np.uint8
    assert (pixels > 250).all(axis=2).sum() > 3 * 256 * 100  # three white maps


def test_the_log_counts_the_lines_of_each_warp(tmp_path, run):
    script = tmp_path / "kernels.py"
    script.write_text(KERNELS)
    command = [sys.executable, "-m", "fractals", "gpu", "access", str(script), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = {
        (each["source"].split(" ")[0], each["access"], each["elements"]): each
        for each in json.loads(done.stdout)["accesses"]
    }
    rows = found["image[y,", "store", 2048]
    assert (rows["lines_per_step"], rows["share_used"], rows["warp_steps"]) == (1, 1, 64)
    columns = found["image[x,", "store", 2048]
    assert (columns["lines_per_step"], columns["share_used"]) == (32, 1 / 32)
    loads = [each for each in json.loads(done.stdout)["accesses"] if each["access"] == "load"]
    assert sorted(each["lines_per_step"] for each in loads) == [1, 1, 32]
    (table,) = [each for each in loads if each["share_used"] == 8 / 128]  # all threads read one
    assert table["elements"] == 2048


def test_what_a_script_prints_is_not_mixed_with_json(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(f"print('begun')\n{KERNELS}")
    command = [sys.executable, "-m", "fractals", "gpu", "access", str(script), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["accesses"]
    assert done.stderr == "begun\n"


def test_a_script_without_kernels_is_told(tmp_path, run):
    script = tmp_path / "plain.py"
    script.write_text("print('begun')")
    code, out, err = run("gpu", "access", str(script))
    assert code == 0
    assert out.decode().startswith("begun\n")
    assert "no kernel made by @cuda.jit loaded or stored anything" in err


@pytest.mark.parametrize("end", [0, 3])
def test_a_script_may_end_itself(tmp_path, end):
    """As by sys.exit(main()): nothing was printed."""
    script = tmp_path / "kernels.py"
    script.write_text(f"{KERNELS}\nsys.exit({end})\n")
    command = [sys.executable, "-m", "fractals", "gpu", "access", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == end
    assert ("lines a step" in done.stdout) == (end == 0)


def test_a_missing_compiler_is_a_command_that_works(monkeypatch):
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(machine, "to_install", lambda extra: f"uv sync --extra {extra}")
    with pytest.raises(FractalsError, match=r"no GPU: uv sync --extra gpu\. To count machine code"):
        machine.count("kernels.py", "kernel", "float64")


def test_the_log_of_a_script_that_fails(tmp_path, run):
    script = tmp_path / "fails.py"
    script.write_text("1 / 0")
    command = [sys.executable, "-m", "fractals", "gpu", "access", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.count("\n") == 1
    assert run("gpu", "access", "nowhere.py")[::2] == (2, "fractals: no such file: nowhere.py\n")


def test_a_prediction_is_instructions_by_cores_and_clock():
    card = machine.Card("a card", 1000, 2.0, 1 / 2)
    found = machine.predict(10**6, 5, card)
    assert found.iterations_per_second == pytest.approx(4e11)
    assert found.seconds == pytest.approx(32 * 10**6 / 4e11)
    assert machine.predict(10**6, 5, card, doubles=2).seconds == found.seconds
    assert machine.predict(10**6, 5, card, doubles=5).seconds == 2 * found.seconds


PTX = """
.reg .f32 %f<4>;
$L__BB0_1:
	add.f32 	%f1, %f1, %f2;
$L__BB0_2:
	mul.f32 	%f2, %f2, %f1;
	fma.rn.f64 	%fd1, %fd2, %fd3, %fd1;
	@%p1 bra 	$L__BB0_2;
	@!%p2 bra 	$L__BB0_1;
	@%p3 bra 	$L__BB0_3;
$L__BB0_3:
	ret;
"""


def test_the_innermost_loop_of_ptx_is_counted():
    code = machine.virtual_instructions(PTX)
    assert [each.target for each in code if each.name == "bra"] == [1, 0, 6]
    loop = machine.Loop(tuple(each.name for each in machine.hot_loop(code)), "PTX")
    assert loop.names == ("mul.f32", "fma.rn.f64", "bra")
    assert (loop.arithmetic, loop.double) == (2, 1)


@pytest.mark.skipif(bool(importlib.util.find_spec("numba_cuda")), reason="the compiler is there")
def test_without_a_compiler_the_instrument_says_what_to_install(run):
    code, _, err = run("gpu", "instructions", "kernel.py", "add", "float32")
    assert code == 1
    assert to_install("gpu") in err


def test_cards_are_found_by_name():
    assert machine.card("RTX 4090").cores == 16384
    with pytest.raises(OptionError, match="did you mean 'rtx4090'"):
        machine.card("rtx4091")


def test_the_command_divergence(run, tmp_path):
    code, out, _ = run("gpu", "divergence", "--size", "64x48", "--block", "8x4", "--json")
    (found,) = json.loads(out)["divergence"]
    assert code == 0
    assert found["block"] == [8, 4]
    assert 0 < found["slots_busy"] <= found["lanes_busy"] <= 1
    for name, heights in (("flat", "none"), ("relief", "smooth")):
        (tmp_path / f"{name}.toml").write_text(f'[relief]\nheights = "{heights}"\n')
    flat = run("gpu", "divergence", "flat.toml", "--size", "64x48")
    assert run("gpu", "divergence", "relief.toml", "--size", "64x48") == flat
    assert flat[0] == 0
    code, out, err = run("gpu", "divergence", "--size", "64x48", "-o", "map.png")
    assert (code, out.count(b"\n")) == (0, 4)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "map.png" in err


def test_the_command_predict(run):
    small = ("--size", "64x48", "-n", "50", "--json")
    found = json.loads(run("gpu", "predict", *small, "--card", "t4")[1])
    (named,) = found["predictions"]
    own = ("--cores", "2560", "--clock", "1.59", "--instructions", "9.8")
    (other,) = json.loads(run("gpu", "predict", *small, *own)[1])["predictions"]
    own = (*own[:-1], "4.9")
    (half,) = json.loads(run("gpu", "predict", *small, *own)[1])["predictions"]
    assert other["seconds"] == pytest.approx(2 * half["seconds"])
    assert half["seconds"] < named["seconds"]  # which has also what a sample takes
    assert found["warp_instructions"] == pytest.approx(named["seconds"] * 2560 * 1.59e9 / 32)
    assert found["instructions"] == machine.INSTRUCTIONS["mandelbrot"][0]
    assert found["doubles"] == 0
    words = (*small, *own[:-2], "--double", "1/32", "--precision", "float64")
    words = (*words, "--instructions", "5", "--doubles", "4.3")
    (double,) = json.loads(run("gpu", "predict", *words)[1])["predictions"]
    assert double["seconds"] / half["seconds"] == pytest.approx((5 - 0.7) * 32 / 4.9)
    assert b"of lanes busy; at least:" in run("gpu", "predict", *small[:-1])[1]


def test_the_work_of_fractals_own_kernel():
    """A block of 16 iterations is run again where an orbit escaped; a search sets marks."""
    sample, test, mark = 102, 4.9 + 5, 21
    for counts, blocks, tested, marks in (
        ([16] * 32, 1, 16, 1),
        ([40] * 32, 3, 8, 3),
        ([100] * 32, 6, 4, 4),  # the limit: nothing is run again
        ([16] * 31 + [100], 6, 16, 4),  # a warp takes the most of its threads
    ):
        work = machine.work_of([counts], [counts], 100, (32, 1), "mandelbrot", "float32")
        expected = 4.9 * 16 * blocks + test * tested + mark * marks + sample
        assert work.instructions == pytest.approx(expected)
        assert work.doubles == 0
    work = machine.work_of([[16] * 32], [[16] * 32], 100, (32, 1), "mandelbrot", "float64")
    assert work.doubles == pytest.approx(4.3 * 16 + 7.3 * 16 + 13)


def test_the_work_of_interior_samples_that_end_early():
    """At once by the test for the cardioid, or after the block in which a cycle was found."""
    for steps, blocks, marks in ((0, 0, 0), (48, 3, 3)):
        work = machine.work_of([[100] * 32], [[steps] * 32], 100, (32, 1), "mandelbrot", "float32")
        assert work.instructions == pytest.approx(4.9 * 16 * blocks + 21 * marks + 102)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_iterations_are_those_that_the_kernel_takes(precision):
    drawn = scene(size=(24, 16), max_iterations=200, supersampling=1)
    count, steps, limit = machine.steps_of(drawn, precision)
    counts = fractals.compute(drawn, device="cpu", precision=precision).count
    assert np.array_equal(count, counts)
    assert np.array_equal(steps[count < limit], count[count < limit])
    inside = steps[count == limit]
    assert (inside == 0).any()  # in the cardioid and the disk
    assert ((inside % 16 == 0) | (inside == limit)).all()
    julia = scene(size=(24, 16), max_iterations=1000, supersampling=1, julia=("-1", "0"))
    count, steps, limit = machine.steps_of(julia, precision)
    assert (count == limit).mean() > 0.05
    assert steps[count == limit].max() < 200  # the cycle 0, -1 attracts quickly


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("predict", "--cores", "5"), "--cores and --clock are given together"),
        (("predict", "--cores", "5", "--clock", "nan"), "nan is no number"),
        (("predict", "--instructions", "inf"), "inf is not in the range 0<x<=1000000000"),
        (("predict", "--formula", "newton"), "give --instructions"),
        (("predict", "--card", "none"), "unknown card 'none'"),
        (("predict", "--card", "4090"), "did you mean 'rtx4090'? Or give --cores and --clock"),
        (("divergence", "ruin"), "makes images of another family, solid"),
        (("divergence", "--block", "8"), "is not WIDTHxHEIGHT"),
        (("divergence", "--zoom", "1e20"), "perturbation skips steps"),
        (("divergense",), "did you mean 'divergence'?"),
    ],
)
def test_what_is_wrong_is_said(run, words, message):
    code, _, err = run("gpu", *words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1

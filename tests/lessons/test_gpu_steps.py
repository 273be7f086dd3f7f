"""The GPU steps in each simulator: their results are those of plain Python and of NumPy."""

import subprocess
import sys

import pytest

from fractals.lessons import steps
from fractals.lessons.steps import lessons_folder

pytestmark = pytest.mark.lessons

COUNTS = """
import numpy as np
import step_01_python as first
import step_11_mandelbrot_gpu as gpu

assert not gpu.on_gpu
for kernel, grid in (gpu.one_pixel_each, (3, 3)), (gpu.grid_stride, (1, 2)):
    counts = gpu.draw(kernel, grid, (16, 8), size=(37, 23), iterations=60)
    pixel = 3.0 / 37
    for row in range(23):
        for column in range(37):
            c = complex(-2.0 + column * pixel, 1.0 - row * pixel)
            assert counts[row, column] == first.escape(c, 60), (row, column)
assert len(np.unique(counts)) > 10
"""
PRODUCTS = """
import numpy as np
from gpu import cuda
import step_a_shared_memory as step

a, b = np.random.default_rng(1).random((2, 21, 21), np.float32)
for kernel in step.naive, step.tiled:  # a size that is no multiple of the tile
    c = cuda.to_device(np.zeros((21, 21), np.float32))
    kernel[(2, 2), (16, 16)](cuda.to_device(a), cuda.to_device(b), c)
    assert np.allclose(c.copy_to_host(), a @ b)
"""
PICTURES = """
import numpy as np
import step_13_overlap as step

one = step.draw(1)
assert one.shape == (step.HEIGHT, step.WIDTH, 3)
assert len(np.unique(one)) > 10
for streams in 2, 3:  # three do not divide the tiles
    assert np.array_equal(step.draw(streams), one)
assert [span[3] for span in step.timeline(4, 1, 3, 2)] == [5, 10, 15, 20]
assert [span[3] for span in step.timeline(4, 2, 3, 2)] == [5, 8, 11, 14]
"""
TRAINING = """
import numpy as np
import step_d_training as step

random = np.random.default_rng(1)
points, goals = random.uniform(-1, 1, (70, 2)), random.random((70, 3))
w = random.normal(0, 1, (step.WAVES, 7)).astype(np.float32)
found = step.gradients_of(points, goals, w, 1, on_device=False)
assert np.allclose(step.gradients_of(points, goals, w, 1, on_device=True), found, atol=1e-9)
for n in 0, 9:  # forwards, and by differences
    forwards, differences = 0.0, 0.0
    for (x, y), goal in zip(points, goals):
        for channel in range(3):
            color = step.network(x, y, w, channel)
            forwards += 2 * (color - goal[channel]) * step.forward(x, y, w, channel, n)
    more, less = w.astype(np.float64), w.astype(np.float64)
    more[n, 3] += 1e-5
    less[n, 3] -= 1e-5
    loss = [np.mean((step.paint(points[None], each)[0] - goals) ** 2) for each in (more, less)]
    backwards = found[:, n, 3].sum()
    assert np.isclose(forwards / goals.size, backwards, rtol=1e-4)
    assert np.isclose((loss[0] - loss[1]) / 2e-5, backwards, rtol=1e-4)
"""
COUNTING = """
import numpy as np
import step_e_counting as step

expected = np.zeros((step.SIZE, step.SIZE), np.int32)
for thread in range(64, 192):
    seed, corner, x, y = thread * 2654435761 % 2**32, thread % 4, 0, 0
    for k in range(step.STEPS + step.SKIPPED):
        seed = (1664525 * seed + 1013904223) % 2**32
        corner = (corner + [0, 0, 0, 1, 2, 3][seed // 2**16 % 6]) % 4
        x, y = (x + (0, 2**24, 2**24, 0)[corner]) // 2, (y + (0, 0, 2**24, 2**24)[corner]) // 2
        if k >= step.SKIPPED:
            expected[y * step.SIZE // 2**24, x * step.SIZE // 2**24] += 1
hits, lossy = step.count(64, 128)
assert np.array_equal(hits, expected)
assert np.array_equal(sum(step.count(first, 64)[0] for first in (64, 128)), hits)
kept, lost = step.in_lockstep(1024)
assert kept.sum() == 1024 * step.STEPS
assert 0.2 < lost.sum() / kept.sum() < 0.98 and (lost <= kept).all()
assert np.array_equal(step.in_lockstep(256)[0], step.count(0, 256)[0])
"""


def test_derivatives_forwards_and_backwards_agree():
    path = f"import sys; sys.path.insert(0, {str(lessons_folder())!r})\n"
    command = [sys.executable, "-c", path + TRAINING]
    environment = steps.environment() | {"FRACTALS_DEVICE": "simulator"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TRANSLATED = """
import re
from pathlib import Path
import numpy as np
import step_g_opencl as step

text = step.translated().text.replace("step_g_opencl_", "main_")
folder = Path(step.__file__).parent
for page in folder / "step_g_opencl.md", folder / "zh" / "step_g_opencl.md":
    shown = re.findall("```c\\n(.*?)```", page.read_text("utf-8"), re.S)
    functions = re.findall("^[a-z].*?^}", "".join(shown), re.S | re.M)
    assert len(functions) == 3
    for function in functions:
        assert function in text, function
counts = step.by_cuda()
if not step.opencl.found()[1]:
    assert np.array_equal(step.by_opencl(step.translated()), counts)
assert len(np.unique(counts)) > 10
"""
RAYS = """
import numpy as np
import step_f_rays as step

dice = np.random.default_rng(3)
points = dice.uniform(-1.2, 1.2, (300, 3))
surface = np.array([p for p in dice.uniform(-1, 1, (4000, 3)) if step.distance(*p) <= 0])
assert len(surface) > 100
for point in points:  # no place of the sponge is nearer than the distance says
    nearest = np.linalg.norm(surface - point, axis=1).min()
    assert step.distance(*point) <= nearest + 1e-12
out = dice.normal(size=(300, 3))
rays = np.hstack([3 * points, out / np.linalg.norm(out, axis=1, keepdims=True)])
order = dice.permutation(300)[:200]
steps, lengths = step.see(rays, order)
ends = [step.walk(*ray, 0.0, step.MOST) for ray in rays]
for ray in range(300):
    expected = ends[ray][:2] if ray in order else (0, 0.0)
    assert (steps[ray], lengths[ray]) == expected
for most in (1, 4):
    again = step.see(rays, order, most)
    assert np.array_equal(again[0], steps) and np.array_equal(again[1], lengths)
assert 0 < (lengths[order] < step.FAR).sum() < 200
uneven = np.array(2 * ([1] * 31 + [9]))  # 80 steps
assert step.busy(uneven, np.arange(64)) == "14% of lanes busy"  # two warps of 9
assert step.busy(uneven, np.arange(64), 3) == "21% of lanes busy"  # two of 3, then one, twice
"""


@pytest.mark.parametrize(
    "variable", ["FRACTALS_DEVICE=simulator", "NUMBA_ENABLE_CUDASIM=1"], ids=["ours", "Numba's"]
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(COUNTS, id="step 11"),
        pytest.param(PRODUCTS, id="step a"),
        pytest.param(PICTURES, id="step 13"),
        pytest.param(COUNTING, id="step e"),
        pytest.param(RAYS, id="step f"),
        pytest.param(TRANSLATED, id="step g", marks=pytest.mark.opencl),  # there it is run, too
    ],
)
def test_a_step_computes_what_it_says(text, variable):
    environment = steps.environment() | dict([variable.split("=")])
    path = f"import sys; sys.path.insert(0, {str(lessons_folder())!r})\n"
    command = [sys.executable, "-c", path + text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "no simulator of Numba" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    if "unknown target CPU" in done.stderr:
        pytest.skip("the OpenCL compiler does not know this processor")
    assert done.returncode == 0, done.stderr

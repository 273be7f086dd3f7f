"""The GPU steps in each simulator: their results are those of plain Python and of NumPy."""

import subprocess
import sys

import pytest

from fractals.tools.learn import run
from fractals.tools.learn.run import lessons_folder

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


@pytest.mark.parametrize(
    "variable", ["FRACTALS_DEVICE=simulator", "NUMBA_ENABLE_CUDASIM=1"], ids=["ours", "Numba's"]
)
@pytest.mark.parametrize("text", [COUNTS, PRODUCTS, PICTURES], ids=["step 11", "step a", "step 13"])
def test_a_step_computes_what_it_says(text, variable):
    environment = run.environment() | dict([variable.split("=")])
    path = f"import sys; sys.path.insert(0, {str(lessons_folder())!r})\n"
    command = [sys.executable, "-c", path + text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if "no simulator of Numba" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr

"""Step B: a 3x3 convolution on our own picture, then a neural network evaluated per pixel."""

import math

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit
from step_11_mandelbrot_gpu import draw, grid_stride

SIZE = (768, 512) if on_gpu else (192, 128)
GRID, BLOCK = (SIZE[0] // 8, SIZE[1] // 8), (8, 8)
EDGES = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], np.float32)


# [convolution]
@cuda.jit
def convolve(picture, weights, bias, out):
    column, row = cuda.grid(2)
    if 0 < row < picture.shape[0] - 1 and 0 < column < picture.shape[1] - 1:
        total = bias
        for dy in range(3):
            for dx in range(3):
                total += weights[dy, dx] * picture[row + dy - 1, column + dx - 1]
        out[row, column] = max(total, 0.0)  # the activation (ReLU), fused
    # [end]


# [network]
def network(x, y, w, channel):
    r, total = math.sqrt(x * x + y * y), 0.0
    for n in range(w.shape[0]):  # hidden numbers: waves in x, y and the distance from the center
        wave = math.sin(w[n, 0] * x + w[n, 1] * y + w[n, 2] * r + w[n, 3])
        total += w[n, 4 + channel] * wave
    return 0.5 + 0.5 * math.tanh(total)


on_cpu, on_device = njit(network), cuda.jit(device=True)(network)


@cuda.jit
def paint(w, image):
    (column, row), (height, width, _) = cuda.grid(2), image.shape
    if row < height and column < width:
        x, y = (2 * column - width) / width, (2 * row - height) / width
        for channel in range(3):  # red, green, blue
            image[row, column, channel] = on_device(x, y, w, channel)
    # [end]


if __name__ == "__main__":
    counts = draw(grid_stride, (2, 2), (4, 4), SIZE, 50).astype(np.float32)
    edges = cuda.to_device(np.zeros_like(counts))
    convolve[GRID, BLOCK](cuda.to_device(counts), cuda.to_device(EDGES), np.float32(-20), edges)
    print("edges:", np.count_nonzero(edges.copy_to_host()), "of", counts.size, "pixels")
    weights = np.random.default_rng(3).normal(0, (5, 5, 7, 3, 0.8, 0.8, 0.8), (8, 7))
    image, w = cuda.device_array((SIZE[1], SIZE[0], 3)), cuda.to_device(weights)
    seconds = median_seconds(lambda: (paint[GRID, BLOCK](w, image), cuda.synchronize()), 3)
    assert abs(image.copy_to_host()[0, 0, 0] - on_cpu(-1.0, -SIZE[1] / SIZE[0], weights, 0)) < 1e-9
    picture = (255 * image.copy_to_host()).astype(np.uint8)
    report("b", seconds, SIZE[0] * SIZE[1], "pixels/s", device, picture)

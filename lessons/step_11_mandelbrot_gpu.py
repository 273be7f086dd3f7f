"""Step 11: the Mandelbrot set with @cuda.jit: a device function, a 2D grid, a grid-stride loop."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit

SIZE, FEW = ((1536, 1024), (32, 16)) if on_gpu else ((48, 32), (1, 1))  # FEW: blocks of a loop


# [escape]
def escape_count(cx, cy, iterations):
    x = y = 0.0
    n = 0
    while n < iterations and x * x + y * y <= 4.0:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    return n


escape = njit(escape_count)  # for the CPU; called from a kernel, Numba compiles it for the GPU
# [end]


# [naive]
@cuda.jit
def one_pixel_each(left, top, pixel, iterations, counts):
    column, row = cuda.grid(2)
    if row < counts.shape[0] and column < counts.shape[1]:
        counts[row, column] = escape(left + column * pixel, top - row * pixel, iterations)

    # [end]


# [stride]
@cuda.jit
def grid_stride(left, top, pixel, iterations, counts):
    first_column, first_row = cuda.grid(2)
    columns, rows = cuda.gridsize(2)
    for row in range(first_row, counts.shape[0], rows):
        for column in range(first_column, counts.shape[1], columns):
            counts[row, column] = escape(left + column * pixel, top - row * pixel, iterations)

    # [end]


def draw(kernel, grid, block, size=SIZE, iterations=20):
    counts = cuda.device_array((size[1], size[0]), np.int32)  # int32: uint8 ends at 255
    kernel[grid, block](-2.0, 1.0, 3.0 / size[0], iterations, counts)
    return counts.copy_to_host()


if __name__ == "__main__":
    grid, block = (-(-SIZE[0] // 16), -(-SIZE[1] // 8)), (16, 8)  # rounded up
    counts = draw(one_pixel_each, grid, block)
    assert np.array_equal(counts, draw(grid_stride, FEW, block))
    for kernel, blocks in (one_pixel_each, grid), (grid_stride, FEW):
        seconds = median_seconds(lambda: draw(kernel, blocks, block), 3)
        if on_gpu:
            print(f"{kernel.__name__:16}{counts.size / seconds:12,.0f} pixels/s, copied back")
    picture = draw(grid_stride, FEW, block, (384, 256), 300)
    report(11, seconds, int(counts.sum()), device=device, picture=picture)

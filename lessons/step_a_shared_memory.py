"""Step A: a matrix product, from global memory alone and then in tiles of shared memory."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report

from fractals.lessons import access

N = 1024 if on_gpu else 32
TILE = 16  # a block is 16x16 threads


# [naive]
@cuda.jit
def naive(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total
    # [end]


# [tiled]
@cuda.jit
def tiled(a, b, c):
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)  # one per block, uninitialised
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = b_tile[ty, tx] = 0  # beyond the matrix: adds nothing
        if row < a.shape[0] and start + tx < a.shape[1]:
            a_tile[ty, tx] = a[row, start + tx]
        if start + ty < b.shape[0] and column < b.shape[1]:
            b_tile[ty, tx] = b[start + ty, column]
        cuda.syncthreads()  # nobody reads before all have written
        for k in range(TILE):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()  # nobody writes before all have read
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
    # [end]


if __name__ == "__main__":
    random = np.random.default_rng(1)
    a, b = random.random((2, N, N), np.float32)
    blocks = -(-N // TILE), -(-N // TILE)
    for kernel in naive, tiled:
        arrays = [cuda.to_device(x) for x in (a, b, np.zeros((N, N), np.float32))]
        launch = lambda: (kernel[blocks, (TILE, TILE)](*arrays), cuda.synchronize())  # noqa: E731
        with access.access_log() as log:
            seconds = median_seconds(launch, 7 if on_gpu else 1)  # on a GPU the first compiles
        assert np.allclose(arrays[2].copy_to_host(), a @ b)
        if not on_gpu:  # the simulator counts
            print(f"{kernel.__name__}: {log.elements(stored=False)} elements loaded")
    report("a", seconds, 2 * N**3, "flop/s", device)

"""Solution A: a matrix product in tiles."""

import numpy as np
from gpu import cuda

TILE = 8


@cuda.jit
def multiply(a, b, c):
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    a_tile = cuda.shared.array((TILE, TILE), np.float32)
    b_tile = cuda.shared.array((TILE, TILE), np.float32)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = b_tile[ty, tx] = 0
        if row < a.shape[0] and start + tx < a.shape[1]:
            a_tile[ty, tx] = a[row, start + tx]
        if start + ty < b.shape[0] and column < b.shape[1]:
            b_tile[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def run(a, b):
    """Return the matrix product of two float32 arrays."""
    c = cuda.to_device(np.zeros((a.shape[0], b.shape[1]), np.float32))
    blocks = -(-b.shape[1] // TILE), -(-a.shape[0] // TILE)
    multiply[blocks, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    return c.copy_to_host()

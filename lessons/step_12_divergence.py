"""Step 12: divergence, coalescing and occupancy, seen without a GPU through three instruments."""

import numpy as np
from gpu import cuda, on_gpu
from ladder import median_seconds, report
from step_11_mandelbrot_gpu import escape

from fractals.lessons import access, machine

WIDTH, HEIGHT, ITERATIONS = 384, 256, 1000
REGISTERS, THREADS, BLOCKS = 65536, 2048, 32  # of a multiprocessor of an A100, H100 or H200


def all_counts():
    xs, ys = np.arange(WIDTH) / 128 - 2.0, 1.0 - np.arange(HEIGHT) / 128
    return np.array([[escape(x, y, ITERATIONS) for x in xs] for y in ys])


# [coalescing]
@cuda.jit
def along_rows(image):
    x, y = cuda.grid(2)
    image[y, x] = x + y  # neighbors in a warp: neighbors in memory


@cuda.jit
def along_columns(image):
    x, y = cuda.grid(2)
    image[x, y] = x + y  # neighbors in a warp: a whole row of memory apart
    # [end]


# [occupancy]
def occupancy(registers, threads):
    warps = min(THREADS // threads, BLOCKS, REGISTERS // (registers * threads)) * threads // 32
    return warps / (THREADS // 32)
    # [end]


if __name__ == "__main__":
    counts = all_counts()
    # [divergence]
    for block in (32, 1), (8, 4), (16, 16):
        found = access.measure(counts, block)
        print(f"{block}: {found.lanes_busy:.1%} of lanes busy, {found.slots_busy:.1%} of slots")
    # [end]
    for kernel in () if on_gpu else (along_rows, along_columns):
        with access.access_log() as log:
            kernel[(2, 8), (32, 8)](cuda.to_device(np.zeros((64, 64), np.float32)))
        print(log.text())
    for instructions, doubles in (14, 8), (4.9, 0):  # step 11's loop, and that of fractals
        h200 = machine.predict(found.warp_steps, instructions, machine.CARDS["h200"], doubles)
        print(f"{instructions} instructions: {1e6 * h200.seconds:.1f} us predicted for an H200")
    print(f"occupancy: {occupancy(32, 64):.0%} with 32 registers, {occupancy(48, 64):.0%} with 48")
    report(12, median_seconds(all_counts, 3), picture=access.draw([access.measure(counts, (8, 4))]))

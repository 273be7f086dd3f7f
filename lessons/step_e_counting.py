"""Step E: counting with atomics: many threads throw points, and no hit is lost."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit

BITS, SIZE = 24, 192  # of a coordinate, a whole number; cells in each direction
SKIPPED = 8  # steps until a point is on the attractor
THREADS, STEPS = (2**16, 2000) if on_gpu else (256, 100)


# [throw]
@njit
def throw(seed, corner, x, y):  # whole numbers, so each device throws the same points
    seed = (1664525 * seed + 1013904223) & 0xFFFFFFFF  # the next random number
    turn = (seed >> 16) % 6
    corner = (corner + (turn > 2) * (turn - 2)) & 3  # half of the times the same
    right, low = (corner + 1 >> 1) & 1, corner >> 1
    return seed, corner, (x + (right << BITS)) >> 1, (y + (low << BITS)) >> 1  # halfway


# [end]
# [kernel]
@cuda.jit
def play(first, hits, lossy):  # a thread throws the points of one trajectory
    thread = first + cuda.grid(1)
    seed, corner, x, y = (thread * 2654435761) & 0xFFFFFFFF, thread & 3, 0, 0
    for step in range(STEPS + SKIPPED):
        seed, corner, x, y = throw(seed, corner, x, y)
        if step >= SKIPPED:
            row, column = (y * SIZE) >> BITS, (x * SIZE) >> BITS
            cuda.atomic.add(hits, (row, column), 1)  # one operation: no hit is lost
            lossy[row, column] += 1  # three: load, add, store


# [end]
def count(first, threads):
    hits, lossy = (cuda.to_device(np.zeros((SIZE, SIZE), np.int32)) for _ in range(2))
    play[threads // 64, 64](first, hits, lossy)
    return hits.copy_to_host(), lossy.copy_to_host()


# [lockstep]
def in_lockstep(threads):  # NumPy takes each step with all threads at once, as a warp does
    hits, lossy = np.zeros((2, SIZE, SIZE), np.int32)
    seed, x, y = (np.arange(threads) * 2654435761) & 0xFFFFFFFF, 0, 0
    corner = np.arange(threads) & 3
    for step in range(STEPS + SKIPPED):
        seed, corner, x, y = throw.py_func(seed, corner, x, y)
        if step >= SKIPPED:
            cell = (y * SIZE) >> BITS, (x * SIZE) >> BITS
            np.add.at(hits, cell, 1)
            lossy[cell] += 1  # loads all, adds 1 to all, stores all
    return hits, lossy


# [end]
def glow(hits, most):
    light = (np.log1p(hits) / np.log1p(most))[..., None]
    return (255 * light ** (0.6, 1.1, 2.2)).astype(np.uint8)


if __name__ == "__main__":
    seconds = median_seconds(lambda: count(0, THREADS), 3 if on_gpu else 1)
    hits, lossy = count(0, THREADS)
    half = THREADS // 2
    parts = [count(first, half)[0] for first in (0, half)]  # as two GPUs would
    assert np.array_equal(sum(parts), hits)
    assert hits.sum() == THREADS * STEPS
    print(f"{device}: {hits.sum()} hits by atomics, {lossy.sum()} by +=; two parts add up")
    hits, lossy = in_lockstep(2**14)
    print(f"in lockstep: {hits.sum()} hits by atomics, {lossy.sum()} by +=")
    shares = np.float32(1) / np.arange(1, 100_001, dtype=np.float32)
    sums = [np.add.accumulate(each)[-1] for each in (shares, shares[::-1])]
    print(f"float32, forwards and backwards: {sums[0]:.4f} and {sums[1]:.4f}")
    picture = np.hstack([glow(each, hits.max()) for each in (hits, lossy)])
    report("e", seconds, THREADS * STEPS, "hits/s", device, picture)

"""Step C: attention, softmax(Q K^T / sqrt(d)) V, as three kernels and then as one."""

import math

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from step_a_shared_memory import naive as product

from fractals.lessons.access import access_log

N, D = 64, 8  # tokens, and the numbers that describe each


# [kernels]
@cuda.jit
def softmax(s):
    i, highest, total = cuda.grid(1), -math.inf, 0.0
    for j in range(N):
        highest = max(highest, s[i, j])
    for j in range(N):
        total += math.exp(s[i, j] - highest)  # at most 1: no overflow
    for j in range(N):
        s[i, j] = math.exp(s[i, j] - highest) / total


@cuda.jit
def fused(q, kt, v, out):
    i, highest, total = cuda.grid(1), -math.inf, 0.0
    row, sums = cuda.local.array(D, np.float64), cuda.local.array(D, np.float64)
    for d in range(D):
        row[d], sums[d] = q[i, d], 0.0
    for j in range(N):
        score = 0.0
        for d in range(D):
            score += row[d] * kt[d, j]
        before, highest = highest, max(highest, score)
        shrink, weight = math.exp(before - highest), math.exp(score - highest)
        total = shrink * total + weight  # a new maximum shrinks what is summed so far
        for d in range(D):
            sums[d] = shrink * sums[d] + weight * v[j, d]
    for d in range(D):
        out[i, d] = sums[d] / total
    # [end]


if __name__ == "__main__":
    q, k, v = np.random.default_rng(1).standard_normal((3, N, D))
    weights, b = np.exp(q @ k.T / math.sqrt(D)), (8, 8)
    expected = weights @ v / weights.sum(axis=1, keepdims=True)
    q, kt, v = map(cuda.to_device, (q / math.sqrt(D), k.T.copy(), v))
    s, out = cuda.to_device(np.zeros((N, N))), cuda.to_device(np.zeros((N, D)))
    three = lambda: (product[b, b](q, kt, s), softmax[2, 32](s), product[b, b](s, v, out))  # noqa: E731
    for kernels, run in ("three", three), ("one", lambda: fused[2, 32](q, kt, v, out)):
        with access_log() as log:
            seconds = median_seconds(lambda: (run(), cuda.synchronize()), 7 if on_gpu else 1)
        assert np.allclose(out.copy_to_host(), expected, rtol=0, atol=1e-6)
        if not on_gpu:  # the simulator counts
            print(f"{kernels}: {log.elements(False)} loads, {log.elements(True)} stores")
    report("c", seconds, 4 * N * N * D, "flop/s", device)

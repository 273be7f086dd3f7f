# Right, but in two passes: each number is loaded twice.
import math

import numpy as np
from gpu import cuda


@cuda.jit
def log_sum_exp(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        highest, total = -math.inf, 0.0
        for j in range(x.shape[1]):
            highest = max(highest, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - highest)
        out[i] = highest + math.log(total)


def run(x):
    """Return the results of all rows, an array of float64."""
    out = cuda.to_device(np.zeros(x.shape[0]))
    log_sum_exp[-(-x.shape[0] // 32), 32](cuda.to_device(x), out)
    return out.copy_to_host()

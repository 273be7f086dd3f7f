"""Exercise C: log(sum(exp(x))) of each row, in one pass, without overflow.

This sum is what softmax divides by. Keep the highest number so far and the sum so far; numbers of
1000 must not overflow.
"""

import math

import numpy as np
from gpu import cuda


@cuda.jit
def log_sum_exp(x, out):
    """Set out[i] to log(sum over j of exp(x[i, j])), and load each x[i, j] once."""
    raise NotImplementedError


def run(x):
    """Return the results of all rows, an array of float64."""
    out = cuda.to_device(np.zeros(x.shape[0]))
    log_sum_exp[-(-x.shape[0] // 32), 32](cuda.to_device(x), out)
    return out.copy_to_host()

"""Solution E: atomics, and the sum of all parts for each GPU."""

import numpy as np
from gpu import cuda


@cuda.jit
def count(places, hits):
    i = cuda.grid(1)
    if i < places.size:
        cuda.atomic.add(hits, places[i], 1)


def all_reduce(parts):
    total = np.sum(parts, axis=0, dtype=np.int32)
    return [total.copy() for _ in parts]


def run(places, cells, gpus):
    parts = []
    for part in np.array_split(places, gpus):
        hits = cuda.to_device(np.zeros(cells, np.int32))
        count[max(1, -(-part.size // 64)), 64](cuda.to_device(part), hits)
        parts.append(hits.copy_to_host())
    return all_reduce(parts)

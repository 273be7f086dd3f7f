"""Check of exercise E, in the simulator, which tells which thread stores into which element."""

from collections import defaultdict

import gpu
import numpy as np

from fractals.backends.cuda import simulator


def stored_by(run):
    """Return what `run` returns, and how many threads stored into one cell without atomics."""
    threads, add, atomic = defaultdict(set), gpu.cuda.atomic.add, []

    def observed_add(array, index, value):
        atomic.append(True)
        try:
            return add(array, index, value)
        finally:
            atomic.pop()

    def observe(block, thread, frame, stored, element):
        if stored and not atomic:
            threads[element.ctypes.data].add((block, thread))

    gpu.cuda.atomic.add = observed_add
    try:
        with simulator.observed(observe):
            return run(), max(map(len, threads.values()), default=0)
    finally:
        gpu.cuda.atomic.add = add


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(5)
    for size, cells, gpus in ((200, 7, 1), (500, 3, 2), (333, 50, 4)):
        places = random.integers(0, cells, size)
        right = np.bincount(places, minlength=cells)
        name = f"{size} places, {gpus} GPUs"
        try:
            found, threads = stored_by(lambda p=places, c=cells, g=gpus: answer.run(p, c, g))
        except IndexError as error:
            raise AssertionError(f"{name}: an index is outside the array: {error}") from None
        assert threads < 2, (
            f"{name}: {threads} threads store into one cell without an atomic operation: on a GPU "
            "hits are lost"
        )
        assert len(found) == gpus, f"{name}: {len(found)} histograms are returned"
        for number, hits in enumerate(found):
            assert np.array_equal(hits, right), (
                f"{name}: GPU {number} has {np.sum(hits)} hits in its histogram, expected {size} "
                "in the right cells"
            )
        parts = [np.full(cells, number, np.int32) for number in range(gpus)]
        answer.all_reduce(parts)
        assert all((part == number).all() for number, part in enumerate(parts)), (
            f"{name}: all_reduce changes the parts"
        )

"""Checks stream compaction."""

import numpy as np


def check(answer):
    numbers = np.random.default_rng(8)
    cases = [("nothing is kept", np.zeros(5, bool)), ("all are kept", np.ones(5, bool))]
    cases += [("there are no values", np.zeros(0, bool))]
    cases += [(f"{size} values", numbers.random(size) < 0.5) for size in (37, 128, 1000)]
    for what, keep in cases:
        values = numbers.permutation(np.arange(1.0, len(keep) + 1))
        expected = values[keep]
        kept = answer.compact(values, keep)
        assert kept == len(expected), f"{what}: compact returns {kept}, expected {len(expected)}"
        missing = set(expected) - set(values[:kept])
        assert not missing, f"{what}: {len(missing)} kept values are not at the front of the array"
        assert np.array_equal(values[:kept], expected), f"{what}: the order of the values changed"

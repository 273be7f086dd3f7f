"""Check of exercise F: beside warps that are walked thread by thread."""

import numpy as np


def walked(needs, most, warp):
    """Return the same, by giving each thread of each warp one step after the other."""
    left, busy = list(needs), 0
    while left:
        rows = [left[first : first + warp] for first in range(0, len(left), warp)]
        for row in rows:
            for step in range(most):
                if not any(need > step for need in row):
                    break
                busy += warp
        left = [need - most for row in rows for need in row if need > most]
    return busy


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(6)
    cases = [([3], 5, 4), ([1, 9, 1, 1, 1, 9], 2, 2), ([7] * 8, 7, 4)]
    for size, most, warp in ((50, 3, 8), (333, 16, 32), (64, 100, 32)):
        cases.append((random.geometric(0.1, size).tolist(), most, warp))
    for needs, most, warp in cases:
        expected, given = walked(needs, most, warp), list(needs)
        found = answer.thread_steps(given, most, warp)
        name = f"{len(needs)} rays, launches of {most} steps, warps of {warp}"
        assert given == list(needs), f"{name}: the list of needs has changed"
        assert found == expected, f"{name}: {found} steps of threads, expected {expected}"

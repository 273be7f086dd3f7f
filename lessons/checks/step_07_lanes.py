"""Checks a prediction of wasted steps."""

import random


def count_steps(counts, lanes, block):
    """Count by doing it: groups, blocks, lanes."""
    steps = 0
    for start in range(0, len(counts), lanes):
        group, done = counts[start : start + lanes], 0
        while any(count > done for count in group):
            steps += block * len(group)
            done += block
    return steps - sum(counts)


def check(answer):
    assert answer.wasted([3, 9], 2, 4) == 12, "counts 3, 9, 2 lanes, blocks of 4: 12 are wasted"
    random.seed(7)
    for size, lanes, block in ((64, 8, 1), (64, 8, 16), (1000, 32, 8), (37, 8, 3), (5, 32, 12)):
        counts = [random.choice((1, 7, 8, 20, 1000)) for _ in range(size)]
        found, expected = answer.wasted(counts, lanes, block), count_steps(counts, lanes, block)
        what = f"{size} samples, {lanes} lanes, blocks of {block}"
        assert found == expected, f"{what}: wasted returns {found}, expected {expected}"

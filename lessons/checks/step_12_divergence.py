"""Check of exercise 12, against the program's own instrument."""

import numpy as np

from fractals.lessons.access import measure


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(12)
    pictures = {
        "64x32, equal counts": np.full((32, 64), 7),
        "64x32, random counts": random.integers(1, 1000, (32, 64)),
        "37x23, random counts": random.integers(1, 1000, (23, 37)),
    }
    for name, counts in pictures.items():
        for block in ((32, 1), (8, 4), (16, 16)):
            found, right = answer.lanes_busy(counts, block), measure(counts, block).lanes_busy
            close = found is not None and abs(found - right) < 1e-9
            assert close, (
                f"{name}, blocks of {block[0]}x{block[1]}: {found} of the lanes, not {right:.4f}"
            )

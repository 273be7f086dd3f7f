"""Checks a view: how many counts differ between float32 and float64."""

import numpy as np
from step_06_numbers import separate


def check(answer):
    x, y, width = (float(value) for value in answer.view())
    assert width >= 0.01, f"the width is {width:g}: give 0.01 or more"
    xs = x + width * ((np.arange(96) + 0.5) / 96 - 0.5)
    ys = y + width * 2 / 3 * (0.5 - (np.arange(64) + 0.5) / 64)
    found = {}
    for number in (np.float32, np.float64):
        found[number] = np.empty((64, 96), np.int32)
        separate(xs.astype(number), ys.astype(number), found[number], 1000)
    share = 100 * np.mean(found[np.float32] != found[np.float64])
    assert share >= 10, f"{share:.1f} % of the counts differ: 10 % are asked for"

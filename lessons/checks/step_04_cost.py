"""Checks the counts, and that the machine code contains no square root."""

import re

from numba import njit
from step_01_python import coordinates
from step_01_python import escape as escape_of_step_1


def check(answer):
    escape = njit(getattr(answer.escape, "py_func", answer.escape))
    xs, ys = coordinates(37, 23)
    for limit in (1, 300):
        for c in [complex(x, y) for x in xs for y in ys] + [-2 + 0j, 3 + 0j]:
            found, expected = escape(c, limit), escape_of_step_1(c, limit)
            assert found == expected, f"c = {c:.3f}: escape returns {found}, expected {expected}"
    code = "\n".join(escape.inspect_asm().values())
    root = re.search(r"hypot|v?sqrt[sp][sd]|fsqrt|\bpow\b", code)
    assert not root, f"the machine code contains '{root[0]}': compare squares with squares"

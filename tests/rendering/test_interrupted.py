"""Ctrl-C in pictures that would be drawn for years: their threads soon draw the next one."""

import os
import subprocess
import sys

import pytest

from tests.support.scenes import slow_but

ENDLESS = {"max_iterations": 2_000_000_000, "interior_shortcuts": False}
INSIDE = {"center": "-0.1,0", "width": "0.01"}
KINDS = {
    "lyapunov": {"formula": "lyapunov", **ENDLESS},
    "expression": {"formula": "sin(z)*0.1 + 0*c", **ENDLESS},
    "float32": {"precision": "float32", **INSIDE, **ENDLESS},
    "Julia set": {"julia": "-0.1,0", **ENDLESS},
}
# In a process of its own: it ends with threads that draw for ever where the test fails.
PROGRAM = """
import fractals
from tests.support.deadline import deadline

looks = iter(range(3))

def interrupt(_done, _all):
    if next(looks, None) is None:
        raise KeyboardInterrupt

size = {"size": (64, 48), "device": "cpu", "threads": 2}
try:
    fractals.render(**KEYS, **size, progress=interrupt)
except KeyboardInterrupt:
    with deadline():
        fractals.render(**size)
    print("drawn")
"""


@pytest.mark.parametrize("kind", slow_but(["lyapunov", "expression", "float32"], KINDS))
def test_the_threads_of_a_picture_that_was_interrupted_draw_the_next(kind):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("KEYS", repr(KINDS[kind]))],
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "drawn\n", done.stderr

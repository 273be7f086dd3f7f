"""Ctrl-C in pictures that would be drawn for hours: the process ends, or its threads draw on."""

import os
import signal
import subprocess
import sys

import pytest
from support.command_line import hear_signals
from support.scenes import slow_but

ENDLESS = {"max_iterations": 2_000_000_000, "interior_shortcuts": False}
INSIDE = {"center": "-0.1,0", "width": "0.01"}
DEEP = {"center": "-0.1,0.1", "width": "1e-20", "force": True, **ENDLESS}
KINDS = {
    "lyapunov": {"formula": "lyapunov", **ENDLESS},
    "expression": {"formula": "sin(z)*0.1 + 0*c", **ENDLESS},
    "float32": {"precision": "float32", **INSIDE, **ENDLESS},
    "Julia set": {"julia": "-0.1,0", **ENDLESS},
    "search for a cycle": {  # a Siegel disk, whose orbits have none
        "julia": "-0.390540870218,-0.586787907347",
        "width": "0.01",
        "max_iterations": 2_000_000_000,
    },
    "plain": {**INSIDE, **ENDLESS},
    "plain, of some limit": {**INSIDE, **ENDLESS, "max_iterations": 4_000_000},
    "packets": DEEP,
    "packets, then one by one": DEEP | {"width": "1e-400"},
    "deep, plain": DEEP | {"coloring": "stripe_average", "max_iterations": 1_000_000},
    "deep, exponents": DEEP | {"formula": "burning_ship", "width": "1e-400"},
    "relief": {"heights": "distance", "samples": 1_000_000, "force": True},
    "solid": {"formula": "mandelbulb", "samples": 1_000_000, "force": True},
    "flame": {"formula": "flame", "quality": 1e7, "force": True},
}
FEW = ["lyapunov", "plain", "deep, plain", "relief"]
SIZE = {"size": (64, 48), "device": "cpu", "threads": 2}

# In a process of its own: it ends with threads that draw for ever where the test fails. A picture
# is interrupted when its tiles are drawn, at a moment that does not depend on the machine.
BEGIN = """
import os, signal, threading, time
from fractals.backends.cpu import backend
from fractals.threads import Queue
from support.deadline import deadline

backend.FUSED = backend.FUSED and not KIND.startswith("plain")
make, begun = Queue.__init__, threading.Event()

def noted(queue, total):
    make(queue, total)
    if total > 1:
        begun.set()

def interrupt():
    begun.wait()
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

Queue.__init__ = noted
threading.Thread(target=interrupt, daemon=True).start()
"""
DRAWN_ON = """
import fractals
try:
    fractals.render(**KEYS, **SIZE)
except KeyboardInterrupt:
    with deadline():
        fractals.render(**SIZE)
    print("drawn")
"""
ENDED = """
from fractals.cli import run
run()
"""


def options_of(keys):
    """Return keywords as options of the command line."""
    width, height = SIZE["size"]
    options = ["--size", f"{width}x{height}", "--cpu", "--threads", "2"]
    for key, value in keys.items():
        name = key.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{name}" if value else f"--no-{name}")
        else:
            options.append(f"--{name}={value}")
    return options


def begun(text, kind, *words, cwd=None):
    """Return a process that does what a text says."""
    for name, value in {"KIND": kind, "KEYS": KINDS[kind], "SIZE": SIZE}.items():
        text = text.replace(name, repr(value))
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", text, *words],
        env=os.environ | {"PYTHONPATH": os.path.join(os.getcwd(), "tests")},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals if sys.platform != "win32" else None,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("kind", slow_but(FEW, KINDS))
def test_the_threads_of_a_picture_that_was_interrupted_draw_the_next(kind):
    out, err = begun(BEGIN + DRAWN_ON, kind).communicate()
    assert out == "drawn\n", err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("kind", slow_but(["relief"], KINDS))
def test_an_interrupt_ends_the_process_without_a_file(kind, tmp_path):
    words = ["render", *options_of(KINDS[kind]), "-o", "a.png"]
    process = begun(BEGIN + ENDED, kind, *words, cwd=tmp_path)
    try:
        _, err = process.communicate(timeout=300)  # it would go on for hours
    finally:
        process.send_signal(signal.SIGKILL)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "fractals: interrupted"
    assert os.listdir(tmp_path) == []

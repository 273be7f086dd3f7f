"""The loops that take most of a picture's time keep their numbers in registers.

No clock is needed: LLVM writes its assembly for any processor of the same architecture.
"""

import json
import os
import platform
import re
import subprocess
import sys

import pytest
from support.scenes import slow_but

AVX512 = ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
FEATURES = ["avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "f16c", "fma", "popcnt", "sse4.2"]
CODE = """
import json
import sys

import llvmlite.binding as llvm
import numpy as np

from fractals import Scene
from fractals.backends import machine_code
from fractals.backends.cpu import fast, target
from fractals.backends.cpu.programs import direct_layout
from fractals.kernels.escape import EscapeOptions

texts = []
for derivative in (False, True):
    options = EscapeOptions(
        formula=Scene().make_formula(),
        julia=False,
        derivative=derivative,
        interior_shortcuts=True,
        steps_per_check=12,
        check_every_step=False,
    )
    layout = direct_layout(np.float64)
    text = target.text_of(fast.DIRECT, "float64", (options,), layout, False, packed=True)
    texts.append(machine_code.target_machine().emit_assembly(llvm.parse_assembly(text)))
json.dump({"free": machine_code.MOVES_FREE, "texts": texts}, sys.stdout)
"""
ARITHMETIC = re.compile(r"v(fn?m(add|sub)\d*|add|sub|mul)p[sd]\b")
MOVE = re.compile(r"vmov[au]p[sd]\s+%[xyz]mm\d+, %[xyz]mm\d+$")
STACK = re.compile(r"\(%r[sb]p")


def innermost_loops(assembly):
    """Yield the instructions of each loop without branches in a text of x86 assembly."""
    lines = [line.partition("#")[0].strip() for line in assembly.splitlines()]
    lines = [line for line in lines if line.endswith(":") or (line and line[0] != ".")]
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    for i, line in enumerate(lines):
        start = labels.get(line.split()[-1], i) if line.startswith("j") else i
        loop = lines[start + 1 : i]
        if loop and not any(each.startswith("j") or each.endswith(":") for each in loop):
            yield loop


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
@pytest.mark.parametrize(
    "processor",
    slow_but(
        ["cascadelake"],
        ["cascadelake", "skylake-avx512", "sapphirerapids", "znver4", "znver5"],
    ),
)
def test_rounds_of_steps_move_few_registers(processor):
    """A round has at most one move for eight operations, and leaves nothing on the stack.

    Processors that make moves beside their arithmetic may have more of them.
    """
    features = ",".join(f"+{name}" for name in [*FEATURES, *AVX512])
    settings = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["free"] == processor.startswith("znver")
    for derivative, assembly in enumerate(found["texts"]):
        rounds = {}  # moves of each loop that stays in registers, by its operations
        for loop in innermost_loops(assembly):
            if not any(STACK.search(line) for line in loop):
                operations = sum(bool(ARITHMETIC.match(line)) for line in loop)
                rounds[operations] = sum(bool(MOVE.match(line)) for line in loop)
        most = max(rounds)
        free = found["free"] and not derivative
        assert most == (120 if derivative else 32 if free else 72), rounds
        assert free or 8 * rounds[most] <= most, rounds

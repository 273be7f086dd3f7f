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

from fractals.backends.cpu import rounds

AVX512 = ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
FEATURES = ["avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "f16c", "fma", "popcnt", "sse2", "sse4.2"]
CODE = """
import json
import sys

import llvmlite.binding as llvm
import numpy as np

from fractals import Scene
from fractals.backends import code_cache, machine_code
from fractals.backends.cpu import fast, programs, target
from fractals.backends.cpu.programs import direct_layout
from fractals.kernels.escape import EscapeOptions

texts = []
layout = direct_layout(np.float64)
for name in sys.argv[1:]:
    options = EscapeOptions(
        formula=Scene(formula=name.removesuffix("'")).make_formula(),
        julia=False,
        derivative=name.endswith("'"),
        interior_shortcuts=True,
        steps_per_check=12,
        check_every_step=False,
    )

    def made(store):  # kept like compiled code, and known by the same modules
        key = f"assembly of {layout} for {machine_code.TARGET}"
        found = store.load(key, bytes.decode)
        if found is None:
            text = target.text_of(fast.DIRECT, "float64", (options,), layout, False, packed=True)
            found = machine_code.target_machine().emit_assembly(llvm.parse_assembly(text))
            store.save(key, found.encode())
        return found

    made.__module__ = programs.__name__  # whose modules compile it
    texts.append(code_cache.program(made, "assembly", "float64", fast.DIRECT, options))
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


reads_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly"
)


def rounds_of(processor, features, names):
    """Return whether a processor moves for nothing, and the rounds of formulas.

    A name ends in "'" for steps with the derivative. Of the loops that leave nothing on the stack,
    the round is the one with most operations: how many they are, and how many moves it has.
    """
    flags = ",".join(f"+{name}" for name in features)
    settings = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": flags}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *names],
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    found_rounds = []
    for assembly in found["texts"]:
        loops = [
            loop
            for loop in innermost_loops(assembly)
            if not any(STACK.search(line) for line in loop)
        ]
        found_rounds.append(
            max(
                (
                    sum(bool(ARITHMETIC.match(line)) for line in loop),
                    sum(bool(MOVE.match(line)) for line in loop),
                )
                for loop in loops
            )
        )
    return found["free"], found_rounds


@reads_x86
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
    free, (plain, derivative) = rounds_of(
        processor, [*FEATURES, *AVX512], ["mandelbrot", "mandelbrot'"]
    )
    assert free == processor.startswith("znver")
    assert plain[0] == (32 if free else 72)
    assert derivative[0] == 120
    for operations, moves in [derivative] if free else [plain, derivative]:
        assert 8 * moves <= operations


@reads_x86
@pytest.mark.parametrize(
    "processor",
    slow_but(["znver3"], ["skylake", "haswell", "alderlake", "x86-64-v3", "znver2", "znver3"]),
)
def test_rounds_of_steps_with_avx2_are_in_place(processor):
    """No number is moved, though AMD's cores move for nothing: their other threads would wait."""
    names = ["mandelbrot", "burning_ship", "tricorn", "multibrot"]
    free, each = rounds_of(processor, FEATURES, names)
    assert free == processor.startswith("znver")
    assert each == [(24, 0), (24, 0), (24, 0), (48, 0)]


TEXT = """
define void @steps(ptr %p) {
start:
  br label %repeat

repeat:                                           ; preds = %repeat, %start
  %x = phi <4 x double> [ %1, %repeat ], [ %a, %start ]
  %s = call <4 x double> @llvm.fma.v4f64(<4 x double> %x, <4 x double> %b, <4 x double> %a)
  %1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %x, <4 x double> %s, <4 x double> %b)
  %t = fadd <4 x double> %x, %s
  store <4 x double> %t, ptr %p
  %again = icmp ult i64 %n, 9
  br i1 %again, label %repeat, label %end

end:
  ret void
}
"""


def test_an_old_number_is_passed_on_where_it_is_needed_last(monkeypatch):
    monkeypatch.setattr(rounds, "NEEDED", True)
    monkeypatch.setattr(rounds, "ORDER", "")
    lines = rounds.in_place(TEXT).splitlines()
    k = lines.index("  %t = fadd <4 x double> %x, %s")
    assert lines[k + 1] == '  %same.x = call <4 x double> asm "", "=x,0"(<4 x double> %x)'
    assert lines[k + 2].startswith("  %1 = call")
    assert "(<4 x double> %same.x, <4 x double> %s," in lines[k + 2]
    assert [line for line in lines if "same" not in line] == [
        line for line in TEXT.splitlines() if not line.startswith("  %1 =")
    ]


def test_only_functions_with_rounds_in_place_have_an_order(monkeypatch):
    monkeypatch.setattr(rounds, "NEEDED", True)
    monkeypatch.setattr(rounds, "ORDER", '"tune-cpu"="x86-64-v3"')
    other = TEXT.replace("@steps", "@others").replace("%repeat,", "%end,")
    heads = [line for line in rounds.in_place(TEXT + other).splitlines() if "define" in line]
    assert heads == [
        'define void @steps(ptr %p) "tune-cpu"="x86-64-v3" {',
        "define void @others(ptr %p) {",
    ]


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("fadd <4 x double> %x, %s", "fadd <4 x double> %x, %1"),  # x is needed after the next x
        ("[ %1, %repeat ]", "[ %t, %repeat ]"),  # a sum has any register
        ("<4 x double> %x, <4 x double> %s,", "<4 x double> %b, <4 x double> %s,"),
        ("br i1 %again, label %repeat,", "br i1 %again, label %other,"),
    ],
)
def test_other_loops_stay_as_they_are(monkeypatch, part, other):
    monkeypatch.setattr(rounds, "NEEDED", True)
    assert part in TEXT
    text = TEXT.replace(part, other)
    assert rounds.in_place(text) == text


def test_code_with_registers_for_all_numbers_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(rounds, "NEEDED", False)
    assert rounds.in_place(TEXT) == TEXT

"""Machine code: arguments in cells, kept as object files, called without Numba."""

import gc
import os
import platform
import signal
import subprocess
import sys
import threading
import weakref
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from fractals.backends import code_cache, machine_code
from fractals.backends.compilation import announced, compiled_apart, compiling, first_launch
from fractals.backends.cpu.programs import program_of
from fractals.backends.machine_code import Laid, MachineCode, Program, lay_out, layout_of

ROOT = Path(__file__).parents[2]
Pair = namedtuple("Pair", "first second")


def program(body, **settings):
    """Return the program of a function, compiled for this test."""
    return program_of(lambda _target: body, "float64", **settings)


def of_all_kinds(filled, pair, nested, number, flag):
    filled[0] = pair.first[1] + pair.second[0, 1]
    filled[1] = nested[0][0] + nested[1][0][0]
    filled[2] = number
    filled[3] = 1.0 if flag else 0.0


def test_arguments_of_all_kinds():
    run = program(of_all_kinds)
    arrays = Pair(np.array([1.0, 2.0], np.float32), np.array([[10, 20]], np.int32))
    nested = (3,), (np.array([100], np.uint8),)
    for number, flag in (
        (np.float32(1.5), True),
        (7, False),
        (np.int32(-3), np.bool_(True)),
        (-2.25, False),
        (np.int64(2**53), True),
    ):
        filled = np.zeros(4)
        run(filled, arrays, nested, number, flag)
        assert filled.tolist() == [22, 103, number, flag]


def test_arrays_with_gaps_have_code_of_their_own():
    def double(values):
        for j in range(values.shape[0]):
            for i in range(values.shape[1]):
                values[j, i] *= 2.0

    run, numbers = program(double), np.arange(24.0).reshape(4, 6)
    run(numbers)
    assert numbers.tolist() == (np.arange(24.0).reshape(4, 6) * 2).tolist()
    run(numbers[1::2, ::3])
    expected = np.arange(24.0).reshape(4, 6) * 2
    expected[1::2, ::3] *= 2
    assert numbers.tolist() == expected.tolist()
    run(numbers.T)
    assert numbers.tolist() == (2 * expected).tolist()


def test_a_layout_is_all_but_the_values():
    arguments = np.zeros((2, 3)), np.float32(1), Pair(1, True)
    assert layout_of(arguments) == (tuple, ("d", 2, False), "f", (Pair, "q", "?"))
    assert layout_of((np.zeros((2, 3))[:, ::2],)) == (tuple, ("d", 2, True))
    cells = []
    lay_out(arguments, cells)
    assert cells[1:] == [2, 3, 1.0, 1, 1]
    cells.clear()
    lay_out((np.zeros((2, 3))[:, ::2],), cells)
    assert cells[1:] == [2, 2, 24, 16]


def test_an_array_in_a_file_is_an_array(tmp_path):
    """And so are other arrays of a class of their own."""
    whole = np.arange(12.0).reshape(3, 4)
    mapped = np.memmap(tmp_path / "numbers", whole.dtype, "w+", shape=whole.shape)
    mapped[:] = whole
    for own in (mapped, np.ma.masked_array(whole), whole.view(type("Own", (np.ndarray,), {}))):
        for part in (own, own[:, ::2], own[:0]):
            cells, expected = [], []
            plain = np.asarray(part)
            assert lay_out((part, 1.0), cells) == lay_out((plain, 1.0), expected)
            assert cells == expected


def test_other_arguments_have_other_layouts():
    line, plane = np.zeros(4), np.zeros((4, 4))
    others = [
        (1.0,),
        (1,),
        (np.float32(1),),
        (line,),
        (line.astype(np.float32),),
        (line[::2],),
        (plane,),
        (plane[:, ::2],),
        (plane, 1),
        ((plane,), 1),
        ((plane, 1),),
        (Pair(plane, 1),),
        ((), plane, 1),
        ((), (plane, 1)),
        (((), plane), 1),
    ]
    assert len({layout_of(arguments) for arguments in others}) == len(others)


def test_arguments_that_are_laid_out_once():
    run = program(of_all_kinds)
    arrays = Pair(np.array([1.0, 2.0], np.float32), np.array([[10, 20]], np.int32))
    nested = (3,), (np.array([100], np.uint8),)
    whole = arrays, nested, np.float32(1.5), True
    for given in (
        (*whole[:2], Laid(*whole[2:])),
        (arrays, Laid(nested), *whole[2:]),
        (Laid(*whole),),
    ):
        filled = np.zeros(4)
        run(filled, *given)
        assert filled.tolist() == [22, 103, 1.5, 1]
        assert layout_of((filled, *given)) == layout_of((filled, *whole))
    filled = np.zeros(4)
    run.bound(nested, 7, False)(filled, arrays)
    arrays.first[1] = 3  # the cells hold where an array is, not what is in it
    run.bound(nested, 7, False)(filled, arrays)
    assert filled.tolist() == [23, 103, 7, 0]


def test_an_index_out_of_range_is_an_error_where_indices_are_checked():
    def increase(values, k):
        values[k] += 1.0

    run, values = program(increase, checked=True), np.zeros(3)
    run(values, 2)
    assert values.tolist() == [0, 0, 1]
    with pytest.raises(IndexError):
        run(values, 3)


def test_other_threads_of_python_run_beside():
    def shrink(values, steps):
        x = values[0]
        for _ in range(steps):
            x = x * 0.999 + 1e-9
        values[0] = x

    run, values = program(shrink), np.ones(1)
    run(values, 1)  # is compiled
    thread = threading.Thread(target=run, args=(values, 40_000_000))
    thread.start()
    steps = 0
    while thread.is_alive():
        steps += 1
    assert steps > 1000


def test_code_is_loaded_once_by_many_threads():
    loads, barrier = [], threading.Barrier(4)

    class Code(MachineCode):
        def __init__(self):
            loads.append(self)

        def __call__(self, cells):
            pass

    run = Program(lambda layout: Code())

    def call():
        barrier.wait()
        run(np.zeros(2), 1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


def test_what_numba_cannot_compile_is_kept_as_a_reason():
    found = machine_code.loaded(machine_code.refused("no SIMD form of this"))
    assert isinstance(found, machine_code.Uncompilable)
    assert str(found) == "no SIMD form of this"


def test_a_module_that_calls_functions_of_numba_does_not_stand_alone():
    text = """
        target triple = "{}"
        declare double @{}(double)
        define double @entry(double %x) {{
            %y = call double @{}(double %x)
            ret double %y
        }}"""
    import llvmlite.binding as llvm

    triple = llvm.get_process_triple()
    for name, alone in (("cos", True), ("numba_attempt_nocopy_reshape", False)):
        made = machine_code.made(text.format(triple, name, name))
        assert machine_code.stands_alone(made) == alone, name


def test_memory_of_code_is_given_back():
    def nothing(values):
        values[0] = 1.0

    run = Program(lambda layout: program(nothing)._load(layout))
    run(np.zeros(1))
    code = weakref.ref(next(iter(run._codes.values()))._memory)
    gc.collect()
    assert code()
    del run
    gc.collect()
    assert code() is None


EVERY_KIND = """
import hashlib, sys
import fractals
SMALL = {"size": (48, 27), "device": "cpu"}
TRACKS = {"at": 0, "width": "3"}, {"at": 1, "width": "0.3"}
def draw(*sources, **keys):
    return fractals.render(*sources, **{**SMALL, **keys}).pixels
def drawn():
    yield "direct", draw("seahorse")
    yield "tile-loop", draw("seahorse")
    yield "deep", draw("heirloom")
    yield "floatexp", draw("caravan", size=(16, 9))
    yield "layers", draw("silk")
    yield "Julia", draw(julia="-0.8,0.156")
    yield "float32", draw(precision="float32")
    yield "own-formula", draw(formula="z**3 + c*sin(z)", max_iterations=50, coloring="distance")
    raw = fractals.compute("seahorse", **SMALL)
    yield "compute", raw.count
    yield "recolor", fractals.recolor(raw, palette="ember").pixels
    yield "recolor-loop", fractals.recolor(raw, palette="ember").pixels
    yield "zoom", *fractals.film("seahorse", to="1e-3", seconds=0.2, fps=10, **SMALL)
    colors = {"fps": 4, "seconds": 1, "keys": TRACKS, "tracks": {"offset": [[0, 0.1], [1, 0.6]]}}
    yield "zoom-of-values", *fractals.film({"film": colors}, **SMALL)
    yield "cycle", *fractals.film("seahorse", cycle=1, fps=4, **SMALL)
for name, *pictures in drawn():
    digest = hashlib.sha256(b"".join(map(bytes, pictures))).hexdigest()
    print(name, digest, any(module in sys.modules for module in sys.argv[1:]))
import fractals.backends.cpu.target  # what compiles
print("compiler -", all(module in sys.modules for module in sys.argv[1:]))
"""
# LLVM links where this package does not: see `fractals.backends.linked`.
LINKED = sys.platform == "linux" and platform.machine() == "x86_64"
COMPILERS = ("numba", "llvmlite") if LINKED else ("numba",)


def test_a_second_process_draws_without_numba():
    """All kinds of programs: one that is compiled anew shows at its name, and after it.

    The first process leaves what no other test has compiled yet in the folder of all tests.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first, second = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", EVERY_KIND, *COMPILERS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for _ in range(2)
    )
    assert len(first) == 15
    assert second[-1] == "compiler - True"
    assert second[:-1] == [line.rpartition(" ")[0] + " False" for line in first[:-1]]


# Counts what the command line calls before the first tile; imports and comprehensions are left out.
WALK = """
import collections, sys
from pathlib import Path
import fractals.cli
root = str(Path(fractals.cli.__file__).parents[1])
calls = collections.Counter()
NAMELESS = "<module>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"
def importing(frame):
    while frame is not None:
        if frame.f_code.co_name in ("<module>", "_find_and_load") and frame.f_lineno and (
            frame.f_code.co_filename.startswith((root, "<frozen importlib"))
        ):
            return True
        frame = frame.f_back
    return False
def note(frame, event, arg):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(root) or code.co_name in NAMELESS:
        return
    if not importing(frame.f_back):
        calls[code.co_filename] += 1
        if code.co_name in ("run_tiles", "run_loops"):
            sys.setprofile(None)
            modules = sum(name.partition(".")[0] == "fractals" for name in sys.modules)
            slow = "pydantic", "pydantic_core", "ssl", "urllib.request", "email"
            slow = ",".join(name for name in slow if name in sys.modules) or "-"
            print(code.co_name, len(calls), calls.total(), modules, slow, file=sys.stderr)
sys.setprofile(note)
fractals.cli.main(sys.argv[1:])
"""
# Some 150 of the calls check keys of the scene, which a library did before, in 50 ms more.
MAX_FILES, MAX_CALLS, MAX_MODULES = 59, 1200, 98


# A loop over tiles is compiled for the second picture of a process. Where it is stored it is used
# for the first one, and prepared before the first tile, so the walk is longer.
TWICE = """
import fractals
for _ in range(2):
    fractals.render("seahorse", size=(48, 27), device="cpu")
"""


def test_a_warm_start_is_a_short_walk_to_the_first_tile(tmp_path):
    """The files and calls that a newcomer passes with a debugger, from the command line on."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    counted = WALK, "render", "seahorse", "--cpu", "-o", tmp_path / "sea.png"
    for command in ((TWICE,), counted):
        found = subprocess.run(
            [sys.executable, "-c", *command],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
    by, files, calls, modules, slow = found.stderr.splitlines()[0].split()
    assert by == "run_loops"
    assert slow == "-", "a plain picture needs none of these, which take 5 to 50 ms"
    assert 30 < int(files) <= MAX_FILES
    assert 500 < int(calls) <= MAX_CALLS
    assert 40 < int(modules) <= MAX_MODULES  # each takes some 0.5 ms to import


# --- While a program is compiled


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_is_heard_while_a_program_is_compiled(interruptible):
    heard, steps = threading.Event(), []

    def compile_something():
        os.kill(os.getpid(), signal.SIGINT)
        assert heard.wait(60)  # it would go on until Ctrl-C was heard
        steps.append("compiled")

    with pytest.raises(KeyboardInterrupt), compiling():
        compiled_apart(compile_something)
    assert steps == []
    heard.set()
    assert compiled_apart(lambda: [*steps, "the next"]) == ["compiled", "the next"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_is_heard_when_a_driver_has_compiled(interruptible):
    steps = []

    def compile_something():
        with first_launch():
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(1000))  # Python would hear it here
            steps.append("compiled")

    with pytest.raises(KeyboardInterrupt):
        compile_something()
    assert steps == ["compiled"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_what_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with first_launch():
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_compiling_is_announced_once(monkeypatch):
    monkeypatch.setattr(code_cache, "folder", lambda: None)  # nothing is kept
    said = []

    def add(values, by):
        values[0] += by

    run = program(add)
    with announced(lambda: said.append("compiling")):
        run(np.zeros(1), 1.0)
        run(np.zeros(1), 1)
    assert said == ["compiling"]
    with announced(lambda: said.append("again")):
        run(np.zeros(1), 1)
    assert said == ["compiling"]


def test_inline_assembly_is_compiled():
    """Programs have some on Arm: LLVM ends the process where it has no parser for it."""
    code = """
from fractals.backends import machine_code
made = machine_code.made('define i32 @f() { call void asm sideeffect "nop", ""() ret i32 0 }')
print(machine_code.stands_alone(made))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr

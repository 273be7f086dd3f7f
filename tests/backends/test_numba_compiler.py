"""What `numba_compiler` and `numba_lowering` leave out changes no result.

Numba is as before when they are done.

`.ci/run` runs this file with the oldest and the newest Numba that pyproject.toml allows.
"""

import gc
import operator
import os
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import numba
import numpy as np
import pytest
from llvmlite import ir as llvm
from llvmlite.binding import ffi
from numba import types
from numba.core import base, compiler, interpreter, ir, postproc
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.extending import register_jitable

from fractals.backends import numba_compiler, numba_lowering, numba_private
from fractals.backends.code_cache import Store

ROOT = Path(__file__).parents[2]

NUMERIC = {"nogil": True, "error_model": "numpy", **numba_compiler.numeric()}


def inlined_and_its_caller():
    """Return a function into which others are inlined."""
    jit = register_jitable(**numba_compiler.INLINED)
    double = jit(lambda x: x + x)
    add = jit(lambda values, k: double(values[k]) + 1)

    @numba.njit(**numba_compiler.numeric())
    def total(values):
        result = 0.0
        for k in range(len(values)):
            result += add(values, k)
        return result

    return total


def test_inlined_functions_have_no_machine_code(monkeypatch):
    monkeypatch.setattr(numba_compiler, "without_source", lambda made, _: made)
    total = inlined_and_its_caller()
    assert total(np.arange(4.0)) == 16.0
    (caller,) = total.overloads.values()
    libraries = [caller.library, *caller.library._linking_libraries]
    known = [
        library._codegen._engine.is_symbol_defined(function.name)
        for library in libraries
        for function in library.get_defined_functions()
        if "lambda" in function.name
    ]
    assert known
    assert not any(known)
    lines = caller.library.get_asm_str().splitlines()
    assert not [line for line in lines if "call" in line.split() and "lambda" in line]


def test_code_with_inlined_functions_is_kept(tmp_path):
    hits = []
    for _ in range(2):
        total = inlined_and_its_caller()
        numba_private.keep_code(total, Store(str(tmp_path / "program")))
        assert total(np.arange(4.0)) == 16.0
        hits.append(sum(total.stats.cache_hits.values()))
    assert hits == [0, 1]


def test_numba_is_left_as_it_was_when_code_is_compiled():
    context = cpu_target.target_context

    def names():
        return vars(context).keys(), vars(context.typing_context).keys()

    def functions():
        called = BaseFunction.get_call_type, ir.Inst._rec_list_vars, base._has_loc
        kinds = vars(type(types.Type)).keys()
        peepholes = [value for name, value in vars(interpreter).items() if "peep_hole" in name]
        return (
            *called,
            *peepholes,
            PostProcessor.run,
            CPUContext.post_lowering,
            set(kinds),
            llvm.IRBuilder.extract_value,
            tuple(ffi.lib._lock._cblist),
            gc.isenabled(),
        )

    before, called = [set(part) for part in names()], functions()
    numba.njit(**numba_compiler.numeric())(lambda x: x)(1)
    with pytest.raises(numba.TypingError):
        numba.njit(**numba_compiler.numeric())(lambda x: x + "a")(1)
    assert [set(part) for part in names()] == before
    assert functions() == called
    assert gc.isenabled()


def test_lives_of_variables_are_found_for_functions_of_others_alone(monkeypatch):
    found = []
    find = postproc.analysis.compute_live_variables
    monkeypatch.setattr(
        postproc.analysis,
        "compute_live_variables",
        lambda *facts: found.append(facts) or find(*facts),
    )

    def total(values):
        result = 0.0
        for value in values:
            if value > 1:
                result += value
        return result

    ours, values = numba.njit(**numba_compiler.numeric()), np.arange(4.0)
    assert ours(total)(values) == 5
    assert not found
    assert numba.njit(total)(values) == 5
    assert found


def test_variables_are_values_where_blocks_share_them(monkeypatch):
    """Only a variable that changes has memory; none is deleted."""

    def function(xs, n):
        pair = xs[0], n
        total = pair[0]
        for k in range(n):
            if k > 1:
                total += pair[1] * xs[k]
            shifted = total + 1
        return total + shifted

    expected = function(np.arange(4.0), 4)
    stored = []
    alloca = numba_lowering._Lower.alloca
    monkeypatch.setattr(
        numba_lowering._Lower,
        "alloca",
        lambda self, name, kind: stored.append(name) or alloca(self, name, kind),
    )
    monkeypatch.delattr(numba_lowering.Lower, "delvar")
    assert numba.njit(**numba_compiler.numeric())(function)(np.arange(4.0), 4) == expected
    assert "pair" not in stored
    assert any(name.startswith("total") for name in stored)


def test_variables_of_a_statement_are_those_that_numba_lists(monkeypatch):
    def function(xs, n):
        total = 0.0
        for x in xs:
            if x > n:
                total += min(x, n) * xs[0]
            (a, b), c = (x, n), {"n": n}
            total += a + b + c["n"]
        return total

    code = compiler.run_frontend(function)
    listed = [s.list_vars() for block in code.blocks.values() for s in block.body]
    assert sum(map(len, listed)) > 20
    monkeypatch.setattr(ir.Inst, "_rec_list_vars", numba_compiler._variables_of)
    assert [s.list_vars() for block in code.blocks.values() for s in block.body] == listed


def test_a_call_of_an_operator_is_typed_once(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments[0].key[0])
        return typed(*arguments)

    typed = numba_compiler._get_call_type
    monkeypatch.setattr(numba_compiler, "_get_call_type", counted)

    def function(x, n):
        return x * x + x * (x + x) + (n + n) * n

    made = numba.njit(**numba_compiler.numeric())(function)
    numba.njit(**numba_compiler.numeric())(function)(1.5, 2)  # fills what is known
    calls.clear()
    assert made(1.5, 2) == function(1.5, 2)
    assert operator.add not in calls
    assert operator.mul not in calls


def seen_by_llvm(monkeypatch):
    """Return a list that gets the text of each module: as Numba made it, and as LLVM gets it."""
    texts, leave_out = [], numba_compiler.leave_out_unused

    def watched(module):
        before = str(module)
        leave_out(module)
        texts.append((before, str(module)))

    monkeypatch.setattr(numba_compiler, "leave_out_unused", watched)
    return texts


# --- Elements of arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("index", [np.int64, np.int32, np.uint8, np.uint64])
def test_elements_of_arrays(dtype, index):
    """Read and stored at all places, from both ends, and with constants."""

    def function(given, row, places, filled):
        for k in range(places.shape[0]):
            i = places[k]
            filled[0, i, -1] = given[0, 1, i]
            filled[1, i, 2] = given[-1, -2, i] > row[i]
            filled[1, -1, i] = row[-1]
            filled[-1, 0, 0] = given.shape[0] + given.shape[1] * given.shape[2]

    chance = np.random.default_rng(1)
    given = (chance.random((2, 3, 4)) * 9).astype(dtype)
    row = (chance.random(4) * 9).astype(dtype)
    signed = np.issubdtype(index, np.signedinteger)
    places = np.array([0, 1, 2, 3, -1, -2, -4] if signed else [0, 1, 2, 3], index)
    expected, filled = (np.zeros((2, 4, 4), dtype) for _ in range(2))
    function(given, row, places, expected)
    numba.njit(**NUMERIC)(function)(given, row, places, filled)
    assert (filled == expected).all()
    assert expected.any()


def test_elements_of_arrays_with_gaps_and_of_other_types():
    def function(columns, numbers, filled):
        for k in range(columns.shape[0]):
            filled[k] = columns[k, 1] + numbers[k].real
        filled[0] += columns[1][2]

    columns, numbers = np.arange(24.0).reshape(4, 6)[:, ::2], np.arange(4) * (1 + 2j)
    expected, filled = np.zeros(4), np.zeros(4)
    function(columns, numbers, expected)
    numba.njit(**NUMERIC)(function)(columns, numbers, filled)
    assert (filled == expected).all()


def test_indices_are_checked_where_that_is_asked_for():
    def function(values, k):
        values[k] = values[k] + 1

    values = np.zeros(3)
    numba.njit(**NUMERIC)(function)(values, 2)
    checked = numba.njit(boundscheck=True, **NUMERIC)(function)
    checked(values, 2)
    assert values[2] == 2
    with pytest.raises(IndexError):
        checked(values, 3)


def test_an_element_takes_few_instructions(monkeypatch):
    texts = seen_by_llvm(monkeypatch)

    def function(given, filled, i, j):
        filled[i, j] = given[i, j]

    arrays = types.float64[:, ::1], types.float64[:, ::1]
    numba.njit(**NUMERIC)(function).compile((*arrays, types.uint64, types.uint64))
    (_, text), *_ = texts
    code = text[text.index("B0:") :]
    assert code.count("mul ") == code.count("getelementptr ") == 2
    assert "alloca" not in code


# --- Fewer instructions for tuples


def test_parts_of_tuples():
    """What was put into a tuple is found in it, and in those that it was put into."""
    Pair = namedtuple("Pair", "first second")

    def function(values, filled):
        inner = Pair(values[0], (values[1], values[2]))
        outer = Pair(inner, inner.second)
        moved = Pair(Pair(values[3], outer.second), outer.first.second)
        filled[0], filled[1] = moved.second[1], moved.second[0]
        filled[2], filled[3] = moved.first.first, outer.first.first
        for k in range(2):  # a tuple in memory
            filled[4 + k] = moved.first.second[k]

    values, filled = np.arange(10.0, 14.0), np.zeros(6)
    numba.njit(**NUMERIC)(function)(values, filled)
    assert filled.tolist() == [12, 11, 13, 10, 11, 12]


def build(indices, wanted):
    """Return what an extraction finds in nested structs, in which parts 1 and (0, 1) were put."""
    number = llvm.IntType(64)
    pair = llvm.LiteralStructType([number, number])
    whole = llvm.LiteralStructType([pair, number])
    module = llvm.Module()
    function = llvm.Function(module, llvm.FunctionType(number, [whole, number, number]), "f")
    builder = llvm.IRBuilder(function.append_basic_block())
    given, one, two = function.args
    made = builder.insert_value(given, one, [0, 1])
    made = builder.insert_value(made, two, 1)
    return numba_lowering.extract_value(builder, made, indices), {
        "given": given,
        "one": one,
        "two": two,
        "made": made.aggregate,
    }[wanted]


@pytest.mark.parametrize(
    ("indices", "wanted"), [(1, "two"), ([1], "two"), ((0, 1), "one"), ([0, 1], "one")]
)
def test_a_part_that_was_put_there_is_found(indices, wanted):
    found, part = build(indices, wanted)
    assert found is part


@pytest.mark.parametrize(
    ("indices", "wanted", "left"), [([0, 0], "given", [0, 0]), (0, "made", [0])]
)
def test_a_part_that_was_not_put_there_is_extracted(indices, wanted, left):
    """From the last tuple that may differ there."""
    found, whole = build(indices, wanted)
    assert (found.aggregate, found.indices) == (whole, left)


def test_tuples_that_nothing_uses_are_left_out(monkeypatch):
    texts = seen_by_llvm(monkeypatch)

    def function(values, filled):
        pair = values[0], values[1]
        filled[0] = pair[0] + pair[1]
        if values[2]:
            pair = values[1], values[0]
        filled[1] = pair[0]

    filled = np.zeros(2)
    numba.njit(**NUMERIC)(function)(np.array([2.0, 5.0, 1.0]), filled)
    assert filled.tolist() == [7, 5]
    before, after = (text.count("insertvalue") for text in texts[0])
    assert 4 <= after < before  # one of two pairs is taken from memory


# --- What Python calls


def test_arguments_of_all_kinds():
    Pair = namedtuple("Pair", "first second")

    def function(filled, pair, nested, number, flag):
        filled[0] = pair.first[1] + pair.second[0, 1]
        filled[1] = nested[0][0] + nested[1][0][0]
        filled[2] = number
        filled[3] = flag

    called = numba.njit(**NUMERIC)(function)
    arrays = Pair(np.array([1.0, 2.0]), np.array([[10, 20]]))
    for number, flag in ((np.float32(1.5), True), (7, False)):
        filled = np.zeros(4)
        called(filled, arrays, ((3,), (np.array([100.0]),)), number, flag)
        assert filled.tolist() == [22, 103, number, flag]


def test_wrong_arguments_are_refused():
    def function(filled, pair):
        filled[0] = pair[0][0]

    called = numba.njit(**NUMERIC)(function)
    values = np.ones(2)
    called(values, (values,))
    kinds = types.float64[::1], types.Tuple((types.float64[::1],))
    direct = called.get_overload(kinds)
    for wrong in (
        ([1.0], (values,)),
        (values, ("text",)),
        (values, ()),
        (values, (values, values)),
        (values, [values]),
        (values,),
        (values, (values,), 1),
    ):
        with pytest.raises(TypeError):
            direct(*wrong)
    direct(values, (np.array([5.0]),))
    assert values[0] == 5


def test_an_exception_of_compiled_code_is_raised():
    def function(values):
        if values[0] > 1:
            raise ValueError("too large")
        values[0] = 2

    called = numba.njit(**NUMERIC)(function)
    values = np.zeros(1)
    called(values)
    assert values[0] == 2
    with pytest.raises(ValueError, match="too large"):
        called(values)


def test_a_function_that_returns_a_number_is_called_as_by_numba():
    assert numba.njit(**NUMERIC)(lambda a, b: a + b)(1.5, 2) == 3.5


def test_other_threads_of_python_run_beside():
    def function(values):
        x = values[0]
        for _ in range(200_000_000):  # a quarter of a second
            x = x * 0.999 + 1e-9
        values[0] = x

    called = numba.njit(**NUMERIC)(function)
    called.compile((types.float64[::1],))
    thread = threading.Thread(target=called, args=(np.ones(1),))
    thread.start()
    steps = 0
    while thread.is_alive():
        steps += 1
    assert steps > 1000


@pytest.mark.parametrize("packed", [False, True])
def test_only_bodies_of_packs_are_optimized_by_themselves(monkeypatch, packed):
    """Not wrappers, and no other programs: Numba does so before it optimizes the whole."""
    seen = []
    optimize = JITCodeLibrary._optimize_functions
    monkeypatch.setattr(
        JITCodeLibrary,
        "_optimize_functions",
        lambda library, module: seen.append(module.name) or optimize(library, module),
    )

    def function(values):
        values[0] = 1

    settings = {**NUMERIC, **numba_compiler.numeric(packed)}
    numba.njit(**settings)(function)(np.zeros(1))
    assert len(seen) == packed
    assert all("function" in name for name in seen)


def run_in_new_process(script):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


FEW = """
import sys
import numba, numpy as np
from fractals.backends.numba_compiler import numeric

def double(values, filled):
    for k, value in enumerate(values):
        filled[k] = np.fmax(value, -value) if FOREIGN else 2 * value

def compiled(foreign):
    global FOREIGN
    FOREIGN = foreign
    called, filled = numba.njit(nogil=True, **numeric(foreign=foreign))(double), np.zeros(2)
    called(np.array([1.5, -4]), filled)
    return *filled, "numba.np.random.generator_methods" in sys.modules

print(*compiled(False), *compiled(True), *compiled(False))
print(numba.njit(lambda n: np.zeros(n).size + len(str(n)))(20))
"""


def test_few_declarations_are_loaded_for_our_own_functions():
    """Functions from elsewhere, and those that users compile by Numba, get all."""
    assert run_in_new_process(FEW) == [
        *("3.0", "-8.0", "False"),
        *("1.5", "4.0", "True"),
        *("3.0", "-8.0", "True"),
        "22",
    ]


ALL = """
import sys
import fractals
from fractals import catalog

small = {"size": (24, 16), "supersampling": 1, "device": "cpu"}
drawn = 0
for kind in ("formula", "coloring"):
    for name in catalog.names(f"{kind}s"):
        for precision in ("float64", "float32"):
            try:
                for _ in range(2):  # the second picture is drawn by the loop over tiles
                    fractals.render(**{kind: name}, precision=precision, density=1.0, **small)
            except fractals.OptionError:
                continue
            drawn += 1
for name in ("heirloom", "caravan"):
    for coloring in catalog.names("colorings"):
        try:
            fractals.render(name, coloring=coloring, density=1.0, **small)
        except fractals.OptionError:
            continue
        drawn += 1
print(drawn, "numba.np.random.generator_methods" in sys.modules)
"""


@pytest.mark.slow
def test_the_whole_catalog_is_drawn_with_few_declarations(tmp_path, monkeypatch):
    """In a process that compiles nothing else, and finds nothing compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    drawn, loaded = run_in_new_process(ALL)
    assert int(drawn) > 100
    assert loaded == "False"

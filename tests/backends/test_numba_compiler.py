"""What `numba_compiler` leaves out changes no result, and Numba is as before when it is done.

`.ci/run` runs this file with the oldest and the newest Numba that it knows.
"""

import gc
import operator
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import compiler, ir, postproc
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.extending import intrinsic

from fractals.backends import code_cache, numba_code, numba_compiler
from fractals.backends.cpu import entry
from fractals.backends.cpu.programs import program_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def nothing_compiled_before(monkeypatch, tmp_path):
    """Have neither this process nor a new one find a program on the disk."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(code_cache, "folder", lambda: None)


def program(body, **settings):
    """Return the program of a function, compiled for this test."""
    return program_of(lambda _target: body, "float64", **settings)


def test_numba_is_left_as_it_was_when_code_is_compiled():
    context = cpu_target.target_context

    def names():
        return vars(context).keys(), vars(context.typing_context).keys()

    def functions():
        return BaseFunction.get_call_type, ir.Inst._rec_list_vars, PostProcessor.run

    def first(values):
        values[0] = 1.0

    def wrong(values):
        values[0] = "a"

    before, called = [set(part) for part in names()], functions()
    program(first)(np.zeros(1))
    with pytest.raises(numba.TypingError):
        program(wrong, loop=True)(np.zeros(1))
    assert [set(part) for part in names()] == before
    assert functions() == called
    assert gc.isenabled()


def functions_of_numba(context):
    """Return functions and properties of Numba's and llvmlite's modules, classes, and contexts.

    `context`: that of a function under way. Of contexts only functions that hide those of a class.
    """
    ours = "numba", "llvmlite"
    owners = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ours and module is not None:
            if name.endswith(".warnings"):
                continue  # Python's own, which pytest changes
            owners[name] = module
            for kind in list(vars(module).values()):
                if isinstance(kind, type) and kind.__module__.partition(".")[0] in ours:
                    owners[f"{kind.__module__}.{kind.__qualname__}"] = kind
    found = {(o, name): value for o, owner in owners.items() for name, value in vars(owner).items()}
    whole = cpu_target.target_context
    for place, own in ("target", whole), ("typing", whole.typing_context), ("function", context):
        for name, value in vars(own).items():
            if callable(getattr(type(own), name, None)):
                found[place, name] = value
    return {
        place: value
        for place, value in found.items()
        if callable(value) or isinstance(value, property)
    }


def test_few_attributes_of_numba_are_replaced_while_a_program_is_compiled():
    seen = []

    @intrinsic
    def observed(_context, value):
        def generate(context, _builder, _signature, args):
            seen.append(functions_of_numba(context))
            return args[0]

        return value(value), generate

    def first(values):
        values[0] = observed(values[0])

    def second(values):
        values[0] = observed(values[0]) + 1.0

    program(first)(np.zeros(1))  # loads modules, and fills what Numba keeps
    before = functions_of_numba(cpu_target.target_context)
    program(second)(np.zeros(1))
    replaced = {place for place, value in seen[-1].items() if value is not before.get(place)}
    assert ("numba.core.types.functions.BaseFunction", "get_call_type") in replaced
    assert ("function", "get_abi_sizeof") in replaced
    assert len(replaced) <= 8, "\n".join(sorted(map(": ".join, replaced)))


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
        values[0] = result

    values = np.arange(4.0)
    program(total)(values)
    assert values[0] == 5
    assert not found
    numba.njit(total)(values)
    assert found


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
    monkeypatch.setattr(ir.Inst, "_rec_list_vars", numba_code.variables_of)
    assert [s.list_vars() for block in code.blocks.values() for s in block.body] == listed


def test_a_call_of_an_operator_is_typed_once(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments[0].key[0])
        return typed(*arguments)

    typed = numba_code._get_call_type
    monkeypatch.setattr(numba_code, "_get_call_type", counted)

    def first(filled, x, n):
        filled[0] = x * x + x * (x + x) + (n + n) * n

    def second(filled, x, n):
        filled[0] = x * x + x * (x + x) + (n + n) * n

    program(first)(np.zeros(1), 1.5, 2)  # fills what is known
    calls.clear()
    filled = np.zeros(1)
    program(second)(filled, 1.5, 2)
    assert filled[0] == 14.75
    assert operator.add not in calls
    assert operator.mul not in calls


@pytest.mark.parametrize("kind", [float, np.float32, int, np.uint64])
def test_built_in_functions_of_numbers_are_those_of_python(kind):
    """Whoever compiles a function with Numba in this process gets the same code."""
    compiled = numba.njit(lambda a, b: (min(a, b), max(a, b), int(a)))
    numbers = [kind(1), kind(7), kind(2**20)]
    if kind in (float, np.float32):
        numbers += [kind(value) for value in (0.0, -0.0, -2.5, np.inf)]
    if kind is np.uint64:
        numbers.append(kind(2**63))  # below 0, were it signed
    for a in numbers:
        for b in numbers:
            wanted = min(a, b), max(a, b), None if np.isinf(a) else int(a)
            found = compiled(a, b)
            assert [*map(float, found[:2])] == [*map(float, wanted[:2])]
            assert np.signbit(found[:2]).tolist() == np.signbit(wanted[:2]).tolist()
            assert wanted[2] in (None, found[2])
    if kind is float:
        for pair in (1.0, np.nan), (np.nan, 1.0):
            assert repr(compiled(*pair)[:2]) == repr((min(pair), max(pair)))


@pytest.mark.parametrize("packed", [False, True])
def test_only_bodies_of_packs_are_optimized_by_themselves(monkeypatch, packed):
    """Numba does so with all functions, before it optimizes the whole."""
    seen = []
    optimize = numba_code.PackLibrary._optimize_functions
    monkeypatch.setattr(
        numba_code.PackLibrary,
        "_optimize_functions",
        lambda library, module: seen.append(module.name) or optimize(library, module),
    )

    def function(values):
        values[0] = 1

    program(function, packed=packed)(np.zeros(1))
    assert len(seen) == packed


def test_a_long_program_is_optimized_once_and_keeps_its_loops_rolled():
    def halved(values):
        for k in range(1, values.shape[0]):  # each needs the one before: no vectors
            values[k] = values[k - 1] * 0.5 + values[k]

    layout = tuple, ("d", 1, False)
    texts = [
        entry.text_of_program(lambda: halved, layout, False, False, False, long)
        for long in (False, True)
    ]
    assert ["llvm.loop.unroll.runtime.disable" in text for text in texts] == [False, True]
    values = np.ones(9)
    program(halved, long=True)(values)
    assert values[:4].tolist() == [1, 1.5, 1.75, 1.875]


def test_an_error_of_a_function_ends_its_callers():
    def nth(values, k):
        return values[k]

    def first(values, k):
        values[0] = nth(values, k)
        values[1] = 7

    def make(target):
        target.jit(nth)
        return first

    for each in nth, first, make:
        each.__module__ = "fractals.test"  # so that it does not count as foreign
    numba.njit(lambda: 0)()  # Numba reads its settings anew, as this test has changed one
    checked, values = program_of(make, "float64", checked=True), np.array([1.0, 2.0, 3.0])
    checked(values, 2)
    assert values.tolist() == [3, 7, 3]
    with pytest.raises(IndexError):
        checked(values, 3)


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
from fractals.backends.cpu import entry
from fractals.backends.cpu.programs import program_of

def double(values, filled):
    for k, value in enumerate(values):
        filled[k] = 2 * value

def foreign(values, filled):
    for k, value in enumerate(values):
        filled[k] = np.fmax(value, -value)

def compiled(body):
    filled = np.zeros(2)
    program_of(make[body], "float64")(np.array([1.5, -4]), filled)
    return *filled, "numba.np.random.generator_methods" in sys.modules

make = {double: lambda target: double, foreign: lambda target: foreign}
make[double].__module__ = double.__module__ = "fractals.test"
print(*compiled(double), *compiled(foreign), *compiled(double))
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
def test_the_whole_catalog_is_drawn_with_few_declarations():
    """In a process that compiles nothing else."""
    drawn, loaded = run_in_new_process(ALL)
    assert int(drawn) > 100
    assert loaded == "False"


def wrapped(jit, inner):
    return jit(lambda values: inner(values))


def make_nested(target):
    inner = target.jit(lambda values: values.size)
    for _ in range(40):
        inner = wrapped(target.jit, inner)

    def body(values):
        values[0] = inner(values)

    return body


def test_functions_are_compiled_within_each_other_beyond_pythons_limit():
    """As in orbits with many statistics: each function takes 40 calls of Python within another."""
    values, before = np.ones(3), sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        program_of(make_nested, "float64")(values)
        assert sys.getrecursionlimit() > 1000
    finally:
        sys.setrecursionlimit(max(before, sys.getrecursionlimit()))
    assert values.tolist() == [3, 1, 1]


def test_garbage_of_compiling_is_collected_now_and_then():
    """Numba leaves some 30 MB of it a picture, and Python hardly ever looks at old objects."""

    class Node:
        """What refers to itself, so that only a collection frees it."""

    made = []
    for _ in range(2 * numba_compiler.COLLECTED):
        with numba_compiler._without_collections():
            node = Node()
            node.own = node
            made.append(weakref.ref(node))
            del node
    assert sum(each() is not None for each in made) <= numba_compiler.COLLECTED

"""Each private name of Numba does what its function in `numba_private` says.

`.ci/run` runs this file with the oldest and the newest Numba that pyproject.toml allows. What is of
numba-cuda is tested in test_ptx.py, with that package.
"""

import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import numpy as np
from numba import types
from numba.core.bytecode import FunctionIdentity
from numba.extending import lower_builtin, overload

from fractals.backends import numba_private
from fractals.backends.code_cache import Store
from fractals.backends.cpu.simd.pack import intrinsic

ROOT = Path(__file__).parents[2]


def test_functions_are_numbered_at_random():
    before = FunctionIdentity._unique_ids
    try:
        assert numba_private.number_functions_at_random()
        first = next(FunctionIdentity._unique_ids)
        assert first > 2**20  # by chance not, once in 2**40 times
        FunctionIdentity._unique_ids = itertools.count(2**61)
        function = numba.njit(lambda x: x + 1)
        assert function(1) == 2
        (compiled,) = function.overloads.values()
        assert compiled.fndesc.unique_name.endswith(str(2**61))
    finally:
        FunctionIdentity._unique_ids = before


STORED = """
import sys
import numba, numpy as np
from fractals.backends import numba_private
from fractals.backends.code_cache import Store

@numba.njit(nogil=True)
def total(values):
    copy = values.copy()  # allocates: the code calls Numba's helpers
    result = 0.0
    for value in copy:
        result += value
    return result

numba_private.keep_code(total, Store(sys.argv[1]))
print(total(np.arange(5.0)), sum(total.stats.cache_hits.values()))
"""


def test_code_is_kept_for_another_process(tmp_path):
    """The second process loads it, and tells LLVM the addresses of Numba's helpers."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    found = [
        subprocess.run(
            [sys.executable, "-c", STORED, str(tmp_path / "program")],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert found == [["10.0", "0"], ["10.0", "1"]]


def test_a_function_is_declared_before_those_of_numba():
    def halved(v):
        raise NotImplementedError

    numba_private.declare(halved, lambda v: v if v == types.float64 else None)

    @lower_builtin(halved, types.float64)
    def lower(context, builder, signature, args):
        return builder.fmul(args[0], context.get_constant(types.float64, 0.5))

    @overload(halved)
    def others(v):
        return lambda v: -v

    assert numba.njit(lambda v: halved(v))(3.0) == 1.5
    known = numba_private.typing_context().resolve_value_type(halved)
    assert known.typing_key is halved
    assert numba.njit(lambda v: halved(v))(3) == -3


def test_code_is_kept_for_each_signature(tmp_path):
    hits = []
    for _ in range(2):
        function = numba.njit(lambda x: x + x)
        numba_private.keep_code(function, Store(str(tmp_path / "program")))
        assert function(2) == 4
        assert function(2.5) == 5.0
        assert function.stats.cache_path == str(tmp_path / "program")
        hits.append(sum(function.stats.cache_hits.values()))
    assert hits == [0, 2]
    assert len(list(tmp_path.rglob("*.code"))) == 2


def test_an_intrinsic_has_a_name():
    @intrinsic
    def nothing(context):
        return types.none(), lambda context, builder, signature, args: context.get_dummy_value()

    assert nothing._uuid == f"{__name__}.nothing"


def test_a_function_is_an_argument():
    @numba.njit
    def add(values):
        values[0] += 1.0

    @numba.njit
    def call(function, values):
        function(values)

    argument = numba_private.FunctionArgument(add, (types.float64[::1],))
    values = np.zeros(1)
    call(argument, values)
    call(argument, values)
    assert values[0] == 2.0
    assert len(call.signatures) == 1
    made = numba_private.FunctionArgument.of(add, (types.float64[::1],))
    assert numba_private.FunctionArgument.of(add, (types.float64[::1],)) is made
    call(made, values)
    assert values[0] == 3.0
    other = numba_private.FunctionArgument.of(add, (types.float32[::1],))
    call(other, np.zeros(1, np.float32))
    assert len(call.signatures) == 2


def test_parts_of_an_array():
    @numba.extending.intrinsic
    def rows(context, array):
        def generate(context, builder, signature, args):
            shape = numba_private.part_of_array(context, builder, array, args[0], "shape")
            return builder.extract_value(shape, 0)

        return types.intp(array), generate

    assert numba.njit(lambda array: rows(array))(np.zeros((3, 5))) == 3


def test_compiling_is_noticed():
    seen = []
    numba_private.on_compiling(
        lambda: seen.append(("begin", numba_private.is_compiling())),
        lambda: seen.append(("end", numba_private.is_compiling())),
    )
    assert not numba_private.is_compiling()
    assert numba.njit(lambda x: x - 1)(1) == 0
    before = len(seen)
    assert seen[0][0] == "begin"
    assert seen[-1] == ("end", False)
    assert any(compiling for _, compiling in seen)
    sum(range(10))
    assert len(seen) == before


SIMULATED = """
import sys
import numpy as np
from fractals.backends import numba_private
numba_private.choose_simulator(True)
numba_private.add_row_stack()
try:
    from numba import cuda, config
except Exception:
    numba_private.choose_simulator(True)
    numba_private.use_built_in_cuda()
    from numba import cuda, config
assert config.ENABLE_CUDASIM
seen = []

@cuda.jit
def kernel(out, more):
    seen.append([type(numba_private.unwrap_simulated(value)) for value in (out, *more)])

kernel[1, 1](cuda.to_device(np.zeros(2)), (cuda.device_array((3,), np.int32), 7))
assert seen == [[np.ndarray, np.ndarray, int]], seen

@cuda.jit
def shift(out):
    i = cuda.grid(1)
    out[i + 1] = out[i]

found, array = [], np.arange(5.0)
with numba_private.observed_simulator(lambda *access: found.append(access)):
    shift[2, 2](array)
shift[2, 2](array)
places = [(block, thread, stored, element.shape) for block, thread, _, stored, element in found]
assert places == [((i // 2, 0, 0), i % 2, s, (1,)) for i in range(4) for s in (False, True)], places
assert {frame.f_code for _, _, frame, _, _ in found} == {shift.py_func.__code__}

from numba.cuda.simulator.kernel import FakeWithinKernelCUDAArray as Wrapped
plain, more = (Wrapped.__getitem__, Wrapped.__setitem__), []
with numba_private.observed_simulator(lambda *access: found.append(access)):
    with numba_private.observed_simulator(lambda *access: more.append(access)):
        shift[2, 2](array)
    shift[2, 2](array)
assert (len(more), len(found)) == (8, 24)
assert (Wrapped.__getitem__, Wrapped.__setitem__) == plain
assert not hasattr(Wrapped, "observers")
numba_private.choose_simulator(False)
assert not any(name.startswith("numba.cuda") for name in sys.modules)
assert not config.ENABLE_CUDASIM
print("simulated")
"""


def test_the_simulator_can_be_chosen():
    """In a process of its own, whose arrays on the simulated device are NumPy's underneath."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "simulated", done.stderr


def test_row_stack_is_there(monkeypatch):
    monkeypatch.delattr(np, "row_stack", raising=False)
    numba_private.add_row_stack()
    assert np.row_stack is np.vstack  # noqa: NPY201
    monkeypatch.delattr(np, "row_stack")


def test_the_tested_versions_are_those_allowed():
    """Whoever widens the range in pyproject.toml says here that the tests were run with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (allowed,) = (text for text in project["dependencies"] if text.startswith("numba"))
    assert allowed == "numba>=0.61.2,<0.69"
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "numba==0.61.2" in script
    assert "numba<0.69" in script


def test_all_private_names_are_here():
    """No other file imports from the insides of Numba, but for those that its docs show."""
    documented = {
        "numba.core": {"cgutils", "config", "types"},
        "numba.core.codegen": {"get_host_cpu_features"},
        "numba.core.errors": {"NumbaError"},
    }
    for path in (ROOT / "fractals").rglob("*.py"):
        if path.name in ("numba_private.py", "numba_compiler.py", "numba_lowering.py"):
            continue
        for line in path.read_text("utf-8").splitlines():
            words = line.split()
            if words[:1] == ["from"] and words[1].startswith(("numba.core", "numba.np")):
                names = {name.strip("(),") for name in words[3:]}
                assert names <= documented.get(words[1], set()), f"{path}: {line}"

"""Each private name of Numba does what its function in `numba_private` says.

`.ci/run` runs this file with the oldest and the newest Numba. What is of numba-cuda is tested in
test_ptx.py, with that package.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np

from fractals.backends import numba_private
from fractals.backends.cpu import inlined

ROOT = Path(__file__).parents[2]


SIMULATED = """
import sys
import numpy as np
from fractals.backends import numba_private
from fractals.backends.cpu import inlined
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


def test_the_oldest_version_that_is_tested_is_the_oldest_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (allowed,) = (text for text in project["dependencies"] if text.startswith("numba"))
    assert allowed == "numba>=0.61.2"  # newer ones than those tested are served by plain Numba
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "numba==0.61.2" in script
    assert inlined.TESTED[0] == (0, 61)


def test_all_private_names_are_here():
    """No other file imports from the insides of Numba, but for those that its docs show."""
    documented = {
        "numba.core": {"cgutils", "config", "types"},
        "numba.core.codegen": {"get_host_cpu_features"},
        "numba.core.errors": {"NumbaError"},
    }
    for path in (ROOT / "fractals").rglob("*.py"):
        if path.name in ("numba_private.py", "numba_compiler.py"):
            continue
        for line in path.read_text("utf-8").splitlines():
            words = line.split()
            if words[:1] == ["from"] and words[1].startswith(("numba.core", "numba.np")):
                names = {name.strip("(),") for name in words[3:]}
                assert names <= documented.get(words[1], set()), f"{path}: {line}"

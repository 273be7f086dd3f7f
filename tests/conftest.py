"""What the tests share: the devices, and the data that lies beside the repository."""

import json
import os
import tempfile
from pathlib import Path

import pytest

import fractals
from fractals.cli import main

# Compiled anew, unless you ask otherwise: what another run has left can't hide a mistake.
COMPILED = tempfile.TemporaryDirectory(prefix="fractals-tests-", ignore_cleanup_errors=True)
os.environ.setdefault("NUMBA_CACHE_DIR", COMPILED.name)

os.environ["FRACTALS_CACHE_DIR"] = COMPILED.name

NUMBERS = Path(__file__).parent / "data"  # coordinates and exact counts
DATA = Path(__file__).parents[1].parent / "shared" / "data"


def no_gpu():
    """Say why no GPU can be used; nothing where one can."""
    found = [device for device in fractals.devices() if device.kind == "cuda"]
    problems = [device.problem for device in found]
    return "" if "" in problems else (problems or ["the driver sees no CUDA GPU"])[0]


GPU = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(bool(no_gpu()), reason=f"no GPU: {no_gpu()}")],
)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers(config):
    """Run the tests in a process a core; in one process where there is a GPU, which they'd share.

    All processes keep their compiled code in the one folder.
    """
    return None if no_gpu() else 1


@pytest.fixture(params=["python", "cpu", "simulator", GPU])
def device(request):
    """Every kind of device; the GPU only where there is one."""
    return request.param


@pytest.fixture(params=["cpu", "simulator", GPU])
def compiled(request):
    """Every kind of device but the plain loops that define what it must draw."""
    return request.param


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Run the command line in an empty folder; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return ended.value.code, out, err.decode()

    return call


@pytest.fixture(scope="session")
def data():
    """Return the folder of facts and files that nobody in this project wrote."""
    if not DATA.is_dir():
        pytest.skip("there is no ../shared/data beside the repository")
    return DATA


@pytest.fixture(scope="session")
def truth():
    """Return the locations with known counts: name -> location, with its `pixels`."""
    known = json.loads((NUMBERS / "truth.json").read_text())["locations"]
    places = json.loads((NUMBERS / "locations.json").read_text())
    return {
        place["name"]: {**place, **known[place["name"]]}
        for place in places
        if place["name"] in known
    }

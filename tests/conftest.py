"""Fixtures: devices, the command line, and data that no code of this project computed."""

import gc
import signal
import sys
import threading
from pathlib import Path

import hypothesis
import pytest
from support import browser as browsers
from support import facts, lost_numbers, quick_fma
from support.opencl import OPENCL

import fractals
from fractals.backends import compilation
from fractals.cli import main, messages
from fractals.rendering import preview
from fractals.threads import core_count

# Examples take longer while other programs use the cores.
hypothesis.settings.register_profile("fractals", deadline=None)
hypothesis.settings.load_profile("fractals")
# Compiling raises Python's limit of nested calls: Hypothesis warns where a test does that.
compilation.allow_nested_calls()
quick_fma.install()

SAMPLES = Path(__file__).parents[2] / "shared" / "data"  # files of other programs, not in git


def no_gpu():
    """Return why no GPU can be used, or an empty string if one can be used."""
    found = [device for device in fractals.devices() if device.kind == "cuda"]
    problems = [device.problem for device in found]
    return "" if "" in problems else (problems or ["the driver sees no CUDA GPU"])[0]


GPU = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(bool(no_gpu()), reason=f"no GPU: {no_gpu()}")],
)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers(config):
    """Return one process more than there are cores, or one process if there is a GPU.

    A fifth of the time a process waits for another that it has started. Several processes would
    compete for the GPU. All processes share one folder of compiled code.
    """
    return core_count() + 1 if no_gpu() else 1


def kernel_of(item):
    """Return the name of the kernel that a test looks at, or of its formula."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("name") or params.get("formula") or ""


def pytest_collection_modifyitems(items):
    """Have the tests of a kernel's PTX follow each other: a worker compiles it for all of them."""
    places = [k for k, item in enumerate(items) if item.path.name == "test_ptx.py"]
    ordered = sorted((items[k] for k in places), key=kernel_of)
    for k, item in zip(places, ordered, strict=True):
        items[k] = item


def pytest_collection():
    """Leave out collections of garbage while tests are collected: all of it stays."""
    gc.disable()


def pytest_collection_finish():
    """Leave tests and modules out of all later collections of garbage."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Collect garbage once at the end: pytest does five times, a second in each process."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["python", "cpu", "simulator", GPU, OPENCL])
def device(request):
    """Return each kind of device in turn; the GPU is skipped if there is none."""
    return request.param


@pytest.fixture(params=["cpu", "simulator", GPU, OPENCL])
def compiled(request):
    """Return each kind of device but plain Python, the specification, which is slow."""
    return request.param


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch):
    """Leave out the lines that only appear on a slow machine or before a program is cached."""
    monkeypatch.setattr(messages, "COMPILES", 10**9)
    monkeypatch.setattr(messages, "EVERY", 10.0**9)


@pytest.fixture(autouse=True)
def no_number_is_lost(monkeypatch, request):
    """Fail where a number of a picture is NaN, but for tests that are marked `unwatched`."""
    found = []
    if not request.node.get_closest_marker("unwatched"):
        lost_numbers.watch(monkeypatch, found)
    yield
    assert not found, found


@pytest.fixture(autouse=True)
def no_lock_is_left_behind():
    """Fail where llvmlite's lock is not free after a minute, and replace it.

    The tests that follow would wait for it for ever.
    """
    yield
    ffi = sys.modules.get("llvmlite.binding.ffi")
    guard = getattr(getattr(ffi, "lib", None), "_lock", None)
    if isinstance(getattr(guard, "_lock", None), type(threading.RLock())):
        if guard._lock.acquire(timeout=60):
            guard._lock.release()
        else:
            kept, guard._lock = guard._lock, threading.RLock()
            pytest.fail(f"llvmlite's lock is kept: {kept}, threads {threading.enumerate()}")


@pytest.fixture
def eager(monkeypatch):
    """Show a preview wherever one is offered."""
    for name, value in (("FIRST", 0.0), ("SHARE", 1e9), ("GROWTH", 1.0)):
        monkeypatch.setattr(preview, name, value)


@pytest.fixture
def interruptible():
    """Have Ctrl-C raise KeyboardInterrupt: a shell's work in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs the command line in an empty folder.

    The function returns the exit code, stdout (bytes) and stderr (text).
    """
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return ended.value.code, out, err.decode()

    return call


def while_browsers_run(fixture_name, config):
    """Return how long a browser stays open: it leaves an event loop to the tests that follow."""
    return "session" if config.option.markexpr.startswith("browser") else "module"


@pytest.fixture(scope=while_browsers_run)
def browser():
    """Return Chromium, which is started once where only tests of browsers run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = browsers.launched(playwright)
        yield found
        found.close()


@pytest.fixture(scope="session")
def locations():
    """Return the public deep-zoom locations: name -> location."""
    return {place["name"]: place for place in facts.read("locations.json")}


@pytest.fixture(scope="session")
def truth(locations):
    """Return the locations with known counts: name -> location, with its `pixels`."""
    return {name: {**locations[name], **known} for name, known in facts.read("truth.json").items()}


@pytest.fixture(scope="session")
def traffic():
    """Return the views that users of a public explorer visited: name -> view."""
    return {view["name"]: view for view in facts.read("traffic.json")}


@pytest.fixture(scope="session")
def data():
    """Return the folder with files of other programs; skip the test if the folder is missing."""
    if not SAMPLES.is_dir():
        pytest.skip(f"files of other programs are not in the repository: {SAMPLES} is missing")
    return SAMPLES

"""How the driver of a GPU begins: in a thread, for command lines that ask for one."""

import subprocess
import sys
import threading

import pytest

from fractals.backends import cuda_driver, streams


def test_the_driver_is_called_without_numpy():
    """It starts in a thread, before NumPy is imported."""
    script = "import sys\nimport fractals.backends.cuda_driver\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


BEGUN = """
import sys
from fractals.backends import cuda_driver

def begin(words, environment):
    print(*words, "numpy" in sys.modules, flush=True)

cuda_driver.begin = begin
sys.argv = ["fractals", *sys.argv[1:]]
from fractals.cli import run
run()
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("render", "--gpu", "--help"), "render --gpu --help False\n"),
        (("render", "--cpu", "--help"), ""),
    ],
)
def test_the_driver_starts_before_numpy_is_imported(words, told):
    done = subprocess.run([sys.executable, "-c", BEGUN, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(told or "Usage")


@pytest.mark.parametrize(
    ("words", "name", "index"),
    [
        ("render --gpu", "", 0),
        ("render seahorse --device cuda:2 -o a.png", "", 2),
        ("film --device=cuda:all", "", 0),
        ("explore", "gpu", 0),
        ("render --gpu --cpu", "", None),
        ("render --cpu", "cuda", None),
        ("render --device opencl", "", None),
        ("render --device cuda:x", "", 0),
        ("render", "", None),
        ("render --gpu --dry-run", "", None),
        ("list --device cuda", "", None),
        ("render --device", "", None),
        ("", "cuda", None),
    ],
)
def test_which_gpu_a_command_line_opens(words, name, index):
    environment = {"FRACTALS_DEVICE": name} if name else {}
    assert cuda_driver.requested(words.split(), environment) == index


def test_two_threads_that_ask_for_a_gpu_at_once_get_the_same():
    """The first one is held back while it makes the GPU, so that the second one may be there."""
    made, held = [], threading.Event()

    def make(index):
        made.append(index)
        held.wait(0.2)
        return [index]

    gpu_of, found = streams.one_each(make), []
    threads = [threading.Thread(target=lambda: found.append(gpu_of(3))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [3]
    assert found[0] is found[1]
    gpu_of.cache_clear()
    assert gpu_of(3) is not found[0]

"""Folders of a run of the tests: compiled code that is kept between runs, and empty ones.

A plugin, because all of it is settled before a module of the package is imported: where compiled
code is kept is asked for once.
"""

import os
import sys
import tempfile
from pathlib import Path

import platformdirs

EMPTY = tempfile.TemporaryDirectory(prefix="fractals-tests-", ignore_cleanup_errors=True)

# Compiled code is kept between runs: it is known by the text of the modules that it is made of, so
# that of an earlier run is the same. `--cold` compiles all anew.
KEPT = Path(platformdirs.user_cache_dir("fractals-tests", appauthor=False)) / "compiled"
os.environ.setdefault("NUMBA_CACHE_DIR", str(KEPT))

# Processes that tests start then find the bytecode of the package: each begins in half the time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

os.environ["FRACTALS_PREBUILT"] = "0"  # what a checkout may have is not what tests compile
os.environ["FRACTALS_CACHE_DIR"] = EMPTY.name
os.environ["XDG_CONFIG_HOME"] = EMPTY.name  # a developer's file of defaults changes no test
os.environ["XDG_STATE_HOME"] = EMPTY.name  # nor do visitors of a developer's explorer


def pytest_addoption(parser):
    """Add the option that leaves out compiled code of earlier runs."""
    parser.addoption("--cold", action="store_true", help="compile all programs anew")


def pytest_load_initial_conftests(early_config):
    """Give a cold run an empty folder of compiled code; the processes of one run share it."""
    if early_config.known_args_namespace.cold and "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = EMPTY.name

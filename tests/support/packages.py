"""Installs the packages of the tests, where `uv run pytest` finds that some of them lack.

`uv run` installs what drawing needs, and pytest: the packages of the tests are three times as
large. pytest loads this module before it captures what is printed, so it can be replaced here by
another process, which uv starts with all packages.
"""

import os
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRIED = "FRACTALS_TESTS_INSTALLED"  # in the environment of that process


def lacking(group="dev"):
    """Return the packages of a group of pyproject.toml that are not installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    names = [re.match(r"[\w.-]+", p)[0] for p in project["dependency-groups"][group] if str(p) == p]
    installed = {found.name.lower() for found in metadata.distributions()}
    return [name for name in names if name.lower() not in installed]


def command(arguments):
    """Return the command that installs them and runs pytest, or None where nothing is to do."""
    uv = os.environ.get("UV")  # set by `uv run`
    if not uv or TRIED in os.environ or not lacking():
        return None
    return [uv, "run", "--project", str(ROOT), "--group", "dev", "pytest", *arguments]


if found := command(sys.argv[1:]):
    os.environ[TRIED] = "1"
    os.execv(found[0], found)

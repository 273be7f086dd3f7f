"""Starts processes of `fractals.explorer.work`."""

import os
import sys
from pathlib import Path

PARENT = str(Path(__file__).parents[2])  # of the package


def command() -> tuple[list[str], dict[str, str]]:
    """Return the command that starts such a process, and its environment."""
    paths = [PARENT, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    # -P: never a package of this name in the current folder
    return [sys.executable, "-P", "-m", "fractals.explorer.work"], environment

"""``python -m fractals`` is ``fractals``."""

from fractals.cli import run

run()

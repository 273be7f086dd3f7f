"""What the tests of the command line share."""

import pytest

from fractals.cli import progress


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch):
    """Leave out the lines that only appear on a slow machine or before a program is cached."""
    monkeypatch.setattr(progress, "COMPILES", 10**9)
    monkeypatch.setattr(progress, "EVERY", 10.0**9)

"""What the tests of the command line share."""

import pytest

from fractals.cli import progress


@pytest.fixture(autouse=True)
def no_notes_on_compiling(monkeypatch):
    """Leave out the line that a program is compiled, as the order of the tests decides on it."""
    monkeypatch.setattr(progress, "COMPILES", 10**9)

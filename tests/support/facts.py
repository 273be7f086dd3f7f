"""Facts in tests/data, which no code of this project computed; its README describes the files."""

import json
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data"


def read(name):
    """Return the content of a JSON file of tests/data."""
    return json.loads((FOLDER / name).read_text("utf-8"))

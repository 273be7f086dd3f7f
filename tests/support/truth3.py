"""The views of tests/data/truth3.json, with keys as scenes have them."""

import json
from pathlib import Path

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth3.json").read_text())


def entries(part):
    """Return the entries of one list, each a table with a name and a scene."""
    found = []
    for entry in TRUTH[part]:
        scene = dict(entry["scene"])
        iteration = dict(scene.get("iteration", {}))
        if "limit" in iteration:  # its name there
            iteration["max_iterations"] = iteration.pop("limit")
            scene["iteration"] = iteration
        found.append({**entry, "scene": scene})
    return found

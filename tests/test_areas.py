"""areas.toml, the list of which tests belong to which files, is whole and true."""

import re
from pathlib import Path

from support import near

ROOT = Path(__file__).parents[1]
TABLE = near.read_areas()
SKIPPED = {".git", "__pycache__", "_build", "_drawn", "build", "machine_code"}
STEPS = re.compile(r"^([a-z]+)\(\) {", re.MULTILINE)


def files_in(*folders):
    """Yield the files of folders of this repository, as paths from its root."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not SKIPPED & {*parts}:
                yield "/".join(parts)


def code_of():
    """Return the code of the core and of each area."""
    return {"core": TABLE["core"], **{name: area["code"] for name, area in TABLE["area"].items()}}


def places():
    """Yield each path of the list."""
    yield from TABLE["contract"]
    for code in code_of().values():
        yield from code
    for area in TABLE["area"].values():
        yield from area["tests"]


def test_every_file_belongs_to_one_area():
    found = [*files_in("fractals", "scripts", "gallery", "docs", "tests", "lessons", "benchmarks")]
    assert len(found) > 1000
    assert [path for path in found if not near.areas_of(path, TABLE)] == []
    for path in found:
        if path.startswith("fractals/"):
            named = [
                (len(place), name)
                for name, code in code_of().items()
                for place in code
                if near.lies_in(path, place)
            ]
            longest = max(length for length, _ in named)
            owners = {name for length, name in named if length == longest}
            assert len(owners) == 1, f"{path} is named as closely by {owners}"
            assert near.areas_of(path, TABLE) == owners


def test_every_test_runs_after_a_change_of_some_file():
    """A test of the core runs with everything."""
    for path in files_in("tests"):
        if path.rpartition("/")[2].startswith("test_"):
            assert near.areas_of(path, TABLE), path


def test_every_path_of_the_list_exists():
    assert len([*places()]) > 200
    missing = [place for place in places() if not [*ROOT.glob(place.rstrip("/"))]]
    assert missing == []


def test_steps_of_areas_exist():
    defined = {*STEPS.findall((ROOT / ".ci" / "run").read_text("utf-8"))}
    named = {step for name in TABLE["area"] for step in near.steps_of(name, TABLE)}
    assert len(named) > 8
    assert named | {*near.ALWAYS} <= defined
    assert not named & {*near.ALWAYS, "version", "systems"}

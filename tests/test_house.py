"""The figures of `scripts/house`."""

import ast
import json
import subprocess
import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from test_architecture import MODULES, module_of, modules_imported_by

ROOT = Path(__file__).parents[1]
SCRIPT = str(ROOT / "scripts" / "house")
house = types.ModuleType("house")
house.__file__ = SCRIPT
SourceFileLoader("house", SCRIPT).exec_module(house)


def figures(*options):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--json", *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_code_is_counted_without_blank_lines_comments_and_docstrings(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(
        '"""Three\nlines\nhere."""\n\nx = """two\nlines"""  # counted\n# not counted\n\n'
        'def f():\n    """Not counted."""\n    return (\n        1\n    )\n',
        "utf-8",
    )
    assert house.code_lines(file) == 2 + 4
    page = tmp_path / "a.js"
    page.write_text("// no\nlet x = 1; // yes\n\n/* no */\n", "utf-8")
    assert house.code_lines(page) == 1


def test_every_part_has_files_and_the_parts_are_the_whole(monkeypatch):
    # All lines are counted here, because finding comments and docstrings takes seconds.
    monkeypatch.setattr(house, "code_lines", lambda file: file.read_bytes().count(b"\n"))
    parts = house.parts()
    assert all(part["files"] and part["lines"] for part in parts.values())
    sources = sorted(house.PACKAGE.rglob("*.py"))
    assert {house.part_of("scatter/play.py"), house.part_of("explorer/client/ui.js")} == {
        "scatter",
        "explorer's page",
    }
    of_python = [name for name in parts if name not in ("explorer's page", "pages that draw")]
    assert sum(parts[name]["files"] for name in of_python) <= len(sources)
    assert house.part_of("rendering/plan.py") == house.BUILDING
    assert parts[house.BUILDING]["lines"] < sum(map(house.code_lines, sources))
    for beginnings in house.PARTS.values():
        assert all((house.PACKAGE / start).exists() for start in beginnings)


# The modules of the main building that import a part: the doors to it. Public names, which the
# package itself imports on first use, are no doors.
DOORS = {
    "CUDA": {"backends.devices"},
    "OpenCL": {"backends.devices"},
    "cluster": {"rendering.families.escape", "rendering.render"},
    "double-double": {"rendering.drawing", "rendering.number_types", "rendering.sampling"},
    "films": {"io.load", "scene.model"},  # the table of a scene
    "formats of others": {"io.palettes", "io.tables"},
    "pages that draw": {
        *("io.escape_data", "io.image"),
        *("rendering.families", "rendering.families.escape"),
    },
    "scatter": {"rendering.families", "scene.model"},  # the tables of a scene, words of quality
    # The tables of a scene, and which keys of the camera are those of solids alone
    "space": {"io.load", "rendering.families", "scene.model"},
    "stores": {"rendering.families.escape", "rendering.render"},
}


def test_the_main_building_has_few_doors_to_its_parts():
    found: dict[str, set[str]] = {}
    for path in sorted(house.PACKAGE.rglob("*.py")):
        name = path.relative_to(house.PACKAGE).as_posix()
        if house.part_of(name) == house.BUILDING and name != "__init__.py":
            module = module_of(path)
            for other in modules_imported_by(path):
                part = house.part_of(MODULES[other].relative_to(house.PACKAGE).as_posix())
                if part != house.BUILDING:
                    found.setdefault(part, set()).add(module.removeprefix("fractals."))
    assert found == DOORS


def test_a_picture_imports_the_main_building_only(tmp_path):
    """The tables of a scene are the words of all families."""
    script = (
        "import fractals, sys\n"
        "small = {'size': (8, 6), 'device': 'python'}\n"
        "fractals.render_to('a.png', 'seahorse', **small | {'device': 'cpu'})\n"
        "fractals.render(center=(-2, 0), width='1e-30', **small)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    names = [name.split(".", 1)[1] for name in done.stdout.split() if name.startswith("fractals.")]
    files = [name.replace(".", "/") + ".py" for name in names if not name.startswith("scene.")]
    assert "deep/reference.py" in files
    assert {house.part_of(file) for file in files} == {house.BUILDING}


def test_a_commit_stays_at_home_or_not():
    commits = [
        [("fractals/scatter/play.py",), ("tests/scatter/test_play.py",), ("CHANGELOG.md",)],
        [("fractals/scatter/play.py",), ("fractals/cli/render.py",)],
        [("fractals/cli/render.py",)],
        [("tests/scatter/test_play.py",)],
        [("fractals/kernels/old.py", "fractals/scatter/play.py"), ("fractals/catalog.py",)],
        [("fractals/kernels/old.py",), ("fractals/space/plan.py",)],  # before it was moved
    ]
    assert house.at_home("scatter", commits) == {"commits": 3, "at home": 0.33}
    assert house.at_home("space", commits[:3]) == {"commits": 0, "at home": None}


def test_programs_name_modules_that_exist():
    for modules in (*house.PROGRAMS.values(), house.MAKER):
        for name in modules.split():
            assert (house.PACKAGE / (name.replace(".", "/") + ".py")).exists(), name


@pytest.mark.slow
def test_a_walk_passes_functions():
    (walk,) = figures("--walks", "Python")["walks"].values()
    assert 100 < len(walk) < 1000
    for place, lines in walk.items():
        file, _, rest = place.partition(":")
        first = int(rest.split()[0])
        text = (house.PACKAGE / file).read_text("utf-8").splitlines()
        assert 0 <= lines <= len(text) - first + 1
    drawn = next(lines for place, lines in walk.items() if place.endswith(" make_plan"))
    assert drawn == length_of("rendering/plan.py", "make_plan")


def length_of(file, name):
    tree = ast.parse((house.PACKAGE / file).read_text("utf-8"))
    node = next(node for node in tree.body if getattr(node, "name", "") == name)
    return node.end_lineno - node.lineno + 1

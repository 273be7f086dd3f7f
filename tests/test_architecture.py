"""The walls of ARCHITECTURE.md: who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fractals

PACKAGE = Path(fractals.__file__).parent
TESTS = Path(__file__).parent
MOST_LINES = 400

# From top to bottom; imports point downwards, or stay on their floor.
FLOORS = [
    ["cli", "explorer", "animate", "__main__"],
    ["bench", "charts", "ladder", "report", "gallery", "sheet", "verify"],
    ["streaming", "computing"],
    ["pipeline"],
    ["sweep"],
    ["methods", "painting", "recoloring", "antialiasing", "cost"],
    ["backends"],
    ["image", "raw", "claims", "exr", "store"],
    ["finding"],
    ["planning", "forecast", "depth", "layers", "positions"],
    ["programs", "deep"],
    [
        "formulas",
        "colorings",
        "formats",
        "fractint",
        "places",
        "scene",
        "paints",
        "gradient",
        "palette_files",
        "palette",
        "pictures",
    ],
    ["catalog", "exchange", "files", "png", "magnitude", "notebook"],
    ["executor"],
    ["coloring", "series", "format", "composing"],
    ["expression", "elementary"],
    ["formula"],
    ["errors"],
]
FLOOR_OF = {room: -height for height, rooms in enumerate(FLOORS) for room in rooms}
SOURCES = sorted(path for path in PACKAGE.rglob("*.py"))
CUDA_FILES = {"backends/kernel.py", "backends/cuda.py"}


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


every_file = pytest.mark.parametrize("path", SOURCES, ids=name_of)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(node):
    """Yield every module that is imported anywhere below `node`, as a dotted name.

    `from a import b` yields a.b, which may be a module or a name in one.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not is_type_checking(child):
            yield from imports(child)


def imports_of(path):
    return set(imports(ast.parse(path.read_text("utf-8"))))


def room(path):
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@every_file
def test_imports_point_downwards(path):
    here = room(path)
    if here == "__init__":
        return
    assert here in FLOOR_OF, f"{here} has no floor: say in FLOORS where it belongs"
    for name in imports_of(path):
        if name.startswith("fractals."):
            there = name.split(".")[1]
            if there in ("__version__", "__init__"):
                continue
            assert there in FLOOR_OF, f"{name_of(path)} imports {name}"
            same = there == here or FLOOR_OF[there] == FLOOR_OF[here]
            assert same or FLOOR_OF[there] < FLOOR_OF[here], f"{name_of(path)} imports {name}"


def test_walls_can_fall(tmp_path):
    """What the walk reads: imports at the top, in functions, and of names."""
    file = tmp_path / "x.py"
    file.write_text(
        "import a.b\ndef f():\n    from fractals.cli import main\n    import numba as nb\n"
    )
    assert imports_of(file) == {"a.b", "fractals.cli.main", "numba"}


@every_file
def test_only_backends_import_numba(path):
    packages = {name.split(".")[0] for name in imports_of(path)}
    if room(path) != "backends":
        assert "numba" not in packages
        if name_of(path) not in ("ladder.py", "bench.py"):
            assert "llvmlite" not in packages
    if name_of(path) not in CUDA_FILES:
        assert not any(name.startswith("numba.cuda") for name in imports_of(path))


@every_file
def test_programs_and_formulas_know_no_target(path):
    if room(path) in ("programs", "formulas", "colorings"):
        for name in imports_of(path):
            allowed = (
                "math",
                "fractals.formula.",
                "fractals.coloring.",
                "fractals.colorings.",
                "fractals.series.",
                "fractals.composing.",
                "fractals.elementary.",
                "fractals.expression",
                "fractals.pictures",
                "fractals.programs.",
                f"fractals.{room(path)}.",
                "collections.",
                "dataclasses.",
                "typing.",
            )
            assert name.startswith(allowed), f"{name_of(path)} imports {name}"


@every_file
def test_no_file_is_long(path):
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


@every_file
def test_every_file_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


def test_the_kernels_module_is_the_only_one_that_holds_kernels():
    """While a simulated kernel runs, the name `cuda` in its module is replaced."""
    holders = {
        name_of(path) for path in SOURCES if {"numba.cuda", "numba.cuda.cuda"} & imports_of(path)
    }
    assert holders == {"backends/kernel.py"}


def test_the_oracle_is_independent():
    packages = {name.split(".")[0] for name in imports_of(TESTS / "naive.py")}
    assert packages == {"mpmath"}
    packages = {name.split(".")[0] for name in imports_of(TESTS / "naive_colorings.py")}
    assert packages == {"cmath", "itertools", "math"}


def loaded_by(statement):
    """Return the packages that a fresh interpreter has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_is_quick():
    heavy = {"numba", "llvmlite", "numpy", "pydantic", "PIL", "rich", "click", "gmpy2"}
    assert not loaded_by("import fractals") & heavy


def test_numba_waits_for_a_backend():
    """Choosing among CPU and GPUs is done before Numba is imported."""
    assert "numba" not in loaded_by("import fractals.pipeline, fractals.backends")
    assert "numba" not in loaded_by("from fractals import backends; backends.choose('auto')")
    assert "numba" not in loaded_by(
        "import fractals; fractals.render({'image': {'size': [2, 2]}}, device='python')"
    )


def test_public_names():
    assert fractals.__all__ == sorted(fractals.__all__)
    assert set(fractals.__all__) == {*fractals._HOMES, "__version__"}
    for name in fractals.__all__:
        assert getattr(fractals, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fractals.no_such_name


def test_type_checkers_see_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if is_type_checking(block)
        for node in block.body
        for alias in node.names
    }
    assert seen == {name: f"fractals.{home}" for name, home in fractals._HOMES.items()}


def test_public_functions_and_classes_are_documented():
    for name in fractals.__all__:
        if not name.startswith("_"):
            assert getattr(fractals, name).__doc__

"""Benchmarks and scripts, which no other test runs, import what is there."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def programs():
    """Return all programs in Python, with and without a suffix."""
    found = [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")]
    for path in ROOT.glob("scripts/*"):
        if path.is_file() and not path.suffix:
            first = path.read_text("utf-8").partition("\n")[0]
            found += [path] if "python" in first else []
    return sorted(str(path.relative_to(ROOT)) for path in found)


def missing_names(text):
    """Return the names of `fractals` that a program imports, or takes of a module, in vain."""
    tree = ast.parse(text)
    modules, missing = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(each.name, None, each.asname or each.name) for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(node.module, each.name, each.asname or each.name) for each in node.names]
        else:
            continue
        for module, name, known in names:
            if module.partition(".")[0] != "fractals":
                continue
            try:
                found = importlib.import_module(module)
                if name is not None and not hasattr(found, name):
                    found = importlib.import_module(f"{module}.{name}")
                elif name is not None:
                    found = getattr(found, name)
            except ImportError:
                missing.append(f"{module}.{name}" if name else module)
                continue
            if isinstance(found, type(ast)) and "." not in known:
                modules[known] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None and not hasattr(module, node.attr):
                missing.append(f"{module.__name__}.{node.attr}")
    return missing


@pytest.mark.parametrize("program", programs())
def test_names_that_are_imported_exist(program):
    assert missing_names((ROOT / program).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from fractals.rendering.shading import mask_map", "fractals.rendering.shading.mask_map"),
        ("import fractals.no_such", "fractals.no_such"),
        ("def f():\n    from fractals import no_such", "fractals.no_such"),
        ("from fractals.io import png\npng.NO_SUCH", "fractals.io.png.NO_SUCH"),
        ("import fractals\nfractals.no_such()", "fractals.no_such"),
    ],
)
def test_a_name_that_has_moved_is_found(text, name):
    assert missing_names(text) == [name]

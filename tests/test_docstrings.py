"""Names in docstrings: a function or class that was renamed is told of by its new name."""

import ast
import functools
import importlib.util
import re
from pathlib import Path

import pytest
from support.sources import nodes_of, tree_of

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "fractals").rglob("*.py"))
SUFFIXES = re.compile(r"\.(py|md|toml|json|js|npy|c|h)$")  # `render.py` is no attribute of render
# Numba's classes, the memory of a page's program, and entry points of other packages' families.
FOREIGN = {"CPUContext", "CUDADispatcher", "env", "fractals.families"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def names_in(tree):
    """Return the names that code defines or uses, but for those in its docstrings and comments."""
    names = set()
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname"):
            names.update((getattr(node, field, None) or "").split("."))
        if isinstance(node, ast.Constant) and str(node.value).isidentifier():
            names.add(str(node.value))  # of a field that is filled in by its name
    return names


@functools.cache
def places():
    """Return the code of each module and class of the package: by its name, and by its path."""
    found = {}
    for path in FILES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for name in (parts[-1], ".".join(parts)):
            found.setdefault(name, []).append(tree_of(path))
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def has(name, attribute):
    """Return whether a module or class has an attribute, maybe from a class above it."""
    trees = places().get(name, ())
    if any(attribute in names_in(tree) for tree in trees):
        return True
    bases = [b for tree in trees for b in getattr(tree, "bases", ()) if isinstance(b, ast.Name)]
    return any(has(base.id, attribute) for base in bases)


def resolves(dotted, used):
    """Return whether a dotted name leads somewhere, in a file that uses the names `used`."""
    first, *rest = dotted.split(".")
    if first in FOREIGN or dotted in FOREIGN:
        return True
    if first == "fractals":
        for k in range(len(rest), -1, -1):
            module = ".".join([first, *rest[:k]])
            if module in places():
                return k == len(rest) or has(module, rest[k])
    if first in places() and has(first, rest[0]):
        return True
    return first in used or (first not in places() and bool(importlib.util.find_spec(first)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_dotted_names_in_docstrings_lead_somewhere(path):
    nodes = [node for node in nodes_of(path) if isinstance(node, DOCUMENTED)]
    text = "\n".join(ast.get_docstring(node) or "" for node in nodes)
    named = re.findall(r"`([A-Za-z_]\w*(?:\.\w+)+)`", text)
    named += re.findall(r"(?<![`\w.])(fractals(?:\.\w+)+)", text)
    for dotted in named:
        assert SUFFIXES.search(dotted) or resolves(dotted, names_in(tree_of(path))), dotted


def test_names_that_are_gone_are_found():
    assert resolves("fractals.kernels.primitives.fma", set())
    assert resolves("Backend.tally", set())
    assert not resolves("fractals.kernels.primitives.no_such", set())
    assert not resolves("fractals.no_such.fma", set())
    assert not resolves("Backend.no_such", set())
    assert not resolves("no_such_module.fma", set())

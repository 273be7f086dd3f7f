"""Syntax trees of functions, and their places in files."""

import ast
import functools
import linecache
from pathlib import Path
from typing import Any

from fractals.backends.opencl.values import safe
from fractals.errors import DeviceError

PACKAGE = Path(__file__).parents[2]


def place_of(filename: str, line: int) -> str:
    """Return file and line, of this package from its folder on."""
    path = Path(filename)
    if path.is_relative_to(PACKAGE):
        path = path.relative_to(PACKAGE.parent)
    return f"{path.as_posix()}:{line}"


@functools.cache
def _functions_of(text: str) -> dict[tuple[int, str], list[Any]]:
    found: dict[tuple[int, str], list[Any]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(node)
    return found


def tree_of(function: Any) -> Any:
    """Return the syntax tree of a function, a definition or a lambda.

    A function of generated text has the text as its attribute `text`.
    """
    code = function.__code__
    text = getattr(function, "text", None) or "".join(linecache.getlines(code.co_filename))
    found = _functions_of(text).get((code.co_firstlineno, code.co_name), [])
    if len(found) != 1:
        what = "several functions are" if found else "no source text is"
        raise DeviceError(f"{place_of(code.co_filename, code.co_firstlineno)}: {what} there")
    return found[0]


def stored(*nodes: ast.AST) -> set[str]:
    """Return the names in C of what statements, or targets, change; "data" for arrays."""
    changed = [
        each
        for node in nodes
        for each in ast.walk(node)
        if isinstance(getattr(each, "ctx", None), ast.Store)
    ]
    return {
        safe(each.id) if isinstance(each, ast.Name) else "data"
        for each in changed
        if isinstance(each, ast.Name | ast.Subscript)
    }

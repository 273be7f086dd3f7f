"""Syntax trees of the package's files, which several files of tests read."""

import ast
import functools


@functools.cache
def tree_of(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def nodes_of(path):
    """Return all nodes of a file's syntax tree: walking all trees takes a second each time."""
    return tuple(ast.walk(tree_of(path)))

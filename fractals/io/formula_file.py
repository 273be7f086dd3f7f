"""Formulas in the user's own Python files: `--formula ./bridge.py` and `fractals.load_formula`.

Reading such a file runs it. Therefore only the command line and Python name one, and never a scene:
a scene can be a stranger's.
"""

import ast
import hashlib
import importlib.machinery
import importlib.util
import os
import signal
import sys
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from fractals.errors import InputError, shown, typed
from fractals.io.files import as_path
from fractals.kernels.formula import AnyFormula, with_recipe

_LOADED: weakref.WeakValueDictionary[Any, AnyFormula] = weakref.WeakValueDictionary()
CONVERSION = "number"  # of `fractals.kernels.primitives`: it gives a constant the type of z


def load_formula(path: str | Path, **options: Any) -> AnyFormula:
    """Return the formula, or the solid, that a Python file's function ``make`` returns.

    The file is run, with all the rights of this process: load only files that you trust.
    CONTRIBUTING describes what such a file holds.

    Parameters
    ----------
    path : str or Path
        Ends in ``.py``.
    **options
        Arguments of ``make``.

    Returns
    -------
    Formula or Solid
        For ``fractals.render(formula=...)``. A picture of it carries no scene.

    Raises
    ------
    InputError
        The file is missing, fails, returns no formula, or has a constant that is not converted.
    """
    path = as_path(path)
    module = _run(path)
    make = getattr(module, "make", None)
    if not callable(make):
        raise InputError(f"{shown(path)}: has no function make() that returns a Formula or a Solid")
    try:
        formula = make(**options)
    except (Exception, SystemExit) as error:
        raise _failed(path, error) from None
    if not (isinstance(formula, AnyFormula) and formula.functions):
        raise InputError(f"{shown(path)}: make() returns {typed(formula)}, no Formula and no Solid")
    names = {
        function.__name__
        for function in (getattr(formula, name, None) for name in formula.functions)
        if callable(function)
    }
    contents = path.read_bytes()
    for line, name, value in bare_constants(importlib.util.decode_source(contents), names):
        raise InputError(
            f"{shown(path)}: line {line}: the constant {value} in '{name}': write "
            f"{CONVERSION}({value}, x), because a bare constant turns float32 into float64"
        )
    key = path.absolute(), hashlib.sha256(contents).hexdigest(), repr(options)
    _LOADED[key] = formula
    return with_recipe(formula, _load_again, key, options)


def _load_again(key: tuple[Path, str, str], options: dict[str, Any]) -> AnyFormula:
    """Return the formula of a pickle, or of a copy: this process may hold it."""
    if key in _LOADED:
        return _LOADED[key]
    path, digest, _ = key
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise InputError(
            f"{shown(path)}: has changed since its formula was pickled: pickle it anew"
        )
    return load_formula(path, **options)


def _run(path: Path) -> ModuleType:
    """Return the module of a file, run under a name outside this package."""
    if not os.path.isfile(path):
        raise InputError(f"{shown(path)}: no such file")
    # A function of this package would be cached on disk by its name alone, and one from elsewhere
    # is cached by its bytecode: see `backends.code_cache`.
    name = f"formula_file_{path.stem}"
    if path.suffix != ".py":
        raise InputError(f"{shown(path)}: a formula's file ends in .py")
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks up the module of a function
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _failed(path, error) from None
    return module


class _Source(importlib.machinery.SourceFileLoader):
    """Compiles a file each time it is loaded.

    Bytecode on disk is found by the size of the file and the second in which it was written, and a
    file that is edited and drawn in turns may keep both.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _failed(path: Path, error: Exception | SystemExit) -> Exception | SystemExit:
    """Return the error of a file that failed; of a signal, which ends the process, its own."""
    code = error.code if isinstance(error, SystemExit) else 0
    if isinstance(code, int) and code - 128 in signal.valid_signals():
        return error
    return InputError(_failure(path, error))


def _failure(path: Path, error: Exception | SystemExit) -> str:
    """Return what went wrong in a file, with the line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).name == path.name]
    line = error.lineno if isinstance(error, SyntaxError) else (lines or [None])[-1]
    where = f"line {line}: " if line else ""
    return f"{shown(path)}: {where}{type(error).__name__}: {shown(error)}"


def bare_constants(source: str, names: set[str]) -> Iterator[tuple[int, str, int | float]]:
    """Yield line, function and value of each number that is not an argument of `CONVERSION`.

    >>> list(bare_constants("def step(x):\\n    return number(2, x) * x + 0.5", {"step"}))
    [(2, 'step', 0.5)]
    """
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.name in names:
            for statement in function.body:
                for node in _outside_conversions(statement):
                    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                        assert isinstance(node.value, int | float)
                        yield node.lineno, function.name, node.value


def _outside_conversions(node: ast.AST) -> Iterator[ast.AST]:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if is_call and node.func.id == CONVERSION:  # type: ignore[attr-defined]
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_conversions(child)

"""Pictures do not depend on private names of Numba: where one is missing, plain Numba compiles.

A new Numba that renames something is imitated: the files that use private names are loaded with
another name in their text.
"""

import ast
import hashlib
import os
import re
import subprocess
import sys
from itertools import chain, product
from pathlib import Path

import numba
import pytest
from support.scenes import slow_but

from fractals.backends.cpu import entry

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "fractals" / "backends" / f"numba_{name}.py" for name in ("compiler", "code")]
# Names in these files that are not Numba's: Python's, llvmlite's public ones, and their own; and
# "cpu", a value of the public `numba.extending.overload(target=)`.
OWN = {
    *("cpu", "ir", "IRBuilder", "Module", "FunctionType", "VoidType", "DoubleType", "Block"),
    *("append_basic_block", "function", "icmp_signed", "icmp_unsigned", "fcmp_ordered", "select"),
    *("__dict__", "__init__", "_name", "_link", "_replace", "append", "clear", "get", "key", "pop"),
    *("setdefault", "subtract", "update", "values", "fromkeys", "enter_context"),
    *("declares_all", "functions", "library_class", "numeric", "never", "tell_callers"),
    *("_Numeric", "_typed_once", "typed_once", "variables_of", "process", "size_of_type"),
}
USUAL = "JITCodeLibrary", "--cpu"  # what is tested each time
SCRIPT = """
import importlib.abc, importlib.util, re, sys
MODULES = {f"fractals.backends.numba_{name}" for name in ("compiler", "code")}
class Renaming(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in MODULES:
            return None
        MODULES.remove(name)
        spec = importlib.util.find_spec(name)
        text = re.sub(r"\\bNAME\\b", "NAME_renamed", spec.loader.get_source(name))
        spec.loader.get_code = lambda _name: compile(text, spec.origin, "exec")
        return spec
sys.meta_path.insert(0, Renaming())
import numba
numba.version_info = VERSION or numba.version_info
from fractals.cli import run
sys.argv[1:] = ARGUMENTS
run()
"""


def private_names():
    """Return all names of Numba in the files: imported, read, written, overridden, or in quotes."""
    standard = {"collections", "contextlib", "functools", "gc", "importlib"}
    found = set()
    for node in chain(*(ast.walk(ast.parse(file.read_text("utf-8"))) for file in FILES)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("numba"):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) not in standard:
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"_*[a-z]\w*", str(node.value)):
            found.add(node.value)
        elif isinstance(node, ast.ClassDef):
            found |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    return sorted(found - OWN)


def draw(name, arguments, folder, version=None, kept=False):
    """Draw with a name renamed; return what stderr says.

    Code that is compiled so goes into a folder of its own, because its key has the text of the
    files as it is. `kept`: for the next run.
    """
    script = SCRIPT.replace("VERSION", repr(version)).replace("ARGUMENTS", repr([*arguments]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    if kept:
        digest = hashlib.sha256(script.encode()).hexdigest()[:12]
        environment["NUMBA_CACHE_DIR"] += f"-renamed-{name}-{digest}"
    elif name or version:
        environment["NUMBA_CACHE_DIR"] = str(folder / "compiled")
    done = subprocess.run(
        [sys.executable, "-c", script.replace("NAME", name or "no name")],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def picture(device):
    """Return arguments that draw with few programs: none finds an automatic limit."""
    size = "--size", "24x16", "--max-iterations", "300"
    return "render", "seahorse", device, *size, "-o", "drawn.png", "--overwrite"


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return a function that returns the bytes of a picture that is drawn as usual."""
    folder = tmp_path_factory.mktemp("usual")
    found = {}

    def usual(device):
        if device not in found:
            assert "is not known" not in draw("", picture(device), folder)
            found[device] = (folder / "drawn.png").read_bytes()
        return found[device]

    return usual


@pytest.mark.parametrize(
    ("name", "device"),
    slow_but([USUAL], product(private_names(), ["--cpu", "--gpu"])),
)
def test_a_renamed_name_costs_time_alone(name, device, tmp_path, expected):
    said = draw(name, picture(device), tmp_path, kept=(name, device) == USUAL)
    assert (tmp_path / "drawn.png").read_bytes() == expected(device)
    assert len(re.findall("is not known to this version", said)) <= 1


# These can't be missing without the compiler's notice.
@pytest.mark.parametrize("name", slow_but([], ["CompilerBase", "_lookup_global", "_impl_keys"]))
def test_one_line_says_that_a_name_is_missing(name, tmp_path):
    said = draw(name, picture("--cpu"), tmp_path)
    assert len(re.findall(r"Numba [\d.]+ is not known .* three times as long", said)) == 1


def test_an_unknown_version_is_not_patched(monkeypatch):
    """What plain Numba draws is shown where a name is missing."""
    said = []
    monkeypatch.setattr(numba, "version_info", numba.version_info._replace(major=9))
    monkeypatch.setattr(entry, "report", said.append)
    assert entry._own_compiler.__wrapped__() is None
    assert len(said) == 1
    assert re.match(r"Numba [\d.]+ is not known .*not tested", said[0])


@pytest.mark.slow
def test_a_kernel_of_an_unknown_version_is_the_same(tmp_path, expected):
    said = draw("", picture("--gpu"), tmp_path, version=(9, 1, 0))
    assert len(re.findall(r"Numba [\d.]+ is not known .*not tested", said)) == 1
    assert (tmp_path / "drawn.png").read_bytes() == expected("--gpu")

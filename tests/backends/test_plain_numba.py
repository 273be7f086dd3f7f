"""Pictures do not depend on private names of Numba: where one is missing, plain Numba compiles.

A new Numba that renames something is imitated: the files that use private names are loaded with
another name in their text.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.scenes import slow_but

ROOT = Path(__file__).parents[2]
FILES = "fractals.backends.numba_compiler", "fractals.backends.cpu.traced"
# Names of Numba in these files, and one that makes the compiler itself fail.
NAMES = [
    *("JITCodeLibrary", "_codegen", "_data_layout", "_final_module", "_linking_libraries"),
    *("_get_module_for_linking", "_optimize_functions", "_optimize_final_module", "_finalized"),
    *("_raise_if_finalized", "_ensure_finalized", "get_llvm_str", "CompilerBase"),
    *("_compile_core", "define_pipelines", "_dynfunc", "make_function", "lookup_module"),
    *("unique_name", "insert_user_function", "LoweringPass", "PassManager", "add_pass"),
    *("register_pass", "cpu_target", "rtsys", "initialize", "BaseFunction", "get_call_type"),
    *("_impl_keys", "Inst", "_rec_list_vars", "PostProcessor", "VariableLifetime"),
    *("canonicalize_cfg", "is_generator", "_registries", "install_registry"),
    *("load_additional_registries", "refresh", "post_lowering", "no_compile", "targetctx"),
    *("func_id", "NativeLowering", "ReconstructSSA", "_nrt", "AbstractTemplate", "infer_global"),
    *("resolve_function_type", "resolve_value_type", "get_function", "make_tuple"),
]
SCRIPT = """
import importlib.abc, importlib.util, re, sys
class Renaming(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in FILES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        text = spec.loader.get_source(name)
        renamed = re.sub(r"(?<![\\w.])NAME\\b|(?<=\\.)NAME\\b", "NAME_renamed", text)
        spec.loader.get_code = lambda _name: compile(renamed, spec.origin, "exec")
        return spec
sys.meta_path.insert(0, Renaming())
from fractals.cli import run
sys.argv[1:] = ARGUMENTS
run()
"""


def draw(name, arguments, folder):
    """Draw with a name renamed, nothing compiled before; return what stderr says."""
    script = SCRIPT.replace("FILES", repr(FILES)).replace("ARGUMENTS", repr([*arguments]))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "NUMBA_CACHE_DIR": str(folder / f"compiled-{name}"),
    }
    done = subprocess.run(
        [sys.executable, "-c", script.replace("NAME", name or "no name")],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return a function that returns the bytes of a picture that is drawn as usual."""
    folder = tmp_path_factory.mktemp("usual")
    found = {}

    def picture(device):
        if device not in found:
            path = folder / f"{device}.png"
            words = "render", "seahorse", device, "--size", "24x16", "-o", str(path)
            assert "is not known" not in draw("", words, folder)
            found[device] = path.read_bytes()
        return found[device]

    return picture


@pytest.mark.parametrize("device", ["--cpu", "--gpu"])
@pytest.mark.parametrize("name", slow_but(["JITCodeLibrary"], NAMES))
def test_a_renamed_name_costs_time_alone(name, device, tmp_path, expected):
    path = tmp_path / "renamed.png"
    said = draw(name, ("render", "seahorse", device, "--size", "24x16", "-o", str(path)), tmp_path)
    assert path.read_bytes() == expected(device)
    assert len(re.findall("is not known to this version", said)) <= 1


def test_what_says_so_names_the_version_and_the_price(tmp_path):
    words = "render", "--size", "8x8", "--cpu", "-o", "small.png"
    said = draw("CompilerBase", words, tmp_path)
    assert re.search(r"Numba [\d.]+ is not known .* three times as long to compile", said)

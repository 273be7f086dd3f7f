"""The walls of ARCHITECTURE.md: who may import whom."""

import ast
import functools
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.sources import nodes_of, tree_of

import fractals
from fractals import catalog

PACKAGE = Path(fractals.__file__).parent
TESTS = Path(__file__).parent
ARCHITECTURE = (TESTS.parent / "ARCHITECTURE.md").read_text("utf-8")
# The packages and modules of ARCHITECTURE.md's table, from top to bottom.
ROOMS = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", ARCHITECTURE, re.MULTILINE)
APART = {"backends", "formulas", "color"}  # do not import each other
WINGS = {"lessons", "scatter", "space"}  # nothing else imports them, and they not each other
SOURCES = sorted(PACKAGE.rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAX_PARAMETERS = 12  # of a function, self and *args included


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


def every_file(check):
    """Return a test that applies a check to every file: a test for each would take longer."""

    def test():
        for path in SOURCES:
            check(path)

    test.__name__ = check.__name__
    return test


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def name_called(node):
    """Return the last part of the name of the function that a call calls, if it has one."""
    return getattr(node.func, "attr", None) or getattr(node.func, "id", "")


@functools.cache
def imports_of(path):
    """Return every module imported anywhere in a file, as dotted names.

    `from a import b` gives a.b, which may be a module or a name in one. Imports under TYPE_CHECKING
    and `importlib.import_module("a.b")` count.
    """
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and name_called(node) == "import_module":
            found |= {a.value for a in node.args if isinstance(a, ast.Constant)}
    return found


def modules_imported_by(path):
    """Return the modules of ours that a file imports."""
    found = set()
    for name in imports_of(path):
        if name.startswith("fractals."):
            found.add(name if name in MODULES else name.rpartition(".")[0])
    return found - {"fractals", module_of(path)}


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_room_is_in_the_table():
    assert len(ROOMS) <= 20
    rooms = {room(path) for path in SOURCES} - {"__init__", "__main__"}
    assert rooms == set(ROOMS)
    loose = [path for path in SOURCES if path.parent == PACKAGE]
    assert len(loose) <= 6


@every_file
def test_imports_point_downwards(path):
    here = room(path)
    if here in ("__init__", "__main__"):
        return
    for name in modules_imported_by(path):
        there = name.split(".")[1]
        assert ROOMS.index(here) <= ROOMS.index(there), f"{name_of(path)} imports {name}"
        assert here == there or not {here, there} <= APART, f"{name_of(path)} imports {name}"


@every_file
def test_no_file_imports_a_wing(path):
    """The catalog finds their plug-ins by name, and a kernel names the CPU's way to run it."""
    for name in modules_imported_by(path):
        there = name.split(".")[1]
        assert there not in WINGS or there == room(path), f"{name_of(path)} imports {name}"


def test_what_is_named_in_texts_exists():
    """The catalog and kernels name functions of wings as "module:function"."""
    named = re.compile(r"\"(fractals(?:\.\w+)+):(\w+)\"")
    found = {pair for path in SOURCES for pair in named.findall(path.read_text("utf-8"))}
    assert len(found) > 15
    for module, function in found:
        names = {getattr(node, "name", "") for node in tree_of(MODULES[module]).body}
        names |= {
            target.id
            for node in tree_of(MODULES[module]).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert function in names, f"{module}:{function}"


def test_no_files_import_each_other():
    graph = {name: modules_imported_by(path) for name, path in MODULES.items()}
    del graph["fractals"]  # it imports its public names on first use
    while graph:  # take away what imports nothing that is left: in the end a circle is left
        free = {name for name, imported in graph.items() if not imported & graph.keys()}
        assert free, f"these import each other, or one that does: {sorted(graph)}"
        for name in free:
            del graph[name]


# What makes a formula, a solid, a coloring or a format of a name, in a file that holds several.
MADE = re.compile(
    r"\b(?:Coloring|Format|Formula|Solid|compose|composed|folded|kaleidoscope)\(\s*(?:name=)?\"(\w+)\""
)


@pytest.mark.parametrize("kind", catalog.GROUPED)
def test_a_file_of_several_lists_what_it_makes(kind):
    """A name that is left out of FILES would not be found."""
    folder = PACKAGE / catalog.CODE[kind]
    listed = importlib.import_module(f"fractals.{catalog.CODE[kind].replace('/', '.')}").FILES
    for file, names in listed.items():
        assert sorted(MADE.findall((folder / f"{file}.py").read_text("utf-8"))) == sorted(names)
        assert set(names) <= set(catalog.names(kind))


def test_walls_can_fall(tmp_path):
    """What the walk reads: imports at the top, in functions, and of names."""
    file = tmp_path / "x.py"
    file.write_text(
        "import a.b\ndef f():\n    from fractals.cli import main\n    import numba as nb\n"
        "if TYPE_CHECKING:\n    from c import d\nimportlib.import_module('e.f')\n"
    )
    assert imports_of(file) == {"a.b", "fractals.cli.main", "numba", "c.d", "e.f"}


# What a wing, or films alone, compile for the CPU by hand.
MACHINE_CODE = re.compile(r"^(films|scatter|space)/cpu_\w+_code\.py$")


@every_file
def test_only_backends_import_numba(path):
    packages = {name.split(".")[0] for name in imports_of(path)}
    if room(path) != "backends" and not MACHINE_CODE.search(name_of(path)):
        assert not {"numba", "llvmlite"} & packages, name_of(path)
    if name_of(path) != "backends/cuda/numba_private.py":
        found = any(name.startswith("numba.cuda") for name in imports_of(path))
        assert not found, name_of(path)


TARGETS_AND_FILES = {"io", "os", "pathlib", "numba", "llvmlite", "PIL"}
COMPILED = (
    *("kernels/", "formulas/", "color/colorings/", "scatter/variations/", "space/solids/"),
    *(f"scatter/{name}.py" for name in ("attractor", "attractors", "buddhabrot")),
    *(f"scatter/{name}.py" for name in ("estimate", "formulas", "game")),
    *(f"space/{name}.py" for name in ("ground", "light", "march", "solid")),
)


def test_what_is_compiled_exists():
    assert all((PACKAGE / place).exists() for place in COMPILED)


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if name_of(path).startswith(COMPILED)], ids=name_of
)
def test_what_is_compiled_knows_no_target_and_no_files(path):
    """Kernels, formulas and colorings import arithmetic and each other."""
    assert not {name.split(".")[0] for name in imports_of(path)} & TARGETS_AND_FILES
    rooms = {name.split(".")[1] for name in modules_imported_by(path)}
    assert rooms <= {"kernels", "formulas", "catalog", "errors", name_of(path).split("/")[0]}


@every_file
def test_every_file_says_what_it_is_for(path):
    assert ast.get_docstring(tree_of(path)), name_of(path)


def parameters_of(function):
    """Return how many parameters a definition has; ``**keywords`` of a TypedDict is one."""
    given = function.args
    several = [given.vararg, given.kwarg]
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, several)])


def test_a_package_that_lists_its_files_lists_all():
    listing = 0
    for path in SOURCES:
        text = ast.get_docstring(tree_of(path)) or ""
        named = set(re.findall(r"\b\w+\.py\b", text))
        if path.name == "__init__.py" and len(named) > 2:
            there = {file.name for file in path.parent.glob("*.py")} - {path.name}
            assert named == there, name_of(path)
            listing += 1
    assert listing > 2


@every_file
def test_no_private_name_is_imported(path):
    """A name with an underscore belongs to its file, and such a file to its folder."""
    for node in nodes_of(path):
        module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
        if not (module or "").startswith("fractals."):
            continue
        folder = PACKAGE.parent / module.replace(".", "/")
        private = [each.name for each in node.names if each.name.startswith("_")]
        assert all((folder / f"{name}.py").exists() for name in private), name_of(path)


@every_file
def test_functions_have_few_parameters(path):
    for node in nodes_of(path):
        if isinstance(node, FUNCTIONS):
            assert parameters_of(node) <= MAX_PARAMETERS, f"{name_of(path)}: {node.name}"


def test_what_is_counted():
    """Keyword-only parameters count."""
    (function,) = ast.parse("def f(a, /, b, *c, d=1, **e): pass").body
    assert parameters_of(function) == 5


def test_one_file_names_the_module_that_compiles_for_a_gpu():
    """So a successor of numba-cuda is tried by one line."""
    holders = {
        name_of(path)
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value == "numba.cuda"
    }
    assert holders == {"backends/cuda/kernel.py"}


def options_of_pythons(path):
    """Return what follows `sys.executable` in each list of arguments of a file."""
    if "sys.executable" not in path.read_text("utf-8"):
        return
    for node in nodes_of(path):
        words = getattr(node, "elts", None) or getattr(node, "args", None)
        words = [ast.unparse(word) for word in words] if isinstance(words, list) else []
        if "sys.executable" in words:
            yield words[words.index("sys.executable") + 1]


def test_processes_import_nothing_from_the_current_folder():
    """Python's -m and -c look there first, for modules of the standard library, too."""
    found = {option for path in SOURCES for option in options_of_pythons(path)}
    assert "'-P'" in found
    assert {option for option in found if option.startswith("'-")} == {"'-P'"}


def test_the_oracle_is_independent():
    packages = {name.split(".")[0] for name in imports_of(TESTS / "oracle" / "naive.py")}
    assert packages == {"mpmath"}
    packages = {name.split(".")[0] for name in imports_of(TESTS / "oracle" / "naive_colorings.py")}
    assert packages == {"cmath", "itertools", "math"}


def loaded_by(statement):
    """Return the packages that a fresh interpreter has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_is_quick():
    heavy = {"numba", "llvmlite", "numpy", "PIL", "rich", "click", "gmpy2"}
    assert not loaded_by("import fractals") & heavy


def test_numba_waits_for_a_backend():
    """Choosing among CPU and GPUs is done before Numba is imported."""
    assert "numba" not in loaded_by("import fractals.rendering.render")
    assert "numba" not in loaded_by("from fractals.backends import devices; devices.choose('auto')")
    assert "numba" not in loaded_by(
        "import fractals; fractals.render({'image': {'size': [2, 2]}}, device='python')"
    )


def test_a_png_is_written_without_pillow(tmp_path):
    path = str(tmp_path / "a.png")
    drawn = f"fractals.render_to({path!r}, 'seahorse', size=(2, 2), device='python')"
    assert "PIL" not in loaded_by(f"import fractals; {drawn}")


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
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    seen.pop("Any")
    assert seen == {name: f"fractals.{home}" for name, home in fractals._HOMES.items()}


def test_public_functions_and_classes_are_documented():
    """In their own source: dataclasses and instances have a __doc__ that nobody wrote."""
    for name, home in fractals._HOMES.items():
        tree = ast.parse(MODULES[f"fractals.{home}"].read_text("utf-8"))
        (node,) = (node for node in tree.body if getattr(node, "name", None) == name)
        text = ast.get_docstring(node)
        assert text, f"{name} of fractals.{home} has no docstring"
        if isinstance(node, FUNCTIONS):
            sections = ["Parameters", "Raises"] if parameters_of(node) else []
            if ast.unparse(node.returns) != "None":
                sections.append("Returns")
            for section in sections:
                assert f"{section}\n---" in text, f"{name} of fractals.{home}: {section}"


def test_a_class_name_is_used_once():
    """Whoever searches for a type finds one."""
    homes: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(name_of(path))
    doubles = {name for name, files in homes.items() if len(files) > 1}
    assert doubles == set()

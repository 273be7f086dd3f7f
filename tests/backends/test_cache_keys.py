"""What compiled code is known by: the text of the modules that a program is made of.

A key that knows too few modules runs old code, so the modules are found here in other ways, too: by
Python's parser and importer, by a walk over the functions that a program is made of, and by what
runs while a program is compiled.
"""

import ast
import dataclasses
import functools
import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.compiled_code import programs_in

import fractals
from fractals import catalog
from fractals.backends import cache_folder, code_cache, sources
from fractals.backends.cpu import fast, programs
from fractals.backends.cpu.programs import program_of
from fractals.backends.cuda import kernel
from fractals.backends.wasm import CallRecorder
from fractals.color.colorings import averages
from fractals.films.cpu_frame import FRAMES
from fractals.formulas import own
from fractals.formulas.powers import mandelbrot
from fractals.kernels import escape, perturb, shade
from fractals.scatter import cpu_game
from fractals.space import cpu_ray_lists, march

PACKAGE = Path(fractals.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# Of the rest of the package a program may only import what asks for errors, names and threads.
HOST = {f"fractals.{name}" for name in ("errors", "threads", "catalog", "color", "films")}
COMPILED = r"fractals\.(kernels|formulas|color\.colorings|backends|scatter|space|films\.cpu_\w+)\b"
# Files of the wings that plan, play, show and store, and are never compiled.
PLANNING = "family", "plan", "play", "show", "refine", "cells", "files", "store", "trace", "relief"


def paint():
    return program_of(fast.PAINT, "float64", (1,))


def direct():
    options = escape.EscapeOptions(mandelbrot())
    return program_of(fast.DIRECT, "float64", (options,), packed=True)


def deep(formula=None, **options):
    usual = {"julia": False, "derivative": False, "floatexp": False}
    options = perturb.PerturbOptions(formula or mandelbrot(), **usual | options)
    return program_of(fast.PACKETS, "float64", (options,))


def flame():
    (variation,) = catalog.load_formula("flame")().variations
    return program_of(cpu_game.LOOP, "float64", (variation,))


def walk_of(name):
    return catalog.load_formula(name)().walk


PROGRAMS = {
    "direct": direct,
    "deep": deep,
    "paint": paint,
    "flame": flame,
    "solid": lambda: program_of(cpu_ray_lists.PATHS, "float64", (False,), long=True),
    "film frame": lambda: program_of(FRAMES, "float64"),
    "a flame's machine": lambda: program_of(cpu_game.MACHINE, "float64"),
    "orbits of a Buddhabrot": lambda: program_of(
        cpu_game.ORBIT_MACHINE,
        "float64",
        (*catalog.load_formula("buddhabrot")().kernel_of(False)[1:], True),
        packed=True,
    ),
    "a solid's rays": lambda: program_of(
        cpu_ray_lists.WALK, "float64", (walk_of("mandelbulb"), 2), packed=True
    ),
    "an own formula": lambda: deep(own.expression("absx(z)^2 + c")),
    "a plain loop": lambda: program_of(
        escape.make_body, "float32", (escape.EscapeOptions(mandelbrot()),), loop=True
    ),
    "a coloring": lambda: program_of(
        fast.PLACE,
        "float64",
        (shade.ValueOptions(averages.stripe_average()), shade.PlaceOptions()),
    ),
    "a tile": lambda: program_of("fractals.backends.cpu.tile_code:make_keep", "float64"),
    "a page": lambda: CallRecorder("float64").program(fast.PAINT, "float64", (1,)),
    "a kernel": lambda: kernel.card_program(
        "float64", escape.make_body, (escape.EscapeOptions(mandelbrot()),)
    ),
}


class Found(Exception):
    """Ends a program as soon as its key is asked for: nothing is compiled."""


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """Return a function that returns the module that compiles a program, and its identity."""
    monkeypatch.setattr(code_cache, "folder", lambda: str(tmp_path))
    store_of = code_cache._store

    def found(maker, identity, text):
        raise Found(maker, identity, store_of(maker, identity, text))

    def asked(make):
        code_cache.forget_programs()
        with monkeypatch.context() as changed:
            changed.setattr(code_cache, "_store", found)
            with pytest.raises(Found) as caught:
                make()
        return caught.value.args

    return asked


# --- The modules of a program, as Python itself finds them


@functools.cache
def is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # within a module that is no package
        return False


def imports_in(node):
    """Yield the imports of a text, which are statements: no expression has one."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, block, ()):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                yield statement
            else:
                yield from imports_in(statement)


@functools.cache
def imported_by(module):
    """Return the modules that a module's text imports, in Python's words."""
    found = {module.rpartition(".")[0]}
    for node in imports_in(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert not node.level, f"{module} imports from '.': write the package's name"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = {name for name in names if name.startswith("fractals.") and is_module(name)}
            # Other names of the package are those of modules that it imports when it is asked.
            assert node.module != "fractals" or names - inner <= {"fractals.__version__"}, module
            found |= {node.module, *inner}
    parents = {name.rpartition(".")[0] for name in found}
    return {name for name in found | parents if name.startswith("fractals.")}


def closure_of(names):
    found, left = set(), set(names)
    while left:
        name = left.pop()
        found.add(name)
        left |= imported_by(name) - found
    return found


def named_in(value, seen=()):
    """Yield the modules of all functions and types within the identity of a program."""
    if isinstance(value, str):
        if re.fullmatch(r"fractals\.[\w.]+:\w+", value):
            yield value.partition(":")[0]
    elif isinstance(value, types.FunctionType):
        yield value.__module__
        for cell in value.__closure__ or ():
            yield from named_in(cell.cell_contents)
    elif isinstance(value, Mapping):
        yield type(value).__module__
        yield from named_in([*value.items()])
    elif isinstance(value, tuple | list):
        yield type(value).__module__
        for part in value:
            yield from named_in(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__module__
        yield from named_in([getattr(value, field.name) for field in dataclasses.fields(value)])
    elif isinstance(value, type):
        yield value.__module__


def expected(maker, identity):
    named = {name for name in named_in(identity) if name.startswith("fractals.")}
    return closure_of({maker, *named})


def test_imports_are_found_as_python_finds_them():
    """A module's text is searched for imports, as its parser would take too long."""
    for module in set(MODULES) - {"fractals"}:
        assert {*sources.closure({module})} == closure_of({module}), module


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("from fractals.kernels.escape import make_body", "kernels.escape"),
        ("    from fractals.kernels import escape, shade as s", "kernels.escape kernels.shade"),
        ("import math, fractals.kernels.escape", "kernels.escape"),
        ("import fractals.kernels.escape as e  # a comment", "kernels.escape"),
        ("from fractals import (\n    catalog,\n    errors,\n)", "catalog errors"),
        (
            "from fractals.kernels import (  # one (of them)\n    escape,  # )\n    shade,\n)",
            "kernels.escape kernels.shade",
        ),
        ("from fractals.errors import shown\nimport fractals\n", "errors"),
        ("# from fractals.kernels import escape\nx = 'import fractals.errors'", ""),
    ],
)
def test_all_ways_of_importing_are_known(text, modules, tmp_path, monkeypatch):
    package = tmp_path / "fractals"
    (package / "kernels").mkdir(parents=True)
    for name in (
        "__init__",
        "catalog",
        "errors",
        "kernels/__init__",
        "kernels/escape",
        "kernels/shade",
    ):
        shutil.copy(PACKAGE / f"{name}.py", package / f"{name}.py")
    (package / "kernels" / "new.py").write_text(text)
    use_package(monkeypatch, package)
    found = sources._read("fractals.kernels.new").imports
    assert {*found} == {"fractals.kernels", *(f"fractals.{name}" for name in modules.split())}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_made_of_few_modules_of_the_rest(name, ask):
    """Commands, panels and readers are not among them, or each of their edits would compile."""
    maker, identity, store = ask(PROGRAMS[name])
    modules = expected(maker, identity)
    assert {str(MODULES[module]) for module in modules} == {*store._sources.files}
    others = {
        module
        for module in modules - HOST
        if not re.match(COMPILED, module) or module.endswith(tuple(f".{name}" for name in PLANNING))
    }
    assert not others


# --- An edit of a module


def use_package(monkeypatch, package):
    """Have the text of modules read in another folder."""
    monkeypatch.setattr(sources, "PACKAGE", package)
    # The files of the folder are newer than this process.
    monkeypatch.setattr(fractals, "_BEGAN", math.inf)
    forget_sources()


def forget_sources():
    """Begin anew, as another process would: see `tests/backends/test_source_notes.py`."""
    for known in (sources._read, sources._sources, sources._file, code_cache._notes_in):
        known.cache_clear()
    sources.notes = sources.Notes()


def ask_the_notes():
    """Begin anew with what is noted: of all files the state is asked for, and the changed read."""
    for known in (sources._read, sources._sources):
        known.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the folder of a copy of the package, whose text is read."""
    copy = tmp_path / "copy" / "fractals"
    shutil.copytree(
        PACKAGE,
        copy,
        ignore=lambda folder, names: [
            name for name in names if not name.endswith(".py") and not Path(folder, name).is_dir()
        ],
    )
    use_package(monkeypatch, copy)
    yield copy
    monkeypatch.undo()
    forget_sources()
    cache_folder.take_messages()  # about the copy: otherwise the next picture warns of them


def test_an_edit_changes_the_keys_of_the_programs_that_are_made_of_it(package, ask, monkeypatch):
    """Of each module: one byte more, and nothing is compiled."""
    monkeypatch.setattr(sources, "NEW", 0)  # each edit has another size than what is noted
    asked = {name: ask(make) for name, make in PROGRAMS.items()}
    texts = {
        name: code_cache._text(identity, code_cache._Parts())
        for name, (_, identity, _) in asked.items()
    }
    modules = {name: expected(maker, identity) for name, (maker, identity, _) in asked.items()}
    before = {name: store.folder for name, (_, _, store) in asked.items()}
    changed = {name: set() for name in PROGRAMS}
    for module, path in MODULES.items():
        file = package / path.relative_to(PACKAGE)
        text = file.read_bytes()
        file.write_bytes(text + b"\n")
        ask_the_notes()
        for name, (maker, identity, _) in asked.items():
            store = code_cache._store(maker, identity, texts[name])
            if store.folder != before[name]:
                changed[name].add(module)
        file.write_bytes(text)
    assert changed == modules
    forget_sources()
    for name, (maker, identity, _) in asked.items():  # the edits are undone
        assert code_cache._store(maker, identity, texts[name]).folder == before[name]


def test_a_formula_that_was_drawn_before_keeps_its_modules(ask):
    """The text of a formula is found once, and names its modules still."""
    first, second = (ask(direct)[2] for _ in range(2))
    assert first._text == second._text
    assert str(MODULES["fractals.formulas.powers"]) in second._sources.files


# --- What can't be read, and what changes while a process runs


def test_of_what_cannot_be_read_the_whole_package_counts(package, ask):
    whole = ask(paint)[2]
    (package / "backends" / "cpu" / "pixels.py").unlink()
    (package / "kernels" / "shade.py").unlink()
    forget_sources()
    less = ask(paint)[2]
    assert less.folder != whole.folder
    assert len(less._sources.files) == len(MODULES) - 2
    (package / "cli" / "keys.py").write_text("another text")
    forget_sources()
    assert ask(paint)[2].folder != less.folder


def test_without_any_text_nothing_is_kept(package, ask):
    """As in an archive, or where only bytecode is installed."""
    shutil.rmtree(package)
    forget_sources()
    assert ask(paint)[2] is None
    assert sources.source_digest() == ""


@pytest.mark.parametrize("when", ["before it is asked for", "before it is saved", "removed"])
def test_code_of_a_module_that_changed_while_it_runs_is_not_kept(when, package, ask, monkeypatch):
    """What runs here may be the former text."""
    file = package / "kernels" / "shade.py"
    cache_folder.take_messages()
    monkeypatch.setattr(fractals, "_BEGAN", newest(package) + 1e-3)
    store = ask(paint)[2]
    assert store
    while newest(package) <= fractals._BEGAN:
        file.write_text(file.read_text() + "\n")
    if when == "removed":
        file.unlink()
    if when == "before it is asked for":
        assert ask(paint)[2] is None
    store.save("key", b"code")
    assert not Path(store.folder).exists()
    (line,) = cache_folder.take_messages()
    assert str(file) in line


@pytest.mark.parametrize(
    ("began", "now", "kept"),
    [
        (-3, -3, True),  # days: the clock was set back before this process began
        (-3, -0.5, False),  # the clock of a file server is ahead
        (-0.001, 0.001, False),  # a file was changed after it began
        (0.001, 0.002, True),
        (-0.001, -3, False),  # the clock was set back since it began
    ],
)
def test_code_is_kept_though_the_clock_was_set_back(package, ask, monkeypatch, began, now, kept):
    store, changed, day = ask(paint)[2], newest(package), 86_400
    assert store
    monkeypatch.setattr(fractals, "_BEGAN", changed + began * day)
    monkeypatch.setattr("time.time", lambda: changed + now * day)
    assert bool(ask(paint)[2]) == kept


def newest(folder):
    times = (path.stat() for path in folder.rglob("*.py"))
    return max(max(time.st_mtime, time.st_ctime) for time in times)


@pytest.mark.parametrize("module", [fractals, fractals.kernels])
def test_a_program_with_a_package_of_ours_is_not_kept(module):
    """Its modules are not all imported by the package."""

    def step(x):
        return module.primitives.fma(x, x, x)

    parts = code_cache._Parts()
    code_cache._text(step, parts)
    assert parts.unknown == [module]


# --- What a program is really made of


def functions_within(value, found):
    """Add the functions that a compiler meets from a value on, as it looks names up."""
    if isinstance(value, tuple | list):
        for part in value:
            functions_within(part, found)
    value = getattr(value, "py_func", getattr(value, "_defn", value))
    if not isinstance(value, types.FunctionType) or value in found:
        return
    found.add(value)
    for cell in value.__closure__ or ():
        functions_within(cell.cell_contents, found)
    names = code_cache._names(value.__code__)
    for known in (value.__globals__.get(name) for name in names):
        functions_within(known, found)
        if isinstance(known, types.ModuleType) and known.__name__.startswith("fractals."):
            for name in names:
                functions_within(getattr(known, name, None), found)


def made_bodies():
    """Yield program bodies as `identity, maker of the body`, of all that the catalog offers."""
    for name in catalog.names("formula"):
        formula = catalog.load("formula", name)()
        options = escape.EscapeOptions(formula, derivative=bool(formula.derivative))
        yield name, escape.make_body, (options,)
        if formula.perturbed:
            yield name, perturb.make_body, (perturb.PerturbOptions(formula, False, True, True),)
    for name in catalog.names("coloring"):
        coloring = catalog.load("coloring", name)()
        yield name, shade.make_value_body, (shade.ValueOptions(coloring),)
    for name in catalog.names("solid"):
        yield name, march.make_first_body, (walk_of(name),)
    yield "flame", cpu_game.MACHINE, ()
    for name in catalog.names("variation"):
        table = {"transforms": [{"variations": {name: 1.0}}]}
        for variation in catalog.load_formula("flame")(**table).variations:
            yield name, cpu_game.LOOP, (variation,)
    for name in catalog.names("attractor"):
        yield name, cpu_game.ATTRACTOR_LOOP, (catalog.load_formula(name)().mover,)
    for name in (fast.PAINT, FRAMES):
        yield name, name, (1,) if name == fast.PAINT else ()


def test_the_functions_of_a_program_are_in_its_modules():
    from fractals.backends.cpu.target import cpu_target

    target, checked = cpu_target("float64"), 0
    for name, make_body, options in made_bodies():
        text = code_cache._text(("cpu", make_body, *options), code_cache._Parts())
        modules = {*sources.closure({*sources._NAMED.findall(text), programs.__name__})}
        if isinstance(make_body, str):
            module, _, function = make_body.partition(":")
            make_body = getattr(importlib.import_module(module), function)
        found = set()
        functions_within(make_body(target, *options), found)
        met = {function.__module__ for function in found}
        assert {module for module in met if module.startswith("fractals.")} <= modules, name
        checked += len(found)
    assert checked > 5000


COMPILE = """
import sys
import fractals
from fractals.backends import code_cache, sources
from fractals.backends.cpu import programs

compiled, count = programs._compiled, 0

def watched(what, kinds):
    global count
    make_body, number, options, _ = what
    met = set()

    def called(frame, event, _):
        if event == "call":
            met.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(called)
    try:
        made = compiled(what, kinds)
    finally:
        sys.setprofile(None)
    text = code_cache._text((number, make_body, *options), code_cache._Parts())
    known = sources.sources_of(text, programs.__name__).files
    ours = {{name for name in met if name.startswith("fractals.")}}
    assert len(ours) > 5, ours
    missing = {{name for name in ours if sources._file(name) not in known}}
    assert not missing, (make_body, missing)
    count += 1
    return made

programs._compiled = watched
{code}
assert count
"""
CODE = {
    "paint": """
from fractals.backends.cpu.fast import PAINT
programs.program_of(PAINT, "float64", (1,)).entry(programs.color_layout("uint8"))
""",
    "film frame": """
dive = fractals.film("seahorse", to="1e-2", seconds=0.5, fps=4, size=(16, 8), device="cpu")
dive.save("a.gif")
""",
    "direct": "fractals.compute(size=(8, 6), max_iterations=50, device='cpu')",
    "deep": "fractals.compute(size=(8, 6), width='1e-20', max_iterations=50, device='cpu')",
    "flame": "fractals.render(formula='flame', size=(8, 6), quality=1, device='cpu')",
    "solid": "fractals.render(formula='mandelbulb', size=(8, 6), device='cpu')",
}


@pytest.mark.parametrize(
    "name",
    [name if name == "paint" else pytest.param(name, marks=pytest.mark.slow) for name in CODE],
)
def test_what_runs_while_a_program_is_compiled_is_among_its_modules(name, tmp_path):
    script = COMPILE.format(code=CODE[name])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


# --- Starts of the program


DRAW = """
import hashlib
import fractals
from fractals.backends.cpu import backend
backend.FUSED = False  # plain loops, which compile sooner
small = {"size": (24, 16), "max_iterations": 60, "supersampling": 1}
raw = fractals.compute(**small, device="python")
pixels = fractals.recolor(raw, device="cpu").pixels
print(fractals.__file__, hashlib.sha256(pixels.tobytes()).hexdigest())
"""


def drawn(home, cache):
    """Return the digest of a picture that a copy of the package draws in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", DRAW],
        cwd=home,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(home)},
        check=True,
        capture_output=True,
        text=True,
    )
    file, digest = done.stdout.split()
    assert Path(file).parent == home / "fractals"
    return digest


def edit(home, name, before, after):
    file = home / "fractals" / name
    text = file.read_text("utf-8")
    assert before in text
    # The length changes, too: Python knows its bytecode by the second and the length.
    file.write_text(text.replace(before, after, 1), "utf-8")


def test_an_edit_compiles_what_it_changes(tmp_path):
    """Two versions of the package draw at once; then one is edited."""
    cache, one, two = (tmp_path / name for name in ("cache", "one", "two"))
    for home in (one, two):
        shutil.copytree(PACKAGE, home / "fractals")
    primitive = "kernels/elementary.py", "2 / math.log(2) / k", "2.125 / math.log(2) / k"
    edit(two, *primitive)
    with ThreadPoolExecutor(2) as pool:
        first, other = pool.map(drawn, (one, two), (cache, cache))
    assert first != other
    files = programs_in(cache)
    for name in ("cli/render.py", "explorer/filming.py", "io/png.py", "formulas/texts.py"):
        edit(one, name, "\n\n\n", "\n\nEDITED = 1\n\n\n")
    assert drawn(one, cache) == first
    edit(one, *primitive)
    assert drawn(one, cache) == other
    edit(one, primitive[0], *reversed(primitive[1:]))
    assert drawn(one, cache) == first
    assert programs_in(cache) == files


# --- Runs of the tests


@pytest.mark.parametrize(
    ("cold", "worker", "kept"), [(False, False, True), (True, False, False), (True, True, True)]
)
def test_a_cold_run_begins_with_an_empty_folder(cold, worker, kept, request, monkeypatch):
    """Its first process sets the folder, and those that it starts inherit it."""
    folders = request.config.pluginmanager.get_plugin("tests.support.folders")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "kept")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    if worker:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    given = types.SimpleNamespace(cold=cold)
    folders.pytest_load_initial_conftests(types.SimpleNamespace(known_args_namespace=given))
    assert os.environ["NUMBA_CACHE_DIR"] == ("kept" if kept else folders.EMPTY.name)

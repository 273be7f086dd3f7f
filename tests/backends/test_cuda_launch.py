"""How a GPU's kernels are kept, loaded and launched without a compiler, and what may go wrong.

The calls of the driver, and the modules that a process has imported, are counted; times are not.
"""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import GPU
from support.cards import RENDER, command, pixels_of, python, stand_in

import fractals
from fractals.backends import code_cache
from fractals.backends.cuda.kernel import CardProgram
from fractals.backends.cuda.launch import LoadedKernels
from fractals.backends.devices import choose, open_backend

pytestmark = [*GPU.marks, pytest.mark.unwatched]

# --- Programs without a compiler

# `cuda` alone is imported by each start of a Python that has NVIDIA's bindings for CUDA 12.
COMPILERS = ("numba", "llvmlite", "numba_cuda", "cuda.core", "cuda.bindings")
COMPILED = {*COMPILERS} - {"llvmlite"}  # that is imported to ask what the processor is called, too
# Runs a command line, and writes what the process has imported.
LISTED = f"""
import atexit, os, sys

def write(code=0):
    found = sys.modules.keys() & set({COMPILERS!r})
    open("modules", "w").write(" ".join(sorted(found)) or "none")
    end(code)

end, os._exit = os._exit, write
atexit.register(write)
sys.argv = ["fractals", *sys.argv[1:]]
from fractals.cli import run
run()
"""
FLAME = """
formula.name = "flame"
image.size = [32, 24]
scatter = { quality = 2, steps = 20 }
[[formula.transforms]]
affine = [0.7, 0.3, 0.4, -0.3, 0.7, 0]
variations = { linear = 0.9 }
[[formula.transforms]]
affine = [0.5, 0, 1, 0, 0.5, 0]
variations = { spherical = 0.6 }
"""
FILM = ("film", "--center=-0.743643887037151,0.131825904205330", "--size", "32x24", "--fps", "2")
DRAWN = {
    "picture": ("render", "--size", "32x18", "--max-iterations", "200", "-o", "a.png"),
    "deep": ("render", "--size", "32x18", "--width", "1e-20", "-n", "500", "-o", "a.png"),
    "film": (*FILM, "--to", "1e-6", "--seconds", "2", "-n", "100", "-o", "a.webp"),
    "flame": ("render", "flame.toml", "-o", "a.png"),
    "solid": (
        *("render", "--formula", "mandelbulb", "--size", "16x12", "--samples", "2", "-o", "a.png"),
    ),
}
# A view of the explorer, drawn as by its drawing thread.
EXPLORED = f"""
import sys, threading
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView
from fractals.io.load import load_scene

engine, ended, failed = Engine("cuda"), threading.Event(), []

def fail(line):
    failed.append(line)
    ended.set()

class View(ClientView):
    def send_drawn(self, name, seconds, **facts):
        if name == "exact":
            ended.set()

keys = {{"size": (24, 16), "max_iterations": 60, "supersampling": 1}}
view = View(key=(engine,), make=View.passes, priority=VIEW, engine=engine,
    scene=load_scene({{}}, **keys), frame=1, paint=0, failed=fail)
engine.submit(view)
assert ended.wait(240)
engine.end()
found = sys.modules.keys() & set({COMPILERS!r})
open("modules", "w").write(" ".join(sorted(found)) or "none")
assert not failed, failed
"""


@stand_in
@pytest.mark.parametrize("kind", [*DRAWN, "view"])
def test_a_warm_start_imports_no_compiler(tmp_path, kind):
    (tmp_path / "flame.toml").write_text(FLAME)
    for _ in range(2):
        if kind == "view":
            ended = python(tmp_path, "-c", EXPLORED)
        else:
            words = (*DRAWN[kind], "--overwrite", "--device", "cuda")
            ended = python(tmp_path, "-c", LISTED, *words)
        assert ended.returncode == 0, ended.stderr
        assert "Traceback" not in ended.stderr
    assert (tmp_path / "modules").read_text() == "none"


# Draws a picture, and writes its kernels to a file as scripts/prebuilt_gpu.py does.
SHIPPED = """
import sys
from pathlib import Path
from fractals.backends import shipped
from fractals.backends.cuda import kernel

contents, compile = {}, kernel.CardProgram._compiled

def compiled(program, layout, capability, arguments):
    name, code = compile(program, layout, capability, arguments)
    store, key = program._store, kernel.key_of(layout)
    others = {(7, 5): b"for another card"}
    data = kernel.compressed(name, others | {capability: code})
    contents[store.place(key)] = store.content(key, data)
    return name, code

kernel.CardProgram._compiled = compiled
import fractals
fractals.render(size=(32, 18), max_iterations=200, device="cuda")
Path(sys.argv[1]).write_bytes(shipped.packed(contents))
"""
# Then draws it in a process whose package has that file.
BROUGHT = """
from pathlib import Path
from fractals.backends import shipped
shipped.FOLDER = Path("brought")
"""


@stand_in
def test_a_first_start_with_kernels_of_the_package_imports_no_compiler(tmp_path):
    """Nothing is in the user's cache; a picture of another kind is compiled.

    LLVM is asked what the processor is called, once for each start of the machine.
    """
    (tmp_path / "brought").mkdir()
    file = tmp_path / "brought" / "cuda.code"
    first = {"NUMBA_CACHE_DIR": str(tmp_path / "first")}
    made = python(tmp_path, "-c", SHIPPED, str(file), variables=first)
    assert made.returncode == 0, made.stderr
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "empty"), "FRACTALS_PREBUILT": "1"}
    for more, compiler in (((), set()), (("--coloring", "count"), COMPILED)):
        words = (*RENDER, *more, "-o", "a.png", "--overwrite")
        ended = python(tmp_path, "-c", BROUGHT + LISTED, *words, variables=variables)
        assert ended.returncode == 0, ended.stderr
        assert "compiled anew" not in ended.stderr
        modules = {*(tmp_path / "modules").read_text().split()}
        assert modules - {"llvmlite", "none"} == compiler
        keys = {"size": (32, 18), "max_iterations": 200, "device": "cpu"}
        coloring = {"coloring": "count"} if more else {}
        assert np.array_equal(pixels_of(tmp_path), fractals.render(**keys, **coloring).pixels)


@stand_in
def test_a_driver_that_fails_in_its_thread_is_answered_once(tmp_path):
    ended = command(tmp_path, *RENDER, fail="cuInit:1-:999")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (4, 1)
    assert "the driver has failed: restart the machine" in ended.stderr


# --- Launches


class Inner(NamedTuple):
    table: Any
    small: Any


class Outer(NamedTuple):
    inner: Inner
    flag: Any
    half: Any


def make_told_body(target):
    """Return a body that writes each of its arguments into a row of `out`."""

    def body(x, y, dx, dy, out, first, outer, pair, whole):
        for j in range(y, out.shape[0], dy):
            for i in range(x, out.shape[1], dx):
                table = outer.inner.table
                out[j, i] = first + 10 * table[j, i] + 1000 * outer.inner.small
                if outer.flag:
                    out[j, i] += outer.half + 10000 * pair[0] + 100000 * pair[1] + whole

    return body


SMALLS = (np.int8(-3), np.uint8(200), np.int16(-300), np.uint16(60000), np.uint32(2**32 - 1))


@pytest.fixture
def backend():
    return open_backend(choose("cuda").device, "float64")


def told(backend, small, flag, run=None):
    """Return what the body wrote, and what it should have written."""
    table = np.arange(35, dtype=np.int32).reshape(5, 7)
    out, run = backend.empty((5, 7), np.float64), run or backend.compile(make_told_body)
    outer = Outer(Inner(backend.to_device(table), small), flag, np.float32(0.25))
    run(out, np.int64(-(2**40)), outer, (3, 2.5), -7)
    found = np.empty((5, 7))
    backend.to_host(out, found)
    expected = -(2.0**40) + 10.0 * table + 1000.0 * float(small)
    return found, expected + (0.25 + 30000 + 250000 - 7 if flag else 0)


@pytest.mark.parametrize("small", SMALLS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("flag", [True, np.bool_(False)])
def test_numbers_of_each_size_arrive(backend, small, flag):
    found, expected = told(backend, small, flag)
    assert np.array_equal(found, expected)


def test_arguments_that_launches_have_in_common_are_given_once(backend):
    bound = backend.compile(make_told_body).bound((3, 2.5), -7)
    for small in (np.uint8(1), np.uint8(7)):
        found, expected = told(backend, small, True, lambda *arguments: bound(*arguments[:3]))
        assert np.array_equal(found, expected)


def make_sum_body(target):
    def body(x, y, dx, dy, out, columns, rows):
        for j in range(y, out.shape[0], dy):
            for i in range(x, out.shape[1], dx):
                out[j, i] = columns[1, i] + rows[0, j]

    return body


@pytest.mark.parametrize("first", [0, 1, 4])
def test_parts_of_arrays_arrive_without_a_copy(backend, first):
    columns, rows = np.arange(14.0).reshape(2, 7), 100 * np.arange(22.0).reshape(2, 11)
    whole = [backend.to_device(each) for each in (columns, rows)]
    out = backend.empty((3, 5, 2), np.float64)[1].reshape(5, 2)
    backend.compile(make_sum_body)(out, *(each.from_column(first) for each in whole))
    found = np.empty((5, 2))
    backend.to_host(out, found)
    assert np.array_equal(
        found, columns[1, first : first + 2] + rows[0, first : first + 5, np.newaxis]
    )


# --- Kernels that a GPU keeps


def make_scaled_body(target, scale):
    def body(x, y, dx, dy, out, first):
        for j in range(y, out.shape[0], dy):
            for i in range(x, out.shape[1], dx):
                out[j, i] = scale * (first + i)

    return body


class Few:
    """Programs on a GPU that keeps four kernels; `loaded` and `unloaded` are modules."""

    def __init__(self, backend, monkeypatch):
        self.backend, self.loaded, self.unloaded = backend, [], []
        gpu = backend.slot.gpu
        monkeypatch.setattr("fractals.backends.cuda.launch.MAX_KERNELS", 4)
        monkeypatch.setattr(gpu, "kernels", LoadedKernels(gpu))
        ask, unload = gpu.driver.ask, gpu.driver.cuModuleUnload

        def asked(name, *arguments, **more):
            found = ask(name, *arguments, **more)
            if name == "cuModuleLoadData":
                self.loaded.append(found)
            return found

        def unloads(module):
            self.unloaded.append(module)
            unload(module)

        monkeypatch.setattr(gpu.driver, "ask", asked)
        monkeypatch.setattr(gpu.driver, "cuModuleUnload", unloads)
        code_cache.forget_programs()  # their kernels may be loaded
        self.programs = [backend.compile(make_scaled_body, float(k)) for k in range(7)]

    def run(self, k, first=1):
        """Run a program, and check what it wrote."""
        out, found = self.backend.empty((3, 20), np.float64), np.empty((3, 20))
        self.programs[k](out, first)
        self.backend.to_host(out, found)
        assert (found == k * (first + np.arange(20.0))).all()


@pytest.fixture
def few(backend, monkeypatch):
    return Few(backend, monkeypatch)


def test_a_gpu_keeps_no_more_kernels_than_it_may(few):
    """Those that come again are loaded again."""
    for turn in range(3):
        for k in range(7):
            few.run(k, turn)
            assert len(few.loaded) - len(few.unloaded) <= 4
    assert len(few.loaded) > 14
    assert len({*few.unloaded}) == len(few.unloaded)
    assert {*few.unloaded} < {*few.loaded}


def test_kernels_in_use_stay(few):
    few.run(0)
    for turn in range(2):
        for k in range(1, 7):
            few.run(k)
            few.run(0, turn)
    assert few.unloaded
    assert few.loaded[0] not in few.unloaded


def test_threads_launch_while_others_unload(few):
    """Each has seven programs, of which two are loaded besides those of the others' launches."""
    for k in range(7):
        few.run(k)

    def launch_all(own):
        for turn in range(6):
            for k in range(7):
                few.run((own + k * (1 + own)) % 7, turn)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(launch_all, range(3)))
    assert few.unloaded
    assert len({*few.unloaded}) == len(few.unloaded)


def test_a_kernel_that_is_kept_nowhere_is_compiled_once(few, monkeypatch):
    monkeypatch.setattr(code_cache, "_store", lambda *arguments: None)
    code_cache.forget_programs()
    compiled, real = [], CardProgram._compiled
    monkeypatch.setattr(CardProgram, "_compiled", lambda *given: compiled.append(1) or real(*given))
    few.programs = [few.backend.compile(make_scaled_body, float(k)) for k in range(6)]
    for k in (*range(6), *range(6)):
        few.run(k)
    assert len(compiled) == 6
    assert len(few.loaded) > 8


FEW = """
import sys
import fractals
from fractals.backends.cuda import launch

launch.MAX_KERNELS = 2
keys = {"size": (32, 18), "max_iterations": 200, "device": "cuda"}
try:
    for _ in range(2):
        print(fractals.render(**keys).pixels.tobytes().hex(), end="")
except fractals.FractalsError as error:
    sys.exit(str(error))
"""


@stand_in
def test_a_picture_of_more_kernels_than_a_gpu_keeps(tmp_path):
    """Its bits are the same, also where work is late. Each of three threads holds a kernel."""
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels.tobytes()
    profile = tmp_path / "profile"
    ended = python(tmp_path, "-c", FEW, profile=profile, order="late")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == 2 * expected.hex()
    asked = calls(profile)
    assert asked["cuModuleLoadData"] - asked["cuModuleUnload"] <= 2 + 2
    assert asked["cuModuleUnload"] > 1


@stand_in
@pytest.mark.parametrize("code", [719, 400])
@pytest.mark.parametrize("function", ["cuModuleUnload", "cuCtxSynchronize"])
def test_a_kernel_that_can_not_be_unloaded_is_one_line(tmp_path, function, code):
    ended = python(tmp_path, "-c", FEW, fail=f"{function}:1:{code}")
    assert ended.returncode == 1
    line = ended.stderr.splitlines()[-1]
    assert line.startswith("the GPU failed: CUDA_ERROR_")
    assert f"in {function}" in line
    assert "Traceback" not in ended.stderr


# --- What is laid otherwise, or refused


def make_complex_body(target):
    def body(x, y, dx, dy, out, z, table):
        for i in range(x, out.shape[1], dx):
            out[0, i] = z.imag + table[0, i]

    return body


def test_an_argument_without_cells_is_refused(backend):
    out, table = backend.empty((1, 7), np.float64), backend.to_device(np.arange(7.0)[np.newaxis])
    with pytest.raises(TypeError, match="no argument of a kernel: complex"):
        backend.compile(make_complex_body)(out, 3 + 4j, table)


@stand_in
@pytest.mark.parametrize("lacks", ["cuLaunchKernel", "cuModuleLoadData", "cuModuleGetFunction"])
def test_a_driver_that_lacks_a_function_of_launches_is_one_line(tmp_path, lacks):
    ended = command(tmp_path, *RENDER, lacks=lacks)
    assert ended.returncode
    assert f"the driver is too old (it has no {lacks}): update it" in ended.stderr
    assert "Traceback" not in ended.stderr


KEPT = """
import sys
import fractals
from fractals.backends import code_cache, cuda_driver
from fractals.backends.cuda.kernel import CardProgram

load = code_cache.Store.load
change = {
    "no code": lambda kept: kept and (kept[0], b"no code"),
    "another name": lambda kept: kept and ("another", kept[1]),
}[sys.argv[1]]

def changed(store, key, rebuild):
    found = load(store, key, rebuild)
    return change(found) if key.startswith("kernel ") else found

keys = {"size": (32, 18), "max_iterations": 200, "device": "cuda"}
first = fractals.render(**keys).pixels
code_cache.forget_programs()
code_cache.Store.load = changed
assert (fractals.render(**keys).pixels == first).all()
"""


@stand_in
@pytest.mark.parametrize("change", ["no code", "another name"])
def test_code_that_the_driver_refuses_is_compiled_anew(tmp_path, change):
    """Of another card, say, or of a file that another program has made."""
    ended = python(tmp_path, "-c", KEPT, change)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "is compiled anew" in ended.stderr


@stand_in
@pytest.mark.parametrize("function", ["cuModuleLoadData", "cuLaunchKernel", "cuMemHostAlloc"])
def test_memory_that_ends_when_a_kernel_is_loaded_or_launched(tmp_path, function):
    """Once: what is unused is freed, or memory of another kind is taken. For good: a line."""
    assert command(tmp_path, *RENDER).returncode == 0
    expected = pixels_of(tmp_path)
    once = command(tmp_path, *RENDER, fail=f"{function}:1:2")
    always = command(tmp_path, *RENDER, fail=f"{function}:1-:2")
    for ended in (once, always):
        if ended.returncode:
            assert "the GPU is out of memory" in ended.stderr.splitlines()[-1]
        else:
            assert np.array_equal(pixels_of(tmp_path), expected)
        assert "Traceback" not in ended.stderr
    assert not once.returncode or function == "cuLaunchKernel"
    assert always.returncode or function == "cuMemHostAlloc"


BROKEN = """
import sys
import fractals
from fractals.backends.cuda import kernel

kernel._imported = lambda: (None, "libNVVM is missing")
keys = {"size": (8, 6), "max_iterations": 50, "coloring": sys.argv[1], "device": "auto"}
said = []
try:
    picture = fractals.render(on_message=said.append, **keys)
    print(picture.device, *said)
    keys["device"] = "cpu"
    assert (picture.pixels == fractals.render(**keys).pixels).all()
except fractals.FractalsError as error:
    print(error)
"""


@stand_in
def test_a_compiler_that_is_gone_is_told_when_it_is_needed(tmp_path):
    """Kept code is drawn without it. Then the CPU draws, and the next process knows it."""
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "standin")}
    words = ("--coloring", "count", "--size", "8x6", "--max-iterations", "50")
    assert command(tmp_path, *RENDER, *words, variables=variables).returncode == 0
    told = [
        python(tmp_path, "-c", BROKEN, coloring, variables=variables).stdout
        for coloring in ("count", "smooth", "count")
    ]
    assert told[0] == "cuda\n"
    line = "cpu a GPU is there but numba.cuda can't use it (libNVVM is missing)"
    for said in told[1:]:
        assert said.startswith(line)
        assert said.endswith("; drawing on the CPU\n")
        assert said.count("GPU") == 1


# Of a process whose package has kernels, and whose compiler is installed by its name alone.
UNUSABLE = (
    BROUGHT
    + """
import sys
import numpy as np
import PIL.Image
import fractals
from fractals.backends.cuda import kernel

kernel._imported = lambda: (None, "libNVVM is missing")
keys = {"size": (32, 18), "max_iterations": 200}

def render(**how):
    return fractals.render(**keys, **how).pixels

def render_to(**how):
    fractals.render_to("a.png", overwrite=True, **keys, **how)
    return np.asarray(PIL.Image.open("a.png"))

def compute_to(**how):
    fractals.compute_to("a.fz", formula="tricorn", overwrite=True, **keys, **how)
    return fractals.EscapeData.load("a.fz").count

def film(**how):
    return np.array(list(fractals.film(to="0.1", seconds=1, fps=3, **keys, **how).frames()))

for coloring in ("smooth", "count", "smooth"):
    said, draw = [], globals()[sys.argv[2]]
    try:
        found = draw(on_message=said.append, device=sys.argv[1], coloring=coloring)
        assert (found == draw(device="cpu", coloring=coloring)).all()
        print("drawn", *said)
    except fractals.FractalsError as error:
        print(type(error).__name__, error)
"""
)


@stand_in
@pytest.mark.parametrize("call", ["render", "render_to", "compute_to", "film"])
def test_a_compiler_that_can_not_be_used_beside_kernels_of_the_package(tmp_path, call):
    """The first program that has to be compiled asks for it: "auto" draws on the CPU from there."""
    (tmp_path / "brought").mkdir()
    first = {"NUMBA_CACHE_DIR": str(tmp_path / "first")}
    made = python(tmp_path, "-c", SHIPPED, str(tmp_path / "brought" / "cuda.code"), variables=first)
    assert made.returncode == 0, made.stderr
    why = "a GPU is there but numba.cuda can't use it (libNVVM is missing)"
    for device in ("cuda", "auto"):
        variables = {"NUMBA_CACHE_DIR": str(tmp_path / device), "FRACTALS_PREBUILT": "1"}
        ended = python(tmp_path, "-c", UNUSABLE, device, call, variables=variables)
        assert ended.returncode == 0, ended.stderr
        assert not ended.stderr
        lines = ended.stdout.splitlines()
        assert len(lines) == 3
        if call.startswith("render"):  # its kernels are there
            assert lines.pop(0) == "drawn"
        for line in lines:
            assert line.startswith(("drawn " if device == "auto" else "DeviceLostError ") + why)
            assert ("; drawing on the CPU" in line) == (device == "auto")


# --- What a launch asks of the driver

LAUNCHED = """
import json, os, sys
import numpy as np
import fractals
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Tile

options = RenderOptions(device="cuda")
plan, backend = open_plan(fractals.load_scene(size=(16, 16), max_iterations=20), options)
source = open_drawing(plan, backend, options).source
for tile in range(3 + int(sys.argv[1])):
    source.iterate(Tile(tile % 4, tile % 5, 8, 8))
    backend.synchronize()
"""


def calls(path):
    return Counter(json.loads(path.read_text().splitlines()[-1])["calls"])


@stand_in
def test_a_tile_of_few_samples_is_one_launch(tmp_path):
    """No copy, no allocation, no look for a context: ten tiles more are ten launches and waits."""
    found = []
    for more in (0, 10):
        profile = tmp_path / f"profile{more}"
        ended = python(tmp_path, "-c", LAUNCHED, str(more), profile=profile)
        assert ended.returncode == 0, ended.stderr
        found.append(calls(profile))
    asked = {name: n for name, n in (found[1] - found[0]).items() if not name.startswith("kernel ")}
    assert asked == {"kernel": 10, "cuLaunchKernel": 10, "cuStreamSynchronize": 10}

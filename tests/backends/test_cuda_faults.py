"""A GPU in trouble: without memory, lost, interrupted, with a damaged cache, or hidden.

Each fault ends in the right picture or in a line or two, and nothing stays behind. Most faults are
ordered from the stand-in for NVIDIA's driver (tests/cuda_driver); on a true card these tests are
skipped.
"""

import contextlib
import functools
import gc
import itertools
import os
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from conftest import GPU
from support.cards import RENDER, command, is_true_soon, ordered, pixels_of, python, stand_in
from support.command_line import hear_signals
from support.each_interrupt import each_interrupt
from support.limits import limit_tiles
from support.scenes import scene

import fractals
from fractals.backends import streams
from fractals.backends.cuda import backend
from fractals.backends.cuda.backend import gpu_of
from fractals.backends.devices import choose, open_backend
from fractals.errors import DeviceMemoryError

pytestmark = [*GPU.marks, pytest.mark.unwatched]


def slow(*values):
    """Return parameters that are not in the default run."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.slow)
        for value in values
    ]


# --- Memory

DEEP = {"center": ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"]}
LAYERS = [{"coloring": "smooth", "blend": "multiply", "palette": "ink"}]


def picture(**keys):
    def draw(device, folder, say):
        return fractals.render(scene(**keys), device=device, on_message=say).pixels

    return draw


def store(device, folder, say):
    drawn, path = scene(size=(40, 36), supersampling=2), folder / f"{device}.fz"
    fractals.compute_to(path, drawn, device=device, overwrite=True, on_message=say)
    return fractals.EscapeData.load(path).count


def film(device, folder, say):
    keys = {"to": "1e-6", "seconds": 2, "fps": 2, "size": (24, 16), "max_iterations": 100}
    film = fractals.film(center=DEEP["center"], device=device, on_message=say, **keys)
    return np.array(list(film.frames()))


DRAWN = {
    "direct": picture(size=(40, 36), supersampling=2),
    "deep": picture(**DEEP, width="1e-20", size=(32, 18)),
    "layered": picture(size=(40, 36), layers=LAYERS),
    "histogram": picture(size=(40, 36), coloring="histogram"),
    "adaptive": picture(size=(24, 16), supersampling=4, antialias="adaptive"),
    "film": film,
    "store": store,
}
TIMES = {"once": 1, "twice": 2, "for_good": 10**9}
OFTEN = {(kind, 13, "twice") for kind in DRAWN.keys() - {"deep", "layered"}}
OFTEN |= {("direct", 29, times) for times in TIMES}


@functools.cache
def on_the_cpu(kind, folder):
    return DRAWN[kind]("cpu", folder, lambda line: None)


def allocations():
    """Return parameters: kinds of pictures, numbers of allocations, and how often they fail."""
    every = itertools.product(DRAWN, range(1, 201), TIMES)
    return [
        each if each in OFTEN else pytest.param(*each, marks=pytest.mark.slow) for each in every
    ]


@pytest.fixture
def full(monkeypatch):
    """Have allocations of device memory find none: those in `fails`, counted in `asked`."""
    made = open_backend(choose("cuda").device, "float64")
    driver = made.slot.gpu.driver
    real = driver.cuMemAlloc

    class Full:
        asked, fails = 0, range(0)

        def is_empty(self):
            """Tell whether no block of memory is left once what is unused is freed."""
            gc.collect()
            made._tables.clear()
            made.slot.gpu.drop_unused()
            return not any(slot.addresses() for slot in gpu_of(0)._slots)

    found = Full()

    def allocate(*arguments):
        found.asked += 1
        if found.asked in found.fails:
            raise MemoryError
        real(*arguments)

    monkeypatch.setattr(driver, "cuMemAlloc", allocate)
    return found


@pytest.mark.parametrize(("kind", "place", "times"), allocations())
def test_memory_may_end_at_each_allocation(kind, place, times, full, tmp_path, monkeypatch):
    """Once: it is asked again. Twice: tiles become smaller. For good: a line. Nothing stays."""
    limit_tiles(monkeypatch, 640)
    expected, said, line = on_the_cpu(kind, tmp_path.parent), [], ""
    assert is_true_soon(full.is_empty), "threads may end their tile after an error"
    full.asked, full.fails = 0, range(place, place + TIMES[times])
    try:
        drawn = DRAWN[kind]("cuda", tmp_path, said.append)
    except DeviceMemoryError as error:
        drawn, line = expected, str(error)
    assert np.array_equal(drawn, expected)
    assert line.startswith("the GPU is out of memory" if line else "")
    assert not line or times != "once"
    assert line or times != "for_good" or full.asked < place, "memory was asked for in vain"
    assert len(said) <= 1
    assert all("divided into parts" in text for text in said)
    failed, full.fails = full.asked >= place, range(0)
    assert is_true_soon(full.is_empty)
    if failed:
        assert np.array_equal(DRAWN[kind]("cuda", tmp_path, said.append), expected)


@stand_in
@pytest.mark.parametrize("number", [2, 8, *slow(1, 3, 5, 13, 21)])
def test_an_allocation_without_memory(tmp_path, number):
    """Once: what is unused is freed, and asked again. For good: one line."""
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    once = command(tmp_path, *RENDER, fail=f"cuMemAlloc:{number}:2")
    assert once.returncode == 0, once.stderr
    assert np.array_equal(pixels_of(tmp_path), expected)
    always = command(tmp_path, *RENDER, fail=f"cuMemAlloc:{number}-:2")
    if always.returncode:
        assert "the GPU is out of memory" in always.stderr.splitlines()[-1]
    assert "Traceback" not in once.stderr + always.stderr


LARGE = ("--size", "512x384", "--supersampling", "2", "--max-iterations", "50")


@stand_in
def test_a_tile_larger_than_the_memory_is_divided(tmp_path):
    drawn = command(tmp_path, "render", "--device", "cuda", *LARGE, memory="9M")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stderr.count("divided into parts") == 1
    keys = {"size": (512, 384), "supersampling": 2, "max_iterations": 50}
    assert np.array_equal(pixels_of(tmp_path), fractals.render(device="cpu", **keys).pixels)


TAKEN = """
import numpy as np
from numba import cuda
import fractals
from fractals.rendering.drawing import draw_all, open_drawing, open_plan
from fractals.rendering.options import RenderOptions

said = []
options = RenderOptions(device="cuda", on_message=said.append)
keys = {"size": (512, 384), "supersampling": 2, "max_iterations": 50}
plan, backend = open_plan(fractals.load_scene(**keys), options)
drawing = open_drawing(plan, backend, options)
taken = cuda.device_array(cuda.current_context().get_memory_info().free - 9 * 2**20, np.uint8)
assert (draw_all(drawing) == fractals.render(device="cpu", **keys).pixels).all()
print(said)
"""


@stand_in
def test_memory_that_another_program_takes_makes_tiles_smaller(tmp_path):
    """Between plan and picture."""
    ended = python(tmp_path, "-c", TAKEN, memory="100M")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("divided into parts") == 1


# --- A GPU that fails: at a call, or between two pictures


@stand_in
@pytest.mark.parametrize(
    "fault",
    [
        *("kernel:1:700", "copy:2:700", "cuMemAlloc:4:46"),
        *slow("kernel:3:719", "cuLaunchKernel:2:719", "cuStreamSynchronize:1:719"),
        *slow("cuMemcpyHtoDAsync:3:700", "cuMemcpyHtoDAsync:3:999", "copy:5:214"),
    ],
)
def test_a_card_that_fails_is_one_line(tmp_path, fault):
    ended = command(tmp_path, *RENDER, fail=fault)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("fractals: the GPU failed: ")
    assert "run it again, or with --cpu" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ignored" not in ended.stderr


@stand_in
@pytest.mark.parametrize("fault", ["kernel:6:719", "copy:2:700"])
def test_auto_draws_a_picture_again_whose_card_fails(tmp_path, fault):
    """On the CPU, which says why."""
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    ended = command(tmp_path, "render", "--device", "auto", *RENDER[3:], fail=fault)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if "GPU" in line]
    assert "the GPU failed: CUDA_ERROR_" in line
    assert line.endswith("drawing on the CPU")
    assert np.array_equal(pixels_of(tmp_path), expected)


# The functions of the driver that a picture calls, and about how often
CALLS = {"cuCtxGetCurrent": 1, "cuCtxSetCurrent": 2, "cuDeviceGet": 4, "cuDeviceGetAttribute": 6}
CALLS |= {"cuDeviceGetCount": 1, "cuDeviceGetName": 1, "cuDevicePrimaryCtxRetain": 2, "cuInit": 3}
CALLS |= {"cuDeviceTotalMem": 1, "cuDriverGetVersion": 1, "cuEventCreate": 4, "cuEventRecord": 11}
CALLS |= {"cuEventElapsedTime": 2, "cuLaunchKernel": 8, "cuModuleLoadData": 4, "cuMemAlloc": 19}
CALLS |= {"cuModuleGetFunction": 4, "cuMemHostAlloc": 1, "cuMemcpyDtoHAsync": 2}
CALLS |= {"cuMemcpyHtoDAsync": 8, "cuStreamCreate": 2, "cuStreamSynchronize": 2}
CALLS |= {"cuStreamWaitEvent": 8}


@stand_in
@pytest.mark.slow
@pytest.mark.parametrize("code", [719, 999])
@pytest.mark.parametrize("function", CALLS)
def test_each_call_of_the_driver_may_fail(tmp_path, function, code):
    """At the first call, in the middle, and at the last one: a picture, or a line."""
    for call in sorted({1, (CALLS[function] + 1) // 2, CALLS[function]}):
        ended = command(tmp_path, *RENDER, fail=f"{function}:{call}:{code}")
        assert ended.returncode in (0, 1, 4), ended.stderr
        assert len(ended.stderr.splitlines()) <= 3, ended.stderr
        assert not any(word in ended.stderr for word in ("Traceback", "ignored", "internal"))


LOST = """
import sys
import fractals
from numba import cuda

keys = {"size": (32, 18), "max_iterations": 200}
expected = fractals.render(device="cuda", **keys).pixels
try:
    cuda.current_context().get_memory_info()  # the call that STANDIN_FAIL names
    cuda.synchronize()
except Exception as error:
    print("lost")
for device in ("auto", "gpu", "cuda:0", "auto"):
    said = []
    try:
        picture = fractals.render(device=device, on_message=said.append, **keys)
        assert (picture.pixels == expected).all()
        print(device, picture.device, *said, sep="|")
    except fractals.FractalsError as error:
        print(device, error, *said, sep="|")
"""


@stand_in
@pytest.mark.parametrize("code", [719, *slow(214, 700)])
def test_a_card_lost_between_pictures(tmp_path, code):
    """With "auto" the CPU draws, and says why; other requests end in one line."""
    ended = python(tmp_path, "-c", LOST, fail=f"cuMemGetInfo:2:{code}")
    assert ended.returncode == 0, ended.stderr
    assert not ended.stderr
    lost, first, *named, last = ended.stdout.splitlines()
    assert lost == "lost"
    assert first.startswith("auto|cpu|the GPU failed: CUDA_ERROR_")
    assert first.endswith("drawing on the CPU")
    assert all("use it any more: run it again, or with device='cpu'" in line for line in named)
    assert last == first


@stand_in
@pytest.mark.parametrize("fault", ["cuDevicePrimaryCtxRetain:1-:2", "cuStreamCreate:1-:999"])
def test_a_card_that_can_not_be_opened(tmp_path, fault):
    """Such as one whose memory other programs have: "auto" draws on the CPU, and says why."""
    code = "import sys, fractals; print(fractals.render(size=(8, 6), device=sys.argv[1]).device)"
    ended = python(tmp_path, "-W", "always", "-c", code, "auto", fail=fault)
    assert (ended.returncode, ended.stdout) == (0, "cpu\n"), ended.stderr
    assert "drawing on the CPU" in ended.stderr
    ended = command(tmp_path, *RENDER, fail=fault)
    assert ended.returncode == 4
    assert len(ended.stderr.splitlines()) <= 2  # the first one may be about compiling


EXPLORED = """
import sys
import threading
import numpy as np
import fractals
from numba import cuda
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView

engine, moment = Engine("auto"), sys.argv[1]
failed, names = [], []

def lose():
    try:
        cuda.current_context().get_memory_info()  # the call that STANDIN_FAIL names
    except Exception:
        names.append("lost")

def explore(scene, before=None):
    ended, pixels = threading.Event(), np.zeros((16, 24, 3), np.uint8)

    def end(*line):
        failed.extend(line)
        ended.set()

    class View(ClientView):
        def send_pixels(self, tile, part, step=1):
            pixels[tile.window()] = part

        def send_drawn(self, name, seconds, **facts):
            names.append(name)
            if name == moment and "lost" not in names:
                lose()
            if name == "exact":
                end()

    keys = {"engine": engine, "scene": scene, "frame": 1, "paint": 0, "failed": end}
    view = View(key=(engine,), make=View.passes, priority=VIEW, before=before, **keys)
    engine.submit(view)
    assert ended.wait(100)
    assert not failed, failed
    assert (pixels == fractals.render(scene, device="cpu").pixels).all()
    return view

first = fractals.load_scene(size=(24, 16), max_iterations=60, supersampling=1)
view = explore(first)
if moment == "between":
    lose()
explore(first.replace(palette="ember"), view)
explore(first.replace(width="1.5"))
print(engine.kind, *names)
"""


@stand_in
@pytest.mark.parametrize("moment", ["between", *slow("coarse", "values")])
def test_a_card_lost_while_the_explorer_runs(tmp_path, moment):
    """The CPU draws on: the view that was under way, the same one recolored, and others."""
    ended = python(tmp_path, "-c", EXPLORED, moment, fail="cuMemGetInfo:2:719")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split()[0] == "cpu"
    assert "lost" in ended.stdout
    (line,) = ended.stderr.splitlines()
    assert line.startswith("fractals: the GPU failed: CUDA_ERROR_LAUNCH_FAILED")
    assert line.endswith("drawing on the CPU")


# --- Ctrl-C

INTERRUPTED = """
from fractals.cli import run
from fractals.rendering import drawing

def run_tiles(*arguments):
    print("drawing", flush=True)
    return real(*arguments)

real, drawing.run_tiles = drawing.run_tiles, run_tiles
run()
"""
LONG = ("--julia=0.2500015,0", "--width", "1.6", "--size", "1024x1024", "-n", "10000")


@stand_in
def test_an_interrupt_in_a_launch_ends_the_process(tmp_path):
    words = (sys.executable, "-c", INTERRUPTED, "render", "--device", "cuda", *LONG, "-o", "a.png")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    heard = {"env": ordered(), "preexec_fn": hear_signals}
    with subprocess.Popen(words, cwd=tmp_path, **heard, **pipes) as process:
        assert process.stdout.readline() == "drawing\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "fractals: interrupted"
    assert all(line.startswith("fractals: ") for line in said.splitlines() if line)
    assert not (tmp_path / "a.png").exists()
    assert command(tmp_path, *RENDER).returncode == 0


# an interrupt between a socket's creation and its name leaves it to the collector, which closes it
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.many
@pytest.mark.parametrize("seed", [1, 2, *slow(*range(3, 13))])
def test_the_gpu_draws_on_after_interrupts(monkeypatch, seed):
    """At any moment of a picture: nothing is locked, and its memory does not stay behind."""
    limit_tiles(monkeypatch, 640)
    drawn = scene(size=(40, 36), supersampling=2, max_iterations=2000)
    expected = fractals.render(drawn, device="cuda").pixels
    made, random = open_backend(choose("cuda").device, "float64"), np.random.default_rng(seed)

    gpu = gpu_of(0)

    def blocks_left():
        gc.collect()
        made._tables.clear()
        gpu.drop_unused()
        return sum(len(slot.addresses()) for slot in gpu._slots)

    at_first = blocks_left()
    draws = False  # an alarm that comes after the picture interrupts nothing

    def interrupt(_, frame):
        if draws and frame.f_code.co_name != "__del__":  # where Python ignores what is raised
            raise KeyboardInterrupt

    before, interrupted = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        for seconds in np.exp(random.uniform(np.log(0.0005), np.log(0.1), 20)):
            try:
                draws = True
                signal.setitimer(signal.ITIMER_REAL, seconds)
                fractals.render(drawn, device="cuda")
                draws = False
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted
    assert np.array_equal(fractals.render(drawn, device="cuda").pixels, expected)
    assert is_true_soon(lambda: blocks_left() <= at_first)


FILES = {streams.__file__, backend.__file__}


@pytest.mark.parametrize("case", ["new", "used again", "read by another", "returned"])
def test_an_interrupt_between_two_instructions_loses_no_memory(case, monkeypatch):
    """At each instruction of an array's coming and going the driver gets all memory back."""
    slot = open_backend(choose("cuda").device, "float64").slot
    driver, held = slot.driver, set()
    real = driver.cuMemAlloc, driver.cuMemFree

    def allocate(at, size):
        real[0](at, size)
        held.add(at._obj.value)

    def free(address):
        real[1](address)
        held.discard(address)

    gc.collect()
    slot.gpu.drop_unused()
    monkeypatch.setattr(driver, "cuMemAlloc", allocate)
    monkeypatch.setattr(driver, "cuMemFree", free)
    other = slot.gpu._slot()

    def begin():
        if case != "new":
            array = slot.empty((30, 40), np.float64)
            if case == "read by another":
                other.reads(array)
            del array
            if case != "returned":
                slot._sort_returned()

    number = 0
    for number in each_interrupt(lambda: slot.empty((30, 40), np.float64), FILES, begin):
        slot.gpu.drop_unused()
        assert not held, number
    assert number > 50


# --- Two threads and two cards

ORDERS = """
import itertools
import sys
import threading
import fractals
from numba import cuda

keys = {"size": (40, 24), "max_iterations": 100, "supersampling": 1}
expected = fractals.render(device="cpu", **keys).pixels
names = ("cuda:0", "cuda:1", "cuda:all")
orders = list(itertools.permutations(names))
wrong = []

def draw(order, chosen=None):
    try:
        for device in order:
            if chosen is not None:
                cuda.select_device(chosen)  # as other code of the thread may do
            if (fractals.render(device=device, **keys).pixels != expected).any():
                wrong.append(order)
    except BaseException as error:
        wrong.append((order, error))

for order, chosen in itertools.product(orders, (0, 1)):
    draw(order, chosen)
pairs = list(itertools.product(orders, orders))
for pair in pairs[:: int(sys.argv[1])]:
    threads = [threading.Thread(target=draw, args=(order,)) for order in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(wrong)
"""


@stand_in
@pytest.mark.parametrize("step", [7, *slow(1)])
def test_two_threads_draw_on_two_cards_in_every_order(tmp_path, step):
    ended = python(tmp_path, "-c", ORDERS, str(step), cards="h100,t4", order="random")
    assert (ended.returncode, ended.stdout) == (0, "[]\n"), ended.stdout + ended.stderr
    assert not ended.stderr


# --- Compiled kernels on the disk


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def empty(path):
    path.write_bytes(b"")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def replace(path):
    others = (each for each in path.parents[1].glob("*/*.code") if each.parent != path.parent)
    path.write_bytes(next(others).read_bytes())


def give_away(path):
    if os.getuid():
        pytest.skip("only root can give files away")
    os.chown(path, 65534, 65534)


@pytest.fixture
def kept(tmp_path):
    """Return a function that draws a picture with compiled kernels that are kept in a folder."""
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "standin")}

    def draw(**settings):
        (tmp_path / "standin").mkdir(exist_ok=True)
        words = ("-m", "fractals", *RENDER, "-o", "a.png", "--overwrite")
        ended = python(tmp_path, *words, variables=variables, **settings)
        assert ended.returncode == 0, ended.stderr
        assert "Traceback" not in ended.stderr
        return ended.stderr, list(Path(tmp_path / "standin").glob("*/cuda-*/*.code"))

    return draw


@stand_in
def test_kernels_of_another_card_are_not_taken(tmp_path, kept):
    """Two cards share a folder of compiled code; then the files of one have the other's names."""
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    _, first = kept(cards="h100")
    _, both = kept(cards="t4")
    assert len(both) == 2 * len(first)
    of_h100 = {path.parent: path for path in first}
    for path in set(both) - set(first):
        path.write_bytes(of_h100[path.parent].read_bytes())
    said, again = kept(cards="t4")
    assert said.count("is compiled anew") == len(first)
    assert sorted(again) == sorted(both)
    assert np.array_equal(pixels_of(tmp_path), expected)


@stand_in
@pytest.mark.parametrize("damage", [flip, *slow(cut, empty, replace, give_away)])
def test_a_damaged_kernel_is_compiled_anew(tmp_path, kept, damage):
    _, files = kept()
    damage(max(files, key=lambda path: path.stat().st_size))
    said, again = kept()
    assert said.count("is compiled anew") == 1
    assert sorted(again) == sorted(files)
    assert "is compiled anew" not in kept()[0]
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    assert np.array_equal(pixels_of(tmp_path), expected)


# --- Drivers, and what they show of the cards


def of_cuda_12():
    """Tell whether the packages are those of the extra `gpu12`."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version("cuda-bindings").startswith("12.")
    return False


@stand_in
@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"version": 11080}, 4, "the driver is for CUDA 11.8: update it"),
        ({"version": 12040}, 0, "cuda")
        if of_cuda_12()
        else ({"version": 12040}, 4, "is for CUDA 12.4, and what is installed for CUDA 13"),
        ({"version": 14020}, 0, "cuda"),
        ({"lacks": "cuLaunchKernel"}, 1, "the driver is too old (it has no cuLaunchKernel)"),
        *slow(({"lacks": "cuModuleLoadData"}, 1, "(it has no cuModuleLoadData): update it")),
        ({"lacks": "cuMemcpyHtoDAsync"}, 1, "the driver is too old (it has no cuMemcpyHtoDAsync)"),
        *slow(({"lacks": "cuStreamCreate"}, 4, "(it has no cuStreamCreate): update it")),
        ({"cards": "none"}, 4, "the driver sees no CUDA GPU"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
def test_a_driver_that_is_too_old_or_too_new(tmp_path, settings, code, words):
    ended = command(tmp_path, *RENDER, **settings)
    assert ended.returncode == code, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 3  # two of them about compiling


FILM = ("--size", "16x12", "--max-iterations", "50", "--cycle", "1", "--fps", "4")


@stand_in
@pytest.mark.parametrize(
    ("words", "settings", "code"),
    [
        (("film", *FILM, "--device", "cuda", "-o", "a.mp4"), {"fail": "kernel:2:700"}, 1),
        (("film", *FILM, "--device", "cuda", "-o", "a/%02d.png"), {"fail": "kernel:2:700"}, 1),
        (("film", *FILM, "--device", "cuda", "-o", "a.webp"), {"memory": "1M"}, 1),
        (("tiles", "--device", "cuda:5", "-o", "a"), {"cards": "h100,t4"}, 4),
        *slow((("render", "--device", "cuda", "-o", "a.html"), {"fail": "kernel:2:700"}, 1)),
        *slow((("compute", "--device", "cuda", "-o", "a.npz"), {"fail": "kernel:2:700"}, 1)),
        *slow((("surprise", "--device", "cuda", "-o", "a.png"), {"fail": "kernel:2:700"}, 1)),
    ],
)
def test_a_gpu_that_fails_at_once_leaves_no_file(tmp_path, words, settings, code):
    """A film and tiles leave a folder only where the same command goes on with it."""
    ended = python(tmp_path, "-m", "fractals", *words, **settings)
    assert ended.returncode == code, ended.stderr
    assert "GPU" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())


CARDS = "import fractals; print(*(d.name for d in fractals.devices() if d.kind == 'cuda'), sep=';')"


@stand_in
@pytest.mark.parametrize(
    ("visible", "names"),
    [
        ("", ""),
        ("1", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"),
        ("1,0", "NVIDIA H100 80GB HBM3 MIG 1g.10gb;Tesla T4"),
        ("0,9,1", "Tesla T4"),
        ("GPU-fafafafa-fafa-fafa-fafa-fafafafafa00", "Tesla T4"),
        ("MIG-fafafafa", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"),
        ("GPU-00000000", ""),
        ("nonsense", ""),
    ],
)
def test_cards_that_are_hidden(tmp_path, visible, names):
    variables = {"CUDA_VISIBLE_DEVICES": visible}
    settings = {"cards": "t4,h100mig", "variables": variables}
    ended = python(tmp_path, "-c", CARDS, **settings)
    assert (ended.stdout.strip(), ended.stderr) == (names, "")
    if not names:
        ended = command(tmp_path, *RENDER, **settings)
        assert ended.returncode == 4
        assert f"CUDA_VISIBLE_DEVICES='{visible}' leaves the driver no CUDA GPU" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


@stand_in
def test_a_slice_of_a_card_draws(tmp_path):
    """A MIG device says its own name, memory and multiprocessors."""
    variables = {"CUDA_VISIBLE_DEVICES": "MIG-fafafafa-fafa-fafa-fafa-fafafafafa01"}
    settings = {"cards": "t4,h100mig", "variables": variables}
    code = "import fractals; d = fractals.devices()[1]; print(d.multiprocessors, d.memory >> 30)"
    assert python(tmp_path, "-c", code, **settings).stdout == "16 9\n"
    ended = command(tmp_path, *RENDER, **settings)
    assert ended.returncode == 0, ended.stderr
    expected = fractals.render(size=(32, 18), max_iterations=200, device="cpu").pixels
    assert np.array_equal(pixels_of(tmp_path), expected)


IN_WSL = """
import sys
from fractals.backends import cuda_driver
cuda_driver.WSL_DRIVER = sys.argv[1]
import fractals
keys = {"size": (32, 18), "max_iterations": 200}
picture = fractals.render(device="cuda", **keys)
assert (picture.pixels == fractals.render(device="cpu", **keys).pixels).all()
print(picture.device)
"""


@stand_in
def test_the_driver_of_wsl_is_found_where_windows_puts_it(tmp_path):
    """No path of the loader names it; numba-cuda takes what is loaded already."""
    first, _, rest = os.environ["LD_LIBRARY_PATH"].partition(":")
    library = tmp_path / "lib" / "libcuda.so.1"
    library.parent.mkdir()
    library.symlink_to(Path(first, "libcuda.so.1"))
    variables = {"LD_LIBRARY_PATH": rest}
    ended = python(tmp_path, "-c", IN_WSL, library, variables=variables)
    assert (ended.returncode, ended.stdout) == (0, "cuda\n"), ended.stderr

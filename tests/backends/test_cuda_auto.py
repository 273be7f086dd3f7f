"""What draws where "auto" has chosen a GPU that fails in the middle: the CPU, with the same bits.

Kernels and allocations fail by order, on the stand-in for NVIDIA's driver (tests/cuda_driver).
"""

import ast
import functools
import itertools
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from conftest import GPU
from support import explorer
from support.cards import python, stand_in
from support.limits import limit_tiles
from support.scenes import scene

import fractals
from fractals.backends import cuda, devices, streams
from fractals.backends.cuda.backend import gpu_of
from fractals.backends.cuda_driver import DriverError
from fractals.backends.devices import choose, open_backend
from fractals.backends.probe import cpu
from fractals.color.trap_image import encode
from fractals.errors import DeviceFailedError, FractalsError
from fractals.films import frames
from fractals.io.stores import store as store_files
from fractals.rendering.cluster import worker

pytestmark = [*GPU.marks, stand_in, pytest.mark.unwatched]

EYE = ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"]
ZOOM = {"to": "1e-6", "seconds": 2, "fps": 3, "size": (24, 16), "max_iterations": 100}
TURNING = {"fps": 4, "keys": [{"at": 0, "rotation": 0}, {"at": 1, "rotation": 30}]}
TWO = {"fps": 2, "seconds": 1}
SMALL = {"size": (24, 16), "max_iterations": 60, "supersampling": 1}
SUMS = {"size": (16, 12), "supersampling": 1}
FLAME = {"formula": "flame", **SUMS, "quality": 20}
BUDDHABROT = {"formula": "buddhabrot", **SUMS, "samples": 4, "max_iterations": 60}
SOLID = {"formula": "mandelbulb", **SUMS, "samples": 2}
RELIEF = {"heights": "distance", **SUMS, "samples": 2, "max_iterations": 60}


def picture(*sources, **keys):
    def draw(folder, how):
        return fractals.render(*sources, **keys, **how).pixels

    return draw


def file(*sources, **keys):
    def draw(folder, how):
        fractals.render_to(folder / "a.png", *sources, **keys, **how, overwrite=True)
        return np.frombuffer((folder / "a.png").read_bytes(), np.uint8)

    return draw


def numbers(*sources, **keys):
    def draw(folder, how):
        return first_numbers(fractals.compute(*sources, **keys, **how))

    return draw


def store(*sources, **keys):
    def draw(folder, how):
        fractals.compute_to(folder / "a.fz", *sources, **keys, **how, overwrite=True)
        return first_numbers(fractals.rendering.families.load_raw(folder / "a.fz"))

    return draw


def first_numbers(raw):
    return np.array(raw.count if hasattr(raw, "count") else raw.sums)


def film(*sources, **keys):
    def draw(folder, how):
        return np.array(list(fractals.film(*sources, **keys, **how).frames()))

    return draw


def still(folder, how):
    return fractals.film(center=EYE, **ZOOM, **how).still(1.0).pixels


def recolored(folder, how):
    raw = fractals.compute(**SMALL, device="cpu")
    return fractals.recolor(raw, palette="ember", **how).pixels


DRAWN = {
    "picture": picture(scene(size=(40, 36), supersampling=2)),
    "deep": picture(scene(center=EYE, width="1e-20", size=(32, 18))),
    "file": file(scene(size=(40, 36), supersampling=2)),
    "flame": file(**FLAME),
    "buddhabrot": picture(**BUDDHABROT),
    "solid": file(**SOLID),
    "relief": picture(**RELIEF),
    "numbers": numbers(**SMALL),
    "store": store(scene(size=(40, 36), supersampling=2)),
    "sums": store(**FLAME),
    "light": store(**SOLID),
    "recolored": recolored,
    "still": still,
    "strip": film(center=EYE, **ZOOM),
    "values": film(center=EYE, coloring="histogram", **ZOOM),
    "frames": film(film=TURNING, stretch=2, **SMALL),
    "colors": film(cycle=1, seconds=1, fps=3, **SMALL),
    "flames": film(film=TURNING, **FLAME),
    "solids": film(film={**TWO, "tracks": {"formula.phi": [[0, 0], [1, 20]]}}, **SOLID),
}

# Kinds of work that ask for memory where none of those above do
LAYERS = [{"coloring": "smooth", "blend": "multiply", "palette": "ink"}]
WEIGHT = ["coloring.weight", [[0, 0.2], [2, 0.6]]]
RANKED = [{"coloring": "histogram", "blend": "multiply", "palette": "ink"}]
MASK = encode(np.array([[0, 128, 255]], np.uint8))
GROUP = {"layers": LAYERS, "opacity": 0.7, "picture_mask": MASK}
NEAR = {"center": ["-0.7453", "0.1127"], "width": "0.05"}
KEYS = [{"at": 0, "center": ["-0.75", "0.1"], "width": "0.5"}, {"at": 2, **NEAR}]
TILTED = {"size": (24, 16), "supersampling": 2, "max_iterations": 60, "rotation": 20}


def zoom(*tracks, turn=0, **keys):
    first, last = KEYS
    table = {"fps": 10, "keys": [first, {**last, "rotation": turn}], "tracks": dict(tracks)}
    return film(film=table, **{"size": (32, 18), "max_iterations": 200, **keys})


def in_parts(folder, how):
    with mock.patch.object(cuda, "steps_per_launch", return_value=100):
        return fractals.render(formula="phoenix", **SMALL, **how).pixels


def light_and_surface(folder, how):
    fractals.render_to(folder / "a.exr", **SOLID, **how, overwrite=True)
    return np.frombuffer((folder / "a.exr").read_bytes(), np.uint8)


WALKED = DRAWN | {
    "adaptive": picture(scene(size=(24, 16), supersampling=4, antialias="adaptive")),
    "glow": picture(scene(bloom=0.5, size=(24, 16))),
    "group": picture(**TILTED, layers=[GROUP]),
    "jittered": picture(**TILTED, layers=LAYERS, antialias="jittered", coloring="slopes"),
    "parts": in_parts,
    "projected": picture(**SMALL, projection="exponential", coloring="slopes"),
    "statistics": picture(scene(center=EYE, width="1e-20", size=(32, 18), coloring="orbit_trap")),
    "large solid": picture(**{**SOLID, "size": (96, 64), "samples": 1}),
    "surface": light_and_surface,
    "unlimited": picture(formula="mandelbulb", size=(16, 12)),
    "zoom": zoom(),
    "turned zoom": zoom(turn=90, coloring="slopes"),
    "colored zoom": zoom(("color.offset", [[0, 0], [2, 1]])),
    "counted zoom": zoom(WEIGHT, coloring="field_lines", layers=RANKED),
}


@functools.cache
def on_the_cpu(kind, folder):
    return WALKED[kind](folder, {"device": "cpu", "on_message": lambda line: None})


# Calls of the driver, and what makes their errors: an error that is kept holds the arrays of its
# traceback.
FAULTS = {
    "lost": ("cuLaunchKernel", lambda: DriverError("[719] CUDA_ERROR_LAUNCH_FAILED", 719)),
    "full": ("cuMemAlloc", MemoryError),
    "refused": ("cuLaunchKernel", lambda: DriverError("[801] CUDA_ERROR_NOT_SUPPORTED", 801)),
}
TOLD = {
    "lost": "the GPU failed: CUDA_ERROR_LAUNCH_FAILED; this process can't use it any more",
    "full": "the GPU is out of memory",
    "refused": "the GPU failed: CUDA_ERROR_NOT_SUPPORTED",
}


class Card:
    """Has calls of the driver fail, from one on; `called`: how many there were."""

    def __init__(self, monkeypatch):
        self._monkeypatch, self.called = monkeypatch, 0
        gpu = open_backend(choose("cuda").device, "float64").slot.gpu
        gpu.drop_unused()  # memory of tests before, for which the driver is not asked
        self._driver = gpu.driver

    def fail(self, fault, first):
        name, make_error = FAULTS[fault]
        function = getattr(self._driver, name)

        def call(*arguments):
            self.called += 1
            if self.called >= first:
                raise make_error()
            function(*arguments)

        self._monkeypatch.setattr(self._driver, name, call)


@pytest.fixture
def card(monkeypatch):
    yield Card(monkeypatch)
    gpu = gpu_of(0)  # for the tests that follow
    gpu.lost, gpu.frees = "", True


FEW = {"solid", "store", "sums", "light"}  # calls, as small as these are


def orders():
    """Return parameters: kinds of work, faults, and calls of the driver from which these come."""
    faults = itertools.cycle(FAULTS)
    often = {(kind, next(faults), 1 if kind in FEW else 4) for kind in DRAWN}
    every = itertools.product(DRAWN, FAULTS, (1, 4, 12, 40, 130))
    return [
        each if each in often else pytest.param(*each, marks=pytest.mark.slow) for each in every
    ]


@pytest.mark.parametrize(("kind", "fault", "call"), orders())
def test_the_cpu_does_what_a_card_can_not(kind, fault, call, card, tmp_path, monkeypatch):
    """One line says why."""
    limit_tiles(monkeypatch, 640)
    expected, said = on_the_cpu(kind, tmp_path.parent), []
    card.fail(fault, call)
    drawn = DRAWN[kind](tmp_path, {"device": "auto", "on_message": said.append})
    assert np.array_equal(drawn, expected)
    failed = card.called >= call
    assert failed or call > 1
    told = [line for line in said if line.endswith("; drawing on the CPU")]
    assert len(told) == failed
    assert all(line.startswith(TOLD[fault]) for line in told)
    assert len(said) - len(told) <= 1  # that tiles were divided


# Files outside of `backends` that ask for memory of a GPU, and kinds of work that do so at each
# place of them
PLACES = {
    "films/gather.py": ["zoom", "turned zoom"],
    "films/samples.py": ["turned zoom", "colored zoom", "counted zoom"],
    "films/texel_files.py": ["zoom"],
    "films/valued.py": ["colored zoom"],
    "rendering/antialiasing.py": ["adaptive"],
    "rendering/develop.py": ["solid", "glow"],
    "rendering/drawing.py": ["picture", "jittered"],
    "rendering/groups.py": ["group"],
    "rendering/iteration.py": ["picture", "statistics", "parts"],
    "rendering/layered.py": ["values", "jittered", "projected"],
    "rendering/perturb.py": ["deep", "statistics"],
    "rendering/probing.py": ["deep"],
    "rendering/recoloring.py": ["recolored", "values"],
    "rendering/sampling.py": ["jittered"],
    "rendering/shading.py": ["picture", "recolored"],
    "scatter/cells.py": ["buddhabrot"],
    "scatter/play.py": ["flame"],
    "scatter/show.py": ["flame"],
    "space/enough.py": ["unlimited"],
    "space/relief.py": ["relief"],
    "space/trace.py": ["large solid", "surface"],
}
# In the explorer, which has a test below; where rows are copied once a tile, which is for the CPU
ELSEWHERE = {("explorer/view.py", "plain"), ("rendering/iteration.py", "of_tile")}
PACKAGE = Path(fractals.__file__).parent


@functools.cache
def asking():
    """Return where memory is asked for, by the text of the package: files and functions."""
    found = set()

    def look(file, node, name):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.Attribute) and part.attr in ("empty", "to_device", "tally"):
                owner = ast.unparse(part.value).rpartition(".")[2].lstrip("_")
                if owner in ("backend", "prober"):
                    found.add((file.relative_to(PACKAGE).as_posix(), name))
            look(file, part, part.name if isinstance(part, ast.FunctionDef) else name)

    for file in PACKAGE.rglob("*.py"):
        if PACKAGE / "backends" not in file.parents:
            look(file, ast.parse(file.read_text("utf-8")), "")
    return found - ELSEWHERE


def test_all_files_that_ask_for_memory_are_walked():
    assert {file for file, _ in asking()} == set(PLACES)


class Asked:
    """Notes at which places of a file memory is asked for; at `full`, and from then on, none is."""

    def __init__(self, monkeypatch, file):
        self.file, self.found, self.full, self.failed = file, {}, None, False
        real = streams.StreamSlot.empty

        def empty(slot, *arguments):
            place = self._place()
            self.failed = self.failed or place == self.full is not None
            if self.failed:
                raise MemoryError
            return real(slot, *arguments)

        monkeypatch.setattr(streams.StreamSlot, "empty", empty)

    def _place(self):
        frame = sys._getframe(2)
        while frame:
            path, name = Path(frame.f_code.co_filename), frame.f_code.co_name
            if path.is_relative_to(PACKAGE):
                own = path.relative_to(PACKAGE).as_posix(), name
                if own in asking():
                    place = name, frame.f_lineno
                    self.found |= {place: None} if own[0] == self.file else {}
                    return place if own[0] == self.file else None
            frame = frame.f_back
        return None


def forget_tables():
    """Have tables copied again that backends keep on the GPU."""
    for each in devices._gpus.values():
        each._tables.clear()


SLOW = {"films/gather.py", "films/samples.py"}  # many frames


@pytest.mark.parametrize(
    "file", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in PLACES]
)
def test_memory_may_end_at_each_place_of_the_source(file, monkeypatch, tmp_path):
    """The CPU does the work then, and one line says why."""
    asked, left = Asked(monkeypatch, file), {name for own, name in asking() if own == file}
    for kind in PLACES[file]:
        asked.found.clear()
        expected = on_the_cpu(kind, tmp_path.parent)
        forget_tables()
        quiet = {"device": "cuda", "on_message": lambda line: None}
        assert np.array_equal(WALKED[kind](tmp_path, quiet), expected)
        places = list(asked.found)
        left -= {name for name, _ in places}
        for asked.full in places:
            asked.failed, said = False, []
            forget_tables()
            how = {"device": "auto", "on_message": said.append}
            assert np.array_equal(WALKED[kind](tmp_path, how), expected), asked.full
            assert asked.failed, asked.full
            told = [line for line in said if line.endswith("; drawing on the CPU")]
            assert len(told) == 1, (asked.full, said)
            assert told[0].startswith(TOLD["full"])
        asked.full, asked.failed = None, False
    assert not left


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["store", "strip"])
def test_a_card_that_was_named_ends_in_a_line(kind, fault, card, tmp_path):
    card.fail(fault, 1)
    with pytest.raises(DeviceFailedError, match=TOLD[fault]) as caught:
        DRAWN[kind](tmp_path, {"device": "cuda"})
    assert "device" in str(caught.value).removeprefix(TOLD[fault])  # what to do


def test_a_film_goes_on_with_the_frame_at_which_the_card_fails(card, monkeypatch):
    drawn, devices = frames.drawn, []

    def noted(scene, facts, options):
        devices.append(options.device)
        if devices == ["auto"] * 4:
            card.fail("lost", 2)
        return drawn(scene, facts, options)

    monkeypatch.setattr(frames, "drawn", noted)
    film = fractals.film(film={**TURNING, "fps": 8}, stretch=2, **SMALL, on_message=print)
    assert len(list(film.frames())) == len(film) == 8
    assert devices == ["auto"] * 4 + ["cpu"] * 5


def test_a_new_store_keeps_what_the_card_has_computed(card, tmp_path, monkeypatch):
    """Also where an old one is replaced."""
    limit_tiles(monkeypatch, 640)
    path, keys = tmp_path / "a.fz", {"supersampling": 2, "max_iterations": 60}
    fractals.compute_to(path, size=(40, 36), coloring="count", **keys, device="cpu")
    again = {"size": (200, 300), "overwrite": True, "on_message": print}
    card.fail("lost", 14)
    found = fractals.compute_to(path, **again, **keys)
    assert found.device == "cpu"
    assert 0 < found.before < found.tiles
    counts = fractals.EscapeData.load(path).count
    assert np.array_equal(counts, fractals.compute(size=(200, 300), **keys, device="cpu").count)


@pytest.mark.parametrize("verb", ["film", "compute"])
def test_commands(tmp_path, verb):
    """With "auto" the CPU goes on, and says why; a GPU that was named ends in a line."""
    file = {"film": "frames/%02d.png", "compute": "a.fz"}[verb]
    words = ("-m", "fractals", verb, "--size", "32x18", "--max-iterations", "60", "--overwrite")
    words += ("--cycle", "1", "--fps", "4") if verb == "film" else ()
    for device, code in (("auto", 0), ("gpu", 1), ("cuda", 1)):
        done = python(tmp_path, *words, "-o", file, "--device", device, fail="kernel:2:719")
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        (line,) = [line for line in done.stderr.splitlines() if "GPU failed" in line]
        assert line.endswith("run it again, or with --cpu" if code else "drawing on the CPU")


# --- The explorer

ONE = {"image": {"supersampling": 1}, "iteration": {"max_iterations": 60}}
LIT = {**ONE, "light": {"samples": 2}}
SHOWN = {
    "values": ONE,
    "flame": {**ONE, "formula": "clifford", "scatter": {"quality": 20}},
    "solid": {**LIT, "formula": "mandelbulb"},
    "relief": {**LIT, "relief": {"heights": "smooth"}},
}


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "DEVICE", "auto")
    made, thread = explorer.start(tmp_path)
    yield made
    made.running.close()
    thread.join(20)


FAILING = [*zip(SHOWN, itertools.cycle(["lost", "refused"])), ("values", "full")]


@pytest.mark.parametrize(("kind", "fault"), FAILING)
def test_the_explorer_draws_on(kind, fault, server, card, capsys):
    """A view that was drawn answers what is under a pixel, and later views are drawn."""

    async def talk(client):
        await client.say("open", frame=1, scene=SHOWN[kind])
        await client.exact(1)
        card.fail(fault, 1)
        picked = await client.ask("pick", "picked", frame=1, at=[16, 16])
        scenes = [{"color": {"palette": "ember"}}, {"color": {"palette": "ink"}}]
        await client.say("sheet", job=1, frame=1, scenes=scenes, width=32)
        await client.until("done", job=1)
        await client.say("view", frame=2, base=1, by=[16, 8], scale=30, turn=0)
        await client.exact(2)
        link = await client.ask("link", "link", frame=2)
        told = [text for text in client.texts if text["t"] == "device"]
        return picked, tomllib.loads(link["toml"]), client.pixels, told

    picked, scene, pixels, told = server.run(talk, size=(24, 16))
    assert (picked["count"] is None) == (fault != "full")  # nothing is asked for at a pixel
    assert np.array_equal(pixels, fractals.render(scene, device="cpu").pixels)
    assert server.explorer.engine.kind == server.explorer.compilers.device() == "cpu"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fractals: {TOLD[fault]}")
    assert line.endswith("; drawing on the CPU")
    why = line.removeprefix("fractals: ")
    assert told == [{"t": "device", "device": cpu().name, "why": why}]


# --- Workers of a cluster


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("named", [False, True])
def test_a_worker_goes_on_with_the_cpu_or_leaves(fault, named, card, tmp_path, monkeypatch):
    """The machine that asks draws nothing here, so that the card fails while the worker does."""
    monkeypatch.setattr(worker, "_sessions", {})
    monkeypatch.setattr(worker, "_without_gpu", set())
    monkeypatch.setattr(worker, "settings", worker.Settings("cuda" if named else "auto", 1))
    monkeypatch.setattr(store_files, "MIN_SAMPLES", 64)
    keys, path = {"supersampling": 2, "max_iterations": 60, "size": (40, 36)}, tmp_path / "a.fz"
    real = worker.WorkerSession.compute

    def compute(session, numbers):
        if session.device == "cuda" and not card.called:
            card.fail(fault, 1)
        yield from real(session, numbers)

    monkeypatch.setattr(worker.WorkerSession, "compute", compute)
    said = []
    with ThreadPoolExecutor(1) as pool:
        how = {"cluster": pool, "on_message": said.append}
        if named:
            with pytest.raises(FractalsError, match=f"is refused: {TOLD[fault]}"):
                fractals.compute_to(path, **keys, **how)
            return
        fractals.compute_to(path, **keys, **how)
    counts = fractals.EscapeData.load(path).count
    assert np.array_equal(counts, fractals.compute(**keys, device="cpu").count)
    assert not said

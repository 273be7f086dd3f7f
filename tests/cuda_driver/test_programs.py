"""What users run, on the stand-in: pictures, several cards, films, stores, the bench, lessons.

Each test starts processes of its own, because settings of the stand-in hold for a process. The
order `late` delays all that a card may delay, so it finds each missing synchronisation. Tests of
the library on a card, with its faults, are in tests/backends/test_cuda_path.py.
"""

import itertools
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import run as standin
from PIL import Image
from support.limits import limit_tiles
from support.scenes import slow_but

import fractals
from fractals.backends.cuda import LIMITS
from fractals.io.load import load_scene
from fractals.lessons import access, machine

pytestmark = [
    pytest.mark.standin,
    pytest.mark.skipif(bool(standin.missing()), reason=standin.missing()),
]
LESSONS = Path(__file__).parents[2] / "lessons"
TRAINING = f"""
import sys
sys.path.insert(0, {str(LESSONS)!r})
import numpy as np
import step_d_training as step

random = np.random.default_rng(1)
points, goals = random.uniform(-1, 1, (70, 2)), random.random((70, 3))
w = random.normal(0, 1, (step.WAVES, 7)).astype(np.float32)
found = [step.gradients_of(points, goals, w, 4096, on_device) for on_device in (True, False)]
assert step.on_gpu and np.abs(found[0]).max() > 1
assert np.allclose(*found, rtol=1e-5, atol=1e-6)
print("equal")
"""
COUNTING = f"""
import sys
sys.path.insert(0, {str(LESSONS)!r})
import numpy as np
import step_e_counting as step

step.STEPS = 100
hits, lossy = step.count(0, 1024)
assert step.on_gpu
assert np.array_equal(hits, step.in_lockstep(1024)[0])
assert np.array_equal(sum(step.count(first, 512)[0] for first in (0, 512)), hits)
print("equal")
"""
PICTURE = ("render", "--size", "96x64", "--max-iterations", "300")
DEEP = ("--center=-1.7499984109936540,-1.3e-17", "--width", "1e-30", "--max-iterations", "3000")
LAYERS = """
julia = ["-0.8", "0.156"]
[color]
palette = "ember"
[[color.layers]]
coloring = "distance"
blend = "multiply"
palette = "ink"
"""
SCATTERED = {
    "flame": """
formula.name = "flame"
[[formula.transforms]]
weight = 2
affine = [0.7, 0.3, 0.4, -0.3, 0.7, 0]
variations = { julian = 0.9, julian_power = 3, pre_gaussian_blur = 0.1 }
[[formula.transforms]]
affine = [0.5, 0, 1, 0, 0.5, 0]
variations = { spherical = 0.6 }
color = 1.0
post = [0.9, 0, 0, 0, 0.9, 0.1]
xaos = [1, 0.2]
[formula.final]
variations = { bubble = 1.0 }
""",
    "attractor": 'formula = "thomas"',
    "buddhabrot": """
formula = { name = "buddhabrot", cells = 256 }
iteration.max_iterations = 60
""",
}
FILM = ("film", "--center=-0.743643887037151,0.131825904205330", "--size", "48x36", "--fps", "4")


@pytest.fixture
def program(tmp_path):
    """Return a function that runs a program on the stand-in: exit code, stdout and stderr."""

    def call(*words, **settings):
        ended = subprocess.run(
            standin.command(words),
            cwd=tmp_path,
            env=standin.environment(**settings),
            capture_output=True,
            text=True,
            timeout=240,
        )
        return ended.returncode, ended.stdout, ended.stderr

    return call


@pytest.fixture
def drawn(program, tmp_path):
    """Return a function that draws a picture on a device, and returns its pixels."""

    def call(device, *words, **settings):
        name = f"{len(list(tmp_path.iterdir()))}.png"
        words = (*PICTURE, *words, "--device", device, "-o", name)
        code, _, said = program("fractals", *words, **settings)
        assert code == 0, said
        assert "Traceback" not in said
        assert f", {device.partition(':')[0]}," in said
        with Image.open(tmp_path / name) as image:
            return image.tobytes()

    return call


def calls(path):
    """Return what the last process of a profile called: function -> times."""
    return json.loads(path.read_text().splitlines()[-1])["calls"]


# --- Scatter images


@pytest.mark.parametrize("name", slow_but(["flame", "attractor"], SCATTERED))
def test_scatter_images_have_the_bits_of_the_cpu(program, tmp_path, name):
    """Sums, display and file; and a store that was begun on a card goes on on the CPU."""
    scene = f"image.size = [40, 30]\nscatter = {{ quality = 3, steps = 20 }}\n{SCATTERED[name]}"
    (tmp_path / "scene.toml").write_text(scene)
    for device in ("cuda", "cpu"):
        words = ("fractals", "render", "scene.toml", "--device", device, "-o", f"{device}.png")
        code, _, said = program(*words, order="late")
        assert code == 0, said
        assert f", {device}," in said
    assert (tmp_path / "cuda.png").read_bytes() == (tmp_path / "cpu.png").read_bytes()
    for store, quality, device in (("a", "1", "cuda"), ("a", "3", "cpu"), ("b", "3", "cpu")):
        words = ("compute", "scene.toml", "--quality", quality, "--device", device)
        code, _, said = program("fractals", *words, "-o", f"{store}.fz")
        assert code == 0, said
    for file in (tmp_path / "a.fz").iterdir():
        assert file.read_bytes() == (tmp_path / "b.fz" / file.name).read_bytes()


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(("--stereo", "0.05"), id="pair", marks=pytest.mark.slow),
        pytest.param(("--field", "5"), id="cones"),
    ],
)
def test_solids_have_the_bits_of_the_cpu(program, tmp_path, seen):
    """Rays that meet the surface, from the camera and from cones, paths of light, and pixels."""
    words = ("--formula", "mandelbulb", "--size", "24x16", "--samples", "2", "--bounces", "1")
    words += ("--lens", "0.01", "--emission", "2", *seen)
    for device in ("cuda", "cpu"):
        given = (*words, "--device", device, "-o", f"{device}.png")
        code, _, said = program("fractals", "render", *given, order="late")
        assert code == 0, said
        assert f", {device}," in said
    assert (tmp_path / "cuda.png").read_bytes() == (tmp_path / "cpu.png").read_bytes()


# --- Pictures


def test_devices_names_the_cards(program):
    code, out, _ = program("fractals", "devices", cards="t4,rtx4090,h200")
    assert code == 0
    for k, name in enumerate(("Tesla T4", "NVIDIA GeForce RTX 4090", "NVIDIA H200")):
        assert f"cuda:{k}" in out
        assert name in out
    assert "compute capability 7.5" in out


@pytest.mark.parametrize(
    "words",
    [
        (),
        DEEP,
        ("--formula", "burning_ship", "--supersampling", "2"),
        ("layers.toml",),
    ],
    ids=["direct", "deep", "ship", "layers"],
)
def test_a_card_draws_the_pixels_of_the_cpu(drawn, tmp_path, words):
    (tmp_path / "layers.toml").write_text(LAYERS)
    assert drawn("cuda", *words, order="late") == drawn("cpu", *words)


@pytest.mark.parametrize("card", slow_but(["t4"], ["t4", "rtx3060"]))
def test_cards_of_other_capabilities(drawn, card):
    assert drawn("cuda", cards=card) == drawn("cpu")


@pytest.mark.parametrize(
    ("order", "cards"),
    slow_but([("late", 2), ("random", 4)], itertools.product(["eager", "late", "random"], [2, 4])),
)
def test_several_cards_draw_one_picture(drawn, monkeypatch, cards, order):
    """The first launches of several threads are at once, and no stream reads another's memory."""
    settings = {"cards": ",".join(["h100"] * cards), "order": order, "seed": cards}
    words = ("--size", "512x512", "--supersampling", "2")
    assert drawn("cuda:all", *words, **settings) == drawn("cpu", *words)


# --- Films, stores, the bench, the lessons


@pytest.mark.parametrize(
    "words",
    [("--to", "1e-6", "--seconds", "6"), ("--to", "1", "--seconds", "1", "--fps", "6")],
    ids=["strip", "frames"],
)
def test_films_are_those_of_the_cpu(program, tmp_path, words):
    words = (*FILM, *words)
    for device in ("cpu", "cuda"):
        name = f"{device}.webp"
        code, _, said = program("fractals", *words, "--device", device, "-o", name, order="late")
        assert code == 0, said
        assert "Traceback" not in said
        assert "Exception ignored" not in said  # memory that is freed without a context
    assert (tmp_path / "cuda.webp").read_bytes() == (tmp_path / "cpu.webp").read_bytes()


def test_a_store_is_computed_verified_and_recolored(program, tmp_path):
    steps = [
        (
            "compute",
            "--size",
            "96x64",
            "--max-iterations",
            "300",
            "--device",
            "cuda",
            "-o",
            "a.fz",
        ),
        ("recolor", "a.fz", "--palette", "ember", "--device", "cuda", "-o", "a.png"),
        ("verify", "a.png"),
        ("recolor", "a.fz", "--palette", "ember", "--device", "cpu", "-o", "b.png"),
    ]
    for words in steps:
        code, out, said = program("fractals", *words, order="late")
        assert code == 0, out + said
    with Image.open(tmp_path / "a.png") as a, Image.open(tmp_path / "b.png") as b:
        assert a.tobytes() == b.tobytes()


def test_the_bench_compares_card_and_cpu(program):
    code, out, said = program(
        "fractals",
        "bench",
        "a",
        "--quick",
        "--devices",
        "cpu,cuda",
        "--size",
        "96x64",
        "--runs",
        "1",
    )
    assert code == 0, said
    assert "counts differ" in out + said or "equal" in out + said


@pytest.mark.parametrize(
    "step",
    [
        *("00_devices", "11_mandelbrot_gpu", "c_attention"),
        *(
            pytest.param(step, marks=pytest.mark.slow)
            for step in ("10_vector_add", "13_overlap", "b_neural_picture")
        ),
    ],
)
def test_lessons_run_on_a_card(program, step):
    code, out, said = program(str(LESSONS / f"step_{step}.py"))
    assert code == 0, said
    assert "simulator" not in out


@pytest.mark.parametrize("text", [TRAINING, COUNTING], ids=["gradients", "hits"])
def test_a_card_computes_what_the_cpu_does(program, text):
    code, out, said = program("-c", text)
    assert (code, out) == (0, "equal\n"), said


# --- Memory


MANY_SIZES = """
import fractals

for k in range(24):
    size = (96 + 16 * k, 64 + 12 * k)
    picture = fractals.render(size=size, max_iterations=50, device="cuda")
    if k % 8 == 0:
        same = fractals.render(size=size, max_iterations=50, device="cpu")
        assert picture.pixels.tobytes() == same.pixels.tobytes()
print("drawn")
"""


def test_memory_of_other_sizes_is_used_again(program, tmp_path):
    """Twenty-four sizes of pictures fit where each alone does."""
    profile = tmp_path / "profile"
    code, out, said = program("-c", MANY_SIZES, memory="24M", profile=profile)
    assert (code, out) == (0, "drawn\n"), said
    assert "Traceback" not in said
    assert calls(profile)["cuMemAlloc"] < 24 * 8


# --- What a picture asks of the driver: docs/explanation/gpu-without-a-gpu.md

DEEP_KEYS = {
    "center": ["-0.74364388703715870475219150611477", "0.131825904205311970493132056385139"],
    "width": "1e-20",
    "max_iterations": 10000,
}
PICTURES = f"""
import io
import sys

sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import pytest
from support.limits import limit_tiles
from support.scenes import slow_but

import fractals
from fractals.io import png

patch = pytest.MonkeyPatch()
patch.setattr("fractals.backends.streams.STREAMS_PER_GPU", 1)
limit_tiles(patch, 640)
patch.setattr(png, "STRIP", 500)
patch.setattr(png, "MIN_ROWS", 2)
kind = sys.argv[1]
keys = {DEEP_KEYS} if kind == "deep" else {{"max_iterations": 100}}
keys |= {{"size": (40, 32), "supersampling": 2, "device": "cuda"}}
for _ in range(1 + int(sys.argv[2])):  # the first one loads programs
    fractals.render_to(io.BytesIO(), **keys) if kind == "poster" else fractals.render(**keys)
"""
# Moves of an explorer's view. Its tiles have a size that does not depend on how fast they are.
MOVES = f"""
import sys
import threading

import pytest

from fractals.explorer import view
from fractals.explorer.scheduler import VIEW, Engine
from fractals.io.load import load_scene

patch = pytest.MonkeyPatch()
patch.setattr("fractals.backends.streams.STREAMS_PER_GPU", 1)
patch.setattr(view, "tile_side", lambda rate, n: 16)
patch.setattr(view, "coarse_step", lambda view: 2)
patch.setattr(view, "TILE_SECONDS", 1e9)
patch.setattr(view, "REST", 0.0)
kind, engine, before, failed = sys.argv[1], Engine("cuda"), None, []


class View(view.ClientView):
    def send_drawn(self, name, seconds, **facts):
        if name == "exact":
            ended.set()


for k in range(2 + int(sys.argv[2])):  # the first ones load programs, and allocate
    ended = threading.Event()

    def fail(line):
        failed.append(line)
        ended.set()

    keys = {{"center": [str(-0.7 + k / 100), "0.1"], "width": 1.1**-k, "max_iterations": 100}}
    if kind == "deep move":  # aside, as the depth of a zoom may need another table
        keys = {DEEP_KEYS}
        keys["center"][0] += str(k)
    scene = load_scene({{}}, **keys, size=(48, 32), supersampling=2)
    before = View(key=(engine,), make=View.passes, priority=VIEW, engine=engine, scene=scene,
        frame=k, paint=0, failed=fail, before=before)
    engine.submit(before)
    assert ended.wait(240)
    assert not failed, failed
engine.end()
"""


# Of a deep tile: whether orbits are under way, there and back.
FLAGS = (0, 1, 1, 0)


def asked_more(program, tmp_path, script, kind):
    """Return what the last of two pictures, or moves, asks of the driver, on a single stream.

    With two streams it is the same, but which of them draws a tile, and allocates, is chance.
    """
    found = []
    for times in (1, 2):
        profile = tmp_path / f"profile{times}"
        code, _, said = program("-c", script, kind, str(times), profile=profile)
        assert code == 0, said
        found.append(Counter(calls(profile)))
    asked = found[1] - found[0]
    never = ("cuMemAlloc", "cuMemFree", "cuMemHostAlloc", "cuStreamCreate", "cuLibraryLoadData")
    assert [name for name in never if asked[name]] == []
    names = ("kernel", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuStreamSynchronize")
    return np.array([asked[name] for name in names])


@pytest.mark.parametrize("kind", slow_but(["picture", "deep"], ["picture", "poster", "deep"]))
def test_a_second_picture_asks_for_the_least(program, tmp_path, monkeypatch, kind):
    limit_tiles(monkeypatch, 640)
    keys = DEEP_KEYS if kind == "deep" else {"max_iterations": 100}
    tiles = len(fractals.plan(size=(40, 32), supersampling=2, device="cpu", **keys).tiles)
    least = np.array([4, 0, 2, 1]) * tiles
    if kind == "deep":
        least += np.array(FLAGS) * tiles
    beside = asked_more(program, tmp_path, PICTURES, kind) - least
    assert beside.tolist() == ([12, 35, 29, 3] if kind == "deep" else [4, 4, 0, 1])


@pytest.mark.parametrize("kind", ["move", "deep move"])
def test_a_move_of_the_explorer_asks_for_the_least(program, tmp_path, kind):
    """Strips of the coarse picture, tiles of values, and tiles of exact pixels."""
    strips, tiles = 4, 6
    least = np.array([2, 0, 2, 1]) * strips + np.array([2 + 4, 0, 4 + 2, 1 + 1]) * tiles
    if kind == "deep move":
        least += np.array(FLAGS) * (strips + 2 * tiles)
    beside = asked_more(program, tmp_path, MOVES, kind) - least
    assert beside.tolist() == ([11, 42, 31, 6] if kind == "deep move" else [3, 10, 1, 3])


# --- Predictions of fractals.lessons, against the instructions that are executed

LESSON = f"""
import sys
sys.path.insert(0, {str(LESSONS)!r})
import numpy as np
import step_11_mandelbrot_gpu as lesson

across, down = map(int, sys.argv[1:])
grid = -(-96 // across), -(-64 // down)
np.save("counts", lesson.draw(lesson.one_pixel_each, grid, (across, down), (96, 64), 1000))
"""
OWN = """
import json
import sys
import fractals
import numpy as np

np.save("counts", fractals.compute(**json.loads(sys.argv[1]), device="cuda").count)
"""
DEEP = """
import sys
import fractals
import numpy as np
from fractals.rendering import plan
from fractals.tools.bench import load_workload

plan.SPARE_BITS = {"float64": 30, "float32": 2}  # of workload c float64 alone loses few samples
workload = len(sys.argv[1]) == 1
scene = load_workload(sys.argv[1]).scene if workload else fractals.load_scene(sys.argv[1])
scene = scene.replace(size=(64, 48) if workload else (192, 108), supersampling=1)
np.save("counts", fractals.compute(scene, device="cuda").count)
"""
SOLID = """
import fractals
import numpy as np

np.save("counts", fractals.render(fractals.load_scene("ruin", size=(48, 32)), device="cuda").pixels)
"""
SAMPLES = {"size": (64, 48), "supersampling": 1}
ORBITS = {"julia": ("0.2500015", "0"), "width": 1.6, "size": (48, 48), "supersampling": 1}
SLOW = ("--julia=0.2500015,0", "--width", "1.6", "--size", "48x48", "--supersampling", "1")
SLOW += ("-n", "10000")


@pytest.fixture
def executed(program, tmp_path):
    """Return a function that runs a script: its counts, and the instructions of threads and warps.

    The PTX of its kernels is then in the folder `modules`.
    """

    def call(script, *words, count=1):
        profile, cache = tmp_path / "profile", tmp_path / "modules"
        (tmp_path / "script.py").write_text(script)
        code, _, said = program("script.py", *words, profile=profile, count=count, cache=cache)
        assert code == 0, said
        found = calls(profile).items()
        kinds = (" instructions", " warp instructions", " lockstep instructions")
        every, warps, together = (
            sum(n for name, n in found if name.endswith(kind)) for kind in kinds
        )
        counts = np.load(tmp_path / "counts.npy").astype(int)
        return counts, every - warps - together, together if count == "lockstep" else warps

    return call


def about(predicted):
    return pytest.approx(predicted, rel=0.05)


@pytest.mark.parametrize("block", [(32, 1), (8, 4)], ids=str)
def test_the_loop_and_the_divergence_of_a_lesson_are_those_executed(executed, program, block):
    counts, instructions, warps = executed(LESSON, *map(str, block))
    words = ("one_pixel_each", "float64, float64, float64, int64, int32[:,::1]", "--json")
    script = str(LESSONS / "step_11_mandelbrot_gpu.py")
    code, out, said = program("fractals", "gpu", "instructions", script, *words)
    assert code == 0, said
    loop = json.loads(out)["instructions"]
    found = access.measure(counts, block)
    assert instructions == about(loop * counts.sum())
    assert warps == about(loop * found.warp_steps)
    assert instructions / (access.WARP * warps) == about(found.lanes_busy)


@pytest.mark.parametrize("block", [(32, 1), (8, 4), (16, 16)], ids=str)
def test_the_map_of_divergence_is_that_of_the_warps_that_ran(executed, tmp_path, block):
    """Each warp: its instructions, and its share of busy lanes, where the loop is most of it."""
    counts, _, _ = executed(LESSON, *map(str, block), count="warps")
    found = access.measure(counts, block)
    (ptx,) = (tmp_path / "modules").glob("*.ptx")
    loop = len(machine.hot_loop(machine.virtual_instructions(ptx.read_text())))
    busy, steps = np.full(counts.shape, np.nan), np.zeros(counts.shape)
    executed_by = calls(tmp_path / "profile")
    for name, issued in executed_by.items():
        place = re.search(r" warp instructions, block (\d+) (\d+) 0, warp (\d+)$", name)
        if place:
            x, y, warp = map(int, place.groups())
            lanes = np.arange(access.WARP * warp, access.WARP * (warp + 1))
            at = y * block[1] + lanes // block[0], x * block[0] + lanes % block[0]
            taken = executed_by[name.replace(" warp instructions", " instructions")]
            busy[at], steps[at] = taken / (access.WARP * issued), counts[at].max()
            assert counts[at].max() < 100 or issued == about(loop * counts[at].max())
    assert not np.isnan(busy).any()
    assert (steps >= 100).mean() > 0.2
    assert np.allclose(busy[steps >= 100], found.of_sample[steps >= 100], rtol=0, atol=0.05)


@pytest.mark.parametrize(
    ("name", "most", "most_before"), [("c", 12.6e6, 13.2e6), ("wheels", 9.6e6, 9.8e6)]
)
def test_warps_issue_no_more_instructions_for_deep_views(executed, name, most, most_before):
    """The compiler of CUDA 12 makes some more instructions of the same loops."""
    _, _, warps = executed(DEEP, name)
    most = most_before if standin.found(standin.LINKERS).name.endswith(".12") else most
    assert 0.95 * most < warps <= most


@pytest.mark.parametrize(("count", "least"), [(1, 18.5), ("lockstep", 10.5)])
def test_most_lanes_of_a_solid_are_busy(executed, count, least):
    """Lanes go on with whatever their paths wait for, in one loop over evaluations of the field.

    By the lanes that arrive at an instruction at all, and if lanes that part wait for each other
    where their ways meet. With a loop for each ray of a path it was 17.7 and 9.0.
    """
    _, instructions, warps = executed(SOLID, count=count)
    assert instructions / warps >= least


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_prediction_of_a_picture_is_what_is_executed(executed, program, tmp_path, precision):
    """Orbits of this Julia set take some 2500 iterations, and none is ended early."""
    keys = ORBITS | {"max_iterations": 10000, "precision": precision}
    counts, instructions, warps = executed(OWN, json.dumps(keys))
    (ptx,) = (tmp_path / "modules").glob("*.ptx")
    loop = machine.hot_loop(machine.virtual_instructions(ptx.read_text()))
    assert instructions == about(len(loop) / LIMITS.steps_per_check * counts.sum())
    words = ("--precision", precision, "--json")
    code, out, said = program("fractals", "gpu", "predict", *SLOW, *words)
    assert code == 0, said
    found = json.loads(out)
    # In PTX a block of 16 steps holds 5 more instructions, which ptxas takes out of the loop.
    more = 1 + 5 / len(loop)
    assert warps == about(more * found["warp_instructions"])
    assert instructions / (access.WARP * warps) == about(found["lanes_busy"])


@pytest.mark.parametrize(
    "keys",
    [
        {"precision": "float32", "max_iterations": 300},
        {"precision": "float64", "max_iterations": 1000, "julia": ("-1", "0")},
        {"precision": "float64", "max_iterations": 1000, "formula": "burning_ship"},
    ],
    ids=["mandelbrot", "julia", "ship"],
)
def test_the_prediction_of_the_interior_is_what_is_executed(executed, monkeypatch, keys):
    """The kernel ends orbits of the interior early, and so does the prediction.

    What a sample takes beside its iterations is 102 instructions of machine code, and 100 of PTX,
    which are those that are executed here.
    """
    _, _, warps = executed(OWN, json.dumps(SAMPLES | keys))
    monkeypatch.setattr(machine, "PER_SAMPLE", (100, 13))
    drawn = load_scene({}, **SAMPLES, **keys)
    name, number = drawn.make_formula().name, keys["precision"]
    count, steps, limit = machine.steps_of(drawn, number)
    assert (steps[count == limit] < limit).mean() > 0.5
    work = machine.work_of(count, steps, limit, (8, 8), name, number)
    assert warps == about(work.instructions)

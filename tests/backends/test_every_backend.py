"""Every backend gives the same bits: plain Python is by definition what the others must compute."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.limits import limit_tiles
from support.scenes import PRECISIONS, each_compiled, each_kind, formula_for, scene, slow_but

import fractals
from fractals import catalog
from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.cuda.backend import CudaBackend
from fractals.backends.devices import LIMITS, choose, open_backend
from fractals.color import palette
from fractals.kernels import escape, shade
from fractals.kernels.layout import ColoringInputs, EscapeTile, SampleGrid
from fractals.rendering import plan, render, sampling
from fractals.rendering.plan import make_plan

POISON = -7
BLOCKS = tuple(LIMITS[device].steps_per_check for device in ("cuda", "cpu"))
BLOCK = BLOCKS[0]
TRANSFERS = ("linear", "sqrt", "cbrt", "log", "atan")
CYCLIC = "lagoon"
OFTEN = ("smooth", "distance", "slopes", "rank", "stripe_average", "speed")  # others: slow tests


def same(raw, other):
    return all(
        getattr(raw, name).tobytes() == getattr(other, name).tobytes()
        for name in ("count", "z", "dz")
        if getattr(raw, name) is not None
    )


@each_kind()
def test_numbers_and_pictures(compiled, formula, julia, precision):
    drawn = scene(formula, julia, escape_radius=100)  # float32 can do no more with power 8
    expected = fractals.compute(drawn, device="python", precision=precision)
    raw = fractals.compute(drawn, device=compiled, precision=precision)
    assert raw.z.dtype.itemsize == 2 * np.dtype(precision).itemsize
    assert same(raw, expected)
    picture = fractals.recolor(raw, device=compiled).pixels
    assert picture.tobytes() == fractals.recolor(expected, device="python").pixels.tobytes()
    assert len(np.unique(picture)) > 10


@pytest.mark.parametrize(
    ("coloring", "transfer", "precision"),
    [
        *(("smooth", transfer, "float64") for transfer in TRANSFERS),
        *slow_but(
            [*((name, "auto", "float64") for name in OFTEN), ("smooth", "auto", "float32")],
            product(catalog.names("coloring"), ["auto"], PRECISIONS),
        ),
    ],
)
def test_colorings(compiled, coloring, transfer, precision):
    drawn = scene(
        formula_for(coloring),
        coloring=coloring,
        palette=CYCLIC,
        transfer=transfer,
        supersampling=2,
        size=(9, 7),
        density=0.3,
        offset=-1.7,
    )
    expected = fractals.render(drawn, device="python", precision=precision).pixels
    assert (
        fractals.render(drawn, device=compiled, precision=precision).pixels.tobytes()
        == expected.tobytes()
    )
    assert len(np.unique(expected)) > 2


@pytest.mark.parametrize("coloring", slow_but(OFTEN, catalog.names("coloring")))
def test_color_of_compute_is_render(device, coloring):
    drawn = scene(formula_for(coloring), coloring=coloring, supersampling=2, size=(9, 7))
    raw = fractals.compute(drawn, device=device)
    assert raw.count.shape == (14, 18)
    rendered = fractals.render(drawn, device=device)
    assert fractals.recolor(raw, device=device).pixels.tobytes() == rendered.pixels.tobytes()


def test_palettes_with_two_ends(compiled):
    ends = {"stops": ["#102030", "#ffe0a0", "#000000"], "cyclic": False}
    drawn = scene(palette=ends, density=2)
    expected = fractals.render(drawn, device="python").pixels
    assert fractals.render(drawn, device=compiled).pixels.tobytes() == expected.tobytes()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_pictures_of_16_bits(compiled, precision):
    drawn = scene(supersampling=2, bits=16)
    expected = fractals.render(drawn, device="python", precision=precision).pixels
    assert expected.dtype == np.uint16
    found = fractals.render(drawn, device=compiled, precision=precision).pixels
    assert found.tobytes() == expected.tobytes()
    assert (np.unique(found) % 257 != 0).any()


def run_escape(backend, drawn, interior_shortcuts, block, check_every_step=False):
    """Return count, z and dz (an array a part) of a whole picture in one launch, over poison."""
    planned = plan.make_plan(drawn)
    width, height = planned.size
    columns, rows = sampling.coordinates(planned)
    x, y = map(float, drawn.julia or ("0", "0"))
    options = escape.EscapeOptions(
        formula=drawn.make_formula(),
        julia=drawn.julia is not None,
        derivative=True,
        interior_shortcuts=interior_shortcuts,
        steps_per_check=block,
        check_every_step=check_every_step,
    )
    run = backend.compile(escape.make_body, options)
    count = np.full((height, width), POISON, np.int32)
    results = [count, *(np.full((height, width), POISON, backend.real) for _ in range(4))]
    on_device = [backend.to_device(array) for array in results]
    run(
        EscapeTile(*on_device, backend.to_device(np.zeros((1, 1, 1), backend.real))),
        SampleGrid(
            backend.to_device(columns.astype(backend.real)),
            backend.to_device(rows.astype(backend.real)),
        ),
        backend.to_device(np.array([x, y, drawn.iteration.escape_radius**2], backend.real)),
        np.int32(planned.max_iterations),
    )
    for array, result in zip(on_device, results, strict=True):
        backend.to_host(array, result)
    return results


def run_shade(backend, drawn, numbers):
    """Return the picture of raw numbers, each of the two programs in one launch."""
    width, height = drawn.image.size
    coloring = drawn.color.coloring.make()
    own = coloring.constants(drawn.make_formula(), drawn.iteration.escape_radius, 1.0)
    options = shade.ValueOptions(coloring.for_coloring()), shade.PlaceOptions("log", cyclic=True)
    place = backend.compile(shade.make_position_body, *options)
    paint = backend.compile(shade.make_body)
    position = np.full((height, width), POISON, np.float32)
    rgb = np.full((height, width, 3), 77, np.uint8)
    on_device = backend.to_device(position), backend.to_device(rgb)
    place(
        on_device[0],
        EscapeTile(
            *(backend.to_device(array) for array in numbers),
            backend.to_device(np.zeros((1, 1, 1), backend.real)),
        ),
        ColoringInputs(
            first_plane=np.int32(0),
            constants=backend.to_device(np.array([0.5, 0.25, *own], backend.real)),
            max_iterations=np.int32(drawn.iteration.max_iterations),
            count_offset=backend.real(0),
            lowest=backend.real(0),
            highest=backend.real(0),
        ),
    )
    paint(
        on_device[1],
        on_device[0],
        backend.to_device(drawn.color.make_palette().lookup("#123456")),
        backend.to_device(palette.encoding()),
        np.int32(1),
        np.float32(1),
    )
    backend.to_host(on_device[0], position)
    assert not (position == POISON).any()
    backend.to_host(on_device[1], rgb)
    return rgb


@pytest.mark.parametrize("size", [(37, 23), (1, 1), (41, 25)])
def test_launch_geometry(size):
    """With a grid and blocks as on a GPU: threads too many for the picture, and too few."""
    drawn = scene(size=size)
    cpu = CpuBackend("float64", 1)
    launched = CudaBackend("float64", simulated=True, geometry=((5, 3), (8, 8)))
    expected = run_escape(cpu, drawn, True, BLOCKS[1])
    results = run_escape(launched, drawn, True, BLOCK)
    assert not (results[0] == POISON).any()
    for result, wanted in zip(results, expected, strict=True):
        assert result.tobytes() == wanted.tobytes()
    wanted = run_shade(cpu, drawn, expected)
    assert run_shade(launched, drawn, results).tobytes() == wanted.tobytes()


@pytest.mark.gpu
def test_launch_geometry_on_a_gpu():
    try:
        gpu = open_backend(choose("cuda").device, "float64")
    except fractals.DeviceError as error:
        pytest.skip(str(error))
    for size in [(37, 23), (1, 1), (200, 3)]:
        drawn = scene(size=size)
        expected = run_escape(CpuBackend("float64", 1), drawn, True, BLOCK)
        for result, wanted in zip(run_escape(gpu, drawn, True, BLOCK), expected, strict=True):
            assert result.tobytes() == wanted.tobytes()


def make_reaching(_target, reach):
    """Return a program that writes beyond its array."""

    def body(x0, y0, dx, dy, out):
        for j in range(y0, out.shape[0], dy):
            for i in range(x0, out.shape[1], dx):
                out[j, i + reach] = 1

    return body


def test_simulator_checks_indices_after_the_cpu_compiled_the_same():
    out = np.zeros((3, 5), np.int32)
    reach = np.random.default_rng().integers(2**30)  # compiled by nobody before
    CpuBackend("float64", 1).compile(make_reaching, reach)(out[:0])
    simulator = CudaBackend("float64", simulated=True)
    with pytest.raises(IndexError):
        simulator.compile(make_reaching, reach)(simulator.to_device(out))


@pytest.mark.parametrize("julia", slow_but([False], [False, True]), ids=["parameters", "julia"])
@each_compiled
def test_shortcuts_change_no_number(formula, julia):
    """Neither those of the interior, nor several steps without a test for escape."""
    drawn = scene(formula, julia, size=(64, 36), max_iterations=300, escape_radius=4)
    scalar, packed = scalar_and_packed()
    plain = run_escape(scalar, drawn, False, 1)
    for quick in (
        run_escape(scalar, drawn, True, BLOCKS[0]),
        run_escape(packed, drawn, True, BLOCKS[1]),
    ):
        for result, wanted in zip(quick, plain, strict=True):
            assert result.tobytes() == wanted.tobytes()


def scalar_and_packed():
    """Return the backends that iterate in blocks: as `programs.escape` says, and in packs."""
    return CudaBackend("float64", simulated=True), CpuBackend("float64", 1)


@pytest.mark.parametrize(
    ("block", "interior_shortcuts"),
    slow_but([(2, True)], product([2, BLOCK], [True, False])),
)
def test_orbits_that_escape_and_come_back(block, interior_shortcuts):
    """Beyond R < |c| they do: a block must remember that one of its steps was outside."""
    drawn = scene(
        julia=["-2.5", "0"], size=(64, 36), max_iterations=100, escape_radius=2, width="5"
    )
    scalar, packed = scalar_and_packed()
    plain = run_escape(scalar, drawn, False, 1)
    for backend, own in ((scalar, block), (packed, BLOCKS[1])):
        checked = run_escape(backend, drawn, interior_shortcuts, own, check_every_step=True)
        for result, wanted in zip(checked, plain, strict=True):
            assert result.tobytes() == wanted.tobytes()
    if block == 2:
        assert (run_escape(scalar, drawn, interior_shortcuts, block)[0] != plain[0]).any()


def test_an_orbit_that_stays_at_0_has_no_slope():
    """The gradient of a Jacobian divides by |z|², and Python's floats raise an error about 0."""
    drawn = scene("burning_ship", center=(0, 0), width="1", size=(3, 3), coloring="distance")
    drawn = drawn.replace(max_iterations=20, supersampling=1)
    packed = fractals.compute(drawn, device="cpu")
    assert (packed.z == 0).any()
    assert same(fractals.compute(drawn, device="python"), packed)


@pytest.mark.parametrize("interior_shortcuts", [True, False])
@pytest.mark.parametrize(
    "max_iterations", sorted({1, 33, 64, *(n + k for n in BLOCKS for k in (-1, 0, 1))})
)
def test_limits_about_the_length_of_a_block(max_iterations, interior_shortcuts):
    drawn = scene(size=(20, 11), max_iterations=max_iterations, escape_radius=2)
    plain = run_escape(open_backend(choose("python").device, "float64"), drawn, False, 1)
    for backend, own in zip(scalar_and_packed(), BLOCKS, strict=True):
        blocks = run_escape(backend, drawn, interior_shortcuts, own)
        for result, wanted in zip(blocks, plain, strict=True):
            assert result.tobytes() == wanted.tobytes()


def test_interior_option_of_the_pipeline(compiled):
    drawn = scene(size=(40, 23), max_iterations=400)
    quick = fractals.compute(drawn, device=compiled)
    plain = fractals.compute(drawn, device=compiled, interior_shortcuts=False)
    assert same(quick, plain)


def test_tiles_are_not_seen(device, monkeypatch):
    drawn = scene(size=(17, 13), max_iterations=40, supersampling=2)
    whole = fractals.compute(drawn, device=device), fractals.render(drawn, device=device)
    assert len(make_plan(drawn, device).tiles) <= 2
    limit_tiles(monkeypatch, 64)
    assert len(make_plan(drawn, device).tiles) > 10
    assert same(fractals.compute(drawn, device=device), whole[0])
    assert fractals.render(drawn, device=device).pixels.tobytes() == whole[1].pixels.tobytes()
    again = fractals.recolor(whole[0], device=device)
    assert again.pixels.tobytes() == whole[1].pixels.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_are_not_seen(threads, monkeypatch):
    limit_tiles(monkeypatch, 64)
    drawn = scene(size=(40, 30))
    assert same(
        fractals.compute(drawn, device="cpu", threads=threads),
        fractals.compute(drawn, device="python"),
    )


@pytest.mark.parametrize("threads", [-1, -3])
def test_threads_must_be_positive(threads):
    with pytest.raises(fractals.OptionError, match=str(threads)):
        fractals.compute(scene(), device="cpu", threads=threads)


def test_memory_is_used_again_once_it_is_let_go():
    backend = CpuBackend("float64", 1)
    first = backend.empty((100, 200), np.float64)
    place, part = first.ctypes.data, first[1:]
    assert place % 64 == 0  # a cache line begins there
    del first
    other = backend.empty((100, 200), np.float64)
    assert other.ctypes.data != place  # a part of it is still held
    del part
    again = backend.empty((200, 100), np.float32)
    assert again.ctypes.data == place
    again[...] = 1
    other[...] = 2
    assert (again == 1).all()


def test_devices_may_alternate():
    """Opening one backend leaves no other one broken."""
    drawn = scene()
    first = [fractals.compute(drawn, device=kind) for kind in ("simulator", "cpu", "python")]
    again = [fractals.compute(drawn, device=kind) for kind in ("cpu", "simulator", "python")]
    for raw in (*first, *again):
        assert same(raw, first[0])


def make_own_formula(bend):
    """Return a formula of a user's own, with all that `fractals.kernels.formula` offers."""
    from fractals.kernels.formula import Formula
    from fractals.kernels.primitives import fma, number, select

    def step(x, y, a, b):
        u = select(x < number(0, x), -x, x)
        return fma(u, u, fma(-y, y, a)), fma(bend * (u + u), y, b)

    def derivative(x, y, p, q):
        u = select(x < number(0, x), -x, x)
        p = select(x < number(0, x), -p, p)
        return (u + u) * p - (y + y) * q, bend * ((u + u) * q + (y + y) * p)

    return Formula("own", "of one's own", step, derivative, 2, holomorphic=False)


def test_formula_of_ones_own(device):
    seen = []
    # On the CPU a program takes long to compile; it is known by the same text as the simulator's.
    for bend in (1, -1) if device != "cpu" else (1,):
        own = make_own_formula(bend)
        drawn = fractals.Scene(formula=own).replace(
            size=(16, 9), supersampling=1, max_iterations=60
        )
        raw = fractals.compute(drawn, device=device)
        assert raw.scene.formula is own
        assert same(raw, fractals.compute(drawn, device="python"))
        seen.append(raw.count.tobytes())
    assert len({*seen}) == len(seen)


OWN_MODULE = """
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma
def step(x, y, a, b): return fma(x, x, fma(-y, y, a)), fma(SIGN(x + x), y, b)
def derivative(x, y, p, q): return 2 * x * p - 2 * y * q, 2 * x * q + 2 * y * p
own = Formula("own", "own", step, derivative, 2)
"""
OWN_SCRIPT = """
import fractals, own_module
table = {"formula": own_module.own, "image": {"size": [8, 6]}, "iteration": {"max_iterations": 60}}
compiled, plain = (fractals.compute(table, device=device) for device in ("simulator", "python"))
assert (compiled.count == plain.count).all()
print(compiled.count.sum())
"""


def test_formula_of_ones_own_is_compiled_anew_when_its_module_was_edited(tmp_path):
    """Compiled code is kept on disk, and must not outlive the text it was made from."""
    home = Path(fractals.__file__).parents[1]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{home}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    seen = set()
    for sign in ("", "-"):
        (tmp_path / "own_module.py").write_text(OWN_MODULE.replace("SIGN", sign))
        done = subprocess.run(
            [sys.executable, "-c", OWN_SCRIPT], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 2


def test_compute_and_color_say_what_does_not_fit():
    raw = fractals.compute(scene(coloring="count"), device="python")
    with pytest.raises(fractals.OptionError, match="needs dz"):
        fractals.recolor(raw, scene(coloring="distance"), device="python")
    with pytest.raises(fractals.OptionError, match="16x9 samples"):
        fractals.recolor(raw, size=(9, 16), device="python")
    with pytest.raises(fractals.OptionError, match="unknown device 'gup'"):
        fractals.compute(scene(), device="gup")
    assert render.compute is fractals.compute

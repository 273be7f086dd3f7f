"""Counts and raw numbers against the oracle: agreement between backends is not truth."""

import functools
import random

import numpy as np
import pytest
from oracle import naive
from support.scenes import each_kind, name_and_power, scene, slow_but
from support.truth import known_scene

import fractals

RADIUS = 64
LIMIT = 80
SIZE = (16, 9)
DRAWN = {"size": SIZE, "max_iterations": LIMIT, "escape_radius": RADIUS}
# What rounding may move: float32 has 24 bits, and an error grows along the orbit as a move does.
MOVES = {"float64": 2.0**-40, "float32": 2.0**-17}


@functools.cache
def interesting_view(name, power, is_julia):
    """Return the c of a Julia set or None, and center, width and rotation of a busy view."""
    dice = random.Random(f"{name} {power} {is_julia}")

    def interesting_point(julia, least):
        for _ in range(3000):
            text = f"{dice.uniform(-1.6, 1.0):.4f}", f"{dice.uniform(-1.2, 1.2):.4f}"
            point = naive.mpc(*text)
            if least <= naive.sample(name, point, julia, LIMIT, RADIUS, power)[0] < LIMIT:
                return text
        raise AssertionError("nothing found")

    julia = interesting_point(None, 20) if is_julia else None
    center = interesting_point(julia and naive.mpc(*julia), 8)
    width = f"{10 ** dice.uniform(-2, 0.3):.5f}"
    return julia, center, width, dice.choice([0, 0, 30, -100.5])


@functools.cache
def expected(name, power, is_julia, precision):
    """Return {(i, j): (point, count, z)} at samples of the view that rounding can't move."""
    julia, center, width, rotation = interesting_view(name, power, is_julia)
    julia = julia and naive.mpc(*julia)
    dice = random.Random(1)
    found = {}
    for _ in range(8):
        i, j = dice.randrange(SIZE[0]), dice.randrange(SIZE[1])
        point = naive.position(i, j, SIZE, center, width, rotation)
        if naive.is_stable(name, point, julia, LIMIT, RADIUS, MOVES[precision], power):
            found[i, j] = point, *naive.sample(name, point, julia, LIMIT, RADIUS, power)
    assert len(found) >= 4, "the view is too chaotic to test anything"
    return found


@each_kind()
def test_samples_of_random_views(device, formula, julia, precision):
    """With the programs of `test_every_backend.py`."""
    name, power = name_and_power(formula)
    assert name in naive.STEPS, f"write a step of {name} in tests/oracle/naive.py"
    wanted = expected(name, power, julia, precision)
    julia, center, width, rotation = interesting_view(name, power, julia)
    keys = {**DRAWN, "center": center, "width": width, "rotation": rotation}
    drawn = scene(formula, julia, **keys)
    raw = fractals.compute(drawn, device=device, precision=precision)
    assert {at: int(raw.count[at[::-1]]) for at in wanted} == {
        at: count for at, (_, count, _) in wanted.items()
    }
    escaped = {at: numbers for at, numbers in wanted.items() if numbers[1] < LIMIT}
    assert escaped
    julia = julia and naive.mpc(*julia)
    for (i, j), (point, count, z) in list(escaped.items())[:3]:
        if drawn.make_formula().holomorphic:
            dz = naive.derivative(name, point, julia, count, power)
        else:  # the dz that would give |z| the same gradient
            gx, gy = naive.gradient(name, point, julia, count, power)
            dz = naive.mpc(gx, -gy) * z / abs(z)
        moved = MOVES[precision] * float(abs(dz) + abs(z))
        assert complex(raw.z[j, i]) == pytest.approx(complex(z), abs=moved)
        if moved < 0.01 * abs(z):
            assert complex(raw.dz[j, i]) == pytest.approx(complex(dz), rel=0.1)
        if moved < 1e-6 * abs(z):
            assert complex(raw.dz[j, i]) == pytest.approx(complex(dz), rel=1e-5)


@pytest.mark.parametrize("supersampling", [2, 3])
def test_samples_of_a_pixel(device, supersampling):
    keys = {"center": ["-0.7", "0.3"], "width": "0.3", "rotation": 20}
    raw = fractals.compute(
        scene(**DRAWN | keys | {"size": (4, 3), "supersampling": supersampling}), device=device
    )
    for i, j in [(0, 0), (3, 2), (5, 4), (7, 1)]:
        point = naive.position(i, j, (4, 3), ("-0.7", "0.3"), "0.3", 20, supersampling)
        assert naive.is_stable("mandelbrot", point, None, LIMIT, RADIUS, 1e-9)
        assert raw.count[j, i] == naive.sample("mandelbrot", point, None, LIMIT, RADIUS)[0]


@pytest.mark.parametrize("radius", [2, 2.5, 1e6])
@pytest.mark.parametrize("julia", [["2.5", "0.7"], ["-3.1", "0"], ["0.3", "0.5"]])
def test_every_escape_radius(device, julia, radius):
    """Where |c| is beyond the radius, an orbit that has passed it may come back."""
    size = (10, 8)
    drawn = scene(julia=julia, size=size, max_iterations=40, escape_radius=radius, width="5")
    count = fractals.compute(drawn, device=device).count
    constant = naive.mpc(*julia)
    compared = 0
    for i in range(size[0]):
        for j in range(size[1]):
            point = naive.position(i, j, size, ("0", "0"), "5")
            if naive.is_stable("mandelbrot", point, constant, 40, radius, 1e-10):
                assert count[j, i] == naive.sample("mandelbrot", point, constant, 40, radius)[0]
                compared += 1
    assert compared > 60


def test_picture_is_what_its_definition_says(device):
    """Each byte from the oracle's smooth count, the palette's table, the mean of linear light."""
    size, n = (8, 6), 3
    keys = {"center": ["-0.75", "0.2"], "width": "0.8", "max_iterations": 50, "escape_radius": 128}
    drawn = scene(
        size=size,
        supersampling=n,
        coloring="smooth",
        transfer="sqrt",
        density=0.4,
        offset=0.3,
        inside="#335577",
        **keys,
    )
    pixels = fractals.render(drawn, device=device).pixels
    table = drawn.color.make_palette().lookup("#335577")
    entries = len(table) - 2

    @functools.cache
    def light(i, j):
        point = naive.position(i, j, size, keys["center"], keys["width"], 0, n)
        count, z = naive.sample("mandelbrot", point, None, 50, 128)
        if count == 50:
            return table[-1]
        t = 0.4 * naive.sqrt(naive.smooth_count(count, z, 128, 2)) + 0.3
        return table[int((t % 1) * entries)]  # between two rows there is less than a byte

    for row in range(size[1]):
        for column in range(size[0]):
            colors = [light(n * column + u, n * row + v) for u in range(n) for v in range(n)]
            wanted = [float(255 * naive.srgb_from_linear(x)) for x in naive.average(colors)]
            assert pixels[row, column].tolist() == pytest.approx(wanted, abs=1.5)


def test_distance_coloring_is_the_distance_estimate(device):
    """Through a palette that is a ramp of known light."""
    ramp = {"stops": [[0, "#000000"], [1, "#ffffff"]], "cyclic": False}
    keys = {"width": "0.4", "max_iterations": 50}
    centers = {"mandelbrot": ["-0.2", "0.9"], "burning_ship": ["-1.3", "-0.6"]}
    for formula, keys["center"] in centers.items():
        drawn = scene(formula, transfer="linear", palette=ramp, density=0.0004, **keys)
        pixels = fractals.render(drawn, device=device).pixels
        table = drawn.color.make_palette().lookup("#000000")
        compared = 0
        for i, j in [(3, 2), (8, 1), (12, 7), (1, 8), (15, 0)]:
            point = naive.position(i, j, (16, 9), keys["center"], keys["width"])
            count, _ = naive.sample(formula, point, None, 50, 256)
            if count == 50:
                continue
            distance = naive.distance_estimate(formula, point, None, count)
            t = min(max(0.0004 * distance * 1000 / naive.mpf("0.4"), 0), 1)
            wanted = float(255 * naive.srgb_from_linear(float(table[int(t * 4096), 0])))
            assert pixels[j, i].tolist() == pytest.approx([wanted] * 3, abs=1)
            compared += 0 < t < 1
        assert compared >= 2


# The known locations, and what computing their reference orbits takes: some seconds are slow.
KNOWN = {
    "rf_burning_ship": "direct",
    "rf_cubic": "perturbation",
    **dict.fromkeys(
        [
            "rf_e14",
            "rf_e50",
            "rf_e113",
            "rf_e533",
            "rf_flake",
            "rf_glitch_test_2",
            "rf_glitch_test_4",
            "rf_glitch_test_5",
            "rf_safari",
            "rf_line",
            "fs_bs_1e-101",
            "fs_pbs_1e-128",
            "fs_pbs_glynn",
        ],
        "perturbation",
    ),
}
# Compile programs that no other test needs.
OWN = ("rf_cubic", "fs_pbs_glynn", "fs_pbs_1e-128")
SHIP = "fs_bs_1e-101"  # whose checked program no other test needs
SLOW = ("rf_lethal_weapon", "rf_wfs", "rf_e8000")


def check_known(name, place, device):
    drawn = known_scene(place)
    raw = fractals.compute(drawn, device=device)
    stable = [(i, j, n) for i, j, n, stable in place["pixels"] if stable]
    assert [(i, j, int(raw.count[j, i])) for i, j, _ in stable] == stable
    return raw.method, len(stable)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_counts(name, truth, compiled):
    method, stable = check_known(name, truth[name], compiled)
    assert method == KNOWN[name]
    assert stable >= 2


@pytest.mark.parametrize("name", [*OWN, SHIP])
def test_known_counts_on_the_cpu(name, truth):
    method, stable = check_known(name, truth[name], "cpu")
    assert method == KNOWN[name]
    assert stable >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_known_counts_of_long_orbits(name, truth):
    assert check_known(name, truth[name], "cpu")[0] == "perturbation"


def test_every_known_location_is_tested(truth):
    assert set(truth) == {*KNOWN, *SLOW}


@pytest.mark.parametrize("formula", slow_but(["mandelbrot"], ["mandelbrot", "burning_ship"]))
def test_counts_do_not_depend_on_the_coloring(formula):
    """Whether dz travels along or not."""
    plain = fractals.compute(scene(formula, coloring="smooth"), device="cpu")
    with_dz = fractals.compute(scene(formula), device="cpu")
    assert plain.dz is None
    assert np.array_equal(plain.count, with_dz.count)
    assert plain.z.tobytes() == with_dz.z.tobytes()

"""Jittered samples and their weighted means: no seams, the same everywhere, and near the truth."""

import io
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from support.scenes import scene

import fractals
from fractals.color import palette
from fractals.rendering import antialiasing, sampling, tiles
from fractals.rendering import plan as planning
from fractals.rendering.iteration import Direct
from fractals.rendering.plan import make_plan
from fractals.rendering.tiles import Tile
from fractals.tools import verify

BUSY = {
    "center": ["-0.7436", "0.1318"],
    "width": "0.02",
    "max_iterations": 150,
    "coloring": "smooth",
}


def cut(side):
    """Return a patch that cuts pictures into tiles of this side."""

    def squares(drawn, *_):
        width, height = drawn.image.size
        return tiles.tiles_within(width, range(height), side, side)

    return mock.patch.object(planning, "make_tiles", squares)


def pixels_of(drawn, device="cpu"):
    return fractals.render(drawn, device=device, on_message=str).pixels


def test_shifts_are_even_and_never_change():
    """Each place of a cell that is divided as the table is used once."""
    table, side = sampling.shifts(), sampling.PERIOD
    assert table.shape == (2, side, side)
    places = (table + 0.5) * side - 0.5
    assert sorted(places[0].ravel() * side + places[1].ravel()) == list(range(side * side))
    assert table[:, 5, 7].tolist() == SHIFT  # other numbers would change every picture


SHIFT = [-0.34765625, 0.33203125]


def test_samples_are_blue_noise():
    """At low frequencies they have hardly any power; shifts by chance have 0.3 and more."""
    table, side = sampling.shifts().astype(float), sampling.PERIOD
    rows, columns = np.indices((side, side))
    points = (np.stack([columns, rows]) + table) / side
    for radius in (2, 5, 10, 20, 40, 60, 80):
        powers = []
        for angle in np.linspace(0, math.pi, 24, endpoint=False):
            wave = np.round(radius * np.array([math.cos(angle), math.sin(angle)]))
            phases = 2 * math.pi * np.tensordot(wave, points, 1)
            powers.append(abs(np.exp(1j * phases).sum()) ** 2 / side**2)
        assert np.mean(powers) < 0.02


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("antialias", ["jittered", "adaptive"])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_pixel_is_the_weighted_mean_of_its_samples(antialias, n, layers):
    """By loops over what the raw numbers say; adaptive where everything is busy is the same."""
    keys = {"layers": [{"coloring": "decomposition", "blend": "overlay"}]} if layers > 1 else {}
    drawn = scene(size=(9, 7), supersampling=n, antialias=antialias, bits=16, **BUSY, **keys)
    with mock.patch.object(antialiasing, "DIFFER", -1):
        found = pixels_of(drawn).astype(float)
    single = drawn.replace(supersampling=1, antialias="grid", size=(9 * n, 7 * n))
    raw = fractals.compute(drawn, device="cpu")
    alone = fractals.compute(single, device="cpu")
    alone.count, alone.z = raw.count, raw.z
    alone.statistics = raw.statistics
    samples = palette.linear_from_srgb(fractals.recolor(alone, device="cpu").pixels / 65535)
    table = sampling.shifts().astype(float)
    for j in range(7):
        for i in range(9):
            total, light = 0.0, np.zeros(3)
            for v in range(7 * n):
                for u in range(9 * n):
                    right = (u + 0.5 + table[0, v, u]) / n - (i + 0.5)
                    down = (v + 0.5 + table[1, v, u]) / n - (j + 0.5)
                    weight = max(0, 1 - abs(right)) * max(0, 1 - abs(down))
                    total += weight
                    light += weight * samples[v, u]
            expected = 65535 * palette.srgb_from_linear(light / total)
            assert abs(found[j, i] - expected).max() < 40


@pytest.mark.parametrize("antialias", ["jittered", "adaptive"])
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(
    "keys", [BUSY, {**BUSY, "projection": "exponential", "coloring": "slopes"}]
)
def test_no_seams_whatever_the_tiles(antialias, n, keys):
    drawn = scene(size=(15, 11), supersampling=n, antialias=antialias, **keys)
    whole = pixels_of(drawn)
    for side in (1,) if antialias == "adaptive" else (5,) if n == 2 else (2, 11):
        with cut(side):
            assert np.array_equal(pixels_of(drawn), whole)
    raw = fractals.compute(drawn, device="cpu")
    assert np.array_equal(fractals.recolor(raw, device="cpu").pixels, whole)
    file = io.BytesIO()
    fractals.render_to(file, drawn, device="cpu")
    assert np.array_equal(np.asarray(Image.open(file)), whole)


@pytest.mark.parametrize("antialias", ["jittered", "adaptive"])
def test_devices_agree(antialias, device):
    drawn = scene(size=(11, 8), supersampling=2, antialias=antialias, **BUSY)
    assert np.array_equal(pixels_of(drawn, device), pixels_of(drawn))


def test_deep_tiles_agree():
    keys = {"center": ["-0.743643887037151", "0.131825904205330"], "width": "1e-13"}
    drawn = scene(size=(17, 12), supersampling=2, antialias="jittered", max_iterations=9000, **keys)
    assert make_plan(drawn).deep
    whole = pixels_of(drawn)
    with cut(4):
        assert np.array_equal(pixels_of(drawn), whole)


def test_ranks_of_jittered_samples():
    drawn = scene(
        size=(12, 9), supersampling=2, antialias="jittered", **BUSY | {"coloring": "rank"}
    )
    whole = pixels_of(drawn)
    with cut(3):
        assert np.array_equal(pixels_of(drawn), whole)


@pytest.mark.parametrize("antialias", ["jittered", "adaptive"])
def test_pictures_are_verified(tmp_path, antialias):
    drawn = scene(size=(12, 9), supersampling=2, antialias=antialias, rotation=20, **BUSY)
    fractals.render(drawn, device="cpu").save(tmp_path / "a.png")
    assert all(pixel.right for pixel in verify.verify(tmp_path / "a.png", 10, exact=True))


@settings(max_examples=60)
@given(
    n=st.integers(1, 16),
    x=st.integers(0, 40),
    y=st.integers(0, 40),
    width=st.integers(1, 9),
    height=st.integers(1, 9),
)
def test_first_samples_stand_for_those_around_them(n, x, y, width, height):
    m = antialiasing.first_side(n)
    i, j = antialiasing.first_samples(Tile(x, y, width, height), n, m)
    assert i.shape == j.shape == (height * m, width * m)
    for r in range(height * m):
        for c in range(width * m):
            assert i[r, c] // n == x + c // m
            assert j[r, c] // n == y + r // m
            assert (i[r, c] % n) * m // n == c % m  # it is one of those that it stands for
            assert (j[r, c] % n) * m // n == r % m


def test_no_picture_is_shifted_by_its_first_samples():
    for n in range(2, 17):
        m = antialiasing.first_side(n)
        i, j = antialiasing.first_samples(Tile(0, 0, 2, 2), n, m)
        assert i.mean() == j.mean() == n - 0.5


def test_busy_pixels_are_seen():
    flat = np.full((8, 8, 3), 0.25, np.float32)
    assert not antialiasing.differing(flat, 2).any()
    flat[2, 5] = 0.3  # of the pixel in row 1 and column 2
    busy = antialiasing.differing(flat, 2)
    assert busy[:3, 1:].all()
    assert not busy[:, 0].any()
    assert not busy[3].any()


def test_calm_pictures_take_few_samples():
    taken = []
    numbers = Direct.iterate_some

    def counted(self, i, j, shape, *more):
        taken.append(math.prod(shape))
        return numbers(self, i, j, shape, *more)

    keys = {"center": ["3", "0"], "width": "1", "coloring": "smooth", "density": 0.05}
    calm = scene(size=(64, 64), supersampling=4, antialias="adaptive", **keys)
    with mock.patch.object(Direct, "iterate_some", counted):
        adaptive = pixels_of(calm)
    assert sum(taken) < 0.35 * (64 * 4) ** 2
    full = pixels_of(calm.replace(antialias="jittered"))
    assert abs(adaptive.astype(int) - full).max() <= 8


def test_jitter_is_nearer_to_the_truth_than_a_grid():
    """Of a place with detail below the pixel; the difference from 16 x 16 samples."""
    keys = {**BUSY, "center": ["-0.74364", "0.13183"], "width": "0.002", "max_iterations": 400}
    drawn = scene(size=(48, 36), supersampling=2, **keys)
    error = {}
    for method in ("grid", "jittered", "adaptive"):
        own = drawn.replace(antialias=method)
        kind = "grid" if method == "grid" else "jittered"
        truth = pixels_of(own.replace(supersampling=16, antialias=kind)).astype(float)
        error[method] = np.sqrt(np.mean((pixels_of(own) - truth) ** 2))
    assert error["jittered"] < 0.8 * error["grid"]
    assert error["adaptive"] < error["grid"]

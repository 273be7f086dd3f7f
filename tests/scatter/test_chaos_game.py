"""The chaos game: published random numbers, and the same bits from every player."""

import math
import random
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scattered import by_kernel, by_machine, window_of
from support.scenes import slow_but

import fractals
from fractals import catalog
from fractals.backends.machine_code import FUSED, REGISTER
from fractals.kernels.random import philox
from fractals.scatter import game as games
from fractals.scatter.cpu_game import Machine, Sums
from fractals.scatter.game import Game, Window

MASK = 0xFFFFFFFF
FLAMES = {
    "affine": {"transforms": [{}, {"affine": [0.5, 0, 1, 0, 0.5, 0]}]},
    "drawn": {
        "transforms": [
            {"variations": {"julia": 0.9}, "affine": [0.9, -0.3, 0.4, 0.3, 0.9, 0.1]},
            {
                "weight": 0.5,
                "color": 0.5,
                "affine": [0.6, 0.3, 0.2, -0.3, 0.6, -0.1],
                "variations": {"gaussian_blur": 0.2, "linear": 0.9, "julian": 0.3},
            },
            {
                "color": 1,
                "opacity": 0.4,
                "xaos": [1, 0.2, 0],
                "variations": {"pre_blur": 0.1, "spherical": 0.6, "post_curl": 0.9},
                "post": [0.9, 0.1, 0.1, -0.1, 0.9, 0],
            },
        ],
        "final": {"variations": {"eyefish": 0.8, "blur": 0.02}, "color_speed": 0.1},
    },
    "random": {
        "transforms": [
            {"variations": {"julia": 0.9}, "affine": [0.9, -0.3, 0.4, 0.3, 0.9, 0.1]},
            {"variations": {"gaussian_blur": 0.2, "linear": 0.5}, "xaos": [1, 0.2]},
        ]
    },
    "unplotted": {
        "transforms": [
            {"variations": {"spherical": 2}, "opacity": 0},
            {"variations": {"sinusoidal": 1}, "affine": [1.4, 0.4, 0.3, -0.6, 1.2, 0.5]},
        ]
    },
    # More than are sorted by vectors.
    "many": {
        "transforms": [
            {
                "affine": [0.5, 0.1 * k, k / 12, -0.1, 0.4, -k / 15],
                "color": k / 12,
                "opacity": 0.5 + k / 24,
                "xaos": [m + 1 for m in range(k)],
                "variations": {"sinusoidal" if k % 3 else "blur": 1},
            }
            for k in range(12)
        ]
    },
    "lost": {"transforms": [{"affine": [400, 0, 1, 0, 400, 1]}, {"variations": {"log": 1}}]},
}


# Of more transforms than are sorted by vectors, and more than are chosen four at a time.
for count in (12, 18):
    parts = [{"affine": [0.5, 0.02 * k, k / 9, 0, 0.5, -k / 20], "weight": k} for k in range(count)]
    FLAMES[f"{count} transforms"] = {"transforms": [*parts[1:], {}]}


def flame_of(name):
    tables = FLAMES[name]
    if name == "drawn":
        parts = [dict(each) for each in tables["transforms"]]
        own = dict(parts[1]["variations"], julian_power=-3)
        parts[1]["variations"] = own
        parts[2]["variations"] = {"pre_gaussian_blur": 0.1, "spherical": 0.6, "post_curl": 0.9}
        tables = tables | {"transforms": parts}
    return fractals.load_scene({"formula": {"name": "flame", **tables}}).make_any_formula()


def test_philox_gives_the_published_numbers():
    """Of Random123 (Salmon et al.), kat_vectors."""
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)
    assert philox(0, 0, 0, 0, 0, 0) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox(*[MASK] * 6) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


# The simulator compiles a flame as a whole: often the one that has all, and those of one program.
OFTEN = [(name, "float32", "cpu") for name in FLAMES if name != "random"]
OFTEN += [(name, "float32", "simulator") for name in FLAMES if "transforms" in name]
OFTEN += [("drawn", "float32", "simulator"), ("affine", "float32", "simulator")]
OFTEN += [("affine", "float64", player) for player in ("cpu", "simulator")]


@pytest.mark.parametrize(
    ("name", "number", "player"),
    slow_but(OFTEN, product(FLAMES, ["float32", "float64"], ["cpu", "simulator"])),
)
def test_every_player_gives_the_same_bits(name, number, player):
    flame, game = flame_of(name), Game(0, 25, 9, 123, 45)
    sums, hits = by_kernel("python", flame, number, game, 24)
    assert hits > 100
    assert sums[..., 3].sum() >= 100 * hits
    pools = ((24, 1), (8, 1), (1024, 3)) if player == "cpu" else ()
    found = [by_machine(flame, number, game, 24, *pool) for pool in pools]
    for other in found or [by_kernel(player, flame, number, game, 24)]:
        assert np.array_equal(other[0], sums)
        assert other[1] == hits


def test_a_trajectory_is_the_same_whatever_plays_beside_it():
    flame = flame_of("drawn")
    first, _ = by_machine(flame, "float32", Game(0, 20, 5, 1, 2), 64, 64)
    parts = [by_machine(flame, "float32", Game(k, 20, 5, 1, 2), 16, 8)[0] for k in range(0, 64, 16)]
    assert np.array_equal(sum(parts), first)


def test_lists_that_are_full_are_emptied():
    """A tile's list holds some thousand records, and a picture of one tile gets more."""
    flame = flame_of("affine")
    few, _ = by_machine(flame, "float32", Game(0, 400, 5, 1, 2), 64, 64)
    assert few[..., 3].sum() > 3 * 4096 * games.HIT
    assert np.array_equal(
        few, by_kernel("simulator", flame, "float32", Game(0, 400, 5, 1, 2), 64)[0]
    )


def test_sums_of_32_bits_do_not_overflow():
    """All points fall into one bucket, and add up to more than 32 bits hold."""
    flame = flame_of_maps([0, 0, 0.3, 0, 0, 0.3], color=0.6, color_speed=1)
    sums, hits = by_machine(flame, "float32", Game(0, 17000, 5, 1, 2), 1024, 1024)
    assert hits == 1024 * 17000 > 2**24
    assert sums[..., 3].max() == sums[..., 3].sum() == hits * games.HIT > 2**32
    few, _ = by_machine(flame, "float32", Game(0, 17, 5, 1, 2), 1024, 1024)
    assert np.array_equal(sums, few * 1000)


def points_of(flame, view, shape, trajectories, seed):
    """Return how many points fall into each bucket, one of a trajectory: none depends on another.

    `view`: the matrix from the plane to buckets, in rows, and what is added to both.
    """
    rows, columns = shape
    machine = Machine("float64", flame, shape)
    numbers = np.array([0, 0, *view, columns, rows, 1, 0], float)
    window = Window(numbers, columns, 0, flame.colors(np.ones((256, 3))))
    player, game = machine.player(), Game(0, 1, 40, seed, 0)
    for first in range(0, trajectories, 1024):
        some = min(1024, trajectories - first)
        machine.play(player, flame.data(np.float64), game._replace(first=first), window, some)
    machine.play(player, flame.data(np.float64), game, window, 0)
    return machine.sums()[..., 3] // games.HIT


def chi_square(counts, expected):
    """Return how far counts are off, and how far they are off by chance: mean and deviation."""
    degrees = counts.size - 1
    return ((counts - expected) ** 2 / expected).sum(), degrees, math.sqrt(2 * degrees)


def flame_of_maps(*maps, **more):
    tables = [{"affine": each, **more} for each in maps]
    table = {"formula": {"name": "flame", "transforms": tables}}
    return fractals.load_scene(table).make_any_formula()


def test_a_sierpinski_triangle_has_its_measure():
    """Each of the 27 triangles of the third step holds a 27th of the points, and no other place.

    A matrix makes a right angle of a corner, so that each triangle lies in one of 8 x 8 buckets.
    """
    flame = fractals.load_scene({"formula": "flame"}).make_any_formula()
    high = 2 * 0.433
    counts = points_of(flame, [4, -2 / high, 0, 4 / high, 2, 4], (8, 8), 100_000, 5)
    held = np.array([[i & j == 0 for i in range(8)] for j in range(8)])
    assert held.sum() == 27
    assert counts[~held].sum() == 0
    assert counts.sum() == 100_000
    off, mean, deviation = chi_square(counts[held], 100_000 / 27)
    assert abs(off - mean) < 4 * deviation


def test_a_square_of_four_maps_is_flat():
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    flame = flame_of_maps(*([0.5, 0, x, 0, 0.5, y] for x, y in corners))
    counts = points_of(flame, [16, 0, 0, 16, 16, 16], (32, 32), 200_000, 6)
    assert counts.sum() == 200_000
    off, mean, deviation = chi_square(counts, 200_000 / 1024)
    assert abs(off - mean) < 4 * deviation


def test_an_independent_game_agrees():
    """Twenty lines with Python's own random numbers, by chi-square over 32 x 32 buckets."""
    tables = [
        {"affine": [0.6, 0.2, 0.3, -0.2, 0.6, 0], "weight": 2, "color": 0},
        {"affine": [0.5, 0, -0.5, 0, 0.5, 0.4], "variations": {"sinusoidal": 1.2}, "color": 1},
    ]
    flame = fractals.load_scene({"formula": {"name": "flame", "transforms": tables}})
    ours = points_of(flame.make_any_formula(), [12, 0, 0, 12, 16, 16], (32, 32), 200_000, 9)
    dice, theirs = random.Random(7), np.zeros((32, 32))
    for _ in range(10_000):
        x, y = dice.uniform(-1, 1), dice.uniform(-1, 1)
        for _ in range(40):
            if dice.random() < 2 / 3:
                x, y = 0.6 * x + 0.2 * y + 0.3, -0.2 * x + 0.6 * y
            else:
                x, y = 1.2 * math.sin(0.5 * x - 0.5), 1.2 * math.sin(0.5 * y + 0.4)
        column, row = math.floor(12 * x + 16), math.floor(12 * y + 16)
        if 0 <= column < 32 and 0 <= row < 32:
            theirs[row, column] += 1
    assert theirs.sum() > 9_900
    # Buckets of few points are one.
    few = ours < 200
    a, b = (np.append(each[~few], each[few].sum()) for each in (ours, theirs))
    ratio = math.sqrt(a.sum() / b.sum())
    off = ((a / ratio - b * ratio) ** 2 / (a + b)).sum()
    assert len(a) > 60
    assert abs(off - (len(a) - 1)) < 4 * math.sqrt(2 * len(a))


@pytest.mark.slow
def test_two_to_the_33_points_in_a_bucket_are_all_counted():
    flame = flame_of_maps([0, 0, 0.3, 0, 0, 0.3], color=0.6, color_speed=1)
    sums, hits = by_machine(flame, "float32", Game(0, 2**20, 5, 1, 2), 2**13, 1024, 8)
    assert hits == 2**33
    assert sums[..., 3].max() == sums[..., 3].sum() == 2**33 * games.HIT


NAMES = "linear sinusoidal spherical julia julian blur eyefish log pre_gaussian_blur post_curl"
numbers = st.floats(-1.25, 1.25, width=16)
transforms = st.fixed_dictionaries(
    {
        "affine": st.lists(numbers, min_size=6, max_size=6),
        "weight": st.floats(0.1, 2),
        "color": st.floats(0, 1),
        "color_speed": st.floats(-1, 1),
        "opacity": st.sampled_from([0, 0.3, 1]),
        "variations": st.dictionaries(st.sampled_from(NAMES.split()), numbers, min_size=1),
    },
    optional={
        "xaos": st.lists(st.floats(0, 2), max_size=6),
        "post": st.lists(numbers, min_size=6, max_size=6),
    },
)


@settings(max_examples=8, derandomize=True, deadline=None, database=None)
@given(
    st.lists(transforms, min_size=1, max_size=6),
    st.none() | transforms.map(lambda table: {**table, "opacity": 1}),
    st.integers(0, MASK),
)
def test_random_flames_have_the_bits_of_plain_python(several, final, seed):
    table = {"name": "flame", "transforms": several} | ({"final": final} if final else {})
    flame = fractals.load_scene({"formula": table}).make_any_formula()
    game = Game(seed, 12, 5, seed, 3)
    sums, hits = by_kernel("python", flame, "float32", game, 14)
    for pool, players in ((256, 1), (1024, 2), (4, 7)):
        other = by_machine(flame, "float32", game, 14, pool, players)
        assert np.array_equal(other[0], sums)
        assert other[1] == hits


def test_a_final_transform_needs_no_opaque_one_beside_it():
    faint = [{"affine": [0.5, 0, x, 0, 0.5, 0], "opacity": 0.3} for x in (0, 1)]
    table = {"name": "flame", "transforms": faint}
    flames = [
        fractals.load_scene({"formula": {**table, **final}}).make_any_formula()
        for final in ({}, {"final": {"color_speed": 0}})
    ]
    game = Game(0, 12, 5, 3, 3)
    plain, other = (by_kernel("python", flame, "float32", game, 14) for flame in flames)
    assert plain[1] == other[1] > 50
    assert np.array_equal(plain[0], other[0])


def test_each_variation_is_compiled_once(monkeypatch):
    """A second flame of the same variations compiles nothing."""
    from fractals.backends.compilation import without_compiling

    flame = flame_of("drawn")
    Machine("float32", flame, (8, 8))
    by_machine(flame, "float32", Game(0, 5, 5, 0, 0), 8, 8)
    other = fractals.load_scene(
        {"formula": {"name": "flame", "transforms": [{"variations": {"julia": 1, "blur": 0.1}}]}}
    ).make_any_formula()
    with without_compiling():
        by_machine(other, "float32", Game(0, 5, 5, 0, 0), 8, 8)


def test_variations_know_what_they_draw():
    for name in catalog.names("variation"):
        made = catalog.load("variation", name)()
        assert made.name == name
        assert 0 <= made.draws <= 8
        assert made.title


@pytest.mark.skipif(not FUSED, reason="this CPU has no fused multiply-add")
@pytest.mark.parametrize("name", ["sinusoidal", "julian", "disc", "heart", "spherical", "julia"])
def test_loops_of_variations_are_vectors(name):
    """LLVM makes vectors of a loop without a branch; a game of single numbers takes twice as long.

    A branch comes into a loop unseen, as by `a if condition else b` where a is an array's element.
    """
    from fractals.backends.cpu import target
    from fractals.backends.cpu.programs import array
    from fractals.scatter import cpu_game

    if name == "julia" and REGISTER <= 16:
        pytest.skip("vectors of four numbers are not worth it to LLVM here, as on Arm")
    whole = tuple, *["q"] * 6
    layout = tuple, array("f", 2), array("i"), array("f"), whole, whole
    options = (catalog.load("variation", name)(),)
    text = target.text_of(cpu_game.LOOP, "float32", options, layout, False)
    assert "x float> @llvm.fma" in text


def test_random_numbers_and_sums_are_vectors():
    """A signed index, or a loop over a signed range, can keep LLVM from vectors."""
    from fractals.backends import machine_code
    from fractals.backends.cpu import target
    from fractals.scatter import cpu_game

    flame, real = flame_of("affine"), np.float32
    machine = Machine("float32", flame, (8, 8))
    arguments = (flame.data(real), Game(0, 1, 1, 0, 0), 8, np.zeros(1, np.int64))
    window = window_of(flame, real)
    sums = Sums(np.zeros((1, 64, 4), np.uint32), *np.zeros((3, 1), np.int64))
    sums = sums._replace(large=np.zeros((1, 64, 4), np.int64))
    layout = machine_code.layout_of((*arguments, window, *machine.player(), sums))
    text = target.text_of(cpu_game.MACHINE, "float32", (), layout, False)
    if REGISTER > 16:
        assert re.search(r"mul .*<\d+ x i64>", text)
    assert "load <4 x i32>" in text

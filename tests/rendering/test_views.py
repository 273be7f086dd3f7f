"""Views that are stretched, mirrored or projected: the right points, distances and lights."""

import random
from dataclasses import replace
from decimal import Decimal
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from oracle import naive
from support.drawings import compute_on, opened
from support.scenes import PRECISIONS, scene, slow_but

import fractals
from fractals import Scene
from fractals.backends.devices import open_backend
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.rendering.plan import make_plan
from fractals.rendering.sampling import Samples, indices
from fractals.rendering.tiles import Tile
from fractals.tools import verify

RADIUS = 64
SHALLOW = {"center": ["-0.7436", "0.1318"], "width": "0.02"}
CENTER = ["0", "1"]  # the orbit of 0 ends in a cycle, and detail never does
LOOKS = [
    {"rotation": 20, "stretch": 1.7, "stretch_angle": 33, "mirror": True},
    {"mirror": True},
    {"stretch": 0.4, "rotation": -100},
    {"projection": "exponential", "width": "3"},
    {"projection": "exponential", "rotation": 50, "stretch": 1.5, "stretch_angle": -20},
]
PLANE, EXPONENTIAL = LOOKS[::3]
each_look = pytest.mark.parametrize("look", LOOKS, ids=lambda look: ",".join(look))


def points_of(planned):
    """Return where the samples of a plan lie, as complex numbers."""
    n = planned.supersampling
    window = Tile(0, 0, *planned.size).window(n)
    x, y = Samples(planned).at(*indices(window))[:2]
    return (x + 1j * y).reshape(planned.size[1] * n, -1)


@settings(max_examples=80)
@given(
    size=st.tuples(st.integers(1, 30), st.integers(1, 60)),
    n=st.integers(1, 3),
    rotation=st.floats(-360, 360),
    stretch=st.floats(1e-3, 1e3),
    angle=st.floats(-360, 360),
    mirror=st.booleans(),
    projection=st.sampled_from(["plane", "exponential"]),
    seed=st.integers(0, 1000),
)
@example((1, 37), 1, 0, 1 / 256, 180, False, "plane", 1)
def test_samples_lie_where_the_view_says(
    size, n, rotation, stretch, angle, mirror, projection, seed
):
    look = {"stretch": stretch, "stretch_angle": angle, "mirror": mirror, "projection": projection}
    keys = {"center": ["-0.5", "0.25"], "width": "1e-3", "rotation": rotation, **look}
    planned = make_plan(
        scene(size=size, supersampling=n, precision="float64", max_iterations=9, **keys)
    )
    dice = random.Random(seed)
    i, j = dice.randrange(size[0] * n), dice.randrange(size[1] * n)
    found = Samples(replace(planned, bits=0)).at(np.array([i]), np.array([j]))
    wanted = naive.placed(i, j, size, scene(size=size, **keys).view, n)
    # A rounded sine of the angle of a stretch is multiplied by it, and by the longer side
    across = 1e-6 * max(stretch, 1 / stretch) * max(1, size[1] / size[0])
    reach = float(abs(wanted - naive.mpc("-0.5", "0.25"))) + across
    assert abs(found[0, 0] + 1j * found[1, 0] - complex(wanted)) < 1e-12 * reach + 2e-16


@each_look
@pytest.mark.parametrize("antialias", ["grid", "jittered"])
def test_shallow_counts_are_the_oracles(look, antialias):
    keys = {**SHALLOW, **look, "max_iterations": 300, "escape_radius": RADIUS}
    drawn = scene(size=(24, 20), supersampling=2, antialias=antialias, **keys)
    raw = fractals.compute(drawn, device="cpu")
    assert raw.method == "direct"
    points = points_of(make_plan(drawn))
    dice, checked = random.Random(3), 0
    for _ in range(15):
        i, j = dice.randrange(48), dice.randrange(40)
        point = naive.mpc(complex(points[j, i]))
        if antialias == "grid":
            exact = naive.placed(i, j, (24, 20), drawn.view, 2)
            assert abs(exact - point) < 1e-14
        if naive.is_stable("mandelbrot", point, None, 300, RADIUS, mpf(10) ** -14):
            checked += 1
            assert raw.count[j, i] == naive.sample("mandelbrot", point, None, 300, RADIUS)[0]
    assert checked > 5


def deep(look, **keys):
    """Return a busy view around i, or the strip down to there."""
    width = "1" if look.get("projection") else "1e-25"
    size = (12, 110) if look.get("projection") else (12, 10)
    changes = {"center": CENTER, "width": width, "size": size, "max_iterations": 300}
    return scene(escape_radius=RADIUS, **{**changes, **keys, **look})


@each_look
@pytest.mark.parametrize("antialias", ["grid", "jittered"])
def test_deep_counts_are_exact(look, antialias):
    drawn = deep({**look, "width": "1"} if "projection" in look else look, antialias=antialias)
    raw = fractals.compute(drawn, device="cpu", on_message=str)
    assert raw.method == "perturbation"
    planned, dice = make_plan(drawn), random.Random(7)
    height, width = raw.count.shape
    with mpmath.workdps(150):
        for _ in range(12):
            i, j = dice.randrange(width), dice.randrange(height)
            exact = verify.exact_count(drawn, planned, i, j)
            assert raw.count[j, i] == exact or not verify._stable(drawn, planned, i, j)
            if antialias == "grid":  # and so are the places that it takes
                point = naive.placed(i, j, drawn.image.size, drawn.view)
                assert naive.sample("mandelbrot", point, None, 300, RADIUS)[0] == exact
    assert len(np.unique(raw.count)) > 5


@pytest.mark.parametrize("julia", [False, True], ids=["parameters", "julia"])
def test_a_strip_goes_where_float64_ends(julia):
    """Each row has its own exponent; one reference serves them all."""
    keys = {"julia": ["-0.4", "0.59"], "center": ["0", "0"]} if julia else {}
    drawn = deep({"projection": "exponential"}, size=(6, 720 if julia else 640), **keys)
    planned = make_plan(drawn)
    assert planned.extended
    assert planned.finest < Decimal("1e-140")
    raw = fractals.compute(drawn, device="cpu", on_message=str)
    dice = random.Random(1)
    for _ in range(25):
        i, j = dice.randrange(6), dice.randrange(drawn.image.size[1])
        exact = verify.exact_count(drawn, replace(planned, max_iterations=raw.max_iterations), i, j)
        assert raw.count[j, i] == exact or not verify._stable(drawn, planned, i, j)


def test_a_row_of_a_strip_is_a_circle():
    """The same counts as of ordinary pictures of one sample each."""
    drawn = scene(size=(16, 6), projection="exponential", **SHALLOW)
    strip = fractals.compute(drawn, device="cpu").count
    for j in (0, 5):
        for i in range(0, 16, 3):
            point = naive.placed(i, j, (16, 6), drawn.view)
            center = [mpmath.nstr(part, 25) for part in (point.real, point.imag)]
            alone = scene(size=(1, 1), center=center, width="1e-8")
            assert fractals.compute(alone, device="cpu").count[0, 0] == strip[j, i]


def test_a_turn_of_a_strip_is_a_shift():
    drawn = scene(size=(16, 9), projection="exponential", **SHALLOW, max_iterations=200)
    counts = fractals.compute(drawn, device="cpu").count
    turned = fractals.compute(drawn.replace(rotation=90), device="cpu").count
    assert np.mean(np.roll(turned, -4, 1) != counts) < 0.05
    assert np.mean(turned != counts) > 0.2


def test_a_mirror_turns_a_picture_upside_down():
    drawn = scene(size=(20, 14), **SHALLOW)
    pictures = [fractals.render(drawn.replace(mirror=on), device="cpu").pixels for on in (0, 1)]
    assert np.array_equal(pictures[0], pictures[1][::-1])


def slopes_in(drawn):
    """Return counts, z and the dz that colorings are given, of all samples."""
    drawing = opened(drawn, on_message=str)
    whole = Tile(0, 0, *drawn.image.size)
    raw = drawing.source.iterate(whole)
    n = drawn.image.supersampling
    arms = drawing.painter.places(*indices(whole.window(n))).arms
    count, x, y, p, q, _ = drawing.painter._turned(raw[0].shape, raw, arms)
    return count, x + 1j * y, p + 1j * q


SLOPES = [("mandelbrot", "shallow"), ("burning_ship", "shallow"), ("mandelbrot", "deep")]


@pytest.mark.parametrize(
    ("formula", "depth", "look"),
    slow_but(  # strips of the burning ship need a program of their own
        [
            (*what, look)
            for what, look in product(SLOPES, LOOKS)
            if what[0] == "mandelbrot" or "projection" not in look
        ],
        [(*what, look) for what, look in product(SLOPES, LOOKS)],
    ),
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_slopes_are_those_of_the_picture(formula, depth, look):
    """|z| grows as the oracle says when a sample is moved in the picture, right and up."""
    if depth == "shallow":
        drawn = scene(
            formula, size=(12, 10), max_iterations=200, escape_radius=RADIUS, **SHALLOW | look
        )
    else:
        drawn = deep({**look, "width": "1"} if "projection" in look else look)
    count, z, dz = slopes_in(drawn)
    size, limit = drawn.image.size, drawn.iteration.max_iterations
    projected = drawn.view.projection == "exponential"
    unit = 1 if projected or depth == "deep" else mpf(drawn.view.width)
    h, checked = mpf(10) ** -40, 0
    with mpmath.workdps(190):
        for j, i in np.argwhere(count < limit)[:: max(1, count.size // 9)]:
            n = int(count[j, i])
            growth = []
            for axis in (1, -1j):  # rows count downwards
                ends = []
                for by in (h, -h):
                    move = mpmath.mpc(axis) * by * size[0]
                    at = naive.placed(i + move.real, j + move.imag, size, drawn.view)
                    ends.append(abs(naive.after(formula, at, None, n)))
                growth.append((ends[0] - ends[1]) / (2 * h))
            found = z[j, i] * np.conj(dz[j, i]) / abs(z[j, i])
            wanted = complex(*(float(part / unit) for part in growth))
            if depth == "deep" and abs(wanted) > 1e14:
                continue  # there the count itself is chaotic
            checked += 1
            assert abs(found - wanted) < 1e-3 * abs(wanted)
    assert checked > 3


def test_a_light_stays_in_the_picture():
    """Turned or mirrored, a relief is lit from the upper left of the picture."""
    palette = {"stops": [[0, "#000"], [1, "#fff"]], "cyclic": False}
    keys = {"coloring": "slopes", "palette": palette, "center": ["0", "0"], "width": "30"}
    for look in ({}, {"rotation": 77}, {"mirror": True}, {"rotation": -120, "mirror": True}):
        drawn = scene(size=(41, 41), **keys, **look)
        light = fractals.render(drawn, device="cpu").pixels[..., 0].astype(int)
        # Far from the set the relief is a cone, whose side towards the light is the brighter one.
        assert light[5, 5] > light[5, 35] > light[35, 35]
        assert abs(light[35, 5] - light[5, 35]) < 30


@pytest.mark.parametrize("kind", ["simulator", "python"])
@pytest.mark.parametrize(
    ("look", "precision"),
    slow_but(
        [(PLANE, "float32"), (EXPONENTIAL, "float64")], product([PLANE, EXPONENTIAL], PRECISIONS)
    ),
    ids=lambda value: value if isinstance(value, str) else value.get("projection", "plane"),
)
def test_devices_agree(kind, precision, look):
    drawn = scene(size=(13, 9), precision=precision, coloring="slopes", **SHALLOW | look)
    ours, theirs = (
        fractals.render(drawn, device=device, on_message=str) for device in ("cpu", kind)
    )
    assert np.array_equal(ours.pixels, theirs.pixels)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["simulator", "python"])
def test_devices_agree_on_strips_of_any_depth(kind):
    drawn = deep({"projection": "exponential"}, size=(3, 320), coloring="distance")
    ours, theirs = (fractals.compute(drawn, device=d, on_message=str) for d in ("cpu", kind))
    assert make_plan(drawn).extended
    for name in ("count", "z", "dz"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()


def test_parts_of_launches_add_up():
    drawn = scene(size=(9, 8), max_iterations=200, antialias="jittered", **SHALLOW)
    whole = fractals.compute(drawn, device="cpu")
    backend = open_backend(fractals.devices()[0], "float64", 1)
    backend.steps = 72 * 30
    parts = compute_on(backend, drawn)
    assert whole.count.tobytes() == parts.count.tobytes()
    assert whole.dz.tobytes() == parts.dz.tobytes()


def test_a_strip_is_planned_by_its_deepest_row():
    strip = scene(size=(100, 1100), projection="exponential", center=CENTER, width="1")
    planned = make_plan(strip)
    assert planned.method == "perturbation"
    table = planned.to_table()
    assert table["projection"] == "exponential"
    # 11 times the width high: exp(22 pi) deep, and a circle is pi times as long as it is wide.
    assert float(table["finest"]) == pytest.approx(
        float(mpmath.pi * mpmath.exp(-22 * mpmath.pi)), rel=0.01
    )
    with pytest.raises(OptionError, match="too deep for float32"):
        make_plan(strip.replace(precision="float32"))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"stretch": 0}, "view.stretch: "),
        ({"stretch": 1e9}, "view.stretch: "),
        ({"stretch_angle": 400}, "view.stretch_angle: "),
        ({"mirror": "up"}, "view.mirror: "),
        ({"projection": "mercator"}, "view.projection: "),
        ({"antialias": "blur"}, "image.antialias: "),
    ],
)
def test_bad_views(keys, words):
    with pytest.raises(SceneError, match=words):
        Scene().replace(**keys)


def test_nothing_is_sought_in_a_strip():
    with pytest.raises(FractalsError, match="projection='plane'"):
        fractals.find_nucleus(scene(projection="exponential"))


def test_a_nucleus_is_found_in_a_stretched_view():
    keys = {"center": ("-1.7", "0.02"), "width": "0.2"}
    found = fractals.find_nucleus(Scene().replace(**keys, stretch=1.5, mirror=True, rotation=30))
    assert found.period == 3
    with pytest.raises(FractalsError, match="no nucleus"):  # squeezed, it lies outside
        fractals.find_nucleus(Scene().replace(**keys, stretch=30), max_iterations=3)

"""Exact counts where perturbation, or float64, was once wrong, and where it may be."""

import datetime
import json
import os
import random
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import attack, naive
from support.deadline import deadline
from support.scenes import scene, slow_but

import fractals
from fractals.rendering import plan
from fractals.scene.model import Scene

WEAK = json.loads((Path(__file__).parents[1] / "data" / "weak.json").read_text())["views"]
# One view of each family; the others compile more, or take longer.
OFTEN = (
    "on kinks: burning_ship, -2, 1e-272",
    "flat: beside a minibrot of period 14, its size / 1e10",
    "julia together: c = i, preimage 1 of 0, 1e-9",
    "radius: -2, 1e-30, R = 2",
    "rim: minibrot of period 401, size 2.829580e-301, without dips",
)
SEED = "FRACTALS_ATTACK_SEED"
VIEWS = "FRACTALS_ATTACK_VIEWS"


AVERAGES = [  # with the programs of `test_statistics_deep.py`
    {"coloring": {"name": "orbit_trap", "shape": "point", "x": 0.3}, "mask": "all"},
    {"coloring": {"name": "stripe_average", "density": 4}},
    {"coloring": "triangle_average"},
    {"coloring": "distance"},
]
# Of the views above: z is small there, or z - c has no digits of f(z), or has an exponent.
VALUES = (
    "on kinks: burning_ship, -2, 1e-272",
    "on kinks: burning_ship, -2, 1e-700",
    "on kinks: burning_ship, real nucleus of period 237, size 2.488944e-284, whole",
    "flat: beside a minibrot of period 14, its size / 1e10",
    "on kinks: buffalo, -2, 1e-330",
)
SHIP = {
    "name": "on kinks: burning_ship, -2, 1e-330",
    "scene": {
        "formula": "burning_ship",
        "view": {"center": ["-2", "0"], "width": "1e-330"},
        "image": {"size": [16, 9], "supersampling": 1},
        "iteration": {"max_iterations": 3000},
    },
    "pixels": [[3, 2, 551], [12, 1, 551]],
}
# c where a cycle of z² + c is parabolic: cusps, and roots of components on others.
PARABOLIC = {
    "-3/4": ("-0.75", "0"),
    "1/4": ("0.25", "0"),
    "1/3": ("-0.125", "0.6495190528383289850727924"),
    "1/4 of 1": ("0.25", "0.5"),
    "2/5": ("-0.4817627457812105810767181", "0.5316567552200250335535164"),
    "1/7": ("0.3673751344184454262106886", "0.1471837631885590201496143"),
    "-5/4": ("-1.25", "0"),
    "1/3 of 2": ("-1.125", "0.2165063509461096616909308"),
    "2/5 of 2": ("-1.2022542485937368560256335", "0.1469463130731182803476634"),
    "cusp of 3": ("-1.75", "0"),
    "1/2 of 3": ("-1.7685291525042097985", "0"),
    "limit of doubling": ("-1.4011551890920506004", "0"),
    "1/4 of 2": ("-1", "0.25"),
}


def wrong(drawn, pixels):
    """Return column, row, count and true count where they differ."""
    raw = fractals.compute(drawn, device="cpu", on_message=str, cache=False)
    found = [(i, j, int(raw.count[j, i]), n) for i, j, n in pixels]
    return [pixel for pixel in found if pixel[2] != pixel[3]]


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(
            view,
            id=f"{k}-{view['name']}",
            marks=[] if view["name"] in OFTEN else pytest.mark.slow,
        )
        for k, view in enumerate(WEAK)
    ],
)
def test_counts_of_weak_places(view):
    drawn = Scene.model_validate(view["scene"])
    if view["name"] in VALUES:  # with the program of the test below
        drawn = drawn.replace(coloring="distance")
    with deadline():
        assert wrong(drawn, view["pixels"]) == []


def sums(formula, point, limit, radius):
    """Return the sums of the terms of triangles and stripes, and the count."""
    z, n, triangles, stripes = mpc(0), 0, mpf(0), mpf(0)
    while n < limit and abs(z) <= radius:
        z = naive.STEPS[formula](z, point)
        n += 1
        moved, added = abs(z - point), abs(point)
        low, high = abs(moved - added), moved + added
        triangles += (abs(z) - low) / (high - low) if high > low else 0
        stripes += 0.5 + mpmath.sin(4 * mpmath.arg(z)) / 2
    return float(triangles), float(stripes), n


def slope(formula, point, steps, width):
    """Return the length of the gradient of |z|, per width of the view."""
    h = width * mpf("1e-40")
    parts = []
    for move in (mpc(h, 0), mpc(0, h)):
        ahead, behind = (
            abs(naive.after(formula, point + side * move, None, steps)) for side in (1, -1)
        )
        parts.append((ahead - behind) / (2 * h) * width)
    return float(mpmath.hypot(*parts))


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(
            view,
            id=view["name"],
            marks=[] if view["name"] in OFTEN else pytest.mark.slow,
        )
        for view in [SHIP, *WEAK]
        if view["name"] in (*VALUES, SHIP["name"])
    ],
)
def test_values_in_weak_places(view):
    drawn = Scene.model_validate(view["scene"]).replace(layers=AVERAGES)
    raw = fractals.compute(drawn, device="cpu", on_message=str, cache=False, force=True)
    formula, limit, radius = view["scene"]["formula"], drawn.iteration.max_iterations, 256
    planes = {
        name.split(",")[0].split(".")[0]: plane
        for name, plane in raw.statistics.items()
        if "sum" in name
    }
    digits = -3 * mpmath.log10(mpf(drawn.view.width))
    escaping = [(i, j) for i, j, n in view["pixels"] if n < limit]
    assert escaping
    with mpmath.workdps(int(digits) + 60):
        width = mpf(drawn.view.width)
        for i, j in escaping[:2]:
            point = naive.position(i, j, drawn.image.size, drawn.view.center, width)
            triangles, stripes, n = sums(formula, point, limit, radius)
            assert raw.count[j, i] == n
            assert planes["triangles"][j, i] == pytest.approx(triangles, rel=1e-7, abs=1e-7)
            assert planes["stripes"][j, i] == pytest.approx(stripes, rel=1e-7, abs=1e-7)
            assert abs(raw.dz[j, i]) == pytest.approx(slope(formula, point, n, width), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "far"), [(8, 2), (10, 2.5), (12, 2.2)])
@pytest.mark.parametrize("name", PARABOLIC)
def test_counts_beside_parabolic_points(name, depth, far):
    """On 24 stable pixels, beside the point in a direction in which orbits escape slowly."""
    dice, size, limit = random.Random(f"{name} {depth} {far}"), (64, 36), 2500
    with mpmath.workdps(40):
        count = 0
        while not 30 < count < limit:
            turn = mpmath.expjpi(mpf(dice.uniform(0, 2)))
            center = mpc(*map(mpf, PARABOLIC[name])) + mpf(10) ** -far * turn
            count, _ = naive.escape("mandelbrot", 0, center, limit, 256)
        text = [mpmath.nstr(part, 30) for part in (center.real, center.imag)]
        width, found = mpf(10) ** -depth, []
        drawn = scene(center=text, width=f"1e-{depth}", size=size, max_iterations=limit)
        for _ in range(60):
            i, j = dice.randrange(size[0]), dice.randrange(size[1])
            point = naive.position(i, j, size, text, width)
            options = point, None, limit, 256
            n = naive.sample("mandelbrot", *options)[0]
            if naive.is_stable("mandelbrot", *options, width / size[0] * attack.MOVE):
                found.append((i, j, n))
            if len(found) == 24:
                break
    assert len(found) == 24
    assert wrong(drawn, found) == []


STEEP = (  # centers and widths where direct iteration was wrong, as counts of neighbors differ much
    (("-0.750015171492491431", "-0.00316224126622488791"), "1e-10"),
    (("0.367186995359765486", "0.146201620788191801"), "1e-10"),
)
# Views, as wide as 64 of their samples, where counts change if a sample moves by a tiny part of a
# sample's width: float64 has the others.
CHAOTIC = {
    "seahorse valley": (("-0.743643887037151", "0.131825904205330"), "1.9e-7"),
    "beside 1/4": (("0.250998817862532823", "0.0000486094382333489267"), "1e-8"),
}


def test_perturbation_begins_earlier_where_counts_of_neighbors_differ_much():
    for center, width in STEEP:
        keys = {"center": center, "width": width, "size": (64, 36), "max_iterations": 20_000}
        assert fractals.plan(scene(**keys)).method == "perturbation"
    flat = {"center": ["-0.75", "0.01"], "width": "1e-8", "size": (64, 36)}
    assert fractals.plan(scene(**flat)).method == "direct"


@pytest.mark.parametrize("place", slow_but(["beside 1/4"], CHAOTIC))
def test_direct_iteration_differs_from_perturbation_in_chaotic_counts_alone(place):
    """It takes a fifth of the time and less, and no digits give a chaotic count a meaning."""
    (center, width), size, limit = CHAOTIC[place], (64, 36), 3000
    drawn = scene(center=center, width=width, size=size, max_iterations=limit)
    assert fractals.plan(drawn).method == "direct"
    direct = fractals.compute(drawn, device="cpu").count
    with mock.patch.object(plan, "SPARE_BITS", {"float64": 60}):
        assert fractals.plan(drawn).method == "perturbation"
        deep = fractals.compute(drawn, device="cpu").count
    dice = random.Random(place)
    rows, columns = np.nonzero(direct != deep)
    chosen = dice.sample(range(len(rows)), min(8, len(rows)))
    pixels = [(int(columns[k]), int(rows[k])) for k in chosen]
    assert pixels
    pixels += [(dice.randrange(size[0]), dice.randrange(size[1])) for _ in range(16)]
    stable = 0
    with mpmath.workdps(50):
        for i, j in pixels:
            point = naive.position(i, j, size, center, mpf(width))
            options = point, None, limit, 256
            if naive.is_stable("mandelbrot", *options, mpf(width) / size[0] * attack.MOVE):
                stable += 1
                assert direct[j, i] == naive.sample("mandelbrot", *options)[0]
    assert stable > 3


@pytest.mark.slow
def test_views_of_this_week_have_the_counts_of_the_oracle():
    """Another seed each week; what it finds is a bug, and the message names its seed and place."""
    year, week, _ = datetime.date.today().isocalendar()
    seed = os.environ.get(SEED) or f"{year}-{week}"
    failed, compared = [], 0
    for k, view in enumerate(attack.views(seed, int(os.environ.get(VIEWS) or 28))):
        pixels = view.pixels(random.Random(f"{seed} {k}"))
        compared += len(pixels)
        bad = wrong(scene(**view.table()), pixels)
        if bad:
            failed.append(f"{SEED}={seed}, view {k}, {view.name}: {bad}, {view.table()}")
    assert not failed, "\n".join(failed)
    assert compared > 100, f"{SEED}={seed}"

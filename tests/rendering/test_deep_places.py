"""Exact counts in deep views where perturbation was once wrong, slow or refused, on two backends.

The counts of `truth3.json` are given; others come from the loops of the oracle. Backends are
compared with exact numbers, and not only with each other, because they may be wrong together.
"""

import json
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from support.drawings import opened
from support.scenes import scene, slow_but

import fractals
from fractals.backends.base import Run
from fractals.errors import FractalsError
from fractals.kernels import bla
from fractals.kernels.layout import BLA_RADIUS
from fractals.rendering.perturb import last_tables
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth3.json").read_text())
NUCLEI = [view for view in TRUTH["views"] if view["name"].startswith("Julia set of a nucleus")]
REFUSED = TRUTH["refused"]
OFTEN = (NUCLEI[2]["name"], *(view["name"] for view in REFUSED if "julia" in view["scene"]))


def compute(drawn, device="cpu"):
    return fractals.compute(drawn, device=device, on_message=str, cache=False)


def drawn_of(view):
    """Return the scene of an entry of `truth3.json`, which writes `limit` for `max_iterations`."""
    given = dict(view["scene"])
    iteration = dict(given["iteration"])
    if "limit" in iteration:
        iteration["max_iterations"] = iteration.pop("limit")
    return Scene.model_validate({**given, "iteration": iteration})


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(view, id=view["name"], marks=[] if view["name"] in OFTEN else pytest.mark.slow)
        for view in [*NUCLEI, *REFUSED]
    ],
)
def test_counts_are_those_of_exact_orbits(view):
    raw = compute(drawn_of(view))
    assert [(i, j, int(raw.count[j, i])) for i, j, _ in view["pixels"]] == [
        tuple(pixel) for pixel in view["pixels"]
    ]


# Flat: all samples end with the reference, which escapes after a long orbit. The counts are those
# of the center, by 1200 bits.
FLAT = [
    ("mandelbrot", "-1.74999841099", "-1.3e-17", "1e-300", 4277),
    ("mandelbrot", "-1.7499984109936540", "-1.3e-17", "1e-271", 12829),
    ("mandelbrot", "-1.7499984109936540", "-1.3e-17", "1e-400", 12829),
    ("mandelbrot", "-1.417723", "-0.0001610", "1e-300", 797),
    ({"name": "multibrot", "power": 3}, "-0.548624", "0.1330605", "1e-300", 209),
    ({"name": "multibrot", "power": 5}, "-0.539273", "-0.0002152", "1e-300", 29),
    ("burning_ship", "-1.397176", "0.0000935", "1e-300", 184),
    ("tricorn", "-1.630334", "0.0001054", "1e-300", 507),
    ("celtic", "-1.402468", "0.0011675", "1e-300", 503),
    ("buffalo", "-1.399996", "0.0000519", "1e-300", 638),
    ("perpendicular_burning_ship", "-0.939290", "0.2984562", "1e-300", 276),
    ("heart", "-1.417359", "-0.0000198", "1e-300", 214),
    ("celtic_heart", "-1.399793", "-0.0000134", "1e-300", 352),
    ("shark_fin", "-1.711368", "-0.0000679", "1e-300", 109),
    ("-z^2 + c", "-0.374748", "-0.1852935", "1e-300", 526),
    ("absx(z)^3 + c", "0.387035", "0.0001162", "1e-300", 56),
]


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    ("formula", "x", "y", "width", "count"), slow_but([FLAT[0], FLAT[6]], FLAT)
)
def test_flat_views_escape_with_their_reference(device, formula, x, y, width, count):
    drawn = scene(formula, center=[x, y], width=width, size=(2, 1), max_iterations=20_000)
    assert compute(drawn, device).count.tolist() == [[count, count]]


PREPERIODIC = [  # whole numbers, so that their orbits are whole, too
    ("mandelbrot", "0", "1"),
    ("mandelbrot", "0", "-1"),
    ("mandelbrot", "-2", "0"),
    ("burning_ship", "-2", "0"),
    ("celtic", "-2", "0"),
    ("tricorn", "-2", "0"),
    ("buffalo", "-2", "0"),
    ("-z^2 + c", "0", "1"),
]


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize(
    ("place", "width"),
    slow_but([(PREPERIODIC[0], "1e-40")], product(PREPERIODIC, ["1e-12", "1e-100", "1e-300"])),
)
def test_the_sample_on_a_preperiodic_point_is_inside(device, place, width):
    """Its difference stays 0, while the numbers of a skip leave float64's range."""
    formula, *center = place
    drawn = scene(formula, center=center, width=width, size=(3, 3), max_iterations=3000)
    count = compute(drawn, device).count
    assert count[1, 1] == 3000
    assert (count[0] < 3000).all()


def finite(table):
    return np.isfinite(table).all(axis=1)


@pytest.mark.parametrize(
    "drawn",
    [
        # The derivative grows without end.
        scene(center=["0", "1"], width="1e-40", size=(2, 1), max_iterations=4000),
        drawn_of(NUCLEI[2]),
    ],
    ids=["preperiodic", "nucleus"],
)
def test_no_valid_entry_holds_what_is_no_number(drawn):
    compute(drawn)
    (tables, _, _), *_ = last_tables
    _, _, stages, entries, _, tree, _ = tables.arrays
    valid = tree[:, BLA_RADIUS] > 0
    assert valid.sum() > 100
    assert finite(tree[valid][:, :BLA_RADIUS]).all()
    rows = np.concatenate([np.arange(*stage) for stage in stages[: tables.stage_count]] or [[]])
    used = entries[rows.astype(int)]
    assert finite(used[used[:, bla.LA_RADIUS] > 0]).all()


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_what_is_no_number_is_never_a_count(device, monkeypatch):
    drawn = scene(center=["-2", "0"], width="1e-30", size=(2, 1), max_iterations=200)
    drawing = opened(drawn, device, shading=False, on_message=str)
    orbit = drawing.source.tables.orbit
    orbit[20:] = np.nan
    with pytest.raises(FractalsError, match="became NaN"):
        drawing.source.iterate(Tile(0, 0, 2, 1))


def passes(drawn, budget):
    """Return whether each sample of a picture ends within so many skips and steps.

    A picture without dz shares its programs with those of `truth3.json`.
    """
    source = opened(drawn, "python", shading=False, on_message=str).source
    source.view, run, left = source.view._replace(step_budget=budget), source.run, []

    def watched(tile, work, *rest):
        run(tile, work, *rest)
        left.append(work.under_way[0, 0])

    source.run = Run(watched, "python")
    source.iterate(Tile(0, 0, *drawn.image.size))
    return left == [0]


@pytest.mark.parametrize(
    "keys",
    [
        {"center": ["-0.75", "0"], "width": "1e-290"},
        {"center": ["0.25", "0"], "width": "1e-400"},
        {"julia": ["-0.75", "0"], "center": ["0", "0"], "width": "1e-400"},
        # squares of what is in view are too small for float64
        {"julia": ["-0.123", "0.74"], "center": ["0", "0"], "width": "1e-160"},
    ],
    ids=lambda keys: f"{keys.get('julia', keys['center'])[0]}, {keys['width']}",
)
def test_steps_are_skipped_where_an_orbit_does_not_come_back_to_0(keys):
    drawn = scene(size=(2, 1), max_iterations=65_540, coloring="smooth", **keys)
    assert fractals.plan(drawn).extended
    assert passes(drawn, 500)


def test_a_cycle_that_an_orbit_enters_later_is_skipped_too():
    """The center is a second preimage of 0: the period of its orbit begins with its third point."""
    julia = NUCLEI[2]["scene"]["julia"]
    with mpmath.workdps(420):
        c = mpmath.mpc(*map(mpmath.mpf, julia))
        root = mpmath.sqrt(mpmath.sqrt(-c) - c)
        center = [mpmath.nstr(part, 410) for part in (root.real, root.imag)]
    keys = {"size": (2, 1), "max_iterations": 4096, "coloring": "smooth"}
    drawn = scene(julia=julia, center=center, width="1e-150", **keys)
    assert fractals.plan(drawn).extended
    assert passes(drawn, 4096 // 2)


def test_a_view_about_0_without_perturbation_ends_where_float64_does():
    near = {"center": ["0", "0"], "size": (2, 1), "max_iterations": 50}
    inside = compute(scene("burning_ship", width="1e-3000", **near))
    assert (inside.count == 50).all()
    with pytest.raises(fractals.OptionError, match=r"'spider' end at 9.3e-302"):
        compute(scene("spider", width="1e-320", **near))


def test_the_width_that_a_refusal_names_is_drawn_and_half_of_it_is_not():
    keys = {"julia": ["-0.9", "0.35"], "center": ["0", "0"], "size": (5, 3)}
    keys["precision"] = "float64"
    with pytest.raises(fractals.OptionError, match=r"a width of 1.3e-07 here"):
        fractals.plan(scene("spider", width="1e-9", **keys))
    assert fractals.plan(scene("spider", width="1.3e-7", **keys)).method == "direct"
    with pytest.raises(fractals.OptionError):
        fractals.plan(scene("spider", width="6e-8", **keys))

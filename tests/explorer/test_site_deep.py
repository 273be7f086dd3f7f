"""Deep views of a site, drawn by Node: orbits, counts and pixels of `render`, and true counts."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from support.scenes import slow_but
from support.sites import asker, drawn, needs_node, skip_unless_fused
from support.truth import known_scene

import fractals
from fractals.deep.reference import OrbitRequest, compute_orbit, view_gate
from fractals.explorer.site import tables
from fractals.explorer.site.write import write_site

pytestmark = needs_node
SIZE = (48, 27)
SHIP = "burning_ship"
PLACES = {  # locations of tests/data, and how they are drawn
    "rf_e14": {"supersampling": 2},
    "rf_e50": {"coloring": "distance", "rotation": 20.5, "stretch": 1.2},
    "rf_glitch_test_5": {"coloring": "slopes", "mirror": True},
    "fs_bs_1e-101": {"formula": SHIP, "coloring": "slopes"},
    "rf_flake": {"layers": [{"coloring": "slopes", "blend": "multiply"}]},
}
KNOWN = ["rf_glitch_test_4", "rf_glitch_test_5", "rf_flake", "rf_e113", "fs_bs_1e-101"]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return a function that asks a site with the programs that most views need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "EVERYWHERE", "")  # the formula with programs of all colorings
        patch.setattr(tables, "scenes", dict)
        folder = tmp_path_factory.mktemp("deep")
        return asker(write_site(folder, formulas=("mandelbrot", SHIP), threads=1))


def scene_at(place, size=SIZE, **keys):
    width = Context(prec=30).divide(Decimal(place["height"]) * size[0], size[1])
    return fractals.load_scene(
        {}, center=(place["re"], place["im"]), width=f"{width:e}", size=size, **keys
    )


@pytest.mark.parametrize("name", slow_but(["rf_e14", "rf_glitch_test_5", "fs_bs_1e-101"], PLACES))
def test_counts_and_pixels_are_those_of_the_cpu(ask, tmp_path, locations, name):
    skip_unless_fused(ask)
    scene = scene_at(locations[name], **PLACES[name])
    told, count, pixels = drawn(ask, tmp_path / "raw", scene)
    raw = fractals.compute(scene, device="cpu", threads=1, cache=False)
    image = fractals.render(scene, device="cpu", threads=1, cache=False)
    assert fractals.plan(scene, device="cpu").method == "perturbation"
    assert told["limit"] == image.summary.max_iterations
    assert told["offset"] == image.summary.count_offset
    assert np.array_equal(count, raw.count)
    assert np.array_equal(pixels, image.pixels)


@pytest.mark.parametrize("flavor", ["fused", "plain"])
@pytest.mark.parametrize("name", slow_but(["rf_glitch_test_4", "fs_bs_1e-101"], KNOWN))
def test_stable_counts_are_true(ask, tmp_path, truth, name, flavor):
    if flavor == "fused":
        skip_unless_fused(ask)
    place = truth[name]
    scene = known_scene(place).replace(supersampling=1)
    _, count, _ = drawn(ask, tmp_path / "raw", scene, flavor)
    known = [(int(count[j, i]), n) for i, j, n, stable in place["pixels"] if stable]
    assert len(known) > 5
    assert [found for found, _ in known] == [n for _, n in known]


@pytest.mark.parametrize(
    ("name", "center", "most"),
    [
        ("mandelbrot", ("-1.7548776662466927600495088963585286919", "0"), 5000),  # of period 3
        ("mandelbrot", ("-0.10109636384562216102578544573862", "0.95628651080914150"), 3000),
        ("mandelbrot", ("0.2500000000000000000000000000000000001", "1e-30"), 2500),  # goes on
        (SHIP, ("-1.9990959962659111838", "1e-20"), 9000),
        (SHIP, ("-1", "0"), 100),  # repeats
    ],
)
def test_reference_orbits_are_those_of_the_program(ask, tmp_path, name, center, most):
    c = tuple(Fraction(Decimal(part)) for part in center)
    zero, radius, bits = (Fraction(0), Fraction(0)), Fraction(1, 10**25), 300
    formula = fractals.load_scene({}, formula=name).make_formula()
    true = compute_orbit(OrbitRequest(formula, zero, c, bits, most, 256.0, radius))
    asked = {"bits": bits, "most": most, "escapeRadius": 256, "degree": 2}
    whole = [str(round(part * 2**bits)) for part in c]
    job = asked | {"c": whole, "gate": view_gate(radius, bits) if formula.holomorphic else None}
    (told,) = ask({"do": "orbit", "formula": name, "asked": job, "file": str(tmp_path / "o")})
    found = told["answer"]
    ends = {key: getattr(true, key) for key in ("period", "escaped", "repeats")}
    assert found == ends | {"columns": 2 + formula.kink_count, "unsure": False}
    points = np.fromfile(tmp_path / "o").reshape(-1, found["columns"])
    assert np.array_equal(points[:, :2], true.orbit)
    assert np.array_equal(points[:, 2:], true.kinks(formula, floatexp=False))


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"width": "1e-280"}, "any depth"),
        ({"width": "1e-30", "julia": ("-0.8", "0.2")}, "Julia sets"),
        ({"width": "1e-30", "center": ("-2", "0"), "escape_radius": 2}, "another radius"),
    ],
)
def test_what_is_too_deep_is_said(ask, tmp_path, keys, word):
    table = fractals.load_scene({}, **keys).to_table()
    (told,) = ask({"do": "draw", "scene": table, "file": str(tmp_path / "raw")})
    assert word in told.get("error", ""), told


def test_a_limit_of_iterations_is_kept_and_a_long_one_is_not_followed(ask, tmp_path, locations):
    skip_unless_fused(ask)
    place = locations["rf_glitch_test_4"]
    for limit in (3000, 2**23):
        scene = scene_at(place, max_iterations=limit)
        told, count, _ = drawn(ask, tmp_path / "raw", scene)
        raw = fractals.compute(scene, device="cpu", threads=1, cache=False)
        assert told["limit"] == raw.summary.max_iterations == limit
        assert np.array_equal(count, raw.count)

"""Deep views of a site, drawn by Node: orbits, counts and pixels of `render`, and true counts."""

from decimal import Context, Decimal, localcontext
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
# Scenes whose orbit statistics have programs: of which julia, one needs the moves between points
STATISTICS = [
    {"coloring": "stripe_average"},
    {"coloring": "curvature_average", "formula": SHIP},
    {"coloring": "orbit_trap", "julia": ("0", "1")},
    {"coloring": "interior_distance"},
]
TIP = {"center": ("0", "1")}  # of a branch of the set, and of the Julia set of i
SHARP = {"center": ("-2", "0")}  # end of the antenna of both sets
VIEWS = {
    "julia": {"gallery": "heirloom", "supersampling": 2},
    "julia of powers below float64": TIP
    | {"julia": ("0", "1"), "width": "1e-200", "coloring": "distance", "rotation": 20.5},
    "julia below float64": TIP | {"julia": ("0", "1"), "width": "1e-600"},
    "ship's julia": {"formula": SHIP, "julia": ("-1.2", "0.35"), "width": "1e-30"}
    | {"center": ("1.8", "0.2")},
    "statistics": TIP | {"width": "1e-40", "coloring": "stripe_average", "stretch": 1.3},
    "statistics of a julia": TIP
    | {"julia": ("0", "1"), "width": "1e-30", "coloring": "orbit_trap"},
    "statistics below float64": TIP | {"width": "1e-400", "coloring": "stripe_average"},
    "moves below float64": SHARP
    | {"formula": SHIP, "width": "1e-400", "coloring": "curvature_average"},
    "below float64": TIP | {"width": "1e-400", "coloring": "slopes", "size": (70, 30)},
    "ship below float64": SHARP
    | {"formula": SHIP, "width": "1e-400", "coloring": "distance", "mirror": True},
    "periods below float64": {"gallery": "pinwheel"},
}
DEEPER = ["julia", "julia below float64", "statistics", "moves below float64", "below float64"]
PLACES = {  # locations of tests/data, and how they are drawn
    "rf_e14": {"supersampling": 2},
    "rf_e50": {"coloring": "distance", "rotation": 20.5, "stretch": 1.2},
    "rf_glitch_test_5": {"coloring": "slopes", "mirror": True},
    "fs_bs_1e-101": {"formula": SHIP, "coloring": "slopes"},
    "rf_flake": {"layers": [{"coloring": "slopes", "blend": "multiply"}]},
    "rf_e1086": {"coloring": "slopes"},
    "fs_bs_deepJulia_2430": {"formula": SHIP},
}
KNOWN = ["rf_glitch_test_4", "rf_glitch_test_5", "rf_flake", "rf_e113", "fs_bs_1e-101"]
KNOWN += ["rf_e533", "rf_e8000"]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return a function that asks a site with the programs that most views need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "EVERYWHERE", "")  # the formula with programs of all colorings
        scenes = [fractals.load_scene({}, **keys).to_table() for keys in STATISTICS]
        patch.setattr(tables, "scenes", lambda: dict(zip("abcd", scenes, strict=True)))
        folder = tmp_path_factory.mktemp("deep")
        with asker(write_site(folder, formulas=("mandelbrot", SHIP), threads=1)) as found:
            yield found


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


@pytest.mark.filterwarnings("ignore:the center has", "ignore:with orbit statistics")
@pytest.mark.parametrize("name", slow_but(DEEPER, VIEWS))
def test_julia_sets_statistics_and_any_depth_are_those_of_the_cpu(ask, tmp_path, name):
    skip_unless_fused(ask)
    keys = {"size": SIZE, "supersampling": 1, **VIEWS[name]}
    scene = fractals.load_scene(keys.pop("gallery", {}), **keys)
    told, count, pixels = drawn(ask, tmp_path / "raw", scene)
    raw = fractals.compute(scene, device="cpu", threads=1, cache=False)
    image = fractals.render(scene, device="cpu", threads=1, cache=False)
    planned = fractals.plan(scene, device="cpu")
    assert planned.deep
    assert planned.extended == ("below" in name)
    assert told["limit"] == image.summary.max_iterations
    assert told["offset"] == image.summary.count_offset
    assert np.array_equal(count, raw.count)
    assert np.array_equal(pixels, image.pixels)


@pytest.mark.parametrize("flavor", ["fused", "plain"])
@pytest.mark.parametrize("name", slow_but(["rf_glitch_test_4", "fs_bs_1e-101", "rf_e533"], KNOWN))
def test_stable_counts_are_true(ask, tmp_path, truth, name, flavor):
    if flavor == "fused":
        skip_unless_fused(ask)
    place = truth[name]
    scene = known_scene(place).replace(supersampling=1)
    _, count, _ = drawn(ask, tmp_path / "raw", scene, flavor)
    known = [(int(count[j, i]), n) for i, j, n, stable in place["pixels"] if stable]
    assert len(known) > 1
    assert [found for found, _ in known] == [n for _, n in known]


@pytest.mark.parametrize(
    ("name", "program", "center", "most"),
    [
        ("mandelbrot", "deep p", ("-1.7548776662466927600495088963585286919", "0"), 5000),  # of 3
        ("mandelbrot", "deep p", ("-0.10109636384562216102578544573862", "0.9562865108"), 3000),
        ("mandelbrot", "deep p", ("0.2500000000000000000000000000000000001", "1e-30"), 2500),
        ("mandelbrot", "extended p", (None, "0"), 4000),  # comes to 0 but for 1e-150
        (SHIP, "deep p", ("-1.9990959962659111838", "1e-20"), 9000),
        (SHIP, "deep p", ("-1", "0"), 100),  # repeats
        (SHIP, "extended p", ("-1.9990959962659111838", "1e-240"), 3000),
        (SHIP, "deep p:curvature_average", ("-1.9990959962659111838", "1e-20"), 3000),
        (SHIP, "extended p:curvature_average", ("-1.9990959962659111838", "1e-240"), 3000),
    ],
)
def test_reference_orbits_are_those_of_the_program(ask, tmp_path, name, program, center, most):
    center = [part or f"{nearly_periodic(150):f}" for part in center]
    c = tuple(Fraction(Decimal(part)) for part in center)
    deeper = "extended" in program
    zero, bits = (Fraction(0), Fraction(0)), 1200
    radius = Fraction(1, 10 ** (260 if deeper else 25))
    formula, moves = fractals.load_scene({}, formula=name).make_formula(), ":" in program
    wanted = OrbitRequest(formula, zero, c, bits, most, 256.0, radius)
    true = compute_orbit(wanted, with_moves=moves)
    asked = {"bits": bits, "most": most, "escapeRadius": 256, "degree": 2}
    whole = [str(round(part * 2**bits)) for part in c]
    gate = view_gate(radius, bits) if formula.holomorphic else None
    job = asked | {"start": ["0", "0"], "c": whole, "gate": gate}
    path = tmp_path / "o"
    question = {"do": "orbit", "formula": name, "program": program, "asked": job}
    (told,) = ask(question | {"file": str(path)})
    found = told["answer"]
    tiny = np.reshape(found.pop("tiny"), (-1, 4))
    rows = [true.orbit, true.kinks(formula, floatexp=deeper)]
    rows = np.concatenate(rows + [true.all_moves(deeper)] * moves, axis=1)
    ends = {key: getattr(true, key) for key in ("period", "escaped", "repeats")}
    assert found == ends | {"columns": rows.shape[1], "unsure": False}
    assert np.array_equal(np.fromfile(path).reshape(-1, found["columns"]), rows)
    assert np.array_equal(tiny, true.tiny)
    assert len(tiny) > 0 or center[0] != f"{nearly_periodic(150):f}"


def nearly_periodic(digits):
    """Return a c whose orbit is, but for the digits behind these, of period 3."""
    with localcontext() as context:
        context.prec = digits
        c = Decimal("-1.75487766624669276")
        for _ in range(9):  # Newton's method for (c² + c)² + c = 0
            c -= (c**3 + 2 * c**2 + c + 1) / (3 * c**2 + 4 * c + 1)
    return c


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"width": "1e-30", "coloring": "interior_distance"}, "multiplier"),
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

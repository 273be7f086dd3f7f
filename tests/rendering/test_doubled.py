"""Pictures in double-double numbers: which scenes take them, and the same bits on every device."""

import functools
import json
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.opencl import OPENCL
from support.scenes import scene, slow_but

import fractals
from fractals import catalog
from fractals.backends.python import PythonBackend
from fractals.errors import OptionError
from fractals.kernels.doubled import escape, orbit
from fractals.kernels.escape import EscapeOptions
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.rendering.doubled_places import grid_places, places
from fractals.rendering.number_types import DOUBLED_COST, MIN_NOISE, chosen
from fractals.rendering.plan import make_plan, noise_note
from fractals.rendering.rounding import wrong_share
from fractals.rendering.sampling import coordinates

DEEP = {"center": ["-1.6", "0.0001"], "width": "1e-18"}
SIZE = (24, 13)
SCENES = {
    "a derivative": {"formula": "spider", "width": "4"},
    "a Jacobian": {"formula": "burning_ship", "width": "0.1", "center": ["-1.75", "-0.03"]},
    "a statistic": {"formula": "spider", "width": "4", "coloring": "stripe_average"},
    "a statistic inside": {
        "formula": "mandelbrot",
        "layers": [
            {"coloring": {"name": "orbit_trap", "shape": "circle"}, "mask": "all"},
            {"coloring": "stripe_average", "blend": "multiply"},
        ],
    },
    "a memory and a test": {
        "formula": {
            "name": "program",
            "start": "z = c; w = c; n = 0",
            "step": "z = if(n < 3, z^2, z^3) + w; w = w/2 + z/3; n = n + 1",
            "test": "norm(z) <= 16",
        },
        "coloring": "count",
    },
    "letters": {"formula": "lyapunov", "coloring": "count", "width": "5"},
    "the previous z": {"formula": "phoenix", "width": "3"},
    "converging": {"formula": "newton", "width": "4", "coloring": "speed"},
    "a Julia set": {"julia": ["-0.4", "0.59"], "width": "3", "coloring": "triangle_average"},
    "in turn": {"formula": {"name": "hybrid"}, "width": "3"},
    "functions": {
        "formula": {
            "name": "expression",
            "step": "sinh(z)*log(z + 2) + c^1.5 + atan(z)*abs(z) + if(re(z) > 0, floor(3*z), 1)/5",
        },
        "width": "2",
    },
    "jittered": {
        "antialias": "jittered",
        "supersampling": 2,
        "rotation": 30.0,
        "coloring": "count",
    },
    "a parameter": {
        "formula": {
            "name": "expression",
            "step": "z^2 + k*sin(c) + m*p",
            "k": "0.9-0.2i",
            "m": 0.1,
        },
        "coloring": "stripe_average",
        "width": "3",
    },
    "an exponential map": {"formula": "logistic", "projection": "exponential", "coloring": "count"},
}
OFTEN = ("a derivative", "a statistic inside", "a memory and a test", "a parameter", "jittered")


@functools.cache
def numbers(name, device):
    keys = {"size": SIZE, "max_iterations": 70, "precision": "double-double", **SCENES[name]}
    raw = fractals.compute(scene(**keys), device=device, on_message=str)
    return raw.planes


@pytest.mark.parametrize("device", ["cpu", "simulator", OPENCL])
@pytest.mark.parametrize("name", slow_but(OFTEN, SCENES))
def test_every_device_has_the_bits_of_plain_python(name, device):
    wanted, found = numbers(name, "python"), numbers(name, device)
    assert wanted.keys() == found.keys()
    assert len(np.unique(wanted["count"])) > 2
    for plane, values in wanted.items():
        assert np.array_equal(found[plane].view(np.uint8), values.view(np.uint8)), plane


@pytest.mark.parametrize("name", ["mandelbrot", "spider", "newton"])
def test_ordinary_views_have_the_counts_of_float64(name):
    keys = {"formula": name, "coloring": "count" if name != "newton" else "speed", "size": SIZE}
    single, double = (
        fractals.compute(scene(**keys, precision=own), device="cpu").count
        for own in ("float64", "double-double")
    )
    assert np.array_equal(single, double)


def test_a_parameter_gives_what_its_number_in_the_text_gives():
    keys = {"width": "3", "size": SIZE, "precision": "double-double", "coloring": "distance"}
    formulas = {"step": "z^2 + k*sin(c)", "k": 0.3}, {"step": "z^2 + 0.3*sin(c)"}
    of_parameter, of_text = (
        fractals.compute(scene({"name": "expression", **own}, **keys), device="cpu", on_message=str)
        for own in formulas
    )
    assert len(np.unique(of_text.count)) > 2
    for plane, values in of_text.planes.items():
        assert np.array_equal(of_parameter.planes[plane], values), plane


def test_decimals_that_a_center_lacks_are_told():
    said = []
    keys = {"formula": "spider", "width": "1e-18", "size": (8, 6), "max_iterations": 50}
    fractals.render(center=["-0.12", "0.7"], device="python", on_message=said.append, **keys)
    assert any("the center has 18 decimals fewer than this width requires" in line for line in said)


@pytest.mark.parametrize("formula", ["clifford", "flame", "buddhabrot", "mandelbulb"])
def test_images_of_other_families_have_no_double_double_numbers(formula):
    with pytest.raises(OptionError, match="for escape time only: leave precision= out"):
        fractals.render(formula=formula, precision="double-double", size=(8, 6), on_message=str)


def test_shortcuts_change_no_count():
    with_them, without = (
        fractals.compute(
            scene(coloring="count", size=SIZE, precision="double-double", max_iterations=3000),
            device="cpu",
            interior_shortcuts=own,
        ).count
        for own in (True, False)
    )
    assert np.array_equal(with_them, without)
    assert (without == 3000).any()


# --- Launches that take some of the steps


@pytest.mark.parametrize(("name", "derivative"), [("spider", True), ("newton", False)])
def test_parts_of_the_steps_give_what_all_steps_give(name, derivative):
    formula, limit, shape = catalog.load("formula", name)(), 41, (5, 7)
    options = EscapeOptions(formula, derivative=derivative, interior_shortcuts=False)
    grid = SampleGrid(*grid_places((Fraction(0), Fraction(0)), Fraction(1, 4), (1, 0, 0, 1), 7, 5))
    point = np.array([0, 0, 256.0**2, 0, 0])
    backend = PythonBackend("float64")

    def tile():
        planes = [np.zeros(shape) for _ in range(4)]
        return EscapeTile(np.zeros(shape, np.int32), *planes, np.zeros((1, 1, 1)))

    whole, parts = tile(), tile()
    backend.compile(escape.make_body, options)(whole, grid, point, np.int32(limit))
    rest = np.zeros((orbit.own_size(formula, derivative), *shape))
    run = backend.compile(escape.make_part_body, options)
    for begin, until in ((0, 9), (9, 20), (20, limit)):
        run(parts, rest, grid, point, np.int32(begin), np.int32(until), np.int32(limit))
    assert len(np.unique(whole.count)) > 2
    for wanted, found in zip(whole, parts, strict=True):
        assert np.array_equal(wanted, found)


# --- Positions


def test_positions_are_rounded_once():
    middle, half = Fraction("0.7436438870371587"), Fraction(1, 3 * 10**20)
    highs, lows = places(middle, half, 9)
    for k in range(9):
        exact = middle + (2 * k - 8) * half
        assert highs[k] == float(exact)
        assert lows[k] == float(exact - Fraction(float(highs[k])))


@pytest.mark.parametrize("rotation", [0.0, 30.0])
def test_positions_of_a_view_are_exact_to_the_last_bits(rotation):
    view = scene("spider", center=["0.3", "0.1"], width="1e-20", rotation=rotation)
    plan = make_plan(view.replace(precision="double-double"))
    columns, rows = coordinates(plan)
    assert columns.shape[0] == rows.shape[0] == 4
    step = [
        sum(Fraction(part) for part in (columns[k, 1], columns[k + 2, 1]))
        - sum(Fraction(part) for part in (columns[k, 0], columns[k + 2, 0]))
        for k in (0, 1)
    ]
    length = sum(part**2 for part in step)
    assert abs(length / plan.pixel**2 - 1) < Fraction(1, 10**9)


# --- Which number type a picture takes


def test_auto_takes_it_where_float64_has_no_digits():
    plan = make_plan(scene("spider", **DEEP))
    assert (plan.method, plan.precision, plan.number) == ("direct", "double-double", "float64")
    assert f"take about {DOUBLED_COST} times as long" in plan.reason
    assert plan.noise < MIN_NOISE
    assert noise_note(plan) == ""


@pytest.mark.parametrize(
    ("formula", "times"), [("manowar", 11), ("c*sin(z)", 18), ("exp(z)+c", 18)]
)
def test_a_plan_says_what_the_steps_of_its_formula_cost(formula, times):
    plan = make_plan(scene(formula, **DEEP))
    assert f"take about {times} times as long" in plan.reason
    single = replace(plan, precision="float64")
    # Beside the steps, each sample has its time
    assert 0.7 * times < plan.seconds_for() / single.seconds_for() <= times


def test_auto_leaves_ordinary_views_and_exact_formulas_alone():
    assert make_plan(scene("spider")).precision == "float64"
    assert make_plan(scene("mandelbrot", **DEEP)).method == "perturbation"
    assert make_plan(scene("mandelbrot", **DEEP, precision="double-double")).method == "direct"


def test_beyond_it_views_are_refused():
    deeper = {"center": DEEP["center"], "width": "1e-40"}
    with pytest.raises(
        OptionError, match=r"has no perturbed step, and .* width of \d\.\d+e-3[01] here"
    ):
        make_plan(scene("spider", **deeper))
    with pytest.raises(OptionError, match=r"too deep for double-double.*leave precision= out"):
        make_plan(scene("mandelbrot", **deeper, precision="double-double"))
    with pytest.raises(OptionError, match=r"leave precision= out, which goes deeper"):
        make_plan(scene("spider", **DEEP, precision="float64"))


def test_where_it_counts_wrongly_it_is_said():
    """As if its numbers had the bits of float64, and one more."""
    center = ["1.598886233785331", "0.425796647768689"]
    view = scene("nova", coloring="speed", center=center, width="1e-11", max_iterations=1000)
    plan = make_plan(view)
    assert plan.precision == "double-double"
    own = view, plan.formula, plan.center, plan.width, plan.finest, 40.0, 1000
    assert wrong_share(*own, 104) < MIN_NOISE < 0.1 < wrong_share(*own, 54)
    plan.__dict__["noise"] = 0.25
    assert "up to 25 % of the samples may be wrong: double-double rounds" in noise_note(plan)


def test_a_dry_run_says_it(run):
    view = ("--formula", "spider", "--center=-1.6,0.0001", "--width", "1e-18", "--size", "33x19")
    code, out, _ = run("render", *view, "--max-iterations", "500", "--dry-run", "--json")
    assert code == 0
    table = json.loads(out)
    assert table["precision"] == "double-double"
    assert "which float64 does not resolve: double-double numbers" in table["reason"]


OWN = """
from fractals.kernels.formula import Formula


def step(x, y, a, b):
    if x < 0:
        x = -x
    return x * x - y * y + a, 2 * x * y + b


def make():
    return Formula("own", "own", step, lambda x, y, p, q: (p, q), 2, can_return=True)
"""


def test_a_formula_that_branches_has_no_form_in_it():
    names: dict[str, object] = {}
    exec(OWN, names)
    made = names["make"]()
    assert orbit.problem_of(made) == "a branch depends on a number"
    asked = scene("spider", **DEEP, precision="double-double")
    with pytest.raises(OptionError, match=r"no form in double-double numbers \(a branch depends"):
        chosen(asked, made, 70.0, lambda: 0.5)
    assert chosen(asked.replace(precision="auto"), made, 70.0, lambda: 0.5) == ("float64", "")


# --- What follows


def test_raw_numbers_are_colored_and_measured_like_any_other():
    center = ["-1.5000000000000000000001", "0.0100000000000000000001"]  # with all decimals
    deep = scene("spider", **{**DEEP, "center": center}, max_iterations=60, size=SIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = fractals.compute(deep, device="cpu")
        image = fractals.recolor(raw, palette="ember", device="cpu")
    assert raw.precision == "float64"
    assert image.pixels.shape == (*SIZE[::-1], 3)
    assert raw.values("count").shape == SIZE[::-1]

"""Formulas that are not f(z) + c: other maps, with a memory, or whose orbits converge."""

import random
from itertools import product

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import naive
from support.drawings import opened
from support.raw import same
from support.scenes import OTHERS, scene, slow_but

import fractals
from fractals.backends import devices, machine_code
from fractals.io.load import load_scene
from fractals.rendering import plan, sampling

every_other = pytest.mark.parametrize("name", OTHERS)
CONVERGING = [name for name in OTHERS if scene(name, coloring="count").make_formula().tolerance]
# What float64 may differ from big floats by: functions are series of that precision.
NEAR = mpf("1e-14")
ENTIRE = ("exponential", "sine")  # they escape so far, or not at all, that few z are compared
NOT_HOLOMORPHIC = ("hybrid", "lyapunov", "network")
ONE_STEP = ("network",)  # every sample has the count 1
DEVICES = ("cpu", "simulator", "python")
OWN = "z**3 + c*sin(z)"
OFTEN = ("nova", "phoenix", OWN)  # compiled everywhere; the others' are slow tests
# Where orbits escape in many counts, of a formula that stays in its home view.
ELSEWHERE = {"lyapunov": {"center": ["2", "2"], "width": "12"}}


def made(formula):
    return scene(formula, coloring="count").make_formula()


def points(seed, count=12):
    dice = random.Random(seed)
    return [mpc(*(mpf(dice.uniform(-2, 2)) for _ in range(2))) for _ in range(count)]


def step(formula, z, c, before=0):
    more = (mpc(before).real, mpc(before).imag) if formula.uses_previous else ()
    return mpc(*formula.step(z.real, z.imag, c.real, c.imag, *more))


def wanted(name, z, c, before):
    if name in ("phoenix", "spider"):
        return getattr(naive, name)(z, c, before)
    return naive.STEPS[name](z, c)


@every_other
def test_step_is_the_oracles(name):
    formula = made(name)
    for z, c, before in zip(points(1), points(2), points(3), strict=True):
        exact = wanted(name, z, c, before)
        # Constants such as pi are those of float64.
        assert abs(step(formula, z, c, before) - exact) < NEAR * (1 + abs(exact))
        more = (float(before.real), float(before.imag)) if formula.uses_previous else ()
        found = formula.step(*map(float, (z.real, z.imag, c.real, c.imag)), *more)
        assert abs(mpc(*found) - exact) < 100 * NEAR * (1 + abs(exact))


@every_other
def test_tangent_is_the_finite_difference(name):
    formula, h = made(name), mpf("1e-16")
    for z, c, dz, dc in zip(points(4), points(5), points(6), points(7), strict=True):
        before, change = c * dz, z * dc
        if formula.uses_previous:
            more = before.real, before.imag, change.real, change.imag
        else:
            more, change = (), mpc(0)
        ahead, behind = (
            step(formula, z + k * h * dz, c + k * h * dc, before + k * h * change) for k in (1, -1)
        )
        difference = (ahead - behind) / (2 * h)
        parts = (part for v in (z, dz, c, dc) for part in (v.real, v.imag))
        found = mpc(*formula.tangent(*parts, *more))
        assert abs(found - difference) < mpf("1e-20") * (1 + abs(difference))


@every_other
def test_start_changes_with_c_as_said(name):
    start = made(name).start
    if start is None:
        return
    h = mpf("1e-16")
    for c, dc in zip(points(8), points(9), strict=True):
        x, y, p, q = start(c.real, c.imag, dc.real, dc.imag)
        ahead = c + h * dc
        moved = mpc(*start(ahead.real, ahead.imag, dc.real, dc.imag)[:2]) - mpc(x, y)
        assert abs(moved / h - mpc(p, q)) < mpf("1e-12")


@every_other
def test_holomorphic_where_it_is_said(name):
    formula = made(name)
    if formula.uses_previous:
        return
    turns = []
    for z, c in zip(points(10), points(11), strict=True):
        along, across = (
            mpc(*formula.tangent(z.real, z.imag, *d, c.real, c.imag, 0, 0))
            for d in [(1, 0), (0, 1)]
        )
        turns.append(abs(across - mpc(0, 1) * along))
    assert formula.holomorphic == (max(turns) < mpf("1e-30"))


@pytest.mark.parametrize("julia", slow_but([False], [False, True]), ids=["parameters", "julia"])
@pytest.mark.parametrize("name", slow_but(OFTEN, [*OTHERS, OWN]))
def test_backends_agree_in_every_bit(compiled, name, julia):
    """Functions are our own series, so this holds for them, too."""
    converging = name in CONVERGING
    coloring = "speed" if converging else "distance"
    drawn = scene(name, julia, coloring=coloring, **ELSEWHERE.get(name, {}))
    expected = fractals.compute(drawn, device="python")
    raw = fractals.compute(drawn, device=compiled)
    if compiled == "cpu" and machine_code.FUSED:  # functions, too
        assert opened(drawn, compiled, shading=False).source.run.loop == "packs"
    assert same(raw, expected)
    assert julia or name in ONE_STEP or len(np.unique(raw.count)) > 3
    picture = fractals.recolor(raw, device=compiled).pixels
    assert picture.tobytes() == fractals.recolor(expected, device="python").pixels.tobytes()


@pytest.mark.parametrize("name", slow_but(["nova"], ["phoenix", "nova", "logistic"]))
def test_backends_agree_in_float32(name):
    coloring = "speed" if name in CONVERGING else "distance"
    drawn = scene(name, coloring=coloring)
    expected = fractals.compute(drawn, device="python", precision="float32")
    assert same(fractals.compute(drawn, device="simulator", precision="float32"), expected)


@pytest.mark.parametrize("name", slow_but(["nova"], ["phoenix", "nova", "hybrid"]))
def test_launches_in_parts_change_nothing(monkeypatch, name):
    monkeypatch.setattr(devices.cuda, "SIMULATED_STEPS", 16 * 9 * 7)
    coloring = "speed" if name in CONVERGING else "distance"
    drawn = scene(name, coloring=coloring)
    whole = fractals.compute(drawn, device="cpu")
    assert same(fractals.compute(drawn, device="simulator"), whole)


def exact(name, point, julia, max_iterations, radius=256):
    """Return count and z of a sample, and dz by a central difference, in big floats."""
    formula = made(name)

    def ends(z, last):
        converged = formula.tolerance and abs(z - last) <= formula.tolerance
        return converged or (formula.escapes and abs(z) > radius)

    def orbit(place, steps, ends):
        if julia is not None:
            z, c = place, julia
        else:
            z, c = mpc({"logistic": "0.5", "lyapunov": "0.5", "nova": 1}.get(name, 0)), place
            if name in ("newton", "halley", "collatz", "spider", "network", "program"):
                z = c
            if name == "sine":
                z = mpmath.pi / 2
        before = mpc(0)
        found = [z]
        for _ in range(steps):
            z, last = wanted(name, z, c, before), z
            before = naive.spider_change(z, c, before) if name == "spider" else last
            found.append(z)
            if ends(z, last) or abs(z) > mpf(10) ** 9:
                break
        return found

    zs = orbit(point, max_iterations, ends)
    n = len(zs) - 1
    if not ends(zs[n], zs[n - 1]):
        return max_iterations, mpc(0), mpc(0)
    h = mpf("1e-20")
    ahead, behind = (orbit(point + k * h, n, lambda z, last: False)[n] for k in (1, -1))
    return n, zs[n], (ahead - behind) / (2 * h)


PARAMETERS, JULIA = None, ("-0.4", "0.59")


@pytest.mark.parametrize(
    ("julia", "device"),
    slow_but(
        [*product([PARAMETERS, JULIA], ["python", "cpu"])], product([PARAMETERS, JULIA], DEVICES)
    ),
    ids=lambda value: {PARAMETERS: "parameters", JULIA: "julia"}.get(value, value),
)
@every_other
def test_counts_and_slopes_are_the_oracles(name, julia, device):
    if julia and name in ENTIRE:
        julia = ("1.3", "0.8")  # for the other c all orbits stay
    coloring = "count" if name in NOT_HOLOMORPHIC else "distance"
    keys = {"julia": list(julia)} if julia else {}
    keys |= {"coloring": "speed" if name in CONVERGING else coloring, **ELSEWHERE.get(name, {})}
    drawn = scene(name, size=(7, 4), max_iterations=40, **keys)
    raw = fractals.compute(drawn, device=device)
    columns, rows = sampling.coordinates(plan.make_plan(drawn))
    wrong = told = 0
    for j in range(4):
        for i in range(7):
            point = mpc(columns[0, i] + rows[0, j], columns[1, i] + rows[1, j])
            n, z, slope = exact(name, point, mpc(*julia) if julia else None, 40)
            wrong += n != raw.count[j, i]
            if n == raw.count[j, i] < 40 and abs(z) < 1e8:
                told += 1
                assert abs(mpc(complex(raw.z[j, i])) - z) < mpf("1e-4") * (1 + abs(z))
                if raw.dz is not None:
                    found = mpc(complex(raw.dz[j, i]))
                    assert abs(found - slope) < mpf("1e-4") * (1 + abs(slope))
    assert wrong <= 1  # where rounding decides
    assert told >= (5 if name not in ENTIRE else 2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("julia", "width", "counts"),
    [(("-0.9", "0.35"), "0.006", (14, 14, 14)), (("0.3", "0.5"), "0.3", (7, 7, 7))],
)
def test_an_orbit_that_passes_through_0_is_an_orbit_like_others(julia, width, counts, device):
    """The first step is known by its number: not by a previous point of 0, as orbits have it."""
    view = {"julia": list(julia), "center": ("0", "0"), "width": width, "size": (3, 1)}
    keys = {**view, "supersampling": 1, "max_iterations": 400}
    raw = fractals.compute(formula="spider", device=device, **keys)
    assert tuple(raw.count[0]) == counts


def test_roots_of_unity_are_told_apart():
    drawn = scene("newton", coloring="speed", size=(60, 60), width="3", max_iterations=200)
    raw = fractals.compute(drawn, device="cpu")
    assert (raw.count < 200).mean() > 0.99
    turns = np.round(np.angle(raw.z[raw.count < 200]) / (2 * np.pi) * 3) % 3
    assert set(turns) == {0, 1, 2}
    assert abs(raw.z[raw.count < 200] ** 3 - 1).max() < 1e-5


def test_speed_has_no_bands():
    """Across the border of two counts it goes on where it was."""
    columns = 4000
    drawn = scene("newton", coloring="speed", size=(columns, 1), center=["1.5", "0.3"], width="1")
    raw = fractals.compute(drawn, device="cpu")
    last, before = (np.log2(raw.statistics[f"moves.{part}"][0]) for part in ("last", "before"))
    smooth = raw.count[0] + (before - 2 * np.log2(1e-6)) / (before - last)
    assert (np.diff(raw.count[0]) != 0).any()
    assert abs(np.diff(smooth)).max() < 0.05


@pytest.mark.parametrize(
    ("formula", "coloring", "line"),
    [
        ("newton", "distance", "orbits that escape, and those of 'newton' converge"),
        ("mandelbrot", "root", "orbits that converge, and those of 'mandelbrot' escape"),
        ("phoenix", "period", "'phoenix' has a memory"),
    ],
)
def test_a_coloring_without_sense_is_refused(formula, coloring, line):
    with pytest.raises(fractals.OptionError, match=line):
        fractals.render(scene(formula, coloring=coloring), device="cpu")


@pytest.mark.parametrize("name", slow_but(["newton"], ["newton", "nova", "halley"]))
def test_an_orbit_on_a_zero_of_the_derivative_does_not_converge(name, device):
    """There a step is 0 / 0; all around, the method finds a root."""
    keys = {"center": ["0", "0"], "width": "1", "size": (3, 3), "max_iterations": 300}
    drawn = scene(name, julia=["0", "0"] if name == "nova" else False, coloring="speed", **keys)
    raw = fractals.compute(drawn, device=device)
    assert (raw.count == 300).tolist() == [[False] * 3, [False, True, False], [False] * 3]
    assert not raw.z[1, 1]


def test_smooth_is_speed_where_orbits_converge():
    smooth, speed = (scene("nova", coloring=name) for name in ("smooth", "speed"))
    pictures = [fractals.render(drawn, device="cpu").pixels for drawn in (smooth, speed)]
    assert np.array_equal(*pictures)
    assert len(np.unique(pictures[0])) > 10


def test_smooth_without_a_degree_is_told():
    told = []
    fractals.render(scene("sine", coloring="smooth"), device="python", on_message=told.append)
    assert told == ["the formula 'sine' has no degree: bands of equal counts stay visible"]


def test_hybrid_of_one_formula_twice_is_every_second_step():
    twice = {"name": "hybrid", "formulas": ["mandelbrot", "mandelbrot"]}
    once = fractals.compute(scene(coloring="count", max_iterations=60), device="python").count
    found = fractals.compute(
        scene(twice, coloring="count", max_iterations=30, center=["-0.65", "0"], width="4.6"),
        device="python",
    ).count
    assert np.array_equal(found, (once + 1) // 2)


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ({"name": "hybrid", "formulas": ["mandelbrot", "newton"]}, "'newton' is not one of"),
        ({"name": "hybrid", "formulas": []}, "a list of 1 to 6 names"),
        ({"name": "hybrid", "formulas": [{"name": "multibrot"}]}, "not one of"),
        ({"name": "phoenix", "memory": 7}, "memory is a number from -2 to 2"),
        ({"name": "newton", "relaxation": 2}, "relaxation is a number from 0.01 to 1.99"),
        ({"name": "newton", "polynomial": "z**3 -"}, "column 7"),
        ({"name": "newton", "polynomial": "abs(z)"}, "without p, abs"),
        ({"name": "nova", "power": 1}, "power is a whole number from 2 to 12"),
    ],
)
def test_bad_options_get_one_line(formula, line):
    with pytest.raises(fractals.SceneError, match=line) as caught:
        load_scene({"formula": formula})
    assert "\n" not in str(caught.value)


def test_nuclei_are_not_sought_where_none_are_known():
    with pytest.raises(fractals.SceneError, match="'logistic' is another"):
        fractals.find_nucleus(scene("logistic"))

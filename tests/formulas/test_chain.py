"""Chains of folds and powers in deep views, and expressions iterated in turn, by the oracle."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf
from oracle import naive
from support.raw import same
from support.scenes import scene, slow_but
from test_every_formula import points

import fractals
from fractals.backends import devices
from fractals.formulas import own
from fractals.formulas.language.syntax import parse
from fractals.io.load import load_scene
from fractals.tools.verify import exact_count

# Each with the lines of its oracle, of which every one is (four flags, power).
CHAINS = {
    "absx(absy(z))^2 + c": [((1, 1, 0, 0), 2)],
    "c + absy(z)^3": [((0, 1, 0, 0), 3)],
    "conj(z)^4 + c": [((0, 0, 0, 1), 4)],
    "z^5 + c": [((0, 0, 0, 0), 5)],
    "-z^2 + c": [((0, 0, 0, 0), 2), ((0, 0, 1, 1), 1)],
    "absx(absy(z^3)) + c": [((0, 0, 0, 0), 3), ((1, 1, 0, 0), 1)],
    "conj(absy(absx(z)^5)) + c": [((1, 0, 0, 0), 5), ((0, 1, 0, 1), 1)],
    "absx((-conj(absy(z)))^2)^2 + c": [((0, 1, 1, 0), 2), ((1, 0, 0, 0), 2)],
}
every_chain = pytest.mark.parametrize("text", CHAINS)


def made(text):
    return load_scene(formula=text).make_formula()


def oracle_step(text, z, c):
    nothing = (0, 0, 0, 0), 0, 0
    return naive.hybrid_group(z, c, [((*line, 1), nothing, 0) for line in CHAINS[text]])


@every_chain
def test_step_and_derivative_are_the_oracles(text):
    formula, h = made(text), mpf("1e-16")
    for z, c, d in zip(points(1), points(2), points(3), strict=True):
        found = mpc(*formula.step(z.real, z.imag, c.real, c.imag))
        assert abs(found - oracle_step(text, z, c)) < mpf("1e-40")
        ahead, behind = (oracle_step(text, z + k * h * d, c) for k in (1, -1))
        found = mpc(*formula.derivative(z.real, z.imag, d.real, d.imag))
        assert abs(found - (ahead - behind) / (2 * h)) < mpf("1e-22")


@every_chain
def test_perturbed_step_is_the_difference(text):
    formula = made(text)
    kinks = formula.kinks or (lambda x, y: ())
    with mpmath.workdps(90):
        for k, (Z, z) in enumerate(zip(points(13, 60), points(14, 60), strict=True)):
            c = mpc(1, 2) * mpf(10) ** -(k // 2)
            z *= mpf(10) ** -(k // 2)  # from as long as Z, across every kink, to 1e-30
            wanted = oracle_step(text, Z + z, c) - oracle_step(text, Z, mpc(0))
            numbers = kinks(Z.real, Z.imag)
            found = mpc(
                *formula.perturbed(Z.real, Z.imag, z.real, z.imag, c.real, c.imag, *numbers)
            )
            assert abs(found - wanted) < mpf("1e-60")


@pytest.mark.parametrize("text", [text for text in CHAINS if made(text).kinks])
def test_no_kink_is_nearer_than_the_kink_distance(text):
    """Within it f is one polynomial, whose differences of order degree + 1 are 0."""
    formula, bent = made(text), 0
    order = formula.degree + 1
    signs = [(-1) ** k * math.comb(order, k) for k in range(order + 1)]
    with mpmath.workdps(60):
        for Z in points(15, 20):
            within = formula.kink_distance(Z.real, Z.imag, *formula.kinks(Z.real, Z.imag))
            for far in (0.999, 8):
                for turn in (mpc(1), mpc(1, 1), mpc(0, 1), mpc(-1, 1), mpc(-1), mpc(1, -1)):
                    reach = within * far * turn / abs(turn) / order
                    f = [oracle_step(text, Z + k * reach, 0) for k in range(order + 1)]
                    last = abs(sum(a * b for a, b in zip(signs, f, strict=True)))
                    assert far > 1 or last < mpf("1e-50")
                    bent += far > 1 and last > mpf("1e-30")
    assert bent > 20


def test_what_is_no_chain_is_drawn_where_float64_resolves():
    for text in ("absx(z)^2 + z + c", "2*absx(z)^2 + c", "z^3 + z + c", "absx(z) + c", "absx(z)^2"):
        assert own.chain_of(parse(text)) is None
    three = "absy(absx(absy(z))^2) + c"
    assert made(three).perturbed is None
    deep = load_scene(formula=three, center=["-1.2", "0.1"], width="1e-30")
    with pytest.raises(fractals.OptionError, match="can go down to a width of") as caught:
        fractals.plan(deep, device="cpu")
    assert "at most two absx or absy goes deeper" in str(caught.value)


def tip(degree):
    """Return a c whose orbit ends on a repelling point: |c|**degree + c = -c."""
    with localcontext(prec=420):
        return -(Decimal(2) ** (Decimal(1) / (degree - 1)))


DEEP = "absx(absy(z^3)) + c"


@pytest.mark.parametrize(
    ("text", "width"),
    slow_but(
        [(DEEP, "1e-25")],
        product(
            [DEEP, "absx(absy(z))^3 + c", "absx((-conj(absy(z)))^2)^2 + c"], ["1e-25", "1e-320"]
        ),
    ),
)
def test_deep_counts_are_those_of_big_floats(text, width):
    """On a kink of the formula, in float64 and in numbers with exponents."""
    with localcontext(prec=420):
        x, y = tip(made(text).degree) + Decimal(width) / 7, Decimal(width) / 9
    deep = scene(text, center=[str(x), str(y)], width=width, max_iterations=600)
    planned, raw = fractals.plan(deep, device="cpu"), fractals.compute(deep, device="cpu")
    assert planned.deep
    assert planned.extended == (width == "1e-320")
    if not planned.extended:  # plain Python takes 20 s
        assert same(raw, fractals.compute(deep, device="python"))
    for i, j in [(0, 0), (3, 2), (6, 3), (7, 4), (8, 4), (9, 5), (12, 6), (15, 8)]:
        assert raw.count[j, i] == exact_count(deep, planned, i, j)
    assert len(np.unique(raw.count)) > 7


@pytest.mark.slow
def test_skips_beside_a_minibrot_change_no_count():
    """The nucleus is of period 297, and has a size of 6e-16."""
    center = ["-0.5368494541929378461189704894719595", "0.3584905153820555665141043209710634"]
    deep = scene("absy(z)^3 + c", center=center, width="2e-14", max_iterations=4000)
    planned, raw = fractals.plan(deep, device="cpu"), fractals.compute(deep, device="cpu")
    assert planned.deep
    stable = 0
    for i, j in product(range(0, 16, 2), range(9)):
        exact = {
            exact_count(deep, planned, i + dx, j + dy)
            for dx, dy in product((0, Fraction(1, 100_000)), repeat=2)
        }
        stable += len(exact) == 1
        assert len(exact) > 1 or int(raw.count[j, i]) in exact
    assert stable > 30
    assert len(np.unique(raw.count)) > 30


# Expressions in turn, and the groups of the oracle: (repeats, lines).
NOTHING = (0, 0, 0, 0), 0, 0
SQUARE = (((0, 0, 0, 0), 2, 1), NOTHING, 0)
SHIP = (((1, 1, 0, 0), 3, 1), NOTHING, 0)
MIXED = (((0, 1, 0, 1), 2, 0.5 + 0.25j), ((0, 0, 0, 0), 1, 1), 1)
TURNS = [
    ({"step": "z^2 + c; absx(absy(z))^3 + c"}, [(1, [SQUARE]), (1, [SHIP])], 0),
    (
        {"step": "z^2 + c; absx(absy(z))^3 + c", "repeats": [3, 2], "loop": 1},
        [(3, [SQUARE]), (2, [SHIP])],
        1,
    ),
    (
        {
            "step": "z^2 + c; (0.5 + 0.25*i)*conj(absy(z^2))^2 - z^2 + c; z^2 + c",
            "repeats": "1+2+1",
        },
        [(1, [SQUARE]), (2, [SQUARE, MIXED]), (1, [SQUARE])],
        0,
    ),
]


@pytest.mark.parametrize(("options", "groups", "loop"), TURNS, ids=["turns", "loop", "lines"])
def test_expressions_in_turn_are_the_oracles(options, groups, loop):
    drawn = scene({"name": "expression", **options}, center=["-0.2", "0.3"], width="3.2")
    raw = fractals.compute(drawn, device="python")
    unstable, radius = 0, drawn.iteration.escape_radius
    for j, i in product(range(9), range(16)):
        c = mpc(-0.2 + (i - 7.5) * 0.2, 0.3 + (4 - j) * 0.2)
        found = int(raw.count[j, i])
        if naive.hybrid_count(groups, loop, c, 60, radius) != found:
            moved = {
                naive.hybrid_count(groups, loop, c + d, 60, radius) for d in (1e-9, -1e-9, 1e-9j)
            }
            assert found in moved
            unstable += 1
    assert unstable < 9
    assert len(np.unique(raw.count)) > 5
    planned = fractals.plan(drawn, device="python")
    assert [exact_count(drawn, planned, i, 4) for i in range(16)] == raw.count[4].tolist()


def test_every_backend_agrees_on_expressions_in_turn(compiled):
    options, *_ = TURNS[1]
    drawn = scene({"name": "expression", **options})
    assert same(fractals.compute(drawn, device=compiled), fractals.compute(drawn, device="python"))


def test_launches_in_parts_keep_the_turn(monkeypatch):
    options, *_ = TURNS[1]
    drawn = scene({"name": "expression", **options})
    whole = fractals.compute(drawn, device="cpu")
    monkeypatch.setattr(devices.cuda, "SIMULATED_STEPS", 16 * 9 * 7)
    assert same(fractals.compute(drawn, device="simulator"), whole)


def test_dz_of_maps_in_turn_is_the_finite_difference():
    drawn = scene({"name": "expression", "step": "z^2 + c; z^3 + c", "repeats": [1, 2], "loop": 1})
    raw = fractals.compute(drawn, device="python")
    width, h = mpf(drawn.view.width or "6"), mpf("1e-20")
    chosen = np.argwhere((raw.count > 1) & (raw.count < 60))[::5]
    assert len(chosen) > 8
    for j, i in chosen.tolist():
        n = int(raw.count[j, i])
        c = mpc((i - mpf("7.5")) * width / 16, (4 - j) * width / 16)
        ahead, behind = mpc(0), mpc(0)
        for k in range(n):
            ahead = ahead ** (3 if k else 2) + c + h
            behind = behind ** (3 if k else 2) + c - h
        wanted = complex((ahead - behind) / (2 * h))
        assert abs(complex(raw.dz[j, i]) - wanted) < 1e-12 * abs(wanted)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"step": "z^2 + c; z +"}, "column 5"),
        ({"step": "z^2 + c;"}, "column 1"),
        ({"step": "; ".join(["z^2 + c"] * 9)}, "9 expressions in turn, and 8 are the most"),
        ({"step": "z^2 + c; z^3 + c", "repeats": [1]}, "a list of 2 whole numbers"),
        ({"step": "z^2 + c; z^3 + c", "repeats": "2+x"}, "from 1 to 1000"),
        ({"step": "z^2 + c; z^3 + c", "repeats": [0, 1]}, "from 1 to 1000"),
        ({"step": "z^2 + c; z^3 + c", "loop": 2}, "loop is a whole number from 0 to 1"),
        ({"step": "z^2 + c; z^3 + c", "tolerance": 1e-6}, "end by escape alone"),
    ],
)
def test_bad_turns_get_one_line(options, line):
    with pytest.raises(fractals.SceneError, match=line) as caught:
        load_scene({"formula": {"name": "expression", **options}})
    assert "\n" not in str(caught.value)


def test_maps_in_turn_are_not_drawn_deep_nor_colored_by_their_cycles():
    turns = scene("z^2 + c; z^3 + c", center=["-0.7", "0.3"], width="1e-30")
    with pytest.raises(fractals.OptionError, match="can go down to a width of"):
        fractals.plan(turns, device="cpu")
    with pytest.raises(fractals.OptionError, match="iterates maps in turn"):
        fractals.plan(scene("z^2 + c; z^3 + c", coloring="multiplier"), device="cpu")

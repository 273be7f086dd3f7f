"""Nuclei and embedded Julia sets, against orbits iterated in mpmath and against known places."""

import cmath
import random
from decimal import Decimal

import pytest
from mpmath import mp, mpc, mpf
from oracle import naive
from support.scenes import FORMULAS, label, name_and_power, scene, view
from support.truth import known_scene

from fractals import Scene, catalog, find_nucleus, find_period
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io.load import load_scene

HOLOMORPHIC = {"mandelbrot", "multibrot"}


def digits_of(found):
    return 2 * len(max(found.center, key=len)) + 50


def moves(found, power=2):
    """Return, for each step, how far away the nearest c is with z = 0 there, to first order.

    Under z**power + c, with a derivative of mpmath's own.
    """
    z, dz, c = mpc(0), mpc(0), mpc(*found.center)
    for _ in range(found.period):
        dz = power * z ** (power - 1) * dz + 1
        z = z**power + c
        yield abs(z / dz)


def check_nucleus(found, power=2):
    """Tell by mpmath whether c is a nucleus of this period, and no smaller one, to its digits."""
    with mp.workdps(digits_of(found)):
        *before, last = moves(found, power)
        size = mpf(found.size)
        assert last < size * mpf(10) ** -17
        assert all(move > size / 20 for move in before)


def multiplier(found, t, power=2):
    """Return the multiplier of the cycle that attracts 0 where the whole set has the point t."""
    with mp.workdps(digits_of(found)):
        turned = mp.expj(mp.radians(found.angle))
        c = mpc(*found.center) + mpf(found.size) * turned * t
        z = mpc(0)
        for _ in range(200 * found.period):
            z = z**power + c
        product = mpc(1)
        for _ in range(found.period):
            product *= power * z ** (power - 1)
            z = z**power + c
        return complex(product)


SHALLOW = {  # center and width of a view: what is in it
    ("-0.3", "0.2", "2"): (1, "0", "0", "1", True),
    ("-1.1", "0.05", "0.4"): (2, "-1", "0", "0.5", False),
    ("-1.75", "0", "0.1"): (3, "-1.75487766624669276005", "0", "0.0190355", True),
    ("-0.13", "0.75", "0.1"): (
        3,
        "-0.12256116687665361997",
        "0.744861766619744236593",
        None,
        False,
    ),
    ("-1.94", "0", "0.01"): (4, "-1.9407998065294847517524", "0", None, True),
}


@pytest.mark.parametrize("place", SHALLOW)
def test_known_nuclei(place):
    period, x, y, size, cardioid = SHALLOW[place]
    found = find_nucleus(view(*place))
    assert (found.period, found.cardioid) == (period, cardioid)
    for got, known in zip(found.center, (x, y), strict=True):
        assert abs(Decimal(got) - Decimal(known)) < Decimal("1e-18")
    assert size in (None, found.size)
    assert find_period(view(*place)) == period
    check_nucleus(found)


@pytest.mark.parametrize("exponent", [14, 30, 100, 1000])
@pytest.mark.parametrize("center", [("-2", "0"), ("0", "1")], ids=["tip", "i"])
def test_nuclei_at_depth(center, exponent):
    """About points of which every neighbourhood holds minibrots, and whose text is short."""
    place = view(*center, f"1e-{exponent}")
    found = find_nucleus(place)
    assert find_period(place) == found.period
    assert float(Decimal(found.size).log10()) < -1.8 * exponent
    check_nucleus(found)
    offset = [Decimal(a) - Decimal(b) for a, b in zip(found.center, center, strict=True)]
    assert max(abs(part) for part in offset) < Decimal(f"0.5e-{exponent}")
    if center == ("-2", "0"):
        assert found.center[1] == "0"
        assert found.angle == 0


@pytest.mark.parametrize(
    ("place", "power"),
    [
        (("-1.250713", "0.020152", "1e-5"), 2),
        (("-1.75", "0", "0.1"), 2),
        (("-0.1", "0.75", "0.1"), 2),
        (("0", "1", "1e-20"), 2),
        (("-0.7875", "0.0447", "4e-4"), 4),
        (("0.6710", "0.4719", "4e-4"), 3),
    ],
)
def test_size_and_angle_scale_the_whole_set(place, power):
    """A minibrot's cycle has the multiplier that the whole set's has at the same point."""
    found = find_nucleus(view(*place, formula={"name": "multibrot", "power": power}))
    assert (found.cardioid is None) == (power != 2)
    for t in (0.15, -0.3, 0.2j):
        w = 0
        for _ in range(300):
            w = w**power + t
        whole = power * w ** (power - 1)
        if found.cardioid is False:
            whole = 2 * t  # of a disc, the multiplier is linear
        got = multiplier(found, t, power)
        assert abs(got - whole) < 0.1 * abs(whole)
        if power == 2:  # and told from the other shape
            other = 1 - cmath.sqrt(1 - 4 * t) if found.cardioid is False else 2 * t
            assert abs(got - whole) < abs(got - other)


@pytest.mark.parametrize("formula", FORMULAS, ids=label)
def test_every_formula(formula):
    """The oracle's own step brings 0 back, and a nearby c does not."""
    name, power = name_and_power(formula)
    assert name in naive.STEPS, f"write a step of {name} in tests/oracle/naive.py"
    home = catalog.load("formula", name)()
    found = find_nucleus(scene(formula, max_iterations=200))
    assert (found.period, found.center, found.size) == (1, ("0", "0"), "1")
    dice = random.Random(label(formula))
    searched = 0
    few = "heart" in name or name == "simonobrot"  # its nuclei
    for _ in range(10 if few else 100):
        x, y = (f"{float(part) + dice.uniform(-1, 1):.3f}" for part in home.center)
        try:
            found = find_nucleus(scene(formula, center=(x, y), width="0.02", max_iterations=200))
        except FractalsError:
            continue
        searched += found.period > 2
        with mp.workdps(digits_of(found)):
            c, size = mpc(*found.center), mpf(found.size)
            *before, z = naive.points(name, 0, c, found.period, power)
            h = size * mpf(10) ** -10
            moved = [abs(naive.orbit(name, 0, c + h * way, found.period, power)) for way in (1, 1j)]
            assert abs(z) < min(moved) * mpf(10) ** -6
            assert all(abs(earlier) > abs(z) * 1e3 for earlier in before)
        assert (found.angle is None) == (name not in {*HOLOMORPHIC, "expression"})  # z² + c
        if searched:
            break
    assert searched or few


def test_random_views():
    """What is found is a nucleus, and in view, also where the view is turned."""
    dice = random.Random(4)
    found = 0
    while found < 12:
        x, y = f"{dice.uniform(-1.8, 0.5):.6f}", f"{dice.uniform(-1.1, 1.1):.6f}"
        if not 8 < naive.escape("mandelbrot", 0, mpc(x, y), 200, 4)[0] < 200:
            continue
        turn, width = dice.choice([0, 70, -130.5]), 10 ** dice.uniform(-5, -1)
        try:
            place = find_nucleus(view(x, y, f"{width:.6f}", rotation=turn))
        except FractalsError as error:
            assert "no nucleus" in str(error)  # noqa: PT017
            continue
        found += 1
        check_nucleus(place)
        offset = complex(mpc(*place.center) - mpc(x, y)) / cmath.rect(1, turn / 180 * cmath.pi)
        assert abs(offset.real) <= 0.501 * width
        assert abs(offset.imag) <= 0.501 * width * 9 / 16


def test_the_view_is_turned():
    """A nucleus that a turn of a wide view brings in, or takes out."""
    wide = {"size": (1600, 100)}
    place = Scene().replace(center=("-0.12256", "0.70"), width="0.12", **wide)
    with pytest.raises(FractalsError, match="no nucleus"):
        find_nucleus(place, max_period=3)
    assert find_nucleus(place.replace(rotation=90), max_period=3).period == 3


KNOWN = ["rf_e14", "rf_line", "rf_glitch_test_2", "rf_glitch_test_5", "rf_e113", "rf_flake"]


def known(locations, name):
    place = locations[name]
    return place, known_scene({**place, "width": 160, "height_px": 90})


@pytest.mark.parametrize("name", KNOWN)
def test_known_places(name, locations):
    place, searched = known(locations, name)
    found = find_nucleus(searched)
    assert found.period == place["period_in_view"]
    check_nucleus(found)


@pytest.mark.slow
def test_known_deep_place(locations):
    """Beyond the exponents of floats; `test_nuclei_at_depth` checks the digits of such."""
    place, searched = known(locations, "rf_e533")
    found = find_nucleus(searched)
    assert found.period == place["period_in_view"]
    with mp.workdps(800):
        offset = mpc(*found.center) - mpc(place["re"], place["im"])
        assert abs(offset) < mpf(place["height"]) / 100


def test_known_burning_ship(locations):
    place, searched = known(locations, "fs_bs_1e-101")
    found = find_nucleus(searched)
    with mp.workdps(400):
        z = naive.orbit("burning_ship", 0, mpc(*found.center), found.period)
        moved = mpc(*found.center) + mpf(found.size) / 1000
        assert abs(z) < mpf(10) ** -10 * abs(naive.orbit("burning_ship", 0, moved, found.period))
        center = mpc(place["re"], place["im"])
        assert abs(mpc(*found.center) - center) < mpf(place["height"])


def test_more_digits_than_floats_have():
    """Two views whose centers are one float, and whose nuclei are not."""
    here = find_nucleus(view("-2", "0", "1e-30"))
    there = find_nucleus(view(f"-1.{'9' * 20}", "0", "1e-30"))
    assert float(here.center[0]) == float(there.center[0])
    assert here.period != there.period
    check_nucleus(there)


def test_the_scene_of_a_minibrot_changes_the_view_alone():
    start = load_scene("minibrot").replace(size=(800, 600), rotation=15)
    found = find_nucleus(start)
    shown = found.scene()
    assert shown.view.center == found.center
    assert shown.title == "A minibrot of period 77"
    assert shown.replace(**{"title": start.title, "note": start.note}, view=start.view) == start
    high = float(shown.view.width) * 600 / 800 / float(found.size)
    assert 3.5 < high < 4.5
    assert found.scene(upright=True).view.rotation == round(found.angle, 3)
    middle = found.julia(0.5)
    assert float(middle.view.width) ** 2 == pytest.approx(4.6 * float(shown.view.width), rel=1e-4)
    assert [float(found.julia(part).view.width) for part in (0.75, 0.875)] == pytest.approx(
        [
            4.6**0.25 * float(shown.view.width) ** 0.75,
            4.6**0.125 * float(shown.view.width) ** 0.875,
        ],
        rel=1e-4,
    )
    deep = find_nucleus(view("-2", "0", "1e-400")).julia(0.875)
    assert Decimal(deep.view.width).adjusted() == pytest.approx(-700, abs=3)
    for part in (0, 1, -1, 2.5):
        with pytest.raises(OptionError, match="between 0 and 1"):
            found.julia(part)


def test_a_limit_too_low_for_the_minibrot_becomes_auto():
    low, high = (load_scene("minibrot").replace(max_iterations=limit) for limit in (500, 50_000))
    assert find_nucleus(low).scene().iteration.max_iterations == "auto"
    assert find_nucleus(high).scene().iteration.max_iterations == 50_000


def test_skewed_minibrots_have_no_upright():
    found = find_nucleus(load_scene("armada"))
    assert found.scene().view.center == found.center
    with pytest.raises(OptionError, match="skewed"):
        found.scene(upright=True)


def test_what_is_refused():
    with pytest.raises(SceneError, match="Julia set has no nuclei"):
        find_nucleus(Scene().replace(julia=("-0.8", "0.156")))
    with pytest.raises(OptionError, match="max_period 0"):
        find_period(Scene(), max_period=0)


@pytest.mark.parametrize(
    ("place", "max_period", "words"),
    [
        (("3", "0", "1"), None, "edge of the set"),
        (("3", "0", "1e-200"), None, "edge of the set"),
        (("0.2", "0.2", "0.01"), None, "edge of the set"),
        (("0.2", "0.2", "1e-60"), None, "edge of the set"),
        (
            ("0.2", "0.2", "0.2"),
            None,
            "nearest is of period 1, 1 widths to the left and 1.8 .* down",
        ),
        (("0", "0.4", "0.4"), None, "nearest is of period 1, 1.8 heights down from"),
        (("-1.75", "0", "0.1"), 2, "up to 2 was found.* higher max_period="),
        (("-2", "0", "1e-100"), 100, "up to 100 was found.* higher max_period="),
    ],
)
def test_nothing_in_view(place, max_period, words):
    for find in (find_nucleus, find_period):
        with pytest.raises(FractalsError, match=words) as error:
            find(view(*place), max_period=max_period)
        assert "\n" not in str(error.value)


def test_the_scene_says_how_far_to_look():
    with pytest.raises(FractalsError, match="up to 2 was"):
        find_nucleus(view("-1.75", "0", "0.1", max_iterations=2))
    assert find_nucleus(view("-1.75", "0", "0.1", max_iterations=2), max_period=3).period == 3


def test_progress_and_interruption():
    told = []
    find_nucleus(view("-2", "0", "1e-100"), progress=lambda *facts: told.append(facts))
    stages = {what.split()[0] for what, _, _ in told}
    assert stages == {"period", "Newton", "size"}
    assert all(0 < done <= steps for _, done, steps in told)

    def stop(what, done, steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_nucleus(view("-2", "0", "1e-100"), progress=stop)

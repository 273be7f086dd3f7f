"""Misiurewicz points, against orbits iterated in mpmath and against known points."""

import cmath
import math

import pytest
from mpmath import mp, mpc, mpf
from oracle import naive
from support.deadline import deadline
from support.scenes import view

from fractals import Scene, find_misiurewicz, find_nucleus
from fractals.errors import FractalsError, OptionError, SceneError


def check(found, power=2):
    """Tell by mpmath whether this is the point's lowest preperiod and period, to its digits."""
    q, p = found.preperiod, found.period
    digits = max(len(part.partition(".")[2]) for part in found.center)
    digits = max(digits, 30)  # -2 and i are exact
    with mp.workdps(2 * digits + 20):
        z, dz, c = mpc(0), mpc(0), mpc(*found.center)
        points, tangents = [z], [dz]
        for _ in range(q + p):
            z, dz = z**power + c, power * z ** (power - 1) * dz + 1
            points.append(z)
            tangents.append(dz)

        def away(k, n):
            """Return the distance of the nearest c at which these steps coincide, about."""
            return abs((points[n] - points[k]) / (tangents[n] - tangents[k]))

        right = mpf(10) ** (1 - digits)
        assert away(q, q + p) < right
        assert all(away(q, q + part) > 1e6 * right for part in range(1, p))
        assert all(away(k, k + p) > 1e6 * right for k in range(q))
        factor = mpc(1)
        for z in points[q : q + p]:
            factor *= power * z ** (power - 1)
        assert abs(abs(factor) / mpf(found.factor) - 1) < 1e-5
        turned = math.degrees(mp.arg(factor)) + found.angle
        assert abs(math.remainder(turned, 360)) < 1e-6
        assert abs(factor) > 1


@pytest.mark.parametrize(
    ("place", "center", "preperiod", "period"),
    [
        (("-1.999", "0", "0.1"), ("-2", "0"), 2, 1),
        (("0.001", "0.999", "0.1"), ("0", "1"), 2, 2),
        # z_4 = -z_3: c**3 + 2 c**2 + 2 c + 2 = 0, the real root
        (("-1.5437", "0", "0.01"), ("-1.543689012692076361", "0"), 3, 1),
    ],
)
def test_known_points(place, center, preperiod, period):
    found = find_misiurewicz(view(*place))
    assert (found.preperiod, found.period) == (preperiod, period)
    for got, known in zip(found.center, center, strict=True):
        assert got.startswith(known)
    check(found)


@pytest.mark.parametrize(
    ("place", "power"),
    [
        (("-0.7453", "0.1127", "6.5e-3"), 2),
        (("-0.1011", "0.9563", "1e-2"), 2),
        (("-0.77568377", "0.13646737", "1e-5"), 2),
        (("0.6710", "0.4719", "4e-2"), 3),
        (("-0.7875", "0.0447", "4e-2"), 4),
    ],
)
def test_points_of_views(place, power):
    found = find_misiurewicz(view(*place, formula={"name": "multibrot", "power": power}))
    check(found, power)
    offset = complex(*map(float, found.center)) - complex(*map(float, place[:2]))
    assert abs(offset.real) < float(place[2]) / 2


def test_a_deep_point():
    """In a corner of an embedded Julia set, 1e-40 wide, with 300 digits."""
    julia = find_nucleus(view("0", "1", "1e-30")).julia(0.75)
    with mp.workdps(120):
        x = mpf(julia.view.center[0]) + mpf(julia.view.width) * mpf("0.3")
        place = julia.replace(center=(mp.nstr(x, 100), julia.view.center[1]))
    found = find_misiurewicz(place, digits=300)
    assert len(found.center[0].partition(".")[2]) in (299, 300)
    assert found.preperiod > 50
    check(found)


def test_the_view_repeats():
    """A point near the eye, brought nearer by the multiplier, escapes a period later."""
    found = find_misiurewicz(view("-0.7453", "0.1127", "6.5e-3"))
    factor = cmath.rect(float(found.factor), -math.radians(found.angle))
    with mp.workdps(60):
        c = mpc(*found.center)
        for k in range(8):
            offset = mpf("1e-12") * mp.expjpi(mpf(k) / 4)
            far, near = (
                naive.escape("mandelbrot", 0, c + part, 5000, 1000)[0]
                for part in (offset, offset / mpc(factor))
            )
            assert near - far == found.period or near == far == 5000


def test_the_scene_can_be_zoomed():
    place = view("-0.7453", "0.1127", "6.5e-3", palette="ember", max_iterations=100)
    found = find_misiurewicz(place, digits=500)
    drawn = found.scene()
    assert drawn.view.width == place.view.width
    assert drawn.color.palette == place.color.palette
    assert drawn.iteration.max_iterations == "auto"  # 100 is too low
    again = find_misiurewicz(drawn.replace(width="1e-300"))
    assert (again.preperiod, again.period) == (found.preperiod, found.period)
    assert again.center[0][:300] == found.center[0][:300]


def test_views_without_misiurewicz_points_are_refused():
    with pytest.raises(SceneError, match="a Julia set has no Misiurewicz points"):
        find_misiurewicz(Scene().replace(julia=("-0.8", "0.156")))
    with pytest.raises(SceneError, match="complex derivative, and 'tricorn' has none"):
        find_misiurewicz(formula="tricorn")
    with pytest.raises(SceneError, match="f\\(z\\) \\+ c of a polynomial"):
        find_misiurewicz(formula="logistic")
    with pytest.raises(OptionError, match="digits 0"):
        find_misiurewicz("seahorse", digits=0)
    for place in (("3", "0", "1"), ("-0.1", "0.1", "0.01")):  # outside, inside
        with pytest.raises(FractalsError, match="no Misiurewicz point"):
            find_misiurewicz(view(*place))


@pytest.mark.slow
def test_a_view_at_a_parabolic_point_is_searched_in_time():
    """Orbits around -3/4 neither escape nor settle, in any of the circles."""
    with deadline(), pytest.raises(FractalsError, match="no Misiurewicz point"):
        find_misiurewicz(view("-0.75", "0", "0.1"))


def test_progress_is_told():
    told = []
    find_misiurewicz("seahorse", digits=2000, progress=lambda *facts: told.append(facts))
    assert {what for what, _, _ in told} >= {"circle 1 of 274", "Newton 1"}
    assert all(0 < done <= steps for _, done, steps in told)

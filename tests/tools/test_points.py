"""Points of one's own, and all nuclei of a period: against mpmath, and numbers that are known."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from oracle import exact_cycles

import fractals
from fractals.errors import OptionError, SceneError
from fractals.search.nuclei import MAX_DEGREE, count_nuclei
from fractals.tools import trace
from fractals.tools.external_angle import external_angle


def orbit_count(x, y, radius=256, most=3000):
    """Return the steps of the orbit of 0 until |z| > radius, by mpmath."""
    with mpmath.workdps(60):
        c = mpmath.mpc(x, y)
        z = c
        for n in range(1, most):
            if abs(z) > radius:
                return n
            z = z * z + c
        return most


def naive_distance(x, y, radius=256):
    """Return 2 |z| log|z| / |dz/dc| where the orbit of c escapes, by mpmath."""
    with mpmath.workdps(60):
        c = mpmath.mpc(x, y)
        z, dz = c, mpmath.mpf(1)
        while abs(z) <= radius:
            z, dz = z * z + c, 2 * z * dz + 1
        return float(2 * abs(z) * mpmath.log(abs(z)) / abs(dz))


POINTS = [0.3 + 0.6j, -0.75 + 0.01j, -2.5, -1.5 + 0.2j, 0.26, 0.37 + 0.38j]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_counts_and_distances_are_those_of_mpmath(device):
    found = fractals.compute_points(POINTS, device=device)
    assert found.count.tolist() == [orbit_count(p.real, p.imag) for p in map(complex, POINTS)]
    expected = [naive_distance(p.real, p.imag) for p in map(complex, POINTS)]
    assert np.allclose(found.values("distance"), expected, rtol=1e-9)
    assert not found.inside.any()
    assert np.isnan(found.values("period")).all()


def test_a_deep_point_keeps_its_digits():
    """1e-21 + i is outside, and its orbit is that of i in float64, which never escapes."""
    x, y = "0.000000000000000000001", "1"
    found = fractals.compute_points([(x, y), 1j], device="cpu")
    assert found.count.tolist() == [orbit_count(x, y), found.max_iterations]
    assert found.inside.tolist() == [False, True]
    distance, nothing = found.values("distance")
    assert distance == pytest.approx(naive_distance(x, y), rel=1e-6)
    assert math.isnan(nothing)
    angle = found.values("external_angle")[0]
    assert angle == pytest.approx(1 / 6, abs=1e-9)  # i is the end of the ray of 1/6


def test_periods_of_nuclei_are_theirs():
    nuclei = np.concatenate([fractals.nuclei(period) for period in range(1, 8)])
    periods = np.concatenate([[k] * count_nuclei(k) for k in range(1, 8)])
    found = fractals.compute_points(nuclei, device="cpu")
    assert found.inside.all()
    assert found.values("period").tolist() == periods.tolist()
    assert found.values("multiplier").max() < 1e-6
    table = found.columns("period", "interior_distance")
    assert list(table) == ["re", "im", "count", "inside", "period", "interior_distance"]
    middle = table["interior_distance"][:2]  # of the cardioid and of the disc of period 2
    assert np.allclose(middle, [0.5, 0.5 / 2], atol=1e-9)


@pytest.mark.parametrize(
    ("angle", "degree", "julia"),
    [("1/3", 2, None), ("3/11", 2, None), ("10/63", 2, None), ("5/13", 3, None), ("2/7", 2, -1)],
)
def test_a_point_of_a_ray_has_its_angle(angle, degree, julia):
    """The ray is followed inwards from its angle, and the angle is found from the point alone."""
    points = trace.ray(Fraction(angle), degree, julia, 1e-9)[10:150:25]
    keys = {"formula": {"name": "multibrot", "power": degree}}
    keys |= {"julia": complex(julia)} if julia is not None else {}
    found = fractals.compute_points(points, **keys, device="cpu").external_angle()
    outside = ~np.isnan(found)
    assert outside[:4].all()
    away = (found[outside] - float(Fraction(angle)) + 0.5) % 1 - 0.5
    assert abs(away).max() < 1e-12


def test_the_angle_of_a_point_has_all_its_digits():
    """Beside i, whose angle is 1/6 and whose orbit has no end."""
    beside = "0", "1." + "0" * 44 + "1"
    found = fractals.compute_points([beside], device="cpu", max_iterations=2000)
    assert found.external_angle()[0] == pytest.approx(1 / 6, abs=1e-12)


def test_periods_are_those_of_the_oracle():
    dice = np.random.default_rng(3)
    points = dice.uniform(-1.5, 0.4, 30) + 1j * dice.uniform(0, 0.7, 30)
    found = fractals.compute_points(points, device="cpu")
    expected = [exact_cycles.attracting_period(complex(point)) for point in points]
    assert sum(period is not None for period in expected) > 8
    for point, period, inside, exact in zip(
        points, found.values("period"), found.inside, expected, strict=True
    ):
        assert inside == (exact is not None), point
        assert period == exact or math.isnan(period), point  # NaN: not certain
    assert np.isfinite(found.values("period")[found.inside]).mean() > 0.8


def test_angles_where_there_are_none():
    assert math.isnan(external_angle(0.2499 + 0j, 2))  # inside: the orbit has no end
    found = fractals.compute_points([0, 0.3], formula="burning_ship", device="cpu")
    with pytest.raises(OptionError, match="burning_ship"):
        found.external_angle()


def test_many_points_are_rows_of_an_array(monkeypatch):
    from fractals.tools import points

    given = np.linspace(-2, 0.5, 23) + 0.05j
    whole = fractals.compute_points(given, device="cpu", max_iterations=500)
    monkeypatch.setattr(points, "ROW", 7)  # four rows, the last one filled up
    assert fractals.compute_points(given, device="cpu", max_iterations=500) == whole
    assert np.array_equal(np.asarray(whole), whole.count)
    assert np.array_equal(whole.points, given)
    pairs = np.stack([given.real, given.imag], 1)
    assert fractals.compute_points(pairs, device="cpu", max_iterations=500) == whole


def test_points_of_pictures_have_the_counts_of_pictures():
    raw = fractals.compute(size=(9, 6), supersampling=1, max_iterations=300, device="cpu")
    (_, re), (_, im) = ((name, np.asarray(raw.axes()[1][name][1])) for name in ("re", "im"))
    found = fractals.compute_points(re[None, :] + 1j * im[:, None], max_iterations=300)
    assert found.count.tolist() == raw.count.ravel().tolist()


@pytest.mark.parametrize(
    ("points", "keys", "error", "words"),
    [
        ("abc", {}, OptionError, "give a list"),
        ([], {}, OptionError, "at least one"),
        ([1, "x"], {}, OptionError, "'x'.* is no point"),
        ([(1, 2, 3)], {}, OptionError, "is no point"),
        ([complex("nan")], {}, OptionError, "is no point"),
        ([1], {"formula": "clifford"}, SceneError, "another family"),
        ([1], {"colour": 1}, OptionError, "unknown keyword"),
    ],
)
def test_wrong_points_are_refused(points, keys, error, words):
    with pytest.raises((error, OptionError), match=words):
        fractals.compute_points(points, **keys)


def test_ranks_are_no_values_of_a_point():
    with pytest.raises(OptionError, match="ranks"):
        fractals.compute_points([1]).values("rank")


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_all_nuclei_of_a_period(degree):
    """Each is a root to the last digits, of no shorter period, and none is missing."""
    known = {2: (1, 1, 3, 6, 15, 27, 63, 120, 252, 495), 3: (1, 2, 8, 24, 80, 232)}
    for period in range(1, 11 if degree == 2 else 7 if degree == 3 else 5):
        found = fractals.nuclei(period, degree)
        if degree in known:
            assert len(found) == known[degree][period - 1]
        assert len(np.unique(found.round(9))) == len(found) == count_nuclei(period, degree)
        with mpmath.workdps(40):
            for c in found[:: max(1, len(found) // 12)]:
                z, dz, lowest = mpmath.mpc(c), mpmath.mpf(1), math.inf
                for _ in range(period - 1):
                    lowest = min(lowest, abs(z))
                    z, dz = z**degree + mpmath.mpc(c), degree * z ** (degree - 1) * dz + 1
                assert abs(z / dz) < 1e-14
                assert lowest > 1e-6


def test_nuclei_on_the_real_axis_are_real():
    counts = [int((fractals.nuclei(period).imag == 0).sum()) for period in range(1, 12)]
    assert counts == [1, 1, 1, 2, 3, 5, 9, 16, 28, 51, 93]  # OEIS A000048


@pytest.mark.slow
def test_the_longest_period():
    assert len(fractals.nuclei(13)) == count_nuclei(13) == 4095


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0,), "period=0"), ((3, 1), "degree=1"), ((16,), "at most 15"), ((2.5,), "whole number")],
)
def test_nuclei_out_of_range(arguments, words):
    assert MAX_DEGREE == 2**14
    with pytest.raises(OptionError, match=words):
        fractals.nuclei(*arguments)


def test_the_area_of_the_set():
    """1.50659, to three errors of a sum over cells with two points each (Fisher's thesis, 2001)."""
    side, dice = 300, np.random.default_rng(7)
    corner = np.arange(side) / side
    cells = 2.5 * corner[:, None] - 2 + 1.25j * corner[None, :]  # the upper half
    off = dice.random((2, side, side, 2)) @ [2.5 / side, 1.25j / side]
    inside = fractals.compute_points(cells + off, max_iterations=20_000).inside
    first, second = inside.reshape(2, -1)
    cell = 2 * 2.5 * 1.25 / side**2  # both halves
    area, error = (
        cell * (first + 1.0 * second).sum() / 2,
        cell * math.sqrt((first != second).sum()) / 2,
    )
    assert error < 0.003
    assert abs(area - 1.50659) < 3 * error

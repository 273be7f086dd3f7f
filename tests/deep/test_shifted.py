"""Orbits made from one nearby are those of arbitrary precision, bit for bit."""

import random
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import gmpy2
import numpy as np
import pytest
from support.deep import deep_scene
from support.scenes import scene

import fractals
from fractals.deep import orbit_cache
from fractals.deep.orbit_cache import MAX_APART, MORE_BITS, is_near, shifted
from fractals.deep.reference import OrbitRequest, compute_orbit
from fractals.rendering.plan import make_plan

ZERO = Fraction(0), Fraction(0)
LIMIT = 20_000
RADIUS = 256.0
# By power: what `deep_scene` finds, which compiles programs that no other test uses.
CENTERS = {
    3: (
        "-0.102922298852187839547749574909478321943427784",
        "-1.15456962460774841731134020797928021933926278",
    ),
    6: (
        "0.6774195755893337509493147428060933375847603125079715487",
        "-0.6523915711634093345657673662129827010337398860377218846",
    ),
}
VIEWS = {
    "mandelbrot": lambda: deep_scene("mandelbrot", False, 24),
    "deep": lambda: deep_scene("mandelbrot", False, 90),
    "power 3": lambda: multibrot(3, "1e-30"),
    "power 6": lambda: multibrot(6, "1e-40"),
    "caravan": lambda: fractals.load_scene("caravan"),
}


def multibrot(power, width):
    """Return a deep view of a power, with detail."""
    formula = {"name": "multibrot", "power": power}
    keys = {"max_iterations": 1000, "escape_radius": 64, "size": (12, 8)}
    return scene(formula, center=CENTERS[power], width=width, **keys)


def orbit_of(plan, apart, radius, bits, **options):
    """Return the orbit of a center this far from the plan's, computed in all digits."""
    c = tuple(own + far for own, far in zip(plan.center, apart, strict=True))
    limit = options.pop("limit", 2**17)
    wanted = OrbitRequest(plan.formula, ZERO, c, bits, limit, RADIUS, radius)
    return compute_orbit(wanted, **options)


def shifted_for(known, apart, formula, *own):
    """Return the orbit that a known one gives; the request's center is not read."""
    return shifted(known, apart, OrbitRequest(formula, ZERO, ZERO, *own))


def same(found, exact):
    assert np.array_equal(found.orbit, exact.orbit)
    assert (found.period, found.escaped) == (exact.period, exact.escaped)
    assert float(found.least_radius) == pytest.approx(float(exact.least_radius), rel=1e-9, abs=0)


@pytest.mark.parametrize("name", VIEWS)
def test_points_and_period_are_those_of_all_digits(name):
    plan = make_plan(VIEWS[name](), "cpu")
    radius = plan.width / 2
    known = orbit_of(plan, ZERO, radius, plan.bits + MORE_BITS + 20, with_low=True)
    assert len(known.orbit) > 30
    dice = random.Random(name)
    lengths = set()
    for _ in range(1 if name == "caravan" else 6):
        far = Fraction(dice.choice((1, 10, MAX_APART / 2)))
        apart = tuple(far * radius * Fraction(dice.uniform(-1, 1)) for _ in range(2))
        deeper = radius / dice.choice((1, 1, 50))
        found = shifted_for(known, apart, plan.formula, plan.bits, 2**17, RADIUS, deeper)
        exact = orbit_of(plan, apart, deeper, plan.bits + 80)
        if len(exact.orbit) <= 2 * len(known.orbit):
            same(found, exact)
            lengths.add(len(exact.orbit))
        else:
            assert found is None
    assert len(lengths) >= (1 if name == "caravan" else 3)


def test_low_parts_are_what_the_points_leave_out():
    plan = make_plan(VIEWS["mandelbrot"](), "cpu")
    known = orbit_of(plan, ZERO, plan.width / 2, 300, with_low=True)
    assert known.low.shape == known.orbit.shape
    with gmpy2.context(gmpy2.get_context(), precision=300):
        x = y = gmpy2.mpfr(0)
        a, b = (gmpy2.mpfr(gmpy2.mpq(str(part))) for part in plan.center)
        for Z, low in zip(known.orbit[:100], known.low, strict=False):
            for part, high, rest in zip((x, y), Z, low, strict=True):
                assert abs(part - high - rest) <= abs(part) * gmpy2.mpfr(2) ** -105
            x, y = x * x - y * y + a, 2 * x * y + b


def test_where_more_digits_are_needed_there_is_no_orbit():
    plan = make_plan(VIEWS["mandelbrot"](), "cpu")
    radius, bits = plan.width / 2, plan.bits
    apart = radius / 3, radius / 5
    known = orbit_of(plan, ZERO, radius, bits + MORE_BITS, with_low=True)
    exact = orbit_of(plan, apart, radius, bits + MORE_BITS)

    def found(known=known, bits=bits, limit=2**17, escape_radius=RADIUS):
        options = bits, limit, escape_radius, radius
        return shifted_for(known, apart, plan.formula, *options)

    same(found(), exact)
    assert found(bits=bits + 1) is None
    assert found(known=orbit_of(plan, ZERO, radius, bits + MORE_BITS)) is None  # without low parts
    assert found(limit=len(exact.orbit) - 2) is None


def test_beside_the_escape_radius_only_more_digits_tell():
    plan = make_plan(VIEWS["mandelbrot"](), "cpu")
    radius, bits = plan.width / 2, plan.bits
    known = orbit_of(plan, ZERO, radius, bits + MORE_BITS, with_low=True)
    dice, seen = random.Random(1), 0
    while seen < 3:
        apart = tuple(10 * radius * Fraction(dice.uniform(-1, 1)) for _ in range(2))
        exact = orbit_of(plan, apart, radius / 50, bits + MORE_BITS)
        if exact.escaped:
            size = float(abs(complex(*exact.orbit[-1])))
            for share, told in ((1 - 2.0**-18, True), (1, False), (1 + 2.0**-23, False)):
                options = bits, 999, float(size * share), radius / 50
                found = shifted_for(known, apart, plan.formula, *options)
                assert (found is not None) == told
            seen += 1


def nucleus(start, period):
    """Return the nucleus of a period near a point, by Newton's method, to 1000 bits."""
    with gmpy2.context(gmpy2.get_context(), precision=1000):
        c = gmpy2.mpc(start)
        for _ in range(15):
            z = d = gmpy2.mpc(0)
            for _ in range(period):
                z, d = z * z + c, 2 * z * d + 1
            c -= z / d
        return tuple(Fraction(*gmpy2.mpq(part).as_integer_ratio()) for part in (c.real, c.imag))


def shifted_to(c, start, radius, bits=200):
    """Return the orbit of c, made from that of `start`."""
    formula = fractals.Scene().make_formula()
    wanted = OrbitRequest(formula, ZERO, c, bits + 300, 500, RADIUS, radius)
    known = compute_orbit(replace(wanted, c=start), with_low=True)
    apart = tuple(there - here for there, here in zip(c, start, strict=True))
    return shifted(known, apart, replace(wanted, bits=bits)), compute_orbit(wanted)


def test_a_point_at_0_needs_more_digits():
    x, y = nucleus(-0.16 + 1.03j, 4)
    radius = Fraction(1, 2**40)
    found, exact = shifted_to((x, y), (x + radius / 3, y + radius / 5), radius, 600)
    assert exact.period == 4
    assert len(exact.tiny) == 1
    assert found is None


def test_a_part_that_is_much_smaller_needs_more_digits_unless_it_is_0():
    radius = Fraction(1, 2**70)
    x, near, far = Fraction(-19, 10), radius / 5, Fraction(0)
    found, exact = shifted_to((x + radius / 3, far), (x, far), radius)
    same(found, exact)
    assert len(exact.orbit) > 30
    assert not exact.orbit[:, 1].any()
    for c, start in (((x, far), (x, near)), ((x, near), (x, far)), ((x, near), (x, near / 2))):
        assert shifted_to(c, start, radius)[0] is None


def test_which_orbits_are_near():
    plan = make_plan(VIEWS["caravan"](), "cpu")
    radius = plan.width / 2
    known = orbit_of(plan, ZERO, radius, plan.bits, limit=3000)

    def near(x, y=0, view_radius=radius, known=known):
        return is_near(known, (Fraction(x) * radius, Fraction(y) * radius), view_radius)

    assert near(1)
    assert near(0, -1)
    assert not near(0)
    assert not near(1, MAX_APART)
    assert not near(1, view_radius=radius / MAX_APART)
    assert not is_near(known, (Fraction(10) ** -280, Fraction(0)), Fraction(10) ** -280)
    assert not near(1, known=orbit_of(plan, ZERO, radius, plan.bits, limit=300))
    assert not near(1, known=replace(known, repeats=2))
    assert not near(1, known=replace(known, tiny=np.zeros((1, 4))))


@pytest.fixture
def computed(monkeypatch, tmp_path):
    """Count the orbits that are computed in all digits, with nothing known before."""
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path))
    orbit_cache.recent.clear()
    counted = mock.Mock(side_effect=compute_orbit)
    monkeypatch.setattr(orbit_cache, "compute_orbit", counted)
    yield counted
    orbit_cache.recent.clear()


def moved(drawn, x, y):
    """Return a scene whose center is moved by shares of its width."""
    plan = make_plan(drawn, "cpu")
    center = (
        gmpy2.mpq(own + Fraction(by) * plan.width)
        for own, by in zip(plan.center, (x, y), strict=True)
    )
    with gmpy2.context(precision=plan.bits + 100):
        return drawn.replace(center=tuple(str(gmpy2.mpfr(part)) for part in center))


def test_a_pan_computes_two_orbits_and_its_pictures_depend_on_none_before(computed):
    drawn = fractals.load_scene("wheels", size=(48, 27), supersampling=1)
    views = [moved(drawn, k / 20, k / 30) for k in range(9)]
    panned = [fractals.compute(view, device="cpu", on_message=str) for view in views]
    assert computed.call_count == 2
    assert [call.kwargs["with_low"] for call in computed.call_args_list] == [False, True]
    for view, before in zip(views[2::3], panned[2::3], strict=True):
        alone = fractals.compute(view, device="cpu", cache=False, on_message=str)
        for plane in ("count", "z"):
            assert getattr(alone, plane).tobytes() == getattr(before, plane).tobytes()
        assert alone.count_offset == before.count_offset


def test_orbits_on_the_disk_and_of_other_kinds(computed, monkeypatch):
    monkeypatch.setattr(orbit_cache, "MIN_WORK", 0)
    drawn = fractals.load_scene("wheels", size=(16, 9), supersampling=1)
    plan = make_plan(drawn, "cpu")

    def find(k, formula=plan.formula, escape_radius=RADIUS):
        c = plan.center[0] + k * plan.width / 20, plan.center[1]
        options = plan.bits, 8000, escape_radius, plan.width / 2
        orbit_cache.find(OrbitRequest(formula, ZERO, c, *options))
        return computed.call_count, computed.call_args.kwargs["with_low"]

    assert find(0) == (1, False)
    orbit_cache.recent.clear()
    assert find(0) == (1, False)  # from the disk
    assert find(1) == (2, True)
    assert find(2) == (2, True)
    assert find(3, escape_radius=77.0) == (3, False)
    assert find(4, formula=fractals.Scene(formula="tricorn").make_formula()) == (4, False)
    assert find(5) == (4, False)


def test_a_formula_of_the_user_is_known_by_its_step_and_not_by_its_name(computed):
    """Its file may begin as a copy of ours, and keep the name; it got the orbit of z² + c."""
    plan = make_plan(fractals.load_scene("wheels"), "cpu")
    ours = plan.formula

    def step(x, y, a, b):
        return ours.step(x, -y, a, b)

    def find(k, formula):
        c = plan.center[0] + k * plan.width / 20, plan.center[1]
        wanted = OrbitRequest(formula, ZERO, c, plan.bits, 8000, RADIUS, plan.width / 2)
        return orbit_cache.find(wanted).orbit, compute_orbit(wanted).orbit

    find(0, ours)
    find(1, ours)  # which gives others
    found, exact = find(2, replace(ours, step=step))
    assert np.array_equal(found[:100], exact[:100])


def test_the_same_orbit_is_computed(computed):
    """The parts of a store have equal bits, wherever and after whatever they are computed."""
    plan = make_plan(fractals.load_scene("wheels"), "cpu")
    options = plan.bits, 8000, RADIUS, plan.width / 2
    finders = orbit_cache.find, orbit_cache.find, orbit_cache.find, orbit_cache.find_same
    for k, find in enumerate(finders):
        c = plan.center[0] + k * plan.width / 20, plan.center[1]
        find(OrbitRequest(plan.formula, ZERO, c, *options))
    spare = [call.args[0].bits - plan.bits for call in computed.call_args_list]
    assert spare == [64, 128, 0]  # the third is made from the second


@pytest.mark.parametrize("changes", [{"formula": "burning_ship"}, {"julia": ["-0.1", "0.8"]}])
def test_other_orbits_are_computed(changes, computed):
    """A formula that is not holomorphic, and a Julia set, have orbits of their own."""
    drawn = fractals.load_scene("wheels", size=(16, 9), supersampling=1, max_iterations=9000)
    drawn = drawn.replace(**changes, coloring="distance")  # whose programs other tests compile
    for k in range(3):
        fractals.compute(moved(drawn, k / 20, 0), device="cpu", on_message=str)
    julia = "julia" in changes  # the orbit of 0 is the same
    assert computed.call_count == 3 + julia
    assert not any(call.kwargs["with_low"] for call in computed.call_args_list)

"""Compiled orbits near a reference find what the search in arbitrary precision finds."""

import gmpy2
import pytest
from gmpy2 import mpfr, mpq
from support.scenes import FORMULAS, label, slow_but, view

from fractals import Scene, find_nucleus
from fractals.errors import FractalsError
from fractals.search import newton, nucleus
from fractals.search.nucleus import NearOrbits

FEW = ["mandelbrot", "burning_ship", "tricorn", {"name": "multibrot", "power": 3}]


@pytest.fixture
def compiled(monkeypatch):
    """Return a search of which nothing but the start is done in gmpy2."""

    def find(place, **options):
        with monkeypatch.context() as patch:
            patch.setattr(nucleus, "PLAIN_STEPS", 1)
            return find_nucleus(place, **options)

    return find


@pytest.mark.parametrize(
    "place",
    [
        ("-1.75", "0", "0.1"),
        ("-0.13", "0.75", "0.1"),
        ("-1.250713", "0.020152", "1e-5"),
        ("0", "1", "1e-30"),
        ("-2", "0", "1e-400"),
    ],
)
def test_nuclei_are_the_same(compiled, place):
    assert compiled(view(*place)) == find_nucleus(view(*place))


@pytest.mark.parametrize("formula", slow_but(FEW[:2], [f for f in FORMULAS if f in FEW]), ids=label)
def test_compiled_orbits_find_the_nuclei_of_each_formula(compiled, formula):
    """With and without kinks, and a complex derivative."""
    found = 0
    for x, y in (
        ("-1.2", "0.3"),
        ("-0.6", "0.5"),
        ("-1.62", "0.02"),
        ("0.3", "0.65"),
        ("-1.755", "-0.03"),
    ):
        place = view(x, y, "0.05", formula=formula, max_iterations=300)
        try:
            expected = find_nucleus(place)
        except FractalsError:
            continue
        assert compiled(place) == expected
        found += expected.period > 2
    assert found


def test_a_corner_of_a_deep_view(compiled):
    """Where several candidates fail before one is found."""
    place = find_nucleus(view("0", "1", "1e-30")).julia(0.75)
    x, y = map(mpq, place.view.center)
    with gmpy2.context(precision=400):
        center = tuple(
            format(mpfr(part + mpq(place.view.width) * share), ".80f")
            for part, share in ((x, mpq(1, 20)), (y, mpq(1, 40)))
        )
    corner = place.replace(center=center, width=f"{float(place.view.width) / 2:.5e}")
    found = find_nucleus(corner)
    assert found.period > 50
    assert compiled(corner) == found


def test_periods_are_those_of_gmpy2():
    """Each step at which a nucleus is expected, over several calls of the program."""
    formula = Scene().make_formula()
    c, radius = (mpq(0), mpq(1)), mpfr("1e-30")
    expected = [m for found in newton.candidates(formula, c, radius, 3000) for m in found]
    orbits = NearOrbits(formula, c, radius, 3000)
    found = [m for m, _ in orbits.candidates([c], radius, 10_000)]
    assert found == expected[: len(found)]
    assert len(found) > 10


def test_an_orbit_is_that_of_gmpy2():
    """z_p and dz_p/dc of a point beside the reference, to 40 bits."""
    formula = Scene().make_formula()
    c, radius = (mpq("-1.250713"), mpq("0.020152")), mpfr("1e-20")
    orbits = NearOrbits(formula, c, radius, 500)
    z, columns = orbits._end((radius / 3, -radius / 5), 400)
    point = c[0] + mpq(radius / 3), c[1] - mpq(radius / 5)
    bits = newton.orbit_bits(point, newton.log2(radius) - 64, 400)
    expected, tangents, _ = newton._end(formula, point, 400, bits, 100, (), "", None)
    for got, right in ((z, expected), (columns[0], tangents[0])):
        with gmpy2.context(precision=100):
            away = newton.norm((got[0] - right[0], got[1] - right[1]))
        assert away < newton.norm(right) * 2.0**-40

"""Numbers of more than 4300 digits, which Python's int() and str() refuse to read and to write."""

from decimal import Context, Decimal
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

import fractals
from fractals.films.motion import make_motion
from fractals.io.files import parse_json, parse_toml
from fractals.scene.numbers import decimal_places, decimal_text, significant
from fractals.search.nucleus import NearOrbits
from fractals.tools import interesting

DIGITS = "12" * 2500
HUGE = 10**5000


def test_decimal_places_of_any_number():
    exact = Fraction(Decimal(f"-1.{DIGITS}"))
    assert decimal_places(exact, 5000) == f"-1.{DIGITS}"
    assert decimal_places(exact * 10**5000, 0) == f"-1{DIGITS}"
    assert decimal_places(Fraction(-1, 10**5001), 5000) == "0"
    assert decimal_places(Fraction(10), 0) == "10"


@pytest.mark.parametrize("digits", [6, 17])
def test_significant_digits_are_those_of_decimal(digits):
    """Also beside powers of ten, where the logarithm is rounded to the wrong side."""
    rounded = Context(prec=digits)
    for exponent in (*range(-40, 20), -1000):
        for part in ("1", "0.99999999999999999", "9.999999", "0.9999995", "1.5", "1.00000000001"):
            value = Decimal(part).scaleb(exponent)
            text = significant(Fraction(value), digits)
            assert Decimal(text) == rounded.plus(value)
            assert ("e" in text) == (not -4 <= rounded.plus(value).adjusted() < digits)


def test_a_long_integer_is_refused_with_what_to_do():
    assert fractals.load_scene(zoom=str(10**4000)).view.zoom == str(10**4000)
    for read, given in (
        (decimal_text, 10**5000),
        (parse_json, f'{{"zoom": 1{DIGITS}}}'),
        (parse_toml, f"zoom = 1{DIGITS}"),
    ):
        with pytest.raises(ValueError, match="write it as text, in quotes"):
            read(given)


def test_a_film_of_any_depth():
    keys = [
        {"at": at, "center": [f"1.{DIGITS}", "1"], "width": width}
        for at, width in ((0, "1e-4400"), (4, "1e-4410"))
    ]
    scene = fractals.load_scene(film={"keys": keys}, max_iterations=100, size=(16, 9))
    view = make_motion(scene, 4.0).view_at(2.0).view
    assert "e-4405" in view.width or "e-4406" in view.width
    assert view.center[0].startswith(f"1.{DIGITS[:4400]}")


def test_windows_of_a_deep_view():
    scene = fractals.load_scene(center=("1.25", "1"), width="3e-4400", size=(16, 9))
    window = interesting._window(scene, 0.25, 0.75)
    assert Decimal(window.view.width) < Decimal("3e-4400")
    assert Decimal(window.view.center[0]) < Decimal("1.25")


def test_a_search_of_any_depth():
    tiny = gmpy2.mpq(1, 10**4400)
    orbits = NearOrbits(fractals.load_scene().make_formula(), (tiny - 2, tiny), tiny, 4)
    assert np.allclose(orbits._reference.orbit[2][:2], (2, 0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: fractals.compute_points([10**400]),
        lambda: fractals.compute_points([("1e500", "0")]),
        lambda: fractals.compute_points([HUGE]),
        lambda: fractals.recolor(np.zeros((3, 3))),
        lambda: fractals.trace(size=(8, 6), contours=HUGE),
        lambda: fractals.find_misiurewicz("seahorse", digits=HUGE),
        lambda: fractals.render_to("a.png", size=(8, 6), overwrite=HUGE),
        lambda: fractals.render(size=(8, 6), device="python").save("a.png", quality=HUGE),
    ],
)
def test_a_number_or_an_array_as_an_option_is_one_line(call):
    with pytest.raises(fractals.FractalsError) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1

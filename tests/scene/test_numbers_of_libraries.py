"""Numbers of NumPy, fractions, gmpy2 and mpmath are numbers of a scene, with all their digits."""

import contextlib
import typing
from decimal import Decimal
from fractions import Fraction

import gmpy2
import mpmath
import numpy as np
import pytest

import fractals
from fractals.errors import SceneError
from fractals.films.options import FilmOptions
from fractals.rendering.options import DeviceOptions, SuggestOptions
from fractals.scene.keywords import SceneKeywords
from fractals.scene.numbers import decimal_text
from fractals.search.options import SearchOptions

NUMBERS = {
    "int64": (np.int64(3), "3"),
    "float32": (np.float32(0.1), "0.10000000149011612"),
    "float16": (np.float16(0.25), "0.25"),
    "longdouble": (np.longdouble("0.1"), "0.1"),
    "0-d array": (np.array(0.25), "0.25"),
    "0-d array of long doubles": (np.array(np.longdouble("1e-30")), "1e-30"),
    "Fraction": (Fraction(-3, 80), "-0.0375"),
    "mpz": (gmpy2.mpz(7), "7"),
    "mpq": (gmpy2.mpq(1, 8), "0.125"),
    "mpfr": (gmpy2.mpfr("-0.75"), "-0.75"),
    "mpfr of 5000 bits": (gmpy2.mpfr("1e-1400", 5000), "1e-1400"),
    "mpf": (lambda: mpmath.mpf("0.1"), "0.1"),
    "mpf of 0": (mpmath.mpf(0), "0"),
    "mpf below all floats": (lambda: mpmath.mpf("2.5e-3000"), "2.5e-3000"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_their_text_is_theirs(name):
    given, text = NUMBERS[name]
    with mpmath.workprec(53):  # what another test has set lasts
        assert decimal_text(given() if callable(given) else given) == text


@pytest.mark.parametrize("bits", [53, 54, 64, 200, 1000])
@pytest.mark.many
@pytest.mark.parametrize("seed", range(5))
def test_floats_of_many_bits_are_the_nearest_to_their_text(bits, seed):
    state = gmpy2.random_state(seed)
    with gmpy2.context(precision=bits):
        given = gmpy2.mpfr_random(state) / 2 ** (200 * seed)
        text = decimal_text(given)
        assert gmpy2.mpfr(text) == given
    assert len(text.partition("e")[0].replace("0.", "")) <= bits * 0.3011 + 3
    with mpmath.workprec(bits):
        there = mpmath.mpf(text)
        assert mpmath.mpf(decimal_text(there)) == there


def test_a_bit_far_behind_the_others_is_kept():
    given = gmpy2.mpfr("0.5", 300) + gmpy2.mpfr(2, 300) ** -299
    assert abs(Fraction(decimal_text(given)) - Fraction(*given.as_integer_ratio())) < 2.0**-300


POINTS = {
    "complex64": np.complex64(0.5 - 2j),
    "mpc": gmpy2.mpc("0.5-2j", 100),
    "mpmath": mpmath.mpc("0.5", "-2"),
    "array": np.array([0.5, -2], dtype=np.float32),
    "0-d array": np.array(0.5 - 2j),
    "pair of two kinds": (Fraction(1, 2), gmpy2.mpfr(-2)),
    "list of two kinds": [np.float64(0.5), Decimal(-2)],
    "another minus sign": "0.5, \u22122",
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("key", ["center", "julia"])
def test_points_are_pairs_and_complex_numbers_of_any_library(name, key):
    scene = fractals.Scene().replace(**{key: POINTS[name]})
    found = scene.julia if key == "julia" else scene.view.center
    assert tuple(map(Decimal, found)) == (Decimal("0.5"), Decimal(-2))


@pytest.mark.parametrize("given", [-1.75, np.float64(-1.75), Decimal("-1.75"), mpmath.mpf(-1.75)])
def test_a_real_number_is_a_point_of_the_axis(given):
    assert tuple(map(Decimal, fractals.Scene().replace(center=given).view.center)) == (
        Decimal("-1.75"),
        0,
    )
    with pytest.raises(SceneError, match="'True' is not a point"):
        fractals.Scene().replace(center=True)


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("rotation", Fraction(1, 2)),
        ("density", gmpy2.mpfr("1.5")),
        ("width", mpmath.mpf("1e-400")),
        ("zoom", np.int32(4)),
        ("supersampling", np.array(2)),
        ("max_iterations", 1e3),
        ("max_iterations", gmpy2.mpz(50)),
        ("size", np.array([64, 48])),
        ("dpi", np.float32(300)),
        ("bits", np.int64(8)),
        ("mirror", np.bool_(True)),
    ],
)
def test_every_key_takes_them(key, given):
    scene = fractals.Scene().replace(**{key: given})
    found = {**scene.to_values(), **scene.to_values()["view"], **scene.to_values()["image"]}
    found |= {**found["iteration"], **found["color"]}
    if key == "size":
        assert tuple(found[key]) == (64, 48)
    else:
        assert Decimal(found[key]) == Decimal(decimal_text(given) if key != "mirror" else 1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Fraction(1, 3), "1/3 has no end as a decimal number"),
        (gmpy2.mpfr("nan"), "of type mpfr, is not a finite real number"),
        (mpmath.inf, "of type mpf, is not a finite real number"),
        (np.float32("inf"), "of type float32, is not a finite real number"),
        (np.array([1.0, 2.0]), "of type ndarray, is not a finite real number"),
        (np.bool_(True), "of type bool, is not a finite real number"),
        (gmpy2.mpc(1, 2), "of type mpc, is not a finite real number"),
        (mpmath.mpf(2) ** 10**8, "is beyond 1e±1000000"),
        (object, "of type type, is not a finite real number"),
    ],
)
def test_what_is_no_number_is_told_by_its_type(given, words):
    with pytest.raises(SceneError) as raised:
        fractals.Scene().replace(width=given)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def numbers_of_libraries(value):
    """Return a number as other libraries have it."""
    exact = Fraction(value)
    made = [exact, Decimal(value), np.float32(value), np.array(value, np.longdouble)]
    made += [gmpy2.mpfr(value), gmpy2.mpq(exact), mpmath.mpf(value)]
    return made + (
        [np.int16(value), np.array(value), gmpy2.mpz(value)] if exact == int(exact) else []
    )


def numeric_keys():
    """Return the keys of a scene that take one number, each with a value that is none's default."""
    keys = {}
    for name, annotation in SceneKeywords.__annotations__.items():
        kinds = typing.get_args(annotation) or (annotation,)
        if typing.SupportsIndex in kinds or typing.SupportsFloat in kinds:
            for value in (0.5, 3, 40, 400, 4000):
                with contextlib.suppress(fractals.SceneError):
                    keys[name] = fractals.Scene().replace(**{name: value}), value
                    break
    return keys


def test_numbers_of_any_library_are_numbers_in_every_key():
    keys = numeric_keys()
    assert len(keys) > 40
    for name, (scene, value) in keys.items():
        for number in numbers_of_libraries(value):
            assert fractals.Scene().replace(**{name: number}) == scene, (name, type(number))
    point = fractals.Scene().replace(center=(-0.75, 0.125), julia=(-0.75, 0.125))
    for number in (
        gmpy2.mpc("-0.75+0.125j"),
        mpmath.mpc(-0.75, 0.125),
        np.clongdouble(-0.75 + 0.125j),
    ):
        assert fractals.Scene().replace(center=number, julia=number) == point, type(number)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: {"formula": {"name": "multibrot", "power": n(3)}},
        lambda n: {"coloring": {"name": "stripe_average", "density": n(3)}},
        lambda n: {"layers": [{"coloring": "slopes", "opacity": n(1)}]},
        lambda n: {"palette": {"stops": [[n(0), "#000"], [n(1) / 2, "#fff"]], "cyclic": False}},
        lambda n: {
            "formula": {"name": "flame", "transforms": [{"affine": [*map(n, (1, 0, 2, 0, 1, 0))]}]}
        },
        lambda n: {
            "bits": n(16),
            "size": (n(64), n(40)),
            "range": (n(0), n(8)),
            "position": [n(3)] * 3,
        },
    ],
)
def test_numbers_of_any_library_are_numbers_in_tables(make):
    scene = fractals.Scene().replace(**make(int))
    for kind in (np.int64, Fraction, gmpy2.mpz, mpmath.mpf, np.array):
        assert fractals.Scene().replace(**make(kind)).to_values() == scene.to_values(), kind


def test_numbers_of_any_library_are_numbers_in_options():
    for value in (np.int64(2), Fraction(2), np.array(2), gmpy2.mpfr(2), 2.0):
        assert (
            DeviceOptions(threads=value).threads == SearchOptions(max_period=value).max_period == 2
        )
        assert type(SuggestOptions(count=value).count) is int
        assert FilmOptions(seconds=value).seconds == 2
    for value in ("2", 2.5, True, [2]):
        with pytest.raises(
            fractals.OptionError, match=r"max_period=.*: give a whole number, or None"
        ):
            fractals.find_nucleus("minibrot", max_period=value)
    with pytest.raises(fractals.OptionError, match="fps='fast': give a number, or None"):
        fractals.film(fps="fast")

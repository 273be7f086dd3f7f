"""Moves: exact, and back to the same text after any number of them."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fractals.errors import OptionError
from fractals.explorer.frames import FrameView, Move, map_between
from fractals.scene.model import Scene
from fractals.scene.numbers import significant

SIZE = (1280, 720)


def deep_place(exponent=1000, **view):
    chance = random.Random(exponent)
    x, y = ("".join(chance.choice("0123456789") for _ in range(exponent + 10)) for _ in "xy")
    scene = Scene().replace(
        center=(f"-1.76853{x}", f"0.00096{y}"), width=f"3.217e-{exponent}", **view
    )
    return FrameView.of(scene, SIZE)


def inverse(move):
    return Move(
        (move.at[0] + move.by[0], move.at[1] + move.by[1]),
        (-move.by[0], -move.by[1]),
        -move.scale,
        -move.turn,
    )


def random_moves(seed, count):
    chance = random.Random(seed)
    for _ in range(count):
        yield Move(
            (chance.randint(0, 20480), chance.randint(0, 11520)),
            (chance.randint(-9000, 9000), chance.randint(-9000, 9000)),
            chance.randint(-256, 256),
            chance.randint(-9000, 9000),
        )


@pytest.mark.parametrize("view", [{}, {"rotation": 12.5}, {"mirror": True}, {"stretch": 2.0}])
def test_200_moves_and_back_land_on_the_same_text(view):
    first = place = deep_place(**view)
    moves = list(random_moves(1, 200))
    for move in moves:
        place = place.moved(move)
    assert place.scene() != first.scene()
    for move in reversed(moves):
        place = place.moved(inverse(move))
    assert place == first
    assert place.scene() == first.scene()


def test_digits_of_a_place_do_not_grow_with_moves():
    place = deep_place(300)
    for move in random_moves(2, 300):
        place = place.moved(Move(move.at, move.by, move.scale % 3 - 1, 0))
    assert len(str(place.center[0].denominator)) < 450


def test_a_zoom_in_and_out_at_different_points_returns_to_the_width():
    place = deep_place(50)
    for k in range(100):
        place = place.moved(Move((160 * k, 90 * k), scale=16))
    for k in range(100):
        place = place.moved(Move((90 * k, 70 * k), scale=-16))
    assert place.scene().view.width == "3.217e-50"


@settings(max_examples=60)
@given(
    at=st.tuples(st.integers(0, 20480), st.integers(0, 11520)),
    by=st.tuples(st.integers(-9000, 9000), st.integers(-9000, 9000)),
    scale=st.integers(-300, 300),
    turn=st.integers(-36000, 36000),
    mirror=st.booleans(),
)
def test_the_map_is_the_move_that_was_asked_for(at, by, scale, turn, mirror):
    base = deep_place(400, mirror=mirror, rotation=31.0)
    a, b, c, d, e, f = map_between(base, base.moved(Move(at, by, scale, turn)))
    size, angle = 2 ** (scale / 64), math.radians(turn / 100)
    wanted = [size * math.cos(angle), size * math.sin(angle)]
    assert [a, b, c, d] == pytest.approx(
        [*wanted, -wanted[1], wanted[0]], rel=1e-5, abs=1e-5 * size
    )
    x, y = at[0] / 16, at[1] / 16
    assert a * x + b * y + e == pytest.approx((at[0] + by[0]) / 16, abs=1 / 16)
    assert c * x + d * y + f == pytest.approx((at[1] + by[1]) / 16, abs=1 / 16)


def test_the_text_of_the_center_is_within_a_sixteenth_of_a_pixel():
    place = deep_place(200)
    for move in random_moves(3, 50):
        place = place.moved(move)
    x, _ = place.scene().view.center
    assert abs(Fraction(x) - place.center[0]) < place.pixel / 16


def test_a_flight_about_a_point_comes_nearer_to_it():
    place = deep_place(20)
    target = place.center[0] + 3 * place.width / 7, place.center[1] - place.width / 9
    before = place.in_picture(target)
    for _ in range(40):
        place = place.moved(Move(scale=64, about=target))
    after = place.in_picture(target)
    assert [float(part) for part in after] == pytest.approx(
        [float(part) for part in before], abs=0.01
    )
    assert significant(place.width) == significant(deep_place(20).width / 2**40)


def test_a_larger_canvas_keeps_center_and_width():
    place = deep_place(20)
    larger = place.moved(Move(scale=64), (1920, 1080))
    assert (larger.size, larger.center, larger.width) == ((1920, 1080), place.center, place.width)


@pytest.mark.parametrize(("scale", "width"), [(-64 * 60, "1e-200"), (64 * 64, "1e-19500")])
def test_views_beyond_all_limits_are_errors(scale, width):
    place = FrameView.of(Scene().replace(center=("0", "0"), width=width), SIZE)

    def go():
        at = place
        for _ in range(100):
            at = at.moved(Move(scale=scale))

    with pytest.raises(OptionError, match="as wide as"):
        go()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4.2", "4.2"),
        ("0.00001234567", "1.23457e-5"),
        ("999999.9", "1e6"),
        ("123456.7", "123457"),
        ("3e-1001", "3e-1001"),
        ("0.0001", "0.0001"),
    ],
)
def test_significant_digits(value, text):
    assert significant(Fraction(value)) == text


def test_a_place_at_the_end_of_the_numbers_has_no_map():
    near, far = (
        FrameView.of(Scene().replace(center=(real, "0"), width="3"), SIZE)
        for real in ("-0.5", "1e999")
    )
    assert map_between(near, far) is None
    assert map_between(far, near) is None
    assert map_between(far, far)

"""The exact views of frames: keys, fixed points, easing, pans."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fractals
from fractals import OptionError, SceneError, load_scene
from fractals.films.frames import find_facts
from fractals.films.motion import (
    Easing,
    fixed_point,
    make_motion,
    power_of_two,
    with_view,
)
from fractals.films.tracks import Tracks
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import find_max_iterations
from fractals.scene.geometry import matrix, place_of
from fractals.scene.numbers import log2, width_text

DEEP = "1e-1000"


def motion_of(*keys, length=0.0, **film):
    scene = load_scene("mandelbrot", size=(160, 90), film={"fps": 10, "keys": keys, **film})
    return make_motion(scene, length)


def on_screen(scene, moment, point):
    """Return where a point of the plane lies in a frame, in widths."""
    view = scene.view.model_copy(update={"rotation": math.remainder(moment.rotation, 360)})
    a, b, c, d = matrix(view)
    x, y = ((point[k] - moment.center[k]) / moment.width for k in (0, 1))
    area = a * d - b * c
    return float((d * x - b * y) / area), float((a * y - c * x) / area)


ZOOMS = [
    [{"at": 0, "width": "4"}, {"at": 5, "width": "1e-9", "center": ["-1.74", "0.01"]}],
    [
        {"at": 0, "width": "3", "center": ["-0.5", "0.2"], "rotation": 20},
        {"at": 5, "width": DEEP, "center": ["-1.7", "0"], "rotation": 740},
    ],
    [
        {"at": 0, "width": "1e-5", "center": ["-1", "0.3"]},
        {"at": 5, "width": "2", "center": ["0", "0"], "rotation": -90},
    ],
]


@pytest.mark.parametrize("keys", ZOOMS)
def test_keys_are_met_exactly(keys):
    motion = motion_of(*keys)
    (part,) = motion.parts
    assert motion.count == 50
    first, last = part.moment(0), part.moment(49)
    for moment, key in ((first, keys[0]), (last, keys[1])):
        assert moment.width == Fraction(key["width"])
        assert moment.rotation == key.get("rotation", 0)
        center = key.get("center", keys[1]["center"])
        assert moment.center == tuple(map(Fraction, center))
    assert (first.seconds, last.seconds) == (0, 5)


@pytest.mark.parametrize("keys", ZOOMS)
def test_the_fixed_point_stands_still_on_the_screen(keys):
    motion = motion_of(*keys)
    (part,) = motion.parts
    assert part.kind == "zoom"
    places = [on_screen(motion.scene, part.moment(k), part.fixed) for k in range(50)]
    for k in (0, 1):
        spread = max(place[k] for place in places) - min(place[k] for place in places)
        assert spread * 1920 < 1e-9


@pytest.mark.parametrize("keys", ZOOMS)
def test_octaves_are_those_of_the_widths(keys):
    (part,) = motion_of(*keys).parts
    widest = max(part.start.width, part.end.width)
    for k in range(0, 50, 7):
        moment = part.moment(k)
        assert moment.octaves == pytest.approx(log2(widest / moment.width), abs=1e-9)


def test_a_film_out_is_a_film_in_backwards():
    inwards = motion_of(*ZOOMS[0]).parts[0]
    keys = [dict(ZOOMS[0][1], at=0), dict(ZOOMS[0][0], at=5)]
    outwards = motion_of(*keys).parts[0]
    for k in range(50):
        one, two = inwards.moment(k), outwards.moment(49 - k)
        assert float(one.width / two.width) == pytest.approx(1, rel=1e-12)
        assert one.octaves == pytest.approx(two.octaves, abs=1e-10)


def test_a_key_without_center_takes_that_of_the_deepest():
    motion = motion_of(
        {"at": 0},
        {"at": 1, "width": "1", "center": ["5", "5"]},
        {"at": 2, "width": "1e-5", "center": ["-1", "0"]},
        {"at": 3, "width": "1e-3"},
    )
    assert [part.start.center[0] for part in motion.parts] == [-1, 5, -1]
    assert motion.parts[-1].end.center[0] == -1


def test_a_speed_is_a_time():
    motion = motion_of({"at": 1, "width": "1"}, {"speed": "2 octaves/s", "width": "0.0625"})
    assert [(part.kind, part.begins, part.ends) for part in motion.parts] == [
        ("still", 0, 1),
        ("zoom", 1, 3),
    ]
    assert [part.frames for part in motion.parts] == [range(10), range(10, 30)]


def test_soft_zooms_have_one_speed_in_the_middle():
    (part,) = motion_of(*ZOOMS[0]).parts
    speeds = [part.speed(k) for k in range(50)]
    assert speeds[0] == speeds[-1] == 0
    middle = speeds[15:35]
    assert max(middle) == pytest.approx(min(middle))
    moved = part.moment(25).octaves - part.moment(24).octaves
    assert moved * part.rate == pytest.approx(middle[0], rel=1e-6)


def test_zooms_about_one_point_do_not_stop_at_a_key():
    keys = [{"at": 0, "width": "1"}, {"at": 4, "width": "1e-4"}, {"at": 8, "width": "1e-6"}]
    one, two = motion_of(*keys).parts
    slower = 2 / 4 * math.log2(10)
    assert one.speed(one.ends * one.rate) == pytest.approx(slower)
    assert two.speed(two.begins * two.rate) == pytest.approx(slower)
    keys[2]["width"] = "1e-2"  # back: it stops
    one, two = motion_of(*keys).parts
    assert one.speed(one.ends * one.rate) == 0


def test_a_pan_rises_and_comes_down():
    motion = motion_of(
        {"at": 0, "width": "1e-3", "center": ["-1", "0"]},
        {"at": 5, "width": "1e-3", "center": ["0", "0.5"], "ease": "constant"},
    )
    (part,) = motion.parts
    moments = [part.moment(k) for k in range(50)]
    assert part.kind == "move"
    assert part.fixed is None
    assert max(moment.width for moment in moments) > Fraction("0.5")
    assert moments[25].width > moments[5].width > moments[0].width == moments[49].width
    # Symmetric, and along a line.
    for one, two in zip(moments, moments[::-1], strict=True):
        assert float(one.width / two.width) == pytest.approx(1, rel=1e-9)
        assert float(one.center[0] + two.center[0]) == pytest.approx(-1, rel=1e-9)
        assert float(one.center[1]) == pytest.approx(float(one.center[0] + 1) / 2, abs=1e-12)


def test_a_pan_between_deep_places_keeps_its_digits():
    motion = motion_of(
        {"at": 0, "width": DEEP, "center": ["-1", "0"]},
        {"at": 5, "width": DEEP, "center": ["-0.5", "0"], "ease": "constant"},
    )
    (part,) = motion.parts
    one, two = part.place(1e-9), part.place(1 - 1e-9)
    # Near an end a view moves by less than its width.
    assert 0 < (one.center[0] + 1) / one.width < 1
    assert 0 < (Fraction(-1, 2) - two.center[0]) / two.width < 1


def test_a_turn_alone_turns_about_the_center():
    motion = motion_of({"at": 0}, {"at": 2, "rotation": 360, "ease": "constant"})
    (part,) = motion.parts
    assert part.kind == "zoom"
    assert part.fixed == part.start.center
    assert part.turn_speed(5) == 180
    assert part.speed(5) == 0
    assert part.moment(10).width == part.start.width


def test_a_hold_cuts_at_its_key():
    motion = motion_of({"at": 0, "width": 1}, {"at": 1, "width": "0.1", "ease": "hold"}, length=2)
    one, two = motion.parts
    assert {one.moment(k).width for k in one.frames} == {1}
    assert {two.moment(k).width for k in two.frames} == {Fraction("0.1")}


def test_a_loop_leaves_its_last_moment_out():
    motion = motion_of({"at": 0}, length=2, loop=True)
    assert motion.count == 20
    assert motion.seconds(19) == 1.9
    assert motion_of({"at": 0}, length=2).seconds(19) == 2


def test_parts_cover_all_frames_once():
    motion = motion_of({"at": 0.33}, {"at": 1.17, "width": 1}, {"at": 1.9, "width": 2}, length=4.01)
    numbers = [number for part in motion.parts for number in part.frames]
    assert numbers == list(range(motion.count))


@given(
    rise=st.floats(0, 0.5),
    fall=st.floats(0, 0.5),
    first=st.floats(0, 1),
    last=st.floats(0, 1),
)
@settings(max_examples=50)
def test_easing_goes_from_0_to_1_and_never_back(rise, fall, first, last):
    easing = Easing(rise, fall, first, last)
    way = [easing(k / 200) for k in range(201)]
    assert (way[0], way[-1]) == (0, 1)
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(way))
    for k in range(1, 200):  # its speed is its derivative
        slope = (easing(k / 200 + 1e-6) - easing(k / 200 - 1e-6)) / 2e-6
        assert slope == pytest.approx(easing.speed(k / 200), abs=2e-3)


def test_a_frame_is_a_scene():
    motion = motion_of(*ZOOMS[1])
    moment = motion.parts[0].moment(30)
    scene = with_view(motion.scene, moment)
    width, center = place_of(scene)
    assert scene.film is None
    assert float(width / moment.width) == pytest.approx(1, rel=1e-15)
    assert all(
        abs(a - b) < moment.width / 160 / 1000 for a, b in zip(center, moment.center, strict=True)
    )
    assert load_scene(scene.to_table()) == scene


def test_widths_as_text():
    for text in ("4", "0.003", "1e-9", "2.5e-320", "123456", "1e-1000"):
        assert width_text(Fraction(text)) == text
    assert power_of_two(-3400.5) == Fraction(2**0.5) / 2**3401


def test_no_fixed_point_of_a_pan():
    (part,) = motion_of({"at": 0, "center": [0, 0]}, {"at": 1, "center": [1, 0]}).parts
    assert fixed_point(part.start, part.end) is None


@pytest.mark.parametrize("distance", ["1e-290", "1e-310", "1e-400"])
def test_a_pan_that_nobody_sees_goes_straight(distance):
    """It is shorter, in widths, than numbers of float64 are."""
    motion = motion_of(
        {"at": 0, "width": "1", "center": ["0", "0"]}, {"at": 4, "center": [distance, "0"]}
    )
    (part,) = motion.parts
    for way in (0.25, 0.5, 0.75):
        place = part.place(way)
        assert float(place.center[0] / Fraction(distance)) == pytest.approx(way)
        assert float(place.width) == pytest.approx(1)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([{"at": 1}, {"at": 1}], "keys must be in order"),
        ([{"at": 1}, {"at": 0.5}], "keys must be in order"),
        ([{"at": 0}, {"width": "1"}], "at or speed is missing"),
        ([{"speed": "1"}], "no key is before the first one"),
        ([{"at": 0}, {"at": 1, "speed": 1}], "give one of them"),
        ([{"at": 0}, {"speed": "fast"}], "is no speed"),
        ([{"at": 0}, {"at": 1, "width": "0"}], "is not greater than 0"),
        ([{"at": 0}, {"speed": 1}], "speed needs a change of width"),
        ([{"at": 0}, {"at": 80_000, "width": "1"}], "frames: a film has at most"),
        ([{"at": k, "width": f"1e-{k % 2 * 300_000}"} for k in range(4)], "zooms through 2989735 "),
        ([{"at": 0}, {"speed": 1e-320, "width": "1"}], "^inf frames: .* a higher speed$"),
        ([{"at": 0}, {"speed": 1e-300, "width": "1"}], r"^[\d.]+e\+301 frames: "),
        ([{"at": 0}], "the film has no length"),
        ([{"at": 0, "widht": "1"}], "did you mean 'width'?"),
    ],
)
def test_invalid_keys(keys, words, monkeypatch):
    monkeypatch.setattr("fractals.films.motion.MAX_FRAMES", 100_000)
    with pytest.raises((OptionError, SceneError), match=words) as caught:
        motion_of(*keys)
    assert "\n" not in str(caught.value)


def test_a_zoom_deeper_than_the_digits_of_the_center_goes_to_a_spiral():
    told = []
    keys = {"size": (16, 8), "device": "cpu", "transfer": "log", "on_message": told.append}
    film = fractals.film("seahorse", to="1e-30", seconds=1, **keys)
    assert len(told) == 1
    assert "goes to the eye of a spiral, -0.745158063..., " in told[0]
    eye = fractals.find_misiurewicz("seahorse")
    assert all(
        there.startswith(here[:40])
        for here, there in zip(eye.center, film.scene.view.center, strict=True)
    )
    assert all(len(part) >= 42 for part in film.scene.view.center)
    # Enough digits, or no spiral: the center stays.
    near = fractals.film("seahorse", to="0.001", seconds=1, device="cpu")
    assert near.scene.view.center == fractals.load_scene("seahorse").view.center
    ship = fractals.film("armada", to="1e-20", seconds=1, device="cpu", on_message=told.append)
    assert ship.scene.view.center == fractals.load_scene("armada").view.center


def test_the_limit_of_a_film_serves_keys_between_its_widest_and_its_deepest():
    border = {"center": ["-1.2501", "0.003"], "width": "1e-4"}
    keys = [
        {"at": 0, "center": ["-1.3", "0.2"], "width": "0.1"},
        {"at": 1, **border},
        {"at": 2, "center": ["-1.2501", "0.0300"], "width": "9e-5"},
    ]
    motion = motion_of(*keys)
    facts = find_facts(motion, Tracks(motion.scene), RenderOptions(device="cpu"))
    limits = [
        find_max_iterations("mandelbrot", center=key["center"], width=key["width"], device="cpu")
        for key in keys
    ]
    assert facts.max_iterations == max(limits) == limits[1] > 10 * limits[2]

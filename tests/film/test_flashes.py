"""The warning about flashes (WCAG 2.3.1)."""

import numpy as np
import pytest

from fractals.films.flashes import Flashes, Watch, luminance

FPS = 24


def frames(levels, area=1.0, size=(90, 160)):
    """Yield frames of gray levels from 0 to 1; the rest of each is dark."""
    for level in levels:
        frame = np.zeros((*size, 3), np.uint16)
        side = area**0.5
        frame[: round(side * size[0]), : round(side * size[1])] = round(65535 * level)
        yield frame


def flashes(levels, area=1.0):
    found = Flashes(FPS)
    for frame in frames(levels, area):
        found.add(frame)
    return found.found


def blinking(times, seconds=1.0, low=0.0, high=1.0):
    """Return levels that go up and down so many times."""
    count = round(FPS * seconds)
    return [low if (2 * times * k // count) % 2 == 0 else high for k in range(count)]


def test_more_than_three_a_second():
    assert not flashes(blinking(3))
    assert flashes(blinking(5))
    assert not flashes(blinking(6, seconds=3))
    assert flashes([0.0] * 50 + blinking(5))


def test_small_changes_and_bright_ones_do_not_count():
    assert not flashes(blinking(6, low=0.0, high=0.3))  # 0.07 of linear light
    assert not flashes(blinking(6, low=0.92, high=1.0))  # above 0.8
    assert flashes(blinking(6, low=0.4, high=0.7))


def test_small_areas_do_not_count():
    assert not flashes(blinking(6), area=0.01)
    assert flashes(blinking(6), area=0.2)


def test_parts_that_change_in_turn_do_not_flash():
    """As in a fast motion: each part is lit six times a second, and no two at once."""
    found = Flashes(FPS)
    for k in range(3 * FPS):
        frame = np.zeros((90, 160, 3), np.uint16)
        frame[20:30, 40 + 10 * (k % 4) : 50 + 10 * (k % 4)] = 65535
        found.add(frame)
    assert not found.found


def test_a_slow_cycle_is_no_flash():
    assert not flashes([0.5 + 0.5 * np.sin(k / FPS * 2 * np.pi) for k in range(5 * FPS)])


@pytest.mark.parametrize("length", [7, 20, 100])
@pytest.mark.parametrize("order", ["forwards", "backwards", "mixed"])
def test_flashes_across_segments_made_in_any_order(length, order):
    made = list(frames(blinking(6)))[:FPS]  # one second: no segment has enough of it
    begins = list(range(0, len(made), length))
    begins = {"forwards": begins, "backwards": begins[::-1]}.get(order, begins[1::2] + begins[::2])
    assert whole_of(made, begins, length)
    few = list(frames(blinking(3)))[:FPS]
    assert not whole_of(few, begins, length)


def whole_of(made, begins, length):
    watch = Watch(FPS)
    for begin in begins:
        watch.begin(begin)
        for frame in made[begin : begin + length]:
            watch.add(frame)
    watch.end()
    return watch.found


def test_frames_of_another_place_do_not_follow():
    watch = Watch(FPS)
    for k, frame in enumerate(frames(blinking(5))):
        watch.begin(1000 - 2 * k)
        watch.add(frame)
    watch.end()
    assert not watch.found


def test_luminance_of_primaries():
    frame = np.zeros((9, 16, 3), np.uint16)
    for k, weight in enumerate((0.2126, 0.7152, 0.0722)):
        frame[:] = 0
        frame[..., k] = 65535
        assert luminance(frame) == pytest.approx(np.full((9, 16), weight))

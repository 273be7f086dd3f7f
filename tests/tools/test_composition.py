"""Composition: pictures whose weight, symmetry and tones are known, and who prefers which."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.scenes import scene

import fractals
from fractals import load_scene
from fractals.search.composition import composition_of
from fractals.tools import interesting, surprise
from fractals.tools.gallery import picture_file
from fractals.tools.interesting import find_interesting

HIGH, WIDE = 72, 128
GALLERY = Path(__file__).parents[2] / "gallery"


def picture(draw, dtype=np.uint8):
    """Return a picture of the values that a function of x and y has, both from -1 to 1."""
    y, x = np.mgrid[:HIGH, :WIDE]
    values = draw((x + 0.5) / WIDE * 2 - 1, (y + 0.5) / HIGH * 2 - 1)
    most = np.iinfo(dtype).max
    return np.repeat((np.clip(values, 0, 1) * most).astype(dtype)[..., None], 3, axis=2)


def disc(u, v, size=0.3):
    """Return a function that draws a bright disc on black."""
    return lambda x, y: (np.hypot((x - u) * WIDE / HIGH, y - v) < size).astype(float)


@pytest.mark.parametrize(
    ("place", "away"), [((0, 0), 0), ((1 / 6, 0), 0.5), ((1 / 3, 0), 1), ((-0.3, 0.4), 1)]
)
def test_the_weight_of_detail_is_where_it_is(place, away):
    assert composition_of(picture(disc(*place))).away == pytest.approx(away, abs=0.06)


@pytest.mark.parametrize(
    ("draw", "low", "high"),
    [
        (disc(0, 0), 0, 0.01),  # all images
        (disc(0.4, 0), 0, 0.01),  # top and bottom
        (disc(0, -0.4), 0, 0.01),  # left and right
        (lambda x, y: (x * y > 0) * 1.0, 0, 0.01),  # half a turn
        (lambda x, y: disc(-0.5, -0.5)(x, y) + disc(0.1, 0.6)(x, y), 0.8, 1),
        (disc(0.5, 0.5), 0.95, 1),
        (lambda x, y: 0 * x + 0.5, 0, 0),  # nothing is seen
    ],
)
def test_symmetric_pictures_are_like_their_images(draw, low, high):
    assert low <= composition_of(picture(draw)).asymmetry <= high


def test_deep_tones_are_dark_with_some_light():
    def share(dark, light):
        return composition_of(
            picture(
                lambda x, y: np.where(x < 2 * dark - 1, 0.1, np.where(x < 1 - 2 * light, 0.5, 1))
            )
        )

    assert share(0.6, 0.1).dark == pytest.approx(0.6, abs=0.01)
    assert share(0.6, 0.1).light == pytest.approx(0.1, abs=0.01)
    deep = [share(*each).deep for each in ((0.6, 0.1), (0.6, 0), (0.2, 0.1), (0, 0.5), (0, 1))]
    assert deep[0] == 1
    assert 0.4 < min(deep[1:3]) <= max(deep[1:3]) < 0.7
    assert deep[3:] == [0, 0]
    assert share(1, 0).deep == 0


def test_a_picture_of_16_bits_is_composed_alike():
    draw = disc(0.4, 0.3, 0.5)
    one, other = (composition_of(picture(draw, each)) for each in (np.uint8, np.uint16))
    assert one.score == pytest.approx(other.score, abs=1e-3)
    assert 0.9 < one.score <= 1


def test_views_of_the_gallery_that_use_space_are_composed_better():
    found = {}
    for name in ("seahorse", "elephant", "armada", "rabbit", "mandelbrot"):
        with Image.open(GALLERY / picture_file(name)) as picture:
            found[name] = composition_of(np.asarray(picture.convert("RGB"))).score
    assert min(found[name] for name in ("seahorse", "elephant", "armada")) > 0.6
    assert max(found[name] for name in ("rabbit", "mandelbrot")) < 0.5


def test_the_eye_of_a_spiral_lies_on_a_third_where_that_is_better(monkeypatch):
    whole = load_scene("seahorse", size=(160, 90), palette="lagoon")
    found = find_interesting(whole, count=4, device="cpu")
    monkeypatch.setattr(interesting, "PLACES", ((0, 0),))
    centered = find_interesting(whole, count=4, device="cpu")
    assert [each.score for each in found] == [each.score for each in centered]
    moved = 0
    for one, other in zip(found, centered, strict=True):
        u, v = interesting._place_in(other.scene, one.scene)
        if (u, v) != (0.5, 0.5):
            moved += 1
            assert abs(u - 0.5) == pytest.approx(1 / 6, abs=1e-3)
            assert abs(v - 0.5) == pytest.approx(1 / 6, abs=1e-3)
    assert moved >= 1
    scores = [
        np.mean(
            [
                composition_of(fractals.render(each.scene, device="cpu").pixels).score
                for each in views
            ]
        )
        for views in (found, centered)
    ]
    assert scores[0] > scores[1]


def test_of_windows_with_the_same_counts_the_better_composed_one_is_taken(monkeypatch):
    def windows(counts, limit, most, images):
        assert most == interesting.MORE
        return [(0.5, 20, 45), (0.5, 80, 45), (0.5, 140, 45)]

    monkeypatch.setattr(interesting, "best_windows", windows)
    whole = scene("mandelbrot").replace(size=(160, 90), palette="lagoon")
    [best] = find_interesting(whole, count=1, device="cpu", centers=False)
    view = interesting._Overview(whole, interesting.SuggestOptions(device="cpu"))
    scores = [view.score(interesting._window(whole, x / 160, 0.5)) for x in (20, 80, 140)]
    assert best.score == pytest.approx((1 + max(scores)) / 4, abs=1e-3)


def tinted(pixels, k):
    """Return a picture in another color."""
    shares = np.array([(k * 37 % 100) / 100, (k * 61 % 100) / 100, (k * 83 % 100) / 100])
    return np.clip(pixels * 0.6 + 90 * shares, 0, 255).astype(np.uint8)


def test_surprises_that_are_centered_come_last():
    good, centered = picture(disc(0.4, 0.3, 0.5)), picture(disc(0, 0, 0.5))
    flat = picture(lambda x, y: 0 * x + 0.5)
    choice = surprise.ComposedChoice()
    assert not choice.takes("centered", centered)
    assert not choice.takes("flat", flat)
    assert choice.takes("good", good)
    assert choice.rest() == ["centered"]
    for k in range(surprise.COUNT - 3):  # of other colors; the one that was held back is taken
        assert not choice.ends
        assert not choice.takes("the same", good)
        assert choice.takes(k, tinted(good, k))
    assert not choice.ends
    assert choice.takes("last", tinted(good[::-1], 1))
    assert choice.ends
    assert choice.rest() == []
    held = surprise.ComposedChoice()
    for k in range(surprise.MAX_SEEN):
        assert not held.ends
        assert not held.takes(k, tinted(centered, k // 2))
    assert held.ends
    assert len(held.rest()) == surprise.COUNT  # none of them twice

"""`fractals verify`: right pictures are right, wrong ones are wrong, and what differs is said."""

import numpy as np
import pytest
from support.scenes import scene, slow_but
from support.truth3 import entries

import fractals
from fractals.rendering.perturb import Perturbation
from fractals.tools import verify

JUDGED = {entry["name"]: entry for entry in entries("verify")}
DEEP = scene(center=["0", "1"], width="1e-30", max_iterations=300)


@pytest.fixture
def picture(tmp_path):
    """Draw scenes, and return the file."""

    def draw(*sources, **keys):
        path = tmp_path / "a.png"
        fractals.render_to(path, *sources, overwrite=True, device="cpu", on_message=str, **keys)
        return path

    return draw


def judged(path, **options):
    return verify.verify(path, 8, on_message=str, **options)


@pytest.mark.parametrize("name", slow_but(list(JUDGED)[:1], JUDGED))
@pytest.mark.parametrize("exact", [True, False])
def test_right_counts_about_preimages_of_0_are_right(picture, name, exact):
    """A step near 0 squares the differences: exact counts need twice the digits of the view."""
    drawn = fractals.load_scene(JUDGED[name]["scene"])
    planned = fractals.plan(drawn, device="cpu")
    for column, row, count in JUDGED[name]["pixels"]:
        assert verify.exact_count(drawn, planned, column, row) == count
    found = judged(picture(drawn), exact=exact)
    assert all(pixel.right for pixel in found)
    assert sum(pixel.compared for pixel in found) == 8


def test_a_count_that_differs_is_iterated_with_more_bits(picture, monkeypatch):
    name = next(iter(JUDGED))
    path = picture(JUDGED[name]["scene"])
    monkeypatch.setattr(verify, "_bits", lambda plan: 4 * plan.digits + 117)
    assert all(pixel.right for pixel in judged(path, exact=True))


def off_by(monkeypatch, steps):
    """Make deep views wrong, whoever draws them."""
    begin = Perturbation._begin

    def wrong(self, *arguments, **keywords):
        begun = begin(self, *arguments, **keywords)
        begun.tile.count[...] += steps
        return begun

    monkeypatch.setattr(Perturbation, "_begin", wrong)


@pytest.mark.parametrize("steps", [-1, 1])
def test_a_wrong_count_of_the_right_color_is_wrong_without_exact(picture, monkeypatch, steps):
    """Plain Python has the tables of the picture that it judges, and their faults."""
    off_by(monkeypatch, steps)
    found = judged(picture(DEEP))
    assert all(pixel.drawn == pixel.expected for pixel in found)
    assert not any(pixel.right for pixel in found)
    count, exact = found[0].counts
    assert count == exact + steps
    assert found[0].difference == f"has the count {count}, exact {exact}"


def test_nan_is_wrong(picture, monkeypatch):
    path = picture(DEEP)
    begin = Perturbation._begin

    def wrong(self, *arguments, **keywords):
        begun = begin(self, *arguments, **keywords)
        begun.tile.x[...] = np.nan
        begun.source = None  # so the tests' own watcher passes over it
        return begun

    monkeypatch.setattr(Perturbation, "_begin", wrong)
    found = judged(path)
    assert not any(pixel.right for pixel in found)
    assert all("NaN" in pixel.difference for pixel in found)


def test_colors_and_counts_that_differ_are_told_apart():
    pixel = verify.Pixel(3, 4, (1, 2, 3), (1, 2, 3), wrong=1, counts=(1626, 1297))
    assert pixel.difference == "has the count 1626, exact 1297"
    pixel = verify.Pixel(3, 4, (1, 2, 3), (1, 2, 4))
    assert pixel.difference == "is (1, 2, 3), expected (1, 2, 4)"


def test_no_count_is_followed_for_long_unless_asked(picture, monkeypatch):
    """One pixel of a high count may take minutes."""
    path = picture(DEEP)
    monkeypatch.setattr(verify, "SECONDS", 8 * 40 * verify.STEP_SECONDS)
    compared = sum(pixel.compared for pixel in judged(path))
    assert 0 < compared < 8
    assert sum(pixel.compared for pixel in judged(path, exact=True)) >= 8


def test_python_verifies_pictures(picture, tmp_path):
    path = picture("seahorse", size=(16, 9), max_iterations=200)
    found = fractals.verify(path, 6, seed=1)
    assert len(found) == 6
    assert all(pixel.right for pixel in found)
    with pytest.raises(fractals.SceneError, match="not a PNG"):
        fractals.verify(tmp_path / "a.jpg")

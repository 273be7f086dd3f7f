"""Buddhabrots of a quality in words: as many orbits as the picture needs, on every way the same."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.scatter import enough
from fractals.scatter.enough import with_enough
from fractals.scatter.play import open_player
from fractals.scatter.show import spreads
from fractals.scene.scatter import Display

SIZE, LOOK = (96, 60), (32, 20)
SCENE = fractals.load_scene(
    {"formula": {"name": "buddhabrot", "cells": 64, "least": 3}},
    max_iterations=60,
    size=SIZE,
    supersampling=2,
    gamma=1.2,
    brightness=2.0,
    estimator_radius=2.0,
)
MOST = 10 * math.prod(SIZE) / 256  # chunks of ten orbits a pixel


@pytest.fixture(autouse=True)
def small_look(monkeypatch):
    monkeypatch.setattr(enough, "PIXELS", math.prod(LOOK))
    monkeypatch.setattr(enough, "NOISE", {"good": Fraction(3), "best": Fraction(1)})


def chunks(scene, device="cpu", threads=None):
    options = RenderOptions(device=device, threads=threads, on_message=lambda line: None)
    return with_enough(open_player(scene, options)).plan.chunks


def content(path):
    return {each.name: each.read_bytes() for each in path.iterdir() if each.is_file()}


def test_orbits_are_enough_where_twice_as_many_change_little():
    """The rule in other words: pictures of the look's size, drawn one by one."""
    shown, small = [], SCENE.replace(size=LOOK, bits=16)
    played = [math.ceil(10 * math.prod(LOOK) / 256) // part for part in (8, 4, 2, 1)]
    for some in played:
        quality = some * 256 / math.prod(LOOK)
        shown.append(fractals.render(small, quality=quality, device="cpu").pixels.astype(np.int64))
    found = None
    for k, part in ((1, 4), (2, 2), (3, 1)):
        error = np.abs(shown[k] - shown[k - 1]).mean() / 257
        if found is None and error <= 3:
            found = max(0.5, (error / 3) ** 2) / part
    assert found is not None
    assert found < 1
    assert chunks(SCENE) == pytest.approx(found * MOST, abs=1)


def test_more_light_and_less_noise_ask_for_more_orbits():
    usual = chunks(SCENE)
    assert chunks(SCENE.replace(brightness=8.0, gamma=3.0)) > usual
    assert chunks(SCENE.replace(quality="best")) > usual


def test_a_number_a_draft_a_small_picture_and_points_are_what_they_say(monkeypatch):
    monkeypatch.setattr(enough, "enough_of", None)  # it would be called
    assert chunks(SCENE.replace(quality=4)) == math.ceil(0.4 * MOST)
    assert chunks(SCENE.replace(quality="draft")) == math.ceil(0.1 * MOST)
    assert chunks(SCENE.replace(size=(40, 25))) == math.ceil(10 * 1000 / 256)
    flame = fractals.load_scene({"formula": "flame"}, size=SIZE, steps=10)
    assert chunks(flame) == math.ceil(50 * math.prod(SIZE) / 2560)


@pytest.mark.parametrize("device", ["cpu", "simulator"])
def test_every_device_and_thread_count_finds_the_same(device):
    assert chunks(SCENE, device, 1) == chunks(SCENE, "cpu", 3)


def test_plain_python_finds_the_same():
    scene = SCENE.replace(size=(32, 20), max_iterations=30, quality="good")
    enough.PIXELS = 8 * 5
    assert chunks(scene, "python") == chunks(scene, "cpu")


def test_a_picture_its_sums_and_its_store_have_the_same_orbits(tmp_path):
    drawn = fractals.render(SCENE, device="cpu")
    hits = fractals.compute(SCENE, device="cpu")
    assert hits.chunks == chunks(SCENE) < MOST
    assert drawn.summary.samples == hits.samples
    np.testing.assert_array_equal(fractals.recolor(hits, device="cpu").pixels, drawn.pixels)
    begun, whole, parted = (tmp_path / f"{name}.fz" for name in ("begun", "whole", "parted"))
    fractals.compute_to(whole, SCENE, device="cpu")
    for part in (1, 0):
        fractals.compute_to(parted, SCENE, device="cpu", part=(part, 2))
    fractals.compute_to(parted, SCENE, device="cpu")
    fractals.compute_to(begun, SCENE, device="cpu", quality=0.5)
    fractals.compute_to(begun, SCENE, device="cpu")
    assert content(begun) == content(parted) == content(whole)
    assert fractals.compute_to(begun, SCENE, device="cpu").before == hits.chunks


def test_a_store_that_goes_on_looks_once(tmp_path, monkeypatch):
    looks, honest = [], enough.enough_of

    def counted(player, noise, progress):
        looks.append(player.plan.scene.image.size)
        return honest(player, noise, progress)

    fractals.compute_to(tmp_path / "a.fz", SCENE, device="cpu", part=(0, 2))
    monkeypatch.setattr(enough, "enough_of", counted)
    fractals.compute_to(tmp_path / "a.fz", SCENE, device="cpu")
    assert len(looks) == 1


def test_a_store_goes_on_where_another_display_asks_for_more(tmp_path):
    path, bright = tmp_path / "a.fz", SCENE.replace(brightness=8.0, gamma=3.0)
    first = fractals.compute_to(path, SCENE, device="cpu")
    more = fractals.compute_to(path, bright, device="cpu")
    assert more.before == first.tiles == chunks(SCENE)
    assert more.tiles == chunks(bright)
    again = fractals.compute_to(path, SCENE, device="cpu", part=(0, 2))
    assert again.missing == 0
    assert fractals.compute_to(path, SCENE, device="cpu").tiles == more.tiles


def test_a_picture_that_becomes_finer_ends_at_that_of_render():
    backend = open_backend(choose("cpu").device, "float64")

    def last(scene, before):
        made = family_of(scene).refine(
            scene, RenderOptions(device="cpu"), lambda _: backend, before
        )
        made.prepare()
        shown = [picture for picture in made.pictures() if picture]
        assert [picture.exact for picture in shown][:-1] == [False] * (len(shown) - 1)
        assert shown[-1].exact
        pixels = fractals.render(scene, device="cpu").pixels
        np.testing.assert_array_equal(shown[-1].pixels, pixels)
        return made

    bright = SCENE.replace(brightness=8.0, gamma=3.0)
    before = None
    for scene in (SCENE, bright, SCENE):  # the last one has fewer orbits than were played
        before = last(scene, before)


def test_the_estimate_of_orbits_keeps_all_light_and_reaches_farther():
    display = Display(estimator_radius=3.0)
    flame, orbits = spreads(display, 1), spreads(display, 1, orbits=True)

    def lights(spread):
        found = []
        for weights, reach in zip(spread.weights, spread.reaches, strict=True):
            places = np.arange(-reach, reach + 1) ** 2
            found.append(weights[np.add.outer(places, places)].sum())
        return found

    np.testing.assert_allclose(lights(orbits), 1)
    assert lights(flame)[-1] < 0.96  # as in flam3
    at = {name: dict(zip(each.numbers.tolist(), each.reaches.tolist(), strict=True))
          for name, each in {"flame": flame, "orbits": orbits}.items()}  # fmt: skip
    assert at["orbits"][1] == at["flame"][1]
    assert at["orbits"][10] > at["flame"][10]

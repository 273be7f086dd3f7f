"""Scatter images that become ever finer: every way ends at the pixels of `render`."""

import numpy as np
import pytest

import fractals
from fractals import catalog
from fractals.backends.devices import choose, open_backend
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.scatter import enough, refine
from fractals.scatter.cells import Cells
from fractals.scatter.plan import CHUNK, make_scatter_plan
from fractals.scatter.play import (
    FUNCTIONS,
    MOST,
    ROOM,
    SHIFT,
    Player,
    Spectrum,
    _largest,
)

FLAME = fractals.load_scene("bonfire").replace(size=(160, 100), supersampling=1, quality=60)
BACKENDS = {}


def backend_of(number):
    """Return the CPU, always the same: a refinement takes nothing from another device."""
    return BACKENDS.setdefault(number, open_backend(choose("cpu").device, number))


def begun(scene, before=None, progress=None):
    options = RenderOptions(device="cpu", progress=progress)
    made = family_of(scene).refine(scene, options, backend_of, before)
    made.prepare()
    return made


def last(refinement):
    return [picture for picture in refinement.pictures() if picture][-1]


def drawn(scene):
    return fractals.render(scene, device="cpu").pixels


def faded(scene):
    """Return a scene of a flame with another opacity, and with xaos."""
    table = scene.to_table()
    first, second, *_ = table["formula"]["transforms"]
    first["opacity"], second["xaos"] = 0.4, [1, 0.5, 2]
    return fractals.load_scene(table)


@pytest.mark.parametrize(
    "scene",
    [faded(FLAME), FLAME.replace(formula="henon", supersampling=2, quality=10)],
    ids=["flame", "map"],
)
def test_each_change_ends_at_the_pixels_of_render(scene):
    one = begun(scene)
    names = [picture.exact for picture in one.pictures() if picture]
    assert names[-1]
    assert not any(names[:-1])
    for changes in (
        {"gamma": 2.0, "vibrancy": 0.2},
        {"palette": "lagoon"},
        {"quality": 2 * scene.scatter.quality},
        {"offset": 0.3, "brightness": 9.0},
        {"quality": scene.scatter.quality},
        {"estimator_radius": 2.0},
    ):
        scene = scene.replace(**changes)
        one = begun(scene, one)
        assert np.array_equal(last(one).pixels, drawn(scene)), changes


def test_a_view_that_was_replaced_midway_serves_the_next(monkeypatch):
    monkeypatch.setattr(refine, "STEP_SECONDS", 1e-9)  # a chunk a step
    scene, replaced = FLAME.replace(quality=400), []

    class Stale(Exception):
        pass

    def progress(done, of):
        if replaced:
            raise Stale

    one = begun(scene, progress=progress)
    pictures = one.pictures()
    while not (picture := next(pictures)) or picture.step > 1:
        pass
    assert not picture.exact
    replaced.append(True)
    with pytest.raises(Stale):
        next(pictures)
    other = scene.replace(gamma=3.0)
    two = begun(other, one)
    pictures = two.pictures()
    while not (picture := next(pictures)) or picture.step > 1:
        pass
    pictures.close()  # between two steps
    three = begun(other.replace(palette="lagoon"), two)
    assert np.array_equal(last(three).pixels, drawn(other.replace(palette="lagoon")))
    assert np.array_equal(last(begun(other, two)).pixels, drawn(other))


def test_the_first_picture_of_orbits_is_of_few_cells():
    """The pilot of all cells takes longer than 150 ms; the last picture has them all."""
    scene = fractals.load_scene({"formula": "buddhabrot"})
    scene = scene.replace(size=(160, 100), quality=2.0, max_iterations=200)
    made = begun(scene)
    pictures = made.pictures()
    assert next(pictures).step == refine.FIRST_STEP
    assert not made._player.known
    assert [each for each in pictures if each][-1].exact
    assert len(made._player.data().cells) > refine.FIRST_CELLS
    assert np.array_equal(last(begun(scene)).pixels, drawn(scene))


def test_a_pilot_ends_where_the_view_is_replaced(monkeypatch):
    scene = fractals.load_scene({"formula": "buddhabrot"})
    scene = scene.replace(size=(160, 100), quality=2.0, max_iterations=200)
    looks, honest, replaced = [], Cells._look, []

    class Stale(Exception):
        pass

    def progress(done, of):
        if replaced:
            raise Stale

    pictures = begun(scene, progress=progress).pictures()
    next(pictures)  # of few cells

    def look(*given):
        looks.append(1)
        replaced.append(True)
        return honest(*given)

    monkeypatch.setattr(Cells, "_look", look)
    with pytest.raises(Stale):
        next(pictures)
    assert len(looks) == 1


def test_a_look_ends_where_the_view_is_replaced(monkeypatch):
    """It may take seconds, in which nobody else is drawn for."""
    monkeypatch.setattr(enough, "PIXELS", 200)
    judged, honest, replaced = [], enough.lit_of, []
    monkeypatch.setattr(enough, "lit_of", lambda *given: judged.append(1) or honest(*given))

    class Stale(Exception):
        pass

    def progress(done, of):
        if replaced:
            raise Stale

    scene = fractals.load_scene({"formula": {"name": "buddhabrot", "cells": 64}})
    scene = scene.replace(size=(160, 100), max_iterations=30)
    pictures = begun(scene, progress=progress).pictures()
    assert next(pictures).step > 1
    replaced.append(True)
    with pytest.raises(Stale):
        next(pictures)
    assert not judged


def test_the_first_picture_of_orbits_is_prepared_once(monkeypatch):
    made, honest = [], refine._first_player
    monkeypatch.setattr(refine, "_first_player", lambda player: made.append(1) or honest(player))
    scene = fractals.load_scene({"formula": {"name": "buddhabrot", "cells": 64}})
    one = begun(scene.replace(size=(160, 100), max_iterations=30))
    next(one.pictures())
    assert len(made) == 1


def test_all_sums_that_are_kept_are_counted():
    one = begun(FLAME)
    last(one)
    assert one.kept > FLAME.image.size[0] * FLAME.image.size[1] * 32
    assert begun(FLAME.replace(palette="lagoon"), one).kept == one.kept


def test_a_spectrum_counts_the_palette_to_the_bit():
    plan = make_scatter_plan(faded(FLAME), "cpu", 2)
    plain, rich = Player(plan, backend_of("float32")), Player(plan, backend_of("float32"))
    rich.spectrum = Spectrum(plan)
    counter = rich.counter()
    for first in range(3):  # taken out of the machine twice in between
        counter.add(range(first * CHUNK, (first + 1) * CHUNK), None)
        sums, _ = counter.found()
    assert np.array_equal(sums, plain.sums(range(3 * CHUNK), None)[0])
    assert counter.upper.shape == (*plan.shape, FUNCTIONS)
    again = rich.spectrum.mixed(sums, counter.upper, plan)
    assert np.abs(again - sums).max() <= 1e-4 * sums.max()  # its own palette is among its sums


def test_the_largest_directions_are_found():
    dice = np.random.default_rng(2)
    columns = dice.normal(size=(256, 20)) @ np.diag(2.0 ** -np.arange(20))
    found, (right, _, _) = _largest(columns), np.linalg.svd(columns, full_matrices=False)
    assert np.abs(np.abs((found * right[:, :FUNCTIONS]).sum(axis=0)) - 1).max() < 1e-6


def test_hits_beyond_the_upper_bits_do_not_spoil_the_palette():
    plan = make_scatter_plan(FLAME, "cpu", 1)
    spectrum = Spectrum(plan)
    entry = spectrum.colors[255].astype(object)
    count = ROOM  # hits of one bucket, in whole numbers of Python
    wrapped = [(int(each) * count + 2**63) % 2**64 - 2**63 for each in entry]
    lower, upper = spectrum.divided(np.array([[wrapped]], np.int64))
    assert lower[0, 0].tolist() == [int(each) % 2**SHIFT * count for each in entry]
    assert (upper == np.float32(MOST / 2) * (lower[0, 0, 3] // 255)).all()


def test_the_palettes_of_the_catalog_are_nearly_sums_of_a_spectrum():
    plan = make_scatter_plan(FLAME, "cpu", 1)
    spectrum = Spectrum(plan)
    worst = 0.0
    for name in catalog.names("palette"):
        other = make_scatter_plan(FLAME.replace(palette=name), "cpu", 1)
        lower, upper = spectrum.divided(1000 * spectrum.colors[:, None])
        mixed = spectrum.mixed(lower, upper, other)[:, 0, :3] / 255_000
        worst = max(worst, float(np.sqrt(((mixed - other.shades()) ** 2).mean())))
    assert worst < 0.09

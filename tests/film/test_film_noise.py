"""Texels in noise take more samples: which ones, and what frames gain."""

import math

import numpy as np
import pytest
from test_film_strip import CPU, decibels, film_of, maker_of, plane

from fractals.films import bands
from fractals.films.bands import sectors_seen, sides_of

RANDOM = np.random.default_rng(1)
FINEST = np.zeros(16, np.int64)


def texels_of(light):
    """Return texels of gray light from 0 to 1."""
    return np.repeat(np.rint(light * 65535).astype(np.uint16)[:, :, None], 3, 2)


def noisy():
    return texels_of(RANDOM.random((32, 64)))


def test_slopes_take_no_more_samples():
    x, y = np.meshgrid(np.arange(64), np.arange(32))
    slope = texels_of(((0.2 * x + 0.3 * y) / 25) ** 2)
    assert (sides_of(slope, FINEST) == 1).all()


def test_texels_in_dense_noise_take_the_most_samples():
    sides = sides_of(noisy(), FINEST)
    assert sides.shape == (8, 16)
    assert (sides == 4).mean() > 0.9
    alone = np.full((32, 64, 3), 9000, np.uint16)
    alone[4:8, 8:12] = noisy()[4:8, 8:12]
    sides = sides_of(alone, FINEST)
    assert sides[1, 2] == 2
    assert sides.sum() == sides.size + 1


def test_coarser_levels_take_fewer_samples():
    coarser = np.array([0] * 8 + [1] * 4 + [3] * 4)
    assert set(sides_of(noisy(), coarser)[:, :8].ravel()) <= {4, 1}
    assert set(sides_of(noisy(), coarser)[:, 8:12].ravel()) <= {2, 1}
    assert (sides_of(noisy(), coarser)[:, 12:] == 1).all()


def test_an_area_does_not_depend_on_what_is_looked_at_together():
    texels = noisy()
    texels[:, :40] //= 4
    whole = sides_of(texels, FINEST)
    assert np.array_equal(sides_of(texels[:, 32:], FINEST[8:]), whole[:, 8:])


def test_octaves_to_the_pixels_of_a_sector():
    rim = math.hypot(32, 18)
    seen = sectors_seen((32.0, 18.0), rim, (64, 36), turns=False)
    assert min(seen) == pytest.approx(0)  # the corners
    across, up = seen[32], seen[16]  # a strip begins at the left
    assert across < math.log2(rim / 32) + 0.01
    assert up == pytest.approx(math.log2(rim / 18), abs=0.02)
    assert set(sectors_seen((32.0, 18.0), rim, (64, 36), turns=True)) == {min(seen)}
    outside = sectors_seen((-20.0, 18.0), math.hypot(84, 18), (64, 36), turns=False)
    assert max(outside) > 10 > min(outside)


START = {"at": 0, "center": ["-0.7453", "0.1127"], "width": "0.03"}
END = {"at": 1, "width": "0.01"}


def test_frames_in_noise_are_closer_to_pictures_of_many_samples(monkeypatch):
    scene = film_of(START, END, density=1.5)
    maker = maker_of(scene, density=1.5)
    (fine,) = maker.frames([10])
    exact = plane(maker, 10)

    # Pieces for threads are smaller, so that there are many.
    monkeypatch.setattr(bands, "WIDE", bands.AREA)
    monkeypatch.setattr(bands, "AT_ONCE", 2**9)
    pieces = maker_of(scene, density=1.5, options=CPU.replace(threads=3))
    assert np.array_equal(next(pieces.frames([10])), fine)

    monkeypatch.setattr(bands, "NOISY", 9.0)
    monkeypatch.setattr(bands, "FAINT", 9.0)
    (rough,) = maker_of(scene, density=1.5).frames([10])
    assert decibels(fine, exact) > decibels(rough, exact) + 2
    assert abs(fine.mean((0, 1)) - exact.mean((0, 1))).max() < 257


def test_bands_agree_on_the_rows_that_both_draw(monkeypatch):
    """Rows below a band, which the shutter takes, take as many samples as those of the next."""
    frames = maker_of(film_of(START, END, density=1.5), density=1.5)
    maker, layout = frames.bands, frames.strip.layout
    above, below = maker.open(2, layout.rows), maker.open(3, 0)
    fine = maker.rows(above, layout.rows, 2 * layout.rows)
    other = maker.rows(below, 0, layout.rows)
    monkeypatch.setattr(bands, "FAINT", 9.0)
    rough = maker.rows(below, 0, layout.rows)

    def differing(one, two):
        return (abs(np.subtract(one, two, dtype=np.int64)) > 257).any(2).mean()

    assert differing(fine, other) < 0.02  # samples at places that differ by roundings
    assert differing(fine, rough) > 0.1


def test_in_views_that_turn_every_angle_is_seen():
    ends = END, {**END, "rotation": 90}
    makers = [maker_of(film_of(START, end)).bands for end in ends]
    still, turning = (maker.refiner.coarser(maker.layout.columns) for maker in makers)
    assert set(turning) == {0}
    assert set(still) == {0, 1}

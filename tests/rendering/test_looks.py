"""The colors of a picture are those of its scene, whatever the method, size and supersampling."""

import math
from decimal import Decimal

import numpy as np
import pytest
from support.looks import difference, excess, means, view

import fractals

CENTER = ("-0.748284165960542747375", "0.1143633954191662057471")
LEVELS = 3  # of 255: what the choice of samples changes in the mean of a block of pixels
# Of 255: what one frame of a slow zoom may change more than its neighbors. Measured: 4.1; with an
# offset from the least count of each frame, 39.
STEP = 6
WIDEST, NARROWEST = 4e-9, 2e-10  # where small pictures are direct, and large ones are not


def picture(size, supersampling=2, **place):
    keys = {"palette": "hokusai", **place}
    return fractals.render(
        size=size, supersampling=supersampling, device="cpu", on_message=str, **keys
    )


def same_at_all_sizes(**place):
    small = picture((160, 100), **place)
    large = picture((640, 400), **place)
    finer = picture((160, 100), 5, **place)
    methods = {image.method for image in (small, large, finer)}
    return max(difference(small, large), difference(small, finer)), methods


def random_place(seed):
    share = seed * (math.sqrt(5) - 1) / 2 % 1
    width = 10 ** (math.log10(WIDEST) + share * math.log10(NARROWEST / WIDEST))
    return view(seed, Decimal(f"{width:.3g}"))


def test_colors_are_the_same_at_another_size_and_with_other_supersampling():
    apart, methods = same_at_all_sizes(center=CENTER, width="1.585e-9")
    assert methods == {"direct", "perturbation"}
    assert apart < LEVELS


@pytest.mark.many
@pytest.mark.parametrize("seed", range(3))
def test_colors_of_random_views(seed):
    apart, _ = same_at_all_sizes(**random_place(seed))
    assert apart < LEVELS


@pytest.mark.slow
def test_colors_of_a_hundred_random_views():
    found = [same_at_all_sizes(**random_place(seed)) for seed in range(100)]
    assert sum(len(methods) == 2 for _, methods in found) > 10
    assert max(apart for apart, _ in found) < LEVELS


@pytest.mark.parametrize(
    "widest", [Decimal("1.2e-9"), Decimal("3.6e-12")], ids=["across the methods", "deeper"]
)
def test_colors_change_little_in_steps_of_a_tenth(widest):
    """The counts alone change the mean color by up to 7 levels, and this palette is steep."""
    frames = [
        picture((160, 100), center=CENTER, width=f"{widest / Decimal('1.1') ** k:.4g}")
        for k in range(12)
    ]
    colors = np.array([means(frame).mean(axis=(0, 1)) for frame in frames])
    assert np.abs(np.diff(colors, axis=0)).max() < 26


def zoom(first, last, frames, size):
    """Return the mean colors of the frames of a zoom."""
    exponents = np.linspace(math.log10(first), math.log10(last), frames)
    images = [picture(size, center=CENTER, width=f"{10**e:.6g}") for e in exponents]
    assert {image.method for image in images} == {"direct", "perturbation"}
    return np.array([means(image).mean(axis=(0, 1)) for image in images])


def test_colors_of_a_film_do_not_jump():
    assert excess(zoom(8.9e-10, 5.8e-10, 16, (160, 100))).max() < STEP


@pytest.mark.slow
def test_colors_of_a_long_film_do_not_jump():
    assert excess(zoom(2e-9, 5e-11, 200, (160, 100))).max() < STEP

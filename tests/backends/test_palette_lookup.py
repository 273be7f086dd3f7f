"""Painting on the CPU takes the channels of a color together: the bits of the plain program."""

import numpy as np
import pytest

from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.python import PythonBackend
from fractals.color import palette
from fractals.kernels import shade


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("supersampling", [1, 2, 3])
def test_colors_are_those_of_the_plain_program(supersampling, bits):
    rng = np.random.default_rng(7)
    height, width = 5, 11
    position = rng.uniform(0, 1, (height * supersampling, width * supersampling)).astype("f4")
    position[rng.uniform(size=position.shape) < 0.3] = shade.INSIDE
    position[0, :3] = 0, 1, np.nextafter(np.float32(1), np.float32(0))
    lookup = palette.load("lagoon").lookup("#f0e0d0")
    share = np.float32(1 / supersampling**2)
    numbers = position, lookup, palette.encoding(bits), np.int32(supersampling), share
    drawn = []
    for backend in (PythonBackend("float64"), CpuBackend("float64", 1)):
        rgb = np.full((height, width, 3), 77, f"u{bits // 8}")
        backend.compile(shade.make_body)(rgb, *numbers)
        drawn.append(rgb)
    assert drawn[0].tobytes() == drawn[1].tobytes()
    # and against whole arrays in float64, which round elsewhere
    at = np.clip(position, 0, 1) * palette.ENTRIES
    entries = np.arange(palette.ENTRIES + 1)
    light = np.stack([np.interp(at, entries, channel) for channel in lookup[:-1].T], axis=-1)
    light[position < 0] = lookup[-1]
    light = light.reshape(height, supersampling, width, supersampling, 3).mean(axis=(1, 3))
    wanted = (2**bits - 1) * palette.srgb_from_linear(light)
    assert np.abs(drawn[1] - wanted).max() <= (0.6 if bits == 8 else 20)

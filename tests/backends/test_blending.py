"""Blending on the CPU goes row by row: the bits of the plain program."""

from typing import get_args

import numpy as np
import pytest

from fractals.backends.cpu.backend import CpuBackend
from fractals.backends.python import PythonBackend
from fractals.color import palette
from fractals.kernels import blend, shade
from fractals.scene.paint import Blend

LOOKUP = palette.srgb_from_linear(palette.load("lagoon").lookup("#f0e0d0")).astype(np.float32)


def drawn_by_both(make_body, options, out, *inputs):
    """Return `out` as plain Python and as the CPU's program leave it."""
    drawn = []
    for backend in (PythonBackend("float64"), CpuBackend("float64", 1)):
        filled = out.copy()
        run = backend.compile(make_body, *options)
        run(filled, *inputs)
        drawn.append(filled)
    assert not run.reason
    return drawn


@pytest.fixture(params=[1, 7, 67])
def samples(request):
    """Return positions, a group of layers, and opacities of some rows."""
    rng, shape = np.random.default_rng(request.param), (3, request.param)
    position = rng.uniform(0, 1, shape).astype("f4")
    position[rng.uniform(size=shape) < 0.3] = shade.INSIDE
    position.flat[:3] = 0, 1, np.nextafter(np.float32(1), np.float32(0))
    group = rng.uniform(0, 1, (*shape, 4)).astype("f4")
    group[..., :3] *= group[..., 3:]
    group[rng.uniform(size=shape) < 0.3] = 0
    return position, group, rng.uniform(0, 1, shape).astype("f4")


@pytest.mark.parametrize("mode", get_args(Blend)[1:])
def test_layers_and_groups_are_blended_like_the_plain_program(mode, samples):
    position, group, weights = samples
    one = np.full((1, 1), 0.7, np.float32)
    colors = np.random.default_rng(5).uniform(0, 1, (*position.shape, 3)).astype("f4")
    colors[0, 0] = 0, 1, 0.5
    found = [
        drawn_by_both(blend.make_layer_body, [mode], colors, position, LOOKUP, one[0, 0]),
        drawn_by_both(blend.make_member_body, [mode], group, position, LOOKUP, weights),
        drawn_by_both(blend.make_member_body, [mode], group, position, LOOKUP, one),
        drawn_by_both(blend.make_group_body, [mode], colors, group, weights),
        drawn_by_both(blend.make_group_body, [mode], colors, group, one),
    ]
    for plain, quick in found:
        assert plain.tobytes() == quick.tobytes()
    before = [colors, group, group, colors, colors]
    assert all((quick != old).any() for (_, quick), old in zip(found, before, strict=True))


@pytest.mark.parametrize("channel", ["u1", "u2", "f4"])
@pytest.mark.parametrize("supersampling", [1, 2, 3, 4])
def test_means_are_those_of_the_plain_program(supersampling, channel):
    n, (height, width) = supersampling, (3, 19)
    colors = np.random.default_rng(n).uniform(0, 1, (height * n, width * n, 3)).astype("f4")
    colors[0, 0] = 0, 1, np.nextafter(np.float32(1), np.float32(0))
    levels = palette.encoding(16 if channel == "u2" else 8).astype(channel)
    inputs = palette.decoding(), levels, np.int32(n), np.float32(1 / n**2)
    rgb = np.full((height, width, 3), 77, channel)
    plain, quick = drawn_by_both(blend.make_mean_body, [], rgb, colors, *inputs)
    assert plain.tobytes() == quick.tobytes()
    light = palette.linear_from_srgb(colors).reshape(height, n, width, n, 3).mean(axis=(1, 3))
    wanted = np.asarray(levels, float).max() * palette.srgb_from_linear(light)
    assert np.abs(quick - wanted).max() <= (20 if channel == "u2" else 0.6)

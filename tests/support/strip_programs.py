"""All programs of a strip, run with small inputs."""

import math

import numpy as np

from fractals.kernels import strip as kernels
from fractals.kernels.strip import FramePlace, StripShape, StripTexels

# In the order in which `outputs` runs them.
PROGRAMS = "polar", "blur", "sums", "smear", "coarser", "frame"


def outputs(backend):
    """Return what every program of a strip computes from small random inputs."""
    noise = np.random.default_rng(5)
    place = backend.to_device(np.array([7.3, 4.8]))
    turns, depths = (backend.empty((9, 13), np.float32) for _ in range(2))
    rows_an_octave = 8 * 8 * math.log(2) / math.tau
    fill = backend.compile(kernels.make_polar_body)
    axes = backend.empty((9, 13, 2), np.int8)
    fill(turns, depths, axes, place, backend.real(math.log2(9.5)), backend.real(rows_an_octave))
    sharp = backend.to_device(noise.integers(0, 65536, (14, 66), dtype=np.uint16))
    down = noise.uniform(0, 5, 8).astype(np.float32)
    across = noise.uniform(-4, 4, 8).astype(np.float32)
    down[0] = across[0] = 0
    blurred, light = backend.empty((8, 36), np.uint16), backend.empty((8, 36), np.float32)
    inputs = map(backend.to_device, (down, across))
    backend.compile(kernels.make_blur_body)(blurred, sharp, light, *inputs)
    flat = backend.to_device(np.ascontiguousarray(noise.integers(0, 65536, (14, 36), np.uint16)))
    sums, smeared = backend.empty((14, 36), np.int32), backend.empty((8, 36), np.uint16)
    backend.compile(kernels.make_sums_body)(sums, flat)
    backend.compile(kernels.make_smear_body)(smeared, flat, sums, backend.to_device(down))
    coarse = backend.empty((4, 6, 3), np.uint16)
    backend.compile(kernels.make_coarser_body)(coarse, blurred.reshape(8, 12, 3))
    sizes = [64 * 8 >> 2 * level for level in range(4)]
    starts = np.array([[sum(sizes[:k]) * 3 + sizes[k] * b for b in range(3)] for k in range(4)])
    texels = noise.integers(0, 65536, (3 * sum(sizes) + kernels.SPARE, 3), dtype=np.uint16)
    encode = np.arange(65535, -1, -1, dtype=np.uint16)
    bits = np.int32(3)
    level, half = np.float32(0.2), np.float32(0.6)
    shape = StripShape(np.int32(64), bits, bits, backend.real(rows_an_octave), level, half)
    rgb = backend.empty((9, 13, 3), np.uint16)
    arrays = map(backend.to_device, (texels, starts.astype(np.int64)))
    gather = backend.compile(kernels.make_frame_body)
    held, encode = StripTexels(*arrays), backend.to_device(encode)
    frame = FramePlace(backend.real(3.7), np.float32(0.3))
    gather(rgb, turns, depths, axes, held, encode, shape, frame)
    found = []
    for part in (turns, depths, axes, blurred, sums, smeared, coarse, rgb):
        found.append(np.empty(part.shape, part.dtype))
        backend.to_host(part, found[-1])
    return found

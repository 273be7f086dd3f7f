"""Frames to planes: BT.709 by exact arithmetic, dither, chroma between pixels."""

from fractions import Fraction

import numpy as np
import pytest

from fractals.backends.devices import choose, open_backend
from fractals.films.planes import Planes, rounded, weights
from fractals.kernels import video

RED, GREEN, BLUE = Fraction(2126, 10_000), Fraction(7152, 10_000), Fraction(722, 10_000)


def frame_of(seed=1, size=(8, 12)):
    return np.random.default_rng(seed).integers(0, 65536, (*size, 3)).astype(np.uint16)


def naive(frame, bits, across, down):
    """Return the planes of a frame before they are rounded, by fractions."""
    height, width = frame.shape[:2]
    unit = Fraction(2 ** (bits - 8))
    rgb = [[[Fraction(int(v), 65535) for v in pixel] for pixel in row] for row in frame]
    luma = [[RED * r + GREEN * g + BLUE * b for r, g, b in row] for row in rgb]
    blue = [
        [(p[2] - y) / (2 * (1 - BLUE)) for p, y in zip(*rows, strict=True)]
        for rows in zip(rgb, luma, strict=True)
    ]
    red = [
        [(p[0] - y) / (2 * (1 - RED)) for p, y in zip(*rows, strict=True)]
        for rows in zip(rgb, luma, strict=True)
    ]

    def thin(plane):
        found = []
        for j in range(0, height, down):
            row = []
            for i in range(0, width, across):
                near = [plane[v] for v in range(j, j + down)]
                if across == 1:
                    row.append(sum(r[i] for r in near) / down)
                else:
                    total = sum(
                        r[max(i - 1, 0)] + 2 * r[i] + r[min(i + 1, width - 1)] for r in near
                    )
                    row.append(total / 4 / down)
            found.append(row)
        return found

    return (
        [[unit * (16 + 219 * v) for v in row] for row in luma],
        *([[unit * (128 + 224 * v) for v in row] for row in thin(plane)] for plane in (blue, red)),
    )


@pytest.mark.parametrize(("sampling", "steps"), [("420", (2, 2)), ("422", (2, 1)), ("444", (1, 1))])
def test_planes_of_10_bits_are_rounded_fractions(sampling, steps):
    frame = frame_of()
    found = Planes(sampling, 10).convert(frame)
    for plane, exact in zip(found, naive(frame, 10, *steps), strict=True):
        assert plane.dtype == np.uint16
        assert plane.shape == np.shape(exact)
        for value, wanted in zip(plane.ravel().tolist(), np.ravel(exact), strict=True):
            assert abs(value - wanted) <= Fraction(1, 2) + Fraction(1, 1000)


def test_planes_of_8_bits_are_dithered():
    """A plane of one color has, on the mean over the dither, the color's very value."""
    level = 30_000
    frame = np.full((16, 16, 3), level, np.uint16)
    luma, blue, red = Planes("420", 8).convert(frame)
    wanted = 16 + 219 * level / 65535
    assert set(luma.ravel().tolist()) == {int(wanted), int(wanted) + 1}
    assert luma.mean() == pytest.approx(wanted, abs=1 / 128)
    assert set(blue.ravel().tolist()) == set(red.ravel().tolist()) == {128}


def test_the_ends_of_the_range():
    for bits, unit in ((8, 1), (10, 4)):
        for level, wanted in ((0, 16), (65535, 235)):
            planes = Planes("420", bits).convert(np.full((2, 2, 3), level, np.uint16))
            assert [plane.tolist()[0][0] for plane in planes] == [
                wanted * unit,
                128 * unit,
                128 * unit,
            ]
    pure = np.zeros((2, 2, 3), np.uint16)
    pure[..., 2] = 65535
    assert Planes("420", 10).convert(pure)[1].tolist() == [[240 * 4]]


def test_bytes_are_the_planes_one_after_the_other():
    frame = frame_of()
    planes = Planes("420", 8)
    data = planes.encode(frame)
    assert data == b"".join(plane.tobytes() for plane in planes.convert(frame))
    assert len(data) == 8 * 12 * 3 // 2
    assert planes.pixel_format == "yuv420p"
    assert Planes("422", 10).pixel_format == "yuv422p10le"


@pytest.mark.parametrize("device", ["cpu", "simulator", "python"])
def test_kernels_are_equal_on_every_device(device):
    frame, thresholds = frame_of(2), np.full((1, 1), 1 << 31)
    backend = open_backend(choose(device).device, "float64", 1)
    luma, chroma = np.empty((8, 12), np.uint16), np.empty((4, 6), np.uint16)
    rows = [backend.to_device(row) for row in weights(10)]
    found = []
    bodies = ((luma, video.make_luma_body, ()), (chroma, video.make_chroma_body, (2, 2)))
    for row, (plane, make, options) in zip(rows, bodies, strict=False):
        on_device = backend.empty(plane.shape, plane.dtype)
        source = backend.to_device(frame)
        backend.compile(make, *options)(on_device, source, row, backend.to_device(thresholds))
        backend.to_host(on_device, plane)
        found.append(plane)
    for plane, same in zip(found, Planes("420", 10).convert(frame), strict=False):
        np.testing.assert_array_equal(plane, same)


def test_frames_of_8_bits_are_rounded():
    frame = np.array([[[0, 128, 129], [32767, 32896, 65535]]], np.uint16)
    assert rounded(frame).tolist() == [[[0, 0, 1], [127, 128, 255]]]

"""Pictures of solids without noise: Open Image Denoise, and a regression of light that bounced.

Light that comes without a bounce has fine detail and little noise. Light that has bounced has most
of the noise, and in hollows its detail is as fine as a pixel: Open Image Denoise takes noise for
such detail, and detail for noise. So both are apart. The first one is filtered only where a lens or
a shutter blurs it, and without guides, whose noise at edges it has itself. Of bounced light the
picture has a mean of filters, which err in different places. Beside Open Image Denoise there is one
that makes light a linear function of color and normal of the surface, another one in each square of
pixels, so detail that the surface has stays: a guided filter (He, Sun and Tang, 2010), or a
first-order regression (Moon, Carr and Yoon, 2014). Small squares keep more of the detail and large
ones less of the noise, so that there are two sizes of them.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float32]  # shape (rows, columns, numbers)
Planes = NDArray[np.float32]  # shape (numbers, rows, columns)

# What Open Image Denoise calls its quality. "fast" takes a quarter of the time of "high", and its
# pictures of eight samples a pixel look the same (errors from many samples: 3 % more).
FILTER = {"draft": "fast", "good": "fast", "best": "high"}
FRAME = 8  # pixels beyond the edges that a filter sees: without them it darkens the corners
REACHES = 2, 3  # pixels on either side of the middle of a square, of both sizes
# Light follows a feature whose variance in a square is above the ridge: that keeps noise out where
# the surface is even. Colors count COLORED times as much as the parts of normals, from -1 to 1.
RIDGE, COLORED = 0.002, 3.0
# How much of the light without a bounce stays as it was where a blur leaves noise in it
KEPT = 0.2
# Of bounced light, the part of the one that Open Image Denoise makes
LEARNED = 0.35
ROWS = 32  # that are regressed at once, so that their planes stay in the CPU's cache


def smoothed(
    light: Pixels, surface: Pixels, first: Pixels | None, quality: str, sharp: bool
) -> Pixels:
    """Return light without noise, shape (rows, columns, 3).

    Parameters
    ----------
    light : array of float32, shape (rows, columns, 3)
    surface : array of float32, shape (rows, columns, 6)
        Color and normal.
    first : array of float32, shape (rows, columns, 3), or None
        The part of the light that comes without a bounce; None: it is not known.
    quality : str
        "draft", "good" or "best".
    sharp : bool
        No lens and no shutter blurs the picture. The first light then stays as it was, because the
        filter takes fine detail from it, too.
    """
    quality = FILTER[quality]
    smooth = make_filter(surface, quality)
    if first is None:
        return smooth(light)
    later, found = np.maximum(light - first, np.float32(0)), first.copy()
    if not sharp:
        found += np.float32(1 - KEPT) * (make_filter(None, quality)(first) - first)
    found += np.float32(LEARNED) * smooth(later)
    for reach in REACHES:
        share = np.float32((1 - LEARNED) / len(REACHES))
        found += share * regressed(later, surface, reach)
    return found


def make_filter(surface: Pixels | None, quality: str) -> Callable[[Pixels], Pixels]:
    """Return Open Image Denoise of light, on a surface that guides it or without one."""
    import pyoidn

    guides = {}
    if surface is not None:
        guides["albedo"] = framed(surface[..., :3], FRAME)
        guides["normal"] = framed(surface[..., 3:6], FRAME)

    def smooth(light: Pixels) -> Pixels:
        found = pyoidn.denoise(framed(light, FRAME), **guides, hdr=True, quality=quality)
        positive: Pixels = np.maximum(found, np.float32(0))
        return positive[FRAME:-FRAME, FRAME:-FRAME]

    return smooth


def framed(pixels: Pixels, wide: int) -> Pixels:
    """Return an image with a frame of some pixels, in which it is mirrored."""
    return np.pad(pixels, ((wide, wide), (wide, wide), (0, 0)), "symmetric")


def regressed(light: Pixels, surface: Pixels, reach: int) -> Pixels:
    """Return light as linear functions of the surface's color and normal.

    A function is fitted in the square around each pixel, and a pixel has the mean of the functions
    of the squares that it is in. The sky, which has no normal, has no light that bounced.

    Parameters
    ----------
    light, surface : arrays of float32
        As of `smoothed`.
    reach : int
        Pixels on either side of the middle of a square.
    """
    found, frame = np.empty_like(light), 2 * reach
    features = surface[..., :6].copy()
    features[..., :3] *= np.float32(COLORED)
    wide_light, wide_features = framed(light, frame), framed(features, frame)
    for top in range(0, len(light), ROWS):
        rows = slice(top, min(top + ROWS, len(light)) + 2 * frame)
        x, y = (
            np.ascontiguousarray(np.moveaxis(part[rows], -1, 0))
            for part in (wide_features, wide_light)
        )
        slopes, base = fitted(x, y, reach)
        inner = x[:, frame:-frame, frame:-frame]
        part = around(base, reach)
        for k in range(len(inner)):
            part += around(slopes[k], reach) * inner[k]
        found[top : top + ROWS] = np.moveaxis(part, 0, -1)
    sky = (surface[..., 3:6] == 0).all(axis=2)
    found[sky] = 0
    return np.maximum(found, np.float32(0))


def fitted(x: Planes, y: Planes, reach: int) -> tuple[list[Planes], Planes]:
    """Return slopes, for each plane of x those of the planes of y, and y where x is 0.

    They are those of the least squares of each square of pixels, by Cholesky's factors without
    roots; the planes are smaller by `reach` on each side.
    """
    n, mean_x, mean_y = len(x), around(x, reach), around(y, reach)
    ridge = np.float32(RIDGE)
    # Of each column of the factor, the parts below the diagonal and the one on it
    below: list[Planes] = []
    diagonal: list[Planes] = []
    slopes: list[Planes] = []
    for j in range(n):
        column = around(x[j:] * x[j], reach) - mean_x[j:] * mean_x[j]
        column[0] += ridge
        target = around(y * x[j], reach) - mean_y * mean_x[j]
        for k in range(j):
            scale = below[k][j - k - 1] * diagonal[k]
            column -= below[k][j - k - 1 :] * scale
            target -= below[k][j - k - 1] * slopes[k]
        diagonal.append(np.maximum(column[0], ridge))
        below.append(column[1:] / diagonal[j])
        slopes.append(target)
    for j in reversed(range(n)):
        slopes[j] /= diagonal[j]
        for k in range(j + 1, n):
            slopes[j] -= below[j][k - j - 1] * slopes[k]
    base = mean_y
    for j in range(n):
        base = base - slopes[j] * mean_x[j]
    return slopes, base


def around(planes: Planes, reach: int) -> Planes:
    """Return means of the squares around pixels, where these are within the planes."""
    side = 2 * reach + 1
    rows, columns = (size - side + 1 for size in planes.shape[-2:])
    tall = planes[..., :rows, :] + planes[..., 1 : rows + 1, :]
    for k in range(2, side):
        tall += planes[..., k : k + rows, :]
    found: Planes = tall[..., :columns] + tall[..., 1 : columns + 1]
    for k in range(2, side):
        found += tall[..., k : k + columns]
    found *= np.float32(1 / side**2)
    return found

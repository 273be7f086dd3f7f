"""Masks: pictures whose brightness says how much of a layer is drawn.

Weights are computed by NumPy for every device, so they have the same bits.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fractals.color import trap_image
from fractals.errors import OptionError
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index
from fractals.scene.geometry import matrix
from fractals.scene.paint import PictureMask

Affine = tuple[float, ...]  # a, b, c, d, e, f: column and row of a mask are a i + b j + e, ...


def mask_map(plan: Plan, mask: PictureMask) -> Affine:
    """Return the map from columns and rows of samples to those of the pixels of a mask."""
    rows, columns = trap_image.weights(mask.picture).shape
    n, (width, height) = plan.supersampling, plan.size
    half = Fraction(1, 2)
    if mask.view is None:
        x, y = Fraction(columns, width * n), Fraction(rows, height * n)
        return _floats(x, 0, 0, y, half * x - half, half * y - half)
    if plan.view.projection != "plane":
        raise OptionError("a mask with a place in the plane can't be drawn in an exponential map")
    side = Fraction(Decimal(mask.view.width or "1")) / columns
    a, b, c, d = matrix(mask.view)
    area = (a * d - b * c) * side
    p, q, r, s = (part * plan.pixel / n for part in matrix(plan.view))  # steps of samples

    def in_mask(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        return (d * x - b * y) / area, (c * x - a * y) / area  # rows of a mask run down

    right, down = in_mask(p, r), in_mask(-q, -s)
    middle = [Fraction(Decimal(part)) for part in mask.view.center or ("0", "0")]
    x, y = in_mask(*(own - other for own, other in zip(plan.center, middle, strict=True)))
    i, j = Fraction(width * n - 1, 2), Fraction(height * n - 1, 2)
    e = x + Fraction(columns - 1, 2) - right[0] * i - down[0] * j
    f = y + Fraction(rows - 1, 2) - right[1] * i - down[1] * j
    return _floats(right[0], down[0], right[1], down[1], e, f)


def _floats(*parts: Fraction | int) -> Affine:
    """Return numbers as floats; those beyond 1e150 are far outside of any mask."""
    return tuple(float(max(-(10**150), min(10**150, part))) for part in parts)


def mask_weights(mask: PictureMask, affine: Affine, i: Index, j: Index) -> NDArray[np.float32]:
    """Return the weights of samples, interpolated between pixels; edges of a mask go on."""
    a, b, c, d, e, f = affine
    bright = trap_image.weights(mask.picture)
    rows, columns = bright.shape
    u, v = np.broadcast_arrays(a * i + b * j + e, c * i + d * j + f)
    u, v = np.clip(u, 0, columns - 1), np.clip(v, 0, rows - 1)
    x, y = u.astype(np.int64), v.astype(np.int64)
    right, below = np.minimum(x + 1, columns - 1), np.minimum(y + 1, rows - 1)
    u, v = u - x, v - y
    top = bright[y, x] * (1 - u) + bright[y, right] * u
    bottom = bright[below, x] * (1 - u) + bright[below, right] * u
    found: NDArray[np.float32] = (top * (1 - v) + bottom * v).astype(np.float32)
    return found.reshape(len(found), -1)  # samples of pixels that are apart: a pixel a row

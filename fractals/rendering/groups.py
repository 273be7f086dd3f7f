"""Groups of layers, and masks: pictures whose brightness says how much of a layer is drawn.

Weights are computed by NumPy for every device, so they have the same bits.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Run
from fractals.color import trap_image
from fractals.errors import OptionError
from fractals.kernels import blend
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import Index
from fractals.scene.geometry import ResolvedGroup, matrix
from fractals.scene.paint import PictureMask

Affine = tuple[float, ...]  # a, b, c, d, e, f: column and row of a mask are a i + b j + e, ...
# Open groups of layers, from outside, and their buffers
OpenGroups = list[tuple[ResolvedGroup, Any]]


class Groups:
    """Blends the layers of groups into buffers, and these over what is below.

    A layer with a mask is a group of its own. `masks`: of all layers and groups.
    """

    def __init__(self, backend: Backend, plan: Plan) -> None:
        self.backend, self.layers, self.masks = backend, plan.layers, plan.layers.masks
        self._maps = [mask_map(plan, mask) for mask in self.masks]
        self._clear = backend.compile(blend.make_clear_body)
        # Of each layer the groups that it is in, from outside; none behind the last one
        groups = (*(layer.group for layer in self.layers.drawn), None)
        self._chains = [group.chain if group else () for group in groups]
        # Opacities of layers in groups, then of groups: masks, and arrays of 1 x 1
        self._opacities: list[tuple[PictureMask | None, Any]] = []
        # Of each layer the number of its opacities
        self._members = [
            self._weighted(layer.mask, layer.opacity) if layer.group else 0
            for layer in self.layers.drawn
        ]
        # For each group: the program that blends it over the rest, and the number of its opacities
        self._merges: dict[ResolvedGroup, tuple[Run, int]] = {}
        for group in self.layers.groups:
            body = blend.make_nested_body if group.outer else blend.make_group_body
            opacities = self._weighted(group.over.picture_mask, group.over.opacity)
            self._merges[group] = backend.compile(body, group.blend), opacities

    def _weighted(self, mask: PictureMask | None, opacity: float) -> int:
        """Return the number of a mask and an opacity among all opacities."""
        plain = np.full((1, 1), opacity, np.float32)
        self._opacities.append((mask, plain if mask else self.backend.to_device(plain)))
        return len(self._opacities) - 1

    def weights(self, i: Index, j: Index) -> list[NDArray[np.float32]]:
        """Return how much each of the masks lets through of samples in columns i and rows j."""
        pairs = zip(self.masks, self._maps, strict=True)
        return [
            mask_weights(trap_image.weights(mask.picture), affine, i, j) for mask, affine in pairs
        ]

    def opacities(self, i: Index, j: Index) -> tuple[Any, ...]:
        """Return the opacities of samples in columns i and rows j, on the device."""
        masks = dict(zip(map(id, self.masks), self.weights(i, j), strict=True))
        return tuple(
            self.backend.to_device(masks[id(mask)] * opacity) if mask else opacity
            for mask, opacity in self._opacities
        )

    def paint(
        self,
        k: int,
        paint: Run,
        position: Any,
        lookup: Any,
        colors: Any,
        opacities: Sequence[Any],
        opened: OpenGroups,
    ) -> None:
        """Paint layer `k`, which is in a group, and blend the groups that end with it.

        `paint`, `lookup`: its program and table. `position`: where its samples are in the table.
        `colors`: of samples; groups are blended over them. `opacities`: those of the samples, as
        the method of this name returns them; without them masks are passed over. `opened`: the
        groups that layers below have begun.
        """
        chain, above = self._chains[k], self._chains[k + 1]
        weights = opacities or [opacity for _, opacity in self._opacities]
        for group in chain[len(opened) :]:
            opened.append((group, self.backend.empty((*position.shape, 4), np.float32)))
            self._clear(opened[-1][1])
        paint(opened[-1][1], position, lookup, weights[self._members[k]])
        while opened and opened[-1][0] not in above:
            group, inner = opened.pop()
            merge, own = self._merges[group]
            merge(opened[-1][1] if opened else colors, inner, weights[own])


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


def mask_weights(
    bright: NDArray[np.float64], affine: Affine, i: Index, j: Index
) -> NDArray[np.float32]:
    """Return the weights of samples, interpolated between pixels; edges of a mask go on."""
    a, b, c, d, e, f = affine
    rows, columns = bright.shape
    straight = not b and not c  # rows and columns of samples are those of the mask
    u, v = (a * i + e, d * j + f) if straight else (a * i + b * j + e, c * i + d * j + f)
    u, v = np.clip(u, 0, columns - 1), np.clip(v, 0, rows - 1)
    x, y = u.astype(np.int64), v.astype(np.int64)
    right, below = np.minimum(x + 1, columns - 1), np.minimum(y + 1, rows - 1)
    u, v = u - x, v - y
    if straight and x.ndim == 2 and x.shape[0] == y.shape[1] == 1:
        # Each row of the mask is interpolated once: a quarter of the time, and the same sums
        first, end = y.min(), below.max() + 1
        across = bright[first:end, x[0]] * (1 - u) + bright[first:end, right[0]] * u
        top, bottom = across[y[:, 0] - first], across[below[:, 0] - first]
    else:
        top = bright[y, x] * (1 - u) + bright[y, right] * u
        bottom = bright[below, x] * (1 - u) + bright[below, right] * u
    top *= 1 - v  # in place, because new arrays take as long as the sums
    bottom *= v
    top += bottom
    found: NDArray[np.float32] = top.astype(np.float32)
    return found.reshape(len(found), -1)  # samples of pixels that are apart: a pixel a row

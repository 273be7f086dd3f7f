"""The contract of a scatter formula: weighted transforms of the plane, and their numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels import scatter
from fractals.kernels.formula import AnyFormula
from fractals.kernels.scatter import FlameData, Variation

IDENTITY = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0
CHOICES = 2**31  # random numbers that a transform is drawn by
STAGES = ("", "pre_", "post_")  # before the name of a variation: when it is applied


class Applied(NamedTuple):
    """A variation in a transform."""

    variation: Variation
    stage: str  # one of STAGES
    weight: float
    values: tuple[float, ...]  # of its parameters, in their order

    @property
    def does(self) -> int:
        """Return what it does, as the code of `fractals.kernels.scatter` says it."""
        if not self.stage:
            return scatter.SUM
        first = scatter.PRE_SET if self.stage == "pre_" else scatter.POST_SET
        return first + self.variation.adds


@dataclass(frozen=True)
class Transform:
    """One map of a flame: an affine map, the sum of its variations, and another affine map.

    An affine map (a, b, c, d, e, f) is x' = ax + by + c, y' = dx + ey + f.
    """

    variations: tuple[Applied, ...]
    weight: float = 1.0  # the share of points that it moves, in proportion to others
    affine: tuple[float, ...] = IDENTITY
    post: tuple[float, ...] = IDENTITY
    color: float = 0.0  # the place in the palette that colors move to, from 0 to 1
    color_speed: float = 0.5  # how much of the way
    opacity: float = 1.0  # what its points add
    xaos: tuple[float, ...] = ()  # factors of the weights of the transforms that follow it


@dataclass(frozen=True)
class Flame(AnyFormula):
    """Transforms, one of which is drawn at random for each step of a point."""

    family: ClassVar[str] = "scatter"
    group: ClassVar[str] = "Flames and orbits"
    method: ClassVar[str] = "chaos game"
    settle: ClassVar[int] = 0  # a scene says how many steps are not drawn

    name: str  # as scenes name it
    title: str  # one line for lists
    transforms: tuple[Transform, ...]
    final: Transform | None = None  # moves points where they are plotted, and only there
    # center, width: The home view, drawn when a scene names no other: decimal text, in plane units.
    center: tuple[str, str] = ("0", "0")
    width: str = "4"
    # Options that a scene may set, with their values.
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def all_transforms(self) -> tuple[Transform, ...]:
        """Return the transforms, and the final one last."""
        return (*self.transforms, *((self.final,) if self.final else ()))

    @property
    def variations(self) -> tuple[Variation, ...]:
        """Return each variation that is used, once."""
        used = [own.variation for each in self.all_transforms for own in each.variations]
        return tuple(dict.fromkeys(used))

    @property
    def kernel(self) -> tuple[Any, ...]:
        """Return what makes the kernel of GPUs, and its options."""
        return scatter.make_body, self.variations

    @property
    def opacities(self) -> tuple[float, ...]:
        """Return the opacities of points, other than 0: a row of the palette each."""
        return tuple(dict.fromkeys(t.opacity for t in self.transforms if t.opacity)) or (1.0,)

    def data(self, real: Any) -> FlameData:
        """Return the numbers of the flame, for points of a number type."""
        every, known = self.all_transforms, self.variations
        shades = {opacity: row for row, opacity in enumerate(self.opacities)}
        sizes = [sum(1 + own.variation.width for own in t.variations) for t in every]
        most = max(len(t.variations) for t in every)
        rows = np.zeros((len(every), scatter.VARIATIONS + max(sizes)), np.dtype(real))
        code = np.zeros((len(every), scatter.CALLS + scatter.CALL * most), np.int32)
        for row, numbers, each in zip(rows, code, every, strict=True):
            head = *each.affine, *each.post, each.color, each.color_speed
            row[: len(head)] = head
            shade = shades.get(each.opacity, -1)  # of points; the final transform's is not read
            numbers[: scatter.CALLS] = len(each.variations), each.post != IDENTITY, shade
            at, group = scatter.VARIATIONS, 0
            for k, own in enumerate(each.variations):
                values = [1.0 if own.variation.weighted else own.weight, *own.values]
                values += each.affine if own.variation.affine else ()
                values += [own.weight] if own.variation.weighted else []
                row[at : at + len(values)] = values
                place = scatter.CALLS + scatter.CALL * k
                numbers[place : place + scatter.CALL] = (
                    known.index(own.variation),
                    at,
                    own.does,
                    group,
                )
                at, group = at + len(values), group + own.variation.groups
        return FlameData(rows, code, self._bounds(), self.final is not None)

    def _bounds(self) -> NDArray[np.int32]:
        """Return below which random number each transform is drawn, but the last."""
        weights = np.array([t.weight for t in self.transforms])
        count = len(weights)
        xaos = np.ones((count, count))
        for row, each in zip(xaos, self.transforms, strict=True):
            row[: len(each.xaos)] = each.xaos[:count]
        shares = weights * xaos if (xaos != 1).any() else weights[None]
        # Where a transform leads nowhere, the weights alone decide.
        shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, weights)
        ends = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
        bounds = np.floor(ends[:, :-1] * CHOICES).clip(0, CHOICES - 1)
        return np.ascontiguousarray(bounds.astype(np.int32))

    def colors(self, palette: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Return what hits add, as of `fractals.kernels.scatter.Window`."""
        return scatter.hit_colors(palette, self.opacities)

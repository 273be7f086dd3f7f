"""The exact geometry of a view: width, center, and the matrix of rotation, stretch and mirror."""

import functools
import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fractals import catalog
from fractals.errors import OptionError
from fractals.kernels.angles import direction
from fractals.kernels.coloring import Coloring, short
from fractals.kernels.formula import Formula
from fractals.kernels.orbit import INSIDE_TOO, Statistics
from fractals.scene.credits import SAID
from fractals.scene.model import MAX_ITERATIONS, Scene
from fractals.scene.numbers import log2
from fractals.scene.paint import Layer, LayerGroup, Over, Paint, PictureMask
from fractals.scene.picture import View

# The layers of a scene, resolved: their colorings, and what they need of the iteration.


@dataclass(frozen=True)
class ResolvedLayer:
    """A layer whose coloring is made, and whose "auto" values are replaced."""

    paint: Paint  # the layer as the scene has it
    coloring: Coloring
    side: str  # the samples that the layer colors: "escaped", "inside" or "both"
    group: "ResolvedGroup | None" = None  # that the layer is a part of

    @property
    def blend(self) -> str:
        """Return how the layer is blended over the layers below, of its group if it has one."""
        blend = self.paint.blend if isinstance(self.paint, Layer) and not self.alone else "normal"
        return self.coloring.blend if blend == "auto" else blend

    @property
    def opacity(self) -> float:
        """Return the opacity, from 0 to 1."""
        return self.paint.opacity if isinstance(self.paint, Layer) and not self.alone else 1.0

    @property
    def mask(self) -> PictureMask | None:
        """Return the picture that says how much of the layer is drawn in its group."""
        return self.paint.picture_mask if isinstance(self.paint, Layer) and not self.alone else None

    @property
    def alone(self) -> bool:
        """Tell whether the layer makes a group of its own, because it has a mask."""
        over: object = self.group and self.group.over
        return over is self.paint

    @property
    def transfer(self) -> str:
        """Return the curve between value and palette."""
        transfer = self.paint.transfer
        return self.coloring.transfer if transfer == "auto" else transfer

    @property
    def subtracts_offset(self) -> bool:
        """Tell whether the count offset is subtracted from the values."""
        return self.paint.transfer == "auto" and self.coloring.counted

    @property
    def needs(self) -> list[str]:
        """Return the names of the planes that the layer needs besides count and z."""
        statistics = Statistics.of((self.coloring,), self.side != "escaped")
        return [*(["dz"] if self.coloring.derivative else []), *statistics.names]

    @property
    def label(self) -> str:
        """Return the coloring with the options that are set, as --coloring takes it."""
        options = self.paint.coloring.model_extra or {}
        return ",".join([self.coloring.name, *(f"{k}={short(v)}" for k, v in options.items())])

    @property
    def remedy(self) -> str:
        """Return how to compute raw numbers that have what the layer needs."""
        if isinstance(self.paint, Layer) or self.paint.mask != "auto":
            return "compute them from a scene that has this layer"
        return f"compute them with the coloring '{self.label}'"


@dataclass(frozen=True, eq=False)
class ResolvedGroup:
    """Layers that are blended together: those of a group, or one layer that has a mask."""

    over: Over
    blend: str
    outer: "ResolvedGroup | None" = None  # the group that this one is in

    @staticmethod
    def of(over: Layer | LayerGroup, outer: "ResolvedGroup | None" = None) -> "ResolvedGroup":
        """Return the group of a layer with a mask, or of a group of layers."""
        own = "normal" if isinstance(over, LayerGroup) else over.coloring.make().blend
        return ResolvedGroup(over, own if over.blend == "auto" else over.blend, outer)

    @property
    def chain(self) -> tuple["ResolvedGroup", ...]:
        """Return the groups that this one is in, from outside, and itself."""
        return (*(self.outer.chain if self.outer else ()), self)


def _grouped(
    layers: Iterable[Layer | LayerGroup], outer: ResolvedGroup | None = None
) -> Iterator[tuple[Paint, ResolvedGroup | None]]:
    """Yield layers and their groups, from the bottom to the top."""
    for each in layers:
        if isinstance(each, LayerGroup):
            yield from _grouped(each.layers, ResolvedGroup.of(each, outer))
        elif each.picture_mask and not outer:
            yield each, ResolvedGroup.of(each)
        else:
            yield each, outer


@dataclass(frozen=True)
class Layers:
    """All layers, from the bottom to the top."""

    drawn: tuple[ResolvedLayer, ...]
    statistics: Statistics
    note: str = ""  # one line for the user, or nothing
    heights: ResolvedLayer | None = None  # whose values are the heights of a relief

    @functools.cached_property
    def used(self) -> tuple[ResolvedLayer, ...]:
        """Return all layers that need raw numbers."""
        return (*self.drawn, self.heights) if self.heights else self.drawn

    @property
    def derivative(self) -> bool:
        """Tell whether a layer needs dz."""
        return any(layer.coloring.derivative for layer in self.used)

    @property
    def whole(self) -> bool:
        """Tell whether a layer's colors depend on all samples of the picture (histogram, rank)."""
        return any(layer.coloring.rank_table for layer in self.drawn)

    @functools.cached_property
    def groups(self) -> list[ResolvedGroup]:
        """Return the groups, each after the one that it is in."""
        chains = (layer.group.chain for layer in self.drawn if layer.group)
        return list(dict.fromkeys(group for chain in chains for group in chain))

    @property
    def nesting(self) -> int:
        """Return how many groups lie in one another; a layer with a mask counts as a group."""
        return max((len(group.chain) for group in self.groups), default=0)

    @property
    def masks(self) -> list[PictureMask]:
        """Return the pictures that say how much of layers and groups is drawn."""
        found = [layer.mask for layer in self.drawn if layer.mask]
        found += [each.over.picture_mask for each in self.groups if each.over.picture_mask]
        return list({id(mask): mask for mask in found}.values())

    def lacking(self, kept: Collection[str]) -> list[tuple[ResolvedLayer, list[str]]]:
        """Return the layers that need planes other than those kept, and their names."""
        needed = (
            (layer, [name for name in layer.needs if not kept_as(name, kept)])
            for layer in self.used
        )
        return [(layer, absent) for layer, absent in needed if absent]

    def check_deep(self) -> None:
        """Raise an `OptionError` if a layer can't be drawn by perturbation."""
        for layer in self.drawn:
            if layer.coloring.powers:
                raise OptionError(
                    f"the coloring '{layer.coloring.name}' follows derivatives that float64 can't "
                    "hold in a view so deep: choose another, such as multiplier"
                )


def kept_as(name: str, kept: Collection[str]) -> str | None:
    """Return the name under which a plane is kept, or None.

    A plane that was accumulated for samples inside, too, has the same values outside.
    """
    return next((own for own in (name, name + INSIDE_TOO) if own in kept), None)


def fitting(coloring: Coloring, formula: Formula, julia: bool = False) -> Coloring:
    """Return the coloring, or its replacement for a formula whose orbits don't escape.

    A coloring without a meaning for orbits of the formula, or for Julia sets, is an `OptionError`.
    """
    converges = formula.tolerance > 0
    if coloring.converging and (converges or formula.coloring):
        name = formula.coloring or coloring.converging
        other: Coloring = catalog.load("coloring", name)().choose({})
        return other
    wrong = coloring.ends == ("escaping" if converges else "converging")
    if wrong or coloring.derivative or coloring.memoryless or coloring.powers:
        _check_meaning(coloring, formula, julia)
    return coloring


def _check_meaning(coloring: Coloring, formula: Formula, julia: bool) -> None:
    """Raise an `OptionError` for a coloring that has no meaning for orbits of a formula."""
    converges = formula.tolerance > 0
    if coloring.ends == ("escaping" if converges else "converging"):
        ends = "converge" if converges else "escape"
        others = "speed, root or count" if converges else "smooth or count"
        raise OptionError(
            f"the coloring '{coloring.name}' is for orbits that "
            f"{'escape' if converges else 'converge'}, and those of '{formula.name}' {ends}: "
            f"choose another, such as {others}"
        )
    if coloring.derivative and formula.remember:
        raise OptionError(
            f"the coloring '{coloring.name}' follows derivatives, and '{formula.name}' has none "
            "where it carries several variables: choose another, such as count or smooth"
        )
    if coloring.memoryless and (formula.uses_previous or formula.phases or formula.remember):
        why = "iterates maps in turn" if formula.phases else "has a memory of what was before"
        raise OptionError(
            f"the coloring '{coloring.name}' requires that z alone decides the next z, and "
            f"'{formula.name}' {why}: choose another, such as smooth"
        )
    if coloring.powers and (julia or not formula.is_power):
        what = "Julia sets" if julia else f"'{formula.name}'"
        raise OptionError(
            f"the coloring '{coloring.name}' is for the sets of z**d + c (mandelbrot, multibrot), "
            f"not for {what}: choose another, such as multiplier"
        )


def make_layers(scene: Scene) -> Layers:
    """Return the resolved layers of a scene, from the bottom to the top."""
    drawn = []
    formula = scene.make_formula()
    for paint, group in ((scene.color, None), *_grouped(scene.color.layers)):
        coloring = fitting(paint.coloring.make(), formula, scene.julia is not None)
        side = {"all": "both", "auto": coloring.side}.get(paint.mask, paint.mask)
        drawn.append(ResolvedLayer(paint, coloring, side, group))
    heights = None if scene.relief.heights == "none" else _heights_of(scene, formula)
    inside = any(layer.side != "escaped" and layer.coloring.statistic for layer in drawn)
    statistics = Statistics.of(tuple(layer.coloring for layer in drawn), inside)
    bands = formula.degree < 2 and any(layer.coloring.converging for layer in drawn)
    note = f"the formula '{formula.name}' has no degree: bands of equal counts stay visible"
    return Layers(tuple(drawn), statistics, note if bands else "", heights)


def _heights_of(scene: Scene, formula: Formula) -> ResolvedLayer:
    """Return the layer whose values are the heights of a relief."""
    paint = Paint.model_validate({"coloring": scene.relief.heights})
    made = fitting(paint.coloring.make(), formula, scene.julia is not None)
    return ResolvedLayer(paint, made, "escaped")


def place_of(scene: Scene) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """Return width and center of the view, by default those of the formula's home view."""
    home_center = ("0", "0") if scene.julia else scene.make_any_formula().center
    x, y = scene.view.center or home_center
    if scene.view.width is not None:
        width = Fraction(Decimal(scene.view.width))
    else:
        width = home_width_of(scene) / Fraction(Decimal(scene.view.zoom or "1"))
    return width, (Fraction(Decimal(x)), Fraction(Decimal(y)))


def home_width_of(scene: Scene) -> Fraction:
    """Return the width of the view that shows the whole set."""
    return Fraction("4.2" if scene.julia else scene.make_any_formula().width)


def limit_of(scene: Scene, width: Fraction) -> int:
    """Return `max_iterations`; where it is "auto", the limit by the zoom."""
    limit = scene.iteration.max_iterations
    return limit if isinstance(limit, int) else limit_by_zoom(scene.make_formula(), width)


def limit_by_zoom(formula: Formula, width: Fraction) -> int:
    """Return a limit of iterations that doubles each time the zoom grows by a factor of 64."""
    zoom = max(0.0, log2(Fraction(formula.width) / width))
    return int(min(1000 * 2 ** min(zoom / 6, 30), MAX_ITERATIONS))  # 30: no float overflows


Matrix = tuple[Fraction, Fraction, Fraction, Fraction]
PLAIN: Matrix = (Fraction(1), Fraction(0), Fraction(0), Fraction(1))  # of the plane's own axes


def matrix(view: View) -> Matrix:
    """Return ``(a, b, c, d)`` that takes picture offsets (x, y) to the plane.

    The offset in the plane is (a x + b y, c x + d y).
    """
    return PLAIN if is_plain(view) else _turned(view)


def _turned(view: View) -> Matrix:
    """Return the matrix of a view that may have other axes than the plane.

    The stretch applies first, along its own direction and across it; then the mirror; last the
    rotation.
    """
    one, zero = Fraction(1), Fraction(0)
    a, b, c, d = one, zero, zero, one
    if view.stretch != 1:
        cos, sin = exact_direction(view.stretch_angle)
        along, across = 1 / Fraction(view.stretch), Fraction(view.stretch)
        a, d = along * cos**2 + across * sin**2, along * sin**2 + across * cos**2
        b = c = (along - across) * cos * sin
    if view.mirror:
        c, d = -c, -d
    if view.rotation:
        cos, sin = exact_direction(view.rotation)
        a, b, c, d = cos * a - sin * c, cos * b - sin * d, sin * a + cos * c, sin * b + cos * d
    return a, b, c, d


def middles_of(
    center: tuple[Fraction, Fraction], axes: Matrix
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Return the middles of a grid's columns and of its rows, whose sum is the center.

    A column has one x and a row one y, where they are parallel to the axes of the plane.
    """
    (x, y), (_, b, c, _), zero = center, axes, Fraction(0)
    return ((x, y), (zero, zero)) if b or c else ((x, zero), (zero, y))


def is_plain(view: View) -> bool:
    """Tell whether the picture's axes are those of the plane."""
    return view.stretch == 1 and not view.mirror and not view.rotation


def exact_direction(degrees: float) -> tuple[Fraction, Fraction]:
    """Return the cosine and the sine of an angle in degrees, as views are turned by it."""
    cos, sin = direction(degrees)
    return Fraction(cos), Fraction(sin)


def finest(view: View, width: Fraction, size: tuple[int, int]) -> Fraction:
    """Return the width of a plain view whose samples are as close as the closest of this one."""
    least = width / Fraction(max(view.stretch, 1 / view.stretch))
    if view.projection == "plane":
        return least
    mantissa, exponent = power_parts(-turn_of(size) * size[1])
    return least * Fraction(math.pi * mantissa) * Fraction(2) ** exponent


def turn_of(size: tuple[int, int]) -> float:
    """Return the binary logarithm by which the radius shrinks from a row of pixels to the next."""
    return 2 * math.pi / size[0] / math.log(2)


def power_parts(logarithm: float) -> tuple[float, int]:
    """Return 2**logarithm as a mantissa from 1 to 2, and an exponent."""
    exponent = math.floor(logarithm)
    return 2.0 ** (logarithm - exponent), exponent


# The keys in which two scenes differ.


# Raw numbers do not depend on these.
COLORS = ("version", *SAID, "color", "relief", "camera", "light", "develop", "film")
PICTURE = ("bits", "dpi", "compression")


def differences(first: Scene, second: Scene) -> list[str]:
    """Return the keys that make the raw numbers of two scenes differ.

    >>> differences(Scene(), Scene().replace(zoom="1.0", max_iterations=50, palette="ember"))
    ['iteration.max_iterations']
    """
    one, two = _facts(first), _facts(second)
    return [key for key in {**one, **two} if one.get(key) != two.get(key)]


def _facts(scene: Scene) -> dict[str, Any]:
    table = {key: value for key, value in scene.to_table().items() if key not in COLORS}
    facts: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and name != "formula":
            facts |= {f"{name}.{key}": value for key, value in value.items()}
        else:
            facts[name] = value
    for key in PICTURE:
        facts.pop(f"image.{key}", None)
    formula = scene.make_formula()
    width, center = place_of(scene)
    for key in ("view.zoom", "view.frame"):  # which can say the same as a width
        facts.pop(key, None)
    if scene.julia:
        facts["julia"] = tuple(Decimal(part) for part in scene.julia)
    precision = scene.iteration.precision
    if precision == "auto" and formula.perturbed is not None:  # it never takes another
        precision = "float64"
    return facts | {
        "formula": formula.label,
        "view.center": center,
        "view.width": width,
        "iteration.precision": precision,
    }

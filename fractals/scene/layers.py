"""The layers of a scene, resolved: their colorings, and what they need of the iteration."""

from collections.abc import Collection
from dataclasses import dataclass

from fractals import catalog
from fractals.errors import OptionError
from fractals.kernels.coloring import Coloring, short
from fractals.kernels.formula import Formula
from fractals.kernels.statistics import INSIDE_TOO, Statistics
from fractals.scene.model import Scene
from fractals.scene.paint import Layer, Paint


@dataclass(frozen=True)
class ResolvedLayer:
    """A layer whose coloring is made, and whose "auto" values are replaced.

    Attributes
    ----------
    paint : Paint
        The layer as the scene has it.
    coloring : Coloring
    side : str
        The samples that the layer colors: "escaped", "inside" or "both".
    """

    paint: Paint
    coloring: Coloring
    side: str

    @property
    def blend(self) -> str:
        """Return how the layer is blended over the layers below."""
        blend = self.paint.blend if isinstance(self.paint, Layer) else "normal"
        return self.coloring.blend if blend == "auto" else blend

    @property
    def opacity(self) -> float:
        """Return the opacity, from 0 to 1."""
        return self.paint.opacity if isinstance(self.paint, Layer) else 1.0

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
        return f"compute them with --coloring {self.label}"


@dataclass(frozen=True)
class Layers:
    """All layers, from the bottom to the top."""

    drawn: tuple[ResolvedLayer, ...]
    statistics: Statistics
    note: str = ""  # one line for the user, or nothing

    @property
    def derivative(self) -> bool:
        """Tell whether a layer needs dz."""
        return any(layer.coloring.derivative for layer in self.drawn)

    @property
    def whole(self) -> bool:
        """Tell whether a layer's colors depend on all samples of the picture (histogram, rank)."""
        return any(layer.coloring.rank_table for layer in self.drawn)

    def lacking(self, kept: Collection[str]) -> tuple[ResolvedLayer, list[str]] | None:
        """Return the first layer that needs planes other than those kept, and their names."""
        for layer in self.drawn:
            if absent := [name for name in layer.needs if not kept_as(name, kept)]:
                return layer, absent
        return None

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

    Raises
    ------
    OptionError
        The coloring has no meaning for orbits of the formula, or for Julia sets.
    """
    converges = formula.tolerance > 0
    if coloring.converging and (converges or formula.coloring):
        name = formula.coloring or coloring.converging
        other: Coloring = catalog.load("coloring", name)().choose({})
        return other
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
    return coloring


def make_layers(scene: Scene) -> Layers:
    """Return the resolved layers of a scene, from the bottom to the top."""
    drawn = []
    formula = scene.make_formula()
    paints: list[Paint] = [scene.color, *scene.color.layers]
    for paint in paints:
        coloring = fitting(paint.coloring.make(), formula, scene.julia is not None)
        side = {"all": "both", "auto": coloring.side}.get(paint.mask, paint.mask)
        drawn.append(ResolvedLayer(paint, coloring, side))
    inside = any(layer.side != "escaped" and layer.coloring.statistic for layer in drawn)
    statistics = Statistics.of(tuple(layer.coloring for layer in drawn), inside)
    bands = formula.degree < 2 and any(layer.coloring.converging for layer in drawn)
    note = f"the formula '{formula.name}' has no degree: counts are drawn, not smooth ones"
    return Layers(tuple(drawn), statistics, note if bands else "")

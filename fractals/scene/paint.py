"""Paint, Layer and Color: the keys of a scene that turn raw numbers into colors."""

import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from fractals import catalog
from fractals.color import gradient, palette, trap_image
from fractals.color.palette import Palette
from fractals.errors import InputError, to_install, typed
from fractals.kernels.coloring import Coloring
from fractals.scene.checks import After, Before, CommandHelp, Dumped, Either, JsonSchema, entry
from fractals.scene.numbers import plain
from fractals.scene.picture import ColorText, View
from fractals.scene.table import Table, make_once

MAX_LAYERS = 16  # of a scene, those of groups counted
MAX_NESTING = 4  # groups in one another; each has a buffer of all samples of a tile
TOO_DEEP = f"groups lie in one another, and {MAX_NESTING} deep is the most"
Blend = Literal[
    "auto",
    "normal",
    "multiply",
    "screen",
    "overlay",
    "soft_light",
    "hard_light",
    "add",
    "darken",
    "lighten",
    "difference",
    "exclusion",
]

BLENDS: dict[Blend, str] = {  # all but "auto": what a layer does to the layers below, in words
    "normal": "the layer covers what is below",
    "multiply": "both darken each other, as two slides on one another",
    "screen": "both lighten each other, as two projectors on one wall",
    "overlay": "dark places darken, light ones lighten: more contrast, by what is below",
    "soft_light": "the same, gently, by the layer: as a lamp that shines on the picture",
    "hard_light": "the same, strongly, by the layer",
    "add": "the sum of both, for what shines",
    "darken": "the darker of both, in each channel",
    "lighten": "the lighter of both, in each channel",
    "difference": "how far both are apart: white inverts",
    "exclusion": "as difference, with less contrast",
}


def plain_name(named: Any) -> Any:
    """Return a formula or coloring as a name, or as a table if it has options."""
    return named.model_dump() if named.model_extra else named.name


def _listed(text: str) -> list[str]:
    """Return the colors of a text such as "#102030,#e07020"; none of another text."""
    colors = [part.strip() for part in text.split(",")]
    try:
        for color in colors:
            palette.parse_color(color)
    except InputError:
        if text.startswith("#"):
            raise
        return []
    return colors


def _no_palette(name: str) -> ValueError:
    hint = "; fractals.names('formats') shows which files hold one" if "." in name else ""
    if not hint and importlib.util.find_spec("cmap") is None:
        hint = f"; hundreds more with {to_install('palettes')}"
    return ValueError(f"{catalog.unknown('palette', name)}{hint}")


def _palette(given: Any) -> Any:
    if isinstance(given, str) and "," in given and (colors := _listed(given)):
        return palette.parse({"stops": colors})
    if isinstance(given, str) and not (given == "auto" or catalog.has("palette", given)):
        raise _no_palette(given)
    if isinstance(given, str | Palette):
        return given
    if found := gradient.palette_of(given):
        return found
    return palette.parse(plain(given) if isinstance(given, Mapping) else {"stops": plain(given)})


def plain_palette(given: str | Palette) -> Any:
    """Return a palette as a name or a table."""
    return given if isinstance(given, str) else given.to_table()


PaletteValue = Annotated[
    str | Palette,
    Before(_palette),
    Dumped(plain_palette),
    JsonSchema({"type": ["string", "array", "object"], "description": "a name, a file, or stops"}),
]


class ColoringName(Table):
    """A coloring of the catalog, with its options."""

    is_open = True
    name: str = "smooth"

    def check(self) -> None:
        """Raise an error for an unknown name or option."""
        self.make()

    def make(self) -> Coloring:
        """Return the coloring itself, the same object for the same name and options."""
        make = catalog.load("coloring", self.name)
        options = self.model_extra or {}
        coloring: Coloring = make_once(self, make, lambda: make().choose(options))
        return coloring


def _coloring(given: Any) -> Any:
    if isinstance(given, str):
        return {"name": given}
    if isinstance(given, Mapping):
        picture = given.get("picture")
        if isinstance(picture, str):
            trap_image.check(picture)
        return plain(given)
    if not isinstance(given, ColoringName):
        raise ValueError(f"{typed(given)} is neither a name nor a table with a name")
    return given


class Paint(Table):
    """A coloring, and the colors of its values."""

    coloring: Annotated[
        ColoringName,
        Before(_coloring),
        Dumped(plain_name),
        CommandHelp("coloring, such as smooth or stripe_average,density=7"),
        JsonSchema({"type": ["string", "object"], "description": "a name, or {name, options}"}),
    ] = ColoringName()
    palette: Annotated[
        PaletteValue,
        CommandHelp("palette: a name, colors as in '#102030,#e07020', cmap:NAME, or FILE[#ENTRY]"),
    ] = "auto"
    transfer: Literal["auto", "linear", "sqrt", "cbrt", "log", "atan"] = entry(
        default="auto",
        description="curve from values v to the palette: auto, linear, sqrt, cbrt, "
        "log (log2(1 + v)) or atan",
    )
    density: float = entry(
        default=1.0,
        ge=-1e6,
        le=1e6,
        description="turns of the palette per unit of the transferred value",
    )
    offset: float = entry(
        default=0.0, ge=-1e6, le=1e6, description="shift of the palette, in turns"
    )
    mask: Literal["auto", "escaped", "inside", "all"] = entry(
        default="auto",
        rare=True,
        description="samples to draw; auto: those for which the coloring is made",
    )
    range: tuple[float, float] | None = entry(
        default=None,
        description="values to draw; others are transparent. Of a solid: the traps that have the "
        "palette's ends, in place of those in view",
    )

    def check(self) -> None:
        """Raise a `ValueError` for a paint of which nothing is seen."""
        coloring = self.coloring.make()
        wanted = {"all": "both", "auto": coloring.side}.get(self.mask, self.mask)
        if coloring.side not in ("both", wanted):
            lacking = "escaped" if coloring.side == "inside" else "did not escape"
            raise ValueError(f"the coloring '{coloring.name}' has no value where orbits {lacking}")
        if self.range and not self.range[0] < self.range[1]:
            raise ValueError(f"the range {list(self.range)} is empty: its first value is less")

    def make_palette(self) -> Palette:
        """Return the palette itself."""
        if isinstance(self.palette, Palette):
            return self.palette
        if self.palette != "auto":
            return palette.load(self.palette)
        coloring = self.coloring.make()
        if coloring.make_palette:
            own: Palette = coloring.make_palette(**coloring.settings)
            return own
        return palette.load(coloring.palette)


def _mask(given: Any) -> Any:
    return {"picture": given} if isinstance(given, str) else given


class PictureMask(Table):
    """A picture whose brightness says how much of a layer is drawn: black nothing, white all."""

    picture: Annotated[str, After(trap_image.check)] = entry(
        description="a .png, .jpg or .webp, of which 512x512 pixels are kept; transparent is black",
    )
    view: View | None = entry(
        default=None,
        description="place of the picture in the plane, where its edges go on; without it the "
        "picture is stretched over the frame",
    )

    def check(self) -> None:
        """Raise a `ValueError` for a view without a place."""
        view = self.view
        if view and (view.center is None or view.width is None or view.projection != "plane"):
            raise ValueError("the view of a mask has a center and a width, in the projection plane")


class Over(Table):
    """How a layer, or a group of layers, is blended over what is below."""

    blend: Blend = entry(
        default="auto", description="blend mode; auto: the coloring's own, of a group normal"
    )
    opacity: float = entry(1.0, ge=0, le=1, description="0: invisible, 1: opaque")
    picture_mask: Annotated[PictureMask | None, Before(_mask)] = entry(
        default=None, description="picture whose brightness says how much is drawn, or a table"
    )


class Layer(Over, Paint):
    """A paint that is blended over the layers below, in sRGB values, as CSS does."""


def _is_group(given: Any) -> bool:
    return isinstance(given, LayerGroup) or (isinstance(given, Mapping) and "layers" in given)


def nested_deeper(color: Any, depth: int) -> bool:
    """Tell whether groups lie in one another deeper than this, the table of colors counted."""
    if not isinstance(color, Mapping) or "layers" not in color:
        return False
    layers = color["layers"] if isinstance(color["layers"], list | tuple) else ()
    return depth == 0 or any(nested_deeper(layer, depth - 1) for layer in layers)


def _shallow(given: Any) -> Any:
    """Return a layer or a group, whose own layers are checked by functions that call themselves."""
    if nested_deeper(given, MAX_NESTING):
        raise ValueError(TOO_DEEP)
    return given


class LayerGroup(Over):
    """Layers, and groups, that are blended with each other, and then as one over what is below."""

    layers: "tuple[LayerOrGroup, ...]" = entry(
        min_length=1, max_length=MAX_LAYERS, description="of the group, from the bottom to the top"
    )


LayerOrGroup = Annotated[Layer | LayerGroup, Either(_is_group), Before(_shallow)]
LayerGroup.model_fields["layers"].belong("layers", tuple[LayerOrGroup, ...], False)


def paints_of(layers: Iterable[Layer | LayerGroup]) -> Iterator[Layer]:
    """Yield layers, and those of groups, from the bottom to the top."""
    for each in layers:
        if isinstance(each, LayerGroup):
            yield from paints_of(each.layers)
        else:
            yield each


def _nesting(layers: Iterable[Layer | LayerGroup]) -> int:
    """Return how many groups lie in one another."""
    groups = [each for each in layers if isinstance(each, LayerGroup)]
    return max((1 + _nesting(group.layers) for group in groups), default=0)


class Color(Paint):
    """How raw numbers become colors: the first layer, and the layers over it."""

    inside: ColorText = entry(
        default="#000000",
        description="color of the points inside the set: '#rrggbb', or a name of CSS such as navy",
    )
    layers: tuple[LayerOrGroup, ...] = entry(
        default=(),
        rare=True,
        max_length=MAX_LAYERS,
        description="from the bottom to the top; one that has layers is a group",
    )

    @property
    def paints(self) -> tuple[Paint, ...]:
        """Return the first layer, and those over it, also of groups, from the bottom to the top."""
        return (self, *paints_of(self.layers))

    def check(self) -> None:
        """Raise a `ValueError` for too many layers, or groups in one another."""
        super().check()
        if (count := len(self.paints) - 1) > MAX_LAYERS:
            raise ValueError(f"{count} layers with those of groups, and {MAX_LAYERS} are the most")
        if self.layers and _nesting(self.layers) > MAX_NESTING:
            raise ValueError(TOO_DEEP)

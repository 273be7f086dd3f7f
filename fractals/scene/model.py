"""View and Scene: what to draw. Frozen values, written as TOML and JSON."""

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from fractals import catalog
from fractals.errors import FractalsError, OptionError, SceneError, listed, shown, typed
from fractals.kernels.formula import AnyFormula, Formula
from fractals.meant import no_attribute
from fractals.scene.checks import After, Before, CommandHelp, JsonSchema, entry
from fractals.scene.film import FilmSettings
from fractals.scene.keywords import SceneKeywords, SceneTables
from fractals.scene.numbers import check_floats, decimal_text, plain
from fractals.scene.paint import (
    MAX_LAYERS,
    MAX_NESTING,
    TOO_DEEP,
    Color,
    nested_deeper,
    plain_name,
)
from fractals.scene.picture import (
    SCALES,
    Develop,
    ImageSettings,
    Point,
    View,
    check_scales,
    exposed_as_before,
)
from fractals.scene.scatter import Display, Scatter
from fractals.scene.space import Camera, Light, Relief
from fractals.scene.table import Table, about_of, explained, make_once


def folded_html(title: str, text: str) -> str:
    """Return HTML of a title that unfolds to a text."""
    import html

    return (
        f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"
    )


VERSION = 1  # of the scene format; raised when an older program would misread a newer scene
MAX_ITERATIONS = 2_000_000_000  # counts are int32

FINEST = 4  # samples of the best picture of escape time, along each side of a pixel

MAX_JULIA = 30  # decimal exponent of c, as of a center; every orbit escapes at once from 1e9 on
MAX_KEYS = 100  # of a table
NAMED = 8  # formulas that a message names

NAME = re.compile(r"\w+", re.ASCII)  # of a formula; another text is an expression

# Lists that a person would write on one line: of two values, and of up to twelve numbers
PAIR = re.compile(r"\[\n +([^\n]+),\n +([^\n]+),\n *\]")
NUMBERS = re.compile(r"\[\n((?: +[\w.+-]+,\n){3,12}) *\]")


def _near(point: tuple[str, str]) -> tuple[str, str]:
    for text in point:
        if Decimal(text).adjusted() >= MAX_JULIA:
            raise ValueError(f"'{shown(text, 40)}' is beyond 1e{MAX_JULIA}")
    return point


def _formula_name(name: str) -> str:
    catalog.load_formula(name)  # an unknown name is an error
    return name


def _limit(given: Any) -> Any:
    try:
        number = Decimal(decimal_text(given)) if given != "auto" else Decimal(1)
    except ValueError:
        number = Decimal(0)
    # the range first: the remainder of a number of more digits than a Decimal keeps is an error
    if not 1 <= number <= MAX_ITERATIONS or number % 1:
        raise ValueError(
            f"'{shown(given, 40)}' is not 'auto' or a whole number from 1 to {MAX_ITERATIONS}"
        )
    return given if given == "auto" else int(number)


STATEMENT = re.compile(r"\s*[A-Za-z_]\w*\s*=(?!=)", re.ASCII)
# One statement that sets z, and reads none of the other numbers of a point and its place in space
PLANE_STEP = re.compile(r"\s*z\s*=(?!=)((?:(?!\b[xyab]\b)[^;=])+)", re.ASCII)


class FormulaName(Table):
    """A formula of the catalog, with its options."""

    is_open = True
    name: Annotated[str, After(_formula_name)] = "mandelbrot"

    def check(self) -> None:
        """Raise an error for an unknown option."""
        if self.model_extra:
            check_floats(self.model_extra)
        self.make()

    def make(self) -> AnyFormula:
        """Return the formula itself, the same object for the same name and options."""
        make = catalog.load_formula(self.name)
        made: AnyFormula = make_once(self, make, self._made)
        return made

    def _made(self) -> AnyFormula:
        make = catalog.load_formula(self.name)
        try:
            formula: AnyFormula = make(**(self.model_extra or {}))
        except TypeError as error:
            meant = inspect.signature(make).parameters
            given = self.model_extra or {}
            # An expression names what it does not read: other options without a default are read
            unknown = error.args[1:] or [key for key in given if key not in meant] or given
            options = ", ".join(f"'{key}'" for key in unknown)
            kinds = {key: each.kind for key, each in meant.items()}
            own = [key for key, kind in kinds.items() if kind is not inspect.Parameter.VAR_KEYWORD]
            known = ", ".join(f"'{key}'" for key in own) or "none"
            others = self._with_options()
            more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
            hint = f"; it is an option of {', '.join(others[:NAMED])}{more}" if others else ""
            raise ValueError(
                f"{self.name}: unknown option {options}; known options: {known}{hint}"
            ) from None
        return formula

    def _with_options(self) -> list[str]:
        """Return the formulas that have all options of this one, those of the table last."""
        given = (self.model_extra or {}).keys()
        makers = {name: catalog.load("formula", name) for name in catalog.names("formula")}
        found = [
            name
            for name, make in makers.items()
            if given <= inspect.signature(make).parameters.keys()
        ]
        return sorted(found, key=lambda name: makers[name].__module__ in catalog.TABLES.values())


def table_of_text(text: str) -> dict[str, str]:
    """Return the table of a user's own text; ``z = z^2 + c`` is a map of the plane, as in books."""
    step = found[1].strip() if (found := PLANE_STEP.fullmatch(text)) else text
    return {"name": expression_name(step), "step": step}


def expression_name(text: str) -> str:
    """Return which formula reads a user's own text: statements give a solid its next point."""
    return "solid_expression" if STATEMENT.match(text) else "expression"


def _text_of_formula(given: str) -> dict[str, str]:
    """Return the table of a formula's name in other words, or of an expression."""
    if given.endswith(".py"):
        raise _file_of_formula(given)
    folded = given.strip().lower().replace("-", "_").replace(" ", "_")
    if NAME.fullmatch(folded) and any(catalog.has(kind, folded) for kind in catalog.FORMULAS):
        return {"name": folded}
    first = given.partition(",")[0]
    if any(catalog.has(kind, first) for kind in catalog.FORMULAS):
        return {"name": given}  # the error says where options belong
    return table_of_text(given)


def _formula(given: Any) -> Any:
    if isinstance(given, str):
        return {"name": given} if NAME.fullmatch(given) else _text_of_formula(given)
    if not isinstance(given, Mapping | FormulaName | AnyFormula):
        raise _no_formula(given)
    if isinstance(given, Mapping) and "name" not in given and isinstance(given.get("step"), str):
        return {"name": expression_name(given["step"]), **plain(given)}
    return plain(given)


def _no_formula(given: Any) -> ValueError:
    """Return the error of what is no formula."""
    if isinstance(given, os.PathLike):
        return _file_of_formula(os.fspath(given))
    hint = "; give an expression such as 'z**3 + c', or fractals.load_formula('FILE.py')"
    return ValueError(
        f"{typed(given)} is neither a name nor a table with a name" + hint * callable(given)
    )


def _file_of_formula(path: str) -> ValueError:
    return ValueError(
        f"a Python file is loaded by formula=fractals.load_formula({typed(path, 80)})"
    )


class Iteration(Table):
    """When iterating ends: after how many steps, and at which |z|."""

    max_iterations: Annotated[int | Literal["auto"], Before(_limit)] = entry(
        default="auto",
        description="maximum iterations per sample, such as 1e6: a count that reaches it means "
        "inside; auto: found for the view",
    )
    escape_radius: float = entry(
        default=256.0,
        ge=2,
        le=1e9,
        description="radius beyond which an orbit has escaped, 2 or more",
    )
    precision: Literal["auto", "float64", "float32", "double-double"] = entry(
        default="auto",
        description="number type: auto (float64, or double-double where a formula without a "
        "perturbed step needs more digits; for flames and attractors float32 where that has "
        "enough), float64, double-double, or float32, which is for wide views only",
    )

    @property
    def number_type(self) -> str:
        """Return the type of single numbers: a double-double number is made of two float64."""
        return "float32" if self.precision == "float32" else "float64"


class Scene(Table):
    """What to draw; every key has a default.

    Examples
    --------
    >>> Scene().replace(size=(64, 48), palette="ember").image.size
    (64, 48)
    """

    version: Literal[1] = entry(1, description="of the format of scenes")
    title: str = entry(
        default="", max_length=1000, description="title of the picture, written into its file"
    )
    author: str = entry(
        default="", max_length=1000, description="author of the picture, written into its file"
    )
    rights: str = entry(
        default="",
        max_length=1000,
        description="rights of the picture, written into its file: '© 2027 Ana Ferreira'",
    )
    note: str = entry("", max_length=10_000, description="about the scene")
    formula: Annotated[
        FormulaName | AnyFormula,
        Before(_formula),
        CommandHelp(
            "formula: a name such as multibrot,power=4, an expression such as 'z**3 + c' or "
            "'z**2 + k*c,k=0.3', or a Python file, which is run"
        ),
        JsonSchema({"type": ["string", "object"], "description": "a name, or {name, options}"}),
    ] = FormulaName()
    julia: Annotated[Point, After(_near)] | None = entry(
        default=None, description="draw the Julia set of c = X + iY"
    )
    view: View = View()
    image: ImageSettings = ImageSettings()
    iteration: Iteration = Iteration()
    color: Color = Color()
    scatter: Scatter = entry(Scatter(), rare=True)
    display: Display = entry(Display(), rare=True)
    relief: Relief = entry(Relief(), rare=True)
    camera: Camera = entry(Camera(), rare=True)
    light: Light = entry(Light(), rare=True)
    develop: Develop = entry(Develop(), rare=True)
    film: FilmSettings | None = entry(
        default=None, description="how the scene moves: see fractals film"
    )

    if TYPE_CHECKING:  # what it is made of: validators turn this into the types above

        def __init__(self, **tables: Unpack[SceneTables]) -> None: ...

    def _fill(self, given: Mapping[str, Any]) -> None:
        super()._fill(exposed_as_before(given) if "light" in given else given)
        vars(self)["view"] = self.view.fitted(self.image.size)

    if not TYPE_CHECKING:  # checkers know which attributes there are

        def __getattr__(self, name: str) -> Any:
            if name.startswith(("_", "model_")):
                return super().__getattr__(name)
            if table := next((t for t, m in TABLES.items() if name in m.model_fields), ""):
                raise AttributeError(
                    f"'Scene' object has no attribute '{name}'; it is scene.{table}.{name}, and "
                    f"scene.replace({name}=...) returns a scene with another"
                )
            raise no_attribute("Scene", "'Scene' object", name, (*Scene.model_fields, *vars(Scene)))

    def __repr__(self) -> str:
        facts = {
            "title": self.title,
            "formula": self.formula.name,
            "width": self.view.width,
            "zoom": self.view.zoom,
        }
        return f"Scene({', '.join(f'{key}={value!r}' for key, value in facts.items() if value)})"

    __str__ = __repr__

    def replace(self, **changes: Unpack[SceneKeywords]) -> "Scene":
        """Return a scene with some keys changed.

        Parameters
        ----------
        **changes
            Keys without their table, such as ``size``, ``palette`` or ``center``. Of a width, a
            zoom and a frame the new one replaces the old one. A ``supersampling`` replaces a
            quality in words, of an image of escape time.

        Returns
        -------
        Scene
            A new scene; this one is unchanged.

        Raises
        ------
        OptionError
            No key has this name.
        SceneError
            A value is invalid; all errors are reported at once.
        """
        check_scales(changes)
        counted = "supersampling" in changes and "quality" not in changes
        table = (self.in_samples() if counted else self).to_values()
        for key, value in changes.items():
            table = merge(table, nest(key, value))
        return validate(table)

    def unframed(self) -> "Scene":
        """Return the scene as it is drawn: with the width in place of a frame."""
        if self.view.frame is None:
            return self
        view = self.view.fitted(self.image.size).model_copy(update={"frame": None})
        return self.model_copy(update={"view": view})

    def in_samples(self) -> "Scene":
        """Return a scene of escape time with samples in place of a quality in words.

        Such a picture has no noise: a draft has one sample a pixel, and the best 4x4 at least. That
        of a relief is in its light. A scene of another family is returned as it is.
        """
        word = self.scatter.quality
        if word not in ("draft", "best") or self.relief.heights != "none":
            return self
        return self._in_samples(word) if isinstance(self.make_any_formula(), Formula) else self

    def _in_samples(self, word: str) -> "Scene":
        """Return the scene with the samples of a draft, or of the best picture."""
        samples = 1 if word == "draft" else max(self.image.supersampling, FINEST)
        image = self.image.model_copy(update={"supersampling": samples})
        scatter = self.scatter.model_copy(update={"quality": "good"})
        return self.model_copy(update={"image": image, "scatter": scatter})

    @property
    def is_developed(self) -> bool:
        """Tell whether a picture is more than its light, cut off at white.

        `OptionError`: an image of its family can't be developed so.
        """
        if self.develop.denoise and self.family != "solid":
            raise OptionError("denoise=True is for solids, whose light has noise: leave it out")
        return self.image.hdr or self.develop.changes(self.family)

    @property
    def family(self) -> str:
        """Return the name of the family of images: that of the formula, or "relief"."""
        formula = self.make_any_formula()
        return formula.family if self.relief.heights == "none" else _family_of_relief(formula)

    def make_any_formula(self) -> AnyFormula:
        """Return the formula of any family, the same object for the same name and options."""
        return self.formula if isinstance(self.formula, AnyFormula) else self.formula.make()

    def make_formula(self) -> Formula:
        """Return the escape-time formula, the same object for the same name and options.

        Raises
        ------
        OptionError
            The formula is of another family of images.
        """
        formula = self.make_any_formula()
        if not isinstance(formula, Formula):
            raise _of_other_family(formula)
        return formula

    def to_table(self) -> dict[str, Any]:
        """Return plain values, without the keys that have none.

        Raises
        ------
        SceneError
            The formula is a `Formula` object, which has no name to write.
        """
        if isinstance(self.formula, AnyFormula):
            raise _unsaved(self.formula)
        return self.to_values()

    def to_values(self) -> dict[str, Any]:
        """Return plain values, except for a `Formula` object."""
        table = self.model_dump(
            mode="json", exclude_none=True, exclude_rare=True, exclude={"formula"}
        )
        if self.view.frame is not None:
            del table["view"]["width"]  # which follows
        own = isinstance(self.formula, AnyFormula)
        named = self.formula if own else plain_name(self.formula)
        if isinstance(named, dict) and set(named) == {"name", "step"}:  # a user's own expression
            named = named["step"] if not NAME.fullmatch(named["step"]) else named
        return {**table, "formula": named}

    def _repr_html_(self) -> str:
        try:
            text = self.to_toml()
        except SceneError as error:  # a Formula object has no name
            text = f"# {error}"
        return folded_html(self.title or "scene", text)

    def to_json(self) -> str:
        """Return the scene as JSON."""
        return json.dumps(self.to_table(), ensure_ascii=False)

    def to_toml(self) -> str:
        """Return the scene as TOML."""
        return toml_text(self.to_table())


def _of_other_family(formula: AnyFormula) -> OptionError:
    return OptionError(
        f"this is for escape-time formulas, and '{formula.name}' makes images of another "
        f"family, {formula.family}: fractals.render() draws it",
        code="of_another_family",
    )


def _unsaved(formula: AnyFormula) -> SceneError:
    return SceneError(
        f"the formula '{formula.name}' is a function of yours: a scene can be saved "
        "with a formula of the catalog (fractals.names('formulas')) or an expression"
    )


def _family_of_relief(formula: AnyFormula) -> str:
    if formula.family != "escape":
        raise OptionError(
            f"a relief is made of an escape-time formula, and '{formula.name}' is of the family "
            f"'{formula.family}': leave heights= out"
        )
    return "relief"


def painted(color: Any, depth: int = MAX_NESTING + 1) -> Iterator[Any]:
    """Yield the table of colors, and the tables of its layers and groups, as far as they are."""
    if isinstance(color, Mapping):
        yield color
        layers = color.get("layers") if depth else ()
        for layer in layers if isinstance(layers, list | tuple) else ():
            yield from painted(layer, depth - 1)


def toml_text(table: Mapping[str, Any]) -> str:
    """Return plain values as TOML, with pairs and short lists of numbers on one line."""
    import tomli_w

    text = PAIR.sub(r"[\1, \2]", tomli_w.dumps(table))
    return NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())[:-1]}]", text)


TABLES: dict[str, type[Table]] = {
    "view": View,
    "image": ImageSettings,
    "iteration": Iteration,
    "color": Color,
    "scatter": Scatter,
    "display": Display,
    "relief": Relief,
    "camera": Camera,
    "light": Light,
    "develop": Develop,
}


def no_scene(given: Any) -> OptionError:
    """Return the error of a value that is no scene."""
    return OptionError(f"{typed(given, 60)} is no Scene: give fractals.load_scene(...)")


def nest(key: str, value: Any) -> dict[str, Any]:
    """Return the table in which `key`, named without its table, has this value.

    >>> nest("palette", "ember")
    {'color': {'palette': 'ember'}}
    """
    if key in Scene.model_fields:
        return {key: value}
    for table, model in TABLES.items():
        if key in model.model_fields:
            return {table: {key: value}}
    known = [*Scene.model_fields, *(key for model in TABLES.values() for key in model.model_fields)]
    raise OptionError(f"a scene has no key '{key}'{catalog.did_you_mean(key, known)}")


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return `first` with the keys of `second`, table by table.

    A width, zoom or frame of `second` replaces those of `first`.
    """
    merged = dict(first)
    for key, value in second.items():
        old = merged.get(key)
        if key in TABLES and isinstance(value, Mapping) and isinstance(old, Mapping):
            kept = dict(old)
            if any(value.get(scale) is not None for scale in SCALES):
                kept = {k: v for k, v in kept.items() if k not in SCALES}
            merged[key] = {**kept, **value}
        else:
            merged[key] = value
    return merged


def validate(table: Mapping[str, Any], *origins: Any) -> Scene:
    """Return the scene of a table, or raise one `SceneError` that lists all invalid values.

    `origins`: the files or the names that the table comes from, for the message.
    """
    try:
        if many := _overfull(table):
            raise SceneError(many)
        return Scene.checked(table)
    except (ValueError, FractalsError) as error:
        raise _invalid(table, error, origins) from None


def _invalid(
    table: Mapping[str, Any], error: ValueError | FractalsError, origins: tuple[Any, ...]
) -> SceneError:
    """Return the error that lists the invalid values of a table."""
    version, about = table.get("version", VERSION), {}
    if isinstance(version, int) and version > VERSION:
        lines = [
            f"a scene of version {shown(version, 40)}, and this program reads up to {VERSION}: "
            "take a newer fractals"
        ]
    elif isinstance(error, ValueError):
        lines, about = listed(explained(error, Scene)), about_of(error)
    else:
        lines = [str(error)]
    prefix = ", ".join(shown(name, 300) for name in origins) + ": " * bool(origins)
    return SceneError("\n".join(prefix + line for line in lines), **about)


def _overfull(table: Mapping[str, Any]) -> str:
    """Say which table has more keys or layers than errors can be listed for; "" if none has."""
    layers = list(painted(table.get("color")))[1:]
    if (count := sum("layers" not in layer for layer in layers)) > MAX_LAYERS:
        return f"color.layers: {count} layers, and {MAX_LAYERS} are the most"
    if layers and nested_deeper(table.get("color"), MAX_NESTING + 1):
        return f"color.layers: {TOO_DEEP}"
    parts = dict(table)
    parts |= {f"color.layers.{k}": layer for k, layer in enumerate(layers)}
    for name, part in [("the scene", table), *parts.items()]:
        if isinstance(part, Mapping) and len(part) > MAX_KEYS:
            return f"{shown(name)}: {len(part)} keys, and {MAX_KEYS} are the most"
    return ""

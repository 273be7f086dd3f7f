"""Facts of a site: what its page knows of formulas, colorings, palettes and scenes."""

import contextlib
import functools
from typing import Any

import numpy as np

from fractals import __version__, catalog
from fractals.color import palette
from fractals.errors import FractalsError
from fractals.explorer.pages import WRITTEN, catalog_table
from fractals.kernels.coloring import Coloring
from fractals.kernels.formula import Formula
from fractals.rendering import number_types, perturb, plan, precision
from fractals.rendering.probing import CHANGED, KEPT, LATE, LIMIT_SIZE, PROBE_SIZE, SCALES
from fractals.scene.geometry import fitting, make_layers
from fractals.scene.model import MAX_ITERATIONS, Scene, validate

SHOWN = 1000, 625  # pixels of a picture in which the page must tell samples apart
JULIA = "-0.1231", "0.7448"  # c of the Julia set for which a program is recorded
EVERYWHERE = "mandelbrot"  # the formula for which all colorings have programs
AVERAGED = "count"  # a coloring that needs nothing of the orbit
SLOPED = "slopes"  # one that needs dz
POWERS = {"multibrot": (4, 5, 6), "newton": (4, 5)}  # other options than the usual ones
OF_FORMULA = "'{formula}'"  # stands for a formula's name in lines that many of them share
Table = dict[str, Any]


@functools.cache
def formulas() -> dict[str, Formula]:
    """Return the formulas that a site can iterate, by name and options (`Formula.label`)."""
    found = [
        catalog.load_formula(name)() for name in catalog.names("formula") if name not in WRITTEN
    ]
    for name, powers in POWERS.items():
        found += [catalog.load_formula(name)(power=power) for power in powers]
    for name in catalog.names("gallery"):
        scene = validate(catalog.read("gallery", name))
        if scene.family == "escape" and _name_of(scene) not in WRITTEN:
            found.append(scene.make_formula())
    known = set(catalog.names("formula"))
    return {each.label: each for each in found if each.name in known}


def _name_of(scene: Scene) -> str:
    given = scene.to_table().get("formula", EVERYWHERE)
    return str(given["name"] if isinstance(given, dict) else given)


def why_not(scene: Scene) -> str:
    """Return why a site can't draw a scene, in words; or nothing."""
    if scene.family != "escape":
        return "it draws images of escape time only"
    if scene.is_developed or scene.image.hdr or scene.image.gamut != "srgb":
        return "it draws no glow, curves, grain or HDR"
    if scene.view.projection != "plane":
        return "it draws no exponential maps"
    if scene.make_formula().label not in formulas():
        return "it draws the built-in formulas only"
    if scene.image.antialias != "grid":
        return "it draws no jittered samples"
    try:
        planned = plan.make_plan(scene.replace(size=SHOWN))
    except FractalsError as error:
        return str(error)
    if planned.doubled:
        return "its numbers do not tell places so near apart"
    if planned.layers.whole or planned.layers.groups:
        return "it draws no groups, masks or ranks"
    if any(
        layer.coloring.make_palette or "picture" in layer.coloring.options
        for layer in planned.layers.drawn
    ):
        return "it draws no pictures in orbits"
    return ""


def program_key(scene: Scene) -> str:
    """Return the name of the program that iterates a scene, among those of its formula.

    It holds j for a Julia set, d for the derivative, i for statistics inside, and the statistics.
    """
    layers = make_layers(scene)
    labels = dict.fromkeys(
        label_of(layer.coloring) for layer in layers.drawn if layer.coloring.statistic
    )
    kind = "j" if scene.julia else "p"
    kind += "d" * layers.derivative + "i" * layers.statistics.inside
    return ":".join([kind, *labels])


def program_names(scene: Scene) -> list[str]:
    """Return the names of the programs that draw a scene: one more where it is deep."""
    key, planned = program_key(scene), plan.make_plan(scene.replace(size=SHOWN))
    deep = [f"{'extended' if planned.extended else 'deep'} {key}"] * planned.deep
    return [key, *deep]


def label_of(coloring: Coloring) -> str:
    """Return a coloring's name and the settings that its statistic is compiled with."""
    settings = coloring.compiled_settings().items()
    return ",".join([coloring.name, *(f"{key}={value}" for key, value in settings)])


def scenes() -> dict[str, Table]:
    """Return the whole tables of the scenes of the gallery that a site can draw."""
    found = {}
    for name in catalog.names("gallery"):
        scene = validate(catalog.read("gallery", name))
        if not why_not(scene):
            found[name] = scene.to_table()
    return found


def variants(label: str, drawn: dict[str, Table]) -> dict[str, dict[str, Table]]:
    """Return the scenes for which programs of a formula are made, by file and by program.

    The file "" has those that most views need.
    """
    formula = formulas()[label]
    name = {"name": formula.name, **formula.parameters}
    base: dict[str, Table] = {}
    more: dict[str, Table] = {}
    usual = [{"coloring": AVERAGED}, {"coloring": SLOPED}, {"coloring": "smooth"}]
    others = [{"coloring": each} for each in catalog.names("coloring")] * (label == EVERYWHERE)
    for colors in usual + others:
        for julia in (False, True):
            table: Table = {"formula": name, "color": colors}
            _add(base if colors in usual else more, table | ({"julia": JULIA} if julia else {}))
    for table in drawn.values():
        scene = validate(table)
        if scene.make_formula().label == label:
            plain = {"formula": table["formula"], "color": table["color"]}
            _add(more, plain | ({"julia": table["julia"]} if scene.julia else {}))
    found = {"": base}
    for key, table in more.items():
        if key not in base:
            found.setdefault(key.partition(":")[2] or key, {})[key] = table
    return found


def deep_variants(found: dict[str, Table]) -> dict[str, Table]:
    """Return those of a file's scenes for which programs of deep views are made."""
    drawn = {}
    for key, table in found.items():
        scene = validate(table)
        if scene.make_formula().perturbed is None:
            return {}
        with contextlib.suppress(FractalsError):
            make_layers(scene).check_deep()
            drawn[key] = table
    return drawn


def _add(found: dict[str, Table], table: Table) -> None:
    """Add a scene by the name of its program, where a program can be made."""
    try:
        scene = validate(table)
        layers = make_layers(scene)
    except FractalsError:
        return
    if layers.whole or any(layer.coloring.name == "picture_trap" for layer in layers.drawn):
        return
    found.setdefault(program_key(scene), table)


def colorings() -> dict[str, Coloring]:
    """Return the colorings that a site can draw, by name."""
    made = {name: catalog.load("coloring", name)() for name in catalog.names("coloring")}
    return {
        name: each.choose({})
        for name, each in made.items()
        if not (each.rank_table or each.make_palette or name == "picture_trap")
    }


def _formula_facts(formula: Formula, refusals: list[str]) -> Table:
    """Return what the page knows of a formula; lines that refuse a coloring join `refusals`."""
    usual = catalog.load("coloring", "smooth")()
    replaced = fitting(usual, formula).name
    start, scale = formula.fraction_constants(Scene().iteration.escape_radius)
    refused: dict[str, int] = {}
    for julia in (False, True):
        for key, coloring in colorings().items():
            try:
                fitting(coloring, formula, julia)
            except FractalsError as error:
                line = str(error).replace(f"'{formula.name}'", OF_FORMULA)
                if line not in refusals:
                    refusals.append(line)
                refused.setdefault(key, refusals.index(line))
    return {
        "title": formula.title,
        "center": formula.center,
        "width": formula.width,
        "degree": formula.degree,
        "fraction": [start, scale],
        "tolerance": formula.tolerance,
        "escapes": formula.escapes,
        "maps": formula.maps,
        "usual": replaced,
        "replaces": bool(formula.tolerance > 0 or formula.coloring),
        "refused": refused,
        "name": formula.name,
        "parameters": dict(formula.parameters),
        "options": list(formula.options),
        "holomorphic": formula.holomorphic,
    }


def _coloring_facts(coloring: Coloring) -> Table:
    facts: Table = {
        key: getattr(coloring, key)
        for key in ("derivative", "transfer", "palette", "blend", "side", "counted", "converging")
    }
    statistic = coloring.statistic
    facts["planes"] = len(statistic.names) if statistic else 0
    facts["moves"] = bool(statistic and statistic.moves)
    facts["options"] = {key: option.default for key, option in coloring.options.items()}
    facts["parts"] = {key: option.part for key, option in coloring.options.items()}
    return facts


def color_programs() -> dict[str, tuple[str, str]]:
    """Return what `fractals.explorer.site.kernels.color_programs` takes."""
    found = {}
    for name, coloring in colorings().items():
        for side in ("escaped", "inside", "both") if coloring.side == "both" else (coloring.side,):
            found[f"{name} {side}"] = (name, side)
    return found


def facts(drawn: dict[str, Table], files: dict[str, dict[str, str]]) -> Table:
    """Return what the page's engine reads first.

    `files`: of each formula the file of each program.
    """
    refusals: list[str] = []
    return {
        "version": __version__,
        "refusals": refusals,
        "defaults": Scene().to_table(),
        "formulas": {
            name: _formula_facts(formula, refusals) | {"programs": files[name]}
            for name, formula in formulas().items()
            if name in files
        },
        "colorings": {name: _coloring_facts(each) for name, each in colorings().items()},
        "palettes": {name: palette.load(name).to_table() for name in catalog.names("palette")},
        "scenes": drawn,
        "spaces": {
            "lms": palette.LMS_FROM_LINEAR.tolist(),
            "lab": palette.LAB_FROM_ROOTS.tolist(),
            "roots": np.linalg.inv(palette.LAB_FROM_ROOTS).tolist(),
            "linear": np.linalg.inv(palette.LMS_FROM_LINEAR).tolist(),
            "entries": palette.ENTRIES,
            "levels": palette.LEVELS[8],
        },
        "probe": {
            "limitSize": LIMIT_SIZE,
            "size": PROBE_SIZE,
            "late": LATE,
            "kept": KEPT,
            "scales": list(SCALES.items()),
            "depths": [plan.SHALLOW, plan.DEEP],
            "most": MAX_ITERATIONS,
        },
        "bits": {
            "all": number_types.BITS["float64"],
            "exact": precision.MIN_SPACING_BITS,
            "far": precision.MAX_REACH,
            "least": number_types.MIN_SPARE_BITS,
            "spare": number_types.SPARE_BITS["float64"],
        },
        "deep": {
            "guard": plan.GUARD_BITS,
            "extended": plan.EXTENDED,
            "least": plan.MIN_LIMIT,
            "changed": CHANGED,
            "first": perturb.FIRST_LIMIT,
            "next": perturb.MIN_LIMIT,
            "patience": perturb.PATIENCE,
        },
    }


@functools.cache
def page_catalog() -> Table:
    """Return the catalog of the server, without what a site can't draw."""
    found = catalog_table()
    known, drawable, painted = formulas(), scenes(), colorings()
    keep = {
        "formulas": {formula.name for formula in known.values()},
        "scenes": set(drawable),
        "colorings": set(painted),
    }
    for key, names in keep.items():
        found[key] = [each for each in found[key] if each["name"] in names]
    found["variations"] = []
    return found

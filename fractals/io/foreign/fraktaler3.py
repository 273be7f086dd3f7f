"""Parameters of Fraktaler-3 (`.f3.toml`); what a file leaves out has its default.

The view is 4 / zoom high. A formula is flags and a power, or opcodes for a machine with one
register and a place to store it: ``absx absy sqr add`` is the Burning Ship.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fractals.errors import SceneError, shown
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._hybrid import Line, groups_of, is_symmetric, match_of
from fractals.io.foreign._view import (
    EXACT,
    FOLDS,
    ForeignView,
    FormulaMatch,
    folded,
    height_of,
    limit,
    negated,
    number,
    only_one,
    placed,
    positive,
    power_of,
    real,
    toml_of,
    turn,
    whole,
    zoom_of,
)
from fractals.scene.model import toml_text

TABLES = {"location", "bailout", "transform", "image"}
FLAGS = {"abs_x": "absx", "abs_y": "absy", "neg_x": "negx", "neg_y": "negy"}
SIZE = 1024, 576
MAX_OPCODES = 1000  # characters
MAX_STEPS, MAX_POWER = 8, 64
# Keys that concern how Fraktaler-3 computes, not what it draws.
TECHNICAL = {"program", "version", "reference", "algorithm", "newton", "opencl", "render"}


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a file of parameters."""
    only_one(entry)
    table = toml_of(data)
    location, bailout, transform, image = (
        section(table, key) for key in ("location", "bailout", "transform", "image")
    )
    across = whole(image.get("width", SIZE[0]), "image.width")
    down = whole(image.get("height", SIZE[1]), "image.height")
    if across < 1 or down < 1:
        raise SceneError(f"image: {across}x{down} is no size")
    place = ForeignView(
        center=(
            number(location.get("real", 0), "location.real"),
            number(location.get("imag", 0), "location.imag"),
        ),
        height=EXACT.divide(Decimal(4), positive(location.get("zoom", 1), "location.zoom")),
        up=transform.get("reflect", False) is False,
        angle=real(transform.get("rotate", 0), "transform.rotate"),
        size=(across, down),
    )
    scene, lost = placed(formula_of(table.get("formula", [])), place), list[str]()
    scene["iteration"] = {
        "max_iterations": limit(bailout.get("iterations", 1024), "bailout.iterations", lost),
        "escape_radius": max(2.0, real(bailout.get("escape_radius", 625), "bailout.escape_radius")),
    }
    if real(transform.get("stretch_amount", 0), "transform.stretch_amount"):
        lost.append("the stretched view (transform.stretch_amount)")
    if transform.get("exponential_map", False) is not False:
        raise SceneError("transform.exponential_map: that projection is unsupported")
    lost += [f"'{key[:80]}'" for key in table if key not in {*TABLES, *TECHNICAL, "formula"}]
    return Imported(scene, tuple(lost))


def section(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table of the file; an empty one where it is absent."""
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise SceneError(f"{key}: a table was expected, not '{shown(found, 40)}'")
    return found


def formula_of(given: Any) -> FormulaMatch:
    """Return the match of the formula in a file: a step, or several in turn."""
    if not isinstance(given, list) or not all(isinstance(step, dict) for step in given):
        raise SceneError("formula: a list of tables was expected")
    steps = [_folds_of(step) for step in given or [{}]]
    known = folded(*steps[0]) if len(steps) == 1 else None
    if known:
        return known
    if len(steps) > MAX_STEPS:
        raise SceneError(f"formula: {len(steps)} steps in turn, and {MAX_STEPS} are the most")
    groups: list[list[Line]] = []
    for before, power, after in steps:
        first: Line = (before, power, 1 + 0j), None, "+"
        groups.append([first, ((after, 1, 1 + 0j), None, "+")] if after else [first])
    return match_of(groups, [1] * len(groups), 0, "formula")


def _folds_of(step: Mapping[str, Any]) -> tuple[frozenset[str], int, frozenset[str]]:
    """Return what changes z before the power of a step, the power, and what changes it after."""
    before = {name for flag, name in FLAGS.items() if step.get(flag, False) is not False}
    after: set[str] = set()
    power = whole(step.get("power", 2), "formula.power")
    if step.get("opcodes"):
        before, power, after = parse_opcodes(shown(step["opcodes"], MAX_OPCODES))
    if not 2 <= power <= MAX_POWER:
        raise SceneError(f"formula.power: {power} is not from 2 to {MAX_POWER}")
    return frozenset(before), power, frozenset(after)


def parse_opcodes(text: str) -> tuple[set[str], int, set[str]]:
    """Return what changes z before a power is taken, the power, and what changes it afterwards.

    >>> parse_opcodes("store sqr mul absx add")
    (set(), 3, {'absx'})
    """
    before: set[str] = set()
    after: set[str] = set()
    power = stored = 1
    words = text.split()
    for word in words[:-1]:
        if word in FLAGS.values():
            (before if power == 1 else after).add(word)
        elif word == "store" and not after:
            stored = power
        elif word in ("sqr", "mul") and not after and power <= 8:
            power = 2 * power if word == "sqr" else power + stored
        else:
            break
    else:
        if words and words[-1] == "add":
            return before, power, after
    raise SceneError(f"formula.opcodes: '{text[:80]}' is unsupported")


def write(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the parameters of a whole scene's plain values, and what was lost.

    Where the picture of the formula is symmetric, a mirrored view is written as the conjugate one.
    """
    in_turn, kin = _steps(table["formula"])
    view, iteration = table["view"], table["iteration"]
    if table.get("julia"):
        raise SceneError("Fraktaler-3 has no Julia sets")
    if view["projection"] != "plane":
        raise SceneError("an exponential map is not written to a file of Fraktaler-3")
    lost = [f"the {key}" for key in ("title", "author", "note", "film") if table.get(key)]
    lost.append("the colors, which are a program in Fraktaler-3")
    if view["stretch"] != 1:
        lost.append("the stretched view")
    (x, y), height = height_of(table)
    conjugate = view["mirror"] and kin.conjugate
    across, down = table["image"]["size"]
    steps = iteration["max_iterations"]
    parameters = {
        "program": "fraktaler-3",
        "location": {
            "real": x,
            "imag": negated(y) if conjugate else y,
            "zoom": zoom_of(height, (across, down)),
        },
        "bailout": {
            "iterations": steps,
            "maximum_reference_iterations": steps,
            "maximum_perturb_iterations": steps,
            "escape_radius": iteration["escape_radius"],
        },
        "transform": {
            "reflect": view["mirror"] and not conjugate,
            "rotate": turn(-view["rotation"] if conjugate else view["rotation"]),
        },
        "image": {"width": across, "height": down},
        "formula": in_turn,
    }
    return toml_text(parameters).encode(), tuple(lost)


def _steps(formula: Any) -> tuple[list[dict[str, Any]], FormulaMatch]:
    """Return the steps of a formula, and its match."""
    unfolded = dict.fromkeys(FLAGS, False)
    for power in range(2, 9):
        kin = power_of(power)
        if kin and formula in (kin.formula, {"name": "multibrot", "power": power}):
            return [{**unfolded, "power": power}], kin
    for (before, after), kin in FOLDS.items():
        if formula == kin.formula and kin.same and not after:
            return [{**{flag: FLAGS[flag] in before for flag in FLAGS}, "power": 2}], kin
    for (before, after), kin in FOLDS.items():
        if formula == kin.formula and kin.same:
            return [{"opcodes": " ".join([*sorted(before), "sqr", *sorted(after), "add"])}], kin
    groups, repeats, loop = groups_of(formula) or ([], [], 0)
    terms = [
        {**{flag: FLAGS[flag] in term[0] for flag in FLAGS}, "power": term[1]}
        for lines, count in zip(groups, repeats, strict=True)
        for term, _, _ in lines * count
    ]
    single = all(len(lines) == 1 and lines[0][1] is None for lines in groups)
    plain = all(lines[0][0][1] > 1 and lines[0][0][2] == 1 for lines in groups)
    if terms and single and plain and not loop and len(terms) <= MAX_STEPS:
        return terms, FormulaMatch(formula, conjugate=is_symmetric(groups))
    name = formula if isinstance(formula, str) else formula["name"]
    raise SceneError(f"Fraktaler-3 has no formula '{name}'")


def claims(table: Mapping[str, Any]) -> bool:
    """Return whether a TOML file is one of Fraktaler-3's."""
    return "location" in table or table.get("program") == "fraktaler-3"


def make() -> Format:
    """Return the format."""
    return Format(
        "fraktaler3",
        "Fraktaler-3, parameters",
        (".f3.toml", ".toml"),
        read,
        write,
        claims,
        writes_limit=True,
    )

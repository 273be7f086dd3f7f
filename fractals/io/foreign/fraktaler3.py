"""Parameters of Fraktaler-3 (`.f3.toml`); what a file leaves out has its default.

The view is 4 / zoom high. A formula is flags and a power, or opcodes for a machine with one
register and a place to store it: ``absx absy sqr add`` is the Burning Ship.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from fractals.errors import SceneError, shown
from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.io.foreign import Format, Imported, unwritten
from fractals.io.foreign._view import (
    EXACT,
    FOLDS,
    ForeignView,
    FormulaMatch,
    escape_radius,
    folded,
    height_of,
    limit,
    negated,
    number,
    only_one,
    options_of,
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
CENTS = 100  # of a stretch by 2
MAX_STRETCH = 900  # cents
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
    # Its matrix is R T S T' G (src/matrix.h): a pixel is reflected, stretched along an angle, and
    # turned, by the opposite angle where it is reflected.
    lost, up = list[str](), not flag_of(transform, "reflect", "transform")
    side = 1 if up else -1
    place = ForeignView(
        center=(
            number(location.get("real", 0), "location.real"),
            number(location.get("imag", 0), "location.imag"),
        ),
        height=EXACT.divide(Decimal(4), positive(location.get("zoom", 1), "location.zoom")),
        up=up,
        angle=side * real(transform.get("rotate", 0), "transform.rotate"),
        size=(across, down),
    )
    amount = real(transform.get("stretch_amount", 0), "transform.stretch_amount")
    if abs(amount) > MAX_STRETCH:
        lost.append(f"the stretched view (transform.stretch_amount = {amount:g})")
    elif amount:
        along = real(transform.get("stretch_angle", 0), "transform.stretch_angle")
        angle = turn(90 + side * along)
        place = replace(place, stretch=2 ** (amount / CENTS), stretch_angle=angle)
    scene = placed(formula_of(table.get("formula", [])), place)
    scene["iteration"] = {
        "max_iterations": limit(bailout.get("iterations", 1024), "bailout.iterations", lost),
        "escape_radius": escape_radius(
            real(bailout.get("escape_radius", 625), "bailout.escape_radius"), lost
        ),
    }
    if flag_of(transform, "exponential_map", "transform"):
        raise SceneError("transform.exponential_map: that projection is unsupported")
    lost += [f"'{key[:80]}'" for key in table if key not in {*TABLES, *TECHNICAL, "formula"}]
    return Imported(scene, tuple(lost))


def section(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table of the file; an empty one where it is absent."""
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise SceneError(f"{key}: a table was expected, not '{shown(found, 40)}'")
    return found


def flag_of(table: Mapping[str, Any], key: str, where: str) -> bool:
    """Return whether a key of a table is true; it is false where it is absent."""
    found = table.get(key, False)
    if not isinstance(found, bool):
        raise SceneError(f"{where}.{key}: '{shown(found, 40)}' is neither true nor false")
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
    before = {name for flag, name in FLAGS.items() if flag_of(step, flag, "formula")}
    after: set[str] = set()
    power = whole(step.get("power", 2), "formula.power")
    if opcodes := step.get("opcodes"):
        text = opcodes if isinstance(opcodes, str) else shown(opcodes)
        before, power, after = parse_opcodes(text[:MAX_OPCODES])
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
    lost = unwritten(table)
    lost.append("the colors, which are a program in Fraktaler-3")
    (x, y), height = height_of(table)
    conjugate = view["mirror"] and kin.conjugate
    side = -1 if view["mirror"] and not conjugate else 1
    amount = CENTS * math.log2(view["stretch"])
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
            "rotate": turn(-view["rotation"] if view["mirror"] else view["rotation"]),
            "stretch_angle": turn(side * (view["stretch_angle"] - 90)) if amount else 0.0,
            "stretch_amount": amount,
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


# --- Hybrid formulas, of Kalles Fraktaler 2.15 too, as expressions of a scene, and back
#
# The text is ``loop/group/group/...`` with groups ``repeats|line|line|...``, lines
# ``term;term;how`` and terms ``absx,absy,negx,negy,power,re,im``. A term folds z, raises it to a
# power and multiplies it. `how` joins the two terms of a line: 0 adds, 1 subtracts, 2 multiplies
# them; a term times 0 is absent from a sum. Each line takes the result of the line before, c is
# added after the last line, and that is one iteration. After the last group follows group `loop`,
# counted from 0.

TERM = re.compile(
    r"([01]),([01]),([01]),([01]),(\d{1,3}),(-?[\d.]{1,30}(?:e[+-]?\d{1,3})?),"
    r"(-?[\d.]{1,30}(?:e[+-]?\d{1,3})?)",
    re.ASCII | re.IGNORECASE,
)
JOINTS = ("+", "-", "*")
MAX_GROUPS, MAX_LINES = 8, 8
MAX_CHARACTERS = 4000  # of the text
NOTHING = "0,0,0,0,0,0,0"

Term = tuple[frozenset[str], int, complex]  # folds, power, multiplier
Line = tuple[Term, Term | None, str]


def read_hybrid(text: str, where: str) -> FormulaMatch:
    """Return the formula of a HybridFormula.

    `SceneError`: the text is no hybrid formula, or has a part that no expression can hold.
    """
    loop, *groups = text[:MAX_CHARACTERS].split("/")
    if len(text) > MAX_CHARACTERS or not 1 <= len(groups) <= MAX_GROUPS or not loop.isdecimal():
        raise _refused(text, where, f"1 to {MAX_GROUPS} groups are expected")
    if int(loop) >= len(groups):
        raise _refused(text, where, f"the loop starts at group {loop} of {len(groups)}")
    repeats, parsed = [], []
    for group in groups:
        count, *lines = group.split("|")
        if not re.fullmatch(r"[1-9]\d{0,2}", count, re.ASCII):
            raise _refused(text, where, f"a group is repeated '{count[:10]}' times")
        if not 1 <= len(lines) <= MAX_LINES:
            raise _refused(text, where, f"1 to {MAX_LINES} lines in a group are expected")
        repeats.append(int(count))
        parsed.append([_line(line, text, where) for line in lines])
    where = f"{where}: '{text[:80]}'"
    if len(parsed) == 1:
        return match_of_lines(parsed[0], where)
    return match_of(parsed, repeats, int(loop), where)


def match_of_lines(lines: list[Line], where: str) -> FormulaMatch:
    """Return the formula of one group."""
    return _known(lines) or match_of([lines], [1], 0, where)


def match_of(groups: list[list[Line]], repeats: list[int], loop: int, where: str) -> FormulaMatch:
    """Return the expressions of groups in turn."""
    steps = []
    for lines in groups:
        z = "z"
        for line in lines:
            z = _line_text(line, z)
        steps.append(f"{z} + c")
        if len(steps[-1]) > syntax.MAX_CHARACTERS:
            raise SceneError(
                f"{where}: a group has more than {syntax.MAX_CHARACTERS} characters as an "
                "expression, and is unsupported"
            )
    formula: dict[str, Any] = {"name": "expression", "step": "; ".join(steps)}
    if len(groups) > 1:
        formula |= {"repeats": repeats, "loop": loop}
    return FormulaMatch(formula, conjugate=is_symmetric(groups))


def _refused(text: str, where: str, why: str) -> SceneError:
    return SceneError(f"{where}: the hybrid formula '{text[:80]}' is unsupported: {why}")


def _line(line: str, text: str, where: str) -> Line:
    parts = line.split(";")
    if len(parts) != 3:
        raise _refused(text, where, "a line is two terms and how they are joined")
    one, two = (_term(part, text, where) for part in parts[:2])
    if parts[2] not in ("0", "1", "2"):
        raise _refused(text, where, f"terms are joined by '{parts[2][:10]}', not by 0, 1 or 2")
    joint = JOINTS[int(parts[2])]
    if one[2] == 0 or (two[2] == 0 and joint == "*"):
        raise _refused(text, where, "a line is multiplied by 0")
    return one, two if two[2] else None, joint


def _term(part: str, text: str, where: str) -> Term:
    found = TERM.fullmatch(part)
    try:
        factor = complex(float(found[6]), float(found[7])) if found else 0j
    except ValueError:
        found = None
    if not found:
        raise _refused(text, where, f"'{part[:40]}' is not a term")
    power = int(found[5])
    if factor and not 1 <= power <= syntax.MAX_POWER:
        raise _refused(text, where, f"the power {power} is not from 1 to {syntax.MAX_POWER}")
    folds = {name for name, on in zip(FLAGS.values(), found.groups(), strict=False) if on == "1"}
    return frozenset(folds), power, factor


def _known(lines: list[Line]) -> FormulaMatch | None:
    """Return the match of a group that is a formula of the catalog."""
    if any(two is not None or one[2] != 1 for one, two, _ in lines):
        return None
    (before, power, _), *others = [one for one, _, _ in lines]
    if not others:
        return folded(before, power, frozenset())
    (after, second, _), *more = others
    return None if more or second != 1 or after - {"absx", "absy"} else folded(before, power, after)


def _line_text(line: Line, z: str) -> str:
    one, two, joint = line
    if two is None:
        return _term_text(one, z)
    right = _term_text(two, z)
    return f"({_term_text(one, z)} {joint} {right})"


def _term_text(term: Term, z: str) -> str:
    folds, power, factor = term
    for name in ("absx", "absy"):
        z = f"{name}({z})" if name in folds else z
    mirrors = folds & {"negx", "negy"}
    if mirrors:
        z = f"(-{z})" if len(mirrors) == 2 else f"conj({z})"
        z = f"(-{z})" if mirrors == {"negx"} else z
    if power > 1:
        z = f"{z}^{power}" if z == "z" or folds else f"({z})^{power}"
    if factor == 1:
        return z
    number = _number(factor.real)
    if factor.imag:
        number = f"({number} + {_number(factor.imag)}*i)"
    return f"{number}*{z}"


def _number(value: float) -> str:
    text = format(Decimal(repr(abs(value))), "f")
    return f"(-{text})" if value < 0 else text


def write_hybrid(formula: Any) -> tuple[str, int, bool] | None:
    """Return the HybridFormula of a formula, its degree, and whether it is symmetric.

    None where a formula is not made of groups of lines. The last value is whether the conjugate of
    c gives the conjugate orbit.
    """
    found = groups_of(formula)
    if not found:
        return None
    groups, repeats, loop = found
    degrees = [1]
    for lines in groups:
        degrees.append(1)
        for one, two, joint in lines:
            powers = [term[1] for term in (one, two) if term]
            degrees[-1] *= sum(powers) if joint == "*" else max(powers)
    texts = [
        "|".join([str(count), *map(_written, lines)])
        for count, lines in zip(repeats, groups, strict=True)
    ]
    return "/".join([str(loop), *texts]), max(degrees), is_symmetric(groups)


def is_symmetric(groups: list[list[Line]]) -> bool:
    """Return whether the conjugate of c gives the conjugate orbit."""
    terms = [term for lines in groups for one, two, _ in lines for term in (one, two) if term]
    return all(not term[2].imag and "absy" not in term[0] for term in terms)


def groups_of(formula: Any) -> tuple[list[list[Line]], list[int], int] | None:
    """Return the groups of a formula, their repeats, and the group that follows the last one."""
    for (before, after), kin in FOLDS.items():
        if formula == kin.formula and kin.same:
            terms = [(before, 2, 1 + 0j), *([(after, 1, 1 + 0j)] if after else [])]
            return [[(term, None, "+") for term in terms]], [1], 0
    options = options_of(formula)
    if options["name"] != "expression" or options.get("tolerance") or options.get("degree"):
        return None
    steps = str(options.get("step", "z**2 + c")).split(";")
    repeats = options.get("repeats", [1] * len(steps))
    counts = repeats.split("+") if isinstance(repeats, str) else repeats
    try:
        groups = [_group(syntax.parse(step)) for step in steps]
        first = syntax.parse(str(options.get("start") or "0"))
    except (_NoHybridError, syntax.ExpressionError):  # with parameters
        return None
    if first != ("number", 0j):
        return None
    return groups, [int(count) for count in counts], int(options.get("loop", 0))


class _NoHybridError(Exception):
    """An expression that is not made of lines."""


def _group(tree: Tree) -> list[Line]:
    if tree[0] != "+" or ("c",) not in tree[1:] or tree == ("+", ("c",), ("c",)):
        raise _NoHybridError
    lines = _lines(tree[1] if tree[2] == ("c",) else tree[2])
    if not lines:
        raise _NoHybridError
    return lines


def _lines(tree: Tree) -> list[Line]:
    if tree == ("z",):
        return []
    one, joint, two = (tree[1], tree[0], tree[2]) if tree[0] in JOINTS else (tree, "+", None)
    if two is None or _factor(one) is not None:  # a product with a number is one term
        first, inner = _terms_of(tree)[-1]
        if first == (frozenset(), 1, 1 + 0j):
            raise _NoHybridError
        return [*_lines(inner), (first, None, "+")]
    # In z^2 - absx(z^2) the terms have z^2 in common, in z^2 - absx(z) z.
    for first, inner in reversed(_terms_of(one)):
        for second, other in reversed(_terms_of(two)):
            if inner == other:
                return [*_lines(inner), (first, second, joint)]
    raise _NoHybridError


def _factor(tree: Tree) -> complex | None:
    """Return the value of a number such as 2, -2 or 0.5 + 2*i."""
    if tree[0] == "number":
        return complex(tree[1])
    parts = [_factor(part) for part in tree[1:] if isinstance(part, tuple)]
    if tree[0] not in ("neg", *JOINTS) or None in parts:
        return None
    if tree[0] == "neg":
        return -parts[0]  # type: ignore[operator]
    a, b = parts
    return a * b if tree[0] == "*" else a + b if tree[0] == "+" else a - b  # type: ignore[operator]


def _terms_of(tree: Tree) -> list[tuple[Term, Tree]]:
    """Return the terms that a tree may apply last, and what each is applied to; largest last."""
    factor, power, folds = 1 + 0j, 1, set[str]()
    if tree[0] == "*" and (value := _factor(tree[1])) is not None:
        factor, tree = value, tree[2]
    found = [((frozenset[str](), 1, factor), tree)]
    if tree[0] == "power" and 1 <= tree[2] <= syntax.MAX_POWER:
        power, tree = tree[2], tree[1]
        found.append(((frozenset[str](), power, factor), tree))
    if tree[0] == "neg" and tree[1][0] == "conj":
        folds, tree = {"negx"}, tree[1][1]
    elif tree[0] == "neg":
        folds, tree = {"negx", "negy"}, tree[1]
    elif tree[0] == "conj":
        folds, tree = {"negy"}, tree[1]
    while tree[0] in ("absx", "absy") and tree[0] not in folds:
        folds, tree = {*folds, str(tree[0])}, tree[1]
    return [*found, ((frozenset(folds), power, factor), tree)]


def _written(line: Line) -> str:
    one, two, joint = line
    second = _written_term(two) if two else NOTHING
    return f"{_written_term(one)};{second};{JOINTS.index(joint)}"


def _written_term(term: Term) -> str:
    folds, power, factor = term
    flags = ",".join(str(int(name in folds)) for name in FLAGS.values())
    parts = ",".join(repr(part).removesuffix(".0") for part in (factor.real, factor.imag))
    return f"{flags},{power},{parts}"

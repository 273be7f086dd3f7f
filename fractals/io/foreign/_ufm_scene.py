"""Scenes of formulas of Ultra Fractal: what they ask for, their first view, and what draws them.

A view is 3 / magnification high, and so 4 / magnification wide where it is 4:3, as W. Beyer's zoom
into the Mandelbrot set is (Wikimedia Commons, 2006), whose widths are published. That the height
counts in pictures of other shapes fits most of the public files seen; no document was found.
"""

import cmath
import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from fractals import catalog
from fractals.errors import SceneError, shown
from fractals.formulas.language.syntax import Tree, text_of
from fractals.formulas.own import chain_of, variables
from fractals.formulas.own import program as make_program
from fractals.io.foreign import Asked, Imported
from fractals.io.foreign._entries import Lines, Param, UltraEntry, entry_of
from fractals.io.foreign._frm import ZERO, C, FrmText
from fractals.io.foreign._screen import ASPECT, SIZE, ScreenView, used
from fractals.io.foreign._screen import lost as screen_lost
from fractals.io.foreign._ufm import FUNCTIONS, LineError, UltraFollower
from fractals.io.foreign._view import (
    EXACT,
    ForeignView,
    FormulaMatch,
    limit,
    number,
    placed,
    positive,
    power_of,
    real,
)

HEIGHT = Decimal(3)  # of a view of magnification 1
USUAL = {"fn1": "sin", "fn2": "sqr", "fn3": "sinh", "fn4": "cosh"}
MAX_PARTS, MAX_PARAMS = 300, 1000  # of an expression; of a formula
LIMIT = "250"  # of iterations, for formulas that read it and name none
TOLERANCE = 1 / 1600  # a tenth of a pixel, in a view of the width 4 with 640 pixels
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
PLAIN = re.compile(rf"\(?\s*({NUMBER})\s*(?:[,/]\s*({NUMBER})\s*)?\)?", re.ASCII | re.IGNORECASE)
P_NAMES = {"p1", "p2", "p3", "p4", "p5"}
YES, NO = ("true", "yes", "1"), ("false", "no", "0")
MAXITER = ("#maxiter", "#maxit")
_CONSTANTS: dict[str, Tree] = {
    "#pi": ("number", complex(math.pi)),
    "#e": ("number", complex(math.e)),
}
# Names that depend on the screen.
PIXELS = (
    *("#x", "#y", "#width", "#height", "#screenpixel", "#screenmax", "#whitesq"),
    *("scrnpix", "scrnmax", "whitesq"),
)


@dataclass(frozen=True)
class UltraDrawn:
    """What draws a formula, and what it asks for."""

    kin: FormulaMatch
    place: ForeignView  # its first view
    asked: tuple[Asked, ...]
    julia: tuple[str, str] | None = None
    radius: float | None = None
    lost: tuple[str, ...] = ()


@dataclass
class _Values:
    """The values of what a formula asks for."""

    trees: dict[str, Tree] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)


def scene_of(name: str, formula: FrmText, words: Mapping[str, str]) -> Imported:
    """Return the scene of a formula in its first view; `words` set what it asks for."""
    found, entry = drawn(name, formula, words)
    title = entry.settings.get("title", "").strip('"') or name
    table: dict[str, Any] = {"title": title[:1000], **placed(found.kin, found.place)}
    if found.julia:
        table["julia"] = list(found.julia)
    lost = list(found.lost)
    iteration: dict[str, Any] = {}
    if "maxiter" in entry.settings:
        iteration["max_iterations"] = limit(entry.settings["maxiter"], "maxiter", lost)
    if found.radius is not None:
        iteration["escape_radius"] = found.radius
    if iteration:
        table["iteration"] = iteration
    return Imported(table, tuple(lost), found.asked)


def drawn(
    name: str,
    formula: FrmText,
    words: Mapping[str, str],
    steps: str = "",
    strict: bool = True,
    pixel: Tree = C,
) -> tuple[UltraDrawn, UltraEntry]:
    """Return what draws a formula, and its parts.

    `steps` is the limit of iterations, if known; `strict`: whether all words are for this formula;
    `pixel`: what it gets as the pixel.

    `SceneError`: it is invalid, or does what no program does; the message names the line.
    """
    entry = entry_of(formula)
    with _named_line(f"the formula '{shown(name, 80)}'", entry):
        return _drawn(entry, words, steps, strict, pixel), entry


@contextlib.contextmanager
def _named_line(what: str, entry: UltraEntry) -> Iterator[None]:
    """Begin errors with the line of an entry, and with what it is."""
    try:
        yield
    except LineError as error:
        at = f"line {error.line}" if error.line else entry.at
        raise SceneError(f"{at}: {what}: {error}") from None
    except (ValueError, OverflowError) as error:
        raise SceneError(f"{entry.at}: {what}: {error}") from None


def transformed(
    name: str, transform: FrmText, words: Mapping[str, str], place: ForeignView, pixel: Tree
) -> Tree:
    """Return where a transformation of the plane takes the pixel `pixel` of a view.

    `SceneError`: it is invalid, or does what no program does; the message names the line.
    """
    entry = entry_of(transform)
    with _named_line(f"the transformation '{shown(name, 80)}'", entry):
        lines = [*entry.sections.get("global", []), *entry.sections.get("transform", [])]
        if "transform" not in entry.sections:
            raise ValueError("it has no section transform")
        last = lines[-1][0]
        text = "\n".join(line for _, line in lines).lower()
        known = {**_CONSTANTS, **_known_of(place), "#pixel": pixel}
        known |= _screen_of(place) if used(text, PIXELS) else {}
        values = _values_of(entry, text, words, known, False)
        end: Lines = [(last, "z")]
        sections = ([*lines, (last, "z = #pixel")], [(last, "")], end)
        follow = UltraFollower(sections, values.trees, values.labels, values.functions, known)
        if follow.unset:
            raise ValueError(min(follow.unset))
        return follow.first["z"]


def _drawn(
    entry: UltraEntry, words: Mapping[str, str], steps: str, strict: bool, pixel: Tree
) -> UltraDrawn:
    own = entry.sections
    begin = [*own.get("global", []), *own.get("init", [])]
    step, end = own.get("loop", []), own.get("bailout", [])
    if not entry.older and not any(line.strip() for _, line in end):
        raise ValueError("it has no section bailout, the condition under which an orbit goes on")
    text = "\n".join(line for _, line in (*begin, *step, *end)).lower()
    place, known = _place_of(entry)
    count = steps or entry.settings.get("maxiter", LIMIT)
    known |= _CONSTANTS | {
        "#tolerance": ("number", complex(TOLERANCE)),
        "#ismand": ("number", 1 + 0j),
        **{key: ("number", complex(real(count, "maxiter"))) for key in MAXITER},
    }
    if known["#pixel"] == C:
        known["#pixel"] = pixel
    on_screen = used(text, PIXELS)
    known |= _screen_of(place) if on_screen else {}
    values = _values_of(entry, text, words, known, strict)
    follow = UltraFollower((begin, step, end), values.trees, values.labels, values.functions, known)
    lost = ["the section final, which changes colors"] if "final" in own else []
    lost += [*sorted(follow.unset), *screen_lost(on_screen, "the formula's first view")]
    if "#tolerance" in text:
        lost.append(f"#tolerance, a tenth of a pixel there: {TOLERANCE} here")
    found = UltraDrawn(FormulaMatch(None), place, tuple(values.asked), lost=tuple(lost))
    if named := _named(follow, found):
        return named
    table = follow.table()
    make_program(**{key: value for key, value in table.items() if key != "name"})
    return replace(found, kin=FormulaMatch(table))


def _screen_of(place: ForeignView) -> dict[str, Tree]:
    """Return the trees of names that depend on the pixel of a screen that shows a view."""
    h = float(place.height) / 2
    w, turn = h / ASPECT, cmath.exp(1j * math.radians(place.angle))
    corners = (complex(-w, h), complex(w, -h), complex(-w, -h))
    screen = ScreenView(complex(*map(float, place.center)), *(turn * each for each in corners))
    found = screen.pixels()
    width, height = (("number", complex(side)) for side in SIZE)
    names = {"#x": found["column"], "#y": found["row"], "#width": width, "#height": height}
    for old, new, tree in (
        ("scrnpix", "#screenpixel", found["scrnpix"]),
        ("scrnmax", "#screenmax", ("number", complex(*SIZE))),
        ("whitesq", "#whitesq", found["whitesq"]),
    ):
        names |= {old: tree, new: tree}
    return names


def _named(follow: UltraFollower, found: UltraDrawn) -> UltraDrawn | None:
    """Return an expression in z and c that ends beyond a radius, or a formula of this program.

    Their colors are smooth, and some are drawn in deep views, which programs are not.
    """
    step = follow.after.get("z")
    condition = follow.condition
    if step is None or follow.needed() != {"z"} or len(condition) != 3:
        return None
    sign, left, right = condition
    if sign in (">", ">="):
        left, right = right, left
    elif sign not in ("<", "<="):
        return None
    if right[0] != "number" or left[0] not in ("norm", "abs") or left[1] is not step:
        return None
    square = right[1].real if left[0] == "norm" else right[1].real * abs(right[1].real)
    start = follow.first.get("z", ZERO)
    if not 4 <= square <= 1e18 or variables(start) - {"c"} or not _is_small(step, start):
        return None
    found = replace(found, radius=math.sqrt(square))
    numbers = [part for part in step[1:] if part[0] == "number"] if step[0] == "+" else []
    added = numbers[0] if numbers else None
    with_c = tuple(C if added is not None and part is added else part for part in step)
    chain = chain_of(with_c)
    if chain and chain[:2] == ("power", ("z",)):
        match = power_of(chain[2])
        if match and added is None and start == ZERO:
            return replace(found, kin=match)
        if match and added and start == C:
            julia = repr(added[1].real), repr(added[1].imag)
            return replace(found, kin=match, julia=julia)
    table = {"name": "expression", "step": text_of(step), "start": text_of(start)}
    try:
        catalog.load("formula", "expression")(table["step"], table["start"])
    except ValueError:
        return None
    return replace(found, kin=FormulaMatch(table))


def _is_small(*trees: Tree) -> bool:
    """Tell whether trees have few parts, where what occurs many times counts as often."""
    left, count = list(trees), 0
    while left and count <= MAX_PARTS:
        part = left.pop()
        count += 1
        left += [inner for inner in part[1:] if isinstance(inner, tuple)]
    return not left


def _values_of(
    entry: UltraEntry, text: str, words: Mapping[str, str], known: dict[str, Tree], strict: bool
) -> _Values:
    """Return the values of what the formula reads: those that words give, or the usual ones."""
    used = re.findall(r"@(\w+)|\b(p[1-5]|fn[1-4])\b", text)
    names = dict.fromkeys(first or second for first, second in used)
    if len(names) > MAX_PARAMS:
        raise ValueError(f"it asks for {len(names)} things, and {MAX_PARAMS} are the most")
    called = set(re.findall(r"@?(\w+)\s*\(", text))
    params = [param for name, param in entry.params.items() if name in names]
    params += [
        Param(name, "func" if name in called - P_NAMES else "complex")
        for name in names
        if name not in entry.params
    ]
    unknown = set(words) - {param.name for param in params}
    if unknown and strict:
        some = ", ".join(param.name for param in params) or "nothing"
        raise SceneError(f"'{shown(min(unknown), 40)}': the formula asks for {some[:1000]}")
    values = _Values()
    for param in params:
        given = words.get(param.name)
        _set(values, param, given, lambda own, line: _constant(own, line, known))
    return values


def _set(
    values: _Values, param: Param, given: str | None, constant: Callable[[str, int], complex]
) -> None:
    """Read the value of a parameter."""
    name, labels = param.name, [label.replace(" ", "_") for label in param.labels]
    text = param.default if given is None else given.strip().strip('"')
    choices: tuple[str, ...] = ()
    if param.type == "func":
        text = (text or USUAL.get(name, "ident")).lower().partition("(")[0].strip()
        choices = tuple(FUNCTIONS)
        if text not in choices:
            raise ValueError(f"{name}: '{shown(text, 40)}' is none of {', '.join(choices)}")
        values.functions[name] = text
    elif labels:
        wanted = text.strip('"').replace(" ", "_").lower() or "0"
        lower = [label.lower() for label in labels]
        k = lower.index(wanted) if wanted in lower else int(wanted) if wanted.isdecimal() else -1
        if not 0 <= k < len(labels):
            raise ValueError(f"{name}: '{shown(text, 40)}' is none of {', '.join(labels)[:1000]}")
        text, choices = labels[k], tuple(labels)
        values.trees[name], values.labels[name] = ("number", complex(k)), param.labels
    elif param.type == "bool":
        choices = ("true", "false")
        if text.lower() not in ("", *YES, *NO):
            raise ValueError(f"{name}: '{shown(text, 40)}' is none of true, false")
        text = "true" if text.lower() in YES else "false"
        values.trees[name] = ("number", complex(text == "true"))
    else:
        value = _number_of(param, text, given is not None, constant)
        text = ",".join(map(_shortest, (value.real, value.imag) if value.imag else (value.real,)))
        values.trees[name] = ("number", value)
    values.asked.append(Asked(name, text, given is not None, choices, param.title))


def _number_of(
    param: Param, text: str, given: bool, constant: Callable[[str, int], complex]
) -> complex:
    """Return the value of a parameter that is a number."""
    match = PLAIN.fullmatch(text.strip())
    if given and not match:
        raise ValueError(
            f"{param.name}: a number, or two for a complex one, as in {param.name}=0,1, "
            f"not '{shown(text, 40)}'"
        )
    if match and (given or "/" not in text):
        value = complex(float(match[1]), float(match[2] or 0))
    else:
        value = constant(text, param.line) if text else 0j
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        raise ValueError(f"{param.name}: {shown(text, 40)} is too large")
    if given and param.type in ("int", "float"):
        if value.imag:
            raise ValueError(f"{param.name}: one number, not '{shown(text, 40)}'")
        if param.type == "int" and value.real != round(value.real):
            raise ValueError(f"{param.name}: '{shown(text, 40)}' is not a whole number")
        for key, sign in (("min", 1), ("max", -1)):
            if bound := param.settings.get(key):
                edge = constant(bound, param.line).real
                if sign * value.real < sign * edge:
                    raise ValueError(f"{param.name}: {shown(text, 40)} is beyond {key} {edge:g}")
    return value


def _shortest(value: float) -> str:
    return str(int(value)) if value == round(value) and abs(value) < 1e15 else repr(value)


def _constant(text: str, line: int, known: dict[str, Tree]) -> complex:
    """Return the value of an expression without variables."""
    around: tuple[Lines, Lines, Lines] = ([(line, f"z = {text}")], [(line, "")], [(line, "z")])
    tree = UltraFollower(around, {}, {}, {}, known).first["z"]
    if tree[0] != "number":
        raise LineError(line, f"'{shown(text, 40)}' is not a number")
    return complex(tree[1])


def _place_of(entry: UltraEntry) -> tuple[ForeignView, dict[str, Tree]]:
    """Return the first view, and the trees of names that depend on it.

    In Gnofract 4D, the plane of the picture may be that of the second pair of four coordinates.
    """
    known: dict[str, Tree] = {"#pixel": C}

    def setting(name: str, usual: tuple[str, str]) -> tuple[str, str]:
        text = entry.settings.get(name)
        if text is None:
            return usual
        if match := PLAIN.fullmatch(text):
            return match[1], match[2] or "0"
        value = _constant(text, 0, known)
        return repr(value.real), repr(value.imag)

    def one(name: str, usual: str) -> str:
        return number(setting(name, (usual, ""))[0], f"{entry.at}: {name}")

    xy = setting("center", setting("xycenter", (one("xcenter", "0"), one("ycenter", "0"))))
    zw = setting("zwcenter", (one("zcenter", "0"), one("wcenter", "0")))
    xy, zw = ((number(a, "center"), number(b, "center")) for a, b in (xy, zw))
    quarter = math.pi / 2
    turned = all(abs(float(one(key, "0")) - quarter) < 1e-6 for key in ("xzangle", "ywangle"))
    fixed: Tree = ("number", complex(*map(float, xy if turned else zw)))
    known["#pixel"], known["#zwpixel"] = (fixed, C) if turned else (C, fixed)
    magnification = positive(one("magn", "1"), f"{entry.at}: magn")
    height = EXACT.divide(HEIGHT, magnification)
    if "magnitude" in entry.settings:  # the width in Gnofract 4D
        wide = positive(one("magnitude", "4"), f"{entry.at}: magnitude")
        height = EXACT.multiply(wide, Decimal("0.75"))
    angle = real(one("angle", "0"), f"{entry.at}: angle")
    known |= _known_of(ForeignView(xy, height, angle=angle), magnification)
    return ForeignView(zw if turned else xy, height, angle=angle), known


def _known_of(place: ForeignView, magnification: Decimal | None = None) -> dict[str, Tree]:
    """Return the values of names that depend on the view; by default HEIGHT is that of 1."""
    scale = EXACT.divide(HEIGHT, place.height) if magnification is None else magnification
    return {
        "#magn": ("number", complex(float(scale))),
        "#center": ("number", complex(*map(float, place.center))),
        "#angle": ("number", complex(math.radians(place.angle))),
    }

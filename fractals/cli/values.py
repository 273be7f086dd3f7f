"""Values of options: text as it is typed -> numbers, pairs and tables, or an `OptionError`."""

import contextlib
import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from fractals import catalog
from fractals.errors import OptionError, shown
from fractals.scene.numbers import MAX_SIDE, NAMED_SIZES, plain_minus, point_text

INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
PHYSICAL = re.compile(r"([\d.]+)x([\d.]+)([a-z]+)(?:@([\d.]+)([a-z]+))?", re.ASCII)
UNIT_TWICE = re.compile(r"([\d.]+)([a-z]+)x([\d.]+)\2(?![a-z])", re.ASCII)  # 44inx33in
PAPERS = {  # short and long side in mm: ISO 216, and the sizes of North America
    **{"a0": (841, 1189), "a1": (594, 841), "a2": (420, 594), "a3": (297, 420), "a4": (210, 297)},
    **{"a5": (148, 210), "a6": (105, 148)},
    **{"letter": (215.9, 279.4), "legal": (215.9, 355.6), "tabloid": (279.4, 431.8)},
}
PAPER = re.compile(rf"({'|'.join(PAPERS)})(@[\w.]+)?", re.ASCII)
PRINT_DPI = 300.0  # pixels per inch of a paper size, where nothing else is said
ANGLES = ("rotation", "stretch_angle")  # keys in degrees, whose sign may follow
RELATIVE = r"(?:x(.+)|(.+)%)"  # x10 or 50%


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number within bounds; ``1e6`` is one too."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Return the number."""
        found = whole(str(value))
        if found is None or not self.least <= found <= self.most:
            self.fail(
                f"'{shown(value, 40)}' is not a whole number from {self.least} to {self.most}",
                param,
                ctx,
            )
        return found


class Paper(click.ParamType):  # type: ignore[type-arg]
    """A width in millimeters, or the two sides of a size of paper, such as A3."""

    name = "paper"

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most  # mm

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | tuple[float, float]:
        """Return the width, or both sides, the shorter one first."""
        text = str(value).strip().lower()
        if text in PAPERS:
            return PAPERS[text]
        found = _float(text.removesuffix("mm"))
        if found is None or not self.least <= found <= self.most:
            self.fail(
                f"'{shown(value, 40)}' is not a width from {self.least:g} to {self.most:g} mm, "
                f"or a size of paper: {', '.join(PAPERS)}",
                param,
                ctx,
            )
        return found


def width_on(paper: float | tuple[float, float], size: tuple[int, int]) -> float:
    """Return the width in mm of a drawing that fills a paper, which lies as the drawing does.

    >>> width_on(297, (4, 3)), width_on((297, 420), (2, 1)), width_on((210, 297), (1, 1))
    (297, 420, 210.0)
    """
    if not isinstance(paper, tuple):
        return paper
    short, long = paper
    across, down = size
    wide, tall = (long, short) if across >= down else (short, long)
    return min(wide, tall * across / down)


def whole(text: str) -> int | None:
    """Return a whole number such as ``1000000`` or ``1e6``; None for any other text.

    >>> whole("1e6"), whole("12"), whole("1.5"), whole("1,000")
    (1000000, 12, None, None)
    """
    try:
        text = plain_minus(text).strip()
        number = Decimal(text) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    if number is None or not number.is_finite() or not -20 < number.adjusted() < 20:
        return 0 if number is not None and number.is_finite() and not number else None
    return int(number) if number == int(number) else None


def parse_point(text: str, key: str) -> tuple[str, str]:
    """Return the two parts of ``X,Y``, or of ``X+Yi``."""
    parts = point_text(text)
    if parts is None:
        meant = re.fullmatch(r"\s*([-+]?\d*),(\d+)\s*[,; ]\s*([-+]?\d*),(\d+)\s*", text, re.ASCII)
        hint = "such as -0.75,0.1"
        if meant and len(text) < 80:
            hint = f"with points: write {meant[1]}.{meant[2]},{meant[3]}.{meant[4]}"
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not two numbers X,Y {hint}")
    return parts


def parse_pair(
    text: str, key: str, example: str, read: Callable[[str], Decimal | None]
) -> tuple[Decimal, Decimal]:
    """Return the two numbers of ``X,Y``: `read` is `exact`, or `share`."""
    x, y = map(read, parse_point(text, key))
    if x is None or y is None:
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not two numbers X,Y such as {example}")
    return x, y


def share(text: str) -> Decimal | None:
    """Return a number that may have a percent sign, or None for any other text.

    >>> share("10%"), share("-0.5"), share("a%")
    (Decimal('0.1'), Decimal('-0.5'), None)
    """
    number = exact(text.removesuffix("%"))
    return number / 100 if number is not None and text.endswith("%") else number


def parse_part(text: str) -> tuple[int, int]:
    """Return i and n of a part ``i/n``, counted from 0, or raise an `OptionError`.

    >>> parse_part("3/100")
    (3, 100)
    """
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
    i, n = (int(found[1]), int(found[2])) if found else (0, 0)
    if not i < n:
        last = f"{n - 1}/{n}" if n else "99/100"
        raise OptionError(f"--part '{shown(text, 40)}': give a part such as 0/100, up to {last}")
    return i, n


def exact(text: str) -> Decimal | None:
    """Return a finite decimal number, or None for any other text."""
    try:
        number = Decimal(plain_minus(text).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 1_000_000 else None


def relative(text: str) -> Decimal | None:
    """Return the factor of ``x10`` or ``50%``; None for an absolute number.

    >>> relative("x10"), relative("50%"), relative("1e6"), relative("xyz")
    (Decimal('10'), Decimal('0.5'), None, None)
    """
    found = re.fullmatch(RELATIVE, text.strip().lower())
    if not found:
        return None
    number = exact(found[1] or found[2])
    if number is None or number <= 0:
        return None
    return number if found[1] else number / 100


OPTION = r",(?=\s*[A-Za-z_]\w*\s*=(?!=))"
CHOICE = re.compile(r"\bif\s*\(", re.ASCII)


def _meant(name: str) -> str:
    """Return a name as the catalog has them, of one that is written as in a text."""
    return re.sub("[- ]", "_", name.strip().lower())


def parse_formula(text: str) -> Any:
    """Return the table of ``multibrot,power=4``, or of an expression such as ``z**3 + c*sin(z)``.

    ``bridge.py,power=3`` is the formula itself, which the file's function ``make`` returns.

    >>> parse_formula("z**2 + c,start=c/2")
    {'name': 'expression', 'step': 'z**2 + c', 'start': 'c/2'}
    >>> parse_formula("if(z < 1, z, z**2) + k*c,k=0.3")
    {'name': 'expression', 'step': 'if(z < 1, z, z**2) + k*c', 'k': 0.3}
    """
    from fractals.scene.model import STATEMENT, table_of_text

    called = re.fullmatch(r"\s*(\w+)\s*\((.*=.*)\)\s*", text)
    if called and any(catalog.has(kind, called[1]) for kind in catalog.FORMULAS):
        meant = shown(f"{called[1]},{called[2]}", 80)
        raise OptionError(f"--formula: options follow a comma; did you mean '{meant}'?")
    # The commas of if(condition, a, b) separate no options.
    bent = STATEMENT.match(text) or CHOICE.search(text)
    name, *pairs = re.split(OPTION, text) if bent else text.split(",")
    table: dict[str, Any] = {"name": name.strip()}
    if name.strip().endswith(".py"):
        from fractals.io.formula_file import load_formula

        return load_formula(name.strip(), **_pairs(pairs, "formula", "power=4"))
    if not re.fullmatch(r"\s*\w+\s*", name, re.ASCII):
        meant = _meant(name)
        if re.fullmatch(r"\w+", meant, re.ASCII):
            check_known("formula", name.strip(), meant)
        table = dict(table_of_text(name))  # unstripped: errors name the column
    return table | _pairs(pairs, "formula", "power=4")


def check_known(kind: str, given: str, meant: str) -> None:
    """Raise an `OptionError` where `meant` is a name of the catalog."""
    if meant in catalog.names(kind):
        raise OptionError(f"--{kind}: unknown {kind} '{shown(given, 40)}'; did you mean '{meant}'?")


def parse_coloring(text: str) -> dict[str, Any]:
    """Return the table of ``orbit_trap,shape=circle,radius=0.4``.

    >>> parse_coloring("orbit_trap,shape=circle,radius=0.4")
    {'name': 'orbit_trap', 'shape': 'circle', 'radius': 0.4}
    """
    name, *pairs = text.split(",")
    meant = _meant(name)
    if meant != name.strip():
        check_known("coloring", name.strip(), meant)
    return {"name": name.strip()} | _pairs(pairs, "coloring", "density=7")


def _pairs(pairs: list[str], key: str, example: str) -> dict[str, Any]:
    table = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise OptionError(f"--{key}: '{shown(pair, 40)}' is not KEY=VALUE such as '{example}'")
        table[name] = _number(value)
    return table


def _number(text: str) -> bool | int | float | str:
    """Return a whole number, another, true or false, or the text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(plain_minus(text))
    return text


def physical_size(text: str, current: tuple[int, int]) -> re.Match[str] | None:
    """Return the match of `PHYSICAL` for a size on paper; paper lies as the picture `current` does.

    >>> physical_size("A4@150dpi", (640, 480))[0], physical_size("a4", (480, 640))[0]
    ('297x210mm@150dpi', '210x297mm')
    """
    text = text.strip().lower().replace('"', "in")
    text = UNIT_TWICE.sub(r"\1x\3\2", text, count=1)
    if paper := PAPER.fullmatch(text):
        short, long = PAPERS[paper[1]]
        sides = (long, short) if current[0] >= current[1] else (short, long)
        text = f"{sides[0]}x{sides[1]}mm{paper[2] or ''}"
    return PHYSICAL.fullmatch(text)


def parse_size(text: str, current: tuple[int, int], dpi: float | None = None) -> tuple[int, int]:
    """Return (width, height) in pixels; ``640x`` keeps the shape of `current`.

    Sizes on paper that name no resolution have `dpi` pixels per inch, or 300.

    >>> parse_size("a4", (640, 480)), parse_size("10x20cm", (1, 1), dpi=254)
    ((3508, 2480), (1000, 2000))
    >>> parse_size("50%", (640, 480)), parse_size("10x5in@100dpi", (1, 1))
    ((320, 240), (1000, 500))
    >>> parse_size("10inx5in@100dpi", (1, 1))
    (1000, 500)
    >>> parse_size("320x", (640, 480)), parse_size("x120", (640, 480)), parse_size("64×48", (1, 1))
    ((320, 240), (160, 120), (64, 48))
    """
    text = text.strip().lower().replace("×", "x")
    if text in NAMED_SIZES:
        return NAMED_SIZES[text]
    try:
        size = _pixels(text, current, dpi or PRINT_DPI)
    except OptionError:  # a ValueError too
        raise
    except (ValueError, OverflowError):
        raise OptionError(f"--size: {_wrong_size(text)}") from None
    if not all(1 <= side <= MAX_SIDE for side in size):
        given = f"{size[0]}x{size[1]}" if max(map(abs, size)) < 10**9 else f"'{shown(text, 40)}'"
        raise OptionError(f"--size: {given}: each side has 1 to {MAX_SIDE} pixels")
    return size


def _pixels(text: str, current: tuple[int, int], dpi: float) -> tuple[int, int]:
    if text.endswith("%"):
        share = float(text[:-1]) / 100
        return round(current[0] * share), round(current[1] * share)
    if physical := physical_size(text, current):
        width, height, dots = (float(physical[k] or dpi) for k in (1, 2, 4))
        unit, dots_unit = physical[3], physical[5] or "dpi"
        if unit not in INCHES or dots_unit != "dpi":
            bad = unit if unit not in INCHES else dots_unit
            raise OptionError(f"--size: unknown unit '{shown(bad, 40)}': use cm, mm or in, and dpi")
        return round(width * INCHES[unit] * dots), round(height * INCHES[unit] * dots)
    across, down = text.split("x")
    if not down:
        return int(across), max(1, round(int(across) * current[1] / current[0]))
    if not across:
        return max(1, round(int(down) * current[0] / current[1])), int(down)
    return int(across), int(down)


def _wrong_size(text: str) -> str:
    if text.isdecimal() and len(text) < 7:
        return f"'{text}' is one number: write {text}x for the width, or {text}x{text}"
    named = ", ".join(NAMED_SIZES)
    return (
        f"'{shown(text, 40)}' is not a size: use 1920x1080, 640x, 300%, 30x20cm, 12x8in@300dpi, "
        f"A3, {named}"
    )


def check_text(key: str, text: str) -> None:
    """Raise an `OptionError` for text that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not UTF-8 text") from None


def check_value(key: str, text: str) -> Any:
    """Return the value of a scene's key, checked against the type and bounds of the model.

    Texts of keys that take numbers are checked here. Other keys take words, points or colors: their
    text is returned as it is, because the model reads it. Words may be capital, as in the help.
    """
    kinds, bounds, words = _field(key)
    if text.lower() in words:
        return text.lower()
    name = f"--{key.replace('_', '-')}"
    if kinds not in ({int}, {float}):
        return text
    meant = _with_point(text)
    if words:
        if meant:
            raise OptionError(f"{name}: '{shown(text, 40)}' has a comma: write {meant}")
        return plain_minus(text)
    if key in ANGLES:
        text = re.sub(r"\s*(?:°|deg|degrees?)$", "", text.strip())
    number = whole(text) if int in kinds else _float(text)
    if number is None:
        kind = "whole number" if int in kinds else "finite number"
        hint = f": write {meant}" if meant else ": write degrees, such as 45" * (key in ANGLES)
        raise OptionError(f"{name}: '{shown(text, 40)}' is not a {kind}{hint}")
    least, most = bounds
    if not least <= number <= most:
        raise OptionError(f"{name}: {shown(text, 40)} is not from {least:g} to {most:g}")
    return number


def check_length(key: str, text: str) -> None:
    """Raise an `OptionError` for a width or zoom that the model would not explain."""
    name = f"--{key}"
    if meant := _with_point(text):
        mark = "comma" if "," in text else "point between thousands"
        raise OptionError(f"{name}: '{shown(text, 40)}' has a {mark}: write {meant}")
    is_factor = re.fullmatch(RELATIVE, text.strip().lower()) or text.endswith("x")
    if is_factor and relative(text) is None:
        raise OptionError(f"{name}: '{shown(text, 40)}' is not a factor such as x10 or 50%")


def _with_point(text: str) -> str:
    """Return a number with commas, or with several points, as it is written here; "" of others.

    >>> _with_point("1,000.5"), _with_point("0,01"), _with_point("1.000.000"), _with_point("1.5")
    ('1000.5', '0.01', '1000000', '')
    """
    text = text.strip()[:40]
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text, re.ASCII):
        return text.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3}){2,}(,\d+)?", text, re.ASCII):
        return text.replace(".", "").replace(",", ".")
    if re.fullmatch(r"[-+]?\d*,\d+(e[-+]?\d+)?", text, re.ASCII | re.IGNORECASE):
        return text.replace(",", ".")
    return ""


def _float(text: str) -> float | None:
    try:
        number = float(plain_minus(text))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _field(key: str) -> tuple[set[Any], tuple[float, float], tuple[str, ...]]:
    """Return the types and the bounds of a scene's key, and the words that it takes."""
    from fractals.scene.model import TABLES, Scene

    models: list[Any] = [Scene, *TABLES.values()]
    field = next(model.model_fields[key] for model in models if key in model.model_fields)
    parts = list(_parts(field.annotation))
    least, most = field.limits.get("ge", -math.inf), field.limits.get("le", math.inf)
    words = [part for part in parts if get_origin(part) is Literal]
    kinds = {part for part in parts if part not in words and part is not NoneType}
    return kinds, (least, most), tuple(word for part in words for word in get_args(part))


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, without what annotates them."""
    if get_origin(annotation) is Annotated:
        yield from _parts(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation

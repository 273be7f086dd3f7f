"""Files of formulas, of Fractint (`.frm`) and Ultra Fractal (`.ufm`): entries ``name { ... }``.

A comment goes from ; to the end of its line, and a line that ends in a backslash goes on.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fractals.errors import SceneError, shown
from fractals.io.foreign._frm import FrmText
from fractals.io.foreign._view import FormulaMatch

MAX_ENTRIES = 10_000  # of a file
QUOTE = re.compile(r'"[^"]*"?|;')  # a text in quotes, as far as this line has it, or a comment
PART = re.compile(r'"[^"]*"|[{}]')  # where brackets are parts of texts, they end no entry
Formulas = dict[str, FrmText]  # by name, in lower case


@dataclass
class _OpenFormula:
    name: str
    line: int
    text: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def plain_name(name: str) -> str:
    """Return the name of a formula without its symmetry, which changes no picture.

    >>> plain_name("Wineglass(XAXIS)")
    'Wineglass'
    """
    return re.split(r"[(\[=]", name, maxsplit=1)[0].strip()


def formulas_of(lines: list[str], key: Callable[[str], str] = plain_name) -> Formulas:
    """Return the entries of a file by name, which `key` shortens, in lower case."""
    found: Formulas = {}
    now: _OpenFormula | None = None
    for number, code in joined(lines):
        at, end = 0, len(code.rstrip())
        while at < end:
            if now is None:
                brace = code.find("{", at)
                if brace < 0:
                    break  # text between formulas
                now = _OpenFormula(code[at:brace].strip(), number)
                at = brace + 1
            close = next((m.start() for m in PART.finditer(code, at) if m[0] == "}"), -1)
            stop = close if close >= 0 else end
            now.text.append(code[at:stop])
            now.lines.append(number)
            at = stop + 1
            if close >= 0:
                own = FrmText("\n".join(now.text), f"line {now.line}", now.name, tuple(now.lines))
                found.setdefault(key(now.name).lower(), own)
                now = None
        if len(found) > MAX_ENTRIES:
            raise SceneError(f"line {number}: a file has at most {MAX_ENTRIES} formulas")
    if now is not None and not found:
        raise SceneError(f"line {now.line}: the entry '{shown(now.name, 80)}' is never closed")
    return found


def joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield lines without comments, each with its number; one that ends in a backslash goes on."""
    parts: list[str] = []
    begun, quoted = 1, False
    for number, line in enumerate(lines, 1):
        if not parts:
            begun, quoted = number, False
        code, quoted = _code(line.lstrip() if parts else line, quoted)
        if code.rstrip().endswith("\\"):
            # A backslash alone is a blank, so that it parts two words.
            parts.append(code.rstrip()[:-1] or ("" if any(parts) else " "))
            continue
        yield begun, "".join([*parts, code])
        parts = []
    if parts:
        yield begun, "".join(parts)


def _code(line: str, quoted: bool) -> tuple[str, bool]:
    """Return a line without its comment, and whether it ends within a text in quotes."""
    at = 0
    if quoted:
        at = line.find('"') + 1
        if not at:
            return line, True
    for match in QUOTE.finditer(line, at):
        if match[0] == ";":
            return line[: match.start()], False
        if len(match[0]) == 1 or not match[0].endswith('"'):
            return line, True
    return line, False


# --- The parts of a formula of Ultra Fractal: sections, directives, settings, parameters

SECTIONS = (
    *("global", "builtin", "init", "loop", "bailout", "final", "default", "switch", "transform"),
    *("perturbinit", "perturbloop"),
)
LABEL = re.compile(rf"\s*({'|'.join(SECTIONS)})?\s*:(?!=)", re.IGNORECASE)
# What tells a formula of Ultra Fractal or Gnofract 4D from one of Fractint.
NEWER = re.compile(rf"^\s*({'|'.join(SECTIONS)})\s*:|[#@][a-z_]", re.IGNORECASE | re.MULTILINE)
DEFINED = ("ultrafractal", "ver20", "ver30", "ver40", "ver50", "ver60")
DIRECTIVE = re.compile(r"\s*\$\s*(\w+)\s*(\w*)")
BLOCK = re.compile(r"\s*(?:(\w+)\s+)?(param|func)\s+@?(\w+)(?:\s|$)", re.IGNORECASE)
ENDS = ("endparam", "endfunc", "endheading")
SETTING = re.compile(r"\s*(\w+)\s*=\s*(.*)")
TYPES = ("bool", "int", "float", "complex")
# The built-in formulas, which a section `builtin` names by a number.
BUILTIN = {
    "1": ("z = @start", "z = z*z + #pixel", "|z| < @bailout"),
    "2": ("z = #pixel", "z = z*z + @seed", "|z| < @bailout"),
}
Lines = list[tuple[int, str]]  # the number of each line in the file, and its text


@dataclass
class Param:
    """What a formula asks for: a number, a choice, or a function."""

    name: str  # in lower case
    kind: str = ""  # one of `TYPES`, "func", another word of the file, or "": by the default
    line: int = 0
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def default(self) -> str:
        """Return the usual value as it is written."""
        return self.settings.get("default", "").strip()

    @property
    def labels(self) -> list[str]:
        """Return the choices of an enumeration."""
        return re.findall(r'"([^"]*)"', self.settings.get("enum", ""))

    @property
    def title(self) -> str:
        """Return the words for the user, or ""."""
        text = self.settings.get("caption") or self.settings.get("title") or ""
        return shown(text.strip().strip('"'), 80)

    @property
    def type(self) -> str:
        """Return the type of the value."""
        if self.kind or self.labels:
            return self.kind or "int"
        if self.default.lower() in ("true", "false"):
            return "bool"
        if re.fullmatch(r"[+-]?\d+", self.default, re.ASCII):
            return "int"
        return (
            "float" if re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", self.default, re.I) else "complex"
        )


@dataclass
class UltraEntry:
    """The parts of a formula; `at` names the line where it begins."""

    at: str
    sections: dict[str, Lines] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)  # of the section `default`
    params: dict[str, Param] = field(default_factory=dict)
    older: bool = False  # without labels, so that the last statement is the condition


def is_newer(text: str) -> bool:
    """Tell whether a formula is written as for Ultra Fractal."""
    return NEWER.search(text) is not None


def entry_of(formula: FrmText) -> UltraEntry:
    """Return the parts of a formula.

    `SceneError`: it is invalid, or something else than a formula.
    """
    if re.match(r"class\s", formula.name, re.IGNORECASE):
        raise SceneError(f"{formula.where}: classes are unsupported")
    entry = UltraEntry(formula.where)
    _split(_chosen(formula), entry)
    _defaults(entry)
    if builtin := dict(_settings(entry.sections.get("builtin", []))).get("type"):
        if builtin not in BUILTIN:
            raise SceneError(f"{entry.at}: the built-in formula '{shown(builtin, 20)}' is unknown")
        line = entry.sections["builtin"][0][0]
        for name, text in zip(("init", "loop", "bailout"), BUILTIN[builtin], strict=True):
            entry.sections[name] = [(line, text)]
    return entry


def _chosen(formula: FrmText) -> Lines:
    """Return the lines that directives such as ``$ifdef`` leave."""
    defined, kept = set(DEFINED), []
    open_ifs: list[tuple[bool, bool]] = []  # whether each holds, and those around it
    for number, line in zip(formula.lines, formula.text.split("\n"), strict=True):
        match = DIRECTIVE.match(line)
        here = all(open_ifs[-1]) if open_ifs else True
        if not match:
            if here:
                kept.append((number, line))
            continue
        word, name = match[1].lower(), match[2].lower()
        if word in ("ifdef", "ifndef"):
            open_ifs.append(((name in defined) == (word == "ifdef"), here))
        elif word in ("else", "endif") and open_ifs:
            holds, around = open_ifs.pop()
            if word == "else":
                open_ifs.append((not holds, around))
        elif word in ("define", "undef"):
            if here:
                (defined.add if word == "define" else defined.discard)(name)
        else:
            raise SceneError(f"line {number}: '${word[:20]}' is not expected")
    if open_ifs:
        raise SceneError(f"{formula.where}: a $ifdef without $endif")
    return kept


def _split(lines: Lines, entry: UltraEntry) -> None:
    """Sort lines by their sections. Without labels, a colon parts the first two, as in Fractint."""
    now, labelled = "init", False
    for number, line in lines:
        text = line
        match = LABEL.match(text)
        if match and (match[1] or not labelled):
            now, labelled = (match[1] or "loop").lower(), True
            entry.older |= not match[1]
            text = text[match.end() :]
        elif other := re.fullmatch(r"\s*([a-z]\w*)\s*:\s*", text, re.IGNORECASE):
            raise SceneError(f"line {number}: the section '{shown(other[1], 40)}' is not known")
        elif not labelled:
            before, colon, after = text.partition(":")
            if colon:
                entry.sections.setdefault(now, []).append((number, before))
                now, labelled, text = "loop", True, after
                entry.older = True
        entry.sections.setdefault(now, []).append((number, text))


def _settings(lines: Lines) -> list[tuple[str, str]]:
    return [(m[1].lower(), m[2].strip()) for _, line in lines if (m := SETTING.match(line))]


def _defaults(entry: UltraEntry) -> None:
    """Read the section `default`: settings, and blocks of parameters, functions and headings."""
    block: Param | None = None  # the one that is open
    within = False
    for number, line in entry.sections.get("default", []):
        word = line.strip().lower()
        if match := BLOCK.match(line):
            kind = "func" if match[2].lower() == "func" else (match[1] or "").lower()
            block, within = Param(match[3].lower(), kind, number), True
            entry.params[block.name] = block
            line = line[match.end() :]
            word = line.strip().lower()
        if word == "heading" or word in ENDS:
            block, within = None, word == "heading"
            continue
        if setting := SETTING.match(line):
            key, value = setting[1].lower(), setting[2].strip()
            if block:
                block.settings[key] = value
            elif not within:
                entry.settings[key] = value


# --- Formulas that entries of Fractint often name, for where their file is not here
#
# Each is a text that `_frm` reads, and a formula of this program that counts the same where the
# entry has no parameters, or None.


def _added(step: str) -> str:
    return f"z = pixel: z = {step} + pixel + p1, |z| < 4"


def _expression(step: str) -> FormulaMatch:
    return FormulaMatch({"name": "expression", "step": step})


SQUARE, CUBE = "real(z*z)", "real(z*z*z)"
FOLDED = "(abs(real(z)) + flip(imag(z)))"  # |x| + iy
# By the letters and digits of their names, in lower case.
KNOWN: dict[str, tuple[str, FormulaMatch | None]] = {
    "mandelbrot": (_added("z*z"), FormulaMatch("mandelbrot")),
    "burningship": (
        _added("conj(sqr(abs(z)))"),
        FormulaMatch("burning_ship", same=False, conjugate=True),
    ),
    "burningshipmandelbrot": (
        _added("conj(sqr(abs(z)))"),
        FormulaMatch("burning_ship", same=False, conjugate=True),
    ),
    "mandelbar": (_added("sqr(conj(z))"), FormulaMatch("tricorn")),
    "tricorn": (_added("sqr(conj(z))"), FormulaMatch("tricorn")),
    "perpmandelbrot": (_added("sqr(conj(" + FOLDED + "))"), _expression("conj(absx(z))^2 + c")),
    "perpburningship": (
        _added("sqr(real(z) - flip(abs(imag(z))))"),
        _expression("conj(absy(z))^2 + c"),
    ),
    "heartmandelbrot": (_added(f"sqr({FOLDED})"), FormulaMatch("heart")),
    "heart": (_added(f"sqr({FOLDED})"), FormulaMatch("heart")),
    "celticmandelbrot": (_added(f"abs({SQUARE}) + flip(imag(z*z))"), FormulaMatch("celtic")),
    "celtic": (_added(f"abs({SQUARE}) + flip(imag(z*z))"), FormulaMatch("celtic")),
    "celticmandelbar": (
        _added(f"abs({SQUARE}) - flip(imag(z*z))"),
        _expression("absx(conj(z)^2) + c"),
    ),
    "perpceltic": (
        _added(f"abs({SQUARE}) - flip(imag(sqr({FOLDED})))"),
        _expression("absx(conj(absx(z))^2) + c"),
    ),
    "celticheart": (
        _added(f"abs({SQUARE}) + flip(imag(sqr({FOLDED})))"),
        FormulaMatch("celtic_heart"),
    ),
    "buffalo": (_added("conj(abs(z*z))"), FormulaMatch("buffalo", same=False, conjugate=True)),
    "perpbuffalo": (
        _added(f"abs({SQUARE}) - flip(2*real(z)*abs(imag(z)))"),
        _expression("absx(conj(absy(z))^2) + c"),
    ),
    "cubicmandelbrorth": (_added("flip(imag(z*z*z)) - real(z*z*z)"), _expression("-conj(z)^3 + c")),
    "cubicmandelbrdiag": (_added("conj(z*z*z)"), _expression("conj(z)^3 + c")),
    "cubicburningship": (_added("abs(z)*abs(z)*abs(z)"), None),
    "cubicbuffalo": (_added("abs(z*z*z)"), None),
    "cubicquasiheart": (
        _added(f"real({FOLDED}^3) + flip(abs(3*real(z)^2 - imag(z)^2)*imag(z))"),
        None,
    ),
    "cubicquasiperp": (
        _added(f"real({FOLDED}^3) - flip(abs(3*real(z)^2 - imag(z)^2)*imag(z))"),
        None,
    ),
    "cubicquasiburnshp": (_added(f"real({FOLDED}^3) - flip(abs(imag(z*z*z)))"), None),
    "partcubbuffreal": (_added(f"abs({CUBE}) + flip(imag(z*z*z))"), None),
    "partcubbuffimag": (_added(f"{CUBE} + flip(abs(imag(z*z*z)))"), None),
    "partcubbsreal": (_added(f"real({FOLDED}^3) + flip(imag(z*z*z))"), None),
    "partcubbsimag": (
        _added(f"{CUBE} + flip((3*real(z)^2 - imag(z)^2)*abs(imag(z)))"),
        None,
    ),
    "wineglass": (
        "c = z = pixel: z = z*z + c, c = real(c)*(1 + flip(imag(c)))/2 + z, |z| <= 4",
        None,
    ),
    "leemandel1": ("z = pixel: z = sqr(z + sqr(pixel)/z), |z| < 4", None),
    "leemandel2": ("z = pixel: z = sqr((z + sqr(pixel)/z)*pixel), |z| < 4", None),
    "leemandel3": (
        "z = pixel, c = pixel - sqr(z): c = pixel + c/z, z = c - z*pixel, |z| < 4",
        None,
    ),
    "richard1": ("z = pixel: s = z*z, z = s*sin(s) + s + pixel, |z| <= 50", None),
    "shifter01": (
        "z = c = pixel, n = 1: z = z*z*(n <= p1) + z*z*z*(p1 < n) + c, n = n + 1, |z| < 4 + p2",
        None,
    ),
    "newtonreal": (
        "z = pixel: x = real(z), y = imag(z), d = 9*x*y + 4, e1 = 6*x*y + 2,"
        "z = (x*e1 - (y*y*y - 3*y - 2)/x + flip(y*e1 + (x*x*x - 3*x + 2)/y))/d,"
        "(|real(z)| >= p1) || (|imag(z) + 1| >= p1)",
        None,
    ),
    "g303m": (
        "z = pixel: x = real(z), y = imag(z), z = x - p1*fn1(y*y + round(p2*fn2(y)))"
        " + flip(y - p1*fn1(x*x + round(p2*fn2(x)))), |z| <= 4",
        None,
    ),
    "tilemandel": (
        "m = real(p2)*(p2 > 0) + (p2 <= 0)/3,"
        "w = (imag(p2)*(flip(p2) > 0) + 3*(flip(p2) <= 0))*2*pi/3,"
        "z = c = (asin(sin(w*real(pixel))) + flip(asin(sin(w*imag(pixel)))))/m + p1:"
        "z = z*z + c, |z| <= 4",
        None,
    ),
    "tilejulia": (
        "m = real(p2)*(p2 > 0) + (p2 <= 0)/3,"
        "w = (imag(p2)*(flip(p2) > 0) + 3*(flip(p2) <= 0))*2*pi/3,"
        "z = (asin(sin(w*real(pixel))) + flip(asin(sin(w*imag(pixel)))))/m + p1:"
        "z = z*z + p3, |z| <= 4",
        None,
    ),
    "fivemandels": (
        "c = z = pixel, n = 0:"
        "a = n == real(p1), b = n == imag(p1), d = n == real(p2), f = n == imag(p2),"
        "k = 1 - (a||b||d||f), s = pixel*(1.5*a + 2.25*b + 3.375*d + 5.0625*f),"
        "z = z*k + s, c = c*k + s, z = z*z + c, n = n + 1, |z| <= 16",
        None,
    ),
    "spider": ("c = z = pixel: z = z*z + c, c = c/2 + z, |z| <= 4", FormulaMatch("spider")),
}

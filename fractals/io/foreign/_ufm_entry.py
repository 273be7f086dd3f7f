"""The parts of a formula of Ultra Fractal: its sections, directives, settings and parameters."""

import re
from dataclasses import dataclass, field

from fractals.errors import SceneError, shown
from fractals.io.foreign._frm import FrmText

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

"""Files of formulas, of Fractint (`.frm`) and Ultra Fractal (`.ufm`): entries ``name { ... }``.

A comment goes from ; to the end of its line, and a line that ends in a backslash goes on.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fractals.errors import SceneError
from fractals.io.foreign._frm import FrmText

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

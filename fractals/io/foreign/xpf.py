"""Positions of XaoS (`.xpf`): commands as s-expressions, such as ``(view -0.75 0 2.5 2.5)``.

The imaginary axis points down there. "Julia" means there that orbits begin at the pixel and a seed
is c; in the methods of Newton and in lambda it is the other way round.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from fractals.errors import SceneError
from fractals.formulas.language import parser
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._text import limit, lines_of, number, only_one, positive, real
from fractals.io.foreign._view import EXACT, SIZE, FormulaMatch, Place, placed, power_of

MAX_COMMANDS = 10_000
MAX_TOKENS = 100_000  # of a file: brackets, words and lines
LIMIT = "170"  # of iterations, where a file names none
BAILOUT = "4"  # the square of the escape radius


class XaosFormula(NamedTuple):
    """A formula of XaoS.

    Attributes
    ----------
    kin : FormulaMatch, or callable
        ``kin(julia, seed)`` returns the formula of this program, or None if it is unsupported.
    view : str
        The first view: center, width and height.
    seed : str
        Of its Julia sets, where a file names none.
    julia : bool
        Whether a Julia set is drawn where a file doesn't say.
    bailout : str
        The square of the escape radius, where that tells what is inside.
    lost : str
        How the scene differs.
    """

    kin: FormulaMatch | Callable[[bool, tuple[str, str]], FormulaMatch | None] | None
    view: str = "0 0 2.5 2.5"
    seed: str = "0 0"
    julia: bool = False
    bailout: str = ""
    lost: str = ""


def _newton(power: int, step: str) -> Callable[[bool, tuple[str, str]], FormulaMatch | None]:
    """Return Newton's method; its "Julia set" begins at the seed and adds the pixel."""

    def kin(julia: bool, seed: tuple[str, str]) -> FormulaMatch:
        if not julia:
            return FormulaMatch({"name": "newton", "power": power}, conjugate=True)
        return _own(f"{step} + c", f"{seed[0]} + {seed[1]}*i", tolerance=1e-3)

    return kin


def _lambda(julia: bool, seed: tuple[str, str]) -> FormulaMatch:
    """Return the logistic map; c is the pixel, and orbits begin at the seed or there, too."""
    if julia and Decimal(seed[0]) == Decimal("0.5") and not Decimal(seed[1]):
        return FormulaMatch("logistic", conjugate=True)
    return _own("c*z*(1 - z)", f"{seed[0]} + {seed[1]}*i" if julia else "c")


def _phoenix(julia: bool, seed: tuple[str, str]) -> FormulaMatch | None:
    if not julia or abs(Decimal(seed[1])) > 2:
        return None
    return FormulaMatch({"name": "phoenix", "memory": float(seed[1])}, conjugate=True)


def _own(step: str, start: str, **options: float) -> FormulaMatch:
    return FormulaMatch({"name": "expression", "step": step, "start": start, **options})


CONVERGED = "the test of having converged: a step below 1e-3, and here below 1e-6"
ATTRACTED = "the test of having converged to 1, and that counts are reversed outside"
ROOT = "1.0199502202048319698 0"
FORMULAS = {
    "mandel": XaosFormula(power_of(2), "-0.75 0 2.5 2.5"),
    "mandel3": XaosFormula(power_of(3)),
    "mandel4": XaosFormula(power_of(4)),
    "mandel5": XaosFormula(power_of(5)),
    "mandel6": XaosFormula(power_of(6)),
    "mandel9": XaosFormula(_own("z^9 + c", "0")),
    "mbar": XaosFormula(FormulaMatch("tricorn", conjugate=True), "0 0 2.5 3.5"),
    "trice": XaosFormula(_own("(z^2 + z)/2 + c", "c"), "0 0 2.5 4.5", bailout=BAILOUT),
    "newton": XaosFormula(_newton(3, "(2*z + 1/z^2)/3"), seed=ROOT, lost=CONVERGED),
    "newton4": XaosFormula(_newton(4, "(3*z + 1/z^3)/4"), seed=ROOT, lost=CONVERGED),
    "phoenix": XaosFormula(_phoenix, seed="0.56667 -0.5", julia=True, bailout=BAILOUT),
    "magnet": XaosFormula(
        FormulaMatch("magnet1", conjugate=True), "1.5 0 3 4.4", bailout="10000", lost=ATTRACTED
    ),
    "magnet2": XaosFormula(
        FormulaMatch("magnet2", conjugate=True), "1 0 3 3.2", bailout="10000", lost=ATTRACTED
    ),
    "mlambda": XaosFormula(_lambda, "0.5 0 2.5 5.5", "0.5 0", julia=True, bailout=BAILOUT),
}
SWAPPED = ("newton", "newton4", "mlambda")  # the seed of whose Julia sets is not c
# Words that have the same meaning in expressions of XaoS and of scenes.
WORDS = {"z", "c", *parser.NUMBERS, *parser.FUNCTIONS} - {
    *("log", "conj", "norm", "flip", *parser.ROUNDED)
}
# Possessive (++), and never begun within a number, so that the search is linear in the length.
IMAGINARY = re.compile(r"(?<![\d.])((?:\d++\.?+\d*+|\.\d++)(?:e[-+]?+\d++)?+)i\b", re.ASCII)
# Commands that change nothing in a picture, that only color it, and that change it altogether.
QUIET = "initstate usleep wait textsleep range fastjulia fastrotate autorotate letterspersec"
COLORS = {
    "palette": "the palette, which XaoS makes of random numbers",
    "defaultpalette": "the palette",
    "outcoloring": "the coloring outside",
    "outtcoloring": "the coloring outside",
    "incoloring": "the coloring inside",
    "intcoloring": "the coloring inside",
    "filter": "the filter",
    "bailout": "the bailout",
}
NOTHING = {("outcoloring", "0"), ("incoloring", "0"), ("plane", "0"), ("perturbation", "0 0")}
WHOLLY = ("plane", "perturbation")
READ = "view formula usrform usrformInit julia juliaseed angle maxiter"
TOKEN = re.compile(r"""[()]|"[^"\n]*"|'?[^\s()"';]+|;[^\n]*|\n|["']""")
Commands = dict[str, tuple[int, list[str]]]  # name: line number and arguments; the last one counts


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a position."""
    only_one(entry)
    state = commands_of(lines_of(data))
    if not {"initstate", "view", "formula"} & state.keys():
        raise SceneError("no command of XaoS is there, such as (view -0.75 0 2.5 2.5)")
    own, kin, julia = formula_of(state)
    converging = isinstance(kin.formula, dict) and "tolerance" in kin.formula
    lost = [own.lost] if own.lost and not converging else []
    for name, (line, values) in state.items():
        said = " ".join(values)
        if name in WHOLLY and (name, said) not in NOTHING:
            raise SceneError(f"line {line}: ({name} {said[:60]}) is unsupported")
        if name == "bailout" and own.bailout == BAILOUT:
            continue
        if name in COLORS and (name, said) not in NOTHING:
            lost.append(f"{COLORS[name]}: ({name} {said[:60]})")
        elif name not in (*QUIET.split(), *COLORS, *WHOLLY, *READ.split()):
            lost.append(f"({name[:60]} ...), which is not known")

    view = arguments(state, "view", own.view.split(), number)
    where = f"line {state['view'][0]}: view" if "view" in state else "view"
    across, down = (positive(text, where) for text in view[2:])
    place = Place(
        center=(view[0], view[1]),
        # All of the view is shown, whatever the picture's shape.
        height=max(down, EXACT.divide(EXACT.multiply(across, Decimal(SIZE[1])), Decimal(SIZE[0]))),
        up=False,
        angle=-arguments(state, "angle", ["0"], real)[0],
        julia=julia,
    )
    table = placed(kin, place)
    steps = arguments(state, "maxiter", [LIMIT], lambda text, where: limit(text, where, lost))
    table["iteration"] = {"max_iterations": steps[0]}
    if own.bailout:
        bailout = real(own.bailout, "")
        if own.bailout == BAILOUT:
            bailout = arguments(state, "bailout", [BAILOUT], real)[0]
        table["iteration"]["escape_radius"] = min(math.sqrt(max(bailout, 4.0)), 1e9)
    elif converging:
        table["iteration"]["escape_radius"] = 1e9  # none escapes there
    return Imported(table, tuple(lost))


def commands_of(lines: list[str]) -> Commands:
    """Return the commands of a file; what comes before the last ``(initstate)`` is undone by it."""
    state: Commands = {}
    words: list[str] | None = None
    line = count = 1
    for k, match in enumerate(TOKEN.finditer("\n".join(lines))):
        token = match[0]
        if k >= MAX_TOKENS:
            raise SceneError(f"line {line}: a file has at most {MAX_TOKENS} brackets and words")
        if token == "\n":
            line += 1
        elif token.startswith(";"):
            continue
        elif token == "(":
            if words is not None:
                raise SceneError(f"line {line}: a list in a list is no command of XaoS")
            words, begun = [], line
        elif words is None or token in "\"'":
            raise SceneError(f"line {line}: {token[:40]!r} is out of place")
        elif token == ")":
            if not words:
                raise SceneError(f"line {line}: an empty command")
            count += 1
            if count > MAX_COMMANDS:
                raise SceneError(f"line {line}: a file has at most {MAX_COMMANDS} commands")
            if words[0] == "initstate":
                state = {}
            state[words[0]] = begun, words[1:]
            words = None
        else:
            words.append(token)
    if words is not None:
        raise SceneError(f"line {begun}: a bracket is never closed")
    return state


def arguments(
    state: Commands, name: str, default: list[str], kind: Callable[[str, str], Any]
) -> list[Any]:
    """Return the arguments of a command, each as `kind` makes it."""
    line, values = state.get(name, (0, default))
    if len(values) != len(default):
        raise SceneError(f"line {line}: ({name} ...) has {len(default)} arguments")
    return [kind(value, f"line {line}: {name}") for value in values]


def formula_of(state: Commands) -> tuple[XaosFormula, FormulaMatch, tuple[str, str] | None]:
    """Return the formula of XaoS, its match, and the c of a Julia set."""
    line, values = state.get("formula", (1, ["'mandel"]))
    name = values[0].removeprefix("'") if len(values) == 1 else ""
    own = _user(state) if name == "user" else FORMULAS.get(name)
    if own is None:
        raise SceneError(f"line {line}: the formula '{name[:80]}' is unsupported")
    said = arguments(state, "julia", ["#t" if own.julia else "#f"], lambda value, where: value)
    x, y = arguments(state, "juliaseed", own.seed.split(), number)
    julia = said == ["#t"]
    kin = own.kin(julia, (x, y)) if callable(own.kin) else own.kin
    if kin is None:
        raise SceneError(f"line {line}: the formula '{name}', so drawn, is unsupported")
    if name == "phoenix":
        return own, kin, (x, "0")
    return own, kin, (x, y) if julia and name not in SWAPPED else None


def _user(state: Commands) -> XaosFormula:
    """Return the user's own formula, whose orbits begin at the pixel or at an expression in c."""
    line = state.get("usrform", (1, []))[0]
    texts = []
    for key in ("usrform", "usrformInit"):
        text = " ".join(state.get(key, (1, []))[1]).replace('"', "").lower()
        if len(text) > parser.MAX_CHARACTERS:
            raise SceneError(
                f"line {line}: ({key} ...) is longer than {parser.MAX_CHARACTERS} characters"
            )
        texts.append(IMAGINARY.sub(r"(\1*i)", text))
        words = re.findall(r"[a-z_]+", re.sub(r"[0-9.]e[-+]?[0-9]", "", texts[-1]))
        if unknown := [word for word in words if word not in WORDS]:
            raise SceneError(f"line {line}: '{unknown[0][:40]}' in ({key} ...) is unsupported")
    try:
        parser.parse(texts[0])
    except parser.ExpressionError as error:
        raise SceneError(f"line {line}: usrform: '{texts[0][:80]}', {error}") from None
    kin = _own(texts[0], texts[1].strip() or "c")
    return XaosFormula(kin, "-0.75 0 2.5 2.5", bailout=BAILOUT)


def make() -> Format:
    """Return the format."""
    return Format("xpf", "XaoS, a position", (".xpf",), read)

"""Positions of XaoS (`.xpf`): commands as s-expressions, such as ``(view -0.75 0 2.5 2.5)``.

The imaginary axis points down there. "Julia" means there that orbits begin at the pixel and a seed
is c; in Newton's methods, octo and lambda it is the other way round. A "plane" replaces the pixel
by a function of it.
"""

import functools
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from fractals.errors import SceneError
from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._view import (
    ForeignView,
    FormulaMatch,
    is_turned,
    limit,
    lines_of,
    number,
    only_one,
    placed,
    positive,
    power_of,
    real,
)
from fractals.io.foreign._xaos_colors import Commands, XaosOrbits, color_of
from fractals.io.foreign._xaos_formula import translated
from fractals.scene.model import MAX_ITERATIONS

MAX_COMMANDS = 10_000
MAX_TOKENS = 100_000  # of a file: brackets, words and lines
LIMIT = "170"  # of iterations, where a file names none
BAILOUT = "4"  # the square of the escape radius


class XaosFormula(NamedTuple):
    """A formula of XaoS."""

    # The next z, of z, c and p, the z before, which is 0 at first; "" if no expression has it
    step: str
    view: str = "0 0 2.5 2.5"  # the first view: center, width and height
    seed: str = "0 0"  # of its Julia sets, where a file names none
    julia: bool = False  # whether a Julia set is drawn where a file doesn't say
    kin: FormulaMatch | None = None  # the formula of this program, with any c, or of a Julia set
    begin: str = "{start}"  # where orbits begin, of {start} and {c}
    # Whether the orbits of c begin at the perturbation; if not, at its sum with c
    zero: bool = False
    swapped: bool = False  # whether c and the start change places
    # Whether an orbit that begins outside may come back. There it ends before the first step.
    may_return: bool = False
    early: int = 0  # by how many steps orbits begin earlier here
    square: str = "1"  # the square of the escape radius, over the bailout that a file names
    fixed: str = ""  # the square of the escape radius, whatever a file names; "" if it is not fixed
    # XaosOrbits end where a step is at most so long; 0: they end by escape alone
    tolerance: float = 0.0
    lost: str = ""  # how the scene differs


def _power(n: int, view: str = "0 0 2.5 2.5") -> XaosFormula:
    return XaosFormula(f"z^{n} + c", view, kin=power_of(n), early=1)


def _newton(step: str) -> XaosFormula:
    """Return Newton's method; its "Julia set" begins at the seed and adds the pixel."""
    return XaosFormula(f"{step} + c", seed=ROOT, zero=True, swapped=True, tolerance=1e-3)


def _magnet(number: int, step: str, view: str) -> XaosFormula:
    kin = FormulaMatch(f"magnet{number}", conjugate=True)
    return XaosFormula(step, view, kin=kin, zero=True, fixed="10000", lost=ATTRACTED)


ATTRACTED = "the test of having converged to 1, and that counts are reversed outside"
ROOT = "1.0199502202048319698 0"
OCTO = XaosFormula(
    "(z - c)^3 + p + c", begin="{start} + {c}", zero=True, swapped=True, early=-1
)  # iterates w, the sum of c and the z before, because XaoS tests w for escape
FORMULAS = {
    "mandel": _power(2, "-0.75 0 2.5 2.5"),
    "mandel3": _power(3),
    "mandel4": _power(4),
    "mandel5": _power(5),
    "mandel6": _power(6),
    "mandel9": _power(9),
    "mbar": XaosFormula(
        "conj(z)^2 + c", "0 0 2.5 3.5", kin=FormulaMatch("tricorn", conjugate=True), early=1
    ),
    "trice": XaosFormula("(z^2 + z)/2 + c", "0 0 2.5 4.5", may_return=True),
    # z = c at first, so that z = 2 after a step, which must not be outside.
    "catseye": XaosFormula("z/c + c/z", "0 0 2.5 4.5", may_return=True, square="1.0000000025"),
    "newton": _newton("(2*z + 1/z^2)/3"),
    "newton4": _newton("(3*z + 1/z^3)/4"),
    "barnsley": XaosFormula(
        "(z - sign(z))*c", seed="-0.6 1.1", julia=True, zero=True, may_return=True
    ),
    "barnsley2": XaosFormula(
        "(z - sign(im(z*c)))*c", "0 0 2.5 5.5", "-0.6 1.1", True, zero=True, may_return=True
    ),
    "barnsley3": XaosFormula(
        "z^2 - 1 + c*(re(z) - abs(re(z)))/2",
        "0 0 2.5 3.5",
        "0 0.4",
        True,
        zero=True,
        may_return=True,
    ),
    "symbarn": XaosFormula(
        "(z - sign(z) - i*sign(im(z)))*c", "0 0 8 1", "1.3 1.3", True, may_return=True, square="4"
    ),
    "octo": OCTO,
    "octal": OCTO,  # its name before version 3.1
    "phoenix": XaosFormula("", seed="0.56667 -0.5", julia=True),  # see `_phoenix`
    "magnet": _magnet(1, "((z^2 + c - 1)/(2*z + c - 2))^2", "1.5 0 3 4.4"),
    "magnet2": _magnet(
        2,
        "((z^3 + 3*(c - 1)*z + (c - 1)*(c - 2))/(3*z^2 + 3*(c - 2)*z + (c - 1)*(c - 2) + 1))^2",
        "1 0 3 3.2",
    ),
    "mlambda": XaosFormula("c*z*(1 - z)", "0 0 2.5 5.5", "0.5 0", True, swapped=True),
    "spider": XaosFormula("", "0 0 2.5 4.5", kin=FormulaMatch("spider", conjugate=True)),
}
PLANES = (
    "c",
    "(1/c)",
    "(1/c + 0.25)",
    "(c/2 - c^2/4)",
    "(1/(2*c) - 1/(4*c^2))",
    "((1/c + 1)/2 - (1/c + 1)^2/4)",
    "(1/c - 1.40115)",
)
# Commands that change nothing in a picture, and what is lost of those that color it.
QUIET = (
    "initstate usleep wait textsleep range fastjulia fastrotate autorotate letterspersec cycling "
    "cyclingspeed periodicity speedup maxstep fastmode rotationspeed zoomcenter intcoloring "
    "outtcoloring"
)
FILTERS = {
    "edge": "edges drawn as lines",
    "edge2": "edges drawn as lines",
    "threed": "the relief in three dimensions",
    "starfield": "the field of stars",
    "stereogram": "the stereogram",
    "blur": "the blur of motion",
    "emboss": "the emboss",
}
SHARP = ("anti", "truecolor", "palette", "interlace")  # filters that a picture here doesn't need
COLORED = "palette defaultpalette palettecolors shiftpalette outcoloring incoloring"
READ = "view formula usrform usrformInit julia juliaseed angle maxiter bailout plane perturbation"
FIRST_OF_FORMULA = (
    "view",
    "angle",
    "julia",
    "juliaseed",
)  # what a formula sets to its first values
TOKEN = re.compile(r"""[()]|"(?:[^"\\]++|\\.)*+"|'?[^\s()"';]+|;[^\n]*|\n|["']""", re.DOTALL)


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a position."""
    only_one(entry)
    state = commands_of(lines_of(data))
    if not {"initstate", "view", "formula"} & state.keys():
        raise SceneError("no command of XaoS is there, such as (view -0.75 0 2.5 2.5)")
    own, kin, julia = formula_of(state)
    lost = [own.lost] if own.lost else []
    for name, (_, values) in state.items():
        kind, _, which = name.partition(" '")
        if kind == "filter":
            if values[-1:] != ["#f"] and which not in SHARP:
                lost.append(FILTERS.get(which, f"the filter '{which[:40]}', which is not known"))
        elif name not in f"{QUIET} {COLORED} {READ}".split():
            lost.append(f"({name[:60]} ...), which is not known")

    view = arguments(state, "view", own.view.split(), number)
    where = f"line {state['view'][0]}: view" if "view" in state else "view"
    across, down = (positive(text, where) for text in view[2:])
    place = ForeignView(
        center=(view[0], view[1]),
        height=down,
        width=across,  # all of the view is shown, whatever the picture's shape
        up=False,
        angle=-arguments(state, "angle", ["0"], real)[0],
        julia=julia,
    )
    table = placed(kin, place)
    steps = arguments(state, "maxiter", [LIMIT], lambda text, where: limit(text, where, lost))[0]
    # A step more where orbits begin a step earlier: XaoS draws as inside what has not escaped
    # before its last step, and the last z is the same.
    limit_here = max(1, min(steps + own.early, MAX_ITERATIONS))
    radius = radius_of(state, own, lost)
    table["iteration"] = {"max_iterations": limit_here, "escape_radius": radius}
    last = own.early >= 0 and not own.fixed  # not of `octo` and `magnet`, whose orbits end near 1
    orbits = XaosOrbits(
        own.early,
        bool(own.tolerance),
        is_turned(kin, up=False),
        radius,
        last,
        _c_is_its_own(state, own),
    )
    table["color"] = color_of(state, orbits, steps, lost)
    return Imported(table, tuple(lost))


def commands_of(lines: list[str]) -> Commands:
    """Return the commands of a file; what comes before the last ``(initstate)`` is undone by it."""
    state: dict[str, tuple[int, list[str]]] = {}  # the last command of a name counts
    words: list[str] | None = None
    line = count = 1
    for k, match in enumerate(TOKEN.finditer("\n".join(lines))):
        token = match[0]
        if k >= MAX_TOKENS:
            raise SceneError(f"line {line}: a file has at most {MAX_TOKENS} brackets and words")
        line += token.count("\n")
        if token == "\n" or token.startswith(";"):
            continue
        if token == "(":
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
            for name in FIRST_OF_FORMULA if words[0] == "formula" else ():
                state.pop(name, None)
            several = words[0] == "filter" and len(words) > 1  # each filter for itself
            key = " ".join(words[: 1 + several])
            state.pop(key, None)  # so that commands stand in the order in which they count
            state[key] = begun, words[1 + several :]
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


def truth(text: str, where: str) -> bool:
    """Return whether a word is #t, and not #f."""
    if text not in ("#t", "#f"):
        raise SceneError(f"{where}: '{text[:40]}' is neither #t nor #f")
    return text == "#t"


def formula_of(state: Commands) -> tuple[XaosFormula, FormulaMatch, tuple[str, str] | None]:
    """Return the formula of XaoS, its match, and the c of a Julia set."""
    line, values = state.get("formula", (1, ["'mandel"]))
    name = values[0].removeprefix("'") if len(values) == 1 else ""
    own, first = (_user(state) if name == "user" else FORMULAS.get(name)), ""
    if own is None:
        raise SceneError(f"line {line}: the formula '{name[:80]}' is unsupported")
    if name == "user":
        first = _expression(state, "usrformInit", "c")
    (julia,) = arguments(state, "julia", ["#t" if own.julia else "#f"], truth)
    x, y = arguments(state, "juliaseed", own.seed.split(), number)
    plane = _plane(state)
    moved = _complex(*arguments(state, "perturbation", ["0", "0"], number))
    if name == "phoenix" and julia:
        own, y = _phoenix(own, y), "0"
    logistic = name == "mlambda" and julia and Decimal(x) == Decimal("0.5") and not Decimal(y)
    if plane == "c" and logistic:
        return own, FormulaMatch("logistic", conjugate=True), None
    if own.kin and plane == "c" and (julia or moved == "0") and not first:
        return own._replace(early=own.early * (not julia)), own.kin, (x, y) if julia else None
    if not own.step:
        raise SceneError(f"line {line}: the formula '{name}', so drawn, is unsupported")
    if julia:
        start, c = plane, _complex(x, y)
    else:
        start = moved if own.zero else plane if moved == "0" else f"({plane} + {moved})"
        c = plane
    if own.swapped:
        start, c = c, start
    begin = re.sub(r"\bc\b", c, first) if first else own.begin.format(start=start, c=c)
    step = re.sub(r"\bc\b", c, own.step)
    try:
        if own.may_return:
            begin, step = _staying(begin, step, radius_of(state, own, []), name == "user")
        syntax.parse(begin), syntax.parse(step)
    except syntax.ExpressionError as error:
        raise SceneError(f"line {line}: the formula '{name}' as an expression: {error}") from None
    formula: dict[str, Any] = {"name": "expression", "step": step, "start": begin}
    if own.tolerance:
        formula |= {"tolerance": own.tolerance, "escapes": False}
    return own._replace(early=min(own.early, 0)), FormulaMatch(formula), None


def _complex(x: str, y: str) -> str:
    """Return a number as one operand of an expression."""
    if Decimal(y):
        return f"({x} + {y}*i)"
    return f"({x})" if Decimal(x) else "0"


def _plane(state: Commands) -> str:
    """Return what takes the place of the pixel, in c."""
    line, values = state.get("plane", (0, ["0"]))
    if len(values) != 1 or values[0] not in map(str, range(len(PLANES))):
        raise SceneError(f"line {line}: (plane {' '.join(values)[:60]}) is unsupported")
    return PLANES[int(values[0])]


def _phoenix(own: XaosFormula, memory: str) -> XaosFormula:
    """Return z² + Re c + Im c p, of which only Re c is left as c."""
    kin = None
    if abs(Decimal(memory)) <= 2:
        kin = FormulaMatch({"name": "phoenix", "memory": float(memory)}, conjugate=True)
    return own._replace(kin=kin, step=f"z^2 + c + ({memory})*p")


def _staying(begin: str, step: str, radius: float, bounded: bool) -> tuple[str, str]:
    """Return start and step with which an orbit that begins outside stays there.

    A start outside is moved far away; a step that may be bounded has to do that itself. A step with
    p stays as it is, because p and sign exclude each other.
    """
    if syntax.uses(syntax.parse(step), "p") or not syntax.uses(syntax.parse(begin), "c"):
        return begin, step
    outside = "(1 + sign(abs({}) - " + repr(radius) + "))"  # 2, and 0 inside
    if bounded:
        return begin, f"{step} + 1e12*{outside.format('z')}"
    return f"({begin})*(1 + 1e9*{outside.format(begin)})", step


def _expression(state: Commands, key: str, variables: str) -> str:
    """Return the expression that a user wrote, or ""."""
    line, values = state.get(key, (state.get("usrform", (1, []))[0], []))
    text = " ".join(values).replace('"', "")
    try:
        return translated(text, variables, key) if text.strip() else ""
    except SceneError as error:
        raise SceneError(f"line {line}: {error}") from None


@functools.cache
def spelled() -> dict[Tree, FormulaMatch]:
    """Return formulas of this program by what users write for them."""
    found = {f"z^{n}": power_of(n) for n in range(2, syntax.MAX_POWER + 1)}
    found |= {"z*z": power_of(2), "z*z*z": power_of(3)}
    for y in ("im(z)", "re(im(z))"):  # of abs and rabs
        found[f"(abs(re(z)) + i*abs({y}))^2"] = FormulaMatch("burning_ship")
    return {
        syntax.parse(text): kin
        for step, kin in found.items()
        for text in (f"{step} + c", f"c + {step}")
        if kin
    }


def _user(state: Commands) -> XaosFormula:
    """Return the user's own formula, whose orbits begin at the pixel or at an expression in c."""
    line = state.get("usrform", (1, []))[0]
    step = _expression(state, "usrform", "z c p")
    try:
        tree = syntax.parse(step)
    except syntax.ExpressionError as error:
        raise SceneError(f"line {line}: usrform: '{step[:80]}', {error}") from None
    kin = spelled().get(tree)
    early = int(kin is not None)
    return XaosFormula(step, "-0.75 0 2.5 2.5", kin=kin, early=early, may_return=True)


def radius_of(state: Commands, own: XaosFormula, lost: list[str]) -> float:
    """Return the escape radius; add a line to `lost` where a scene can't have it."""
    if own.fixed:
        return math.sqrt(float(own.fixed))
    bailout = arguments(state, "bailout", [BAILOUT], real)[0]
    square = bailout * float(own.square)
    if square < 4:
        lost.append(f"the bailout of {bailout:g}: {4 / float(own.square):g} is the least")
    return min(math.sqrt(max(square, 4.0)), 1e9)


def _c_is_its_own(state: Commands, own: XaosFormula) -> bool:
    """Tell whether the c of orbits here is what XaoS has as c: the pixel, or a Julia set's seed."""
    (julia,) = arguments(state, "julia", ["#t" if own.julia else "#f"], truth)
    named = own.kin is not None and "usrformInit" not in state
    memory = state.get("formula", (0, [""]))[1] == ["'phoenix"]  # Im c is a number of its formula
    return _plane(state) == "c" and not own.swapped and not memory and (named or not julia)


def make() -> Format:
    """Return the format."""
    return Format("xpf", "XaoS, a position", (".xpf",), read)

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
from fractals.io.foreign._par_colors import END, FAR, FLAT, NEAR
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
    # Orbits end where a step is at most so long; 0: they end by escape alone
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
# Rules of colors outside by which parts of z are added to the count: Re z, Im z, Re z / Im z.
ADDED = {1: (1.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0), 3: (0.0, 0.0, 1.0), 4: (1.0, 1.0, 1.0)}
OUTSIDE = {
    6: "the count, downwards where Re z or Im z is small",
    7: "the logarithm of |z|² over the count",
    10: "true colors of Re z and Im z",
}
# Rules of colors inside that are drawn, but for `octo` and `magnet`: by parts of the last z, and by
# waves of it: the wave, how many counts 1 of it is worth, and those of 0.
PARTS = (1, 2, 3)
WAVES = {
    4: ("distance", 64.0, 0.0),
    5: ("product", 256.0, 0.0),
    6: ("radial", 256.0, 0.0),
    7: ("saddle", 256.0, 0.0),
    8: ("angle", 64.0 * math.tau, 0.0),
    9: ("squares", 20_000 / 256, 15_000 / 256),
}
OF_C = (4, 5, 8)  # rules that look at c, too
INSIDE = {
    1: "the size of the last z",
    2: "the direction of the last z",
    3: "Re z / Im z of the last z",
    4: "the distance of the last z from c",
    5: "waves of Re z Im z Re c Im c",
    6: "|z|² cos (Re z)² of the last z",
    7: "sin (Re² z - Im² z) of the last z",
    8: "Re z Im z Re c Im c",
    9: "squares of the last z",
    10: "true colors of Re z and Im z",
}
SMALL = 2.0  # parts of the last z below it are small (outcoloring 6)
DIRECTIONS = 20_000 / 256  # counts that a turn of the last z is worth (outcoloring 8)
COLORED = "palette defaultpalette palettecolors shiftpalette outcoloring incoloring"
READ = "view formula usrform usrformInit julia juliaseed angle maxiter bailout plane perturbation"
FIRST_OF_FORMULA = (
    "view",
    "angle",
    "julia",
    "juliaseed",
)  # what a formula sets to its first values
TOKEN = re.compile(r"""[()]|"(?:[^"\\]++|\\.)*+"|'?[^\s()"';]+|;[^\n]*|\n|["']""", re.DOTALL)
Commands = dict[str, tuple[int, list[str]]]  # name: line number and arguments; the last one counts


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
    table["color"] = color_of(state, own, kin, steps, lost)
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


def color_of(
    state: Commands, own: XaosFormula, kin: FormulaMatch, steps: int, lost: list[str]
) -> dict[str, Any]:
    """Return the colors; add a line to `lost` for each setting without an equivalent."""
    segments, shift = palette_of(state, steps, lost)
    outside, inside = (_mode(state, name, lost) for name in ("outcoloring", "incoloring"))
    count = len(segments.colors)
    turn = count * segments.length
    smooth = outside == 9 and not own.tolerance
    color: dict[str, Any] = {
        "palette": {
            "stops": [[k / count, text] for k, text in enumerate(segments.colors)],
            "space": "srgb",
        },
        "coloring": "smooth" if smooth else "count",
        "transfer": "linear",
        "density": 1 / turn,
        "offset": (1 - own.early + shift) % turn / turn,
        "inside": segments.colors[0],
    }
    turned = is_turned(kin, up=False)
    if outside == 8:
        density, first = _directions(turned)
        color |= {
            "coloring": "final_angle",
            "density": density / turn,
            "offset": (first + 1 + shift) % turn / turn,
        }
        lost.append("the colors of a quarter of the directions (outcoloring 8)")
    elif outside in ADDED:
        real_part, imag, quotient = ADDED[outside]
        sign = -1 if turned else 1  # of Im z
        own_parts = {"real": real_part, "imag": sign * imag, "quotient": sign * quotient}
        color["coloring"] = {"name": "count_plus", **own_parts}
    elif outside == 7 and not own.tolerance and own.early >= 0:
        color["coloring"] = {"name": "log_ratio", "less": own.early}
        color |= {"density": 16 / turn, "offset": (1 + shift) % turn / turn}
    elif outside == 5 or (outside == 6 and not own.tolerance):
        radius, top = radius_of(state, own, []), steps + 2 * own.early
        color["layers"] = _both_ways(color, outside, turned, radius, top)
    elif outside not in (0, 9):
        words = OUTSIDE.get(outside, "an unknown rule")
        lost.append(f"the coloring outside by {words} (outcoloring {outside}): it is by the count")
    if _last_is_seen(state, own):
        if inside in WAVES:
            wave, density, first = WAVES[inside]
            first += steps / 256 * (inside == 4)
            own_coloring = {"name": "last_wave", "wave": wave, "mirror": int(turned)}
        else:
            part, density, first = {
                1: ({}, steps // 2, 1.0),
                2: ({"size": 0.0, "angle": 1.0}, *_directions(turned)),
                3: ({"size": 0.0, "quotient": -1.0 if turned else 1.0}, 10.0, 100 / 256),
            }[inside]
            own_coloring = {"name": "last_point", **part}
        layer = {key: color[key] for key in ("palette", "transfer")}
        layer |= {"density": min(density / turn, 1e6), "offset": (first + 1 + shift) % turn / turn}
        layers = [{"coloring": own_coloring, **layer}]
        color["layers"] = [*color.get("layers", []), *layers]
        if inside == 2:
            lost.append("the colors of a quarter of the directions (incoloring 2)")
    elif inside:
        words = INSIDE.get(inside, "an unknown rule")
        lost.append(f"the coloring inside by {words} (incoloring {inside}): it is one color")
    return color


def _directions(turned: bool) -> tuple[float, float]:
    """Return how many counts a turn is worth, and those of direction 0: they run against turns."""
    return (DIRECTIONS, 0.0) if turned else (-DIRECTIONS, DIRECTIONS)


def _last_is_seen(state: Commands, own: XaosFormula) -> bool:
    """Tell whether the last z of an orbit that stays gives colors that are drawn here.

    Not of `octo`, which iterates another variable here, and of `magnet`, whose orbits end near 1.
    """
    rule = _mode(state, "incoloring", [])
    seen = rule in PARTS or (rule in WAVES and (rule not in OF_C or _c_is_its_own(state, own)))
    return seen and own.early >= 0 and not own.fixed


def _c_is_its_own(state: Commands, own: XaosFormula) -> bool:
    """Tell whether the c of orbits here is what XaoS has as c: the pixel, or a Julia set's seed."""
    (julia,) = arguments(state, "julia", ["#t" if own.julia else "#f"], truth)
    named = own.kin is not None and "usrformInit" not in state
    memory = state.get("formula", (0, [""]))[1] == ["'phoenix"]  # Im c is a number of its formula
    return _plane(state) == "c" and not own.swapped and not memory and (named or not julia)


def _both_ways(
    color: dict[str, Any], rule: int, turned: bool, radius: float, top: int
) -> list[dict[str, Any]]:
    """Return layers over counts with which the counts run down from `top` in one kind of cells.

    By rule 5 these are the cells where Im z > 0, and by 6 those where Re z or Im z is below 2. The
    cells are black in the layer of counts that run up, and the others in that of counts that run
    down, and the sum of both is seen. `turned`: whether the conjugate of z is drawn.
    """
    own: dict[str, Any] = {"coloring": {"name": "decomposition", "parts": 2}, "offset": 0.25}
    end, down_first = 0.5, not turned
    if rule == 6:
        own, down_first = {"coloring": "biomorph", "density": END}, True
        end = min(END * SMALL / radius, NEAR)

    def cells(first: str, last: str) -> dict[str, Any]:
        stops = [[0.0, first], [end, first], [end + FAR - NEAR, last], [FLAT, last]]
        return {"palette": {"stops": stops}, "transfer": "linear", "blend": "multiply", **own}

    black, white = ("#000000", "#ffffff") if down_first else ("#ffffff", "#000000")
    down = {key: color[key] for key in ("coloring", "palette", "transfer")}
    down["density"] = -color["density"]
    down["offset"] = (color["offset"] + top * color["density"]) % 1
    return [cells(black, white), {"layers": [down, cells(white, black)], "blend": "add"}]


def _mode(state: Commands, name: str, lost: list[str]) -> int:
    """Return the number of a coloring."""
    _, values = state.get(name, (0, ["0"]))
    if len(values) == 1 and re.fullmatch(r"\d{1,3}", values[0], re.ASCII):
        return int(values[0])
    lost.append(f"({name} {' '.join(values)[:60]}), which is not known")
    return 0


# Palettes of XaoS: 31 fixed colors, colors of a file, or colors of random numbers from a seed.
#
# A palette is a row of segments of equal length, in counts. Colors change evenly, in sRGB, from a
# segment's color to the next segment's color. A palette belongs to a screen with 65536 entries
# for true colors.


ENTRIES = 65536
MOST = 1000  # colors of a palette; the explorer takes 1024
DEFAULT = (  # rrggbb
    "000000 7877ee 180719 c5421c 1d120b 872e47 181b0d f1e680 111f18 f0a28b 0b041e 6a57bd 1d150e "
    "0c8c76 0a061d 32904d 160018 94bcf3 042007 e7920e 0a0d14 b89344 0d1c03 a9f898 040022 3e5330 "
    "071516 9861b8 08030c f75ceb 1f2010"
)
SEGMENT = 8  # of a palette without a seed
LIMITS = 1 << 24  # random numbers are below

Rgb = tuple[int, int, int]


class Segments(NamedTuple):
    """Colors `#rrggbb`, and how many counts lie between two of them."""

    colors: list[str]
    length: int


class _Random:
    """The linear congruential generator that all versions of XaoS have in common."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, most: int) -> int:
        """Return the next number, modulo `most`."""
        self.state = (self.state * 1103515245 + 12345) % LIMITS
        return self.state % most

    def share(self, most: int) -> int:
        """Return the next number, scaled to 0 to `most` - 1."""
        return int(self.below(LIMITS) / (LIMITS - 1) * most)

    def rgb(self, most: int) -> Rgb:
        return self.below(most), self.below(most), self.below(most)


def of_colors(colors: list[str]) -> Segments:
    """Return the palette of colors `rrggbb`."""
    return Segments([f"#{color}" for color in colors], SEGMENT)


def of_seed(kind: int, seed: int, counts: int) -> Segments:
    """Return a palette of random colors.

    `kind`: 1: dark and any colors in turn; 2: black, any color, white; 3: black, two hues, white,
    two hues. `counts`: how many counts get colors of their own; further counts repeat these.
    """
    numbers = _Random(seed)
    seed = numbers.below(LIMITS)
    light = bool(numbers.below(2))  # whether the first color is white, or nearly black
    length = abs(sum(numbers.share(255 // 3 + 4) for _ in range(4)) // 2 - 255 // 3 + 3)
    length = min(max(length, 8), ENTRIES // 3)
    total = min((ENTRIES + length - 5) // length, 4096)
    make = {1: _dark_and_any, 2: _black_any_white, 3: _hues}[kind]
    colors = make(_Random(seed), light, min(total, MOST, counts // length + 3))
    return Segments([f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colors], length)


def _dark_and_any(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    colors: list[Rgb] = [(255, 255, 255)] if light else []
    while len(colors) < count:
        dark = (len(colors) % 2 == 1) == light
        colors.append(numbers.rgb(35 if dark else 256))
    return colors


def _black_any_white(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    first, last = (255 * (not light),) * 3, (255 * light,) * 3
    return [(first, (), last)[k % 3] or numbers.rgb(256) for k in range(count)]


def _hues(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    colors: list[Rgb] = []
    for k in range(count):
        if k % 3 == 0:
            colors.append((255 * (k % 6 > 0),) * 3)
            continue
        saturation, hue, value = numbers.below(256), numbers.below(96), numbers.below(128)
        warm = (k % 6 > 3) != (k % 3 == 1)
        colors.append(_hsv(hue + (58 if warm else 186), saturation, value + 192 * (not warm)))
    return colors


def _hsv(hue: int, saturation: int, value: int) -> Rgb:
    """Return a color of whole numbers; 256 is a turn, and what is beyond a byte is cut off."""
    sixth, part = divmod(hue % 256 * 6, 256)
    low = value * (256 - saturation) // 256
    falling = value * (256 - saturation * part // 256) >> 8
    rising = value * (65536 - saturation * (256 - part)) >> 16
    if saturation == 0:
        low = falling = rising = value
    red, green, blue = (
        (value, rising, low),
        (falling, value, low),
        (low, value, rising),
        (low, falling, value),
        (rising, low, value),
        (value, low, falling),
    )[sixth]
    return red % 256, green % 256, blue % 256


def palette_of(state: Commands, steps: int, lost: list[str]) -> tuple[Segments, int]:
    """Return the palette, and by how many counts it is moved on."""
    found, moved = of_colors(DEFAULT.split()), 0
    given = [name for name in state if name in ("palette", "defaultpalette", "palettecolors")]
    for name in given:  # the last one counts
        _, values = state[name]
        words = [word.strip('"') for word in values]
        if name == "palettecolors":
            if words and all(re.fullmatch("[0-9a-fA-F]{6}", word) for word in words[:1000]):
                found = of_colors(words[:1000])
                continue
        elif all(re.fullmatch(r"-?\d{1,10}", word, re.ASCII) for word in words):
            kind, *rest = map(int, words)
            if name == "defaultpalette" and not rest:
                found, moved = of_colors(DEFAULT.split()), kind
                continue
            if kind in (1, 2, 3) and len(rest) == 2:
                found, moved = of_seed(kind, rest[0], steps), rest[1]
                continue
        lost.append(f"the palette: ({name} {' '.join(values)[:60]}), which is not known")
    shift = state.get("shiftpalette", (0, ["0"]))[1]
    if len(shift) == 1 and re.fullmatch(r"-?\d{1,10}", shift[0], re.ASCII):
        moved += int(shift[0])
    return found, moved


def make() -> Format:
    """Return the format."""
    return Format("xpf", "XaoS, a position", (".xpf",), read)

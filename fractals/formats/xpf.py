"""Positions of XaoS (`.xpf`): commands as s-expressions, such as ``(view -0.75 0 2.5 2.5)``.

The imaginary axis points down there.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from fractals.errors import SceneError
from fractals.format import Format, Imported
from fractals.places import (
    EXACT,
    SIZE,
    Kin,
    Place,
    limit,
    lines_of,
    number,
    only_one,
    placed,
    positive,
    power_of,
    real,
)

MOST_COMMANDS = 10_000
LIMIT = "170"  # of iterations, where a file names none
FORMULAS = {
    "mandel": power_of(2),
    "mandel3": power_of(3),
    "mandel4": power_of(4),
    "mandel5": power_of(5),
    "mandel6": power_of(6),
    "mbar": Kin("tricorn", conjugate=True),
}
# Commands that change nothing in a picture, that only color it, and that change it altogether.
QUIET = "initstate usleep wait textsleep range fastjulia fastrotate autorotate letterspersec"
COLORS = {
    "palette": "the palette, which is drawn by lot",
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
    kin, x = formula_of(state)
    lost = []
    for name, (line, values) in state.items():
        said = " ".join(values)
        if name in WHOLLY and (name, said) not in NOTHING:
            raise SceneError(f"line {line}: ({name} {said[:60]}) is none of ours")
        if name in COLORS and (name, said) not in NOTHING:
            lost.append(f"{COLORS[name]}: ({name} {said[:60]})")
        elif name not in (*QUIET.split(), *COLORS, *WHOLLY, *READ.split()):
            lost.append(f"({name[:60]} ...), which is not known")

    view = arguments(state, "view", [x, "0", "2.5", "2.5"], number)
    where = f"line {state['view'][0]}: view" if "view" in state else "view"
    across, down = positive(view[2], where), positive(view[3], where)
    julia = None
    if arguments(state, "julia", ["#f"], lambda value, where: value) == ["#t"]:
        seed = arguments(state, "juliaseed", ["0", "0"], number)
        julia = (seed[0], seed[1])
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
    table["iteration"] = {"limit": steps[0]}
    return Imported(table, tuple(lost))


def commands_of(lines: list[str]) -> Commands:
    """Return the commands of a file; what comes before the last ``(initstate)`` is undone by it."""
    state: Commands = {}
    words: list[str] | None = None
    line = count = 1
    for token in TOKEN.findall("\n".join(lines)):
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
            if count > MOST_COMMANDS:
                raise SceneError(f"line {line}: a file has at most {MOST_COMMANDS} commands")
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


def formula_of(state: Commands) -> tuple[Kin, str]:
    """Return our formula, and the real part of where XaoS shows it first."""
    line, values = state.get("formula", (1, ["'mandel"]))
    name = values[0].removeprefix("'") if len(values) == 1 else ""
    kin = FORMULAS.get(name)
    if kin is None:
        own = " ".join(state["usrform"][1])[:200] if "usrform" in state else ""
        own = f", {own}," if name == "user" and own else ""
        raise SceneError(f"line {line}: the formula '{name[:80]}'{own} is none of ours")
    return kin, "-0.75" if name == "mandel" else "0"


def make() -> Format:
    """Return the format."""
    return Format("xpf", "XaoS, a position", (".xpf",), read)

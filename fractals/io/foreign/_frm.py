"""Formulas of Fractint (`.frm`): ``name { initial statements : statements, condition }``.

A formula is followed symbolically, statement by statement: each variable is a tree, and numbers
that do not depend on the sample are computed. The trees become the statements of a `program`.
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fractals.errors import SceneError
from fractals.formulas.language import derivative, parser
from fractals.formulas.language.codegen import CodeWriter, compiled
from fractals.formulas.language.parser import Tree, raised
from fractals.formulas.program import check_depth, replaced, variables
from fractals.formulas.program import make as make_program
from fractals.io.foreign._view import FormulaMatch

MAX_TOKENS, MAX_DEPTH = 3000, 40  # of a formula
CHEAP = 8  # operations of an initial value that each step may compute anew
ZERO, ONE, C = derivative.ZERO, derivative.ONE, ("c",)
TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(?P<name>[a-z_][a-z0-9_]*)"
    r"|(?P<mark>&&|\|\||[<>=!]=|[-+*/^()<>=,:|\n]))",
    re.ASCII | re.IGNORECASE,
)


def _applied(name: str) -> Callable[[Tree], Tree]:
    return lambda a: (name, a)


# How functions are written here, where their names or meanings differ.
WRITTEN: dict[str, Callable[[Tree], Tree]] = {
    **{name: _applied(name) for name in (*parser.HOLOMORPHIC, *parser.ROUNDED, "conj", "flip")},
    "abs": lambda a: ("absx", ("absy", a)),
    "cabs": lambda a: ("abs", a),
    "cosxx": lambda a: ("conj", ("cos", a)),
    "cotan": lambda a: ("/", ONE, ("tan", a)),
    "cotanh": lambda a: ("/", ONE, ("tanh", a)),
    "ident": lambda a: a,
    "recip": lambda a: ("/", ONE, a),
    "sqr": lambda a: ("power", a, 2),
    "real": lambda a: ("re", a),
    "imag": lambda a: ("im", a),
    "zero": lambda a: ZERO,
    "one": lambda a: ONE,
}
# Names that have another meaning in a `program`: variables that have them get an underscore.
TAKEN = {"c", *parser.FUNCTIONS, *parser.NUMBERS} - WRITTEN.keys()
SCREEN = ("scrnpix", "scrnmax", "whitesq")
RANDOM = ("rand", "srand")


class FrmText(NamedTuple):
    """The text of a formula, without comments, and where it begins."""

    text: str
    where: str
    name: str = ""  # as it is written, with the symmetry in brackets


@dataclass
class Given:
    """What an entry sets for its formula."""

    params: list[float]  # p1 to p5: real and imaginary parts in turn; list of float
    functions: list[str]  # fn1 to fn4: keys of `WRITTEN`
    names: Mapping[str, complex] = field(default_factory=dict)  # values of other predefined names
    pixel: Tree = C  # the tree of the sample


def program_of(name: str, formula: FrmText, given: Given) -> dict[str, Any]:
    """Return the table of a `program` that draws a formula.

    `SceneError`: the formula is invalid, or does what no program does; the message names both.
    """
    try:
        table = _written(_Formula(_tokens(formula.text), given))
        make_program(**{key: value for key, value in table.items() if key != "name"})
    except (ValueError, OverflowError) as error:
        raise SceneError(f"{formula.where}: the formula '{name[:80]}': {error}") from None
    return table


def _tokens(text: str) -> list[str]:
    found, at, end = list[str](), 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"unknown character {text[at:].lstrip()[:1]!r}")
        if len(found) >= MAX_TOKENS:
            raise ValueError(f"it has more than {MAX_TOKENS} words")
        word = match[str(match.lastgroup)].lower()
        found.append(word + "_" if word in TAKEN else word)
        at = match.end()
    return [*found, ""]


class _Formula:
    """A formula, followed symbolically; `first` has each variable after the initial statements."""

    def __init__(self, tokens: list[str], given: Given) -> None:
        if ":" not in tokens:
            raise ValueError("it has no ':' between initial statements and those of a step")
        self.tokens, self.given, self.at, self.depth = tokens, given, 0, 0
        begun = tokens.index(":")
        pairs = list(zip(tokens[begun:], tokens[begun + 1 :], strict=False))
        self.assigned = {name for name, mark in pairs if mark == "="} | (
            {"lastsqr"} if "lastsqr" in tokens else set()
        )
        self.initial = True
        self.env: dict[str, Tree] = {"pixel": given.pixel, "lastsqr": ZERO}
        self.block(":")
        self.first, self.env, self.initial = self.env, {}, False
        self.at += 1
        self.condition = self.block("")  # the tree of the last statement's value
        self.after = self.env  # the same after a step, as trees of the variables before the step
        if self.condition is None:
            raise ValueError("its last statement is no condition under which an orbit goes on")

    # --- Statements

    def block(self, *ends: str) -> Tree | None:
        """Follow statements up to one of these words; return the last one's value."""
        value = None
        while True:
            while self.word in ("\n", ","):
                self.at += 1
            if self.word in ends:
                return value
            if self.word in ("", ":", "else", "elseif", "endif"):
                raise ValueError(f"{_shown(self.word)} is not expected")
            if self.word == "if":
                self.at += 1
                self.branch()
                value = None
                continue
            value = self.assignment()
            if self.word not in ("\n", ",", *ends):
                raise ValueError(f"an operator or the end of a statement, not {_shown(self.word)}")

    def branch(self) -> None:
        """Follow both sides of a condition, and join what they assign."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
        condition = self.operand()
        before = dict(self.env)
        self.block("else", "elseif", "endif")
        then, self.env = self.env, before
        word = self.word
        self.at += 1
        if word == "elseif":
            self.branch()
        elif word == "else":
            self.block("endif")
            self.at += 1
        for name in then.keys() | self.env.keys():
            pair = [env[name] if name in env else self.read(name) for env in (then, self.env)]
            self.env[name] = pair[0] if pair[0] is pair[1] else _made("if", condition, *pair)
            check_depth(self.env[name])
        self.depth -= 1

    def assignment(self) -> Tree:
        """Return the value of an expression, which may assign it to variables."""
        name = self.word
        if name and (name[0].isalpha() or name[0] == "_") and self.tokens[self.at + 1] == "=":
            if name in (*WRITTEN, *SCREEN, *RANDOM, "fn1", "fn2", "fn3", "fn4"):
                raise ValueError(f"'{name}' is no variable")
            self.at += 2
            self.env[name] = self.assignment()
            return self.env[name]
        tree = self.joined()
        check_depth(tree)
        return tree

    # --- Expressions

    @property
    def word(self) -> str:
        return self.tokens[self.at]

    def joined(self, level: int = 0) -> Tree:
        if level == len(LEVELS):
            return self.power()
        tree = self.joined(level + 1)
        while self.word in LEVELS[level]:
            word = self.word
            self.skip()
            tree = _made(word, tree, self.joined(level + 1))
        return tree

    def skip(self) -> None:
        """Go on behind a word that an operand follows; the end of a line is none then."""
        self.at += 1
        while self.word == "\n":
            self.at += 1

    def power(self) -> Tree:
        """Return powers and minus signs, which bind alike, from left to right."""
        if self.word == "-":
            self.skip()
            tree = _made("neg", self.nested(self.power) if self.word == "-" else self.operand())
        else:
            tree = self.operand()
        while self.word == "^":
            self.skip()
            if self.word == "-":
                self.skip()
                exponent = _made("neg", self.operand())
            else:
                exponent = self.operand()
            tree = _powered(tree, exponent)
        return tree

    def nested(self, follow: Callable[[], Tree]) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
        tree = follow()
        self.depth -= 1
        return tree

    def operand(self) -> Tree:
        word = self.word
        self.at += 1
        if word in ("(", "|"):
            while self.word == "\n":
                self.at += 1
            tree = self.nested(self.assignment)
            if word == "(" and self.word == "," and tree[0] == "number":
                self.skip()
                tree = _made("+", tree, _made("*", ("number", 1j), self.nested(self.joined)))
            while self.word == "\n":
                self.at += 1
            if self.word != {"(": ")", "|": "|"}[word]:
                raise ValueError(f"an operator or the end of brackets, not {_shown(self.word)}")
            self.at += 1
            return tree if word == "(" else _made("norm", tree)
        if word and (word[0].isdigit() or word[0] == "."):
            value = float(word)
            if not math.isfinite(value):
                raise ValueError(f"{word[:20]} is too large")
            return ("number", complex(value))
        if not word or not (word[0].isalpha() or word[0] == "_"):
            self.at -= 1
            raise ValueError(f"an operand, not {_shown(word)}")
        return self.named(word)

    def named(self, word: str) -> Tree:
        """Return the value of a function, of a predefined name, or of a variable."""
        if self.word == "(" and (word in WRITTEN or re.fullmatch("fn[1-4]", word)):
            name = self.given.functions[int(word[2]) - 1] if word not in WRITTEN else word
            argument = self.operand()
            if name == "sqr":
                self.env["lastsqr"] = _made("norm", argument)
            return _folded(WRITTEN[name](argument))
        if word in RANDOM:
            raise ValueError(f"'{word}' is random: each picture of it is another one")
        if word in SCREEN:
            raise ValueError(f"'{word}' depends on the screen, and scenes have none")
        if self.word == "=":
            raise ValueError(f"'{word}' can't be set within a part of an expression")
        return self.read(word)

    def read(self, name: str) -> Tree:
        """Return the tree of a variable."""
        if name in self.env:
            return self.env[name]
        if not self.initial:
            value = self.first.get(name)
            if name in self.assigned or (value is not None and not _is_cheap(value)):
                return (name,)
            if value is not None:
                return value
        if re.fullmatch("p[1-5]", name):
            k = 2 * int(name[1]) - 2
            return ("number", complex(*self.given.params[k : k + 2]))
        if (known := name.removesuffix("_")) in self.given.names:
            return ("number", complex(self.given.names[known]))
        if self.initial:
            raise ValueError(f"'{name}' has no value where it is read: it keeps another sample's")
        return (name,) if name in self.assigned else ZERO


LEVELS = (("&&", "||"), parser.COMPARISONS, ("+", "-"), ("*", "/"))


def _shown(word: str) -> str:
    return {"": "the end", "\n": "the end of a line"}.get(word, f"'{word[:20]}'")


def _is_cheap(tree: Tree) -> bool:
    writer = CodeWriter("x", {"c": "ab"})
    writer.value(tree)
    return writer.cost <= CHEAP


def _made(kind: str, *parts: Tree) -> Tree:
    """Return a tree; what is 0 or 1 for certain is left out."""
    simple = {"+": derivative.plus, "-": derivative.minus, "*": derivative.times}
    if kind == "if" and parts[0][0] == "number":
        return parts[1] if parts[0][1].real else parts[2]
    return _folded(simple[kind](*parts) if kind in simple else (kind, *parts))


def _powered(base: Tree, exponent: Tree) -> Tree:
    """Return a power.

    Of -z with a real z, the imaginary part is -0 in Fractint, whose logarithm then has the angle
    -pi; there is no -0 here.
    """
    if exponent == ONE:
        return base
    found = raised(base, exponent)
    if found[0] == "power" or base[0] != "neg":
        return _folded(found)
    return _folded(("exp", ("*", exponent, ("conj", ("log", ("conj", base))))))


def _folded(tree: Tree) -> Tree:
    """Return a tree, as a number where all its parts are numbers."""
    parts = [part for part in tree[1:] if isinstance(part, tuple)]
    if tree[0] == "number" or not parts or not all(part[0] == "number" for part in parts):
        return tree
    value = complex(*compiled("value", "x", {}, (tree,))(0.0))
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return tree
    return ("number", value + 0)


def _written(own: _Formula) -> dict[str, Any]:
    """Return the table of a formula's program."""
    assert own.condition is not None
    after, needed = own.after, set[str]()
    left = {"z"} | variables(own.condition) - {"c"}
    while left:
        needed |= left
        left = variables(*(after[name] for name in left if name in after)) - {"c"} - needed
    first = [(name, own.first.get(name, ZERO)) for name in sorted(needed)]
    step = [(name, after[name]) for name in sorted(needed) if name in after]
    return {"name": "program", **texts_of(first, step, own.condition)}


def texts_of(
    first: list[tuple[str, Tree]], step: list[tuple[str, Tree]], condition: Tree
) -> dict[str, str]:
    """Return the texts of a `program` whose variables change at once.

    `first` and `step`: variables at the start, and after a step as trees of those before it.
    `condition`: of the variables before the step, under which the orbit goes on after it.
    """
    begin, then = (_Emitted(dict(trees)) for trees in (first, step))
    start = [*begin.temporaries, *(f"{name} = {begin.text(tree)}" for name, tree in first)]
    lines, test = then.simultaneous(step, condition)
    return {"start": "; ".join(start), "step": "; ".join(lines), "test": test}


class _Emitted:
    """Writes trees as text; what occurs twice becomes a variable of its own."""

    def __init__(self, own: Mapping[str, Tree]) -> None:
        trees = list(own.values())
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_id: dict[int, tuple[int, Tree]] = {}
        self.names: dict[int, str] = {}
        self.temporaries: list[str] = []
        self.taken = variables(*trees) | own.keys() | {"z"}
        counts: dict[int, int] = {}
        order: list[Tree] = []
        for tree in trees:
            self._count(tree, counts, order)
        for tree in order:  # parts before wholes
            if counts[self.number(tree)] > 1 and len(tree) > 1 and tree[0] != "number":
                name = self.new_name("t")
                self.temporaries.append(f"{name} = {self.text(tree)}")
                self.names[self.number(tree)] = name

    def new_name(self, begin: str) -> str:
        """Return a name that no variable has."""
        ends = itertools.chain([""], itertools.count(1))
        name = next(f"{begin}{end}" for end in ends if f"{begin}{end}" not in self.taken)
        self.taken.add(name)
        return name

    def number(self, tree: Tree) -> int:
        """Return the number of all trees that are equal to this one."""
        if id(tree) not in self._by_id:
            parts = (self.number(part) if isinstance(part, tuple) else part for part in tree)
            number = self._numbers.setdefault(tuple(parts), len(self._numbers))
            self._by_id[id(tree)] = number, tree
        return self._by_id[id(tree)][0]

    def _count(self, tree: Tree, counts: dict[int, int], order: list[Tree]) -> None:
        number = self.number(tree)
        counts[number] = counts.get(number, 0) + 1
        if counts[number] == 1:
            for part in tree[1:]:
                if isinstance(part, tuple):
                    self._count(part, counts, order)
            order.append(tree)

    def text(self, tree: Tree) -> str:
        """Return the text of a tree."""
        return parser.text_of(self._named(tree))

    def _named(self, tree: Tree) -> Tree:
        if name := self.names.get(self.number(tree)):
            return (name,)
        if tree[0] == "number":
            return tree
        return tuple(self._named(part) if isinstance(part, tuple) else part for part in tree)

    def simultaneous(self, step: list[tuple[str, Tree]], condition: Tree) -> tuple[list[str], str]:
        """Return statements that assign to all variables at once, and the condition after them."""
        assigned = {name for name, _ in step}
        after = dict(self.names)
        for name, tree in step:
            after[self.number(tree)] = name
        self.names, before = after, self.names
        test = self._named(condition)
        self.names = before
        temporary = {line.partition(" = ")[0] for line in self.temporaries}
        lines = list(self.temporaries)
        if self._reads_old(condition, after, assigned, temporary):
            name = self.new_name("on")
            lines.append(f"{name} = {self.text(condition)}")
            test = (name,)
        waiting = {name: self._named(tree) for name, tree in step}
        while waiting:
            read = {
                name: {other for other, tree in waiting.items() if name in variables(tree)} - {name}
                for name in waiting
            }
            name = min(waiting, key=lambda n: (len(read[n]), n))
            if read[name]:  # its value is kept for those that read it
                kept = self.new_name("old")
                lines.append(f"{kept} = {name}")
                waiting = {
                    other: tree if other == name else replaced(tree, {name: (kept,)})
                    for other, tree in waiting.items()
                }
            lines.append(f"{name} = {parser.text_of(waiting.pop(name))}")
        return lines, parser.text_of(test)

    def _reads_old(
        self, tree: Tree, after: Mapping[int, str], assigned: set[str], temporary: set[str]
    ) -> bool:
        """Tell whether a condition needs more than variables after a step."""
        own = after.get(self.number(tree))
        if own in assigned or tree[0] == "number":
            return False
        if own in temporary or len(tree) == 1:
            return True
        return any(
            self._reads_old(part, after, assigned, temporary)
            for part in tree[1:]
            if isinstance(part, tuple)
        )


# Formulas that entries of Fractint often name, for where the file that holds them is not here.
#
# Each is a text that is read here, and a formula of this program that counts the same where the
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

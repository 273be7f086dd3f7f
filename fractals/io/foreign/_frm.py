"""Formulas of Fractint (`.frm`): ``name { initial statements : statements, condition }``.

A formula is followed symbolically, statement by statement: each variable is a tree, and numbers
that do not depend on the sample are computed. The trees become the statements of a `program`.
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import CodeWriter, compiled
from fractals.formulas.language.syntax import Tree, raised
from fractals.formulas.own import check_depth, replaced, variables
from fractals.io.foreign._screen import FIRST_RANDOM, NEXT_RANDOM, SIZE, ScreenView, random_of

MAX_TOKENS, MAX_DEPTH = 3000, 40  # of a formula
CHEAP = 8  # operations of an initial value that each step may compute anew
T = TypeVar("T")
ZERO, ONE, C = syntax.ZERO, syntax.ONE, ("c",)
# Words that statements follow on a line: Fractint refuses that, and it is read here.
KEPT = re.compile(r"((?<!\w)(?:else|endif)(?!\w))", re.ASCII | re.IGNORECASE)
ELSE_IF = re.compile(r"(?<!\w)else[ \t]+if(?!\w)", re.ASCII | re.IGNORECASE)
TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(?P<name>[a-z_][a-z0-9_]*)"
    r"|(?P<mark>&&|\|\||[<>=!]=|[-+*/^()<>=,:|\n]))",
    re.ASCII | re.IGNORECASE,
)


def _applied(name: str) -> Callable[[Tree], Tree]:
    return lambda a: (name, a)


# How functions are written here, where their names or meanings differ.
WRITTEN: dict[str, Callable[[Tree], Tree]] = {
    **{name: _applied(name) for name in (*syntax.HOLOMORPHIC, *syntax.ROUNDED, "conj", "flip")},
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
TAKEN = {"c", *syntax.FUNCTIONS, *syntax.NUMBERS} - WRITTEN.keys()
LEVELS = (("&&", "||"), syntax.COMPARISONS, ("+", "-"), ("*", "/"))
SCREEN = ("scrnpix", "scrnmax", "whitesq")
RAND = "rand"
RANDOM = (RAND, "srand")


class UnsetError(ValueError):
    """A variable is read that no statement has set."""


class FrmText(NamedTuple):
    """The text of a formula, without comments, and where it begins."""

    text: str
    where: str
    name: str = ""  # as it is written, with the symmetry in brackets
    lines: tuple[int, ...] = ()  # the number of each line in the file


@dataclass
class Given:
    """What an entry sets for its formula."""

    params: list[float]  # p1 to p5: real and imaginary parts in turn; list of float
    functions: list[str]  # fn1 to fn4: keys of `WRITTEN`
    names: Mapping[str, complex] = field(default_factory=dict)  # values of other predefined names
    screen: ScreenView | None = None  # for names that depend on the pixel
    pixel: Tree = C  # the tree of the sample


def tokens_of(text: str) -> list[str]:
    """Return the words of a formula, and an empty one for its end.

    Blanks mean nothing, within names and marks, too, as in Fractint: "< =" is "<=".
    """
    parts = KEPT.split(ELSE_IF.sub("elseif", text))
    text = " ".join(re.sub(r"[ \t]+", "", part) for part in parts)
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


def written(name: str) -> str:
    """Return the name of a variable as the formula has it."""
    return name[:-1] if name.endswith("_") and name[:-1] in TAKEN else name


class Follower:
    """A formula, followed symbolically; `first` has each variable after the initial statements."""

    levels: tuple[tuple[str, ...], ...] = LEVELS  # operators; those of the last bind the tightest
    ends: tuple[str, ...] = ("else", "elseif", "endif")  # words that end statements
    drawn: tuple[str, ...] = (RAND,)  # names of random numbers that are drawn

    def __init__(self, tokens: list[str], given: Given) -> None:
        if ":" not in tokens:
            raise ValueError("it has no ':' between initial statements and those of a step")
        self.tokens, self.given, self.at, self.depth = tokens, given, 0, 0
        begun = tokens.index(":")
        pairs = list(zip(tokens[begun:], tokens[begun + 1 :], strict=False))
        self.assigned = {name for name, mark in pairs if mark == "="} | (
            {"lastsqr"} if "lastsqr" in tokens else set()
        )
        every = itertools.pairwise(tokens)
        self.anywhere = {name for name, mark in every if mark == "="}
        self.unset: set[str] = set()  # variables that are read, and that nothing sets
        self.initial = True
        self.env: dict[str, Tree] = {"pixel": given.pixel, "lastsqr": ZERO}
        if RAND in tokens and RAND in self.drawn:
            self.env[RAND] = random_of(FIRST_RANDOM, RAND)
            self.assigned.add(RAND)
        self.block(":")
        self.first, self.initial = self.env, False
        self.follow_step()

    def follow_step(self) -> None:
        """Follow the statements of a step, which the next token begins, and the condition."""
        self.env = {}
        if RAND in self.first:
            self.env[RAND] = random_of(NEXT_RANDOM, RAND)
        self.at += 1
        # the tree of the last statement's value, which is None after no statement
        self.condition: Tree = self.block("")  # type: ignore[assignment]
        self.after = self.env  # the same after a step, as trees of the variables before the step
        if self.condition is None:
            raise ValueError("its last statement is no condition under which an orbit goes on")

    def table(self) -> dict[str, Any]:
        """Return the table of the program."""
        after, needed = self.after, self.needed()
        first = [(name, self.first.get(name, ZERO)) for name in sorted(needed)]
        step = [(name, after[name]) for name in sorted(needed) if name in after]
        return {"name": "program", **texts_of(first, step, self.condition)}

    def needed(self) -> set[str]:
        """Return the variables that z and the condition depend on."""
        needed, left = set[str](), {"z"} | variables(self.condition) - {"c"}
        while left:
            needed |= left
            trees = (self.after[name] for name in left if name in self.after)
            left = variables(*trees) - {"c"} - needed
        return needed

    # --- Statements

    def block(self, *ends: str) -> Tree | None:
        """Follow statements up to one of these words; return the last one's value."""
        value = None
        while True:
            while self.word in ("\n", ","):
                self.at += 1
            if self.word in ends:
                return value
            if self.word in ("", ":", *self.ends):
                raise ValueError(f"{_shown(self.word)} is not expected")
            if self.word == "if":
                self.at += 1
                self.branch()
                value = None
                continue
            value = self.statement()
            if self.word not in ("\n", ",", *ends):
                raise ValueError(f"an operator or the end of a statement, not {_shown(self.word)}")

    def statement(self) -> Tree | None:
        return self.assignment()

    def branch(self) -> None:
        """Follow what stands after "if"."""
        self.nested(lambda: self.sides(self.operand()))

    def sides(self, condition: Tree) -> None:
        """Follow both sides of a condition, and join what they assign."""
        before = self.env
        self.env = dict(before)
        self.block("else", "elseif", "endif")
        then, self.env = self.env, dict(before)
        word = self.word
        self.at += 1
        if word == "elseif":
            self.branch()
        elif word == "else":
            self.block("endif")
            self.at += 1
        if condition[0] == "number":  # what is assigned on the other side is never read
            self.env = then if condition[1].real else self.env
            return
        otherwise, self.env = self.env, dict(before)
        joined = dict[str, Tree]()
        for name in then.keys() | otherwise.keys():
            pair = [env[name] if name in env else self.before(name) for env in (then, otherwise)]
            joined[name] = pair[0] if pair[0] is pair[1] else self.made("if", condition, *pair)
            check_depth(joined[name])
        self.env |= joined

    def before(self, name: str) -> Tree:
        """Return what a variable keeps on a side of a condition that does not set it."""
        return self.read(name)

    def assignment(self) -> Tree:
        """Return the value of an expression, which may assign it to variables."""
        name = self.word
        if name and (name[0].isalpha() or name[0] == "_") and self.tokens[self.at + 1] == "=":
            if name in (*WRITTEN, *SCREEN, *RANDOM, "fn1", "fn2", "fn3", "fn4"):
                raise ValueError(f"'{name}' is no variable")
            self.at += 2
            self.env[name] = self.stored(name, self.assignment())
            return self.env[name]
        tree = self.joined()
        check_depth(tree)
        return tree

    def stored(self, name: str, tree: Tree) -> Tree:
        """Return what a variable keeps of a value."""
        return tree

    # --- Expressions

    def made(self, kind: str, *parts: Tree) -> Tree:
        return _made(kind, *parts)

    @property
    def word(self) -> str:
        return self.tokens[self.at]

    def joined(self, level: int = 0) -> Tree:
        if level == len(self.levels):
            return self.power()
        tree = self.joined(level + 1)
        while self.word in self.levels[level]:
            word = self.word
            self.skip()
            tree = self.made(word, tree, self.joined(level + 1))
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
            tree = self.made("neg", self.nested(self.power) if self.word == "-" else self.operand())
        else:
            tree = self.operand()
        while self.word == "^":
            self.skip()
            if self.word == "-":
                self.skip()
                exponent = self.made("neg", self.operand())
            else:
                exponent = self.operand()
            tree = self.powered(tree, exponent)
        return tree

    def powered(self, base: Tree, exponent: Tree) -> Tree:
        return _powered(base, exponent)

    def nested(self, follow: Callable[[], T]) -> T:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
        found = follow()
        self.depth -= 1
        return found

    def operand(self) -> Tree:
        word = self.word
        self.at += 1
        if word in ("(", "|"):
            while self.word == "\n":
                self.at += 1
            tree = self.nested(self.assignment)
            if word == "(" and self.word == "," and self.pairs(tree):
                self.skip()
                tree = self.pair(tree, self.nested(self.joined))
            while self.word == "\n":
                self.at += 1
            if self.word != {"(": ")", "|": "|"}[word]:
                raise ValueError(f"an operator or the end of brackets, not {_shown(self.word)}")
            self.at += 1
            return tree if word == "(" else self.made("norm", tree)
        if word and (word[0].isdigit() or word[0] == "."):
            value = float(word)
            if not math.isfinite(value):
                raise ValueError(f"{word[:20]} is too large")
            return ("number", complex(value))
        if not word or not (word[0].isalpha() or word[0] == "_"):
            self.at -= 1
            raise ValueError(f"an operand, not {_shown(word)}")
        return self.named(word)

    def pairs(self, tree: Tree) -> bool:
        """Tell whether a value may be the real part of a complex number in brackets."""
        return bool(tree[0] == "number")

    def pair(self, real: Tree, imaginary: Tree) -> Tree:
        return _made("+", real, _made("*", ("number", 1j), imaginary))

    def named(self, word: str) -> Tree:
        """Return the value of a function, of a predefined name, or of a variable."""
        if self.word == "(" and (word in WRITTEN or re.fullmatch("fn[1-4]", word)):
            name = self.given.functions[int(word[2]) - 1] if word not in WRITTEN else word
            return self.applied(name, self.operand())
        if word in RANDOM and word not in self.drawn:
            raise ValueError(f"'{word}' is random: each picture of it is another one")
        if word in SCREEN:
            return self.on_screen(word)
        if self.word == "=":
            raise ValueError(f"'{word}' can't be set within a part of an expression")
        return self.read(word)

    def on_screen(self, word: str) -> Tree:
        """Return the value of a name that depends on the screen."""
        if word == "scrnmax":
            return ("number", complex(*SIZE))
        if self.given.screen is None:
            raise ValueError(f"'{word}' depends on the screen, and scenes have none")
        return self.given.screen.pixels()[word]

    def applied(self, function: str, argument: Tree) -> Tree:
        """Return the value of a function, a key of `WRITTEN`."""
        if function == "sqr":
            self.env["lastsqr"] = _made("norm", argument)
        return folded(WRITTEN[function](argument))

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
        if self.initial and name in self.anywhere:
            raise UnsetError(
                f"'{written(name)}' is read before it is set: there it has what the sample before "
                "left in it, and samples are drawn in any order here"
            )
        return (name,) if name in self.assigned else self.never(name)

    def never(self, name: str) -> Tree:
        """Return the value of a variable that is not set before; note one that nothing sets."""
        if name not in self.anywhere:
            self.unset.add(f"'{written(name)}' is never set, so it is 0")
        return ZERO


def _shown(word: str) -> str:
    return {"": "the end", "\n": "the end of a line"}.get(word, f"'{word[:20]}'")


def _is_cheap(tree: Tree) -> bool:
    writer = CodeWriter("x", {"c": "ab"})
    writer.value(tree)
    return writer.cost <= CHEAP


def _made(kind: str, *parts: Tree) -> Tree:
    """Return a tree; what is 0 or 1 for certain is left out."""
    simple = {"+": syntax.plus, "-": syntax.minus, "*": syntax.times}
    if kind == "if" and parts[0][0] == "number":
        return parts[1] if parts[0][1].real else parts[2]
    return folded(simple[kind](*parts) if kind in simple else (kind, *parts))


def _powered(base: Tree, exponent: Tree) -> Tree:
    """Return a power.

    Of -z with a real z, the imaginary part is -0 in Fractint, whose logarithm then has the angle
    -pi; there is no -0 here.
    """
    if exponent == ONE:
        return base
    found = raised(base, exponent)
    if found[0] == "power" or base[0] != "neg":
        return folded(found)
    return folded(("exp", ("*", exponent, ("conj", ("log", ("conj", base))))))


def folded(tree: Tree) -> Tree:
    """Return a tree, as a number where all its parts are numbers."""
    parts = [part for part in tree[1:] if isinstance(part, tuple)]
    if tree[0] == "number" or not parts or not all(part[0] == "number" for part in parts):
        return tree
    return valued(tree)


def valued(tree: Tree) -> Tree:
    """Return a tree without variables as a number, if that is finite."""
    value = complex(*compiled("value", "x", {}, (tree,))(0.0))
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return tree
    return ("number", value + 0)


# Trees of variables, as the text of a `program`: what occurs twice is computed once.


def texts_of(
    first: list[tuple[str, Tree]], step: list[tuple[str, Tree]], condition: Tree
) -> dict[str, str]:
    """Return the texts of a `program` whose variables change at once.

    `first` and `step`: variables at the start, and after a step as trees of those before it.
    `condition`: of the variables before the step, under which the orbit goes on after it.
    """
    begin, then = (_Emitted(dict(trees)) for trees in (first, step))
    start = [*begin.temporaries, *(f"{name} = {begin.text(tree)}" for name, tree in first)]
    test = then.afterwards(step, condition)
    if test is None:  # a variable of its own, which may share temporary ones with the others
        test = then.new_name("on")
        step = [*step, (test, condition)]
        then = _Emitted(dict(step))
    return {"start": "; ".join(start), "step": "; ".join(then.simultaneous(step)), "test": test}


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
        return syntax.text_of(self._named(tree))

    def _named(self, tree: Tree) -> Tree:
        if name := self.names.get(self.number(tree)):
            return (name,)
        if tree[0] == "number":
            return tree
        return tuple(self._named(part) if isinstance(part, tuple) else part for part in tree)

    def afterwards(self, step: list[tuple[str, Tree]], condition: Tree) -> str | None:
        """Return a condition in variables after a step; None where it needs others."""
        before, after = self.names, dict(self.names)
        for name, tree in step:
            after[self.number(tree)] = name
        temporary = {line.partition(" = ")[0] for line in self.temporaries}
        if self._reads_old(condition, after, {name for name, _ in step}, temporary):
            return None
        self.names = after
        text = self.text(condition)
        self.names = before
        return text

    def simultaneous(self, step: list[tuple[str, Tree]]) -> list[str]:
        """Return statements that assign to all variables at once."""
        lines = list(self.temporaries)
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
            lines.append(f"{name} = {syntax.text_of(waiting.pop(name))}")
        return lines

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

"""Formulas of Ultra Fractal, followed symbolically like those of Fractint.

The language has types, parameters that are asked for, choices by name, arrays and loops. Sides of
conditions that no sample takes are left out, and loops are followed turn by turn, so the number of
turns may not depend on the sample.
"""

import math
import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from fractals.errors import counted
from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.io.foreign._entries import TYPES, Lines
from fractals.io.foreign._frm import (
    ONE,
    RANDOM,
    TAKEN,
    WRITTEN,
    ZERO,
    Follower,
    Given,
    folded,
    valued,
)

MAX_TOKENS, MAX_STATEMENTS, MAX_ELEMENTS = 30_000, 3000, 1000  # of a formula; of an array
TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:i\b)?)|(?P<name>[@#]?[a-z_]\w*)"
    r'|(?P<text>"[^"]*")|(?P<mark>&&|\|\||[<>=!]=|[-+*/^()<>=,|\n!%\[\].]))',
    re.ASCII | re.IGNORECASE,
)


def _squared(a: Tree) -> Tree:
    return ("power", a, 2)


def _larger(sign: str) -> Callable[[Tree], Tree]:
    """Return the larger or the smaller one of the squares of both parts."""

    def function(a: Tree) -> Tree:
        x, y = _squared(("re", a)), _squared(("im", a))
        return ("if", (sign, x, y), x, y)

    return function


# The functions of Ultra Fractal and of Gnofract 4D.
FUNCTIONS: dict[str, Callable[[Tree], Tree]] = {
    **WRITTEN,
    "atan2": lambda a: ("im", ("log", a)),
    "isnan": lambda a: ("!=", ("norm", a), ("norm", a)),
    "cmag": lambda a: ("norm", a),
    "real2": lambda a: _squared(("re", a)),
    "imag2": lambda a: _squared(("im", a)),
    "manhattan": lambda a: ("+", ("abs", ("re", a)), ("abs", ("im", a))),
    "manhattanish": lambda a: ("+", ("re", a), ("im", a)),
    "max2": _larger(">"),
    "min2": _larger("<"),
}
# Where the program has other names for functions, variables of these names get an underscore.
NAMES = TAKEN | WRITTEN.keys()
# Those with real values for real numbers.
REAL = ("sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "atan", "asinh")
SCREEN = (
    *("#x", "#y", "#screenpixel", "#screenmax", "#width", "#height", "#whitesq", "#dpixel"),
    *("scrnpix", "scrnmax", "whitesq"),
)
WORDS = ("endfunc", "class", "import", "return", "new", "color", "hyper")
PARTS = re.compile(r"\n(?:real|imag)\n\(\n(\w+)\n\)\n=(?!=)")  # of variables that are set
BOOL, INT, FLOAT, COMPLEX = range(4)  # places in `TYPES`
SIDES = ("else", "elseif", "endif")
SIMPLE: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class LineError(ValueError):
    """What is wrong in a line of a file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def tokens_of(lines: Lines) -> tuple[list[str], list[int]]:
    """Return the words of lines, in lower case, and the number of the line of each."""
    words, numbers = list[str](), list[int]()
    for number, line in lines:
        at, end = 0, len(line.rstrip())
        while at < end:
            match = TOKEN.match(line, at)
            if match is None:
                raise LineError(number, f"unknown character {line[at:].lstrip()[:1]!r}")
            if len(words) >= MAX_TOKENS:
                raise LineError(number, f"the formula has more than {MAX_TOKENS} words")
            kind, at = str(match.lastgroup), match.end()
            word = match[kind].lower()
            if word in ("#z", "#pixel", "#numiter"):
                word = word[1:]
            elif word in NAMES and (word in TAKEN or line[at:].lstrip()[:1] != "("):
                word += "_"
            words.append(word)
            numbers.append(number)
        words.append("\n")
        numbers.append(number)
    return words, numbers


class _Routine(NamedTuple):
    """A function of a formula: its type, its arguments with theirs, and where it begins."""

    kind: int
    params: list[tuple[str, int]]
    begun: int


class UltraFollower(Follower):
    """A formula of Ultra Fractal, followed symbolically.

    `params` are the trees of parameters, `labels` the choices of those that have some, `functions`
    the names of functions, all by their names; `known` are the trees of predefined names, with #.
    """

    drawn = ()
    levels = (*Follower.levels[:-1], ("*", "/", "%"))
    ends = (*SIDES, "endwhile", "until")

    def __init__(
        self,
        sections: tuple[Lines, Lines, Lines],  # the initial statements, a step's, the condition
        params: dict[str, Tree],
        labels: dict[str, list[str]],
        functions: dict[str, str],
        known: dict[str, Tree],
    ) -> None:
        begin, step, end = map(tokens_of, sections)
        words = [*begin[0], ":", *step[0], "\n", *end[0], ""]
        last = [numbers[-1] if numbers else 0 for _, numbers in (begin, step, end)]
        self.numbers = [*begin[1], last[0], *step[1], last[1] or last[0], *end[1], max(last)]
        self.params, self.labels, self.functions, self.known = params, labels, functions, known
        self.types = {"numiter": INT}  # of variables, places in `TYPES`
        self.arrays: dict[str, tuple[int, ...]] = {}
        self.routines: dict[str, _Routine] = {}
        self.left = MAX_STATEMENTS
        self._kinds: dict[int, tuple[int, Tree]] = {}
        self.at = 0
        try:
            super().__init__(words, Given([], [], pixel=known["#pixel"]))
        except (ValueError, OverflowError) as error:
            raise LineError(self.numbers[min(self.at, len(words) - 1)], str(error)) from None

    def follow_step(self) -> None:
        """Follow the step twice: what the first pass assigns is what is carried along an orbit."""
        begun = self.at
        self.assigned |= set(PARTS.findall("\n".join(self.tokens)))
        self.assigned |= {"numiter"} & set(self.tokens)
        for _ in range(2):
            self.at, self.left = begun, MAX_STATEMENTS
            super().follow_step()
            self.condition = self.plain(self.condition)
            if "numiter" in self.tokens:
                self.env["numiter"] = self.made("+", self.read("numiter"), ONE)
            self.assigned = set(self.after)

    # --- Statements

    def statement(self) -> Tree | None:
        self.count()
        word, after = self.word, self.tokens[self.at + 1]
        if word == "while":
            self.while_true()
            return None
        if word == "repeat":
            self.repeat()
            return None
        if word in ("const", "static"):
            self.at += 1
            return self.statement()
        if "func" in (word, after if word in TYPES else ""):
            self.routine()
            return None
        if word in WORDS:
            self.refuse(word)
        if word in TYPES and _is_name(after):
            return self.declaration()
        target = self.tokens[self.at + 1 : self.at + 5]
        if word in ("real", "imag") and target[:1] + target[2:] == ["(", ")", "="]:
            return self.part(word, target[1])
        if word in self.arrays and after == "[":
            return self.element_set(word)
        if word[0] in "@#" and after == "=":
            raise ValueError(f"'{word[:40]}' is set, and can only be read")
        return self.assignment()

    def skip(self) -> None:
        self.at += 1  # only a backslash joins lines

    def count(self) -> None:
        """Count a statement, or a turn of a loop."""
        self.left -= 1
        if self.left < 0:
            raise ValueError(
                f"it takes more than {MAX_STATEMENTS} statements: a loop may be endless"
            )

    def refuse(self, word: str) -> NoReturn:
        raise ValueError(f"'{word[:40]}' is unsupported")

    def declaration(self) -> Tree | None:
        kind, name = self.word, self.tokens[self.at + 1]
        self.at += 1
        if self.tokens[self.at + 1] == "[":
            self.at += 1
            self.arrays[name] = tuple(self.places())
            self.types[name] = TYPES.index(kind)
            if math.prod(self.arrays[name]) > MAX_ELEMENTS:
                raise ValueError(f"the array '{name}' has more than {MAX_ELEMENTS} elements")
            return None
        self.types[name] = TYPES.index(kind)
        if self.tokens[self.at + 1] == "=":
            return self.assignment()
        self.at += 1
        if self.initial:
            self.env.setdefault(name, ZERO)
        return None

    def routine(self) -> None:
        """Keep where a function of the formula begins, and go on behind it."""
        kind = COMPLEX if self.word == "func" else TYPES.index(self.word)
        self.at += 1 + (self.word != "func")
        name, self.at = self.word, self.at + 1
        params = list[tuple[str, int]]()
        while self.word in ("(", ",") and self.tokens[self.at + 1] != ")":
            self.at += 1 + (self.tokens[self.at + 1] == "const")
            if self.word not in TYPES or not _is_name(self.tokens[self.at + 1]):
                raise ValueError(f"the type of an argument of '{name}' is expected")
            params.append((self.tokens[self.at + 1], TYPES.index(self.word)))
            self.at += 2
        self.at += self.word == "("
        if self.word != ")":
            self.refuse(self.word)
        self.routines[name] = _Routine(kind, params, self.at + 1)
        self.leave("endfunc")

    def call(self, name: str) -> Tree:
        """Return the value of a function of the formula, whose statements are followed here."""
        self.count()
        own, values = self.routines[name], list[Tree]()
        while self.tokens[self.at + 1] != ")" and self.word in ("(", ","):
            self.at += 1
            values.append(self.joined())
        self.at += self.word == "("
        if self.word != ")" or len(values) != len(own.params):
            raise ValueError(f"'{name}' takes {counted(len(own.params), 'value')}")
        end, before = self.at + 1, dict(self.env)
        for (param, kind), value in zip(own.params, values, strict=True):
            self.types[param] = kind
            self.env[param] = self.typed(value, kind)
        self.at = own.begun
        self.block("return")
        self.at += 1
        value = self.typed(self.joined(), own.kind)
        for param, _ in own.params:
            self.env.pop(param)
            if param in before:
                self.env[param] = before[param]
        self.at = end
        return value

    def part(self, part: str, name: str) -> Tree:
        """Set the real or the imaginary part of a variable."""
        self.at += 5
        value = self.real(self.plain(self.assignment()))
        old = self.read(name)
        other = folded(("im" if part == "real" else "re", old))
        pair = (value, other) if part == "real" else (other, value)
        self.env[name] = self.pair(*pair)
        return self.env[name]

    def places(self) -> list[int]:
        """Return the numbers within square brackets, and go on behind them."""
        found = list[int]()
        while not found or self.word == ",":
            self.at += 1
            found.append(int(self.fixed(self.joined(), "the index of an array")))
        if self.word != "]":
            raise ValueError(f"']' is expected, not '{self.word[:20]}'")
        self.at += 1
        return found

    def element(self, name: str) -> str:
        """Return the variable that is an element of an array, and go on behind the index."""
        places = self.places()
        size = self.arrays[name]
        if len(places) != len(size) or not all(
            0 <= k < n for k, n in zip(places, size, strict=True)
        ):
            raise ValueError(f"the array '{name}' has no element {places}")
        found = "__".join([name, *map(str, places)])
        self.types[found] = self.types[name]
        if not self.initial:
            self.first.setdefault(found, ZERO)
        return found

    def element_set(self, name: str) -> Tree:
        self.at += 1
        found = self.element(name)
        if self.word != "=":
            raise ValueError(f"'=' is expected, not '{self.word[:20]}'")
        self.at += 1
        self.env[found] = self.stored(found, self.assignment())
        return self.env[found]

    def branch(self) -> None:
        self.nested(self.choice)

    def choice(self) -> None:
        """Follow the side that all samples take, or both."""
        while True:
            condition = self.plain(self.joined())
            if condition[0] != "number":
                return self.sides(condition)
            if condition[1].real:
                self.block(*SIDES)
                self.leave("endif")
                return None
            self.leave(*SIDES)
            word = self.tokens[self.at - 1]
            if word == "else":
                self.block("endif")
                self.at += 1
            if word != "elseif":
                return None

    def leave(self, *ends: str) -> None:
        """Go on behind one of these words, beyond what is nested."""
        level = 0
        while self.word not in ("", ":"):
            word = self.word
            self.at += 1
            if level == 0 and word in ends:
                return
            level += (word in ("if", "while", "repeat")) - (word in ("endif", "endwhile", "until"))
        raise ValueError(f"'{ends[-1]}' is missing")

    def while_true(self) -> None:
        begun = self.at + 1
        while True:
            self.at = begun
            if not self.fixed(self.joined(), "the number of turns of a loop"):
                break
            self.nested(lambda: self.block("endwhile"))
            self.count()
        self.leave("endwhile")

    def repeat(self) -> None:
        begun = self.at + 1
        while True:
            self.at = begun
            self.nested(lambda: self.block("until"))
            self.at += 1
            if self.fixed(self.joined(), "the number of turns of a loop"):
                return
            self.count()

    def fixed(self, tree: Tree, what: str) -> float:
        """Return the real part of a value that may not depend on the sample."""
        tree = self.plain(tree)
        if tree[0] != "number":
            raise ValueError(f"{what} depends on the sample, which is unsupported")
        value = float(tree[1].real)
        if not math.isfinite(value):
            raise ValueError(f"{what} is not a number")
        return value

    def stored(self, name: str, tree: Tree) -> Tree:
        return self.typed(tree, self.types.get(name, COMPLEX))

    def typed(self, tree: Tree, kind: int) -> Tree:
        """Return a value in a type."""
        tree = self.plain(tree)
        if self.kind(tree) <= kind:
            return tree
        if kind == BOOL:
            return self.made("!=", self.real(tree), ZERO)
        return self.real(tree) if kind == FLOAT else folded(("trunc", self.real(tree)))

    # --- Expressions

    def operand(self) -> Tree:
        word = self.word
        if word in ("!", "+"):
            self.skip()
            tree = self.nested(self.operand)
            return self.made("==", self.plain(tree), ZERO) if word == "!" else tree
        if word.startswith('"'):
            self.at += 1
            return ("text", word.strip('"'))
        if word[:1].isdigit() or (word[:1] == "." and len(word) > 1):
            self.at += 1
            value = float(word.rstrip("i"))
            if not math.isfinite(value):
                raise ValueError(f"{word[:20]} is too large")
            return ("number", value * 1j if word.endswith("i") else complex(value))
        if word[:1] in ("@", "#"):
            self.at += 1
            return self.named(word)
        return super().operand()

    def named(self, word: str) -> Tree:
        if word in self.arrays and self.word == "[":
            return self.read(self.element(word))
        if self.word == "(":
            own = word[0] == "@" or re.fullmatch("fn[1-4]", word)
            name = self.functions.get(word.lstrip("@"), "ident") if own else word
            if name in self.routines:
                return self.nested(lambda: self.call(name))
            if name in FUNCTIONS:
                return self.applied(name, self.operand())
        if word in RANDOM or word.lstrip("#") in ("random", *RANDOM):
            raise ValueError(f"'{word}' is random: each picture of it is another one")
        if word in SCREEN and word not in self.known:
            raise ValueError(f"'{word}' depends on the screen, and scenes have none")
        if self.word in ("(", "[", ".") or word in WORDS:
            self.refuse(word)
        if self.word == "=":
            raise ValueError(f"'{word}' can't be set within a part of an expression")
        return self.read(word)

    def applied(self, function: str, argument: Tree) -> Tree:
        argument = self.plain(argument)
        if function == "abs" and self.kind(argument) <= FLOAT:
            function = "cabs"
        tree = FUNCTIONS[function](argument)
        return valued(tree) if argument[0] == "number" else folded(tree)

    def read(self, name: str) -> Tree:
        key = name.removesuffix("_")
        if name[0] == "@" or (re.fullmatch("p[1-5]", name) and name not in self.env):
            key = name.lstrip("@")
            return ("choice", key) if key in self.labels else self.params.get(key, ZERO)
        if name[0] == "#" and name not in self.known:
            self.refuse(name)
        if name in self.known:
            return self.known[name]
        if name in self.env:
            return self.env[name]
        if not self.initial and (name in self.assigned or name in self.first):
            return super().read(name)
        if key in ("true", "false"):
            return ONE if key == "true" else ZERO
        return self.known.get("#" + key) or self.never(name)

    def pairs(self, tree: Tree) -> bool:
        return True

    def pair(self, real: Tree, imaginary: Tree) -> Tree:
        first, second = (self.real(self.plain(tree)) for tree in (real, imaginary))
        return self.made("+", first, folded(("flip", second)))

    def plain(self, tree: Tree) -> Tree:
        """Return the number of a choice; other trees as they are."""
        if tree is not None and tree[0] == "text":
            raise ValueError(f"the text '{tree[1][:40]}' is compared with no parameter")
        return self.params[tree[1]] if tree is not None and tree[0] == "choice" else tree

    def made(self, kind: str, *parts: Tree) -> Tree:
        heads = {part[0] for part in parts}
        if kind in ("==", "!=") and heads == {"choice", "text"}:
            (name,), (text,) = (
                [part[1] for part in parts if part[0] == head] for head in ("choice", "text")
            )
            labels = [label.lower() for label in self.labels[name]]
            if text not in labels:
                raise ValueError(f"'@{name}' is never '{text[:40]}'")
            same = self.params[name] == ("number", complex(labels.index(text)))
            return ONE if same == (kind == "==") else ZERO
        parts = tuple(map(self.plain, parts))
        if kind == "%":
            quotient = folded(("trunc", self.made("/", *parts)))
            return self.made("-", parts[0], self.made("*", parts[1], quotient))
        if kind in ("&&", "||"):
            return self.both(kind, *parts)
        if all(part[0] == "number" and not part[1].imag for part in parts) and kind in SIMPLE:
            value = complex(SIMPLE[kind](*(part[1].real for part in parts)))
            return ("number", value) if math.isfinite(value.real) else super().made(kind, *parts)
        if kind in ("==", "!=") and max(map(self.kind, parts)) == COMPLEX:
            x, y = ([folded((part, each)) for each in parts] for part in ("re", "im"))
            return self.both(
                "&&" if kind == "==" else "||", self.made(kind, *x), self.made(kind, *y)
            )
        return super().made(kind, *parts)

    def both(self, kind: str, left: Tree, right: Tree) -> Tree:
        """Return what "and" and "or" make of two conditions."""
        for one, other in ((left, right), (right, left)):
            if one[0] == "number":
                if bool(one[1].real) == (kind == "||"):
                    return ONE if kind == "||" else ZERO
                return self.made("!=", self.real(other), ZERO) if self.kind(other) else other
        return super().made(kind, left, right)

    def powered(self, base: Tree, exponent: Tree) -> Tree:
        base, exponent = self.plain(base), self.plain(exponent)
        return base if exponent == ONE else folded(syntax.raised(base, exponent))

    # --- Types

    def real(self, tree: Tree) -> Tree:
        """Return the real part of a tree."""
        return tree if self.kind(tree) <= FLOAT else folded(("re", tree))

    def kind(self, tree: Tree) -> int:
        """Return the narrowest type that is known to hold a tree's values."""
        known = self._kinds.get(id(tree))
        if known is None or known[1] is not tree:
            known = self._kinds[id(tree)] = self._kind(tree), tree
        return known[0]

    def _kind(self, tree: Tree) -> int:
        head = tree[0]
        if head == "number":
            return COMPLEX if tree[1].imag else FLOAT - (tree[1].real == round(tree[1].real))
        if len(tree) == 1:
            return self.types.get(head, COMPLEX)
        if head in (*syntax.COMPARISONS, *syntax.LOGIC):
            return BOOL
        if head in ("norm", "re", "im", "abs"):
            return FLOAT
        kinds = [self.kind(part) for part in tree[1:] if isinstance(part, tuple)]
        widest = max(kinds[1:] if head == "if" else kinds)
        if widest == COMPLEX or head == "flip":
            return COMPLEX
        if head in ("if", "conj"):
            return widest
        if head in syntax.ROUNDED:
            return INT
        if head in ("+", "-", "*", "neg", "absx", "absy") or (head == "power" and tree[2] >= 0):
            return max(widest, INT)
        return FLOAT if head in ("/", "power", *REAL) else COMPLEX


def _is_name(word: str) -> bool:
    return bool(word) and (word[0].isalpha() or word[0] == "_")

"""A user's own formula as text, such as "z**3 + c*sin(z)": read by a grammar, never evaluated.

A tree is a tuple: ("number", value) with a complex value, ("z",), ("c",), ("p",) for the z before,
(operator, left, right) with one of + - * /, ("neg", tree), ("power", tree, whole number), or
(function, tree).
"""

import math
import re
from typing import Any, NamedTuple

Tree = tuple[Any, ...]

MAX_CHARACTERS = 500
MAX_DEPTH = 50  # of parentheses, signs and powers in one another
MAX_OPERATIONS = 80  # beside each other and in one another
MAX_POWER = 64
# What has a complex derivative, and what has not.
HOLOMORPHIC = ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")
BENT = ("abs", "absx", "absy", "conj", "re", "im", "sign")
FUNCTIONS = (*HOLOMORPHIC, *BENT)
VARIABLES = ("z", "c", "p")
NUMBERS = {"i": 1j, "pi": complex(math.pi), "e": complex(math.e)}
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]+)"
    r"|(?P<operator>\*\*|[-+*/^()]))",
    re.ASCII,
)
OPERAND = "a number, z, c, i, a function or '('"


class ExpressionError(ValueError):
    """What is wrong with an expression, and in which column."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(f"column {column}: {message}")
        self.column = column


class Token(NamedTuple):
    """A piece of text; `kind` is "number", "name", "operator" or "end"; columns count from 1."""

    kind: str
    text: str
    column: int


def parse(text: str) -> Tree:
    """Return the tree of an expression in z, c and p, the z before.

    Raises
    ------
    ExpressionError
        The text is none.

    Examples
    --------
    >>> parse("z^2 + c")
    ('+', ('power', ('z',), 2), ('c',))
    """
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            MAX_CHARACTERS + 1, f"the expression is longer than {MAX_CHARACTERS} characters"
        )
    return _Parser(_tokens(text)).whole()


def _tokens(text: str) -> list[Token]:
    found, at, operations = [], 0, 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(at + 1, f"unknown character {text[at]!r}")
        kind = str(match.lastgroup)
        operations += kind == "operator" and match[kind] in "**/+-^"
        if operations > MAX_OPERATIONS:
            raise ExpressionError(
                match.start(kind) + 1, f"it has more than {MAX_OPERATIONS} operations"
            )
        found.append(Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, Token("end", "the end", len(text) + 1)]


class _Parser:
    """Sums of products of signed powers of operands, by recursive descent."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at, self.depth = tokens, 0, 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self, *texts: str) -> Token | None:
        """Return the next token and go on, if it is one of these operators."""
        token = self.next
        if token.kind != "operator" or token.text not in texts:
            return None
        self.at += 1
        return token

    def wrong(self, expected: str, token: Token | None = None) -> ExpressionError:
        token = token or self.next
        given = token.text if token.kind == "end" else f"'{token.text[:20]}'"
        return ExpressionError(token.column, f"{expected} is expected, not {given}")

    def whole(self) -> Tree:
        tree = self.sum()
        if self.next.kind != "end":
            raise self.wrong("an operator or the end")
        return tree

    def sum(self) -> Tree:
        tree = self.product()
        while token := self.take("+", "-"):
            tree = (token.text, tree, self.product())
        return tree

    def product(self) -> Tree:
        tree = self.signed()
        while token := self.take("*", "/"):
            tree = (token.text, tree, self.signed())
        return tree

    def signed(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(self.next.column, f"it is nested deeper than {MAX_DEPTH}")
        if self.take("+"):
            tree = self.signed()
        elif self.take("-"):
            tree = ("neg", self.signed())
        else:
            tree = self.power()
        self.depth -= 1
        return tree

    def power(self) -> Tree:
        base = self.operand()
        if not self.take("**", "^"):
            return base
        first = self.next
        value = constant(self.signed())
        if value is None:
            raise ExpressionError(first.column, "a power's exponent is a number")
        if value.imag or not value.real.is_integer() or abs(value.real) > MAX_POWER:
            if value == 0.5:
                return ("sqrt", base)
            raise ExpressionError(
                first.column, f"a power's exponent is a whole number, at most {MAX_POWER}"
            )
        return ("power", base, int(value.real))

    def operand(self) -> Tree:
        token = self.next
        if token.kind == "number":
            self.at += 1
            value = float(token.text)
            if not math.isfinite(value):
                raise ExpressionError(token.column, f"'{token.text[:20]}' is too large")
            return ("number", complex(value))
        if token.kind == "name":
            self.at += 1
            if token.text in VARIABLES:
                return (token.text,)
            if token.text in NUMBERS:
                return ("number", NUMBERS[token.text])
            if token.text in FUNCTIONS:
                if not self.take("("):
                    raise self.wrong(f"'(' after '{token.text}'")
                return (token.text, self.enclosed())
            raise ExpressionError(
                token.column,
                f"unknown name '{token.text[:20]}'; there are "
                + ", ".join((*VARIABLES, *NUMBERS, *FUNCTIONS)),
            )
        if self.take("("):
            return self.enclosed()
        raise self.wrong(OPERAND)

    def enclosed(self) -> Tree:
        tree = self.sum()
        if not self.take(")"):
            raise self.wrong("an operator or ')'")
        return tree


def constant(tree: Tree) -> complex | None:
    """Return the value of a tree of numbers and signs, or None."""
    if tree[0] == "number":
        return complex(tree[1])
    if tree[0] == "neg":
        value = constant(tree[1])
        return None if value is None else -value
    return None


def text_of(tree: Tree) -> str:
    """Return text that is parsed to this tree again.

    Examples
    --------
    >>> text_of(parse("z*z/(c - 1)"))
    '((z * z) / (c - 1.0))'
    """
    kind = tree[0]
    if kind == "number":
        value = complex(tree[1])
        return "i" if value == 1j else repr(value.real)
    if kind in VARIABLES:
        return str(kind)
    if kind == "neg":
        return f"(-{text_of(tree[1])})"
    if kind == "power":
        return f"({text_of(tree[1])}**{tree[2]})"
    if len(tree) == 3:
        return f"({text_of(tree[1])} {kind} {text_of(tree[2])})"
    return f"{kind}({text_of(tree[1])})"


def uses(tree: Tree, name: str) -> bool:
    """Tell whether a name or function occurs in a tree."""
    seen, left = set[int](), [tree]
    while left:
        part = left.pop()
        if part[0] == name:
            return True
        if id(part) not in seen:  # derivatives contain the same trees many times
            seen.add(id(part))
            left += [inner for inner in part[1:] if isinstance(inner, tuple)]
    return False

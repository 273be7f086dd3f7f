"""Expression trees: a user's formula as text, such as "z**3 + c*sin(z)", and its derivative.

The text is read by a grammar, never evaluated. A tree is a tuple: ("number", value) with a complex
value, ("z",), ("c",), ("p",) for the z before, or another variable, ("parameter", name) for a
number that programs get when they run, (operator, left, right), ("neg", tree), ("power", tree,
whole number), ("pow", tree, tree), (function, tree), or ("if", condition, tree, tree). Comparisons
are of real parts, and 1 or 0; a condition holds where its real part is not 0.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from fractals.errors import OptionError

Tree = tuple[Any, ...]

MAX_CHARACTERS = 500
MAX_DEPTH = 50  # of parentheses, signs and powers in one another
MAX_OPERATIONS = 80  # beside each other and in one another
MAX_PROGRAM, MAX_PROGRAM_OPERATIONS = 8000, 800  # characters and operations of statements
MAX_POWER = 64
# What has a complex derivative, and what has not.
HOLOMORPHIC = (
    *("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
)
ROUNDED = ("floor", "ceil", "round", "trunc")  # of both parts; constant between their steps
BENT = ("abs", "absx", "absy", "conj", "re", "im", "flip", "norm", "sign", *ROUNDED)
FUNCTIONS = (*HOLOMORPHIC, *BENT)
COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
LOGIC = ("&&", "||")
VARIABLES = ("z", "c", "p")
NUMBERS = {"i": 1j, "pi": complex(math.pi), "e": complex(math.e)}
WORDS = (*VARIABLES, *NUMBERS, *FUNCTIONS, "if")  # names with a meaning
LEVELS = (("||",), ("&&",), COMPARISONS, ("+", "-"), ("*", "/"))
LEVEL_OF = {word: k for k, words in enumerate(LEVELS) for word in words}
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<operator>\*\*|[<>=!]=|&&|\|\||[-+*/^()<>,;=]))",
    re.ASCII,
)
OPERAND = "a number, z, c, i, a function or '('"


class ExpressionError(ValueError):
    """What is wrong with an expression, and in which column; `code`, `name`: as of an error."""

    def __init__(self, column: int, message: str, code: str, name: str = "") -> None:
        super().__init__(f"column {column}: {message}")
        self.column, self.code, self.name = column, code, name

    def of(self, key: str, text: str) -> OptionError:
        """Return the error of an option that holds the expression."""
        about = {"code": self.code, "column": self.column}
        named = {"name": self.name} if self.name else {}
        return OptionError(f"{key} '{text[:60]}', {self}", **about, **named)


class Token(NamedTuple):
    """A piece of text; `kind` is "number", "name", "operator" or "end"; columns count from 1."""

    kind: str
    text: str
    column: int


def parse(text: str, parameters: Collection[str] = ()) -> Tree:
    """Return the tree of an expression in z, c, p, the z before, and parameters.

    Raises `ExpressionError` if it is none.

    >>> parse("z^2 + k*c", ["k"])
    ('+', ('power', ('z',), 2), ('*', ('parameter', 'k'), ('c',)))
    """
    return _Parser(_tokens(text, MAX_CHARACTERS, MAX_OPERATIONS), parameters).whole()


def parse_statements(text: str) -> list[tuple[str, Tree]]:
    """Return the statements of a text such as ``"w = z^2; z = w + c"``: names and their trees.

    Raises `ExpressionError` if it is no such text, or assigns to c or to a function's name.
    """
    tokens = _tokens(text, MAX_PROGRAM, MAX_PROGRAM_OPERATIONS)
    found = []
    parser = _Parser(tokens, None)
    while parser.next.kind != "end":
        found.append(parser.statement())
    return found


def parse_condition(text: str) -> Tree:
    """Return the tree of an expression in any variables."""
    return _Parser(_tokens(text, MAX_PROGRAM, MAX_PROGRAM_OPERATIONS), None).whole()


# Signs of books and web pages; one more character moves the column of an error by one
AS_PRINTED = {ord("²"): "^2", ord("³"): "^3", ord("−"): "-", ord("×"): "*", ord("·"): "*"}


def _tokens(text: str, characters: int, most: int) -> list[Token]:
    if len(text) > characters:
        raise ExpressionError(
            characters + 1,
            f"the expression is longer than {characters} characters",
            "formula_too_large",
        )
    return tokens_of(text.translate(AS_PRINTED), TOKEN, most)


def tokens_of(text: str, pattern: re.Pattern[str], most: float = math.inf) -> list[Token]:
    """Return the tokens of a text, and one for its end; `most` limits its operations.

    The pattern has groups by the kinds of `Token`.
    """
    found, at, operations = [], 0, 0
    while text[at:].strip():
        match = pattern.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(
                at + 1, f"unknown character {text[at]!r}", "unknown_character", text[at]
            )
        kind = str(match.lastgroup)
        operations += kind == "operator" and match[kind] not in "();,="
        if operations > most:
            raise ExpressionError(
                match.start(kind) + 1,
                f"it has more than {most} operations",
                "formula_too_large",
            )
        found.append(Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, Token("end", "the end", len(text) + 1)]


class TokenReader:
    """A place among tokens, for recursive descent."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def next(self) -> Token:
        """Return the next token."""
        return self.tokens[self.at]

    def take(self, *texts: str) -> Token | None:
        """Return the next token and go on, if it is one of these operators."""
        token = self.next
        if token.kind != "operator" or token.text not in texts:
            return None
        self.at += 1
        return token

    def need(self, *texts: str) -> None:
        """Go on beyond one of these operators; another token is an error that names the first."""
        if not self.take(*texts):
            raise self.wrong(f"an operator or '{texts[0]}'", "sign_expected", texts[0])

    def need_end(self) -> None:
        """Raise an `ExpressionError` before the end of the text."""
        if self.next.kind != "end":
            raise self.wrong("an operator or the end", "operator_expected")

    def wrong(self, expected: str, code: str, name: str = "") -> ExpressionError:
        """Return the error that something else is expected here."""
        token = self.next
        given = token.text if token.kind == "end" else f"'{token.text[:20]}'"
        return ExpressionError(token.column, f"{expected} is expected, not {given}", code, name)


class _Parser(TokenReader):
    """Conditions, and sums of products of signed powers of operands.

    `parameters` are names besides z, c and p; None: any name that has no other meaning is a
    variable.
    """

    def __init__(self, tokens: list[Token], parameters: Collection[str] | None) -> None:
        super().__init__(tokens)
        self.parameters, self.depth = parameters, 0

    def whole(self) -> Tree:
        tree = self.joined()
        self.need_end()
        return tree

    def statement(self) -> tuple[str, Tree]:
        """Return a name and its tree, and go on behind the semicolon."""
        token = self.next
        if token.kind != "name" or token.text in (*FUNCTIONS, *NUMBERS, "c", "if"):
            raise self.wrong("the name of a variable other than c", "variable_expected")
        self.at += 1
        if not self.take("="):
            raise self.wrong(f"'=' after '{token.text[:20]}'", "sign_expected", "=")
        tree = self.joined()
        if not self.take(";") and self.next.kind != "end":
            raise self.wrong("an operator, ';' or the end", "operator_expected")
        return token.text, tree

    def joined(self, level: int = 0) -> Tree:
        """Return operands joined by operators; those of the last level bind the tightest."""
        if level == len(LEVELS):
            return self.signed()
        tree = self.joined(level + 1)
        while token := self.take(*LEVELS[level]):
            tree = (token.text, tree, self.joined(level + 1))
        return tree

    def signed(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(
                self.next.column, f"it is nested deeper than {MAX_DEPTH}", "formula_too_large"
            )
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
        return raised(base, self.signed())

    def operand(self) -> Tree:
        token = self.next
        if token.kind == "number":
            self.at += 1
            value = float(token.text)
            if not math.isfinite(value):
                raise ExpressionError(
                    token.column, f"'{token.text[:20]}' is too large", "number_too_large"
                )
            return ("number", complex(value))
        if token.kind == "name":
            self.at += 1
            if token.text in NUMBERS:
                return ("number", NUMBERS[token.text])
            if token.text in (*FUNCTIONS, "if"):
                if not self.take("("):
                    raise self.wrong(f"'(' after '{token.text}'", "sign_expected", "(")
                return self.choice() if token.text == "if" else (token.text, self.enclosed())
            if token.text in VARIABLES or self.parameters is None:
                return (token.text,)
            if token.text in self.parameters:
                return ("parameter", token.text)
            raise ExpressionError(
                token.column,
                f"unknown name '{token.text[:20]}'; a parameter needs a value beside the step, as "
                f"{token.text[:20]}=0.3; there are " + ", ".join(WORDS),
                "unknown_name",
                token.text[:20],
            )
        if self.take("("):
            return self.enclosed()
        raise self.wrong(OPERAND, "operand_expected")

    def enclosed(self) -> Tree:
        tree = self.joined()
        self.need(")")
        return tree

    def choice(self) -> Tree:
        """Return "if" with its condition and both values."""
        parts = [self.joined()]
        for _ in range(2):
            self.need(",")
            parts.append(self.joined())
        self.need(")")
        return ("if", *parts)


def raised(base: Tree, exponent: Tree) -> Tree:
    """Return the tree of a power: multiplications where the exponent is a small whole number."""
    value = constant(exponent)
    if value is None or value.imag or value.real not in (0.5, round(value.real)):
        return ("pow", base, exponent)
    if value.real == 0.5:
        return ("sqrt", base)
    if abs(value.real) > MAX_POWER:
        return ("pow", base, exponent)
    return ("power", base, int(value.real))


def with_exponents(tree: Tree, values: Mapping[str, Any]) -> Tree:
    """Return a tree in which parameters that are exponents by themselves are numbers, where whole.

    So such powers are multiplications, as in a text with a number.

    >>> with_exponents(("pow", ("z",), ("parameter", "n")), {"n": 3})
    ('power', ('z',), 3)
    """
    if tree[0] in ("number", "parameter"):
        return tree
    parts = (with_exponents(each, values) if isinstance(each, tuple) else each for each in tree)
    kind, *inner = parts
    if kind != "pow":
        return (kind, *inner)
    base, exponent = inner
    name = (exponent[1] if exponent[0] == "neg" else exponent)[1:]
    whole = values.get(name[0]) if name and isinstance(name[0], str) else None
    if not isinstance(whole, int):
        return (kind, base, exponent)
    number: Tree = ("number", complex(whole))
    return raised(base, ("neg", number) if exponent[0] == "neg" else number)


def constant(tree: Tree) -> complex | None:
    """Return the value of a tree of numbers and signs, or None."""
    if tree[0] == "number":
        return complex(tree[1])
    if tree[0] == "neg":
        value = constant(tree[1])
        return None if value is None else -value
    return None


def text_of(tree: Tree, level: int = 0) -> str:
    """Return text that is parsed to this tree again.

    Operators that bind less tightly than `level` are put into brackets: it is an index of `LEVELS`,
    then signs, then powers.

    >>> text_of(parse("z*z/(c - 1)"))
    'z * z / (c - 1.0)'
    """
    kind, sign = tree[0], len(LEVELS)
    if kind == "number":
        return _number_text(complex(tree[1]))
    if len(tree) == 1 or kind == "parameter":
        return str(tree[-1])
    own = LEVEL_OF.get(kind, sign)
    if kind in LEVEL_OF:
        text = f"{text_of(tree[1], own)} {kind} {text_of(tree[2], own + 1)}"
    elif kind == "neg":
        text = f"-{text_of(tree[1], sign)}"
    elif kind in ("power", "pow"):
        exponent = str(tree[2]) if kind == "power" else text_of(tree[2], sign)
        text = f"{text_of(tree[1], sign + 1)}^{exponent}"
    else:
        return f"{kind}({', '.join(map(text_of, tree[1:]))})"
    return f"({text})" if own < level else text


def _number_text(value: complex) -> str:
    if value == 1j:
        return "i"
    real = repr(value.real) if value.real >= 0 else f"({value.real!r})"
    return f"({real} + {_number_text(complex(value.imag))}*i)" if value.imag else real


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


MAX_DEGREE = 500


# --- Trees made of trees. Numbers are folded, so that derivatives stay short.

ZERO, ONE = ("number", 0j), ("number", 1 + 0j)


def plus(a: Tree, b: Tree) -> Tree:
    """Return a + b."""
    return b if a == ZERO else a if b == ZERO else ("+", a, b)


def minus(a: Tree, b: Tree) -> Tree:
    """Return a - b."""
    return a if b == ZERO else ("neg", b) if a == ZERO else ("-", a, b)


def times(a: Tree, b: Tree) -> Tree:
    """Return a b."""
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else ("*", a, b)


def over(a: Tree, b: Tree) -> Tree:
    """Return a / b."""
    return ZERO if a == ZERO else a if b == ONE else ("/", a, b)


def unless_0(a: Tree, b: Tree) -> Tree:
    """Return b, and 0 where a is 0.

    Orbits start at 0, where roots and powers have no derivative, which would make all others NaN.
    """
    return b if b == ZERO else ("unless0", a, b)


def power(a: Tree, n: int) -> Tree:
    """Return a to the power n."""
    return ONE if n == 0 else a if n == 1 else ("power", a, n)


def derivative(tree: Tree, name: str) -> Tree:
    """Return the derivative of a holomorphic tree by "z", "c" or "p"."""
    return change(tree, *(ONE if name == variable else ZERO for variable in VARIABLES))


def change(tree: Tree, dz: Tree, dc: Tree, dp: Tree = ZERO) -> Tree:
    """Return how a tree changes, to first order, when z, c and p change by `dz`, `dc` and `dp`."""
    return change_by(tree, dict(zip(VARIABLES, (dz, dc, dp), strict=True)))


def change_by(tree: Tree, changes: Mapping[str, Tree]) -> Tree:
    """Return how a tree changes, to first order, when its variables change by these trees."""
    known: dict[int, Tree] = {}  # by id, because derivatives contain the same trees many times

    def changed(tree: Tree) -> Tree:
        if id(tree) not in known:
            known[id(tree)] = _changed(tree, changed, changes)
        return known[id(tree)]

    return changed(tree)


def _changed(tree: Tree, changed: Callable[[Tree], Tree], changes: Mapping[str, Tree]) -> Tree:
    """Return the change of a tree; `changed` returns that of its parts."""
    kind = tree[0]
    if kind in ("number", "parameter") or kind in changes:
        return changes.get(kind, ZERO)
    if kind in (*COMPARISONS, *LOGIC, *ROUNDED):
        return ZERO  # but where the value jumps
    if kind == "if":
        found = changed(tree[2]), changed(tree[3])
        return ZERO if found == (ZERO, ZERO) else ("if", tree[1], *found)
    if kind == "unless0":
        return unless_0(tree[1], changed(tree[2]))
    a, inner = tree[1], changed(tree[1])
    if kind == "pow":
        return times(tree, unless_0(a, changed(times(tree[2], ("log", a)))))
    if kind == "neg":
        return minus(ZERO, inner)
    if kind in "+-*/":
        b, other = tree[2], changed(tree[2])
        if kind == "+":
            return plus(inner, other)
        if kind == "-":
            return minus(inner, other)
        if kind == "*":
            return plus(times(inner, b), times(a, other))
        return minus(over(inner, b), times(over(a, power(b, 2)), other))
    if kind == "power":
        if tree[2] == 0:
            return ZERO
        return times(times(("number", complex(tree[2])), power(a, tree[2] - 1)), inner)
    if inner == ZERO or kind == "sign":
        return ZERO
    if kind in ("absx", "absy"):
        return (f"turn{kind[-1]}", a, inner)
    if kind == "norm":
        return times(("number", 2 + 0j), ("re", times(("conj", a), inner)))
    if kind in BENT:
        return ("along", a, inner) if kind == "abs" else (kind, inner)
    outer = _outer(kind, a)
    return times(unless_0(a, outer) if kind == "sqrt" else outer, inner)


def _outer(function: str, a: Tree) -> Tree:
    """Return the derivative of a function at a."""
    two = ("number", 2 + 0j)
    rules: dict[str, Callable[[], Tree]] = {
        "sin": lambda: ("cos", a),
        "cos": lambda: ("neg", ("sin", a)),
        "tan": lambda: plus(ONE, power(("tan", a), 2)),
        "exp": lambda: ("exp", a),
        "log": lambda: over(ONE, a),
        "sqrt": lambda: over(ONE, times(two, ("sqrt", a))),
        "sinh": lambda: ("cosh", a),
        "cosh": lambda: ("sinh", a),
        "tanh": lambda: minus(ONE, power(("tanh", a), 2)),
        "asin": lambda: over(ONE, ("sqrt", minus(ONE, power(a, 2)))),
        "acos": lambda: over(("number", -1 + 0j), ("sqrt", minus(ONE, power(a, 2)))),
        "atan": lambda: over(ONE, plus(ONE, power(a, 2))),
        "asinh": lambda: over(ONE, ("sqrt", plus(ONE, power(a, 2)))),
        "acosh": lambda: over(ONE, times(("sqrt", minus(a, ONE)), ("sqrt", plus(a, ONE)))),
        "atanh": lambda: over(ONE, minus(ONE, power(a, 2))),
    }
    return rules[function]()


def is_holomorphic(tree: Tree) -> bool:
    """Tell whether it has a complex derivative."""
    return not any(uses(tree, name) for name in BENT)


def degree_of(tree: Tree) -> int:
    """Return the growth exponent at infinity of a tree in z, or 0 if it is not above 1.

    That of polynomials, quotients and what folds them, by the rules for their degrees; terms that
    cancel are not seen. Other functions have none.
    """
    found = _degree(tree, {})
    return found if found is not None and 1 < found <= MAX_DEGREE else 0


def _degree(tree: Tree, known: dict[int, int | None]) -> int | None:
    """Return the degree; `known` are those of other trees, by id."""
    if id(tree) not in known:
        known[id(tree)] = _degree_of_parts(tree, known)
    return known[id(tree)]


def _degree_of_parts(tree: Tree, known: dict[int, int | None]) -> int | None:
    kind = tree[0]
    if kind in ("number", "parameter", "c", "sign", *COMPARISONS, *LOGIC):
        return 0
    if len(tree) == 1:  # z, the z before, or another variable, which may grow in any way
        return 1 if kind in ("z", "p") else None
    if kind == "if":
        own = _degree(tree[2], known), _degree(tree[3], known)
        return None if None in own else max(own)  # type: ignore[type-var]
    inner = _degree(tree[1], known)
    if inner is None:
        return None
    if kind in "+-*/":
        other = _degree(tree[2], known)
        if other is None:
            return None
        return {"*": inner + other, "/": inner - other}.get(kind, max(inner, other))
    if kind == "power":
        return inner * int(tree[2])
    if kind in ("norm", "pow"):
        return 2 * inner if kind == "norm" else None
    return inner if kind in ("neg", *BENT) or inner == 0 else None

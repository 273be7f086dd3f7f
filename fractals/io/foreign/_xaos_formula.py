"""Formulas that users of XaoS write, as expressions of a scene.

Arguments are parted by semicolons, ``[0.5;-1]`` is a complex number, a product needs no sign, all
powers are taken from left to right, and a minus sign before anything but a number is a factor -1.
"""

import cmath
import math
import re
from collections.abc import Callable

from fractals.errors import SceneError
from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import ExpressionError, Token

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|(?P<name>[a-z_][a-z0-9_]*)"
    r"|(?P<operator>[-+*/^(){}\[\];,]))",
    re.ASCII,
)
SAME = ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "abs", "re", "im")
NAMES = {"i": "i", "pi": "pi", "pi2": "(2*pi)", "pi_2": "(pi/2)", "e": "e"}
ONE: dict[str, Callable[[str], str]] = {
    **{name: (name + "({})").format for name in SAME},
    "rabs": "abs(re({}))".format,
    "inv": "(1/({}))".format,
    "cot": "(1/tan({}))".format,
    "coth": "(1/tanh({}))".format,
    "log2": f"(log({{}})/{math.log(2)!r})".format,
    "log10": f"(log({{}})/{math.log(10)!r})".format,
}
POWERS = ("pow", "powi", "powd", "powdc")
LOGARITHMS = ("logn", "logcn")  # of a base, and a number


def translated(text: str, variables: str, key: str) -> str:
    """Return an expression of a scene with the same value.

    `variables`: the letters that are known in it, of z, c and p, the z before. `key`: the command
    that holds the text, for messages. `SceneError`: the text is none, or has a part that no
    expression can hold.
    """
    text = text.lower()
    if len(text) > syntax.MAX_CHARACTERS:
        raise SceneError(f"({key} ...) is longer than {syntax.MAX_CHARACTERS} characters")
    try:
        return _Translator(syntax.tokens_of(text, TOKEN), variables, key).whole()
    except RecursionError:
        raise SceneError(f"{key}: nested too deeply") from None
    except ExpressionError as error:
        raise SceneError(f"{key}: '{text[:80]}', {error}") from None


class _Translator(syntax.TokenReader):
    """Each method returns text that is one operand where it says so."""

    def __init__(self, tokens: list[Token], variables: str, key: str) -> None:
        super().__init__(tokens)
        self.variables, self.key = variables, key

    def whole(self) -> str:
        text = self.sum()
        self.need_end()
        return text

    def sum(self) -> str:
        text = self.product()
        while sign := self.take("+", "-"):
            text = f"{text} {sign.text} {self.product()}"
        return text

    def product(self) -> str:
        text = self.power()
        while True:
            sign = self.take("*", "/")
            beside = self.next.kind in ("number", "name") or self.next.text in ("(", "{", "[")
            if not (sign or beside):
                return text
            text = f"{text}{sign.text if sign else '*'}{self.power()}"

    def power(self) -> str:
        base = self.operand()
        while self.take("^"):
            base = f"({raised(base, self.operand())})"
        return base

    def operand(self) -> str:
        """Return a number, a name, a function of something, or something in brackets."""
        token = self.next
        if self.take("+"):
            return self.operand()
        if self.take("-"):
            number = self.next.kind == "number"
            return f"(-{self.operand()})" if number else "(-1)"
        if self.take("("):
            text = f"({self.sum()})"
            self.need(")")
            return text
        if self.take("{", "["):
            parts = self.operand()
            self.need(";", ",")
            parts = f"({parts} + {self.operand()}*i)"
            self.need("}", "]")
            return parts
        if token.kind == "number":
            self.at += 1
            return token.text
        if token.kind == "name":
            self.at += 1
            if self.next.text == "(":
                return self.function(token.text)
            if token.text in self.variables.split():
                return token.text
            if token.text in NAMES:
                return NAMES[token.text]
            raise self.unknown(token.text)
        raise self.wrong(syntax.OPERAND, "operand_expected")

    def function(self, name: str) -> str:
        self.need("(")
        arguments = [self.sum()]
        while self.take(";", ","):
            arguments.append(self.sum())
        self.need(")")
        if name in ONE and len(arguments) == 1:
            return ONE[name](*arguments)
        if name in POWERS and len(arguments) == 2:
            return f"({raised(f'({arguments[0]})', arguments[1])})"
        if name in LOGARITHMS and len(arguments) == 2:
            return f"(log({arguments[1]})/log({arguments[0]}))"
        if name == "rtni" and len(arguments) == 3:
            n, k = (_value(argument) for argument in arguments[1:])
            if n is not None and k is not None and int(n):
                turn = cmath.exp(2j * math.pi * int(k) / int(n))
                return f"(exp(log({arguments[0]})/{int(n)})*({turn.real!r} + {turn.imag!r}*i))"
        raise self.unknown(name)

    def unknown(self, name: str) -> SceneError:
        return SceneError(f"'{name[:40]}' in ({self.key} ...) is unsupported")


def raised(base: str, exponent: str) -> str:
    """Return a power; what is no whole one is taken by the logarithm, as XaoS does."""
    value = _value(exponent)
    if value is not None and value.is_integer() and abs(value) <= syntax.MAX_POWER:
        return f"{base}^{int(value)}"
    return f"exp(({exponent})*log({base}))"


def _value(text: str) -> float | None:
    """Return the value of a number in any brackets, or None."""
    try:
        return float(text.strip("() "))
    except ValueError:
        return None

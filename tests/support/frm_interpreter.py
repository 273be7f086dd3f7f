"""An interpreter of Fractint's formula language, which shares no code with the package.

Numbers are pairs of floats. Operations do what those of Fractint 20's floating-point parser do.
"""

import math
import re

TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e-?\d+)?|[a-z_]\w*|&&|\|\||[<>=!]=|[-+*/^()<>=,:|])")
LEVELS = (("&&", "||"), ("<", ">", "<=", ">=", "==", "!="), ("+", "-"), ("*", "/"))
LEAST = 2.0**-1022
BIG = 1e300


class Overflow:
    """The flag that divisions by 0 set.

    `far` tells that rounding decides, or the range of numbers: the square of a divisor is beyond
    that of float64, but not of the long doubles that Fractint has there.
    """

    def __init__(self):
        self.set = self.far = False

    def look(self, a, power=1):
        """Note whether a value's power is that far."""
        size = math.hypot(*a)
        if size and not math.isnan(size):
            self.far |= math.isinf(size) or abs(math.log10(size)) * power > 150

    def cut(self, a):
        """Note whether a value is where angles jump: Fractint has a -0 there."""
        self.far |= a[1] == 0 and a[0] < 0


def real_exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def circular(x):
    return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)


def hyperbolic(x):
    up, down = real_exp(x) / 2, real_exp(-x) / 2
    return (math.sinh(x) if abs(x) < 1 else up - down), up + down


def scaled(a):
    """Return a value with parts of at most 1, and the power of 2 that was taken out."""
    most = max(abs(a[0]), abs(a[1]))
    if not 0 < most < math.inf:
        return a, 0
    k = math.frexp(most)[1]
    return (math.ldexp(a[0], -k), math.ldexp(a[1], -k)), k


def moved(x, k):
    """Return x times a power of 2."""
    try:
        return math.ldexp(x, k)
    except OverflowError:
        return math.copysign(math.inf, x)


def times(a, b):
    """Return a product; only the result may be too large, as in the registers of a coprocessor."""
    ((c, d), j), ((e, f), k) = scaled(a), scaled(b)
    return moved(c * e - d * f, j + k), moved(c * f + d * e, j + k)


def over(a, b, flag):
    flag.look(b)
    if b[0] * b[0] + b[1] * b[1] <= LEAST:
        flag.set = True
        return BIG, BIG
    (c, d), k = scaled(b)
    size = c * c + d * d
    x, y = times(a, (c / size, -d / size))
    return moved(x, -k), moved(y, -k)


def part_over(x, y, flag):
    if abs(y) <= LEAST:
        flag.set = True
        return BIG
    return x / y


def log(a):
    if a == (0, 0):
        return 0.0, 0.0
    size = math.hypot(*a)
    if not math.isfinite(size):
        return size, math.atan2(a[1], a[0])
    return math.log(size), math.atan2(a[1], a[0])


def exp(a):
    size = real_exp(a[0])
    s, c = circular(a[1])
    return size * c, size * s


def sqrt(a):
    if a == (0, 0):
        return a
    size, half = math.sqrt(math.hypot(*a)), math.atan2(a[1], a[0]) / 2
    return size * math.cos(half), size * math.sin(half)


def sine(a):
    (s, c), (sh, ch) = circular(a[0]), hyperbolic(a[1])
    return s * ch, c * sh


def cosine(a):
    (s, c), (sh, ch) = circular(a[0]), hyperbolic(a[1])
    return c * ch, -s * sh


def turned(function):
    """Return f of a function g that is f(ix) = i g(x): sine of sinh, tangent of tanh."""

    def hyperbolic_one(a, flag):
        x, y = function((-a[1], a[0]), flag)
        return y, -x

    return hyperbolic_one


def tangent(a, flag):
    (s, c), (sh, ch) = circular(2 * a[0]), hyperbolic(2 * a[1])
    if math.isinf(ch):
        return 0.0, math.copysign(1.0, a[1])
    return part_over(s, c + ch, flag), part_over(sh, c + ch, flag)


def cotangent(a, flag):
    flag.far |= 0 < math.hypot(*a) < 1e-4  # differences of cosines have few digits there
    (s, c), (sh, ch) = circular(2 * a[0]), hyperbolic(2 * a[1])
    if math.isinf(ch):
        return 0.0, -math.copysign(1.0, a[1])
    return part_over(s, ch - c, flag), part_over(-sh, ch - c, flag)


def power(a, b, exponent, flag):
    """Return a power; the parser computes those with these numbers as exponents in other ways."""
    if exponent in ((0, 0), (1, 0), (2, 0), (-1, 0)):
        return {0: (1.0, 0.0), 1: a, 2: times(a, a)}.get(exponent[0]) or over((1.0, 0.0), a, flag)
    if exponent and exponent[0] < 0:
        flag.look(a, -exponent[0])
    flag.cut(a)
    return (0.0, 0.0) if a == (0, 0) else exp(times(b, log(a)))


def rounded(function):
    return lambda a, flag: tuple(float(function(x)) if math.isfinite(x) else x for x in a)


def plain(function):
    return lambda a, flag: function(a)


def angular(function):
    def checked(a, flag):
        flag.cut(a)
        return function(a)

    return checked


FUNCTIONS = {
    "sin": plain(sine),
    "cos": plain(cosine),
    "cosxx": plain(lambda a: (cosine(a)[0], -cosine(a)[1])),
    "sinh": turned(plain(sine)),
    "cosh": plain(lambda a: cosine((-a[1], a[0]))),
    "tan": tangent,
    "tanh": turned(tangent),
    "cotan": cotangent,
    "cotanh": lambda a, flag: tuple(-x for x in turned(cotangent)(a, flag)),
    "exp": plain(exp),
    "log": angular(log),
    "sqrt": angular(sqrt),
    "sqr": plain(lambda a: times(a, a)),
    "recip": lambda a, flag: over((1.0, 0.0), a, flag),
    "ident": plain(lambda a: a),
    "zero": plain(lambda a: (0.0, 0.0)),
    "one": plain(lambda a: (1.0, 0.0)),
    "abs": plain(lambda a: (abs(a[0]), abs(a[1]))),
    "cabs": plain(lambda a: (math.hypot(*a), 0.0)),
    "conj": plain(lambda a: (a[0], -a[1])),
    "flip": plain(lambda a: (a[1], a[0])),
    "real": plain(lambda a: (a[0], 0.0)),
    "imag": plain(lambda a: (a[1], 0.0)),
    "floor": rounded(math.floor),
    "ceil": rounded(math.ceil),
    "trunc": rounded(math.trunc),
    "round": rounded(lambda x: math.floor(x + 0.5)),
}


def truth(a):
    return a[0] == a[0] != 0


COMPARED = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a == a and b == b and a != b,
}


def constant(value):
    """Return the function of a number."""

    def number(names, flag):
        return value

    number.constant = lambda names: value
    return number


class Reader:
    """Turns a formula's text into functions of its variables and of the flag."""

    def __init__(self, text, functions):
        self.tokens, self.functions = [], functions
        text = re.sub(r"\s*\n\s*", ",", text.strip().lower())
        while text:
            match = TOKEN.match(text)
            self.tokens.append(match[1])
            text = text[match.end() :].lstrip()
        self.tokens.append("")

    @property
    def next(self):
        return self.tokens[0]

    def take(self, *words):
        return self.tokens.pop(0) if self.next in words else None

    def block(self, *ends):
        """Return the function of statements: it returns the last one's value."""
        found = []
        while self.next not in ends:
            if not self.take(","):
                found.append(self.branch() if self.take("if") else self.statement())

        def run(names, flag):
            value = (0.0, 0.0)
            for statement in found:
                value = statement(names, flag)
            return value

        return run

    def branch(self):
        self.take("(")
        condition = self.statement()
        self.take(")")
        one, other = self.block("elseif", "else", "endif"), None
        word = self.tokens.pop(0)
        if word == "elseif":
            other = self.branch()
        elif word == "else":
            other = self.block("endif")
            self.take("endif")

        def run(names, flag):
            if truth(condition(names, flag)):
                return one(names, flag)
            return other(names, flag) if other else (0.0, 0.0)

        return run

    def statement(self):
        if len(self.tokens) > 1 and self.tokens[1] == "=" and self.next[0].isalpha():
            name = self.tokens.pop(0)
            self.take("=")
            value = self.statement()

            def run(names, flag):
                names[name] = value(names, flag)
                return names[name]

            return run
        return self.joined(0)

    def joined(self, level):
        if level == len(LEVELS):
            return self.signed()
        one = self.joined(level + 1)
        while word := self.take(*LEVELS[level]):
            one = self.operation(word, one, self.joined(level + 1))
        return one

    def operation(self, word, one, other):
        def run(names, flag):
            a, b = one(names, flag), other(names, flag)
            if word == "+":
                return a[0] + b[0], a[1] + b[1]
            if word == "-":
                return a[0] - b[0], a[1] - b[1]
            if word in "*/":
                return times(a, b) if word == "*" else over(a, b, flag)
            if word == "&&":
                return float(truth(a) and truth(b)), 0.0
            if word == "||":
                return float(truth(a) or truth(b)), 0.0
            if word in ("==", "!="):
                flag.look((a[0] - b[0], 0.0))
            return float(COMPARED[word](a[0], b[0])), 0.0

        return run

    def signed(self):
        if self.next == "-" and self.tokens[1][0].isdigit():  # a number with a sign
            self.take("-")
            one = constant((-float(self.tokens.pop(0)), 0.0))
        elif self.take("-"):
            inner = self.operand()
            one = self.operation("-", lambda names, flag: (0.0, 0.0), inner)
        else:
            one = self.operand()
        while self.take("^"):
            one = self.raised(one, self.operand())
        return one

    def raised(self, one, other):
        known = getattr(other, "constant", lambda names: None)

        def run(names, flag):
            a, b = one(names, flag), other(names, flag)
            return power(a, b, known(names), flag)

        return run

    def operand(self):
        word = self.tokens.pop(0)
        if word in ("(", "|"):
            inner = self.statement()
            if word == "(" and self.take(","):
                imaginary = self.joined(0)
                self.take(")")

                def pair(names, flag):
                    return inner(names, flag)[0], imaginary(names, flag)[0]

                pair.constant = lambda names: pair(names, None)
                return pair
            self.take(")", "|")
            if word == "(":
                return inner
            return lambda names, flag: (math.fsum(x * x for x in inner(names, flag)), 0.0)
        if word[0].isdigit():
            return constant((float(word), 0.0))
        if self.next == "(" and (word in FUNCTIONS or word in self.functions):
            function = FUNCTIONS[self.functions.get(word, word)]
            inner = self.operand()
            return lambda names, flag: function(inner(names, flag), flag)

        def variable(names, flag):
            return names.get(word, (0.0, 0.0))

        if re.fullmatch("p[1-5]", word):
            variable.constant = lambda names: names[word]
        return variable


def counter(text, params, functions, limit):
    """Return a function of a pixel: the steps after which its orbit ends, at most `limit`.

    It returns 0 where that is not certain, and -n where the orbit ends after about n steps, as its
    numbers are too large.

    `text` is what stands in braces; `params` are pairs by names, `functions` names by "fn1" etc.
    """
    reader = Reader(text, functions)
    begin = reader.block(":")
    reader.take(":")
    step = reader.block("")

    def count(pixel):
        names, flag = {**params, "pixel": (pixel.real, pixel.imag)}, Overflow()
        begin(names, flag)
        n, value = 1, step(names, flag)
        while truth(value) and not flag.set and n < limit:
            flag.far |= abs(value[0]) < 1e-12  # rounding decides whether it is 0
            n, value = n + 1, step(names, flag)
        finite = all(math.isfinite(x) for value in names.values() for x in value)
        return 0 if flag.far else n if finite else -n

    return count

"""The fused multiply-add for WebAssembly, which has none, in LLVM's text: with others' bits.

Double-double numbers live by what a product loses when it is rounded, which is ``fma(a, b, -p)``.
"""

import re

NUMBERS = r"(?P<kind>double|<\d+ x double>)"
DECLARED = re.compile(r"declare (double|<(\d+) x double>) @llvm\.fma\.(\w+)\(.*")
# A call without constants but 0: its result, and what it multiplies and adds
CALL = re.compile(
    rf"(%[\w.]+) = (?:tail )?call {NUMBERS} @llvm\.fma\.(\w+)"
    r"\((?P=kind) (%[\w.]+), (?P=kind) (%[\w.]+), (?P=kind) (%[\w.]+|0\.0\S*|zeroinitializer)\)"
)
# Names of numbers are those of one function
FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
NEGATIVE = re.compile(r"(%[\w.]+) = fneg (?:double|<\d+ x double>) (%[\w.]+)")
HALF = 2**27 + 1  # times a number, less what is beyond: its upper 26 bits (Veltkamp)


def with_exact_fma(text: str) -> str:
    """Return LLVM's text without fused multiply-adds of float64 numbers.

    Each is computed from sums and products, and has the same bits, but for results that are not
    finite, for factors above 2**996, whose halves are not finite, for products below 2**-969, whose
    errors would be no normal numbers, and for the sign of a 0 that a product has lost.
    """
    text = FUNCTION.sub(_with_calls, text)
    for kind, lanes, name in DECLARED.findall(text):
        text = text.replace(f"@llvm.fma.{name}(", f"@fused.{name}(")
        text = text.replace(f"declare {kind} @fused.{name}(", f"; {kind} @fused.{name}(", 1)
        text += _functions(kind, lanes, name)
    return text


def _with_calls(function: re.Match[str]) -> str:
    """Return a function whose simpler fused multiply-adds are calls of functions of their own."""
    text = function[0]
    products, losses = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for result, *_, a, b, c in CALL.findall(text):
        if c[0] != "%":
            products[result] = a, b
    for result, of in NEGATIVE.findall(text):
        if of in products:
            losses[result] = products[of]

    def called(match: re.Match[str]) -> str:
        result, kind, name, a, b, c = match.groups()
        if c[0] != "%":
            return f"{result} = call {kind} @rounded.{name}({kind} {a}, {kind} {b})"
        if losses.get(c) == (a, b):
            return f"{result} = call {kind} @lost.{name}({kind} {a}, {kind} {b})"
        return match[0]

    return CALL.sub(called, text)


class _FloatText:
    """Lines of LLVM's text that compute numbers of a kind."""

    def __init__(self, kind: str, lanes: str) -> None:
        self.kind, self.lines = kind, list[str]()
        self._lanes = lanes
        self.integer = f"<{lanes} x i64>" if lanes else "i64"
        self.flag = f"<{lanes} x i1>" if lanes else "i1"

    def all(self, kind: str, value: str) -> str:
        """Return a constant in all lanes."""
        return f"<{', '.join([f'{kind} {value}'] * int(self._lanes))}>" if self._lanes else value

    def let(self, operation: str, *operands: str) -> str:
        """Add a line, and return the name of its result."""
        self.lines.append(f"%t{len(self.lines)} = {operation} {', '.join(operands)}")
        return f"%t{len(self.lines) - 1}"

    def total(self, a: str, b: str) -> tuple[str, str]:
        """Return the rounded sum, and what it lost (Knuth, 1969)."""
        add, subtract = f"fadd {self.kind}", f"fsub {self.kind}"
        s = self.let(add, a, b)
        t = self.let(subtract, s, a)
        left = self.let(subtract, a, self.let(subtract, s, t))
        return s, self.let(add, left, self.let(subtract, b, t))

    def product(self, a: str, b: str) -> tuple[str, str]:
        """Return the rounded product, and what it lost (Dekker, 1971)."""
        add, subtract, times = (f"{name} {self.kind}" for name in ("fadd", "fsub", "fmul"))
        p, halves = self.let(times, a, b), []
        for each in (a, b):
            far = self.let(times, each, self.all("double", f"{float(HALF):e}"))
            high = self.let(subtract, far, self.let(subtract, far, each))
            halves.append((high, self.let(subtract, each, high)))
        (ah, al), (bh, bl) = halves
        e = self.let(subtract, self.let(times, ah, bh), p)
        for u, v in ((ah, bl), (al, bh), (al, bl)):
            e = self.let(add, e, self.let(times, u, v))
        return p, e

    def odd_total(self, a: str, b: str) -> str:
        """Return the sum, rounded to the neighbor whose last bit is 1 where it is not exact."""
        kind, integer, zero = self.kind, self.integer, "zeroinitializer" if self._lanes else "0"
        s, lost = self.total(a, b)
        bits = self.let(f"bitcast {kind} {s} to {integer}")
        sign = self.let(f"xor {integer}", bits, self.let(f"bitcast {kind} {lost} to {integer}"))
        step = self.let(f"ashr {integer}", sign, self.all("i64", "63"))  # -1 or 0
        step = self.let(f"or {integer}", step, self.all("i64", "1"))  # towards what was lost
        last = self.let(f"and {integer}", bits, self.all("i64", "1"))
        none = self.all("double", "0.0")
        wrong = self.let(
            f"and {self.flag}",
            self.let(f"icmp eq {integer}", last, zero),
            self.let(f"fcmp une {kind}", lost, none),
        )
        step = self.let(f"select {self.flag} {wrong}, {integer} {step}, {integer} {zero}")
        return self.let(f"bitcast {integer} {self.let(f'add {integer}', bits, step)} to {kind}")

    def function(self, name: str, arguments: str, result: str, how: str = "alwaysinline") -> str:
        """Return the definition of a function of these lines."""
        given = ", ".join(f"{self.kind} %{argument}" for argument in arguments)
        head = f"define internal {self.kind} @{name}({given}) {how} {{"
        return "\n".join([head, *self.lines, f"ret {self.kind} {result}", "}"])


def _functions(kind: str, lanes: str, name: str) -> str:
    """Return the functions that stand for calls, of numbers of a kind."""
    lines = _FloatText(kind, lanes)
    zero = lines.all("double", "0.0")
    # A sum with +0, because the fused one of a product of -0 is +0
    sum_of = lines.let(f"fadd {kind}", lines.let(f"fmul {kind}", "%a", "%b"), zero)
    rounded = lines.function(f"rounded.{name}", "ab", sum_of)
    lines = _FloatText(kind, lanes)
    lost = lines.function(f"lost.{name}", "ab", lines.product("%a", "%b")[1])
    # Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008. Not inlined: calls
    # take 1.25 times as long, but a module of sines a quarter of the bytes and of the compile time.
    lines = _FloatText(kind, lanes)
    p, e = lines.product("%a", "%b")
    high, low = lines.total("%c", e)
    high, rest = lines.total(p, high)
    found = lines.let(f"fadd {kind}", high, lines.odd_total(low, rest))
    plain = lines.let(f"fadd {kind}", p, "%c")
    known = lines.let(f"fcmp ord {kind}", found, zero)
    best = lines.let(f"select {lines.flag} {known}, {kind} {found}, {kind} {plain}")
    fused = lines.function(f"fused.{name}", "abc", best, "noinline")
    return "\n".join(["", rounded, lost, fused, ""])

"""Each instruction that the translator knows, against Python: many operands, bit by bit."""

import itertools
import math
import operator
import random
import struct
from fractions import Fraction

import instructions
import pytest
from conftest import CODES, HEAD, Driver
from translate import Module, Unknown

ROWS = 64  # operands of each case, one row a thread
SPECIAL_REALS = [0.0, -0.0, 1.0, -1.5, 0.3, -7.75, 1e9, -3e9, 2.5, math.inf, -math.inf, math.nan]


def rounded(exact, kind):
    """Return an exact number as a float of a type: to nearest, ties to even."""
    digits, lowest = {"f32": (24, -149), "f64": (53, -1074)}[kind]
    if not exact:
        return 0.0
    exponent = math.floor(math.log2(abs(exact.numerator)) - math.log2(exact.denominator)) - digits
    unit = Fraction(2) ** max(exponent, lowest)
    while abs(round(exact / unit)) >= 2**digits:
        unit *= 2
    found = round(exact / unit) * unit
    limit = Fraction(2) ** (128 if kind == "f32" else 1024)
    size = math.inf if abs(found) >= limit else float(abs(found))
    return math.copysign(size, exact)


def real(kind, exact, *special):
    """Return a function of reals: exact and rounded once, or by floats where one is special."""

    def call(*values):
        if all(map(math.isfinite, values)) and (found := exact(*map(Fraction, values))):
            return rounded(found, kind)
        return special[0](*values)

    return call


def divided(a, b):
    if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0):
        return math.nan
    if b == 0:
        return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))
    return a / b


def root(kind):
    def call(a):
        if not a > 0 or a == math.inf:
            return a if a == 0 or a == math.inf else math.nan
        fraction = Fraction(a) * 4**200  # far more digits than a float has
        return rounded(
            Fraction(
                math.isqrt(fraction.numerator * fraction.denominator), fraction.denominator * 2**200
            ),
            kind,
        )

    return call


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


def quotient(a, b, none=-1):
    return none if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a if b == 0 else a - b * quotient(a, b)


def shifted(bits, right=False):
    if right:
        return lambda a, n: a >> min(n, bits)
    return lambda a, n: a << n if n < bits else 0


def field(bits, sign):
    def call(a, at, n):
        at, n = at & 255, n & 255
        whole = [
            (a >> min(k, bits - 1)) & 1 if sign or k < bits else 0 for k in range(at, at + bits)
        ]
        fill = (a >> min(at + n - 1, bits - 1)) & 1 if sign and n else 0
        return sum((whole[k] if k < n else fill) << k for k in range(bits))

    return call


def inserted(bits):
    def call(a, b, at, n):
        at, n = at & 255, n & 255
        for k in range(n):
            if at + k < bits:
                b = b & ~(1 << at + k) | ((a >> k if k < bits else 0) & 1) << at + k
        return b

    return call


def extreme(way):
    def call(a, b):
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return way((a, math.copysign(1, a)), (b, math.copysign(1, b)))[0]

    return call


def to_integer(way, kind, source):
    bits, sign = int(kind[1:]), kind[0] == "s"
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if sign else (0, 2**bits - 1)

    def call(a):
        if math.isnan(a):
            return 1 << (bits - 1) if 64 in (bits, int(source[1:])) else 0
        if math.isinf(a):
            return high if a > 0 else low
        return min(max(way(a), low), high)

    return call


def comparison(name):
    base = name.rstrip("u")
    tests = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt}
    tests |= {"le": operator.le, "gt": operator.gt, "ge": operator.ge}

    def call(a, b):
        if math.isnan(a) or math.isnan(b):
            return name.endswith("u") or name == "nan"
        return name == "num" or (name != "nan" and tests[base](a, b))

    return call


def negated(test):
    return lambda a, b: -test(a, b)


def permuted(a, b, c):
    parts = struct.pack("II", a, b)
    chosen = [c >> 4 * k & 15 for k in range(4)]
    return int.from_bytes(
        bytes((parts[s & 7] >> 7) * 255 if s & 8 else parts[s & 7] for s in chosen), "little"
    )


def cases():
    """Yield (instruction, type of the result, types of the operands, function)."""
    for t, bits in (("s16", 16), ("s32", 32), ("u32", 32), ("s64", 64), ("u64", 64)):
        two = [t, t]
        wide = f"{t[0]}{2 * bits}"
        yield f"add.{t}", t, two, lambda a, b: a + b
        yield f"sub.{t}", t, two, lambda a, b: a - b
        yield f"mul.lo.{t}", t, two, lambda a, b: a * b
        yield f"mul.hi.{t}", t, two, lambda a, b, n=bits: a * b >> n
        yield f"mad.lo.{t}", t, [t] * 3, lambda a, b, c: a * b + c
        yield f"mad.hi.{t}", t, [t] * 3, lambda a, b, c, n=bits: (a * b >> n) + c
        yield f"div.{t}", t, two, quotient
        yield f"rem.{t}", t, two, remainder
        yield f"min.{t}", t, two, min
        yield f"max.{t}", t, two, max
        yield f"shr.{t}", t, [t, "u32"], shifted(bits, right=True)
        if t[0] == "s":
            yield f"neg.{t}", t, [t], lambda a: -a
            yield f"abs.{t}", t, [t], abs
        if bits < 64:
            yield f"mul.wide.{t}", wide, two, lambda a, b: a * b
            yield f"mad.wide.{t}", wide, [t, t, wide], lambda a, b, c: a * b + c
        if bits > 16:
            yield f"bfe.{t}", t, [t, "u32", "u32"], field(bits, t[0] == "s")
            for name in ("eq", "ne", "lt", "le", "gt", "ge"):
                yield f"setp.{name}.{t}", "pred", two, comparison(name)
                yield f"set.{name}.u32.{t}", "u32", two, negated(comparison(name))
            yield f"selp.{t}", t, [t, t, "pred"], lambda a, b, p: a if p else b
            yield f"slct.{t}.s32", t, [t, t, "s32"], lambda a, b, c: a if c >= 0 else b
            yield f"cvt.rn.f64.{t}", "f64", [t], lambda a: rounded(Fraction(a), "f64")
            yield f"cvt.rn.f32.{t}", "f32", [t], lambda a: rounded(Fraction(a), "f32")
    for name in ("lo", "ls", "hi", "hs"):
        same = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[name]
        yield f"setp.{name}.u32", "pred", ["u32"] * 2, comparison(same)
    for t, bits in (("b16", 16), ("b32", 32), ("b64", 64)):
        two = [t, t]
        yield f"and.{t}", t, two, lambda a, b: a & b
        yield f"or.{t}", t, two, lambda a, b: a | b
        yield f"xor.{t}", t, two, lambda a, b: a ^ b
        yield f"not.{t}", t, [t], lambda a: ~a
        yield f"cnot.{t}", t, [t], lambda a: int(a == 0)
        yield f"shl.{t}", t, [t, "u32"], shifted(bits)
        yield f"mov.{t}", t, [t], lambda a: a
        if bits > 16:
            yield f"popc.{t}", "u32", [t], int.bit_count
            yield f"clz.{t}", "u32", [t], lambda a, n=bits: n - a.bit_length()
            yield f"brev.{t}", t, [t], lambda a, n=bits: int(f"{a:0{n}b}"[::-1], 2)
            yield f"bfi.{t}", t, [t, t, "u32", "u32"], inserted(bits)
    for name, both in (("and", min), ("or", max), ("xor", lambda p, q: p ^ q)):
        yield f"{name}.pred", "pred", ["pred"] * 2, both
        yield (
            f"setp.lt.{name}.s32",
            "pred",
            ["s32", "s32", "pred"],
            lambda a, b, p, f=both: f(a < b, p),
        )
    yield "not.pred", "pred", ["pred"], lambda p: not p
    yield "mov.pred", "pred", ["pred"], lambda p: p
    for name, low in (("l", True), ("r", False)):
        for mode in ("wrap", "clamp"):

            def shf(a, b, n, left=low, wrap=mode == "wrap"):
                n = n & 31 if wrap else min(n, 32)
                return ((b << 32 | a) << n) >> 32 if left else (b << 32 | a) >> n

            yield f"shf.{name}.{mode}.b32", "b32", ["b32", "b32", "u32"], shf
    yield "prmt.b32", "b32", ["b32"] * 3, permuted
    for t in ("f32", "f64"):
        two = [t, t]
        for name in ("add", "add.rn"):
            yield f"{name}.{t}", t, two, real(t, lambda a, b: a + b, lambda a, b: a + b)
        yield f"sub.rn.{t}", t, two, real(t, lambda a, b: a - b, lambda a, b: a - b)
        yield f"mul.rn.{t}", t, two, real(t, lambda a, b: a * b, lambda a, b: a * b)
        yield (
            f"fma.rn.{t}",
            t,
            [t] * 3,
            real(t, lambda a, b, c: a * b + c, lambda a, b, c: a * b + c),
        )
        yield (
            f"mad.rn.{t}",
            t,
            [t] * 3,
            real(t, lambda a, b, c: a * b + c, lambda a, b, c: a * b + c),
        )
        yield f"div.rn.{t}", t, two, real(t, lambda a, b: a / b if b else None, divided)
        yield (
            f"rcp.rn.{t}",
            t,
            [t],
            real(t, lambda a: 1 / a if a else None, lambda a: divided(1, a)),
        )
        yield f"sqrt.rn.{t}", t, [t], root(t)
        yield f"neg.{t}", t, [t], lambda a: -a
        yield f"abs.{t}", t, [t], abs
        yield f"min.{t}", t, two, extreme(min)
        yield f"max.{t}", t, two, extreme(max)
        yield f"copysign.{t}", t, two, lambda a, b: math.copysign(b, a)
        yield f"selp.{t}", t, [t, t, "pred"], lambda a, b, p: a if p else b
        yield f"slct.{t}.f32", t, [t, t, "f32"], lambda a, b, c: a if c >= 0 else b
        yield f"testp.finite.{t}", "pred", [t], math.isfinite
        yield f"testp.infinite.{t}", "pred", [t], math.isinf
        yield f"testp.notanumber.{t}", "pred", [t], math.isnan
        yield f"testp.number.{t}", "pred", [t], lambda a: not math.isnan(a)
        smallest = 2.0**-126 if t == "f32" else 2.0**-1022
        yield f"testp.normal.{t}", "pred", [t], lambda a, s=smallest: s <= abs(a) < math.inf
        yield f"testp.subnormal.{t}", "pred", [t], lambda a, s=smallest: 0 < abs(a) < s
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "num", "nan"):
            yield f"setp.{name}.{t}", "pred", two, comparison(name)
            if name not in ("num", "nan"):
                yield f"setp.{name}u.{t}", "pred", two, comparison(f"{name}u")
        ways = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
        for way, function in ways.items():
            for kind in ("s16", "u16", "s32", "u32", "s64", "u64"):
                yield f"cvt.{way}.{kind}.{t}", kind, [t], to_integer(function, kind, t)
            yield (
                f"cvt.{way}.{t}.{t}",
                t,
                [t],
                lambda a, f=function: math.copysign(f(a), a) if math.isfinite(a) else a,
            )
    yield (
        "add.sat.f32",
        "f32",
        ["f32"] * 2,
        real(
            "f32",
            lambda a, b: min(max(a + b, 0), 1),
            lambda a, b: 1.0 if a + b > 0 else 0.0,
        ),
    )
    yield "cvt.sat.f32.f32", "f32", ["f32"], lambda a: min(max(a, 0.0), 1.0) if a > 0 else 0.0
    yield "cvt.f64.f32", "f64", ["f32"], lambda a: a
    yield "cvt.rn.f32.f64", "f32", ["f64"], real("f32", lambda a: a, lambda a: a)
    for to, kind in itertools.permutations(("s16", "u16", "s32", "u32", "s64", "u64"), 2):
        yield f"cvt.{to}.{kind}", to, [kind], lambda a: a


CASES = {case[0]: case for case in cases()}
# Tests of test_driver.py run these: they are about memory, threads or control.
ELSEWHERE = {"cvta", "isspacep", "ld", "ldu", "st", "atom", "red", "addc", "subc", "madc", "lop3"}
ELSEWHERE |= {"bra", "brx", "ret", "exit", "trap", "brkpt", "call", "nanosleep", "membar", "fence"}
ELSEWHERE |= {"bar", "barrier", "shfl", "vote"}


def operands(name, kinds):
    """Return the operands of a case: special ones and random ones."""
    chance = random.Random(name)

    def one(kind):
        if kind == "pred":
            return chance.randrange(2)
        if kind[0] == "f":
            value = chance.choice(SPECIAL_REALS) if chance.random() < 0.4 else chance.uniform(-4, 4)
            value *= chance.choice([1, 1, 2.0**-140, 2.0**60])
            return struct.unpack(CODES[kind], struct.pack(CODES[kind], value))[0]
        bits = int(kind[1:])
        few = chance.choice([bits, bits, 6, 2])
        return signed(chance.getrandbits(few), bits) if kind[0] == "s" else chance.getrandbits(few)

    return [[one(kind) for kind in kinds] for _ in range(ROWS)]


def program():
    """Return PTX in which thread r computes row r of every case."""
    lines = [".visible .entry k(.param .u64 in, .param .u64 out) {", ".reg .b64 %in, %out, %row;"]
    lines += [".reg .b32 %x, %flag; .reg .pred %p0, %p1, %p2, %r;"]
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %x, %tid.x;"]
    lines += [f"mul.wide.u32 %row, %x, {8 * len(CASES)}; add.u64 %out, %out, %row;"]
    lines += ["shl.b64 %row, %row, 2; add.u64 %in, %in, %row;"]
    for at, (name, result, kinds, _) in enumerate(CASES.values()):
        used = []
        for k, kind in enumerate(kinds):
            place = f"[%in+{32 * at + 8 * k}]"
            if kind == "pred":
                lines.append(f"ld.global.u32 %flag, {place}; setp.ne.u32 %p{k}, %flag, 0;")
                used.append(f"%p{k}")
            else:
                used.append(f"%a{at}_{k}")
                lines.append(f".reg .{kind} {used[-1]}; ld.global.{kind} {used[-1]}, {place};")
        place = f"[%out+{8 * at}]"
        if result == "pred":
            lines.append(f"{name} %r, {', '.join(used)};")
            lines.append(f"selp.u32 %flag, 1, 0, %r; st.global.u32 {place}, %flag;")
        else:
            lines.append(f".reg .{result} %d{at}; {name} %d{at}, {', '.join(used)};")
            lines.append(f"st.global.{result} {place}, %d{at};")
    return "\n".join([*lines, "ret;", "}"])


@pytest.fixture(scope="module")
def results(built, translated, tmp_path_factory):
    """Return what the kernel computed: instruction -> a value of each row."""
    driver = Driver(built / "libcuda.so.1")
    driver.start()
    rows = {name: operands(name, case[2]) for name, case in CASES.items()}
    data = bytearray()
    for r in range(ROWS):
        for name, case in CASES.items():
            packed = [
                struct.pack(CODES[k], v).ljust(8, b"\0")
                for k, v in zip(case[2], rows[name][r], strict=True)
            ]
            data += b"".join(packed).ljust(32, b"\0")
    given, made = driver.memory(len(data)), driver.memory(8 * ROWS * len(CASES))
    driver.write(given, data)
    driver.launch(driver.kernel(program()), given, made, block=(ROWS, 1, 1))
    out = driver.read(made, 8 * ROWS * len(CASES))
    found = {name: [] for name in CASES}
    for at in range(0, len(out), 8):
        name = list(CASES)[at // 8 % len(CASES)]
        code = CODES[CASES[name][1]]
        found[name].append(struct.unpack_from(code, out, at)[0])
    return rows, found


@pytest.mark.parametrize("name", CASES)
def test_as_python(results, name):
    _, kind, _, function = CASES[name]
    rows, found = results
    for given, value in zip(rows[name], found[name], strict=True):
        wanted = function(*given)
        if kind[0] in "su" or kind[0] == "b":
            bits = int(kind[1:])
            wanted = signed(int(wanted), bits) if kind[0] == "s" else int(wanted) & (1 << bits) - 1
        if kind[0] == "f" and math.isnan(wanted):
            assert math.isnan(value), given
        elif kind[0] == "f":
            assert struct.pack(CODES[kind], value) == struct.pack(CODES[kind], wanted), given
        else:
            assert value == wanted, given


def test_every_instruction_has_a_case():
    """Tables and functions of the translator, but for approximations: a card has other bits."""
    named = {name.rpartition(".")[0] for name in CASES} | {name.split(".")[0] for name in CASES}
    tables = {*instructions.INTEGERS, *instructions.PREDICATES, *instructions.REALS}
    close = {key for key in tables if ".approx" in key or key == "div.full"}
    without_rn = {key for key in tables if f"{key}.rn" in tables}
    assert tables - close - without_rn <= named
    known = {*instructions.SPECIAL, *(key.split(".")[0] for key in instructions.STATEMENTS)}
    assert known - ELSEWHERE <= named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("frobnicate.u32 %a, %a;", "unknown instruction `frobnicate.u32 %a, %a`"),
        ("add.rz.f32 %f, %f, %f;", "unknown instruction `add.rz.f32"),
        ("fma.rn.ftz.f32 %f, %f, %f, %f;", "unknown instruction `fma.rn.ftz.f32"),
        ("ld.global.v8.u32 %a, [%d];", "unknown modifier .v8"),
        ("ld.global.f16 %a, [%d];", "unknown modifier .f16"),
        ("redux.sync.add.u32 %a, %a, -1;", "unknown instruction `redux.sync.add.u32"),
        ("activemask.b32 %a;", "unknown instruction `activemask.b32"),
        ("bar.red.popc.u32 %a, 0, %p;", "unknown instruction `bar.red.popc.u32"),
        ("mov.u32 %a, %smid;", "unknown register %smid"),
        ("mov.u64 %d, nowhere;", "unknown symbol nowhere"),
        ("ld.param.u64 %d, [given+4];", "8 bytes at [given+4] are outside of it"),
        ("call.uni vprintf, (%d);", "unknown function vprintf"),
        ("cvt.rz.f32.f64 %f, %g;", "unknown instruction `cvt.rz.f32.f64"),
        (".maxnreg 4;", "unknown directive `.maxnreg 4`"),
    ],
)
def test_what_is_unknown_is_named(text, named):
    registers = ".reg .b32 %a; .reg .f32 %f; .reg .f64 %g; .reg .b64 %d; .reg .pred %p;"
    ptx = f"{HEAD}.visible .entry k(.param .u64 given) {{\n{registers}\n{text}\n}}"
    with pytest.raises(Unknown) as error:
        Module(ptx).code()
    assert named in str(error.value)

"""The instructions of PTX as C: tables of expressions, and functions for all other instructions.

An instruction that is neither in the tables nor among the functions is `Unknown`, and so is each
modifier that no key names: nothing is skipped. The C functions are in runtime.h.
"""

import re

SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4}
SIZES |= {"s32": 4, "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8}

# {a} to {d}: operands of the instruction's type, or of the type after a colon. {T}: the type;
# {C}, {W}: C's type, and that of twice the width; {f}: "f" for float32; {bits}: the width.
# The second of a pair is the type of the result, where it is not the instruction's.
INTEGERS = {
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul.lo": "{a} * {b}",
    "mul.hi": "({C})(({W}){a} * {b} >> {bits})",
    "mul.wide": ("({W}){a} * {b}", "wide"),
    "mad.lo": "{a} * {b} + {c}",
    "mad.hi": "({C})(({W}){a} * {b} >> {bits}) + {c}",
    "mad.wide": ("({W}){a} * {b} + {c:wide}", "wide"),
    "div": "div_{T}({a}, {b})",
    "rem": "rem_{T}({a}, {b})",
    "min": "{a} < {b} ? {a} : {b}",
    "max": "{a} > {b} ? {a} : {b}",
    "neg": "-{a}",
    "abs": "{a} < 0 ? -{a} : {a}",
    "and": "{a} & {b}",
    "or": "{a} | {b}",
    "xor": "{a} ^ {b}",
    "not": "~{a}",
    "shl": "shl_{T}({a}, {b:u32})",
    "shr": "shr_{T}({a}, {b:u32})",
    "shf.l.wrap": "((u64){b} << 32 | {a}) << ({c:u32} & 31) >> 32",
    "shf.r.wrap": "((u64){b} << 32 | {a}) >> ({c:u32} & 31)",
    "shf.l.clamp": "((u64){b} << 32 | {a}) << at_most_32({c:u32}) >> 32",
    "shf.r.clamp": "((u64){b} << 32 | {a}) >> at_most_32({c:u32})",
    "popc": ("__builtin_popcountll({a})", "u32"),
    "clz": ("({a} ? __builtin_clzll((u64){a}) - (64 - {bits}) : {bits})", "u32"),
    "brev": "brev_{T}({a})",
    "bfe": "bfe_{T}({a}, {b:u32}, {c:u32})",
    "bfi": "bfi_{T}({a}, {b}, {c:u32}, {d:u32})",
    "prmt": "prmt_{T}({a}, {b}, {c})",
    "selp": "{c:pred} ? {a} : {b}",
}
PREDICATES = {"and": "{a} & {b}", "or": "{a} | {b}", "xor": "{a} ^ {b}", "not": "!{a}"}
REALS = {
    **{name: INTEGERS[name] for name in ("add", "sub")},
    "mul": "{a} * {b}",
    "fma": "fma{f}({a}, {b}, {c})",
    "div": "{a} / {b}",
    "rcp": "1 / {a}",
    "sqrt": "sqrt{f}({a})",
}
REALS |= {f"{name}.rn": expression for name, expression in REALS.items()}
REALS |= {
    **{name: INTEGERS[name] for name in ("neg", "selp")},
    "mad.rn": REALS["fma"],
    "abs": "fabs{f}({a})",
    "min": "min_{T}({a}, {b})",
    "max": "max_{T}({a}, {b})",
    "copysign": "copysign{f}({b}, {a})",
}
APPROXIMATIONS = {  # a card's bits are others: these are computed in float64 and rounded
    "rcp": "1 / (double){a}",
    "sqrt": "sqrt((double){a})",
    "rsqrt": "1 / sqrt((double){a})",
    "sin": "sin({a})",
    "cos": "cos({a})",
    "ex2": "exp2({a})",
    "lg2": "log2({a})",
    "tanh": "tanh({a})",
    "div": "(double){a} / {b}",
}
for _name, _expression in APPROXIMATIONS.items():
    REALS |= {f"{_name}.approx": _expression, f"{_name}.approx.ftz": _expression}
REALS["div.full"] = APPROXIMATIONS["div"]

STATEMENTS = dict.fromkeys(("ret", "ret.uni", "exit"), "return;")  # operands do not matter
STATEMENTS |= {"trap": "t->block->fail(t, 719, 0, 0, {line});", "nanosleep": ""}
for _fence in ("membar", "fence.acq_rel", "fence.sc"):
    for _scope in ("gl" if _fence == "membar" else "gpu", "sys", "cta"):
        STATEMENTS[f"{_fence}.{_scope}"] = "__sync_synchronize();"
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
COMPARISONS |= {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
COMPARISONS = {name: f"{{a}} {sign} {{b}}" for name, sign in COMPARISONS.items()}
_NAN = "(isnan({a}) || isnan({b}))"
REAL_COMPARISONS = {"num": f"!{_NAN}", "nan": _NAN}
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):  # with u: true where one is NaN
    REAL_COMPARISONS[_name] = f"!{_NAN} && {COMPARISONS[_name]}"
    REAL_COMPARISONS[f"{_name}u"] = f"{_NAN} || {COMPARISONS[_name]}"
LOGIC = {"and": "&", "or": "|", "xor": "^"}
SHAPES = ("ntid", "ctaid", "nctaid")
REGISTERS = {
    **{f"tid.{axis}": f"t->tid[{at}]" for at, axis in enumerate("xyz")},
    **{f"{of}.{axis}": f"t->block->{of}[{at}]" for of in SHAPES for at, axis in enumerate("xyz")},
    "laneid": "lane(t)",
    "warpid": "thread_number(t) / 32",
    **dict.fromkeys(("clock", "clock64", "globaltimer"), "nanoseconds()"),
    "dynamic_smem_size": "t->block->dynamic_size",
    "total_smem_size": "t->block->shared_size",
    "lanemask_eq": "1u << lane(t)",
    "lanemask_lt": "(1u << lane(t)) - 1",
    "lanemask_le": "(2u << lane(t)) - 1",
    "lanemask_gt": "~((2u << lane(t)) - 1)",
    "lanemask_ge": "~((1u << lane(t)) - 1)",
}
SPACES = ("global", "shared", "local", "const", "param")
ORDERED = ("volatile", "relaxed", "acquire", "release")
SCOPES = ("weak", "gpu", "sys", "cta")
CACHES = ("nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_last", "L2::128B")
SPECIAL = {}  # name -> the function that translates it, for those that are no expression


def translates(*names):
    """Return a decorator that enters a function in SPECIAL."""
    return lambda function: SPECIAL.update(dict.fromkeys(names, function)) or function


class Unknown(Exception):
    """PTX that the translator does not know."""


class Instruction:
    """An instruction in its function: `a.b.c.type d, a, b`."""

    def __init__(self, function, text, line):
        opcode, _, rest = text.partition(" ")
        self.function, self.line, self.text = function, line, text
        self.name, *parts = opcode.split(".")
        self.types = [part for part in parts if part in SIZES]
        self.type = self.types[-1] if self.types else "b32"
        self.modifiers = [part for part in parts if part not in SIZES]
        self.key = ".".join([self.name, *self.modifiers])
        self.operands = split(rest)

    def translate(self):
        """Append the instruction's C to its function."""
        if self.key in STATEMENTS and (self.name != "exit" or self.function.is_entry):
            return self.emit(STATEMENTS[self.key].format(line=self.line))
        found = SPECIAL.get(self.name)
        if found is None or (self.name in ("mad", "add", "sub") and "cc" not in self.modifiers):
            return self.expression()
        return found(self)

    def expression(self):
        table = {"f": REALS, "p": PREDICATES}.get(self.type[0], INTEGERS)
        found = table.get(self.key)
        if found is None or len(self.types) != 1:
            raise Unknown(f"unknown instruction `{self.text}`")
        template, result = found if isinstance(found, tuple) else (found, self.type)
        self.set(0, self.fill(template), self.wide() if result == "wide" else result)

    def fill(self, template):
        bits = 8 * SIZES[self.type]
        kind = f"u{bits}" if self.type[0] == "b" else self.type
        double = f"{'i' if kind[0] == 's' else 'u'}{2 * bits}"
        narrow = "f" if kind == "f32" else ""
        names = {"T": kind, "C": c_type(kind), "W": double, "f": narrow, "bits": str(bits)}

        def filled(found):
            name, of = found.groups()
            if name in names:
                return names[name]
            return self.value(1 + "abcd".index(name), self.wide() if of == "wide" else of)

        return re.sub(r"\{(\w+):?(\w*)\}", filled, template)

    def wide(self):
        return f"{self.type[0]}{16 * SIZES[self.type]}"

    def value(self, at, kind=None):
        return self.function.value(self.operands[at], kind or self.type)

    def set(self, at, expression, kind=None):
        self.function.set(self.operands[at], expression, kind or self.type)

    def emit(self, line):
        self.function.lines.append(f"  {line}")

    def allow(self, *known):
        for modifier in self.modifiers:
            if modifier not in known:
                raise Unknown(f"unknown modifier .{modifier} of `{self.text}`")


def c_type(kind):
    """Return C's type of a type of PTX."""
    if kind[0] == "f":
        return {"f32": "float", "f64": "double"}[kind]
    return "u8" if kind == "pred" else f"{'i' if kind[0] == 's' else 'u'}{kind[1:]}"


def split(text, brackets="[({"):
    """Split at the commas outside of brackets."""
    found, depth = [""], 0
    for character in text:
        depth += (character in brackets) - (character in "])}")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found if part.strip()]


def vector(text):
    """Return the registers of `{a, b}`, or the one that is given."""
    return split(text[1:-1]) if text.startswith("{") else [text]


# --- Data


@translates("mov")
def mov(i):
    i.allow()
    to, given = i.operands
    bits = 8 * SIZES[i.type]
    if to.startswith("{"):
        part = bits // len(vector(to))
        for at, register in enumerate(vector(to)):
            i.function.set(register, f"{i.value(1, f'b{bits}')} >> {part * at}", f"b{part}")
    elif given.startswith("{"):
        part = bits // len(vector(given))
        terms = (i.function.value(register, f"b{part}") for register in vector(given))
        shifted = (f"(u64){term} << {part * at}" for at, term in enumerate(terms))
        i.set(0, " | ".join(shifted), f"b{bits}")
    else:
        i.set(0, i.value(1))


@translates("cvta")
def cvta(i):
    """Addresses of shared memory count from its begin; all others are generic already."""
    i.allow("to", *SPACES)
    base = " + (u64)t->block->shared" if "shared" in i.modifiers else ""
    i.set(0, i.value(1) + (base.replace("+", "-") if "to" in i.modifiers else base))


@translates("ld", "ldu")
def load(i):
    _access(i, i.operands[1], vector(i.operands[0]), loads=True)


@translates("st")
def store(i):
    _access(i, i.operands[0], vector(i.operands[1]), loads=False)


def _access(i, place, registers, loads):
    i.allow(*SPACES, "v2", "v4", *CACHES, *ORDERED, *SCOPES)
    size = SIZES[i.type]
    volatile = "volatile " if set(ORDERED) & set(i.modifiers) else ""
    pointer = i.function.pointer(place, i.modifiers, size * len(registers), i.line)
    i.emit(f"{{ {volatile}u{8 * size} *at = (void *){pointer};")
    for at, register in enumerate(registers):
        if loads:
            i.function.set(register, f"at[{at}]", f"{'s' if i.type[0] == 's' else 'b'}{8 * size}")
        else:
            i.emit(f"at[{at}] = {i.function.value(register, f'b{8 * size}')};")
    i.emit("}")


@translates("atom", "red")
def atom(i):
    """Atomics: `red` is `atom` without its result."""
    operation = i.modifiers[-1]
    i.allow(*SPACES, *ORDERED, "acq_rel", *SCOPES, operation)
    own = {"s": ("min", "max"), "f": ("add", "min", "max")}.get(i.type[0], ())
    kind = i.type if operation in own else f"u{8 * SIZES[i.type]}"
    if (operation, kind) not in ATOMS:
        raise Unknown(f"unknown instruction `{i.text}`")
    first = 1 if i.name == "atom" else 0
    pointer = i.function.pointer(i.operands[first], i.modifiers, SIZES[i.type], i.line)
    values = [i.value(at, kind) for at in range(first + 1, len(i.operands))]
    call = f"atom_{operation}_{kind}({', '.join([pointer, *values])})"
    if first and i.operands[0] != "_":
        i.set(0, call, kind)
    else:
        i.emit(f"{call};")


_EVERY = ("add", "and", "or", "xor", "exch", "cas", "min", "max")
ATOMS = {(name, f"u{bits}") for bits in (32, 64) for name in _EVERY}
ATOMS |= {(name, kind) for name in ("min", "max") for kind in ("s32", "s64")}
ATOMS |= {("inc", "u32"), ("dec", "u32"), ("add", "f32"), ("add", "f64")}


# --- Arithmetic with a carry, comparisons, conversions


@translates("add", "addc", "sub", "subc", "mad", "madc")
def with_carry(i):
    """Compute add, sub and mad with a carry, which goes in where the name ends with c."""
    i.allow("cc", "lo", "hi")
    bits = 8 * SIZES[i.type]
    values = [f"(u{2 * bits}){i.value(at, f'u{bits}')}" for at in range(1, len(i.operands))]
    if i.name in ("mad", "madc"):
        product = f"{values[0]} * {values[1]}"
        part = f"(u{bits})({product})" if "lo" in i.modifiers else f"(({product}) >> {bits})"
        values = [f"(u{2 * bits}){part}", values[2]]
    sign = "-" if i.name in ("sub", "subc") else "+"
    carried = f" {sign} carry" if i.name in ("addc", "subc", "madc") else ""
    i.emit(f"{{ u{2 * bits} wide = {f' {sign} '.join(values)}{carried};")
    i.set(0, "wide", f"u{bits}")
    i.emit(f"{f'carry = wide >> {bits} & 1; ' if 'cc' in i.modifiers else ''}}}")


@translates("setp")
def setp(i):
    comparison, *combined = i.modifiers
    table = REAL_COMPARISONS if i.type[0] == "f" else COMPARISONS
    result = f"({i.fill(table[comparison])})"
    first, _, second = i.operands[0].partition("|")
    other = f"!{result}"
    if combined:
        with_ = f"{LOGIC[combined[0]]} {i.value(3, 'pred')}"
        result, other = f"({result} {with_})", f"({other} {with_})"
    i.emit(f"{{ u8 is = {result}, is_not = {other}; (void)is_not;")
    i.function.set(first, "is", "pred")
    if second:
        i.function.set(second, "is_not", "pred")
    i.emit("}")


@translates("lop3")
def lop3(i):
    i.allow()
    a, b, c = (i.value(at, "b32") for at in (1, 2, 3))
    table = int(i.operands[4], 0)
    ways = [k for k in range(8) if table >> k & 1]
    signs = ("~", "")
    terms = [f"({signs[k >> 2]}{a} & {signs[k >> 1 & 1]}{b} & {signs[k & 1]}{c})" for k in ways]
    i.set(0, " | ".join(terms) or "0", "b32")


@translates("cvt")
def cvt(i):
    to, kind = i.types
    value, way = i.value(1, kind), ".".join(i.modifiers)
    rounds = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
    narrow = "f" if kind == "f32" else ""
    if to[0] == kind[0] == "f" and to == kind and way in rounds:
        value = f"{rounds[way]}{narrow}({value})"
    elif to[0] == "f" and way == ("" if (to, kind) == ("f64", "f32") or to == kind else "rn"):
        value = f"({c_type(to)}){value}"
    elif to[0] != "f" and kind[0] == "f" and way in rounds and SIZES[to] > 1:
        value = f"{way}_{to}_{kind}({value})"
    elif to[0] != "f" and kind[0] != "f" and not way:
        value = f"({c_type(to)}){value}"
    else:
        raise Unknown(f"unknown instruction `{i.text}`")
    i.set(0, value, to)


# --- Control, barriers, warps


@translates("bra")
def bra(i):
    i.allow("uni")
    i.emit(f"goto {i.function.label(i.operands[0])};")


@translates("brx")
def brx(i):
    i.allow("idx", "uni")
    i.emit(f"switch ({i.value(0, 'u32')}) {{")
    for at, label in enumerate(i.function.tables[i.operands[1]]):
        i.emit(f"case {at}: goto {i.function.label(label)};")
    i.emit("}")


@translates("call")
def call(i):
    i.allow("uni")
    results = split(i.operands.pop(0)[1:-1]) if i.operands[0].startswith("(") else []
    name, *arguments = i.operands
    function = i.function.module.called(name)
    i.emit(f"{{ _Alignas(16) u8 given[{function.size or 1}], made[{function.result_size or 1}];")
    given = split(arguments[0][1:-1]) if arguments else []
    for argument, (_, at, size) in zip(given, function.parameters, strict=True):
        i.emit(f"memcpy(given + {at}, {i.function.locals[argument][0]}, {size});")
    i.emit(f"{function.c_name}(t, given, made);")
    for result, (_, at, size) in zip(results, function.results, strict=True):
        i.emit(f"memcpy({i.function.locals[result][0]}, made + {at}, {size});")
    i.emit("}")


@translates("bar", "barrier")
def bar(i):
    i.function.module.together = True
    if i.key == "bar.warp.sync":
        i.emit(f"t->block->exchange(t, {i.value(0, 'u32')}, 0, {i.line});")
    elif i.key in ("bar.sync", "barrier.sync", "barrier.sync.aligned") and i.operands == ["0"]:
        i.emit(f"t->block->barrier(t, {i.line});")
    else:
        raise Unknown(f"unknown instruction `{i.text}`")


def _exchange(i, members, value):
    """Begin a scope in which `all` has the values of the lanes."""
    i.function.module.together = True
    i.emit(f"{{ u32 members = {members};")
    i.emit(f"const u64 *all = t->block->exchange(t, members, {value}, {i.line});")


@translates("shfl")
def shfl(i):
    i.allow("sync", "up", "down", "bfly", "idx")
    way = i.modifiers[1][0]
    first, _, exists = i.operands[0].partition("|")
    b, c = i.value(2, "u32"), i.value(3, "u32")
    _exchange(i, i.value(4, "u32"), i.value(1, "b32"))
    i.emit(f"u8 ok; u32 from = shuffled(t, '{way}', {b}, {c}, &ok);")
    i.function.set(first, "(u32)all[from]", "b32")
    if exists:
        i.function.set(exists, "ok", "pred")
    i.emit("}")


@translates("vote")
def vote(i):
    results = {
        "vote.sync.ballot": "all_true",
        "vote.sync.any": "all_true != 0",
        "vote.sync.all": "all_true == members",
        "vote.sync.uni": "all_true == members || all_true == 0",
    }
    if i.key not in results:
        raise Unknown(f"unknown instruction `{i.text}`")
    _exchange(i, i.value(2, "u32"), i.value(1, "pred"))
    i.emit("u32 all_true = 0;")
    i.emit("for (u32 k = 0; k < 32; k++) all_true |= (u32)(members >> k & 1 && all[k]) << k;")
    i.set(0, results[i.key])
    i.emit("}")

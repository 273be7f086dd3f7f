"""Texts of programs for browsers: loops become vectors, and operations become those of browsers.

A browser's vectors have 16 bytes. They have no conversions from and to int64, and what LLVM makes
of conversions, choices and multiply-adds takes some instructions each. The texts that are made
here have the same bits.
"""

import functools
import re
from collections.abc import Callable, Iterator

import llvmlite.binding as llvm

# Of the machine for which LLVM decides what becomes vectors. With WebAssembly's it would take a
# fused multiply-add for a call, and make none.
FEATURES = "+fma,+sse4.2"
WIDTH = '"prefer-vector-width"="128"'
SMALL = 2**31
# Vectors that a round of a loop computes side by side where programs keep the order of their text.
# A logarithm is one chain of some 30 operations. Two of them, one after the other, fill the room
# that a CPU has for operations that wait, so only operations that lie near run at once.
ABREAST = 4
MOST_ABREAST = 8  # of programs that most views need: faster, and twice as long

_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_ATTRIBUTES = re.compile(r"^attributes #\d+ = \{(?=.*\bnounwind\b)", re.MULTILINE)
# A number without its fraction, by way of an int64
_WHOLE = re.compile(
    r"(%\S+) = fptosi double (\S+) to i64\n((?:  .*\n){0,3}?)  (%\S+) = sitofp i64 \1 to double"
)
_REAL = re.compile(r"^  (%\S+) = sitofp i64 (%\S+) to double", re.MULTILINE)
_DEFINED = re.compile(r"^  (%\S+) = (.*)$", re.MULTILINE)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)  # of metadata
_TO = re.compile(r'label %("[^"]+"|[^\s,]+)')
# What tells which branches lead back, so end a round of a loop
_LINE = re.compile(
    r'^(?:(?P<head>define ).*|(?P<label>"[^"]+"|[\w.$-]+):.*|  br .*label [^!\n]*)$', re.MULTILINE
)
# What a whole number is made of whose size is known
_SIZED = {
    "and": re.compile(r"and i64 %\S+, (\d+)$"),
    "add": re.compile(r"add (?:nsw |nuw )*i64 (\S+), (\S+)$"),
    "select": re.compile(r"select i1 %\S+, i64 (\S+), i64 (\S+)$"),
}


def in_vectors(text: str, abreast: int = 0) -> str:
    """Return the text of a program whose loops over elements are vectors of 16 bytes.

    `abreast`: vectors that a round of a loop computes side by side; by default LLVM decides.
    """
    text = _FUNCTION.sub(_with_small, text)
    text, found = _WHOLE.subn(_without_fraction, text)
    text += "\ndeclare double @llvm.trunc.f64(double)\n" * bool(found)
    text = _abreast(text, abreast) if abreast else text
    part = llvm.parse_assembly(_ATTRIBUTES.sub(rf"\g<0> {WIDTH}", text))
    builder = llvm.create_pass_builder(
        _machine(), llvm.create_pipeline_tuning_options(speed_level=2)
    )
    builder.getModulePassManager().run(part, builder)
    return str(part)


def _abreast(text: str, vectors: int) -> str:
    """Return a text whose loops ask LLVM to compute some vectors side by side."""
    loops, above = list[str](), set[str]()
    last = max((int(number) for number in _NODE.findall(text)), default=-1)

    def noted(line: re.Match[str]) -> str:
        if line["label"] or line["head"]:
            above.clear() if line["head"] else above.add(line["label"].strip('"'))
        elif above.intersection(label.strip('"') for label in _TO.findall(line[0])):
            loops.append(f"!{last + 2 + len(loops)}")
            return f"{line[0]}, !llvm.loop {loops[-1]}"
        return line[0]

    text = _LINE.sub(noted, text)
    count = f"!{last + 1}"
    nodes = [f"{loop} = distinct !{{{loop}, {count}}}" for loop in loops]
    asked = f'{count} = !{{!"llvm.loop.interleave.count", i32 {vectors}}}'
    return "\n".join([text, asked, *nodes, ""])


def _without_fraction(match: re.Match[str]) -> str:
    """Return lines that take a number's fraction off without an int64."""
    integer, number, between, result = match.groups()
    (whole,) = _names(integer, "whole")
    return (
        f"{integer} = fptosi double {number} to i64\n"
        f"  {whole} = call double @llvm.trunc.f64(double {number})\n{between}"
        f"  {result} = fadd double {whole}, 0.0"  # the sign of a 0 is that of an int64
    )


@functools.cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    return target.create_target_machine("generic", FEATURES, 2, "static", "default")


def _with_small(function: re.Match[str]) -> str:
    """Return a function that converts small int64 to float64 by way of an int32."""
    defined = dict(_DEFINED.findall(function[0]))

    def most(value: str) -> float:
        """Return what a whole number is at most, without its sign."""
        if not value.startswith("%"):
            return abs(int(value))
        for kind, pattern in _SIZED.items():
            if match := pattern.match(defined.get(value, "")):
                sizes = [most(each) for each in match.groups()]
                return sum(sizes) if kind == "add" else max(sizes)
        return float("inf")

    def converted(match: re.Match[str]) -> str:
        result, value = match.groups()
        if most(value) >= SMALL:
            return match[0]
        (small,) = _names(result, "small")
        return f"  {small} = trunc i64 {value} to i32\n  {result} = sitofp i32 {small} to double"

    return _REAL.sub(converted, function[0])


def _names(result: str, *ends: str) -> Iterator[str]:
    """Yield names that are made of that of a result."""
    bare = result.strip('%"')
    return (f'%"{bare}..{end}"' for end in ends)


# --- Constants: browsers make each one anew where it is used, by three instructions

# A vector of equal numbers behind its type, or behind that of the operand before it
_EQUAL = re.compile(
    r"(<\d+ x \w+>)((?:(?!<\d+ x ).)*?)(splat \((?:double|float|i64|i32) [^()\s]+\))"
)
# What is done by other instructions where an operand is constant
_BY_CONSTANTS = re.compile(r"  %\S+ = (?:shl|lshr|ashr|shufflevector|phi) ")


def with_held(text: str) -> str:
    """Return the text of programs whose vectors of equal numbers are made once a call."""
    return _FUNCTION.sub(_with_held, text)


def _with_held(function: re.Match[str]) -> str:
    names: dict[str, str] = {}

    def held(match: re.Match[str]) -> str:
        kind, between, constant = match.groups()
        name = names.setdefault(f"{kind} {constant}", f"%held.{len(names)}")
        return f"{kind}{between}{name}"

    lines = [
        line if _BY_CONSTANTS.match(line) else _EQUAL.sub(held, line)
        for line in function[0].split("\n")
    ]
    first = next(k for k, line in enumerate(lines) if line.startswith("  "))  # behind its label
    lines[first:first] = [f"  {name} = freeze {value}" for value, name in names.items()]
    return "\n".join(lines)


# --- Relaxed SIMD: operations of a browser that differ between processors only for numbers that
# occur in no program, but for the multiply-add, which is fused where the processor has it

_NUMBERS = {"double": (2, "v2f64"), "float": (4, "v4f32"), "i64": (2, "v2i64"), "i32": (4, "v4i32")}
_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_FUSED = re.compile(
    r"^(  %\S+ = (?:tail )?call )(\S+|<\d+ x \w+>) @llvm\.fma\.(\w+)\(\2 (.+), \2 (.+), \2 (.+)\)",
    re.MULTILINE,
)
_DECLARED = re.compile(r"^declare \S.* @llvm\.fma\..*$", re.MULTILINE)
_CHOICE = re.compile(
    r"^  (%\S+) = select (<(\d+) x i1>) (%\S+), (<\3 x (\w+)>) (.+), \5 (.+)$", re.MULTILINE
)
_CUT = re.compile(r"fptosi (<4 x float>) (\S+) to <4 x i32>")
_NEGATIVE = re.compile(r"fneg .*(%\S+)$")
_UNDER = re.compile(r"icmp slt <\d+ x \w+> (%\S+), zeroinitializer$")
# What masks are made of
_OF_FLAGS = re.compile(r"sext <\d+ x i1> %\S+ to (<\d+ x \w+>)$")
_OF_MASKS = re.compile(r"(?:and|or|xor|select <\d+ x i1> %\S+,) (<\d+ x i\d+>) (.+), (?:\1 )?(.+)$")
_ONE_OF = re.compile(r"phi (<\d+ x i\d+>) (.*)$")
_EVERY = re.compile(r"zeroinitializer|splat \(i\d+ -1\)|<i\d+ -1(?:, i\d+ -1)*>")


def with_relaxed(text: str) -> str:
    """Return the text of a program by operations of relaxed SIMD."""
    made: dict[str, str] = {}

    def call(operation: str, kind: str, *values: str) -> str:
        """Return a call of an operation of three numbers."""
        name = f"@own.{operation}.{kind.strip('<>').replace(' ', '')}"
        made[name] = _by_registers(name, operation, kind)
        return f"{kind} {name}({', '.join(f'{kind} {value}' for value in values)})"

    text = _FUNCTION.sub(lambda function: _with_operations(function[0], call), text)
    text = _CUT.sub(r"call <4 x i32> @llvm.wasm.relaxed.trunc.signed(\1 \2)", text)
    return "\n".join([_DECLARED.sub("", text), *_INTRINSICS, *made.values()])


def _with_operations(text: str, call: Callable[..., str]) -> str:
    """Return a function by operations of relaxed SIMD, for which ``call(...)`` returns calls."""
    defined = dict(_DEFINED.findall(text))
    masks = _masks(defined)

    def fused(match: re.Match[str]) -> str:
        head, kind, _, a, b, c = match.groups()
        for one, other in ((a, b), (b, a)):
            if negative := _NEGATIVE.match(defined.get(one, "")):
                return head + call("nmadd", kind, negative[1], other, c)
        return head + call("madd", kind, a, b, c)

    def choice(match: re.Match[str]) -> str:
        result, flags, count, flag, kind, number, a, b = match.groups()
        if number not in _NUMBERS or "zeroinitializer" in (a, b):  # LLVM takes `and`
            return match[0]
        whole = f"<{count} x i{128 // _NUMBERS[number][0]}>"
        under = _UNDER.match(defined.get(flag, ""))
        one, other, mask, chosen = _names(result, "a", "b", "m", "v")
        lines = [
            f"  {name} = bitcast {kind} {value} to {whole}"
            for name, value in ((one, a), (other, b))
        ]
        if under and masks.get(under[1]) == whole:
            mask = under[1]
        else:
            lines.append(f"  {mask} = sext {flags} {flag} to {whole}")
        lines.append(f"  {chosen} = call {call('laneselect', whole, one, other, mask)}")
        return "\n".join([*lines, f"  {result} = bitcast {whole} {chosen} to {kind}"])

    return _CHOICE.sub(choice, _FUSED.sub(fused, text))


def _masks(defined: dict[str, str]) -> dict[str, str]:
    """Return the types of vectors, by name, in whose lanes all bits are equal."""
    found, made = dict[str, str](), dict[str, list[str]]()
    for name, line in defined.items():
        if match := _OF_FLAGS.match(line):
            found[name] = match[1]
        elif match := _OF_MASKS.match(line):
            found[name], made[name] = match[1], [match[2], match[3]]
        elif match := _ONE_OF.match(line):
            found[name] = match[1]
            made[name] = re.findall(r"\[ (.+?), %[^,\]]+ \]", match[2])
    while lost := [
        name
        for name, parts in made.items()
        if name in found and any(part not in found and not _EVERY.fullmatch(part) for part in parts)
    ]:
        for name in lost:
            del found[name]
    return found


_INTRINSICS = [
    "declare <4 x i32> @llvm.wasm.relaxed.trunc.signed(<4 x float>)",
    *(
        f"declare <{lanes} x {number}> @llvm.wasm.relaxed.{operation}.{short}"
        f"({', '.join([f'<{lanes} x {number}>'] * 3)})"
        for number, (lanes, short) in _NUMBERS.items()
        for operation in (("laneselect",) if number[0] == "i" else ("madd", "nmadd"))
    ),
]


def _by_registers(name: str, operation: str, kind: str) -> str:
    """Return a function of three numbers of a kind: by vectors of 16 bytes."""
    vector = _VECTOR.fullmatch(kind)
    count, number = (int(vector[1]), vector[2]) if vector else (1, kind)
    lanes, short = _NUMBERS[number]
    whole = f"<{lanes} x {number}>"
    lines = []
    for first in range(0, count, lanes):
        filled = []
        for argument in "abc":
            at = f"%{argument}{first}"
            if vector:
                chosen = ", ".join(f"i32 {min(first + k, count - 1)}" for k in range(lanes))
                lines.append(
                    f"{at} = shufflevector {kind} %{argument}, {kind} poison, "
                    f"<{lanes} x i32> <{chosen}>"
                )
            else:
                lines.append(f"{at} = insertelement {whole} poison, {kind} %{argument}, i32 0")
            filled.append(f"{whole} {at}")
        lines.append(
            f"%r{first} = call {whole} @llvm.wasm.relaxed.{operation}.{short}({', '.join(filled)})"
        )
    if not vector:
        lines += [f"%s = extractelement {whole} %r0, i32 0", f"ret {kind} %s"]
    else:
        made = "poison"
        for k in range(count):
            first, lane = k // lanes * lanes, k % lanes
            lines.append(f"%e{k} = extractelement {whole} %r{first}, i32 {lane}")
            lines.append(f"%i{k} = insertelement {kind} {made}, {number} %e{k}, i32 {k}")
            made = f"%i{k}"
        lines.append(f"ret {kind} {made}")
    head = f"define internal {kind} {name}({kind} %a, {kind} %b, {kind} %c) alwaysinline {{"
    return "\n".join([head, *lines, "}"])

"""Translates a module of PTX into C and compiles it: `python translate.py MODULE.ptx MODULE.so`.

Each register becomes a variable that holds its bits, each instruction C (instructions.py). Rounding
is a card's: IEEE, nothing contracted. The library exports the tables of runtime.h.
"""

import bisect
import math
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# The driver runs this file alone.
from instructions import REGISTERS, SIZES, SPACES, Instruction, Unknown, c_type, split  # noqa: E402

COMPILER = ["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-w", "-mfma", "-Wl,-z,defs"]
COMPILER += ["-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv"]
LINKAGE = r"((?:\.(?:visible|weak|extern|common)\s+)*)"
STATEMENT = re.compile(
    r"""\s*(?: ([{}])                                       # a scope
             | ([\w$%]+):(?!:)                              # a label
             | ( (?: [^;{}"] | \{[^{}]*\} | "[^"]*" )+ ) ;  # an instruction or directive
           )""",
    re.VERBOSE,
)
DECLARATION = re.compile(
    rf"""\s*(?: \.(?:version|target|address_size)\b[^\n]*
              | {LINKAGE} \.(entry|func)\b
              | {LINKAGE} \.(global|const|shared)\b ([^;]*);
              | \.section[^{{]*\{{[^}}]*\}}
              | \.(?:pragma)\b[^;]*;
           )""",
    re.VERBOSE,
)
SIGNATURE = re.compile(r"\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?[^{;]*(;?)")
VARIABLE = re.compile(r"\s*(?:\.align\s+(\d+)\s*)?\.(\w+)\s+([\w$%]+)\s*((?:\[\d*\])*)\s*$")
PARAMETER = re.compile(
    r"""\s* \.(?:param|reg) \s+ (?:\.align\s+(\d+)\s*)? \.(\w+) \s+
        (?: \.ptr (?:\s*\.\w+)* \s+ (?:\.align\s+\d+\s+)? | \.align\s+\d+\s+ )*
        ([\w$%]+) (?:\[(\d+)\])?""",
    re.VERBOSE,
)
NUMBER = re.compile(r"-?\d")
ENDS = ("bra", "brx", "ret", "exit", "trap")  # of basic blocks


class Module:
    """A module of PTX: its variables and functions."""

    def __init__(self, text):
        spaces = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731 (lines keep their numbers)
        # .loc and .file, which alone have no semicolon, are for messages (kernels.h).
        ignored = r"/\*.*?\*/|//[^\n]*|^\s*\.(?:loc|file)\b[^\n]*"
        self.text = re.sub(ignored, spaces, text, flags=re.DOTALL | re.MULTILINE)
        self.ends = [found.start() for found in re.finditer("\n", self.text)]
        self.symbols = {}  # name of a variable -> the C of its address
        self.variables = []  # (name, offset, size)
        self.data, self.shared_size = bytearray(), 0
        self.functions = {}  # by name
        self.at = 0  # where reading is in the text
        self.together = False  # threads wait for each other: they run side by side
        self.counted = os.environ.get("STANDIN_COUNT", "")
        self.blocks = []  # instructions of each basic block, where they are counted
        self.edges = []  # from which of them to which one a thread may go, for `lockstep`
        self._read()

    def _next(self, pattern):
        """Return the match of a pattern where reading is now, and go on behind it."""
        found = pattern.match(self.text, self.at)
        if not found:
            raise Unknown(f"unknown: `{self.text[self.at : self.at + 80].strip()}`")
        self.at = found.end()
        return found

    def _read(self):
        while self.text[self.at :].strip():
            found = self._next(DECLARATION)
            if found[2]:
                self._function(found[2] == "entry")
            elif found[4]:
                self.variable(found[4], found[5], "extern" in found[3])

    def _function(self, is_entry):
        result, name, parameters, end = self._next(SIGNATURE).groups()
        if end == ";":  # a declaration
            return
        body, depth = [], 0
        while depth or not body:
            found = self._next(STATEMENT)
            line = bisect.bisect_left(self.ends, found.start(3)) + 1
            body.append((*found.groups(), line))
            depth += {"{": 1, "}": -1}.get(found[1], 0)
        c_name = f"f{len(self.functions)}"
        self.functions[name] = Function(self, name, c_name, is_entry, result, parameters, body)

    def variable(self, space, declaration, external=False):
        head, _, values = declaration.partition("=")
        found = VARIABLE.match(head)
        if not found or found[2] not in SIZES:
            raise Unknown(f"unknown variable `{declaration.strip()[:80]}`")
        size = SIZES[found[2]]
        align, name = int(found[1] or size), found[3]
        count = math.prod(int(part or 0) for part in re.findall(r"\[(\d*)\]", found[4]))
        if space == "shared":
            if external or not count:  # a launch gives the size
                self.symbols[name] = "(t->block->shared_size - t->block->dynamic_size)"
                return
            at = -(-self.shared_size // align) * align
            self.symbols[name] = str(at)
            self.shared_size = at + size * count
            return
        at = -(-len(self.data) // align) * align
        initial = [bits(value, found[2]) for value in re.findall(r"[\w$.+-]+", values)]
        written = b"".join(value.to_bytes(size, "little") for value in initial)
        self.data += bytes(at - len(self.data)) + written.ljust(size * count, b"\0")
        self.symbols[name] = f"(u64)t->block->data + {at}"
        self.variables.append((name, at, size * count))

    def called(self, name):
        if name not in self.functions:
            raise Unknown(f"unknown function {name}")
        return self.functions[name]

    def code(self):
        """Return the module in C."""
        functions = self.functions.values()
        bodies = [function.code() for function in functions]
        prototypes = [f"{function.prototype()};" for function in functions]
        lines, rows = ['#include "runtime.h"', *prototypes, *bodies], []
        for f in (function for function in functions if function.is_entry):
            offsets = ", ".join(f"{{{at}, {size}}}" for _, at, size in f.parameters)
            lines.append(f"static const Parameter {f.c_name}_p[] = {{{offsets or '{0}'}}};")
            shape = f"{len(f.parameters)}, {f.size}, {self.shared_size}, {f.local_size}"
            rows.append(f'{{"{f.name}", {f.c_name}, {f.c_name}_p, {shape}, {int(self.together)}}}')
        variables = [f'{{"{name}", {at}, {size}}}' for name, at, size in self.variables]
        tables = (("Entry", rows), ("Variable", variables), ("u32", self.blocks), ("u8", self.data))
        tables += (("Edge", [f"{{{a}, {b}}}" for a, b in self.edges]),)
        facts = [f"(const {kind}[]){{{', '.join(map(str, t)) or '{0}'}}}" for kind, t in tables]
        facts += [str(len(table)) for _, table in tables]
        lines.append(f"const Tables tables = {{{', '.join(facts)}}};")
        return "\n".join(lines) + "\n"


class Function:
    """A kernel, or a function that kernels call."""

    def __init__(self, module, name, c_name, is_entry, result, parameters, body):
        self.module, self.name, self.c_name, self.is_entry = module, name, c_name, is_entry
        self.body = body  # a scope's bracket, a label or an instruction each, and the line
        self.parameters, self.size = layout(parameters)
        self.results, self.result_size = layout(result)
        self.places = {name: (f"params + {at}", size) for name, at, size in self.parameters}
        self.places |= {name: (f"result + {at}", size) for name, at, size in self.results}
        self.registers = {}  # C's name -> type
        self.locals = {}  # PTX's name -> (C's name, bytes)
        self.local_size = 0
        self.tables = {}  # of branches
        self.firsts, self.jumps = {}, []  # label -> its basic block; basic block, label
        self.lines, self.declared = [], []

    def prototype(self):
        return f"static void {self.c_name}(Thread *t, const u8 *params, u8 *result)"

    def code(self):
        label, self.begins, self.goes_on, self.labels = "", True, False, []
        for bracket, name, statement, line in self.body:
            text = re.sub(r"\s+", " ", statement or "").strip()
            if bracket:
                self.lines.append(f"  {bracket}")
            elif name:
                label, self.begins = name, True
                self.labels.append(name)
                self.lines.append(f"{self.label(label)}:;")
            elif text.startswith(".branchtargets"):
                self.tables[label] = split(text.partition(" ")[2])
            elif text.startswith("."):
                self._directive(text)
            else:
                self._instruction(text, line)
        self.module.edges += [(block, self.firsts[name]) for block, name in self._jumps()]
        registers = [f"  u{8 * SIZES[kind]} {name} = 0;" for name, kind in self.registers.items()]
        head = [self.prototype() + " {", *registers, *self.declared, "  u32 carry = 0;"]
        return "\n".join([*head, *self.lines, "}"])

    def _directive(self, text):
        found = re.match(r"\.(reg|local|param|shared|pragma)\b\s*(.*)", text)
        if not found:
            raise Unknown(f"unknown directive `{text}`")
        kind, rest = found.groups()
        if kind == "reg":
            type_, names = re.match(r"\.(\w+)\s+(.*)", rest).groups()
            if type_ not in SIZES:
                raise Unknown(f"unknown type of registers `{text}`")
            for name in split(names):
                many = re.match(r"([\w$%]+)<(\d+)>", name)
                each = [f"{many[1]}{k}" for k in range(int(many[2]))] if many else [name]
                self.registers |= {self.register(one): type_ for one in each}
        elif kind in ("local", "param"):
            _, type_, name, counts = VARIABLE.match(rest).groups()
            size = SIZES[type_] * int(counts[1:-1] if counts else 1)
            c_name = f"m{len(self.declared)}"
            self.locals[name] = (c_name, size)
            self.declared.append(f"  _Alignas(16) u8 {c_name}[{size}];")
            self.local_size += size
        elif kind == "shared":
            self.module.variable("shared", rest)

    def _instruction(self, text, line):
        negated, guard, text = re.match(r"(?:@(!?)(%[\w$]+)\s+)?(.*)", text).groups()
        made = Instruction(self, text, line)
        if self.module.counted:
            self._count(made)
            self.goes_on = bool(guard) or made.name not in ENDS
        if guard:
            self.lines.append(f"  if ({negated}{self.register(guard)}) {{")
        try:
            made.translate()
        except Unknown as error:
            raise Unknown(f"line {line}: {error}") from None
        except (LookupError, ValueError, TypeError) as error:
            raise Unknown(f"line {line}: unknown form of `{text}` ({error!r})") from None
        if guard:
            self.lines.append("  }")

    def _count(self, instruction):
        blocks = self.module.blocks
        if self.begins:
            block = len(blocks)
            self.lines.append(f"  t->visits[{block}]++;")
            if self.module.counted == "lockstep":
                self.lines.append(f"  if (t->passed < WAY) t->way[t->passed++] = {block};")
            if self.goes_on:
                self.module.edges.append((block - 1, block))
            self.firsts |= dict.fromkeys(self.labels, block)
            self.labels = []
            blocks.append(0)  # instructions
        # Machine code takes -x or |x| of an operand where it is used.
        blocks[-1] += instruction.name not in ("neg", "abs") or instruction.type[0] != "f"
        self.begins = instruction.name in ENDS
        if instruction.name in ("bra", "brx"):
            self.jumps.append((len(blocks) - 1, instruction.operands[-1]))

    def _jumps(self):
        """Yield basic blocks whose ends are branches, with the labels that these may go to."""
        for block, name in self.jumps:
            yield from ((block, each) for each in self.tables.get(name, [name]))

    # --- what instructions are made of

    def register(self, text):
        return "r_" + re.sub(r"\W", "_", text.strip().lstrip("%"))

    def label(self, text):
        return "L_" + re.sub(r"\W", "_", text)

    def value(self, text, kind):
        """Return an operand as an expression of the type of C."""
        c = c_type(kind)
        if kind == "pred":
            text, sign = text.lstrip("!"), "!" * text.startswith("!")
            name = self.register(text)
            return f"({sign}{name if name in self.registers else int(int(text, 0) != 0)})"
        if NUMBER.match(text):
            number = f"0x{bits(text, kind):x}{'ull' if SIZES[kind] == 8 else 'u'}"
        elif self.register(text) in self.registers:
            number = self.register(text)
        elif text.startswith("%"):
            if text[1:] not in REGISTERS:
                raise Unknown(f"unknown register {text}")
            return f"(({c})({REGISTERS[text[1:]]}))"
        else:
            number = self.symbol(text)
        return f"as_{kind}({number})" if kind[0] == "f" else f"(({c}){number})"

    def set(self, register, expression, kind):
        """Append the assignment of an expression of a type to a register, which may be wider."""
        if register == "_":
            return
        name = self.register(register)
        width = 8 * SIZES[self.registers[name]]
        if kind == "pred":
            made = f"({expression}) != 0"
        elif kind[0] == "f":
            made = f"bits_{kind}({expression})"
        else:
            signed = f"(i{width})(i{8 * SIZES[kind]})"
            made = (signed if kind[0] == "s" else f"(u{8 * SIZES[kind]})") + f"({expression})"
        self.lines.append(f"  {name} = {made};")

    def symbol(self, text):
        """Return the address of a variable, with `+offset`, as an integer."""
        name, _, offset = text.partition("+")
        local = {key: f"(u64){place}" for key, (place, _) in self.locals.items()}
        base = (self.module.symbols | local).get(name.strip())
        if base is None:
            raise Unknown(f"unknown symbol {name}")
        return f"({base} + {int(offset or '0', 0)})"

    def pointer(self, place, modifiers, size, line):
        """Return the C of an address that is checked: of a parameter here, else as it runs."""
        space = next((part for part in SPACES if part in modifiers), "generic")
        name, _, offset = place[1:-1].partition("+")
        name, offset = name.strip(), int(offset or "0", 0)
        places = self.places | self.locals
        if space == "param" or (space == "local" and name in places):
            base, whole = places[name]
            if not 0 <= offset <= whole - size:
                raise Unknown(f"{size} bytes at {place} are outside of it")
            return f"({base} + {offset})"
        address = self.value(name, "u64")
        function = {"const": "global"}.get(space, space) + "_at"
        return f"{function}(t, {address} + {offset}, {size}, {line})"


def layout(text):
    """Return the parameters of a list, (name, offset, size) each, and the size of all."""
    found, at = [], 0
    for part in split(text or ""):
        made = PARAMETER.match(part)
        if not made or made[2] not in SIZES:
            raise Unknown(f"unknown parameter `{part}`")
        size = SIZES[made[2]]
        at = -(-at // int(made[1] or size)) * int(made[1] or size)
        size *= int(made[4] or 1)
        found.append((made[3], at, size))
        at += size
    return found, at


def bits(text, kind):
    """Return the bits of a constant of a type."""
    low = text.strip().lower()
    if low[:2] in ("0f", "0d"):
        if kind[0] == "f" and kind != {"0f": "f32", "0d": "f64"}[low[:2]]:
            raise Unknown(f"unknown constant {text} of type {kind}")
        return int(low[2:], 16)
    if not NUMBER.match(low):
        raise Unknown(f"unknown initial value {text}")
    octal = re.fullmatch(r"(-?)0([0-7]+)u?", low)
    number = int(octal[1] + octal[2], 8) if octal else int(low.rstrip("u"), 0)
    return number & ((1 << 8 * SIZES[kind]) - 1)


def main(ptx, library):
    """Translate and compile a file to a library, which has its name only once it is whole."""
    try:
        code = Module(Path(ptx).read_text()).code()
    except Unknown as error:
        sys.exit(f"stand-in driver: {error} ({ptx})")
    draft = f"{library}.{os.getpid()}"
    command = [*COMPILER, f"-I{HERE}", "-x", "c", "-", "-o", draft, "-lm"]
    subprocess.run(command, input=code, text=True, check=True)
    os.replace(draft, library)


if __name__ == "__main__":
    main(*sys.argv[1:])

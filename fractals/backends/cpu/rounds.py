"""Rounds in place, in LLVM's text: a loop computes each number in the register of the one before.

On x86 a fused multiply-add is written over one of its operands. LLVM takes the one that was made
last, which is the sum's, and then moves each result to the register that the loop has for it: half
as many moves as operations in a step of z² + c. Intel's cores make some of the moves where they
multiply and add, and on any core they take turns of the front end from the core's other thread:
beside a busy one, z² + c takes 1.2 times as long with them on a Zen 3. So the last operation that
needs an old number gets it from an empty piece of assembly, whose result is in the register of its
operand, and was made last:

    x' = fma(x, x, s)    becomes    same = "" (x), x' = fma(same, same, s)

An operation stays what it is, and so do the bits of its result.
"""

import re

from fractals.backends.machine_code import FEATURES, MOVES_FREE, REGISTER

NEEDED = "fma" in FEATURES and REGISTER == 32
NAME = re.compile(r"%[-\w$.]+")
LOOP = re.compile(
    rf"^(?P<label>[-\w$.]+):.*\n(?:  .*\n)+?  br i1 {NAME.pattern}, label %(?P=label),.*\n", re.M
)
NUMBER = re.compile(r"phi (?P<kind><(?:4 x double|8 x float)>) ")
# What is made again of the old number: signs, and the pack that two vectors are
FORM = re.compile(r"fneg|shufflevector|.*@llvm\.fabs\.")
PART = re.compile(rf"shufflevector <\d+ x \w+> (?P<pack>{NAME.pattern}), <\d+ x \w+> poison,")
FUNCTION = re.compile(r"^define (?P<head>.*) \{\n(?P<body>(?:.*\n)*?)\}$", re.M)
# Operations in the order for a level of processors: in the one for a Zen 3, z² + c takes 1.02 of
# the time there (9.65 and 9.45 cycles a round), other formulas the same.
ORDER = '"tune-cpu"="x86-64-v3"' if MOVES_FREE else ""


def in_place(text: str) -> str:
    """Return LLVM's text of a program, whose loops without branches are in place if they can be."""
    return FUNCTION.sub(_ordered, text) if NEEDED else text


def _ordered(function: re.Match[str]) -> str:
    """Return the text of a function, with the order of operations for its loops in place."""
    body = LOOP.sub(_in_place, function["body"])
    order = f" {ORDER}" if ORDER and body != function["body"] else ""
    return f"define {function['head']}{order} {{\n{body}}}"


def _in_place(loop: re.Match[str]) -> str:
    """Return the text of a loop in place; of one that can't be all in place, as it is."""
    lines = [line.partition(" = ") for line in loop[0].splitlines(keepends=True)]
    made = {name.strip(): what for name, _, what in lines if what}
    numbers = _numbers(made, loop["label"])
    after: dict[str, str] = {}  # text that follows the line of a name
    for new, old in numbers.items():
        moved = _moved(made, new, old)
        if moved is None:
            return loop[0]
        last, text = moved
        after[last] = after.get(last, "") + text
    kept = ((name.strip(), name + found + what) for name, found, what in lines)
    return "".join(("" if name in numbers else line) + after.get(name, "") for name, line in kept)


def _numbers(made: dict[str, str], label: str) -> dict[str, dict[str, str]]:
    """Return what a loop computes again: by the name of each new number, the old ones' types.

    `made`: the operations by the names of their results, in their order. A pack of two vectors is
    one new number of two old ones.
    """
    again = re.compile(rf"\[ ({NAME.pattern}), %{re.escape(label)} \]")
    found: dict[str, dict[str, str]] = {}
    for name, what in made.items():
        if (number := NUMBER.match(what)) and (following := again.search(what)):
            part = PART.match(made.get(following[1], ""))
            found.setdefault(part["pack"] if part else following[1], {})[name] = number["kind"]
    return found


def _moved(made: dict[str, str], new: str, old: dict[str, str]) -> tuple[str, str] | None:
    """Return the last other operation that needs old numbers, and text to put behind it.

    The text computes the new number in their registers. None: it can't, because no multiply-add of
    old numbers makes the new one, or because the new one is needed before the old ones are done.
    """
    needs = {name: set(NAME.findall(what)) for name, what in made.items()}
    order = list(made)
    same = {name: f"%same.{name[1:]}" for name in old}  # and what is made of old numbers alone
    for name in order:
        if FORM.match(made[name]) and needs[name] and needs[name] <= same.keys():
            same[name] = f"%same.{name[1:]}"
    if "@llvm.fma." not in made.get(new, "") or same.keys().isdisjoint(needs[new]):
        return None
    users = [name for name in order if name not in same and needs[name] & same.keys()]
    last = max(users, key=order.index)
    if any(new in needs[name] for name in order[order.index(new) : order.index(last) + 1]):
        return None
    text = "".join(
        f'  {same[name]} = call {kind} asm "", "=x,0"({kind} {name})\n'
        for name, kind in old.items()
    )
    for name in [*(name for name in same if name not in old), new]:
        line = f"  {name} = {made[name]}"
        text += NAME.sub(lambda found: same.get(found[0], found[0]), line)
    return last, text

"""Rounds in place, in LLVM's text: a loop computes each number in the register of the one before.

On x86 a fused multiply-add is written over one of its operands. LLVM takes the one that was made
last, which is the sum's, and then moves each result to the register that the loop has for it: half
as many moves as operations in a step of z² + c. Intel's cores make some of the moves where they
multiply and add. So the last operation that needs an old number gets it from an empty piece of
assembly, whose result is in the register of its operand, and was made last:

    x' = fma(x, x, s)    becomes    same = "" (x), x' = fma(same, same, s)

An operation stays what it is, and so do the bits of its result.
"""

import re

from fractals.backends.machine_code import CPU, FEATURES, MOVES_FREE, REGISTER

NEEDED = "fma" in FEATURES and REGISTER == 32 and not MOVES_FREE
NAME = re.compile(r"%[-\w$.]+")
LOOP = re.compile(
    rf"^(?P<label>[-\w$.]+):.*\n(?:  .*\n)+?  br i1 {NAME.pattern}, label %(?P=label),.*\n", re.M
)
NUMBER = re.compile(r"phi (?P<kind><(?:4 x double|8 x float)>) ")
# What is made again of the old number: signs, and the pack that two vectors are. Code for a level
# of processors runs on AMD's, too, where the Burning Ship would take 1.015 of the time in place.
FORM = re.compile(r"fneg|shufflevector" + r"|.*@llvm\.fabs\." * (not CPU.startswith("x86-64")))
PART = re.compile(rf"shufflevector <\d+ x \w+> (?P<pack>{NAME.pattern}), <\d+ x \w+> poison,")


def in_place(text: str) -> str:
    """Return LLVM's text of a program, whose loops without branches are in place if they can be."""
    return LOOP.sub(_in_place, text) if NEEDED else text


def _in_place(loop: re.Match[str]) -> str:
    lines = [line.partition(" = ") for line in loop[0].splitlines(keepends=True)]
    made = {name.strip(): what for name, _, what in lines if what}
    needs = {name: set(NAME.findall(what)) for name, what in made.items()}
    order = list(made)
    again = re.compile(rf"\[ ({NAME.pattern}), %{re.escape(loop['label'])} \]")
    rounds: dict[str, dict[str, str]] = {}  # by what is next: the numbers before, and their type
    for name, what in made.items():
        if (number := NUMBER.match(what)) and (following := again.search(what)):
            part = PART.match(made.get(following[1], ""))
            new = part["pack"] if part else following[1]
            rounds.setdefault(new, {})[name] = number["kind"]
    after: dict[str, str] = {}  # text that follows the line of a name
    for new, numbers in rounds.items():
        forms = {name: f"%same.{name[1:]}" for name in numbers}
        for name in order:
            if FORM.match(made[name]) and needs[name] and needs[name] <= forms.keys():
                forms[name] = f"%same.{name[1:]}"
        if "@llvm.fma." not in made.get(new, "") or forms.keys().isdisjoint(needs[new]):
            return loop[0]
        users = [name for name in order if name not in forms and needs[name] & forms.keys()]
        last = max(users, key=order.index)
        if any(new in needs[name] for name in order[order.index(new) : order.index(last) + 1]):
            return loop[0]
        text = "".join(
            f'  {forms[name]} = call {kind} asm "", "=x,0"({kind} {name})\n'
            for name, kind in numbers.items()
        )
        for name in [*(name for name in forms if name not in numbers), new]:
            text += _renamed(f"  {name} = {made[name]}", forms)
        after[last] = after.get(last, "") + text
    kept = ((name.strip(), name + found + what) for name, found, what in lines)
    return "".join(("" if name in rounds else line) + after.get(name, "") for name, line in kept)


def _renamed(text: str, names: dict[str, str]) -> str:
    return NAME.sub(lambda name: names.get(name[0], name[0]), text)

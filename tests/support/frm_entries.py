"""Entries of Fractint's formula language, made at random."""

import random

CHOSEN = (  # what Fractint offers for fn1 to fn4
    *("sin", "cos", "cosxx", "sinh", "cosh", "tan", "tanh", "cotan", "cotanh", "exp", "log"),
    *("sqrt", "sqr", "recip", "ident", "abs", "cabs", "conj", "flip"),
    *("floor", "ceil", "trunc", "round"),
)
FUNCTIONS = (*CHOSEN, "real", "imag")
ENDS = (
    *("|z| < 4", "|z| <= 100", "real(z) < 50", "|z| < 4 && |a| < 9", "(|z| < 4) * (b < 3)"),
    *(
        "|z - a| > 0.001",
        "floor(z) != 3",
        "|z| < 1e6 || |a| < 1",
        "z",
        "z = z + 0.01",
        "z = (|z| < 16) * z",
    ),
)


def entry(seed):
    """Return an entry's text, the words that set its numbers, those numbers and its functions."""
    dice = random.Random(seed)
    params = {f"p{k}": (dice.uniform(-2, 2), dice.uniform(-1, 1)) for k in (1, 2, 3)}
    params["p3"] = (float(dice.choice((-3, -1, 0.5, 2, 3))), 0.0)
    functions = {f"fn{k}": dice.choice(CHOSEN) for k in (1, 2)}
    words = [f"{name}={x!r},{y!r}" for name, (x, y) in params.items()]
    words += [f"{name}={value}" for name, value in functions.items()]
    names = ["z", "pixel", "p1", "p2"]
    begin = dice.choice(("z = pixel", "z = p1", "z = 0", f"z = {value(dice, names[1:], 1)}"))
    lines = [begin + ":"]
    lines.append(f"a = {value(dice, names, 2)}")
    names.append("a")
    if dice.random() < 0.3:
        one, other = (f"b = {value(dice, names, 1)}" for _ in range(2))
        lines += [f"if ({condition(dice, names)})", one, "else", other, "endif"]
    else:
        lines.append(f"b = {value(dice, names, 1)}")
    lines.append(f"z = {value(dice, [*names, 'b'], 2)}")
    lines.append(dice.choice(ENDS))
    return "\n".join(lines), " ".join(words), params, functions


def condition(dice, names):
    return f"{dice.choice(names)} {dice.choice(('<', '>=', '!='))} {value(dice, names, 0)}"


def value(dice, names, depth):
    """Return the text of an expression, at most this deep."""
    if depth < 0 or dice.random() < 0.15:
        return dice.choice([*names, str(dice.randint(0, 3)), f"{dice.uniform(0, 2):.2f}"])
    kind = dice.random()
    inner = value(dice, names, depth - 1)
    if kind < 0.35:
        return f"{dice.choice((*FUNCTIONS, 'fn1', 'fn2'))}({inner})"
    if kind < 0.5:
        return f"({inner})^{dice.choice(('2', '3', '0', 'p2', 'p3', '(-1)', '(-2)', '(0.5,0.25)'))}"
    if kind < 0.55:
        return f"-({inner})"
    other = value(dice, names, depth - 1)
    return f"({inner} {dice.choice('+-**//') if inner != other else '+'} {other})"

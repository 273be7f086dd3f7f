"""Pattern network: a small neural network whose output at a point is the color there.

One step takes z to exp(14 + 2 tanh s + 2πi t), where s and t are the outputs of the network at z.
Orbits start at their sample and end after this step, because every result lies beyond the escape
radius. Colorings of the final z therefore draw the network: `final_angle` draws t. After Kenneth
Stanley, *Compositional pattern producing networks* (2007).
"""

import math
from collections.abc import Iterator

from fractals.formulas.language.codegen import compose
from fractals.formulas.language.syntax import Tree
from fractals.kernels.formula import Formula, explained

# What each hidden unit does with its weighted sum; Stanley's patterns repeat, and are symmetric.
FIRST = ("sin", "sin", "gauss", "sin", "tanh")
SECOND = ("sin", "gauss", "sin", "tanh")
INPUTS = 4  # x, y, the distance from 0, and 1
WEIGHTS = len(FIRST) * INPUTS + len(SECOND) * (len(FIRST) + 1) + 2 * len(SECOND)
STRONGEST = 1000.0  # of a given weight: beyond, neighboring pixels have nothing in common
MIDDLE, SPREAD = 14.0, 2.0  # log|z| of outputs is 12 to 16: all lie beyond usual escape radii
MAX_SEED = 2**32 - 1
MULTIPLIER, INCREMENT, MODULUS = 6364136223846793005, 1442695040888963407, 2**64  # Knuth's MMIX


def uniform(seed: int) -> Iterator[float]:
    """Yield numbers from -1 to 1 in steps of 2^-15, the same in every program and version."""
    state = seed
    while True:
        state = (state * MULTIPLIER + INCREMENT) % MODULUS
        yield (state >> 48) / 2**15 - 1


def random_weights(seed: int) -> tuple[float, ...]:
    """Return the weights of a seed: strong for inputs, weaker for hidden units."""
    dice = uniform(seed)
    for _ in range(8):  # the first numbers of neighboring seeds are alike
        next(dice)
    first, second = len(FIRST) * INPUTS, len(SECOND) * (len(FIRST) + 1)
    scales = [3.0] * first + [2.0] * second + [0.5] * (WEIGHTS - first - second)
    return tuple(scale * value for scale, value in zip(scales, dice, strict=False))


def _sum(weights: tuple[float, ...], units: list[Tree]) -> Tree:
    """Return the tree of a weighted sum; the last weight is added where a unit is missing."""
    total: Tree = ("number", complex(weights[len(units)] if len(weights) > len(units) else 0.0))
    for weight, unit in zip(weights, units, strict=False):
        total = ("+", total, ("*", ("number", complex(weight)), unit))
    return total


def _activated(name: str, value: Tree) -> Tree:
    if name == "gauss":
        return ("exp", ("neg", ("power", value, 2)))
    return (name, value)


def network_tree(weights: tuple[float, ...]) -> Tree:
    """Return the step of a network as a tree of `fractals.formulas.language`."""
    given = iter(weights)

    def take(count: int) -> tuple[float, ...]:
        return tuple(next(given) for _ in range(count))

    units: list[Tree] = [("re", ("z",)), ("im", ("z",)), ("abs", ("z",))]
    for layer in (FIRST, SECOND):
        units = [_activated(name, _sum(take(len(units) + 1), units)) for name in layer]
    s, t = (_sum(take(len(units)), units) for _ in range(2))
    spread = ("*", ("number", complex(SPREAD)), ("tanh", s))
    size = ("+", ("number", complex(MIDDLE)), spread)
    return ("exp", ("+", size, ("*", ("number", complex(0, 2 * math.pi)), t)))


def parse_weights(text: str) -> tuple[float, ...]:
    """Return the weights in a text of numbers.

    Raises `ValueError` if there are not as many as the network has, or one is too large.
    """
    try:
        found = tuple(float(part) for part in text.replace(",", " ").split())
    except ValueError:
        found = ()
    if len(found) != WEIGHTS or not all(abs(value) <= STRONGEST for value in found):
        raise ValueError(
            f"weights are {WEIGHTS} numbers from -{STRONGEST:g} to {STRONGEST:g}, with spaces or "
            "commas between them"
        )
    return found


@explained(seed="which random weights", weights="numbers in place of those of the seed, as text")
def network(seed: int = 1, weights: str = "") -> Formula:
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed is a whole number from 0 to {MAX_SEED}")
    if not isinstance(weights, str):
        raise ValueError(f"weights are a text of {WEIGHTS} numbers")
    values = parse_weights(weights) if weights else random_weights(seed)
    return compose(
        "network",
        "Pattern network of two hidden layers, one step",
        network_tree(values),
        start="c",
        parameters={"seed": seed, "weights": weights},
        degree=0,
        coloring="final_angle",
        width="4",
    )

"""Formulas composed of text or numbers: methods for roots, single expressions, a network."""

import math
from collections.abc import Iterator

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import compose
from fractals.formulas.language.syntax import Tree, minus, over, plus, times
from fractals.kernels.formula import Formula, explained

# --- Methods that find roots: Newton's, Halley's and nova

TOLERANCE = 1e-6  # in plane units; a smaller one adds a step or two, as convergence is quadratic


# What the options of a method for roots mean.
OF_ROOTS = {
    "power": "roots are those of z**power - 1",
    "relaxation": "factor of each step; 1 is the method itself",
    "polynomial": "function of z whose roots are found, in place of z**power - 1",
    "start": "expression in c where orbits start",
}


def function_of(power, polynomial):
    """Return the tree of f."""
    if isinstance(power, bool) or not isinstance(power, int) or not 2 <= power <= 12:
        raise ValueError("power is a whole number from 2 to 12")
    text = polynomial or f"z**{power} - 1"
    if not isinstance(text, str):
        raise ValueError(f"polynomial is an expression in quotes, not {text!r:.40}")
    try:
        tree = syntax.parse(text)
    except syntax.ExpressionError as error:
        raise ValueError(f"polynomial '{text[:60]}', {error}") from None
    if not syntax.is_holomorphic(tree) or not syntax.uses(tree, "z") or syntax.uses(tree, "p"):
        raise ValueError("polynomial is an expression in z without abs, conj, re and im")
    return tree


def relaxed(step, relaxation):
    """Return the tree of z - relaxation * step."""
    number = isinstance(relaxation, int | float) and not isinstance(relaxation, bool)
    if not number or not 0.01 <= relaxation <= 1.99:
        raise ValueError("relaxation is a number from 0.01 to 1.99")
    return minus(("z",), times(("number", complex(relaxation)), step))


def composed(name, title, step_of, power, relaxation, polynomial, start):
    """Return the formula of a root-finding method, whose step for f is ``z - step_of(f)``.

    The `polynomial` is as given, "" for z**power - 1; so is `start`, an expression in c, or "".
    Options are kept where they differ from the defaults.
    """
    function = function_of(power, polynomial)
    options = {"relaxation": relaxation, "polynomial": polynomial, "start": start}
    usual = {"relaxation": 1.0, "polynomial": "", "start": ""}
    changed = {key: value for key, value in options.items() if value != usual[key]}
    tree = relaxed(step_of(function), relaxation)
    try:
        first = syntax.parse(str(start) or ("0" if syntax.uses(function, "c") else "c"))
    except syntax.ExpressionError as error:
        raise ValueError(f"start '{str(start)[:60]}', {error}") from None
    return compose(
        name,
        f"{title} for {polynomial or f'z**{power} - 1'}",
        tree,
        first,
        degree=0,
        tolerance=TOLERANCE,
        escapes=False,
        width="4.5",
        group="Root finding",
        parameters={"power": power, **changed},
    )


def newton_step(function):
    """Return the tree of ``f / f'``."""
    return over(function, syntax.derivative(function, "z"))


@explained(**OF_ROOTS)
def newton(power=3, relaxation=1.0, polynomial="", start=""):
    """Newton's method for roots of z**power - 1, or of any function: z -> z - relaxation f / f'.

    The picture shows the root that the method finds from each point (Arthur Cayley, 1879). For a
    function that also depends on c, the picture is of the parameter plane, and the method starts at
    `start`.
    """
    return composed("newton", "Newton's method", newton_step, power, relaxation, polynomial, start)


def halley_step(function):
    """Return the tree of ``2 f f' / (2 f'² - f f'')``."""
    first = syntax.derivative(function, "z")
    second = syntax.derivative(first, "z")
    two = ("number", 2 + 0j)
    below = minus(times(two, syntax.power(first, 2)), times(function, second))
    return over(times(two, times(function, first)), below)


@explained(**OF_ROOTS)
def halley(power=3, relaxation=1.0, polynomial="", start=""):
    """Halley's method for roots: z -> z - relaxation 2 f f' / (2 f'² - f f''); f as in `newton`."""
    return composed("halley", "Halley's method", halley_step, power, relaxation, polynomial, start)


@explained(power=OF_ROOTS["power"], relaxation=OF_ROOTS["relaxation"])
def nova(power=3, relaxation=1.0):
    """Nova: Newton's method for z**power - 1, and c is added (Paul Derbyshire, 1996); from 1."""
    step = relaxed(newton_step(function_of(power, "")), relaxation)
    return compose(
        "nova",
        f"Nova, Newton's method for z**{power} - 1, plus c",
        plus(step, ("c",)),
        "1",
        degree=0,
        tolerance=TOLERANCE,
        escapes=False,
        center=("-0.4", "0"),
        width="4",
        parameters={"power": power, **({"relaxation": relaxation} if relaxation != 1 else {})},
        group="Root finding",
    )


# --- Formulas that are one expression each


def sine():
    """Sine: z -> c sin z, from its critical point π/2."""
    return compose("sine", "Sine, c sin z", "c*sin(z)", start="pi/2", width="14", group="Functions")


def exponential():
    """Exponential: z -> c exp z, from 0, its asymptotic value."""
    return compose(
        "exponential",
        "Exponential, c exp z",
        "c*exp(z)",
        center=("-1", "0"),
        width="10",
        group="Functions",
    )


def logistic():
    """Lambda, the logistic map: z -> c z (1 - z), from its critical point 1/2."""
    return compose(
        "logistic",
        "Lambda (logistic map), c z (1 - z)",
        "c*z*(1 - z)",
        start="1/2",
        center=("1", "0"),
        width="7.2",
        group="Polynomials",
    )


def collatz():
    """Collatz: z -> (2 + 7z - (2 + 5z) cos(pi z)) / 4.

    It maps even whole numbers n to n / 2, and odd ones to 3n + 1. Orbits start at their sample, c.
    """
    return compose(
        "collatz",
        "Collatz map, (2 + 7z - (2 + 5z) cos πz) / 4",
        "(2 + 7*z - (2 + 5*z)*cos(pi*z))/4",
        start="c",
        width="6",
        group="Functions",
    )


def magnet1():
    """Magnet 1: z -> ((z² + c - 1) / (2z + c - 2))², from the renormalization of magnets.

    Orbits converge to 1, the magnetic phase, or escape. After Peitgen and Richter, *The Beauty of
    Fractals* (1986).
    """
    return compose(
        "magnet1",
        "Magnet 1, ((z² + c - 1) / (2z + c - 2))²",
        "((z^2 + c - 1)/(2*z + c - 2))^2",
        tolerance=1e-6,
        center=("1.2", "0"),
        width="7",
        group="Rational maps",
    )


def magnet2():
    """Magnet 2: z -> ((z³ + 3(c - 1)z + (c - 1)(c - 2)) / (3z² + 3(c - 2)z + (c - 1)(c - 2) + 1))².

    Orbits converge to 1 or escape. After Peitgen and Richter, *The Beauty of Fractals* (1986).
    """
    return compose(
        "magnet2",
        "Magnet 2, of degree 2 at infinity",
        "((z^3 + 3*(c - 1)*z + (c - 1)*(c - 2))/(3*z^2 + 3*(c - 2)*z + (c - 1)*(c - 2) + 1))^2",
        tolerance=1e-6,
        center=("1.4", "0"),
        width="5.4",
        group="Rational maps",
    )


# --- Pattern network: a small neural network whose output at a point is the color there
#
# One step takes z to exp(14 + 2 tanh s + 2πi t), where s and t are the outputs of the network at
# z. Orbits start at their sample and end after this step, because every result lies beyond the
# escape radius. Colorings of the final z therefore draw the network: `final_angle` draws t. After
# Kenneth Stanley, *Compositional pattern producing networks* (2007).

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

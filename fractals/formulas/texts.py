"""Formulas composed of text: methods for roots, and single expressions."""

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import compose
from fractals.formulas.language.syntax import minus, over, plus, times
from fractals.kernels.formula import explained

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
        raise error.of("polynomial", text) from None
    if not syntax.is_holomorphic(tree) or not syntax.uses(tree, "z") or syntax.uses(tree, "p"):
        without = ", ".join(("p", *syntax.BENT))
        raise ValueError(f"polynomial is an expression in z without {without}, not '{text[:60]}'")
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
        raise error.of("start", str(start)) from None
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

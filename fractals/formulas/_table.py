"""Formulas that are one expression each: a row of a table in place of a file.

A row holds the map, where orbits start, the options and their ranges, the home view, and who
described the map. `fractals.catalog` offers the rows beside the files of this folder. Maps that are
chains of powers and absolute values can be drawn at any depth (`own.deepened`).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fractals.formulas.language import syntax
from fractals.formulas.language.codegen import compose
from fractals.formulas.language.syntax import Tree, minus, plus
from fractals.formulas.own import deepened
from fractals.formulas.texts import (
    OF_ROOTS,
    TOLERANCE,
    composed,
    function_of,
    halley_step,
    newton_step,
)
from fractals.kernels.formula import Formula, explained, with_options

Text = str | Callable[..., Any]  # text, or a function of the options that returns it
Z, C = ("z",), ("c",)


class Reach(NamedTuple):
    """An option's usual value, range and meaning; a whole number where the usual value is one."""

    usual: float
    least: float
    most: float
    meaning: str

    def checked(self, name: str, value: Any) -> Any:
        """Return a value of this option, or raise a `ValueError`."""
        whole = isinstance(self.usual, int)
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or not self.least <= value <= self.most:
            kind = "whole number" if whole else "number"
            raise ValueError(f"{name} is a {kind} from {self.least:g} to {self.most:g}")
        return value if whole else float(value)


class Row(NamedTuple):
    """A formula: its title, map and start, each with the options in braces, and its source."""

    title: str
    step: Text  # an expression in z, c and p, the z before; or a tree
    source: str
    start: Text = "0"
    center: tuple[str, str] = ("0", "0")
    width: str = "5"
    options: Mapping[str, Reach] = {}
    tolerance: float = 0.0
    escapes: bool = True


def _filled(text: Text, options: Mapping[str, float]) -> Tree:
    """Return the tree of an expression with its options."""
    given = text(**options) if callable(text) else text.format(**options)
    return syntax.parse(given) if isinstance(given, str) else given


def _maker(name: str, group: str, row: Row) -> Callable[..., Formula]:
    """Return ``make(**options)`` of a row."""

    def make(**given: Any) -> Formula:
        if given.keys() - row.options.keys():
            raise TypeError("unknown option")
        usual = {key: choice.usual for key, choice in row.options.items()}
        options = {
            key: row.options[key].checked(key, value) for key, value in (usual | given).items()
        }
        tree = _filled(row.step, options)
        degree = 0 if row.tolerance else syntax.degree_of(tree)
        formula = compose(
            name,
            row.title.format(**options),
            tree,
            _filled(row.start, options),
            options,
            degree=degree,
            tolerance=row.tolerance,
            escapes=row.escapes,
            center=row.center,
            width=row.width,
            group=group,
        )
        return deepened(formula, tree) if row.start == "0" and not row.tolerance else formula

    make.__doc__ = f"Return the formula. {row.source}."
    made = with_options(make, {key: choice.usual for key, choice in row.options.items()})
    return explained(**{key: choice.meaning for key, choice in row.options.items()})(made)


class RootMethod(NamedTuple):
    """A method for roots: its title, the step that is taken from z, and its source.

    In the step f is the function, g, h and k are its derivatives, and n is its degree. y is the
    next point of Newton's method. fy, fp and fs are f at y, at the z before, and at z + f. gm is f'
    in the middle between z and y, and s the root in Laguerre's method. A step that would be 0 / 0
    at a root is 0 there, because methods of high order meet a root exactly, in rounded numbers,
    before two points in turn are near. Quotients take the place of squares, which overflow.
    """

    title: str
    step: str
    source: str


ROOT = syntax.parse_condition("sqrt((n - 1)*((n - 1)*g^2 - n*f*h))")


def _replaced(tree: Tree, parts: Mapping[str, Tree]) -> Tree:
    """Return a tree with other trees in place of its variables."""
    if len(tree) == 1:
        return parts.get(tree[0], tree)
    return (tree[0], *(_replaced(p, parts) if isinstance(p, tuple) else p for p in tree[1:]))


def _method(name: str, method: RootMethod) -> Callable[..., Formula]:
    """Return ``make(power, relaxation, polynomial, start)`` of a method."""
    text = syntax.parse_condition(method.step)

    def step_of(function: Tree) -> Tree:
        degree = syntax.degree_of(function)
        if syntax.uses(text, "n") and not degree:
            raise ValueError(f"{name}: polynomial is a polynomial of degree 2 or higher")
        first = syntax.derivative(function, "z")
        newtons = minus(Z, newton_step(function))
        middle = minus(Z, ("/", newton_step(function), ("number", 2 + 0j)))
        parts = {
            "f": function,
            "g": first,
            "h": syntax.derivative(first, "z"),
            "y": newtons,
            "k": syntax.derivative(syntax.derivative(first, "z"), "z"),
            "n": ("number", complex(degree)),
            "fy": _replaced(function, {"z": newtons}),
            "fp": _replaced(function, {"z": ("p",)}),
            "fs": _replaced(function, {"z": plus(Z, function)}),
            "gm": _replaced(first, {"z": middle}),
        }
        return _replaced(_replaced(text, {"s": ROOT}), parts)

    @explained(**OF_ROOTS)
    def make(power=3, relaxation=1.0, polynomial="", start=""):
        return composed(name, method.title, step_of, power, relaxation, polynomial, start)

    make.__doc__ = f"Return the formula. {method.source}."
    return make


def newtons(polynomial: str) -> Callable[[], Tree]:
    """Return a function that returns the tree of Newton's method for a function of z."""
    return lambda: minus(Z, newton_step(syntax.parse(polynomial)))


def _power(
    usual: int, least: int = 2, most: int = 12, meaning: str = "power of z"
) -> dict[str, Reach]:
    return {"power": Reach(usual, least, most, meaning)}


def _root_row(title: str, step: Text, source: str, start: Text = "c", **keys: Any) -> Row:
    return Row(title, step, source, start, tolerance=TOLERANCE, escapes=False, **keys)


KF = "Known from Kalles Fraktaler (Karl Runmo and Claude Heiland-Allen, 2013 to 2020)"
FRACTINT = "Known from Fractint (the Stone Soup Group, 1990)"
VISIONS = "Known from Visions of Chaos (Jason Rampe)"
XAOS = "Known from XaoS (Jan Hubička and Thomas Marsh, 1996)"
ZOOMER = "Known from Fractal Zoomer (Christos Kalonakis, 2015)"

GROUPS: dict[str, dict[str, Row]] = {
    "Powers": {
        "multicorn": Row(
            "Multicorn, conj(z)^{power} + c",
            "conj(z)^{power} + c",
            "Shizuo Nakane and Dierk Schleicher, 2003",
            options=_power(3),
        ),
        "glynn": Row(
            "Glynn, z^{power:g} + c",
            "z^{power!r} + c",
            "Earl Glynn's trees are Julia sets of the power 1.5 (1990s)",
            start="c",
            center=("-0.1", "0"),
            width="4",
            options={"power": Reach(1.5, 1.1, 12.0, "power of z, whole or not")},
        ),
        "marks_mandelbrot": Row(
            "Mark's Mandelbrot, c^{power} z² + c",
            "c^{power}*z^2 + c",
            f"Mark Peterson. {FRACTINT}",
            options=_power(1, 1, 8, "power of c"),
            width="4",
        ),
        "inverse_mandelbrot": Row(
            "Inverse Mandelbrot set, z² + 1 / c + s, s = {shift:g}",
            "z^2 + 1/c + {shift!r}",
            "The plane of 1 / c (Benoit Mandelbrot, 1982)",
            center=("1.5", "0"),
            width="9",
            options={"shift": Reach(0.0, -2.0, 2.0, "number that a step adds")},
        ),
        "modulus_power": Row(
            "Power and absolute value, z^{power} |z|^{times} + c",
            "z^{power}*abs(z)^{times} + c",
            f"After Simonobrot. {KF}",
            options={
                "power": Reach(3, 1, 12, "power of z"),
                "times": Reach(2, 1, 12, "power of |z|"),
            },
            width="4",
        ),
    },
    "Absolute values": {
        "power_burning_ship": Row(
            "Burning Ship of the power {power}, (|x| + i|y|)^{power} + c",
            "absx(absy(z))^{power} + c",
            f"Michael Michelitsch and Otto Rössler, 1992, of the power 2. {KF}",
            options=_power(3),
        ),
        "power_celtic": Row(
            "Celtic of the power {power}, |Re z^{power}| + i Im z^{power} + c",
            "absx(z^{power}) + c",
            KF,
            options=_power(3),
        ),
        "power_buffalo": Row(
            "Buffalo of the power {power}, |Re z^{power}| + i |Im z^{power}| + c",
            "absx(absy(z^{power})) + c",
            KF,
            options=_power(3),
        ),
        "flying_squirrel": Row(
            "Flying Squirrel, Re z^{power} + i |Im z^{power}| + c",
            "absy(z^{power}) + c",
            KF,
            options=_power(3),
        ),
        "partial_ship_real": Row(
            "Partial Burning Ship Real, (|x| + iy)^{power} + c",
            "absx(z)^{power} + c",
            KF,
            options=_power(3),
        ),
        "partial_ship_imaginary": Row(
            "Partial Burning Ship Imag, (x + i|y|)^{power} + c",
            "absy(z)^{power} + c",
            KF,
            options=_power(3),
        ),
        "partial_ship_mandelbar": Row(
            "Partial Mandelbar, conj((|x| + iy)^{power}) + c",
            "conj(absx(z)^{power}) + c",
            KF,
            options=_power(4),
        ),
        "quasi_burning_ship": Row(
            "Quasi Burning Ship, Re w - i |Im w| + c, w = (|x| + iy)^{power}",
            "conj(absy(absx(z)^{power})) + c",
            KF,
            options=_power(3),
        ),
        "celtic_partial_real": Row(
            "Celtic Partial Ship Real, |Re w| + i Im w + c, w = (|x| + iy)^{power}",
            "absx(absx(z)^{power}) + c",
            KF,
            options=_power(4),
        ),
        "celtic_partial_imaginary": Row(
            "Celtic Partial Ship Imag, |Re w| + i Im w + c, w = (x + i|y|)^{power}",
            "absx(absy(z)^{power}) + c",
            KF,
            options=_power(4),
        ),
        "celtic_mandelbar": Row(
            "Celtic Mandelbar, |Re w| + i Im w + c, w = conj(z)^{power}",
            "absx(conj(z)^{power}) + c",
            KF,
            options=_power(2),
        ),
        "perpendicular_mandelbrot": Row(
            "Perpendicular Mandelbrot, (|x| - iy)^{power} + c",
            "conj(absx(z))^{power} + c",
            KF,
            options=_power(2),
        ),
        "perpendicular_celtic": Row(
            "Perpendicular Celtic, |Re w| + i Im w + c, w = (|x| - iy)^{power}",
            "absx(conj(absx(z))^{power}) + c",
            KF,
            options=_power(2),
        ),
        "perpendicular_buffalo": Row(
            "Perpendicular Buffalo, |Re w| + i Im w + c, w = (x - i|y|)^{power}",
            "absx(conj(absy(z))^{power}) + c",
            KF,
            options=_power(2),
        ),
        "moth_buffalo": Row(
            "Buffalo with a linear term, w² - w + c, w = |x| + i|y|",
            "absx(absy(z))^2 - absx(absy(z)) + c",
            f"After HPDZ's Buffalo. {KF}",
            width="6",
        ),
    },
    "Polynomials": {
        "power_lambda": Row(
            "Lambda of the power {power}, c z (1 - z^{power})",
            lambda power: f"c*z*(1 - z^{power})",
            "After the logistic map (Robert May, 1976)",
            start=lambda power: f"{(1 / (power + 1)) ** (1 / power)!r}",
            options=_power(2, 1, 11),
        ),
        "inverse_lambda": Row(
            "Inverse Lambda, z (1 - z) / c",
            "z*(1 - z)/c",
            "The plane of 1 / lambda, after the logistic map (Robert May, 1976)",
            start="1/2",
            width="3.2",
        ),
        "cubic": Row(
            "Cubic, z³ - 3c² z + {constant:g}",
            "z^3 - 3*c^2*z + {constant!r}",
            "Bodil Branner and John Hubbard, 1988: cubics by their critical points c and -c",
            start="c",
            width="3",
            options={"constant": Reach(0.5, -2.0, 2.0, "number that a step adds")},
        ),
        "cactus": Row(
            "Cactus, z³ + (c - 1) z - c",
            "z^3 + (c - 1)*z - c",
            VISIONS,
            start="sqrt((1 - c)/3)",
            width="6",
        ),
        "trice": Row(
            "Trice, (z² + z) / 2 + c",
            "(z^2 + z)/2 + c",
            XAOS,
            start="-1/2",
            width="9",
        ),
    },
    "Rational maps": {
        "mcmullen": Row(
            "McMullen, z^{n} + c / z^{m}",
            "z^{n} + c/z^{m}",
            "Curtis McMullen, 1988; parameter plane by Robert Devaney, 2005",
            start="({m}*c/{n})^(1/({n} + {m}))",
            options={
                "n": Reach(3, 2, 12, "power of z"),
                "m": Reach(3, 1, 12, "power of 1 / z"),
            },
            width="1.2",
        ),
        "zubieta": Row(
            "Zubieta, z² + c / z",
            "z^2 + c/z",
            "Known as Zubieta's Julia sets from Paul Bourke's collection",
            start="(c/2)^(1/3)",
            width="2",
        ),
        "perturbed_basilica": Row(
            "Perturbed basilica, z² - 1 + c / z²",
            "z^2 - 1 + c/z^2",
            "Blanchard, Devaney, Look, Seal and Shapiro, 2005",
            start="c^(1/4)",
            center=("0.6", "0"),
            width="2.4",
        ),
        "basilica_matings": Row(
            "Matings with the basilica, c / (z² + 2z)",
            "c/(z^2 + 2*z)",
            "Magnus Aspenberg and Michael Yampolsky, 2009",
            start="-1",
            width="10",
        ),
        "talis": Row(
            "Talis, z^n / ({constant:g} + z^(n - 1)) + c, n = {power}",
            lambda power, constant: f"z^{power}/({constant!r} + z^{power - 1}) + c",
            VISIONS,
            options={
                "power": Reach(2, 2, 12, "power of z in the numerator"),
                "constant": Reach(1.0, 0.1, 4.0, "number in the denominator"),
            },
            width="6",
        ),
    },
    "With memory": {
        "manowar": Row(
            "Man o' war, z² + c and the previous z",
            "z^2 + p + c",
            FRACTINT,
            start="c",
            center=("-0.2", "0"),
            width="3",
        ),
        "power_phoenix": Row(
            "Power phoenix, z^n + c z^(n - 1) {memory:+g} times the previous z, n = {power}",
            lambda power, memory: f"z^{power} + c*z^{power - 1} + {memory!r}*p",
            f"After Shigehiro Ushiki, 1988. {FRACTINT}",
            start=lambda power, memory: f"-c*{power - 1}/{power}",
            options={
                "power": Reach(3, 2, 12, "power of z"),
                "memory": Reach(-0.5, -2.0, 2.0, "factor of the previous z"),
            },
            width="7.5",
        ),
        "ushiki": Row(
            "Ushiki's phoenix, z² + {constant:g} and c times the previous z",
            "z^2 + {constant!r} + c*p",
            "Shigehiro Ushiki, 1988: his first picture has the constant 0.56667 and c = -0.5",
            options={"constant": Reach(0.56667, -2.0, 2.0, "number that a step adds")},
            center=("-0.2", "0"),
            width="3",
        ),
    },
    "Functions": {
        "cosine": Row(
            "Cosine, c cos z",
            "c*cos(z)",
            "Robert Devaney, Chaos, Fractals, and Dynamics, 1990",
            width="14",
        ),
        "sine_plus": Row("Sine plus c, sin z + c", "sin(z) + c", ZOOMER, start="pi/2", width="14"),
        "cosine_plus": Row("Cosine plus c, cos z + c", "cos(z) + c", ZOOMER, width="14"),
        "sine_of_square": Row(
            "Sine of the square, sin z² + c", "sin(z^2) + c", FRACTINT, width="6"
        ),
        "pickover": Row(
            "Pickover's biomorph, sin z + z² + c",
            "sin(z) + z^2 + c",
            "Clifford Pickover, 1986",
            start="-0.45018361129487357",
            width="5",
        ),
        "cosine_square": Row(
            "Cosine and square, cos z + z² + c", "cos(z) + z^2 + c", FRACTINT, width="5"
        ),
        "cosh_square": Row(
            "Hyperbolic cosine and square, cosh z + z² + c",
            "cosh(z) + z^2 + c",
            FRACTINT,
            width="5",
        ),
        "exponential_square": Row(
            "Exponential and square, exp z + z² + c",
            "exp(z) + z^2 + c",
            f"Clifford Pickover, 1986. {FRACTINT}",
            start="-0.35173371124919584",
            width="5",
        ),
        "capture_zones": Row(
            "Capture zones, c z^{power} exp z",
            "c*z^{power}*exp(z)",
            "Núria Fagella and Antonio Garijo, 2003",
            start="-{power}",
            width="24",
            options=_power(2, 1, 8),
        ),
        "tetration": Row(
            "Tetration, c to the power z",
            "c^z",
            "Irvin Baker and Philip Rippon, 1983",
            start="1",
            tolerance=1e-6,
            center=("1", "0"),
            width="6",
        ),
        "power_tower": Row(
            "Power of itself, z^z + z^{power} + c",
            "z^z + z^{power} + c",
            FRACTINT,
            start="c",
            options=_power(2, 1, 8),
            width="5",
        ),
        "gauss_map": Row(
            "Gauss map, exp(-{alpha:g} z²) + c",
            "exp(-{alpha!r}*z^2) + c",
            "The mouse map on the line (Robert Hilborn, 1994), in the plane",
            options={"alpha": Reach(4.9, 0.1, 20.0, "factor of -z² in the exponent")},
            width="4",
        ),
        "sine_times": Row(
            "Sine times z, c z sin z", "c*z*sin(z)", FRACTINT, start="2.028757838110434", width="6"
        ),
    },
    "Cases": {
        "barnsley1": Row(
            "Barnsley 1, c (z - 1) or c (z + 1)",
            "if(z < 0, c*(z + 1), c*(z - 1))",
            "Michael Barnsley, Fractals Everywhere, 1988",
            start="c",
            width="5",
        ),
        "barnsley2": Row(
            "Barnsley 2, c (z - 1) or c (z + 1), by Im cz",
            "if(-i*c*z < 0, c*(z + 1), c*(z - 1))",
            "Michael Barnsley, Fractals Everywhere, 1988",
            start="c",
            width="5",
        ),
        "barnsley3": Row(
            "Barnsley 3, z² - 1, and c Re z where Re z is not above 0",
            "z^2 - 1 + if(z > 0, 0, c*re(z))",
            "Michael Barnsley, Fractals Everywhere, 1988",
            start="c",
            width="5",
        ),
        "sierpinski_triangle": Row(
            "Sierpinski triangle, 2z less one of its corners",
            "2*z - if(-i*z > 0.5, i, if(z > 0.5, 1, 0))",
            "Wacław Sierpiński, 1915; by escape times in Fractals Everywhere (Michael Barnsley)",
            start="c",
            center=("0.5", "0.4"),
            width="2.4",
        ),
        "henon_basin": Row(
            "Basin of the Hénon map, 1 - {a:g} x² + y + i {b:g} x",
            "1 + im(z) - {a!r}*re(z)^2 + i*{b!r}*re(z)",
            "Michel Hénon, 1976",
            start="c",
            options={
                "a": Reach(1.4, -2.0, 2.0, "next x = 1 - a x² + y"),
                "b": Reach(0.3, -1.5, 1.5, "next y = b x"),
            },
            center=("0", "1"),
            width="8",
        ),
    },
    "Root finding": {
        "newton_cubics": _root_row(
            "Newton's method for z³ + (c - 1) z - c, from 0",
            newtons("z^3 + (c - 1)*z - c"),
            "James Curry, Lucy Garnett and Dennis Sullivan, 1983",
            start="0",
            width="5",
        ),
        "newton_cycle": _root_row(
            "Newton's method for z³ - 2z + 2, with a cycle",
            newtons("z^3 - 2*z + 2"),
            "Stephen Smale, 1985",
        ),
        "newton_sine": _root_row(
            "Newton's method for sin z",
            newtons("sin(z)"),
            ZOOMER,
            width="9",
        ),
        "newton_cosh": _root_row(
            "Newton's method for cosh z - 1",
            newtons("cosh(z) - 1"),
            ZOOMER,
            width="14",
        ),
        "newton_exponential": _root_row(
            "Newton's method for z exp z - 1",
            newtons("z*exp(z) - 1"),
            "Robert Corless and others, On the Lambert W function, 1996",
            width="14",
        ),
        "newton_sextic": _root_row(
            "Newton's method for z⁶ + z³ - 1",
            newtons("z^6 + z^3 - 1"),
            FRACTINT,
        ),
        "halley_nova": _root_row(
            "Nova of Halley's method for z^{power} - 1, plus c",
            lambda power: plus(minus(Z, halley_step(function_of(power, ""))), C),
            "After Paul Derbyshire's nova, 1996",
            start="1",
            options=_power(3, meaning=OF_ROOTS["power"]),
        ),
    },
}

METHODS = {
    "chebyshev": RootMethod(
        "Chebyshev's method", "f/g*(1 + f/g*(h/g)/2)", "Pafnuty Chebyshev, 1838"
    ),
    "householder": RootMethod(
        "Householder's method",
        "3*f*(2*g^2 - f*h)/(6*g^3 - 6*f*g*h + f^2*k)",
        "Alston Householder, 1970",
    ),
    "schroeder": RootMethod("Schröder's method", "f*g/(g^2 - f*h)", "Ernst Schröder, 1870"),
    "super_halley": RootMethod(
        "Super-Halley method",
        "f/g*(2 - f/g*(h/g))/(2 - 2*(f/g)*(h/g))",
        "José Gutiérrez and Miguel Hernández, 2001",
    ),
    "whittaker": RootMethod(
        "Whittaker's method",
        "f/g*(1 - f/g*(h/g)/2)",
        "Edmund Whittaker, 1918",
    ),
    "laguerre": RootMethod(
        "Laguerre's method",
        "n*f/if(s/g < 0, g - s, g + s)",
        "Edmond Laguerre, 1880",
    ),
    "steffensen": RootMethod(
        "Steffensen's method",
        "if(f == 0 && i*f == 0, 0, f^2/(fs - f))",
        "Johan Steffensen, 1933",
    ),
    "secant": RootMethod(
        "Secant method",
        "f*(z - p)/(f - fp)",
        "Its history by Joanna Papakonstantinou and Richard Tapia, 2013",
    ),
    "ostrowski": RootMethod(
        "Ostrowski's method",
        "if(f == 0 && i*f == 0, 0, f/g + fy/g*f/(f - 2*fy))",
        "Alexander Ostrowski, 1960",
    ),
    "midpoint": RootMethod("Midpoint method", "f/gm", "Joseph Traub, 1964"),
    "traub": RootMethod("Traub's method", "(f + fy)/g", "Joseph Traub, 1964"),
}


def _makers() -> dict[str, Callable[..., Formula]]:
    found = {
        name: _maker(name, group, row)
        for group, rows in GROUPS.items()
        for name, row in rows.items()
    }
    return found | {name: _method(name, method) for name, method in METHODS.items()}


MAKERS = _makers()

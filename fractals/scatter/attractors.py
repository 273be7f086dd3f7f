"""Attractors: a function each, of a step of a map of the plane or of a velocity in space."""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from fractals.kernels.elementary import quotient, sincos
from fractals.kernels.formula import explained, with_options
from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.scatter.attractor import Attractor

MAKERS: dict[str, Callable[..., Attractor]] = {}  # of all attractors, by name


TURNS = {
    "turn": "degrees by which the flow is turned about the z axis",
    "tilt": "degrees of the eye above the plane of x and y",
}


def offered(
    parameters: Mapping[str, float], law: str, move: str = "step", **how: Any
) -> Callable[..., Any]:
    """Return a decorator that offers a step ``(x, y, p)``, whose docstring begins with the title.

    `law`: the equations of the step, parted by "; ". Those in which a parameter is say what it
    means.

    The first line of the docstring may end with who described the attractor, in brackets.
    `parameters` and `how` are fields of `Attractor`, and so is `move`, which the function becomes.
    """

    def offer(function: Callable[..., Any]) -> Callable[..., Any]:
        name, line = function.__name__, (function.__doc__ or "").partition("\n")[0]
        title = line.partition(" (")[0].removesuffix(".")

        @functools.wraps(function)
        def make(**given: float) -> Attractor:
            if given.keys() - parameters.keys():
                raise TypeError("unknown option")
            settings: dict[str, Any] = {"parameters": {**parameters, **given}, move: function}
            return Attractor(name, title, **settings, **how)

        found = {key: _equations(law, key) or TURNS[key] for key in parameters}
        MAKERS[name] = explained(**found)(with_options(make, parameters))
        return function

    return offer


def _equations(law: str, parameter: str) -> str:
    parts = law.split("; ")
    return "; ".join(part for part in parts if re.search(rf"\b{parameter}\b", part))


flow = functools.partial(offered, move="velocity")  # of a velocity ``(x, y, z, p)``


# --- Maps of the plane


@offered(
    {"a": -0.81, "b": -0.92},
    "next x = y sin(x y / b) + cos(a x - y); next y = x + sin(y) / b",
    stride=4.0,
    center=("-0.6", "-0.1"),
    width="5",
)
def bedhead(x, y, p):
    """Bedhead: a product in a sine (Ivan Emrich and Jason Rampe)."""
    a, b = p
    return fma(sincos(x * y / b)[0], y, sincos(fma(a, x, -y))[1]), x + sincos(y)[0] / b


@offered(
    {"a": -1.4, "b": 1.6, "c": 1.0, "d": 0.7},
    "next x = sin(a y) + c cos(a x); next y = sin(b x) + d cos(b y)",
    stride=3.0,
    width="5.2",
)
def clifford(x, y, p):
    """Clifford: a sine and a cosine in each coordinate (Clifford Pickover)."""
    a, b, c, d = p
    return (
        fma(c, sincos(a * x)[1], sincos(a * y)[0]),
        fma(d, sincos(b * y)[1], sincos(b * x)[0]),
    )


@offered(
    {"a": 1.4, "b": -2.3, "c": 2.4, "d": -2.1},
    "next x = sin(a y) - cos(b x); next y = sin(c x) - cos(d y)",
    stride=3.5,
    width="5.6",
)
def de_jong(x, y, p):
    """De Jong: the sine of one coordinate less the cosine of the other (Peter de Jong)."""
    a, b, c, d = p
    return sincos(a * y)[0] - sincos(b * x)[1], sincos(c * x)[0] - sincos(d * y)[1]


@offered(
    {"a": -0.966918, "b": 2.879879, "c": 0.765145, "d": 0.744728},
    "next x = sin(b y) + c sin(b x); next y = sin(a x) + d sin(a y)",
    stride=3.0,
    width="4.2",
)
def fractal_dream(x, y, p):
    """Fractal dream: sines of both coordinates (Clifford Pickover)."""
    a, b, c, d = p
    return (
        fma(c, sincos(x * b)[0], sincos(y * b)[0]),
        fma(d, sincos(y * a)[0], sincos(x * a)[0]),
    )


@offered(
    {"a": 0.008, "b": 0.05, "m": -0.496},
    "next x = u = y + a y (1 - b y²) + f(x); f(x) = m x + 2 (1 - m) x² / (1 + x²)",
    stride=12.0,
    spread=1.0,
    width="46",
)
def gumowski_mira(x, y, p):
    """Gumowski-Mira: wings of a particle in an accelerator (Igor Gumowski and Christian Mira).

    The next point is u = y + a y (1 - b y²) + f(x) and f(u) - x, where
    f(x) = m x + 2 (1 - m) x² / (1 + x²).
    """
    a, b, m = p
    one = number(1, x)
    two = (one - m) * number(2, x)
    bent = fma(m, x, quotient(two * (x * x), fma(x, x, one)))
    u = fma(a * y, fma(-b * y, y, one), y + bent)
    return u, fma(m, u, quotient(two * (u * u), fma(u, u, one))) - x


@offered({"a": 1.4, "b": 0.3}, "next x = 1 - a x² + y; next y = b x", stride=2.5, width="3")
def henon(x, y, p):
    """Hénon: a parabola folded over itself (Michel Hénon)."""
    a, b = p
    return fma(-a * x, x, number(1, x) + y), b * x


@offered(
    {"a": -11.0, "b": 0.05, "c": 0.5},
    "next x = y - sign(x) sqrt(|b x - c|); next y = a - x",
    stride=12.0,
    spread=1.0,
    center=("-5", "-5.5"),
    width="45",
)
def hopalong(x, y, p):
    """Hopalong: a square root with a sign (Barry Martin)."""
    a, b, c = p
    root = sqrt(abs(fma(b, x, -c)))
    return y - select(x < number(0, x), -root, root), a - x


@offered(
    {"u": 0.9},
    "next z = 1 + u z exp(it), t = 0.4 - 6 / (1 + |z|²)",
    stride=2.5,
    settle=60,
    center=("0.6", "-0.6"),
    width="5.4",
)
def ikeda(x, y, p):
    """Ikeda: light that goes round in a cavity (Kensuke Ikeda)."""
    (u,) = p
    one = number(1, x)
    s, c = sincos(number(0.4, x) - quotient(number(6, x), fma(x, x, fma(y, y, one))))
    return fma(u, fma(x, c, -(y * s)), one), u * fma(x, s, y * c)


@offered(
    {"a": 1.5, "b": -1.8, "c": 1.6, "d": 0.9},
    "next x = d sin(a x) - sin(b y); next y = c cos(a x) + cos(b y)",
    stride=3.5,
    width="7",
)
def svensson(x, y, p):
    """Svensson: sines and cosines with weights (Johnny Svensson)."""
    a, b, c, d = p
    return (
        fma(d, sincos(a * x)[0], -sincos(b * y)[0]),
        fma(c, sincos(a * x)[1], sincos(b * y)[1]),
    )


LARGEST = 24  # symmetry


def make_icon_step(symmetry):
    """Return the step of a symmetry."""

    def step(x, y, p):
        """Return the next point: (l + a |z|² + b Re zⁿ + i w) z + g conj(z)ⁿ⁻¹."""
        u, v = x, y
        for _ in range(symmetry - 2):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        rising = fma(u, x, -(v * y))
        factor = fma(p[1], fma(x, x, y * y), fma(p[2], rising, p[0]))
        return (
            fma(factor, x, fma(p[3], u, -(p[4] * y))),
            fma(factor, y, fma(-p[3], v, p[4] * x)),
        )

    return step


@explained(
    l="next z = (l + a |z|² + b Re zⁿ + i w) z + g conj(z)ⁿ⁻¹",
    a="factor of |z|² in (l + a |z|² + b Re zⁿ + i w) z",
    b="factor of Re zⁿ in (l + a |z|² + b Re zⁿ + i w) z",
    g="factor of conj(z)ⁿ⁻¹ in the next z",
    w="factor of i z in the next z, which turns",
    symmetry=f"n, the number of corners, 3 to {LARGEST}",
)
# `l` is the name in the book.
def symmetric_icon(l=-2.5, a=5.0, b=-1.9, g=1.0, w=0.188, symmetry=5):  # noqa: E741
    """Symmetric icon: a map with the symmetry of a polygon (Michael Field, Martin Golubitsky)."""
    if isinstance(symmetry, bool) or not isinstance(symmetry, int) or not 3 <= symmetry <= LARGEST:
        raise ValueError(f"symmetry is a whole number from 3 to {LARGEST}")
    return Attractor(
        "symmetric_icon",
        "Symmetric icon: a map with the symmetry of a polygon",
        make_icon_step(symmetry),
        parameters={"l": l, "a": a, "b": b, "g": g, "w": w, "symmetry": symmetry},
        stride=2.0,
        spread=0.3,
        width="2.4",
    )


MAKERS["symmetric_icon"] = symmetric_icon


@offered(
    {"a": 0.9, "b": -0.6013, "c": 2.0, "d": 0.5},
    "next x = x² - y² + a x + b y; next y = 2 x y + c x + d y",
    stride=1.0,
    start=(-0.72, -0.64, 0.0),
    spread=0.01,
    settle=200,
    center=("-0.4", "-0.5"),
    width="3",
)
def tinkerbell(x, y, p):
    """Tinkerbell: the square of a point, and a linear map."""
    a, b, c, d = p
    return fma(x, x, fma(-y, y, fma(a, x, b * y))), fma(x + x, y, fma(c, x, d * y))


# --- Flows in space


@flow(
    {"a": 0.95, "b": 0.7, "c": 0.6, "d": 3.5, "e": 0.25, "f": 0.1, "turn": 20.0, "tilt": 15.0},
    "dx/dt = (z - b) x - d y; dy/dt = d x + (z - b) y; "
    "dz/dt = c + a z - z³/3 - (x² + y²) (1 + e z) + f z x³",
    stride=6.0,
    center=("0", "0.6"),
    width="4.2",
    start=(0.1, 0.0, 0.0),
    spread=0.1,
    settle=1000,
    time=0.01,
)
def aizawa(x, y, z, p):
    """Aizawa: a sphere with a spindle (Yoji Aizawa)."""
    a, b, c, d, e, f, _, _ = p
    s = fma(x, x, y * y)
    lift = fma(-s, fma(e, z, number(1, x)), fma(f * z, x * x * x, fma(a, z, c)))
    return (
        fma(z - b, x, -(d * y)),
        fma(d, x, (z - b) * y),
        fma(number(-1 / 3, x) * z, z * z, lift),
    )


@flow(
    {"a": 1.4, "turn": 45.0, "tilt": 35.0},
    "dx/dt = -a x - 4 y - 4 z - y², and so on for y and z",
    stride=90.0,
    center=("0", "-4"),
    width="32",
    start=(-5.0, 0.0, 0.0),
    spread=1.0,
    settle=800,
    time=0.004,
)
def halvorsen(x, y, z, p):
    """Halvorsen: three arms in a ring (Arne Halvorsen)."""
    a, four = p[0], number(4, x)
    return (
        fma(-a, x, fma(-y, y, -(four * (y + z)))),
        fma(-a, y, fma(-z, z, -(four * (z + x)))),
        fma(-a, z, fma(-x, x, -(four * (x + y)))),
    )


@flow(
    {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3, "turn": -20.0, "tilt": 0.0},
    "dx/dt = sigma (y - x); dy/dt = x (rho - z) - y; dz/dt = x y - beta z",
    stride=180.0,
    center=("0", "25"),
    width="88",
    start=(0.0, 0.0, 25.0),
    spread=15.0,
    settle=600,
    time=0.004,
)
def lorenz(x, y, z, p):
    """Lorenz: the butterfly of convection (Edward Lorenz)."""
    sigma, rho, beta, _, _ = p
    return sigma * (y - x), fma(x, rho - z, -y), fma(x, y, -(beta * z))


@flow(
    {"a": 0.2, "b": 0.2, "c": 5.7, "turn": 0.0, "tilt": 25.0},
    "dx/dt = -y - z; dy/dt = x + a y; dz/dt = b + z (x - c)",
    stride=25.0,
    center=("0.5", "6"),
    width="46",
    start=(0.0, -4.0, 0.0),
    spread=2.0,
    settle=2000,
    time=0.01,
)
def roessler(x, y, z, p):
    """Rössler: a band folded once (Otto Rössler)."""
    a, b, c, _, _ = p
    return -(y + z), fma(a, y, x), fma(z, x - c, b)


@flow(
    {"b": 0.208186, "turn": 45.0, "tilt": 35.0},
    "dx/dt = sin(y) - b x, and so on for y and z",
    stride=1.7,
    width="15",
    spread=3.0,
    settle=1000,
    time=0.04,
)
def thomas(x, y, z, p):
    """Thomas: three sines in a ring (René Thomas)."""
    b = p[0]
    return fma(-b, x, sincos(y)[0]), fma(-b, y, sincos(z)[0]), fma(-b, z, sincos(x)[0])

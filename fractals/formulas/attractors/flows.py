"""Attractors that are flows: a function returns the velocity at a point of space."""

from fractals.formulas.attractors._offered import flow
from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma, number


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

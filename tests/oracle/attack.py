"""Views made at random, on purpose where perturbation is weak; the oracle judges them.

Nothing of `fractals` is imported here. A view is a table as a scene file has it, with the decimal
digits in which its orbits must be computed.
"""

import math
import random
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mpc, mpf
from oracle import naive

SIZE = (64, 36)
PIXELS = 12  # of each view
MOVE = mpf("1e-6")  # of a pixel: a sample whose count changes with it is not stable
CHAOTIC = 1e-6  # farther apart, orbits of neighbors may escape at any time, as folds let them
FOLDED = (
    "burning_ship",
    "celtic",
    "buffalo",
    "perpendicular_burning_ship",
    "shark_fin",
    "heart",
    "celtic_heart",
)
POWERS = (2, 2, 2, 3, 4, 5, 6, 7, 8)
WRITTEN = {  # steps as a user's expression
    "mandelbrot": "z^2 + c",
    "multibrot": "z^3 + c",
    "tricorn": "conj(z)^2 + c",
    "burning_ship": "absx(absy(z))^2 + c",
    "celtic": "absx(z^2) + c",
    "buffalo": "absx(absy(z^2)) + c",
}
FIXED = ("0", "1"), ("-2", "0"), ("0.3", "0.6"), ("-0.4", "0.59"), ("0.26", "0"), ("-0.8", "0.156")


@dataclass(frozen=True)
class View:
    """A place, and what the oracle needs to know to count there."""

    name: str
    formula: str
    power: int
    center: Any
    width: Any
    limit: int
    digits: int
    radius: float = 256.0
    julia: Any = None
    written: dict[str, str] | None = None  # the formula as a scene file has it
    move: Any = MOVE

    def table(self) -> dict[str, Any]:
        """Return the keys of a scene."""
        with mpmath.workdps(self.digits):
            spelled = {"name": self.formula}
            power = {"power": self.power} if self.formula == "multibrot" else {}
            keys: dict[str, Any] = {
                "formula": self.written or {**spelled, **power},
                "center": _text(self.center, self.digits),
                "width": mpmath.nstr(self.width, 7),
                "size": SIZE,
                "max_iterations": self.limit,
                "escape_radius": self.radius,
            }
            if self.julia is not None:
                keys["julia"] = _text(self.julia, self.digits)
        return keys

    def pixels(self, dice: random.Random) -> list[tuple[int, int, int]]:
        """Return column, row and exact count of samples that are stable."""
        chosen = [(dice.randrange(SIZE[0]), dice.randrange(SIZE[1])) for _ in range(PIXELS)]
        found = []
        with mpmath.workdps(self.digits):
            width = mpf(mpmath.nstr(self.width, 7))
            by = self.move * width / SIZE[0]
            for i, j in chosen:
                center = (self.center.real, self.center.imag)
                point = naive.position(i, j, SIZE, center, width)
                options = self.julia, self.limit, self.radius
                n, z = naive.sample(self.formula, point, *options, self.power)
                if self.written and n == self.limit:
                    moved = naive.sample(self.formula, point + by / 10**6, *options, self.power)[1]
                    if abs(moved - z) > CHAOTIC:
                        continue
                if naive.is_stable(self.formula, point, *options, by, self.power):
                    found.append((i, j, n))
        return found


def views(seed: object, count: int) -> list[View]:
    """Return so many views, of each kind in turn."""
    dice = random.Random(str(seed))
    return [KINDS[k % len(KINDS)](dice) for k in range(count)]


def _text(z: Any, digits: int) -> tuple[str, str]:
    return tuple(mpmath.nstr(part, digits, strip_zeros=False) for part in (z.real, z.imag))


def _depth(dice: random.Random, least: float = 5, most: float = 700) -> float:
    """Return minus the decimal exponent of a width: shallow, middling and deep ones alike."""
    return math.exp(dice.uniform(math.log(least), math.log(most)))


def _moved(dice: random.Random, center: Any, width: Any) -> Any:
    """Return a center on the weak place, or beside it by a part of the view, however small."""
    way = dice.randrange(3)
    if way == 0:
        return center
    far = width * mpf(10) ** -dice.uniform(0.3, 25)
    return center + far * mpc(dice.uniform(-1, 1), dice.uniform(-1, 1) if way == 1 else 0)


def antenna(dice: random.Random, period: int, digits: int) -> Any:
    """Return the nucleus of z² + c of this period that is nearest to -2."""
    with mpmath.workdps(digits):
        c = -2 + 3 * mpmath.pi**2 / 2 / mpf(4) ** period
        for _ in range(12 + period // 8):
            z, d = mpf(0), mpf(0)
            for _ in range(period):
                z, d = z * z + c, 2 * z * d + 1
            c -= z / d
        return mpc(c)


def on_kinks(dice: random.Random) -> View:
    """Return a view of a folded formula at -2 or at a nucleus on the real axis."""
    formula, depth = dice.choice(FOLDED), _depth(dice)
    digits = int(depth * 1.2) + 60
    if dice.random() < 0.5:
        center, limit = mpc(-2), int(depth * 4) + 400
        name = "-2"
    else:
        period = max(3, int(depth / 1.204))  # its size is about 16**-period
        center, limit = antenna(dice, period, 2 * digits), 30 * period + 200
        name = f"nucleus of period {period}"
    with mpmath.workdps(2 * digits):
        width = mpf(10) ** (-depth + (0 if name == "-2" else dice.uniform(0.5, 2.5)))
        center = _moved(dice, center, width)
    return View(
        f"kinks: {formula}, {name}, 1e-{depth:.1f}", formula, 2, center, width, limit, 2 * digits
    )


def on_kinks_of_julia_sets(dice: random.Random) -> View:
    """Return a view of a folded Julia set on an axis, a diagonal or their first preimage."""
    formula, depth = dice.choice(FOLDED), _depth(dice, 5, 400)
    digits = int(2.2 * depth) + 60
    with mpmath.workdps(digits):
        a = mpf(dice.choice(["0.5", "0.25", "0.75", "1"]))
        center = dice.choice([mpc(a, a), mpc(a, -a), mpc(a, 0), mpc(0, a), mpc(0)])
        width = mpf(10) ** -depth
        center = _moved(dice, center, width)
        julia = mpc(*map(mpf, dice.choice([("-1.75", "0"), ("-0.5", "-0.8"), ("-2", "0"), *FIXED])))
    name = f"kinks: Julia set of {formula}, 1e-{depth:.1f}"
    limit = int(20 * depth) + 500
    return View(name, formula, 2, center, width, limit, digits, julia=julia)


def misiurewicz(dice: random.Random, power: int, digits: int) -> Any:
    """Return a c whose orbit comes to a cycle after some steps, by Newton's method."""
    for _ in range(60):
        before, period = dice.randrange(2, 7), dice.randrange(1, 4)
        c = mpc(dice.uniform(-1.5, 0.5), dice.uniform(0, 1.2))
        with mpmath.workdps(digits):
            for _ in range(60):
                z, d, kept = mpc(0), mpc(0), None
                for n in range(before + period):
                    if n == before:
                        kept = z, d
                    d = power * z ** (power - 1) * d + 1
                    z = z**power + c
                slope = d - kept[1]
                if slope == 0 or abs(z) > 100:
                    break
                move = (z - kept[0]) / slope
                c -= move
                if abs(move) < mpf(10) ** (-digits + 10):
                    if abs(c) > 0.3:
                        return c
                    break
    return mpc(0, 1)


def preimage(dice: random.Random, julia: Any, power: int, steps: int) -> Any:
    """Return a point that comes to 0 after so many steps."""
    z = mpc(0)
    for _ in range(steps):
        z = (z - julia) ** (mpf(1) / power) * mpmath.expjpi(mpf(2 * dice.randrange(power)) / power)
    return z


def at_preimages(dice: random.Random) -> View:
    """Return a view of a Julia set where a step takes neighbors together."""
    power, steps = dice.choice(POWERS), dice.randrange(5)
    depth = _depth(dice, 5, 700 / power)
    digits = int((power + 1) * depth) + 60
    with mpmath.workdps(digits):
        if dice.random() < 0.5:
            julia = misiurewicz(dice, power, digits)
        else:
            julia = mpc(*map(mpf, dice.choice(FIXED)))
        width = mpf(10) ** -depth
        center = _moved(dice, preimage(dice, julia, power, steps), width)
    formula = "mandelbrot" if power == 2 else "multibrot"
    name = f"preimage {steps} of 0, power {power}, 1e-{depth:.1f}"
    return View(name, formula, power, center, width, int(20 * depth) + 800, digits, julia=julia)


def near_radius(dice: random.Random) -> View:
    """Return a view on a circle, or a curve, where orbits come to the escape radius."""
    depth = _depth(dice)
    digits = int(depth) + 60
    with mpmath.workdps(digits):
        width = mpf(10) ** -depth
        if dice.random() < 0.4:
            formula = dice.choice(["mandelbrot", *FOLDED])
            radius, center, steps = dice.choice([2.0, 2.0, 2.01, 2.3, 3.0]), mpc(-2), 1
        else:
            formula = dice.choice(["mandelbrot", "mandelbrot", "burning_ship", "celtic"])
            radius, steps = dice.choice([2.0, 2.5, 4.0, 10.0, 256.0]), dice.randrange(1, 7)
            direction = mpmath.expjpi(mpf(dice.uniform(0, 2)))
            near, far = mpf(0), mpf(radius) + 1  # of points on a ray: within and beyond
            for _ in range(int(digits * 3.4)):
                middle = (near + far) / 2
                n = naive.escape(formula, 0, middle * direction, steps + 1, radius)[0]
                near, far = (near, middle) if n <= steps else (middle, far)
            center = far * direction
        center = _moved(dice, center, width)
    name = f"radius {radius:g}: {formula}, step {steps}, 1e-{depth:.1f}"
    return View(name, formula, 2, center, width, int(4 * depth) + 400, digits, radius)


def parabolic(dice: random.Random) -> View:
    """Return a shallow view beside a point where the multiplier of a cycle is a root of unity."""
    formula, power = "mandelbrot", 2
    depth, far = dice.uniform(5, 13), 10 ** -dice.uniform(1.3, 3.3)
    with mpmath.workdps(50):
        kind = dice.randrange(4)
        if kind == 0:
            center = mpc("-1.4011551890920506004") - far / 10
        elif kind == 1:
            center = mpc("-1.25") + mpc(0, far)
        else:
            p, q = dice.choice([(0, 1), (1, 2), (1, 3), (2, 5), (1, 7)])
            turn = mpmath.expjpi(mpf(2 * p) / q)
            if kind == 3:
                power = dice.choice([3, 4, 7])
                formula = "multibrot"
            z = (turn / power) ** (mpf(1) / (power - 1))
            c = z - z**power
            out = 1j * turn if q > 1 else mpc(1)
            center = c + far * out * dice.choice([1, -1] if q > 1 else [1])
        width = mpf(10) ** -depth
    name = f"parabolic: power {power}, {mpmath.nstr(center, 6)}, 1e-{depth:.1f}"
    return View(name, formula, power, center, width, 3000, 50)


def beside_a_minibrot(dice: random.Random) -> View:
    """Return a flat view beside a minibrot on the antenna."""
    period = dice.randrange(8, 60)
    size = 16.0**-period if period < 250 else 0.0
    smaller = dice.uniform(5, 30)
    depth = 1.204 * period + smaller
    digits = int(depth) + 60
    center = antenna(dice, period, digits)
    with mpmath.workdps(digits):
        far = mpc(dice.uniform(-1, 1), dice.uniform(-1, 1)) * size * 10 ** dice.uniform(0, 3)
        width = mpf(10) ** -depth
    formula = dice.choice(["mandelbrot", "mandelbrot", *FOLDED])
    name = f"flat: {formula}, beside period {period}, 1e-{depth:.1f}"
    return View(name, formula, 2, center + far, width, 40 * period + 1000, digits)


def at_misiurewicz_points(dice: random.Random) -> View:
    """Return a view of the tips and spirals of any power, or of a dendrite's own Julia set."""
    power, depth = dice.choice(POWERS), _depth(dice)
    digits = int(2 * depth) + 60
    center = misiurewicz(dice, power, digits)
    with mpmath.workdps(digits):
        width = mpf(10) ** -depth
        julia = center if dice.random() < 0.4 else None
        center = _moved(dice, center, width)
    formula = "mandelbrot" if power == 2 else "multibrot"
    name = f"Misiurewicz{', Julia set' if julia is not None else ''}, power {power}, 1e-{depth:.1f}"
    return View(name, formula, power, center, width, int(20 * depth) + 500, digits, julia=julia)


def several_steps(dice: random.Random) -> View:
    """Return a view of the border of expressions in turn, or of a program of several statements.

    They have no perturbed step: it is so wide that rounding moves no sample far.
    """
    names = [dice.choice(sorted(WRITTEN)) for _ in range(dice.randrange(2, 5))]
    julia = mpc(*map(mpf, dice.choice(FIXED[2:]))) if dice.random() < 0.3 else None
    steps = [WRITTEN[name] for name in names]
    if dice.random() < 0.5:
        formula = "; ".join(names)
        written = {"name": "expression", "step": "; ".join(steps)}
    else:
        formula = ", ".join(names)
        step = "; ".join(f"z = {each}" for each in steps)
        written = {"name": "program", "start": "z = 0", "step": step}
    depth, limit, digits = dice.uniform(1, 6), 600, 60
    with mpmath.workdps(digits):
        if julia is not None and naive.sample(formula, 0, julia, limit, 256, 3)[0] < limit:
            julia = None  # no point of its ray need be inside
        direction, near, far = mpmath.expjpi(mpf(dice.uniform(0, 2))), mpf(0), mpf(4)
        for _ in range(60):
            middle = (near + far) / 2
            n = naive.sample(formula, middle * direction, julia, limit, 256, 3)[0]
            near, far = (near, middle) if n < limit else (middle, far)
        center, width = near * direction, mpf(10) ** -depth
    name = f"several steps: {written}, 1e-{depth:.1f}"
    options = {"julia": julia, "written": written, "move": mpf("1e-4")}
    return View(name, formula, 3, center, width, limit, digits, **options)


KINDS = (
    on_kinks,
    at_preimages,
    near_radius,
    parabolic,
    on_kinks_of_julia_sets,
    beside_a_minibrot,
    at_misiurewicz_points,
    several_steps,
)

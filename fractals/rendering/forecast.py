"""Estimates of the seconds that a picture takes, before it is drawn."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from fractals.backends.devices import LIMITS
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene

# Cost of a perturbed step that no table skips, in direct steps. Measured on one CPU thread with
# stripe_average and triangle_average: 12 and 13. Steps with exponents of their own: 28 and 40.
# Higher values shorten the launches of a GPU (see iteration.py) and lengthen the estimates.
PERTURBED_STEP_COST = 12
FLOATEXP_STEP_COST = 30
COUNTS_A_LENGTH = 10  # steps of a sample's orbit, for each point of the reference orbit
LENGTH_A_DIGIT = 10  # points of a reference orbit, for each digit of the coordinates
# Mean steps of a sample, where orbits are not worth iterating to know: the mean of the gallery's
# scenes (median 22, at most 300), measured by `mean_count`.
TYPICAL_COUNT = 50
ENCODED = 1e8  # pixels a second that a thread compresses for a PNG (Zen 5, gallery scenes)


def direct_seconds(device: str, steps: float, samples: int) -> float:
    """Return the seconds that one thread takes for direct iteration and coloring."""
    limits = LIMITS[device]
    return steps / limits.steps_per_second + samples / limits.samples_per_second


def deep_seconds(device: str, samples: int) -> float:
    """Return the seconds that one thread takes for perturbation and coloring."""
    limits = LIMITS[device]
    return samples * (limits.seconds_per_deep_sample + 1 / limits.samples_per_second)


def statistics_seconds(device: str, steps: float, extended: bool) -> float:
    """Return the seconds that one thread takes for perturbed steps, none of them skipped."""
    cost = FLOATEXP_STEP_COST if extended else PERTURBED_STEP_COST
    return steps * cost / LIMITS[device].steps_per_second


def statistics_cost(planes: int) -> float:
    """Return the factor by which accumulating `planes` numbers lengthens a step."""
    return 1 + planes / 4


def reference_length(scene: Scene, digits: int) -> int:
    """Return an estimate of a reference orbit's length: periods in view grow with the digits.

    A high limit says nothing of it: two thousand million stands for "no limit".
    """
    length, limit = LENGTH_A_DIGIT * digits, scene.iteration.max_iterations
    return min(length, limit) if isinstance(limit, int) else length


def reference_seconds(bits: int, length: int) -> float:
    """Return the seconds that a reference orbit of `length` points takes."""
    return length * float(1e-6 + 0.35e-6 * (bits / 1000) ** 1.6)


def mean_count(
    scene: Scene,
    formula: Formula,
    center: tuple[Fraction, Fraction],
    width: Fraction,
    finest: Fraction,
    max_iterations: int,
    interior_shortcuts: bool,
) -> float:
    """Return the mean steps of a sample, estimated from 32 x 32 orbits iterated in NumPy."""
    rows = columns = 32
    x, y = (float(part) for part in center)
    half = float(width) / 2
    a = np.tile(x + half * np.linspace(-1, 1, columns), (rows, 1))
    b = (y + half * scene.image.size[1] / scene.image.size[0] * np.linspace(-1, 1, rows))[
        :, None
    ] + 0 * a
    if scene.view.projection == "exponential":  # `finest` is the length of the innermost circle
        steps = np.arange(rows)[:, None] / rows * math.log(finest / math.pi / float(width))
        turns = np.linspace(0, 2 * math.pi, columns)
        a, b = (f(turns) * half * np.exp(steps) + at for f, at in ((np.cos, x), (np.sin, y)))
    u, v = a, b
    if scene.julia:
        a, b = (float(Fraction(Decimal(text))) + 0 * a for text in scene.julia)
    points = formula.orbit(scene.julia is not None, u, v, a, b)
    most = min(max_iterations, 2000)
    total = np.zeros(a.shape)
    inside = np.ones(a.shape, bool)
    left, look = a.size, 64
    with np.errstate(all="ignore"):
        for done, point in enumerate(itertools.islice(points, most)):
            inside &= formula.is_near(point, 1e6)
            if not inside.any():
                break
            total += inside
            if done == look:
                before, left, look = left, int(np.count_nonzero(inside)), 2 * look
                if left == before < a.size:
                    break  # none has escaped since half as many steps were done: the rest stays
    beyond = 0 if interior_shortcuts else max_iterations
    return float(np.where(inside, beyond, total).mean()) + 1

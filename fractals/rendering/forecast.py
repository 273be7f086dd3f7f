"""What a picture costs before it is drawn: seconds and bytes, roughly."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from fractals.backends.devices import limits_of
from fractals.scene.model import Scene

BYTES_A_SAMPLE = {"float64": 4 + 2 * 16, "float32": 4 + 2 * 8}  # count, z and dz
BYTES_A_TILE = 200  # of a Tile object
BYTES_A_THREAD = 2**22  # scratch of the loops
MOST_BANDS = 3  # in memory: drawn, compressed, and one to spare
HEAVY, HEAVY_EXTENDED = 5, 12  # steps of direct iteration, that a single one of perturbation takes
COUNTS_A_LENGTH = 10  # of the reference orbit, that a sample's orbit is long
LENGTH_A_DIGIT = 10  # points of a reference orbit
BYTES_A_POINT = 100  # of the orbit and the tables that skip along it


def direct_seconds(device: str, steps: float, samples: int) -> float:
    """Return about how long one thread takes for direct iteration, and for coloring."""
    limits = limits_of(device)
    return steps / limits.steps_per_second + samples / limits.samples_per_second


def deep_seconds(device: str, samples: int) -> float:
    """Return about how long one thread takes for perturbation, and for coloring."""
    limits = limits_of(device)
    return samples * (limits.seconds_per_deep_sample + 1 / limits.samples_per_second)


def watched_seconds(device: str, steps: float, extended: bool) -> float:
    """Return about how long one thread takes for steps of perturbation, none of them skipped."""
    return steps * (HEAVY_EXTENDED if extended else HEAVY) / limits_of(device).steps_per_second


def watching(planes: int) -> float:
    """Return how many times as long a step takes where so many numbers are watched."""
    return 1 + planes / 4


def reference_length(scene: Scene, digits: int) -> int:
    """Return a guess of a reference orbit's length: the periods in view grow with the digits."""
    length = LENGTH_A_DIGIT * digits
    if isinstance(scene.iteration.max_iterations, int):
        return min(
            scene.iteration.max_iterations, max(length, scene.iteration.max_iterations // 10)
        )
    return length


def reference_seconds(bits: int, length: int) -> float:
    """Return about how long an orbit of `length` points takes: multiplying grows with the bits."""
    return length * float(1e-6 + 0.35e-6 * (bits / 1000) ** 1.6)


def memory(
    scene: Scene,
    precision: str,
    raw: bool,
    tiles: Sequence[Any],
    band: int,
    threads: int,
    planes: int = 0,
) -> int:
    """Return the most bytes that a picture, or its bands, and the tiles under way take.

    `planes`: how many numbers are watched.
    """
    a_sample = BYTES_A_SAMPLE[precision] + planes * np.dtype(precision).itemsize
    n2 = scene.image.supersampling**2
    width, height = scene.image.size
    tile: int = max(tile.width * tile.height for tile in tiles)
    if raw:
        kept = width * height * n2 * a_sample
    else:  # twice: as pixels, and compressed
        kept = 2 * width * min(height, MOST_BANDS * band) * 3 * scene.image.bits // 8
    kept += (threads + 1) * BYTES_A_THREAD
    return kept + threads * tile * n2 * a_sample + BYTES_A_TILE * len(tiles)


def mean_count(
    scene: Scene,
    center: tuple[Fraction, Fraction],
    width: Fraction,
    finest: Fraction,
    max_iterations: int,
    interior_shortcuts: bool,
) -> float:
    """Return about how many steps a sample takes, from 32 x 32 orbits iterated in NumPy."""
    formula = scene.make_formula()
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
    z, before = formula.begin(scene.julia is not None, a, b), (0 * a, 0 * b)
    if scene.julia:
        a, b = (float(Fraction(Decimal(text))) + 0 * a for text in scene.julia)
    most = min(max_iterations, 2000)
    total = np.zeros(a.shape)
    inside = np.ones(a.shape, bool)
    with np.errstate(all="ignore"):
        for _ in range(most):
            z, before = formula.go_on(z, before, a, b), z
            if formula.tolerance:
                inside &= np.hypot(z[0] - before[0], z[1] - before[1]) > formula.tolerance
            if formula.escapes:
                inside &= z[0] * z[0] + z[1] * z[1] <= 1e6
            if not inside.any():
                break
            total += inside
    beyond = 0 if interior_shortcuts else max_iterations
    return float(np.where(inside, beyond, total).mean()) + 1

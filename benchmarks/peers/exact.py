"""Counts by direct iteration in arbitrary precision: the judge, with no code of either program."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import gmpy2

NEARBY = Fraction(1, 100_000)  # of a pixel: a count that changes when moved so far is chaotic
SPARE_BITS = 128  # beyond those that tell two pixels apart
BUDGET = 15_000_000  # steps for one place: half a minute

Place = tuple[Fraction, Fraction]
Test = Callable[[Any, Any, int, int, Any], int]


def count_power(a: Any, b: Any, power: int, max_iterations: int, radius2: Any) -> int:
    """Return the least n >= 1 with \\|z_n\\| > radius, of z -> z**power + c; else the limit."""
    x, y = a, b
    if power != 2:
        c = z = gmpy2.mpc(a, b)
        for n in range(1, max_iterations):
            if gmpy2.norm(z) > radius2:
                return n
            w = z
            for _ in range(power - 1):
                w = w * z
            z = w + c
        return max_iterations
    for n in range(1, max_iterations):
        xx, yy = x * x, y * y
        if xx + yy > radius2:
            return n
        y = 2 * (x * y) + b
        x = xx - yy + a
    return max_iterations


def count_burning_ship(a: Any, b: Any, power: int, max_iterations: int, radius2: Any) -> int:
    """Return the same of z -> (\\|x\\| + i\\|y\\|)**2 + c."""
    x, y = a, b
    for n in range(1, max_iterations):
        xx, yy = x * x, y * y
        if xx + yy > radius2:
            return n
        y = 2 * abs(x * y) + b
        x = xx - yy + a
    return max_iterations


def count_perpendicular(a: Any, b: Any, power: int, max_iterations: int, radius2: Any) -> int:
    """Return the same of x + iy -> x**2 - y**2 + 2ix\\|y\\| + c."""
    x, y = a, b
    for n in range(1, max_iterations):
        xx, yy = x * x, y * y
        if xx + yy > radius2:
            return n
        y = 2 * (x * abs(y)) + b
        x = xx - yy + a
    return max_iterations


COUNTS: dict[str, Test] = {
    "mandelbrot": count_power,
    "multibrot": count_power,
    "burning_ship": count_burning_ship,
    "perpendicular_burning_ship": count_perpendicular,
}


class Judge:
    """Counts the pixels of a view.

    Parameters
    ----------
    formula : str
        A key of `COUNTS`.
    power : int
        Of a multibrot; 2 for all else.
    center : tuple of Fraction
        Of the picture, in the plane.
    pixel : Fraction
        The side of a pixel there.
    size : tuple of int
        Width and height in pixels.
    """

    def __init__(
        self,
        formula: str,
        power: int,
        center: Place,
        pixel: Fraction,
        size: tuple[int, int],
        max_iterations: int,
        escape_radius: float,
    ) -> None:
        self._test, self._power = COUNTS[formula], power
        self.center, self.pixel, self.size = center, pixel, size
        self.max_iterations, self._radius = max_iterations, escape_radius
        ratio = 1 / pixel
        self._bits = SPARE_BITS + max(0, (ratio.numerator // ratio.denominator).bit_length())
        self.steps = 0

    def count(self, column: Fraction | int, row: Fraction | int) -> int:
        """Return the count at a pixel's center; pixels count from the top left one."""
        x, y = self.center
        a = x + (2 * Fraction(column) + 1 - self.size[0]) * self.pixel / 2
        b = y - (2 * Fraction(row) + 1 - self.size[1]) * self.pixel / 2
        with gmpy2.context(gmpy2.get_context(), precision=self._bits):
            place = (gmpy2.mpfr(gmpy2.mpq(p.numerator, p.denominator)) for p in (a, b))
            radius2 = gmpy2.mpfr(self._radius) ** 2
            found = self._test(*place, self._power, self.max_iterations, radius2)
        self.steps += found
        return found

    def stable(self, column: int, row: int) -> int | None:
        """Return a pixel's count, or None where a move of `NEARBY` changes it."""
        found = self.count(column, row)
        for dx, dy in ((NEARBY, 0), (-NEARBY, 0), (0, NEARBY), (0, -NEARBY)):
            if self.count(column + dx, row + dy) != found:
                return None
        return found

    def sample(self, pixels: int, budget: int = BUDGET) -> Iterator[tuple[int, int, int]]:
        """Yield column, row and count of random stable pixels: fewer where the budget is spent."""
        width, height = self.size
        chosen = random.Random(0)
        found = 0
        while found < pixels and self.steps < budget:
            k = chosen.randrange(width * height)
            count = self.stable(k % width, k // width)
            if count is not None:
                found += 1
                yield k % width, k // width, count

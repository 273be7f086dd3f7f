"""Recomputes pixels of a picture: by plain Python, and in arbitrary precision where asked."""

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

from fractals.errors import SceneError
from fractals.io.image import read_pixels
from fractals.io.load import load_scene
from fractals.kernels.formula import Formula
from fractals.rendering.drawing import Drawing, draw_tile, open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import PERIOD, shifts
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import matrix
from fractals.scene.model import Scene

NEARBY = Fraction(1, 100_000)  # of a pixel: a count that changes when moved this far is chaotic
SPARE_BITS = 64


@dataclass(frozen=True)
class Pixel:
    """What was found at a pixel.

    Attributes
    ----------
    drawn, expected : tuple of int
        sRGB bytes in the picture, and as recomputed.
    wrong, unstable : int
        Samples whose count differs from the exact one: with a stable exact count, and with one that
        changes when the sample moves by a hundred-thousandth of a pixel. Both are 0 unless asked
        for.
    """

    x: int
    y: int
    drawn: tuple[int, ...]
    expected: tuple[int, ...]
    wrong: int = 0
    unstable: int = 0

    @property
    def right(self) -> bool:
        """Tell whether the picture has the right color here, from right counts."""
        return self.drawn == self.expected and not self.wrong


def verify(
    path: str | Path,
    pixels: int = 20,
    exact: bool = False,
    seed: int = 0,
    on_message: Callable[[str], None] = warnings.warn,
) -> list[Pixel]:
    """Recompute `pixels` random pixels of a picture with the backend of plain Python loops.

    Parameters
    ----------
    exact : bool
        Also iterate their samples in arbitrary precision, and compare the counts.
    seed : int
        Chooses the pixels.
    on_message : callable
        As of `fractals.render`.

    Raises
    ------
    SceneError
        The picture carries no scene, is not of its size, or can't be drawn pixel by pixel.
    """
    scene = load_scene(path)
    # force: a few pixels cost little
    options = RenderOptions(device="python", force=True, on_message=on_message)
    plan, backend = open_plan(scene, options)
    if plan.layers.whole:
        raise SceneError(f"{path}: the colors of its pixels depend on all others: draw it anew")
    drawn = read_pixels(path, scene.image.bits, scene.image.size)
    width, height = scene.image.size
    drawing = open_drawing(plan, backend, options)
    chosen = random.Random(seed).sample(range(width * height), min(pixels, width * height))
    return [_look(drawing, drawn, k % width, k // width, exact) for k in sorted(chosen)]


def _look(drawing: Drawing, drawn: Any, x: int, y: int, exact: bool) -> Pixel:
    tile = Tile(x, y, 1, 1)
    raw, pixels = drawing.source.iterate(tile), np.empty((1, 1, 3), drawing.dtype)
    draw_tile(drawing, tile, pixels)
    expected = pixels[0, 0]
    wrong = unstable = 0
    # The limit of a deep view is found when the view is drawn.
    plan = replace(drawing.plan, max_iterations=drawing.source.max_iterations)
    n = plan.supersampling
    for v in range(n if exact else 0):
        for u in range(n):
            count = int(raw[0][v, u])
            if count != exact_count(plan.scene, plan, x * n + u, y * n + v):
                if _stable(plan.scene, plan, x * n + u, y * n + v):
                    wrong += 1
                else:
                    unstable += 1
    return Pixel(x, y, tuple(map(int, drawn[y, x])), tuple(map(int, expected)), wrong, unstable)


def _stable(scene: Scene, plan: Plan, column: int, row: int) -> bool:
    moves = ((NEARBY, 0), (-NEARBY, 0), (0, NEARBY), (0, -NEARBY))
    counts = {
        exact_count(scene, plan, column + Fraction(dx), row + Fraction(dy)) for dx, dy in moves
    }
    return len(counts | {exact_count(scene, plan, column, row)}) == 1


def exact_count(scene: Scene, plan: Plan, column: Fraction | int, row: Fraction | int) -> int:
    """Return the count of one sample, iterated in arbitrary precision.

    `column` and `row` count samples from the top left one, and may lie between them.
    """
    formula: Formula = scene.make_formula()
    bits = SPARE_BITS + int(4 * plan.digits) + 53
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        x, y = _position(scene, plan, column, row)
        a, b = gmpy2.mpfr(x), gmpy2.mpfr(y)
        z = formula.begin(scene.julia is not None, a, b)
        before = gmpy2.mpfr(0), gmpy2.mpfr(0)
        if scene.julia:
            a, b = (gmpy2.mpfr(text) for text in scene.julia)
        bound = gmpy2.mpfr(scene.iteration.escape_radius) ** 2
        for n in range(1, plan.max_iterations):
            z, before = formula.go_on(z, before, a, b, n - 1)
            moved = (z[0] - before[0]) ** 2 + (z[1] - before[1]) ** 2
            if formula.tolerance and not moved > formula.tolerance**2:
                return n
            if formula.escapes and z[0] * z[0] + z[1] * z[1] > bound:
                return n
        return plan.max_iterations


def _position(
    scene: Scene, plan: Plan, column: Fraction | int, row: Fraction | int
) -> tuple[Any, Any]:
    """Return the exact place of a sample, in the precision of gmpy2's context."""
    n, view = plan.supersampling, plan.view
    across, down = plan.size[0] * n, plan.size[1] * n
    column, row = Fraction(column), Fraction(row)
    if plan.jittered:
        table = shifts()[:, round(row) % PERIOD, round(column) % PERIOD]
        column, row = (
            part + Fraction(float(by)) for part, by in zip((column, row), table, strict=True)
        )
    if view.projection == "exponential":
        turn = 2 * gmpy2.const_pi() / across
        angle = turn * _real(Fraction(across - 1) / 2 - column)
        radius = _real(plan.width / 2) * gmpy2.exp(-turn * _real(row + Fraction(1, 2)))
        right, up = radius * gmpy2.cos(angle), radius * gmpy2.sin(angle)
    else:
        right = _real((2 * column + 1 - across) * plan.pixel / n / 2)
        up = _real(-(2 * row + 1 - down) * plan.pixel / n / 2)
    a, b, c, d = map(_real, matrix(view))
    x, y = map(_real, plan.center)
    return x + a * right + b * up, y + c * right + d * up


def _real(value: Fraction) -> Any:
    return gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))

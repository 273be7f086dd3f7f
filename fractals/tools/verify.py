"""Recomputes pixels of a picture: by plain Python, and in arbitrary precision.

Plain Python shares the orbit and the tables of a deep view with what it judges. So counts of deep
views are also compared with exact ones: all of them where asked, else those that take little time.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

from fractals.deep.reference import mpfr_of
from fractals.errors import OptionError, SceneError, typed, warn
from fractals.io.files import as_path
from fractals.io.load import load_scene
from fractals.kernels.formula import Formula
from fractals.rendering import forecast
from fractals.rendering.drawing import Drawing, draw_tile, open_drawing, open_plan
from fractals.rendering.families import Family, family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan
from fractals.rendering.sampling import PERIOD, shifts
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import matrix
from fractals.scene.model import Scene
from fractals.scene.numbers import whole
from fractals.tools.pixels import read_pixels

NEARBY = Fraction(1, 100_000)  # of a pixel: a count that changes when moved this far is chaotic
RESERVE_BITS = 64
# Factors of the bits with which a count that differs is iterated again, until two agree.
MORE_BITS = (2, 4, 8, 16)
SECONDS = 5  # that exact counts take where nobody asked for them, by the estimate
STEP_SECONDS = 8e-6  # of an exact step, beside its products


@dataclass(frozen=True)
class Pixel:
    """What `verify` found at a pixel.

    Attributes
    ----------
    x, y : int
        Column and row, from the top left corner.
    drawn, expected : tuple of int
        Red, green and blue in the picture, and as recomputed: 8 or 16 bits.
    wrong, unstable : int
        Samples whose count differs from the exact one: with a stable exact count, and with one that
        changes when the sample moves by a hundred-thousandth of a pixel.
    compared : int
        Samples whose count was compared with the exact one.
    counts : (int, int), optional
        Of the first wrong sample: its count, and the exact one as far as it was followed.
    """

    x: int
    y: int
    drawn: tuple[int, ...]
    expected: tuple[int, ...]
    wrong: int = 0
    unstable: int = 0
    compared: int = 0
    counts: tuple[int, int] | None = None

    @property
    def right(self) -> bool:
        """Tell whether the picture has the right color here, from right counts."""
        return self.drawn == self.expected and not self.wrong

    @property
    def difference(self) -> str:
        """Return what is wrong, in words."""
        parts = []
        if self.drawn != self.expected:
            parts.append(f"is {self.drawn}, expected {self.expected}")
        if self.counts:
            parts.append(f"has the count {self.counts[0]}, exact {self.counts[1]}")
        elif self.wrong:
            parts.append("has a sample that is NaN (not a number)")
        return ", and ".join(parts)


def verify(
    path: str | Path,
    pixels: int = 20,
    *,
    exact: bool = False,
    seed: int = 0,
    on_message: Callable[[str], None] | None = None,
) -> list[Pixel]:
    """Recompute random pixels of a picture with plain Python loops, and compare them.

    Images of other families than escape time, such as flames, are drawn again on the CPU, and the
    points of some trajectories are compared with those of plain Python.

    Parameters
    ----------
    path : str or Path
        A PNG, which carries its scene.
    pixels : int
        How many are recomputed.
    exact : bool
        True: all their samples are also iterated in arbitrary precision, and the counts compared.
        False: one sample a pixel, in deep views only, as far as that takes some seconds.
    seed : int
        Chooses the pixels.
    on_message : callable
        Called with one line of text; by default each is a `FractalsWarning`.

    Returns
    -------
    list of Pixel
        ``right`` of each tells whether it is; ``difference`` says in words what is wrong.

    Raises
    ------
    SceneError
        The picture is no PNG, carries no scene, is not of its size, or can't be recomputed pixel by
        pixel.
    OptionError
        `pixels` or `seed` is no whole number, or there are no exact counts of the image's family.

    Examples
    --------
    >>> import fractals, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fractals.render(size=(8, 6), device="cpu").save(f"{folder}/a.png")
    ...     all(pixel.right for pixel in verify(f"{folder}/a.png", pixels=5))
    True
    """
    tell = on_message or warn
    count, start = whole(pixels), whole(seed)
    if count is None or count < 1:
        raise OptionError(f"pixels={typed(pixels)}: give a whole number, 1 or more")
    if start is None:
        raise OptionError(f"seed={typed(seed)}: give a whole number")
    if as_path(path).suffix.lower() != ".png":
        raise SceneError(f"{path}: not a PNG: verify compares a PNG with its scene")
    scene = load_scene(path)
    if not (family := family_of(scene)).single_pixels:
        if exact:
            raise OptionError("exact counts are those of escape-time images: leave exact= out")
        return _compared_whole(path, scene, family, count, start, tell)
    # force: a few pixels cost little
    options = RenderOptions(device="python", force=True, on_message=tell)
    plan, backend = open_plan(scene, options)
    if plan.layers.whole or scene.develop.bloom:
        raise SceneError(f"{path}: the colors of its pixels depend on all others: draw it anew")
    drawn = read_pixels(path, scene.image.bits, scene.image.size)
    width, height = scene.image.size
    drawing = open_drawing(plan, backend, options)
    chosen = random.Random(start).sample(range(width * height), min(count, width * height))
    found: list[Pixel] = []
    left = math.inf if exact else 0.0  # seconds for exact counts
    for k in sorted(chosen):
        left += SECONDS / len(chosen) if plan.deep else 0.0
        pixel, spent = _look(drawing, drawn, k % width, k // width, exact, left)
        found.append(pixel)
        left -= spent
    return found


def _compared_whole(
    path: str | Path,
    scene: Scene,
    family: Family,
    pixels: int,
    seed: int,
    on_message: Callable[[str], None],
) -> list[Pixel]:
    """Draw a picture again on the CPU, and compare random pixels."""
    drawn = read_pixels(path, scene.image.bits, scene.image.size)
    expected = family.redraw(scene, RenderOptions(device="cpu", on_message=on_message), seed).pixels
    width, height = scene.image.size
    chosen = random.Random(seed).sample(range(width * height), min(pixels, width * height))
    places = [(k % width, k // width) for k in sorted(chosen)]
    return [
        Pixel(x, y, tuple(map(int, drawn[y, x])), tuple(map(int, expected[y, x])))
        for x, y in places
    ]


def _look(
    drawing: Drawing, drawn: Any, x: int, y: int, exact: bool, left: float
) -> tuple[Pixel, float]:
    """Return what is found at a pixel, and the estimated seconds of the exact counts.

    Without `exact`, one sample is compared, if that takes no more than `left` seconds.
    """
    tile = Tile(x, y, 1, 1)
    raw, pixels = drawing.source.iterate(tile), np.empty((1, 1, 3), drawing.dtype)
    draw_tile(drawing, tile, pixels)
    expected = pixels[0, 0]
    # The limit "auto" is found when the view is drawn.
    plan = replace(drawing.plan, max_iterations=drawing.source.max_iterations)
    n, spent = plan.supersampling, 0.0
    nan = np.isnan(raw.x) | np.isnan(raw.y)
    wrong, unstable, compared, counts = int(nan.sum()), 0, 0, None
    step = STEP_SECONDS + forecast.reference_seconds(_bits(plan), 1)
    for v, u in np.ndindex(nan.shape) if exact else ((0, 0),):
        count, place = int(raw.count[v, u]), (x * n + u, y * n + v)
        if nan[v, u] or count * step > left - spent:  # NaN is counted already
            continue
        compared, spent = compared + 1, spent + count * step
        # Few samples differ: only theirs are followed further.
        most = plan.max_iterations if exact else min(plan.max_iterations, 2 * count + 1000)
        found = _compared(plan, *place, count, most)
        if found == count:
            continue
        if _stable(plan.scene, plan, *place, most):
            wrong, counts = wrong + 1, counts or (count, found)
        else:
            unstable += 1
    colors = tuple(map(int, drawn[y, x])), tuple(map(int, expected))
    return Pixel(x, y, *colors, wrong, unstable, compared, counts), spent


def _compared(plan: Plan, column: int, row: int, count: int, most: int) -> int:
    """Return the count of a sample if it is right, else the exact one, at most `most`."""
    # Whether a count is right is known after one step more.
    sample, near = (plan.scene, plan, column, row), min(plan.max_iterations, count + 1)
    found, more = exact_count(*sample, near), 1
    for more in MORE_BITS:
        if found == count:
            return count
        before, found = found, exact_count(*sample, near, more)
        if found == before:
            break
    return exact_count(*sample, most, more)


def _stable(scene: Scene, plan: Plan, column: int, row: int, most: int | None = None) -> bool:
    moves = ((0, 0), (NEARBY, 0), (-NEARBY, 0), (0, NEARBY), (0, -NEARBY))
    return len({exact_count(scene, plan, column + dx, row + dy, most) for dx, dy in moves}) == 1


def _bits(plan: Plan) -> int:
    """Return the bits of exact counts: more than the digits need, and than a plan's orbit has."""
    return RESERVE_BITS + max(int(4 * plan.digits) + 53, plan.bits)


def exact_count(
    scene: Scene,
    plan: Plan,
    column: Fraction | int,
    row: Fraction | int,
    most: int | None = None,
    more: int = 1,
) -> int:
    """Return the count of one sample, iterated in arbitrary precision.

    Column and row are in samples from the top left one, and may lie between samples. `most` is the
    limit of iterations, by default the plan's; `more` multiplies the bits.
    """
    formula: Formula = scene.make_formula()
    most = most or plan.max_iterations
    with gmpy2.context(gmpy2.get_context(), precision=more * _bits(plan)):
        x, y = _position(scene, plan, column, row)
        u, v = gmpy2.mpfr(x), gmpy2.mpfr(y)
        a, b = (gmpy2.mpfr(text) for text in scene.julia) if scene.julia else (u, v)
        bound = gmpy2.mpfr(scene.iteration.escape_radius) ** 2
        points = formula.orbit(scene.julia is not None, u, v, a, b)
        for n, point in zip(range(1, most), points, strict=False):
            if not formula.is_near(point, bound):
                return n
        return most


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
        angle = turn * mpfr_of(Fraction(across - 1) / 2 - column)
        radius = mpfr_of(plan.width / 2) * gmpy2.exp(-turn * mpfr_of(row + Fraction(1, 2)))
        right, up = radius * gmpy2.cos(angle), radius * gmpy2.sin(angle)
    else:
        right = mpfr_of((2 * column + 1 - across) * plan.pixel / n / 2)
        up = mpfr_of(-(2 * row + 1 - down) * plan.pixel / n / 2)
    a, b, c, d = map(mpfr_of, matrix(view))
    x, y = map(mpfr_of, plan.center)
    return x + a * right + b * up, y + c * right + d * up

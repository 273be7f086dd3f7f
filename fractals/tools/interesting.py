"""Suggests interesting views inside a view, from one coarse picture of it.

The picture is cut into overlapping windows. A window's score is the entropy of its counts, times
the share of its samples that have escaped, times the share that differ from a neighbor: many
different counts, little of the inside, no flat areas. Counts are ranked in the whole picture before
the entropy is taken, so the score does not depend on the depth. The best windows that do not
overlap are then centered on a spiral's eye or a nucleus in them, where the formula has any.

A family whose views are no parts of a plane suggests its own: `Moves.suggested`.
"""

import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

import numpy as np
from gmpy2 import mpfr, mpq
from numpy.typing import NDArray

from fractals.color.palette import Floats
from fractals.errors import FractalsError, OptionError
from fractals.io.load import Source
from fractals.io.png import Pixels
from fractals.kernels.formula import Formula
from fractals.rendering.families import moves_of
from fractals.rendering.moves import Suggestion
from fractals.rendering.options import SuggestOptions, read_request, with_keywords
from fractals.rendering.render import compute, render
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, log2
from fractals.search.composition import composition_of
from fractals.search.misiurewicz import find_misiurewicz
from fractals.search.newton import rounded
from fractals.search.nucleus import find_nucleus
from fractals.tools import sheet
from fractals.tools.keywords import SuggestKeywords

ACROSS = 160  # samples of the coarse picture
SHARE = 8  # windows along a side of the view
BINS = 16  # of the ranks of counts: the entropy is at most 4 bits
MIN_SCORE = 0.02  # a window with a lower score is empty
# Highest period to search in a window: a picture shows orbits of some thousand steps.
MAX_PERIOD = 20_000
MORE = 3  # windows by counts, for each that is chosen among them by its composition
LOOK_ACROSS = 32  # pixels of a window in the picture of the whole view
# Where the subject of a window may lie, in widths and heights from its middle.
PLACES = ((0, 0), *((x, y) for x in (-1 / 6, 1 / 6) for y in (-1 / 6, 1 / 6)))
SPARE_DIGITS = 6  # of a center, beyond those that tell the view's samples apart
COLUMNS = 3  # of the sheet
FAR = 1e6  # samples: a mirror image beyond is outside of the view, in deep ones beyond all floats
# Points and steps that show whether a set is symmetric; their orbits stay small for so long.
TRIED = ((0.31, 0.17), (-0.23, 0.41), (0.11, -0.37))
STEPS = 5
Point = tuple[float, float]


@with_keywords(SuggestKeywords, SuggestOptions)
def find_interesting(*sources: Source, **keywords: Unpack[SuggestKeywords]) -> list[Suggestion]:
    """Return interesting views inside a scene's view, the best first.

    Of views that are mirror images of each other in the set, one is returned.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene in the projection "plane", or of a solid: gallery names, files, tables and scenes,
        merged.
    **keywords
        Keys of the scene, such as ``center`` and ``width``.

    Returns
    -------
    list of Suggestion
        Each has a scene, a score, and what it is centered on.

    Raises
    ------
    SceneError
        The scene is invalid.
    OptionError
        A keyword is unknown, `count` is out of range, or the scene has no plane or no counts.
    FractalsError
        The view is empty: nothing in it differs.

    Examples
    --------
    >>> [best] = find_interesting("seahorse", size=(160, 90), count=1, device="cpu")
    >>> best.kind, best.scene.view.width
    ('spiral', '0.0008125')
    """
    scene, options = read_request(sources, keywords, SuggestKeywords, SuggestOptions)
    count = options.count
    own = moves_of(scene).suggested(scene, options)
    if own is not None:
        return own
    scene.make_formula()  # an image of another family has no counts
    if scene.view.projection != "plane":
        raise OptionError("views are suggested in the projection 'plane'")
    across, down = scene.image.size
    size = ACROSS, max(SHARE, round(ACROSS * down / across))
    coarse = scene.replace(
        size=size, supersampling=1, antialias="grid", coloring="count", layers=[]
    )
    raw = compute(
        coarse, device=options.device, threads=options.threads, on_message=options.on_message
    )
    images = partial(_images, scene, size)
    windows = best_windows(raw.count, raw.max_iterations, MORE * count, images)
    view = _Overview(scene, options) if windows else None
    composed: list[tuple[float, Scene]] = []
    for score, x, y in windows:
        assert view
        window = _window(scene, x / size[0], y / size[1])
        composed.append((score * (1 + view.score(window)) / 2, window))
    composed.sort(key=lambda each: -each[0])
    found: list[Suggestion] = []
    for score, window in composed[:count]:
        assert view
        centered, kind = _centered(window, len(found)) if options.centers else (window, "detail")
        placed = view.placed(centered)
        if any(placed.view == other.scene.view for other in found):
            placed, kind = window, "detail"
        found.append(Suggestion(placed, round(score, 3), kind))
        if options.progress:
            options.progress(len(found), count)
    if not found:
        raise FractalsError(
            "nothing in the view differs: move it to the edge of the set, or zoom out"
        )
    return found


class _Overview:
    """A small picture of a whole view, in which windows are looked at."""

    def __init__(self, scene: Scene, options: SuggestOptions) -> None:
        across, down = scene.image.size
        self._scene, wide = scene, LOOK_ACROSS * SHARE
        size = wide, max(SHARE, round(wide * down / across))
        small = scene.replace(size=size, supersampling=1, antialias="grid", heights="none")
        small = small.replace(bits=8, gamut="srgb", hdr=False)
        quiet: dict[str, Any] = {"on_message": lambda line: None}
        self._pixels = render(small, device=options.device, threads=options.threads, **quiet).pixels

    def score(self, window: Scene, x: float = 0, y: float = 0) -> float:
        """Return how well a window is composed that is moved by shares of its sides."""
        rows, columns = self._pixels.shape[:2]
        u, v = _place_in(self._scene, window)
        high, wide = max(1, rows // SHARE), columns // SHARE
        left = round(u * columns + x * wide - wide / 2)
        top = round(v * rows + y * high - high / 2)
        left, top = min(max(0, left), columns - wide), min(max(0, top), rows - high)
        return composition_of(self._pixels[top : top + high, left : left + wide]).score

    def placed(self, window: Scene) -> Scene:
        """Return a window with its middle where the composition is best."""
        x, y = max(PLACES, key=lambda place: self.score(window, *place))
        if (x, y) == (0, 0):
            return window
        u, v = _place_in(self._scene, window)
        moved = _window(self._scene, u + x / SHARE, v + y / SHARE)
        return window.replace(center=moved.view.center)


def _place_in(scene: Scene, window: Scene) -> Point:
    """Return where the middle of a window is in a view, in shares from its top left."""
    width, center = place_of(scene)
    _, (u, v) = place_of(window)
    a, b, c, d = matrix(scene.view)
    s, t, determinant = u - center[0], v - center[1], a * d - b * c
    right, up = (d * s - b * t) / determinant, (a * t - c * s) / determinant
    across, down = scene.image.size
    return 0.5 + float(right / width), 0.5 - float(up * across / (width * down))


def best_windows(
    counts: NDArray[np.int32],
    max_iterations: int,
    most: int,
    images: Callable[[float, float], list[Point]] = lambda x, y: [],
) -> list[tuple[float, float, float]]:
    """Return score and middle, in samples, of the best windows that do not overlap, `most` at most.

    Samples whose count is `max_iterations` did not escape. ``images(x, y)`` returns the places
    whose surroundings are mirror images of those of a place. A window there is not returned beside
    the window here.
    """
    rows, columns = counts.shape
    high, wide = rows // SHARE, columns // SHARE
    inside = counts >= max_iterations
    ranks = np.searchsorted(np.sort(counts[~inside]), counts) / max(1, (~inside).sum())
    bins = np.minimum((ranks * BINS).astype(np.int64), BINS - 1)
    flat = np.ones_like(inside)
    flat[:, :-1] = counts[:, :-1] == counts[:, 1:]
    flat[:-1] &= counts[:-1] == counts[1:]
    found = []
    for y in range(0, rows - high + 1, max(1, high // 2)):
        for x in range(0, columns - wide + 1, max(1, wide // 2)):
            part = slice(y, y + high), slice(x, x + wide)
            outside = ~inside[part]
            shares = np.bincount(bins[part][outside], minlength=BINS) / max(1, outside.sum())
            score = _entropy(shares) / np.log2(BINS) * outside.mean() * (1 - flat[part].mean())
            found.append((float(score), x + wide / 2, y + high / 2))
    chosen: list[tuple[float, float, float]] = []
    taken: list[Point] = []
    for score, x, y in sorted(found, reverse=True):
        apart = all(abs(x - u) >= wide or abs(y - v) >= high for u, v in taken)
        if score >= MIN_SCORE and apart and len(chosen) < most:
            chosen.append((score, x, y))
            taken += [(x, y), *images(x, y)]
    return chosen


def _images(scene: Scene, size: tuple[int, int], x: float, y: float) -> list[Point]:
    """Return the places, in samples, whose surroundings are mirror images of those of a place."""
    formula = scene.make_formula()
    width, center = place_of(scene)
    a, b, c, d = matrix(scene.view)
    spacing, determinant = width / size[0], a * d - b * c
    right, up = Fraction(x) - Fraction(size[0], 2), Fraction(size[1], 2) - Fraction(y)
    u = center[0] + spacing * (a * right + b * up)
    v = center[1] + spacing * (c * right + d * up)
    found = []
    for sign_x, sign_y in symmetries(scene, formula):
        s, t = (sign_x * u - center[0]) / spacing, (sign_y * v - center[1]) / spacing
        right, up = (d * s - b * t) / determinant, (a * t - c * s) / determinant
        if max(abs(right), abs(up)) < FAR:
            found.append((float(right) + size[0] / 2, size[1] / 2 - float(up)))
    return found


def symmetries(scene: Scene, formula: Formula) -> list[tuple[int, int]]:
    """Return the signs of x and y that map the plane of a scene on a mirror image of itself.

    A reflection is a symmetry if the orbits of some points keep their absolute values.
    """
    found = []
    for signs in ((1, -1), (-1, 1), (-1, -1)):
        pairs = (
            zip(
                _sizes(scene, formula, x, y),
                _sizes(scene, formula, signs[0] * x, signs[1] * y),
                strict=True,
            )
            for x, y in TRIED
        )
        if all(math.isclose(r, s, rel_tol=1e-6) for pair in pairs for r, s in pair):
            found.append(signs)
    return found


def _sizes(scene: Scene, formula: Formula, x: float, y: float) -> list[float]:
    """Return the absolute values of the first points of the orbit of x + iy."""
    a, b = (float(Fraction(Decimal(part))) for part in scene.julia) if scene.julia else (x, y)
    points = formula.orbit(scene.julia is not None, x, y, a, b)
    with np.errstate(all="ignore"):
        return [math.hypot(*map(float, point.z)) for point in itertools.islice(points, STEPS)]


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log2(some)).sum())


def _window(scene: Scene, x: float, y: float) -> Scene:
    """Return the view of a window; x and y are shares of the view, from its top left."""
    width, center = place_of(scene)
    across, down = scene.image.size
    right = (Fraction(x) - Fraction(1, 2)) * width
    up = (Fraction(1, 2) - Fraction(y)) * width * down / across
    a, b, c, d = matrix(scene.view)
    u, v = center[0] + a * right + b * up, center[1] + c * right + d * up
    narrow = width / SHARE
    places = math.ceil(log2(across / narrow) * math.log10(2)) + SPARE_DIGITS
    return scene.replace(
        title="A detail",
        note="",
        center=(decimal_places(u, places), decimal_places(v, places)),
        width=rounded(mpfr(mpq(narrow))),
    )


def _centered(window: Scene, number: int) -> tuple[Scene, str]:
    """Return a window centered on a spiral's eye or a nucleus in it, and which of them it is.

    Spirals and minibrots take turns, where there are both.
    """
    searches: list[tuple[str, Callable[[], Any]]] = [
        ("spiral", lambda: find_misiurewicz(window, max_period=MAX_PERIOD)),
        ("minibrot", lambda: find_nucleus(window, MAX_PERIOD)),
    ]
    for kind, search in searches if number % 2 == 0 else searches[::-1]:
        try:
            found = search()
        except FractalsError:
            continue
        return found.scene().replace(width=window.view.width), kind
    return window, "detail"


def thumbnails(
    found: list[Suggestion],
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Pixels:
    """Return small pictures of views side by side, uint8 of shape (height, width, 3)."""
    cells = []
    for number, each in enumerate(found, 1):
        image = render(sheet.reduced(each.scene), device=device, threads=threads)
        cells.append(sheet.Cell(f"{number}  {each.kind}  {each.score:.3f}", image.pixels))
        if progress:
            progress(number, len(found))
    return sheet.assemble(cells, min(COLUMNS, len(cells)))

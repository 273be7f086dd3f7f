"""Suggests interesting views inside a view, from one coarse picture of it.

The picture is cut into overlapping windows. A window's score is the entropy of its counts, times
the share of its samples that have escaped, times the share that differ from a neighbor: many
different counts, little of the inside, no flat areas. Counts are ranked in the whole picture before
the entropy is taken, so the score does not depend on the depth. The best windows that do not
overlap are then centered on a spiral's eye or a nucleus in them, where the formula has any.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from gmpy2 import mpfr, mpq
from numpy.typing import NDArray

from fractals.color.spaces import Floats
from fractals.deep.area import rounded
from fractals.deep.misiurewicz import find_misiurewicz
from fractals.deep.nucleus import find_nucleus
from fractals.errors import FractalsError, OptionError
from fractals.io.png import Pixels
from fractals.rendering.render import compute, render
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Scene
from fractals.tools import sheet

COUNT, MAX_COUNT = 6, 100  # views
ACROSS = 160  # samples of the coarse picture
SHARE = 8  # windows along a side of the view
BINS = 16  # of the ranks of counts: the entropy is at most 4 bits
MIN_SCORE = 0.02  # a window with a lower score is empty
# Highest period to search in a window: a picture shows orbits of some thousand steps.
MAX_PERIOD = 20_000
SPARE_DIGITS = 6  # of a center, beyond those that tell the view's samples apart
COLUMNS = 3  # of the sheet


@dataclass(frozen=True)
class Suggestion:
    """A view inside another.

    Attributes
    ----------
    scene : Scene
    score : float
        From 0 to 1.
    kind : str
        "spiral", "minibrot" or "detail": what the view is centered on.
    """

    scene: Scene
    score: float
    kind: str


def suggest(
    scene: Scene,
    count: int = COUNT,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    centers: bool = True,
) -> list[Suggestion]:
    """Return interesting views inside a view, the best first.

    Parameters
    ----------
    scene : Scene
        In the projection "plane".
    count : int
        Most views, 1 to MAX_COUNT.
    device : str
        As of `fractals.render`.
    threads : int, optional
    progress : callable, optional
        Called as ``progress(done, count)`` after each view.
    centers : bool
        False: views are not centered on what is in them, which takes seconds.

    Raises
    ------
    OptionError
        `count` is out of range, or the scene has no plane.
    FractalsError
        The view is empty: nothing in it differs.
    """
    if not 1 <= count <= MAX_COUNT:
        raise OptionError(f"count {count}: give 1 to {MAX_COUNT}")
    if scene.view.projection != "plane":
        raise OptionError("views are suggested in the projection 'plane'")
    across, down = scene.image.size
    size = ACROSS, max(SHARE, round(ACROSS * down / across))
    coarse = scene.replace(
        size=size, supersampling=1, antialias="grid", coloring="count", layers=[]
    )
    raw = compute(coarse, device=device, threads=threads)
    found: list[Suggestion] = []
    for score, x, y in best_windows(raw.count, raw.max_iterations, count):
        window = _window(scene, x / size[0], y / size[1])
        centered, kind = _centered(window, len(found)) if centers else (window, "detail")
        if any(centered.view == other.scene.view for other in found):
            centered, kind = window, "detail"
        found.append(Suggestion(centered, round(score, 3), kind))
        if progress:
            progress(len(found), count)
    if not found:
        raise FractalsError(
            "nothing in the view differs: move it to the edge of the set, or zoom out"
        )
    return found


def best_windows(
    counts: NDArray[np.int32], max_iterations: int, most: int
) -> list[tuple[float, float, float]]:
    """Return score and middle, in samples, of the best windows that do not overlap."""
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
    for score, x, y in sorted(found, reverse=True):
        apart = all(abs(x - u) >= wide or abs(y - v) >= high for _, u, v in chosen)
        if score >= MIN_SCORE and apart and len(chosen) < most:
            chosen.append((score, x, y))
    return chosen


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log2(some)).sum())


def _window(scene: Scene, x: float, y: float) -> Scene:
    """Return the view of a window; x and y are shares of the view, from its top left."""
    width, center = place_of(scene, scene.make_formula())
    across, down = scene.image.size
    right = (Fraction(x) - Fraction(1, 2)) * width
    up = (Fraction(1, 2) - Fraction(y)) * width * down / across
    a, b, c, d = matrix(scene.view)
    u, v = center[0] + a * right + b * up, center[1] + c * right + d * up
    narrow = width / SHARE
    places = len(str(int(across / narrow))) + SPARE_DIGITS
    return scene.replace(
        title="A detail",
        note="",
        center=(_text(u, places), _text(v, places)),
        width=rounded(mpfr(mpq(narrow))),
    )


def _text(value: Fraction, places: int) -> str:
    """Return a number with decimal places."""
    digits = str(abs(round(value * 10**places))).zfill(places + 1)
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


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

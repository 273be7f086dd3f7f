"""Suggests interesting views inside a view, from one coarse picture of it.

The picture is cut into overlapping windows. A window's score is the entropy of its counts, times
the share of its samples that have escaped, times the share that differ from a neighbor: many
different counts, little of the inside, no flat areas. Counts are ranked in the whole picture before
the entropy is taken, so the score does not depend on the depth. The best windows that do not
overlap are then centered on a spiral's eye or a nucleus in them, where the formula has any.

Of a solid, cameras are tried by chance around points of the surface in view, nearer than the
camera is. Few rays tell what each sees, and the score follows from that: see `score_of`.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

import numpy as np
from gmpy2 import mpfr, mpq
from numpy.typing import NDArray

from fractals.color.palette import Floats
from fractals.deep.misiurewicz import find_misiurewicz
from fractals.deep.newton import rounded
from fractals.deep.nucleus import find_nucleus
from fractals.errors import FractalsError, OptionError
from fractals.io.load import Source
from fractals.io.png import Pixels
from fractals.kernels.formula import Formula
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions, SuggestOptions, read_request, with_keywords
from fractals.rendering.render import compute, render
from fractals.scene.geometry import matrix, place_of
from fractals.scene.keywords import SuggestKeywords
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, log2
from fractals.space import march
from fractals.space.plan import PROBE, SolidPlan
from fractals.space.plan import place_of as place_of_camera
from fractals.space.solid import Solid
from fractals.space.trace import NOTHING, open_tracing
from fractals.tools import sheet

# --- How a picture is composed: where detail weighs, how symmetric it is, how deep its tones are
#
# Painters put what matters off the center, near a third of the picture, and let dark tones carry a
# few light ones. The measures are about pictures of any size: they look at a grid of `CELLS`.

CELLS = 24  # along the longer side
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of sRGB values, for people's eyes near enough
DARK_TONE, LIGHT_TONE = 0.3, 0.75  # of luminance, from 0 to 1
THIRD = 1 / 3  # of half a side: where the weight of a subject on the lines of thirds lies
# Shares of dark and light from which on there is enough, and of light from which on there is more
# than a deep picture has.
ENOUGH_DARK, ENOUGH_LIGHT, MUCH_LIGHT = 0.35, 0.02, 0.4
MOST_DARK = 0.92  # a share of dark beyond which little is seen


@dataclass(frozen=True)
class Composition:
    """Measures of a picture, each from 0 to 1."""

    away: float  # how far the weight of the detail is from the center; 1 from a third on
    asymmetry: float  # 0 where the picture is its own mirror image, or turned by half a turn
    dark: float  # the share of dark tones
    light: float  # and of light ones

    @property
    def deep(self) -> float:
        """Return how deep the tones are: dark, with some light."""
        dark, light = min(1.0, self.dark / ENOUGH_DARK), min(1.0, self.light / ENOUGH_LIGHT)
        faint = max(0.0, self.light - MUCH_LIGHT) / (1 - MUCH_LIGHT)
        lost = max(0.0, self.dark - MOST_DARK) / (1 - MOST_DARK)
        return dark * (0.5 + 0.5 * light) * (1 - faint) * (1 - lost)

    @property
    def score(self) -> float:
        """Return how well the picture is composed."""
        return (self.away + self.asymmetry + self.deep) / 3


def composition_of(pixels: NDArray[Any]) -> Composition:
    """Return the composition of a picture of sRGB values, shape (rows, columns, 3)."""
    most = 255 if pixels.dtype == np.uint8 else 65535
    tones = pixels @ LUMINANCE / most
    grid = _means(tones)
    edges = _means(_edges(tones))
    return Composition(
        _away(edges),
        1 - max(0.0, *(_likeness(grid, turned) for turned in _turned_images(grid))),
        float((tones < DARK_TONE).mean()),
        float((tones > LIGHT_TONE).mean()),
    )


def _means(values: Floats) -> Floats:
    """Return means over the cells of a grid."""
    for axis, side in enumerate(values.shape):
        cells = max(1, min(side, round(CELLS * side / max(values.shape))))
        begins = np.arange(cells) * side // cells
        sizes = np.diff([*begins, side])
        sums = np.add.reduceat(values, begins, axis)
        values = sums / np.expand_dims(sizes, 1 - axis)
    return values


def _edges(tones: Floats) -> Floats:
    """Return how much each pixel differs from those to the right and below."""
    found = np.zeros_like(tones)
    found[:, :-1] += np.abs(np.diff(tones, axis=1))
    found[:-1] += np.abs(np.diff(tones, axis=0))
    return found


def _away(weights: Floats) -> float:
    """Return how far the center of weights is from the middle; 1 from a third on."""
    whole = weights.sum()
    if whole <= 0:
        return 0.0
    offsets = []
    for axis, cells in enumerate(weights.shape):
        at = (np.arange(cells) + 0.5) / cells * 2 - 1
        offsets.append(float((weights.sum(1 - axis) * at).sum() / whole))
    return min(1.0, math.hypot(*offsets) / THIRD)


def _turned_images(grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mirror images of a grid, and the grid turned by half a turn."""
    return grid[::-1], grid[:, ::-1], grid[::-1, ::-1]


def _likeness(one: Floats, other: Floats) -> float:
    """Return the correlation of two grids; of grids without detail 1."""
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 1e-9 else 1.0


# --- Views inside a view

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
# Points and steps that show whether a set is symmetric; their orbits stay small for so long.
TRIED = ((0.31, 0.17), (-0.23, 0.41), (0.11, -0.37))
STEPS = 5
Point = tuple[float, float]


@dataclass(frozen=True)
class Suggestion:
    """A view inside another.

    Attributes
    ----------
    scene : Scene
    score : float
        From 0 to 1.
    kind : str
        "spiral", "minibrot" or "detail": what is in the view; "camera" of a solid.
    """

    scene: Scene
    score: float
    kind: str


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
        A keyword is unknown, `count` is out of range, or the scene has no plane.
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
    if isinstance(scene.make_any_formula(), Solid):
        return _cameras(scene, options)
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
    formula = scene.make_formula()
    width, center = place_of(scene, formula)
    _, (u, v) = place_of(window, formula)
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
    width, center = place_of(scene, formula)
    a, b, c, d = matrix(scene.view)
    spacing, determinant = width / size[0], a * d - b * c
    right, up = Fraction(x) - Fraction(size[0], 2), Fraction(size[1], 2) - Fraction(y)
    u = center[0] + spacing * (a * right + b * up)
    v = center[1] + spacing * (c * right + d * up)
    found = []
    for sign_x, sign_y in symmetries(scene, formula):
        s, t = (sign_x * u - center[0]) / spacing, (sign_y * v - center[1]) / spacing
        right, up = (d * s - b * t) / determinant, (a * t - c * s) / determinant
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
    width, center = place_of(scene, scene.make_formula())
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


# Of a solid.


TRIED_CAMERAS = 32  # for each view that is suggested
LEAST_TRIED = 160
NEARER = (0.08, 0.8)  # how far cameras are from the surface, in the distance of this camera's
STEEP = 0.85  # sine of the angle above or below which no camera looks
SEEN_LEAST = 0.4  # share of the rays that meet the surface
CLOSE = 0.12  # of the median distance: nearer parts would hide the others
APART = 0.35  # distances between cameras that look the same way
LOOKED_AT = 6  # pictures for each view that is suggested
LOOK = 48, 32  # pixels
DARK, WHITE = 45, 245  # of luminance, of 255
BEST = 3.0  # about the best view's score


def _cameras(scene: Scene, options: SuggestOptions) -> list[Suggestion]:
    """Return cameras that are nearer to the surface in a solid's view, the best first."""
    if scene.camera.panorama:
        raise OptionError("cameras are suggested for flat pictures: give panorama=False")
    quiet = RenderOptions(device=options.device, threads=options.threads).replace(
        on_message=lambda line: None
    )
    tracing = open_tracing(scene, quiet, seen=NOTHING)
    points = surface_of(tracing.plan, tracing.probe())
    if not len(points):
        raise FractalsError("the camera sees nothing of the solid: turn it to the surface")
    chance = np.random.default_rng(len(points))  # the same views each time
    own = np.array(place_of_camera(scene.camera, tracing.plan.solid)[0])
    found: list[tuple[float, float, Scene]] = []
    most = max(LEAST_TRIED, options.count * TRIED_CAMERAS)
    for k in range(most):
        made, far = _near_by(scene, points[chance.integers(len(points))], own, chance)
        try:
            tried = open_tracing(made, quiet, seen=NOTHING)
            score = score_of(tried.plan, tried.probe())
        except FractalsError:  # inside the solid, or too near
            score = 0.0
        if score > 0:
            found.append((score, far, made))
        if options.progress and (k + 1) % TRIED_CAMERAS == 0:
            options.progress(k + 1, most)
    found.sort(key=lambda each: -each[0])
    found = [
        (score * _look(made, quiet), far, made)
        for score, far, made in found[: LOOKED_AT * options.count]
    ]
    best: list[Suggestion] = []
    kept: list[tuple[Floats, Floats]] = []
    for score, far, made in sorted(found, key=lambda each: -each[0]):
        position, target = (np.array(part) for part in (made.camera.position, made.camera.target))
        sight = (target - position) / np.linalg.norm(target - position)
        if all(
            np.linalg.norm(position - place) > APART * far or sight @ other < 1 - APART
            for place, other in kept
        ):
            kept.append((position, sight))
            best.append(Suggestion(made, round(min(1.0, score / BEST), 3), "camera"))
        if len(best) == options.count:
            break
    if not best:
        raise FractalsError("no camera near by sees more: move it towards the surface")
    return best


def _look(scene: Scene, options: RenderOptions) -> float:
    """Return how well a view is lit and composed, from 0 to 1: little in the dark, or white."""
    small = scene.replace(size=LOOK, samples=1, bounces=1, lens=0.0, bits=8)
    pixels = family_of(small).render(small, options).pixels
    luminance = pixels @ LUMINANCE
    dark, white = (luminance < DARK).mean(), (luminance > WHITE).mean()
    return float(max(0.0, 1 - dark - white) * (1 + composition_of(pixels).score) / 2)


def _near_by(
    scene: Scene, point: Floats, own: Floats, chance: np.random.Generator
) -> tuple[Scene, float]:
    """Return a scene with a camera near a point of the surface, and how far away that is."""
    back = own - point
    far = np.linalg.norm(back) * math.exp(chance.uniform(*np.log(NEARER)))
    away = back / np.linalg.norm(back) + 0.9 * chance.normal(size=3)
    position = point + far * away / np.linalg.norm(away)
    target = point + 0.25 * far * chance.normal(size=3)
    digits = 4 - math.floor(math.log10(far))
    place, aim = (tuple(round(float(part), digits) for part in each) for each in (position, target))
    made = scene.replace(title="A detail", note="", position=place, target=aim, focus=None)
    return made, float(far)


def surface_of(plan: SolidPlan, probe: NDArray[Any]) -> Floats:
    """Return the points of the surface that the rays of a probe have met, shape (n, 3)."""
    sights, position = _sights(plan)
    hits = probe[..., 0] >= 0
    found: Floats = position + sights[hits] * probe[..., 0][hits][:, None]
    return found


def _sights(plan: SolidPlan) -> tuple[Floats, Floats]:
    """Return the directions of the rays of a probe, shape (rows, columns, 3), and their begin."""
    camera = plan.probe_camera(np.float64)
    position, ahead, right, up = camera[:12].reshape(4, 3)
    steps = (np.arange(PROBE) + 0.5 - PROBE / 2) * camera[march.PIXEL]
    sights = ahead + steps[None, :, None] * right - steps[:, None, None] * up
    return sights / np.linalg.norm(sights, axis=2, keepdims=True), position


def score_of(plan: SolidPlan, probe: NDArray[Any]) -> float:
    """Return how good a view is, by what a probe has met; 0 or less: it is empty or too close.

    Good is a surface at many distances, which faces the camera in many ways, has many traps, and
    lies low in the picture, under some sky.
    """
    sights, _ = _sights(plan)
    lengths, traps = probe[..., 0].astype(np.float64), probe[..., 1].astype(np.float64)
    hits = lengths > 0
    share = float(hits.mean())
    if share < SEEN_LEAST or lengths[hits].min() < CLOSE * np.median(lengths[hits]):
        return 0.0
    if abs(sights[PROBE // 2, PROBE // 2, 2]) > STEEP:
        return 0.0
    depths = np.log(np.where(hits, lengths, 1.0))
    spread = np.subtract(*np.percentile(depths[hits], (92, 8)))
    variety = np.subtract(*np.percentile(traps[hits], (95, 5))) / max(np.median(traps[hits]), 1e-9)
    points = sights * lengths[..., None]
    normals = np.cross(points[:-1, 1:] - points[:-1, :-1], points[1:, :-1] - points[:-1, :-1])
    whole = hits[:-1, :-1] & hits[1:, :-1] & hits[:-1, 1:]
    if whole.sum() < PROBE:
        return 0.0
    length = np.maximum(np.linalg.norm(normals, axis=2), 1e-30)
    facing = (np.abs((normals * sights[:-1, :-1]).sum(axis=2)) / length)[whole]
    beside = hits[:, 1:] & hits[:, :-1]
    torn = float((np.abs(np.diff(depths, axis=1))[beside] > 0.12).mean()) if beside.any() else 1.0
    rows = np.arange(PROBE)[:, None] + np.zeros(PROBE)
    low = (rows[hits].mean() - rows[~hits].mean()) / PROBE if share < 0.99 else 0.0
    good = min(spread, 1.8) + 2 * facing.std() + 0.8 * facing.mean() + 0.3 * min(variety, 2.0)
    bad = 0.3 * max(0.0, share - 0.94) / 0.06 + 3 * max(0.0, 0.55 - share)
    return float(good + 1.2 * low - bad - 2 * max(0.0, torn - 0.25))


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

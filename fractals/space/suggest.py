"""Suggests cameras of a solid that see more than a scene's does.

Cameras are tried by chance around points of the surface in view, nearer than the camera is. Few
rays tell what each sees, and the score follows from that: see `score_of`.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import Floats
from fractals.errors import FractalsError, OptionError
from fractals.rendering.families import family_of
from fractals.rendering.moves import Suggestion
from fractals.rendering.options import RenderOptions, SuggestOptions
from fractals.scene.model import Scene
from fractals.search.composition import LUMINANCE, composition_of
from fractals.space import march
from fractals.space.plan import PROBE, SolidPlan, place_of
from fractals.space.trace import NOTHING, open_tracing

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


def suggested(scene: Scene, options: SuggestOptions) -> list[Suggestion]:
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
    own = np.array(place_of(scene.camera, tracing.plan.solid)[0])
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
    small = scene.replace(size=LOOK, samples=1, bounces=1, lens=0.0, bits=8, hdr=False)
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

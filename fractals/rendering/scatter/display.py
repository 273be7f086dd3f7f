"""From hits to a picture, as in flam3: log density, its estimate, a filter, and tones."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.color.palette import linear_of, parse_color, srgb_from_linear
from fractals.kernels import display as kernels
from fractals.kernels.elementary import exp, log
from fractals.rendering.develop import Developer
from fractals.rendering.scatter.plan import Exposure, Hits, ScatterPlan, Totals, filter_taps
from fractals.scene.model import Display, Scene
from fractals.threads import Progress, run_tiles

BLOCK = 32  # rows and columns for which the estimate knows one longest reach
EXACT = 100  # hits up to which each number of hits has a spread of its own
LARGEST = 8.0  # sRGB value of light that is developed: about 140 times as bright as white
FINER = 1.05  # the ratio of two numbers of hits with another spread, beyond that
SHOWN_SIDE = 32  # rows that a thread shows at once
LAUNCHED_SIDE = 256  # rows of a launch of a GPU


class Show:
    """Makes light and pixels of the hits of a scatter image."""

    def __init__(
        self, plan: ScatterPlan, backend: Backend, progress: Progress | None = None
    ) -> None:
        """`progress`: called after each band of rows; what it raises ends the work."""
        self._plan, self._backend, self._progress = plan, backend, progress

    def pixels(self, hits: Hits, totals: Totals | None = None) -> NDArray[Any]:
        """Return the pixels of hits; `totals`: of the whole picture, where these are a band's."""
        plan, backend = self._plan, self._backend
        light = self._light(hits, plan.exposure(hits, totals))
        scene = plan.scene
        step, taps = plan.step, filter_taps(scene.display, plan.step)
        width, rows = scene.image.size[0], plan.drawn
        developer = Developer(backend, scene) if scene.is_developed else None
        deep = scene.image.bits == 16
        white, most = (1, LARGEST) if developer else (65535 if deep else 255, 1)
        tone = tone_of(scene, backend.real, white, most)
        first = plan.margin - (len(taps) - step) // 2
        to_device = backend.to_device
        tone = tone._replace(numbers=to_device(tone.numbers))
        taps = to_device(taps.astype(backend.real))
        run = backend.compile(kernels.make_pixel_body)
        shape = len(rows), width, 3
        rgb = backend.empty(shape, np.float32)
        down = rows.start - plan.counted.start // step  # from rows of the light to the picture's
        self._fill(run, rgb, light, taps, step, first, down, tone)
        found = np.empty(shape, np.float32)
        backend.to_host(rgb, found)
        if developer:
            return developer.of_values(found, rows.start)
        found += np.float32(0.5)
        return np.floor(found, found).astype(scene.image.dtype)

    def _light(self, hits: Hits, exposure: Exposure) -> Any:
        """Return the light of all buckets: the logarithm of the hits, and its estimate.

        It lies on the device.
        """
        plan, backend = self._plan, self._backend
        display, real = plan.scene.display, backend.real
        k1, k2, gains, weight = exposure
        light = backend.empty((*plan.shape, 4), real)
        sums = backend.to_device(hits.sums)
        constants = real(k1), real(k2), backend.to_device(gains.astype(real))
        self._fill(backend.compile(kernels.make_density_body), light, sums, *constants)
        radius = max(display.estimator_radius, display.estimator_minimum)
        if not radius:
            return light
        spread = spreads(display, plan.step)
        numbers, weights, reaches = (
            backend.to_device(part)
            for part in (spread.numbers, spread.weights.astype(real), spread.reaches)
        )
        kinds = backend.empty(plan.shape, np.int32)
        self._fill(backend.compile(kernels.make_kind_body), kinds, sums, numbers, weight, plan.step)
        far = kinds  # the CPU needs no blocks: it gives light where the others gather it
        if backend.kind != "cpu":
            far = backend.empty(tuple(-(-side // BLOCK) for side in plan.shape), np.int32)
            near = max(1, math.ceil(int(spread.reaches[0]) / BLOCK))
            backend.compile(kernels.make_reach_body)(far, kinds, reaches, near)
        out = backend.empty((*plan.shape, 4), real)
        run = backend.compile(kernels.make_estimate_body)
        self._fill(run, out, light, kinds, weights, reaches, far)
        return out

    def _fill(self, run: Callable[..., None], out: Any, *arguments: Any) -> None:
        """Have an array be filled in bands of rows: by all threads, or by short launches."""
        on_cpu = self._plan.device == "cpu"
        height, side = out.shape[0], SHOWN_SIDE if on_cpu else LAUNCHED_SIDE

        def work(top: int) -> Mapping[str, float]:
            run(out, *arguments, kernels.Rows(top, min(height, top + side)))
            return {}

        threads = self._backend.threads if on_cpu else 0
        run_tiles(range(0, height, side), work, threads, self._progress)


def tone_of(scene: Scene, real: Any, white: int, most: float) -> kernels.Tone:
    """Return how light becomes pixels."""
    display = scene.display
    behind = srgb_from_linear(linear_of(display.background, scene.image.primaries))
    if scene.image.primaries == "srgb":
        behind = np.array(parse_color(display.background))
    gamma = 1 / display.gamma
    threshold = max(display.gamma_threshold, 1e-30)
    numbers = [gamma, threshold, threshold ** (gamma - 1), display.vibrancy]
    numbers += [display.highlight_power, *behind.tolist()]
    return kernels.Tone(np.array(numbers, np.dtype(real)), real(white), real(most))


# The spread of the density estimate, by the number of hits.


class Spreads(NamedTuple):
    """How far the light of buckets is spread, by their hits."""

    numbers: NDArray[np.int64]  # of hits at which another spread begins
    weights: NDArray[np.float64]  # of each spread, by the square of the distance
    reaches: NDArray[np.int32]  # of each spread, in buckets; the first is the longest


def spreads(display: Display, step: int) -> Spreads:
    """Return the spreads of `fractals.kernels.display`.

    The radius is (estimator_radius * step + 1) / n ** estimator_curve, where n is how many hits
    there are in a bucket, or of several buckets a pixel around it.
    """
    least = display.estimator_minimum * step + 1
    most = max(display.estimator_radius * step + 1, least)
    numbers = [*range(1, EXACT + 1)]
    while most / numbers[-1] ** display.estimator_curve > least and numbers[-1] < 2**40:
        numbers.append(math.ceil(numbers[-1] * FINER))
    falls_by = [float(exp(display.estimator_curve * log(float(n)))) for n in numbers]
    radii = [max(least, most / by) for by in falls_by]
    ends = next((k for k, radius in enumerate(radii) if radius <= least), len(radii) - 1)
    radii = radii[: ends + 1]
    reach = math.ceil(radii[0]) - 1
    weights = np.zeros((len(radii), 2 * reach**2 + 1))
    reaches = np.zeros(len(radii), np.int32)
    squares = np.add.outer(np.arange(-reach, reach + 1) ** 2, np.arange(-reach, reach + 1) ** 2)
    for k, radius in enumerate(radii):
        distance = np.sqrt(np.arange(2 * reach**2 + 1)) / radius
        falls = np.where(distance <= 1, exp(-2 * (1.5 * distance) ** 2), 0)
        weights[k] = falls / falls[squares].sum()
        reaches[k] = math.ceil(radius) - 1
    return Spreads(np.array(numbers[: ends + 1]), weights, reaches)

"""From hits to a picture, as in flam3: log density, its estimate, a filter, and tones."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.color.palette import linear_of, parse_color, srgb_from_linear
from fractals.kernels import display as kernels
from fractals.kernels.elementary import exp, log
from fractals.rendering.develop import Developer
from fractals.rendering.scatter.filters import filter_taps
from fractals.rendering.scatter.plan import Exposure, Hits, ScatterPlan, Totals
from fractals.scene.model import Display, Scene
from fractals.threads import Progress, run_tiles

BLOCK = 32  # columns for which the estimate knows one longest reach
EXACT = 100  # hits up to which each number of hits has a spread of its own
LARGEST = 8.0  # sRGB value of light that is developed: about 140 times as bright as white
FINER = 1.05  # the ratio of two numbers of hits with another spread, beyond that
SHOWN_SIDE = 32  # bands of rows that threads show at once


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
        on_device, taps = to_device(light), to_device(taps.astype(backend.real))
        run = backend.compile(kernels.make_pixel_body)
        pixels = np.empty((len(rows), width, 3), np.float32 if developer else scene.image.dtype)
        down = rows.start - plan.counted.start // step  # from rows of the light to the picture's

        def draw(top: int, out: NDArray[Any]) -> None:
            rgb = backend.empty(out.shape, np.float32)
            run(rgb, on_device, taps, step, first, down + top, tone)
            found = np.empty(out.shape, np.float32)
            backend.to_host(rgb, found)
            out[...] = found if developer else np.floor(found + np.float32(0.5))

        self._in_bands(pixels, draw)
        return developer.of_values(pixels, rows.start) if developer else pixels

    def _light(self, hits: Hits, exposure: Exposure) -> NDArray[Any]:
        """Return the light of all buckets: the logarithm of the hits, and its estimate."""
        plan, backend = self._plan, self._backend
        display, real = plan.scene.display, backend.real
        k1, k2, gains, weight = exposure
        light = np.empty((*plan.shape, 4), real)
        run, sums = backend.compile(kernels.make_density_body), backend.to_device(hits.sums)
        constants = real(k1), real(k2), backend.to_device(gains.astype(real))
        self._in_bands(light, lambda top, out: self._fill(run, out, sums, top, *constants))
        radius = max(display.estimator_radius, display.estimator_minimum)
        if not radius:
            return light
        kinds, weights, reaches = spreads(display, plan.step, hits.sums[..., 3] // weight)
        far = longest_reaches(kinds, reaches)
        inputs = light, kinds, weights.astype(real), reaches, far
        moved = [backend.to_device(part) for part in inputs]
        run = backend.compile(kernels.make_estimate_body)
        spread = np.empty_like(light)
        self._in_bands(spread, lambda top, out: self._fill(run, out, *moved, top))
        return spread

    def _fill(self, run: Callable[..., None], out: NDArray[Any], *arguments: Any) -> None:
        on_device = self._backend.empty(out.shape, out.dtype)
        run(on_device, *arguments)
        self._backend.to_host(on_device, out)

    def _in_bands(self, whole: NDArray[Any], draw: Callable[[int, NDArray[Any]], None]) -> None:
        """Have each band of rows of an array be filled, on all threads."""
        bands = range(0, len(whole), SHOWN_SIDE)

        def work(top: int) -> Mapping[str, float]:
            draw(top, whole[top : top + SHOWN_SIDE])
            return {}

        threads = self._backend.threads if self._plan.device == "cpu" else 0
        run_tiles(bands, work, threads, self._progress)


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


def spreads(
    display: Display, step: int, hits: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Return the kinds, the weights and the reaches of `fractals.kernels.display`.

    The radius is (estimator_radius * step + 1) / n ** estimator_curve, where n is how many hits
    there are in a bucket, or of several buckets a pixel around it.
    """
    if step > 1:
        hits = _around(hits, step // 2)
        if step % 2 == 0:
            hits = hits * step**2 // (step + 1) ** 2
    least = display.estimator_minimum * step + 1
    most = max(display.estimator_radius * step + 1, least)
    numbers = [*range(1, EXACT + 1)]
    while most / numbers[-1] ** display.estimator_curve > least and numbers[-1] < 2**40:
        numbers.append(math.ceil(numbers[-1] * FINER))
    falls_by = [float(exp(display.estimator_curve * log(float(n)))) for n in numbers]
    radii = [max(least, most / by) for by in falls_by]
    ends = next((k for k, radius in enumerate(radii) if radius <= least), len(radii) - 1)
    radii = radii[: ends + 1]
    kinds = np.searchsorted(np.array(numbers[: ends + 1]), hits, side="right") - 1
    reach = math.ceil(radii[0]) - 1
    weights = np.zeros((len(radii), 2 * reach**2 + 1))
    reaches = np.zeros(len(radii), np.int32)
    squares = np.add.outer(np.arange(-reach, reach + 1) ** 2, np.arange(-reach, reach + 1) ** 2)
    for k, radius in enumerate(radii):
        distance = np.sqrt(np.arange(2 * reach**2 + 1)) / radius
        falls = np.where(distance <= 1, exp(-2 * (1.5 * distance) ** 2), 0)
        weights[k] = falls / falls[squares].sum()
        reaches[k] = math.ceil(radius) - 1
    return kinds.clip(0).astype(np.int32), weights, reaches


def _around(values: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return the sum of the values around each, over a square."""
    rows, columns = values.shape
    found = np.zeros_like(values)
    wide = np.pad(values, reach)
    for y in range(2 * reach + 1):
        for x in range(2 * reach + 1):
            found += wide[y : y + rows, x : x + columns]
    return found


def longest_reaches(kinds: NDArray[np.int32], reaches: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the longest reach of light around each block of columns, for each row."""
    rows, columns = kinds.shape
    own = reaches[kinds]
    across = -(-columns // BLOCK)
    padded = np.zeros((-(-rows // BLOCK) * BLOCK, across * BLOCK), np.int32)
    padded[:rows, :columns] = own
    blocks = padded.reshape(-1, BLOCK, across, BLOCK).max(axis=(1, 3))
    near = max(1, math.ceil(int(reaches.max(initial=0)) / BLOCK))
    wide = np.pad(blocks, near)
    found = blocks
    for y in range(2 * near + 1):
        for x in range(2 * near + 1):
            found = np.maximum(found, wide[y : y + len(blocks), x : x + across])
    return np.ascontiguousarray(np.repeat(found, BLOCK, axis=0)[:rows])

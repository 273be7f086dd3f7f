"""The spatial filters of flam3, from buckets to pixels: how far each reaches, its values there."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.elementary import exp, sincos
from fractals.scene.model import Display


def _lanczos(lobes: int, t: float) -> float:
    return float(np.sinc(t) * np.sinc(t / lobes))


def _bell(t: float) -> float:
    return 0.75 - t * t if t < 0.5 else 0.5 * (t - 1.5) ** 2


def _b_spline(t: float) -> float:
    return 0.5 * t**3 - t**2 + 2 / 3 if t < 1 else (2 - t) ** 3 / 6


def _mitchell(t: float) -> float:
    if t < 1:
        return (7 * t**3 - 12 * t**2 + 16 / 3) / 6
    return (-7 / 3 * t**3 + 12 * t**2 - 20 * t + 32 / 3) / 6


def _catrom(t: float) -> float:
    if t < 1:
        return 0.5 * (2 + t * t * (3 * t - 5))
    return 0.5 * (4 + t * (-8 + t * (5 - t)))


def _blackman(t: float) -> float:
    return float(0.42 + 0.5 * sincos(math.pi * t)[1] + 0.08 * sincos(2 * math.pi * t)[1])


FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "gaussian": (1.5, lambda t: float(exp(-2 * t * t))),
    "hermite": (1.0, lambda t: (2 * t - 3) * t * t + 1),
    "box": (0.5, lambda t: 1.0),
    "triangle": (1.0, lambda t: 1 - t),
    "bell": (1.5, _bell),
    "b_spline": (2.0, _b_spline),
    "lanczos3": (3.0, partial(_lanczos, 3)),
    "lanczos2": (2.0, partial(_lanczos, 2)),
    "mitchell": (2.0, _mitchell),
    "blackman": (1.0, _blackman),
    "catrom": (2.0, _catrom),
    "hamming": (1.0, lambda t: 0.54 + 0.46 * sincos(math.pi * t)[1]),
    "hanning": (1.0, lambda t: 0.5 + 0.5 * sincos(math.pi * t)[1]),
    "quadratic": (1.5, _bell),
}


def filter_taps(display: Display, step: int) -> NDArray[np.float64]:
    """Return the filter from buckets to pixels along one axis: the weights add up to 1."""
    support, kernel = FILTERS[display.filter]
    wide = 2 * support * step * display.filter_radius
    count = int(wide) + 1
    count += (count ^ step) & 1  # centered on the pixel
    scale = support * count / wide if wide > 0 else 1.0
    places = [abs((2 * k + 1) / count - 1) * scale for k in range(count)]
    values = np.array([kernel(t) if t < support else 0.0 for t in places])
    if values.sum() <= 0:
        values = np.array([float(t == min(places)) for t in places])
    taps: NDArray[np.float64] = values / values.sum()
    return taps

"""Develop: linear light of any family becomes pixels, as the table [develop] of a scene says."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, run_pieces
from fractals.color import palette
from fractals.errors import OptionError
from fractals.kernels import develop as developing
from fractals.kernels.develop import Development, DevelopOptions
from fractals.kernels.elementary import exp
from fractals.scene.model import Scene

OCTAVES = 5  # Gaussians of a glow, each half as wide as the next
LEAST = 2.0  # cells of the standard deviation of a Gaussian: with fewer, cells would be seen
REACH = 3.0  # standard deviations at which a Gaussian ends
ROWS = 64  # that a thread computes at once
SMOOTH = "solid", "relief"  # families whose pictures would show steps of 8 bits
PIECE = 2**14  # of a table's numbers, computed at once

Light = NDArray[np.floating[Any]]


def developing_of(scene: Scene) -> dict[str, Any]:
    """Return what is done to the light of a picture, as plain values."""
    own = scene.develop
    exposure, curve = own.usual(scene.family)
    rest = {key: getattr(own, key) for key in ("bloom", "vignette", "denoise", "grain")}
    return {"exposure": exposure, "curve": curve} | {k: v for k, v in rest.items() if v}


class Developer:
    """Makes pixels of light that is as bright as `exposure` says.

    Attributes
    ----------
    exposure : float
        The factor by which who computes light multiplies it.
    glows : bool
        Whether pixels depend on others: the light of the whole picture is needed then.
    """

    def __init__(
        self,
        backend: Backend,
        scene: Scene,
        whole: tuple[int, int] | None = None,
        corner: tuple[int, int] = (0, 0),
    ) -> None:
        """Compile what develops; `whole`, `corner`: the picture is a part, which begins there."""
        self._backend, self._scene, own = backend, scene, scene.develop
        self._whole, self._corner = whole or scene.image.size, corner
        self.exposure, curve = own.usual(scene.family)
        self.glows = own.bloom > 0
        self._dtype = scene.image.dtype
        dithered = own.dither and scene.image.bits == 8 and scene.family in SMOOTH
        options = DevelopOptions(curve, scene.image.hdr, own.grain > 0, dithered)
        self._develop = backend.compile(developing.make_develop_body, options)
        self._numbers: dict[str, Any] = {}

    def encoding(self) -> NDArray[np.float32]:
        """Return exposed light in place of the table of `fractals.color.palette.encoding`."""
        return light_table(self.exposure)

    def sheet(self, left: int, top: int, real: Any) -> Development:
        """Return where pixels are, for light of a type."""
        name = np.dtype(real).name
        if name not in self._numbers:
            width, height = self._whole
            own, x, y = self._scene.develop, width / 2, height / 2
            white = 255 if self._dtype.itemsize == 1 else 65535
            numbers = [x, y, 1 / math.hypot(x, y), own.vignette, own.grain, white]
            self._numbers[name] = self._backend.to_device(np.array(numbers, real))
        column, row = self._corner
        return Development(np.int32(left + column), np.int32(top + row), self._numbers[name])

    def on_device(self, light: Any, left: int, top: int) -> Any:
        """Return the pixels of a part of the picture, on the device, without a glow."""
        out = self._backend.empty(light.shape, self._dtype)
        self._develop(out, light, self.sheet(left, top, light.dtype))
        return out

    def pixels(self, light: Light, top: int = 0) -> NDArray[Any]:
        """Return the pixels of rows of the picture, whose first row is `top`.

        Where it glows, the rows are those of the whole picture, and their light changes.
        """
        if self.glows:
            self._glow(light)
        found = np.empty(light.shape, self._dtype)

        def work(first: int, rows: int) -> None:
            part = self._backend.to_device(light[first : first + rows])
            out = self.on_device(part, 0, top + first)
            self._backend.to_host(out, found[first : first + rows])

        self._in_bands(len(light), work)
        return found

    def of_values(self, values: NDArray[np.float32], top: int = 0) -> NDArray[Any]:
        """Return the pixels of sRGB values, which may be brighter than white; see `pixels`."""
        lighten = self._backend.compile(developing.make_light_body)
        exposure = np.float32(self.exposure)

        def work(first: int, rows: int) -> None:
            part = values[first : first + rows]
            on_device = self._backend.to_device(part)
            lighten(on_device, exposure)
            if on_device is not part:
                self._backend.to_host(on_device, part)

        self._in_bands(len(values), work)
        return self.pixels(values, top)

    def _glow(self, light: Light) -> None:
        """Add the glow of what is bright."""
        backend, own = self._backend, self._scene.develop
        height = self._scene.image.size[1]
        light32 = np.ascontiguousarray(light, np.float32)
        on_device = backend.to_device(light32)
        bright = backend.compile(developing.make_bright_body)
        threshold = np.float32(own.bloom_threshold)
        pool = backend.compile(developing.make_pool_body)
        across, down = (backend.compile(developing.make_blur_body, each) for each in (False, True))
        add = backend.compile(developing.make_glow_body)
        strength = np.float32(own.bloom / OCTAVES)
        grid, level = self._filled(light.shape, bright, on_device, threshold), 0
        for octave in range(OCTAVES):
            width = own.bloom_radius * height / 2 ** (OCTAVES - 1 - octave)
            while width / 2**level >= 2 * LEAST and max(grid.shape[:2]) > 1:
                smaller = -(-grid.shape[0] // 2), -(-grid.shape[1] // 2), 3
                grid, level = self._filled(smaller, pool, grid), level + 1
            taps = backend.to_device(gaussian(width / 2**level))
            blurred = self._filled(grid.shape, across, grid, taps)
            blurred = self._filled(grid.shape, down, blurred, taps)
            share = np.float32(1 / 2**level)
            self._fill(on_device, add, blurred, share, strength)
        if on_device is not light:
            found = np.empty(light.shape, np.float32)
            backend.to_host(on_device, found)
            light[...] = found

    def _filled(self, shape: tuple[int, ...], run: Any, *arguments: Any) -> Any:
        out = self._backend.empty(shape, np.float32)
        self._fill(out, run, *arguments)
        return out

    def _fill(self, out: Any, run: Any, *arguments: Any) -> None:
        """Fill an array of the device; on the CPU, by all threads."""
        if self._backend.kind != "cpu":
            run(out, *arguments, np.int64(0))
            return

        def work(first: int, rows: int) -> None:
            run(out[first : first + rows], *arguments, np.int64(first))

        self._in_bands(out.shape[0], work)

    def _in_bands(self, rows: int, work: Callable[[int, int], None]) -> None:
        """Have bands of rows be worked on, on all threads."""
        step = ROWS if self._backend.kind == "cpu" else rows

        def one(first: int) -> None:
            work(first, min(step, rows - first))

        run_pieces(self._backend, range(0, rows, step), one)


def light_table(exposure: float) -> NDArray[np.float32]:
    """Return light in place of the table of `fractals.color.palette.encoding`."""
    levels = palette.LEVELS[16]
    table = np.empty(levels, np.float32)
    for k in range(0, levels, PIECE):  # pieces stay in the processor's cache: a third of the time
        table[k : k + PIECE] = exposure * np.arange(k, k + PIECE) / (levels - 1)
    return table


def toned(scene: Scene, light: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return light as bright as the exposure and the curve make it, for previews."""
    if not scene.is_developed:
        return light
    exposure, curve = scene.develop.usual(scene.family)
    bright = (light * np.float32(exposure)).astype(np.float64)
    bent = developing.film(bright) if curve == "filmic" else bright.clip(0, 1)
    found: NDArray[np.float32] = np.asarray(bent, np.float32)
    return found


def gaussian(width: float) -> NDArray[np.float32]:
    """Return the weights of a Gaussian, in cells; `width` is its standard deviation."""
    reach = max(1, math.ceil(REACH * width))
    at = np.arange(-reach, reach + 1)
    return np.asarray(exp(-(at**2) / (2 * max(width, 1e-3) ** 2)), np.float32)


def check_bands(scene: Scene) -> None:
    """Raise an `OptionError` where a picture is drawn in parts that do not see each other."""
    if scene.develop.bloom:
        raise OptionError(
            "bloom needs the light of the whole picture, which is drawn in parts here: leave "
            "bloom= out, or give a smaller size="
        )

"""The channels of a picture's EXR: its light, the parts of that light, and the surface."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.scene.model import Scene
from fractals.space import march
from fractals.space.light import DIRECT, FOG, HAZE, HAZED, NOWHERE, PASSES, SHADOW, SHARES
from fractals.space.plan import sources_of
from fractals.space.trace import Tracing

Planes = dict[str, NDArray[np.float32]]

LIGHT = ("R", "G", "B")
SURFACE = (
    *("albedo.R", "albedo.G", "albedo.B", "normal.X", "normal.Y", "normal.Z"),
    *("Z", "trap"),
)
# Rows of `sources_of` that are a part of the light: the horizon, the zenith and the ground are sky.
PARTS = {"sun": (0,), "sky": (1, 2, 3), "emission": (4,)}


def numbers_in(scene: Scene) -> int:
    """Return how many numbers a pixel's sums have for an EXR: with passes where it is relit."""
    return 3 + (SHARES + PASSES) * scene.light.relight


def channels_of(tracing: Tracing, light: NDArray[Any]) -> Planes:
    """Return the channels of a picture: arrays of float32, shape (rows, columns).

    `light`: as of `Tracing.light`: red, green and blue, and the shares of sources and the passes
    where they are kept.
    """
    guides = tracing.guides()
    found = dict(zip(LIGHT, np.moveaxis(light[..., :3], -1, 0), strict=True))
    found |= dict(zip(SURFACE, np.moveaxis(guides, -1, 0), strict=True))
    depth = found["Z"].astype(np.float64)
    seen = depth < np.float32(NOWHERE)
    place = np.where(seen[..., None], places_at(tracing, np.where(seen, depth, 0)), 0)
    found |= {f"position.{axis}": place[..., k] for k, axis in enumerate("XYZ")}
    found["haze"] = 1 - np.exp(-((depth * float(tracing.shot.light[HAZE])) ** 2))
    if light.shape[2] > 3:
        found["haze"] = light[..., 3 + SHARES + FOG - DIRECT]  # of the picture's samples
    for name, part in parts_of(tracing, light[..., 3:]).items():
        found |= colored(name, part)
    return {name: np.ascontiguousarray(plane, np.float32) for name, plane in found.items()}


def colored(name: str, light: NDArray[Any]) -> Planes:
    """Return the channels of light, shape (rows, columns, 3), under a name."""
    planes = np.moveaxis(light, -1, 0)
    return {
        f"{name}.{color}": np.ascontiguousarray(plane, np.float32)
        for color, plane in zip(LIGHT, planes, strict=True)
    }


def parts_of(tracing: Tracing, shares: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Return the light of sun, sky and emission, which add up to the light of the picture.

    Further parts: the sun's light on the surface that the camera sees (direct), the sun's light
    that shadows keep from this surface, and the light of the haze before it, a part of the sky's.
    `shares`: of the sources, and the passes, shape (rows, columns, SHARES + PASSES), or of no
    number: none were kept.
    """
    if not shares.shape[2]:
        return {}
    sources = sources_of(tracing.plan.scene) * tracing.developer.exposure
    by_source = shares[..., :SHARES].reshape(*shares.shape[:2], *sources.shape) * sources
    found = {name: by_source[..., list(rows), :].sum(axis=2) for name, rows in PARTS.items()}
    passes = shares[..., SHARES:]
    found["direct"] = passes[..., :3] * sources[0]
    found["shadow"] = passes[..., SHADOW - DIRECT : HAZED - DIRECT] * sources[0]
    found["haze"] = passes[..., HAZED - DIRECT : FOG - DIRECT] * tracing.developer.exposure
    return found


def places_at(tracing: Tracing, depth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the places in space at distances along the rays through the middles of pixels.

    `depth`: shape (rows, columns); the places have three coordinates each. The rays are those of
    `fractals.space.march.make_ahead`.
    """
    m = tracing.shot.camera.astype(np.float64)
    left, top = tracing.plan.corner
    height, width = depth.shape
    across, down = np.meshgrid(left + np.arange(width) + 0.5, top + np.arange(height) + 0.5)
    position, ahead, right, up = (m[k : k + 3] for k in range(0, 12, 3))
    half, pixel, eye = m[march.HALF : march.HALF + 2], m[march.PIXEL], np.zeros(depth.shape)
    around = m[march.COLUMN] > 0
    if m[march.EYE] > 0:  # the second half of the columns, or of the rows, is the right eye's
        place, end = (down, 2 * half[1]) if around else (across, 2 * half[0])
        eye = np.where(place >= end, m[march.EYE], -m[march.EYE])
        place -= end * (place >= end)

    def along(*parts: tuple[NDArray[np.float64] | float, NDArray[np.float64]]) -> Any:
        return sum(np.multiply.outer(np.asarray(length), axis) for length, axis in parts)

    if around:
        turn, rise = (across - half[0]) * m[march.COLUMN], (half[1] - down) * pixel
        level = np.cos(rise)
        start = along((eye * np.cos(turn), right), (-eye * np.sin(turn), ahead))
        way = along(
            (level * np.sin(turn), right), (np.sin(rise), up), (level * np.cos(turn), ahead)
        )
    else:
        x, y, far = (across - half[0]) * pixel, (half[1] - down) * pixel, m[march.FOCUS]
        start = along((eye, right))
        way = along((far * x - eye, right), (far * y, up), (np.full(depth.shape, far), ahead))
        way /= np.linalg.norm(way, axis=2, keepdims=True)
    found: NDArray[np.float64] = position + start + depth[..., None] * way
    return found

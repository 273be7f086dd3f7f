#!/usr/bin/env python3
"""Time the colors of pictures beside hand-written C: places in a palette, layers, means of samples.

    python benchmarks/limit/shade.py                 # a minute
    python benchmarks/limit/shade.py --runs 9 --json > benchmarks/shade-<processor>.json

The pictures are `render`'s default one (the scene lantern, not turned and without vignette and
grain), its light alone, its slopes alone, and three layers, without a mask and with one over the
third. Raw numbers of all samples, four a pixel, are computed beforehand. Both use one thread, in
turns; the least CPU time of some runs. Exits 5 where a pixel differs from the C's.
"""

import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this checkout, installed or not

from yardstick import FLAGS, HERE, WIDTHS, asked, errors_told, find_compiler, least_seconds

import fractals
from fractals import Scene
from fractals.backends.cpu.simd.pack import REGISTER
from fractals.color import palette, trap_image
from fractals.errors import DifferenceError
from fractals.rendering.drawing import Drawing, open_drawing, open_plan
from fractals.rendering.groups import mask_map
from fractals.rendering.options import RenderOptions

SIZE = (960, 540)
SIDE = 2  # samples of a pixel, a side
MODES = {"normal": 0, "soft_light": 1, "multiply": 2}  # as in shade.c
SLOPES = {"coloring": {"name": "slopes", "direction": 140, "height": 40, "ambient": 0.3}}
SOFT = {**SLOPES, "palette": "ink", "blend": "soft_light", "opacity": 0.85}
LEFT = {"coloring": {"name": "slopes", "direction": 40}, "palette": "ink"}
THIRD = {**LEFT, "blend": "multiply", "opacity": 0.4}


def mask_text() -> str:
    """Return a mask as scenes hold it: a soft disc in the middle."""
    rows, columns = np.ogrid[-36:36, -64:64]
    away = np.hypot(rows + 0.5, columns + 0.5)
    bright = (255 * np.clip((48 - away) / 32, 0, 1)).astype(np.uint8)
    return trap_image.encode(bright)


PICTURES: dict[str, dict[str, Any]] = {
    "light alone": {"layers": []},
    "slopes alone": {**SLOPES, "palette": "ink", "transfer": "linear", "layers": []},
    "default": {"layers": [SOFT]},
    "three layers": {"layers": [SOFT, THIRD]},
    "three layers and a mask": {"layers": [SOFT, {**THIRD, "picture_mask": mask_text()}]},
}


def scene_of(name: str) -> Scene:
    """Return the scene of a picture."""
    keys = {"size": SIZE, "supersampling": SIDE, "rotation": 0, "vignette": 0, "grain": 0}
    return fractals.load_scene("lantern", **keys, **PICTURES[name])


def drawing_of(scene: Scene) -> Drawing:
    """Return a drawing on one thread."""
    options = RenderOptions(device="cpu", threads=1)
    return open_drawing(*open_plan(scene, options), options)


class Layer:
    """What the C takes of a layer, from the scene that draws it alone."""

    def __init__(self, scene: Scene, below: bool) -> None:
        drawing, color = drawing_of(scene), scene.color
        source, painter = drawing.source, drawing.painter
        assert painter
        programs = painter.single(source.max_iterations, source.count_offset)
        assert programs
        _, inputs, _, (lookup, self.encode, _) = programs
        self.constants = np.zeros(9, inputs.constants.dtype)
        self.constants[: len(inputs.constants)] = inputs.constants
        name = color.coloring if isinstance(color.coloring, str) else color.coloring.name
        self.slopes = int(name == "slopes")
        self.cyclic = int(drawing.plan.layers.drawn[0].paint.make_palette().cyclic)
        self.entries = len(lookup) - 2
        linear = np.asarray(lookup)
        colors = palette.srgb_from_linear(linear).astype(np.float32) if below else linear
        self.lookup = np.zeros((len(colors) + 1, 4), np.float32)
        self.lookup[:-1, :3] = colors


class InC:
    """The C for a scene's colors."""

    def __init__(self, library: Any, drawing: Drawing, raw: list[Any]) -> None:
        scene, self._library, self._raw = drawing.plan.scene, library, raw
        above = scene.color.layers
        alone = scene.replace(layers=[])
        scenes = [alone] + [
            alone.replace(
                coloring=each.coloring, palette="ink", transfer="linear", density=1, offset=0
            )
            for each in above
        ]
        self._layers = [Layer(each, bool(above)) for each in scenes]
        self._masks = [None, *(self._mask_of(drawing, each) for each in above)]
        self._tiles = drawing.plan.tiles
        self._limit = drawing.source.max_iterations
        self._modes = np.array([0, *(MODES[each.blend] for each in above)], np.int32)
        self._opacities = np.array([1, *(each.opacity for each in above)], np.float32)
        self._entries = np.array([each.entries for each in self._layers], np.int32)
        self._decode = np.ascontiguousarray(palette.decoding())
        self._positions = [np.empty(raw[0].count.size, np.float32) for _ in self._layers]
        self._weights = [each and np.empty(raw[0].count.size, np.float32) for each in self._masks]

    @staticmethod
    def _mask_of(drawing: Drawing, layer: Any) -> tuple[NDArray[Any], ...] | None:
        """Return the map and the pixels of the mask of a layer."""
        if not (mask := layer.picture_mask):
            return None
        affine = np.array(mask_map(drawing.plan, mask))
        return affine, np.ascontiguousarray(trap_image.weights(mask.picture))

    def _weigh(self, tile: Any) -> list[int]:
        """Fill the weights of a tile's samples, and return their addresses; 0 without a mask."""
        found = []
        sizes = [SIDE * part for part in (tile.height, tile.width, tile.x, tile.y)]
        for mask, weights, opacity in zip(self._masks, self._weights, self._opacities, strict=True):
            if mask is None:
                found.append(0)
                continue
            affine, bright = mask
            given = *map(ctypes.c_long, sizes), _at(affine), _at(bright)
            shape = (ctypes.c_long(part) for part in bright.shape)
            self._library.weigh(*given, *shape, ctypes.c_float(opacity), _at(weights))
            found.append(weights.ctypes.data)
        return found

    def paint(self, pixels: list[NDArray[np.uint8]]) -> None:
        """Fill the pixels of all tiles."""
        encode = np.asarray(self._layers[0].encode)
        brightest = ctypes.c_int(len(encode) - 1)
        for place, tile, out in zip(self._tiles, self._raw, pixels, strict=True):
            height, width = (ctypes.c_long(part) for part in out.shape[:2])
            for layer, position in zip(self._layers, self._positions, strict=True):
                arrays = (tile.count, tile.x, tile.y, tile.dx, tile.dy, layer.constants)
                kinds = ctypes.c_int(layer.slopes), ctypes.c_int(layer.cyclic)
                given = *kinds, ctypes.c_long(tile.count.size), *map(_at, arrays)
                self._library.places(*given, ctypes.c_int(self._limit), _at(position))
            if len(self._layers) == 1:
                (layer,), (position,) = self._layers, self._positions
                given = _at(position), _at(layer.lookup), _at(encode), brightest, _at(out)
                numbers = height, width, ctypes.c_int(SIDE), ctypes.c_int(layer.entries)
                self._library.paint(*numbers, *given)
                continue
            pointers = ctypes.c_void_p * len(self._layers)
            self._library.blend(
                height,
                width,
                ctypes.c_int(SIDE),
                ctypes.c_int(len(self._layers)),
                _at(self._modes),
                _at(self._entries),
                _at(self._opacities),
                pointers(*self._weigh(place)),
                pointers(*(each.ctypes.data for each in self._positions)),
                pointers(*(each.lookup.ctypes.data for each in self._layers)),
                _at(self._decode),
                ctypes.c_int(len(self._decode)),
                _at(encode),
                brightest,
                _at(out),
            )


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def libraries(folder: str, bits: int) -> dict[str, Any]:
    """Return the C, compiled for the widths of vectors that Numba compiles for, by width."""
    found = {}
    for width in WIDTHS:
        if width > 8 * REGISTER:
            continue
        path = Path(folder, f"shade-{bits}-{width}.so")
        if not path.exists():
            options = [*FLAGS, "-fno-trapping-math", f"-mprefer-vector-width={width}"]
            options += [*WIDTHS[width], f"-DREAL_BITS={bits}"]
            command = [find_compiler(), *options, "-o", str(path), str(HERE / "shade.c")]
            subprocess.run(command, check=True)
        found[f"C, {width} bits"] = ctypes.CDLL(str(path))
    return found


def measured(name: str, folder: str, runs: int) -> dict[str, float]:
    """Return the nanoseconds of a sample, by what colors it."""
    drawing = drawing_of(scene_of(name))
    painter, source, tiles = drawing.painter, drawing.source, drawing.plan.tiles
    assert painter
    raw = [type(found)(*map(np.copy, found)) for found in map(source.iterate, tiles)]
    shapes = [(tile.height, tile.width, 3) for tile in tiles]
    limit, offset = source.max_iterations, source.count_offset

    def ours() -> list[Any]:
        return [painter.paint(*given, limit, offset) for given in zip(tiles, raw, strict=True)]

    expected = [np.copy(part) for part in ours()]
    ways: dict[str, Callable[[], object]] = {"ours": ours}
    for label, library in libraries(folder, 8 * raw[0].x.itemsize).items():
        way, pixels = InC(library, drawing, raw), [np.zeros(shape, np.uint8) for shape in shapes]
        way.paint(pixels)
        differ = sum(int((a != b).any(-1).sum()) for a, b in zip(pixels, expected, strict=True))
        if differ:
            raise DifferenceError(f"{name}: {differ} pixels differ from those of {label}")
        ways[label] = lambda way=way, pixels=pixels: way.paint(pixels)  # type: ignore[misc]
    least = least_seconds(ways, runs)
    samples = SIZE[0] * SIZE[1] * SIDE**2
    return {label: 1e9 * seconds / samples for label, seconds in least.items()}


def main() -> None:
    """Print the table, or JSON."""
    given = asked(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        found = {name: measured(name, folder, given.runs) for name in PICTURES}
    if given.json:
        print(json.dumps({"register_bits": 8 * REGISTER, "ns_a_sample": found}, indent=1))
        return
    for name, times in found.items():
        best = min(value for label, value in times.items() if label != "ours")
        others = ", ".join(f"{label} {value:.2f}" for label, value in times.items())
        print(f"{name}: ns a sample: {others}; {best / times['ours']:.2f} of the best C's speed")


if __name__ == "__main__":
    with errors_told():
        main()

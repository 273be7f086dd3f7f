"""Draws a sheet of palettes: each one's picture of a scene, its colors in a strip, and its name."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from fractals.color import palette, spaces
from fractals.color.spaces import Floats
from fractals.io.load import load_scene
from fractals.io.png import Pixels
from fractals.rendering.render import compute, recolor
from fractals.scene.model import Scene

SCENE = "seahorse"
COLUMNS = 5
PICTURE = (256, 144)  # pixels
SEAM, STRIP, TEXT, GAP = 2, 26, 22, 14  # pixels: heights, and the space between pictures
# Density and offset of cyclic palettes and of others, which span the picture once.
TURNS = {True: (0.6, 0.0), False: (0.25, -1.1)}
GROUND, INK = (34, 34, 36), (224, 224, 226)  # nearly black, as colors look dull on white


def scene() -> Scene:
    """Return the scene that is drawn in each palette."""
    return load_scene(f"gallery:{SCENE}").replace(size=PICTURE)


def sheet(names: Sequence[str]) -> Pixels:
    """Return a picture of palettes, uint8 of shape (height, width, 3)."""
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont

    shown = scene()
    raw = compute(shown, device="cpu")
    wide, high = PICTURE[0] + GAP, PICTURE[1] + SEAM + STRIP + TEXT + GAP
    rows = -(-len(names) // COLUMNS)
    whole = PIL.Image.new("RGB", (COLUMNS * wide + GAP, rows * high + GAP), GROUND)
    pen: Any = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(14)
    for k, name in enumerate(names):
        x, y = GAP + k % COLUMNS * wide, GAP + k // COLUMNS * high
        density, offset = TURNS[palette.load(name).cyclic]
        looks = shown.replace(palette=name, density=density, offset=offset)
        drawn = recolor(raw, looks, device="cpu").pixels
        whole.paste(PIL.Image.fromarray(drawn), (x, y))
        strip = np.broadcast_to(turn(name, PICTURE[0]), (STRIP, PICTURE[0], 3))
        y += PICTURE[1] + SEAM
        whole.paste(PIL.Image.fromarray(np.ascontiguousarray(strip)), (x, y))
        pen.text((x, y + STRIP + 3), name, fill=INK, font=font)
    return np.asarray(whole)


def turn(name: str, steps: int) -> Pixels:
    """Return the colors of a palette at equal steps of one turn, uint8 of shape (steps, 3)."""
    at: Floats = (np.arange(steps) + 0.5) / steps
    linear = palette.load(name).linear(at)
    return np.rint(255 * np.clip(spaces.srgb_from_linear(linear), 0, 1)).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """Return the bytes of a PNG."""
    import PIL.Image

    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

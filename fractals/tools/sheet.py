"""Draws contact sheets of a scene, in many colors."""

import io
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fractals import catalog
from fractals.color import palette
from fractals.color.palette import Floats
from fractals.errors import OptionError, shown
from fractals.io.png import Pixels
from fractals.rendering.fit import fit_colors
from fractals.rendering.render import compute, recolor, render
from fractals.scene.model import Scene
from fractals.scene.paint import BLENDS

KINDS = ("palettes", "colorings", "density,offset", "blends")
WIDTH = 256  # pixels of a picture
SAMPLES = 16  # of a pixel of a solid or a relief: only shadows show grain
COLUMNS = 5
STRIP, TEXT, GAP, SEAM = 26, 25, 14, 2  # pixels: heights, and the space between pictures
EMPTY = 0.98  # share of pixels of one color, beyond which a coloring shows nothing
GROUND, INK = (34, 34, 36), (224, 224, 226)  # nearly black, as colors look dull on white
DENSITIES = (0.25, 0.5, 1, 2, 4)  # times the scene's, a row each
OFFSETS = (0, 0.2, 0.4, 0.6, 0.8)  # added to the scene's, in turns, a column each


class Cell(NamedTuple):
    """A picture of a sheet, with its label and, of a palette, its colors in a strip."""

    label: str
    pixels: Pixels
    strip: Pixels | None = None


def reduced(scene: Scene) -> Scene:
    """Return the scene at the size of a picture in a sheet, with few samples of light."""
    across, down = scene.image.size
    high = min(max(1, round(WIDTH * down / across)), 2 * WIDTH)
    lit = scene.family in ("solid", "relief") and scene.light.samples == "auto"
    small = scene.replace(size=(WIDTH, high), bits=8, gamut="srgb", hdr=False)
    return small.replace(samples=SAMPLES) if lit else small


def cells(scene: Scene, kind: str, device: str = "cpu") -> Iterator[Cell]:
    """Yield the pictures of a sheet; all but those of colorings are iterated once."""
    small = reduced(scene)
    small.make_formula()  # an error of another family
    if kind == "colorings":
        yield from _colorings(small, device)
        return
    if kind not in KINDS:
        raise OptionError(f"unknown kind of sheet '{shown(kind, 40)}': choose {' or '.join(KINDS)}")
    small = _layered(small) if kind == "blends" else small
    raw = compute(small, device=device)
    looks = {"palettes": _palettes, "blends": _blends}.get(kind, _densities)(small)
    for label, look, strip in looks:
        yield Cell(label, recolor(raw, look, device=device).pixels, strip)


def _palettes(scene: Scene) -> Iterator[tuple[str, Scene, Pixels | None]]:
    fitted = fit_colors(scene.replace(palette="ink"))  # serves every palette that has two ends
    for name in catalog.names("palette"):
        look = scene if palette.load(name).cyclic else fitted
        yield name, look.replace(palette=name), turn(name, WIDTH)


def _densities(scene: Scene) -> Iterator[tuple[str, Scene, Pixels | None]]:
    for factor in DENSITIES:
        for more in OFFSETS:
            density = float(f"{factor * scene.color.density:.3g}")
            offset = float(f"{scene.color.offset + more:.3g}")
            label = f"density {density:g}, offset {offset:g}"
            yield label, scene.replace(density=density, offset=offset), None


def _layered(scene: Scene) -> Scene:
    """Return a scene with a layer: its own, or slopes in gray."""
    slopes = {"coloring": "slopes", "palette": "ink"}
    return scene if scene.color.layers else scene.replace(layers=[slopes])


def _blends(scene: Scene) -> Iterator[tuple[str, Scene, Pixels | None]]:
    """Yield the scene with its topmost layer blended in each way."""
    *below, top = scene.to_values()["color"]["layers"]
    for name in BLENDS:
        yield name, scene.replace(layers=[*below, {**top, "blend": name}]), None


def _colorings(scene: Scene, device: str) -> Iterator[Cell]:
    empty = True
    for name in catalog.names("coloring"):
        try:
            look = scene.replace(coloring=name, palette="auto", layers=[], transfer="auto")
            image = render(fit_colors(look), device=device, on_message=lambda line: None)
        except OptionError:  # the coloring has no meaning for the formula
            continue
        if not _is_empty(image.pixels):
            empty = False
            yield Cell(name, image.pixels)
    if empty:
        raise OptionError("no coloring shows anything in this view: zoom out, or move elsewhere")


def _is_empty(pixels: Pixels) -> bool:
    """Tell whether nearly all pixels have one color, as where no sample has a value."""
    _, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    return int(counts.max()) > EMPTY * pixels[..., 0].size


def assemble(found: Sequence[Cell], columns: int = COLUMNS) -> Pixels:
    """Return a picture of cells in rows, uint8 of shape (height, width, 3)."""
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont

    high = max(cell.pixels.shape[0] for cell in found)
    strip = STRIP + SEAM if any(cell.strip is not None for cell in found) else 0
    across, down = WIDTH + GAP, high + strip + TEXT + GAP
    rows = -(-len(found) // columns)
    whole = PIL.Image.new("RGB", (columns * across + GAP, rows * down + GAP), GROUND)
    pen: Any = PIL.ImageDraw.Draw(whole)
    font = PIL.ImageFont.load_default(16)
    for k, cell in enumerate(found):
        x, y = GAP + k % columns * across, GAP + k // columns * down
        whole.paste(PIL.Image.fromarray(cell.pixels), (x, y))
        y += high + SEAM
        if cell.strip is not None:
            colors = np.broadcast_to(cell.strip, (STRIP, WIDTH, 3))
            whole.paste(PIL.Image.fromarray(np.ascontiguousarray(colors)), (x, y))
        pen.text((x, y + max(0, strip - SEAM) + 3), cell.label, fill=INK, font=font)
    return np.asarray(whole)


def turn(name: str, steps: int) -> Pixels:
    """Return the colors of a palette at equal steps of one turn, uint8 of shape (steps, 3)."""
    at: Floats = (np.arange(steps) + 0.5) / steps
    linear = palette.load(name).linear(at)
    return np.rint(255 * np.clip(palette.srgb_from_linear(linear), 0, 1)).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """Return the bytes of a PNG."""
    import PIL.Image

    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG")  # optimize: 4 % less, in 5 times the time
    return buffer.getvalue()

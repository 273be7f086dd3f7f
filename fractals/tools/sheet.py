"""Draws contact sheets of a scene, in many colors, and the pictures and the page of the gallery."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fractals import catalog
from fractals.color import palette
from fractals.color.palette import Floats
from fractals.errors import FractalsError, OptionError, shown
from fractals.io.files import read_json, written
from fractals.io.image import Image
from fractals.io.load import load_scene
from fractals.io.png import Pixels
from fractals.rendering.families import family_of
from fractals.rendering.fit import fit_colors
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import compute, recolor, render
from fractals.scene.model import Scene

KINDS = ("palettes", "colorings", "density,offset")
WIDTH = 256  # pixels of a picture
COLUMNS = 5
STRIP, TEXT, GAP, SEAM = 26, 22, 14, 2  # pixels: heights, and the space between pictures
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
    """Return the scene at the size of a picture in a sheet."""
    across, down = scene.image.size
    high = min(max(1, round(WIDTH * down / across)), 2 * WIDTH)
    return scene.replace(size=(WIDTH, high), bits=8, gamut="srgb", hdr=False)


def cells(scene: Scene, kind: str, device: str = "cpu") -> Iterator[Cell]:
    """Yield the pictures of a sheet; all but those of colorings are iterated once."""
    small = reduced(scene)
    if kind == "colorings":
        yield from _colorings(small, device)
        return
    if kind not in KINDS:
        raise OptionError(f"unknown kind of sheet '{shown(kind, 40)}': choose {' or '.join(KINDS)}")
    raw = compute(small, device=device)
    looks = _palettes(small) if kind == "palettes" else _densities(small)
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


def _colorings(scene: Scene, device: str) -> Iterator[Cell]:
    for name in catalog.names("coloring"):
        try:
            look = scene.replace(coloring=name, palette="auto", layers=[], transfer="auto")
            image = render(fit_colors(look), device=device, on_message=lambda line: None)
        except OptionError:  # the coloring has no meaning for the formula
            continue
        if not _is_empty(image.pixels):
            yield Cell(name, image.pixels)


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
    font = PIL.ImageFont.load_default(14)
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
    PIL.Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


# --- The gallery's pictures and page, and a check of the counts of small ones

PAGE, HASHES = "README.md", "counts.json"
QUALITY = 92  # of a WebP that loses something
# Bytes of a file without loss. Smooth pictures need less, and with loss they show blocks. Noise and
# fine detail need more, and hide what is lost.
MOST = 500_000
SMALL = 96  # pixels: the width of the pictures whose counts are hashed
HEAD = """# Gallery

Every picture here is drawn from a scene: a small text file. `fractals render {name}` draws one,
`--size 4k` at another size, `--palette ember` in other colors. `fractals gallery --all` draws all
pictures and writes this page.
"""

Size = tuple[int, int]


def draw(
    names: tuple[str, ...],
    folder: Path,
    resize: Callable[[Size], Size],
    device: str = "auto",
    on_message: Callable[[str], None] = lambda line: None,
    threads: int | None = None,
) -> list[Path]:
    """Draw scenes of the gallery into an existing folder, and return the files that were written.

    Without names all scenes are drawn, and the page. ``resize(size)`` returns the size to draw at,
    from the scene's own, (width, height). `on_message` receives a line for each picture. Where the
    folder has hashes of counts, the hashes of these scenes are renewed.
    """
    files = []
    for name in names or catalog.names("gallery"):
        scene = load(name)
        image = render(
            scene.replace(size=resize(scene.image.size)),
            device=device,
            threads=threads,
            on_message=on_message,
        )
        path = folder / picture_file(name)
        with written(path) as file:
            file.write(encoded(image))
        files.append(path)
        on_message(f"{path}: {sum(image.timings.values()):.2f} s")
    if not names:
        files.append(folder / PAGE)
        with written(files[-1]) as file:
            file.write(page(folder).encode())
    if (folder / HASHES).exists():
        known = read_json(folder / HASHES)
        known |= {
            name: hash_of(name, device, threads) for name in names or catalog.names("gallery")
        }
        files.append(folder / HASHES)
        with written(files[-1]) as file:
            rows = {name: known[name] for name in sorted(known) if name in catalog.names("gallery")}
            file.write((json.dumps(rows, indent=1) + "\n").encode())
    return files


def picture_file(name: str) -> str:
    """Return the name of the file of a scene's picture."""
    return f"{name}.webp"


def encoded(image: Image) -> bytes:
    """Return the bytes of the file of a picture: without loss, where that takes few bytes."""
    whole = image.encode("WEBP")
    return whole if len(whole) <= MOST else image.encode("WEBP", quality=QUALITY)


def load(name: str) -> Scene:
    """Return a scene of the gallery, even where a file has its name."""
    return load_scene(f"gallery:{name}")


def hash_of(name: str, device: str = "auto", threads: int | None = None) -> str:
    """Return the hash of a scene's counts at `SMALL` samples across, equal on every device.

    Those of a scatter image are the hits of its buckets, and a solid has the pixels of one path of
    light each in their place. The hash is SHA-256, cut to 16 digits, of
    little-endian 32-bit integers, row by row from the top.
    """
    scene = load(name)
    across, down = scene.image.size
    small = scene.replace(size=(SMALL, round(SMALL * down / across)))
    options = RenderOptions(device=device, threads=threads, on_message=lambda line: None)
    data = family_of(scene).fingerprint(small, options)
    return hashlib.sha256(data).hexdigest()[:16]


def check(
    names: tuple[str, ...],
    folder: Path,
    device: str = "auto",
    on_message: Callable[[str], None] = print,
    threads: int | None = None,
) -> list[str]:
    """Return the scenes of the gallery whose counts differ from the hashes in a folder."""
    if not (folder / HASHES).exists():
        raise FractalsError(f"'{folder / HASHES}', the file with the hashes of counts: not found")
    known = read_json(folder / HASHES)
    different = []
    for name in names or catalog.names("gallery"):
        if name not in known:
            raise FractalsError(
                f"{folder / HASHES} has no '{name}': 'fractals gallery {name}' adds it"
            )
        right = hash_of(name, device, threads) == known[name]
        on_message(f"{name}: {'equal counts' if right else 'counts differ'}")
        different += [] if right else [name]
    return different


def page(folder: Path) -> str:
    """Return the Markdown page of the gallery in a folder; films are shown that are there."""
    names = catalog.names("gallery")
    parts = [HEAD.format(name=names[0] if names else "mandelbrot")]
    for name in names:
        scene = load(name)
        formula = scene.make_any_formula()
        kind = f"Julia set of {', '.join(scene.julia)}" if scene.julia else formula.title
        parts.append(
            f"## {scene.title or name}\n\n![{scene.title or name}]({picture_file(name)})\n\n"
            f"{scene.note}\n\n"
            f"`fractals render {name}`: {kind}, by {scene.author or 'unknown'}\n"
        )
    found = [path for each in catalog.GALLERIES for path in each.glob("films/*.toml")]
    for path in sorted(found):
        if not (folder / "films" / f"{path.stem}.webp").is_file():
            continue
        scene = load_scene(path)
        parts.append(
            f"## {scene.title}: a film\n\n![{scene.title}](films/{path.stem}.webp)\n\n"
            f"{scene.note}\n\n"
            f"`fractals film gallery/films/{path.name} -o {path.stem}.webp`, or `.mp4`, in any "
            f"size, by {scene.author}\n"
        )
    return "\n".join(parts)

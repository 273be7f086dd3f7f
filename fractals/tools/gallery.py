"""Draws the gallery: every scene's picture, and the page that shows them; checks small ones."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fractals import catalog
from fractals.errors import FractalsError
from fractals.io.files import read_json, written
from fractals.io.load import load_scene
from fractals.rendering.render import compute, render

PAGE, HASHES = "README.md", "counts.json"
SMALL = 96  # pixels across whose counts are hashed
HEAD = """# Gallery

Every picture here is a scene: a small text file. Draw one with `fractals render {name}`, at any
size with `--size 4k`, in other colors with `--palette ember`. This page and its pictures are made
by `fractals gallery`.
"""


def draw(
    names: tuple[str, ...],
    folder: Path,
    width: int,
    device: str = "auto",
    on_message: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Draw scenes of the gallery, `width` pixels wide, into a folder, and write its page.

    Where the folder has hashes of counts, those of these scenes are made anew, too.

    Returns
    -------
    list of Path
        The files that were written. The page is written only for the whole gallery.
    """
    files = []
    for name in names or catalog.names("gallery"):
        scene = load_scene(name)
        across, down = scene.image.size
        image = render(
            scene.replace(size=(width, round(width * down / across))),
            device=device,
            on_message=on_message,
        )
        path = folder / f"{name}.png"
        image.save(path, overwrite=True)
        files.append(path)
        on_message(f"{path}: {sum(image.timings.values()):.2f} s")
    if not names:
        files.append(folder / PAGE)
        with written(files[-1]) as file:
            file.write(page().encode())
    if (folder / HASHES).exists():
        known = read_json(folder / HASHES)
        known |= {name: hash_of(name, device) for name in names or catalog.names("gallery")}
        files.append(folder / HASHES)
        with written(files[-1]) as file:
            rows = {name: known[name] for name in sorted(known) if name in catalog.names("gallery")}
            file.write((json.dumps(rows, indent=1) + "\n").encode())
    return files


def hash_of(name: str, device: str = "auto") -> str:
    """Return a hash of a scene's counts, SMALL samples across: the same on every device.

    It is of little-endian integers of 32 bits, row by row from the top.
    """
    scene = load_scene(name)
    across, down = scene.image.size
    small = scene.replace(
        size=(SMALL, round(SMALL * down / across)),
        supersampling=1,
        antialias="grid",
        coloring="count",
        layers=[],
    )
    counts = compute(small, device=device, on_message=lambda line: None).count
    return hashlib.sha256(np.ascontiguousarray(counts, "<i4").tobytes()).hexdigest()[:16]


def check(
    names: tuple[str, ...],
    folder: Path,
    device: str = "auto",
    on_message: Callable[[str], None] = print,
) -> list[str]:
    """Return the scenes of the gallery whose counts are not those that a folder has hashes of.

    Raises
    ------
    FractalsError
        The folder has none, or not of a scene.
    """
    if not (folder / HASHES).exists():
        raise FractalsError(f"'{folder / HASHES}': no such file, which holds hashes of counts")
    known = read_json(folder / HASHES)
    different = []
    for name in names or catalog.names("gallery"):
        if name not in known:
            raise FractalsError(f"{folder / HASHES} has no '{name}': 'fractals gallery {name}'")
        right = hash_of(name, device) == known[name]
        on_message(f"{name}: {'as ever' if right else 'other counts'}")
        different += [] if right else [name]
    return different


def page() -> str:
    """Return the Markdown page that shows the gallery."""
    names = catalog.names("gallery")
    parts = [HEAD.format(name=names[0] if names else "mandelbrot")]
    for name in names:
        scene = load_scene(name)
        formula = scene.make_formula()
        kind = f"Julia set of {', '.join(scene.julia)}" if scene.julia else formula.title
        parts.append(
            f"## {scene.title or name}\n\n![{scene.title or name}]({name}.png)\n\n{scene.note}\n\n"
            f"`fractals render {name}`: {kind}, by {scene.author or 'an unknown hand'}\n"
        )
    return "\n".join(parts)

"""Draws the gallery: every scene's picture, and the page that shows them."""

from collections.abc import Callable
from pathlib import Path

from fractals import catalog
from fractals.files import written
from fractals.pipeline import render
from fractals.scene import Scene

PAGE = "README.md"
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
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Draw scenes of the gallery, `width` pixels wide, into a folder, and write its page.

    Returns
    -------
    list of Path
        The files that were written. The page is written only for the whole gallery.
    """
    files = []
    for name in names or catalog.names("gallery"):
        scene = Scene.load(name)
        across, down = scene.image.size
        image = render(
            scene.replace(size=(width, round(width * down / across))), device=device, tell=tell
        )
        path = folder / f"{name}.png"
        image.save(path)
        files.append(path)
        tell(f"{path}: {sum(image.timings.values()):.2f} s")
    if not names:
        files.append(folder / PAGE)
        with written(files[-1]) as file:
            file.write(page().encode())
    return files


def page() -> str:
    """Return the Markdown page that shows the gallery."""
    names = catalog.names("gallery")
    parts = [HEAD.format(name=names[0] if names else "mandelbrot")]
    for name in names:
        scene = Scene.load(name)
        formula = scene.make_formula()
        kind = f"Julia set of {', '.join(scene.julia)}" if scene.julia else formula.title
        parts.append(
            f"## {scene.title or name}\n\n![{scene.title or name}]({name}.png)\n\n{scene.note}\n\n"
            f"`fractals render {name}`: {kind}, by {scene.author or 'an unknown hand'}\n"
        )
    return "\n".join(parts)

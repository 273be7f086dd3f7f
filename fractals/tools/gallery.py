"""The gallery's pictures and page, and a check of the counts of small ones."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from fractals import catalog
from fractals.errors import FractalsError
from fractals.io.files import read_json, written
from fractals.io.image import Image
from fractals.io.load import load_scene
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import render
from fractals.scene.model import Scene

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

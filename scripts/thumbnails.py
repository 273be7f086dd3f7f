"""Makes the explorer's pictures of scenes and formulas: python scripts/thumbnails.py [NAME...]."""

import sys
from pathlib import Path

from PIL import Image, ImageOps

import fractals
from fractals import catalog
from fractals.explorer.pages import THUMBNAILS, WRITTEN, formula_scene
from fractals.tools.gallery import picture_file

GALLERY = Path(__file__).parents[1] / "gallery"
SIZE = (256, 144)  # pixels
SAMPLES = 3  # a pixel and axis, of a formula
QUALITY = 74  # all files together stay below 1 MB


def main(wanted: list[str]) -> None:
    """Write them all, or those of some names; remove those without a scene or formula."""
    made = {"scene": catalog.names("gallery"), "formula": catalog.names("formula")}
    for kind, names in made.items():
        folder = THUMBNAILS / kind
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.webp"):
            if old.stem not in names:
                old.unlink()
        for name in names:
            if name not in WRITTEN and (not wanted or name in wanted):
                picture = scene_picture(name) if kind == "scene" else formula_picture(name)
                picture.save(folder / f"{name}.webp", quality=QUALITY, method=6)
    size = sum(path.stat().st_size for path in THUMBNAILS.rglob("*.webp"))
    print(f"{THUMBNAILS}: {size / 1000:.0f} kB")


def scene_picture(name: str) -> Image.Image:
    """Return the gallery's picture of a scene, made smaller and cut to SIZE."""
    with Image.open(GALLERY / picture_file(name)) as picture:
        return ImageOps.fit(picture.convert("RGB"), SIZE, Image.Resampling.LANCZOS)


def formula_picture(name: str) -> Image.Image:
    """Return a drawn picture of a formula."""
    image = fractals.render(formula_scene(name), supersampling=SAMPLES, device="cpu")
    return Image.fromarray(image.pixels)


if __name__ == "__main__":
    main(sys.argv[1:])

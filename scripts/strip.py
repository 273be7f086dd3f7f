"""Makes the strip of pictures that README shows: python scripts/strip.py."""

from pathlib import Path

from PIL import Image

from fractals.tools.gallery import picture_file

GALLERY = Path(__file__).parents[1] / "gallery"
ROWS = (
    ("silk", "caldera", "plume", "burning_ship"),
    ("mesa", "saint", "zircon", "bonfire"),
)
SIZE, GAP = (400, 225), 6  # pixels, of a picture and between two


def main() -> None:
    """Write gallery/strip.jpg."""
    step = SIZE[0] + GAP, SIZE[1] + GAP
    size = step[0] * len(ROWS[0]) - GAP, step[1] * len(ROWS) - GAP
    strip = Image.new("RGB", size, "white")
    for j, row in enumerate(ROWS):
        for i, name in enumerate(row):
            with Image.open(GALLERY / picture_file(name)) as picture:
                small = picture.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            strip.paste(small, (i * step[0], j * step[1]))
    strip.save(GALLERY / "strip.jpg", quality=86, optimize=True)


if __name__ == "__main__":
    main()

"""Palettes of XaoS: 31 fixed colors, colors of a file, or colors of random numbers from a seed.

A palette is a row of segments of equal length, in counts; the color goes evenly, in sRGB, from that
of a segment to that of the next. It belongs to a screen with 65536 entries for true colors.
"""

from typing import NamedTuple

ENTRIES = 65536
MOST = 1000  # colors of a palette; the explorer takes 1024
DEFAULT = (  # rrggbb
    "000000 7877ee 180719 c5421c 1d120b 872e47 181b0d f1e680 111f18 f0a28b 0b041e 6a57bd 1d150e "
    "0c8c76 0a061d 32904d 160018 94bcf3 042007 e7920e 0a0d14 b89344 0d1c03 a9f898 040022 3e5330 "
    "071516 9861b8 08030c f75ceb 1f2010"
)
SEGMENT = 8  # of a palette without a seed
LIMITS = 1 << 24  # random numbers are below

Rgb = tuple[int, int, int]


class Segments(NamedTuple):
    """Colors `#rrggbb`, and how many counts lie between two of them."""

    colors: list[str]
    length: int


class _Random:
    """The linear congruential generator that all versions of XaoS have in common."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, most: int) -> int:
        """Return the next number, modulo `most`."""
        self.state = (self.state * 1103515245 + 12345) % LIMITS
        return self.state % most

    def share(self, most: int) -> int:
        """Return the next number, scaled to 0 to `most` - 1."""
        return int(self.below(LIMITS) / (LIMITS - 1) * most)

    def rgb(self, most: int) -> Rgb:
        return self.below(most), self.below(most), self.below(most)


def of_colors(colors: list[str]) -> Segments:
    """Return the palette of colors `rrggbb`."""
    return Segments([f"#{color}" for color in colors], SEGMENT)


def of_seed(kind: int, seed: int, counts: int) -> Segments:
    """Return a palette of random colors.

    `kind`: 1: dark and any colors in turn; 2: black, any color, white; 3: black, two hues, white,
    two hues. `counts`: how many counts get colors of their own; further counts repeat these.
    """
    numbers = _Random(seed)
    seed = numbers.below(LIMITS)
    light = bool(numbers.below(2))  # whether the first color is white, or nearly black
    length = abs(sum(numbers.share(255 // 3 + 4) for _ in range(4)) // 2 - 255 // 3 + 3)
    length = min(max(length, 8), ENTRIES // 3)
    total = min((ENTRIES + length - 5) // length, 4096)
    make = {1: _dark_and_any, 2: _black_any_white, 3: _hues}[kind]
    colors = make(_Random(seed), light, min(total, MOST, counts // length + 3))
    return Segments([f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colors], length)


def _dark_and_any(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    colors: list[Rgb] = [(255, 255, 255)] if light else []
    while len(colors) < count:
        dark = (len(colors) % 2 == 1) == light
        colors.append(numbers.rgb(35 if dark else 256))
    return colors


def _black_any_white(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    first, last = (255 * (not light),) * 3, (255 * light,) * 3
    return [(first, (), last)[k % 3] or numbers.rgb(256) for k in range(count)]


def _hues(numbers: _Random, light: bool, count: int) -> list[Rgb]:
    colors: list[Rgb] = []
    for k in range(count):
        if k % 3 == 0:
            colors.append((255 * (k % 6 > 0),) * 3)
            continue
        saturation, hue, value = numbers.below(256), numbers.below(96), numbers.below(128)
        warm = (k % 6 > 3) != (k % 3 == 1)
        colors.append(_hsv(hue + (58 if warm else 186), saturation, value + 192 * (not warm)))
    return colors


def _hsv(hue: int, saturation: int, value: int) -> Rgb:
    """Return a color of whole numbers; 256 is a turn, and what is beyond a byte is cut off."""
    sixth, part = divmod(hue % 256 * 6, 256)
    low = value * (256 - saturation) // 256
    falling = value * (256 - saturation * part // 256) >> 8
    rising = value * (65536 - saturation * (256 - part)) >> 16
    if saturation == 0:
        low = falling = rising = value
    red, green, blue = (
        (value, rising, low),
        (falling, value, low),
        (low, value, rising),
        (low, falling, value),
        (rising, low, value),
        (value, low, falling),
    )[sixth]
    return red % 256, green % 256, blue % 256

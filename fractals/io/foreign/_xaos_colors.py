"""The colors of XaoS: its palettes, and the rules by which samples get colors of them."""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from fractals.io.foreign._par_colors import END, FAR, FLAT, NEAR

# The commands of a position by their names: line number and arguments
Commands = Mapping[str, tuple[int, list[str]]]
# Rules of colors outside by which parts of z are added to the count: Re z, Im z, Re z / Im z.
ADDED = {1: (1.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0), 3: (0.0, 0.0, 1.0), 4: (1.0, 1.0, 1.0)}
OUTSIDE = {
    6: "the count, downwards where Re z or Im z is small",
    7: "the logarithm of |z|² over the count",
    10: "true colors of Re z and Im z",
}
# Rules of colors inside that are drawn, but for `octo` and `magnet`: by parts of the last z, and by
# waves of it: the wave, how many counts 1 of it is worth, and those of 0.
PARTS = (1, 2, 3)
WAVES = {
    4: ("distance", 64.0, 0.0),
    5: ("product", 256.0, 0.0),
    6: ("radial", 256.0, 0.0),
    7: ("saddle", 256.0, 0.0),
    8: ("angle", 64.0 * math.tau, 0.0),
    9: ("squares", 20_000 / 256, 15_000 / 256),
}
OF_C = (4, 5, 8)  # rules that look at c, too
INSIDE = {
    1: "the size of the last z",
    2: "the direction of the last z",
    3: "Re z / Im z of the last z",
    4: "the distance of the last z from c",
    5: "waves of Re z Im z Re c Im c",
    6: "|z|² cos (Re z)² of the last z",
    7: "sin (Re² z - Im² z) of the last z",
    8: "Re z Im z Re c Im c",
    9: "squares of the last z",
    10: "true colors of Re z and Im z",
}
SMALL = 2.0  # parts of the last z below it are small (outcoloring 6)
DIRECTIONS = 20_000 / 256  # counts that a turn of the last z is worth (outcoloring 8)


class XaosOrbits(NamedTuple):
    """What colors ask about the orbits that are drawn."""

    early: int  # by how many steps they begin earlier here
    converging: bool  # whether they end where a step is short
    turned: bool  # whether the conjugate of z is drawn
    radius: float  # of escape
    last: bool  # whether the last z of an orbit that stays is that of XaoS
    own_c: bool  # whether their c is what XaoS has as c


def color_of(state: Commands, orbits: XaosOrbits, steps: int, lost: list[str]) -> dict[str, Any]:
    """Return the colors; add a line to `lost` for each setting without an equivalent."""
    segments, shift = palette_of(state, steps, lost)
    outside, inside = (_mode(state, name, lost) for name in ("outcoloring", "incoloring"))
    count = len(segments.colors)
    turn = count * segments.length
    smooth = outside == 9 and not orbits.converging
    color: dict[str, Any] = {
        "palette": {
            "stops": [[k / count, text] for k, text in enumerate(segments.colors)],
            "space": "srgb",
        },
        "coloring": "smooth" if smooth else "count",
        "transfer": "linear",
        "density": 1 / turn,
        "offset": (1 - orbits.early + shift) % turn / turn,
        "inside": segments.colors[0],
    }
    turned = orbits.turned
    if outside == 8:
        density, first = _directions(turned)
        color |= {
            "coloring": "final_angle",
            "density": density / turn,
            "offset": (first + 1 + shift) % turn / turn,
        }
        lost.append("the colors of a quarter of the directions (outcoloring 8)")
    elif outside in ADDED:
        real_part, imag, quotient = ADDED[outside]
        sign = -1 if turned else 1  # of Im z
        own_parts = {"real": real_part, "imag": sign * imag, "quotient": sign * quotient}
        color["coloring"] = {"name": "count_plus", **own_parts}
    elif outside == 7 and not orbits.converging and orbits.early >= 0:
        color["coloring"] = {"name": "log_ratio", "less": orbits.early}
        color |= {"density": 16 / turn, "offset": (1 + shift) % turn / turn}
    elif outside == 5 or (outside == 6 and not orbits.converging):
        top = steps + 2 * orbits.early
        color["layers"] = _both_ways(color, outside, turned, orbits.radius, top)
    elif outside not in (0, 9):
        words = OUTSIDE.get(outside, "an unknown rule")
        lost.append(f"the coloring outside by {words} (outcoloring {outside}): it is by the count")
    if _is_seen(inside, orbits):
        if inside in WAVES:
            wave, density, first = WAVES[inside]
            first += steps / 256 * (inside == 4)
            own_coloring = {"name": "last_wave", "wave": wave, "mirror": int(turned)}
        else:
            part, density, first = {
                1: ({}, steps // 2, 1.0),
                2: ({"size": 0.0, "angle": 1.0}, *_directions(turned)),
                3: ({"size": 0.0, "quotient": -1.0 if turned else 1.0}, 10.0, 100 / 256),
            }[inside]
            own_coloring = {"name": "last_point", **part}
        layer = {key: color[key] for key in ("palette", "transfer")}
        layer |= {"density": min(density / turn, 1e6), "offset": (first + 1 + shift) % turn / turn}
        layers = [{"coloring": own_coloring, **layer}]
        color["layers"] = [*color.get("layers", []), *layers]
        if inside == 2:
            lost.append("the colors of a quarter of the directions (incoloring 2)")
    elif inside:
        words = INSIDE.get(inside, "an unknown rule")
        lost.append(f"the coloring inside by {words} (incoloring {inside}): it is one color")
    return color


def _directions(turned: bool) -> tuple[float, float]:
    """Return how many counts a turn is worth, and those of direction 0: they run against turns."""
    return (DIRECTIONS, 0.0) if turned else (-DIRECTIONS, DIRECTIONS)


def _is_seen(rule: int, orbits: XaosOrbits) -> bool:
    """Tell whether a rule of colors inside is drawn."""
    return orbits.last and (rule in PARTS or (rule in WAVES and (rule not in OF_C or orbits.own_c)))


def _both_ways(
    color: dict[str, Any], rule: int, turned: bool, radius: float, top: int
) -> list[dict[str, Any]]:
    """Return layers over counts with which the counts run down from `top` in one kind of cells.

    By rule 5 these are the cells where Im z > 0, and by 6 those where Re z or Im z is below 2. The
    cells are black in the layer of counts that run up, and the others in that of counts that run
    down, and the sum of both is seen. `turned`: whether the conjugate of z is drawn.
    """
    own: dict[str, Any] = {"coloring": {"name": "decomposition", "parts": 2}, "offset": 0.25}
    end, down_first = 0.5, not turned
    if rule == 6:
        own, down_first = {"coloring": "biomorph", "density": END}, True
        end = min(END * SMALL / radius, NEAR)

    def cells(first: str, last: str) -> dict[str, Any]:
        stops = [[0.0, first], [end, first], [end + FAR - NEAR, last], [FLAT, last]]
        return {"palette": {"stops": stops}, "transfer": "linear", "blend": "multiply", **own}

    black, white = ("#000000", "#ffffff") if down_first else ("#ffffff", "#000000")
    down = {key: color[key] for key in ("coloring", "palette", "transfer")}
    down["density"] = -color["density"]
    down["offset"] = (color["offset"] + top * color["density"]) % 1
    return [cells(black, white), {"layers": [down, cells(white, black)], "blend": "add"}]


def _mode(state: Commands, name: str, lost: list[str]) -> int:
    """Return the number of a coloring."""
    _, values = state.get(name, (0, ["0"]))
    if len(values) == 1 and re.fullmatch(r"\d{1,3}", values[0], re.ASCII):
        return int(values[0])
    lost.append(f"({name} {' '.join(values)[:60]}), which is not known")
    return 0


# Palettes of XaoS: 31 fixed colors, colors of a file, or colors of random numbers from a seed.
#
# A palette is a row of segments of equal length, in counts. Colors change evenly, in sRGB, from a
# segment's color to the next segment's color. A palette belongs to a screen with 65536 entries
# for true colors.


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


def palette_of(state: Commands, steps: int, lost: list[str]) -> tuple[Segments, int]:
    """Return the palette, and by how many counts it is moved on."""
    found, moved = of_colors(DEFAULT.split()), 0
    given = [name for name in state if name in ("palette", "defaultpalette", "palettecolors")]
    for name in given:  # the last one counts
        _, values = state[name]
        words = [word.strip('"') for word in values]
        if name == "palettecolors":
            if words and all(re.fullmatch("[0-9a-fA-F]{6}", word) for word in words[:1000]):
                found = of_colors(words[:1000])
                continue
        elif all(re.fullmatch(r"-?\d{1,10}", word, re.ASCII) for word in words):
            kind, *rest = map(int, words)
            if name == "defaultpalette" and not rest:
                found, moved = of_colors(DEFAULT.split()), kind
                continue
            if kind in (1, 2, 3) and len(rest) == 2:
                found, moved = of_seed(kind, rest[0], steps), rest[1]
                continue
        lost.append(f"the palette: ({name} {' '.join(values)[:60]}), which is not known")
    shift = state.get("shiftpalette", (0, ["0"]))[1]
    if len(shift) == 1 and re.fullmatch(r"-?\d{1,10}", shift[0], re.ASCII):
        moved += int(shift[0])
    return found, moved

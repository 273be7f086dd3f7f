"""Colors of entries of Fractint: texts of `colors=`, and rules by which counts have them."""

import math
import re
from collections.abc import Mapping
from typing import Any

from fractals.color.colorings.cycles import GOLDEN
from fractals.color.palette import ENTRIES
from fractals.errors import InputError, SceneError, counted
from fractals.io.foreign import Beside
from fractals.io.foreign import palette_files as map_file
from fractals.io.foreign._par_curves import MAX_COLORS, CountCurve, Entry, curve_of
from fractals.io.foreign._view import real, whole
from fractals.scene.model import validate

HALF_TURN = 180  # numbers of the rules atan: degrees
CROSS = (2, 6)  # numbers of the rule epscross: near the imaginary axis, and near the real axis
BOF60 = 75  # number of the rule bof60 where the least |z| is 1
MOST_TURNS = 1e6  # the density that a scene may have
DIGITS = {c: k for k, c in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_`")} | {
    chr(ord("a") + k): 38 + k for k in range(26)
}
COLOR = re.compile(r"<(\d{1,3})>|([0-9A-Z_`a-z]{3})", re.ASCII)
# Places on a palette: values of `biomorph` are below END, which stands for "both parts are large".
NEAR, FAR, END = 0.998, 0.999, 0.9995
FLAT = 0.9998  # up to here a palette has its last color, and then goes round to its first one
LEAST = 2  # octaves of smooth counts below 0 with colors of their own: of samples far outside

# What a setting adds to the picture, in the words of the line about what is lost.
OUTSIDE = {
    "mult": "the quotient of both parts of the last z, by which counts are multiplied",
    "tdis": "the length of the orbit, which gives the colors",
    "fmod": "the remainder of |z|² at escape, which gives the colors",
}
# What is added to a count outside: factors of Re z and Im z, whose sum is cut, and a number.
ADDED = {"real": (1.0, 0.0, 7), "imag": (0.0, 1.0, 7), "summ": (1.0, 1.0, 0)}
INSIDE = {
    "maxiter": "the color whose number is the limit, inside",
    "zmag": "|z|² after the last step, which gives the colors inside",
    "bof60": "the least |z| of the orbit, which gives the colors inside",
    "bof61": "the step at which |z| is least, which gives the colors inside",
    "epscross": "the orbit's first step near an axis, which gives the colors inside",
    "startrail": "the steps of the orbit in one direction, which give the colors inside",
    "period": "the period of the cycle, which gives the colors inside",
    "fmod": "the remainder of |z|², which gives the colors inside",
    "atan": "the angle of the last z, which gives the colors inside",
}
# Types whose orbits begin with 0, and not with the pixel, by the rules bof60 and bof61
FROM_0 = "mandel mandel4 mandellambda manfn+zsqrd spider manowar magnet1m magnet2m".split()  # noqa: SIM905
# Numbers that Fractint takes for names of rules, as old files have them.
_RULES = ("iter", "real", "imag", "mult", "summ", "atan", "fmod", "tdis")
NUMBERED = {f"outside=-{k}": rule for k, rule in enumerate(_RULES, 1)} | {
    "inside=-1": "maxiter",
    "inside=-59": "zmag",
    "inside=-60": "bof60",
    "inside=-61": "bof61",
    "inside=-100": "epscross",
    "inside=-101": "startrail",
    "inside=-102": "period",
    "inside=-103": "fmod",
    "inside=-104": "atan",
}


def color_of(
    fields: Entry,
    steps: int,
    ahead: int,
    radius: float | None,
    beside: Beside,
    lost: list[str],
    turned: bool = False,
) -> dict[str, Any]:
    """Return the colors; add a line to `lost` for each setting without an equivalent.

    `steps`: the limit of iterations. `ahead`: by how much the numbers of colors exceed the counts.
    `radius`: of escape; None where a test of another kind ends orbits. `beside`: reads files that
    the entry names. `turned`: whether the conjugate of z is drawn.
    """
    colors, before = all_colors(fields, beside, lost), ahead
    if potential := potential_of(fields):
        if found := _potential(potential, colors, steps, ahead, radius):
            _inside(fields, colors, found, steps, before, radius, lost)
            if curve := curve_of(fields, steps, lost):
                lost.append(f"{curve.words}: the potential alone gives the colors")
            return found
        lost.append("the continuous potential, which blends the bands of counts (potential)")
    ahead += ADDED.get(rule_of(fields, "outside"), (0, 0, 0))[2]
    exceeding = ahead  # without the colors that are added below
    color: dict[str, Any] = {"coloring": "count"}
    around = colors[1:]
    # As far as numbers go round once, one more color is never seen. It lets number 0 have the first
    # color, too; and 256 colors are all in the lookup table, where 255 blend by some percent.
    if around and steps <= len(around):
        first = ahead < 0
        around = [around[0], *around] if first else [*around, around[0]]
        ahead += first
    if around:
        turns = 1 / len(around)
        color["palette"] = _stops(around)
        color |= {"transfer": "linear", "density": turns, "offset": (ahead - 1) * turns}
    if fields.get("logmode", ("", ""))[0].lower().startswith("a"):
        words = "the least count at the edge of the screen, with which the curve of colors begins"
        lost.append(f"{words} (logmode=auto): it begins as logmap says")
    if curve := curve_of(fields, steps, lost):
        outside = rule_of(fields, "outside")
        others = outside in ("atan", "fmod") or _first(fields, "decomp") >= 2
        if len(colors) > 1 and not others:
            color |= _by_curve(curve, colors, exceeding)
        elif not outside.isdecimal():
            lost.append(f"{curve.words}: counts go round the colors evenly")
    color |= _outside(fields, colors, steps, radius, lost, turned)
    _inside(fields, colors, color, steps, before, radius, lost)
    if layers := _biomorph(fields, colors, radius, lost):
        color["layers"] = [*color.get("layers", []), *layers]
    return color


def _by_curve(curve: CountCurve, colors: list[str], ahead: int) -> dict[str, Any]:
    """Return the colors of counts, which `ahead` is added to, by a curve.

    Up to ENTRIES counts have an entry of the lookup table each. More of them lie on a logarithmic
    scale, where a few counts at the ends of a band may have a color in between.
    """
    ends = [*(first for first, _ in curve.runs[1:]), curve.last + 1]
    even = curve.last < ENTRIES - 2
    turns = 1 / ENTRIES if even else END / math.log2(4 + curve.last)
    stops: list[list[Any]] = []
    for (first, own), end in zip(curve.runs, ends, strict=True):
        if even:
            places = [first / ENTRIES, (end - 1) / ENTRIES][: end - first]
        else:
            counts = (first - ahead - 0.4, end - ahead - 0.6)
            places = [math.log2(1 + count) * turns for count in counts if count > 0]
        stops += [[place, _color(colors, own)] for place in places]
    if even:  # numbers below 1 and above the limit are 1
        places = [end / ENTRIES for end in (curve.last + 1, ENTRIES - 1)]
        stops += [[place, _color(colors, curve.number(1))] for place in places]
        shown = {"transfer": "linear", "density": turns, "offset": ahead * turns}
    else:
        stops.append([END, stops[-1][1]])
        shown = {"transfer": "log", "density": turns, "offset": 0.0}
    return {"palette": {"stops": stops}, **shown}


def lyapunov_colors(
    fields: Entry, steps: int, warmup: int, beside: Beside, lost: list[str]
) -> dict[str, Any]:
    """Return the colors of the type `lyapunov`.

    The value is half of e to the exponent: order goes down colors 1 to 255, and chaos has 0.
    """
    inside, at = fields.get("inside", ("1", "inside"))
    inside = inside if inside.isdecimal() else "1"  # as Fractint does, for it has no other there
    own = {key: value for key, value in fields.items() if key not in ("logmap", "ranges")}
    color = color_of({**own, "inside": (inside, at)}, steps, 0, None, beside, lost)
    if curve := curve_of(fields, steps, lost):
        lost.append(f"{curve.words}: exponents go down the colors evenly")
    found: dict[str, Any] = {"coloring": {"name": "lyapunov", "warmup": warmup}}
    if colors := color.get("palette", {}).get("stops"):
        around = [name for _, name in colors]
        chaos = color.get("inside", "#000000")
        ends = [[0.5 * (1 - k / len(around)), name] for k, name in enumerate(around)]
        stops = [*reversed(ends), [0.50001, chaos], [0.99999, chaos]]
        found["palette"] = {"stops": stops}
        found |= {"transfer": "linear", "density": 1.0, "offset": 0.0}
    return found


def rule_of(fields: Entry, key: str) -> str:
    """Return the rule of colors "outside" or "inside": a name, or the number of the one color."""
    text = fields.get(key, ("iter" if key == "outside" else "1", ""))[0].lower()
    return NUMBERED.get(f"{key}={text}", text)


def first_of_rule(fields: Entry, name: str) -> str:
    """Return the z with which orbits begin, where a rule of colors looks at the points after it.

    The points of the rules bof60, bof61, epscross and fmod are those after the pixel "c", or after
    0 where Fractint makes the pictures of *The Beauty of Fractals*. "": of Julia sets, or without
    such a rule.
    """
    inside, outside = (rule_of(fields, key) for key in ("inside", "outside"))
    least = inside in ("bof60", "bof61")
    if not (least or inside in ("epscross", "fmod") or outside == "fmod") or name == "julia":
        return ""
    plain = fields.get("nobof", ("no", ""))[0].lower() in ("yes", "y", "1")
    return "0" if least and name in FROM_0 and not plain else "c"


def name_of_coloring(layer: Mapping[str, Any]) -> str:
    """Return the name of a layer's coloring."""
    own: Any = layer["coloring"]
    return str(own if isinstance(own, str) else own["name"])


def check_period(table: dict[str, Any], lost: list[str]) -> None:
    """Take a layer of periods away where what was before decides, too."""
    layers = table["color"].get("layers", [])
    if "period" in map(name_of_coloring, layers):
        formula = validate({"formula": table["formula"]}).make_formula()
        if formula.uses_previous or formula.phases or formula.remember:
            table["color"]["layers"] = [
                each for each in layers if name_of_coloring(each) != "period"
            ]
            lost.append(f"{INSIDE['period']} ('inside=period')")


def _numbered(number: int) -> int:
    """Return the number of a color that Fractint draws, where a number may be beyond the last."""
    return (number - 1) % (MAX_COLORS - 1) + 1 if number >= MAX_COLORS else number


def _stops(colors: list[str]) -> dict[str, Any]:
    return {"stops": [[k / len(colors), c] for k, c in enumerate(colors)]}


def _color(colors: list[str], number: int) -> str:
    """Return the color of a number; beyond the last one, they go round without number 0."""
    return colors[(number - 1) % (len(colors) - 1) + 1 if number else 0]


def _of_angles(colors: list[str]) -> dict[str, Any]:
    """Return a turn of colors for each degree from the real axis, up or down."""
    places = [(k + 0.5) / (2 * HALF_TURN) for k in range(len(colors))]
    places += [1 - at for at in reversed(places)]
    return {
        "stops": [list(each) for each in zip(places, [*colors, *reversed(colors)], strict=True)]
    }


def all_colors(fields: Entry, beside: Beside, lost: list[str]) -> list[str]:
    """Return the colors of an entry, from number 0 on; [] where it has none."""
    text, where = fields.get("colors", ("", "colors"))
    if not text.startswith("@"):
        found = colors_of(text, where)
        return found if len(found) > 1 else []
    name = text[1:]
    for own in (name, name + ".map"):
        for data in beside.contents(own, "map"):
            try:
                found = map_file.read_map(data).table["color"]["palette"]["stops"]
            except InputError as error:
                raise SceneError(f"{where}: {own[:80]}: {error}") from None
            return list(found) if len(found) > 1 else []
    lost.append(f"the palette in the file '{name[:80]}', which is not {beside.places('map')}")
    return []


def _outside(
    fields: Entry,
    colors: list[str],
    steps: int,
    radius: float | None,
    lost: list[str],
    turned: bool,
) -> dict[str, Any]:
    """Return the coloring outside, if this program has the same one."""
    outside = rule_of(fields, "outside")
    parts = _first(fields, "decomp")
    count = int(parts) if abs(parts) <= 256 else 0
    plain = {"transfer": "linear", "density": 1.0, "offset": 0.0}
    if count >= 2:
        found: dict[str, Any] = {"coloring": {"name": "decomposition", "parts": count}, **plain}
        if colors:
            found["palette"] = _stops((colors * MAX_COLORS)[:MAX_COLORS])
            found["density"] = count / MAX_COLORS
        return found
    if outside == "atan":
        found = {"coloring": "final_angle", **plain}
        if colors:  # a number that is none of a count is 1
            numbers = (k if 0 < k <= steps else 1 for k in range(HALF_TURN))
            found["palette"] = _of_angles([_color(colors, number) for number in numbers])
        return found
    near = _near(fields, radius)
    if outside == "fmod" and near and len(colors) > 1 and curve_of(fields, steps, []) is None:
        never = {"stops": [[0.0, colors[0]], [0.5, colors[0]]]}  # where no point came near
        return {"palette": never, "layers": [{**_visits(near, colors), "mask": "escaped"}]}
    if outside in ADDED:
        real_part, imag, _ = ADDED[outside]
        imag = -imag if turned else imag
        curved = len(colors) > 1 and curve_of(fields, steps, []) is not None
        if not curved or steps >= ENTRIES - 2:
            words = "numbers of colors below 1, which are 1 there, go round"
            lost.append(f"{words} ('outside={outside}')")
        return {"coloring": {"name": "count_plus", "real": real_part, "imag": imag, "whole": 1}}
    if re.fullmatch(r"-?\d{1,6}", outside, re.ASCII):
        k = int(outside)
        if 0 <= k < len(colors):
            return {"palette": {"stops": [[0.0, colors[k]], [0.5, colors[k]]]}}
        lost.append(f"the one color outside ('outside={outside}')")
    elif outside != "iter":
        what = OUTSIDE.get(outside, "the coloring outside")
        lost.append(f"{what} ('outside={outside[:40]}'): counts give the colors")
    if _first(fields, "distest"):
        lost.append("the distance to the set, which gives the colors (distest): counts give them")
    return {}


def _near(fields: Entry, radius: float | None) -> float:
    """Return what is near for the rules epscross and fmod; 0 where a coloring here has no such."""
    near = real(*fields.get("proximity", ("0.01", "proximity")))
    return near if radius is not None and 1e-6 <= near < min(radius, radius**2, 10) else 0.0


def _visits(near: float, colors: list[str]) -> dict[str, Any]:
    """Return the layer of the rule fmod: number 256 |z|² / `near` of the last |z|² below it."""
    stops: list[list[Any]] = []
    for k in range(MAX_COLORS):
        # From 0 on, where orbits end that visit 0 itself
        ends = (k + 0.05 * (k > 0), k + 0.95)
        stops += [[end / MAX_COLORS, _color(colors, k)] for end in ends]
    coloring = {"name": "last_visit", "reach": math.sqrt(near)}
    shown = {"transfer": "linear", "density": 1.0, "offset": 0.0}
    return {"coloring": coloring, "palette": {"stops": stops}, **shown}


def _first(fields: Entry, key: str) -> float:
    """Return the first of the numbers of a key: `decomp` and `distest` may have two."""
    text, where = fields.get(key, ("0", key))
    return real(text.partition("/")[0] or "0", where)


def potential_of(fields: Entry) -> list[float]:
    """Return the highest color, the slope and the bailout of the potential; [] without one."""
    text, where = fields.get("potential", ("0", "potential"))
    values = [real(part or "0", where) for part in text.split("/")[:3]]
    return [*values, 0.0, 0.0][:3] if values[0] else []


def _potential(
    given: list[float], colors: list[str], steps: int, ahead: int, radius: float | None
) -> dict[str, Any]:
    """Return colors that follow the potential of z² + c; {} where there are none.

    `given`: as of `potential_of`. Where n is the count and v the smooth count, the number of a
    color is most - 1 - slope sqrt(log |z|² / 2**(n + 2)) = most - 1 - scale 2**(-v / 2), at least
    1. So it stands where that is its number and a half. `radius`: of escape, if there is one.
    """
    most, slope, _ = given
    if len(colors) < 3 or most < 3 or slope <= 0 or not radius or radius <= 1:
        return {}
    scale = slope * math.sqrt(math.log(radius) / 2 ** (ahead + 1))
    turns = END / (math.log2(2 + steps) + LEAST)
    last = min(int(most) - 2, len(colors) - 1)
    stops: list[list[Any]] = []
    for k in range(1, last + 1):
        count = 2 * math.log2(scale / (most - 1.5 - k))
        at = turns * (math.copysign(math.log2(1 + abs(count)), count) + LEAST)
        if 0 < at < END:
            stops.append([at, colors[k]])
    if not stops:
        return {}
    stops = [[0.0, stops[0][1]], *stops, [END, stops[-1][1]]]
    shown = {"transfer": "log", "density": turns, "offset": turns * LEAST}
    return {"coloring": "smooth", **shown, "palette": {"stops": stops}}


def biomorph_of(fields: Entry) -> int:
    """Return the number of the color where only one part of the last z is large; -1: none.

    Fractint looks at it where neither `decomp` nor one color outside decides.
    """
    text, where = fields.get("biomorph", ("-1", "biomorph"))
    return -1 if text.lower() in ("-1", "none", "no", "off") else whole(text, where)


def _biomorph(fields: Entry, colors: list[str], radius: float | None, lost: list[str]) -> list[Any]:
    """Return layers that give one color to samples with a part of the last z below the radius."""
    index = biomorph_of(fields)
    outside = rule_of(fields, "outside")
    if index < 0 or outside.isdecimal() or _first(fields, "decomp"):
        return []
    if radius is None or index >= len(colors):
        lost.append("one color where only one part of the last z is large (biomorph)")
        return []

    def layer(near: str, far: str, blend: str) -> dict[str, Any]:
        stops = [[0.0, near], [NEAR, near], [FAR, far], [FLAT, far]]
        shown = {"palette": {"stops": stops}, "transfer": "linear", "density": END, "offset": 0.0}
        return {"coloring": "biomorph", **shown, "blend": blend}

    black = layer("#000000", "#ffffff", "multiply")
    return [black, layer(colors[index], "#000000", "screen")]


def _inside(
    fields: Entry,
    colors: list[str],
    color: dict[str, Any],
    steps: int,
    ahead: int,
    radius: float | None,
    lost: list[str],
) -> None:
    """Set the color inside, number 1 by default, or a layer of colors there."""
    inside = rule_of(fields, "inside")
    even = curve_of(fields, steps, []) is None
    if inside == "maxiter" and even:
        inside = str(steps)
    if re.fullmatch(r"\d{1,10}", inside, re.ASCII):
        index = _numbered(int(inside))
        if index < len(colors):
            color["inside"] = colors[index]
    elif (
        inside in ("epscross", "fmod")
        and len(colors) > 1
        and even
        and (near := _near(fields, radius))
    ):
        if inside == "fmod":
            color["inside"] = colors[0]
            layer = {**_visits(near, colors), "mask": "inside"}
        else:
            color["inside"] = _color(colors, steps)
            layer = _crosses(near, colors, radius)
        color["layers"] = [*color.get("layers", []), layer]
    elif len(colors) > 1 and even and (layer := _layer_inside(inside, colors, steps, ahead)):
        color["layers"] = [*color.get("layers", []), layer]
        if inside == "period":  # where none was found
            color["inside"] = _color(colors, steps)
        if inside == "atan" and fields.get("periodicity", ("1", ""))[0].lower() not in ("0", "no"):
            lost.append("at which point of a cycle an orbit ends, inside: after the last step here")
    elif inside:
        what = INSIDE.get(inside, "the coloring inside")
        lost.append(f"{what} ('inside={inside[:40]}'): it is one color")


def _layer_inside(rule: str, colors: list[str], steps: int, ahead: int) -> dict[str, Any]:
    """Return the layer that draws a rule of colors inside; {} where none does."""
    around, turns = _stops(colors[1:]), 1 / (len(colors) - 1)
    if rule == "zmag":  # number 1 + the whole part of |z|² times half of the limit
        found = {"coloring": "last_point", "density": min(steps // 2 * turns, MOST_TURNS)}
        return {**found, "offset": 0.0, "palette": around, "transfer": "linear"}
    if rule == "atan":  # the angle in degrees
        shades = [_color(colors, k) for k in range(HALF_TURN)]
        found = {"coloring": {"name": "last_point", "size": 0.0, "angle": 1.0}, "density": 1.0}
        return {**found, "offset": 0.0, "palette": _of_angles(shades), "transfer": "linear"}
    found = {"mask": "inside", "transfer": "linear", "palette": around, "density": turns / GOLDEN}
    if rule == "bof61":  # the number of the step, and 1
        return {"coloring": "atom_domains", **found, "offset": ahead * turns}
    if rule == "period":
        return {"coloring": "period", **found, "offset": -turns}
    if rule == "bof60":  # 75 times the least |z|, which is 2 at most
        shades = [_color(colors, k) for k in range(2 * BOF60)]
        stops = [[END / (1 + (k + 0.5) / BOF60), each] for k, each in enumerate(shades)]
        stops = [[0.0, shades[-1]], *reversed(stops), [FLAT, shades[0]]]
        trap = {"name": "orbit_trap", "shape": "point", "reach": 1.0}
        return {"coloring": trap, **found, "palette": {"stops": stops}, "density": END}
    return {}


def _crosses(near: float, colors: list[str], radius: float | None) -> dict[str, Any]:
    """Return the layer of the rule epscross: two colors, by the axis that an orbit is near first.

    An orbit that escapes later has them, too.
    """
    first, second = (_color(colors, number) for number in CROSS)
    stops = [[0.0, first], [0.2, first], [0.3, second], [0.7, second], [0.8, first]]
    coloring = {"name": "epsilon_cross", "reach": near, "radius": radius}
    shown = {"transfer": "linear", "density": 1.0, "offset": 0.0, "mask": "all"}
    return {"coloring": coloring, "palette": {"stops": stops}, **shown}


def colors_of(text: str, where: str) -> list[str]:
    """Return the colors of a text: three digits from 0 to 63 each, ``<n>`` for n in between."""
    colors: list[tuple[float, ...]] = []
    between, at = 0, 0
    while at < len(text):
        found = COLOR.match(text, at)
        if not found or len(colors) >= MAX_COLORS:
            after = counted(len(colors), "color")
            raise SceneError(f"{where}: {text[at : at + 20]!r}, after {after}")
        at = found.end()
        if found[1]:
            between = int(found[1])
            continue
        color = tuple(DIGITS[digit] / 63 for digit in found[2])
        before = colors[-1] if colors else color
        for k in range(1, between + 2):
            share = k / (between + 1)
            colors.append(tuple(a + share * (b - a) for a, b in zip(before, color, strict=True)))
        between = 0
    rows = colors[:MAX_COLORS]
    return ["#" + bytes(round(255 * part) for part in row).hex() for row in rows]

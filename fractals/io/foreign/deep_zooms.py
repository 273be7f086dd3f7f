"""Kalles Fraktaler's locations (`.kfr`) and palettes (`.kfp`), and files of rust-fractal.

Lines ``Key: value``, any of which may be absent; a palette has the keys about colors. The view is
4 / Zoom high, and the imaginary axis points down unless ImagPointsUp says otherwise. Colors go
round in 1024 steps: step = f(count) / IterDiv + ColorOffset.
"""

import functools
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from fractals.color import palette
from fractals.color.gradient import evenly
from fractals.color.palette import Palette
from fractals.errors import SceneError, counted, shown
from fractals.io.foreign import Format, Imported, unwritten
from fractals.io.foreign._view import (
    CONVERGED,
    EXACT,
    ForeignView,
    FormulaMatch,
    escape_radius,
    height_of,
    limit,
    lines_of,
    negated,
    number,
    only_one,
    placed,
    positive,
    power_of,
    real,
    toml_of,
    turn,
    whole,
    zoom_of,
)
from fractals.io.foreign.fraktaler3 import Line, Term, match_of_lines, read_hybrid, write_hybrid
from fractals.scene.paint import Color

Fields = Mapping[str, tuple[str, str]]  # key: its value, and where, such as "line 3: Re"
STEPS = 1024  # of its palette, which has as many colors at most
RADIUS = 100.0  # its escape radius where nothing else is said
SAMPLES = 256  # colors that are written of a palette with uneven stops
MAX_STRETCH = 9  # powers of two

NAMES = (
    "Mandelbrot, Burning Ship, Buffalo, Celtic, Mandelbar, Mandelbar Celtic, "
    "Perpendicular Mandelbrot, Perpendicular Burning Ship, Perpendicular Celtic, "
    "Perpendicular Buffalo"
)
SQUARES = {  # of power 2
    1: FormulaMatch("burning_ship"),
    2: FormulaMatch("buffalo"),
    3: FormulaMatch("celtic", conjugate=True),
    4: FormulaMatch("tricorn", conjugate=True),
    7: FormulaMatch("perpendicular_burning_ship", same=False, conjugate=True),  # (x - i|y|)²
}
# FractalType and powers: how z is folded before it is raised, and after.
FOLDED = """
1 345: absx absy
2 345: / absx absy
3 345: / absx
4 45: negy
5 2: negy / absx
6 2: absx negy
8 2: absx negy / absx
9 2: absy negy / absx
10 3: absx / absy negy
11 3: absx
12 3: absy
13 3: / absy
15 4: absy
16 4: absx
17 4: absx negy
18 4: absy / absx
19 4: absx / absx
20 4: absx negy / absx
21 4: / absy
22 4: negy / absx
27 5: absx
28 5: absx negy
29 5: negy / absx
30 5: absx / absy negy
"""
MANDELBAR = (4, 3)  # -conj(z)³ + c; its hybrid formula is conj(z)³ + c
# FractalType: the powers of z, and of z without the signs of its parts, that are multiplied.
PRODUCTS = {33: (2, 2), 40: (3, 3)} | {
    54 + k: (k + 1 - start, total - (k + 1 - start))
    for total, start in ((2, 0), (3, 1), (4, 3), (5, 6), (6, 10))
    for k in range(start, start + total - 1)
}
MOTH: Term = (frozenset({"absx", "absy"}), 1, 1 + 0j)
IDENTITY: Term = (frozenset(), 1, 1 + 0j)
LINES: dict[tuple[int, int], list[Line]] = {
    (41, 2): [((MOTH[0], 2, 1 + 0j), MOTH, "-")],  # HPDZ Buffalo
    (51, 4): [((frozenset(), 2, 1 + 0j), None, "+"), (IDENTITY, MOTH, "*")],  # Simonbrot 2
}
# a z² + z**power + c, or minus that power; a is 2, or of FactorAR and FactorAI
SUMS = {42: 3, 43: -3, 44: -3, 45: 4, 46: -4, 47: 5, 48: -5, 49: 6, 50: -6}
NOVA = 98  # by Newton's method for z**power - 1, less 1; 97 is that of power 3
# ColorMethod: the transfer, and what its value is multiplied by to be Kalles Fraktaler's
CURVES = {
    0: ("linear", 1.0),
    1: ("sqrt", 1.0),
    2: ("cbrt", 1.0),
    3: ("log", math.log(2)),
    10: ("atan", math.pi / 2),  # from 0 to 1
}
METHODS = {2: "cube root", 4: "stretched", 9: "log log", 10: "arc tangent", 11: "fourth root"}
DISTANCES = (5, 6, 7, 8)
# Settings without an equivalent in a scene, and the value with which each does nothing.
UNKNOWN = {
    "Slopes": ("0", "slopes"),
    "MultiColor": ("0", "colors in waves"),
    "TextureEnabled": ("0", "the texture"),
    "ColorPhaseStrength": ("0", "colors by phase"),
    "InvTransition": ("0", "the inverse transition"),
    "Flat": ("0", "flat colors"),
    "TriangleInequalityAverage": ("0", "the triangle inequality average"),
    "UseOpenGL": ("0", "colors by a shader of its own"),
    "BailoutNormPreset": ("1", "another norm in the escape test"),
    "real": ("1", "another norm in the escape test"),
    "imag": ("1", "another norm in the escape test"),
}
# Keys that are read, or that mean nothing without one of those settings.
KNOWN = (
    "Re Im Zoom Iterations IterDiv ColorMethod ColorOffset Colors InteriorColor Smooth Power "
    "FractalType SeedR SeedI RotateAngle Rotate StretchAngle StretchAmount Ratio ImagPointsUp "
    "ImageWidth ImageHeight UseHybridFormula HybridFormula BailoutRadiusPreset "
    "BailoutRadiusCustom BailoutNormCustom SmoothMethod SmoothingMethod Differences BlendMC "
    "MultiColors SlopePower SlopeRatio SlopeAngle FactorAR FactorAI Period "
    "TextureMerge TexturePower TextureRatio TextureFile TextureResize GLSL UseSRGB Version"
)


def read_kfr(data: bytes, entry: str) -> Imported:
    """Return the scene of a location."""
    only_one(entry)
    fields = fields_of(data)
    kin, place = formula_of(fields), place_of(fields)
    table, lost = placed(kin, place) if place else {"formula": kin.formula}, list[str]()
    table["iteration"] = {"escape_radius": escape_radius(radius_of(fields), lost)}
    if "Iterations" in fields:
        table["iteration"]["max_iterations"] = limit(*fields["Iterations"], lost)
    table["color"] = color_of(fields, lost)
    if isinstance(kin.formula, dict) and kin.formula["name"] == "nova":
        lost.append(CONVERGED)
    return Imported(table, (*lost, *unknown_of(fields)))


def unknown_of(fields: Fields) -> list[str]:
    """Return a line for each key that has no equivalent in a scene."""
    lost, known = [], set(KNOWN.split())
    for key, (value, where) in fields.items():
        nothing, name = UNKNOWN.get(key, ("", ""))
        if name and real(value or nothing, where) != float(nothing):
            lost.append(f"{name} ({key}: {value[:40]})")
        elif not name and key not in known:
            lost.append(f"'{key[:40]}: {value[:40]}', which is not known")
    return lost


def fields_of(data: bytes) -> dict[str, tuple[str, str]]:
    """Return the keys of a file, each with its value and where it stands; the first one counts."""
    fields: dict[str, tuple[str, str]] = {}
    for k, line in enumerate(lines_of(data), 1):
        key, colon, value = line.partition(":")
        key = key.strip()
        if line.strip() and not (colon and key.isidentifier()):
            raise SceneError(f"line {k}: {line.strip()[:40]!r} is not 'Key: value'")
        if line.strip():
            fields.setdefault(key, (value.strip(), f"line {k}: {key}"))
    if not fields.keys() & {*KNOWN.split(), *UNKNOWN}:
        raise SceneError("no key of Kalles Fraktaler is there, such as Re, Im and Zoom")
    return fields


def given(fields: Fields, key: str, default: str) -> tuple[str, str]:
    """Return the value of a key and where it stands."""
    return fields.get(key, (default, key))


def formula_of(fields: Fields) -> FormulaMatch:
    """Return the match of the formula that the file names."""
    kind = whole(*given(fields, "FractalType", "0"))
    power = whole(*given(fields, "Power", "2"))
    for key in ("SeedR", "SeedI"):
        seed, where = given(fields, key, "0")
        if real(seed, where):
            raise SceneError(f"{where}: orbits that begin at {seed[:40]} and not at 0 are unknown")
    if whole(*given(fields, "UseHybridFormula", "0")):
        return read_hybrid(*given(fields, "HybridFormula", ""))
    kin = power_of(power) if kind == 0 else SQUARES.get(kind) if power == 2 else None
    if (kind, power) in native():
        kin = match_of_lines(native()[kind, power], f"FractalType: {kind}, Power: {power}")
    if (kind, power) == MANDELBAR:
        step = {"name": "expression", "step": "-conj(z)^3 + c"}
        kin = FormulaMatch(step, conjugate=True)
    if (kind == NOVA and 2 <= power <= 12) or (kind, power) == (97, 3):
        kin = FormulaMatch({"name": "nova", "power": power}, conjugate=True)
    if kind in SUMS and power == abs(SUMS[kind]):
        kin = _sum(fields, power, "+" if SUMS[kind] > 0 else "-")
    if kin is None:
        known = NAMES.split(", ")
        name = f"'{known[kind]}'" if 0 <= kind < len(known) else f"of FractalType {kind}"
        where = given(fields, "FractalType" if kind else "Power", "")[1]
        raise SceneError(f"{where}: the formula {name} with power {power} is unsupported")
    return kin


@functools.cache
def native() -> dict[tuple[int, int], list[Line]]:
    """Return the lines of formulas that have a number of their own: FractalType and Power."""
    found = dict(LINES)
    for kind, powers in PRODUCTS.items():
        one, two = (frozenset[str](), powers[0], 1 + 0j), (MOTH[0], powers[1], 1 + 0j)
        found[kind, sum(powers)] = [(one, two, "*")]
    for row in FOLDED.strip().splitlines():
        name, _, folds = row.partition(":")
        number, digits = name.split()
        before, _, after = (frozenset(part.split()) for part in folds.partition("/"))
        for power in map(int, digits):
            lines: list[Line] = [((before, power, 1 + 0j), None, "+")]
            if after:
                lines.append(((after, 1, 1 + 0j), None, "+"))
            found[int(number), power] = lines
    return found


def _sum(fields: Fields, power: int, sign: str) -> FormulaMatch:
    x, y = "2", "0"
    if whole(*fields["FractalType"]) != 44:
        x, y = (number(*given(fields, *own)) for own in (("FactorAR", "1"), ("FactorAI", "0")))
    step = f"({x} + {y}*i)*z^2 {sign} z^{power} + c"
    return FormulaMatch({"name": "expression", "step": step}, conjugate=not Decimal(y))


def place_of(fields: Fields) -> ForeignView | None:
    """Return the view, if the file has one."""
    if not {"Re", "Im", "Zoom"} & fields.keys():
        return None
    size = None
    if {"ImageWidth", "ImageHeight"} <= fields.keys():
        across, down = whole(*fields["ImageWidth"]), whole(*fields["ImageHeight"])
        size = (across, down) if across > 0 and down > 0 else None  # -1: it isn't said
    angle = real(*given(fields, "RotateAngle", "0"))
    if "RotateAngle" not in fields:  # the older key is in radians, and turns the other way
        angle = -math.degrees(real(*given(fields, "Rotate", "0")))
    up = real(*given(fields, "ImagPointsUp", "0")) != 0
    amount, where = given(fields, "StretchAmount", "0")
    if abs(real(amount, where)) > MAX_STRETCH:
        raise SceneError(f"{where}: {amount[:40]} is beyond -{MAX_STRETCH} to {MAX_STRETCH}")
    along = real(*given(fields, "StretchAngle", "0"))
    # There the view is longer along the angle, which turns as the imaginary axis points.
    stretch, direction = 2 ** real(amount, where), turn(90 - along if up else 90 + along)
    height = EXACT.divide(Decimal(4), positive(*given(fields, "Zoom", "1")))
    if "StretchAmount" not in fields and stretch_of(fields) != 1:
        # A stretch here keeps areas; the older key keeps the height.
        stretch, direction = stretch_of(fields), 0.0
        height = EXACT.divide(height, Decimal(stretch))
    return ForeignView(
        center=(number(*given(fields, "Re", "0")), number(*given(fields, "Im", "0"))),
        height=height,
        up=up,
        angle=angle,
        stretch=stretch,
        stretch_angle=direction,
        size=size,
    )


def stretch_of(fields: Fields) -> float:
    """Return how much wider things look by Ratio, the height of a view 640 wide; 360 is usual."""
    text, where = given(fields, "Ratio", "360")
    ratio = real(text, where) / 360
    if not 4.0**-MAX_STRETCH <= ratio <= 4.0**MAX_STRETCH:
        raise SceneError(f"{where}: {text[:40]} is too far from 360")
    return math.sqrt(ratio)


def radius_of(fields: Fields) -> float:
    """Return the escape radius."""
    if "BailoutRadiusPreset" not in fields:
        return 2.0 if whole(*given(fields, "SmoothMethod", "0")) else RADIUS
    preset = whole(*fields["BailoutRadiusPreset"])
    if preset == 3:
        return real(*given(fields, "BailoutRadiusCustom", "2"))
    return 2.0 if preset else RADIUS


def color_of(fields: Fields, lost: list[str]) -> dict[str, Any]:
    """Return the colors; add a line to `lost` for each setting without an equivalent."""
    smooth = whole(*given(fields, "Smooth", "1")) != 0
    color: dict[str, Any] = {"coloring": "smooth" if smooth else "count"}
    key = "SmoothingMethod" if "SmoothingMethod" in fields else "SmoothMethod"  # an older key
    if smooth and whole(*given(fields, key, "0")) == 1:
        lost.append(f"linear smoothing ({key}: 1)")
    if {"ColorMethod", "IterDiv"} & fields.keys():
        method = whole(*given(fields, "ColorMethod", "0"))
        divisor, where = given(fields, "IterDiv", "1")
        said = f"ColorMethod: {method}, IterDiv: {divisor[:40]}"
        name, factor = CURVES.get(method, ("", 1.0))
        if method in DISTANCES:
            color["coloring"] = "distance"
            lost.append(f"how distance becomes color ({said})")
        elif name in get_args(Color.model_fields["transfer"].annotation):
            density = factor / STEPS / (real(divisor, where) or 1.0)
            color |= {"transfer": name, "density": float(f"{density:.12g}")}
            if abs(density) > 1e6:
                raise SceneError(f"{where}: {divisor[:40]} is too near 0")
        else:
            lost.append(f"the curve of colors: {METHODS.get(method, 'an unknown one')} ({said})")
    if "ColorOffset" in fields:
        color["offset"] = real(*fields["ColorOffset"]) / STEPS
    if "Colors" in fields:
        color["palette"] = palette_of(*fields["Colors"])
    if "InteriorColor" in fields:
        color["inside"] = colors_of(*fields["InteriorColor"])[0]
    return color


def palette_of(text: str, where: str) -> dict[str, Any]:
    """Return the palette of its list of colors: equal steps, along half a cosine each, in sRGB."""
    return {"stops": colors_of(text, where), "space": "srgb", "blend": "cosine"}


def colors_of(text: str, where: str) -> list[str]:
    """Return the colors of a list of numbers: blue, green, red, blue, ..."""
    parts = [part.strip() for part in text.split(",", 3 * STEPS + 1)]
    if parts[-1] == "":
        parts.pop()
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,3}", part) or int(part) > 255:
            raise SceneError(f"{where}: '{part[:40]}' is not a number from 0 to 255")
    if not parts or len(parts) % 3 or len(parts) > 3 * STEPS:
        raise SceneError(
            f"{where}: {counted(len(parts), 'number')}, and not three for each of 1 to {STEPS} "
            "colors"
        )
    values = list(map(int, parts))
    return [
        f"#{red:02x}{green:02x}{blue:02x}"
        for blue, green, red in zip(values[::3], values[1::3], values[2::3], strict=True)
    ]


def write_kfr(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the location of a whole scene's plain values, and what was lost."""
    lost = unwritten(table)
    (kind, power, hybrid), kin = _kind(table["formula"])
    if table.get("julia"):
        raise SceneError("Kalles Fraktaler has no Julia sets")
    (x, y), height = height_of(table)
    across, down = table["image"]["size"]
    view = table["view"]
    if view["projection"] != "plane":
        raise SceneError("a location of Kalles Fraktaler has no exponential map")
    rotation, up = view["rotation"], view["mirror"] == kin.conjugate
    along = 90 - view["stretch_angle"] if up else view["stretch_angle"] - 90
    steps, radius = table["iteration"]["max_iterations"], table["iteration"]["escape_radius"]
    # Where it can be, the axis points down, as it does in every version.
    values = {
        "Re": x,
        "Im": negated(y) if kin.conjugate else y,
        "Zoom": zoom_of(height, (across, down)),
        "Iterations": steps,
        **_written_colors(table["color"], lost),
        "BailoutRadiusPreset": 0 if radius == RADIUS else 3,
        "BailoutRadiusCustom": radius,
        "Power": power,
        "FractalType": kind,
        **({"UseHybridFormula": 1, "HybridFormula": hybrid} if hybrid else {}),
        "RotateAngle": turn(-rotation if kin.conjugate else rotation),
        "StretchAngle": turn(along) if view["stretch"] != 1 else 0,
        "StretchAmount": math.log2(view["stretch"]),
        "ImagPointsUp": 1 if up else 0,
        "ImageWidth": across,
        "ImageHeight": down,
    }
    text = "".join(f"{key}: {value}\r\n" for key, value in values.items())
    return text.encode(), tuple(lost)


def _kind(formula: Any) -> tuple[tuple[int, int, str], FormulaMatch]:
    """Return FractalType, Power and HybridFormula of a formula."""
    for power in range(2, 9):
        kin = power_of(power)
        if kin and formula in (kin.formula, {"name": "multibrot", "power": power}):
            return (0, power, ""), kin
    for kind, kin in SQUARES.items():
        if formula == kin.formula:
            return (kind, 2, ""), kin
    name = formula if isinstance(formula, str) else formula["name"]
    if name == "nova" and (isinstance(formula, str) or "relaxation" not in formula):
        power = 3 if isinstance(formula, str) else formula.get("power", 3)
        return (NOVA, power, ""), FormulaMatch(formula, conjugate=True)
    hybrid = write_hybrid(formula)
    if hybrid:
        text, power, symmetric = hybrid
        return (0, power, text), FormulaMatch(formula, conjugate=symmetric)
    raise SceneError(f"Kalles Fraktaler has no formula '{name}'")


def _written_colors(table: Mapping[str, Any], lost: list[str]) -> dict[str, Any]:
    own = Color.model_validate(table)
    curve, coloring = own.transfer, own.coloring.name
    lost += [
        f"the {key}"
        for key in ("layers", "mask", "range")
        if key in own.model_fields_set and getattr(own, key) != Color.model_fields[key].default
    ]
    if coloring not in ("smooth", "count", "distance"):
        lost.append(f"the coloring '{coloring}'")
    if curve == "auto":
        curve = "log"
        lost.append("the transfer 'auto', which counts from the lowest count of a deep view")
    method, factor = next((k, f) for k, (name, f) in CURVES.items() if name == curve)
    if own.density <= 0:
        lost.append(f"the density of {own.density}")
    divisor = factor / STEPS / own.density if own.density > 0 else 1.0
    offset = own.offset * STEPS
    if offset != round(offset):
        lost.append(f"the offset of {own.offset}, but in whole steps of 1/{STEPS}")
    return {
        "IterDiv": f"{divisor:.15g}",
        "SmoothingMethod": 0,
        "ColorMethod": 7 if coloring == "distance" else method,
        "Differences": 7,
        "ColorOffset": round(offset) % STEPS,
        "Colors": _numbers(_even_colors(own.make_palette(), lost)),
        "InteriorColor": _numbers([own.inside]),
        "Smooth": 0 if coloring == "count" else 1,
    }


def _even_colors(own: Palette, lost: list[str]) -> list[str]:
    """Return the colors of a palette at equal steps, as they are or sampled."""
    count = len(own.stops)
    even = all(abs(place - k / count) < 1e-9 for k, (place, _) in enumerate(own.stops))
    mixed_alike = own.space == "srgb" and own.blend == "cosine"
    if own.cyclic and even and mixed_alike and count <= STEPS:
        return [color for _, color in own.stops]
    lost.append(f"the palette's stops: {SAMPLES} colors at equal steps are written")
    rows = own.lookup("#000")[: palette.ENTRIES : palette.ENTRIES // SAMPLES]
    srgb = palette.srgb_from_linear(rows)
    return ["#" + bytes(round(255 * float(v)) for v in row).hex() for row in srgb]


def _numbers(colors: list[str]) -> str:
    """Return colors as numbers: blue, green, red, blue, ..."""
    values = []
    for color in colors:
        values += [str(round(255 * part)) for part in reversed(palette.parse_color(color))]
    return ",".join(values) + ","


def make_kfr() -> Format:
    """Return the format."""
    return Format(
        "kfr", "Kalles Fraktaler, a location", (".kfr",), read_kfr, write_kfr, writes_limit=True
    )


# --- Kalles Fraktaler's palettes


def read_kfp(data: bytes, entry: str) -> Imported:
    """Return the colors."""
    only_one(entry)
    fields = fields_of(data)
    if "Colors" not in fields:
        raise SceneError("the line 'Colors:' is missing, so this is not a palette")
    lost: list[str] = []
    color = color_of(fields, lost)
    return Imported({"color": color}, (*lost, *unknown_of(fields)))


def make_kfp() -> Format:
    """Return the format."""
    return Format("kfp", "Kalles Fraktaler palette", (".kfp",), read_kfp)


# --- rust-fractal (`.toml`): a location, settings or a palette, which it merges
#
# A location has real, imag, zoom, iterations, rotate: the view is 4 / zoom high, and no formula is
# named. The imaginary axis points down there; the center is kept as it is, so that it is right for
# every formula, and the picture is mirrored. A palette is a list of red, green and blue, in turn.

PLACE = {"real", "imag", "zoom", "iterations", "rotate", "image_width", "image_height"}
SETTINGS = {"approximation_order", "glitch_percentage", "display_glitches", "frame_offset"}
# Settings of how a picture is computed there, which change nothing in it.
COMPUTED = {
    *("analytic_derivative", "approximation_order", "data_storage_interval", "display_glitches"),
    *("experimental", "export", "frame_offset", "glitch_percentage"),
    *("glitch_tolerance", "iteration_interval", "jitter", "probe_sampling"),
    *(
        "series_approximation_enabled",
        "series_approximation_tiled",
        "show_output",
        "valid_iteration_frame_multiplier",
    ),
    *("valid_iteration_probe_multiplier", "zoom_scale"),
}
OFF = {"frames": 1, "palette_cyclic": True}  # values that ask for nothing, where 0 is none
MAX_COLORS = 4096


def read_rust_fractal(data: bytes, entry: str) -> Imported:
    """Return the scene of a location, or of settings; a palette alone where there is one."""
    only_one(entry)
    table = toml_of(data)
    size, scene, lost = None, dict[str, Any](), list[str]()
    if {"image_width", "image_height"} <= table.keys():
        across, down = (whole(table[key], key) for key in ("image_width", "image_height"))
        size = (across, down) if across > 0 and down > 0 else None
    if {"real", "imag"} <= table.keys():
        place = ForeignView(
            center=(number(table["real"], "real"), number(table["imag"], "imag")),
            height=EXACT.divide(Decimal(4), positive(table.get("zoom", 1), "zoom")),
            up=False,
            angle=real(table.get("rotate", 0), "rotate"),
            size=size,
        )
        scene = placed(FormulaMatch("mandelbrot"), place)
        lost.append("the formula, which the file doesn't name: the Mandelbrot set is drawn")
        known = PLACE
    else:  # merged with a location's file, which says the rest
        scene = {"image": {"size": list(size)}} if size else {}
        known = {"iterations", "image_width", "image_height"}
    if "iterations" in table:
        scene["iteration"] = {"max_iterations": limit(table["iterations"], "iterations", lost)}
    if "palette" in table:
        scene["color"] = {"palette": evenly(_colors(table["palette"]))}
        known = known | {"palette"}
    if "palette_iteration_span" in table and {"real", "imag"} <= table.keys():
        span = positive(table["palette_iteration_span"], "palette_iteration_span")
        shown_colors: dict[str, Any] = {"coloring": "smooth", "transfer": "linear"}
        shown_colors["density"] = min(float(1 / span), 1e6)
        shown_colors["offset"] = real(table.get("palette_offset", 0), "palette_offset") % 1
        scene["color"] = scene.get("color", {}) | shown_colors
        known = known | {"palette_iteration_span", "palette_offset"}
    for key, value in table.items():
        if key not in known | COMPUTED and value != OFF.get(key, 0):
            lost.append(f"'{key[:80]} = {shown(value, 40)}'")
    return Imported(scene, tuple(lost))


def _colors(given: Any) -> list[str]:
    """Return colors as ``"#rrggbb"``; the list may end with the first color once more."""
    values = [whole(part, "palette") for part in given] if isinstance(given, list) else []
    if not 3 <= len(values) <= 3 * MAX_COLORS or len(values) % 3:
        raise SceneError(
            f"palette: a list of red, green and blue of 1 to {MAX_COLORS} colors was expected"
        )
    if not all(0 <= value <= 255 for value in values):
        raise SceneError("palette: numbers are from 0 to 255")
    rows = list(zip(values[::3], values[1::3], values[2::3], strict=True))
    rows = rows[:-1] if len(rows) > 1 and rows[0] == rows[-1] else rows
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in rows]


def claims(table: Mapping[str, Any]) -> bool:
    """Return whether a TOML file is one of rust-fractal's."""
    palette = table.get("palette")
    flat = isinstance(palette, list) and all(type(part) is int for part in palette)
    return {"real", "imag"} <= table.keys() or flat or len(SETTINGS & table.keys()) > 1


def make_rust_fractal() -> Format:
    """Return the format."""
    return Format(
        "rust_fractal",
        "rust-fractal, a location, settings or a palette",
        (".toml",),
        read_rust_fractal,
        claims=claims,
    )

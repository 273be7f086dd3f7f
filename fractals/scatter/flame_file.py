"""Flames (`.flame`, `.flam3`).

Flames of flam3, Apophysis, Chaotica, Fractorium and JWildfire are XML. Coefficients stand in the
order a d b e c f there, for x' = ax + by + c and y' = dx + ey + f; y points down, and `scale` is
pixels a unit. `fractals.scatter.flame_names` reads the variations.
"""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from fractals import catalog
from fractals.color import palette
from fractals.color.palette import parse_color, srgb_from_linear
from fractals.errors import SceneError, counted, listed, shown
from fractals.io.foreign import Format, Imported, first_of, unwritten
from fractals.scatter.flame_names import Read, value_of
from fractals.scatter.flame_settings import is_on, lost_of
from fractals.scatter.flame_xml import flames_of
from fractals.scatter.formulas import MAX_TRANSFORMS
from fractals.scatter.game import IDENTITY, Flame
from fractals.scatter.plan import points_of
from fractals.scene.scatter import FILTERS, Display

COLORS = 256  # of a palette
# Attributes of a flame, and the keys of the table [display] that say the same.
TONES = (
    "brightness",
    "gamma",
    "gamma_threshold",
    "vibrancy",
    "highlight_power",
    "estimator_radius",
    "estimator_minimum",
    "estimator_curve",
)
PERCEIVED = math.log2(10)  # the power of an opacity that its points add
DIGITS = 10  # of a number that is written
# The points that flam3 computes from one random beginning. It does not draw the first 15.
STEPS = 10_000
WITHOUT = "without "  # before the variations of a file that are not drawn


def read_flame(data: bytes, entry: str) -> Imported:
    """Return the scene of a flame: the first one, or that of a name or a number."""
    flames = flames_of(data)
    names = [name for name, _ in entries_of_flame(data)]
    found = flames[0]
    if entry:
        if entry not in names:
            hint = catalog.did_you_mean(entry, names)
            raise SceneError(f"no flame '{shown(entry, 80)}' in it{hint}")
        found = flames[names.index(entry)]
    lost: list[str] = []
    table = _scene(found, lost)
    if not entry and len(flames) > 1:
        lost.append(first_of(len(flames)))
    return Imported(table, tuple(lost), refused=_refusal(table.get("note", "")))


def _refusal(note: str) -> str:
    """Return why a flame is not drawn that lacks variations, of which its note tells."""
    return note and (
        f"variations that are not drawn here: {note.removeprefix(WITHOUT)}; lossy=True "
        "draws the others, and fractals.names('variations') shows those that are known"
    )


def entries_of_flame(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the flames, each with words about it."""
    found: dict[str, str] = {}
    for number, flame in enumerate(flames_of(data), 1):
        name = flame.get("name", "").strip() or f"flame-{number}"
        if name in found:
            name = f"{name}-{number}"
        found[name] = counted(len(flame.findall("xform")), "transform")
    return list(found.items())


def _scene(flame: ElementTree.Element, lost: list[str]) -> dict[str, Any]:
    width, height = (int(v) for v in _numbers(flame, "size", (640, 480), 2))
    if not (width > 0 and height > 0):
        raise SceneError(f"size '{shown(flame.get('size'), 40)}': two numbers above 0")
    scale = _number(flame, "scale", 100.0) * 2 ** min(max(_number(flame, "zoom", 0.0), -99), 99)
    scale *= _number(flame, "cam_zoom", 1.0)  # of JWildfire
    if not scale > 0:
        raise SceneError(f"scale '{shown(flame.get('scale'), 40)}' is not greater than 0")
    x, y = _numbers(flame, "center", (0.0, 0.0), 2)
    view: dict[str, Any] = {
        "center": [str(Decimal(repr(x))), str(Decimal(repr(y)))],
        "width": repr(width / scale),
        "mirror": True,
    }
    angle = -math.degrees(_number(flame, "angle", 0.0))  # of Apophysis, which writes both
    if turn := math.remainder(_number(flame, "rotate", angle), 360):
        view["rotation"] = -turn
    samples = flame.get("oversample") or flame.get("supersample") or "1"
    asked = int(value_of(samples, "oversample"))
    step = min(16, max(1, asked))
    if asked > step:
        lost.append(f"oversample {asked}: {step} is the most")
    tones: dict[str, Any] = {}
    for key in TONES:
        if key in flame.attrib:
            tones[key] = _within(key, _number(flame, key, 0.0), lost)
    if "filter" in flame.attrib:
        tones["filter_radius"] = _within("filter_radius", _number(flame, "filter", 0.5), lost)
    shape = flame.get("filter_shape", "gaussian").lower().replace("bspline", "b_spline")
    tones["filter"] = shape if shape in FILTERS else "gaussian"
    if shape not in FILTERS:
        lost.append(f"the filter '{shown(shape, 40)}'")
    if "background" in flame.attrib:
        tones["background"] = palette.hexadecimal(_numbers(flame, "background", (0, 0, 0), 3))
    lost += lost_of(flame)
    formula, without = _formula(flame, lost)
    table: dict[str, Any] = {
        "formula": formula,
        "view": view,
        "image": {"size": [width, height], "supersampling": step},
        "display": tones,
        "color": {"palette": _palette(flame, lost)},
    }
    table["scatter"] = {"steps": STEPS}
    if "quality" in flame.attrib:
        table["scatter"]["quality"] = _number(flame, "quality", 50.0) or 50.0
    if name := flame.get("name"):
        table["title"] = name[:1000]
    if without:
        table["note"] = WITHOUT + without
        lost.insert(0, table["note"])
    return table


def _within(key: str, value: float, lost: list[str]) -> float:
    """Return a value that the key of [display] takes."""
    limits = Display.model_fields[key].limits
    least, most = float(limits.get("ge", 0)), float(limits.get("le", 1e6))
    if key == "highlight_power":
        least = -1.0
    if not least <= value <= most:
        lost.append(f"{key} {value:g}, which is not from {least:g} to {most:g}")
    return min(max(value, least), most)


def _formula(flame: ElementTree.Element, lost: list[str]) -> tuple[dict[str, Any], str]:
    """Return the formula's table, and which variations it lacks."""
    finals = [each for each in flame.findall("finalxform") if is_on(each)][:1]
    read = [Read(each, lost) for each in [*flame.findall("xform"), *finals]]
    own = (_transform(each) for each in read if each.element.tag == "xform")
    more = (turn for each in flame if each.tag == "symmetry" for turn in _symmetry(each))
    # A few letters of a file ask for a hundred transforms, so no more are made than are taken.
    found = list(itertools.islice(itertools.chain(own, more), MAX_TRANSFORMS + 1))
    if len(found) > MAX_TRANSFORMS:
        raise SceneError(f"more than {MAX_TRANSFORMS} transforms")
    if not found:
        raise SceneError("the flame has no transform (<xform>)")
    solo = int(_number(flame, "soloxform", -1.0))  # of Apophysis, which hides the others' points
    for k, each in enumerate(found if 0 <= solo < len(found) else ()):
        each["opacity"] = float(k == solo)
    formula: dict[str, Any] = {"name": "flame", "transforms": found}
    if final := next((each for each in read if each.element.tag == "finalxform"), None):
        last = _transform(final)
        share = last.pop("opacity", 1.0)  # of the points that it is applied to
        if 0 < share < 1:
            lost.append("the opacity of the final transform: it is applied to all points")
        if share and (last["variations"] or last.get("post")):
            formula["final"] = last
    return formula, _without(read, found)


def _without(read: Sequence[Read], found: Sequence[Mapping[str, Any]]) -> str:
    """Return the variations that a flame lacks, and their share of its weight; "" for none.

    It is the share of the weights of variations in a transform, whose mean is weighted by those of
    the transforms; of the final transform, through which all points go, it is added to that.
    """
    names = list(dict.fromkeys(name for each in read for name in each.missing))
    if not names:
        return ""
    drawn = [each for each in read if each.element.tag == "xform"]
    every = sum(table["weight"] for table in found if "weight" in table) or 1.0
    share = (
        sum(table["weight"] * each.share for each, table in zip(drawn, found, strict=False)) / every
    )
    for each in read:
        if each.element.tag == "finalxform":
            share = 1 - (1 - share) * (1 - each.share)
    return f"{', '.join(listed(names, 10))} ({100 * share:.2g} % of the flame's weight)"


def _transform(read: Read) -> dict[str, Any]:
    element = read.element
    color = value_of(element.get("color", "0").split()[:1] or ["0"], "color")
    speed = (1 - _number(element, "symmetry", 0.0)) / 2
    if element.tag == "xform" and element.get("color_type") == "NONE":  # of JWildfire
        speed = 0.0
    opacity = 0.0 if element.get("plotmode") == "off" else _number(element, "opacity", 1.0)
    weight = _number(element, "weight", _number(element, "density", 0.0))  # its older name
    table: dict[str, Any] = {
        "weight": max(0.0, weight) if element.tag == "xform" else 1.0,
        "affine": _affine(element, "coefs"),
        "variations": read.variations,
        "color": min(max(color, 0.0), 1.0),
        "color_speed": min(max(_number(element, "color_speed", speed), -1.0), 2.0),
    }
    if opacity < 1:
        table["opacity"] = max(0.0, opacity) ** PERCEIVED
    post = _affine(element, "post")
    if tuple(post) != IDENTITY:
        table["post"] = post
    if "chaos" in element.attrib:
        factors = element.get("chaos", "").split()[:MAX_TRANSFORMS]
        table["xaos"] = [max(0.0, value_of(part, "chaos")) for part in factors]
    return table


def _affine(element: ElementTree.Element, key: str) -> list[float]:
    a, d, b, e, c, f = _numbers(element, key, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), 6)
    return [a, b, c, d, e, f]


def _symmetry(element: ElementTree.Element) -> Iterator[dict[str, Any]]:
    """Yield transforms that rotate, and for a number below 0 also one that mirrors."""
    kind = int(_number(element, "kind", 0.0))
    if abs(kind) > MAX_TRANSFORMS:
        raise SceneError(f"symmetry {kind}: {MAX_TRANSFORMS} at most")
    maps = [(-1.0, 0.0, 0.0, 1.0)] if kind < 0 else []
    for k in range(1, abs(kind)):
        turn = 2 * math.pi * k / abs(kind)
        c, s = math.cos(turn), math.sin(turn)
        maps.append((c, -s, s, c))
    for a, b, d, e in maps:
        affine = [a, b, 0.0, d, e, 0.0]
        yield {"affine": affine, "variations": {"linear": 1.0}, "color_speed": 0.0, "color": 1.0}


def _palette(flame: ElementTree.Element, lost: list[str]) -> Any:
    colors: dict[int, Any] = {}
    for each in flame.findall("color"):
        own = _numbers(each, "rgba" if "rgba" in each.attrib else "rgb", (0.0, 0.0, 0.0), 3)
        colors[int(_number(each, "index", 0.0))] = [v / 255 for v in own]
    for tag, text in (("palette", None), ("colors", "data")):
        if (element := flame.find(tag)) is not None:
            digits = re.sub(r"\s", "", element.get(text, "") if text else element.text or "")
            own_count = int(_number(element, "count", COLORS))
            size = 8 if text or element.get("format") == "RGBA" else 6
            skip = 2 if text else 0
            count = min(own_count, COLORS)
            if len(digits) // size < count:
                lost.append(f"colors: the palette has {len(digits) // size} of {count}")
            for k in range(min(count, len(digits) // size)):
                part = digits[k * size + skip : k * size + skip + 6]
                if not re.fullmatch("[0-9a-fA-F]{6}", part):
                    raise SceneError(f"palette: '{shown(part, 10)}' is no color")
                colors[k] = [int(part[m : m + 2], 16) / 255 for m in (0, 2, 4)]
    if not colors:
        number = flame.get("palette")
        lost.append(f"the palette {shown(number, 20)} of flam3's own" if number else "no palette")
        return "auto"
    if flame.get("palette_mode") == "linear":
        # flam3 mixes neighbors: within an entry, the mean color is that halfway to the next one.
        pairs = {k: (color, colors.get(k + 1, color)) for k, color in colors.items()}
        colors = {k: [(u + v) / 2 for u, v in zip(*pair, strict=True)] for k, pair in pairs.items()}
    last = max(colors) or 1
    if not 0 < last < 10_000 or min(colors) < 0:
        raise SceneError("the colors of the palette are numbered from 0 on")
    stops = [[k / last, palette.hexadecimal(colors[k])] for k in sorted(colors)]
    if len(stops) == 1:
        stops = [[0.0, stops[0][1]], [1.0, stops[0][1]]]
    return {"stops": stops, "cyclic": False, "space": "srgb"}


def _number(element: ElementTree.Element, key: str, usual: float) -> float:
    return value_of(element.get(key, repr(usual)), key)


def _numbers(
    element: ElementTree.Element, key: str, usual: tuple[float, ...], count: int
) -> list[float]:
    given = element.get(key)
    values = given.split() if given is not None else list(map(repr, usual))
    if len(values) < count:
        raise SceneError(f"{key} '{shown(given, 40)}': {count} numbers are needed")
    return [value_of(value, key) for value in values[:count]]


# Writing.


def write_flame(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return a flame of a scene, and a line for each setting that has no equivalent."""
    formula = table["formula"]
    if not (formula == "flame" or (isinstance(formula, Mapping) and formula["name"] == "flame")):
        raise SceneError("only the formula 'flame' can be written as a flame")
    from fractals.scene.model import Scene

    scene = Scene.model_validate(_pointing_down(table))
    flame, view, display = scene.make_any_formula(), scene.view, scene.display
    lost = unwritten(table, but=["title"])
    lost += ["the stretched view"] if view.stretch != 1 else []
    from fractals.scene.geometry import place_of

    width, (x, y) = place_of(scene)
    columns, rows = scene.image.size
    attributes: dict[str, Any] = {
        "name": scene.title or "flame",
        "size": f"{columns} {rows}",
        "center": f"{_text(float(x))} {_text(float(y))}",
        "scale": _text(columns / float(width)),
        "rotate": _text(-view.rotation),
        "oversample": scene.image.supersampling,
        "filter": _text(display.filter_radius),
        "filter_shape": display.filter.replace("b_spline", "bspline"),
        "quality": _text(points_of(scene)),
        "background": " ".join(_text(float(v)) for v in parse_color(display.background)),
        **{key: _text(getattr(display, key)) for key in TONES if key != "gamma"},
        "gamma": _text(display.usual_gamma(Flame.method)),
        "temporal_samples": 1,
        "passes": 1,
    }
    lines = [f"<flame {_attributes(attributes)}>"]
    for tag, each in _elements(flame):
        parts: dict[str, Any] = {"weight": _text(each.weight)} if tag == "xform" else {}
        parts |= {"color": _text(each.color), "color_speed": _text(each.color_speed)}
        parts |= {"coefs": _written_map(each.affine)}
        if each.post != IDENTITY:
            parts["post"] = _written_map(each.post)
        if each.opacity < 1:
            parts["opacity"] = _text(each.opacity ** (1 / PERCEIVED))
        if each.xaos:
            parts["chaos"] = " ".join(map(_text, each.xaos))
        for own in each.variations:
            name = own.stage + own.variation.name
            name = "pre_blur" if name == "pre_gaussian_blur" else name
            parts[name] = _text(own.weight)
            for key, value in zip(own.variation.parameters, own.values, strict=True):
                before = "oscope" if own.variation.name == "oscilloscope" else own.variation.name
                parts[f"{own.stage}{before}_{key}"] = _text(value)
        lines.append(f"   <{tag} {_attributes(parts)}/>")
    paint = scene.color
    found = paint.make_palette()
    at = paint.offset + paint.density * np.arange(COLORS) / (COLORS - 1)
    at = at - np.floor(at) if found.cyclic else at.clip(0, 1)
    for k, color in enumerate(srgb_from_linear(found.linear(at))):
        rgb = " ".join(str(round(255 * min(max(float(v), 0.0), 1.0))) for v in color)
        lines.append(f'   <color index="{k}" rgb="{rgb}"/>')
    return ("\n".join([*lines, "</flame>", ""])).encode(), tuple(lost)


def _pointing_down(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a scene with the same picture whose y points down, as it does there.

    The final transform turns the points upside down, and the view is turned with them.
    """
    view, formula = table.get("view", {}), table["formula"]
    if view.get("mirror"):
        return dict(table)
    formula = {"name": formula} if isinstance(formula, str) else formula
    final = dict(formula.get("final") or {"color_speed": 0.0})
    a, b, c, d, e, f = final.get("post", IDENTITY)
    final["post"] = [a, b, c, -d, -e, -f]
    turned = {**view, "mirror": True, "rotation": -view.get("rotation", 0.0)}
    if center := view.get("center"):
        turned["center"] = [center[0], str(-Decimal(center[1]))]
    return {**table, "view": turned, "formula": {**formula, "final": final}}


def _elements(flame: Any) -> Iterator[tuple[str, Any]]:
    for each in flame.transforms:
        yield "xform", each
    if flame.final:
        yield "finalxform", flame.final


def _written_map(affine: tuple[float, ...]) -> str:
    a, b, c, d, e, f = affine
    return " ".join(map(_text, (a, d, b, e, c, f)))


def _text(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _attributes(parts: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={quoteattr(str(value))}" for key, value in parts.items())


def make_flame() -> Format:
    """Return the format."""
    return Format(
        "flame",
        "flames of flam3, Apophysis, Chaotica, Fractorium and JWildfire",
        (".flame", ".flam3"),
        read_flame,
        write_flame,
        entries=entries_of_flame,
    )

"""Ultra Fractal's parameters (`.upr`) and formulas (`.ufm`).

Parameters have layers that have a formula each. One layer is drawn, by default the lowest one, the
last in the file; ``many.upr#name layer=1`` is the first. Its formula is in the same file, in a
`.ufm` that it names, or a usual one of Standard.ufm.
"""

import base64
import binascii
import re
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

from fractals.errors import InputError, SceneError, counted, shown
from fractals.formulas.language.syntax import Tree
from fractals.io.foreign import NOTHING, Asked, Beside, Format, Imported
from fractals.io.foreign._beside import plain_name as base_name
from fractals.io.foreign._entries import Formulas, Lines, formulas_of, joined, plain_name
from fractals.io.foreign._frm import C, FrmText
from fractals.io.foreign._ufm_scene import HEIGHT, drawn, scene_of, transformed
from fractals.io.foreign._view import (
    EXACT,
    ForeignView,
    limit,
    lines_of,
    number,
    placed,
    positive,
    real,
    whole,
)
from fractals.io.foreign.frm import list_formulas, read_formula
from fractals.io.foreign.palette_files import WORD, gradient_of
from fractals.io.foreign.par import MAX_LISTED, named, one_of

MAX_UNPACKED = 4 * 2**20  # bytes of compressed parameters
MAX_LAYERS = 1000
# By which an entry of parameters is known; others are formulas, which the file may hold, too.
PARAMETERS = re.compile(r"^\s*(?:(?:fractal|layer|mapping|gradient):|::)", re.IGNORECASE | re.M)
PER_COUNT = 0.05  # of the palette, for each step, in the coloring Smooth
COLORINGS = {  # entries of Standard.ucl
    "smooth": "smooth",
    "triangleinequalityaverage": "triangle_average",
    "distanceestimator": "distance",
}
CURVES = {"sqrt": "sqrt", "cuberoot": "cbrt", "log": "log", "arctan": "atan"}


# What some entries of Standard.ufm compute, for where that file is not beside this one.
STANDARD = """
Mandelbrot { init: z = @start
loop: z = z^@power + #pixel
bailout: |z| <= @bailout
default: param power default = (2,0)
endparam
param bailout default = 4.0
endparam }
Julia { init: z = #pixel
loop: z = z^@power + @seed
bailout: |z| <= @bailout
default: param power default = (2,0)
endparam
param bailout default = 4.0
endparam }
FastMandel { builtin: type = 1
default: param bailout default = 4.0
endparam }
FastJulia { builtin: type = 2
default: param bailout default = 4.0
endparam }
"""


@dataclass
class _Layer:
    """The sections of a layer: their keys, with where each stands."""

    lines: Lines = field(default_factory=list)  # all of them, for the gradient
    sections: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    # Those of the plane, in the order in which a pixel goes through them
    transforms: list[dict[str, tuple[str, str]]] = field(default_factory=list)

    def get(self, section: str, key: str, usual: str = "") -> tuple[str, str]:
        """Return a value and where it stands."""
        return self.sections.get(section, {}).get(key, (usual, f"{section} {key}"))


def read_upr(data: bytes, entry: str, beside: Beside = NOTHING) -> Imported:
    """Return the scene of one layer of an entry, by default of the lowest of the first entry."""
    found, formulas = _entries(data)
    if not found:
        raise SceneError("the file has no entry such as 'name { fractal: ... layer: ... }'")
    name, mark, layer = f" {entry}".rpartition(" layer=")
    if not mark or named(entry, found):
        name, layer = entry, ""
    name = name.strip()
    return one_of(list(found), name, lambda own: _scene(found[own], layer, formulas, beside))


def entries_of_upr(data: bytes, beside: Beside = NOTHING) -> list[tuple[str, str]]:
    """Return the names of a file's entries, each with its formula, or why it can't be drawn."""
    found, formulas = _entries(data)
    told, length = [], 0
    for name, text in found.items():
        about = "a scene"
        try:
            length += len(text.text)
            if length <= MAX_LISTED:
                layers = _layers(text)
                drawn_layer = layers[(_visible(layers) or [len(layers)])[-1] - 1]
                about = f"formula {shown(drawn_layer.get('formula', 'entry')[0], 60)}"
                _scene(text, "", formulas, beside)
        except InputError as error:
            about = f"unsupported: {error}"
        told.append((name, about))
    return told


def _entries(data: bytes) -> tuple[Formulas, Formulas]:
    """Return the entries of parameters by their names, and the formulas that the file holds."""
    kept: Formulas = {}
    formulas: Formulas = {}
    for text in formulas_of(lines_of(data), str).values():
        if text.name.lower() == "comment":
            continue
        if PARAMETERS.search(text.text):
            kept[text.name] = text
        else:
            name = text.name.rpartition(".ufm:")[2]  # after the file that it comes from
            formulas.setdefault(plain_name(name).lower(), text)
    return kept, formulas


def _layers(text: FrmText) -> list[_Layer]:
    """Return the layers of an entry; the sections before the first one are those of all."""
    lines = list(zip(text.lines, text.text.split("\n"), strict=True))
    packed = [line.strip() for _, line in lines if line.strip()]
    if packed and packed[0].startswith("::"):
        first = next(k for k, own in lines if own.strip())
        inner = _unpacked("".join(packed)[2:], f"line {first}").splitlines()
        lines = [(first, own) for _, own in joined(inner)]
    common, layers = _Layer(), list[_Layer]()
    now, section, keys = common, "", dict[str, tuple[str, str]]()
    for place, line in lines:
        at, end = 0, len(line.rstrip())
        while at < end:
            word = WORD.match(line, at)
            if not word:
                raise SceneError(f"line {place}: {line[at : at + 40].strip()!r} is not 'key=value'")
            at = word.end()
            label, key, value, _ = word.groups()
            if label:
                section = label.lower()
                if section == "layer":
                    now = _Layer([], dict(common.sections), [*common.transforms])
                    layers.append(now)
                    if len(layers) > MAX_LAYERS:
                        raise SceneError(f"line {place}: more than {MAX_LAYERS} layers")
                keys = now.sections[section] = {}
                if section == "transform":
                    now.transforms.append(keys)
            elif key:
                keys[key.lower()] = value.strip('"'), f"line {place}: {key[:40]}"
        now.lines.append((place, line))
    if not layers and "formula" in common.sections:
        return [common]
    if not layers:
        raise SceneError(f"{text.where}: the entry has no layer")
    return layers


def _unpacked(text: str, where: str) -> str:
    """Return compressed parameters: zlib after four bytes, in base64 with the lowest bits first.

    No document tells so; the first letters of public files do. Plain base64 is read, too.
    """
    digits = text.rstrip("=")
    digits += "A" * (-len(digits) % 4)
    for backward, skipped in ((True, 4), (True, 0), (False, 0), (False, 4)):
        unpack = zlib.decompressobj()
        try:
            data = base64.b64decode(digits[::-1] if backward else digits, validate=True)
            plain = unpack.decompress((data[::-1] if backward else data)[skipped:], MAX_UNPACKED)
        except (binascii.Error, zlib.error):
            continue
        if unpack.unconsumed_tail:
            raise SceneError(f"{where}: the parameters have more than {MAX_UNPACKED} bytes")
        return plain.decode("utf-8", "replace")
    raise SceneError(
        f"{where}: the compressed parameters can't be read: save them without compression"
    )


def _visible(layers: list[_Layer]) -> list[int]:
    """Return the numbers of the layers that are seen, from 1 on."""
    return [k for k, own in enumerate(layers, 1) if own.get("layer", "visible")[0] != "no"]


def _scene(text: FrmText, wanted: str, formulas: Formulas, beside: Beside) -> Imported:
    """Return the scene of one layer of an entry."""
    layers = _layers(text)
    seen = _visible(layers)
    chosen = whole(wanted, "layer") if wanted else (seen or [len(layers)])[-1]
    if not 1 <= chosen <= len(layers):
        raise SceneError(f"layer: {shown(wanted, 20)} is not from 1 to {len(layers)}")
    layer = layers[chosen - 1]
    lost, asked = list[str](), list[Asked]()
    if len(layers) > 1:
        names = tuple(str(k + 1) for k in range(len(layers)))
        asked.append(Asked("layer", str(chosen), True, names, "Layer"))
        if set(seen) - {chosen}:
            lost.append(f"the other layers: 'layer={chosen}' of {len(layers)} is drawn")
    place = _place_of(layer, lost)
    pixel = _pixel_of(layer, place, formulas, beside, lost)
    steps, where = layer.get("formula", "maxiter", "250")
    count = limit(steps, where, lost)
    words = _words_of(layer.sections.get("formula", {}))
    path, name = (layer.get("formula", key) for key in ("filename", "entry"))
    formula = _formula_of(path[0], name, formulas, beside)
    found, _ = drawn(name[0], formula, words, str(count), strict=False, pixel=pixel)
    table = placed(found.kin, replace(place, julia=found.julia))
    table["title"] = layer.get("fractal", "title", text.name)[0][:1000]
    table["iteration"] = {"max_iterations": count}
    if found.radius is not None:
        table["iteration"]["escape_radius"] = found.radius
    table["color"] = _color_of(layer, lost)
    return Imported(table, (*found.lost, *lost), tuple(asked))


def _words_of(section: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the values of parameters and functions of a section, by their names."""
    return {key[2:]: value for key, (value, _) in section.items() if key[:2] in ("p_", "f_")}


def _pixel_of(
    layer: _Layer, place: ForeignView, formulas: Formulas, beside: Beside, lost: list[str]
) -> Tree:
    """Return what a formula gets as the pixel; add a line to `lost` for each lost transformation.

    Transformations work on the picture from the last one in the list to the first, so a pixel goes
    through the first one first (ultrafractal.com/help, *Multiple transformations*).
    """
    pixel: Tree = C
    for section in layer.transforms:
        name = section.get("entry", ("", "transform"))
        path, _ = section.get("filename", ("", ""))
        try:
            text = _formula_of(path, name, formulas, beside, "transformation")
            pixel = transformed(name[0], text, _words_of(section), place, pixel)
        except SceneError as error:
            lost.append(f"a transformation of the plane: {error}")
    return pixel


def _formula_of(
    path: str, name: tuple[str, str], formulas: Formulas, beside: Beside, kind: str = "formula"
) -> FrmText:
    """Return the formula, or another entry, that a layer names."""
    key, file = name[0].lower(), base_name(path).lower()
    if key in formulas:
        return formulas[key]
    files = list(beside.contents(file, "formula"))
    said = f"{name[1]}: the {kind} '{shown(name[0], 80)}'"
    missing = f"the file has no such {kind}"
    if not files and file == "standard.ufm":
        files = [STANDARD.encode()]
        missing = "only the Mandelbrot and Julia sets of it are known without the file"
    if not files:
        raise SceneError(
            f"{said} is not in this file, and no file '{shown(path, 80)}' is "
            f"{beside.places('formula')}"
        )
    found = (formulas_of(lines_of(data)).get(key) for data in files)
    text = next(filter(None, found), None)
    if text is None:
        raise SceneError(f"{said} of '{shown(path, 80)}': {missing}")
    return text


def _place_of(layer: _Layer, lost: list[str]) -> ForeignView:
    """Return the view of a layer."""
    text, where = layer.get("mapping", "center", "0/0")
    parts = [number(part, where) for part in text.split("/")]
    if len(parts) != 2:
        raise SceneError(f"{where}: {counted(len(parts), 'number')}, and not 2")
    angle = real(*layer.get("mapping", "angle", "0"))
    for key, plain in (("stretch", 1), ("skew", 0)):  # no document says which way they go
        value, where = layer.get("mapping", key, str(plain))
        if real(value, where) != plain:
            lost.append(
                f"the {key} of the view ('{key}={shown(value, 40)}'): it is drawn without, "
                "as no document says which way that goes"
            )
    size = None
    if layer.get("fractal", "width")[0] and layer.get("fractal", "height")[0]:
        across, down = (
            int(positive(*layer.get("fractal", key)).to_integral_value())
            for key in ("width", "height")
        )
        if 0 < across <= 100_000 and 0 < down <= 100_000:
            size = across, down
    height = EXACT.divide(HEIGHT, positive(*layer.get("mapping", "magn", "1")))
    return ForeignView((parts[0], parts[1]), height, angle=angle, size=size)


def _color_of(layer: _Layer, lost: list[str]) -> dict[str, Any]:
    """Return the colors of a layer."""
    color: dict[str, Any] = {}
    if "gradient" in layer.sections:
        color["palette"], more = gradient_of(layer.lines)
        lost += more
    solid, where = layer.get("inside", "solid")
    if solid:
        color["inside"] = _solid(solid, where)
    name = layer.get("inside", "entry")[0]
    if layer.get("inside", "transfer", "none")[0] != "none":
        lost.append(f"the coloring inside ('{shown(name or 'Default', 60)}')")
    curve, name = layer.get("outside", "transfer", "linear")[0], layer.get("outside", "entry")[0]
    if curve == "none":
        color["palette"] = {"stops": [[0.0, one := _solid(*layer.get("outside", "solid", "0"))],
                                      [0.5, one]]}  # fmt: skip
        return color
    known = COLORINGS.get(name.lower())
    if known is None:
        lost.append(f"the coloring outside ('{shown(name or 'Default', 60)}'): smooth counts here")
    density = real(*layer.get("outside", "density", "1"))
    color["coloring"] = known or "smooth"
    color["offset"] = real(*layer.get("outside", "offset", "0")) / 400
    if curve == "linear" and color["coloring"] == "smooth":
        return {**color, "transfer": "linear", "density": max(0.0, min(PER_COUNT * density, 1e6))}
    if curve in CURVES:
        color["transfer"] = CURVES[curve]
    lost.append(f"the exact curve of colors ('transfer={shown(curve, 40)} density={density:g}')")
    return color


def _solid(text: str, where: str) -> str:
    """Return a color that is a number: red in the lowest byte, and opacity in the highest one."""
    value = whole(text, where) & 0xFFFFFF
    return f"#{value & 255:02x}{value >> 8 & 255:02x}{value >> 16:02x}"


def make_upr() -> Format:
    """Return the format."""
    return Format(
        "upr",
        "Ultra Fractal, many scenes",
        (".upr",),
        read_upr,
        entries=entries_of_upr,
        reads_beside=True,
    )


# --- `.ufm`: sections such as ``loop:``, and what they ask the user for
#
# ``many.ufm#name power=3 mode=Julia`` sets parameters; `_ufm` tells what the language has.


def read_ufm(data: bytes, entry: str) -> Imported:
    """Return the scene of a formula, by default of the first one."""
    return read_formula(data, entry, scene_of)


def entries_of_ufm(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the formulas, each with what it is, or why it can't be drawn."""
    return list_formulas(data, scene_of)


def make_ufm() -> Format:
    """Return the format."""
    return Format("ufm", "Ultra Fractal, formulas", (".ufm",), read_ufm, entries=entries_of_ufm)

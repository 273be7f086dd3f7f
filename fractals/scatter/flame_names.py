"""The variations of a flame's transform, as programs name them in files.

Names are those of `fractals.scatter.variations`, in any case; parameters follow them:
``julian_power``. JWildfire writes ``jwf_`` before some, and puts them into elements
``<variationGroup>``; ``julian_fx_priority`` below 0 makes its variation one with ``pre_``, and
above 0 one with ``post_``.
"""

import math
import re
import xml.etree.ElementTree as ElementTree
from functools import cached_property
from typing import Any

from fractals import catalog
from fractals.errors import SceneError, shown
from fractals.scatter.formulas import split

# Attributes of a transform that are no variations.
PLAIN = set(
    "weight color coefs post chaos symmetry color_speed opacity name animate plotmode var var1 "  # noqa: SIM905
    "var_color motion_function motion_frequency motion_offset animate_origin normal pre enabled "
    "targetcolor mirror_pre_post_translations density index".split()
)
# Those of JWildfire's colors and materials, of its fields of weights, of affine maps of space, and
# of curves by which values change with time.
MODIFIERS = re.compile(
    r"(mod|blur|light|mat|draw|alpha|wfield)_\w+|color_type|material\w*|(yz|zx)(coefs|post)"
    r"|\w+curve_(enabled|view_\w+|interpolation|selected_idx|locked|point_count|[xy]\d+|parent_\w+)"
)
# Names of other programs for what is drawn here: of whole variations, and of the beginnings of
# their parameters.
ALIASES = {"linear3d": "linear", "pre_blur": "pre_gaussian_blur"}
BEGINNINGS = {"oscope_": "oscilloscope_", "persp_": "perspective_"}
# Names of Apophysis' plugins, of variations and of parameters without their variation.
RENAMED = {"bwraps2": "bwraps"}
BARE = {f"{part}_{k}": f"mobius_{part}_{k}" for part in ("re", "im") for k in "abcd"}
STRIP = "mobius_radius"  # a parameter of the plugin mobius_strip, whose variation is "mobius", too
# Maps of space that are these variations where the third coordinate is 0.
FLAT = {
    "blob3d": "blob",
    "estiq": "exp",
    "julia3d": "julian",
    "julia3dz": "julian",
    "pie3d": "pie",
    "sinusoidal3d": "sinusoidal",
    "spherical3d": "spherical",
    "square3d": "square",
    "tangent3d": "tangent",
}
NOTHING = ("flatten", "pre_flatten", "post_flatten", "pre_ztranslate", "zscale", "ztranslate",
           "zcone", "pre_zscale", "post_zscale")  # fmt: skip  # they move only the third coordinate
# Variations whose names begin like parameters of others.
OTHERS = re.compile(r"blur_(circle|linear|pixelize|zoom)|\w+_(3d|apo|db|sp|tile|wf)")
COLORED = re.compile(r"\w+(_mul_c|colorshift)")  # parameters
PRIORITY = "_fx_priority"
# The second and further variations of one name, as `fractals.scatter.flame_xml` writes swirl#1#.
AGAIN = re.compile(r"\.(\d+)\.")
SPACE = "{}: a map of space, of which the part in the plane is drawn"
# flam3's numbers of the first variations, of the old attributes `var` and `var1`.
NUMBERED = tuple(
    "linear sinusoidal spherical swirl horseshoe polar handkerchief heart disc spiral hyperbolic "  # noqa: SIM905
    "diamond ex julia bent waves fisheye popcorn exponential power cosine rings fan blob pdj fan2 "
    "rings2 eyefish bubble cylinder perspective noise julian juliascope blur gaussian_blur "
    "radial_blur pie ngon curl rectangles arch tangent square rays blade secant2 twintrian "
    "cross".split()
)


class Read:
    """The variations that an element of a flame names; `lost` receives what has no equivalent."""

    def __init__(self, element: ElementTree.Element, lost: list[str]) -> None:
        self.element = element
        self.missing: dict[str, float] = {}  # weights of variations that are not drawn here
        self._names = {key.lower() for key in element.attrib}
        self._strip = STRIP in self._names
        self._lost = lost

    @property
    def share(self) -> float:
        """Return the share of the weights that are not drawn, once `variations` were read."""
        kept = [abs(v) for key, v in self.variations.items() if split(key)]
        missing = sum(map(abs, self.missing.values()))
        return missing / (missing + sum(kept)) if missing else 0.0

    @cached_property
    def variations(self) -> dict[str, float]:
        """Return the table of a transform's variations."""
        given = self._given()
        found: dict[str, float] = {}
        weights = {key: split(_plain(key)) for key in given if split(_plain(key))}
        for key, named in weights.items():
            assert named
            stage, variation = named
            if not (strength := _weight(given[key])):
                if given[key].strip() and not _is_number(given[key]):
                    self._note(f"{_plain(key)}: '{shown(given[key], 40)}' is not a number")
                continue
            own = _stage(stage, given.get(key + PRIORITY)) + variation.name
            if own in found:
                if key == _plain(key):
                    self._note(f"{key}: it is there twice")
                elif variation.parameters:
                    self.missing[f"{_plain(key)} for a second time"] = strength
                else:  # the sum of two is one with both weights
                    found[own] += strength
                continue
            if variation.space:
                self._note(SPACE.format(_plain(key)))
            found[own] = strength
            for name in variation.parameters:
                for theirs in (f"{key}_{name}", f"{variation.name}_{name}"):
                    if theirs in given:
                        found.setdefault(f"{own}_{name}", value_of(given[theirs], theirs))
        for key in given:
            if key not in weights and self._lacks(key, given):
                name = _plain(key)
                self.missing[name] = abs(self.missing.get(name, 0.0)) + abs(_weight(given[key]))
        return found

    def _lacks(self, key: str, given: dict[str, str]) -> bool:
        """Tell whether a key is a variation that is not drawn here."""
        if not _weight(given[key]):
            return False
        kept, key = key, _plain(key)
        if OTHERS.fullmatch(key):
            return True
        if key in NOTHING or key.endswith(("_z", PRIORITY)) or MODIFIERS.fullmatch(key):
            return False
        if any(other != kept and kept.startswith(f"{other}_") for other in given):
            if COLORED.fullmatch(key):
                self._note(f"{key}: a variation that changes colors")
            return False  # a parameter
        # So is this, of a known variation that has no weight.
        return not any(
            key == f"{each}_{name}"
            for each in catalog.names("variation")
            if key.startswith(f"{each}_")
            for name in catalog.load("variation", each)().parameters
        )

    def _given(self) -> dict[str, str]:
        """Return the attributes that may be variations, by the names that they have here."""
        element = self.element
        groups = [each for each in element if each.tag == "variationGroup"]
        given: dict[str, str] = {}
        for each in (element, *groups):
            if each is not element and each.get("normal", "1") != "1":
                self._note("the order of a group of variations: they are drawn as one sum")
            for key, value in each.attrib.items():
                if key in PLAIN:
                    continue
                name = self._own_name(key)
                if name in given and split(name):  # linear and linear3D
                    value = repr(_weight(given[name]) + _weight(value))
                    given[name] = value
                given.setdefault(name, value)
        if "var1" in element.attrib:
            given.setdefault(_numbered(element.get("var1", "0")), "1")
        for name, weight in zip(NUMBERED, element.get("var", "").split(), strict=False):
            given.setdefault(name, weight)
        return given

    def _own_name(self, key: str) -> str:
        """Return the name that a key has here, behind a number and # where it is there again."""
        name = key.lower().removeprefix("jwf_")
        again = AGAIN.search(name)
        name = AGAIN.sub("", name)
        if self._strip and name.startswith("mobius"):
            name = name.replace("mobius", "mobius_strip", 1)
        elif "mobius" in self._names:
            name = BARE.get(name, name)
        for theirs, ours in BEGINNINGS.items():
            if name.startswith(theirs):
                name = ours + name.removeprefix(theirs)
        end = PRIORITY if name.endswith(PRIORITY) else ""
        name = name.removesuffix(end)
        stage = next((each for each in ("pre_", "post_") if name.startswith(each)), "")
        plain, _, parameter = name.removeprefix(stage).partition("_")
        if plain in RENAMED:
            name = stage + RENAMED[plain] + (f"_{parameter}" if parameter else "")
        if plain in FLAT:
            if not parameter:
                self._note(SPACE.format(key))
            name = stage + FLAT[plain] + (f"_{parameter}" if parameter else "")
        return (f"{again[1]}#" if again else "") + ALIASES.get(name, name) + end

    def _note(self, line: str) -> None:
        if line not in self._lost:
            self._lost.append(line)


def _plain(key: str) -> str:
    return key.rpartition("#")[2]


def _stage(stage: str, priority: str | None) -> str:
    """Return when a variation is applied; JWildfire's priority, where there is one, decides."""
    if priority is None or not _is_number(priority):
        return stage
    order = float(priority)
    return "pre_" if order < 0 else "post_" if order > 0 else ""


def _numbered(text: str) -> str:
    number = int(value_of(text, "var1"))
    if not 0 <= number < len(NUMBERED):
        raise SceneError(f"var1 {number}: variations are numbered from 0 to {len(NUMBERED) - 1}")
    return NUMBERED[number]


def _weight(text: str) -> float:
    return value_of(text, "a weight") if _is_number(text) else 0.0


def _with_point(text: str) -> str:
    """Return a number with a decimal point, where Apophysis wrote a comma as Windows does."""
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(_with_point(text)))
    except ValueError:
        return False


def value_of(text: Any, key: str) -> float:
    """Return the number of a text, or raise a `SceneError` that names the key."""
    text = text[0] if isinstance(text, list) else text
    try:
        value = float(_with_point(text))
    except ValueError:
        raise SceneError(f"{key}: '{shown(text, 40)}' is not a number") from None
    if not math.isfinite(value) or abs(value) > 1e9:
        raise SceneError(f"{key}: '{shown(text, 40)}' is not from -1e9 to 1e9")
    return value

"""The settings of a flame that a scene has no equivalent for, as lines for the user.

After the writers of JWildfire (Andreas Maschke), Apophysis 7X (Mark Townsend, Peter Sdobnov, Georg
Kiehne) and Fractorium (Matt Feemster): a setting is lost unless it has the value with which it
changes nothing.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from fractals.errors import counted, shown
from fractals.scatter.flame_xml import LAYERS

# Attributes of a flame that belong to cameras in space.
CAMERA = (
    *("cam_pitch", "cam_yaw", "cam_roll", "cam_persp", "cam_perspective", "cam_dof"),
    *("cam_pos_x", "cam_pos_y", "cam_pos_z", "cam_zpos", "cam_zdimish"),
)
# Attributes of a flame: the values with which each changes nothing, or which every file has, and
# words about it. The light of JWildfire is another one than flam3's anyway, so the values that all
# of its files have are not told.
FLAME = {
    "saturation": ("1", "the saturation"),
    "contrast": ("1", "the contrast"),
    "white_level": ("200 220", "the level of white"),
    "low_density_brightness": ("0 0.24", "the brightness of lone points"),
    "balancing_red": ("1", "the balance of red"),
    "balancing_green": ("1", "the balance of green"),
    "balancing_blue": ("1", "the balance of blue"),
    "mixer_mode": ("OFF", "the curves of color channels"),
    "background_type": ("SINGLE_COLOR UNSET", "the gradient behind the flame"),
    "background_image": ("", "the picture behind the flame"),
    "gradient_map": ("", "colors from a picture"),
    "bg_transparency": ("0", "the transparent background"),
    "post_symmetry_type": ("NONE", "the symmetry of the whole picture"),
    "post_blur_radius": ("0", "the blur of the whole picture"),
    "stereo3d_mode": ("NONE", "the pair of pictures for two eyes"),
    "sld_render_enabled": ("false 0", "the flame as a solid with lights"),
}
TRANSFORM = {
    "color_type": ("DIFFUSION UNSET NONE", "how colors are found"),
    "wfield_type": ("NONE 0", "a field of weights, by which variations and colors change"),
    "mirror_pre_post_translations": ("0", "mirrored translations"),
    "mod_gamma": ("0", "the gamma of one transform"),
    "mod_contrast": ("0", "the contrast of one transform"),
    "mod_saturation": ("0", "the saturation of one transform"),
    "mod_hue": ("0", "the hue of one transform"),
}
IN_SPACE = re.compile(r"(yz|zx)(Coefs|Post)")  # affine maps of a transform
STILL = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MOVING = re.compile(r"(\w+?)(Curve)?_enabled")  # JWildfire's values that change with time


def lost_of(flame: ElementTree.Element) -> list[str]:
    """Return a line for each setting of a flame that has no equivalent, but for variations."""
    finals = [each for each in flame.findall("finalxform") if is_on(each)]
    maps = [*flame.findall("xform"), *finals[:1]]
    lines = [f"{key}: the camera of 3D" for key in CAMERA if not _is_one_of(flame.get(key), "0")]
    lines += _told(flame, FLAME)
    for each in maps:
        lines += _told(each, TRANSFORM)
        lines += [
            f"{key}: a map of space, of which the part in the plane is drawn"
            for key, value in each.attrib.items()
            if IN_SPACE.fullmatch(key) and _floats(value) not in ((), STILL)
        ]
    curves = _floats(flame.get("curves", ""))  # of Apophysis: each point's x, y and weight
    if curves[::3] != curves[1::3]:  # points off the diagonal
        lines.append("the curves of light (curves)")
    lines += _moving(flame)
    text = flame.get(LAYERS, "1")
    if (layers := int(text) if re.fullmatch("[0-9]{1,6}", text) else 1) > 1:
        lines.append(f"{counted(layers - 1, 'layer')}: the first of {layers} visible ones is drawn")
    if len(finals) > 1:
        more = counted(len(finals) - 1, "final transform")
        lines.append(f"{more}: the first of {len(finals)} is drawn")
    if found := flame.findall("bgxform"):
        lines.append(f"{counted(len(found), 'transform')} behind the flame (bgxform)")
    return list(dict.fromkeys(lines))


def is_on(final: ElementTree.Element) -> bool:
    """Tell whether a final transform is used: older files have those that are off, too."""
    return final.get("enabled", "1").strip().lower() not in ("0", "false")


def _told(element: ElementTree.Element, settings: dict[str, tuple[str, str]]) -> Iterator[str]:
    for key, (usual, words) in settings.items():
        if not _is_one_of(given := element.get(key), usual):
            yield f"{words} ({key}: {shown(given, 40)})"


def _is_one_of(given: str | None, usual: str) -> bool:
    """Tell whether an attribute is absent, empty, or one of some values, which may be numbers."""
    text = (given or "").strip()
    values = usual.lower().split()
    own = _floats(text)
    return not text or text.lower() in values or bool(own and own in map(_floats, values))


def _floats(text: str) -> tuple[float, ...]:
    """Return the numbers of a text, or () where it holds something else."""
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        return ()


def _moving(flame: ElementTree.Element) -> list[str]:
    names = [
        match[1]
        for each in (flame, *flame.findall("xform"), *flame.findall("finalxform"))
        for key, value in each.attrib.items()
        if value == "true" and (match := MOVING.fullmatch(key))
    ]
    # The others are curves of the gradient's editor, of channels, and of solids.
    found = [
        name for name in dict.fromkeys(names) if not name.startswith(("grad_edit", "mixer", "sld_"))
    ]
    return [f"values that change with time: {shown(', '.join(found), 120)}"] if found else []

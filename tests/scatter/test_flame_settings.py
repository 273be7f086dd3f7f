"""Flames that are no XML, that have layers, and settings that a scene has no equivalent for."""

import pytest

from fractals.errors import SceneError
from fractals.scatter import flame_file as flames

MAP = '<xform weight="1" coefs="0.5 0 0 0.5 0.2 0" linear="1" {more}/>'
COLORS = '<color index="0" rgb="255 0 0"/><color index="1" rgb="0 0 255"/>'
# Of JWildfire: a hidden layer, and two visible ones.
LAYERS = f"""
<jwf-flame name="three" size="60 40" scale="20" background="0.2 0 0">
 <layer weight="1" visible="0"><xform weight="1" spherical="1"/></layer>
 <layer weight="1" visible="1">{MAP.format(more="")}{COLORS}</layer>
 <layer weight="1" visible="1"><xform weight="1" bubble="1"/></layer>
</jwf-flame>"""


def flame(more="", of_map="", inner=""):
    return f'<flame size="60 40" scale="20" {more}>{MAP.format(more=of_map)}{inner}{COLORS}</flame>'


def read(text):
    return flames.read_flame(text.encode(), "")


def transform(text):
    return read(text).table["formula"]["transforms"][0]


@pytest.mark.parametrize(
    "text",
    [
        f'<pick version="FLAM3-LNX-3.1">\n{flame()}\n</pick>',
        f"<sequence><part>{flame()}</part></sequence>",
        f'<Flames name="own">{flame()}</Flames>',
        f"<flames name=own>\n{flame()}\n</flames>",
    ],
)
def test_flames_within_any_root(text):
    assert read(text).table == read(flame()).table


def test_flames_without_a_root():
    two = [flame(f'name="{name}"') for name in "ab"]
    text = '<?xml version="1.0"?>\n<!-- two -->\n' + "\n".join(two)
    assert [name for name, _ in flames.entries_of_flame(text.encode())] == ["a", "b"]


@pytest.mark.parametrize("name", ["Salt & pepper", "a < b > c", "R&D &amp; more", "plain &#38; co"])
def test_names_that_are_no_xml(name):
    title = read(flame(f'name="{name}"')).table["title"]
    assert title == name.replace("&amp;", "&").replace("&#38;", "&")


def test_of_attributes_of_one_name_the_last_counts():
    assert transform(flame(of_map='weight="3"'))["weight"] == 3
    assert read(flame('scale="40"')).table["view"]["width"] == "1.5"


def test_attributes_without_a_space_between_them():
    for name in ("own", "a & b"):
        text = flame(f'name="{name}"scale="40"', of_map='weight="3"color="1"swirl="2"')
        assert read(text).table == read(text.replace('"scale', '" scale')).table
        assert transform(text)["weight"] == 3
        assert transform(text)["variations"] == {"linear": 1.0, "swirl": 2.0}


def test_a_file_in_the_encodings_of_windows():
    text = flame('name="Blüte"')
    for data in (text.encode("utf-16"), f'<?xml encoding="utf-16"?>{text}'.encode("utf-16")):
        assert flames.read_flame(data, "").table == read(text).table
    older = flames.read_flame(text.encode("cp1252"), "").table
    assert {**older, "title": "Blüte"} == read(text).table
    with pytest.raises(SceneError, match="a zero byte"):
        flames.read_flame(b"<flame\0", "")


def test_decimal_commas():
    """Apophysis wrote numbers as the country of its Windows does."""
    given = flame('center="0,5 -1"', of_map='swirl="0,25"').replace('scale="20"', 'scale="12,5"')
    found = read(given).table
    assert (found["view"]["center"], found["view"]["width"]) == (["0.5", "-1.0"], "4.8")
    assert transform(given)["variations"] == {"linear": 1.0, "swirl": 0.25}
    with pytest.raises(SceneError, match="'1,2,3' is not a number"):
        read(flame('center="1,2,3 0"'))


def test_a_broken_file_is_no_xml():
    with pytest.raises(SceneError, match=r"no XML: .*line 1"):
        read(flame('name="a & b"').replace("</flame>", "<palette>"))


def test_a_variation_that_a_transform_has_twice():
    """JWildfire writes the second one as swirl#1#, which is no name in XML."""
    own = transform(flame(of_map='swirl="1" swirl#1#="0.5" linear#1#="2" linear#2#="1"'))
    assert own["variations"] == {"linear": 4.0, "swirl": 1.5}
    stages = 'disc="1" disc#1#="0.5" disc#1#_fx_priority="1" disc_fx_priority="0"'
    assert transform(flame(of_map=stages))["variations"] == {
        "linear": 1.0,
        "disc": 1.0,
        "post_disc": 0.5,
    }
    own = 'julian="1" julian_power="2" julian#1#="2" julian#1#_power="5" julian#1#_fx_priority="{}"'
    found = read(flame(of_map=own.format(-1)))
    assert not found.refused
    assert found.table["formula"]["transforms"][0]["variations"] == {
        "linear": 1.0,
        "julian": 1.0,
        "julian_power": 2.0,
        "pre_julian": 2.0,
        "pre_julian_power": 5.0,
    }
    assert "julian for a second time (50 %" in read(flame(of_map=own.format(0))).refused


def test_of_layers_the_first_visible_one_is_drawn():
    found = read(LAYERS)
    assert found.table["display"]["background"] == "#330000"
    assert [each["variations"] for each in found.table["formula"]["transforms"]] == [
        {"linear": 1.0}
    ]
    assert found.lost == ("1 layer: the first of 2 visible ones is drawn",)
    alone = LAYERS.replace('visible="1"><xform weight="1" bub', 'visible="0"><xform weight="1" bub')
    assert read(alone).table == found.table
    assert not read(alone).lost
    assert flames.entries_of_flame(LAYERS.encode()) == [("three", "1 transform")]


@pytest.mark.parametrize(("switch", "used"), [("0", False), ("1", True)])
def test_a_final_transform_may_be_off(switch, used):
    """Older programs write one that is off; one that is on was taken for a variation `enabled`."""
    found = read(flame(inner=f'<finalxform enabled="{switch}" bubble="1"/>'))
    assert not found.refused
    assert ("final" in found.table["formula"]) == used


def test_points_of_one_transform_alone():
    others = '<xform weight="1" spherical="1" opacity="0.5"/><xform weight="2" linear="1"/>'
    found = read(flame('soloxform="1"', inner=others)).table["formula"]["transforms"]
    assert [each["opacity"] for each in found] == [0.0, 1.0, 0.0]
    plain = read(flame('soloxform="-1"', inner=others)).table["formula"]["transforms"]
    assert [each.get("opacity", 1.0) for each in plain][::2] == [1.0, 1.0]


def test_the_estimate_is_that_of_the_file():
    """`enable_de="0"`, which all files of Apophysis have, is not followed: it leaves grain."""
    found = read(flame('estimator_radius="7" enable_de="0"'))
    assert (found.table["display"]["estimator_radius"], found.lost) == (7, ())


def test_a_transform_that_keeps_colors():
    own = 'color="1" symmetry="0" color_type="{}"'
    assert transform(flame(of_map=own.format("NONE")))["color_speed"] == 0
    assert transform(flame(of_map=own.format("DIFFUSION")))["color_speed"] == 0.5


def test_colors_with_alpha():
    text = flame().replace('rgb="255 0 0"', 'rgba="255 0 0 128"')
    assert read(text).table["color"]["palette"]["stops"][0] == [0.0, "#ff0000"]


@pytest.mark.parametrize(
    ("key", "usual", "other"),
    [
        ("saturation", "1.0", "1.5"),
        ("contrast", "1", "0.9"),
        ("balancing_red", "1.0", "0.8"),
        ("post_symmetry_type", "NONE", "POINT"),
        ("post_blur_radius", "0", "3"),
        ("background_type", "SINGLE_COLOR", "GRADIENT_2X2"),
        ("mixer_mode", "OFF", "RGB"),
        ("sld_render_enabled", "false", "true"),
        ("cam_pos_x", "0.0", "0.25"),
        ("cam_perspective", "0", "0.3"),
        ("curves", "0 0 1 0.25 0.25 1 0.75 0.75 1 1 1 1", "0 0 1 0.25 0.5 1 0.75 0.75 1 1 1 1"),
        ("camRollCurve_enabled", "false", "true"),
        ("grad_edit_hue_curve_enabled", "true", None),
    ],
)
def test_a_setting_of_a_flame_is_told_where_it_changes_something(key, usual, other):
    assert not read(flame(f'{key}="{usual}"')).lost
    if other:
        (line,) = read(flame(f'{key}="{other}"')).lost
        assert key.removesuffix("Curve_enabled") in line


@pytest.mark.parametrize(
    ("key", "usual", "other"),
    [
        ("color_type", "DIFFUSION", "TARGET"),
        ("wfield_type", "NONE", "PERLIN_NOISE"),
        ("mod_hue", "0.0", "0.5"),
        ("mirror_pre_post_translations", "0", "1"),
        ("yzCoefs", "1.0 0.0 0.0 1.0 0.0 0.0", "1 0 0 1 0.5 0"),
        ("weightCurve_enabled", "false", "true"),
        ("julian_power_enabled", "false", "true"),
    ],
)
def test_a_setting_of_a_transform_is_told_where_it_changes_something(key, usual, other):
    assert not read(flame(of_map=f'{key}="{usual}"')).lost
    found = read(flame(of_map=f'{key}="{other}"'))
    assert not found.refused
    (line,) = found.lost
    assert key.removesuffix("_enabled").removesuffix("Curve") in line


def test_more_final_transforms_and_those_behind_the_flame():
    inner = '<finalxform linear="1"/><finalxform bubble="1"/><bgxform linear="1"/>'
    assert read(flame(inner=inner)).lost == (
        "1 final transform: the first of 2 is drawn",
        "1 transform behind the flame (bgxform)",
    )


def test_much_text_that_is_no_xml_is_read_in_little_time():
    """Steps of the search grow with the text, and not with its square."""
    for more in ('<xform a="1" ', "<?", "<flames ", "<!--", '<a p="<a q=" ', '<a b="1"c'):
        with pytest.raises(SceneError, match="no XML"):
            read(flame('name="&"') + more * 200_000)


def test_a_flame_that_says_it_had_layers():
    for text in ("", "many", "-1", "inf", "9" * 50, "٣"):
        assert not read(flame(f'jwf-layers="{text}"')).lost

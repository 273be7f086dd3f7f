"""Flames as other programs write and draw them: names, what is lacking, density, another size."""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals.errors import SceneError
from fractals.scatter import flame_file as flames

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

COLORS = '<color index="0" rgb="255 128 0"/><color index="255" rgb="0 128 255"/>'
FLAM3 = shutil.which("flam3-render")


def flame(*xforms, more="", colors=COLORS):
    return f'<flame name="own" size="96 64" scale="24" {more}>{"".join(xforms)}{colors}</flame>'


def xform(text, coefs="0.7 -0.3 0.3 0.7 0.2 0.1", tag="xform", weight=1):
    return f'<{tag} weight="{weight}" coefs="{coefs}" {text}/>'


def read(text):
    return flames.read_flame(text.encode(), "")


def variations_of(*xforms):
    return [each["variations"] for each in read(flame(*xforms)).table["formula"]["transforms"]]


def test_what_is_no_number_and_a_short_palette_are_told():
    colors = '<palette count="256" format="RGB">FF0000 00FF00</palette>'
    found = read(flame(xform('linear="1" swirl="abc" julian="nan" disc=""'), colors=colors))
    assert found.lost == (
        "swirl: 'abc' is not a number",
        "julian: 'nan' is not a number",
        "colors: the palette has 2 of 256",
    )


def test_a_weight_by_its_older_name():
    text = flame('<xform index="0" density="0.25" linear="1" coefs="1 0 0 1 0 0"/>')
    found = read(text)
    assert found.refused == ""
    assert found.table["formula"]["transforms"][0]["weight"] == 0.25


@pytest.mark.parametrize(
    ("more", "turn"),
    [('angle="0.5"', 0.5), ('angle="0.5" rotate="-28.6478897565"', 0.5), ('rotate="90"', -1.5708)],
)
def test_the_angle_of_apophysis_turns_the_view(more, turn):
    """It writes radians, and the degrees of `rotate` with the other sign."""
    scene = fractals.load_scene(read(flame(xform('linear="1"'), more=more)).table)
    assert np.radians(scene.view.rotation) == pytest.approx(turn, abs=1e-5)


# --- Names


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('linear="0.5" linear3D="0.25"', {"linear": 0.75}),
        ('jwf_disc="1"', {"disc": 1.0}),
        ('spherical="1" spherical_fx_priority="-1"', {"pre_spherical": 1.0}),
        ('pre_blur="0.3" pre_blur_fx_priority="-1"', {"pre_gaussian_blur": 0.3}),
        ('post_curl="1" post_curl_c1="2" post_curl_fx_priority="1"',
         {"post_curl": 1.0, "post_curl_c1": 2.0}),
        ('curl="1" curl_c1="2" curl_fx_priority="1"', {"post_curl": 1.0, "post_curl_c1": 2.0}),
        ('linear3D="1" linear3D_fx_priority="0"', {"linear": 1.0}),
        ('julia3D="0.8" julia3D_power="-3"', {"julian": 0.8, "julian_power": -3.0}),
        ('post_spherical3D="0.8"', {"post_spherical": 0.8}),
        ('estiq="0.8"', {"exp": 0.8}),
        ('mobius="0.5" Re_A="1" Im_A="-2" Re_D="0.5" Im_C="0"',
         {"mobius": 0.5, "mobius_re_a": 1.0, "mobius_im_a": -2.0, "mobius_re_d": 0.5,
          "mobius_im_c": 0.0}),
        ('pre_bwraps2="2" pre_bwraps2_cellsize="0.5"',
         {"pre_bwraps": 2.0, "pre_bwraps_cellsize": 0.5}),
        ('linear="1" julian_power="3" flatten="1" mod_gamma="0.4"', {"linear": 1.0}),
        ('post_axis_symmetry_wf="0.5" post_axis_symmetry_wf_rotation="60" linear="1"',
         {"post_axis_symmetry_wf": 0.5, "post_axis_symmetry_wf_rotation": 60.0, "linear": 1.0}),
    ],
)  # fmt: skip
def test_names_of_variations(given, wanted):
    assert variations_of(xform(given)) == [wanted]


def test_variations_in_a_group_of_jwildfire():
    """A transform whose variations were overlooked drew a single point."""
    group = '<variationGroup normal="1" jwf_julian="0.5" jwf_julian_power="3" disc="0.1"/>'
    text = xform("").replace("/>", f">{group}</xform>")
    assert variations_of(text) == [{"julian": 0.5, "julian_power": 3.0, "disc": 0.1}]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ('julia3D="1"', "julia3D: a map of space"),
        ('blur3D="1"', "blur3d: a map of space"),
        ('wfield_type="7" linear="1"', "a field of weights"),
        ('post_axis_symmetry_wf="1" post_axis_symmetry_wf_x1colorshift="0.2"', "changes colors"),
        ('post_axis_symmetry_wf="1" post_axis_symmetry_wf_x1colorshift="0"', None),
        ('wfield_type="0" linear="1"', None),
    ],
)
def test_what_is_lost_is_told(given, line):
    lost = read(flame(xform(given))).lost
    assert len(lost) == (line is not None), lost
    assert not line or line in lost[0]


def test_the_camera_of_jwildfire_zooms():
    near, far = (
        read(flame(xform('linear="1"'), more=more)).table["view"]["width"]
        for more in ('cam_zoom="2.5"', "")
    )
    assert float(far) == 2.5 * float(near)


def test_a_palette_of_mixed_neighbors():
    """In flam3's mode "linear" a color between two entries is mixed of them: halfway on average."""
    colors = "".join(f'<color index="{k}" rgb="{20 * k} 0 0"/>' for k in range(3))
    linear, step = (
        [color for _, color in read(text).table["color"]["palette"]["stops"]]
        for text in (
            flame(xform('linear="1"'), more=more, colors=colors)
            for more in ('palette_mode="linear"', 'palette_mode="step"')
        )
    )
    assert step == ["#000000", "#140000", "#280000"]
    assert linear == ["#0a0000", "#1e0000", "#280000"]


# --- What is lacking


LACKING = flame(
    xform('linear="1" crackle="-1" crackle_power="2"', weight=3),
    xform('spherical="1"', weight=1),
)


@pytest.mark.parametrize(
    ("text", "names", "share"),
    [
        (LACKING, "crackle", "38"),
        (flame(xform('crackle="1"')), "crackle", "1e\\+02"),
        (flame(xform('linear="3" crackle="1" fibonacci2="0"')), "crackle", "25"),
        (flame(xform('blur_pixelize="1" blur="1"')), "blur_pixelize", "50"),
        (flame(xform('linear="1" mobius="1" mobius_radius="2" mobius_width="1"')),
         "mobius_strip", "50"),
        (flame(xform('linear="1"'), xform('crackle="2" bubble="3"', tag="finalxform")),
         "crackle", "40"),
        (flame(xform('linear="1" crackle="1"'), xform('taurus="1"', tag="finalxform")),
         "crackle, taurus", "1e\\+02"),
    ],
)  # fmt: skip
def test_a_refused_flame_says_which_share_it_lacks(tmp_path, text, names, share):
    path = tmp_path / "own.flame"
    path.write_text(text)
    line = (
        rf"not drawn here: {names} \({share} % of the flame's weight\); lossy=True draws the others"
    )
    with pytest.raises(SceneError, match=line):
        fractals.load_scene(path)


def test_a_flame_is_drawn_without_what_it_lacks(tmp_path):
    path = tmp_path / "own.flame"
    path.write_text(LACKING)
    lost = []
    scene = fractals.load_scene(path, lossy=True, lost=lost, size=(48, 32), quality=20.0)
    note = "without crackle (38 % of the flame's weight)"
    assert lost == [f"{path}: {note}"]
    assert scene.note == note
    transforms = scene.make_any_formula().transforms
    assert [each.variation.name for t in transforms for each in t.variations] == [
        "linear",
        "spherical",
    ]
    path.write_text(LACKING.replace('crackle="-1" crackle_power="2"', ""))
    whole = fractals.load_scene(path, size=(48, 32), quality=20.0)
    drawn = fractals.render(scene, device="cpu")
    assert np.array_equal(drawn.pixels, fractals.render(whole, device="cpu").pixels)
    drawn.save(tmp_path / "own.png")
    assert fractals.load_scene(tmp_path / "own.png").note == note
    path.write_text(LACKING)
    again = fractals.render(path, lossy=True, size=(16, 8), quality=1.0, device="cpu").scene
    assert again.note == note


def test_lossy_on_the_command_line(tmp_path, capsys):
    from fractals.cli.verbs import run_verb as main

    path, target = tmp_path / "own.flame", tmp_path / "own.png"
    path.write_text(LACKING)
    assert main(["show", str(path)]) != 0
    assert "--lossy" in capsys.readouterr().err
    assert main(["show", str(path), "--lossy"]) == 0
    said = capsys.readouterr()
    assert "lost: " in said.err
    assert "without crackle (38 % of the flame's weight)" in said.err
    assert 'note = "without crackle (38 % of the flame\'s weight)"' in said.out
    options = ["--lossy", "--size", "16x8", "--quality", "1", "--cpu"]
    assert main(["render", str(path), *options, "-o", str(target)]) == 0
    assert "without crackle" in capsys.readouterr().err
    assert main(["show", str(target)]) == 0
    assert 'note = "without crackle' in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "own.toml"), "--lossy"]) == 0
    assert fractals.load_scene(tmp_path / "own.toml").note.startswith("without crackle")


# --- Density


SLOW = flame(  # one of the transforms is seldom left: a point forgets late where it began
    xform('linear="0.025" spherical="1" color_speed="0.01"',
          "-0.06 -0.03 0.04 -0.055 -0.07 0.23", weight=300),
    xform('julia="1" spherical="0.25"', "0.27 -0.82 -0.6 -0.17 0.52 0.8", weight=1),
    more='center="0 0" zoom="-1"',
)  # fmt: skip


def blocks(counts, side=8):
    rows, columns = (n // side for n in counts.shape)
    cut = counts[: rows * side, : columns * side]
    return cut.reshape(rows, side, columns, side).mean(axis=(1, 3))


def hits_of(scene, **keys):
    """Return the hits of each pixel."""
    plain = {"supersampling": 1, "estimator_radius": 0.0, "estimator_minimum": 0.0, "filter": "box"}
    hits = fractals.compute(scene.replace(**plain, **keys), device="cpu")
    m, (rows, columns) = hits.margin, hits.count.shape
    return hits.count[m : rows - m, m : columns - m] / 255


def log_correlation(a, b):
    a, b = (np.log1p(50 * each / each.mean()).ravel() for each in (a, b))
    return np.corrcoef(a, b)[0, 1]


def test_points_of_a_file_forget_where_they_began():
    """A flame of a file has as many points from one beginning as in flam3.

    With 1,000 points in place of 10,000 this flame's blocks correlate less with the right ones.
    """
    scene = fractals.load_scene(dict(read(SLOW).table))
    assert scene.scatter.steps == 10_000
    right = blocks(hits_of(scene, steps=100_000, fuse=3000, quality=6000.0, seed=5))
    assert log_correlation(blocks(hits_of(scene, quality=3000.0)), right) > 0.9995
    assert log_correlation(blocks(hits_of(scene, quality=3000.0, steps=1000)), right) < 0.995


def in_white(element, brightness, quality):
    """Change a flame so that flam3 shows the logarithm of the density."""
    for tag in ("color", "palette", "colors"):
        for each in element.findall(tag):
            element.remove(each)
    for k in range(256):
        ElementTree.SubElement(element, "color", index=str(k), rgb="255 255 255")
    given = {
        **{"brightness": brightness, "gamma": 1, "gamma_threshold": 0, "vibrancy": 1},
        **{"estimator_radius": 0, "filter": 0.1, "oversample": 1, "quality": quality},
        **{"background": "0 0 0", "highlight_power": -1, "passes": 1, "temporal_samples": 1},
    }
    for key in ("supersample", "filter_shape", "palette", "estimator_minimum"):
        element.attrib.pop(key, None)
    element.attrib.update({key: str(value) for key, value in given.items()})


def shown_by_flam3(element, brightness, quality, folder):
    """Return the logarithm of the density that flam3 shows, from 0 to 1."""
    import PIL.Image

    in_white(element, brightness, quality)
    env = {**os.environ, "prefix": f"{folder}/x", "format": "png", "isaac_seed": "1"}
    text = ElementTree.tostring(element)
    subprocess.run([FLAM3], input=text, env=env, capture_output=True, check=True)
    with PIL.Image.open(folder / "x00000.png") as picture:
        return (np.asarray(picture.convert("RGB"), float)[..., 0] + 0.5) / 256


def density_of_flam3(element, quality, folder):
    """Return the density that flam3 finds, in any unit, of a dark picture and of a bright one."""
    brightness = 0.1
    while (dark := shown_by_flam3(element, brightness, quality, folder)).max() > 0.97:
        brightness /= 2
    bright = shown_by_flam3(element, 30 * brightness, quality, folder)
    dark, bright = (
        np.expm1(np.where(shown > 0.5 / 255, shown, 0) / (k * brightness * 268 / 256))
        for k, shown in ((1, dark), (30, bright))
    )
    return np.where(bright < np.expm1(0.9 / (30 * brightness * 268 / 256)), bright, dark)


FILES = (
    ("flam3/scottdraves_flam3__test.flam3", ""),
    ("flame/alexnardini_FLAM3_for_SideFX_Houdini__F3H_LOCK_APOPHYSIS_SephFlamePack.flame", ""),
    ("flame/alexnardini_FLAM3_for_SideFX_Houdini__F3H_LOCK_APOPHYSIS_"
     "FlamepackIIIbyNeonrauschen.flame", ""),
    ("flame/alexnardini_FLAM3_for_SideFX_Houdini__F3H_LOCK_FRACTORIUM_c-91_examples.flame",
     "[36]:"),
    ("flame/bmurauer_fractals__mobile-flames.flame", "00[345]"),
    *((f"flame/thargor6_JWildfire__TINA00{k}.flame", "") for k in (10, 17, 30, 33)),
)  # fmt: skip
RENAMED = {"linear3D": "linear"}  # for flam3


@pytest.mark.skipif(not FLAM3, reason="flam3-render is not installed (flam3-utils)")
@pytest.mark.parametrize(("file", "names"), slow_but(FILES[4:5], FILES))
def test_density_of_public_flames_beside_flam3(data, tmp_path, file, names):
    """Means of 8 x 8 pixels correlate with flam3's by 0.999, before any tone mapping.

    Of the shared files these are the 17 flames whose variations flam3 has.
    """
    root = ElementTree.parse(data / "formats" / file).getroot()
    for element in [root] if root.tag == "flame" else root.findall("flame"):
        if not re.search(names, element.get("name", "")):
            continue
        for each in element:
            for key in list(each.attrib):
                if key.startswith("Mobius") or key in RENAMED:
                    each.set(RENAMED.get(key, key.lower()), each.attrib.pop(key))
        width, height = map(int, element.get("size").split())
        columns, rows = 160, 8 * round(20 * height / width)
        element.set("scale", str(float(element.get("scale")) * columns / width))
        element.set("size", f"{columns} {rows}")
        scene = fractals.load_scene(dict(read(ElementTree.tostring(element).decode()).table))
        ours = blocks(hits_of(scene, quality=400.0))
        theirs = blocks(density_of_flam3(element, 400, tmp_path))
        assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.999


# --- Another size


def test_another_size_keeps_the_width():
    """As in Apophysis, whose pixels a unit grow with the width; flam3's `ss` scales both."""
    scene = fractals.load_scene(dict(read(SLOW).table))
    assert scene.view.frame is None
    low, high = (
        hits_of(scene, size=(60, rows), quality=40.0 * 60 / rows, precision="float64")
        for rows in (40, 60)
    )
    assert low.sum() > 10_000
    assert np.array_equal(high[10:50], low)

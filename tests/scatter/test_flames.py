"""Flames in scenes and in files, their pictures, and those that flam3 draws of them."""

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.scenes import slow_but

import fractals
from fractals.errors import SceneError
from fractals.io.foreign import formats
from fractals.scatter import flame_file as flames

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

COLORS = "".join(f'<color index="{k}" rgb="{k} {abs(255 - 2 * k)} {255 - k}"/>' for k in range(256))
MAPS = (
    '<xform weight="1" color="0" linear="1" coefs="0.62 -0.31 0.31 0.62 0.25 -0.1" {first}/>'
    '<xform weight="0.7" color="1" linear="1" coefs="0.5 0.3 -0.4 0.5 -0.6 0.4" {second}/>'
    '<xform weight="0.3" color="0.4" spherical="0.6" coefs="0.8 -0.3 0.5 0.7 -0.4 0.2" {third}/>'
)


def flame(more="", first="", second="", third="", inner="", size=(160, 120), quality=400):
    """Return the text of a flame."""
    usual = {
        "center": "0 0",
        "scale": "30",
        "oversample": "1",
        "filter": "0.5",
        "background": "0 0 0",
        "brightness": "4",
        "gamma": "4",
        "vibrancy": "1",
        "estimator_radius": "0",
        "estimator_minimum": "0",
        "estimator_curve": "0.4",
    }
    given = dict(part.split("=", 1) for part in more.split(";") if part)
    attributes = " ".join(f'{key}="{value}"' for key, value in {**usual, **given}.items())
    maps = MAPS.format(first=first, second=second, third=third)
    return (
        f'<flame name="own" size="{size[0]} {size[1]}" quality="{quality}" temporal_samples="1" '
        f'passes="1" {attributes}>{maps}{inner}{COLORS}</flame>'
    )


def scene_of(text):
    return fractals.load_scene(dict(flames.read_flame(text.encode(), "").table))


FLAM3 = shutil.which("flam3-render")
CASES = {
    "plain": {},
    "turned": {"more": "rotate=30;center=0.4 0.3;zoom=0.3"},
    "right angle": {"more": "rotate=90;center=0.5 0"},
    "turned back": {"more": "rotate=-135;center=-0.3 0.6"},
    "upside down": {"more": "rotate=180;center=0 0.5"},
    "moved": {"more": "center=0.7 -0.5;scale=40"},
    "far": {"more": "zoom=-1;rotate=10"},
    "near": {"more": "zoom=2;center=0.2 -0.1"},
    "low": {"more": "rotate=45;center=0.3 0.3", "size": (200, 80)},
    "oversampled": {"more": "oversample=3;filter=1"},
    "estimated": {"more": "estimator_radius=9;oversample=2", "quality": 1000},
    "final": {"inner": '<finalxform color="0.9" spherical="1" coefs="1 0 0 1 0.3 0.1"/>'},
    "xaos": {
        "first": 'chaos="0.2 1 3"',
        "second": 'chaos="1 0.1 1" opacity="0.4"',
        "third": 'symmetry="0.5" post="1.1 0.2 -0.2 1 0.1 0"',
    },
    "symmetry": {"inner": '<symmetry kind="-3"/>'},
    "channels": {"more": "vibrancy=0.3;gamma=2.5;gamma_threshold=0.1;background=0.2 0.1 0.3"},
    "highlights": {"more": "brightness=30;highlight_power=2", "quality": 1000},
}


def drawn_by_flam3(text, tmp_path):
    import PIL.Image

    env = {**os.environ, "prefix": str(tmp_path / "x"), "format": "png", "isaac_seed": "1"}
    subprocess.run([FLAM3], input=text.encode(), env=env, capture_output=True, check=True)
    return np.asarray(PIL.Image.open(tmp_path / "x00000.png").convert("RGB"), float)


def differences(ours, theirs):
    """Return how far the means of 4 x 4 pixels differ, and the means of all pixels."""
    assert ours.shape == theirs.shape
    assert len(np.unique(ours)) > 100
    rows, columns = ours.shape[0] // 4, ours.shape[1] // 4
    parts = [each.reshape(rows, 4, columns, 4, 3).mean(axis=(1, 3)) for each in (ours, theirs)]
    return np.abs(parts[0] - parts[1]).mean(), ours.mean(), theirs.mean()


needs_flam3 = pytest.mark.skipif(not FLAM3, reason="flam3-render is not installed (flam3-utils)")


@needs_flam3
@pytest.mark.parametrize("name", CASES)
def test_beside_flam3(name, tmp_path):
    """Means of 4 x 4 pixels differ by less than 2 of 255."""
    text = flame(**CASES[name])
    ours = fractals.render(scene_of(text), device="cpu").pixels.astype(float)
    assert differences(ours, drawn_by_flam3(text, tmp_path))[0] < 2


@needs_flam3
@pytest.mark.parametrize("size", [(80, 60), (240, 100), (96, 200)])
def test_another_size_than_its_own_is_as_bright_as_in_flam3(size, tmp_path):
    """The picture keeps its width in the plane, so flam3 gets its scale in proportion."""
    more = "estimator_radius=5;zoom=0.3"
    ours = fractals.render(scene_of(flame(more)), size=size, device="cpu").pixels.astype(float)
    theirs = flame(f"{more};scale={30 * size[0] / 160}", size=size)
    off, mean, their_mean = differences(ours, drawn_by_flam3(theirs, tmp_path))
    assert off < 2
    assert abs(mean / their_mean - 1) < 0.02


def test_pictures_are_the_same_on_every_device():
    text = flame(
        "scale=4;oversample=2;estimator_radius=4;vibrancy=0.5;brightness=9;highlight_power=1",
        size=(8, 6),
        quality=0.6,
        first='swirl="0.3"',
        inner='<finalxform linear="0.8" spherical="0.1" coefs="1 0 0 1 0 0"/>',
    )
    scene = scene_of(text).replace(steps=4)
    pictures = {
        device: fractals.render(scene, device=device) for device in ("python", "cpu", "simulator")
    }
    assert len(np.unique(pictures["python"].pixels)) > 50
    for device in ("cpu", "simulator"):
        assert np.array_equal(pictures[device].pixels, pictures["python"].pixels), device
    assert 0.1 < pictures["cpu"].summary.share <= 1


def test_threads_change_nothing():
    scene = scene_of(flame("estimator_radius=6", size=(90, 70), quality=200))
    one, three = (fractals.render(scene, device="cpu", threads=n).pixels for n in (1, 3))
    assert np.array_equal(one, three)


@pytest.mark.parametrize("supersampling", [1, 6])
def test_a_crop_is_a_part_of_the_whole(supersampling):
    """The same points fall into both: margins keep what lies beyond the crop's edge."""
    scene = scene_of(flame("estimator_radius=2", size=(60, 40), quality=100)).replace(
        quality=60.0, center=("0", "0"), width="3", supersampling=supersampling, precision="float64"
    )
    whole = fractals.render(scene, device="cpu").pixels
    # A fourth of the pixels with four times the quality: as many points of as large a pixel.
    crop = scene.replace(size=(30, 20), width="1.5", quality=240.0)
    assert np.array_equal(fractals.render(crop, device="cpu").pixels, whole[10:30, 15:45])


def test_a_picture_and_its_file(tmp_path):
    text = flame(size=(64, 48), quality=20)
    path = tmp_path / "own.flame"
    path.write_text(text)
    drawn = fractals.render(path, device="cpu")
    drawn.save(tmp_path / "own.png")
    again = fractals.load_scene(tmp_path / "own.png")
    assert again == drawn.scene
    assert np.array_equal(fractals.render(again, device="cpu").pixels, drawn.pixels)
    assert fractals.load_scene({"formula": "flame"}).to_toml().count("[scatter]") == 0


def test_the_opacity_of_a_final_transform():
    """In flam3 it is the share of the points that the final transform is applied to."""
    final = '<finalxform bubble="1" coefs="1 0 0 1 0.3 0.1" {}/>'
    whole, none = (scene_of(flame("", inner=final.format(f'opacity="{k}"'))) for k in (1, 0))
    assert whole.make_any_formula().final
    assert none.make_any_formula().final is None
    data = flame("", inner=final.format('opacity="0.4"')).encode()
    assert "opacity of the final" in flames.read_flame(data, "").lost[0]
    transforms = [{"variations": {"linear": 1.0}}]
    with pytest.raises(SceneError, match=r"final\.opacity"):
        fractals.load_scene(
            formula={"name": "flame", "transforms": transforms, "final": {"opacity": 0.3}}
        ).make_any_formula()


def test_a_flame_is_written_as_it_was_read():
    text = flame(
        "rotate=20;highlight_power=0.5",
        first='chaos="0.2 1 3" pre_blur="0.1"',
        second='opacity="0.4" julian="0.3" julian_power="4" julian_dist="0.9"',
        third='post_curl="0.2" post_curl_c1="0.7"',
        inner='<finalxform bubble="1" coefs="1 0 0 1 0.3 0.1"/>',
    )
    scene = scene_of(text)
    data, lost = flames.write_flame(scene.to_table())
    assert not lost
    again = scene_of(data.decode())
    assert again.make_any_formula().data(np.float32)[0].tobytes() == (
        scene.make_any_formula().data(np.float32)[0].tobytes()
    )
    assert again.display == scene.display
    assert again.color.palette == scene.color.palette


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><flame/>", "a document type or an entity"),
        ("<flame", "no XML"),
        ("<svg/>", "<svg> holds no flames"),
        ("<flames/>", "no flame is in it"),
        ('<flame size="3 4"/>', "the flame has no transform"),
        (flame(first='crackle="1" crackle_power="2"'), "not drawn here: crackle ("),
        (flame(first='coefs2="1 0"', more="size2=4"), None),
        (flame(more="scale=0"), "not greater than 0"),
        (flame(more="center=a b"), "'a' is not a number"),
        (flame(more="center=1"), "2 numbers are needed"),
        (flame(inner='<xform coefs="nan 0 0 1 0 0"/>'), "'nan' is not from"),
        (flame(inner='<xform linear="1"/>' * 10_000), "more than 100 transforms"),
        (flame(inner='<symmetry kind="100"/>' * 10_000), "more than 100 transforms"),
        (flame(inner='<symmetry kind="9999"/>'), "symmetry 9999: 100 at most"),
    ],
)
def test_bad_files(text, message, tmp_path):
    path = tmp_path / "bad.flame"
    path.write_text(text)
    if message is None:
        fractals.load_scene(path)
        return
    with pytest.raises(SceneError) as caught:
        fractals.load_scene(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_entities_are_refused_before_they_grow(tmp_path):
    """A billion laughs: ten entities of ten of the one before."""
    lines = "".join(f"<!ENTITY a{k} '{f'&a{k - 1};' * 10}'>" for k in range(1, 10))
    bomb = f"<!DOCTYPE flame [<!ENTITY a0 'ha'>{lines}]><flame name='&a9;'/>"
    for data in (bomb.encode(), bomb.encode("utf-16"), bomb.replace("DOCTYPE", "doctype").encode()):
        with pytest.raises(SceneError, match="a document type or an entity"):
            flames.read_flame(data, "")


NUMBERS = ("", "-1", "0", "1e9", "-1e308", "1e-320", "nan", "inf", "9" * 400, "0.5 0.5", "x")


def mutated(dice, data):
    """Return a flame with bytes changed, or a number replaced, or a part left out or repeated."""
    bad = bytearray(data)
    for _ in range(dice.choice((1, 2, 9))):
        kind, at = dice.randrange(5), dice.randrange(len(bad))
        if kind == 0:
            bad[at] = dice.randrange(1, 256)
        elif kind == 1:
            end = at + dice.randrange(80)
            bad[at:at] = bad[at:end]
        elif kind == 2:
            del bad[at : at + dice.choice((1, 9))]
        else:
            quote = bad.find(b'="', at) + 2
            if quote > 1:
                bad[quote : bad.find(b'"', quote)] = dice.choice(NUMBERS).encode()
    return bytes(bad)


@pytest.mark.parametrize("count", slow_but([2000], [2000, 1_000_000]))
def test_damaged_files_are_one_line(count):
    """A flame that was changed at random gives a scene or one line; or one for each wrong key."""
    more = (
        'julian="1" julian_power="2" post_curl="0.2" chaos="1 0.5" opacity="0.3" post="1 0 0 1 0 0"'
    )
    data = flame("rotate=3;zoom=0.1", more, inner='<symmetry kind="-2"/>').encode()
    data = data[: data.index(b"<color")] + b'<color index="0" rgb="0 9 8"/></flame>'
    dice, refused, long = random.Random(count), 0, 0
    for _ in range(count):
        try:
            table = flames.read_flame(mutated(dice, data), "").table
            fractals.load_scene(dict(table)).make_any_formula().data(np.float32)
        except SceneError as error:
            refused += 1
            lines = str(error).split("\n")
            long += len(lines) > 1 and not all(re.match(r"[a-z_.0-9]+: ", each) for each in lines)
    assert long == 0
    assert 0.3 * count < refused < 0.99 * count


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"transforms": []}, "a list of one table or more"),
        ({"transforms": [{"weight": 0}]}, "one of the weights is greater than 0"),
        ({"transforms": [{"weigth": 1}]}, "unknown key 'weigth'; did you mean 'weight'?"),
        ({"transforms": [{"affine": [1, 2]}]}, "transforms.0.affine: 2 numbers; 6 are needed"),
        ({"transforms": [{"color": 2}]}, "transforms.0.color: 2 is not from 0 to 1"),
        ({"transforms": [{"affine": [1e99, 0, 0, 0, 1, 0]}]}, "is not from -1e+09 to 1e+09"),
        ({"transforms": [{"variations": {"sphericl": 1}}]}, "did you mean 'spherical'?"),
        ({"transforms": [{"variations": "julia"}]}, "is not a table of names and weights"),
        ({"transforms": [{"xaos": [-1]}]}, "a factor is less than 0"),
        ({"transform": []}, "unknown option 'transform'"),
        ({"transforms": [{}] * 101}, "101 of them; 100 at most"),
    ],
)
def test_bad_scenes(table, message):
    with pytest.raises(SceneError) as caught:
        fractals.load_scene({"formula": {"name": "flame", **table}})
    assert message in str(caught.value)


@pytest.mark.parametrize("formula", ["flame", "clifford", "buddhabrot"])
def test_views_beyond_the_range_of_numbers_are_one_line(formula):
    small = {"formula": formula, "size": (12, 8), "quality": 0.01, "device": "cpu"}
    far = {"float32": "1e16", "float64": "1e141"}
    for precision, wide in far.items():
        for key, given in (("width", wide), ("width", f"1e-{wide[2:]}"), ("center", (wide, "0"))):
            with pytest.raises(SceneError, match=rf"view\.{key}: '.*' is beyond 1e±\d+, where"):
                fractals.render(**small, **{key: given}, precision=precision)
        for given in (f"1e{int(wide[2:]) - 2}", f"1e-{int(wide[2:]) - 2}"):
            fractals.plan(**small, width=given, precision=precision)
    for given in ("1e-1000000", "1e1000000"):
        with pytest.raises(SceneError, match=r"view\.width"):
            fractals.plan(**small, width=given)


def test_what_a_flame_has_not_is_one_line():
    scene = fractals.load_scene({"formula": "flame"})
    for changes, message in (
        ({"julia": (0, 1)}, "has no Julia sets"),
        ({"projection": "exponential"}, "is drawn in the plane"),
        ({"layers": [{"coloring": "slopes"}]}, "has one layer"),
        ({"quality": 1e9}, "more than 2147483648 trajectories"),
    ):
        with pytest.raises(fractals.FractalsError, match=message):
            fractals.render(scene.replace(**changes), size=(4000, 4000), device="cpu")
    with pytest.raises(fractals.OptionError, match="this is for escape-time formulas"):
        fractals.find_nucleus(scene)


def test_flames_of_others(data):
    """Of the shared files, all flames of known variations are read, and the rest is named.

    They are 28 flames in 12 files. At least 140 of 190, 74 %, was asked for.
    """
    files = sorted([*data.glob("formats/flame/*"), *data.glob("formats/flam3/*test*")])
    read, refused = 0, []
    for path in files:
        for name, _ in formats.entries(str(path)):
            try:
                fractals.load_scene(f"{path}#{name}").make_any_formula().data(np.float32)
                read += 1
            except SceneError as error:
                refused.append(str(error))
    assert read >= 24
    assert read + len(refused) == 28
    assert all("variations that are not drawn here" in line for line in refused)


def test_the_command_line(tmp_path, capsys):
    from fractals.cli.verbs import run_verb as main

    path = Path(tmp_path, "own.flame")
    path.write_text(flame(size=(64, 48), quality=5))
    assert main(["render", str(path), "-o", str(tmp_path / "a.png"), "--cpu"]) == 0
    assert "in view" in capsys.readouterr().err
    assert main(["render", str(path), "--dry-run", "--quality", "7"]) == 0
    assert "chaos game" in capsys.readouterr().out
    assert main(["show", str(path)]) == 0
    assert 'name = "flame"' in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "b.flam3")]) == 0
    assert main(["list", "variations"]) == 0
    assert "julian_power=1" in capsys.readouterr().out
    capsys.readouterr()
    assert main(["compute", str(path), "-o", str(tmp_path / "c.fz"), "--cpu"]) == 0
    assert "in view" in capsys.readouterr().err


def test_an_unknown_filter_is_one_line():
    with pytest.raises(SceneError, match="unknown filter 'lanzcos2'; did you mean 'lanczos2'"):
        fractals.load_scene({"display": {"filter": "lanzcos2"}})

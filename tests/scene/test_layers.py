"""Layers: what is blended, where, and what the iteration is asked for."""

from typing import get_args

import numpy as np
import pytest
from oracle import naive_colorings as naive
from support.scenes import PRECISIONS, scene, slow_but

import fractals
from fractals.color import palette
from fractals.rendering import plan
from fractals.scene.geometry import make_layers
from fractals.scene.paint import Blend

BLENDS = get_args(Blend)[1:]  # "auto" is one of the others
FLAT = {"coloring": "count", "transfer": "linear", "density": 0}


def layered(*layers, **keys):
    keys = {"coloring": "smooth", "supersampling": 2, "size": (9, 7), **keys}
    return scene(layers=list(layers), **keys)


def color_of(text):
    return [round(255 * part) for part in palette.parse_color(text)]


@pytest.mark.parametrize("mode", BLENDS)
def test_blending_is_that_of_css(mode):
    counts = fractals.compute(layered(), device="python").count
    outside = (counts.reshape(7, 2, 9, 2) < 60).all(axis=(1, 3))
    inside = (counts.reshape(7, 2, 9, 2) == 60).all(axis=(1, 3))
    assert outside.sum() > 5
    for below, above in [("#204060", "#e0a010"), ("#f0c8a0", "#305890"), ("#808080", "#7f0000")]:
        for opacity in (0, 0.4, 1):
            layer = {**FLAT, "palette": [above], "blend": mode, "opacity": opacity}
            drawn = layered(layer, **FLAT, palette=[below], inside=below)
            picture = fractals.render(drawn, device="python").pixels
            pairs = zip(palette.parse_color(below), palette.parse_color(above), strict=True)
            wanted = [255 * naive.blended(mode, b, a, opacity) for b, a in pairs]
            assert np.abs(picture[outside] - np.array(wanted)).max() <= 0.6
            assert (picture[inside] == color_of(below)).all()


def test_a_layer_that_is_not_seen_changes_nothing():
    alone = scene(coloring="smooth", size=(40, 30), supersampling=2, bits=16)
    unseen = alone.replace(layers=[{"coloring": "count", "opacity": 0}])
    first = fractals.render(alone, device="cpu").pixels.astype(int)
    second = fractals.render(unseen, device="cpu").pixels.astype(int)
    assert np.abs(first - second).max() <= 24  # of 65535: colors between entries of the palette


@pytest.mark.parametrize("mask", ["escaped", "inside", "all"])
def test_a_layer_is_drawn_on_the_side_of_its_mask(device, mask):
    coloring = "count" if mask == "escaped" else "orbit_trap"  # which has values inside, too
    layer = {"coloring": coloring, "mask": mask, "palette": ["#ff0000"]}
    drawn = layered(layer, **FLAT, palette=["#0000ff"], inside="#00ff00", supersampling=1)
    picture = fractals.render(drawn, device=device).pixels
    out = fractals.compute(drawn, device=device).count < 60
    assert 0 < out.sum() < out.size
    red = {"escaped": out, "inside": ~out, "all": out | ~out}[mask]
    assert (picture[red] == [255, 0, 0]).all()
    assert (picture[out & ~red] == [0, 0, 255]).all()
    assert (picture[~out & ~red] == [0, 255, 0]).all()


def test_ranges_of_values(device):
    chosen = {"coloring": "count", "range": [3, 5]}
    layer = {**chosen, "palette": ["#ff0000"]}
    drawn = layered(layer, **FLAT, palette=["#0000ff"], supersampling=1)
    count = fractals.compute(drawn, device=device).count
    red = (count >= 3) & (count <= 5)
    assert 0 < red.sum() < red.size
    assert ((fractals.render(drawn, device=device).pixels == [255, 0, 0]).all(axis=2) == red).all()
    alone = scene(**chosen, palette=["#ff0000"], inside="#00ff00", size=(9, 7))
    picture = fractals.render(alone, device=device).pixels
    assert ((picture == [255, 0, 0]).all(axis=2) == red).all()
    assert ((picture == [0, 255, 0]).all(axis=2) == ~red).all()


STACK = [
    {"coloring": "slopes"},
    {"coloring": {"name": "stripe_average", "density": 3}, "blend": "overlay", "opacity": 0.7},
    {"coloring": {"name": "orbit_trap", "shape": "circle"}, "mask": "all", "blend": "soft_light"},
    {"coloring": "stripe_average", "blend": "screen", "opacity": 0.2, "range": [0.2, 0.6]},
]


@pytest.mark.parametrize("precision", slow_but(["float64"], PRECISIONS))
def test_every_device_draws_the_same_layers(compiled, precision):
    drawn = layered(*STACK[:3], {**STACK[3], "coloring": STACK[1]["coloring"]})
    expected = fractals.render(drawn, device="python", precision=precision).pixels
    assert len(np.unique(expected)) > 20
    found = fractals.render(drawn, device=compiled, precision=precision).pixels
    assert found.tobytes() == expected.tobytes()
    raw = fractals.compute(drawn, device=compiled, precision=precision)
    assert fractals.recolor(raw, device=compiled).pixels.tobytes() == expected.tobytes()


@pytest.mark.parametrize("mode", ["hard_light", "darken", "lighten", "difference", "exclusion"])
def test_every_device_blends_alike(compiled, mode):
    drawn = layered({"coloring": "count", "palette": "ember", "blend": mode, "opacity": 0.7})
    expected = fractals.render(drawn, device="python").pixels
    assert fractals.render(drawn, device=compiled).pixels.tobytes() == expected.tobytes()


def test_all_is_iterated_for_once():
    layers = make_layers(layered(*STACK))
    assert layers.derivative
    assert layers.statistics.names == [
        "stripes,density=3.sum (inside too)",
        "stripes,density=3.last (inside too)",
        "trap,shape=circle,x=0.0,y=0.0,angle=0.0,radius=0.5.square (inside too)",
        "stripes,density=5.sum (inside too)",
        "stripes,density=5.last (inside too)",
    ]
    again = make_layers(layered({"coloring": "period"}, {"coloring": "multiplier"}))
    assert again.statistics.planes == 15
    assert not make_layers(layered({"coloring": "count"})).statistics.planes


def test_orbits_are_cut_short_unless_they_are_looked_at_inside():
    assert plan.make_plan(layered(STACK[1])).interior_shortcuts
    assert not plan.make_plan(layered(STACK[2])).interior_shortcuts
    assert plan.make_plan(layered({**STACK[2], "mask": "escaped"})).interior_shortcuts


def test_deep_views_are_lit():
    lit = fractals.load_scene("wheels").replace(layers=[{"coloring": "slopes"}], size=(24, 14))
    assert fractals.plan(lit).deep
    assert len(np.unique(fractals.render(lit, device="cpu", on_message=str).pixels)) > 10


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ({"layers": [{"blnd": "add"}]}, r"color.layers.0.blnd: unknown key; did you mean 'blend'"),
        ({"layers": [{"blend": "burn"}]}, "color.layers.0.blend"),
        ({"layers": [{"opacity": 2}]}, "color.layers.0.opacity"),
        ({"mask": "inside"}, "'smooth' has no value where orbits did not escape"),
        ({"coloring": "period", "mask": "all"}, "'period' has no value where orbits escaped"),
        ({"range": [2, 1]}, "its first value is less"),
        ({"layers": 17 * [{}]}, "16 are the most"),
    ],
)
def test_wrong_layers(color, message):
    with pytest.raises(fractals.SceneError, match=message):
        fractals.load_scene({"color": color})


def test_raw_numbers_keep_what_was_watched(tmp_path):
    drawn = layered(*STACK[:3])
    raw = fractals.compute(drawn, device="cpu")
    raw.save(tmp_path / "a.npz")
    again = fractals.EscapeData.load(tmp_path / "a.npz")
    assert list(again.statistics) == list(raw.statistics)
    assert all((again.statistics[name] == raw.statistics[name]).all() for name in raw.statistics)
    wanted = fractals.render(drawn, device="cpu").pixels
    assert fractals.recolor(again, device="cpu").pixels.tobytes() == wanted.tobytes()
    fewer = layered(STACK[1])  # what was watched inside too serves where that is not looked at
    wanted = fractals.render(fewer, device="python").pixels
    assert fractals.recolor(again, fewer, device="cpu").pixels.tobytes() == wanted.tobytes()
    other = layered({"coloring": {"name": "stripe_average", "density": 9}})
    with pytest.raises(fractals.OptionError, match="stripes,density=9"):
        fractals.recolor(again, other, device="cpu")
    outside = fractals.compute(layered({**STACK[2], "mask": "escaped"}), device="python")
    with pytest.raises(fractals.OptionError, match="these raw numbers lack"):
        fractals.recolor(outside, layered(STACK[2]), device="cpu")

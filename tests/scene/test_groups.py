"""Groups of layers, and masks that are pictures: what is blended, and what is said."""

from typing import get_args

import numpy as np
import pytest
from oracle import naive_colorings as naive
from PIL import Image
from support.scenes import scene

import fractals
from fractals.color import palette, trap_image
from fractals.films.tracks import Tracks
from fractals.rendering.groups import mask_weights
from fractals.scene.geometry import make_layers
from fractals.scene.paint import Blend

BLENDS = get_args(Blend)[1:]  # without "auto", which is one of them
FLAT = {"coloring": "count", "transfer": "linear", "density": 0}
SIZE = (9, 7)


def flat(color, **keys):
    """Return a layer of one color, where orbits escape."""
    return {**FLAT, "palette": [color], "blend": "normal", **keys}


def drawn(*layers, **keys):
    keys = {"size": SIZE, "supersampling": 1, "inside": "#204060", **FLAT, **keys}
    return scene(layers=list(layers), palette=["#204060"], **keys)


def mask_of(rows):
    return trap_image.encode(np.array(rows, np.uint8))


def over(mode, below, above, part):
    return [naive.blended(mode, b, a, part) for b, a in zip(below, above, strict=True)]


RAMP = mask_of([[0, 128, 255]])
GROUP = {
    "layers": [
        flat("#e0a010", opacity=0.5),
        {"coloring": "slopes", "blend": "soft_light", "opacity": 0.9},
        {"coloring": {"name": "stripe_average", "density": 3}, "blend": "overlay", "opacity": 0.3},
        {"coloring": {"name": "orbit_trap", "shape": "circle"}, "mask": "all", "blend": "multiply"},
        flat("#3080f0", blend="overlay", opacity=0.4, picture_mask=RAMP),
    ],
    "blend": "screen",
    "opacity": 0.7,
    "picture_mask": mask_of([[255, 30], [90, 200], [10, 60]]),
}


@pytest.mark.parametrize("mode", BLENDS)
def test_a_group_is_blended_as_one(mode):
    """Compositing of W3C: layers of a group over nothing, then the whole over what is below."""
    below, first, second = (palette.parse_color(c) for c in ("#204060", "#e0a010", "#3080f0"))
    layers = [flat("#e0a010", opacity=0.5), flat("#3080f0", blend=mode, opacity=0.6)]
    own = drawn({"layers": layers, "opacity": 0.8, "blend": "multiply"})
    alpha = 0.5 + 0.6 * 0.5
    mixed = over(mode, first, second, 1)  # where something of the group is below
    inner = [
        (0.4 * 0.5 * one + 0.6 * (0.5 * two + 0.5 * both)) / alpha
        for one, two, both in zip(first, second, mixed, strict=True)
    ]
    wanted = np.array(over("multiply", below, inner, 0.8 * alpha)) * 255
    outside = fractals.compute(own, device="python").count < 60
    picture = fractals.render(own, device="python").pixels
    assert outside.sum() > 5
    assert np.abs(picture[outside] - wanted).max() <= 0.6
    assert (picture[~outside] == [32, 64, 96]).all()


NESTED = {
    "layers": [
        flat("#e0a010", opacity=0.5),
        {**GROUP, "picture_mask": None, "blend": "overlay"},
        {
            "layers": [{"layers": [{"coloring": "slopes", "opacity": 0.8}], "opacity": 0.5}],
            "blend": "multiply",
        },
        flat("#30f0f0", blend="screen", opacity=0.3),
    ],
    "blend": "soft_light",
    "opacity": 0.9,
    "picture_mask": RAMP,
}


def nothing(shape):
    return np.zeros((*shape, 3)), np.zeros(shape)


def composed(layers, below, alpha):
    """Return color and opacity of flat layers and groups over what is below, as W3C defines it."""
    for each in layers:
        if "layers" in each:
            color, part = composed(each["layers"], *nothing(alpha.shape))
        else:
            color = np.broadcast_to(palette.parse_color(each["palette"][0]), below.shape)
            part = np.ones(alpha.shape)
        part = part * each.get("opacity", 1)
        mode = each.get("blend", "normal")
        mixed = [
            [naive.blended(mode, b, a, 1) for b, a in zip(*pair, strict=True)]
            for pair in zip(below.reshape(-1, 3), color.reshape(-1, 3), strict=True)
        ]
        mixed = np.reshape(mixed, below.shape)
        own = (1 - alpha)[..., None] * color + alpha[..., None] * mixed
        whole = part + alpha * (1 - part)
        under = (alpha * (1 - part))[..., None] * below
        safe = np.where(whole > 0, whole, 1)[..., None]
        below, alpha = (part[..., None] * own + under) / safe, whole
    return below, alpha


@pytest.mark.parametrize("mode", ["normal", "multiply", "screen", "overlay", "add"])
def test_groups_in_groups_are_blended_as_wholes(mode):
    """Against compositing of colors and opacities, group by group."""
    inner = {
        "layers": [flat("#e0a010", opacity=0.5), flat("#3080f0", blend=mode, opacity=0.6)],
        "blend": "screen",
        "opacity": 0.75,
    }
    deeper = {"layers": [flat("#c03060", opacity=0.5), inner], "blend": mode, "opacity": 0.9}
    layers = [flat("#10c040", opacity=0.4), deeper, flat("#808080", opacity=0.25)]
    own = drawn({"layers": layers, "opacity": 0.8, "blend": "overlay"})
    base = np.array([[palette.parse_color("#204060")]], float)
    whole = {"layers": layers, "opacity": 0.8, "blend": "overlay"}
    wanted, alpha = composed([whole], base, np.ones((1, 1)))
    assert alpha == 1
    outside = fractals.compute(own, device="python").count < 60
    picture = fractals.render(own, device="python").pixels
    assert np.abs(picture[outside] - 255 * wanted[0, 0]).max() <= 0.6


def test_a_group_in_a_group_of_its_own_changes_nothing():
    group = {"layers": GROUP["layers"][:3]}
    alone = fractals.render(drawn({**group, "opacity": 0.6}), device="python").pixels.astype(int)
    for _ in range(3):
        group = {"layers": [group]}
    picture = fractals.render(drawn({**group, "opacity": 0.6}), device="python").pixels
    assert np.abs(picture - alone).max() <= 1
    assert len(np.unique(alone)) > 10


def test_a_group_of_one_layer_is_that_layer():
    layer = {"coloring": "slopes", "blend": "overlay"}
    alone = fractals.render(drawn({**layer, "opacity": 0.6}), device="cpu").pixels.astype(int)
    group = {"layers": [{"coloring": "slopes"}], "blend": "overlay", "opacity": 0.6}
    picture = fractals.render(drawn(group), device="cpu").pixels
    assert np.abs(picture - alone).max() <= 1
    assert len(np.unique(alone)) > 10


def test_every_device_draws_the_same_groups_and_masks(compiled):
    own = drawn(NESTED, flat("#ff00ff", opacity=0.3, picture_mask=RAMP), supersampling=2)
    expected = fractals.render(own, device="python").pixels
    assert len(np.unique(expected)) > 20
    found = fractals.render(own, device=compiled).pixels
    assert found.tobytes() == expected.tobytes()
    raw = fractals.compute(own, device=compiled)
    assert fractals.recolor(raw, device=compiled).pixels.tobytes() == expected.tobytes()


@pytest.mark.parametrize("antialias", ["jittered", "adaptive"])
def test_jittered_samples_have_masks(antialias):
    flats = {**GROUP, "layers": [GROUP["layers"][0], GROUP["layers"][-1]]}
    own = drawn(flats, size=(24, 18), supersampling=4, antialias=antialias)
    plain = fractals.render(own.replace(antialias="grid"), device="cpu").pixels.astype(int)
    picture = fractals.render(own, device="cpu").pixels
    assert np.abs(picture - plain).mean() < 12
    assert np.abs(picture - fractals.render(own.replace(layers=[]), device="cpu").pixels).mean() > 5


def test_a_mask_is_stretched_over_the_frame():
    own = drawn(flat("#ffffff", picture_mask=RAMP), size=(12, 6), inside="#000000")
    own = own.replace(palette=["#000000"], center=("5", "0"), width=0.1)  # all escape
    for size in ((12, 6), (120, 10)):
        row = fractals.render(own.replace(size=size), device="cpu").pixels[2, :, 0]
        assert (np.diff(row.astype(int)) >= 0).all()
        assert (row[0], row[-1]) == (0, 255)
        assert 100 < row[size[0] // 2] < 160
    again = fractals.load_scene(own.to_table())
    assert again == own


@pytest.mark.parametrize("shape", [(72, 51), (1, 3), (2, 1)])
def test_a_mask_along_the_frame_is_interpolated_as_any_other(shape):
    """Rows and columns of samples, of which each is interpolated once, beside single samples."""
    bright = np.random.default_rng(5).random(shape)
    i, j = np.arange(30, 93)[None], np.arange(7, 50)[:, None]
    affine = 0.31, 0.0, 0.0, 1.7, -9.2, -20.1
    found = mask_weights(bright, affine, i, j)
    one_by_one = mask_weights(bright, affine, *(part.ravel() for part in np.meshgrid(i, j)))
    assert found.shape == (43, 63)
    assert np.array_equal(found.ravel(), one_by_one.ravel())
    assert len(np.unique(found)) > len(bright)


def test_a_mask_stays_on_its_place():
    """A white square lies where its view says, however the picture is moved, zoomed and turned."""
    rows = np.zeros((41, 41), np.uint8)
    rows[10:31, 10:31] = 255
    place = {"center": ["5.25", "0.5"], "width": "0.4", "rotation": 20}
    white = flat("#ffffff", picture_mask={"picture": mask_of(rows), "view": place})
    own = drawn(white, inside="#000000", size=(60, 40)).replace(palette=["#000000"])
    middle = complex(5.25, 0.5)
    for center, width, rotation in (
        (5.2 + 0.45j, 1.0, 0),
        (5.3 + 0.5j, 0.5, 75),
        (5.2 + 0.4j, 3, -30),
    ):
        at = (str(center.real), str(center.imag))
        moved = own.replace(center=at, width=width, rotation=rotation)
        picture = fractals.render(moved, device="cpu").pixels[..., 0]
        x = (np.arange(60) - 29.5) * width / 60
        y = (19.5 - np.arange(40)) * width / 60
        turned = (x + 1j * y[:, None]) * np.exp(1j * np.radians(rotation)) + center - middle
        turned *= np.exp(-1j * np.radians(20))
        far = np.maximum(abs(turned.real), abs(turned.imag))
        side = 0.4 * 21 / 41 / 2
        assert (picture[far < side - 0.02] == 255).all()
        assert (picture[far > side + 0.02] == 0).all()
        assert (far < side - 0.02).any()


def test_a_mask_comes_from_a_file_and_travels_with_the_scene(tmp_path):
    pixels = np.zeros((5, 7, 4), np.uint8)
    pixels[..., 0], pixels[..., 3] = 200, np.arange(7) * 40
    Image.fromarray(pixels).save(tmp_path / "fog.png")
    (tmp_path / "a.toml").write_text(
        '[[color.layers]]\ncoloring = "count"\npicture_mask = "fog.png"\n'
        '[[color.layers]]\nblend = "multiply"\n[color.layers.picture_mask]\npicture = "fog.png"\n'
        'view = { center = ["0", "0"], width = "1e-30" }\n'
        '[[color.layers.layers]]\ncoloring = "slopes"\n'
    )
    own = fractals.load_scene(tmp_path / "a.toml", size=SIZE)
    gray = trap_image.weights(own.color.layers[0].picture_mask.picture)
    assert np.allclose(gray, 200 * 0.299 / 255 * pixels[..., 3] / 255, atol=0.003)
    assert own.color.layers[0].picture_mask.picture == own.color.layers[1].picture_mask.picture
    fractals.save_scene(own, tmp_path / "b.toml")
    (tmp_path / "fog.png").unlink()
    assert fractals.load_scene(tmp_path / "b.toml") == own
    fractals.render(own, device="cpu").save(tmp_path / "c.png")
    assert fractals.load_scene(tmp_path / "c.png") == own
    assert [len(make_layers(own).drawn), len(make_layers(own).masks)] == [3, 2]


def test_opacities_in_groups_in_groups_change_over_time():
    film = {"tracks": {"layers.0.layers.2.layers.0.opacity": [[0, 0], [2, 1]]}}
    own = fractals.load_scene({**drawn(NESTED).to_table(), "film": film})
    later = Tracks(own).at(1.0).color.layers[0]
    assert later.layers[2].layers[0].opacity == 0.5
    assert own.replace() == fractals.load_scene(own.to_table())


def test_opacities_in_groups_change_over_time():
    own = drawn(GROUP)
    film = {
        "tracks": {
            "layers.0.layers.1.opacity": [[0, 0], [2, 1]],
            "layers.0.opacity": [[0, 1], [2, 0]],
        }
    }
    later = Tracks(fractals.load_scene({**own.to_table(), "film": film})).at(1.0).color.layers[0]
    assert later.opacity == 0.5
    assert later.layers[1].opacity == 0.5


def test_a_zoom_through_a_mask_is_made_frame_by_frame():
    keys = [{"at": 0, "width": "1"}, {"at": 1, "width": "0.125"}]
    own = drawn(flat("#ffffff", picture_mask=RAMP), size=(16, 12), center=("-0.745", "0.113"))
    film = fractals.film(own.replace(film={"keys": keys, "fps": 4}), device="cpu", on_message=str)
    (part,) = film.plan().parts
    assert (part.method, "mask" in part.reason) == ("frames", True)


def nested(depth, **keys):
    """Return a layer in so many groups."""
    return {"layers": [nested(depth - 1, **keys)]} if depth else keys


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([{"layers": []}], "color.layers.0.layers"),
        ([nested(5)], "groups lie in one another, and 4 deep is the most"),
        ([nested(900)], "groups lie in one another, and 4 deep is the most"),
        ([nested(3, opacty=1)], "layers.0.layers.0.layers.0.opacty: unknown key; did you mean"),
        (
            [{"layers": [{"opacty": 1}]}],
            "color.layers.0.layers.0.opacty: unknown key; did you mean 'opacity'",
        ),
        ([{"layers": [{}], "palette": "ember"}], "color.layers.0.palette: unknown key"),
        ([{"layers": 9 * [{}]}, {"layers": 8 * [{}]}], "17 layers, and 16 are the most"),
        ([{"picture_mask": "fog.png"}], "fog.png: no such file"),
        ([{"picture_mask": "data:image/png;base64,AAAA"}], "picture"),
        (
            [{"picture_mask": {"picture": RAMP, "view": {"center": ["0", "0"]}}}],
            "a center and a width",
        ),
        ([{"picture_mask": {"view": {}}}], "picture"),
        ([{"picture_mask": 7}], "picture_mask"),
    ],
)
def test_wrong_groups_and_masks(layers, message):
    with pytest.raises(fractals.InputError, match=message):
        fractals.load_scene({"color": {"layers": layers}})


@pytest.mark.parametrize("depth", [5, 200, 2000])
@pytest.mark.parametrize("made", [fractals.Scene, lambda **keys: fractals.load_scene(keys)])
def test_groups_nested_too_deep_are_one_line(made, depth):
    layer = {}
    for _ in range(depth):
        layer = {"layers": [layer]}
    with pytest.raises(fractals.SceneError, match="groups lie in one another, and 4") as caught:
        made(color={"layers": [layer]})
    assert "\n" not in str(caught.value)


def test_a_mask_with_a_place_has_no_exponential_map():
    layer = flat(
        "#ffffff", picture_mask={"picture": RAMP, "view": {"center": ["0", "0"], "width": 1}}
    )
    with pytest.raises(fractals.OptionError, match="exponential map"):
        fractals.render(drawn(layer, projection="exponential"), device="cpu")

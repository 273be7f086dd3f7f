"""Settled pictures have the bits of `fractals.render`; values and tables color alike."""

import tomllib

import numpy as np
import pytest
from support.explorer import SIZE, pixels_of
from support.scenes import slow_but

import fractals
from fractals.color.palette import encoding
from fractals.explorer import packing

LONG = "deep, 15 million iterations"
FAR = {
    "center": [
        "-1.74995768370609350360221450607069970727110579726252077930242837820286008082972804887218672784431700831100544507655659531379747541999999995",
        "0.00000000000000000278793706563379402178294753790944364927085054500163081379043930650189386849765202169477470552201325772332454726999999995",
    ],
    "width": "3e-50",
}
SCENES = {
    "direct": {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}},
    "deep": {"view": fractals.load_scene("wheels").to_table()["view"]},
    LONG: {"view": FAR, "image": {"supersampling": 1}},
    "julia with layers": {
        "julia": ["-0.8", "0.156"],
        "color": {
            "palette": "ember",
            "layers": [{"coloring": "distance", "blend": "multiply", "palette": "ink"}],
        },
    },
    "turned slopes": {
        "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065", "rotation": 30.0},
        "color": {"coloring": "slopes"},
    },
    "rank": {
        "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"},
        "color": {"coloring": "rank"},
    },
    "adaptive": {
        "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"},
        "image": {"antialias": "adaptive"},
    },
    "glowing": {
        "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"},
        "develop": {"bloom": 0.5, "vignette": 0.5, "grain": 0.1, "curve": "filmic"},
    },
    "exposed": {
        "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"},
        "develop": {"exposure": 1.6, "curve": "filmic"},
    },
}


def drawn(scene):
    return fractals.render(scene, size=SIZE, device="cpu").pixels


@pytest.mark.parametrize("values", [True, False], ids=["shader", "pixels"])
@pytest.mark.parametrize("name", slow_but(SCENES.keys() - {LONG, "exposed"}, SCENES))
def test_exact_tiles_are_what_render_draws(server, name, values):
    scene = SCENES[name]

    async def talk(client):
        await client.say("open", frame=1, scene=scene)
        await client.exact(1)
        return client.pixels

    assert np.array_equal(server.run(talk, values=values), drawn(scene))


def test_moves_paints_and_links_keep_the_bits(server):
    async def talk(client):
        await client.say("open", frame=1, scene=SCENES["direct"])
        await client.until("placed")
        await client.say("view", frame=2, base=1, at=[800, 300], scale=90, turn=1500, by=[33, -7])
        await client.exact(2)
        first, scene = client.pixels.copy(), (await client.ask("link", "link", frame=2))["toml"]
        await client.say("paint", seq=1, color={"palette": "ember", "density": 2.0})
        await client.until("painted", seq=1)
        await client.exact(2, paint=1)
        second, link = client.pixels.copy(), await client.ask("link", "link", frame=2)
        await client.say("open", frame=3, link=link["link"])
        await client.exact(3)
        return first, scene, second, link["toml"], client.pixels

    first, scene, second, painted, opened = server.run(talk, link="remote")
    assert np.array_equal(first, fractals.render(tomllib.loads(scene), device="cpu").pixels)
    assert np.array_equal(second, fractals.render(tomllib.loads(painted), device="cpu").pixels)
    assert np.array_equal(opened, second)
    assert not np.array_equal(first, second)


def colored(client, layers, frame):
    """Return the pixels that a shader makes of the last values of one layer."""
    values = np.full((client.size[1], client.size[0]), np.nan)
    table = None
    for tile in client.tiles:
        if tile.frame != frame:
            continue
        if tile.kind == packing.VALUES and tile.step == 1:
            part = values_of(tile)
            values[tile.y : tile.y + tile.h, tile.x : tile.x + tile.w] = part
        elif tile.kind == packing.TABLE:
            table = np.frombuffer(tile.payload, "<u2").reshape(-1, 3) / 65535
    (layer,) = layers
    entries = layer["entries"]
    assert len(table) == entries + 2
    t = layer["density"] * (values + layer["c0"]) + layer["offset"]
    t = (t - np.floor(t)) * entries
    k = np.minimum(np.nan_to_num(t), entries - 1).astype(int)
    colors = table[k] + (np.nan_to_num(t) - k)[..., None] * (table[k + 1] - table[k])
    colors[np.isnan(values)] = table[-1]
    encode = encoding(8)
    return encode[(colors * (len(encode) - 1) + 0.5).astype(int)]


def values_of(tile):
    if tile.form == packing.RAW:
        return np.frombuffer(tile.payload, "<f4").reshape(tile.h, tile.w)
    low, high = (np.frombuffer(tile.payload, np.uint8).astype(np.uint16)).reshape(2, -1)
    rows = (low + 256 * high).reshape(tile.h, tile.w)
    steps = np.cumsum(rows, axis=0, dtype=np.uint16)
    values = tile.low + (tile.high - tile.low) * (steps / 65534)
    return np.where(steps == packing.NO_VALUE, np.nan, values)


@pytest.mark.parametrize("link", ["local", "remote"])
@pytest.mark.parametrize(
    "name", slow_but(["direct", "deep", "exposed"], ["direct", "deep", "exposed", LONG])
)
def test_values_colored_by_a_shader_are_the_picture(server, name, link):
    scene = {**SCENES[name], "image": {"supersampling": 1}}

    async def talk(client):
        await client.say("open", frame=1, scene=scene)
        await client.until("layers")
        layers = client.texts[-1]["layers"]
        await client.exact(1)
        return colored(client, layers, 1), client.pixels

    shown, exact = server.run(talk, link=link)
    off = np.abs(shown.astype(int) - exact)
    limit = 1 if link == "local" else 3
    assert off.max() <= limit
    assert (off > 0).mean() < (0.01 if link == "local" else 0.05)


def test_the_coarse_picture_covers_the_frame_with_every_eighth_sample(server):
    async def talk(client):
        await client.say("open", frame=1, scene=SCENES["direct"])
        await client.exact(1)
        coarse = next(t for t in client.tiles if t.kind == packing.VALUES and t.step > 1)
        whole = np.full((client.size[1], client.size[0]), np.nan)
        for tile in client.tiles:
            if tile.kind == packing.VALUES and tile.step == 1:
                whole[tile.y : tile.y + tile.h, tile.x : tile.x + tile.w] = values_of(tile)
        return coarse, whole

    coarse, whole = server.run(talk, size=(99, 61))
    step = coarse.step
    assert (coarse.w, coarse.h) == (-(-99 // step), -(-61 // step))
    picked = whole[np.minimum(np.arange(coarse.h) * step + step // 2, 60)]
    picked = picked[:, np.minimum(np.arange(coarse.w) * step + step // 2, 98)]
    assert np.array_equal(values_of(coarse), picked.astype(np.float32), equal_nan=True)


def test_a_coarse_picture_has_the_newest_colors(server):
    """Also where the samples are those of the view before, and no shader colors them."""
    red = {"palette": ["#ff0000", "#ff0000"], "inside": "#ff0000"}

    async def talk(client):
        await client.say("open", frame=1, scene=SCENES["direct"])
        await client.exact(1)
        await client.say("paint", seq=1, color=red)
        await client.exact(1, paint=1)
        return [pixels_of(t) for t in client.tiles if t.paint == 1 and t.step > 1]

    (coarse,) = server.run(talk, values=False)
    assert (coarse == (255, 0, 0)).all()

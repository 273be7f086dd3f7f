"""Solids over the protocol, without a browser: a drag goes around them, a zoom towards them."""

import tomllib

import numpy as np
from support.explorer import SIZE

import fractals
from fractals.explorer.pages import formula_scene

SCENE = {"formula": "mandelbulb", "light": {"samples": 3, "bounces": 1}, "camera": {"field": 50}}


def test_a_solid_becomes_finer_and_turns_with_the_pointer(server):
    async def talk(client):
        await client.say("open", frame=1, scene=SCENE)
        placed = await client.until("placed", frame=1)
        await client.exact(1)
        first = client.pixels.copy()
        await client.say("view", frame=2, base=1, by=[160, 80], scale=30, turn=500)
        await client.until("placed", frame=2)
        await client.exact(2)
        return placed, first, client, await client.ask("link", "link", frame=2)

    placed, first, client, link = server.run(talk)
    assert not placed["values"]
    assert np.array_equal(first, fractals.render(placed["scene"], size=SIZE, device="cpu").pixels)
    moved = tomllib.loads(link["toml"])
    assert "center" not in moved["view"]
    assert moved["camera"]["field"] == 50
    assert moved["camera"]["roll"] == 5
    shown = fractals.render(moved, device="cpu").pixels
    assert np.array_equal(client.pixels, shown)
    assert not np.array_equal(shown, first)
    said = [m["said"] for m in client.texts if m["t"] == "drawn" and m["frame"] == 2]
    assert said[-1] == "3 of 3 samples"


def test_light_that_is_there_is_developed_in_another_way(server):
    """No path is traced again for another exposure."""
    scene = {**SCENE, "develop": {"exposure": 1.4, "bloom": 0.2}}

    async def talk(client):
        for frame, given in enumerate((SCENE, scene), 1):
            await client.say("open", frame=frame, scene=given)
            await client.exact(frame)
        return client

    client = server.run(talk)
    said = [m["said"] for m in client.texts if m["t"] == "drawn" and m["frame"] == 2]
    assert said == ["3 of 3 samples"]
    assert np.array_equal(client.pixels, fractals.render(scene, size=SIZE, device="cpu").pixels)


def test_solids_have_thumbnails():
    for name in ("mandelbulb", "menger"):
        image = fractals.render(formula_scene(name), samples=1, bounces=0, device="cpu")
        assert image.pixels.shape == (144, 256, 3)
        assert np.ptp(image.pixels) > 100

"""Reliefs over the protocol, without a browser: they become finer, move and take other colors."""

import tomllib

import numpy as np
import pytest
from support.explorer import SIZE

import fractals

SCENE = {
    "formula": "mandelbrot",
    "view": {"center": ["-0.7454", "0.1130"], "width": "0.01"},
    "image": {"supersampling": 1},
    "relief": {"heights": "smooth", "tilt": 40},
    "light": {"samples": 3, "bounces": 1},
}


def test_a_relief_becomes_finer_moves_and_takes_colors(server):
    async def talk(client):
        await client.say("open", frame=1, scene=SCENE)
        placed = await client.until("placed", frame=1)
        await client.exact(1)
        first = client.pixels.copy()
        await client.say("view", frame=2, base=1, by=[160, 80], scale=30, turn=0)
        await client.until("placed", frame=2)
        await client.exact(2)
        moved = client.pixels.copy(), await client.ask("link", "link", frame=2)
        await client.say("paint", seq=1, color={"palette": "ember"})
        await client.until("painted", seq=1)
        await client.exact(2)
        return placed, first, moved, client

    placed, first, (pixels, link), client = server.run(talk)
    assert not placed["values"]
    assert np.linalg.norm(placed["sun"]) == pytest.approx(1)
    assert np.array_equal(first, fractals.render(placed["scene"], size=SIZE, device="cpu").pixels)
    scene = tomllib.loads(link["toml"])
    assert scene["relief"] == {"heights": "smooth", "rise": 0.1, "tilt": 40.0}
    assert np.array_equal(pixels, fractals.render(scene, device="cpu").pixels)
    said = [m["said"] for m in client.texts if m["t"] == "drawn" and m["frame"] == 1]
    assert said == ["a first look", "1 of 3 samples", "2 of 3 samples", "3 of 3 samples"]
    ember = fractals.render(scene, palette="ember", device="cpu").pixels
    assert np.array_equal(client.pixels, ember)

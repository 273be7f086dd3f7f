"""Solids over the protocol, without a browser: a drag goes around them, a zoom towards them."""

import math
import tomllib

import numpy as np
import pytest
from support.explorer import SIZE

import fractals
from fractals.errors import OptionError
from fractals.explorer import outside
from fractals.explorer.pages import formula_scene
from fractals.rendering.families import moves_of
from fractals.space.camera import flown, nearness
from fractals.space.plan import make_solid_plan

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


def test_a_camera_flies_and_a_pixel_tells_its_focus(server):
    async def talk(client):
        await client.say("open", frame=1, scene=SCENE)
        placed = await client.until("placed", frame=1)
        picked = [await client.ask("pick", "picked", frame=1, at=at) for at in ([16, 16], middle)]
        await client.say("view", frame=2, base=1, fly=[0, 0, 900, 1500, 0], stage="moving")
        flown = await client.until("placed", frame=2)
        await client.say("view", frame=3, base=2, by=[160, 0])
        await client.until("placed", frame=3)
        await client.exact(3)
        pixels = client.pixels.copy()
        link = await client.ask("link", "link", frame=3)
        await client.say("view", frame=4, base=3, fly=[0, 0, -36_000, 0, 0])
        away = await client.until("placed", frame=4)
        return placed, picked, flown, pixels, link, away

    middle = [8 * side for side in SIZE]
    placed, (sky, surface), flown, pixels, link, away = server.run(talk)
    assert sky["focus"] is None
    here, there = placed["space"]["position"], flown["space"]["position"]
    nearer = math.dist(here, there)
    assert 0.1 < nearer < surface["focus"] < math.dist(here, (0, 0, 0))
    assert placed["camera"]["field"] == 50
    assert "position" not in placed["camera"]
    assert flown["camera"]["position"] == there
    assert flown["map"] == [1, 0, 0, 1, 0, 0]
    assert [knob["name"] for knob in placed["space"]["knobs"]] == ["power", "theta", "phi"]
    assert np.array_equal(pixels, fractals.render(tomllib.loads(link["toml"]), device="cpu").pixels)
    assert math.hypot(*away["space"]["position"]) > 20  # far away, 2 radii at a time


def test_no_flight_passes_a_surface():
    scene = fractals.load_scene(formula="menger")
    plan = make_solid_plan(scene, "cpu", 1)
    for _ in range(30):
        scene = flown(scene, 0, 0, 3)
        left = nearness(plan, np.array(scene.camera.position))
        assert left > 0
    assert left < 1e-4
    flat = fractals.load_scene("seahorse")
    with pytest.raises(OptionError, match="'mandelbrot' is no solid"):
        flown(flat, 0, 0, 1)


def test_a_film_goes_no_nearer_than_a_camera_can():
    scene = fractals.load_scene(SCENE)
    moves = moves_of(scene)
    one, two = (moves.ends(scene, octaves)[1] for octaves in (40, 3000))
    assert one == two
    with pytest.raises(OptionError, match="would be too far away"):
        moves.ends(scene, -3000)


def test_a_film_flies_through_places_and_from_the_whole_solid(server):
    def at(*position):
        return outside.link_of(fractals.load_scene(SCENE, position=position, target=(0, 0, 0)))

    async def talk(client):
        await client.say("open", frame=1, scene=SCENE)
        await client.until("placed", frame=1)
        keys = {"frame": 1, "size": [32, 24], "fps": 10}
        places = [at(2.5, -2, 1), at(2, 2, 1), at(0.5, 2, 1.4)]
        wish = {**keys, "what": "places", "places": places, "seconds": 3}
        told = await client.ask("film", "forecast", job=1, forecast=True, **wish)
        await client.say("moments", job=2, at=[0, 3], width=32, **wish)
        first = await client.until("surprised", job=2, index=0)
        last = await client.until("surprised", job=2, index=1)
        onward = {**keys, "what": "onward", "octaves": 3, "forecast": True}
        nearer = await client.ask("film", "forecast", job=3, **onward)
        return told, first["scene"]["camera"], last["scene"]["camera"], nearer

    told, first, last, nearer = server.run(talk)
    assert told["frames"] == 30
    assert told["times"] == pytest.approx([0, 1.9, 3], abs=0.3)
    assert first["position"] == [2.5, -2, 1]
    assert last["position"] == pytest.approx([0.5, 2, 1.4])
    assert nearer["length"] > 1

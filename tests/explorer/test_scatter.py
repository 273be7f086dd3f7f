"""Scatter images over the protocol, without a browser: ever finer, the last picture exact."""

import asyncio
import threading
import tomllib

import numpy as np
import pytest
from support.explorer import PATIENCE, SIZE

import fractals
from fractals.explorer import packing
from fractals.scatter import play

FLAME = fractals.load_scene("bonfire").replace(size=SIZE, supersampling=1, quality=120).to_table()
MAP = {"formula": "clifford", "scatter": {"quality": 20}, "image": {"supersampling": 1}}
ORBITS = {
    "formula": {"name": "buddhabrot", "of": "mandelbrot", "cells": 1024},
    "iteration": {"max_iterations": 200},
    "scatter": {"quality": 4},
    "image": {"supersampling": 1},
}


def drawn(scene, **keys):
    return fractals.render(scene, size=SIZE, device="cpu", **keys).pixels


async def opened(client, scene, frame=1, **keys):
    await client.say("open", frame=frame, scene=scene, **keys)
    placed = await client.until("placed", frame=frame)
    return placed, await client.exact(frame)


def passes(client, frame):
    return [m["pass"] for m in client.texts if m["t"] == "drawn" and m["frame"] == frame]


@pytest.mark.parametrize("scene", [FLAME, MAP, ORBITS], ids=["flame", "attractor", "orbits"])
def test_a_scatter_image_becomes_finer_until_it_is_that_of_render(server, scene):
    async def talk(client):
        placed, exact = await opened(client, scene)
        return placed, exact, passes(client, 1), client

    placed, exact, names, client = server.run(talk)
    assert not placed["values"]
    assert names[-1] == "exact"
    assert set(names[:-1]) <= {"coarse", "finer"}
    assert len(names) > 1  # something was shown before
    quality = scene["scatter"]["quality"]
    assert exact["said"] == f"quality {quality:g}"
    assert {tile.kind for tile in client.tiles} == {packing.PIXELS}
    assert np.array_equal(client.pixels, drawn(placed["scene"]))


def test_a_first_picture_is_small_and_says_how_far_it_is(server):
    async def talk(client):
        await opened(client, MAP)
        return client

    client = server.run(talk, size=(320, 200))
    first = next(m for m in client.texts if m["t"] == "drawn")
    assert (first["pass"], first["said"]) == ("coarse", "a first look")
    tile = client.tiles[0]
    assert (tile.step, tile.w, tile.h) == (4, 80, 50)


def test_moves_replace_the_view(server):
    async def talk(client):
        await client.say("open", frame=1, scene=FLAME)
        await client.until("placed", frame=1)
        await client.say("view", frame=2, base=1, by=[160, 0], scale=20, turn=1500)
        placed = await client.until("placed", frame=2)
        await client.exact(2)
        await client.say("view", frame=3, base=2, scale=9, stage="moving")
        await client.exact(3)
        return placed, client, await client.ask("link", "link", frame=3)

    placed, client, link = server.run(talk)
    assert placed["map"]
    assert "[[formula.transforms]]" in link["toml"]
    assert np.array_equal(client.pixels, drawn(tomllib.loads(link["toml"])))
    exact = [m["frame"] for m in client.texts if m["t"] == "drawn" and m["pass"] == "exact"]
    assert exact[-2:] == [2, 3]


@pytest.fixture
def thrown(monkeypatch):
    """Return a list of the trajectories that are thrown."""
    found, add = [], play.MachineCounter.add

    def counted(self, trajectories, progress):
        found.append(trajectories)
        add(self, trajectories, progress)

    monkeypatch.setattr(play.MachineCounter, "add", counted)
    return found


def test_another_display_is_shown_without_iterating(server, thrown):
    async def talk(client):
        placed, _ = await opened(client, FLAME)
        thrown.clear()
        changed = {"gamma": 2.5, "brightness": 9.0, "vibrancy": 0.3, "highlight_power": 2.0}
        other = {**placed["scene"], "display": {**placed["scene"]["display"], **changed}}
        again, _ = await opened(client, other, frame=2, base=1)
        return again["scene"], client.pixels.copy(), list(thrown)

    scene, pixels, again = server.run(talk)
    assert again == []
    assert np.array_equal(pixels, drawn(scene))


def test_a_higher_quality_goes_on(server, thrown):
    async def talk(client):
        placed, _ = await opened(client, FLAME)
        chunks = max(part.stop for part in thrown)
        thrown.clear()
        other = {**placed["scene"], "scatter": {"quality": 300}}
        again, _ = await opened(client, other, frame=2, base=1)
        return again["scene"], client.pixels.copy(), chunks, list(thrown)

    scene, pixels, before, parts = server.run(talk)
    assert min(part.start for part in parts) == before
    assert np.array_equal(pixels, drawn(scene))


def test_another_palette_is_shown_nearly_right_before_points_are_thrown(server, monkeypatch):
    gate, add = threading.Event(), play.MachineCounter.add
    gate.set()
    monkeypatch.setattr(
        play.MachineCounter, "add", lambda *given: (gate.wait(PATIENCE), add(*given))
    )

    async def talk(client):
        placed, _ = await opened(client, FLAME)
        gate.clear()
        color = {**placed["scene"]["color"], "palette": "lagoon", "offset": 0.25}
        await client.say("paint", seq=1, color=color)
        painted = await client.until("painted", seq=1)
        first = await client.until("drawn", frame=1, paint=1)
        said, near = first["said"], client.pixels.copy()
        gate.set()
        await client.exact(1, paint=1)
        return {**placed["scene"], "color": painted["color"]}, said, near, client.pixels.copy()

    scene, said, near, pixels = server.run(talk)
    exact = drawn(scene)
    assert np.array_equal(pixels, exact)
    assert said == "quality 120, exact colors follow"
    assert np.abs(near.astype(int) - exact).mean() < 4
    old = drawn({**scene, "color": FLAME["color"]})
    assert np.abs(old.astype(int) - exact).mean() > 12


def test_what_is_of_escape_time_is_refused_in_one_line(server):
    async def talk(client):
        await opened(client, FLAME)
        lines = []
        for kind, keys in (
            ("find", {"job": 1, "what": "nucleus"}),
            ("histogram", {}),
            ("fit", {}),
        ):
            await client.say(kind, frame=1, **keys)
            lines.append(await client.refused())
        picked = await client.ask("pick", "picked", frame=1, at=[400, 300])
        return lines, picked

    lines, picked = server.run(talk)
    assert all("escape-time" in line for line in lines)
    assert picked["center"]
    assert picked["count"] is None


@pytest.mark.slow  # of other families fast ones: test_protocol.py
def test_surprises_are_flames_of_other_numbers(server):
    async def talk(client):
        await opened(client, FLAME)
        await client.say("surprise", job=7, frame=1, seed=3)
        await client.until("done", job=7)
        return [m for m in client.texts if m["t"] == "surprised"]

    found = server.run(talk)
    assert len(found) == 12
    flames = [m["scene"]["formula"] for m in found]
    assert all(flame["name"] == "flame" for flame in flames)
    assert sum(flame != FLAME["formula"] for flame in flames) >= 6


def test_others_are_drawn_for_meanwhile(server):
    long = {**FLAME, "scatter": {"quality": 100_000}}

    async def talk(client):
        await client.say("open", frame=1, scene=long)
        await client.until("drawn", frame=1)

        async def other():
            from support.explorer import Client

            async with server.connect() as socket:
                second = Client(socket, SIZE)
                await second.say("hello", v=1, size=list(SIZE), values=True, link="local")
                await second.until("welcome")
                await opened(second, MAP)
                return passes(second, 1)

        return await asyncio.wait_for(other(), 200), passes(client, 1)

    other, own = server.run(talk)
    assert other[-1] == "exact"
    assert "exact" not in own


def test_a_sheet_and_an_export_show_scatter_images(server):
    async def talk(client):
        await opened(client, FLAME)
        await client.say(
            "sheet",
            job=5,
            frame=1,
            scenes=[{"color": {"palette": "lagoon"}}, {"formula": "clifford"}],
        )
        await client.until("done", job=5)
        sheet = [m for m in client.texts if m["t"] == "surprised"]
        await client.say("export", job=6, frame=1, size=[64, 48], supersampling=1)
        exported = await client.until("exported", job=6)
        raw = {"job": 7, "frame": 1, "size": [64, 48], "format": "npz"}
        await client.say("export", **raw)
        return sheet, exported, await client.refused()

    sheet, exported, refused = server.run(talk)
    assert "this is for escape-time formulas" in refused
    assert [m["index"] for m in sheet] == [0, 1]
    assert exported["bytes"] > 1000


def test_the_command_of_a_flame_with_two_transforms_draws_its_file(server):
    async def talk(client):
        await client.say("open", frame=1, gallery="plume")
        await client.until("placed")
        return await client.ask("link", "link", frame=1)

    answer = server.run(talk)
    assert answer["command"] == "fractals render scene.toml"
    assert len(tomllib.loads(answer["toml"])["formula"]["transforms"]) == 2

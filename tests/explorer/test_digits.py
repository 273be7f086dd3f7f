"""Views beyond 4300 digits, which Python's int() and str() refuse to read and to write."""

from decimal import Decimal
from itertools import product

import pytest
from support.scenes import slow_but

from fractals.errors import SceneError
from fractals.explorer import outside

DEPTHS = [4400, 19_990]
KEYS = ["width", "zoom", "digits"]
OUTSIDE = ["1.25", "1"]  # escapes at once, so that the picture costs nothing


async def talk_of(client, scene, **keys):
    await client.say("open", frame=1, scene=scene, **keys)
    placed = [await client.until("placed", frame=1)]
    moves = [{"by": [160, 32]}, {"at": [16, 16], "scale": 64}, {"turn": 900}, {"scale": -128}]
    for frame, move in enumerate(moves, 2):
        await client.say("view", frame=frame, base=frame - 1, **move)
        placed.append(await client.until("placed", frame=frame))
    await client.say("view", frame=6, base=2, by=[-160, -32])
    placed.append(await client.until("placed", frame=6))
    picked = await client.ask("pick", "picked", frame=6, at=[16, 16])
    link = await client.ask("link", "link", frame=5)
    await client.say("open", frame=7, link=link["link"])
    placed.append(await client.until("placed", frame=7))
    await client.say("open", frame=8, toml=link["toml"])
    placed.append(await client.until("placed", frame=8))
    await client.say("julia", seq=1, frame=6, at=[16, 16], size=32)
    kept = await client.ask("bookmark", "bookmarks", frame=6, title="deep")
    await client.say("open", frame=9, link=kept["items"][0]["link"])
    placed.append(await client.until("placed", frame=9))
    await client.exact(9)
    return placed, picked, link


@pytest.mark.parametrize(
    ("key", "depth"),
    slow_but(
        [*product(KEYS, DEPTHS[:1]), ("zoom", DEPTHS[1])],
        [*product(KEYS, DEPTHS)],
    ),
)
def test_a_view_of_any_depth_moves_and_is_kept(own_server, depth, key):
    texts = {"width": f"3e-{depth}", "zoom": f"1e{depth}", "digits": f"0.{'0' * (depth - 1)}3"}
    view = {"center": OUTSIDE, "zoom" if key == "zoom" else "width": texts[key]}
    scene = {"view": view, "iteration": {"max_iterations": 100}}
    placed, picked, link = own_server().run(lambda client: talk_of(client, scene))
    first, moved, *_, back, linked, toml, bookmarked = placed
    assert abs(first["octaves"] / depth - 3.3219) < 0.01
    assert len(moved["center"][0]) > depth
    assert Decimal(moved["center"][0]) < Decimal(first["center"][0])
    assert [Decimal(part) for part in back["center"]] == [Decimal(part) for part in OUTSIDE]
    assert linked["center"] == toml["center"]
    assert linked["center"] == placed[4]["center"]
    assert linked["width"] == placed[4]["width"]
    assert bookmarked["center"] == back["center"]
    assert len(picked["center"][0]) > depth
    assert f"--width={placed[4]['width']}" in link["command"]


@pytest.mark.parametrize("key", ["zoom", "width", "center"])
def test_a_long_integer_is_refused_in_one_line(server, key):
    digits = "1" + "0" * 4400
    value = f'["0",{digits}]' if key == "center" else digits
    message = f'{{"t":"open","frame":1,"scene":{{"view":{{"{key}":{value}}}}}}}'

    async def talk(client):
        await client.socket.send(message)
        return await client.receive()

    found = server.run(talk)
    assert found["t"] == "error"
    assert "internal" not in found["message"]
    for table in ({"view": {key: 10**4400}}, {"formula": {"name": "multibrot", "power": 10**4400}}):
        with pytest.raises(SceneError, match="an integer has too many digits"):
            outside.scene_of(table)

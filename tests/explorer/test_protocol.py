"""The protocol without a browser: newest view wins, bad messages, jobs, many clients."""

import asyncio
import base64
import json
import math
import re
import socket
import time
from functools import partial
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import PIL.Image
import pytest
from support.explorer import PATIENCE, SIZE, Client, pixels_of

import fractals
from fractals import catalog
from fractals.errors import OptionError
from fractals.explorer import packing, protocol, shown
from fractals.scatter import refine

SEAHORSE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}


async def opened(client, frame=1, **keys):
    await client.say("open", frame=frame, scene=SEAHORSE, **keys)
    return await client.until("placed", frame=frame)


def test_the_newest_view_wins(server):
    async def talk(client):
        await opened(client)
        for frame in range(2, 40):
            await client.say("view", frame=frame, base=frame - 1, at=[700, 500], scale=8)
        await client.exact(39)
        finished = {m["frame"] for m in client.texts if m["t"] == "drawn" and m["pass"] == "exact"}
        placed = [m["frame"] for m in client.texts if m["t"] == "placed"]
        return finished, placed

    finished, placed = server.run(talk)
    assert 39 in finished
    assert len(finished - {1, 39}) == 0  # the others were given up
    assert placed == list(range(1, 40))


def test_a_moving_view_is_only_coarse_until_it_rests(server):
    async def talk(client):
        await opened(client)
        await client.exact(1)
        await client.say("view", frame=2, base=1, scale=9, stage="moving")
        await client.until("drawn", frame=2)
        await client.say("view", frame=3, base=2, scale=9, stage="moving")
        await client.exact(3)
        return [(m["frame"], m["pass"]) for m in client.texts if m["t"] == "drawn"]

    drawn = server.run(talk)
    assert (2, "coarse") in drawn
    assert (2, "values") not in drawn
    assert drawn[-3:] == [(3, "coarse"), (3, "values"), (3, "exact")]


SHARED = {
    "values and pixels": {**SEAHORSE, "image": {"supersampling": 2}},
    "ranks": {**SEAHORSE, "color": {"coloring": "rank"}, "image": {"supersampling": 2}},
    "points": {"formula": "clifford", "scatter": {"quality": 100}},
    "light": {"formula": "mandelbulb", "light": {"samples": 5, "bounces": 1}},
}


@pytest.mark.parametrize("scene", SHARED.values(), ids=SHARED.keys())
def test_which_share_of_the_work_is_done_is_told_with_the_seconds_left(server, monkeypatch, scene):
    monkeypatch.setattr(shown, "STATUS_SECONDS", 0.0)
    # A fast machine may count all points in two blocks, and the first begins the measure
    monkeypatch.setattr(refine, "STEP_SECONDS", 0.001)

    async def talk(client):
        await client.say("open", frame=1, scene=scene)
        await client.exact(1)
        return client.texts

    texts = server.run(talk, size=(320, 240))
    told = [m for m in texts if m["t"] == "status" and "share" in m]
    shares = [m["share"] for m in told]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1
    assert all(m["left"] >= 0 for m in told)
    assert all(m["left"] == 0 for m in told if m["share"] == 1)


def test_the_rest_of_a_view_takes_as_long_as_the_work_before(monkeypatch):
    now = 10.0
    monkeypatch.setattr(shown, "monotonic", lambda: now)
    ahead = shown.Ahead(0.2)
    now = 10.1
    assert ahead.left(0.3) is None  # it was told just now
    now = 12.0
    assert ahead.left(0.2) is None  # nothing is done yet
    assert ahead.left(0.6) == 2.0
    assert ahead.left(0.7) is None
    now = 13.0
    assert ahead.left(0.8) == 1.0


def test_a_first_look_is_no_part_of_the_pace_of_a_refined_view(monkeypatch):
    """The rest of a flame took 5 s, and 4 minutes were told."""
    now = 0.0
    monkeypatch.setattr(shown, "monotonic", lambda: now)
    view = MagicMock(ahead=None, moving=False, frame=1)
    for name in ("worked", "send"):
        getattr(view, name).return_value = ()
    view.engine = MagicMock(**{"prepared.return_value": (), "spent.return_value": 0.0})
    view.send_ahead = partial(shown.RefinedView.send_ahead, view)

    def pictures():
        nonlocal now
        look = SimpleNamespace(exact=False, step=4, said="a first look")
        for seconds, share, picture in [(9, 0, look), (1, 0.01, None), (1, 0.51, None)]:
            now += seconds
            view.refinement.share = share
            yield picture

    view.refinement = SimpleNamespace(share=0.0, pictures=pictures, kept=0)
    list(shown.RefinedView.passes(view))
    told = [call.kwargs for call in view.say.call_args_list]
    assert told == [{"frame": 1, "what": "exact", "share": 0.51, "left": 1.0}]


def test_counts_that_rounding_may_change_are_told(server):
    center = ["1.598886233785331", "0.425796647768689"]  # orbits take long to converge
    noisy = {"formula": "nova", "view": {"center": center, "width": "5e-11"}}
    noisy["iteration"] = {"precision": "float64"}

    async def talk(client):
        await opened(client)
        exact = await client.exact(1)
        await client.say("open", frame=2, scene=noisy)
        return exact, await client.exact(2)

    exact, rounded = server.run(talk)
    assert "note" not in exact
    assert rounded["note"].startswith("counts of up to ")


def test_an_older_frame_is_shown_again(server):
    async def talk(client):
        first = await opened(client)
        await client.say("view", frame=2, base=1, at=[5, 5], scale=640, by=[160, 0])
        await client.until("placed", frame=2)
        await client.say("view", frame=3, base=1)
        return first, await client.until("placed", frame=3)

    first, again = server.run(talk)
    assert (first["center"], first["width"]) == (again["center"], again["width"])
    assert again["map"] == [1, 0, 0, 1, 0, 0]


def test_a_view_too_deep_for_the_formula_is_an_error_and_the_base_stays(server):
    async def talk(client):
        places = [digits + 40 * "0" for digits in ("1.5", "0.4")]
        deep = {"formula": "nova", "view": {"center": places, "width": "1e-16"}}
        await client.say("open", frame=1, scene=deep)
        await client.until("placed", frame=1)
        await client.say("view", frame=2, base=1, scale=4096)
        while True:
            found = await client.receive()
            if isinstance(found, dict) and found["t"] == "error":
                break
        await client.say("view", frame=3, base=1, scale=16)
        await client.until("placed", frame=3)
        return found

    found = server.run(talk)
    assert (found["re"], found["frame"]) == ("view", 2)
    assert "perturbed step" in found["message"]


BAD = [
    "",
    "{",
    "null",
    "[]",
    "7",
    '"view"',
    "[" * 5000,
    '{"t":1}',
    '{"t":"nothing"}',
    '{"t":"hello","v":1,"size":[10,10]}',
    '{"t":"open"}',
    '{"t":"open","frame":0}',
    '{"t":"open","frame":true}',
    '{"t":"open","frame":1e3}',
    '{"t":"open","frame":99999999999}',
    '{"t":"open","frame":9,"scene":[]}',
    '{"t":"open","frame":9,"scene":{"view":{"center":["a","b"]}}}',
    '{"t":"open","frame":9,"scene":{"view":{"width":"1e99999999"}}}',
    '{"t":"open","frame":9,"scene":{"view":{"width":"1e-30000"}}}',
    '{"t":"open","frame":9,"scene":{"view":{"width":"' + "1" * 30_000 + '"}}}',
    '{"t":"open","frame":9,"scene":{"view":{"rotation":NaN}}}',
    '{"t":"open","frame":9,"scene":{"view":{"rotation":1e999}}}',
    '{"t":"open","frame":9,"scene":{"formula":"z**' + "9" * 400 + '"}}',
    '{"t":"open","frame":9,"scene":{"formula":"__import__(1)"}}',
    '{"t":"open","frame":9,"scene":{"formula":"/etc/passwd.py"}}',
    '{"t":"open","frame":9,"scene":{"color":{"palette":"/etc/passwd"}}}',
    '{"t":"open","frame":9,"scene":{"color":{"palette":"cmap:viridis"}}}',
    '{"t":"open","frame":9,"scene":{"color":{"coloring":{"name":"picture_trap","picture":"/x.png"}}}}',
    '{"t":"open","frame":9,"scene":{"color":{"layers":[{"picture_mask":"/x.png"}]}}}',
    '{"t":"open","frame":9,"scene":{"color":{"palette":{"stops":["x"]}}}}',
    '{"t":"open","frame":9,"toml":"a = [[[["}',
    '{"t":"open","frame":9,"link":"AAAA"}',
    '{"t":"open","frame":9,"link":"/etc/passwd"}',
    '{"t":"open","frame":9,"gallery":"../../etc/passwd"}',
    '{"t":"open","frame":9,"gallery":"seahorse","formula":"mandelbrot"}',
    '{"t":"open","frame":9,"size":[99999,1]}',
    '{"t":"open","frame":9,"julia":{"frame":77,"at":[0,0]}}',
    '{"t":"view","frame":9,"base":77}',
    '{"t":"view","frame":1,"base":1}',
    '{"t":"view","frame":9,"base":1,"scale":1.5}',
    '{"t":"view","frame":9,"base":1,"scale":99999}',
    '{"t":"view","frame":9,"base":1,"at":[1]}',
    '{"t":"view","frame":9,"base":1,"at":[1e9,2]}',
    '{"t":"view","frame":9,"base":1,"about":3}',
    '{"t":"view","frame":9,"base":1,"unknown":3}',
    '{"t":"paint","seq":0,"color":{}}',
    '{"t":"paint","seq":1,"color":{"palette":"nope"}}',
    '{"t":"paint","seq":1,"color":{"layers":' + json.dumps([{}] * 40) + "}}",
    '{"t":"lookup","seq":1,"palette":"nope"}',
    '{"t":"lookup","seq":1,"palette":"ember","inside":"nope"}',
    '{"t":"pick","frame":77,"at":[0,0]}',
    '{"t":"julia","seq":1,"frame":1,"at":[0,0],"size":100000}',
    '{"t":"histogram","frame":1,"layer":5}',
    '{"t":"find","job":1,"what":"everything","frame":1}',
    '{"t":"find","job":1,"what":"nucleus","frame":1,"rect":[5,5,5,5]}',
    '{"t":"export","job":1,"frame":1,"size":[999999,9]}',
    '{"t":"export","job":1,"frame":1,"size":[30000,30000],"supersampling":8}',
    '{"t":"cancel","job":77}',
    '{"t":"bookmark","remove":"../../etc/passwd"}',
    '{"t":"bookmark","remove":"' + "0" * 32 + '"}',
    '{"t":"bookmark"}',
    '{"t":"bookmark","order":["../../etc/passwd"]}',
    '{"t":"sheet","job":1,"frame":1,"scenes":[]}',
    '{"t":"sheet","job":1,"frame":1,"scenes":' + json.dumps([{}] * 41) + "}",
    '{"t":"sheet","job":1,"frame":77,"scenes":[{}]}',
    '{"t":"link","frame":77}',
    '{"t":"pick","frame":1,"at":[0,0],"x":"' + "y" * 70_000 + '"}',
    r'{"t":"open","frame":9,"toml":"\ud800"}',
]


@pytest.fixture(scope="module")
def bad_answers(server):
    """Return the answers to all bad messages, sent slowly enough, and whether the server lives."""

    async def talk(client):
        await opened(client)
        await client.exact(1)
        found = []
        for text in BAD:
            await client.socket.send(text)
            while True:
                message = await client.receive()
                if isinstance(message, dict) and message["t"] != "status":
                    break
            found.append(message)
            await asyncio.sleep(1 / 30)
        await client.say("view", frame=10, base=1, scale=4)
        await client.exact(10)
        return found

    return server.run(talk)


@pytest.mark.parametrize("k", range(len(BAD)), ids=[text[:60] for text in BAD])
def test_a_bad_message_gets_one_line_and_ends_nothing(bad_answers, k):
    answer = bad_answers[k]
    assert answer["t"] == "error"
    assert 0 < len(answer["message"]) < 1000
    assert "\n" not in answer["message"]
    assert "internal error" not in answer["message"]
    assert "Traceback" not in answer["message"]


def test_errors_do_not_tell_whether_a_file_exists(server):
    async def talk(client):
        found = []
        for name in ("/etc/passwd", "/etc/no-such-file", "/etc/passwd.map", "/etc/none.map"):
            await client.say("open", frame=1, scene={"color": {"palette": name}})
            found.append((await client.receive())["message"].replace(name, "NAME"))
        return found

    first, second, third, fourth = server.run(talk)
    assert first == second
    assert third == fourth


def test_the_first_message_is_hello(server):
    async def talk():
        async with server.connect() as socket:
            client = Client(socket, SIZE)
            await client.say("open", frame=1)
            return await client.receive()

    assert "hello" in asyncio.run(talk())["message"]


def test_too_many_messages_close_the_connection(server):
    async def talk(client):
        for _ in range(400):
            await client.say("go_on", frame=1)
        async with asyncio.timeout(60):
            while True:
                await client.receive()

    with pytest.raises(Exception, match="4429"):
        server.run(talk)


def test_pick_fit_histogram_and_lookup(server):
    raw = fractals.compute(SEAHORSE, size=SIZE, supersampling=1, device="cpu", coloring="distance")
    x, y = 40, 30

    async def talk(client):
        await opened(client)
        await client.exact(1)
        found = [
            await client.ask("pick", "picked", frame=1, at=[16 * x + 8, 16 * y + 8], full=True),
            await client.ask("fit", "fit", frame=1),
            await client.ask("histogram", "histogram", frame=1, bins=16),
        ]
        await client.say("lookup", seq=5, palette=["#000000", "#ffffff"])
        found.append(await client.receive())
        return found

    picked, fit, histogram, table = server.run(talk)
    assert picked["count"] == raw.count[y, x]
    z, dz = abs(raw.z[y, x]), abs(raw.dz[y, x])
    assert float(picked["distance"]) == pytest.approx(2 * z * math.log(z) / dz, rel=1e-3)
    assert picked["center"][0].startswith("-0.74")
    assert fit["density"] > 0
    assert fit["layer"] == 0
    assert sum(histogram["counts"]) > 0
    assert histogram["low"] < histogram["high"]
    assert (table.kind, table.frame, len(table.payload)) == (packing.TABLE, 5, 4098 * 6)


def test_julia_previews_and_sets(server):
    async def talk(client):
        await opened(client)
        await client.say("julia", seq=9, frame=1, at=[500, 400], size=64)
        while True:
            tile = await client.receive()
            if not isinstance(tile, dict) and tile.kind == packing.PREVIEW:
                break
        await client.say("open", frame=2, julia={"frame": 1, "at": [500, 400]})
        return tile, await client.until("placed", frame=2)

    tile, placed = server.run(talk)
    assert (tile.frame, tile.w, tile.h) == (9, 64, 64)
    assert placed["formula"].startswith("Julia set of z² + c, c = -0.7")
    drawn = fractals.render(
        {"julia": placed["julia"]}, size=(64, 64), supersampling=1, device="cpu"
    )
    assert np.array_equal(np.frombuffer(tile.payload, np.uint8).reshape(64, 64, 3), drawn.pixels)


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_what_several_threads_deflate_is_one_stream(threads):
    pixels = np.random.default_rng(1).integers(0, 256, (257, 255, 3), np.uint8)
    pixels[100:] = 7
    message = packing.pack_pixels(packing.Where(1, w=255, h=257), pixels, True, threads=threads)
    change = np.frombuffer(packing.unpack(message)[1], np.uint8).reshape(pixels.shape)
    assert np.array_equal(np.cumsum(change, axis=0, dtype=np.uint8), pixels)


def test_find_a_nucleus_and_fly_to_it(server):
    async def talk(client):
        await client.say(
            "open", frame=1, scene={"view": {"center": ["-1.75", "0"], "width": "0.1"}}
        )
        await client.until("placed")
        found = await client.ask("find", "found", job=1, what="nucleus", frame=1)
        await client.say("view", frame=2, base=1, about=1, scale=640)
        near = await client.until("placed", frame=2)
        await client.say("open", frame=3, base=1, scene=found["scene"])
        return found, near, await client.until("placed", frame=3)

    found, near, shown = server.run(talk)
    assert found["period"] == 3
    assert shown["center"] == found["center"]
    assert abs(float(near["center"][0]) - float(found["center"][0])) < float(near["width"])


def test_a_search_is_cancelled(server):
    async def talk(client):
        await client.say("open", frame=1, gallery="caravan")
        await client.until("placed")
        await client.say("find", job=4, what="nucleus", frame=1)
        await client.say("find", job=5, what="nucleus", frame=1)
        while (found := await client.receive()) and not (
            isinstance(found, dict) and found["t"] == "error"
        ):
            pass
        await client.say("cancel", job=4)
        while (ended := await client.receive()) and not (
            isinstance(ended, dict) and ended["t"] == "failed"
        ):
            pass
        return found, ended

    refused, ended = server.run(talk)
    assert (refused["job"], refused["message"].partition(":")[0]) == (5, "one at a time")
    assert (ended["job"], ended["cancelled"]) == (4, True)
    assert not server.explorer.jobs.running


def test_jobs_end_with_their_client_unless_they_are_kept(server):
    async def talk(client):
        await client.say("open", frame=1, gallery="caravan")
        await client.until("placed")
        await client.say("find", job=4, what="nucleus", frame=1)
        await client.say("link", frame=1)
        await client.until("link")

    server.run(talk)
    deadline = time.monotonic() + 60
    while server.explorer.jobs.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_export_is_forecast_by_the_speed_of_the_view_and_cancelled(server):
    async def talk(client):
        await opened(client)
        await client.exact(1)
        (session,) = server.explorer.sessions
        rate = session.shown.rate
        forecast = await client.ask(
            "export", "forecast", job=1, frame=1, size=[9000, 9000], supersampling=4, forecast=True
        )
        await client.say("export", job=2, frame=1, size=[9000, 9000], supersampling=4)
        await client.until("progress", job=2)
        return rate, forecast, await client.ask("cancel", "failed", job=2)

    before = set(server.explorer.jobs.folder.iterdir())
    rate, forecast, ended = server.run(talk)
    threads = server.explorer.engine.choice.device.cores or 1
    assert forecast["seconds"] == float(f"{16 * 9000**2 / rate / threads:.2g}")
    assert (ended["job"], ended["cancelled"]) == (2, True)
    assert not server.explorer.jobs.running
    assert set(server.explorer.jobs.folder.iterdir()) == before


def test_export_is_what_was_seen(server, tmp_path):
    async def talk(client):
        await opened(client)
        forecast = await client.ask(
            "export", "forecast", job=1, frame=1, size=[64, 48], forecast=True
        )
        found = await client.ask("export", "exported", job=2, frame=1, size=[64, 48])
        return forecast, found, (await client.ask("link", "link", frame=1))["toml"]

    forecast, found, toml = server.run(talk)
    assert forecast["samples"] == 64 * 48 * 4
    name = found["url"].split("/")[2]
    path = server.explorer.jobs.files[name].path
    assert path.stat().st_size == found["bytes"]
    assert path.parent.stat().st_mode & 0o777 == 0o700
    scene = fractals.load_scene(path)
    (tmp_path / "scene.toml").write_text(toml)
    assert scene.view == fractals.load_scene(tmp_path / "scene.toml").view
    with PIL.Image.open(path) as picture:
        assert np.array_equal(np.asarray(picture), fractals.render(scene, device="cpu").pixels)


def test_a_page_for_a_friend_has_the_picture_and_its_scene_and_asks_nobody(server, tmp_path):
    said = {"title": "A & B </script>", "author": "<b>", "note": 'so "deep" $picture'}

    async def talk(client):
        await client.say("open", frame=1, scene={**SEAHORSE, **said})
        await client.until("placed", frame=1)
        return await client.ask("export", "exported", job=2, frame=1, size=[64, 48], format="html")

    found = server.run(talk)
    path = server.explorer.jobs.files[found["url"].split("/")[2]].path
    assert (found["url"][-5:], found["bytes"]) == (".html", path.stat().st_size)
    text = path.read_text()
    (data,) = re.findall(r'src="data:image/webp;base64,([^"]*)"', text)
    (tmp_path / "a.webp").write_bytes(base64.b64decode(data))
    scene = fractals.load_scene(tmp_path / "a.webp")
    (toml,) = re.findall(r'href="data:application/toml;base64,([^"]*)"', text)
    (tmp_path / "a.toml").write_bytes(base64.b64decode(toml))
    assert fractals.load_scene(tmp_path / "a.toml") == scene
    assert (scene.title, scene.image.size) == (said["title"], (64, 48))
    assert "<title>A &amp; B &lt;/script&gt;</title>" in text
    assert "&lt;b&gt;" in text
    assert text.count("</script>") == 3
    assert not re.search("(src|href)=.?(https?:|//|/)", text)
    assert len(text) < 120_000 + 1.4 * len(data)


@pytest.mark.parametrize("kind", ["npz", "exr"])
def test_raw_numbers_of_what_was_seen_are_exported(server, kind):
    if kind == "exr":
        pytest.importorskip("OpenEXR", exc_type=ImportError)
    asked = {"frame": 1, "size": [64, 48], "supersampling": 1, "format": kind}

    async def talk(client):
        await opened(client)
        forecast = await client.ask("export", "forecast", job=1, forecast=True, **asked)
        return forecast, await client.ask("export", "exported", job=2, **asked)

    forecast, found = server.run(talk)
    path = server.explorer.jobs.files[found["url"].split("/")[2]].path
    raw = fractals.EscapeData.load(path)
    again = fractals.compute(raw.scene, device="cpu")
    assert raw.scene.view.center == tuple(SEAHORSE["view"]["center"])
    assert np.array_equal(raw.count, again.count)
    assert forecast["memory"] > again.count.nbytes + again.z.nbytes


@pytest.mark.parametrize("at", [(1280, 960), (0, 0), (2559, 1919)], ids=["middle", "first", "last"])
def test_a_loupe_has_the_pixels_of_the_export(server, at):
    size = [400, 225]

    async def talk(client):
        scene = (await opened(client))["scene"]
        await client.say("loupe", job=1, frame=1, at=at, size=size, width=64)
        await client.until("done", job=1)
        return [tile for tile in client.tiles if tile.kind == packing.PREVIEW][-1], scene

    tile, scene = server.run(talk, size=(160, 120))
    whole = fractals.render(scene, size=size, supersampling=2, device="cpu").pixels
    x = {1280: 168, 0: 0, 2559: 336}[at[0]]
    y = {960: 80, 0: 0, 1919: 161}[at[1]]
    assert np.array_equal(pixels_of(tile), whole[y : y + 64, x : x + 64])


def test_a_loupe_says_where_colors_depend_on_all(server):
    async def talk(client):
        await client.say("open", frame=1, scene={**SEAHORSE, "color": {"coloring": "rank"}})
        await client.say("loupe", job=1, frame=1, at=[0, 0], size=[400, 225])
        return await client.refused()

    assert "depend on the whole picture" in server.run(talk)


def test_bookmarks_are_scenes_in_files(server):
    async def talk(client):
        await opened(client)
        kept = await client.ask("bookmark", "bookmarks", frame=1, title="A <b>place</b>")
        await client.say("open", frame=2, link=kept["items"][0]["link"])
        again = await client.until("placed", frame=2)
        rest = await client.ask("bookmark", "bookmarks", remove=kept["items"][0]["id"])
        return kept["items"], again, rest["items"]

    items, again, rest = server.run(talk)
    assert [item["title"] for item in items] == ["A <b>place</b>"]
    assert again["center"] == SEAHORSE["view"]["center"]
    assert rest == []


def test_films_of_scenes_from_outside_are_left_out(server):
    """Tracks could name files, and numbers of keys may have any size."""
    film = {"keys": [{"at": 0, "width": "1e-999999999"}], "tracks": {"offset": "/etc/passwd"}}

    async def talk(client):
        await client.say("open", frame=1, scene={**SEAHORSE, "film": film})
        await client.until("placed", frame=1)
        return await client.ask("link", "link", frame=1)

    assert "film" not in server.run(talk)["toml"]


def test_a_scene_is_told_in_the_words_of_other_programs(server):
    async def talk(client):
        await opened(client)
        await client.exact(1)
        seahorse = await client.ask("link", "link", frame=1)
        await client.say("open", frame=2, scene={**SEAHORSE, "julia": ["-0.8", "0.156"]})
        await client.exact(2)
        return seahorse["others"], (await client.ask("link", "link", frame=2))["others"]

    others, of_julia = server.run(talk)
    assert [each["name"] for each in others] == ["kfr", "fraktaler3"]
    assert of_julia == []  # neither has Julia sets
    kfr, fraktaler3 = (each["text"].encode() for each in others)
    for module, text in (("kfr", kfr), ("fraktaler3", fraktaler3)):
        view = catalog.load("format", module)().read(text, "").table["view"]
        assert [float(part) for part in view["center"]] == [-0.7453, 0.1127]


def test_surprises_are_scenes_with_previews(server):
    async def talk(client):
        await opened(client)
        await client.say("surprise", job=3, frame=1)
        found = await client.until("surprised", job=3)
        tile = await client.receive()
        await client.say("cancel", job=3)
        while (ended := await client.receive()) and not (
            isinstance(ended, dict) and ended["t"] == "failed"
        ):
            pass
        await client.say("open", frame=2, scene=found["scene"])
        await client.until("placed", frame=2)
        return found, tile

    found, tile = server.run(talk)
    assert found["index"] == 0
    assert (tile.kind, tile.frame, tile.layer) == (packing.PREVIEW, 3, 0)


def test_a_sheet_shows_scenes_that_differ_from_the_frames_in_some_keys(server):
    file = {"color": {"palette": "/etc/passwd"}}
    stripes = {"color": {"coloring": "stripe_average"}}

    async def talk(client):
        await opened(client)
        scenes = [{"julia": ["-0.8", "0.156"]}, file, stripes]
        found = []
        for job, fit in ((4, False), (5, True)):
            await client.say("sheet", job=job, frame=1, scenes=scenes, fit=fit, width=48)
            told = await client.receive()
            while not (isinstance(told, dict) and told["t"] == "done"):
                if isinstance(told, dict) and told["t"] == "surprised":
                    found.append((told, await client.receive()))
                told = await client.receive()
        return found

    found = server.run(talk)
    assert [told["index"] for told, _ in found] == [0, 2, 0, 2]  # no file is opened
    (julia, tile), (plain, _), _, (fitted, _) = found
    assert julia["scene"]["julia"] == ["-0.8", "0.156"]
    assert not julia["scene"].get("title")
    pixels = np.frombuffer(tile.payload, np.uint8).reshape(32, 48, 3)
    drawn = fractals.render(julia["scene"], size=(48, 32), supersampling=2, device="cpu")
    assert np.array_equal(pixels, drawn.pixels)
    assert plain["scene"]["color"].get("density", 1) == 1
    assert fitted["scene"]["color"]["density"] > 2


def test_a_sheet_of_a_flame_shows_scenes_of_other_kinds_too(server):
    plain = {"variations": {"linear": 1}}
    maps = [{**plain, "affine": [0.5, 0, *at]} for at in ([0, 0, 0.5, 0], [1, 0, 0.5, 0.2])]
    maps.append({**plain, "affine": [0.5, 0, 0.2, 0, 0.5, 1], "color": 1})
    table = {"scatter": {"quality": 2}, "image": {"supersampling": 1}}
    flame = {**table, "formula": {"name": "flame", "transforms": [*maps, maps[0]]}}
    flat = {**dict.fromkeys(("scatter", "display", "title")), "formula": "mandelbrot", "view": {}}

    async def talk(client):
        await client.say("open", frame=1, scene=flame)
        await client.until("placed", frame=1)
        scenes = [{"formula": {"name": "flame", "transforms": maps}}, flat]
        await client.say("sheet", job=4, frame=1, scenes=scenes, fit=True, width=48)
        found = []
        while not (isinstance(told := await client.receive(), dict) and told["t"] == "done"):
            if isinstance(told, dict) and told["t"] == "surprised":
                found.append(told)
        return found

    (first, plain) = server.run(talk)
    assert len(first["scene"]["formula"]["transforms"]) == 3
    assert first["scene"]["scatter"]["quality"] == 2
    assert not {"scatter", "display"} & set(plain["scene"])


def test_interesting_views_are_found_in_a_frame(server):
    async def talk(client):
        await opened(client)
        return await client.ask("find", "found", job=6, what="interesting", frame=1)

    views = server.run(talk)["views"]
    scores = [view["score"] for view in views]
    assert 1 < len(views) <= 6
    assert scores == sorted(scores, reverse=True)
    width = float(SEAHORSE["view"]["width"])
    for view in views:
        assert float(view["width"]) == pytest.approx(width / 8, rel=1e-3)
        gaps = [
            abs(float(a) - float(b))
            for a, b in zip(view["center"], SEAHORSE["view"]["center"], strict=True)
        ]
        assert max(gaps) < width / 2


def test_bookmarks_have_an_order(server):
    async def talk(client):
        await opened(client)
        for title in "ABC":
            kept = await client.ask("bookmark", "bookmarks", frame=1, title=title)
            await asyncio.sleep(0.02)
        ids = [item["id"] for item in kept["items"]]
        wanted = [ids[2], ids[0], ids[1]]
        sorted_ = await client.ask("bookmark", "bookmarks", order=wanted)
        kept = await client.ask("bookmark", "bookmarks", frame=1, title="D")
        missing = await client.ask("bookmark", "error", order=wanted)
        for item in kept["items"]:
            await client.ask("bookmark", "bookmarks", remove=item["id"])
        return sorted_["items"], kept["items"], missing

    ordered, kept, missing = server.run(talk)
    assert [item["title"] for item in ordered] == ["A", "C", "B"]
    assert [item["title"] for item in kept] == ["D", "A", "C", "B"]  # the newest on top
    assert "open the list again" in missing["message"]


def test_a_client_that_never_reads_does_not_grow_memory(server):
    """What waits for it is bounded, and the others are served meanwhile."""

    async def talk(client):
        # The system would enlarge buffers until the whole view fits into them.
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        small.connect(("127.0.0.1", server.port))
        async with server.connect(sock=small) as silent:
            other = Client(silent, SIZE)
            await other.say("hello", v=1, size=list(SIZE))
            await other.say("open", frame=1, scene=SEAHORSE, size=[4000, 3000])
            await client.say("open", frame=1, scene=SEAHORSE)
            await client.exact(1)
            after = 0
            async with asyncio.timeout(PATIENCE):
                while after < 50:  # looks, once it waits for room
                    await asyncio.sleep(0.02)
                    waiting = max(each.outbox._bytes for each in server.explorer.sessions)
                    assert waiting < 16 * 2**20
                    after += waiting > 2**19  # the view is not whole

    server.run(talk)


def test_100_clients(own_server):
    server = own_server(clients=8)

    async def one(k):
        try:
            async with server.connect() as socket:
                client = Client(socket, SIZE)
                await client.say("hello", v=1, size=list(SIZE))
                await client.say("open", frame=1, scene=SEAHORSE)
                await client.exact(1)
                return "drawn"
        except Exception as error:
            return "full" if "1013" in str(error) or "503" in str(error) else repr(error)

    async def all_of_them():
        return await asyncio.gather(*(one(k) for k in range(100)))

    answers = asyncio.run(all_of_them())
    assert set(answers) == {"drawn", "full"}
    assert answers.count("drawn") >= 8
    assert server.run(lambda client: client.ask("link", "error", frame=1))  # it serves on


def test_a_read_only_server_keeps_nothing(own_server):
    server = own_server(read_only=True)

    async def talk(client):
        await opened(client)
        found = []
        for kind, keys in (("bookmark", {"frame": 1}), ("export", {"job": 1, "frame": 1})):
            more = {"size": [8, 8]} if kind == "export" else {}
            await client.say(kind, **keys, **more)
            while (answer := await client.receive()) and not (
                isinstance(answer, dict) and answer["t"] == "error"
            ):
                pass
            found.append(answer["message"])
        return found

    assert all("bookmarks" in line or "read-only" in line for line in server.run(talk))


@pytest.mark.parametrize("text", ["", "{", '{"t":"open","frame":1,"scene":3}'])
def test_parse_raises_one_kind_of_error(text):
    with pytest.raises(OptionError):
        protocol.parse(text)


def values_sent(client, paint):
    return [t for t in client.tiles if t.kind == packing.VALUES and t.paint == paint]


def test_another_palette_sends_no_values_again(server):
    async def talk(client):
        await opened(client)
        await client.exact(1)
        first = client.texts[-1], next(m for m in client.texts if m["t"] == "layers")
        await client.say("paint", seq=1, color={"palette": "ember", "density": 3.0})
        painted = await client.until("painted", seq=1)
        layers = await client.until("layers", paint=1)
        await client.exact(1, paint=1)
        await client.say("paint", seq=2, color={"palette": "ember", "transfer": "sqrt"})
        other = await client.until("painted", seq=2)
        await client.exact(1, paint=2)
        return first[1], painted, layers, other, client

    first, painted, layers, other, client = server.run(talk)
    assert painted["values"] is False
    assert layers["layers"][0]["c0"] == first["layers"][0]["c0"]
    assert layers["layers"][0]["density"] == 3.0
    assert not values_sent(client, 1)
    assert other["values"] is True
    assert values_sent(client, 2)
    tables = [t.paint for t in client.tiles if t.kind == packing.TABLE]
    assert tables == [0, 1, 2]


def test_a_palette_that_changes_while_values_are_computed_goes_on(server):
    """No tile is computed again: each part of the picture is sent once."""
    size = (900, 700)

    async def talk(client):
        await opened(client, size=list(size))
        await client.until("drawn", **{"pass": "coarse"})
        for seq, density in enumerate((2.0, 3.0, 4.0), 1):
            await client.say("paint", seq=seq, color={"density": density})
            await client.until("painted", seq=seq)
        await client.exact(1, paint=3)
        return client

    client = server.run(talk, size=size)
    tiles = [t for t in client.tiles if t.kind == packing.VALUES and t.step == 1]
    assert sum(t.w * t.h for t in tiles) == size[0] * size[1]
    painted = [m["values"] for m in client.texts if m["t"] == "painted"]
    assert painted == [False, False, False]
    drawn = fractals.render(SEAHORSE, size=size, density=4.0, device="cpu").pixels
    assert np.array_equal(client.pixels, drawn)

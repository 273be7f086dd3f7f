"""A view's arrays are freed once it is replaced, without the garbage collector."""

import asyncio
import contextlib
import gc
import http.client
import json
import re
import time
import urllib.parse
import weakref
from pathlib import Path

import pytest
import websockets
from support.explorer import SIZE, process
from support.explorer import Client as Talker
from support.sockets import needs_proc

import fractals
from fractals import cli
from fractals.errors import OptionError
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.shown import RefinedView
from fractals.explorer.view import ClientView

PATIENCE = 60


class Client:
    """The owner of views."""


CLIENT = Client()


@pytest.fixture
def collected_never():
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def engine():
    made = Engine("cpu")
    yield made
    made.end()
    made.thread.join(20)


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def submitted(engine, scene, before=None, kind=ClientView, **keys):
    sent = []
    view = kind(
        (CLIENT, "view"),
        kind.passes,
        VIEW,
        engine=engine,
        scene=scene.replace(size=SIZE),
        frame=1,
        paint=0,
        say=lambda kind, **keys: sent.append(keys.get("pass")),
        before=before,
        **keys,
    )
    engine.submit(view)
    return view, sent


@pytest.mark.parametrize("ends", ["exact", "coarse"])
@pytest.mark.parametrize("name", ["seahorse", "wheels"])
def test_a_view_is_freed_when_the_next_is_open(engine, name, ends, collected_never):
    """`ends`: the pass after which the next view comes; steps of the first may be left."""
    scene = fractals.load_scene(name)
    view, sent = submitted(engine, scene, moving=ends == "coarse")  # then it rests a while
    until(lambda: ends in sent)
    things = view, view.drawing, view.drawing.source, view.single, view.values
    gone = [weakref.ref(thing) for thing in things]
    if ends == "exact":
        gone.append(weakref.ref(view.raw.count))
    moved = scene.replace(rotation=10)
    view, sent = submitted(engine, moved, before=view)
    del things
    until(lambda: "exact" in sent)
    until(lambda: not engine.busy(view.key))
    assert [ref() for ref in gone if ref() is not None] == []


@pytest.mark.parametrize("name", ["bonfire", "ruin"])
def test_a_view_that_becomes_finer_is_freed_when_the_next_is_open(engine, name, collected_never):
    scene = fractals.load_scene(name).replace(**QUICK)
    view, sent = submitted(engine, scene, kind=RefinedView)
    until(lambda: "exact" in sent)
    gone = [weakref.ref(thing) for thing in (view, view.refinement)]
    moved = further_on(scene, 10)
    view, sent = submitted(engine, moved, before=view, kind=RefinedView)
    until(lambda: "exact" in sent)
    until(lambda: not engine.busy(view.key))
    assert [ref() for ref in gone if ref() is not None] == []


def test_a_view_that_failed_is_freed(engine, monkeypatch, collected_never):
    def fails(view):
        raise OptionError("-")

    monkeypatch.setattr(ClientView, "draw_values", fails)
    view = weakref.ref(submitted(engine, fractals.load_scene("seahorse"))[0])
    until(lambda: view() is None)


def test_the_views_of_a_client_are_freed_when_it_leaves(own_server, collected_never):
    server, gone = own_server(), []

    async def talk(client):
        for frame in (1, 2):
            await client.say("open", frame=frame, scene={})
            await client.exact(frame)
            (session,) = server.explorer.sessions
            gone.append(weakref.ref(session.view))
        gone.append(weakref.ref(session))

    server.run(talk)
    until(lambda: not server.explorer.sessions)
    until(lambda: not any(ref() for ref in gone))


def test_the_command_line_collects_garbage_while_it_serves(run, monkeypatch):
    """Its start does without, and the explorer, films and workers live long."""
    found = []
    monkeypatch.setattr(fractals, "explore", lambda *_, **__: found.append(gc.get_threshold()))
    before = gc.get_threshold()
    gc.set_threshold(cli.AT_START)
    try:
        assert run("explore", "--no-browser")[0] == 0
        assert found == [cli.USUAL]
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


VIEWS = 500
MORE = 250 * 2**20  # bytes that a server may hold after VIEWS views, above those after its first
LARGE, SMALL, LEAST = (1000, 625), (480, 300), (240, 150)
KINDS = (
    ("seahorse", {}),
    ("seahorse", {"width": "1e-5"}),
    ("seahorse", {"coloring": "distance", "supersampling": 2}),
    ("mandelbrot", {"formula": "burning_ship", "center": ["-1.75", "-0.03"], "width": "0.1"}),
    ("mandelbrot", {"julia": ["-0.8", "0.156"], "center": ["0", "0"], "width": "3"}),
    ("wheels", {}),
)


QUICK = {"supersampling": 1, "quality": 2}
FAMILIES = {  # kinds of views, and their size in pixels
    "escape": (KINDS, LARGE),
    "points": (
        [("bonfire", QUICK), ("mandala", QUICK), ("saint", {**QUICK, "max_iterations": 500})],
        SMALL,
    ),
    "solids": ([("ruin", {"supersampling": 1}), ("ammonite", {"supersampling": 1})], LEAST),
    "reliefs": ([("mesa", {"supersampling": 1}), ("plaster", {"supersampling": 1})], LEAST),
}


def further_on(scene, number):
    """Return a scene turned a little, or its camera moved."""
    if scene.camera is None or scene.camera.position is None:
        return scene.replace(rotation=number % 180)
    x, y, z = scene.camera.position
    return scene.replace(position=(x + 1e-4 * number, y, z))


def resident(process_id):
    """Return the bytes that a process holds."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text())
    return 1024 * int(found[1])


def headers_of(page):
    """Return what a browser sends once the page's address, which serves once, was opened."""
    parts = urllib.parse.urlsplit(page)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        cookie = connection.getresponse().headers["set-cookie"].partition(";")[0]
    return {"Cookie": cookie, "Origin": f"http://{parts.netloc}"}


async def drawn(client, frame):
    """Receive until a view has its exact pixels; on a busy machine it may be paused."""
    while True:
        found = await client.receive()
        if isinstance(found, dict) and found.get("frame") == frame:
            assert found["t"] != "error", found
            if found["t"] == "paused":
                await client.say("go_on", frame=frame)
            if found["t"] == "drawn" and found["pass"] == "exact":
                return


async def look(headers, count, first=0, family="escape"):
    """Open views of each kind as a client, each a little further on."""
    address = headers["Origin"].replace("http", "ws") + "/ws"
    kinds, size = FAMILIES[family]
    async with websockets.connect(address, additional_headers=headers, max_size=None) as socket:
        client = Talker(socket, size)
        await client.say("hello", v=1, size=list(size), values=False, link="local")
        await client.until("welcome")
        for number in range(count):
            name, keys = kinds[number // 10 % len(kinds)]
            scene = further_on(fractals.load_scene(name).replace(**keys), first + number)
            scene = json.loads(scene.to_json())
            await client.say("open", frame=number + 1, scene=scene)
            await drawn(client, number + 1)
            client.tiles.clear()


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "clients"),
    [("escape", 1), ("escape", 5), ("points", 1), ("solids", 1), ("reliefs", 1)],
)
def test_a_server_holds_no_more_after_many_views(tmp_path, family, clients):
    """Through the command line, whose settings of the process are not those of tests."""
    with process(tmp_path, "--threads", 2) as (made, page, _):
        headers = headers_of(page)
        asyncio.run(look(headers, 1, family=family))
        start = resident(made.pid)

        async def all_of_them():
            share = VIEWS // clients
            looks = (look(headers, share, share * k, family) for k in range(clients))
            await asyncio.gather(*looks)

        asyncio.run(all_of_them())
        asyncio.run(look(headers, 1, family=family))  # the others' views are gone by then
        assert resident(made.pid) - start <= MORE

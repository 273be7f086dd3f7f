"""A view's arrays are freed once it is replaced, without the garbage collector."""

import gc
import time
import weakref

import pytest
from support.explorer import SIZE

import fractals
from fractals import cli
from fractals.errors import OptionError
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.view import ClientView

PATIENCE = 60


class Client:
    """The owner of views."""


CLIENT = Client()


@pytest.fixture
def collected_never():
    gc.collect()
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


def submitted(engine, scene, before=None, **keys):
    sent = []
    view = ClientView(
        (CLIENT, "view"),
        ClientView.passes,
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

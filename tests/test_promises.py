"""Promises whose loss shows only under pressure: each test injects the pressure.

`tests/README.md` lists these and those of other files.
"""

import itertools
import os
import re
import threading
from pathlib import Path

import pytest
from support.scenes import scene

import fractals
from fractals.cli import verbs
from fractals.explorer.scheduler import VIEW, DrawingTask, Engine
from fractals.films.plan import Timeline, segments_of
from fractals.films.work import open_work
from fractals.io.files import written
from fractals.io.stores.parts import StoreParts
from fractals.io.stores.store import open_store
from fractals.rendering.options import RenderOptions


def test_the_client_that_waited_longest_comes_first():
    engine, served, all_there = Engine("python"), [], threading.Event()

    class Client:
        pass

    def work_of(client):
        def steps(work):
            all_there.wait(10)
            for _ in range(4):
                served.append(client)
                yield None

        return DrawingTask((client, "view"), steps, VIEW)

    clients = [Client() for _ in range(3)]
    for client in clients:
        engine.submit(work_of(client))
    all_there.set()
    while any(engine.busy((client, "view")) for client in clients):
        engine.thread.join(0.01)
    engine.end()
    turns = [{*served[k : k + 3]} for k in range(0, 12, 3)]
    assert all(turn == {*clients} for turn in turns)


@pytest.fixture
def done(monkeypatch):
    """Return a list of what is done to files from now on: ("sync" or "name", inode)."""
    found, fsync, replace = [], os.fsync, os.replace

    def syncing(descriptor):
        found.append(("sync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def naming(source, target):
        found.append(("name", os.stat(source).st_ino))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", naming)
    return found


def synced(store):
    """Return what is done where the planes of a store are synced, and then its tiles."""
    names = *open_store(store).files.values(), "tiles"
    return [("sync", (store / f"{name}.npy").stat().st_ino) for name in names]


def test_what_says_that_tiles_are_there_is_synced_last(tmp_path, done):
    store = tmp_path / "a.fz"
    fractals.compute_to(store, scene(size=(8, 6)), device="python")
    tiles = store / "tiles.npy"
    tiles.write_bytes(tiles.read_bytes()[:128].ljust(tiles.stat().st_size, b"\0"))  # none is there
    done.clear()
    fractals.compute_to(store, scene(size=(8, 6)), device="python")
    assert done == synced(store)


def test_a_store_with_a_header_has_its_planes_on_the_disk(tmp_path, done):
    store = tmp_path / "a.fz"
    fractals.compute_to(store, scene(size=(8, 6)), device="python")
    header = done.index(("name", (store / "header.json").stat().st_ino))
    assert done[: header - 1] == synced(store)


def test_parts_stay_until_their_tiles_are_on_the_disk(tmp_path, done, monkeypatch):
    store = tmp_path / "a.fz"
    fractals.compute_to(store, scene(size=(8, 6)), device="python", part=(0, 1))
    monkeypatch.setattr(StoreParts, "remove", lambda _, names: done.append(names))
    done.clear()
    fractals.compute_to(store, scene(size=(8, 6)), device="python")
    wanted = [*synced(store), ["000000.tile"]]
    assert done[: len(wanted)] == wanted


def test_what_has_a_name_is_on_the_disk(tmp_path, done):
    with written(tmp_path / "a.toml") as file:
        file.write(b"x")
    with open_work(tmp_path / "a.mp4", {}, ".mp4", False) as work:
        work.draft(0).write_bytes(b"a segment")
        work.keep(0)
    named = [k for k, (what, _) in enumerate(done) if what == "name"]
    assert len(named) == 3  # the file, the header of the film, the segment
    assert all(("sync", done[k][1]) in done[:k] for k in named)


@pytest.mark.parametrize(("first", "last"), [("2", "1e-12"), ("1e-12", "2")])
def test_a_zoom_inwards_is_made_from_its_end(first, last):
    keys = [{"at": 0, "width": first}, {"at": 12, "width": last, "center": ["-1.74", "0.01"]}]
    film = fractals.load_scene("mandelbrot", size=(64, 36), film={"fps": 30, "keys": keys})
    (chosen,) = Timeline(film, RenderOptions(device="python")).parts
    assert chosen.method == "strip"
    starts = [numbers.start for numbers in segments_of(chosen, range(360))]
    assert len(starts) > 3
    pairs = itertools.pairwise(starts)
    inwards = first == "2"
    assert all((a > b) == inwards for a, b in pairs)


def test_text_that_cannot_be_encoded_is_an_error_of_usage(monkeypatch, capsys):
    def verb(*_, **__):
        "\udcff".encode()

    monkeypatch.setattr(verbs.cli, "main", verb)
    assert verbs.run_verb([]) == 2
    assert "text that is not UTF-8" in capsys.readouterr().err


def test_each_promise_has_its_test():
    folder = Path(__file__).parent
    listed = re.findall(r"`([\w/]+\.py)::(\w+)`", (folder / "README.md").read_text("utf-8"))
    assert len(listed) == len({*listed})
    for name, test in listed:
        assert f"\ndef {test}(" in (folder / name).read_text("utf-8"), (name, test)
    own = {test for name, test in listed if name == "test_promises.py"}
    made = {name for name in globals() if name.startswith("test_")}
    assert made - own == {"test_each_promise_has_its_test"}

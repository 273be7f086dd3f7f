"""Promises whose loss shows only under pressure: each test injects the pressure.

Ordinary use never meets these cases, so other tests pass without the code that keeps the promise.

| promise | pressure |
|---|---|
| every client of the explorer is served in turn | two clients with much work |
| a power failure leaves no tile that is said to be there and is not | the order of fsync |
| a zoom inwards holds few levels of its strip in memory | a long zoom |
| text that can't be encoded is an error of usage | a verb that meets such text |
"""

import itertools
import os
import threading

import pytest
from support.scenes import scene

import fractals
from fractals.cli import verbs
from fractals.explorer.scheduler import VIEW, DrawingTask, Engine
from fractals.films.plan import Timeline, segments_of
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


def test_what_says_that_tiles_are_there_is_synced_last(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noting(descriptor):
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    fractals.compute_to(tmp_path / "a.fz", scene(size=(8, 6)), device="python")
    tiles = tmp_path / "a.fz" / "tiles.npy"
    tiles.write_bytes(tiles.read_bytes()[:128].ljust(tiles.stat().st_size, b"\0"))  # none is there
    monkeypatch.setattr(os, "fsync", noting)
    fractals.compute_to(tmp_path / "a.fz", scene(size=(8, 6)), device="python")
    planes = {(tmp_path / "a.fz" / f"{name}.npy").stat().st_ino for name in ("count", "z")}
    last = tiles.stat().st_ino
    own = [inode for inode in synced if inode in planes | {last}]
    assert set(own[:-1]) == planes
    assert own[-1] == last


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

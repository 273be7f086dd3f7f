"""Scatter images by two processes: equal bytes, whatever happens to them."""

import os
import signal
import threading

import numpy as np
import pytest
from support.stores import contents
from support.workers import after

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.io import png
from fractals.rendering.cluster import dispatch, job, sums
from fractals.scatter import play

# The engine has warnings of its own.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

FLAME = {
    "name": "flame",
    "transforms": [
        {"affine": [0.6, -0.3, 0.2, 0.3, 0.6, 0], "variations": {"linear": 0.7, "swirl": 0.3}},
        {"affine": [0.5, 0, -0.6, 0, 0.5, 0.3], "color": 1.0, "variations": {"spherical": 0.4}},
    ],
}
ORBITS = {"name": "buddhabrot", "of": "burning_ship", "cells": 256}
SMALL = {"size": (64, 48), "supersampling": 1, "max_iterations": 200}
CPU = {"device": "cpu", "on_message": str}


def scene_of(formula, quality=40, **more):
    return fractals.load_scene({"formula": formula}).replace(**SMALL, quality=quality, **more)


@pytest.fixture(scope="module")
def flame():
    """Return a scene of 480 chunks, which take some seconds."""
    return scene_of(FLAME, quality=10000, steps=250)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, flame):
    """Return the store of the flame as one process computes it."""
    path = tmp_path_factory.mktemp("whole") / "whole.fz"
    fractals.compute_to(path, flame, **CPU)
    return path


@pytest.fixture(autouse=True)
def many_pieces(monkeypatch):
    monkeypatch.setattr(sums, "LEAST_PIECES", 40)


@pytest.mark.parametrize("formula", [{"name": "lorenz"}, ORBITS], ids=["flow", "orbits"])
@pytest.mark.parametrize("returns", [False, True], ids=["shared folder", "no folder"])
def test_a_store_is_that_of_one_machine(tmp_path, client, formula, returns):
    scene = scene_of(formula)
    fractals.compute_to(tmp_path / "whole.fz", scene, **CPU)
    given = job.Cluster(client, returns=returns)
    fractals.compute_to(tmp_path / "a.fz", scene, cluster=given, **CPU)
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


def test_a_picture_is_that_of_one_machine(tmp_path, client, flame):
    small = flame.replace(quality=500)
    one = fractals.render_to(tmp_path / "whole.png", small, **CPU)
    several = fractals.render_to(tmp_path / "a.png", small, cluster=client, **CPU)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "whole.png"]
    assert str(several.summary) == str(one.summary)


def test_a_picture_goes_on_with_what_was_computed(tmp_path, client, flame):
    small = flame.replace(quality=500)
    fractals.render_to(tmp_path / "whole.png", small, **CPU)
    fractals.compute_to(tmp_path / "a.png.fz", small.replace(quality=100), **CPU)
    fractals.render_to(tmp_path / "a.png", small, cluster=client, **CPU)
    fractals.compute_to(tmp_path / "b.png.fz", small.replace(quality=600), **CPU)
    fractals.render_to(tmp_path / "b.png", small, cluster=client, **CPU)
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole.png").read_bytes()


def test_a_worker_is_killed(tmp_path, client, pids, flame, whole):
    victim = next(iter(pids().values()))
    kill = after(0.3, lambda: os.kill(victim, signal.SIGKILL))
    fractals.compute_to(tmp_path / "a.fz", flame, cluster=client, progress=kill, **CPU)
    assert contents(tmp_path / "a.fz") == contents(whole)
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


def test_an_interrupted_client_goes_on(tmp_path, client, flame, whole):
    """With pieces of another size, and one that another machine computed as a part."""

    def interrupt():
        raise KeyboardInterrupt

    given = {"cluster": client, **CPU}
    fractals.compute_to(tmp_path / "a.fz", flame, part=(2, 3), **CPU)
    with pytest.raises(KeyboardInterrupt):
        fractals.compute_to(tmp_path / "a.fz", flame, progress=after(0.5, interrupt), **given)
    there = len(list((tmp_path / "a.fz" / "parts").glob("*.sums")))
    assert there > 10
    sums.LEAST_PIECES = 7
    seen = []
    progress = lambda done, total: seen.append(total)  # noqa: E731
    fractals.compute_to(tmp_path / "a.fz", flame, progress=progress, **given)
    assert contents(tmp_path / "a.fz") == contents(whole)
    assert max(seen) < 7  # pieces that were missing


def test_a_higher_quality_on_the_same_workers(tmp_path, client, flame):
    path = tmp_path / "a.fz"
    for quality in (100, 400):
        fractals.compute_to(path, flame.replace(quality=quality), cluster=client, **CPU)
    fractals.compute_to(tmp_path / "whole.fz", flame.replace(quality=400), **CPU)
    assert contents(path) == contents(tmp_path / "whole.fz")


def lie():
    from fractals.scatter.play import Player

    Player.honest = Player.play

    def play(self, before, last, progress):
        hits = Player.honest(self, before, last, progress)
        hits.sums[20, 30, 3] += 1
        return hits

    Player.play = play


def repent():
    from fractals.scatter.play import Player

    Player.play = getattr(Player, "honest", Player.play)


def test_a_worker_that_lies_is_named(tmp_path, client, flame, monkeypatch):
    monkeypatch.setattr(dispatch, "CHECK", 1)
    address, pid = next(iter(client.run(os.getpid).items()))
    client.run(lie, workers=[address])
    try:
        with pytest.raises(FractalsError, match="computed twice, with different results") as named:
            fractals.compute_to(tmp_path / "a.fz", flame, cluster=client, **CPU)
    finally:
        client.run(repent)
    assert f"(process {pid})" in str(named.value)


def test_two_clients_on_one_store(tmp_path, client, flame, whole):
    errors, given = [], {"cluster": client, **CPU}

    def second():
        try:
            fractals.compute_to(tmp_path / "a.fz", flame, **given)
        except FractalsError as error:
            errors.append(str(error))

    thread = threading.Thread(target=second)
    fractals.compute_to(tmp_path / "a.fz", flame, progress=after(0.1, thread.start), **given)
    thread.join()
    assert contents(tmp_path / "a.fz") == contents(whole)
    assert "is being computed by another process" in errors[0]


@pytest.fixture
def banded(monkeypatch):
    """Have a picture of 100 rows be drawn in two bands."""
    monkeypatch.setattr(png, "STRIP", 1)
    monkeypatch.setattr(png, "MIN_ROWS", 8)

    def limit(scene):
        room = play.replace(fractals.plan(scene, device="cpu"), band=56).memory
        monkeypatch.setattr(play, "memory_size", lambda: room / 0.9 + 1)
        return scene

    return limit


@pytest.mark.parametrize("formula", [FLAME, ORBITS], ids=["flame", "orbits"])
def test_bands_are_those_of_one_machine(tmp_path, client, banded, formula):
    scene = banded(scene_of(formula, quality=40).replace(size=(64, 100)))
    one = fractals.render_to(tmp_path / "whole.png", scene, **CPU)
    said = []
    given = {"device": "cpu", "on_message": said.append}
    several = fractals.render_to(tmp_path / "a.png", scene, cluster=client, **given)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "whole.png"]
    assert str(several.summary) == str(one.summary)
    assert any("in 2 bands" in line for line in said)


def test_a_band_goes_on_after_an_interruption(tmp_path, client, banded, flame, pids, monkeypatch):
    """A worker is killed, then the client, which had written what it added up."""
    monkeypatch.setattr(sums, "SECONDS", 0.0)
    scene = banded(flame.replace(size=(64, 100), quality=2000))
    fractals.render_to(tmp_path / "whole.png", scene, **CPU)

    written = sums.Going.write

    def write_and_end(going):
        written(going)
        os.kill(next(iter(pids().values())), signal.SIGKILL)
        raise KeyboardInterrupt

    given = {"cluster": client, **CPU}
    with monkeypatch.context() as once:
        once.setattr(sums.Going, "write", write_and_end)
        with pytest.raises(KeyboardInterrupt):
            fractals.render_to(tmp_path / "a.png", scene, **given)
    folder = tmp_path / "a.png.bands"
    kept = np.load(folder / "sums-0-56.npz")
    assert 0 < kept["chunks"] < fractals.plan(scene, device="cpu").chunks
    kept.close()
    fractals.render_to(tmp_path / "a.png", scene, **given)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert not folder.exists()


def test_what_a_cluster_refuses(tmp_path, client, flame):
    with pytest.raises(OptionError, match=r"name one that ends in \.png"):
        fractals.render_to(tmp_path / "a.jpg", flame, cluster=client, **CPU)
    assert not os.listdir(tmp_path)

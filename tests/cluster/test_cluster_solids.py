"""Solids by two processes: equal bytes, whatever happens to them."""

import os

import numpy as np
import pytest
from support.stores import contents
from support.workers import after

import fractals
from fractals.errors import OptionError, SceneError
from fractals.rendering.cluster import job, sums
from fractals.tools.pixels import read_pixels

# The engine has warnings of its own.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

CPU = {"device": "cpu", "on_message": str}


@pytest.fixture(scope="module")
def scene():
    """Return a scene of some seconds."""
    keys = {"size": (240, 160), "samples": 24, "supersampling": 1}
    return fractals.load_scene({"formula": "mandelbulb"}).replace(**keys)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, scene):
    """Return the store as one process computes it."""
    path = tmp_path_factory.mktemp("whole") / "whole.fz"
    fractals.compute_to(path, scene, **CPU)
    return path


@pytest.fixture(autouse=True)
def many_pieces(monkeypatch):
    monkeypatch.setattr(sums, "LEAST_PIECES", 40)


@pytest.mark.parametrize("returns", [False, True], ids=["shared folder", "no folder"])
def test_a_store_is_that_of_one_machine(tmp_path, client, scene, whole, returns):
    given = {"cluster": job.Cluster(client, returns=returns), **CPU}
    for samples in (4, 24):
        fractals.compute_to(tmp_path / "a.fz", scene.replace(samples=samples), **given)
    assert contents(tmp_path / "a.fz") == contents(whole)


def test_a_picture_is_that_of_one_machine(tmp_path, client, scene):
    small = scene.replace(samples=3)
    one = fractals.render_to(tmp_path / "whole.png", small, **CPU)
    several = fractals.render_to(tmp_path / "a.png", small, cluster=client, **CPU)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "whole.png"]
    assert several.summary.to_table() == one.summary.to_table()


def test_a_crop_of_the_frame_has_the_pixels_of_the_whole(tmp_path, client, scene):
    """By workers, with as many samples as pixels need: neighbors beyond the crop decide, too."""
    keys = {"samples": "auto", "stereo": 0.05, "eye": "right", "quality": "good"}
    frame = scene.replace(**keys, size=(80, 60))
    crop = frame.replace(size=(33, 21), whole="80x60+40+31")
    fractals.render_to(tmp_path / "a.png", crop, cluster=client, **CPU)
    expected = fractals.render(frame, **CPU).pixels[31:52, 40:73]
    np.testing.assert_array_equal(read_pixels(tmp_path / "a.png"), expected)


def test_an_interrupted_client_goes_on(tmp_path, client, scene, whole):
    """With pieces of another size, and rows that another machine computed as a part."""

    def interrupt():
        raise KeyboardInterrupt

    given = {"cluster": client, **CPU}
    fractals.compute_to(tmp_path / "a.fz", scene, part=(2, 3), **CPU)
    with pytest.raises(KeyboardInterrupt):
        fractals.compute_to(tmp_path / "a.fz", scene, progress=after(0.2, interrupt), **given)
    sums.LEAST_PIECES = 7
    fractals.compute_to(tmp_path / "a.fz", scene, **given)
    assert contents(tmp_path / "a.fz") == contents(whole)


def test_what_a_cluster_refuses(tmp_path, client, scene):
    from support.shapes import BALL

    with pytest.raises(OptionError, match=r"name one that ends in \.png"):
        fractals.render_to(tmp_path / "a.jpg", scene, cluster=client, **CPU)
    with pytest.raises(SceneError, match="a function of yours"):
        fractals.render_to(tmp_path / "a.png", scene.replace(formula=BALL), cluster=client, **CPU)
    assert not os.listdir(tmp_path)

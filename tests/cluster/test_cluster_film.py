"""Films by two processes, one of which is killed, or has another encoder."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support.workers import after

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.films import encode
from fractals.rendering.cluster.job import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="session")
def ffmpeg():
    """Skip a test where there is no FFmpeg."""
    try:
        encode.find_ffmpeg()
    except FractalsError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def dive(ffmpeg):
    """Return a film of a zoom, a change of colors and a pan."""
    there = ["-0.743643887037151", "0.131825904205330"]
    made = fractals.film(
        "mandelbrot",
        size=(96, 54),
        supersampling=1,
        device="cpu",
        film={
            "fps": 60,
            "keys": [
                {"at": 0, "width": 4},
                {"at": 2, "width": "1e-3", "center": there},
                {"at": 2.5},
                {"at": 3, "width": "1e-3", "center": [there[0], "0.1319"]},
            ],
            "tracks": {"offset": [[2, 0], [2.5, 1]]},
        },
    )
    assert [chosen.method for chosen in made.parts] == ["strip", "recolor", "frames"]
    return replace(made, options=made.options.replace(on_message=str))


@pytest.fixture(scope="session")
def whole(tmp_path_factory, dive):
    """Return the film as one process makes it, and the facts about it."""
    path = tmp_path_factory.mktemp("film") / "whole.mp4"
    saved = dive.save(path)
    return path.read_bytes(), saved


def with_progress(film, progress):
    return replace(film, options=film.options.replace(progress=progress))


def test_workers_make_the_film_of_one_machine(tmp_path, client, dive, whole):
    seen = []
    film = with_progress(dive, lambda *given: seen.append(given))
    saved = film.save(tmp_path / "a.mp4", cluster=client)
    assert (tmp_path / "a.mp4").read_bytes() == whole[0]
    assert (saved.flashes, saved.resumed) == (whole[1].flashes, 0)
    assert seen[-1] == (len(dive), len(dive))
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_a_worker_is_killed(tmp_path, client, pids, dive, whole):
    victim = next(iter(pids().values()))
    film = with_progress(dive, after(0.3, lambda: os.kill(victim, signal.SIGKILL)))
    film.save(tmp_path / "a.mp4", cluster=client)
    assert (tmp_path / "a.mp4").read_bytes() == whole[0]
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


@pytest.mark.parametrize("alone", [True, False], ids=["without a cluster", "by the cluster"])
def test_an_interrupted_film_goes_on(tmp_path, client, dive, whole, alone):
    def interrupt():
        raise KeyboardInterrupt

    path = tmp_path / "a.mp4"
    with pytest.raises(KeyboardInterrupt):
        with_progress(dive, after(0.4, interrupt)).save(path, cluster=client)
    saved = dive.save(path, cluster=None if alone else client)
    assert saved.resumed >= 0.4 * len(dive)
    assert path.read_bytes() == whole[0]
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_damaged_bands_and_segments_are_made_again(tmp_path, client, dive, whole):
    path, damaged = tmp_path / "a.mp4", []

    def damage():
        for band in (tmp_path / "a.mp4.film").glob("bands-*/*.npy"):
            band.write_bytes(band.read_bytes()[:-9])
            damaged.append(band)

    with_progress(dive, after(0.1, damage)).save(path, cluster=client)
    assert damaged
    assert path.read_bytes() == whole[0]


def test_values_that_a_strip_keeps(tmp_path, client, dive):
    """Colors that change during the zoom: bands hold samples, which are colored for each frame."""
    table = dive.scene.film.model_dump(mode="json", exclude_none=True)
    table |= {"keys": table["keys"][:2], "tracks": {"offset": [[0, 0], [2, 1]]}}
    film = replace(dive, scene=dive.scene.replace(film=table))
    assert [chosen.method for chosen in film.parts] == ["strip"]
    film.save(tmp_path / "whole.mkv", codec="ffv1")
    film.save(tmp_path / "a.mkv", codec="ffv1", cluster=client)
    assert (tmp_path / "a.mkv").read_bytes() == (tmp_path / "whole.mkv").read_bytes()


def test_another_encoder_is_refused(tmp_path, client, dive, whole):
    def replaced(version):
        from fractals.films import encode

        encode.version, before = version, encode.version
        return before

    address = next(iter(client.run(os.getpid)))
    before = client.run(replaced, lambda: "ffmpeg 1", workers=[address])[address]
    told = []
    film = replace(dive, options=dive.options.replace(on_message=told.append))
    try:
        film.save(tmp_path / "a.mp4", cluster=client)
    finally:
        client.run(replaced, before, workers=[address])
    assert (tmp_path / "a.mp4").read_bytes() == whole[0]
    assert sum("is refused: its ffmpeg is ffmpeg 1 (" in line for line in told) == 1


def test_what_needs_the_folder(tmp_path, dive):
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(OptionError, match="a zoom does not return through Dask"):
            dive.save(tmp_path / "a.mp4", cluster=Cluster(executor, returns=True))
        assert os.listdir(tmp_path) == []
        pan = dive.scene.film.model_dump(mode="json", exclude_none=True)
        keys = [{"at": x, "width": 1, "center": [x, 0]} for x in (0, 0.5)]
        pan |= {"keys": keys, "seconds": 0.5}
        film = replace(dive, scene=dive.scene.replace(film=pan | {"tracks": {}}))
        assert [chosen.method for chosen in film.parts] == ["frames"]
        film.save(tmp_path / "whole.mp4")
        film.save(tmp_path / "b.mp4", cluster=Cluster(executor, returns=True))
    assert (tmp_path / "b.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()


@pytest.mark.parametrize("returns", [False, True], ids=["shared folder", "no folder"])
def test_frames_of_a_flame(tmp_path, client, ffmpeg, returns):
    """A moving flame: the frames are pictures, and the film is that of one machine."""
    transforms = [
        {"affine": [0.6, -0.3, 0.2, 0.3, 0.6, 0], "variations": {"swirl": 0.5}},
        {"affine": [0.5, 0, -0.6, 0, 0.5, 0.3], "color": 1.0, "variations": {"linear": 0.9}},
    ]
    tracks = {"formula.transforms.0.affine.2": [[0, 0.2], [1, 0.5]]}
    film = fractals.film(
        formula={"name": "flame", "transforms": transforms},
        size=(48, 32),
        supersampling=1,
        quality=10,
        device="cpu",
        on_message=str,
        film={"fps": 10, "seconds": 1, "tracks": tracks},
    )
    film.save(tmp_path / "whole.mp4")
    film.save(tmp_path / "a.mp4", cluster=Cluster(client, returns=returns))
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.mp4", "whole.mp4"]


def test_frames_of_a_solid(tmp_path, client, ffmpeg):
    """The camera moves: each machine finds haze and colors of the whole film, which are equal."""
    tracks = {"camera.position.0": [[0, 4], [1, 6]]}
    film = fractals.film(
        formula="mandelbox",
        position=(4, -8, 4),
        size=(32, 20),
        samples=2,
        device="cpu",
        on_message=str,
        film={"fps": 6, "seconds": 1, "tracks": tracks},
    )
    film.save(tmp_path / "whole.mp4")
    film.save(tmp_path / "a.mp4", cluster=client)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "whole.mp4").read_bytes()

"""What a film is told to be before it is made: its size, what it lacks, what it can't hold."""

import itertools
import wave

import numpy as np
import pytest
from support.scenes import scene, slow_but

import fractals
from fractals import OptionError
from fractals.backends.devices import choose, open_backend
from fractals.films.sizes import _reduced, with_measured_file
from fractals.films.writing import video_of
from fractals.rendering.plan import digits_note
from fractals.scene.film import Sound
from fractals.threads import core_count

TINY = {"size": (32, 18), "supersampling": 1, "device": "cpu"}


@pytest.fixture(scope="module")
def cycle():
    """Return a film of 24 frames, iterated once."""
    return fractals.film("seahorse", cycle=1, fps=24, **TINY)


def test_decimals_are_missed_only_where_float64_ends():
    """A wide view's center means its digits; the seahorse of the gallery lacks none."""
    loop = fractals.film("seahorse", cycle=4, **TINY)
    assert loop.warnings() == []
    still = {"film": {"fps": 2, "keys": [{"at": 0, "width": "1"}, {"at": 1, "width": "1e-5"}]}}
    wide = fractals.film("mandelbrot", still, center=("-0.75", "0.1"), **TINY)
    assert wide.warnings() == []


def test_one_decimal_is_told_in_the_singular():
    assert digits_note(1, "this width") == (
        "the center has 1 decimal fewer than this width requires: a zero is added"
    )
    assert "2 decimals fewer than the deepest view requires: zeros are" in digits_note(
        2, "the deepest view"
    )


@pytest.mark.parametrize("name", ["a.webp", "a.gif", "frames/", "f%05d.png"])
def test_sound_that_a_type_cannot_hold_is_refused(tmp_path, cycle, name):
    with pytest.raises(OptionError, match=r"holds no sound: leave sound= out.*\.mp4, .*\.webm"):
        cycle.save(str(tmp_path / name) + "/" * name.endswith("/"), sound="a.wav")
    table = cycle.scene.film.model_copy(update={"sound": Sound(file="a.wav")})
    film = fractals.film(cycle.scene.replace(film=table.model_dump(exclude_none=True)), **TINY)
    with pytest.raises(OptionError, match=r"leave \[film.sound\] of the scene out"):
        film.save(str(tmp_path / name) + "/" * name.endswith("/"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", slow_but([".mp4"], [".webp", ".gif", "/", ".mp4"]))
def test_the_size_of_a_file_is_forecast_from_some_frames(tmp_path, suffix, request):
    if suffix == ".mp4":
        request.getfixturevalue("ffmpeg")  # skips without it
    keys = {"size": (96, 64), "max_iterations": 60, "fps": 12, "supersampling": 1}
    film = fractals.film(scene(), cycle=2, device="cpu", **keys)
    path = f"{tmp_path}/film{suffix}"
    plan = with_measured_file(film, film.plan(video_of(path)), path)
    assert plan.measured
    assert plan.bytes == plan.measured
    found = film.save(path).bytes
    assert found / 1.6 < plan.bytes < found * 1.6
    assert (plan.writing > 0) == (suffix != ".mp4")


@pytest.mark.parametrize("suffix", [".mp4", ".webm", ".mkv"])
def test_forecasts_count_sound(tmp_path, ffmpeg, cycle, suffix):
    video, path = video_of(f"a{suffix}"), tmp_path / f"film{suffix}"
    silent, heard = cycle.plan(video), cycle.plan(video, sound=True)
    noise = np.random.default_rng(3).normal(0, 3000, (2 * 44_100, 2)).astype("<i2")
    with wave.open(str(tmp_path / "noise.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44_100)
        file.writeframes(noise.tobytes())
    added = heard.bytes - silent.bytes
    without = cycle.save(path).bytes
    found = cycle.save(path, sound=str(tmp_path / "noise.wav"), overwrite=True).bytes - without
    assert found / 2 < added < found * 2
    assert heard.seconds > silent.seconds
    table = cycle.scene.film.model_copy(update={"sound": Sound(file="a.wav")})
    film = fractals.film(cycle.scene.replace(film=table.model_dump(exclude_none=True)), **TINY)
    assert film.plan(video).bytes == heard.bytes
    measured = with_measured_file(cycle, heard, path)
    assert measured.bytes == measured.measured + added
    loop = video_of("a.webp")
    assert cycle.plan(loop, sound=True).bytes == cycle.plan(loop).bytes


def test_frames_that_take_longer_than_forecast_end_the_measuring(monkeypatch):
    """By a clock that goes on by a minute each time it is asked: one place has frames enough."""
    film = fractals.film(scene(), cycle=2, device="cpu", size=(16, 12), max_iterations=9)
    clock, asked = itertools.count(0, 60), []
    monkeypatch.setattr("fractals.films.sizes.perf_counter", lambda: next(clock))
    honest = type(film).frames
    monkeypatch.setattr(
        type(film), "frames", lambda own, *part: asked.append(part) or honest(own, *part)
    )
    assert with_measured_file(film, film.plan(None), "a.webp").measured
    assert len(asked) == 1


def test_frames_that_take_long_are_not_measured(monkeypatch):
    film = fractals.film(scene(), cycle=2, device="python", size=(16, 12), max_iterations=9)
    plan = film.plan(None)
    monkeypatch.setattr("fractals.films.sizes.PATIENCE", 0.0)
    assert with_measured_file(film, plan, "a.webp") is plan
    wide = fractals.film(scene(), cycle=2, device="python", size=(2000, 1001), max_iterations=9)
    assert _reduced(wide).size == (320, 160)


@pytest.mark.parametrize(
    "name", ["seahorse", {"formula": "flame"}, {"formula": "menger"}, {"relief": {}}], ids=str
)
def test_more_threads_than_cores_are_neither_forecast_nor_started(name):
    cores = core_count()
    few, many = (fractals.plan(name, device="cpu", threads=each) for each in (cores, 1000))
    assert (few.seconds, few.memory, few.threads) == (many.seconds, many.memory, many.threads)
    assert open_backend(choose("cpu").device, "float64", 1000).threads == cores


def test_a_film_is_forecast_with_as_many_threads_as_work():
    cores = core_count()
    few, many = (
        fractals.film("seahorse", cycle=1, fps=24, **TINY, threads=each).plan(video_of("a.mp4"))
        for each in (cores, 1000)
    )
    assert few.to_table() == many.to_table()
    assert few.threads == many.threads == cores

"""`fractals film`, as it is typed."""

import json
import os
from pathlib import Path

import pytest
from support.command_line import SMALL, one_line

import fractals

KEYS = '[[film.keys]]\nat = 0\nwidth = "4"\n[[film.keys]]\nat = 1\nwidth = "1e-3"\n'
FILM = "[image]\nsupersampling = 1\n[film]\nfps = 12\n" + KEYS


@pytest.fixture
def film(run):
    return lambda *arguments: run("film", *arguments, *SMALL, "--supersampling", "1")


def test_a_zoom(film, ffmpeg):
    code, out, err = film("seahorse", "--to", "1e-4", "--seconds", "1", "--fps", "12")
    assert (code, out) == (0, b"")
    lines = err.splitlines()
    assert lines[-1].startswith("fractals: seahorse.mp4: 12 frames, 32x18, 12 fps, ")
    assert os.listdir() == ["seahorse.mp4"]
    code, _, err = film("seahorse", "--to", "1e-4", "-o", "seahorse.mp4")
    assert code == 1
    assert "'seahorse.mp4' exists already" in err


def test_a_loop_has_fps_of_its_own(film):
    code, out, _ = film("seahorse", "--cycle", "0.5s", "-o", "loop.webp", "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["frames"], facts["fps"], facts["methods"]) == (15, 30, ["recolor"])
    assert facts["bytes"] == Path("loop.webp").stat().st_size
    assert json.loads(film("seahorse", "--cycle", "1", "-o", "l.gif", "--json")[1])["fps"] == 25


def test_a_sequence_is_called_by_its_names(film):
    code, _, err = film("seahorse", "--cycle", "0.5", "--fps", "4", "-o", "f%02d.png")
    assert code == 0
    assert err.splitlines()[-1].startswith("fractals: f%02d.png: 2 frames, 32x18, 4 fps, ")


def test_a_scene_with_a_film(film, ffmpeg):
    Path("dive.toml").write_text(FILM)
    code, _, err = film("dive.toml", "-o", "dive.mkv", "--codec", "h264", "--bits", "10")
    assert code == 0
    assert "dive.mkv: 12 frames" in err
    code, _, err = film("dive.toml", "--still", "0.5", "-o", "still.png")
    assert (code, err) == (0, "fractals: still.png: 32x18, the picture at 0.5 s\n")
    assert film("still.png", "--still", "0", "--cycle", "1", "-o", "again.png")[0] == 0
    assert film("still.png", "--still", "0", "--cycle", "1", "--bits", "16", "-o", "c.png")[0] == 0
    assert [fractals.load_scene(name).image.bits for name in ("again.png", "c.png")] == [8, 16]
    code, _, err = film("dive.toml", "--frames", "3:5", "-o", "pngs/")
    assert code == 0
    assert sorted(os.listdir("pngs")) == ["00003.png", "00004.png"]


def test_a_dry_run_prints_the_plan(film):
    Path("dive.toml").write_text(FILM)
    code, out, _ = film("dive.toml", "--dry-run")
    text = out.decode()
    assert code == 0
    assert text.startswith("frames 0:12: ")
    assert ", because " in text
    assert "12 frames, 32x18, " in text
    code, out, _ = film("seahorse", "--cycle", "2", "--dry-run", "--json", "-o", "x.mkv")
    plan = json.loads(out)
    assert (plan["frames"], plan["video"]["codec"]) == (120, "av1")
    assert plan["parts"][0]["method"] == "recolor"
    assert os.listdir() == ["dive.toml"]


def test_tracks_of_a_file(film):
    Path("scene.toml").write_text(
        '[film]\nfps = 4\n[film.tracks]\noffset = "beat.csv"\n'
        "coloring.direction = [[0, 0], [1, 90]]\n"
        '[color]\ncoloring = "slopes"\n'
    )
    Path("beat.csv").write_text("0,0\n0.5,1\n1,0\n")
    code, out, _ = film("scene.toml", "--dry-run")
    assert code == 0
    assert b"recolor, because only offset and coloring.direction change" in out
    os.remove("beat.csv")
    code, _, err = film("scene.toml", "--dry-run")
    assert code == 3
    assert err == "fractals: scene.toml: film: beat.csv: no such file\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "nothing moves: give --to WIDTH"),
        (["--width", "3", "--to", "3"], 2, "so nothing moves"),
        (["--to", "abc"], 2, "--to: 'abc' is not a decimal number"),
        (["--to", "0"], 2, "is not greater than 0"),
        (["seahorse", "--to", "1e12"], 2, "--to 1e12 is 2.2e+11 times the width of the whole"),
        (["seahorse", "--seconds", "x"], 2, "--seconds: 'x' is no time"),
        (["seahorse", "--cycle", "0"], 2, "--cycle 0: give more than 0 seconds"),
        (["seahorse", "--cycle", "2", "--seconds", "3"], 2, "the loop would jump"),
        (["seahorse", "--cycle", "0.4", "--turn", "1"], 2, "--cycle 0.4: 1 s are no whole number"),
        (
            ["seahorse", "--fps", "fast"],
            2,
            "'fast' is no rate: give frames a second, such as 30",
        ),
        (["seahorse", "--fps", "0fps"], 2, "--fps 0: give 1 to 240"),
        (["seahorse", "--fps", "241"], 2, "--fps 241: give 1 to 240"),
        (["seahorse", "--seconds", "0"], 2, "--seconds 0: give 0.001 to 86400"),
        (["seahorse", "--frames", "5"], 2, "--frames: '5' is not A:B"),
        (["seahorse", "--still", "900", "-o", "s.png"], 2, "900 s: the film has"),
        (["seahorse", "-o", "a.avi"], 2, "unknown type of film"),
        (["seahorse", "--codec", "xvid", "-o", "a.mp4"], 2, "unknown codec 'xvid'"),
        (["seahorse", "--bits", "12", "-o", "a.mp4"], 2, "h264 takes 8 or 10 bits"),
        (["seahorse", "--audio", "gone.wav"], 1, "'gone.wav': no such file of sound"),
        (["seahorse", "--cycle", "1", "--fps", "60", "-o", "l.gif"], 2, "at most 50 frames"),
        (["gone.toml"], 3, "gone.toml: no such file"),
        (["late.toml"], 3, "1 s follows 2 s: keys must be in order"),
        (["same.toml"], 2, "speed needs a change of width"),
        (["name.toml"], 3, "film.tracks.offzet: a scene has no key 'offzet'"),
    ],
)
def test_bad_inputs_are_one_line(film, ffmpeg, arguments, code, words):
    Path("late.toml").write_text("[[film.keys]]\nat = 2\n[[film.keys]]\nat = 1\n")
    Path("same.toml").write_text('[[film.keys]]\nat = 0\n[[film.keys]]\nspeed = "1 octaves/s"\n')
    Path("name.toml").write_text("[film.tracks]\noffzet = [[0, 0], [1, 1]]\n")
    before = sorted(os.listdir())
    found, out, err = film(*arguments)
    assert (found, out) == (code, b"")
    assert one_line(err), err
    assert words in err
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry run", "film"])
@pytest.mark.parametrize(
    ("name", "words"),
    [("a.mp4", "'gone.wav': no such file of sound"), ("a.webp", ".webp holds no sound")],
)
def test_sound_that_a_film_can_not_have_is_one_line(film, ffmpeg, monkeypatch, dry, name, words):
    """Before anything is compiled or drawn, in a dry run too."""
    from fractals.films.film import Film

    monkeypatch.setattr(Film, "frames", lambda *_, **__: pytest.fail("frames are drawn"))
    if dry:
        monkeypatch.setattr(Film, "plan", lambda *_, **__: pytest.fail("a plan is made"))
    Path("keys.toml").write_text(FILM + '[film.sound]\nfile = "gone.wav"\n')
    for asked in (["seahorse", "--cycle", "1", "--audio", "gone.wav"], ["keys.toml"]):
        _, out, err = film(*asked, *dry, "-o", name)
        assert out == b""
        assert one_line(err), err
        assert words in err


@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry run", "film"])
def test_no_ffmpeg_is_one_line(film, ffmpeg, monkeypatch, dry):
    """Before anything is compiled or drawn."""
    from fractals.films import encode
    from fractals.films.film import Film

    monkeypatch.setattr(Film, "plan", lambda *_, **__: pytest.fail("a plan is made"))
    monkeypatch.setenv("FRACTALS_FFMPEG", "/nowhere")
    for told in (encode.find_ffmpeg, encode.encoders):
        told.cache_clear()
    code, _, err = film("seahorse", "-o", "a.mp4", *dry)
    encode.find_ffmpeg.cache_clear()
    assert code == 1
    assert err == "fractals: FRACTALS_FFMPEG: '/nowhere' is no program\n"


def test_flashes_are_told(film):
    code, _, err = film("mandelbrot", "--cycle", "2", "-o", "loop.webp")
    assert code == 0
    assert "flashes more than three times a second" not in err
    Path("blink.toml").write_text(
        '[color]\npalette = ["black", "white"]\n[film]\nseconds = 2\n'
        "[film.tracks]\noffset = [[0, 0], [2, 12]]\n"
    )
    code, _, err = film("blink.toml", "-o", "blink.webp")
    assert code == 0
    assert "flashes more than three times a second" in err


def test_an_hour_of_4k_is_refused(run):
    long = "--size", "8k", "--seconds", "3600", "--transfer", "log"
    code, _, err = run("film", "wheels", *long, "-o", "x.mp4")
    assert code == 2
    assert one_line(err)
    assert "--force makes it all the same" in err

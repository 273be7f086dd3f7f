"""The user's file of defaults, and `fractals cache`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import one_line

from fractals import catalog
from fractals.cli import shared
from fractals.io.load import load_scene

SET = """
device = "python"
threads = 1
author = "Me"
[image]
size = [8, 6]
supersampling = 1
[color]
palette = "own.toml"
density = 3
[iteration]
max_iterations = 20
"""


@pytest.fixture
def write(tmp_path_factory, monkeypatch):
    """Return a function that writes the file of defaults."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setattr(shared, "path", lambda: folder / "defaults.toml")

    def call(text):
        shared.read.cache_clear()
        (folder / "own.toml").write_text('stops = ["#010203"]')
        shared.path().write_text(text)

    yield call
    shared.read.cache_clear()


def test_defaults_are_below_scenes_and_options(run, write, monkeypatch):
    write(SET)
    Path("a.toml").write_text('[color]\ndensity = 2\n[view]\nwidth = "1"\n')
    code, out, err = run("render", "a.toml", "--json", "-o", "a.png")
    assert code == 0, err
    assert json.loads(out)["device"] == "python"
    drawn = load_scene("a.png")
    assert (drawn.image.size, drawn.author, drawn.color.density) == ((8, 6), "Me", 2)
    assert drawn.color.make_palette().stops == ((0.0, "#010203"),)
    assert run("render", "a.toml", "--size", "7x5", "--cpu", "-o", "b.png")[0] == 0
    assert load_scene("b.png").image.size == (7, 5)
    assert run("render", "a.png", "--density", "4", "-o", "c.png")[0] == 0
    monkeypatch.setenv("FRACTALS_DEVICE", "cpu")
    found = run("compute", "-o", "a.npz", "--json")[1]
    assert json.loads(found)["device"] == "cpu"
    assert json.loads(found)["size"] == [8, 6]


def test_what_reads_a_scene_shows_the_scene(run, write):
    write(SET)
    Path("a.toml").write_text("")
    assert run("show", "a.toml")[1] == load_scene().to_toml().encode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "palete = 1",
            "'palete' can't have a default; known keys: device, threads, formulas, author",
        ),
        ("devise = 1", "'devise' can't have a default; did you mean 'device'?"),
        ("[view]\nwidth = 1", "'view' can't have a default"),
        ("threads = 0", "threads: '0' is not a whole number from 1 to 1024"),
        ("threads = true", "threads: 'True' is not"),
        ('device = "cup"', "device: unknown device 'cup'"),
        ("[image]\nsize = 3", "image.size: '3' is not a list of values"),
        ("[image]\nsise = 3", "image.sise: unknown key; did you mean 'size'?"),
        ('[color]\npalette = "none.map"', "no such file"),
        ("[image", "defaults.toml: "),
    ],
)
def test_a_wrong_default_is_one_line_that_names_the_file(run, write, text, words):
    write(text)
    code, out, err = run("render", "--dry-run")
    assert (code, out, one_line(err)) == (3, b"", True)
    assert "defaults.toml: " in err
    assert words in err
    assert run("list", "solids")[0] == 0


def test_help_names_the_file_of_defaults(run, write):
    write("")
    assert str(shared.path()) in run("--help")[1].decode().replace("\n", "")


def test_cache_shows_folders_and_empties_them(run, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setenv("FRACTALS_CACHE_DIR", str(tmp_path / "more"))
    ours = tmp_path / "code" / f"fractals-{'0' * 16}" / "deeper" / "a.nbc"
    others = [
        *(tmp_path / "code" / "other" / "a.nbc", tmp_path / "code" / "fractals-mine" / "a.nbc"),
        *(tmp_path / "more" / "a.npz", tmp_path / "more" / "orbits" / "notes.txt"),
    ]
    orbit = tmp_path / "more" / "orbits" / "0a.npz"
    for file in (ours, orbit, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(2**20))
    found = json.loads(run("cache", "--json")[1])["caches"]
    assert found["compiled programs"] == {
        "folder": str(tmp_path / "code"),
        "files": 1,
        "bytes": 2**20,
    }
    assert found["reference orbits"]["folder"] == str(tmp_path / "more" / "orbits")
    assert "1.0 MiB  " + str(tmp_path / "code") in run("cache")[1].decode()
    code, out, err = run("cache", "--empty")
    assert (code, out) == (0, b"")
    assert "compiled programs: 1 file deleted" in err
    assert not ours.exists()
    assert not orbit.exists()
    assert all(map(os.path.exists, others))


def test_a_filled_cache_compiles_nothing(run, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setattr(catalog, "names", lambda kind: ("seahorse",))
    assert run("cache", "--fill")[0] == 0
    files = sorted(tmp_path.rglob("*.code"))
    assert files
    command = [sys.executable, "-m", "fractals", "render", "seahorse", "--cpu", "--size", "32x18"]
    subprocess.run([*command, "-o", str(tmp_path / "a.png")], check=True, capture_output=True)
    assert sorted(tmp_path.rglob("*.code")) == files
    assert "give one" in run("cache", "--fill", "--empty")[2]


@pytest.mark.skipif(os.name != "posix", reason="needs the rights of a folder")
def test_a_home_that_cannot_be_searched_has_no_defaults(run, monkeypatch, tmp_path):
    """As of a service, or under sudo, which keeps the home of another user."""

    def denied(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    file = tmp_path / "home" / "defaults.toml"
    monkeypatch.setattr(shared, "path", lambda: file)
    shared.read.cache_clear()
    if os.geteuid():
        file.parent.mkdir(mode=0)
    else:  # root searches every folder
        monkeypatch.setattr(type(file), "stat", denied)
    assert shared.read(file) == {}
    shared.read.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
@pytest.mark.parametrize("home", ["", "config", "./"])
def test_a_folder_of_settings_is_never_the_current_one(run, monkeypatch, home):
    """XDG's specification: an empty or relative path is ignored."""
    monkeypatch.setenv("XDG_CONFIG_HOME", home)
    Path(home, "fractals").mkdir(parents=True)
    Path(home, "fractals/defaults.toml").write_text("no TOML")
    assert shared.path() == Path.home() / ".config/fractals/defaults.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", os.fspath(Path.cwd() / "own"))
    assert shared.path() == Path.cwd() / "own/fractals/defaults.toml"


@pytest.mark.parametrize("folder", ["~nosuchuser/formula", "missing"])
def test_a_folder_of_formulas_that_is_missing_is_one_line(run, write, folder):
    write(f'formulas = ["{folder}"]')
    code, _, err = run("show", "seahorse")
    assert (code, one_line(err)) == (3, True), err
    assert "no such folder" in err

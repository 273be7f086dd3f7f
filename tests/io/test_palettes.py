"""Palettes by name: written and read again, embedded in scenes, and of the package cmap."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from support.gradients import (
    AT,
    UGR,
    VALID,
    away_from,
    every_reader,
    every_writer,
    format_of,
    palette_in,
    srgb,
)

import fractals
from fractals import catalog
from fractals.color import palette
from fractals.errors import InputError, OptionError, to_install
from fractals.io import palettes

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")


@every_writer
@pytest.mark.parametrize("builtin", catalog.names("palette"))
def test_written_palettes_are_the_same_when_read(name, builtin):
    given = palette.load(builtin)
    written, _ = format_of(name).write(fractals.Scene().replace(palette=builtin).to_table())
    again = palette_in(name, written)
    if name == "ggr":
        at = AT[AT < 4095 / 4096]  # in the last row of the table one with two ends begins again
        assert np.abs(srgb(again, at) - srgb(given, at)).max() < 1
    else:
        at = np.arange(256) / (256 if given.cyclic else 255)
        assert np.abs(srgb(again, np.arange(256) / 256) - srgb(given, at)).max() <= 0.5001
    assert again.title == (given.title if name != "map" else "")


@every_writer
def test_what_a_palette_file_can_not_hold_is_said(name):
    write = format_of(name).write
    plain = {"stops": ["#000", "#fff"], "space": "srgb"}
    assert write({"color": {"palette": plain, "density": 1.0}})[1] == ()
    scene = fractals.Scene().replace(density=2, julia=("0", "1"), palette="ink")
    lost = write(scene.to_table())[1]
    assert [line.split(":")[0] for line in lost] == [
        "julia",
        "color.density",
        "the palette's two ends",
    ]
    rough = {"stops": ["#000", "#fff"] * 300, "space": "srgb"}
    detail = [
        line for line in write({"color": {"palette": rough}})[1] if "256 colors are off" in line
    ]
    assert len(detail) == (name != "ggr")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in VALID.items():
        Path(f"a.{name}").write_bytes(text.encode())
    return tmp_path


@every_reader
def test_files_are_palettes_of_scenes(name, folder):
    scene = fractals.load_scene(palette=f"a.{name}")
    assert scene.color.palette.source == f"a.{name}"
    assert scene.color.palette.stops == palette_in(name, VALID[name]).stops
    Path(f"a.{name}").unlink()  # a scene carries its palette
    assert fractals.load_scene(scene.to_table()) == scene
    Path("again.toml").write_text(scene.to_toml())
    assert fractals.load_scene("again.toml") == scene


def test_entries_and_suffixes(folder):
    assert palettes.find_palette("a.ugr#Second one(2)")[0].title == "a b"
    Path("a.gpl").rename("B#1.GPL")
    assert palettes.find_palette("B#1.GPL")[0].title == "Two words"
    Path("own.toml").write_text('stops = ["#000", "#fff"]\nblend = "smooth"')
    assert palettes.find_palette("own.toml")[0].blend == "smooth"


def test_files_are_sought_beside_the_scene(folder):
    (folder / "deeper").mkdir()
    Path("deeper/x.ugr").write_text(UGR)
    Path("deeper/scene.toml").write_text('[color]\npalette = "x.ugr#Second one(2)"\n')
    Path("deeper/scene.json").write_text('{"color": {"palette": "a.map"}}')
    lost = []
    fractals.load_scene("deeper/scene.toml", lost=lost)
    assert [line.split(":")[0] for line in lost] == 2 * ["x.ugr#Second one(2)"]
    assert fractals.load_scene("deeper/scene.toml").color.palette.title == "a b"
    with pytest.raises(InputError, match=r"deeper/a\.map: no such file"):
        fractals.load_scene("deeper/scene.json")  # one of the current folder may be private


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.html", "a.fz", "a.json", "a.toml"])
def test_files_with_a_scene_are_palettes(name, folder):
    small = {"size": (8, 6), "supersampling": 1, "device": "cpu", "palette": "ember"}
    if name.endswith(".fz"):
        fractals.compute_to(name, **small)
    elif name.endswith(("json", "toml")):
        scene = fractals.load_scene(palette="ember")
        Path(name).write_text(scene.to_json() if name.endswith("json") else scene.to_toml())
    else:
        fractals.render_to(name, **small)
    assert np.array_equal(
        palettes.find_palette(name)[0].linear(AT), palette.load("ember").linear(AT)
    )


def test_palettes_that_a_picture_found_by_itself_are_taken(folder):
    image = fractals.render("mandelbrot", size=(8, 6), palette="auto", device="cpu")
    image.save("auto.png")
    assert palettes.find_palette("auto.png")[0].title
    Path("auto.toml").write_text('formula = "mandelbrot"\ntitle = "none"\n')
    with pytest.raises(InputError, match=r"auto\.toml: the scene in this file names no palette"):
        palettes.find_palette("auto.toml")


def test_unknown_names_say_where_palettes_are():
    with pytest.raises(InputError, match=r"fractals\.names\('formats'\) shows which files"):
        fractals.load_scene(palette="a.aco")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.map", InputError, "none.map: no such file"),
        ("bad.map", InputError, "bad.map: line 2: '1 2' is not three numbers"),
        ("a.ugr#x", InputError, "a.ugr: no gradient 'x'; the file has: First, Second one(2)"),
        ("bad.toml", InputError, "bad.toml: palette: unknown key 'stop'"),
        ("large.map", InputError, "large.map: larger than 16777216 bytes"),
        (".map", InputError, ".map: "),
    ],
)
def test_files_that_are_no_palettes(name, error, message, folder):
    Path("bad.map").write_text("0 0 0\n1 2\n")
    Path("bad.toml").write_text('stop = ["#000"]')
    Path(".map").mkdir()
    with Path("large.map").open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(error) as caught:
        palettes.find_palette(name)
    assert message in str(caught.value)
    with pytest.raises(InputError) as caught:
        fractals.load_scene({"color": {"palette": name}})
    assert message in str(caught.value)


def test_color_maps_of_cmap():
    cmap = pytest.importorskip("cmap", reason="the extra `palettes` is not installed")
    for name, turns in (("viridis", 2), ("cmap:twilight", 1), ("cmap:turbo_r", 2)):
        rows = 255 * cmap.Colormap(name.removeprefix("cmap:")).lut(256)[:, :3]
        at = AT if turns == 1 else 1 - np.abs(2 * AT - 1)
        found = palettes.find_palette(name)[0]
        exact = [np.interp(at, np.arange(256) / 255, row) for row in rows.T]
        assert np.abs(srgb(found) - np.transpose(exact)).max() < 1, name
        assert len(found.stops) < 300
    viridis = fractals.load_scene(palette="viridis").color.palette
    assert (viridis.title, viridis.source, viridis.licence) == (
        "viridis",
        "cmap: bids:viridis",
        "CC0",
    )
    tab = palettes.find_palette("cmap:tab10")[0]
    bands = 255 * cmap.Colormap("tab10").lut(10)[:, :3]
    inner = away_from(np.arange(11) / 10)
    assert np.abs(srgb(tab) - bands[(10 * AT).astype(int)])[inner].max() < 1
    assert (
        palettes.find_palette("ember")[0].source != "cmap"
    )  # built in, where cmap has the name too
    assert palettes.find_palette("cmap:ember")[0].source.startswith("cmap: ")
    with pytest.raises(OptionError, match="cmap has no color map 'nosuch'"):
        palettes.find_palette("cmap:nosuch")
    with pytest.raises(InputError, match="unknown palette 'embr'; did you mean 'ember'"):
        fractals.load_scene(palette="embr")
    with pytest.raises(InputError, match="'ember,dusk'; colors are a palette, too, such as '#"):
        fractals.load_scene(palette="ember,dusk")


def test_without_cmap(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmap", None)
    words = f"requires the package cmap: {re.escape(to_install('palettes'))}"
    with pytest.raises(OptionError, match=words):
        palettes.find_palette("cmap:viridis")
    with pytest.raises(InputError, match=r"unknown palette 'batlow'.*hundreds more with"):
        fractals.load_scene(palette="batlow")


def test_a_name_that_several_maps_of_cmap_have_prints_nothing(capfd):
    pytest.importorskip("cmap", reason="the extra `palettes` is not installed")
    assert palettes.find_palette("cmap:fire")[0]  # imagej's, and vispy has one, too
    assert capfd.readouterr() == ("", "")

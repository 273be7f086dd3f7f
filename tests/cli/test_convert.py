"""`fractals convert`, and other verbs on files of other programs."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from support.command_line import SMALL, one_line

import fractals
from fractals.color import palette
from fractals.io.foreign import Format, Imported, formats, fraktaler3
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

KFR = "Re: -0.5\r\nIm: 0.25\r\nZoom: 4\r\nIterations: 90\r\nSlopes: 1\r\n"
PAR = """first { type=chip }
second { type=mandel center-mag=-0.5/0/0.8 maxiter=60 colors=000zzz<30>00z }
"""


@pytest.fixture(autouse=True)
def files(run):
    """Write a file of each kind into the empty folder."""
    Path("place.kfr").write_bytes(KFR.encode())
    Path("many.par").write_text(PAR)


def test_a_place_is_drawn_and_says_what_was_lost(run):
    code, out, err = run("render", "place.kfr", *SMALL, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["output"] == "place.png"
    assert facts["lost"] == ["place.kfr: slopes (Slopes: 1)"]
    assert "fractals: lost: place.kfr: slopes (Slopes: 1)\n" in err
    assert load_scene("place.png").view.center == ("-0.5", "-0.25")


def test_an_entry_is_drawn(run):
    code, _, err = run("render", "many.par#second", "seahorse", "many.par#second", *SMALL)
    assert code == 0
    assert one_line(err)
    assert load_scene("second.png").view.center == ("-0.5", "0")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("render", "many.par"), 3, "many.par: first: line 1: type: the type 'chip'"),
        (("render", "many.par#third"), 3, "no entry 'third'; the file has first, second"),
        (("render", "place.kfr#x"), 3, "'#x': a file of this kind holds one thing"),
        (("render", "a.xyz"), 3, f"ends in {formats.suffixes()}"),
        (("convert", "place.kfr", "a.xpf"), 2, "name a file that ends in .toml .json"),
        (("convert", "a.kfr", "b.kfr"), 3, "a.kfr: no such file"),
        (("convert", "place.kfr", "place.kfr"), 1, "exists already"),
        (("convert", "seahorse", "-", "--json"), 2, "both write to stdout"),
        (("convert", "snowflakes", "a.kfr"), 3, "no Julia sets"),
    ],
)
def test_what_cannot_be_is_one_line(run, arguments, code, words):
    given, out, err = run(*arguments)
    assert (given, out) == (code, b"")
    assert one_line(err)
    assert words in err
    assert sorted(os.listdir()) == ["many.par", "place.kfr"]


def test_places_become_scenes_and_come_back(run):
    code, out, err = run("convert", "place.kfr", "a.toml", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"output": "a.toml", "lost": ["place.kfr: slopes (Slopes: 1)"]},
    )
    assert err == "fractals: lost: place.kfr: slopes (Slopes: 1)\n"
    assert load_scene("a.toml") == load_scene("place.kfr")
    code, out, err = run("convert", "a.toml", "b.kfr")
    assert (code, out) == (0, b"")
    assert "lost: b.kfr: the transfer 'auto'" in err
    assert (
        run("convert", "b.kfr", "c.json")[2]
        == "fractals: c.json: written, with every setting of the source\n"
    )
    assert load_scene("c.json") == load_scene("b.kfr")
    assert load_scene("c.json").view == load_scene("a.toml").view
    assert (
        run("convert", "many.par#second", "-")[1]
        == load_scene("many.par#second").to_toml().encode()
    )


def test_the_output_is_an_option_too(run):
    assert run("convert", "seahorse", "-o", "s.json")[0] == 0
    assert run("convert", "seahorse", "s.toml")[0] == 0
    assert load_scene("s.json") == load_scene("s.toml") == load_scene("seahorse")
    assert run("convert", "seahorse", "-o", "-")[1] == run("convert", "seahorse", "-")[1]
    for words, said in ((("a.toml", "-o", "b.toml"), "are both given"), ((), "IN -o OUT")):
        code, out, err = run("convert", "seahorse", *words)
        assert (code, out, said in err) == (2, b"", True)


@pytest.mark.parametrize("name", ["deep.kfr", "deep.f3.toml"])
def test_auto_is_written_as_the_number_that_is_found(run, name):
    place = {"center": ("-1.9999999999999999999999", "0"), "width": "1e-20"}
    Path("deep.toml").write_text(load_scene(**place).to_toml())
    assert run("convert", "deep.toml", name)[0] == 0
    limit = load_scene(name).iteration.max_iterations
    drawn = fractals.compute("deep.toml", size=(8, 6), coloring="count", device="cpu")
    assert limit == drawn.max_iterations  # as found at another size


def test_a_store_knows_the_number(run):
    fractals.compute_to("a.fz", size=(8, 6), device="cpu", coloring="count")
    header = json.loads(Path("a.fz/header.json").read_text())
    Path("a.fz/header.json").write_text(json.dumps({**header, "max_iterations": 777}))
    assert run("convert", "a.fz", "a.kfr")[0] == 0
    assert load_scene("a.kfr").iteration.max_iterations == 777


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"julia": ("0", "1")}, "Fraktaler-3 has no Julia sets"),
        ({"formula": "phoenix"}, "Fraktaler-3 has no formula 'phoenix'"),
        ({"projection": "exponential"}, "an exponential map is not written"),
    ],
)
def test_what_fraktaler_3_cannot_draw_is_refused(run, keys, words):
    Path("a.toml").write_text(load_scene(max_iterations=9, **keys).to_toml())
    code, _, err = run("convert", "a.toml", "a.f3.toml")
    assert (code, one_line(err)) == (3, True)
    assert words in err
    assert not Path("a.f3.toml").exists()


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize(
    "formula",
    [
        *("mandelbrot", "burning_ship", "tricorn", "celtic", "buffalo", "heart", "celtic_heart"),
        *("perpendicular_burning_ship", {"name": "multibrot", "power": 5}),
    ],
)
def test_parameters_of_fraktaler_3_come_back(formula, mirror):
    scene = load_scene(
        formula=formula, mirror=mirror, center=("-0.5", "0.25"), width="1E-9", rotation=30,
        size=(64, 48), max_iterations=1234, escape_radius=100,
    )  # fmt: skip
    data, lost = fraktaler3.write(scene.to_table())
    assert lost == ("the colors, which are a program in Fraktaler-3",)
    assert set(tomllib.loads(data.decode())) == {
        *("program", "location", "bailout", "transform", "image", "formula")
    }
    back = load_scene(fraktaler3.read(data, "").table).unframed()
    expected = scene
    if mirror and back.view.mirror is False:  # the conjugate, which is the same picture
        expected = scene.replace(mirror=False, center=("-0.5", "-0.25"), rotation=-30)
        assert formula not in ("burning_ship", "buffalo", "perpendicular_burning_ship")
    assert back == expected


def test_palettes_in_any_form_are_palettes(run, tmp_path):
    Path("scene.toml").write_text(
        'title = "Mine"\n[color]\ndensity = 2\n[color.palette]\nstops = ["#010203", "#ffffff"]\n'
    )
    Path("named.toml").write_text('[color]\npalette = "ember"\n')
    Path("listed.toml").write_text('[color]\npalette = ["#010203", "#ffffff"]\n')
    assert run("convert", "ember", "ember.ggr")[0] == 0
    assert run("convert", "ember.ggr", "written.toml")[0] == 0
    shown = {}
    for name in ("scene", "named", "listed", "written"):
        code, _, err = run("render", "--palette", f"{name}.toml", *SMALL, "-o", f"{name}.png")
        assert code == 0, err
        shown[name] = load_scene(f"{name}.png").color
    assert shown["scene"].make_palette() == shown["listed"].make_palette()
    assert shown["scene"].density == 1
    assert shown["named"].make_palette() == palette.load("ember")
    expected = load_scene("written.toml").color.make_palette()
    assert shown["written"].make_palette() == expected


def test_the_first_of_several_entries_is_no_loss(run):
    Path("two.par").write_text("a { type=mandel }\nb { type=julia }\n")
    code, out, err = run("convert", "two.par", "a.toml", "--json")
    assert (code, json.loads(out)["lost"]) == (0, [])
    assert err == (
        "fractals: two.par: the first of 2 entries is read; 'fractals show FILE' lists them, and "
        "FILE#NAME selects one\n"
    )
    assert "with every setting of the source" in run("convert", "two.par", "b.toml")[2]


def test_show_lists_entries(run):
    code, out, err = run("show", "many.par")
    assert (code, err) == (0, "")
    assert out.decode().splitlines() == [
        "many.par#first  unsupported: line 1: type: the type 'chip' draws the points of one orbit"
        ", and of such types henon, icons, latoocarfian are read",
        "many.par#second  type mandel",
    ]
    assert json.loads(run("show", "many.par", "--json")[1])["second"] == "type mandel"
    shown = run("show", "many.par#second")[1].decode()
    assert tomllib.loads(shown)["view"]["center"] == ["-0.5", "0"]
    gradient = "{{\ngradient:\n index=0 color={}\n}}\n"
    Path("two.ugr").write_text(f"a {gradient.format(255)}b {gradient.format(0)}")
    assert run("show", "two.ugr")[1] == b"two.ugr#a  a gradient\ntwo.ugr#b  a gradient\n"
    assert tomllib.loads(run("show", "two.ugr#a")[1].decode()) == {
        "color": {"palette": {"stops": [[0.0, "#ff0000"]], "cyclic": True, "space": "srgb"}}
    }
    Path("bad.par").write_text("first {")
    assert run("show", "bad.par")[0] == 3


def test_show_reads_them_too(run):
    code, out, err = run("show", "place.kfr", "--json")
    assert code == 0
    assert json.loads(out)["view"]["center"] == ["-0.5", "-0.25"]
    assert "lost: place.kfr: slopes" in err


def test_suffixes_are_those_of_the_formats():
    assert {".toml", ".json", ".png", ".f3.toml", ".kfr"} <= set(formats.suffixes().split())
    written = formats.suffixes(writing=True).split()
    assert ".kfr" in written
    assert not {".png", ".xpf", ".par"} & set(written)


def test_formats_are_listed(run):
    out = run("list", "formats")[1].decode()
    assert [line.split()[0] for line in out.splitlines()] == sorted(
        form.name for form in formats.formats()
    )
    assert "Kalles Fraktaler, a location: read and written" in out


@pytest.fixture
def palettes(monkeypatch):
    """Add a format of palettes: its lines are colors."""

    def read(data, entry):
        return Imported({"color": {"palette": {"stops": data.decode().split()}}}, ("a name",))

    def write(table):
        palette = load_scene(table).color.make_palette()
        return "\n".join(color for _, color in palette.stops).encode(), ("the view",)

    form = Format("lines", "Lines", (".lines",), read, write)
    monkeypatch.setattr(formats, "formats", lambda: (form,))


def test_palettes_are_parts_of_scenes(run, palettes):
    Path("a.lines").write_text("#000001 #0000ff")
    code, _, err = run("convert", "a.lines", "a.toml")
    assert (code, err.splitlines()[0]) == (0, "fractals: lost: a.lines: a name")
    table = tomllib.loads(Path("a.toml").read_text())
    assert table == {
        "color": {"palette": {"stops": [[0.0, "#000001"], [0.5, "#0000ff"]], "cyclic": True}}
    }
    merged = load_scene("seahorse", "a.toml")
    assert merged.view == load_scene("seahorse").view
    assert run("convert", "a.toml", "b.lines")[2].startswith("fractals: lost: b.lines: the view\n")
    assert Path("b.lines").read_text().split() == ["#000001", "#0000ff"]


def test_palettes_are_named_or_files_of_stops(run, palettes):
    Path("stops.toml").write_text('stops = ["#010203", "#ffffff"]\ntitle = "Mine"\n')
    assert run("convert", "stops.toml", "a.lines")[0] == 0
    assert Path("a.lines").read_text().split() == ["#010203", "#ffffff"]
    assert run("convert", "ember", "b.lines")[0] == 0
    stops = load_scene({"color": {"palette": "ember"}}).color.make_palette().stops
    assert Path("b.lines").read_text().split() == [color for _, color in stops]


@pytest.mark.parametrize("name", ["a.kfr", "a.f3.toml"])
def test_other_programs_lose_the_film(run, name):
    film = {"keys": [{"at": 0, "width": "4"}, {"at": 1, "width": "1"}]}
    fractals.save_scene(fractals.Scene().replace(film=film), "film.toml")
    code, _, err = run("convert", "film.toml", name)
    assert (code, f"lost: {name}: the film" in err) == (0, True)


def test_a_scene_is_converted_with_the_files_that_it_names(run):
    Path("looks").mkdir()
    fractals.render(size=(8, 6), device="python", max_iterations=9).save("looks/trap.png")
    Path("looks/own.map").write_text("".join(f"{k} 0 {255 - k}\n" for k in range(256)))
    Path("looks/sea.toml").write_text(
        '[color]\npalette = "own.map"\ncoloring = { name = "picture_trap", picture = "trap.png" }\n'
    )
    expected = fractals.load_scene("looks/sea.toml")
    assert run("convert", "looks/sea.toml", "sea.json")[0] == 0
    assert fractals.load_scene("sea.json") == expected
    assert run("convert", "looks/sea.toml", "sea.map")[0] == 0
    assert Path("sea.map").read_text().split()[:3] == ["0", "0", "255"]
    Path("stranger.toml").write_text('[color]\npalette = "../own.map"\n')
    code, _, err = run("convert", "stranger.toml", "a.json")
    assert (code, "is not in the folder of the scene" in err) == (3, True)

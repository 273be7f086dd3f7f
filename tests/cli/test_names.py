"""Names of outputs, sources that are no files, and what a shell completes."""

import base64
import io
import json
import os
import sys
from importlib import metadata
from pathlib import Path

import PIL.Image
import pytest
from click.shell_completion import ShellComplete
from PIL import features
from support.command_line import SMALL, one_line

import fractals
from fractals import catalog
from fractals.cli import convert, scenes
from fractals.cli.scenes import default_output
from fractals.cli.verbs import cli
from fractals.color import palette
from fractals.io.files import PAGES
from fractals.io.load import load_scene

AVIF = pytest.param("avif", marks=pytest.mark.skipif(not features.check("avif"), reason="no AVIF"))
PLAIN = ("--device", "python", "--max-iterations", "9", "--size", "8x6")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((), "mandelbrot.png"),
        (("--julia=-0.8,0.156",), "julia.png"),
        (("--formula", "burning_ship"), "burning_ship.png"),
        (("--formula", "multibrot,power=4"), "multibrot.png"),
        (("--formula", "z**3+c"), "formula.png"),
        (("seahorse", "--palette", "ember"), "seahorse-ember.png"),
        (("gallery:seahorse", "--coloring", "distance"), "seahorse-distance.png"),
        (("--palette", "ember"), "ember.png"),
        (("julia", "--julia=0,1"), "julia.png"),
    ],
)
def test_the_output_is_named_after_the_scene(run, arguments, name):
    assert run("render", *PLAIN, *arguments)[0] == 0
    assert os.listdir() == [name]


def test_a_script_gets_a_refusal(run):
    Path("mandelbrot.png").touch()
    code, _, err = run("render", *PLAIN)
    assert code == 1
    assert "exists already" in err
    assert os.listdir() == ["mandelbrot.png"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_the_next_name_is_taken_and_told(run, monkeypatch):
    for name in ("seahorse.png", "seahorse-2.png"):
        Path(name).touch()
    assert default_output(("seahorse",), {}, ".png") == "seahorse.png"
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert default_output(("seahorse",), {}, ".png") == "seahorse-3.png"
    assert "seahorse.png exists already: the output is seahorse-3.png" in (sys.stderr.getvalue())
    assert default_output(("seahorse",), {}, ".png", free=False) == "seahorse.png"
    Path("sea.png").touch()
    assert default_output(("sea.png",), {}, ".png") == "sea-2.png"


def test_a_source_is_never_the_output(run):
    run("render", *PLAIN, "-o", "sea.png")
    before = Path("sea.png").read_bytes()
    for more in ([], ["--overwrite"]):
        code, _, err = run("render", "sea.png", "--device", "python", *more)
        assert code == 0
        assert "sea.png is the source: the output is sea-" in err
    assert Path("sea.png").read_bytes() == before
    assert sorted(os.listdir()) == ["sea-2.png", "sea-3.png", "sea.png"]
    assert run("render", "sea.png", "--dry-run")[0] == 0


def test_a_file_does_not_hide_a_scene_of_the_gallery(run):
    Path("seahorse").write_text("no scene")
    Path("burr").mkdir()
    for name in ("seahorse", "gallery:seahorse"):
        assert fractals.load_scene(name).title == "Seahorse valley"
    assert fractals.load_scene("burr").title
    code, _, err = run("render", "gallery:seahrse")
    assert (code, "did you mean 'seahorse'" in err) == (2, True)


def piped(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("kind", ["toml", "json", "png", AVIF, "html", "svg"])
def test_a_scene_on_stdin(run, monkeypatch, kind):
    scene = fractals.load_scene("seahorse", size=(8, 6), max_iterations=9)
    data = {
        "toml": lambda: scene.to_toml().encode(),
        "json": lambda: scene.to_json().encode(),
        "png": lambda: fractals.render(scene, device="python").encode(),
        "avif": lambda: fractals.render(scene, device="python").encode("avif"),
        "html": lambda: b"<!doctype html>" + base64.b64encode(data["toml"]()).join(PAGES[".html"]),
        "svg": lambda: b"<svg>" + data["json"]().join(PAGES[".svg"]),
    }
    content = data[kind]()
    piped(monkeypatch, content)
    code, out, _ = run("show", "-", "--json")
    assert (code, json.loads(out)) == (0, scene.to_table())
    piped(monkeypatch, content)
    assert run("render", "-", "--device", "python", "--palette", "ember", "-o", "a.png")[0] == 0
    assert fractals.load_scene("a.png") == scene.replace(palette="ember", author="")
    piped(monkeypatch, content)
    assert run("convert", "-", "a.json")[0] == 0
    assert fractals.load_scene("a.json") == scene


FLAME = b"""<flame size="8 6" scale="2"><xform weight="1" color="0" linear="1"
coefs="0.5 0 0 0.5 0.5 0"/><color index="0" rgb="255 0 0"/></flame>"""


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"Re: -0.75\r\nIm: 0.1\r\nZoom: 1E2\r\n", {"center": ["-0.75", "-0.1"]}),
        (b"; a place\n(initstate)\n(view -0.75 0.1 2 2)\n", {"center": ["-0.75", "-0.1"]}),
        (FLAME, {}),
    ],
    ids=["kfr", "xpf", "flame"],
)
def test_a_scene_of_another_program_on_stdin(run, monkeypatch, data, keys):
    piped(monkeypatch, data)
    code, out, err = run("show", "-", "--json")
    assert code == 0, err
    view = json.loads(out)["view"]
    assert {key: view[key] for key in keys} == keys


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"Re: x\nIm: 0\n", 3, "stdin: line 1: Re: 'x' is not a decimal number"),
        (b"", 3, "stdin: empty"),
        (b"formula = ", 3, "stdin: "),
        (b"widht = 1", 3, "unknown key"),
        (b"\xff\xfe", 3, "stdin: "),
        (b"\x89PNG junk", 3, "stdin: "),
    ],
)
def test_bad_input_on_stdin(run, monkeypatch, data, code, words):
    piped(monkeypatch, data)
    found, _, err = run("render", "-")
    assert found == code
    assert one_line(err)
    assert words in err
    assert "/tmp" not in err


def test_a_scene_on_stdin_is_bounded(run, monkeypatch):
    monkeypatch.setattr(scenes, "MAX_STDIN", 10)
    piped(monkeypatch, b'title = "sea"')
    code, _, err = run("show", "-")
    assert (code, err) == (3, "fractals: stdin: larger than 10 bytes\n")


def test_stdin_once_and_not_from_a_terminal(run, monkeypatch):
    assert "twice" in run("render", "-", "-")[2]
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert "pipe one into it" in run("render", "-")[2]
    monkeypatch.setattr(sys, "stdin", None)
    assert run("render", "-")[0] == 2


def test_plus_merges_and_a_folder_takes_each_scene(run):
    Path("ink.toml").write_text('[color]\npalette = "ink"\n')
    assert run("render", "seahorse", "julia+ink.toml", *PLAIN, "-o", "out/")[0] == 0
    assert sorted(os.listdir("out")) == ["ink.png", "seahorse.png"]
    assert fractals.load_scene("out/ink.png").color.palette == "ink"
    assert fractals.load_scene("out/ink.png").julia
    assert fractals.load_scene("out/seahorse.png").julia is None
    assert run("render", "silk+ink.toml", *PLAIN, "-o", "a.png")[0] == 0
    assert fractals.load_scene("a.png").color.palette == "ink"
    Path("b+c.toml").write_text('[color]\npalette = "ember"\n')
    assert fractals.load_scene("b+c.toml").color.palette == "ember"
    code, _, err = run("render", "seahorse", *PLAIN, "-o", "out")
    assert code == 1
    assert "exists already" in err


@pytest.mark.parametrize(
    ("center", "words"),
    [("-0.1,0", "every pixel lies inside the set"), ("9,9", "every pixel has the same color")],
)
def test_a_picture_of_one_color_says_what_to_do(run, center, words):
    how = ("--size", "64x48", "--cpu", f"--center={center}", "--zoom", "1e6")
    err = run("render", *how, "-o", "a.png")[2]
    assert words in err
    assert "zoom out (--zoom x0.1)" in err
    with PIL.Image.open("a.png") as picture:
        assert len(picture.getcolors()) == 1
    assert one_line(run("render", *SMALL, "-o", "b.png")[2])


def completed(*words, incomplete=""):
    found = ShellComplete(cli, {}, "fractals", "_X").get_completions(list(words), incomplete)
    return {item.value for item in found}


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ((), "ren", "render"),
        (("render",), "sea", "seahorse"),
        (("render", "--palette"), "em", "ember"),
        (("recolor", "a.fz", "--palette"), "la", "lagoon"),
        (("render", "--coloring"), "sm", "smooth"),
        (("render", "--formula"), "burn", "burning_ship"),
        (("render", "--device"), "cu", "cuda:0"),
        (("render", "--transfer"), "l", "log"),
        (("compute", "--precision"), "float", "float32"),
        (("gallery",), "sea", "seahorse"),
        (("list",), "pal", "palettes"),
        (("bench",), "cl", "classic"),
        (("find",), "nu", "nucleus"),
        (("find", "nucleus"), "sea", "seahorse"),
        (("help",), "ga", "gallery"),
        (("render",), "--pal", "--palette"),
    ],
)
def test_names_are_completed(words, incomplete, expected):
    assert expected in completed(*words, incomplete=incomplete)


def test_palettes_that_differ_by_case_are_the_same(run):
    for given in ("Ember", "EMBER"):
        code, _, _ = run("render", "--palette", given, *SMALL, "-o", f"{given}.png")
        assert code == 0
        assert load_scene(f"{given}.png").color.make_palette() == palette.load("ember")
        assert load_scene(palette=given) == load_scene({"color": {"palette": given}})
        assert load_scene(palette=given).color.make_palette() == palette.load("ember")


def test_files_are_completed_where_no_name_fits():
    items = ShellComplete(cli, {}, "fractals", "_X").get_completions(["render"], "place")
    assert [(item.type, item.value) for item in items] == [("file", "place")]


def test_palettes_are_listed_with_their_ends(run, monkeypatch):
    out = run("list", "palettes")[1].decode()
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "cyclic" in lines["ember"]
    assert "not cyclic" not in lines["ember"]
    assert "not cyclic" in lines["ink"]
    assert "\x1b" not in out


def test_strips_of_palettes_are_shown_on_terminals_alone(run, monkeypatch):
    assert not convert.shows_colors()
    with monkeypatch.context() as terminal:
        terminal.setattr(sys, "stdout", Terminal())
        terminal.delenv("NO_COLOR", raising=False)
        terminal.setenv("TERM", "xterm")
        assert convert.shows_colors()
        terminal.setenv("NO_COLOR", "1")
        assert not convert.shows_colors()
    monkeypatch.setattr(convert, "shows_colors", lambda: True)
    assert b"\x1b[48;2;" in run("list", "palettes")[1]
    as_json = json.loads(run("list", "palettes", "--json")[1])
    assert as_json["ink"] == "Ink: 2 colors, two ends, not cyclic"
    assert json.loads(run("list", "formats", "--json")[1])["act"].startswith(".act Adobe")


def test_scenes_and_gallery_are_listed(run):
    out = run("list", "scenes")[1]
    assert out == run("list", "gallery")[1]
    assert b"Seahorse valley: mandelbrot, smooth" in out


def test_gallery_alone_draws_nothing(run):
    code, out, err = run("gallery")
    assert code == 0
    assert b"seahorse" in out
    assert "'fractals gallery --all' draws them" in err
    assert os.listdir() == []
    assert run("gallery", "seahorse", "--all")[0] == 2


def test_gallery_has_a_size_and_obeys_threads(run, monkeypatch):
    from fractals.tools import gallery

    asked = []

    def render(scene, **options):
        asked.append((scene.image.size, options["threads"], options["device"]))
        return fractals.render("mandelbrot", {"image": {"size": [2, 2]}}, device="python")

    monkeypatch.setattr(gallery, "render", render)
    assert run("gallery", "seahorse", "--size", "50%", "--threads", "1", "--cpu")[0] == 0
    assert asked == [((960, 540), 1, "cpu")]
    code, _, err = run("gallery", "seahorse", "--width", "32")
    assert (code, "unknown option '--width'" in err) == (2, True)


def test_compute_has_a_dry_run(run):
    def memory(*arguments):
        code, out, _ = run(*arguments, "seahorse", "--dry-run", "--json")
        assert code == 0
        return json.loads(out)["memory"]

    assert memory("compute", "-o", "a.npz") > 10 * memory("compute", "-o", "a.fz")
    small = "--size", "40x30", "--supersampling", "2"
    told = run("compute", "seahorse", *small, "--dry-run", "--json")[1]
    assert json.loads(told)["file"] == 4 * 40 * 30 * (4 + 16)  # count and z
    assert (
        "file of numbers    1 MiB\n" in run("compute", "seahorse", *small, "--dry-run")[1].decode()
    )
    assert os.listdir() == []


def test_a_picture_holds_no_raw_numbers(run):
    run("render", *SMALL, "-o", "a.png")
    code, _, err = run("recolor", "a.png", "--palette", "ember", "-o", "b.png")
    assert (code, "'fractals render a.png --palette NAME' draws" in err) == (3, True)
    assert one_line(err)


def test_verify_tells_of_missing_decimals_in_one_line(run):
    deep = "--center=-1.94,0", "--width", "1e-16", "--size", "8x6", "--cpu"
    run("render", *deep, "-o", "a.png")
    code, _, err = run("verify", "a.png", "--pixels", "1")
    assert code == 0
    assert "fractals: the center has 16 decimals fewer than this width requires" in err
    assert all(line.startswith("fractals: ") for line in err.splitlines())


def test_the_forecast_of_a_cpu_is_measured(run):
    """The limit is the one that the picture is drawn with."""
    small = "heirloom", "--size", "48x27", "--device", "cpu", "--json"
    code, out, _ = run("render", *small, "--dry-run")
    told = json.loads(out)
    assert (code, told["measured"]) == (0, True)
    assert os.listdir() == []
    drawn = json.loads(run("render", *small, "-o", "a.png")[1])
    assert told["max_iterations"] == drawn["max_iterations"]
    assert b"measured on some samples" in run("render", *small[:-1], "--dry-run")[1]
    shallow = json.loads(run("render", "--cpu", "--dry-run", "--json")[1])
    simulated = json.loads(run("render", *small, "--device", "simulator", "--dry-run")[1])
    assert shallow["measured"]
    assert not simulated["measured"]


@pytest.fixture
def other_package(monkeypatch):
    """Have another package add two colorings, one of them with a name of this package."""
    caches = catalog.load, catalog._installed, catalog._names
    added = [
        metadata.EntryPoint(name, "fractals.color.colorings.counts:smooth", "fractals.colorings")
        for name in ("mine", "slopes")
    ]
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: added if group == "fractals.colorings" else []
    )
    yield
    for cache in caches:
        cache.cache_clear()


def test_another_package_adds_a_coloring(other_package):
    assert "mine" in catalog.names("colorings")
    assert load_scene("seahorse", coloring="mine").color.coloring.make().name == "smooth"


def test_another_package_replaces_no_coloring(other_package):
    assert catalog.load("coloring", "slopes")().name == "slopes"


def test_a_scene_of_the_gallery_is_loaded_without_reading_all_packages(monkeypatch, other_package):
    monkeypatch.setattr(metadata, "entry_points", None)
    assert load_scene("seahorse").color.coloring.make().name == "smooth"

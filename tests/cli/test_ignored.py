"""What is given is followed or refused: no option and no part of a file is passed over."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from support.command_line import one_line

import fractals
from fractals.cli import scenes
from fractals.cli.messages import DAY
from fractals.scene.film import MAX_SECONDS
from fractals.tools.bench_report import make_report

SMALL = {"size": (8, 6), "max_iterations": 9, "device": "python"}
STORE = {**SMALL, "device": "cpu"}
MAP = "".join(f"{k} 0 {255 - k}\n" for k in range(256))
# The second variation is not drawn here.
FLAME = b"""<flame size="8 6" scale="2" quality="1"><xform weight="1" color="0" linear="1"
coefs="0.5 0 0 0.5 0.5 0"/><xform weight="0.1" color="1" no_such_variation="1"
coefs="0.5 0 0 0.5 0 0"/><color index="0" rgb="255 0 0"/></flame>"""


def piped(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("bench --read own.json --runs 3", "--runs"),
        ("bench --read own.json --devices cpu", "--devices"),
        ("bench --read own.json --quick", "--quick"),
        ("explore --site site/ --port 8000", "--port"),
        ("explore --site site/ --no-browser", "--no-browser"),
        ("explore --site site/ --gpu", "--gpu"),
        ("explore --site site/ --allow-host a.example", "--allow-host"),
        ("tiles own.npz --cluster tcp://127.0.0.1:8786", "--cluster"),
        ("tiles own.npz --dry-run", "--dry-run"),
        ("tiles own.npz --zoom x10", "--zoom"),
        ("tiles own.npz --size 16x12", "--size"),
        ("tiles own.npz -n 50", "--max-iterations"),
        ("tiles own.npz --formula burning_ship", "--formula"),
        ("tiles own.png --force", "--force"),
        ("tiles own.png --dry-run", "--dry-run"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(run, words, left_out):
    Path("own.json").write_text(json.dumps(make_report([])))
    fractals.compute(**SMALL).save("own.npz")
    fractals.render(**SMALL).save("own.png")
    code, _, err = run(*words.split())
    assert (code, one_line(err)) == (2, True)
    assert err.endswith(f": leave {left_out} out\n")
    assert sorted(path.name for path in Path().iterdir()) == ["own.json", "own.npz", "own.png"]


def test_a_default_of_the_environment_is_no_option(run, monkeypatch):
    monkeypatch.setenv("FRACTALS_THREADS", "1")
    Path("own.json").write_text(json.dumps(make_report([])))
    assert run("bench", "--read", "own.json")[0] == 0


@pytest.mark.parametrize("option", [("--json",), ("--preview", "a.png")])
def test_a_list_of_nothing_is_refused(run, option):
    code, out, err = run("list", *option)
    assert (code, out, one_line(err)) == (2, b"", True)


def test_the_schema_is_that_of_no_scene(run):
    code, out, err = run("show", "--schema", "seahorse")
    assert (code, out, one_line(err)) == (2, b"", True)


def test_high_dynamic_range_has_no_8_bits(run):
    fractals.save_scene(fractals.Scene().replace(hdr=True, size=(8, 6)), "own.toml")
    words = "--bits 8: high dynamic range has 16 bits: give --no-hdr, too"
    for scene in (["own.toml"], ["mandelbrot", "--hdr"]):
        code, _, err = run("render", *scene, "--bits", "8", "--dry-run")
        assert (code, err) == (2, f"fractals: {words}\n")
    small = ("--bits", "8", "--no-hdr", "-n", "9", "--device", "python")
    assert run("render", "own.toml", *small, "-o", "a.png")[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="names of other systems are text")
def test_names_of_files_that_are_no_text_are_printed_as_they_are(run):
    folder = Path(os.fsdecode(b"caf\xe9"))
    folder.mkdir()
    (folder / "many.par").write_text("One { type=mandel }\nTwo { type=mandel }\n")
    code, out, err = run("show", folder / "many.par")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == [
        b"'caf\xe9/many.par#One'",
        b"'caf\xe9/many.par#Two'",
    ]


def test_what_stdin_has_lost_may_be_lost(run, monkeypatch):
    piped(monkeypatch, FLAME)
    code, _, err = run("show", "-")
    assert (code, "no_such_variation" in err) == (3, True)
    piped(monkeypatch, FLAME)
    assert run("show", "-", "--lossy")[0] == 0


def test_a_scene_on_stdin_names_files_of_the_current_folder_alone(run, monkeypatch, tmp_path):
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    for folder in (tmp_path, elsewhere):
        (folder / "own.map").write_text(MAP)
    scene = '[color]\npalette = "{}"\n'
    for name in (elsewhere / "own.map", f"../{elsewhere.name}/own.map"):
        piped(monkeypatch, scene.format(name).encode())
        code, _, err = run("show", "-")
        assert (code, one_line(err), "is not in the folder" in err) == (3, True, True)
    piped(monkeypatch, scene.format("own.map").encode())
    code, out, _ = run("show", "-", "--json")
    assert len(json.loads(out)["color"]["palette"]["stops"]) == 256
    piped(monkeypatch, scene.format("own.map").encode())
    assert run("convert", "-", "own.json")[0] == 0
    assert len(fractals.load_scene("own.json").color.palette.stops) == 256


def test_what_a_palette_has_lost_is_in_the_facts_of_recolor(run):
    fractals.compute(**STORE).save("own.npz")
    Path("own.kfp").write_text("Colors: 0,0,0,255,255,255,\nSmooth: 0\nSlopes: 1\n")
    code, out, err = run("recolor", "own.npz", "--palette", "own.kfp", "--json", "--cpu")
    assert code == 0, err
    assert json.loads(out)["lost"]
    assert all(line in err for line in json.loads(out)["lost"])


def test_all_scenes_of_a_folder_are_read_before_one_is_drawn(run):
    words = ("--size", "8x6", "--device", "python", "-o", "pictures/")
    code, _, err = run("render", "mandelbrot", "seahrse", *words)
    assert (code, "did you mean 'seahorse'" in err) == (2, True)
    assert not Path("pictures").exists()
    Path("pictures").mkdir()
    Path("pictures/julia.png").touch()
    code, _, err = run("render", "seahorse", "julia", *words)
    assert (code, "exists already" in err) == (1, True)
    assert [path.name for path in Path("pictures").iterdir()] == ["julia.png"]


def test_a_store_is_resumed_whatever_the_case_of_its_suffix(run):
    words = ("--size", "8x6", "-n", "9", "--cpu")
    assert run("compute", "mandelbrot", *words, "-o", "Sea.FZ")[0] == 0
    code, _, err = run("compute", "Sea.FZ", "--cpu")
    assert (code, "resumed" in err) == (0, True)
    assert [path.name for path in Path().iterdir()] == ["Sea.FZ"]


def test_a_store_may_end_in_a_slash_as_a_shell_completes_it(run):
    Path("far").mkdir()
    words = ("--size", "8x6", "-n", "9", "--cpu")
    assert run("compute", "mandelbrot", *words, "-o", "far/sea.fz")[0] == 0
    code, _, err = run("compute", "far/sea.fz/", "--cpu")
    assert (code, "resumed" in err) == (0, True)
    for name in ("far/sea.fz", "far/sea.fz/"):
        assert "1 of 1 tile finished" in run("show", name)[2]
    code, _, err = run("tiles", "far/sea.fz/", "--zoom", "x2", "--cpu")
    assert (code, "is not iterated again" in err) == (2, True)
    assert [path.name for path in Path().iterdir()] == ["far"]


def test_a_fraction_that_is_given_twice_is_one_scene():
    from fractals.cli.find import parse_fractions

    assert parse_fractions("0.5,0.75,0.50") == [0.5, 0.75]


def test_what_is_found_overwrites_no_file_that_came_meanwhile(run, monkeypatch):
    from fractals.cli import find

    real = find.search

    def slow(*arguments):
        Path("mini.toml").write_text("another's")
        return real(*arguments)

    monkeypatch.setattr(find, "search", slow)
    code, _, err = run("find", "nucleus", "seahorse", "-o", "mini.toml")
    assert (code, "exists already" in err) == (1, True)
    assert Path("mini.toml").read_text() == "another's"


@pytest.mark.parametrize("letter", ["é", "海", "\U0001f30a"])
def test_a_default_name_is_short_enough_for_a_file(letter):
    name = scenes.default_output(
        (f"many.par#{letter * 200}",), {"palette": "ember"}, "-surprise.png"
    )
    assert len(name.encode()) < 230
    assert name.startswith(letter * 50)
    assert name.endswith("-surprise.png")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("sheet --formula burning_ship", "burning_ship-sheet.png"),
        ("surprise seahorse --julia 0.3,0.5", "seahorse-julia-surprise.png"),
        ("tiles seahorse julia --cpu", "julia-tiles"),
        ("tiles --formula burning_ship --cpu", "burning_ship-tiles"),
    ],
)
def test_a_default_name_says_what_is_drawn(run, words, name):
    Path(name).write_text("in the way")
    code, _, err = run(*words.split())
    assert (code, f"'{name}' exists" in err) == (1, True), err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("sheet -n 50", "'fractals sheet --help' lists the options"),
        ("sheet --formula mcmullen -n 3", "did you mean '--formula mcmullen,n=...'?"),
    ],
)
def test_a_letter_is_no_option_of_a_formula_that_nobody_named(run, words, hint):
    code, _, err = run(*words.split())
    assert (code, err) == (2, f"fractals: unknown option '-n'; {hint}\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("film --fps 0", "--fps 0: give 1 to 240"),
        (
            "film --fps 500fps",
            "--fps 500: give 1 to 240",
        ),
        ("film --cycle 1e5", "--cycle: '1e5' is no time: give seconds up to 86400, such as 40"),
        (
            "render --coloring stripe_average,density=",
            "--coloring: 'density=' is not KEY=VALUE such as 'density=7'",
        ),
    ],
)
def test_a_message_names_what_is_typed(run, words, line):
    """Neither a key of scenes, nor an option that is another one."""
    assert DAY == MAX_SECONDS
    code, _, err = run(*words.split(), "-o", "a.gif" if "film" in words else "a.png")
    assert (code, err) == (2, f"fractals: {line}\n")

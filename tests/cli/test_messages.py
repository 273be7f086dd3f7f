"""What stderr shows: few lines, short, escaped, and in words."""

import ast
import json
import os
import re
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.command_line import SMALL, one_line

import fractals
from fractals.backends.compilation import compiling
from fractals.cli import messages, render
from fractals.cli import verbs as verbs_module
from fractals.cli.messages import Verbosity, about, duration, shortened
from fractals.errors import OptionError, warn


def test_ten_lines_of_errors_and_how_many_more(run):
    Path("bad.toml").write_text("".join(f"k{k} = 1\n" for k in range(99)))
    code, _, err = run("render", "bad.toml")
    lines = err.splitlines()
    assert code == 3
    assert len(lines) == 11
    assert lines[-1] == "fractals: bad.toml: and 89 more"


def test_ten_lines_of_what_is_lost_and_all_in_json(run):
    Path("many.kfr").write_text(
        "Re: 0\nIm: 0\nZoom: 1\n" + "".join(f"a{k}: 1\n" for k in range(50))
    )
    code, out, err = run("convert", "many.kfr", "a.toml", "--json")
    assert code == 0
    assert len(err.splitlines()) == 11
    assert len(json.loads(out)["lost"]) > 40


@pytest.mark.parametrize("name", ["my size=3.png", "size=3 zoom=2 b.kfr", "a size=3/width=2.toml"])
def test_a_file_with_an_equals_sign_keeps_its_name(run, name):
    """It was printed as if a part of it were an option."""
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("nothing")
    code, _, err = run("show", name)
    assert code == 3
    assert err.startswith(f"fractals: {name}: ")
    _, _, err = run("render", f"--output={name.partition('.')[0]}.x y")
    assert name.partition(".")[0] in err


def test_a_palette_that_a_file_names_keeps_its_name(run):
    Path("size=3.gpl").write_text("nothing")
    Path("a.toml").write_text('[color]\npalette = "size=3.gpl"\n')
    _, _, err = run("render", "a.toml")
    assert "color.palette: size=3.gpl: not a palette that can be read" in err


def test_facts_of_several_pictures_are_one_array(run):
    code, out, _ = run("render", "julia", "seahorse", *SMALL, "-o", "all/", "--json")
    assert code == 0
    assert [each["output"] for each in json.loads(out)] == ["all/julia.png", "all/seahorse.png"]
    code, out, _ = run("render", "julia", *SMALL, "-o", "one/", "--json", "--dry-run")
    assert len(json.loads(out)) == 1


def test_facts_of_pictures_before_an_error_are_printed(run, monkeypatch):
    drawn = render.draw_or_plan

    def failing(scene, path, *more):
        if "seahorse" in path:
            raise OptionError("no more")
        drawn(scene, path, *more)

    monkeypatch.setattr(render, "draw_or_plan", failing)
    code, out, _ = run("render", "julia", "seahorse", *SMALL, "-o", "all/", "--json")
    assert code == 2
    assert [each["output"] for each in json.loads(out)] == ["all/julia.png"]


def test_control_characters_are_escaped(run):
    Path("bad.json").write_text(json.dumps({"a\x1b[31mb\x07\nfractals: all is well": 1}))
    _, _, err = run("render", "bad.json")
    assert "\x1b" not in err
    assert "\x07" not in err
    assert r"\x1b[31m" in err
    code, _, err = run("render", "x\x1b[2Jy")
    assert code == 2
    assert one_line(err)
    assert r"\x1b[2J" in err


def test_lines_are_short_and_keep_their_end():
    text = shortened("begin" + "x" * 1000 + "give --force")
    assert len(text) == 200
    assert text.startswith("begin")
    assert text.endswith("give --force")


def test_a_long_path_is_cut_and_not_the_words_about_it(run, tmp_path):
    folder = tmp_path / ("folder" * 20) / ("other" * 20)
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("")
    code, _, err = run("show", folder / "a.txt")
    assert code == 3
    assert err.rstrip().endswith(".xpf")
    assert ": no scene of the gallery, and no file that ends in .toml .json .png" in err
    assert len(err) <= 212


def test_quiet_prints_errors_only(run):
    assert run("render", "-q", *SMALL)[2] == ""
    assert run("--quiet", "render", *SMALL, "--overwrite")[2] == ""
    assert one_line(run("render", "--quiet", *SMALL)[2])  # the picture exists
    assert one_line(run("render", *SMALL, "--overwrite")[2])  # the next run is not quiet


def test_notes_without_on_message_are_lines_too(run, monkeypatch):
    def noted(*_arguments, **_settings):
        for _ in range(2):
            warn("a note")

    monkeypatch.setattr(verbs_module.cli, "main", noted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run("surprise") == (0, b"", "fractals: a note\n")


def test_verbose_names_method_and_reason(run):
    err = run("render", "-v", *SMALL)[2]
    assert "method direct: samples are" in err


@pytest.mark.parametrize("seconds", [10.0**k * 1.7 for k in range(-3, 18)])
def test_times_are_in_words(seconds):
    text = about(seconds)
    assert re.fullmatch(r"(about \d+(\.\d)? (s|minutes|hours|days|years)|less than 1 s)", text)


def test_the_units_of_times():
    assert [duration(s) for s in (20, 89, 90, 5399, 5400, 1e6)] == [
        "20 s",
        "89 s",
        "1.5 minutes",
        "90 minutes",
        "1.5 hours",
        "12 days",
    ]


def test_the_forecast_is_in_words(run):
    out = run("render", "--dry-run", "--size", "4000x3000", "--device", "python")[1].decode()
    line = next(line for line in out.splitlines() if line.startswith("seconds"))
    assert re.search(r"about \d+(\.\d)? (minutes|hours|days), estimated, without compiling", line)
    assert "direct" in out


class Terminal:
    """A stderr that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.fixture
def notes_on_compiling(monkeypatch):
    monkeypatch.setattr(messages, "COMPILES", 3)


@pytest.mark.usefixtures("notes_on_compiling")
def test_compiling_is_said_once_and_at_once(capfd):
    def compile_for(seconds):
        with compiling():
            time.sleep(seconds)

    begun = time.monotonic()
    with messages.ProgressLine(program="mandelbrot, smooth") as line:
        compile_for(1.5)
        line(0, 10)
        compile_for(0.5)
    assert time.monotonic() - begun < 20
    assert capfd.readouterr().err == (
        "fractals: compiling the program for mandelbrot, smooth: about 2 s, the first time only\n"
    )
    with messages.ProgressLine(program="mandelbrot, smooth"):  # another part of the same picture
        compile_for(0.6)
    with messages.ProgressLine(program="julia, smooth"):
        time.sleep(0.6)
    with messages.ProgressLine(program="julia, smooth") as line:
        line(1, 10)  # a tile is done
        compile_for(0.6)
    assert capfd.readouterr().err == ""


def test_a_first_render_says_that_it_compiles(tmp_path):
    """In a process of its own, with an empty cache of compiled code."""
    import subprocess

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "fractals",
            "render",
            "mandelbrot",
            "--size",
            "16x9",
            "--cpu",
            "-o",
            "a.png",
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        timeout=300,
    )
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("fractals: compiling the program for mandelbrot, smooth: about")
    # a slow machine is also told how long it has waited
    assert all(line.startswith("fractals: preparing the first tile") for line in lines[1:-1])
    assert lines[-1].startswith("fractals: a.png: 16x9")


def test_progress_off_a_terminal(capfd, monkeypatch):
    monkeypatch.setattr(messages, "EVERY", 10.0)
    clock = iter([0.0, 5.0, 5.0, 20.0, 20.0, 22.0, 22.0])
    monkeypatch.setattr(messages, "monotonic", lambda: next(clock))
    line = messages.ProgressLine(pixels=100)
    line(1, 100)
    line(10, 100)
    line(20, 100)
    assert capfd.readouterr().err == "fractals: 10 % done after 20 s, about 3 minutes left\n"


def test_what_compiling_took_is_no_forecast(capfd, monkeypatch):
    """The rest of a picture is drawn without it, in whatever stage it was compiled."""
    monkeypatch.setattr(messages, "EVERY", 10.0)
    clock, compiled = iter([0.0, 20.0, 20.0]), iter([5.0, 23.0])
    monkeypatch.setattr(messages, "monotonic", lambda: next(clock))
    compile_clock = SimpleNamespace(seconds=lambda: next(compiled))
    monkeypatch.setattr(messages, "compile_clock", lambda: compile_clock)
    messages.ProgressLine(pixels=100)(10, 100)
    assert capfd.readouterr().err == "fractals: 10 % done after 20 s, about 18 s left\n"


def test_what_preparing_took_is_no_forecast(capfd, monkeypatch):
    """Of 45 s, 30 passed before the first tile began, and 5 of the others were compiling."""
    monkeypatch.setattr(messages, "EVERY", 10.0)
    clock, compiled = iter([0.0, 30.0, 30.0, 45.0, 45.0]), iter([2.0, 7.0, 12.0])
    monkeypatch.setattr(messages, "monotonic", lambda: next(clock))
    compile_clock = SimpleNamespace(seconds=lambda: next(compiled))
    monkeypatch.setattr(messages, "compile_clock", lambda: compile_clock)
    line = messages.ProgressLine(pixels=100)
    line(0, 100)
    line(10, 100)
    assert capfd.readouterr().err.splitlines() == [
        "fractals: preparing the first tile, 30 s so far",
        "fractals: 10 % done after 45 s, about 1.5 minutes left",
    ]


def test_before_the_first_tile_no_share_is_named(capfd, monkeypatch):
    monkeypatch.setattr(messages, "EVERY", 10.0)
    clock = iter([0.0, 30.0, 30.0])
    monkeypatch.setattr(messages, "monotonic", lambda: next(clock))
    messages.ProgressLine(pixels=100)(0, 100)
    assert capfd.readouterr().err == "fractals: preparing the first tile, 30 s so far\n"


def test_progress_of_a_search(capfd, monkeypatch):
    monkeypatch.setattr(messages, "EVERY", 10.0)
    clock = iter([0.0, 11.0, 11.0])
    monkeypatch.setattr(messages, "monotonic", lambda: next(clock))
    line = messages.ProgressLine()
    line.search("period", 500, 9000)
    assert capfd.readouterr().err == "fractals: period: step 500, at most 9000, after 11 s\n"


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(messages, "FIRST", 0)
    with messages.ProgressLine(pixels=100) as line:
        line(1, 7)
        line(2, 7)
    assert "2/7" in terminal.text
    assert "tiles" in terminal.text


def test_work_without_steps_says_that_it_goes_on(capfd, monkeypatch):
    monkeypatch.setattr(messages, "EVERY", 0.2)
    with messages.ProgressLine(task="recomputing 20 pixels"):
        time.sleep(0.7)
    assert "fractals: recomputing 20 pixels, 0 s so far" in capfd.readouterr().err
    assert Verbosity.quiet is False


def test_what_is_compiled_after_the_last_step_is_told_if_it_takes_long(capfd, monkeypatch):
    monkeypatch.setattr(messages, "LATE", 0.2)
    with messages.ProgressLine(after="the programs of the page") as line:
        line(5, 10)
        time.sleep(0.5)
        assert capfd.readouterr().err == ""
        line(10, 10)
        time.sleep(0.5)
    told = "fractals: compiling the programs of the page: about 6 s, the first time only\n"
    assert capfd.readouterr().err == told
    with messages.ProgressLine(after="the programs of the page") as line:
        line(10, 10)
    time.sleep(0.4)
    assert capfd.readouterr().err == ""


def test_no_thread_is_left(monkeypatch):
    with messages.ProgressLine(program="x"):
        pass
    time.sleep(0.3)
    assert threading.active_count() < 50


PACKAGE = Path(__file__).parents[2] / "fractals"
OPTION = re.compile(r"--[a-z][a-z-]*")
COMMAND = re.compile(
    r"fractals [a-z-]+ |\bpip install |\buv sync "
)  # an option after it belongs to it


def literals(path):
    """Yield the texts of a file but docstrings, with "{}" for what an f-string puts in."""
    tree = ast.parse(path.read_text("utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if hasattr(node, "body") and isinstance(node.body, list) and node.body
        if isinstance(node.body[0], ast.Expr)
    }
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
            yield "".join(
                getattr(part, "value", "{}") if isinstance(part, ast.Constant) else "{}"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in docs | parts:
            yield str(node.value)


def library_texts():
    """Yield texts of files with options that may be messages: of several words, no page of docs."""
    for path in sorted(PACKAGE.rglob("*.py")):
        of_commands = {"cli", "lessons"} & set(path.relative_to(PACKAGE).parts)
        if not of_commands and OPTION.search(path.read_text("utf-8")):
            for text in literals(path):
                if " " in text.strip() and not text.startswith("# "):
                    yield path.relative_to(PACKAGE), text


def options_of(command):
    """Yield the options of a command and of its parts, with their parameters."""
    for each in command.params:
        yield from ((name, each.name) for name in (*each.opts, *each.secondary_opts))
    for part in getattr(command, "commands", {}).values():
        yield from options_of(part)


@pytest.fixture(scope="module")
def every_option():
    verbs = [verbs_module.cli.get_command(None, name) for name in verbs_module.COMMANDS]
    return dict(pair for verb in verbs for pair in options_of(verb))


def test_the_library_names_no_option_of_the_command_line(every_option):
    named = {
        (str(path), text)
        for path, text in library_texts()
        for match in OPTION.finditer(text)
        if match[0] in every_option and not COMMAND.search(text[: match.start()])
    }
    assert not named


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("render", "seahorse", "-o", "a.png"), "name another file, or give --overwrite"),
        (("render", "newton"), "it is a formula: --formula newton"),
        (("render", "--palette", "qqqqq"), "'fractals list palettes' shows all"),
        (("render", "--device", "cuda"), "; --cpu draws without one"),
        (("film", "seahorse", "--cycle", "1", "-o", "b.png"), "; --still T is one picture"),
        (("find", "nucleus", "--projection", "exponential"), "--projection plane"),
        (("film", "--to", "0", "-o", "a.webp"), "--to 0 is not greater than 0"),
    ],
)
def test_messages_of_the_library_name_options_on_the_command_line(run, arguments, said):
    Path("a.png").write_bytes(b"")
    code, _, err = run(*arguments)
    assert code
    assert said in err
    assert "=True" not in err


def test_messages_in_python_name_keywords(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(fractals.FractalsError, match=r"or give overwrite=True$"):
        fractals.render_to(tmp_path / "a.png", "seahorse", size=(8, 6))
    with pytest.raises(fractals.OptionError, match=r"it is a palette: palette='ember'"):
        fractals.load_scene("ember")

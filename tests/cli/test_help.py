"""Help: whole, laid out, and with examples that parse."""

import shlex

import click
import pytest

import fractals
from fractals.cli.verbs import COMMANDS, SUBJECTS, cli
from fractals.errors import OptionError

SEARCHES = ("nucleus", "period", "julia")
INSTRUMENTS = ("divergence", "access", "instructions", "predict")


def every_verb():
    parts = {"find": SEARCHES, "gpu": INSTRUMENTS}
    inner = [(verb, name) for verb, names in parts.items() for name in names]
    return [(), *((verb,) for verb in COMMANDS), *inner]


@pytest.fixture(params=every_verb(), ids=" ".join)
def verb(request):
    return request.param


def test_a_verb_has_its_name():
    """The name of a command stands in the anchors of the docs."""
    for name in COMMANDS:
        assert cli.get_command(click.Context(cli), name).name == name


def test_help_ends_with_three_examples_that_parse(run, verb):
    code, out, _ = run(*verb, "--help")
    examples = [line.strip() for line in out.decode().split("Examples:")[1].strip().splitlines()]
    assert code == 0
    assert len(examples) == 3
    for example in examples:
        words = shlex.split(example.split(">")[0], comments=True)
        assert words[0] == "fractals"
        parse(words[1:])


def parse(words):
    """Parse a command line down to its last verb, without running it."""
    command, context = cli, click.Context(cli, info_name="fractals")
    while isinstance(command, click.Group) and words:
        _, command, words = command.resolve_command(context, words)
    command.make_context(command.name, words, parent=context)


def test_nothing_in_help_is_cut(run, verb):
    """Click cuts a summary with dots at the end of a line."""
    out = run(*verb, "--help")[1].decode().split("Examples:")[0]
    assert not [line for line in out.splitlines()[1:] if line.endswith("...")]


def test_the_overview_has_each_verb_with_its_whole_summary(run):
    out = run("--help")[1].decode()
    for part in SUBJECTS.values():
        for name, (_, summary) in part.items():
            assert f"  {name} " in out
            assert summary in out


@pytest.mark.parametrize("words", [(), ("find",), ("gpu",), ("list",)])
def test_without_a_verb_the_help_is_printed_laid_out(run, words):
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out == run(*words, "--help")[1]
    assert out.count(b"\n") > 10


def test_help_is_a_verb(run):
    assert run("help")[1] == run("--help")[1]
    assert run("help", "render")[1] == run("render", "--help")[1]
    assert run("help", "find", "nucleus")[1] == run("find", "nucleus", "--help")[1]
    code, _, err = run("help", "rendr")
    assert (code, "did you mean 'render'?" in err) == (2, True)
    assert run("help", "render", "x")[0] == 2


def test_options_are_in_sections(run):
    out = run("render", "--help")[1].decode()
    heads = [line for line in out.splitlines() if line.endswith(":") and line[:1].isalpha()]
    assert heads[:2] == ["View:", "Picture:"]
    assert "General:" in heads
    assert len(heads) == len(set(heads))


def test_the_environment_is_documented(run):
    out = run("--help")[1].decode()
    for name in ("FRACTALS_DEVICE", "FRACTALS_THREADS", "FRACTALS_CACHE_DIR", "NO_COLOR"):
        assert name in out
    assert "FRACTALS_THREADS" in run("render", "--help")[1].decode()
    variables = {
        each.envvar
        for name in COMMANDS
        for each in cli.get_command(None, name).params
        if isinstance(each, click.Option)
    }
    assert variables == {None, "FRACTALS_DEVICE", "FRACTALS_THREADS"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--rotate", "--rotation"),
        ("--supersample", "--supersampling"),
        ("--colormap", "--palette"),
        ("--cmap", "--palette"),
        ("--iterations", "--max-iterations"),
        ("--maxiter", "--max-iterations"),
        ("--limit", "--max-iterations"),
        ("--resolution", "--size"),
        ("--quite", "--quiet"),
        ("--pallete", "--palette"),
        ("--outptu", "--output"),
        ("--SIZE", "--size"),
        ("-size", "--size"),
        ("-size=64x48", "--size"),
    ],
)
def test_unknown_options_have_a_suggestion(run, given, meant):
    code, out, err = run("render", given, "1")
    assert (code, out) == (2, b"")
    assert err == f"fractals: unknown option '{given}'; did you mean '{meant}'?\n"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (("--power", "5"), "--formula multibrot,power=5"),
        (("--formula", "multibrot", "--power", "5"), "--formula multibrot,power=5"),
        (("--formula=multibrot", "--power=7"), "--formula multibrot,power=7"),
        (("--memory", "0.3", "--formula", "phoenix"), "--formula phoenix,memory=0.3"),
        (("--coloring", "orbit_trap", "--shape", "cross"), "--coloring orbit_trap,shape=cross"),
        (("--formula", "mandelbrot", "--sunpower", "5"), "--sun-power"),
    ],
)
def test_an_option_of_a_formula_belongs_behind_its_name(run, given, meant):
    code, out, err = run("render", *given)
    assert (code, out) == (2, b"")
    assert err.endswith(f"; did you mean '{meant}'?\n")


def test_so_does_one_that_is_called(run):
    code, _, err = run("render", "--formula", "multibrot(power=5)")
    assert (code, "options follow a comma; did you mean 'multibrot,power=5'?" in err) == (2, True)
    assert run("render", "--formula", "z^2 + sin(c)", "--dry-run")[0] == 0


def test_a_keyword_of_a_formula_belongs_in_its_table():
    for keywords, meant in (
        ({"formula": "multibrot", "power": 5}, "formula={'name': 'multibrot', 'power': 5}"),
        ({"power": 3}, "formula={'name': 'multibrot', 'power': 3}"),
        ({"formula": "phoenix", "memory": 0.3}, "formula={'name': 'phoenix', 'memory': 0.3}"),
        ({"coloring": "orbit_trap", "shape": "x"}, "coloring={'name': 'orbit_trap', 'shape': 'x'}"),
    ):
        with pytest.raises(OptionError) as caught:
            fractals.render(**keywords)
        assert str(caught.value).endswith(f"; give {meant}")


def test_words_of_the_help_are_words_of_the_command(run):
    for word in ("minibrot", "minibrots", "periods", "spirals", "views"):
        assert run("find", word, "--help")[0] == 0
    assert run("find", "minibrot", "seahorse")[1] == run("find", "nucleus", "seahorse")[1]
    for word in ("formula", "formulas", "scene", "formats"):
        assert run("list", word)[0] == 0


@pytest.mark.parametrize(
    "words",
    [("find", "period", "--xyzzy"), ("tiles", "--keep"), ("tiles", "--bits"), ("tiles", "--part")],
)
def test_an_option_like_no_other_names_the_help(run, words):
    verb = " ".join(words[:-1])
    assert f"'fractals {verb} --help' lists the options" in run(*words)[2]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("rendr",), "did you mean 'render'?"),
        (("draw",), "did you mean 'render'?"),
        (("poster",), "did you mean 'render'?"),
        (("html",), "did you mean 'render'?"),
        (("movie",), "did you mean 'film'?"),
        (("sweep",), "did you mean 'sheet'?"),
        (("film", "--music", "song.wav"), "did you mean '--audio'?"),
        (("xyzzy",), "'fractals --help' lists the verbs"),
        (("seahorse",), "it is a scene: fractals render seahorse"),
        (
            ("--size", "64x48", "render", "seahorse"),
            "--size stands before the verb: fractals render",
        ),
        (("-o", "a.png", "render"), "-o stands before the verb: fractals render -o ..."),
        (("--nope",), "unknown option '--nope'; 'fractals --help' lists the options"),
        (("find", "nucles"), "did you mean 'nucleus'?"),
        (("list", "palets"), "did you mean 'palettes'?"),
        (("gallery", "seahrse"), "did you mean 'seahorse'?"),
        (("render", "--formula", "burning-ship"), "did you mean 'burning_ship'?"),
        (("render", "--coloring", "orbit-trap"), "did you mean 'orbit_trap'?"),
        (("render", "--transfer", "lg"), "did you mean 'log'?"),
        (("render", "--antialias", "jitter"), "did you mean 'jittered'?"),
    ],
)
def test_unknown_names_have_a_suggestion(run, words, meant):
    code, _, err = run(*words)
    assert code == 2
    assert meant in err
    assert err.count("\n") == 1

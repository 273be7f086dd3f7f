"""Every option of every verb that is a key of a scene takes what the key takes elsewhere.

The kinds of values come from the model's declarations. Files of TOML, keywords in Python and
options have to make the same scene of a value.
"""

import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import click
import pytest
import tomli_w
from support.command_line import verbs

import fractals
from fractals.cli import scenes
from fractals.cli.keys import KEYS
from fractals.cli.verbs import run_verb
from fractals.color.palette import Palette
from fractals.errors import FractalsError, OptionError
from fractals.io.load import load_scene
from fractals.kernels.formula import AnyFormula
from fractals.scene.model import TABLES, FormulaName, Scene, nest
from fractals.scene.paint import ColoringName

# Values of each kind of a declaration. Those that a key refuses in a file are left out, and one of
# each kind has to stay.
POOL = {
    int: (0, 1, 3, 16, 1000),
    float: (0.25, 1.4, -0.5, 2, 30, 100, 1e-3),
    bool: (True, False),
    str: ("ember", "navy", "#102030", "gaussian", "0.75", "1e-3", "900x600+9+6"),
    tuple: ([1.5, -2, 0.5], ["-0.75", "0.1"], ["#102040", "#203060", "navy"], [64, 48]),
    FormulaName: (
        *("burning_ship", {"name": "multibrot", "power": 4}, "z**3 + c"),
        {"name": "buddhabrot", "anti": True},
    ),
    ColoringName: ("distance", {"name": "stripe_average", "density": 7}),
}
NO_VALUES = (NoneType, Palette, AnyFormula)  # that an option can't name


def members(annotation):
    """Yield the members of a union, without what annotates them."""
    if get_origin(annotation) is Annotated:
        yield from members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for each in get_args(annotation):
            yield from members(each)
    else:
        yield annotation


def declared(key):
    """Return a table of values by the kinds that a key's declaration allows."""
    models = (Scene, *TABLES.values())
    annotation = next(m.model_fields[key].annotation for m in models if key in m.model_fields)
    found = {}
    for kind in members(annotation):
        if get_origin(kind) is Literal:
            found |= {word: (word,) for word in get_args(kind)}
        elif kind not in NO_VALUES:
            found[kind] = POOL[get_origin(kind) or kind]
    return found


def typed(option, value):
    """Return the words that give an option a value."""
    if isinstance(value, bool):
        flag = option.opts if value else option.secondary_opts
        return [max(flag, key=len)]
    if isinstance(value, dict):
        given = {k: str(v).lower() for k, v in value.items() if k != "name"}
        value = ",".join([value["name"], *(f"{k}={v}" for k, v in given.items())])
    if isinstance(value, list):
        value = ("x" if option.name == "size" else ",").join(map(str, value))
    return [f"{max(option.opts, key=len)}={value}"]


def keys_of(verb):
    """Return the options of a verb that are keys of scenes."""
    given = [each for each in verb.params if isinstance(each, click.Option)]
    return [each for each in given if KEYS.get(each.name, ("",))[0] == each.help]


VERBS = {" ".join(words): keys for words, verb in verbs() if (keys := keys_of(verb))}


@pytest.fixture
def read_by(monkeypatch, tmp_path):
    """Return a function that returns the scene that a verb reads, which then stops."""
    real, found = scenes.requested_scene, []

    def stop(*arguments, **settings):
        found.append(real(*arguments, **{**settings, "fits": False}))
        raise OptionError("not drawn")

    for name, module in [*sys.modules.items()]:
        if name.startswith("fractals.") and vars(module).get("requested_scene") is real:
            monkeypatch.setattr(module, "requested_scene", stop)
    monkeypatch.chdir(tmp_path)

    def read(words):
        found.clear()
        run_verb(words)
        return found[0] if found else None

    return read


@pytest.fixture
def wanted(tmp_path):
    """Return a function that gives the values of a key by kinds, with scenes of files."""
    known = {}

    def read(before, key):
        if (before, key) not in known:
            made = {}
            for kind, values in declared(key).items():
                for value in values:
                    file = tmp_path / "key.toml"
                    file.write_text(tomli_w.dumps(nest(key, value)), "utf-8")
                    try:
                        scene = load_scene(before, file)
                    except FractalsError:
                        continue
                    made.setdefault(kind, []).append((value, scene))
            assert made.keys() == declared(key).keys(), f"{key}: no value of each kind"
            known[before, key] = made
        return known[before, key]

    return read


@pytest.mark.parametrize("verb", VERBS)
def test_an_option_takes_what_its_key_takes_in_a_file_and_in_python(verb, read_by, wanted, capsys):
    small = {"size": (4, 3), "max_iterations": 9, "device": "python"}
    # The scene has no author, because a scene of the gallery loses its author when it is changed.
    Path("plain.toml").write_text('formula = "mandelbrot"\n', "utf-8")
    fractals.compute("plain.toml", **small).save("raw.npz")
    start = [*verb.split(), "raw.npz" if verb == "recolor" else "plain.toml"]
    before = read_by(start)
    assert before, capsys.readouterr().err
    for option in VERBS[verb]:
        for kind, values in wanted(before, option.name).items():
            for value, scene in values if verb == "render" else values[:1]:
                words = typed(option, value)
                case = verb, words, kind
                assert read_by([*start, *words]) == scene, (case, capsys.readouterr().err)
                if verb == "render":
                    assert before.replace(**{option.name: value}) == scene, case


def test_the_options_that_are_keys_are_found():
    assert {"render", "film", "recolor", "compute", "explore", "find nucleus"} <= VERBS.keys()
    names = {option.name for options in VERBS.values() for option in options}
    assert {"exposure", "samples", "sun", "max_iterations", "size", "palette"} <= names
    assert declared("exposure").keys() == {float, "auto"}
    assert declared("bits").keys() == {8, 16}


@pytest.mark.parametrize("words", ["--quality=Draft", "--eye=Left", "--exposure=AUTO"])
def test_words_may_be_capital_as_in_the_help(read_by, words):
    stereo = "edelweiss", "--stereo=0.03"
    assert read_by(["render", *stereo, words]) == read_by(["render", *stereo, words.lower()])
    assert read_by(["render", *stereo, words])


def test_a_key_that_refuses_numbers_would_be_seen(read_by, monkeypatch):
    assert read_by(["render", "--exposure=1.4"]).develop.exposure == 1.4
    monkeypatch.setattr(scenes, "check_value", lambda key, text: {}[text])
    assert read_by(["render", "--exposure=1.4"]) is None

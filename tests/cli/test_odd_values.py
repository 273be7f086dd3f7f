"""Every option of every verb that takes a scene refuses odd values with an exit code and lines."""

import sys

import pytest
from support.command_line import verbs
from support.odd import MORE_TEXTS, TEXTS

from fractals.cli import scenes
from fractals.cli.verbs import run_verb
from fractals.errors import OptionError

WRONG = (2, 3)  # exit codes of a bad value, and of a file or a scene that is invalid


SCENES = {
    " ".join(words): [max(p.opts, key=len) for p in verb.params if not getattr(p, "is_flag", True)]
    for words, verb in verbs()
    if any(each.name == "scenes" for each in verb.params)
}


def in_turn(values):
    """Return the values of each verb's options: verbs that have an option share its values."""
    given = {verb: {} for verb in SCENES}
    for option in {option for options in SCENES.values() for option in options}:
        verbs_of = [verb for verb in SCENES if option in SCENES[verb]]
        for k, verb in enumerate(verbs_of):
            given[verb][option] = values[k % len(values) :: len(verbs_of)]
    return given


FEW = in_turn(TEXTS)
ALL = {verb: dict.fromkeys(options, (*TEXTS, *MORE_TEXTS)) for verb, options in SCENES.items()}


@pytest.fixture
def undrawn(monkeypatch, tmp_path):
    """Have verbs stop where they know the scene."""
    real = scenes.requested_scene

    def stop(*arguments, **settings):
        real(*arguments, **{**settings, "fits": False})
        raise OptionError("not drawn")

    for name, module in [*sys.modules.items()]:  # other packages make what they are asked for
        if name.startswith("fractals.") and vars(module).get("requested_scene") is real:
            monkeypatch.setattr(module, "requested_scene", stop)
    monkeypatch.chdir(tmp_path)


@pytest.mark.many
@pytest.mark.parametrize(
    "values",
    [FEW, pytest.param(ALL, marks=pytest.mark.slow)],
    ids=["few", "all"],
)
@pytest.mark.parametrize("verb", SCENES)
def test_an_odd_value_of_any_option_is_told_in_lines(undrawn, capsys, tmp_path, verb, values):
    for option, odd in values[verb].items():
        for value in odd:
            code = run_verb([*verb.split(), f"{option}={value}"])
            said = capsys.readouterr().err.splitlines()
            case = option, value[:40], code, said
            assert code in WRONG, case
            assert 1 <= len(said) <= 3, case  # one for each wrong part of a list
            assert all(line.startswith("fractals: ") for line in said), case
            assert not any("internal error" in line for line in said), case
            assert len({*said}) == len(said), case
    assert not [*tmp_path.iterdir()]


def test_the_few_values_are_all_values_of_each_option():
    given = {}
    for options in FEW.values():
        assert all(options.values())
        for option, odd in options.items():
            given.setdefault(option, set()).update(odd)
    assert all(odd == {*TEXTS} for odd in given.values())
    assert [*map(len, FEW.values())] == [*map(len, SCENES.values())]


def test_the_verbs_that_take_scenes_are_found():
    assert {"render", "film", "explore", "find nucleus", "gpu predict"} <= SCENES.keys()
    assert "--density" in SCENES["render"]


def test_an_error_that_nobody_expects_would_be_seen(undrawn, capsys, monkeypatch):
    monkeypatch.setattr(scenes, "scene_changes", lambda *_: {}["x"])
    assert run_verb(["render", "--density=2"]) not in WRONG
    assert "internal error" in capsys.readouterr().err


@pytest.mark.parametrize("scene", ["seahorse", "menger"])
def test_exposure_is_an_option(scene, capsys):
    assert run_verb(["render", scene, "--exposure", "2", "--dry-run"]) == 0
